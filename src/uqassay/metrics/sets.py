"""Sets of classes as decisions: coverage, of each class and each size too, size and utility; coverage and width of boxes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail, mapping, number, one_of, whole
from uqassay.ids import in_one_order
from uqassay.losses.unified import labels_of
from uqassay.measures.nonspecificities import credal_width, not_ruled_out
from uqassay.notes import Note
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.predictions.swapped import refuse_swapped
from uqassay.results import Plain, spread
from uqassay.statistics.estimate import Estimate, mean_estimate, proportion_estimate
from uqassay.statistics.paired_tests import PairwiseComparisons, pairwise_mean_tests
from uqassay.statistics.units import check_choice, check_inside, check_level, label_codes

__all__ = [
    "CLASS_SET_SCORES",
    "ClassSetCurve",
    "ClassSetScores",
    "CoverageInParts",
    "box_coverage_score",
    "class_set_curve",
    "class_set_scores",
    "coverage_of_parts",
    "mean_credal_width",
    "mean_set_size",
    "set_coverage_in_parts",
    "set_coverage_score",
    "set_utility_score",
    "sizes_as_parts",
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
    options = {name: value for name, value in sample.items() if name in ("level", "method")}
    if not mask.any():
        note, method = Note("undefined", f"undefined, because {without}"), options.get("method", "wilson")
        return Estimate(np.nan, low=np.nan, high=np.nan, level=sample["level"], n=0, method=method, notes=[note])
    of_each: dict[str, Any] = {
        name: None if sample[name] is None else np.asarray(sample[name]) for name in ("groups", "sample_weight")
    }
    runs, masks = np.atleast_2d(covered), np.atleast_2d(mask)
    if (masks == masks[0]).all():
        rows = np.flatnonzero(masks[0])
        values = runs[:, rows] if len(runs) > 1 else runs[0, rows]
        some: dict[str, Any] = {name: None if each is None else each[rows] for name, each in of_each.items()}
        return proportion_estimate(values, **some, **options)
    if of_each["groups"] is None:
        of_each["groups"] = np.arange(masks.shape[1])
    some = {name: None if each is None else np.broadcast_to(each, masks.shape)[masks] for name, each in of_each.items()}
    return proportion_estimate(runs[masks], **some, **options)


# Coverage of every class, of every size of set, or of other parts of the instances, with intervals that hold together.

MOST_SIZES = 8  # different sizes that are parts of their own; of more, sizes above 2 are joined in doubling ranges
Parts = Mapping[Any, Bools]


@final
@dataclass(frozen=True, eq=False)
class CoverageInParts(Plain):
    """Coverage of class sets in parts of the instances, by intervals that hold together."""

    by: str  #: "class", "size" or "part".
    parts: tuple[Any, ...]  #: The classes, or the sizes as (least, most), or the names of the parts.
    #: Coverage in each part; nan where it has no instance. With probability `level` all intervals hold, that of `overall` too.
    coverage: tuple[Estimate, ...]
    overall: Estimate  #: Coverage of all instances.
    target: float | None  #: The coverage that was promised; None: the parts are held against that of all instances.
    #: Mean absolute difference between the coverage of the parts that have instances and the target (Ding et al., 2023). What
    #: the parts differ by chance is in it; the interval holds what all intervals of the parts allow.
    gap: Estimate
    #: What the interval of a part must lie below to be `below`: the target, or the coverage of all instances. With groups,
    #: weights or several runs it is the lower end of that: what a part and all instances rest on can then differ much.
    least: float
    level: float  #: Confidence level of all intervals together.

    @property
    def worst(self) -> int | None:
        """Place of the part with the least coverage; None if no part has an instance."""
        values = np.array([float(one) for one in self.coverage])
        return None if np.isnan(values).all() else int(np.nanargmin(values))

    @property
    def below(self) -> tuple[int, ...]:
        """Places of the parts that are shown to be covered less often than promised, or than all instances."""
        return tuple(k for k, one in enumerate(self.coverage) if one.high < self.least)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each part: its name, number of instances, coverage with interval, and whether it is `below`."""
        below = self.below
        return [
            {"part": part, "n": one.n, **spread("coverage", one), "below": k in below}
            for k, (part, one) in enumerate(zip(self.parts, self.coverage, strict=True))
        ]


