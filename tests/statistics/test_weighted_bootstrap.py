"""The weighted bootstrap: its counts against their distribution, its intervals against SciPy and simulation.

Run as a script, this file prints the table of `bootstrap_estimate` in docs/evidence-comparisons.md.
"""

import sys

import numpy as np
import pytest
from scipy import special, stats
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.statistics import bootstrap_means, mean_estimate
from uqassay.statistics.auc import auc_estimate, auc_linearised
from uqassay.statistics.bootstrap import bootstrap_estimate, bootstrap_weights


def auc_of(positive, scores):
    """The area as a function of weights, ties ½, by one sort."""
    order = np.argsort(scores)
    level = np.unique(np.asarray(scores)[order], return_inverse=True)[1]
    e = np.asarray(positive, dtype=float)[order]
    tied = level[-1] + 1 < len(level)

    def area(w):
        w = w[order]
        a, b = w * e, w * (1 - e)
        below = np.cumsum(b)
        if tied:
            by_level = np.bincount(level, weights=b)
            below = (np.cumsum(by_level) - by_level / 2)[level]
        whole = a.sum() * b.sum()
        return float(a @ below) / whole if whole > 0 else np.nan

    return area


def mean_of(values):
    return lambda w: float(w @ values / w.sum())


# ----------------------------------------------------------------------------------------------------------- draws


@pytest.mark.parametrize("scheme", ["multinomial", "poisson"])
def test_counts_have_the_distribution_of_their_scheme(scheme):
    n, b = 8, 20_000
    counts = np.stack(list(bootstrap_weights(n, scheme=scheme, n_draws=b, rng=1)))
    assert counts.shape == (b, n)
    variance = 1 - 1 / n if scheme == "multinomial" else 1.0
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=0.03)
    np.testing.assert_allclose(counts.var(axis=0), variance, atol=0.05)
    covariance = np.cov(counts.T)[np.triu_indices(n, 1)]
    np.testing.assert_allclose(covariance, -1 / n if scheme == "multinomial" else 0.0, atol=0.04)
    assert (counts.sum(axis=1) == n).all() == (scheme == "multinomial")
    assert counts.sum(axis=1).min() > 0


def test_strata_keep_their_sizes_and_poisson_strata_are_never_empty():
    strata = np.array(list("abcaabbacb"))
    for weights in bootstrap_weights(10, strata=strata, n_draws=300):
        assert [weights[strata == name].sum() for name in "abc"] == [4, 4, 2]
    totals = np.array(
        [
            [weights[strata == name].sum() for name in "abc"]
            for weights in bootstrap_weights(10, strata=strata, scheme="poisson", n_draws=4000)
        ]
    )
    assert totals.min() == 1
    expected = np.array([4, 4, 2]) / (1 - np.exp(-np.array([4, 4, 2])))  # Poisson, given that it is not 0
    np.testing.assert_allclose(totals.mean(axis=0), expected, rtol=0.03)


@pytest.mark.parametrize("scheme", ["multinomial", "poisson"])
def test_groups_are_drawn_whole_and_weights_multiply(scheme, random_generator):
    groups = random_generator.integers(0, 6, size=30)
    w = random_generator.random(30) * (random_generator.random(30) > 0.2)
    strata = groups % 2  # groups inside strata
    plain = list(bootstrap_weights(30, groups=groups, sample_weight=w, scheme=scheme, n_draws=50))
    inside = list(bootstrap_weights(30, groups=groups, strata=strata, sample_weight=w, scheme=scheme, n_draws=50))
    for weights in plain + inside:
        assert (weights[w == 0] == 0).all()
        ratio = weights[w > 0] / w[w > 0]
        np.testing.assert_allclose(ratio, np.round(ratio), atol=1e-12)
        for g in range(6):
            assert len(set(np.round(ratio[groups[w > 0] == g]))) <= 1


