"""The Hosmer-Lemeshow statistic and its test; run as a script it prints the table of the test's docstring."""

import math

import numpy as np
import pytest
from tests.calibration.made_up_data import draw_labels
from tests.notes import said
from tests.refusals import refuses

from uqassay.calibration.single import hosmer_lemeshow_test
from uqassay.metrics.calibration import bins_of_events, hosmer_lemeshow_statistic


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
