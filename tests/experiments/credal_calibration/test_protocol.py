"""Error rates of the credal calibration test: kept, continued and shared out without a difference; and Table 1."""

import json
import re

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.cli import main
from uqassay.errors import InputError
from uqassay.experiments import reproduce
from uqassay.experiments.credal_calibration import runs
from uqassay.experiments.credal_calibration.ensembles import read_ensembles
from uqassay.experiments.credal_calibration.protocol import FIGURES, progress_steps
from uqassay.experiments.credal_calibration.runs import ALPHAS, MEASURES, ErrorRates, Plan, error_rates, judge_data_set
from uqassay.experiments.credal_calibration.scenarios import SCENARIOS, CredalSetting
from uqassay.experiments.credal_calibration.table1 import reproduce_table1
from uqassay.experiments.credal_calibration.tables import PRINTED_ALGORITHM, SHOWN, error_cells, read_rates, reference

SMALL = Plan(CredalSetting(n_instances=20, n_members=3, n_classes=3, spread=0.1), n_draws=19)


def same(one: ErrorRates, other: ErrorRates) -> bool:
    """Whether all p-values, decisions and counts are equal."""
    equal = [np.array_equal(one.pvalues[key], other.pvalues[key]) for key in one.pvalues]
    equal += [np.array_equal(one.rejected[key], other.rejected[key]) for key in one.rejected]
    return all(equal) and (one.above_truth, one.outside) == (other.above_truth, other.outside)


@pytest.fixture(scope="module")
def three() -> ErrorRates:
    """Three data sets in one go."""
    return error_rates(SMALL, 3)


def invented(n_runs: int, plan: Plan) -> ErrorRates:
    """Results that need no computing: p-values uniform in S1, small in S2, great in S3."""
    rng = np.random.default_rng(4)
    pvalues = {}
    for measure in MEASURES:
        p = rng.random(n_runs)
        pvalues |= {("S1", measure): p, ("S2", measure): p / 100, ("S3", measure): 1 - p / 200}
    rejected = {key: p[:, None] <= np.array(ALPHAS) for key, p in pvalues.items()}
    return ErrorRates(plan, pvalues, rejected, dict.fromkeys(MEASURES, 0), 0.9)


# ---- data sets -------------------------------------------------------------------------------------------------------


def test_what_a_data_set_gives(three):
    record = json.loads(json.dumps(judge_data_set(SMALL, 1), allow_nan=False))
    assert record["run"] == 1
    assert 0 <= record["outside"] <= 20
    for scenario in SCENARIOS:
        for measure in MEASURES:
            entry = record[scenario][measure]
            assert entry["pvalue"] == three.pvalues[scenario, measure][1]
            assert 1 / 20 <= entry["pvalue"] <= 1
            assert entry["rejected"] == [int(entry["pvalue"] <= alpha) for alpha in ALPHAS]
    assert three.above_truth == dict.fromkeys(MEASURES, 0)
    assert three.n_runs == 3
    errors = three.errors("S1", "skce-ul"), three.errors("S2", "skce-ul")
    np.testing.assert_array_equal(errors[0], three.rejected["S1", "skce-ul"])
    np.testing.assert_array_equal(errors[1], ~three.rejected["S2", "skce-ul"])


def test_a_run_broken_off_continues_to_the_same_results(three, tmp_path, monkeypatch):
    done: list[int] = []

    def judge(plan: Plan, run: int) -> dict:
        if len(done) == 2:
            raise KeyboardInterrupt("stop")
        done.append(run)
        return judge_data_set(plan, run)

    monkeypatch.setattr(runs, "judge_data_set", judge)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        error_rates(SMALL, 3, resume=tmp_path)
    (folder,) = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["run-000000.json", "run-000001.json", "settings.json"]
    done.clear()
    said: list[str] = []
    continued = error_rates(SMALL, 3, resume=tmp_path, progress=said.append)
    assert done == [2]
    assert said == ["data set 1 of 3: kept", "data set 2 of 3: kept", "data set 3 of 3"]
    assert same(continued, three)
    done.clear()
    assert same(error_rates(SMALL, 3, resume=tmp_path), three)
    assert done == []


