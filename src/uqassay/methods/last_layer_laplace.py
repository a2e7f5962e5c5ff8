"""Gaussian posterior of a softmax network's last layer, for the features that the network has learnt.

With features φ = (h, 1) of an instance, logits z = θ φ, θ (K, D), probabilities p = softmax(z) and the prior N(0, 1/τ) of each
weight and bias, the posterior is approximated by N(m, (H + τ)⁻¹), H = Σ_n Λ_n ⊗ φ_n φ_nᵀ. The logits of an instance are then
Gaussian with mean m φ and covariance J (H + τ)⁻¹ Jᵀ, J = I ⊗ φᵀ. Three such Gaussians are here:

| kind | m | Λ_n | τ |
|---|---|---|---|
| "trained" | the trained weights | diag(p) − p pᵀ at m | greatest evidence on a grid, m fixed |
| "laplace" | where the posterior is greatest for τ | diag(p) − p pᵀ at m | greatest evidence |
| "variational" | of the Gaussian closest to the posterior | mean of diag(p) − p pᵀ under it | greatest bound of the evidence |

Features that were trained on the same instances separate the classes, so that p is 0 or 1 at the mode and Λ vanishes there,
while the likelihood falls steeply some way off. A Gaussian with the curvature at the mode, the Laplace approximation, therefore
reaches far into weights that misclassify the training instances. In the variational one gradient and curvature of the log
likelihood are averaged over the Gaussian itself (Opper & Archambeau, 2009, The variational Gaussian approximation revisited).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from uqassay._array import row_chunks
from uqassay.methods.last_layer_hessians import FullHessian, Hessian, KroneckerHessian

__all__ = ["KINDS", "LastLayerPosterior", "log_evidence", "mode"]

KINDS = ("variational", "laplace", "trained")
PRECISIONS = np.logspace(-4, 4, 81)  # of the prior, among which the evidence chooses
LONGEST_STEP, SHORTEST_STEP = 0.5, 1 / 32  # of the ascent; whole ones overshoot, since mean and curvature move at once
LEAST_GAIN = 1e-3  # of the bound by a whole step, after which predictions hardly move
N_STEPS = 200  # at most; some 20 are taken
TINY = 1e-100  # in place of ‖m‖² = 0
N_DRAWS, ALL_DRAWS = 32, 2**15  # of an instance's logits, and of those of all instances together, at least
Array = NDArray[np.float64]
Codes = NDArray[np.int64]


@final
@dataclass(frozen=True)
class LastLayerPosterior:
    """Gaussian over the weights and biases of the last layer.

    Attributes
    ----------
    mean : array (K, D)
        The bias last.
    hessian : Hessian
    precision : float
        τ of the prior.
    log_evidence : float
        Log of the marginal likelihood at τ by Laplace's approximation, or its lower bound where the posterior is variational,
        in nats.
    """

    mean: Array
    hessian: Hessian
    precision: float
    log_evidence: float

    @classmethod
    def fit(
        cls,
        trained: Array,
        features: Array,
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
        kind : one of `KINDS`
        kronecker : bool
            Whether H is a `KroneckerHessian`.
        precision : float, optional
            τ; None takes the one from 1e-4 to 1e4 with the greatest evidence.
        seed : SeedSequence or int
            Of the draws of logits by which the variational posterior averages.
        """
        hessian = KroneckerHessian if kronecker else FullHessian

        def at(mean: Array, tau: Array) -> "LastLayerPosterior":
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


def mode(start: Array, features: Array, codes: Codes, precision: float) -> Array:
    """Weights ``(K, D)`` of the greatest posterior density: the least of −ln p(y | θ) + τ‖θ‖²/2, which is convex."""
    rows, n = np.arange(len(codes)), len(codes)

    def loss(flat: Array) -> tuple[float, Array]:
        theta = flat.reshape(start.shape)
        log_probs = log_softmax(features @ theta.T, axis=1)
        residual = np.exp(log_probs)
        residual[rows, codes] -= 1.0
        value = -log_probs[rows, codes].sum() + 0.5 * precision * (flat @ flat)
        return value / n, (residual.T @ features + precision * theta).ravel() / n

    limits = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    found: Array = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=limits).x
    return found.reshape(start.shape)


def _best_mode(trained: Array, fit: Callable[[Array, float], LastLayerPosterior]) -> LastLayerPosterior:
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
    posterior: LastLayerPosterior, features: Array, codes: Codes, *, fixed: bool, seed: np.random.SeedSequence | int
) -> LastLayerPosterior:
    """The variational posterior from any other: natural-gradient steps on the bound (Khan & Rue, 2023), halved until it rises.

    The bound is E ln p(y | θ) − KL(q ‖ prior), which with V = (H + τ)⁻¹ is `log_evidence` with the expected log likelihood,
    and γ/2 more, γ = Σ λ/(λ + τ). Unless τ is fixed it goes towards γ/‖m‖², where the bound is stationary in τ.
    """
    rows = np.arange(len(codes))
    n_draws = max(N_DRAWS, -(-ALL_DRAWS // len(codes))) // 2
    k = len(posterior.mean)

    def averages(mean: Array, hessian: Hessian, tau: float) -> tuple[float, Array, Array]:
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
