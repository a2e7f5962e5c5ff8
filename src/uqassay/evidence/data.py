"""The data that lenses take: `Judged`, columns of models on chosen runs and instances, results that are computed once."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.credal.undominated import CLASS_RULES
from uqassay.evidence.excess import Excess
from uqassay.evidence.scoring import ModelScores, Settings, covered_column
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.records import Shape
from uqassay.statistics import Estimate, mean_estimate
from uqassay.statistics.estimate import mean_estimates

__all__ = [
    "ChosenColumns",
    "Judged",
    "Shared",
    "one_run",
    "units_of_runs",
    "with_numbered_groups",
]


# Cache of results that several findings share.

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


# What was judged: columns of all models, labels, groups, settings.


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """The data of an assay that its lenses take: columns of every model, labels, groups, settings, and a cache.

    `Assay` is the same with what was found, and with methods.
    """

    models: tuple[ModelScores, ...]  #: The models in the order given, then the baselines "vacuous" and "class-prior".
    labels: Annotated[NDArray[Any], Shape("n", ...)]  #: (n,), or distributions (n, K).
    class_names: Annotated[tuple[str, ...], Shape("K")]
    ids: Annotated[NDArray[Any], Shape("n")] | None
    groups: Annotated[NDArray[Any], Shape("n")] | None
    subgroups: dict[str, Annotated[NDArray[Any], Shape("n")]]
    tradeoffs: tuple[float, ...]  #: The λ of the findings.
    settings: Settings
    excess: Excess  #: How much more one model could lose than another on the inputs seen, whatever their labels.

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return len(self.labels)

    @cached_property
    def n_units(self) -> int:
        """Number of units that intervals and draws rest on: groups where they are given, else instances."""
        return self.n_instances if self.groups is None else len(np.unique(self.groups))

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.class_names)

    @cached_property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models, without the baselines."""
        return tuple(m.name for m in self.candidates)

    @cached_property
    def candidates(self) -> tuple[ModelScores, ...]:
        """The models to choose from, without the baselines."""
        return tuple(m for m in self.models if not m.baseline)

    @cached_property
    def shared(self) -> Shared:
        """Results that several findings need, each computed once."""
        return Shared()

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """True class of every instance, of label distributions the most frequent one, ``(n,)``."""
        return self.labels if self.labels.ndim == 1 else self.labels.argmax(axis=1)

    def hits(self, model: str) -> NDArray[np.bool_]:
        """Whether the predicted class is the true one, for every run and instance, ``(R, n)``.

        Of class sets: whether they hold it, of votes more than half of them.
        """
        scores = self[model]
        if scores.predicts_classes:
            return scores.columns["label"] == self.classes
        return scores.columns[covered_column(CLASS_RULES[0])] > 0.5

    def __contains__(self, name: object) -> bool:
        return any(m.name == name for m in self.models)

    def __getitem__(self, name: str) -> ModelScores:
        """Scores of one model or baseline by name."""
        for m in self.models:
            if m.name == name:
                return m
        known = ", ".join(repr(m.name) for m in self.models)
        fail("model", f"must be one of {known}", f"got {name!r}", "choose one of them", code="choice")

    def loss(self, model: str, tradeoff: float = DEFAULT_TRADEOFF) -> Floats:
        """E of every run and instance, ``(R, n)``."""
        columns = self[model].columns
        return columns["distance"] + tradeoff * columns["nonspecificity"]


AnyJudged = TypeVar("AnyJudged", bound=Judged)


# Columns of one model on chosen runs and instances, and their means.


@final
class ChosenColumns:
    """Columns of a model, of all runs or of one, on all instances or on those of a mask.

    Parameters
    ----------
    judged : Judged
    model : ModelScores
    run : int, optional
    mask : bool array (R, n), optional
        Instances of every run. Where runs differ in them, the instances of all runs count as one run, in which those of one
        instance or group belong together.
    """

    def __init__(
        self, judged: Judged, model: ModelScores, *, run: int | None = None, mask: NDArray[np.bool_] | None = None
    ) -> None:
        self._columns = model.columns
        self._runs = slice(None) if run is None else slice(run, run + 1)
        self._place: Any = None
        self.groups, self.level = judged.groups, judged.settings.level
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


def with_numbered_groups(judged: AnyJudged) -> AnyJudged:
    """The same data with whole numbers as groups: they are sorted faster than names, and that is done thousands of times."""
    if judged.groups is None:
        return judged
    return replace(judged, groups=np.unique(judged.groups, return_inverse=True)[1])
