"""The map γ from an epistemic estimate to the expected gain, cross-fitted."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState, as_numeric, generator
from uqassay.checks import fail, one_of, whole
from uqassay.errors import FileFormatError
from uqassay.files import whole_file
from uqassay.ids import in_one_order
from uqassay.metrics.epistemic_gain import (
    LEAST_GROUPS,
    EpistemicCalibration,
    GainDeviations,
    GainNull,
    calibration_notes,
    checked_edges,
    debiased_square,
    finite_values,
    gain_bins,
    gain_intervals,
    gain_null,
    place_in_intervals,
)
from uqassay.notes import Note
from uqassay.predictions.files import check_exists
from uqassay.records import unpacked
from uqassay.results import plain, read_json
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.units import Units, check_level, make_units
from uqassay.text import counted

__all__ = [
    "CrossFittedMap",
    "EpistemicMap",
    "cross_fitted_map",
]


# Calibration map γ of estimates of epistemic uncertainty: isotonic regression of the mean gain in bins.

MapBins = Literal["paper", "own"]

FORMAT, VERSION = "uqassay-epistemic-map", 1


class _Saved(NamedTuple):
    """What the file of a map holds."""

    bins: MapBins
    n_bins: int
    edges: tuple[float, ...]
    knots: tuple[tuple[float, float], ...]
    n_instances: int
    n_empty: int
    n_outside: int


@final
class EpistemicMap:
    """Map γ from estimates of epistemic uncertainty to the gain that they stand for.

    Parameters
    ----------
    bins : {"paper", "own"}
        "paper": the intervals of `gain_bins` of the evaluation set, which `fit` then needs. "own": those of the calibration
        set itself.
    n_bins : int
        Greatest number of intervals.

    Notes
    -----
    The gain of each calibration point is replaced by the mean gain of its interval, and isotonic regression on the estimate
    gives γ (epistemic gain, section 4.3). The image is constant over the estimates of one interval and linear between
    intervals. Outside the estimates of the calibration set γ keeps its end values. So γ lies between the least and the
    greatest mean gain: for the zero-one loss within [−1, 1]. Negative values are kept: there, more data did harm.

    The paper's formula for the interval of a point is undefined if no interval of the evaluation set holds it; the outer
    intervals are therefore extended here.

    References
    ----------
    Epistemic gain, section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> estimates, gains = np.array([0.1, 0.2, 0.6, 0.7]), np.array([0.0, 0.0, 0.0, 1.0])
    >>> fitted = EpistemicMap(bins="own", n_bins=2).fit(estimates, gains)
    >>> fitted.transform([0.0, 0.15, 0.4, 0.9]).round(3).tolist()
    [0.0, 0.0, 0.25, 0.5]
    """

    edges: Floats  #: (M + 1,): edges of the intervals
    knots: Floats  #: (k, 2): estimates and their images, both rising; γ is linear between them
    n_instances: int  #: size of the calibration set
    n_empty: int  #: intervals without a calibration point, which are left out
    #: calibration points below the first or above the last edge. They belong to the outer intervals, which have no end.
    n_outside: int
    notes: tuple[Note, ...]

    def __init__(self, *, bins: MapBins = "paper", n_bins: int = 20) -> None:
        self.bins, self.n_bins = bins, n_bins

    @in_one_order("epistemic", "gain")
    def fit(self, epistemic: ArrayLike, gain: ArrayLike, *, evaluation: ArrayLike | None = None) -> Self:
        """Learn γ from the calibration set.

        Parameters
        ----------
        epistemic : array (n,)
            Estimates on the calibration set, by the model that was trained without its additional data.
        gain : array (n,)
            Gains on the calibration set.
        evaluation : array (T,), optional
            Estimates on the evaluation set; required for bins="paper" and refused for bins="own".
        """
        from scipy.optimize import isotonic_regression

        one_of(self.bins, "bins", ("paper", "own"))
        e = finite_values(epistemic, "epistemic")
        g = finite_values(gain, "gain", e.size, "epistemic")
        if self.bins == "paper" and evaluation is None:
            remedy = "pass the estimates on the evaluation set"
            fail("evaluation", 'must be given for bins="paper"', "it is None", remedy, code="missing")
        if self.bins == "own" and evaluation is not None:
            remedy = 'leave it out, or take bins="paper"'
            fail("evaluation", 'must not be given for bins="own"', "got estimates", remedy, code="conflict")
        self.edges = gain_bins(e if evaluation is None else finite_values(evaluation, "evaluation"), self.n_bins)
        place, outside = place_in_intervals(e, self.edges)
        count = np.bincount(place, minlength=len(self.edges) - 1)
        held = np.flatnonzero(count)
        mean = np.bincount(place, g, minlength=len(count))[held] / count[held]
        # all points of an interval have one output, so isotonic regression of the points is that of the means
        image = isotonic_regression(mean, weights=count[held].astype(np.float64)).x
        order = np.argsort(e, kind="stable")
        last = np.cumsum(count[held]) - 1
        ends = np.stack(
            [e[order][last - count[held] + 1], e[order][last]], axis=1
        )  # least and greatest estimate of each
        self.knots = _knots(ends, image)
        self.n_instances, self.n_empty, self.n_outside = e.size, len(count) - len(held), int(outside.sum())
        self.notes = self._remarks(len(count))
        return self

    def transform(self, epistemic: ArrayLike) -> Floats:
        """γ of estimates (n,); ±inf have the end values."""
        self._fitted()
        values = as_numeric(epistemic, "epistemic", ndim=1).astype(np.float64)
        if np.isnan(values).any():
            row = int(np.isnan(values).argmax())
            fail("epistemic", "values must not be nan", f"row {row} is nan", "leave out those instances", code="finite")
        return np.asarray(np.interp(values, self.knots[:, 0], self.knots[:, 1]))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, which scikit-learn uses to clone."""
        return {"bins": self.bins, "n_bins": self.n_bins}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor."""
        for name, value in params.items():
            one_of(name, "params", ("bins", "n_bins"))
            setattr(self, name, value)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted map as JSON; an existing file is replaced as a whole."""
        self._fitted()
        facts = {"format": FORMAT, "version": VERSION} | {name: getattr(self, name) for name in _Saved._fields}
        with whole_file(path) as stream:
            stream.write(json.dumps(plain(facts), allow_nan=False).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "EpistemicMap":
        """Read a map that `save` wrote.

        Raises
        ------
        FileFormatError
            A damaged file, or one of another kind or a newer version.
        """
        check_exists(Path(path))
        facts = read_json(path)
        if not isinstance(facts, dict) or (facts.pop("format", None), facts.pop("version", None)) != (FORMAT, VERSION):
            raise _not_a_map(path)
        loaded = cls()
        try:
            for name, value in unpacked(_Saved, facts)._asdict().items():
                setattr(loaded, name, value)
            loaded.edges, loaded.knots = checked_edges(loaded.edges, "edges"), _checked_knots(loaded.knots)
        except ValueError as problem:
            raise _not_a_map(path) from problem
        loaded.notes = loaded._remarks(len(loaded.edges) - 1)
        return loaded

    def __repr__(self) -> str:
        return f"EpistemicMap(bins={self.bins!r}, n_bins={self.n_bins})"

    def _remarks(self, n_intervals: int) -> tuple[Note, ...]:
        notes = []
        if self.n_empty:
            text = f"{self.n_empty} of {counted(n_intervals, 'interval')} hold no calibration point and are left out"
            notes.append(Note("left-out", text, {"empty": self.n_empty, "intervals": n_intervals}))
        if self.n_outside:
            text = (
                f"{self.n_outside} of {counted(self.n_instances, 'calibration point')} lie outside all intervals and count "
                "in the outer ones"
            )
            notes.append(Note("assumption", text, {"outside": self.n_outside}))
        if (self.knots[:, 1] == self.knots[0, 1]).all():
            notes.append(Note("constant-scores", "the map is constant, so it cannot order the instances"))
        return tuple(notes)

    def _fitted(self) -> None:
        if not hasattr(self, "knots"):
            fail("knots", "exists only after fit", "not fitted yet", "call fit(epistemic, gain) first", code="missing")


def _knots(ends: Floats, image: Floats) -> Floats:
    """Ends (M, 2) of the intervals with their images (M,) as the fewest points of the same piecewise linear function."""
    x, y = ends.ravel(), np.repeat(image, 2)
    first = np.append(True, x[1:] != x[:-1])  # an interval with one estimate has one knot
    x, y = x[first], y[first]
    keep = np.ones(x.size, dtype=bool)
    keep[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    return np.stack([x[keep], y[keep]], axis=1)


def _checked_knots(given: Any) -> Floats:
    if not given:
        raise ValueError
    knots = np.array(given, dtype=np.float64)
    rising = (np.diff(knots[:, 0]) > 0).all() and (np.diff(knots[:, 1]) >= 0).all()
    if not (len(knots) and np.isfinite(knots).all() and rising):
        raise ValueError
    return knots


def _not_a_map(path: str | os.PathLike[str]) -> FileFormatError:
    return FileFormatError(
        "path",
        "must be a map that EpistemicMap.save wrote",
        f"{os.fspath(path)} is damaged or of another kind",
        "save the fitted map again",
        code="unreadable",
    )


# Cross-fitted calibration map γ: estimates of each fold are mapped by a map of the other folds.

Places = NDArray[np.intp]

N_DRAWS = 2000
LEAST_INTERVALS = 2  # in a fold
ROUNDING = 1e-12  # relative; a null draw this close to the observed value reaches it


@final
@dataclass(frozen=True, eq=False)
class CrossFittedMap:
    """Estimates (n,) mapped by maps of other instances, and their calibration."""

    mapped: Floats  #: (n,) γ of each estimate, by the map that was fitted without the fold of the instance
    folds: Places  #: (n,): from 0 to K − 1; the instances of a group are in one fold
    gain_map: EpistemicMap  #: of all instances, for later cases
    fold_maps: tuple[EpistemicMap, ...]  #: map k is fitted without fold k
    #: of the mapped estimates. `count`, the means and the intervals are of intervals of the estimates over all folds; `error`,
    #: `debiased` and the test are of the same intervals in each fold by itself.
    calibration: EpistemicCalibration
    #: EECE (gain) of the estimates before the map in the same intervals of each fold: what `calibration.error` compares with
    before: Estimate

    @property
    def n_folds(self) -> int:
        """K."""
        return len(self.fold_maps)


@in_one_order("gain", "epistemic", "groups")
def cross_fitted_map(
    gain: ArrayLike,
    epistemic: ArrayLike,
    *,
    bins: int = 20,
    n_folds: int = 5,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: RandomState = None,
) -> CrossFittedMap:
    """Fit the map γ on all folds but one, map the estimates of the remaining fold, and measure their calibration.

    Parameters
    ----------
    gain : array (n,)
        Gains of `metrics.gain`, under any loss.
    epistemic : array (n,)
        Estimates, in any units.
    bins : int
        Greatest number of intervals M of the maps, as in `EpistemicMap`.
    n_folds : int
        K, at least 2. With fewer instances (groups) there are as many folds as instances (groups).
    groups : array of labels (n,), optional
        Instances of one group may depend on each other; groups are independent and stay whole.
    level : float
        Level of the intervals and of the null band.
    rng : int or numpy Generator, optional
        For the folds and the null draws; None means seed 0.

    Notes
    -----
    **Folds.** The instances are sorted by their estimates, and each K in a row are dealt to the K folds at random. So all folds
    have estimates of the same range; the gains have no part in it. Groups are sorted by their sizes.

    **Error.** EECE of the mapped estimates in each fold by itself, Σ_k Σ_j (n_kj/n) |d_kj|. Over all folds together the
    deviations would cancel: Σ_k n_k (mean gain of fold k − mean gain of the others) = 0 for folds of equal size, so the error
    of any estimates would be near 0. The intervals j of a fold are about M/K runs of intervals of the map, at least two. So a
    fold's interval holds about as many instances as an interval of EECE before the map, and the errors have a similar excess.

    **Null.** The mean gain rises with the estimate, from interval to interval. The maps have errors, which instances of several
    folds share; the null draws therefore repeat the cross-fitting: gains of the map of all instances, with the rates P(+1) and
    P(−1) and the intraclass correlation of `metrics.epistemic_calibration_error`. A small p-value says that no rising map
    calibrates these estimates.

    **Debiased value.** As in `metrics.epistemic_calibration_error`, in the intervals of the folds and for the maps as they were
    fitted. These are calibrated within their errors alone, so its expectation lies above 0.

    Measured error rates and coverages are in docs/evidence-gain.md.

    References
    ----------
    Epistemic gain, section 4.3, where the map comes from other models, which were trained on less data.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> estimates = rng.random(4000)
    >>> gains = (rng.random(4000) < estimates / 4).astype(float)  # estimates that are four times too large
    >>> found = cross_fitted_map(gains, estimates)
    >>> round(found.before, 2), found.calibration.debiased < 0.02, found.calibration.reject()
    (0.37, True, False)
    """
    check_level(level)
    e = finite_values(epistemic, "epistemic")
    g = finite_values(gain, "gain", e.size, "epistemic")
    units = make_units(e.size, groups, None)
    source = generator(rng)
    folds = _folds(e, units, _checked_folds(n_folds, units), source)
    gain_map = EpistemicMap(n_bins=bins).fit(e, g, evaluation=e)
    fold_maps = tuple(_map_of(e, g, folds != k, bins) for k in range(int(folds.max()) + 1))
    mapped = np.empty(e.size)
    for k, one in enumerate(fold_maps):
        mapped[folds == k] = one.transform(e[folds == k])
    cells = _Cells.of(e, folds, gain_map.edges)
    fitted = gain_map.transform(e)
    refit = CrossRefit(e, folds, cells, fitted)
    fine = _null_of_cells(gain_null(g, fitted, cells.interval, units), cells, units)
    deviations = fine.draws(N_DRAWS, source)  # (B, C)
    return CrossFittedMap(
        mapped,
        folds,
        gain_map,
        fold_maps,
        _calibration(g, mapped, cells, units, (deviations, refit.deviations(deviations)), level),
        _error(g, e, cells, units, deviations, level)[0],
    )


# -- folds ------------------------------------------------------------------------------------------------------------


def _checked_folds(n_folds: int, units: Units) -> int:
    whole(n_folds, "n_folds", "pass 5, say", least=2)
    if units.n_units < 2:
        what = "instance" if units.codes is None else "group"
        got = f"got {counted(units.n_units, what)}"
        fail("epistemic", f"must be of at least two {what}s", got, "leave out the map", code="empty")
    return min(int(n_folds), units.n_units)


def _folds(e: Floats, units: Units, n_folds: int, rng: np.random.Generator) -> Places:
    """Fold of each instance: units are sorted, and each K in a row dealt to the K folds at random."""
    keys = e if units.codes is None else -np.bincount(units.codes).astype(np.float64)
    order = np.lexsort((rng.random(len(keys)), keys))
    dealt = rng.permuted(np.tile(np.arange(n_folds), (-(-len(keys) // n_folds), 1)), axis=1).ravel()
    # the last row is cut; the first len(keys) numbers hold every fold, because there are at least as many units as folds
    of_unit = np.empty(len(keys), dtype=np.intp)
    of_unit[order] = dealt[: len(keys)]
    return of_unit if units.codes is None else of_unit[units.codes]


def _map_of(e: Floats, g: Floats, rows: NDArray[np.bool_], bins: int) -> EpistemicMap:
    return EpistemicMap(n_bins=bins).fit(e[rows], g[rows], evaluation=e)


# -- intervals of the folds -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Cells:
    """Intervals of the map in each fold: C fine cells, none of them empty, and runs of them, the J coarse cells."""

    interval: Places  # (n,) of the map, from 0 to M − 1
    fine: Places  # (n,) from 0 to C − 1
    fold_of: Places  # (C,)
    interval_of: Places  # (C,)
    coarse_of: Places  # (C,) from 0 to J − 1
    edges: Floats  # of the coarse intervals
    wide: Places  # (n,) coarse interval

    @classmethod
    def of(cls, e: Floats, folds: Places, edges: Floats) -> "_Cells":
        interval, m, n_folds = place_in_intervals(e, edges)[0], len(edges) - 1, int(folds.max()) + 1
        wide_of = _runs(np.bincount(interval, minlength=m), -(-m // n_folds))
        starts = np.append(np.flatnonzero(np.diff(wide_of, prepend=-1)), m)
        keys, fine = np.unique(folds * m + interval, return_inverse=True)
        fold_of, interval_of = np.divmod(keys, m)
        coarse_of = np.unique(fold_of * m + wide_of[interval_of], return_inverse=True)[1]
        return cls(interval, fine, fold_of, interval_of, coarse_of, edges[starts], wide_of[interval])

    @property
    def coarse(self) -> Places:
        """Coarse cell of each instance, (n,)."""
        return self.coarse_of[self.fine]

    @property
    def count(self) -> Floats:
        """Instances in the fine cells, (C,)."""
        return np.bincount(self.fine).astype(np.float64)

    def merged(self, deviations: Floats) -> Floats:
        """Mean deviations of the coarse cells from those of the fine ones, (B, C) -> (B, J)."""
        n = self.count
        share = np.zeros((len(n), int(self.coarse_of.max()) + 1))
        share[np.arange(len(n)), self.coarse_of] = n
        return np.asarray(deviations @ (share / share.sum(axis=0)))


def _runs(count: Places, wanted: int) -> Places:
    """Run of each interval, (M,): `wanted` runs of about equal counts, and at least two of two intervals."""
    runs = min(max(wanted, LEAST_INTERVALS), len(count))
    middle = np.cumsum(count) - count / 2
    return np.unique(np.floor(middle / count.sum() * runs), return_inverse=True)[1]


# -- null -------------------------------------------------------------------------------------------------------------


def _null_of_cells(null: GainNull, cells: _Cells, units: Units) -> GainNull:
    """The null of the intervals of the map, in their fine cells."""
    at, members = cells.interval_of, None
    if units.codes is not None:
        n = len(at)
        members = (
            np.bincount(units.codes * n + cells.fine, minlength=units.n_units * n).reshape(-1, n).astype(np.float64)
        )
    rates = None if null.rates is None else (null.rates[0][at], null.rates[1][at])
    return replace(
        null,
        count=cells.count,
        rates=rates,
        variance=null.variance[at],
        own_variance=null.own_variance[at],
        together=null.together[np.ix_(at, at)],
        levels=None if null.levels is None else null.levels[at],
        members=members,
    )


class CrossRefit:
    """Repeats the cross-fitting on drawn mean gains of the fine cells.

    The image of a map is linear between the ends of its intervals, and these do not depend on the gains. So the mean mapped
    estimate of a cell is a fixed linear function of the images of the intervals.
    """

    def __init__(self, e: Floats, folds: Places, cells: _Cells, fitted: Floats) -> None:
        self.cells = cells
        self.expected = np.bincount(cells.fine, fitted) / cells.count  # (C,)
        self.weights = [self._weights(e, folds, k) for k in range(int(folds.max()) + 1)]

    def _weights(self, e: Floats, folds: Places, k: int) -> Floats:
        """(cells of fold k, held intervals of the other folds)"""
        own, others = np.flatnonzero(folds == k), folds != k
        order = np.flatnonzero(others)[np.argsort(e[others], kind="stable")]
        held, first = np.unique(self.cells.interval[order], return_index=True)
        last = np.append(first[1:], len(order)) - 1
        x, owner = np.stack([e[order][first], e[order][last]], axis=1).ravel(), np.repeat(np.arange(len(held)), 2)
        new = np.append(True, x[1:] != x[:-1])
        x, owner = x[new], owner[new]
        at = np.interp(e[own], x, np.arange(len(x)))
        low = np.floor(at).astype(np.intp)
        high, part = np.minimum(low + 1, len(x) - 1), at - low
        rows = np.flatnonzero(self.cells.fold_of == k)
        cell = self.cells.fine[own] - rows[0]
        size = len(rows) * len(held)
        sums = np.bincount(cell * len(held) + owner[low], 1 - part, minlength=size)
        sums += np.bincount(cell * len(held) + owner[high], part, minlength=size)
        return np.asarray(sums.reshape(len(rows), len(held)) / self.cells.count[rows][:, None])

    def deviations(self, drawn: Floats) -> Floats:
        """Mean gain − mean mapped estimate of the fine cells, (B, C), where drawn gains deviate (B, C) from a rising mean."""
        cells, n = self.cells, self.cells.count
        gains = self.expected + drawn
        out = np.empty_like(gains)
        for k, weights in enumerate(self.weights):
            own, others = cells.fold_of == k, np.flatnonzero(cells.fold_of != k)
            held, place = np.unique(cells.interval_of[others], return_inverse=True)
            member = np.zeros((len(others), len(held)))
            member[np.arange(len(others)), place] = n[others]
            count = member.sum(axis=0)
            out[:, own] = gains[:, own] - rising_means(gains[:, others] @ (member / count), count) @ weights.T
        return out


def rising_means(means: Floats, count: Floats) -> Floats:
    """Isotonic regression of each row of means (B, M) with common weights (M,): max over i ≤ j, min over l ≥ j of mean(i … l).

    Examples
    --------
    >>> rising_means(np.array([[1.0, 3.0, 2.0, 0.0]]), np.ones(4)).tolist()
    [[1.0, 1.6666666666666667, 1.6666666666666667, 1.6666666666666667]]
    """
    sums, weight = np.cumsum(means.T * count[:, None], axis=0), np.cumsum(count)
    out = np.full(sums.shape, -np.inf)  # (M, B)
    for i in range(len(out)):
        before, below = (sums[i - 1], weight[i - 1]) if i else (0.0, 0.0)
        least = np.full(sums.shape[1], np.inf)
        for j in reversed(range(i, len(out))):
            np.minimum(least, (sums[j] - before) / (weight[j] - below), out=least)
            np.maximum(out[j], least, out=out[j])
    return out.T


# -- calibration ------------------------------------------------------------------------------------------------------


def _error(
    g: Floats, values: Floats, cells: _Cells, units: Units, draws: Floats, level: float, notes: Sequence[Note] = ()
) -> tuple[Estimate, Estimate]:
    """Plug-in and debiased error in the coarse cells."""
    place = cells.coarse
    null = gain_null(g, values, place, units)
    means = np.bincount(place, g - values) / null.count
    return GainDeviations(g - values, means, place, null, units).estimates(
        cells.merged(draws), 1.0, level, tuple(notes)
    )


def _calibration(
    g: Floats, mapped: Floats, cells: _Cells, units: Units, draws: tuple[Floats, Floats], level: float
) -> EpistemicCalibration:
    place = cells.wide
    null = gain_null(g, mapped, place, units)
    count = null.count
    mean_e, mean_g = np.bincount(place, mapped) / count, np.bincount(place, g) / count
    notes = tuple(calibration_notes(g, mean_e, count.astype(np.intp), null, units))
    plug_in, debiased = _error(g, mapped, cells, units, draws[0], level, notes)
    low, high = gain_intervals(g, place, mean_g, null, level)
    told = null.spread >= LEAST_GROUPS
    by_chance = np.abs(cells.merged(draws[1])) @ (np.bincount(cells.coarse) / g.size)
    exceed = int((by_chance >= float(plug_in) * (1 - ROUNDING)).sum())
    band = np.quantile(by_chance, (0.5 - level / 2, 0.5 + level / 2)) if told else (np.nan, np.nan)
    return EpistemicCalibration(
        error=plug_in,
        debiased=debiased,
        debiased_square=debiased_square(g - mapped, cells.coarse, units),
        null_band=(float(band[0]), float(band[1])),
        null_mean=float(by_chance.mean()) if told else np.nan,
        pvalue=(1 + exceed) / (1 + N_DRAWS) if told else np.nan,
        edges=cells.edges,
        count=count.astype(np.intp),
        mean_epistemic=mean_e,
        mean_gain=mean_g,
        gain_low=low,
        gain_high=high,
        n_empty=0,
        binning="cross-fit",
        normalisation="points",
        level=level,
        notes=notes,
    )
