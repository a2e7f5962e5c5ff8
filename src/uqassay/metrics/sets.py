"""Sets of classes as decisions: coverage, size and utility."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail, one_of
from uqassay.ids import in_one_order
from uqassay.losses.unified import labels_of
from uqassay.measures.nonspecificities import not_ruled_out
from uqassay.notes import Note
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.predictions.swapped import refuse_swapped
from uqassay.results import Plain
from uqassay.statistics.estimate import Estimate, mean_estimate, proportion_estimate
from uqassay.statistics.units import check_level

__all__ = [
    "CLASS_SET_SCORES",
    "ClassSetScores",
    "class_set_scores",
    "mean_set_size",
    "set_coverage_score",
    "set_utility_score",
]


# Label coverage and size of class sets, determinacy, single and set accuracy, and utility-discounted accuracy.

Bools = NDArray[np.bool_]

UTILITIES: Mapping[str, tuple[float, float]] = MappingProxyType({"u65": (1.6, -0.6), "u80": (2.2, -1.2)})


@final
@dataclass(frozen=True)
class ClassSetScores(Plain):
    """How good the classes are that a prediction does not rule out; each score has its interval."""

    coverage: Estimate  #: share of the instances whose label is not ruled out
    size: Estimate  #: mean number of classes that are not ruled out
    determinacy: Estimate  #: share of the instances with a single class
    single_accuracy: Estimate  #: coverage among the instances with a single class; nan if there is none
    set_accuracy: Estimate  #: coverage among the instances with several classes; nan if there is none
    #: mean utility: 0 if the label is ruled out, otherwise 1.6/s − 0.6/s² and 2.2/s − 1.2/s² for a set of s classes
    u65: Estimate
    u80: Estimate


CLASS_SET_SCORES = tuple(f.name for f in fields(ClassSetScores))


@in_one_order("prediction", "y_true", "groups")
def class_set_scores(
    y_true: ArrayLike,
    prediction: PredictionLike | ArrayLike,
    *,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> ClassSetScores:
    """Coverage, size, determinacy and utility of the classes that are not ruled out.

    Parameters
    ----------
    y_true : int array (n,), class names (n,), or array (n, K)
        Labels, or label distributions, of which the share that is not ruled out counts.
    prediction : Prediction of any kind, array (n, K) or (n, M, K), or bool array (n, K)
        `ClassSets`, or a boolean array, hold the class sets themselves, such as conformal sets; a set may be empty.
    rule : {"interval-dominance", "maximality", "e-admissibility"}
        When a class is ruled out, see `measures.not_ruled_out`. Class sets do not need it.
    groups : array (n,), optional
        As in `mean_estimate`. By default those of the prediction.
    level : float
        Confidence level.

    Notes
    -----
    Shares and utilities have Wilson's interval (`proportion_estimate`), the size that of Student's t (`mean_estimate`).
    docs/evidence-calibration.md has their measured coverage. A decision maker who takes a class of the set at random
    gets the utility 1/s. The utilities u65 and u80 add a price for variance: a set of two that holds the label is worth
    0.65 and 0.8.

    References
    ----------
    Zaffalon, Corani, Mauá (2012), Evaluating credal classifiers by utility-discounted predictive accuracy, Int. J. Approx.
    Reason. 53, sections 4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> sets = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=bool)
    >>> found = class_set_scores([0, 1, 2, 0], sets)
    >>> float(found.coverage), float(found.size), float(found.single_accuracy), round(float(found.u65), 3)
    (0.75, 1.75, 0.5, 0.529)
    """
    covered, size, groups = covered_and_size(y_true, prediction, rule, groups)
    return scores_of_columns(covered, size, groups=groups, level=level)


@in_one_order("prediction", "y_true", "groups")
def set_coverage_score(
    y_true: ArrayLike,
    prediction: PredictionLike | ArrayLike,
    *,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of the instances whose label is not ruled out, with Wilson's interval; parameters as for `class_set_scores`.

    Examples
    --------
    >>> round(float(set_coverage_score([1, 1], [[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.8, 0.2]]])), 3)
    0.5
    """
    covered, _, groups = covered_and_size(y_true, prediction, rule, groups)
    return proportion_estimate(covered, groups=groups, level=level)


