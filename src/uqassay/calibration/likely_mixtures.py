"""Likely mixtures of members and the labels drawn from them, which tests of the same labels by several measures share."""

from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.fewest_members import fewest_members
from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.null_at_mixture import drawn_labels
from uqassay.calibration.predictive_weights import predictive_weights

__all__ = ["LikelyMixtures", "Start"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class Start(NamedTuple):
    """Weights (M,) that predict unseen labels, and two seeds: one for draws of labels, one for searches."""

    weights: Floats
    seeds: NDArray[np.int64]


@final
class LikelyMixtures:
    """Mixtures that are likely given labels (n,), each computed at the first request.

    Every test by another measure asks with a generator in the same state, so it gets what it would compute itself.

    Examples
    --------
    >>> members = np.array([[[0.9, 0.1], [0.2, 0.8]]] * 40)
    >>> likely = LikelyMixtures(members, np.array([0] * 36 + [1] * 4))
    >>> one, other = (likely.start(np.random.default_rng(0)) for _ in range(2))
    >>> one.weights.round(2).tolist(), one is other
    ([1.0, 0.0], True)
    """

    def __init__(self, members: Floats, labels: Labels) -> None:
        self.members, self.labels = members, labels
        self._starts: list[tuple[Any, Start, Any]] = []  # state of a generator before, what it gave, its state after
        self._drawn: dict[tuple[bytes, int, int], Labels] = {}

    @cached_property
    def mixtures(self) -> Mixtures:
        """The members (n, M, K), in a layout for many mixtures."""
        return Mixtures(self.members)

    def start(self, generator: np.random.Generator) -> Start:
        """Two seeds and the weights of `predictive_weights`; the generator moves on as if they were computed anew."""
        before = generator.bit_generator.state
        for state, start, after in self._starts:
            if _same(state, before):
                generator.bit_generator.state = after
                return start
        seeds = generator.integers(2**63, size=2)
        start = Start(predictive_weights(self.members, self.labels, generator), seeds)
        self._starts.append((before, start, generator.bit_generator.state))
        return start

    @cached_property
    def fewest(self) -> Floats | None:
        """Weights (M,) of `fewest_members`."""
        return fewest_members(self.members, self.labels)

    def drawn(self, weights: Floats, n_draws: int, seed: np.int64) -> Labels:
        """Labels (D, n) drawn from the mixture with these weights; they must not be changed."""
        key = (weights.tobytes(), n_draws, int(seed))
        if key not in self._drawn:
            self._drawn[key] = drawn_labels(self.mixtures, weights, n_draws, seed)
        return self._drawn[key]


def _same(one: Any, other: Any) -> bool:
    """Whether two states of generators, mappings of numbers and arrays, are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(np.array_equal(one, other))
