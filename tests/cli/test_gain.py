"""`uqassay gain`: the numbers are the library's, and what does not fit is refused in one sentence."""

import numpy as np
import pytest
from tests.evidence.gain_data import made_study

import uqassay as uq
from uqassay.evidence import GainStudy, sample_of_pair
from uqassay.evidence.gain import GAIN_TABLES

QUICK = ("--score", "entropy", "--bins", "5")


@pytest.fixture
def pair(files):
    """before.npz (five members) and after.npz beside the other files, for the same sixty instances; the same as before2 …"""
    y = np.load(files / "labels.npy")
    rng = np.random.default_rng(3)
    for tag in ("", "2"):
        after = 0.6 * np.eye(3)[y] + 0.4 * rng.dirichlet([1.0, 1.0, 1.0], len(y))
        np.savez(files / f"after{tag}.npz", probs=after)
        np.savez(files / f"before{tag}.npz", probs=rng.dirichlet([1.0, 1.0, 1.0], (len(y), 5)))
    return files


def words(folder, *, labels=True, calibration=False):
    said = [folder / "before.npz", folder / "after.npz"]
    said += ["--labels", folder / "labels.npy"] if labels else []
    more = [
        "--calibration",
        folder / "before2.npz",
        folder / "after2.npz",
        "--calibration-labels",
        folder / "labels.npy",
    ]
    return [*said, *(more if calibration else ())]


