"""The simulation of the verdict's claims: its data sets, their truth, claims judged by it, and counts on disc."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from benchmarks.docs_numbers import PLACE, ROOT
from benchmarks.keyed_lines import append
from benchmarks.verdict_claims import __main__ as command
from benchmarks.verdict_claims import counting, worlds
from benchmarks.verdict_claims.cells import CELLS, NOT_HELD, SHRINKING, chosen
from benchmarks.verdict_claims.counting import Rate, any_false, former_false, present_code, results, share_told
from benchmarks.verdict_claims.judging import _TESTS, KINDS, NOT_COUNTED, false_and_true, former_procedure, judge
from benchmarks.verdict_claims.table import tables
from benchmarks.verdict_claims.truth import Means, Truth, definition, given_single_runs, truth_of
from benchmarks.verdict_claims.worlds import Cell, Kind, data_set, mean_log_loss

import uqassay as uq
import uqassay.evidence
from uqassay.evidence import Claim
from uqassay.evidence.claims import KINDS as CLAIM_KINDS

# -- Data sets of the simulation: calibrated posteriors, exchangeable models, rare losses with the same mean -----------


A = 1.3


@pytest.fixture(autouse=True)
def fewer_samples_of_mean(monkeypatch):
    monkeypatch.setattr(worlds, "SAMPLES_OF_MEAN", 400_000)
    mean_log_loss.cache_clear()
    yield
    mean_log_loss.cache_clear()


PAIR = Cell("pair", (Kind(2, signal=A),), classes=2)


def expected(value):
    """Mean of a function of the logit of the label's class, of two classes: N(a², 2a²)."""
    law = scipy.stats.norm(A**2, np.sqrt(2) * A)
    return scipy.integrate.quad(lambda x: value(x) * law.pdf(x), A**2 - 12 * A, A**2 + 12 * A)[0]


def log_losses(cell, size, seed=0):
    data = data_set(cell, np.random.default_rng(seed), size=size)
    at = np.arange(size)
    return {
        name: -np.log(np.maximum(runs[0][at, data.labels], np.finfo(np.float64).eps))
        for name, runs in data.runs.items()
    }


def test_mean_log_loss_against_integration():
    assert mean_log_loss(A, 1.0, 2) == pytest.approx(expected(lambda x: np.log1p(np.exp(-x))), abs=0.005)
    assert mean_log_loss(A, 2.0, 2) == pytest.approx(expected(lambda x: np.log1p(np.exp(-2 * x))), abs=0.01)


def test_predictions_are_calibrated():
    data = data_set(Cell("three", (Kind(1),)), np.random.default_rng(0), size=60_000)
    p = data.runs["m0"][0]
    for low, high in ((0.0, 0.05), (0.3, 0.4), (0.8, 0.9)):
        rows = (p[:, 1] > low) & (p[:, 1] < high)
        hits = data.labels[rows] == 1
        assert hits.mean() == pytest.approx(p[rows, 1].mean(), abs=4 * np.sqrt(0.25 / rows.sum()))


def test_models_of_a_kind_have_equal_means_and_share_mistakes():
    a, b = log_losses(PAIR, 60_000).values()
    assert a.mean() == pytest.approx(b.mean(), abs=4 * (a - b).std() / np.sqrt(60_000))
    assert 0.2 < np.corrcoef(a, b)[0, 1] < 0.8


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rare_losses_keep_the_mean(dtype):
    calm = Kind(1, signal=1.1, dtype=dtype)
    rare = replace(calm, rare=0.02)
    a, b = log_losses(Cell("rare", (calm, rare), classes=10), 60_000).values()
    huge = b > -np.log(2 * np.finfo(np.float64).eps)
    assert huge.mean() == pytest.approx(0.02, abs=0.003)
    # with the share of huge losses that was drawn put right, the means agree closely
    assert 0.98 * b[~huge].mean() + 0.02 * b[huge].mean() == pytest.approx(a.mean(), abs=0.02)