def test_damaged_files_and_other_settings_count_as_missing(three, tmp_path):
    error_rates(SMALL, 2, resume=tmp_path)
    (folder,) = tmp_path.iterdir()
    (folder / "run-000000.json").write_text('{"run": 0, "outs')
    (folder / "run-000001.json").write_text('{"run": 1, "outside": 3, "S1": {}}')
    assert same(error_rates(SMALL, 3, resume=tmp_path), three)
    other = Plan(SMALL.setting, n_draws=19, seed=1)
    assert other.digest != SMALL.digest
    assert not same(error_rates(other, 2, resume=tmp_path), error_rates(SMALL, 2, resume=tmp_path))
    assert len(list(tmp_path.iterdir())) == 2
    assert json.loads((folder / "settings.json").read_text())["setting"]["n_members"] == 3


def test_the_order_of_the_data_sets_does_not_matter(three, monkeypatch):
    def backwards(plan, runs, workers):
        return (judge_data_set(plan, run) for run in reversed(runs))

    monkeypatch.setattr(runs, "_judged", backwards)
    assert same(error_rates(SMALL, 3), three)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(three):
    assert same(error_rates(SMALL, 3, workers=2), three)


def test_the_authors_code_and_the_minimised_null_run():
    small = CredalSetting(n_instances=10, n_members=2, n_classes=3, spread=0.1)
    code = error_rates(Plan(small, convention="paper-code", resample=False, n_draws=19), 1)
    assert code.above_truth == {}
    ours = error_rates(Plan(small, null="minimised", resample=False, n_draws=19), 1)
    for rates in (code, ours):
        assert all(0 <= p[0] <= 1 for p in rates.pvalues.values())
    assert "authors' code" in read_rates("1", [code])[0]


def test_numbers_that_make_no_sense_are_refused(tmp_path):
    with refuses("runs", "range", got="got 0"):
        error_rates(SMALL, 0)
    with refuses("workers", "range", got=r"got 1\.5"):
        error_rates(SMALL, 1, workers=1.5)
    (tmp_path / "file").write_text("")
    with refuses("resume", "unwritable"):
        error_rates(SMALL, 1, resume=tmp_path / "file")


# ---- cells and words -------------------------------------------------------------------------------------------------


def test_cells_have_rates_and_intervals():
    rates = invented(400, Plan(FIGURES["1"]))
    cells = {cell.name: cell for cell in error_cells("1", rates)}
    assert len(cells) == len(SCENARIOS) * len(MEASURES) * len(ALPHAS)
    for alpha in (0.05, 0.5):
        cell = cells[f"figure1/exact/S1/ece-confidence/alpha={alpha:g}"]
        assert cell.ours == (rates.pvalues["S1", "ece-confidence"] <= alpha).mean()
        assert cell.low < cell.ours < cell.high
        assert (cell.agrees, np.isnan(cell.paper)) == (None, True)
    assert cells["figure1/exact/S2/skce-ul/alpha=0.05"].ours == 0.0
    assert cells["figure1/exact/S3/skce-ul/alpha=0.05"].ours == 1.0
    assert cells["figure1/exact/S2/skce-ul/alpha=0.05"].note == "reference 0.99, outside our interval"
    assert cells["figure1/exact/S1/skce-ul/alpha=0.25"].note == ""


def test_references_belong_to_their_settings():
    plan = Plan(FIGURES["1"])
    assert reference(invented(2, plan), "S2", "ece-confidence", 0.05) == 0.30
    for other in (
        Plan(FIGURES["2"]),
        Plan(FIGURES["1"], null="minimised", resample=False),
        Plan(FIGURES["1"], resample=False),
    ):
        assert np.isnan(reference(invented(2, other), "S2", "ece-confidence", 0.05))
    code = invented(2, Plan(FIGURES["1"], convention="paper-code", resample=False))
    assert [reference(code, "S1", "skce-ul", alpha) for alpha in SHOWN] == [0.128, 0.205, 0.412, 0.978]
    assert np.isnan(reference(code, "S1", "ece-confidence", 0.05))
    assert set(PRINTED_ALGORITHM) == {(s, m) for s in SCENARIOS for m in MEASURES}


