"""The grid of small networks on two Gaussians, whose ground truths are known, and lines of text about it."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, final

import numpy as np

from uqassay.files import optional_package
from uqassay.lab.datasets.generated import Sample, TwoGaussians
from uqassay.lab.methods.registry import is_given, label_of
from uqassay.lab.papers.ranking.printed import METRICS, TRUTHS
from uqassay.lab.papers.ranking.scorings import Scoring, columns, judge, study
from uqassay.losses import prediction_errors, probability_gap
from uqassay.measures import SCORES, uncertainty_score
from uqassay.metrics import CorrelationStudy, expected_calibration_error, uq_auc_score, uq_c_index_score
from uqassay.predictions import Members, Point, Prediction
from uqassay.statistics import Estimate
from uqassay.text import count, interval, number, percent, text_table

if TYPE_CHECKING:
    from uqassay.lab.methods.networks import NetworkClassifier

__all__ = [
    "METHODS",
    "PAIRS",
    "SCORES_OF",
    "TEMPERATURES",
    "GridPredictor",
    "TrainedPredictor",
    "at_temperatures",
    "by_bayes_error",
    "by_part",
    "grid",
    "interval_methods",
    "negative_shares",
    "own_predictors",
    "stacks",
    "sweep_table",
    "temperature_lines",
    "train",
    "train_own",
    "train_together",
]


# The grid of the synthetic ranking experiment: settings of the predictors, their training and their predictions.

METHODS = ("softmax", "deep ensemble", "MC dropout")
SEVERAL = ("total-entropy", "aleatoric-entropy", "free-energy", "epistemic-entropy", "predicted-class-variance")
SCORES_OF = {
    "softmax": ("total-entropy", "free-energy", "total-variance"),
    "deep ensemble": SEVERAL,
    "MC dropout": SEVERAL,
}
N_TRAIN, N_TEST, EPOCHS, BATCH_SIZE = 600, 400, 50, 504

HIDDEN = ((16,), (32,), (64,), (16, 16), (32, 32), (64, 64))
RATES = (0.005, 0.025, 0.05)
ENSEMBLES = (5, 10)
DROPOUT = (0.1, 0.3, 0.5)
PASSES = (10, 50, 100)


@final
@dataclass(frozen=True, slots=True)
class GridPredictor:
    """The settings of a predictor."""

    method: str  #: One of `METHODS`, or ``module:Class``, a class of the user
    hidden: tuple[int, ...]  #: Widths of the hidden layers
    learning_rate: float
    size: int = 1  #: Number of networks of an ensemble, or of stochastic passes of MC dropout; 1 for a softmax
    dropout: float = 0.0

    @property
    def name(self) -> str:
        """All settings in words."""
        if is_given(self.method):
            return f"{label_of(self.method)}, sample {self.size}"
        words = [self.method, f"{'-'.join(map(str, self.hidden))} hidden units", f"rate {self.learning_rate:g}"]
        if self.method == "deep ensemble":
            words.append(f"{self.size} networks")
        if self.dropout:
            words += [f"dropout {self.dropout:g}", f"{self.size} passes"]
        return ", ".join(words)

    def stream(self, seed: int, purpose: int) -> list[int]:
        """Seed that depends on the settings of this predictor alone, not on the rest of the grid."""
        return [seed, zlib.crc32(self.name.encode()), purpose]


@final
@dataclass(frozen=True, slots=True, eq=False)
class TrainedPredictor:
    """A trained predictor with its test sample."""

    predictor: GridPredictor
    test: Sample
    prediction: Prediction

    def scorings(self) -> list[Scoring]:
        """Judge every score of its method on the test sample."""
        return judge(
            self.prediction,
            self.test.y,
            self.test.label_probs,
            _scores_of(self.predictor.method, self.prediction),
            model=self.predictor.name,
            method=label_of(self.predictor.method) if is_given(self.predictor.method) else self.predictor.method,
        )


def grid(preset: str) -> tuple[GridPredictor, ...]:
    """All predictors of the paper's grid, 216 with 1,044 scorings; for "smoke" 20 of the cheapest, with 92.

    Examples
    --------
    >>> [(len(g), sum(len(SCORES_OF[p.method]) for p in g)) for g in (grid("cpu"), grid("smoke"))]
    [(216, 1044), (20, 92)]
    """
    small = preset == "smoke"
    hidden = ((16,), (16, 16)) if small else HIDDEN
    rates = RATES[::2] if small else RATES
    sizes = ENSEMBLES[:1] if small else ENSEMBLES
    passes = PASSES[:1] if small else PASSES
    return tuple(_predictors(hidden, rates, sizes, passes))


def own_predictors(method: str, n: int) -> tuple[GridPredictor, ...]:
    """A class of the user, trained on samples of its own as often as asked."""
    return tuple(GridPredictor(method, (), 0.0, size=i) for i in range(1, n + 1))


def train_own(predictor: GridPredictor, data: TwoGaussians, seed: int, *, one_sample: bool = False) -> TrainedPredictor:
    """Train a class of the user on one sample, with the epochs and batches of the grid where it has such options."""
    from uqassay.lab.methods.registry import build_method, offered_options

    learn, test = _sample(predictor, data, seed, one_sample)
    options = offered_options(predictor.method, {"epochs": EPOCHS, "batch_size": BATCH_SIZE, "progress": False})
    state = int(np.random.default_rng(predictor.stream(seed, 1)).integers(2**31))
    model = build_method(predictor.method, **options, random_state=state).fit(learn.x, learn.y)
    return TrainedPredictor(predictor, test, model.predict_uncertainty(test.x))


def _scores_of(method: str, prediction: Prediction) -> tuple[str, ...]:
    """The scores of a method of the grid; of a class of the user all of these that its predictions offer."""
    if not is_given(method):
        return SCORES_OF[method]
    every = dict.fromkeys(score for scores in SCORES_OF.values() for score in scores)
    return tuple(score for score in every if SCORES[score].offered_by(prediction))


def stacks(predictors: Sequence[GridPredictor]) -> list[list[GridPredictor]]:
    """Predictors grouped by hidden layers and learning rate, in their order; `train_together` takes one group at a time."""
    groups: dict[tuple[Any, ...], list[GridPredictor]] = {}
    for predictor in predictors:
        groups.setdefault((predictor.hidden, predictor.learning_rate), []).append(predictor)
    return list(groups.values())


def train(predictor: GridPredictor, data: TwoGaussians, seed: int, *, one_sample: bool = False) -> TrainedPredictor:
    """`train_together` for one predictor; the result is the same."""
    return train_together([predictor], data, seed, one_sample=one_sample)[0]


def train_together(
    predictors: Sequence[GridPredictor], data: TwoGaussians, seed: int, *, one_sample: bool = False
) -> list[TrainedPredictor]:
    """Sample the data of each predictor, train all networks side by side, and predict the test samples.

    Parameters
    ----------
    one_sample : bool
        All predictors of a seed share one sample; by default each has its own.
    """
    for package in ("torch", "sklearn"):
        optional_package(package, "lab", "the training of the ranking grid")
    from uqassay.lab.methods import fit_together

    samples = [_sample(predictor, data, seed, one_sample) for predictor in predictors]
    estimators = [_estimator(predictor, seed) for predictor in predictors]
    fit_together(estimators, [(learn.x, learn.y) for learn, _ in samples])
    return [
        TrainedPredictor(predictor, test, _prediction(predictor, estimator, test, seed))
        for predictor, estimator, (_, test) in zip(predictors, estimators, samples, strict=True)
    ]


def _sample(predictor: GridPredictor, data: TwoGaussians, seed: int, one_sample: bool) -> tuple[Sample, Sample]:
    """Training and test sample."""
    key = [seed, 0] if one_sample else predictor.stream(seed, 0)
    rng = np.random.default_rng([*key, round(1e6 * data.bayes_error)])
    return data.sample(N_TRAIN, rng), data.sample(N_TEST, rng)


def _estimator(predictor: GridPredictor, seed: int) -> "NetworkClassifier":
    """The untrained estimator of a predictor; a softmax is an ensemble of one, which shares the stack of the ensembles."""
    from uqassay.lab.methods import DeepEnsemble, MCDropout

    options: dict[str, Any] = {
        "backbone": predictor.hidden,
        "learning_rate": predictor.learning_rate,
        "epochs": EPOCHS,
        "batch_size": BATCH_SIZE,
        "standardise": False,
        "device": "cpu",
        "progress": False,
        "random_state": np.random.default_rng(predictor.stream(seed, 1)),
    }
    if predictor.method == "MC dropout":
        return MCDropout(rate=predictor.dropout, **options)  # `_passes` draws the passes
    return DeepEnsemble(n_members=predictor.size, **options)


def _prediction(predictor: GridPredictor, estimator: "NetworkClassifier", test: Sample, seed: int) -> Point | Members:
    if predictor.method == "MC dropout":
        return _passes(estimator, test.x, predictor.size, predictor.stream(seed, 2))
    members = estimator.predict_uncertainty(test.x)
    assert isinstance(members, Members)
    if predictor.method != "softmax":
        return members
    assert members.log_partition is not None
    return Point(members.probs[:, 0], log_partition=members.log_partition[:, 0])


def _passes(estimator: Any, x: np.ndarray, n_passes: int, seed: list[int]) -> Members:
    """Stochastic passes with one mask for each instance, as in PyTorch's dropout in training mode.

    `MCDropout.predict_uncertainty` draws one mask for all instances of a pass.
    """
    import torch

    from uqassay.lab.methods.layers import Draws

    numbers = np.random.SeedSequence(seed).generate_state(n_passes)
    draws = Draws([torch.Generator().manual_seed(int(number)) for number in numbers], rows=[len(x)] * n_passes)
    with torch.no_grad():
        logits = estimator.network_(torch.from_numpy(x)[None], draws)  # (n_passes, n, K)
    return Members.from_logits(logits.numpy(), member_axis=0)


def _predictors(
    hidden: Sequence[tuple[int, ...]], rates: Sequence[float], sizes: Sequence[int], passes: Sequence[int]
) -> Iterator[GridPredictor]:
    for widths, rate in product(hidden, rates):
        yield GridPredictor("softmax", widths, rate)
        for size in sizes:
            yield GridPredictor("deep ensemble", widths, rate, size)
        for dropout, n in product(DROPOUT, passes):
            yield GridPredictor("MC dropout", widths, rate, n, dropout)


# Lines of text about the scorings, beyond the printed cells.

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