def test_groups_in_several_strata_are_drawn_within_their_set_of_strata():
    groups = np.repeat(np.arange(9), 2)
    strata = np.array([0, 0] * 3 + [0, 1] * 4 + [1, 1] * 2)  # three inside 0, four in both, two inside 1
    for weights in bootstrap_weights(18, groups=groups, strata=strata, n_draws=200):
        counts = weights[::2]
        assert [counts[:3].sum(), counts[3:7].sum(), counts[7:].sum()] == [3, 4, 2]
        assert (weights[::2] == weights[1::2]).all()
    note = said(bootstrap_estimate(mean_of(np.arange(18.0)), 18, groups=groups, strata=strata, n_draws=50))
    assert note == "9 groups | 3 strata"


@pytest.mark.parametrize("options", [{}, {"strata": [0, 1] * 10}, {"scheme": "poisson"}, {"groups": [0, 1, 2, 3] * 5}])
def test_draws_do_not_depend_on_the_number_of_draws(options):
    few = np.stack(list(bootstrap_weights(20, n_draws=7, rng=3, **options)))
    many = np.stack(list(bootstrap_weights(20, n_draws=20, rng=3, **options)))
    assert (few == many[:7]).all()
    assert len(np.unique(many, axis=0)) > 10
    if "groups" in options:
        renamed = np.stack(list(bootstrap_weights(20, n_draws=7, rng=3, groups=list("abcd") * 5)))
        assert (renamed == few).all()


# ------------------------------------------------------------------------------------------------------- intervals


def test_bca_of_a_mean_against_that_of_mean_estimate(random_generator):
    values = random_generator.exponential(size=40)
    w = random_generator.random(40)
    groups = random_generator.integers(0, 15, size=40)
    for options in ({}, {"groups": groups}, {"groups": groups, "sample_weight": w}):
        expected = mean_estimate(values, method="bca", n_draws=8_000, **options)
        found = bootstrap_estimate(mean_of(values), 40, n_draws=8_000, rng=1, **options)
        assert float(found) == pytest.approx(float(expected), rel=1e-12)
        width = expected.high - expected.low
        np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high], atol=0.03 * width)


def test_percentile_against_bootstrap_means(random_generator):
    values = random_generator.exponential(size=25)
    draws = bootstrap_means(values, n_draws=8_000, rng=5)
    found = bootstrap_estimate(mean_of(values), 25, method="percentile", n_draws=8_000)
    np.testing.assert_allclose([found.low, found.high], np.quantile(draws, [0.025, 0.975]), atol=0.03)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_stratified_interval_against_scipys_of_two_samples(random_generator, method):
    wrong, right = random_generator.normal(1.0, 1, size=14), random_generator.exponential(size=60) - 1
    e, s = np.repeat([1, 0], [14, 60]), np.concatenate([wrong, right])
    reference = stats.bootstrap(
        (wrong, right),
        lambda a, b: (a[:, None] > b).mean(),
        vectorized=False,
        method={"bca": "BCa"}.get(method, method),
        n_resamples=8000,
        rng=np.random.default_rng(2),
    ).confidence_interval
    found = bootstrap_estimate(auc_of(e, s), 74, strata=e, method=method, n_draws=8000)
    np.testing.assert_allclose([found.low, found.high], [reference.low, reference.high], atol=0.01)
    assert found.method == f"{method}, multinomial, stratified"


@pytest.mark.parametrize("options", [{}, {"stratified": True}, {"groups": True, "stratified": True}])
def test_acceleration_from_influences_is_that_of_the_jackknife(random_generator, options):
    e = (np.arange(120) % 6 == 0).astype(int)
    s = random_generator.normal(size=120) + 1.2 * e
    shared = {
        "strata": e if options.get("stratified") else None,
        "groups": np.arange(120) // 3 if options.get("groups") else None,
        "n_draws": 400,
    }
    measured = bootstrap_estimate(auc_of(e, s), 120, **shared)
    given = bootstrap_estimate(auc_of(e, s), 120, influence=auc_linearised(e * 1.0, s, None).influence, **shared)
    width = measured.high - measured.low
    np.testing.assert_allclose([given.low, given.high], [measured.low, measured.high], atol=0.04 * width)
    plain = bootstrap_estimate(auc_of(e, s), 120, influence=np.zeros(120), **shared)
    assert abs(plain.low - measured.low) > 1e-3  # the acceleration matters


