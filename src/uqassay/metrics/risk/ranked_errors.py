"""Errors sorted by uncertainty, in blocks of ties, from which all risk-coverage metrics are computed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.delong import notes_of_ties
from uqassay.statistics.placements import tied_share
from uqassay.statistics.samples import Floats, Units, as_floats, ascending_order, make_units

__all__ = ["RankedErrors", "checked_errors", "once", "rank_errors"]

FEW = 20  # fewer errors or right predictions get a note
WINDOW = 0.05  # greatest half width, in coverage, of the window for the error rate near a threshold
ROUNDING = 1e-12  # relative; coverages closer than this count as equal
LEAST = 1e-20  # smallest coverage, against division by 0


@final
@dataclass(frozen=True, eq=False, slots=True)
class RankedErrors:
    """Instances of positive weight, sorted by ascending uncertainty. A block is a set of instances of equal uncertainty.

    Build it with `rank_errors`. All sums are weights or error masses (weight times error), not shares.

    Attributes
    ----------
    n : int
        Number of instances given, including those of weight zero.
    order : int array (m,)
        Rows of the sorted instances.
    block : int array (m,), or None
        Block of each sorted instance; None if there are no ties.
    errors, weights : array (m,)
        Errors and weights of the sorted instances. Weights are None if all are 1.
    thresholds : array (B,)
        Uncertainty of each block, ascending.
    kept, wrong : array (B,)
        Weight and error mass kept at each threshold: sums over this block and all earlier ones.
    """

    n: int
    order: NDArray[np.intp]
    block: NDArray[np.intp] | None
    errors: Floats
    weights: Floats | None
    thresholds: Floats
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
    def all_errors_equal(self) -> bool:
        """True if there are no errors, only errors, or equal shares: there is nothing to rank."""
        return _all_errors_equal(self)

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
    def memberships(self) -> tuple[Floats, Floats]:
        """Share of an error and of a right prediction in every instance, in the original order of rows, (n,) each."""
        return _memberships(self)

    @property
    def residuals(self) -> Floats:
        """Errors minus the error rate, in the original order of rows, (n,)."""
        return _residuals(self)

    @property
    def level(self) -> NDArray[np.intp]:
        """Block of every instance in the original order of rows, (n,); 0 for weight zero."""
        return _level(self)

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
    def notes_of_ties(self) -> tuple[Note, ...]:
        """A note if nearly all errors, or right predictions, have one score, for what covers less then."""
        return _notes_of_ties(self)


T = TypeVar("T")
P = ParamSpec("P")


def once(function: Callable[Concatenate[RankedErrors, P], T]) -> Callable[Concatenate[RankedErrors, P], T]:
    """A function of ranked errors (and of further objects) that is computed once for each of them."""
    return _computed_once(function, lambda ranked: ranked._found)


def once_for_errors(function: Callable[Concatenate[RankedErrors, P], T]) -> Callable[Concatenate[RankedErrors, P], T]:
    """Likewise a function that is the same for every order of the errors, see `like` of `rank_errors`."""
    return _computed_once(function, lambda ranked: ranked._of_errors)


def _computed_once(
    function: Callable[Concatenate[RankedErrors, P], T], where: Callable[[RankedErrors], dict[str, Any]]
) -> Callable[Concatenate[RankedErrors, P], T]:
    name = function.__qualname__

    @wraps(function)
    def found(ranked: RankedErrors, *more: P.args, **options: P.kwargs) -> T:
        kept = where(ranked)
        last = kept.get(name)
        if last is None or any(a is not b for a, b in zip((*more, *options.values()), last[0], strict=True)):
            last = kept[name] = (*more, *options.values()), function(ranked, *more, **options)
        value: T = last[1]
        return value

    return found


@once_for_errors
def _all_errors_equal(ranked: RankedErrors) -> bool:
    return bool(ranked.errors.min() == ranked.errors.max())


@once_for_errors
def _memberships(ranked: RankedErrors) -> tuple[Floats, Floats]:
    return ranked.unranked(ranked.errors), ranked.unranked(1 - ranked.errors)


@once_for_errors
def _residuals(ranked: RankedErrors) -> Floats:
    return ranked.unranked(ranked.errors - ranked.error_rate)


@once
def _level(ranked: RankedErrors) -> NDArray[np.intp]:
    level = np.zeros(ranked.n, dtype=np.intp)
    level[ranked.order] = np.arange(ranked.order.size) if ranked.block is None else ranked.block
    return level


@once
def _notes_of_ties(ranked: RankedErrors) -> tuple[Note, ...]:
    if ranked.block is None or ranked.thresholds.size == 1:
        return ()
    tied = [tied_share(one, np.bincount(ranked.level, one).astype(np.float64)) for one in ranked.memberships]
    return tuple(notes_of_ties([float(one.sum()) for one in ranked.memberships], tied))


@once_for_errors
def whole_errors(ranked: RankedErrors) -> bool:
    """True if every error is 0 or 1. For use by other modules of this room."""
    return bool(((ranked.errors == 0) | (ranked.errors == 1)).all())


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

    Raises
    ------
    InputError
        When a value is nan, errors lie outside [0, 1], or shapes do not match.

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
    """Both as float64, or what `rank_errors` raises. For use by other modules of this room."""
    e = as_floats(errors, "errors", ndim=(1,), shape="(n,)")
    s = _one_for_each(uncertainty, e.size)
    if e.min() < 0 or e.max() > 1:
        outside = np.flatnonzero((e < 0) | (e > 1))
        raise InputError(
            "errors",
            "must lie in [0, 1]",
            f"{outside.size} of {e.size} values do not, the first at row {outside[0]} is {e[outside[0]]:g}",
            "give 1 for a wrong prediction, 0 for a right one, or the probability that it is wrong",
            code="range",
        )
    return e, s


def _one_for_each(uncertainty: ArrayLike, n: int) -> Floats:
    s = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(n,)")
    if s.size != n:
        raise InputError(
            "uncertainty", f"needs one value for each of the {n} errors", f"got {s.size}", "align them", code="mismatch"
        )
    return s


def _whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())
