"""The toy grid of paper 002: a mixture of round Gaussians at the points of a grid, a random half of them of class 1."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, as_numeric, generator, shown
from uqassay.errors import InputError

__all__ = ["GRID", "N_GRID", "ClusterGrid", "GainGrid", "cluster_grid"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

GRID = (38, 46)  # clusters of paper 002, columns and rows
N_GRID = 142_693
NUMBERS = (int, float, np.integer, np.floating)


@final
@dataclass(frozen=True, eq=False)
class GainGrid:
    """The distribution: clusters of equal weight at whole numbers, a random half of them of class 1 (paper 002, 5.3).

    Attributes
    ----------
    spread : float
        Standard deviation of a cluster; the distance of neighbours is 1. The paper prints a spread of 1, which contradicts
        its Fig. 2: the error of the best classifier is .380 at 1, .255 at .5, .138 at .35 and .043 at .25.
    of_class_1 : bool array (38, 46)
        Clusters of class 1; the centre of cluster [j, k] is (j + 1, k + 1).

    Examples
    --------
    >>> grid = GainGrid.drawn(0.25)
    >>> grid.of_class_1.shape, int(grid.of_class_1.sum())
    ((38, 46), 874)
    """

    spread: float
    of_class_1: NDArray[np.bool_]

    @classmethod
    def drawn(cls, spread: float = 0.35, rng: RandomState = None, *, size: tuple[int, int] = GRID) -> "GainGrid":
        """A grid of `size` columns and rows with a random half of the clusters in class 1, rounded down.

        Cluster (j, k) has the index k + 46 (j − 1) of the random permutation. The printed index j + 46 k exceeds the number of
        clusters for 342 of them.
        """
        if not isinstance(spread, NUMBERS) or isinstance(spread, bool) or not 0.0 < spread < np.inf:
            raise InputError(
                "spread",
                "must be positive",
                f"got {shown(spread)}",
                "0.35 lies between the paper's text and its figure",
                code="range",
            )
        for name, number in zip(("columns", "rows"), size, strict=True):
            _check_count(name, number, "the paper has 38 × 46")
        n = size[0] * size[1]
        if n < 2:
            raise InputError("columns", "must give at least two clusters", "got 1 × 1", "ask for more", code="range")
        chosen = np.zeros(n, dtype=bool)
        chosen[generator(rng).permutation(n)[: n // 2]] = True
        return cls(spread, chosen.reshape(size))

    @property
    def centres(self) -> Array:
        """Centres ``(K, 2)`` of the clusters in the order of ``of_class_1.ravel()``."""
        return np.argwhere(np.ones_like(self.of_class_1)).astype(np.float64) + 1.0

    def sample(self, n: int, rng: RandomState = None) -> tuple[Array, Labels]:
        """Inputs ``(n, 2)`` and labels ``(n,)``, every cluster with equal probability."""
        g = generator(rng)
        j, k = (g.integers(0, size, n) for size in self.of_class_1.shape)
        x = np.stack([j, k], axis=1) + 1.0 + self.spread * g.standard_normal((n, 2))
        return x, self.of_class_1[j, k].astype(np.int64)

    def label_probs(self, x: ArrayLike) -> Array:
        """p(y | x), ``(n, 2)``, exact: a cluster's density is the product of one along each axis, and no cluster is left out.

        Raises
        ------
        InputError
            Not points of the plane, or points that are not finite.
        """
        points = as_numeric(x, "X", ndim=2).astype(np.float64)
        if points.shape[1] != 2:
            raise InputError("X", "must be points of the plane (n, 2)", f"got {points.shape}", "check it", code="shape")
        if not np.isfinite(points).all():
            row = int(np.argwhere(~np.isfinite(points))[0, 0])
            raise InputError("X", "must hold finite numbers", f"row {row} does not", "drop such rows", code="finite")
        along_j, along_k = (
            self._density(points[:, axis], size) for axis, size in enumerate(self.of_class_1.shape)
        )  # (n, 38), (n, 46)
        weight = np.stack(
            [((along_j @ chosen) * along_k).sum(axis=1) for chosen in (~self.of_class_1, self.of_class_1)], axis=1
        )
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def _density(self, values: Array, size: int) -> Array:
        """exp(−(value − centre)²/2σ²) of the centres 1 … size, with each row divided by its largest value."""
        centre = np.arange(1.0, size + 1)
        nearest = np.clip(np.round(values), 1.0, size)[:, None]
        # (v − c)² − (v − nearest)² without the squares, which lose all digits far from the grid
        with np.errstate(over="ignore"):
            apart = (nearest - centre) * (2.0 * values[:, None] - nearest - centre) / self.spread**2
        return np.asarray(np.exp(-0.5 * apart))


def _check_count(name: str, number: object, remedy: str) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise InputError(name, "must be a whole number from 1 up", f"got {shown(number)}", remedy, code="range")


@final
@dataclass(frozen=True, eq=False)
class ClusterGrid:
    """A sample of the grid, with everything that the definition of epistemic uncertainty needs to be known.

    Attributes
    ----------
    X : array (n, 2)
    y : int array (n,)
        Class of the point's cluster.
    probs : array (n, 2)
        p(y | x), exact.
    centres : array (K, 2)
        Centres of the clusters.
    cluster_class : int array (K,)
        Class of each cluster.
    grid : GainGrid
        The distribution, to draw further points.
    """

    X: Array
    y: Labels
    probs: Array
    centres: Array
    cluster_class: Labels
    grid: GainGrid

    @property
    def spread(self) -> float:
        """Standard deviation of a cluster."""
        return self.grid.spread

    @property
    def aleatoric(self) -> Array:
        """A(x) = 1 − max p(y | x) of the points, ``(n,)``: the error of the best classifier (paper 002, Def. 2)."""
        return np.asarray(self.probs.min(axis=1))

    def label_probs(self, X: ArrayLike) -> Array:
        """p(y | x), ``(m, 2)``, exact for any points of the plane ``(m, 2)``."""
        return self.grid.label_probs(X)


def cluster_grid(
    n: int = N_GRID,
    *,
    spread: float = 0.35,
    columns: int = GRID[0],
    rows: int = GRID[1],
    rng: RandomState = None,
) -> ClusterGrid:
    """Points of the toy grid of paper 002 (Sec. 5.3) with their exact label probabilities.

    Clusters of equal weight stand at (1, 1) … (columns, rows). A random half of the clusters is of class 1, and a point has the
    class of its cluster.

    Parameters
    ----------
    n : int
        Number of points; the paper has 142,693.
    spread : float
        Standard deviation of a cluster in units of the distance of neighbours. The paper prints 1, which contradicts its
        Fig. 2. The error of the best classifier is .380 at 1, .255 at .5, .138 at .35, .043 at .25 and 0 at .1.
    columns, rows : int
    rng : int, SeedSequence, Generator or None
        Draws the classes of the clusters, and the points.

    Returns
    -------
    ClusterGrid

    Raises
    ------
    InputError
        Fewer than one point or two clusters, or a spread that is not positive.

    Examples
    --------
    >>> toy = cluster_grid(1000, spread=0.25, rng=1)
    >>> toy.X.shape, len(toy.centres), int(toy.cluster_class.sum())
    ((1000, 2), 1748, 874)
    >>> bool((toy.label_probs(toy.X) == toy.probs).all())
    True
    """
    _check_count("n", n, "the paper has 142,693 points")
    g = generator(rng)
    grid = GainGrid.drawn(spread, g, size=(columns, rows))
    x, y = grid.sample(n, g)
    classes = grid.of_class_1.ravel().astype(np.int64)
    return ClusterGrid(x, y, grid.label_probs(x), grid.centres, classes, grid)
