"""Can it be calibrated: sentences of the tests, of the pictures of one test, and of the reliability diagrams."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.calibration.monte_carlo import ENOUGH
from uqassay.evidence.calibration_statements import JudgedTest
from uqassay.evidence.calibration_verdict import advice, claim, measure_label
from uqassay.notes import Note
from uqassay.wording import count, counted, level_text, listed, listed_names, number, percent, pvalue, pvalue_text

if TYPE_CHECKING:
    from uqassay.metrics.calibration.reliability import Reliability

__all__ = [
    "captions",
    "cautions",
    "confidence_finding",
    "confidence_text",
    "decimals_of",
    "outcome_text",
    "reliability_sentences",
    "sentences_around_tests",
    "words_of_test",
]

FEW = 30  # instances in a bin below which its accuracy says little
MOST_NAMES = 4
MANY_MEMBERS = 8  # whose weights a sentence sums up
WEIGHT = 0.95  # that the heaviest members carry together
OUTCOMES = {"rejected": "no mixture is", "passed": "not rejected", "undefined": "undefined"}
ENDED = ", and no more were made"  # of a sequential test that does not reject at 10 %
NULLS = {
    "single": "labels are drawn from its own probabilities",
    "minimised": "labels are drawn from one or two likely mixtures, and the best mixture for them is sought again",
    "sequential": (
        "labels are drawn from one or two likely mixtures, and a better mixture for them is sought until its value is below "
        "the minimum found, so most bars left of it are upper bounds"
    ),
    "random": (
        "labels are drawn from mixtures chosen at random and judged by these, as in the paper; this rejects less often than "
        "it may"
    ),
    "signs": "the deviations of each group from its probabilities get a random sign",
    "berger-boos": (
        "labels are drawn from several mixtures that could be the true one, and the p-value is the largest of theirs; this "
        "rejects a little less often than it may"
    ),
}
IN_THE_NOTE = ("sample", "option")  # codes of notes that the page words with the numbers they are about


def decimals_of(values: Iterable[float], more: int = 0) -> int:
    """Decimals that show two digits of the typical value, and `more`; from 0 to 5.

    Examples
    --------
    >>> decimals_of([0.012, 0.034, 0.05]), decimals_of([0.012], 1), decimals_of([float("nan")])
    (3, 4, 3)
    """
    sizes = sorted(abs(v) for v in values if np.isfinite(v) and v != 0)
    if not sizes:
        return 3
    return int(np.clip(1 + more - np.floor(np.log10(sizes[len(sizes) // 2])), 0, 5))


# -- all tests ---------------------------------------------------------------------------------------------------------


def words_of_test(judged: JudgedTest) -> str:
    """The result of one test and its consequence, in one or two sentences."""
    return " ".join((claim(judged), *advice(judged)))


def outcome_text(judged: JudgedTest) -> str:
    """The outcome in a word or two, as in a cell of the table."""
    if judged.test.tested == "nothing":
        return "not tested"
    if judged.outcome == "rejected" and judged.test.n_members < 2:
        return "not calibrated"
    return OUTCOMES[judged.outcome]


def sentences_around_tests(judged: Sequence[JudgedTest], n_tests: int) -> dict[str, Any]:
    """Sentences and templates around the tests."""
    adjusted = f"p-values are adjusted by Holm for the {n_tests} tests." if n_tests > 1 else ""
    note = (
        "A mixture weighs the members’ predictions. If some mixture is calibrated, its probabilities can be taken at their "
        "word; if none is, the truth lies outside the set that the members span."
    )
    proof = "Passing is no proof of calibration: few instances, or a measure of another property, can hide errors."
    return {
        "note": note,
        "how": " ".join(filter(None, (f"Tested on {_tested(judged)}.", adjusted, proof))),
        "all": "Each test in words, with what to do",
        "table": "Tests of calibration",
        "caption": (
            "p-values of the model’s mean and of single members are of separate tests, not adjusted; the outcome leads to the "
            "picture of a test."
        ),
        "pvalue_title": "p",
        "look": "{outcome}: look at {model}, {measure}",
        "mean_alone": "the mean is all that was tested",
        "no_members": "no members",
        "question": "– is the model, or some mixture of its members, {adjective}?",
        "heads": {
            "model": "Model",
            "outcome": "Outcome",
            "minimum": "Minimum found",
            "mean": "Model’s mean",
            "members": "Single members",
            "width": "Width of the set",
            "measure": "Measure",
        },
        "axes": {"draws": "null draws", "weight": "weight w"},
        "weights_title": "Weights w of the best mixture",
        "after_title": "After: the best mixture",
        "closely": "One test, closely" if len(judged) > 1 else "The test, closely",
        "side": "{model}, {run}",
        "draws": {"one": "1 draw from {low} to {high}", "many": "{n} draws from {low} to {high}"},
        "member": "member {member}: {value}",
        "member_tested": "member {member}: {value}, {pvalue}",
        "minimum": "minimum {value}",
        "found": "found {value}",
        "mean": "model’s mean {value}",
        "mean_beyond": "model’s mean {value} ▸",
        "members_beyond": {"one": "1 member ▸", "many": "{n} members ▸"},
        "weight": "{member}: {weight}",
        "heaviest": "{members}, the heaviest first",
        "null_data": "Null draws by the value of the measure.",
        "weights_data": "Weight in the best mixture, and the measure of each alone.",
        "nothing_to_weigh": "Nothing to weigh.",
        "nothing_to_draw": "Nothing to draw here.",
    }


def _tested(judged: Sequence[JudgedTest]) -> str:
    """On how many instances the tests were made."""
    parts = []
    for test in (j.test for j in judged if j.test.tested != "nothing"):
        if test.n_tested < test.n_instances:
            parts.append(f"{count(test.n_tested)} of the {counted(test.n_instances, 'instance')}")
        else:
            parts.append(f"{'all ' if test.n_tested > 1 else ''}{counted(test.n_instances, 'instance')}")
    return listed(list(dict.fromkeys(parts)))


def cautions(judged: Sequence[JudgedTest]) -> list[str]:
    """The notes of the tests, each once, with the models that it is about."""
    out = []
    notes: dict[Note, list[str]] = {}
    unsettled = max((n for j in judged for n in j.test.notes if n.code == "not-settled"), key=_spread, default=None)
    for j in judged:
        for note in j.test.notes if j.outcome != "undefined" else ():
            told = (
                unsettled if unsettled is not None and note.code == "not-settled" else note
            )  # the widest spread alone
            if note.code not in IN_THE_NOTE and j.test.model not in notes.setdefault(told, []):
                notes[told].append(j.test.model)
    n_models = len({j.test.model for j in judged})
    for note, names in notes.items():
        whose = "" if len(names) == n_models else f" ({listed_names(names, most=MOST_NAMES)})"
        out.append(f"{note.text[0].upper()}{note.text[1:]}{whose}.")
    return out


def _spread(note: Note) -> float:
    return float(note.facts["spread"])


# -- the pictures of one test ------------------------------------------------------------------------------------------


def captions(judged: JudgedTest, bars: dict[str, Any], n_tests: int, level: float) -> dict[str, str]:
    """Titles and captions of the four pictures of one test, and what stands in the place of one that cannot be drawn.

    Parameters
    ----------
    judged : JudgedTest
    bars : dict
        `null_histogram` of the test.
    n_tests : int
        That the p-value is adjusted for.
    level : float
        Of the intervals.
    """
    test, mixed = judged.test, judged.test.n_members > 1
    found = {
        "null": _null_caption(judged, bars, n_tests),
        "weights": _weights_caption(judged),
        "before": _before_caption(judged, level),
        "after": _after_caption(judged),
        "null_title": f"Could chance explain {'the best mixture’s' if mixed else 'its'} miscalibration?",
        "before_title": "Before: the model’s mean" if mixed else "Reliability of its confidence",
    }
    if not bars["counts"]:
        found["no_null"] = "No draw is finite."
    elif not np.isfinite(test.statistic):
        found["no_null"] = f"The minimum found is {'undefined' if np.isnan(test.statistic) else 'infinite'}."
    if np.isnan(test.weights).any() or not len(test.weights):
        undefined = judged.outcome == "undefined"
        found["no_weights"] = (
            "No mixture is the best where the measure is undefined." if undefined else "No weights were kept."
        )
    return {name: text for name, text in found.items() if text}


def _null_caption(judged: JudgedTest, bars: dict[str, Any], n_tests: int) -> str:
    test = judged.test
    drawn = bool(bars["counts"]) and bool(np.isfinite(test.statistic))
    said = []
    if judged.outcome != "undefined" and len(test.null):
        mixed, reach = test.n_members > 1, bars["reach"]
        where = "where a mixture is calibrated" if mixed else "a calibrated model"
        found = f"the {'minimum' if mixed else 'value'} found{' (coloured)' if drawn else ''}"
        said.append(
            f"The {measure_label(test.measure)} that chance gives {where}: {NULLS.get(test.null_kind, test.null_kind)}. "
            f"{count(reach)} of {count(len(test.null))} draws {'reaches' if reach == 1 else 'reach'} {found}"
            f"{ENDED if test.null_kind == 'sequential' and test.pvalue > ENOUGH else ''}; "
            f"{_pvalue_made(judged, reach, n_tests)}."
        )
    if bars["infinite"]:
        said.append(f"{counted(bars['infinite'], 'draw')} infinite, not drawn.")
    if len(test.member_values) and drawn:
        said.append(
            "Ticks below, or ▸ beyond the axis: single members; they and the model’s mean are judged by separate draws."
        )
    return " ".join(said)


def _pvalue_made(judged: JudgedTest, reach: int, n_tests: int) -> str:
    """How the p-value follows from the draws."""
    test, n_null = judged.test, len(judged.test.null)
    p = pvalue_text(judged.adjusted)
    if n_tests > 1:
        p = f"adjusted for the {n_tests} tests, {p}"
    if test.n_parts:
        return f"the p-values of {test.n_parts} parts of the instances, tested apart, are combined (Fisher); {p}"
    if test.null_kind == "signs":
        return f"labels that go together inside groups are drawn as well, and the larger p-value counts; {p}"
    if test.n_draws > n_null:
        more = count(test.n_draws - n_null)
        return f"{more} further draws are valued at a few mixtures, which can only raise the p-value; {p}"
    if test.null_kind == "berger-boos":
        return p
    share = f"(1 + {count(reach)}) / (1 + {count(n_null)})"
    return f"{share} = {pvalue(test.pvalue)}; {p}" if n_tests > 1 else f"so p = {share} = {pvalue(test.pvalue)}"


def _weights_caption(judged: JudgedTest) -> str:
    test = judged.test
    if test.n_members < 2 or np.isnan(test.weights).any():
        return ""
    places = decimals_of([test.statistic, test.mean_value], 1)
    values = (number(v, places, bounded=True) for v in (test.statistic, test.mean_value))
    said = [
        "The mixture whose {} is least: {}, against {} of the model’s mean.".format(
            measure_label(test.measure), *values
        )
    ]
    if test.n_members > MANY_MEMBERS:
        n = _carriers(test.weights)
        said.append(f"{n} of the {test.n_members} {test.noun} {'carries' if n == 1 else 'carry'} 95 % of the weight.")
    said.append("Dashed: 1/M, the same weight for all.")
    if np.isfinite(test.statistic):
        said.append("Other weights can be almost as good.")
    else:
        said.append("All mixtures are infinitely far off, so these weights mean nothing.")
    return " ".join(said)


def _carriers(weights: Any) -> int:
    """Fewest members that carry 95 % of the weight."""
    total = np.cumsum(np.sort(weights)[::-1])
    return min(int((total < WEIGHT).sum()) + 1, len(total))


def _before_caption(judged: JudgedTest, level: float) -> str:
    if judged.test.before is None:
        return ""
    return (
        f"{_accuracy(judged.test.accuracy_mean, judged.test.before)} Bars: {level_text(level)} band of all bins together; "
        f"open markers: fewer than {FEW} instances; below, how many instances there are."
    )


def _after_caption(judged: JudgedTest) -> str:
    test = judged.test
    if test.after is None or test.n_members < 2:
        return ""
    other = "" if test.notion == "confidence" else "; they were chosen by the measure above, not by this diagram"
    return (
        f"{_accuracy(test.accuracy_weighted, test.after)} The weights were fitted to these instances, which flatters "
        f"them{other}."
    )


def _accuracy(accuracy: float, bins: "Reliability") -> str:
    known = "" if np.isnan(accuracy) else f"Accuracy {percent(accuracy)}, "
    filled = bins.count > 0
    share = bins.count[filled] / bins.count.sum()
    gap = float((share * np.abs(bins.accuracy[filled] - bins.confidence[filled])).sum())
    return f"{known}mean gap {number(100 * gap, 1, bounded=True)} points."


# -- the confidence of every model -------------------------------------------------------------------------------------


def confidence_text(gap: float, low: float, high: float) -> str:
    """Whether mean confidence and accuracy agree, by the interval of the accuracy.

    Examples
    --------
    >>> confidence_text(0.01, 0.7, 0.8), confidence_text(0.2, 0.7, 0.8), confidence_text(0.2, float("nan"), 0.8)
    ('within the interval', 'too confident', 'no interval to judge by')
    """
    half = (high - low) / 2
    if not half > 0:
        return "no interval to judge by"
    if abs(gap) <= half:
        return "within the interval"
    return "too confident" if gap > 0 else "too timid"


def confidence_finding(judged: Mapping[str, str]) -> str:
    """Which models are too confident or too timid on average; `judged` by model, as `confidence_text` has it.

    Examples
    --------
    >>> confidence_finding({"a": "too confident", "b": "within the interval", "c": "too timid"})
    'a is too confident on average; c is too timid on average; the mean confidence of b is within the interval of its accuracy.'
    """
    names = {how: [m for m, found in judged.items() if found == how] for how in judged.values()}
    clauses = []
    for how in ("too confident", "too timid"):
        if found := names.get(how, []):
            verb = "is" if len(found) == 1 else "are"
            clauses.append(f"{listed_names(found, most=MOST_NAMES)} {verb} {how} on average")
    if found := names.get("within the interval", []):
        clauses.append(
            f"the mean confidence of {listed_names(found, most=MOST_NAMES)} is within the interval of "
            f"{'its' if len(found) == 1 else 'their'} accuracy"
        )
    if not clauses:
        return "Without an interval of the accuracy, nothing can be said about the confidence."
    text = "; ".join(clauses)
    return f"{text if clauses[0].split(' ')[0] != 'the' else text[0].upper() + text[1:]}."


def reliability_sentences(level: float, *, votes: bool, tested: bool) -> dict[str, Any]:
    """Sentences of the reliability diagram of all models and of its table."""
    labels = (
        " The labels are distributions, so accuracy is the share of the votes for the predicted class, and confidence is held "
        "against that share."
    )
    return {
        "title": "How far off is the confidence of each model?" if tested else "",
        "caption": (
            "Accuracy in ten bins of confidence, drawn at the bin's mean confidence, with a band that holds in all bins of a "
            f"model together ({level_text(level)}); a calibrated model follows the diagonal. Open markers: fewer than {FEW} "
            "instances. Bars below: where the instances are."
        ),
        "note": (
            "Gap: mean confidence minus accuracy. A model can be too confident in one place and too timid in another; then the "
            "gap is small and the ECE is not. Under the ECE: its interval, which begins at 0 where the model could be "
            f"calibrated, and the classwise ECE.{labels if votes else ''}"
        ),
        "heads": {
            "model": "Model",
            "accuracy": "Accuracy",
            "confidence": "Mean confidence",
            "gap": "Gap, points",
            "ece": "ECE",
            "bin": "Confidence from",
            "count": "Instances",
        },
        "table": "Confidence and accuracy of each model",
        "data": "Accuracy by confidence, in the bins that hold instances.",
        "axes": {"confidence": "confidence", "accuracy": "accuracy"},
        "few": FEW,
        "classwise": "classwise {estimate}",
        "shown": f"Shown in single bins, all bins of a model together at {level_text(level)}:",
        "bin": "confidence {confidences}: accuracy {accuracy} ({accuracies})",
        "bin_count": "{n} instances",
        "bin_share": "{n} of {total} instances ({share})",
    }
