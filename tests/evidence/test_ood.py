"""Two samples of the same models: the numbers are those of the metrics, with labels or without; what differs is refused."""

import numpy as np
import pytest
from tests.evidence.cases import SETS, judge, row_of, same
from tests.kinds import KINDS, random_prediction
from tests.metrics.ood.sides import sides
from tests.notes import said, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence import FINDING_COLUMNS
from uqassay.evidence.ood import detect_ood, detect_ood_in_predictions
from uqassay.metrics.ood import (
    SCOD_METRICS,
    aupr_score,
    fpr_at_tpr_error,
    ood_auc_score,
    scod_augrc_loss,
    scod_aurc_loss,
    scod_risk_loss,
)

SPREAD_ONLY = {"credal-width", "epistemic-entropy", "aleatoric-entropy", "epistemic-variance", "aleatoric-variance"}


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
    without = [row for row in detect_ood(judge(inside, y), outside).rows() if row["metric"] not in SCOD_METRICS]
    same(detect_ood_in_predictions(inside, outside).rows(), without)
    found = detect_ood_in_predictions(inside, outside, scores=["margin", "credal-width"])
    assert found.score_names("Point") == ("margin",)
    assert found.score_names("Members") == ("margin", "credal-width")


def test_errors_and_foreign_inputs_together_are_those_of_the_metrics(both):
    inside, outside = ({kind: side[kind] for kind in ("Members", "Point")} for side in both[:2])
    y = both[2]
    options = {"error_cost": 0.8, "share_out": 0.1}
    found = detect_ood_in_predictions(inside, outside, scores=["margin"], labels=y, **options)
    same(
        found.rows(),
        [row for row in detect_ood(judge(inside, y), outside, **options).rows() if row["score"] == "margin"],
    )
    a, b = (uq.measures.uncertainty_score(side["Members"], "margin") for side in (inside, outside))
    errors = np.append(uq.losses.prediction_errors(y, inside["Members"]), np.zeros(b.size))
    is_out, s = sides(a, b)
    for name, score in (
        ("scod-aurc", scod_aurc_loss),
        ("scod-augrc", scod_augrc_loss),
        ("scod-risk80", scod_risk_loss),
    ):
        assert repr(found.estimate("Members", "margin", name)) == repr(score(is_out, errors, s, **options))
    again = found.compare(("Members", "margin"), ("Point", "margin"), "scod-aurc")
    gap = found.estimate("Members", "margin", "scod-aurc") - found.estimate("Point", "margin", "scod-aurc")
    assert float(again.difference) == pytest.approx(gap)
    without = detect_ood_in_predictions(inside, outside, scores=["margin"])
    with refuses("metric", "missing", got="scod-aurc needs the labels"):
        without.estimate("Members", "margin", "scod-aurc")
    with refuses("error_cost", "range"):
        detect_ood_in_predictions(inside, outside, scores=["margin"], labels=y, error_cost=2)
    with refuses("labels", "mismatch", got="got 5"):
        detect_ood_in_predictions(inside, outside, scores=["margin"], labels=y[:5])


def test_ties_are_chosen_by_name(both):
    inside, outside, _, _ = both
    found = detect_ood_in_predictions(inside, outside, scores=["margin"], ties="whole")
    assert found.metric_names == ("ood-auc", "fpr95-out-whole", "aupr-out")
    with refuses("metric", "conflict", got="fpr95-out-whole jumps"):
        found.compare(("Members", "margin"), ("Point", "margin"), "fpr95-out-whole")
    with refuses("ties", "choice"):
        detect_ood_in_predictions(inside, outside, scores=["margin"], ties="half")


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
    assert texts(row) == ["density is not known for the cases out of distribution"]
    with refuses("b", "undefined", got="density is not known for the cases out"):
        without.compare(("m", "margin"), ("m", "density"))
    with refuses("uncertainties", "choice", got="got 'x'"):
        detect_ood(own, {"m": outside}, uncertainties={"x": {"density": density_out}})


# -- tests of differences ---------------------------------------------------------------------------------------------


# -- tables and refusals ----------------------------------------------------------------------------------------------
