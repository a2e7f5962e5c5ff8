"""Two samples of the same models: the numbers are those of the metrics, with labels or without; what differs is refused."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.metrics.ood.sides import sides
from tests.notes import said, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import MissingDependencyError
from uqassay.evidence import FINDING_COLUMNS
from uqassay.evidence.ood import detect_ood, detect_ood_in_predictions
from uqassay.metrics.ood.detection import OOD_METRICS, aupr_score, fpr_at_tpr_error, ood_auc_score
from uqassay.metrics.ood.two_samples import two_samples
from uqassay.statistics.statistic_comparisons import paired_statistic_test

judge = partial(uq.assay, calibration=())  # calibration has tests of its own

SPREAD_ONLY = {"credal-width", "epistemic-entropy", "aleatoric-entropy", "epistemic-variance", "aleatoric-variance"}

SETS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 1]], dtype=bool)


@pytest.fixture
def both(random_generator):
    """Every kind on 60 instances inside and 45 outside, with labels for both."""
    inside = {kind: random_prediction(kind, random_generator, 60, 4) for kind in KINDS}
    outside = {kind: random_prediction(kind, random_generator, 45, 4) for kind in KINDS}
    return inside, outside, random_generator.integers(4, size=60), random_generator.integers(4, size=45)


def row_of(rows, **wanted):
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    assert len(found) == 1, wanted
    return found[0]


def same(a, b):
    """Rows that are equal, nan being equal to nan."""
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert {k: repr(v) for k, v in x.items()} == {k: repr(v) for k, v in y.items()}


# -- the numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positive", ["out", "in"])
def test_rows_are_those_of_the_metrics_for_all_kinds(positive, both):
    inside, outside, y, _ = both
    rows = detect_ood(judge(inside, y), outside, positive=positive, level=0.9).rows()
    for kind in KINDS:
        for score in ("total-entropy", "margin", "total-variance"):
            a, b = (uq.measures.uncertainty_score(side[kind], score) for side in (inside, outside))
            expected = {
                "ood-auc": ood_auc_score(*sides(a, b), level=0.9),
                f"fpr95-{positive}": fpr_at_tpr_error(*sides(a, b), positive=positive, level=0.9),
                f"aupr-{positive}": aupr_score(*sides(a, b), positive=positive, level=0.9),
            }
            for metric, estimate in expected.items():
                row = row_of(rows, model=kind, score=score, metric=metric)
                assert (row["estimate"], row["low"], row["high"]) == pytest.approx(
                    (float(estimate), estimate.low, estimate.high)
                )
                assert (row["n"], row["level"], row["run"]) == (105, 0.9, "all")
        scores = {row["score"] for row in rows if row["model"] == kind}
        assert (SPREAD_ONLY | {"nonspecificity"}).isdisjoint(scores) == (kind == "Point")
        if kind != "Point":
            a, b = (uq.measures.nonspecificity(side[kind]).values for side in (inside, outside))
            row = row_of(rows, model=kind, score="nonspecificity", metric="ood-auc")
            assert row["estimate"] == pytest.approx(float(ood_auc_score(*sides(a, b))))
    assert all(list(row) == FINDING_COLUMNS for row in rows)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"convention": "paper"},
        {"nonspecificity": "pal"},
        {"nonspecificity": "korner", "convention": "paper", "focal_sets": SETS},
        {"nonspecificity": "credal-uncertainty"},
        {"measures": ["margin"], "tolerance": 0.1, "rng": 3},
    ],
)
def test_predictions_without_labels_give_what_an_assay_of_them_gives(settings, both):
    inside, outside, y, z = both
    settings = {"n_draws": 10, **settings}
    own = judge(inside, y, **settings)
    same(detect_ood(own, outside).rows(), detect_ood(own, judge(outside, z, **settings)).rows())


def test_labels_are_needed_for_neither_side(both):
    inside, outside, y, _ = both
    same(detect_ood_in_predictions(inside, outside).rows(), detect_ood(judge(inside, y), outside).rows())
    found = detect_ood_in_predictions(inside, outside, scores=["margin", "credal-width"])
    assert found.score_names("Point") == ("margin",)
    assert found.score_names("Members") == ("margin", "credal-width")


def test_many_classes_share_the_random_orders(random_generator):
    inside, outside = ({"m": random_prediction("Members", random_generator, 20, 20)} for _ in range(2))
    y = random_generator.integers(20, size=20)
    own = judge(inside, y, measures=[])
    assert own["m"].nonspecificity_error > 0
    same(detect_ood(own, outside).rows(), detect_ood(own, judge(outside, y, measures=[])).rows())


def test_runs_are_averaged_and_shown(random_generator):
    inside, outside = ({"m": [random_prediction("Point", random_generator, n, 3) for _ in range(3)]} for n in (50, 40))
    rows = detect_ood_in_predictions(inside, outside, scores=["margin"]).rows()
    assert [row["run"] for row in rows] == [run for run in ("all", "1", "2", "3") for _ in range(3)]
    for metric in ("ood-auc", "fpr95-out", "aupr-out"):
        of_runs = [row["estimate"] for row in rows if row["metric"] == metric]
        assert of_runs[0] == pytest.approx(np.mean(of_runs[1:]))
        assert "3 runs" in said(row_of(rows, metric=metric, run="all"))
        assert "run" not in said(row_of(rows, metric=metric, run="1"))


def test_groups_are_those_of_each_side(random_generator):
    inside, outside = (random_prediction("Point", random_generator, n, 3) for n in (60, 40))
    grouped = (
        {"m": inside.with_metadata(groups=np.arange(60) // 3)},
        {"m": outside.with_metadata(groups=np.arange(40) // 4)},
    )
    rows = detect_ood_in_predictions(*grouped, scores=["margin"]).rows()
    a, b = (uq.measures.uncertainty_score(p, "margin") for p in (inside, outside))
    expected = ood_auc_score(*sides(a, b), groups=np.r_[np.arange(60) // 3, np.arange(40) // 4])
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx((expected.low, expected.high))
    assert "30 groups" in said(rows[0])
    own = judge({"m": inside}, random_generator.integers(3, size=60), groups=np.arange(60) // 3)
    given = detect_ood(own, {"m": outside}, groups=[f"patient {i // 4}" for i in range(40)]).estimate("m", "margin")
    assert (given.low, given.high) == pytest.approx((expected.low, expected.high))
    one_sided = detect_ood(own, {"m": outside}).estimate("m", "margin")
    assert "60 groups" in said(one_sided)


def test_rows_of_models_with_ids_are_aligned(random_generator):
    a, b = (random_prediction("Point", random_generator, 30, 3) for _ in range(2))
    ids, order = np.arange(100, 130), random_generator.permutation(30)
    inside = {"a": a, "b": b}
    named = {"a": a.with_metadata(ids=ids), "b": b[order].with_metadata(ids=ids[order])}
    plain, found = (detect_ood_in_predictions(inside, outside) for outside in (inside, named))
    pair = ("a", "margin"), ("b", "margin")
    assert found.compare(*pair).pvalue == pytest.approx(plain.compare(*pair).pvalue)


def test_members_are_as_many_as_inside(random_generator):
    inside, outside = (random_prediction("Members", random_generator, n, 3, n_members=6) for n in (50, 40))
    y = random_generator.integers(3, size=50)
    fewer = judge({"m": inside}, y, common_members=3, rng=5)
    found = detect_ood(fewer, {"m": outside}).estimate("m", "epistemic-entropy")
    a, b = (uq.measures.uncertainty_score(p.subset(3, 5), "epistemic-entropy") for p in (inside, outside))
    assert float(found) == pytest.approx(float(ood_auc_score(*sides(a, b))))
    with refuses("outside", "mismatch", got="inside has 3"):
        detect_ood(fewer, {"m": outside.subset(2)})


# -- scores from elsewhere, and scores of one side only ---------------------------------------------------------------


def test_scores_from_elsewhere(random_generator):
    inside, outside = (random_prediction("Point", random_generator, n, 3) for n in (50, 40))
    density_in, density_out = random_generator.normal(size=50), random_generator.normal(size=40) + 1
    own = judge({"m": inside}, random_generator.integers(3, size=50), uncertainties={"m": {"density": density_in}})
    found = detect_ood(own, {"m": outside}, uncertainties={"m": {"density": density_out}})
    assert float(found.estimate("m", "density")) == pytest.approx(float(ood_auc_score(*sides(density_in, density_out))))
    without = detect_ood(own, {"m": outside})
    row = row_of(without.rows(), score="density", metric="ood-auc")
    assert np.isnan(row["estimate"])
    assert texts(row) == ["density is not known for the instances out of distribution"]
    with refuses("b", "undefined", got="density is not known for the instances out"):
        without.compare(("m", "margin"), ("m", "density"))
    with refuses("uncertainties", "choice", got="got 'x'"):
        detect_ood(own, {"m": outside}, uncertainties={"x": {"density": density_out}})


def test_logits_of_one_side_only(random_generator):
    logits = random_generator.normal(size=(30, 3))
    found = detect_ood_in_predictions(
        {"m": random_prediction("Point", random_generator, 30, 3)}, {"m": uq.Point.from_logits(logits)}
    )
    row = row_of(found.rows(), score="free-energy", metric="aupr-out")
    assert texts(row) == ["free-energy is not known for the instances in distribution"]


def test_undefined_values_are_counted(both):
    inside, outside, _, _ = both
    found = detect_ood_in_predictions({"m": inside["Members"]}, {"m": outside["Members"]}, scores=["margin"])
    found.outside.models["m"].columns["margin"][0, :2] = np.nan
    row = row_of(found.rows(), score="margin", metric="ood-auc")
    assert np.isnan(row["estimate"])
    assert texts(row) == ["2 of 45 values out of distribution are nan"]


# -- tests of differences ---------------------------------------------------------------------------------------------


def test_comparisons_against_the_influences(both):
    inside, outside, y, _ = both
    found = detect_ood(judge(inside, y, groups=np.arange(60) // 2), outside)
    for metric in OOD_METRICS:
        result = found.compare(("Members", "margin"), ("Point", "total-entropy"), metric)
        statistics = []
        for kind, score in (("Members", "margin"), ("Point", "total-entropy")):
            a, b = (uq.measures.uncertainty_score(side[kind], score) for side in (inside, outside))
            statistics.append(OOD_METRICS[metric].statistic(two_samples(*sides(a, b))))
        groups = np.r_[np.arange(60) // 2, 100 + np.arange(45)]
        expected = paired_statistic_test(*statistics, groups=groups)
        assert (float(result.difference), result.pvalue) == pytest.approx((float(expected.difference), expected.pvalue))
    assert found.compare(("Point", "margin"), ("Point", "margin")).pvalue == 1.0
    with refuses("score", "choice", got="got 'credal-width'"):
        found.compare(("Point", "margin"), ("Point", "credal-width"))
    with refuses("model", "choice", got="got 'nobody'"):
        found.compare(("nobody", "margin"), ("Point", "margin"))
    with refuses("metric", "choice", got="got 'auc'"):
        found.compare(("Point", "margin"), ("Point", "total-entropy"), "auc")


# -- tables and refusals ----------------------------------------------------------------------------------------------


def test_findings_are_a_table_of_the_rows(both, monkeypatch):
    inside, outside, y, _ = both
    found = detect_ood(judge(inside, y), outside)
    assert list(found.table().columns) == FINDING_COLUMNS
    assert len(found.table()) == len(found.rows())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with refuses("pandas", "package", error=MissingDependencyError):
        _ = detect_ood(judge(inside, y), outside).table()


def test_what_differs_between_the_two_is_refused(both):
    inside, outside, y, z = both
    own = judge(inside, y, n_draws=10)
    with refuses("outside", "mismatch", got="'Point'"):
        detect_ood(own, {})
    with refuses("outside", "mismatch", got="lacks 'Members'"):
        detect_ood(own, {k: v for k, v in outside.items() if k != "Members"})
    with refuses("outside", "mismatch", got="'other'"):
        detect_ood(own, outside | {"other": outside["Point"]})
    with refuses("outside", "mismatch", got="inside has Point, outside Members"):
        detect_ood(own, outside | {"Point": outside["Members"]})
    with refuses("outside", "mismatch", got="inside has 1, outside 2"):
        detect_ood(own, outside | {"Point": [outside["Point"], outside["Point"]]})
    with refuses("outside", "type", got="got Point"):
        detect_ood(own, outside["Point"])
    with refuses("outside['Members']", "mismatch", got="45 instances"):
        detect_ood(own, outside | {"Point": outside["Point"][:10]})
    with refuses("outside", "mismatch", got="convention is 'exact' inside, 'paper' outs"):
        detect_ood(own, judge(outside, z, convention="paper", n_draws=10))
    with refuses("groups", "conflict"):
        detect_ood(own, judge(outside, z, n_draws=10), groups=z)
    with refuses("uncertainties", "conflict"):
        detect_ood(own, judge(outside, z, n_draws=10), uncertainties={})
    paper = {"convention": "paper", "n_draws": 10}
    with refuses("outside", "mismatch", got="focal_sets differ"):
        detect_ood(judge(inside, y, **paper, focal_sets=SETS), judge(outside, z, **paper))
    with refuses("positive", "choice", got="got 'ood'"):
        detect_ood(own, outside, positive="ood")
    with refuses("level", "range", got="must lie strictly between 0 and 1"):
        detect_ood(own, outside, level=95)
    with refuses("scores", "choice", got="got 'density'"):
        detect_ood_in_predictions(inside, outside, scores=["density"])


def test_classes_must_be_the_same(random_generator):
    inside = random_prediction("Point", random_generator, 20, 3)
    other = random_prediction("Point", random_generator, 10, 4)
    with refuses("outside", "mismatch", got="inside has K = 3, outside K = 4"):
        detect_ood_in_predictions({"m": inside}, {"m": other})
    named, swapped = ({"m": replace(inside, class_names=tuple(names))} for names in ("abc", "acb"))
    assert detect_ood_in_predictions(named, swapped).outside.class_names == ("a", "b", "c")  # put into one order
    other = {"m": replace(inside, class_names=("a", "b", "d"))}
    with refuses("outside", "mismatch"):
        detect_ood_in_predictions(named, other)
    y = random_generator.integers(3, size=20)
    assert detect_ood(judge({"m": inside}, y), named).rows()  # classes without names contradict no names
    with refuses("outside", "mismatch"):
        detect_ood(judge(named, y), other)
    with refuses("outside", "mismatch"):
        detect_ood(judge(named, y), judge(swapped, y))


def test_a_score_that_no_model_has_is_refused():
    pair = uq.Point([[0.9, 0.1], [0.2, 0.8]])
    members = uq.Members([[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.3, 0.7]]])
    with refuses("scores", "choice", got="got 'vote-entropy', and the scores there are least-confidence, margin"):
        detect_ood_in_predictions({"m": pair}, {"m": [pair]}, scores=["margin", "vote-entropy"])
    found = detect_ood_in_predictions({"m": pair, "d": members}, {"m": pair, "d": members}, scores=["vote-entropy"])
    assert found.score_names("m") == ()
    assert found.score_names("d") == ("vote-entropy",)
