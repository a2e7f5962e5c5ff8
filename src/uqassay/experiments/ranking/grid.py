"""The grid of the synthetic ranking experiment: which predictors are trained, and how each predicts."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np

from uqassay.datasets.two_gaussians import Sample, TwoGaussians
from uqassay.experiments.ranking.scorings import Scoring, judge
from uqassay.experiments.ranking.stacked_mlps import StackedMLPs, train_stacked_mlps
from uqassay.predictions import Members, Point

__all__ = ["METHODS", "SCORES_OF", "Predictor", "Trained", "grid", "train"]

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
class Predictor:
    """One choice of all settings.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    hidden : tuple of int
        Widths of the hidden layers.
    learning_rate : float
    size : int
        Networks of an ensemble, or stochastic passes of MC dropout; else 1.
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
        """A seed of its own for this predictor, whatever else is in the grid."""
        return [seed, zlib.crc32(self.name.encode()), purpose]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained predictor and its test sample."""

    predictor: Predictor
    networks: StackedMLPs
    test: Sample
    prediction: Point | Members

    def scorings(self) -> list[Scoring]:
        """Every score of its method, judged on the test sample."""
        return judge(
            self.prediction,
            self.test.y,
            self.test.label_probs,
            SCORES_OF[self.predictor.method],
            model=self.predictor.name,
            method=self.predictor.method,
        )


def grid(preset: str) -> tuple[Predictor, ...]:
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


def train(predictor: Predictor, data: TwoGaussians, seed: int, *, one_sample: bool = False) -> Trained:
    """Sample the data, train a predictor, and let it predict the test sample.

    Parameters
    ----------
    predictor : Predictor
    data : TwoGaussians
    seed : int
    one_sample : bool
        All predictors of a seed share one sample; by default each has its own.
    """
    key = [seed, 0] if one_sample else predictor.stream(seed, 0)
    rng = np.random.default_rng([*key, round(1e6 * data.bayes_error)])
    learn, test = data.sample(N_TRAIN, rng), data.sample(N_TEST, rng)
    n_networks = predictor.size if predictor.method == "deep ensemble" else 1
    networks = train_stacked_mlps(
        learn.x,
        learn.y,
        hidden=predictor.hidden,
        seeds=[[*predictor.stream(seed, 1), member] for member in range(n_networks)],
        learning_rate=predictor.learning_rate,
        dropout=predictor.dropout,
        epochs=EPOCHS,
        batch_size=BATCH_SIZE,
    )
    if predictor.method == "MC dropout":
        logits = networks.sampled_logits(test.x, predictor.size, [predictor.stream(seed, 2)])[0]
    else:
        logits = networks.logits(test.x)
    prediction = (
        Point.from_logits(logits[0]) if predictor.method == "softmax" else Members.from_logits(logits, member_axis=0)
    )
    return Trained(predictor, networks, test, prediction)


def _predictors(
    hidden: Sequence[tuple[int, ...]], rates: Sequence[float], sizes: Sequence[int], passes: Sequence[int]
) -> Iterator[Predictor]:
    for widths, rate in product(hidden, rates):
        yield Predictor("softmax", widths, rate)
        for size in sizes:
            yield Predictor("deep ensemble", widths, rate, size)
        for dropout, n in product(DROPOUT, passes):
            yield Predictor("MC dropout", widths, rate, n, dropout)
