"""Means of several models that are linear in a coefficient: their estimates and paired tests at any value of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.comparisons import PairedComparison, PairwiseComparisons, paired_mean_test
from uqassay.statistics.estimate import Estimate, mean_estimate
from uqassay.statistics.multiple_tests import benjamini_hochberg, shaffer
from uqassay.statistics.pair_spreads import PairSample, PairSpreads, satterthwaite
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import Floats, Spread, as_floats, as_runs, check_level, make_units
from uqassay.wording import counted

__all__ = ["MeanLines"]


@final
class MeanLines:
    """Means of one or two columns of several models on the same instances, in combinations t_1 x_1 + t_2 x_2.

    What the tests of all combinations share, such as the moments of the differences, is computed once.

    Parameters
    ----------
    values : dict of str to sequence of array_like, each of shape (n,) or (R_j, n)
        One or two columns of each model, such as the two terms of a loss; (R_j, n) for R_j training runs.
    groups, sample_weight
        As in `paired_mean_test`.

    Raises
    ------
    InputError
        As `paired_mean_test`; also when there is no model, or models differ in their columns.

    Examples
    --------
    >>> lines = MeanLines({"a": ([0.1, 0.4, 0.2, 0.3], [0.0, 0.1, 0.0, 0.3]), "b": ([0.3, 0.5, 0.5, 0.4], [0.0] * 4)})
    >>> [float(lines.tests((1.0, t)).pvalue[0, 1].round(3)) for t in (0.0, 1.0)]
    [0.035, 0.563]
    """

    def __init__(
        self,
        values: Mapping[str, Sequence[ArrayLike]],
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self.names, runs = _models(values)
        self._groups, self._weights = groups, sample_weight
        n = runs[0][0].shape[1]
        self._runs = runs
        self._places = {name: k for k, name in enumerate(self.names)}
        self._with_runs = [any(np.ndim(column) == 2 for column in columns) for columns in values.values()]
        self._units = units = make_units(n, groups, sample_weight)
        kept = [[units.keep(column) for column in columns] for columns in runs]
        # a last model of zeros, whose differences from the others are their means
        self._sample = PairSample([*kept, [np.zeros((1, units.n_instances))] * len(runs[0])], units)

    def values(self, name: str, coefficients: Sequence[float]) -> Floats:
        """The combination of one model's columns, ``(n,)``, or ``(R, n)`` of several runs."""
        columns = self._runs[self._places[name]]
        terms = [t * column for t, column in zip(coefficients, columns, strict=True) if t != 0]
        found = sum(terms[1:], start=terms[0]) if terms else np.zeros_like(columns[0])
        return found if self._with_runs[self._places[name]] else found[0]

    # -- estimates -------------------------------------------------------------------------------------------------------

    def estimates(
        self, coefficients: Sequence[float], names: Sequence[str], *, level: float = 0.95, method: str = "student-t"
    ) -> list[Estimate]:
        """`mean_estimate` of a combination of the columns of several models; not by "bca"."""
        found = self._spreads(coefficients, names, len(self.names))
        estimates = []
        for name in names:
            if name not in found:
                values = self.values(name, coefficients)
                estimates.append(
                    mean_estimate(values, groups=self._groups, sample_weight=self._weights, level=level, method=method)
                )
                continue
            value, spread = found[name]
            low, high = spread.interval(value, level, method)
            n, notes = self._units.n_instances, self._notes([name])
            estimates.append(Estimate(value, low=low, high=high, level=level, n=n, method=method, notes=notes))
        return estimates

    def differences(
        self, coefficients: Sequence[float], names: Sequence[str], other: str, *, level: float = 0.95
    ) -> list[PairedComparison]:
        """`paired_mean_test` of a combination of the columns of several models against another model, by Student's t."""
        found = self._spreads(coefficients, names, self._places[other])
        tests = []
        for name in names:
            if name not in found:
                a, b = (self.values(one, coefficients) for one in (name, other))
                tests.append(paired_mean_test(a, b, groups=self._groups, sample_weight=self._weights, level=level))
                continue
            value, spread = found[name]
            low, high = spread.interval(value, level, "student-t")
            statistic, n, notes = value / spread.standard_error, self._units.n_instances, self._notes([name, other])
            difference = Estimate(value, low=low, high=high, level=level, n=n, method="student-t", notes=notes)
            pvalue = spread.pvalue(statistic)
            tests.append(PairedComparison(difference, statistic, pvalue, "student-t", n, difference.notes))
        return tests

    def _spreads(
        self, coefficients: Sequence[float], names: Sequence[str], other: int
    ) -> dict[str, tuple[float, Spread]]:
        """Differences of models from another one, without those that need a look at their instances."""
        finite = self._sample.finite
        if not finite[other] or self._units.n_units == 1:
            return {}
        tested = [name for name in names if finite[self._places[name]]]
        if not tested:
            return {}
        a = np.array([self._places[name] for name in tested], dtype=np.intp)
        found = self._sample.spreads(coefficients, a, np.full(a.size, other))
        variance = found.variance
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = (found.scale * np.sqrt(variance), found.total_dof, found.third / variance**1.5)
        rows = zip(
            tested, found.regular.tolist(), found.difference.tolist(), *(c.tolist() for c in columns), strict=True
        )
        return {name: (value, Spread(*spread)) for name, regular, value, *spread in rows if regular}

    def _notes(self, names: Sequence[str]) -> list[Note]:
        places = [self._places[name] for name in names]
        several = any(self._with_runs[j] for j in places)
        return unit_notes(self._units, [len(self._runs[j][0]) for j in places] if several else [])

    # -- tests of all pairs ----------------------------------------------------------------------------------------------

    def tests(
        self,
        coefficients: Sequence[float],
        *,
        names: Sequence[str] | None = None,
        level: float = 0.95,
        bound: ArrayLike | None = None,
        extra_error: ArrayLike | None = None,
        references: Sequence[str] = (),
    ) -> PairwiseComparisons:
        """`pairwise_mean_tests` of a combination of the columns.

        Parameters
        ----------
        coefficients : sequence of float
            t, one for each column.
        names : sequence of str, optional
            The models to compare, by default all.
        level, bound, extra_error, references
            As in `pairwise_mean_tests`, of these models.
        """
        check_level(level)
        names = self.names if names is None else tuple(names)
        chosen = np.array([self._places[name] for name in names], dtype=np.intp)
        j, units, sample = len(names), self._units, self._sample
        bounds, errors, pairs = _bounds(bound, j), _errors(extra_error, j), _pairs(names, references)
        counts = [len(self._runs[k][0]) for k in chosen.tolist()]
        notes = unit_notes(units, counts if max(counts) > 1 else [])
        finite = sample.finite[chosen]
        if not finite.all():
            text = f"infinite values of {int((~finite).sum())} of {j} models: no test of them"
            infinite = [name for name, f in zip(names, finite, strict=True) if not f]
            notes.append(Note("no-test", text, {"models": infinite}))
        means = self._means(coefficients, chosen)
        with np.errstate(invalid="ignore"):
            difference = np.subtract.outer(means, means)
        np.fill_diagonal(difference, 0.0)
        low, high, student, of_runs, skew, careful, p_unseen = (np.full((j, j), np.nan) for _ in range(7))
        np.fill_diagonal(low, 0.0)
        np.fill_diagonal(high, 0.0)
        if units.n_units == 1:
            notes.append(single_unit(units, "no interval and no test", "no-test"))
            pairs = pairs[:0]
        a, b = pairs[finite[pairs].all(axis=1)].T
        if a.size:
            spreads = sample.spreads(coefficients, chosen[a], chosen[b])
            found = _tested(spreads, errors[a, b], bounds[a], bounds[b])
            value, reach = spreads.difference, found.reach(level)
            difference[a, b], difference[b, a] = value, -value
            low[a, b], high[a, b], low[b, a], high[b, a] = value - reach, value + reach, -value - reach, reach - value
            pvalues = (found.student, found.student_of_runs, found.hall, found.hall_of_runs, found.unseen)
            for table, p in zip((student, of_runs, skew, careful, p_unseen), pvalues, strict=True):
                table[a, b] = table[b, a] = p
        pvalue = _greatest(of_runs, careful, p_unseen)
        adjusted = shaffer(pvalue)
        with np.errstate(invalid="ignore"):
            lost = (shaffer(student) <= 1 - level) & ~(adjusted <= 1 - level)
            seen = np.where(of_runs > skew, "runs", "skewness")
            limits = np.where(lost, np.where(p_unseen >= np.fmax(of_runs, skew), "unseen", seen), "")
        return PairwiseComparisons(
            names=names,
            values=means,
            difference=difference,
            low=low,
            high=high,
            pvalue=pvalue,
            adjusted=adjusted,
            benjamini_hochberg=benjamini_hochberg(pvalue),  # each pair stands in the table twice, which changes nothing
            level=float(level),
            limited_by=limits,
            references=tuple(references),
            notes=tuple(notes),
        )

    def against(
        self,
        coefficients: Sequence[float],
        one: str,
        others: Sequence[str],
        *,
        bound: Sequence[float] | None = None,
        extra_error: ArrayLike = 0.0,
    ) -> tuple[Floats, Floats]:
        """Means of others minus that of one model, and their p-values as in `tests`, not adjusted, ``(P,)`` each.

        Parameters
        ----------
        coefficients : sequence of float
        one, others : str, sequence of P str
        bound : sequence of 1 + P float, optional
            As in `pairwise_mean_tests`, that of the one model first.
        extra_error : float or array_like (P,)
            Standard errors that another source adds to the differences.
        """
        a, b = np.array([self._places[name] for name in others], dtype=np.intp), self._places[one]
        errors = np.broadcast_to(np.asarray(extra_error, dtype=np.float64), a.shape)
        bounds = _bounds(bound, 1 + a.size)
        with np.errstate(invalid="ignore"):
            difference = self._means(coefficients, a) - self._means(coefficients, np.array([b]))
        pvalue = np.full(a.size, np.nan)
        finite = self._sample.finite[a] & self._sample.finite[b]
        if self._units.n_units > 1 and finite.any():
            spreads = self._sample.spreads(coefficients, a[finite], np.full(int(finite.sum()), b))
            found = _tested(spreads, errors[finite], bounds[1:][finite], np.full(spreads.difference.shape, bounds[0]))
            difference[finite] = spreads.difference
            pvalue[finite] = _greatest(found.student_of_runs, found.hall_of_runs, found.unseen)
        return difference, pvalue

    def _means(self, coefficients: Sequence[float], places: NDArray[np.intp]) -> Floats:
        columns = self._sample.means[places].T
        with np.errstate(invalid="ignore"):
            terms = [t * column for t, column in zip(coefficients, columns, strict=True) if t != 0]
            return np.asarray(sum(terms, start=np.zeros(places.size)))


