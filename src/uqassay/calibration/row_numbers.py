"""Random numbers of searches that run side by side, of which some may end early."""

from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowNumbers"]


@final
class RowNumbers:
    """Uniform random numbers for some of T rows; each row has the same numbers whichever other rows there are.

    Attributes
    ----------
    n_all : int
        T.
    rows : int array (R,)
        Numbers of these rows among all T.

    Examples
    --------
    >>> every = RowNumbers(np.random.default_rng(0), 3, np.arange(3)).random((3, 2))
    >>> last = RowNumbers(np.random.default_rng(0), 3, np.array([2])).random((1, 2))
    >>> bool((last == every[2:]).all())
    True
    """

    def __init__(self, generator: np.random.Generator, n_all: int, rows: NDArray[np.intp]) -> None:
        self._generator, self.n_all, self.rows = generator, n_all, rows

    def keep(self, positions: NDArray[np.intp]) -> None:
        """Go on with these of the rows alone."""
        self.rows = self.rows[positions]

    def random(self, shape: tuple[int, ...], axis: int = 0) -> NDArray[np.float64]:
        """Numbers of this shape; along the axis lie the rows, each with equally many places."""
        each = shape[axis] // len(self.rows)
        numbers = self._generator.random((*shape[:axis], each * self.n_all, *shape[axis + 1 :]))
        if len(self.rows) == self.n_all:
            return numbers
        places = self.rows[:, np.newaxis] * each + np.arange(each)
        return numbers.take(places.ravel(), axis=axis)

    def of_all(self, each: int) -> NDArray[np.float64]:
        """Numbers of all T rows, `each` of them for a row on average, in one line, (T each,)."""
        return self._generator.random(self.n_all * each)
