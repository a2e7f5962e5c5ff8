"""Assays that are saved and loaded, and folders that are no saved assay."""

import io
import json
import os
import shutil
import zipfile
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from tests.evidence.saved_folders import change_arrays, change_facts
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError, InputError
from uqassay.evidence.storage import Saved

# -- A kept assay comes back as it was, and a damaged folder is told from a sound one in a sentence --------------------


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(5)
    probs = rng.dirichlet(np.ones(3), (12, 4))
    models = {
        "DE": uq.Members(probs, class_names=("cat", "dög", "a b")),
        "mean": uq.Point(probs.mean(axis=1), class_names=("cat", "dög", "a b")),
    }
    return uq.assay(models, rng.integers(3, size=12), n_draws=20, subgroups={"site": np.arange(12) % 2})


@pytest.fixture
def kept(tmp_path, judged):
    return judged.save(tmp_path / "kept")


def renamed(folder, field, old, new):
    """Another name in a mapping of the assay, in the values and in the arrays."""
    change_facts(folder, lambda f: f.update({field: json.loads(json.dumps(f[field]).replace(f"/{old}", f"/{new}"))}))
    change_facts(folder, lambda f: f[field].update({new: f[field].pop(old)}))
    change_arrays(
        folder, lambda a: [a.update({k.replace(f"/{old}", f"/{new}"): a.pop(k)}) for k in [*a] if k.startswith(field)]
    )


