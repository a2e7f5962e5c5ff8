"""The house in numbers: what one question enters, and how large the rooms are.

python -m benchmarks.house entered   # files entered and functions called, for two ordinary questions
python -m benchmarks.house rooms     # lines and files of every room
python -m benchmarks.house layers    # files of the evidence, report and cli in layers: each imports from those above it
"""

import ast
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import uqassay as uq

SOURCE = Path(uq.__file__).resolve().parent
PAGE = Path(__file__).resolve().parents[1] / "docs" / "house.md"
ORDER = (
    *(
        "ground",
        "credal",
        "statistics",
        "predictions",
        "measures",
        "losses",
        "metrics",
        "calibration",
        "evidence",
        "report",
    ),
    *("cli", "lab", "lab/datasets", "lab/methods", "lab/bench", "lab/papers"),
)

LAYERED = ("evidence", "report", "report/figures", "cli")


def entered(question: Callable[[], object]) -> tuple[int, int]:
    """Files of the package that are entered while a question is answered, and their functions that are called."""
    seen: set[tuple[str, str, int]] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCE)) and code.co_name != "<module>":
            seen.add((code.co_filename, code.co_name, code.co_firstlineno))

    sys.setprofile(look)
    try:
        question()
    finally:
        sys.setprofile(None)
    return len({file for file, _, _ in seen}), len(seen)


def report_of_a_file(folder: Path) -> None:
    """One model on 300 instances, from a file to the page."""
    rng = np.random.default_rng(0)
    np.savez(folder / "model.npz", probs=rng.dirichlet(np.ones(3), 300))
    np.save(folder / "labels.npy", rng.integers(0, 3, 300))
    prediction, labels = uq.load(folder / "model.npz"), uq.load_labels(folder / "labels.npy")
    uq.assay({"model": prediction}, labels).to_html(folder / "report.html")


def score_of_lists() -> None:
    """UQ-AUC of lists with groups."""
    uq.metrics.uq_auc_score([0, 1, 0, 1, 0, 0], [0.1, 0.8, 0.3, 0.4, 0.5, 0.2], groups=[0, 0, 1, 1, 2, 2])


def rooms() -> dict[str, tuple[int, int]]:
    """Lines and files of every room."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        room = _room(path.relative_to(SOURCE))
        lines[room] += len(path.read_text(encoding="utf-8").splitlines())
        files[room] += 1
    return {room: (lines[room], files[room]) for room in sorted(lines)}


def house_map() -> str:
    """Every file with the sentence that says what it holds, by room, from the ground up."""
    sentences: dict[str, list[str]] = {room: [] for room in ORDER}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        sentence = " ".join(doc.partition("\n\n")[0].split())
        sentences[_room(place)].append(f"| `{place.as_posix()}` | {sentence.replace('|', chr(92) + '|')} |")
    parts = ["# The house", HOW_TO_READ]
    for room, rows in sentences.items():
        parts.append("\n".join([f"## {room}", "", "| File | What it holds |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def layers(room: str) -> list[list[tuple[str, ...]]]:
    """The files of a room in layers: each imports from layers above it; files that import one another stand together.

    Every import counts, also inside functions and for types alone. The door, `__init__.py`, is left out: it names them all.
    """
    above = imports_within(room)
    reached = {name: _reached(name, above) for name in above}
    knots = {tuple(sorted({name, *(n for n in reached[name] if name in reached[n])})) for name in above}
    found: list[list[tuple[str, ...]]] = []
    placed: set[str] = set()
    while knots:
        free = sorted(knot for knot in knots if all(above[name] <= placed | set(knot) for name in knot))
        found.append(free)
        placed.update(name for knot in free for name in knot)
        knots -= set(free)
    return found


def imports_within(room: str) -> dict[str, set[str]]:
    """The files of a room, each with those that it imports."""
    place, package = SOURCE / room, f"uqassay.{room.replace('/', '.')}"
    found: dict[str, set[str]] = {path.stem: set() for path in place.glob("*.py") if path.stem != "__init__"}
    for name, imported in found.items():
        for node in ast.walk(ast.parse((place / f"{name}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                modules = [f"{node.module}.{one.name}" for one in node.names]
            elif isinstance(node, ast.Import):
                modules = [one.name for one in node.names]
            else:
                continue
            inside = (m.removeprefix(f"{package}.").split(".")[0] for m in modules if m.startswith(f"{package}."))
            imported.update(m for m in inside if m in found and m != name)
    return found


def _reached(name: str, above: dict[str, set[str]]) -> set[str]:
    """All files that a file imports, and those that these import."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = above[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _room(place: Path) -> str:
    parts = place.parts
    if len(parts) == 1:
        return "ground"
    return "/".join(parts[:2]) if parts[0] == "lab" and len(parts) > 2 else parts[0]


HOW_TO_READ = """Where is what in `src/uqassay`. Data goes from top to bottom: a room imports only from rooms above it, and the
ground serves all. `lab` is the second wing: it makes predictions, and nothing in the first wing imports it.

    python -m benchmarks.house map"""


def main(words: list[str]) -> int:
    """What the first word asks for."""
    if words == ["entered"]:
        with tempfile.TemporaryDirectory() as folder:
            for name, question in (
                ("one model, 300 instances, file to page", lambda: report_of_a_file(Path(folder))),
                ("uq_auc_score of lists with groups", score_of_lists),
            ):
                question()  # what is imported and compiled once is not part of the question
                n_files, n_functions = entered(question)
                print(f"{name}: {n_files} files, {n_functions:,} functions")
        return 0
    if words == ["rooms"]:
        found = rooms()
        for room, (n_lines, n_files) in found.items():
            print(f"{room:14} {n_lines:7,} lines {n_files:4} files")
        print(f"{'all':14} {sum(n for n, _ in found.values()):7,} lines {sum(n for _, n in found.values()):4} files")
        return 0
    if words == ["layers"]:
        for room in LAYERED:
            for k, layer in enumerate(layers(room)):
                print(f"{room:15} {k:2}  {', '.join(' + '.join(knot) for knot in layer)}")
        return 0
    if words == ["map"]:
        PAGE.write_text(house_map(), encoding="utf-8")
        return 0
    print((__doc__ or "").strip())
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
