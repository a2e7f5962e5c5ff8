"""Malformed zarr stores: files of a valid store changed, exchanged or gone."""

import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import uqassay as uq
from tests.malformed_arrays import Case, pick
from tests.malformed_files import samples, use


@cache
def store() -> Path:
    """A valid zarr store, copied for every case."""
    folder = Path(tempfile.mkdtemp())
    rng = np.random.default_rng(5)
    uq.save(uq.Members(rng.dirichlet(np.ones(3), (4, 2)), ids=list("wxyz")), folder / "p.zarr", labels=[0, 1, 2, 0])
    return folder / "p.zarr"


def broken_store(rng: np.random.Generator, folder: Path) -> tuple[str, Path]:
    """A zarr store with one of its files changed, exchanged or gone."""
    path = folder / "p.zarr"
    shutil.copytree(store(), path)
    parts = sorted(part for part in path.rglob("*") if part.is_file())
    part = pick(rng, parts)
    what = pick(rng, ("bytes", "json", "json", "json", "gone", "pipe", "folder", "loop", "other", "empty"))
    if what == "json":
        part = pick(rng, [part for part in parts if part.name == "zarr.json"])
        text = json.loads(part.read_text())
        key = pick(rng, list(text))
        text[key] = pick(
            rng, (None, -1, 10**12, [10**9, 2], "x", [], {}, [2**63], "object", {"name": "regular"}, [4, 3], 2)
        )
        part.write_text(json.dumps(text))
        what = f"{key}={text[key]!r}"
    elif what == "bytes":
        data = bytearray(part.read_bytes())
        data[int(rng.integers(len(data)))] = int(rng.integers(256))
        part.write_bytes(data[: int(rng.integers(len(data))) if rng.random() < 0.3 else None])
    else:
        part.unlink()
        if what == "pipe":
            os.mkfifo(part)
        elif what == "folder":
            part.mkdir()
        elif what == "loop":
            part.symlink_to(part)
        elif what == "other":
            part.write_bytes(pick(rng, samples(".npy")))
        elif what == "empty":
            part.write_bytes(b"")
    return f"{part.relative_to(path)}: {what}", path


def zarr_store(rng: np.random.Generator, folder: Path) -> Case:
    """A malformed store."""
    words, path = broken_store(rng, folder)
    return use(rng, path, f"p.zarr: {words}")
