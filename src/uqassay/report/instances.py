"""Single instances for the page: their scores and credal sets, quantised so that the page stays small."""

import base64
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial, reduce
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import available_cores
from uqassay.predictions.class_sets import NO_CLASS

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import SetSample

__all__ = ["SAMPLE", "InstancePacker", "packed", "packed_decimals", "probability_codes", "single_instances"]

Array = NDArray[np.float64]

SAMPLE = 2000  # instances in a scatter plot
LISTED = 20  # instances in each list of extremes
BUDGET = 4_800_000  # characters of the page's data; with its scripts the page stays below 5 MB
LEAST = 1_500_000  # of these for single instances, however many models there are
DECIMALS = 3  # shown of the scores of an instance
POINT_VALUES = 300_000  # numbers kept of one model's set points


def single_instances(assay: "Assay", *, taken: int = 0) -> dict[str, Any] | None:
    """Scores of single instances (first training run) and their credal sets; None where the assay keeps none.

    Parameters
    ----------
    assay : Assay
    taken : int
        Characters of `BUDGET` that other data take.

    Returns
    -------
    dict
        "rows": the instances held, "sample": positions in rows of a random sample for scatter plots, "set_rows":
        positions in rows of the instances whose sets are held, "extremes": positions by kind, and packed arrays. Sets
        are held at 16 bits, at 8 bits, or for fewer instances, whichever first fits `BUDGET`; scores at `DECIMALS`.
        Of a set the codes of its "mean" are held, and how much lower and higher those of its ends are ("below", "above").
    """
    with InstancePacker(assay) as packer:
        return packer.at(taken)


@final
class InstancePacker:
    """Single instances for the page, packed by threads, ahead of the time when the page knows how much room it has.

    Use it in a `with` block; `start` begins to pack where there is a second core.

    Parameters
    ----------
    assay : Assay
    """

    def __init__(self, assay: "Assay") -> None:
        self._assay = assay
        self._tried: dict[tuple[int, int], _Packed] = {}
        self._ahead: Future[None] | None = None
        self._pool = ThreadPoolExecutor(available_cores())
        self._last = Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._last.set()
        self._pool.shutdown(cancel_futures=True)

    def start(self) -> None:
        """Begin to pack, as far as that does not depend on the room."""
        if self._assay.sets and available_cores() > 1:
            self._ahead = self._pool.submit(self._pack_ahead)

    def at(self, taken: int) -> dict[str, Any] | None:
        """What `single_instances` returns."""
        if not self._assay.sets:
            return None
        if self._ahead is not None:
            self._ahead.result()
        count, n_pointed = len(self._order.held), self._order.n_pointed
        bits, budget = 16, max(LEAST, BUDGET - taken)
        while True:
            # at 8 bits the size tells how many fit; at 16 it is enough to know that it is too much
            found = self._packed(bits, count, budget if bits == 16 and count > n_pointed else None)
            if found.size <= budget or count <= n_pointed:
                return found.out
            bits, count = (8, count) if bits == 16 else (8, max(n_pointed, int(0.9 * count * budget / found.size)))

    def _pack_ahead(self) -> None:
        count = len(self._order.held)
        most = BUDGET if count > self._order.n_pointed else None
        fits = self._packed(16, count, most, alone=True).size <= BUDGET
        if not fits and not self._last.is_set():
            self._packed(8, count, None, alone=True)

    def _packed(self, bits: int, count: int, most: int | None, *, alone: bool = False) -> "_Packed":
        """Pack this much, with the threads of the pool unless the page is being made beside."""
        found = self._tried.get((bits, count))
        if found is None:
            out = _at_size(self._assay, self._order, count, bits)
            ids = sum(len(i) + 3 for i in out["ids"] or ())
            room = None if most is None else most - ids
            found = _Packed(out, ids + _pack_all(out, None if alone else self._pool, most=room))
            if most is None or found.size <= most or found.size > BUDGET:  # what was cut short is too much in any case
                self._tried[bits, count] = found
        return found

    @cached_property
    def _order(self) -> "_Order":
        assay = self._assay
        held = np.asarray(next(iter(assay.sets.values())).rows)
        order = np.random.default_rng(assay.settings.seed).permutation(assay.n_instances)
        n_pointed = max(len(s.points) for s in assay.sets.values())
        # the instances with points come first, then the others at random, so that any beginning is a fair choice
        first, others = held[:n_pointed], held[n_pointed:]
        held = np.concatenate([first, others[np.argsort(np.argsort(order)[others], kind="stable")]])
        places = _places(assay.sets, held)
        upper = (s.upper[at] for s, at in zip(assay.sets.values(), places, strict=True))
        greatest = reduce(np.maximum, upper).copy()  # (k, K)
        greatest[np.arange(len(held)), assay.classes[held]] = np.inf  # the label is always a corner of the triangle
        return _Order(
            held=held,
            sample=np.sort(order[:SAMPLE]),
            n_pointed=n_pointed,
            extremes=assay.extreme_instances(LISTED),
            top_three=np.argsort(-greatest, axis=1, kind="stable")[:, :3],
            angles={name: _Angles.of(s, at) for (name, s), at in zip(assay.sets.items(), places, strict=True)},
        )


