"""Decompositions of total uncertainty into aleatoric and epistemic parts, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_numeric, shown
from uqassay.errors import InputError
from uqassay.measures.entropies import Decomposition, entropy_decomposition
from uqassay.measures.gaussian_parts import check_convention, gaussian_logits_decomposition
from uqassay.measures.label_wise import label_wise_decomposition
from uqassay.measures.proper_scores import proper_score_decomposition
from uqassay.measures.variance import variance_decomposition
from uqassay.measures.zero_one import zero_one_decomposition
from uqassay.predictions import (
    Box,
    GaussianLogits,
    Masses,
    Prediction,
    PredictionLike,
    Vertices,
    as_prediction,
    keeps_arrays,
)

__all__ = ["DECOMPOSITIONS", "DecompositionInfo", "decompose", "decomposition_names"]

Array = NDArray[np.float64]
UserDecomposition = Callable[[Prediction], Any]

_PROPER = "Kotelevskii and Panov (2024)"
_SETS = (Box, Masses, Vertices)


@dataclass(frozen=True)
class DecompositionInfo:
    """A named decomposition.

    Attributes
    ----------
    name : str
        In lower case with hyphens.
    compute : callable
        (prediction, convention) → Decomposition.
    unit : str
        "nats", "squared probability", "probability" or "spherical score".
    sentence : str
        Description.
    source : str
        Paper and section or equation.
    needs_logits : bool
        True if only `GaussianLogits` has it; the others need a distribution over distributions.
    """

    name: str
    compute: Callable[[Prediction, str], Decomposition] = field(repr=False)
    unit: str
    sentence: str
    source: str
    needs_logits: bool = False

    def offered_by(self, prediction: Prediction) -> bool:
        """True if this kind of prediction has the decomposition. Nothing is computed."""
        return isinstance(prediction, GaussianLogits) if self.needs_logits else not isinstance(prediction, _SETS)


DECOMPOSITIONS: dict[str, DecompositionInfo] = {
    info.name: info
    for info in (
        DecompositionInfo(
            "information-theoretic",
            lambda p, convention: entropy_decomposition(p),
            "nats",
            "Entropy of the mean prediction, mean entropy of the members, and their difference, the mutual information.",
            "paper 004, appendix A; paper 000, equations 14 to 17",
        ),
        DecompositionInfo(
            "gaussian-logits",
            lambda p, convention: gaussian_logits_decomposition(p, convention=convention),
            "nats",
            "Entropies of the mean softmax of Gaussian logits: of the mean variance stated by the passes (aleatoric), of the "
            "variance of their means (epistemic), and of both (total); not additive.",
            "paper 004, appendix A, equations 2 and 3",
            needs_logits=True,
        ),
        DecompositionInfo(
            "variance",
            lambda p, convention: variance_decomposition(p),
            "squared probability",
            "Variance of the one-hot label, its mean over the members, and the variance of the probabilities among them.",
            "law of total variance",
        ),
        DecompositionInfo(
            "label-wise",
            lambda p, convention: label_wise_decomposition(p),
            "nats",
            "Sum over the classes of the entropy decompositions of one class against the rest.",
            "Sale, Hofman, Wimmer, Hüllermeier and Nagler (2024)",
        ),
        DecompositionInfo(
            "zero-one",
            lambda p, convention: zero_one_decomposition(p),
            "probability",
            "Expected zero-one loss of the mean prediction, its mean over the members, and their difference.",
            "Sale et al. (2024)",
        ),
        DecompositionInfo(
            "brier",
            lambda p, convention: proper_score_decomposition(p, "brier"),
            "squared probability",
            "Decomposition of the Brier score; the same numbers as the variance decomposition.",
            _PROPER,
        ),
        DecompositionInfo(
            "log",
            lambda p, convention: proper_score_decomposition(p, "log"),
            "nats",
            "Decomposition of the logarithmic score; the same numbers as the information-theoretic decomposition.",
            _PROPER,
        ),
        DecompositionInfo(
            "spherical",
            lambda p, convention: proper_score_decomposition(p, "spherical"),
            "spherical score",
            "One minus the Euclidean norm of the mean prediction, its mean over the members, and their difference.",
            _PROPER,
        ),
    )
}


@keeps_arrays("measures.decompose")
def decompose(
    prediction: PredictionLike,
    decomposition: str | UserDecomposition = "information-theoretic",
    *,
    convention: str = "exact",
) -> Decomposition:
    """Total, aleatoric and epistemic uncertainty of each instance, by the name of the decomposition.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
    decomposition : str or callable
        A name of `DECOMPOSITIONS`, or a function that takes the prediction and returns a `Decomposition`, three arrays
        (n,) in the order total, aleatoric, epistemic, or a mapping with the keys "aleatoric" and "epistemic", and possibly
        "total", which is their sum otherwise.
    convention : {"exact", "paper-code"}
        For "gaussian-logits"; the other decompositions are the same in both.

    Raises
    ------
    InputError
        An unknown name; a prediction that does not have the decomposition; a function whose result has another form, or
        holds nan.

    Examples
    --------
    >>> import uqassay as uq
    >>> two = uq.Members([[[1.0, 0.0], [0.0, 1.0]]])
    >>> d = uq.measures.decompose(two)
    >>> d.total.round(4).tolist(), d.aleatoric.round(4).tolist(), d.epistemic.round(4).tolist()
    ([0.6931], [0.0], [0.6931])
    """
    prediction = as_prediction(prediction)
    check_convention(convention)
    if callable(decomposition):
        return _of_user(decomposition(prediction), prediction.n_instances)
    if not isinstance(decomposition, str) or decomposition not in DECOMPOSITIONS:
        raise InputError(
            "decomposition",
            f"must be one of {', '.join(DECOMPOSITIONS)}, or a function",
            f"got {shown(decomposition)}",
            "choose one of them",
            code="choice",
        )
    return DECOMPOSITIONS[decomposition].compute(prediction, convention)


def decomposition_names(prediction: PredictionLike) -> tuple[str, ...]:
    """Names of the decompositions that this kind of prediction has.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.decomposition_names(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))
    ()
    """
    prediction = as_prediction(prediction)
    return tuple(name for name, info in DECOMPOSITIONS.items() if info.offered_by(prediction))


def _of_user(found: Any, n: int) -> Decomposition:
    """The result of a user's function, checked."""
    parts = _named_parts(found)
    checked = {name: _checked(values, name, n) for name, values in parts.items()}
    if "total" not in checked:
        checked["total"] = checked["aleatoric"] + checked["epistemic"]
    return Decomposition(checked["total"], checked["aleatoric"], checked["epistemic"])


