"""Estimates of means and shares: against closed forms and SciPy; coverage is measured in test_error_rates.py."""

import copy
import json
import pickle

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.notes import Note
from uqassay.records import packed, unpacked
from uqassay.statistics import Estimate, bca_interval, bootstrap_means, mean_estimate, proportion_estimate
from uqassay.statistics import estimate as mean_rows
from uqassay.statistics.estimate import interval_notes, mean_estimates, single_unit, unit_notes
from uqassay.statistics.resampling import draw_run_effects
from uqassay.statistics.units import make_units

# Estimate and mean_estimate against closed forms; coverage is measured in test_error_rates.py.

VALUES = hnp.arrays(np.float64, st.integers(2, 30), elements=st.floats(-100, 100, width=32))


def ends(estimate):
    return [float(estimate), estimate.low, estimate.high]


def make(**changes):
    fields = {"low": 0.4454, "high": 0.5158, "level": 0.95, "n": 10000, "method": "student-t"}
    return Estimate(0.4806, **{**fields, **changes})


# ------------------------------------------------------------------------------------------------------ Estimate


def test_estimate_is_a_float():
    estimate = make()
    assert isinstance(estimate, float)
    assert estimate == 0.4806
    assert hash(estimate) == hash(0.4806)
    assert estimate < 0.5
    assert f"{estimate:.2f}" == "0.48"
    assert np.asarray([estimate, estimate]).dtype == np.float64
    for result in (estimate + 1, 1 - estimate, -estimate, abs(estimate), 2 * estimate, round(estimate, 2), +estimate):
        assert type(result) is float


def test_estimate_repr():
    assert repr(make()) == "Estimate(0.4806, low=0.4454, high=0.5158, level=0.95, n=10000, method='student-t')"
    assert repr(make(notes=[Note("groups", "3 groups")])).endswith("method='student-t', notes=['3 groups'])")


def test_estimate_is_immutable():
    estimate = make()
    with pytest.raises(AttributeError, match="cannot set 'low'"):
        estimate.low = 0.0
    with pytest.raises(AttributeError, match="cannot delete 'low'"):
        del estimate.low
    with pytest.raises(AttributeError, match="cannot set 'other'"):
        estimate.other = 0.0
    assert not hasattr(estimate, "__dict__")


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, *(lambda e, p=p: pickle.loads(pickle.dumps(e, p)) for p in range(6))]
)
def test_estimate_survives_copies_and_pickles(again):
    twin = again(make(notes=[Note("runs", "a note")]))
    assert type(twin) is Estimate
    assert twin.to_dict() == make(notes=[Note("runs", "a note")]).to_dict()


@pytest.mark.parametrize("value", [0.25, np.nan, np.inf, -np.inf])
def test_estimate_survives_strict_json(value):
    estimate = Estimate(
        value, low=np.float32(0.5), high=np.nan, level=0.9, n=np.int64(3), method="m", notes=[Note("runs", "n")]
    )
    fields = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    twin = unpacked(Estimate, json.loads(json.dumps(packed(estimate)[0], allow_nan=False)))
    np.testing.assert_array_equal(ends(twin), ends(estimate))
    assert (twin.level, twin.n, twin.method, said(twin)) == (0.9, 3, "m", "n")
    assert fields["high"] is None


# ------------------------------------------------------------------------------------------------- mean_estimate


@given(VALUES, st.floats(0.5, 0.999))
@settings(deadline=None, max_examples=50)
def test_mean_against_scipy(values, level):
    estimate = mean_estimate(values, level=level)
    assert float(estimate) == pytest.approx(values.mean(), abs=1e-12)
    if np.ptp(values) > 0:
        expected = scipy.stats.t.interval(
            level, values.size - 1, loc=values.mean(), scale=values.std(ddof=1) / np.sqrt(values.size)
        )
        np.testing.assert_allclose([estimate.low, estimate.high], expected, rtol=1e-9, atol=1e-9)
    assert (estimate.n, estimate.method, estimate.level) == (values.size, "student-t", level)