def test_rare_losses_above_the_mean_are_refused():
    cell = Cell("impossible", (Kind(1, signal=4.0, rare=0.02),))
    with pytest.raises(ValueError, match="the rare losses alone exceed the mean log loss 0"):
        data_set(cell, np.random.default_rng(0))


def test_losses_of_a_group_are_correlated():
    cell = Cell("groups", (Kind(2),), groups=(2,) * 4000, correlation=0.5)
    data = data_set(cell, np.random.default_rng(0))
    assert len(data.labels) == 8000
    assert data.groups[:4].tolist() == [0, 0, 1, 1]
    p = data.runs["m0"][0]
    signal = np.log(p[np.arange(8000), data.labels]).reshape(-1, 2)
    same = data.labels.reshape(-1, 2)[:, 0] == data.labels.reshape(-1, 2)[:, 1]
    assert np.corrcoef(signal[same].T)[0, 1] > 0.3
    alone = data_set(replace(cell, correlation=0.0), np.random.default_rng(0))
    again = np.log(alone.runs["m0"][0][np.arange(8000), alone.labels]).reshape(-1, 2)
    assert abs(np.corrcoef(again.T)[0, 1]) < 0.06


def test_runs_parts_scores_and_blind_models():
    kinds = (Kind(2, runs=3, run_spread=0.1), Kind(1, scores=("chance", "backward")), Kind(1, blind=True))
    data = data_set(Cell("all", kinds, n=4000, parts=4), np.random.default_rng(0))
    assert [len(data.runs[name]) for name in ("m0", "m1", "m2", "m3")] == [3, 3, 1, 1]
    assert not np.array_equal(data.runs["m0"][0], data.runs["m0"][1])
    assert np.unique(data.subgroups["site"]).tolist() == [0, 1, 2, 3]
    wrong = data.runs["m2"][0].argmax(axis=1) != data.labels
    chance, backward = (data.scores["m2"][key][0] for key in ("chance", "backward"))
    assert abs(chance[wrong].mean() - chance[~wrong].mean()) < 0.15
    assert backward[wrong].mean() < backward[~wrong].mean() - 0.1
    p = data.runs["m3"][0]
    wrong = p.argmax(axis=1) != data.labels
    assert p.max(axis=1)[wrong].mean() == pytest.approx(p.max(axis=1)[~wrong].mean(), abs=0.03)
    assert np.allclose(p.sum(axis=1), 1)


def test_a_part_in_which_a_model_is_behind():
    cell = Cell("part", (Kind(1, signal=2.0, first_part=0.5),), n=4000, parts=2)
    data = data_set(cell, np.random.default_rng(0))
    right = data.runs["m0"][0].argmax(axis=1) == data.labels
    first = data.subgroups["site"] == 0
    assert right[first].mean() < right[~first].mean() - 0.2


def test_the_cells_asked_for_are_there():
    assert {name[name.index("-") :] for name in CELLS if name.startswith("equal-") and name[6].isdigit()} >= {
        f"-{j}-300" for j in (2, 3, 5, 10, 20)
    }
    assert [cell.size for cell in chosen(["groups-5-10", "groups-10-10"])] == [sum(SHRINKING[5]), sum(SHRINKING[10])]
    assert len(chosen(["rare-*"])) == 8
    assert len({repr(cell) for cell in chosen([])}) == len(CELLS)
    with pytest.raises(SystemExit, match="no cell nothing"):
        chosen(["nothing"])


# -- True means against integration, levels, and which claims of ranges of λ they make true ----------------------------


SAMPLES = 40_000
LN3 = float(np.log(3))
BASELINES = {"vacuous": Means(0.0, LN3), "class-prior": Means(LN3, 0.0)}


def expected_value(value):
    law = scipy.stats.norm(A**2, np.sqrt(2) * A)
    return scipy.integrate.quad(lambda x: value(x) * law.pdf(x), A**2 - 12 * A, A**2 + 12 * A)[0]


