"""Stored predictions judged in both conventions: the assays behind the tables of the unified evaluation."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.credal import (
    all_focal_sets,
    family_moebius,
    hull_event_bounds,
    lower_probability_vertices,
    one_hot_distance,
    paper_masses,
    permutation_vertices,
)
from uqassay.evidence import Excess, assay, is_held_out
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.config import BenchConfig
from uqassay.lab.bench.methods import cells_of
from uqassay.lab.bench.store import StoredResult
from uqassay.lab.methods.registry import offered_options
from uqassay.lab.papers.trainings import trained_cells
from uqassay.lab.papers.unified.plan import PREDICTORS, Predictor, TrainedData, chosen_predictors, predictor_of
from uqassay.losses import FLOORS, unified_loss
from uqassay.measures import credal_uncertainty
from uqassay.predictions import Dirichlet, Intervals, Masses, Members, Point, Prediction
from uqassay.text import listed

if TYPE_CHECKING:
    from uqassay.evidence import Assay

__all__ = [
    "CONVENTIONS",
    "FOUR_CLASSES",
    "MEMBERS",
    "VERTICES",
    "FourClasses",
    "JudgedDataSet",
    "check_four_classes",
    "given_classes",
    "incomplete_notes",
    "judge",
    "judge_four_classes",
    "judge_predictions",
    "training_cells",
    "vertices_of",
    "whole_predictions",
    "with_terms",
]


# Trainings as cells of a benchmark, and their predictions.


def training_cells(data: TrainedData, *, seed: int = 0, predictors: Sequence[str] | None = None) -> list[Cell]:
    """The trainings on a data set, run by run.

    Parameters
    ----------
    seed : int
        Of the first run; the next ones count up from it.
    predictors : sequence of str, optional
        Some of `PREDICTORS` by name; all but the setting's `left_out` by default.

    Examples
    --------
    >>> from uqassay.lab.papers.unified.plan import trained_data
    >>> (digits,), _ = trained_data("smoke")
    >>> cells = training_cells(digits, predictors=["DE"])
    >>> [cell.name for cell in cells], cells[0].params["params"]["n_members"]
    (['digits, DE, test_limit 200, train_limit 300, seed 0'], 3)
    """
    params: dict[str, dict[str, Any]] = {}
    methods = []
    for predictor in chosen_predictors(predictors, data.setting.left_out):
        parts = data.setting.parts(predictor.method)
        for m, options in enumerate(parts, start=1):
            label = predictor.name if len(parts) == 1 else f"{predictor.name} member {m}"
            params[label] = offered_options(predictor.method, options | predictor.params)
            methods.append(f"{label}={predictor.method}")
    config = BenchConfig(
        dataset=[data.label],
        method=methods,
        seeds=[seed + i for i in range(data.setting.runs)],
        preset="paper",  # no limits and no options but those of the setting
        params=params,
        condition=[data.setting.limits(data.n_train, data.n_test)],
    )
    return cells_of(config, {data.label: data.source})


# Predictors that are trained in parts: each member of an ensemble has a cell, so that an interrupted run loses one at
# most.


def whole_predictions(cells: Sequence[Cell], folder: Path) -> Iterator[tuple[str, Prediction, StoredResult]]:
    """Name, prediction and result of every predictor and run of which all parts have a result.

    The prediction of several parts has the members of all of them, in order; the result is that of the first part.
    """
    for (name, _), parts in _grouped(cells).items():
        kept = [result for _, result in trained_cells(parts, folder)]
        if len(kept) == len(parts):
            yield name, joined([one.prediction for one in kept]), kept[0]


def joined(parts: Sequence[Prediction]) -> Prediction:
    """The members of all parts, in order; one part as it is."""
    if len(parts) == 1:
        return parts[0]
    members = [part for part in parts if isinstance(part, Members)]
    partitions = [part.log_partition for part in members if part.log_partition is not None]
    return Members(
        np.concatenate([part.probs for part in members], axis=1),
        log_partition=np.concatenate(partitions, axis=1) if len(partitions) == len(members) else None,
    )


def incomplete_notes(cells: Sequence[Cell], failed: Collection[str]) -> list[str]:
    """A note on each predictor and run that is left out because of some of its parts.

    Parameters
    ----------
    cells : sequence of Cell
        The trainings on one data set.
    failed : collection of str
        Names of those that failed.
    """
    notes = []
    for (name, seed), parts in _grouped(cells).items():
        n = sum(cell.name in failed for cell in parts)
        if n and len(parts) > 1:
            notes.append(
                f"{name} with seed {seed} on {parts[0].dataset} is left out, because {n} of its {len(parts)} parts failed"
            )
    return notes


def _grouped(cells: Sequence[Cell]) -> dict[tuple[str, int], list[Cell]]:
    """The cells of each predictor and seed."""
    found: dict[tuple[str, int], list[Cell]] = {}
    for cell in cells:
        found.setdefault((predictor_of(cell.params["method"]), cell.seed), []).append(cell)
    return found


# An assay with other terms of E: the same models, instances and statistics, another distance or measure.


def with_terms(
    found: "Assay",
    columns: Mapping[str, Mapping[str, NDArray[np.float64]]],
    *,
    distance: str | None = None,
    nonspecificity: str | None = None,
) -> "Assay":
    """Put other terms of E into an assay.

    Parameters
    ----------
    columns : dict of str to dict of str to array (R, n)
        "distance", "nonspecificity" or both, by name of the model or baseline; models without are left out.
    distance, nonspecificity : str, optional
        Names of the terms as in `losses.unified_loss`; those of `found` by default.

    Returns
    -------
    Assay
        Without sets, scale check, warnings and held-out class frequencies, which belong to the terms of `found`.

    Examples
    --------
    >>> import uqassay as uq
    >>> found = uq.assay({"m": uq.Point([[0.5, 0.5]])}, [0])
    >>> tv = with_terms(found, {"m": {"distance": np.array([[0.5]])}}, distance="tv")
    >>> tv.model_names, float(tv.loss("m", 1.0)[0, 0]), tv.settings.distance
    (('m',), 0.5, 'tv')
    """
    models = []
    for model in found.models:
        if model.name not in columns:
            continue
        terms = columns[model.name]
        kept = {name: column for name, column in model.columns.items() if not is_held_out(name)}
        changed = replace(model, columns={**kept, **terms})
        if "distance" in terms:
            changed = replace(changed, floored=0, gap=0.0)
        if "nonspecificity" in terms:
            changed = replace(changed, nonspecificity_error=0.0, order_deviations=())
        models.append(changed)
    settings = replace(
        found.settings,
        distance=distance or found.settings.distance,
        nonspecificity=nonspecificity or found.settings.nonspecificity,
    )
    return replace(
        found,
        models=tuple(models),
        settings=settings,
        excess=Excess.unknown([m.name for m in models if not m.baseline]),
        sets={},
        warnings=(),
        scaled={},
        backward=(),
    )


# Table 4 of the unified evaluation: KL to the nearest of all 4! vertices and of the 2·4 outermost ones, on four classes.
#
# The paper takes "a 4-class example of the CIFAR-10 dataset" and says no more. Here the test instances of four classes
# are kept, and every member or draw is conditioned on these classes.
#
# Both choices give the same numbers, unlike in the paper. NS is a sum over masses and knows no vertices. KL to a label
# depends on the greatest probability that a vertex gives it: upper probabilities are subadditive, so that U(A ∪ {y}) −
# U(A) ≤ U({y}), and the permutation with y first, one of the 2K, attains U({y}).

FOUR_CLASSES = (0, 1, 2, 3)
VERTICES: dict[str, str | None] = {"approximated": "outermost", "naive": None}  # permutations of the classes


@final
@dataclass(frozen=True, eq=False)
class FourClasses:
    """KL and NS on four classes with both choices of vertices."""

    classes: tuple[int, ...]
    assays: "dict[str, dict[str, Assay]]"  #: By convention and choice of vertices, "approximated" or "naive"
    left_out: int  #: Instances of these classes that some member gives no probability to any of them


def check_four_classes(classes: Sequence[int], n_classes: int) -> tuple[int, ...]:
    """Four classes as whole numbers.

    Examples
    --------
    >>> check_four_classes([3, 5, 0, 1], 10)
    (3, 5, 0, 1)
    """
    chosen = tuple(classes)
    whole = all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) and 0 <= c < n_classes for c in chosen)
    if not whole or len(chosen) != 4 or len(set(chosen)) != 4:
        rule = f"must be four different classes from 0 to {n_classes - 1}"
        got = f"got {listed(list(map(repr, chosen)))}"
        fail("vertex_classes", rule, got, "leave it out for the first four", code="choice")
    return tuple(int(c) for c in chosen)


def judge_four_classes(
    said: Mapping[str, Sequence[Prediction]], labels: NDArray[Any], classes: Sequence[int] = FOUR_CLASSES
) -> FourClasses | None:
    """KL and NS of sampled predictors on the instances of four classes.

    Parameters
    ----------
    said : dict of str to sequence of Prediction
        `Members` or `Dirichlet` of each run.
    labels : (n,) integers

    Returns
    -------
    FourClasses or None
        None without predictors or with fewer than four classes.
    """
    if not said:
        return None
    n_classes = next(iter(said.values()))[0].n_classes
    if n_classes < 4:
        return None
    chosen = check_four_classes(classes, n_classes)
    rows = np.flatnonzero(np.isin(labels, chosen))
    possible = np.ones(len(rows), dtype=bool)
    for runs in said.values():
        for run in runs:
            possible &= _possible(run[rows], chosen)
    rows = rows[possible]
    if not len(rows):
        return None
    y = np.argmax(np.array(chosen)[:, None] == labels[rows], axis=0)
    given = {name: [given_classes(run[rows], chosen) for run in runs] for name, runs in said.items()}
    assays: dict[str, dict[str, Assay]] = {}
    for convention in ("exact", "paper"):
        found = assay(given, y, convention=convention, measures=(), calibration=(), scales=())
        columns: dict[str, dict[str, Any]] = {choice: {} for choice in VERTICES}
        for name, runs in given.items():
            points = {choice: [vertices_of(run, convention, choice) for run in runs] for choice in VERTICES}
            for choice, of_runs in points.items():
                distance = np.stack([_nearest(of_run, y, FLOORS[convention]) for of_run in of_runs])
                columns[choice][name] = {"distance": distance}
        assays[convention] = {choice: with_terms(found, terms) for choice, terms in columns.items()}
    return FourClasses(chosen, assays, int((~possible).sum()))


def given_classes(run: Prediction, classes: Sequence[int]) -> Prediction:
    """A sampled prediction given that one of some classes is true.

    Members and draws are divided by what they give these classes; of a Dirichlet that is the Dirichlet with the
    concentrations of these classes.

    Examples
    --------
    >>> import uqassay as uq
    >>> given_classes(uq.Members([[[0.2, 0.2, 0.6], [0.1, 0.3, 0.6]]]), (0, 1)).probs.round(3).tolist()
    [[[0.5, 0.5], [0.25, 0.75]]]
    """
    if isinstance(run, Dirichlet):
        chosen = run.alpha[:, list(classes)]
        return Dirichlet(
            chosen, unit_concentration=run.unit_concentration, n_draws=run.n_draws, seed=run.seed
        ).with_draws()
    part = np.asarray(run.hull_points(), dtype=np.float64)[:, :, list(classes)]
    return Members(part / part.sum(axis=2, keepdims=True))


def vertices_of(run: Prediction, convention: str, choice: str) -> Floats:
    """Vertices of a sampled prediction of few classes, ``(n, P, K)``.

    Parameters
    ----------
    run : Prediction
        With members or draws.
    convention : {"exact", "paper"}
        "paper": of the clipped and renormalised masses. "exact": of the lower probability itself; as that of members need
        not be 2-monotone, its points can lie outside the credal set, though not outside the bounds of the classes.
    choice : {"approximated", "naive"}
        The 2K outermost permutations of the classes, or all K!.

    Examples
    --------
    >>> import uqassay as uq
    >>> run = uq.Members([[[0.2, 0.8], [0.6, 0.4]]])
    >>> vertices_of(run, "exact", "naive").round(3).tolist()
    [[[0.6, 0.4], [0.2, 0.8]]]
    """
    points, k = run.hull_points(), run.n_classes
    if convention == "exact":
        events = np.arange(2**k)[:, None] >> np.arange(k) & 1 > 0  # (2^K, K), bit c for class c
        lower = hull_event_bounds(points, events)[0]
        return lower_probability_vertices(lower, permutations=VERTICES[choice])
    sets = all_focal_sets(k)
    masses, sets, _ = paper_masses(family_moebius(hull_event_bounds(points, sets)[0], sets), sets)
    return permutation_vertices(masses, sets, permutations=VERTICES[choice])


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _nearest(vertices: Floats, y: NDArray[Any], floor: float) -> Floats:
    """KL from the label to the nearest vertex, ``(n,)``; a point beyond probability 1 counts as 1."""
    of_label = np.take_along_axis(vertices, y[:, None, None], axis=2)[:, :, 0]
    return -np.log(np.clip(of_label.max(axis=1), floor, 1.0))


def _possible(run: Prediction, classes: Sequence[int]) -> NDArray[np.bool_]:
    """Whether every member gives the classes some probability, ``(n,)``; a Dirichlet always does."""
    if isinstance(run, Dirichlet):
        return np.ones(run.n_instances, dtype=bool)
    return run.hull_points()[:, :, list(classes)].sum(axis=2, dtype=np.float64).min(axis=1) > 0


# Stored predictions of a data set judged in both conventions: the assays behind the tables and figures.
#
# The assays with another distance (Tables 5, 6), another measure (Table 6), other vertices (Table 4) and other numbers
# of members (Figure 13) share everything but those terms with the assay of KL and NS, so only these terms are computed
# for them.

Convention = Literal["exact", "paper"]

CONVENTIONS: tuple[Convention, ...] = ("exact", "paper")
MEASURES = ("total-entropy", "credal-width")
MEMBERS = {"DE": (2, 5, 10, 15, 20, 25, 30), "LB-BNN": (50, 100, 200, 500)}  # of Figure 13, as many as there are
TABLE_MEMBERS = 15  # of DE in the tables; further members are for Figure 13 alone
KEPT_BYTES = 512 * 2**20  # of the draws of one prediction
JENSEN_SHANNON = {"exact": "js", "paper": "js_distance"}  # the authors' code takes the square root of the divergence


@final
@dataclass(frozen=True, eq=False)
class JudgedDataSet:
    """The assays of the predictors on a data set."""

    dataset: str
    n_train: int
    assays: "dict[str, Assay]"  #: By convention: the predictors, the averages of the sampled ones, and the baselines
    ranked: "dict[str, Assay]"  #: By convention: the predictors that state sets, as in Tables 2 and 8
    #: By convention, predictor and number of members or draws (Figure 13)
    members: "dict[str, dict[str, dict[int, Assay]]]"
    #: First run of each predictor, as it was stored; draws are kept where they fit into memory
    said: dict[str, Prediction] = field(default_factory=dict)
    class_names: tuple[str, ...] = ()
    #: `assays` with JS in place of KL (Table 5) and with credal uncertainty in place of NS (Table 6); a model whose credal
    #: uncertainty is undefined somewhere is left out
    jensen_shannon: "dict[str, Assay]" = field(default_factory=dict)
    credal_uncertainty: "dict[str, Assay]" = field(default_factory=dict)
    #: By convention: instances and runs of such models where it is undefined, because all lower probabilities are 0
    undefined: dict[str, dict[str, int]] = field(default_factory=dict)
    four_classes: FourClasses | None = None  #: Table 4; None without LB-BNN and DE, or with fewer than four classes


def judge(
    folder: Path, cells: Sequence[Cell], *, draws: int = 100, vertex_classes: Sequence[int] = FOUR_CLASSES
) -> JudgedDataSet | None:
    """Judge the stored predictions of a data set in both conventions.

    Parameters
    ----------
    folder : Path
        Of the trainings, as `whole_predictions` takes it.
    cells : sequence of Cell
        The trainings on one data set.
    draws, vertex_classes
        As in `judge_predictions`.

    Returns
    -------
    JudgedDataSet or None
        None if the folder has none of their predictions.
    """
    said: dict[str, list[Prediction]] = {}
    labels: NDArray[Any] | None = None
    counts = np.ones(1)
    for name, prediction, kept in whole_predictions(cells, folder):
        said.setdefault(name, []).append(prediction)
        labels, counts = kept.labels, np.array(kept.metadata["facts"]["train_counts"])
    if labels is None:
        return None
    return judge_predictions(cells[0].dataset, said, labels, counts, draws=draws, vertex_classes=vertex_classes)


def judge_predictions(
    dataset: str,
    said: Mapping[str, Sequence[Prediction]],
    labels: NDArray[Any],
    train_counts: NDArray[Any],
    *,
    draws: int = 100,
    vertex_classes: Sequence[int] = FOUR_CLASSES,
) -> JudgedDataSet:
    """Judge predictions in both conventions.

    Parameters
    ----------
    said : dict of str to sequence of Prediction
        One prediction for each run, by name of the predictor as in `PREDICTORS`.
    labels : (n,) integers
    train_counts : (K,) integers
        Number of training instances of each class.
    draws : int
        Number of draws that span the set of a Dirichlet.
    vertex_classes : sequence of four int
        Classes of Table 4, which the paper does not name.
    """
    family = _family(said)
    held = {name: [_held(run, draws) for run in runs] for name, runs in said.items()}
    terms: dict[str, dict[str, Any]] = {
        "exact": {"convention": "exact"},
        "paper": {"convention": "paper", "focal_sets": family},
    }
    judged = JudgedDataSet(dataset, int(train_counts.sum()), {}, {}, {}, *_first_runs(held, len(train_counts)))
    points = {p.name for p in PREDICTORS if not p.credal} | {
        n for n, runs in held.items() if isinstance(runs[0], Point)
    }
    for convention in CONVENTIONS:
        stated = _stated(held, convention)
        found = assay(
            stated,
            labels,
            measures=MEASURES,
            calibration=(),
            scales=(),
            subgroups={"all": np.zeros(len(labels), dtype=np.int64)},
            prior=train_counts / train_counts.sum(),
            **terms[convention],
        )
        judged.assays[convention] = found
        judged.ranked[convention] = replace(
            found, models=tuple(m for m in found.models if m.baseline or (m.name in held and m.name not in points))
        )
        judged.jensen_shannon[convention] = _with_jensen_shannon(found, stated, labels, terms[convention])
        judged.credal_uncertainty[convention], judged.undefined[convention] = _with_credal_uncertainty(
            found, stated, convention
        )
        judged.members[convention] = {}
    for name in MEMBERS:
        if name in said:
            by_size = _by_size(judged.assays, name, said[name], labels, terms)
            for convention in CONVENTIONS:
                judged.members[convention][name] = by_size[convention]
    four = judge_four_classes({name: held[name] for name in MEMBERS if name in held}, labels, vertex_classes)
    return replace(judged, four_classes=four)


# ---- other terms -----------------------------------------------------------------------------------------------------


def _with_jensen_shannon(
    found: "Assay", stated: Mapping[str, Sequence[Prediction]], labels: NDArray[Any], terms: dict[str, Any]
) -> "Assay":
    """JS in place of KL: the divergence, in the paper's convention its square root to the clipped vertices."""
    name = JENSEN_SHANNON[terms["convention"]]

    def of_model(model: str) -> Floats:
        if name == "js":
            return one_hot_distance(found[model].columns["upper-label"], name)
        if model in stated:
            return np.stack([unified_loss(labels, run, distance=name, **terms).distance for run in stated[model]])
        each = np.arange(found.n_classes)  # a baseline says the same of every instance
        return unified_loss(each, _baseline(model, found), distance=name, **terms).distance[None, labels]

    return with_terms(found, {m.name: {"distance": of_model(m.name)} for m in found.models}, distance=name)


