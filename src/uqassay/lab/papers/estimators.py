"""Estimators, labels and splits of the user: which are accepted, by what stored results are found, and copies of them."""

import copy
import hashlib
import inspect
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_array
from uqassay.checks import fail, whole
from uqassay.errors import InputError
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.runner import POLL_SECONDS
from uqassay.lab.bench.store import Store, StoredResult

__all__ = [
    "check_estimator",
    "coded_labels",
    "identity_of",
    "labels_of_rows",
    "run_seeds",
    "stored_result",
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
        rule = "needs options from which the key of a stored result can be made: plain values, arrays, estimators and functions"
        remedy = "leave folder out, or give the option as one of these, such as a function that makes the object"
        fail("folder", rule, f"{name} is of type {type(value).__name__}", remedy, code="type")
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
        rule = "must be an object that copy.deepcopy can copy, because every training has its own copy"
        remedy = "make such attributes in fit, or give the class get_params and set_params"
        raise InputError("estimator", rule, f"{type(estimator).__name__}: {problem}", remedy, code="type") from problem


def run_seeds(base: int, runs: int) -> list[int]:
    """One seed for each run; more runs contain the fewer.

    Examples
    --------
    >>> run_seeds(0, 1) == run_seeds(0, 2)[:1]
    True
    """
    whole(runs, "runs", "for example 5", least=1)
    return [int(np.random.SeedSequence(base, spawn_key=(r,)).generate_state(1)[0]) for r in range(runs)]


# Labels of any kind as class indices.


def labels_of_rows(y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Labels as an array, one for each row of X."""
    labels = as_array(y, "y")
    if labels.ndim != 1 or len(labels) != n_rows:
        got = f"got shape {labels.shape} for {n_rows} rows"
        fail("y", "must hold one label for each row of X", got, "give one label for each instance", code="shape")
    return labels


def coded_labels(parts: Mapping[str, NDArray[Any]]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The distinct labels as text, sorted, and the place of each label among them, part after part.

    Parameters
    ----------
    parts : dict of str to array (n,)
        Labels by the name of the argument, for errors.

    Examples
    --------
    >>> names, codes = coded_labels({"y": np.array(["b", "a", "b"])})
    >>> names, codes.tolist()
    (('a', 'b'), [1, 0, 1])
    """
    for name, part in parts.items():
        if part.ndim != 1:
            got = f"got shape {part.shape}"
            fail(name, "must hold one label for each row", got, "give one axis", code="shape")
        missing = [i for i, label in enumerate(part.tolist()) if label is None or label != label]
        if missing:
            remedy = "fill in missing labels, or drop such rows"
            fail(name, "must hold a label in each row", f"row {missing[0]} has none", remedy, code="missing")
    every = list(parts.values())
    try:
        names, codes = np.unique(np.concatenate(every), return_inverse=True)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for part in every for label in part.tolist()})
        got = f"got {' and '.join(kinds)}"
        raise InputError("y", "must hold labels of one type", got, "convert all to text", code="type") from problem
    return tuple(str(name) for name in names.tolist()), codes.astype(np.int64)


# Runs of an estimator at hand in the folder of a benchmark, so that a killed study goes on where it was.


def stored_result(folder: str | os.PathLike[str], cell: Cell, make: Callable[[], CellResult]) -> StoredResult:
    """The stored result of a cell; if there is none, or a damaged one, that of `make` is stored first.

    Parameters
    ----------
    folder : path
        As in `uqassay.lab.bench.store.Store`.
    cell : Cell
        Its key holds all that the result depends on.
    """
    store = Store(folder)
    store.recover([cell.key])
    while not store.claim(cell.key):
        if store.states([cell.key])[0].state == "done":
            return store.result(cell.key)
        store.retry(cell.key)
        time.sleep(POLL_SECONDS)  # another process may be making it
    start = time.perf_counter()
    try:
        store.finish(cell, make(), seconds=time.perf_counter() - start)
    finally:
        store.release(cell.key)
    return store.result(cell.key)
