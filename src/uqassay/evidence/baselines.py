"""Baselines of an assay: the vacuous statement and the class frequencies, also those that did not see an instance."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.evidence.scoring import ModelScores, Settings, score_model
from uqassay.predictions import (
    Intervals,
    Point,
)
from uqassay.statistics.units import effective_number

__all__ = [
    "HELD_OUT",
    "column_of",
    "counted_labels",
    "has_held_out",
    "held_out_columns",
    "is_held_out",
    "loss_of",
    "score_baselines",
]


def score_baselines(
    y: NDArray[Any],
    n_classes: int,
    prior: Floats,
    settings: Settings,
    *,
    held_out: Mapping[str, Floats] | None = None,
) -> list[ModelScores]:
    """Scores of the vacuous statement (anything may happen) and of the class frequencies.

    Both say the same of every instance, so for labels they are scored once per class. `held_out` holds further columns of the
    class frequencies, see `prior_of_the_others.held_out_columns`.
    """
    each = np.arange(n_classes) if y.ndim == 1 else y
    shape = (len(each), n_classes)
    statements = {
        "vacuous": Intervals(np.broadcast_to(0.0, shape), np.broadcast_to(1.0, shape)),
        "class-prior": Point(np.broadcast_to(prior, shape)),
    }
    scored = [score_model(name, (s,), each, settings, baseline=True) for name, s in statements.items()]
    scored = [m for m in scored if not np.isnan(m.columns["nonspecificity"]).any()]
    if y.ndim == 1:
        scored = [
            replace(
                m,
                columns={key: column[:, y] for key, column in m.columns.items()},
                floored=int(np.isin(y, np.flatnonzero(prior < m.floor)).sum()) if m.floored else 0,
            )
            for m in scored
        ]
    further = {"class-prior": held_out or {}}
    return [replace(m, columns={**m.columns, **further.get(m.name, {})}) for m in scored]


# The class frequencies that did not see an instance: those of all others, for claims that the class frequencies are
# better.

PREFIX = "held-out-"
HELD_OUT = ("distance", "nonspecificity", "correct", "log-loss", "brier")
CELLS = 2**22  # probabilities that are held at once


def is_held_out(column: str) -> bool:
    """Whether a column of `ModelScores.columns` holds losses by the frequencies of the others.

    Examples
    --------
    >>> is_held_out("held-out-brier"), is_held_out("brier")
    (True, False)
    """
    return column.startswith(PREFIX)


def has_held_out(model: ModelScores) -> bool:
    """Whether this is the baseline of class frequencies that saw the labels, so that there are those of the others as well."""
    return PREFIX + HELD_OUT[0] in model.columns


def column_of(model: ModelScores, column: str, *, held_out: bool) -> Floats:
    """A column ``(R, n)``; with `held_out` of the class frequencies that of the others, if they saw the labels."""
    return model.columns[PREFIX + column if held_out and has_held_out(model) else column]


def loss_of(model: ModelScores, tradeoff: float, *, held_out: bool = False) -> Floats:
    """E of every run and instance, ``(R, n)``."""
    d, ns = (column_of(model, name, held_out=held_out) for name in ("distance", "nonspecificity"))
    return d + tradeoff * ns


def counted_labels(y: NDArray[Any], n_classes: int, sample_weight: Floats | None = None) -> Floats:
    """Weight of each class among labels (n,) or label distributions (n, K), ``(K,)``; without weights their number.

    Examples
    --------
    >>> counted_labels(np.array([0, 1, 1]), 2, np.array([1.0, 0.5, 0.5])).tolist()
    [1.0, 1.0]
    """
    if y.ndim == 1:
        return np.bincount(y, weights=sample_weight, minlength=n_classes).astype(np.float64)
    return np.asarray((y if sample_weight is None else y * sample_weight[:, np.newaxis]).sum(axis=0))


def held_out_columns(
    y: NDArray[Any],
    n_classes: int,
    groups: NDArray[Any] | None,
    settings: Settings,
    *,
    sample_weight: Floats | None = None,
) -> dict[str, Floats]:
    """Losses of the class frequencies of all other instances, with groups of all other groups; ``(1, n)`` each.

    The frequencies of the test labels themselves are better than the true ones by about (K - 1)/(2n) nats, because each label
    was counted. Those of the others are worse than the true ones by as much: (c + 1/2)/(m + K/2) for c of m other instances.
    With weights c and m are shares of the effective number of instances, which makes the frequencies as certain.

    References
    ----------
    Krichevsky, Trofimov (1981), The performance of universal encoding (the added 1/2).
    """
    plain = replace(settings, measures=())
    found = {name: np.empty((1, len(y))) for name in HELD_OUT}
    counted = None
    if sample_weight is not None:
        shares = sample_weight / sample_weight.max()  # sums of weights near 1e308 would overflow, inverses near 0, too
        counted = shares * (effective_number(shares, len(y)) / shares.sum())
    for rows, said, labels in _parts(y, n_classes, groups, counted):
        scored = score_model("class-prior", (Point(said),), labels, plain, baseline=True).columns
        for name, column in found.items():
            values = scored[name]
            column[:, rows] = values[:, y] if isinstance(rows, slice) else values
    return {PREFIX + name: column for name, column in found.items()}


def _parts(
    y: NDArray[Any], n_classes: int, groups: NDArray[Any] | None, counted: Floats | None
) -> Iterator[tuple[Any, Floats, NDArray[Any]]]:
    """Rows, what is said of them, and what they are scored against; of labels alone one row for each class.

    `counted` is how much each instance counts, by default 1.
    """
    counts, n = counted_labels(y, n_classes, counted), len(y)
    own_count = np.ones(n) if counted is None else counted
    if groups is None and y.ndim == 1 and counted is None:
        said = np.maximum(counts - np.eye(n_classes), 0.0) + 0.5
        yield slice(None), _shares(said), np.arange(n_classes)
        return
    codes = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
    order = np.argsort(codes, kind="stable")
    step = max(1, CELLS // n_classes)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))  # of the groups
    ends = np.append(starts[1:], n)
    first = 0
    while first < len(starts):
        last = max(int(np.searchsorted(ends, starts[first] + step, side="right")), first + 1)
        rows = order[starts[first] : ends[last - 1]]
        own = codes[rows] - first
        inside = np.zeros((last - first, n_classes))
        weight = own_count[rows]
        if y.ndim == 1:
            np.add.at(inside, (own, y[rows]), weight)
        else:
            np.add.at(inside, own, y[rows] * weight[:, np.newaxis])
        yield rows, _shares(np.maximum(counts - inside, 0.0) + 0.5)[own], y[rows]
        first = last


def _shares(counts: Floats) -> Floats:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