def _baseline(name: str, found: "Assay") -> Prediction:
    """A baseline's statement for K instances."""
    shape = (found.n_classes, found.n_classes)
    if name == "vacuous":
        return Intervals(np.zeros(shape), np.ones(shape))
    prior = np.exp(-found[name].columns["distance"][0])  # (n,), that of each label
    shares = np.array([prior[found.classes == c].max(initial=0.0) for c in range(found.n_classes)])
    return Point(np.broadcast_to(shares / shares.sum(), shape))


def _with_credal_uncertainty(
    found: "Assay", stated: Mapping[str, Sequence[Prediction]], convention: Convention
) -> "tuple[Assay, dict[str, int]]":
    """Credal uncertainty in place of NS, over the box in nats or as in the authors' code, and where it is undefined.

    Point predictions have none, as in Table 6. In the paper's convention it is undefined where all lower probabilities are 0,
    as in the vacuous statement.
    """

    def of_run(run: Prediction) -> Floats:
        if isinstance(run, Point):
            return np.zeros(run.n_instances)
        return credal_uncertainty(run, over="box", convention=convention)

    columns = {name: np.stack([of_run(run) for run in runs]) for name, runs in stated.items()}
    undefined = {name: int(np.isnan(values).sum()) for name, values in columns.items()}
    columns["class-prior"] = np.zeros((1, found.n_instances))
    if convention == "exact":
        columns["vacuous"] = np.full((1, found.n_instances), np.log(found.n_classes))
    defined = {name: {"nonspecificity": values} for name, values in columns.items() if not undefined.get(name)}
    changed = with_terms(found, defined, nonspecificity="credal-uncertainty-box")
    return changed, {name: n for name, n in undefined.items() if n}


