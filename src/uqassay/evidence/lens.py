"""Lenses: the questions that an assay answers, in one list; claims, page, terminal and Markdown loop over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from uqassay.evidence.claims import Claim, claims_of, not_calibrated_claims
from uqassay.evidence.critical import critical_figures, shown_critical
from uqassay.evidence.data import Judged
from uqassay.evidence.ood import QUESTION, noted_detection, ood_figures
from uqassay.evidence.sets import coverage_claims, coverage_figures, set_coverage_of
from uqassay.results import Shown

__all__ = ["LENSES", "RANKING", "Lens", "all_claims", "claims_by", "lenses", "markdown_of_lenses"]


def _no_result(assay: Judged) -> Shown | None:
    """Nothing that is shown in the usual way."""
    return None


def _no_claims(assay: Judged) -> tuple[Claim, ...]:
    return ()


def _no_figures(found: Any) -> dict[str, Callable[[Any], object]]:
    return {}


@final
@dataclass(frozen=True)
class Lens:
    """One question about the models of an assay.

    A new lens is one file with what it measures and says, and one entry in `LENSES`. Page, terminal and Markdown then show the
    sentences and the table of its result under its question, and the page its figures. A lens whose result is drawn otherwise
    has a function in `report.page.SECTIONS` or `cli.report.PRINTED` in the place of `measure`. One that takes more than the
    assay, such as other inputs, measures when it is called: the assay notes its newest result (`Shared.note`).
    """

    id: str  #: In lower case; its section of the page is "lens-ID".
    question: str  #: The heading.
    short: str  #: The same in the page's navigation.
    measure: Callable[[Judged], Shown | None] = _no_result  #: What is found; None where there is nothing to show.
    claims: Callable[[Judged], tuple[Claim, ...]] = _no_claims  #: What may be said of the models, as data.
    #: From what was measured, figures by their titles: each is drawn on axes of matplotlib.
    figures: Callable[[Any], Mapping[str, Callable[[Any], object]]] = _no_figures


# Its claims are those of all losses, because what rests on other inputs and on groups is said of all of them together.
RANKING = Lens("ranking", "Which model for which λ?", "Ranking", claims=claims_of)

LENSES = (
    RANKING,
    Lens("mistakes", "Does it know when it is wrong?", "Mistakes"),
    Lens("refusal", "What can be promised after refusing?", "Refusal"),
    Lens(
        "critical",
        "What does refusing do for the class that matters?",
        "Critical class",
        measure=shown_critical,
        figures=critical_figures,
    ),
    Lens("calibration", "Is its confidence calibrated?", "Calibration", claims=not_calibrated_claims),
    Lens("sets", "Which classes do the sets leave?", "Sets"),
    Lens(
        "set-coverage",
        "Is every class covered alike?",
        "Coverage",
        measure=set_coverage_of,
        claims=coverage_claims,
        figures=coverage_figures,
    ),
    Lens("votes", "Could the votes come from what it states?", "Votes"),
    Lens("parts", "Does the choice hold in every part of the test set?", "Parts"),
    Lens("ood", QUESTION, "Other inputs", measure=noted_detection, figures=ood_figures),
)


def lenses() -> tuple[Lens, ...]:
    """All lenses, in the order of the page."""
    return LENSES


def claims_by(assay: Judged, lens: Lens) -> tuple[Claim, ...]:
    """The claims of one lens, made once for an assay."""
    return assay.shared.once(("claims", lens.id), lambda: lens.claims(assay))


def all_claims(assay: Judged) -> tuple[Claim, ...]:
    """The claims of all lenses; see `Assay.claims`."""
    return tuple(claim for lens in lenses() for claim in claims_by(assay, lens))


def markdown_of_lenses(assay: Judged) -> list[str]:
    """Question and result of every lens that has one, as Markdown."""
    results = [(lens.question, lens.measure(assay)) for lens in lenses()]
    return [f"### {question}\n\n{found.to_markdown()}" for question, found in results if found is not None]
