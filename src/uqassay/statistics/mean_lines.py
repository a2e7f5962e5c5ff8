"""Means of several models that are linear in a coefficient: their estimates and paired tests at any value of it."""

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.comparisons import PairedComparison, PairwiseComparisons, paired_mean_test
from uqassay.statistics.estimate import Estimate, mean_estimate
from uqassay.statistics.multiple_tests import benjamini_hochberg, shaffer
from uqassay.statistics.pair_spreads import PairSample, PairSpreads
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import Floats, Spread, as_floats, as_runs, check_level, make_units
from uqassay.statistics.tested_pairs import greatest, pairs_tested
from uqassay.wording import counted

__all__ = ["MeanLines"]

PAIRS_AT_ONCE = 2**15  # of all combinations: a block of their results stays in the cache


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

    @in_one_order("values", "groups", "sample_weight", axes={"values": -1})
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

    def spreads(self, coefficients: Sequence[float], names: Sequence[str], other: str) -> PairSpreads:
        """Differences of models from another one, of those that can be tested; for use inside this room."""
        places, b = np.array([self._places[name] for name in names], dtype=np.intp), self._places[other]
        tested = places[self.testable(names, other)]
        return self._sample.spreads(coefficients, tested, np.full(tested.size, b))

    def testable(self, names: Sequence[str], other: str) -> NDArray[np.bool_]:
        """Which of several models can be tested against another one."""
        finite = self._sample.finite[[self._places[name] for name in (*names, other)]]
        return finite[:-1] & finite[-1] & (self._units.n_units > 1)

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Numbers of instances, and of groups or None."""
        return self._units.n_instances, None if self._units.codes is None else self._units.n_units

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
        names = self.names if names is None else tuple(names)
        j = len(names)
        options: dict[str, Any] = {"names": names, "level": level, "references": references}
        (found,) = self.tests_at(
            [coefficients], bounds=[_bounds(bound, j)], extra_errors=[_errors(extra_error, j)], **options
        )
        return found

    def tests_at(
        self,
        combinations: Sequence[Sequence[float]],
        *,
        names: Sequence[str],
        level: float,
        bounds: Sequence[Floats],
        extra_errors: Sequence[Floats],
        references: Sequence[str],
    ) -> list[PairwiseComparisons]:
        """`tests` of several combinations, with the bounds (J,) and errors (J, J) of each; those of all pairs at once."""
        check_level(level)
        chosen = np.array([self._places[name] for name in names], dtype=np.intp)
        finite = self._sample.finite[chosen]
        pairs = _pairs(names, references)
        if self._units.n_units == 1:
            pairs = pairs[:0]
        a, b = pairs[finite[pairs].all(axis=1)].T
        found: list[PairwiseComparisons] = []
        step = max(1, PAIRS_AT_ONCE // max(a.size, 1))
        for first in range(0, len(combinations), step):
            several = slice(first, first + step)
            t, bound, error = (np.stack(part[several]) for part in (combinations, bounds, extra_errors))
            columns = np.empty((len(t), 7, 0))
            if a.size:
                spreads = self._sample.spreads(np.repeat(t.T, a.size, axis=1), *np.tile(chosen[[a, b]], len(t)))
                tested = pairs_tested(spreads, error[:, a, b].ravel(), bound[:, a].ravel(), bound[:, b].ravel())
                tables = np.stack([spreads.difference, tested.reach(level), *tested.pvalues])
                columns = tables.reshape(len(tables), len(t), -1).swapaxes(0, 1)
            found += [
                self._comparisons(coefficients, names, chosen, (a, b), of_pairs, level, references)
                for coefficients, of_pairs in zip(t, columns, strict=True)
            ]
        return found

    def _comparisons(
        self,
        coefficients: Floats,
        names: Sequence[str],
        chosen: NDArray[np.intp],
        tested: tuple[NDArray[np.intp], NDArray[np.intp]],
        columns: Floats,
        level: float,
        references: Sequence[str],
    ) -> PairwiseComparisons:
        """Tables of one combination, from the differences, half widths and p-values of the pairs tested, (7, P)."""
        (a, b), (value, reach, *pvalues), j = tested, columns, len(names)
        finite = self._sample.finite[chosen]
        counts = [len(self._runs[k][0]) for k in chosen.tolist()]
        notes = unit_notes(self._units, counts if max(counts) > 1 else [])
        if not finite.all():
            text = f"infinite values of {int((~finite).sum())} of {j} models: no test of them"
            infinite = [name for name, f in zip(names, finite, strict=True) if not f]
            notes.append(Note("no-test", text, {"models": infinite}))
        if self._units.n_units == 1:
            notes.append(single_unit(self._units, "no interval and no test", "no-test"))
        means = self._means(coefficients, chosen)
        with np.errstate(invalid="ignore"):
            difference = np.subtract.outer(means, means)
        np.fill_diagonal(difference, 0.0)
        low, high, student, of_runs, skew, careful, p_unseen = (np.full((j, j), np.nan) for _ in range(7))
        np.fill_diagonal(low, 0.0)
        np.fill_diagonal(high, 0.0)
        difference[a, b], difference[b, a] = value, -value
        low[a, b], high[a, b], low[b, a], high[b, a] = value - reach, value + reach, -value - reach, reach - value
        for table, p in zip((student, of_runs, skew, careful, p_unseen), pvalues, strict=True):
            table[a, b] = table[b, a] = p
        pvalue = greatest(of_runs, careful, p_unseen)
        adjusted = shaffer(pvalue)
        with np.errstate(invalid="ignore"):
            lost = (shaffer(student) <= 1 - level) & ~(adjusted <= 1 - level)
            seen = np.where(of_runs > skew, "runs", "skewness")
            limits = np.where(lost, np.where(p_unseen >= np.fmax(of_runs, skew), "unseen", seen), "")
        return PairwiseComparisons(
            names=tuple(names),
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
        coefficients: ArrayLike,
        one: str,
        others: Sequence[str],
        *,
        bound: ArrayLike | None = None,
        extra_error: ArrayLike = 0.0,
    ) -> tuple[Floats, Floats]:
        """Means of others minus that of one model, and their p-values as in `tests`, not adjusted, ``(..., P)`` each.

        Parameters
        ----------
        coefficients : array_like (..., C)
        one, others : str, sequence of P str
        bound : array_like (..., 1 + P), optional
            As in `pairwise_mean_tests`, that of the one model first.
        extra_error : array_like (..., P)
            Standard errors that another source adds to the differences.
        """
        t = np.asarray(coefficients, dtype=np.float64)
        a, b = np.array([self._places[name] for name in others], dtype=np.intp), self._places[one]
        with np.errstate(invalid="ignore"):
            difference = self._means(t, a) - self._means(t, np.array([b]))
        shape, pvalue = difference.shape, np.full(difference.shape, np.nan)
        errors = np.broadcast_to(np.asarray(extra_error, dtype=np.float64), shape)
        bounds = np.broadcast_to(_bounds(bound, 1 + a.size, (0, 1, 2)), (*shape[:-1], 1 + a.size))
        tested = np.broadcast_to(self._sample.finite[a] & self._sample.finite[b], shape)
        if self._units.n_units > 1 and tested.any():
            places = np.broadcast_to(a, shape)[tested]
            each = np.broadcast_to(t[..., np.newaxis, :], (*shape, t.shape[-1]))[tested].T  # (C, pairs)
            spreads = self._sample.spreads(each, places, np.full(places.size, b))
            of_one = np.broadcast_to(bounds[..., :1], shape)[tested]
            found = pairs_tested(spreads, errors[tested], bounds[..., 1:][tested], of_one)
            difference[tested] = spreads.difference
            pvalue[tested] = greatest(found.student_of_runs, found.hall_of_runs, found.unseen)
        return difference, pvalue

    def _means(self, coefficients: ArrayLike, places: NDArray[np.intp]) -> Floats:
        """Means of the combinations, ``(..., J)``; a column whose coefficient is 0 may be infinite."""
        t = np.asarray(coefficients, dtype=np.float64)[..., np.newaxis]  # (..., C, 1)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(t != 0, t * self._sample.means[places].T, 0.0).sum(axis=-2))


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


def _bounds(bound: ArrayLike | None, j: int, ndim: tuple[int, ...] = (0, 1)) -> Floats:
    """Checked bounds, (J,) or (..., J)."""
    if bound is None:
        return np.zeros(j)
    array = as_floats(bound, "bound", ndim=ndim, shape=f"() or ({j},)")
    if array.ndim and array.shape[-1] != j:
        raise InputError(
            "bound", f"needs one number, or one for each of {j} models", f"got {array.size}", "pass one", code="shape"
        )
    if (array < 0).any():
        raise InputError("bound", "must not be negative", f"got {array.min()}", "pass the loss's range", code="range")
    return np.broadcast_to(array, (*array.shape[:-1], j))


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


def _pairs(names: Sequence[str], references: Sequence[str]) -> NDArray[np.intp]:
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