def _by_size(
    assays: "Mapping[str, Assay]",
    name: str,
    runs: Sequence[Prediction],
    labels: NDArray[Any],
    terms: Mapping[str, dict[str, Any]],
) -> "dict[str, dict[int, Assay]]":
    """KL and NS of a predictor by convention and number of members or draws (Figure 13)."""
    by_size: dict[str, dict[int, Assay]] = {convention: {} for convention in assays}
    for m in _sizes(name, runs):
        spanned = [_spanned(run, m) for run in runs]
        for convention, found in assays.items():
            losses = [unified_loss(labels, run, **terms[convention]) for run in spanned]
            columns = {key: np.stack([getattr(loss, key) for loss in losses]) for key in ("distance", "nonspecificity")}
            own: dict[str, Any] = {one.name: {} for one in found.models if one.baseline}  # a ranking needs baselines
            by_size[convention][m] = with_terms(found, own | {name: columns})
    return by_size


def _spanned(run: Prediction, n_points: int) -> Prediction:
    """The same prediction with this number of members or draws."""
    if isinstance(run, Dirichlet):
        return _kept(replace(run, n_draws=n_points, drawn=None))
    return run.subset(n_points, 0) if isinstance(run, Members) and run.n_members > n_points else run


def _kept(run: Prediction) -> Prediction:
    """With its draws, where they fit into memory: both conventions ask for the same ones."""
    fits = isinstance(run, Dirichlet) and 8 * run.n_instances * run.n_draws * run.n_classes <= KEPT_BYTES
    return run.with_draws() if fits and isinstance(run, Dirichlet) else run


