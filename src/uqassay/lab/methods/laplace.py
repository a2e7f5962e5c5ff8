"""The last-layer Laplace approximation, and a Dirichlet distribution from it by the Laplace bridge."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from uqassay.arrays import Floats, as_numeric, row_chunks
from uqassay.checks import fail, number, one_of, whole
from uqassay.lab.methods.networks import NetworkClassifier
from uqassay.predictions import Dirichlet, Members

__all__ = [
    "KINDS",
    "FullHessian",
    "KroneckerHessian",
    "LastLayerPosterior",
    "bridge_to_dirichlet",
    "log_evidence",
    "mode",
]


# Hessian of the summed cross-entropy of a softmax layer, in the forms that a Gaussian posterior of the layer needs.
#
# With features φ_n ``(D,)`` and probabilities p_n ``(K,)`` it is H = Σ_n Λ_n ⊗ φ_n φ_nᵀ, Λ = diag(p) − p pᵀ, in full or
# as a product of a part for classes and one for features.


class Hessian(Protocol):
    """H = Σ_n Λ_n ⊗ φ_n φ_nᵀ by its eigenvectors, which are the same for every prior precision."""

    @property
    def eigenvalues(self) -> Floats:
        """All K D eigenvalues, not negative, unsorted."""

    @staticmethod
    def summed(features: Floats, probs: Floats) -> Floats:
        """The sums over instances that define H, from features ``(n, D)`` and T probability vectors each, ``(n, T, K)``."""

    def moved(self, total: Floats, share: float) -> Self:
        """A share of the way from this Hessian to the one of another sum."""

    def solve(self, matrix: Floats, precision: float) -> Floats:
        """(H + τ)⁻¹ applied to ``(K, D)``."""

    def logit_covariance(self, features: Floats, precision: float) -> Floats:
        """J (H + τ)⁻¹ Jᵀ of instances with features ``(n, D)``, ``(n, K, K)``."""

    def logit_deviations(self, features: Floats, noise: Floats, precision: float) -> Floats:
        """Draws from N(0, J (H + τ)⁻¹ Jᵀ), ``(n, T, K)``, from standard normal numbers ``(n, T, K)``."""

    def deviations(self, noise: Floats, precision: float) -> Floats:
        """Draws from N(0, (H + τ)⁻¹), ``(T, K, D)``, from standard normal numbers ``(T, K, D)``."""


@final
@dataclass(frozen=True)
class FullHessian:
    """H itself."""

    n_classes: int
    total: Floats  #: (K D, K D): The class first
    eigenvalues: Floats  #: (K D,)
    vectors: Floats  #: (K D, K D): In columns

    @classmethod
    def of(cls, features: Floats, probs: Floats) -> "FullHessian":
        """From features ``(n, D)`` and probabilities ``(n, K)`` of the training instances."""
        k = probs.shape[1]
        parts = (cls.summed(features[rows], probs[rows, None]) for rows in row_chunks(len(probs), 16 * k * k))
        return cls._from_total(k, sum(parts, np.zeros(())))

    @classmethod
    def _from_total(cls, k: int, total: Floats) -> "FullHessian":
        values, vectors = np.linalg.eigh(total)
        return cls(k, total, np.maximum(values, 0.0), vectors)

    @staticmethod
    def summed(features: Floats, probs: Floats) -> Floats:
        """H, see `Hessian`."""
        d, k = features.shape[1], probs.shape[2]
        mean, second = probs.mean(axis=1), probs.swapaxes(1, 2) @ probs / probs.shape[1]
        whole = np.empty((k, d, k, d))
        for i in range(k):
            for j in range(i, k):
                curvature = (i == j) * mean[:, i] - second[:, i, j]  # Λ_ij of each instance
                whole[i, :, j] = whole[j, :, i] = (features * curvature[:, None]).T @ features
        return whole.reshape(k * d, k * d)

    def moved(self, total: Floats, share: float) -> "FullHessian":
        """See `Hessian`."""
        return self._from_total(self.n_classes, (1 - share) * self.total + share * total)

    def solve(self, matrix: Floats, precision: float) -> Floats:
        """See `Hessian`."""
        solved: Floats = self.vectors @ ((matrix.ravel() @ self.vectors) / (self.eigenvalues + precision))
        return solved.reshape(matrix.shape)

    def logit_covariance(self, features: Floats, precision: float) -> Floats:
        """See `Hessian`."""
        k, d = self.n_classes, features.shape[1]
        inverse = ((self.vectors / (self.eigenvalues + precision)) @ self.vectors.T).reshape(k, d, k, d)
        out = np.empty((len(features), k, k))
        for i in range(k):
            for j in range(i, k):
                out[:, i, j] = out[:, j, i] = ((features @ inverse[i, :, j]) * features).sum(axis=1)
        return out

    def logit_deviations(self, features: Floats, noise: Floats, precision: float) -> Floats:
        """See `Hessian`."""
        covariance = self.logit_covariance(features, precision)
        greatest = np.diagonal(covariance, axis1=1, axis2=2).max(axis=1)
        rounding = self.eigenvalues.size * np.finfo(np.float64).eps * greatest  # may make the least variances negative
        root = np.linalg.cholesky(covariance + rounding[:, None, None] * np.eye(self.n_classes))
        drawn: Floats = noise @ root.swapaxes(1, 2)
        return drawn

    def deviations(self, noise: Floats, precision: float) -> Floats:
        """See `Hessian`."""
        scaled = noise.reshape(len(noise), -1) / np.sqrt(self.eigenvalues + precision)
        drawn: Floats = (scaled @ self.vectors.T).reshape(noise.shape)
        return drawn


@final
@dataclass(frozen=True)
class KroneckerHessian:
    """H as the product of the mean of Λ and the sum of φ φᵀ: exact where all instances have the same Λ."""

    n_instances: int
    total: Floats  #: (K, K): The sum of Λ
    #: (K,), array (K, K): Eigenvalues and eigenvectors (columns) of the mean of Λ
    class_values: Floats
    class_vectors: Floats
    #: (D,), array (D, D): Those of Σ φ φᵀ
    feature_values: Floats
    feature_vectors: Floats

    @classmethod
    def of(cls, features: Floats, probs: Floats) -> "KroneckerHessian":
        """From features ``(n, D)`` and probabilities ``(n, K)`` of the training instances."""
        total = cls.summed(features, probs[:, None])
        class_values, class_vectors = np.linalg.eigh(total / len(features))
        values, vectors = np.linalg.eigh(features.T @ features)
        return cls(len(features), total, np.maximum(class_values, 0.0), class_vectors, np.maximum(values, 0.0), vectors)

    @staticmethod
    def summed(features: Floats, probs: Floats) -> Floats:
        """The sum of Λ, see `Hessian`."""
        flat = probs.reshape(-1, probs.shape[-1])
        total: Floats = (np.diag(flat.sum(axis=0)) - flat.T @ flat) / probs.shape[1]
        return total

    def moved(self, total: Floats, share: float) -> "KroneckerHessian":
        """See `Hessian`."""
        total = (1 - share) * self.total + share * total
        values, vectors = np.linalg.eigh(total / self.n_instances)
        return replace(self, total=total, class_values=np.maximum(values, 0.0), class_vectors=vectors)

    def solve(self, matrix: Floats, precision: float) -> Floats:
        """See `Hessian`."""
        u, v = self.class_vectors, self.feature_vectors
        solved: Floats = u @ (u.T @ matrix @ v / (np.outer(self.class_values, self.feature_values) + precision)) @ v.T
        return solved

    @property
    def eigenvalues(self) -> Floats:
        """See `Hessian`."""
        return np.outer(self.class_values, self.feature_values).ravel()

    def logit_covariance(self, features: Floats, precision: float) -> Floats:
        """See `Hessian`."""
        u = self.class_vectors
        covariance: Floats = (u * self._variances(features, precision)[:, None, :]) @ u.T
        return covariance

    def logit_deviations(self, features: Floats, noise: Floats, precision: float) -> Floats:
        """Draws of the deviations of the logits, see `Hessian`."""
        drawn: Floats = (noise * np.sqrt(self._variances(features, precision))[:, None, :]) @ self.class_vectors.T
        return drawn

    def deviations(self, noise: Floats, precision: float) -> Floats:
        """See `Hessian`."""
        scaled = noise / np.sqrt(np.outer(self.class_values, self.feature_values) + precision)
        drawn: Floats = self.class_vectors @ scaled @ self.feature_vectors.T
        return drawn

    def _variances(self, features: Floats, precision: float) -> Floats:
        """Variances of the logits along the eigenvectors of the mean of Λ, ``(n, K)``."""
        inverse = 1.0 / (np.outer(self.feature_values, self.class_values) + precision)
        variances: Floats = (features @ self.feature_vectors) ** 2 @ inverse
        return variances


# Gaussian posterior of a softmax network's last layer, for the features that the network has learnt.
#
# With features φ = (h, 1) of an instance, logits z = θ φ, θ (K, D), probabilities p = softmax(z) and the prior N(0,
# 1/τ) of each weight and bias, the posterior is approximated by N(m, (H + τ)⁻¹), H = Σ_n Λ_n ⊗ φ_n φ_nᵀ. The logits of
# an instance are then Gaussian with mean m φ and covariance J (H + τ)⁻¹ Jᵀ, J = I ⊗ φᵀ. Three such Gaussians are here:
#
# | kind | m | Λ_n | τ |
# |---|---|---|---|
# | "trained" | the trained weights | diag(p) − p pᵀ at m | greatest evidence on a grid, m fixed |
# | "laplace" | where the posterior is greatest for τ | diag(p) − p pᵀ at m | greatest evidence |
# | "variational" | of the Gaussian closest to the posterior | mean of diag(p) − p pᵀ under it | greatest evidence bound |
#
# Features that were trained on the same instances separate the classes, so that p is 0 or 1 at the mode and Λ vanishes
# there, while the likelihood falls steeply some way off. A Gaussian with the curvature at the mode, the Laplace
# approximation, therefore reaches far into weights that misclassify the training instances. In the variational one
# gradient and curvature of the log likelihood are averaged over the Gaussian itself (Opper & Archambeau, 2009, The
# variational Gaussian approximation revisited).

KINDS = ("variational", "laplace", "trained")
PRECISIONS = np.logspace(-4, 4, 81)  # of the prior, among which the evidence chooses
LONGEST_STEP, SHORTEST_STEP = 0.5, 1 / 32  # of the ascent; whole ones overshoot, since mean and curvature move at once
LEAST_GAIN = 1e-3  # of the bound by a whole step, after which predictions hardly move
N_STEPS = 200  # at most; some 20 are taken
TINY = 1e-100  # in place of ‖m‖² = 0
N_DRAWS, ALL_DRAWS = 32, 2**15  # of an instance's logits, and of those of all instances together, at least
Codes = NDArray[np.int64]


@final
@dataclass(frozen=True)
class LastLayerPosterior:
    """Gaussian over the weights and biases of the last layer."""

    mean: Floats  #: (K, D): The bias last
    hessian: Hessian
    precision: float  #: τ of the prior
    #: Log of the marginal likelihood at τ by Laplace's approximation, or its lower bound where the posterior is
    #: variational, in nats
    log_evidence: float

    @classmethod
    def fit(
        cls,
        trained: Floats,
        features: Floats,
        codes: Codes,
        *,
        kind: str = "variational",
        kronecker: bool = False,
        precision: float | None = None,
        seed: np.random.SeedSequence | int = 0,
    ) -> "LastLayerPosterior":
        """The posterior from training instances.

        Parameters
        ----------
        trained : array (K, D)
            The trained weights; where "laplace" and "variational" begin, which do not depend on it beyond rounding.
        features : array (n, D)
            With a 1 last.
        codes : int array (n,)
            Class indices.
        kronecker : bool
            Whether H is a `KroneckerHessian`.
        precision : float, optional
            τ; None takes the one from 1e-4 to 1e4 with the greatest evidence.
        seed : SeedSequence or int
            Of the draws of logits by which the variational posterior averages.
        """
        hessian = KroneckerHessian if kronecker else FullHessian

        def at(mean: Floats, tau: Floats) -> "LastLayerPosterior":
            """By the curvature at the weights given, with the best of several τ."""
            log_probs = log_softmax(features @ mean.T, axis=1)
            curvature = hessian.of(features, np.exp(log_probs))
            log_likelihood = float(log_probs[np.arange(len(codes)), codes].sum())
            evidence = log_evidence(tau, curvature.eigenvalues, log_likelihood, float((mean**2).sum()))
            best = int(evidence.argmax())
            return cls(mean, curvature, float(tau[best]), float(evidence[best]))

        if kind == "trained":
            return at(trained, PRECISIONS if precision is None else np.array([float(precision)]))
        if kind == "variational":
            tau = 1.0 if precision is None else float(precision)
            start = at(mode(trained, features, codes, tau), np.array([tau]))
            return _ascent(start, features, codes, fixed=precision is not None, seed=seed)
        if precision is not None:
            return at(mode(trained, features, codes, precision), np.array([float(precision)]))
        return _best_mode(trained, lambda mean, tau: at(mode(mean, features, codes, tau), np.array([tau])))

    def logits(self, features: Floats) -> tuple[Floats, Floats]:
        """Mean ``(n, K)`` and covariance ``(n, K, K)`` of the logits."""
        return features @ self.mean.T, self.hessian.logit_covariance(features, self.precision)

    def sampled_logits(self, features: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Logits of n last layers drawn from the posterior, ``(n_instances, n, K)``; a draw is one layer for all."""
        noise = rng.standard_normal((n, *self.mean.shape))
        layers = self.mean + self.hessian.deviations(noise, self.precision)  # (T, K, D)
        return np.stack([features @ layer.T for layer in layers], axis=1)


