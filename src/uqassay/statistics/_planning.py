"""What planning for a width and planning for a power share: variances to expect, the search for n, checks of what is asked."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.linearised import Linearised, spread_of
from uqassay.statistics.samples import is_number, make_units

MODELS = ("binormal", "hanley-mcneil")

FEW = 20  # errors (or others), below which an interval is rough
LEAST = 2.0  # expected ones, below which there is no variance to speak of
LARGEST = 10**15


def placement_variances(auc: float, model: str) -> tuple[float, float]:
    """Variance of the share of others below an error, and of the share of errors above another."""
    if model == "binormal":
        both = auc - 2 * float(special.owens_t(special.ndtri(auc), 3**-0.5)) - auc**2
        return both, both
    return 2 * auc**2 / (1 + auc) - auc**2, auc / (2 - auc) - auc**2


def expected_samples(n: int, rate: float) -> tuple[float, float]:
    """Number of errors and of others, 1 / E 1/m each: E 1/m ≈ (1 + (1 − rate)/μ)/μ for the binomial m with mean μ."""
    first, second = (n * share / (1 + (1 - share) / (n * share)) for share in (rate, 1 - rate))
    return first, second


def pilot_error(pilot: Linearised, groups: ArrayLike | None) -> tuple[Callable[[int], tuple[float, float]], Note]:
    """Standard error and degrees of freedom of n instances, and where they come from."""
    if np.isnan(pilot.value):
        raise InputError(
            "pilot",
            "must be defined",
            f"it is nan ({', '.join(note.text for note in pilot.notes) or 'no reason given'})",
            "take a larger pilot",
            code="finite",
        )
    units = make_units(pilot.influence.shape[0], groups, None)
    m = units.n_instances
    spread = spread_of(pilot, units) if units.n_units > 1 else None
    if spread is None or not spread.standard_error > 0.0:
        raise InputError(
            "pilot",
            "must say how the statistic varies",
            f"{units.n_units} instances or groups show no variance",
            "take a larger pilot",
            code="undefined",
        )
    variance, dof = spread.standard_error**2, spread.dof
    # imaginary instances stay as few as they are, so what they add falls faster
    extra = variance - spread_of(replace(pilot, imaginary=0.0, shadows=()), units).standard_error ** 2
    text = f"from a pilot of {m} instances"
    if units.codes is not None:
        text += f" in {units.n_units} groups, {m / units.n_units:.3g} each"

    def standard_error(n: int) -> tuple[float, float]:
        share = m / n
        return (share * (variance - extra * (1 - min(share, 1.0)))) ** 0.5, max(dof * n / m, min(dof, 1.0))

    return standard_error, Note("pilot", text)


def least_instances(rate: float) -> int:
    """Instances among which two errors and two others are to be expected."""
    return int(np.ceil(LEAST / min(rate, 1 - rate)))


def least_n(reached: Callable[[int], bool], least: int, name: str) -> int:
    """The least n that reaches the goal; more instances always come closer to it."""
    low, high = least - 1, least
    while not reached(high):
        low, high = high, 2 * high
        if high > LARGEST:
            raise InputError(name, f"takes more than {LARGEST:.0e} instances", "", "ask for less", code="range")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def checked_n(n: int | None, least: int, rate: float) -> int:
    """Refuse what is no number of instances, or too small a one."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(
            "n", "must be a whole number of at least 1", f"got {n!r}", "pass the number of instances", code="range"
        )
    if n < least:
        why = "2" if np.isnan(rate) else f"{least}, so that two errors and two others are to be expected"
        raise InputError("n", f"must be at least {why}", f"got {n}", "plan for more", code="range")
    return int(n)


def plan_notes(note: Note | None, n: int, rate: float) -> tuple[Note, ...]:
    """What a reader of a plan should know."""
    notes = [] if note is None else [note]
    for count, name in ((n * rate, "errors"), (n * (1 - rate), "instances without error")):
        if count < FEW:
            text = f"only {count:.3g} {name} to expect: the interval is rough"
            notes.append(Note("few", text, {"count": count}))
    return tuple(notes)


def check_one_of(goal: float | None, n: int | None, name: str) -> None:
    """Refuse both or none of the goal and n."""
    if (goal is None) == (n is None):
        given = "none" if n is None else "both"
        raise InputError(
            name,
            f"give either {name} or n, one of the two",
            f"got {given}",
            "leave the unknown one out",
            code="undefined",
        )


def check_inside(value: float, name: str) -> None:
    """Refuse a share that does not lie strictly between 0 and 1."""
    if not (is_number(value) and 0.0 < value < 1.0):
        raise InputError(
            name, "must lie strictly between 0 and 1", f"got {value!r}", "give what you expect", code="range"
        )