def test_means_of_two_classes_against_integration(tmp_path):
    cell = Cell("pair", (Kind(3, signal=A),), classes=2)
    truth = truth_of(cell, tmp_path, samples=SAMPLES)
    assert set(truth.models) == {"m0", "m1", "m2", "vacuous", "class-prior"}
    found = truth.models["m1"]
    assert found == truth.models["m0"]
    assert found.log_loss == pytest.approx(expected_value(lambda x: np.log1p(np.exp(-x))), abs=0.02)
    assert found.distance == pytest.approx(found.log_loss, abs=1e-9)
    assert found.nonspecificity == 0
    assert found.brier == pytest.approx(expected_value(lambda x: 2 / (1 + np.exp(x)) ** 2), abs=0.01)
    assert found.accuracy == pytest.approx(scipy.stats.norm.cdf(A / np.sqrt(2)), abs=0.01)
    assert found.calibrated
    assert found.kept["total-entropy"] > found.accuracy
    assert 0.6 < found.uq_auc["total-entropy"] < 0.9
    assert truth.models["class-prior"].at(0.3) == pytest.approx(np.log(2))
    assert truth.models["vacuous"].at(0.3) == pytest.approx(0.3 * np.log(2))


def test_truth_is_what_assays_of_large_samples_show(tmp_path):
    cell = Cell("sets", (Kind(1), Kind(1, sharpness=1.5, members=4, spread=0.7)))
    truth = truth_of(cell, tmp_path, samples=SAMPLES)
    data = data_set(cell, np.random.default_rng(5), size=4000)
    a = uq.assay(data.predictions(), data.labels, calibration=(), measures=("total-entropy",), n_draws=20)
    for name in ("m0", "m1"):
        mine = truth.models[name]
        columns = {"log-loss": mine.log_loss, "brier": mine.brier, "correct": mine.accuracy, "distance": mine.distance}
        columns["nonspecificity"] = mine.nonspecificity
        for key, value in columns.items():
            seen = a[name].columns[key][0]
            assert value == pytest.approx(seen.mean(), abs=4.5 * seen.std() / np.sqrt(4000) + 1e-12), key
        auc = next(r.estimate for r in a.mistake_ranking() if r.model == name and r.metric == "uq-auc")
        assert mine.uq_auc["total-entropy"] == pytest.approx(float(auc), abs=0.04)
        assert mine.kept["total-entropy"] == pytest.approx(
            float(a.refusal(name, "total-entropy").accuracy_kept), abs=0.03
        )


def test_brier_distance_and_its_baselines(tmp_path):
    cell = Cell("brier", (Kind(1),), classes=4, distance="brier")
    truth = truth_of(cell, tmp_path, samples=2000)
    assert truth.models["m0"].distance == truth.models["m0"].brier
    assert truth.models["class-prior"].distance == 0.75
    assert truth.models["vacuous"].at(1.0) == pytest.approx(np.log(4))


def test_truth_is_made_once_for_cells_of_the_same_kinds(tmp_path):
    first = Cell("first", (Kind(2),), n=100)
    found = truth_of(first, tmp_path, samples=1000)
    (path,) = (tmp_path / "truth").iterdir()
    path.write_text(path.read_text().replace('"nonspecificity": 0.0', '"nonspecificity": 7.0'))
    again = truth_of(Cell("second", (Kind(3),), n=300, groups=(5, 5), correlation=0.3), tmp_path, samples=1000)
    assert again.models["m2"].nonspecificity == 7.0
    assert again.models["m2"].distance == found.models["m0"].distance
    assert truth_of(Cell("third", (Kind(2, sharpness=2.0),)), tmp_path, samples=1000).models["m0"].nonspecificity == 0


