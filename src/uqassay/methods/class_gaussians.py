"""One Gaussian for each class on the features of a network: the density of the training instances around a new one.

The covariance of a class is shrunk towards the one shared by all classes, so that it exists for small classes too:

    Σ_c = (n_c S_c + ν S) / (n_c + ν),

the mode of an inverse Wishart posterior whose prior has the weight of ν instances. S_c is the covariance within class c, and S
the one within all classes, shrunk by Ledoit and Wolf (2004).
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf

__all__ = ["ClassGaussians"]

FLOOR = 1e-6  # variance of features that are constant within classes, as a share of the mean variance
Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class ClassGaussians:
    """A mixture of Gaussians, one for each class, weighted by the class's share of the training instances.

    Attributes
    ----------
    means : array (K, d)
    covariances : array (K, d, d)
    log_shares : array (K,)
    roots : array (K, d, d)
        Lower Cholesky factors of the covariances.
    """

    means: Array
    covariances: Array
    log_shares: Array
    roots: Array

    @classmethod
    def fit(
        cls, features: Array, codes: NDArray[np.int64], n_classes: int, *, prior_instances: float = 10.0
    ) -> "ClassGaussians":
        """Fit to features ``(n, d)`` and class indices ``(n,)``; a class without instances has share 0.

        Parameters
        ----------
        prior_instances : float
            ν ≥ 0. With 0 only the floor of the variances keeps the covariance of a class regular.
        """
        n, d = features.shape
        counts = np.bincount(codes, minlength=n_classes)
        means = np.stack([features[codes == c if counts[c] else slice(None)].mean(axis=0) for c in range(n_classes)])
        residuals = features - means[codes]
        shared, _ = ledoit_wolf(residuals, assume_centered=True)
        floor = FLOOR * (float(features.var(axis=0).mean()) or 1.0) * np.eye(d)
        covariances = np.empty((n_classes, d, d))
        for c in range(n_classes):
            within = residuals[codes == c]
            covariances[c] = (within.T @ within + prior_instances * shared) / (
                (counts[c] + prior_instances) or 1.0
            ) + floor
        roots = np.stack([cholesky(covariance, lower=True) for covariance in covariances])
        log_shares = np.log(counts / n, out=np.full(n_classes, -np.inf), where=counts > 0)
        return cls(means, covariances, log_shares, roots)

    def log_joint(self, features: Array) -> Array:
        """ln of share times density of each class at features ``(n, d)``, ``(n, K)``."""
        out = np.empty((len(features), len(self.means)))
        constant = features.shape[1] * np.log(2 * np.pi)
        for c, (mean, root) in enumerate(zip(self.means, self.roots, strict=True)):
            whitened = solve_triangular(root, (features - mean).T, lower=True)  # (d, n)
            log_det = 2 * np.log(np.diagonal(root)).sum()
            out[:, c] = self.log_shares[c] - 0.5 * ((whitened**2).sum(axis=0) + log_det + constant)
        return out

    def log_density(self, features: Array) -> Array:
        """ln of the density of the mixture at features ``(n, d)``, ``(n,)``."""
        density: Array = logsumexp(self.log_joint(features), axis=1)
        return density
