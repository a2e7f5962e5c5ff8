"""Labels and predictions that were passed in each other's place."""

from typing import Any

import numpy as np

from uqassay.errors import InputError
from uqassay.predictions.base import Prediction

__all__ = ["refuse_swapped", "swapped_arguments"]


def refuse_swapped(labels: Any, prediction: Any, name: str = "y_true", other: str = "prediction") -> None:
    """Refuse probabilities in place of labels and labels in place of probabilities.

    A prediction has two axes or more. One axis there, and a prediction or two axes in place of the labels, is an exchange.
    """
    single = not isinstance(prediction, Prediction) and _axes(prediction) == 1
    if isinstance(labels, Prediction) or (single and _axes(labels) > 1):
        raise swapped_arguments(name, other)


def swapped_arguments(name: str, other: str) -> InputError:
    """The error for arguments in each other's place."""
    return InputError(
        name,
        f"comes before {other}",
        "the two seem to be swapped",
        f"pass {name} first, then {other}, or name them: {name}=…, {other}=…",
        code="mismatch",
    )


def _axes(values: Any) -> int:
    try:
        return int(values.ndim) if hasattr(values, "ndim") else np.ndim(values)
    except ValueError:  # rows of unequal lengths, which are refused with their own remedy
        return 0
