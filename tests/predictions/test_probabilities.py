"""Arithmetic on rows of probabilities."""

import numpy as np
import pytest

import uqassay as uq


@pytest.mark.parametrize("kind", [uq.Point, lambda p: uq.Members(p[:, None]), lambda p: uq.Vertices(p[:, None])])
def test_a_hair_below_zero_counts_as_zero(kind):
    prediction = kind(np.array([[1 + 5e-8, -5e-8, 0.0], [0.2, 0.3, 0.5]]))
    for name in ("total-entropy", "upper-entropy", "credal-uncertainty", "least-confidence"):
        assert np.isfinite(uq.measures.uncertainty_score(prediction, name)).all()
    for y in ([1, 1], [[0.5, 0.5, 0], [1, 0, 0]]):
        for distance in ("kl", "js", "tv", "hellinger", "brier"):
            assert np.isfinite(uq.losses.unified_loss(y, prediction, distance=distance).total).all()
    assert np.isfinite(
        uq.assay({"m": prediction}, [1, 1], n_draws=10).findings().query("metric == 'kl'").estimate
    ).all()


def test_one_class_against_the_rest_keeps_small_sums_exact():
    from uqassay.predictions.points import event_and_rest

    p = np.array([[1e-20, 3e-20, 1.0]])
    np.testing.assert_allclose(event_and_rest(p, 2), [[4e-20, 1.0]], rtol=1e-15)
    coarse = np.array([[0.2, 0.8005]], np.float16)  # misses 1 by more than double precision allows
    found = event_and_rest(coarse, 1)
    np.testing.assert_array_equal(found.sum(axis=1), 1)


def test_rows_whose_sum_overflows_are_scaled():
    counts = np.array([[1e308, 1e308, -1.0]])  # -1 is rounding beside such numbers
    assert uq.Point(counts, normalise=True).probs.tolist() == [[0.5, 0.5, 0.0]]