@in_one_order("prediction", "groups")
def mean_set_size(
    prediction: PredictionLike | ArrayLike,
    *,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean number of classes that are not ruled out, with Student's interval; parameters as for `class_set_scores`.

    Examples
    --------
    >>> float(mean_set_size([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.8, 0.2]]]))
    1.5
    """
    given = as_prediction(prediction)
    size = not_ruled_out(given, rule=rule).sum(axis=1).astype(np.float64)
    return mean_estimate(size, groups=given.groups if groups is None else groups, level=level).within(0.0)


@in_one_order("prediction", "y_true", "groups")
def set_utility_score(
    y_true: ArrayLike,
    prediction: PredictionLike | ArrayLike,
    *,
    utility: str | Callable[[Floats], ArrayLike] = "u65",
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean utility of class sets as decisions, with an interval.

    Parameters
    ----------
    y_true, prediction, rule, groups, level
        As in `class_set_scores`.
    utility : {"u65", "u80", "discounted"} or callable
        Utility of a set that holds the label: "discounted" is 1/s for s classes. A callable takes the sizes (n,), each at
        least 1, and returns the utilities (n,). A set without the label has the utility 0.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.array([[True, True], [True, True]])
    >>> [round(float(set_utility_score([0, 1], pairs, utility=u)), 3) for u in ("discounted", "u65", "u80")]
    [0.5, 0.65, 0.8]
    """
    covered, size, groups = covered_and_size(y_true, prediction, rule, groups)
    if callable(utility):
        values = np.asarray(utility(np.maximum(size, 1.0)), dtype=np.float64)
        if values.shape != size.shape:
            rule = f"must return one value for each of the {len(size)} sizes"
            fail("utility", rule, f"got shape {values.shape}", "compute it elementwise", code="shape")
        return mean_estimate(covered * values, groups=groups, level=level)
    one_of(utility, "utility", ("discounted", *UTILITIES))
    return proportion_estimate(covered * _worth(size, utility), groups=groups, level=level)


def covered_and_size(
    y_true: ArrayLike, prediction: PredictionLike | ArrayLike, rule: str, groups: ArrayLike | None
) -> tuple[Floats, Floats, ArrayLike | None]:
    """Share of each label that is not ruled out and number of such classes, ``(n,)`` each, and the groups."""
    refuse_swapped(y_true, prediction)
    given = as_prediction(prediction)
    sets = not_ruled_out(given, rule=rule)
    units = given.groups if groups is None else groups
    return share_covered(labels_of(y_true, given), sets), sets.sum(axis=1).astype(np.float64), units


def share_covered(y: NDArray[Any], sets: Bools) -> Floats:
    """Whether each set holds the label; of a label distribution, its probability of the set."""
    if y.ndim == 1:
        return sets[np.arange(len(y)), y].astype(np.float64)
    return np.asarray(np.minimum(np.where(sets, y, 0.0).sum(axis=1), 1.0), dtype=np.float64)


def scores_of_columns(
    covered: Floats,
    size: Floats,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> ClassSetScores:
    """The scores from columns ``(n,)``, or ``(R, n)`` of R training runs."""
    check_level(level)
    single, several = size == 1, size > 1
    sample: dict[str, Any] = {"groups": groups, "sample_weight": sample_weight, "level": level}

    def share(values: Floats) -> Estimate:
        return proportion_estimate(values, **sample)

    return ClassSetScores(
        coverage=share(covered),
        size=mean_estimate(size, **sample).within(0.0),
        determinacy=share(single.astype(np.float64)),
        single_accuracy=_in_part(covered, single, sample, "no case has a single class"),
        set_accuracy=_in_part(covered, several, sample, "no case has several classes"),
        u65=share(covered * _worth(size, "u65")),
        u80=share(covered * _worth(size, "u80")),
    )


def _worth(size: Floats, utility: str) -> Floats:
    """Utility of a set of this size that holds the label."""
    share = 1.0 / np.maximum(size, 1.0)
    if utility == "discounted":
        return share
    a, b = UTILITIES[utility]
    return np.minimum(a * share + b * share**2, 1.0)  # not 1 + 2e-16 for a single class


def _in_part(covered: Floats, mask: Bools, sample: Mapping[str, Any], without: str) -> Estimate:
    """Coverage among the instances of a mask; if runs differ in them, those of all runs are pooled by instance or group."""
    if not mask.any():
        note = Note("undefined", f"undefined, because {without}")
        return Estimate(np.nan, low=np.nan, high=np.nan, level=sample["level"], n=0, method="wilson", notes=[note])
    of_each = {name: None if sample[name] is None else np.asarray(sample[name]) for name in ("groups", "sample_weight")}
    runs, masks = np.atleast_2d(covered), np.atleast_2d(mask)
    if (masks == masks[0]).all():
        rows = np.flatnonzero(masks[0])
        values = runs[:, rows] if len(runs) > 1 else runs[0, rows]
        some = {name: None if each is None else each[rows] for name, each in of_each.items()}
        return proportion_estimate(values, **some, level=sample["level"])
    if of_each["groups"] is None:
        of_each["groups"] = np.arange(masks.shape[1])
    some = {name: None if each is None else np.broadcast_to(each, masks.shape)[masks] for name, each in of_each.items()}
    return proportion_estimate(runs[masks], **some, level=sample["level"])
