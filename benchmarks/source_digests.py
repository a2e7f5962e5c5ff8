"""The source code behind a function: the modules that it rests on, and a digest of each.

The stored tables of the guide are dated by it. Nothing is imported for it. Docstrings, comments on lines of their own and blank
lines do not count.
"""

import ast
import hashlib
import importlib.util
import os
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import final

from uqassay.checks import fail

__all__ = ["code_modules", "code_version"]

OWN = "uqassay"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NAMED = (ast.Attribute, ast.Name)
TEXTS = (ast.Constant, ast.JoinedStr)
Reference = tuple[str, str]  # a module, and the dotted name that is taken from it


def code_version(function: str, rests_on: tuple[str, ...] = ()) -> str:
    """Digest of this package's version and of the source code behind a function, as `code_modules` finds it."""
    from uqassay import __version__

    return _digest(__version__, tuple(code_modules(function, rests_on).items()))


@cache
def code_modules(function: str, rests_on: tuple[str, ...] = ()) -> dict[str, str]:
    """The modules with the source code behind a function, and the digest of each.

    These are the function's module, those in `rests_on`, and all modules that these import, directly or indirectly, from
    their own packages and from uqassay. An ``__init__.py`` of uqassay that offers the names of other modules counts by the
    modules of the names that are taken from it, as in ``uq.assay``, ``uq.metrics.aurc_loss`` or ``from uqassay import
    assay``, and as a whole only where it is passed on as a whole. Names that a package loads when they are first used, as
    those of `uqassay.lab.methods`, are not followed: name their modules in `rests_on`.

    Parameters
    ----------
    function : str
        ``"module:function"``; the function itself is not looked up.
    rests_on : tuple of str
        Names of modules.

    Returns
    -------
    dict of str to str
        By name of the module, in order of the names. It must not be changed.

    Examples
    --------
    >>> sorted(code_modules("uqassay.text:number"))
    ['uqassay.text']
    """
    finder = _Finder()
    seen: dict[str, str] = {}
    waiting = [function.partition(":")[0], *rests_on]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        path = finder.file(module)
        source = path.read_bytes() if path is not None else b""
        if path is None or path.suffix != ".py":
            seen[module] = hashlib.sha256(source).hexdigest()
            continue
        text = _read(module, path.name == "__init__.py", source)
        seen[module] = text.digest
        waiting += _modules_in(module, text, finder)
    return dict(sorted(seen.items()))


# -- helpers ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)  # thousands of cells share a function
def _digest(package_version: str, modules: tuple[tuple[str, str], ...]) -> str:
    digest = hashlib.sha256(f"uqassay {package_version}".encode())
    for module, own in modules:
        digest.update(f"\0{module}\0{own}".encode())
    return digest.hexdigest()


class _Finder:
    """The files of modules, found without importing their packages. It looks into each folder once."""

    def __init__(self) -> None:
        self.names: dict[Path, set[str]] = {}
        self.found: dict[str, tuple[bool, Path | None]] = {}

    def file(self, module: str) -> Path | None:
        """The file of a module; None for built-in modules and namespace packages."""
        known, path = self._look(module)
        if not known:
            fail("function", f"the module {module} is not found", "", "check its name and the path", code="missing")
        return path

    def has_file(self, name: str) -> bool:
        """Whether a name is that of a module with a file, not of an object in a module."""
        return self._look(name)[1] is not None

    def offered(self, module: str) -> dict[str, set[Reference]]:
        """The names that a package of uqassay takes from other modules, with their places."""
        path = self._look(module)[1] if module.partition(".")[0] == OWN else None
        return {} if path is None or path.name != "__init__.py" else _read(module, True, path.read_bytes()).bound

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


@final
@dataclass(frozen=True)
class _Text:
    """What a source says: its digest, the names that its imports bind, and what it takes from other modules."""

    digest: str
    bound: dict[str, set[Reference]]
    taken: frozenset[Reference]


def _modules_in(module: str, text: _Text, finder: _Finder) -> set[str]:
    """Modules of the same top-level package and of uqassay that a source takes something from."""
    tops = (OWN, module.partition(".")[0])
    names: set[str] = set()
    for base, name in text.taken:
        if base.partition(".")[0] in tops:
            names |= _resolved(base, name, finder)
    return {name for name in names if name != OWN and finder.has_file(name)}


def _resolved(base: str, name: str, finder: _Finder) -> set[str]:
    """The modules in which a dotted name is defined, through the packages of uqassay that offer it."""
    parts = name.split(".") if name else []
    while parts and finder.has_file(f"{base}.{parts[0]}"):
        base = f"{base}.{parts.pop(0)}"
    offered = finder.offered(base).get(parts[0], set()) if parts else set()
    places = [(place, ".".join(filter(None, (own, *parts[1:])))) for place, own in offered if place != base]
    return set().union(*(_resolved(place, own, finder) for place, own in places)) if places else {base}


@lru_cache(maxsize=2048)  # functions share most of their modules
def _read(module: str, is_package: bool, source: bytes) -> _Text:
    nodes = list(ast.walk(ast.parse(source)))
    package = module if is_package else module.rpartition(".")[0]
    bound: dict[str, set[Reference]] = {}
    taken: set[Reference] = set()
    tops: set[str] = set()  # names that are bound to the package above the module that is imported
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                bound.setdefault(alias.asname or top, set()).add((alias.name if alias.asname else top, ""))
                if alias.asname is None and top != alias.name:
                    taken.add((alias.name, ""))
                    tops.add(top)
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                bound.setdefault(alias.asname or alias.name, set()).add((base, alias.name))
    used = _uses(nodes, bound)
    for own, places in bound.items():
        chains = used.get(own, set() if own in tops else {""})  # a name that is not used here may be meant for others
        taken |= {(base, ".".join(filter(None, (name, chain)))) for base, name in places for chain in chains}
    return _Text(hashlib.sha256(_without_words(nodes, source)).hexdigest(), bound, frozenset(taken))


def _uses(nodes: Iterable[ast.AST], names: Container[str]) -> dict[str, set[str]]:
    """The dotted attributes that are taken of each name; an empty text where the name itself is used."""
    inner: set[ast.AST] = set()  # of longer chains
    used: dict[str, set[str]] = {}
    for node in nodes:
        if node in inner or not isinstance(node, NAMED):
            continue
        chain, root = [], node
        while isinstance(root, ast.Attribute):
            chain.append(root.attr)
            inner.add(root.value)
            root = root.value  # type: ignore[assignment]
        if isinstance(root, ast.Name) and root.id in names:
            used.setdefault(root.id, set()).add(".".join(reversed(chain)))
    return used


def _without_words(nodes: Iterable[ast.AST], source: bytes) -> bytes:
    """The source without docstrings, comments on lines of their own, and blank lines."""
    lines = source.splitlines()
    texts: set[int] = set()  # lines inside texts, of which nothing is left out
    left_out: set[int] = set()
    for node in nodes:
        if isinstance(node, TEXTS) and node.end_lineno is not None:
            if node.end_lineno > node.lineno:
                texts |= set(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            words = node.body[0]
            end = words.end_lineno or words.lineno
            before = lines[words.lineno - 1][: words.col_offset]
            after = lines[end - 1][words.end_col_offset :].strip()
            if not before.strip() and (not after or after.startswith(b"#")):
                left_out |= set(range(words.lineno, end + 1))
    kept = []
    for number, line in enumerate(lines, start=1):
        told = line.strip()
        if number not in left_out and (number in texts or (told and not told.startswith(b"#"))):
            kept.append(line if number in texts else line.rstrip())
    return b"\n".join(kept)