# -- arguments ----------------------------------------------------------------------------------------------------------


def _models(values: Mapping[str, Sequence[ArrayLike]]) -> tuple[tuple[str, ...], list[list[Floats]]]:
    """Names, and the columns (R_j, n) of each model."""
    names = tuple(str(name) for name in values)
    if len(set(names)) < len(names):
        got = f"got {counted(len(set(names)), 'name')} for {len(names)} models"
        raise InputError("values", "needs a name of its own for each model", got, "rename some", code="duplicate")
    runs = [
        [as_runs(column, f"values[{name!r}]") for column in values[key]]
        for name, key in zip(names, values, strict=True)
    ]
    n, c = runs[0][0].shape[1], len(runs[0])
    for name, columns in zip(names, runs, strict=True):
        for column in columns:
            if column.shape[1] != n:
                raise InputError(
                    f"values[{name!r}]",
                    f"all models need the same {n} instances",
                    f"got {column.shape[1]}",
                    "align them first",
                    code="mismatch",
                )
        if len(columns) != c or len({len(column) for column in columns}) > 1:
            shapes = ", ".join(str(column.shape) for column in columns)
            raise InputError(
                f"values[{name!r}]",
                f"needs {counted(c, 'column')} with the same runs, as the other models have",
                f"got shapes {shapes}",
                "align them first",
                code="mismatch",
            )
    return names, runs


