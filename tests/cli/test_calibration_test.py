"""`uqassay calibration-test`: the numbers are the library's, and every option reaches it."""

import numpy as np
import pytest
from tests.cli.calibration_words import BOTH, words
from tests.refusals import refuses

import uqassay as uq
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.one_classifier import calibration_test


def test_json_is_that_of_the_library(files, run):
    ran = run("calibration-test", *words(files, "DE", "P", "EDL", "box", "RS"), "--draws", "99", "--json")
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
    assert [t["pvalue_adjusted"] for t in tests] == uq.statistics.holm([t["pvalue"] for t in tests]).tolist()
    y = np.load(files / "labels.npy")
    for name, file in (("DE", "de"), ("box", "intervals"), ("RS", "masses")):
        prediction = uq.load(files / f"{file}.npz")
        for t in (t for t in tests if t["model"] == name):
            expected = credal_calibration_test(y, prediction, measure=t["measure"], rng=np.random.default_rng([0, 21]))
            assert (t["statistic"], t["pvalue"]) == (expected.statistic, expected.pvalue)
            assert (t["weights"], t["null"]) == (expected.weights.tolist(), expected.null.tolist())
            assert t["rejected"] == (t["pvalue_adjusted"] <= 0.05)
            assert (t["tested"], t["n_members"]) == ("mixtures", expected.n_members)
    for name, file in (("P", "point"), ("EDL", "edl")):
        probs = uq.load(files / f"{file}.npz").mean_probs()
        t = next(t for t in tests if t["model"] == name)
        expected = calibration_test(y, probs, measure=t["measure"], n_draws=99, rng=np.random.default_rng([0, 23]))
        assert (t["statistic"], t["pvalue"], t["tested"]) == (expected.statistic, expected.pvalue, "mean")


def test_options_reach_the_library(files, run):
    np.savez(files / "first.npz", probs=np.moveaxis(100 * np.load(files / "de.npz")["probs"], 1, 0))
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
    assert (ran.code, ran.err) == (0, "Warning: DE: in 60 of 60 rows the probabilities were divided by their sums.\n")
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
    one = ("--measure", "kuiper-confidence", "--json")
    t = run("calibration-test", *words(files, "DE"), "--convention", "paper-code", *one).json()["tests"][0]
    options = {"null": "random", "convention": "paper-code", "rng": np.random.default_rng([0, 21])}
    assert t["pvalue"] == credal_calibration_test(y, members, **options).pvalue
    bb = run("calibration-test", *words(files, "DE"), "--null", "berger-boos", "--draws", "19", "--alpha", "0.1", *one)
    t = bb.json()["tests"][0]
    expected = credal_calibration_test(y, members, null="berger-boos", n_draws=19, rng=np.random.default_rng([0, 21]))
    assert (t["pvalue"], t["null_kind"]) == (expected.pvalue, "berger-boos")


def test_runs_and_a_part_of_the_instances(files, run):
    argv = [f"P={files / 'point.npz'},{files / 'de.npz'}"]
    assert "one kind; got Members, Point" in run("calibration-test", *argv, *words(files)).err
    np.savez(files / "second.npz", probs=uq.load(files / "de.npz").probs[:, 0])
    argv = [f"P={files / 'point.npz'},{files / 'second.npz'}", *words(files), "--instances", "20"]
    found = run("calibration-test", *argv, "--json").json()["tests"]
    assert [t["run"] for t in found] == [1, 1, 2, 2]
    assert {(t["n_tested"], t["n_instances"]) for t in found} == {(20, 60)}
    out = run("calibration-test", *argv).out
    title = "Calibration tests on 20 of 60 cases; as many draws of labels as small p-values need\n"
    assert out.startswith(title)  # nothing is mixed
    assert "P, run 2" in out
    assert "Note: tested on 20 of 60 cases.\n" in out


def test_fail_if_rejected(files, wrong, run):
    good = run("calibration-test", *words(files, "DE"), "--fail-if-rejected", "--alpha", "0.01")
    assert (good.code, good.err) == (0, "")
    bad = run("calibration-test", *words(files, "DE")[:1], "--labels", wrong, "--fail-if-rejected", "--json")
    assert bad.code == 1
    assert bad.err.splitlines() == [
        f"Rejected: Reweighting the 5 members of DE cannot calibrate the {what} ({by}, p < .001)."
        for what, by in (("confidence", "Kuiper on confidence"), ("probabilities of single classes", "classwise ECE"))
    ]
    assert bad.json()["tests"][0]["rejected"] is True


