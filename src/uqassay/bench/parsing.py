"""Values from TOML and YAML text. Invalid text, keys given twice, and values that could not be printed are refused."""

import tomllib
from typing import Any

from uqassay._optional import optional_package
from uqassay.errors import InputError

__all__ = ["toml_value", "toml_values", "yaml_values"]

MAX_DEPTH = 50  # of lists in lists; far below Python's own limit
MAX_BITS = 4096  # of a whole number; Python refuses to print much longer ones


def toml_value(text: str, parameter: str) -> Any:
    """One value as TOML reads it; text that is not a TOML value stays text.

    Raises
    ------
    InputError
        A value that is too long or too deep; the error is about `parameter`.

    Examples
    --------
    >>> toml_value("1e-3", "params.snn.rate"), toml_value("adam", "params.snn.name")
    (0.001, 'adam')
    """
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text.strip()
    except (RecursionError, ValueError) as problem:  # valid TOML, but too long or too deep for Python
        raise InputError(parameter, "must be readable", _reason(problem), "change it", code="size") from problem
    _check_size(found["value"], parameter)
    return found["value"] if len(found) == 1 else text.strip()


def toml_values(text: str, source: str) -> Any:
    """The content of a TOML file.

    Raises
    ------
    InputError
        Text that is not TOML, or a value that is too long or too deep; the error names `source`.

    Examples
    --------
    >>> toml_values("seeds = 3", "a.toml")
    {'seeds': 3}
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        remedy = "correct it, or give a YAML file the extension .yaml"
        raise InputError(
            "config", "must be valid TOML", _reason(problem), remedy, code="unreadable", source=source
        ) from problem
    except (RecursionError, ValueError) as problem:  # valid TOML, but too long or too deep for Python
        raise InputError(
            "config", "must be readable", _reason(problem), "correct it", code="size", source=source
        ) from problem
    _check_size(found, "config", source)
    return found


def yaml_values(text: str, source: str) -> Any:
    """The content of a YAML file.

    Raises
    ------
    InputError
        Text that is not YAML, a key given twice, or a value that is too long or too deep; the error names `source`.
    MissingDependencyError
        PyYAML is not installed.
    """
    yaml = optional_package("yaml", "bench", "a YAML file", otherwise="write the file as TOML")
    # PyYAML does not catch Python's errors for malformed dates and numbers
    known = (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        twice = None if node is None else _key_given_twice(node)
        found = None if node is None else loader.construct_document(node)
    except known as problem:
        raise InputError(
            "config", "must be valid YAML", _reason(problem), "correct it", code="unreadable", source=source
        ) from problem
    if twice is not None:
        raise InputError(
            str(twice.value),
            "the key is given twice",
            f"again in line {twice.start_mark.line + 1}",
            "give it once",
            code="duplicate",
            source=source,
        )
    _check_size(found, "config", source)
    return found


# -- helpers ----------------------------------------------------------------------------------------------------------


def _key_given_twice(node: Any) -> Any:
    """A node of a YAML document that repeats a key of its mapping, or None; PyYAML would keep the last one."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop()
        if node.id == "scalar" or id(node) in seen:  # a node may contain itself
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
    """The message of a parser on one line."""
    if isinstance(problem, RecursionError):
        return "too many lists in lists"
    return " ".join(str(problem).split())


def _check_size(value: Any, parameter: str, source: str = "", depth: int = 0) -> None:
    """Refuse values that could not be printed: lists nested too deeply or in themselves, and very long whole numbers."""
    if depth > MAX_DEPTH:
        rule = f"must not nest lists or tables more than {MAX_DEPTH} deep"
        raise InputError(parameter, rule, "", "make it flatter", code="size", source=source)
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        rule, got = f"must hold whole numbers of at most {MAX_BITS} bits", f"got one of {value.bit_length()}"
        raise InputError(parameter, rule, got, "choose a smaller one", code="size", source=source)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_size(inner, parameter, source, depth + 1)
