"""Tests of all pairs of means: against the paired test, Hall's interval and the law of losses that are not seen."""

import itertools

import numpy as np
import pytest
from scipy import special
from tests.refusals import refuses

from uqassay.notes import has_note
from uqassay.statistics import benjamini_hochberg, mean_estimate, paired_mean_test, pairwise_mean_tests, shaffer
from uqassay.statistics.resampling import run_means
from uqassay.statistics.units import make_units, spread_of_mean

GROUPS = np.repeat(np.arange(9), [1, 9, 4, 4, 2, 7, 3, 5, 5])
WEIGHTS = np.random.default_rng(8).exponential(size=40) * (np.arange(40) % 6 > 0)
CASES = {
    "plain": {},
    "groups": {"groups": GROUPS},
    "mixed groups": {"groups": GROUPS[np.random.default_rng(9).permutation(40)]},
    "equal groups": {"groups": np.arange(40) // 4},
    "groups of one": {"groups": np.arange(40)},
    "weights": {"sample_weight": WEIGHTS},
    "groups and weights": {"groups": GROUPS, "sample_weight": WEIGHTS},
}


def models(rng, n=40):
    common = rng.normal(size=n) + rng.normal(size=9)[GROUPS]
    return {
        "one": common + rng.normal(size=n),
        "runs": common + rng.normal(size=(3, n)) + rng.normal(size=(3, 1)),
        "more": rng.exponential(size=(5, n)),
        "near": common + 0.01 * rng.normal(size=n) ** 3,
    }


@pytest.mark.parametrize("name", CASES)
def test_pairs_against_the_paired_test_and_halls_interval(name, random_generator):
    values, options = models(random_generator), CASES[name]
    found = pairwise_mean_tests(values, level=0.9, **options)
    for (i, a), (j, b) in itertools.permutations(enumerate(values), 2):
        single = paired_mean_test(values[a], values[b], level=0.9, **options)
        expected = [single.difference, single.difference.low, single.difference.high]
        np.testing.assert_allclose([found.difference[i, j], found.low[i, j], found.high[i, j]], expected, rtol=1e-8)
        if {a, b} & {"runs", "more"}:  # the degrees of freedom of runs have a guard of their own
            assert found.pvalue[i, j] >= single.pvalue * (1 - 1e-9)
            continue
        # the p-value is the least level at which both intervals exclude 0
        p = found.pvalue[i, j]
        inside = [ends_hold_zero(values[a], values[b], 1 - factor * p, options) for factor in (1.001, 0.999)]
        assert inside == [False, True]
    upper = np.triu_indices(4, 1)
    np.testing.assert_array_equal(found.adjusted, shaffer(found.pvalue))
    np.testing.assert_array_equal(found.benjamini_hochberg[upper], benjamini_hochberg(found.pvalue[upper]))
    assert np.isnan(found.pvalue.diagonal()).all()
    assert found.level == 0.9
    assert found.values == pytest.approx([float(mean_estimate(v, **options)) for v in values.values()])


def ends_hold_zero(a, b, level, options):
    """Whether Student's or Hall's interval of the difference holds 0."""
    if not 0 < level < 1:
        return True
    a, b = np.atleast_2d(a).astype(float), np.atleast_2d(b).astype(float)
    units = make_units(a.shape[1], options.get("groups"), options.get("sample_weight"))
    a, b = units.keep(a), units.keep(b)
    d = a.mean(axis=0) - b.mean(axis=0)
    value = units.mean(d)
    spread = spread_of_mean(d - value, units, [run_means(a, units), run_means(b, units)])
    ends = [spread.interval(value, level, method) for method in ("student-t", "hall")]
    return any(low <= 0 <= high for low, high in ends)


def test_many_pairs_in_blocks_agree_with_few(random_generator):
    values = {str(k): v for k, v in enumerate(random_generator.normal(size=(9, 30000)))}
    found = pairwise_mean_tests(values)  # a block holds 4 pairs
    for i, j in ((0, 1), (3, 7), (7, 8)):
        few = pairwise_mean_tests({k: values[k] for k in (str(i), str(j))})
        assert found.pvalue[i, j] == pytest.approx(few.pvalue[0, 1], rel=1e-12)


def test_large_common_parts_and_tiny_losses_do_not_cancel(random_generator):
    x = random_generator.exponential(size=(2, 50))
    plain = pairwise_mean_tests({"a": x[0], "b": x[1]})
    for shift, scale, rel in ((2.0**30, 1.0, 1e-5), (0.0, 1e-200, 1e-12), (0.0, 1e150, 1e-12)):
        moved = pairwise_mean_tests({"a": scale * x[0] + shift, "b": scale * x[1] + shift})
        assert moved.pvalue[0, 1] == pytest.approx(plain.pvalue[0, 1], rel=rel)
        assert moved.difference[0, 1] == pytest.approx(scale * plain.difference[0, 1], rel=rel)


def test_equal_differences_are_those_of_the_paired_test():
    values = {"a": [0.1, 0.5, 0.3], "same": [0.1, 0.5, 0.3], "more": [1.1, 1.5, 1.3], "all": [2.0, 2.0, 2.0]}
    found = pairwise_mean_tests(values)
    assert (found.difference[0, 1], found.low[0, 1], found.high[0, 1], found.pvalue[0, 1]) == (0.0, 0.0, 0.0, 1.0)
    assert (found.low[0, 2], found.high[0, 2], found.pvalue[0, 2]) == (-1.0, -1.0, 0.0)
    single = paired_mean_test(values["a"], values["more"])
    assert (single.difference.low, single.pvalue) == (-1.0, 0.0)
    runs = pairwise_mean_tests({"a": [[0.1, 0.2], [0.3, 0.4]], "b": [0.1, 0.2]})  # all variance is of the runs
    assert runs.pvalue[0, 1] == pytest.approx(paired_mean_test([[0.1, 0.2], [0.3, 0.4]], [0.1, 0.2]).pvalue)


@pytest.mark.parametrize("r", [2, 3, 5])
def test_degrees_of_freedom_of_runs_are_those_of_an_upper_limit(r, random_generator):
    x, noise = random_generator.normal(size=60), random_generator.normal(size=60)
    y = x + noise - noise.mean() + 1.5
    runs = x + 0.2 * random_generator.normal(size=(r, 1))
    found = pairwise_mean_tests({"runs": runs, "one": y}, level=0.999)
    inside, between = noise.var(ddof=1) / 60, runs.mean(axis=1).var(ddof=1) / r
    upper = between * (r - 1) / special.chdtri(r - 1, 0.9 if r == 2 else 0.8)
    dof = min((inside + v) ** 2 / (inside**2 / 59 + v**2 / (r - 1)) for v in (between, upper))
    t = found.difference[0, 1] / np.sqrt(inside + between)
    k = -((noise - noise.mean()) ** 3).sum() / 60**3 / (inside + between) ** 1.5
    g = t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6
    assert found.pvalue[0, 1] == pytest.approx(2 * special.stdtr(dof, -min(abs(t), abs(g))), rel=1e-9)
    assert found.pvalue[0, 1] > paired_mean_test(runs, y).pvalue
    limited = pairwise_mean_tests({"runs": runs, "one": y}, level=1 - found.pvalue[0, 1] * 0.99)
    assert limited.limited_by[0, 1] in ("runs", "skewness")
    assert pairwise_mean_tests({"runs": runs, "one": y}, level=0.5).limited_by[0, 1] == ""


def test_groups_that_balance_out_have_the_mean_difference():
    groups, balanced = [0, 0, 1, 1], np.array([0.75, 0.25, 0.25, 0.75])
    found = pairwise_mean_tests({"a": balanced, "b": np.zeros(4)}, groups=groups)
    single = paired_mean_test(balanced, np.zeros(4), groups=groups)
    for ends in ([found.difference[0, 1], found.low[0, 1]], [float(single.difference), single.difference.low]):
        assert ends == [0.5, 0.5]


def test_infinite_values_single_units_and_single_models(random_generator):
    x = random_generator.normal(size=(2, 20))
    found = pairwise_mean_tests({"a": x[0], "inf": np.r_[np.inf, x[1, 1:]], "b": x[1]})
    assert np.isnan(found.pvalue[1]).all()
    assert found.values[1] == np.inf
    assert found.difference[0, 1] == -np.inf
    assert np.isnan(found.low[0, 1])
    assert found.adjusted[0, 2] == found.pvalue[0, 2]  # the only test
    assert has_note(found.notes, "no-test")
    both = pairwise_mean_tests({"a": [np.inf, 1.0], "b": [np.inf, 2.0]})
    assert np.isnan([both.difference[0, 1], both.pvalue[0, 1]]).all()
    for options in ({}, {"groups": [1] * 20}):
        one = pairwise_mean_tests({"a": x[0, : 20 if options else 1], "b": x[1, : 20 if options else 1]}, **options)
        assert np.isnan([one.pvalue[0, 1], one.low[0, 1], one.adjusted[0, 1]]).all()
        assert one.difference[0, 1] == one.values[0] - one.values[1]
        assert has_note(one.notes, "no-test")
        assert not one.reject().any()
    alone = pairwise_mean_tests({"a": x[0]})
    assert np.isnan(alone.pvalue).all()
    assert alone.values == pytest.approx([x[0].mean()])


@pytest.mark.parametrize("array", ["float16", "read-only", "strided", "integer", "list"])
def test_arrays_of_other_kinds(array, random_generator):
    x = np.round(random_generator.normal(size=(2, 30)) * 16) / 16
    kinds = {
        "float16": x.astype(np.float16),
        "read-only": x.copy(),
        "strided": np.repeat(x, 2, axis=1)[:, ::2],
        "integer": (16 * x).astype(np.int64),
        "list": x.tolist(),
    }
    if array == "read-only":
        kinds[array].flags.writeable = False
    a, b = kinds[array]
    assert pairwise_mean_tests({"a": a, "b": b}).pvalue[0, 1] == pytest.approx(
        paired_mean_test(x[0], x[1]).pvalue, rel=0.1
    )


# --------------------------------------------------------------------------------------------------- losses unseen


def test_probability_of_not_seeing_what_reverses_the_order():
    """A share q of instances costs the better model B and nothing the other: at q = d/(d + B) the means are equal."""
    n, d, bound = 7, 0.3, 2.0
    found = pairwise_mean_tests({"better": np.zeros(n), "worse": np.full(n, d)}, bound=bound)
    q = d / (d + bound)
    assert (1 - q) * d - q * bound == pytest.approx(0)
    assert found.pvalue[0, 1] == pytest.approx((1 - q) ** n)
    rng = np.random.default_rng(5)
    share = (rng.random((100_000, n)) >= q).all(axis=1).mean()  # samples that show nothing of it
    assert found.pvalue[0, 1] == pytest.approx(share, abs=4 * np.sqrt(share / 100_000))


def test_the_bound_is_that_of_the_better_model(random_generator):
    x = random_generator.normal(size=(2, 30)) * 0.01
    values = {"a": x[0], "b": x[1] + 1.0}
    p = {
        bounds: pairwise_mean_tests(values, bound=bounds).pvalue[0, 1]
        for bounds in ((5.0, 0.0), (0.0, 5.0), (5.0, 9.0))
    }
    d = x[1].mean() + 1 - x[0].mean()
    assert p[5.0, 0.0] == p[5.0, 9.0] == pytest.approx((5 / (5 + d)) ** 30)
    assert p[0.0, 5.0] < 1e-20
    assert pairwise_mean_tests(values, bound=np.inf).pvalue[0, 1] == 1.0
    assert pairwise_mean_tests(values).pvalue[0, 1] == p[0.0, 5.0]


def test_groups_and_weights_leave_fewer_independent_instances(random_generator):
    d, bound, groups = 0.5, 5.0, np.repeat(np.arange(6), 10)
    together = np.repeat(random_generator.normal(size=6), 10)
    values = {"a": np.zeros(60), "b": d + 1e-3 * (together - together.mean())}
    alone = (bound / (bound + d)) ** 60
    assert pairwise_mean_tests(values, bound=bound).pvalue[0, 1] == pytest.approx(alone)
    assert pairwise_mean_tests(values, bound=bound, groups=groups).pvalue[0, 1] == pytest.approx(
        (bound / (bound + d)) ** 6
    )
    alternating = {
        "a": np.zeros(60),
        "b": d + 1e-3 * np.tile([1.0, -1.0], 30) + 1e-9 * (together - together.mean()),
    }  # no correlation inside groups
    assert pairwise_mean_tests(alternating, bound=bound, groups=groups).pvalue[0, 1] == pytest.approx(alone)
    weights = np.r_[np.ones(4), np.full(56, 1e-3)]
    found = pairwise_mean_tests(alternating, bound=bound, sample_weight=weights)
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert found.pvalue[0, 1] == pytest.approx((bound / (bound + abs(found.difference[0, 1]))) ** kish)


def test_what_limits_a_pair_is_named(random_generator):
    n = 40
    noise = 0.01 * random_generator.normal(size=n)
    clear = {"a": noise, "b": noise[::-1] + 0.5}
    assert pairwise_mean_tests(clear).limited_by.tolist() == [["", ""], ["", ""]]
    assert pairwise_mean_tests(clear, bound=36.0).limited_by[0, 1] == "unseen"
    assert pairwise_mean_tests({"a": noise, "b": noise[::-1]}, bound=36.0).limited_by[0, 1] == ""  # nothing to limit
    skewed = np.r_[np.zeros(n - 6), np.full(6, 3.0)] + noise
    found = pairwise_mean_tests({"a": np.zeros(n), "b": skewed})
    tail = pairwise_mean_tests({"a": np.full(n, 0.9), "b": skewed})  # the long tail points towards the other
    limits = {found.limited_by[0, 1], tail.limited_by[0, 1]}
    assert limits == {"", "skewness"}
    for pair in (found, tail):
        student = paired_mean_test(np.zeros(n) if pair is found else np.full(n, 0.9), skewed).pvalue
        assert (pair.limited_by[0, 1] == "skewness") == (student <= 0.05 < pair.pvalue[0, 1])


# ------------------------------------------------------------------------------------- other errors, references


def test_an_error_of_another_source_widens(random_generator):
    x = random_generator.normal(size=(3, 30))
    values = dict(zip("abc", x, strict=True))
    extra = np.zeros((3, 3))
    extra[0, 1] = extra[1, 0] = 0.4
    plain, wider = pairwise_mean_tests(values), pairwise_mean_tests(values, extra_error=extra)
    q = special.stdtrit(29, 0.975)
    half = (wider.high - wider.low)[0, 1] / 2
    assert half == pytest.approx(q * np.hypot((plain.high - plain.low)[0, 1] / 2 / q, 0.4))
    assert wider.pvalue[0, 1] > plain.pvalue[0, 1]
    assert wider.pvalue[0, 2] == plain.pvalue[0, 2]
    same = pairwise_mean_tests({"a": x[0], "b": x[0]}, extra_error=[[0, 0.1], [0.1, 0]])
    assert (same.pvalue[0, 1], same.high[0, 1]) == (1.0, pytest.approx(0.1 * q))


def test_references_are_not_compared_with_each_other(random_generator):
    x = random_generator.normal(size=(4, 30)) + np.arange(4)[:, np.newaxis] / 3
    found = pairwise_mean_tests(dict(zip("abcd", x, strict=True)), references=["c", "d"])
    every = pairwise_mean_tests(dict(zip("abcd", x, strict=True)))
    assert np.isnan(found.pvalue[2, 3])
    assert np.isnan(found.pvalue).sum() == 6
    expected = every.pvalue.copy()
    expected[2, 3] = expected[3, 2] = np.nan
    np.testing.assert_array_equal(found.pvalue, expected)
    np.testing.assert_array_equal(found.adjusted, shaffer(expected))
    assert found.references == ("c", "d")


@pytest.mark.parametrize(
    ("values", "options", "parameter", "code", "got"),
    [
        ({}, {}, "values", "empty", "got none"),
        ([[1.0]], {}, "values", "type", r"got \[\[1\.0\]\]"),
        ({"a": [1.0, 2.0], "b": [1.0]}, {}, "values['b']", "mismatch", "got 1"),
        ({"a": [1.0, np.nan]}, {}, "values['a']", "finite", ""),
        ({1: [1.0, 2.0], "1": [1.0, 3.0]}, {}, "values", "duplicate", "'1' occurs more than once"),
        ({"a": [1.0]}, {"level": 1.0}, "level", "range", ""),
        ({"a": [1.0]}, {"bound": -1.0}, "bound", "range", "-1"),
        ({"a": [1.0]}, {"bound": np.nan}, "bound", "finite", ""),
        ({"a": [1.0]}, {"bound": [1.0, 2.0]}, "bound", "shape", r"got shape \(2,\)"),
        ({"a": [1.0]}, {"extra_error": [[1.0, 2.0]]}, "extra_error", "shape", ""),
        ({"a": [1.0]}, {"extra_error": [[-1.0]]}, "extra_error", "range", ""),
        ({"a": [1.0]}, {"references": ["b"]}, "references", "choice", "'b'"),
    ],
)
def test_bad_input_is_refused(values, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        pairwise_mean_tests(values, **options)
