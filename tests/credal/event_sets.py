"""What several test files of this room share."""

from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)
