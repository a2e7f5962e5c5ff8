"""The generations and refinement of a search by a compiled kernel, which takes one draw of labels after the other.

All mixtures of a draw then stay in the cache, and few calls from Python remain. The mixtures are those of the loops in
`simplex_search`, to the last bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.calibration.mixture_populations import ALONG, MOVED_SHARE, TOWARDS, best_count
from uqassay.calibration.mixture_refinement import PROBE, step_lengths
from uqassay.calibration.mixtures import CHUNK_BYTES, MixtureObjective, for_each_part
from uqassay.calibration.row_numbers import RowNumbers

__all__ = ["Searched", "compiled_search"]

Floats = NDArray[np.float64]

TOGETHER = 512  # mixtures of the first generation in one call


class Searched(NamedTuple):
    """The end of a search for R draws of labels.

    Attributes
    ----------
    weights : array (R, S, M)
        Best mixture of each population.
    values : array (R, S)
    settled : bool array (R,)
        Whether a value below `enough` ended the search; it stands in the first place.
    """

    weights: Floats
    values: Floats
    settled: NDArray[np.bool_]


def compiled_search(
    objective: MixtureObjective,
    numbers: RowNumbers,
    weights: Floats,
    values: Floats,
    generations: list[int],
    rounds: tuple[int, int],
    *,
    rough: bool,
    enough: float,
) -> Searched | None:
    """Evolve populations (R, S, P, M) with values (R, S, P) and refine the best mixtures; None if kernels are missing.

    `generations` are the sizes of a population after each generation, `rounds` the number of rounds of refinement and of steps
    of each kind in a round. The draws of the objective are those of the random numbers.
    """
    searched, evaluators = kernel("searched"), objective.compiled
    if searched is None or evaluators is None:
        return None
    fine = evaluators[0]
    r, s, p, m = weights.shape
    before = [p, *generations[:-1]]
    plan = np.array([[size, best_count(last)] for size, last in zip(generations, before, strict=False)], dtype=np.int64)
    moves = numbers.of_all((5 + m) * s * sum(before[: len(generations)]))
    lengths, exchanges, momentum = _of_rounds(numbers, (r, s, m), *rounds)
    weights, values = np.ascontiguousarray(weights), np.ascontiguousarray(values)
    labels = np.ascontiguousarray(objective.labels, dtype=np.int64)
    found = Searched(np.empty((r, s, m)), np.empty((r, s)), np.empty(r, dtype=np.bool_))
    counts = []

    def work(part: slice) -> None:
        *result, count = searched(
            evaluators[1] if rough else fine,
            fine,
            labels[part],
            numbers.rows[part],
            numbers.n_all,
            weights[part],
            values[part],
            plan.reshape(-1, 2),
            moves,
            TOWARDS,
            ALONG,
            MOVED_SHARE,
            lengths[part],
            exchanges[part],
            momentum[part],
            PROBE,
            enough,
        )
        counts.append(count)
        for all_of_them, some in zip(found, result, strict=True):
            all_of_them[part] = some

    for_each_part(r, CHUNK_BYTES / TOGETHER * s * p, work)
    objective.count(sum(counts))
    return found


def _of_rounds(
    numbers: RowNumbers, shape: tuple[int, int, int], n_rounds: int, n: int
) -> tuple[Floats, Floats, Floats]:
    """Lengths of steps (R, rounds, S, 2 n), and random numbers of exchanges (R, rounds, 2, S, n M) and of momentum."""
    (_, s, m), t = shape, numbers.n_all
    steps = t * s * n
    drawn = numbers.of_all(n_rounds * s * n * (3 + 2 * m)).reshape(n_rounds, steps * (3 + 2 * m))
    lengths = step_lengths(np.arange(n_rounds)[:, np.newaxis], drawn[:, : 2 * steps]).reshape(n_rounds, t, s, 2 * n)
    exchanges = drawn[:, 2 * steps : -steps].reshape(n_rounds, 2, t, s, n * m)
    momentum = drawn[:, -steps:].reshape(n_rounds, t, s, n)

    def of_rows(of_draws: Floats) -> Floats:
        return np.ascontiguousarray(of_draws[numbers.rows])

    return (
        of_rows(lengths.swapaxes(0, 1)),
        of_rows(exchanges.transpose(2, 0, 1, 3, 4)),
        of_rows(momentum.swapaxes(0, 1)),
    )
