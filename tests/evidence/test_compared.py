"""Methods of an assay that compare: a margin given to the call, or that of the assay."""

import numpy as np
import pytest

import uqassay as uq


@pytest.fixture(scope="module")
def assay():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.6, 0.9, 500)
    a, b = (np.stack([v, 1 - v], axis=1) for v in (p, p + rng.uniform(-0.05, 0.05, 500)))
    return uq.assay(
        {"a": uq.Point(a), "b": [uq.Point(b), uq.Point(a)]}, np.zeros(500, int), distance="brier", calibration=()
    )


def test_a_margin_says_more(assay):
    plain, found = assay.compare("a", "b"), assay.compare("a", "b", margin=0.1)
    assert plain.margin is None
    assert found.margin.verdict == "equivalent"
    assert found.pvalue == plain.pvalue
    assert found.detectable == plain.detectable


def test_the_margin_of_the_assay_is_the_default():
    p = uq.Point([[0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
    q = uq.Point([[0.7, 0.3], [0.8, 0.2], [0.5, 0.5]])
    a = uq.assay({"a": p, "b": q}, [0, 0, 0], margin=0.3, calibration=())
    assert a.compare("a", "b").margin.margin == 0.3
    assert a.compare("a", "b", margin=0.2, method="permutation").margin.margin == 0.2


def test_variance_of_a_model_and_of_a_difference(assay):
    assert assay.variance("b").n_runs == (2,)
    assert assay.variance("a", "b").n_runs == (1, 2)
    assert float(assay.variance("a", "b").value) == pytest.approx(float(assay.compare("a", "b").difference))
