"""`uqassay second-order`: the numbers are those of the library; votes are read, put in order, or refused by option."""

import re

import numpy as np
import pytest

import uqassay as uq
from uqassay.calibration import second_order_test
from uqassay.results import plain

N, K = 60, 3


@pytest.fixture
def voted(files):
    """The files of `files`, with votes.npy (n, K), single.npy (n, 4) and patient.npy."""
    g = np.random.default_rng(9)
    single = g.integers(0, K, (N, 4))
    np.save(files / "single.npy", single)
    np.save(files / "votes.npy", (single[:, :, None] == np.arange(K)).sum(axis=1))
    np.save(files / "fewer.npy", np.full((50, K), 2))
    np.save(files / "three.npy", single[:, :3])  # as many votes as classes
    np.save(files / "words.npy", np.array(["a", "b", "c"])[single[:, :3]])
    np.save(files / "patient.npy", np.arange(N) // 3)
    return files


def test_json_is_that_of_the_library(voted, run):
    given = [f"DE={voted / 'de.npz'}", f"EDL={voted / 'edl.npz'}", "--votes", voted / "votes.npy"]
    ran = run("second-order", *given, "--buckets", "3", "--level", "0.9", "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert (found["schema"], found["alpha"], found["level"]) == ("uqassay.second-order/1", 0.05, 0.9)
    votes = np.load(voted / "votes.npy")
    for row, (name, file) in zip(found["tests"], {"DE": "de", "EDL": "edl"}.items(), strict=True):
        test = second_order_test(votes, uq.load(voted / f"{file}.npz"), buckets=3, level=0.9)
        expected = {"model": name, **test.to_dict(), "rejected": test.reject(), "sentence": test.sentence(name=name)}
        assert row == plain(expected)


def test_options_reach_the_library(voted, run):
    given = [
        voted / "de.npz",
        "--votes",
        voted / "single.npy",
        "--votes-are",
        "single",
        "--groups",
        voted / "patient.npy",
    ]
    row = run("second-order", *given, "--by", "kernel", "--seed", "4", "--json").json()["tests"][0]
    expected = second_order_test(
        np.load(voted / "votes.npy"), uq.load(voted / "de.npz"), groups=np.arange(N) // 3, by="kernel", rng=4
    )
    assert (row["pvalue"], row["statistic"], row["by"]) == (expected.pvalue, expected.statistic, "kernel")
    assert row["gap"]["low"] == expected.gap.low


def test_table_and_sentences(voted, run):
    ran = run("second-order", f"DE={voted / 'de.npz'}", f"flat={voted / 'point.npz'}", "--votes", voted / "votes.npy")
    assert (ran.code, ran.err) == (0, "")
    votes = np.load(voted / "votes.npy")
    for name, file in {"DE": "de", "flat": "point"}.items():
        assert second_order_test(votes, uq.load(voted / f"{file}.npz")).sentence(name=name) in ran.out
    header = next(line for line in ran.out.splitlines() if line.startswith("model"))
    assert header.split() == ["model", "stated", "observed", "ratio", "95", "%", "interval", "slope", "p"]
    assert "Note: flat: the model states no epistemic variance" in ran.out
    assert "not adjusted for the 2" in ran.out


def test_runs_of_one_model(voted, run):
    np.savez(voted / "again.npz", probs=np.load(voted / "de.npz")["probs"][:, :3])
    joined = f"DE={voted / 'de.npz'},{voted / 'again.npz'}"
    rows = run("second-order", joined, "--votes", voted / "votes.npy", "--json").json()["tests"]
    assert [row["model"] for row in rows] == ["DE, run 1", "DE, run 2"]
    assert rows[0]["ratio"] != rows[1]["ratio"]


def test_ids_put_votes_in_order(voted, run):
    g = np.random.default_rng(0)
    probs, votes, order = np.load(voted / "de.npz")["probs"], np.load(voted / "votes.npy"), g.permutation(N)
    np.savez(voted / "named.npz", probs=probs, ids=np.arange(N) + 100)
    np.savez(voted / "turned.npz", probs=probs[order], ids=order + 100)
    back = g.permutation(N)
    np.savez(voted / "named_votes.npz", votes=votes[back], ids=back + 100)
    files = [voted / "named.npz", voted / "turned.npz", "--votes", voted / "named_votes.npz", "--json"]
    rows = run("second-order", *files).json()["tests"]
    plainly = run("second-order", voted / "de.npz", "--votes", voted / "votes.npy", "--json").json()["tests"][0]
    for row in rows:
        assert row["ratio"]["estimate"] == pytest.approx(plainly["ratio"]["estimate"])
    named = np.arange(N) // 3
    np.save(voted / "patient.npy", named)
    np.savez(voted / "patient.npz", groups=named[back], ids=back + 100)
    grouped = run("second-order", *files, "--groups", voted / "patient.npz").json()["tests"]
    alone = run(
        *("second-order", voted / "de.npz", "--votes", voted / "votes.npy", "--groups", voted / "patient.npy", "--json")
    ).json()["tests"][0]
    assert grouped[0]["gap"]["low"] == grouped[1]["gap"]["low"] == pytest.approx(alone["gap"]["low"])
    refused = run("second-order", *files, "--groups", voted / "patient.npy")
    assert refused.code == 2
    assert "patient.npy: groups: must carry ids" in refused.err


def test_few_votes(voted, run):
    votes = np.load(voted / "votes.npy")
    votes[5] = [1, 0, 0]
    np.save(voted / "few.npy", votes)
    refused = run("second-order", voted / "de.npz", "--votes", voted / "few.npy")
    assert refused.code == 2
    assert "row 5 has 1" in refused.err
    assert "--leave-out-few" in refused.err
    ran = run("second-order", voted / "de.npz", "--votes", voted / "few.npy", "--leave-out-few")
    assert ran.code == 0
    assert "1 instance with fewer than two votes left out" in ran.out


def test_as_many_single_votes_as_classes(voted, run):
    counts = (np.load(voted / "three.npy")[:, :, None] == np.arange(K)).sum(axis=1)
    expected = second_order_test(counts, uq.load(voted / "de.npz")).to_dict()["ratio"]
    ran = run("second-order", voted / "de.npz", "--votes", voted / "three.npy", "--votes-are", "single", "--json")
    assert ran.json()["tests"][0]["ratio"] == plain(expected)
    members = np.asarray(uq.load(voted / "de.npz").probs)
    np.savez(voted / "named.npz", probs=members, class_names=["a", "b", "c"])
    turned = np.array([1, 2, 0])[np.load(voted / "three.npy")]  # indices of c, a, b
    np.savez(voted / "turned.npz", votes=turned, class_names=["c", "a", "b"])
    for file in ("words.npy", "turned.npz"):
        ran = run("second-order", voted / "named.npz", "--votes", voted / file, "--votes-are", "single", "--json")
        assert ran.json()["tests"][0]["ratio"] == plain(expected)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["de.npz"], "--votes: "),
        (["de.npz", "--votes", "labels.npy"], "--votes-are single"),
        (["de.npz", "--votes", "votes.npy", "--by", "bins"], "--by: "),
        (["de.npz", "--votes", "votes.npy", "--alpha", "5"], "--alpha: "),
        (["intervals.npz", "--votes", "votes.npy"], "intervals: "),
        (["de.npz", "--votes", "single.npy"], "single.npy: votes: "),
        (["de.npz", "--votes", "labels.npy", "--votes-are", "single"], "labels.npy: votes: "),
        (["de.npz", "--votes", "three.npy"], "three.npy: votes: may be counts or single votes"),
        (["de.npz", "--votes", "three.npy"], "--votes-are counts or --votes-are single"),
        (["de.npz", "--votes", "words.npy"], "--votes-are single"),
        (["de.npz", "--votes", "fewer.npy"], "votes: need a row for each of 60 instances; got 50 rows"),
        (
            ["de.npz", "--votes", "labels.npy", "--votes-are", "single"],
            "give one row of single votes for each instance",
        ),
        (["de.npz", "--votes", "votes.npy", "--votes-are", "shares"], "--votes-are: "),
        (["de.npz", "--votes", "votes.npy", "--by", "kernel", "--alpha", "0.0001"], "--alpha: "),
    ],
)
def test_refusals_name_the_option(voted, run, words, told):
    given = [voted / word if word.endswith((".npz", ".npy")) else word for word in words]
    ran = run("second-order", *given)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert ran.err.count("\n") == 1


def test_class_names_put_the_columns_of_votes_in_order(voted, run):
    votes, members = np.load(voted / "votes.npy"), np.asarray(uq.load(voted / "de.npz").probs)
    np.savez(voted / "named.npz", probs=members, class_names=["a", "b", "c"])
    np.savez(voted / "named_votes.npz", votes=votes[:, [1, 2, 0]], class_names=["b", "c", "a"])
    plain_order = run("second-order", voted / "named.npz", "--votes", voted / "votes.npy", "--json").json()["tests"][0]
    by_name = run("second-order", voted / "named.npz", "--votes", voted / "named_votes.npz", "--json").json()["tests"][
        0
    ]
    assert by_name == plain_order
    single = np.load(voted / "single.npy")
    for file, names in ((votes, ["a", "b", "d"]), (votes, ["a", "b"]), (single, ["a", "b", "d"])):
        np.savez(voted / "other_votes.npz", votes=file, class_names=names)
        kind = ["--votes-are", "single"] if file is single else []
        ran = run("second-order", voted / "named.npz", "--votes", voted / "other_votes.npz", *kind)
        assert ran.code == 2
        assert "other_votes.npz: " in ran.err
        assert re.search("class names of the (predictions|file)|by these names", ran.err)
