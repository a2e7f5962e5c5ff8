"""Ranking metrics of saved models against people's votes: CIFAR-10H, ReaL-ImageNet, OASST2."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from uqassay.arrays import Floats, as_labels
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.bench.cell import Cell, canonical_json
from uqassay.lab.bench.store import METADATA, Store, StoredResult, holds_benchmark, json_object
from uqassay.lab.datasets.votes import read_cifar10h, read_oasst2, read_real_scores
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.options import FirstFigure, Progress
from uqassay.lab.papers.ranking.classifiers import (
    PAPER,
    NetworkLibrary,
    NetworkNames,
    NetworkWeights,
    chosen_classifiers,
    n_asked,
)
from uqassay.lab.papers.ranking.grid import PAIRS
from uqassay.lab.papers.ranking.made_predictions import (
    N_IMAGES,
    NetworkOptions,
    image_number,
    make_image_predictions,
    make_text_predictions,
)
from uqassay.lab.papers.ranking.printed import LAYOUTS, METRICS, SOURCE, TRUTHS, implied_counts, printed_cells
from uqassay.lab.papers.ranking.scorings import Scoring, columns, judge, study
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.measures import SCORES, score_names
from uqassay.metrics import CorrelationStudy
from uqassay.predictions import Masses, Members, Point, Prediction, load, load_labels
from uqassay.statistics import Estimate
from uqassay.text import count, counted, estimate_text, interval, listed, number, percent, percent_interval, text_table

__all__ = [
    "LEAST",
    "NOTES",
    "PROBES",
    "HumanLabels",
    "SavedModel",
    "check_folder",
    "contrast_lines",
    "correlate_with_votes",
    "each_model",
    "labels_and_votes",
    "model_files",
    "n_trainings",
    "reproduce_ranking_cifar10h",
    "reproduce_ranking_imagenet_real",
    "reproduce_ranking_oasst2",
    "steps_of_ranking_cifar10h",
    "steps_of_ranking_imagenet_real",
    "steps_of_ranking_oasst2",
    "stored_labels",
    "stored_trainings",
    "sub_ensembles",
    "trained_models",
    "truth_lines",
]


# Predictions of many models in one folder, matched to instances that people have labelled.

LARGEST_ENSEMBLE = 5  # members of which all sub-ensembles are formed


@final
@dataclass(frozen=True, slots=True, eq=False)
class HumanLabels:
    """Instances with a label and with the votes of several people."""

    dataset: str  #: As the paper's Table 1 prints it
    labels: NDArray[Any]  #: (n,): What the metrics see
    votes: NDArray[Any]  #: (n, K): What the truths are made of
    places: NDArray[np.int64]  #: (n,): Row of each instance in a prediction file without ids
    n_rows: int  #: Rows of such a file
    #: (n,): Names of the instances. A file with ids may hold any of them, in any order.
    ids: NDArray[Any] | None = None
    instances: str = "images"  #: What an instance is, in the plural
    models: str = "networks"  #: What the paper's models are
    #: The paper's models by the beginnings of their names, up to a hyphen; () where it does not identify them
    paper_models: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class SavedModel:
    """A model's prediction, the labels and votes of the same instances, and scores that the prediction does not contain."""

    name: str
    prediction: Prediction
    labels: NDArray[Any]
    votes: NDArray[Any]
    scores: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def check_folder(data: Any, needed: str, *, parameter: str = "data") -> Path:
    """The folder of an option.

    Parameters
    ----------
    needed : str
        What belongs there, for errors.
    parameter : str
        Name of the option, for errors.
    """
    if data is None:
        fail(parameter, "must be a folder", "got none", needed, code="missing")
    folder = Path(data)
    if not folder.is_dir():
        fail(parameter, "must be a folder", f"got {folder}", needed, code="missing")
    return folder


def model_files(folder: Path) -> list[Path]:
    """The prediction files of a folder, by name."""
    return sorted(folder.glob("*.npz"))


def each_model(folder: Path, human: HumanLabels, repaired: list[str]) -> Iterator[SavedModel]:
    """Every model of the prediction files in a folder, one file after another, so that one file is in memory at a time.

    A file of members gives each member and their mean. Beliefs that are no belief functions are repaired.

    Parameters
    ----------
    repaired : list of str
        Takes a line for each repaired prediction.
    """
    for path in model_files(folder):
        prediction, labels, votes = _matched(load(path), human, path.name)
        prediction = usable(prediction, path.stem, repaired)
        if isinstance(prediction, Members):
            for m in range(prediction.n_members):
                yield SavedModel(f"{path.stem}, member {m + 1}", Point(prediction.probs[:, m]), labels, votes)
            yield SavedModel(f"{path.stem}, mean", prediction, labels, votes)
        else:
            yield SavedModel(path.stem, prediction, labels, votes)


def usable(prediction: Prediction, name: str, repaired: list[str]) -> Prediction:
    """The prediction; beliefs that are no belief functions are repaired.

    Parameters
    ----------
    name : str
        Of the model.
    repaired : list of str
        Takes a line for a repaired prediction.
    """
    if not (isinstance(prediction, Masses) and prediction.signed):
        return prediction
    mended = prediction.repaired()
    repaired.append(f"{name}: {mended.notes[-1]}")
    return mended


