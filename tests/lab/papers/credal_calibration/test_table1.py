"""Table 1 on given ensembles: verdicts on made members whose calibration is known."""

import numpy as np

from uqassay.calibration import credal_calibration_test
from uqassay.lab.datasets.generated import two_gaussians
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration.table1 import (
    LabelledEnsemble,
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
