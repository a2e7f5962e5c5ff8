"""Ranking metrics against the ground truths of CIFAR-10H, for saved models.

Paper 003, section 4, Table 1 (rows CIFAR10-H): the votes of about fifty people on each test image are its label distribution.
The paper probes 116 networks; a folder usually holds fewer models, and the correlations then have wide intervals.
"""

import os
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from uqassay._array import as_labels
from uqassay.errors import InputError
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.printed_intervals import implied_counts
from uqassay.experiments.ranking.reading import PAIRS
from uqassay.experiments.ranking.scorings import (
    METRICS,
    SOURCE,
    TRUTHS,
    Scoring,
    columns,
    judge,
    printed_cells,
    study,
)
from uqassay.experiments.reproduction import Reproduction
from uqassay.measures.scores import SCORES, score_names
from uqassay.metrics.ranking.ground_truths import CorrelationStudy
from uqassay.predictions import Masses, Members, Point, Prediction
from uqassay.predictions.files import load, load_labels
from uqassay.statistics import Estimate
from uqassay.wording import estimate_text, interval, number, percent, text_table

__all__ = ["load_models", "progress_steps", "reproduce_ranking_cifar10h"]

SCORE = "total-entropy"  # the only one that the paper uses here
LEAST = 4  # models: Fisher's interval divides by √(n − 3)
NEEDED = (
    "put there labels.npy (10,000 classes), human_counts.npy (votes, 10,000 × 10) and prediction files (.npz) in the order "
    "of the CIFAR-10 test set; the votes are CIFAR-10H, from github.com/jcpeterson/cifar-10h"
)
LETTERS = dict(zip(TRUTHS, "φψ", strict=True))
# for a single distribution these are constant, or equal to another score
OF_SEVERAL = tuple(name for name, score in SCORES.items() if score.needs == "a distribution over distributions")

Floats = NDArray[np.float64]
Progress = Callable[[str], None]


