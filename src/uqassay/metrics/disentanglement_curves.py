"""Curves of accuracy and of aleatoric and epistemic estimates over the conditions of an experiment, and their correlations."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay._array import as_numeric, precision_of, shown
from uqassay.errors import InputError
from uqassay.wording import counted

__all__ = ["Curves", "curve_correlations", "expected_absolute_correlation"]

Array = NDArray[np.float64]

# Relative to the larger of both estimates: a smaller variation is what rounding left of a constant, such as the difference
# of two equal entropies. Otherwise noise of 1e-17 would have a correlation.
_ROUNDING = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-6}
_ROUNDING_FLOAT64 = 1e-12


@final
@dataclass(frozen=True, eq=False)
class Curves:
    """Accuracy and both estimates of one experiment: R runs × C conditions.

    Parameters
    ----------
    accuracy, aleatoric, epistemic : array (R, C), or (C,) for one run
        Means over the test instances. A greater uncertainty means less certain. Any unit: only correlations are used.
    conditions : sequence of C numbers
        Such as shares of the training instances.
    rounding : float, optional
        Relative size of a variation that counts as rounding error, so that the curve is constant. 0 means: by the precision
        of the arrays given, 1e-12 for float64. Below 1.

    Attributes
    ----------
    accuracy, aleatoric, epistemic : float64 array (R, C)
    conditions : tuple of C float

    Raises
    ------
    InputError
        Curves of different shapes, values or conditions that are not finite, a wrong number of conditions.

    Examples
    --------
    >>> curves = Curves([0.5, 0.7, 0.9], [0.3, 0.3, 0.3], [0.6, 0.4, 0.1], conditions=[0.1, 0.5, 1.0])
    >>> curves.n_runs, curves.n_conditions
    (1, 3)
    """

    accuracy: Array
    aleatoric: Array
    epistemic: Array
    conditions: tuple[float, ...]
    rounding: float = 0.0

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("accuracy", "aleatoric", "epistemic")}
        if not isinstance(self.rounding, Real) or not 0 <= self.rounding < 1:
            raise InputError(
                "rounding",
                "must be a number from 0 to below 1",
                f"got {shown(self.rounding)}",
                "leave it out: it follows from the precision of the arrays",
                code="range",
            )
        if not self.rounding:
            rounding = max(_ROUNDING.get(precision_of(values), _ROUNDING_FLOAT64) for values in given.values())
            object.__setattr__(self, "rounding", rounding)
        shape = None
        for name, values in given.items():
            curves = _as_curves(values, name)
            shape = shape or curves.shape
            if curves.shape != shape:
                raise InputError(
                    name,
                    "needs the runs and conditions of accuracy",
                    f"got shape {curves.shape} against {shape}",
                    "pass arrays of the same shape (R, C)",
                    code="mismatch",
                )
            object.__setattr__(self, name, curves)
        conditions = as_numeric(self.conditions, "conditions", ndim=1)
        if len(conditions) != self.n_conditions:
            raise InputError(
                "conditions",
                f"needs one value for each of the {self.n_conditions} conditions",
                f"got {len(conditions)}",
                "pass one number for each column of the curves",
                code="mismatch",
            )
        if not np.isfinite(conditions).all():
            raise InputError(
                "conditions",
                "must be finite",
                f"got {conditions.tolist()}",
                "pass one number for each column of the curves",
                code="finite",
            )
        object.__setattr__(self, "conditions", tuple(float(value) for value in conditions))

    @property
    def n_runs(self) -> int:
        """R."""
        return int(self.accuracy.shape[0])

    @property
    def n_conditions(self) -> int:
        """C."""
        return int(self.accuracy.shape[1])

    @property
    def pooled(self) -> "Curves":
        """The curves averaged over the runs, as one run."""
        names = ("accuracy", "aleatoric", "epistemic")
        return replace(self, **{name: getattr(self, name).mean(axis=0) for name in names})

    @property
    def swapped(self) -> "Curves":
        """The same curves with the names aleatoric and epistemic exchanged."""
        return replace(self, aleatoric=self.epistemic, epistemic=self.aleatoric)


def curve_correlations(dataset_size: Curves, label_noise: Curves) -> tuple[Array, NDArray[np.bool_]]:
    """The four correlations of every run, and whether a constant curve makes them 0, both ``(R, 4)``.

    Raises
    ------
    InputError
        As `disentanglement_error`.
    """
    both = checked(dataset_size, label_noise)
    correlations = [confidence_correlations(*standardised(curves)) for curves in both]
    constant = [np.logical_or(*constant_curves(curves)) for curves in both]
    return np.concatenate(correlations, axis=-1), np.concatenate(constant, axis=-1)


def expected_absolute_correlation(n: int) -> float:
    """Mean |r| of two unrelated series of n values, one of them normal: Γ((n − 1)/2) / (√π Γ(n/2)).

    Raises
    ------
    InputError
        n is below 2.

    Examples
    --------
    >>> [round(expected_absolute_correlation(n), 3) for n in (2, 7, 11)]
    [1.0, 0.34, 0.259]
    """
    if n < 2:
        raise InputError("n", "must be at least 2", f"got {n}", "pass the number of conditions", code="range")
    return float(np.exp(special.gammaln((n - 1) / 2) - special.gammaln(n / 2)) / np.pi**0.5)


# -- shared with the error and the tests -------------------------------------------------------------------------------


def checked(dataset_size: Curves, label_noise: Curves) -> tuple[Curves, Curves]:
    """Both experiments, after their checks. For use inside this room."""
    for name, curves in (("dataset_size", dataset_size), ("label_noise", label_noise)):
        if curves is None:
            raise InputError(
                name,
                "must be given, because the error compares both experiments",
                "it is None",
                "run the experiment, or use the correlations of the other one alone",
                code="missing",
            )
        if not isinstance(curves, Curves):
            raise InputError(
                name,
                "must be curves",
                f"got {shown(curves)}",
                "pass Curves(accuracy, aleatoric, epistemic, conditions)",
                code="type",
            )
        if curves.n_conditions < 2:
            raise InputError(
                name,
                "needs at least two conditions",
                "got 1",
                "a correlation needs a series of conditions",
                code="empty",
            )
    if dataset_size.n_runs != label_noise.n_runs:
        raise InputError(
            "label_noise",
            "needs the runs of dataset_size",
            f"got {counted(label_noise.n_runs, 'run')} against {dataset_size.n_runs}",
            "pass the same runs in the same order",
            code="mismatch",
        )
    return dataset_size, label_noise


def constant_curves(curves: Curves) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the accuracy ``(R, 1)`` and the estimates ``(R, 2)`` are constant up to rounding. For use inside this room."""
    found = []
    for values in _accuracy_and_estimates(curves):
        scale = np.abs(values).max(axis=(-2, -1))[:, np.newaxis]  # (R, 1); of both estimates together
        found.append(np.ptp(values, axis=-1) <= curves.rounding * scale)
    return found[0], found[1]


