"""Tampered folders of our own: saved assays and studies, benchmarks, experiments to resume, fitted maps, configurations."""

import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import uqassay as uq
from tests.malformed_arrays import Case, pick
from uqassay.calibration.epistemic_map import EpistemicMap
from uqassay.cli import main
from uqassay.errors import UqassayError
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.config import BenchConfig, read_config, to_toml
from uqassay.lab.bench.store import Store, holds_benchmark
from uqassay.lab.papers.credal_calibration.error_rates import Plan, error_rates
from uqassay.lab.papers.credal_calibration.scenarios import CredalSetting

VALUES = (None, True, -1, 0, 3, 10**12, 10**30, 1.5, float("nan"), "x", "", [], {}, [[]], [None], "Infinity", 1e308)
BROKEN = ("pipe", "zero", "loop", "folder", "gone", "empty", "cut", "bytes", "deep", "long", "bomb", "claims", "other")
ARRAY_CHANGES = ("gone", "short", "dtype", "nan", "negative", "huge", "axis", "empty", "swap", "objects", "text")


# -- folders as they are written ---------------------------------------------------------------------------------------


@cache
def place() -> Path:
    """A folder for everything that is written once."""
    return Path(tempfile.mkdtemp())


@cache
def saved_assay(votes: bool) -> Path:
    """An assay of a set, a point and class sets, with everything that an assay may hold."""
    rng = np.random.default_rng(7)
    p, y = rng.dirichlet(np.ones(3), (24, 3)), rng.integers(1, 9, (24, 3)) if votes else rng.integers(0, 3, 24)
    given: dict[str, Any] = {"groups": np.arange(24) // 2} if votes else {}
    found = uq.assay(
        {"set": [uq.Members(p), uq.Members(p[::-1])], "point": p[:, 0], "classes": uq.ClassSets(p[:, 0] > 0.2)},
        y,
        subgroups={"site": np.arange(24) % 2},
        uncertainties={"point": {"density": rng.random(24)}},
        measures=("total-entropy",),
        n_draws=10,
        tradeoffs=(0.5,),
        scales=(2.0,),
        **given,
    )
    return found.save(place() / f"assay-{votes}")


@cache
def benchmark() -> Path:
    """A benchmark with one result, one failure and one cell that waits."""
    store = Store(place() / "bench")
    cells = [Cell("json:dumps", dataset="toy", method="constant", seed=seed) for seed in range(3)]
    store.add(cells)
    for cell in cells[:2]:
        store.claim(cell.key)
    result = CellResult(uq.Point([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), scores={"density": np.array([0.5, 0.7])})
    store.finish(cells[0], result, seconds=0.5)
    store.fail(cells[1].key, "ValueError: no")
    return store.folder


PLAN = Plan(CredalSetting(n_instances=10, n_members=2, n_classes=3), n_draws=9)


@cache
def to_resume() -> Path:
    """An experiment with two finished data sets."""
    error_rates(PLAN, 2, resume=place() / "resume")
    return place() / "resume"


@cache
def fitted_map() -> Path:
    """The file of a map, in a folder."""
    (place() / "map").mkdir()
    rng = np.random.default_rng(2)
    EpistemicMap(bins="own", n_bins=4).fit(rng.random(20), rng.random(20)).save(place() / "map" / "map.json")
    return place() / "map"


@cache
def configuration() -> Path:
    """The configuration of a benchmark, in a folder."""
    (place() / "config").mkdir()
    text = to_toml(BenchConfig(dataset=["digits"], method=["snn"], params={"snn": {"epochs": 5}}))
    (place() / "config" / "run.toml").write_text(text)
    return place() / "config"


# -- changes -----------------------------------------------------------------------------------------------------------


def tampered(rng: np.random.Generator, source: Path, folder: Path) -> tuple[str, Path]:
    """A copy of a folder with one file changed."""
    path = folder / "kept"
    shutil.copytree(source, path)
    part = pick(rng, sorted(one for one in path.rglob("*") if one.is_file()))
    if rng.random() < 0.35:
        words = broken(rng, part)
    elif part.suffix == ".json":
        words = changed_json(rng, part)
    elif part.suffix == ".npz":
        words = changed_arrays(rng, part)
    else:
        words = broken(rng, part)
    return f"{part.relative_to(path)}: {words}", path


def broken(rng: np.random.Generator, part: Path) -> str:
    """A file exchanged for something else, or with other bytes."""
    what, data = str(pick(rng, BROKEN)), bytearray(part.read_bytes())
    part.unlink()
    if what == "pipe":
        os.mkfifo(part)
    elif what in ("zero", "loop"):
        part.symlink_to("/dev/zero" if what == "zero" else part)
    elif what == "folder":
        part.mkdir()
    elif what == "cut":
        part.write_bytes(data[: int(rng.integers(len(data) + 1))])
    elif what == "bytes":
        for at in rng.integers(len(data), size=3) if data else ():
            data[at] = int(rng.integers(256))
        part.write_bytes(data)
    elif what == "deep":
        part.write_bytes(b'{"a":' * 100_000)
    elif what == "long":  # sparse, so that it takes no room
        with part.open("wb") as stream:
            stream.truncate(2**40)
    elif what == "bomb":
        part.write_bytes(bomb())
    elif what == "claims":
        with zipfile.ZipFile(part, "w") as archive:
            archive.writestr("labels.npy", npy_of(np.zeros(3)).replace(b"(3,)", b"(9" + b"9" * 9 + b",)")[:200])
    elif what != "gone":
        part.write_bytes(b"" if what == "empty" else npy_of(np.ones(3)))
    return what


@cache
def bomb() -> bytes:
    """An archive of 2 MB that expands to half a gigabyte."""
    stream = io.BytesIO()
    header = npy_of(np.zeros(2**19))[:128].replace(b"(524288,)", b"(67108864,)")
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("labels.npy", "w") as part,
    ):
        part.write(header.replace(b"  \n", b"\n"))
        for _ in range(128):
            part.write(bytes(2**22))
    return stream.getvalue()


def npy_of(array: np.ndarray) -> bytes:
    """An array in NumPy's format."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value of JSON."""
    yield at
    entries = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for name, one in entries:
        yield from places(one, (*at, name))


def changed_json(rng: np.random.Generator, part: Path) -> str:
    """One value exchanged or left out."""
    value = json.loads(part.read_text())
    found = list(places(value))[1:]
    if not found:
        return broken(rng, part)
    *way, last = pick(rng, found)
    owner = value
    for name in way:
        owner = owner[name]
    new = pick(rng, (*VALUES, "gone", "gone"))
    if new == "gone":
        del owner[last]
    else:
        owner[last] = new
    part.write_text(json.dumps(value))
    return f"{[*way, last]} = {new!r}"


def changed_arrays(rng: np.random.Generator, part: Path) -> str:
    """One array exchanged or left out."""
    with np.load(part) as archive:
        arrays = dict(archive)
    name, what = pick(rng, list(arrays)), pick(rng, ARRAY_CHANGES)
    array = arrays[name]
    text = array.dtype.kind == "U"
    if what == "gone":
        del arrays[name]
    elif what == "dtype":
        arrays[name] = np.zeros(array.shape, pick(rng, (np.int8, np.float16, bool, complex, "U3", "M8[D]")))
    elif what == "swap":
        other = pick(rng, list(arrays))
        arrays[name], arrays[other] = arrays[other], array
    else:
        arrays[name] = {
            "short": lambda: array[:-1] if array.ndim else array[None],
            "nan": lambda: np.full(array.shape, np.nan),
            "negative": lambda: array[::-1] if text else np.full(array.shape, -5).astype(array.dtype),
            "huge": lambda: array[:0] if text else np.full(array.shape, 99).astype(array.dtype),
            "axis": lambda: array[None],
            "empty": lambda: array.reshape(-1)[:0],
            "objects": lambda: np.array([{}], dtype=object),
            "text": lambda: np.full(array.shape, "a"),
        }[what]()
    np.savez(part, **arrays)
    return f"{name} {what}"


# -- families ----------------------------------------------------------------------------------------------------------


def kept_assay(rng: np.random.Generator, folder: Path) -> Case:
    """A tampered assay: loaded and asked, or given to the command line."""
    words, path = tampered(rng, saved_assay(bool(rng.integers(2))), folder)
    by_command = rng.random() < 0.1

    def run() -> None:
        if not by_command:
            uq.Assay.load(path).to_json()
            return
        assert main(["report", str(path), "-o", str(folder / "page.html")]) in (0, 2)

    return Case(f"{'report' if by_command else 'Assay.load'} {words}", run)


def our_folder(rng: np.random.Generator, folder: Path) -> Case:
    """A tampered benchmark, experiment to resume, map or configuration."""
    kind = pick(rng, (benchmark, to_resume, fitted_map, configuration))
    words, path = tampered(rng, kind(), folder)

    def run() -> None:
        if kind is benchmark:
            look_at_benchmark(path)
        elif kind is to_resume:
            assert error_rates(PLAN, 2, resume=path).n_runs == 2
        elif kind is fitted_map:
            assert np.isfinite(EpistemicMap.load(path / "map.json").transform([0.0, 0.5])).all()
        else:
            read_config(path / "run.toml")

    return Case(f"{kind.__name__} {words}", run)


def look_at_benchmark(path: Path) -> None:
    """Read everything that a benchmark holds."""
    holds_benchmark(path)
    store = Store(path, create=False, required=False)
    for verify in (False, True):
        for found in store.states(verify=verify):
            if found.state == "done" and verify:
                store.result(found.key)
    try:
        code = main(["bench", "status", str(path)])
    except UqassayError as problem:
        raise AssertionError(problem) from problem
    assert code in (0, 2), code
