"""The calibration tests of an assay in words, made once for the verdict, the page and the terminal.

The outcome of a test is data (`Outcome`); the sentences follow from it. Nothing else words these outcomes.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from uqassay.calibration.monte_carlo import CALIBRATED
from uqassay.evidence.calibration_result import ModelCalibration, holm_adjusted
from uqassay.wording import count, listed, pvalue_text, sentence

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "JudgedTest",
    "Outcome",
    "advice",
    "calibration_sentence",
    "calibration_sentences",
    "claim",
    "judged_tests",
    "measure_label",
    "outcome_of",
    "point_models",
    "rejection_sentence",
]

Outcome = Literal["rejected", "doubtful", "passed", "undefined"]

SHOWN_MODELS = 4  # names in one sentence, before the others are counted
SHOWN_WEIGHTS = 5  # weights of a mixture that a sentence writes out
MARGIN = 1e-12  # rounding of p-values next to alpha
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
    "skce-ul": "SKCE, linear",
    "skce-uq": "SKCE, quadratic",
    "skce-biased": "SKCE, biased",
    "brier": "Brier score",
    "log-loss": "log loss",
}


# -- outcomes ----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class JudgedTest:
    """A test with what follows from it.

    Attributes
    ----------
    test : ModelCalibration
    adjusted : float
        The p-value adjusted for all tests that were made together; nan where the test is undefined.
    outcome : {"rejected", "doubtful", "passed", "undefined"}
        See `outcome_of`.
    of_mean : bool
        Whether the model says more than one distribution, so that a test of one is a test of its mean.
    """

    test: ModelCalibration
    adjusted: float
    outcome: Outcome
    of_mean: bool = False

    @property
    def mixed(self) -> bool:
        """Whether all mixtures of the members were tested, rather than one distribution."""
        return self.test.tested == "mixtures"


def outcome_of(pvalue: float, adjusted: float, alpha: float) -> Outcome:
    """ "rejected", "doubtful" (rejected alone, but not among all tests), "passed", or "undefined".

    Examples
    --------
    >>> [outcome_of(*p, 0.05) for p in ((0.01, 0.02), (0.01, 0.06), (0.4, 0.8), (float("nan"),) * 2)]
    ['rejected', 'doubtful', 'passed', 'undefined']
    """
    if np.isnan(pvalue):
        return "undefined"
    if adjusted <= alpha + MARGIN:
        return "rejected"
    return "doubtful" if pvalue <= alpha + MARGIN else "passed"


def judged_tests(
    tests: Sequence[ModelCalibration], alpha: float, *, adjust: bool = True, points: Collection[str] | None = None
) -> tuple[JudgedTest, ...]:
    """Every test with its outcome at level `alpha`.

    Parameters
    ----------
    tests : sequence of ModelCalibration
    alpha : float
    adjust : bool
        Whether p-values are adjusted by Holm for all of these tests; False judges each test alone.
    points : collection of str, optional
        Models that predict a single distribution; of the others a test without mixtures is called a test of the mean. By
        default all are taken to.
    """
    adjusted = holm_adjusted(tests).tolist() if adjust else [test.pvalue for test in tests]
    return tuple(
        JudgedTest(
            test,
            adjusted=p,
            outcome=outcome_of(test.pvalue, p, alpha),
            of_mean=points is not None and test.model not in points,
        )
        for test, p in zip(tests, adjusted, strict=True)
    )


def point_models(assay: "Assay") -> frozenset[str]:
    """Names of the models that predict a single distribution."""
    return frozenset(model.name for model in assay.candidates if model.n_points == 1)


def measure_label(name: str) -> str:
    """Name of a calibration measure in words; a measure that the user defined keeps its name.

    Examples
    --------
    >>> measure_label("ece-classwise"), measure_label("my-own")
    ('classwise ECE', 'my-own')
    """
    return _LABELS.get(name, name)


# -- one test ----------------------------------------------------------------------------------------------------------


def claim(judged: JudgedTest, n_tests: int = 1) -> str:
    """The result of one test, in a sentence.

    Parameters
    ----------
    judged : JudgedTest
    n_tests : int
        Number of tests that the p-value is adjusted for.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9, calibration=["ece-confidence"])
    >>> claim(judged_tests(a.calibration, 0.05)[0])
    'm is not confidence calibrated (confidence ECE, p = .001).'
    """
    test = judged.test
    what, by = CALIBRATED.get(test.notion, f"{test.notion} calibrated"), measure_label(test.measure)
    subject = _subject(judged)
    if judged.outcome == "undefined":
        return f"Whether {subject} is {what} is undefined ({by}): {test.reason or 'the test is undefined'}."
    if judged.outcome == "doubtful":
        among = f"{pvalue_text(test.pvalue)} alone, {pvalue_text(judged.adjusted)} among the {n_tests} tests"
        return f"Whether {subject} is {what} is doubtful ({by}, {among})."
    p = f"({by}, {pvalue_text(judged.adjusted)})"
    if judged.outcome == "passed":
        other = "one" if judged.mixed else "a classifier"
        return f"The test could not tell {subject} from {other} that is {what} {p}."
    if judged.mixed:
        return f"No mixture of {_members(test)} is {what} {p}."
    return f"{_capital(subject) if subject != test.model else subject} is not {what} {p}."


def advice(judged: JudgedTest, alpha: float) -> tuple[str, ...]:
    """Sentences after the result of one test: the remedy, the weights found, whether the mean passes alone."""
    test, outcome = judged.test, judged.outcome
    if not judged.mixed:
        return ("Recalibrate it.",) if outcome == "rejected" else ()
    passes = test.mean_pvalue > alpha + MARGIN  # not where it is nan
    alone = f"({pvalue_text(test.mean_pvalue)})"
    if outcome == "rejected":
        yet = f"Yet its mean, tested alone, is not rejected {alone}: take this with care."
        return ("Recalibrate it, or widen the set.", *((yet,) if passes else ()))
    if outcome != "passed":
        return ()
    said = []
    if 1 < len(test.weights) <= SHOWN_WEIGHTS:
        said.append(f"Weights {'/'.join(f'{w:.2f}'.removeprefix('0') for w in test.weights)}.")
    if not np.isnan(test.mean_pvalue):
        said.append(f"Its mean {'passes, too' if passes else 'alone does not pass'} {alone}.")
    return tuple(said)


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
    'm is neither confidence nor classwise calibrated (p ≤ .002), adjusted by Holm for 2 tests.'
    """
    alpha = 1 - assay.settings.level
    return rejection_sentence(judged_tests(assay.calibration, alpha, points=point_models(assay)), alpha)


