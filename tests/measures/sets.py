"""What several test files of this room share."""

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


def sizes_of(n_classes):
    return np.array([a.bit_count() for a in range(2**n_classes)])
