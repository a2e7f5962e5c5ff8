"""`uqassay report`: the numbers are those of the library, and every option reaches it."""

import shlex

import numpy as np
from tests.report.html_pages import ParsedPage

import uqassay as uq
from uqassay.evidence.sentences import PRICE
from uqassay.evidence.tables import ranking_json
from uqassay.report.page import answer_card
from uqassay.results import plain


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
    assert PRICE in ran.out
    page = (files / "page.html").read_text(encoding="utf-8")
    assert answer_card(judged) in page
    assert ranking_json(uq.Assay.load(files / "kept"), [0.5]) == ranking_json(judged, [0.5])


def test_report_puts_the_command_into_the_page(files, models, run, monkeypatch):
    monkeypatch.chdir(files)
    seen = {}
    monkeypatch.setattr(
        "uqassay.report.page.write_page", lambda assay, path, *, command, progress: seen.update(command=command)
    )
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


def test_scores_on_request_are_judged(files, run):
    models = [f"DE={files / 'de.npz'}", "--labels", files / "labels.npy", "--draws", "10"]
    names = ("epistemic-label-wise", "aleatoric-zero-one", "epistemic-pairwise-kl")
    options = [word for name in names for word in ("--score", name)]
    found = run("report", *models, *options, "--json").json()
    assert tuple(found["settings"]["measures"]) == names
    judged = {row["score"] for row in found["findings"] if row["metric"] == "uq-auc" and row["model"] == "DE"}
    assert judged == {*names, "nonspecificity"}
    page = files / "page.html"
    assert run("report", *models, *options, "-o", page).code == 0
    assert "aleatoric zero one" in str(ParsedPage(page.read_text(encoding="utf-8")).payload)
    refused = run("report", *models, "--score", "epistemic", "-o", page)
    assert refused.code == 2
    assert refused.err.startswith("--score: ")


def test_report_against_paper_table(shared, run):
    """Unified evaluation, Table 1, CIFAR-10: KL, non-specificity and accuracy of RS-NN and SNN, rounded as printed there."""
    folder = shared / "data" / "cifar10_test"
    models = [f"RS-NN={folder / 'rs_nn_beliefs.npz'}", f"SNN={folder / 'snn.npz'}"]
    names = "airplane,automobile,bird,cat,deer,dog,frog,horse,ship,truck"
    options = ("--class-names", names, "--convention", "paper", "--draws", "10", "--json")
    ran = run("report", *models, "--labels", folder / "labels.npy", *options)
    assert ran.code == 0, ran.err
    found = {(row["model"], row["metric"]): row["estimate"] for row in ran.json()["findings"]}
    printed = {("RS-NN", "kl"): 0.398, ("RS-NN", "nonspecificity"): 0.009, ("SNN", "kl"): 0.481}
    for cell, value in printed.items():
        assert round(found[cell], 3) == value
    assert round(100 * found["RS-NN", "accuracy"], 2) == 92.99


def test_reports_show_the_tests_and_can_leave_them_out(files, wrong, run, monkeypatch):
    monkeypatch.chdir(files)
    argv = ["report", "DE=de.npz", "P=point.npz", "--labels", "wrong.npy", "-o", "page.html"]
    shown = run(*argv, "--calibration", "ece-classwise")
    assert (shown.code, shown.err) == (0, "")
    start = shown.out.splitlines().index("Can the model, or some mixture of its members, be calibrated")
    told, header, first, second = shown.out.splitlines()[start + 1 : start + 5]
    assert told.startswith(
        "Reweighting the 5 members of DE cannot calibrate the probabilities of single classes (p < .001)"
    )
    assert told.endswith("adjusted by Holm for 2 tests.")
    assert header.split()[:6] == ["model", "measure", "value", "p", "at", "0.05"]
    assert first.split()[:2] == ["DE", "ece-classwise"]
    assert second.split()[:2] == ["P", "ece-classwise"]
    assert "with as great a value, adjusted by Holm for the 2 tests" in shown.out  # what p is
    hidden = run(*argv, "--calibration", "none")
    assert (hidden.code, hidden.err) == (0, "")
    assert "calibrated" not in hidden.out
    bad = run(*argv, "--calibration", "none", "--calibration", "ece-classwise")
    assert (bad.code, bad.out) == (2, "")
    assert bad.err.startswith("--calibration: must be among ece-confidence")
