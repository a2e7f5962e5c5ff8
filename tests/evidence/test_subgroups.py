"""Subgroups from mappings and tables."""

import numpy as np
import pandas as pd
from tests.refusals import refuses

from uqassay.evidence.findings import subgroup_values
from uqassay.predictions.rows import Known

PLAIN = Known(None, {}, "m")


def test_mappings_and_tables_agree():
    values = {"site": ["n", "s", "n"], "age": [1, 2, 3]}
    table = pd.DataFrame(values)
    for given in (values, table):
        found = subgroup_values(given, 3, PLAIN)
        assert {name: array.tolist() for name, array in found.items()} == values
    assert subgroup_values(None, 3, PLAIN) == {}
    moved = pd.Series([3, 1, 2], index=["c", "a", "b"])
    assert subgroup_values({"age": moved}, 3, Known(np.array(["a", "b", "c"]), {}, "m"))["age"].tolist() == [1, 2, 3]


def test_refusals():
    with refuses("subgroups", "choice"):
        subgroup_values({"class": [1, 2]}, 2, PLAIN)
    with refuses("subgroups['age']", "finite"):
        subgroup_values({"age": [1.0, np.nan]}, 2, PLAIN)
    with refuses("subgroups['age']", "mismatch"):
        subgroup_values({"age": [1.0]}, 2, PLAIN)
    with refuses("subgroups", "type"):
        subgroup_values(3, 2, PLAIN)
    with refuses("subgroups", "duplicate"):
        subgroup_values(pd.DataFrame([[1, 2]], columns=["a", "a"]), 1, None)