def _named_parts(found: Any) -> dict[str, Any]:
    if isinstance(found, Decomposition):
        return {"total": found.total, "aleatoric": found.aleatoric, "epistemic": found.epistemic}
    if isinstance(found, Mapping):
        missing = [name for name in ("aleatoric", "epistemic") if name not in found]
        unknown = [name for name in found if name not in ("total", "aleatoric", "epistemic")]
        if not missing and not unknown:
            return dict(found)
        got = f"got no {missing[0]!r}" if missing else f"got the key {shown(unknown[0])}"
    elif isinstance(found, (tuple, list)) and len(found) == 3:
        return dict(zip(("total", "aleatoric", "epistemic"), found, strict=True))
    else:
        got = f"got {len(found)} values" if isinstance(found, (tuple, list)) else f"got {shown(found)}"
    raise InputError(
        "decomposition",
        "a function must return total, aleatoric and epistemic uncertainty",
        got,
        'return a Decomposition, three arrays, or a mapping with "aleatoric" and "epistemic"',
        code="type",
    )


def _checked(values: Any, name: str, n: int) -> Array:
    array = np.array(as_numeric(values, f"decomposition.{name}"), dtype=np.float64)
    if array.shape != (n,):
        raise InputError(
            f"decomposition.{name}",
            f"must have one number for each instance, ({n},)",
            f"got shape {array.shape}",
            "reduce the other axes in the function",
            code="shape",
        )
    if np.isnan(array).any():
        row = int(np.isnan(array).argmax())
        raise InputError(
            f"decomposition.{name}",
            "must not hold nan",
            f"row {row} is nan",
            "give a number for each instance",
            code="finite",
            facts={"row": row},
        )
    return array