def sub_ensembles(model: SavedModel) -> Iterator[SavedModel]:
    """All proper subsets of two and more members of an ensemble of at most five; none of another model."""
    prediction = model.prediction
    if not isinstance(prediction, Members) or prediction.n_members > LARGEST_ENSEMBLE:
        return
    for size in range(2, prediction.n_members):
        for chosen in combinations(range(prediction.n_members), size):
            name = f"{model.name.removesuffix(', mean')}, members {' and '.join(str(m + 1) for m in chosen)}"
            yield SavedModel(name, Members(prediction.probs[:, list(chosen)]), model.labels, model.votes)


def _matched(prediction: Prediction, human: HumanLabels, source: str) -> tuple[Prediction, NDArray[Any], NDArray[Any]]:
    """The rows of a prediction that have votes, with their labels and votes."""
    n_classes = human.votes.shape[1]
    by_ids = human.ids is not None and prediction.ids is not None
    if prediction.n_classes != n_classes or not (by_ids or prediction.n_instances == human.n_rows):
        raise InputError(
            "prediction",
            f"must have the {human.n_rows} instances and {n_classes} classes of the votes",
            f"got {prediction.n_instances} and {prediction.n_classes}",
            "leave the file out" if human.ids is None else "name the instances by ids, or leave the file out",
            code="mismatch",
            source=source,
        )
    if not by_ids:
        whole = len(human.places) == human.n_rows
        return (prediction if whole else prediction[human.places]), human.labels, human.votes
    assert human.ids is not None
    assert prediction.ids is not None
    _, rows, places = np.intersect1d(prediction.ids.astype(str), human.ids.astype(str), return_indices=True)
    if not len(rows):
        rule = f"must name {human.instances} that people have rated"
        got = f"none of the {len(prediction.ids)} does, such as {prediction.ids[0]!s}"
        raise InputError("ids", rule, got, f"name them as {human.ids[0]!s}", code="ids", source=source)
    return prediction[rows], human.labels[places], human.votes[places]


# Trained models of a benchmark's folder, matched to instances that people have labelled.
#
# `reproduce unified --resume FOLDER` and `bench -o FOLDER` store the prediction and the labels of each training as a
# cell.

PLACES = ("source", "rests_on")  # fields of a cell that say where its data and, in older versions, its code lie


@final
@dataclass(frozen=True, slots=True)
class StoredTraining:
    """A training that is done."""

    key: str  #: Of its cell
    cell: Cell
    finished: str  #: When, as the store wrote it


def n_trainings(folder: Path) -> int:
    """Number of results in a benchmark's folder, by the names of their files."""
    return sum(1 for _ in folder.glob(f"cells/??/[0-9a-f]*/{METADATA}"))


def stored_trainings(folder: Path) -> tuple[list[StoredTraining], list[str]]:
    """The trainings that are done, by data set, method and seed, and notes on those that are left out.

    Of several results of one training, made by several versions, the latest is taken.
    """
    store = Store(folder, create=False)
    latest: dict[str, StoredTraining] = {}
    n = 0
    for key in [found.key for found in store.states(verify=True) if found.state == "done"]:
        metadata = json_object(store.place(key) / METADATA) or {}  # the state has seen that it is there
        training = StoredTraining(key, Cell.from_json(json.dumps(metadata["cell"])), str(metadata.get("finished", "")))
        same = canonical_json({name: metadata["cell"][name] for name in metadata["cell"] if name not in PLACES})
        n += 1
        if same not in latest or latest[same].finished < training.finished:
            latest[same] = training
    kept = sorted(latest.values(), key=lambda t: (t.cell.dataset, t.cell.method, t.cell.seed, t.key))
    older = n - len(kept)
    notes = [f"{counted(older, 'older result')} of the same trainings in {folder} left out"] if older else []
    return kept, notes


def stored_labels(folder: Path, trainings: Sequence[StoredTraining], shape: tuple[int, ...]) -> NDArray[Any]:
    """Labels of the first training whose prediction has this number of instances and classes."""
    store = Store(folder, create=False)
    for training in trainings:
        result = store.result(training.key)
        if _fits(result, shape):
            return result.labels
    raise _none_fits(folder, trainings, shape)


