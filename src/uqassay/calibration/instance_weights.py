"""Combinations of members with weights λ(x) that depend on the instance: softmax of a linear function or a small network."""

from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, as_numeric, check_rows
from uqassay._array import generator as as_generator
from uqassay._frames import as_frame, positions
from uqassay._one_order import in_one_order
from uqassay.calibration.parts import check_whole, groups_of, hard_labels, member_array
from uqassay.calibration.weight_network import (
    Layers,
    Loss,
    brier_of_weights,
    forward,
    layers_from,
    least_point,
    log_loss_of_weights,
    of_label,
    softmax_rows,
    start_point,
)
from uqassay.errors import InputError
from uqassay.predictions import Point, as_prediction
from uqassay.statistics.samples import Units, check_choice, is_number, make_units

__all__ = ["InstanceWeights", "WeightModel", "feature_array"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
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

    Attributes
    ----------
    value_ : float
        The mean score reached, without the penalty. The log loss is infinite if every member gives some label the
        probability 0; such instances are left out of the fit.
    l2_ : float
        The penalty used.
    layers_ : list of (array, array)
        Slopes and shifts of each layer, on standardised features.
    mean_, scale_ : arrays (F,)
        Mean and standard deviation that standardise the features.

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

    value_: float
    l2_: float
    n_features_in_: int
    n_members_: int
    layers_: Layers
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

        Returns
        -------
        self

        Raises
        ------
        InputError
            Members, labels or features that do not fit together, or options out of range.
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
        """λ(x) of each instance, (n, M).

        Raises
        ------
        InputError
            A number of members or features that differs from `fit`, or weights that were never fitted.
        """
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
            raise InputError(
                "features",
                f"must be {seen[1]} columns for {seen[0]} members, as in fit",
                f"got {inputs.shape[1]} for {probs.shape[1]}",
                "pass the same features and members in the same order",
                code="shape",
            )
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
            raise InputError(
                "layers_",
                "exists only after fit",
                "not fitted yet",
                "call fit(members, y, features) first",
                code="missing",
            )

    def _check(self) -> None:
        check_choice(self.model, "model", ("linear", "mlp"))
        check_choice(self.score, "score", ("log-loss", "brier"))
        if self.l2 is not None and not (is_number(self.l2) and np.isfinite(self.l2) and self.l2 >= 0):
            raise InputError(
                "l2",
                "must be finite and not negative",
                f"got {self.l2!r}",
                "pass None to choose it by cross-validation",
                code="range",
            )
        for name in ("n_hidden", "n_starts"):
            check_whole(getattr(self, name), name, remedy="leave it out")


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
    if len(array) != n or array.size == 0:
        raise InputError(
            "features",
            f"must have one row for each of the {n} instances",
            f"got shape {array.shape}",
            "take them from the same instances in the same order",
            code="mismatch",
        )
    array = array.reshape(n, -1)
    check_rows(
        array, "features", tolerance=0.0, unit_sum=False, low=-np.inf, high=np.inf, remedy="drop or repair such rows"
    )
    return array.astype(np.float64)
