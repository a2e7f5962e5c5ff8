"""The house in numbers: what one question enters, and how large the rooms are.

python -m benchmarks.house entered   # files entered and functions called, for two ordinary questions
python -m benchmarks.house rooms     # lines and files of every room
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
    if words == ["map"]:
        PAGE.write_text(house_map(), encoding="utf-8")
        return 0
    print((__doc__ or "").strip())
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
