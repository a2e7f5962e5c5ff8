"""Mean E as lines in λ: against the tests and estimates of the losses at each λ, with groups, runs and random orders."""

import numpy as np
import pytest
from tests.evidence.cases import judge

import uqassay as uq
from uqassay.evidence.baselines import loss_of
from uqassay.evidence.data import one_run
from uqassay.evidence.findings import loss_estimate
from uqassay.evidence.pair_tests import LossReading, loss_lines
from uqassay.statistics import paired_mean_test, pairwise_mean_tests

TABLES = ("values", "difference", "low", "high", "pvalue", "adjusted")


@pytest.fixture(params=["instances", "groups"])
def found(request, random_generator):
    y = random_generator.integers(3, size=90)

    def members(m):
        z = np.exp(np.eye(3)[y][:, np.newaxis] + random_generator.normal(size=(90, m, 3)))
        return z / z.sum(axis=2, keepdims=True)

    one, runs = members(4), [uq.Members(members(2)) for _ in range(3)]
    points = {"point": uq.Point(one[:, 0]), "class-prior of the others": uq.Point(one[:, 1])}
    models = {"a": uq.Members(one), "runs": runs, **points}
    return judge(models, y, groups=np.arange(90) // 4 if request.param == "groups" else None)


@pytest.mark.parametrize("tradeoff", [0.0, 0.5, 20.0])
def test_tests_and_estimates_against_those_of_the_losses(found, tradeoff):
    lines = loss_lines(found)
    prior = LossReading(found["class-prior"], held_out=True)
    readings = [*(LossReading(m) for m in found.models), prior]
    losses = {str(k): one_run(loss_of(r.model, tradeoff, held_out=r.held_out)) for k, r in enumerate(readings)}
    bound = [3.0] * len(readings)
    _, tests = lines.tests(
        readings,
        [tradeoff + 1, tradeoff],
        bounds=np.full((2, len(readings), len(readings)), 3.0),
        references=readings[-3:],
    )
    expected = pairwise_mean_tests(losses, groups=found.groups, bound=bound, references=list(losses)[-3:])
    for table in TABLES:
        np.testing.assert_allclose(getattr(tests, table), getattr(expected, table), rtol=1e-9, atol=1e-10)
    for m, estimate in zip(found.models, lines.estimates(found.models, tradeoff), strict=True):
        direct = loss_estimate(found, m, found.loss(m.name, tradeoff), tradeoff)
        np.testing.assert_allclose(ends(estimate), ends(direct), rtol=1e-10)
        assert estimate.method == direct.method
    single = paired_mean_test(losses["0"], losses[str(len(readings) - 1)], groups=found.groups)
    (test,) = lines.differences([readings[0]], prior, tradeoff)
    np.testing.assert_allclose(
        [*ends(test.difference), test.pvalue], [*ends(single.difference), single.pvalue], rtol=1e-9
    )


def ends(estimate):
    return [float(estimate), estimate.low, estimate.high]


def test_lines_are_made_once_for_an_assay(found):
    assert loss_lines(found) is loss_lines(found)
    assert found.ranked(0.7) is found.ranked(0.7)
    assert found.rank_sets(0.7) is found.rank_sets(0.7)
    assert found.scale_check(0.7) is found.scale_check(0.7)
    assert found.rank_sets(0.7) is not found.rank_sets(0.8)
    assert found.rank_sets(metric="accuracy") is found.rank_sets(0.8, metric="accuracy")


def test_numbers_of_instances_and_runs_are_found_only_where_they_are_wanted(found):
    others, options = (
        [LossReading(found["runs"]), LossReading(found["point"])],
        {"bounds": np.zeros(2), "alphas": [0.05, 0.01]},
    )
    with_plans, without = (
        loss_lines(found).detectable(others, LossReading(found["a"]), 0.5, plans=plans, **options)
        for plans in (True, False)
    )
    assert [one.difference for one in without] == [one.difference for one in with_plans]
    assert np.isnan([[one.instances, one.times_runs] for one in without]).all()
    assert not np.isnan([one.instances for one in with_plans]).any()
