"""Ids come out of a file as they stand in it: whole numbers beyond 63 bits, and text with NUL."""

import json

import numpy as np
import pandas as pd
import pytest

import uqassay as uq
from uqassay.errors import FileFormatError

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
    with pytest.raises(FileFormatError, match="NUL") as found:
        uq.load(write(tmp_path, "id", ["a\0", "a", "b"]))
    assert found.value.code != "duplicate"
