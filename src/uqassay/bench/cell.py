"""One cell of a benchmark: one training and its prediction, and the key under which its result is stored.

The key is a digest of everything that the result depends on: the function and its source files, the parameters, the condition,
the data and the seed. If any of these changes, the cell has another key, so a result of older code is never reused.
"""

import ast
import hashlib
import importlib
import importlib.util
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any, final

import numpy as np

from uqassay.errors import InputError
from uqassay.predictions import Prediction

__all__ = ["SCHEMA", "Cell", "CellResult", "canonical_json", "code_version", "function_of"]

SCHEMA = "uqassay.cell/1"
MAX_SEED = 2**32 - 1  # the largest seed that scikit-learn and NumPy's older generators accept


@final
@dataclass(frozen=True)
class CellResult:
    """The result of the function of a cell.

    Attributes
    ----------
    prediction : Prediction
        Of the n test instances.
    labels : array (n,) or (n, K)
        Of the test instances.
    scores : dict of str to array (n,)
        Uncertainties that the prediction does not contain, such as a density; greater is less certain.
    facts : dict
        Plain values that are stored with the result: the device, sizes, times.
    """

    prediction: Prediction
    labels: np.ndarray
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, kw_only=True)
class Cell:
    """One training and its prediction: data set × method × condition × seed.

    Parameters
    ----------
    function : str
        ``"module:function"``; called with the cell, it returns a `CellResult` that depends on the cell alone.
    dataset, method : str
    seed : int
        0 … 2³² − 1.
    params, condition : dict
        Plain values: text, numbers, true and false, None, lists and dictionaries of them.
    data_hash : str
        Digest of the data.
    source : str
        Where the data are loaded from, if `dataset` alone does not say it. The key depends on the data and not on their
        place, so a folder may be moved.
    rests_on : tuple of str
        Modules whose source is part of the key, in addition to the function's module.
    threads : int
        Threads of BLAS and PyTorch. They are part of the key, since they change the order of additions.

    Raises
    ------
    InputError
        A function without a module, a seed out of range, or values that are not plain.

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
    rests_on: tuple[str, ...] = ()
    threads: int = 1

    def __post_init__(self) -> None:
        if not all(part.isidentifier() for part in self.function.replace(":", ".", 1).split(".")) or (
            ":" not in self.function
        ):
            raise InputError(
                "function",
                "must read module:function",
                f"got {self.function!r}",
                "name an importable function",
                code="type",
            )
        for name, least, most in (("seed", 0, MAX_SEED), ("threads", 1, 4096)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise InputError(
                    name,
                    f"must be a whole number in {least} … {most}",
                    f"got {value!r}",
                    "change it",
                    code="range",
                )
        for name in ("params", "condition"):  # a copy, so that the key stays valid
            object.__setattr__(self, name, json.loads(canonical_json(getattr(self, name), name)))
        object.__setattr__(self, "rests_on", tuple(sorted(self.rests_on)))

    @property
    def key(self) -> str:
        """SHA-256 of everything that the result depends on, 64 hexadecimal characters."""
        facts = asdict(self) | {"schema": SCHEMA, "code": code_version(self.function, self.rests_on)}
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
        return cls(**facts | {"rests_on": tuple(facts["rests_on"])})


def canonical_json(value: Any, name: str = "value") -> str:
    """The one JSON text of a value: sorted keys, no blanks, ASCII, no NaN.

    Raises
    ------
    InputError
        A value that is not made of text, finite numbers, true, false, None, lists, and dictionaries with text as keys.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    try:
        _check_keys(value)
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as problem:
        reason = " ".join(str(problem).split())
        raise InputError(
            name,
            "must be made of text, finite numbers, true, false, None, lists and dictionaries",
            reason,
            "convert it first",
            code="finite" if isinstance(problem, ValueError) else "type",
        ) from problem
    except RecursionError as problem:
        rule = "must not contain itself or too many nested lists"
        raise InputError(name, rule, "", "make it flatter", code="size") from problem


def function_of(name: str) -> Callable[[Cell], CellResult]:
    """The function that ``"module:function"`` names.

    Raises
    ------
    InputError
        No such module or function.
    """
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
        raise InputError(
            "function", f"{name} must be a function", f"got {type(found).__name__}", "name a function", code="type"
        )
    chosen: Callable[[Cell], CellResult] = found
    return chosen


