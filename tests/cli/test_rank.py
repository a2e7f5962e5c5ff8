"""`uqassay rank`: the numbers are those of the library, in the whole test set and in its parts."""

import numpy as np

import uqassay as uq
from uqassay.evidence.tables import ranking_json
from uqassay.results import plain


def test_rank_json_is_that_of_the_library(files, models, judged, run):
    ran = run("rank", *models, "--labels", files / "labels.npy", "--tradeoff", "0.5", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == {
        "schema": "uqassay.ranking/3",
        "default_tradeoff": 0.5,
        "headline": list(judged.headline()),
        "verdict": list(judged.verdict()),
        "claims": plain([row for row in judged.rows("claims") if row["kind"] != "not-calibrated"]),  # it makes no tests
        "metrics": plain(judged.metrics().rows()),
        **ranking_json(judged, [0.5]),
    }
    assert {"headline", "verdict", "claims", "metrics", "tradeoff", "rank_sets", "breakpoints"} < set(ran.json())
    row = ran.json()["tradeoff"][0]["ranking"][0]
    assert {"model", "estimate", "low", "high", "win_share"} <= set(row)


def test_runs_of_one_model_in_both_spellings(files, run):
    np.savez(files / "second.npz", probs=np.load(files / "point.npz")["probs"][:, ::-1])
    first, second = files / "point.npz", files / "second.npz"
    labels = ("--labels", files / "labels.npy", "--json")
    joined = run("rank", f"P={first},{second}", *labels).json()
    assert joined == run("rank", f"P={first}", f"P={second}", *labels).json()
    runs = [uq.load(first), uq.load(second)]
    expected = ranking_json(uq.assay({"P": runs}, np.load(files / "labels.npy")), joined_tradeoffs(joined))
    assert {key: joined[key] for key in expected} == expected


def joined_tradeoffs(found):
    return [t["tradeoff"] for t in found["tradeoff"]]


def test_repair_of_beliefs_that_are_no_belief_function(files, run):
    sets = np.vstack([np.eye(3), np.ones(3)]).astype(bool)
    np.savez(files / "beliefs.npz", beliefs=np.tile([0.5, 0.4, 0.3, 0.9], (60, 1)), focal_sets=sets)
    argv = ("rank", files / "beliefs.npz", "--labels", files / "labels.npy", "--json")
    refused = run(*argv)
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert run(*argv, "--repair").code == 0


def test_normalise_leaves_kinds_alone_that_have_no_probabilities(files, run):
    np.savez(files / "counts.npz", probs=100.0 * np.load(files / "point.npz")["probs"])
    labels = ("--labels", files / "labels.npy", "--json", "--normalise")
    ran = run("rank", f"P={files / 'counts.npz'}", f"EDL={files / 'edl.npz'}", *labels)
    assert ran.code == 0
    plain_ran = run("rank", f"P={files / 'point.npz'}", f"EDL={files / 'edl.npz'}", *labels[:-1])
    estimates = [[row["estimate"] for row in t["ranking"]] for t in ran.json()["tradeoff"]]
    np.testing.assert_allclose(
        estimates, [[row["estimate"] for row in t["ranking"]] for t in plain_ran.json()["tradeoff"]], rtol=1e-12
    )
    alone = run("rank", f"EDL={files / 'edl.npz'}", *labels)
    assert alone.code == 2
    assert "edl.npz: --normalise: applies to probs and vertices" in alone.err


def test_member_axis(files, run):
    np.savez(files / "first.npz", probs=np.moveaxis(np.load(files / "de.npz")["probs"], 1, 0))
    labels = ("--labels", files / "labels.npy", "--json")
    moved = run("rank", f"DE={files / 'first.npz'}", *labels, "--member-axis", "0")
    assert moved.json() == run("rank", f"DE={files / 'de.npz'}", *labels).json()


def test_a_class_that_matters_is_answered_on_the_screen(files, models, run):
    labels = ("--labels", files / "labels.npy")
    asked, plainly = run("rank", *models, *labels, "--critical", "1"), run("rank", *models, *labels)
    assert (asked.code, asked.err) == (0, "")
    assert "What does refusing do for the class that matters?" in asked.out
    assert "class that matters" not in plainly.out
