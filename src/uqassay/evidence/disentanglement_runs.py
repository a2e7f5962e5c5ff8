"""Runs of a disentanglement study: what was predicted in each experiment, and methods ranked by their error."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from uqassay.arrays import Floats, as_numeric
from uqassay.checks import fail
from uqassay.measures import Decomposition
from uqassay.metrics.disentanglement import (
    Curves,
    Disentanglement,
    below_chance_test,
    paired_disentanglement_test,
    swap_test,
)
from uqassay.metrics.ood import ood_auc_score
from uqassay.notes import Note
from uqassay.results import as_table, plain, spread
from uqassay.statistics import Estimate, PermutationTest, holm
from uqassay.statistics.components import mean_over_runs
from uqassay.text import counted, listed, shown

if TYPE_CHECKING:
    import pandas as pd

    from uqassay.evidence.disentanglement import DisentanglementStudy

__all__ = [
    "EXPERIMENTS",
    "KINDS",
    "PARTS",
    "STUDY_TABLES",
    "ClassDetection",
    "Contender",
    "Measured",
    "RankedContender",
    "by_dataset",
    "chosen",
    "class_detection",
    "contenders_of",
    "rank_disentanglement",
    "study_rows",
    "study_table",
]


# Predictions of one method in one experiment of the disentanglement benchmark.

EXPERIMENTS = ("dataset-size", "label-noise", "left-out-class")
PARTS = ("total", "aleatoric", "epistemic")
KINDS = PARTS[1:]
ROUNDING = 1e-3  # by which a probability in half precision may leave [0, 1]


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """Predictions of one method in one experiment: R runs × C conditions × n test instances, K classes."""

    #: Shares of the training instances, shares of permuted labels, or indices of the classes left out.
    conditions: tuple[float, ...]
    labels: NDArray[np.int64]  #: (R, C, n): Of the test instances; label noise permutes them too.
    probs: NDArray[Any]  #: (R, C, n, K): Mean probabilities.
    parts: Mapping[str, Decomposition]  #: By the name of the decomposition; its arrays are (R, C, n).

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 3 or labels.size == 0 or labels.dtype.kind not in "iu":
            fail(
                "labels",
                "must be class indices of shape (R, C, n): runs, conditions, test instances",
                f"got shape {labels.shape} of {labels.dtype}",
                "stack the labels of every run and condition",
                code="shape",
            )
        conditions = _different_numbers(self.conditions, labels.shape[1])
        probs = _checked("probs", self.probs, (*labels.shape, -1))
        if probs.min() < -ROUNDING or probs.max() > 1 + ROUNDING:
            fail(
                "probs",
                "must be probabilities",
                f"values from {probs.min():g} to {probs.max():g}",
                "apply a softmax to logits",
                code="not-probabilities",
            )
        if not self.parts:
            fail("parts", "needs at least one decomposition", "got none", "decompose first", code="empty")
        for name, found in self.parts.items():
            if not isinstance(found, Decomposition):
                fail(
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
        """Accuracy and mean estimates of each run and condition."""
        parts = self.decomposed(decomposition)
        return Curves(
            accuracy=self.correct.mean(axis=-1),
            aleatoric=_means(parts.aleatoric),
            epistemic=_means(parts.epistemic),
            conditions=self.conditions,
        )

    def decomposed(self, decomposition: str) -> Decomposition:
        """Total, aleatoric and epistemic estimates of every test instance by one decomposition."""
        return self.parts[chosen("decomposition", decomposition, tuple(self.parts))]


def _different_numbers(conditions: Any, n: int) -> tuple[float, ...]:
    """The conditions, one for each of n."""
    array = as_numeric(conditions, "conditions", ndim=1)
    if len(array) != n or not np.isfinite(array).all() or len(np.unique(array)) < n:
        fail(
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
        fail(
            name,
            f"must be numbers of shape {str(shape).replace('-1', 'K')}, as labels",
            f"got shape {array.shape} of {array.dtype}",
            "stack the values of every run and condition",
            code="shape",
        )
    if not np.isfinite(array).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        fail(
            name,
            "must be finite",
            f"{int((~np.isfinite(array)).sum())} of {array.size} values are not, the first at index {where}",
            "leave out the run, or mend the estimate",
            code="finite",
        )
    return array


def chosen(parameter: str, name: str, known: tuple[str, ...]) -> str:
    """The name, if it is known."""
    if name not in known:
        fail(
            parameter, f"must be {listed(known, last='or')}", f"got {name!r}", "choose one that is there", code="choice"
        )
    return name


# Findings of a disentanglement study as rows of plain values, and rows as tables.

Rows = list[dict[str, Any]]


def _of(study: "DisentanglementStudy", decomposition: str) -> dict[str, Any]:
    return {"method": study.method, "dataset": study.dataset, "decomposition": decomposition}


def _curves(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions:
        for experiment, measured in study.measured.items():
            accuracy = measured.correct.mean(axis=-1)
            parts = measured.decomposed(name)
            means = {part: getattr(parts, part).mean(axis=-1, dtype=float) for part in PARTS}
            rows += [
                {
                    **_of(study, name),
                    "experiment": experiment,
                    "run": r + 1,
                    "seed": study.seeds[r],
                    "condition": condition,
                    "accuracy": float(accuracy[r, c]),
                    **{part: float(values[r, c]) for part, values in means.items()},
                }
                for r in range(study.n_runs)
                for c, condition in enumerate(measured.conditions)
            ]
    return rows


def _has_error(study: "DisentanglementStudy") -> bool:
    return all(name in study.measured for name in EXPERIMENTS[:2])


def _errors(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions if _has_error(study) else ():
        found = study.error(name, level=level)
        rows.append(
            {
                **_of(study, name),
                **spread("estimate", found.error, prefix=""),
                "level": level,
                "runs": study.n_runs,
                "pooled": found.pooled.error,
                "floor": found.floor,
                "chance": found.chance,
                "notes": found.notes,
            }
        )
    return rows


def _terms(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions if _has_error(study) else ():
        found = study.error(name, level=level)
        for term, pooled in zip(found.terms, found.pooled.correlations, strict=True):
            rows.append(
                {
                    **_of(study, name),
                    "experiment": term.experiment,
                    "kind": term.estimate,
                    "ideal": term.ideal,
                    **spread("correlation", term.correlation),
                    **spread("deviation", term.deviation),
                    "level": level,
                    "pooled": float(pooled),
                    "constant_runs": int(term.constant.sum()),
                }
            )
    return rows


def _detection(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions if EXPERIMENTS[2] in study.measured else ():
        found = study.detection(name, level=level)
        for kind in KINDS:
            each = [(study.class_names[k], found.of_class(k, kind)) for k in found.classes]
            for left_out, auc in [*each, (None, getattr(found, f"{kind}_mean"))]:  # None: mean over the classes
                row = {**_of(study, name), "left_out": left_out, "kind": kind}
                rows.append(row | spread("estimate", auc, prefix="") | {"level": level})
    return rows


KEYS = ("method", "dataset", "decomposition")
# name: how its rows are made, and the columns of the table
STUDY_TABLES: Mapping[str, tuple[Callable[["DisentanglementStudy", float], Rows], Sequence[str]]] = MappingProxyType(
    {
        "curves": (_curves, (*KEYS, "experiment", "run", "seed", "condition", "accuracy", *PARTS)),
        "errors": (
            _errors,
            (*KEYS, "estimate", "low", "high", "level", "runs", "pooled", "floor", "chance", "notes"),
        ),
        "terms": (
            _terms,
            (
                *(*KEYS, "experiment", "kind", "ideal"),
                "correlation",
                "correlation_low",
                "correlation_high",
                "deviation",
                "deviation_low",
                "deviation_high",
                "level",
                "pooled",
                "constant_runs",
            ),
        ),
        "detection": (_detection, (*KEYS, "left_out", "kind", "estimate", "low", "high", "level")),
    }
)


def study_rows(study: "DisentanglementStudy", name: str, *, level: float = 0.95) -> Rows:
    """The rows of one finding; see `DisentanglementStudy.rows`."""
    make = STUDY_TABLES[chosen("name", name, tuple(STUDY_TABLES))][0]
    return make(study, level)


def study_table(study: "DisentanglementStudy", name: str, *, level: float = 0.95) -> "pd.DataFrame":
    """The rows of one finding as a table; see `DisentanglementStudy.table`."""
    return as_table(study_rows(study, name, level=level), STUDY_TABLES[name][1])


# How well each estimate tells apart the instances of a class that was left out of the training (disentanglement, section 5).


@final
@dataclass(frozen=True, eq=False)
class ClassDetection:
    """How well each estimate separates the instances of a class left out of the training from those of the others."""

    classes: tuple[int, ...]
    #: aleatoric, epistemic: (R, C): ROC-AUC of each run and class; .5 is no separation. nan for a class without test
    #: instances.
    aleatoric: Floats
    epistemic: Floats
    #: aleatoric_mean, epistemic_mean: Of the mean over the classes, with a t interval over the runs, cut to [0, 1]; a
    #: note says so.
    aleatoric_mean: Estimate
    epistemic_mean: Estimate
    difference: Estimate  #: Mean over the runs of the epistemic minus the aleatoric mean, cut to [−1, 1].
    notes: tuple[Note, ...] = ()

    def of_class(self, index: int, kind: str) -> Estimate:
        """ROC-AUC of one of `classes`, by its class index, with a t interval over the runs.

        Parameters
        ----------
        index : int
            One of `classes`.
        kind : {"aleatoric", "epistemic"}
        """
        values = getattr(self, chosen("kind", kind, KINDS))[:, self.classes.index(index)]
        return _mean(values, self.aleatoric_mean.level)


def class_detection(
    measured: Measured, decomposition: str, class_names: Sequence[str], *, level: float = 0.95
) -> ClassDetection:
    """ROC-AUC of both estimates for the instances of each class that the training did not have.

    Parameters
    ----------
    measured : Measured
        Of the experiment "left-out-class".
    decomposition : str
    class_names : sequence of K str
    level : float
        Confidence level of the intervals.
    """
    parts = measured.decomposed(decomposition)
    classes = tuple(int(k) for k in measured.conditions)
    found = {kind: _class_aucs(measured, getattr(parts, kind), classes) for kind in KINDS}
    undefined = [bool(np.isnan(column).any()) for column in found["epistemic"].T]
    of_run = {kind: _defined_means(auc) for kind, auc in found.items()}
    names = [class_names[k] for k, absent in zip(classes, undefined, strict=True) if absent]
    text = f"no ROC-AUC for {listed(names)}, which have no test instances"
    return ClassDetection(
        classes,
        **found,
        aleatoric_mean=_mean(of_run["aleatoric"], level),
        epistemic_mean=_mean(of_run["epistemic"], level),
        difference=_mean(of_run["epistemic"] - of_run["aleatoric"], level, lowest=-1.0),
        notes=(Note("left-out", text, {"classes": names}),) if names else (),
    )


def _class_aucs(measured: Measured, values: NDArray[Any], classes: Sequence[int]) -> Floats:
    return np.array(
        [
            [_auc(measured.labels[r, c] == k, values[r, c]) for c, k in enumerate(classes)]
            for r in range(measured.n_runs)
        ]
    )


def _auc(is_out: NDArray[np.bool_], uncertainty: NDArray[Any]) -> float:
    return float(ood_auc_score(is_out, uncertainty)) if is_out.any() and not is_out.all() else float("nan")


def _defined_means(values: Floats) -> Floats:
    """Mean of each row over its defined values; nan for a row without any."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=1)
    return np.where(n > 0, np.where(defined, values, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)


def _mean(of_run: Floats, level: float, *, lowest: float = 0.0) -> Estimate:
    """Mean over the runs with a t interval, cut to the possible values; nan where a run is undefined."""
    if np.isnan(of_run).any():
        nan = float("nan")
        note = Note("undefined", "a run without test instances of the classes left out")
        return Estimate(nan, low=nan, high=nan, level=level, n=len(of_run), method="student-t", notes=[note])
    return mean_over_runs(of_run, level=level, bounds=(lowest, 1.0))


# Methods with a decomposition ordered by their disentanglement error, and which of them the runs can tell from the
# best.

NAN = float("nan")


@final
@dataclass(frozen=True, eq=False)
class Contender:
    """A study and the decomposition by which it is judged, with the name that the reader sees."""

    label: str
    study: "DisentanglementStudy"
    decomposition: str  #: One of `study.decompositions`.

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label.strip():
            fail(
                "label",
                "must name the contender",
                f"got {shown(self.label)}",
                "give the text that the reader sees",
                code="empty",
            )
        chosen("decomposition", self.decomposition, self.study.decompositions)

    @property
    def has_error(self) -> bool:
        """Whether both experiments of the disentanglement error were run, each with two conditions at least."""
        measured = self.study.measured
        return all(name in measured and len(measured[name].conditions) > 1 for name in EXPERIMENTS[:2])

    @property
    def has_classes(self) -> bool:
        """Whether classes were left out."""
        return EXPERIMENTS[2] in self.study.measured

    def disentanglement(self, *, level: float = 0.95) -> Disentanglement:
        """The disentanglement error of this study by this decomposition, computed once for each level."""
        if level not in self._errors:
            self._errors[level] = self.study.error(self.decomposition, level=level)
        return self._errors[level]

    @cached_property
    def _errors(self) -> dict[float, Disentanglement]:
        return {}

    @cached_property
    def chance_test(self) -> PermutationTest:
        """Is the error below that of estimates unrelated to the accuracy? See `uqassay.metrics.below_chance_test`."""
        return below_chance_test(*self._curves())

    @cached_property
    def names_test(self) -> PermutationTest:
        """Is the error smaller than with the names aleatoric and epistemic exchanged? See `uqassay.metrics.swap_test`."""
        return swap_test(*self._curves())

    def _curves(self) -> tuple[Curves, Curves]:
        size, noise = (self.study.experiment(name).curves(self.decomposition) for name in EXPERIMENTS[:2])
        return size, noise


@final
@dataclass(frozen=True, eq=False)
class RankedContender:
    """One contender's place among those of its data set."""

    contender: Contender
    rank: int | None  #: 1 for the lowest disentanglement error; None where an experiment is missing.
    found: Disentanglement | None
    #: Error minus that of the best one, with its interval; None for the best one and without a rank.
    difference: Estimate | None
    #: pvalue, pvalue_adjusted: Two-sided test of that difference; adjusted by Holm over the comparisons, and for the
    #: choice of the best one from the same runs. nan where there is no test.
    pvalue: float
    pvalue_adjusted: float
    paired: bool | None  #: Whether the test pairs runs with the same seeds; Welch's test otherwise.
    notes: tuple[Note, ...] = ()

    def told_apart(self, level: float = 0.95) -> bool:
        """Whether the runs tell it from the best one at this level; False for the best one."""
        return bool(self.pvalue_adjusted <= 1 - level)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON: the error, the four terms, the tests."""
        one, found = self.contender, self.found
        values: dict[str, Any] = {
            "label": one.label,
            "method": one.study.method,
            "dataset": one.study.dataset,
            "decomposition": one.decomposition,
            "rank": self.rank,
            "runs": one.study.n_runs,
        }
        if found is not None:
            values |= {
                **spread("error", found.error),
                "level": found.error.level,
                "floor": found.floor,
                "together": found.together,
                "chance": found.chance,
                "pooled": found.pooled.error,
                "pvalue_below_chance": one.chance_test.pvalue,
                "pvalue_names": one.names_test.pvalue,
                "terms": [
                    {
                        "experiment": term.experiment,
                        "kind": term.estimate,
                        "ideal": term.ideal,
                        **spread("correlation", term.correlation),
                        **spread("deviation", term.deviation),
                    }
                    for term in found.terms
                ],
            }
        if self.difference is not None:
            values |= {
                **spread("difference", self.difference),
                "pvalue": self.pvalue,
                "pvalue_adjusted": self.pvalue_adjusted,
                "paired": self.paired,
            }
        values["notes"] = self.notes if found is None else (*self.notes, *found.notes)
        ready: dict[str, Any] = plain(values)
        return ready


def contenders_of(
    study: "DisentanglementStudy", *, decompositions: Sequence[str] | None = None
) -> tuple[Contender, ...]:
    """One contender for each decomposition of a study, named "METHOD, DECOMPOSITION".

    Parameters
    ----------
    study : DisentanglementStudy
    decompositions : sequence of str, optional
        All by default.
    """
    names = study.decompositions if decompositions is None else tuple(decompositions)
    return tuple(Contender(f"{study.method}, {name}", study, name) for name in names)


def by_dataset(contenders: Sequence[Contender]) -> dict[str, tuple[Contender, ...]]:
    """The contenders of each data set, in the order given."""
    if not contenders:
        fail("contenders", "needs at least one contender", "got none", "pass a study and a decomposition", code="empty")
    groups: dict[str, tuple[Contender, ...]] = {}
    for one in contenders:
        if not isinstance(one, Contender):
            fail(
                "contenders",
                "must hold contenders",
                f"got {shown(one)}",
                "pass Contender(label, study, decomposition), or contenders_of(study)",
                code="type",
            )
        group = groups.get(one.study.dataset, ())
        if one.label in [other.label for other in group]:
            fail(
                "contenders",
                f"must have different labels on {one.study.dataset!r}",
                f"got {one.label!r} twice",
                "rename one of them",
                code="duplicate",
            )
        groups[one.study.dataset] = (*group, one)
    return groups


def rank_disentanglement(contenders: Sequence[Contender], *, level: float = 0.95) -> tuple[RankedContender, ...]:
    """Contenders by their disentanglement error, the best first; data sets one after another.

    Parameters
    ----------
    contenders : sequence of Contender
    level : float
        Confidence level of the intervals.

    Returns
    -------
    tuple of RankedContender
        Contenders of one data set are compared with its best one: over the same runs where the seeds agree, by Welch's test
        where they do not.

    Notes
    -----
    The best of J contenders is chosen from the runs on which it is then compared. p-values adjusted by Holm alone would
    claim a false difference in more than 5 % of the rankings of equal contenders, the more the greater J. The adjusted
    p-value is min(1, J/2 · Holm): a union over the J contenders that may come out best, each against rivals in one given
    direction, which is valid under any dependence.
    """
    ranked: list[RankedContender] = []
    for group in by_dataset(contenders).values():
        ranked += _ranked([one for one in group if one.has_error], level)
        ranked += [_without_rank(one) for one in group if not one.has_error]
    return tuple(ranked)


def _ranked(group: Sequence[Contender], level: float) -> list[RankedContender]:
    if not group:
        return []
    found = [one.disentanglement(level=level) for one in group]
    order = sorted(range(len(group)), key=lambda i: float(found[i].error))
    best = order[0]
    tests = [_compared(group[i], found[i], group[best], found[best], level) for i in order[1:]]
    adjusted = holm([test.pvalue for test in tests]).tolist() if tests else []
    rows = [RankedContender(group[best], 1, found[best], None, NAN, NAN, None)]
    for place, (i, test, p) in enumerate(zip(order[1:], tests, adjusted, strict=True), start=2):
        corrected = NAN if np.isnan(p) else min(1.0, p * max(len(group) / 2, 1.0))
        rows.append(
            RankedContender(
                contender=group[i],
                rank=place,
                found=found[i],
                difference=test.difference,
                pvalue=test.pvalue,
                pvalue_adjusted=corrected,
                paired=test.paired,
                notes=test.notes,
            )
        )
    return rows


def _without_rank(one: Contender) -> RankedContender:
    missing = [
        name
        for name in EXPERIMENTS[:2]
        if name not in one.study.measured or len(one.study.measured[name].conditions) < 2
    ]
    text = f"no disentanglement error, because it needs two conditions of {listed(missing)}"
    return RankedContender(one, None, None, None, NAN, NAN, None, (Note("undefined", text, {"missing": missing}),))


@dataclass(frozen=True)
class _Compared:
    difference: Estimate
    pvalue: float
    paired: bool | None
    notes: tuple[Note, ...]


def _compared(
    one: Contender, mine: Disentanglement, best: Contender, other: Disentanglement, level: float
) -> _Compared:
    """Error of one contender minus that of the best one."""
    value = float(mine.error) - float(other.error)
    if mine.conditions != other.conditions:
        note = Note("no-test", f"not compared, because {best.label} has other conditions: run both on the same ones")
        return _Compared(_without_interval(value, level, one.study.n_runs, note), NAN, None, (note,))
    if set(one.study.seeds) == set(best.study.seeds):
        places = [one.study.seeds.index(seed) for seed in best.study.seeds]
        test = paired_disentanglement_test(mine.per_run[places], other.per_run, level=level)
        return _Compared(test.difference, test.pvalue, True, test.notes)
    return _welch(mine.per_run, other.per_run, level)


def _welch(a: Floats, b: Floats, level: float) -> _Compared:
    note = Note("method", f"other seeds than the best one: Welch's test of {len(a)} against {counted(len(b), 'run')}")
    value = float(a.mean() - b.mean())
    spread = max(np.ptp(a), np.ptp(b))
    if min(len(a), len(b)) < 2 or spread == 0:
        why = "a single run" if min(len(a), len(b)) < 2 else "all runs have the same error"
        absent = Note("no-test", f"{why}: no test")
        return _Compared(_without_interval(value, level, len(a), absent), NAN, False, (note, absent))
    variances = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    error = float(np.sqrt(sum(variances)))
    dof = sum(variances) ** 2 / (variances[0] ** 2 / (len(a) - 1) + variances[1] ** 2 / (len(b) - 1))  # Satterthwaite
    half = float(stdtrit(dof, 0.5 + level / 2)) * error
    difference = Estimate(
        value, low=value - half, high=value + half, level=level, n=len(a) + len(b), method="welch-t over runs"
    )
    return _Compared(difference, float(2 * stdtr(dof, -abs(value) / error)), False, (note,))


def _without_interval(value: float, level: float, n: int, note: Note) -> Estimate:
    return Estimate(value, low=NAN, high=NAN, level=level, n=n, method="none", notes=[note])
