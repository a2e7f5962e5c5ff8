"""Which estimator, splitter or function was given, as plain values: stored results are found by them."""

import copy
import dis
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, final

import numpy as np

from uqassay.checks import fail, whole
from uqassay.errors import InputError
from uqassay.lab.bench.cell import code_version

__all__ = [
    "check_estimator",
    "code_values",
    "global_names",
    "identity_of",
    "run_seeds",
    "unfitted_copy",
]


# The code of a function as plain values, and the global names that it reads.

READ, WRITTEN = ("LOAD_GLOBAL", "LOAD_NAME"), ("STORE_GLOBAL", "DELETE_GLOBAL")


def code_values(code: CodeType) -> list[Any]:
    """Instructions, names and constants of a code object, those of functions inside it included; equal in every process.

    Examples
    --------
    >>> one, other = (lambda p: p.alpha), (lambda p: p.beta)
    >>> code_values(one.__code__) == code_values(other.__code__)
    False
    """
    constants = [
        code_values(one)
        if isinstance(one, CodeType)
        else sorted(repr(each) for each in one)  # the order of a set differs from process to process
        if isinstance(one, frozenset)
        else repr(one)
        for one in code.co_consts
    ]
    return [code.co_code.hex(), list(code.co_names), constants]


def global_names(code: CodeType) -> tuple[str, ...]:
    """Global names that the code reads and does not write, those of functions inside it included, in alphabetical order.

    A name that the code writes is a counter or a cache, which differs from run to run.

    Examples
    --------
    >>> global_names((lambda x: [limit * one for one in x if one < cut]).__code__)
    ('cut', 'limit')
    """
    read: set[str] = set()
    written: set[str] = set()
    for one in _all_codes(code):
        for instruction in dis.get_instructions(one):
            if instruction.opname in READ:
                read.add(instruction.argval)
            elif instruction.opname in WRITTEN:
                written.add(instruction.argval)
    return tuple(sorted(read - written))


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _all_codes(one)