def rejection_sentence(judged: Sequence[JudgedTest], alpha: float) -> str:
    """The rejections, or the statement that there are none; empty if no test is defined."""
    defined = [j for j in judged if j.outcome != "undefined"]
    rejected = [j for j in judged if j.outcome == "rejected"]
    if not defined:
        return ""
    return _rejections(rejected, defined, alpha) if rejected else _no_rejection(judged, defined, alpha)


def calibration_sentences(judged: Sequence[JudgedTest], alpha: float) -> tuple[str, ...]:
    """All tests in sentences: the rejections, the models that pass every test, the numbers of doubtful and undefined tests."""
    said = [
        rejection_sentence(judged, alpha),
        _passing(judged) if any(j.outcome == "rejected" for j in judged) else "",
        _counted(judged, "doubtful", "would reject alone, but not after the adjustment"),
        _undefined(judged),
    ]
    return tuple(text for text in said if text)


def _rejections(rejected: Sequence[JudgedTest], defined: Sequence[JudgedTest], alpha: float) -> str:
    """One clause per group of models with the same rejections."""
    groups: dict[tuple[str, tuple[str, ...]], dict[str, list[JudgedTest]]] = {}
    for model in dict.fromkeys(j.test.model for j in rejected):
        mine = [j for j in rejected if j.test.model == model]
        notions = tuple(dict.fromkeys(j.test.notion for j in mine))
        groups.setdefault((_kind(mine[0]), notions), {})[model] = mine
    clauses = [_rejected(kind, notions, models, defined) for (kind, notions), models in groups.items()]
    if next(iter(groups))[0] != "point":  # a name keeps the letters it was given
        clauses[0] = _capital(clauses[0])
    how = f"adjusted by Holm for {len(defined)} tests" if len(defined) > 1 else "in a test"
    return f"{'; '.join(clauses)}{_yet(rejected, alpha)}, {how}{_part(defined[0].test)}."


def _kind(judged: JudgedTest) -> Literal["mixtures", "mean", "point"]:
    if judged.mixed:
        return "mixtures"
    return "mean" if judged.of_mean else "point"


