"""Numbers with as many significant digits as the page may show."""

from collections.abc import Iterable

import numpy as np

__all__ = ["rounded"]


def rounded(values: Iterable[float], digits: int) -> list[float]:
    """The numbers that `digits` significant digits stand for.

    Examples
    --------
    >>> rounded(np.array([0.123456, 1234.56, np.inf]), 3)
    [0.123, 1230.0, inf]
    """
    numbers = values.tolist() if isinstance(values, np.ndarray) else [float(x) for x in values]
    # one format for all of them: the page has hundreds of thousands
    return list(map(float, (f"%.{digits}g " * len(numbers) % tuple(numbers)).split()))
