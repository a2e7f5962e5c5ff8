"""`uqassay ood`: the numbers are those of the library, labels are not asked for, and what differs is refused."""

import re

import numpy as np
import pytest
from tests.notes import said

import uqassay as uq
from uqassay.evidence.ood import detect_ood_in_predictions
from uqassay.results import plain

MODELS = {"DE": "de", "EDL": "edl", "box": "intervals"}


@pytest.fixture
def both(files):
    """The files of `files`, and beside each another of 24 unclear instances, named …_out."""
    g = np.random.default_rng(8)
    members = g.dirichlet(np.full(3, 2.0), (24, 5))
    np.savez(files / "de_out.npz", probs=members)
    np.savez(files / "point_out.npz", probs=members.mean(axis=1))
    np.savez(files / "edl_out.npz", alpha=1.0 + 6.0 * members.mean(axis=1))
    np.savez(files / "intervals_out.npz", lower=members.min(axis=1), upper=members.max(axis=1))
    np.save(files / "patient.npy", np.arange(60) // 3)
    np.save(files / "patient_out.npy", np.array([f"p{i // 2}" for i in range(24)]))
    return files


def words(folder, models=MODELS):
    """Arguments for both sides."""
    inside = [f"{name}={folder / file}.npz" for name, file in models.items()]
    return [*inside, *(part for name, file in models.items() for part in ("--out", f"{name}={folder / file}_out.npz"))]


def predictions(folder, models=MODELS):
    return [{name: uq.load(folder / f"{file}{side}.npz") for name, file in models.items()} for side in ("", "_out")]


def test_json_is_that_of_the_library(both, run):
    ran = run("ood", *words(both), "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert {key: found[key] for key in found if key != "findings"} == {
        "schema": "uqassay.ood/1", "n_in": 60, "n_out": 24, "positive": "out", "ties": "shared", "level": 0.95,
    }  # fmt: skip
    assert found["findings"] == plain(detect_ood_in_predictions(*predictions(both)).rows())
    assert {row["model"] for row in found["findings"]} == set(MODELS)


def test_labels_add_the_errors(both, run, monkeypatch):
    y = np.load(both / "labels.npy")
    options = ("--labels", both / "labels.npy", "--error-cost", "0.8", "--share-out", "0.1", "--ties", "whole")
    ran = run("ood", *words(both, {"DE": "de"}), *options, "--score", "margin", "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert (found["error_cost"], found["share_out"], found["ties"]) == (0.8, 0.1, "whole")
    expected = detect_ood_in_predictions(
        *predictions(both, {"DE": "de"}), scores=["margin"], labels=y, error_cost=0.8, share_out=0.1, ties="whole"
    )
    assert found["findings"] == plain(expected.rows())
    monkeypatch.setenv("COLUMNS", "200")
    shown = run("ood", *words(both, {"DE": "de"}), *options, "--score", "margin")
    assert "SCOD-AURC" in shown.out
    assert "0.8 for an error, 0.2 for an input out of distribution; 10.0 % are" in " ".join(shown.out.split())
    assert run("ood", *words(both, {"DE": "de"}), "--share-out", "1.5").err.startswith("--share-out: must lie")


def test_options_reach_the_library(both, run):
    np.savez(both / "first.npz", probs=np.moveaxis(100 * np.load(both / "de.npz")["probs"], 1, 0))
    np.savez(both / "first_out.npz", probs=np.moveaxis(100 * np.load(both / "de_out.npz")["probs"], 1, 0))
    options = [
        *("--score", "margin", "--score", "nonspecificity", "--positive", "in", "--level", "0.9"),
        *("--groups", both / "patient.npy", "--out-groups", both / "patient_out.npy"),
    ]
    moved = ("--member-axis", "0", "--normalise")
    ran = run("ood", *words(both, {"DE": "first", "EDL": "edl"}), *options, *moved, "--json")
    assert (ran.code, ran.err.count("the probabilities were divided by their sums")) == (0, 2)
    expected = detect_ood_in_predictions(
        *predictions(both, {"DE": "de", "EDL": "edl"}),
        scores=["margin", "nonspecificity"],
        positive="in",
        level=0.9,
        groups_in=np.load(both / "patient.npy"),
        groups_out=np.load(both / "patient_out.npy"),
    )
    rows = ran.json()["findings"]
    assert [row["metric"] for row in rows[:3]] == ["ood-auc", "fpr95-in", "aupr-in"]
    assert {row["score"] for row in rows} == {"margin", "nonspecificity"}
    assert "32 groups" in said(rows[0])
    for row, other in zip(rows, plain(expected.rows()), strict=True):
        assert row.pop("notes") == other.pop("notes")
        assert row == pytest.approx(other)


def test_runs_of_one_model(both, run):
    g = np.random.default_rng(9)
    for side, n in (("", 60), ("_out", 24)):
        np.savez(both / f"second{side}.npz", probs=g.dirichlet(np.ones(3), n))
    names = [f"{both / 'point'}{side}.npz,{both / 'second'}{side}.npz" for side in ("", "_out")]
    ran = run("ood", f"P={names[0]}", "--out", f"P={names[1]}", "--score", "margin", "--json")
    assert [row["run"] for row in ran.json()["findings"]][::3] == ["all", "1", "2"]


def test_the_table_is_plain_and_sorted(both, run):
    ran = run("ood", *words(both))
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    lines = ran.out.splitlines()
    assert lines[0] == "60 cases in distribution, 24 out of it; by ROC-AUC, greater is better"
    header = lines[1].split("  ")
    assert [part.strip() for part in header if part.strip()] == [
        *("model", "score", "ROC-AUC", "95 % interval", "FPR95", "95 % interval", "AUPR", "95 % interval"),
    ]
    found = detect_ood_in_predictions(*predictions(both))
    rows = [line.split() for line in lines[2:] if line.split()[0] in MODELS]
    assert len(rows) == sum(len(found.score_names(name)) for name in MODELS)
    areas = [float(row[2]) for row in rows]
    assert areas == sorted(areas, reverse=True)
    for model, score, area, *_ in rows:
        assert float(area) == pytest.approx(float(found.estimate(model, score)), abs=5e-4)
    assert "AUPR: average precision, 0.286 without knowledge (positive: out)" in ran.out
    assert "Note: one-sided interval: more out-of-distribution cases would bound the other side." in ran.out


def test_notes_name_the_scores_they_are_about(both, run):
    np.savez(both / "logits.npz", logits=np.zeros((60, 3)))
    models = {"P": "point"}
    ran = run("ood", f"P={both / 'logits.npz'}", "--out", words(both, models)[-1])
    assert "Note: free-energy of P: free-energy is not known for the cases out of distribution." in ran.out
    line = next(line for line in ran.out.splitlines() if "free-energy" in line and line.startswith("P "))
    assert line.split()[2:] == ["–"] * 6
    assert ran.out.splitlines().index(line) > 3  # what is undefined stands last


@pytest.mark.parametrize(("width", "columns"), [(40, 1), (60, 4), (80, 5), (120, 6)])
def test_a_narrow_terminal_drops_columns_rather_than_cutting_them(width, columns, both, run, narrow):
    narrow(width)
    ran = run("ood", *words(both), "--score", "margin", "--score", "total-entropy")
    assert (ran.code, ran.err) == (0, "")
    lines = [line for line in ran.out.splitlines() if line.startswith(("model", *MODELS))]
    assert all(len(line) <= width for line in lines)
    assert "…" not in ran.out
    header = [part for part in lines[0].replace("95 % interval", "interval").split() if part not in ("model", "score")]
    assert len(header) == columns
    for name in ("FPR95", "AUPR"):  # what is not shown is not explained
        assert (f"{name}:" in ran.out) == (name in lines[0])


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["DE=de.npz"], "--out: the same models on inputs out of distribution are needed"),
        (
            ["DE=de.npz", "--out", "D=de_out.npz"],
            "--out: needs every model that is judged in distribution; it lacks 'DE'",
        ),
        (
            ["DE=de.npz", "--out", "DE=de_out.npz", "--out", "D=edl_out.npz"],
            "--out: must have no model that is missing in distribution; it has 'D'",
        ),
        (["DE=de.npz", "--out", "DE=point_out.npz"], "--out: 'DE' needs the same kind as in distribution"),
        (["DE=de.npz", "--out", "DE=de_out.npz", "--score", "x"], "--score: must be among least-confidence, margin"),
        (["DE=de.npz", "--out", "DE=de_out.npz", "--positive", "x"], "--positive: must be 'out' or 'in'; got 'x'"),
        (["DE=de.npz", "--out", "DE=de_out.npz", "--level", "95"], "--level: must lie strictly between 0 and 1"),
        (["DE=de.npz", "--out", "DE=absent.npz"], "absent.npz"),
        (["DE=de.npz", "--out", "DE=de_out.npz,de_out.npz"], "--out: 'de_out.npz' is given twice as a run of 'DE'"),
        (
            ["P=point.npz", "--out", "P=point_out.npz", "--score", "margin", "--score", "vote-entropy"],
            "--score: must be scores that some model has; got 'vote-entropy', and the scores there are "
            "least-confidence, margin, total-entropy, total-variance; choose from them.",
        ),
        (
            ["DE=de.npz", "--out", "DE=de_out.npz", "--out-groups", "patient.npy"],
            "patient.npy: groups: needs one value for each of",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(argv, message, both, run, monkeypatch):
    monkeypatch.chdir(both)
    ran = run("ood", *argv)
    assert ran.code == 2
    assert ran.out == ""
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_models_without_a_score_asked_for_are_named(both, run):
    ran = run("ood", *words(both, {"DE": "de", "P": "point"}), "--score", "margin", "--score", "vote-entropy")
    assert (ran.code, ran.err) == (0, "")
    assert "Note: P (Point) has no vote-entropy and is left out.\n" in ran.out
    assert "has no margin" not in ran.out
    assert "has no" not in run("ood", *words(both, {"DE": "de", "P": "point"})).out  # none was asked for


def test_one_file_on_both_sides_is_remarked_on(both, run):
    (both / "link.npz").symlink_to(both / "de.npz")
    ran = run("ood", f"DE={both / 'de.npz'}", "--out", f"DE={both / 'link.npz'}", "--score", "margin")
    assert ran.code == 0
    assert ran.err == "Warning: --out: link.npz is given in distribution too; no score can tell a file from itself.\n"


def test_a_narrow_terminal_keeps_the_names(both, run, narrow):
    narrow(40)
    argv = words(both, {"deep-ensemble": "de"})
    ran = run("ood", *argv, "--score", "predicted-class-variance", "--score", "margin")
    assert ran.code == 0
    rows = [line for line in ran.out.splitlines() if line.startswith("deep-ensem")]
    assert len(rows) == 2
    assert all(re.search(r" \d\.\d{3}$", row) for row in rows)


def test_it_is_listed_among_the_commands(run):
    ran = run("--help")
    assert "Judge how well each score" in " ".join(ran.out.split())
