"""Faults sown at random, and whether tests notice them: ``python -m benchmarks.mutants credal statistics --each 20``.

Each fault is one change of one expression (a comparison, a sign, a factor, a constant, an axis, a condition) inside a function
of a room. The room's tests run on a copy of the source with that fault alone. What survives is printed: read it, and either
write the test that was missing or see that the fault changes nothing that a user could notice.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = Path("src") / "uqassay"
SECONDS = 900  # of the tests with one fault; what takes longer hangs, and is noticed
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min", "floor": "ceil", "ceil": "floor"}
UNSEEN = (ast.Raise, ast.JoinedStr, ast.Assert)  # words, and what holds anyway
WORDS = ("fail", "InputError", "Note", "warn")  # calls that only word a refusal or a remark


class Fault(NamedTuple):
    """One change: the place of a node among the nodes of its file, in the order of `ast.walk`."""

    file: str
    place: int
    line: int
    before: str
    after: str


def changed(node: ast.AST) -> ast.AST | None:
    """A copy of the node with a fault; None where none is known."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            new.ops = [SWAPPED[type(op)]()]  # type: ignore[list-item]
        case ast.BinOp(op=op) if type(op) in SWAPPED and not isinstance(new.left, ast.Constant | ast.JoinedStr):
            new.op = SWAPPED[type(op)]()  # type: ignore[assignment]
        case ast.BoolOp(op=op):
            new.op = SWAPPED[type(op)]()  # type: ignore[assignment]
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return operand
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            new.value = value + 1 if isinstance(value, int) else 2.0 * value + (value == 0)
        case ast.Attribute(attr=name) if name in NAMES:
            new.attr = NAMES[name]
        case ast.Name(id=name) if name in NAMES:
            new.id = NAMES[name]
        case ast.IfExp():
            new.body, new.orelse = new.orelse, new.body
        case _:
            return None
    return new


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes below, without words and types."""
    for child in ast.iter_child_nodes(node):
        called = child.func if isinstance(child, ast.Call) else None
        if isinstance(child, UNSEEN) or getattr(called, "id", getattr(called, "attr", "")) in WORDS:
            continue
        if isinstance(child, ast.arguments | ast.AnnAssign | ast.FunctionDef | ast.ClassDef):
            continue
        yield child
        yield from _inside(child)


def faults_of(path: Path) -> list[Fault]:
    """All faults that can be sown into a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places = {id(node): i for i, node in enumerate(ast.walk(tree))}
    found = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in _inside(function):
                if (new := changed(node)) is not None:
                    i = places[id(node)]
                    before, after = ast.unparse(node), ast.unparse(new)
                    found[i] = Fault(str(path.relative_to(SOURCE)), i, getattr(node, "lineno", 0), before, after)
    return list(found.values())


def sow(fault: Fault, source: Path) -> None:
    """Write the file with its fault into a copy of the source."""
    path = source / fault.file
    tree = ast.parse((SOURCE / fault.file).read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[fault.place]
    new = changed(node) or node

    class Replaced(ast.NodeTransformer):
        def visit(self, one: ast.AST) -> ast.AST:
            return new if one is node else self.generic_visit(one)

    path.write_text(ast.unparse(ast.fix_missing_locations(Replaced().visit(tree))), encoding="utf-8")


def is_noticed(folder: Path, tests: Sequence[str], repository: Path) -> bool:
    """Whether the tests fail on the source in a folder."""
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{repository}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    try:
        run = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    if run.returncode > 2:  # pytest: 1 for failures, 2 for a fault at import, 4 and 5 for nothing to run
        raise SystemExit(run.stdout.decode()[-2000:])
    return run.returncode != 0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rooms", nargs="+", help="folders of src/uqassay and of tests")
    parser.add_argument("--each", type=int, default=20, help="faults for each room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", type=Path, default=Path(), help="repository whose tests run; by default this one")
    asked = parser.parse_args(arguments)
    noticed = sown = 0
    for room in asked.rooms:
        faults = [fault for path in sorted((SOURCE / room).rglob("*.py")) for fault in faults_of(path)]
        for fault in random.Random(asked.seed).sample(faults, min(asked.each, len(faults))):
            with tempfile.TemporaryDirectory() as folder:
                copied = Path(folder) / "uqassay"
                shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
                sow(fault, copied)
                found = is_noticed(Path(folder), [f"tests/{room}"], asked.tests.resolve())
            sown, noticed = sown + 1, noticed + found
            mark = "noticed " if found else "SURVIVED"
            print(f"{mark} {fault.file}:{fault.line}  {fault.before}  →  {fault.after}", flush=True)
    print(f"{noticed} of {sown} noticed")


if __name__ == "__main__":
    main()
