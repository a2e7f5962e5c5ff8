"""Errors in the order of their uncertainty: the sorted blocks from which every risk-coverage number is made."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.samples import Floats, Units, as_floats, make_units

__all__ = ["RankedErrors", "rank_errors"]

FEW = 20  # errors, or right predictions, below which a note says so
WINDOW = 0.05  # widest half window of ranks for the error rate near a threshold
ROUNDING = 1e-12  # relative; coverages closer than this are one
LEAST = 1e-20  # a coverage below this is taken as this


@final
@dataclass(frozen=True, eq=False, slots=True)
class RankedErrors:
    """Instances of positive weight by ascending uncertainty; those of equal uncertainty are one block.

    Build it with `rank_errors`. Everything is a weight or a mass (weight times error), not yet a share.

    Attributes
    ----------
    n : int
        Number of instances given, those of weight zero among them.
    order : int array (m,)
        Their rows, from the least to the most uncertain.
    block : int array (m,), or None
        Block of each; None where no two are tied.
    errors, weights : array (m,)
        By order; weights are None where all are 1.
    thresholds : array (B,)
        Uncertainty of each block, ascending.
    kept, wrong : array (B,)
        Weight and error mass kept at each threshold: of this block and all before it.
    """

    n: int
    order: NDArray[np.intp]
    block: NDArray[np.intp] | None
    errors: Floats
    weights: Floats | None
    thresholds: Floats
    kept: Floats
    wrong: Floats

    @property
    def error_rate(self) -> float:
        """Risk where nothing is refused."""
        return float(self.wrong[-1] / self.kept[-1])

    @property
    def coverage(self) -> Floats:
        """Share of the weight that is kept, (B,)."""
        return self.kept / self.kept[-1]

    @property
    def all_errors_equal(self) -> bool:
        """No errors, only errors, or one share throughout: there is nothing to rank."""
        return bool(self.errors.min() == self.errors.max())

    def of_rows(self, by_block: Floats) -> Floats:
        """Each ranked instance's entry of values by block, (B,) -> (m,)."""
        return by_block if self.block is None else by_block[self.block]

    def unranked(self, values: Floats) -> Floats:
        """Values by order put back to the rows given; 0 for instances of weight zero, (m,) -> (n,)."""
        out = np.zeros(self.n)
        out[self.order] = values
        return out

    def place(self, coverage: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Block that a coverage in (0, 1] ends in, and how much of it is kept."""
        weight = np.maximum(coverage, LEAST) * self.kept[-1]
        k = np.minimum(np.searchsorted(self.kept, weight * (1 - ROUNDING)), self.kept.size - 1)
        end, before = self.kept[k], np.where(k > 0, self.kept[k - 1], 0.0)
        return k, np.where(weight >= end * (1 - ROUNDING), 1.0, (weight - before) / (end - before))

    def inside(self, at_end: Floats, block: NDArray[np.intp], share: Floats) -> Floats:
        """A running sum over the blocks, (B,), up to a share of a block."""
        end, before = at_end[block], np.where(block > 0, at_end[block - 1], 0.0)
        step = end - before
        return np.where(share < 0.5, before + share * step, end - (1 - share) * step)

    def local_rate(self, coverage: Floats, widen: float = 1.0) -> Floats:
        """Error rate of the instances around a coverage: what moving the threshold brings in."""
        total = self.kept[-1]
        half = widen * min(WINDOW, 0.5 * self.thresholds.size ** (-1 / 3))
        low, high = np.maximum(coverage - half, 0.0) * total, np.minimum(coverage + half, 1.0) * total
        return np.clip((self._wrong_below(high) - self._wrong_below(low)) / (high - low), 0.0, 1.0)

    def _wrong_below(self, weight: Floats) -> Floats:
        """Error mass of the least uncertain instances of this weight."""
        inside = np.interp(weight, self.kept, self.wrong)
        return np.where(weight < self.kept[0], weight * (self.wrong[0] / self.kept[0]), inside)

    def notes(self, units: Units) -> list[Note]:
        """Notes on few errors or right predictions, and on constant scores."""
        notes = []
        e = units.keep(self.unranked(self.errors))
        for share, name in ((e, "error"), (1 - e, "right prediction")):
            count, several = float(share.sum()), name + "s"
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


def rank_errors(errors: ArrayLike, uncertainty: ArrayLike, sample_weight: ArrayLike | None = None) -> RankedErrors:
    """Sort errors by uncertainty; the result does not depend on the order of rows, bit for bit.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater is less certain; infinities are legal.
    sample_weight : array (n,), optional

    Raises
    ------
    InputError
        nan, errors outside [0, 1], shapes that do not fit.

    Examples
    --------
    >>> ranked = rank_errors([1, 0, 0], [0.9, 0.2, 0.2])
    >>> ranked.thresholds.tolist(), ranked.kept.tolist(), ranked.wrong.tolist()
    ([0.2, 0.9], [2.0, 3.0], [0.0, 1.0])
    """
    e = as_floats(errors, "errors", ndim=(1,), shape="(n,)")
    s = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(n,)")
    n = e.size
    if s.size != n:
        raise InputError(
            "uncertainty", f"needs one value for each of the {n} errors", f"got {s.size}", "align them", code="mismatch"
        )
    if e.min() < 0 or e.max() > 1:
        outside = np.flatnonzero((e < 0) | (e > 1))
        raise InputError(
            "errors",
            "must lie in [0, 1]",
            f"{outside.size} of {n} values do not, the first at row {outside[0]} is {e[outside[0]]:g}",
            "give 1 for a wrong prediction, 0 for a right one, or the probability that it is wrong",
            code="range",
        )
    units = make_units(n, None, sample_weight)
    e, s, w = units.keep(e), units.keep(s), units.weights
    order = np.argsort(s)
    ranked = s[order]
    new = ranked[1:] != ranked[:-1]
    tied = not new.all()
    if tied and not (_whole(e) and (w is None or _whole(w))):
        # within a tie the sums would round by the order of rows
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
    )


def _whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())
