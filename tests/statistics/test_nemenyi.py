"""Nemenyi's test against Demšar's tables and scikit-posthocs."""

import numpy as np
import pytest
from tests.statistics import printed_comparisons as printed

from uqassay.errors import InputError
from uqassay.statistics import nemenyi_difference, nemenyi_pvalues


def test_difference_against_the_printed_example():
    assert nemenyi_difference(4, 14) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=5e-4)
    assert nemenyi_difference(4, 14) == pytest.approx(printed.PRINTED_DIFFERENCE, abs=0.005)
    assert nemenyi_difference(4, 14) == pytest.approx(printed.AUTORANK["cd"], rel=1e-5)  # which has q to six digits


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.10])
def test_critical_values_against_the_printed_table(alpha):
    for j, q in enumerate(printed.CRITICAL[alpha], start=2):
        n = j * (j + 1)
        # the paper cuts some of its digits off
        assert nemenyi_difference(j, n, level=1 - alpha) * np.sqrt(6) == pytest.approx(q, abs=1.1e-3)


def test_pvalues_against_scikit_posthocs():
    p = nemenyi_pvalues(printed.AUC)
    assert np.isnan(np.diag(p)).all()
    assert {pair: p[pair] for pair in printed.NEMENYI} == pytest.approx(printed.NEMENYI, abs=1e-6)
    assert np.array_equal(p, p.T, equal_nan=True)


@pytest.mark.parametrize(("j", "n", "message"), [(1, 5, "n_models"), (3, 0, "n_data_sets"), (2.5, 3, "n_models")])
def test_bad_numbers_are_refused(j, n, message):
    with pytest.raises(InputError, match=message):
        nemenyi_difference(j, n)
