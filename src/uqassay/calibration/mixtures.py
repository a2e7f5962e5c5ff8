"""Mixtures of an ensemble's members, many at once, and a calibration measure as a function of the weights.

Each value depends only on its own mixture and labels, not on the other mixtures of a call, the chunk size or the number of
threads. Binned measures jump where a probability crosses an edge, so a difference in the last digit could change the result
of a search.
"""

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import available_cores
from uqassay.calibration.mixture_errors import errors_of_mixtures
from uqassay.calibration.mixture_evaluators import Evaluator, MixtureErrors
from uqassay.calibration.mixture_products import products_of, quick_numbers
from uqassay.metrics.calibration.measures import CalibrationMeasure

__all__ = ["MixtureObjective", "Mixtures", "defined", "for_each_part"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

CHUNK_BYTES = 4 * 2**20  # working set of one core
SHARED_AT_ONCE = 64  # mixtures of one call of a kernel that evaluates them for all draws of labels
FEW_PARTS = 8  # with fewer parts, threads cost more than they save


@final
class Mixtures:
    """Members (n, M, K) in a layout where one matrix product gives the probabilities of many mixtures.

    In memory, classes come before instances, so that loops over the instances of a class are contiguous.

    Examples
    --------
    >>> mixtures = Mixtures([[[0.2, 0.8], [0.6, 0.4]]])  # one instance, two members, two classes
    >>> mixtures.probs(np.array([[0.5, 0.5], [0.0, 1.0]])).tolist()
    [[[0.4, 0.6000000000000001]], [[0.6, 0.4]]]
    """

    def __init__(self, members: ArrayLike) -> None:
        members = np.asarray(members, dtype=np.float64)
        n, m, k = members.shape
        self.n_instances, self.n_members, self.n_classes = n, m, k
        self.members = members
        self._by_member = np.ascontiguousarray(members.transpose(1, 2, 0)).reshape(m, k * n)
        self._range = self._by_member.min(axis=0), self._by_member.max(axis=0)

    @cached_property
    def _quick(self) -> Floats:
        return quick_numbers(self._by_member, np.float64)

    def probs(self, weights: Floats, *, passing: bool = False) -> Floats:
        """Probabilities of mixtures with weights (..., M), as (..., n, K).

        Results are clipped to the range of the members, so equal members give exactly their own probabilities. With
        `passing`, the result is a faster scratch array that the next such call overwrites; it can differ in the last digit,
        or below 1e-300.
        """
        flat = weights.reshape(-1, self.n_members)
        if passing:
            products = products_of(flat, self._quick, "mixtures")
        else:
            products = products_of(flat, self._by_member)
            least, greatest = self._range
            np.minimum(np.maximum(products, least, out=products), greatest, out=products)
        return np.swapaxes(products.reshape(*weights.shape[:-1], self.n_classes, self.n_instances), -1, -2)


@final
class MixtureObjective:
    """A calibration measure as a function of the weights, for T draws of labels (T, n) side by side.

    Attributes
    ----------
    n_all : int
        Number of draws of the objective that this one is a part of.
    rows : int array (T,)
        Numbers of the draws among those.
    """

    def __init__(self, mixtures: Mixtures, labels: Labels, measure: CalibrationMeasure) -> None:
        self.mixtures, self.labels, self.measure = mixtures, labels, measure
        self._errors, self._counted = _Evaluators(mixtures, measure), _Count()
        self.n_all, self.rows = len(labels), np.arange(len(labels))

    def of_labels(self, labels: Labels) -> "MixtureObjective":
        """The same for other draws of labels (T, n); evaluations are counted anew."""
        other = MixtureObjective(self.mixtures, labels, self.measure)
        other._errors = self._errors
        return other

    def part(self, draws: slice | NDArray[np.intp]) -> "MixtureObjective":
        """The same for some draws of labels; evaluations are counted together."""
        part = self.of_labels(self.labels[draws])
        part._counted, part.n_all, part.rows = self._counted, self.n_all, self.rows[draws]
        return part

    @cached_property
    def _arranged(self) -> list[Labels]:
        return [self._errors[rough].arranged(self.labels) for rough in (False, True)]

    @property
    def evaluations(self) -> int:
        """Number of mixtures evaluated so far, by parts too."""
        return self._counted.evaluations

    @property
    def n_targets(self) -> int:
        """Number of draws of labels T."""
        return len(self.labels)

    @property
    def n_columns(self) -> int:
        """Number of probabilities that `own` computes for each mixture."""
        return self._errors[False].n_columns

    @property
    def compiled(self) -> tuple[Evaluator, Evaluator] | None:
        """Compiled evaluators in double precision and rough, where there are any."""
        fine, rough = self._errors[False].evaluator, self._errors[True].evaluator
        return None if fine is None or rough is None else (fine, rough)

    def undefined(self) -> bool:
        """Whether the value of equally weighted members is undefined for some labels; it is not counted as an evaluation."""
        n, m = self.mixtures.n_instances, self.mixtures.n_members
        if n > 1 and not isinstance(self._errors[False], _PlainErrors):
            return False  # fast forms are defined from two instances on
        return bool(np.isnan(self.of_labels(self.labels).own(np.full((self.n_targets, 1, m), 1 / m))).any())

    def count(self, n_mixtures: int) -> None:
        """Count mixtures that a compiled evaluator has evaluated."""
        self._counted.evaluations += n_mixtures

    def shared(self, weights: Floats) -> Floats:
        """Values of the same mixtures for every draw of labels, (L, M) -> (T, L)."""
        values = np.empty((self.n_targets, len(weights)))
        errors = self._errors[False]
        of_all = errors.shared

        def compiled(part: slice) -> None:
            assert of_all is not None
            values[:, part] = of_all(np.ascontiguousarray(weights[part], dtype=np.float64), self._arranged[False])

        def work(part: slice) -> None:
            prepared = self.measure.prepare(self.mixtures.probs(weights[part], passing=True))
            for draws in _parts(self.n_targets, self._bytes_per_draw * (part.stop - part.start)):
                values[draws, part] = prepared.values(self.labels[draws, np.newaxis, :])

        if of_all is None:
            for_each_part(len(weights), self._bytes_per_mixture, work)
        else:
            for_each_part(len(weights), CHUNK_BYTES / SHARED_AT_ONCE, compiled)
        self._counted.evaluations += len(weights)
        return values

    def own(self, weights: Floats, targets: NDArray[np.intp] | None = None, *, rough: bool = False) -> Floats:
        """Values of separate mixtures for each draw of labels, (T, L, M) -> (T, L), up to rounding.

        `targets` selects the draws. A rough value has about six digits.
        """
        t, n_own, m = weights.shape
        flat, values = weights.reshape(t * n_own, m), np.empty(t * n_own)
        targets = np.repeat(np.arange(t) if targets is None else targets, n_own)
        errors, labels = self._errors[rough], self._arranged[rough]

        def work(part: slice) -> None:
            values[part] = errors.values(flat[part], labels, targets[part])

        together = errors.at_once
        each = self.measure.bytes_per_entry * errors.n_columns if together is None else CHUNK_BYTES / together
        for_each_part(len(flat), each, work)
        self._counted.evaluations += len(flat)
        return values.reshape(t, n_own)

    def exact_shared(self, weights: Floats) -> Floats:
        """As `shared`, but by the measure itself, with the values of `exact`, (L, M) -> (T, L)."""
        values = np.empty((self.n_targets, len(weights)))

        def work(part: slice) -> None:
            prepared = self.measure.prepare(self.mixtures.probs(weights[part]))
            for draws in _parts(self.n_targets, self._bytes_per_draw * (part.stop - part.start)):
                values[draws, part] = prepared.values(self.labels[draws, np.newaxis, :])

        for_each_part(len(weights), self._bytes_per_mixture, work)
        self._counted.evaluations += self.n_targets * len(weights)
        return values

    def exact(self, weights: Floats) -> Floats:
        """As `own`, but by the measure itself, without shortcuts, (T, L, M) -> (T, L)."""
        t, n_own, m = weights.shape
        flat, values = weights.reshape(t * n_own, m), np.empty(t * n_own)
        targets = np.repeat(np.arange(t), n_own)

        def work(part: slice) -> None:
            labels = self.labels if t == 1 else self.labels[targets[part]]
            values[part] = self.measure.values(self.mixtures.probs(flat[part]), labels)

        for_each_part(len(flat), self._bytes_per_mixture, work)
        self._counted.evaluations += len(flat)
        return values.reshape(t, n_own)

    @property
    def _bytes_per_draw(self) -> float:
        return 40.0 * (self.mixtures.n_instances + self.mixtures.n_classes * 10)

    @property
    def _bytes_per_mixture(self) -> float:
        return self.measure.bytes_per_entry * self.mixtures.n_instances * self.mixtures.n_classes


@final
class _Count:
    """Number of mixtures evaluated by an objective and its parts."""

    evaluations = 0


@final
class _Evaluators:
    """Evaluators of a measure in double precision, and in single precision (rough), made where they are asked for."""

    def __init__(self, mixtures: Mixtures, measure: CalibrationMeasure) -> None:
        self._mixtures, self._measure = mixtures, measure

    def __getitem__(self, rough: bool) -> MixtureErrors:
        return self._rough if rough else self._fine

    @cached_property
    def _fine(self) -> MixtureErrors:
        found = errors_of_mixtures(self._mixtures.members, self._measure.prepare)
        return found or _PlainErrors(self._mixtures, self._measure)

    @cached_property
    def _rough(self) -> MixtureErrors:
        return self._fine.single()


@final
class _PlainErrors:
    """Evaluator without shortcuts: all probabilities of each mixture are computed."""

    def __init__(self, mixtures: Mixtures, measure: CalibrationMeasure) -> None:
        self._mixtures, self._measure = mixtures, measure
        self.at_once = self.shared = self.evaluator = None
        self.n_columns = mixtures.n_instances * mixtures.n_classes

    def arranged(self, labels: Labels) -> Labels:
        return labels

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        own = labels if len(labels) == 1 else labels[targets]
        return self._measure.prepare(self._mixtures.probs(weights, passing=True)).values(own)

    def single(self) -> "_PlainErrors":
        return self


def defined(values: Floats) -> Floats:
    """Replace undefined values by infinity, so that any defined value is better."""
    return np.where(np.isnan(values), np.inf, values)


def _parts(n: int, bytes_each: float) -> list[slice]:
    """Split 0 … n − 1 into slices of similar length whose working set fits the cache."""
    n_parts = min(n, math.ceil(n * bytes_each / CHUNK_BYTES))
    bounds = [n * i // max(n_parts, 1) for i in range(max(n_parts, 1) + 1)]
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def for_each_part(n: int, bytes_each: float, work: Callable[[slice], None]) -> None:
    """Call ``work(part)`` for consecutive parts, on all cores if called from the main thread."""
    parts = _parts(n, bytes_each)
    alone = threading.current_thread() is threading.main_thread()
    threads = available_cores() if alone and n * bytes_each > FEW_PARTS * CHUNK_BYTES else 1
    if min(threads, len(parts)) <= 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, part) for part in parts]:
            done.result()
