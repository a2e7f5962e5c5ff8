"""Predictions of one method in one experiment of the disentanglement benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, shown
from uqassay.errors import InputError
from uqassay.measures import Decomposition
from uqassay.metrics.disentanglement import Curves
from uqassay.wording import counted, listed

__all__ = ["EXPERIMENTS", "KINDS", "PARTS", "Measured", "chosen"]

EXPERIMENTS = ("dataset-size", "label-noise", "left-out-class")
PARTS = ("total", "aleatoric", "epistemic")
KINDS = PARTS[1:]
ROUNDING = 1e-3  # by which a probability in half precision may leave [0, 1]


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """Predictions of one method in one experiment: R runs × C conditions × n test instances, K classes.

    Attributes
    ----------
    conditions : tuple of C numbers
        Shares of the training instances, shares of permuted labels, or indices of the classes left out.
    labels : int array (R, C, n)
        Of the test instances; label noise permutes them too.
    probs : array (R, C, n, K)
        Mean probabilities.
    parts : dict of str to Decomposition
        By the name of the decomposition; its arrays are (R, C, n).

    Raises
    ------
    InputError
        For shapes that do not fit together, values that are not finite, conditions that are no numbers or occur twice, or no
        decomposition.
    """

    conditions: tuple[float, ...]
    labels: NDArray[np.int64]
    probs: NDArray[Any]
    parts: Mapping[str, Decomposition]

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 3 or labels.size == 0 or labels.dtype.kind not in "iu":
            raise InputError(
                "labels",
                "must be class indices of shape (R, C, n): runs, conditions, test instances",
                f"got shape {labels.shape} of {labels.dtype}",
                "stack the labels of every run and condition",
                code="shape",
            )
        conditions = _different_numbers(self.conditions, labels.shape[1])
        probs = _checked("probs", self.probs, (*labels.shape, -1))
        if probs.min() < -ROUNDING or probs.max() > 1 + ROUNDING:
            raise InputError(
                "probs",
                "must be probabilities",
                f"values from {probs.min():g} to {probs.max():g}",
                "apply a softmax to logits",
                code="not-probabilities",
            )
        if not self.parts:
            raise InputError("parts", "needs at least one decomposition", "got none", "decompose first", code="empty")
        for name, found in self.parts.items():
            if not isinstance(found, Decomposition):
                raise InputError(
                    f"parts[{name!r}]",
                    "must be a Decomposition",
                    f"got {shown(found)}",
                    "pass Decomposition(total, aleatoric, epistemic)",
                    code="type",
                )
        parts = {
            name: Decomposition(
                *(_checked(f"parts[{name!r}].{part}", getattr(found, part), labels.shape) for part in PARTS)
            )
            for name, found in self.parts.items()
        }
        fields = {"conditions": conditions, "labels": labels.astype(np.int64), "probs": probs, "parts": parts}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.labels)

    @property
    def n_instances(self) -> int:
        """n, the number of test instances."""
        return int(self.labels.shape[2])

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.probs.shape[3])

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the most probable class is the label, ``(R, C, n)``."""
        return np.asarray(self.probs.argmax(axis=-1) == self.labels)

    def curves(self, decomposition: str) -> Curves:
        """Accuracy and mean estimates of each run and condition.

        Raises
        ------
        InputError
            The experiment has no such decomposition.
        """
        parts = self.decomposed(decomposition)
        return Curves(
            accuracy=self.correct.mean(axis=-1),
            aleatoric=_means(parts.aleatoric),
            epistemic=_means(parts.epistemic),
            conditions=self.conditions,
        )

    def decomposed(self, decomposition: str) -> Decomposition:
        """Total, aleatoric and epistemic estimates of every test instance by one decomposition.

        Raises
        ------
        InputError
            The experiment has no such decomposition.
        """
        return self.parts[chosen("decomposition", decomposition, tuple(self.parts))]


def _different_numbers(conditions: Any, n: int) -> tuple[float, ...]:
    """The conditions, one for each of n."""
    array = as_numeric(conditions, "conditions", ndim=1)
    if len(array) != n or not np.isfinite(array).all() or len(np.unique(array)) < n:
        raise InputError(
            "conditions",
            "must be different numbers, one for each condition",
            f"got {array.tolist()} for {counted(n, 'condition')}",
            "give one number for each entry of the second axis of labels",
            code="mismatch",
        )
    return tuple(conditions)


def _means(values: NDArray[Any]) -> NDArray[Any]:
    """Means over the instances in the precision given, by which `Curves` knows what is rounding."""
    return np.asarray(
        values.mean(axis=-1, dtype=np.float64).astype(values.dtype if values.dtype.kind == "f" else float)
    )


def _checked(name: str, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Finite numbers of this shape; −1 stands for any length."""
    array = np.asarray(values)
    fits = array.ndim == len(shape) and all(b in (-1, a) for a, b in zip(array.shape, shape, strict=True))
    if not fits or array.dtype.kind not in "fiu":
        raise InputError(
            name,
            f"must be numbers of shape {str(shape).replace('-1', 'K')}, as labels",
            f"got shape {array.shape} of {array.dtype}",
            "stack the values of every run and condition",
            code="shape",
        )
    if not np.isfinite(array).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise InputError(
            name,
            "must be finite",
            f"{int((~np.isfinite(array)).sum())} of {array.size} values are not, the first at index {where}",
            "leave out the run, or mend the estimate",
            code="finite",
        )
    return array


def chosen(parameter: str, name: str, known: tuple[str, ...]) -> str:
    """The name, if it is known.

    Raises
    ------
    InputError
        It is not one of `known`.
    """
    if name not in known:
        raise InputError(
            parameter,
            f"must be {listed(known, last='or')}",
            f"got {name!r}",
            "choose one that is there",
            code="choice",
        )
    return name
