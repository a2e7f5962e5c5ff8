"""Whether people's votes could come from the sets that models state: a test of each instance, on part of the instances."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay._workers import Workers
from uqassay.calibration.vote_compatibility import compatible_share, vote_compatibility_test
from uqassay.evidence.findings import estimate_fields
from uqassay.evidence.kept_rows import Kept, rows_of
from uqassay.evidence.random_order import random_keys, sample_within
from uqassay.evidence.scoring import points_of_sets
from uqassay.predictions import ClassSets, Point, Prediction
from uqassay.statistics import Estimate

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["ALPHA", "LEAST_VOTES", "ROWS", "VOTE_COLUMNS", "VoteTests", "vote_rows", "vote_shares", "vote_tests"]

Floats = NDArray[np.float64]

ROWS = 500  # instances that are tested, the same of all models
LEAST_VOTES = 2  # of an instance that is tested
ALPHA = 0.1  # level of the test of one instance
SECONDS = 2e-3  # for one instance and set
VOTE_COLUMNS = ("model", "of", "estimate", "low", "high", "level", "n", "votes", "method", "notes")


@final
@dataclass(frozen=True, eq=False)
class VoteTests:
    """Which instances have votes that could come from the first run of one model; tests of level `ALPHA`.

    Attributes
    ----------
    rows : int array (n',)
        The instances tested: of a random part, those with two votes or more.
    of_set : bool array (n',), or (0,) of a point
        Instances whose votes could come from some point of the set.
    of_mean : bool array (n',)
        Instances whose votes could come from the mean prediction.
    votes : array (n',)
        Numbers of votes.
    """

    rows: NDArray[np.int64]
    of_set: NDArray[np.bool_]
    of_mean: NDArray[np.bool_]
    votes: Floats


class _Part(NamedTuple):
    """The instances of one run that are tested."""

    run: Prediction
    rows: NDArray[np.int64]
    counts: Floats
    groups: NDArray[Any] | None
    seed: int


def vote_tests(
    models: Mapping[str, tuple[Prediction, ...]],
    shares: Floats,
    totals: Floats | None,
    *,
    groups: NDArray[Any] | None,
    seed: int,
    workers: Workers,
    kept: Mapping[str, Kept] | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, VoteTests]:
    """Test the first run of every model that states probabilities.

    Parameters
    ----------
    models : dict of str to tuple of Prediction
    shares : array (n, K)
        Votes as shares.
    totals : array (n,) or None
        Numbers of votes; without them there is no test.
    groups, seed, workers, progress
        As for `calibration_tests`.
    kept : dict of str to int array, optional
        For models of a stream, the rows that their runs hold.
    """
    if totals is None:
        return {}
    keys = random_keys(len(totals), groups, seed)
    rows = sample_within(keys, ROWS)
    rows = rows[totals[rows] >= LEAST_VOTES]
    if not len(rows):
        return {}
    counts = np.round(shares[rows] * totals[rows, None])
    names = [name for name, runs in models.items() if not isinstance(runs[0], ClassSets)]
    of_groups = None if groups is None else groups[rows]
    calls = []
    for name in names:
        run = rows_of(models[name][0], rows, None if kept is None else kept[name])
        calls.append((name, _Part(run, rows, counts, of_groups, seed)))
    sets = sum(points_of_sets(part.run) != 1 for _, part in calls)
    found = workers.share(_tested, calls, seconds=SECONDS * len(rows) * sets, progress=progress)
    return dict(zip(names, found, strict=True))


def _tested(name: str, part: _Part, *, progress: Callable[[str], None]) -> VoteTests:
    progress(f"votes against {name}")
    options: dict[str, Any] = {"votes_are": "counts", "alpha": ALPHA, "groups": part.groups, "rng": part.seed}
    mean = part.run.mean_probs()  # in half precision the sums can be off by more than a point allows
    of_mean = vote_compatibility_test(
        part.counts, Point(mean / mean.sum(axis=1, keepdims=True)), **options
    ).kept_instances
    is_point = points_of_sets(part.run) == 1
    of_set = of_mean[:0] if is_point else vote_compatibility_test(part.counts, part.run, **options).kept_instances
    return VoteTests(part.rows, of_set, of_mean, part.counts.sum(axis=1))


# -- shares with intervals -----------------------------------------------------------------------------------------------


def vote_shares(assay: "Assay", model: str) -> dict[str, Estimate]:
    """Shares of the instances whose votes could come from the "set" of a model and from its "mean"; of a point the mean alone.

    Each share is that of the instances that the tests keep, divided by 1 − `ALPHA`; see `vote_compatibility_test`.
    """
    tests = assay.votes[model]
    groups = None if assay.groups is None else assay.groups[tests.rows]
    options: dict[str, Any] = {"groups": groups, "level": assay.settings.level}

    def found() -> dict[str, Estimate]:
        kept = {"set": tests.of_set, "mean": tests.of_mean}
        return {of: compatible_share(passed, ALPHA, **options)[0] for of, passed in kept.items() if len(passed)}

    return assay.shared.once(("votes", model), found)


def vote_rows(assay: "Assay") -> list[dict[str, Any]]:
    """One row for each model and for its set and its mean."""
    return [
        {"model": model, "of": of, "estimate": float(share), **estimate_fields(share)}
        | {"votes": float(assay.votes[model].votes.mean())}
        for model in assay.votes
        for of, share in vote_shares(assay, model).items()
    ]
