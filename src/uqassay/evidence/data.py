"""The data of an assay: columns of models on chosen runs and instances, and results that several findings need."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.evidence.scoring import ModelScores
from uqassay.statistics import Estimate, mean_estimate
from uqassay.statistics.estimate import mean_estimates

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "ChosenColumns",
    "Shared",
    "one_run",
    "units_of_runs",
    "with_numbered_groups",
]


# Results that several findings of an assay need, each computed once.

Found = TypeVar("Found")
MOST = 1024  # results that are kept; a page needs a few hundred


@final
class Shared:
    """Results by their keys; where there are too many, the oldest go.

    Examples
    --------
    >>> shared = Shared()
    >>> shared.once("sum", lambda: 1 + 2), shared.once("sum", lambda: 1 / 0)
    (3, 3)
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}
        self._newest: dict[str, Any] = {}

    def note(self, name: str, found: Any) -> None:
        """Keep the newest result of a question that was asked with more than the assay, for `noted`."""
        self._newest[name] = found

    def noted(self, name: str) -> Any:
        """The newest result of that question; None before it is asked."""
        return self._newest.get(name)

    def once(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """The result of a key, computed at the first request."""
        if key not in self._found:
            found = compute()  # which may ask for other results
            while len(self._found) >= MOST:
                self._found.pop(next(iter(self._found)), None)
            self._found[key] = found
            return found
        kept: Found = self._found[key]
        return kept

    def each(
        self, kind: Hashable, keys: Sequence[Hashable], compute: Callable[[list[Any]], Iterable[Found]]
    ) -> list[Found]:
        """The results of several keys of one kind; those not yet known are computed together.

        Examples
        --------
        >>> shared = Shared()
        >>> shared.each("square", [2, 3], lambda keys: [k * k for k in keys])
        [4, 9]
        """
        known = {key: self._found[kind, key] for key in keys if (kind, key) in self._found}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        for key, found in zip(missing, compute(missing) if missing else (), strict=True):
            known[key] = self.once((kind, key), lambda found=found: found)  # type: ignore[misc]
        return [known[key] for key in keys]

    def __reduce__(self) -> tuple[Any, ...]:
        return Shared, ()  # a copy computes again


# Columns of one model on chosen runs and instances, and their means.


@final
class ChosenColumns:
    """Columns of a model, of all runs or of one, on all instances or on those of a mask.

    Parameters
    ----------
    assay : Assay
    model : ModelScores
    run : int, optional
    mask : bool array (R, n), optional
        Instances of every run. Where runs differ in them, the instances of all runs count as one run, in which those of one
        instance or group belong together.
    """

    def __init__(
        self, assay: "Assay", model: ModelScores, *, run: int | None = None, mask: NDArray[np.bool_] | None = None
    ) -> None:
        self._columns = model.columns
        self._runs = slice(None) if run is None else slice(run, run + 1)
        self._place: Any = None
        self.groups, self.level = assay.groups, assay.settings.level
        if mask is None:
            return
        if (mask == mask[0]).all():
            rows = np.flatnonzero(mask[0])
            self._place = slice(None), rows
            self.groups = None if self.groups is None else self.groups[rows]
        else:
            units = np.arange(mask.shape[1]) if self.groups is None else self.groups
            self._place, self.groups = mask, np.broadcast_to(units, mask.shape)[mask]

    def __getitem__(self, name: str) -> Floats:
        """The values of one column, ``(R, m)``."""
        column = self._columns[name][self._runs]
        if self._place is None:
            return column
        return np.atleast_2d(column[self._place])

    def means(self, columns: Sequence[Floats], method: str = "hall") -> list[Estimate]:
        """Mean of each column ``(R, m)`` with its interval; losses are skewed, and Hall's has the best measured coverage."""
        if self.groups is None and all(len(column) == 1 for column in columns):
            return mean_estimates([column[0] for column in columns], level=self.level, method=method)
        options: dict[str, Any] = {"groups": self.groups, "level": self.level, "method": method}
        return [mean_estimate(one_run(column), **options) for column in columns]


def one_run(values: Floats) -> Floats:
    """A single run as ``(n,)``, for which no spread between runs is claimed."""
    return values if len(values) > 1 else values[0]


def units_of_runs(groups: NDArray[Any] | None, n_runs: int, n: int) -> NDArray[Any] | None:
    """Groups of the values of all runs, one run after the other, (R · n,); with several runs an instance is a group."""
    if n_runs == 1:
        return groups
    return np.tile(np.arange(n) if groups is None else groups, n_runs)


def with_numbered_groups(assay: "Assay") -> "Assay":
    """The same assay with whole numbers as groups: they are sorted faster than names, and that is done thousands of times."""
    if assay.groups is None:
        return assay
    return replace(assay, groups=np.unique(assay.groups, return_inverse=True)[1])