@in_one_order("prediction", "y_true", "groups", "by")
def set_coverage_in_parts(
    y_true: ArrayLike,
    prediction: PredictionLike | ArrayLike,
    *,
    by: str | ArrayLike = "class",
    target: float | None = None,
    sizes: Sequence[tuple[int, int]] | None = None,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> CoverageInParts:
    """Coverage of each class, of each size of set, or of given parts, with intervals that hold together.

    Parameters
    ----------
    y_true, prediction, rule, groups
        As in `class_set_scores`. Of label distributions the most probable class is that of the instance.
    by : {"class", "size"} or array (n,)
        What divides the instances: the label, the number of classes in the set, or the part that each belongs to.
    target : float, optional
        The coverage that was promised, such as 0.9; by default parts are held against the coverage of all instances.
    sizes : sequence of (int, int), optional
        Ranges (least, most) of sizes that are one part each, for `by="size"`. By default every size is a part; where there are
        more than 8, sizes above 2 are joined: 3 to 4, 5 to 8, 9 to 16 and so on.
    level : float
        Confidence level of all intervals together.

    Notes
    -----
    The intervals are exact (`proportion_estimate`, groups kept whole) at the level 1 − α/m for m parts, with the interval of
    all instances counted among them where there is no `target` (Bonferroni). A class without instances has no coverage and
    takes no part in the gap. docs/evidence-calibration.md has the measured coverage.

    References
    ----------
    Ding, Angelopoulos, Bates, Jordan, Tibshirani (2023), Class-conditional conformal prediction with many classes, NeurIPS,
    section 3.1 (the gap). Angelopoulos, Bates (2021), A gentle introduction to conformal prediction, section 4.1 (by size).

    Examples
    --------
    >>> import numpy as np
    >>> sets = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=bool)
    >>> found = set_coverage_in_parts([0, 1, 1, 0], sets, target=0.9)
    >>> [float(one) for one in found.coverage], found.worst, round(float(found.gap), 3)
    ([1.0, 0.5, nan], 1, 0.25)
    """
    refuse_swapped(y_true, prediction)
    given = as_prediction(prediction)
    y = labels_of(y_true, given)
    held = not_ruled_out(given, rule=rule)
    covered, size = share_covered(y, held), held.sum(axis=1).astype(np.float64)
    if target is not None:
        check_inside(target, "target", 0.9)
    if sizes is not None and not (isinstance(by, str) and by == "size"):
        fail("sizes", "divides the sizes of sets", f"got by={by!r:.40}", "leave it out", code="conflict")
    if not isinstance(by, str):
        if np.shape(by) != covered.shape:
            rule = f"needs one part for each of the {len(covered)} instances"
            fail("by", rule, f"got shape {np.shape(by)}", 'give an array, "class" or "size"', code="mismatch")
        codes, names = label_codes(by, len(covered), "by"), np.asarray(by).tolist()
        first = np.unique(codes, return_index=True)[1].tolist()
        parts: Parts = {names[i]: codes == k for k, i in enumerate(first)}
    else:
        check_choice(by, "by", ("class", "size"))
        classes = y if y.ndim == 1 else y.argmax(axis=1)
        parts = (
            {k: classes == k for k in range(given.n_classes)} if by == "class" else sizes_as_parts(size, _ranges(sizes))
        )
    units = given.groups if groups is None else groups
    return coverage_of_parts(
        covered, parts, by=by if isinstance(by, str) else "part", target=target, groups=units, level=level
    )


def sizes_as_parts(size: Floats, ranges: Sequence[tuple[int, int]] | None = None) -> dict[tuple[int, int], Bools]:
    """Which sets have each size, by (least, most); sizes ``(n,)`` or ``(R, n)``.

    Examples
    --------
    >>> import numpy as np
    >>> list(sizes_as_parts(np.array([1.0, 3.0, 1.0]))), list(sizes_as_parts(np.arange(1.0, 11.0)))
    ([(1, 1), (3, 3)], [(1, 1), (2, 2), (3, 4), (5, 8), (9, 16)])
    """
    if ranges is None:
        known = np.unique(size).astype(int).tolist()
        ranges = [(k, k) for k in known]
        if len(known) > MOST_SIZES:
            doubling = [(2**j + 1, 2 ** (j + 1)) for j in range(1, known[-1].bit_length())]
            ranges = [one for one in [(0, 0), (1, 1), (2, 2), *doubling] if any(one[0] <= k <= one[1] for k in known)]
    return {(low, high): (size >= low) & (size <= high) for low, high in ranges}


def _ranges(sizes: Any) -> list[tuple[int, int]] | None:
    if sizes is None:
        return None
    try:
        pairs = [(whole(low, "sizes", "", least=0), whole(high, "sizes", "", least=0)) for low, high in sizes]
    except (TypeError, ValueError):  # InputError, too
        pairs = []
    if not pairs or any(low > high for low, high in pairs) or any(a[1] >= b[0] for a, b in pairwise(pairs)):
        remedy = "write [(0, 1), (2, 3), (4, 10)]"
        rule = "must be ranges (least, most) of whole numbers in rising order that do not overlap"
        fail("sizes", rule, f"got {sizes!r:.60}", remedy, code="choice")
    return pairs


def coverage_of_parts(
    covered: Floats,
    parts: Parts,
    *,
    by: str = "part",
    target: float | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_intervals: int | None = None,
) -> CoverageInParts:
    """The coverage from columns ``(n,)``, or ``(R, n)`` of R runs, and the instances of each part, shaped likewise or ``(n,)``.

    `n_intervals` is the number of intervals that are to hold together, by default those of this result.
    """
    check_level(level)
    counted: Any = True if sample_weight is None else np.asarray(sample_weight) > 0
    masks = {name: np.broadcast_to(mask & counted, np.shape(covered)) for name, mask in parts.items()}
    m = n_intervals if n_intervals is not None else max(sum(map(np.any, masks.values())) + (target is None), 1)
    each = 1 - (1 - level) / m
    sample: dict[str, Any] = {"groups": groups, "sample_weight": sample_weight, "level": each, "method": "exact"}
    overall = proportion_estimate(covered, **sample)
    found = tuple(_in_part(covered, mask, sample, "this part has no case") for mask in masks.values())
    alone = groups is None and sample_weight is None and np.ndim(covered) == 1
    least = target if target is not None else float(overall) if alone else overall.low
    gap = _gap(found, overall, target, level)
    return CoverageInParts(by, tuple(masks), found, overall, target, gap, least, level)


def _gap(parts: Sequence[Estimate], overall: Estimate, target: float | None, level: float) -> Estimate:
    """Mean absolute difference of the parts from the target, or from all instances, and what all intervals allow of it."""
    there = [one for one in parts if not np.isnan(one)]
    if not there:
        note = Note("undefined", "undefined, because no part has a case")
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=0, method="exact", notes=[note])
    to, low, high = (target,) * 3 if target is not None else (float(overall), *_ends(overall))
    ends = np.array([_ends(one) for one in there])
    least = np.maximum(0.0, np.maximum(ends[:, 0] - high, low - ends[:, 1]))
    most = np.maximum(ends[:, 1] - low, high - ends[:, 0])
    value = float(np.mean([abs(float(one) - to) for one in there]))
    n = sum(one.n for one in there)
    return Estimate(value, low=least.mean(), high=most.mean(), level=level, n=n, method="exact, all parts together")


