"""Null distribution of a calibration measure with groups: the deviations of every group get a random sign (wild bootstrap)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.metrics.calibration.group_signs import Groupwise
from uqassay.metrics.calibration.measures import CalibrationMeasure, Sides

__all__ = ["n_patterns", "sign_null"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

CHUNK_BYTES = 2**24


def sign_null(
    labels: Rows,
    probs: Floats,
    measure: CalibrationMeasure,
    groups: Rows,
    n_draws: int,
    generator: np.random.Generator,
) -> tuple[float, Floats]:
    """The measure for labels (n,) and for D draws of one sign for each group, with probabilities (n, K).

    `groups` (n,) are numbers from 0. If all other patterns of signs are no more than `n_draws`, they are enumerated. In an
    infinite or undefined measure signs change nothing: its draws are nan.
    """
    prepared = measure.prepare(np.ascontiguousarray(probs.T).T)
    if not isinstance(prepared, Groupwise):
        raise InputError(
            "groups",
            f"cannot be used with {measure.name}, which is not a function of sums over groups",
            f"got {int(groups.max()) + 1} groups",
            "choose another measure, such as 'ece-confidence'",
            code="missing",
        )
    n_groups = int(groups.max()) + 1
    with np.errstate(all="ignore"):
        statistic = float(prepared.values(labels))
        patterns = n_patterns(n_groups, n_draws, measure.sides)
        size = n_draws if patterns is None else patterns
        if not np.isfinite(statistic):
            return statistic, np.full(size, np.nan)
        signed = prepared.by_groups(labels, groups, n_groups)
        null = [
            signed.values(signs) for signs in _signs(n_groups, n_draws, patterns, _width(prepared, probs), generator)
        ]
    return statistic, np.concatenate([np.empty(0), *null])


def n_patterns(n_groups: int, n_draws: int, sides: Sides) -> int | None:
    """Number of patterns of signs other than the observed one, if they are to be enumerated; None if they are drawn.

    A measure with a direction changes if all signs change, so it has 2^G patterns; the others have half as many.
    """
    exponent = n_groups if sides == "both" else n_groups - 1
    return 2**exponent - 1 if exponent < 40 and 2**exponent - 1 <= n_draws else None


def _signs(
    n_groups: int, n_draws: int, patterns: int | None, width: int, generator: np.random.Generator
) -> Iterator[Floats]:
    """Signs (d, G) in chunks of draws."""
    step = max(1, CHUNK_BYTES // (8 * (n_groups + width)))
    total = n_draws if patterns is None else patterns
    for start in range(0, total, step):
        size = min(step, total - start)
        if patterns is None:
            yield generator.integers(0, 2, (size, n_groups), dtype=np.int8) * 2.0 - 1.0
        else:  # pattern j has the binary digits of j; 0, the observed one, is left out
            numbers = np.arange(start + 1, start + size + 1)[:, np.newaxis]
            yield 1.0 - 2.0 * (numbers >> np.arange(n_groups) & 1)


def _width(prepared: Groupwise, probs: Floats) -> int:
    """About how many numbers one draw needs."""
    bins = getattr(prepared, "bins", None)
    return probs.size if bins is None else int(bins.expected.size)