class _Packed(NamedTuple):
    """The data, and the characters that they take or more than what was allowed."""

    out: dict[str, Any]
    size: int


class _Order(NamedTuple):
    """Instances whose sets may be held, in the order of choice, those of the scatter plots, and the extreme ones."""

    held: NDArray[np.int64]
    sample: NDArray[np.int64]
    n_pointed: int
    extremes: Mapping[str, NDArray[np.int64]]
    top_three: NDArray[np.int64]  # classes that the triangle of each instance held shows, (k, 3)
    angles: Mapping[str, "_Angles"]  # of the sets of each model


class _Angles(NamedTuple):
    """The sets of one model as angles asin √p, (k, K) each, in the order of choice; of a point the mean alone."""

    mean: Array
    ends: tuple[Array, Array] | None  # lower and upper

    @classmethod
    def of(cls, sample: "SetSample", at: NDArray[np.intp]) -> Self:
        point = np.array_equal(sample.lower, sample.upper)
        return cls(_angle(sample.mean[at]), None if point else (_angle(sample.lower[at]), _angle(sample.upper[at])))


class _Later(NamedTuple):
    """A packed array, or a dict of them, that `_pack_all` makes."""

    make: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]


def _pack_all(out: dict[str, Any], pool: ThreadPoolExecutor | None, *, most: int | None) -> int:
    """Make what is to be packed, in its place; the characters that it takes, or more than `most` once that is known."""
    places = [out["sets"], out, *out["columns"].values()]  # the largest first
    waiting = [(place, name, value) for place in places for name, value in place.items() if isinstance(value, _Later)]
    makes = [partial(later.make, *later.arguments) for _, _, later in waiting]
    running = [] if pool is None else [pool.submit(make) for make in makes]
    size = 0
    for k, (place, name, _) in enumerate(waiting):
        place[name] = running[k].result() if running else makes[k]()
        size += _size(place[name])
        if most is not None and size > most:
            for rest in running:
                rest.cancel()
            break
    return size


