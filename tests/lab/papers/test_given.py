"""Files of the user in place of a data set's own."""

from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers.given import coded_labels, given_files, labels_of_rows


def test_the_name_of_given_files(tmp_path):
    folder = tmp_path / "my_jpeg"
    folder.mkdir()
    plain, named = given_files(folder, ["cifar-10"]), given_files(str(folder), ["cifar-10"], name="A copy")
    assert plain.source == named.source == f"npz:{folder}"
    assert (plain.shown("cifar-10"), named.shown("cifar-10")) == ("cifar-10 from my_jpeg", "A copy")
    assert plain.label("cifar-10") == named.label("cifar-10") == "cifar-10 from my_jpeg"
    assert given_files(None, []) is None


def test_a_relative_folder_has_the_name_of_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert given_files(Path("."), ["cifar-10"]).label("cifar-10") == f"cifar-10 from {tmp_path.name}"


@pytest.mark.parametrize("part", ["train", "test"])
def test_one_part_alone_is_refused(part, tmp_path):
    np.savez(tmp_path / f"{part}.npz", X=np.zeros((4, 2)), y=[0, 1, 0, 1])
    with refuses("data", "missing", got=f"{part}.npz alone"):
        given_files(tmp_path, ["cifar-10"])


@pytest.mark.parametrize(
    ("data", "datasets", "name", "parameter", "code"),
    [
        ("nowhere", ["cifar-10"], None, "data", "missing"),
        (".", ["cifar-10", "mnist"], None, "data", "conflict"),
        (".", [], None, "data", "conflict"),
        (None, ["cifar-10"], "A copy", "data_name", "conflict"),
        (".", ["cifar-10"], " ", "data_name", "type"),
        (".", ["cifar-10"], "a/b", "data_name", "type"),
        (".", ["cifar-10"], 3, "data_name", "type"),
    ],
)
def test_bad_options_are_refused(data, datasets, name, parameter, code):
    with refuses(parameter, code):
        given_files(data, datasets, name=name)


# -- Labels of any kind as class indices.


def test_codes_of_several_parts_against_a_plain_search():
    parts = {"y": np.array(["b", "c", "b"]), "y_test": np.array(["a"])}
    names, codes = coded_labels(parts)
    assert [names[k] for k in codes] == ["b", "c", "b", "a"]
    assert names == ("a", "b", "c")
    names, codes = coded_labels({"y": np.array([10, 2, 10])})
    assert (names, codes.tolist()) == (("2", "10"), [1, 0, 1])


def test_refusals():
    with refuses("y", "shape", got=r"\(3, 1\) for 3 rows"):
        labels_of_rows([[0], [1], [0]], 3)
    with refuses("y", "shape", got=r"\(2,\) for 3 rows"):
        labels_of_rows([0, 1], 3)
    with refuses("y_test", "shape", got=r"\(\)"):
        coded_labels({"y": np.array([0, 1]), "y_test": np.array(3)})
    with refuses("y", "missing", got="row 1"):
        coded_labels({"y": np.array([0.0, np.nan])})
    with refuses("y", "missing", got="row 0"):
        coded_labels({"y": np.array([None, "a"], dtype=object)})
    with refuses("y", "type", got="int and str"):
        coded_labels({"y": np.array([1, "a"], dtype=object)})
