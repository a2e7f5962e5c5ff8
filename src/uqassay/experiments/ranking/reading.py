"""Lines of text about the scorings, beyond the printed cells."""

from collections.abc import Iterable, Sequence

import numpy as np

from uqassay.experiments.ranking.grid import TrainedPredictor
from uqassay.experiments.ranking.scorings import METRICS, TRUTHS, Scoring, columns, study
from uqassay.losses.errors import prediction_errors, probability_gap
from uqassay.measures.scores import uncertainty_score
from uqassay.metrics.calibration.reliability import expected_calibration_error
from uqassay.metrics.ranking.auc_and_c_index import uq_auc_score, uq_c_index_score
from uqassay.metrics.ranking.ground_truths import CorrelationStudy
from uqassay.predictions import Point
from uqassay.statistics import Estimate
from uqassay.wording import count, interval, number, percent, text_table

__all__ = [
    "PAIRS",
    "TEMPERATURES",
    "at_temperatures",
    "by_bayes_error",
    "by_part",
    "interval_methods",
    "negative_shares",
    "sweep_table",
    "temperature_lines",
]

PAIRS = tuple((metric, truth) for metric in METRICS for truth in TRUTHS)
HEADER = tuple(f"{metric}, {'φ' if truth == TRUTHS[0] else 'ψ'}" for metric, truth in PAIRS)
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)


def interval_methods(scorings: Sequence[Scoring]) -> list[str]:
    """The same four intervals by three methods."""
    kinds = (
        ("jackknife over predictors", "jackknife", True),
        ("bootstrap over predictors", "bca", True),
        ("Fisher's z, scorings taken as independent", "fisher", False),
    )
    body = []
    for name, method, by_model in kinds:
        found = study(scorings, method, by_model=by_model)
        body.append((name, *(_interval(found[pair]) for pair in PAIRS)))
    return ["", "95 % intervals by method:", *text_table(("method", *HEADER), body)]


def by_part(scorings: Sequence[Scoring]) -> list[str]:
    """Correlations inside each score and each method, with the mean τ of the part."""
    lines = [
        "",
        "The correlation comes from pooling good and poor scorings. By score and by method, with the mean τ of each part:",
    ]
    header = ("part", "scorings", *HEADER, "mean τ, φ", "mean τ, ψ")
    body = [_part("all", scorings)]
    body += [_part(name, [s for s in scorings if s.score == name]) for name in dict.fromkeys(s.score for s in scorings)]
    body += [
        _part(name, [s for s in scorings if s.method == name]) for name in dict.fromkeys(s.method for s in scorings)
    ]
    return lines + text_table(header, body)


def by_bayes_error(runs: Iterable[tuple[float, Sequence[Scoring]]]) -> list[str]:
    """Correlations at each Bayes error; no lines for a single one."""
    body = [(f"{error:g}", *_percents(study(scorings, "fisher")), _negative(scorings)) for error, scorings in runs]
    if len(body) < 2:
        return []
    return ["", "At other Bayes errors, same seed:", *text_table(("Bayes error", *HEADER, "τ with φ < 0"), body)]


def negative_shares(scorings: Sequence[Scoring]) -> list[str]:
    """Share of scorings with a negative τ, and the share of these whose metric is below ½."""
    metrics, taus = columns([s for s in scorings if s.defined])
    lines = [""]
    for i, letter in enumerate("φψ"):
        wrong = taus[:, i] < 0
        share = f"{percent(float(wrong.mean()))} of the scorings have a negative τ with {letter}"
        below = percent(float((metrics[wrong, i] < 0.5).mean()), 0) if wrong.any() else ""
        lines.append(f"{share}; the {METRICS[i]} of {below} of these is below ½." if below else f"{share}.")
    return lines


def at_temperatures(
    trained: TrainedPredictor, temperatures: Sequence[float] = TEMPERATURES
) -> list[tuple[float, float, float]]:
    """ECE, UQ-AUC and UQ-C-index of a softmax predictor's entropy with its logits divided by each temperature."""
    logits = np.log(trained.prediction.mean_probs())  # up to a constant for each instance
    found = []
    for temperature in temperatures:
        prediction = Point.from_logits(logits / temperature)
        errors = prediction_errors(trained.test.y, prediction)
        s = uncertainty_score(prediction, "total-entropy")
        ece = expected_calibration_error(1.0 - errors, prediction.mean_probs().max(axis=1))
        auc, c_index = uq_auc_score(errors, s), uq_c_index_score(probability_gap(trained.test.y, prediction), s)
        found.append((ece, float(auc), float(c_index)))
    return found


def temperature_lines(trained: TrainedPredictor) -> list[str]:
    """The effect of temperature scaling on a softmax predictor (section 8, Figure 2)."""
    ece, auc, c_index = np.array(at_temperatures(trained)).T
    still = np.ptp(auc) < 1e-9 and np.ptp(c_index) < 1e-9
    return [
        f"Temperature scaling from {TEMPERATURES[0]:g} to {TEMPERATURES[-1]:g} moves the ECE of a softmax predictor between "
        f"{number(ece.min())} and {number(ece.max())}; its UQ-AUC {number(auc[0], 4)} and UQ-C-index {number(c_index[0], 4)} "
        + ("stay as they are." if still else f"move by {np.ptp(auc):.1g} and {np.ptp(c_index):.1g}.")
    ]


def sweep_table(found: Iterable[tuple[float, bool, Sequence[CorrelationStudy], float]]) -> list[str]:
    """Least and greatest correlation over the seeds, by Bayes error and by the sampling of the data."""
    body = []
    for error, one_sample, studies, negative in found:
        spans = []
        for pair in PAIRS:
            values = [100 * float(each[pair]) for each in studies]
            spans.append(f"{number(min(values), 2)} to {number(max(values), 2)}")
        sample = "one for all" if one_sample else "each its own"
        body.append((f"{error:g}", sample, str(len(studies)), *spans, percent(negative)))
    return [
        "",
        "Sweep, the least and the greatest correlation over the seeds:",
        *text_table(("Bayes error", "sample", "seeds", *HEADER, "τ with φ < 0"), body),
    ]


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _part(name: str, scorings: Sequence[Scoring]) -> tuple[str, ...]:
    taus = columns([s for s in scorings if s.defined])[1]
    return (
        name.replace("epistemic-entropy", "mutual information"),
        count(len(scorings)),
        *_percents(study(scorings, "fisher")),
        *(number(value) for value in taus.mean(axis=0).tolist()),
    )


def _percents(found: CorrelationStudy) -> tuple[str, ...]:
    return tuple(number(100 * float(found[pair]), 2) for pair in PAIRS)


def _interval(r: Estimate) -> str:
    return interval(100 * r.low, 100 * r.high, 2)


def _negative(scorings: Sequence[Scoring]) -> str:
    return percent(float(np.mean([s.taus[0] < 0 for s in scorings if s.defined])))
