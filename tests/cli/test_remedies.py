"""Errors and notes in the words of the command line, by their fields."""

import csv
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.cli.python_syntax import PYTHON
from tests.refusals import refuses

from uqassay.cli.commands import COMMANDS, load_command
from uqassay.cli.errors import NOTES, OPTIONS, WORDINGS, about_files, in_options, note_text, option_of
from uqassay.errors import FileFormatError, InputError
from uqassay.notes import Note

# Facts as the library gives them, for entries that need some.
FACTS = {
    "kinds": ("probs", "dirichlet"),
    "n_draws": 10,
    "smallest": 1 / 11,
    "offset": 0.001,
    "needed": 19,
    "null": "minimised",
    "look": "counts",
    "bare": True,
    "dtype": "<U1",
    "class_names": ("cat", "dog"),
    "columns": ("cat", "dog"),
    "ignorable": -1,
    "votes_are": ("counts", "single"),
}


@pytest.mark.parametrize("command", sorted(OPTIONS))
def test_every_option_of_the_table_is_one_of_the_command(command):
    names = [command] if command else COMMANDS
    known = {option for name in names for p in load_command(name).params for option in p.opts}
    known |= {f"--{option.removeprefix('--no-')}" for option in known}
    common = set(OPTIONS[""].values())
    for parameter, option in OPTIONS[command].items():
        if option.startswith("--") and (not command or option not in common):
            assert option in known, f"{parameter} of {command or 'all'}: no option {option}"


@pytest.mark.parametrize("key", WORDINGS, ids=str)
@pytest.mark.parametrize("facts", [{}, FACTS], ids=["no facts", "facts"])
@pytest.mark.parametrize("command", ["rank", "convert"])
def test_no_wording_talks_python(key, facts, command):
    parameter, code = ("probs", key) if isinstance(key, str) else key
    problem = InputError(parameter, "rule", "got this", "pass normalise=True", code=code, facts=facts)
    worded = in_options(problem, command)
    said = f"{worded.rule}; {worded.got}"
    assert not PYTHON.search(said), said
    if not (facts == {} and worded.remedy == problem.remedy):  # an entry that needs facts leaves the library's remedy
        assert not PYTHON.search(worded.remedy), worded.remedy
    assert worded.remedy
    assert worded.code == code


def test_options_stand_for_parameters_where_no_file_is_meant():
    problem = InputError("n_draws", "must be at least 1", "got 0", "99 is usual", code="other")
    assert str(in_options(problem, "rank")) == "--draws: must be at least 1; got 0; 99 is usual."
    inside = problem.replace(parameter="groups", source="a.npz")
    assert in_options(inside, "rank").parameter == "groups"
    assert in_options(inside.replace(parameter="member_axis"), "rank").parameter == "--member-axis"
    assert option_of("outside", "ood") == "--out"
    assert option_of("outside", "rank") == "outside"


@pytest.mark.parametrize(
    ("parameter", "command", "said"),
    [
        ("models['snn']", "rank", "snn"),
        ("models['snn'].class_names", "rank", "snn, class_names"),
        ("models['X'][1].probs", "report", "X, run 2, probs"),
        (f"models[{'it' + chr(39) + 's [0]'!r}]", "rank", "it's [0]"),
        (f"models[{'a' + chr(10) + chr(34) + chr(39)!r}].probs", "rank", "a\n\"', probs"),
        ("inside['X']", "ood", "X"),
        ("outside['X'][0].ids", "ood", "--out X, run 1, ids"),
        ("subgroups['site']", "rank", "--subgroup site"),
        ("array[0]", "rank", "array[0]"),
    ],
)
def test_models_are_named_as_in_a_shell(parameter, command, said):
    for source in ("", "a.npz"):
        problem = in_options(InputError(parameter, "rule", source=source, code="other"), command)
        assert (problem.parameter, problem.source) == (said, source)


def test_wordings_by_parameter_go_before_those_by_code():
    masses = InputError("masses", "rule", code="sum", facts={"look": "counts"})
    assert "beliefs" in in_options(masses).remedy
    assert "--normalise" in in_options(masses.replace(parameter="probs")).remedy
    assert "--normalise" not in in_options(masses.replace(parameter="probs", facts={"look": "logits"})).remedy


def test_kinds_are_options_of_every_command_that_reads():
    problem = InputError("keys", "rule", code="ambiguous", facts={"kinds": ("probs", "dirichlet")})
    for command in ("convert", "inspect", "rank"):
        assert in_options(problem, command).remedy == "choose one by --kind probs or --kind dirichlet"


