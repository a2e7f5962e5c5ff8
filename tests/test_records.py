"""Records as plain values and arrays, and what is refused when they are read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.refusals import refuses
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.records import Shape, packed, unpacked
from uqassay.statistics import Estimate


class Side(NamedTuple):
    low: float
    name: str = ""


@dataclass(frozen=True, eq=False)
class Part:
    rows: Annotated[NDArray[np.int64], Shape("m", below="n")]
    edges: Annotated[NDArray[np.float64], Shape("m+1", low=0.0, high=1.0)]

    def _check_read(self):
        if len(self.rows) > 3:
            fail("rows", "must be three at most", f"got {len(self.rows)}", code="range")


@dataclass(frozen=True, eq=False)
class Whole:
    parts: Mapping[str, Part]  # before the arrays whose lengths they share
    models: tuple[Part, ...]
    labels: Annotated[NDArray[np.int64], Shape("n", low=0)]
    names: Annotated[tuple[str, ...], Shape("K")]
    probs: Annotated[NDArray[np.float32], Shape("n", "K", finite=True)]
    ids: Annotated[NDArray[Any], Shape("n")] | None
    more: Annotated[NDArray[np.bool_], Shape("n", ...)]
    columns: dict[str, Annotated[NDArray[np.float64], Shape("R", "n")]]
    kind: Literal["a", "b"]
    estimate: Estimate
    side: Side
    pair: tuple[str, int]
    levels: Sequence[float]
    note: Note
    facts: Mapping[str, Any]
    most: int | None = None
    flag: bool = True
    _found: dict[str, int] = field(default_factory=dict, init=False)


def made(**changes):
    part = Part(np.array([0, 3]), np.array([0.0, 0.5, np.nan]))
    values: dict[str, Any] = {
        "parts": {"x y": part},
        "models": (part, Part(np.array([], np.int64), np.array([1.0]))),
        "labels": np.arange(4),
        "names": ("cat", "dög\ud800"),
        "probs": np.full((4, 2), 0.5, np.float32),
        "ids": np.array([("a", 1), None, 3, "d"], dtype=object),
        "more": np.ones((4, 1, 2), bool),
        "columns": {"../a\0b/ü": np.full((2, 4), np.inf), "": np.zeros((2, 4))},
        "kind": "a",
        "estimate": Estimate(
            0.5, low=-np.inf, high=np.nan, level=0.9, n=7, method="t", notes=[Note("few", "3", {"count": 3})]
        ),
        "side": Side(np.float64(0.25), "left"),
        "pair": ("a", np.int64(3)),
        "levels": [np.nan, 1, np.inf],
        "note": Note("runs", "2 runs", {"runs": 2, "names": ("a",)}),
        "facts": {"array": np.arange(2), "deep": [{"x": None}]},
    }
    return Whole(**(values | changes))


def kept(record):
    """Values and arrays as files hold them."""
    values, arrays = packed(record)
    return json.loads(json.dumps(values, allow_nan=False)), arrays


def test_a_record_comes_back_as_it_was():
    first = made()
    values, arrays = kept(first)
    again = unpacked(Whole, values, arrays)
    for name in ("labels", "probs", "more"):
        found, expected = getattr(again, name), getattr(first, name)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert again.ids is not None
    assert again.ids.tolist() == ["('a', 1)", "None", "3", "d"]
    assert list(again.columns) == list(first.columns)
    assert np.isinf(again.columns["../a\0b/ü"]).all()
    assert again.parts["x y"].rows.tolist() == again.models[0].rows.tolist() == [0, 3]
    assert (again.names, again.kind, again.side, again.pair) == (first.names, "a", first.side, ("a", 3))
    assert type(again.estimate) is Estimate
    assert (float(again.estimate), again.estimate.low, again.estimate.n) == (0.5, -np.inf, 7)
    assert np.isnan(again.estimate.high)
    assert again.estimate.notes[0].facts == {"count": 3}
    np.testing.assert_array_equal(again.levels, [np.nan, 1.0, np.inf])
    assert again.note.facts == {"runs": 2, "names": ["a"]}
    assert again.facts == {"array": [0, 1], "deep": [{"x": None}]}
    assert (again.most, again.flag, again._found) == (None, True, {})
    assert unpacked(Whole, *kept(made(ids=None, most=3))).ids is None


def test_arrays_are_named_by_their_places():
    values, arrays = kept(made())
    assert set(arrays) == {
        *("labels", "probs", "ids", "more", "parts/x%20y/rows", "parts/x%20y/edges"),
        *("models/0/rows", "models/0/edges", "models/1/rows", "models/1/edges"),
        *("columns/..%2Fa%00b%2F%C3%BC", "columns/"),
    }
    assert values["models"][1] == {"rows": "models/1/rows", "edges": "models/1/edges"}
    assert not any(array.dtype.hasobject for array in arrays.values())


def other(name, value):
    """A change of one value, at a place such as "models/0/rows"."""

    def change(values, arrays):
        *way, last = [int(step) if step.isdigit() else step for step in name.split("/")]
        for step in way:
            values = values[step]
        if value is GONE:
            del values[last]
        else:
            values[last] = value

    return change


def array(name, value):
    return lambda values, arrays: arrays.pop(name) if value is GONE else arrays.update({name: value})


GONE = object()


@pytest.mark.parametrize(
    ("change", "place", "code"),
    [
        (other("colour", "red"), "the record", "choice"),
        (other("models/0/colour", "red"), "models/0", "choice"),
        (other("note/facts", GONE), "note/facts", "missing"),
        (other("most", GONE), "most", "missing"),
        (other("models", {}), "models", "type"),
        (other("columns", []), "columns", "type"),
        (other("parts/x y", ["rows"]), "parts/x y".replace(" ", "%20"), "type"),
        (other("pair", ["a"]), "pair", "type"),
        (other("pair", ["a", 1.0]), "pair/1", "type"),
        (other("pair", ["a", True]), "pair/1", "type"),
        (other("most", 2**70), "most", "type"),
        (other("flag", 1), "flag", "type"),
        (other("names", ["a", 1]), "names/1", "type"),
        (other("names", "ab"), "names", "type"),
        (other("names", ["a", "b", "c"]), "probs", "shape"),
        (other("levels", [0.5, "x"]), "levels/1", "type"),
        (other("levels", [True]), "levels/0", "type"),
        (other("levels", None), "levels", "type"),
        (other("kind", "c"), "kind", "type"),
        (other("kind", None), "kind", "type"),
        (other("estimate/n", 7.0), "estimate/n", "type"),
        (other("estimate", 0.5), "estimate", "type"),
        (other("estimate/value", "0.5"), "estimate/value", "type"),
        (other("side", [0.5, "left"]), "side", "type"),
        (other("labels", None), "labels", "type"),
        (other("labels", [0, 1, 2, 3]), "labels", "type"),
        (other("labels", "models/0/rows"), "labels", "type"),  # the array of another field
        (other("ids", None), "ids", "choice"),  # an array that no field asks for
        (array("labels", GONE), "labels", "missing"),
        (array("ids", GONE), "ids", "missing"),
        (array("models/2/rows", np.arange(2)), "models/2/rows", "choice"),
        (array("labels", np.arange(5)), "probs", "shape"),
        (array("labels", np.arange(4.0)), "labels", "type"),
        (array("labels", np.arange(4, dtype=np.uint64)), "labels", "type"),  # not all of them fit int64
        (array("labels", np.array([0, 1, 2, -1])), "labels", "range"),
        (array("labels", np.arange(4)[:, None]), "labels", "shape"),
        (array("labels", np.array(3)), "labels", "shape"),
        (array("labels", np.array([{}] * 4, dtype=object)), "labels", "type"),
        (array("ids", np.array([{}] * 4, dtype=object)), "ids", "type"),
        (array("ids", np.arange(4) * 1j), "ids", "type"),
        (array("more", np.ones(3, bool)), "more", "shape"),
        (array("more", np.array(True)), "more", "shape"),
        (array("more", np.ones(4, np.int8)), "more", "type"),
        (array("probs", np.full((4, 2), np.nan, np.float32)), "probs", "finite"),
        (array("probs", np.full((4, 2), 0.5)), "probs", "type"),  # float64, which could overflow
        (array("columns/", np.zeros((3, 4))), "columns/", "shape"),  # as many runs as the other columns
        (array("columns/", np.zeros((2, 5))), "columns/", "shape"),
        (array("models/0/rows", np.array([0, 4])), "models/0/rows", "range"),
        (array("models/0/rows", np.array([0, -1])), "models/0/rows", "range"),
        (array("models/0/rows", np.array([0])), "models/0/edges", "shape"),
        (array("models/1/edges", np.array([])), "models/1/edges", "shape"),
        (array("models/0/edges", np.array([0.0, 0.5, 1.5])), "models/0/edges", "range"),
        (array("models/0/edges", np.array([0.0, 0.5, np.inf])), "models/0/edges", "range"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(change, place, code):
    values, arrays = kept(made())
    change(values, arrays)
    with refuses(place, code):
        unpacked(Whole, values, arrays)


def test_a_records_own_check_names_its_place():
    long = Part(np.zeros(4, np.int64), np.zeros(5))
    with refuses("models/0/rows", "range", got="three at most"):
        unpacked(Whole, *kept(made(models=(long,))))


def test_arrays_get_the_type_of_their_hint_where_it_holds_their_values():
    values, arrays = kept(made())
    arrays |= {
        "labels": np.arange(4, dtype=np.uint8),
        "ids": np.arange(4, dtype=">i4"),
        "columns/": np.zeros((2, 4), ">f4"),
    }
    again = unpacked(Whole, values, arrays)
    assert again.labels.dtype == np.int64
    assert again.ids is not None
    assert again.ids.dtype == np.dtype("=i4")
    assert again.columns[""].dtype == np.float64


@pytest.mark.parametrize("odd", [None, [], 3, "x", {}, {"labels": "labels"}])
def test_values_that_are_no_record_are_refused(odd):
    with pytest.raises(InputError):
        unpacked(Whole, odd)


def test_plain_types_are_read_too():
    assert unpacked(tuple[float, ...], [0, None, "Infinity"])[::2] == (0.0, np.inf)
    assert unpacked(dict[str, int | str], {"a": 1, "b": "x"}) == {"a": 1, "b": "x"}
    with refuses("n", "type", got="must be text"):
        unpacked(int | str, 1.5, place="n")  # type: ignore[arg-type]
