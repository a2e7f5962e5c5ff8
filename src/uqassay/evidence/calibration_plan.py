"""How the calibration tests of an assay are made, and by which measures."""

from collections.abc import Sequence
from typing import NamedTuple

from uqassay.calibration.credal_hypothesis import Convention, Null
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure

__all__ = ["CalibrationPlan", "check_measures"]


class CalibrationPlan(NamedTuple):
    """How tests are made.

    Attributes
    ----------
    null, resample, convention
        Of `credal_calibration_test`.
    n_draws : int
        Draws in which the minimum over all mixtures is taken again, and those of the tests of single members.
    n_more : int
        Further draws for the smallest p-values of sets. With 0, p-values come from `n_draws` draws alone, those of single
        distributions too; otherwise these take `point_draws`, and finer p-values where no draw reaches the statistic.
    level : float
        Of the intervals in reliability diagrams.
    seed : int
    members : bool
        Whether single members are tested too.
    """

    null: Null = "minimised"
    resample: bool = False
    convention: Convention = "exact"
    n_draws: int = 99
    n_more: int = 19_900
    level: float = 0.95
    seed: int = 0
    members: bool = True


def check_measures(measures: Sequence[str | CalibrationMeasure], name: str) -> tuple[CalibrationMeasure, ...]:
    """The measures of these names, each once.

    Raises
    ------
    InputError
        A name alone instead of several, or one that there is not.
    """
    if isinstance(measures, str) or not isinstance(measures, Sequence):
        raise InputError(
            name,
            "must be a sequence of names of measures",
            f"got {measures!r}",
            "write ('ece-classwise',), or () for none",
            code="type",
        )
    chosen = {}
    for measure in measures:
        try:
            found = calibration_measure(measure)
        except InputError as problem:
            known = ", ".join(CALIBRATION_MEASURES)
            raise InputError(
                name, f"must be among {known}", f"got {measure!r}", "choose from them, or () for none", code="choice"
            ) from problem
        chosen[found.name] = found
    return tuple(chosen.values())
