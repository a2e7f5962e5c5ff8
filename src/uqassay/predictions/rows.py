"""Which rows are the same instance: ids, and columns of a table that both sides have (keys).

Two things with ids are aligned by them. Otherwise a column of one name on both sides, with different values in every row and
the same values on both, aligns them; one with other values is refused, because a key that could tell says that the rows are
not the same. Without either, rows belong together by their position, and only where nothing says that they do not: as soon as
the rows of one thing were moved, nothing else stands by its position.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.frames import FromFile, canonical_ids, positions, same_ids
from uqassay.text import shown

__all__ = [
    "Known",
    "check_moved",
    "check_positions",
    "counts_up",
    "in_rows_of",
    "order_like",
    "rows_of_file",
]


class Known(NamedTuple):
    """What identifies the rows of one thing: ids, keys by name, and how errors call it.

    `moved` names a model whose rows were put into another order: then nothing belongs to the rows by its position. `silent`
    names a model that stands by its position, because it has nothing in common that identifies its rows: then nothing moves.
    """

    ids: NDArray[Any] | None
    keys: Mapping[str, NDArray[Any]]
    place: str
    moved: str = ""
    silent: str = ""

    @property
    def stated(self) -> NDArray[Any] | None:
        """The ids, unless they are a default."""
        return None if counts_up(self.ids) else self.ids

    @property
    def by_default(self) -> bool:
        """Whether the ids are 0, 1, 2, … and stand in no column of their own."""
        return counts_up(self.ids) and not any(counts_up(values) for values in self.keys.values())

    def comparable(self, other: "Known") -> bool:
        """Whether both sides have ids that say something of each other.

        0, 1, 2, … is a default: it says nothing of ids that are no whole numbers, nor, as an index beside keys, of other ids
        that count up.
        """
        if self.ids is None or other.ids is None:
            return False
        if counts_up(self.ids) and counts_up(other.ids) and any(s.by_default and s.keys for s in (self, other)):
            return False
        sides = [(self.ids, other.ids), (other.ids, self.ids)]
        return not any(counts_up(ids) and canonical_ids(others).dtype.kind not in "iu" for ids, others in sides)

    def shared(self, other: "Known") -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
        """Keys of one name, and keys that hold the ids of the other side; the values of both sides by the name of the key."""
        found = {name: (self.keys[name], other.keys[name]) for name in self.keys if name in other.keys}
        mine, theirs = self.stated, other.stated
        if theirs is not None and mine is None:
            found |= {name: (values, theirs) for name, values in self.keys.items() if _holds(values, theirs)}
        if mine is not None and theirs is None:
            found |= {name: (mine, values) for name, values in other.keys.items() if _holds(mine, values)}
        return found

    def tells(self, other: "Known") -> bool:
        """Whether something identifies the rows of both sides."""
        return self.comparable(other) or bool(self.shared(other))


def check_positions(known: Known, parameter: str) -> None:
    """Refuse values without ids where the models list the instances in different orders."""
    if known.moved:
        rule = "must carry ids, because the models list the instances in different orders"
        got = f"the rows of {known.moved} are in another order than those of the first model"
        remedy = "give it as a Series whose index holds the ids, or put all models into one order"
        fail(parameter, rule, got, remedy, code="ids", facts={"moved": known.moved})


def check_moved(rows: NDArray[np.int64] | None, known: Known, parameter: str) -> None:
    """Refuse to reorder the rows of something where a model stands by its position: which of the two orders does it have?"""
    if known.silent and rows is not None and (np.diff(rows) < 0).any():
        rule = f"are needed, because {parameter} lists the instances in another order than the models"
        got = "got neither ids nor a column that identifies the rows and that the others have, too"
        remedy = f"give ids to all models, or put {parameter} into the order of the models"
        fail(f"{known.silent}.ids", rule, got, remedy, code="ids", facts={"model": known.silent})


def counts_up(ids: NDArray[Any] | None) -> bool:
    """Whether ids are 0, 1, 2, …, which say no more than the position."""
    return ids is not None and ids.dtype.kind in "iuf" and np.array_equal(ids, np.arange(len(ids)))


def order_like(one: Known, other: Known) -> NDArray[np.int64] | None:
    """Rows of `one` in the order of `other`; None where they stand by position.

    Examples
    --------
    >>> image = np.array(["a", "b", "c"])
    >>> order_like(Known(None, {"image": image[[2, 0, 1]]}, "y_true"), Known(None, {"image": image}, "m")).tolist()
    [1, 2, 0]
    """
    if one.ids is not None and other.ids is not None and one.comparable(other):
        if len(one.ids) == len(other.ids) and same_ids(one.ids, other.ids):
            return None
        return _places(one.ids, other.ids, one.place)
    found: dict[str, NDArray[np.int64]] = {}
    for name, (here, there) in one.shared(other).items():
        if len(here) < len(there):
            continue  # the error will be about the number of rows
        try:
            found[name] = _places(here, there, one.place)
        except InputError as problem:
            own = set(canonical_ids(here).tolist())
            missing = next(value for value in canonical_ids(there).tolist() if value not in own)
            raise InputError(
                one.place,
                f"the column {name} must hold the same values as that of {other.place}, because it may tell which rows belong "
                "together",
                f"{shown(missing)} is missing",
                "select the common rows, or rename the column if it does not identify the instances",
                code="ids",
                facts={"column": name},
            ) from problem
    orders = list(found.values())
    if any(not np.array_equal(order, orders[0]) for order in orders[1:]):
        rule = "must be in one order by every column that both sides have"
        got = f"{' and '.join(found)} put the rows in different orders"
        remedy = "name the column that identifies the instances: id="
        fail(one.place, rule, got, remedy, code="ids", facts={"columns": tuple(found)})
    return orders[0] if orders and not np.array_equal(orders[0], np.arange(len(orders[0]))) else None


def rows_of_file(values: FromFile, known: Known, parameter: str) -> NDArray[np.int64] | None:
    """Rows of the values of a file in the order of the predictions; None where they stand by position."""
    own = Known(values.ids, values.keys, parameter)
    if own.tells(known):
        rows = order_like(own, known)
        check_moved(rows, known, parameter)
        return rows
    check_positions(known, parameter)
    if own.stated is not None:
        rule = "has ids and the predictions have none, so its rows may be in another order"
        got = f"the first id is {shown(own.stated[:1].tolist()[0])}"
        remedy = "put the ids into the file of predictions too, or take them out of this one if the order is the same"
        fail(parameter, rule, got, remedy, code="ids", facts={"without": "the predictions"})
    return None


def in_rows_of(values: FromFile, known: Known, parameter: str) -> FromFile:
    """Values of a file in the order of the predictions, without ids."""
    rows = rows_of_file(values, known, parameter)
    found = values if rows is None else values[rows]
    return FromFile(found, class_names=found.class_names, class_order=found.class_order)


def _holds(values: NDArray[Any], ids: NDArray[Any]) -> bool:
    """Whether these values are these ids, in any order, and perhaps more."""
    return len(values) >= len(ids) and set(canonical_ids(ids).tolist()) <= set(canonical_ids(values).tolist())


def _places(here: NDArray[Any], there: NDArray[Any], parameter: str) -> NDArray[np.int64]:
    """Position of each entry of `there` among those of `here`, which may be more: values of a file of all instances.

    Predictions are of one length before they come here.
    """
    own, wanted = canonical_ids(here).tolist(), canonical_ids(there).tolist()
    place = {value: i for i, value in enumerate(own)}
    if len(own) > len(wanted) and len(place) == len(own) and all(value in place for value in wanted):
        return np.array([place[value] for value in wanted], dtype=np.int64)
    return positions(here, there, parameter, part="ids", of="the predictions")
