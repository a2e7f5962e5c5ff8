"""Distances from a target distribution: values, derivatives, and the closed form for one-hot targets.

The convex objective f of a distance is the distance itself, or its square for "js_distance" and "hellinger".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr, xlog1py, xlogy

from uqassay._namespaces import is_foreign, namespace, smallest_normal
from uqassay.errors import InputError

__all__ = [
    "DISTANCES",
    "SQUARE_ROOTS",
    "certificate_direction",
    "check_distance",
    "check_values",
    "curvature",
    "divergence",
    "objective",
    "one_hot_distance",
]

Floats = NDArray[np.float64]

DISTANCES = ("kl", "js", "js_distance", "tv", "hellinger", "brier")
SQUARE_ROOTS = ("js_distance", "hellinger")  # distances that are square roots of the convex objective
LN2 = float(np.log(2.0))


def check_distance(distance: str, floor: float) -> None:
    """Refuse an unknown distance and a floor outside [0, 1)."""
    if distance not in DISTANCES:
        raise InputError(
            "distance",
            f"must be one of {', '.join(DISTANCES)}",
            f"got {distance!r}",
            "choose one of them",
            code="choice",
        )
    if not 0 <= floor < 1:
        raise InputError(
            "floor",
            "must lie in [0, 1)",
            f"got {floor!r}",
            "pass 0, or a small probability such as 1e-12",
            code="range",
        )


def check_values(name: str, values: Floats, low: float, high: float) -> None:
    """Refuse values that are not finite or outside [low, high]; the error names the row."""
    bad = ~((values >= low) & (values <= high) & np.isfinite(values))
    if bad.any():
        at = np.unravel_index(int(bad.argmax()), bad.shape)
        raise InputError(
            name,
            f"must lie in [{low:g}, {high:g}]",
            f"row {at[0]} has {values[at]:g}",
            "drop or repair the row",
            code="range",
        )


def one_hot_distance(upper: ArrayLike, distance: str, *, floor: float = 0.0) -> Floats:
    """Return the distance of a one-hot target to the nearest point of a credal set, in closed form.

    With u the upper probability of the true class: KL -ln max(u, floor); JS divergence
    ½[ln(2/(1+u)) + u ln(2u/(1+u)) + (1-u) ln 2], at most ln 2; total variation 1 - u; Hellinger sqrt(1 - √u).

    Parameters
    ----------
    upper : (...)
        Upper probability of the true class; rounding above 1 counts as 1.
    distance : {"kl", "js", "js_distance", "tv", "hellinger"}
        KL and JS in nats; "js_distance" is the square root of "js". Brier's distance also depends on the other classes.
    floor : float
        Least probability in the logarithm of KL; with floor 0 an upper probability of 0 gives inf.

    Returns
    -------
    (...)

    Raises
    ------
    InputError
        An unknown distance or "brier"; an upper probability that is negative, above 1.001 or nan.

    Examples
    --------
    >>> one_hot_distance([1.0, 0.5, 0.0], "kl", floor=1e-3).round(4).tolist()
    [0.0, 0.6931, 6.9078]
    >>> one_hot_distance([1.0, 0.5, 0.0], "js").round(4).tolist()
    [0.0, 0.2158, 0.6931]
    """
    check_distance(distance, floor)
    if distance == "brier":
        raise InputError(
            "distance",
            "must have a closed form in the upper probability",
            "got 'brier'",
            "use nearest_in_hull, nearest_in_box or nearest_in_core with one-hot rows as target",
            code="missing",
        )
    if is_foreign(upper):
        return _one_hot_on_device(upper, distance, floor)
    u = np.atleast_1d(np.asarray(upper, dtype=np.float64))
    check_values("upper", u, 0.0, 1.001)
    u = np.minimum(u, 1.0).reshape(np.shape(upper))
    rest = 1.0 - u
    if distance == "kl":
        with np.errstate(divide="ignore"):
            return 0.0 - np.log(np.maximum(u, floor))
    if distance == "tv":
        return rest
    if distance == "hellinger":
        return np.sqrt(rest / (1.0 + np.sqrt(u)))
    js = 0.5 * (rest * LN2 - (1.0 + u) * np.log1p(-0.5 * rest) + xlogy(u, u))
    return np.sqrt(js) if distance == "js_distance" else js


def _one_hot_on_device(upper: Any, distance: str, floor: float) -> Any:
    """The same for upper probabilities of another array library, which its caller has checked."""
    xp = namespace(upper)
    u = xp.minimum(upper, 1.0)
    rest = 1.0 - u
    if distance == "kl":
        with np.errstate(divide="ignore"):
            return 0.0 - xp.log(xp.maximum(u, floor))
    if distance == "tv":
        return rest
    if distance == "hellinger":
        return xp.sqrt(rest / (1.0 + xp.sqrt(u)))
    u_log_u = u * xp.log(xp.maximum(u, smallest_normal(u)))  # 0 ln 0 = 0
    js = 0.5 * (rest * LN2 - (1.0 + u) * xp.log1p(-0.5 * rest) + u_log_u)
    return xp.sqrt(js) if distance == "js_distance" else js


def divergence(target: ArrayLike, probs: ArrayLike, distance: str, *, floor: float = 0.0) -> Floats:
    """Return the distance between distributions on the last axis; the other axes broadcast.

    KL(y‖p) = Σ y ln(y/p), with 0 ln 0 = 0; JS divergence ½ KL(y‖m) + ½ KL(p‖m), m = (y + p)/2; "js_distance" its
    square root; total variation ½ Σ|y - p|; Hellinger sqrt(1 - Σ √(y p)); Brier Σ (p - y)².

    Parameters
    ----------
    target, probs : (..., K)
        Distributions; only their signs are checked.
    distance : one of DISTANCES
    floor : float
        Least probability in the logarithm of KL; with floor 0 a class that has positive probability only in `target`
        gives inf.

    Returns
    -------
    (...)

    Raises
    ------
    InputError
        An unknown distance, negative values, or shapes that do not broadcast.

    Examples
    --------
    >>> float(divergence([0.5, 0.5, 0.0], [0.25, 0.5, 0.25], "kl").round(4))
    0.3466
    >>> float(divergence([0.5, 0.5, 0.0], [0.25, 0.5, 0.25], "tv"))
    0.25
    """
    check_distance(distance, floor)
    y, p = np.asarray(target, dtype=np.float64), np.asarray(probs, dtype=np.float64)
    try:
        np.broadcast_shapes(y.shape, p.shape)
    except ValueError:
        raise InputError(
            "probs", f"must broadcast with target, {y.shape}", f"got {p.shape}", "add or drop an axis", code="shape"
        ) from None
    check_values("target", np.atleast_1d(y), 0.0, np.inf)
    check_values("probs", np.atleast_1d(p), 0.0, np.inf)
    f = objective(y, np.maximum(p, floor) if distance == "kl" else p, distance)
    return np.sqrt(f) if distance in SQUARE_ROOTS else f


def objective(y: Floats, q: Floats, distance: str) -> Floats:
    """Return the convex objective f of a distance, summed over the last axis: the square of distances that are roots."""
    if distance == "kl":
        return np.maximum(rel_entr(y, q).sum(axis=-1), 0.0)
    if distance in ("js", "js_distance"):
        total = y + q
        # y, q = (1 ± x) total / 2: no cancellation where y ≈ q
        x = np.divide(y - q, total, out=np.zeros(total.shape), where=total > 0)
        terms = 0.25 * total * (xlog1py(1.0 + x, x) + xlog1py(1.0 - x, -x))
        return np.maximum(terms.sum(axis=-1), 0.0)
    if distance == "tv":
        return 0.5 * np.abs(y - q).sum(axis=-1)
    if distance == "hellinger":
        return 0.5 * ((np.sqrt(y) - np.sqrt(q)) ** 2).sum(axis=-1)  # = 1 - Σ √(y q), without cancellation
    return ((q - y) ** 2).sum(axis=-1)


def certificate_direction(y: Floats, q: Floats, distance: str, *, tie: float = 1e-12) -> Floats:
    """Return g (n, K), minus a (sub)gradient of f at q: min f >= f(q) - max over q' in the set of g·(q' - q).

    For total variation, classes with q within a relative `tie` of y count as equal. This is a subgradient at a nearby point
    and weakens the bound by at most tie.
    """
    if distance == "brier":
        return 2.0 * (y - q)
    if distance == "tv":
        return 0.5 * np.where(np.abs(y - q) < tie * y, 0.0, np.where(y > q, 1.0, -1.0))
    ratio = y / np.maximum(q, 1e-300)
    if distance in ("js", "js_distance"):
        return 0.5 * (np.log1p(ratio) - LN2)
    if distance == "hellinger":
        return 0.5 * (np.sqrt(ratio) - 1.0)
    return ratio


def curvature(y: Floats, q: Floats, distance: str) -> Floats:
    """Return q² times the second derivative of f in each q_c; not for total variation, where it is 0."""
    if distance in ("js", "js_distance"):
        return np.divide(0.5 * q * y, q + y, out=np.zeros(q.shape), where=q + y > 0)
    if distance == "hellinger":
        return 0.25 * np.sqrt(y * q)
    return y if distance == "kl" else 2.0 * q * q
