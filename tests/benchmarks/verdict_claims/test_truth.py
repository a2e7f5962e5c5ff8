"""True means against integration, levels, and which claims of ranges of λ they make true."""

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from benchmarks.verdict_claims.truth import Means, Truth, definition, given_single_runs, truth_of
from benchmarks.verdict_claims.worlds import Cell, Kind, data_set

import uqassay as uq

A, SAMPLES = 1.3, 40_000
LN3 = float(np.log(3))
BASELINES = {"vacuous": Means(0.0, LN3), "class-prior": Means(LN3, 0.0)}


def expected(value):
    law = scipy.stats.norm(A**2, np.sqrt(2) * A)
    return scipy.integrate.quad(lambda x: value(x) * law.pdf(x), A**2 - 12 * A, A**2 + 12 * A)[0]


def test_means_of_two_classes_against_integration(tmp_path):
    cell = Cell("pair", (Kind(3, signal=A),), classes=2)
    truth = truth_of(cell, tmp_path, samples=SAMPLES)
    assert set(truth.models) == {"m0", "m1", "m2", "vacuous", "class-prior"}
    found = truth.models["m1"]
    assert found == truth.models["m0"]
    assert found.log_loss == pytest.approx(expected(lambda x: np.log1p(np.exp(-x))), abs=0.02)
    assert found.distance == pytest.approx(found.log_loss, abs=1e-9)
    assert found.nonspecificity == 0
    assert found.brier == pytest.approx(expected(lambda x: 2 / (1 + np.exp(x)) ** 2), abs=0.01)
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
