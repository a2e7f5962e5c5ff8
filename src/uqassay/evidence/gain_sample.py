"""Gains and estimates of epistemic uncertainty on the test instances of one run (paper 002, section 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import shown
from uqassay.errors import InputError
from uqassay.metrics.gains import GAIN_LOSSES, TrueUncertainty
from uqassay.notes import Note
from uqassay.wording import counted, listed

__all__ = ["TRUE_PARTS", "GainRun", "GainSample"]

Array = NDArray[np.float64]

TRUE_PARTS = ("total", "aleatoric", "epistemic")


@final
@dataclass(frozen=True, eq=False)
class GainSample:
    """n instances: the gain from more data, and the epistemic uncertainty that the model stated before.

    Attributes
    ----------
    gain : dict of str to array (n,)
        By the loss, of `uqassay.metrics.GAIN_LOSSES`: loss before minus loss after more data. Zero-one gains are −1, 0, 1.
    epistemic : dict of str to array (n,)
        Estimates by the name of the score; greater values mean more doubt. Entropies are in nats.
    correct_before, correct_after : bool array (n,)
        Whether the class predicted without and with more data is the label.
    truth : TrueUncertainty, optional
        Total, aleatoric and epistemic uncertainty of the model before, under the zero-one loss, where P(y|x) is known.
    groups : array (n,), optional
        Instances of one group (patient, site, video) may depend on each other; groups are independent.

    Raises
    ------
    InputError
        For lengths that differ, values that are not finite, an unknown loss, no loss, no score, or zero-one gains that
        contradict `correct_before` and `correct_after`.

    Examples
    --------
    >>> sample = GainSample({"zero-one": [0, 1]}, {"entropy": [0.1, 0.6]}, [True, False], [True, True])
    >>> sample.n_instances, sample.accuracy_before, sample.accuracy_after
    (2, 0.5, 1.0)
    """

    gain: Mapping[str, Array]
    epistemic: Mapping[str, Array]
    correct_before: NDArray[np.bool_]
    correct_after: NDArray[np.bool_]
    truth: TrueUncertainty | None = None
    groups: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        before = _truth_values("correct_before", self.correct_before)
        after = _truth_values("correct_after", self.correct_after)
        n = len(before)
        if len(after) != n:
            raise _other_length("correct_after", len(after), n)
        gain = _by_name("gain", self.gain, n)
        for name in gain:
            if name not in GAIN_LOSSES:
                raise InputError(
                    "gain",
                    f"must be of the losses {listed(GAIN_LOSSES, last='or')}",
                    f"got {name!r}",
                    'pass {"zero-one": gains}',
                    code="choice",
                )
        known = after.astype(float) - before
        if "zero-one" in gain and (gain["zero-one"] != known).any():
            at = int(np.flatnonzero(gain["zero-one"] != known)[0])
            raise InputError(
                "gain['zero-one']",
                "must be correct_after − correct_before",
                f"row {at} has {gain['zero-one'][at]:g}, and is {_word(before[at])} before and {_word(after[at])} after",
                "compute both from the same predictions",
                code="mismatch",
            )
        fields = {
            "gain": gain,
            "epistemic": _by_name("epistemic", self.epistemic, n),
            "correct_before": before,
            "correct_after": after,
            "truth": _checked_truth(self.truth, n),
            "groups": _checked_groups(self.groups, n),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    @property
    def n_instances(self) -> int:
        """n."""
        return len(self.correct_before)

    @property
    def accuracy_before(self) -> float:
        """Share of right predictions without more data."""
        return float(self.correct_before.mean())

    @property
    def accuracy_after(self) -> float:
        """Share of right predictions with more data."""
        return float(self.correct_after.mean())


@final
@dataclass(frozen=True, eq=False)
class GainRun:
    """One run: a split of the data, a training with less and one with more of it.

    Attributes
    ----------
    seed : int
    test : GainSample
        Of the test instances.
    calibration : GainSample, optional
        Of the instances that the map of the estimates to gains is fitted on; never the test instances.
    sizes : dict of str to int
        Numbers of instances, such as those of D_train, D_aug and D_test.
    notes : tuple of Note

    Raises
    ------
    InputError
        If the calibration sample lacks a loss or a score of the test sample, or a field has another type.
    """

    seed: int
    test: GainSample
    calibration: GainSample | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral):
            raise InputError(
                "seed", "must be a whole number", f"got {shown(self.seed)}", "give the seed of the run", code="type"
            )
        for name, sample in (("test", self.test), ("calibration", self.calibration)):
            if not isinstance(sample, GainSample) and not (name == "calibration" and sample is None):
                raise InputError(
                    name,
                    "must be a GainSample",
                    f"got {shown(sample)}",
                    "pass GainSample(gain, epistemic, correct_before, correct_after)",
                    code="type",
                )
        if not isinstance(self.sizes, Mapping):
            raise InputError(
                "sizes", "must be a mapping", f"got {shown(self.sizes)}", 'pass {"train": 1000}', code="type"
            )
        for name, size in self.sizes.items():
            if isinstance(size, bool) or not isinstance(size, Integral) or size < 0:
                raise InputError(
                    f"sizes[{name!r}]", "must be a number of instances", f"got {shown(size)}", "count them", code="type"
                )
        if self.calibration is not None:
            _check_same_names(self.test, self.calibration)
        for key, value in {
            "seed": int(self.seed),
            "sizes": {str(name): int(size) for name, size in self.sizes.items()},
            "notes": tuple(self.notes),
        }.items():
            object.__setattr__(self, key, value)


# -- checks -------------------------------------------------------------------------------------------------------------


def _word(correct: Any) -> str:
    return "right" if correct else "wrong"


def _truth_values(name: str, values: Any) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype != bool:
        raise InputError(
            name,
            "must be truth values of shape (n,)",
            f"got shape {array.shape} of {array.dtype}",
            "compare the predicted classes with the labels",
            code="shape",
        )
    return array


def _by_name(parameter: str, values: Any, n: int) -> dict[str, Array]:
    rule = "must be arrays by their names, at least one"
    if not isinstance(values, Mapping):
        raise InputError(parameter, rule, f"got {shown(values)}", "pass a dictionary of arrays", code="type")
    if not values:
        raise InputError(parameter, rule, f"got {shown(values)}", "pass a dictionary of arrays", code="empty")
    return {str(name): _numbers(f"{parameter}[{name!r}]", array, n) for name, array in values.items()}


def _numbers(name: str, values: Any, n: int) -> Array:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise InputError(
            name,
            "must be numbers of shape (n,)",
            f"got shape {array.shape} of {array.dtype}",
            "give one number for each instance",
            code="shape",
        )
    if len(array) != n:
        raise _other_length(name, len(array), n)
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(
            name,
            "must be finite",
            f"{int((~np.isfinite(array)).sum())} of {n} values are not, the first in row {at}",
            "leave out these instances, or mend the estimate",
            code="finite",
        )
    return array


def _other_length(name: str, length: int, n: int) -> InputError:
    return InputError(
        name,
        "must have as many rows as correct_before",
        f"got {counted(length, 'row')}, not {n:,}",
        "give one value for each instance",
        code="mismatch",
    )


def _checked_truth(truth: Any, n: int) -> TrueUncertainty | None:
    if truth is None:
        return None
    if not isinstance(truth, TrueUncertainty):
        raise InputError(
            "truth",
            "must be a TrueUncertainty",
            f"got {shown(truth)}",
            "pass metrics.true_uncertainty(label_probs, predicted)",
            code="type",
        )
    parts = (truth.total, truth.aleatoric, truth.epistemic)
    return TrueUncertainty(*(_numbers(f"truth.{name}", part, n) for name, part in zip(TRUE_PARTS, parts, strict=True)))


def _checked_groups(groups: Any, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.ndim != 1 or len(array) != n:
        raise InputError(
            "groups",
            "must have one label for each instance",
            f"got shape {array.shape} for {counted(n, 'instance')}",
            "give the group of each instance",
            code="shape",
        )
    return array.astype(str) if array.dtype.kind == "O" else array


def _check_same_names(test: GainSample, calibration: GainSample) -> None:
    for name in ("gain", "epistemic"):
        missing = [key for key in getattr(test, name) if key not in getattr(calibration, name)]
        if missing:
            raise InputError(
                f"calibration.{name}",
                "must have the names of the test sample",
                f"it lacks {listed(missing)}",
                "compute the same losses and scores on both",
                code="mismatch",
            )
