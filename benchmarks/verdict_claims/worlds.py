"""Data sets of predictions and labels whose truth is known: what a cell of the simulation is, and how its data are made.

A model sees a label y, uniform on K classes, through a signal with Gaussian noise, a · e_y + ε with ε ~ N(0, I). The posterior
of the label is softmax(a · signal), which is calibrated. Models of the same parameters are exchangeable: all their true means
are equal, at every λ, while their predictions differ. A part of the noise is shared by all models, as real models err on the
same instances.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import uqassay as uq

__all__ = ["Cell", "DataSet", "Kind", "data_set", "kinds_of", "mean_log_loss", "softmax"]

Array = NDArray[np.float64]

CHANCE, BACKWARD = "chance", "backward"  # given scores
SUBGROUP = "site"  # name of the subgroup
SAMPLES_OF_MEAN = 2_000_000


@dataclass(frozen=True)
class Kind:
    """Parameters of a model; models of one kind are exchangeable.

    Attributes
    ----------
    count : int
        Number of models.
    signal : float
        Strength a of the signal.
    sharpness : float
        Factor of the logits: 1 is calibrated, above 1 overconfident.
    members : int
        Members of an ensemble; 0 for a single distribution.
    spread : float
        Standard deviation of a member's noise.
    rare : float
        Share of the instances in which the label gets probability 0; the other losses are lowered in proportion, so that the
        mean log loss is that without.
    whole_groups : bool
        Whether these instances are whole groups.
    dtype : str
        Of the predictions.
    runs : int
        Training runs.
    run_spread : float
        Standard deviation of the signal's strength between runs.
    first_part : float or None
        Strength of the signal where the subgroup is 0.
    blind : bool
        Whether the confidences are shuffled among the instances: no uncertainty knows where the model is wrong.
    scores : tuple of str
        Given uncertainties: "chance" is noise, "backward" is lower where the model is wrong.
    level : str
        Kinds of one level have equal means by construction.
    """

    count: int = 1
    signal: float = 1.5
    sharpness: float = 1.0
    members: int = 0
    spread: float = 0.0
    rare: float = 0.0
    whole_groups: bool = False
    dtype: str = "float64"
    runs: int = 1
    run_spread: float = 0.0
    first_part: float | None = None
    blind: bool = False
    scores: tuple[str, ...] = ()
    level: str = ""


@dataclass(frozen=True)
class Cell:
    """One kind of data sets.

    Attributes
    ----------
    name : str
    kinds : tuple of Kind
    n : int
        Instances; with groups their sizes decide.
    classes : int
    shared : float
        Share of the noise's variance that all models share.
    groups : tuple of int
        Sizes of the groups; empty for independent instances.
    correlation : float
        Of the noise inside a group.
    parts : int
        Values of a subgroup; 0 for none.
    calibration : tuple of str
        Measures of the tests of calibration.
    distance : {"kl", "brier"}
        Of E; "brier" for single distributions alone.
    about : str
        The truth in words, for the table.
    """

    name: str
    kinds: tuple[Kind, ...]
    n: int = 300
    classes: int = 3
    shared: float = 0.5
    groups: tuple[int, ...] = ()
    correlation: float = 0.0
    parts: int = 0
    calibration: tuple[str, ...] = ()
    distance: str = "kl"
    about: str = ""

    @property
    def size(self) -> int:
        """Number of instances."""
        return sum(self.groups) if self.groups else self.n

    @property
    def models(self) -> dict[str, int]:
        """Place of each model's kind in `kinds`, by its name."""
        places = [k for k, kind in enumerate(self.kinds) for _ in range(kind.count)]
        return {f"m{j}": k for j, k in enumerate(places)}


class DataSet(NamedTuple):
    """What an assay takes.

    `runs` holds the arrays (n, K) or (n, M, K) of each model's runs, `factors` the factor of each run's signal.
    """

    labels: NDArray[np.int64]
    runs: dict[str, list[Array]]
    groups: NDArray[np.int64] | None
    subgroups: dict[str, NDArray[np.int64]]
    scores: dict[str, dict[str, Array]]
    factors: dict[str, list[float]]

    def predictions(self) -> dict[str, Any]:
        """Predictions of the package, one or a list of runs for each model."""
        found = {}
        for name, runs in self.runs.items():
            each = [uq.Point(p) if p.ndim == 2 else uq.Members(p) for p in runs]
            found[name] = each if len(each) > 1 else each[0]
        return found


def softmax(logits: Array) -> Array:
    """Along the last axis."""
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@lru_cache(maxsize=64)
def mean_log_loss(signal: float, sharpness: float, classes: int) -> float:
    """Mean log loss of a single distribution, from two million instances (standard error below .001)."""
    total, done, rng = 0.0, 0, np.random.default_rng(7)
    while done < SAMPLES_OF_MEAN:
        size = min(200_000, SAMPLES_OF_MEAN - done)
        logits = rng.normal(size=(size, classes)) * signal
        logits[:, 0] += signal**2
        logits *= sharpness
        top = logits.max(axis=1)
        total += float((top + np.log(np.exp(logits - top[:, np.newaxis]).sum(axis=1)) - logits[:, 0]).sum())
        done += size
    return total / done


