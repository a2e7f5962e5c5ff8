"""What the page says on calibration: whether some mixture of the members passes, and how far off the confidence is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.monte_carlo import CALIBRATED, ROUNDING
from uqassay.evidence.calibration_result import holm_adjusted
from uqassay.notes import Note
from uqassay.report.definitions import calibration_definitions, measure_label

if TYPE_CHECKING:
    from uqassay.evidence.calibration_result import ModelCalibration
    from uqassay.evidence.result import Assay
    from uqassay.metrics.calibration.reliability import Reliability

__all__ = ["calibration", "null_histogram", "outcome_of", "pvalue_words", "tested_noun"]

Floats = NDArray[np.float64]
MOST_BARS = 40
MOST_WEIGHTS = 5  # written out in a sentence
MOST_NAMES = 4
TOLD_ELSEWHERE = ("sample", "option")  # codes of notes that the page words with the numbers they are about


def calibration(assay: "Assay") -> dict[str, Any] | None:
    """Reliability of every model's confidence, and the tests of `Assay.calibration` where something was tested.

    Returns
    -------
    dict
        "models": bins of the reliability diagram of each model. With tests also "title", and "tests": "alpha", "lead" (all
        tests in a sentence or two), "cautions", the "measures" with their "definitions", and "rows", one per model, run and
        measure, with the p-value as it is and adjusted by Holm for all rows, the outcome and its words, the null draws as a
        histogram one of whose edges is the minimum found, values and p-values of the mean and of single members, the
        weights, and the bins of the mean ("before") and of the best mixture ("after").
    """
    models = [{"model": m.name, **_bins(assay.reliability(m.name), digits=None)} for m in assay.candidates]
    if all(t.tested == "nothing" for t in assay.calibration):
        return {"models": models}
    return {"title": "Can it be calibrated?", "models": models, "tests": _tests(assay)}


# -- the tests ---------------------------------------------------------------------------------------------------------


def outcome_of(pvalue: float, adjusted: float, alpha: float) -> str:
    """ "rejected", "doubtful" (alone, but not among so many tests), "passes", or "undefined".

    Examples
    --------
    >>> [outcome_of(*p, 0.05) for p in ((0.01, 0.02), (0.01, 0.06), (0.4, 0.8), (float("nan"),) * 2)]
    ['rejected', 'doubtful', 'passes', 'undefined']
    """
    if np.isnan(pvalue):
        return "undefined"
    if adjusted <= alpha + 1e-12:
        return "rejected"
    return "doubtful" if pvalue <= alpha + 1e-12 else "passes"


def tested_noun(assay: "Assay", model: str) -> str:
    """What is mixed in the tests of a model: members, or vertices."""
    return "members" if assay[model].kind == "Members" else "vertices"


def _tests(assay: "Assay") -> dict[str, Any]:
    found, alpha = assay.calibration, 1 - assay.settings.level
    adjusted = holm_adjusted(found).tolist()
    outcomes = [outcome_of(t.pvalue, p, alpha) for t, p in zip(found, adjusted, strict=True)]
    measures = {t.measure: t.notion for t in found}
    n_tests = int((~np.isnan(adjusted)).sum())
    return {
        "alpha": float(f"{alpha:.6g}"),
        "n_tests": n_tests,
        "lead": _lead(found, outcomes),
        "cautions": _cautions(found, outcomes, n_tests),
        "measures": [
            {"measure": m, "label": measure_label(m), "adjective": CALIBRATED.get(notion, notion)}
            for m, notion in measures.items()
        ],
        "definitions": {name: d._asdict() for name, d in calibration_definitions(measures).items()},
        "rows": [
            _row(t, p, outcome, _words(assay, t, p, outcome, n_tests), tested_noun(assay, t.model))
            for t, p, outcome in zip(found, adjusted, outcomes, strict=True)
        ],
    }


def _row(t: "ModelCalibration", adjusted: float, outcome: str, words: str, noun: str) -> dict[str, Any]:
    return {
        "model": t.model,
        "run": t.run,
        "measure": t.measure,
        "notion": t.notion,
        "tested": t.tested,
        "noun": noun,
        "outcome": outcome,
        "words": words,
        "statistic": _short(t.statistic, 4),
        "pvalue": _short(t.pvalue, 4),
        "holm": _short(adjusted, 4),
        "kind": t.null_kind,
        "n_draws": t.n_draws,
        "n_null": len(t.null),
        "null": null_histogram(t.null, t.statistic),
        "weights": [] if np.isnan(t.weights).any() else [_short(w, 3) for w in t.weights],
        "n_members": t.n_members,
        "n_tested": t.n_tested,
        "n_instances": t.n_instances,
        "mean": [_short(t.mean_value, 4), _short(t.mean_pvalue, 4)],
        "members": [_short(v, 4) for v in t.member_values],
        "member_pvalues": [_short(p, 3) for p in t.member_pvalues],
        "accuracy": [_short(t.accuracy_mean, 5), _short(t.accuracy_weighted, 5)],
        "before": None if t.before is None else _bins(t.before),
        "after": None if t.after is None or t.n_members < 2 else _bins(t.after),
        "width": _short(t.width, 4),
        "notes": [note.to_dict() for note in t.notes],
    }


def null_histogram(null: Floats, statistic: float) -> dict[str, Any]:
    """Null draws counted in bars of equal width, one edge of which is the minimum found, so that the p-value can be read off.

    Parameters
    ----------
    null : array (D,)
    statistic : float

    Returns
    -------
    dict
        "start" of the first bar, "width", "counts"; "infinite": draws that are +inf; "reach": how many draws are at least as
        great as the statistic. No bars where no draw is finite.

    Examples
    --------
    >>> bars = null_histogram(np.array([0.1, 0.2, 0.3, 0.3]), 0.3)
    >>> sum(bars["counts"]), bars["counts"][-1], bars["reach"]
    (4, 2, 2)
    """
    draws = np.asarray(null, dtype=np.float64)
    finite = np.sort(draws[np.isfinite(draws)])
    margin = ROUNDING * abs(statistic) + 1e-15 if np.isfinite(statistic) else 0.0  # as in the p-value
    least = float(statistic) - margin
    out: dict[str, Any] = {
        "start": None,
        "width": None,
        "counts": [],
        "infinite": int(np.isposinf(draws).sum()),
        "reach": int((draws >= least).sum()),
    }
    if not finite.size:
        return out
    edge = least if np.isfinite(least) else float(finite[0])
    span = float(finite[-1] - finite[0])
    spread = float(np.subtract(*np.quantile(finite, [0.75, 0.25])))
    width = max(2 * spread * finite.size ** (-1 / 3), span / MOST_BARS)
    if not width > 1e-9 * max(abs(edge), float(np.abs(finite).max()), 1e-300):  # all draws are equal
        width = max(abs(edge), abs(float(finite[0]))) / MOST_BARS or 1.0
    place = np.floor((finite - edge) / width).astype(np.int64)
    place = np.where(finite >= edge, np.maximum(place, 0), np.minimum(place, -1))  # rounding moves no draw past it
    counts = np.bincount(place - place[0])
    return out | {"start": edge + int(place[0]) * width, "width": width, "counts": counts.tolist()}


# -- words -------------------------------------------------------------------------------------------------------------


def _words(assay: "Assay", t: "ModelCalibration", adjusted: float, outcome: str, n_tests: int) -> str:
    """One test in a sentence or two, in which the model is "it"."""
    adjective, by = CALIBRATED.get(t.notion, t.notion), measure_label(t.measure)
    points = f"{t.n_members:,} {tested_noun(assay, t.model)}"
    single = "It" if assay[t.model].kind == "Point" else "Its mean"
    who = f"some mixture of its {points}" if t.tested == "mixtures" else single.lower()
    p = f"({by}, {pvalue_words(adjusted)})"
    if outcome == "undefined":
        return f"Whether {who} is {adjective} is open ({by}): {t.reason or 'the test is undefined'}."
    if outcome == "doubtful":
        among = f"{pvalue_words(t.pvalue)} alone, {pvalue_words(adjusted)} among the {n_tests} tests"
        return f"Whether {who} is {adjective} is doubtful ({by}, {among})."
    if t.tested != "mixtures" and outcome == "rejected":
        return f"{single} is not {adjective} {p}: recalibrate it."
    if t.tested != "mixtures":
        return f"{single} passes by {by} ({pvalue_words(adjusted)})."
    passes = t.mean_pvalue > 1 - assay.settings.level + 1e-12  # not where it is nan
    alone = f"({pvalue_words(t.mean_pvalue)})"
    if outcome == "rejected":
        yet = f" Yet its mean, tested alone, is not rejected {alone}: take this with care." if passes else ""
        return f"No mixture of its {points} is {adjective} {p}: recalibrate it, or widen the set.{yet}"
    weights = [f"{w:.2f}".removeprefix("0") for w in t.weights]
    which = f": weights {'/'.join(weights)}" if 1 < len(weights) <= MOST_WEIGHTS else ""
    mean = ""
    if not np.isnan(t.mean_pvalue):
        mean = f" Its mean {'passes, too' if passes else 'alone does not'} {alone}."
    return f"Some mixture of its {points} passes by {by} ({pvalue_words(adjusted)}){which}.{mean}"


def _lead(found: Sequence["ModelCalibration"], outcomes: Sequence[str]) -> str:
    """All tests in a sentence or two; empty for a single one, whose own words say it."""
    if len(found) < 2:
        return ""
    pairs = list(zip(found, outcomes, strict=True))
    clauses = []
    for mixed in (True, False):
        tests = dict.fromkeys(t.model for t in found if (t.tested == "mixtures") == mixed)
        failing: dict[tuple[str, ...], list[str]] = {}  # who is rejected, by what they are not
        for measure, adjective in {t.measure: CALIBRATED.get(t.notion, t.notion) for t in found}.items():
            names = tuple(_with_runs(m, [o for t, o in pairs if (t.model, t.measure) == (m, measure)]) for m in tests)
            if any(names):
                adjectives = failing.setdefault(tuple(name for name in names if name), [])
                adjectives += [adjective] if adjective not in adjectives else []
        for names, adjectives in failing.items():
            whole = len(names) > 1 and names == tuple(dict.fromkeys(t.model for t in found))
            if mixed:
                whose = "any model" if whole else _listed(names, last="or")
                clauses.append(f"no mixture of {whose} is {_joined(adjectives, 'or')}")
            else:
                verb = "is" if len(names) == 1 else "are"
                clauses.append(f"{_listed(names)} {verb} {_joined(adjectives, 'nor')}")
    passing = {
        t.model: t.tested == "mixtures" for t in found if {o for s, o in pairs if s.model == t.model} == {"passes"}
    }
    by = " by every measure" if len({t.measure for t in found}) > 1 else ""
    mixtures = [name for name, mixed in passing.items() if mixed]
    others = [name for name, mixed in passing.items() if not mixed]
    if mixtures:
        clauses.append(f"for {_listed(mixtures)} some mixture passes{by}")
    if others:
        clauses.append(f"{_listed(others)} {'passes' if len(others) == 1 else 'pass'}{by}")
    doubtful, undefined = (sum(o == kind for o in outcomes) for kind in ("doubtful", "undefined"))
    if doubtful:
        clauses.append(f"{doubtful} of the {len(found)} tests would reject alone, but not among so many")
    if undefined:
        clauses.append(f"{undefined} of the {len(found)} tests {'is' if undefined == 1 else 'are'} undefined")
    names = tuple(t.model for t in found)  # stand as they were given
    return " ".join(f"{c if c.startswith(names) else c[0].upper() + c[1:]}." for c in clauses)


def _joined(adjectives: Sequence[str], joint: str) -> str:
    """ "confidence or classwise calibrated", "neither … nor …", "not …"."""
    stem = " calibrated" if all(a.endswith(" calibrated") for a in adjectives) else ""
    words = f" {joint} ".join(a.removesuffix(stem) for a in adjectives) + stem
    return ("" if joint == "or" else "not " if len(adjectives) == 1 else "neither ") + words


def _with_runs(name: str, outcomes: Sequence[str]) -> str:
    """A model's name, with how many of its runs are rejected where not all are; empty where none is."""
    n = sum(o == "rejected" for o in outcomes)
    return "" if n == 0 else name if n == len(outcomes) else f"{name} ({n} of {len(outcomes)} runs)"