def trained_models(
    folder: Path, trainings: Sequence[StoredTraining], labels: NDArray[Any], votes: NDArray[Any], notes: list[str]
) -> Iterator[SavedModel]:
    """Every training as a model, one after another, then every ensemble whose members were trained one by one.

    A member that predicts the same as another model, since it is the same network from the same seed, is no model alone.

    Parameters
    ----------
    labels : int array (n,)
    votes : array (n, K)
    notes : list of str
        Takes a line for each repaired prediction, and one about trainings of other instances.
    """
    store = Store(folder, create=False)
    others: list[StoredTraining] = []
    ensembles: dict[str, dict[int, Members]] = {}
    known: dict[str, str] = {}
    named = zip(trainings, _names(trainings), strict=True)
    for training, name in sorted(named, key=lambda pair: _first_member(pair[0].cell) is not None):  # members last
        result = store.result(training.key)
        if not _fits(result, votes.shape):
            others.append(training)
            continue
        wrong = np.flatnonzero(np.asarray(result.labels) != labels)
        if len(wrong):
            fail(
                "data",
                "labels of the trained models must be those of the votes, in their order",
                f"{training.cell.name} differs in {counted(len(wrong), 'row')}, first in row {wrong[0]}",
                "train on the whole test set in its order, without permuted labels",
                code="mismatch",
            )
        prediction = usable(result.prediction, name, notes)
        first = _first_member(training.cell)
        if first is not None and isinstance(prediction, Members):
            ensembles.setdefault(name.replace(training.cell.method, _whole(training.cell)), {})[first] = prediction
        same = known.setdefault(hashlib.sha256(prediction.mean_probs().tobytes()).hexdigest(), name)
        if first is not None and same != name:
            notes.append(f"{name} predicts the same as {same} and is no model alone")
            continue
        yield SavedModel(name, _single(prediction), labels, votes, result.scores)
    for name, parts in ensembles.items():
        if len(parts) > 1:
            whole = _joined([parts[first] for first in sorted(parts)])
            notes.append(f"{name} has {whole.n_members} members")
            yield SavedModel(name, whole, labels, votes)
    if len(others) == len(trainings):
        raise _none_fits(folder, trainings, votes.shape)
    if others:
        sets = listed(list(dict.fromkeys(training.cell.dataset for training in others)))
        notes.append(
            f"{counted(len(others), 'training')} of {sets} left out: other instances or classes than the votes"
        )


# -- helpers -----------------------------------------------------------------------------------------------------------


def _fits(result: StoredResult, shape: tuple[int, ...]) -> bool:
    return result.labels.ndim == 1 and (result.prediction.n_instances, result.prediction.n_classes) == shape


def _none_fits(folder: Path, trainings: Sequence[StoredTraining], shape: tuple[int, ...]) -> InputError:
    got = listed(list(dict.fromkeys(training.cell.dataset for training in trainings))) or "no training that is done"
    return InputError(
        "data",
        f"must hold trainings with the {shape[0]} test instances and {shape[1]} classes of the votes",
        f"{folder} has {got}",
        "train on the whole test set, or give the folder of other trainings",
        code="mismatch",
    )


def _first_member(cell: Cell) -> int | None:
    """Number of the first member that a training makes, if it makes a part of an ensemble."""
    options = cell.params.get("params")
    first = options.get("first_member") if isinstance(options, dict) else None
    return first if isinstance(first, int) else None


def _whole(cell: Cell) -> str:
    """Name of the ensemble of which a training is a part: "DE member 3" is one of DE."""
    return cell.method.partition(" member ")[0]


def _single(prediction: Prediction) -> Prediction:
    """The prediction; an ensemble of one as a point, since scores of several members are constant for it."""
    if not isinstance(prediction, Members) or prediction.n_members > 1:
        return prediction
    partition = prediction.log_partition
    return Point(prediction.probs[:, 0], log_partition=None if partition is None else partition[:, 0])


def _joined(parts: Sequence[Members]) -> Members:
    partitions = [part.log_partition for part in parts if part.log_partition is not None]
    return Members(
        np.concatenate([part.probs for part in parts], axis=1),
        log_partition=np.concatenate(partitions, axis=1) if len(partitions) == len(parts) else None,
    )


def _names(trainings: Sequence[StoredTraining]) -> list[str]:
    """The method, and what distinguishes the training from others of that method."""
    cells = [training.cell for training in trainings]
    several = {
        "dataset": len({cell.dataset for cell in cells}) > 1,
        "condition": len({canonical_json(dict(cell.condition)) for cell in cells}) > 1,
        "seed": len({cell.seed for cell in cells}) > 1,
    }
    names = []
    for cell in cells:
        parts = [cell.method]
        parts += [cell.dataset] if several["dataset"] else []
        parts += [f"{key} {value}" for key, value in sorted(cell.condition.items())] if several["condition"] else []
        parts += [f"seed {cell.seed}"] if several["seed"] else []
        names.append(", ".join(parts))
    counts = Counter(names)  # trainings with other options
    return [f"{name}, {t.key[:6]}" if counts[name] > 1 else name for name, t in zip(names, trainings, strict=True)]


# Correlation of the ranking metrics with the truths that people's votes give, over saved models.
#
# Ranking metrics, section 4, Table 1: the votes of several people on each instance are its label distribution. The paper
# takes 70 to 116 models. A folder usually holds fewer, and the correlations then have wide intervals.

SCORE = "total-entropy"  # the only one that the paper uses here
MOSTLY = 0.95  # of the instances
PROBES = "linear probes of ImageNet networks"
LEAST = 4  # models: Fisher's interval divides by √(n − 3)
LETTERS = dict(zip(TRUTHS, "φψ", strict=True))
# for a single distribution these are constant, or equal to another score
OF_SEVERAL = tuple(name for name, score in SCORES.items() if score.needs == "a distribution over distributions")