def reproduce_ranking_cifar10h(
    *,
    data: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Correlate the ranking metrics with the votes of CIFAR-10H over saved models.

    Parameters
    ----------
    data : path
        Folder with labels.npy, human_counts.npy and prediction files (.npz) as `uqassay.load` reads them. A file of members
        gives each member and their mean; beliefs that are no belief functions are repaired.
    figures : path, optional
        Folder for Figure 1 as a PNG file; needs matplotlib.
    progress : callable, optional
        Called with a line of text at every step.

    Returns
    -------
    Reproduction
        Correlations in percent, ``table1/CIFAR10-H/…``, for the entropy of the mean prediction, as in the paper, and the labels
        of the data set. The reading adds every model, the votes instead of the labels, and more scores.

    Raises
    ------
    InputError
        No folder, files that are missing or do not fit together, labels that do not belong to the votes, fewer than four
        models.
    """
    folder = _folder(data)
    check_figures(figures)
    say = progress or (lambda step: None)
    labels, votes = _labels(folder)
    models, repaired = load_models(folder, len(labels), votes.shape[1])
    scorings, by_votes, pooled = [], [], []
    for name, prediction in models.items():
        say(f"judging {name}")
        scorings += judge(prediction, labels, votes, (SCORE,), model=name, method=type(prediction).__name__)
        by_votes += judge(prediction, votes, votes, (SCORE,), model=name, method=type(prediction).__name__)
    for name, prediction in {**models, **_sub_ensembles(models)}.items():
        say(f"more scores of {name}")
        pooled += judge(prediction, labels, votes, _scores_of(prediction), model=name, method=type(prediction).__name__)
    found = study(scorings, "fisher")
    n = found.n_scorings
    cells = printed_cells("CIFAR10-H", found, _why(n))
    reading = _model_table(models, labels, scorings)
    reading += _contrast(found, scorings)
    reading += _about_truths(votes, scorings)
    reading += _more(scorings, by_votes, pooled)
    if figures is not None:
        from uqassay.experiments.ranking.figures import write_real_figure

        say("drawing figure 1")
        reading.append(f"figure: {write_real_figure(figures, scorings, 'CIFAR10-H')}")
    notes = _notes(n, repaired)
    return Reproduction("ranking-cifar10h", SOURCE, tuple(cells), notes, tuple(reading), listed=True)


def load_models(folder: Path, n: int, n_classes: int) -> tuple[dict[str, Prediction], list[str]]:
    """Every model of the prediction files in a folder, by name, and lines on repaired ones.

    Parameters
    ----------
    folder : Path
    n, n_classes : int
        Instances and classes that each file must have.
    """
    models: dict[str, Prediction] = {}
    repaired = []
    for path in sorted(folder.glob("*.npz")):
        prediction = load(path)
        if (prediction.n_instances, prediction.n_classes) != (n, n_classes):
            raise InputError(
                "prediction",
                f"must have the {n} instances and {n_classes} classes of the votes",
                f"got {prediction.n_instances} and {prediction.n_classes}",
                "leave the file out",
                code="mismatch",
                source=path.name,
            )
        if isinstance(prediction, Masses) and prediction.signed:
            prediction = prediction.repaired()
            repaired.append(f"{path.stem}: {prediction.notes[-1]}")
        if isinstance(prediction, Members):
            for m in range(prediction.n_members):
                models[f"{path.stem}, member {m + 1}"] = Point(prediction.probs[:, m])
            models[f"{path.stem}, mean"] = prediction
        else:
            models[path.stem] = prediction
    if len(models) < LEAST:
        raise InputError(
            "data", f"must give at least {LEAST} models", f"{folder} gives {len(models)}", NEEDED, code="empty"
        )
    return models, repaired


def progress_steps(*, data: str | os.PathLike[str] | None = None, **_: object) -> int:
    """About how often the protocol reports its progress."""
    return 1 if data is None else max(1, 6 * len(list(Path(data).glob("*.npz"))))


# ---- files ---------------------------------------------------------------------------------------------------------


def _folder(data: str | os.PathLike[str] | None) -> Path:
    if data is None:
        raise InputError("data", "must be a folder", "got none", NEEDED, code="missing")
    folder = Path(data)
    if not folder.is_dir():
        raise InputError("data", "must be a folder", f"got {folder}", NEEDED, code="missing")
    missing = [name for name in ("labels.npy", "human_counts.npy") if not (folder / name).is_file()]
    if missing:
        raise InputError("data", f"must hold {' and '.join(missing)}", f"{folder} does not", NEEDED, code="missing")
    return folder


def _labels(folder: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    labels, votes = load_labels(folder / "labels.npy"), load_labels(folder / "human_counts.npy")
    if labels.ndim != 1 or votes.ndim != 2 or len(labels) != len(votes):
        raise InputError(
            "data",
            "labels.npy must be (n,) and human_counts.npy (n, K)",
            f"got shapes {labels.shape} and {votes.shape}",
            NEEDED,
            code="shape",
        )
    n_classes = votes.shape[1]
    labels = as_labels(labels, n_classes, name="data: labels.npy")
    as_labels(votes, n_classes, name="data: human_counts.npy")
    agreeing = float((votes.argmax(axis=1) == labels).mean())
    if agreeing < 0.5:
        raise InputError(
            "data",
            "labels.npy must belong to the votes of human_counts.npy",
            f"it names their most frequent class in only {percent(agreeing, 0)} of the rows",
            "use the same order of images and of classes in both files",
            code="mismatch",
        )
    return labels, votes


def _sub_ensembles(models: dict[str, Prediction]) -> dict[str, Prediction]:
    """All proper subsets of two and more members of each ensemble of at most five."""
    found: dict[str, Prediction] = {}
    for name, prediction in models.items():
        if isinstance(prediction, Members) and prediction.n_members <= 5:
            for size in range(2, prediction.n_members):
                for chosen in combinations(range(prediction.n_members), size):
                    words = " and ".join(str(m + 1) for m in chosen)
                    found[f"{name.removesuffix(', mean')}, members {words}"] = Members(
                        prediction.probs[:, list(chosen)]
                    )
    return found


def _scores_of(prediction: Prediction) -> tuple[str, ...]:
    names = score_names(prediction)
    if isinstance(prediction, Point):
        return tuple(name for name in names if name not in (*OF_SEVERAL, "credal-width"))
    return names


# ---- text ----------------------------------------------------------------------------------------------------------


def _why(n: int) -> Callable[[str, str, float], str]:
    def reason(metric: str, truth: str, printed: float) -> str:
        return f"{n} saved models are another sample than the paper's {implied_counts('CIFAR10-H')[0]} linear probes"

    return reason


def _notes(n: int, repaired: Sequence[str]) -> tuple[str, ...]:
    counts = implied_counts("CIFAR10-H")
    return (
        f"{n} models replace the paper's {counts[0]} linear probes of ImageNet networks: the intervals are wide, so a printed "
        "value inside one is weak evidence",
        "the low and high of a row are Fisher's z, as the printed intervals are, widened by half a unit of the last digit; "
        "they assume independent models, though an ensemble depends on its members",
        "of the printed row UQ-C-index, φ, the estimate −0.04 is a share where all others are percent: its interval is that of "
        "−3.93 % (see ranking-intervals)",
        "the metrics see the label of the data set, the truths the votes; the paper does not say which its metrics saw",
        *repaired,
    )


def _model_table(models: dict[str, Prediction], labels: NDArray[Any], scorings: Sequence[Scoring]) -> list[str]:
    body = []
    for s in scorings:
        accuracy = float((models[s.model].labels() == labels).mean())
        body.append((s.model, percent(accuracy, 2), *map(_shown, (*s.metrics, *s.taus))))
    header = ("model", "accuracy", *METRICS, *(f"τ, {LETTERS[truth]}" for truth in TRUTHS))
    return [f"Entropy of the mean prediction, {len(scorings)} models:", *text_table(header, body)]


def _contrast(found: CorrelationStudy, scorings: Sequence[Scoring]) -> list[str]:
    """Whether each metric follows its own truth more closely than the other truth."""
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


def _about_truths(votes: NDArray[Any], scorings: Sequence[Scoring]) -> list[str]:
    unanimous = float((votes.max(axis=1) == votes.sum(axis=1)).mean())
    spans = []
    for i, truth in enumerate(TRUTHS):
        taus = [float(s.taus[i]) for s in scorings]
        spans.append(f"with {LETTERS[truth]} from {number(min(taus), 2)} to {number(max(taus), 2)}")
    return [
        f"Kendall's τ runs {' and '.join(spans)}; the votes on {percent(unanimous, 0)} of the images are unanimous, so that φ "
        "is tied there and no score comes near τ = 1."
    ]


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
    return f"{percent(float(r), 0)} ({interval(100 * r.low, 100 * r.high, 0)})"
