"""Point predictions as parquet tables."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError


@pytest.fixture
def write(tmp_path, needs):
    """Write columns to t.parquet."""
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    def table(columns, **options):
        pq.write_table(pa.table(columns), tmp_path / "t.parquet", **options)
        return tmp_path / "t.parquet"

    return table


def test_parquet_written_by_pandas(tmp_path, needs):
    needs("pandas", "pyarrow")
    import pandas as pd

    frame = pd.DataFrame(
        {"proba_a.b": np.float32([0.25, 0.5]), "proba_c": [0.75, 0.5], "label": pd.Categorical(["c", "a.b"])},
        index=["r1", "r2"],
    )
    frame["weight"] = [1, 2]
    frame.to_parquet(tmp_path / "t.parquet")
    prediction = uq.load(tmp_path / "t.parquet")
    assert prediction.probs.tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert prediction.class_names == ("a.b", "c")
    assert prediction.notes[0].facts["columns"] == ("weight",)
    assert uq.load_labels(tmp_path / "t.parquet").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("columns", "parameter", "code", "got"),
    [
        ({"proba_a": ["x", "y"], "proba_b": [0.5, 0.5]}, "proba_a", "type", "string"),
        ({"proba_a": [True, False], "proba_b": [0.5, 0.5]}, "proba_a", "type", "bool"),
        ({"proba_a": [[0.5], [0.5]], "proba_b": [0.5, 0.5]}, "proba_a", "type", "list"),
        ({"proba_a": [None, 0.5], "proba_b": [0.5, 0.5]}, "probs", "finite", "row 0 holds nan"),
        ({"a": [1]}, "columns", "missing", "found a"),
    ],
)
def test_broken_parquet_is_named_with_its_place(write, columns, parameter, code, got):
    path = write(columns)
    with refuses(parameter, code, got=got, source="t.parquet", error=FileFormatError):
        uq.load(path)


@pytest.mark.parametrize(
    ("label", "code"), [([None, 1], "missing"), ([[1], [0, 1]], "type"), ([{"a": 1}, {"a": 0}], "type")]
)
def test_labels_that_are_missing_or_nested_are_refused(write, label, code):
    path = write({"proba_0": [0.5, 0.5], "proba_1": [0.5, 0.5], "label": label})
    with refuses("label", code, source="t.parquet", error=FileFormatError):
        uq.load_labels(path)


def test_columns_that_repeat_one_value_do_not_become_gigabytes(write, monkeypatch):
    n = 5_000_000
    path = write({"proba_0": np.zeros(n, np.float32), "proba_1": np.ones(n, np.float32)})
    assert path.stat().st_size < 500_000
    with refuses("probs", "size", got="80.0 MB", source="t.parquet", error=FileFormatError):
        uq.load(path)
    monkeypatch.setenv("UQASSAY_MAX_ARRAY_BYTES", str(10**9))
    assert uq.load(path).n_instances == n


def test_one_long_text_does_not_make_all_rows_as_long(write):
    path = write({"proba_0": [0.5] * 3000, "proba_1": [0.5] * 3000, "label": ["a"] * 2999 + ["x" * 100_000]})
    with refuses("label", "size", got="1.20 GB", source="t.parquet", error=FileFormatError):
        uq.load_labels(path)