def _bounds(bound: ArrayLike | None, j: int) -> Floats:
    if bound is None:
        return np.zeros(j)
    array = as_floats(bound, "bound", ndim=(0, 1), shape=f"() or ({j},)")
    if array.ndim == 1 and array.shape != (j,):
        raise InputError(
            "bound", f"needs one number, or one for each of {j} models", f"got {array.size}", "pass one", code="shape"
        )
    if (array < 0).any():
        raise InputError("bound", "must not be negative", f"got {array.min()}", "pass the loss's range", code="range")
    return np.broadcast_to(array, j)


def _errors(extra_error: ArrayLike | None, j: int) -> Floats:
    if extra_error is None:
        return np.zeros((j, j))
    array = as_floats(extra_error, "extra_error", ndim=(2,), shape=f"({j}, {j})")
    if array.shape != (j, j):
        raise InputError(
            "extra_error",
            f"needs one number for each pair, shape ({j}, {j})",
            f"got shape {array.shape}",
            "write 0 where nothing is added",
            code="shape",
        )
    if (array < 0).any():
        raise InputError(
            "extra_error", "must not be negative", f"got {array.min()}", "pass standard errors", code="range"
        )
    return array


def _pairs(names: tuple[str, ...], references: Sequence[str]) -> NDArray[np.intp]:
    """The pairs to test, (P, 2)."""
    unknown = [name for name in references if name not in names]
    if unknown:
        raise InputError(
            "references", "must be among the names", f"got {unknown[0]!r}", "choose some of them", code="choice"
        )
    held = np.isin(names, list(references))
    a, b = np.triu_indices(len(names), 1)
    keep = ~(held[a] & held[b])
    return np.stack([a[keep], b[keep]], axis=1)


