"""Hessian of the summed cross-entropy of a softmax layer, in the forms that a Gaussian posterior of the layer needs.

With features φ_n ``(D,)`` and probabilities p_n ``(K,)`` it is H = Σ_n Λ_n ⊗ φ_n φ_nᵀ, Λ = diag(p) − p pᵀ, in full or as a
product of a part for classes and one for features.
"""

from dataclasses import dataclass, replace
from typing import Protocol, Self, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks

__all__ = ["FullHessian", "Hessian", "KroneckerHessian"]

Array = NDArray[np.float64]


class Hessian(Protocol):
    """H = Σ_n Λ_n ⊗ φ_n φ_nᵀ by its eigenvectors, which are the same for every prior precision."""

    @property
    def eigenvalues(self) -> Array:
        """All K D eigenvalues, not negative, unsorted."""

    @staticmethod
    def summed(features: Array, probs: Array) -> Array:
        """The sums over instances that define H, from features ``(n, D)`` and T probability vectors each, ``(n, T, K)``."""

    def moved(self, total: Array, share: float) -> Self:
        """A share of the way from this Hessian to the one of another sum."""

    def solve(self, matrix: Array, precision: float) -> Array:
        """(H + τ)⁻¹ applied to ``(K, D)``."""

    def logit_covariance(self, features: Array, precision: float) -> Array:
        """J (H + τ)⁻¹ Jᵀ of instances with features ``(n, D)``, ``(n, K, K)``."""

    def logit_deviations(self, features: Array, noise: Array, precision: float) -> Array:
        """Draws from N(0, J (H + τ)⁻¹ Jᵀ), ``(n, T, K)``, from standard normal numbers ``(n, T, K)``."""

    def deviations(self, noise: Array, precision: float) -> Array:
        """Draws from N(0, (H + τ)⁻¹), ``(T, K, D)``, from standard normal numbers ``(T, K, D)``."""


@final
@dataclass(frozen=True)
class FullHessian:
    """H itself.

    Attributes
    ----------
    n_classes : int
    total : array (K D, K D)
        The class first.
    eigenvalues : array (K D,)
    vectors : array (K D, K D)
        In columns.
    """

    n_classes: int
    total: Array
    eigenvalues: Array
    vectors: Array

    @classmethod
    def of(cls, features: Array, probs: Array) -> "FullHessian":
        """From features ``(n, D)`` and probabilities ``(n, K)`` of the training instances."""
        k = probs.shape[1]
        parts = (cls.summed(features[rows], probs[rows, None]) for rows in row_chunks(len(probs), 16 * k * k))
        return cls._from_total(k, sum(parts, np.zeros(())))

    @classmethod
    def _from_total(cls, k: int, total: Array) -> "FullHessian":
        values, vectors = np.linalg.eigh(total)
        return cls(k, total, np.maximum(values, 0.0), vectors)

    @staticmethod
    def summed(features: Array, probs: Array) -> Array:
        """H, see `Hessian`."""
        d, k = features.shape[1], probs.shape[2]
        mean, second = probs.mean(axis=1), probs.swapaxes(1, 2) @ probs / probs.shape[1]
        whole = np.empty((k, d, k, d))
        for i in range(k):
            for j in range(i, k):
                curvature = (i == j) * mean[:, i] - second[:, i, j]  # Λ_ij of each instance
                whole[i, :, j] = whole[j, :, i] = (features * curvature[:, None]).T @ features
        return whole.reshape(k * d, k * d)

    def moved(self, total: Array, share: float) -> "FullHessian":
        """See `Hessian`."""
        return self._from_total(self.n_classes, (1 - share) * self.total + share * total)

    def solve(self, matrix: Array, precision: float) -> Array:
        """See `Hessian`."""
        solved: Array = self.vectors @ ((matrix.ravel() @ self.vectors) / (self.eigenvalues + precision))
        return solved.reshape(matrix.shape)

    def logit_covariance(self, features: Array, precision: float) -> Array:
        """See `Hessian`."""
        k, d = self.n_classes, features.shape[1]
        inverse = ((self.vectors / (self.eigenvalues + precision)) @ self.vectors.T).reshape(k, d, k, d)
        out = np.empty((len(features), k, k))
        for i in range(k):
            for j in range(i, k):
                out[:, i, j] = out[:, j, i] = ((features @ inverse[i, :, j]) * features).sum(axis=1)
        return out

    def logit_deviations(self, features: Array, noise: Array, precision: float) -> Array:
        """See `Hessian`."""
        covariance = self.logit_covariance(features, precision)
        greatest = np.diagonal(covariance, axis1=1, axis2=2).max(axis=1)
        rounding = self.eigenvalues.size * np.finfo(np.float64).eps * greatest  # may make the least variances negative
        root = np.linalg.cholesky(covariance + rounding[:, None, None] * np.eye(self.n_classes))
        drawn: Array = noise @ root.swapaxes(1, 2)
        return drawn

    def deviations(self, noise: Array, precision: float) -> Array:
        """See `Hessian`."""
        scaled = noise.reshape(len(noise), -1) / np.sqrt(self.eigenvalues + precision)
        drawn: Array = (scaled @ self.vectors.T).reshape(noise.shape)
        return drawn


