"""The option --class-names: names in the order of the columns, typed or from a file."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli import class_names
from uqassay.cli.class_names import read_class_names
from uqassay.errors import FileFormatError

NAMES = ("cat", "dog, small", "λ")


@pytest.mark.parametrize("name", ["names.txt", "names.npy", "names.npz", "names.csv"])
def test_files(tmp_path, name):
    path = tmp_path / name
    match path.suffix:
        case ".npy":
            np.save(path, np.array(NAMES))
        case ".npz":
            np.savez(path, class_names=np.array(NAMES), other=[1])
        case ".csv":
            path.write_text("class_names\n" + "".join(f'"{name}"\n' for name in NAMES), encoding="utf-8")
        case _:
            path.write_text("\ufeff" + "\n".join(NAMES) + "\n\n", encoding="utf-8")
    assert read_class_names(str(path)) == NAMES


def test_typed():
    assert read_class_names(" a,b , c") == ("a", "b", "c")
    assert read_class_names("a") == ("a",)


def test_bad_files(tmp_path, monkeypatch):
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    with refuses("class_names", "encoding", got="byte 0", source="latin.txt", error=FileFormatError):
        read_class_names(str(tmp_path / "latin.txt"))
    (tmp_path / "long.txt").write_text("a" * 101)
    monkeypatch.setattr(class_names, "MOST_BYTES", 100)
    with refuses("class_names", "size", got="101 bytes", source="long.txt", error=FileFormatError):
        read_class_names(str(tmp_path / "long.txt"))


def test_names_reach_the_report_and_labels_go_by_them(files, run):
    y = np.load(files / "labels.npy")
    np.save(files / "words.npy", np.array(["low", "mid", "high"])[y])
    (files / "names.txt").write_text("low\nmid\nhigh\n")
    argv = ("report", files / "de.npz", "--draws", "10", "--json", "--calibration", "none")
    by_names = run(*argv, "--labels", files / "words.npy", "--class-names", files / "names.txt")
    by_index = run(*argv, "--labels", files / "labels.npy", "--class-names", "low,mid,high")
    assert (by_names.code, by_names.err) == (0, "")
    assert by_names.json()["findings"] == by_index.json()["findings"]
    expected = uq.assay(
        {"de": uq.load(files / "de.npz")}, y, class_names=["low", "mid", "high"], n_draws=10, calibration=()
    )
    assert by_names.json()["verdict"] == list(expected.verdict())


@pytest.mark.parametrize(("names", "message"), [("a,b", "got 2"), ("a,b,a", "'a' occurs twice")])
def test_names_that_do_not_fit_are_refused(names, message, files, run):
    ran = run("rank", files / "de.npz", "--labels", files / "labels.npy", "--class-names", names)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
    assert "--class-names" in ran.err