def brute_force_interval(values, labels, weights, level):
    """Bell-McCaffrey variance and degrees of freedom with whole n × n matrices, ρ estimated as documented."""
    n = len(values)
    same = np.equal.outer(labels, labels)
    share = weights / weights.sum()
    mean = share @ values
    e = weights * (values - mean)
    off_diagonal = (np.outer(e, e) * same).sum() - (e**2).sum()
    pairs = sum((same[i].sum() - 1) * e[i] ** 2 for i in range(n))
    rho = np.clip(off_diagonal / pairs, 0, 1) if pairs > 0 else 0.0
    omega = np.where(same, rho, 0.0) + (1 - rho) * np.eye(n)  # covariance of the values under the working model
    weighted_residuals = np.diag(weights) @ (np.eye(n) - np.ones((n, 1)) @ share[np.newaxis])
    groups = np.array([labels == g for g in sorted(set(labels))], dtype=float)  # (G, n)
    sigma = groups @ weighted_residuals @ omega @ weighted_residuals.T @ groups.T  # of the group sums of residuals
    tau = np.diag(groups @ np.diag(weights) @ omega @ np.diag(weights) @ groups.T)
    a = np.diag(tau / np.diag(sigma))
    u = groups @ e
    standard_error = np.sqrt(u @ a @ u) / weights.sum()
    dof = np.trace(a @ sigma) ** 2 / np.trace(a @ sigma @ a @ sigma)
    q = scipy.stats.t.ppf(0.5 + level / 2, dof)
    return [mean, mean - q * standard_error, mean + q * standard_error]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("correlation", [-1.0, 0.0, 1.0, 100.0])
def test_groups_against_brute_force(weighted, correlation, random_generator):
    rng = random_generator
    labels = rng.choice(list("abcdefg"), size=40, p=np.arange(1, 8) / 28)
    values = rng.normal(size=40) + correlation * np.vectorize(ord)(labels)
    weights = rng.random(40) + 0.1 if weighted else np.ones(40)
    estimate = mean_estimate(values, groups=labels, sample_weight=weights if weighted else None, level=0.9)
    np.testing.assert_allclose(ends(estimate), brute_force_interval(values, labels, weights, 0.9), rtol=1e-9)
    assert said(estimate) == f"{len(set(labels))} groups"
    assert estimate.n == 40


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_equal_weight_against_the_plain_cluster_formula(weighted, random_generator):
    values, labels = random_generator.normal(size=40), np.tile(np.arange(8), 5)
    weights = np.repeat([1.0, 2.0, 0.5, 1.0, 3.0], 8) if weighted else np.ones(40)
    mean = np.average(values, weights=weights)
    u = np.array([(weights * (values - mean))[labels == g].sum() for g in range(8)]) / weights.sum()
    half = scipy.stats.t.ppf(0.975, 7) * np.sqrt(8 / 7 * (u**2).sum())
    estimate = mean_estimate(values, groups=labels, sample_weight=weights)
    np.testing.assert_allclose(ends(estimate), [mean, mean - half, mean + half], rtol=1e-12)


def test_weights_against_brute_force(random_generator):
    values, weights = random_generator.normal(size=20), random_generator.random(20)
    expected = brute_force_interval(values, np.arange(20), weights, 0.95)
    np.testing.assert_allclose(ends(mean_estimate(values, sample_weight=weights)), expected, rtol=1e-12)
    # the scale of the weights is free
    np.testing.assert_allclose(ends(mean_estimate(values, sample_weight=1e6 * weights)), expected, rtol=1e-12)


def test_two_groups_of_very_unequal_size():
    values, labels = np.r_[np.linspace(0, 1, 99), 3.0], np.r_[np.zeros(99), 1.0]
    expected = brute_force_interval(values, labels, np.ones(100), 0.95)
    np.testing.assert_allclose(ends(mean_estimate(values, groups=labels)), expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["student-t", "hall", "bca"])
def test_groups_of_one_instance_are_no_groups(method, random_generator):
    values, weights = random_generator.exponential(size=25), random_generator.random(25)
    labels = random_generator.permutation(25).astype(str)
    for w in (None, weights):
        plain = mean_estimate(values, sample_weight=w, method=method, n_draws=200)
        grouped = mean_estimate(values, sample_weight=w, method=method, groups=labels, n_draws=200)
        assert ends(plain) == ends(grouped)


