"""How the result of a test of calibration is shown: its sentence, statistic and p-value."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from uqassay._shown import Shown
from uqassay._shown_table import ShownCell, ShownRow, ShownTable
from uqassay.notes import Note
from uqassay.wording import count, pvalue, significant

__all__ = ["ShownVerdict", "numbers_of_test"]


class ShownVerdict(Shown):
    """A test with a sentence about its result, and notes on what limits it."""

    _shown_more: ClassVar[str] = "summary(), reject(alpha), notes"

    notes: tuple[Note, ...]

    @abstractmethod
    def sentence(self) -> str:
        """The result in plain words."""

    def _shown_sentences(self) -> Sequence[str]:
        return (self.sentence(),)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


def numbers_of_test(statistic: float, p: float, n_draws: int, *others: tuple[str, ShownCell]) -> ShownTable:
    """The numbers of one test in a row; `others` are further headers with their cells.

    Examples
    --------
    >>> print(*numbers_of_test(0.0513, 0.012, 999).as_text(), sep="\\n")
      statistic  p-value  draws
         0.0513      .01    999
    """
    texts = {"statistic": significant(statistic), "p-value": pvalue(p), "draws": count(n_draws)}
    cells = [(name, ShownCell(text)) for name, text in texts.items()]
    header, row = zip(*cells, *others, strict=True)
    return ShownTable(header, (ShownRow(row),), n_words=0)