DAMAGE = {
    "pickled arrays": lambda folder: change_arrays(folder, lambda a: a.update(ids=np.array([{}, None], dtype=object))),
    "no labels": lambda folder: change_arrays(folder, lambda a: a.pop("labels")),
    "no distance": lambda folder: change_arrays(folder, lambda a: a.pop("models/1/columns/distance")),
    "no measure": lambda folder: change_arrays(folder, lambda a: a.pop("models/0/columns/total-entropy")),
    "short column": lambda folder: change_arrays(
        folder, lambda a: a.update({"models/0/columns/label": a["models/0/columns/label"][:, 1:]})
    ),
    "no size of sets": lambda folder: change_arrays(folder, lambda a: a.pop("models/0/columns/set-size-by-maximality")),
    "no column listed": lambda folder: change_facts(folder, lambda f: f["models"][0]["columns"].pop("gap")),
    "no set": lambda folder: change_arrays(folder, lambda a: a.pop("sets/DE/lower")),
    "no models": lambda folder: change_facts(folder, lambda f: f.pop("models")),
    "empty models": lambda folder: change_facts(folder, lambda f: f.update(models=[])),
    "models of another kind": lambda folder: change_facts(folder, lambda f: f.update(models=[1, 2])),
    "no kind": lambda folder: change_facts(folder, lambda f: f["models"][0].pop("kind")),
    "unknown fact": lambda folder: change_facts(folder, lambda f: f["models"][0].update(colour="red")),
    "negative floor": lambda folder: change_facts(folder, lambda f: f["models"][0].update(floor=-1.0)),
    "no notes": lambda folder: change_facts(folder, lambda f: f["models"][0].update(notes=None)),
    "no settings": lambda folder: change_facts(folder, lambda f: f.pop("settings")),
    "settings of another kind": lambda folder: change_facts(folder, lambda f: f.update(settings=[])),
    "unknown setting": lambda folder: change_facts(folder, lambda f: f["settings"].update(colour="red")),
    "no provenance": lambda folder: change_facts(folder, lambda f: f.pop("provenance")),
    "array of nobody": lambda folder: change_arrays(folder, lambda a: a.update(more=np.ones(12))),
    "array of another field": lambda folder: change_facts(folder, lambda f: f.update(ids="labels")),
    "labels of no class": lambda folder: change_arrays(folder, lambda a: a.update(labels=a["labels"] + 1)),
    "shares of another number": lambda folder: change_arrays(folder, lambda a: a.update(labels=np.ones((12, 2)) / 2)),
    "undefined shares": lambda folder: change_arrays(folder, lambda a: a.update(labels=np.full((12, 3), np.nan))),
    "labels of each instance twice": lambda folder: change_arrays(
        folder, lambda a: a.update(labels=np.tile(a["labels"], 2))
    ),
    "half labels": lambda folder: change_arrays(folder, lambda a: a.update(labels=a["labels"].astype(float))),
    "undefined hits": lambda folder: change_arrays(
        folder, lambda a: a.update({"models/0/columns/correct": np.full((1, 12), np.nan)})
    ),
    "runs of another number": lambda folder: change_arrays(
        folder, lambda a: a.update({"models/0/columns/gap": np.zeros((2, 12))})
    ),
    "instance of a set that is not there": lambda folder: change_arrays(
        folder, lambda a: a.update({"sets/DE/rows": a["sets/DE/rows"] + 1})
    ),
    "more points than instances": lambda folder: change_arrays(
        folder, lambda a: a.update({"sets/DE/points": np.zeros((13, 4, 3), np.float32)})
    ),
    "two scales of 1": lambda folder: change_arrays(
        folder, lambda a: a.update({"scaled/DE/scales": np.ones_like(a["scaled/DE/scales"])})
    ),
    "scales in other runs": lambda folder: change_arrays(
        folder,
        lambda a: a.update(
            {
                f"scaled/DE/{name}": np.tile(a[f"scaled/DE/{name}"], (2, 1, 1))
                for name in ("distance", "nonspecificity", "covered")
            }
        ),
    ),
    "set of nobody": lambda folder: renamed(folder, "sets", "DE", "vacuous"),
    "one class": lambda folder: change_facts(folder, lambda f: f.update(class_names=["cat"])),
    "class twice": lambda folder: change_facts(folder, lambda f: f.update(class_names=["cat", "cat", "a b"])),
    "name of another type": lambda folder: change_facts(folder, lambda f: f.update(class_names=["cat", 1, "a b"])),
    "no baseline": lambda folder: change_facts(folder, lambda f: f["models"][2].update(baseline=False)),
    "model twice": lambda folder: change_facts(folder, lambda f: f["models"][1].update(name="DE")),
    "run that is not there": lambda folder: change_facts(folder, lambda f: f["tests"]["calibration"][0].update(run=1)),
    "half a run": lambda folder: change_facts(folder, lambda f: f["tests"]["calibration"][0].update(run=0.0)),
    "no diagram of a test": lambda folder: change_facts(
        folder, lambda f: f["tests"]["calibration"][0].update(before=None)
    ),
    "another kind of test": lambda folder: change_facts(
        folder, lambda f: f["tests"]["calibration"][0].update(tested="x")
    ),
    "draws in decimals": lambda folder: change_facts(folder, lambda f: f["settings"].update(n_draws=20.0)),
    "level 1": lambda folder: change_facts(folder, lambda f: f["settings"].update(level=1.0)),
    "seed below 0": lambda folder: change_facts(folder, lambda f: f["settings"].update(seed=-1)),
    "another distance": lambda folder: change_facts(folder, lambda f: f["settings"].update(distance="x")),
    "unknown measure": lambda folder: change_facts(folder, lambda f: f["settings"].update(measures=["x"])),
    "no λ": lambda folder: change_facts(folder, lambda f: f.update(tradeoffs=[])),
    "an error too few": lambda folder: change_facts(folder, lambda f: f["classwise_error"].update(DE=[0.1])),
    "subgroup with a taken name": lambda folder: renamed(folder, "subgroups", "site", "correct"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_folder_is_refused_in_a_sentence(kept, what):
    DAMAGE[what](kept)
    with refuses(str(kept), "unreadable", got="Assay.save", error=FileFormatError):
        uq.Assay.load(kept)


def test_draws_that_the_folder_is_too_small_for_are_refused(kept, monkeypatch):
    monkeypatch.setenv("UQASSAY_MAX_ARRAY_BYTES", "600")
    with refuses(str(kept), "size", got="settings/n_draws may take 600 bytes", error=FileFormatError):
        uq.Assay.load(kept)


def test_a_missing_entry_is_named(kept):
    change_facts(kept, lambda facts: facts.pop("tradeoffs"))
    with refuses(str(kept), "unreadable", got="tradeoffs is missing", error=FileFormatError):
        uq.Assay.load(kept)


def test_another_version_is_refused(kept):
    change_facts(kept, lambda facts: facts.update(schema="uqassay.assay/7"))
    with refuses(str(kept), "unreadable", got=r"this version reads 'uqassay\.assay/8'", error=FileFormatError):
        uq.Assay.load(kept)


def test_a_folder_of_something_else_is_no_place_for_an_assay(tmp_path, judged):
    with refuses(str(tmp_path), "unwritable", got="does not hold an assay", error=FileFormatError):
        judged.save(tmp_path)


def test_class_names_survive(kept, judged):
    again = uq.Assay.load(kept)
    assert again.class_names == judged.class_names == ("cat", "dög", "a b")
    assert all(type(name) is str for name in again.class_names)


def test_ids_and_subgroups_of_objects_are_kept_as_text(tmp_path):
    probs = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    first = uq.Point(pd.DataFrame(probs, index=index, columns=["no", "yes"]))
    assert first.ids.dtype == object
    judged = uq.assay({"m": first}, [0, 1, 1], subgroups={"site": np.array(["x", "yy", "x"], dtype=object)}, n_draws=20)
    again = uq.Assay.load(judged.save(tmp_path / "kept"))
    assert again.ids.tolist() == ["('a', 1)", "('a', 2)", "('b', 1)"]
    assert again.subgroups["site"].tolist() == ["x", "yy", "x"]
    assert again.class_names == ("no", "yes")

    mixed = np.empty(3, dtype=object)
    mixed[:] = [("a", 1), None, 3]
    judged = replace(judged, subgroups={"mixed": mixed}, groups=mixed)
    again = uq.Assay.load(judged.save(tmp_path / "mixed"))
    assert again.subgroups["mixed"].tolist() == again.groups.tolist() == ["('a', 1)", "None", "3"]


def test_numbers_that_json_lacks_come_back(tmp_path, judged):
    strange = replace(judged.models[0], gap=np.inf, nonspecificity_error=np.nan)
    again = uq.Assay.load(replace(judged, models=(strange, *judged.models[1:])).save(tmp_path / "kept"))
    assert again.models[0].gap == np.inf
    assert np.isnan(again.models[0].nonspecificity_error)


def test_a_moved_folder_is_read(tmp_path, kept, judged):
    moved = shutil.move(kept, tmp_path / "moved")
    assert uq.Assay.load(moved).verdict() == judged.verdict()


# -- The folder of an assay or a study: whole or not at all, nothing pickled, nothing damaged; contents in test_*_s ----


@dataclass(frozen=True)
class Thing(Saved):
    _schema = "s/1"
    _thing = "thing"

    y: NDArray[np.int64]
    x: float

    def _check_read(self):
        if self.x in PROBLEMS:
            raise PROBLEMS[self.x]


PROBLEMS: dict[float, Exception] = {}


@dataclass(frozen=True)
class Other(Saved):
    _schema = "s/1"


@pytest.fixture
def kept_folder(tmp_path):
    return Thing(np.arange(300), np.nan).save(tmp_path / "new" / "kept_folder")


def test_values_and_arrays_come_back(kept_folder):
    again = Thing.load(kept_folder)
    assert np.isnan(again.x)
    assert again.y.tolist() == list(range(300))
    assert sorted(path.name for path in kept_folder.iterdir()) == ["arrays.npz", "thing.json"]


def test_a_thing_is_replaced_by_a_thing_alone(kept_folder, tmp_path):
    Thing(np.arange(3), 2.0).save(kept_folder)
    assert Thing.load(kept_folder).x == 2
    with refuses(str(kept_folder), "unwritable", got="does not hold a study", error=FileFormatError):
        Other().save(kept_folder)
    file = tmp_path / "file"
    file.write_text("mine")
    for below in (file / "a", file / "deeper" / "a"):
        with refuses(str(below), "unwritable", got="cannot be written; .+", error=FileFormatError):
            Thing(np.arange(3), 2.0).save(below)
    assert file.read_text() == "mine"


def one_array():
    stream = io.BytesIO()
    np.save(stream, np.ones(3))
    return stream.getvalue()


def archive(content):
    return lambda folder: (folder / "arrays.npz").write_bytes(content)


def cut_to(share):
    def damage(folder):
        whole = (folder / "arrays.npz").read_bytes()
        (folder / "arrays.npz").write_bytes(whole[: int(share * len(whole))])

    return damage


def text(content):
    return lambda folder: (folder / "thing.json").write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "got"),
    [
        (cut_to(0.6), "not a zip file"),
        (cut_to(0.001), "not a zip file"),
        (cut_to(0.0), "not a zip file"),
        (archive(b"\x93NUMPY\x01\x00"), "not a zip file"),
        (archive(one_array()), "not a zip file"),
        (archive(b"no archive at all"), "not a zip file"),
        (lambda folder: (folder / "arrays.npz").unlink(), "there is none of this name"),
        (
            lambda folder: np.savez(folder / "arrays.npz", y=np.array([{}, None], dtype=object)),
            "pickled Python objects are never loaded",
        ),
        (lambda folder: np.savez_compressed(folder / "arrays.npz", y=np.zeros(10**6)), "needs 8.00 MB"),
        (lambda folder: (folder / "thing.json").unlink(), "No such file"),
        (text(b'{"schema": "s/1", '), "JSONDecodeError"),
        (text(b"\xff\xfe{}"), "UnicodeDecodeError"),
        (text(b"[" * 200_000), "RecursionError"),
    ],
)
def test_damaged_folders_are_refused(kept_folder, damage, got):
    damage(kept_folder)
    with refuses(str(kept_folder), "unreadable", got=f"Thing.save wrote.*({got})", error=FileFormatError):
        Thing.load(kept_folder)