def _sizes(name: str, runs: Sequence[Prediction]) -> list[int]:
    """Numbers of members for Figure 13, up to the smallest number in any run."""
    if all(isinstance(run, Dirichlet) for run in runs):
        return list(MEMBERS[name])
    most = min(run.hull_points().shape[1] for run in runs)
    return [m for m in MEMBERS[name] if m <= most]


# ---- models ----------------------------------------------------------------------------------------------------------


def _held(run: Prediction, draws: int) -> Prediction:
    """A prediction as the tables take it: the draws of a Dirichlet, the first members of a larger ensemble."""
    if isinstance(run, Dirichlet):
        return _kept(replace(run, n_draws=draws, drawn=None))
    if isinstance(run, Members) and run.n_members > TABLE_MEMBERS:
        return replace(run, probs=run.probs[:, :TABLE_MEMBERS])
    return run


def _first_runs(
    held: Mapping[str, Sequence[Prediction]], n_classes: int
) -> tuple[dict[str, Prediction], tuple[str, ...]]:
    """First run of each predictor, and the names of the classes."""
    said = {name: runs[0] for name, runs in held.items()}
    named = next((run.class_names for run in said.values() if run.class_names is not None), None)
    return said, tuple(str(name) for name in (range(n_classes) if named is None else named))


