"""Calibration map γ of estimates of epistemic uncertainty: isotonic regression of the mean gain in bins."""

import json
import os
from pathlib import Path
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay._files import whole_file
from uqassay._json import entry_of, plain, read_json
from uqassay.errors import FileFormatError, InputError
from uqassay.metrics.estimate_intervals import checked_edges, finite_values, gain_bins, place_in_intervals
from uqassay.notes import Note
from uqassay.predictions.file_opening import check_exists
from uqassay.statistics.samples import check_choice
from uqassay.wording import counted

__all__ = ["EpistemicMap", "MapBins"]

Floats = NDArray[np.float64]
MapBins = Literal["paper", "own"]

FORMAT, VERSION = "uqassay-epistemic-map", 1


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

    Attributes
    ----------
    edges : array (M + 1,)
        Edges of the intervals.
    knots : array (k, 2)
        Estimates and their images, both rising; γ is linear between them.
    n_instances : int
        Size of the calibration set.
    n_empty : int
        Intervals without a calibration point, which are left out.
    n_outside : int
        Calibration points below the first or above the last edge. They belong to the outer intervals, which have no end.
    notes : tuple of Note

    Notes
    -----
    The gain of each calibration point is replaced by the mean gain of its interval, and isotonic regression on the estimate
    gives γ (paper 002, section 4.3). The image is constant over the estimates of one interval and linear between intervals.
    Outside the estimates of the calibration set γ keeps its end values. So γ lies between the least and the greatest mean
    gain: for the zero-one loss within [−1, 1]. Negative values are kept: there, more data did harm.

    The paper's formula for the interval of a point is undefined if no interval of the evaluation set holds it; the outer
    intervals are therefore extended here.

    References
    ----------
    Paper 002, section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> estimates, gains = np.array([0.1, 0.2, 0.6, 0.7]), np.array([0.0, 0.0, 0.0, 1.0])
    >>> fitted = EpistemicMap(bins="own", n_bins=2).fit(estimates, gains)
    >>> fitted.transform([0.0, 0.15, 0.4, 0.9]).round(3).tolist()
    [0.0, 0.0, 0.25, 0.5]
    """

    edges: Floats
    knots: Floats
    n_instances: int
    n_empty: int
    n_outside: int
    notes: tuple[Note, ...]

    def __init__(self, *, bins: MapBins = "paper", n_bins: int = 20) -> None:
        self.bins, self.n_bins = bins, n_bins

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

        Returns
        -------
        self

        Raises
        ------
        InputError
            Values that are nan or infinite, lengths that differ, or evaluation estimates that do not fit the option `bins`.
        """
        from scipy.optimize import isotonic_regression

        check_choice(self.bins, "bins", ("paper", "own"))
        e = finite_values(epistemic, "epistemic")
        g = finite_values(gain, "gain", e.size, "epistemic")
        if self.bins == "paper" and evaluation is None:
            raise InputError(
                "evaluation",
                'must be given for bins="paper"',
                "it is None",
                "pass the estimates on the evaluation set",
                code="missing",
            )
        if self.bins == "own" and evaluation is not None:
            raise InputError(
                "evaluation",
                'must not be given for bins="own"',
                "got estimates",
                'leave it out, or take bins="paper"',
                code="conflict",
            )
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
        """γ of estimates (n,); ±inf have the end values.

        Raises
        ------
        InputError
            Before `fit`, or for nan.
        """
        self._fitted()
        values = as_numeric(epistemic, "epistemic", ndim=1).astype(np.float64)
        if np.isnan(values).any():
            row = int(np.isnan(values).argmax())
            raise InputError(
                "epistemic", "values must not be nan", f"row {row} is nan", "leave out those instances", code="finite"
            )
        return np.asarray(np.interp(values, self.knots[:, 0], self.knots[:, 1]))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, which scikit-learn uses to clone."""
        return {"bins": self.bins, "n_bins": self.n_bins}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor."""
        for name, value in params.items():
            check_choice(name, "params", ("bins", "n_bins"))
            setattr(self, name, value)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted map as JSON; an existing file is replaced as a whole.

        Raises
        ------
        InputError
            Before `fit`.
        """
        self._fitted()
        facts = {"format": FORMAT, "version": VERSION, **self.get_params()}
        facts |= {name: getattr(self, name) for name in ("edges", "knots", "n_instances", "n_empty", "n_outside")}
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
        known = {"format": FORMAT, "version": VERSION}
        if not isinstance(facts, dict) or {name: facts.get(name) for name in known} != known:
            raise _not_a_map(path)
        try:
            loaded = cls(bins=entry_of(facts, "bins", MapBins), n_bins=entry_of(facts, "n_bins", int))
            loaded.edges = checked_edges(entry_of(facts, "edges", tuple[float, ...]), "edges")
            loaded.knots = _checked_knots(entry_of(facts, "knots", tuple[tuple[float, ...], ...]))
            loaded.n_instances, loaded.n_empty, loaded.n_outside = (
                entry_of(facts, name, int) for name in ("n_instances", "n_empty", "n_outside")
            )
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
            raise InputError(
                "knots", "exists only after fit", "not fitted yet", "call fit(epistemic, gain) first", code="missing"
            )


def _knots(ends: Floats, image: Floats) -> Floats:
    """Ends (M, 2) of the intervals with their images (M,) as the fewest points of the same piecewise linear function."""
    x, y = ends.ravel(), np.repeat(image, 2)
    first = np.append(True, x[1:] != x[:-1])  # an interval with one estimate has one knot
    x, y = x[first], y[first]
    keep = np.ones(x.size, dtype=bool)
    keep[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    return np.stack([x[keep], y[keep]], axis=1)


def _checked_knots(given: Any) -> Floats:
    if not given or any(len(knot) != 2 for knot in given):
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
