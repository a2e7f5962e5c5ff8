"""The kernel of ascending orders against NumPy's stable sort, on arrays that sorts get wrong."""

import numpy as np
import pytest
from tests.native.awkward_floats import SIZES, awkward_arrays


def test_orders_against_numpy(compiled, random_generator):
    for n in (*SIZES, 70_000):
        for values in awkward_arrays(random_generator, n, np.float64):
            found = compiled.ascending_order(values)
            np.testing.assert_array_equal(found, np.argsort(values, kind="stable"))
    assert compiled.ascending_order(np.empty(0)).tolist() == []
    with pytest.raises(TypeError, match="incompatible"):
        compiled.ascending_order(np.zeros(3, dtype=np.float32))
