"""Network that maps features to mixture weights, fitted to a proper score with gradients by backpropagation."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Layers",
    "Loss",
    "brier_of_weights",
    "forward",
    "layers_from",
    "least_point",
    "log_loss_of_weights",
    "objective",
    "of_label",
    "softmax_rows",
    "start_point",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Loss = Callable[[Floats], tuple[float, Floats]]  # weights (n, M) -> mean score and its gradient (n, M)
Layers = list[tuple[Floats, Floats]]  # matrix (inputs, outputs) and shift (outputs,) of each layer


def of_label(probs: Floats, labels: Labels) -> Floats:
    """Probability that each member gives to the label, (n, M)."""
    return np.take_along_axis(probs, labels[:, np.newaxis, np.newaxis], axis=2)[..., 0]


def log_loss_of_weights(probs: Floats, labels: Labels) -> Loss:
    """Mean of −ln Σ_m λ_m p_m(y) over the instances whose label has a positive probability in some member."""
    given = of_label(probs, labels)
    top = given.max(axis=1, keepdims=True)
    possible = top > 0
    n = max(int(possible.sum()), 1)
    top = np.where(possible, top, 1.0)
    given = np.where(possible, given / top, 1.0)
    shift = -float(np.log(top).sum()) / n

    def loss(weights: Floats) -> tuple[float, Floats]:
        mixed = np.maximum((weights * given).sum(axis=1, keepdims=True), 1e-300)  # a weight can underflow to 0
        return shift - float(np.log(mixed).sum()) / n, -given / mixed / n

    return loss


def brier_of_weights(probs: Floats, labels: Labels) -> Loss:
    """Mean of Σ_c (Σ_m λ_m p_mc − y_c)²."""
    n, given = len(probs), of_label(probs, labels)

    def loss(weights: Floats) -> tuple[float, Floats]:
        mixed = (weights[:, np.newaxis] @ probs)[:, 0]  # (n, K)
        slope = 2 * ((probs @ mixed[:, :, np.newaxis])[:, :, 0] - given) / n
        value = ((mixed**2).sum(axis=1) - 2 * (weights * given).sum(axis=1) + 1).mean()
        return float(value), slope

    return loss


def least_point(
    points: list[Floats], sizes: list[int], inputs: Floats, loss: Loss, penalty: float, n_steps: int
) -> Floats:
    """The best of the local minima that L-BFGS reaches from these points."""
    from scipy.optimize import minimize

    # Rescaled so that the objective is about equally curved in slopes and shifts for every penalty.
    unit = np.concatenate([[(1 + 4 * penalty) ** -0.5] * (a * b) + [1.0] * b for a, b in pairwise(sizes)])

    def scaled(point: Floats) -> tuple[float, Floats]:
        value, slope = objective(point * unit, sizes, inputs, loss, penalty)
        return value, slope * unit

    options = {"maxiter": n_steps, "ftol": 1e-9, "gtol": 1e-6}
    found = [minimize(scaled, start / unit, method="L-BFGS-B", jac=True, options=options) for start in points]
    return np.asarray(min(found, key=lambda result: result.fun).x * unit)


def objective(point: Floats, sizes: list[int], inputs: Floats, loss: Loss, penalty: float) -> tuple[float, Floats]:
    """Penalised score and its gradient in all slopes and shifts, by backpropagation."""
    layers = layers_from(point, sizes)
    outputs = forward(inputs, layers)
    weights = softmax_rows(outputs[-1])
    value, slope = loss(weights)
    # derivative of the softmax: ∂f/∂z = λ (∂f/∂λ − Σ λ ∂f/∂λ)
    back = weights * (slope - (weights * slope).sum(axis=1, keepdims=True))
    gradients: list[Floats] = []
    for i in range(len(layers) - 1, -1, -1):
        matrix = layers[i][0]
        value += 0.5 * penalty * float((matrix**2).sum())
        gradients += [back.sum(axis=0), (outputs[i].T @ back + penalty * matrix).ravel()]
        if i > 0:
            back = (back @ matrix.T) * (1 - outputs[i] ** 2)  # tanh′ = 1 − tanh²
    return value, np.concatenate(gradients[::-1])


def forward(inputs: Floats, layers: Layers) -> list[Floats]:
    """Input of each layer, followed by the output of the last one."""
    outputs = [inputs]
    for i, (matrix, shift) in enumerate(layers):
        found = outputs[-1] @ matrix + shift
        outputs.append(np.tanh(found) if i < len(layers) - 1 else found)
    return outputs


def softmax_rows(values: Floats) -> Floats:
    """Softmax of each row."""
    shares = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def start_point(sizes: list[int], generator: np.random.Generator) -> Floats:
    """Random slopes for a network; zeros for a linear function, which give equal weights."""
    parts = []
    for first, second in pairwise(sizes):
        spread = 0.0 if len(sizes) == 2 else first**-0.5
        parts += [spread * generator.standard_normal(first * second), np.zeros(second)]
    return np.concatenate(parts)


def layers_from(point: Floats, sizes: list[int]) -> Layers:
    """Split one parameter vector into the slopes and shifts of each layer."""
    layers, at = [], 0
    for first, second in pairwise(sizes):
        end = at + first * second
        layers.append((point[at:end].reshape(first, second), point[end : end + second]))
        at = end + second
    return layers
