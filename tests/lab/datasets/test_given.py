"""npz, csv and svmlight files of the user's."""

import io
import sys
import zipfile
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError, MissingDependencyError
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.given import load_npz


@pytest.fixture
def arrays():
    g = np.random.default_rng(0)
    return {
        "X_train": g.normal(size=(40, 3)),
        "y_train": np.arange(40) % 4,
        "X_test": g.normal(size=(20, 3)),
        "y_test": np.arange(20) % 4,
    }


def test_npz_with_a_split(tmp_path, arrays):
    votes = np.random.default_rng(1).integers(1, 5, (20, 4))
    np.savez(tmp_path / "mine.npz", votes_test=votes, class_names=list("abcd"), groups_train=np.arange(40), **arrays)
    for name in (f"npz:{tmp_path / 'mine.npz'}", f"npz:{tmp_path}"):
        data = load_dataset(name)
        np.testing.assert_array_equal(data.X_test, arrays["X_test"])
        np.testing.assert_array_equal(data.votes_test, votes)
        np.testing.assert_array_equal(data.groups_train, np.arange(40))
        assert data.class_names == ("a", "b", "c", "d")


def test_npz_in_two_files(tmp_path, arrays):
    for part in ("train", "test"):
        extra = {"votes": np.ones((20, 4))} if part == "test" else {"class_names": list("abcd")}
        np.savez(tmp_path / f"{part}.npz", X=arrays[f"X_{part}"], y=arrays[f"y_{part}"], **extra)
    data = load_dataset(f"npz:{tmp_path}")
    np.testing.assert_array_equal(data.X_train, arrays["X_train"])
    np.testing.assert_array_equal(data.y_test, arrays["y_test"])
    assert data.votes_test.shape == (20, 4)


