"""Signs of groups: every pattern against brute force, and the sums against loops over groups."""

import itertools

import numpy as np
import pytest

from tests.calibration.made_up_data import draw_labels, random_predictions
from tests.refusals import refuses
from uqassay.calibration.single import n_patterns, sign_test
from uqassay.metrics.calibration import Groupwise
from uqassay.metrics.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure

GROUPED = [name for name, measure in CALIBRATION_MEASURES.items() if isinstance(measure.prepare(np.eye(3)), Groupwise)]


def data(n=60, k=3):
    probs = random_predictions(4, n, k)
    return draw_labels(np.random.default_rng(5), probs), probs


def test_every_pattern_of_signs_against_a_loop_over_bins():
    labels, probs = data()
    groups = np.arange(60) % 5
    found = sign_test(labels, probs, calibration_measure("ece-confidence"), groups, 99, np.random.default_rng(0))
    confidence, correct = probs.max(axis=1), probs.argmax(axis=1) == labels
    expected = []
    for signs in itertools.product([1, -1], repeat=4):
        signed = np.array([1, *signs])[groups] * (correct - confidence)
        place = np.ceil(confidence * 10).astype(int)
        expected.append(sum(abs(signed[place == b].sum()) for b in range(11)) / 60)
    assert found.statistic == pytest.approx(expected[0])
    np.testing.assert_allclose(np.sort(found.null), np.sort(expected[1:]), atol=1e-14)


@pytest.mark.parametrize("name", GROUPED)
def test_without_a_change_of_sign_it_is_the_measure(name):
    labels, probs = data()
    prepared = CALIBRATION_MEASURES[name].prepare(probs)
    for groups in (np.arange(60), np.arange(60) // 7, np.zeros(60, dtype=int)):
        signed = prepared.by_groups(groups, groups.max() + 1)(labels)
        found = signed.values(np.ones((2, groups.max() + 1)))
        np.testing.assert_allclose(found, float(prepared.values(labels)), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("name", "own"), [("skce-uq", False), ("skce-biased", True)])
def test_signs_of_kernel_errors_against_a_loop(name, own):
    labels, probs = data(24)
    groups = np.arange(24) % 5
    signs = np.random.default_rng(1).integers(0, 2, (3, 5)) * 2.0 - 1.0
    found = CALIBRATION_MEASURES[name].prepare(probs).by_groups(groups, 5)(labels).values(signs)
    errors = probs - np.eye(3)[labels]
    for d in range(3):
        pairs = [(i, j) for i in range(24) for j in range(24) if own or i != j]
        total = sum(
            np.exp(-0.5 * np.abs(probs[i] - probs[j]).sum())
            * (errors[i] @ errors[j])
            * signs[d, groups[i]]
            * signs[d, groups[j]]
            for i, j in pairs
        )
        assert found[d] == pytest.approx(total / len(pairs), abs=1e-12)


def test_signs_of_cumulative_errors_against_a_loop():
    labels, probs = data(30)
    probs = np.round(probs, 1) + 0.01  # ties
    probs /= probs.sum(axis=1, keepdims=True)
    groups = np.arange(30) % 4
    signs = np.random.default_rng(1).integers(0, 2, (3, 4)) * 2.0 - 1.0
    confidence, correct = probs.max(axis=1), probs.argmax(axis=1) == labels
    for name in ("ks-confidence", "kuiper-confidence"):
        found = CALIBRATION_MEASURES[name].prepare(probs).by_groups(groups, 4)(labels).values(signs)
        for d in range(3):
            deviations = signs[d][groups] * (confidence - correct)
            sums = [0.0] + [deviations[confidence <= t].sum() / 30 for t in np.unique(confidence)]
            expected = max(np.abs(sums)) if name.startswith("ks") else max(sums) - min(sums)
            assert found[d] == pytest.approx(expected, abs=1e-12)


def test_groups_of_one_instance_are_the_test_of_independent_labels():
    """The second p-value draws labels independently then, so both tests agree up to chance."""
    rejected = np.zeros(2)
    for run in range(40):
        rng = np.random.default_rng(run)
        probs = rng.dirichlet(np.ones(3), 60)
        labels = draw_labels(rng, probs)
        found = sign_test(labels, probs, calibration_measure("ece-confidence"), np.arange(60), 19, rng)
        rejected += [found.sign_pvalue <= 0.25, found.dependent_pvalue <= 0.25]
        assert found.pvalue == max(found.sign_pvalue, found.dependent_pvalue)
    assert (np.abs(rejected / 40 - 0.25) < 3.3 * (0.25 * 0.75 / 40) ** 0.5).all()


def test_number_of_patterns():
    assert [n_patterns(g, 99, "upper") for g in (1, 2, 7, 8)] == [0, 1, 63, None]
    assert [n_patterns(g, 99, "both") for g in (1, 2, 6, 7, 5000)] == [1, 3, 63, None, None]


def test_a_measure_without_sums_is_refused():
    class Constant:
        def values(self, labels):
            return np.zeros(labels.shape[:-1])

    mine = CalibrationMeasure("mine", "strong", "Mine.", "none", lambda probs: Constant())
    with refuses("groups", "missing", got="3 groups"):
        sign_test(*data(), mine, np.arange(60) % 3, 9, np.random.default_rng(0))
