"""Margins and detectable differences of an assay against the functions of arrays."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.order import order_of
from uqassay.evidence.pair_tests import (
    LossReading,
    detectable_at,
    excess_over,
    margin_test_at,
    no_worse_at,
    smallest_shown,
)
from uqassay.statistics import detectable_difference, no_worse_than_best, paired_margin_test


@pytest.fixture(scope="module")
def assay():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.6, 0.95, (3, 600)) - np.array([0.0, 0.002, 0.05])[:, np.newaxis]
    models = {name: uq.Point(np.stack([v, 1 - v], axis=1)) for name, v in zip("abc", p, strict=True)}
    groups = np.repeat(np.arange(60), 10)
    y = (np.arange(600) % 5 == 0).astype(int)
    return uq.assay(models, y, groups=groups, distance="brier", calibration=(), scales=(), n_draws=20, margin=0.05)


def test_margin_test_against_the_losses(assay):
    found = margin_test_at(assay, "a", "b", 0.5, 0.05)
    losses = [assay.loss(name)[0] for name in "ab"]
    expected = paired_margin_test(*losses, margin=0.05, groups=assay.groups, bound=2.0)
    for name in ("pvalue_no_worse", "pvalue_no_better", "pvalue_difference"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name))
    assert found.verdict == expected.verdict


def test_detectable_difference_against_the_losses(assay):
    found = detectable_at(assay, "a", "b", 0.5)
    losses = [assay.loss(name)[0] for name in "ab"]
    expected = detectable_difference(*losses, groups=assay.groups, bound=2.0)
    assert found.difference == pytest.approx(expected.difference)
    assert (found.instances, found.groups) == (expected.instances, expected.groups)


def test_adjusted_pvalues_against_all_pairs(assay):
    pairs = np.zeros((3, 3))
    for i, a in enumerate("abc"):
        for j, b in enumerate("abc"):
            pairs[i, j] = 0.0 if i == j else margin_test_at(assay, a, b, 0.5, 0.05).pvalue_no_worse
    assert list(no_worse_at(assay, 0.5, 0.05).values()) == pytest.approx(no_worse_than_best(pairs).tolist())


def test_the_level_of_all_pairs_takes_more_to_show(assay):
    shown = smallest_shown(assay, "a", ["b"], 0.5, [order_of(assay).level_of("a", "b")])["b"]
    assert shown >= detectable_at(assay, "a", "b", 0.5).difference
    assert smallest_shown(assay, "a", [], 0.5, []) == {}


def test_both_readings_of_the_class_frequencies_count(assay):
    found = margin_test_at(assay, "a", "class-prior", 0.5, 0.05)
    losses = [assay.loss(name)[0] for name in ("a", "class-prior")]
    readings = [LossReading(assay[name]) for name in ("a", "class-prior")]
    bound = float(excess_over(assay, *readings, "unified", 0.5))
    alone = paired_margin_test(*losses, margin=0.05, groups=assay.groups, bound=bound)
    assert found.pvalue_no_worse >= alone.pvalue_no_worse - 1e-12
    assert found.difference.high >= alone.difference.high - 1e-12


def test_the_ranking_has_both(assay):
    rows = {r.model: r for r in assay.ranked(0.5)}
    winner = next(r.model for r in rows.values() if r.rank == 1)
    assert np.isnan(rows[winner].detectable)
    assert not np.isnan(rows["c"].pvalue_no_worse)
    assert np.isnan(rows["vacuous"].pvalue_no_worse)
    assert {"detectable", "pvalue_no_worse"} <= set(assay.rows("ranking")[0])


def test_three_networks_on_cifar10(cifar10):
    models = {
        name: uq.Point(p) for name, p in zip(("vgg", "resnet", "wrn"), cifar10["three"].swapaxes(0, 1), strict=True)
    }
    a = uq.assay(models, cifar10["labels"], calibration=(), scales=(), n_draws=20, margin=0.05)
    rows = {r.model: r for r in a.ranked(0.5)}
    assert rows["vgg"].pvalue_adjusted > 0.05  # the difference from resnet could be chance,
    assert rows["vgg"].pvalue_no_worse < 0.001  # but is less than 0.05
    assert rows["wrn"].pvalue_no_worse == 1
    assert a.compare("vgg", "resnet").margin.verdict == "equivalent"
    assert a.compare("vgg", "resnet", margin=0.001).margin.verdict == "cannot tell"
