"""Correlation of the ranking metrics with the truths that people's votes give, over saved models.

Paper 003, section 4, Table 1: the votes of several people on each instance are its label distribution. The paper takes 70 to
116 models. A folder usually holds fewer, and the correlations then have wide intervals.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from uqassay.errors import InputError
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.printed_intervals import implied_counts
from uqassay.experiments.ranking.reading import PAIRS
from uqassay.experiments.ranking.saved_models import HumanLabels, SavedModel, each_model, model_files, sub_ensembles
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
from uqassay.experiments.ranking.trained_models import n_trainings
from uqassay.experiments.reproduction import Reproduction
from uqassay.measures.scores import SCORES, score_names
from uqassay.metrics.ranking.ground_truths import CorrelationStudy
from uqassay.predictions import Point, Prediction
from uqassay.statistics import Estimate
from uqassay.wording import estimate_text, interval, number, percent, percent_interval, text_table

__all__ = ["LEAST", "contrast_lines", "correlate_saved", "correlate_with_votes", "progress_steps", "truth_lines"]

SCORE = "total-entropy"  # the only one that the paper uses here
MOSTLY = 0.95  # of the instances
LEAST = 4  # models: Fisher's interval divides by √(n − 3)
LETTERS = dict(zip(TRUTHS, "φψ", strict=True))
# for a single distribution these are constant, or equal to another score
OF_SEVERAL = tuple(name for name, score in SCORES.items() if score.needs == "a distribution over distributions")

Floats = NDArray[np.float64]
Progress = Callable[[str], None]


def correlate_saved(
    protocol: str,
    folder: Path,
    human: HumanLabels,
    *,
    needed: str,
    notes: Sequence[str] = (),
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """`correlate_with_votes` for the prediction files of a folder.

    Parameters
    ----------
    protocol : str
    folder : Path
    human : HumanLabels
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
    progress: Progress | None = None,
) -> Reproduction:
    """Judge every model by its labels and by its votes, and correlate the metrics with Kendall's τ.

    Parameters
    ----------
    protocol : str
        Name of the protocol.
    models : iterable of SavedModel
        Each is judged as it comes.
    human : HumanLabels
    needed : str
        What to do if there are too few models.
    notes : sequence of str
        Notes of the data set. They are read when all models are judged, so that `models` may add some.
    every_score : bool
        Whether the reading has a table of every score of every model.
    figures : path, optional
        Folder for Figure 1 as a PNG file.
    progress : callable, optional

    Returns
    -------
    Reproduction
        Correlations in percent, ``table1/<data set>/…``, for the entropy of the mean prediction, as in the paper. The reading
        adds every model, the votes instead of the labels, and more scores.

    Raises
    ------
    InputError
        Fewer than four models.
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
        raise InputError("data", f"must give at least {LEAST} models", f"got {len(scorings)}", needed, code="empty")
    found = study(scorings, "fisher")
    cells = printed_cells(human.dataset, found, _why(found.n_scorings, human))
    reading = _model_table(scorings, accuracies)
    reading += contrast_lines(found, scorings)
    reading += truth_lines(human, scorings)
    reading += _more(scorings, by_votes, pooled)
    if every_score:
        reading += _score_table([s for s in pooled if s.model in {one.model for one in scorings}])
    if figures is not None:
        from uqassay.experiments.ranking.figures import write_real_figure

        say("drawing figure 1")
        reading.append(f"figure: {write_real_figure(figures, scorings, human.dataset)}")
    said = (*_notes(found.n_scorings, human), *notes)
    return Reproduction(protocol, SOURCE, tuple(cells), said, tuple(reading), listed=True)


def progress_steps(*, data: str | os.PathLike[str] | None = None, **_: object) -> int:
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


def _notes(n: int, human: HumanLabels) -> tuple[str, ...]:
    count = implied_counts(human.dataset)[0]
    weak = "the intervals are wide, so a printed value inside one is weak evidence"
    return (
        f"{n} models replace the paper's {count} {human.models}" + (f": {weak}" if n < count / 2 else ""),
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
    scorings : sequence of Scoring
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
    """How the truths look on the data: the range of τ, unanimous votes, and labels with the most votes.

    Parameters
    ----------
    human : HumanLabels
    scorings : sequence of Scoring
    """
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