def test_a_single_run_stands_for_the_trained_model(tmp_path):
    cell = Cell("runs", (Kind(2, run_spread=0.3), Kind(1, runs=3, run_spread=0.3)))
    truth = truth_of(cell, tmp_path, samples=20_000)
    data = data_set(cell, np.random.default_rng(0))
    given = given_single_runs(cell, truth, data)
    assert truth.models["m0"] == truth.models["m1"]
    assert given.models["m2"] == truth.models["m2"]
    assert given.models["vacuous"] == truth.models["vacuous"]
    strong = max("m0", "m1", key=lambda name: data.factors[name][0])
    weak = {"m0": "m1", "m1": "m0"}[strong]
    assert given.better(strong, weak, [0.0])
    same = data_set(cell, np.random.default_rng(1), size=50_000, factor=data.factors[strong][0])
    p = same.runs[strong][0][np.arange(50_000), same.labels]
    assert given.models[strong].log_loss == pytest.approx(-np.log(p).mean(), abs=0.03)


def test_levels_blind_models_and_parts(tmp_path):
    kinds = (Kind(1, level="a"), Kind(1, sharpness=1.2, level="a"), Kind(1, blind=True, scores=("chance",)))
    truth = truth_of(Cell("levels", kinds, parts=3), tmp_path, samples=3000)
    assert truth.models["m0"].distance == truth.models["m1"].distance != truth.models["m2"].distance
    assert truth.models["m0"].accuracy != truth.models["m1"].accuracy
    blind = truth.models["m2"]
    assert (blind.uq_auc["total-entropy"], blind.uq_auc["chance"], blind.kept["chance"]) == (0.5, 0.5, blind.accuracy)
    assert [truth.models[m].calibrated for m in ("m0", "m1", "m2")] == [True, False, False]
    assert set(truth.parts) == {0, 1, 2}
    mean = np.mean([truth.parts[v]["m0"].accuracy for v in range(3)])
    assert mean == pytest.approx(truth.models["m0"].accuracy, abs=0.01)


def test_definition_follows_what_decides_the_data():
    cell = Cell("a", (Kind(2),), about="text")
    assert definition(cell) == definition(Cell("a", (Kind(2),)))
    others = [
        Cell("b", (Kind(2),)),
        Cell("a", (Kind(3),)),
        Cell("a", (Kind(2, signal=2.0),)),
        Cell("a", (Kind(2),), n=9),
    ]
    assert len({definition(c) for c in (cell, *others)}) == 5


def test_better_needs_all_ends_and_more_than_the_truths_error():
    truth = Truth({"a": Means(0.2, 0.3), "b": Means(0.3, 0.1), "c": Means(0.2005, 0.3)})
    assert truth.better("a", "b", [0.0, 0.4])  # equal at 0.5
    assert not truth.better("a", "b", [0.0, 0.5])
    assert truth.better("b", "a", [0.6, float("inf")])
    assert not truth.better("a", "c", [0.0])


@pytest.mark.parametrize(
    ("low", "high", "beaten"),
    [(0.0, 0.3, True), (0.0, 0.6, False), (3.0, float("inf"), True), (0.0, float("inf"), False)],
)
def test_beaten_by_one_baseline_or_the_other(low, high, beaten):
    # below .2/(ln 3 − .4) = .29 … .43 the vacuous statement is better, above (ln 3 − .3)/.4 = 2 the class frequencies are
    truth = Truth({**BASELINES, "m": Means(0.3, 0.4)})
    assert truth.beaten("m", low, high) is beaten


def test_beaten_by_different_baselines_at_all_lambda():
    truth = Truth({**BASELINES, "m": Means(0.9, 0.9)})
    assert truth.beaten("m", 0.0, float("inf"))
    between = Truth({**BASELINES, "m": Means(0.6, 0.4)})  # beaten at both ends, but not where the baselines are equal
    assert not between.beaten("m", 0.0, float("inf"))


# -- Counting of true and false claims: claims made up, and an assay whose winner is known -----------------------------


