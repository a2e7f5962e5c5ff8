"""Tables 1 and 2 of the credal calibration paper: tests of ensembles and of their members, and the sizes of the data sets."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats, as_labels
from uqassay.calibration import credal_calibration_test
from uqassay.checks import fail
from uqassay.errors import InputError, MissingDependencyError, UqassayError
from uqassay.files import problems_named
from uqassay.lab.papers.credal_calibration.plan import BATCH, PAPER_SETS, PLANS, part_size
from uqassay.lab.papers.credal_calibration.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.options import Progress
from uqassay.lab.papers.paper_tables import PrintedCell, printed_table
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.metrics import calibration_measure
from uqassay.predictions import Members, Point, inspect_file, load, load_labels
from uqassay.statistics import mean_estimate, proportion_estimate
from uqassay.text import ABSENT, count, listed, number, pvalue, text_table

if TYPE_CHECKING:
    from uqassay.lab.datasets.registry import DatasetSizes

__all__ = [
    "SIZES_COLUMNS",
    "LabelledEnsemble",
    "Table1Row",
    "holds_training_data",
    "judge_together",
    "read_ensembles",
    "reproduce_table1",
    "reproduce_table2",
    "table1_of",
    "table1_steps",
]

# Ensembles with their labels from a folder of prediction files; a folder of training data is recognised.

NEEDED = (
    "put there, or in folders of it, prediction files (.npz) of members, probs (n, M, K), with labels in the file or in a "
    "labels.npy in its folder or the one above; or probs (M, n, L) with gold (n, L), L yes-or-no questions"
)


@final
@dataclass(frozen=True, eq=False)
class LabelledEnsemble:
    """Members (n, M, K) with their names and the label of each instance."""

    name: str
    members: NDArray[np.float64]
    labels: NDArray[np.intp]
    member_names: tuple[str, ...]


def holds_training_data(data: str | os.PathLike[str]) -> bool:
    """Whether a path holds instances to train on, not predictions: an .npz file with X, X_train or packed images.

    Parameters
    ----------
    data : path
        A file, or a folder, of which only its own .npz files count.
    """
    place = Path(data)
    files = [place] if place.is_file() else sorted(place.glob("*.npz"))
    found = [path.name for path in files if path.suffix == ".npz" and _has_instances(path)]
    if not found:
        return False
    remedy = "give a folder with train.npz and test.npz (X, y) and nothing else, or one with prediction files (probs)"
    if len(found) < len(files):
        others = listed([path.name for path in files if path.name not in found])
        got = f"{place} has instances in {listed(found)} and none in {others}"
        fail("data", "must hold instances or predictions, not both", got, remedy, code="conflict")
    if place.is_dir() and found in (["train.npz"], ["test.npz"]):
        fail("data", "must hold train.npz and test.npz", f"got {found[0]} alone", remedy, code="missing")
    return True


def prediction_files(data: str | os.PathLike[str] | None) -> list[Path]:
    """The .npz files of a folder and of the folders in it."""
    if data is None:
        fail("data", "must be a folder", "got none", NEEDED, code="missing")
    folder = Path(data)
    if not folder.is_dir():
        fail("data", "must be a folder", f"got {folder}", NEEDED, code="missing")
    paths = sorted([*folder.glob("*.npz"), *folder.glob("*/*.npz")])
    if not paths:
        fail("data", "must hold prediction files", f"{folder} has none", NEEDED, code="empty")
    return paths


def read_ensembles(data: str | os.PathLike[str] | None) -> tuple[list[LabelledEnsemble], list[str]]:
    """Every ensemble and single classifier in the files of a folder, and lines on files that are left out.

    Returns
    -------
    ensembles : list of LabelledEnsemble
        A file with L yes-or-no questions gives L ensembles with two classes.
    """
    paths = prediction_files(data)
    root = Path(data) if data is not None else Path()
    found: list[LabelledEnsemble] = []
    left_out: list[str] = []
    for path in paths:
        name = path.relative_to(root).with_suffix("").as_posix()
        binary = list(_binary(path, name))
        if binary:
            found += binary
            continue
        prediction = load(path)
        if not isinstance(prediction, Members | Point):
            left_out.append(f"{name}: {type(prediction).__name__} is left out, because Table 1 is about ensembles")
            continue
        labels = _labels(path, root)
        if labels is None:
            left_out.append(f"{name}: left out, because no labels go with it")
            continue
        members = np.maximum(prediction.hull_points().astype(np.float64), 0.0)
        checked = as_labels(labels, prediction.n_classes, n_instances=len(members), name=f"data: labels of {name}")
        if checked.ndim == 2:
            left_out.append(f"{name}: left out, because calibration tests need one label for each instance")
            continue
        found.append(LabelledEnsemble(name, members, checked.astype(np.intp), _names(path, members.shape[1])))
    if not found:
        first = f", first {left_out[0]}" if left_out else ""
        fail("data", "must give an ensemble", f"{root} gives none{first}", NEEDED, code="empty")
    return found, left_out


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _has_instances(path: Path) -> bool:
    if not is_zipfile(path):
        rule = "must hold arrays in NumPy's npz format"
        fail("data", rule, f"{path} does not", "give files in that format", code="unreadable")
    with problems_named(path), np.load(path, allow_pickle=False) as arrays:
        return bool({"X", "X_train", "jpeg"} & set(arrays.files))


def _binary(path: Path, name: str) -> Iterator[LabelledEnsemble]:
    """One ensemble for each yes-or-no question of a file with probs (M, n, L) and gold (n, L)."""
    with problems_named(path), np.load(path, allow_pickle=False) as arrays:
        if not {"probs", "gold"} <= set(arrays.files):
            return
        probs, gold = np.asarray(arrays["probs"], dtype=np.float64), np.asarray(arrays["gold"])
    if probs.ndim != 3 or gold.shape != probs.shape[1:] or not np.isin(gold, (0, 1)).all():
        rule = "must be probs (M, n, L) and gold (n, L) of zeros and ones"
        got = f"got shapes {probs.shape} and {gold.shape}"
        raise InputError("arrays", rule, got, "mend or remove the file", code="shape", source=path.name)
    for question in range(gold.shape[1]):
        members = Members.from_binary(probs[:, :, question], member_axis=0)
        yield LabelledEnsemble(
            f"{name}, question {question + 1}",
            np.asarray(members.probs, dtype=np.float64),
            gold[:, question].astype(np.intp),
            _names(path, probs.shape[0]),
        )


def _labels(path: Path, root: Path) -> NDArray[Any] | None:
    """Labels in the file, else those of the nearest labels.npy up to the root."""
    if inspect_file(path)["labels"]:
        return load_labels(path)
    for folder in dict.fromkeys((path.parent, root)):
        if (folder / "labels.npy").is_file():
            return load_labels(folder / "labels.npy")
    return None


def _names(path: Path, n_members: int) -> tuple[str, ...]:
    """Names of the members in the file, or numbers."""
    with np.load(path, allow_pickle=False) as arrays:
        given = arrays["members"] if "members" in arrays.files else np.array([])
    if given.shape == (n_members,) and given.dtype.kind == "U":
        return tuple(map(str, given))
    return ("classifier",) if n_members == 1 else tuple(f"member {m + 1}" for m in range(n_members))


# Table 1 of the paper on given ensembles: calibration tests of the ensembles and of their members.
#
# The tests and the weights use a random half of the instances; accuracy and errors of the average and of the weighted
# average are those of the other half.


MEASURES = {"conf": "ece-confidence", "classwise": "ece-classwise"}
ALPHA = 0.05
LISTED = 4  # members; larger ensembles have one line with counts
NAN = float("nan")

CONTEXT = "the printed rows are of other networks or other data: they are context, and nothing is compared"
BESIDE = (
    "printed values stand beside ours where data set and architecture are the paper's; whether they agree is left open, since "
    "the paper prints no intervals and leaves open what the notes name"
)
NOTES = (
    "ECE has 10 bins of equal width, as the paper says for its simulations; the authors' code has 5 for Table 1",
    "verdicts come from the minimised null; the random one is the paper's. For a single classifier both are the test of "
    "Vaicenavicius et al., with different random draws",
)
AS_THEY_ARE = (
    "instances are not resampled: drawing them with replacement, as line 2 of Algorithm 1 is printed (--resample), invalidates "
    "measures with sparse bins"
)
RESAMPLED = "instances are drawn with replacement under the random null, as line 2 of Algorithm 1 is printed"


@final
@dataclass(frozen=True, eq=False)
class Weighted:
    """P-values of a measure; accuracy and error of the combination with the least value of the measure."""

    pvalues: dict[str, float]
    accuracy: float
    error: float


@final
@dataclass(frozen=True, eq=False)
class Table1Row:
    """A row of the table."""

    #: Names of the ensemble and of the row: "all members" or one of them
    ensemble: str
    row: str
    convention: str
    n_members: int
    accuracy: float  #: Of the average, like `errors` on the other half of the instances
    errors: dict[str, float]  #: "conf" and "classwise" ECE of the average
    weighted: dict[str, Weighted]  #: By the same keys


def reproduce_table1(
    data: str | os.PathLike[str] | None,
    conventions: Sequence[str] = ("exact",),
    *,
    n_draws: int = 100,
    seed: int = 0,
    resample: bool = False,
    progress: Progress = None,
) -> Reproduction:
    """Judge the ensembles of a folder, and each of their members alone.

    Parameters
    ----------
    data : path
        Folder as `read_ensembles` takes it.
    conventions : sequence of {"exact", "paper-code"}
    n_draws : int
        D.
    seed : int
        Seed of the halves and the draws.
    resample : bool
        Draw instances with replacement under the random null.
    progress : callable, optional

    Returns
    -------
    Reproduction
        ``table1/<file>/<row>/<convention>/<column>``, columns as in Table 1 with the p-values of both nulls.
    """
    ensembles, left_out = read_ensembles(data)
    say = progress or (lambda step: None)
    judged = []
    for ensemble in ensembles:
        say(f"testing {ensemble.name}")
        for name in conventions:
            judged += _judged(ensemble, name, n_draws=n_draws, seed=seed, resample=resample)
    return table1_of(judged, left_out, resample=resample)


def table1_of(
    judged: Sequence[Sequence[Table1Row]],
    notes: Sequence[str] = (),
    printed: Collection[str] = (),
    *,
    resample: bool = False,
) -> Reproduction:
    """The rows as cells and text, with the printed table below.

    Parameters
    ----------
    judged : sequence of sequence of Table1Row
        For each row of the table its trainings, or the given ensemble alone.
    notes : sequence of str
        In addition to those of every such table.
    printed : collection of str
        Names of the ensembles that are of the paper's data sets.
    resample : bool
        Whether instances were drawn with replacement.
    """
    cells = tuple(cell for runs in judged for cell in _cells(runs, printed=runs[0].ensemble in printed))
    reading = [*_table(judged), "", *_context()]
    about = BESIDE if printed else CONTEXT
    return Reproduction(
        "credal-calibration",
        SOURCE,
        cells,
        (about, *NOTES, RESAMPLED if resample else AS_THEY_ARE, *notes),
        tuple(reading),
        layouts=LAYOUTS,
    )


def table1_steps(data: str | os.PathLike[str] | None) -> int:
    """Approximate number of calls of ``progress``."""
    return len(prediction_files(data))


# ---- one ensemble ----------------------------------------------------------------------------------------------------


def judge_together(
    ensemble: LabelledEnsemble,
    row: str,
    convention: str,
    *,
    n_draws: int,
    seed: int,
    place: int,
    part: int | None = None,
    resample: bool = False,
) -> Table1Row:
    """A row of the table: test one half of the instances, evaluate average and weighted averages on the other.

    Parameters
    ----------
    ensemble : LabelledEnsemble
        All its members form the predictor.
    row : str
        Name of the row in the table.
    convention : {"exact", "paper-code"}
    n_draws : int
        D.
    seed : int
        Seed of the halves, which are the same for all predictors of a data set, and of the draws.
    place : int
        Number of the row, so that each row has its own draws.
    part : int, optional
        Instances that are tested, and as many others that are held out; None takes half of all.
    resample : bool
        Draw instances with replacement under the random null; the authors' code never does.

    Examples
    --------
    >>> sure = LabelledEnsemble("toy", np.tile([0.99, 0.01], (60, 1, 1)), np.arange(60) % 2, ("sure",))
    >>> judge_together(sure, "sure", "exact", n_draws=19, seed=0, place=0).weighted["conf"].pvalues
    {'random': 0.05, 'minimised': 0.05}
    """
    n, n_members = ensemble.members.shape[:2]
    if n < 2:
        rule = "must have two instances or more, for two halves"
        fail("data", rule, f"{ensemble.name} has {n}", "give more of them", code="empty")
    order = np.random.default_rng([seed, 0]).permutation(n)
    end = n if part is None else 2 * part
    tested, held_out = np.sort(order[: end // 2]), np.sort(order[end // 2 : end])
    average = ensemble.members[held_out].mean(axis=1)
    accuracy, errors = _on_held_out(average, ensemble.labels[held_out])
    weighted = {}
    for i, (key, measure) in enumerate(MEASURES.items()):
        pvalues, weights = {}, np.ones(1)
        for j, null in enumerate(("random", "minimised") if convention == "exact" else ("random",)):
            found = credal_calibration_test(
                ensemble.labels[tested],
                ensemble.members[tested],
                measure=measure,
                null=null,  # type: ignore[arg-type]
                n_draws=n_draws,
                resample=resample and null == "random" and convention == "exact",
                convention=convention,  # type: ignore[arg-type]
                rng=np.random.default_rng([seed, 1, place, i, j]),
            )
            pvalues[null], weights = found.pvalue, found.weights
        mixed = np.einsum("m,nmk->nk", weights, ensemble.members[held_out])
        accuracy_mixed, errors_mixed = _on_held_out(mixed, ensemble.labels[held_out])
        weighted[key] = Weighted(pvalues, accuracy_mixed, errors_mixed[key])
    return Table1Row(ensemble.name, row, convention, n_members, accuracy, errors, weighted)


def _judged(
    ensemble: LabelledEnsemble, convention: str, *, n_draws: int, seed: int, resample: bool
) -> list[tuple[Table1Row, ...]]:
    """Every member alone, then all of them."""
    names, n_members = ensemble.member_names, ensemble.members.shape[1]
    chosen = [(names[m], [m]) for m in range(n_members) if n_members > 1]
    chosen.append(("all members" if n_members > 1 else names[0], list(range(n_members))))
    return [
        (
            judge_together(
                replace(ensemble, members=ensemble.members[:, columns]),
                row,
                convention,
                n_draws=n_draws,
                seed=seed,
                place=place,
                resample=resample,
            ),
        )
        for place, (row, columns) in enumerate(chosen)
    ]


def _on_held_out(probs: Floats, labels: NDArray[np.intp]) -> tuple[float, dict[str, float]]:
    """Accuracy and both calibration errors."""
    errors = {key: float(calibration_measure(name).prepare(probs).values(labels)) for key, name in MEASURES.items()}
    return float((probs.argmax(axis=1) == labels).mean()), errors


# ---- rows and text ---------------------------------------------------------------------------------------------------


def _values(row: Table1Row) -> dict[str, float]:
    """The numbers of a row by column."""
    values = {"avg_accuracy": row.accuracy} | {f"avg_ece_{key}": value for key, value in row.errors.items()}
    for key, weighted in row.weighted.items():
        values |= {f"p_{key}_{null}": p for null, p in weighted.pvalues.items()}
        values[f"weighted_{key}_accuracy"] = weighted.accuracy
        values[f"weighted_{key}_ece_{key}"] = weighted.error
    return values


def _cells(runs: Sequence[Table1Row], *, printed: bool) -> list[PrintedCell]:
    """One cell for each number of a row, with the printed one where the paper has the row.

    Of several trainings: the mean with its interval; of p-values the median, the least and the greatest, and the share that
    is rejected with its interval.
    """
    row, table = runs[0], LAYOUTS["table1"]
    place = f"table1/{row.ensemble}/{row.row}"
    found: dict[str, tuple[float, float, float]] = {}
    for column, value in _values(row).items():
        values = np.array([_values(one)[column] for one in runs])
        if len(runs) == 1:
            found[column] = (value, NAN, NAN)
        elif column.startswith("p_"):
            found[column] = (float(np.median(values)), float(values.min()), float(values.max()))
            share = proportion_estimate(values <= ALPHA)
            found[f"rejected{column[1:]}"] = (float(share), share.low, share.high)
        else:
            mean = mean_estimate(values)
            found[column] = (float(mean), mean.low, mean.high)
    return [
        PrintedCell(
            f"{place}/{row.convention}/{column}",
            table.printed_number(f"{place}/exact/{column}") if printed else NAN,
            *numbers,
            agrees=None,
        )
        for column, numbers in found.items()
    ]


def _table(judged: Sequence[Sequence[Table1Row]]) -> list[str]:
    header: list[str] = ["predictor", "accuracy", "ECE", "classw."]
    for name in ("conf.", "classw."):
        header += [f"{name} p rand.", "p min.", "verdict", "weighted acc.", "weighted ECE"]
    lines = [f"Verdicts at α = {ALPHA:g}; accuracy and errors on the other half of the instances:"]
    if any(len(runs) > 1 for runs in judged):
        lines[0] = (
            f"{lines[0][:-1]}; of several trainings means, the least and the greatest p, and how many are rejected:"
        )
    body: list[Sequence[str]] = []
    for name, convention in dict.fromkeys((runs[0].ensemble, runs[0].convention) for runs in judged):
        rows = [runs for runs in judged if (runs[0].ensemble, runs[0].convention) == (name, convention)]
        suffix = ", authors' code" if convention == "paper-code" else ""
        if len(rows) > LISTED + 1:
            members = [row for runs in rows[:-1] for row in runs]
            body.append(_counted(f"{name}: {len(members)} members alone{suffix}", members))
            rows = rows[-1:]
        body += [(f"{name}: {runs[0].row}{suffix}", *_shown(runs)) for runs in rows]
    return [*lines, *text_table(header, body)]


def _shown(runs: Sequence[Table1Row]) -> list[str]:
    """The numbers of a row in text; of several trainings as in `_table`."""
    every = [_values(row) for row in runs]

    def mean(column: str) -> str:
        return number(float(np.mean([values[column] for values in every])), 4)

    def p(column: str) -> str:
        found = [values[column] for values in every if column in values]
        return ABSENT if not found else "–".join(dict.fromkeys((pvalue(min(found)), pvalue(max(found)))))

    cells = [mean("avg_accuracy"), *(mean(f"avg_ece_{key}") for key in MEASURES)]
    for key in MEASURES:
        cells += [p(f"p_{key}_random"), p(f"p_{key}_minimised"), _verdict([row.weighted[key] for row in runs])]
        cells += [mean(f"weighted_{key}_accuracy"), mean(f"weighted_{key}_ece_{key}")]
    return cells


def _counted(name: str, rows: Sequence[Table1Row]) -> list[str]:
    """Means over the members of a large ensemble, and how many are rejected."""
    cells = [name, number(float(np.mean([row.accuracy for row in rows])), 4)]
    cells += [number(float(np.mean([row.errors[key] for row in rows])), 4) for key in MEASURES]
    for key in MEASURES:
        cells += [ABSENT, ABSENT, _verdict([row.weighted[key] for row in rows]), ABSENT, ABSENT]
    return cells


def _verdict(tested: Sequence[Weighted]) -> str:
    rejected = sum(map(_rejects, tested))
    if len(tested) == 1:
        return "reject" if rejected else "keep"
    return f"reject {rejected} of {len(tested)}"


def _rejects(weighted: Weighted) -> bool:
    return weighted.pvalues.get("minimised", weighted.pvalues["random"]) <= ALPHA


def _context() -> list[str]:
    rows: list[dict[str, Any]] = printed_table("credal_calibration_table1")
    body = []
    for row in rows:
        name = f"{row['dataset']}, {row['architecture']}, {row['predictor']}".replace(", -,", ",")
        cells = [row["avg_accuracy"], row["avg_ece_conf"], row["avg_ece_classwise"]]
        for key in MEASURES:
            verdict = "reject" if row[f"reject_{key}"] == "True" else "keep"
            cells += [verdict, row[f"weighted_{key}_accuracy"], row[f"weighted_{key}_ece_{key}"]]
        body.append((name, *cells))
    header = ["printed (context)", "accuracy", "ECE", "classw."]
    for name in ("conf.", "classw."):
        header += [name, "weighted acc.", "weighted ECE"]
    words = "Table 1 as printed, other networks and data (S: single, DN: dropout network, DE: deep ensemble of ten):"
    return [words, *text_table(header, body)]


# Table 2: classes, features and instances of the data sets, beside those that the loaders give.


SIZES_COLUMNS = ("classes", "features", "n_train", "n_calibration", "n_test")
IMAGENET_CLASSES = 1000

SIZES_NOTES = (
    f"calibration and test parts are halves of the instances that are not trained on, without the rest of a batch of {BATCH}; "
    "the paper does not say so, but all its sizes are of this form",
    "D = 1,000 is no number of a data set: for images it is the number of outputs of the networks pretrained on ImageNet, for "
    "bacteria and proteins the width of the hidden layer",
)
REASONS = {
    (
        "caltech-101",
        "classes",
    ): "the archive has 101 classes, and the printed sizes need all its images; the data set caltech-97 "
    "merges four pairs of classes of one kind of object, which gives 97 (our guess)",
    (
        "bacteria",
        "classes",
    ): "the paper does not say at which rank classes are formed; RIKEN's sequences have no labels of their own",
    (
        "bacteria",
        "n_train",
    ): "the printed parts have 12,859 sequences together; which of RIKEN's database are left out is not said",
    ("proteins", "classes"): "the paper does not say which sequences are left out",
    (
        "proteins",
        "n_train",
    ): "the printed parts have 22,006 sequences together, of the 22,168 enzymes of Li et al.; which are left "
    "out is not said",
}


def reproduce_table2(*, seed: int = 0, progress: Progress = None) -> Reproduction:
    """Compare the printed sizes with those of the data sets that are at hand.

    Parameters
    ----------
    seed : int
        Of the splits.
    progress : callable, optional
        Called with a line of text for each data set.

    Returns
    -------
    Reproduction
        ``table2/CIFAR-10/classes`` and so on; ours is nan for data sets that are not at hand, with a note.
    """
    say = progress or (lambda step: None)
    cells: list[PrintedCell] = []
    notes: list[str] = []
    for row in printed_table("credal_calibration_table2_datasets"):
        name = next(key for key, one in PAPER_SETS.items() if one.in_table2 == row["dataset"])
        say(f"reading {name}")
        sizes = _sizes(name, seed)
        if isinstance(sizes, UqassayError):
            notes.append(f"{name} is not at hand: {sizes}")
            cells += [_size_cell(name, row, column, NAN) for column in SIZES_COLUMNS]
            continue
        part = part_size(sizes.n_test)
        found = (sizes.n_classes, _width(name), sizes.n_train, part, part)
        cells += [
            _size_cell(name, row, column, float(value)) for column, value in zip(SIZES_COLUMNS, found, strict=True)
        ]
        given = "images" if PAPER_SETS[name].images else f"{count(sizes.shape[0]) if sizes.shape else 'no'} features"
        notes.append(f"{name}: the loader gives {count(sizes.n_train)} and {count(sizes.n_test)} instances, {given}")
    return Reproduction(
        "credal-calibration", SOURCE, tuple(cells), (*SIZES_NOTES, *notes), listed=True, layouts=LAYOUTS
    )


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _sizes(name: str, seed: int) -> "DatasetSizes | UqassayError":
    """The sizes of a data set, or why it is not at hand."""
    from uqassay.lab.datasets.registry import sizes_of

    try:
        return sizes_of(name, rng=seed)
    except (InputError, MissingDependencyError) as problem:
        return problem


def _width(name: str) -> int:
    """D: numbers that enter the last layer of the networks as printed."""
    return IMAGENET_CLASSES if PAPER_SETS[name].images else PLANS["paper"].hidden[-1]


def _size_cell(name: str, row: dict[str, str], column: str, ours: float) -> PrintedCell:
    printed = float(row[column])
    cell = PrintedCell.within(f"table2/{row['dataset']}/{column}", printed, ours, ours, ours)
    if cell.agrees is not False:
        return cell
    why = REASONS.get((name, column), f"the files here have {count(int(ours))}")
    return PrintedCell.within(cell.name, printed, ours, ours, ours, note=why)
