"""Plain values that say which estimator, splitter or function was given: stored results are found again and never mistaken."""

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from uqassay.errors import InputError

__all__ = ["identity_of"]

NO_EFFECT = ("progress", "n_jobs")  # on the result
SET_HERE = ("random_state", "classes")  # of the estimator itself, for each run; not of an object inside it
OWN = "uqassay"  # modules whose source is part of every key


def identity_of(value: Any, name: str = "estimator") -> Any:
    """Plain values that are equal for equal estimators, options or functions, and differ where results may differ.

    Parameters
    ----------
    value : object
        An estimator, a splitter with `divide`, a function, an array, or a plain value.
    name : str
        For errors.

    Returns
    -------
    str, number, None, list or dict
        For a class or a function its name, a digest of its source and the version of its package.

    Raises
    ------
    InputError
        An object of another kind, or a class or function whose source cannot be read.

    Examples
    --------
    >>> identity_of((1, None, "all"))
    [1, None, 'all']
    >>> from fractions import Fraction
    >>> identity_of(np.gcd)["name"]
    'numpy:gcd'
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else str(value)  # JSON has no infinity
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [identity_of(one, f"{name}[{i}]") for i, one in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: identity_of(one, f"{name}.{key}") for key, one in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufSU":
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": digest, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, functools.partial):
        parts = {"args": value.args, "keywords": value.keywords}
        return {"partial": identity_of(value.func, name), **identity_of(parts, name)}
    if isinstance(value, (type, np.ufunc)) or inspect.isroutine(value):
        return _source(value, name)
    if callable(getattr(value, "get_params", None)):
        return {**_source(type(value), name), "options": _options(value, value.get_params(deep=False), name)}
    if callable(getattr(value, "fit", None)) or callable(getattr(value, "divide", None)):
        return {**_source(type(value), name), "options": _options(value, _state_of(value), name)}
    raise InputError(
        "folder",
        "needs options from which the key of a stored result can be made: plain values, arrays, estimators and functions",
        f"{name} is of type {type(value).__name__}",
        "leave folder out, or give the option as one of these, such as a function that makes the object",
        code="type",
    )


def _options(value: Any, options: Mapping[str, Any], name: str) -> dict[str, Any]:
    set_here = "." not in name and callable(getattr(value, "fit", None))
    left_out = (*NO_EFFECT, *SET_HERE) if set_here else NO_EFFECT
    return {key: identity_of(one, f"{name}.{key}") for key, one in sorted(options.items()) if key not in left_out}


def _state_of(value: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots included."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(value, name) for name in slots if name != "__dict__" and hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


def _source(value: type | Callable[..., Any], name: str) -> dict[str, Any]:
    """Name, digest of the source, and version of the package; the source of uqassay itself is part of every key."""
    module = getattr(value, "__module__", None) or "numpy"
    top = module.partition(".")[0]
    found = {"name": f"{module}:{getattr(value, '__qualname__', getattr(value, '__name__', ''))}"}
    version = getattr(sys.modules.get(top), "__version__", "")
    if version and module != "__main__":
        return found if top == OWN else {**found, "version": str(version)}
    if inspect.ismethod(value):
        raise InputError(
            "folder", "needs a function in place of a method", f"{name} is {found['name']}", "wrap it", code="type"
        )
    try:
        source = inspect.getsource(value)
    except (OSError, TypeError) as problem:
        raise InputError(
            "folder",
            "needs an estimator and functions whose source can be read, which is part of the key",
            f"that of {name}, {found['name']}, cannot",
            "define it in a file, or leave folder out",
            code="unreadable",
        ) from problem
    enclosed = _enclosed(value, name)
    enclosed += [identity_of(one, name) for one in getattr(value, "__defaults__", None) or ()]
    enclosed += [identity_of(one, name) for one in sorted((getattr(value, "__kwdefaults__", None) or {}).items())]
    if isinstance(value, type):
        enclosed += [_source(base, name) for base in value.__bases__ if not _is_pythons_own(base)]
        enclosed += [one for part in vars(value).values() if inspect.isfunction(part) for one in _enclosed(part, name)]
    if getattr(value, "__name__", "") == "<lambda>":  # two can stand on one line of source
        enclosed += [value.__code__.co_code.hex(), [repr(one) for one in value.__code__.co_consts]]
    return {
        **found,
        "source": hashlib.sha256(source.encode()).hexdigest(),
        **({"enclosed": enclosed} if enclosed else {}),
    }


def _enclosed(function: Any, name: str) -> list[Any]:
    """Values of the function's closure; `super()` puts the class itself there, which is left out."""
    cells = getattr(function, "__closure__", None) or ()
    names = function.__code__.co_freevars if cells else ()
    return [identity_of(cell.cell_contents, name) for own, cell in zip(names, cells, strict=True) if own != "__class__"]


def _is_pythons_own(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in sys.stdlib_module_names