@cache
def code_version(function: str, rests_on: tuple[str, ...] = ()) -> str:
    """Digest of this package's version and of the source code behind a function.

    The source code is that of the function's module, of the modules in `rests_on`, and of all modules that these import,
    directly or indirectly, from their own packages and from uqassay. No module is imported for it. ``uqassay/__init__.py``
    offers the whole package, so it counts by its version, and by the modules of those names that a source takes from it, as
    ``uq.assay`` or ``from uqassay import assay``.

    Raises
    ------
    InputError
        A module that is not found.
    """
    from uqassay import __version__

    digest = hashlib.sha256(f"uqassay {__version__}".encode())
    finder = _Finder()
    seen: dict[str, bytes] = {}
    waiting = [function.partition(":")[0], *rests_on]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        path = finder.file(module)
        seen[module] = path.read_bytes() if path is not None else b""
        if path is not None and path.suffix == ".py":
            waiting += _modules_in(module, path.name == "__init__.py", seen[module], finder)
    for module in sorted(seen):
        digest.update(f"\0{module}\0{len(seen[module])}\0".encode() + seen[module])
    return digest.hexdigest()


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


class _Finder:
    """The files of modules, found without importing their packages. It looks into each folder once."""

    def __init__(self) -> None:
        self.names: dict[Path, set[str]] = {}
        self.found: dict[str, tuple[bool, Path | None]] = {}

    def file(self, module: str) -> Path | None:
        """The file of a module; None for built-in modules and namespace packages.

        Raises
        ------
        InputError
            No such module.
        """
        known, path = self._look(module)
        if not known:
            raise InputError(
                "function", f"the module {module} is not found", "", "check its name and the path", code="missing"
            )
        return path

    def has_file(self, name: str) -> bool:
        """Whether a name is that of a module with a file, not of an object in a module."""
        return self._look(name)[1] is not None

    def _look(self, module: str) -> tuple[bool, Path | None]:
        if module not in self.found:
            self.found[module] = self._searched(module)
        return self.found[module]

    def _searched(self, module: str) -> tuple[bool, Path | None]:
        top, *inner = module.split(".")
        try:
            spec = importlib.util.find_spec(top)
        except ValueError:  # __main__ has no specification
            spec = None
        if spec is not None and not inner:
            return True, Path(spec.origin) if spec.has_location and spec.origin is not None else None
        for place in (spec and spec.submodule_search_locations) or ():
            folder, name = Path(place, *inner[:-1]), inner[-1]
            held = self._held(folder)  # distinguishes Point from point.py on every file system
            if name in held and (folder / name / "__init__.py").is_file():
                return True, folder / name / "__init__.py"
            file = next((file for file in (f"{name}{suffix}" for suffix in all_suffixes()) if file in held), None)
            if file is not None or name in held:
                return True, None if file is None else folder / file
        return False, None

    def _held(self, folder: Path) -> set[str]:
        if folder not in self.names:
            self.names[folder] = set(os.listdir(folder)) if folder.is_dir() else set()
        return self.names[folder]


def _modules_in(module: str, is_package: bool, source: bytes, finder: _Finder) -> list[str]:
    """Modules of the same top-level package and of uqassay that a source imports."""
    tops = ("uqassay", module.partition(".")[0])
    names = []
    for base, name in _imports(module, is_package, source):
        if base == "uqassay" and name and not finder.has_file(f"uqassay.{name}"):
            names.append(_offered(finder).get(name, base))
        elif base.partition(".")[0] in tops:
            inner = f"{base}.{name}" if name else base
            names.append(inner if finder.has_file(inner) else base)
    return [name for name in names if name != "uqassay" and finder.has_file(name)]


def _offered(finder: _Finder) -> dict[str, str]:
    """The modules of the names that uqassay itself offers."""
    path = finder.file("uqassay")
    pairs = () if path is None else _imports("uqassay", True, path.read_bytes())
    return {name: base for base, name in pairs if name and base.startswith("uqassay.")}


@lru_cache(maxsize=2048)  # methods share most of their modules
def _imports(module: str, is_package: bool, source: bytes) -> tuple[tuple[str, str], ...]:
    """All imports of a source, as pairs of a module and a name in it, which may itself be a module.

    With ``import uqassay as uq``, ``uq.assay`` counts as an import of ``assay``.
    """
    package = module if is_package else module.rpartition(".")[0]
    found = []
    own: set[str] = set()  # names of uqassay itself
    taken: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
            own |= {alias.asname or "uqassay" for alias in node.names if _binds_uqassay(alias)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            taken.append((node.value.id, node.attr))
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            found += [(base, alias.name) for alias in node.names]
    found += [("uqassay", name) for value, name in taken if value in own]
    return tuple(dict.fromkeys(found))


def _binds_uqassay(alias: ast.alias) -> bool:
    """Whether an import binds a name to uqassay itself, as ``import uqassay.losses`` does as well."""
    return alias.name == "uqassay" or (alias.name.startswith("uqassay.") and alias.asname is None)