def test_what_is_undefined_cannot_pass(files, run):
    np.savez(files / "one.npz", probs=[[0.5, 0.5]], labels=[0])
    argv = ["calibration-test", files / "one.npz", "--measure", "skce-ul"]
    assert (
        "Whether one has the right probabilities as a whole is undefined (SKCE, linear): the measure" in run(*argv).out
    )
    members = run("calibration-test", *words(files, "DE"), "--instances", "1", "--measure", "skce-ul", "--members")
    assert (members.code, members.err) == (0, "")
    assert (
        "Whether some mixture of the 5 members of DE has the right probabilities as a whole is undefined (SKCE, linear): "
        "the measure is undefined for these labels with 1 case.\n"
    ) in members.out
    assert "nan" not in members.out
    assert "Weights with the least value" not in members.out
    assert run(*argv, "--json").json()["tests"][0]["rejected"] is None
    ran = run(*argv, "--fail-if-rejected")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("--fail-if-rejected: skce-ul of one cannot be tested; the measure is undefined")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--draws", "10"], "the smallest p-value that --draws 10 can reach is 0.09091; got 0.05; pass --draws 19 or more."),
        (["--alpha", "2"], "--alpha: must lie strictly between 0 and 1; got 2.0"),
        (["--null", "berger-boos", "--alpha", "0.001"], "--alpha: the smallest p-value"),
        (["--null", "x"], "--null: must be 'minimised', 'random' or 'berger-boos'; got 'x'"),
        (["--convention", "paper"], "--convention: must be 'exact' or 'paper-code'; got 'paper'"),
        (["--convention", "paper-code", "--null", "minimised"], "--convention: the authors' code has only the null of"),
        (["--resample"], "got --null minimised; pass --null random, or leave --resample out."),
        (["--measure", "ece"], "--measure: must be among ece-confidence"),
        (["--convention", "paper-code", "--resample"], "--convention: the authors' code has only the null of"),
        (["--convention", "paper-code", "--held-out", "0.5"], "--held-out: weights are found by the exact convention, without"),
        (["--null", "random", "--resample", "--held-out", "0.5"], "got --held-out with --resample; leave one of the two out"),
        (["--level", "0.9"], "--level: is the level of the intervals with --held-out; got 0.9 without it; pass --held-out 0.5"),
        (["--measure", "skce-ul-mass"], "--measure: must be among ece-confidence"),
        (["--held-out", "1"], "--held-out: must lie strictly between 0 and 1; got 1"),
        (["--held-out", "0.5", "--level", "95"], "--level: must lie strictly between 0 and 1"),
        (["--instances", "61"], "--instances: there are 60; got 61"),
        (["--labels", "votes.npy"], "votes.npy: a calibration test takes one label for each case; got label distributions"),
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
    expected = calibration_test(
        y, p, measure="ece-confidence", n_draws=99, resample=True, rng=np.random.default_rng([0, 23])
    )
    assert (t["pvalue"], t["null"]) == (expected.pvalue, expected.null.tolist())
    assert (
        t["null"]
        != calibration_test(
            y, p, measure="ece-confidence", n_draws=99, rng=np.random.default_rng([0, 23])
        ).null.tolist()
    )
    refused = run("calibration-test", *words(files, "P", "DE"), *argv)
    assert (refused.code, refused.out) == (2, "")
    with refuses("resample", "conflict", got="minimised"):
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
    assert ran.err.startswith("--labels: none of the prediction files holds labels")


def test_it_is_listed_among_the_commands(run):
    assert "Test whether a model, or a mixture of its members" in " ".join(run("--help").out.split())


def test_groups_are_accounted_for_or_the_sentence_says_that_they_are_not(files, run):
    np.save(files / "groups.npy", np.arange(60) % 20)
    argv = ["calibration-test", *words(files, "DE", "P"), "--groups", files / "groups.npy", "--measure", "brier"]
    de, p = run(*argv, "--draws", "39", "--json").json()["tests"]
    assert (de["ignores_groups"], p["ignores_groups"], p["null_kind"]) == (True, False, "signs")
    assert ", labels taken as independent)" in de["sentence"]
    assert "independent" not in p["sentence"]
    y, probs = np.load(files / "labels.npy"), uq.load(files / "point.npz")
    rng = np.random.default_rng([0, 26, 0])
    expected = calibration_test(y, probs, measure="brier", groups=np.arange(60) % 20, n_draws=39, rng=rng)
    assert p["pvalue"] == expected.pvalue
    shown = run(*argv, "--resample", "--null", "random", "--draws", "39").out
    assert shown.count(", labels taken as independent") == 2
    assert (
        "Note: labels count as independent, so p-values are too small if those of one group depend on each other"
        in shown
    )
