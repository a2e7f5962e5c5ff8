"""A Gaussian-process classifier in closed form on local parts of the training data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpotrf
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from uqassay.arrays import Floats
from uqassay.checks import number, one_of, whole
from uqassay.lab.methods.gaussian_process import GaussianProcess, latent_targets, unit_of
from uqassay.lab.methods.polya_gamma import logistic_sites, site_precisions

__all__ = ["LocalGaussianProcess", "cells", "rbf_kernel"]

RULE_NEIGHBOUR, RULE_POINTS = 50, 512
BOUND_CELLS = 4
BOUND_SCALES = (0.5, 2**-0.5, 1.0, 2**0.5, 2.0)  # times the rule's length scale
BOUND_VARIANCES = (1.0, 4.0, 16.0, 64.0)
TREE_DIMENSIONS = 10  # with more features a tree of neighbours is slower than all distances
CHUNK_BYTES = 2**20  # of systems at a time, which stay in the cache
MOST = 1e100
FAR = 1e6  # length scales; covariances from |x|² then have errors of 1e-4


@dataclass(kw_only=True, eq=False, repr=False)
class LocalGaussianProcess(GaussianProcess):
    """Variational Gaussian-process classifier with fixed hyper-parameters, fitted in cells of the training data.

    The model is y = 1[g + ε > 0] with logistic noise ε and g ~ GP(0, s² exp(−|x − x'|² / 2ℓ²)) (epistemic gain, section 3.1).
    `fit` divides the training data into cells and finds the precision of every instance's site in its cell
    (`uqassay.lab.methods.gaussian_process`). `predict_uncertainty` gives the latent mean and variance of an instance from the
    sites of its nearest training instances. Where there are none within a few length scales, they are those of the prior,
    0 and s².

    Parameters
    ----------
    lengthscale : float, "bound" or None
        ℓ. None: the median distance of 512 training instances to their 50th neighbour. "bound": the variational bound of the
        evidence, summed over four cells, chooses among five multiples of that distance.
    signal_variance : float or "bound"
        s². "bound": chosen as the length scale, from 1, 4, 16 and 64.
    cell_size : int
        Greatest number of training instances in a cell. The time of `fit` is proportional to its square.
    n_neighbours : int
        Training instances behind each prediction. With `cell_size` and `n_neighbours` at least the number of training
        instances, the result is that of one Gaussian process on all of them.
    multiclass, n_draws, classes, random_state
        As in `GaussianProcess`: treatment of more than two classes, and labels that y may lack. Nothing is random.

    Attributes
    ----------
    lengthscale_, signal_variance_ : float
        The hyper-parameters used.
    n_cells_ : int

    Notes
    -----
    Two classes make `GaussianLogits` with the logits (0, g) and epistemic variance.

    Distances are Euclidean in X as given: standardise features of different units. The order of the training instances
    changes nothing, and that of two equal distances at the last neighbour is settled by the values of the instances.

    Source of the inference: Wenzel, Galy-Fajou, Donner, Kloft and Opper, Efficient Gaussian process classification using
    Pólya-Gamma data augmentation (2019), here without inducing points.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import LocalGaussianProcess
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> said = LocalGaussianProcess(lengthscale=0.5).fit(x, [0, 0, 1, 1] * 8).predict_uncertainty([[0.9], [50.0]])
    >>> said.mean_probs().round(2).tolist()
    [[0.02, 0.98], [0.5, 0.5]]
    """

    lengthscale: Any = None
    signal_variance: Any = 9.0
    cell_size: int = 256
    n_neighbours: int = 128

    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options that are out of range; nothing is trained. `fit` calls this first."""
        _check_scale("lengthscale", self.lengthscale, none=True)
        _check_scale("signal_variance", self.signal_variance, none=False)
        for name in ("cell_size", "n_neighbours"):
            whole(getattr(self, name), name, "for example 10", least=1)
        self._check_classes_options()

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from instances ``(n, D)``, other shapes flattened, and their labels ``(n,)``."""
        self.check_options()
        array, codes = self._checked_training(X, y)
        flat = array.reshape(len(array), -1).astype(np.float64)
        order = _canonical_order(flat, codes)
        self.unit_ = unit_of(flat)
        flat = flat[order] / self.unit_
        self.centre_ = flat.mean(axis=0)
        self.X_fit_ = flat - self.centre_  # digits are not lost to a large offset
        targets = latent_targets(codes[order], len(self.classes_))
        parts = cells(self.X_fit_, self.cell_size)
        self.n_cells_ = len(parts)
        self._choose_scales(parts, targets)
        self.kappa_ = targets - 0.5
        self.precision_ = np.empty_like(targets)  # (n, L)
        for part in parts:
            kernel = rbf_kernel(self.X_fit_[part], self.lengthscale_ / self.unit_, self.signal_variance_)
            for k in range(targets.shape[1]):
                self.precision_[part, k] = site_precisions(kernel, targets[part, k])[0]
        return self

    def latent(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Mean and variance of the latent functions, ``(n, L)`` each; L = 1 for two classes, otherwise K."""
        array = self._checked_inputs(X)
        with np.errstate(over="ignore"):
            points = _limited(array.reshape(len(array), -1).astype(np.float64) / self.unit_ - self.centre_)
        mean, variance = np.empty((2, len(points), self.kappa_.shape[1]))
        m = min(self.n_neighbours, len(self.X_fit_))
        rows = max(1, CHUNK_BYTES // (8 * (m + 2) ** 2))
        for chunk, near in self._neighbours(points, m, rows):
            kernel = self._bordered_kernel(points[chunk], near)
            for k in range(self.kappa_.shape[1]):
                mean[chunk, k], variance[chunk, k] = _condition(kernel, self.precision_[near, k], self.kappa_[near, k])
        return mean, variance

    def _bordered_kernel(self, points: Floats, near: NDArray[np.intp]) -> Floats:
        """Covariances of the m neighbours of each point and, last, of the point itself, ``(b, m + 1, m + 1)``."""
        x = np.concatenate([self.X_fit_[near], points[:, None]], axis=1)
        x -= self.X_fit_[
            near[:, :1]
        ]  # about a neighbour, because a point far from all would cost the others their digits
        kernel = rbf_kernel(x, self.lengthscale_ / self.unit_, self.signal_variance_)
        kernel[:, -1, -1] = self.signal_variance_
        return kernel

    def _neighbours(self, points: Floats, m: int, rows: int) -> Iterator[tuple[slice, NDArray[np.intp]]]:
        """Slices of at most `rows` points, with the indices of their m nearest training instances, ``(b, m)``."""
        search: Any
        if self.X_fit_.shape[1] <= TREE_DIMENSIONS:
            search = cKDTree(self.X_fit_).query
        else:
            search = NearestNeighbors(algorithm="brute").fit(self.X_fit_).kneighbors
        most = max(rows, 4096)
        for start in range(0, len(points), most):
            near = search(points[start : start + most], m)[1].reshape(-1, m)
            for first in range(0, len(near), rows):
                part = near[first : first + rows]
                yield slice(start + first, start + first + len(part)), part

    def _choose_scales(self, parts: list[NDArray[np.intp]], targets: Floats) -> None:
        rule = rule_lengthscale(self.X_fit_) * self.unit_
        scales = [rule] if self.lengthscale is None else [self.lengthscale]
        if isinstance(self.lengthscale, str):
            scales = [rule * times for times in BOUND_SCALES]
        variances = BOUND_VARIANCES if isinstance(self.signal_variance, str) else (self.signal_variance,)
        choices = [(float(scale), float(variance)) for scale in scales for variance in variances]
        if len(choices) > 1:
            chosen = [parts[i] for i in np.unique(np.linspace(0, len(parts) - 1, BOUND_CELLS).round().astype(int))]
            choices.sort(key=lambda choice: -self._bound(chosen, targets, *choice))
        self.lengthscale_, self.signal_variance_ = choices[0]

    def _bound(self, parts: list[NDArray[np.intp]], targets: Floats, lengthscale: float, variance: float) -> float:
        """The variational bound of the evidence, summed over cells and latent functions."""
        total = 0.0
        for part in parts:
            kernel = rbf_kernel(self.X_fit_[part], lengthscale / self.unit_, variance)
            total += sum(logistic_sites(kernel, y).log_evidence for y in targets[part].T)
        return total


def rbf_kernel(x: Floats, lengthscale: float, variance: float) -> Floats:
    """s² exp(−|x − x'|² / 2ℓ²) between the points of each set, ``(…, m, m)`` from ``(…, m, D)``."""
    with np.errstate(over="ignore"):
        scaled = x / lengthscale
    far = ~(np.abs(scaled).max(axis=(-2, -1), initial=0.0) <= FAR)
    if far.any():
        scaled[far] = 0.0
    half = -0.5 * (scaled * scaled).sum(axis=-1, keepdims=True)
    one = np.ones_like(half)
    # −|x|²/2 − |x'|²/2 + x·x' as one product, since passes over (…, m, m) cost more than the product in few dimensions
    kernel = np.concatenate([scaled, half, one], axis=-1) @ np.swapaxes(
        np.concatenate([scaled, one, half], axis=-1), -1, -2
    )
    np.minimum(kernel, 0.0, out=kernel)
    if far.any():
        kernel[far] = _exponents_of_differences(x[far], lengthscale)
    np.exp(kernel, out=kernel)
    kernel *= variance
    return kernel


def _exponents_of_differences(x: Floats, lengthscale: float) -> Floats:
    """−|x − x'|² / 2ℓ² where the rounding errors of |x|² would be greater than the distances of neighbours."""
    exponents = np.zeros((*x.shape[:-1], x.shape[-2]))
    with np.errstate(over="ignore"):
        for d in range(x.shape[-1]):
            exponents -= 0.5 * ((x[..., :, None, d] - x[..., None, :, d]) / lengthscale) ** 2
    return exponents


def _limited(x: Floats) -> Floats:
    """Coordinates whose squares are finite; only predictions are made so far from all training instances."""
    return np.clip(x, -MOST, MOST)


def cells(x: Floats, size: int) -> list[NDArray[np.intp]]:
    """Row numbers of the cells: halves, again and again, along the coordinate that varies most, until none exceeds `size`."""
    finished: list[NDArray[np.intp]] = []
    open_parts = [(np.arange(len(x)), -(-len(x) // size))]
    while open_parts:
        part, n_cells = open_parts.pop()
        if n_cells == 1:
            finished.append(part)
            continue
        values = x[part]
        values = values[:, values.var(axis=0).argmax()]
        order = part[np.argsort(values, kind="stable")]
        left = n_cells // 2
        cut = len(part) * left // n_cells
        open_parts += [(order[cut:], n_cells - left), (order[:cut], left)]
    return finished


def rule_lengthscale(x: Floats) -> float:
    """The median distance of up to 512 rows to their 50th neighbour, without distances of 0; 1 if all are 0."""
    rows = np.unique(np.linspace(0, len(x) - 1, RULE_POINTS).round().astype(int))
    n = min(RULE_NEIGHBOUR, len(x) - 1)
    square = (x * x).sum(axis=1)
    nth = np.empty(len(rows))
    for i, row in enumerate(rows):
        near = np.argpartition(square - 2.0 * (x @ x[row]), n)[: n + 1]  # the row itself and its n neighbours
        nth[i] = ((x[near] - x[row]) ** 2).sum(axis=1).max()
    nth = nth[nth > 0.0]
    return float(np.sqrt(np.median(nth))) if nth.size else 1.0


def _condition(kernel: Floats, precision: Floats, kappa: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of g* of b points, ``(b,)`` each, given the sites of the m neighbours of each.

    This is Gaussian regression with noise 1/θ and targets z = κ/θ. One Cholesky factor of the bordered matrix does it: with
    A = K + diag(1/θ) = L Lᵀ, its last rows are (L⁻¹ k*)ᵀ and (L⁻¹ z)ᵀ, and its last but one pivot is k** − k*ᵀ A⁻¹ k*.
    """
    b, m = precision.shape
    system = np.zeros((b, m + 2, m + 2))
    system[:, :-1, :-1] = kernel
    system[:, np.arange(m), np.arange(m)] += 1.0 / precision
    system[:, -1, :m] = kappa / precision
    system[:, -1, -1] = 1.0 + 2.0 * (kappa**2 / precision).sum(
        axis=1
    )  # above zᵀ A⁻¹ z, so the matrix is positive definite
    for one in system:  # in place; several times faster than numpy.linalg.cholesky of the stack
        dpotrf(one.T, lower=0, clean=0, overwrite_a=1)
    to_point, to_target = system[:, -2, :m], system[:, -1, :m]
    return np.einsum("bm,bm->b", to_point, to_target), system[:, -2, -2] ** 2


def _canonical_order(x: Floats, codes: NDArray[np.int64]) -> NDArray[np.intp]:
    """An order of the rows that depends on their values alone: by the columns from the first on, then by the label."""
    order = np.argsort(x[:, 0], kind="stable")
    first = x[order, 0]
    if (first[1:] > first[:-1]).all():
        return order
    return np.lexsort((codes, *x.T[::-1]))


def _check_scale(name: str, value: Any, *, none: bool) -> None:
    """Refuse a scale that is no number above 0, "bound" or, where allowed, None."""
    if isinstance(value, str):
        one_of(value, name, ("bound",), "or give a number above 0" + (", or None" if none else ""))
    elif value is not None or not none:
        number(value, name, "for example 1.0", low=0, ends="()")