SCORE = {"uq_auc": {"s": 0.4}, "kept": {"s": 0.6}}
TRUTH = Truth(
    {
        "a": Means(0.2, 0.3, brier=0.2, accuracy=0.7, **SCORE),
        "b": Means(
            *(0.3, 0.1),
            brier=0.2,
            accuracy=0.6,
            confidence=0.7,
            uq_auc={"s": 0.5},
            kept={"s": 0.6},
            scaled={"1": (0.3, 0.1), "2": (0.2, 0.2), "3": (0.28, 0.3)},
            calibrated=False,
        ),
        "vacuous": Means(0.0, LN3),
        "class-prior": Means(LN3, 0.0),
    },
    {0: {"a": Means(0.5), "b": Means(0.4)}, 1: {"a": Means(0.4), "b": Means(0.4)}},
)
AT = (0.2, 0.2)


def counted(*claims, ranked=(), truth=TRUTH):
    """Names and truth of made-up claims, without those of rank sets."""
    nothing = SimpleNamespace(better=np.zeros((2, 2), bool), names=("a", "b"))
    assay = SimpleNamespace(claims=lambda: claims, rank_sets=lambda *a, **k: nothing, ranked=lambda tradeoff: ranked)
    return list(false_and_true(assay, truth))


@pytest.mark.parametrize(
    ("claim", "name", "true"),
    [
        (Claim("worse", ("b",), ("a",), *AT), "worse than the winner", True),
        (Claim("worse", ("a",), ("b",), *AT), "worse than the winner", False),
        (Claim("worse", ("b",), ("a",), 0.1, 0.4), "headline: worse than the choice", True),
        (Claim("worse", ("b",), ("a",), 0.1, 0.6), "headline: worse than the choice", False),
        (Claim("best", ("a",), ("b",), *AT), "best", True),
        (Claim("best", ("b",), ("a",), *AT), "best", False),
        (
            Claim("model-better", ("b",), ("vacuous", "class-prior"), 0.5, 7.0),
            "headline: better than the baselines",
            True,
        ),
        (Claim("model-better", ("b",), ("vacuous",), 0.2, 7.0), "headline: better than the baselines", False),
        (
            Claim("model-better", ("b",), ("vacuous",), 0.2, 7.0, limited_by="unseen"),
            "headline: if no huge loss is missing",
            False,
        ),
        (Claim("baseline-better", ("b",), ("vacuous",), *AT), "baseline better at the default λ", True),
        (Claim("baseline-better", ("b",), ("class-prior",), *AT), "baseline better at the default λ", False),
        (
            Claim("baseline-better", ("a", "b"), ("vacuous",), 0.0, 0.2, facts={"every_model": True}),
            "no model is worth using",
            True,
        ),
        (
            Claim("baseline-better", ("a", "b"), ("vacuous",), 0.0, 0.28, facts={"every_model": True}),
            "no model is worth using",
            False,
        ),
        (Claim("wider-better", ("b",), (), *AT, facts={"scale": 2.0}), "wider sets", True),
        (Claim("wider-better", ("b",), (), *AT, facts={"scale": 3.0}), "wider sets", False),
        (Claim("same", ("a",), ("b",)), "same losses", False),
        (Claim("subgroup", ("b",), ("a",), *AT, facts={"value": 0}), "subgroup", True),
        (Claim("subgroup", ("b",), ("a",), *AT, facts={"value": 1}), "subgroup", False),
        (Claim("backward-score", ("b",), metric="s", facts={"costs": False}), "backward score", False),
        (Claim("not-calibrated", ("a",)), "not calibrated", False),
        (Claim("not-calibrated", ("b",)), "not calibrated", True),
    ],
)
def test_claim_is_judged_by_the_truth(claim, name, true):
    assert counted(claim) == [(name, true)]
    assert name in KINDS


