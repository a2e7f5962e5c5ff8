"""Risk and coverage: AURC, E-AURC, AUGRC, their curves, and what refusal gains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial, wraps
from operator import attrgetter
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats
from uqassay.checks import between, fail, number, one_of, same_length
from uqassay.ids import in_one_order
from uqassay.notes import Note, distinct
from uqassay.statistics.auc import IMAGINARY, auc_linearised, auc_of_order, notes_of_ties, tied_share
from uqassay.statistics.estimate import Estimate, interval_notes, proportion_estimate
from uqassay.statistics.linearised import Linearised, averaged, is_plain, linearised_estimate, spread_of, units_in
from uqassay.statistics.paired_tests import POWER
from uqassay.statistics.units import Units, as_floats, ascending_order, check_level, make_units, spread_of_mean

__all__ = [
    "RankedErrors",
    "RiskCoverage",
    "SelectiveGain",
    "accuracy_at_coverage_score",
    "area_estimate",
    "augrc",
    "augrc_linearised",
    "augrc_loss",
    "aurc",
    "aurc_loss",
    "checked_errors",
    "coverage_at_risk_score",
    "detectable_gain",
    "e_aurc",
    "e_aurc_loss",
    "independent_instances",
    "once",
    "prediction_rejection_score",
    "rank_errors",
    "ranked_auc",
    "ratio_of_auc",
    "risk_coverage_curve",
    "selective_gain",
    "small_sample_ratio",
    "sum_from",
]


# Errors sorted by uncertainty, in blocks of ties, from which all risk-coverage metrics are computed.

FEW = 20  # fewer errors or right predictions get a note
WINDOW = 0.05  # greatest half width, in coverage, of the window for the error rate near a threshold
ROUNDING = 1e-12  # relative; coverages closer than this count as equal
LEAST = 1e-20  # smallest coverage, against division by 0


T = TypeVar("T")
P = ParamSpec("P")


def once(function: Callable[Concatenate["RankedErrors", P], T]) -> Callable[Concatenate["RankedErrors", P], T]:
    """A function of ranked errors (and of further objects) that is computed once for each of them."""
    return _computed_once(function, lambda ranked: ranked._found)


def once_for_errors(
    function: Callable[Concatenate["RankedErrors", P], T],
) -> Callable[Concatenate["RankedErrors", P], T]:
    """Likewise a function that is the same for every order of the errors, see `like` of `rank_errors`."""
    return _computed_once(function, lambda ranked: ranked._of_errors)


def _computed_once(
    function: Callable[Concatenate["RankedErrors", P], T], where: Callable[["RankedErrors"], dict[str, Any]]
) -> Callable[Concatenate["RankedErrors", P], T]:
    name = function.__qualname__

    @wraps(function)
    def found(ranked: "RankedErrors", *more: P.args, **options: P.kwargs) -> T:
        kept = where(ranked)
        last = kept.get(name)
        if last is None or any(a is not b for a, b in zip((*more, *options.values()), last[0], strict=True)):
            last = kept[name] = (*more, *options.values()), function(ranked, *more, **options)
        value: T = last[1]
        return value

    return found


@final
@dataclass(frozen=True, eq=False, slots=True)
class RankedErrors:
    """Instances of positive weight, sorted by ascending uncertainty. A block is a set of instances of equal uncertainty.

    Build it with `rank_errors`. All sums are weights or error masses (weight times error), not shares.
    """

    n: int  #: number of instances given, including those of weight zero
    order: NDArray[np.intp]  #: (m,): rows of the sorted instances
    block: NDArray[np.intp] | None  #: (m,): block of each sorted instance; None if there are no ties
    #: (m,): errors and weights of the sorted instances. Weights are None if all are 1.
    errors: Floats
    weights: Floats | None
    thresholds: Floats  #: (B,): uncertainty of each block, ascending
    #: (B,): weight and error mass kept at each threshold: sums over this block and all earlier ones
    kept: Floats
    wrong: Floats
    _found: dict[str, Any] = field(default_factory=dict, repr=False)  # areas that several statistics take, see `once`
    _of_errors: dict[str, Any] = field(default_factory=dict, repr=False)  # likewise, what no order changes

    @property
    def error_rate(self) -> float:
        """Error rate of all instances."""
        return float(self.wrong[-1] / self.kept[-1])

    @property
    def coverage(self) -> Floats:
        """Share of the weight that is kept at each threshold, (B,)."""
        return self.kept / self.kept[-1]

    @property
    @once_for_errors
    def all_errors_equal(self) -> bool:
        """True if there are no errors, only errors, or equal shares: there is nothing to rank."""
        return bool(self.errors.min() == self.errors.max())

    @property
    @once_for_errors
    def whole(self) -> bool:
        """True if every error is 0 or 1."""
        return bool(((self.errors == 0) | (self.errors == 1)).all())

    def of_rows(self, by_block: Floats) -> Floats:
        """Value of the block of each sorted instance, (B,) -> (m,)."""
        return by_block if self.block is None else by_block[self.block]

    def unranked(self, values: Floats) -> Floats:
        """Values of the sorted instances in the original order of rows; 0 for weight zero, (m,) -> (n,)."""
        out = np.zeros(self.n)
        out[self.order] = values
        return out

    def place(self, coverage: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Last block kept at each coverage in (0, 1], and the share of this block that is kept."""
        weight = np.maximum(coverage, LEAST) * self.kept[-1]
        k = np.minimum(np.searchsorted(self.kept, weight * (1 - ROUNDING)), self.kept.size - 1)
        end, before = self.kept[k], np.where(k > 0, self.kept[k - 1], 0.0)
        return k, np.where(weight >= end * (1 - ROUNDING), 1.0, (weight - before) / (end - before))

    def inside(self, at_end: Floats, block: NDArray[np.intp], share: Floats) -> Floats:
        """Value of a running sum over the blocks, (B,), at a share of a block, by linear interpolation."""
        end, before = at_end[block], np.where(block > 0, at_end[block - 1], 0.0)
        step = end - before
        # interpolate from the nearer end: at a share of 1 the result is `end` exactly
        return np.where(share < 0.5, before + share * step, end - (1 - share) * step)

    def local_rate(self, coverage: Floats) -> Floats:
        """Error rate of the instances near a coverage, which a small move of the threshold adds or removes."""
        total = self.kept[-1]
        half = min(WINDOW, 0.5 * self.thresholds.size ** (-1 / 3))
        low, high = np.maximum(coverage - half, 0.0) * total, np.minimum(coverage + half, 1.0) * total
        return np.clip((self._wrong_below(high) - self._wrong_below(low)) / (high - low), 0.0, 1.0)

    def _wrong_below(self, weight: Floats) -> Floats:
        """Error mass of the least uncertain instances with this total weight."""
        inside = np.interp(weight, self.kept, self.wrong)
        return np.where(weight < self.kept[0], weight * (self.wrong[0] / self.kept[0]), inside)

    @property
    @once_for_errors
    def memberships(self) -> tuple[Floats, Floats]:
        """Share of an error and of a right prediction in every instance, in the original order of rows, (n,) each."""
        return self.unranked(self.errors), self.unranked(1 - self.errors)

    @property
    @once_for_errors
    def residuals(self) -> Floats:
        """Errors minus the error rate, in the original order of rows, (n,)."""
        return self.unranked(self.errors - self.error_rate)

    @property
    @once
    def level(self) -> NDArray[np.intp]:
        """Block of every instance in the original order of rows, (n,); 0 for weight zero."""
        level = np.zeros(self.n, dtype=np.intp)
        level[self.order] = np.arange(self.order.size) if self.block is None else self.block
        return level

    def notes(self, units: Units) -> list[Note]:
        """Notes on few errors, few right predictions and constant scores."""
        notes = []
        for member, name in zip(self.memberships, ("error", "right prediction"), strict=True):
            share, several = units.keep(member), name + "s"
            count = float(share.sum())
            if units.codes is not None:
                count = min(count, float(np.count_nonzero(np.bincount(units.codes, share))))
                name, several = (f"{word} in different groups" for word in (name, several))
            if count == 0:
                notes.append(Note("none", f"no {several}"))
            elif count < FEW:
                shown = f"{count:.3g}"
                text = f"only {shown} {name if shown == '1' else several}: a rough interval"
                notes.append(Note("few", text, {"count": count}))
        if self.thresholds.size == 1 and self.errors.size > 1:
            notes.append(Note("constant-scores", "all scores are equal: nothing is ranked"))
        return notes

    @property
    @once
    def notes_of_ties(self) -> tuple[Note, ...]:
        """A note if nearly all errors, or right predictions, have one score, for what covers less then."""
        if self.block is None or self.thresholds.size == 1:
            return ()
        tied = [tied_share(one, np.bincount(self.level, one).astype(np.float64)) for one in self.memberships]
        return tuple(notes_of_ties([float(one.sum()) for one in self.memberships], tied))


