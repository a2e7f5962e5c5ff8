"""A class of the user as a method: ``module:Class`` in place of a name, in every protocol and benchmark."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.methods.base import UncertaintyClassifier
from uqassay.lab.methods.registry import label_of
from uqassay.predictions import Members, Point, Prediction, as_prediction
from uqassay.text import said

__all__ = ["GivenMethod", "given_class", "option_names", "taken_options"]

PREDICT = ("predict_uncertainty", "predict_proba")
SET_HERE = ("random_state", "classes")  # for every training
EXAMPLE = "for example mymodels:MyNet, for the class MyNet in mymodels.py in this folder"


@lru_cache(maxsize=64)
def given_class(name: str) -> Callable[..., Any]:
    """The class, or function that returns an estimator, of ``module:Class``; modules in the working folder are found."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        fail("method", "must read module:Class", f"got {name!r}", EXAMPLE, code="choice")
    try:
        found = getattr(_imported(module), attribute, None)
    except ImportError as problem:
        got = f"{module} cannot be imported: {said(problem)}"
        raise InputError(
            "method", "module:Class must name a module that Python finds", got, EXAMPLE, code="missing"
        ) from problem
    if found is None:
        fail("method", f"{module} must have the class {attribute}", "it has none of this name", EXAMPLE, code="choice")
    has = [one for one in ("fit", *PREDICT) if callable(getattr(found, one, None))]
    if not callable(found) or (isinstance(found, type) and ("fit" not in has or len(has) < 2)):
        rule = f"{attribute} must be a class with fit(X, y) and predict_uncertainty(X) or predict_proba(X)"
        fail("method", rule, f"it has {' and '.join(has) or 'neither'}", "add the methods", code="type")
    return found


def _imported(module: str) -> Any:
    """The module, looked for in the working folder as well, as by ``python -m``."""
    here = os.getcwd()
    if here in sys.path or "" in sys.path:
        return importlib.import_module(module)
    sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(here)


def option_names(name: str) -> dict[str, Any]:
    """The options of the class with their defaults, `inspect.Parameter.empty` where there is none."""
    keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(given_class(name)).parameters.values()
    return {one.name: one.default for one in parameters if one.kind in keyword}


@final
class GivenMethod(UncertaintyClassifier):
    """A class of the user under the interface of the methods here.

    Parameters
    ----------
    of : str
        ``module:Class``. The class has ``fit(X, y)``, and ``predict_uncertainty(X)``, which returns a prediction or an array
        (n, K) or (n, M, K), or else ``predict_proba(X)``.
    random_state, classes
        Passed on where the class has such options. A class without the option `classes` may leave out columns of classes that
        it was not trained on; these have probability 0.
    options
        Of the class.
    """

    def __init__(self, of: str, *, random_state: Any = None, classes: Any = None, **options: Any) -> None:
        self.of = of
        self.random_state = random_state
        self.classes = classes
        self.options = options

    def __getattr__(self, name: str) -> Any:
        """An option, as set here or by default: a protocol reads `epochs`, for example."""
        if name.startswith("_") or name in ("of", "options") or name.endswith("_"):
            raise AttributeError(name)
        found = self.options.get(name, option_names(self.of).get(name, inspect.Parameter.empty))
        if found is inspect.Parameter.empty:
            raise AttributeError(name)
        return found

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Options by name."""
        return {"of": self.of, "random_state": self.random_state, "classes": self.classes, **self._taken()}

    def set_params(self, **params: Any) -> Self:
        """Change options."""
        for name, value in params.items():
            if name in ("of", *SET_HERE):
                setattr(self, name, value)
            else:
                self.options[name] = value
        return self

    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options with which the class cannot be made."""
        self._made()

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train a new object of the class."""
        array, codes = self._checked_training(X, y)
        model = self._made()
        fitted = model.fit(array, self.classes_[codes])
        self.model_ = fitted if any(callable(getattr(fitted, name, None)) for name in PREDICT) else model
        self.seen_ = np.unique(codes)
        return self

    def predict_uncertainty(self, X: ArrayLike) -> Prediction:
        """What the object predicts, with a column for each of `classes_`."""
        array = self._checked_inputs(X)
        predict = getattr(self.model_, PREDICT[0], None) or getattr(self.model_, PREDICT[1])
        name = label_of(self.of)
        try:
            said = as_prediction(predict(array))
        except InputError as problem:
            raise problem.replace(parameter="method", source=name) from problem
        k = len(self.classes_)
        if said.n_instances != len(array) or said.n_classes not in (k, len(self.seen_)):
            got = f"got {said.n_instances} and {said.n_classes} from {name}"
            remedy = "give one row for each row of X, and one column for each class"
            fail("method", f"must predict {len(array)} instances and {k} classes", got, remedy, code="shape")
        return said if said.n_classes == k else _with_columns(said, self.seen_, k, name)

    def _taken(self) -> dict[str, Any]:
        known = option_names(self.of)
        return {
            **{n: v for n, v in known.items() if n not in SET_HERE and v is not inspect.Parameter.empty},
            **self.options,
        }

    def _made(self) -> Any:
        known = option_names(self.of)
        own = {name: getattr(self, name) for name in SET_HERE if name in known and getattr(self, name) is not None}
        try:
            return given_class(self.of)(**self.options, **own)
        except (TypeError, ValueError) as problem:
            rule = f"{label_of(self.of)} must be made with the options {', '.join({**self.options, **own}) or '(none)'}"
            raise InputError(
                "method", rule, f"it raised {problem}", "give its options defaults", code="type"
            ) from problem


def _with_columns(said: Prediction, seen: Any, k: int, name: str) -> Prediction:
    """A point or members with probability 0 for the classes that were not seen."""
    if not isinstance(said, (Point, Members)):
        rule = f"must have a column for each of {k} classes, or be a point or members"
        fail("method", rule, f"got {type(said).__name__} of {said.n_classes} from {name}", "add columns", code="shape")
    probs = np.zeros((*said.probs.shape[:-1], k))
    probs[..., seen] = said.probs
    return Point(probs) if isinstance(said, Point) else Members(probs, said.weights)


def taken_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that the class has, but `random_state` and `classes`, which are set for every training."""
    known = option_names(name)
    return {option: value for option, value in options.items() if option in known and option not in SET_HERE}
