"""Assumed miscalibrations: the true probabilities as a function of the predicted ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.statistics.samples import is_number

__all__ = ["Miscalibration"]

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Miscalibration:
    """How the true class probabilities differ from the predicted ones.

    Attributes
    ----------
    sentence : str
        The assumption in words.
    truth : callable
        Maps predicted probabilities (n, K) to true ones (n, K).

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.8, 0.1, 0.1]])
    >>> Miscalibration.temperature(2.0).truth(p).round(3).tolist()
    [[0.586, 0.207, 0.207]]
    >>> Miscalibration.label_noise(0.3).truth(p).round(3).tolist()
    [[0.66, 0.17, 0.17]]
    >>> Miscalibration.overconfidence(0.1).truth(p).round(3).tolist()
    [[0.7, 0.15, 0.15]]
    """

    sentence: str
    truth: Callable[[Floats], Floats]

    @classmethod
    def none(cls) -> "Miscalibration":
        """No miscalibration: the power is the type-I error."""
        return cls("the probabilities are true", lambda p: p)

    @classmethod
    def temperature(cls, temperature: float) -> "Miscalibration":
        """The truth is p^(1/T), normalised: the classifier is overconfident if T > 1, underconfident if T < 1."""
        if not (is_number(temperature) and 0 < temperature < np.inf):
            raise InputError(
                "temperature",
                "must be positive and finite",
                f"got {temperature!r}",
                "pass 1 for no miscalibration",
                code="range",
            )

        def truth(p: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                logs = np.log(p) / temperature
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))

        return cls(f"the truth is p^(1/{temperature:g}), normalised", truth)

    @classmethod
    def label_noise(cls, share: float) -> "Miscalibration":
        """A share s of the labels is replaced by a uniformly drawn class: the truth is (1 − s) p + s/K."""
        if not (is_number(share) and 0 <= share <= 1):
            raise InputError(
                "share", "must lie between 0 and 1", f"got {share!r}", "pass 0.05 for 5 % of the labels", code="range"
            )
        return cls(f"{share:.3g} of the labels are drawn evenly", lambda p: (1 - share) * p + share / p.shape[1])

    @classmethod
    def overconfidence(cls, delta: float) -> "Miscalibration":
        """The predicted class is true with probability p − δ, clipped to [0, 1]; the others keep their ratios.

        A negative δ means underconfidence. Other classes that all have probability 0 share the rest equally. Of equally
        probable classes the first is the predicted one.
        """
        if not (is_number(delta) and -1 < delta < 1):
            raise InputError(
                "delta",
                "must lie strictly between -1 and 1",
                f"got {delta!r}",
                "pass 0.05 for a confidence that is 5 points too high",
                code="range",
            )

        def truth(p: Floats) -> Floats:
            rows, top = np.arange(len(p)), p.argmax(axis=1)
            others = p.copy()
            others[rows, top] = 0.0
            rest = others.sum(axis=1, keepdims=True)
            even = np.full_like(p, 1 / (p.shape[1] - 1))
            even[rows, top] = 0.0
            with np.errstate(invalid="ignore", divide="ignore"):
                shares = np.where(rest > 0, others / rest, even)
            new = np.clip(p[rows, top] - delta, 0.0, 1.0)
            shares *= 1 - new[:, np.newaxis]
            shares[rows, top] = new
            return np.asarray(shares)

        word = "less" if delta >= 0 else "more"
        return cls(f"the predicted class is true {abs(delta):.3g} {word} often than said", truth)


def true_probs(alternative: "Miscalibration | Callable[[Floats], Floats]", predicted: Floats) -> tuple[str, Floats]:
    """The assumption in words, and the true probabilities for predicted ones (n, K)."""
    function = alternative.truth if isinstance(alternative, Miscalibration) else alternative
    if not callable(function):
        raise InputError(
            "alternative",
            "must be a Miscalibration or a function of probabilities (n, K)",
            f"got {type(alternative).__name__}",
            "pass Miscalibration.temperature(1.5), say",
            code="type",
        )
    truth = np.asarray(function(predicted), dtype=np.float64)
    if truth.shape != predicted.shape:
        raise InputError(
            "alternative",
            f"must return probabilities of the shape of its input, {predicted.shape}",
            f"got {truth.shape}",
            "return one row for each instance",
            code="shape",
        )
    sums = truth.sum(axis=1)
    bad = ~(np.isfinite(truth).all(axis=1) & (truth >= -1e-9).all(axis=1) & (np.abs(sums - 1) < 1e-6))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            "alternative",
            "must return probabilities that sum to 1",
            f"row {row} is {truth[row].tolist()[:4]} with sum {sums[row]:.6g}",
            "normalise them",
            code="sum",
        )
    truth = np.maximum(truth, 0.0)
    sentence = (
        alternative.sentence if isinstance(alternative, Miscalibration) else getattr(alternative, "__name__", "stated")
    )
    return sentence, truth / truth.sum(axis=1, keepdims=True)