def test_metrics_of_the_library_can_be_resampled(random_generator):
    e = (random_generator.random(60) < 0.3).astype(float)
    s = random_generator.normal(size=60) + e
    found = bootstrap_estimate(lambda w: auc_estimate(e, s, sample_weight=w), 60, strata=e, n_draws=200)
    direct = bootstrap_estimate(auc_of(e, s), 60, strata=e, n_draws=200)
    np.testing.assert_allclose([found, found.low, found.high], [direct, direct.low, direct.high], rtol=1e-9)


# ----------------------------------------------------------------------------------------------------------- notes


def test_undefined_draws_are_counted():
    e, s = np.array([1] + [1] + [0] * 8), np.array([3.0, 0.5, 1, 2, 4, 0, 1, 2, 0.7, 0.2])
    found = bootstrap_estimate(auc_of(e, s), 10, n_draws=2000)
    missing = int(said(found).split()[2])
    assert said(found) == f"undefined in {missing} of 2000 resamples, which are left out"
    assert abs(missing / 2000 - 0.8**10) < 0.03
    assert texts(bootstrap_estimate(auc_of(e, s), 10, strata=e, n_draws=2000)) == ["2 strata"]


def test_a_missing_interval_has_a_note():
    e = np.array([0, 0, 0, 1, 1])
    perfect = bootstrap_estimate(auc_of(e, e), 5, strata=e, n_draws=100)
    assert (float(perfect), said(perfect)) == (1.0, "2 strata | all resamples give the same value: no interval")
    assert np.isnan(perfect.low)
    assert texts(bootstrap_estimate(auc_of([0, 0], [1, 2]), 2)) == ["nan on the sample: no interval"]
    assert texts(bootstrap_estimate(lambda w: np.inf, 2)) == ["inf on the sample: no interval"]
    assert texts(bootstrap_estimate(mean_of(np.ones(1)), 1)) == ["1 case: no interval"]
    assert texts(bootstrap_estimate(mean_of(np.ones(3)), 3, groups=[1, 1, 1])) == ["1 group", "1 group: no interval"]
    lonely = bootstrap_estimate(auc_of([1, 0, 0, 0], [2, 1, 3, 0]), 4, strata=[1, 0, 0, 0], n_draws=500)
    assert texts(lonely) == ["2 strata, 1 of a single unit"]
    assert lonely.low < lonely < lonely.high
    single = bootstrap_estimate(auc_of([1, 0, 0, 0], [2, 1, 3, 0]), 4, n_draws=500)
    assert said(single).endswith("one case or group decides whether the value is finite: no interval")
    only_whole = bootstrap_estimate(lambda w: 1.0 if (w == 1).all() else np.nan, 30, n_draws=50)
    assert "undefined in 50 of 50 resamples" in said(only_whole)
    assert "no resample gives a value" in said(only_whole)
    one_sided = bootstrap_estimate(lambda w: float((w == 1).all()) + 1e-9 * w[0], 9, n_draws=100)
    assert texts(one_sided) == ["all resamples lie on one side of the value: no interval"]


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"scheme": "bayes"}, "scheme", "choice", "got 'bayes'"),
        ({"method": "t"}, "method", "choice", ""),
        ({"strata": [1, 2]}, "strata", "shape", r"got shape \(2,\)"),
        ({"strata": [1, np.nan, 2]}, "strata", "finite", ""),
        ({"sample_weight": [0, 0, 0]}, "sample_weight", "empty", ""),
        ({"influence": [1, 2]}, "influence", "finite", "got shape"),
        ({"influence": [1, 2, np.inf]}, "influence", "finite", "needs one finite value .* with 1 infinite"),
    ],
)
def test_bootstrap_refuses(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        bootstrap_estimate(mean_of(np.arange(3.0)), 3, **options)


@pytest.mark.parametrize("n", [0, 2.0, True])
def test_bootstrap_refuses_an_invalid_number_of_instances(n):
    with refuses("n", "type" if n else "range", got="must be a whole number of at least 1"):
        bootstrap_weights(n)


# -------------------------------------------------------------------------------------------------------- coverage

ROWS = {
    "percentile": {"method": "percentile"},
    "percentile, stratified": {"method": "percentile", "strata": True},
    "percentile, Poisson": {"method": "percentile", "scheme": "poisson"},
    "percentile, Poisson, stratified": {"method": "percentile", "scheme": "poisson", "strata": True},
    "bca": {},
    "bca, stratified": {"strata": True},
    "bca, Poisson": {"scheme": "poisson"},
    "bca, Poisson, stratified": {"scheme": "poisson", "strata": True},
    "`auc_estimate`": {"estimate": "adjusted"},
    '`auc_estimate`, "delong"': {"estimate": "delong"},
}


def coverage(options, auc, errors, n_samples, n_draws, n=200):
    """Share of intervals that hold the area, their mean width, and the share of samples without one."""
    options = dict(options)
    rng = np.random.default_rng(errors)
    e = (np.arange(n) < errors).astype(float)
    if options.pop("strata", False):
        options["strata"] = e
    closed = options.pop("estimate", None)
    covered, widths, missing = 0, [], 0
    for _ in range(n_samples):
        s = rng.normal(size=n) + special.ndtri(auc) * np.sqrt(2) * e
        if closed:
            found = auc_estimate(e, s, method=closed)
        else:
            psi = auc_linearised(e, s, None).influence
            found = bootstrap_estimate(auc_of(e, s), n, influence=psi, n_draws=n_draws, rng=rng, **options)
        missing += np.isnan(found.low)
        covered += found.low <= auc <= found.high
        widths.append(found.high - found.low)
    return covered / n_samples, float(np.nanmean(widths)), missing / n_samples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "auc", "errors", "low", "high"),
    [
        ("bca, stratified", 0.95, 5, 0.65, 0.85),
        ("bca", 0.8, 20, 0.87, 0.985),
        ("`auc_estimate`", 0.8, 5, 0.95, 1.0),
        ("`auc_estimate`", 0.95, 20, 0.94, 1.0),
    ],
)
def test_coverage_is_as_documented(name, auc, errors, low, high):
    share, _, _ = coverage(ROWS[name], auc, errors, 120, 120)
    assert low <= share <= high


