"""What the calibration tests of an assay say of its models, as data: outcomes after adjusting for all tests."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from uqassay.calibration.direction import Direction
from uqassay.evidence.calibration_result import ModelCalibration, adjusted_pvalues, model_groups
from uqassay.statistics import holm

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "CalibrationClaim",
    "JudgedTest",
    "Outcome",
    "calibration_claims",
    "judged_tests",
    "outcome_of",
    "point_models",
]

Outcome = Literal["rejected", "passed", "undefined"]

MARGIN = 1e-12  # rounding of p-values next to alpha


@final
@dataclass(frozen=True, eq=False)
class JudgedTest:
    """A test with what follows from it.

    Attributes
    ----------
    test : ModelCalibration
    adjusted : float
        The p-value adjusted for all tests that were made together; nan where the test is undefined.
    outcome : {"rejected", "passed", "undefined"}
        See `outcome_of`.
    of_mean : bool
        Whether the model says more than one distribution, so that a test of one is a test of its mean.
    direction : {"overconfident", "underconfident", ""}
        Of a rejected single distribution: the sign of mean confidence minus accuracy, where it differs from 0 at the same
        level, adjusted by Holm for all models and runs.
    """

    test: ModelCalibration
    adjusted: float
    outcome: Outcome
    of_mean: bool = False
    direction: Direction = ""

    @property
    def mixed(self) -> bool:
        """Whether all mixtures of the members were tested, rather than one distribution."""
        return self.test.tested == "mixtures"


def outcome_of(adjusted: float, alpha: float) -> Outcome:
    """ "rejected" if the adjusted p-value is at most alpha, else "passed"; "undefined" without a p-value.

    Examples
    --------
    >>> [outcome_of(p, 0.05) for p in (0.02, 0.06, float("nan"))]
    ['rejected', 'passed', 'undefined']
    """
    if math.isnan(adjusted):
        return "undefined"
    return "rejected" if adjusted <= alpha + MARGIN else "passed"


def judged_tests(
    tests: Sequence[ModelCalibration], alpha: float, *, points: Collection[str] | None = None
) -> tuple[JudgedTest, ...]:
    """Every test with its outcome at level `alpha`, adjusted by Holm for all of these tests.

    Parameters
    ----------
    tests : sequence of ModelCalibration
    alpha : float
        Probability of any false rejection.
    points : collection of str, optional
        Models that predict a single distribution; of the others a test without mixtures is called a test of the mean. By
        default all are taken to.
    """
    signs = _directions(tests, alpha)
    judged = []
    for test, p in zip(tests, adjusted_pvalues(tests).tolist(), strict=True):
        outcome = outcome_of(p, alpha)
        found = signs.get((test.model, test.run), "") if outcome == "rejected" and test.tested == "mean" else ""
        of_mean = points is not None and test.model not in points
        judged.append(JudgedTest(test, adjusted=p, outcome=outcome, of_mean=of_mean, direction=found))
    return tuple(judged)


def _directions(tests: Sequence[ModelCalibration], alpha: float) -> dict[tuple[str, int], Direction]:
    """Whether each run of each model is more or less confident than accurate."""
    gaps = {(test.model, test.run): (test.gap, test.gap_pvalue) for test in tests if test.tested == "mean"}
    adjusted = holm([p for _, p in gaps.values()])
    return {
        key: ("overconfident" if gap > 0 else "underconfident") if p <= alpha + MARGIN else ""
        for (key, (gap, _)), p in zip(gaps.items(), adjusted.tolist(), strict=True)
    }


def point_models(assay: "Assay") -> frozenset[str]:
    """Names of the models that predict a single distribution."""
    return frozenset(model.name for model in assay.candidates if model.n_points == 1)


@final
@dataclass(frozen=True, eq=False)
class CalibrationClaim:
    """What the tests of one model by one measure say, over all runs that were tested.

    Attributes
    ----------
    model, measure, notion : str
    tested : {"point", "mean", "mixtures", "nothing"}
        The single distribution that the model predicts, the mean of its set, or every mixture of its members (vertices).
    outcome : {"rejected", "passed", "undefined"}
        "rejected": at least one run is not calibrated, at the level of the assay and for all tests together. "passed" claims
        nothing.
    pvalue : float
        The adjusted p-value: the least over the runs of those adjusted by Holm for all tests of the assay.
    n_tested, n_instances : int
        Instances tested, and all.
    n_runs, n_runs_given : int
        Runs tested, and all.
    runs_rejected : tuple of int
        Runs that are rejected, 0 for the first; each of them is claimed.
    direction : {"overconfident", "underconfident", ""}
        The same in all rejected runs, see `JudgedTest`.
    n_members : int
        What was mixed, M; 1 where one distribution was tested.
    noun : {"members", "vertices"}
    reason : str
        Why a test is undefined; empty if none is.
    ignores_groups : bool
        Whether there are groups, but the test takes labels as independent.
    """

    model: str
    measure: str
    notion: str
    tested: str
    outcome: Outcome
    pvalue: float
    n_tested: int
    n_instances: int
    n_runs: int
    n_runs_given: int
    runs_rejected: tuple[int, ...]
    direction: Direction
    n_members: int
    noun: str
    reason: str
    ignores_groups: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values, the runs counted from 1."""
        return {**vars(self), "runs_rejected": [run + 1 for run in self.runs_rejected]}


def calibration_claims(assay: "Assay") -> tuple[CalibrationClaim, ...]:
    """One record for each model and measure that was tested, in the order of the models.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9, calibration=["ece-confidence"])
    >>> [(c.model, c.measure, c.tested, c.outcome, c.n_tested, c.runs_rejected) for c in calibration_claims(a)]
    [('m', 'ece-confidence', 'point', 'rejected', 9, (0,))]
    """
    judged = {j.test: j for j in judged_tests(assay.calibration, 1 - assay.settings.level, points=point_models(assay))}
    runs = {model.name: model.n_runs for model in assay.candidates}
    return tuple(
        _claim([judged[test] for test in tests], runs[model])
        for (model, _), tests in model_groups(assay.calibration).items()
    )


def _claim(runs: Sequence[JudgedTest], n_given: int) -> CalibrationClaim:
    first = runs[0].test
    rejected = [j.test for j in runs if j.outcome == "rejected"]
    directions = {j.direction for j in runs if j.outcome == "rejected"}
    outcomes: list[Outcome] = ["rejected", "passed", "undefined"]
    return CalibrationClaim(
        model=first.model,
        measure=first.measure,
        notion=first.notion,
        tested="point" if first.tested == "mean" and not runs[0].of_mean else first.tested,
        outcome=next(outcome for outcome in outcomes if outcome in {j.outcome for j in runs}),
        pvalue=min((j.adjusted for j in runs if not math.isnan(j.adjusted)), default=math.nan),
        n_tested=first.n_tested,
        n_instances=first.n_instances,
        n_runs=len(runs),
        n_runs_given=n_given,
        runs_rejected=tuple(test.run for test in rejected),
        direction=directions.pop() if len(directions) == 1 else "",
        n_members=first.n_members,
        noun=first.noun,
        reason=next((j.test.reason for j in runs if j.outcome == "undefined"), ""),
        ignores_groups=any(j.test.ignores_groups for j in runs),
    )