def standardised(curves: Curves) -> tuple[Array, Array]:
    """Accuracy ``(R, 1, C)`` and confidences ``(R, 2, C)`` of mean 0 and length 1. For use inside this room.

    A constant curve becomes zeros, so that its correlations are 0.
    """
    found = []
    for values, constant in zip(_accuracy_and_estimates(curves), constant_curves(curves), strict=True):
        still = constant[..., np.newaxis]
        centred = values - values.mean(axis=-1, keepdims=True)
        centred /= np.where(
            still, 1.0, np.abs(centred).max(axis=-1, keepdims=True)
        )  # squares of 1e-200 would underflow
        length = np.sqrt((centred * centred).sum(axis=-1, keepdims=True))
        found.append(np.where(still, 0.0, centred / np.where(still, 1.0, length)))
    return found[0], -found[1]


def confidence_correlations(accuracy: Array, confidence: Array) -> Array:
    """Correlations ``(…, 2)`` of standardised accuracy ``(…, 1, C)`` and confidences ``(…, 2, C)``."""
    return np.clip((accuracy * confidence).sum(axis=-1), -1.0, 1.0)


def _accuracy_and_estimates(curves: Curves) -> tuple[Array, Array]:
    return curves.accuracy[:, np.newaxis], np.stack([curves.aleatoric, curves.epistemic], axis=1)


def _as_curves(values: Any, name: str) -> Array:
    array = as_numeric(values, name, ndim=(1, 2))
    curves = np.atleast_2d(array.astype(np.float64))
    if curves.size == 0:
        raise InputError(name, "needs at least one condition", f"got shape {array.shape}", "", code="shape")
    broken = np.argwhere(~np.isfinite(curves))
    if broken.size:
        run, condition = broken[0].tolist()
        raise InputError(
            name,
            "values must be finite",
            f"run {run}, condition {condition} holds {curves[run, condition]}",
            "repair or leave out that run",
            code="finite",
            facts={"run": run, "condition": condition},
        )
    return curves