@pytest.mark.parametrize("found", ["[]", "3", "null", "{}", '{"schema": "other/2"}', '{"schema": "s/0"}'])
def test_another_schema_is_refused(kept_folder, found):
    (kept_folder / "thing.json").write_text(found)
    with refuses(str(kept_folder), "unreadable", got=r"schema is .*, this version reads 's/1'", error=FileFormatError):
        Thing.load(kept_folder)


@pytest.mark.parametrize(
    ("problem", "got"),
    [
        (KeyError("z"), "KeyError in thing.json or arrays.npz"),
        (RecursionError("z"), "RecursionError in thing.json or arrays.npz"),
        (InputError("seeds", "must be whole", "got 'a'", "mend it", code="type"), "seeds must be whole; got 'a'"),
    ],
)
def test_contents_that_do_not_fit_are_refused(kept_folder, monkeypatch, problem, got):
    Thing(np.arange(3), 7.0).save(kept_folder)
    monkeypatch.setitem(PROBLEMS, 7.0, problem)
    with refuses(str(kept_folder), "unreadable", got=got, error=FileFormatError):
        Thing.load(kept_folder)


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_after_a_failed_save_the_earlier_one_stands_alone(kept_folder, monkeypatch, problem):
    def fail(file, **arrays):
        file.write(b"half")
        raise problem

    before = {path.name: path.read_bytes() for path in kept_folder.iterdir()}
    monkeypatch.setattr(np, "savez", fail)
    expected = FileFormatError if isinstance(problem, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match="No space left" if isinstance(problem, OSError) else None):
        Thing(np.arange(3), 2.0).save(kept_folder)
    assert {path.name: path.read_bytes() for path in kept_folder.iterdir()} == before
    assert [path.name for path in kept_folder.parent.iterdir()] == ["kept_folder"]