def test_levels_that_draws_cannot_reach():
    facts = {"n_draws": 10, "smallest": 1 / 11, "offset": 0.0, "needed": 19}
    problem = InputError("alpha", "rule n_draws=10", "got 0.05", "pass n_draws=19", code="needs-draws", facts=facts)
    assert str(in_options(problem, "calibration-test")) == (
        "--alpha: the smallest p-value that --draws 10 can reach is 0.09091; got 0.05; pass --draws 19 or more."
    )
    of_file = InputError(
        "alpha", "must be positive", "row 2 holds 0", "give evidence + 1", code="range", source="a.npz"
    )
    assert str(in_options(of_file, "rank")) == "a.npz: alpha: must be positive; row 2 holds 0; give evidence + 1."


def test_what_has_no_entry_stays_as_it_is():
    problem = FileFormatError("size", "is odd", "got 3", "write it again", code="nothing", source="a.npz")
    same = in_options(problem, "rank")
    assert (type(same), str(same)) == (FileFormatError, str(problem))


def test_notes_have_options_and_those_without_entry_keep_their_text():
    facts = {"members": {"DE": 5, "EDL": 100}, "common_members": 5}
    note = Note("different-numbers-of-members", "compare with common_members=5.", facts)
    assert "(DE 5, EDL 100)" in note_text(note)
    assert note_text(note).endswith("compare with --common-members 5.")
    assert note_text(Note("groups", "12 groups")) == "12 groups"
    assert all(not re.search(r"\w=\w", note_text(Note(code, "text", facts))) for code in NOTES)


def test_files_are_the_source_of_errors_about_what_was_read_from_them():
    files = {"y_true": Path("x/y.npy"), "groups": None, "probs": Path("p.npz")}
    with refuses("", "range", source="y.npy"), about_files(files, {"y_true": ""}):
        raise InputError("y_true", "must lie in 0 … 2", code="range")
    with refuses("groups", "shape", source=""), about_files(files):
        raise InputError("groups", "needs one value each", code="shape")
    with refuses("probs", "sum", source="other.npz"), about_files(files):
        raise InputError("probs", "must sum to 1", code="sum", source="other.npz")


