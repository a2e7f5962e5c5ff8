"""Row numbers of parts: draws of a part are those of the whole."""

import numpy as np
import pytest
from tests.kinds import STATEMENTS, random_prediction

from uqassay.predictions.base import numbered


@pytest.mark.parametrize("kind", STATEMENTS)
def test_parts_have_the_draws_of_the_whole(kind, random_generator):
    whole = random_prediction(kind, random_generator, 6)
    part = whole[2:5]
    assert numbered(part, 40) is part  # a slice keeps its numbers
    fresh = object.__new__(type(part))
    for name, value in vars(part).items():
        object.__setattr__(fresh, name, None if name == "row_numbers" else value)
    assert numbered(fresh, 2).row_numbers.tolist() == [2, 3, 4]
    np.testing.assert_array_equal(numbered(fresh, 2).lower_probs(), whole.lower_probs()[2:5])
