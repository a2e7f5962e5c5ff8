"""The part of the page on whether a model knows when it is wrong: its numbers are those of the assay."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.report.cases import ranked_assay, softmax

import uqassay as uq
from uqassay.evidence.lens import LENSES
from uqassay.evidence.mistakes import RankedScore
from uqassay.report.page import lens_sections
from uqassay.report.sections import best_scores, mistakes_section, ranked_scores, risk_curve
from uqassay.report.sentences import BEST
from uqassay.text import number

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def assay():
    return ranked_assay(uncertainties={"point": {"<b>noise": np.random.default_rng(1).normal(size=150)}})


@pytest.fixture(scope="module")
def grouped():
    return ranked_assay(groups=[f"patient {i % 40}" for i in range(150)])


@pytest.fixture(scope="module")
def found(assay, grouped):
    return {"assay": mistakes_section(assay), "grouped": mistakes_section(grouped)}


@pytest.fixture(scope="module")
def lens(found):
    return json.loads(json.dumps(found["assay"]))


def entries(lens):
    return [(m["model"], s) for m in lens["models"] for s in m["scores"]]


@pytest.mark.parametrize("name", ["assay", "grouped"])
def test_refusals_against_the_assay(name, found, request):
    a, held = request.getfixturevalue(name), found[name]
    assert held["refused"] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5]
    assert len(entries(held)) > 15
    for model, entry in entries(held):
        for share, refusal in zip(held["refused"], entry["refusals"], strict=True):
            own = a.refusal(model, entry["score"], 1 - share)
            kept, gain = own.accuracy_kept, own.gain
            np.testing.assert_allclose(
                refusal, [kept, kept.low, kept.high, gain, gain.low, gain.high], rtol=1e-4, atol=1e-9
            )


@pytest.mark.parametrize("groups", [None, np.arange(150) % 30])
def test_the_curve_of_one_run_is_that_of_the_assay(groups):
    a, coverages = ranked_assay(groups=groups), [0.02, 0.3, 0.77, 1.0]
    for model in ("members", "runs"):
        own = a.risk_coverage(model, "vote-entropy", coverages)  # with ties
        wanted = np.array([(e, e.low, e.high) for e in own]).T
        np.testing.assert_allclose(risk_curve(a, model, "vote-entropy", coverages), wanted, atol=1e-12)


@pytest.mark.parametrize("name", ["assay", "grouped"])
def test_matrices_against_the_assay(name, found, request):
    a, held = request.getfixturevalue(name), found[name]
    best = best_scores(a)
    for metric in ("uq-auc", "uq-c-index"):
        mine = [c for c in held["comparisons"] if c["metric"] == metric]
        assert {c["model"] for c in mine if "model" in c} == set(a.model_names)
        assert {BEST, "margin", "epistemic-entropy"} <= {c["score"] for c in mine if "score" in c}
        for c in mine:
            if "model" in c:
                pairs = [(c["model"], score) for score in c["rows"]]
            else:
                pairs = [(model, c["score"] or best[model]) for model in c["rows"]]
            own = a.pairwise_uncertainties(pairs, metric=metric)
            below = np.tril_indices(len(pairs), -1)
            np.testing.assert_allclose(c["values"], own.values, rtol=1e-5)
            values = np.array(c["values"])
            np.testing.assert_allclose((values[:, None] - values)[below], own.difference[below], atol=1e-8)
            *ends, adjusted, shown_least = c["pairs"]
            for shown, table in zip(ends, (own.low, own.high), strict=True):
                width = np.median((own.high - own.low)[below])
                np.testing.assert_allclose(shown, table[below], atol=0.01 * width + 1e-5)
            np.testing.assert_allclose(adjusted, own.adjusted[below], rtol=0.01, atol=1e-12)
            for told, d, p in zip(shown_least, own.detectable[below], own.adjusted[below], strict=True):
                assert told == (0 if p <= 0.05 or np.isnan(d) else None if np.isinf(d) else pytest.approx(d, rel=0.051))


def test_best_scores_against_the_findings(assay):
    rows = [r for r in assay.rows("findings") if r["metric"] == "uq-auc" and r["run"] == "all"]
    for model, score in best_scores(assay).items():
        own = {r["score"]: r["estimate"] for r in rows if r["model"] == model}
        usable = {s: v for s, v in own.items() if s in ranked_scores(assay, model)}
        assert usable[score] == max(usable.values())


def test_constant_scores_are_set_apart(assay, lens):
    by_model = {m["model"]: m for m in lens["models"]}
    assert "epistemic-entropy" in by_model["agreeing"]["constant"]
    assert "epistemic-entropy" not in [s["score"] for s in by_model["agreeing"]["scores"]]
    for m in lens["models"]:
        names = [s["score"] for s in m["scores"]]
        assert sorted([*names, *m["constant"]]) == sorted(assay.uncertainty_names(m["model"]))
    for c in lens["comparisons"]:
        assert c.get("score") != "epistemic-entropy" or "agreeing" not in c["rows"]


def test_backward_scores_are_marked(assay, lens):
    assert lens["text"]["backward_note"] == ""
    assert not any(s["backward"] for m in lens["models"] for s in m["scores"])
    wrong = 1 - assay["point"].columns["correct"][0]
    noise = np.random.default_rng(8).normal(size=(2, wrong.size))
    given = {"point": {"random": noise[0], "reversed": noise[1] - 2 * wrong}}
    probs = np.where(wrong[:, np.newaxis] == 1, [0.3, 0.7], [0.7, 0.3])
    a = uq.assay(
        {"point": uq.Point(probs)}, np.zeros(wrong.size, int), uncertainties=given, measures=(), calibration=()
    )
    held = lens_sections(a)[0]
    assert {s["score"]: s["backward"] for s in held["models"][0]["scores"]} == {"random": False, "reversed": True}
    assert "95 %, jointly for 2 scores" in held["text"]["backward_note"]
    assert [note.code for note in a.warnings][-1] == "backward-score"


def test_scores_from_elsewhere_have_no_definition(lens):
    assert {"score": "<b>noise", "label": "<b>noise", "known": False, "offered": True} in lens["scores"]
    assert {"score": "nonspecificity", "label": "non-specificity", "known": True, "offered": True} in lens["scores"]
    assert all(s["known"] for s in lens["scores"] if s["score"] != "<b>noise")


def test_a_model_without_mistakes_is_left_out_of_the_tests_alone():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 60)
    z = np.eye(3)[y] + rng.normal(size=(60, 3))
    perfect = softmax(9 * np.eye(3)[y] + rng.normal(size=(60, 3)))
    a = uq.assay({"a": uq.Point(softmax(z)), "perfect": uq.Point(perfect), "b": uq.Point(softmax(z**3))}, y, n_draws=20)
    found = mistakes_section(a)
    assert [m["best"] is None for m in found["models"]] == [False, True, False]
    auc = [c for c in found["comparisons"] if c["metric"] == "uq-auc"]
    assert auc
    assert not [c for c in auc if "perfect" in (*c["rows"], c.get("model"))]
    gaps = [c for c in found["comparisons"] if c["metric"] == "uq-c-index" and c.get("score") == "margin"]
    assert gaps[0]["rows"] == ["a", "perfect", "b"]
    assert len(found["models"][1]["scores"]) > 0
    assert [m["unmixed"] for m in found["models"]] == ["", "no mistake", ""]
    assert [len(s["refusals"]) for m in found["models"][1:] for s in m["scores"][:1]] == [0, len(found["refused"])]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("no mistakes", "No model makes a mistake on these cases: there is nothing to rank."),
        ("only mistakes", "All predictions are mistakes on these cases: there is nothing to rank."),
        ("one score for all", "There is nothing to choose by: m has no score that differs between cases."),
        ("one instance", "No model makes a mistake on these cases: there is nothing to rank."),
    ],
)
def test_one_sentence_where_no_mistake_can_be_ranked(kind, words):
    p, y = [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], [0, 1, 0]
    if kind == "only mistakes":
        y = [1, 0, 1]
    if kind == "one instance":
        p, y = p[:1], y[:1]
    if kind == "one score for all":
        p, y = [[0.5, 0.5]] * 3, [0, 1, 1]
    a = uq.assay({"m": uq.Point(p)}, y, n_draws=10)
    assert mistakes_section(a) == {"finding": words}
    found = lens_sections(a)[0]
    assert (found["id"], found["title"], found["finding"]) == ("mistakes", LENSES[1].question, words)
    assert "views" not in found


def test_each_model_says_why_nothing_can_be_ranked():
    models = {"sure": uq.Point([[0.9, 0.1], [0.2, 0.8]]), "flat": uq.Point([[0.5, 0.5]] * 2)}
    found = mistakes_section(uq.assay(models, [0, 1], n_draws=10))
    words = "sure makes no mistake here; flat has no score that differs between cases."
    assert found == {"finding": f"There is nothing to choose by: {words}"}


def test_nothing_is_said_without_scores():
    assert (
        mistakes_section(uq.assay({"m": uq.Point([[0.9, 0.1], [0.7, 0.3]])}, [0, 1], n_draws=10, measures=())) is None
    )


def test_less_than_one_instance_is_never_refused():
    found = mistakes_section(ranked_assay(n=30))
    assert found["refused"] == [0.05, 0.1, 0.2, 0.3, 0.5]


def test_the_names_of_groups_change_nothing(found):
    codes = mistakes_section(ranked_assay(groups=np.arange(150) % 40))
    assert json.dumps(codes) == json.dumps(found["grouped"])


def test_the_part_is_small(lens):
    size = len(json.dumps(lens, separators=(",", ":")))
    pairs = sum(len(c["pairs"][0]) for c in lens["comparisons"])
    assert size < 3000 * len(entries(lens)) + 60 * pairs + 5000


def test_every_choice_of_a_score_has_its_sentences(lens):
    offered = [s["score"] for s in lens["scores"] if s["offered"]]
    assert [view["score"] for view in lens["views"]] == [BEST, *offered]
    for view in lens["views"]:
        assert len(view["refusal_notes"]) == len(view["refusal"]) == len(lens["refused"])
        assert len(set(view["refusal"])) == len(lens["refused"])
    by_score = {view["score"]: view for view in lens["views"]}
    assert "agreeing (the score is the same in every case" in by_score["epistemic-entropy"]["absent"]
    assert "members (it has no such score)" in by_score["<b>noise"]["absent"]


def test_the_finding_is_the_sentence_of_the_first_choice(assay, lens):
    view = next(view for view in lens["views"] if view["score"] == lens["first"]["score"])
    told = view["refusal"][lens["refused"].index(lens["first"]["share"])]
    assert lens["finding"] == f"{told} {lens['text']['epistemic']}"
    assert lens["finding"].startswith("Refusing the 10 % most uncertain (by total entropy) ")
    kept = {m: assay.refusal(m, "total-entropy", 0.9) for m in assay.model_names if not lens_model(lens, m)["unmixed"]}
    name = max(kept, key=lambda m: float(kept[m].accuracy_kept))
    assert f" of {name} " in lens["finding"]


def lens_model(lens, name):
    return next(m for m in lens["models"] if m["model"] == name)


def test_the_interval_of_the_told_model_is_adjusted_for_its_choice():
    a = ranked_assay()
    held = mistakes_section(a)
    view = next(v for v in held["views"] if v["score"] == "total-entropy")
    judged = {
        m["model"]: next(s for s in m["scores"] if s["score"] == "total-entropy") for m in held["models"] if m["best"]
    }
    assert len(judged) > 1
    told = max(judged, key=lambda m: judged[m]["refusals"][3][0])  # share .1
    ends = RankedScore(a, told, "total-entropy", level=1 - 0.05 / len(judged)).refusal(0.9).gain
    points = f"({number(100 * ends.low, 1)} to {number(100 * ends.high, 1)}, adjusted for the choice of the model)"
    assert points in view["refusal"][3]


def test_statistics_that_are_not_kept_and_threads_change_nothing(monkeypatch):
    a = ranked_assay(n=60)
    expected = mistakes_section(a)
    monkeypatch.setattr("uqassay.evidence.mistakes.TEST_BYTES", 0)
    monkeypatch.setattr("uqassay.evidence.mistakes.MANY", 1)
    monkeypatch.setattr("uqassay.evidence.mistakes.available_cores", lambda: 2)
    again = replace(a)
    assert mistakes_section(again) == expected
    assert {r.statistic for r in again.mistake_ranking()} == {None}


def test_epistemic_uncertainty_alone_is_compared_by_a_score_that_all_models_with_sets_have(assay, found):
    said = found["assay"]["text"]["epistemic"]
    assert found["assay"]["finding"].endswith(said)
    stated = {m: ranked_scores(assay, m) for m in assay.model_names}
    stated = {m: scores for m, scores in stated.items() if "credal-width" in scores}
    assert 1 < len(stated) < len(assay.model_names)  # a point states none
    common = "epistemic-entropy" if all("epistemic-entropy" in scores for scores in stated.values()) else "credal-width"
    sets = assay.rank_sets(metric="uq-auc", score=common)
    best = sets.names[int(np.argmax(sets.values))]
    assert (
        f"({common.replace('-', ' ')}) the mistakes of {best} are found best: error AUROC {sets.values.max():.3f}"
        in said
    )
    parts = dict.fromkeys(("could be as good", "not as good"), "")
    for clause in said.rstrip(".").split("; ")[1:]:
        parts["not as good" if clause.endswith("not as good") else "could be as good"] = clause
    for m in stated:
        if m != best:
            assert m in parts["could be as good" if m in sets.top_names else "not as good"]


def test_without_sets_nothing_is_said_of_epistemic_uncertainty():
    a = ranked_assay()
    point = uq.assay({"point": uq.Point(softmax(np.random.default_rng(3).normal(size=(60, 3))))}, np.arange(60) % 3)
    assert mistakes_section(point)["text"]["epistemic"] == ""
    assert mistakes_section(a)["text"]["epistemic"] != ""
