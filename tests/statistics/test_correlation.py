"""Kendall's τ-b and Pearson's r: against SciPy and the definitions, their intervals against simulation.

Run as a script, this file prints the tables of correlations in docs/evidence-comparisons.md.
"""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from tests.notes import codes, said, texts
from tests.refusals import refuses

from uqassay.statistics import correlation as u_statistics
from uqassay.statistics import mean_correlation_estimate, spearman_estimate, spearman_influence
from uqassay.statistics.correlation import (
    concordance,
    concordance_linearised,
    dense_ranks,
    dominance_sums,
    kendall_tau_estimate,
    kendall_tau_influence,
    pearson_estimate,
)
from uqassay.statistics.linearised import linearised_estimate

# -------------------------------------------------------------------------------------------------- Kendall's τ-b


def tau_by_pairs(x, y, w=None):
    """The definition, pair by pair."""
    w = np.ones(len(x)) if w is None else w
    c = a = b = 0.0
    for i in range(len(x)):
        for j in range(i):
            dx, dy = np.sign(float(x[i]) - float(x[j])), np.sign(float(y[i]) - float(y[j]))
            c, a, b = c + w[i] * w[j] * dx * dy, a + w[i] * w[j] * abs(dx), b + w[i] * w[j] * abs(dy)
    return c / np.sqrt(a * b)


small = st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 4)), min_size=2, max_size=25)


@settings(deadline=None, max_examples=60)
@given(small)
def test_tau_against_scipy_with_ties(pairs):
    x, y = np.array(pairs, dtype=float).T
    expected = stats.kendalltau(x, y).statistic
    found = kendall_tau_estimate(x, y)
    np.testing.assert_allclose(float(found), expected, rtol=0, atol=1e-12)
    if np.isnan(expected):
        assert "constant: no correlation" in said(found)
        assert np.isnan(found.low)
    else:
        assert -1 <= found.low <= float(found) <= found.high <= 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint8, bool])
