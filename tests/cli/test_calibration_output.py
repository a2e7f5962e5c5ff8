"""What `uqassay calibration-test` prints can be read, and says what was computed."""

import numpy as np
import pytest
from tests.cli.calibration_words import words

from uqassay.calibration.weighted_average import weighted_average_effect
from uqassay.cli.calibration import measure_text


def test_table_words_and_weights(files, wrong, run):
    argv = [*words(files, "DE", "EDL")[:2], "--labels", wrong]
    ran = run("calibration-test", *argv)
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    lines = ran.out.splitlines()
    assert lines[0] == (
        "Calibration tests on 60 of 60 cases; as many draws of labels as small p-values need, null minimised"
    )
    assert lines[1].split("  ")[0] == "model"
    assert [part.strip() for part in lines[1].split("  ") if part.strip()] == [
        *("model", "measure", "value", "p", "at 0.05", "of the mean", "its p", "tested", "width"),
    ]
    tests = run("calibration-test", *argv, "--json").json()["tests"]
    for line, t in zip(lines[2:6], tests, strict=True):
        assert line.split()[:2] == [t["model"], t["measure"]]
        assert measure_text(t["statistic"]) in line
        assert "  rejected " in line
        assert ("5 members" in line) == (t["model"] == "DE")
        assert t["sentence"] in ran.out
    assert (
        "Reweighting the 5 members of DE cannot calibrate the confidence (Kuiper on confidence, p < .001).\n" in ran.out
    )
    assert "The probabilities of single classes of EDL are off (classwise ECE, p < .001)" in ran.out
    weights = next(line for line in lines[lines.index("Weights with the least value") :] if line.startswith("DE"))
    assert [float(w) for w in weights.split()[2:7]] == pytest.approx(tests[0]["weights"], abs=0.005)
    assert "adjusted by Holm for the 4 tests" in " ".join(ran.out.split())
    assert "EDL: only the mean is tested: draw number m means something different in every case." in ran.out


def test_single_members_stand_beside(files, run):
    ran = run("calibration-test", *words(files, "DE", "box"), "--members", "--measure", "ece-classwise")
    t = run("calibration-test", *words(files, "DE"), "--members", "--measure", "ece-classwise", "--json").json()[
        "tests"
    ][0]
    lines = ran.out.splitlines()
    start = lines.index("Single members of DE by ece-classwise")
    rows = [line.split() for line in lines[start + 2 : start + 7]]
    assert [row[0] for row in rows] == list("12345")
    assert [float(row[2]) for row in rows] == pytest.approx(t["member_values"], abs=5e-5)
    assert lines[start + 7].split()[:3] == ["own", "mean", measure_text(t["mean_value"])]
    assert lines[start + 8].split()[:3] == ["best", "mixture", measure_text(t["statistic"])]
    assert "of box by" not in ran.out  # its vertices are no members
    assert "Note: box: no single members to test.\n" in ran.out
    assert "single members to test" not in run("calibration-test", *words(files, "box")).out


def test_a_null_that_points_do_not_follow_is_told(files, run):
    argv = [*words(files, "DE", "P"), "--measure", "skce-ul"]
    note = "Note: P: no mixtures, so labels are drawn from the mean and --null has no effect.\n"
    ran = run("calibration-test", *argv, "--null", "random")
    assert "; 99 draws of labels, null random\n" in ran.out
    assert note in ran.out
    assert "--null has no effect" not in run("calibration-test", *argv).out
    coded = run("calibration-test", *argv, "--convention", "paper-code")
    assert "; 99 draws of labels, as in the authors' code\n" in coded.out


