"""Scale check: closed forms of two classes, what is claimed and what is not, groups, runs, and real networks."""

import json

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.notes import codes
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.scale import _lowest, _lowest_on, _second_half


def segments(centre, width):
    """Two classes, two members: the probabilities of class 1 from centre − width to centre + width."""
    ends = np.stack([centre - width, centre + width], axis=-1)
    return uq.Members(np.stack([1 - ends, ends], axis=-1))


@pytest.fixture(scope="module")
def ensemble():
    rng = np.random.default_rng(3)
    n = 800
    centre = rng.uniform(0.35, 0.65, n)
    y = (rng.random(n) < centre).astype(int)
    return y, centre, segments(centre, np.full(n, 0.05))


def test_curve_and_minimum_against_closed_form():
    n, c, w, tradeoff = 60, 0.5, 0.1, 1.0
    a = judge({"m": segments(np.full(n, c), np.full(n, w))}, [1] * n)
    (m,) = a.scale_check(tradeoff).models
    free = m.scales <= (1 - c) / w
    expected = -np.log(np.minimum(c + m.scales * w, 1)) + tradeoff * np.minimum(2 * m.scales * w, 1) * np.log(2)
    np.testing.assert_allclose(m.losses[free], expected[free], atol=1e-12)
    exact = (1 / (2 * tradeoff * np.log(2)) - c) / w  # where w / (c + s w) = 2 λ w ln 2
    assert m.best == pytest.approx(exact, rel=0.03)
    assert m.best_loss == pytest.approx(-np.log(c + exact * w) + 2 * tradeoff * exact * w * np.log(2), abs=5e-4)
    assert m.loss == pytest.approx(float(a.loss("m", tradeoff).mean()))
    assert m.scale_loss - m.loss == pytest.approx(float(m.difference))


def test_minimum_of_a_parabola_is_found_exactly():
    scales = np.array([0.0, 0.5, 1.0, 2.0, 4.0])
    curves = np.stack([(scales - 0.6) ** 2 + 1, (scales - 1.3) ** 2 - 3, (scales + 1) ** 2, -scales, np.zeros(5)])
    found = _lowest(scales, curves)
    np.testing.assert_allclose(found[:2], [[0.6, 1], [1.3, -3]], atol=1e-12)
    np.testing.assert_allclose(found[2:], [[0, 1], [4, -4], [0, 0]])


def test_width_is_rewarded_at_a_small_tradeoff_and_not_at_a_great_one(ensemble):
    y, _, members = ensemble
    a = judge({"DE": members}, y)
    small, great = a.scale_check(0.2), a.scale_check(3.0)
    (m,) = small.models
    assert m.wider
    assert m.scale == m.scales[m.losses.argmin()] > 1
    assert m.pvalue <= 0.05
    assert m.difference.high < 0
    assert m.best_low > 1
    assert [m.model for m in small.wider] == ["DE"]
    start = "At λ = 0.2 wider sets would win, so do not read E as quality: 10 times the spread of DE would score better, E = "
    assert small.sentence().startswith(start)
    (m,) = great.models
    assert not m.wider
    assert m.best < 1
    assert m.pvalue <= 0.05  # the narrower set is better: data, no sentence
    assert great.sentence() == ""


def test_nothing_is_said_where_the_best_scale_is_near_one():
    tradeoff = 1.2
    best = 1 / (2 * tradeoff * np.log(2))  # the upper probability that is best where the label is certain
    a = judge({"m": segments(np.full(800, 0.5), np.full(800, best - 0.5))}, np.ones(800, int))
    (m,) = a.scale_check(tradeoff).models
    assert m.best == pytest.approx(1.0, abs=0.1)
    assert not m.wider
    assert a.scale_check(tradeoff).sentence() == ""


def test_few_instances_show_nothing():
    a = judge({"m": segments(np.array([0.5, 0.6, 0.4]), np.full(3, 0.02))}, [0, 1, 1])
    (m,) = a.scale_check(0.2).models
    assert m.losses.argmin() > 4
    assert m.pvalue > 0.05
    assert not m.wider
    (m,) = judge({"m": segments(np.array([0.5]), np.array([0.1]))}, [0]).scale_check(0.2).models
    assert np.isnan([m.pvalue, m.best_low, m.best_high]).all()
    assert "no-test" in codes(m)


def test_two_spreads_of_one_knowledge_have_equal_own_scores(ensemble):
    y, centre, _ = ensemble
    wide, narrow = (segments(centre, np.full(800, w)) for w in (0.2, 0.1))
    a = judge(
        {"wide": wide, "narrow": narrow, "point": uq.Point(np.stack([1 - centre, centre], axis=1))}, y, scales=(1, 2)
    )
    found = a.scale_check(0.8)
    of = {m.model: m for m in found.models}
    assert of["narrow"].losses[1] == pytest.approx(of["wide"].losses[0])
    assert of["narrow"].own_loss == pytest.approx(of["narrow"].losses.min())
    assert of["wide"].own_loss == pytest.approx(of["wide"].losses.min())
    assert dict(zip(found.ranking.names, found.ranking.values, strict=True))["wide"] == pytest.approx(
        of["wide"].own_loss
    )
    assert found.ranking.names == ("wide", "narrow", "point")
    assert set(found.ranking.comparisons.references) == {"vacuous", "class-prior"}
    assert "left-out" in codes(found)


