"""Every bad input is refused with one sentence of its own on standard error and exit code 2."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.cli.python_syntax import PYTHON

GOOD = np.full((4, 3), 1 / 3)
Y = np.array([0, 1, 2, 0])


def spoilt(index, value, base=GOOD):
    array = np.array(base)
    array[index] = value
    return array


def refused(ran):
    """The one sentence of a refusal."""
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert ran.err.endswith("\n")
    assert "Traceback" not in ran.err
    assert "╭" not in ran.err
    python = PYTHON.search(ran.err)
    assert python is None, f"{python[0]!r} is nothing to type in a shell: {ran.err}"
    return ran.err.rstrip("\n")


def assert_matches(sentence, pattern):
    assert re.search(pattern, sentence), f"{sentence!r} does not match {pattern!r}"


PREDICTIONS = {
    "rows that do not sum to 1": ({"probs": spoilt(2, [0.5, 0.5, 0.7])}, r"each row must sum to 1.*row 2 sums to 1\.7"),
    "negative": ({"probs": spoilt(1, [-0.2, 0.6, 0.6])}, r"between 0 and 1; row 1 holds -0\.2"),
    "nan": ({"probs": spoilt((3, 0), np.nan)}, r"must be finite; row 3 holds nan"),
    "inf": ({"probs": spoilt((0, 1), np.inf)}, r"must be finite; row 0 holds inf"),
    "logits as probabilities": (
        {"probs": spoilt(0, [4.0, -2.0, 1.0])},
        r"row 0 holds 4 at .*name the array logits",
    ),
    "lower above upper": (
        {"lower": spoilt((2, 0), 0.6, GOOD - 0.1), "upper": GOOD + 0.1},
        r"lower.*upper.*row 2|row 2.*lower.*upper",
    ),
    "lower sums above 1": ({"lower": spoilt(1, 0.5, GOOD - 0.1), "upper": np.full((4, 3), 0.8)}, r"row 1.*1\.5"),
    "upper sums below 1": ({"lower": np.zeros((4, 3)), "upper": spoilt(3, 0.2, GOOD + 0.1)}, r"row 3.*0\.6"),
    "masses that do not sum to 1": (
        {"masses": spoilt(1, [0.5, 0.5, 0.5]), "focal_sets": np.eye(3, dtype=bool)},
        r"masses.*sum to 1.*row 1.*1\.5",
    ),
    "empty focal set": (
        {"masses": GOOD, "focal_sets": np.array([[1, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)},
        r"focal_sets.*empty",
    ),
    "alpha of zero": ({"alpha": spoilt((2, 1), 0.0, GOOD)}, r"alpha: .*row 2 holds 0 at \[2, 1\]"),
    "one column of probabilities": (
        {"probs": np.array([0.1, 0.9, 0.4, 0.5])},
        r"one column per class; .*that of the other class too\.$",
    ),
    "one class": ({"probs": np.ones((4, 1))}, r"at least two classes"),
    "no instances": ({"probs": np.empty((0, 3))}, r"at least one instance"),
    "no key that is known": ({"prediction": GOOD}, r"found prediction"),
    "two kinds at once": (
        {"probs": GOOD, "alpha": GOOD},
        r"choose one by --kind probs or --kind dirichlet",
    ),
    "object arrays": ({"probs": np.array([[None, 1.0], [1.0, 0.0]], dtype=object)}, r"pickled.*never loaded"),
    "text": ({"probs": np.array([["a", "b"], ["c", "d"]])}, r"real numbers"),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_bad_predictions(name, tmp_path, run):
    arrays, message = PREDICTIONS[name]
    np.savez(tmp_path / "bad.npz", **arrays)
    np.save(tmp_path / "y.npy", Y)
    sentence = refused(run("report", f"m={tmp_path / 'bad.npz'}", "--labels", tmp_path / "y.npy", "--json"))
    assert sentence.startswith("bad.npz: ")
    assert_matches(sentence, message)


LABELS = {
    "above int64": (np.full(4, 2**64 - 1, dtype=np.uint64), r"must be below 2\^63; row 0 holds 18446744073709551615"),
    "out of range": (np.array([0, 1, 3, 0]), r"must lie in 0 … 2; row 2 holds 3; .* --ignore-label 3"),
    "negative": (np.array([0, -1, 2, 0]), r"must lie in 0 … 2; row 1 holds -1; .* --ignore-label -1"),
    "from one": (np.array([1, 2, 3, 1]), r"subtract 1 .*, or pass --class-names 1,2,3"),
    "wrong length": (np.array([0, 1, 2]), r"one label for each of the 4 instances; got 3"),
    "fractions": (np.array([0.0, 1.5, 2.0, 0.0]), r"whole numbers; row 1 holds 1\.5"),
    "nan": (np.array([0.0, 1.0, 2.0, np.nan]), r"whole numbers; row 3 holds nan"),
    "unknown names": (np.array(["cat", "dog", "cat", "cat"]), r"row 0 holds 'cat'"),
    "votes of another number of classes": (np.ones((4, 2)), r"one column for each of the 3 classes; got 2"),
    "no votes": (spoilt(2, 0.0, np.full((4, 3), 5.0)), r"at least one vote; row 2 has none"),
    "votes or counts": (
        np.array([[0, 1, 2], [1, 1, 2], [0, 0, 0], [2, 2, 2]]),
        r"--votes-are counts or --votes-are single",
    ),
}


@pytest.mark.parametrize("name", LABELS)
def test_bad_labels(name, tmp_path, run):
    labels, message = LABELS[name]
    np.savez(tmp_path / "m.npz", probs=GOOD)
    np.save(tmp_path / "y.npy", labels)
    sentence = refused(run("rank", tmp_path / "m.npz", "--labels", tmp_path / "y.npy"))
    assert sentence.startswith("y.npy: ")
    assert "y_true" not in sentence
    assert_matches(sentence, message)


def test_no_labels_anywhere(tmp_path, run):
    np.savez(tmp_path / "m.npz", probs=GOOD)
    assert_matches(refused(run("rank", tmp_path / "m.npz")), r"none of the prediction files holds labels.*--labels")


def test_labels_inside_disagree_with_those_given(tmp_path, run):
    np.savez(tmp_path / "m.npz", probs=GOOD, labels=[0, 1, 1, 1])
    np.save(tmp_path / "y.npy", Y)
    sentence = refused(run("rank", tmp_path / "m.npz", "--labels", tmp_path / "y.npy"))
    assert_matches(
        sentence, r"inside m\.npz differ from y\.npy in 2 of 4 rows; row 2 is class 1 in m\.npz and 2 in y\.npy"
    )
    command = shlex.split(re.search(r"uqassay (convert .*)\.$", sentence)[1].replace("NEW", str(tmp_path / "new")))
    assert run(*command).code == 0
    assert run("rank", tmp_path / "new.npz", "--labels", tmp_path / "y.npy", "--calibration", "none").code == 0


def test_labels_inside_disagree_between_models(tmp_path, run):
    np.savez(tmp_path / "a.npz", probs=GOOD, labels=Y)
    np.savez(tmp_path / "b.npz", probs=GOOD, labels=[0, 1, 2, 1])
    sentence = refused(run("rank", tmp_path / "a.npz", tmp_path / "b.npz"))
    assert_matches(
        sentence, r"inside b\.npz differ from a\.npz in 1 of 4 rows; row 3 is class 1 in b\.npz and 0 in a\.npz"
    )


def test_labels_inside_of_another_length(tmp_path, run):
    np.savez(tmp_path / "m.npz", probs=GOOD, labels=[0, 1, 2, 0, 1])
    np.save(tmp_path / "y.npy", Y)
    sentence = refused(run("rank", tmp_path / "m.npz", "--labels", tmp_path / "y.npy"))
    assert_matches(sentence, r"m\.npz: the labels inside: needs one label for each of the 4 instances; got 5")


MODELS = {
    "other number of classes": (
        ("a=good.npz", "b=two.npz"),
        r"^b: .*same classes; K = 2, and a has K = 3",
    ),
    "other number of instances": (
        ("a=good.npz", "b=long.npz"),
        r"^b: .*same instances; 5 instances, and a has 4",
    ),
    "one name for two kinds": (("a=good.npz", "a=alpha.npz"), r"^a: .*one kind; got Dirichlet, Point"),
    "other names of classes": (
        ("a=named.npz", "b=renamed.npz"),
        r"^b, class_names: .*same class names; 'z', number 3 here, is not in the first model that has names",
    ),
    "the same run twice": (("a=good.npz", "a=./good.npz"), r"given twice as a run of 'a'"),
    "two bare files of one stem": (("good.npz", "other/good.npz"), r"two of them are named 'good'.*NAME="),
    "a bare file and a name": (("good.npz", "good=alpha.npz"), r"two of them are named 'good'"),
    "no name": (("=good.npz",), r"must read NAME=FILE; got '=good.npz'"),
    "no file": (("a=",), r"must read NAME=FILE; got 'a='"),
    "an empty run": (("a=good.npz,",), r"empty file name"),
    "name of a baseline": (("vacuous=good.npz",), r"models: .*baselines of every ranking; got 'vacuous'"),
    "missing file": (("a=nothing.npz",), r"nothing\.npz: path: must lead to a file"),
    "unknown extension": (("a=good.xyz",), r"good\.xyz: extension: must be one of"),
    "pickle": (("a=good.pkl",), r"pickles can run any code and are never loaded"),
    "folder": (("a=other",), r"other: "),
    "truncated file": (("a=cut.npz",), r"cut\.npz: file: cannot be read as \.npz.*damaged, incomplete"),
    "empty file": (("a=empty.npz",), r"must not be empty; it has 0 bytes"),
    "text file under the name of an archive": (("a=fake.npz",), r"fake\.npz: file: cannot be read as \.npz"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    for name in ("good.npz", "other/good.npz", "good.xyz", "good.pkl"):
        with (tmp_path / name).open("wb") as stream:
            np.savez(stream, probs=GOOD)
    np.savez("two.npz", probs=GOOD[:, :2] * 1.5)
    np.savez("long.npz", probs=np.full((5, 3), 1 / 3))
    np.savez("alpha.npz", alpha=GOOD)
    np.savez("named.npz", probs=GOOD, class_names=["x", "y", "w"])
    np.savez("renamed.npz", probs=GOOD, class_names=["x", "y", "z"])
    whole = Path("good.npz").read_bytes()
    Path("cut.npz").write_bytes(whole[: len(whole) // 2])
    Path("empty.npz").touch()
    Path("fake.npz").write_text("probs")
    np.save("y.npy", Y)
    return tmp_path


@pytest.mark.parametrize("name", MODELS)
def test_bad_models(name, folder, run):
    texts, message = MODELS[name]
    assert_matches(refused(run("rank", *texts, "--labels", "y.npy")), message)


@pytest.mark.parametrize("option", ["--groups", "--subgroup", "--focal-sets", "--labels"])
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
def test_truncated_files_of_options(option, kept, folder, run):
    np.save("cut.npy", np.arange(40.0))
    whole = Path("cut.npy").read_bytes()
    Path("cut.npy").write_bytes(whole[: int(kept * len(whole))])
    given = ("--subgroup", "site=cut.npy") if option == "--subgroup" else (option, "cut.npy")
    labels = () if option == "--labels" else ("--labels", "y.npy")
    sentence = refused(run("rank", "a=good.npz", *labels, *given))
    assert sentence.startswith("cut.npy: ")


@pytest.mark.parametrize("option", ["--groups", "--subgroup"])
def test_instances_without_a_group(option, folder, run):
    np.save("g.npy", [0.0, np.nan, 1.0, np.nan])
    given = ("--subgroup", "site=g.npy") if option == "--subgroup" else (option, "g.npy")
    sentence = refused(run("rank", "a=good.npz", "--labels", "y.npy", *given))
    assert_matches(sentence, r"^g\.npy: .*2 of 4 have none, row 1 first")


OPTIONS = {
    "negative λ": (("--tradeoff", "-0.5"), r"--tradeoff: must be a number from 0 to 1e\+100; got -0\.5"),
    "λ that is no number": (("--tradeoff", "0.1,high"), r"--tradeoff: must be a number.*got 'high'"),
    "infinite λ": (("--tradeoff", "inf"), r"--tradeoff: must be a number"),
    "nan as λ": (("--tradeoff", "nan"), r"--tradeoff: must be a number"),
    "no λ": (("--tradeoff", ""), r"--tradeoff: must be a number"),
    "unknown option": (("--lambda", "1"), r"^No such option.*--lambda[^.]*; see uqassay rank --help\.$"),
    "option without its value": (("--level",), r"'--level' requires an argument"),
    "a word for a number": (("--level", "high"), r"Invalid value for '--level'"),
    "level": (("--level", "95"), r"--level: must lie between 0 and 1; got 95"),
    "seed": (("--seed", "-1"), r"Invalid value for '--seed'"),
    "draws": (("--draws", "0"), r"Invalid value for '--draws'"),
    "distance": (("--distance", "l2"), r"--distance: must be one of kl.*got 'l2'"),
    "convention": (("--convention", "papers"), r"--convention: must be exact or paper; got 'papers'"),
    "nonspecificity": (("--nonspecificity", "size"), r"--nonspecificity: must be one of hartley.*got 'size'"),
    "floor": (("--floor", "-1"), r"--floor: must lie in \[0, 1\); got -1"),
    "member axis": (("--member-axis", "7"), r"members.npz: --member-axis: must be 0 or 1; got 7"),
    "groups of another length": (
        ("--groups", "short.npy"),
        r"^short\.npy: groups: needs one value for each of the 4 instances",
    ),
    "missing groups": (("--groups", "nothing.npy"), r"nothing\.npy: path: must lead to a file"),
    "subgroup without a name": (("--subgroup", "short.npy"), r"--subgroup: must read NAME=FILE; got 'short\.npy'"),
    "subgroup of another length": (
        ("--subgroup", "site=short.npy"),
        r"^short\.npy: subgroup 'site': needs one value for each of the 4",
    ),
    "subgroup with a taken name": (("--subgroup", "class=y.npy"), r"--subgroup: names must differ .*; got 'class'"),
    "missing focal sets": (("--focal-sets", "nothing.npy"), r"nothing\.npy: path: must lead to a file"),
    "check without a number": (
        ("--fail-if", "accuracy<high"),
        r"--fail-if: needs a finite number, .* got 'accuracy<high'",
    ),
    "check of an unknown metric": (("--fail-if", "speed<1"), r"--fail-if: 'speed<1' needs a metric.*accuracy"),
    "check of an unknown model": (("--fail-if", "b:accuracy<1"), r"names the model 'b'; the models are a"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_bad_options(name, folder, run):
    np.save("short.npy", [1, 2])
    np.savez("members.npz", probs=np.full((4, 2, 3), 1 / 3))
    options, message = OPTIONS[name]
    assert_matches(refused(run("rank", "a=members.npz", "--labels", "y.npy", "--json", *options)), message)


COMMANDS = {
    "unknown command": (("judge",), r"No such command 'judge'; see uqassay --help"),
    "no models": (("report",), r"Missing argument 'NAME=FILE\.\.\.'; see uqassay report --help"),
    "page over a folder": (("report", "a=good.npz", "-o", "other"), r"other is a folder"),
    "inspect what is missing": (("inspect", "nothing.npz"), r"nothing\.npz: path: must lead to a file"),
    "convert to an unknown format": (("convert", "good.npz", "good.xyz2"), r"good\.xyz2: extension: must be one of"),
    "convert into a missing folder": (("convert", "good.npz", "no/good.npz"), r"folder: no does not exist"),
    "convert with an unknown kind": (
        ("convert", "good.npz", "x.npz", "--kind", "fuzzy"),
        r"kind: must be one of point",
    ),
    "reproduce with an unknown preset": (
        ("reproduce", "unified-tables", "--preset", "gpu"),
        r"--preset: must be 'smoke', 'cpu' or 'paper'; got 'gpu'",
    ),
    "reproduce without a name": (("reproduce",), r"those known are unified-tables"),
    "reproduce what is unknown": (
        ("reproduce", "tables"),
        r"name: must be a protocol; got 'tables'; choose unified-tables",
    ),
    "λ without the first answer": (("tradeoff",), r"--abstention --cost 0\.1, or by --no-abstention"),
    "λ without the second answer": (("tradeoff", "--abstention"), r"--cost 0\.1"),
    "λ with a cost above 1": (("tradeoff", "--abstention", "--cost", "2"), r"between 0 and 1; got 2"),
    "λ with a cost that has no meaning": (("tradeoff", "--no-abstention", "--cost", "0.1"), r"leave it out"),
    "demo in a file": (("demo", "-o", "good.npz"), r"good\.npz is a file"),
    "demo with a negative seed": (("demo", "--seed", "-3"), r"Invalid value for '--seed'"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_commands(name, folder, run):
    argv, message = COMMANDS[name]
    assert_matches(refused(run(*argv)), message)
