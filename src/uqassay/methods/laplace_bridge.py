"""A Dirichlet for each instance from a last-layer Laplace approximation, by the Laplace bridge (Hobbhahn et al., 2022).

A trained network has Gaussian logits once its last layer has a Gaussian posterior; see `last_layer_laplace`. The bridge makes
a Gaussian N(μ, Σ) over K logits, whose sum is 0, the Dirichlet with

    α_k = (1 / Σ_kk) (1 − 2/K + e^{μ_k} / K² Σ_l e^{−μ_l}).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, row_chunks
from uqassay.errors import InputError
from uqassay.methods.base import check_choice, check_count
from uqassay.methods.last_layer_laplace import KINDS, LastLayerPosterior
from uqassay.methods.network_classifier import NetworkClassifier
from uqassay.predictions import Dirichlet, Members

__all__ = ["LaplaceBridge", "bridge_to_dirichlet"]

LARGEST_FULL = 1000  # weights of a last layer whose full Hessian takes a fraction of a second
LARGEST_LOG = 600.0  # of α; e^709 overflows
LEAST_LOG = -600.0  # and the least α that a `Dirichlet` takes is e^−690
LEAST_VARIANCE = 1e-12
LEAST_PRECISION = 1e-8  # below, rounding of the prior's variance outgrows the variances that the data leave
GREATEST_PRECISION = 1e20  # a prior of 0; products overflow far above
Array = NDArray[np.float64]


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
    >>> from uqassay.methods import LaplaceBridge
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

    def logit_distribution(self, X: ArrayLike) -> tuple[Array, Array]:
        """Mean ``(n, K)`` and covariance ``(n, K, K)`` of the Gaussian over the logits of each instance.

        The covariance of all logits together; the shift that the softmax does not see is still in it.
        """
        features = self._features(self._prepared(self._checked_inputs(X)))
        return self.posterior_.logits(features)

    def _check_options(self) -> None:
        tau = self.prior_precision
        if tau is not None and not LEAST_PRECISION <= tau <= GREATEST_PRECISION:
            raise InputError(
                "prior_precision",
                f"must lie from {LEAST_PRECISION:g} to {GREATEST_PRECISION:g}",
                f"got {tau!r}",
                "None lets the evidence choose",
                code="range",
            )
        for name, known in OPTIONS.items():
            check_choice(name, getattr(self, name), known)
        check_count("n_samples", self.n_samples)

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

    def _features(self, x: NDArray[np.float32]) -> Array:
        """Inputs of the last layer, with the 1 of its bias, ``(n, d + 1)``."""
        features: Array = self._evaluate(x, lambda network, x, draws: network.features(x))[:, 0]
        return np.column_stack([features, np.ones(len(x))])


OPTIONS = {
    "posterior": KINDS,
    "hessian": ("auto", "full", "kronecker"),
    "bridge": ("capped", "plain", "norm"),
    "output": ("dirichlet", "members"),
}


def bridge_to_dirichlet(mean: ArrayLike, covariance: ArrayLike, *, bridge: str = "capped") -> Array:
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
    >>> from uqassay.methods.laplace_bridge import bridge_to_dirichlet
    >>> bridge_to_dirichlet([[0.0, 0.0, 0.0]], np.eye(3)[None]).round(3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    check_choice("bridge", bridge, OPTIONS["bridge"])
    mu, sigma = as_numeric(mean, "mean", ndim=2), as_numeric(covariance, "covariance", ndim=3)
    n, k = mu.shape
    if sigma.shape != (n, k, k) or k < 2:
        raise InputError(
            "covariance",
            "must be (n, K, K) for means (n, K) with K of at least 2",
            f"got {sigma.shape} and {mu.shape}",
            "align",
            code="shape",
        )
    if not (np.isfinite(mu).all() and np.isfinite(sigma).all()):
        raise InputError(
            "mean and covariance",
            "must hold finite numbers",
            "NaN or infinity found",
            "repair such rows",
            code="finite",
        )
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
    alpha: Array = np.exp(np.maximum(log_alpha, LEAST_LOG))
    return alpha
