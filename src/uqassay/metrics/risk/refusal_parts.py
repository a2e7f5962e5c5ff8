"""The two parts of the data behind a certified refusal: one chooses candidates, the other certifies them."""

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import generator
from uqassay._conversion import as_array
from uqassay.errors import InputError
from uqassay.metrics.risk.ranked_errors import checked_errors
from uqassay.metrics.risk.refusal_plan import RefusalPlan, Tested
from uqassay.statistics.binomial_bounds import least_kept
from uqassay.statistics.samples import Floats, Units, check_inside, make_units
from uqassay.wording import counted, percent

__all__ = ["Needed", "RefusalParts", "divide", "needed", "whole_errors"]

FAR = 100  # times the certifying instances or groups: beyond, their number is not named


@final
@dataclass(frozen=True, eq=False)
class RefusalParts:
    """A division of n instances.

    Attributes
    ----------
    choosing : bool array (n,)
        True for the instances that choose; the others certify.
    groups : int array (n,) or None
    largest : int
        Size of the largest group; 1 without groups.
    """

    choosing: NDArray[np.bool_]
    groups: NDArray[np.intp] | None
    largest: int

    def units_of(self, rows: NDArray[np.bool_]) -> Units:
        """Units of some of the instances."""
        return make_units(int(rows.sum()), None if self.groups is None else self.groups[rows], None)


class Needed(NamedTuple):
    """How many more instances or groups are needed; None if no number is enough, as the text says."""

    number: int | None
    unit: str
    text: str


def whole_errors(errors: ArrayLike, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
    """Errors of 0 and 1, and the uncertainty, as float64."""
    e, s = checked_errors(errors, uncertainty)
    part = np.flatnonzero((e != 0) & (e != 1))
    if part.size:
        raise InputError(
            "errors",
            "must be 0 or 1",
            f"row {part[0]} has {e[part[0]]:g}",
            "give 1 for a wrong prediction and 0 for a right one, of one training run",
            code="range",
        )
    return e, s


def divide(
    n: int,
    groups: ArrayLike | None,
    choosing: ArrayLike | None,
    share: float,
    rng: int | np.random.Generator | None,
) -> RefusalParts:
    """Divide n instances, whole groups at a time.

    Raises
    ------
    InputError
        A mask of another shape or type, a group in both parts, an empty part, a share outside (0, 1).
    """
    check_inside(share, "share", 0.3)
    units = make_units(n, groups, None)
    codes = units.codes
    largest = 1 if codes is None else int(np.bincount(codes).max())
    if choosing is None:
        if units.n_units < 2:
            unit = "instance" if codes is None else "group"
            raise InputError(
                "errors" if codes is None else "groups",
                f"one {unit} cannot both choose and certify a threshold",
                f"got 1 {unit}",
                f"give at least two {unit}s",
                code="shape",
            )
        order = generator(rng).permutation(units.n_units)
        n_choosing = min(max(round(share * units.n_units), 1), units.n_units - 1)
        chosen = np.zeros(units.n_units, dtype=bool)
        chosen[order[:n_choosing]] = True
        return RefusalParts(chosen if codes is None else chosen[codes], codes, largest)
    return RefusalParts(_mask(choosing, n, codes), codes, largest)


def needed(plan: RefusalPlan, tested: Tested, errors: Floats, uncertainty: Floats, parts: RefusalParts) -> Needed:
    """How many more instances or groups would certify the first candidate, if its error rate stays as it is.

    `errors` and `uncertainty` are those of the certifying part.
    """
    unit = "instance" if plan.bets is None else "group"
    wrong, kept, n = float(tested.errors[0]), float(tested.kept[0]), errors.size
    certifying = float((~parts.choosing).mean())
    if kept == 0:
        return Needed(None, unit, "without an instance kept nothing can be said of its risk")
    rate = wrong / kept
    if rate >= plan.risk:
        shown = f"{percent(rate)} is not below {percent(plan.risk)}, and at this rate no number of {unit}s is enough"
        least = least_kept(0.0, plan.risk, plan.alpha)
        if least is not None and kept < least:
            shown += f"; without an error it takes {counted(least, 'instance')} kept"
        return Needed(None, unit, shown)
    if plan.bets is None:
        least = least_kept(rate, plan.risk, plan.alpha, start=int(kept) + 1)
        enough = None if least is None else least * n / kept
    else:
        enough = plan.groups_needed(errors, uncertainty, parts.units_of(~parts.choosing))
        n = parts.units_of(~parts.choosing).n_units
    if enough is None:
        return Needed(
            None, unit, f"its errors come in whole groups, so no number of {unit}s like these is likely to be enough"
        )
    more = max(math.ceil((enough - n) / certifying), 1)
    if enough > FAR * n:
        return Needed(more, unit, f"at this error rate it would take more than {FAR} times as many {unit}s")
    return Needed(more, unit, f"at this error rate about {counted(_rounded(more), f'more {unit}')} would be needed")


# -- parts -------------------------------------------------------------------------------------------------------------


def _rounded(n: int) -> int:
    """Two significant digits, rounded up."""
    step = 10 ** max(math.floor(math.log10(n)) - 1, 0)
    return -(-n // step) * step


def _mask(choosing: ArrayLike, n: int, codes: NDArray[np.intp] | None) -> NDArray[np.bool_]:
    mask = as_array(choosing, "choosing")
    if mask.dtype != bool or mask.shape != (n,):
        raise InputError(
            "choosing",
            f"must be a bool array of shape ({n},)",
            f"got {mask.dtype} of shape {mask.shape}",
            "give True for the instances that choose, False for those that certify",
            code="shape",
        )
    if mask.all() or not mask.any():
        raise InputError(
            "choosing",
            "needs instances in both parts",
            f"all {n} are {bool(mask[0])}",
            "give some of either",
            code="empty",
        )
    if codes is not None:
        inside = np.bincount(codes, weights=mask) / np.bincount(codes)
        both = np.flatnonzero((inside > 0) & (inside < 1))
        if both.size:
            row = int(np.argmax(codes == both[0]))
            raise InputError(
                "choosing",
                "a group must lie in one part",
                f"{counted(both.size, 'group')} in both, the first that of row {row}",
                "move whole groups",
                code="mismatch",
            )
    return np.array(mask)