def log_evidence(precision: Floats, eigenvalues: Floats, log_likelihood: float, square_norm: float) -> Floats:
    """ln p(y) ≈ ln p(y | θ) − τ‖θ‖²/2 + (P/2) ln τ − ½ ln det(H + τ) for P weights, at each τ (MacKay, 1992)."""
    tau = np.asarray(precision, dtype=np.float64)[:, None]
    log_det = np.log(eigenvalues + tau).sum(axis=1)
    prior = 0.5 * eigenvalues.size * np.log(tau[:, 0]) - 0.5 * tau[:, 0] * square_norm
    evidence: Floats = log_likelihood + prior - 0.5 * log_det
    return evidence


def mode(start: Floats, features: Floats, codes: Codes, precision: float) -> Floats:
    """Weights ``(K, D)`` of the greatest posterior density: the least of −ln p(y | θ) + τ‖θ‖²/2, which is convex."""
    rows, n = np.arange(len(codes)), len(codes)

    def loss(flat: Floats) -> tuple[float, Floats]:
        theta = flat.reshape(start.shape)
        log_probs = log_softmax(features @ theta.T, axis=1)
        residual = np.exp(log_probs)
        residual[rows, codes] -= 1.0
        value = -log_probs[rows, codes].sum() + 0.5 * precision * (flat @ flat)
        return value / n, (residual.T @ features + precision * theta).ravel() / n

    limits = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    found: Floats = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=limits).x
    return found.reshape(start.shape)


