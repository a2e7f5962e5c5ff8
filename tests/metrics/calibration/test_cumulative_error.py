"""Cumulative calibration errors against their definition, with ties, in batches and against scipy."""

import numpy as np
import pytest
from scipy import stats
from tests.refusals import refuses

from uqassay.metrics.calibration import PrepareCumulative, cumulative_calibration_error


def by_definition(events, values, statistic):
    return extremes(values - events, values, statistic)


def extremes(deviations, values, statistic):
    """The extremes of C(t) over all t, one by one."""
    sums = [0.0] + [float(deviations[values <= t].sum()) / len(values) for t in np.unique(values)]
    return max(abs(s) for s in sums) if statistic == "ks" else max(sums) - min(sums)


def expected(y, probs, by, statistic):
    if by == "confidence":
        return by_definition(probs.argmax(axis=1) == y, probs.max(axis=1), statistic)
    return np.mean([by_definition(y == k, probs[:, k], statistic) for k in range(probs.shape[1])])


@pytest.mark.parametrize("by", ["confidence", "classwise"])
@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
def test_against_the_definition_with_and_without_ties(random_generator, by, statistic):
    for n, k in ((1, 2), (2, 2), (30, 3), (40, 12)):
        for probs in (
            random_generator.dirichlet(np.ones(k), n),
            random_generator.multinomial(4, np.ones(k) / k, n) / 4,  # many ties, and 0 and 1
            np.full((n, k), 1 / k),
        ):
            y = random_generator.integers(0, k, n)
            found = cumulative_calibration_error(y, probs, by=by, statistic=statistic)
            assert found == pytest.approx(expected(y, probs, by, statistic), abs=1e-13)


@pytest.mark.parametrize("by", ["confidence", "classwise"])
def test_a_batch_is_a_loop(random_generator, by):
    probs = random_generator.multinomial(5, np.ones(3) / 3, (4, 25)) / 5
    y = random_generator.integers(0, 3, (2, 1, 25))
    found = cumulative_calibration_error(y, probs, by=by, batched=True)
    assert found.shape == (2, 4)
    for i in range(2):
        for j in range(4):
            assert found[i, j] == pytest.approx(expected(y[i, 0], probs[j], by, "ks"), abs=1e-13)


def test_of_many_calibrated_labels_it_is_the_supremum_of_a_brownian_motion():
    """With equal variances C √n / σ is a random walk; P(sup |W| > 2.2414) is .05."""
    rng = np.random.default_rng(0)
    confidence = 0.5 + 1e-3 * rng.random(1000)
    probs = np.stack([confidence, 1 - confidence], axis=1)
    labels = (rng.random((2000, 1000)) > confidence).astype(int)
    found = PrepareCumulative("confidence")(probs).values(labels) * np.sqrt(1000) / 0.5
    assert stats.binomtest(int((found > 2.2414).sum()), 2000, 0.05).pvalue > 1e-3


def test_options_are_checked():
    with refuses("by", "choice", got="'strong'"):
        cumulative_calibration_error([0], [[0.5, 0.5]], by="strong")
    with refuses("statistic", "choice", got="'ad'"):
        cumulative_calibration_error([0], [[0.5, 0.5]], statistic="ad")


@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
@pytest.mark.parametrize("n", [1, 2, 30, 1001])
def test_many_draws_have_the_same_bits_with_and_without_kernel(statistic, n, monkeypatch):
    rng = np.random.default_rng(n)
    for probs in (rng.dirichlet(np.ones(4), n), rng.multinomial(4, np.ones(4) / 4, n) / 4, np.eye(4)[np.arange(n) % 4]):
        prepared = PrepareCumulative("confidence", statistic)(probs)
        for shape in ((n,), (3, n), (17, n), (2, 5, n)):
            labels = rng.integers(0, 4, shape)
            found = []
            for pure in ("0", "1"):
                monkeypatch.setenv("UQASSAY_PURE", pure)
                found.append(prepared.values(labels))
            assert found[0].shape == shape[:-1]
            np.testing.assert_array_equal(*found)


def test_an_undefined_confidence_gives_an_undefined_value(monkeypatch):
    probs = np.array([[0.4, 0.6], [np.nan, 0.5], [0.9, 0.1]])
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        assert np.isnan(PrepareCumulative()(probs).values(np.zeros((3, 3), dtype=np.intp))).all()


@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
@pytest.mark.parametrize(("n", "n_groups"), [(1, 1), (40, 3), (90, 90), (300, 7)])
def test_signs_of_groups_against_signed_deviations_one_by_one(statistic, n, n_groups, monkeypatch):
    rng = np.random.default_rng([n, n_groups])
    for probs in (rng.dirichlet(np.ones(4), n), rng.multinomial(4, np.ones(4) / 4, n) / 4):
        groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
        labels = rng.integers(0, 4, n)
        signs = rng.choice([-1.0, 1.0], (37, n_groups))
        confidence, hits = probs.max(axis=1), probs.argmax(axis=1) == labels
        expected = [extremes((confidence - hits) * sign[groups], confidence, statistic) for sign in signs]
        found = []
        for pure in ("0", "1"):
            monkeypatch.setenv("UQASSAY_PURE", pure)
            measure = PrepareCumulative("confidence", statistic)(probs)
            found.append(measure.by_groups(groups, n_groups)(labels).values(signs))
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[0], expected, atol=1e-13)