@pytest.mark.parametrize("method", ["student-t", "hall", "bca"])
def test_weights_as_repetition_within_a_group(method, random_generator):
    values, weights = random_generator.exponential(size=15), random_generator.integers(1, 5, size=15)
    weighted = mean_estimate(values, sample_weight=weights, method=method, n_draws=200)
    repeated = mean_estimate(
        np.repeat(values, weights), groups=np.repeat(np.arange(15), weights), method=method, n_draws=200
    )
    np.testing.assert_allclose(ends(weighted), ends(repeated), rtol=1e-12)
    assert repeated.n == weights.sum()


@pytest.mark.parametrize("method", ["student-t", "hall", "bca"])
def test_weight_zero_is_absence(method, random_generator):
    values, labels = random_generator.normal(size=(3, 30)), np.arange(30) // 3
    values[:, 4] = np.inf  # would make the mean infinite
    weights = random_generator.integers(0, 3, size=30)
    weights[4] = 0
    kept = weights > 0
    all_rows = mean_estimate(values, sample_weight=weights, groups=labels, method=method, n_draws=200)
    few_rows = mean_estimate(
        values[:, kept], sample_weight=weights[kept], groups=labels[kept], method=method, n_draws=200
    )
    assert all_rows.to_dict() == few_rows.to_dict()
    assert all_rows.n == kept.sum()


@given(VALUES, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=30)
def test_row_order_and_group_names_do_not_matter(values, random):
    labels = np.arange(values.size) // 2
    order = np.array(random.sample(range(values.size), values.size))
    names = np.array([f"patient {7 * g % 31}" for g in range(16)])
    for method in ("student-t", "hall"):
        first = mean_estimate(values, groups=labels, method=method)
        second = mean_estimate(values[order], groups=names[labels[order]], method=method)
        np.testing.assert_allclose(ends(first), ends(second), rtol=1e-9, atol=1e-9)


