"""How much more one model could lose than another on the inputs seen, whatever their labels: the bounds of the paired tests.

A test of two means cannot see a loss that is as great as it is rare. What it can rest on is what the models *say*: with the
same inputs and any other labels, the better model a could have lost at most

    W = max over inputs i and classes k of (loss of a if i were of class k − loss of b if i were of class k)

more than the worse one b. So a share q of inputs on which a fails by W, unseen among n, would reverse a difference d only if
q ≥ d/(W + d), which n inputs show nothing of with probability (W/(W + d))^n at most. Inputs unlike all that were seen may be
worse: claims that rest on them not coming say so (`claims.input_claims`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats, release, row_chunks
from uqassay.checks import fail
from uqassay.credal.distances import DISTANCES
from uqassay.evidence.scoring import ERROR, PART_BYTES, Settings, points_of_sets
from uqassay.losses.unified import FLOORS, label_losses, point_losses
from uqassay.predictions import Answers, Masses, Point, Prediction
from uqassay.records import Shape
from uqassay.text import count, listed, named

__all__ = ["TERMS", "Excess", "excess_of", "failing_at_most"]

TERMS = ("distance", "log-loss", "brier")  # the non-specificity does not depend on the label, so its columns tell


@dataclass(frozen=True, eq=False)
class Excess:
    """Losses of J models at any label of the inputs seen, averaged over training runs; nan where they have no closed form."""

    names: tuple[str, ...]
    #: By `TERMS`, the greatest excess of the row's model over the column's.
    over: Annotated[Floats, Shape("terms", "models", "models")]
    greatest: Annotated[Floats, Shape("terms", "models")]
    least: Annotated[Floats, Shape("terms", "models")]

    def _check_read(self) -> None:
        if len(self.names) != self.greatest.shape[1] or len(self.greatest) != len(TERMS):
            got = f"got {len(self.names)} names for an array of shape {self.greatest.shape}"
            fail("names", "must name the models of the arrays", got, code="shape")

    @classmethod
    def unknown(cls, names: Sequence[str]) -> "Excess":
        """Of models whose losses of other labels are not known."""
        shape = len(TERMS), len(names)
        return cls(tuple(names), np.full((*shape, len(names)), np.nan), np.full(shape, np.nan), np.full(shape, np.nan))

    def joined(self, other: "Excess") -> "Excess":
        """That of the inputs of both."""
        return Excess(
            self.names,
            np.maximum(self.over, other.over),
            np.maximum(self.greatest, other.greatest),
            np.minimum(self.least, other.least),
        )

    def of(self, term: str, better: str, worse: str) -> float:
        """The greatest excess of one model over another."""
        return float(self.over[TERMS.index(term), self.names.index(better), self.names.index(worse)])


def excess_of(models: Mapping[str, Sequence[Prediction]], settings: Settings) -> Excess:
    """The excesses of models, each with its runs, over each other.

    Parameters
    ----------
    models : mapping of str to sequence of Prediction
        Of the same instances and classes.
    settings : Settings
    """
    names, runs = tuple(models), list(models.values())
    if settings.distance == ERROR.name:
        return _excess_of_answers(models, settings)
    first = runs[0][0]
    j, n, k = len(names), first.n_instances, first.n_classes
    over = np.full((len(TERMS), j, j), -np.inf)
    greatest, least = np.full((len(TERMS), j), -np.inf), np.full((len(TERMS), j), np.inf)
    points = sum(points_of_sets(run) or 3 for several in runs for run in several)
    for rows in row_chunks(n, 8 * k * points, chunk_bytes=PART_BYTES):
        for t, term in enumerate(TERMS):
            losses: list[NDArray[Any] | None] = [_losses(each, rows, term, settings) for each in runs]
            for a, one in enumerate(losses):
                if one is None:
                    greatest[t, a] = least[t, a] = over[t, a] = over[t, :, a] = np.nan
                    continue
                greatest[t, a] = np.maximum(greatest[t, a], one.max(initial=-np.inf))
                least[t, a] = np.minimum(least[t, a], one.min(initial=np.inf))
                for b, other in enumerate(losses[:a]):
                    if other is not None:
                        with np.errstate(invalid="ignore"):  # both infinite, with a floor of 0
                            apart = one - other
                        over[t, a, b] = np.maximum(over[t, a, b], apart.max(initial=-np.inf))
                        over[t, b, a] = np.maximum(over[t, b, a], -apart.min(initial=np.inf))
                over[t, a, a] = 0.0
        for run in (one for several in runs for one in several):
            for name in run.array_names():
                release(getattr(run, name))  # pages of files that were read
    return Excess(names, over, greatest, least)


def _excess_of_answers(models: Mapping[str, Sequence[Prediction]], settings: Settings) -> Excess:
    """Each model may be right or wrong whatever the others are, so the excess is the greatest loss of one above the least."""
    losses = [_losses_of_answers(runs, settings) for runs in models.values()]  # (terms, n, 2)
    most, least = [each.max(axis=2) for each in losses], [each.min(axis=2) for each in losses]
    over = np.array([[(one - other).max(axis=1) for other in least] for one in most])  # (models, models, terms)
    over[np.arange(len(losses)), np.arange(len(losses))] = 0.0
    greatest, smallest = np.array([m.max(axis=1) for m in most]).T, np.array([m.min(axis=1) for m in least]).T
    return Excess(tuple(models), np.moveaxis(over, -1, 0), greatest, smallest)


def _losses_of_answers(runs: Sequence[Prediction], settings: Settings) -> Floats:
    """Mean losses over the runs if each answer were wrong, and if it were right; nan without confidence."""
    found = np.full((len(TERMS), runs[0].n_instances, 2), np.nan)
    found[0] = [1.0, 0.0]
    stated = [run.confidence for run in runs if isinstance(run, Answers) and run.confidence is not None]
    if stated:
        said = np.array(stated, dtype=np.float64)
        of_both = np.stack([1.0 - said, said], axis=-1)  # (R, n, 2): probability of wrong and of right
        with np.errstate(divide="ignore"):  # infinite with a floor of 0
            log_loss = 0.0 - np.log(np.maximum(of_both, FLOORS["exact"] if settings.floor is None else settings.floor))
        found[1:] = log_loss.mean(axis=0), ((1.0 - of_both) ** 2).mean(axis=0)
    return found


def _losses(runs: Sequence[Prediction], rows: slice, term: str, settings: Settings) -> Floats | None:
    """Mean loss over the runs of some instances with each label, (n', K); None without a closed form."""
    exact = settings.convention == "exact"
    floor = FLOORS["exact" if exact or term != "distance" else settings.convention]
    floor = floor if settings.floor is None else settings.floor
    distance = {"distance": settings.distance, "log-loss": "kl", "brier": "brier"}[term]
    total: Floats | None = None
    for run in runs:
        part = run[rows]
        if not exact and isinstance(part, Masses):
            part = part.repaired()
        if term == "distance" and not (exact or isinstance(part, Point)):
            return None  # of the masses as the authors' code clips them
        own = term == "distance"
        found = label_losses(part, distance, floor) if own else point_losses(part.mean_probs(), distance, floor)
        if found is None:
            return None
        total = found if total is None else total + found
    assert total is not None
    return total / len(runs) if len(runs) > 1 else total


# In words: how seldom a model may fail outright.

MOST_NAMES = 3  # of more models the strictest number stands for all


def failing_at_most(cases: Mapping[str, float], distance: str) -> str:
    """How often models may fail outright on inputs unlike those of the test set.

    Examples
    --------
    >>> failing_at_most({"a": 338.7}, "kl")
    'a gives the true class probability 0 in at most 1 of 340 cases unlike these'
    >>> failing_at_most({"a": 338.7, "b": 52.0}, "tv")
    'a has the greatest possible total variation in at most 1 of 340 cases unlike these and b in at most 1 of 52 cases'
    """
    found = DISTANCES[distance]
    fails = "gives the true class probability 0" if found.floored else f"has the greatest possible {found.heading}"
    shares = {name: _share(n) for name, n in cases.items()}
    if len(shares) > MOST_NAMES:
        return f"each model {fails} {shares[max(cases, key=lambda name: cases[name])]} unlike these"
    (first, share), *rest = shares.items()
    return listed([f"{named(first)} {fails} {share} unlike these", *(f"{named(name)} {of}" for name, of in rest)])


def _share(n: float) -> str:
    return f"in at most 1 of {count(_rounded_up(n))} cases" if np.isfinite(n) else "in none of the cases"


def _rounded_up(n: float) -> int:
    """A number of cases with two digits, not smaller but by the rounding of sums."""
    step = 10 ** max(0, int(np.floor(np.log10(n))) - 1)
    return int(np.ceil(n / step * (1 - 1e-9)) * step)
