"""Many small neural networks of one architecture trained side by side: the model is the first axis of every array.

A network of a few thousand weights costs an interpreter more than a processor, so a grid of them is trained as one batched
matrix product per layer. Every model draws from its own seed and no sum runs over models, so a model is the same, bit for
bit, however many stand beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError

__all__ = ["Seed", "StackedMLPs", "loss_and_gradients", "train_stacked_mlps"]

Array = NDArray[np.float64]
Seed = int | Sequence[int]

DECAY, DECAY_OF_SQUARES, EPSILON = 0.9, 0.999, 1e-8  # Adam, as Kingma and Ba (2015) recommend
ONE_THREAD = 2**18  # multiplications; for more, BLAS wakes other threads, and waiting for them costs more than it saves


@final
@dataclass(frozen=True, slots=True)
class StackedMLPs:
    """M multilayer perceptrons of one architecture, with ReLU after every hidden layer.

    Attributes
    ----------
    weights : tuple of array (M, inputs, outputs)
        One per layer.
    biases : tuple of array (M, 1, outputs)
    dropout : array (M,)
        Share of the hidden units that a stochastic pass sets to zero; the others are scaled up by 1/(1 − share).
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    dropout: Array

    @property
    def n_models(self) -> int:
        """Number of models M."""
        return int(self.weights[0].shape[0])

    def logits(self, x: ArrayLike) -> Array:
        """Logits with every unit in place, ``(M, n, K)``, of instances ``(n, D)``."""
        return _forward(self, np.asarray(x, dtype=np.float64), ())[-1]

    def sampled_logits(self, x: ArrayLike, n_samples: int, seeds: Sequence[Seed]) -> Array:
        """Logits of stochastic passes, ``(M, n_samples, n, K)``: each pass and instance has its own dropped units.

        Parameters
        ----------
        x : array (n, D)
        n_samples : int
        seeds : sequence of M seeds
        """
        inputs = np.asarray(x, dtype=np.float64)
        out = np.empty((self.n_models, n_samples, len(inputs), self.biases[-1].shape[-1]))
        for m, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            one = self[m]
            for s in range(n_samples):
                out[m, s] = _forward(one, inputs, _masks(one, len(inputs), [rng]))[-1][0]
        return out

    def __getitem__(self, model: int) -> "StackedMLPs":
        kept = slice(model, model + 1)
        return StackedMLPs(
            tuple(w[kept] for w in self.weights), tuple(b[kept] for b in self.biases), self.dropout[kept]
        )