def test_the_scale_of_one_half_comes_from_the_other():
    n = 400
    first = np.arange(n) < n // 2
    a = judge({"m": segments(np.full(n, 0.5), np.full(n, 0.1))}, np.ones(n, int), groups=first)
    half = _second_half(a, np.arange(n))
    assert set(np.flatnonzero(half)) in ({*range(n // 2)}, {*range(n // 2, n)})  # groups whole
    scaled = a.scaled["m"]
    # one half is best at scale 0 at this λ, the other at 4 times: each gets the other's
    scaled.distance[0, :, first], scaled.nonspecificity[0] = scaled.scales[None], 0.0
    scaled.distance[0, :, ~first] = np.abs(scaled.scales - 5.0)[None]
    (m,) = a.scale_check(0.5).models
    assert m.own_loss == pytest.approx((5.0 + 5.0) / 2)


def test_groups_and_runs_widen_what_is_uncertain(ensemble):
    y, centre, members = ensemble
    groups = np.repeat(np.arange(8), 100)
    tradeoff = 1.6
    alone = judge({"m": members}, y).scale_check(tradeoff).models[0]
    grouped = judge({"m": members}, y, groups=groups).scale_check(tradeoff).models[0]
    rng = np.random.default_rng(0)
    shifted = [segments(np.clip(centre + rng.normal(0, 0.1), 0.1, 0.9), np.full(800, 0.05)) for _ in range(3)]
    runs = judge({"m": shifted}, y).scale_check(tradeoff).models[0]
    assert alone.losses == pytest.approx(grouped.losses)
    assert runs.n == 800
    for other in (grouped, runs):
        assert other.difference.high - other.difference.low > 0
        assert other.best_low <= other.best <= other.best_high


def test_infinite_losses_have_no_best_scale():
    sure = uq.Members([[[1.0, 0.0], [0.9, 0.1]]] * 30 + [[[1.0, 0.0], [1.0, 0.0]]] * 2)
    found = judge({"m": sure}, [0] * 31 + [1], floor=0.0).scale_check(0.5)
    (m,) = found.models
    assert np.isnan([m.best, m.best_loss, m.pvalue]).all()
    assert not m.wider
    assert "infinite" in codes(m)
    assert found.sentence() == ""


def test_points_alone_have_nothing_to_scale():
    found = judge({"p": uq.Point([[0.5, 0.5]] * 4)}, [0, 1, 0, 1]).scale_check()
    assert found.models == ()
    assert found.ranking is None
    assert found.sentence() == ""
    with refuses("tradeoff", "range"):
        judge({"p": uq.Point([[0.5, 0.5]] * 4)}, [0, 1, 0, 1]).scale_check(-1)


def test_rows_json_and_saved_assays(ensemble, tmp_path):
    y, centre, members = ensemble
    a = judge({"DE": members, "p": uq.Point(np.stack([1 - centre, centre], axis=1))}, y)
    (row,) = a.rows("scale-check", tradeoff=0.2)
    assert row["model"] == "DE"
    assert row["wider"] is True
    assert a.table("scale-check", tradeoff=0.2).columns.tolist() == list(row)
    told = a.to_json([0.2])["scale_check"]
    json.dumps(told, allow_nan=False)
    assert told[0]["sentence"] == a.scale_check(0.2).sentence()
    again = uq.Assay.load(a.save(tmp_path / "kept"))
    assert again.scale_check(0.2).to_dict() == a.scale_check(0.2).to_dict()
    without = judge({"DE": members}, y, scales=())
    assert without.scale_check(0.2).models == ()
    assert without.rows("scale-check") == []


def test_real_networks(cifar10):
    a = judge({"three": uq.Members(cifar10["three"])}, cifar10["labels"], scales=(0.5, 3), n_draws=10)
    (m,) = a.scale_check(0.2).models
    np.testing.assert_allclose(m.losses, [0.1388, 0.1106, 0.0968], atol=5e-5)
    assert m.wider
    assert a.scale_check(1.0).sentence() == ""


# -- error rates ---------------------------------------------------------------------------------------------------------


def claims(tradeoff, n, n_sets, rng, scales=(0.5, 1.5, 2, 3)):
    """Share of data sets in which the sentence is written; the label distribution is the centre (.3, .7)."""
    found = 0
    for _ in range(n_sets):
        y = (rng.random(n) < 0.7).astype(int)
        a = judge({"m": segments(np.full(n, 0.7), np.full(n, 0.05))}, y, scales=scales, n_draws=10)
        found += a.scale_check(tradeoff).sentence() != ""
    return found / n_sets


def indifferent():
    """λ at which one and a half times the spread has the same expected E."""
    gain = 0.7 * np.log(0.775 / 0.75) + 0.3 * np.log(0.375 / 0.35)
    return gain / (0.05 * np.log(2))


@pytest.mark.slow
def test_sentence_is_rarely_false_and_mostly_found(random_generator):
    level = indifferent()  # above it every wider set is worse
    assert claims(level, 200, 150, random_generator) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    assert claims(0.6 * level, 1000, 20, random_generator) >= 0.8


def test_lowest_scale_on_some_of_the_instances_against_means(random_generator):
    curves = random_generator.random((3, 5, 40))
    rows = random_generator.random(40) < 0.5
    for given in (curves, np.asfortranarray(curves)):
        assert _lowest_on(given, rows) == curves[:, :, rows].mean(axis=(0, 2)).argmin()
    elsewhere = np.where(rows, curves, np.inf)  # infinite where it does not count
    assert _lowest_on(elsewhere, rows) == _lowest_on(curves, rows)
    elsewhere[0, _lowest_on(curves, rows), np.flatnonzero(rows)[0]] = np.inf
    assert _lowest_on(elsewhere, rows) == curves[:, :, rows].mean(axis=(0, 2)).argsort()[1]
