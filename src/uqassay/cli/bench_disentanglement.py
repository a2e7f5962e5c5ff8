"""The disentanglement benchmark in `uqassay bench`: its page, its table and its sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from uqassay.cli.streams import print_note, print_text
from uqassay.errors import InputError

if TYPE_CHECKING:
    from uqassay.bench.cell import Cell
    from uqassay.bench.config import BenchConfig
    from uqassay.bench.disentanglement import BenchStudies

__all__ = ["WrittenStudies", "check_decompositions", "plain_studies", "print_studies", "written_studies"]


@final
@dataclass(frozen=True, eq=False)
class WrittenStudies:
    """The studies on one data set, and their page; None if no run is complete."""

    found: "BenchStudies"
    page: Path | None


def check_decompositions(plan: "BenchConfig", cells: "Sequence[Cell]") -> None:
    """Refuse decompositions if the conditions have no page for them."""
    from uqassay.bench.disentanglement import holds_experiments

    if plan.decomposition is not None and not holds_experiments(cells):
        raise InputError(
            "decomposition",
            "needs the conditions of the disentanglement benchmark",
            "",
            "give --condition disentanglement",
            code="conflict",
        )


def written_studies(
    plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, command: str, say: Callable[[str], None]
) -> list[WrittenStudies]:
    """Build the studies of each data set and write their pages."""
    from uqassay.bench.disentanglement import bench_studies, page_of
    from uqassay.report.disentanglement_page import write_disentanglement_page

    written = []
    for found in bench_studies(cells, output, decompositions=plan.decomposition, progress=say):
        page = None
        if found.contenders:
            say(f"writing the page on disentanglement on {found.dataset}")
            page = write_disentanglement_page(found.contenders, page_of(found.dataset, cells, output), command=command)
        written.append(WrittenStudies(found, page))
    return written


def print_studies(written: Sequence[WrittenStudies]) -> None:
    """Table and sentences of each data set, the runs left out, and where the page is."""
    from uqassay.evidence.disentanglement_verdict import disentanglement_lines

    for one in written:
        print_text(f"\nDisentanglement on {one.found.dataset}")
        if one.page is not None:
            print_text("\n".join(disentanglement_lines(one.found.contenders)))
        for note in one.found.notes:
            print_note(note.text)
        if one.page is not None:
            print_text(f"Page: {one.page}")


def plain_studies(written: WrittenStudies) -> dict[str, Any]:
    """The studies on one data set, for JSON."""
    return {
        "dataset": written.found.dataset,
        "page": None if written.page is None else str(written.page),
        "studies": [study.to_json() for study in written.found.studies],
        "notes": [note.to_dict() for note in written.found.notes],
    }
