"""Which estimator, splitter or function was given, as plain values: stored results are found by them."""

import copy
import hashlib
import inspect
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from uqassay.checks import fail, whole
from uqassay.errors import InputError

__all__ = [
    "check_estimator",
    "identity_of",
    "run_seeds",
    "unfitted_copy",
]


# Plain values that say which estimator, splitter or function was given: stored results are found again by them.
#
# A class or a function counts by its name and by the version of its package, if that has one. Its source code does not count.

NO_EFFECT = ("progress", "n_jobs")  # on the result
SET_HERE = ("random_state", "classes")  # of the estimator itself, for each run; not of an object inside it
OWN = "uqassay"  # its version is part of every key


def identity_of(value: Any, name: str = "estimator", *, key: str = "") -> Any:
    """Plain values that are equal for equal estimators, options or functions.

    Parameters
    ----------
    value : object
        An estimator, a splitter with `divide`, a function, an array, or a plain value.
    name : str
        For errors.
    key : str
        The user's own text in the key. Without it a function needs a name by which it can be told from others.

    Returns
    -------
    str, number, None, list or dict
        For a class or a function its name, and the version of its package.

    Examples
    --------
    >>> identity_of((1, None, "all"))
    [1, None, 'all']
    >>> identity_of(np.gcd)["name"]
    'numpy:gcd'
    """
    inside = partial(identity_of, key=key)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else str(value)  # JSON has no infinity
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [inside(one, f"{name}[{i}]") for i, one in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(own, str) for own in value):
        return {own: inside(one, f"{name}.{own}") for own, one in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufSU":
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": digest, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, partial):
        parts = {"args": value.args, "keywords": value.keywords}
        return {"partial": inside(value.func, name), **inside(parts, name)}
    if isinstance(value, (type, np.ufunc)) or inspect.isroutine(value):
        return _named(value, name, key)
    if callable(getattr(value, "get_params", None)):
        options = value.get_params(deep=False)
    elif callable(getattr(value, "fit", None)) or callable(getattr(value, "divide", None)):
        options = _state_of(value)
    else:
        fail(
            "folder",
            "needs options from which the key of a stored result can be made: plain values, arrays, estimators and functions",
            f"{name} is of type {type(value).__name__}",
            "leave folder out, or give the option as one of these, such as a function that makes the object",
            code="type",
        )
    set_here = "." not in name and callable(getattr(value, "fit", None))
    left_out = (*NO_EFFECT, *SET_HERE) if set_here else NO_EFFECT
    kept = {own: inside(one, f"{name}.{own}") for own, one in sorted(options.items()) if own not in left_out}
    return {**_named(type(value), name, key), "options": kept}


def _named(value: Any, name: str, key: str) -> dict[str, str]:
    """A class or a function by its name and the version of its package."""
    module = getattr(value, "__module__", None) or "numpy"
    full_name = f"{module}:{getattr(value, '__qualname__', getattr(value, '__name__', ''))}"
    # lambdas, and functions inside functions, which hold values of the outer one
    if not key and not isinstance(value, type) and ("<" in full_name or inspect.ismethod(value)):
        remedy = 'give key="…", another text whenever the function changes, or leave folder out'
        fail("folder", "needs functions with names of their own", f"{name} is {full_name}", remedy, code="type")
    top = module.partition(".")[0]
    version = getattr(sys.modules.get(top), "__version__", "") if module != "__main__" and top != OWN else ""
    return {"name": full_name, **({"version": str(version)} if version else {})}


def _state_of(value: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots included."""
    slots = [own for kind in type(value).__mro__ for own in getattr(kind, "__slots__", ())]
    held = {own: getattr(value, own) for own in slots if own != "__dict__" and hasattr(value, own)}
    return {**held, **getattr(value, "__dict__", {})}


# Estimators at hand: which are accepted, copies with the options of one training, and the seeds of runs.


def check_estimator(estimator: Any, *, probabilities_suffice: bool = False) -> None:
    """Refuse an object that is not an estimator with uncertainty.

    Parameters
    ----------
    probabilities_suffice : bool
        Accept `predict_proba` in place of `predict_uncertainty`.
    """
    if isinstance(estimator, type):
        fail("estimator", "must be an object", f"got the class {estimator.__name__}", "add ()", code="type")
    for name in ("fit", "predict_uncertainty"):
        others = ("predict_proba",) if probabilities_suffice and name == "predict_uncertainty" else ()
        if not any(callable(getattr(estimator, one, None)) for one in (name, *others)):
            fail(
                "estimator",
                f"must have {' or '.join((name, *others))}",
                f"got {type(estimator).__name__}",
                "give a method of uqassay.lab.methods, such as Bagging(estimator=…), or a class with "
                "fit(X, y) and predict_uncertainty(X)",
                code="type",
            )


def unfitted_copy(estimator: Any, options: Mapping[str, Any]) -> Any:
    """An unfitted copy with those of the options that the estimator has; the estimator stays as it is.

    Parameters
    ----------
    estimator : object
        With `get_params` and `set_params`, or with attributes.
    options : dict
        With `random_state`, seeds that are None in estimators inside this one (the steps of a pipeline) are drawn from it.
    """
    if not (hasattr(estimator, "get_params") and hasattr(estimator, "set_params")):
        model = _deep_copy(estimator)
        for name, value in options.items():
            if name in getattr(model, "__dict__", {}):
                setattr(model, name, value)
        return model
    from sklearn.base import clone

    known = estimator.get_params(deep=False)
    own = {name: value for name, value in options.items() if name in known}
    if options.get("random_state") is not None:
        inner = [
            name
            for name, value in sorted(estimator.get_params(deep=True).items())
            if name.endswith("__random_state") and value is None
        ]
        seeds = np.random.SeedSequence(options["random_state"]).generate_state(len(inner)).tolist()
        own |= dict(zip(inner, seeds, strict=True))
    return clone(estimator).set_params(**own)


def _deep_copy(estimator: Any) -> Any:
    try:
        return copy.deepcopy(estimator)
    except TypeError as problem:  # of an attribute such as a lock, a generator or an open file
        raise InputError(
            "estimator",
            "must be an object that copy.deepcopy can copy, because every training has its own copy",
            f"{type(estimator).__name__}: {problem}",
            "make such attributes in fit, or give the class get_params and set_params",
            code="type",
        ) from problem


def run_seeds(base: int, runs: int) -> list[int]:
    """One seed for each run; more runs contain the fewer.

    Examples
    --------
    >>> run_seeds(0, 1) == run_seeds(0, 2)[:1]
    True
    """
    whole(runs, "runs", "for example 5", least=1)
    return [int(np.random.SeedSequence(base, spawn_key=(r,)).generate_state(1)[0]) for r in range(runs)]
