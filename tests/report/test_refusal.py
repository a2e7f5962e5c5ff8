"""The section on deploying a model that refuses: numbers of the assay, limits chosen on the choosing part, honest words."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.metrics.certified_thresholds import divide
from uqassay.report.sections import LIMITS, PRICES_SHOWN, refusal_section

pytestmark = pytest.mark.usefixtures("without_calibration")


def binary(n=400, *, seed=0, skill=2.0):
    """Probabilities of two classes and labels that are drawn from them."""
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-skill * rng.normal(size=n)))
    return np.column_stack([1 - p, p]), (rng.random(n) < p).astype(int)


def two_models(**options):
    p, y = binary()
    blurred = 0.5 * p + 0.25
    models = {"sharp": uq.Point(p), "members": uq.Members(np.stack([p, blurred, p], axis=1))}
    return uq.assay(models, y, **options)


def choosing_rates(a, run=0):
    chosen = divide(a.n_instances, a.groups, None, 0.3, None).choosing
    return [1 - m.columns["correct"][run][chosen].mean() for m in a.candidates]


@pytest.fixture(scope="module")
def plain():
    a = two_models()
    return a, refusal_section(a)


@pytest.fixture(scope="module")
def grouped():
    a = two_models(groups=[f"patient {i // 4}" for i in range(400)], level=0.8)
    return a, refusal_section(a)


@pytest.mark.parametrize("case", ["plain", "grouped"])
def test_limits_are_those_of_the_assay(case, request):
    a, lens = request.getfixturevalue(case)
    rate = min(choosing_rates(a))
    assert [row["limit"] for row in lens["limits"]] == [f"{100 * r:g} %" for r in LIMITS if r < rate][-4:]
    for row in lens["limits"]:
        risk = float(row["limit"].removesuffix(" %")) / 100
        found = a.certified_refusal(score="total-entropy", risk=risk, confidence=a.settings.level)
        assert row["sentence"] == found.sentence()
        assert (row["model"], row["certified"]) == (found.model, found.certified)
        if found.certified:
            refusal, kept = found.refusal, found.refusal.coverage
            assert row["threshold"] == f"≤ {found.threshold!r}"
            assert row["score"] == "total entropy"
            np.testing.assert_allclose(row["kept"], [float(kept), kept.low, kept.high], rtol=1e-5)
            assert row["observed"] == float(refusal.observed_risk)
            assert row["of"] == f"of {refusal.observed_risk.n} cases"
        else:
            assert (row["threshold"], row["kept"], row["of"]) == ("cannot be certified", [None] * 3, "")
            assert np.isnan(row["observed"])
    assert any(row["certified"] for row in lens["limits"])


@pytest.mark.parametrize("case", ["plain", "grouped"])
def test_costs_are_those_of_the_assay(case, request):
    a, lens = request.getfixturevalue(case)
    assert [m["model"] for m in lens["costs"]] == list(a.model_names)
    for m in lens["costs"]:
        found = a.expected_cost(m["model"], prices=PRICES_SHOWN)
        every = found.keep_all
        np.testing.assert_allclose(m["every"], [float(every), every.low, every.high], rtol=1e-5)
        np.testing.assert_allclose(m["costs"], [[float(c), c.low, c.high] for c in found.costs], rtol=1e-5)
        assert m["passed"] == [f"{100 * (1 - kept):.1f} % passed on" for kept in found.kept]
        assert tuple(p for p, saves in zip(PRICES_SHOWN, m["saves"], strict=True) if saves) == found.worthwhile()
        assert m["about"] == ""
    assert any(any(m["saves"]) for m in lens["costs"])
    assert not all(all(m["saves"]) for m in lens["costs"])


@pytest.mark.parametrize("case", ["plain", "grouped"])
def test_the_finding_quotes_the_limit_nearest_to_half_of_the_error_rate(case, request):
    a, lens = request.getfixturevalue(case)
    half = min(choosing_rates(a)) / 2
    limits = [float(row["limit"].removesuffix(" %")) / 100 for row in lens["limits"]]
    row = lens["limits"][int(np.argmin(np.abs(np.array(limits) - half)))]
    assert f"at most {row['limit']}" in lens["finding"]
    assert f"the total entropy of {row['model']}" in lens["finding"]
    assert f"({100 * a.settings.level:g} % confidence" in lens["finding"]


def test_the_words_of_the_lead(plain, grouped):
    text = plain[1]["text"]
    assert "30 % of the cases, drawn at random (120 cases), chose the limits below, the model and" in text["lead"]
    assert "the other 280 certified it" in text["lead"]
    assert "New cases must come from the same source." in text["lead"]
    assert text["limits_caption"].startswith("Each limit holds with 95 % confidence by itself, not all rows together.")
    text = grouped[1]["text"]
    assert "30 % of the groups, drawn at random (120 cases), chose" in text["lead"]
    assert "with 80 % confidence by itself" in text["limits_caption"]
    assert text["remarks"] == []


def test_what_is_chosen_does_not_see_the_certifying_part():
    p, y = binary(seed=1)
    chosen = divide(400, None, None, 0.3, None).choosing
    worse = np.where(chosen, y, 1 - p.argmax(axis=1))  # every certifying prediction is wrong
    before, after = (refusal_section(uq.assay({"m": uq.Point(p)}, labels)) for labels in (y, worse))
    assert [row["limit"] for row in before["limits"]] == [row["limit"] for row in after["limits"]]
    assert not any(row["certified"] for row in after["limits"])
    limit = before["finding"].split("at most ")[1].split(" %")[0]
    assert after["finding"] == (
        f"No threshold on the total entropy of m is certified to keep at most {limit} % errors "
        "(95 % confidence, 280 certifying cases)."
    )
    assert "chose the limits below and the threshold" in after["text"]["lead"]


def test_everything_may_be_kept():
    y = np.zeros(1000, int)
    chosen = divide(1000, None, None, 0.3, None).choosing
    p = np.where(np.isin(np.arange(1000), np.flatnonzero(chosen)[:2]), 0.4, np.linspace(0.6, 0.9, 1000))
    lens = refusal_section(uq.assay({"m": uq.Point(np.column_stack([p, 1 - p]))}, y))
    (row,) = lens["limits"]
    assert (row["limit"], row["threshold"], row["score"]) == ("0.5 %", "every case", "")
    assert lens["finding"] == "Without refusing any case of m, at most 0.5 % of new cases are wrong (95 % confidence)."


def test_no_limit_below_the_error_rate():
    p = np.tile([0.8, 0.2], (40, 1))
    lens = refusal_section(uq.assay({"m": uq.Point(p)}, np.zeros(40, int)))
    assert lens["limits"] == []
    assert lens["finding"] == lens["text"]["none"]
    assert lens["finding"] == (
        "m is wrong on 0.0 % of the cases that choose, no more than the lowest limit here (0.5 %), "
        "so no refusal is certified."
    )
    assert lens["costs"][0]["every"][0] == 0.0


def test_models_that_are_always_wrong_have_no_certificate():
    p = np.tile([0.8, 0.2], (40, 1))
    lens = refusal_section(uq.assay({"m": uq.Point(p)}, np.ones(40, int)))
    assert [row["limit"] for row in lens["limits"]] == ["2 %", "5 %", "10 %", "20 %"]
    assert {row["threshold"] for row in lens["limits"]} == {"cannot be certified"}
    assert "at most 20 % errors" in lens["finding"]


def test_of_several_runs_the_first_is_judged():
    p, y = binary()
    a = uq.assay({"one": uq.Point(1 - p), "runs": [uq.Point(p), uq.Point(1 - p)]}, y)
    lens = refusal_section(a)
    rows = [row for row in lens["limits"] if row["model"] == "runs"]
    assert rows
    assert {row["run"] for row in rows} == {"run 1"}
    assert [m["about"] for m in lens["costs"]] == ["", "run 1"]
    assert lens["costs"][1]["costs"][3][0] == pytest.approx(a.expected_cost("runs", prices=[0.1], run=0).costs[0])
    assert lens["text"]["remarks"] == [
        "Models with several training runs are judged by run 1: a threshold belongs to one trained model."
    ]


def test_models_without_a_score_are_left_out():
    p, y = binary(60)
    sets = uq.ClassSets(p > 0.3)
    lens = refusal_section(uq.assay({"sets": sets, "point": uq.Point(p)}, y))
    assert [m["model"] for m in lens["costs"]] == ["point"]
    assert lens["text"]["remarks"] == ["Left out, without a score to refuse by: sets."]
    assert "chose the limits below and the threshold" in lens["text"]["lead"]
    assert refusal_section(uq.assay({"sets": sets}, y)) is None


def test_scores_are_named_where_they_differ():
    p, y = binary(60)
    members = uq.Members(np.stack([p, 0.5 * p + 0.25], axis=1))
    a = uq.assay({"members": members, "point": uq.Point(p)}, y, measures=("epistemic-entropy", "margin"))
    lens = refusal_section(a)
    assert [m["about"] for m in lens["costs"]] == ["epistemic entropy", "margin"]
    assert "its score (epistemic entropy or margin)" in lens["text"]["lead"]
    alone = refusal_section(uq.assay({"point": uq.Point(p), "set": members}, y, measures=("epistemic-entropy",)))
    assert alone["text"]["remarks"] == ["Left out, without a score to refuse by: point."]


def test_where_nothing_can_be_chosen_there_is_no_section():
    p, y = binary(10)
    assert refusal_section(uq.assay({"m": uq.Point(p)}, np.eye(2)[y] * 0.8 + 0.1)) is None  # votes
    assert refusal_section(uq.assay({"m": uq.Point(p[:1])}, y[:1])) is None
    assert refusal_section(uq.assay({"m": uq.Point(p)}, y, groups=np.zeros(10, int))) is None
    assert refusal_section(uq.assay({"m": uq.Point(p)}, y, measures=())) is None


def test_two_instances_have_a_section():
    p, y = binary(2)
    lens = refusal_section(uq.assay({"m": uq.Point(p)}, y))
    assert lens["finding"].endswith(".")
    assert len(lens["costs"][0]["costs"]) == len(PRICES_SHOWN)