def _rejected(
    kind: str, notions: tuple[str, ...], models: dict[str, list[JudgedTest]], defined: Sequence[JudgedTest]
) -> str:
    """The clause on models with the same rejections."""
    words = [_ADVERBS.get(notion, notion) for notion in notions]
    names, p = list(models), _pvalues(models, defined)
    if kind == "mixtures":
        return f"no mixture of {_mixed(models)} is {' or '.join(words)} calibrated ({p})"
    not_so = f"not {words[0]}" if len(words) == 1 else f"neither {' nor '.join(words)}"
    many = kind == "point" and len(names) > 1
    subject = _names(names, "and") if kind == "point" else f"the mean of {_names(names, 'and of')}"
    return f"{subject} {'are' if many else 'is'} {not_so} calibrated ({p})"


def _pvalues(models: dict[str, list[JudgedTest]], defined: Sequence[JudgedTest]) -> str:
    """The largest p-value of a clause, and the number of runs that it covers."""
    pvalues = [j.adjusted for found in models.values() for j in found]
    p = pvalue_text(max(pvalues), "≤" if len(pvalues) > 1 else "=")
    tested = {(j.test.model, j.test.run) for j in defined if j.test.model in models}
    if len({run for _, run in tested}) == 1:
        return p
    bad = {(j.test.model, j.test.run) for found in models.values() for j in found}
    return f"in {len(bad)} of {len(tested)} runs, {p}"


def _mixed(models: dict[str, list[JudgedTest]]) -> str:
    """The members that were mixed."""
    first = [found[0].test for found in models.values()]
    if len(first) == 1:
        return _members(first[0])
    nouns = {test.noun for test in first}
    noun = nouns.pop() if len(nouns) == 1 else "members or vertices"
    return f"the {noun} of {_names(list(models), 'or')}"


def _yet(rejected: Iterable[JudgedTest], alpha: float) -> str:
    """Models whose mean passes where every mixture is rejected: the mean is a mixture itself, so the two tests disagree."""
    passing = dict.fromkeys(j.test.model for j in rejected if j.mixed and j.test.mean_pvalue > alpha + MARGIN)
    if not passing:
        return ""
    return f" (yet the mean of {_names(list(passing), 'and of')}, tested alone, is not rejected)"


def _no_rejection(judged: Sequence[JudgedTest], defined: Sequence[JudgedTest], alpha: float) -> str:
    """The sentence that nothing is rejected, with the smallest p-value; it says so if the draws are too few to reject."""
    least, n = min(j.adjusted for j in defined), len(defined)
    hopeless = least < 1 and all(n / (j.test.n_draws + 1) > alpha for j in defined)
    why = f", where {defined[0].test.n_draws} draws could reject none" if hopeless else ""
    p = f"least {pvalue_text(least)} by Holm in {n} tests" if n > 1 else pvalue_text(least)
    found = f"{p}{_part(defined[0].test)}{why}"
    return f"The calibration tests could not tell {_untold(judged)} from a calibrated one ({found})."


def _part(test: ModelCalibration) -> str:
    if test.n_tested == test.n_instances:
        return ""
    return f" on {count(test.n_tested)} of {count(test.n_instances)} instances"


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
    by = " by every measure" if len({j.test.measure for j in judged}) > 1 else ""
    mixtures = [name for name, mixed in passing.items() if mixed]
    others = [name for name, mixed in passing.items() if not mixed]
    clauses = []
    if others:
        clauses.append(f"{_names(others, 'and')} {'passes' if len(others) == 1 else 'pass'}{by}")
    if mixtures:
        clauses.append(f"for {_names(mixtures, 'and')} some mixture passes{by}")
    return f"{'; '.join(clauses)}." if others else sentence(clauses)


def _counted(judged: Sequence[JudgedTest], outcome: Outcome, what: str) -> str:
    n = sum(j.outcome == outcome for j in judged)
    return f"{n} of the {len(judged)} tests {what}." if n else ""


def _undefined(judged: Sequence[JudgedTest]) -> str:
    n = sum(j.outcome == "undefined" for j in judged)
    return _counted(judged, "undefined", "is undefined" if n == 1 else "are undefined")


def _names(names: Sequence[str], last: str) -> str:
    return listed(names, last=last, most=SHOWN_MODELS)