@given(VALUES, st.floats(0.01, 100), st.floats(-50, 50))
@settings(deadline=None, max_examples=50)
def test_hall_and_student_follow_shifts_and_scales(values, scale, shift):
    for method in ("student-t", "hall"):
        moved = mean_estimate(scale * values + shift, method=method)
        expected = [scale * end + shift for end in ends(mean_estimate(values, method=method))]
        np.testing.assert_allclose(ends(moved), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_hall_inverts_its_transformation(sign, random_generator):
    values = sign * random_generator.exponential(size=20)
    estimate = mean_estimate(values, method="hall")
    n, m = values.size, values.mean()
    s = values.std(ddof=1)
    skewness = ((values - m) ** 3).mean() / s**3

    def transformed(mu):  # Hall (1992), with a = 1/3 and b = 1/6
        t = (m - mu) / s
        return np.sqrt(n) * (t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / (6 * n))

    q = scipy.stats.t.ppf(0.975, n - 1)
    np.testing.assert_allclose([transformed(estimate.low), transformed(estimate.high)], [q, -q], rtol=1e-10)
    student = mean_estimate(values)
    assert sign * (estimate.low + estimate.high) > sign * (student.low + student.high)


def test_hall_equals_student_for_symmetric_values():
    values = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    np.testing.assert_allclose(ends(mean_estimate(values, method="hall")), ends(mean_estimate(values)), atol=1e-14)


def test_bca_against_scipy(random_generator):
    values = random_generator.exponential(size=40)
    ours = mean_estimate(values, method="bca", n_draws=20000)
    theirs = scipy.stats.bootstrap((values,), np.mean, n_resamples=20000, rng=1).confidence_interval
    np.testing.assert_allclose([ours.low, ours.high], [theirs.low, theirs.high], atol=0.02)  # draws differ


def test_runs_against_brute_force(random_generator):
    rng = random_generator
    runs = rng.normal(size=(4, 12)) + rng.normal(size=(4, 1))
    estimate = mean_estimate(runs)
    v1 = runs.mean(axis=0).var(ddof=1) / 12
    v2 = runs.mean(axis=1).var(ddof=1) / 4
    dof = (v1 + v2) ** 2 / (v1**2 / 11 + v2**2 / 3)
    half = scipy.stats.t.ppf(0.975, dof) * np.sqrt(v1 + v2)
    np.testing.assert_allclose(ends(estimate), [runs.mean(), runs.mean() - half, runs.mean() + half], rtol=1e-12)
    assert (estimate.n, said(estimate)) == (12, "4 runs")


def test_bca_of_runs_against_the_two_sample_acceleration(random_generator):
    runs = random_generator.exponential(size=(3, 8)) + np.array([[0.0], [0.1], [2.0]])
    estimate = mean_estimate(runs, method="bca", n_draws=4000, level=0.8)
    rng = np.random.default_rng(0)
    run_rng = rng.spawn(1)[0]
    draws = bootstrap_means(runs.mean(axis=0), n_draws=4000, rng=rng)
    draws += draw_run_effects(runs.mean(axis=1, keepdims=True), 4000, run_rng)[:, 0]
    # influences of the instances and of the runs on the grand mean (Efron 1987, section 7: several samples)
    influence = np.r_[(runs.mean(axis=0) - runs.mean()) / 8, (runs.mean(axis=1) - runs.mean()) / 3]
    low, high = bca_interval(runs.mean(), draws, -influence, level=0.8)
    np.testing.assert_allclose([estimate.low, estimate.high], [low, high], rtol=1e-10)


def test_one_run_has_a_note(random_generator):
    values = random_generator.normal(size=12)
    for method in ("student-t", "hall", "bca"):
        one = mean_estimate(values[np.newaxis], method=method, n_draws=100)
        assert ends(one) == ends(mean_estimate(values, method=method, n_draws=100))
        assert texts(one) == ["1 run: variation between runs is left out where there is only 1"]


def test_runs_make_the_interval_wider_when_they_differ(random_generator):
    runs = random_generator.normal(size=200) + np.array([[-1.0], [0.0], [1.0]])
    for method in ("student-t", "hall", "bca"):
        with_runs = mean_estimate(runs, method=method, n_draws=500)
        averaged = mean_estimate(runs.mean(axis=0), method=method, n_draws=500)
        assert with_runs.high - with_runs.low > 3 * (averaged.high - averaged.low)


# --------------------------------------------------------------------------------------------- undefined and odd


def test_one_instance_or_one_group_has_no_interval():
    for estimate, note in (
        (mean_estimate([2.0]), "1 case: no interval"),
        (mean_estimate([[2.0], [2.0]]), "2 runs | 1 case: no interval"),
        (mean_estimate([1.0, 3.0], groups=["a", "a"]), "1 group | 1 group: no interval"),
        (mean_estimate([2.0, 7.0], sample_weight=[3, 0]), "1 case: no interval"),
    ):
        np.testing.assert_array_equal(ends(estimate), [2.0, np.nan, np.nan])
        assert said(estimate) == note


@pytest.mark.parametrize("method", ["student-t", "hall", "bca"])
@pytest.mark.parametrize("options", [{}, {"groups": [0, 0, 1, 1]}, {"sample_weight": [0.1, 0.2, 0.3, 0.7]}])
def test_constant_values_have_an_interval_of_no_width(method, options):
    estimate = mean_estimate([0.1] * 4, method=method, **options)
    assert ends(estimate) == [0.1, 0.1, 0.1]
    assert "all values are equal" in said(estimate)


@pytest.mark.parametrize("method", ["student-t", "hall", "bca"])
def test_infinite_values_are_kept(method):
    estimate = mean_estimate([1.0, np.inf, 2.0], method=method)
    np.testing.assert_array_equal(ends(estimate), [np.inf, np.nan, np.nan])
    assert texts(estimate) == ["infinite values: 1 of 3, no interval"]
    assert float(mean_estimate([1.0, -np.inf], method=method)) == -np.inf
    assert np.isnan(mean_estimate([np.inf, -np.inf], method=method))
    assert float(mean_estimate([[1.0, np.inf], [1.0, 2.0]], sample_weight=[1, 2], method=method)) == np.inf


def test_bca_without_draws_on_one_side_has_no_interval():
    estimate = mean_estimate([0.0, 1.0], method="bca", n_draws=1)
    assert np.isnan(estimate.low)
    assert texts(estimate) == ["all resamples lie on one side of the value: no interval"]


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e150])
def test_extreme_scales(scale):
    expected = [scale * end for end in ends(mean_estimate([1.0, 2.0, 4.0]))]
    np.testing.assert_allclose(ends(mean_estimate(scale * np.array([1.0, 2.0, 4.0]))), expected, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint8, bool])
