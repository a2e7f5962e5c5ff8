"""Values from TOML and YAML text, refused in one sentence where they are none, are given twice, or could not be printed."""

import tomllib
from importlib import import_module
from typing import Any

from uqassay.errors import InputError, MissingDependencyError

__all__ = ["toml_value", "toml_values", "yaml_values"]

MAX_DEPTH = 50  # of lists in lists; far below where Python stops
MAX_BITS = 4096  # of a whole number; Python prints none much longer


def toml_value(text: str, place: str) -> Any:
    """One value as TOML reads it, and the text itself where it is none.

    Raises
    ------
    InputError
        A value that is too long or too deep, told of `place`.

    Examples
    --------
    >>> toml_value("1e-3", "param: snn.rate"), toml_value("adam", "param: snn.name")
    (0.001, 'adam')
    """
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text.strip()
    except (RecursionError, ValueError) as problem:  # what Python cannot take though TOML allows it
        raise InputError(f"{place} cannot be read ({_reason(problem)}); change it.") from problem
    _check_size(found["value"], place)
    return found["value"] if len(found) == 1 else text.strip()


def toml_values(text: str, place: str) -> Any:
    """What a TOML file holds.

    Raises
    ------
    InputError
        Text that is no TOML, or a value that is too long or too deep, told of `place`.

    Examples
    --------
    >>> toml_values("seeds = 3", "config: a.toml")
    {'seeds': 3}
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{place} is no TOML ({problem}); mend it, or name a YAML file .yaml.") from problem
    except (RecursionError, ValueError) as problem:  # what Python cannot take though TOML allows it
        raise InputError(f"{place} cannot be read ({_reason(problem)}); mend it.") from problem
    _check_size(found, place)
    return found


def yaml_values(text: str, place: str) -> Any:
    """What a YAML file holds.

    Raises
    ------
    InputError
        Text that is no YAML, a key given twice, or a value that is too long or too deep, told of `place`.
    MissingDependencyError
        PyYAML is not installed.
    """
    try:
        yaml = import_module("yaml")
    except ModuleNotFoundError as problem:
        raise MissingDependencyError(
            "yaml", "YAML files need PyYAML", "", "install uqassay[bench], or write the file as TOML", code="package"
        ) from problem
    # PyYAML lets through what Python says of a date or a number that is none
    known = (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        twice = None if node is None else _key_given_twice(node)
        found = None if node is None else loader.construct_document(node)
    except known as problem:
        raise InputError(f"{place} is no YAML ({_reason(problem)}); mend it.") from problem
    if twice is not None:
        line = twice.start_mark.line + 1
        raise InputError(f"{place} has the key {twice.value!r} twice, again in line {line}; give it once.")
    _check_size(found, place)
    return found


# -- helpers ----------------------------------------------------------------------------------------------------------


def _key_given_twice(node: Any) -> Any:
    """A node of a YAML document that repeats a key of its mapping, or None; PyYAML would keep the last."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop()
        if node.id == "scalar" or id(node) in seen:  # a node may hold itself
            continue
        seen.add(id(node))
        if node.id == "sequence":
            waiting += node.value
            continue
        keys = set()
        for key, value in node.value:
            waiting.append(value)
            if key.id == "scalar" and (key.tag, key.value) in keys:
                return key
            keys.add((key.tag, key.value) if key.id == "scalar" else id(key))
    return None


def _reason(problem: Exception) -> str:
    """What a parser said, on one line."""
    if isinstance(problem, RecursionError):
        return "too many lists in lists"
    return " ".join(str(problem).split()).partition("; use sys.")[0]  # Python's advice on long numbers


def _check_size(value: Any, place: str, depth: int = 0) -> None:
    """Refuse what could not be printed: values deep in each other, or in themselves, and endless numbers."""
    if depth > MAX_DEPTH:
        raise InputError(f"{place} holds more than {MAX_DEPTH} lists or tables in each other; make it flatter.")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise InputError(f"{place} holds a whole number of {value.bit_length()} bits; choose a smaller one.")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_size(inner, place, depth + 1)
