"""Estimators at hand: which are accepted, copies with the options of one training, and the seeds of runs."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from uqassay.errors import InputError

__all__ = ["check_estimator", "run_seeds", "unfitted_copy"]


def check_estimator(estimator: Any, *, probabilities_suffice: bool = False) -> None:
    """Refuse an object that is not an estimator with uncertainty.

    Parameters
    ----------
    estimator : object
    probabilities_suffice : bool
        Accept `predict_proba` in place of `predict_uncertainty`.

    Raises
    ------
    InputError
        A class in place of an object, or a missing method.
    """
    if isinstance(estimator, type):
        raise InputError("estimator", "must be an object", f"got the class {estimator.__name__}", "add ()", code="type")
    for name in ("fit", "predict_uncertainty"):
        others = ("predict_proba",) if probabilities_suffice and name == "predict_uncertainty" else ()
        if not any(callable(getattr(estimator, one, None)) for one in (name, *others)):
            raise InputError(
                "estimator",
                f"must have {' or '.join((name, *others))}",
                f"got {type(estimator).__name__}",
                "give a method of uqassay.methods, such as Bagging(estimator=…), or a class with "
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

    Raises
    ------
    InputError
        An object without `get_params` that cannot be copied.
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

    Raises
    ------
    InputError
        A number of runs below 1 or not whole.

    Examples
    --------
    >>> run_seeds(0, 1) == run_seeds(0, 2)[:1]
    True
    """
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or runs < 1:
        raise InputError("runs", "must be a whole number from 1 up", f"got {runs!r}", "for example 5", code="range")
    return [int(np.random.SeedSequence(base, spawn_key=(r,)).generate_state(1)[0]) for r in range(runs)]
