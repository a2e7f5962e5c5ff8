"""Sets: their columns, sets stretched by a scale, coverage against size, and the check of the scale."""

import json

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.kinds import lower_of_every_event, random_prediction
from tests.notes import codes
from tests.refusals import refuses
from tests.shown_results import check_shown

import uqassay as uq
from uqassay.evidence import coverage_curve
from uqassay.evidence.scale import (
    COVERED_ROWS,
    SCALE_COLUMNS,
    SCALES,
    ModelScale,
    ScaleCheck,
    _lowest,
    _lowest_on,
    _second_half,
    can_be_covered,
    check_scales,
    labels_covered,
    scale_models,
    scaled_coverage,
    scaled_prediction,
)
from uqassay.evidence.scoring import SET_COLUMNS, set_columns
from uqassay.evidence.sets import SET_ROW_COLUMNS, models_with_sets, set_scores_of, shown_rule
from uqassay.measures.nonspecificities import not_ruled_out
from uqassay.metrics.sets import CLASS_SET_SCORES
from uqassay.notes import Note
from uqassay.results import plain
from uqassay.statistics import Estimate

pytestmark = pytest.mark.usefixtures("without_calibration")

# -- Columns of sets: of models with sets alone, equal to the measure --------------------------------------------------


def test_columns_are_the_measure_and_the_label(random_generator):
    p = random_generator.dirichlet(np.ones(4), size=(30, 3))
    y = random_generator.integers(4, size=30)
    found = set_columns(y, uq.Members(p))
    assert tuple(found) == SET_COLUMNS
    for rule in uq.credal.CLASS_RULES:
        sets = uq.measures.not_ruled_out(p, rule=rule)
        np.testing.assert_array_equal(found[f"covered-by-{rule}"], sets[np.arange(30), y])
        np.testing.assert_array_equal(found[f"set-size-by-{rule}"], sets.sum(axis=1))


def test_an_assay_keeps_them_for_models_with_sets_alone(random_generator):
    p = random_generator.dirichlet(np.ones(3), size=(20, 2))
    a = uq.assay({"set": p, "point": p[:, 0]}, np.zeros(20, dtype=int), calibration=(), n_draws=10)
    assert set(SET_COLUMNS) <= set(a["set"].columns)
    assert set(SET_COLUMNS).isdisjoint(a["point"].columns)
    assert (a["vacuous"].columns["set-size-by-maximality"] == 3).all()


# -- Rows of sets of an assay: every model with sets, run, rule and score; kept by `save` ------------------------------


@pytest.fixture(scope="module")
def judged(without_calibration):
    rng = np.random.default_rng(5)
    p, q = rng.dirichlet(np.ones(4), size=(2, 40, 3))
    y = rng.integers(4, size=40)
    groups = np.repeat(np.arange(10), 4)
    return p, y, groups, uq.assay({"one": p, "two": [p, q], "point": p[:, 0]}, y, groups=groups, n_draws=10)


def test_rows_are_the_scores_of_the_metric(judged):
    p, y, groups, a = judged
    table = a.table("sets", rule="e-admissibility")
    assert tuple(table.columns) == SET_ROW_COLUMNS
    expected = uq.metrics.class_set_scores(y, p, rule="e-admissibility", groups=groups)
    for run, model in (("all", "one"), ("1", "two")):
        mine = table[(table["model"] == model) & (table["run"] == run)].set_index("metric")
        for name in CLASS_SET_SCORES:
            row, e = mine.loc[name.replace("_", "-")], getattr(expected, name)
            assert (row["estimate"], row["low"], row["high"], row["n"]) == (float(e), e.low, e.high, e.n)


def test_every_rule_and_run_of_models_with_sets(judged):
    a = judged[-1]
    rows = a.rows("sets")
    assert [m.name for m in models_with_sets(a)] == ["one", "two"]
    assert len(rows) == (1 + 3) * 3 * len(CLASS_SET_SCORES)
    assert {row["rule"] for row in rows} == set(uq.credal.CLASS_RULES)
    assert set_scores_of(a, "two", "maximality").coverage.notes[0].code == "groups"


