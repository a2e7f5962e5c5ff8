"""Lens: sets judged as sets, and against people's votes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._workers import Workers
from uqassay.arrays import Floats
from uqassay.calibration.votes import compatible_share, vote_compatibility_test
from uqassay.checks import fail
from uqassay.credal.undominated import CLASS_RULES
from uqassay.evidence.data import Judged, VoteTests, one_run
from uqassay.evidence.findings import estimate_fields
from uqassay.evidence.kept_rows import Kept, random_keys, rows_of, sample_within
from uqassay.evidence.scoring import ModelScores, covered_column, points_of_sets, rules_for, size_column
from uqassay.metrics.sets import CLASS_SET_SCORES, ClassSetScores, scores_of_columns
from uqassay.predictions import ClassSets, Point, Prediction
from uqassay.statistics import Estimate
from uqassay.statistics.units import check_choice

__all__ = [
    "ALPHA",
    "ROWS",
    "SET_ROW_COLUMNS",
    "VOTE_COLUMNS",
    "models_with_sets",
    "set_rows",
    "set_scores_of",
    "shown_rule",
    "vote_rows",
    "vote_shares",
    "vote_tests",
]


# Sets judged as sets: coverage, size and utility of the classes that each model does not rule out, as rows.

SET_ROW_COLUMNS = ("model", "run", "rule", "metric", "estimate", "low", "high", "level", "n", "method", "notes")


def models_with_sets(judged: Judged) -> tuple[ModelScores, ...]:
    """The models that state sets, without the baselines."""
    return tuple(m for m in judged.candidates if covered_column(CLASS_RULES[0]) in m.columns)


def shown_rule(judged: Judged) -> str:
    """Maximality, or interval dominance where there are too many classes for it."""
    return rules_for(judged.n_classes)[:2][-1]


def set_scores_of(judged: Judged, model: str, rule: str, run: int | None = None) -> ClassSetScores:
    """The scores of one model by one rule, over all runs or of one."""
    chosen = slice(None) if run is None else slice(run, run + 1)
    columns = judged[model].columns

    def found() -> ClassSetScores:
        covered, size = (one_run(columns[name(rule)][chosen]) for name in (covered_column, size_column))
        return scores_of_columns(covered, size, level=judged.settings.level, **judged.sample())

    return judged.shared.once(("class-sets", model, rule, run), found)


def set_rows(judged: Judged, *, rule: str | None = None) -> list[dict[str, Any]]:
    """One row for each model with sets, run, rule and score; None is every rule."""
    if rule is not None:
        check_choice(rule, "rule", CLASS_RULES)
    known = rules_for(judged.n_classes)
    if rule is not None and rule not in known:
        fail(
            "rule",
            f"an assay of {judged.n_classes} classes uses {' and '.join(known)} alone",
            f"got {rule!r}",
            "use metrics.class_set_scores(y_true, prediction, rule=…), which can take long",
            code="choice",
        )
    rules: Sequence[str] = known if rule is None else (rule,)
    rows = []
    for model in models_with_sets(judged):
        for run in (None, *range(model.n_runs if model.n_runs > 1 else 0)):
            for each in rules:
                scores = set_scores_of(judged, model.name, each, run)
                rows += [_row(model.name, run, each, metric, getattr(scores, metric)) for metric in CLASS_SET_SCORES]
    return rows


def _row(model: str, run: int | None, rule: str, metric: str, estimate: Any) -> dict[str, Any]:
    return {
        "model": model,
        "run": "all" if run is None else str(run + 1),
        "rule": rule,
        "metric": metric.replace("_", "-"),
        **estimate_fields(estimate),
    }


# Whether people's votes could come from the sets that models state: a test of each instance, on part of the instances.


ROWS = 500  # instances that are tested, the same of all models
LEAST_VOTES = 2  # of an instance that is tested
ALPHA = 0.1  # level of the test of one instance
SECONDS = 2e-3  # for one instance and set
VOTE_COLUMNS = ("model", "of", "estimate", "low", "high", "level", "n", "votes", "method", "notes")


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


def vote_shares(assay: Judged, model: str) -> dict[str, Estimate]:
    """Shares of the instances whose votes could come from the "set" of a model and from its "mean"; of a point the mean alone.

    Each share is that of the instances that the tests keep, divided by 1 − `ALPHA`; see `vote_compatibility_test`.
    """
    tests = assay.votes[model]
    options: dict[str, Any] = {**assay.sample(tests.rows), "level": assay.settings.level}

    def found() -> dict[str, Estimate]:
        kept = {"set": tests.of_set, "mean": tests.of_mean}
        return {of: compatible_share(passed, ALPHA, **options)[0] for of, passed in kept.items() if len(passed)}

    return assay.shared.once(("votes", model), found)


def vote_rows(assay: Judged) -> list[dict[str, Any]]:
    """One row for each model and for its set and its mean."""
    return [
        {"model": model, "of": of, **estimate_fields(share)} | {"votes": float(assay.votes[model].votes.mean())}
        for model in assay.votes
        for of, share in vote_shares(assay, model).items()
    ]