def _ends(share: Estimate) -> tuple[float, float]:
    """Ends of the interval; of a single instance or group, whose share is not known, 0 and 1."""
    return (0.0, 1.0) if np.isnan(share.low) else (share.low, share.high)


# Coverage and size of several given sets of one model, such as those of several α.


@final
@dataclass(frozen=True, eq=False)
class ClassSetCurve:
    """Coverage and size of several sets for the same instances; made by `class_set_curve`."""

    names: tuple[Any, ...]  #: As given, such as the α of each.
    scores: tuple[ClassSetScores, ...]
    coverage: PairwiseComparisons  #: Paired tests of the coverage of every two.
    size: PairwiseComparisons  #: Paired tests of the size of every two.

    def rows(self) -> list[dict[str, Any]]:
        """One row for each, with coverage and size and their intervals."""
        return [
            {"sets": name, **spread("coverage", one.coverage), **spread("size", one.size)}
            for name, one in zip(self.names, self.scores, strict=True)
        ]


@in_one_order("predictions", "y_true", "groups")
def class_set_curve(
    y_true: ArrayLike,
    predictions: Mapping[Any, PredictionLike | ArrayLike],
    *,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> ClassSetCurve:
    """Coverage against size of several given sets, such as conformal sets of several α, with all pairs tested.

    Parameters
    ----------
    y_true, rule, groups, level
        As in `class_set_scores`.
    predictions : dict of name to Prediction of any kind, array (n, K) or (n, M, K), or bool array (n, K)
        The sets, by α or another name, for the same instances.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.random.default_rng(0).dirichlet([1, 1, 1], 400)
    >>> y = [np.random.default_rng(i).choice(3, p=row) for i, row in enumerate(p)]
    >>> found = class_set_curve(y, {least: p >= least for least in (0.1, 0.3)})
    >>> [(row["sets"], round(row["coverage"], 2), round(row["size"], 2)) for row in found.rows()]
    [(0.1, 0.98, 2.42), (0.3, 0.77, 1.5)]
    >>> bool(found.size.adjusted[0, 1] < 0.001)
    True
    """
    given = mapping(predictions, "predictions", "write {0.1: sets, 0.2: sets}")
    if not given:
        fail("predictions", "needs sets", "got an empty mapping", "write {0.1: sets, 0.2: sets}", code="empty")
    names = list(map(str, given))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        got, remedy = f"got {twice!r} twice", "give each sets their own name"
        fail("predictions", "names must differ as text", got, remedy, code="duplicate")
    columns = {name: covered_and_size(y_true, sets, rule, groups) for name, sets in given.items()}
    carried = [units for _, _, units in columns.values() if units is not None]
    if any(not np.array_equal(carried[0], units) for units in carried[1:]):
        rule, got = "must be the same for all sets", "got sets that carry different ones"
        fail("groups", rule, got, "pass the groups as groups=", code="conflict")
    units: Any = carried[0] if carried else None
    return ClassSetCurve(
        names=tuple(columns),
        scores=tuple(scores_of_columns(c, s, groups=units, level=level) for c, s, _ in columns.values()),
        coverage=pairwise_mean_tests({str(name): c for name, (c, _, _) in columns.items()}, groups=units, level=level),
        size=pairwise_mean_tests({str(name): s for name, (_, s, _) in columns.items()}, groups=units, level=level),
    )


# Boxes of probabilities: how often they hold the distribution of the label, and how wide they are.

ROUNDING = 1e-6  # by which a share may lie outside: that of float32


@in_one_order("prediction", "y_true", "groups")
def box_coverage_score(
    y_true: ArrayLike,
    prediction: PredictionLike | ArrayLike,
    *,
    tolerance: float = 0.0,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of the instances whose label distribution lies within the lower and upper probabilities, with Wilson's interval.

    Parameters
    ----------
    y_true : array (n, K)
        Label distributions, or numbers of votes, of which the shares count.
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    tolerance : float
        How far each share may lie outside its bounds, a probability; beyond it 1e-6 count as rounding.
    groups, level
        As in `class_set_scores`.

    Notes
    -----
    The box holds the credal set, so its coverage is at least that of the set. Shares of few votes scatter: those of a
    distribution inside the box can lie outside. `calibration.vote_compatibility_test` allows for that.

    References
    ----------
    Hofman, Löhr, Muschalik, Sale, Hüllermeier (2026), Efficient credal prediction through decalibration, ICLR, section 5.1,
    with bounds rounded to 3 decimals in its code.

    Examples
    --------
    >>> import uqassay as uq
    >>> box = uq.Intervals([[0.2, 0.5], [0.2, 0.5]], [[0.5, 0.8], [0.5, 0.8]])
    >>> votes = [[3, 7], [1, 9]]
    >>> float(box_coverage_score(votes, box)), float(box_coverage_score(votes, box, tolerance=0.1))
    (0.5, 1.0)
    """
    number(tolerance, "tolerance", "0.01 is a start", low=0, high=1, ends="[)")
    refuse_swapped(y_true, prediction)
    given = as_prediction(prediction)
    y = labels_of(y_true, given)
    if y.ndim == 1:
        remedy = "use set_coverage_score for labels"
        fail("y_true", "must hold a distribution of the label for each instance", "got labels", remedy, code="type")
    slack = tolerance + ROUNDING
    inside = ((given.lower_probs() - slack <= y) & (y <= given.upper_probs() + slack)).all(axis=1)
    units = given.groups if groups is None else groups
    return proportion_estimate(inside.astype(np.float64), groups=units, level=level)


@in_one_order("prediction", "groups")
def mean_credal_width(
    prediction: PredictionLike | ArrayLike,
    *,
    of: str = "mean",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean width of the probability intervals, from 0 to 1, with Student's interval; `of` as in `measures.credal_width`.

    One minus it is the efficiency of Hofman et al. (2026), section 5.1.

    Examples
    --------
    >>> round(float(mean_credal_width([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.8, 0.2]]])), 3)
    0.15
    """
    given = as_prediction(prediction)
    width = credal_width(given, of=of)
    return mean_estimate(width, groups=given.groups if groups is None else groups, level=level).within(0.0, 1.0)