def test_saved_assays_keep_them_and_unknown_rules_are_refused(judged, tmp_path):
    a = judged[-1]
    again = uq.Assay.load(a.save(tmp_path / "kept"))
    assert repr(again.rows("sets", rule="maximality")) == repr(a.rows("sets", rule="maximality"))  # nan is no nan
    with refuses("rule", "choice", "both"):
        a.rows("sets", rule="both")


@pytest.mark.parametrize(("n_classes", "shown"), [(16, "maximality"), (17, "maximality"), (33, "interval-dominance")])
def test_many_classes_have_the_rules_that_they_can_afford(without_calibration, n_classes, shown):
    """Vague sets of a thousand classes would take hours by the other rules."""
    p = np.random.default_rng(6).dirichlet(np.ones(n_classes), size=(5, 3))
    a = uq.assay({"m": p}, np.zeros(5, int), n_draws=10)
    found = {row["rule"] for row in a.rows("sets")}
    assert ("e-admissibility" in found, "maximality" in found) == (n_classes <= 16, n_classes <= 32)
    assert shown_rule(a) == shown
    alone = uq.metrics.class_set_scores(np.zeros(5, int), p, rule=shown)
    assert repr(set_scores_of(a, "m", shown)) == repr(alone)  # nan is no nan
    if n_classes > 16:
        with refuses("rule", "choice", "'e-admissibility'"):
            a.rows("sets", rule="e-admissibility")


# -- Sets with their spread scaled: geometry against brute force, both terms of E against the losses of the scaled -----


SETS = ("Members", "Dirichlet", "Intervals", "Masses", "Vertices", "GaussianLogits", "passes of GaussianLogits")
OFF = {"calibration": (), "n_draws": 10}


def lower_and_centre(prediction):
    """Lower probability of every event, and the probability of every event under the mean prediction."""
    k = prediction.n_classes
    events = (np.arange(2**k)[:, None] >> np.arange(k)) & 1 > 0
    return lower_of_every_event(prediction), prediction.credal().mean_probs() @ events.T


@pytest.mark.parametrize("kind", SETS)
def test_one_leaves_the_set_and_zero_its_centre(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 6, 4)
    same, clipped = scaled_prediction(prediction, 1.0)
    np.testing.assert_allclose(lower_of_every_event(same), lower_of_every_event(prediction), atol=1e-12)
    assert not clipped.any()
    point, clipped = scaled_prediction(prediction, 0.0)
    np.testing.assert_allclose(point.lower_probs(), prediction.credal().mean_probs(), atol=1e-12)
    np.testing.assert_allclose(point.upper_probs(), prediction.credal().mean_probs(), atol=1e-12)
    assert not clipped.any()


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("scale", [0.3, 0.8, 1.2, 4.0])
def test_lower_probabilities_move_by_the_scale_where_nothing_is_clipped(kind, scale, random_generator):
    prediction = random_prediction(kind, random_generator, 40, 3)
    if kind == "Members":
        prediction = uq.Members(0.9 * prediction.probs.mean(axis=1, keepdims=True) + 0.1 * prediction.probs)
    lower, centre = lower_and_centre(prediction)
    moved, clipped = scaled_prediction(prediction, scale)
    expected = centre + scale * (lower - centre)
    free = ~clipped
    assert free.any() or scale > 1
    np.testing.assert_allclose(lower_of_every_event(moved)[free], expected[free], atol=1e-9)
    if clipped.any():
        assert scale > 1
        assert (expected[clipped].min(axis=1) < 0).all()  # it would have left the simplex


@pytest.mark.parametrize("kind", ["Intervals", "Masses"])
def test_intervals_and_masses_grow_inside_each_other(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 50, 4)
    before = lower_of_every_event(prediction)
    for scale in (1.5, 3.0, 1e6):
        after = lower_of_every_event(scaled_prediction(prediction, scale)[0])
        assert (after <= before + 1e-9).all()
        before = after
    if kind == "Intervals":
        wide = scaled_prediction(uq.Intervals([[0.2, 0.3, 0.2]], [[0.4, 0.5, 0.4]]), 1e6)[0]
        np.testing.assert_allclose(wide.lower_probs(), 0.0)
        np.testing.assert_allclose(wide.upper_probs(), 1.0)


