"""One cell of a benchmark: one training and its prediction, and the key under which its result is stored."""

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, final

import numpy as np

import uqassay
from uqassay.checks import a, fail, whole
from uqassay.errors import InputError
from uqassay.predictions import Prediction
from uqassay.text import said

__all__ = [
    "Cell",
    "CellResult",
    "canonical_json",
    "function_of",
]


# The key is a digest of what the result depends on: the function's name, the parameters, the condition, the data, the seed and
# the version of uqassay. If any of these changes, the cell has another key, so a result of another version is never reused.
# The source code of the function is no part of it: who changes it changes a parameter.

SCHEMA = "uqassay.cell/1"
MAX_SEED = 2**32 - 1  # the largest seed that scikit-learn and NumPy's older generators accept


@final
@dataclass(frozen=True)
class CellResult:
    """The result of the function of a cell."""

    prediction: Prediction  #: Of the n test instances
    labels: np.ndarray  #: (n,) or (n, K): Of the test instances
    #: (n,) each: Uncertainties that the prediction does not contain, such as a density; greater is less
    #: certain
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    #: Plain values that are stored with the result: the device, sizes, times
    facts: Mapping[str, Any] = field(default_factory=dict)
    record: Any = None  #: A frozen dataclass whose arrays have other shapes than scores; `StoredResult.record` reads it


@final
@dataclass(frozen=True, kw_only=True)
class Cell:
    """One training and its prediction: data set × method × condition × seed.

    Parameters
    ----------
    function : str
        ``"module:function"``; called with the cell, it returns a `CellResult` that depends on the cell alone.
    seed : int
        0 … 2³² − 1.
    params, condition : dict
        Plain values: text, numbers, true and false, None, lists and dictionaries of them.
    data_hash : str
        Digest of the data.
    source : str
        Where the data are loaded from, if `dataset` alone does not say it. The key depends on the data and not on their
        place, so a folder may be moved.
    threads : int
        Threads of BLAS and PyTorch. They are part of the key, since they change the order of additions.

    Examples
    --------
    >>> cell = Cell("json:dumps", dataset="digits", method="forest", seed=0, params={"trees": 50})
    >>> cell.name
    'digits, forest, seed 0'
    >>> cell.key == Cell("json:dumps", dataset="digits", method="forest", seed=1, params={"trees": 50}).key
    False
    """

    function: str = field(kw_only=False)
    dataset: str
    method: str
    seed: int
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    condition: Mapping[str, Any] = field(default_factory=dict, hash=False)
    data_hash: str = ""
    source: str = ""
    threads: int = 1

    def __post_init__(self) -> None:
        for name in ("function", "dataset", "method", "data_hash", "source"):
            a(str, getattr(self, name), name, "pass a str", rule="must be text")
        if not all(part.isidentifier() for part in self.function.replace(":", ".", 1).split(".")) or (
            ":" not in self.function
        ):
            rule = "must read module:function"
            fail("function", rule, f"got {self.function!r}", "name an importable function", code="type")
        for name, least, most in (("seed", 0, MAX_SEED), ("threads", 1, 4096)):
            object.__setattr__(self, name, whole(getattr(self, name), name, "change it", least=least, most=most))
        for name in ("params", "condition"):  # a copy, so that the key stays valid
            object.__setattr__(self, name, json.loads(canonical_json(getattr(self, name), name)))

    @property
    def key(self) -> str:
        """SHA-256 of everything that the result depends on, 64 hexadecimal characters."""
        facts = asdict(self) | {"schema": SCHEMA, "version": uqassay.__version__}
        del facts["source"]
        return hashlib.sha256(canonical_json(facts, "cell").encode()).hexdigest()

    @property
    def name(self) -> str:
        """Data set, method, condition and seed for a reader."""
        conditions = [f"{key} {value}" for key, value in sorted(self.condition.items())]
        return ", ".join([self.dataset, self.method, *conditions, f"seed {self.seed}"])

    def to_json(self) -> str:
        """The fields as one line of JSON."""
        return canonical_json(asdict(self), "cell")

    @classmethod
    def from_json(cls, text: str) -> "Cell":
        """The cell that `to_json` wrote."""
        facts = json.loads(text)
        facts.pop("rests_on", None)  # of older versions
        return cls(**facts)


def canonical_json(value: Any, name: str = "value") -> str:
    """The one JSON text of a value: sorted keys, no blanks, ASCII, no NaN.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    try:
        _check_keys(value)
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise InputError(
            name,
            "must be made of text, finite numbers, true, false, None, lists and dictionaries",
            said(problem),
            "convert it first",
            code="finite" if isinstance(problem, ValueError) else "type",
        ) from problem
    except RecursionError as problem:
        rule = "must not contain itself or too many nested lists"
        raise InputError(name, rule, "", "make it flatter", code="size") from problem


def function_of(name: str) -> Callable[[Cell], CellResult]:
    """The function that ``"module:function"`` names."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as problem:
        raise InputError(
            "function", f"{name} must be importable", str(problem), "check its name and the path", code="missing"
        ) from problem
    except AttributeError as problem:
        raise InputError("function", f"{module} has no {attribute}", "", "check its name", code="missing") from problem
    if not callable(found):
        fail("function", f"{name} must be a function", f"got {type(found).__name__}", "name a function", code="type")
    chosen: Callable[[Cell], CellResult] = found
    return chosen


# -- helpers ----------------------------------------------------------------------------------------------------------


def _check_keys(value: Any) -> None:
    """Refuse keys that are not text: JSON would silently turn 1 and None into text, and "1" and 1 into one key."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_keys(inner)