def print_table(only, n_samples=1000):
    for name, options in ROWS.items():
        if not name.startswith(only):
            continue
        cells = []
        for auc in (0.8, 0.95):
            for errors in (5, 10, 20):
                share, width, missing = coverage(options, auc, errors, n_samples, 500)
                nan = f" {100 * missing:.0f}" if missing >= 0.005 else ""
                cells.append(f"{100 * share:.1f} ({width:.2f}){nan}")
        print(f"{name:31s}", "  ".join(f"{cell:14s}" for cell in cells), flush=True)


if __name__ == "__main__":
    print_table(sys.argv[1] if len(sys.argv) > 1 else "")


@pytest.mark.parametrize("answer", [None, np.array([1.0]), "one", True])
def test_a_statistic_that_gives_no_number_is_refused(answer):
    with refuses("statistic", "shape", got="it returned"):
        bootstrap_estimate(lambda w: answer, 5, n_draws=10)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_infinite_draws_are_counted_and_kept(method):
    values = np.array([0.1, 0.2, 0.2, 0.4, 2.5])
    found = bootstrap_estimate(
        lambda w: np.inf if w[4] > 1 else float(values @ w / w.sum()), 5, n_draws=200, method=method
    )
    assert 0 < found.low < found
    assert found.high == np.inf
    assert said(found).startswith("infinite in ")
    both = bootstrap_estimate(
        lambda w: np.inf if w[0] == 0 else -np.inf if w[1] == 0 else float(w[4]), 5, n_draws=200, method="bca"
    )
    assert np.isnan(both.low)
    assert said(both).endswith("one case or group decides whether the value is finite: no interval")
