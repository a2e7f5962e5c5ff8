"""What the commands do with good input: the numbers are those of the library, and JSON is strict."""

import shlex

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli import commands
from uqassay.evidence.storage import plain, ranking_json
from uqassay.experiments import reproduction


@pytest.fixture
def models(files):
    return [f"{name}={files / file}.npz" for name, file in (("DE", "de"), ("EDL", "edl"), ("box", "intervals"))]


@pytest.fixture
def judged(files):
    names = {"DE": "de", "EDL": "edl", "box": "intervals"}
    predictions = {name: uq.load(files / f"{file}.npz") for name, file in names.items()}
    return uq.assay(predictions, np.load(files / "labels.npy"))


def test_rank_json_is_that_of_the_library(files, models, judged, run):
    ran = run("rank", *models, "--labels", files / "labels.npy", "--tradeoff", "0.5", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == {"schema": "uqassay.ranking/1", **ranking_json(judged, [0.5])}
    assert set(ran.json()) == {"schema", "tradeoff", "breakpoints"}
    row = ran.json()["tradeoff"][0]["ranking"][0]
    assert {"model", "estimate", "low", "high", "win_probability"} <= set(row)


def test_report_json_is_that_of_the_library(files, models, judged, run, monkeypatch):
    monkeypatch.chdir(files)
    ran = run("report", *models, "--labels", "labels.npy", "--json")
    assert (ran.code, ran.err) == (0, "")
    found, expected = ran.json(), plain(judged.to_json())
    assert found.pop("provenance")["labels_sha256"] == expected.pop("provenance")["labels_sha256"]
    assert found == expected
    assert not (files / "report.html").exists()  # --json alone writes no page


def test_report_writes_the_page_and_says_so(files, models, judged, run, monkeypatch):
    monkeypatch.chdir(files)
    ran = run("report", *models, "--labels", "labels.npy", "-o", "page.html", "--save", "kept")
    assert (ran.code, ran.err) == (0, "")
    assert "Page: page.html" in ran.out
    assert judged.verdict()[0] in ran.out
    page = (files / "page.html").read_text(encoding="utf-8")
    assert judged.verdict()[0] in page
    assert ranking_json(uq.Assay.load(files / "kept"), [0.5]) == ranking_json(judged, [0.5])


def test_report_puts_the_command_into_the_page(files, models, run, monkeypatch):
    monkeypatch.chdir(files)
    seen = {}
    monkeypatch.setattr("uqassay.report.page.write_page", lambda assay, path, *, command: seen.update(command=command))
    argv = ["report", *models, "--labels", "labels.npy", "-o", "a page.html"]
    assert run(*argv).code == 0
    assert shlex.split(seen["command"]) == ["uqassay", *argv]


def test_settings_reach_the_assay(files, run):
    np.save(files / "focal.npy", np.vstack([np.eye(3), np.ones(3)]))
    np.save(files / "site.npy", np.arange(60) % 4)
    np.save(files / "patient.npy", np.array([f"p{i // 2}" for i in range(60)]))
    options = [
        *("--convention", "paper", "--distance", "js", "--nonspecificity", "korner", "--floor", "1e-6"),
        *("--level", "0.9", "--draws", "100", "--seed", "3", "--common-members", "4"),
        *("--tradeoff", "0.2,0.4", "--tradeoff", "1"),
    ]
    ran = run(
        "report", f"DE={files / 'de.npz'}", "--labels", files / "labels.npy", "--focal-sets", files / "focal.npy",
        "--subgroup", f"site={files / 'site.npy'}", "--groups", files / "patient.npy", *options, "--json",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert [t["tradeoff"] for t in found["tradeoff"]] == [0.2, 0.4, 1.0]
    settings = found["settings"]
    assert settings["focal_sets"] == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    chosen = ("convention", "distance", "nonspecificity", "floor", "level", "n_draws", "seed")
    assert [settings[key] for key in chosen] == ["paper", "js", "korner", 1e-6, 0.9, 100, 3]
    assert found["models"][0]["points"] == 4
    labels, patients = np.load(files / "labels.npy"), np.load(files / "patient.npy")
    same = uq.assay(
        {"DE": uq.load(files / "de.npz")}, labels, tradeoffs=[0.2, 0.4, 1], convention="paper", distance="js",
        nonspecificity="korner", focal_sets=np.vstack([np.eye(3), np.ones(3)]), floor=1e-6, groups=patients,
        subgroups={"site": np.arange(60) % 4}, common_members=4, level=0.9, n_draws=100, rng=3,
    )  # fmt: skip
    assert found["findings"] == plain(same.to_json())["findings"]


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
    np.savez(files / "counts.npz", probs=3.0 * np.load(files / "point.npz")["probs"])
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
    assert "normalise: applies to probs and vertices" in alone.err


def test_member_axis(files, run):
    np.savez(files / "first.npz", probs=np.moveaxis(np.load(files / "de.npz")["probs"], 1, 0))
    labels = ("--labels", files / "labels.npy", "--json")
    moved = run("rank", f"DE={files / 'first.npz'}", *labels, "--member-axis", "0")
    assert moved.json() == run("rank", f"DE={files / 'de.npz'}", *labels).json()


@pytest.mark.parametrize(("check", "code"), [("accuracy<0.99", 1), ("accuracy<0.01", 0), ("EDL:kl>0", 1)])
def test_fail_if(check, code, files, models, run):
    ran = run("rank", *models, "--labels", files / "labels.npy", "--json", "--fail-if", check)
    assert ran.code == code
    assert bool(ran.err) == (code == 1)
    assert all(line.startswith(f"Check {check} failed: ") for line in ran.err.splitlines())
    ran.json()  # the numbers are printed all the same


def test_fail_if_says_which_models_it_leaves_out(files, run):
    np.savez(files / "perfect.npz", probs=0.7 * np.eye(3)[np.load(files / "labels.npy")] + 0.1)
    models = (f"right={files / 'perfect.npz'}", f"DE={files / 'de.npz'}")
    ran = run("rank", *models, "--labels", files / "labels.npy", "--json", "--fail-if", "uq-auc@total-entropy<0.01")
    assert ran.code == 0
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("Check uq-auc@total-entropy<0.01 leaves right out: no errors")
    ran.json()


def test_inspect(files, run):
    found = run("inspect", files / "de.npz", "--json").json()
    assert found["schema"] == "uqassay.inspect/1"
    assert (found["kind"], found["n_instances"], found["n_members"], found["n_classes"]) == ("members", 60, 5, 3)
    shown = run("inspect", files / "de.npz")
    assert shown.code == 0
    assert [line.split() for line in shown.out.splitlines() if line.startswith("members")] == [["members", "5"]]


def test_convert_and_back(files, run):
    members = uq.load(files / "de.npz")
    assert run("convert", files / "de.npz", files / "de.npy").code == 0
    ran = run("convert", files / "de.npy", files / "again.npz", "--kind", "members", "--labels", files / "labels.npy")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{files / 'again.npz'}: Members(probs=(60, 5, 3)) with labels\n"
    np.testing.assert_array_equal(uq.load(files / "again.npz").probs, members.probs)
    np.testing.assert_array_equal(uq.load_labels(files / "again.npz"), np.load(files / "labels.npy"))
    assert run("convert", files / "again.npz", files / "third.npz").code == 0  # labels inside come along
    np.testing.assert_array_equal(uq.load_labels(files / "third.npz"), np.load(files / "labels.npy"))


def test_convert_puts_labels_in_the_order_of_the_ids(files, run):
    y = np.load(files / "labels.npy")
    names = np.array([f"case {i}" for i in range(60)])
    np.savez(files / "named.npz", probs=np.load(files / "point.npz")["probs"], ids=names)
    np.savez(files / "shuffled.npz", labels=y[::-1], ids=names[::-1])
    assert run("convert", files / "named.npz", files / "x.npz", "--labels", files / "shuffled.npz").code == 0
    np.testing.assert_array_equal(uq.load_labels(files / "x.npz"), y)
    refused = run("convert", files / "point.npz", files / "z.npz", "--labels", files / "shuffled.npz")
    assert refused.code == 2
    assert "shuffled.npz: has ids and point.npz has none" in refused.err


def test_reproduce(run):
    expected = reproduction.reproduce("unified-tables")
    ran = run("reproduce", "unified-tables", "--preset", "smoke", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == expected.to_json()
    assert set(ran.json()[0]) == {"name", "paper", "ours", "low", "high", "agrees", "note"}
    assert run("reproduce", "unified-tables").out.rstrip("\n") == expected.summary()


def test_tradeoff_questions(run):
    assert run("tradeoff", "--abstention", "--cost", "0.1").out.startswith("λ from 0.05 to 0.2\n")
    assert run("tradeoff", "--no-abstention").out.startswith("λ from 1 to 2\n")
    found = run("tradeoff", "--abstention", "--cost", "0.1", "--json").json()
    assert (found["schema"], found["low"], found["high"]) == ("uqassay.tradeoff/1", 0.05, 0.2)


def test_version_and_help(run):
    assert run("--version").out == f"uqassay {uq.__version__}\n"
    for argv in ((), ("--help",), ("report", "--help"), ("tradeoff", "-h")):
        ran = run(*argv)
        assert (ran.code, ran.err) == (0, "")
        assert "Usage: uqassay" in ran.out


def test_every_field_of_the_request_has_an_option(run):
    listed = run("report", "--help").out
    for name in commands.REQUEST_OPTIONS:
        assert (f"--{name.replace('_', '-')}" in listed) or name == "models"


def test_report_against_paper_table(shared, run):
    """Paper 000, Table 1, CIFAR-10: KL, non-specificity and accuracy of RS-NN and SNN, rounded as printed there."""
    folder = shared / "data" / "cifar10_test"
    models = [f"RS-NN={folder / 'rs_nn_beliefs.npz'}", f"SNN={folder / 'snn.npz'}"]
    ran = run("report", *models, "--labels", folder / "labels.npy", "--convention", "paper", "--draws", "10", "--json")
    assert ran.code == 0
    found = {(row["model"], row["metric"]): row["estimate"] for row in ran.json()["findings"]}
    printed = {("RS-NN", "kl"): 0.398, ("RS-NN", "nonspecificity"): 0.009, ("SNN", "kl"): 0.481}
    for cell, value in printed.items():
        assert round(found[cell], 3) == value
    assert round(100 * found["RS-NN", "accuracy"], 2) == 92.99