@pytest.mark.parametrize(
    ("columns", "example"),
    [
        (("a:b", "it's"), """'y.csv:it'"'"'s'"""),
        (("\u202e", "x"), "y.csv:x"),
    ],
)
def test_the_column_of_a_remedy_can_be_typed(columns, example, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text("proba_no,proba_yes\n0.9,0.1\n0.2,0.8\n", encoding="utf-8")
    with Path("y.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([columns, ["", "no"], ["", "yes"]])
    ran = run("rank", "m.csv", "--labels", "y.csv", "--calibration", "none")
    assert ran.code == 2
    assert f"such as {example}." in ran.err
    (typed,) = shlex.split(example)
    assert run("rank", "m.csv", "--labels", typed, "--calibration", "none").code == 0


def test_no_column_is_named_where_none_can_be_typed():
    problem = InputError(
        "labels", "rule", code="missing", facts={"file": "y.csv", "found": ("", "a:b", " ", "c\u200b")}
    )
    assert "y.csv" not in in_options(problem, "rank").remedy


@pytest.mark.parametrize(
    ("found", "example"),
    [
        (("a", "b"), "a,b"),
        (("my cat", "b"), "'my cat,b'"),
        (("", "b"), "A,B,C"),
        ((" a", "b"), "A,B,C"),
        (("a,b", "c"), "A,B,C"),
    ],
)
def test_class_names_of_a_remedy_are_those_of_the_columns_where_they_can_be_typed(found, example):
    problem = InputError("y_true", "rule", code="class-names", facts={"found": found, "named": False})
    assert in_options(problem, "rank").remedy.endswith(f" --class-names {example}")


def test_names_in_notes_are_quoted_where_they_could_be_misread():
    note = Note("different-numbers-of-members", "", {"members": {"a, b": 5, "": 100}, "common_members": 5})
    assert "('a, b' 5, '' 100)" in note_text(note)


# -- remedies that are obeyed -------------------------------------------------------------------------------------------

N = 30
Y = np.arange(N) % 3
P = (
    np.random.default_rng(0).dirichlet(np.ones(3), N) * 0.3 + 0.7 * np.eye(3)[(Y + (np.arange(N) < 6)) % 3]
)  # 24 are right
WORDS = np.array(["cat", "dog", "my fox"])


def csv_of(path, columns):
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def by_class(values, names=("x", "y", "z")):
    return {name: values[:, k].tolist() for k, name in enumerate(names)}


def json_lines(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


STATED = (
    "--class-names with",
    "--class-names a,b,c with",
)  # the order is the user's to state: one shown would be copied


def keys_without_order():
    json_lines("m.jsonl", [{"probs": dict(zip("cab", p[[2, 0, 1]].tolist(), strict=True))} for p in P])
    np.save("y.npy", Y)
    return ["m.jsonl", "--labels", "y.npy"], STATED


def two_orders():
    np.savez("m.npz", probs=P, class_names=list("abc"))
    np.savez("k.npz", probs=P[:, [2, 0, 1]], class_names=list("cab"))
    np.save("y.npy", Y)
    return ["m.npz", "k.npz", "--labels", "y.npy"], None


def one_model_without_names():
    np.savez("m.npz", probs=P, class_names=list("abc"))
    np.savez("k.npz", probs=P)
    np.save("y.npy", Y)
    return ["m.npz", "k.npz", "--labels", "y.npy"], STATED


def other_class_names():
    np.savez("m.npz", probs=P, class_names=list("abc"))
    np.save("y.npy", Y)
    return ["m.npz", "--labels", "y.npy", "--class-names", "k,l,m"], ("--class-names a,b,c", "--class-names a,b,c")


def labels_from_one():
    np.save("m.npy", P)
    np.save("y.npy", Y + 1)
    return ["m.npy", "--labels", "y.npy"], None


def an_ignored_label():
    np.save("m.npy", np.concatenate([P, P[:2]]))
    np.save("y.npy", np.concatenate([Y, [-100, -100]]))
    return ["m.npy", "--labels", "y.npy"], None


def an_ignored_name():
    """Of labels inside the file."""
    columns = by_class(np.concatenate([P, P[:2]]), ("cat", "dog", "fox"))
    csv_of("m.csv", columns | {"label": [*np.array(["cat", "dog", "fox"])[Y].tolist(), "no one", "no one"]})
    return ["m.csv"], None


def logits_in_a_table():
    csv_of("m.csv", by_class(3 + np.log(P), ("u", "v", "w")))
    np.save("y.npy", Y)
    return ["m.csv", "--labels", "y.npy"], None


def logits_in_named_columns():
    csv_of("m.csv", by_class(3 + np.log(P), ("proba_0", "proba_1", "proba_2")))
    np.save("y.npy", Y)
    return ["m.csv", "--labels", "y.npy"], None


def counts_in_a_table():
    csv_of("m.csv", by_class(np.random.default_rng(1).multinomial(40, P) * 2 + 1, ("u", "v", "w")))
    np.save("y.npy", Y)
    return ["m.csv", "--labels", "y.npy"], None


def keys_in_two_orders():
    csv_of(
        "m.csv",
        by_class(P, ("proba_0", "proba_1", "proba_2")) | {"case": [f"q{i}" for i in range(N)], "slot": range(N)},
    )
    csv_of("y.csv", {"case": [f"q{i}" for i in range(N)][::-1], "slot": range(N), "label": Y[::-1].tolist()})
    return ["m.csv", "--labels", "y.csv"], ("--id case or --id slot", "--id case")


def a_table_of_votes():
    np.save("m.npy", P)
    np.save("y.npy", np.stack([Y, Y, (Y + np.arange(N) % 2) % 3], axis=1))
    return ["m.npy", "--labels", "y.npy"], ("--votes-are counts or --votes-are single", "--votes-are single")


def two_kinds():
    np.savez("m.npz", probs=P, alpha=1 + 9 * P)
    np.save("y.npy", Y)
    return ["m.npz", "--labels", "y.npy"], ("--kind probs or --kind dirichlet", "--kind probs")


def a_model_without_some_answers():
    ids = [f"q{i}" for i in range(N)]
    np.savez("m.npz", probs=P, ids=ids, labels=Y)
    np.savez("k.npz", probs=P[:20], ids=ids[:20])
    return ["m.npz", "k.npz"], None


def other_ids():
    ids = [f"q{i}" for i in range(N)]
    np.savez("m.npz", probs=P, ids=ids, labels=Y)
    np.savez("k.npz", probs=P, ids=[*ids[:-1], "r"])
    return ["m.npz", "k.npz"], None


CASES = [
    (keys_without_order, 0.8),
    (one_model_without_names, 0.8),
    (other_class_names, 0.8),
    (labels_from_one, 0.8),
    (an_ignored_label, 0.8),
    (an_ignored_name, 0.8),
    (logits_in_a_table, 0.8),
    (logits_in_named_columns, 0.8),
    (counts_in_a_table, 0.8),
    (keys_in_two_orders, 0.8),
    (two_kinds, 0.8),
    (a_table_of_votes, None),
    (a_model_without_some_answers, 14 / 20),
    (other_ids, 23 / 29),
]
OPTION = r"(--[a-z][a-z-]+(?: (?:'[^']*'|[^\s;.,']+(?:,[^\s;.,']+)*))?)"


@pytest.mark.parametrize(("case", "accuracy"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_remedy_that_is_obeyed_gives_the_right_number(case, accuracy, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    argv, replaced = case()
    shown = ["--calibration", "none", "--draws", "5", "--json"]
    refused = run("report", *argv, *shown)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    remedy = refused.err.rpartition("; ")[2].rstrip(".\n")
    assert not PYTHON.search(refused.err), refused.err
    if replaced is not None:
        assert replaced[0] in remedy
        remedy = remedy.replace(*replaced)
    options = list(dict.fromkeys(re.findall(OPTION, remedy.replace("leave --class-names out", ""))))
    flags = ("--common-instances", "--normalise")
    option = " ".join(one.split(" ")[0] if one.split(" ")[0] in flags else one for one in options)
    words = [word for word in argv if word not in ("--class-names", "k,l,m")]
    found = run("report", *words, *shlex.split(option), *shown)
    assert found.code == 0, (option, found.err)
    if accuracy is not None:
        rows = [row for row in found.json()["findings"] if row["metric"] == "accuracy" and row["model"] == "m"]
        assert rows[0]["estimate"] == pytest.approx(accuracy)


def test_classes_in_two_orders_are_stated_or_named(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    argv, _ = two_orders()
    refused = run("rank", *argv)
    assert (refused.code, "--class-names with these names, that of class 0 first" in refused.err) == (2, True)
    accuracies = []
    np.save("words.npy", np.array(list("abc"))[Y])
    for words in ([*argv, "--class-names", "a,b,c"], [*argv[:2], "--labels", "words.npy"]):
        found = run("report", *words, "--calibration", "none", "--draws", "5", "--json")
        assert found.code == 0, found.err
        accuracies += [row["estimate"] for row in found.json()["findings"] if row["metric"] == "accuracy"][:2]
    assert accuracies == [0.8] * 4


def test_the_columns_of_a_remedy_are_quoted_for_the_shell(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    csv_of("m.csv", by_class(P, ("new a", "new b", "new c")) | by_class(P[::-1], ("old a", "old b", "old c")))
    refused = run("rank", "m.csv")
    assert refused.code == 2
    option = re.search(r"--columns '[^']*'", refused.err)[0]
    assert shlex.split(option) == ["--columns", "new a,new b,new c,old a,old b,old c"]
    assert run("convert", "m.csv", "m.npz", *shlex.split(option.replace(",old a,old b,old c", ""))).code == 0


def test_labels_that_no_class_is_called_are_told_the_names_once(tmp_path, monkeypatch, run):
    """No circle: --class-names is advised where the classes have no names, and not where they have others."""
    monkeypatch.chdir(tmp_path)
    np.save("y.npy", WORDS[Y])
    np.save("m.npy", P)
    refused = run("rank", "m.npy", "--labels", "y.npy", "--calibration", "none")
    option = re.search(r"--class-names '[^']*'", refused.err)[0]
    assert run("rank", "m.npy", "--labels", "y.npy", "--calibration", "none", *shlex.split(option)).code == 0
    np.savez("named.npz", probs=P, class_names=list("abc"))
    refused = run("rank", "named.npz", "--labels", "y.npy")
    assert refused.code == 2
    assert "--class-names" not in refused.err


def test_ids_in_the_labels_alone_can_be_taken_out(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    np.save("m.npy", P)
    np.savez("y.npz", labels=Y[::-1], ids=[f"q{i}" for i in range(N)][::-1])
    refused = run("rank", "m.npy", "--labels", "y.npz")
    assert (refused.code, "put the ids into the file of predictions too" in refused.err) == (2, True)
    np.savez("m.npz", probs=P, ids=[f"q{i}" for i in range(N)])
    found = run("report", "m.npz", "--labels", "y.npz", "--calibration", "none", "--draws", "5", "--json").json()
    assert next(row["estimate"] for row in found["findings"] if row["metric"] == "accuracy") == 0.8
    csv_of(
        "y.csv", {"image": [f"q{i}" for i in range(N)][::-1], "label": Y[::-1].tolist()}
    )  # the ids under another name
    found = run("report", "m.npz", "--labels", "y.csv", "--calibration", "none", "--draws", "5", "--json").json()
    assert next(row["estimate"] for row in found["findings"] if row["metric"] == "accuracy") == 0.8
