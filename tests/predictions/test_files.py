"""load, save, load_labels: round trips, labels, writing whole or not at all, real files."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.refusals import refuses
from tests.sample_files import PACKAGES, assert_same, every_kind, rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions.file_opening import FORMATS
from uqassay.predictions.files import file_hash, inspect_file, load_column

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
    assert_same(prediction, back, leave_out=("probs",))
    assert uq.load_labels(path).tolist() == [2, 1]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weights=hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.floats(1e-9, 1e9)))
def test_csv_gives_back_every_float64_exactly(tmp_path, weights):
    prediction = uq.Point(weights, normalise=True)
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


def test_text_index_of_a_table_in_memory_is_stored(tmp_path, needs):
    needs("pandas")
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


@pytest.mark.parametrize(("class_names", "row", "label"), [(None, 0, "b"), (("a", "b"), 2, "zebra")])
def test_a_label_that_is_no_class_is_named_with_its_row(tmp_path, class_names, row, label):
    np.savez(tmp_path / "l.npz", labels=np.array(["b", "a", "zebra"]))
    with refuses("labels", "class-names", got=f"row {row} holds '{label}'", source="l.npz", error=FileFormatError):
        uq.load_labels(tmp_path / "l.npz", class_names=class_names)


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
    values, ids = load_column(tmp_path / "g.npz", ["groups", "group"])
    assert (values.tolist(), ids.tolist()) == ([7, 8], [3, 1])
    np.save(tmp_path / "g.npy", np.arange(4))
    assert load_column(tmp_path / "g.npy", ["groups"])[1] is None
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
    uq.save(uq.Point(rows(2, 2)), tmp_path / "p.csv")
    code = (
        "import sys, uqassay as uq, uqassay.predictions.files, uqassay.predictions.adapters\n"
        f"uq.load({str(tmp_path / 'p.npz')!r}); uq.load({str(tmp_path / 'p.csv')!r})\n"
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
