"""Instances kept from a longer test set are found by their row numbers; parts join to the whole."""

import numpy as np
import pytest
from tests.kinds import STATEMENTS, random_prediction

from uqassay.evidence.kept_rows import joined_predictions, rows_of


@pytest.mark.parametrize("kind", STATEMENTS)
def test_kept_rows_are_those_of_the_whole(kind, random_generator):
    whole = random_prediction(kind, random_generator, 9)
    kept = np.array([1, 4, 5, 8])
    held, rows = whole[kept], np.array([8, 1, 5])
    for found in (rows_of(held, rows, kept), rows_of(whole, rows, None)):
        np.testing.assert_array_equal(found.lower_probs(), whole.lower_probs()[rows])
        np.testing.assert_array_equal(found.mean_probs(), whole.mean_probs()[rows])
    for missing in ([0], [4, 9], [1, 2]):
        with pytest.raises(LookupError, match="not kept"):
            rows_of(held, np.array(missing), kept)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_parts_join_to_the_whole(kind, random_generator):
    whole = random_prediction(kind, random_generator, 9)
    whole = whole.with_metadata(ids=np.arange(9) * 3, groups=np.arange(9) // 2)
    joined = joined_predictions([whole[:1], whole[1:6], whole[6:]])
    assert joined.n_instances == 9
    for name in (*whole.array_names(), "ids", "groups"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    np.testing.assert_array_equal(joined.upper_probs(), whole.upper_probs())
    assert joined_predictions([whole]) is whole
