"""Time the disentanglement benchmark on Wine with all networks side by side against one network at a time.

Run: python benchmarks/bench_disentanglement.py [METHOD …]   (mc-dropout and deep-ensemble unless given; some minutes)
     python benchmarks/bench_disentanglement.py --whole      (all eight combinations, five runs, on two processes)

The networks are the paper's, 13-32-32-16-3, the conditions its 7 + 11 + 3, with 10,000 epochs at 1 % of the instances. Side by
side is `measure_runs` for five runs. One at a time is `fit` of one network after another, for one member and the first run: all
runs and members take equally long, so this time counts R × members times. Both predict the test instances once for each
condition. On one thread, in CPU seconds, and alternately, so that both meet the same load.
"""

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import torch

from uqassay.lab.datasets import load_dataset
from uqassay.lab.methods import DeepEnsemble, Flipout, MCDropConnect, MCDropout
from uqassay.lab.papers.disentangling.trainings import Conditions, measure_runs

torch.set_num_threads(1)
RUNS = 5
NETWORK = {"backbone": (32, 32, 16), "progress": False}
METHODS = {
    "mc-dropout": MCDropout(where="last", **NETWORK),
    "mc-dropconnect": MCDropConnect(**NETWORK),
    "flipout": Flipout(**NETWORK),
    "deep-ensemble": DeepEnsemble(**NETWORK),
}
HEADS = ("softmax", "gaussian-logits")
QUICK = ("mc-dropout", "deep-ensemble")  # without names


def seconds(work: Callable[[], object]) -> float:
    """CPU time, which is the wall time of one thread on an idle machine."""
    start = time.process_time()
    work()
    return time.process_time() - start


def one_at_a_time(name: str, head: str) -> float:
    """Seconds for the first run, with one member, each network trained alone."""
    method = METHODS[name]
    members = {"n_members": 1} if name == "deep-ensemble" else {}
    alone = type(method)(**method.get_params() | members | {"head": head, "parallel": "sequential"})
    return seconds(lambda: measure_runs(alone, load_dataset("wine"), Conditions(), [0]))


def side_by_side(name: str, head: str) -> float:
    method = type(METHODS[name])(**METHODS[name].get_params() | {"head": head})
    return seconds(lambda: measure_runs(method, load_dataset("wine"), Conditions(), range(RUNS)))


def compare(name: str, head: str) -> None:
    times = RUNS * getattr(METHODS[name], "n_members", 1)
    first = one_at_a_time(name, head)
    stack = side_by_side(name, head)
    loop = times * (first + one_at_a_time(name, head)) / 2
    print(f"{name:15s} {head:15s} {21 * times:5d} networks   one at a time {loop:7.1f} s   "
          f"side by side {stack:6.1f} s   ratio {loop / stack:5.1f}", flush=True)  # fmt: skip


def whole() -> None:
    pairs = [
        (name, head) for name in ("flipout", "deep-ensemble", *QUICK[:1], "mc-dropconnect") for head in reversed(HEADS)
    ]
    start = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        for (name, head), each in zip(pairs, pool.map(side_by_side, *zip(*pairs, strict=True)), strict=True):
            print(f"{name:15s} {head:15s} {each:7.1f} s of CPU time", flush=True)
    print(f"the whole benchmark: {(time.perf_counter() - start) / 60:.1f} minutes on two processes")


if __name__ == "__main__":
    if "--whole" in sys.argv:
        whole()
    else:
        side_by_side("mc-dropout", "softmax")  # the first call of a library is slower
        for wanted in sys.argv[1:] or QUICK:
            for one in HEADS:
                compare(wanted, one)