def test_clipped_members_by_hand():
    members = uq.Members([[[0.8, 0.2, 0.0], [0.6, 0.2, 0.2]]])  # centre (.7, .2, .1)
    moved, clipped = scaled_prediction(members, 4.0)  # (1.1, .2, −.3) and (.3, .2, .5)
    np.testing.assert_allclose(moved.probs, [[[1.1 / 1.3, 0.2 / 1.3, 0.0], [0.3, 0.2, 0.5]]], atol=1e-12)
    assert clipped.tolist() == [True]


def test_repeated_vertices_and_weights_do_not_move_the_centre(random_generator):
    three = random_generator.dirichlet(np.ones(3), (5, 3))
    padded = uq.Vertices(np.concatenate([three, three[:, :1]], axis=1))
    a, b = scaled_prediction(uq.Vertices(three), 2.0)[0], scaled_prediction(padded, 2.0)[0]
    np.testing.assert_allclose(a.upper_probs(), b.upper_probs(), atol=1e-12)
    weighted = uq.Members(three, weights=[0, 1, 3])
    centre = scaled_prediction(weighted, 0.0)[0]
    np.testing.assert_allclose(centre.mean_probs(), weighted.mean_probs(), atol=1e-12)


def test_masses_of_a_family_without_single_classes():
    m = uq.Masses([[0.4, 0.6]], [[0, 1], [0, 1, 2]], n_classes=3)
    same, clipped = scaled_prediction(m, 5.0)  # single classes have belief 0 already: it cannot grow
    assert clipped.tolist() == [True]
    np.testing.assert_allclose(lower_of_every_event(same), lower_of_every_event(m), atol=1e-12)
    half = scaled_prediction(m, 0.5)[0]
    np.testing.assert_allclose(half.lower_probs(), [[0.2, 0.2, 0.1]], atol=1e-12)


def test_points_and_bad_scales_are_refused():
    for prediction in (uq.Point([[0.5, 0.5]]), uq.Members([[[0.5, 0.5]]])):
        with refuses("prediction", "undefined"):
            scaled_prediction(prediction, 2.0)
    assert check_scales(()) == ()
    assert check_scales([2, 1, 2]) == (1.0, 2.0)
    for bad in ([-1.0], [np.nan], [np.inf]):
        with refuses("scales", "range"):
            check_scales(bad)
    with refuses("scales"):
        uq.assay({"m": uq.Members([[[0.5, 0.5], [0.4, 0.6]]])}, [0], scales=["wide"], **OFF)


# -- both terms of E -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nonspecificity": "korner", "distance": "js"},
        {"nonspecificity": "pal", "distance": "brier"},
        {"nonspecificity": "credal-uncertainty", "distance": "tv"},
        {"convention": "paper"},
    ],
)
def test_scaled_terms_are_those_of_the_scaled_sets(kind, options, random_generator):
    prediction = random_prediction(kind, random_generator, 7, 3)
    y = random_generator.integers(3, size=7)
    found = uq.assay({"m": prediction}, y, scales=(0.5, 2.0), **options, **OFF)
    scaled = found.scaled["m"]
    assert scaled.scales.tolist() == [0.5, 1.0, 2.0]
    assert scaled.rows.tolist() == list(range(7))
    for s, scale in enumerate(scaled.scales):
        moved, clipped = scaled_prediction(prediction, scale)
        loss = uq.losses.unified_loss(y, moved, floor=found["m"].floor, **options)
        np.testing.assert_allclose(scaled.distance[0, s], loss.distance, atol=2e-6)
        np.testing.assert_allclose(scaled.nonspecificity[0, s], loss.nonspecificity, atol=1e-9)
        assert scaled.clipped[s] == pytest.approx(clipped.mean())


def test_many_classes_share_their_orders(random_generator):
    members = uq.Members(random_generator.dirichlet(np.full(20, 0.3), (12, 4)))
    y = random_generator.integers(20, size=12)
    found = uq.assay({"m": members}, y, scales=(0.5, 3.0), **OFF)
    scaled = found.scaled["m"]
    assert scaled.order_deviations.shape == (3, 32)
    np.testing.assert_allclose(scaled.order_deviations[0], 0.5 * scaled.order_deviations[1])
    half = scaled_prediction(members, 0.5)[0]
    np.testing.assert_allclose(
        scaled.nonspecificity[0, 0], uq.measures.generalised_hartley(half, rng=0).values, rtol=1e-9
    )