def test_the_reading_says_what_exceeds_the_level():
    rates = invented(300, Plan(FIGURES["2"]))
    assert "In S1 no measure exceeds α by more than chance" in "\n".join(read_rates("2", [rates]))
    rates.rejected["S1", "skce-ul"][:, ALPHAS.index(0.05)] = np.arange(300) % 5 == 0
    text = "\n".join(read_rates("2", [rates]))
    assert "exceed α by more than chance: skce-ul (most clearly at α = 0.05: .200" in text
    assert "K = 10, u = 0.1; D = 100, random null, instances resampled." in text
    assert "no evidence" in read_rates("2", [invented(4, Plan(FIGURES["2"]))])[0]
    rates.pvalues["S2", "skce-ul"][:7] = np.nan
    assert "Tests without a p-value, which reject nothing: 7." in "\n".join(read_rates("2", [rates]))


def test_figures_are_written(tmp_path, needs):
    needs("matplotlib")
    from uqassay.experiments.credal_calibration.figures import write_error_figure

    code = invented(50, Plan(FIGURES["1"], convention="paper-code", resample=False))
    path = write_error_figure(tmp_path, "1", [invented(50, Plan(FIGURES["1"])), code])
    assert path.name == "credal_calibration_figure1.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_command_gives_the_rows_of_the_function(tmp_path, capsys, needs):
    needs("typer")
    words = ["--preset", "smoke", "--runs", "1", "--no-resample", "--seed", "3", "--resume", str(tmp_path), "--json"]
    assert main(["reproduce", "credal-calibration", *words]) == 0
    rows = json.loads(capsys.readouterr().out)
    again = reproduce("credal-calibration", preset="smoke", runs=1, resample=False, seed=3, resume=tmp_path)
    assert rows == again.to_json()
    assert rows[0]["name"] == "figure1/exact/S1/skce-ul/alpha=0.01"
    assert "the paper draws curves" in again.summary()
    assert [progress_steps(preset=p) for p in ("smoke", "cpu", "paper")] == [4, 200, 1000]
    assert progress_steps(preset="paper", convention="both", runs=7) == 14


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"figure": "5"}, "figure: must be 1, 2, 3, 4 or table1; got '5'"),
        ({"preset": "big"}, "preset: must be smoke, cpu or paper; got 'big'"),
        ({"convention": "paper"}, "convention: must be exact, paper-code or both; got 'paper'"),
        ({"null": "berger-boos"}, "null: must be random or minimised; got 'berger-boos'"),
        ({"seed": -1}, "seed: must be a whole number of at least 0; got -1"),
        (
            {"null": "minimised", "resample": True},
            "resample: the minimised null never draws instances with replacement",
        ),
        ({"convention": "paper-code", "resample": True}, "resample: the authors' code never draws"),
        ({"null": "minimised", "convention": "both"}, "null: the authors' code has the random one only"),
        ({"data": "x"}, "data: means nothing to figure 1, which is synthetic"),
        ({"figure": "table1", "runs": 3}, "runs: means nothing to table1, which draws no data sets"),
        (
            {"figure": "table1", "data": "x", "resume": "y"},
            "resume: means nothing to table1 with data, where nothing is",
        ),
        ({"figure": "table1", "data": "nowhere"}, "data: nowhere is no folder"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(options, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        reproduce("credal-calibration", **options)


# ---- Table 1 ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ensembles(tmp_path):
    """A folder with an ensemble of three, a single classifier, five answers to two questions, and a file without labels."""
    rng = np.random.default_rng(8)
    truth = rng.dirichlet([1.0, 1.0, 1.0], 200)
    labels = (truth.cumsum(axis=1)[:, :-1] <= rng.random((200, 1))).sum(axis=1)
    sharp = truth**3 / (truth**3).sum(axis=1, keepdims=True)
    members = np.stack([truth, sharp, np.full((200, 3), 1 / 3)], axis=1)
    (tmp_path / "inner").mkdir()
    np.savez(tmp_path / "three.npz", probs=members, labels=labels, members=np.array(["true", "sharp", "flat"]))
    np.savez(tmp_path / "inner" / "single.npz", probs=sharp)
    np.save(tmp_path / "labels.npy", labels)
    yes = rng.random((60, 2))
    np.savez(
        tmp_path / "inner" / "questions.npz",
        probs=np.stack([yes] * 5),
        gold=(rng.random((60, 2)) < yes).astype(np.int8),
    )
    np.savez(tmp_path / "sets.npz", lower=np.zeros((200, 3)), upper=np.ones((200, 3)))
    return tmp_path


def test_every_ensemble_of_a_folder_is_read(ensembles):
    found, left_out = read_ensembles(ensembles)
    assert [(e.name, e.members.shape) for e in found] == [
        ("inner/questions, question 1", (60, 5, 2)),
        ("inner/questions, question 2", (60, 5, 2)),
        ("inner/single", (200, 1, 3)),
        ("three", (200, 3, 3)),
    ]
    assert found[3].member_names == ("true", "sharp", "flat")
    assert left_out == ["sets: Intervals is left out, because Table 1 is about ensembles"]


def test_table_1_tells_the_true_member_from_the_sharp_one(ensembles):
    (ensembles / "inner" / "questions.npz").unlink()
    result = reproduce_table1(ensembles, n_draws=39)
    ours = {cell.name: cell.ours for cell in result.rows}
    assert ours["table1/three/sharp/exact/p_conf_minimised"] == 1 / 40
    assert ours["table1/three/true/exact/p_conf_minimised"] > 0.05
    assert ours["table1/three/all members/exact/p_classwise_minimised"] > 0.05
    assert ours["table1/inner/single/classifier/exact/p_classwise_random"] == 1 / 40
    held_out = np.sort(np.random.default_rng([0, 0]).permutation(200)[100:])
    (single, three), _ = read_ensembles(ensembles)
    accuracy = (three.members[held_out].mean(axis=1).argmax(axis=1) == three.labels[held_out]).mean()
    assert ours["table1/three/all members/exact/avg_accuracy"] == accuracy
    assert ours["table1/three/true/exact/avg_ece_conf"] == ours["table1/three/true/exact/weighted_conf_ece_conf"]
    assert single.member_names == ("classifier",)
    text = result.summary()
    assert "three: all members" in text
    (printed,) = (line.split() for line in text.splitlines() if "CIFAR-10, VGG, DE" in line)
    assert printed[3:] == ["0.8754", "0.0044", "0.0042", "keep", "0.8756", "0.0052", "keep", "0.8766", "0.0044"]
    assert all(cell.agrees is None for cell in result.rows)


def test_members_of_large_ensembles_are_counted(ensembles):
    (ensembles / "three.npz").unlink()
    (ensembles / "inner" / "single.npz").unlink()
    text = reproduce_table1(ensembles, ("exact", "paper-code"), n_draws=19).summary()
    assert "inner/questions, question 1: 5 members alone" in text
    assert " of 5" in text
    assert "question 2: all members, authors' code" in text


def test_what_cannot_be_read_is_one_sentence(tmp_path):
    with refuses("data", "missing"):
        read_ensembles(None)
    with refuses("data", "missing"):
        read_ensembles(tmp_path)
    np.savez(tmp_path / "a.npz", probs=np.full((4, 2, 2), 0.5))
    with refuses("data", "undefined"):
        read_ensembles(tmp_path)
    np.save(tmp_path / "labels.npy", np.array([0, 1, 2, 0]))
    with pytest.raises(InputError, match="labels of a"):
        read_ensembles(tmp_path)
    np.savez(tmp_path / "a.npz", probs=np.full((4, 2, 2), 0.5), gold=np.zeros((4, 2)))
    with refuses("data", "shape"):
        read_ensembles(tmp_path)


def test_the_electrocardiograms_are_six_questions(shared):
    found, left_out = read_ensembles(shared / "data" / "ecg")
    assert [e.members.shape for e in found] == [(827, 10, 2)] * 6
    assert left_out == []
    accuracy = np.mean([(e.members.mean(axis=1).argmax(axis=1) == e.labels).mean() for e in found])
    assert accuracy == pytest.approx(0.988, abs=0.002)
    assert progress_steps(figure="table1", data=shared / "data" / "ecg") == 1