def rank_errors(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    like: RankedErrors | None = None,
) -> RankedErrors:
    """Sort errors by uncertainty. The sums do not depend on the order of rows, not even in the last bit.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed.
    sample_weight : array (n,), optional
    like : RankedErrors, optional
        The same errors and weights in another order; what no order changes is then checked and computed once for both.

    Examples
    --------
    >>> ranked = rank_errors([1, 0, 0], [0.9, 0.2, 0.2])
    >>> ranked.thresholds.tolist(), ranked.kept.tolist(), ranked.wrong.tolist()
    ([0.2, 0.9], [2.0, 3.0], [0.0, 1.0])
    """
    if like is None:
        e, s = checked_errors(errors, uncertainty)
    else:
        e = np.asarray(errors, dtype=np.float64)
        s = _one_for_each(uncertainty, e.size)
    n = e.size
    units = make_units(n, None, sample_weight)
    e, s, w = units.keep(e), units.keep(s), units.weights
    order = ascending_order(s)
    ranked = s[order]
    new = ranked[1:] != ranked[:-1]
    tied = not new.all()
    if tied and not (_whole(e) and (w is None or _whole(w))):
        # sums of fractions round differently in another order, so instances within a tie are sorted too
        order = np.lexsort((e, s) if w is None else (e, w, s))
    e = e[order]
    w = None if w is None else w[order]
    ends = np.append(np.flatnonzero(new), e.size - 1) if tied else slice(None)
    kept = np.arange(1.0, e.size + 1) if w is None else np.cumsum(w)
    wrong = np.cumsum(e if w is None else w * e)
    block = np.concatenate([[0], np.cumsum(new)]) if tied else None
    rows = order if units.rows is None else units.rows[order]
    return RankedErrors(
        n=n,
        order=rows,
        block=block,
        errors=e,
        weights=w,
        thresholds=ranked[ends],
        kept=kept[ends],
        wrong=wrong[ends],
        _of_errors={} if like is None else like._of_errors,
    )


