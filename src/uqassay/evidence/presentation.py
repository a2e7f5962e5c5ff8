"""How an assay is shown: in a few lines, as a summary, in a notebook, as a figure, a page, Markdown and LaTeX."""

import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from uqassay._shown import Shown, Text
from uqassay._shown_table import ShownTable
from uqassay.evidence.calibration_verdict import calibration_sentence
from uqassay.evidence.metric_table import metric_table
from uqassay.evidence.ranking_result import Ranking, Spread
from uqassay.evidence.ranking_words import size_text
from uqassay.evidence.verdict import details
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay

__all__ = ["PresentedAssay"]


class PresentedAssay(Shown):
    """The methods of `Assay` that show it; they compute nothing of their own."""

    _shown_more: ClassVar[str] = "summary(), plot(), show(), ranking(λ), table(name), warnings"

    def ranking(self, tradeoff: float = DEFAULT_TRADEOFF) -> Ranking:
        """Models and baselines by their mean E at one λ, best first, to be read: `Ranking` has a table, a figure, LaTeX."""
        return Ranking.of(self._assay, tradeoff)

    def plot(self, tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the ranking at one λ: mean E with intervals, and the ranks that each model can have.

        `uqassay.report.figures` has this figure and all others.

        Raises
        ------
        MissingDependencyError
            Without matplotlib (uqassay[figures]).
        """
        from uqassay.report.figures.ranking import plot_ranking

        return plot_ranking(self._assay, tradeoff, ax=ax)

    def show(self, path: str | Path | None = None) -> Path:
        """Write the page as `to_html` does, open it in the web browser, and return where it is.

        Parameters
        ----------
        path : str or Path, optional
            By default "report.html" in a new temporary folder, which stays until the system clears it.
        """
        place = Path(tempfile.mkdtemp(prefix="uqassay-"), "report.html") if path is None else Path(path)
        page = self.to_html(place).resolve()
        if not webbrowser.open(page.as_uri()):
            warnings.warn(f"no web browser was found; the page is {page}", stacklevel=2)
        return page

    def to_html(
        self, path: str | Path, *, command: str | None = None, progress: Callable[[str], None] | None = None
    ) -> Path:
        """Write the report: one self-contained page. `command` makes it again; `progress` is told each part that begins."""
        from uqassay.report.page import write_page

        return write_page(self._assay, path, command=command, progress=progress or (lambda part: None))

    def to_latex(
        self,
        tradeoff: float = DEFAULT_TRADEOFF,
        *,
        metrics: Sequence[str] | None = None,
        score: str | None = None,
        spread: Spread = "interval",
    ) -> Text:
        """Models by several metrics as a table of LaTeX, which needs booktabs; `ranking(λ).to_latex()` has the ranking alone.

        The best of each metric is bold. Underlined are the others that no model is shown to be better than by that metric
        (`rank_sets`). Non-specificity has no best: a smaller set is better only if it is right.

        Parameters
        ----------
        tradeoff : float
            λ of E.
        metrics : sequence of str, optional
            Those of `rank_sets`; by default accuracy, the distance, "nonspecificity" and "unified".
        score : str, optional
            For ranking metrics such as "uq-auc", the uncertainty that ranks the mistakes.
        spread : {"interval", "runs"}
            What stands after each mean: its confidence interval, or ± the standard deviation over the training runs.

        Raises
        ------
        InputError
            An unknown metric, score or spread; "runs" where no model has two runs.
        """
        return Text(metric_table(self._assay, tradeoff, metrics, score, spread).as_latex())

    def _shown_title(self) -> str:
        return f"Assay of {size_text(self._assay)}"

    def _shown_sentences(self) -> Sequence[str]:
        return self._assay.headline()

    def _shown_details(self) -> Sequence[str]:
        told = calibration_sentence(self._assay)
        return (*details(self._assay), *([told] if told else []))

    def _shown_table(self) -> ShownTable:
        return self.ranking()._shown_table()

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self._assay.warnings]

    @property
    def _assay(self) -> "Assay":
        return cast("Assay", self)