def test_tau_against_scipy_for_dtypes_and_strides(random_generator, dtype):
    table = random_generator.integers(0, 3, size=(60, 2)).astype(dtype)
    table.flags.writeable = False
    x, y = table[::2].T
    assert kendall_tau_estimate(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert kendall_tau_estimate(x.tolist(), list(y)) == kendall_tau_estimate(x, y)


def test_tau_of_many_instances_against_scipy(random_generator):
    x = random_generator.normal(size=5000)
    y = np.round(x + random_generator.normal(size=5000), 1)
    assert kendall_tau_estimate(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_tau_with_infinite_values_and_weights_against_the_definition(random_generator):
    x = random_generator.choice([-np.inf, 0.0, 1.0, np.inf], size=30)
    y = random_generator.integers(0, 6, size=30)
    w = random_generator.choice([0.0, 0.5, 2.0, 3.7], size=30)
    finite = np.nan_to_num(x, posinf=9, neginf=-9)
    assert kendall_tau_estimate(x, y) == pytest.approx(tau_by_pairs(finite, y), abs=1e-12)
    assert kendall_tau_estimate(x, y, sample_weight=w) == pytest.approx(tau_by_pairs(finite, y, w), abs=1e-12)


def test_influence_is_the_derivative_by_the_weights(random_generator):
    x, y = random_generator.integers(0, 6, size=(2, 20))
    w = random_generator.random(20) + 0.2
    tau = kendall_tau_influence(x, y, sample_weight=w)
    h = 1e-6
    derivative = [
        (tau_by_pairs(x, y, w + h * e) - tau_by_pairs(x, y, w - h * e)) / (2 * h) for e in np.eye(20)
    ]  # ∂τ/∂w_i = ψ_i / Σ w
    np.testing.assert_allclose(tau.influence / w.sum(), derivative, rtol=0, atol=1e-8)
    assert abs(w @ tau.influence) < 1e-12


def test_tau_does_not_depend_on_the_order_of_rows_or_on_increasing_maps(random_generator):
    x, y = random_generator.normal(size=(2, 40))
    groups = random_generator.integers(0, 12, size=40)
    one = kendall_tau_estimate(x, y, groups=groups)
    order = random_generator.permutation(40)
    other = kendall_tau_estimate(np.exp(x[order]), 3 * y[order] - 2, groups=[f"patient {g}" for g in groups[order]])
    swapped = kendall_tau_estimate(y, x, groups=groups)
    against = kendall_tau_estimate(-x, y, groups=groups)
    for found, low, high in ((other, one.low, one.high), (swapped, one.low, one.high), (against, -one.high, -one.low)):
        np.testing.assert_allclose([found.low, found.high], [low, high], rtol=1e-12)
    assert float(other) == pytest.approx(float(one), abs=1e-15)
    assert float(against) == pytest.approx(-float(one), abs=1e-15)
    assert said(one) == f"{len(np.unique(groups))} groups"


def test_tau_interval_without_influences_is_wilsons():
    perfect = kendall_tau_estimate(range(20), range(20))
    n, q = 20, special.stdtrit(19, 0.975)
    assert (perfect, perfect.high) == (1.0, 1.0)
    assert perfect.low == pytest.approx(1 - 2 * q**2 / (n + q**2), abs=1e-12)
    reversed_ = kendall_tau_estimate(range(20), range(20, 0, -1))
    assert (reversed_.low, reversed_.high) == (-1.0, -perfect.low)
    symmetric = kendall_tau_estimate([1, 2, 3, 4], [2, 1, 4, 3])  # one discordant partner each
    assert symmetric.high - symmetric.low > 1
    assert texts(kendall_tau_estimate([0, 1], [0, 1], groups=["a", "a"])) == ["1 group", "1 group: no interval"]


def test_undefined_tau_has_a_note():
    assert texts(kendall_tau_estimate([3], [4])) == ["x and y are constant: no correlation"]
    assert texts(kendall_tau_estimate([1, 2, 3], [4, 4, 4])) == ["y is constant: no correlation"]
    assert texts(kendall_tau_estimate([1, 2, 2], [4, 5, 6], sample_weight=[0, 1, 1])) == [
        "x is constant: no correlation"
    ]


def test_difference_of_two_taus_is_that_of_their_influences(random_generator):
    truth, noise = random_generator.normal(size=(2, 200))
    good, poor = truth + 0.3 * noise, truth + 0.5 * noise
    taus = [kendall_tau_influence(truth, score) for score in (good, poor)]
    paired = linearised_estimate(taus[0] - taus[1])
    separate = [linearised_estimate(tau) for tau in taus]
    assert paired.high - paired.low < 0.5 * sum(e.high - e.low for e in separate)
    assert paired.low > 0


@pytest.mark.parametrize("function", [kendall_tau_estimate, pearson_estimate])
@pytest.mark.parametrize(
    ("x", "y", "options", "parameter", "code", "got"),
    [
        ([1, 2], [1, 2, 3], {}, "y", "mismatch", "align"),
        ([1, np.nan], [1, 2], {}, "x", "finite", "1 of 2 values are nan, the first at row 1"),
        ([[1, 2]], [1, 2], {}, "x", "shape", ""),
        ([1, 2], ["a", "b"], {}, "y", "type", ""),
        ([1, 2], [1, 2], {"level": 1.0}, "level", "range", ""),
        ([1, 2], [1, 2], {"groups": [1]}, "groups", "shape", ""),
    ],
)
def test_correlation_refuses(function, x, y, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        function(x, y, **options)


# ---------------------------------------------------------------------------------------------------- Pearson's r


def test_pearson_against_scipy(random_generator):
    x = random_generator.normal(size=30) * 1e150 + 1e151
    y = 1e-160 * (x / 1e150 + random_generator.normal(size=30))
    reference = stats.pearsonr((x - 1e151) / 1e150, y * 1e160)
    found = pearson_estimate(x, y, method="fisher")
    assert float(found) == pytest.approx(reference.statistic, rel=1e-9)
    interval = reference.confidence_interval(0.95)
    np.testing.assert_allclose([found.low, found.high], [interval.low, interval.high], rtol=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_jackknife_against_leaving_out_one_by_one(random_generator, grouped):
    x = random_generator.exponential(size=24)
    y = x + random_generator.normal(size=24)
    groups = random_generator.integers(0, 8, size=24) if grouped else np.arange(24)
    labels = np.unique(groups)
    z = np.arctanh([np.corrcoef(x[groups != g], y[groups != g])[0, 1] for g in labels])
    r = np.corrcoef(x, y)[0, 1]
    g = len(labels)
    reach = stats.t(g - 1).ppf(0.95) * np.sqrt((g - 1) / g * ((z - np.arctanh(r)) ** 2).sum())
    found = pearson_estimate(x, y, groups=groups if grouped else None, level=0.9)
    np.testing.assert_allclose(
        [found, found.low, found.high], [r, np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)], rtol=1e-10
    )


def test_bca_against_scipys_bootstrap(random_generator):
    x = random_generator.exponential(size=40)
    y = x + random_generator.normal(size=40)
    found = pearson_estimate(x, y, method="bca", n_draws=5000)
    reference = stats.bootstrap(
        (x, y),
        lambda a, b: stats.pearsonr(a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=1000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    np.testing.assert_allclose([found.low, found.high], [reference.low, reference.high], atol=0.03)
    assert pearson_estimate(x, y, method="bca", rng=3).low != pearson_estimate(x, y, method="bca", rng=4).low
    assert pearson_estimate(x, y, method="bca").low == pearson_estimate(x, y, method="bca").low


def test_undefined_pearson_has_a_note():
    assert texts(pearson_estimate([0.1 + 0.2] * 3, [1, 2, 3])) == ["x is constant: no correlation"]
    assert texts(pearson_estimate([1], [1])) == ["x and y are constant: no correlation"]
    assert texts(pearson_estimate([1, 2, np.inf], [1, 2, 3])) == ["infinite values: 1, no correlation"]
    exact = pearson_estimate([1, 2, 3], [2, 4, 6])
    assert (float(exact), said(exact)) == (1.0, "exactly linear: no interval")
    assert texts(pearson_estimate([1, 2, 3], [2, 4, 5], method="fisher")) == ["3 cases: no interval"]
    lonely = pearson_estimate([0, 0, 0, 0, 1], [1, 2, 4, 3, 5])
    assert float(lonely) == pytest.approx(np.corrcoef([0, 0, 0, 0, 1], [1, 2, 4, 3, 5])[0, 1])
    assert texts(lonely) == ["one case or group decides the value: no interval"]
    assert np.isnan(lonely.low)
    drawn = pearson_estimate([0, 0, 0, 1, 1], [1, 2, 4, 3, 5], method="bca", n_draws=300)
    assert "resamples, which are left out" in said(drawn)
    assert said(pearson_estimate([1, 2, 4], [1, 3, 2], groups=["a", "a", "a"])).startswith(
        "1 group | one case or group decides"
    )
    with refuses("method", "conflict", got="got groups"):
        pearson_estimate([1, 2, 4], [1, 3, 2], groups=[1, 1, 2], method="fisher")
    with refuses("method", "choice", got="must be 'jackknife', 'fisher' or 'bca'"):
        pearson_estimate([1, 2, 4], [1, 3, 2], method="hall")


# ------------------------------------------------------------------------------------------------------- coverage


def normal_pair(rng, n, rho):
    x, e = rng.normal(size=(2, n))
    return x, rho * x + np.sqrt(1 - rho**2) * e, None


def cut_pair(rng, n, rho, levels):
    """A normal pair in equally probable steps: many ties."""
    x, y, _ = normal_pair(rng, n, rho)
    ends = special.ndtri(np.arange(1, levels) / levels)
    return np.searchsorted(ends, x), np.searchsorted(ends, y), None


def grouped_pair(rng, n, rho):
    """Normal pairs in groups, intraclass correlation .5; the same correlation between groups as inside them."""
    groups = np.arange(n) // {20: 2, 50: 5}.get(n, 10)
    a, e = normal_pair(rng, groups.max() + 1, rho)[:2], normal_pair(rng, n, rho)[:2]
    x, y = (np.sqrt(0.5) * between[groups] + np.sqrt(0.5) * within for between, within in zip(a, e, strict=True))
    return x, y, groups


def gamma_pair(rng, n, rho):
    """Exponential variables with a common part; correlation rho."""
    common, first, second = rng.gamma(rho, size=n), rng.gamma(1 - rho, size=n), rng.gamma(1 - rho, size=n)
    return common + first, common + second, None


def student_pair(rng, n, rho):
    x, y, _ = normal_pair(rng, n, rho)
    scale = np.sqrt(rng.chisquare(5, size=n) / 5)
    return x / scale, y / scale, None


def cut_tau(rho, levels):
    """Population τ-b of the cut pair, from the cells of the bivariate normal distribution."""
    ends = special.ndtri(np.arange(levels + 1) / levels)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    cells = np.empty((levels, levels))
    for i in range(levels):  # integrate over the quantile u of x: P(y below an end | x)
        u = (i + (nodes + 1) / 2) / levels
        below = special.ndtr((ends - rho * special.ndtri(u)[:, None]) / np.sqrt(1 - rho**2))
        cells[i] = weights / 2 / levels @ np.diff(below, axis=1)
    step = np.sign(np.arange(levels)[:, None] - np.arange(levels))
    c = np.einsum("ij,kl,ik,jl->", cells, cells, step, step)
    return c / np.sqrt((1 - (cells.sum(axis=1) ** 2).sum()) * (1 - (cells.sum(axis=0) ** 2).sum()))


def normal_tau(rho):
    return 2 / np.pi * np.arcsin(rho)


TAU_CASES = {
    "normal, τ = 0": (lambda rng, n: normal_pair(rng, n, 0.0), 0.0),
    "normal, τ = .33": (lambda rng, n: normal_pair(rng, n, 0.5), normal_tau(0.5)),
    "normal, τ = .71": (lambda rng, n: normal_pair(rng, n, 0.9), normal_tau(0.9)),
    "normal, τ = .91": (lambda rng, n: normal_pair(rng, n, 0.99), normal_tau(0.99)),
    "3 × 3 levels, τ-b = .36": (lambda rng, n: cut_pair(rng, n, 0.5, 3), cut_tau(0.5, 3)),
    "3 × 3 levels, τ-b = .75": (lambda rng, n: cut_pair(rng, n, 0.9, 3), cut_tau(0.9, 3)),
    "2 × 2 levels, τ-b = .71": (lambda rng, n: cut_pair(rng, n, 0.9, 2), cut_tau(0.9, 2)),
    "groups, τ = 0": (lambda rng, n: grouped_pair(rng, n, 0.0), 0.0),
    "groups, τ = .71": (lambda rng, n: grouped_pair(rng, n, 0.9), normal_tau(0.9)),
}
PEARSON_CASES = {
    "normal, r = 0": (lambda rng, n: normal_pair(rng, n, 0.0), 0.0),
    "normal, r = .95": (lambda rng, n: normal_pair(rng, n, 0.95), 0.95),
    "gamma, r = .5": (lambda rng, n: gamma_pair(rng, n, 0.5), 0.5),
    "gamma, r = .9": (lambda rng, n: gamma_pair(rng, n, 0.9), 0.9),
    "t, r = .5": (lambda rng, n: student_pair(rng, n, 0.5), 0.5),
    "groups, r = 0": (lambda rng, n: grouped_pair(rng, n, 0.0), 0.0),
    "groups, r = .9": (lambda rng, n: grouped_pair(rng, n, 0.9), 0.9),
}


def tau_intervals(x, y, groups):
    """On the scale of z, and on that of τ."""
    plain = linearised_estimate(kendall_tau_influence(x, y), groups=groups)
    return [kendall_tau_estimate(x, y, groups=groups), plain]


def share_covered(case, n, n_samples, intervals):
    draw, truth = case
    rng = np.random.default_rng(n)
    covered = 0
    for _ in range(n_samples):
        x, y, groups = draw(rng, n)
        covered = covered + np.array([e.low <= truth <= e.high for e in intervals(x, y, groups)], dtype=float)
    return covered / n_samples


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [(name, [20, 200][i % 2]) for i, name in enumerate(TAU_CASES)])
def test_coverage_of_the_tau_interval_is_as_documented(name, n):
    n_samples = 180  # a coverage of .83 is found with probability .99
    scaled, plain = share_covered(TAU_CASES[name], n, n_samples, tau_intervals)
    error = 3.3 * np.sqrt(0.95 * 0.05 / n_samples)
    assert 0.95 - error - (0.015 if name.startswith("groups") else 0) <= scaled <= (1.0 if n == 20 else 0.99)
    assert plain <= scaled + 0.015


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [(name, [20, 200][i % 2]) for i, name in enumerate(PEARSON_CASES)])
def test_coverage_of_the_pearson_interval_is_as_documented(name, n):
    share = share_covered(PEARSON_CASES[name], n, 300, lambda x, y, g: [pearson_estimate(x, y, groups=g)])[0]
    assert share >= {"gamma, r = .9": 0.82, "gamma, r = .5": 0.88}.get(name, 0.95 - 0.04)
    assert share <= 0.985


@pytest.mark.slow
def test_fishers_interval_fails_where_the_pair_is_not_normal_as_documented():
    def intervals(x, y, _):
        return [pearson_estimate(x, y, method="fisher"), pearson_estimate(x, y)]

    fisher, jackknife = share_covered(PEARSON_CASES["gamma, r = .5"], 200, 500, intervals)
    assert fisher < 0.8 < 0.9 < jackknife


# --------------------------------------------------------------------------------------------------------- tables


def print_tables(only, n_samples=4000):
    sizes = (20, 50, 200, 1000)
    for name, case in TAU_CASES.items() if only in ("", "tau") else ():
        cells = [100 * share_covered(case, n, n_samples, tau_intervals) for n in sizes]
        print(f"{name:27s}", "  ".join(f"{a:.1f} ({b:.1f})" for a, b in cells), flush=True)
    for name, case in PEARSON_CASES.items() if only in ("", "pearson") else ():
        columns = []
        for method, share in (("jackknife", 1), ("fisher", 1), ("bca", 4)):
            if method == "fisher" and name.startswith("groups"):
                columns.append("–" + 24 * " ")
                continue
            covered = [
                share_covered(
                    case,
                    n,
                    n_samples // share,
                    lambda x, y, g, method=method: [pearson_estimate(x, y, groups=g, method=method, n_draws=500)],
                )[0]
                for n in sizes
            ]
            columns.append(f"{' / '.join(f'{100 * value:.1f}' for value in covered):25s}")
        print(f"{name:20s}", "  ".join(columns), flush=True)


def test_several_runs_against_scipy():
    r = np.array([0.91, 0.85, 0.97, 0.2, -0.3])
    z = np.arctanh(r)
    low, high = np.tanh(stats.t.interval(0.9, 4, loc=z.mean(), scale=stats.sem(z)))
    found = mean_correlation_estimate(r, level=0.9)
    assert [float(found), found.low, found.high] == pytest.approx([np.tanh(z.mean()), low, high])
    assert (found.n, found.level, found.notes) == (5, 0.9, ())


def test_one_run_against_pearson_of_its_pairs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9))
    expected = pearson_estimate(x, y, method="fisher")
    found = mean_correlation_estimate([float(expected)], n_pairs=9)
    assert [float(found), found.low, found.high] == pytest.approx([float(expected), expected.low, expected.high])
    assert codes(found) == ["assumption"]


@pytest.mark.parametrize(("r", "n_pairs"), [(0.5, 3), (0.5, None), (1.0, 7), (-1.0, 7)])
def test_one_run_without_interval(r, n_pairs):
    found = mean_correlation_estimate([r], n_pairs=n_pairs)
    assert float(found) == r
    assert np.isnan([found.low, found.high]).all()
    assert codes(found) == ["no-interval"]


def test_correlations_of_one_are_cut():
    found = mean_correlation_estimate([1.0, 0.9, 0.95])
    cut = mean_correlation_estimate([1 - 1e-6, 0.9, 0.95])
    assert [float(found), found.low, found.high] == pytest.approx([float(cut), cut.low, cut.high])
    assert codes(found) == ["edge"]
    assert "1 of 3" in said(found)
    assert codes(cut) == []
    assert float(mean_correlation_estimate([1.0, -1.0])) == pytest.approx(0.0)


@pytest.mark.parametrize("r", [1.0, -1.0, 0.0, 0.7])
def test_equal_correlations_have_no_width(r):
    found = mean_correlation_estimate([r] * 4)
    assert (float(found), found.low, found.high) == (r, r, r)
    assert "no-width" in codes(found)


def test_refusals():
    with refuses("correlations", "range", "row 1 has 1.2"):
        mean_correlation_estimate([0.1, 1.2])
    with refuses("correlations", "shape"):
        mean_correlation_estimate([[0.1, 0.2]])
    assert float(mean_correlation_estimate([1 + 1e-14, 1.0])) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [3, 5, 20])