def _cautions(found: Sequence["ModelCalibration"], outcomes: Sequence[str], n_tests: int) -> list[str]:
    """What limits the tests: too few draws for so many of them, and notes of single tests, each once."""
    out = []
    doubtful = [t for t, o in zip(found, outcomes, strict=True) if o == "doubtful"]
    ends = [t for t in doubtful if t.pvalue <= 1 / (t.n_draws + 1) + 1e-12]
    if ends:
        least = max(ends, key=lambda t: t.pvalue)
        out.append(
            f"The p-values of {len(ends)} of the {n_tests} tests are the least that their draws can give "
            f"({pvalue_words(least.pvalue)} of {least.n_draws:,}), which among so many tests rejects nothing; more draws would "
            "tell."
        )
    notes: dict[Note, list[str]] = {}
    for t, outcome in zip(found, outcomes, strict=True):
        for note in t.notes if outcome != "undefined" else ():
            if note.code not in TOLD_ELSEWHERE and t.model not in notes.setdefault(note, []):
                notes[note].append(t.model)
    n_models = len({t.model for t in found})
    for note, names in notes.items():
        whose = "" if len(names) == n_models else f" ({_listed(names)})"
        out.append(f"{note.text[0].upper()}{note.text[1:]}{whose}.")
    return out


