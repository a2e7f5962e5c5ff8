"""`uqassay inspect` and `uqassay convert`."""

import numpy as np
import pytest

import uqassay as uq


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
    assert "shuffled.npz: has ids and the predictions have none" in refused.err


def test_convert_says_what_a_format_cannot_hold(files, run):
    np.savez(files / "logits.npz", logits=np.random.default_rng(1).normal(size=(20, 3)))
    ran = run("convert", files / "logits.npz", files / "probs.csv")
    assert (ran.code, ran.err) == (0, "")
    assert "probs=(20, 3)" in ran.out.splitlines()[0]
    assert "log_partition" not in ran.out.splitlines()[0]
    assert ran.out.splitlines()[1].startswith("Note: .csv does not hold log-partitions")
    assert uq.load(files / "probs.csv").log_partition is None
    kept = run("convert", files / "logits.npz", files / "again.npz")
    assert "Note" not in kept.out
    assert "log_partition=(20,)" in kept.out
    assert uq.load(files / "again.npz").log_partition is not None


def test_inspect_says_what_is_wrong_with_a_file(files, run):
    np.savez(files / "two.npz", probs=np.full((4, 3), 1 / 3), alpha=np.ones((4, 3)))
    ran = run("inspect", files / "two.npz")
    assert (ran.code, ran.err) == (0, "")
    (problem,) = (line for line in ran.out.splitlines() if line.startswith("problem"))
    assert "found probs, alpha" in problem
    assert "choose one by --kind probs or --kind dirichlet" in problem


TABLE = (
    "patient_id,site,image,age,prob_0,prob_10,prob_1,group,id,label\n"
    "1,n,a,30,.2,.3,.5,x,7,1\n1,n,b,40,.7,.2,.1,x,9,0\n2,s,c,50,.1,.8,.1,y,8,10\n"
)


def test_inspect_shows_what_each_column_is_taken_for(files, run, needs):
    (files / "t.csv").write_text(TABLE)
    found = run("inspect", files / "t.csv", "--json").json()
    assert list(found["columns"].items())[:3] == [("prob_0", "class"), ("prob_1", "class"), ("prob_10", "class")]
    assert {name: role for name, role in found["columns"].items() if role != "class"} == {
        "patient_id": "left out",
        "site": "left out",
        "image": "may identify the rows",
        "age": "left out",
        "group": "group",
        "id": "id",
        "label": "label",
    }
    assert set(found["arrays"]) == {"probs", *TABLE.split("\n")[0].split(",")} - {"prob_0", "prob_1", "prob_10"}
    used = "label as label, id as id, group as group, image may identify the rows"
    said = f"columns left out: patient_id, site, age; used: {used}"
    assert [note["text"] for note in found["notes"]] == [said]
    needs("pyarrow")
    import pandas

    pandas.DataFrame({"cat": [0.5, 0.25], "dog": [0.5, 0.75]}, index=[4, 2]).to_parquet(files / "t.parquet")
    roles = run("inspect", files / "t.parquet", "--json").json()["columns"]
    assert roles == {"cat": "class", "dog": "class", "__index_level_0__": "id"}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_inspect_fits_a_terminal(width, files, run, narrow):
    (files / "t.csv").write_text(TABLE)
    narrow(width)
    lines = run("inspect", files / "t.csv").out.splitlines()
    assert all(len(line.rstrip()) <= width for line in lines)
    shown = " ".join(" ".join(lines).split())
    for part in (
        "columns class: prob_0, prob_1, prob_10",
        "left out: patient_id, site, age",
        "may identify the rows: image",
    ):
        assert part in shown


def test_inspect_says_that_keys_have_no_order(files, run):
    (files / "j.jsonl").write_text('{"probs": {"b": 0.25, "a": 0.75}, "label": "a"}\n')
    assert run("inspect", files / "j.jsonl", "--json").json()["class_order"] == "keys"
    assert "class order the class names are keys of JSON objects, which have no order" in " ".join(
        run("inspect", files / "j.jsonl").out.split()
    )
    assert "class order" not in run("inspect", files / "de.npz").out


def test_inspect_says_what_a_table_without_classes_looks_like(files, run):
    (files / "l.csv").write_text("cat,dog,fox\n3.5,-1.5,2\n0.5,2,-0.5\n")
    ran = run("inspect", files / "l.csv")
    assert ran.code == 0
    assert "these columns look like logits" in " ".join(ran.out.split())
    words = ("--kind", "logits", "--columns", "cat,dog,fox")
    assert " ".join(words) in " ".join(ran.out.split()).replace(
        "if they are, and name those columns that are classes: ", ""
    )
    assert run("inspect", files / "l.csv", *words, "--json").json()["problem"] is None


def test_inspect_refuses_a_file_that_cannot_be_read(files, run):
    (files / "no.jsonl").write_text("not json\n")
    ran = run("inspect", files / "no.jsonl")
    assert (ran.code, ran.out) == (2, "")
    (files / "other.jsonl").write_text('{"a": 1}\n')  # readable, without a prediction
    found = run("inspect", files / "other.jsonl", "--json")
    assert found.code == 0
    assert found.json()["problem"]["parameter"] == "keys"


def test_json_lines(files, run):
    ran = run("convert", files / "de.npz", files / "de.jsonl", "--labels", files / "labels.npy")
    assert (ran.code, ran.err) == (0, "")
    np.testing.assert_allclose(uq.load(files / "de.jsonl").probs, uq.load(files / "de.npz").probs)
    assert run("rank", files / "de.jsonl", "--draws", "10").code == 0
    for command in ("report", "rank", "ood", "calibration-test"):
        assert ".jsonl" in run(command, "--help").out


def test_gaussian_logits_without_the_meaning_of_their_variance(files, run):
    g = np.random.default_rng(2)
    np.savez(files / "old.npz", mean=g.normal(size=(60, 4, 3)), variance=g.random((60, 4, 3)))
    remedy = "pass --variance-is aleatoric or --variance-is epistemic."
    for words in (["convert", "X", files / "new.npz"], ["report", "X"], ["rank", "X"], ["calibration-test", "X"]):
        refused = run(*[files / "old.npz" if word == "X" else word for word in words])
        assert refused.code == 2
        assert refused.err.startswith("old.npz: --variance-is: must be")
        assert refused.err.rstrip().endswith(remedy)
        assert len(refused.err.splitlines()) == 1
    shown = run("inspect", files / "old.npz", "--json").json()
    assert (shown["kind"], shown["problem"]["parameter"]) == (None, "variance_is")
    assert remedy in " ".join(run("inspect", files / "old.npz").out.split())
    converted = run("convert", files / "old.npz", files / "new.npz", "--variance-is", "aleatoric")
    assert (converted.code, converted.err) == (0, "")
    assert "variance_is='aleatoric'" in converted.out
    assert uq.load(files / "new.npz").variance_is == "aleatoric"
    assert run("inspect", files / "new.npz", "--json").json()["variance_is"] == "aleatoric"
    refused = run("convert", files / "new.npz", files / "third.npz", "--variance-is", "epistemic")
    assert refused.err.startswith("new.npz: --variance-is: must not contradict the key variance_is")
    refused = run("convert", files / "de.npz", files / "third.npz", "--variance-is", "epistemic")
    assert refused.err.startswith("de.npz: --variance-is: applies to mean and variance; found probs")
