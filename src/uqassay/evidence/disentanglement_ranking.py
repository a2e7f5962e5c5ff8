"""Methods with a decomposition ordered by their disentanglement error, and which of them the runs can tell from the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from uqassay._array import shown
from uqassay._json import plain
from uqassay.errors import InputError
from uqassay.evidence.disentanglement_measured import EXPERIMENTS, chosen
from uqassay.evidence.disentanglement_rows import ends
from uqassay.metrics.disentanglement import Curves, Disentanglement
from uqassay.metrics.disentanglement_tests import below_chance_test, paired_disentanglement_test, swap_test
from uqassay.notes import Note
from uqassay.statistics import Estimate, PermutationTest, holm
from uqassay.wording import counted, listed

if TYPE_CHECKING:
    from uqassay.evidence.disentanglement import DisentanglementStudy

__all__ = ["Contender", "RankedContender", "by_dataset", "contenders_of", "rank_disentanglement"]

Array = NDArray[np.float64]
NAN = float("nan")


@final
@dataclass(frozen=True, eq=False)
class Contender:
    """A study and the decomposition by which it is judged, with the name that the reader sees.

    Attributes
    ----------
    label : str
    study : DisentanglementStudy
    decomposition : str
        One of `study.decompositions`.

    Raises
    ------
    InputError
        The study does not have this decomposition; a label without letters.
    """

    label: str
    study: "DisentanglementStudy"
    decomposition: str

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label.strip():
            raise InputError(
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
    """One contender's place among those of its data set.

    Attributes
    ----------
    contender : Contender
    rank : int or None
        1 for the lowest disentanglement error; None where an experiment is missing.
    found : Disentanglement or None
    difference : Estimate or None
        Error minus that of the best one, with its interval; None for the best one and without a rank.
    pvalue, pvalue_adjusted : float
        Two-sided test of that difference; adjusted by Holm over the comparisons, and for the choice of the best one from the
        same runs. nan where there is no test.
    paired : bool or None
        Whether the test pairs runs with the same seeds; Welch's test otherwise.
    notes : tuple of Note
    """

    contender: Contender
    rank: int | None
    found: Disentanglement | None
    difference: Estimate | None
    pvalue: float
    pvalue_adjusted: float
    paired: bool | None
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
                **ends(found.error, "error"),
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
                        **ends(term.correlation, "correlation"),
                        **ends(term.deviation, "deviation"),
                    }
                    for term in found.terms
                ],
            }
        if self.difference is not None:
            values |= {
                **ends(self.difference, "difference"),
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
    """The contenders of each data set, in the order given.

    Raises
    ------
    InputError
        No contenders, or one label twice on one data set.
    """
    if not contenders:
        raise InputError(
            "contenders", "needs at least one contender", "got none", "pass a study and a decomposition", code="empty"
        )
    groups: dict[str, tuple[Contender, ...]] = {}
    for one in contenders:
        if not isinstance(one, Contender):
            raise InputError(
                "contenders",
                "must hold contenders",
                f"got {shown(one)}",
                "pass Contender(label, study, decomposition), or contenders_of(study)",
                code="type",
            )
        group = groups.get(one.study.dataset, ())
        if one.label in [other.label for other in group]:
            raise InputError(
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

    Raises
    ------
    InputError
        No contenders, or one label twice on one data set.

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


def _welch(a: Array, b: Array, level: float) -> _Compared:
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