def checked_errors(errors: ArrayLike, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
    """Both as float64, or what `rank_errors` raises."""
    e = as_floats(errors, "errors", ndim=(1,), shape="(n,)")
    s = _one_for_each(uncertainty, e.size)
    between(e, "errors", "give 1 for a wrong prediction, 0 for a right one, or the probability that it is wrong")
    return e, s


def _one_for_each(uncertainty: ArrayLike, n: int) -> Floats:
    s = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(n,)")
    same_length(s, "uncertainty", n, "align errors and uncertainty")
    return s


def _whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


# Areas under risk-coverage curves, with the influence of every instance and intervals.
#
# An area is a function of the running sums M_k (weight) and A_k (error mass) at the thresholds. One more instance with
# error e adds 1 to M_k and e to A_k for its block and all later blocks k. Its influence is therefore a sum of
# derivatives over these blocks.

Risk = Literal["generalised", "selective"]
Convention = Literal["exact", "trapezoid"]
RatioConvention = Literal["exact", "counts"]

ALL_EQUAL = (Note("undefined", "all errors are equal"),)
NONE_REFUSED = (Note("undefined", "up to this rejection fewer than two cases can be refused"),)
NONE_BETTER = (Note("no-width", "no order is better up to this rejection, so the interval has no width"),)
NONE_WRONG = (Note("no-width", "no case is ranked wrongly, so the interval has no width"),)
TINY = 1e-13  # a standard error below this counts as 0 (rounding error)
WIDEST = 500.0  # half width on the scale of ln x, against overflow

# (greatest loss `top`, whether it is a score). The interval of a loss x is symmetric on the scale of ln(x / (top − x)), or of
# ln x if top is infinite. A score is 1 minus such a loss.
SCALES: dict[str, tuple[float, bool]] = {
    "aurc": (1.0, False),
    "e-aurc": (np.inf, False),
    "augrc": (0.5, False),
    "prediction-rejection-generalised": (2.0, True),
    "prediction-rejection-selective": (np.inf, True),
    "prediction-rejection-in-part": (np.inf, True),
}


def augrc_linearised(errors: ArrayLike, uncertainty: ArrayLike, weights: ArrayLike | None) -> Linearised:
    """AUGRC and the influence of every instance."""
    return augrc(rank_errors(errors, uncertainty, weights))


def area_estimate(
    statistics: Linearised | Sequence[Linearised],
    kind: str,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate of an area or ratio, from the linearised statistic of each training run.

    `kind` is a key of `SCALES`. Values and influences are averaged over runs, and s²/R between the runs is added to the
    variance.
    """
    check_level(level)
    runs = [statistics] if isinstance(statistics, Linearised) else list(statistics)
    units = make_units(runs[0].influence.size, groups, sample_weight)
    values = np.array([run.value for run in runs])
    value, low, high = float(values.mean()), np.nan, np.nan
    notes = interval_notes(units, [] if isinstance(statistics, Linearised) else [len(runs)])
    notes += distinct(*(run.notes for run in runs))
    on_log_scale = np.isinf(SCALES[kind][0])
    method = f"linearised, {'log' if on_log_scale else 'logit'} scale"
    if not np.isnan(value) and all(run.parts for run in runs):
        halves = [run.affine(0.5, 0.5) for run in runs]  # UQ-AUC
        auc = linearised_estimate(halves, sample_weight=sample_weight, groups=groups, level=level, scale="logit")
        low, high, method = 2 * auc.low - 1, 2 * auc.high - 1, "delong, adjusted, logit scale"
    elif not np.isnan(value) and units.n_units > 1:
        whole = averaged(runs)
        spread = spread_of(_as_if_left_out(whole, units) if on_log_scale else whole, units, [values])
        if spread.standard_error > TINY:
            reach = float(special.stdtrit(spread.dof, 0.5 + level / 2)) * spread.standard_error
            low, high = _interval(value, reach, kind, _greatest(whole, units, kind))
        else:
            low, high = _without_spread(value, units.n_units, kind, level)
    return Estimate(
        value,
        low=low,
        high=high,
        level=level,
        n=units.n_instances,
        method=method,
        notes=notes,
    )


def _as_if_left_out(statistic: Linearised, units: Units) -> Linearised:
    """Influences as the jackknife finds them: leaving out one of m errors moves a statistic by 1 + 1/m of its influence.

    Without this the intervals of the E-AURC hold the truth 1 to 3 of 100 times less often with 20 errors.
    """
    influence = statistic.influence
    for inside in statistic.inside:
        share = np.asarray(inside, dtype=np.float64)
        influence = influence * (1 + share / max(units_in(share, units), 1.0))
    return replace(statistic, influence=influence, inside=())


def _greatest(statistic: Linearised, units: Units, kind: str) -> float:
    """The greatest loss at this error rate r, for kinds without a top: the AURC is at most 1.

    With errors of 0 and 1 the best order has the AURC r + (1 − r) ln(1 − r).
    """
    if kind == "prediction-rejection-in-part" or not statistic.inside or not np.isinf(SCALES[kind][0]):
        return np.inf
    rate = float(np.average(units.keep(np.asarray(statistic.inside[0], dtype=np.float64)), weights=units.weights))
    gain = float(special.entr(1 - rate))
    greatest = 1 - rate + gain
    return greatest if kind == "e-aurc" else greatest / gain


def _interval(value: float, reach: float, kind: str, greatest: float) -> tuple[float, float]:
    top, is_score = SCALES[kind]
    loss = 1 - value if is_score else value
    low, high = interval_of_loss(loss, reach, top)
    high = max(min(high, greatest), loss)
    return (1 - high, 1 - low) if is_score else (low, high)


def interval_of_loss(loss: float, reach: float, top: float) -> tuple[float, float]:
    if not 0 < loss < top:  # trapezoids make an area with ties smaller than that of the best order: no transformation
        return loss - reach, loss + reach
    if np.isinf(top):
        factor = float(np.exp(min(reach / loss, WIDEST)))
        return loss / factor, loss * factor
    centre, half = float(special.logit(loss / top)), reach * top / (loss * (top - loss))
    return top * float(special.expit(centre - half)), top * float(special.expit(centre + half))


def _without_spread(value: float, n_units: int, kind: str, level: float) -> tuple[float, float]:
    """Interval for influences of 0: all errors are equal, all uncertainties are equal, or the order is perfect."""
    top, is_score = SCALES[kind]
    if np.isfinite(top) and not is_score:
        # for a random order the area is the error rate times the top, so scale Wilson's interval of the error rate
        q = float(special.ndtri(0.5 + level / 2))
        rate, k = min(max(value / top, 0.0), 1.0), q**2 / n_units
        centre, half = rate + k / 2, float(np.sqrt(k * rate * (1 - rate) + k**2 / 4))
        return top * max(centre - half, 0.0) / (1 + k), top * min((centre + half) / (1 + k), 1.0)
    return (value, value) if is_score and abs(value) < TINY else (np.nan, np.nan)


# -- the areas --------------------------------------------------------------------------------------------------------


@once
def aurc(ranked: RankedErrors) -> Linearised:
    """AURC: mean of R(c) = A(c) / c over coverages c in (0, 1], with the error mass A linear inside a block."""
    m, a, total = ranked.kept, ranked.wrong, ranked.kept[-1]
    before, width = m[:-1], np.diff(m)
    s = ranked.errors if ranked.block is None else np.append(a[0], np.diff(a)) / np.append(m[0], width)
    logs, by_error = _logarithms(ranked)
    # ∫ A(M) / M dM over each block, with A(M) = A₀ + s (M − M₀)
    value = float((a[-1] + ((a[:-1] - s[1:] * before) * logs).sum()) / total)
    # one more instance of error e raises A(M) by e − s(M) at all M above its block
    constant = np.full_like(m, ranked.error_rate - value)
    constant[:-1] -= sum_from(s[1:] * logs)
    if ranked.block is not None:  # and inside the block by (e − s)(M − M₀) / width, which is 0 for a single instance
        own = np.append(1.0, 1 - before * logs / width)
        by_error, constant = by_error + own, constant - s * own
    return _with_influence(ranked, value, by_error, constant)


def _logarithms(ranked: RankedErrors) -> tuple[Floats, Floats]:
    """∫ dM / M over each block after the first, and from each block to the end."""
    if ranked.block is None and ranked.weights is None:
        return _logarithms_of_counts(ranked.kept.size)
    m = ranked.kept
    return np.log1p(np.diff(m) / m[:-1]), np.log(m[-1] / m)


@lru_cache(maxsize=1)  # of all scores without ties on the same instances
def _logarithms_of_counts(n: int) -> tuple[Floats, Floats]:
    m = np.arange(1.0, n + 1)
    return np.log1p(np.diff(m) / m[:-1]), np.log(m[-1] / m)


def aurc_trapezoid(ranked: RankedErrors) -> Linearised:
    """AURC by trapezoids: mean of R over coverages, with R linear between thresholds and constant before the first."""
    m, r = ranked.kept, ranked.wrong / ranked.kept
    steps = np.diff(m, prepend=0.0)
    middle = r.copy()
    middle[1:] = (r[1:] + r[:-1]) / 2
    value = float((steps * middle).sum() / m[-1])
    # derivatives of Σ steps · middle: by R_k, by A_k = R_k M_k, and by M_k at fixed A_k
    by_risk = steps / 2
    by_risk[:-1] += steps[1:] / 2
    by_risk[0] += steps[0] / 2
    by_wrong = by_risk / m
    by_kept = middle - by_wrong * r
    by_kept[:-1] -= middle[1:]
    return _with_influence(ranked, value, sum_from(by_wrong), sum_from(by_kept) - value)


@once
def augrc(ranked: RankedErrors) -> Linearised:
    """AUGRC: mean of A / M_B over coverages, linear between thresholds from (0, 0)."""
    total = ranked.kept[-1]
    steps = np.diff(ranked.kept, prepend=0.0)
    middle = ranked.wrong - np.diff(ranked.wrong, prepend=0.0) / 2
    value = float((steps * middle).sum() / total**2)
    return _with_influence(ranked, value, 1 - (ranked.kept - steps / 2) / total, middle / total - 2 * value)


def e_aurc(ranked: RankedErrors, convention: Convention = "exact") -> Linearised:
    """E-AURC: AURC minus the AURC of the best order."""
    area, best = aurc(ranked) if convention == "exact" else aurc_trapezoid(ranked), aurc(_by_errors(ranked))
    value = area.value - best.value
    if convention == "exact":  # no order is better than the best one; rounding errors are
        value = max(value, 0.0)
    return _or_perfect(ranked, replace(area, value=value, influence=area.influence - best.influence))


def prediction_rejection(ranked: RankedErrors, risk: Risk) -> Linearised:
    """Prediction-rejection ratio (random − area) / (random − best), with influences by the quotient rule."""
    if ranked.all_errors_equal:
        return Linearised(np.nan, np.zeros(ranked.n), notes=ALL_EQUAL)
    by_rate, rate = ranked.unranked(ranked.errors - ranked.error_rate), _random(ranked, risk)
    if risk == "generalised":
        by_rate = by_rate / 2
    area, best = (_AREAS[risk](one) for one in (ranked, _by_errors(ranked)))
    possible = rate - best.value
    value = _ratio(rate, area, best)
    influence = ((by_rate - area.influence) - value * (by_rate - best.influence)) / possible
    statistic = Linearised(value, influence, inside=area.inside, uneven=True, notes=ranked.notes_of_ties)
    return _or_perfect(ranked, statistic)


def _random(ranked: RankedErrors, risk: Risk) -> float:
    """Area of a random order."""
    return ranked.error_rate / 2 if risk == "generalised" else ranked.error_rate


def _ratio(random: float, area: Linearised, best: Linearised) -> float:
    return min((random - area.value) / (random - best.value), 1.0)  # beyond 1 by rounding errors only


def prediction_rejection_in_part(
    ranked: RankedErrors, risk: Risk, max_rejection: float, convention: RatioConvention
) -> Linearised:
    """Prediction-rejection ratio of the areas over the coverages from 1 − `max_rejection` to 1."""
    if ranked.all_errors_equal:
        return Linearised(np.nan, np.zeros(ranked.n), notes=ALL_EQUAL)
    total = float(ranked.kept[-1])
    least = total * (1 - max_rejection)
    if convention == "counts":
        least = total - np.floor(max_rejection * total * (1 + ROUNDING))  # .29 of 100 are 29, not 28
        if total - least < 2:
            return Linearised(np.nan, np.zeros(ranked.n), notes=NONE_REFUSED)
    area, best = (_area_in_part(one, risk, least, convention) for one in (ranked, _by_errors(ranked)))
    # of a random order: the risk is the error rate, or the error rate times the coverage
    factor = (total + least) / (2 * total) if risk == "generalised" else 1.0
    random, by_rate = ranked.error_rate * factor, ranked.residuals * factor
    possible = random - best.value
    value = min((random - area.value) / possible, 1.0)
    if value > 1 - ROUNDING:
        return Linearised(value, np.zeros(ranked.n), notes=NONE_BETTER)
    influence = ((by_rate - area.influence) - value * (by_rate - best.influence)) / possible
    return Linearised(value, influence, inside=area.inside, uneven=True, notes=ranked.notes_of_ties)


def _area_in_part(ranked: RankedErrors, risk: Risk, least: float, convention: RatioConvention) -> Linearised:
    """Mean of the risk over the coverages that keep a weight from `least` to all, with the error mass A linear in a block.

    With φ(M) = 1 / M (selective) or 1 / total (generalised), the area is ∫ A(M) φ(M) dM / (total − least). For "counts" the
    integral of 1 / M is the sum of 1 / k over the numbers kept k = least + 1, …, and so an integral for ties, too.
    """
    end, total = ranked.kept, ranked.kept[-1]
    before = np.append(0.0, end[:-1])
    width, mass = end - before, np.append(0.0, ranked.wrong[:-1])
    rate = np.diff(ranked.wrong, prepend=0.0) / width
    start = np.clip(least, before, end)  # of the part of each block that counts
    if risk == "generalised":
        whole = (end - start) / total  # ∫ φ dM
        ramp = ((end - before) ** 2 - (start - before) ** 2) / (2 * total)  # ∫ (M − before) φ dM
    else:
        whole = special.digamma(end + 1) - special.digamma(start + 1) if convention == "counts" else np.log(end / start)
        ramp = (end - start) - before * whole
    range_ = total - least
    value = float((mass * whole + rate * ramp).sum() / range_)
    # One more instance raises A(M) by e − s(M) above its block, and in its block in proportion. It also adds to the total: the
    # range moves from [least, total] to [least (1 + 1/total), total + 1].
    own, above = ramp / width, np.append(sum_from(whole)[1:], 0.0)
    above_rates = np.append(sum_from(rate * whole)[1:], 0.0)
    share = total / range_
    lowest = float(np.interp(least, np.append(0.0, end), np.append(0.0, ranked.wrong)))
    if risk == "generalised":
        moved = share * (ranked.wrong[-1] - least / total * lowest) / total - 2 * value
    else:
        moved = share * (ranked.error_rate - lowest / total) - value
    by_error = share * (above + own)
    return _with_influence(ranked, value, by_error, moved - share * (above_rates + rate * own))


def small_sample_ratio(ranked: RankedErrors, risk: Risk, codes: NDArray[np.intp] | None = None) -> Linearised:
    """`prediction_rejection`, with the imaginary instances of `auc_estimate` if the ratio equals 2 UQ-AUC − 1.

    It does for the generalised risk and errors of 0 and 1.
    """
    if ranked.all_errors_equal or risk != "generalised" or not ranked.whole:
        return prediction_rejection(ranked, risk)
    return replace(ranked_auc(ranked, codes).affine(2.0, -1.0), value=_generalised_ratio(ranked))


def _generalised_ratio(ranked: RankedErrors) -> float:
    return _ratio(_random(ranked, "generalised"), augrc(ranked), augrc(_by_errors(ranked)))


def ratio_of_auc(runs: Sequence[RankedErrors], auc: Estimate) -> Estimate | None:
    """`area_estimate` of the `small_sample_ratio` of the generalised risk, from the estimate of UQ-AUC with its notes.

    None where the ratio is not 2 UQ-AUC − 1.
    """
    if any(ranked.all_errors_equal or not ranked.whole for ranked in runs):
        return None
    value = float(np.mean([_generalised_ratio(ranked) for ranked in runs]))
    fields = {name: getattr(auc, name) for name in ("level", "n", "method", "notes")}
    return Estimate(value, low=2 * auc.low - 1, high=2 * auc.high - 1, **fields)


@once
def ranked_auc(ranked: RankedErrors, codes: NDArray[np.intp] | None) -> Linearised:
    """UQ-AUC of ranked errors, with imaginary instances, from group codes (n,) or None."""
    e = ranked.memberships[0]
    if ranked.weights is not None:
        weights = ranked.unranked(ranked.weights)
        return auc_linearised(e, ranked.level.astype(np.float64), weights, codes, imaginary=IMAGINARY)
    if ranked.block is not None and not ranked.whole:
        scores = ranked.unranked(ranked.of_rows(ranked.thresholds))
        return auc_linearised(e, scores, None, codes, imaginary=IMAGINARY)
    # sums of fractions round differently in another order of ties; those of 0 and 1 do not
    n = ranked.order.size
    ends = np.arange(n) if ranked.block is None else np.append(np.flatnonzero(np.diff(ranked.block)), n - 1)
    return auc_of_order(e, ranked.order, ends, None, codes, imaginary=IMAGINARY)


def _or_perfect(ranked: RankedErrors, statistic: Linearised) -> Linearised:
    """The statistic, or influences of 0 and a note if the order is perfect, as no instance then shows any variation."""
    rises = np.diff(ranked.errors)
    inside = 0.0 if ranked.block is None else rises[np.diff(ranked.block) == 0]
    if (rises < 0).any() or np.any(inside):
        return statistic
    return Linearised(statistic.value, np.zeros(ranked.n), notes=NONE_WRONG)


@once_for_errors
def _by_errors(ranked: RankedErrors) -> RankedErrors:
    """The same instances in the best order, by ascending error."""
    if ranked.weights is None and ranked.errors.size > 2 and ranked.whole and not ranked.all_errors_equal:
        wrong = ranked.errors == 1
        order = np.concatenate([np.flatnonzero(~wrong), np.flatnonzero(wrong)])  # two blocks, without a sort
        ends = np.array([wrong.size - np.count_nonzero(wrong), wrong.size])
        errors = ranked.errors[order]
        best = replace(
            ranked,
            block=errors.astype(np.intp),
            errors=errors,
            thresholds=np.array([0.0, 1.0]),
            kept=ends.astype(np.float64),
            wrong=np.array([0.0, float(ends[1] - ends[0])]),
        )
    else:
        best = rank_errors(ranked.errors, ranked.errors, ranked.weights)
        order = best.order
    return replace(best, n=ranked.n, order=ranked.order[order], _found={}, _of_errors={})


def _with_influence(ranked: RankedErrors, value: float, by_error: Floats, constant: Floats) -> Linearised:
    """Linearised statistic with influences e_i · by_error + constant, both given by block."""
    more, of_right = ranked.of_rows(by_error), ranked.of_rows(constant)
    influence = of_right + ranked.errors * more
    return Linearised(value, ranked.unranked(influence), inside=ranked.memberships, uneven=True)


_AREAS: Mapping[Risk, Callable[[RankedErrors], Linearised]] = {"generalised": augrc, "selective": aurc}


def sum_from(terms: Floats) -> Floats:
    """Sum of each term and all later ones."""
    return np.cumsum(terms[::-1])[::-1]


# Areas under risk-coverage curves: AURC, E-AURC, AUGRC and the prediction-rejection ratio.

CONVENTIONS = ("exact", "trapezoid")


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def aurc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    convention: Convention = "exact",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the risk-coverage curve (AURC): the mean risk over all coverages. Lower is better.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed.
    convention : {"exact", "trapezoid"}
        "exact": the mean of 1 − accuracy at coverage c, over all c in (0, 1]. "trapezoid": trapezoids under the risk at the
        distinct thresholds, as in FD-Shifts. It rewards ties, so use it only to reproduce published numbers.
    sample_weight : array (n,), optional
        An integer weight equals that many copies.
    groups : array of labels (n,), optional
        Instances of one group (patient, site, video) may depend on each other; groups are independent.
    level : float

    Returns
    -------
    estimate : Estimate
        With fewer than 20 errors or right predictions a note gives their number. If all errors are equal, the AURC is the
        error rate, as for a random order, with Wilson's interval.

    Notes
    -----
    A tie k reaches from coverage c₀ to c₁, has the error rate s and the error mass A₀ before it. Inside it the error *mass*
    is linear, because ties are shared evenly, and the risk is A/c. The tie adds s (c₁ − c₀) + (A₀ − s c₀) ln(c₁ / c₀) to the
    AURC. The sum equals the mean of the AURC over all orders of the tied instances, so a tie is neither rewarded nor
    punished, and the order of rows does not matter.

    The mean is over all coverages in (0, 1], at which the last instance may be kept in part. The mean over the coverages
    1/n, 2/n, …, 1 differs from it by less than 1 / (2n). With `convention="trapezoid"` the risk is linear between distinct
    thresholds and constant before the first. A score that ties nearly all instances then has a lower AURC than a better
    score without ties.

    The AURC gives an error among the most certain instances a weight of up to 1 + ln n. It depends on the accuracy too.

    The intervals of the AURC and of twice the AUGRC are symmetric on the scale of ln x / (1 − x). Those of the E-AURC, and of
    1 minus the selective prediction-rejection ratio, are symmetric on the scale of ln x, and end at an AURC of 1. The
    generalised ratio has the interval of UQ-AUC.

    The standard error follows from the exact influence of every instance. On the scale of ln x the influence is multiplied by
    1 + 1/m for each of m errors or right predictions, as in the jackknife. A few confident errors make up much of the variance,
    so Student's t has the degrees of freedom 2 (Σ u²)² / (Σ u⁴ − (Σ u²)² / G), which follow from the fourth moment of the
    influences, but at least 3.

    With 20 errors or more, 95 % intervals cover about 93 to 97 %, but at a UQ-AUC of .95 those of the E-AURC and the selective
    ratio 91 and 89 %. With fewer errors, or with 97 % of the scores tied, they cover less (docs/evidence-ranking.md).

    References
    ----------
    Geifman, Uziel, El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers.
    Jaeger et al. (2023), A call to reflect on evaluation practices for failure detection (FD-Shifts; the trapezoids).
    Efron (1982), The jackknife, the bootstrap and other resampling plans.

    Examples
    --------
    >>> found = aurc_loss([0] * 20 + [1], list(range(21)))
    >>> round(found, 4), found.notes[0].text
    (0.0012, 'only 1 error: a rough interval')
    """
    one_of(convention, "convention", CONVENTIONS)
    area = aurc if convention == "exact" else aurc_trapezoid
    return _estimate(area, "aurc", errors, uncertainty, sample_weight, groups, level)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def e_aurc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    convention: Convention = "exact",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Excess of the AURC over the AURC of the best order of the same errors (E-AURC). Lower is better.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `risk_coverage_curve`.
    convention : {"exact", "trapezoid"}
        How the AURC is computed, as in `aurc_loss`. The AURC of the best order is exact in both.

    Returns
    -------
    estimate : Estimate
        At least 0 (exact convention). There is no interval if all errors are equal or no instance is ranked wrongly, because
        the sample then shows no variation.

    Notes
    -----
    The best order is by ascending error. For errors of 0 and 1 with the rate r its AURC is r + (1 − r) ln(1 − r). With
    `convention="trapezoid"` the E-AURC of a perfect order is near 0 but not 0, and ties can make it negative.

    See `aurc_loss` for the interval and its measured coverage.

    References
    ----------
    Geifman, Uziel, El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers.

    Examples
    --------
    >>> round(e_aurc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]), 4)
    0.1308
    """
    one_of(convention, "convention", CONVENTIONS)
    excess = partial(e_aurc, convention=convention)
    return _estimate(excess, "e-aurc", errors, uncertainty, sample_weight, groups, level)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def augrc_loss(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the generalised risk-coverage curve (AUGRC). Lower is better.

    It is the risk of an undetected error, averaged over coverages.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        If all errors are equal, half the error rate, with half of Wilson's interval.

    Notes
    -----
    AUGRC is the mean over coverages of A, the share of all instances that are kept and wrong. A is linear between distinct
    thresholds from (0, 0). For errors of 0 and 1 the AUGRC is (1 − ACC)² / 2 + ACC (1 − ACC) (1 − UQ-AUC).

    See `aurc_loss` for the interval and its measured coverage.

    References
    ----------
    Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification systems.

    Examples
    --------
    >>> round(augrc_loss([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]), 4)
    0.125
    """
    return _estimate(augrc, "augrc", errors, uncertainty, sample_weight, groups, level)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def prediction_rejection_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    risk: Risk = "generalised",
    max_rejection: float = 1.0,
    convention: RatioConvention = "exact",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Prediction-rejection ratio: gain over a random order, divided by the gain of the best order.

    Parameters
    ----------
    errors, uncertainty
        As in `risk_coverage_curve`.
    risk : {"generalised", "selective"}
        "generalised": areas under the rejection curve, on which rejected instances count as right (Malinin). "selective":
        areas under the error rate of the instances kept (AURC), as in benchmarks of language models.
    max_rejection : float
        The greatest share that is rejected, in (0, 1]: the areas are over the coverages from 1 − `max_rejection` to 1.
        LM-Polygraph reports 0.5.
    convention : {"exact", "counts"}
        "exact": the mean over all coverages. "counts": the mean over the numbers of instances kept, with the selective risk, as
        in LM-Polygraph; use it to compare with published numbers. It takes no weights.
    sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        1 for the best order, 0 for a random order, negative for a worse one. nan with a note if all errors are equal. If
        no instance is ranked wrongly, only the generalised ratio of errors of 0 and 1 has an interval.

    Notes
    -----
    The ratio is (random − area) / (random − best), with random = r / 2 (generalised) or r (selective). The selective ratio
    uses the best order of `e_aurc_loss`. For errors of 0 and 1 the generalised ratio is 2 UQ-AUC − 1, and its interval is
    computed from that of UQ-AUC.

    Up to a rejection ρ < 1, random = r (1 − ρ / 2) or r, and the interval is symmetric on the scale of ln(1 − ratio), from
    influences that include the edge at the coverage 1 − ρ. There is none if no order is better up to ρ.

    LM-Polygraph takes the value of a random order from 1,000 random orders; here it is the expectation. Tied instances count as
    the mean over their orders, with each convention.

    See `aurc_loss` for the interval and its measured coverage.

    References
    ----------
    Malinin, Mlodozeniec, Gales (2020), Ensemble distribution distillation.
    Fadeeva et al. (2023), LM-Polygraph: uncertainty estimation for language models.
    Vashurin et al. (2025), Benchmarking uncertainty quantification methods for large language models with LM-Polygraph.

    Examples
    --------
    >>> errors, uncertainty = [0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5]
    >>> round(prediction_rejection_score(errors, uncertainty), 4)
    0.6667
    >>> round(prediction_rejection_score(errors, uncertainty, risk="selective"), 4)
    0.7783
    >>> round(prediction_rejection_score(errors, uncertainty, risk="selective", max_rejection=0.5), 4)
    0.4627
    """
    one_of(risk, "risk", ("generalised", "selective"))
    one_of(convention, "convention", ("exact", "counts"))
    remedy = "pass 0.5 to reject at most half of the instances"
    most = number(max_rejection, "max_rejection", remedy, low=0, high=1, ends="(]")
    if convention == "counts":
        if risk != "selective":
            fail(
                "convention", '"counts" is for risk="selective"', f"got risk={risk!r}", 'pass "exact"', code="conflict"
            )
        if sample_weight is not None:
            fail(
                "sample_weight",
                'has no meaning for convention="counts"',
                "got weights",
                'pass "exact"',
                code="conflict",
            )
    in_part = convention == "counts" or most < 1

    def ratio(ranked: RankedErrors) -> Linearised:
        if in_part:
            return prediction_rejection_in_part(ranked, risk, most, convention)
        return small_sample_ratio(ranked, risk, make_units(ranked.n, groups, None).codes)

    kind = "prediction-rejection-in-part" if in_part else f"prediction-rejection-{risk}"
    return _estimate(ratio, kind, errors, uncertainty, sample_weight, groups, level)


def _estimate(
    statistic: Callable[[RankedErrors], Linearised],
    kind: str,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    level: float,
) -> Estimate:
    ranked = rank_errors(errors, uncertainty, sample_weight)
    options = {"sample_weight": sample_weight, "groups": groups}
    estimate = area_estimate(statistic(ranked), kind, level=level, **options)
    for note in ranked.notes(make_units(ranked.n, groups, sample_weight)):
        estimate = estimate.with_note(note)
    return estimate


# The risk-coverage curve: the error rate of the instances kept, when the most uncertain ones are refused.

CHUNK = 2**15  # thresholds processed at once, so that they stay in the cache
WIDEST_STEP = 1e8  # upper bound of the quantile, beyond which the interval does not change


@final
@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """Risk-coverage curve with pointwise intervals. Build it with `risk_coverage_curve`."""

    coverage: Floats  #: (B,): share of the weight that is kept, ascending. The last coverage is 1.
    risk: Floats  #: (B,): error rate of the instances kept
    #: (B,): pointwise interval of the risk at each coverage
    low: Floats
    high: Floats
    #: (B,): instances up to this uncertainty are kept. A coverage inside a tie (see `at`) keeps the same share of each tied
    #: instance.
    thresholds: Floats
    n_kept: Floats  #: (B,): number of instances of positive weight that are kept (expected number inside a tie)
    level: float
    notes: tuple[Note, ...]  #: remarks, such as the number of groups
    _bands: "Bands" = field(repr=False)

    @property
    def generalised_risk(self) -> Floats:
        """Share of all instances that are kept and wrong, (B,)."""
        return self.risk * self.coverage

    def at(self, coverage: ArrayLike) -> "RiskCoverage":
        """The same curve at other coverages in (0, 1], without sorting again. Ties are shared evenly.

        Examples
        --------
        >>> curve = risk_coverage_curve([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
        >>> curve.at([0.5, 0.75]).risk.round(4).tolist()
        [0.0, 0.3333]
        """
        grid = as_floats(coverage, "coverage", ndim=(1,), shape="(B,)")
        between(grid, "coverage", "give shares of the instances", ends="(]", of="entry")
        return self._bands.curve(grid, self.level, self.notes)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def risk_coverage_curve(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> RiskCoverage:
    """Risk of the instances kept at every threshold of the uncertainty.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed.
    sample_weight : array (n,), optional
        An integer weight equals that many copies.
    groups : array of labels (n,), optional
        Instances of one group (patient, site, video) may depend on each other; groups are independent.
    level : float
        Confidence level of each pointwise interval. It is not the level of a band around the whole curve.

    Returns
    -------
    curve : RiskCoverage
        The curve at the distinct thresholds, so it does not depend on the order of rows. `curve.at(coverages)` gives it on
        a grid.

    Notes
    -----
    Let m_i be the kept share of each instance (1, 0, or the share of a tie), A = Σ w e m / Σ w and c = Σ w m / Σ w. The
    risk R = A / c has the influence ((e m − A) + ε (c − m)) / c. The second term accounts for the estimated threshold, with
    the error rate ε of the instances near it (a window of ranks of at most ± 5 %).

    The interval contains the risks R' that differ from R by at most t standard deviations under R'. The variance under R'
    is d · (R'(1 − R') / c + (R − ε)² (1 − c) / c) / n, with the design effect d of groups, weights and soft labels. The
    small-sample correction and the degrees of freedom are those of the error rate of all instances. If no error is kept,
    the interval follows from the number kept. At coverage 1 it is that of `proportion_estimate`.

    References
    ----------
    El-Yaniv, Wiener (2010), On the foundations of noise-free selective classification.
    Geifman, El-Yaniv (2017), Selective classification for deep neural networks.

    Examples
    --------
    >>> curve = risk_coverage_curve([0, 0, 1, 0], [0.1, 0.2, 0.2, 0.9])
    >>> curve.coverage.tolist(), curve.risk.round(4).tolist(), curve.thresholds.tolist()
    ([0.25, 0.75, 1.0], [0.0, 0.3333, 0.25], [0.1, 0.2, 0.9])
    """
    ranked = rank_errors(errors, uncertainty, sample_weight)
    check_level(level)
    units = make_units(ranked.n, groups, sample_weight)
    return Bands.of(ranked, units).curve(None, level, (*interval_notes(units), *ranked.notes(units)))


@final
@dataclass(frozen=True, eq=False, slots=True)
class Bands:
    """Running sums over groups g (or instances), which give the variance of the risk at any coverage.

    Let w_g be the weight of a group, and a_g and m_g its error mass and weight that are kept. If the share f of block k is
    kept, a_g = a_g⁰ + f·Δa_g. A sum over groups of squares or products is then `start` + f·`linear` + f²·`square` in that
    block, so that no coverage needs a pass over the groups.
    """

    ranked: RankedErrors
    units: Units
    dof: float
    factor: float  # small-sample correction of the variance
    sum_ww: float  # Σ w_g² / (Σ w)²
    start: Floats  # (3, B): Σ a_g², Σ a_g m_g, Σ m_g², all over (Σ w)²
    linear: Floats
    square: Floats
    with_size: Floats  # (2, B + 1): Σ a_g w_g, Σ m_g w_g at the ends of the blocks, with a leading 0

    @classmethod
    def of(cls, ranked: RankedErrors, units: Units) -> "Bands":
        """Compute the running sums, in O(n log n)."""
        alike = is_plain(units) and ranked.whole
        sums = _sums_of_alike(ranked) if alike else _sums(ranked, units)
        dof = factor = np.nan
        if units.n_units > 1:
            factor, dof = small_sample_of(ranked, units)
        sum_ww = float(((units.sizes / ranked.kept[-1]) ** 2).sum())
        return cls(ranked, units, dof, factor, sum_ww, *sums)

    def curve(self, coverage: Floats | None, level: float, notes: tuple[Note, ...]) -> RiskCoverage:
        """Risk and interval at coverages in (0, 1], or at every threshold if `coverage` is None."""
        ranked = self.ranked
        sizes = ranked.kept
        if ranked.weights is not None:
            counts = np.ones(sizes.size) if ranked.block is None else np.bincount(ranked.block)
            sizes = np.cumsum(counts, dtype=np.float64)
        size = ranked.kept.size if coverage is None else coverage.size
        columns = np.empty((6, size))
        for first in range(0, size, CHUNK):
            chunk = slice(first, min(first + CHUNK, size))
            if coverage is None:
                k = np.arange(chunk.start, chunk.stop)
                f = np.ones(k.size)
            else:
                k, f = ranked.place(coverage[chunk])
            c, risk, low, high = self._at(k, f, level)
            columns[:, chunk] = c, risk, low, high, ranked.thresholds[k], ranked.inside(sizes, k, f)
        c, risk, low, high, thresholds, n_kept = columns
        everything = c == 1
        if everything.any():
            rate = _rate_of_all(ranked, self.units, level)
            low[everything], high[everything] = rate.low, rate.high
        return RiskCoverage(
            coverage=c,
            risk=risk,
            low=low,
            high=high,
            thresholds=thresholds,
            n_kept=n_kept,
            level=level,
            notes=notes,
            _bands=self,
        )

    def _at(self, k: NDArray[np.intp], f: Floats, level: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Coverage, risk and its interval if the share f of block k is kept."""
        ranked = self.ranked
        wrong, kept = ranked.inside(ranked.wrong, k, f), ranked.inside(ranked.kept, k, f)
        a, c, risk = wrong / ranked.kept[-1], kept / ranked.kept[-1], wrong / kept
        if self.units.n_units == 1:
            return c, risk, np.full_like(c, np.nan), np.full_like(c, np.nan)
        rate = ranked.local_rate(c)
        aa, am, mm = self.start[:, k] + f * (self.linear[:, k] + f * self.square[:, k])
        aw, mw = self.with_size[:, k] + f * (self.with_size[:, k + 1] - self.with_size[:, k])
        # Σ_g u_g² with u_g = a_g − ε m_g − b w_g, the influence times c, expanded into the running sums
        b = a - rate * c
        squares = aa + rate**2 * mm + b**2 * self.sum_ww - 2 * (rate * am + b * aw - rate * b * mw)
        variance = self.factor * np.maximum(squares, 0.0) / c**2
        low, high = risk_interval(
            risk, rate, c, variance, n_units=self.units.n_units, sum_ww=self.sum_ww, dof=self.dof, level=level
        )
        return c, risk, low, high


@once_for_errors
def _rate_of_all(ranked: RankedErrors, units: Units, level: float) -> Estimate:
    """The error rate of all instances."""
    codes = None if units.codes is None else _ranked_codes(ranked, units)
    return proportion_estimate(ranked.errors, groups=codes, sample_weight=ranked.weights, level=level)


@once_for_errors
def small_sample_of(ranked: RankedErrors, units: Units) -> tuple[float, float]:
    """`small_sample` of the error rate."""
    return small_sample(ranked.residuals, units)


def small_sample(residuals: Floats, units: Units) -> tuple[float, float]:
    """Factor that makes Σ u² / (Σ w)² over the units an unbiased variance, and its degrees of freedom, of residuals (n,)."""
    kept = units.keep(residuals)
    spread = spread_of_mean(kept, units)
    plain = float((units.sums(kept[:, np.newaxis]) ** 2).sum() / units.sizes.sum() ** 2)
    return spread.standard_error**2 / plain if plain > 0 else units.n_units / (units.n_units - 1), spread.dof


def risk_interval(
    risk: Floats | float,
    rate: Floats | float,
    coverage: Floats | float,
    variance: Floats | float,
    *,
    n_units: int,
    sum_ww: float,
    dof: Floats | float,
    level: float,
) -> tuple[Floats, Floats]:
    """Interval of the risks R' that differ from the observed R by at most t standard deviations under R'.

    `rate` is the error rate near the threshold, `variance` the estimated variance of R, and `sum_ww` is Σ w_g² / (Σ w)².
    """
    risk, spare = np.asarray(risk), (1 - coverage) / coverage
    quantile = np.minimum(special.stdtrit(dof, 0.5 + level / 2), WIDEST_STEP)
    plain = (risk * (1 - risk) / coverage + (risk - rate) ** 2 * spare) / n_units
    with np.errstate(invalid="ignore", divide="ignore"):
        # without variance the design effect is undefined; 1 / Σ w_g² is then the effective number of units. A risk of 0 or 1
        # may be off by rounding, which depends on the unit of the weights
        varies = (plain * n_units > 1e-12) & (variance > 1e-12 * plain)
        design = np.where(varies, variance / plain, n_units * sum_ww)
    k = np.minimum(quantile**2 * design / n_units, WIDEST_STEP**2)
    # (R − R')² = k (R'(1 − R') / c + (R − ε)² (1 − c) / c) is quadratic in R'
    wilson = k / coverage
    half = risk + wilson / 2
    root = np.sqrt(np.maximum(half**2 - (1 + wilson) * (risk**2 - k * (risk - rate) ** 2 * spare), 0.0))
    low, high = (half - root) / (1 + wilson), (half + root) / (1 + wilson)
    return np.clip(low, 0.0, risk), np.clip(high, risk, 1.0)


def _sums_of_alike(ranked: RankedErrors) -> tuple[Floats, Floats, Floats, Floats]:
    """`_sums` of single instances of weight 1 with errors of 0 and 1, whose squares are the errors themselves."""
    running = np.stack([ranked.wrong, ranked.wrong, ranked.kept]) / ranked.kept[-1] ** 2
    before = np.concatenate([np.zeros((3, 1)), running], axis=1)
    start = before[:, :-1]
    return start, np.zeros_like(start), running - start, before[1:]


def _sums(ranked: RankedErrors, units: Units) -> tuple[Floats, Floats, Floats, Floats]:
    """`start`, `linear`, `square` and `with_size` of `Bands`."""
    total = ranked.kept[-1]
    w = np.ones_like(ranked.errors) if ranked.weights is None else ranked.weights
    delta = np.stack([w * ranked.errors, w]) / total  # (2, m)
    blocks, n_blocks = ranked.block, ranked.kept.size
    before = None
    if units.codes is not None:
        delta, before, blocks, size = _cells(delta, ranked, units, units.sizes / total)

    def by_block(values: Floats) -> Floats:
        return values if blocks is None else np.bincount(blocks, values, n_blocks).astype(np.float64, copy=False)

    a, m = delta
    square = np.stack([by_block(a * a), by_block(a * m), by_block(m * m)])
    linear, with_size = np.zeros_like(square), np.zeros((2, n_blocks + 1))
    if before is None:
        running = np.cumsum(square, axis=1)
        start = running - square
        with_size[:, 1:] = running[1:]  # the size of a group of one instance is m
    else:
        a0, m0 = before
        linear = np.stack([by_block(2 * a0 * a), by_block(a0 * m + m0 * a), by_block(2 * m0 * m)])
        start = np.cumsum(square + linear, axis=1) - (square + linear)
        np.cumsum([by_block(a * size), by_block(m * size)], axis=1, out=with_size[:, 1:])
    return start, linear, square, with_size


def _cells(
    delta: Floats, ranked: RankedErrors, units: Units, sizes: Floats
) -> tuple[Floats, Floats, NDArray[np.intp], Floats]:
    """Cells (sums over each group within each block), sums of the group over earlier blocks, block and group size."""
    codes = _ranked_codes(ranked, units)
    by_group = np.argsort(codes, kind="stable")
    codes = codes[by_group]
    blocks = by_group if ranked.block is None else ranked.block[by_group]
    new = np.flatnonzero((codes[1:] != codes[:-1]) | (blocks[1:] != blocks[:-1])) + 1
    first = np.concatenate([[0], new])
    cells = np.add.reduceat(delta[:, by_group], first, axis=1)
    codes, blocks = codes[first], blocks[first]
    running = np.cumsum(cells, axis=1) - cells
    group_start = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    base = np.repeat(running[:, group_start], np.diff(np.append(group_start, codes.size)), axis=1)
    return cells, running - base, blocks, sizes[codes]


def _ranked_codes(ranked: RankedErrors, units: Units) -> NDArray[np.intp]:
    """Group of each sorted instance."""
    assert units.codes is not None
    codes = np.empty(ranked.n, dtype=np.intp)
    codes[slice(None) if units.rows is None else units.rows] = units.codes
    return codes[ranked.order]


# Error rates of the instances kept and of those refused at one coverage, with the influence of every instance.


class Products(NamedTuple):
    """Sums of squares of the influences on the error rates kept and refused, and of their products."""

    kept: float
    refused: float
    both: float


@final
@dataclass(frozen=True, eq=False)
class KeptPart:
    """Error rates of the instances kept and refused, the error rate near the threshold, and the influences on the first.

    Build it with `kept_parts`.
    """

    ranked: RankedErrors
    coverage: float
    threshold: float
    risk: float
    refused_risk: float
    rate: float
    share: float  #: share of the block at the threshold that is kept
    #: first sorted instance of this block, and the first after it
    first: int
    last: int
    masses: tuple[float, float, float]  #: error mass of the blocks before, of this one and of those after

    @property
    def _slices(self) -> tuple[tuple[slice, float], ...]:
        """Rows that are kept, those of the block at the threshold, and those refused, with the share m that is kept."""
        first, last = self.first, self.last
        return (slice(first), 1.0), (slice(first, last), self.share), (slice(last, None), 0.0)

    def _constant(self, m: float) -> float:
        """The influence on the risk kept is (e m + this) / c."""
        return self.rate * (self.coverage - m) - self.coverage * self.risk

    @property
    def influence(self) -> Floats:
        """Influences on the error rate kept, (n,)."""
        own = np.empty(self.ranked.errors.size)
        for rows, m in self._slices:
            own[rows] = (self.ranked.errors[rows] * m + self._constant(m)) / self.coverage
        return self.ranked.unranked(own)

    @property
    def products(self) -> Products:
        """Sums over instances of weight 1, from the mean and the spread of the errors of those kept and refused."""
        kept = refused = both = 0.0
        c, ranked = self.coverage, self.ranked
        for (rows, m), mass in zip(self._slices, self.masses, strict=True):
            errors = ranked.errors[rows]
            n = errors.size
            if n == 0:
                continue
            square = mass if ranked.whole else float((errors * errors).sum())
            mean, spread = mass / n, max(square - mass**2 / n, 0.0)
            u = (m * mean + self._constant(m)) / c
            v = ((1 - m) * mean - ranked.error_rate - self._constant(m)) / (1 - c)
            by_error, by_error_refused = m / c, (1 - m) / (1 - c)
            kept += n * u * u + by_error**2 * spread
            refused += n * v * v + by_error_refused**2 * spread
            both += n * u * v + by_error * by_error_refused * spread
        return Products(kept, refused, both)


def kept_parts(ranked: RankedErrors, coverages: Sequence[float]) -> list[KeptPart]:
    """Error rates of the instances kept at coverages in (0, 1) and of those refused, with the influences on the first."""
    coverage = np.maximum(np.asarray(coverages, dtype=np.float64), LEAST)
    blocks, shares = ranked.place(coverage)
    risk = ranked.inside(ranked.wrong, blocks, shares) / ranked.kept[-1] / coverage
    refused = np.clip((ranked.error_rate - coverage * risk) / (1 - coverage), 0.0, 1.0)
    columns = (coverage, ranked.thresholds[blocks], risk, refused, ranked.local_rate(coverage), shares)
    end, before = ranked.wrong[blocks], np.where(blocks > 0, ranked.wrong[blocks - 1], 0.0)
    masses = zip(before.tolist(), (end - before).tolist(), (ranked.wrong[-1] - end).tolist(), strict=True)
    places = [(*_rows_of_block(ranked, block), mass) for block, mass in zip(blocks.tolist(), masses, strict=True)]
    return [KeptPart(ranked, *part, *at) for *part, at in zip(*(c.tolist() for c in columns), places, strict=True)]


def _rows_of_block(ranked: RankedErrors, block: int) -> tuple[int, int]:
    """First sorted instance of a block, and the first after it."""
    if ranked.block is None:
        return block, block + 1
    first, last = np.searchsorted(ranked.block, [block, block + 1])
    return int(first), int(last)


# Selective accuracy: the accuracy after the most uncertain instances are refused, and its gain.


@final
@dataclass(frozen=True)
class SelectiveGain:
    """Gain in accuracy from refusing the most uncertain instances."""

    coverage: float  #: share of the instances that is kept
    threshold: float  #: instances up to this uncertainty are kept. Ties at the threshold are shared evenly.
    #: accuracy of all instances (`proportion_estimate`) and of the instances kept. Both are equal at coverage 1.
    accuracy_all: Estimate
    accuracy_kept: Estimate
    gain: Estimate  #: accuracy of the instances kept minus accuracy of all, on the same instances


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def accuracy_at_coverage_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    coverage: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Accuracy of the least uncertain share of the instances. Higher is better.

    Parameters
    ----------
    errors, uncertainty
        As in `risk_coverage_curve`. The accuracy is 1 minus the risk of that curve.
    coverage : float
        Share that is kept, in (0, 1]. Ties at the threshold are shared evenly, which equals the mean over random orders of
        the tied instances.
    sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        The interval is that of `risk_coverage_curve`, which accounts for the estimated threshold. If no error is kept, it
        follows from the number kept.

    Notes
    -----
    See `selective_gain` for the measured coverage of the interval.

    References
    ----------
    Geifman, El-Yaniv (2017), Selective classification for deep neural networks.

    Examples
    --------
    >>> errors, uncertainty = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(accuracy_at_coverage_score(errors, uncertainty, coverage=0.5), 4)
    1.0
    >>> round(accuracy_at_coverage_score(errors, uncertainty, coverage=0.8), 4)
    0.7917
    """
    runs = [rank_errors(errors, uncertainty, sample_weight)]
    return Refusals(runs, sample_weight=sample_weight, groups=groups, level=level).accuracy(coverage)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def selective_gain(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    coverage: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> SelectiveGain:
    """Gain in accuracy when the most uncertain instances are refused.

    Parameters
    ----------
    errors, uncertainty, coverage, sample_weight, groups, level
        As in `accuracy_at_coverage_score`.

    Notes
    -----
    With the error rates R of the instances kept and ρ of those refused, the gain is (1 − c)(ρ − R). Its interval combines
    the intervals of the two rates and their correlation (Newcombe's method for a difference of two proportions).

    The measured coverage of 95 % intervals is 92 to 98 %. It is lowest if UQ-AUC is near 1 and scores have few levels, and
    highest if few errors are kept (docs/evidence-ranking.md).

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, Stat. Med. 17.
    Zou, Donner (2008), Construction of confidence limits about effect measures (with correlation), Stat. Med. 27.

    Examples
    --------
    >>> found = selective_gain([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], coverage=0.5)
    >>> round(found.accuracy_all, 4), round(found.accuracy_kept, 4), round(found.gain, 4), found.threshold
    (0.6667, 1.0, 0.3333, 0.3)
    """
    runs = [rank_errors(errors, uncertainty, sample_weight)]
    found = Refusals(runs, sample_weight=sample_weight, groups=groups, level=level)
    gain, kept = found.gain(coverage), found.accuracy(coverage)
    right = 1 - np.asarray(errors, dtype=np.float64)
    every = proportion_estimate(right, level=level, sample_weight=sample_weight, groups=groups)
    return SelectiveGain(float(coverage), found.threshold(coverage), every, kept, gain)


# -- for other rooms: estimates over several runs ------------------------------------------------------------------------


@final
class Refusals:
    """Accuracy and gain at any number of coverages, averaged over training runs. For use by other rooms.

    Parameters
    ----------
    runs : sequence of RankedErrors
        One per training run.
    sample_weight, groups, level
        As in `risk_coverage_curve`.
    """

    def __init__(
        self,
        runs: Sequence[RankedErrors],
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        level: float = 0.95,
    ) -> None:
        check_level(level)
        self.runs, self.level = tuple(runs), level
        self._options: dict[str, Any] = {"sample_weight": sample_weight, "groups": groups, "level": level}
        self._units = make_units(runs[0].n, groups, sample_weight)
        self._known: dict[float, _Split] = {}  # at the coverages prepared last

    def prepare(self, coverages: Sequence[float]) -> None:
        """Find the accuracy and the gain at several coverages at once, in less time than one after the other."""
        inner = [coverage for coverage in coverages if coverage < 1]
        parts = list(zip(*(kept_parts(ranked, inner) for ranked in self.runs), strict=True))
        products = [self._products(runs) for runs in parts]
        both = list(zip(parts, inner, products, strict=True))
        sides = [_Side([p.risk for p in part], c, of.kept) for part, c, of in both]
        sides += [_Side([p.refused_risk for p in part], 1 - c, of.refused) for part, c, of in both]
        near = np.array([[part.rate for part in runs] for runs in (*parts, *parts)])
        found = _rates(sides, near, self._units, self.level, self._correction) if inner else []
        splits = zip(parts, products, found[: len(inner)], found[len(inner) :], strict=True)
        self._known = {c: _Split(*split) for c, split in zip(inner, splits, strict=True)}

    def _products(self, parts: Sequence[KeptPart]) -> Products:
        """Products of the influences of the units, averaged over runs."""
        if len(parts) == 1 and is_plain(self._units):
            return parts[0].products
        c, influence = parts[0].coverage, _averaged([part.influence for part in parts])
        both = np.stack([influence, (self._residuals - c * influence) / (1 - c)])
        u, v = self._units.sums(self._units.keep(both).T).T
        return Products(float(u @ u), float(v @ v), float(u @ v))

    def threshold(self, coverage: float) -> float:
        """Uncertainty of the last instance kept, averaged over runs."""
        if coverage == 1:
            return float(np.mean([ranked.thresholds[-1] for ranked in self.runs]))
        return float(np.mean([part.threshold for part in self._split(coverage).parts]))

    def accuracy(self, coverage: float) -> Estimate:
        """`accuracy_at_coverage_score`."""
        check_coverage(coverage)
        notes = list(self._notes)
        if coverage == 1:
            right = np.stack([ranked.unranked(1 - ranked.errors) for ranked in self.runs])
            every = proportion_estimate(right, **self._options)
            value, low, high = float(every), every.low, every.high
        else:
            found = self._split(coverage).kept
            value, low, high = 1 - found.risk, 1 - found.high, 1 - found.low
        if value == 1:
            notes.append(Note("edge", f"no error among the {coverage * self._units.n_instances:.4g} kept"))
        return self._estimate(value, low, high, "score", notes)

    def gain(self, coverage: float) -> Estimate:
        """The gain of `selective_gain`."""
        check_coverage(coverage)
        if coverage == 1:
            return self._estimate(0.0, 0.0, 0.0, "newcombe", [*self._notes, Note("edge", "nothing is refused")])
        _, products, kept, out = self._split(coverage)
        p, r = out.risk, kept.risk
        few, many = sorted((products.kept, products.refused))
        correlation = (
            products.both / (few * many) ** 0.5 if few > 1e-24 * many else 0.0
        )  # few: rounding where all are right

        def reach(a: float, b: float) -> float:
            return float(np.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0)))

        refuse = 1 - coverage
        value = refuse * (p - r)
        low, high = (
            value - refuse * reach(p - out.low, kept.high - r),
            value + refuse * reach(out.high - p, r - kept.low),
        )
        notes = [*self._notes, *distinct(*(ranked.notes_of_ties for ranked in self.runs))]
        return self._estimate(value, max(low, -refuse), min(high, refuse), "newcombe", notes)

    def curve(self, coverages: Floats) -> RiskCoverage:
        """The risk-coverage curve of the only run at coverages in (0, 1]."""
        (ranked,) = self.runs
        return Bands.of(ranked, self._units).curve(coverages, self.level, tuple(self._notes))

    @cached_property
    def _notes(self) -> list[Note]:
        return _notes(self._units, self.runs)

    @cached_property
    def _residuals(self) -> Floats:
        """Influences on the error rate of all, averaged over runs, (n,)."""
        return _averaged([ranked.residuals for ranked in self.runs])

    @cached_property
    def _correction(self) -> "_Correction":
        sizes = self._units.sizes
        total = float(sizes.sum())
        return _Correction(*_small_sample(self.runs, self._units), total, float((sizes**2).sum()) / total**2)

    def _split(self, coverage: float) -> "_Split":
        if coverage not in self._known:
            self.prepare([coverage])
        return self._known[coverage]

    def _estimate(self, value: float, low: float, high: float, method: str, notes: Sequence[Note]) -> Estimate:
        n = self._units.n_instances
        return Estimate(value, low=low, high=high, level=self.level, n=n, method=method, notes=notes)


class _Side(NamedTuple):
    """Error rate of the instances kept or refused in every run, their share, and Σ u² of its influences over the units."""

    risks: Sequence[float]
    coverage: float
    square: float


class _Rate(NamedTuple):
    """Error rate over all runs with its interval."""

    risk: float
    low: float
    high: float


class _Split(NamedTuple):
    """Instances kept and refused at one coverage, in every run."""

    parts: Sequence[KeptPart]
    products: Products
    kept: _Rate
    refused: _Rate


class _Correction(NamedTuple):
    """Small-sample factor and degrees of freedom of a risk, Σ w_g and Σ w_g² / (Σ w)² over the units."""

    factor: float
    dof: float
    total: float
    sum_ww: float


def _averaged(values: Sequence[Floats]) -> Floats:
    """Mean over runs."""
    return values[0] if len(values) == 1 else np.asarray(np.mean(values, axis=0))


def _small_sample(runs: Sequence[RankedErrors], units: Units) -> tuple[float, float]:
    """`small_sample` of the error rate, averaged over runs, as in the risk-coverage curve."""
    if units.n_units == 1:
        return np.nan, np.nan
    if len(runs) == 1:
        return small_sample_of(runs[0], units)
    return small_sample(np.mean([ranked.residuals for ranked in runs], axis=0), units)


def _rates(sides: Sequence[_Side], near: Floats, units: Units, level: float, correction: _Correction) -> list[_Rate]:
    """Error rates with their intervals, from the rates near the thresholds (sides, R); all are found at once."""
    risk = np.array([side.risks for side in sides]).mean(axis=1)
    if units.n_units == 1:
        return [_Rate(value, np.nan, np.nan) for value in risk.tolist()]
    coverage = np.array([max(side.coverage, LEAST) for side in sides])
    variance, dof = np.array([_variance(side, correction) for side in sides]).T
    interval = partial(risk_interval, n_units=units.n_units, sum_ww=correction.sum_ww, level=level)
    low, high = interval(risk, near.mean(axis=1), coverage, variance, dof=dof)
    if len(sides[0].risks) > 1:
        # if no run kept an error, averaging R runs must not shorten the interval: all see the same instances
        _, least = interval(0.0, 0.0, coverage, 0.0, dof=correction.dof)
        high = np.maximum(high, least)
    return [_Rate(*found) for found in zip(risk.tolist(), low.tolist(), high.tolist(), strict=True)]


def _variance(side: _Side, correction: _Correction) -> tuple[float, float]:
    """Variance of an error rate and its degrees of freedom."""
    factor, dof, total, _ = correction
    variance = within = factor * side.square / total**2
    if len(side.risks) > 1:
        among = float(np.var(side.risks, ddof=1)) / len(side.risks)
        variance = within + among
        if among > 0:
            dof = 1 / ((within / variance) ** 2 / dof + (among / variance) ** 2 / (len(side.risks) - 1))
    return variance, dof


def _notes(units: Units, runs: Sequence[RankedErrors]) -> list[Note]:
    notes = interval_notes(units, [len(runs)] if len(runs) > 1 else [])
    extremes = (min(runs, key=attrgetter("error_rate")), max(runs, key=attrgetter("error_rate")))
    return [*notes, *distinct(*(ranked.notes(units) for ranked in extremes))]


def check_coverage(coverage: float) -> None:
    number(coverage, "coverage", "pass 0.9 to refuse the most uncertain tenth", low=0, high=1, ends="(]")


# Coverage at a risk: the largest share of the instances that can be kept at a given error rate.

GRID = 4096  # coverages at which the risk is tested; the thresholds are tested too if there are no more of them


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def coverage_at_risk_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    risk: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Largest share of the instances that can be kept at an error rate of at most `risk`; higher is better.

    Parameters
    ----------
    errors, uncertainty
        As in `risk_coverage_curve`.
    risk : float
        The greatest acceptable error rate of the instances kept, in [0, 1].
    sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        1 if the error rate of all instances is at most `risk`, and 0 if no threshold reaches `risk`. A note marks both
        cases.

    Notes
    -----
    The error mass is linear between two thresholds (ties are shared evenly), so the accuracy at this coverage is 1 − risk.

    The interval inverts the pointwise intervals of the risk-coverage curve. The upper end is the largest coverage whose
    interval reaches down to `risk`. The lower end is the coverage nearest below the estimate whose interval lies below
    `risk`, or 0 if there is none. The lower end is not the lowest coverage whose interval contains `risk`, because a
    handful of instances has a wide interval, so that end would always be near 0. See `selective_gain` for the measured
    coverage.

    The estimate does not guarantee the risk on new data: such a guarantee needs a threshold chosen for it.

    Examples
    --------
    >>> errors, uncertainty = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(coverage_at_risk_score(errors, uncertainty, risk=0.2), 4)
    0.8333
    """
    check_level(level)
    number(risk, "risk", "pass 0.05 for one error among twenty instances kept", low=0, high=1)
    ranked = rank_errors(errors, uncertainty, sample_weight)
    units = make_units(ranked.n, groups, sample_weight)
    value, why = _coverage_at(ranked, risk)
    notes = [*interval_notes(units), *ranked.notes(units), *why]
    low = high = np.nan
    if units.n_units > 1:
        low, high = _inverted(ranked, units, risk, value, level)
        if low == 0 < value:
            notes.append(Note("one-sided", "no coverage is shown to have a lower risk"))
    return Estimate(value, low=low, high=high, level=level, n=units.n_instances, method="inverted score", notes=notes)


def _coverage_at(ranked: RankedErrors, risk: float) -> tuple[float, tuple[Note, ...]]:
    """The largest coverage at which the error mass equals risk · coverage, with notes at the ends."""
    c, excess = ranked.coverage, ranked.wrong - risk * ranked.kept
    met = np.flatnonzero(excess <= 1e-12 * ranked.kept)
    if not met.size:
        return 0.0, (Note("edge", f"no threshold has a risk of {risk:g} or less"),)
    k = int(met[-1])
    if k + 1 == c.size:
        return 1.0, (Note("edge", f"all instances together have a risk of {risk:g} or less"),)
    a, b = min(float(excess[k]), 0.0), float(excess[k + 1])
    return float(c[k] + (c[k + 1] - c[k]) * -a / (b - a)), ()


def _inverted(ranked: RankedErrors, units: Units, risk: float, value: float, level: float) -> tuple[float, float]:
    c = np.append(
        np.arange(1, GRID + 1) / GRID, ranked.coverage if ranked.coverage.size <= GRID else ranked.coverage[0]
    )
    c = np.unique(np.append(c, value) if value > 0 else c)
    curve = Bands.of(ranked, units).curve(c, level, ())
    lower = np.flatnonzero((curve.high < risk) & (c <= value))
    upper = np.flatnonzero(curve.low <= risk)
    low = _crossing(c, curve.high - risk, int(lower[-1])) if lower.size else 0.0
    high = _crossing(c, curve.low - risk, int(upper[-1])) if upper.size else value
    return min(low, value), max(high, value)


def _crossing(c: Floats, excess: Floats, last: int) -> float:
    """Zero of the excess between this point and the next one, by linear interpolation."""
    if last + 1 == c.size:
        return float(c[-1])
    a, b = float(excess[last]), float(excess[last + 1])
    return float(c[last] + (c[last + 1] - c[last]) * (a / (a - b) if b > a else 0.0))


# The smallest gain of a refusal that a test set could have shown.

NODES = 40  # quantiles of each count of errors
HALVINGS = 14


def detectable_gain(
    error_rate: float, coverage: float, n: float, *, level: float = 0.95, power: float = POWER
) -> float:
    """The smallest gain in accuracy that the interval of `selective_gain` sets apart from 0. For use by other rooms.

    Parameters
    ----------
    error_rate : float
        Of all instances.
    coverage : float
        Share c that is kept, in (0, 1).
    n : float
        Number of independent instances, see `independent_instances`.
    level : float
        Of the interval.
    power : float
        Probability with which the interval of a gain of this size lies above 0.

    Returns
    -------
    gain : float
        Infinite if even the greatest possible gain would be shown more rarely.

    Notes
    -----
    With a gain g, c n instances are kept with the error rate e − g and (1 − c) n refused with e + g c/(1 − c). Their errors are
    taken as binomial and independent, the intervals of both rates as Wilson's, and the power is the mean over quantiles of both
    counts. The gain that was observed has no part in it.

    Examples
    --------
    >>> round(detectable_gain(0.1, 0.9, 1000), 4), detectable_gain(0.1, 0.9, 5)
    (0.0096, inf)
    """
    refused = 1 - coverage
    most = min(error_rate, (1 - error_rate) * refused / coverage)
    if not most > 0 or refused * n < 1:
        return float("inf")

    def shown(gain: float) -> bool:
        kept_rate, refused_rate = error_rate - gain, min(error_rate + gain * coverage / refused, 1.0)
        r, r_high = _error_rates(kept_rate, coverage * n, level)[::2]
        p, p_low = _error_rates(refused_rate, refused * n, level)[:2]
        ahead = p[:, np.newaxis] - r
        reach = np.hypot((p - p_low)[:, np.newaxis], r_high - r)
        return bool((ahead > reach).mean() >= power)

    if not shown(most):
        return float("inf")
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def independent_instances(rate: float, low: float, high: float, *, level: float, most: float) -> float:
    """How many independent instances give a share so wide an interval of Wilson's; at most `most`.

    Examples
    --------
    >>> round(independent_instances(0.1, 0.0744, 0.1331, level=0.95, most=1000))
    404
    """
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    half = (high - low) / 2
    if not half > 0:
        return most
    # half² (1 + z²/n)² = z² (q/n + z²/(4 n²)) with q = rate (1 − rate), for x = 1/n
    q = rate * (1 - rate)
    roots = np.roots([half**2 * z2**2 - z2**2 / 4, 2 * half**2 * z2 - z2 * q, half**2])
    found = [min(1 / x.real, most) for x in roots if abs(x.imag) < ROUNDING and x.real > 0]
    return min([*found, most], key=lambda n: abs(_width(rate, n, z2) - half))


def _width(rate: float, n: float, z2: float) -> float:
    return float((z2 * (rate * (1 - rate) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n))


def _error_rates(rate: float, n: float, level: float) -> tuple[Floats, Floats, Floats]:
    """Quantiles of the observed share with its Wilson interval, (NODES,) each."""
    size = max(round(n), 1)
    places = (np.arange(NODES) + 0.5) / NODES
    if ROUNDING < rate < 1 - ROUNDING:
        counts = np.clip(np.ceil(special.bdtrik(places, size, rate)), 0, size)
    else:
        counts = np.full(NODES, float(size) if rate > 0.5 else 0.0)
    share = counts / size
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    return share, middle - half, middle + half
