"""Table 1 on given ensembles: verdicts on made members whose calibration is known."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.calibration import credal_calibration_test
from uqassay.lab.datasets.generated import two_gaussians
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration import training
from uqassay.lab.papers.credal_calibration.run import steps_of_credal_calibration
from uqassay.lab.papers.credal_calibration.tables import (
    LabelledEnsemble,
    holds_training_data,
    judge_together,
    read_ensembles,
    reproduce_table1,
)


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


def test_resampling_changes_the_random_null_alone(ensembles):
    plain, resampled = (
        {cell.name.rpartition("exact/")[2]: cell.ours for cell in reproduce_table1(ensembles, n_draws=39, resample=r).rows
         if cell.name.startswith("table1/three/sharp/")}
        for r in (False, True)
    )  # fmt: skip
    different = {name for name in plain if plain[name] != resampled[name]}
    assert different <= {"p_conf_random", "p_classwise_random"}
    text = reproduce("credal-calibration", figure="table1", data=ensembles, preset="smoke", resample=True).summary()
    assert "instances are drawn with replacement under the random null, as line 2 of Algorithm 1 is printed" in text
    direct = credal_calibration_test(
        *half_of(ensembles, "three"), measure="ece-classwise", n_draws=20, resample=True, null="random",
        rng=np.random.default_rng([0, 1, 3, 1, 0]),
    )  # fmt: skip
    found = {cell.name: cell.ours for cell in reproduce_table1(ensembles, n_draws=20, resample=True).rows}
    assert found["table1/three/all members/exact/p_classwise_random"] == direct.pvalue


def half_of(folder, name):
    """Labels and members of the half that is tested."""
    (ensemble,) = (one for one in read_ensembles(folder)[0] if one.name == name)
    tested = np.sort(np.random.default_rng([0, 0]).permutation(200)[:100])
    return ensemble.labels[tested], ensemble.members[tested]


def test_the_truth_is_kept_and_a_network_that_learnt_its_few_instances_by_heart_is_rejected():
    from uqassay.lab.methods import build_method

    data = two_gaussians()
    network = build_method("snn", epochs=400, random_state=0, progress=False).fit(data.X_train[:60], data.y_train[:60])
    learnt = network.predict_uncertainty(data.X_test).probs
    rows = {
        name: judge_together(
            LabelledEnsemble("two", probs[:, None], data.y_test, ("one",)), name, "exact", n_draws=39, seed=0, place=0
        )
        for name, probs in {"truth": data.votes_test, "learnt": learnt}.items()
    }
    for weighted in rows["truth"].weighted.values():
        assert min(weighted.pvalues.values()) > 0.05
    for weighted in rows["learnt"].weighted.values():
        assert max(weighted.pvalues.values()) == 1 / 40


# -- What `data` holds decides what Table 1 is made of.


TABLE = {"figure": "table1", "preset": "smoke"}


@pytest.fixture
def parts(tmp_path):
    """A folder with train.npz and test.npz."""
    for part in ("train", "test"):
        np.savez(tmp_path / f"{part}.npz", X=np.zeros((4, 3, 8, 8), dtype=np.uint8), y=np.arange(4) % 2)
    return tmp_path


def test_predictions_are_no_instances(ensembles, tmp_path_factory):
    assert not holds_training_data(ensembles)
    empty = tmp_path_factory.mktemp("empty")
    assert not holds_training_data(empty)
    assert not holds_training_data(empty / "nowhere")


def test_instances_are_recognised(parts):
    assert holds_training_data(parts)
    assert holds_training_data(parts / "train.npz")


def test_both_in_a_folder_are_refused(parts):
    np.savez(parts / "de.npz", probs=np.full((4, 2, 2), 0.5))
    with refuses("data", "conflict", got=r"instances in test.npz and train.npz and none in de.npz"):
        reproduce("credal-calibration", **TABLE, data=parts)


def test_half_of_the_files_is_refused(parts):
    (parts / "test.npz").unlink()
    with refuses("data", "missing", got="got train.npz alone"):
        reproduce("credal-calibration", **TABLE, data=parts)


def test_instances_need_the_name_of_the_data_set_that_they_replace(parts):
    with refuses("data", "conflict", got="name the data set that it replaces"):
        reproduce("credal-calibration", **TABLE, data=parts)


@pytest.mark.parametrize(
    "given",
    [
        {"epochs": 3},
        {"dataset": "cifar-10"},
        {"data_name": "mine"},
        {"resume": "x"},
        {"end_to_end": False},
        {"runs": 2},
    ],
)
def test_options_of_a_training_are_refused_with_saved_ensembles(given, ensembles):
    (name,) = given
    with refuses(name, "conflict", got="saved ensembles, since nothing is trained"):
        reproduce("credal-calibration", **TABLE, data=ensembles, **given)


@pytest.mark.parametrize("given", [{"epochs": 3}, {"dataset": "cifar-10"}, {"data_name": "mine"}])
def test_options_of_the_table_are_refused_with_a_figure(given):
    (name,) = given
    with refuses(name, "conflict", got="figure 2, which is synthetic"):
        reproduce("credal-calibration", figure="2", **given)


def test_gpu_hour_is_for_the_table():
    with refuses("preset", "conflict", got="gpu-hour is for table1 alone"):
        reproduce("credal-calibration", preset="gpu-hour")


def test_options_reach_the_training(parts, monkeypatch):
    seen = {}

    def record(preset, conventions, **options):
        seen.update(options, preset=preset)
        return "result"

    monkeypatch.setattr(training, "reproduce_trained_table1", record)
    given = {"data": parts, "data_name": "a copy", "dataset": ["cifar-10"], "epochs": 1, "batch_size": 4}
    assert reproduce("credal-calibration", figure="table1", preset="gpu-hour", seed=5, **given) == "result"
    assert seen["options"].given() == given
    assert (seen["preset"], seen["seed"], seen["workers"]) == ("gpu-hour", 5, 1)


def test_steps(ensembles):
    assert steps_of_credal_calibration(figure="table1", preset="cpu") == 3 + 5 * 24
    assert steps_of_credal_calibration(figure="table1", preset="gpu-hour", dataset="cifar-10") == 2 + 8 + 9
    assert steps_of_credal_calibration(figure="table1", data=ensembles, convention="both") == 2 * 4


# -- Ensembles read from folders of prediction files.


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


def test_what_cannot_be_read_is_one_sentence(tmp_path):
    with refuses("data", "missing"):
        read_ensembles(None)
    with refuses("data", "empty", got="has none"):
        read_ensembles(tmp_path)
    np.savez(tmp_path / "a.npz", probs=np.full((4, 2, 2), 0.5))
    with refuses("data", "empty", got="first a: left out, because no labels"):
        read_ensembles(tmp_path)
    np.save(tmp_path / "labels.npy", np.array([0, 1, 2, 0]))
    with refuses("data: labels of a", "range", got="holds 2"):
        read_ensembles(tmp_path)
    np.savez(tmp_path / "a.npz", probs=np.full((4, 2, 2), 0.5), gold=np.zeros((4, 2)))
    with refuses("arrays", "shape", source="a.npz"):
        read_ensembles(tmp_path)


def test_the_electrocardiograms_are_six_questions(shared):
    found, left_out = read_ensembles(shared / "data" / "ecg")
    assert [e.members.shape for e in found] == [(827, 10, 2)] * 6
    assert left_out == []
    accuracy = np.mean([(e.members.mean(axis=1).argmax(axis=1) == e.labels).mean() for e in found])
    assert accuracy == pytest.approx(0.988, abs=0.002)
    assert steps_of_credal_calibration(figure="table1", data=shared / "data" / "ecg") == 1


def test_text_is_not_said_to_be_pickled(tmp_path):
    (tmp_path / "probs.npz").write_text("0.1 0.9")
    with refuses("data", "unreadable", got="probs.npz does not"):
        holds_training_data(tmp_path)
