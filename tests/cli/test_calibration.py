"""`uqassay calibration-test`: the numbers are the library's, every option reaches it, and what it says can be read."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.calibration.credal_hypothesis import credal_calibration_test
from uqassay.calibration.single_hypothesis import calibration_test
from uqassay.calibration.weighted_average import weighted_average_effect
from uqassay.cli import calibration_tables, terminal

BOTH = ["ece-confidence", "ece-classwise"]


def words(folder, *names):
    files = {"DE": "de", "P": "point", "EDL": "edl", "box": "intervals", "RS": "masses"}
    return [*(f"{name}={folder / files[name]}.npz" for name in names), "--labels", folder / "labels.npy"]


@pytest.fixture
def wrong(files):
    """Labels that none of the models foresees."""
    y = np.load(files / "labels.npy")
    np.save(files / "wrong.npy", (y + 1) % 3)
    return files / "wrong.npy"


def draw(width, monkeypatch):
    """What a terminal of so many columns shows."""
    stream = io.StringIO()
    plain_console = terminal._console

    def narrow(_):
        console = plain_console(stream)
        console.width = width
        return console

    monkeypatch.setattr(terminal, "_console", narrow)
    return stream


# -- the numbers ------------------------------------------------------------------------------------------------------


def test_json_is_that_of_the_library(files, run):
    ran = run("calibration-test", *words(files, "DE", "P", "EDL", "box", "RS"), "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert {key: found[key] for key in ("schema", "n_instances", "n_classes", "alpha", "null", "convention", "n_draws")} == {
        "schema": "uqassay.calibration/1", "n_instances": 60, "n_classes": 3, "alpha": 0.05,
        "null": "minimised", "convention": "exact", "n_draws": 99,
    }  # fmt: skip
    tests = found["tests"]
    assert [(t["model"], t["measure"]) for t in tests] == [
        (m, b) for m in ("DE", "P", "EDL", "box", "RS") for b in BOTH
    ]
    y = np.load(files / "labels.npy")
    for name, file in (("DE", "de"), ("box", "intervals"), ("RS", "masses")):
        prediction = uq.load(files / f"{file}.npz")
        for t in (t for t in tests if t["model"] == name):
            expected = credal_calibration_test(y, prediction, measure=t["measure"], rng=np.random.default_rng([0, 21]))
            assert (t["statistic"], t["pvalue"]) == (expected.statistic, expected.pvalue)
            assert (t["weights"], t["null"]) == (expected.weights.tolist(), expected.null.tolist())
            assert t["rejected"] == expected.reject()
            assert (t["tested"], t["n_members"]) == ("mixtures", expected.n_members)
    for name, file in (("P", "point"), ("EDL", "edl")):
        probs = uq.load(files / f"{file}.npz").mean_probs()
        t = next(t for t in tests if t["model"] == name)
        expected = calibration_test(y, probs, n_draws=99, rng=np.random.default_rng([0, 23]))
        assert (t["statistic"], t["pvalue"], t["tested"]) == (expected.statistic, expected.pvalue, "mean")


def test_options_reach_the_library(files, run):
    np.savez(files / "first.npz", probs=np.moveaxis(3 * np.load(files / "de.npz")["probs"], 1, 0))
    options = (
        "--measure",
        "skce-ul",
        "--null",
        "random",
        "--draws",
        "39",
        "--alpha",
        "0.1",
        "--resample",
        "--rng",
        "5",
    )
    moved = ("--member-axis", "0", "--normalise", "--members")
    ran = run("calibration-test", f"DE={files / 'first.npz'}", *words(files), *options, *moved, "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert (found["alpha"], found["null"], found["resample"], found["seed"]) == (0.1, "random", True, 5)
    (t,) = found["tests"]
    members, y = uq.load(files / "de.npz"), np.load(files / "labels.npy")
    options = {"measure": "skce-ul", "null": "random", "n_draws": 39, "resample": True}
    expected = credal_calibration_test(y, members, **options, rng=np.random.default_rng([5, 21]))
    assert (t["pvalue"], t["statistic"]) == (expected.pvalue, pytest.approx(expected.statistic))
    single = {"measure": "skce-ul", "n_draws": 39, "resample": True, "rng": np.random.default_rng([5, 23])}
    assert t["member_pvalues"][0] == calibration_test(y, members.probs[:, 0], **single).pvalue
    assert len(t["member_values"]) == 5


def test_the_authors_code_and_the_conservative_null(files, run):
    y, members = np.load(files / "labels.npy"), uq.load(files / "de.npz")
    one = ("--measure", "ece-confidence", "--json")
    t = run("calibration-test", *words(files, "DE"), "--convention", "paper-code", *one).json()["tests"][0]
    options = {"null": "random", "convention": "paper-code", "rng": np.random.default_rng([0, 21])}
    assert t["pvalue"] == credal_calibration_test(y, members, **options).pvalue
    bb = run("calibration-test", *words(files, "DE"), "--null", "berger-boos", "--draws", "19", "--alpha", "0.1", *one)
    t = bb.json()["tests"][0]
    expected = credal_calibration_test(y, members, null="berger-boos", n_draws=19, rng=np.random.default_rng([0, 21]))
    assert (t["pvalue"], t["null_kind"]) == (expected.pvalue, "berger-boos")


def test_runs_and_a_part_of_the_instances(files, run):
    argv = [f"P={files / 'point.npz'},{files / 'de.npz'}"]
    assert "the runs of 'P' must be of one kind" in run("calibration-test", *argv, *words(files)).err
    np.savez(files / "second.npz", probs=uq.load(files / "de.npz").probs[:, 0])
    argv = [f"P={files / 'point.npz'},{files / 'second.npz'}", *words(files), "--instances", "20"]
    found = run("calibration-test", *argv, "--json").json()["tests"]
    assert [t["run"] for t in found] == [1, 1, 2, 2]
    assert {(t["n_tested"], t["n_instances"]) for t in found} == {(20, 60)}
    out = run("calibration-test", *argv).out
    assert out.startswith("Calibration tests on 20 of 60 instances; 99 draws of labels\n")  # nothing is mixed
    assert "P, run 2" in out
    assert "Note: tested on 20 of 60 instances.\n" in out


def test_held_out_effects_are_those_of_the_library(files, run):
    from uqassay.calibration.shared_members import shared_members

    argv = [*words(files, "DE", "P", "box"), "--held-out", "0.25", "--level", "0.9", "--measure", "ece-confidence"]
    found = run("calibration-test", *argv, "--json").json()["held_out"]
    assert [e["model"] for e in found] == ["DE", "box"]
    y = np.load(files / "labels.npy")
    for e, file in zip(found, ("de", "intervals"), strict=True):
        points = shared_members(uq.load(files / f"{file}.npz")).probs
        options = {"fraction": 0.75, "level": 0.9, "rng": np.random.default_rng([0, 24])}
        effect = weighted_average_effect(y, points, **options)
        assert e["error_difference"] == effect.error_difference.to_dict()
        assert e["accuracy_difference"] == effect.accuracy_difference.difference.to_dict()
        assert e["weights"] == effect.weights.tolist()
        assert (e["n_weighed"], e["n_held_out"]) == (len(effect.calibration_rows), len(effect.held_out_rows))
    out = run("calibration-test", *argv).out
    assert "Weights found on 45 instances, and what they do on 15 held-out ones\n" in out
    assert "Note: P: nothing to weigh.\n" in out
    lines = [line for line in out.splitlines() if line.startswith("DE ")]
    assert any("accuracy, by ece-confidence" in line and line.count(" to ") == 3 for line in lines)
    alone = run("calibration-test", *words(files, "P"), "--held-out", "0.5")
    assert alone.out.endswith("Nothing to weigh: no model has several members or vertices.\n")


@pytest.mark.parametrize("null", ["minimised", "random", "berger-boos"])
def test_held_out_effects_follow_the_null_and_the_draws(null, files, run):
    argv = [*words(files, "DE"), "--held-out", "0.5", "--measure", "ece-confidence", "--null", null, "--draws", "19"]
    ran = run("calibration-test", *argv, "--alpha", "0.1", "--json")
    (found,) = ran.json()["held_out"]
    y, members = np.load(files / "labels.npy"), uq.load(files / "de.npz").probs
    effect = weighted_average_effect(y, members, null=null, null_draws=19, rng=np.random.default_rng([0, 24]))
    assert (found["pvalue"], found["n_draws"], found["null_kind"]) == (effect.test.pvalue, 19, null)
    of_draws = found["pvalue"] - (0.001 if null == "berger-boos" else 0.0)
    assert 20 * min(of_draws, 1.0) == pytest.approx(round(20 * min(of_draws, 1.0)))
    shown = run("calibration-test", *argv, "--alpha", "0.1").out
    line = next(line for line in shown.splitlines() if line.startswith("DE     ece-confidence") and " to " in line)
    assert line.split()[-1] == f"{found['pvalue']:.2f}"


def test_weights_that_do_not_exist_do_nothing_to_held_out_instances(files, run):
    argv = [*words(files, "DE"), "--instances", "3", "--measure", "skce-ul", "--held-out", "0.6"]
    (found,) = run("calibration-test", *argv, "--json").json()["held_out"]
    assert (found["n_weighed"], found["pvalue"], found["weights"]) == (1, None, [None] * 5)
    names = ("accuracy_weighted", "accuracy_difference", "error_weighted", "error_difference")
    assert [found[name] for name in names] == [None] * 4
    assert found["accuracy"]["n"] == 2
    shown = run("calibration-test", *argv).out
    assert "Weights found on 1 instance, and what they do on 2 held-out ones\n" in shown
    line = next(line for line in shown.splitlines() if "accuracy, by skce-ul" in line)
    assert line.split()[-5:] == ["–"] * 5


# -- what is said -----------------------------------------------------------------------------------------------------


def test_table_words_and_weights(files, wrong, run):
    argv = [*words(files, "DE", "EDL")[:2], "--labels", wrong]
    ran = run("calibration-test", *argv)
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    lines = ran.out.splitlines()
    assert lines[0] == "Calibration tests on 60 of 60 instances; 99 draws of labels, null minimised"
    assert lines[1].split("  ")[0] == "model"
    assert [part.strip() for part in lines[1].split("  ") if part.strip()] == [
        *("model", "measure", "value", "p", "at 0.05", "of the mean", "its p", "tested", "width"),
    ]
    tests = run("calibration-test", *argv, "--json").json()["tests"]
    for line, t in zip(lines[2:6], tests, strict=True):
        assert line.split()[:2] == [t["model"], t["measure"]]
        assert f"{t['statistic']:.4f}" in line
        assert "  rejected " in line
        assert ("5 members" in line) == (t["model"] == "DE")
        assert t["sentence"] in ran.out
    assert "No mixture of the 5 members of DE is confidence calibrated (ece-confidence, p = .01).\n" in ran.out
    assert "EDL is not classwise calibrated (ece-classwise, p = .01).\n" in ran.out
    weights = next(line for line in lines[lines.index("Weights with the least value") :] if line.startswith("DE"))
    assert [float(w) for w in weights.split()[2:7]] == pytest.approx(tests[0]["weights"], abs=0.005)
    assert "each test on its own, not adjusted for the 4" in ran.out
    assert "EDL: the mean was tested: draws have no number that means the same in every instance." in ran.out


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
    assert lines[start + 7].split()[:3] == ["own", "mean", f"{t['mean_value']:.4f}"]
    assert lines[start + 8].split()[:3] == ["best", "mixture", f"{t['statistic']:.4f}"]
    assert "of box by" not in ran.out  # its vertices are no members
    assert "Note: box: no single members to test.\n" in ran.out
    assert "single members to test" not in run("calibration-test", *words(files, "box")).out


def test_a_null_that_points_do_not_follow_is_told(files, run):
    argv = [*words(files, "DE", "P"), "--measure", "skce-ul"]
    note = "Note: P: no mixtures, so labels are drawn from the mean itself, whatever --null says.\n"
    ran = run("calibration-test", *argv, "--null", "random")
    assert "; 99 draws of labels, null random\n" in ran.out
    assert note in ran.out
    assert "whatever --null says" not in run("calibration-test", *argv).out
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
    assert f"\n    own mean          {t['mean_value']:.4f}" in out
    assert "plain: average in which every member counts the same" in out
    assert (
        "Note: the model's mean takes the weights given with its members, the mixtures are sought among all weights.\n"
        in out
    )
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
    assert table[0][:3] == ["tiny", "hosmer-lemeshow", f"{tiny['statistic']:.4g}"]
    assert table[1][:3] == ["none", "hosmer-lemeshow", "∞"]
    note = "none: hosmer-lemeshow is infinite, for a label came to which every one of the members gives probability 0."
    assert f"Note: {note}\n" in ran.out
    said = "\n".join(line for line in ran.out.splitlines() if not line.startswith("Note: "))
    assert max(len(word) for word in said.split() if word[0].isdigit()) < 12


def test_notes_name_the_measure_that_they_are_about(files, run):
    np.savez(files / "one.npz", probs=[[0.5, 0.5]], labels=[0])
    out = run("calibration-test", files / "one.npz", "--measure", "skce-ul", "--measure", "ece-confidence").out
    assert "Note: one by skce-ul: the measure is undefined for these labels with 1 instance.\n" in out


def test_notes_name_no_options_of_the_library(files, run, monkeypatch):
    from uqassay.calibration import credal_hypothesis

    monkeypatch.setattr(credal_hypothesis, "UNSETTLED", -1.0)
    out = run("calibration-test", *words(files, "DE"), "--measure", "ece-confidence").out
    assert "Note: independent searches for the least value differ" in out
    assert "search=" not in out


def test_many_weights_are_shortened():
    many = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.06, 0.04, 0.0])
    test = SimpleNamespace(weights=many)
    assert calibration_tables._weights(test) == (
        "0.30 on 1, 0.20 on 2, 0.10 on 3, 0.10 on 4, 0.10 on 5, 0.10 on 6, 0.10 on the other 3"
    )
    test.weights = np.eye(9)[7]
    assert calibration_tables._weights(test) == "1.00 on 8"
    test.weights = np.array([0.25, 0.75])
    assert calibration_tables._weights(test) == "0.25 0.75"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_narrow_terminal_drops_columns_rather_than_cutting_them(width, files, run, monkeypatch):
    stream = draw(width, monkeypatch)
    ran = run("calibration-test", *words(files, "DE", "P"), "--members", "--held-out", "0.5", "--draws", "19")
    assert (ran.code, ran.err) == (0, "")
    out = stream.getvalue()
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


def test_a_rejected_set_whose_mean_passes_is_explained(files, run, monkeypatch):
    monkeypatch.setattr(calibration_tables, "rejects", lambda test, alpha: True)
    out = run("calibration-test", *words(files, "DE"), "--measure", "ece-confidence").out
    assert "Where the mean alone is not rejected, the test of all mixtures compares" in out


# -- exit codes -------------------------------------------------------------------------------------------------------


def test_fail_if_rejected(files, wrong, run):
    good = run("calibration-test", *words(files, "DE"), "--fail-if-rejected", "--alpha", "0.01")
    assert (good.code, good.err) == (0, "")
    bad = run("calibration-test", *words(files, "DE")[:1], "--labels", wrong, "--fail-if-rejected", "--json")
    assert bad.code == 1
    assert bad.err.splitlines() == [
        f"Rejected: No mixture of the 5 members of DE is {what} calibrated (ece-{what}, p = .01)."
        for what in ("confidence", "classwise")
    ]
    assert bad.json()["tests"][0]["rejected"] is True


def test_what_is_undefined_cannot_pass(files, run):
    np.savez(files / "one.npz", probs=[[0.5, 0.5]], labels=[0])
    argv = ["calibration-test", files / "one.npz", "--measure", "skce-ul"]
    assert "Whether one is calibrated in the strong sense is undefined: the measure" in run(*argv).out
    members = run("calibration-test", *words(files, "DE"), "--instances", "1", "--measure", "skce-ul", "--members")
    assert (members.code, members.err) == (0, "")
    assert (
        "Whether some mixture of the 5 members of DE is calibrated in the strong sense is undefined: "
        "the measure is undefined for these labels with 1 instance.\n"
    ) in members.out
    assert "nan" not in members.out
    assert "Weights with the least value" not in members.out
    assert run(*argv, "--json").json()["tests"][0]["rejected"] is None
    ran = run(*argv, "--fail-if-rejected")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("fail-if-rejected: skce-ul of one cannot be tested: the measure is undefined")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--draws", "10"], "the smallest p-value that --draws 10 can reach is 0.09091; got 0.05; pass --draws 19 or more."),
        (["--alpha", "2"], "alpha: must lie strictly between 0 and 1; got 2.0"),
        (["--null", "berger-boos", "--alpha", "0.001"], "alpha: the smallest p-value"),
        (["--null", "x"], "null: must be one of 'minimised', 'random', 'berger-boos'; got 'x'"),
        (["--convention", "paper"], "convention: must be one of 'exact', 'paper-code'; got 'paper'"),
        (["--convention", "paper-code", "--null", "minimised"], "convention: the authors' code knows only the null of"),
        (["--resample"], "resample: instances are resampled only in the paper's own null; got --null minimised; pass --null"),
        (["--measure", "ece"], "measure: must be among ece-confidence"),
        (["--convention", "paper-code", "--resample"], "convention: the authors' code knows only the null of"),
        (["--convention", "paper-code", "--held-out", "0.5"], "held-out: weights are found by the exact convention, without"),
        (["--null", "random", "--resample", "--held-out", "0.5"], "got --held-out with --resample; leave one of the two out"),
        (["--level", "0.9"], "level: is that of the intervals with --held-out; got 0.9 without it; pass --held-out 0.5, say"),
        (["--measure", "skce-ul-mass"], "measure: must be among ece-confidence"),
        (["--held-out", "1"], "held-out: must lie strictly between 0 and 1; got 1"),
        (["--held-out", "0.5", "--level", "95"], "level: must lie strictly between 0 and 1"),
        (["--instances", "61"], "instances: there are 60; got 61"),
        (["--labels", "votes.npy"], "labels: votes.npy holds label distributions or votes"),
        (["--labels", "short.npy"], "short.npy: "),
        (["--labels", "absent.npy"], "absent.npy"),
        (["--groups", "short.npy"], "short.npy: "),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(argv, message, files, run, monkeypatch):
    monkeypatch.chdir(files)
    np.save("votes.npy", np.ones((60, 3)) / 3)
    np.save("short.npy", np.zeros(59, dtype=int))
    given = [] if "--labels" in argv else ["--labels", "labels.npy"]
    ran = run("calibration-test", "DE=de.npz", *given, *argv)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("option", [["--null", "minimised"], ["--resample"]])
def test_points_do_not_pass_by_what_the_authors_code_does_not_know(option, files, run):
    ran = run("calibration-test", *words(files, "P"), "--convention", "paper-code", *option)
    assert (ran.code, ran.out) == (2, "")
    assert f"got {' '.join(option)}; leave that out" in ran.err


def test_points_are_resampled_as_the_library_resamples_them(files, run):
    """Sets take it with the null of a random mixture only, in the library as here."""
    argv = ["--measure", "ece-confidence", "--resample"]
    y, p = np.load(files / "labels.npy"), uq.load(files / "point.npz")
    (t,) = run("calibration-test", *words(files, "P"), *argv, "--json").json()["tests"]
    expected = calibration_test(y, p, n_draws=99, resample=True, rng=np.random.default_rng([0, 23]))
    assert (t["pvalue"], t["null"]) == (expected.pvalue, expected.null.tolist())
    assert t["null"] != calibration_test(y, p, n_draws=99, rng=np.random.default_rng([0, 23])).null.tolist()
    refused = run("calibration-test", *words(files, "P", "DE"), *argv)
    assert (refused.code, refused.out) == (2, "")
    with refuses("resample", "undefined", got="instances are resampled only in the paper's own null"):
        credal_calibration_test(y, uq.load(files / "de.npz"), resample=True)


def test_names_with_the_kind_of_bins(files, run):
    names = ["mce-confidence-mass", "hosmer-lemeshow-mass", "hosmer-lemeshow-width", "ece-confidence-width"]
    argv = [word for name in names for word in ("--measure", name)]
    tests = run("calibration-test", *words(files, "P"), *argv, "--draws", "19", "--json").json()["tests"]
    y, p = np.load(files / "labels.npy"), uq.load(files / "point.npz")
    assert [t["measure"] for t in tests] == [
        "mce-confidence-mass",
        "hosmer-lemeshow",
        "hosmer-lemeshow-width",
        "ece-confidence",
    ]
    for t in tests:
        expected = calibration_test(y, p, measure=t["measure"], n_draws=19, rng=np.random.default_rng([0, 23]))
        assert (t["statistic"], t["pvalue"]) == (expected.statistic, expected.pvalue)


def test_labels_are_needed(files, run):
    ran = run("calibration-test", f"DE={files / 'de.npz'}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("labels: none of the prediction files holds labels")


# -- in the other commands --------------------------------------------------------------------------------------------


def test_reports_show_the_tests_and_can_leave_them_out(files, wrong, run, monkeypatch):
    monkeypatch.chdir(files)
    argv = ["report", "DE=de.npz", "P=point.npz", "--labels", "wrong.npy", "-o", "page.html"]
    shown = run(*argv, "--calibration", "ece-classwise")
    assert (shown.code, shown.err) == (0, "")
    start = shown.out.splitlines().index("Can the model, or some mixture of its members, be calibrated")
    header, first, second = shown.out.splitlines()[start + 1 : start + 4]
    assert "p (Holm)" in header
    assert first.split()[:2] == ["DE", "ece-classwise"]
    assert second.split()[:2] == ["P", "ece-classwise"]
    assert "adjusted by Holm for 2 tests." in shown.out
    hidden = run(*argv, "--calibration", "none")
    assert (hidden.code, hidden.err) == (0, "")
    assert "calibrated" not in hidden.out
    bad = run(*argv, "--calibration", "none", "--calibration", "ece-classwise")
    assert (bad.code, bad.out) == (2, "")
    assert bad.err.startswith("calibration: must be among ece-confidence")


def test_checks_know_the_pvalues(files, wrong, run):
    argv = ["rank", *words(files, "DE", "P")[:2], "--labels", wrong, "--fail-if"]
    ran = run(*argv, "DE:calibration-pvalue<0.05")
    assert ran.code == 1
    assert ran.err.splitlines()[0].startswith(
        "Check DE:calibration-pvalue<0.05 failed: calibration-pvalue of ece-confidence of DE is 0.0"
    )
    assert len(ran.err.splitlines()) == 2
    ran = run(*argv, "calibration-pvalue@ece-classwise<0.05")
    said = [line.partition(" failed: ")[2].partition(" is ")[0] for line in ran.err.splitlines()]
    assert said == [f"calibration-pvalue of ece-classwise of {model}" for model in ("DE", "P")]
    ran = run(*argv, "calibration-pvalue@margin<0.05")
    assert ran.code == 2
    assert "calibration-pvalue is known for the measures ece-confidence, ece-classwise" in ran.err
    plain = run(*argv[:-1])
    assert plain.code == 0


def test_it_is_listed_among_the_commands(run):
    assert "Test whether a model, or a mixture of its members" in " ".join(run("--help").out.split())
