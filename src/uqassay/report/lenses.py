"""The questions a report answers next to the choice of a model: one section each, left out where nothing was found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from uqassay.report.calibration import calibration_section
from uqassay.report.mistakes import mistakes_section
from uqassay.report.parts import parts_section
from uqassay.report.refusal import refusal_section
from uqassay.report.sets import sets_section
from uqassay.report.votes import votes_section

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["LENSES", "Lens", "lens_sections"]


@final
@dataclass(frozen=True)
class Lens:
    """One section of the page.

    Attributes
    ----------
    id : str
        Also the name under which the page's script registers how to draw it.
    title : str
        The question it answers.
    short : str
        The same in the page's navigation.
    build : callable
        Assay → what is drawn, with its "finding" in a sentence; or None where there is nothing to show.
    """

    id: str
    title: str
    short: str
    build: Callable[["Assay"], dict[str, Any] | None]


def lens_sections(assay: "Assay", *, progress: Callable[[str], None] = lambda step: None) -> list[dict[str, Any]]:
    """The findings of every lens, in the order of `LENSES`; a lens without findings is absent.

    `progress` is called with the id of each lens when it begins.
    """
    sections = []
    for lens in LENSES:
        progress(lens.id)
        found = lens.build(assay)
        if found is not None:
            sections.append({"id": lens.id, "title": lens.title, "short": lens.short, **found})
    return sections


LENSES = (
    Lens("mistakes", "Does it know when it is wrong?", "Mistakes", mistakes_section),
    Lens("refusal", "What can be promised after refusing?", "Refusal", refusal_section),
    Lens("calibration", "Is its confidence calibrated?", "Calibration", calibration_section),
    Lens("sets", "Which classes do the sets leave?", "Sets", sets_section),
    Lens("votes", "Could the votes come from what it states?", "Votes", votes_section),
    Lens("parts", "Does the choice hold in every part of the test set?", "Parts", parts_section),
)
