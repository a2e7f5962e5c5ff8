"""How often a probability changes rooms on its way from a file to the page.

    python benchmarks/room_changes.py

Counted are the calls from a file of one room into a function of another that hand over the prediction or an array of its
probabilities, while one file is loaded, judged and written as a page. Properties and the services that all rooms share
(arrays, files, errors, notes, wording) do not count.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import uqassay as uq

ROOT = Path(uq.__file__).parent
SHARED = {"_array", "_chunks", "_conversion", "_files", "_optional", "errors", "notes", "wording"}
N, MEMBERS, CLASSES = 23, 4, 7  # sizes by which the arrays are recognised


def room_of(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    return path.relative_to(ROOT).parts[0].removesuffix(".py") if path.is_relative_to(ROOT) else None


def is_statement(value: Any) -> bool:
    """A prediction, or an array of probabilities of its classes."""
    return isinstance(value, uq.Prediction) or (
        isinstance(value, np.ndarray) and value.ndim >= 2 and value.shape[-1] == CLASSES
    )


def walk(folder: Path) -> None:
    prediction = uq.load(folder / "probs.npz")
    assay = uq.assay({"model": prediction}, uq.load_labels(folder / "labels.npy"), n_draws=100)
    assay.to_html(folder / "report.html")


def main() -> None:
    changes: Counter[tuple[str, str, str]] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (room := room_of(frame)) is None or room in SHARED:
            return
        code, here = frame.f_code, frame.f_locals
        if code.co_name.startswith("__") or isinstance(getattr(type(here.get("self")), code.co_name, None), property):
            return
        caller = frame.f_back
        while caller is not None and room_of(caller) is None:
            caller = caller.f_back
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if caller is not None and room_of(caller) != room and any(is_statement(here.get(name)) for name in names):
            changes[room_of(caller) or "outside", room, code.co_name] += 1

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "probs.npz", probs=rng.dirichlet(np.ones(CLASSES), (N, MEMBERS)))
        np.save(folder / "labels.npy", rng.integers(0, CLASSES, N))
        walk(folder)  # imports are not part of the walk
        sys.setprofile(count)
        walk(folder)
        sys.setprofile(None)
    print(f"{sum(changes.values())} room changes")
    for (left, right, function), n in changes.most_common(15):
        print(f"{n:4d}  {left} → {right}.{function}")


if __name__ == "__main__":
    main()
