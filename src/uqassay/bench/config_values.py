"""Checks of the values of a configuration."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from uqassay.bench.cell import MAX_SEED, canonical_json
from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = [
    "CONDITION_SETS",
    "checked_conditions",
    "checked_decompositions",
    "checked_names",
    "checked_seeds",
    "checked_tables",
    "nearest",
]

CONDITION_SETS = ("disentanglement",)
MAX_SEEDS = 10_000


def checked_names(values: Any, name: str, example: str) -> tuple[str, ...]:
    """One name or several, all different; methods may read LABEL=NAME.

    Examples
    --------
    >>> checked_names("snn", "method", "snn")
    ('snn',)
    """
    texts = [values] if isinstance(values, str) else values
    if not isinstance(texts, (list, tuple)) or not texts or not all(isinstance(t, str) and t.strip() for t in texts):
        raise InputError(
            name, "must be one name or several", f"got {values!r}", f"name one, such as {example}", code="type"
        )
    found = tuple(text.strip() for text in texts)
    if name == "method":
        found = tuple("=".join(part.strip() for part in text.split("=")) for text in found)
    labels = [text.partition("=")[0] if name == "method" else text for text in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        remedy = f"write label={twice} for another one" if name == "method" else "name each once"
        raise InputError(name, "must be different names", f"{twice} is named twice", remedy, code="duplicate")
    if name == "method" and not all(re.fullmatch(r"[^=]+(=[^=]+)?", text) for text in found):
        raise InputError(
            "method",
            "must read NAME or LABEL=NAME",
            f"got {', '.join(found)}",
            "remove empty names",
            code="type",
        )
    return found


def checked_seeds(values: Any) -> tuple[int, ...]:
    """The seeds: n stands for 0 … n − 1.

    Examples
    --------
    >>> checked_seeds(2), checked_seeds([5])
    ((0, 1), (5,))
    """
    if isinstance(values, int) and not isinstance(values, bool):
        if not 1 <= values <= MAX_SEEDS:
            raise InputError(
                "seeds",
                f"must be a number in 1 … {MAX_SEEDS}",
                f"got {values}",
                "give a list of seeds to choose them",
                code="range",
            )
        return tuple(range(values))
    good = isinstance(values, (list, tuple)) and all(
        isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED for seed in values
    )
    if not good or not values or len(set(values)) < len(values):
        raise InputError(
            "seeds",
            f"must be a number of seeds, or a list of different whole numbers in 0 … {MAX_SEED}",
            f"got {values!r}",
            "3 means 0, 1, 2",
            code="type",
        )
    return tuple(values)


def checked_tables(values: Any) -> dict[str, dict[str, Any]]:
    """A copy of the parameters of each method."""
    if not isinstance(values, Mapping) or not all(isinstance(table, Mapping) for table in values.values()):
        raise InputError(
            "params",
            "must hold a table for each method",
            f"got {values!r}",
            "write [params.snn] above them",
            code="type",
        )
    return _plain(values, "params")


def checked_conditions(values: Any) -> tuple[dict[str, Any] | str, ...]:
    """A copy of the conditions, all different; a text is the name of a set of them.

    Examples
    --------
    >>> checked_conditions("disentanglement"), checked_conditions({"train_share": 0.5})
    (('disentanglement',), ({'train_share': 0.5},))
    """
    given = [values] if isinstance(values, (Mapping, str)) else values
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(one, (Mapping, str)) for one in given):
        raise InputError(
            "condition", "must be a table or several", f"got {values!r}", "write [[condition]] above each", code="type"
        )
    found = tuple(one.strip() if isinstance(one, str) else _plain(one, "condition") for one in given)
    for one in found:
        if isinstance(one, str) and one not in CONDITION_SETS:
            raise InputError(
                "condition",
                "must be a table or the name of a set of conditions",
                f"got {one!r}",
                nearest(one, CONDITION_SETS),
                code="choice",
            )
    texts = [canonical_json(one) for one in found]
    if len(set(texts)) < len(texts):
        raise InputError(
            "condition", "must be different conditions", "one is given twice", "remove it", code="duplicate"
        )
    return found


def checked_decompositions(values: Any) -> tuple[str, ...] | None:
    """Names of `uqassay.measures.DECOMPOSITIONS`, or None."""
    from uqassay.measures import DECOMPOSITIONS

    if values is None:
        return None
    found = checked_names(values, "decomposition", "information-theoretic")
    for name in found:
        if name not in DECOMPOSITIONS:
            raise InputError(
                "decomposition",
                "must be the name of a decomposition",
                f"got {name!r}",
                nearest(name, DECOMPOSITIONS),
                code="choice",
            )
    return found


def _plain(values: Any, name: str) -> Any:
    """A copy of plain values. Null is refused, since TOML has none: a parameter is left out instead."""
    found = json.loads(canonical_json(values, name))

    def check(value: Any) -> None:
        if value is None:
            raise InputError(name, "must not hold null", "", "leave the key out for its default", code="type")
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    check(found)
    return found


def nearest(name: Any, known: Iterable[Any]) -> str:
    """The remedy for an unknown name: the most similar known name, or all of them.

    Examples
    --------
    >>> known = ("smoke", "cpu", "paper")
    >>> nearest("smok", known), nearest("all", known)
    ('did you mean smoke?', 'choose smoke, cpu or paper')
    """
    names = [str(one) for one in known]
    near = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]}?" if near else f"choose {listed(names, last='or')}"
