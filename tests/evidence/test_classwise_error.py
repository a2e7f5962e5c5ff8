"""Classwise calibration error of the mean predictions, against loops."""

from itertools import pairwise

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.evidence import calibration as classwise_error
from uqassay.evidence.calibration import classwise_errors, classwise_gaps, errors_of_gaps


def by_loops(probs, shares):
    """Mean over classes of Σ_b |Σ (share − p)| / n over 10 bins [b/10, (b+1)/10), the last closed."""
    n, k = probs.shape
    total = 0.0
    for c in range(k):
        for b in range(10):
            inside = np.minimum(np.floor(probs[:, c] * 10), 9) == b
            total += abs((shares[inside, c] - probs[inside, c]).sum()) / n
    return total / k


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_against_loops(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 80, 4)
    y = random_generator.integers(4, size=80)
    pooled, alone = classwise_errors([prediction], y)
    assert pooled == alone == pytest.approx(by_loops(prediction.mean_probs(), np.eye(4)[y]), abs=1e-12)


def test_label_distributions_count_by_their_shares(random_generator):
    prediction = random_prediction("Point", random_generator, 50, 3)
    votes = random_generator.dirichlet(np.ones(3), 50)
    assert classwise_errors([prediction], votes)[0] == pytest.approx(by_loops(prediction.probs, votes), abs=1e-12)


def test_runs_are_pooled_before_the_absolute_value():
    """Two runs whose errors cancel are calibrated together, and not alone."""
    y = np.array([0, 1])
    sure, unsure = uq.Point([[0.55, 0.45]] * 2), uq.Point([[0.51, 0.49]] * 2)
    assert classwise_errors([sure, unsure], y) == pytest.approx((0.03, 0.05, 0.01))
    over, under = uq.Point([[0.58, 0.42]] * 4), uq.Point([[0.52, 0.48]] * 4)
    labels = np.array([0, 0, 1, 1])[[0, 1, 2, 3]]
    both = classwise_errors([over, under], labels)
    assert both == pytest.approx((0.05, 0.08, 0.02))


def test_chunks_and_order_change_nothing(monkeypatch, random_generator):
    prediction = random_prediction("Members", random_generator, 90, 3)
    y = random_generator.integers(3, size=90)
    whole = classwise_errors([prediction], y)
    order = random_generator.permutation(90)
    assert classwise_errors([prediction[order]], y[order]) == pytest.approx(whole, abs=1e-12)
    monkeypatch.setattr(classwise_error, "PART_BYTES", 200)
    assert classwise_errors([prediction], y) == pytest.approx(whole, abs=1e-12)


def test_perfect_and_single_predictions():
    assert classwise_errors([uq.Point(np.eye(3))], np.arange(3)) == (0.0, 0.0)
    assert classwise_errors([uq.Point(np.eye(2)[[0]])], np.array([1])) == (1.0, 1.0)


@pytest.mark.parametrize("soft", [False, True])
def test_gaps_of_parts_add_up_exactly(soft, random_generator):
    p = random_generator.dirichlet(np.ones(4), 1000)
    y = random_generator.dirichlet(np.ones(4), 1000) if soft else random_generator.integers(0, 4, 1000)
    whole = classwise_gaps(uq.Point(p), y)
    cuts = [0, 1, 300, 301, 999, 1000]
    parts = [classwise_gaps(uq.Point(p[a:b]), y[a:b]) for a, b in pairwise(cuts)]
    np.testing.assert_array_equal(np.sum(parts, axis=0), whole)
    assert errors_of_gaps([whole], 1000) == classwise_errors([uq.Point(p)], y)
