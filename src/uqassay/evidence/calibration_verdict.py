"""The calibration tests of an assay in words, made once for the verdict, the page and the terminal.

The outcomes are data (`calibration_claims`); the sentences follow from them. Nothing else words these outcomes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from uqassay.calibration.direction import ONE_SIDE, UPPER_ALONE
from uqassay.calibration.monte_carlo import CALIBRATED
from uqassay.calibration.shared_members import independence
from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.evidence.calibration_statements import JudgedTest, judged_tests, point_models
from uqassay.wording import count, counted, listed, named, pvalue_text

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "advice",
    "calibration_sentence",
    "calibration_sentences",
    "claim",
    "measure_label",
    "rejection_sentence",
]

SHOWN_MODELS = 4  # names in one sentence, before the others are counted
SHOWN_WEIGHTS = 5  # weights of a mixture that a sentence writes out
_ADVERBS = {"strong": "strongly"}
_LABELS = {
    "ece-confidence": "confidence ECE",
    "ece-classwise": "classwise ECE",
    "ece-confidence-mass": "confidence ECE, equal mass",
    "ece-classwise-mass": "classwise ECE, equal mass",
    "mce-confidence": "largest confidence error",
    "l2-confidence-debiased": "debiased confidence error",
    "l2-classwise-debiased": "debiased classwise error",
    "hosmer-lemeshow": "Hosmer-Lemeshow",
    "hosmer-lemeshow-proportions": "Hosmer-Lemeshow, proportions",
    "ece-classwise-paper-code": "classwise ECE, authors' code",
    "hosmer-lemeshow-paper-code": "Hosmer-Lemeshow, authors' code",
    "ks-confidence": "Kolmogorov-Smirnov on confidence",
    "ks-classwise": "Kolmogorov-Smirnov by class",
    "kuiper-confidence": "Kuiper on confidence",
    "skce-ul": "SKCE, linear",
    "skce-uq": "SKCE, quadratic",
    "skce-biased": "SKCE, biased",
    "skce-ul-paper-code": "SKCE, linear, authors' code",
    "brier": "Brier score",
    "log-loss": "log loss",
}


def measure_label(name: str) -> str:
    """Name of a calibration measure in words; a measure that the user defined keeps its name.

    Examples
    --------
    >>> measure_label("ece-classwise"), measure_label("my-own")
    ('classwise ECE', 'my-own')
    """
    return _LABELS.get(name, name)


# -- one test ----------------------------------------------------------------------------------------------------------


def claim(judged: JudgedTest) -> str:
    """The result of one test with its adjusted p-value, in a sentence.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9, calibration=["ece-confidence"])
    >>> claim(judged_tests(a.calibration, 0.05)[0])
    'm is not confidence calibrated (confidence ECE, p < .001); it is overconfident.'
    """
    test = judged.test
    what, by = CALIBRATED.get(test.notion, f"{test.notion} calibrated"), measure_label(test.measure)
    subject = _subject(judged)
    if judged.outcome == "undefined":
        return f"Whether {subject} is {what} is undefined ({by}): {test.reason or 'the test is undefined'}."
    p = f"({by}, {pvalue_text(judged.adjusted)}{_independence([test])})"
    if judged.outcome == "passed":
        other = "one" if judged.mixed else "a classifier"
        one_side = ONE_SIDE if UPPER_ALONE in test.notes else ""
        return f"The test could not tell {subject} from {other} that is {what} {p}{one_side}."
    if judged.mixed:
        return f"No mixture of {_members(test)} is {what} {p}."
    direction = f"; it is {judged.direction}" if judged.direction else ""
    return f"{_capital(subject) if subject != test.model else subject} is not {what} {p}{direction}."


def advice(judged: JudgedTest) -> tuple[str, ...]:
    """What follows from the result of one test: the remedy, or the weights of the mixture that is not rejected."""
    test, outcome = judged.test, judged.outcome
    if outcome == "rejected":
        return ("Recalibrate it, or widen the set." if judged.mixed else "Recalibrate it.",)
    if outcome == "passed" and judged.mixed and 1 < len(test.weights) <= SHOWN_WEIGHTS:
        return (f"Weights {'/'.join(f'{w:.2f}'.removeprefix('0') for w in test.weights)}.",)
    return ()


def _members(test: ModelCalibration) -> str:
    return f"the {count(test.n_members)} {test.noun} of {test.model}"


def _subject(judged: JudgedTest) -> str:
    """Subject of the sentence on a test: the mixtures, the mean, or the model if it predicts a single distribution."""
    if judged.mixed:
        return f"some mixture of {_members(judged.test)}"
    return f"the mean of {judged.test.model}" if judged.of_mean else judged.test.model


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# -- all tests ---------------------------------------------------------------------------------------------------------


def calibration_sentence(assay: "Assay") -> str:
    """The models that the calibration tests reject, adjusted for all tests; empty if nothing was tested.

    Examples
    --------
    >>> import uqassay as uq
    >>> calibration_sentence(uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9))
    'm is overconfident and neither confidence nor classwise calibrated (p < .001), adjusted by Holm for 2 tests.'
    """
    alpha = 1 - assay.settings.level
    return rejection_sentence(judged_tests(assay.calibration, alpha, points=point_models(assay)))


def rejection_sentence(judged: Sequence[JudgedTest]) -> str:
    """The rejections, or the statement that there are none; empty if no test is defined."""
    defined = [j for j in judged if j.outcome != "undefined"]
    rejected = [j for j in judged if j.outcome == "rejected"]
    if not defined:
        return ""
    return _rejections(rejected, defined) if rejected else _no_rejection(judged, defined)


def calibration_sentences(judged: Sequence[JudgedTest]) -> tuple[str, ...]:
    """All tests in sentences: the rejections, the models that no test rejects, the number of undefined tests."""
    said = [
        rejection_sentence(judged),
        _passing(judged) if any(j.outcome == "rejected" for j in judged) else "",
        _undefined(judged),
    ]
    return tuple(text for text in said if text)


def _rejections(rejected: Sequence[JudgedTest], defined: Sequence[JudgedTest]) -> str:
    """One clause per group of models with the same rejections."""
    groups: dict[tuple[str, str, tuple[str, ...]], dict[str, list[JudgedTest]]] = {}
    for model in dict.fromkeys(j.test.model for j in rejected):
        mine = [j for j in rejected if j.test.model == model]
        runs = {j.test.notion: frozenset(k.test.run for k in mine if k.test.notion == j.test.notion) for j in mine}
        for same in dict.fromkeys(runs.values()):  # notions that fail in the same runs share a clause
            notions = tuple(notion for notion in runs if runs[notion] == same)
            of_clause = [j for j in mine if j.test.notion in notions]
            directions = {j.direction for j in of_clause}
            direction = directions.pop() if len(directions) == 1 else ""
            groups.setdefault((_kind(mine[0]), direction, notions), {})[model] = of_clause
    clauses = [_rejected(*same, models, defined) for same, models in groups.items()]
    if next(iter(groups))[0] != "point":  # a name keeps the letters it was given
        clauses[0] = _capital(clauses[0])
    how = f"adjusted by Holm for {len(defined)} tests" if len(defined) > 1 else "in a test"
    return f"{'; '.join(clauses)}, {how}."


def _kind(judged: JudgedTest) -> Literal["mixtures", "mean", "point"]:
    if judged.mixed:
        return "mixtures"
    return "mean" if judged.of_mean else "point"


def _rejected(
    kind: str,
    direction: str,
    notions: tuple[str, ...],
    models: dict[str, list[JudgedTest]],
    defined: Sequence[JudgedTest],
) -> str:
    """The clause on models with the same rejections."""
    words = [_ADVERBS.get(notion, notion) for notion in notions]
    names, p = list(models), _pvalues(models, defined)
    if kind == "mixtures":
        return f"no mixture of {_mixed(models)} is {' or '.join(words)} calibrated ({p})"
    not_so = f"not {words[0]}" if len(words) == 1 else f"neither {' nor '.join(words)}"
    many = kind == "point" and len(names) > 1
    subject = _names(names, "and") if kind == "point" else f"the mean of {_names(names, 'and of')}"
    how = f"{direction} and {not_so}" if direction else not_so
    return f"{subject} {'are' if many else 'is'} {how} calibrated ({p})"


def _pvalues(models: dict[str, list[JudgedTest]], defined: Sequence[JudgedTest]) -> str:
    """The largest p-value of a clause, with the runs and the part of the instances that it covers."""
    pvalues = [j.adjusted for found in models.values() for j in found]
    said = [pvalue_text(max(pvalues), "≤" if len(pvalues) > 1 else "=")]
    tested = {(j.test.model, j.test.run) for j in defined if j.test.model in models}
    if len({run for _, run in tested}) > 1:
        bad = {(j.test.model, j.test.run) for found in models.values() for j in found}
        said = [f"in {len(bad)} of {counted(len(tested), 'run')}", *said]
    tests = [j.test for found in models.values() for j in found]
    return ", ".join(said) + _part(tests) + _independence(tests)


def _mixed(models: dict[str, list[JudgedTest]]) -> str:
    """The members that were mixed."""
    first = [found[0].test for found in models.values()]
    if len(first) == 1:
        return _members(first[0])
    nouns = {test.noun for test in first}
    noun = nouns.pop() if len(nouns) == 1 else "members or vertices"
    return f"the {noun} of {_names(list(map(named, models)), 'or')}"


def _no_rejection(judged: Sequence[JudgedTest], defined: Sequence[JudgedTest]) -> str:
    """The sentence that nothing is rejected, with the smallest p-value."""
    least, n = min(j.adjusted for j in defined), len(defined)
    p = f"least {pvalue_text(least)} by Holm in {n} tests" if n > 1 else pvalue_text(least)
    tests = [j.test for j in defined]
    found = f"{p}{_part(tests)}{_independence(tests)}"
    return f"The calibration tests could not tell {_untold(judged)} from a calibrated one ({found})."


def _part(tests: Sequence[ModelCalibration]) -> str:
    """On how many of the instances these tests were made; empty if all were made on all."""
    sizes, n = sorted({test.n_tested for test in tests}), tests[0].n_instances
    if sizes == [n]:
        return ""
    return f" on {count(sizes[0])}{f' to {count(sizes[-1])}' if len(sizes) > 1 else ''} of {count(n)} instances"


def _independence(tests: Sequence[ModelCalibration]) -> str:
    """That labels are taken as independent, and for which models; empty where groups are accounted for."""
    those = [test for test in tests if test.ignores_groups]
    if not those:
        return ""
    whose = (
        ""
        if len(those) == len(tests)
        else f" for {_names([named(name) for name in dict.fromkeys(t.model for t in those)], 'and')}"
    )
    return f"{independence(those[0].notes)}{whose}"


def _untold(judged: Sequence[JudgedTest]) -> str:
    tested, models = {j.test.tested for j in judged}, {j.test.model for j in judged}
    if tested == {"mixtures"}:
        return "the best mixture of any model's members" if len(models) > 1 else "the best mixture of the members"
    one = "any model" if len(models) > 1 else next(iter(models))
    return f"{one}, or the best mixture of its members," if "mixtures" in tested else one


def _passing(judged: Sequence[JudgedTest]) -> str:
    """Models that pass all their tests."""
    outcomes: dict[str, set[str]] = {}
    for j in judged:
        outcomes.setdefault(j.test.model, set()).add(j.outcome)
    passing = {j.test.model: j.mixed for j in judged if outcomes[j.test.model] == {"passed"}}
    names = [f"a mixture of {named(name)}" if mixed else named(name) for name, mixed in passing.items()]
    by = " by any measure" if len({j.test.measure for j in judged}) > 1 else ""
    return f"Not rejected{by}: {_names(names, 'and')}." if names else ""


def _undefined(judged: Sequence[JudgedTest]) -> str:
    n = sum(j.outcome == "undefined" for j in judged)
    return f"{n} of the {counted(len(judged), 'test')} {'is' if n == 1 else 'are'} undefined." if n else ""


def _names(names: Sequence[str], last: str) -> str:
    return listed(names, last=last, most=SHOWN_MODELS)
