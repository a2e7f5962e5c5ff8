"""Whether the votes of an instance could come from some point of its credal set: a likelihood-ratio test for each instance."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, generator
from uqassay.calibration.parts import groups_of
from uqassay.credal.distance import NearestPoint, divergence, nearest_in_box, nearest_in_core, nearest_in_hull
from uqassay.losses.label_distance import FLOORS
from uqassay.losses.vote_counts import FewVotes, VotesAre, checked_votes, of_same_rows
from uqassay.notes import Note
from uqassay.predictions import Box, Masses, Point, Prediction, PredictionLike, as_prediction, not_negative
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.proportion import proportion_estimate
from uqassay.statistics.samples import check_draws, check_inside, check_level
from uqassay.wording import counted, level_text, percent, percent_interval

__all__ = ["VoteCompatibility", "vote_compatibility_test"]

Floats = NDArray[np.float64]

TIED = 1e-4  # of statistics: twice the votes times the gap of a solved distance
TOLERANCE = 1e-6
TOGETHER = 20  # draws of each instance at a time, of which some may come after the last that counts
MOST_NUMBERS = 4_000_000  # of votes drawn at a time


@final
@dataclass(frozen=True, eq=False)
class VoteCompatibility:
    """Result of `vote_compatibility_test`.

    Attributes
    ----------
    statistic : array (n,)
        −2 ln of the likelihood ratio: 2m · KL(votes / m ‖ nearest point of the set); nan for instances that are left out.
    pvalues : array (n,)
        Monte-Carlo p-value of each instance; ties count as reached, so that few votes give large p-values.
    kept_instances : bool array (n,)
        Instances that the test of level alpha does not reject, ties broken at random.
    share : Estimate
        Share of the instances whose votes are compatible with the set, without the bias of a test of level alpha.
    kept : Estimate
        Share of `kept_instances`.
    alpha : float
    n_draws : int
        Largest number of draws for one instance.
    notes : tuple of Note
    """

    statistic: Floats
    pvalues: Floats
    kept_instances: NDArray[np.bool_]
    share: Estimate
    kept: Estimate
    alpha: float
    n_draws: int
    notes: tuple[Note, ...]

    def sentence(self, *, name: str = "the model") -> str:
        """The share in plain words."""
        s = self.share
        ends = percent_interval(s.low, s.high, in_sentence=True)
        sure = "" if math.isnan(s.low) else f" ({level_text(s.level)} interval {ends})"
        return (
            f"The votes of an estimated {percent(s, in_sentence=True)}{sure} of {counted(s.n, 'instance')} could come from "
            f"some point of the set of {name}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values of the shares."""
        return {
            "share": self.share.to_dict(),
            "kept": self.kept.to_dict(),
            "alpha": self.alpha,
            "n_draws": self.n_draws,
            "notes": [note.to_dict() for note in self.notes],
        }


def vote_compatibility_test(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: PredictionLike,
    *,
    votes_are: VotesAre | None = None,
    alpha: float = 0.1,
    n_draws: int = 199,
    groups: ArrayLike | None = None,
    few_votes: FewVotes = "refuse",
    level: float = 0.95,
    rng: RandomState = None,
) -> VoteCompatibility:
    """Test for each instance whether its votes could come from some point of the credal set.

    Whether the shares of the votes lie *inside* a set says little: m votes scatter around the true probabilities, and the set
    of M < K members has no inside. This test asks whether a point of the set explains the votes as well as their scatter
    allows.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
        Numbers of votes for each class, at least two for each instance, independent given the instance.
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
        Of a point, the test is whether the votes could come from it.
    votes_are : {"counts", "single"}, optional
        As in `second_order_test`.
    alpha : float
        Level of the test behind the share.
    n_draws : int
        Largest number of draws for an instance, at least 1/alpha − 1.
    groups : array_like of labels (n,), optional
        Groups are independent; by default those of the prediction. They widen the interval of the share.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote.
    level : float
    rng : int, Generator or None
        None means seed 0.

    Returns
    -------
    VoteCompatibility

    Raises
    ------
    InputError
        As `checked_votes`; a level outside (0, 1), or too few draws.

    Notes
    -----
    The statistic is −2 ln(max over the set / max over the simplex) of the multinomial likelihood of the votes. The null
    distribution is that of votes from the most likely point of the set, which is fitted anew to each draw (a parametric
    bootstrap). An instance gets draws until h = ⌈alpha (n_draws + 1)⌉ of them reach its statistic, at draw l; then p = h/l
    (Besag and Clifford, 1991).

    If ties are broken at random, p-values of compatible instances are close to uniform, so that a share 1 − alpha of the
    compatible instances is kept. The share is therefore kept / (1 − alpha), at most 1 (Storey, 2002). Incompatible instances
    that have too few votes to show it are kept as well, so it is an upper bound in expectation. A true point inside a wide set
    is rejected less often than alpha, and one at a corner of a set of many members more often; docs/votes-against-sets.md has
    the measured rates.

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    Storey (2002), A direct approach to false discovery rates, J. R. Stat. Soc. B 64, equation 6.

    Examples
    --------
    >>> pair = [[[0.9, 0.1], [0.5, 0.5]]] * 2
    >>> found = vote_compatibility_test([[7, 3], [1, 9]], pair)
    >>> found.pvalues.tolist(), float(found.kept)
    ([1.0, 0.015], 0.5)
    """
    check_level(level)
    check_inside(alpha, "alpha")
    check_draws(n_draws)
    reach = max(1, math.ceil(alpha * (n_draws + 1) - 1e-9))
    votes, prediction, groups = of_same_rows(votes, prediction, groups)
    prediction = as_prediction(prediction)
    counted_votes = checked_votes(votes, prediction, votes_are=votes_are, few_votes=few_votes)
    rows: Any = slice(None) if counted_votes.rows is None else counted_votes.rows
    part = counted_votes.select(prediction).credal()
    nearest = _nearest_of(part, FLOORS["exact"])
    found = _tested(counted_votes.counts, nearest, reach, n_draws, generator(rng))

    n = prediction.n_instances
    statistic, pvalues = (np.full(n, np.nan) for _ in range(2))
    statistic[rows], pvalues[rows] = found.statistic, found.pvalues
    labels = groups_of(prediction, groups)
    passed = found.randomised > alpha + 1e-12
    kept_instances = np.zeros(n, dtype=bool)
    kept_instances[rows] = passed
    share, kept = compatible_share(
        passed, alpha, groups=None if labels is None else np.asarray(labels)[rows], level=level
    )
    notes = [Note("assumption", "the votes of an instance count as independent")]
    if counted_votes.n_left_out:
        text = f"left out: {counted(counted_votes.n_left_out, 'instance')} with fewer than two votes"
        notes.append(Note("left-out", text, {"n": counted_votes.n_left_out}))
    return VoteCompatibility(
        statistic=statistic,
        pvalues=pvalues,
        kept_instances=kept_instances,
        share=share,
        kept=kept,
        alpha=alpha,
        n_draws=n_draws,
        notes=(*notes, *kept.notes),
    )


