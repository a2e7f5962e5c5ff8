"""The order of models at one λ, and how sure it is."""

import numpy as np
import pytest
from tests.evidence.cases import judge

import uqassay as uq
from uqassay.evidence.ranking import draws_of

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_ranking_table_says_what_beats_what():
    y = np.arange(400) % 2
    good, bad = np.where(np.eye(2)[y] > 0, 0.9, 0.1), np.where(np.eye(2)[y] > 0, 0.1, 0.9)
    good[:3] = 0.5
    result = uq.assay({"good": uq.Point(good), "bad": uq.Point(bad)}, y, n_draws=100)
    table = result.ranking(1.0).table().set_index("model")
    assert table["rank"].tolist()[0] == 1
    assert table.win_share["good"] == 1
    assert table.below["bad"] == "vacuous, class-prior"
    assert table.loc[["good", "bad"], ["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2]]
    assert table.top[["good", "bad"]].tolist() == [True, False]
    assert table.loc[["vacuous", "class-prior"], ["rank", "rank_low", "rank_high", "top"]].isna().all(axis=None)
    assert (table.limited_by == "").all()
    assert table.pvalue_adjusted["bad"] < 1e-9
    assert np.isnan(table.pvalue["good"])
    assert np.isnan(table.win_share["vacuous"])
    comparison = result.compare("bad", "good")
    assert float(comparison.difference) == pytest.approx(table.difference["bad"])
    assert comparison.reject(0.01)


def test_identical_models_tie():
    p = uq.Point([[0.7, 0.3], [0.4, 0.6], [0.5, 0.5]])
    result = uq.assay({"a": p, "b": p}, [0, 1, 0], n_draws=20)
    assert result.winners()[0][2] == ("a", "b")
    np.testing.assert_allclose(result.win_shares([0.0, 1.0]), 0.5)
    assert [r.pvalue for r in result.ranked(0.3) if r.rank == 2] == [1.0]


def test_baselines_stand_in_every_ranking(all_kinds):
    models, y = all_kinds
    result = uq.assay(models, y, n_draws=20, prior=[0.1, 0.2, 0.3, 0.4])
    for tradeoff in (0.0, 0.1, 2.0):
        rows = {r.model: r for r in result.ranked(tradeoff)}
        assert float(rows["vacuous"].estimate) == pytest.approx(tradeoff * np.log(4), abs=1e-10)
        assert float(rows["class-prior"].estimate) == pytest.approx(-np.log(np.array([0.1, 0.2, 0.3, 0.4]))[y].mean())


def test_error_of_an_estimated_nonspecificity_is_in_every_comparison(random_generator):
    y = random_generator.integers(40, size=80)
    probs = random_generator.dirichlet(np.full(40, 0.2), (80, 6))
    models = {"many": uq.Members(probs), "few": uq.Members(probs[:, :3]), "mean": uq.Point(probs.mean(axis=1))}
    result = judge(models, y, n_draws=4000)
    many, few, mean = result.candidates
    assert many.nonspecificity_error == pytest.approx(np.std(many.order_deviations, ddof=1) / np.sqrt(32))
    assert mean.order_deviations == ()
    d = np.subtract(many.order_deviations, few.order_deviations)
    assert d.std(ddof=1) < np.std(many.order_deviations, ddof=1)  # shared orders: the errors partly cancel
    tradeoff = 2.0
    for other, deviations in ((few, d), (mean, np.array(many.order_deviations))):
        error = tradeoff * deviations.std(ddof=1) / np.sqrt(32)
        plain = uq.statistics.paired_mean_test(result.loss("many", tradeoff)[0], result.loss(other.name, tradeoff)[0])
        found = result.compare("many", other.name, tradeoff=tradeoff)
        half = (plain.difference.high - plain.difference.low) / 2
        assert (found.difference.high - found.difference.low) / 2 == pytest.approx(
            np.hypot(half, 1.96 * error), rel=1e-3
        )
        assert found.pvalue >= plain.pvalue - 1e-12
        row = next(r for r in result.ranked(tradeoff) if r.model == other.name)
        if result.ranked(tradeoff)[0].model == "many":
            assert row.difference.high - row.difference.low == pytest.approx(2 * np.hypot(half, 1.96 * error), rel=1e-3)
    # and the winning probability knows it: the draws of NS spread by both errors
    spread = draws_of(result)[:, 0, 1].std()
    sampling = many.columns["nonspecificity"].std() / np.sqrt(80)
    assert spread == pytest.approx(np.hypot(sampling, many.nonspecificity_error * np.sqrt(31 / 32)), rel=0.05)


def test_pvalues_are_those_of_all_pairs_with_the_baselines(all_kinds):
    models, y = all_kinds
    result = uq.assay(models, y, n_draws=20)
    ranks = result.rank_sets(0.5)
    rows = result.ranked(0.5)
    best = ranks.comparisons.names.index(rows[0].model if rows[0].rank else next(r.model for r in rows if r.rank == 1))
    for row in rows:
        j = ranks.comparisons.names.index(row.model)
        np.testing.assert_array_equal(
            [row.pvalue, row.pvalue_adjusted],
            [ranks.comparisons.pvalue[j, best], ranks.comparisons.adjusted[j, best]],
        )
        assert row.limited_by == ranks.comparisons.limited_by[j, best]
        if row.rank is not None:
            k = ranks.names.index(row.model)
            assert (row.rank_low, row.rank_high, row.top) == (ranks.low[k], ranks.high[k], ranks.top[k])
            assert row.rank_low <= row.rank <= row.rank_high


def test_few_instances_cannot_tell_log_losses_of_statements_that_are_this_sure():
    """The surer model could have lost ln(.3/.01) more than the other one on any of the inputs."""
    y = np.zeros(20, dtype=int)
    result = uq.assay({"sure": uq.Point([[0.99, 0.01]] * 20), "less": uq.Point([[0.7, 0.3]] * 20)}, y, n_draws=20)
    second = next(r for r in result.ranked(0.0) if r.rank == 2)
    w, d = np.log(0.3 / 0.01), np.log(0.99 / 0.7)
    assert second.pvalue == pytest.approx((w / (w + d)) ** 20, rel=1e-6)
    assert (second.limited_by, second.rank_low, second.top) == ("unseen", 1, True)


def test_shares_of_resamples_know_how_few_groups_there_are(random_generator):
    """With 5 groups, one of two models wins 95 % of the draws where the paired test has p = .1."""
    groups = np.repeat(np.arange(5), 40)
    confidence = 0.7 + 0.05 * random_generator.normal(size=(2, 5))[:, groups]
    points = {name: uq.Point(np.stack([c, 1 - c], axis=1)) for name, c in zip("ab", confidence, strict=True)}
    result = uq.assay(points, np.zeros(200, dtype=int), groups=groups, n_draws=20_000)
    test = result.compare("a", "b", tradeoff=0.0)
    expected = test.pvalue / 2 if test.statistic > 0 else 1 - test.pvalue / 2
    assert result.win_shares([0.0])[0, 0] == pytest.approx(expected, abs=0.015)