def test_json_is_that_of_the_library(pair, run):
    ran = run("gain", *words(pair), *QUICK, "--loss", "zero-one,brier", "--level", "0.9", "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert found["schema"] == "uqassay.gain/1"
    assert found["options"] == {"bins": 5, "binning": "equal-mass", "level": 0.9, "cross_fit": 5}
    assert [(row["score"], row["loss"]) for row in found["scores"]] == [("entropy", "zero-one"), ("entropy", "brier")]
    sample = sample_of_pair(
        np.load(pair / "labels.npy"), uq.load(pair / "before.npz"), uq.load(pair / "after.npz"), scores=["entropy"]
    )
    expected = uq.metrics.epistemic_calibration_error(
        sample.gain["zero-one"], sample.epistemic["entropy"], bins=5, level=0.9
    )
    assert found["scores"][0]["error"] == pytest.approx(float(expected.error))
    assert found["runs"][0]["raw_pvalue"] == expected.pvalue
    assert set(GAIN_TABLES) <= set(found)
    assert "ρ = " in found["sentences"][0]["sentences"][0]


def test_table_sentences_and_page(pair, run):
    ran = run("gain", *words(pair, calibration=True), *QUICK, "--name", "my <model>", "-o", pair / "page.html")
    assert (ran.code, ran.err) == (0, "")
    assert "my <model>, entropy" in ran.out
    assert "The mapped estimates are" in ran.out
    assert f"Page: {pair / 'page.html'}" in ran.out
    assert "my &lt;model&gt;" in (pair / "page.html").read_text(encoding="utf-8")
    assert "No map was fitted" in run("gain", *words(pair), *QUICK, "--cross-fit", "0").out
    crossed = run("gain", *words(pair), *QUICK, "--cross-fit", "4", "-o", pair / "page.html").out
    assert "map γ (cross-fitted in 4 folds)" in crossed
    assert "cross-fitted in 4 folds" in (pair / "page.html").read_text(encoding="utf-8")


def test_scores_by_default_and_by_name(pair, run):
    rows = run("gain", *words(pair), "--bins", "5", "--json").json()["scores"]
    assert [row["score"] for row in rows] == ["mutual-information", "entropy"]
    chosen = ("--score", "margin, entropy", "--score", "margin")
    rows = run("gain", *words(pair), *chosen, "--bins", "5", "--json").json()["scores"]
    assert [row["score"] for row in rows] == ["margin", "entropy"]


def test_groups_and_ids(pair, run):
    np.save(pair / "groups.npy", np.arange(60) // 3)
    grouped = run("gain", *words(pair), *QUICK, "--groups", pair / "groups.npy", "--json").json()["scores"][0]
    plain = run("gain", *words(pair), *QUICK, "--json").json()["scores"][0]
    assert grouped["correlation"] == plain["correlation"]
    assert grouped["correlation_low"] != plain["correlation_low"]
    order = np.random.default_rng(0).permutation(60)
    before, after = (np.load(pair / f"{side}.npz")["probs"] for side in ("before", "after"))
    np.savez(pair / "before.npz", probs=before, ids=np.arange(60), labels=np.load(pair / "labels.npy"))
    np.savez(pair / "after.npz", probs=after[order], ids=order)
    moved = run("gain", *words(pair, labels=False), *QUICK, "--json").json()["scores"][0]
    assert moved.pop("notes") == plain.pop("notes")
    for name, value in plain.items():  # another order of the sums
        assert moved[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), name


def test_studies_are_saved_and_shown_again(pair, run):
    ran = run("gain", *words(pair, calibration=True), *QUICK, "--save", pair / "study", "--json")
    assert GainStudy.load(pair / "study").runs[0].calibration is not None
    assert run("gain", pair / "study", "--bins", "5", "--json").json() == ran.json()
    made_study("calibrated", "other", n_runs=2, n=60).save(pair / "other")
    out = run("gain", pair / "study", pair / "other", "--bins", "5").out
    assert "before, entropy" in out
    assert "other, mutual-information" in out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["before.npz"], "files: must be two files"),
        (["before.npz", "after.npz", "de.npz"], "got 3 paths"),
        (["before.npz", "before.npz"], "is given twice"),
        (["before.npz", "after.npz"], "--labels: none of the prediction files holds labels"),
        (["before.npz", "none.npz", "--labels", "labels.npy"], "none.npz: path: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--score", "nonsense"], "--score: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--loss", "hinge"], "--loss: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--binning", "x"], "--binning: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--bins", "40000"], "--bins: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--level", "95"], "--level: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--cross-fit", "1"], "--cross-fit: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "-o", "x.txt"], "--output: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "-o", "before.npz"], "--output: "),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--save", "mine"], "--save: "),
        (
            ["before.npz", "after.npz", "--labels", "labels.npy", "--calibration-labels", "labels.npy"],
            "--calibration BEFORE",
        ),
        (
            ["before.npz", "after.npz", "--labels", "labels.npy", "--calibration", "before2.npz", "after2.npz"],
            "--calibration-labels: none of",
        ),
        (["short.npz", "after.npz", "--labels", "labels.npy"], "59"),
        (
            [
                *("before.npz", "after.npz", "--labels", "labels.npy", "--calibration", "short.npz", "after2.npz"),
                *("--calibration-labels", "labels.npy"),
            ],
            "59",
        ),
        (["before.npz", "after.npz", "--labels", "votes.npy"], "one label for each instance"),
        (["study", "before.npz"], "before.npz is not the folder of a study"),
        (["study", "--labels", "labels.npy"], "--labels: is for prediction files"),
        (["study", "study"], "occurs twice"),
        (["study", "--normalise"], "--normalise: is for prediction files"),
        (["study", "--member-axis", "0"], "--member-axis: is for prediction files"),
        (["mine"], "mine is a folder without a study"),
        (["mine", "after.npz", "--labels", "labels.npy"], "mine is a folder without a study"),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--score", "etropy"], "the closest is entropy"),
        (["before.npz", "after.npz", "--labels", "labels.npy", "--fail-if", "eece"], "'eece@entropy>0.1'"),
        (["study", "--fail-if", "made up:eece@entropy>x"], "'eece@entropy>0.1'"),
        (["before.npz", "after.npz", "--labels", "words.npy"], "--class-names"),
    ],
)
def test_refusals(pair, run, monkeypatch, argv, said):
    monkeypatch.chdir(pair)
    (pair / "mine").mkdir()
    made_study(n_runs=1, n=20).save(pair / "study")
    np.savez("short.npz", probs=np.load("before.npz")["probs"][:59])
    np.save("words.npy", np.array(["cat", "dog", "eel"])[np.load("labels.npy")])
    np.save("votes.npy", 5 * np.eye(3)[np.load("labels.npy")])
    ran = run("gain", *argv)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


