"""load, save, load_labels, inspect_file, file_hash: round trips, damaged and dangerous files, writing whole or not at all."""

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.refusals import refuses
from tests.sample_files import PACKAGES, assert_same, every_kind, rows

import uqassay as uq
from uqassay import files as _optional
from uqassay.errors import FileFormatError, InputError, MissingDependencyError
from uqassay.notes import Note
from uqassay.predictions import arrays_on_disk
from uqassay.predictions.files import (
    LossyFormatWarning,
    file_hash,
    inspect_file,
    load_column,
    open_contents,
    what_is_lost,
)
from uqassay.predictions.tables_on_disk import FORMATS

FULL_FORMATS = [".npz", ".safetensors", ".zarr", ".pt"]  # every kind, with everything that it carries
# -- round trips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", FULL_FORMATS)
@pytest.mark.parametrize("name", every_kind())
def test_round_trip_keeps_every_field_and_type(tmp_path, needs, name, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    prediction = every_kind()[name]
    labels = np.arange(prediction.n_instances, dtype=np.int16) % prediction.n_classes
    path = tmp_path / f"p{extension}"
    uq.save(prediction, path, labels=labels)
    back = uq.load(path)
    assert_same(prediction, back)
    np.testing.assert_array_equal(uq.load_labels(path), labels)
    assert uq.load_labels(path).dtype == labels.dtype
    uq.save(back, path, labels=labels)  # over a file that may still be mapped
    assert_same(prediction, uq.load(path))
    assert [part.name for part in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("meaning", ["aleatoric", "epistemic"])
@pytest.mark.parametrize("extension", FULL_FORMATS)
def test_files_keep_the_meaning_of_a_variance(tmp_path, needs, extension, meaning):
    needs(*{PACKAGES.get(extension, "numpy")})
    stated = uq.GaussianLogits(rows(4, 2, 3), rows(4, 2, 3), variance_is=meaning, n_draws=7)
    uq.save(stated[1:], tmp_path / f"p{extension}")
    back = uq.load(tmp_path / f"p{extension}")
    assert back.variance_is == uq.load(tmp_path / f"p{extension}", variance_is=meaning).variance_is == meaning
    np.testing.assert_array_equal(back.hull_points(), stated.hull_points()[1:])
    other = "epistemic" if meaning == "aleatoric" else "aleatoric"
    with refuses("variance_is", "conflict", source=f"p{extension}", error=FileFormatError):
        uq.load(tmp_path / f"p{extension}", variance_is=other)


@pytest.mark.parametrize("extension", FULL_FORMATS)
def test_files_of_versions_without_the_meaning_are_refused_with_the_remedy(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    path = tmp_path / f"old{extension}"
    FORMATS[extension].write(path, {"mean": rows(4, 2, 3), "variance": rows(4, 2, 3), "n_draws": np.array(9)})
    with refuses("variance_is", "missing", source=path.name, error=FileFormatError) as refusal:
        uq.load(path)
    assert refusal.value.remedy == 'pass variance_is="aleatoric" or variance_is="epistemic"'
    again = uq.load(path, variance_is="aleatoric")
    assert (again.variance_is, again.n_draws, again.n_points) == ("aleatoric", 9, 2)


def test_a_meaning_may_stand_in_the_metadata_as_plain_text(tmp_path, needs):
    needs("safetensors", "zarr", "torch")
    import torch
    import zarr
    from safetensors.numpy import save_file

    arrays = {"mean": rows(4, 2, 3), "variance": rows(4, 2, 3)}
    save_file(arrays, tmp_path / "p.safetensors", metadata={"variance_is": "epistemic", "format": "pt"})
    group = zarr.open_group(tmp_path / "p.zarr", mode="w")
    for key, value in arrays.items():
        group.create_array(key, data=value)
    group.attrs["variance_is"] = "epistemic"
    tensors = {key: torch.tensor(value) for key, value in arrays.items()}
    torch.save({**tensors, "variance_is": "epistemic"}, tmp_path / "p.pt")
    np.savez(tmp_path / "p.npz", **arrays, variance_is="epistemic")
    for extension in FULL_FORMATS:
        assert uq.load(tmp_path / f"p{extension}").variance_is == "epistemic"
        assert inspect_file(tmp_path / f"p{extension}")["variance_is"] == "epistemic"


def test_a_torch_file_of_one_value_is_read_as_rows_or_refused(tmp_path, needs):
    needs("torch")
    import torch

    torch.save([[0.5, 0.5], [0.2, 0.8]], tmp_path / "rows.pt")
    assert uq.load(tmp_path / "rows.pt").n_instances == 2
    for value, name, code in (
        ("x", "array", "type"),
        ([[0.5, 0.5], [1.0]], "array", "ragged"),
        ((1, 0), "probs", "shape"),
    ):
        torch.save(value, tmp_path / "p.pt")
        with refuses(name, code, error=FileFormatError):
            uq.load(tmp_path / "p.pt")


def test_a_single_value_is_no_list_of_labels(tmp_path):
    np.save(tmp_path / "y.npy", np.uint64(2**64 - 1))
    with refuses("labels", "shape", got="one label per instance", error=FileFormatError):
        uq.load_labels(tmp_path / "y.npy")


@pytest.mark.parametrize("extension", FULL_FORMATS)
def test_a_prediction_in_bfloat16_comes_back_with_its_tolerance(tmp_path, needs, extension):
    needs("torch", *{PACKAGES.get(extension, "numpy")})
    import torch

    probs = torch.softmax(torch.tensor(np.random.default_rng(0).normal(0, 2, (50, 4, 10))), dim=2).bfloat16()
    for prediction in (uq.Point(probs[:, 0]), uq.Members(probs), uq.Vertices(probs)):
        uq.save(prediction, tmp_path / f"p{extension}")
        back = uq.load(tmp_path / f"p{extension}")
        assert_same(prediction, back)
        uq.save(back, tmp_path / f"q{extension}")
        assert_same(prediction, uq.load(tmp_path / f"q{extension}"))


@pytest.mark.parametrize("extension", [".npy", ".csv", ".parquet", ".jsonl"])
def test_bfloat16_is_refused_by_formats_that_would_not_read_it_back(tmp_path, needs, extension):
    needs("torch", *{PACKAGES.get(extension, "numpy")})
    import torch

    path = tmp_path / f"p{extension}"
    with refuses("probs", "sum", got=r"row 0 .*bfloat16.* 1\.00098", source=path.name, error=FileFormatError):
        uq.save(uq.Point(torch.tensor([[0.2, 0.8]]).bfloat16()), path)
    exact = uq.Point(torch.tensor([[0.25, 0.75]]).bfloat16())
    uq.save(exact, path)
    np.testing.assert_array_equal(uq.load(path).probs, exact.probs)


@pytest.mark.parametrize("extension", [".csv", ".parquet"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_round_trip_of_a_point_in_tables(tmp_path, needs, extension, dtype):
    needs(*{PACKAGES.get(extension, "numpy")})
    probs = np.array([[0.5, 0.25, 0.25], [0.125, 0.875, 0.0]], dtype=dtype)
    prediction = uq.Point(probs, class_names=("a", "b, c", 'd"e'), ids=np.array(["007", "x"]), groups=np.array([2, 9]))
    path = tmp_path / f"p{extension}"
    uq.save(prediction, path, labels=[2, 1])
    back = uq.load(path)
    np.testing.assert_array_equal(back.probs, probs)
    assert back.probs.dtype == (dtype if extension == ".parquet" else np.float64)
    assert_same(prediction, back, leave_out=("probs", "class_order", "keys"))
    assert (back.class_order, list(back.keys)) == ("columns", ["id"])
    assert uq.load_labels(path).tolist() == [2, 1]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weights=hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.floats(1e-9, 1e9)))
def test_csv_gives_back_every_float64_exactly(tmp_path, weights):
    prediction = uq.Point(weights / weights.sum(axis=1, keepdims=True))
    uq.save(prediction, tmp_path / "p.csv")
    np.testing.assert_array_equal(uq.load(tmp_path / "p.csv").probs, prediction.probs)


@pytest.mark.parametrize("probs", [rows(5, 3, dtype=np.float32), rows(5, 4, 3)])
def test_npy_holds_point_and_members(tmp_path, probs):
    prediction = uq.Point(probs) if probs.ndim == 2 else uq.Members(probs)
    uq.save(prediction, tmp_path / "p.npy")
    assert_same(prediction, uq.load(tmp_path / "p.npy"))


def test_draws_held_in_memory_are_made_again_from_their_seed(tmp_path):
    held = every_kind()["dirichlet"].with_draws()
    uq.save(held, tmp_path / "p.npz")
    back = uq.load(tmp_path / "p.npz")
    assert back.drawn is None
    np.testing.assert_array_equal(back.members().probs, held.members().probs)


@pytest.mark.parametrize("kind", ["dirichlet", "gaussian-logits"])
def test_seeded_draws_stay_with_their_rows_through_a_file(tmp_path, kind):
    part = every_kind()[kind][[3, 1]]
    uq.save(part, tmp_path / "part.npz")
    np.testing.assert_array_equal(uq.load(tmp_path / "part.npz").members().probs, part.members().probs)


def test_votes_are_kept_beside_a_prediction(tmp_path):
    votes = np.array([[3, 1, 0], [0, 0, 9]], dtype=np.uint8)
    uq.save(uq.Point(rows(2, 3)), tmp_path / "p.npz", labels=votes)
    np.testing.assert_array_equal(uq.load_labels(tmp_path / "p.npz"), votes)


def test_text_index_of_a_table_in_memory_is_stored(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(rows(2, 3), columns=["a", "b", "c"], index=["r1", "r2"])
    uq.save(uq.Point(frame), tmp_path / "p.npz")
    back = uq.load(tmp_path / "p.npz")
    assert back.class_names == ("a", "b", "c")
    assert back.ids.tolist() == ["r1", "r2"]


@pytest.mark.parametrize("extension", [".npz", ".npy"])
def test_member_axis_and_normalise_reach_the_prediction(tmp_path, extension):
    counts = np.array([[[1.0, 3.0]], [[2.0, 2.0]]])  # (M, n, K) = (2, 1, 2)
    path = tmp_path / f"p{extension}"
    np.save(path, counts) if extension == ".npy" else np.savez(path, probs=counts)
    back = uq.load(path, member_axis=0, normalise=True)
    assert back.probs.tolist() == [[[0.25, 0.75], [0.5, 0.5]]]


# -- labels -----------------------------------------------------------------------------------------------------------


def test_labels_of_an_array_file_come_as_they_are(tmp_path):
    np.save(tmp_path / "l.npy", np.array([[1, 2], [0, 4]], dtype=np.int8))
    labels = uq.load_labels(tmp_path / "l.npy")
    assert labels.dtype == np.int8
    assert not isinstance(labels, np.memmap)


def test_label_names_are_mapped_through_the_class_names_of_the_file(tmp_path):
    np.savez(
        tmp_path / "p.npz", probs=rows(3, 2), classes=np.array([b"dog", b"cat"]), label=np.array(["cat", "dog", "cat"])
    )
    assert uq.load_labels(tmp_path / "p.npz").tolist() == [1, 0, 1]
    assert uq.load_labels(tmp_path / "p.npz", class_names=("cat", "dog")).tolist() == [0, 1, 0]
    assert uq.load(tmp_path / "p.npz").class_names == ("dog", "cat")


def test_labels_under_another_key(tmp_path):
    np.savez(tmp_path / "p.npz", probs=rows(2, 2), gold=np.array([1, 0]))
    assert uq.load_labels(tmp_path / "p.npz", "gold").tolist() == [1, 0]
    for key, wanted in ((None, "labels or label"), ("silver", "silver")):
        with refuses("key", "missing", got=f"{wanted}.*found probs, gold", source="p.npz", error=FileFormatError):
            uq.load_labels(tmp_path / "p.npz", key)


def test_a_label_that_is_no_class_is_named_with_its_row(tmp_path):
    np.savez(tmp_path / "l.npz", labels=np.array(["b", "a", "zebra"]))
    with refuses("labels", "class-names", got="row 2 holds 'zebra'", source="l.npz", error=FileFormatError):
        uq.load_labels(tmp_path / "l.npz", class_names=("a", "b"))
    assert uq.load_labels(tmp_path / "l.npz").tolist() == ["b", "a", "zebra"]  # the predictions name the classes


@pytest.mark.parametrize("names", [["1", "2", "3"], [1, 2, 3]])
def test_numbers_are_names_where_the_classes_are_named_by_numbers(tmp_path, names):
    probs = np.eye(3)[[0, 1, 2, 1]] * 0.7 + 0.1
    np.savez(tmp_path / "p.npz", probs=probs, classes=np.array(names), labels=np.array([1, 2, 3, 2]))
    prediction, labels = uq.load(tmp_path / "p.npz"), uq.load_labels(tmp_path / "p.npz")
    assert labels.tolist() == [1, 2, 3, 2]
    findings = uq.assay({"m": prediction}, labels, calibration=()).findings()
    assert findings.estimate[(findings.model == "m") & (findings.metric == "accuracy")].tolist() == [1.0]
    with refuses("labels", "class-names", got="row 0 holds 0", error=FileFormatError):
        np.save(tmp_path / "l.npy", np.array([0, 1]))
        uq.load_labels(tmp_path / "l.npy", class_names=prediction.class_names)


@pytest.mark.parametrize("extension", [".npz", ".csv", ".jsonl"])
def test_labels_of_classes_named_by_numbers_survive_a_round_trip(tmp_path, extension):
    prediction = uq.Point([[0.2, 0.8], [0.6, 0.4], [0.3, 0.7]], class_names=("5", "9"))
    uq.save(prediction, tmp_path / f"p{extension}", labels=[9, 5, 5])
    assert uq.load_labels(tmp_path / f"p{extension}").tolist() == [9, 5, 5]
    assert uq.load(tmp_path / f"p{extension}").class_names == ("5", "9")


def test_a_label_with_an_underscore_is_no_number(tmp_path):
    (tmp_path / "l.csv").write_text("label\n1_0\n1\n")
    with refuses("labels", "class-names", got="row 0 holds '1_0'", source="l.csv", error=FileFormatError):
        uq.load_labels(tmp_path / "l.csv", class_names=[str(k) for k in range(11)])


def test_a_column_with_the_ids_beside_it(tmp_path):
    np.savez(tmp_path / "g.npz", ids=np.array([3, 1]), site=np.array(["x", "y"]), groups=np.array([7, 8]))
    values = load_column(tmp_path / "g.npz", ["groups", "group"])
    assert (values.tolist(), values.ids.tolist()) == ([7, 8], [3, 1])
    np.save(tmp_path / "g.npy", np.arange(4))
    assert load_column(tmp_path / "g.npy", ["groups"]).ids is None
    with refuses("age", "missing", got="found site, groups", source="g.npz", error=FileFormatError):
        load_column(tmp_path / "g.npz", ["age"])
    whole = (tmp_path / "g.npy").read_bytes()
    (tmp_path / "g.npy").write_bytes(whole[:-3])
    with refuses("array", "truncated", source="g.npy", error=FileFormatError):
        load_column(tmp_path / "g.npy", ["groups"])


# -- odd paths and numbers ------------------------------------------------------------------------------------------


def test_labels_beyond_int64_are_refused(tmp_path):
    np.save(tmp_path / "y.npy", np.array([1, 2**64 - 1], dtype=np.uint64))
    with refuses("labels", "range", got="row 1 holds 18446744073709551615", source="y.npy", error=FileFormatError):
        uq.load_labels(tmp_path / "y.npy")


@pytest.mark.parametrize("path", [None, 5, b"p.npz", ["p.npz"], "", "a\0b.npz", 1.5])
def test_what_is_no_path_is_refused(path):
    for use in (uq.load, uq.load_labels, inspect_file, file_hash, lambda p: uq.save(uq.Point(rows(2, 2)), p)):
        with refuses("path"):
            use(path)


# -- what importing costs ---------------------------------------------------------------------------------------------


def test_importing_and_reading_npz_loads_no_optional_package(tmp_path):
    uq.save(uq.Point(rows(2, 2)), tmp_path / "p.npz")
    uq.save(uq.Point(rows(2, 2)), tmp_path / "p.jsonl")
    code = (
        "import sys, uqassay as uq, uqassay.predictions.files, uqassay.predictions.adapters\n"
        f"uq.load({str(tmp_path / 'p.npz')!r}); uq.load({str(tmp_path / 'p.jsonl')!r})\n"
        "heavy = {'pandas', 'torch', 'zarr', 'safetensors', 'pyarrow', 'sklearn', 'matplotlib', 'plotly'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout.strip() == "[]"


# -- real files -------------------------------------------------------------------------------------------------------


def test_every_real_file_of_cifar10_loads(shared):
    folder = shared / "data" / "cifar10_test"
    kinds = {path.stem: type(uq.load(path)).__name__ for path in sorted(folder.glob("*.npz"))}
    assert kinds == {
        "deep_ensemble_average": "Point",
        "rs_nn_beliefs": "Masses",
        "snn": "Point",
        "three_networks": "Members",
    }
    beliefs = uq.load(folder / "rs_nn_beliefs.npz")
    assert beliefs.signed
    assert beliefs.masses.shape == (10000, 30)
    assert beliefs.class_names[:2] == ("airplane", "automobile")
    labels = uq.load_labels(folder / "labels.npy")
    np.testing.assert_allclose((uq.load(folder / "snn.npz").labels() == labels).mean(), 0.9025)
    np.testing.assert_allclose((uq.load(folder / "three_networks.npz").labels() == labels).mean(), 0.942, atol=5e-4)
    assert uq.load_labels(folder / "human_counts.npy").shape == (10000, 10)


def test_real_labels_beside_predictions(shared):
    path = shared / "data" / "cifar100_test" / "two_networks.npz"
    prediction, labels = uq.load(path), uq.load_labels(path)
    np.testing.assert_allclose((prediction.labels() == labels).mean(), 0.784, atol=5e-4)


# -- opening -------------------------------------------------------------------------------------------------------------


def one_sentence(message: str) -> bool:
    return message.endswith(".") and ". " not in message and "\n" not in message


@pytest.mark.parametrize("extension", sorted(set(FORMATS) - {".zarr"}))
@pytest.mark.parametrize("damage", ["truncated", "empty", "text", "bytes", "missing", "folder"])
def test_damaged_files_end_in_one_sentence_that_names_them(tmp_path, needs, extension, damage):
    needs(*{PACKAGES.get(extension, "numpy")})
    path = tmp_path / f"hurt{extension}"
    uq.save(uq.Point(rows(500, 4)), path)
    whole = path.read_bytes()
    contents = {
        "truncated": whole[: len(whole) // 2 - 3],
        "empty": b"",
        "text": b"hello, world\n",
        "bytes": bytes(range(256)) * 8,
    }
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "missing":
        path.write_bytes(contents[damage])
    for read in (uq.load, uq.load_labels):
        with pytest.raises(FileFormatError) as caught:
            read(path)
        assert caught.value.source == path.name
        assert one_sentence(str(caught.value)), str(caught.value)


def test_a_flipped_byte_in_a_compressed_file_is_found(tmp_path):
    np.savez_compressed(tmp_path / "p.npz", probs=rows(500, 4))
    data = bytearray((tmp_path / "p.npz").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "p.npz").write_bytes(data)
    with refuses("file", "unreadable", source="p.npz", error=FileFormatError):
        uq.load(tmp_path / "p.npz")


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    extension=st.sampled_from([".npz", ".npy", ".csv"]),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=3),
)
def test_changed_bytes_give_a_prediction_or_one_clear_error(tmp_path, extension, changes):
    path = tmp_path / f"hurt{extension}"
    uq.save(uq.Point(rows(5, 3)), path)
    data = bytearray(path.read_bytes())
    for place, value in changes:
        data[int(place * len(data))] = value
    path.unlink()
    path.write_bytes(data)
    try:
        told = f"hurt{extension}: {uq.load(path).n_classes} classes."
    except FileFormatError as problem:
        told = str(problem)
    assert told.startswith(path.name)
    assert told.endswith(".")
    assert "\n" not in told


class Explosive:
    """Unpickling this would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (open, (str(self.path), "w"))


def test_nothing_is_ever_unpickled(tmp_path):
    trap = tmp_path / "exploded"
    objects = np.array([[Explosive(trap), 1]], dtype=object)
    np.savez(tmp_path / "a.npz", probs=objects, labels=objects)
    np.save(tmp_path / "a.npy", objects)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Explosive(trap)))
    (tmp_path / "c.pkl").write_bytes(pickle.dumps(Explosive(trap)))
    (tmp_path / "d.joblib").write_bytes(pickle.dumps(Explosive(trap)))
    for name, parameter, code in [
        ("a.npz", None, "pickle"),
        ("a.npy", "array", "pickle"),
        ("b.npy", "array", "unreadable"),
        ("c.pkl", "extension", "pickle"),
        ("d.joblib", "extension", "pickle"),
    ]:
        for read, key in ((uq.load, "probs"), (uq.load_labels, "labels")):
            with refuses(parameter or key, code, source=name, error=FileFormatError):
                read(tmp_path / name)
    assert not trap.exists()


def test_objects_under_keys_that_are_not_needed_do_not_stop_the_rest(tmp_path):
    np.savez(tmp_path / "p.npz", probs=rows(2, 2), extra=np.array([{}, None], dtype=object))
    assert uq.load(tmp_path / "p.npz").n_instances == 2


@pytest.mark.parametrize(("name", "found"), [("p.bin", "'.bin'"), ("p", "'none'")])
def test_unknown_extensions_are_refused(tmp_path, name, found):
    (tmp_path / name).write_bytes(b"x")
    with refuses("extension", "choice", got=rf"\.jsonl.*got {found}", source=name, error=FileFormatError):
        uq.load(tmp_path / name)


def test_one_axis_is_refused_with_both_remedies(tmp_path):
    np.save(tmp_path / "p.npy", np.array([0.1, 0.9]))
    with refuses("probs", "shape", got="load_labels.*from_binary", source="p.npy", error=FileFormatError):
        uq.load(tmp_path / "p.npy")


def test_broken_rules_of_the_kind_name_file_row_and_remedy(tmp_path):
    np.savez(tmp_path / "p.npz", probs=[[0.5, 0.5], [0.5, 0.6]])
    with refuses("probs", "sum", got="row 1 sums to 1.1; .*normalise=True", source="p.npz", error=FileFormatError):
        uq.load(tmp_path / "p.npz")


def test_a_link_that_leads_to_itself(tmp_path):
    (tmp_path / "p.npz").symlink_to(tmp_path / "p.npz")
    with refuses("path", "missing", got="symbolic link", source="p.npz", error=FileFormatError):
        uq.load(tmp_path / "p.npz")


def test_names_in_a_file_do_not_reach_the_terminal_as_they_are(tmp_path):
    np.savez(tmp_path / "p.npz", **{"a\x1b[31m\nb\u202ec": rows(2, 2)})
    with pytest.raises(FileFormatError) as caught:
        uq.load(tmp_path / "p.npz")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("extension", [".npz", ".safetensors", ".zarr", ".pt"])
def test_arrays_in_another_order_are_written_as_they_read(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    flipped = np.asfortranarray(rows(6, 4, 3))[::-2]
    uq.save(uq.Members(np.moveaxis(flipped, 0, 1), member_axis=0), tmp_path / f"p{extension}")
    np.testing.assert_array_equal(uq.load(tmp_path / f"p{extension}").probs, flipped)


@pytest.mark.parametrize(
    ("extension", "needed"),
    [*((name, r"uqassay\[files\]") for name in (".safetensors", ".zarr", ".parquet")), (".pt", "torch>=2.2")],
)
def test_a_missing_package_is_named_with_what_installs_it(tmp_path, monkeypatch, extension, needed):
    def nothing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(_optional, "import_module", nothing)
    (tmp_path / "p.zarr").mkdir()
    path = tmp_path / f"p{extension}"
    if extension != ".zarr":
        path.write_bytes(b"x")
    package = PACKAGES[extension]
    for doing, use in (
        ("reading", uq.load),
        ("writing", lambda _: uq.save(uq.Point(rows(2, 2)), tmp_path / f"new{extension}")),
    ):
        with refuses(
            package, "package", got=f"{doing} {extension}.*pip install '{needed}'", error=MissingDependencyError
        ):
            use(path)


def test_a_wrong_name_is_answered_by_the_files_that_are_there(tmp_path):
    for name in ("ensemble.npz", "ensemble.npy", "labels.npy"):
        (tmp_path / name).touch()
    for wrong, remedy in (
        ("ensemble", "did you mean ensemble.npy or ensemble.npz"),
        ("ensembel.npz", "did you mean ensemble.npz"),
        ("zzz.npz", "check the path"),
    ):
        with pytest.raises(FileFormatError) as caught:
            open_contents(tmp_path / wrong)
        assert caught.value.code == "missing"
        assert remedy in caught.value.remedy


def test_a_folder_is_answered_by_a_file_in_it(tmp_path):
    with pytest.raises(FileFormatError, match="it is a folder; give a file"):
        open_contents(tmp_path)
    (tmp_path / "config.json").touch()
    (tmp_path / "ensemble.npz").touch()
    with pytest.raises(FileFormatError, match=r"it is a folder; give the files in it, such as .*ensemble\.npz"):
        open_contents(tmp_path)
    (tmp_path / "assay.json").touch()
    with pytest.raises(FileFormatError, match="give a kept assay alone"):
        open_contents(tmp_path)


@pytest.mark.parametrize(
    ("suffix", "remedy"), [(".txt", "rename it to .csv"), (".ndjson", "rename it to .jsonl"), (".xlsx", "as .csv")]
)
def test_formats_that_are_nearly_right_are_answered_by_the_conversion(tmp_path, suffix, remedy):
    path = (tmp_path / "p").with_suffix(suffix)
    path.write_text("0")
    with pytest.raises(FileFormatError) as caught:
        open_contents(path)
    assert remedy in caught.value.remedy


# -- saving --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", [".npz", ".csv", ".zarr"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, needs, monkeypatch, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    path = tmp_path / f"p{extension}"
    old = uq.Point(rows(3, 2))
    uq.save(old, path)

    def write_half(draft: Path, arrays: dict) -> None:
        if extension == ".zarr":
            draft.mkdir()
            (draft / "half").write_bytes(b"half")
        else:
            draft.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setitem(FORMATS, extension, type(FORMATS[extension])(FORMATS[extension].read, write_half))
    with refuses("file", "unwritable", got="no space left", source=path.name, error=FileFormatError):
        uq.save(uq.Point(rows(4, 2)), path)
    assert [part.name for part in tmp_path.iterdir()] == [path.name]
    assert_same(old, uq.load(path))


def test_a_source_that_was_truncated_while_it_is_mapped_is_refused(tmp_path, needs):
    """Reading a page of a map that the file no longer has would end the interpreter by a signal."""
    needs(*{PACKAGES.get(extension, "numpy") for extension in FORMATS})
    program = f"""if True:
        import os, numpy as np, uqassay as uq
        os.chdir({str(tmp_path)!r})
        for extension in {tuple(FORMATS)}:
            np.save("source.npy", np.full((20_000, 10), 0.1))
            prediction = uq.load("source.npy")
            os.truncate("source.npy", 5000)
            try:
                uq.save(prediction, f"target{{extension}}")
            except uq.errors.FileFormatError as problem:
                print(extension, problem.source, problem.parameter, problem.code)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    refused = "".join(f"{extension} source.npy file unreadable\n" for extension in FORMATS)
    assert (done.returncode, done.stdout, done.stderr) == (0, refused, "")
    assert [part.name for part in tmp_path.iterdir()] == ["source.npy"]


def test_a_folder_that_is_no_zarr_store_is_not_replaced(tmp_path, needs):
    needs("zarr")
    (tmp_path / "thesis.zarr").mkdir()
    (tmp_path / "thesis.zarr" / "chapter").write_text("1")
    with refuses("path", "conflict", source="thesis.zarr", error=FileFormatError):
        uq.save(uq.Point(rows(2, 2)), tmp_path / "thesis.zarr")
    assert (tmp_path / "thesis.zarr" / "chapter").read_text() == "1"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("extension", [".npz", ".zarr"])
def test_a_symbolic_link_stays_and_what_it_leads_to_is_replaced(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    (tmp_path / "store").mkdir()
    real, link = tmp_path / "store" / f"real{extension}", tmp_path / f"link{extension}"
    link.symlink_to(real)
    for n in (3, 4):  # a link that leads nowhere yet, and one to a file
        uq.save(uq.Point(rows(n, 2)), link)
        assert link.is_symlink()
        assert uq.load(real).n_instances == n
    assert [part.name for part in real.parent.iterdir()] == [real.name]


def test_a_pipe_is_neither_replaced_nor_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.npz")
    for use in (lambda path: uq.save(uq.Point(rows(3, 2)), path), uq.load, uq.load_labels):
        with refuses("path", "not-a-file", source="p.npz", error=FileFormatError):
            use(tmp_path / "p.npz")
    assert (tmp_path / "p.npz").is_fifo()


@pytest.mark.parametrize("extension", [".npz", ".safetensors"])
def test_permissions_are_those_of_any_new_file(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    (tmp_path / "plain").touch()
    uq.save(uq.Point(rows(2, 2)), tmp_path / f"p{extension}")
    assert (tmp_path / f"p{extension}").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    ("kind", "name", "parameter", "code", "got"),
    [
        ("dirichlet", "p.npy", "prediction", "format", "alpha, class_names"),
        ("point", "p.npy", "prediction", "format", "class_names, groups and ids"),
        ("members", "p.csv", "prediction", "format", "5 members"),
        ("vertices", "p.jsonl", "prediction", "format", "vertices"),
        ("point", "p.pickle", "extension", "pickle", "pickle"),
        ("point", "none/p.npz", "folder", "missing", "none"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_before_anything_is_written(tmp_path, kind, name, parameter, code, got):
    with refuses(parameter, code, got=got, source=name.rpartition("/")[2], error=FileFormatError):
        uq.save(every_kind()[kind], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_another_length_are_not_stored(tmp_path):
    with refuses("labels", "mismatch", got="got 2", source="p.npz", error=FileFormatError):
        uq.save(uq.Point(rows(3, 2)), tmp_path / "p.npz", labels=[0, 1])
    with refuses("prediction", "type", got="got ndarray"):
        uq.save(rows(3, 2), tmp_path / "p.npz")


@pytest.mark.parametrize("extension", [".npy", ".csv", ".parquet", ".jsonl"])
def test_what_a_format_leaves_out_is_said(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    path = tmp_path / f"p{extension}"
    prediction = uq.Point.from_logits([[0.0, 1.0], [2.0, 0.0]], notes=(Note("repaired", "2 rows repaired"),))
    lost = what_is_lost(prediction, path)
    assert [note.code for note in lost] == ["notes-lost", "log-partition-lost"]
    with pytest.warns(LossyFormatWarning) as told:
        uq.save(prediction, path)
    assert [str(warning.message) for warning in told] == [
        f"p{extension}: {note}; save it as .npz to keep them." for note in lost
    ]
    assert what_is_lost(prediction, "p.npz") == what_is_lost(uq.Point([[0.5, 0.5]]), path) == ()
    uq.save(uq.load(path), path)  # nothing is left to lose


def test_notes_keep_their_codes_and_older_files_their_texts(tmp_path):
    notes = (Note("repaired", "2 rows repaired"), Note("subsampled", "3 of 9 members"))
    uq.save(uq.Point(rows(2, 2), notes=notes), tmp_path / "p.npz")
    assert uq.load(tmp_path / "p.npz").notes == notes
    np.savez(tmp_path / "old.npz", probs=rows(2, 2), notes=np.array(["2 rows repaired"]))
    assert uq.load(tmp_path / "old.npz").notes == (Note("stated", "2 rows repaired"),)
    np.savez(tmp_path / "odd.npz", probs=rows(2, 2), notes=np.array(["x"]), note_codes=np.array(["a", "b"]))
    with refuses("note_codes", "mismatch", source="odd.npz", error=FileFormatError):
        uq.load(tmp_path / "odd.npz")


def test_an_unknown_extension_to_write_is_answered_with_those_that_exist(tmp_path):
    with refuses("extension", "choice", got=r"\.npz, .*\.pt; got '\.txt'; end the name", error=FileFormatError):
        uq.save(uq.Point(rows(2, 2)), tmp_path / "p.txt")


# -- inspecting ----------------------------------------------------------------------------------------------------------


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
    monkeypatch.setattr(arrays_on_disk, "_read_member", lambda *_: pytest.fail("an array was read"))
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


@pytest.mark.parametrize(
    "arrays", [{"alpha": np.ones((3, 4))}, {"mean": np.zeros((3, 4)), "variance": np.ones((3, 4))}]
)
def test_a_file_orders_no_more_draws_than_fit_into_the_memory_it_may_take(tmp_path, monkeypatch, arrays):
    path, most = tmp_path / "p.npz", 64 * 2**20 // (8 * 4)
    given = arrays | ({"variance_is": "epistemic"} if "mean" in arrays else {})
    np.savez(path, **given, n_draws=most + 1)
    with refuses("n_draws", "size", got="67.1 MB", source="p.npz", error=FileFormatError):
        uq.load(path)
    monkeypatch.setenv("UQASSAY_MAX_ARRAY_BYTES", "100")
    np.savez(path, **given, n_draws=4)
    with refuses("n_draws", "size", error=FileFormatError):
        uq.load(path)
    monkeypatch.setenv("UQASSAY_MAX_ARRAY_BYTES", str(8 * 4 * 4))  # the remedy
    assert uq.load(path).n_draws == 4


# Ids come out of a file as they stand in it: whole numbers beyond 63 bits, and text with NUL.

P = [[0.7, 0.3], [0.4, 0.6], [0.2, 0.8]]
BIG = {
    "beyond 63 bits": [2**63 + 1, 2**63 + 3, 2**64 - 1],
    "some beyond 63 bits": [2**63 + 1, 2**63 + 3, 5],
    "beyond 53 bits": [2**53 + 1, 2**53 + 2, 5],
    "of both signs": [-(2**53) - 1, 2**53 + 1, 5],
}


def json_lines(folder, key, values):
    path = folder / "m.jsonl"
    rows = [{"probs": {"no": p, "yes": q}, key: value} for (p, q), value in zip(P, values, strict=True)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def parquet(folder, key, values):
    arrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = folder / "m.parquet"
    columns = dict(zip(("proba_no", "proba_yes"), map(list, zip(*P, strict=True)), strict=True))
    kind = arrow.uint64() if all(isinstance(v, int) and v >= 0 for v in values) else None
    pq.write_table(arrow.table(columns | {key: arrow.array(values, kind)}), path)
    return path


@pytest.mark.parametrize("write", [json_lines, parquet])
@pytest.mark.parametrize("role", ["id", "group"])
@pytest.mark.parametrize("values", BIG.values(), ids=BIG)
def test_whole_numbers_stay_exact(write, role, values, tmp_path):
    held = getattr(uq.load(write(tmp_path, role, values)), f"{role}s")
    assert held.dtype.kind in "iu"
    assert list(map(int, held)) == values


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".npz"])
@pytest.mark.parametrize("values", BIG.values(), ids=BIG)
def test_whole_numbers_survive_saving(suffix, values, tmp_path):
    ids = np.array(values, dtype=np.uint64 if min(values) >= 0 else np.int64)
    uq.save(uq.Point(P, ids=ids), tmp_path / f"m{suffix}")
    back = uq.load(tmp_path / f"m{suffix}").ids
    assert back.dtype.kind in "iu"
    assert list(map(int, back)) == values


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".npz"])
def test_rows_align_by_ids_beyond_63_bits(suffix, tmp_path):
    ids = np.array([2**63 + 1, 2**63 + 3, 5], dtype=np.uint64)
    p, order = np.array(P), [2, 0, 1]
    uq.save(uq.Point(p, ids=ids), tmp_path / f"a{suffix}")
    uq.save(uq.Point(p[order], ids=ids[order]), tmp_path / "b.npz")
    models = {"a": uq.load(tmp_path / f"a{suffix}"), "b": uq.load(tmp_path / "b.npz")}
    rows = uq.assay(models, pd.Series([0, 1, 1], index=ids), calibration=()).rows("findings")
    found = {row["model"]: row["estimate"] for row in rows if (row["metric"], row["run"]) == ("accuracy", "all")}
    assert found["a"] == found["b"] == 1.0


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("role", ["ids", "groups"])
def test_text_with_nul_is_refused_where_a_format_would_cut_it(suffix, role, tmp_path):
    given = uq.Point(P, **{role: ["a\0b", "a\0c", "a"]})
    with pytest.raises(FileFormatError, match=r"NUL.*save it as .npz"):
        uq.save(given, tmp_path / f"m{suffix}")
    uq.save(given, tmp_path / "m.npz")
    assert getattr(uq.load(tmp_path / "m.npz"), role).tolist() == ["a\0b", "a\0c", "a"]


@pytest.mark.parametrize("write", [json_lines, parquet])
@pytest.mark.parametrize("values", [["a\0b", "a\0c", "a"], ["\0a", "\0b", "a"]], ids=["inside", "first"])
def test_text_with_nul_is_refused_by_its_row(write, values, tmp_path):
    with pytest.raises(FileFormatError, match=r"NUL.*row 0"):
        uq.load(write(tmp_path, "id", values))


@pytest.mark.parametrize("write", [json_lines, parquet])
def test_text_that_ends_in_nul_is_refused_for_it(write, tmp_path):
    """NumPy drops NUL at the end of text: these ids would be said to be duplicates, which they are not in the file."""
    with pytest.raises(FileFormatError, match=r"NUL") as found:
        uq.load(write(tmp_path, "id", ["a\0", "a", "b"]))
    assert found.value.code != "duplicate"