# Plain values that say which estimator, splitter or function was given: stored results are found again and never
# mistaken.
#
# A class or a function of a package with ``__version__`` counts by its name and that version, which is not that of the
# packages that it imports. Any other counts by its source, by the methods that replace those of the source, and by the
# global names that it reads: plain values, arrays, functions, classes and modules. Other globals do not count: objects,
# and attributes that were set on modules.

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
        For a class or a function its name, and the version of its package; without one a digest of its source, with the
        methods that were replaced, and the global names that it reads.

    Examples
    --------
    >>> identity_of((1, None, "all"))
    [1, None, 'all']
    >>> identity_of(np.gcd)["name"]
    'numpy:gcd'
    """
    return _Identity().of(value, name)


@final
class _Identity:
    """One walk over a value, its source and what that reads; a class or function that is met again counts by its name."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def of(self, value: Any, name: str) -> Any:
        if value is None or isinstance(value, (str, bool, int)):
            return value
        if isinstance(value, (float, np.floating)):
            return float(value) if np.isfinite(value) else str(value)  # JSON has no infinity
        if isinstance(value, (np.integer, np.bool_)):
            return value.item()
        if isinstance(value, (list, tuple)):
            return [self.of(one, f"{name}[{i}]") for i, one in enumerate(value)]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {key: self.of(one, f"{name}.{key}") for key, one in value.items()}
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufSU":
            digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return {"array": digest, "dtype": value.dtype.str, "shape": list(value.shape)}
        if isinstance(value, functools.partial):
            parts = {"args": value.args, "keywords": value.keywords}
            return {"partial": self.of(value.func, name), **self.of(parts, name)}
        if isinstance(value, (type, np.ufunc)) or inspect.isroutine(value):
            return self.source(value, name)
        if callable(getattr(value, "get_params", None)):
            options = self.options(value, value.get_params(deep=False), name)
            return {**self.source(type(value), name), "options": options}
        if callable(getattr(value, "fit", None)) or callable(getattr(value, "divide", None)):
            return {**self.source(type(value), name), "options": self.options(value, _state_of(value), name)}
        fail(
            "folder",
            "needs options from which the key of a stored result can be made: plain values, arrays, estimators and functions",
            f"{name} is of type {type(value).__name__}",
            "leave folder out, or give the option as one of these, such as a function that makes the object",
            code="type",
        )

    def options(self, value: Any, options: Mapping[str, Any], name: str) -> dict[str, Any]:
        set_here = "." not in name and callable(getattr(value, "fit", None))
        left_out = (*NO_EFFECT, *SET_HERE) if set_here else NO_EFFECT
        return {key: self.of(one, f"{name}.{key}") for key, one in sorted(options.items()) if key not in left_out}

    def source(self, value: Any, name: str) -> dict[str, Any]:
        """Name, and version of the package or digest of the source; the source of uqassay itself is part of every key."""
        module = getattr(value, "__module__", None) or "numpy"
        found: dict[str, Any] = {
            "name": f"{module}:{getattr(value, '__qualname__', getattr(value, '__name__', ''))}",
        }
        if any(value is one for one in self.seen):
            return found
        self.seen.append(value)
        if _is_released(module):
            if module.partition(".")[0] != OWN:
                found["version"] = str(_version(module))
            replaced = self.replaced_of_released(value, name) if isinstance(value, type) else []
            return {**found, **({"replaced": replaced} if replaced else {})}
        if inspect.ismethod(value):
            fail(
                "folder", "needs a function in place of a method", f"{name} is {found['name']}", "wrap it", code="type"
            )
        digest = hashlib.sha256(_text_of(value, name, found["name"]).encode()).hexdigest()
        parts = {
            "enclosed": self.enclosed_by_class(value, name) if isinstance(value, type) else self.enclosed(value, name),
            "globals": self.globals_of(value, name),
        }
        return {**found, "source": digest, **{key: part for key, part in parts.items() if part}}

    # -- what a function rests on besides its source --------------------------------------------------------------------

    def enclosed(self, function: Any, name: str) -> list[Any]:
        """Defaults and values of the closure; `super()` puts the class itself there, which is left out."""
        function = inspect.unwrap(function)
        cells = getattr(function, "__closure__", None) or ()
        names = function.__code__.co_freevars if cells else ()
        found = [
            self.of(cell.cell_contents, name) for own, cell in zip(names, cells, strict=True) if own != "__class__"
        ]
        found += [self.of(one, name) for one in getattr(function, "__defaults__", None) or ()]
        found += [self.of(one, name) for one in sorted((getattr(function, "__kwdefaults__", None) or {}).items())]
        if getattr(function, "__name__", "") == "<lambda>":  # two can stand on one line of source
            found.append(code_values(function.__code__))
        return found

    def enclosed_by_class(self, kind: type, name: str) -> list[Any]:
        """Of a class: its bases, what its methods enclose, and methods that are not in its source."""
        found: list[Any] = [self.source(base, name) for base in kind.__bases__ if not _is_pythons_own(base.__module__)]
        for own, method in _methods(kind):
            if method.__qualname__ == f"{kind.__qualname__}.{own}":
                found += self.enclosed(method, name)
            else:
                found.append([own, self.replacement(method, name)])
        return found

    def replaced_of_released(self, kind: type, name: str) -> list[Any]:
        """Methods of a class of a released package that are not of such a package."""
        return [
            [own, self.replacement(method, name)]
            for base in kind.__mro__
            if _is_released(base.__module__)
            for own, method in _methods(base)
            if not _is_released(method.__module__) and not _is_pythons_own(method.__module__)
        ]

    def replacement(self, method: FunctionType, name: str) -> Any:
        """A method by its source, or by its code where it has none."""
        try:
            return self.source(method, name)
        except InputError as problem:
            if problem.code != "unreadable":
                raise
            return code_values(method.__code__)

    def globals_of(self, value: Any, name: str) -> dict[str, Any]:
        """The global names that the code reads, with those values from which a key can be made."""
        functions = [method for _, method in _methods(value)] if isinstance(value, type) else [inspect.unwrap(value)]
        found: dict[str, Any] = {}
        for function in functions:
            code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", {})
            for own in global_names(code) if isinstance(code, CodeType) else ():
                if own in scope and own not in found:
                    found |= self.one_global(own, scope[own], name)
        return dict(sorted(found.items()))

    def one_global(self, own: str, value: Any, name: str) -> dict[str, Any]:
        if isinstance(value, ModuleType):
            return _of_module(own, value)
        of_code = isinstance(value, type) or inspect.isroutine(value)
        if of_code and _is_pythons_own(getattr(value, "__module__", None) or "builtins"):
            return {}
        known = len(self.seen)
        try:
            of_own = isinstance(value, FunctionType)
            return {own: self.replacement(value, name) if of_own else self.of(value, f"{name}, {own}")}
        except InputError:  # not of a kind that has a key
            del self.seen[known:]  # so that other paths to the same functions count in full
            return {}


# -- helpers -------------------------------------------------------------------------------------------------------------


def _text_of(value: Any, name: str, full_name: str) -> str:
    try:
        return inspect.getsource(value)
    except (OSError, TypeError) as problem:
        raise InputError(
            "folder",
            "needs an estimator and functions whose source can be read, which is part of the key",
            f"that of {name}, {full_name}, cannot",
            "define it in a file, or leave folder out",
            code="unreadable",
        ) from problem


def _state_of(value: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots included."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(value, name) for name in slots if name != "__dict__" and hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


def _methods(kind: type) -> Iterator[tuple[str, FunctionType]]:
    """Functions among the attributes of a class, those of properties, static methods and class methods included."""
    for name, part in vars(kind).items():
        parts: list[Callable[..., Any] | None] = [getattr(part, "__func__", part)]
        if isinstance(part, property):
            parts = [part.fget, part.fset]
        elif isinstance(part, functools.cached_property):
            parts = [part.func]
        yield from ((name, one) for one in parts if isinstance(one, FunctionType))


def _of_module(own: str, module: ModuleType) -> dict[str, Any]:
    """A module by the version of its package, or by its source and that of the modules that it imports."""
    name = module.__name__
    if name.partition(".")[0] == OWN or _is_pythons_own(name):
        return {}
    if _is_released(name):
        return {own: {"module": name, "version": str(_version(name))}}
    if getattr(module, "__file__", None) is None or name == "__main__":
        return {}
    return {own: {"module": name, "source": code_version(f"{name}:_")}}


def _version(module: str) -> Any:
    return getattr(sys.modules.get(module.partition(".")[0]), "__version__", "")


def _is_released(module: str) -> bool:
    """Whether the package has a version, by which it counts."""
    return module != "__main__" and bool(_version(module))


def _is_pythons_own(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"


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