OWN = ("--labels", "labels.npy", "--calibration-labels", "labels.npy", *QUICK, "--json")


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (["before2.npz", "before2.npz"], "before2.npz is given twice"),
        (["before.npz", "after.npz"], "before.npz is also a file of the test cases"),
        (["before2.npz", "./after.npz"], "after.npz is also a file of the test cases"),
        (["copy.npz", "copy2.npz"], "all gains and estimates are those of the test cases"),
        (["two.npz", "two2.npz"], "must have the 3 classes of the test predictions"),
        (["named.npz", "named2.npz"], "must have the class names of the test predictions"),
        (["named.npz", "after2.npz"], "--calibration, after: must name the classes"),
    ],
)
def test_calibration_instances_are_others_of_the_same_problem(pair, run, monkeypatch, own, said):
    monkeypatch.chdir(pair)
    labels = np.load("labels.npy")
    for name, target in (("before", "copy"), ("after", "copy2")):
        np.savez(f"{target}.npz", probs=np.load(f"{name}.npz")["probs"])
    for name in ("two", "two2"):
        np.savez(f"{name}.npz", probs=np.random.default_rng(0).dirichlet([1, 1], (len(labels), 2)))
    for name, target in (("before2", "named"), ("after2", "named2")):
        np.savez(f"{target}.npz", probs=np.load(f"{name}.npz")["probs"], class_names=["a", "b", "e"])
    for name, target in (("before", "named0"), ("after", "named1")):
        np.savez(f"{target}.npz", probs=np.load(f"{name}.npz")["probs"], class_names=["a", "b", "c"])
    np.save("few.npy", labels % 2)
    test = ("named0.npz", "named1.npz") if "named.npz" in own else ("before.npz", "after.npz")
    of = [word if word != "labels.npy" or own[0] != "two.npz" else "few.npy" for word in OWN[2:]]
    ran = run("gain", *test, "--calibration", *own, *OWN[:2], *of)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_shared_ids_are_told(pair, run, monkeypatch):
    monkeypatch.chdir(pair)
    ids = np.arange(60)
    for name, own in (("before", ids), ("after", ids), ("before2", ids + 50), ("after2", ids + 50)):
        np.savez(f"{name}.npz", probs=np.load(f"{name}.npz")["probs"], ids=own)
    np.savez("labels.npz", labels=np.load("labels.npy"), ids=ids)
    np.savez("labels2.npz", labels=np.load("labels.npy"), ids=ids + 50)
    ran = run(
        *("gain", "before.npz", "after.npz", "--labels", "labels.npz", *QUICK),
        *("--calibration", "before2.npz", "after2.npz", "--calibration-labels", "labels2.npz"),
    )
    assert "10 of 60 calibration cases with the id of a test case" in ran.out + ran.err


def test_class_names_for_labels_in_words(pair, run):
    labels = np.load(pair / "labels.npy")
    np.save(pair / "words.npy", np.array(["cat", "dog", "eel"])[labels])
    more = ("--class-names", "cat,dog,eel", *QUICK, "--json")
    found = run("gain", pair / "before.npz", pair / "after.npz", "--labels", pair / "words.npy", *more)
    assert found.code == 0, found.err
    assert found.json()["scores"] == run("gain", *words(pair), *QUICK, "--json").json()["scores"]


@pytest.mark.parametrize(("named", "bare"), [("before", "after"), ("after", "before")])
def test_class_names_of_one_file_need_those_of_the_other(pair, run, named, bare):
    np.savez(pair / f"{named}.npz", probs=np.load(pair / f"{named}.npz")["probs"], class_names=["cat", "dog", "eel"])
    refused = run("gain", *words(pair), *QUICK)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        f"{bare}: must name the classes if the other prediction does, because its columns may be in another order; got none, "
        "and the other has cat, dog and eel; pass --class-names with the names in the order of its columns, or name the "
        "classes of both.\n"
    )
    found = run("gain", *words(pair), *QUICK, "--json", "--class-names", "cat,dog,eel")
    assert found.code == 0, found.err
    turned = run("gain", *words(pair), *QUICK, "--json", "--class-names", "dog,cat,eel")
    assert turned.json()["scores"] != found.json()["scores"]


def test_models_in_the_wrong_order_are_told(pair, run):
    files = (pair / "after.npz", pair / "before.npz", "--labels", pair / "labels.npy")
    assert "the first file must be the model without more data" in run("gain", *files, *QUICK, "--json").err
    assert "first file" not in run("gain", *words(pair), *QUICK, "--json").err