def test_npz_without_a_split(tmp_path, arrays):
    np.savez(tmp_path / "all.npz", X=arrays["X_train"], y=arrays["y_train"], groups=np.arange(40) // 2)
    data = load_dataset(f"npz:{tmp_path / 'all.npz'}", test_size=0.25, rng=1)
    assert (len(data.y_train), len(data.y_test)) == (30, 10)
    places = np.concatenate([data.X_train, data.X_test])[:, None] == arrays["X_train"]
    rows = places.all(axis=2).argmax(axis=1)
    np.testing.assert_array_equal(np.sort(rows), np.arange(40))
    np.testing.assert_array_equal(np.concatenate([data.groups_train, data.groups_test]), rows // 2)
    assert data.class_names == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([2, 5], ("2", "5")), ([-1, 1], ("-1", "1")), ([0, 1, 3], ("0", "1", "3")), ([1.0, 7.0], ("1", "7")),
        ([False, True], ("0", "1")), ([10, 9, 2], ("2", "9", "10")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("split", [True, False])
def test_classes_without_names_are_the_labels_that_occur(tmp_path, labels, names, split):
    x = np.random.default_rng(4).normal(size=(30, 2))
    y = np.resize(labels, 30)
    if split:  # the test part alone has the last one
        y = np.sort(y)[::-1] if labels[0] == 10 else np.sort(y)
        np.savez(tmp_path / "mine.npz", X_train=x[:20], y_train=y[:20], X_test=x[20:], y_test=y[20:])
    else:
        np.savez(tmp_path / "mine.npz", X=x, y=y)
    data = load_npz(tmp_path / "mine.npz")
    assert data.class_names == names
    given = {row.tobytes(): label for row, label in zip(x, y, strict=True)}
    for rows, numbers in ((data.X_train, data.y_train), (data.X_test, data.y_test)):
        assert [float(data.class_names[k]) for k in numbers] == [given[row.tobytes()] for row in rows]


def test_names_and_votes_say_how_many_classes_there_are(tmp_path, arrays):
    arrays |= {"y_train": arrays["y_train"] % 2, "y_test": arrays["y_test"] % 2}
    np.savez(tmp_path / "named.npz", class_names=list("abc"), **arrays)
    assert load_npz(tmp_path / "named.npz").class_names == ("a", "b", "c")
    np.savez(tmp_path / "voted.npz", votes_test=np.ones((20, 5)), **arrays)
    assert load_npz(tmp_path / "voted.npz").class_names == ("0", "1", "2", "3", "4")


@pytest.mark.parametrize(("labels", "shown"), [([0.5, 1.5], r"0\.5, 1\.5"), ([3, 3], "3")])
def test_labels_that_are_no_classes(tmp_path, labels, shown):
    np.savez(tmp_path / "mine.npz", X_train=np.ones((2, 1)), y_train=labels, X_test=np.ones((2, 1)), y_test=labels)
    with refuses("labels", "range", got=f"got {shown}; number", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")


@pytest.mark.parametrize(
    "labels",
    [np.array([0, 1e300]), np.array([0, 2**64 - 1], dtype=np.uint64), np.array([-1e19, 0]), np.array([0, 2.0**63])],
)
@pytest.mark.parametrize("split", [True, False])
def test_labels_that_fit_no_whole_number_are_refused(tmp_path, labels, split):
    x, y = np.random.default_rng(0).normal(size=(20, 2)), np.repeat(labels, 10)
    arrays = {"X_train": x, "y_train": y, "X_test": x, "y_test": y} if split else {"X": x, "y": y}
    np.savez(tmp_path / "mine.npz", **arrays)
    with refuses("labels", "range", got="64 bits", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_large_labels_keep_every_digit(tmp_path, kind):
    labels = np.array([2**62, 2**62 + 1], dtype=kind)
    np.savez(tmp_path / "mine.npz", X=np.ones((20, 2)), y=np.resize(labels, 20))
    assert load_npz(tmp_path / "mine.npz").class_names == (str(2**62), str(2**62 + 1))


def test_row_that_is_not_finite_is_the_user_s_row(tmp_path):
    x = np.ones((30, 2))
    x[3, 1] = np.nan
    np.savez(tmp_path / "mine.npz", X=x, y=np.arange(30) % 2)
    with refuses("X", "finite", got="row 3 does not", source="mine.npz"):
        load_npz(tmp_path / "mine.npz")


def test_too_few_to_split_says_what_to_save(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.ones((2, 1)), y=[0, 1])
    with refuses("test_size", "range", got="save a split as X_train", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")


def test_bytes_of_images_become_shares(tmp_path):
    x = np.random.default_rng(2).integers(0, 256, (8, 3, 4, 4), dtype=np.uint8)
    np.savez(tmp_path / "a.npz", X=x, y=np.arange(8) % 2)
    data = load_npz(tmp_path / "a.npz", test_size=2)
    assert data.X_train.dtype == np.float32
    assert 0.5 < data.X_train.max() <= 1.0


def test_nothing_is_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([[object()]] * 4), y=np.arange(4) % 2)
    with refuses("X", source="a.npz", got="object", error=FileFormatError):
        load_dataset(f"npz:{tmp_path / 'a.npz'}")


def test_what_an_npz_lacks(tmp_path, arrays):
    with refuses("npz", "missing", got=" has 0", error=FileFormatError):
        load_dataset(f"npz:{tmp_path / 'no'}")
    np.savez(tmp_path / "a.npz", X=arrays["X_train"])
    with refuses("arrays", "missing", got="got X", source="a.npz", error=FileFormatError):
        load_dataset(f"npz:{tmp_path / 'a.npz'}")
    (tmp_path / "b.npz").write_bytes(b"PK nothing")
    with refuses("file", "unreadable", source="b.npz", error=FileFormatError):
        load_dataset(f"npz:{tmp_path / 'b.npz'}")


# ---- tf-idf sets -----------------------------------------------------------------------------------------------------


@pytest.fixture(params=["npz", "csv", "svmlight"])
def features(request, own_cache, needs):
    """Training and test features of a set, written in one of the three formats."""
    g = np.random.default_rng(3)
    truth = {}
    home = own_cache / "bacteria"
    home.mkdir(parents=True)
    for part, n in (("train", 30), ("test", 12)):
        x = np.round(g.random((n, 7)) * (g.random((n, 7)) < 0.4), 4)
        x[0] = 0.5
        y = np.arange(n) % 3 * 10 + 5
        truth[part] = x, y
        path = home / f"{part}.{request.param}"
        if request.param == "npz":
            np.savez(path, X=x, y=y)
        elif request.param == "csv":
            rows = [",".join(map(str, [*row[:2], label, *row[2:]])) for row, label in zip(x, y, strict=True)]
            path.write_text("a,b,label,c,d,e,f,g\n" + "\n".join(rows) + "\n")
        else:
            needs("sklearn")
            from sklearn.datasets import dump_svmlight_file

            dump_svmlight_file(x, y, str(path))
    return truth


def test_features_in_three_formats(features):
    data = load_dataset("bacteria")
    for part in ("train", "test"):
        x, y = features[part]
        np.testing.assert_allclose(getattr(data, f"X_{part}"), x, rtol=1e-6)
        # csv holds text, so its classes are in the order of text: 15, 25, 5
        names = np.array(data.class_names)[getattr(data, f"y_{part}")]
        np.testing.assert_array_equal(names.astype(int), y)
    assert data.X_train.dtype == np.float32


def test_features_that_are_missing_or_broken(own_cache):
    with refuses("proteins", "missing", got=f"put its features at {own_cache}/proteins/train"):
        load_dataset("proteins")
    home = own_cache / "proteins"
    home.mkdir(parents=True)
    for text, parameter, code, got in (
        ("a,b\n1,2\n", "columns", "missing", "got 0"),
        ("a,label\n1,2\n3\n", "columns", "shape", "got 1 in row 1"),
        ("a,label\nx,2\n", "file", "unreadable", "'x'"),
    ):
        for part in ("train", "test"):
            (home / f"{part}.csv").write_text(text)
        with refuses(parameter, code, got=got, source="train.csv", error=FileFormatError):
            load_dataset("proteins")
    for part in ("train", "test"):
        np.savez(home / f"{part}.npz", X=np.ones((2, 2)))
    with refuses("arrays", "missing", got="got X", source="train.npz", error=FileFormatError):
        load_dataset("proteins")


@pytest.mark.parametrize("n_labels", [19, 21])
def test_npz_whose_arrays_do_not_belong_together(tmp_path, n_labels):
    np.savez(tmp_path / "mine.npz", X=np.ones((20, 3)), y=np.arange(n_labels) % 2)
    with refuses("X", "mismatch", got=f"each of {n_labels} labels; got .*20", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")
    np.savez(tmp_path / "mine.npz", X=np.ones((20, 3)), y=np.arange(20) % 2, groups=np.arange(n_labels))
    with refuses("groups", "mismatch", got="each of 20 labels", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")


@pytest.mark.parametrize(
    "labels", [np.array(["no", "yes"] * 4), np.array([0.0, np.nan] * 4), np.eye(8)], ids=["text", "nan", "rows"]
)
def test_npz_whose_labels_are_no_indices(tmp_path, arrays, labels):
    np.savez(tmp_path / "mine.npz", X=np.ones((8, 3)), y=labels)
    with refuses("y", "type", got="one class index", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")
    np.savez(tmp_path / "mine.npz", **arrays | {"X_test": np.ones((8, 3)), "y_test": labels})
    with refuses("y_test", "type", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")


def test_npz_that_claims_more_than_memory_holds(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**14, 3)})
    with zipfile.ZipFile(tmp_path / "mine.npz", "w") as archive:
        archive.writestr("X.npy", stream.getvalue())
    with refuses("X", "truncated", got="2,400 TB", source="mine.npz", error=FileFormatError):
        load_npz(tmp_path / "mine.npz")


def test_npz_that_was_cut_is_closed_again(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, X=np.ones((20, 3)), y=np.arange(20) % 2)
    path.write_bytes(path.read_bytes()[:300])
    with refuses("file", "unreadable", source="mine.npz", error=FileFormatError):  # without a ResourceWarning
        load_npz(path)


def test_csv_of_a_spreadsheet_begins_with_a_mark(own_cache):
    home = own_cache / "proteins"
    home.mkdir(parents=True)
    for part in ("train", "test"):
        (home / f"{part}.csv").write_text("label,a\nx,1\ny,2\n", encoding="utf-8-sig")
    assert load_dataset("proteins").class_names == ("x", "y")


def test_a_damaged_file_without_an_extension_is_named(tmp_path):
    (tmp_path / "data").write_text("x")
    with pytest.raises(FileFormatError, match=r"^data: file: cannot be read; "):
        load_npz(tmp_path / "data")


# -- Sets of the Hugging Face Hub: through a stand-in for its package, and through the package where it is installed.


class Part:
    """Rows of columns with features, as a part of a set of that package has them."""

    def __init__(self, features, columns):
        self.features, self.columns = features, columns
        self.info = SimpleNamespace(license="mit")

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key):
        return self.columns[key] if isinstance(key, str) else {c: values[key] for c, values in self.columns.items()}

    def __iter__(self):
        return (self[i] for i in range(len(self)))


@pytest.fixture
def hub(monkeypatch):
    """A stand-in; `hub.parts` is what it loads."""
    module = ModuleType("datasets")
    module.ClassLabel = type("ClassLabel", (SimpleNamespace,), {})
    module.Image = type("Image", (), {})
    module.exceptions = SimpleNamespace(DatasetsError=type("DatasetsError", (Exception,), {}))
    module.parts, module.fail, module.asked = {}, None, []

    def load(name, cache_dir):
        module.asked.append((name, cache_dir))
        if module.fail:
            raise module.fail
        return module.parts

    module.load_dataset = load
    monkeypatch.setitem(sys.modules, "datasets", module)
    return module


def numbers(hub, n=20, label=None, names=("no", "yes")):
    features = {
        "a": SimpleNamespace(dtype="float32"),
        "text": SimpleNamespace(dtype="string"),
        "b": SimpleNamespace(dtype="int64"),
        "label": hub.ClassLabel(names=list(names), dtype="int64"),
    }
    labels = [i % 2 for i in range(n)] if label is None else label
    return Part(features, {"a": [i / 4 for i in range(n)], "text": ["x"] * n, "b": list(range(n)), "label": labels})


def test_columns_of_numbers(hub, own_cache):
    hub.parts = {"train": numbers(hub), "test": numbers(hub, 6)}
    data = load_dataset("hf:Someone/Set")
    assert hub.asked == [("Someone/Set", str(own_cache / "huggingface"))]
    np.testing.assert_array_equal(data.X_train, np.stack([np.arange(20) / 4, np.arange(20)], axis=1))
    np.testing.assert_array_equal(data.y_test, np.arange(6) % 2)
    assert (data.name, data.class_names, data.licence) == ("hf:Someone/Set", ("no", "yes"), "mit")


def test_a_test_part_without_labels_is_not_one(hub):
    hub.parts = {"train": numbers(hub), "test": numbers(hub, 6, [-1] * 6), "validation": numbers(hub, 4)}
    assert len(load_dataset("hf:a").y_test) == 4
    del hub.parts["validation"]
    data = load_dataset("hf:a", test_size=0.25, rng=1)
    assert (len(data.y_train), len(data.y_test)) == (15, 5)


def test_a_column_named_label_of_text(hub):
    part = numbers(hub)
    part.features["label"] = SimpleNamespace(dtype="string")
    part.columns["label"] = ["spam" if i % 3 else "ham" for i in range(20)]
    hub.parts = {"train": part}
    assert load_dataset("hf:a").class_names == ("ham", "spam")


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("RGB", 3)])
def test_images(hub, needs, mode, channels):
    needs("PIL")
    from PIL import Image

    def part(n, size=(6, 8)):
        pictures = [Image.new(mode, size, 10 * i if mode == "L" else (10 * i, 0, 0)) for i in range(n)]
        features = {"image": hub.Image(), "label": hub.ClassLabel(names=["a", "b"])}
        return Part(features, {"image": pictures, "label": [i % 2 for i in range(n)]})

    hub.parts = {"train": part(10), "test": part(4)}
    data = load_dataset("hf:a")
    assert data.X_train.shape == (10, channels, 8, 6)  # height 8, width 6
    np.testing.assert_allclose(data.X_test[:, 0, 3, 3] * 255, [0, 10, 20, 30], atol=1e-4)
    assert load_dataset("hf:a", image_size=5).X_test.shape == (4, channels, 5, 5)
    hub.parts["train"].columns["image"][2] = Image.new(mode, (6, 9))
    with refuses("image_size", "shape", got=r"got \(6, 8\) and \(6, 9\)"):
        load_dataset("hf:a")


def test_what_cannot_be_used(hub):
    for problem in (ConnectionError("no route"), ValueError("no route"), hub.exceptions.DatasetsError("no route")):
        hub.fail = problem
        with refuses("hf", "unreadable", got="no route"):
            load_dataset("hf:a")
    hub.fail = None
    hub.parts = {"all": numbers(hub)}
    with refuses("hf", "missing", got="it has all"):
        load_dataset("hf:a")
    hub.parts = {"train": numbers(hub), "test": numbers(hub, names=("yes", "no"))}
    with refuses("hf", "mismatch"):
        load_dataset("hf:a")
    part = numbers(hub)
    del part.features["a"], part.features["b"]
    hub.parts = {"train": part}
    with refuses("hf", "missing", got="it has text and label"):
        load_dataset("hf:a")
    del part.features["label"]
    with refuses("hf", "missing", got="it has text"):
        load_dataset("hf:a")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with refuses("datasets", "package", got=r"hf:a .*pip install .datasets>=2", error=MissingDependencyError):
        load_dataset("hf:a")
