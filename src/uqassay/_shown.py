"""How a result is shown: by `repr`, in a notebook, as a summary, as Markdown and LaTeX. One mechanism for all results."""

import textwrap
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from uqassay._markup import html_text, markdown_text
from uqassay._shown_table import ShownTable
from uqassay.wording import visible

__all__ = ["COLUMNS", "Shown", "Text"]

COLUMNS = 88  # characters of a line


class Text(str):
    r"""Text that a notebook and a prompt show as it is, with its line breaks and without quotation marks.

    Examples
    --------
    >>> Text("two\nlines")
    two
    lines
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Shown:
    """Gives a result its `repr`, its look in a notebook, `summary`, `to_markdown` and `to_latex`.

    A class states a title, what was found in sentences, and a table; it is a dataclass with ``repr=False``.
    """

    _shown_more: ClassVar[str] = "summary()"  # where more is to be found

    @abstractmethod
    def _shown_title(self) -> str:
        """What was judged, without a full stop."""

    @abstractmethod
    def _shown_sentences(self) -> Sequence[str]:
        """What was found: sentences that a procedure stands behind."""

    @abstractmethod
    def _shown_table(self) -> ShownTable:
        """The main numbers."""

    def _written_table(self) -> ShownTable:
        """The table of Markdown and LaTeX; by default the main numbers."""
        return self._shown_table()

    def _shown_details(self) -> Sequence[str]:
        """Further sentences, of the summary alone."""
        return ()

    def _shown_notes(self) -> Sequence[str]:
        """What limits the result, one sentence each."""
        return ()

    def __repr__(self) -> str:
        return "\n".join([*self._heading(), *_folded(f"More: {self._shown_more}", indent="  ")])

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html_text(note)}</li>" for note in self._shown_notes())
        folded = f"<details><summary>{_counted_notes(self._shown_notes())}</summary><ul>{notes}</ul></details>"
        more = html_text(self._shown_more)
        return "".join(
            [
                '<div class="uqassay" style="max-width:64em;line-height:1.4">',
                f'<p style="margin:.2em 0;opacity:.75">{html_text(self._shown_title())}</p>',
                *(
                    f'<p style="margin:.2em 0;font-weight:600">{html_text(text)}</p>'
                    for text in self._shown_sentences()
                ),
                self._shown_table().as_html(),
                folded if notes else "",
                f'<p style="margin:.2em 0;opacity:.75">More: <code style="background:none">{more}</code></p>',
                "</div>",
            ]
        )

    def summary(self) -> Text:
        """All of it as text: what was judged, what was found, the main numbers, what limits them."""
        details = [line for text in self._shown_details() for line in _folded(text, indent="  ")]
        notes = [line for note in self._shown_notes() for line in _folded(f"! {note}", indent="  ", hanging="    ")]
        table = self._shown_table()
        numbers = [*table.as_text(), *_folded(table.caption, indent="  ")]
        parts = [
            [*self._heading(noted=False), *details],
            numbers,
            notes,
            [*_folded(f"More: {self._shown_more}", indent="  ")],
        ]
        return Text("\n\n".join("\n".join(part) for part in parts if part))

    def to_markdown(self) -> Text:
        """What was found and the main numbers as Markdown for GitHub, to be pasted into a pull request."""
        sentences = [f"**{markdown_text(text)}**" for text in self._shown_sentences()]
        parts = [*sentences, markdown_text(f"{self._shown_title()}."), self._written_table().as_markdown()]
        if notes := self._shown_notes():
            parts += ["Reasons for caution:", "\n".join(f"* {markdown_text(note)}" for note in notes)]
        return Text("\n\n".join(parts))

    def to_latex(self) -> Text:
        """The main numbers as a table of LaTeX, which needs the package booktabs."""
        return Text(self._written_table().as_latex())

    def _heading(self, *, noted: bool = True) -> list[str]:
        lines = _folded(self._shown_title())
        for text in self._shown_sentences():
            lines += _folded(text, indent="  ")
        return [*lines, f"  {_counted_notes(self._shown_notes())}"] if noted and self._shown_notes() else lines


def _counted_notes(notes: Sequence[str]) -> str:
    return "1 reason for caution" if len(notes) == 1 else f"{len(notes)} reasons for caution"


def _folded(text: str, *, indent: str = "", hanging: str = "") -> list[str]:
    return textwrap.wrap(
        visible(text), COLUMNS, initial_indent=indent, subsequent_indent=hanging or indent, break_on_hyphens=False
    )
