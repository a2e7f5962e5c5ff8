"""Peak memory of an assay of an ensemble that lies on disk and exceeds what is held in memory.

Run: python docs/measure_memory.py   (two minutes, 2 GB of disk; --instances, --members, --classes for another size)

The tests of calibration are left out; --calibration makes them. --stream ROWS updates an `AssayStream` by so many rows at a
time.

The predictions are random float32 distributions in a .npy file, written in parts. A process of its own reads them as a
memory map, makes the assay and reports the most memory that it held, the imports included.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import uqassay as uq

ROWS_AT_ONCE = 1_000


def write(path: Path, shape: tuple[int, int, int]) -> None:
    """Distributions uniform on the simplex, float32, ``(n, M, K)``.

    Plain writes rather than a memory map: the pages of a map would count as this process's memory, and the peak that a
    child reports is no less than that of its parent.
    """
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        for start in range(0, shape[0], ROWS_AT_ONCE):
            part = rng.standard_exponential((min(ROWS_AT_ONCE, shape[0] - start), *shape[1:]), dtype=np.float32)
            part /= part.sum(axis=2, keepdims=True)
            part.tofile(file)


def judge(path: Path, *, calibration: bool, rows_at_once: int | None) -> None:
    """Make the assay and print what it took."""
    ensemble = uq.load(path)
    labels = np.random.default_rng(1).integers(0, ensemble.n_classes, ensemble.n_instances)
    options = {} if calibration else {"calibration": ()}
    started, used = time.perf_counter(), time.process_time()
    if rows_at_once is None:
        found = uq.assay({"ensemble": ensemble}, labels, **options)
    else:
        stream = uq.AssayStream(**options)
        for start in range(0, ensemble.n_instances, rows_at_once):
            rows = slice(start, start + rows_at_once)
            stream.update({"ensemble": ensemble[rows]}, labels[rows])
        found = stream.compute()
    seconds, used = time.perf_counter() - started, time.process_time() - used
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(
        f"{ensemble!r}, {path.stat().st_size / 1e9:.2f} GB on disk: {seconds:.1f} s ({used:.1f} CPU seconds), ",
        f"peak memory {peak / 1e9:.2f} GB",
        sep="",
    )
    print(f"standard error of the mean non-specificity: {found['ensemble'].nonspecificity_error:.1g} nats")


def main() -> None:
    """Write the file, and judge it in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", type=int, default=50_000)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--classes", type=int, default=1_000)
    parser.add_argument("--calibration", action="store_true")
    parser.add_argument("--stream", type=int, metavar="ROWS")
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge is not None:
        judge(options.judge, calibration=options.calibration, rows_at_once=options.stream)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ensemble.npy")
        write(path, (options.instances, options.members, options.classes))
        tests = ["--calibration"] if options.calibration else []
        tests += [] if options.stream is None else ["--stream", str(options.stream)]
        subprocess.run([sys.executable, __file__, "--judge", str(path), *tests], check=True)


if __name__ == "__main__":
    main()
