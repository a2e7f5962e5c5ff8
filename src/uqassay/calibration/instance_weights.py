"""Weights of an ensemble's members that depend on the instance, λ(x), and the test with them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState, as_numeric, check_rows
from uqassay.arrays import generator as as_generator
from uqassay.calibration.mixtures import IN_GROUPS, groups_of, hard_labels, independence, member_array
from uqassay.calibration.nulls import check_alpha, labels_from, monte_carlo_pvalue, smallest_pvalue
from uqassay.calibration.one_classifier import ShownVerdict, numbers_of_test, property_of, undefined_notes, unseen_notes
from uqassay.calibration.weights import two_parts
from uqassay.checks import fail, number, one_of, same_length, whole
from uqassay.frames import as_frame, positions
from uqassay.ids import in_one_order
from uqassay.metrics.measures import CalibrationMeasure, Sides, calibration_measure
from uqassay.metrics.reliability_diagrams import classes_apart
from uqassay.notes import Note, reason
from uqassay.predictions import Point, as_prediction
from uqassay.results import ShownTable
from uqassay.statistics.units import Units, check_draws, make_units
from uqassay.text import counted, pvalue_text

__all__ = [
    "InstanceDependentCalibrationTest",
    "InstanceWeights",
    "instance_dependent_calibration_test",
]


# Network that maps features to mixture weights, fitted to a proper score with gradients by backpropagation.

Labels = NDArray[np.intp]
Loss = Callable[[Floats], tuple[float, Floats]]  # weights (n, M) -> mean score and its gradient (n, M)
Layers = list[tuple[Floats, Floats]]  # matrix (inputs, outputs) and shift (outputs,) of each layer


def of_label(probs: Floats, labels: Labels) -> Floats:
    """Probability that each member gives to the label, (n, M)."""
    return np.take_along_axis(probs, labels[:, np.newaxis, np.newaxis], axis=2)[..., 0]


def log_loss_of_weights(probs: Floats, labels: Labels) -> Loss:
    """Mean of −ln Σ_m λ_m p_m(y) over the instances whose label has a positive probability in some member."""
    given = of_label(probs, labels)
    top = given.max(axis=1, keepdims=True)
    possible = top > 0
    n = max(int(possible.sum()), 1)
    top = np.where(possible, top, 1.0)
    given = np.where(possible, given / top, 1.0)
    shift = -float(np.log(top).sum()) / n

    def loss(weights: Floats) -> tuple[float, Floats]:
        mixed = np.maximum((weights * given).sum(axis=1, keepdims=True), 1e-300)  # a weight can underflow to 0
        return shift - float(np.log(mixed).sum()) / n, -given / mixed / n

    return loss


def brier_of_weights(probs: Floats, labels: Labels) -> Loss:
    """Mean of Σ_c (Σ_m λ_m p_mc − y_c)²."""
    n, given = len(probs), of_label(probs, labels)

    def loss(weights: Floats) -> tuple[float, Floats]:
        mixed = (weights[:, np.newaxis] @ probs)[:, 0]  # (n, K)
        slope = 2 * ((probs @ mixed[:, :, np.newaxis])[:, :, 0] - given) / n
        value = ((mixed**2).sum(axis=1) - 2 * (weights * given).sum(axis=1) + 1).mean()
        return float(value), slope

    return loss


def least_point(
    points: list[Floats], sizes: list[int], inputs: Floats, loss: Loss, penalty: float, n_steps: int
) -> Floats:
    """The best of the local minima that L-BFGS reaches from these points."""
    from scipy.optimize import minimize

    # Rescaled so that the objective is about equally curved in slopes and shifts for every penalty.
    unit = np.concatenate([[(1 + 4 * penalty) ** -0.5] * (a * b) + [1.0] * b for a, b in pairwise(sizes)])

    def scaled(point: Floats) -> tuple[float, Floats]:
        value, slope = objective(point * unit, sizes, inputs, loss, penalty)
        return value, slope * unit

    options = {"maxiter": n_steps, "ftol": 1e-9, "gtol": 1e-6}
    found = [minimize(scaled, start / unit, method="L-BFGS-B", jac=True, options=options) for start in points]
    return np.asarray(min(found, key=lambda result: result.fun).x * unit)


def objective(point: Floats, sizes: list[int], inputs: Floats, loss: Loss, penalty: float) -> tuple[float, Floats]:
    """Penalised score and its gradient in all slopes and shifts, by backpropagation."""
    layers = layers_from(point, sizes)
    outputs = forward(inputs, layers)
    weights = softmax_rows(outputs[-1])
    value, slope = loss(weights)
    # derivative of the softmax: ∂f/∂z = λ (∂f/∂λ − Σ λ ∂f/∂λ)
    back = weights * (slope - (weights * slope).sum(axis=1, keepdims=True))
    gradients: list[Floats] = []
    for i in range(len(layers) - 1, -1, -1):
        matrix = layers[i][0]
        value += 0.5 * penalty * float((matrix**2).sum())
        gradients += [back.sum(axis=0), (outputs[i].T @ back + penalty * matrix).ravel()]
        if i > 0:
            back = (back @ matrix.T) * (1 - outputs[i] ** 2)  # tanh′ = 1 − tanh²
    return value, np.concatenate(gradients[::-1])


def forward(inputs: Floats, layers: Layers) -> list[Floats]:
    """Input of each layer, followed by the output of the last one."""
    outputs = [inputs]
    for i, (matrix, shift) in enumerate(layers):
        found = outputs[-1] @ matrix + shift
        outputs.append(np.tanh(found) if i < len(layers) - 1 else found)
    return outputs


def softmax_rows(values: Floats) -> Floats:
    """Softmax of each row."""
    shares = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def start_point(sizes: list[int], generator: np.random.Generator) -> Floats:
    """Random slopes for a network; zeros for a linear function, which give equal weights."""
    parts = []
    for first, second in pairwise(sizes):
        spread = 0.0 if len(sizes) == 2 else first**-0.5
        parts += [spread * generator.standard_normal(first * second), np.zeros(second)]
    return np.concatenate(parts)


def layers_from(point: Floats, sizes: list[int]) -> Layers:
    """Split one parameter vector into the slopes and shifts of each layer."""
    layers, at = [], 0
    for first, second in pairwise(sizes):
        end = at + first * second
        layers.append((point[at:end].reshape(first, second), point[end : end + second]))
        at = end + second
    return layers


# Combinations of members with weights λ(x) that depend on the instance: softmax of a linear function or a small
# network.

WeightModel = Literal["linear", "mlp"]

LEAST_PROBABILITY = 1e-6  # floor of the probabilities whose logarithms are the default features
PENALTIES = (1e4, 1e3, 1e2, 1e1, 1.0, 0.1)
N_FOLDS = 3
MAX_STEPS = 500
FOLD_STEPS = 200


@final
class InstanceWeights:
    """Weights λ(x) of an ensemble's members, learnt with a proper score.

    Parameters
    ----------
    model : {"linear", "mlp"}
        λ(x) is the softmax of a linear function of the features, or of a network with one hidden layer of tanh units.
    score : {"log-loss", "brier"}
        Mean score of p_λ(x) that `fit` minimises.
    l2 : float, optional
        Penalty l2/(2n) Σ w² of the slopes w on standardised features; shifts are not penalised. Greater values bring λ(x)
        closer to weights that are the same for every instance. None: threefold cross-validation on the instances of `fit`
        chooses one of 0.1, 1, …, 10 000.
    n_hidden : int
        Hidden units of the network.
    n_starts : int
        Random starts of the network; the best result is kept. The linear function starts at equal weights.
    rng : int or numpy Generator, optional
        Used for the starts and the folds; None means seed 0.

    Notes
    -----
    The objective is not convex: L-BFGS finds a local minimum. Without features the M K log-probabilities of the members are
    used, with probabilities of at least 1e-6.

    References
    ----------
    Jürgens, Mortier, Hüllermeier, Bengs, Waegeman (2025), A calibration test for evaluating set-based epistemic uncertainty
    representations, arXiv:2502.16299.
    Jacobs, Jordan, Nowlan, Hinton (1991), Adaptive mixtures of local experts, Neural Computation 3.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat([-1.0, 1.0], 50)
    >>> members = np.tile([[[0.9, 0.1], [0.1, 0.9]]], (100, 1, 1))
    >>> fitted = InstanceWeights(l2=0.01).fit(members, (x > 0).astype(int), x)
    >>> fitted.weights(members[:1], [-1.0]).round(2).tolist(), fitted.weights(members[:1], [1.0]).round(2).tolist()
    ([[1.0, 0.0]], [[0.0, 1.0]])
    """

    #: the mean score reached, without the penalty. The log loss is infinite if every member gives some label the probability 0;
    #: such instances are left out of the fit.
    value_: float
    l2_: float  #: the penalty used
    n_features_in_: int
    n_members_: int
    layers_: Layers  #: slopes and shifts of each layer, on standardised features
    #: arrays (F,): Mean and standard deviation that standardise the features
    mean_: Floats
    scale_: Floats
    _feature_names: NDArray[Any] | None

    def __init__(
        self,
        model: WeightModel = "linear",
        *,
        score: str = "log-loss",
        l2: float | None = None,
        n_hidden: int = 16,
        n_starts: int = 3,
        rng: RandomState = None,
    ) -> None:
        self.model, self.score, self.l2 = model, score, l2
        self.n_hidden, self.n_starts, self.rng = n_hidden, n_starts, rng

    @in_one_order("members", "y", "features", "groups")
    def fit(
        self, members: Any, y: ArrayLike, features: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Learn λ(x).

        Parameters
        ----------
        members : Members, or array (n, M, K)
        y : array_like of int, shape (n,)
        features : array_like, shape (n, F) or (n,), optional
            Inputs of the weights; by default the log-probabilities of the members.
        groups : array_like of labels, shape (n,), optional
            Each group stays in one fold; by default the groups of the members.
        """
        self._check()
        generator = as_generator(self.rng)
        probs = member_array(members)
        labels = hard_labels(y, len(probs), probs.shape[2], "y", members=members)
        frame = as_frame(features, "features")
        self._feature_names = None if frame is None else frame.columns
        inputs = self._standardised(feature_array(features, probs), probs.shape[1])
        starts = [start_point(self._sizes, generator) for _ in range(self.n_starts if self.model == "mlp" else 1)]
        if self.l2 is None:
            units = make_units(len(probs), groups_of(members, groups), None)
            self.l2_ = self._cross_validated(probs, labels, inputs, units, generator)
        else:
            self.l2_ = float(self.l2)
        return self._learn(probs, labels, inputs, starts)

    @in_one_order("members", "y", "features")
    def refitted(self, members: Any, y: ArrayLike, features: ArrayLike | None = None) -> "InstanceWeights":
        """A copy fitted to other instances or labels, with the same penalty, starting from these weights."""
        self._fitted()
        copy = InstanceWeights(**self.get_params())
        copy.l2_ = self.l2_
        probs = member_array(members)
        labels = hard_labels(y, len(probs), probs.shape[2], "y", members=members)
        copy._feature_names = self._feature_names
        inputs = copy._standardised(feature_array(features, probs, self._feature_names), probs.shape[1])
        start = np.concatenate([part.ravel() for layer in self.layers_ for part in layer])
        return copy._learn(probs, labels, inputs, [start])

    @in_one_order("members", "features")
    def weights(self, members: Any, features: ArrayLike | None = None) -> Floats:
        """λ(x) of each instance, (n, M)."""
        return self._weights(member_array(members), features)

    @in_one_order("members", "features")
    def predict_proba(self, members: Any, features: ArrayLike | None = None) -> Floats:
        """Class probabilities Σ_m λ_m(x) p_m, (n, K)."""
        probs = member_array(members)
        mixed = (self._weights(probs, features)[:, np.newaxis] @ probs)[:, 0]
        return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))

    @in_one_order("members", "features")
    def predict(self, members: Any, features: ArrayLike | None = None) -> Point:
        """The combination as a prediction; class names, ids and groups come from the members."""
        members = as_prediction(members, "members")
        names = ("class_names", "ids", "groups", "row_numbers")
        kept: dict[str, Any] = {name: getattr(members, name, None) for name in names}
        return Point(self.predict_proba(members, features), notes=getattr(members, "notes", ()), **kept)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, which scikit-learn uses to clone."""
        return {name: getattr(self, name) for name in ("model", "score", "l2", "n_hidden", "n_starts", "rng")}

    def __repr__(self) -> str:
        return f"InstanceWeights({self.model!r}, score={self.score!r}, l2={self.l2})"

    def _weights(self, probs: Floats, features: ArrayLike | None) -> Floats:
        self._fitted()
        inputs = feature_array(features, probs, self._feature_names)
        seen = self.n_members_, self.n_features_in_
        if (probs.shape[1], inputs.shape[1]) != seen:
            rule = f"must be {seen[1]} columns for {seen[0]} members, as in fit"
            got, remedy = (
                f"got {inputs.shape[1]} for {probs.shape[1]}",
                "pass the same features and members in the same order",
            )
            fail("features", rule, got, remedy, code="shape")
        return softmax_rows(forward((inputs - self.mean_) / self.scale_, self.layers_)[-1])

    @property
    def _sizes(self) -> list[int]:
        """Inputs, hidden units if there are any, and outputs of the network."""
        return [self.n_features_in_, *([self.n_hidden] if self.model == "mlp" else []), self.n_members_]

    def _loss(self, probs: Floats, labels: Labels) -> Loss:
        return (log_loss_of_weights if self.score == "log-loss" else brier_of_weights)(probs, labels)

    def _standardised(self, inputs: Floats, n_members: int) -> Floats:
        """Features with mean 0 and standard deviation 1; constant features become 0."""
        self.mean_, scale = inputs.mean(axis=0), inputs.std(axis=0)
        self.scale_ = np.where(scale > 1e-12 * np.maximum(np.abs(self.mean_), 1e-300), scale, 1.0)
        self.n_features_in_, self.n_members_ = inputs.shape[1], n_members
        return (inputs - self.mean_) / self.scale_

    def _learn(self, probs: Floats, labels: Labels, inputs: Floats, starts: list[Floats]) -> Self:
        """Fit from each of these starts and keep the best local minimum."""
        loss = self._loss(probs, labels)
        point = least_point(starts, self._sizes, inputs, loss, self.l2_ / len(probs), MAX_STEPS)
        self.layers_ = layers_from(point, self._sizes)
        self.value_ = loss(softmax_rows(forward(inputs, self.layers_)[-1]))[0]
        if self.score == "log-loss" and not of_label(probs, labels).any(axis=1).all():
            self.value_ = np.inf
        return self

    def _cross_validated(
        self, probs: Floats, labels: Labels, inputs: Floats, units: Units, generator: np.random.Generator
    ) -> float:
        """The penalty with the least cross-validated score; of tied penalties the greatest."""
        fold_of = generator.permutation(units.n_units) % N_FOLDS
        fold = fold_of if units.codes is None else fold_of[units.codes]
        start, total = start_point(self._sizes, generator), np.zeros(len(PENALTIES))
        for f in range(min(N_FOLDS, units.n_units) if units.n_units > 1 else 0):
            kept, held = fold != f, fold == f
            loss, judge = self._loss(probs[kept], labels[kept]), self._loss(probs[held], labels[held])
            point = start
            for i, penalty in enumerate(PENALTIES):
                # a linear function starts from the fit with the greater penalty; a network
                # shrunk to zero slopes has a zero gradient there and would not move
                point = least_point(
                    [point if self.model == "linear" else start],
                    self._sizes,
                    inputs[kept],
                    loss,
                    penalty / kept.sum(),
                    FOLD_STEPS,
                )
                total[i] += (
                    held.sum() * judge(softmax_rows(forward(inputs[held], layers_from(point, self._sizes))[-1]))[0]
                )
        as_good = total <= total.min() + 1e-9 * abs(float(total.min()))
        return PENALTIES[int(as_good.argmax())]

    def _fitted(self) -> None:
        if not hasattr(self, "layers_"):
            remedy = "call fit(members, y, features) first"
            fail("layers_", "exists only after fit", "not fitted yet", remedy, code="missing")

    def _check(self) -> None:
        one_of(self.model, "model", ("linear", "mlp"))
        one_of(self.score, "score", ("log-loss", "brier"))
        if self.l2 is not None:
            number(self.l2, "l2", "pass None to choose it by cross-validation", low=0, ends="[)")
        for name in ("n_hidden", "n_starts"):
            whole(getattr(self, name), name, "leave it out", least=1)


def feature_array(features: ArrayLike | None, probs: Floats, names: NDArray[Any] | None = None) -> Floats:
    """Features (n, F) as float64; by default the log-probabilities of the members.

    Columns with names are put in the order of `names`, those of `fit`.
    """
    n = len(probs)
    if features is None:
        return np.log(np.maximum(probs, LEAST_PROBABILITY)).reshape(n, -1)
    frame = as_frame(features, "features")
    if frame is not None and frame.columns is not None and names is not None:
        order = positions(frame.columns, names, "features", part="columns", of="fit")
        frame = frame.moved(order, -1)
    array = as_numeric(features if frame is None else frame, "features", ndim=(1, 2))
    same_length(array, "features", n, "take them from the same instances in the same order")
    array = array.reshape(n, -1)
    check_rows(
        array, "features", tolerance=0.0, unit_sum=False, low=-np.inf, high=np.inf, remedy="drop or repair such rows"
    )
    return array.astype(np.float64)


# Test of a combination of members with instance-dependent weights: learnt on one part of the data, tested on the other.

Rows = NDArray[np.intp]
InstanceNull = Literal["refitted", "fixed"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class InstanceDependentCalibrationTest(ShownVerdict):
    """Result of `instance_dependent_calibration_test`."""

    statistic: float  #: the measure of p_λ(x) on the test part
    pvalue: float  #: (1 + the number of null draws that reach the statistic) / (D + 1); nan if the measure is undefined
    null: Floats  #: (D,): the statistic under the null hypothesis
    null_kind: str  #: "refitted" or "fixed"
    #: name of the measure, and the notion of calibration that it tests
    measure: str
    notion: str
    weights: Floats  #: (n_test, M) λ(x) for the instances of the test part
    probs: Floats  #: (n_test, K): p_λ(x) for these instances
    estimator: InstanceWeights  #: the weights learnt on the training part
    #: int arrays: Row numbers of the two parts
    training_rows: Rows
    test_rows: Rows
    notes: tuple[Note, ...] = ()  #: what limits the result
    #: "upper" or "both": "both" if values below the expected one reject too, as for the Brier score and the log loss
    sides: Sides = "upper"

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects calibration of p_λ(x) at this level. An undefined p-value never rejects."""
        check_alpha(alpha, len(self.null), sides=self.sides)
        return self.pvalue <= alpha + 1e-12

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what = property_of(self.notion)
        p = f"{pvalue_text(self.pvalue)}{independence(self.notes)}"
        if math.isnan(self.pvalue):
            return (
                f"Whether the combination with learnt weights has the right {what} is undefined: {reason(self.notes)}."
            )
        if smallest_pvalue(len(self.null), self.sides) > alpha + 1e-12:
            few = f"{len(self.null)} draws are too few to tell at this level"
            return f"{few} whether the combination has the right {what} ({p})."
        if not self.reject(alpha):
            return f"The test could not tell the combination with learnt weights from one with the right {what} ({p})."
        if self.null_kind == "fixed":
            return f"The combination with the weights that were learnt does not have the right {what} ({p})."
        return f"No weights of the kind that was learnt give a combination with the right {what} ({p})."

    def _shown_title(self) -> str:
        on = counted(len(self.test_rows), "case")
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

    Notes
    -----
    Because λ is learnt without the test part, the fixed null is the test of a single classifier (Vaicenavicius et al. 2019): a
    rejection says that the learnt p_λ(x) is not calibrated, and it keeps its level exactly. It does not support the stronger
    claim that no λ(x) of this model is calibrated, because the learnt λ has an estimation error. If the training part is not
    much larger than the test part, this error is as large as the scatter of the statistic, and the fixed null rejects too
    often although some λ(x) is calibrated. The refitted null contains the estimation error in its draws: from 200 training
    instances on it rejects 3 to 8 % of 40 to 100 data sets at α = .05 (tests/calibration/test_instance_hypothesis.py).

    References
    ----------
    Jürgens, Mortier, Hüllermeier, Bengs, Waegeman (2025), A calibration test for evaluating set-based epistemic uncertainty
    representations, arXiv:2502.16299.
    Credal calibration (Mortier, Bengs, Hüllermeier, Luca, Waegeman), section 5.

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
    >>> from uqassay.calibration.credal import credal_calibration_test
    >>> credal_calibration_test(labels, members).reject(0.05)
    True
    """
    chosen = calibration_measure(measure)
    one_of(null, "null", ("refitted", "fixed"))
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