def test_an_earlier_one_comes_back_when_the_new_one_cannot_take_its_place(kept_folder, monkeypatch):
    replace_path, calls = os.replace, []

    def fail(source, target):
        calls.append(target)
        if len(calls) == 2:  # the older one is aside
            assert not kept_folder.exists()
            raise PermissionError(13, "Permission denied")
        return replace_path(source, target)

    monkeypatch.setattr("os.replace", fail)
    with refuses(str(kept_folder), "unwritable", got="Permission denied", error=FileFormatError):
        Thing(np.arange(3), 2.0).save(kept_folder)
    assert len(calls) == 3
    assert json.loads((kept_folder / "thing.json").read_text())["x"] is None
    assert [path.name for path in kept_folder.parent.iterdir()] == ["kept_folder"]


@pytest.mark.parametrize("name", ["thing.json", "arrays.npz"])
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path)]
)
def test_a_pipe_a_folder_or_a_device_is_not_waited_for(kept_folder, name, make):
    (kept_folder / name).unlink()
    make(kept_folder / name)
    with refuses(str(kept_folder), "unreadable", got=f"Thing.save wrote.*{name}", error=FileFormatError):
        Thing.load(kept_folder)


def test_entries_that_share_their_bytes_are_refused(kept_folder):
    """An archive of 1 MB whose directory names the same bytes a hundred times."""
    with zipfile.ZipFile(kept_folder / "arrays.npz", "w") as archive:
        archive.writestr("y.npy", one_array()[:-24].replace(b"(3,)", b"(125000,)")[:128] + bytes(10**6))
        first = archive.infolist()[0]
        for i in range(100):
            other = copy(first)
            other.filename = f"y{i}.npy"
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other
    with refuses(str(kept_folder), "unreadable", got="needs 101 MB", error=FileFormatError):
        Thing.load(kept_folder)
