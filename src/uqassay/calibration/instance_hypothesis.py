"""Test of a combination of members with instance-dependent weights: learnt on one part of the data, tested on the other."""

import math
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState
from uqassay._array import generator as as_generator
from uqassay._one_order import in_one_order
from uqassay._shown_table import ShownTable
from uqassay.calibration.direction import unseen_notes
from uqassay.calibration.instance_weights import InstanceWeights, WeightModel, feature_array
from uqassay.calibration.monte_carlo import CALIBRATED, check_alpha, labels_from, monte_carlo_pvalue, smallest_pvalue
from uqassay.calibration.parts import groups_of, hard_labels, member_array, two_parts
from uqassay.calibration.shared_members import IN_GROUPS, independence
from uqassay.calibration.shown_verdict import ShownVerdict, numbers_of_test
from uqassay.calibration.single_hypothesis import undefined_notes
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.metrics.calibration.measures import CalibrationMeasure, Sides, calibration_measure
from uqassay.notes import Note, reason
from uqassay.statistics.samples import check_choice, check_draws
from uqassay.wording import counted, pvalue_text

__all__ = ["InstanceDependentCalibrationTest", "instance_dependent_calibration_test"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
InstanceNull = Literal["refitted", "fixed"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class InstanceDependentCalibrationTest(ShownVerdict):
    """Result of `instance_dependent_calibration_test`.

    Attributes
    ----------
    statistic : float
        The measure of p_λ(x) on the test part.
    pvalue : float
        (1 + the number of null draws that reach the statistic) / (D + 1); nan if the measure is undefined.
    null : array (D,)
        The statistic under the null hypothesis.
    null_kind : {"refitted", "fixed"}
    measure, notion : str
        Name of the measure, and the notion of calibration that it tests.
    weights : array (n_test, M)
        λ(x) for the instances of the test part.
    probs : array (n_test, K)
        p_λ(x) for these instances.
    estimator : InstanceWeights
        The weights learnt on the training part.
    training_rows, test_rows : int arrays
        Row numbers of the two parts.
    notes : tuple of Note
        What limits the result.
    sides : {"upper", "both"}
        "both" if values below the expected one reject too, as for the Brier score and the log loss.
    """

    statistic: float
    pvalue: float
    null: Floats
    null_kind: str
    measure: str
    notion: str
    weights: Floats
    probs: Floats
    estimator: InstanceWeights
    training_rows: Rows
    test_rows: Rows
    notes: tuple[Note, ...] = ()
    sides: Sides = "upper"

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects calibration of p_λ(x) at this level. An undefined p-value never rejects.

        Raises
        ------
        InputError
            The number of draws is too small for this level.
        """
        check_alpha(alpha, len(self.null), sides=self.sides)
        return self.pvalue <= alpha + 1e-12

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what = CALIBRATED.get(self.notion, self.notion)
        p = f"{pvalue_text(self.pvalue)}{independence(self.notes)}"
        if math.isnan(self.pvalue):
            return f"Whether the combination with learnt weights is {what} is undefined: {reason(self.notes)}."
        if smallest_pvalue(len(self.null), self.sides) > alpha + 1e-12:
            return f"{len(self.null)} draws are too few to tell at this level whether the combination is {what} ({p})."
        if not self.reject(alpha):
            return f"The test could not tell the combination with learnt weights from one that is {what} ({p})."
        if self.null_kind == "fixed":
            return f"The combination with the weights that were learnt is not {what} ({p})."
        return f"No weights of the kind that was learnt give a combination that is {what} ({p})."

    def _shown_title(self) -> str:
        on = counted(len(self.test_rows), "instance")
        return f"Calibration test of a combination with learnt weights by {self.measure} on {on}"

    def _shown_table(self) -> ShownTable:
        return numbers_of_test(self.statistic, self.pvalue, len(self.null))


@in_one_order("members", "y_true", "features", "groups")
def instance_dependent_calibration_test(
    y_true: ArrayLike,
    members: Any,
    features: ArrayLike | None = None,
    *,
    model: WeightModel | InstanceWeights = "linear",
    measure: str | CalibrationMeasure = "kuiper-confidence",
    null: InstanceNull = "refitted",
    fraction: float = 0.5,
    groups: ArrayLike | None = None,
    n_draws: int = 99,
    rng: RandomState = None,
) -> InstanceDependentCalibrationTest:
    """Learn λ(x) on one part of the instances and test on the other whether Σ_m λ_m(x) p_m is calibrated.

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    members : Members, or array (n, M, K)
    features : array_like, shape (n, F) or (n,), optional
        Inputs of the weights; by default the log-probabilities of the members.
    model : {"linear", "mlp"}, or InstanceWeights
        How λ depends on the features. Pass an `InstanceWeights` for another score or penalty; a copy of it is fitted. By
        default, cross-validation within the training part chooses the penalty.
    measure : str or CalibrationMeasure
    null : {"refitted", "fixed"}
        "fixed": labels of the test part are drawn from p_λ(x) with the learnt λ. "refitted": labels of the training part are
        drawn as well, and λ is learnt again for every draw, with the same penalty.
    fraction : float
        Share of the instances in the training part. The parts are drawn at random with equal shares of every predicted
        class; the labels are not used.
    groups : array_like of labels, shape (n,), optional
        Each group stays in one part; by default the groups of the members. The test takes labels as independent, as a note
        says.
    n_draws : int
        Number of draws of labels D.
    rng : int or numpy Generator, optional
        Used for the parts, the fit and the draws; None means seed 0.

    Returns
    -------
    result : InstanceDependentCalibrationTest

    Raises
    ------
    InputError
        Inputs that do not fit together, or options out of range.

    Notes
    -----
    Because λ is learnt without the test part, the fixed null is the test of a single classifier (Vaicenavicius et al. 2019): a
    rejection says that the learnt p_λ(x) is not calibrated, and it keeps its level exactly. It does not support the stronger
    claim that no λ(x) of this model is calibrated, because the learnt λ has an estimation error. If the training part is not
    much larger than the test part, this error is as large as the scatter of the statistic, and the fixed null rejects too
    often although some λ(x) is calibrated. The refitted null contains the estimation error in its draws: from 200 training
    instances on it rejects 3 to 8 % of 40 to 100 data sets at α = .05 (docs/measured-coverage.md).

    References
    ----------
    Jürgens, Mortier, Hüllermeier, Bengs, Waegeman (2025), A calibration test for evaluating set-based epistemic uncertainty
    representations, arXiv:2502.16299.
    Paper 001 (Mortier, Bengs, Hüllermeier, Luca, Waegeman), section 5.

    Examples
    --------
    Each of two members is right on one half of the instances and overconfident on the other.

    >>> import numpy as np
    >>> generator = np.random.default_rng(1)
    >>> x = np.repeat([0.0, 1.0], 500)
    >>> truth = np.where(x[:, None] == 0, [0.6, 0.4], [0.4, 0.6])
    >>> wrong = np.where(x[:, None] == 0, [1.0, 0.0], [0.0, 1.0])
    >>> members = np.where(x[:, None, None] == 0, np.stack([truth, wrong], 1), np.stack([wrong, truth], 1))
    >>> labels = (generator.random(1000) > truth[:, 0]).astype(int)
    >>> instance_dependent_calibration_test(labels, members, x).reject(0.05)
    False
    >>> from uqassay.calibration.credal_hypothesis import credal_calibration_test
    >>> credal_calibration_test(labels, members).reject(0.05)
    True
    """
    chosen = calibration_measure(measure)
    check_choice(null, "null", ("refitted", "fixed"))
    check_draws(n_draws)
    probs = member_array(members)
    labels = hard_labels(y_true, len(probs), probs.shape[2], members=members)
    inputs = feature_array(features, probs)  # checked before the split, so that an error names the row of the input
    generator = as_generator(rng)
    parts = two_parts(probs.mean(axis=1).argmax(axis=1), fraction, groups_of(members, groups), generator)
    first, rest = parts
    if isinstance(model, InstanceWeights):
        estimator = InstanceWeights(**model.get_params())
    else:
        estimator = InstanceWeights(model, rng=generator)
    inside = inputs[first], inputs[rest]
    units = groups_of(members, groups)
    estimator.fit(probs[first], labels[first], inside[0], groups=None if units is None else np.asarray(units)[first])
    weights, mixed = estimator.weights(probs[rest], inside[1]), estimator.predict_proba(probs[rest], inside[1])
    statistic = float(_values(chosen, mixed, labels[rest]))
    drawn = labels_from(mixed, n_draws, generator)
    if null == "fixed":
        values = _values(chosen, mixed, drawn)
    else:
        values = np.empty(n_draws)
        learnt_from = labels_from(estimator.predict_proba(probs[first], inside[0]), n_draws, generator)
        for d in range(n_draws):
            again = estimator.refitted(probs[first], learnt_from[d], inside[0])
            values[d] = _values(chosen, again.predict_proba(probs[rest], inside[1]), drawn[d])
    pvalue = monte_carlo_pvalue(statistic, values, chosen.sides)
    assumed = () if units is None else (IN_GROUPS,)
    return InstanceDependentCalibrationTest(
        statistic=statistic,
        pvalue=pvalue,
        null=values,
        null_kind=null,
        measure=chosen.name,
        notion=chosen.notion,
        weights=weights,
        probs=mixed,
        estimator=estimator,
        training_rows=first,
        test_rows=rest,
        sides=chosen.sides,
        notes=(*undefined_notes(statistic, pvalue, len(rest)), *assumed, *unseen_notes(chosen, mixed)),
    )


def _values(measure: CalibrationMeasure, probs: Floats, labels: Rows) -> Floats:
    """The measure for probabilities (n, K) and labels (..., n)."""
    with np.errstate(all="ignore"):  # 0/0 in some measures, and infinity if an event of probability 0 happens
        return np.asarray(measure.prepare(classes_apart(probs)).values(labels))