def test_votes_and_single_precision_keep_the_floor(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (9, 3)).astype(np.float32)
    probs[0] = [1, 0, 0]
    votes = random_generator.integers(0, 5, (9, 3)) + 1
    for y in (np.array([2] * 9), votes):
        found = uq.assay({"m": uq.Members(probs)}, y, scales=(0.5, 2), **OFF)
        assert np.isfinite(found.scaled["m"].distance).all()
    labels = uq.assay({"m": uq.Members(probs)}, [2] * 9, scales=(0.5, 2), **OFF)
    np.testing.assert_allclose(labels.scaled["m"].distance[0, :, 0], -np.log(np.finfo(np.float64).eps))


def test_costly_models_are_scaled_on_whole_groups_that_they_share(random_generator, monkeypatch):
    monkeypatch.setattr("uqassay.evidence.scale.FEWEST_ROWS", 30)
    monkeypatch.setattr("uqassay.evidence.scale.WORK", 6e4)
    n = 200
    y, groups = random_generator.integers(3, size=n), random_generator.integers(25, size=n)
    models = {
        "few": uq.Members(random_generator.dirichlet(np.ones(3), (n, 3))),
        "many": uq.Members(random_generator.dirichlet(np.ones(3), (n, 40))),
        "runs": [uq.Members(random_generator.dirichlet(np.ones(3), (n, 20))) for _ in range(2)],
        "point": uq.Point(random_generator.dirichlet(np.ones(3), n)),
    }
    for given in (None, groups):
        found = uq.assay(models, y, groups=given, **OFF)
        assert list(found.scaled) == ["few", "many", "runs"]
        few, many, runs = (set(s.rows.tolist()) for s in found.scaled.values())
        assert len(few) == n
        assert len(many) < n
        assert many <= runs or runs <= many
        if given is not None:
            for rows in (many, runs):
                assert set(np.flatnonzero(np.isin(groups, groups[list(rows)]))) == rows
        alone = uq.assay({"many": models["many"]}, y, groups=given, **OFF)
        assert set(alone.scaled["many"].rows.tolist()) == many
    assert uq.assay(models, y, scales=(), **OFF).scaled == {}
    assert scale_models(found.candidates, {}, y, found.settings, SCALES) == {}


# -- Coverage of scaled sets in an assay: the public curve on the same instances ---------------------------------------


WITH_SETS = ("Members", "Dirichlet", "Intervals", "Masses", "Vertices", "GaussianLogits")
TWO_SCALES = (0.5, 2.0)
SMALL = {"scales": TWO_SCALES, "n_draws": 10}


@pytest.mark.parametrize("kind", WITH_SETS)
@pytest.mark.parametrize("labels", ["classes", "votes"])
def test_the_curve_is_the_public_one(kind, labels, random_generator):
    p = random_prediction(kind, random_generator, 60, 4)
    y = random_generator.integers(0, 4, 60) if labels == "classes" else random_generator.integers(1, 9, (60, 4))
    groups = np.repeat(np.arange(20), 3)
    a = uq.assay({"m": p}, y, groups=groups, **SMALL)
    public = coverage_curve(y, p, scales=TWO_SCALES, groups=groups, rng=0)
    found = scaled_coverage(a, "m")
    assert [scale for scale, _, _ in found] == [0.5, 1, 2]
    for (_, coverage, size), c, u in zip(found, public.coverage, public.nonspecificity, strict=True):
        assert repr(coverage) == repr(c)
        assert float(size) == pytest.approx(float(u), abs=1e-12)
        assert (size.low, size.high) == pytest.approx((u.low, u.high), abs=1e-12)


def test_labels_alone_are_judged_as_in_the_whole_set(random_generator):
    members = random_prediction("Members", random_generator, 200, 6, 5)
    y = random_generator.integers(0, 6, 200)
    whole = not_ruled_out(members, rule="e-admissibility")
    np.testing.assert_array_equal(labels_covered(y, members), whole[np.arange(200), y])
    np.testing.assert_array_equal(labels_covered(np.eye(6)[y], members), whole[np.arange(200), y])


