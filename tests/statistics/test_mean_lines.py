"""Means that are linear in a coefficient: against the tests and estimates of the values themselves at that coefficient."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.statistics import MeanLines, mean_estimate, paired_mean_test, pairwise_mean_tests

N = 300
OPTIONS = {
    "plain": {},
    "groups": {"groups": np.arange(N) // 7},
    "groups of one": {"groups": np.arange(N)},
    "weights": {"sample_weight": np.arange(N) % 4},
}
TABLES = ("values", "difference", "low", "high", "pvalue", "adjusted", "benjamini_hochberg")


def models(rng):
    """Distances and non-specificities of ordinary and awkward models."""
    common = rng.exponential(size=N)
    found = {
        "one": (common + 0.3 * rng.normal(size=N) ** 3, rng.beta(2, 3, size=N)),
        "runs": (common + 0.3 * rng.normal(size=(3, N)), rng.beta(2, 3, size=(3, N))),
        "silent": (np.zeros(N), np.full(N, np.log(10))),
        "precise": (common * rng.exponential(size=N), np.zeros(N)),
    }
    d, ns = found["one"]
    found |= {"copy": (d.copy(), ns.copy()), "line": (d + 0.5 * ns, np.zeros(N)), "apart": (d + 2.0, ns)}
    return found | {"infinite": (np.where(np.arange(N) == 9, np.inf, d), ns)}


@pytest.mark.parametrize("tradeoff", [0.0, 0.5, 3.0, 1e6])
@pytest.mark.parametrize("name", OPTIONS)
def test_against_the_values_at_each_tradeoff(name, tradeoff, random_generator):
    columns, options = models(random_generator), OPTIONS[name]
    lines = MeanLines(columns, **options)
    losses = {name: d + tradeoff * ns for name, (d, ns) in columns.items()}
    given = {"level": 0.9, "bound": 25.0, "references": ("silent", "precise")}
    found, expected = lines.tests((1.0, tradeoff), **given), pairwise_mean_tests(losses, **given, **options)
    for table in TABLES:
        a, b = getattr(found, table), getattr(expected, table)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * (1 + tradeoff), err_msg=table)
    np.testing.assert_array_equal(found.limited_by, expected.limited_by)
    assert found.notes == expected.notes
    for estimate, values in zip(
        lines.estimates((1.0, tradeoff), list(losses), method="hall"), losses.values(), strict=True
    ):
        agree(estimate, mean_estimate(values, method="hall", **options))
    for test, values in zip(lines.differences((1.0, tradeoff), list(losses), "one"), losses.values(), strict=True):
        single = paired_mean_test(values, losses["one"], **options)
        agree(test.difference, single.difference)
        np.testing.assert_allclose(
            [test.statistic, test.pvalue], [single.statistic, single.pvalue], rtol=1e-7, atol=1e-12
        )


@pytest.mark.parametrize("name", OPTIONS)
def test_one_against_others_as_in_the_tests_of_all(name, random_generator):
    columns, options = models(random_generator), OPTIONS[name]
    lines, others = MeanLines(columns, **options), ["apart", "infinite", "runs", "copy"]
    bounds, extra = [25.0, 3.0, 25.0, 0.0, 1.0], [0.0, 0.1, 0.2, 0.0]
    errors = np.zeros((5, 5))
    errors[0, 1:] = errors[1:, 0] = extra
    each = (bounds[1:], [bounds[0]] * 4)
    difference, pvalue = lines.against((1.0, 0.5), "one", others, bounds=each, extra_error=extra)
    found = lines.tests((1.0, 0.5), names=["one", *others], bound=bounds, extra_error=errors, references=others)
    np.testing.assert_allclose(difference, found.difference[1:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(pvalue, found.pvalue[1:, 0], rtol=1e-10)
    assert np.isposinf(difference[1])
    assert np.isnan(lines.against((1.0, 0.5), "infinite", others)[1]).all()


@pytest.mark.parametrize("name", OPTIONS)
def test_several_combinations_at_once_are_those_of_each(name, random_generator):
    lines, others = MeanLines(models(random_generator), **OPTIONS[name]), ["apart", "infinite", "runs", "line"]
    combinations = np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0], [2.0, -3.0]])
    bounds, extra = np.arange(20.0).reshape(4, 5), np.arange(16.0).reshape(4, 4) / 50
    over, under = bounds[:, 1:], np.repeat(bounds[:, :1], 4, axis=1)
    found = lines.against(combinations, "one", others, bounds=(over, under), extra_error=extra)
    names, errors = ["one", *others], [e * (1 - np.eye(5)) for e in (0.0, 0.1, 0.2, 0.3)]
    tables = lines.tests_at(
        combinations,
        names=names,
        level=0.9,
        bounds=[np.repeat(b[:, np.newaxis], 5, axis=1) for b in bounds],
        extra_errors=errors,
        references=["runs", "line"],
    )
    for k, t in enumerate(combinations):
        expected = lines.against(t, "one", others, bounds=(over[k], under[k]), extra_error=extra[k])
        np.testing.assert_allclose([part[k] for part in found], expected, rtol=1e-10, atol=1e-14)
        options = {"names": names, "level": 0.9, "bound": bounds[k], "references": ["runs", "line"]}
        single = lines.tests(t, extra_error=errors[k], **options)
        for table in TABLES:
            np.testing.assert_allclose(getattr(tables[k], table), getattr(single, table), rtol=1e-9, atol=1e-13)
        assert tables[k].notes == single.notes


def agree(found, expected):
    ends = [[float(e), e.low, e.high, e.level, e.n] for e in (found, expected)]
    np.testing.assert_allclose(*ends, rtol=1e-9, atol=1e-12)
    assert (found.method, found.notes) == (expected.method, expected.notes)


def test_a_choice_of_models_in_any_order(random_generator):
    columns = models(random_generator)
    lines = MeanLines(columns)
    lines.tests((1.0, 0.5))
    names = ("precise", "one", "runs")
    found, expected = lines.tests((1.0, 2.0), names=names), MeanLines({k: columns[k] for k in names}).tests((1.0, 2.0))
    assert found.names == names
    np.testing.assert_allclose(found.pvalue, expected.pvalue, rtol=1e-9)
    np.testing.assert_allclose(found.difference, expected.difference, rtol=1e-12)


def test_one_instance_one_model_and_no_coefficient(random_generator):
    single = MeanLines({"a": ([0.5], [0.1]), "b": ([0.25], [0.3])})
    assert np.isnan(single.tests((1.0, 1.0)).pvalue).all()
    assert [e.notes[0].code for e in single.estimates((1.0, 1.0), ["a", "b"])] == ["no-interval"] * 2
    assert np.isnan(single.differences((1.0, 1.0), ["a"], "b")[0].pvalue)
    alone = MeanLines({"a": (random_generator.normal(size=9),)})
    assert alone.tests((1.0,)).pvalue.shape == (1, 1)
    assert alone.values("a", (0.0,)).tolist() == [0.0] * 9
    nothing = MeanLines({"a": ([0.5, 0.7], [0.1, 0.2]), "b": ([0.2, 0.1], [0.3, 0.4])}).tests((0.0, 0.0))
    assert nothing.difference.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_columns_that_do_not_fit_are_refused():
    with refuses("values['b']", "mismatch", got=r"shapes \(1, 2\)"):
        MeanLines({"a": ([0.1, 0.2], [0.0, 0.1]), "b": ([0.1, 0.2],)})
    with refuses("values['a']", "mismatch", got=r"\(1, 2\), \(2, 2\)"):
        MeanLines({"a": ([0.1, 0.2], [[0.0, 0.1], [0.1, 0.2]])})
    with refuses("values['b']", "mismatch", got="3"):
        MeanLines({"a": ([0.1, 0.2],), "b": ([0.1, 0.2, 0.3],)})
