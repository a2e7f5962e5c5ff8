"""A cell's key stands for everything its result depends on."""

import hashlib
import json
import re

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay
from uqassay.lab.bench.cell import Cell, canonical_json, function_of

FACTS = {
    "dataset": "toy", "method": "forest", "seed": 1, "params": {"a": [1, 2.5], "b": None},
    "condition": {"share": 0.5}, "data_hash": "ab", "threads": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dataset", "other"), ("method", "other"), ("seed", 2), ("params", {"a": [1, 2.5]}),
        ("params", {"a": [2.5, 1], "b": None}), ("condition", {}), ("data_hash", "cd"), ("threads", 2),
    ],
)  # fmt: skip
def test_every_field_changes_the_key(field, value):
    assert Cell("json:dumps", **FACTS).key != Cell("json:dumps", **FACTS | {field: value}).key
    assert Cell("json:dumps", **FACTS).key != Cell("json:loads", **FACTS).key


def test_key_is_the_digest_of_the_canonical_facts():
    cell = Cell("json:dumps", **FACTS)
    facts = {**FACTS, "function": "json:dumps", "schema": "uqassay.cell/1", "version": uqassay.__version__}
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    assert cell.key == hashlib.sha256(text.encode()).hexdigest()


def test_place_of_the_data_is_carried_along_and_no_part_of_the_key():
    cell = Cell("json:dumps", **FACTS, source="npz:/here/data.npz")
    assert cell.key == Cell("json:dumps", **FACTS).key == Cell("json:dumps", **FACTS, source="npz:/there/data.npz").key
    assert Cell.from_json(cell.to_json()).source == "npz:/here/data.npz"


def test_order_of_keys_and_kind_of_sequence_do_not_matter():
    turned = FACTS | {"params": {"b": None, "a": (1, 2.5)}}
    assert Cell("json:dumps", **FACTS).key == Cell("json:dumps", **turned).key


def test_json_gives_the_cell_back():
    cell = Cell("json:dumps", **FACTS)
    again = Cell.from_json(cell.to_json())
    assert again == cell
    assert (again.key, hash(again)) == (cell.key, hash(cell))


def test_later_changes_of_a_dictionary_do_not_reach_the_cell():
    params = {"a": [1]}
    cell = Cell("json:dumps", dataset="d", method="m", seed=0, params=params)
    key = cell.key
    params["a"].append(2)
    assert cell.key == key


def test_values_that_hold_themselves_are_refused():
    endless = {}
    endless["a"] = endless
    with refuses("params", "size"):
        Cell("json:dumps", dataset="d", method="m", seed=0, params=endless)


@pytest.mark.parametrize(
    ("value", "code"),
    [(float("nan"), "finite"), ({1: 2}, "type"), ({"a": [{None: 1}]}, "type"), (np.float64(np.inf), "finite"),
     (object(), "type"), ({"a": {1, 2}}, "type")],
)  # fmt: skip
def test_values_that_are_not_plain_are_refused(value, code):
    with refuses("params", code):
        Cell("json:dumps", dataset="d", method="m", seed=0, params={"value": value})


@pytest.mark.parametrize("function", ["json", "json:", ":dumps", "json.dumps", "a b:c", "json:dumps:more", "json:1x"])
def test_function_must_be_importable_by_name(function):
    with refuses("function", "type", got=re.escape(repr(function))):
        Cell(function, dataset="d", method="m", seed=0)


@pytest.mark.parametrize("name", ["function", "dataset", "method", "data_hash", "source"])
@pytest.mark.parametrize("value", [True, -1, None, ["a"]])
def test_what_must_be_text_is_text(name, value):
    with refuses(name, "type", got="must be text"):
        Cell(**{"function": "json:dumps", "dataset": "a", "method": "b", "seed": 0, name: value})


@pytest.mark.parametrize(
    ("seed", "code"), [(-1, "range"), (2**32, "range"), (1.0, "type"), (True, "type"), ("1", "type")]
)
def test_seed_out_of_range_is_refused(seed, code):
    with refuses("seed", code, got=f"got {seed!r}"):
        Cell("json:dumps", dataset="d", method="m", seed=seed)


@pytest.mark.parametrize(
    ("name", "code", "got"),
    [("no_such:run", "missing", "no_such"), ("json:no_such", "missing", "no_such"), ("json:decoder", "type", "module")],
)
def test_function_that_is_not_there_is_told(name, code, got):
    with refuses("function", code, got=got):
        function_of(name)


def test_canonical_json_tells_equal_looking_keys_apart():
    assert canonical_json({"b": True, "a": [1, 1.0, "1", None, "é"]}) == '{"a":[1,1.0,"1",null,"\\u00e9"],"b":true}'
