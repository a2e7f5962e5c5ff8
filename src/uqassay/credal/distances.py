"""The distances of the unified loss: one entry of one table each, with formulas, bounds and words.

Whatever computes, names, bounds, draws or explains a distance reads `DISTANCES`: a new distance is one more entry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import rel_entr, xlog1py, xlogy

from uqassay.arrays import Floats
from uqassay.checks import number, one_of

__all__ = ["DISTANCES", "KL", "Distance", "distance_named"]

LN2 = float(np.log(2.0))


@final
@dataclass(frozen=True)
class Distance:
    """A distance d(y, p) of a label or label distribution y from a distribution p of a credal set.

    The solver minimises a convex function f = Σ_c f_c(y_c, p_c), which is d or, with `square_root`, its square.
    """

    #: As users pass it.
    name: str
    #: Its name among the metrics of an assay.
    metric: str
    #: "nats" or ""; E has a unit where both of its terms have it.
    unit: str
    #: Greatest value; inf where only a floor bounds it.
    greatest: float
    #: Names with the unit, as of an axis; in the head of a column; beside other distances.
    axis: str
    heading: str
    short: str
    #: Definition for the page: one sentence, the formula and the source.
    sentence: str
    equation: str
    source: str
    #: True for an f-divergence. The nearest point of a box is then clip(s·y, l, u), and clip(y + s, l, u) if not, as for
    #: Σ (p − y)². A wrong answer shows as a gap, because the gap follows from `direction`.
    f_divergence: bool
    #: Whether d is the square root of f.
    square_root: bool
    #: Whether d is infinite where p is 0 and y is not, so that probabilities take a floor.
    floored: bool
    #: Whether the code of the authors of unified evaluation takes the least distance over the outermost clipped vertices.
    over_vertices: bool
    #: f(y, p), summed over the last axis.
    objective: Callable[[Floats, Floats], Floats]
    #: Minus a (sub)gradient of f in p: min f >= f(p) - max over p' in the set of g·(p' - p).
    direction: Callable[[Floats, Floats], Floats]
    #: p² times the second derivative of f in each p_c; None for total variation, which is a linear program.
    curvature: Callable[[Floats, Floats], Floats] | None
    #: d of a label from its upper probability in the set; None where it depends on the other classes too.
    of_label: Callable[[Floats], Floats] | None

    def __post_init__(self) -> None:
        if self.curvature is None and self.name != "tv":
            raise ValueError(f"{self.name}: only total variation may have no curvature")

    @property
    def title(self) -> str:
        """Heading of the definition."""
        return f"d, the distance ({self.short})"

    def greatest_at(self, floor: float) -> float:
        """Greatest value with a floor of probabilities."""
        if not self.floored:
            return self.greatest
        return float("inf") if floor == 0 else float(-np.log(floor))


def distance_named(name: str, floor: float = 0.0) -> Distance:
    """The entry of a distance; an unknown name, or a floor outside [0, 1), is refused."""
    entry = DISTANCES[one_of(name, "distance", DISTANCES, "choose one of them")]
    number(floor, "floor", "pass 0, or a small probability such as 1e-12", low=0, high=1, ends="[)")
    return entry


# -- formulas ----------------------------------------------------------------------------------------------------------


def _ratio(y: Floats, q: Floats) -> Floats:
    return y / np.maximum(q, 1e-300)


def _kl(y: Floats, q: Floats) -> Floats:
    return np.maximum(rel_entr(y, q).sum(axis=-1), 0.0)


def _js(y: Floats, q: Floats) -> Floats:
    total = y + q
    # y, q = (1 ± x) total / 2: no cancellation where y ≈ q
    x = np.divide(y - q, total, out=np.zeros(total.shape), where=total > 0)
    terms = 0.25 * total * (xlog1py(1.0 + x, x) + xlog1py(1.0 - x, -x))
    return np.maximum(terms.sum(axis=-1), 0.0)


def _js_direction(y: Floats, q: Floats) -> Floats:
    return 0.5 * (np.log1p(_ratio(y, q)) - LN2)


def _js_curvature(y: Floats, q: Floats) -> Floats:
    return np.divide(0.5 * q * y, q + y, out=np.zeros(q.shape), where=q + y > 0)


def _js_of_label(u: Floats) -> Floats:
    return np.asarray(0.5 * ((1.0 - u) * LN2 - (1.0 + u) * np.log1p(-0.5 * (1.0 - u)) + xlogy(u, u)))


def tv_direction(y: Floats, q: Floats, tie: float = 1e-12) -> Floats:
    """Classes with q within a relative `tie` of y count as equal: a subgradient nearby, which weakens the bound by `tie`."""
    return np.asarray(0.5 * np.where(np.abs(y - q) < tie * y, 0.0, np.where(y > q, 1.0, -1.0)))


KL = Distance(
    name="kl",
    metric="kl",
    unit="nats",
    greatest=float("inf"),
    axis="KL divergence (nats)",
    heading="KL distance",
    short="KL",
    sentence="Kullback-Leibler divergence from the label to the closest distribution in the credal set, in nats: with one "
    "label, minus the logarithm of the highest probability that the set gives to it.",
    equation="d(y, ŷ) = min over p in ŷ of KL(y ‖ p) = −ln max over p in ŷ of p(y)",
    source="unified evaluation, equation 6 and appendix D",
    f_divergence=True,
    square_root=False,
    floored=True,
    over_vertices=False,
    objective=_kl,
    direction=_ratio,
    curvature=lambda y, q: y,
    of_label=lambda u: 0.0 - np.log(u),
)

#: The distances by name.
DISTANCES: dict[str, Distance] = {
    one.name: one
    for one in (
        KL,
        Distance(
            name="js",
            metric="js",
            unit="nats",
            greatest=LN2,
            axis="JS divergence (nats)",
            heading="JS divergence",
            short="JS",
            sentence="Jensen-Shannon divergence between the label and the closest distribution in the credal set, in nats, "
            "at most ln 2.",
            equation="d(y, ŷ) = min over p in ŷ of ½ KL(y ‖ m) + ½ KL(p ‖ m),  m = ½ (y + p)",
            source="unified evaluation, appendix F.1",
            f_divergence=True,
            square_root=False,
            floored=False,
            over_vertices=True,
            objective=_js,
            direction=_js_direction,
            curvature=_js_curvature,
            of_label=_js_of_label,
        ),
        Distance(
            name="js_distance",
            metric="js-distance",
            unit="",
            greatest=LN2**0.5,
            axis="JS distance (√nats)",
            heading="JS distance",
            short="square root of JS",
            sentence="Square root of the Jensen-Shannon divergence between the label and the closest distribution in the "
            "credal set.",
            equation="d(y, ŷ) = min over p in ŷ of √JS(y, p)",
            source="unified evaluation, appendix F.1",
            f_divergence=True,
            square_root=True,
            floored=False,
            over_vertices=True,
            objective=_js,
            direction=_js_direction,
            curvature=_js_curvature,
            of_label=lambda u: np.sqrt(_js_of_label(u)),
        ),
        Distance(
            name="tv",
            metric="tv",
            unit="",
            greatest=1.0,
            axis="total variation distance",
            heading="total variation",
            short="total variation",
            sentence="Total variation between the label and the closest distribution in the credal set, in [0, 1].",
            equation="d(y, ŷ) = min over p in ŷ of ½ Σ |y(c) − p(c)|",
            source="",
            f_divergence=True,
            square_root=False,
            floored=False,
            over_vertices=False,
            objective=lambda y, q: 0.5 * np.abs(y - q).sum(axis=-1),
            direction=tv_direction,
            curvature=None,
            of_label=lambda u: 1.0 - u,
        ),
        Distance(
            name="hellinger",
            metric="hellinger",
            unit="",
            greatest=1.0,
            axis="Hellinger distance",
            heading="Hellinger distance",
            short="Hellinger",
            sentence="Hellinger distance between the label and the closest distribution in the credal set, in [0, 1].",
            equation="d(y, ŷ) = min over p in ŷ of √(½ Σ (√y(c) − √p(c))²)",
            source="",
            f_divergence=True,
            square_root=True,
            floored=False,
            over_vertices=False,
            objective=lambda y, q: 0.5 * ((np.sqrt(y) - np.sqrt(q)) ** 2).sum(axis=-1),  # = 1 - Σ √(y q), uncancelled
            direction=lambda y, q: 0.5 * (np.sqrt(_ratio(y, q)) - 1.0),
            curvature=lambda y, q: 0.25 * np.sqrt(y * q),
            of_label=lambda u: np.sqrt((1.0 - u) / (1.0 + np.sqrt(u))),
        ),
        Distance(
            name="brier",
            metric="brier-distance",
            unit="",
            greatest=2.0,
            axis="Brier distance",
            heading="Brier distance",
            short="Brier",
            sentence="Squared distance from the label to the closest distribution in the credal set, in [0, 2].",
            equation="d(y, ŷ) = min over p in ŷ of Σ (y(c) − p(c))²",
            source="",
            f_divergence=False,
            square_root=False,
            floored=False,
            over_vertices=False,
            objective=lambda y, q: ((q - y) ** 2).sum(axis=-1),
            direction=lambda y, q: 2.0 * (y - q),
            curvature=lambda y, q: 2.0 * q * q,
            of_label=None,
        ),
    )
}
