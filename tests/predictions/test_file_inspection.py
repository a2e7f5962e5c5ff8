"""inspect_file and file_hash."""

import hashlib
import json

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import rows

import uqassay as uq
from uqassay.errors import FileFormatError, InputError
from uqassay.notes import Note
from uqassay.predictions import file_numpy
from uqassay.predictions.files import file_hash, inspect_file

SIZES = {"n_instances": 4, "n_classes": 3, "n_members": None, "n_vertices": None, "n_focal_sets": None}


@pytest.mark.parametrize(
    ("arrays", "sizes"),
    [
        ({"probs": rows(4, 3)}, {"kind": "point"}),
        ({"logits": rows(4, 3)}, {"kind": "point"}),
        ({"probs": rows(4, 5, 3)}, {"kind": "members", "n_members": 5}),
        ({"logits": rows(4, 5, 3)}, {"kind": "members", "n_members": 5}),
        ({"alpha": rows(4, 3)}, {"kind": "dirichlet"}),
        ({"lower": rows(4, 3), "upper": rows(4, 3)}, {"kind": "intervals"}),
        ({"masses": rows(4, 2), "focal_sets": np.eye(2, 3)}, {"kind": "masses", "n_focal_sets": 2}),
        ({"beliefs": rows(4, 2), "focal_sets": np.eye(2, 3)}, {"kind": "masses", "n_focal_sets": 2}),
        ({"vertices": rows(4, 6, 3)}, {"kind": "vertices", "n_vertices": 6}),
        ({"mean": rows(4, 3), "variance": rows(4, 3)}, {"kind": "gaussian-logits"}),
        ({"mean": rows(4, 2, 3), "variance": rows(4, 2, 3)}, {"kind": "gaussian-logits", "n_members": 2}),
    ],
)
def test_kind_and_sizes_come_from_shapes_alone(tmp_path, monkeypatch, arrays, sizes):
    np.savez(tmp_path / "p.npz", **arrays)
    monkeypatch.setattr(file_numpy, "_read_member", lambda *_: pytest.fail("an array was read"))
    found = inspect_file(tmp_path / "p.npz", variance_is="epistemic" if "mean" in arrays else None)
    assert {key: found[key] for key in ("kind", *SIZES)} == {"kind": None} | SIZES | sizes
    assert found["problem"] is None


def test_the_meaning_of_a_variance_is_told_and_its_absence_is_a_problem(tmp_path):
    path, stated = tmp_path / "p.npz", {"mean": rows(4, 2, 3), "variance": rows(4, 2, 3)}
    np.savez(path, **stated)
    found = inspect_file(path)
    assert (found["kind"], found["variance_is"], found["n_instances"]) == (None, None, None)
    problem = InputError(**found["problem"])
    assert (problem.parameter, problem.code, problem.source) == ("variance_is", "missing", "p.npz")
    assert inspect_file(path, variance_is="wrong")["problem"]["code"] == "choice"
    assert inspect_file(path, variance_is="aleatoric")["variance_is"] == "aleatoric"
    np.savez(path, **stated, variance_is="epistemic")
    assert inspect_file(path)["variance_is"] == "epistemic"
    assert inspect_file(path, variance_is="aleatoric")["problem"]["code"] == "conflict"
    np.savez(path, probs=rows(4, 3))
    assert inspect_file(path)["variance_is"] is None
    assert inspect_file(path, variance_is="aleatoric")["problem"]["code"] == "conflict"


def test_everything_inside_is_listed_and_json_able(tmp_path):
    np.savez(
        tmp_path / "p.npz",
        probs=rows(4, 3).astype(np.float32),
        label=np.arange(4) % 3,
        classes=np.array(["a", "b", "c"]),
        groups=np.arange(4),
        epoch=np.array(7),
        objects=np.array([{}], dtype=object),
    )
    found = json.loads(json.dumps(inspect_file(tmp_path / "p.npz")))
    assert found["file"] == "p.npz"
    assert found["format"] == "npz"
    assert found["bytes"] == (tmp_path / "p.npz").stat().st_size
    assert found["class_names"] == ["a", "b", "c"]
    assert (found["labels"], found["ids"], found["groups"]) == (True, False, True)
    assert found["arrays"]["probs"] == {"shape": [4, 3], "dtype": "float32"}
    assert found["ignored"] == ["epoch", "objects"]