def test_coverage_against_theory_for_normal_z(n_runs):
    rng = np.random.default_rng(n_runs)
    found = [mean_correlation_estimate(np.tanh(rng.normal(0.8, 0.5, n_runs))) for _ in range(3000)]
    share = np.mean([one.low <= np.tanh(0.8) <= one.high for one in found])
    assert abs(share - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 3000)


# Spearman's ρ against SciPy, and its influences against leaving out instances.

seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n=st.integers(3, 40), levels=st.integers(2, 6))
def test_value_with_ties_against_scipy(seed, n, levels):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(levels, size=n), rng.integers(levels, size=n)
    x[0], x[1], y[0], y[1] = 0, 1, 0, 1
    assert float(spearman_estimate(x, y)) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("levels", [3, 1000])
def test_influence_against_the_jackknife(levels):
    rng = np.random.default_rng(0)
    n = 400
    x = rng.integers(levels, size=n)
    y = np.where(rng.random(n) < 0.1, 1.0, 0.0) + (x > levels / 2) * (rng.random(n) < 0.2)
    found = spearman_influence(x, y)
    left_out = np.array([spearman_influence(np.delete(x, i), np.delete(y, i)).value for i in range(n)])
    np.testing.assert_allclose(
        found.influence, (n - 1) * (found.value - left_out), atol=0.05 * np.abs(found.influence).max()
    )
    assert found.influence.mean() == pytest.approx(0.0, abs=1e-12)