def test_input_types_layouts_and_no_side_effects(dtype):
    wide = np.array([[1, 0, 1, 1, 0], [9, 9, 9, 9, 9]]).T.astype(dtype)
    values = wide[:, 0]
    values.flags.writeable = False
    assert mean_estimate(values).to_dict() == mean_estimate([1.0, 0.0, 1.0, 1.0, 0.0]).to_dict()


def test_bca_repeats_itself_and_follows_its_seed(random_generator):
    values = random_generator.exponential(size=30)
    first = mean_estimate(values, method="bca", n_draws=100)
    assert ends(first) == ends(mean_estimate(values, method="bca", n_draws=100, rng=0))
    assert ends(first) != ends(mean_estimate(values, method="bca", n_draws=100, rng=1))


@pytest.mark.parametrize(
    ("values", "options", "parameter", "code", "got"),
    [
        ([], {}, "values", "shape", "got shape"),
        (np.empty((2, 0)), {}, "values", "shape", ""),
        (1.0, {}, "values", "shape", r"got shape \(\)"),
        (["a"], {}, "values", "type", "got dtype <U1"),
        ([1j], {}, "values", "type", "got dtype complex128"),
        ([1.0, 2.0], {"method": "t"}, "method", "choice", "got 't'"),
        ([1.0, 2.0], {"n_draws": True}, "n_draws", "type", ""),
        ([1.0, 2.0], {"groups": np.array(["a", None], dtype=object)}, "groups", "missing", ""),
        ([1.0, 2.0], {"groups": np.array(["a", 1], dtype=object)}, "groups", "type", ""),
        ([1.0, 2.0], {"sample_weight": [np.inf, 1.0]}, "sample_weight", "finite", "must be finite .* row 0 has inf"),
        ([1.0, 2.0], {"sample_weight": [0, 0]}, "sample_weight", "empty", ""),
    ],
)
def test_bad_input_is_refused(values, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        mean_estimate(values, **options)


# Means of many rows at once, against those of each row.


def same(found, expected):
    assert [one.to_dict() for one in found] == [one.to_dict() for one in expected]  # to the last bit


@pytest.mark.parametrize("n", [1, 2, 3, 7, 127, 1000, 4099])
@pytest.mark.parametrize("method", ["student-t", "hall"])
@pytest.mark.parametrize("at_once", [mean_rows.ROW_CELLS, 2500])
def test_rows_against_each_mean(random_generator, monkeypatch, n, method, at_once):
    monkeypatch.setattr(mean_rows, "ROW_CELLS", at_once)
    normal = random_generator.normal(size=n)
    odd = [np.append(normal[:-1], value) for value in (np.inf, -np.inf, 1e-300, 1e200)]
    both = np.append(normal[:-2], [np.inf, -np.inf])[-n:]
    rows = [normal, np.exp(3 * normal), normal > 1, np.full(n, 0.1), np.zeros(n), 1e-200 * normal, both, *odd]
    strided = np.stack([normal, normal + 1], axis=1)
    rows += [strided[:, 0], normal.astype(np.float32)]
    same(
        mean_estimates(rows, level=0.9, method=method),
        [mean_estimate(row, level=0.9, method=method) for row in rows],
    )


def test_no_rows_have_no_means():
    assert mean_estimates([]) == []


def test_a_nan_is_refused():
    with refuses("values", "finite", got=r"1 of 3 values"):
        mean_estimates([np.arange(3.0), np.array([1.0, np.nan, 0.0])])


# Notes on groups, runs and single units: their codes, texts and facts.

PLAIN, GROUPED, ONE = make_units(3, None, None), make_units(3, ["a", "b", "a"], None), make_units(2, ["a", "a"], None)


@pytest.mark.parametrize(
    ("units", "n_runs", "expected"),
    [
        (PLAIN, [], []),
        (GROUPED, [], [("groups", "2 groups", {"groups": 2})]),
        (ONE, [], [("groups", "1 group", {"groups": 1})]),
        (PLAIN, [3], [("runs", "3 runs", {"runs": (3,)})]),
        (PLAIN, [3, 5], [("runs", "3 and 5 runs", {"runs": (3, 5)})]),
    ],
)
def test_groups_and_runs_are_counted(units, n_runs, expected):
    assert [(note.code, note.text, note.facts) for note in unit_notes(units, n_runs)] == expected


@pytest.mark.parametrize("n_runs", [[1], [4, 1]])
def test_a_single_run_has_a_note(n_runs):
    (note,) = unit_notes(PLAIN, n_runs)
    assert note.code == "runs"
    assert note.text.endswith("variation between runs is left out where there is only 1")


def test_weights_of_zero_leave_a_single_unit():
    assert single_unit(make_units(2, None, [1, 0])).text == "1 case: no interval"
    assert (single_unit(ONE).code, single_unit(ONE).text) == ("no-interval", "1 group: no interval")
    assert single_unit(ONE, "no test", "no-test").code == "no-test"


def test_one_unit_has_no_interval():
    assert [note.code for note in interval_notes(ONE)] == ["groups", "no-interval"]
    assert [note.code for note in interval_notes(GROUPED, [2])] == ["groups", "runs"]


# Wilson intervals: closed form, coverage, groups and runs.


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (930, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_against_scipy(successes, n, level):
    found = proportion_estimate(np.arange(n) < successes, level=level)
    expected = binomtest(successes, n).proportion_ci(level, method="wilson")
    assert float(found) == successes / n
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.93])
@pytest.mark.parametrize("n", [30, 200])
def test_coverage(p, n, random_generator):
    samples = random_generator.random((1500, n)) < p
    found = [proportion_estimate(s) for s in samples]
    covered = np.mean([e.low <= p <= e.high for e in found])
    assert 0.93 <= covered <= 0.985  # discrete: Wilson's own coverage swings about 0.95