def test_what_is_no_prediction_says_why(tmp_path):
    np.save(tmp_path / "labels.npy", np.arange(5))
    found = inspect_file(tmp_path / "labels.npy")
    assert found["kind"] is None
    assert found["arrays"] == {"array": {"shape": [5], "dtype": "int64"}}
    problem = InputError(**found["problem"])
    assert (problem.parameter, problem.code, problem.source) == ("probs", "shape", "labels.npy")
    assert "load_labels" in problem.remedy
    np.savez(tmp_path / "two.npz", probs=rows(4, 3), alpha=rows(4, 3))
    assert inspect_file(tmp_path / "two.npz")["problem"]["code"] == "ambiguous"
    assert inspect_file(tmp_path / "two.npz", kind="dirichlet")["kind"] == "dirichlet"


def test_member_axis_says_which_size_is_which(tmp_path):
    np.save(tmp_path / "p.npy", rows(7, 4, 3))
    found = inspect_file(tmp_path / "p.npy", member_axis=0)
    assert (found["n_members"], found["n_instances"]) == (7, 4)
    assert inspect_file(tmp_path / "p.npy")["n_members"] == 4


def test_notes_of_the_prediction_and_of_the_table(tmp_path):
    uq.save(uq.Point(rows(2, 2), notes=(Note("repaired", "2 rows"),)), tmp_path / "p.npz")
    assert inspect_file(tmp_path / "p.npz")["notes"] == [{"code": "repaired", "text": "2 rows"}]
    (tmp_path / "p.csv").write_text("proba_0,age,proba_1\n0.5,31,0.5\n")
    found = inspect_file(tmp_path / "p.csv")
    assert [note["code"] for note in found["notes"]] == ["columns-ignored"]
    assert (found["ignored"], found["n_classes"]) == (["age"], 2)


def test_types_are_told_in_the_same_words_for_every_format(tmp_path, needs):
    needs("torch", "safetensors", "zarr", "pyarrow")
    for extension in (".npz", ".safetensors", ".zarr", ".pt", ".parquet", ".npy"):
        uq.save(uq.Point(rows(4, 3).astype(np.float32)), tmp_path / f"p{extension}")
        found = inspect_file(tmp_path / f"p{extension}")
        assert found["arrays"]["array" if extension == ".npy" else "probs"] == {"shape": [4, 3], "dtype": "float32"}
        assert (found["kind"], found["ignored"]) == ("point", [])


def test_real_file(shared):
    found = inspect_file(shared / "data" / "cifar100_test" / "two_networks.npz")
    assert (found["kind"], found["n_members"], found["labels"], found["ignored"]) == ("members", 2, True, ["members"])


# -- hashes -----------------------------------------------------------------------------------------------------------


def test_hash_of_a_file_against_hashlib(tmp_path):
    data = bytes(range(256)) * 20000  # more than one block
    (tmp_path / "p.npz").write_bytes(data)
    assert file_hash(tmp_path / "p.npz") == hashlib.sha256(data).hexdigest()


def test_hash_of_a_folder_sees_names_and_contents_but_not_the_place(tmp_path):
    def store(name: str, files: dict[str, bytes]) -> str:
        for part, data in files.items():
            path = tmp_path / name / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return file_hash(tmp_path / name)

    first = store("a.zarr", {"x/0": b"12", "y": b"3"})
    assert store("b.zarr", {"y": b"3", "x/0": b"12"}) == first
    others = {
        store("c.zarr", {"x/0": b"1", "y": b"23"}),
        store("d.zarr", {"x/1": b"12", "y": b"3"}),
        store("e.zarr", {"x/0": b"12", "y": b"4"}),
    }
    assert len(others | {first}) == 4


def test_the_same_prediction_has_the_same_hash_twice(tmp_path):
    for name in ("a.npz", "b.npz"):
        uq.save(uq.Point(rows(5, 3), class_names=("a", "b", "c")), tmp_path / name, labels=np.zeros(5, int))
    assert file_hash(tmp_path / "a.npz") == file_hash(tmp_path / "b.npz")


def test_hash_of_nothing_is_refused(tmp_path):
    with refuses("path", "missing", source="gone.npz", error=FileFormatError):
        file_hash(tmp_path / "gone.npz")