def data_set(cell: Cell, rng: np.random.Generator, *, size: int | None = None, factor: float | None = None) -> DataSet:
    """One data set; with `size` of so many independent instances, for the truth, of all runs or of those with a `factor`."""
    codes = np.repeat(np.arange(len(cell.groups)), cell.groups) if cell.groups and size is None else None
    n, k = cell.size if size is None else size, cell.classes
    y = rng.integers(k, size=n)
    part = rng.integers(cell.parts, size=n) if cell.parts else None

    def noise() -> Array:
        own = rng.normal(size=(n, k))
        if codes is None or not cell.correlation:
            return own
        common = rng.normal(size=(len(cell.groups), k))[codes]
        return np.sqrt(cell.correlation) * common + np.sqrt(1 - cell.correlation) * own

    shared = noise()
    runs: dict[str, list[Array]] = {}
    scores: dict[str, dict[str, Array]] = {}
    factors: dict[str, list[float]] = {}
    for name, place in cell.models.items():
        kind = cell.kinds[place]
        of_model = np.sqrt(cell.shared) * shared + np.sqrt(1 - cell.shared) * noise()
        drawn = _Drawn(1 if size is None else n, factor, codes)
        made = [_run(kind, y, part, of_model, noise, rng, drawn) for _ in range(kind.runs)]
        runs[name], factors[name] = [p for p, _ in made], [f for _, f in made]
        if kind.scores:
            wrong = np.stack([_mean(p).argmax(axis=1) != y for p in runs[name]])
            scores[name] = {score: _score(score, wrong, rng) for score in kind.scores}
    return DataSet(y, runs, codes, {} if part is None else {SUBGROUP: part}, scores, factors)


class _Drawn(NamedTuple):
    """For the truth every instance has its own run, or all have a given factor; codes of the groups."""

    runs: int
    factor: float | None
    codes: NDArray[np.int64] | None


def _run(
    kind: Kind,
    y: NDArray[np.int64],
    part: Any,
    of_model: Array,
    noise: Any,
    rng: np.random.Generator,
    drawn: _Drawn,
) -> tuple[Array, float]:
    """Predictions of a run, and the factor of its signal."""
    n, k = of_model.shape
    e = of_model if kind.runs == 1 else np.sqrt(0.8) * of_model + np.sqrt(0.2) * noise()
    strength: Any = np.full(n, kind.signal)
    if part is not None and kind.first_part is not None:
        strength = np.where(part == 0, kind.first_part, strength)
    given = drawn.factor
    factor = np.exp(kind.run_spread * rng.normal(size=drawn.runs)) if given is None else np.full(1, given)
    own = strength * factor
    logits = kind.sharpness * strength[:, np.newaxis] * (own[:, np.newaxis] * np.eye(k)[y] + e)
    if kind.members:
        logits = logits[:, np.newaxis] + kind.spread * rng.normal(size=(n, kind.members, k))
    p = softmax(logits)
    if kind.blind:
        p = _shuffled(p, rng)
    if kind.rare:
        codes = drawn.codes if kind.whole_groups else None
        draws = rng.random(n) if codes is None else rng.random(codes.max() + 1)[codes]
        p = _with_rare_losses(p, y, kind, draws < kind.rare)
    return p.astype(kind.dtype), float(factor[0])


def _with_rare_losses(p: Array, y: NDArray[np.int64], kind: Kind, struck: NDArray[np.bool_]) -> Array:
    """The label of the instances that are struck gets probability 0; else its loss is `kept` times as great."""
    at = np.arange(len(y))
    mean = mean_log_loss(kind.signal, kind.sharpness, p.shape[1])
    most = -float(np.log(np.finfo(np.float64).eps))
    kept = (mean - kind.rare * most) / ((1 - kind.rare) * mean)
    if kept <= 0:
        raise ValueError(f"the rare losses alone exceed the mean log loss {mean:.2f}")
    before = np.clip(p[at, y], 1e-12, 1 - 1e-12)
    after = np.where(struck, 0.0, before**kept)
    p = p * ((1 - after) / (1 - before))[:, np.newaxis]
    p[at, y] = after
    return p / p.sum(axis=1, keepdims=True)


def _shuffled(p: Array, rng: np.random.Generator) -> Array:
    """Each instance keeps its order of the classes and gets the probabilities of another."""
    order = np.argsort(p, axis=1)
    found = np.empty_like(p)
    np.put_along_axis(found, order, np.sort(rng.permutation(p), axis=1), axis=1)
    return found


def _mean(p: Array) -> Array:
    return p if p.ndim == 2 else p.mean(axis=1)


def _score(score: str, wrong: NDArray[np.bool_], rng: np.random.Generator) -> Array:
    """Uncertainties (R, n)."""
    noise = rng.normal(size=wrong.shape)
    return noise if score == CHANCE else noise - 0.25 * wrong


def kinds_of(cell: Cell) -> Mapping[str, Kind]:
    """Kind of each model."""
    return {name: cell.kinds[place] for name, place in cell.models.items()}
