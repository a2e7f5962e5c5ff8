"""The discs of paper 002 on the toy grid, by name, and the thinned test set of its second mismatch study.

The numbers of Fig. 2 are not printed, and the supplement is missing. The text says that the discs form a grid without
overlap, that some have fewer points removed than others, and that the untouched upper region takes twelve small discs for the
calibration, or three large ones. All numbers here are choices of this package:

* The 38 × 46 grid is cut into 6 columns and 7 rows. Every cell holds one disc of radius 2.7, which has about 23 clusters
  and, at N = 142,693, about 1,870 points.
* The lower five rows are the 30 discs of the evaluation, the upper two rows the 12 small discs of the calibration: evaluation
  and calibration resemble each other, as the paper says.
* The three large discs have radius 5.4, and so together the area of the twelve.
* Shares of a disc that stay in the training set: .01, .02, .04, .1, .25 and .5, from fewer than one point to about 40 per
  cluster. Each row of discs has each share once, in a different order. The large discs have .01, .04 and .25.
* Test share: .3 of every disc. The rest is only in the augmented set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, shown
from uqassay.datasets.ball_division import BallDivision
from uqassay.datasets.ball_split import BallSplit
from uqassay.datasets.cluster_grids import GRID
from uqassay.datasets.splits import count_of
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.wording import counted, listed

__all__ = ["DISC_LAYOUTS", "DiscLayout", "disc_layout", "thinned_test"]

Array = NDArray[np.float64]

CELLS = (6, 7)  # columns and rows of discs
EVALUATED_ROWS = 5  # from below
SHARES = (0.01, 0.02, 0.04, 0.1, 0.25, 0.5)
TEST_SHARE = 0.3
SMALL, LARGE = 2.7, 5.4
LOW_EDGE = 0.5  # the clusters' centres are 1, 2, …


@final
@dataclass(frozen=True, eq=False)
class DiscLayout:
    """Discs of one radius in the plane, with the shares of their points.

    Attributes
    ----------
    name : str
    centres : array (B, 2)
    radius : float
    train_share, test_share : array (B,)
        Shares of a disc's points for the training and for the test set; the rest is only in the augmented set.
    """

    name: str
    centres: Array
    radius: float
    train_share: Array
    test_share: Array

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
    """Discs of paper 002 on its 38 × 46 grid, by name.

    Parameters
    ----------
    name : {"figure-2", "twelve-discs", "three-discs"}
        The 30 discs of the evaluation in the lower part, the twelve small discs of the calibration in the upper part, or the
        three large discs there of the first mismatch study. Their numbers are choices of this package, see the module.

    Returns
    -------
    DiscLayout

    Raises
    ------
    InputError
        Another name.

    Examples
    --------
    >>> disc_layout("figure-2").centres.shape, disc_layout("three-discs").train_share.tolist()
    ((30, 2), [0.01, 0.04, 0.25])
    """
    if not isinstance(name, str) or name not in DISC_LAYOUTS:
        raise InputError(
            "name",
            f"must be {listed(list(DISC_LAYOUTS), last='or')}",
            f"got {shown(name)}",
            "choose one",
            code="choice",
        )
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
    """Remove the test points of low aleatoric uncertainty from some of the balls: the second mismatch study of paper 002.

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

    Raises
    ------
    InputError
        Another number of values than rows, values outside [0, 1], a share outside (0, 1), balls that do not exist, no point
        that is removed.
    """
    doubt = as_numeric(aleatoric, "aleatoric", ndim=1)
    if len(doubt) != len(division.ball):
        raise InputError(
            "aleatoric",
            f"needs one value for each of the {len(division.ball)} rows that were divided",
            f"got {len(doubt)}",
            "give A(x) of all rows, not of the test alone",
            code="mismatch",
        )
    inside = (doubt >= 0) & (doubt <= 1)
    if not inside.all():
        row = int(np.flatnonzero(~inside)[0])
        raise InputError(
            "aleatoric", "must lie in [0, 1]", f"row {row} has {doubt[row]}", "give 1 − max p(y | x)", code="range"
        )
    if not isinstance(share, (float, np.floating)) or not 0.0 < share < 1.0:
        raise InputError("share", "must lie strictly between 0 and 1", f"got {shown(share)}", "0.8, say", code="range")
    removed = np.zeros(len(doubt), dtype=bool)
    chosen = _chosen_balls(balls, len(division.centres))
    for ball in chosen:
        rows = division.test[division.ball[division.test] == ball]
        removed[rows[np.argsort(doubt[rows], kind="stable")[: count_of(share, len(rows))]]] = True
    n_removed = int(removed.sum())
    if not n_removed:
        raise InputError(
            "share", "must remove at least one test point", f"{share} removes none", "raise it", code="empty"
        )
    note = Note(
        "left-out",
        f"{counted(n_removed, 'test point')} of low aleatoric uncertainty in {counted(len(chosen), 'ball')} left out",
        {"removed": n_removed, "balls": len(chosen), "share": share},
    )
    return replace(division, test=division.test[~removed[division.test]], notes=(*division.notes, note))


def _chosen_balls(balls: ArrayLike | None, n_balls: int) -> list[int]:
    if balls is None:
        return list(range(0, n_balls, 2))
    numbers = as_numeric(balls, "balls", ndim=1)
    if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= n_balls:
        raise InputError(
            "balls", f"must be whole numbers in 0 … {n_balls - 1}", f"got {numbers.tolist()}", "check it", code="range"
        )
    return sorted({int(ball) for ball in numbers})
