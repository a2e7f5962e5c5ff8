"""Gaussian posterior of a softmax network's last layer, by the Laplace approximation at the trained weights.

With features φ = (h, 1) of an instance, logits z = θ φ, θ (K, D), and probabilities p = softmax(z), the second derivative of
the summed cross-entropy over θ is Σ_n Λ_n ⊗ φ_n φ_nᵀ with Λ = diag(p) − p pᵀ. The posterior is N(θ, (H + τ)⁻¹) for the prior
N(0, 1/τ) of each weight and bias, and the logits of an instance are Gaussian with mean θ φ and covariance J (H + τ)⁻¹ Jᵀ,
J = I ⊗ φᵀ.
"""

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

__all__ = ["FullHessian", "Hessian", "KroneckerHessian", "LastLayerPosterior", "log_evidence"]

PRECISIONS = np.logspace(-4, 4, 81)  # of the prior, among which the evidence chooses
Array = NDArray[np.float64]


class Hessian(Protocol):
    """Second derivative H of the summed cross-entropy, by its eigenvectors, which serve every prior precision."""

    @property
    def eigenvalues(self) -> Array:
        """All K D of them, not negative, in no order."""

    def logit_covariance(self, features: Array, precision: float) -> Array:
        """J (H + τ)⁻¹ Jᵀ of instances with features ``(n, D)``, ``(n, K, K)``."""

    def deviations(self, noise: Array, precision: float) -> Array:
        """Draws from N(0, (H + τ)⁻¹), ``(T, K, D)``, from standard normal numbers ``(T, K, D)``."""


@final
@dataclass(frozen=True)
class FullHessian:
    """H itself, ``(K D, K D)``.

    Attributes
    ----------
    n_classes : int
    eigenvalues : array (K D,)
    vectors : array (K D, K D)
        In columns, the class first.
    """

    n_classes: int
    eigenvalues: Array
    vectors: Array

    @classmethod
    def of(cls, features: Array, probs: Array) -> "FullHessian":
        """From features ``(n, D)`` and probabilities ``(n, K)`` of the training instances."""
        k, d = probs.shape[1], features.shape[1]
        whole = np.empty((k, d, k, d))
        for i in range(k):
            for j in range(i, k):
                curvature = probs[:, i] * ((i == j) - probs[:, j])  # Λ_ij of each instance
                whole[i, :, j] = whole[j, :, i] = (features * curvature[:, None]).T @ features
        values, vectors = np.linalg.eigh(whole.reshape(k * d, k * d))
        return cls(k, np.maximum(values, 0.0), vectors)

    def logit_covariance(self, features: Array, precision: float) -> Array:
        """See `Hessian`."""
        k, d = self.n_classes, features.shape[1]
        inverse = ((self.vectors / (self.eigenvalues + precision)) @ self.vectors.T).reshape(k, d, k, d)
        out = np.empty((len(features), k, k))
        for i in range(k):
            for j in range(i, k):
                out[:, i, j] = out[:, j, i] = ((features @ inverse[i, :, j]) * features).sum(axis=1)
        return out

    def deviations(self, noise: Array, precision: float) -> Array:
        """See `Hessian`."""
        scaled = noise.reshape(len(noise), -1) / np.sqrt(self.eigenvalues + precision)
        drawn: Array = (scaled @ self.vectors.T).reshape(noise.shape)
        return drawn