def _stated(said: Mapping[str, Sequence[Prediction]], convention: Convention) -> dict[str, list[Prediction]]:
    """The models in the order of Table 1, with the averages."""
    sets: dict[str, list[Prediction]] = {}
    points: dict[str, list[Prediction]] = {}
    printed = {p.name for p in PREDICTORS}
    own = [_own_predictor(name, runs) for name, runs in said.items() if name not in printed]
    for predictor in (*PREDICTORS, *own):
        if predictor.name not in said:
            continue
        runs = list(said[predictor.name])
        if predictor.averaged:
            points[f"{predictor.name} Avg"] = [
                Point(run.mean_probs(), class_names=run.class_names, class_order=run.class_order) for run in runs
            ]
        if convention == "paper" and predictor.name == "EDL":
            runs = [_divided(run) for run in runs]
        (sets if predictor.credal else points)[predictor.name] = runs
    order = dict.fromkeys(name for name in ("SNN", "LB-BNN Avg", "DE Avg", "DDU", *points) if name in points)
    return sets | {name: points[name] for name in order}


def _own_predictor(name: str, runs: Sequence[Prediction]) -> Predictor:
    """A predictor that the paper does not have: whether it is ranked, and has an average, follows from its predictions."""
    sets = not isinstance(runs[0], Point)
    return Predictor(name, name, sets, sets and isinstance(runs[0], (Members, Dirichlet)), {})


def _divided(run: Prediction) -> Prediction:
    """Concentrations divided by their sum, as in the authors' code."""
    if not isinstance(run, Dirichlet):
        return run
    return _kept(replace(run, unit_concentration=True, drawn=None))


def _family(said: Mapping[str, Sequence[Prediction]]) -> NDArray[np.bool_] | None:
    """Events of the paper's convention: the sets that RS-NN chose in its first run, without Ω; None means all events."""
    first = said.get("RS-NN", [None])[0]
    if not isinstance(first, Masses):
        return None
    sets = np.asarray(first.focal_sets, dtype=bool)
    return sets[~sets.all(axis=1)]