@pytest.mark.parametrize(("failing", "cases", "met"), [(0.02, 100.0, False), (0.005, 100.0, True), (0.0, 100.0, True)])
def test_a_false_claim_whose_condition_is_not_met_is_counted_as_such(failing, cases, met):
    """b is said to be better than a, if it fails in at most one of a hundred cases."""
    rests = Claim("cannot-tell", ("b",), low=0.5, high=0.5, limited_by="inputs", facts={"cases": {"b": cases}})
    choice = Claim("top-group", ("b",), low=0.1, high=2.0, facts={"cases": {"b": cases}})
    truth = replace(TRUTH, failing={"b": failing})
    for claim, condition, name in (
        (Claim("worse", ("a",), ("b",), 0.5, 0.5), rests, "worse than the winner"),
        (Claim("worse", ("a",), ("b",), 0.1, 0.4), choice, "headline: worse than the choice"),
    ):
        turned = replace(truth, models={**TRUTH.models, "a": TRUTH.models["b"], "b": TRUTH.models["a"]})
        turned = replace(turned, models={**turned.models, "b": Means(0.9)})
        expected = name if met else "order under a condition that is not met"
        assert counted(claim, condition, truth=turned) == [(expected, False)]
        assert counted(claim, truth=turned) == [(name, False)]


def test_groups_that_fail_as_a_whole():
    claim = Claim("worse", ("a",), ("b",), 0.5, 0.5)
    rests = Claim("cannot-tell", ("b",), limited_by="groups")
    truth = replace(TRUTH, models={**TRUTH.models, "b": Means(0.9)})
    assert counted(claim, rests, truth=truth) == [("worse than the winner", False)]
    truth = replace(truth, in_groups=frozenset({"b"}))
    assert counted(claim, rests, truth=truth) == [("order under a condition that is not met", False)]


def estimate(low, high):
    return uq.Estimate((low + high) / 2, low=low, high=high, level=0.95, n=9, method="student-t")


def test_intervals_are_counted_beside_their_claims():
    """The true mean E of a is .26 at λ = .2, and refusing costs it a tenth of its accuracy."""
    for low, high, true in ((0.25, 0.3, True), (0.27, 0.3, False)):
        best = Claim("best", ("a",), ("b",), *AT, estimate=estimate(low, high))
        assert counted(best) == [("best", True), ("best: mean E", true)]
        top = Claim("top-group", ("a",), ("b",), *AT, estimate=estimate(low, high))
        assert counted(top) == [("best: mean E", true)]
    for low, true in ((-0.2, True), (-0.09, False)):
        facts = {"costs": True, "gain_low": low, "gain_high": -0.05}
        found = counted(Claim("backward-score", ("a",), metric="s", facts=facts))
        assert found == [("backward score", True), ("backward score: cost", true)]


def test_own_interval_of_the_lowest_mean():
    """The true mean E of a is .35 at λ = .5; baselines have no rank, and a single model is not chosen."""
    rows = [
        SimpleNamespace(model=m, rank=r, estimate=estimate(0.3, 0.34))
        for m, r in (("vacuous", None), ("a", 1), ("b", 2))
    ]
    assert counted(ranked=rows) == [("best: own interval", False)]
    assert counted(ranked=rows[:2]) == []


def test_directions_of_miscalibration_are_counted():
    for direction, true in (("overconfident", True), ("underconfident", False)):
        found = counted(Claim("not-calibrated", ("b",), facts={"direction": direction}))
        assert found == [("not calibrated", True), ("not calibrated: direction", true)]


def test_every_kind_of_claim_is_judged():
    """A new kind of claim needs a judge, and a new reason why something cannot be told a decision what is counted."""
    assert set(_TESTS) == set(CLAIM_KINDS)
    source = Path(uqassay.evidence.__file__).parent
    reasons = {
        reason
        for path in source.glob("*claims.py")
        for reason in re.findall(r'limited_by="([a-z]+)"', path.read_text(encoding="utf-8"))
    }
    # and "unseen" and "skewness" of the tests; with all but the first nothing is told
    assert reasons == {"refusal", "infinite", "units", "groups", "inputs", "margin"}


