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

from uqassay._array import shown
from uqassay._frames import FromFile, canonical_ids, positions, same_ids
from uqassay.errors import InputError

__all__ = ["Known", "check_moved", "check_positions", "counts_up", "in_rows_of", "order_like"]


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

    def tells(self, other: "Known") -> bool:
        """Whether both sides have ids, or a key of one name."""
        return (self.ids is not None and other.ids is not None) or bool(set(self.keys) & set(other.keys))


def check_positions(known: Known, parameter: str) -> None:
    """Refuse values without ids where the models list the instances in different orders.

    Raises
    ------
    InputError
    """
    if known.moved:
        raise InputError(
            parameter,
            "must carry ids, because the models list the instances in different orders",
            f"the rows of {known.moved} are in another order than those of the first model",
            "give it as a Series whose index holds the ids, or put all models into one order",
            code="ids",
        )


def check_moved(rows: NDArray[np.int64] | None, known: Known, parameter: str) -> None:
    """Refuse to put the rows of something into another order where a model stands by its position: in which of the two orders?

    Raises
    ------
    InputError
    """
    if known.silent and rows is not None and (np.diff(rows) < 0).any():
        raise InputError(
            f"{known.silent}.ids",
            f"are needed, because {parameter} lists the instances in another order than the models",
            "got neither ids nor a column that identifies the rows and that the others have, too",
            f"give ids to all models, or put {parameter} into the order of the models",
            code="ids",
            facts={"model": known.silent},
        )


def counts_up(ids: NDArray[Any] | None) -> bool:
    """Whether ids are 0, 1, 2, …, which say no more than the position."""
    return ids is not None and ids.dtype.kind in "iuf" and np.array_equal(ids, np.arange(len(ids)))


def order_like(one: Known, other: Known) -> NDArray[np.int64] | None:
    """Rows of `one` in the order of `other`; None where they stand by position.

    Raises
    ------
    InputError
        Ids, or columns of one name, with different values.

    Examples
    --------
    >>> image = np.array(["a", "b", "c"])
    >>> order_like(Known(None, {"image": image[[2, 0, 1]]}, "y_true"), Known(None, {"image": image}, "m")).tolist()
    [1, 2, 0]
    """
    if one.ids is not None and other.ids is not None:
        if len(one.ids) == len(other.ids) and same_ids(one.ids, other.ids):
            return None
        return _places(one.ids, other.ids, one.place)
    found: dict[str, NDArray[np.int64]] = {}
    for name in [name for name in one.keys if name in other.keys]:
        here, there = one.keys[name], other.keys[name]
        if len(here) < len(there):
            continue  # the error will be about the number of rows
        try:
            found[name] = _places(here, there, one.place)
        except InputError as problem:
            own = set(canonical_ids(here).tolist())
            missing = next(value for value in canonical_ids(there).tolist() if value not in own)
            raise InputError(
                f"{one.place}, column {name}",
                f"must hold the same values as the column of that name of {other.place}, because it may tell which rows "
                "belong together",
                f"{shown(missing)} is missing",
                "select the common rows, or rename the column if it does not identify the instances",
                code="ids",
                facts={"column": name},
            ) from problem
    orders = list(found.values())
    if any(not np.array_equal(order, orders[0]) for order in orders[1:]):
        raise InputError(
            one.place,
            "must be in one order by every column that both sides have",
            f"{' and '.join(found)} put the rows in different orders",
            "name the column that identifies the instances: id=",
            code="ids",
            facts={"columns": tuple(found)},
        )
    return orders[0] if orders and not np.array_equal(orders[0], np.arange(len(orders[0]))) else None


def in_rows_of(values: FromFile, prediction: Any, parameter: str) -> FromFile:
    """Values of a file in the order of the rows of a prediction, without ids.

    Raises
    ------
    InputError
        Ids or keys with different values.
    """
    own = Known(values.ids, values.keys, parameter)
    rows = order_like(own, Known(prediction.ids, prediction.keys, "the predictions"))
    found = values if rows is None else values[rows]
    return FromFile(found, class_names=found.class_names, class_order=found.class_order)


def _places(here: NDArray[Any], there: NDArray[Any], parameter: str) -> NDArray[np.int64]:
    """Position of each entry of `there` among those of `here`, which may be more: values of a file of all instances.

    Predictions are of one length before they come here.
    """
    own, wanted = canonical_ids(here).tolist(), canonical_ids(there).tolist()
    place = {value: i for i, value in enumerate(own)}
    if len(own) > len(wanted) and len(place) == len(own) and all(value in place for value in wanted):
        return np.array([place[value] for value in wanted], dtype=np.int64)
    return positions(here, there, parameter, part="ids", of="the predictions")
