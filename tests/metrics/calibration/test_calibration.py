import math

import numpy as np
import pytest
from scipy import stats
from tests.calibration.made_up_data import draw_labels
from tests.notes import said
from tests.refusals import refuses

from uqassay.calibration.one_classifier import hosmer_lemeshow_test
from uqassay.metrics.calibration import (
    PrepareCumulative,
    bins_of_events,
    cumulative_calibration_error,
    hosmer_lemeshow_statistic,
)

# -- cumulative error ------------------------------------------------------------------------------------------------
#
# Cumulative calibration errors against their definition, with ties, in batches and against scipy.


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


# -- hosmer lemeshow -------------------------------------------------------------------------------------------------
#
# The Hosmer-Lemeshow statistic and its test; run as a script it prints the table of the test's docstring.


def by_hand(y, probs, n_bins, form, bins):
    n, total = len(y), 0.0
    for k in range(probs.shape[1]):
        values = probs[:, k if bins == "classwise" else 0].tolist()
        starts = [sorted(values)[n * j // n_bins] for j in range(1, n_bins)]
        place = [sum(v >= s for s in starts) for v in values]
        for b in range(n_bins):
            rows = [i for i in range(n) if place[i] == b]
            observed, expected = sum(y[i] == k for i in rows), sum(probs[i, k] for i in rows)
            if observed == expected == 0:
                continue
            if expected == 0:
                total = math.inf
                continue
            term = (observed - expected) ** 2 / expected
            total += term if form == "counts" else term / len(rows)
    return total


@pytest.mark.parametrize("form", ["counts", "proportions"])
@pytest.mark.parametrize("bins", ["classwise", "common"])
@pytest.mark.parametrize(("k", "n", "n_bins"), [(2, 40, 5), (3, 23, 4), (10, 60, 5), (3, 3, 5), (4, 30, 1)])
def test_statistic_against_brute_force(random_generator, form, bins, k, n, n_bins):
    coarse = np.diff(np.sort(random_generator.integers(0, 9, (n, k - 1)), axis=1), axis=1, prepend=0, append=8) / 8
    for probs in (random_generator.dirichlet(np.ones(k), n), coarse):
        for y in (random_generator.integers(0, k, n), draw_labels(random_generator, probs)):
            found = hosmer_lemeshow_statistic(y, probs, n_bins=n_bins, form=form, bins=bins)
            assert found == pytest.approx(by_hand(y, probs, n_bins, form, bins), rel=1e-12)


def test_two_classes_give_the_statistic_for_one_event(random_generator):
    p = random_generator.uniform(0.05, 0.95, 200)
    y = (random_generator.random(200) < p).astype(int)
    total = 0.0
    for rows in np.array_split(np.argsort(p), 5):
        e, n = p[rows].sum(), len(rows)
        total += (y[rows].sum() - e) ** 2 / (e * (1 - e / n))
    assert hosmer_lemeshow_statistic(y, np.stack([1 - p, p], axis=1)) == pytest.approx(total)


@pytest.mark.parametrize("options", [{}, {"form": "proportions"}, {"bins": "common"}, {"n_bins": 30}])
def test_batch_is_a_loop(random_generator, options):
    probs = random_generator.dirichlet(np.ones(3), (4, 40))
    y = random_generator.integers(0, 3, (6, 1, 40))
    found = hosmer_lemeshow_statistic(y, probs, **options, batched=True)
    assert found.tolist() == [
        [hosmer_lemeshow_statistic(y[i, 0], probs[j], **options) for j in range(4)] for i in range(6)
    ]
    assert isinstance(hosmer_lemeshow_statistic(y[0, 0], probs[0], **options), float)


def test_probability_0():
    probs = np.array([[0.0, 1.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    assert hosmer_lemeshow_statistic([1, 1, 0, 1], probs, n_bins=2) == 0
    assert hosmer_lemeshow_statistic([1, 0, 0, 1], probs, n_bins=2) == np.inf
    assert hosmer_lemeshow_statistic([1, 0, 0, 1], probs, n_bins=2, form="proportions") == np.inf
    found = hosmer_lemeshow_test([1, 0, 0, 1], probs, n_bins=2)
    assert (found.statistic, found.pvalue) == (np.inf, 0.0)
    assert "class 0 occurred in bin 0, where all its probabilities are 0, so the statistic is infinite" in said(found)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"fitted": True}, ("fitted", "conflict", 'got bins="classwise"')),
        ({"fitted": True, "bins": "common", "n_bins": 2}, ("n_bins", "range")),
        ({"n_bins": 0}, ("n_bins", "range")),
        ({"bins": "own"}, ("bins", "choice")),
    ],
)
def test_invalid_input_is_refused(options, refusal):
    probs = np.tile([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]], (4, 1))
    with refuses(*refusal):
        hosmer_lemeshow_test([0, 1, 0] * 4, probs, **options)


# -- type I error -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", ["classwise", "common"])
@pytest.mark.parametrize("form", ["counts", "proportions"])
def test_events_that_are_nearly_impossible_are_infinitely_bad_without_warnings(bins, form):
    probs = [[1.0, 1e-320], [1.0, 1e-320]]
    assert hosmer_lemeshow_statistic([0, 1], probs, bins=bins, form=form) == np.inf
    assert hosmer_lemeshow_statistic([0, 0], probs, bins=bins, form=form) == pytest.approx(0, abs=1e-300)


def test_merged_bins_against_a_loop(random_generator):
    for least in (0.3, 1.0, 5.0, 1000.0):
        probs = random_generator.dirichlet(np.full(6, 0.1), 50)
        y = random_generator.integers(0, 6, 50)
        bins = bins_of_events(probs, 5, "classwise")
        total = 0.0
        for expected, observed in zip(bins.expected, bins.observed(y), strict=True):
            cells, waiting = [], np.zeros(2)
            for pair in zip(expected, observed, strict=True):
                waiting += pair
                if waiting[0] >= least:
                    cells.append(waiting.copy())
                    waiting[:] = 0
            if cells:
                cells[-1] += waiting
            else:
                cells = [waiting]
            total += sum((o - e) ** 2 / e for e, o in cells)
        found = hosmer_lemeshow_statistic(y, probs, least_expected=least)
        assert found == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "code"),
    [({"least_expected": -1.0}, "range"), ({"least_expected": 1.0, "form": "proportions"}, "conflict")],
)
def test_merging_is_checked(options, code):
    with refuses("least_expected", code):
        hosmer_lemeshow_statistic([0], [[0.5, 0.5]], **options)