# -- tests of pairs ------------------------------------------------------------------------------------------------------


class _Tested(NamedTuple):
    """Results of P pairs, (P,) each."""

    error: Floats  # standard errors
    dof: Floats
    student: Floats  # p-values: with Satterthwaite's degrees of freedom, and with fewer for few runs
    student_of_runs: Floats
    hall: Floats
    hall_of_runs: Floats
    unseen: Floats

    def reach(self, level: float) -> Floats:
        """Half the widths of the intervals."""
        dof = self.dof[:1] if (self.dof == self.dof[0]).all() else self.dof
        return np.asarray(special.stdtrit(dof, 0.5 + level / 2) * self.error)


def _tested(s: PairSpreads, extra: Floats, bound_a: Floats, bound_b: Floats) -> _Tested:
    """Tests of pairs, with the standard errors of another source and the greatest excess of either model, (P,) each."""
    dof, value = s.total_dof, s.difference
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = s.variance + (extra / s.scale) ** 2
        skewness = s.third / variance**1.5
        error = s.scale * np.sqrt(variance)
        still = ((error == 0) | (s.equal & ~s.several)) & (extra == 0)
        error = np.where(still, 0.0, error)
        t = np.where(still, np.where(value == 0, 0.0, np.copysign(np.inf, value)), value / error)
    skewness = np.where(still, 0.0, skewness)
    student, hall = _student(t, dof), _hall(t, dof, skewness)
    student_of_runs, hall_of_runs = student, hall
    if s.several.any():
        fewer = np.minimum(dof, satterthwaite(s.inside, s.dof, s.run_limits * s.between, s.run_dofs))
        student_of_runs, hall_of_runs = _student(t, fewer), _hall(t, fewer, skewness)
    unseen = _unseen(value, np.where(value < 0, bound_a, bound_b), s.independent)
    return _Tested(error, dof, student, student_of_runs, hall, hall_of_runs, unseen)


def _greatest(*pvalues: Floats) -> Floats:
    """The greatest of several p-values that is defined."""
    found = pvalues[0]
    for p in pvalues[1:]:
        found = np.fmax(found, p)
    return found


def _student(t: Floats, dof: Floats) -> Floats:
    return np.asarray(2.0 * special.stdtr(dof, -np.abs(t)))


def _hall(t: Floats, dof: Floats, skewness: Floats) -> Floats:
    """Two-sided p-value of Hall's transform g(t) = t + kt²/3 + k²t³/27 + k/6, which is monotone."""
    with np.errstate(invalid="ignore", over="ignore"):
        g = t * (1 + skewness * t / 3 * (1 + skewness * t / 9)) + skewness / 6
    g = np.where(np.isfinite(t), g, t)
    return np.asarray(2.0 * special.stdtr(dof, -np.abs(g)))


def _unseen(difference: Floats, bound: Floats, independent: Floats) -> Floats:
    """Probability (B/(B + |d|))^n that n instances show nothing of what could turn the order around; 0 without a bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.exp(-independent * np.log1p(np.abs(difference) / bound))
    return np.where(bound > 0, np.where(difference == 0, 1.0, p), 0.0)
