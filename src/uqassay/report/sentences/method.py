"""How it was computed: conventions, procedures, versions, inputs, in words."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.report.definitions import definition_of
from uqassay.wording import count, counted, level_text, listed, number, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["method_sentences"]

METHODS = {"student-t": "Student t", "hall": "Student t corrected for skewness (Hall)", "wilson": "Wilson"}  # of means
FURTHER_METHODS = {"delong": "DeLong", "u-statistic": "U-statistic"}
HEADS = {
    "model": "Model",
    "kind": "Kind",
    "runs": "Runs",
    "points": "Points per set",
    "floored": "Rows floored",
    "notes": "Changes at reading",
    "hash": "SHA-256 of the arrays",
}  # of the table of inputs
SHORT = 0.1  # seconds; a shorter time is not written out


def method_sentences(assay: "Assay") -> dict[str, Any]:
    """Facts as pairs (term, description) in two lists, hashes apart, and words of the table of inputs.

    Examples
    --------
    >>> import uqassay as uq
    >>> text = method_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    >>> text["procedures"][1]
    ['shares of resamples', "2,000 draws with Student's t"]
    """
    return {
        "conventions": _conventions(assay),
        "procedures": _procedures(assay),
        "labels_hash": "SHA-256 of the label array",
        "seconds": _seconds(assay),
        "no_points": "the set is given by lower probabilities, not by points",
        "again": "Make this page again",
        "copy": "Copy",
        "time_taken": "time taken",
        "heads": HEADS,
    }


def _conventions(assay: "Assay") -> list[list[str]]:
    s = assay.settings
    sets = "all events" if s.focal_sets is None else counted(len(s.focal_sets), "set")
    return [
        ["distance", definition_of(s.distance_metric).short],
        ["non-specificity", s.nonspecificity],
        ["convention", _convention(assay)],
        ["focal sets", sets],
        ["floor of probabilities", _floor(assay)],
        ["further measures", ", ".join(s.measures) or "none"],
        ["λ of the findings", ", ".join(tradeoff(t) for t in assay.tradeoffs)],
    ]


def _convention(assay: "Assay") -> str:
    if assay.settings.convention != "exact":
        return "paper: negative masses set to 0, rows renormalised"
    if any(note.code == "repaired" for m in assay.models for note in m.notes):
        return "exact, but negative masses of some rows were repaired on the way in (see below)"
    return "exact: masses are never clipped"


def _floor(assay: "Assay") -> str:
    s = assay.settings
    if s.floor is not None:
        return f"{s.floor:g}"
    why = "that of the paper's code" if s.convention == "paper" else "the same for all number types"
    return f"{_small(assay.models[0].floor)}, {why}"


def _small(floor: float) -> str:
    """A floor of probabilities with three digits, as 1.19e−7.

    Examples
    --------
    >>> _small(0.0), _small(1.1920929e-07), _small(1e-12)
    ('none', '1.19e−7', '1e−12')
    """
    if floor == 0 or math.isnan(floor):
        return "none"
    mantissa, _, exponent = f"{floor:.2e}".partition("e")
    digits = mantissa.rstrip("0").rstrip(".")
    return f"{digits}e{int(exponent)}".replace("-", "−").replace("e", "e" if int(exponent) < 0 else "e+")


def _procedures(assay: "Assay") -> list[list[str]]:
    versions = assay.provenance
    return [
        ["intervals", _intervals(assay)],
        ["shares of resamples", f"{count(assay.settings.n_draws)} draws with Student's t"],
        [
            "tests",
            "paired tests of all pairs of models and baselines (Student, Hall, unseen losses), adjusted by Shaffer",
        ],
        ["seed", str(assay.settings.seed)],
        [
            "versions",
            f"uqassay {versions['uqassay']}, Python {versions['python']}, NumPy {versions['numpy']}, "
            f"SciPy {versions['scipy']}",
        ],
    ]


def _intervals(assay: "Assay") -> str:
    found = [r for r in assay.rows("findings") if r["metric"] != "accuracy" and not math.isnan(r["low"])]
    methods = list(dict.fromkeys(r["method"] for r in found))
    means = listed([METHODS[m] for m in methods if m in METHODS]) or "none"
    further = listed([_further(m) for m in methods if m not in METHODS])
    groups = "" if assay.groups is None else f", over {counted(len(np.unique(assay.groups)), 'group')}"
    ranking = f"; ranking of mistakes: {further}" if further else ""
    return f"{level_text(assay.settings.level)}; means: {means}{groups}; shares: Wilson{ranking}"


def _further(method: str) -> str:
    """A method of an interval and, in brackets, how it was used."""
    name, *how = method.split(", ")
    name = FURTHER_METHODS.get(name, name)
    return f"{name} ({', '.join(how)})" if how else name


def _seconds(assay: "Assay") -> str:
    seconds = assay.provenance.get("seconds")
    if seconds is None:
        return ""
    return f"less than {SHORT} s" if seconds < SHORT else f"{number(seconds, 1)} s"
