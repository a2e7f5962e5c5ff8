"""Definitions of the numbers on the page: one sentence, the paper's equation, and its source."""

from typing import TYPE_CHECKING

from uqassay.measures.scores import SCORES
from uqassay.report.definitions.calibration import CALIBRATION, calibration_definitions
from uqassay.report.definitions.entry import Definition
from uqassay.report.definitions.losses import LOSSES, NONSPECIFICITIES
from uqassay.report.definitions.mistakes import RANKINGS, VOTES
from uqassay.report.definitions.scores import score_definition, score_label

if TYPE_CHECKING:
    from uqassay.evidence.scoring import Settings

__all__ = [
    "DEFINITIONS",
    "Definition",
    "calibration_definitions",
    "definition_of",
    "page_definitions",
    "score_label",
]

DEFINITIONS: dict[str, Definition] = LOSSES | RANKINGS | CALIBRATION
DEFINITIONS |= {name: score_definition(name) for name in SCORES if name not in DEFINITIONS}


def __dir__() -> list[str]:
    return sorted(__all__)


def page_definitions(settings: "Settings", *, label_distributions: bool) -> dict[str, Definition]:
    """All definitions, worded for what one assay computed.

    Examples
    --------
    >>> from uqassay.evidence.scoring import Settings
    >>> sentence = page_definitions(Settings(level=0.9), label_distributions=False)["pvalue"].sentence
    >>> "Above 0.1 the difference could be chance." in sentence
    True
    """
    out = dict(DEFINITIONS)
    out["pvalue"] = out["pvalue"]._replace(sentence=out["pvalue"].sentence.replace("0.05", f"{1 - settings.level:.3g}"))
    if settings.nonspecificity in NONSPECIFICITIES:
        sentence, equation, source, most = NONSPECIFICITIES[settings.nonspecificity]
        out["nonspecificity"] = Definition(out["nonspecificity"].title, sentence, equation, source)
        silence = out["vacuous"]
        out["vacuous"] = silence._replace(
            sentence=silence.sentence.replace("ln K", most.strip("()")), equation=f"E = λ {most}"
        )
    if label_distributions:
        out.update({name: out[name]._replace(sentence=sentence) for name, sentence in VOTES.items()})
    return out


def definition_of(name: str) -> Definition:
    """The definition of a metric; a metric without one is shown by its name.

    Examples
    --------
    >>> definition_of("ece").title
    'ECE, expected calibration error'
    """
    return DEFINITIONS.get(name, Definition(name, "An uncertainty score that came with the predictions.", "", ""))