def test_variance_against_the_bootstrap():
    rng = np.random.default_rng(1)
    n = 600
    x = rng.random(n)
    y = (rng.random(n) < 0.15 * x).astype(float) - (rng.random(n) < 0.02)
    draws = []
    for _ in range(600):
        rows = rng.integers(n, size=n)
        draws.append(stats.spearmanr(x[rows], y[rows]).statistic)
    influence = spearman_influence(x, y).influence
    assert np.sqrt((influence**2).mean() / n) == pytest.approx(np.std(draws), rel=0.1)


def test_difference_of_two_correlations():
    rng = np.random.default_rng(2)
    y = (rng.random(500) < 0.2).astype(float)
    good, other = y + rng.normal(size=500), rng.normal(size=500)
    found = linearised_estimate(spearman_influence(good, y) - spearman_influence(other, y))
    assert found.low > 0
    assert float(found) == pytest.approx(spearman_estimate(good, y) - spearman_estimate(other, y))


def test_groups_as_copies_change_nothing():
    rng = np.random.default_rng(3)
    x, y = rng.random(80), rng.integers(3, size=80)
    alone = spearman_estimate(x, y)
    copied = spearman_estimate(np.repeat(x, 4), np.repeat(y, 4), groups=np.repeat(np.arange(80), 4))
    assert float(copied) == pytest.approx(float(alone), abs=1e-12)
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert codes(copied) == ["groups"]


