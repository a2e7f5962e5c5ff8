"""The grid of the synthetic ranking experiment: settings of the predictors, their training and their predictions."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, final

import numpy as np

from uqassay._optional import optional_package
from uqassay.datasets.two_gaussians import Sample, TwoGaussians
from uqassay.experiments.ranking.scorings import Scoring, judge
from uqassay.predictions import Members, Point

if TYPE_CHECKING:
    from uqassay.methods.network_classifier import NetworkClassifier

__all__ = ["METHODS", "SCORES_OF", "GridPredictor", "TrainedPredictor", "grid", "stacks", "train", "train_together"]

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
    """The settings of a predictor.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    hidden : tuple of int
        Widths of the hidden layers.
    learning_rate : float
    size : int
        Number of networks of an ensemble, or of stochastic passes of MC dropout; 1 for a softmax.
    dropout : float
    """

    method: str
    hidden: tuple[int, ...]
    learning_rate: float
    size: int = 1
    dropout: float = 0.0

    @property
    def name(self) -> str:
        """All settings in words."""
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
    prediction: Point | Members

    def scorings(self) -> list[Scoring]:
        """Judge every score of its method on the test sample."""
        return judge(
            self.prediction,
            self.test.y,
            self.test.label_probs,
            SCORES_OF[self.predictor.method],
            model=self.predictor.name,
            method=self.predictor.method,
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
    predictors : sequence of GridPredictor
    data : TwoGaussians
    seed : int
    one_sample : bool
        All predictors of a seed share one sample; by default each has its own.

    Returns
    -------
    list of TrainedPredictor

    Raises
    ------
    MissingDependencyError
        PyTorch or scikit-learn is missing.
    """
    for package in ("torch", "sklearn"):
        optional_package(package, "methods", "the training of the ranking grid")
    from uqassay.methods import fit_together

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
    from uqassay.methods import DeepEnsemble, MCDropout

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

    from uqassay.methods.layers import Draws

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
