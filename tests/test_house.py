"""The structure of the package: rooms, arrows, names. The rules are in the tables at the top."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks import house

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = SOURCE / "uqassay"

# A room imports from those to its left. The second wing (`lab`) makes predictions, and nothing in the first one imports it.
SHARED = (
    *("errors", "checks", "notes", "text", "arrays", "native", "results", "records", "files", "frames", "ids"),
    *("_lazy", "_progress", "_workers"),
)
ROOMS = (
    *("credal", "statistics", "predictions", "measures", "losses", "metrics", "calibration", "evidence", "report"),
    "cli",
    *("lab.datasets", "lab.methods", "lab.bench", "lab.papers"),
    *("lab", "lab.demo", "lab.cli_bench", "lab.cli_reproduce"),
)

# Imports to the right, each inside the function that needs it: (file, room).
LAZY_TO_THE_RIGHT = {
    ("evidence/result.py", "report"),  # Assay.to_html, Assay.plot
    ("evidence/ranking.py", "report"),  # Ranking.plot
}
# Imports to the right for type checkers alone.
TYPES_TO_THE_RIGHT: set[tuple[str, str]] = set()

# The lab imports from the first wing what serves all, names that the door of a room shows (its `__all__`), and the names that
# these modules list: what a command of the terminal and what a figure are built of.
BUILDING_BLOCKS = (
    *("cli.fail_if", "cli.inputs", "cli.report", "cli.screen"),
    *("report.figures", "report.figures.frame"),
)


@dataclass(frozen=True)
class Import:
    """One import: of which module, which name of it, at which line; when it happens."""

    file: Path
    line: int
    target: str  # dotted name of a module of the package
    name: str | None  # the name taken from it, None for the module itself
    when: str  # "load", "call" or "types"


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for path in modules()}


def room_of(module: str) -> str:
    """First part of the name below the package, two parts in the lab; the root itself is ""."""
    parts = module.split(".")
    return ".".join(parts[1:3] if parts[1:2] == ["lab"] else parts[1:2])


def short(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path, tree: ast.Module) -> Iterator[Import]:
    """Every import of a module of the package: statements, relative ones, and names of modules in strings."""
    in_strings = re.search(
        r"""["']uqassay\.""", path.read_text(encoding="utf-8")
    )  # else no expression has to be looked at
    own = dotted(path)
    package = own if path.name == "__init__.py" else own.rpartition(".")[0]

    def visit(node: ast.AST, when: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if not in_strings and isinstance(child, ast.expr | ast.expr_context | ast.operator):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                for part in child.body:
                    yield from visit(ast.Module([part], []), "types")
                for part in child.orelse:
                    yield from visit(ast.Module([part], []), when)
                continue
            yield from found(child, when)
            inner = "call" if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else when
            yield from visit(child, inner if when != "types" else "types")

    def found(node: ast.AST, when: str) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "uqassay":
                    yield Import(path, node.lineno, alias.name, None, when)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(
                    [*package.split(".")[: len(package.split(".")) - node.level + 1], *filter(None, [base])]
                )
            if base.split(".")[0] == "uqassay":
                for alias in node.names:
                    whole = f"{base}.{alias.name}"
                    target, name = (whole, None) if whole in MODULES else (base, alias.name)
                    yield Import(path, node.lineno, target, name, when)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = re.fullmatch(r"(uqassay(?:\.\w+)+)(?::(\w+))?", node.value)
            if match and match[1] in MODULES:
                yield Import(path, node.lineno, match[1], match[2], "call")

    return visit(tree, "load")


class Findings(NamedTuple):
    """What the tests look for in the modules of the package."""

    imports: list[Import]
    private_reads: list[str]
    error_words: list[str]


@cache
def findings() -> Findings:
    """Of every module of the package; found when the first test asks, because every process imports this file."""
    found = Findings([], [], [])
    for path in modules():
        tree = parsed(path)
        found.imports.extend(imports_of(path, tree))
        found.private_reads.extend(private_reads(path, tree))
        found.error_words.extend(error_words(path, tree))
    return found


def steps_right(found: Import) -> bool:
    here, there = room_of(dotted(found.file)), room_of(found.target)
    if here in ("", "__main__") or there == here or there == "" or there in SHARED:
        return False
    if here in SHARED:
        return True
    return ROOMS.index(there) > ROOMS.index(here)


def listed(found: list[str]) -> str:
    return "\n".join(["", *sorted(found)])


def test_every_module_belongs_to_a_room():
    assert {part for part in SHARED if part not in map(room_of, MODULES)} == set()
    assert {room_of(name) for name in MODULES} <= {"", "__main__", *SHARED, *ROOMS}


def test_imports_go_to_the_left():
    wrong = [
        f"{short(i.file)}:{i.line} imports {i.target} ({i.when})"
        for i in findings().imports
        if steps_right(i)
        and (short(i.file), room_of(i.target)) not in (TYPES_TO_THE_RIGHT if i.when == "types" else LAZY_TO_THE_RIGHT)
    ]
    assert not wrong, listed(wrong)


def test_stated_exceptions_are_there_and_wait_for_a_call():
    used = {(short(i.file), room_of(i.target)): i.when for i in findings().imports if steps_right(i)}
    assert set(used) >= LAZY_TO_THE_RIGHT | TYPES_TO_THE_RIGHT, "an exception that nothing needs any more"
    assert all(used[pair] == "call" for pair in LAZY_TO_THE_RIGHT), "an import to the right when a module is loaded"


@cache
def shown_by(module: str) -> frozenset[str]:
    """The names in the `__all__` of a module."""
    for node in parsed(MODULES[module]).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "__all__" and node.value is not None:
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def is_inner(found: Import) -> bool:
    """Whether the lab takes an inner name of the first wing."""
    here, there = room_of(dotted(found.file)), room_of(found.target)
    if here.partition(".")[0] != "lab" or there.partition(".")[0] == "lab" or there in SHARED:
        return False
    block = found.target.removeprefix("uqassay.")
    if found.name is None:
        return there != "" and block not in BUILDING_BLOCKS
    door = block in BUILDING_BLOCKS or found.target.count(".") <= 1
    return not door or found.name not in shown_by(found.target)


def test_the_lab_takes_public_names():
    wrong = [f"{short(i.file)}:{i.line} imports {i.target}.{i.name or ''}" for i in findings().imports if is_inner(i)]
    assert not wrong, listed(wrong)
    used = {i.target for i in findings().imports if room_of(dotted(i.file)).startswith("lab")}
    assert used >= {f"uqassay.{block}" for block in BUILDING_BLOCKS}, "an exception that nothing needs any more"


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected parts of more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def walk(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                walk(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in list(edges):
        if node not in index:
            walk(node)
    return found


def test_no_circle_between_files():
    edges: dict[str, set[str]] = defaultdict(set)
    for i in findings().imports:
        stated = (short(i.file), room_of(i.target)) in LAZY_TO_THE_RIGHT
        if (
            i.when != "types"
            and not stated
            and dotted(i.file) != i.target
            and "uqassay" not in (dotted(i.file), i.target)
        ):
            edges[dotted(i.file)].add(i.target)
    found = [" ↔ ".join(part) for part in circles(edges)]
    assert not found, listed(found)


def test_private_names_stay_at_home():
    """Names with an underscore are used in their module, modules with an underscore in their room."""
    wrong = []
    for i in findings().imports:
        parts = i.target.split(".")
        hidden = [p for p in parts[1:] if p.startswith("_")]
        at_root = len(parts) == 2 and parts[1] in SHARED
        same_room = room_of(dotted(i.file)) == room_of(i.target)
        if hidden and not at_root and not same_room:
            wrong.append(f"{short(i.file)}:{i.line} imports the module {i.target}")
        if i.name is not None and i.name.startswith("_") and i.name != "__version__":
            wrong.append(f"{short(i.file)}:{i.line} imports {i.name} from {i.target}")
    assert not wrong, listed(wrong)


def private_reads(path: Path, tree: ast.Module) -> Iterator[str]:
    """Names with an underscore taken from an imported module of the package: ``module._name``."""
    every = list(ast.walk(tree))
    taken = {
        (alias.asname or alias.name): f"{node.module}.{alias.name}"
        for node in every
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }
    for node in every if MODULES.keys() & taken.values() else ():
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        if re.match("_[^_]", node.attr) and taken.get(node.value.id) in MODULES:
            yield f"{short(path)}:{node.lineno} reads {node.value.id}.{node.attr}"


def test_private_names_are_not_read_through_a_module():
    wrong = findings().private_reads
    assert not wrong, listed(wrong)


# -- names --------------------------------------------------------------------------------------------------------------

LOOK_AT_NAMES = """
import importlib, json, sys, types
shadowed, rooms, classes, failed = [], {}, {}, []
for name in json.loads(sys.argv[1]):
    try:
        module = importlib.import_module(name)
    except Exception as problem:
        failed.append([name, type(problem).__name__, str(problem)])
        continue
    if hasattr(module, "__path__"):
        rooms[name] = [sorted(dir(module)), sorted(getattr(module, "__all__", []))]
    for key in getattr(module, "__all__", []):
        value = getattr(module, key)
        if isinstance(value, type) and value.__module__ == name:
            classes.setdefault(key, []).append(name)
for name in json.loads(sys.argv[1]):
    parent, _, last = name.rpartition(".")
    if parent and name in sys.modules and getattr(sys.modules[parent], last, None) is not sys.modules[name]:
        shadowed.append(name)
print(json.dumps({"shadowed": shadowed, "rooms": rooms, "classes": classes, "failed": failed}))
"""


@pytest.fixture(scope="module")
def names() -> dict:
    """What a fresh interpreter sees after importing every module."""
    every = [name for name in MODULES if not name.endswith("__main__")]
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOK_AT_NAMES, json.dumps(every)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.slow
def test_no_name_shadows_a_module(names):
    assert not names["shadowed"], listed(names["shadowed"])


@pytest.mark.slow
def test_dir_of_a_room_is_its_public_names(names):
    wrong = [
        f"{name}: {', '.join(set(seen) ^ set(public))}"
        for name, (seen, public) in names["rooms"].items()
        if seen != public
    ]
    assert not wrong, listed(wrong)


@pytest.mark.slow
def test_public_classes_have_names_of_their_own(names):
    twice = [f"{name} in {', '.join(where)}" for name, where in names["classes"].items() if len(where) > 1]
    assert not twice, listed(twice)


@pytest.mark.slow
def test_modules_load_wherever_their_packages_are(names):
    optional = ("ModuleNotFoundError", "MissingDependencyError")
    wrong = [
        ": ".join(problem) for problem in names["failed"] if problem[1] not in optional or "uqassay." in problem[2]
    ]
    assert not wrong, listed(wrong)


# -- errors and notes ---------------------------------------------------------------------------------------------------


OUR_ERRORS = re.compile(
    r"\b(InputError|FileFormatError|TooManyClassesError|UqassayError|MissingDependencyError|FolderProblem)\b"
)


def error_words(path: Path, tree: ast.Module) -> Iterator[str]:
    """Where the sentence of one of our errors is read, and where texts of notes are joined."""
    every = list(ast.walk(tree))
    for handler in every:
        if not (isinstance(handler, ast.ExceptHandler) and handler.name and handler.type is not None):
            continue
        if OUR_ERRORS.search(ast.unparse(handler.type)):
            for node in ast.walk(ast.Module(handler.body, [])):
                if reads_words(node, handler.name):
                    yield f"{short(path)}:{node.lineno} reads the words of {handler.name}"
    for node in every:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "split"):
            said = [node.func.value, *node.args]
            if any(isinstance(s, ast.Constant) and s.value == "; " for s in said) and "note" in ast.unparse(node):
                yield f"{short(path)}:{node.lineno} joins or splits notes"


def reads_words(node: ast.AST, name: str) -> bool:
    """Whether a node is ``str(problem)``, ``f"{problem}"`` or ``problem.args``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
        return bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id == name
    if isinstance(node, ast.FormattedValue):
        return isinstance(node.value, ast.Name) and node.value.id == name
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "args"
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    )


def test_nobody_reads_the_sentence_of_an_error():
    wrong = findings().error_words
    assert not wrong, listed(wrong)


# -- the checks see what they look for ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "target", "name", "when"),
    [
        ("import uqassay.report.page", "uqassay.report.page", None, "load"),
        ("from uqassay.report import page", "uqassay.report.page", None, "load"),
        ("from ..report.page import write_page", "uqassay.report.page", "write_page", "load"),
        ("def f():\n    from uqassay.report import page", "uqassay.report.page", None, "call"),
        ("import_module('uqassay.report.page')", "uqassay.report.page", None, "call"),
        ("WHERE = {'x': 'uqassay.report.page:write_page'}", "uqassay.report.page", "write_page", "call"),
        ("if TYPE_CHECKING:\n    from uqassay.report.page import a", "uqassay.report.page", "a", "types"),
    ],
)
def test_imports_of_every_form_are_seen(tmp_path, monkeypatch, text, target, name, when):
    path = tmp_path / "uqassay" / "credal" / "made_up.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path / "uqassay")
    (found,) = imports_of(path, parsed(path))
    assert (found.target, found.name, found.when, steps_right(found)) == (target, name, when, True)


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("from uqassay.losses import unified_loss", False),
        ("from uqassay import load", False),
        ("import uqassay as uq", False),
        ("from uqassay.checks import fail", False),
        ("from uqassay.cli.screen import complain", False),
        ("from uqassay.cli.screen import Console", True),
        ("from uqassay.losses.unified import unified_loss", True),
        ("from uqassay.losses import unified", True),
        ("from uqassay.losses import kernel", True),
        ("if TYPE_CHECKING:\n    from uqassay.evidence.result import Assay", True),
    ],
)
def test_inner_names_are_seen(tmp_path, monkeypatch, text, inner):
    path = tmp_path / "uqassay" / "lab" / "bench" / "made_up.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    (found,) = imports_of(path, parsed(path))
    assert is_inner(found) is inner


def test_circles_are_found():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert circles(edges) == [["a", "b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


def test_words_of_errors_are_found(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text(
        "try:\n    f()\nexcept InputError as e:\n    g(str(e), f'{e}', e.args)\n"
        "except OSError as e:\n    g(str(e))\nh = '; '.join(notes)\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    assert len(list(error_words(path, parsed(path)))) == 4


# Files of one lens that import one another, for types alone: what was measured, and its words.
ONE_LENS = {
    ("disentanglement", "disentanglement_runs", "disentanglement_words"),
    ("gain", "gain_words"),
}
# Those that make an `Assay`, or many: all others take `Judged`.
MAKERS = {"dask", "data_sets", "judgement", "stream"}


@pytest.mark.parametrize("room", house.LAYERED)
def test_files_of_a_room_import_one_another_in_one_direction(room):
    found = house.layers(room)
    assert {knot for layer in found for knot in layer if len(knot) > 1} <= ONE_LENS
    assert sorted(name for layer in found for knot in layer for name in knot) == sorted(
        path.stem for path in (PACKAGE / room).glob("*.py") if path.stem != "__init__"
    )


def test_lenses_do_not_import_the_assay():
    assert {name for name, imported in house.imports_within("evidence").items() if "result" in imported} == MAKERS


def test_layers_show_files_that_import_one_another_anywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(house, "SOURCE", tmp_path)
    (tmp_path / "room").mkdir()
    texts = {
        "low": "import math",
        "a": "from uqassay.room.low import x\n\ndef f():\n    from uqassay.room.b import y",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from uqassay.room import a",
        "top": "import uqassay.room.b",
    }
    for name, text in texts.items():
        (tmp_path / "room" / f"{name}.py").write_text(text)
    assert house.layers("room") == [[("low",)], [("a", "b")], [("top",)]]