def _labels(predicted: Array, n_classes: int) -> NDArray[Any]:
    """Predicted classes as small whole numbers; K for class sets without a single class."""
    whole = np.where(predicted == NO_CLASS, n_classes, predicted)
    return whole.astype(np.uint8 if n_classes < 256 else np.uint16)


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array of whole numbers as compressed text: {"dtype", "shape", "zlib"}, first the low bytes of all, then the next.

    Examples
    --------
    >>> import numpy as np
    >>> packed(np.array([1, 2], dtype=np.uint8))
    {'dtype': 'uint8', 'shape': [2], 'zlib': 'eAFjZAIAAAYABA=='}
    """
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    planes = little.reshape(-1, 1).view(np.uint8).T  # alike bytes next to each other: a quarter smaller
    # in bytes like noise only runs are worth looking for: a fifth of the time of other matches, and seldom larger
    stream = zlib.compressobj(strategy=zlib.Z_RLE)
    text = base64.b64encode(stream.compress(planes.tobytes()) + stream.flush()).decode("ascii")
    return {"dtype": str(array.dtype), "shape": list(array.shape), "zlib": text}


def packed_decimals(values: Array, decimals: int = DECIMALS) -> dict[str, Any]:
    """Values from 0 on, infinite ones among them, rounded to decimals and packed as whole numbers, with "decimals".

    Examples
    --------
    >>> import numpy as np
    >>> packed_decimals(np.array([0.0004, 0.0006, np.inf]))
    {'dtype': 'uint16', 'shape': [3], 'zlib': 'eAFjYPzPwPAfAAUGAgA=', 'decimals': 3}
    """
    codes = np.rint(np.where(np.isfinite(values), values, 0.0) * 10.0**decimals)
    dtype = np.uint16 if codes.max(initial=0) < 2**16 - 2 else np.uint32
    top = np.iinfo(dtype).max
    codes = np.where(np.isnan(values), top - 1, np.where(np.isposinf(values), top, np.minimum(codes, top - 2)))
    return packed(codes.astype(dtype)) | {"decimals": decimals}


def probability_codes(p: NDArray[Any], bits: int) -> NDArray[Any]:
    """Probabilities on the arcsine scale, whose steps are finest near 0 and 1: q = (2^bits − 1) · 2/π · asin √p.

    Examples
    --------
    >>> import numpy as np
    >>> probability_codes(np.array([0.0, 0.001, 0.5, 1.0]), 8).tolist()
    [0, 5, 128, 255]
    """
    return _codes(_angle(p), bits)


def _angle(p: NDArray[Any]) -> Array:
    found: Array = np.arcsin(np.sqrt(np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)))
    return found


def _codes(angle: Array, bits: int) -> NDArray[Any]:
    return np.rint((2**bits - 1) * angle / (np.pi / 2)).astype(np.uint8 if bits == 8 else np.uint16)


def _at_size(
    assay: "Assay",
    order: _Order,
    count: int,
    bits: int,
) -> dict[str, Any]:
    """The parts of the page's data, with arrays that wait to be packed."""
    held, sample = order.held[:count], order.sample
    rows, top_three = np.union1d(held, sample), order.top_three[:count]
    measures = [m for m in assay.settings.measures if m in ("total-entropy", "credal-width")]
    columns = {}
    for model in assay.candidates:
        first_run = {
            key: model.columns[key][0][rows] for key in ("distance", "nonspecificity", "confidence", "label", *measures)
        }
        columns[model.name] = {
            "distance": _Later(packed_decimals, (first_run["distance"],)),
            "nonspecificity": _Later(packed_decimals, (first_run["nonspecificity"],)),
            "confidence": _Later(_packed_probabilities, (first_run["confidence"],)),
            "label": _Later(packed, (_labels(first_run["label"], assay.n_classes),)),
            **{m: _Later(packed_decimals, (first_run[m],)) for m in measures if np.isfinite(first_run[m]).all()},
        }
    position = {row: i for i, row in enumerate(rows.tolist())}
    truth = assay.labels[rows]
    return {
        "n": assay.n_instances,
        "rows": _Later(packed, (rows.astype(np.uint32),)),
        "ids": None if assay.ids is None else [str(i) for i in assay.ids[rows]],
        "sample": _Later(packed, (np.searchsorted(rows, sample).astype(np.uint32),)),
        "set_rows": _Later(packed, (np.searchsorted(rows, held).astype(np.uint32),)),
        "extremes": {
            kind: [position[r] for r in found.tolist() if r in position] for kind, found in order.extremes.items()
        },
        "truth": _Later(packed, ((truth if truth.ndim == 1 else truth.argmax(axis=1)).astype(np.uint16),)),
        "shares": _Later(_packed_probabilities, (truth,)) if truth.ndim == 2 else None,
        "bits": bits,
        "top_three": _Later(packed, (top_three[: order.n_pointed].astype(np.uint16),)),
        "columns": columns,
        "sets": {
            name: _Later(_packed_set, (order.angles[name], count, s.points, top_three, bits))
            for name, s in assay.sets.items()
        },
    }


def _packed_probabilities(p: NDArray[Any]) -> dict[str, Any]:
    return packed(probability_codes(p, 16))


def _places(sets: Mapping[str, "SetSample"], held: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Where the sets of these instances stand in each sample."""
    found, rows = [], None
    for sample in sets.values():
        if rows is None or not np.array_equal(sample.rows, rows):  # mostly those of the model before
            rows = sample.rows
            order = np.argsort(rows, kind="stable")
            at = order[np.searchsorted(rows[order], held)]
        found.append(at)
    return found


def _packed_set(
    angles: _Angles, count: int, points: NDArray[Any], top_three: NDArray[np.int64], bits: int
) -> dict[str, Any]:
    mean = _codes(angles.mean[:count], bits)
    out: dict[str, Any] = {"mean": packed(mean)}
    if angles.ends is not None:  # differences are small numbers; one that rounding makes negative goes around, and back
        lower, upper = (_codes(end[:count], bits) for end in angles.ends)
        out["below"], out["above"] = packed(mean - lower), packed(upper - mean)
    k, n_points, n_classes = points.shape
    if k and n_points > 1 and n_classes >= 3:
        k = max(1, min(k, POINT_VALUES // (2 * n_points)))
        three = np.take_along_axis(points[:k], top_three[:k, None, :], axis=2).astype(np.float64)  # (k, V, 3)
        total = three.sum(axis=2, keepdims=True)
        shares = np.divide(three, total, out=np.full_like(three, -1.0), where=total > 0)[..., :2]
        # 65535 marks a point that gives nothing to the three classes
        out["points"] = packed(np.where(shares < 0, 65535, np.rint(shares * 65534)).astype(np.uint16))
    return out


def _size(part: Any) -> int:
    if isinstance(part, dict):
        return len(part["zlib"]) if "zlib" in part else sum(_size(value) for value in part.values())
    return 0