def _listed(names: Sequence[str], *, last: str = "and") -> str:
    if len(names) > MOST_NAMES + 1:
        names = [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def pvalue_words(pvalue: float) -> str:
    """A p-value as the page writes it.

    Examples
    --------
    >>> pvalue_words(0.25), pvalue_words(0.004), pvalue_words(0.0001)
    ('p = .25', 'p = .004', 'p < .001')
    """
    if pvalue < 0.001:
        return "p < .001"
    return f"p = {pvalue:.{3 if pvalue < 0.0095 else 2}f}".replace("= 0.", "= .")


# -- bins --------------------------------------------------------------------------------------------------------------


def _bins(bins: "Reliability", *, digits: int | None = 5) -> dict[str, Any]:
    """The filled bins of a reliability diagram."""
    filled = bins.count > 0
    columns = {name: getattr(bins, name)[filled].tolist() for name in ("confidence", "accuracy", "low", "high")}
    if digits is not None:
        columns = {name: [_short(v, digits) for v in values] for name, values in columns.items()}
    edges = [bins.edges[:-1][filled].tolist(), bins.edges[1:][filled].tolist()]
    if digits is not None:
        edges = [[_short(e, digits) for e in end] for end in edges]
    return {"edges": edges, "count": bins.count[filled].tolist(), **columns}


def _short(value: float, digits: int) -> float:
    """A number with as many significant digits as the page may show."""
    return float(f"{value:.{digits}g}")