def test_refusal_and_bounded_losses():
    facts = {"accuracy_kept_low": 0.5, "accuracy_kept_high": 0.59}
    gain = uq.Estimate(-0.1, low=-0.2, high=0.0, level=0.95, n=9, method="student-t")
    assert counted(Claim("refusal", ("a",), metric="s", facts=facts)) == [
        ("refusal", False),
        ("refusal: accuracy kept", False),
    ]
    open_ = Claim("cannot-tell", ("a",), metric="s", estimate=gain, limited_by="refusal")
    assert counted(open_) == [("refusal: change of accuracy", True)]
    bounded = {"brier": {"top": ["a"], "rest": ["b"]}, "accuracy": {"top": ["a"], "rest": ["b"]}}
    unseen = Claim("cannot-tell", ("a",), ("b",), limited_by="unseen", facts={"bounded": bounded})
    assert counted(unseen) == [("bounded losses", False), ("bounded losses", True)]


def test_an_assay_with_a_clear_winner(tmp_path):
    cell = Cell("clear", (Kind(1, signal=3.0), Kind(1, signal=0.7)), n=2000)
    truth = truth_of(cell, tmp_path, samples=20_000)
    row = judge(cell, truth, 1)
    assert row["false"] == {}
    assert row["made"]["best"] == row["made"]["rank sets of E"] == 1
    assert (row["pairs"], row["rivals"], row["top"]) == ([1, 1], [1, 1], 1)
    assert row["former"] == {"false": 0, "told": 1, "true": 1}
    turned = Truth({**truth.models, "m0": truth.models["m1"], "m1": truth.models["m0"]})
    assert {"best", "rank sets of E", "rank sets of accuracy"} <= set(judge(cell, turned, 1)["false"])
    assert judge(cell, truth, 1) == row


def test_former_procedure_against_scipy():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=80)
    loss = {name: 0.5 + gap + 0.2 * rng.random(80) for name, gap in (("a", 0.0), ("b", 0.2), ("c", 0.1), ("d", 0.02))}
    models = {}
    for name, x in loss.items():
        p = np.exp(-x)
        models[name] = np.where(np.arange(2) == y[:, None], p[:, None], 1 - p[:, None])
    assay = uq.assay(models, y, calibration=(), measures=("total-entropy",), n_draws=20)
    truth = Truth({name: Means(gap) for name, gap in (("a", 0.0), ("b", 0.2), ("c", 0.0), ("d", 0.02))})
    p = {m: scipy.stats.ttest_rel(loss[m], loss["a"]).pvalue for m in "bcd"}
    assert max(3 * p["b"], 2 * p["c"]) < 0.05 < p["d"]  # c is told falsely, and d is missed
    assert former_procedure(assay, truth, "a") == {"false": 1, "told": 1, "true": 2}


def test_what_is_not_counted_is_known():
    assert set(KINDS) >= NOT_COUNTED


# -- Results on disc and their rates: torn lines, continued runs, exact intervals, tables ------------------------------


CELL = Cell("small", (Kind(2),), n=60)


def row(seed, *false, told=0):
    return {
        "cell": definition(CELL),
        "seed": seed,
        "made": dict.fromkeys(false, 1),
        "false": dict.fromkeys(false, 1),
        "former": {"false": int("best" in false), "told": told, "true": 2},
        "rivals": [told, 2],
        "top": 1,
        "said": [],
    }


@pytest.mark.parametrize(("count", "of"), [(0, 20), (3, 20), (20, 20)])
def test_rate_against_scipy(count, of):
    interval = scipy.stats.binomtest(count, of).proportion_ci(method="exact")
    rate = Rate(count, of)
    assert (rate.value, rate.low, rate.high) == pytest.approx((count / of, interval.low, interval.high))


def test_data_sets_of_other_code_and_other_cells_are_not_used(tmp_path, monkeypatch):
    path, code = tmp_path / "small.jsonl", present_code()
    append(path, row(0), code)
    path.write_text(path.read_text() + '{"cell": "torn')
    append(path, row(1), code)
    append(path, row(1, "best"), code)
    append(path, {**row(2), "cell": "another definition"}, code)
    append(path, row(3), "of a former source")
    rows, others = results(CELL, tmp_path)
    assert ([(r["seed"], list(r["false"])) for r in rows], others) == ([(0, []), (1, [])], 1)
    assert [r["seed"] for r in results(CELL, tmp_path, "of a former source")[0]] == [3]
    assert results(Cell("other", (Kind(2),)), tmp_path) == ([], 0)
    monkeypatch.setattr(counting, "code_version", lambda function: "of a changed source")
    assert results(CELL, tmp_path) == ([], 5)


