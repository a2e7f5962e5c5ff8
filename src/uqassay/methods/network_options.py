"""Checks of the options that all methods with networks share."""

from dataclasses import fields
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from uqassay.errors import InputError
from uqassay.methods.base import check_choice, check_count
from uqassay.methods.devices import check_device
from uqassay.methods.image_batches import AUGMENTATIONS
from uqassay.methods.optimisers import OPTIMISERS
from uqassay.methods.stacking import PARALLEL

__all__ = ["check_network_options"]


def check_network_options(estimator: Any) -> None:
    """Refuse options of a `NetworkClassifier` that are out of range or do not go together."""
    _check_kinds(estimator)
    for name in ("epochs", "batch_size", "patience"):
        check_count(name, getattr(estimator, name))
    if not 0 < estimator.learning_rate < np.inf:
        raise InputError(
            "learning_rate", "must be positive", f"got {estimator.learning_rate!r}", "for example 0.001", code="range"
        )
    if not 0 <= estimator.weight_decay < np.inf:
        raise InputError(
            "weight_decay",
            "must be at least 0",
            f"got {estimator.weight_decay!r}",
            "0 leaves weights alone",
            code="range",
        )
    if not 0 < estimator.validation_fraction < 1:
        raise InputError(
            "validation_fraction",
            "must lie between 0 and 1",
            f"got {estimator.validation_fraction!r}",
            "for example 0.1",
            code="range",
        )
    _check_steps(estimator)
    if estimator.augmentation is not None:
        check_choice("augmentation", estimator.augmentation, AUGMENTATIONS)
    if estimator.image_size is not None:
        check_count("image_size", estimator.image_size)
    check_choice("parallel", estimator.parallel, PARALLEL)
    check_device(estimator.device)


def _check_kinds(estimator: Any) -> None:
    """Refuse values of another type for options that are truth values or numbers: the text "False" would count as true."""
    for option in fields(estimator):
        value = getattr(estimator, option.name)
        if option.type is bool and not isinstance(value, (bool, np.bool_)):
            raise InputError(option.name, "must be True or False", f"got {value!r}", "choose one", code="type")
        optional = option.type == float | None and value is None
        number = isinstance(value, Real) and not isinstance(value, bool)
        if option.type in (float, float | None) and not optional and not number:
            default = "None" if option.default is None else f"{option.default:g}"
            raise InputError(
                option.name, "must be a number", f"got {value!r}", f"the default is {default}", code="type"
            )


def _check_steps(estimator: Any) -> None:
    """Refuse options of the optimiser and of the learning rate that are out of range."""
    check_choice("optimiser", estimator.optimiser, OPTIMISERS)
    if not 0 <= estimator.momentum < 1:
        raise InputError(
            "momentum", "must lie in [0, 1)", f"got {estimator.momentum!r}", "for example 0.9", code="range"
        )
    if estimator.momentum and estimator.optimiser != "sgd":
        raise InputError(
            "momentum",
            'is an option of the optimiser "sgd"',
            f"got {estimator.momentum!r} with {estimator.optimiser!r}",
            'leave it out or choose "sgd"',
            code="conflict",
        )
    drops, rule, remedy = estimator.rate_drops, "must be whole numbers of epochs in rising order", "for example 80, 120"
    if not isinstance(drops, (tuple, list)) or not all(
        isinstance(epoch, (int, np.integer)) and not isinstance(epoch, bool) for epoch in drops
    ):
        raise InputError("rate_drops", rule, f"got {drops!r}", remedy, code="type")
    if any(b <= a for a, b in pairwise((0, *drops))):
        raise InputError("rate_drops", f"{rule}, from 1 up", f"got {drops!r}", remedy, code="range")
