"""The Hosmer-Lemeshow statistic and its test; run as a script it prints the table of the test's docstring."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.calibration.hosmer_lemeshow import hosmer_lemeshow_test
from uqassay.metrics.calibration.hosmer_lemeshow import hosmer_lemeshow_statistic


def labels_from(generator, probs):
    return (generator.random((*probs.shape[:-1], 1)) > probs.cumsum(axis=-1)[..., :-1]).sum(axis=-1)


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
        for y in (random_generator.integers(0, k, n), labels_from(random_generator, probs)):
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
    found = hosmer_lemeshow_statistic(y, probs, **options)
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
    assert "class 0 happened in bin 0, where all its probabilities are 0: the statistic is infinite" in said(found)


def test_pvalue_and_degrees_of_freedom_against_scipy(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 500)
    y = labels_from(random_generator, probs)
    held_out = hosmer_lemeshow_test(y, probs, n_bins=6)
    assert held_out.degrees_of_freedom == 3 * 6
    assert held_out.pvalue == pytest.approx(stats.chi2.sf(held_out.statistic, 18))
    assert held_out.statistic == hosmer_lemeshow_statistic(y, probs, n_bins=6)
    assert texts(held_out) == ["held-out data: (K − 1) B degrees of freedom"]
    assert not held_out.fitted
    fitted = hosmer_lemeshow_test(y, probs, n_bins=6, bins="common", fitted=True)
    assert (fitted.degrees_of_freedom, fitted.n_bins, fitted.bins, fitted.fitted) == (3 * 4, 6, "common", True)
    assert fitted.pvalue == pytest.approx(stats.chi2.sf(fitted.statistic, 12))
    assert texts(fitted) == ["fitted to these instances: (K − 1) (B − 2) degrees of freedom"]


def test_what_the_note_says():
    tied = hosmer_lemeshow_test([0, 1, 1, 0], np.full((4, 2), 0.5))
    assert tied.degrees_of_freedom == 1
    assert texts(tied) == ["held-out data: (K − 1) B degrees of freedom with 1 of 5 bins that have instances"]
    rare = hosmer_lemeshow_test([0] * 10, np.tile([0.9, 0.1], (10, 1)) + np.arange(10)[:, None] * [1e-3, -1e-3])
    assert "5 of 10 expected counts are below 1: a rough p-value" in said(rare)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"fitted": True}, ("fitted", "conflict", 'got bins="classwise"')),
        ({"fitted": True, "bins": "common", "n_bins": 2}, ("n_bins", "range")),
        ({"n_bins": 0}, ("n_bins", "range")),
        ({"bins": "own"}, ("bins", "choice")),
    ],
)
def test_complaints(options, refusal):
    probs = np.tile([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]], (4, 1))
    with refuses(*refusal):
        hosmer_lemeshow_test([0, 1, 0] * 4, probs, **options)


def test_batches_have_no_test():
    with refuses("probs", "shape", got=r"got shapes \(1, 2\)"):
        hosmer_lemeshow_test([[0, 1]], [[0.5, 0.5], [0.5, 0.5]])
    with refuses("form", "choice", got="must be one of 'counts', 'proportions'"):
        hosmer_lemeshow_statistic([0], [[0.5, 0.5]], form="both")


# -- type I error -------------------------------------------------------------------------------------------------------


def rejection_rates(k, n_bins, n, repeats, alpha=0.05):
    """Share rejected with classwise and common bins, by the degrees of freedom of held-out data and of fitted models."""
    generator = np.random.default_rng(1)
    rejected = []
    for _ in range(repeats // 100):
        probs = generator.dirichlet(np.ones(k), (100, n))
        y = labels_from(generator, probs)
        found = [hosmer_lemeshow_statistic(y, probs, n_bins=n_bins, bins=bins) for bins in ("classwise", "common")]
        held_out, fitted = (stats.chi2.isf(alpha, (k - 1) * b) for b in (n_bins, n_bins - 2))
        rejected.append([(s >= limit).mean() for limit in (held_out, fitted) for s in found])
    return np.mean(rejected, axis=0)


def test_held_out_degrees_of_freedom_hold_and_fitted_ones_do_not():
    for k, n_bins in ((2, 5), (10, 5)):
        classwise, common, classwise_fitted, common_fitted = rejection_rates(k, n_bins, 500, 400)
        assert classwise < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
        assert common < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
        assert min(classwise_fitted, common_fitted) > (0.1 if k == 2 else 0.4)


@pytest.mark.slow
def test_fitted_degrees_of_freedom_hold_for_the_data_of_the_fit(needs):
    needs("sklearn")
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(6)
    pvalues = {"fitted": [], "held out": []}
    for _ in range(200):
        x = generator.normal(size=(600, 1))
        true = np.exp(x * [0.0, 0.5, 1.0])
        y = labels_from(generator, true / true.sum(axis=1, keepdims=True))
        probs = LogisticRegression(C=1e6, tol=1e-6).fit(x, y).predict_proba(x)
        for kind, found in pvalues.items():
            fitted = kind == "fitted"
            found.append(hosmer_lemeshow_test(y, probs, n_bins=10, bins="common", fitted=fitted).pvalue)
    for alpha in (0.05, 0.2, 0.5):
        error = 3 * math.sqrt(alpha * (1 - alpha) / 200)
        assert abs((np.array(pvalues["fitted"]) <= alpha).mean() - alpha) < error
    assert (np.array(pvalues["held out"]) <= 0.5).mean() < 0.5 - error  # a fit to the same data hides faults


if __name__ == "__main__":
    for k, n_bins in ((2, 5), (3, 5), (10, 5), (10, 10)):
        print(f"{k}, {n_bins}:", *(f"{rate:.3f}" for rate in rejection_rates(k, n_bins, 1000, 4000)))


@pytest.mark.parametrize("bins", ["classwise", "common"])
@pytest.mark.parametrize("form", ["counts", "proportions"])
def test_events_that_are_nearly_impossible_are_infinitely_bad_without_warnings(bins, form):
    probs = [[1.0, 1e-320], [1.0, 1e-320]]
    assert hosmer_lemeshow_statistic([0, 1], probs, bins=bins, form=form) == np.inf
    assert hosmer_lemeshow_statistic([0, 0], probs, bins=bins, form=form) == pytest.approx(0, abs=1e-300)
