"""The synthetic ranking experiment: exact truths, the whole grid, and what the paper claims of it."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.datasets.two_gaussians import TwoGaussians
from uqassay.errors import InputError
from uqassay.experiments import Reproduction, reproduce
from uqassay.experiments.ranking import synthetic
from uqassay.experiments.ranking.grid import METHODS, SCORES_OF, grid, train
from uqassay.experiments.ranking.reading import PAIRS, TEMPERATURES, at_temperatures
from uqassay.experiments.ranking.scorings import METRICS, TRUTHS, Scoring, columns, judge, study
from uqassay.experiments.ranking.synthetic import GridRun, progress_steps, reproduce_ranking_synthetic, run_grid
from uqassay.measures.scores import uncertainty_score
from uqassay.predictions import Members, Point


@pytest.fixture(scope="module")
def smoke() -> Reproduction:
    return reproduce_ranking_synthetic(preset="smoke")


@pytest.fixture(scope="module")
def small() -> GridRun:
    return run_grid("smoke", TwoGaussians(0.15))


# ---- the data --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [0.02, 0.15, 0.4])
def test_label_probabilities_against_bayes_rule(error):
    from scipy.stats import multivariate_normal

    data = TwoGaussians(error)
    x = np.random.default_rng(0).normal(size=(50, 2)) * 2
    density = np.stack([multivariate_normal(mean).pdf(x) for mean in data.means], axis=1)
    np.testing.assert_allclose(data.label_probs(x), density / density.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(data.means[1] - data.means[0]), data.separation, rtol=1e-12)


@pytest.mark.parametrize("error", [0.05, 0.15, 0.25])
def test_bayes_error_against_a_large_sample(error):
    sample = TwoGaussians(error).sample(200_000, np.random.default_rng(1))
    best = sample.label_probs.argmax(axis=1)
    expected = sample.label_probs.min(axis=1)
    assert abs(expected.mean() - error) < 5 * expected.std() / 200_000**0.5
    assert abs((best != sample.y).mean() - error) < 5 * (error / 200_000) ** 0.5


def test_samples_are_stratified_and_shuffled():
    sample = TwoGaussians().sample(401, np.random.default_rng(2))
    assert np.bincount(sample.y).tolist() == [200, 201]
    assert 0 < np.abs(np.diff(sample.y)).sum() < 400
    assert sample.x.shape == (401, 2)


@pytest.mark.parametrize("error", [0.0, 0.5, -1.0, float("nan")])
def test_an_impossible_bayes_error_is_refused(error):
    with refuses("bayes_error", "range", got=r"must lie strictly between 0 and 0\.5"):
        TwoGaussians(error)


# ---- the grid --------------------------------------------------------------------------------------------------------


def test_the_grid_has_the_scorings_of_the_paper():
    predictors = grid("paper")
    assert predictors == grid("cpu")
    counts = {m: sum(len(SCORES_OF[m]) for p in predictors if p.method == m) for m in METHODS}
    assert counts == {"softmax": 54, "deep ensemble": 180, "MC dropout": 810}
    assert len({p.name for p in predictors}) == len(predictors) == 216
    assert set(grid("smoke")) < set(predictors)
    streams = {tuple(p.stream(0, purpose)) for p in predictors for purpose in range(3)}
    assert len(streams) == 3 * 216


def test_training_is_fixed_by_the_seed_and_the_settings_alone():
    data = TwoGaussians(0.15)
    predictor = next(p for p in grid("smoke") if p.method == "MC dropout")
    first, again, other = train(predictor, data, 3), train(predictor, data, 3), train(predictor, data, 4)
    np.testing.assert_array_equal(first.prediction.probs, again.prediction.probs)
    assert not np.array_equal(first.test.x, other.test.x)


def test_one_sample_is_shared_and_own_samples_are_not():
    data = TwoGaussians(0.15)
    a, b = grid("smoke")[:2]
    np.testing.assert_array_equal(train(a, data, 0, one_sample=True).test.x, train(b, data, 0, one_sample=True).test.x)
    assert not np.array_equal(train(a, data, 0).test.x, train(b, data, 0).test.x)


@pytest.mark.parametrize("method", METHODS)
def test_predictions_are_of_the_right_kind(method):
    predictor = next(p for p in grid("smoke") if p.method == method)
    trained = train(predictor, TwoGaussians(0.15), 0)
    assert isinstance(trained.prediction, Point if method == "softmax" else Members)
    assert trained.prediction.n_instances == 400
    if method != "softmax":
        assert trained.prediction.n_members == predictor.size
        assert np.ptp(trained.prediction.probs, axis=1).max() > 0.01  # they differ
    accuracy = (trained.prediction.labels() == trained.test.y).mean()
    assert 0.78 < accuracy < 0.92  # the Bayes classifier has 0.85


# ---- a scoring -------------------------------------------------------------------------------------------------------


def test_a_scoring_against_brute_force(needs):
    needs("sklearn")
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    predictor = next(p for p in grid("smoke") if p.method == "deep ensemble")
    trained = train(predictor, TwoGaussians(0.15), 1)
    f, q, y = trained.prediction.mean_probs(), trained.test.label_probs, trained.test.y
    rows = np.arange(400)
    predicted, best = f.argmax(axis=1), q.argmax(axis=1)
    gap = 1 - f[rows, y]
    for scoring in trained.scorings():
        s = uncertainty_score(trained.prediction, scoring.score)
        above, further = np.sign(s[:, None] - s), gap[:, None] > gap
        c_index = (above[further] * 0.5 + 0.5).mean()
        found = (*scoring.metrics, *scoring.taus)
        expected = (
            roc_auc_score(predicted != y, s),
            c_index,
            kendalltau(1 - q[rows, predicted], s).statistic,
            kendalltau(1 - f[rows, best], s).statistic,
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_correlations_against_numpy(small):
    metrics, taus = columns([s for s in small.scorings if s.defined])
    found = study(small.scorings, "fisher")
    for metric, truth in PAIRS:
        expected = np.corrcoef(metrics[:, METRICS.index(metric)], taus[:, TRUTHS.index(truth)])[0, 1]
        np.testing.assert_allclose(found[metric, truth], expected, rtol=1e-9)


def test_undefined_scorings_are_left_out(small):
    sure = Point([[0.9, 0.1]] * 5)
    (constant,) = judge(sure, [0] * 5, [[0.8, 0.2]] * 5, ("total-entropy",), model="m", method="softmax")
    assert not constant.defined
    with_it = study([*small.scorings, constant], "fisher")
    assert float(with_it[PAIRS[0]]) == float(study(small.scorings, "fisher")[PAIRS[0]])
    with refuses("scorings", "range", got="got 0"):
        study([constant], "fisher")


# ---- what the paper claims -------------------------------------------------------------------------------------------


def test_the_correlation_comes_from_pooling(small):
    found = study(small.scorings, "fisher")
    entropies = study([s for s in small.scorings if s.score == "total-entropy"], "fisher")
    for pair in PAIRS:
        assert float(found[pair]) > 0.9
        assert float(entropies[pair]) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("error", "one_sample"), [(0.1, False), (0.15, True)])
def test_the_whole_grid_against_the_paper_claim(error, one_sample):
    run = run_grid("cpu", TwoGaussians(error), one_sample=one_sample)
    assert len(run.scorings) == 1044
    assert all(isinstance(s, Scoring) and s.defined for s in run.scorings)
    found = study(run.scorings, "fisher")
    for pair in PAIRS:
        assert float(found[pair]) > 0.9
    assert float(found["UQ-C-index", "misalignment"]) > 0.98
    entropies = study([s for s in run.scorings if s.score == "total-entropy"], "fisher")
    assert float(entropies["UQ-AUC", "misclassification"]) < 0.8


def test_temperature_moves_calibration_and_no_ranking():
    trained = train(grid("smoke")[0], TwoGaussians(0.15), 0)
    ece, auc, c_index = np.array(at_temperatures(trained)).T
    assert len(ece) == len(TEMPERATURES)
    assert np.ptp(ece) > 0.1
    assert np.ptp(auc) < 1e-12
    assert np.ptp(c_index) < 1e-12


# ---- the protocol ----------------------------------------------------------------------------------------------------


def test_cells_and_their_rule(smoke):
    names = [cell.name for cell in smoke.rows]
    assert names == [
        *(f"table1/Synth/{metric}/{truth}" for metric, truth in PAIRS),
        "section8/ECE/misclassification",
        "section8/ECE/misalignment",
    ]
    assert [cell.paper for cell in smoke.rows] == [94.56, 93.44, 98.81, 99.62, 0.09, -10.57]
    for cell in smoke.rows:
        assert cell.low < cell.ours < cell.high
        assert cell.agrees == (cell.low <= cell.paper <= cell.high)
        assert bool(cell.note) == (cell.agrees is False)


def test_the_rows_leave_out_whole_predictors(smoke, small):
    by_model, alone = study(small.scorings, "jackknife", by_model=True), study(small.scorings, "fisher")
    for cell, pair in zip(smoke.rows[:4], PAIRS, strict=True):
        np.testing.assert_allclose(
            [cell.low, cell.high], [100 * by_model[pair].low - 0.005, 100 * by_model[pair].high + 0.005]
        )
        np.testing.assert_allclose(cell.ours, 100 * float(alone[pair]))


def test_what_was_lost_and_what_is_read_are_said(smoke):
    text = smoke.summary()
    for words in (
        "the means, the standard deviation and the class prior are lost",
        "jackknife over predictors",
        "bootstrap over predictors",
        "Fisher's z",
        "have a negative τ with φ",
        "total-entropy",
        "a smoke run is a check that the code runs, and no evidence",
        "stay as they are.",
    ):
        assert words in text, words
    assert text.index("table1/Synth") < text.index("are lost") < text.index("jackknife over predictors  ")


def test_a_rerun_agrees(smoke):
    again = reproduce("ranking-synthetic", preset="smoke", seed=0)
    assert again == smoke


@pytest.mark.slow
def test_figures_are_whole_pictures_and_progress_is_counted_right(tmp_path, needs):
    needs("matplotlib")
    from matplotlib.image import imread

    said: list[str] = []
    options = {"preset": "smoke", "figures": tmp_path / "new" / "figures"}
    result = reproduce_ranking_synthetic(**options, progress=said.append)
    assert len(said) == progress_steps(**options) == 25
    assert said[0] == "Bayes error 0.15: predictor 1 of 20"
    paths = sorted(options["figures"].iterdir())
    assert [path.name[:7] for path in paths] == [f"figure{i}" for i in range(1, 6)]
    assert all(path.suffix == ".png" for path in paths)
    for path in paths:
        picture = imread(path)
        assert picture.shape[0] > 600
        assert np.ptp(picture[..., :3]) > 0.9
        assert f"figure: {path}" in result.reading


def test_progress_steps_count_every_predictor():
    assert progress_steps(preset="cpu") == 3 * 216
    assert progress_steps(preset="cpu", bayes_error=0.1) == 2 * 216
    assert progress_steps(preset="cpu", sweep=True) == 33 * 216


def test_a_run_that_is_stopped_leaves_no_folder(tmp_path, monkeypatch, needs):
    needs("matplotlib")

    def stopped(*_, **__):
        raise KeyboardInterrupt("stopped by hand")

    monkeypatch.setattr(synthetic, "run_grid", stopped)
    with pytest.raises(KeyboardInterrupt, match="stopped by hand"):
        reproduce_ranking_synthetic(preset="smoke", figures=tmp_path / "new" / "figures")
    assert list(tmp_path.iterdir()) == []


def test_a_figure_that_fails_leaves_nothing_behind(tmp_path, needs):
    needs("matplotlib")
    from uqassay.experiments.figure_files import write_figure

    def draw(figure):
        figure.subplots().set_title("$unfinished")
        raise RuntimeError("no more")

    (tmp_path / "a.png").write_bytes(b"older")
    with pytest.raises(RuntimeError, match="no more"):
        write_figure(tmp_path, "a", (2.0, 2.0), draw)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"older"


@pytest.mark.slow
def test_the_sweep_shows_both_ways_to_sample(monkeypatch):
    monkeypatch.setattr(synthetic, "SWEEP_SEEDS", 2)
    monkeypatch.setattr(synthetic, "SWEEP_ERRORS", (0.1, 0.2))
    lines = reproduce_ranking_synthetic(preset="smoke", sweep=True).reading
    start = next(i for i, line in enumerate(lines) if line.startswith("Sweep"))
    assert [line.split()[:3] for line in lines[start + 2 : start + 6]] == [
        ["0.1", "each", "its"],
        ["0.2", "each", "its"],
        ["0.1", "one", "for"],
        ["0.2", "one", "for"],
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "gpu"}, "preset: must be smoke, cpu, paper; got 'gpu'"),
        ({"seed": -1}, "seed: must be a whole number of at least 0; got -1"),
        ({"seed": 1.5}, "seed: must be a whole number"),
        ({"bayes_error": 0.7}, r"bayes_error: must lie strictly between 0 and 0\.5; got 0\.7"),
        ({"figures": __file__}, r"figures: .* cannot be a folder \(.* is a file\)"),
        ({"figures": f"{__file__}/below/it"}, r"figures: .*it cannot be a folder \(.*synthetic\.py is a file\)"),
    ],
)
def test_bad_options_are_refused_before_anything_is_trained(options, message, monkeypatch, needs):
    needs("matplotlib")
    monkeypatch.setattr(synthetic, "run_grid", lambda *a, **k: pytest.fail("trained"))
    with pytest.raises(InputError, match=message):
        reproduce_ranking_synthetic(**options)
