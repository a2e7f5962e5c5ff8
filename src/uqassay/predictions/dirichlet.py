"""Dirichlet: a Dirichlet distribution over class probabilities per instance, as from evidential classifiers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, as_numeric, check_class_count, check_rows, still_whole
from uqassay.errors import InputError
from uqassay.predictions.base import Array
from uqassay.predictions.drawn import Drawn
from uqassay.predictions.pandas_input import take_table
from uqassay.predictions.probabilities import refuse_truth_values, take_probabilities

# float64, because a comparison casts a Python number to the dtype of the array: in float32 these are 0 and inf
LEAST_ALPHA = np.float64(1e-300)  # the logarithm of a draw overflows below
MOST_ALPHA = np.float64(1e300)  # the sum over the classes could overflow above
MOST_LOGIT = 690.0  # exp of it, and of its negative, lie between these
LINKS: Mapping[str, Callable[[Array], Array]] = {
    "softplus+1": lambda z: np.logaddexp(0.0, z) + 1.0,
    "exp": np.exp,
    "relu+1": lambda z: np.maximum(z, 0.0) + 1.0,
}


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(Drawn):
    """Concentrations α of one Dirichlet per instance; the credal set is the hull of draws from it.

    Parameters
    ----------
    alpha : array (n, K)
        Concentrations, all > 0.
    unit_concentration : bool
        Divide α by its sum before drawing, as the authors of the unified evaluation do (paper 000). Their published
        numbers for EDL need it. The mean stays the same, and the draws spread over the simplex.
    n_draws, seed
        Number and seed of the draws that span the set; see `Drawn`.

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.Dirichlet([[8.0, 1.0, 1.0]])
    >>> d.mean_probs().tolist(), d.members().n_members
    ([[0.8, 0.1, 0.1]], 100)
    """

    alpha: NDArray[Any]
    unit_concentration: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        self._take_table("alpha")
        alpha = take_probabilities(self.alpha, "alpha", 2)
        refuse_truth_values(alpha, "alpha", "give concentrations, evidence + 1 for EDL")
        check_class_count(alpha.shape[1], "alpha")
        check_rows(
            alpha,
            "alpha",
            tolerance=0.0,
            unit_sum=False,
            low=LEAST_ALPHA,
            high=MOST_ALPHA,
            remedy="give concentrations, all positive: evidence + 1 for EDL, or counts with a prior",
        )
        self._set("alpha", alpha)
        self._check_draws()
        self._finish(class_axis_of="alpha")

    @classmethod
    def from_logits(cls, logits: ArrayLike, *, link: str = "softplus+1", **metadata: Any) -> "Dirichlet":
        """Concentrations from the outputs z ``(n, K)`` of an evidential network.

        Parameters
        ----------
        logits : array (n, K)
            Outputs of the network before its last function.
        link : {"softplus+1", "exp", "relu+1"}
            α = ln(1 + exp z) + 1, as most evidential networks; α = exp z, as prior networks, whose mean is the softmax;
            α = max(z, 0) + 1, as Sensoy, Kaplan and Kandemir (2018). It is the function that the network was trained with.
        **metadata
            `class_names`, `ids`, `groups` and the other options of `Dirichlet`.

        Raises
        ------
        InputError
            An unknown link, or logits that are not finite.

        Examples
        --------
        >>> import uqassay as uq
        >>> uq.Dirichlet.from_logits([[2.0, -1.0]], link="relu+1").alpha.tolist()
        [[3.0, 1.0]]
        >>> uq.Dirichlet.from_logits([[2.0, -1.0]]).alpha.round(3).tolist()
        [[3.127, 1.313]]
        """
        if not isinstance(link, str) or link not in LINKS:
            raise InputError(
                "link",
                f"must be one of {', '.join(LINKS)}",
                f"got {link!r:.60}",
                "choose the function that the network was trained with",
                code="choice",
            )
        array, class_names, ids = take_table(logits, "logits")
        given = as_numeric(array, "logits", ndim=2)
        refuse_truth_values(given, "logits", "give the outputs of the network")
        check_rows(given, "logits", tolerance=0.0, unit_sum=False, low=-MOST_LOGIT, high=MOST_LOGIT)
        found = cls(LINKS[link](np.asarray(given, dtype=np.float64)), **metadata)
        found._default(class_names=class_names, ids=ids)
        return found

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.alpha.shape[1])

    def mean_probs(self) -> Array:
        """Mean of the Dirichlet, α / Σα, ``(n, K)``."""
        still_whole(self.alpha)
        alpha = np.ascontiguousarray(self.alpha, dtype=np.float64)  # one layout, so sums round alike in every chunk
        return alpha / alpha.sum(axis=1, keepdims=True)

    def sample(self, n: int, rng: RandomState = None) -> Array:
        """Draws from the Dirichlet, ``(n_instances, n, K)``; they depend on the row, not on its place in a slice."""
        still_whole(self.alpha)
        alpha = np.ascontiguousarray(self.alpha, dtype=np.float64)
        if self.unit_concentration:
            alpha = alpha / alpha.sum(axis=1, keepdims=True)

        def one(g: np.random.Generator, i: int, shape: tuple[int, int]) -> Array:
            # Gamma(α) = Gamma(α + 1) · U^(1/α); in logarithms, because draws underflow for small α
            return np.log(g.standard_gamma(alpha[i] + 1.0, shape)) - g.standard_exponential(shape) / alpha[i]

        logs = self._draw(n, rng, one)
        logs -= logs.max(axis=2, keepdims=True)  # normalised as a softmax
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=2, keepdims=True)
        return logs

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("alpha",) if self.drawn is None else ("alpha", "drawn")

    def _one_versus_rest(self, k: int) -> "Dirichlet":
        # aggregation property: summed probabilities are Dirichlet with the summed concentrations
        alpha = np.ascontiguousarray(self.alpha, dtype=np.float64)
        rest = np.compress(np.arange(self.n_classes) != k, alpha, axis=1).sum(axis=1)
        both = np.stack([rest, alpha[:, k]], axis=1)
        settings = {"n_draws": self.n_draws, "seed": self.seed, "unit_concentration": self.unit_concentration}
        return Dirichlet(both, **settings)  # type: ignore[arg-type]