def _best_mode(trained: Floats, fit: Callable[[Floats, float], LastLayerPosterior]) -> LastLayerPosterior:
    """The Laplace approximation at the mode with the greatest evidence: a power of ten first, then between its neighbours."""
    tried: list[LastLayerPosterior] = []
    for tau in np.logspace(4, -4, 9):  # each mode is the start of the next
        tried.append(fit(tried[-1].mean if tried else trained, float(tau)))
    best = max(tried, key=lambda posterior: posterior.log_evidence)

    def loss(log_tau: float) -> float:
        nonlocal best
        posterior = fit(best.mean, float(np.exp(log_tau)))
        best = max(best, posterior, key=lambda posterior: posterior.log_evidence)
        return -posterior.log_evidence

    middle = np.log(best.precision)
    around = np.clip([middle - np.log(10), middle + np.log(10)], np.log(PRECISIONS[0]), np.log(PRECISIONS[-1]))
    minimize_scalar(loss, bounds=tuple(around), method="bounded", options={"xatol": 0.02})
    return best


def _ascent(
    posterior: LastLayerPosterior, features: Floats, codes: Codes, *, fixed: bool, seed: np.random.SeedSequence | int
) -> LastLayerPosterior:
    """The variational posterior from any other: natural-gradient steps on the bound (Khan & Rue, 2023), halved until it rises.

    The bound is E ln p(y | θ) − KL(q ‖ prior), which with V = (H + τ)⁻¹ is `log_evidence` with the expected log likelihood,
    and γ/2 more, γ = Σ λ/(λ + τ). Unless τ is fixed it goes towards γ/‖m‖², where the bound is stationary in τ.
    """
    rows = np.arange(len(codes))
    n_draws = max(N_DRAWS, -(-ALL_DRAWS // len(codes))) // 2
    k = len(posterior.mean)

    def averages(mean: Floats, hessian: Hessian, tau: float) -> tuple[float, Floats, Floats]:
        """The bound, the gradient ``(K, D)`` of −E ln p(y | θ), and what E H depends on, with the same noise in each call."""
        rng = np.random.default_rng(seed)
        log_likelihood, gradient, total = 0.0, np.zeros_like(mean), np.zeros(())
        for part in row_chunks(len(features), 8 * k * (12 * n_draws + 4 * k)):
            phi = features[part]
            drawn = hessian.logit_deviations(phi, rng.standard_normal((len(phi), n_draws, k)), tau)
            centre = (phi @ mean.T)[:, None]
            log_probs = log_softmax(np.concatenate([centre + drawn, centre - drawn], axis=1), axis=2)
            log_likelihood += float(log_probs[rows[: len(phi)], :, codes[part]].mean(axis=1).sum())
            probs = np.exp(log_probs)
            residual = probs.mean(axis=1)
            residual[rows[: len(phi)], codes[part]] -= 1.0
            gradient += residual.T @ phi
            total = total + hessian.summed(phi, probs)
        values = hessian.eigenvalues
        evidence = log_evidence(np.array([tau]), values, log_likelihood, float((mean**2).sum()))
        return float(evidence[0] + 0.5 * (values / (values + tau)).sum()), gradient, total

    mean, hessian, tau = posterior.mean, posterior.hessian, posterior.precision
    bound, gradient, total = averages(mean, hessian, tau)
    step = LONGEST_STEP
    for _ in range(N_STEPS):
        next_hessian = hessian.moved(total, step)
        next_mean = mean - step * next_hessian.solve(gradient + tau * mean, tau)
        next_tau = tau
        if not fixed:
            values = next_hessian.eigenvalues
            ratio = (values / (values + tau)).sum() / (tau * max((next_mean**2).sum(), TINY))
            next_tau = float(np.clip(tau * np.clip(ratio**step, 0.2, 5.0), PRECISIONS[0], PRECISIONS[-1]))
        found = averages(next_mean, next_hessian, next_tau)
        if not found[0] > bound:
            step /= 2
            if step < SHORTEST_STEP:
                break
            continue
        gain = found[0] - bound
        mean, hessian, tau = next_mean, next_hessian, next_tau
        bound, gradient, total = found
        step = min(LONGEST_STEP, 1.5 * step)
        if gain < LEAST_GAIN * step * abs(bound):
            break
    return LastLayerPosterior(mean, hessian, tau, bound)


# A Dirichlet for each instance from a last-layer Laplace approximation, by the Laplace bridge (Hobbhahn et al., 2022).
#
# A trained network has Gaussian logits once its last layer has a Gaussian posterior; see `last_layer_laplace`. The
# bridge makes a Gaussian N(μ, Σ) over K logits, whose sum is 0, the Dirichlet with
#
#     α_k = (1 / Σ_kk) (1 − 2/K + e^{μ_k} / K² Σ_l e^{−μ_l}).

LARGEST_FULL = 1000  # weights of a last layer whose full Hessian takes a fraction of a second
LARGEST_LOG = 600.0  # of α; e^709 overflows
LEAST_LOG = -600.0  # and the least α that a `Dirichlet` takes is e^−690
LEAST_VARIANCE = 1e-12
LEAST_PRECISION = 1e-8  # below, rounding of the prior's variance outgrows the variances that the data leave
GREATEST_PRECISION = 1e20  # a prior of 0; products overflow far above


@dataclass(kw_only=True, eq=False, repr=False)
class LaplaceBridge(NetworkClassifier):
    """A network with a Gaussian posterior over its last layer; states a `Dirichlet`, or `Members` drawn from the posterior.

    Parameters
    ----------
    posterior : {"variational", "laplace", "trained"}
        The Gaussian over the last layer, given the trained features: the one closest to the posterior; the Laplace
        approximation at the mode of the posterior; or the Laplace formula at the trained weights, which were not trained under
        that prior. The last one is the procedure of the papers, to be combined with ``bridge="plain"``. See the notes.
    prior_precision : float, optional
        τ of the prior N(0, 1/τ) of each weight of the last layer, from 1e-8 to 1e20. None takes the one from 1e-4 to 1e4 with
        the greatest marginal likelihood, or the greatest lower bound of it for "variational".
    hessian : {"auto", "full", "kronecker"}
        The second derivative of the cross-entropy in full, or as the product of a part for classes and one for features;
        "auto" is in full up to 1,000 weights.
    bridge : {"capped", "plain", "norm"}
        Correction of μ and Σ before the bridge, see `bridge_to_dirichlet`: "plain" is the formula as printed in the paper
        on unified evaluation, "norm" its variant, "capped" the variant for large variances and the formula for others,
        which of the three agrees best with draws from the same Gaussian.
    output : {"dirichlet", "members"}
        The prediction: the Dirichlet of the bridge, or `n_samples` networks with last layers drawn from the same posterior.
    n_samples : int
        Number of members.
    backbone, epochs, …
        See `NetworkClassifier`.

    Attributes
    ----------
    posterior_ : LastLayerPosterior
        Its `precision` is the τ in use, its `log_evidence` the marginal likelihood or its bound.

    Notes
    -----
    LB-BNN of the paper on unified evaluation is ``posterior="trained"`` with ``bridge="plain"``. The network is trained as a
    `StandardNetwork`, which it equals with the same options and seed; the posterior is fitted afterwards, and the mean of its
    logits is the network's for "trained" alone.

    If the features separate the classes of the training instances, the curvature at the mode nearly vanishes, and a Gaussian
    with that curvature puts mass on weights that misclassify them: draws from it are far too uncertain, and the bridge, which
    is inaccurate for large variances, adds to that. The missing prior in training is not the cause: at the mode of the
    posterior the evidence chooses an even wider prior. The formula as printed hides the problem, since the mean of its
    Dirichlet hardly depends on the variances. The variational Gaussian averages the curvature over itself and avoids it. The
    guide, docs/methods.md, has the measurements.

    The variational posterior takes some twenty passes through the training instances, with 32 draws of each one's logits.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import LaplaceBridge
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = LaplaceBridge(backbone=(8,), epochs=60, learning_rate=0.02).fit(x, ["cold", "cold", "hot", "hot"] * 8)
    >>> net.predict([[-2.0], [2.0]]).tolist()
    ['cold', 'hot']
    >>> net.predict_uncertainty([[-2.0], [2.0]])
    Dirichlet(alpha=(2, 2))
    """

    posterior: str = "variational"
    prior_precision: float | None = None
    hessian: str = "auto"
    bridge: str = "capped"
    output: str = "dirichlet"
    n_samples: int = 100

    def logit_distribution(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Mean ``(n, K)`` and covariance ``(n, K, K)`` of the Gaussian over the logits of each instance.

        The covariance of all logits together; the shift that the softmax does not see is still in it.
        """
        features = self._features(self._prepared(self._checked_inputs(X)))
        return self.posterior_.logits(features)

    def _check_options(self) -> None:
        tau = self.prior_precision
        if tau is not None:
            number(
                tau, "prior_precision", "None lets the evidence choose", low=LEAST_PRECISION, high=GREATEST_PRECISION
            )
        for name, known in OPTIONS.items():
            one_of(getattr(self, name), name, known, "choose one")
        whole(self.n_samples, "n_samples", "for example 10", least=1)

    def _after_training(self, x: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        head = self.network_.head
        weights = np.concatenate([head.weight[0].numpy(), head.bias[0].numpy()]).astype(np.float64)  # (d + 1, K)
        kronecker = self.hessian == "kronecker" or (self.hessian == "auto" and weights.size > LARGEST_FULL)
        self.posterior_: LastLayerPosterior = LastLayerPosterior.fit(
            weights.T,
            self._features(x),
            y,
            kind=self.posterior,
            kronecker=kronecker,
            precision=self.prior_precision,
            seed=self._seeds("posterior"),
        )

    def _statement(self, x: NDArray[np.float32]) -> Dirichlet | Members:
        features = self._features(x)
        if self.output == "members":
            rng = np.random.default_rng(self._seeds("passes"))
            logits = self.posterior_.sampled_logits(features, self.n_samples, rng)
            return Members.from_logits(logits, class_names=self.class_names_)
        parts = [
            bridge_to_dirichlet(*self.posterior_.logits(features[rows]), bridge=self.bridge)
            for rows in row_chunks(len(features), 8 * self._n_classes**2)
        ]
        return Dirichlet(np.concatenate(parts), class_names=self.class_names_)

    def _features(self, x: NDArray[np.float32]) -> Floats:
        """Inputs of the last layer, with the 1 of its bias, ``(n, d + 1)``."""
        features: Floats = self._evaluate(x, lambda network, x, draws: network.features(x))[:, 0]
        return np.column_stack([features, np.ones(len(x))])


OPTIONS = {
    "posterior": KINDS,
    "hessian": ("auto", "full", "kronecker"),
    "bridge": ("capped", "plain", "norm"),
    "output": ("dirichlet", "members"),
}


def bridge_to_dirichlet(mean: ArrayLike, covariance: ArrayLike, *, bridge: str = "capped") -> Floats:
    """Concentrations of the Dirichlet that the Laplace bridge makes of Gaussian logits.

    Parameters
    ----------
    mean : array (n, K)
    covariance : array (n, K, K)
    bridge : {"capped", "plain", "norm"}
        "plain" applies the formula. Its mean hardly depends on the size of Σ, so that it is too certain where variances are
        large. "norm" first divides μ by √v and Σ by v, v = mean(Σ_kk) / √(K/2), so that the mean variance is √(K/2); that
        repairs large variances, but where they are small it multiplies the logits, and a label of probability 0.6 becomes
        nearly certain. "capped" divides where v > 1 alone.

    Returns
    -------
    array (n, K)
        α > 0. Where the formula overflows (differences of logits above about 600), all α of the instance are divided by the
        same number, which leaves their mean.

    Notes
    -----
    The bridge is about logits that sum to 0. μ and Σ are therefore projected on that plane first, which takes away a shift
    of all logits and nothing that the softmax sees. Conditioning on the sum, as elsewhere, is the same where Σ 1 is a
    multiple of 1, as it is for the posteriors of `LaplaceBridge`: without it Σ_kk would contain the prior variance of that
    shift, about which no data can tell anything.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods.laplace import bridge_to_dirichlet
    >>> bridge_to_dirichlet([[0.0, 0.0, 0.0]], np.eye(3)[None]).round(3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    one_of(bridge, "bridge", OPTIONS["bridge"], "choose one")
    mu, sigma = as_numeric(mean, "mean", ndim=2), as_numeric(covariance, "covariance", ndim=3)
    n, k = mu.shape
    if sigma.shape != (n, k, k) or k < 2:
        rule = "must be (n, K, K) for means (n, K) with K of at least 2"
        fail("covariance", rule, f"got {sigma.shape} and {mu.shape}", "align", code="shape")
    if not (np.isfinite(mu).all() and np.isfinite(sigma).all()):
        rule = "must hold finite numbers"
        fail("mean and covariance", rule, "NaN or infinity found", "repair such rows", code="finite")
    mu = mu - mu.mean(axis=1, keepdims=True, dtype=np.float64)
    across = sigma.mean(axis=2, dtype=np.float64)  # Σ 1 / K
    variance = np.diagonal(sigma, axis1=1, axis2=2) - 2 * across + across.mean(axis=1, keepdims=True)
    variance = np.maximum(variance, LEAST_VARIANCE)
    if bridge != "plain":
        v = variance.mean(axis=1, keepdims=True) / math.sqrt(k / 2)
        v = np.maximum(v, 1.0) if bridge == "capped" else v
        mu, variance = mu / np.sqrt(v), variance / v
    # ln α = −ln Σ_kk + ln(1 − 2/K + e^{μ_k + ln Σ_l e^{−μ_l} − 2 ln K})
    constant = math.log(1 - 2 / k) if k > 2 else -np.inf
    log_sum = np.logaddexp.reduce(-mu, axis=1, keepdims=True)
    log_alpha = np.logaddexp(constant, mu + log_sum - 2 * math.log(k)) - np.log(variance)
    log_alpha -= np.maximum(log_alpha.max(axis=1, keepdims=True) - LARGEST_LOG, 0.0)
    alpha: Floats = np.exp(np.maximum(log_alpha, LEAST_LOG))
    return alpha
