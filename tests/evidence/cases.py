"""Helpers that several tests of evidence share."""

from functools import partial

import numpy as np

import uqassay as uq

judge = partial(uq.assay, calibration=())  # calibration has its own tests
SETS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 1]], dtype=bool)


def drawn(probs, generator):
    """One label from each distribution."""
    return (generator.random((len(probs), 1)) > probs.cumsum(axis=1)).sum(axis=1)


def row_of(rows, **wanted):
    """The only row with these values."""
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    assert len(found) == 1, wanted
    return found[0]


def same(a, b):
    """Rows that are equal, nan being equal to nan."""
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert {k: repr(v) for k, v in x.items()} == {k: repr(v) for k, v in y.items()}