def correlate_saved(
    protocol: str,
    folder: Path,
    human: HumanLabels,
    *,
    needed: str,
    notes: Sequence[str] = (),
    figures: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Reproduction:
    """`correlate_with_votes` for the prediction files of a folder.

    Parameters
    ----------
    needed : str
        What belongs into the folder, for the error about too few models.
    notes, figures, progress
        As in `correlate_with_votes`.
    """
    said = list(notes)
    return correlate_with_votes(
        protocol,
        each_model(folder, human, said),
        human,
        needed=f"{folder} gives too few; {needed}",
        notes=said,
        figures=figures,
        progress=progress,
    )


def correlate_with_votes(
    protocol: str,
    models: Iterable[SavedModel],
    human: HumanLabels,
    *,
    needed: str,
    notes: Sequence[str] = (),
    every_score: bool = False,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Reproduction:
    """Judge every model by its labels and by its votes, and correlate the metrics with Kendall's τ.

    Parameters
    ----------
    protocol : str
        Name of the protocol.
    models : iterable of SavedModel
        Each is judged as it comes.
    needed : str
        What to do if there are too few models.
    notes : sequence of str
        Notes of the data set. They are read when all models are judged, so that `models` may add some.
    every_score : bool
        Whether the reading has a table of every score of every model.
    figures : path, optional
        Folder for Figure 1 as a PNG file.

    Returns
    -------
    Reproduction
        Correlations in percent, ``table1/<data set>/…``, for the entropy of the mean prediction, as in the paper. The reading
        adds every model, the votes instead of the labels, and more scores.
    """
    check_figures(figures)
    say = progress or (lambda step: None)
    scorings, by_votes, pooled, accuracies = [], [], [], []
    for model in models:
        say(f"judging {model.name}")
        scorings += _judged(model, model.labels, (SCORE,))
        by_votes += _judged(model, model.votes, (SCORE,))
        accuracies.append(float((model.prediction.labels() == model.labels).mean()))
        for part in (model, *sub_ensembles(model)):
            say(f"more scores of {part.name}")
            pooled += _judged(part, part.labels, _scores_of(part.prediction), part.scores)
    if len(scorings) < LEAST:
        fail("data", f"must give at least {LEAST} models", f"got {len(scorings)}", needed, code="empty")
    found = study(scorings, "fisher")
    compared = {s.model.partition("-")[0] for s in scorings} == set(human.paper_models)
    cells = printed_cells(human.dataset, found, _why(found.n_scorings, human), compared=compared)
    reading = _model_table(scorings, accuracies)
    reading += contrast_lines(found, scorings)
    reading += truth_lines(human, scorings)
    reading += _more(scorings, by_votes, pooled)
    if every_score:
        reading += _score_table([s for s in pooled if s.model in {one.model for one in scorings}])
    if figures is not None:
        from uqassay.lab.papers.ranking.figures import write_real_figure

        say("drawing figure 1")
        reading.append(f"figure: {write_real_figure(figures, scorings, human.dataset)}")
    said = (*_notes(found.n_scorings, human, compared), *notes)
    return Reproduction(protocol, SOURCE, tuple(cells), said, tuple(reading), listed=True, layouts=LAYOUTS)


def steps_of_ranking_cifar10h(*, data: str | os.PathLike[str] | None = None, **_: object) -> int:
    """About how often a protocol over the models of a folder reports its progress."""
    if data is None:
        return 1
    folder = Path(data)
    return max(1, 6 * len(model_files(folder)) + 2 * n_trainings(folder))


def _judged(
    model: SavedModel, labels: NDArray[Any], scores: Iterable[str], given: Mapping[str, NDArray[Any]] | None = None
) -> list[Scoring]:
    kind = type(model.prediction).__name__
    return judge(model.prediction, labels, model.votes, scores, model=model.name, method=kind, given=given)


def _scores_of(prediction: Prediction) -> tuple[str, ...]:
    names = score_names(prediction)
    if isinstance(prediction, Point):
        return tuple(name for name in names if name not in (*OF_SEVERAL, "credal-width"))
    return names


# ---- text ----------------------------------------------------------------------------------------------------------


def _why(n: int, human: HumanLabels) -> Callable[[str, str, float], str]:
    def reason(metric: str, truth: str, printed: float) -> str:
        return f"{n} models are another sample than the paper's {implied_counts(human.dataset)[0]} {human.models}"

    return reason


def _notes(n: int, human: HumanLabels, compared: bool) -> tuple[str, ...]:
    count = implied_counts(human.dataset)[0]
    context = "" if compared else ": printed values are context, and nothing is compared"
    return (
        f"{n} models {'stand for' if compared else 'replace'} the paper's {count} {human.models}{context}",
        "the low and high of a row are Fisher's z, as the printed intervals are, widened by half a unit of the last digit; "
        "they assume independent models, though an ensemble depends on its members",
    )


def _model_table(scorings: Sequence[Scoring], accuracies: Sequence[float]) -> list[str]:
    body = [
        (s.model, percent(accuracy, 2), *map(_shown, (*s.metrics, *s.taus)))
        for s, accuracy in zip(scorings, accuracies, strict=True)
    ]
    header = ("model", "accuracy", *METRICS, *(f"τ, {LETTERS[truth]}" for truth in TRUTHS))
    return [f"Entropy of the mean prediction, {len(scorings)} models:", *text_table(header, body)]


def _score_table(scorings: Sequence[Scoring]) -> list[str]:
    header = ("model", "score", *METRICS, *(f"τ, {LETTERS[truth]}" for truth in TRUTHS))
    body = [(s.model, s.score, *map(_shown, (*s.metrics, *s.taus))) for s in scorings]
    return ["", f"Every score, {len(body)} scorings, with 95 % intervals:", *text_table(header, body)]


def contrast_lines(found: CorrelationStudy, scorings: Sequence[Scoring]) -> list[str]:
    """Whether each metric follows its own truth more closely than the other truth, one sentence for each metric.

    Parameters
    ----------
    found : CorrelationStudy
        Of the scorings.
    """
    metrics, taus = columns([s for s in scorings if s.defined])
    n = found.n_scorings
    lines = [""]
    for own, metric in enumerate(METRICS):  # UQ-AUC is tied to φ, the C-index to ψ
        other = 1 - own
        low, high = _difference(metrics[:, own], taus[:, own], taus[:, other])
        lines.append(
            f"{metric} over {n} models: {_percent(found[metric, TRUTHS[own]])} with {LETTERS[TRUTHS[own]]}, the truth it is "
            f"tied to, and {_percent(found[metric, TRUTHS[other]])} with {LETTERS[TRUTHS[other]]}; "
            f"{_verdict(float(found[metric, TRUTHS[own]] - found[metric, TRUTHS[other]]), low, high, n)}."
        )
    return lines


def _verdict(difference: float, low: float, high: float, n: int) -> str:
    words = f"the difference of the two on the scale of artanh: {interval(low, high, 2)}, jackknife over models"
    if np.isnan(low):
        return f"{n} models give no interval of the difference, so that they cannot show a contrast"
    if low > 0:
        return f"the paper's contrast shows ({words})"
    if high < 0:
        return f"the opposite of the paper's contrast shows ({words})"
    way = "the paper's way" if difference > 0 else "the other way"
    return f"this points {way}, but {n} models cannot show it ({words})"


def _difference(metric: Floats, own: Floats, other: Floats) -> tuple[float, float]:
    """95 % interval of artanh r(metric, own) − artanh r(metric, other), leaving out each model in turn.

    The two correlations share the models and the metric, so they are dependent.
    """
    n = metric.size

    def difference(rows: NDArray[Any]) -> float:
        r = np.corrcoef([metric[rows], own[rows], other[rows]])[0]
        return float(np.arctanh(r[1]) - np.arctanh(r[2]))

    every = np.arange(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = difference(every)
        left_out = np.array([difference(np.delete(every, i)) for i in range(n)])
    if n < LEAST or not np.isfinite([whole, *left_out]).all():
        return np.nan, np.nan
    reach = float(stdtrit(n - 1, 0.975)) * float((n - 1) / n * ((left_out - whole) ** 2).sum()) ** 0.5
    return whole - reach, whole + reach


def truth_lines(human: HumanLabels, scorings: Sequence[Scoring]) -> list[str]:
    """How the truths look on the data: the range of τ, unanimous votes, and labels with the most votes."""
    unanimous = float((human.votes.max(axis=1) == human.votes.sum(axis=1)).mean())
    spans = []
    for i, truth in enumerate(TRUTHS):
        taus = [float(s.taus[i]) for s in scorings]
        spans.append(f"with {LETTERS[truth]} from {number(min(taus), 2)} to {number(max(taus), 2)}")
    tied = f"the votes on {percent(unanimous, 0)} of the {human.instances} are unanimous, so that φ is tied there"
    best = human.votes == human.votes.max(axis=1, keepdims=True)
    agreeing = float((best[np.arange(len(best)), human.labels] & (best.sum(axis=1) == 1)).mean())
    same = (
        f"The label alone has the most votes on {percent(agreeing)} of the {human.instances}; there the gap is ψ itself"
    )
    if agreeing > MOSTLY:
        same += (
            ", so that the UQ-C-index follows ψ by construction; the correlations with the votes as labels tell more"
        )
    return [f"Kendall's τ runs {' and '.join(spans)}; {tied}.", f"{same}."]


def _more(scorings: Sequence[Scoring], by_votes: Sequence[Scoring], pooled: Sequence[Scoring]) -> list[str]:
    """The same correlations with the votes as labels, and over more scorings."""
    defined = [s for s in pooled if s.defined]
    n_models = len({s.model for s in defined})
    rows = (
        ("label, entropy", len(scorings), study(scorings, "fisher")),
        ("votes, entropy", len(by_votes), study(by_votes, "fisher")),
        (
            f"label, all scores, sub-ensembles: {n_models} models",
            len(defined),
            study(defined, "jackknife", by_model=True),
        ),
    )
    body = [(name, str(n), *(_percent(found[pair]) for pair in PAIRS)) for name, n, found in rows]
    header = ("what the metrics see", "scorings", *(f"{metric}, {LETTERS[truth]}" for metric, truth in PAIRS))
    return [
        "",
        "Correlations in percent with 95 % intervals (Fisher's z; last row: jackknife over models, which share members):",
        *text_table(header, body),
    ]


def _shown(estimate: Estimate) -> str:
    return "undefined" if np.isnan(estimate) else estimate_text(float(estimate), estimate.low, estimate.high)


def _percent(r: Estimate) -> str:
    return f"{percent(float(r))} ({percent_interval(r.low, r.high).removesuffix(' %')})"


# Ranking metrics against the ground truths of CIFAR-10H, for saved models.
#
# Ranking metrics, section 4, Table 1 (rows CIFAR10-H): the votes of about fifty people on each test image are its label
# distribution.

NEEDED_FOR_CIFAR10H = (
    "put there labels.npy (10,000 classes) and prediction files (.npz) in the order of the CIFAR-10 test set, or give the "
    "folder of trainings that reproduce unified --resume or bench -o wrote; the votes are human_counts.npy (10,000 × 10) "
    "there, or CIFAR-10H of the cache folder, from github.com/jcpeterson/cifar-10h"
)
TEST_LABELS = "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5"  # SHA-256 of CIFAR-10's, one byte each
NOTES = (
    "of the printed row UQ-C-index, φ, the estimate −0.04 is a share where all others are percent: its interval is that of "
    "−3.93 % (see ranking-intervals)",
    "the metrics see the label of the data set, the truths the votes; the paper does not say which its metrics saw",
)


def reproduce_ranking_cifar10h(
    *,
    data: Annotated[
        str | os.PathLike[str] | None,
        "Folder with labels.npy and prediction files (.npz) with probs or logits (n, K) or another saved prediction. A "
        "file of members gives each member and their mean; beliefs that are no belief functions are repaired. Or the "
        "folder of a benchmark, whose trainings have predicted the whole test set in its order; each is one model, and "
        "every score of it is shown.",
    ] = None,
    votes: Annotated[
        str | os.PathLike[str] | None,
        "Folder with human_counts.npy and labels.npy, by default data. Without human_counts.npy the votes are those of "
        "CIFAR-10H in the cache folder; a benchmark then needs no labels.npy, because its labels are compared with those "
        "of CIFAR-10.",
    ] = None,
    figures: FirstFigure = None,
    progress: Progress = None,
) -> Reproduction:
    """Correlate the ranking metrics with the votes of CIFAR-10H over saved or trained models.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`, with the labels of the data set.
    """
    folder = check_folder(data, NEEDED_FOR_CIFAR10H)
    place = folder if votes is None else check_folder(votes, "leave it out for the folder of data", parameter="votes")
    check_figures(figures)
    if holds_benchmark(folder):
        return _of_trainings(folder, place, figures, progress)
    human = _human(*labels_and_votes(place, NEEDED_FOR_CIFAR10H))
    return correlate_saved(
        "ranking-cifar10h", folder, human, needed=NEEDED_FOR_CIFAR10H, notes=NOTES, figures=figures, progress=progress
    )


def labels_and_votes(folder: Path, needed: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """labels.npy of a folder, and its human_counts.npy or the votes of `read_cifar10h`, if they belong together.

    Parameters
    ----------
    needed : str
        What belongs there, for errors.
    """
    if not (folder / "labels.npy").is_file():
        fail("data", "must hold labels.npy", f"{folder} does not", needed, code="missing")
    labels, votes = np.asarray(load_labels(folder / "labels.npy")), _votes(folder)
    if labels.ndim != 1 or len(labels) != len(votes):
        rule = "labels.npy must be (n,) and human_counts.npy (n, K)"
        fail("data", rule, f"got shapes {labels.shape} and {votes.shape}", needed, code="shape")
    labels = as_labels(labels, votes.shape[1], name="data: labels.npy")
    check_agreement(labels, votes)
    return labels, votes


def _votes(folder: Path) -> NDArray[Any]:
    """human_counts.npy of a folder, or the votes of `read_cifar10h`."""
    path = folder / "human_counts.npy"
    if not path.is_file():
        return read_cifar10h().votes
    votes = np.asarray(load_labels(path))
    if votes.ndim != 2:
        got = f"got shape {votes.shape}"
        fail("data", "human_counts.npy must be (n, K)", got, "save one row for each image", code="shape")
    as_labels(votes, votes.shape[1], name="data: human_counts.npy")
    return votes


def _human(labels: NDArray[Any], votes: NDArray[Any]) -> HumanLabels:
    rows = np.arange(len(labels))
    return HumanLabels("CIFAR10-H", labels, votes, rows, len(rows), models=PROBES, paper_models=PAPER)


def _of_trainings(
    folder: Path, place: Path, figures: str | os.PathLike[str] | None, progress: Progress
) -> Reproduction:
    """The protocol for the trainings of a benchmark's folder."""
    trainings, notes = stored_trainings(folder)
    if (place / "labels.npy").is_file():
        labels, votes = labels_and_votes(place, NEEDED_FOR_CIFAR10H)
    else:
        votes = _votes(place)
        labels = stored_labels(folder, trainings, votes.shape)
        _check_test_labels(labels, folder)
        check_agreement(labels, votes)
    names = listed(sorted({training.cell.dataset for training in trainings}))
    said = [*NOTES, f"the models are trainings on {names}, one for each method, condition and seed", *notes]
    return correlate_with_votes(
        "ranking-cifar10h",
        trained_models(folder, trainings, labels, votes, said),
        _human(labels, votes),
        needed=f"{folder} has too few trainings of these images; {NEEDED_FOR_CIFAR10H}",
        notes=said,
        every_score=True,
        figures=figures,
        progress=progress,
    )


def _check_test_labels(labels: NDArray[Any], folder: Path) -> None:
    """Refuse labels that are not those of CIFAR-10's test set in its order."""
    if hashlib.sha256(labels.astype(np.uint8).tobytes()).hexdigest() != TEST_LABELS:
        fail(
            "data",
            "labels of the trained models must be the 10,000 test labels of CIFAR-10 in their order",
            f"those in {folder} are others",
            "train on the whole test set in its order; for other instances give the folder of their labels.npy and "
            "human_counts.npy as votes",
            code="mismatch",
        )


def check_agreement(labels: NDArray[Any], votes: NDArray[Any]) -> None:
    """Refuse labels that name the most frequent class of the votes in fewer than half of the rows."""
    agreeing = float((votes.argmax(axis=1) == labels).mean())
    if agreeing < 0.5:
        got = f"it names their most frequent class in only {percent(agreeing, 0)} of the rows"
        remedy = "use the same order of instances and of classes in both"
        fail("data", "the labels must belong to the votes", got, remedy, code="mismatch")


# Ranking metrics against the ground truths of ReaL-ImageNet, for saved models.
#
# Ranking metrics, section 4, Table 1 (rows R-ImageNet): ReaL's scores of the labels of a validation image are its label
# distribution.

NEEDED_FOR_IMAGENET = (
    "put there labels.npy (50,000 classes, 0 … 999 in the order of the WordNet ids, as PyTorch has them) and one file NAME.npz "
    "for each model with probs or logits (n, 1000), in the order of the 50,000 validation images by name, or with ids, their "
    "file names; or give the folder of the images and the networks that make these files; ReaL's scores.npz is read from the "
    "cache folder, real/scores.npz"
)
IMAGENET_CHOICES = (
    "the label distribution of an image is ReaL's scores divided by their sum, as in the paper",
    "the metrics see the label of ImageNet; the paper does not say which its metrics saw",
)


def reproduce_ranking_imagenet_real(
    *,
    data: Annotated[
        str | os.PathLike[str] | None,
        "Folder with labels.npy, the 50,000 labels of ImageNet, and prediction files (.npz) with probs or logits (n, K): "
        "all 50,000 images in the order of their names, or any of them with ids, their file names. The scores are ReaL's "
        "in the cache folder.",
    ] = None,
    images: Annotated[
        str | os.PathLike[str] | None,
        "Folder of the validation images, as published or sorted into folders by WordNet id. With it the networks predict "
        "them first, and the files are written to data, where finished ones are kept.",
    ] = None,
    devkit: Annotated[
        str | os.PathLike[str] | None,
        "Folder of the development kit of ILSVRC 2012, for labels.npy if neither that file nor folders by WordNet id are "
        "there.",
    ] = None,
    networks: NetworkNames = None,
    library: NetworkLibrary = "torchvision",
    weights: NetworkWeights = "all",
    batch_size: Annotated[int, "Images that a network takes at once."] = 64,
    device: Annotated[str, '"auto", "cpu", "cuda", …'] = "auto",
    figures: FirstFigure = None,
    progress: Progress = None,
) -> Reproduction:
    """Correlate the ranking metrics with ReaL's scores of the validation images of ImageNet over saved or pretrained models.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`. Images without a score above 0 are left out.

    Raises
    ------
    InputError
        No folder, files that are missing or do not fit together, labels that do not belong to the scores, fewer than four
        models; images or networks that are missing.
    MissingDependencyError
        For making predictions, torchvision or timm is missing.
    """
    check_figures(figures)
    notes = list(IMAGENET_CHOICES)
    if images is not None and data is not None:
        options = NetworkOptions(library, networks, weights, batch_size, device)
        kit = None if devkit is None else Path(devkit)
        say = progress or (lambda step: None)
        notes += make_image_predictions(Path(data), Path(images), options, devkit=kit, say=say)
    folder = check_folder(data, NEEDED_FOR_IMAGENET)
    if not (folder / "labels.npy").is_file():
        fail("data", "must hold labels.npy", f"{folder} does not", NEEDED_FOR_IMAGENET, code="missing")
    labels = np.asarray(load_labels(folder / "labels.npy"))
    if labels.shape != (N_IMAGES,):
        fail("data", f"labels.npy must be ({N_IMAGES},)", f"got {labels.shape}", NEEDED_FOR_IMAGENET, code="shape")
    real = read_real_scores()
    labels = as_labels(labels, len(real.class_names), name="data: labels.npy")
    places = _places(real.ids.tolist())
    check_agreement(labels[places], real.votes)
    human = HumanLabels(
        "R-ImageNet",
        labels[places],
        real.votes,
        places,
        N_IMAGES,
        ids=real.ids,
        models="networks of torchvision",
        paper_models=PAPER,
    )
    left_out = f"{count(N_IMAGES - len(places))} of {count(N_IMAGES)} images have no score above 0 and are left out"
    return correlate_saved(
        "ranking-imagenet-real",
        folder,
        human,
        needed=NEEDED_FOR_IMAGENET,
        notes=(*notes, left_out),
        figures=figures,
        progress=progress,
    )


def steps_of_ranking_imagenet_real(
    *,
    data: str | os.PathLike[str] | None = None,
    images: object = None,
    networks: str | Sequence[str] | None = None,
    **_: object,
) -> int:
    """About how often the protocol reports its progress."""
    return steps_of_ranking_cifar10h(data=data) + (0 if images is None else n_asked(networks))


def _places(names: Sequence[str]) -> NDArray[np.int64]:
    """Places, from 0, of validation images among all by their file names."""
    places = np.empty(len(names), dtype=np.int64)
    for i, name in enumerate(names):
        number = image_number(name)
        if number is None:
            rule = f"must name validation images, ILSVRC2012_val_00000001.JPEG … {N_IMAGES:08d}.JPEG"
            raise InputError("info", rule, f"got {name!r}", "get scores.npz again", code="range", source="scores.npz")
        places[i] = number - 1
    return places


# Ranking metrics against the ground truths of OASST2, for saved text classifiers.
#
# Ranking metrics, section 4, Table 1 (rows OASST2): the ratings of each message, sorted into a negative and a positive class,
# are its label distribution.

NEEDED_FOR_OASST2 = (
    "put there one file NAME.npz for each model with probs or logits (n, 2), negative and positive, of the "
    "messages of OASST2's validation part, in the order of its file, or with ids, the ids of the messages in the languages of "
    "the model, or name classifiers that make these files; the messages are read from the cache folder, "
    "oasst2/validation.parquet"
)
OASST2_CHOICES = (
    "the paper does not print which of its 15 categories are positive: quality, helpfulness, creativity and humor are here; "
    "the weight of a rating is its value times the number of annotators",
    "the messages have no other label than their ratings: the metrics see the class with the greater weight, negative where "
    "both are equal, and the table below also has the ratings themselves as labels",
    "with these labels the gap of the UQ-C-index is ψ itself, so that without ties it equals (1 + τ) / 2 and its correlation "
    "with ψ is 100 % by construction: only the row of the ratings as labels can show that it follows ψ",
)


def reproduce_ranking_oasst2(
    *,
    data: Annotated[
        str | os.PathLike[str] | None,
        "Folder with prediction files (.npz) with probs or logits (n, 2): all validation messages of OASST2 in the order "
        "of its file, or any of them with ids, the ids of the messages, for models that do not know every language.",
    ] = None,
    classifiers: Annotated[
        str | Sequence[str] | Mapping[str, Sequence[str]] | None,
        'Classifiers that predict the messages first; the files are written to data, where finished ones are kept. "tf-'
        'idf": four own ones, which learn from OASST2\'s training part; "zero-shot": those of the paper\'s list that it '
        'identifies; a name of the Hugging Face Hub, or the path of a folder. {"NAME": ["en", "de"]} names the languages '
        "that each knows.",
    ] = None,
    batch_size: Annotated[int, "Texts, or pairs of text and category, that a classifier takes at once."] = 32,
    device: Annotated[str, '"auto", "cpu", "cuda", …'] = "auto",
    figures: FirstFigure = None,
    progress: Progress = None,
) -> Reproduction:
    """Correlate the ranking metrics with the ratings of the validation messages of OASST2 over saved or other models.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`.

    Raises
    ------
    InputError
        No folder, files that do not fit the messages, fewer than four models, classifiers that cannot be loaded.
    MissingDependencyError
        pyarrow is missing; for own classifiers scikit-learn, for others transformers and PyTorch.
    """
    check_figures(figures)
    if classifiers is None or data is None:
        check_folder(data, NEEDED_FOR_OASST2)
    messages = read_oasst2(part="validation")
    notes = list(OASST2_CHOICES)
    if classifiers is not None and data is not None:
        say = progress or (lambda step: None)
        notes += make_text_predictions(Path(data), messages, classifiers, batch_size=batch_size, device=device, say=say)
    folder = check_folder(data, NEEDED_FOR_OASST2)
    rows = np.arange(len(messages.ids))
    human = HumanLabels(
        "OASST2",
        messages.votes.argmax(axis=1),
        messages.votes,
        rows,
        len(rows),
        ids=messages.ids,
        instances="messages",
        models="zero-shot classifiers",
    )
    equal = float((messages.votes[:, 0] == messages.votes[:, 1]).mean())
    return correlate_saved(
        "ranking-oasst2",
        folder,
        human,
        needed=NEEDED_FOR_OASST2,
        notes=(*notes, f"both weights are equal in {percent(equal)} of the messages"),
        figures=figures,
        progress=progress,
    )


def steps_of_ranking_oasst2(
    *,
    data: str | os.PathLike[str] | None = None,
    classifiers: str | Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    **_: object,
) -> int:
    """About how often the protocol reports its progress."""
    return steps_of_ranking_cifar10h(data=data) + (0 if classifiers is None else len(chosen_classifiers(classifiers)))