def test_constant_and_perfect():
    constant = spearman_estimate([1, 1, 1], [1, 2, 3])
    assert np.isnan([float(constant), constant.low, constant.high]).all()
    assert codes(constant) == ["undefined"]
    perfect = spearman_estimate(np.arange(30), np.arange(30) ** 3)
    assert (float(perfect), perfect.high) == (1.0, 1.0)
    assert 0.5 < perfect.low < 1
    alone = spearman_estimate([1, 2, 3], [1, 2, 3], groups=["a"] * 3)
    assert np.isnan(alone.low)
    assert "no-interval" in codes(alone)
    infinite = spearman_estimate([1, 2, np.inf], [1, 2, 3])
    assert float(infinite) == 1.0


def test_few_values_are_noted():
    y = np.zeros(200)
    y[:5] = 1
    assert codes(spearman_estimate(np.arange(200.0), y)) == ["few"]


# Concordant pairs against counting every pair, ties and weights included; influences against finite differences.


def pairs_one_by_one(truth, scores, weights):
    n = len(truth)
    concordant, comparable, tied = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            if truth[i] != truth[j]:
                comparable[i] += weights[j]
                concordant[i] += weights[j] * (
                    0.5 + 0.5 * np.sign(truth[i] - truth[j]) * np.sign(scores[i] - scores[j])
                )
                tied[i] += weights[j] * (scores[i] == scores[j])
    return concordant, comparable, tied


