"""GaussianLogits: Gaussian distributions over logits, from heteroscedastic classifiers or Laplace approximations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState, as_numeric, check_class_count, check_rows, still_whole
from uqassay.errors import InputError
from uqassay.predictions.base import Array
from uqassay.predictions.drawn import Drawn
from uqassay.predictions.members import Members
from uqassay.predictions.point import check_logits, softmax
from uqassay.predictions.probabilities import refuse_truth_values

MOST = np.float64(1e300)  # limit of means and variances, so that draws are finite


@dataclass(frozen=True, eq=False, repr=False)
class GaussianLogits(Drawn):
    """Independent Gaussian logits per class, from one model or from each of M forward passes.

    Parameters
    ----------
    mean, variance : array (n, K) or (n, M, K)
        Mean and variance of the logits; variances ≥ 0. A mean of −inf makes the class impossible for this instance.
    n_draws, seed
        Number and seed of the softmax draws that span the set, divided evenly among the M passes; see `Drawn`.

    Examples
    --------
    >>> import uqassay as uq
    >>> g = uq.GaussianLogits([[0.0, 0.0]], [[0.0, 0.0]])
    >>> g.mean_probs().round(6).tolist()
    [[0.5, 0.5]]
    """

    mean: NDArray[Any]
    variance: NDArray[Any]

    def __post_init__(self) -> None:
        self._take_table("mean", "variance")
        mean = as_numeric(self.mean, "mean", ndim=(2, 3))
        variance = as_numeric(self.variance, "variance", ndim=(2, 3))
        if mean.shape != variance.shape:
            raise InputError(
                "variance",
                f"must have the shape of mean, {mean.shape}",
                f"got {variance.shape}",
                "give one variance for each logit",
                code="shape",
            )
        if mean.ndim == 2:
            mean, variance = mean[:, None, :], variance[:, None, :]
        if mean.shape[1] == 0:
            raise InputError(
                "mean", "needs at least one forward pass", f"got shape {mean.shape}", "check the axes", code="shape"
            )
        check_class_count(mean.shape[2], "mean")
        check_logits(mean, "mean", most=MOST)
        refuse_truth_values(variance, "variance", "give variances")
        check_rows(
            variance,
            "variance",
            tolerance=0.0,
            unit_sum=False,
            high=MOST,
            remedy="give variances, not their logarithms",
        )
        self._set("mean", mean)
        self._set("variance", variance)
        self._check_draws()
        self._passes(self.n_draws)
        self._finish(class_axis_of="mean")

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.mean.shape[2])

    def mean_probs(self) -> Array:
        """Mean of the softmax draws, in which all passes have the same weight, ``(n, K)``."""
        return (self.hull_points() * self.shares()[:, None]).sum(axis=1)

    def shares(self) -> Array:
        """Weight of each draw in the mean, ``(n_draws,)``; all passes have the same total weight."""
        passes = self._passes(self.n_draws)
        return 1.0 / (np.bincount(passes)[passes] * self.mean.shape[1])

    def members(self) -> Members:
        """The draws that span the set, as `Members`; weighted if the passes have different numbers of draws."""
        members = super().members()
        if self.n_draws % self.mean.shape[1]:
            members._set("weights", self.shares())
        return members

    def _passes(self, n: int) -> NDArray[np.int64]:
        """Index of the pass of each of n draws, ``(n,)``."""
        m = self.mean.shape[1]
        if n < m:
            raise InputError(
                "n_draws",
                f"needs at least one draw from each of the {m} passes",
                f"got {n}",
                f"ask for {m} or more",
                code="range",
            )
        return np.arange(n) * m // n

    def sample(self, n: int, rng: RandomState = None) -> Array:
        """Softmax of `sample_logits`, ``(n_instances, n, K)``."""
        return softmax(self.sample_logits(n, rng), "logits")

    def sample_logits(self, n: int, rng: RandomState = None) -> Array:
        """Drawn logits, ``(n_instances, n, K)``, divided evenly among the passes, in the order of the passes."""
        logits = self._draw(n, rng, lambda g, i, shape: g.standard_normal(shape))
        passes = self._passes(n)
        still_whole(self.mean)
        still_whole(self.variance)
        logits *= np.sqrt(np.asarray(self.variance, dtype=np.float64))[:, passes]
        logits += self.mean[:, passes]
        return logits

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("mean", "variance") if self.drawn is None else ("mean", "variance", "drawn")

    def _one_versus_rest(self, k: int) -> Members:
        return self.members()._one_versus_rest(k)
