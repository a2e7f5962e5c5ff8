"""Rounded numbers against the format of each."""

import numpy as np

from uqassay.report.sections import rounded


def test_against_the_format_of_each(random_generator):
    values = np.concatenate(
        [random_generator.normal(size=200) * 10.0 ** np.arange(-100, 100), [0.0, -0.0, np.inf, 0.5]]
    )
    for digits in (3, 5):
        assert rounded(values, digits) == [float(f"{x:.{digits}g}") for x in values]
    assert rounded(iter([0.25, 1]), 1) == [0.2, 1.0]
    assert np.isnan(rounded([np.nan], 3)).all()
    assert rounded([], 3) == []
