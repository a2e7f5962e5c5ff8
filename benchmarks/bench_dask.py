"""Parallel efficiency of the per-instance scores on one and on two Dask workers, with identical results.

    python benchmarks/bench_dask.py            800,000 instances, 10 members, 10 classes, 40 chunks, four rounds

Chunks lie in the memory of the workers before the clock starts. The map begins with the look at the first chunk and ends when
the scores of the last one are here. Efficiency by elapsed time is T1 / (2 T2). Where other programs use the cores, that figure
is chance, so the efficiency by processor time is given too: C1 / (2 C2), with the time C2 of the busier of two workers. Both
are minima over the rounds.
"""

import argparse
import logging
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

import uqassay as uq

MEMBERS, CLASSES = 10, 10
OPTIONS: dict[str, Any] = {"calibration": (), "scales": (), "n_draws": 50, "tradeoffs": (0.5,)}


def chunk_of(numbers: np.ndarray) -> np.ndarray:
    """Members (n, M, K) in float32 of the instances of these numbers; the first number is the seed."""
    draws = np.random.default_rng(int(numbers[0])).standard_gamma(0.5, (len(numbers), MEMBERS, CLASSES)) + 1e-6
    return (draws / draws.sum(axis=2, keepdims=True)).astype(np.float32)


def processor_seconds() -> float:
    """Processor time of this worker so far."""
    return time.process_time()


class MapDone(Exception):
    """All chunks are scored, and the rest of the assay is not wanted."""


class Clock:
    """Elapsed and processor time of the map, by the calls of the progress: at its start, and for each chunk."""

    def __init__(self, n_chunks: int, look: Callable[[], dict[str, float]], *, go_on: bool) -> None:
        self._calls, self._n, self._look, self._go_on = 0, n_chunks, look, go_on

    def __call__(self, text: str) -> None:
        if self._calls == 0:
            self._before, self._began = self._look(), time.perf_counter()
        if self._calls == self._n:
            self.elapsed = time.perf_counter() - self._began
            self.shares = [seconds - self._before[worker] for worker, seconds in self._look().items()]
            if not self._go_on:
                raise MapDone
        self._calls += 1


def measure(workers: int, n: int, n_chunks: int, rounds: int) -> tuple[float, float, uq.Assay]:
    """Least elapsed time of the map over the rounds, least processor time of the busiest worker, and the assay."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    best, busiest, result = np.inf, np.inf, None
    y = np.random.default_rng(1).integers(0, CLASSES, n)
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),  # it looks at each task 100 times a second
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=":0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        numbers = da.arange(n, chunks=n // n_chunks)
        p = numbers.map_blocks(
            chunk_of, dtype=np.float32, new_axis=(1, 2), chunks=(numbers.chunks[0], (MEMBERS,), (CLASSES,))
        ).persist()
        wait(p)
        look = lambda: client.run(processor_seconds)  # noqa: E731
        for left in range(rounds)[::-1]:
            clock = Clock(n_chunks, look, go_on=left == 0)
            with suppress(MapDone):
                result = uq.assay({"ensemble": p}, y, progress=clock, client=client, **OPTIONS)
            best, busiest = min(best, clock.elapsed), min(busiest, max(clock.shares))
    assert result is not None
    return best, busiest, result


def same(a: uq.Assay, b: uq.Assay) -> bool:
    """Whether all scores and findings are equal, bit for bit."""
    columns = zip(a.models, b.models, strict=True)
    equal = all(np.array_equal(m.columns[c], k.columns[c], equal_nan=True) for m, k in columns for c in m.columns)
    return equal and a.findings().equals(b.findings()) and a.models[0].fingerprint == b.models[0].fingerprint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=800_000)
    parser.add_argument("--chunks", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=4)
    given = parser.parse_args()
    one, two = (measure(workers, given.n, given.chunks, given.rounds) for workers in (1, 2))
    rows = np.arange(given.n).reshape(given.chunks, -1)
    y = np.random.default_rng(1).integers(0, CLASSES, given.n)
    here = uq.assay({"ensemble": np.concatenate([chunk_of(each) for each in rows])}, y, **OPTIONS)
    stream = uq.AssayStream(**OPTIONS).update({"ensemble": chunk_of(rows[0])}, y[rows[0]])
    parts = pickle.dumps(stream._state.scored), pickle.dumps(stream._state.pictures)
    for name, (elapsed, busiest, _) in (("one worker", one), ("two workers", two)):
        print(f"{name}: {elapsed:.2f} s, processor time of the busier {busiest:.2f} s")
    print(f"efficiency by elapsed time: {one[0] / (2 * two[0]):.2f}")
    print(f"efficiency by processor time: {one[1] / (2 * two[1]):.2f}")
    print(f"identical: one and two workers {same(one[2], two[2])}, two workers and this process {same(two[2], here)}")
    print(
        f"bytes of the scores: {len(parts[0]) / len(rows[0]):.0f} for each instance; predictions {4 * MEMBERS * CLASSES}"
    )
    if not (same(one[2], two[2]) and same(two[2], here)):
        sys.exit(1)


if __name__ == "__main__":
    main()
