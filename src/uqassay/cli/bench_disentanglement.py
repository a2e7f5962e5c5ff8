"""The disentanglement benchmark in `uqassay bench`: its page, its table and its sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from uqassay.cli.streams import print_note, print_text
from uqassay.errors import InputError

if TYPE_CHECKING:
    from uqassay.bench.cell import Cell
    from uqassay.bench.config import BenchConfig
    from uqassay.bench.disentanglement import BenchStudies
    from uqassay.evidence.disentanglement_ranking import Contender

__all__ = ["WrittenStudies", "check_studies", "plain_studies", "print_studies", "written_studies"]


@final
@dataclass(frozen=True, eq=False)
class WrittenStudies:
    """The studies on each data set, and their page; None without a complete run."""

    found: "tuple[BenchStudies, ...]"
    page: Path | None

    @property
    def contenders(self) -> "tuple[Contender, ...]":
        """Those of all data sets."""
        return tuple(contender for one in self.found for contender in one.contenders)


def check_studies(plan: "BenchConfig", cells: "Sequence[Cell]") -> bool:
    """Whether there will be a page on disentanglement; refuses what it needs and lacks before anything is trained.

    Raises
    ------
    InputError
        Decompositions without the conditions of the benchmark.
    MissingDependencyError
        matplotlib, which draws the page, is not installed.
    """
    from uqassay.bench.disentanglement import holds_experiments

    if holds_experiments(cells):
        from uqassay.report.figures.style import matplotlib_module

        matplotlib_module()
        return True
    if plan.decomposition is not None:
        raise InputError(
            "decomposition",
            "needs the conditions of the disentanglement benchmark",
            "",
            "give --condition disentanglement",
            code="conflict",
        )
    return False


def written_studies(
    plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, command: str, say: Callable[[str], None]
) -> WrittenStudies:
    """Build the studies of each data set and write their page."""
    from uqassay.bench.disentanglement import PAGE, bench_studies
    from uqassay.report.disentanglement_page import write_disentanglement_page

    found = WrittenStudies(tuple(bench_studies(cells, output, decompositions=plan.decomposition, progress=say)), None)
    if not found.contenders:
        return found
    say("writing the page on disentanglement")
    return replace(found, page=write_disentanglement_page(found.contenders, output / PAGE, command=command))


def print_studies(written: WrittenStudies) -> None:
    """Table and sentences of each data set, the runs left out, and where the page is."""
    from uqassay.evidence.disentanglement_verdict import disentanglement_lines

    if written.page is not None:
        print_text("\nDisentanglement")
        print_text("\n".join(disentanglement_lines(written.contenders)))
    for one in written.found:
        for note in one.notes:
            print_note(f"{one.dataset}: {note.text}")
    if written.page is not None:
        print_text(f"Page: {written.page}")


def plain_studies(written: WrittenStudies) -> dict[str, Any] | None:
    """The studies, for JSON; None if the conditions are not those of the benchmark."""
    if not written.found:
        return None
    return {
        "page": None if written.page is None else str(written.page),
        "datasets": [
            {
                "dataset": one.dataset,
                "studies": [study.to_json() for study in one.studies],
                "notes": [note.to_dict() for note in one.notes],
            }
            for one in written.found
        ],
    }
