"""Where the losses of single instances lie: densities by correctness, means by confidence, regions of the two means."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from uqassay.evidence.chosen_columns import ChosenColumns
from uqassay.evidence.findings import part_rows
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.calibration.edges import inner_edges
from uqassay.report.rounding import rounded
from uqassay.statistics.samples import ascending_order

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = ["confidence_lines", "densities", "mean_regions"]

Array = NDArray[np.float64]

N_BINS = 96
LEAST = 1e-4  # smaller values count at the left end of the axis
SMOOTHING = 1.6  # bins
KERNEL = np.exp(-0.5 * (np.arange(-5, 6) / SMOOTHING) ** 2)
KERNEL /= KERNEL.sum()
PEAK = 200  # of a density; the page draws each with the same height, of some thirty pixels
MOST_TRADEOFFS, LEAST_TRADEOFFS = 21, 7  # λ at which the distribution of E is kept, besides the default
WEIGHT = 600  # models × λ, of which the page gets no heavier


def densities(assay: "Assay", top: float) -> dict[str, Any]:
    """Densities of distance, non-specificity and E on a logarithmic axis, for correct and wrong predictions apart.

    Parameters
    ----------
    assay : Assay
    top : float
        Largest λ for which E is wanted.

    Returns
    -------
    dict
        "distance" and "nonspecificity": {"axis", "models"}; "unified": {"axis", "tradeoffs", "models" per λ}. All
        instances and runs count. A density is the smoothed number of values per bin of the axis, relative to its
        peak, which is `PEAK`; "at_end" the share of those at or below its left end. None where a part has no finite
        instance.
    """
    models = assay.candidates
    masks = [assay.hits(m.name) for m in models]
    d = [m.columns["distance"] for m in models]
    ns = [m.columns["nonspecificity"] for m in models]
    steps = int(np.clip(WEIGHT // len(models), LEAST_TRADEOFFS, MOST_TRADEOFFS))
    tradeoffs = np.union1d(np.linspace(0.0, top, steps), DEFAULT_TRADEOFF)
    # the values of correct and of wrong predictions are picked once
    parts = [
        {"correct": (a[mask], b[mask]), "wrong": (a[~mask], b[~mask])} for a, b, mask in zip(d, ns, masks, strict=True)
    ]
    out: dict[str, Any] = {}
    for k, (name, values) in enumerate((("distance", d), ("nonspecificity", ns))):
        edges = _edges(values)
        out[name] = {
            "axis": _centres(edges),
            "models": [{part: _density(both[k], edges) for part, both in own.items()} for own in parts],
        }
    edges = _edges([*d, *(a + top * b for a, b in zip(d, ns, strict=True))])
    out["unified"] = {
        "axis": _centres(edges),
        "tradeoffs": tradeoffs.tolist(),
        "models": [list(at_one) for at_one in zip(*(_of_unified(own, tradeoffs, edges) for own in parts), strict=True)],
    }
    return out


def _of_unified(parts: dict[str, tuple[Array, Array]], tradeoffs: Array, edges: Array) -> list[dict[str, Any]]:
    """Densities of E = d + λ·ns at every λ, of each part (d, ns); without non-specificity they are the same at all."""
    if not any(ns.any() for _, ns in parts.values()):
        return [{part: _density(d, edges) for part, (d, _) in parts.items()}] * len(tradeoffs)
    return [{part: _density(d + t * ns, edges) for part, (d, ns) in parts.items()} for t in tradeoffs.tolist()]


def _edges(values: list[Array]) -> Array:
    positive = np.concatenate([v[(v > 0) & np.isfinite(v)].ravel() for v in values])
    if positive.size == 0:
        return np.array([-1.0, 0.0])
    low = max(float(np.quantile(positive, 0.005)), LEAST)
    high = float(positive.max()) * 1.05
    return np.linspace(np.log10(min(low, high / 10)), np.log10(high), N_BINS + 1)


def _centres(edges: Array) -> list[float]:
    return rounded(10 ** ((edges[1:] + edges[:-1]) / 2), 4)


def _density(values: Array, edges: Array) -> dict[str, Any] | None:
    n_infinite = 0
    with np.errstate(invalid="ignore"):
        mean = float(values.mean()) if values.size else np.nan
    if not np.isfinite(mean):
        finite = np.isfinite(values)
        n_infinite = int(values.size - finite.sum())
        values = values[finite]
        if values.size == 0:
            return None
        mean = float(values.mean())
    ordered = values[ascending_order(values)]
    beyond = ordered[np.searchsorted(ordered, 10 ** edges[0], side="right") :]
    density = _counts(beyond, 10**edges).astype(np.float64)
    if len(density) > 1:
        mirrored = np.concatenate([density[4::-1], density, density[:-6:-1]])
        density = np.convolve(mirrored, KERNEL, mode="valid")
    return {
        "density": np.rint(PEAK * density / (density.max() or 1.0)).astype(int).tolist(),
        "n": int(values.size),
        "infinite": n_infinite,
        "mean": mean,
        "quartiles": rounded(_quartiles(ordered), 4),
        "at_end": 1 - beyond.size / values.size,
        "zero": bool(ordered[0] == ordered[-1] == 0),
    }


def _counts(ordered: Array, edges: Array) -> NDArray[np.intp]:
    """`np.histogram` of sorted values."""
    below = np.searchsorted(ordered, edges)
    below[-1] = np.searchsorted(ordered, edges[-1], side="right")
    return np.diff(below)


def _quartiles(ordered: Array) -> Array:
    """`np.quantile` of sorted values at 0.25, 0.5 and 0.75."""
    at = (len(ordered) - 1) * np.array([0.25, 0.5, 0.75])
    below = at.astype(np.intp)
    above = np.minimum(below + 1, len(ordered) - 1)
    low, step, share = ordered[below], ordered[above] - ordered[below], at - below
    return np.where(share < 0.5, low + step * share, ordered[above] - step * (1 - share))


def confidence_lines(assay: "Assay", names: tuple[str, ...], *, n_bins: int = 10) -> dict[str, list[dict[str, Any]]]:
    """Mean of each named column in equal-width, right-inclusive bins of confidence, over all instances and runs."""
    out: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for model in assay.candidates:
        confidence = model.columns["confidence"].ravel()
        which = np.searchsorted(inner_edges(n_bins, confidence), confidence, side="left")
        count = np.bincount(which, minlength=n_bins)
        filled = count > 0
        centre = np.bincount(which, confidence, n_bins)[filled] / count[filled]
        for name in names:
            values = model.columns[name].ravel()
            mean = np.bincount(which, values, n_bins)[filled] / count[filled]
            out[name].append({"confidence": centre.tolist(), "mean": mean.tolist(), "n": count[filled].tolist()})
    return out


def mean_regions(assay: "Assay") -> dict[str, list[dict[str, Any] | None]]:
    """Mean distance and mean non-specificity with their joint confidence ellipse, for all, correct and wrong predictions.

    The intervals are those of the findings. The ellipse is that of a normal distribution with the standard errors of the
    two means, and the covariance that follows from the standard error of their sum.
    """
    metrics = (assay.settings.distance_metric, "nonspecificity", "unified")
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {"all": {}}
    for row in assay.rows("findings"):
        if row["run"] == "all" and row["metric"] in metrics:
            rows["all"].setdefault(row["model"], []).append(row)
    for row in part_rows(assay, "correct", metrics):
        rows.setdefault(row["subset"], {}).setdefault(row["model"], []).append(row)
    return {
        part: [_region(assay, m, found[m.name], part) if m.name in found else None for m in assay.models]
        for part, found in rows.items()
    }


def _region(assay: "Assay", model: "ModelScores", mine: list[dict[str, Any]], part: str) -> dict[str, Any]:
    correct = assay.hits(model.name)
    mask = {"all": None, "correct": correct, "wrong": ~correct}[part]
    d = next(r for r in mine if r["metric"] == assay.settings.distance_metric)
    ns = next(r for r in mine if r["metric"] == "nonspecificity")
    h_d, h_ns, h_sum = _half_widths(assay, model, mask)
    covariance = float(np.clip((h_sum**2 - h_d**2 - h_ns**2) / 2, -h_d * h_ns, h_d * h_ns))
    level = assay.settings.level
    joint = float(np.sqrt(chdtri(2, 1 - level)) / ndtri(0.5 + level / 2))  # one interval → both means together
    return {
        "model": model.name,
        "n": d["n"],
        "distance": [d["estimate"], d["low"], d["high"]],
        "nonspecificity": [ns["estimate"], ns["low"], ns["high"]],
        "unified": [[r["tradeoff"], r["estimate"], r["low"], r["high"]] for r in mine if r["metric"] == "unified"],
        "half_widths": [h_d * joint, h_ns * joint],
        "covariance": covariance * joint**2,
    }


def _half_widths(assay: "Assay", model: "ModelScores", mask: NDArray[np.bool_] | None) -> tuple[float, float, float]:
    """Half the widths of Student's intervals of the means of both terms and of their sum, over some instances."""
    chosen = ChosenColumns(assay, model, mask=mask)
    d, ns = chosen["distance"], chosen["nonspecificity"]
    found = chosen.means([d, ns, d + ns], method="student-t")
    first, second, third = ((one.high - one.low) / 2 for one in found)
    return first, second, third
