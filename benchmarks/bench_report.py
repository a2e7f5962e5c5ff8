"""Time of `uq.assay`, of its calibration tests and of the page, beside a sort of the same run.

    python benchmarks/bench_report.py                                  the shapes of the table in docs/performance.md
    python benchmarks/bench_report.py "4 x 2000 x 10 x 10" --repeats 3
    python benchmarks/bench_report.py --source OTHER_CHECKOUT/src      before and after, in turns
    python benchmarks/bench_report.py --without-page --profile

A shape is models × instances × members × classes. Every measurement is a new process, because workers and imports count.
Printed are the least wall seconds of each part, and in parentheses their ratio to `np.sort` of a million doubles, measured in
the same process before and after. With --source the two trees are measured in turns. The last line says whether `Assay.to_json`
agrees to the last bit, apart from its provenance (versions and seconds).
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
from typing import Any

SHAPES = (
    "4 x 2000 x 10 x 10",
    "10 x 10000 x 10 x 10",
    "4 x 50000 x 5 x 10",
    "4 x 10000 x 10 x 100",
    "100 x 10000 x 1 x 10",
)
PARTS = ("assay", "calibration", "page")
SORTED = 1_000_000


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
    sorts = [sort_seconds()]
    seconds: dict[str, float] = {}
    calls = cProfile.Profile()
    start = time.perf_counter()
    uq.assay(predictions, y, calibration=())
    seconds["assay"] = time.perf_counter() - start
    if profile:
        calls.enable()
    start = time.perf_counter()
    found = uq.assay(predictions, y)
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
    return {"seconds": seconds, "sort": min(sorts), "digest": digest, "page_bytes": size if page else 0}


def in_new_process(shape: str, source: Path | None, options: list[str]) -> dict[str, Any]:
    """`measure` in a new interpreter, with the package of another tree if one is given."""
    environment = dict(os.environ)
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, __file__, shape, "--here", *options]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def report(shape: str, trees: dict[str, Path | None], repeats: int, options: list[str]) -> None:
    """Measure the trees in turns, and print one line for each."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in trees}
    for _ in range(repeats):
        for name, source in trees.items():
            found[name].append(in_new_process(shape, source, options))
    digests = {one["digest"] for several in found.values() for one in several}
    for name, several in found.items():
        sort = min(one["sort"] for one in several)
        least = {part: min(one["seconds"].get(part, 0.0) for one in several) for part in PARTS}
        least["all"] = min(sum(one["seconds"].values()) for one in several)
        shown = ", ".join(
            f"{part} {seconds:.2f} s ({seconds / sort:.0f})" for part, seconds in least.items() if seconds
        )
        size = several[0]["page_bytes"]
        print(
            f"{shape}, {name}: {shown}"
            + (f"; page {size / 1e6:.2f} MB" if size else "")
            + f"; sort {1e3 * sort:.0f} ms"
        )
    if len(trees) > 1 or repeats > 1:
        print(f"{shape}: results {'the same' if len(digests) == 1 else 'DIFFER'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=SHAPES, help="models x instances x members x classes")
    parser.add_argument("--source", type=Path, help="folder src of another checkout, measured as “before”")
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
    trees: dict[str, Path | None] = {} if given.source is None else {"before": given.source}
    trees["after" if trees else "now"] = Path(__file__).parents[1] / "src"
    for shape in given.shapes:
        report(shape, trees, given.repeats, options)


if __name__ == "__main__":
    main()
