"""What a command found, as Markdown for a pull request: verdict, rankings, and the outcome of each check."""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from uqassay._files import whole_file
from uqassay._markup import markdown_text
from uqassay.cli.checks import Outcome
from uqassay.cli.outputs import check_text
from uqassay.evidence import Assay
from uqassay.wording import listed_names, tradeoff, visible

__all__ = ["check_summary", "markdown_summary", "write_summary"]

SIGNS = {"pass": "✅", "fail": "❌", "cannot tell": "❔"}


def check_summary(path: Path, inputs: Sequence[Path], page: Path | None = None) -> None:
    """Refuse a file that could not be written, or would replace an input or the page.

    Raises
    ------
    InputError
    """
    check_text(path, inputs, option="--markdown")
    if page is not None:
        check_text(path, [page], option="--markdown")


def write_summary(
    path: Path,
    assay: Assay,
    outcomes: Sequence[Outcome],
    *,
    tradeoffs: Sequence[float] | None = None,
    command: str = "",
    page: Path | None = None,
) -> None:
    """Write `markdown_summary` to a file, which is replaced."""
    text = markdown_summary(assay, outcomes, tradeoffs=tradeoffs, command=command, page=page)
    with whole_file(path) as stream:
        stream.write(text.encode())


def markdown_summary(
    assay: Assay,
    outcomes: Sequence[Outcome],
    *,
    tradeoffs: Sequence[float] | None = None,
    command: str = "",
    page: Path | None = None,
) -> str:
    """Verdict, checks, rankings and reasons for caution as Markdown that can be appended to another text.

    Parameters
    ----------
    assay : Assay
    outcomes : sequence of Outcome
        Of the checks, in their order.
    tradeoffs : sequence of float, optional
        λ of the rankings; the default one otherwise.
    command : str
        The command line that made it.
    page : Path, optional
        The page with everything, which is linked by its name.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.1, 0.9]])}, [0, 1], calibration=())
    >>> print(markdown_summary(a, [Outcome(text="accuracy<0.9")]).splitlines()[0])
    ## Uncertainty of m
    """
    rankings = [assay.ranking(at) for at in tradeoffs] if tradeoffs else [assay.ranking()]
    sentences = [f"**{markdown_text(text)}**" for text in assay.headline()]
    parts = [f"## Uncertainty of {markdown_text(listed_names(assay.model_names))}", " ".join(sentences)]
    if outcomes:
        parts.append(_checks(outcomes))
    for ranking in rankings:
        heading = [f"### Ranking at λ = {tradeoff(ranking.tradeoff)}"] if len(rankings) > 1 else []
        parts += [*heading, ranking.to_markdown()]
    if assay.warnings:
        cautions = "\n".join(f"* {markdown_text(note.text)}" for note in assay.warnings)
        parts.append(f"<details><summary>Reasons for caution</summary>\n\n{cautions}\n\n</details>")
    if page is not None:
        parts.append(f"Everything is on the page [{markdown_text(page.name)}]({quote(os.fsencode(page.name))}).")
    if command:
        parts.append(f"Made by {_code(command)}.")
    return "\n\n".join(parts) + "\n"


def _checks(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for outcome in outcomes:
        said = markdown_text(" ".join(_without_check(sentence, outcome) for sentence in outcome.sentences()))
        rows.append(f"| {SIGNS[outcome.word]} {outcome.word} | {markdown_text(outcome.text)} | {said} |")
    return "\n".join(["| outcome | fails if | findings |", "| :-- | :-- | :-- |", *rows])


def _without_check(sentence: str, outcome: Outcome) -> str:
    """The sentence without the words of the check, which has a column."""
    return sentence.removeprefix(f"Check {outcome.text} ")


def _code(text: str) -> str:
    """Text as code, between more backticks than it has in a row."""
    text = visible(" ".join(text.split()))
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * (longest + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"
