"""Single instances for the page: their scores and credal sets, quantised so that the page stays small."""

import base64
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import SetSample

__all__ = ["SAMPLE", "packed", "packed_decimals", "probability_codes", "single_instances"]

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
    if not assay.sets:
        return None
    held = np.asarray(next(iter(assay.sets.values())).rows)
    order = np.random.default_rng(assay.settings.seed).permutation(assay.n_instances)
    sample = np.sort(order[:SAMPLE])
    n_pointed = max(len(s.points) for s in assay.sets.values())
    # the instances with points come first, then the others at random, so that any beginning is a fair choice
    first, others = held[:n_pointed], held[n_pointed:]
    held = np.concatenate([first, others[np.argsort(np.argsort(order)[others], kind="stable")]])
    bits, count, budget = 16, len(held), max(LEAST, BUDGET - taken)
    while True:
        out = _at_size(assay, held[:count], sample, bits)
        ids = sum(len(i) + 3 for i in out["ids"] or ())
        size = ids + _size(out)
        if size <= budget or count <= n_pointed:
            return out
        bits, count = (8, count) if bits == 16 else (8, max(n_pointed, int(0.9 * count * budget / size)))


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array of whole numbers as compressed text: {"dtype", "shape", "zlib"}, first the low bytes of all, then the next.

    Examples
    --------
    >>> import numpy as np
    >>> packed(np.array([1, 2], dtype=np.uint8))
    {'dtype': 'uint8', 'shape': [2], 'zlib': 'eJxjZAIAAAYABA=='}
    """
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    planes = little.reshape(-1, 1).view(np.uint8).T  # alike bytes next to each other: a quarter smaller
    text = base64.b64encode(zlib.compress(planes.tobytes(), 6)).decode("ascii")
    return {"dtype": str(array.dtype), "shape": list(array.shape), "zlib": text}


def packed_decimals(values: Array, decimals: int = DECIMALS) -> dict[str, Any]:
    """Values from 0 on, infinite ones among them, rounded to decimals and packed as whole numbers, with "decimals".

    Examples
    --------
    >>> import numpy as np
    >>> packed_decimals(np.array([0.0004, 0.0006, np.inf]))
    {'dtype': 'uint16', 'shape': [3], 'zlib': 'eJxjYPzPwPAfAAUGAgA=', 'decimals': 3}
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
    top = 2**bits - 1
    angle = np.arcsin(np.sqrt(np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)))
    return np.rint(top * angle / (np.pi / 2)).astype(np.uint8 if bits == 8 else np.uint16)


def _at_size(assay: "Assay", held: NDArray[np.int64], sample: NDArray[np.int64], bits: int) -> dict[str, Any]:
    rows = np.union1d(held, sample)
    sets = {name: _chosen(s, held) for name, s in assay.sets.items()}
    n_pointed = max(len(s.points) for s in assay.sets.values())
    greatest = np.max([s.upper for s in sets.values()], axis=0)  # (k, K)
    greatest[np.arange(len(held)), assay.classes[held]] = np.inf  # the label is always a corner of the triangle
    top_three = np.argsort(-greatest, axis=1, kind="stable")[:, :3]
    measures = [m for m in assay.settings.measures if m in ("total-entropy", "credal-width")]
    columns = {}
    for model in assay.candidates:
        first_run = {key: values[0][rows] for key, values in model.columns.items()}
        columns[model.name] = {
            "distance": packed_decimals(first_run["distance"]),
            "nonspecificity": packed_decimals(first_run["nonspecificity"]),
            "confidence": packed(probability_codes(first_run["confidence"], 16)),
            "label": packed(first_run["label"].astype(np.uint8 if assay.n_classes <= 256 else np.uint16)),
            **{m: packed_decimals(first_run[m]) for m in measures if np.isfinite(first_run[m]).all()},
        }
    position = {int(row): i for i, row in enumerate(rows)}
    truth = assay.labels[rows]
    return {
        "n": assay.n_instances,
        "rows": packed(rows.astype(np.uint32)),
        "ids": None if assay.ids is None else [str(i) for i in assay.ids[rows]],
        "sample": packed(np.searchsorted(rows, sample).astype(np.uint32)),
        "set_rows": packed(np.searchsorted(rows, held).astype(np.uint32)),
        "extremes": {
            kind: [position[int(r)] for r in found if int(r) in position]
            for kind, found in assay.extreme_instances(LISTED).items()
        },
        "truth": packed((truth if truth.ndim == 1 else truth.argmax(axis=1)).astype(np.uint16)),
        "shares": packed(probability_codes(truth, 16)) if truth.ndim == 2 else None,
        "bits": bits,
        "top_three": packed(top_three[:n_pointed].astype(np.uint16)),
        "columns": columns,
        "sets": {name: _packed_set(s, top_three, bits) for name, s in sets.items()},
    }


def _chosen(sample: "SetSample", held: NDArray[np.int64]) -> "SetSample":
    """The sets of some of the instances, in that order; the points stay with the first ones."""
    order = np.argsort(sample.rows, kind="stable")
    at = order[np.searchsorted(sample.rows[order], held)]
    return type(sample)(held, sample.lower[at], sample.upper[at], sample.mean[at], sample.points)


def _packed_set(sample: "SetSample", top_three: NDArray[np.int64], bits: int) -> dict[str, Any]:
    point = np.array_equal(sample.lower, sample.upper)
    mean = probability_codes(sample.mean, bits)
    out: dict[str, Any] = {"mean": packed(mean)}
    if not point:  # differences are small numbers; one that rounding makes negative goes around, and back
        out["below"] = packed(mean - probability_codes(sample.lower, bits))
        out["above"] = packed(probability_codes(sample.upper, bits) - mean)
    k, n_points, n_classes = sample.points.shape
    if k and n_points > 1 and n_classes >= 3:
        k = max(1, min(k, POINT_VALUES // (2 * n_points)))
        three = np.take_along_axis(sample.points[:k], top_three[:k, None, :], axis=2).astype(np.float64)  # (k, V, 3)
        total = three.sum(axis=2, keepdims=True)
        shares = np.divide(three, total, out=np.full_like(three, -1.0), where=total > 0)[..., :2]
        # 65535 marks a point that gives nothing to the three classes
        out["points"] = packed(np.where(shares < 0, 65535, np.rint(shares * 65534)).astype(np.uint16))
    return out


def _size(part: Any) -> int:
    if isinstance(part, dict):
        return len(part["zlib"]) if "zlib" in part else sum(_size(value) for value in part.values())
    return 0