def train_stacked_mlps(
    x: ArrayLike,
    y: ArrayLike,
    *,
    hidden: Sequence[int],
    seeds: Sequence[Seed],
    learning_rate: ArrayLike = 0.01,
    dropout: ArrayLike = 0.0,
    epochs: int = 50,
    batch_size: int = 504,
) -> StackedMLPs:
    """Train one network per seed by Adam on the cross entropy, all on the same instances.

    Parameters
    ----------
    x : array (n, D)
    y : int array (n,)
        Classes 0 … K − 1; the network has one logit for each.
    hidden : sequence of int
        Widths of the hidden layers.
    seeds : sequence of M seeds
        One per model; a seed fixes its initial weights, the order of its batches and its dropped units.
    learning_rate, dropout : float or array (M,)
    epochs, batch_size : int
        The last batch of an epoch holds what is left.

    Returns
    -------
    StackedMLPs

    Raises
    ------
    InputError
        Shapes that do not fit, labels that are no classes, a dropout outside [0, 1), or a loss that overflowed.

    Notes
    -----
    Weights and biases start uniform in ±1/√inputs, as in PyTorch's linear layers.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]])
    >>> nets = train_stacked_mlps(x, [0, 0, 1, 1], hidden=(8,), seeds=[0, 1], learning_rate=0.05)
    >>> nets.logits(x).argmax(axis=-1).tolist()
    [[0, 0, 1, 1], [0, 0, 1, 1]]
    """
    inputs, labels = _checked(x, y, hidden, seeds, epochs, batch_size)
    shares = np.broadcast_to(np.asarray(dropout, dtype=np.float64), (len(seeds),)).copy()
    if not ((shares >= 0) & (shares < 1)).all():
        raise InputError("dropout", "must lie in [0, 1)", f"got {shares.tolist()}", "0 drops nothing", code="range")
    rates = np.broadcast_to(np.asarray(learning_rate, dtype=np.float64), (len(seeds),))[:, None, None]
    streams = [np.random.default_rng(seed).spawn(3) for seed in seeds]
    sizes = [inputs.shape[1], *hidden, int(labels.max()) + 1]
    stack = _initial(sizes, [s[0] for s in streams], shares)
    parameters = [*stack.weights, *stack.biases]
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    batches = _batches(len(inputs), epochs, batch_size, [s[1] for s in streams])
    for step, rows in enumerate(batches, start=1):  # rows (M, B)
        masks = _masks(stack, rows.shape[1], [s[2] for s in streams]) if shares.any() else ()
        _, gradients = loss_and_gradients(stack, inputs[rows], labels[rows], masks)
        scale = rates * np.sqrt(1 - DECAY_OF_SQUARES**step) / (1 - DECAY**step)
        epsilon = EPSILON * np.sqrt(1 - DECAY_OF_SQUARES**step)  # so that it stands beside the corrected root
        for p, g, m, v in zip(parameters, gradients, first, second, strict=True):
            m += (1 - DECAY) * (g - m)
            v += (1 - DECAY_OF_SQUARES) * (g * g - v)
            p -= scale * m / (np.sqrt(v) + epsilon)
    if not all(np.isfinite(p).all() for p in parameters):
        raise InputError(
            "learning_rate",
            "the training overflowed",
            "",
            "scale x to about unit variance or lower the rate",
            code="undefined",
        )
    return stack


def loss_and_gradients(
    stack: StackedMLPs, x: Array, y: NDArray[np.intp], masks: Sequence[Array] = ()
) -> tuple[Array, list[Array]]:
    """Mean cross entropy of every model in nats, and its gradient in the weights, then the biases, layer by layer.

    Parameters
    ----------
    stack : StackedMLPs
    x : array (M, B, D)
        A batch for each model.
    y : int array (M, B)
    masks : sequence of array (M, B, width)
        Factors of the hidden units, 0 or 1/(1 − dropout); none where nothing is dropped.

    Returns
    -------
    loss : array (M,)
    gradients : list of array
        In the shapes of `StackedMLPs.weights`, then of `StackedMLPs.biases`.
    """
    layers = _forward(stack, x, masks)
    shifted = layers[-1] - layers[-1].max(axis=-1, keepdims=True)  # (M, B, K)
    exponentials = np.exp(shifted)
    totals = exponentials.sum(axis=-1, keepdims=True)
    hit = y[..., None] == np.arange(shifted.shape[-1])
    loss = (np.log(totals[..., 0]) - shifted[hit].reshape(y.shape)).mean(axis=-1)
    back = (exponentials / totals - hit) / y.shape[-1]  # of the logits
    ones = np.ones((1, 1, y.shape[-1]))
    weights: list[Array] = []
    biases: list[Array] = []
    for layer in reversed(range(len(stack.weights))):
        weights.append(_outer(layers[layer], back))
        biases.append(ones @ back)
        if layer:
            back = _product(back, stack.weights[layer].swapaxes(-1, -2))
            if masks:
                back *= masks[layer - 1]
            back *= layers[layer] > 0  # a dropped unit is 0 by its mask already
    return loss, [*reversed(weights), *reversed(biases)]


# ---- one step --------------------------------------------------------------------------------------------------------


def _forward(stack: StackedMLPs, x: Array, masks: Sequence[Array]) -> list[Array]:
    """Values of every layer from the inputs to the logits; x is (n, D) for all models, or (M, n, D)."""
    layers = [x]
    last = len(stack.weights) - 1
    for layer, (w, b) in enumerate(zip(stack.weights, stack.biases, strict=True)):
        z = _product(layers[-1], w)
        z += b
        if layer < last:
            np.maximum(z, 0.0, out=z)
            if masks:
                z *= masks[layer]
        layers.append(z)
    return layers


