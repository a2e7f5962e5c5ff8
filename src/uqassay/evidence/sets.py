"""Lens: sets judged as sets, against people's votes, and one ensemble read in three ways."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._workers import Workers
from uqassay.calibration.votes import compatible_share, vote_compatibility_test
from uqassay.credal.undominated import CLASS_RULES
from uqassay.errors import InputError
from uqassay.evidence.data import one_run
from uqassay.evidence.findings import estimate_fields
from uqassay.evidence.kept_rows import Kept, random_keys, rows_of, sample_within
from uqassay.evidence.scoring import ModelScores, covered_column, points_of_sets, rules_for, size_column
from uqassay.losses.unified import (
    DEFAULT_TRADEOFF,
    FLOORS,
    brier_loss,
    check_tradeoff,
    is_correct,
    labels_of,
    log_loss,
    unified_loss,
)
from uqassay.measures.entropies import entropy_decomposition
from uqassay.metrics.calibration import error_estimate_of_hits
from uqassay.metrics.sets import CLASS_SET_SCORES, ClassSetScores, class_set_scores, scores_of_columns
from uqassay.notes import Note
from uqassay.one_order import in_one_order
from uqassay.predictions import ClassSets, Members, Point, Prediction, PredictionLike, as_prediction, not_negative
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.statistics import Estimate, mean_estimate, proportion_estimate
from uqassay.statistics.units import check_choice
from uqassay.text import counted, level_text, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "ALPHA",
    "ROWS",
    "SET_ROW_COLUMNS",
    "VOTE_COLUMNS",
    "ThreeReadings",
    "VoteTests",
    "models_with_sets",
    "set_rows",
    "set_scores_of",
    "shown_rule",
    "three_readings",
    "vote_rows",
    "vote_shares",
    "vote_tests",
]


# Sets judged as sets: coverage, size and utility of the classes that each model does not rule out, as rows.

SET_ROW_COLUMNS = ("model", "run", "rule", "metric", "estimate", "low", "high", "level", "n", "method", "notes")


def models_with_sets(assay: "Assay") -> tuple[ModelScores, ...]:
    """The models that state sets, without the baselines; of assays saved by older versions none."""
    return tuple(m for m in assay.candidates if covered_column(CLASS_RULES[0]) in m.columns)


def shown_rule(assay: "Assay") -> str:
    """Maximality, or interval dominance where there are too many classes for it."""
    return rules_for(assay.n_classes)[:2][-1]


def set_scores_of(assay: "Assay", model: str, rule: str, run: int | None = None) -> ClassSetScores:
    """The scores of one model by one rule, over all runs or of one."""
    chosen = slice(None) if run is None else slice(run, run + 1)
    columns = assay[model].columns

    def found() -> ClassSetScores:
        covered, size = (one_run(columns[name(rule)][chosen]) for name in (covered_column, size_column))
        return scores_of_columns(covered, size, groups=assay.groups, level=assay.settings.level)

    return assay.shared.once(("class-sets", model, rule, run), found)


def set_rows(assay: "Assay", *, rule: str | None = None) -> list[dict[str, Any]]:
    """One row for each model with sets, run, rule and score; None is every rule."""
    if rule is not None:
        check_choice(rule, "rule", CLASS_RULES)
    known = rules_for(assay.n_classes)
    if rule is not None and rule not in known:
        raise InputError(
            "rule",
            f"an assay of {assay.n_classes} classes uses {' and '.join(known)} alone",
            f"got {rule!r}",
            "use metrics.class_set_scores(y_true, prediction, rule=…), which can take long",
            code="choice",
        )
    rules: Sequence[str] = known if rule is None else (rule,)
    rows = []
    for model in models_with_sets(assay):
        for run in (None, *range(model.n_runs if model.n_runs > 1 else 0)):
            for each in rules:
                scores = set_scores_of(assay, model.name, each, run)
                rows += [_row(model.name, run, each, metric, getattr(scores, metric)) for metric in CLASS_SET_SCORES]
    return rows


def _row(model: str, run: int | None, rule: str, metric: str, estimate: Any) -> dict[str, Any]:
    return {
        "model": model,
        "run": "all" if run is None else str(run + 1),
        "rule": rule,
        "metric": metric.replace("_", "-"),
        "estimate": float(estimate),
        **estimate_fields(estimate),
    }


# Whether people's votes could come from the sets that models state: a test of each instance, on part of the instances.

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


# One ensemble read in three ways: as a set, as a distribution over distributions, and as its mean.

READINGS = ("set", "distribution", "mean")
DEFINITIONS = {
    "unified": ("set", "E", "distance of the label to the hull of the members, plus λ times its non-specificity"),
    "distance": ("set", "distance", "−ln of the greatest probability of the label among the members"),
    "nonspecificity": ("set", "non-specificity", "generalised Hartley measure of the hull, nats"),
    "coverage": ("set", "coverage", "share of the labels that the hull does not rule out"),
    "size": ("set", "classes", "mean number of classes that the hull does not rule out"),
    "member_log_loss": (
        "distribution",
        "log loss of a member",
        "−ln of the label's probability, averaged over the members",
    ),
    "member_accuracy": ("distribution", "accuracy of a member", "share of the members that predict the label"),
    "mutual_information": (
        "distribution",
        "mutual information",
        "entropy of the mean minus mean entropy of the members, nats",
    ),
    "gain_of_averaging": (
        "distribution",
        "gain of averaging",
        "log loss of a member minus that of the mean, at least 0",
    ),
    "log_loss": ("mean", "log loss", "−ln of the label's probability in the mean"),
    "brier": ("mean", "Brier score", "squared distance of the mean from the label"),
    "accuracy": ("mean", "accuracy", "share of the labels that the mean predicts"),
    "ece": ("mean", "ECE", "calibration error of the mean's confidence in ten bins"),
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class ThreeReadings(Shown):
    """What three readings of the same members are worth; made by `three_readings`.

    Attributes
    ----------
    unified, distance, nonspecificity, coverage, size : Estimate
        The hull of the members as a set.
    member_log_loss, member_accuracy, mutual_information, gain_of_averaging : Estimate
        The members as equally likely draws of a distribution.
    log_loss, brier, accuracy, ece : Estimate
        The mean of the members.
    tradeoff : float
        λ of `unified`.
    n_members : int
    notes : tuple of Note
    """

    unified: Estimate
    distance: Estimate
    nonspecificity: Estimate
    coverage: Estimate
    size: Estimate
    member_log_loss: Estimate
    member_accuracy: Estimate
    mutual_information: Estimate
    gain_of_averaging: Estimate
    log_loss: Estimate
    brier: Estimate
    accuracy: Estimate
    ece: Estimate
    tradeoff: float
    n_members: int
    notes: tuple[Note, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row for each number: reading, metric, meaning, and the estimate with its interval."""
        return [
            {"reading": reading, "metric": name.replace("_", "-"), "meaning": meaning, **getattr(self, name).to_dict()}
            for name, (reading, _, meaning) in DEFINITIONS.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return {"tradeoff": self.tradeoff, "n_members": self.n_members, "rows": self.rows()}

    def _shown_title(self) -> str:
        n = counted(self.accuracy.n, "instance")
        return f"{counted(self.n_members, 'member')} as set, as distribution and as mean, {n}, λ = {tradeoff(self.tradeoff)}"

    def _shown_sentences(self) -> Sequence[str]:
        return ()

    def _shown_table(self) -> ShownTable:
        rows = []
        for name, (reading, label, meaning) in DEFINITIONS.items():
            e = getattr(self, name)
            rows.append(
                ShownRow((ShownCell(reading), ShownCell(label), ShownCell(meaning), estimate_cell(e, e.low, e.high)))
            )
        caption = f"{level_text(self.accuracy.level)} intervals."
        return ShownTable(("read as", "number", "meaning", "estimate"), tuple(rows), caption, n_words=3)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


@in_one_order("members", "y_true", "groups")
def three_readings(
    y_true: ArrayLike,
    members: PredictionLike,
    *,
    tradeoff: float = DEFAULT_TRADEOFF,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> ThreeReadings:
    """Judge one ensemble as a credal set, as a second-order distribution, and as its mean.

    Parameters
    ----------
    y_true : int array (n,) or class names (n,)
        Labels.
    members : Members, or array (n, M, K)
        Also the draws of a `Dirichlet` or `GaussianLogits`.
    tradeoff : float
        λ of E.
    rule : {"interval-dominance", "maximality", "e-admissibility"}
        When the hull rules a class out, see `measures.not_ruled_out`.
    groups : array (n,), optional
        As in `mean_estimate`. By default those of the prediction.
    level : float

    Returns
    -------
    ThreeReadings
        Shown as one table; `rows()` has the definitions. The numbers of different readings are on different scales, except for
        log losses and accuracies. Means have Hall's interval, shares Wilson's, the ECE that
        of `metrics.calibration_error_estimate`.

    Raises
    ------
    InputError
        A prediction without members, or label distributions.

    References
    ----------
    Wang, Cuzzolin (2026): predictions of an ensemble as credal set, as second-order distribution and as average.

    Examples
    --------
    >>> found = three_readings([0, 1], [[[0.9, 0.1], [0.7, 0.3]], [[0.6, 0.4], [0.2, 0.8]]])
    >>> {name: round(float(getattr(found, name)), 3) for name in ("unified", "gain_of_averaging", "accuracy", "coverage")}
    {'unified': 0.268, 'gain_of_averaging': 0.033, 'accuracy': 1.0, 'coverage': 1.0}
    """
    check_tradeoff(tradeoff)
    given = as_prediction(members, "members")
    ensemble = given.credal()
    if not isinstance(ensemble, Members):
        raise InputError(
            "members",
            "needs an ensemble, which can be read in three ways",
            f"got {type(given).__name__}",
            "pass Members, or an array (n, M, K)",
            code="no-members",
        )
    y = labels_of(y_true, ensemble)
    if y.ndim != 1:
        raise InputError(
            "y_true", "needs one label for each instance", f"got shape {y.shape}", "pass class indices", code="shape"
        )
    ensemble = ensemble.without_class_names()  # the labels are indices from here on
    units = given.groups if groups is None else groups
    loss = unified_loss(y, ensemble, tradeoff=tradeoff)
    mean = Point(ensemble.mean_probs(), normalise=True)
    probs = not_negative(ensemble.hull_points())  # (n, M, K)
    of_label = probs[np.arange(len(y)), :, y]
    member_loss = -np.log(np.maximum(of_label, FLOORS["exact"])).mean(axis=1)
    mean_loss = log_loss(y, mean)
    hits, confidence = is_correct(y, mean), mean.label_probs().max(axis=1)

    def average(values: NDArray[np.float64]) -> Estimate:
        return mean_estimate(values, groups=units, level=level, method="hall")

    sets = class_set_scores(y, ensemble, rule=rule, groups=units, level=level)
    return ThreeReadings(
        unified=average(loss.total),
        distance=average(loss.distance),
        nonspecificity=average(loss.nonspecificity),
        coverage=sets.coverage,
        size=sets.size,
        member_log_loss=average(member_loss),
        member_accuracy=proportion_estimate(
            (probs.argmax(axis=2) == y[:, None]).mean(axis=1), groups=units, level=level
        ),
        mutual_information=average(entropy_decomposition(ensemble).epistemic),
        gain_of_averaging=average(member_loss - mean_loss),
        log_loss=average(mean_loss),
        brier=average(brier_loss(y, mean)),
        accuracy=proportion_estimate(hits, groups=units, level=level),
        ece=error_estimate_of_hits(hits, np.minimum(confidence, 1.0), groups=units, level=level),
        tradeoff=float(tradeoff),
        n_members=ensemble.n_members,
        notes=sets.coverage.notes,
    )