def test_counts_of_false_sentences_and_of_what_is_told():
    rows = [row(0), row(1, "best", told=1), row(2, "rank sets of accuracy", told=2)]
    assert any_false(rows) == Rate(1, 3)  # rank sets of accuracy are looked at apart
    assert any_false(rows, ["rank sets of accuracy", "best"]) == Rate(2, 3)
    assert former_false(rows) == Rate(1, 3)
    assert share_told(rows, "rivals") == share_told(rows, "former") == 0.5


def test_a_stopped_run_goes_on_and_gives_the_same(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    command.run([CELL], whole, 3, workers=1, samples=500)
    command.run([CELL], parts, 1, workers=1, samples=500)
    path = parts / "small.jsonl"
    path.write_text(path.read_text() + '{"cell": "' + definition(CELL))
    command.run([CELL], parts, 3, workers=1, samples=500)
    rows, others = results(CELL, whole)
    assert (rows, others) == results(CELL, parts)
    assert ([r["seed"] for r in rows], others) == ([0, 1, 2], 0)
    assert command.work([CELL], whole, 3) == []
    assert command.work([CELL], whole, 25) == [
        (CELL, list(range(3, 13))),
        (CELL, list(range(13, 23))),
        (CELL, [23, 24]),
    ]
    assert next(command.report([CELL], whole)).startswith("small: 3 data sets, any false sentence ")


def test_tables_are_printed_and_kept_without_a_golden_run_of_other_code(tmp_path, capsys, monkeypatch):
    cell, kept = CELLS["equal-2-100"], {}
    for seed in range(20):
        made = {**row(seed, *["best"] * (seed == 0)), "pairs": [0, 0], "backward": [0, 0], "miscalibrated": [0, 0]}
        append(tmp_path / f"{cell.name}.jsonl", {**made, "cell": definition(cell)}, "of a former source")
    monkeypatch.setattr(command, "store", lambda name, table, source, golden: kept.update({name: golden}))
    with pytest.raises(SystemExit):
        command.main(["--table", "--folder", str(tmp_path)])
    assert "20 data sets of other code not in the tables" in capsys.readouterr().err
    command.main(["--table", "--store", "--code", "of a former source", "--folder", str(tmp_path)])
    assert "| 20 | 5.0 (0.1-24.9) | best: 5.0 |" in capsys.readouterr().out
    assert all(golden == {} for golden in kept.values())  # not those of the present code
    places = {match[1] for page in (ROOT / "docs").glob("*.md") for match in PLACE.finditer(page.read_text())}
    assert set(kept) - {"verdict-claims-cells"} <= places  # which stands in the archive
    with pytest.raises(SystemExit):
        command.main(["--code", "of a former source", "--folder", str(tmp_path)])


def test_cells_that_are_not_held_have_a_table_of_their_own(tmp_path):
    for name in (NOT_HELD[0], "equal-2-100"):
        for seed in range(20):
            made = {**row(seed, *["best"] * (seed < 9)), "pairs": [0, 0], "backward": [0, 0], "miscalibrated": [0, 0]}
            append(tmp_path / f"{name}.jsonl", {**made, "cell": definition(CELLS[name])}, present_code())
    found = tables(tmp_path)
    assert found["verdict-claims-kinds"].rows[0][2:4] == ("1", "45.0")
    rates = {says: rate for says, _, rate, _ in found["verdict-claims-chosen"].rows}
    assert rates['"A is the best of the models"'].startswith("45.0; worst cell 45.0 (")
    assert rates['"is not calibrated"'] == "not measured"
    assert rates['"in 97 % of resamples"'] == "no test"
    (lost,) = found["verdict-claims-not-held"].rows
    assert f"(`{NOT_HELD[0]}`)" in lost[0]
    assert lost[-1] == "best: 45.0"
