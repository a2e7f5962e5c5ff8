"""Non-specificity by name: imprecision of the credal set of each instance."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState
from uqassay._namespaces import namespace
from uqassay.credal.lower_probability import fold_sum, lattice_lower
from uqassay.credal.moebius import check_enumerable, event_sizes, zeta_transform
from uqassay.errors import InputError
from uqassay.measures.clipped_masses import ClippedMasses, for_each_clipped, for_each_clipped_sum
from uqassay.measures.hartley import (
    LATTICE_BYTES,
    Nonspecificity,
    generalised_hartley,
    imprecision,
    lattice,
    lattice_bytes,
)
from uqassay.predictions import Masses, Point, Prediction, PredictionLike, as_prediction, keeps_arrays
from uqassay.statistics.samples import check_choice

__all__ = ["NONSPECIFICITIES", "check_convention", "nonspecificity"]

Array = NDArray[np.float64]
NONSPECIFICITIES = ("hartley", "smets", "korner", "pal")
Measure = Literal["hartley", "smets", "korner", "pal"]
Convention = Literal["exact", "paper"]


@keeps_arrays("measures.nonspecificity")
def nonspecificity(
    prediction: PredictionLike,
    measure: Measure = "hartley",
    *,
    convention: Convention = "exact",
    focal_sets: Any = None,
    rng: RandomState = None,
    tolerance: float | None = None,
) -> Nonspecificity:
    """Non-specificity of every instance.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    measure : {"hartley", "smets", "korner", "pal"}
        With masses m and commonality Q(A) = Σ_{B⊇A} m(B) (paper 000, Eq. 7 and 9-11):

        * ``"hartley"``: Σ m(A) ln|A|, nats (Dubois-Prade; generalised Hartley where masses may be negative);
        * ``"smets"``: Σ_A ln(1 / Q(A)), nats; infinite if some set is contained in no focal set, and nan if an unclipped
          commonality is negative (K ≤ 16);
        * ``"korner"``: Σ m(A) |A|, from 1 to K;
        * ``"pal"``: Σ m(A) / |A|, a specificity: from 1 (precise) down to 1/K.
    convention : {"exact", "paper"}
        "exact" does not clip: all events, or the estimator for K > 16. "paper" clips and renormalises the masses.
    focal_sets : bool array (F, K), optional
        Family of events for ``convention="paper"``; all 2^K by default (K ≤ 16).
    rng, tolerance
        As in `generalised_hartley`.

    Returns
    -------
    Nonspecificity

    Raises
    ------
    InputError
        Unknown names; focal sets with the exact convention; more than 16 classes if all events are needed.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> m = uq.Masses([[0.5, 0.5]], [[0], [0, 1, 2]], n_classes=3)
    >>> float(uq.measures.nonspecificity(m).values[0].round(4)), float(uq.measures.nonspecificity(m, "korner").values[0])
    (0.5493, 2.0)
    """
    check_choice(measure, "measure", tuple(NONSPECIFICITIES))
    check_convention(convention, focal_sets)
    prediction = as_prediction(prediction)
    if convention == "paper" and not isinstance(prediction, Point):
        values = np.empty(prediction.n_instances)

        def smets(rows: slice, part: ClippedMasses) -> None:
            values[rows] = _smets_of_family(part.masses, part.focal_sets)

        def sums(rows: slice, of_sizes: Array, _: Array) -> None:
            values[rows] = of_sizes

        if measure == "smets":
            for_each_clipped(prediction, smets, focal_sets)
        else:
            for_each_clipped_sum(prediction, measure, sums, focal_sets)
        return Nonspecificity(values, np.zeros(len(values)))
    if measure == "hartley":
        return generalised_hartley(prediction, rng=rng, tolerance=tolerance)
    if measure == "smets":
        return _exactly(_smets(prediction))
    if measure == "korner":  # Σ_A m(A) |A| = Σ_c Pl({c})
        upper = prediction.upper_probs()
        return _exactly(namespace(upper).sum(upper, axis=1))
    if isinstance(prediction, Masses):
        return _exactly((prediction.checked_masses() / prediction.focal_sets.sum(axis=1)).sum(axis=1))
    # 1/|A| = ∫₀¹ t^(|A|−1) dt leads to the weights 1/k
    part_of = imprecision(prediction, 1.0 / np.arange(1, prediction.n_classes), rng=rng, tolerance=tolerance)
    return part_of.complement()


def check_convention(convention: str, focal_sets: Any) -> None:
    """Refuse an unknown convention, and a family of events with the exact convention."""
    if not isinstance(convention, str) or convention not in ("exact", "paper"):
        raise InputError(
            "convention", 'must be "exact" or "paper"', f"got {convention!r}", "choose one of them", code="choice"
        )
    if convention == "exact" and focal_sets is not None:
        raise InputError(
            "focal_sets",
            "can be set only with the paper's convention, since the exact one uses all events",
            'got a family with convention="exact"',
            'pass convention="paper", or leave focal_sets out',
            code="needs-paper-convention",
        )


def _exactly(values: Array) -> Nonspecificity:
    return Nonspecificity(values, namespace(values).zeros_like(values))


def _smets(prediction: Prediction) -> Array:
    if isinstance(prediction, Masses):
        return _smets_of_family(prediction.checked_masses().T, prediction.focal_sets)
    n_classes = prediction.n_classes
    check_enumerable(n_classes)
    sizes = event_sizes(n_classes)
    sign = np.where(sizes % 2 == 1, 1.0, -1.0)[:, None]  # (−1)^(|B|+1)
    rounding = (n_classes * np.finfo(np.float64).eps * 2.0**sizes)[:, None]  # of a sum of 2^|A| terms up to 1
    values = np.empty(prediction.n_instances)

    def work(rows: slice, part: Prediction) -> None:
        upper = 1.0 - lattice_lower(lattice(part))[::-1]  # U(B) = 1 − L(Ω∖B); the reversed order is that of complements
        # Q(A) = Σ_{∅≠B⊆A} (−1)^(|B|+1) U(B) directly from upper probabilities: going through masses would round twice
        commonality = zeta_transform(sign * upper)
        # a commonality of 0 is computed as rounding noise of either sign; its logarithm would be arbitrary
        commonality[np.abs(commonality) <= rounding] = 0.0
        values[rows] = _sum_of_logs(commonality)

    prediction.for_each_chunk(work, lattice_bytes(prediction), chunk_bytes=LATTICE_BYTES)
    return values


def _smets_of_family(masses: Array, focal_sets: NDArray[np.bool_]) -> Array:
    n_classes = focal_sets.shape[1]
    check_enumerable(n_classes)
    lattice = np.zeros((2**n_classes, masses.shape[1]))
    lattice[focal_sets @ (1 << np.arange(n_classes))] = masses
    # superset sums are subset sums over the events in reverse order
    return _sum_of_logs(zeta_transform(lattice[::-1])[::-1])


def _sum_of_logs(commonality: Array) -> Array:
    """Σ_A ln(1/Q(A)) over all events but the empty one, ``(2^K, n)`` → ``(n,)``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.0 - fold_sum(np.log(commonality[1:]))
