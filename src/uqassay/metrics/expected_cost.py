"""Expected cost of deciding or passing a case on, for every price of passing it on (Chow's rule)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_array
from uqassay.checks import between
from uqassay.ids import in_one_order
from uqassay.metrics.certified_thresholds import divide, short_number, threshold_text, whole_errors
from uqassay.metrics.risk import rank_errors
from uqassay.notes import Note
from uqassay.results import Plain, Shown, ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.statistics.estimate import Estimate, mean_estimate, proportion_estimate
from uqassay.statistics.units import as_floats, check_level, make_units, scaled_weights, weighted_mean
from uqassay.text import counted, level_text, number, percent

__all__ = [
    "PRICES",
    "ExpectedCost",
    "cheapest_thresholds",
    "expected_cost_curve",
]


# Expected cost of deciding or passing a case on, for every price of passing it on (Chow's rule).

PRICES = tuple(round(0.01 * k, 2) for k in range(1, 51))
SHOWN = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)  # prices in a table, where they are among those computed


@final
@dataclass(frozen=True, eq=False, repr=False)
class ExpectedCost(Shown, Plain):
    """Expected cost per case at each price of passing a case on; a mistake costs 1."""

    _shown_more: ClassVar[str] = "summary(), worthwhile(), to_dict(), figures.plot_expected_cost"

    prices: tuple[float, ...]
    #: the threshold of the lowest cost on all instances, to be deployed: cases of at most this uncertainty are kept. Infinite
    #: where everything is kept, minus infinite where everything is passed on.
    thresholds: tuple[float, ...]
    #: cost per case of thresholds chosen on other instances: each half of the data is judged by the threshold of the other
    costs: tuple[Estimate, ...]
    kept: tuple[float, ...]  #: share kept by these thresholds
    keep_all: Estimate  #: cost of keeping every case: the error rate. Passing every case on costs the price.
    #: cost of the cheaper of keeping every case and passing every case on, minus `costs`, on the same instances
    savings: tuple[Estimate, ...]
    level: float
    notes: tuple[Note, ...] = ()

    def worthwhile(self) -> tuple[float, ...]:
        """The prices at which the whole interval of the saving is above 0, each by itself."""
        return tuple(price for price, saving in zip(self.prices, self.savings, strict=True) if saving.low > 0)

    def _shown_title(self) -> str:
        return f"Expected cost per case of {counted(self.keep_all.n, 'instance')}, a mistake costs 1"

    def _shown_sentences(self) -> Sequence[str]:
        worth = self.worthwhile()
        if not worth:
            return (
                "At no price is passing uncertain cases on shown to be cheaper than keeping or passing on every case.",
            )
        at = f"at {len(worth)} of {len(self.prices)} prices, from {min(worth):g} to {max(worth):g}"
        return (f"Passing uncertain cases on is cheaper than keeping or passing on every case {at}.",)

    def _shown_notes(self) -> Sequence[str]:
        return tuple(note.text for note in self.notes)

    def _shown_table(self) -> ShownTable:
        rows = []
        for k, price in enumerate(self.prices):
            if price in SHOWN or len(self.prices) <= len(SHOWN):
                cost, at = self.costs[k], self.thresholds[k]
                cells = (ShownCell(f"{price:g}"), estimate_cell(float(cost), cost.low, cost.high))
                more = (ShownCell(percent(self.kept[k])), ShownCell(threshold_text(at)))
                rows.append(ShownRow((*cells, *more)))
        costs = f"Keeping every case costs {number(float(self.keep_all))}, passing every case on the price"
        said = f"{costs}. {level_text(self.level)} intervals."
        return ShownTable(("price", "cost", "kept", "threshold"), tuple(rows), said)


@in_one_order("errors", "uncertainty", "groups", "sample_weight")
def expected_cost_curve(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    prices: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ExpectedCost:
    """Find the expected cost per case if uncertain cases are passed on at a price; a mistake costs 1.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one.
    uncertainty : array (n,)
        Greater means less certain. Cases of equal uncertainty are kept or passed on together.
    prices : array (P,), optional
        Cost of passing a case on, in units of a mistake, from 0 to 1. By default 0.01, 0.02, …, 0.5.
    groups : array (n,), optional
        Instances of one group may depend on each other; whole groups go to one half.
    sample_weight : array (n,), optional
        Importance weights.
    level : float
    rng : int or Generator, optional
        Divides the instances into halves; None means seed 0.

    Notes
    -----
    With threshold t the cost is P(wrong, uncertainty ≤ t) + price · P(uncertainty > t). Chow's rule passes a case on if its
    probability of a mistake exceeds the price; with a score in place of this probability, the threshold of the lowest cost is
    its best substitute. On the instances that chose it, the lowest cost is too low. Therefore each half is judged by the
    threshold that the other half chose, and the interval is that of a mean over all instances. The result is the cost of a
    threshold chosen on half of the instances; the one chosen on all of them costs about as much, or less.

    The interval of a cost reaches as far as the longer of two: that of the costs as shares (`proportion_estimate`), which has
    the better lower end in groups, and that of its two shares, kept and wrong, and passed on, with their correlation
    (Newcombe's method), whose upper end allows for mistakes not yet seen. The interval of a saving is that of `mean_estimate`.
    Each holds by itself (docs/evidence-ranking.md has their measured coverage).

    References
    ----------
    Chow (1970), On optimum recognition error and reject tradeoff, IEEE Trans. Inf. Theory 16, equation 4.
    Zou, Donner (2008), Construction of confidence limits about effect measures (with correlation), Stat. Med. 27.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> uncertainty = rng.random(2000)
    >>> errors = rng.random(2000) < 0.4 * uncertainty
    >>> found = expected_cost_curve(errors, uncertainty, prices=[0.1, 0.2])
    >>> [round(float(cost), 2) for cost in found.costs], round(float(found.keep_all), 2)
    ([0.09, 0.15], 0.2)
    """
    check_level(level)
    e, s = whole_errors(errors, uncertainty)
    asked = _checked(PRICES if prices is None else prices)
    w = None if sample_weight is None else scaled_weights(sample_weight, e.size)
    if w is not None and not w.all():
        there = w > 0
        e, s, w = e[there], s[there], w[there]
        groups = None if groups is None else as_array(groups, "groups")[there]
    halves = divide(e.size, groups, None, 0.5, rng)
    first = halves.choosing
    sample: dict[str, Any] = {"groups": halves.groups, "sample_weight": w}
    kept = np.empty((asked.size, e.size), dtype=bool)
    for rows in (first, ~first):
        thresholds = cheapest_thresholds(e[rows], s[rows], asked, None if w is None else w[rows])
        kept[:, ~rows] = s[~rows] <= thresholds[:, np.newaxis]
    everything = proportion_estimate(e, level=level, **sample)
    costs, savings = [], []
    for price, keeps in zip(asked.tolist(), kept, strict=True):
        cost = np.where(keeps, e, price)
        simple = e if everything <= price else np.full(e.size, price)
        costs.append(_cost_estimate(keeps * e, ~keeps, price, sample, level))
        savings.append(mean_estimate(simple - cost, level=level, **sample))
    return ExpectedCost(
        prices=tuple(asked.tolist()),
        thresholds=tuple(cheapest_thresholds(e, s, asked, w).tolist()),
        costs=tuple(costs),
        kept=tuple(weighted_mean(kept, w).tolist()),
        keep_all=everything,
        savings=tuple(savings),
        level=float(level),
        notes=everything.notes,
    )


def _cost_estimate(
    wrong: Floats, passed: NDArray[np.bool_], price: float, sample: Mapping[str, Any], level: float
) -> Estimate:
    """P(kept and wrong) + price · P(passed on) with its interval, from 0 and 1 of each instance."""
    a, b = (proportion_estimate(values, level=level, **sample) for values in (wrong, passed))
    residuals = np.stack([wrong - float(a), passed - float(b)], axis=1)
    u, v = make_units(wrong.size, **sample).sums(residuals).T
    size = float(np.sqrt((u @ u) * (v @ v)))
    rho = float(u @ v) / size if size > 0 else 0.0

    def reach(x: float, y: float) -> float:
        return float(np.sqrt(max(x * x + y * y + 2 * rho * x * y, 0.0)))

    value = float(a) + price * float(b)
    low = value - reach(float(a) - a.low, price * (float(b) - b.low))
    high = value + reach(a.high - float(a), price * (b.high - float(b)))
    direct = proportion_estimate(np.where(passed, price, wrong), level=level, **sample)
    low, high = float(np.fmin(low, direct.low)), float(np.fmax(high, direct.high))
    return Estimate(value, low=max(low, 0.0), high=high, level=level, n=a.n, method="newcombe", notes=a.notes)


def _checked(prices: ArrayLike) -> Floats:
    found = as_floats(prices, "prices", ndim=(1,), shape="(P,)")
    between(found, "prices", "give prices in units of a mistake; above 1 no case is passed on", of="price")
    return found


EQUAL = 1e-12  # mean costs that differ by less are equal but for rounding


def cheapest_thresholds(
    errors: Floats, uncertainty: Floats, prices: Floats, sample_weight: Floats | None = None
) -> Floats:
    """Threshold of the lowest mean cost at each price, the highest of equally cheap ones."""
    ranked = rank_errors(errors, uncertainty, sample_weight)
    wrong, kept = np.append(0.0, ranked.wrong), np.append(0.0, ranked.kept)
    values = ranked.thresholds
    found = []
    for price in prices.tolist():  # n · cost = wrong + price · (n − kept)
        cost = wrong - price * kept
        k = int(np.flatnonzero(cost <= cost.min() + EQUAL * kept[-1])[-1])
        if k == 0:
            found.append(-np.inf)
        elif k == values.size:
            found.append(np.inf)
        else:
            found.append(short_number(*values[k - 1 : k + 1].tolist()))
    return np.array(found)