@final
@dataclass(frozen=True)
class KroneckerHessian:
    """H as the product of the mean of Λ and the sum of φ φᵀ: exact where all instances have the same Λ.

    Attributes
    ----------
    n_instances : int
    total : array (K, K)
        The sum of Λ.
    class_values, class_vectors : array (K,), array (K, K)
        Eigenvalues and eigenvectors (columns) of the mean of Λ.
    feature_values, feature_vectors : array (D,), array (D, D)
        Those of Σ φ φᵀ.
    """

    n_instances: int
    total: Array
    class_values: Array
    class_vectors: Array
    feature_values: Array
    feature_vectors: Array

    @classmethod
    def of(cls, features: Array, probs: Array) -> "KroneckerHessian":
        """From features ``(n, D)`` and probabilities ``(n, K)`` of the training instances."""
        total = cls.summed(features, probs[:, None])
        class_values, class_vectors = np.linalg.eigh(total / len(features))
        values, vectors = np.linalg.eigh(features.T @ features)
        return cls(len(features), total, np.maximum(class_values, 0.0), class_vectors, np.maximum(values, 0.0), vectors)

    @staticmethod
    def summed(features: Array, probs: Array) -> Array:
        """The sum of Λ, see `Hessian`."""
        flat = probs.reshape(-1, probs.shape[-1])
        total: Array = (np.diag(flat.sum(axis=0)) - flat.T @ flat) / probs.shape[1]
        return total

    def moved(self, total: Array, share: float) -> "KroneckerHessian":
        """See `Hessian`."""
        total = (1 - share) * self.total + share * total
        values, vectors = np.linalg.eigh(total / self.n_instances)
        return replace(self, total=total, class_values=np.maximum(values, 0.0), class_vectors=vectors)

    def solve(self, matrix: Array, precision: float) -> Array:
        """See `Hessian`."""
        u, v = self.class_vectors, self.feature_vectors
        solved: Array = u @ (u.T @ matrix @ v / (np.outer(self.class_values, self.feature_values) + precision)) @ v.T
        return solved

    @property
    def eigenvalues(self) -> Array:
        """See `Hessian`."""
        return np.outer(self.class_values, self.feature_values).ravel()

    def logit_covariance(self, features: Array, precision: float) -> Array:
        """See `Hessian`."""
        u = self.class_vectors
        covariance: Array = (u * self._variances(features, precision)[:, None, :]) @ u.T
        return covariance

    def logit_deviations(self, features: Array, noise: Array, precision: float) -> Array:
        """Draws of the deviations of the logits, see `Hessian`."""
        drawn: Array = (noise * np.sqrt(self._variances(features, precision))[:, None, :]) @ self.class_vectors.T
        return drawn

    def deviations(self, noise: Array, precision: float) -> Array:
        """See `Hessian`."""
        scaled = noise / np.sqrt(np.outer(self.class_values, self.feature_values) + precision)
        drawn: Array = self.class_vectors @ scaled @ self.feature_vectors.T
        return drawn

    def _variances(self, features: Array, precision: float) -> Array:
        """Variances of the logits along the eigenvectors of the mean of Λ, ``(n, K)``."""
        inverse = 1.0 / (np.outer(self.feature_values, self.class_values) + precision)
        variances: Array = (features @ self.feature_vectors) ** 2 @ inverse
        return variances