def random_case(rng, n, truth_levels, score_levels):
    """Values with ties where a number of levels is given."""
    columns = []
    for levels in (truth_levels, score_levels):
        columns.append(rng.normal(size=n) if levels is None else rng.integers(0, levels, n).astype(float))
    return columns


@pytest.mark.parametrize("truth_levels", [None, 1, 2, 7])
@pytest.mark.parametrize("score_levels", [None, 1, 2, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_against_brute_force(random_generator, truth_levels, score_levels, weighted):
    for n in (1, 2, 3, 17, 64, 65, 130):
        truth, scores = random_case(random_generator, n, truth_levels, score_levels)
        weights = random_generator.integers(0, 4, n) / 2 if weighted else np.ones(n)
        weights[0] = 1
        found = concordance(truth, scores, sample_weight=weights if weighted else None)
        for mine, expected in zip(
            (found.concordant, found.comparable, found.tied), pairs_one_by_one(truth, scores, weights), strict=True
        ):
            assert mine == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n", [1, 5, 64, 65, 127, 128, 129, 200, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_dominance_against_brute_force(random_generator, n, weighted):
    ranks = random_generator.permutation(n)
    weights = random_generator.integers(0, 5, n).astype(float) if weighted else None
    expected = np.zeros(n)
    for i in range(n):
        smaller = ranks[:i] < ranks[i]
        expected[ranks[i]] = smaller.sum() if weights is None else weights[:i][smaller].sum()
    assert dominance_sums(ranks, weights) == pytest.approx(expected)


@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_and_threads_change_nothing(random_generator, monkeypatch, cores, weighted):
    ranks = random_generator.permutation(5000)
    weights = random_generator.exponential(size=5000) if weighted else None
    expected = dominance_sums(ranks, weights)
    monkeypatch.setattr(u_statistics, "_CACHED", 256)
    monkeypatch.setattr(u_statistics, "available_cores", lambda: cores)
    assert dominance_sums(ranks, weights) == pytest.approx(expected, rel=1e-13)


def test_ties_in_a_large_sample_against_scipy(random_generator):
    from scipy.stats import kendalltau

    truth, scores = random_case(random_generator, 200_000, 50, 300)
    found = concordance(truth, scores)
    both = float(found.tied.sum())
    discordant = found.pairs - float(found.concordant.sum()) - 0.5 * both
    gap = float(found.concordant.sum()) - 0.5 * both - discordant
    untied_scores = float(concordance(scores, truth).pairs)
    assert gap / np.sqrt(found.pairs * untied_scores) == pytest.approx(kendalltau(truth, scores).statistic, abs=1e-12)


def test_an_integer_weight_equals_copies(random_generator):
    truth, scores = random_case(random_generator, 40, None, 5)
    copies = random_generator.integers(0, 4, 40)
    weighted = concordance(truth, scores, sample_weight=copies)
    repeated = concordance(np.repeat(truth, copies), np.repeat(scores, copies))
    assert weighted.share == pytest.approx(repeated.share, abs=1e-14)
    assert weighted.pairs == pytest.approx(repeated.pairs, rel=1e-14)


@pytest.mark.parametrize("imaginary", [0.0, 0.3])
def test_influences_are_the_derivative_in_the_weights(random_generator, imaginary):
    truth, scores = random_case(random_generator, 25, 6, 8)
    weights = random_generator.exponential(size=25) + 0.2
    found = concordance_linearised(truth, scores, weights, imaginary=imaginary)
    if not imaginary:
        assert float(weights @ found.influence) == pytest.approx(0.0, abs=1e-10)

    def value(w):
        extra = imaginary * weights.sum() / 25  # of the weight that the imaginary instance had
        c = concordance(truth, scores, sample_weight=w)
        return (c.share * c.pairs + extra * w.sum()) / (c.pairs + 2 * extra * w.sum())

    for i in range(25):
        up, down = weights.copy(), weights.copy()
        up[i] += 1e-4
        down[i] -= 1e-4
        slope = (value(up) - value(down)) / 2e-4
        assert slope * weights.sum() == pytest.approx(found.influence[i], abs=1e-5)


def test_variance_against_the_jackknife(random_generator):
    truth = random_generator.normal(size=400)
    scores = truth + random_generator.normal(size=400)
    found = linearised_estimate(concordance_linearised(truth, scores, None))
    without = [concordance(np.delete(truth, i), np.delete(scores, i)).share for i in range(400)]
    jackknife = np.sqrt(399 / 400 * ((without - np.mean(without)) ** 2).sum())
    assert (found.high - found.low) / (2 * 1.966) == pytest.approx(jackknife, rel=0.02)


def test_row_order_and_scale_do_not_matter(random_generator):
    truth, scores = random_case(random_generator, 300, 9, 20)
    rows = random_generator.permutation(300)
    first = concordance(truth, scores)
    moved = concordance(truth[rows] ** 3, np.exp(scores[rows]))
    assert np.array_equal(moved.concordant, first.concordant[rows])


def test_ranks_against_numpy(random_generator):
    values = np.r_[random_generator.integers(0, 9, 50).astype(float), np.inf, -np.inf, -0.0, 0.0]
    ranks, levels, order = dense_ranks(values)
    unique, inverse = np.unique(values, return_inverse=True)
    assert np.array_equal(ranks, inverse)
    assert levels == len(unique)
    assert (np.diff(values[order][1:-1]) >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_no_comparable_pair_gives_nan(weighted):
    found = concordance([2.0, 2.0], [1.0, 3.0], sample_weight=[1.0, 2.0] if weighted else None)
    assert np.isnan(found.share)
    assert found.pairs == 0
    statistic = concordance_linearised(np.array([2.0]), np.array([1.0]), None)
    assert np.isnan(statistic.value)
    assert texts(statistic) == ["no two cases differ in the truth"]


def test_equal_truths_with_weights_are_undefined_despite_rounding():
    for weights in ([0.1, 0.2, 0.3], [0.7, 0.1, 0.2], [1e-3, 1e3, 0.1]):
        assert np.isnan(concordance([0.3] * 3, [1, 2, 3], sample_weight=weights).share)


def test_very_different_weights_cause_no_cancellation(random_generator):
    truth, scores = random_case(random_generator, 60, 9, 11)
    weights = 10.0 ** random_generator.uniform(-8, 8, 60)
    found = concordance(truth, scores, sample_weight=weights)
    expected = pairs_one_by_one(truth, scores, weights)[0]
    assert found.concordant == pytest.approx(expected, rel=1e-9, abs=1e-9 * weights.sum())
    assert float(weights @ found.concordant) == pytest.approx(float(weights @ expected), rel=1e-12)


def test_a_perfect_order_is_never_above_one(random_generator):
    for _ in range(200):
        truth = random_generator.normal(size=12)
        found = concordance_linearised(truth, truth, random_generator.exponential(size=12), imaginary=0.3)
        assert found.value <= 1.0


if __name__ == "__main__":
    print_tables(sys.argv[1] if len(sys.argv) > 1 else "")
