"""Time of `uq.assay`, of its calibration tests and of the page, beside a sort of the same run.

    python benchmarks/bench_report.py                                  the shapes of the table in docs/performance.md
    python benchmarks/bench_report.py "4 x 2000 x 10 x 10" --repeats 3
    python benchmarks/bench_report.py --processes 1 2                  one process and two, in turns
    python benchmarks/bench_report.py --source OTHER_CHECKOUT/src      before and after, in turns
    python benchmarks/bench_report.py --without-page --profile

A shape is models × instances × members × classes. Every measurement is a new process, because workers and imports count.
Printed are the least wall seconds of each part, and in parentheses their ratio to `np.sort` of a million doubles, measured
in the same process before and after; then the processor seconds of the first process and of its workers together, which a
busy machine changes less. The last line says whether `Assay.to_json` agrees to the last bit, apart from its provenance
(versions and seconds).
"""

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

SHAPES = (
    "4 x 2000 x 10 x 10",
    "10 x 10000 x 10 x 10",
    "4 x 50000 x 5 x 10",
    "4 x 10000 x 10 x 100",
    "100 x 10000 x 1 x 10",
)
PARTS = ("assay", "calibration", "page")
SORTED = 1_000_000


class Variant(NamedTuple):
    """What is measured: a tree (None: this one) with so many processes (None: one for each core)."""

    name: str
    source: Path | None
    processes: int | None


def models(n_models: int, n: int, members: int, classes: int) -> tuple[dict[str, Any], Any]:
    """Models on the same labels: right 70 to 85 % of the time, the odd ones too sure, their members around a centre."""
    import numpy as np

    import uqassay as uq

    generator = np.random.default_rng(0)
    logits = 1.2 * np.sqrt(2 * np.log(classes)) * generator.normal(size=(n, classes))
    truth = softmax(logits)
    y = (generator.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(max=classes - 1)
    found = {}
    for j in range(n_models):
        seen = logits + 0.1 * (j % 7) * generator.normal(size=logits.shape)
        seen *= 1.3 if j % 2 else 1.0
        if members == 1:
            found[f"model {j}"] = uq.Point(softmax(seen))
        else:
            apart = 0.4 * generator.normal(size=(n, members, classes))
            found[f"model {j}"] = uq.Members(softmax(seen[:, np.newaxis] + apart))
    return found, y


def softmax(z: Any) -> Any:
    import numpy as np

    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def sort_seconds() -> float:
    """Least wall time of three sorts of the same million doubles."""
    import numpy as np

    values = np.random.default_rng(1).random(SORTED)
    seconds = []
    for _ in range(3):
        copy, start = values.copy(), time.perf_counter()
        copy.sort()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure(shape: str, *, page: bool, profile: bool) -> dict[str, Any]:
    """One measurement in this process: wall seconds of the parts, of the sort, and a digest of the results."""
    import uqassay as uq

    predictions, y = models(*map(int, shape.split("x")))
    uq.assay({"warm": uq.Point([[0.5, 0.5]] * 4)}, [0, 1, 0, 1])  # imports are not counted
    sorts = [sort_seconds()]
    seconds: dict[str, float] = {}
    calls = cProfile.Profile()
    start = time.perf_counter()
    uq.assay(predictions, y, calibration=())
    seconds["assay"] = time.perf_counter() - start
    if profile:
        calls.enable()
    start, before = time.perf_counter(), os.times()
    found = uq.assay(predictions, y)
    after = os.times()
    processor = [after.user + after.system - before.user - before.system]
    processor.append(after.children_user + after.children_system - before.children_user - before.children_system)
    seconds["calibration"] = time.perf_counter() - start - seconds["assay"]
    with tempfile.TemporaryDirectory() as folder:
        if page:
            start = time.perf_counter()
            found.to_html(Path(folder) / "page.html")
            seconds["page"] = time.perf_counter() - start
            size = os.path.getsize(Path(folder) / "page.html")
    calls.disable()
    if profile:
        pstats.Stats(calls, stream=sys.stderr).sort_stats("tottime").print_stats(45)
    sorts.append(sort_seconds())
    answer = found.to_json()
    answer["provenance"] = {}
    digest = sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()
    size = size if page else 0
    return {"seconds": seconds, "processor": processor, "sort": min(sorts), "digest": digest, "page_bytes": size}


def in_new_process(shape: str, variant: Variant, options: list[str]) -> dict[str, Any]:
    """`measure` in a new interpreter."""
    environment = dict(os.environ)
    if variant.source is not None:
        environment["PYTHONPATH"] = str(variant.source)
    if variant.processes is not None:
        environment["UQASSAY_PROCESSES"] = str(variant.processes)
    command = [sys.executable, __file__, shape, "--here", *options]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def report(shape: str, variants: list[Variant], repeats: int, options: list[str]) -> None:
    """Measure the variants in turns, and print one line for each."""
    found: dict[Variant, list[dict[str, Any]]] = {variant: [] for variant in variants}
    for _ in range(repeats):
        for variant in variants:
            found[variant].append(in_new_process(shape, variant, options))
    digests = {one["digest"] for several in found.values() for one in several}
    for variant, several in found.items():
        sort = min(one["sort"] for one in several)
        least = {part: min(one["seconds"].get(part, 0.0) for one in several) for part in PARTS}
        least["all"] = min(sum(one["seconds"].values()) for one in several)
        shown = ", ".join(
            f"{part} {seconds:.2f} s ({seconds / sort:.0f})" for part, seconds in least.items() if seconds
        )
        own, workers = min((one["processor"] for one in several), key=sum)
        processor = f"; processor {own:.2f} + {workers:.2f} s with tests, without the page"
        size = several[0]["page_bytes"]
        page = f"; page {size / 1e6:.2f} MB" if size else ""
        print(f"{shape}, {variant.name}: {shown}{processor}{page}; sort {1e3 * sort:.0f} ms")
    if sum(map(len, found.values())) > 1:
        print(f"{shape}: results {'the same' if len(digests) == 1 else 'DIFFER'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=SHAPES, help="models x instances x members x classes")
    parser.add_argument("--source", type=Path, help="folder src of another checkout, measured as “before”")
    parser.add_argument("--processes", type=int, nargs="+", help="numbers of processes to compare")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--without-page", action="store_true")
    parser.add_argument("--profile", action="store_true", help="calls of the process itself, on standard error")
    parser.add_argument("--here", action="store_true", help="one measurement in this process, as JSON")
    given = parser.parse_args()
    if given.here:
        for shape in given.shapes:
            print(json.dumps(measure(shape, page=not given.without_page, profile=given.profile)))
        return
    options = [option for option in ("--without-page", "--profile") if option in sys.argv]
    here = Path(__file__).parents[1] / "src"
    trees = {"now": here} if given.source is None else {"before": given.source, "after": here}
    variants = [
        Variant(name if count is None else f"{name}, {count} processes", source, count)
        for count in given.processes or [None]
        for name, source in trees.items()
    ]
    for shape in given.shapes:
        report(shape, variants, given.repeats, options)


if __name__ == "__main__":
    main()