@final
@dataclass(frozen=True)
class KroneckerHessian:
    """H as the product of the mean of Λ and the sum of φ φᵀ: exact where all instances have the same probabilities.

    Attributes
    ----------
    class_values, class_vectors : array (K,), array (K, K)
        Eigenvalues and eigenvectors (columns) of the mean of Λ.
    feature_values, feature_vectors : array (D,), array (D, D)
        Those of Σ φ φᵀ.
    """

    class_values: Array
    class_vectors: Array
    feature_values: Array
    feature_vectors: Array

    @classmethod
    def of(cls, features: Array, probs: Array) -> "KroneckerHessian":
        """From features ``(n, D)`` and probabilities ``(n, K)`` of the training instances."""
        curvature = np.diag(probs.mean(axis=0)) - probs.T @ probs / len(probs)
        class_values, class_vectors = np.linalg.eigh(curvature)
        feature_values, feature_vectors = np.linalg.eigh(features.T @ features)
        return cls(np.maximum(class_values, 0.0), class_vectors, np.maximum(feature_values, 0.0), feature_vectors)

    @property
    def eigenvalues(self) -> Array:
        """See `Hessian`."""
        return np.outer(self.class_values, self.feature_values).ravel()

    def logit_covariance(self, features: Array, precision: float) -> Array:
        """See `Hessian`."""
        squares = (features @ self.feature_vectors) ** 2  # (n, D)
        variances = squares @ (1.0 / (np.outer(self.feature_values, self.class_values) + precision))  # (n, K)
        u = self.class_vectors
        covariance: Array = (u * variances[:, None, :]) @ u.T
        return covariance

    def deviations(self, noise: Array, precision: float) -> Array:
        """See `Hessian`."""
        scaled = noise / np.sqrt(np.outer(self.class_values, self.feature_values) + precision)
        drawn: Array = self.class_vectors @ scaled @ self.feature_vectors.T
        return drawn


@final
@dataclass(frozen=True)
class LastLayerPosterior:
    """Gaussian over the weights and biases of the last layer.

    Attributes
    ----------
    mean : array (K, D)
        The trained weights, the bias last.
    hessian : Hessian
    precision : float
        τ of the prior.
    log_evidence : float
        ln of the marginal likelihood at τ, in nats.
    """

    mean: Array
    hessian: Hessian
    precision: float
    log_evidence: float

    @classmethod
    def fit(
        cls, mean: Array, features: Array, codes: NDArray[np.int64], *, kronecker: bool, precision: float | None
    ) -> "LastLayerPosterior":
        """The posterior from training instances: features ``(n, D)`` with a 1 last, and class indices ``(n,)``.

        Where `precision` is None it is the one of 81 from 1e-4 to 1e4 with the greatest evidence.
        """
        log_probs = log_softmax(features @ mean.T, axis=1)
        kind = KroneckerHessian if kronecker else FullHessian
        hessian = kind.of(features, np.exp(log_probs))
        log_likelihood = float(log_probs[np.arange(len(codes)), codes].sum())
        tried = PRECISIONS if precision is None else np.array([float(precision)])
        evidence = log_evidence(tried, hessian.eigenvalues, log_likelihood, float((mean**2).sum()))
        best = int(evidence.argmax())
        return cls(mean, hessian, float(tried[best]), float(evidence[best]))

    def logits(self, features: Array) -> tuple[Array, Array]:
        """Mean ``(n, K)`` and covariance ``(n, K, K)`` of the logits."""
        return features @ self.mean.T, self.hessian.logit_covariance(features, self.precision)

    def sampled_logits(self, features: Array, n: int, rng: np.random.Generator) -> Array:
        """Logits of n last layers drawn from the posterior, ``(n_instances, n, K)``; a draw is one layer for all."""
        noise = rng.standard_normal((n, *self.mean.shape))
        layers = self.mean + self.hessian.deviations(noise, self.precision)  # (T, K, D)
        return np.stack([features @ layer.T for layer in layers], axis=1)


def log_evidence(precision: Array, eigenvalues: Array, log_likelihood: float, square_norm: float) -> Array:
    """ln p(y) ≈ ln p(y | θ) − τ‖θ‖²/2 + (P/2) ln τ − ½ ln det(H + τ) for P weights, at each τ (MacKay, 1992)."""
    tau = np.asarray(precision, dtype=np.float64)[:, None]
    log_det = np.log(eigenvalues + tau).sum(axis=1)
    prior = 0.5 * eigenvalues.size * np.log(tau[:, 0]) - 0.5 * tau[:, 0] * square_norm
    evidence: Array = log_likelihood + prior - 0.5 * log_det
    return evidence
