"""The toy grid of the epistemic gain paper: clusters at the points of a grid, and the discs from which data are held back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState, as_numeric, generator
from uqassay.checks import fail, number, one_of, same_length, whole
from uqassay.lab.datasets.ball_split import BallDivision, BallSplit, parts_note
from uqassay.lab.datasets.dataset import count_of
from uqassay.notes import Note
from uqassay.text import counted

__all__ = [
    "DISC_LAYOUTS",
    "N_GRID",
    "ClusterGrid",
    "DiscLayout",
    "GainGrid",
    "cluster_grid",
    "disc_layout",
    "thinned_test",
]


# The toy grid of epistemic gain: a mixture of round Gaussians at the points of a grid, a random half of them of class 1.

Labels = NDArray[np.int64]

GRID = (38, 46)  # clusters of the epistemic gain paper, columns and rows
N_GRID = 142_693
NUMBERS = (int, float, np.integer, np.floating)


@final
@dataclass(frozen=True, eq=False)
class GainGrid:
    """The distribution: clusters of equal weight at whole numbers, a random half of them of class 1 (epistemic gain, 5.3).

    Examples
    --------
    >>> grid = GainGrid.drawn(0.25)
    >>> grid.of_class_1.shape, int(grid.of_class_1.sum())
    ((38, 46), 874)
    """

    #: Standard deviation of a cluster; the distance of neighbours is 1. The paper prints a spread of 1, which contradicts
    #: its Fig. 2: the error of the best classifier is .380 at 1, .255 at .5, .138 at .35 and .043 at .25.
    spread: float
    of_class_1: NDArray[np.bool_]  #: (38, 46): Clusters of class 1; the centre of cluster [j, k] is (j + 1, k + 1)

    @classmethod
    def drawn(cls, spread: float = 0.35, rng: RandomState = None, *, size: tuple[int, int] = GRID) -> "GainGrid":
        """A grid of `size` columns and rows with a random half of the clusters in class 1, rounded down.

        Cluster (j, k) has the index k + 46 (j − 1) of the random permutation. The printed index j + 46 k exceeds the number of
        clusters for 342 of them.
        """
        number(spread, "spread", "0.35 lies between the paper's text and its figure", low=0, ends="()")
        for name, number_of in zip(("columns", "rows"), size, strict=True):
            whole(number_of, name, "the paper has 38 × 46", least=1)
        n = size[0] * size[1]
        if n < 2:
            fail("columns", "must give at least two clusters", "got 1 × 1", "ask for more", code="range")
        chosen = np.zeros(n, dtype=bool)
        chosen[generator(rng).permutation(n)[: n // 2]] = True
        return cls(spread, chosen.reshape(size))

    @property
    def centres(self) -> Floats:
        """Centres ``(K, 2)`` of the clusters in the order of ``of_class_1.ravel()``."""
        return np.argwhere(np.ones_like(self.of_class_1)).astype(np.float64) + 1.0

    def sample(self, n: int, rng: RandomState = None) -> tuple[Floats, Labels]:
        """Inputs ``(n, 2)`` and labels ``(n,)``, every cluster with equal probability."""
        g = generator(rng)
        j, k = (g.integers(0, size, n) for size in self.of_class_1.shape)
        x = np.stack([j, k], axis=1) + 1.0 + self.spread * g.standard_normal((n, 2))
        return x, self.of_class_1[j, k].astype(np.int64)

    def label_probs(self, x: ArrayLike) -> Floats:
        """p(y | x), ``(n, 2)``, exact: the density of a cluster is the product of one along each axis."""
        points = as_numeric(x, "X", ndim=2).astype(np.float64)
        if points.shape[1] != 2:
            fail("X", "must be points of the plane (n, 2)", f"got {points.shape}", "check it", code="shape")
        if not np.isfinite(points).all():
            row = int(np.argwhere(~np.isfinite(points))[0, 0])
            fail("X", "must hold finite numbers", f"row {row} does not", "drop such rows", code="finite")
        along_j, along_k = (
            self._density(points[:, axis], size) for axis, size in enumerate(self.of_class_1.shape)
        )  # (n, 38), (n, 46)
        weight = np.stack(
            [((along_j @ chosen) * along_k).sum(axis=1) for chosen in (~self.of_class_1, self.of_class_1)], axis=1
        )
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def _density(self, values: Floats, size: int) -> Floats:
        """exp(−(value − centre)²/2σ²) of the centres 1 … size, with each row divided by its largest value."""
        centre = np.arange(1.0, size + 1)
        nearest = np.clip(np.round(values), 1.0, size)[:, None]
        # (v − c)² − (v − nearest)² without the squares, which lose all digits far from the grid
        with np.errstate(over="ignore"):
            apart = (nearest - centre) * (2.0 * values[:, None] - nearest - centre) / self.spread**2
        return np.asarray(np.exp(-0.5 * apart))


@final
@dataclass(frozen=True, eq=False)
class ClusterGrid:
    """A sample of the grid, with everything that the definition of epistemic uncertainty needs to be known."""

    X: Floats  #: (n, 2)
    y: Labels  #: (n,): Class of the point's cluster
    probs: Floats  #: (n, 2): p(y | x), exact
    centres: Floats  #: (K, 2): Centres of the clusters
    cluster_class: Labels  #: (K,): Class of each cluster
    grid: GainGrid  #: The distribution, to draw further points

    @property
    def spread(self) -> float:
        """Standard deviation of a cluster."""
        return self.grid.spread

    @property
    def aleatoric(self) -> Floats:
        """A(x) = 1 − max p(y | x) of the points, ``(n,)``: the error of the best classifier (epistemic gain paper, Def. 2)."""
        return np.asarray(self.probs.min(axis=1))

    def label_probs(self, X: ArrayLike) -> Floats:
        """p(y | x), ``(m, 2)``, exact for any points of the plane ``(m, 2)``."""
        return self.grid.label_probs(X)


def cluster_grid(
    n: int = N_GRID, *, spread: float = 0.35, columns: int = GRID[0], rows: int = GRID[1], rng: RandomState = None
) -> ClusterGrid:
    """Points of the toy grid of the epistemic gain paper (Sec. 5.3) with their exact label probabilities.

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

    Examples
    --------
    >>> toy = cluster_grid(1000, spread=0.25, rng=1)
    >>> toy.X.shape, len(toy.centres), int(toy.cluster_class.sum())
    ((1000, 2), 1748, 874)
    >>> bool((toy.label_probs(toy.X) == toy.probs).all())
    True
    """
    whole(n, "n", "the paper has 142,693 points", least=1)
    g = generator(rng)
    grid = GainGrid.drawn(spread, g, size=(columns, rows))
    x, y = grid.sample(n, g)
    classes = grid.of_class_1.ravel().astype(np.int64)
    return ClusterGrid(x, y, grid.label_probs(x), grid.centres, classes, grid)


# The discs of the epistemic gain paper on the toy grid, by name, and the thinned test set of its second mismatch study.
#
# The numbers of Fig. 2 are not printed, and the supplement is missing. The text says that the discs form a grid without
# overlap, that some have fewer points removed than others, and that the untouched upper region takes twelve small discs
# for the calibration, or three large ones. All numbers here are choices of this package:
#
# * The 38 × 46 grid is cut into 6 columns and 7 rows. Every cell holds one disc of radius 2.7, which has about 23 clusters
#   and, at N = 142,693, about 1,870 points.
# * The lower five rows are the 30 discs of the evaluation, the upper two rows the 12 small discs of the calibration: evaluation
#   and calibration resemble each other, as the paper says.
# * The three large discs have radius 5.4, and so together the area of the twelve.
# * Shares of a disc that stay in the training set: .01, .02, .04, .1, .25 and .5, from fewer than one point to about 40 per
#   cluster. Each row of discs has each share once, in a different order. The large discs have .01, .04 and .25.
# * Test share: .3 of every disc. The rest is only in the augmented set.

CELLS = (6, 7)  # columns and rows of discs
EVALUATED_ROWS = 5  # from below
SHARES = (0.01, 0.02, 0.04, 0.1, 0.25, 0.5)
TEST_SHARE = 0.3
SMALL, LARGE = 2.7, 5.4
LOW_EDGE = 0.5  # the clusters' centres are 1, 2, …


@final
@dataclass(frozen=True, eq=False)
class DiscLayout:
    """Discs of one radius in the plane, with the shares of their points."""

    name: str
    centres: Floats  #: (B, 2)
    radius: float
    #: (B,): Shares of a disc's points for the training and for the test set; the rest is only in the augmented set
    train_share: Floats
    test_share: Floats

    def splitter(self, random_state: int = 0, *, n_splits: int = 1) -> BallSplit:
        """The split by these discs."""
        return BallSplit(
            self.radius,
            centres=self.centres,
            train_share=self.train_share,
            test_share=self.test_share,
            n_splits=n_splits,
            random_state=random_state,
        )


def disc_layout(name: str) -> DiscLayout:
    """Discs of the epistemic gain paper on its 38 × 46 grid, by name.

    Parameters
    ----------
    name : {"figure-2", "twelve-discs", "three-discs"}
        The 30 discs of the evaluation in the lower part, the twelve small discs of the calibration in the upper part, or the
        three large discs there of the first mismatch study. Their numbers are choices of this package, see the module.

    Returns
    -------
    DiscLayout

    Examples
    --------
    >>> disc_layout("figure-2").centres.shape, disc_layout("three-discs").train_share.tolist()
    ((30, 2), [0.01, 0.04, 0.25])
    """
    one_of(name, "name", DISC_LAYOUTS, "choose one")
    return DISC_LAYOUTS[name]()


def _small_discs(name: str, rows: range) -> DiscLayout:
    width, height = (size / cells for size, cells in zip(GRID, CELLS, strict=True))
    columns = np.arange(CELLS[0])
    across, up = np.meshgrid(columns, np.array(rows))  # (rows, columns)
    centres = np.stack([(across + 0.5) * width, (up + 0.5) * height], axis=-1).reshape(-1, 2) + LOW_EDGE
    shares = np.array(SHARES)[(across + 2 * up) % len(SHARES)].ravel()
    return DiscLayout(name, centres, SMALL, shares, np.full(len(centres), TEST_SHARE))


def _large_discs() -> DiscLayout:
    width = GRID[0] / 3
    middle = LOW_EDGE + GRID[1] * (EVALUATED_ROWS + CELLS[1]) / 2 / CELLS[1]  # of the upper rows
    centres = np.stack([LOW_EDGE + (np.arange(3) + 0.5) * width, np.full(3, middle)], axis=1)
    return DiscLayout("three-discs", centres, LARGE, np.array([0.01, 0.04, 0.25]), np.full(3, TEST_SHARE))


DISC_LAYOUTS: Mapping[str, Callable[[], DiscLayout]] = MappingProxyType(
    {
        "figure-2": lambda: _small_discs("figure-2", range(EVALUATED_ROWS)),
        "twelve-discs": lambda: _small_discs("twelve-discs", range(EVALUATED_ROWS, CELLS[1])),
        "three-discs": _large_discs,
    }
)


def thinned_test(
    division: BallDivision, aleatoric: ArrayLike, *, share: float = 0.8, balls: ArrayLike | None = None
) -> BallDivision:
    """Remove the test points of low aleatoric uncertainty from some of the balls: the second mismatch study of epistemic gain.

    The removed points are in no part: the training and the augmented set stay as they are. Which discs and how many points the
    paper does not print; every second disc and 80 % are choices of this package.

    Parameters
    ----------
    division : BallDivision
    aleatoric : array (n,)
        A(x) = 1 − max p(y | x) of all rows that were divided.
    share : float
        Share in (0, 1) of a ball's test points that is removed, rounded down: those with the lowest A(x), of equal ones those
        that come first.
    balls : int array, optional
        Numbers of the balls; every second one, 0, 2, …, if not given.

    Returns
    -------
    BallDivision
        With the smaller test set and a note on the number of removed points.
    """
    doubt = as_numeric(aleatoric, "aleatoric", ndim=1)
    same_length(doubt, "aleatoric", len(division.ball), "give A(x) of all rows, not of the test alone", of="row")
    inside = (doubt >= 0) & (doubt <= 1)
    if not inside.all():
        row = int(np.flatnonzero(~inside)[0])
        fail("aleatoric", "must lie in [0, 1]", f"row {row} has {doubt[row]}", "give 1 − max p(y | x)", code="range")
    share = number(share, "share", "0.8, say", low=0, high=1, ends="()")
    removed = np.zeros(len(doubt), dtype=bool)
    chosen = _chosen_balls(balls, len(division.centres))
    for ball in chosen:
        rows = division.test[division.ball[division.test] == ball]
        removed[rows[np.argsort(doubt[rows], kind="stable")[: count_of(share, len(rows))]]] = True
    n_removed = int(removed.sum())
    if not n_removed:
        fail("share", "must remove at least one test point", f"{share} removes none", "raise it", code="empty")
    note = Note(
        "left-out",
        f"{counted(n_removed, 'test point')} of low aleatoric uncertainty in {counted(len(chosen), 'ball')} left out",
        {"removed": n_removed, "balls": len(chosen), "share": share},
    )
    notes = []
    for one in division.notes:
        if one.code == "parts":
            left_out = n_removed + int(one.facts.get("left_out", 0))
            one = parts_note(**{**one.facts, "test": int(one.facts["test"]) - n_removed, "left_out": left_out})
        notes.append(one)
    return replace(division, test=division.test[~removed[division.test]], notes=(*notes, note))


def _chosen_balls(balls: ArrayLike | None, n_balls: int) -> list[int]:
    if balls is None:
        return list(range(0, n_balls, 2))
    numbers = as_numeric(balls, "balls", ndim=1)
    if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= n_balls:
        fail(
            "balls", f"must be whole numbers in 0 … {n_balls - 1}", f"got {numbers.tolist()}", "check it", code="range"
        )
    return sorted({int(ball) for ball in numbers})