# -- helpers -------------------------------------------------------------------------------------------------------------


def compatible_share(
    passed: NDArray[np.bool_], alpha: float, *, groups: ArrayLike | None = None, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """The share of compatible instances, and the share of those kept by a test of level alpha.

    The first is the second, with its interval, divided by 1 − alpha; at most 1.

    Examples
    --------
    >>> share, kept = compatible_share(np.array([True, False] * 50), 0.1)
    >>> float(kept), round(float(share), 3)
    (0.5, 0.556)
    """
    kept = proportion_estimate(passed.astype(np.float64), groups=groups, level=level)
    value, low, high = (
        min(end / (1 - alpha), 1.0) if end == end else end for end in (float(kept), kept.low, kept.high)
    )
    return Estimate(value, low=low, high=high, level=kept.level, n=kept.n, method="wilson", notes=kept.notes), kept


@dataclass(frozen=True)
class _Found:
    statistic: Floats
    pvalues: Floats
    randomised: Floats  # ties broken at random


def _tested(
    counts: Floats, nearest: Callable[[Floats, Any], NearestPoint], reach: int, n_draws: int, rng: np.random.Generator
) -> _Found:
    n = len(counts)
    totals = counts.sum(axis=1)
    start = nearest(counts / totals[:, None], slice(None))
    statistic = 2.0 * totals * start.distance
    truth = np.maximum(start.point, 0.0)
    truth /= truth.sum(axis=1, keepdims=True)
    own = rng.random(n)  # place of the instance among ties
    above, tied, made = (np.zeros(n, dtype=np.int64) for _ in range(3))
    live = np.arange(n)
    whole = totals.astype(np.int64)
    done = 0
    while done < n_draws and len(live):
        room = max(1, MOST_NUMBERS // (len(live) * counts.shape[1]))
        several = (min(max(reach, TOGETHER), room, n_draws - done), len(live))
        done += several[0]
        drawn = rng.multinomial(whole[live], truth[live], size=several)
        places = rng.random(several)
        rows = np.tile(live, several[0])
        shares, m = drawn.reshape(len(rows), -1) / totals[rows, None], totals[rows]
        # no point of the set is further away than the true one, so few draws need a fit
        values = 2.0 * m * divergence(shares, truth[rows], "kl")
        near = np.flatnonzero(values >= statistic[rows] - TIED)
        if len(near):
            values[near] = np.minimum(2.0 * m[near] * nearest(shares[near], rows[near]).distance, values[near])
        values = values.reshape(several)
        tie = np.abs(values - statistic[live]) <= TIED
        reached = (values > statistic[live] + TIED) | (tie & (places > own[live]))
        counted = above[live] + np.cumsum(reached, axis=0) - reached < reach  # draws up to the one with which it stops
        above[live] += (reached & counted).sum(axis=0)
        tied[live] += (tie & (places <= own[live]) & counted).sum(axis=0)
        made[live] += counted.sum(axis=0)
        live = live[above[live] < reach]
    stopped = above >= reach
    randomised = np.where(stopped, above / np.maximum(made, 1), (above + 1) / (n_draws + 1))
    return _Found(statistic, np.maximum(randomised, (above + tied + 1) / (made + 1)), randomised)


def _nearest_of(part: Prediction, floor: float) -> Callable[[Floats, Any], NearestPoint]:
    """The nearest points of the sets of some rows to shares of votes, by KL: the most likely points."""
    if isinstance(part, Point):
        probs = _normalised(part.mean_probs())

        def of_point(shares: Floats, rows: Any) -> NearestPoint:
            p = probs[rows]
            return NearestPoint(divergence(shares, p, "kl", floor=floor), p, np.zeros(len(p)))

        return of_point
    if isinstance(part, Box):
        lower, upper = part.bounds()
        return lambda shares, rows: nearest_in_box(shares, lower[rows], upper[rows], "kl", floor=floor)
    if isinstance(part, Masses):
        masses, sets = part.checked_masses(), part.focal_sets
        return lambda shares, rows: nearest_in_core(shares, masses[rows], sets, "kl", floor=floor, tolerance=TOLERANCE)
    points = _normalised(not_negative(part.hull_points()))
    return lambda shares, rows: nearest_in_hull(shares, points[rows], "kl", floor=floor, tolerance=TOLERANCE)


def _normalised(probs: Floats) -> Floats:
    return np.asarray(probs / probs.sum(axis=-1, keepdims=True))
