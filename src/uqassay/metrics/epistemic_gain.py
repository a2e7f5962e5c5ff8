"""The gain from more data against the epistemic estimate: EECE, correlation, delay curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.special import ndtr, ndtri, rel_entr, xlogy

from uqassay.arrays import Floats, RandomState, as_array, as_labels, check_rows, generator, tolerance_of
from uqassay.checks import fail, number, one_of, same_length, whole
from uqassay.frames import positions
from uqassay.ids import in_one_order
from uqassay.losses.unified import FLOORS, brier_loss, log_loss
from uqassay.notes import Note
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.predictions.keys import classes_in_order
from uqassay.predictions.labels import CLASS_ORDERS, class_indices, labels_for, take_table
from uqassay.statistics.components import (
    debiased_absolute,
    excess_scale,
    greatest_bias,
    variance_of_absolute,
    variance_of_debiased,
)
from uqassay.statistics.correlation import named_spearman_estimate
from uqassay.statistics.estimate import Estimate, interval_notes
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.risk_bounds import matched_difference_interval, rates_given_difference
from uqassay.statistics.units import Units, as_floats, check_level, make_units, spread_of_mean
from uqassay.text import counted
from uqassay.text import number as written

__all__ = [
    "GAIN_LOSSES",
    "DelayCurve",
    "EpistemicCalibration",
    "GainDeviations",
    "GainNull",
    "TrueUncertainty",
    "calibration_notes",
    "checked_edges",
    "debiased_square",
    "delay_curve",
    "delay_curve_of_gains",
    "epistemic_calibration_error",
    "epistemic_correlation_score",
    "finite_values",
    "gain",
    "gain_bins",
    "gain_intervals",
    "gain_null",
    "mapped_calibration_error",
    "place_in_intervals",
    "true_uncertainty",
]


# Gain from more data: the loss of a model minus the loss of the same learner with more data, instance by instance.

GainLoss = Literal["zero-one", "log", "brier"]
ANY_CLASS = int(np.iinfo(np.int64).max)  # number of classes where predicted labels alone are given
GAIN_LOSSES: tuple[GainLoss, ...] = ("zero-one", "log", "brier")


@final
@dataclass(frozen=True, eq=False)
class TrueUncertainty:
    """Uncertainty of a prediction where the label probabilities P(y|x) are known."""

    total: Floats  #: (n,): U: expected loss of the prediction. Equals aleatoric + epistemic.
    aleatoric: Floats  #: (n,): a: least expected loss of any prediction
    epistemic: Floats  #: (n,): EU: the difference, which more data can remove. Never negative.


@in_one_order("before", "y_true", "after")
def gain(
    y_true: ArrayLike,
    before: PredictionLike,
    after: PredictionLike,
    *,
    loss: GainLoss = "zero-one",
) -> Floats:
    """Loss of the model minus loss of the model with more data, (n,). Positive if more data helped.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, or label distributions and vote counts, which give the expected gain.
    before, after : Prediction, array (n, K) or (n, M, K), or int array (n,)
        Predictions without and with more data. Predicted labels (n,) are enough for the zero-one loss.
    loss : {"zero-one", "log", "brier"}
        "zero-one": 1[after = y] − 1[before = y], which is −1, 0 or 1. "log": in nats. "brier": the sum of squares, from
        −2 to 2. Log loss and Brier loss are those of the mean prediction.

    Notes
    -----
    Where `after` is the best possible prediction, the expected gain given x is the epistemic uncertainty of
    `true_uncertainty`. Both logarithms have the same least probability: the machine epsilon of the coarser input.

    References
    ----------
    Epistemic gain, definition 4. Lahlou et al. (2021), DEUP: Direct epistemic uncertainty prediction (other losses).

    Examples
    --------
    >>> gain([0, 1, 1], before=[0, 0, 1], after=[0, 1, 0]).tolist()
    [0.0, 1.0, -1.0]
    >>> gain([1], [[0.5, 0.5]], [[0.2, 0.8]], loss="log").round(4).tolist()
    [0.47]
    """
    without, with_more = losses_of_both(y_true, before, after, loss)
    return without - with_more


@in_one_order("predicted", "label_probs")
def true_uncertainty(
    label_probs: ArrayLike, predicted: PredictionLike, *, loss: GainLoss = "zero-one"
) -> TrueUncertainty:
    """Total, aleatoric and epistemic uncertainty of a prediction under known label probabilities.

    Parameters
    ----------
    label_probs : array (n, K)
        P(y|x). The rows must sum to 1.
    predicted : Prediction, array (n, K) or (n, M, K), or int array (n,)
        Predicted labels (n,) are enough for the zero-one loss.
    loss : {"zero-one", "log", "brier"}
        "zero-one": U = 1 − P(ŷ|x), A = 1 − max P(y|x), EU = max P(y|x) − P(ŷ|x). "log", in nats: cross-entropy, entropy
        and Kullback-Leibler divergence of the mean prediction. "brier": EU = Σ (p̄ − P)² and A = 1 − Σ P².

    References
    ----------
    Epistemic gain, definitions 1 to 3.

    Examples
    --------
    >>> true = true_uncertainty([[0.75, 0.25], [0.75, 0.25]], [0, 1])
    >>> true.total.tolist(), true.aleatoric.tolist(), true.epistemic.tolist()
    ([0.25, 0.75], [0.25, 0.25], [0.0, 0.5])
    """
    one_of(loss, "loss", GAIN_LOSSES)
    statement = _statement(predicted, "predicted", loss)
    table, names, _ = take_table(label_probs, "label_probs")
    given = as_array(table, "label_probs")
    if given.ndim != 2:
        fail("label_probs", "must have shape (n, K)", f"got shape {given.shape}", "give P(y|x) in rows", code="shape")
    check_rows(given, "label_probs", tolerance=tolerance_of(label_probs))
    true = as_labels(given, given.shape[1], n_instances=_size(statement), name="label_probs")
    if isinstance(statement, np.ndarray):
        labels = _predicted_labels(statement, {"n_classes": true.shape[1], "class_names": names}, "predicted")
    else:
        if statement.n_classes != true.shape[1]:
            fail(
                "predicted",
                f"must have the {true.shape[1]} classes of label_probs",
                f"got {statement.n_classes}",
                "give both with the same columns",
                code="mismatch",
            )
        if names is not None and statement.class_names is not None:
            true = true[:, positions(names, statement.class_names, "label_probs", part="columns", of="predicted")]
        labels = statement.labels()
    if loss == "zero-one":
        greatest = true.max(axis=1)
        aleatoric, epistemic = 1.0 - greatest, greatest - np.take_along_axis(true, labels[:, None], axis=1)[:, 0]
    else:
        p = statement.mean_probs()
        if loss == "log":
            floored = np.maximum(p, FLOORS["exact"])
            aleatoric = -xlogy(true, true).sum(axis=1)
            epistemic = np.maximum(rel_entr(true, floored).sum(axis=1), 0.0)  # a floor can raise Σ p above 1
        else:
            aleatoric, epistemic = 1.0 - (true**2).sum(axis=1), ((p - true) ** 2).sum(axis=1)
    return TrueUncertainty(aleatoric + epistemic, aleatoric, epistemic)


def losses_of_both(
    y_true: ArrayLike, before: PredictionLike, after: PredictionLike, loss: str
) -> tuple[Floats, Floats]:
    """Losses (n,) of both predictions, checked as in `gain`. For use inside this room."""
    one_of(loss, "loss", GAIN_LOSSES)
    first, second = _statement(before, "before", loss), _statement(after, "after", loss)
    if _size(first) != _size(second):
        remedy = "take both for the same instances in the same order"
        rule = f"must have one prediction for each of the {_size(first)} of before"
        fail("after", rule, f"got {_size(second)}", remedy, code="mismatch")
    columns = [one.n_classes for one in (first, second) if not isinstance(one, np.ndarray)]
    if len(set(columns)) > 1:
        fail(
            "after",
            f"must have the {columns[0]} classes of before",
            f"got {columns[1]}",
            "give both with the same columns",
            code="mismatch",
        )
    if len(columns) == 2:
        second = classes_in_order(second, first.class_names, "after", of="before")
    return _losses(y_true, (first, second), loss)


def _statement(value: Any, name: str, loss: str) -> Any:
    """A prediction, or an array of predicted labels (n,) for the zero-one loss."""
    if value is None or isinstance(value, Mapping) or callable(getattr(value, "upper_probs", None)):
        return as_prediction(value, name)
    array = as_array(value, name)
    if array.ndim != 1:
        return as_prediction(value, name)
    if loss != "zero-one":
        fail(
            name,
            f'must be probabilities for loss="{loss}"',
            f"got predicted labels of shape {array.shape}",
            'give (n, K) probabilities, or take loss="zero-one"',
            code="one-column",
        )
    return array


def _size(statement: Any) -> int:
    return len(statement) if isinstance(statement, np.ndarray) else int(statement.n_instances)


def _losses(y_true: ArrayLike, statements: tuple[Any, Any], loss: str) -> tuple[Floats, Floats]:
    """Losses (n,) of both statements; predicted labels have the classes of the other statement."""
    predictions = [one for one in statements if not isinstance(one, np.ndarray)]
    if loss == "brier":
        first, second = (brier_loss(y_true, one) for one in predictions)
        return first, second
    if loss == "log":
        first, second = (log_loss(y_true, one) for one in predictions)
        return first, second
    known: dict[str, Any] = {"n_classes": ANY_CLASS}
    if predictions:
        known = {name: getattr(predictions[0], name) for name in ("n_classes", "ids", "class_names")}
        orders = [one.class_order for one in predictions]
        known["class_order"] = next((order for order in orders if CLASS_ORDERS[order]), orders[0])
    elif len(shape := np.shape(as_array(y_true, "y_true") if y_true is not None else ())) == 2:
        known = {"n_classes": shape[1]}
    y = labels_for(y_true, n_instances=_size(statements[0]), **known)
    first, second = (
        1.0 - _hits(y, one, name, known) for one, name in zip(statements, ("before", "after"), strict=True)
    )
    return first, second


def _hits(y: NDArray[Any], statement: Any, name: str, known: Mapping[str, Any]) -> Floats:
    """1 if the label is predicted, else 0, (n,); for label distributions the share of the predicted class."""
    labels = _predicted_labels(statement, known, name) if isinstance(statement, np.ndarray) else statement.labels()
    if y.ndim == 2:
        return np.asarray(np.take_along_axis(y, labels[:, None], axis=1)[:, 0])
    return (labels == y).astype(np.float64)


def _predicted_labels(labels: NDArray[Any], known: Mapping[str, Any], name: str) -> NDArray[np.int64]:
    indices = class_indices(labels, known.get("class_names"), name=name, class_order=known.get("class_order", "stated"))
    return as_labels(indices, known["n_classes"], name=name)


# Chance deviations of the mean gain in each bin, if the estimates of epistemic uncertainty are perfectly calibrated.
#
# A mean estimate of .02 does not say how often gains are ±1: P(+1) = .02 and P(−1) = 0 give the same mean as .12 and
# .10. The rates are therefore estimated from the gains in each bin, under the condition that their difference is the
# mean estimate.

TINY = np.finfo(np.float64).tiny
LEAST_DOF = 1.0
LEAST_GROUPS = 5.0  # effective number of groups with gains; with fewer the test of calibration rejects too often
MOST_GROUPS = 500  # more of them add up to normal deviations
N_LEVELS = 256  # equally probable values of what a group has in common
HALVINGS = 14  # of the range of a correlation
GREATEST = 0.999  # correlation


@final
@dataclass(frozen=True, eq=False)
class GainNull:
    """Distribution of the deviation D_m, mean gain − mean estimate, in M bins, none of them empty."""

    count: Floats  #: (M,): instances n_m
    #: (M,): p(+1) and P(−1) of a calibrated estimate; None for gains other than −1, 0 and 1
    rates: tuple[Floats, Floats] | None
    variance: Floats  #: (M,): variance of gain − estimate of one instance, if the estimate is calibrated
    #: (M,): the same without this condition: between the variance above, which is right if the bin is calibrated, and that of
    #: the instances in the bin; the likelihood ratio of the two is the weight of the first
    own_variance: Floats
    #: correlation in a group; 0 without groups. For gains of −1, 0 and 1 that of normal scores, else that of the deviations.
    correlation: float
    together: Floats  #: (M, M): covariance of two instances of a group in bins m and k
    #: (M, L): deviation of the expected gain in each bin at L equally probable values of what a group has in common;
    #: None for other gains and without groups
    levels: Floats | None
    members: Floats | None  #: (G, M): instances n_gm of group g in bin m; None without groups
    #: degrees of freedom of the correlation: (Σ n_g²)² / Σ n_g⁴ − 1 for groups of n_g instances; infinite without groups
    dof: float
    #: effective number of groups that have the gains, (Σ a_g)² / Σ a_g² with a_g = Σ |gain| in group g; infinite without
    #: groups. Ten gains in one group are one event, and say little about the chance of another.
    spread: float

    @property
    def shared(self) -> Floats:
        """Σ_g n_gm n_gk, (M, M); diagonal without groups."""
        return np.diag(self.count) if self.members is None else self.members.T @ self.members

    @property
    def in_bins(self) -> Floats:
        """Intraclass correlation of each bin, (M,)."""
        return np.asarray(np.clip(np.diag(self.together) / np.maximum(self.variance, TINY), 0.0, 1.0))

    @property
    def design_effect(self) -> Floats:
        """Factor by which groups raise the variance of the mean in each bin, (M,)."""
        return np.asarray(1 + self.in_bins * (np.diag(self.shared) / self.count - 1))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean deviation in each bin, without the condition that it is calibrated, (M,)."""
        return np.asarray(np.sqrt(self.own_variance / self.count * self.design_effect))

    def draws(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Deviations D_m of a calibrated estimate, (B, M)."""
        alone = self._independent(n_draws, rng)
        if self.correlation == 0.0 or self.members is None:
            return alone
        # ρ is estimated from few groups, so their part has the tails of Student's t
        stretch = np.sqrt(self.dof / rng.chisquare(self.dof, (n_draws, 1)))
        common = self._in_common if len(self.members) <= MOST_GROUPS else self._normal
        return np.asarray(np.sqrt(1 - self.in_bins) * alone + stretch * common(n_draws, rng))

    def _in_common(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """What the groups add to the mean of each bin: skewed where gains are rare."""
        if self.levels is None or self.members is None:
            return self._normal(n_draws, rng)
        drawn = rng.integers(N_LEVELS, size=(n_draws, len(self.members)))
        rows = [level[drawn] @ held / n for level, held, n in zip(self.levels, self.members.T, self.count, strict=True)]
        return np.stack(rows, axis=1)

    def _normal(self, n_draws: int, rng: np.random.Generator) -> Floats:
        values, vectors = np.linalg.eigh(self.shared * self.together / np.outer(self.count, self.count))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(rng.standard_normal((n_draws, len(self.count))) @ root.T)

    def _independent(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Deviations with independent instances: of counts of +1 and −1, or normal ones."""
        n, size = self.count, (n_draws, len(self.count))
        if self.rates is None:
            return np.asarray(rng.standard_normal(size) * np.sqrt(self.variance / n))
        p, q = self.rates
        changed = rng.binomial(n.astype(np.int64), np.minimum(p + q, 1.0), size)
        better = rng.binomial(changed, np.where(p + q > 0, p / np.maximum(p + q, TINY), 0.0))
        # estimates that differ within a bin leave less variance than equal ones
        plain = np.maximum(p + q - (p - q) ** 2, TINY)
        return np.asarray(((2 * better - changed) / n - (p - q)) * np.sqrt(np.minimum(self.variance / plain, 1.0)))


def gain_null(gain: Floats, epistemic: Floats, place: NDArray[np.intp], units: Units) -> GainNull:
    """Estimate the distribution of the deviations from gains and estimates (n,) in bins 0 … M − 1, none of them empty."""
    n = np.bincount(place).astype(np.float64)
    deviation = gain - epistemic
    mean = np.bincount(place, deviation) / n
    square = np.bincount(place, deviation**2) / n
    within = np.maximum(square - mean**2, 0.0)  # with divisor n_m
    unbiased = np.where(n > 1, within * n / np.maximum(n - 1, 1.0), np.nan)
    rates = None
    if bool(np.isin(gain, (-1.0, 0.0, 1.0)).all()):
        rates, variance, log_ratio = _of_counts(gain, epistemic, place, n)
    else:
        variance = square
        log_ratio = n / 2 * np.log(np.maximum(within, TINY) / np.maximum(square, TINY))
    weight = np.where(n > 1, np.exp(np.minimum(log_ratio, 0.0)), 1.0)
    own = np.where(n > 1, weight * variance + (1 - weight) * unbiased, variance)
    if units.codes is None:
        return GainNull(n, rates, variance, own, 0.0, np.zeros((len(n), len(n))), None, None, np.inf, np.inf)
    members = (
        np.bincount(units.codes * len(n) + place, minlength=units.n_units * len(n))
        .reshape(-1, len(n))
        .astype(np.float64)
    )
    dof = max(_effective(members.sum(axis=1) ** 2) - 1, LEAST_DOF)
    spread = _effective(np.bincount(units.codes, np.abs(gain)))
    covariance, pairs = _covariance(deviation, members, units.codes), members.T @ members - np.diag(n)
    if rates is None:
        scale = np.outer(np.sqrt(variance), np.sqrt(variance))
        most = float((pairs * scale).sum())
        correlation = min(max(covariance / most, 0.0), 1.0) if most > 0 else 0.0
        together, levels = correlation * scale, None
    else:
        correlation, levels = _of_scores(rates, covariance, pairs)
        together = levels @ levels.T / N_LEVELS
    return GainNull(n, rates, variance, own, correlation, together, levels, members, dof, spread)


def _of_counts(
    gain: Floats, epistemic: Floats, place: NDArray[np.intp], n: Floats
) -> tuple[tuple[Floats, Floats], Floats, Floats]:
    """Rates of +1 and −1 whose difference is the mean estimate, the variance they give, and ln of the likelihood ratio."""
    m = len(n)
    plus, minus = np.bincount(place[gain > 0], minlength=m), np.bincount(place[gain < 0], minlength=m)
    estimate = np.bincount(place, epistemic) / n
    p, q = rates_given_difference(plus, minus, n, np.clip(estimate, -1.0, 1.0))
    # Σ (gain − e)² has the mean Σ P(±1) − Σ e² if e is calibrated
    variance = np.maximum(p + q - np.bincount(place, epistemic**2) / n, 0.0)
    zero = n - plus - minus
    with np.errstate(divide="ignore"):
        log_ratio = sum(
            xlogy(count, rate) - xlogy(count, count / n)
            for count, rate in ((plus, p), (minus, q), (zero, np.maximum(1 - p - q, 0.0)))
        )
    return (p, q), variance, np.where(np.abs(estimate) > 1, -np.inf, log_ratio)


def _covariance(deviation: Floats, members: Floats, codes: NDArray[np.intp]) -> float:
    """Sum of the covariances of all pairs of instances of a group, by moments."""
    # Centred as a whole and not by bin: where a bin has few groups, its mean would remove most of their variance.
    z = deviation - deviation.mean()
    sizes = members.sum(axis=1)
    n, squares, cubes = sizes.sum(), (sizes**2).sum(), (sizes**3).sum()
    centred = (
        1 - 2 * cubes / (n * squares) + squares / n**2
    )  # what the common mean leaves of the variance of group sums
    pairs = float((np.bincount(codes, z) ** 2).sum() - z @ z)
    return pairs / centred if centred > 0 else 0.0


def _of_scores(rates: tuple[Floats, Floats], covariance: float, pairs: Floats) -> tuple[float, Floats]:
    """Correlation of normal scores that gives the covariance, and the levels: rare gains have smaller covariances."""

    def levels(correlation: float) -> Floats:
        common = np.sqrt(correlation) * ndtri((np.arange(N_LEVELS) + 0.5) / N_LEVELS)
        alone = np.sqrt(1 - correlation)
        plus, minus = (
            ndtr((ndtri(rate)[:, None] + side * common) / alone) for rate, side in zip(rates, (-1, 1), strict=True)
        )
        return np.asarray(plus - minus - (plus - minus).mean(axis=1, keepdims=True))

    low, high = 0.0, GREATEST
    if covariance <= 0:
        return 0.0, levels(0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        at = levels(middle)
        if float((pairs * (at @ at.T)).sum()) / N_LEVELS < covariance:
            low = middle
        else:
            high = middle
    return high, levels(high)


def _effective(amounts: NDArray[Any]) -> float:
    """Kish's effective number of equal amounts; 0 if all are 0."""
    total = float((amounts**2).sum())
    return float(amounts.sum()) ** 2 / total if total > 0 else 0.0


# EECE (gain) from the deviations of mean gain and mean estimate in bins: plug-in and debiased, with intervals.


@final
@dataclass(frozen=True, eq=False)
class GainDeviations:
    """Gain minus estimate of each instance, (n,), its mean in each bin, (M,), and their standard errors."""

    values: Floats
    means: Floats
    place: NDArray[np.intp]
    null: GainNull
    units: Units

    @property
    def weights(self) -> Floats:
        """n_m / n, ``(M,)``."""
        return self.null.count / self.values.size

    @property
    def plug_in(self) -> float:
        """Σ w_m |d_m|."""
        return float(self.weights @ np.abs(self.means))

    def debiased(self, draws: Floats) -> float:
        """Σ w_m |d_m| without its excess; the null draws ``(B, M)`` give the scale of the excess of counts."""
        scale = excess_scale(draws) if self.null.rates is not None else 1.0
        return float(self.weights @ debiased_absolute(self.means, self.null.standard_error, scale))

    def reaches(self, level: float) -> Floats:
        """Half widths of the intervals of the plug-in and the debiased error, and the greatest bias of the latter."""
        if self.units.n_units == 1:
            return np.full(3, np.nan)
        w, se = self.weights, self.null.standard_error
        z = self.means / np.where(se > 0, se, 1.0)
        ratio = np.sqrt(np.maximum(z**2 - 1, 0.0))  # d² − s² estimates the square of the true mean
        between = float(w @ (np.abs(self.means) - self.plug_in) ** 2) / self.values.size
        within = [float((w * se) ** 2 @ of(ratio)) for of in (variance_of_absolute, variance_of_debiased)]
        # influence on the plug-in error where all true means are far from 0
        influence = np.sign(self.means)[self.place] * self.values - self.plug_in
        spread, effect = spread_of_mean(influence, self.units), 1.0
        if self.units.codes is not None:  # groups in several bins
            alone = float((w * se) @ (w * se)) + between
            effect = max(spread.standard_error**2 / alone, 1.0) if alone > 0 else 1.0
            within[0] = max(
                within[0], alone - between
            )  # an error in common makes |d_m| of all bins small or great together
        quantile = float(special.stdtrit(spread.dof, 0.5 + level / 2))
        half = quantile * np.sqrt((np.array(within) + between) * effect)
        return np.append(half, w @ (se * greatest_bias(z)))

    def estimates(
        self, draws: Floats, factor: float, level: float, notes: tuple[Note, ...]
    ) -> tuple[Estimate, Estimate]:
        """The plug-in and the debiased error, times the factor of the normalisation."""
        half, half_debiased, bias = self.reaches(level).tolist()
        value, debiased, n = self.plug_in, self.debiased(draws), self.values.size
        low = half if np.isnan(half) else max(value - half, 0.0)
        return Estimate(
            value * factor,
            low=low * factor,
            high=(value + half) * factor,
            level=level,
            n=n,
            method="folded normal",
            notes=notes,
        ), Estimate(
            debiased * factor,
            low=(debiased - half_debiased) * factor,
            high=(debiased + half_debiased + bias) * factor,
            level=level,
            n=n,
            method="debiased folded normal",
            notes=notes,
        )


def gain_intervals(
    g: Floats, place: NDArray[np.intp], mean: Floats, null: GainNull, level: float
) -> tuple[Floats, Floats]:
    """Interval of the mean gain in each bin: Tango's for gains of −1, 0 and 1, else Student's t."""
    n, m = null.count, len(null.count)
    if null.rates is not None:
        # groups leave fewer independent instances
        plus, minus = (np.bincount(place[sign * g > 0], minlength=m) / null.design_effect for sign in (1, -1))
        return matched_difference_interval(plus, minus, n / null.design_effect, level=level)
    square = np.bincount(place, (g - mean[place]) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        se = np.sqrt(square / (n - 1) / n * null.design_effect)  # nan for one instance
        reach = special.stdtrit(np.maximum(n - 1, 1.0), 0.5 + level / 2) * se
    return mean - reach, mean + reach


def debiased_square(deviation: Floats, place: NDArray[np.intp], units: Units) -> float:
    """Σ w_m d_m² from the products of different instances (groups) of each bin."""
    n, total = np.bincount(place).astype(np.float64), np.bincount(place, deviation)
    if units.codes is None:
        own, sizes = np.bincount(place, deviation**2), n
    else:
        m = len(n)
        cell = units.codes * m + place
        sums = np.bincount(cell, deviation, minlength=units.n_units * m).reshape(-1, m)
        counts = np.bincount(cell, minlength=units.n_units * m).reshape(-1, m)
        own, sizes = (sums**2).sum(axis=0), (counts.astype(np.float64) ** 2).sum(axis=0)
    pairs = n**2 - sizes
    held = pairs > 0
    if not held.any():
        return float("nan")
    terms = (total[held] ** 2 - own[held]) / pairs[held]
    return float(n[held] @ terms / n.sum())


# Intervals of an uncertainty estimate that divide the instances into bins, with any ties.

GainBinning = Literal["equal-mass", "equal-width"]

BINNINGS = ("equal-mass", "equal-width")
MOST_BINS = 2**15


def gain_bins(epistemic: ArrayLike, bins: int = 20, binning: GainBinning = "equal-mass") -> Floats:
    """Edges of intervals that divide instances by their estimate of epistemic uncertainty.

    Parameters
    ----------
    epistemic : array (n,)
        Finite estimates.
    bins : int
        Greatest number of intervals M.
    binning : {"equal-mass", "equal-width"}
        "equal-mass": interval j starts at the estimate of rank ⌊n j/M⌋ of n, and equal starts make one interval. Ties
        therefore never fall in two intervals, and the result does not depend on the order of rows. "equal-width": equal
        parts of the range from the least to the greatest estimate; some can be empty.

    Returns
    -------
    edges : array (M' + 1,), M' ≤ M
        Interval m is [edge_m, edge_{m+1}); the last one includes its upper edge. It can be one value alone, so the last two
        edges can be equal. If all estimates are equal there is one interval.

    References
    ----------
    Epistemic gain, section 5.2, step 3 (twenty intervals with roughly the same number of points).

    Examples
    --------
    >>> gain_bins([0.1, 0.2, 0.3, 0.4], bins=2).tolist()
    [0.1, 0.3, 0.4]
    >>> gain_bins([0.0, 0.0, 0.0, 0.5], bins=4).tolist(), gain_bins([0.5, 0.5], bins=4).tolist()
    ([0.0, 0.5, 0.5], [0.5, 0.5])
    >>> gain_bins([0.0, 0.1, 1.0], bins=2, binning="equal-width").tolist()
    [0.0, 0.5, 1.0]
    """
    values = finite_values(epistemic, "epistemic")
    one_of(binning, "binning", BINNINGS)
    whole(bins, "bins", "pass 20, say", least=1, most=MOST_BINS)
    m, n = int(bins), values.size
    rising = np.sort(values)
    if rising[0] == rising[-1]:
        return rising[[0, -1]]
    if binning == "equal-mass":
        return np.append(np.unique(rising[np.arange(m) * n // m]), rising[-1])
    edges = np.linspace(rising[0], rising[-1], m + 1)
    return edges if m == 1 else np.append(np.unique(edges[:-1]), rising[-1])  # a range of few floats has fewer edges


def checked_edges(edges: ArrayLike | Sequence[float], name: str = "bins") -> Floats:
    """Edges (M + 1,) that rise; the last two can be equal, and the outer two infinite."""
    array = as_floats(edges, name, ndim=(1,), shape="(M + 1,)")
    rising = array.size >= 2 and bool((array[1:-1] > array[:-2]).all()) and bool(array[-1] >= array[-2])
    if not rising or np.isinf(array[1:-1]).any():
        fail(
            name,
            "must be rising edges of at least one interval; the last two can be equal",
            f"got {array.size} values such as {array[:4].tolist()}",
            "pass a number of bins, or edges such as those of gain_bins",
            code="range",
        )
    return array


def place_in_intervals(values: Floats, edges: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Interval of each value, where the outer ones have no end, and whether a value lies outside the edges."""
    inside = edges[1:-1]
    place = np.searchsorted(inside, values, side="right").astype(np.intp)
    return place, (values < edges[0]) | (values > edges[-1])


def finite_values(values: Any, name: str, n: int | None = None, other: str = "") -> Floats:
    """Finite numbers (n,); `n` is the number of values of `other`."""
    array = as_floats(values, name, ndim=(1,), shape="(n,)")
    if n is not None:
        same_length(array, name, n, "take the same instances in the same order", of=f"value of {other}")
    if np.isinf(array).any():
        row = int(np.isinf(array).argmax())
        fail(
            name,
            "values must be finite",
            f"row {row} holds {array[row]}",
            "leave out those instances or give them a value",
            code="finite",
        )
    return array


# EECE (gain): distance of estimates of epistemic uncertainty from the mean gain in bins, with a test of calibration.

GainNormalisation = Literal["points", "printed"]

N_DRAWS = 2000
FEW = 20  # gains other than 0; fewer get a note
ROUNDING = 1e-12  # relative; a null draw this close to the observed value reaches it


@final
@dataclass(frozen=True, eq=False)
class EpistemicCalibration:
    """Calibration of estimates of epistemic uncertainty in M bins."""

    #: EECE (gain), which lies above 0 on average even for calibrated estimates. Its interval is for the mean of this value over
    #: test sets of n instances, which includes that excess.
    error: Estimate
    #: the same without the excess; it can be negative. Its interval is for the error of an infinite test set in these bins, and
    #: its upper end allows for the greatest bias.
    debiased: Estimate
    #: Σ w_m d_m² without the excess, and without bias at any d_m; it can be negative. From products of different instances (or
    #: groups) of a bin; nan if no bin has two. Not scaled by the normalisation.
    debiased_square: float
    #: where `error` of perfectly calibrated estimates lies with probability `level`; nan where there is no test
    null_band: tuple[float, float]
    null_mean: float  #: mean of `error` of perfectly calibrated estimates
    pvalue: float  #: P-value of perfect calibration in the bins, against a greater `error`. nan if the gains lie in few groups.
    edges: Floats  #: (M + 1,): interval m is [edge_m, edge_{m+1}); the last one includes its upper edge
    count: NDArray[np.intp]  #: (M,): instances in each bin
    #: (M,): means in each bin; nan where it is empty
    mean_epistemic: Floats
    mean_gain: Floats
    #: (M,): confidence interval of the mean gain of each bin (pointwise)
    gain_low: Floats
    gain_high: Floats
    n_empty: int  #: empty bins, which are left out of the sum
    #: the options. Given edges have the binning "given".
    binning: str
    normalisation: str
    level: float
    notes: tuple[Note, ...] = ()

    @property
    def n_bins(self) -> int:
        """Number of bins M, with the empty ones."""
        return len(self.count)

    def reject(self, alpha: float = 0.05) -> bool:
        """True if perfect calibration is rejected at this level; False if there is no p-value."""
        return self.pvalue <= alpha


@in_one_order("gain", "epistemic", "groups")
def epistemic_calibration_error(
    gain: ArrayLike,
    epistemic: ArrayLike,
    *,
    bins: int | ArrayLike = 20,
    binning: GainBinning = "equal-mass",
    normalisation: GainNormalisation = "points",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: RandomState = None,
) -> EpistemicCalibration:
    """EECE (gain): mean distance of the estimate of epistemic uncertainty from the gain, over bins of the estimate.

    Parameters
    ----------
    gain : array (n,)
        Gains of `metrics.gain`, under any loss.
    epistemic : array (n,)
        Estimates in the units of the gain: for the zero-one loss a loss of accuracy from 0 to 1. Entropies and mutual
        informations are in nats in the paper.
    bins : int or array (M + 1,)
        Greatest number of bins, as in `gain_bins`, or their edges, such as ``numpy.linspace(0, 1, 21)``.
    binning : {"equal-mass", "equal-width"}
        As in `gain_bins`. Ignored if edges are given.
    normalisation : {"points", "printed"}
        "points": (1/n) Σ n_m |d_m|, the mean over the points. "printed": (1/M) Σ n_m |d_m|, as in definition 5 of the paper,
        whose text and tables need the first; it is greater by the factor n/M.
    groups : array of labels (n,), optional
        Instances of one group may depend on each other; groups are independent.
    level : float
        Level of the intervals and of the null band.
    rng : int or numpy Generator, optional
        For the null draws; None means seed 0.

    Notes
    -----
    d_m is the mean gain minus the mean estimate in bin m, s_m its standard error, and w_m = n_m/n.

    **Null.** If the estimates are calibrated, d_m has the mean 0. Gains of −1, 0 and 1 are drawn with the maximum likelihood
    rates P(+1) and P(−1) of each bin, given that their difference is the mean estimate; other gains are normal with the mean
    of (gain − estimate)² as variance. With groups, the normal scores of gains of −1, 0 and 1 have a common correlation in a
    group, estimated by the method of moments; so the gains themselves are more correlated in bins that have more of them, and
    rare ones are skewed. Other gains have a common intraclass correlation. `pvalue` counts the 2,000 draws of
    Σ w_m |d_m| that reach the observed one.

    **Few groups.** There is no test where the gains lie in fewer than 5 groups, by Kish's effective number
    (Σ a_g)² / Σ a_g² with a_g = Σ |gain| in group g: the correlation cannot be estimated from so few. Where gains are rare and
    go together in groups of hundreds of instances, the test rejects calibrated estimates in up to 14 % at 5 %.

    **Debiased value.** Σ w_m (|d_m| − κ_m (2/√π) s_m exp(−d_m²/2 s_m²)). If d_m is normal with the true mean 0, the mean of the
    second term is that of the first with κ_m = 1; for counts κ_m is found from the null draws. So the mean is near 0 for
    calibrated estimates, and above 0 in bins of few instances. For true deviations of .5, 1, 2, 3 and 4 s_m the bias of a term
    is −.35, −.45, −.28, −.08 and −.01 s_m, that of |d_m| .40, .17, .02, .00 and .00 s_m. No estimate is without bias
    everywhere, because |·| has a corner. `debiased_square` has no bias anywhere.

    **The name.** Hoarau et al. (2026), "Epistemic calibration", use EECE for another quantity: whether the spread of a
    second-order prediction matches the spread of the truth, given the whole second-order prediction. Where both could be
    meant, write "EECE (gain)" for this one.

    Measured type-I errors and coverages are in docs/evidence-gain.md.

    References
    ----------
    Epistemic gain, definition 5 and section 5.2.

    Examples
    --------
    >>> gains, estimates = [0, 0, 0, 1, 1, -1, 1, 1], [0.1, 0.1, 0.1, 0.1, 0.5, 0.5, 0.5, 0.5]
    >>> found = epistemic_calibration_error(gains, estimates)
    >>> round(found.error, 3), found.edges.tolist(), found.mean_gain.tolist()
    (0.075, [0.1, 0.5, 0.5], [0.25, 0.5])
    """
    check_level(level)
    one_of(normalisation, "normalisation", ("points", "printed"))
    e = finite_values(epistemic, "epistemic")
    g = finite_values(gain, "gain", e.size, "epistemic")
    units = make_units(e.size, groups, None)
    edges, binning_name = _edges(e, bins, binning)
    return _in_bins(g, e, _placed(e, edges), _Options(edges, binning_name, normalisation, units, float(level), rng))


@in_one_order("gain", "mapped", "epistemic", "groups")
def mapped_calibration_error(
    gain: ArrayLike,
    mapped: ArrayLike,
    epistemic: ArrayLike,
    *,
    edges: ArrayLike,
    normalisation: GainNormalisation = "points",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: RandomState = None,
) -> EpistemicCalibration:
    """EECE (gain) of mapped estimates, in the intervals of the estimates before the map.

    A map can make estimates of several intervals equal; these intervals stay apart here, as in the paper.

    Parameters
    ----------
    gain : array (n,)
    mapped : array (n,)
        Estimates after the map, such as those of `calibration.EpistemicMap`.
    epistemic : array (n,)
        Estimates before the map.
    edges : array (M + 1,)
        Intervals of `epistemic`, such as ``EpistemicCalibration.edges``; they are the edges of the result.
    normalisation, groups, level, rng
        As in `epistemic_calibration_error`.

    References
    ----------
    Epistemic gain, section 5.2, steps 3 to 5.

    Examples
    --------
    >>> gains, estimates = [0, 0, 0, 1], [0.1, 0.2, 0.6, 0.8]
    >>> found = mapped_calibration_error(gains, [0.25] * 4, estimates, edges=[0.0, 0.5, 1.0])
    >>> found.mean_epistemic.tolist(), found.mean_gain.tolist()
    ([0.25, 0.25], [0.0, 0.5])
    """
    check_level(level)
    one_of(normalisation, "normalisation", ("points", "printed"))
    e = finite_values(epistemic, "epistemic")
    g, after = (finite_values(a, name, e.size, "epistemic") for a, name in ((gain, "gain"), (mapped, "mapped")))
    units, checked = make_units(e.size, groups, None), checked_edges(edges, "edges")
    options = _Options(checked, "given", normalisation, units, float(level), rng)
    return _in_bins(g, after, _placed(e, checked), options)


@dataclass(frozen=True, eq=False)
class _Options:
    edges: Floats
    binning: str
    normalisation: str
    units: Units
    level: float
    rng: RandomState


def _in_bins(g: Floats, e: Floats, place: NDArray[np.intp], options: _Options) -> EpistemicCalibration:
    """Calibration of estimates e in given bins."""
    units, level = options.units, options.level
    count = np.bincount(place, minlength=len(options.edges) - 1)
    held = count > 0
    place = (np.cumsum(held) - 1)[place]  # numbers of the bins that hold an instance
    null = gain_null(g, e, place, units)
    n = null.count
    mean_e, mean_g = np.bincount(place, e) / n, np.bincount(place, g) / n
    factor = e.size / len(count) if options.normalisation == "printed" else 1.0
    notes = tuple(calibration_notes(g, mean_e, count, null, units))
    draws = null.draws(N_DRAWS, generator(options.rng))
    deviations = GainDeviations(g - e, mean_g - mean_e, place, null, units)
    plug_in, debiased = deviations.estimates(draws, factor, level, notes)
    low, high = gain_intervals(g, place, mean_g, null, level)
    told = units.n_units > 1 and null.spread >= LEAST_GROUPS
    by_chance = np.abs(draws) @ (n / e.size) * factor if told else np.full(N_DRAWS, np.nan)
    band = np.quantile(by_chance, (0.5 - level / 2, 0.5 + level / 2))
    exceed = int((by_chance >= float(plug_in) * (1 - ROUNDING)).sum())
    return EpistemicCalibration(
        error=plug_in,
        debiased=debiased,
        debiased_square=debiased_square(g - e, place, units),
        null_band=(float(band[0]), float(band[1])),
        null_mean=float(by_chance.mean()),
        pvalue=(1 + exceed) / (1 + N_DRAWS) if told else np.nan,
        edges=options.edges,
        count=count,
        mean_epistemic=_spread_out(mean_e, held),
        mean_gain=_spread_out(mean_g, held),
        gain_low=_spread_out(low, held),
        gain_high=_spread_out(high, held),
        n_empty=int((~held).sum()),
        binning=options.binning,
        normalisation=options.normalisation,
        level=level,
        notes=notes,
    )


# -- bins -------------------------------------------------------------------------------------------------------------


def _edges(e: Floats, bins: int | ArrayLike | Sequence[float], binning: GainBinning) -> tuple[Floats, str]:
    if bins is None or np.ndim(bins) == 0:
        return gain_bins(e, bins, binning), binning  # type: ignore[arg-type]
    return checked_edges(bins), "given"


def _placed(e: Floats, edges: Floats) -> NDArray[np.intp]:
    place, outside = place_in_intervals(e, edges)
    if outside.any():
        row = int(outside.argmax())
        fail(
            "epistemic",
            f"values must lie inside the edges, {edges[0]:g} to {edges[-1]:g}",
            f"{counted(int(outside.sum()), 'value')} outside, the first in row {row} is {e[row]:g}",
            "widen the edges, or pass a number of bins",
            code="range",
            facts={"row": row},
        )
    return place


def _spread_out(values: Floats, held: NDArray[np.bool_]) -> Floats:
    """Values of the bins that hold an instance among all bins; nan for the others."""
    out = np.full(held.shape, np.nan)
    out[held] = values
    return out


# -- notes ------------------------------------------------------------------------------------------------------------


def calibration_notes(g: Floats, mean_e: Floats, count: NDArray[np.intp], null: GainNull, units: Units) -> list[Note]:
    """Remarks on a calibration in bins, from the gains, the mean estimates, the instances of all bins, and the null."""
    notes = interval_notes(units)
    if units.n_units > 1 and null.spread < LEAST_GROUPS:
        text = (
            f"no test of calibration, because the gains other than 0 lie in few groups (they count like "
            f"{written(null.spread, 1)}, and {written(LEAST_GROUPS, 0)} are needed)"
        )
        notes.append(Note("no-test", text, {"groups": null.spread}))
    empty = int((count == 0).sum())
    if empty:
        notes.append(Note("left-out", f"{empty} of {len(count)} bins are empty and left out", {"empty": empty}))
    if len(count) == 1 and g.size > 1:
        notes.append(Note("constant-scores", "all estimates are in one bin: only their mean is compared with the gain"))
    if null.rates is not None:
        changed = int((g != 0).sum())
        if changed < FEW:
            text = f"{counted(changed, 'gain') if changed else 'no gain'} other than 0: rough intervals"
            notes.append(Note("few" if changed else "none", text, {"count": changed}))
        beyond = int((np.abs(mean_e) > 1).sum())
        if beyond:
            text = f"the mean estimate lies outside [−1, 1] in {counted(beyond, 'bin')}: no gain can reach it"
            notes.append(Note("edge", text, {"bins": beyond}))
    return notes


# Epistemic correlation: do estimates of epistemic uncertainty order the instances as the gain does?


@in_one_order("gain", "epistemic", "groups")
def epistemic_correlation_score(
    gain: ArrayLike,
    epistemic: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Spearman's correlation of the estimates of epistemic uncertainty with the gain. Higher is better.

    Parameters
    ----------
    gain : array (n,)
        Gains of `metrics.gain`, under any loss.
    epistemic : array (n,)
        Estimates, of which only the order counts.
    groups, level
        As in `spearman_estimate`.

    Returns
    -------
    estimate : Estimate
        nan with a note if all gains or all estimates are equal.

    Notes
    -----
    Most zero-one gains are 0, and ties get their average rank. So even estimates that order the instances perfectly have a
    correlation far below 1: √(3 p (1 − p)) if a share p of the gains is 1 and the others are 0, which is .38 for p = .05.
    Compare estimates on the same instances. The interval is that of `spearman_estimate`, which holds under ties
    (tests/metrics/test_epistemic_gain_error_rates.py).

    References
    ----------
    Epistemic gain, definition 6.

    Examples
    --------
    >>> found = epistemic_correlation_score([0, 0, 1, -1, 0, 1], [0.1, 0.2, 0.5, 0.1, 0.3, 0.6])
    >>> round(found, 4)
    0.8767
    """
    return named_spearman_estimate(epistemic, gain, ("epistemic", "gain"), groups, level)


# Delay curve: what is gained if the most uncertain share of the cases waits for the model with more data.

SHARES = np.arange(21) / 20
WINDOW = 0.05  # greatest half width, in shares, of the window for the mean gain near the threshold


@final
@dataclass(frozen=True, eq=False)
class DelayCurve:
    """Gain from letting the most uncertain share of the cases wait."""

    gains: Floats  #: (n,)
    epistemic: Floats  #: (n,): estimate of each case
    shares: Floats  #: (S,): shares that wait, from 0 to 1
    groups: NDArray[Any] | None = None  #: (n,): number of the group of each case
    level: float = 0.95
    #: (n,): 1 where the model without or with more data predicts the label, for `accuracy`
    correct_before: Floats | None = None
    correct_after: Floats | None = None
    #: (S,): decrease of the mean loss over all cases, and its confidence interval at each share (pointwise)
    gained: Floats = field(init=False)
    low: Floats = field(init=False)
    high: Floats = field(init=False)

    def __post_init__(self) -> None:
        for name, values in zip(("gained", "low", "high"), self._waiting.gained(self.shares, self.level), strict=True):
            object.__setattr__(self, name, values)

    @property
    def random(self) -> Floats:
        """Expected decrease of the mean loss if the cases that wait are chosen at random, (S,)."""
        return np.asarray(self.shares * self.gains.mean())

    @property
    def accuracy(self) -> Floats:
        """Accuracy over all cases at each share, (S,)."""
        if self.correct_before is None or self.correct_after is None:
            return np.full(self.shares.shape, np.nan)
        change = self.correct_after - self.correct_before
        waiting = [float((self._waiting.at(share)[0] * change).mean()) for share in self.shares.tolist()]
        return np.asarray(self.correct_before.mean() + np.array(waiting))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on few gains, equal estimates and groups."""
        return self._waiting.notes

    def at(self, share: float) -> Estimate:
        """Decrease of the mean loss over all cases if this share waits."""
        number(share, "share", "pass 0.1 to let the most uncertain tenth wait", low=0, high=1)
        value, low, high = (float(part[0]) for part in self._waiting.gained(np.array([float(share)]), self.level))
        return Estimate(
            value,
            low=low,
            high=high,
            level=self.level,
            n=self.gains.size,
            method=self._waiting.method,
            notes=self.notes,
        )

    def above_random(self, share: float) -> Estimate:
        """Decrease of the mean loss minus that of a random choice of as many cases, on the same cases."""
        number(share, "share", "pass 0.1 to let the most uncertain tenth wait", low=0, high=1)
        return self._waiting.above_random(float(share), self.level)

    @cached_property
    def _waiting(self) -> "_Waiting":
        return _Waiting(self.gains, self.epistemic, make_units(self.gains.size, self.groups, None))


@in_one_order("before", "y_true", "after", "epistemic", "groups")
def delay_curve(
    y_true: ArrayLike,
    before: PredictionLike,
    after: PredictionLike,
    epistemic: ArrayLike,
    *,
    shares: ArrayLike | None = None,
    loss: GainLoss = "zero-one",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> DelayCurve:
    """Decrease of the mean loss when the most uncertain share of the cases waits for the model with more data.

    Parameters
    ----------
    y_true, before, after, loss
        As in `gain`.
    epistemic : array (n,)
        Estimates of the epistemic uncertainty of `before`; only their order counts.
    shares : array (S,), optional
        Shares that wait, in [0, 1]. The default is 0, .05, …, 1.
    groups : array of labels (n,), optional
        Instances of one group may depend on each other; groups are independent.
    level : float

    Notes
    -----
    The cases that wait get the answer of `after`, the others keep that of `before`. Of cases tied at the threshold each one
    waits with the same probability, and the curve is the expectation, so it does not depend on the order of rows.

    With the share ω_i of case i that waits and the mean gain γ of the cases near the threshold, the influence of case i on the
    gain at share x is g_i ω_i + γ (x − ω_i) minus their mean; the second term accounts for the estimated threshold. If all
    gains are −1, 0 or 1, the interval is Tango's for a difference of two matched proportions, with the number of independent
    cases that has the variance of the influences, and `above_random` combines those of the cases that wait and of the others
    by Newcombe's method; otherwise both are Student's t. Intervals hold at each share by itself, not for the whole curve.
    Measured coverage: docs/evidence-gain.md.

    References
    ----------
    Epistemic gain, sections 2 and 4.1 (delayed predictions). Tango (1998) and Newcombe (1998), Stat. Med. 17.

    Examples
    --------
    >>> curve = delay_curve([1, 1, 0, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0.4, 0.1, 0.2, 0.3], shares=[0, 0.25, 0.5, 1])
    >>> curve.gained.tolist(), curve.random.tolist(), curve.accuracy.tolist()
    ([0.0, 0.25, 0.5, 0.5], [0.0, 0.125, 0.25, 0.5], [0.5, 0.75, 1.0, 1.0])
    """
    gains = gain(y_true, before, after, loss=loss)
    wrong = losses_of_both(y_true, before, after, "zero-one")
    return delay_curve_of_gains(
        gains,
        epistemic,
        shares=shares,
        groups=groups,
        level=level,
        correct_before=1 - wrong[0],
        correct_after=1 - wrong[1],
    )


@in_one_order("gains", "epistemic", "groups", "correct_before", "correct_after")
def delay_curve_of_gains(
    gains: ArrayLike,
    epistemic: ArrayLike,
    *,
    shares: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    correct_before: ArrayLike | None = None,
    correct_after: ArrayLike | None = None,
) -> DelayCurve:
    """`delay_curve` from the gains themselves.

    Parameters
    ----------
    gains : array (n,)
        Gains of `metrics.gain`.
    epistemic, shares, groups, level
        As in `delay_curve`.
    correct_before, correct_after : array (n,), optional
        1 or True where the model predicts the label; both are needed for `DelayCurve.accuracy`.

    Examples
    --------
    >>> delay_curve_of_gains([1, 0, 0, 0], [0.9, 0.5, 0.5, 0.1], shares=[0.25, 0.5]).gained.tolist()
    [0.25, 0.25]
    """
    check_level(level)
    g = finite_values(gains, "gains")
    e = finite_values(epistemic, "epistemic", g.size, "gains")
    x = SHARES.copy() if shares is None else as_floats(shares, "shares", ndim=(1,), shape="(S,)")
    for share in x.tolist():
        number(share, "shares", "pass 0.1 to let the most uncertain tenth wait", low=0, high=1)
    hits = [
        None if given is None else finite_values(given, name, g.size, "gains")
        for name, given in (("correct_before", correct_before), ("correct_after", correct_after))
    ]
    codes = make_units(g.size, groups, None).codes
    return DelayCurve(g, e, x, codes, float(level), *hits)


class _Waiting:
    """Cases from the most to the least uncertain, in blocks of equal estimates."""

    def __init__(self, gains: Floats, epistemic: Floats, units: Units) -> None:
        self.gains, self.units, self.n = gains, units, gains.size
        # block 0 has the greatest estimate
        self.block, count = np.unique(-epistemic, return_inverse=True, return_counts=True)[1:]
        self.ends = np.cumsum(count) / self.n  # share that waits if whole blocks up to this one do
        sums = np.bincount(self.block, gains)
        self.sums = np.concatenate([[0.0], np.cumsum(sums)]) / self.n
        self.whole = bool(np.isin(gains, (-1.0, 0.0, 1.0)).all())

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        notes = interval_notes(self.units)
        if len(self.ends) == 1 and self.n > 1:
            notes.append(Note("constant-scores", "all estimates are equal: the cases that wait are a random choice"))
        changed = int((self.gains != 0).sum())
        if changed < FEW:
            text = f"{counted(changed, 'gain') if changed else 'no gain'} other than 0: rough intervals"
            notes.append(Note("few" if changed else "none", text, {"count": changed}))
        return tuple(notes)

    def at(self, share: float) -> tuple[Floats, float]:
        """Probability that each case waits, (n,), and the mean gain of the cases near the threshold."""
        k = int(np.searchsorted(self.ends, share * (1 - ROUNDING)))
        start = float(self.ends[k - 1]) if k else 0.0
        inside = min(max((share - start) / float(self.ends[k] - start), 0.0), 1.0)
        waits = np.where(self.block < k, 1.0, np.where(self.block == k, inside, 0.0))
        half = min(WINDOW, 0.5 * len(self.ends) ** (-1 / 3))
        low, high = max(share - half, 0.0), min(share + half, 1.0)
        level = np.interp([low, high], np.concatenate([[0.0], self.ends]), self.sums)
        return waits, float(level[1] - level[0]) / (high - low)

    @property
    def method(self) -> str:
        return "tango" if self.whole else "linearised, student-t"

    def gained(self, shares: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Gain at each share, (S,), and the ends of its interval."""
        parts = [self._part(*self.at(share)) for share in shares.tolist()]
        low, high = self._intervals(parts, level)
        return (
            np.array([part.value for part in parts]),
            np.where(shares == 0, 0.0, low),
            np.where(shares == 0, 0.0, high),
        )

    def above_random(self, share: float, level: float) -> Estimate:
        """(1 − x) times the gain of the cases that wait minus x times that of the others."""
        waits, near = self.at(share)
        first, second = self._part(waits, near), self._part(1 - waits, near)
        value = (1 - share) * first.value - share * second.value
        if not self.whole:
            return self._student(value, (1 - share) * first.influence - share * second.influence, level)
        (low_a, low_b), (high_a, high_b) = self._intervals([first, second], level)
        u, v = (self.units.sums(part.influence[:, np.newaxis])[:, 0] for part in (first, second))
        size = float(np.sqrt((u @ u) * (v @ v)))
        correlation = float(u @ v) / size if size > 0 else 0.0

        def reach(a: float, b: float) -> float:  # Newcombe's method for a difference
            a, b = (1 - share) * a, share * b
            return float(np.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0)))

        low = value - reach(first.value - low_a, high_b - second.value)
        high = value + reach(high_a - first.value, second.value - low_b)
        if share in (0.0, 1.0):  # no choice
            low = high = value = 0.0
        return Estimate(value, low=low, high=high, level=level, n=self.n, method="tango and newcombe", notes=self.notes)

    def _part(self, waits: Floats, near: float) -> "_Part":
        """Contribution of a part of the cases to the mean gain; `waits` is the probability of each case to be in it."""
        products = self.gains * waits
        value = float(products.mean())
        plus, minus = (float(waits[sign * self.gains > 0].sum()) for sign in (1, -1))
        # the second term, for the estimated threshold, has the mean 0
        return _Part(value, plus, minus, products - value + near * (waits.mean() - waits))

    def _intervals(self, parts: Sequence["_Part"], level: float) -> tuple[Floats, Floats]:
        """Ends of the interval of each part."""
        if self.units.n_units == 1:
            return np.full(len(parts), np.nan), np.full(len(parts), np.nan)
        if not self.whole:
            found = [self._student(part.value, part.influence, level) for part in parts]
            return np.array([one.low for one in found]), np.array([one.high for one in found])
        value, plus, minus = (np.array([getattr(part, name) for part in parts]) for name in ("value", "plus", "minus"))
        n = np.array([self._independent(part, level) for part in parts])
        low, high = matched_difference_interval(plus * n / self.n, minus * n / self.n, n, level=level)
        return np.minimum(low, value), np.maximum(high, value)

    def _independent(self, part: "_Part", level: float) -> float:
        """Number of independent cases whose gains of −1, 0 and 1 would have the variance of the influences."""
        plain = (part.plus + part.minus) / self.n - part.value**2  # variance of one case
        spread = spread_of_mean(part.influence, self.units)
        known = plain > 0 and spread.standard_error > 0
        n = min(plain / spread.standard_error**2, float(self.n)) if known else float(self.units.n_units)
        # fewer cases stand for the wider quantile of Student's t with few groups
        return n * float(special.ndtri(0.5 + level / 2) / special.stdtrit(spread.dof, 0.5 + level / 2)) ** 2

    def _student(self, value: float, influence: Floats, level: float) -> Estimate:
        centred = influence - influence.mean()
        found = linearised_estimate(
            Linearised(value, centred, uneven=True),
            groups=self.units.codes,
            level=level,
            method="linearised, student-t",
        )
        return Estimate(
            value, low=found.low, high=found.high, level=level, n=self.n, method=found.method, notes=self.notes
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """Mean over all cases of the gain in a part of them, the numbers of +1 and −1 in it, and the influences (n,)."""

    value: float
    plus: float
    minus: float
    influence: Floats