def test_coverage_with_groups(random_generator):
    # a group's accuracy varies: Beta(18, 2) around 0.9
    covered = []
    for _ in range(500):
        share = random_generator.beta(9, 1, 40)
        values = random_generator.random((40, 12)) < share[:, None]
        e = proportion_estimate(values.ravel(), groups=np.repeat(np.arange(40), 12))
        covered.append(e.low <= 0.9 <= e.high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_groups_of_copies_count_once(random_generator):
    values = (random_generator.random(60) < 0.8).astype(float)
    copied = proportion_estimate(np.repeat(values, 5), groups=np.repeat(np.arange(60), 5))
    t = mean_estimate(values)
    # the same effective size, up to n against n − 1 and the t quantile
    plain = proportion_estimate(values)
    assert copied.high - copied.low == pytest.approx(plain.high - plain.low, rel=0.05)
    assert float(copied) == pytest.approx(float(t))


def test_runs_widen_the_interval(random_generator):
    one = random_generator.random(300) < 0.8
    runs = np.stack([random_generator.random(300) < p for p in (0.6, 0.8, 0.95)])
    assert np.ptp([proportion_estimate(runs).low, proportion_estimate(runs).high]) > 2 * np.ptp(
        [proportion_estimate(one).low, proportion_estimate(one).high]
    )


def test_shares_whose_mean_rounds_to_one_count_as_ones():
    nearly, ones = np.r_[np.ones(999), 1 - 2.0**-52], np.ones(1000)
    assert nearly.mean() == 1
    found, expected = proportion_estimate(nearly), proportion_estimate(ones)
    assert (float(found), found.low, found.high) == pytest.approx((1, expected.low, 1), abs=1e-4)


def test_edge_cases():
    assert np.isnan(proportion_estimate([1.0]).low)
    assert texts(proportion_estimate([1.0])) == ["1 case: no interval"]
    perfect = proportion_estimate([1, 1, 1, 1], groups=[0, 0, 1, 1])
    assert perfect.high == 1.0
    assert perfect.low < proportion_estimate([1, 1, 1, 1]).low
    with refuses("values", "range", got=r"index \(0, 1\) is 2"):
        proportion_estimate([1, 2])
