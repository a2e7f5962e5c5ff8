"""Results as lines of JSON, each with the digest of the code that made it: lines of other code are told apart and not used.

The digest is `benchmarks.source_digests.code_version`.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["append", "read_lines"]

CODE = "code"


def append(path: Path, row: dict[str, Any], code: str) -> None:
    """Add a line in one write; a line that was torn before is ended first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.lseek(file, 0, os.SEEK_END)
        torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        os.write(file, ("\n" * torn + json.dumps({CODE: code, **row}, ensure_ascii=False) + "\n").encode())
    finally:
        os.close(file)


def read_lines(path: Path, code: str) -> tuple[list[dict[str, Any]], int]:
    """The lines that this code made, and how many other code made; torn lines are left out, a missing file is empty."""
    rows, others = [], 0
    for row in _objects(path) if path.exists() else ():
        if row.pop(CODE, "") == code:
            rows.append(row)
        else:
            others += 1
    return rows, others


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(row, dict):
            yield row
