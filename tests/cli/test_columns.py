"""Values given with the predictions: read whole, in the order of the ids, complete."""

from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.cli.columns import Rows, in_order, values_of_instances
from uqassay.errors import FileFormatError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_values_of_instances_are_found_by_their_name(folder):
    np.save("bare.npy", ["a", "b"])
    np.savez("named.npz", groups=[1, 2], other=[3, 4])
    np.savez("single.npz", site=[5, 6])
    Path("table.csv").write_text("site,age\n1,30\n2,40\n")
    rows = Rows(None, Path("p.npz"))
    assert values_of_instances(Path("bare.npy"), ("groups",), rows).tolist() == ["a", "b"]
    assert values_of_instances(Path("named.npz"), ("groups",), rows).tolist() == [1, 2]
    assert values_of_instances(Path("single.npz"), ("groups",), rows).tolist() == [5, 6]
    assert values_of_instances(Path("table.csv"), ("site",), rows).tolist() == [1, 2]
    with refuses("site", "missing", source="named.npz", error=FileFormatError):
        values_of_instances(Path("named.npz"), ("site",), rows)
    np.savez("objects.npz", groups=np.array([{}, {}], dtype=object))
    with refuses("groups", "pickle", source="objects.npz", error=FileFormatError):
        values_of_instances(Path("objects.npz"), ("groups",), rows)


@pytest.mark.parametrize(
    ("values", "got"),
    [
        ([0.0, np.nan, 1.0, np.nan], "2 of 4 have none, row 1 first"),
        (["a", "b", "c", ""], "1 of 4 have none, row 3 first"),
        (["nan", "b", " ", "NaN"], "3 of 4 have none, row 0 first"),
    ],
)
def test_instances_without_a_value_are_no_group_of_their_own(folder, values, got):
    np.save("g.npy", values)
    with refuses("groups", "missing", got=got, source="g.npy", error=FileFormatError):
        values_of_instances(Path("g.npy"), ("groups",), Rows(None, Path("p.npz")))


def test_every_value_is_kept_where_all_are_there(folder):
    np.save("g.npy", np.array([2.5, -1.0, np.inf, 0.0], dtype=np.float16))
    found = values_of_instances(Path("g.npy"), ("groups",), Rows(None, Path("p.npz")))
    assert found.tolist() == [2.5, -1.0, np.inf, 0.0]


def test_rows_follow_the_ids():
    rows = Rows(np.array(["w", "x", "y"]), None)
    values = in_order(np.array([10, 20, 30]), np.array(["y", "w", "x"]), rows, Path("v.npz"))
    assert values.tolist() == [20, 30, 10]
    with refuses("ids", "mismatch", got="some occur twice", source="v.npz", error=FileFormatError):
        in_order(np.arange(4), np.array(["w", "x", "y", "y"]), rows, Path("v.npz"))
    with refuses("ids", "mismatch", got="1 are missing, 'x' first", source="v.npz", error=FileFormatError):
        in_order(np.arange(2), np.array(["w", "y"]), rows, Path("v.npz"))