def test_the_mean_of_weighted_members_is_called_its_own(files, run):
    """Numbers against the definition: the model's mean takes its weights, the plain one of held-out instances does not."""
    probs, weights = np.load(files / "de.npz")["probs"], np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    y = np.load(files / "labels.npy")
    np.savez(files / "weighted.npz", probs=probs, weights=weights)
    argv = [f"W={files / 'weighted.npz'}", *words(files), "--measure", "brier", "--members", "--held-out", "0.5"]
    found = run("calibration-test", *argv, "--json").json()

    def brier(mean, rows=slice(None)):
        return ((mean - np.eye(3)[y])[rows] ** 2).sum(axis=1).mean()

    (t,) = found["tests"]
    assert t["mean_value"] == pytest.approx(brier(np.einsum("nmk,m->nk", probs, weights)))
    assert t["mean_value"] != pytest.approx(brier(probs.mean(axis=1)), rel=1e-3)
    rows = weighted_average_effect(y, probs, measure="brier", rng=np.random.default_rng([0, 24])).held_out_rows
    assert found["held_out"][0]["error"]["estimate"] == pytest.approx(brier(probs.mean(axis=1), rows))
    out = run("calibration-test", *argv).out
    assert "of the mean: of the model's own mean, tested alone" in " ".join(out.split())
    assert any(line.split()[:3] == ["own", "mean", measure_text(t["mean_value"])] for line in out.splitlines())
    assert "plain: average in which every member counts the same" in out
    assert "Note: the mean uses the given weights of the members, and a mixture may use any weights.\n" in out
    assert "plain mean" not in out
    assert "takes the weights given" not in run("calibration-test", *words(files, "DE")).out


def test_huge_and_infinite_values_stay_readable(files, run):
    probs = np.load(files / "de.npz")["probs"]
    for name, factor in (("tiny", 1e-30), ("none", 0.0)):
        scaled = probs * [1.0, 1.0, factor]
        np.savez(files / f"{name}.npz", probs=scaled / scaled.sum(axis=2, keepdims=True))
    argv = [files / "tiny.npz", files / "none.npz", *words(files), "--members"]
    argv += ["--measure", "hosmer-lemeshow", "--measure", "ece-confidence"]
    ran = run("calibration-test", *argv)
    assert (ran.code, ran.err) == (0, "")
    tests = run("calibration-test", *argv, "--json").json()["tests"]
    tiny, none = (
        next(t for t in tests if t["model"] == m and t["measure"] == "hosmer-lemeshow") for m in ("tiny", "none")
    )
    assert tiny["statistic"] > 1e25
    assert none["statistic"] == "Infinity"
    table = [line.split() for line in ran.out.splitlines() if "hosmer-lemeshow  " in line]
    assert table[0][:3] == ["tiny", "hosmer-lemeshow", measure_text(tiny["statistic"])]
    assert table[1][:3] == ["none", "hosmer-lemeshow", "∞"]
    why = "hosmer-lemeshow is infinite, because a label occurred to which every one of the members gives probability 0"
    assert f"Note: none by hosmer-lemeshow: {why}.\n" in ran.out
    said = "\n".join(line for line in ran.out.splitlines() if not line.startswith("Note: "))
    assert max(len(word) for word in said.split() if word[0].isdigit()) < 12


def test_notes_name_the_measure_that_they_are_about(files, run):
    np.savez(files / "one.npz", probs=[[0.5, 0.5]], labels=[0])
    out = run("calibration-test", files / "one.npz", "--measure", "skce-ul", "--measure", "ece-confidence").out
    assert "Note: one by skce-ul: the measure is undefined for these labels with 1 case.\n" in out


def test_notes_name_no_options_of_the_library(files, run, monkeypatch):
    from uqassay.calibration import credal as credal_hypothesis

    monkeypatch.setattr(credal_hypothesis, "UNSETTLED", -1.0)
    out = run("calibration-test", *words(files, "DE"), "--measure", "ece-confidence").out
    assert "Note: the least value is known" in out
    assert "search=" not in out


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_narrow_terminal_drops_columns_rather_than_cutting_them(width, files, run, narrow):
    narrow(width)
    ran = run("calibration-test", *words(files, "DE", "P"), "--members", "--held-out", "0.5", "--draws", "19")
    assert (ran.code, ran.err) == (0, "")
    out = ran.out
    assert "…" not in out
    assert all(len(line) <= width for line in out.splitlines())
    header = next(line for line in out.splitlines() if line.startswith("model"))
    assert ("width" in header) == (width >= 120)
    assert " p" in header
    assert ("of the mean: " in " ".join(out.split())) == ("of the mean" in header)


def test_no_colour_where_none_is_wanted(files, run_process):
    ran = run_process("calibration-test", *words(files, "P"), NO_COLOR="1")
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out


def test_draws_that_cannot_reject_are_told(files, run):
    argv = [*words(files, "DE", "P"), "--draws", "19"]
    note = "Note: 19 draws cannot reject any of 4 tests at 0.05 if all look alike; --draws 79 can.\n"
    assert note in run("calibration-test", *argv).out
    assert (
        "cannot reject" not in run("calibration-test", *argv[:2], *argv[3:5], "--measure", "brier", "--draws", "19").out
    )
