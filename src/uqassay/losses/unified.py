"""Unified evaluation loss (paper 000): E = distance of the label to the credal set + λ · non-specificity of the set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState
from uqassay.credal.distance import DISTANCES
from uqassay.errors import InputError
from uqassay.losses.label_distance import FLOORS, from_upper, label_distance, labels_of
from uqassay.measures.clipped_masses import for_each_clipped_sum
from uqassay.measures.credal_entropy import credal_uncertainty
from uqassay.measures.hartley import Nonspecificity, hartley_weights, imprecision_and_label
from uqassay.measures.nonspecificities import check_convention
from uqassay.measures.nonspecificities import nonspecificity as named_nonspecificity
from uqassay.predictions import Point, Prediction, PredictionLike, as_prediction, keeps_arrays
from uqassay.predictions.swapped import refuse_swapped

__all__ = ["DEFAULT_TRADEOFF", "UnifiedLoss", "set_nonspecificity", "unified_loss", "unified_terms"]

Array = NDArray[np.float64]
Distance = Literal["kl", "js", "js_distance", "tv", "hellinger", "brier"]
DEFAULT_TRADEOFF = 0.5  # default λ
GREATEST_TRADEOFF = 1e100  # third powers of greater losses overflow in the tests
NONSPECIFICITIES = ("hartley", "korner", "pal", "credal-uncertainty", "credal-uncertainty-box")
OVER = {"credal-uncertainty": "set", "credal-uncertainty-box": "box"}  # the set whose entropies are compared


@dataclass(frozen=True, eq=False)
class UnifiedLoss:
    """The two terms of E for every instance, with their numerical errors.

    Attributes
    ----------
    distance, nonspecificity : array (n,)
        Nats for "kl", "js" and "hartley"; see `unified_loss` for the others.
    tradeoff : float
        λ.
    floored : int
        Number of rows whose upper probability of the label was below the floor.
    gap : array (n,)
        Certified upper bound of `distance` minus the minimum; 0 in closed form.
    nonspecificity_error : array (n,)
        Standard error of the non-specificity; 0 if exact.
    mean_nonspecificity_error : float
        Standard error that the estimated non-specificity adds to its mean; 0 if exact.
    """

    distance: Array
    nonspecificity: Array
    tradeoff: float
    floored: int
    gap: Array
    nonspecificity_error: Array
    mean_nonspecificity_error: float = 0.0

    @property
    def total(self) -> Array:
        """E = distance + λ · non-specificity, ``(n,)``."""
        return self.at(self.tradeoff)

    def at(self, tradeoff: float) -> Array:
        """E at another λ, ``(n,)``."""
        check_tradeoff(tradeoff)
        return self.distance + tradeoff * self.nonspecificity


@keeps_arrays("losses.unified_loss")
def unified_loss(
    y_true: ArrayLike,
    prediction: PredictionLike,
    *,
    tradeoff: float = DEFAULT_TRADEOFF,
    distance: Distance = "kl",
    nonspecificity: str = "hartley",
    convention: Literal["exact", "paper"] = "exact",
    focal_sets: Any = None,
    floor: float | None = None,
) -> UnifiedLoss:
    """Distance of the label to the credal set plus λ times the set's non-specificity, for every instance; lower is better.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, or label distributions / vote counts (divided by their sums).
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    tradeoff : float
        λ ≥ 0: the cost of a nat of imprecision relative to a nat of distance.
    distance : {"kl", "js", "js_distance", "tv", "hellinger", "brier"}
        KL(y‖p), Jensen-Shannon divergence, its square root, total variation, Hellinger distance, Σ(p − y)²; each minimised
        over the set. For a label, all except "brier" have a closed form in the upper probability of the label. "brier" and
        label distributions take a convex solver, whose certified gap is reported.
    nonspecificity : {"hartley", "korner", "pal", "credal-uncertainty", "credal-uncertainty-box"}
        See `measures.nonspecificity` and `measures.credal_uncertainty`, which is over the set or, as "credal-uncertainty-box",
        over its box; "pal" enters as 1 − specificity. Smets' measure is not allowed: it grows with information and is
        unbounded for precise sets.
    convention : {"exact", "paper"}
        "exact": all events, without clipping. "paper": clipped and renormalised masses, as in the authors' code.
    focal_sets : bool array (F, K), optional
        Family of events for ``convention="paper"``; all 2^K by default (K ≤ 16).
    floor : float, optional
        Least upper probability in the logarithm of KL: by default 2.2e-16 for every number type ("paper": 1e-10).
        0 gives inf.

    Returns
    -------
    UnifiedLoss
        ``.distance``, ``.nonspecificity``, ``.total``, each (n,).

    Raises
    ------
    InputError
        Labels out of range or of the wrong length, unknown names, a negative λ.

    Examples
    --------
    >>> import uqassay as uq
    >>> loss = uq.losses.unified_loss([0], uq.Intervals([[0.5, 0.25]], [[0.75, 0.5]]), tradeoff=0.5)
    >>> loss.distance.round(4).tolist(), loss.nonspecificity.round(4).tolist(), loss.total.round(4).tolist()
    ([0.2877], [0.1733], [0.3743])
    """
    check_tradeoff(tradeoff)
    check_options(distance, nonspecificity, convention, focal_sets, floor)
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    (d, gap, floored), ns = unified_terms(
        y,
        prediction,
        distance=distance,
        nonspecificity=nonspecificity,
        convention=convention,
        focal_sets=focal_sets,
        floor=floor,
    )
    return UnifiedLoss(d, ns.values, float(tradeoff), floored, gap, ns.standard_error, ns.mean_standard_error)


def check_options(distance: str, nonspecificity: str, convention: str, focal_sets: Any, floor: float | None) -> None:
    """Refuse unknown names and options that exclude each other."""
    if not isinstance(distance, str) or distance not in DISTANCES:
        raise InputError(
            "distance",
            f"must be one of {', '.join(DISTANCES)}",
            f"got {distance!r}",
            "choose one of them",
            code="choice",
        )
    if not isinstance(nonspecificity, str) or nonspecificity not in NONSPECIFICITIES:
        raise InputError(
            "nonspecificity",
            f"must be one of {', '.join(NONSPECIFICITIES)}",
            f"got {nonspecificity!r}",
            "choose one of them",
            code="choice",
        )
    check_convention(convention, focal_sets)
    if floor is not None and not (isinstance(floor, (int, float, np.number)) and 0 <= floor < 1):
        raise InputError(
            "floor",
            "must lie in [0, 1)",
            f"got {floor!r}",
            "pass 0 for infinite distances, or a small probability",
            code="range",
        )


def check_tradeoff(tradeoff: float) -> None:
    """Refuse a λ that is not a number, negative, or so large that sums overflow."""
    # a comparison, because np.isfinite fails on integers beyond 64 bits
    if not (isinstance(tradeoff, (int, float, np.number)) and 0 <= tradeoff <= GREATEST_TRADEOFF):
        raise InputError(
            "tradeoff",
            f"must be a number from 0 to {GREATEST_TRADEOFF:g}",
            f"got {tradeoff!r}",
            "pass 0.5, or another cost of a nat of imprecision",
            code="range",
        )


def check_tradeoffs(tradeoffs: Sequence[float]) -> tuple[float, ...]:
    """One λ or several as numbers, in the order given; anything else is refused."""
    several = isinstance(tradeoffs, (Sequence, np.ndarray)) and not isinstance(tradeoffs, str)
    values: list[Any] = list(tradeoffs) if several else [tradeoffs]
    if not values:
        raise InputError("tradeoffs", "needs at least one λ", "got none", "(0.1, 0.5, 1.0) is a start", code="empty")
    for value in values:
        try:
            check_tradeoff(value)
        except InputError as problem:
            raise problem.replace(parameter="tradeoffs") from problem
    return tuple(float(value) for value in values)


def unified_terms(
    y: NDArray[Any],
    prediction: Prediction,
    *,
    distance: str,
    nonspecificity: str,
    convention: Literal["exact", "paper"],
    focal_sets: Any,
    floor: float | None,
    rng: RandomState = None,
    tolerance: float | None = None,
) -> tuple[tuple[Array, Array, int], Nonspecificity]:
    """Both terms of E for validated labels, from one pass over the masses or the points where that is possible."""
    least = FLOORS[convention] if floor is None else floor
    closed = y.ndim == 1 and distance in ("kl", "tv", "hellinger") and nonspecificity not in OVER
    if convention == "paper" and closed and not isinstance(prediction, Point):
        upper, values = np.empty(len(y)), np.empty(len(y))

        def work(rows: slice, of_sizes: Array, plausibility: Array) -> None:
            upper[rows] = plausibility[np.arange(len(plausibility)), y[rows]]
            values[rows] = of_sizes

        for_each_clipped_sum(prediction, nonspecificity, work, focal_sets)
        if nonspecificity == "pal":
            values = 1.0 - values
        return from_upper(upper, distance, least), Nonspecificity(values, np.zeros(len(y)))
    if convention == "exact" and nonspecificity == "hartley" and y.ndim == 1 and distance != "brier":
        both = imprecision_and_label(prediction, hartley_weights(prediction.n_classes), y)
        if both is not None:
            return from_upper(both[1], distance, least), both[0]
    found = label_distance(y, prediction, distance=distance, convention=convention, focal_sets=focal_sets, floor=least)
    ns = set_nonspecificity(
        prediction, nonspecificity, convention=convention, focal_sets=focal_sets, rng=rng, tolerance=tolerance
    )
    return found, ns


def set_nonspecificity(
    prediction: Prediction,
    measure: str = "hartley",
    *,
    convention: Literal["exact", "paper"] = "exact",
    focal_sets: Any = None,
    rng: RandomState = None,
    tolerance: float | None = None,
) -> Nonspecificity:
    """The non-specificity in E by name; greater is less precise."""
    if measure in OVER:
        values = credal_uncertainty(prediction, over=OVER[measure], convention=convention)
        return Nonspecificity(values, np.zeros(len(values)))
    ns = named_nonspecificity(
        prediction,
        measure,  # type: ignore[arg-type]
        convention=convention,
        focal_sets=focal_sets,
        rng=rng,
        tolerance=tolerance,
    )
    if measure == "pal":
        return ns.complement()
    return ns