def _product(x: Array, w: Array) -> Array:
    """x @ w, in blocks of rows small enough for one thread."""
    out = np.empty((len(w), x.shape[-2], w.shape[-1]))
    for rows in _blocks(x.shape[-2], w.shape[-2] * w.shape[-1]):
        np.matmul(x[..., rows, :], w, out=out[:, rows])
    return out


def _outer(x: Array, back: Array) -> Array:
    """xᵀ @ back, the sum over blocks of rows small enough for one thread."""
    total = np.zeros((len(back), x.shape[-1], back.shape[-1]))
    for rows in _blocks(x.shape[-2], x.shape[-1] * back.shape[-1]):
        total += x[..., rows, :].swapaxes(-1, -2) @ back[:, rows]
    return total


def _blocks(n: int, work: int) -> list[slice]:
    step = max(1, ONE_THREAD // work)
    return [slice(start, start + step) for start in range(0, n, step)]


def _masks(stack: StackedMLPs, n: int, rngs: Sequence[np.random.Generator]) -> list[Array]:
    """Factors of the hidden units, drawn by each model's own generator."""
    masks = [np.empty((stack.n_models, n, b.shape[-1])) for b in stack.biases[:-1]]
    for m, (share, rng) in enumerate(zip(stack.dropout.tolist(), rngs, strict=True)):
        for mask in masks:
            mask[m] = (rng.random(mask.shape[1:], dtype=np.float32) >= share) / (1.0 - share)
    return masks


def _batches(n: int, epochs: int, batch_size: int, rngs: Sequence[np.random.Generator]) -> Iterator[NDArray[np.intp]]:
    """Rows of each model's batches, ``(M, B)``; every epoch goes through all instances in a new order."""
    for _ in range(epochs):
        order = np.stack([rng.permutation(n) for rng in rngs])
        for start in range(0, n, batch_size):
            yield order[:, start : start + batch_size]


def _initial(sizes: Sequence[int], rngs: Sequence[np.random.Generator], dropout: Array) -> StackedMLPs:
    weights, biases = [], []
    for inputs, outputs in pairwise(sizes):
        reach = inputs**-0.5
        weights.append(np.stack([rng.uniform(-reach, reach, (inputs, outputs)) for rng in rngs]))
        biases.append(np.stack([rng.uniform(-reach, reach, (1, outputs)) for rng in rngs]))
    return StackedMLPs(tuple(weights), tuple(biases), dropout)


def _checked(
    x: ArrayLike, y: ArrayLike, hidden: Sequence[int], seeds: Sequence[Seed], epochs: int, batch_size: int
) -> tuple[Array, NDArray[np.intp]]:
    inputs, labels = np.asarray(x, dtype=np.float64), np.asarray(y)
    if inputs.ndim != 2 or len(inputs) == 0 or not np.isfinite(inputs).all():
        raise InputError(
            "x",
            "must hold finite numbers in shape (n, D)",
            f"got shape {inputs.shape}",
            "repair it first",
            code="finite",
        )
    if labels.shape != inputs.shape[:1] or labels.dtype.kind not in "biu" or labels.min() < 0:
        raise InputError(
            "y",
            f"must hold one class 0 … K − 1 for each of {len(inputs)} instances",
            f"got shape {labels.shape}, dtype {labels.dtype}",
            "number the classes from 0",
            code="shape",
        )
    for name, values in (("hidden", hidden), ("epochs", [epochs]), ("batch_size", [batch_size])):
        if not all(value >= 1 for value in values):
            raise InputError(
                name, "must be at least 1", f"got {list(values)}", "give whole numbers from 1 up", code="range"
            )
    if len(seeds) == 0:
        raise InputError("seeds", "needs one seed per model", "got none", "name at least one", code="missing")
    return inputs, labels.astype(np.intp)