def test_many_instances_are_judged_on_the_first_of_the_random_order(random_generator):
    n = COVERED_ROWS + 500
    p = uq.Members(random_generator.dirichlet(np.ones(3), (n, 2)))
    y = random_generator.integers(0, 3, n)
    a = uq.assay({"m": p}, y, **SMALL)
    scaled = a.scaled["m"]
    assert scaled.covered.shape == (1, 3, COVERED_ROWS)
    rows = scaled.rows[scaled.judged]
    assert len(np.unique(rows)) == COVERED_ROWS
    own = a["m"].columns["covered-by-e-admissibility"][0, rows]
    np.testing.assert_array_equal(scaled.covered[0, scaled.own], own)
    assert {row["n"] for row in a.rows("coverage-curve")} == {COVERED_ROWS}


def test_runs_are_averaged_and_groups_stay_whole(random_generator):
    runs = [uq.Members(random_generator.dirichlet(np.ones(3), (40, 2))) for _ in range(2)]
    y = random_generator.integers(0, 3, 40)
    a = uq.assay({"m": runs}, y, groups=np.arange(40) // 4, **SMALL)
    one = [uq.assay({"m": run}, y, **SMALL) for run in runs]
    means = np.mean([[float(c) for _, c, _ in scaled_coverage(b, "m")] for b in one], axis=0)
    np.testing.assert_allclose([float(c) for _, c, _ in scaled_coverage(a, "m")], means)
    assert all(row["level"] == 0.95 for row in a.table("coverage-curve").to_dict("records"))


def test_what_is_left_out(random_generator):
    """Points and class sets have no sets to scale; with many classes votes and boxes would take long."""
    y = random_generator.integers(0, 3, 20)
    point = uq.Point(random_generator.dirichlet(np.ones(3), 20))
    classes = uq.ClassSets(np.ones((20, 3), dtype=bool))
    assert uq.assay({"p": point, "c": classes}, y, **SMALL).rows("coverage-curve") == []
    members = uq.Members(random_generator.dirichlet(np.ones(3), (20, 2)))
    assert uq.assay({"m": members}, y, scales=(), n_draws=10).rows("coverage-curve") == []
    wide = {k: uq.Members(np.full((2, 2, k), 1 / k)) for k in (16, 17, 100, 101)}
    label, votes = np.zeros(2, dtype=int), np.ones((2, 17))
    assert [can_be_covered(label, wide[k]) for k in (16, 17, 100, 101)] == [True, True, True, False]
    assert not can_be_covered(votes, wide[17])
    assert not can_be_covered(label, uq.Intervals(np.zeros((2, 17)), np.ones((2, 17))))


# -- Coverage against size of stretched sets: the ends of the curve, and the measures of each scaled set ---------------


def test_points_are_the_scores_of_the_scaled_sets(random_generator):
    p = uq.Members(random_generator.dirichlet(np.full(4, 3.0), size=(40, 3)))
    y = random_generator.integers(4, size=40)
    groups = np.repeat(np.arange(8), 5)
    curve = coverage_curve(y, p, scales=(0, 0.5, 2, 8), groups=groups, rule="maximality")
    assert curve.scales.tolist() == [0, 0.5, 1, 2, 8]
    for s, c, u, k in zip(curve.scales, curve.coverage, curve.nonspecificity, curve.size, strict=True):
        scaled = scaled_prediction(p, s)[0]
        found = uq.metrics.class_set_scores(y, scaled, groups=groups)
        assert repr(c) == repr(found.coverage)
        assert repr(k) == repr(found.size)
        assert float(u) == pytest.approx(float(np.mean(uq.measures.generalised_hartley(scaled).values)))
    assert float(curve.coverage[0]) == pytest.approx((p.labels() == y).mean())
    assert curve.own == 2


def test_wider_sets_cover_more(random_generator):
    p = random_generator.dirichlet(np.full(3, 3.0), size=(60, 3))
    for kind in (uq.Members(p), uq.Vertices(p), uq.Intervals(p.min(axis=1), p.max(axis=1))):
        curve = coverage_curve(np.zeros(60, dtype=int), kind, scales=(0.5, 2))
        values = [float(c) for c in curve.coverage]
        assert values == sorted(values)
        assert curve.scale_for(values[0]) == 0.5
        assert np.isnan(curve.scale_for(1.01))
        assert curve.to_dict()["coverage"][0]["estimate"] == values[0]
        assert "classes" in curve.summary()
        assert curve.to_markdown().count("|") > 10


def test_points_and_no_scales_are_refused():
    with refuses("prediction", "undefined", "points"):
        coverage_curve([0], [[0.5, 0.5]])
    with refuses("scales", "empty"):
        coverage_curve([0], [[[0.5, 0.5], [0.6, 0.4]]], scales=())


# -- Scale check: closed forms of two classes, what is claimed and what is not, groups, runs, and real networks --------


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
        assert _lowest_on(given, rows, None) == curves[:, :, rows].mean(axis=(0, 2)).argmin()
    elsewhere = np.where(rows, curves, np.inf)  # infinite where it does not count
    assert _lowest_on(elsewhere, rows, None) == _lowest_on(curves, rows, None)
    elsewhere[0, _lowest_on(curves, rows, None), np.flatnonzero(rows)[0]] = np.inf
    assert _lowest_on(elsewhere, rows, None) == curves[:, :, rows].mean(axis=(0, 2)).argsort()[1]
    weights = random_generator.random(40)
    mean = np.average(curves[:, :, rows].mean(axis=0), axis=1, weights=weights[rows])
    assert _lowest_on(curves, rows, weights) == mean.argmin()


# -- Records of a scale check: sentences, rows and plain values --------------------------------------------------------


def model(name, scale, *, wider=True):
    scales, losses = np.array([0.5, 1.0, 2.0, 3.0]), np.array([0.3, 0.125, 0.11, 0.097])
    place = scales.tolist().index(scale)
    change = float(losses[place] - 0.125)
    return ModelScale(
        model=name,
        n=100,
        scales=scales,
        losses=losses,
        clipped=np.array([0.0, 0.0, 0.2, 0.5]),
        loss=0.125,
        best=scale,
        best_low=scale - 0.5,
        best_high=scale + 0.5,
        best_loss=float(losses[place]),
        scale=scale,
        difference=Estimate(change, low=change - 0.01, high=change + 0.01, level=0.95, n=100, method="student-t"),
        pvalue=0.01,
        wider=wider,
        own_loss=0.1,
        notes=(Note("sample", "100 of 200 instances"),),
    )


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ((), ""),
        ((model("A", 0.5, wider=False),), ""),
        (
            (model("A", 3.0), model("B", 2.0, wider=False)),
            "At λ = 0.2 wider sets would win, so do not read E as quality: 3 times the spread of A would score better, E = "
            "0.097 in place of 0.125 on 100 cases chosen at random.",
        ),
        (
            (model("A", 3.0), model("B", 2.0)),
            "At λ = 0.2 wider sets would win, so do not read E as quality: 3 times the spread of A and 2 times the spread of B "
            "would score better.",
        ),
        (
            tuple(model(name, 2.0) for name in "ABCDE"),
            "At λ = 0.2 wider sets would win, so do not read E as quality: 2 times the spread of A, B and C and a greater "
            "spread of 2 others would score better.",
        ),
    ],
)
def test_one_sentence_for_all_models_that_are_shown(models, expected):
    check = ScaleCheck(tradeoff=0.2, level=0.95, models=models, ranking=None)
    assert check.sentence() == expected
    assert [m.model for m in check.wider] == [m.model for m in models if m.wider]


def test_rows_are_plain_values():
    check = ScaleCheck(tradeoff=0.2, level=0.95, models=(model("A", 3.0),), ranking=None)
    (row,) = check.rows()
    assert tuple(row) == SCALE_COLUMNS
    assert row["scale_loss"] == 0.097
    assert row["clipped"] == 0.5
    assert row["difference"] == pytest.approx(-0.028)
    assert row["own_rank_low"] is None
    told = json.loads(json.dumps(plain(check.to_dict()), allow_nan=False))
    assert told["models"][0]["losses"] == [0.3, 0.125, 0.11, 0.097]
    assert told["models"][0]["notes"] == [{"code": "sample", "text": "100 of 200 instances"}]


@pytest.mark.parametrize("models", [(), (model("A", 3.0),), (model("A", 0.5, wider=False), model("B", 2.0))])
def test_it_is_shown_by_its_sentence(models):
    check = ScaleCheck(tradeoff=0.2, level=0.95, models=models, ranking=None)
    shown = " ".join(check_shown(check, *(m.model for m in models)).split())
    assert (check.sentence() or "It is not shown that wider sets would score better.") in shown
