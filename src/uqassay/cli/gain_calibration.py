"""Checks of the calibration predictions of `gain`: other instances than those of the test, of the same problem."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.wording import counted, listed_names

if TYPE_CHECKING:
    from uqassay.evidence import GainSample
    from uqassay.predictions import Prediction

__all__ = ["check_calibration", "check_calibration_files"]

PARAMETER = "--calibration"
LEAST = 2  # instances; one alone may be equal by chance


def check_calibration_files(files: Sequence[Path], calibration: Sequence[Path]) -> None:
    """Refuse one file for both models, and the files of the test instances.

    Raises
    ------
    InputError
    """
    before, after = (os.path.realpath(path) for path in calibration)
    if before == after:
        raise InputError(
            PARAMETER,
            "must be different files",
            f"{calibration[0]} is given twice",
            "give the predictions without and with more data",
            code="duplicate",
        )
    test = {os.path.realpath(path) for path in files}
    same = [path for path in calibration if os.path.realpath(path) in test]
    if same:
        raise _not_others(f"{same[0]} is also a file of the test instances")


def check_calibration(test: "GainSample", of_test: "Prediction", own: "GainSample", of_own: "Prediction") -> list[Note]:
    """Refuse the test instances themselves and another problem; tell how many instances have the id of a test instance.

    Parameters
    ----------
    test, own : GainSample
        Of the test and of the calibration instances.
    of_test, of_own : Prediction
        Of the model without more data.

    Raises
    ------
    InputError
    """
    if of_own.n_classes != of_test.n_classes:
        raise _other_classes(
            f"must have the {of_test.n_classes} classes of the test predictions", f"got {of_own.n_classes}"
        )
    names, given = (None if one.class_names is None else set(one.class_names) for one in (of_test, of_own))
    if names is not None and given is not None and names != given:
        raise _other_classes(
            "must have the class names of the test predictions", f"got also {listed_names(sorted(given - names))}"
        )
    equal = test.n_instances == own.n_instances >= LEAST and all(
        np.array_equal(values, getattr(own, part).get(name, ()))
        for part in ("gain", "epistemic")
        for name, values in getattr(test, part).items()
    )
    if equal:
        raise _not_others("all gains and estimates are those of the test instances")
    if of_test.ids is None or of_own.ids is None:
        return []
    shared = int(np.isin(of_own.ids, of_test.ids).sum())
    if not shared:
        return []
    said = (
        f"{shared:,} of {counted(own.n_instances, 'calibration instance')} with the id of a test instance, which makes the map "
        "look too good: leave them out"
    )
    return [Note("assumption", said, {"shared": shared, "instances": own.n_instances})]


def _not_others(got: str) -> InputError:
    return InputError(
        PARAMETER,
        "must be of other instances than the test, because a map looks better than it is on its own instances",
        got,
        "give predictions for other instances, or leave it out",
        code="duplicate",
    )


def _other_classes(rule: str, got: str) -> InputError:
    return InputError(
        PARAMETER, rule, got, "give the same models' predictions for instances of the same problem", code="mismatch"
    )
