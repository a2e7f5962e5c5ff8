"""What a workload is, and how one is measured in this process."""

import gc
import os
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "FORMULAS",
    "LOOPS",
    "REAL",
    "Case",
    "Clock",
    "Peer",
    "Repeats",
    "Workload",
    "by_formulas",
    "measure",
    "processor_seconds",
    "timed",
]

LOOPS = ("plain C loop", "plain radix sort")  # names of loops in C and C++
FORMULAS = "formulas alone"  # name of our own call without compiled kernels
LONG = 0.4  # seconds of a peer's call that is not repeated
SMALLEST = 1e-9  # seconds; a clock may not see a shorter call


class Clock(NamedTuple):
    """Two functions that return seconds: of the processor, in all processes, and of the wall."""

    processor: Callable[[], float]
    wall: Callable[[], float]


class Repeats(NamedTuple):
    """A call is repeated until it took so many seconds, so many times at least and at most."""

    seconds: float = 0.4
    fewest: int = 3
    most: int = 30


@dataclass(frozen=True)
class Peer:
    """Another way to the same answer.

    Attributes
    ----------
    name : str
    call : callable
        Returns the answer as an array, or as something that NumPy takes for one; None where only the time compares.
    rows : int, optional
        The answer is that of the first rows of ours; the time is extrapolated to all of them.
    tolerance : float
        Largest difference to our answer.
    worse : int
        1 where the peer may miss a minimum and its values may be higher, -1 where it may miss a maximum.
    word : str
        What its other values are, where `worse` is given.
    lacks : str
        What our time includes and that of the peer does not.
    """

    name: str
    call: Callable[[], Any]
    rows: int | None = None
    tolerance: float = 1e-8
    worse: int = 0
    word: str = "worse"
    lacks: str = ""


@dataclass(frozen=True)
class Case:
    """A workload on its data.

    Attributes
    ----------
    call : callable
        What is timed.
    answer : callable
        From what `call` returns to the array that peers agree with.
    peers : sequence of Peer
    loop : Peer, optional
        The plain loop in C or C++.
    n_bytes : int
        Size of the input; 0 where it says nothing about the time.
    """

    call: Callable[[], Any]
    answer: Callable[[Any], Any] = np.asarray
    peers: Sequence[Peer] = ()
    loop: Peer | None = None
    n_bytes: int = 0


@dataclass(frozen=True)
class Workload:
    """A name, and a function that prepares the data: ``make(quick) -> Case``, smaller if quick.

    Attributes
    ----------
    several : bool
        Whether it may use several processes; others stay on one core.
    compared : bool
        Whether the comparison of two commits runs it unless it is named.
    repeats : Repeats
    """

    name: str
    make: Callable[[bool], Case]
    several: bool = False
    compared: bool = True
    repeats: Repeats = field(default_factory=Repeats)


def processor_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    own = time.process_time()
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return own
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own + ended.ru_utime + ended.ru_stime


REAL = Clock(processor_seconds, time.perf_counter)


def timed(call: Callable[[], Any], clock: Clock = REAL, repeats: Repeats | None = None) -> tuple[float, float]:
    """Least processor seconds and least wall seconds of some calls."""
    limits = repeats or Repeats()
    processor, wall, spent = [], [], 0.0
    while len(processor) < limits.fewest or (spent < limits.seconds and len(processor) < limits.most):
        before, at = clock.processor(), clock.wall()
        call()
        wall.append(clock.wall() - at)
        processor.append(clock.processor() - before)
        spent += processor[-1]
    return max(min(processor), SMALLEST), max(min(wall), SMALLEST)


def by_formulas(call: Callable[[], Any], tolerance: float = 0.0) -> list[Peer]:
    """The same call without compiled kernels; nothing where there are none."""
    import uqassay as uq

    if not uq.kernels().names:
        return []

    def pure() -> Any:
        with _formulas():
            return call()

    return [Peer(FORMULAS, pure, tolerance=tolerance)]


def measure(workload: Workload, *, quick: bool = False, peers: bool = True, clock: Clock = REAL) -> dict[str, Any]:
    """One record: times of the workload, and of its peers with how they agree.

    Returns
    -------
    dict
        "processor", "wall": seconds; "digest" of the answer; "bytes"; "loop": seconds of the plain loop or None; "peers":
        one dict each with "name", "ratio" to our time, "rows", "lacks", "word", "difference", "share" (of worse values) and
        "agrees", or with "failed".
    """
    with _one_core(workload):
        case = workload.make(quick)
        results: list[Any] = []
        if workload.repeats.most == 1:
            processor, wall = timed(lambda: results.append(case.call()), clock, workload.repeats)
        else:
            results.append(case.call())  # the first call may load what it needs
            processor, wall = timed(case.call, clock, workload.repeats)
        answer = np.asarray(case.answer(results.pop()), dtype=float)
        found: dict[str, Any] = {"processor": processor, "wall": wall, "bytes": case.n_bytes, "loop": None, "peers": []}
        found["digest"] = sha256(np.ascontiguousarray(answer)).hexdigest()[:16]
        if not peers:
            return found
        others = (case.loop, *case.peers) if case.loop else case.peers
        beside = [_beside(peer, answer, processor, clock) for peer in others]
        if case.loop and "ratio" in beside[0]:
            found["loop"] = beside[0]["ratio"] * processor
        found["peers"] = beside
        gc.collect()
        return found


# -- helpers -----------------------------------------------------------------------------------------------------------


def _beside(peer: Peer, ours: np.ndarray, seconds: float, clock: Clock) -> dict[str, Any]:
    """What a peer takes, relative to our seconds, and how its answer agrees."""
    found: dict[str, Any] = {"name": peer.name, "rows": peer.rows, "lacks": peer.lacks, "word": peer.word}
    try:
        start = clock.processor()
        answer = peer.call()
        took = clock.processor() - start
        if took < LONG:
            took = timed(peer.call, clock, Repeats(LONG, 2, 10))[0]  # the first call may have loaded the package
    except Exception as problem:  # of other people's code: the page says so and goes on
        return found | {"failed": f"{type(problem).__name__}: {problem}"[:200]}
    if peer.rows is not None:
        took *= len(ours) / peer.rows
    return found | {"ratio": took / seconds} | _agreement(peer, ours, answer)


def _agreement(peer: Peer, ours: np.ndarray, answer: Any) -> dict[str, Any]:
    """Largest difference to our answer, share of values that are worse than ours, and whether the peer agrees."""
    if answer is None:
        return {"difference": None, "share": None, "agrees": True}
    theirs, expected = np.asarray(answer, dtype=float), ours if peer.rows is None else ours[: peer.rows]
    with np.errstate(invalid="ignore"):
        same = (theirs == expected) | (np.isnan(theirs) & np.isnan(expected))  # infinities and undefined values, too
        gap = np.where(same, 0.0, theirs - expected)
    wrong = np.abs(gap) if not peer.worse else np.maximum(-peer.worse * gap, 0.0)
    return {
        "difference": float(np.max(np.abs(gap), initial=0.0)),
        "share": float(np.mean(np.abs(gap) > peer.tolerance)) if peer.worse else None,
        "agrees": bool(np.all(wrong <= peer.tolerance)),
    }


@contextmanager
def _one_core(workload: Workload) -> Any:
    """Chunks run on as many threads as there are cores, so that other workloads get a single one."""
    if workload.several or not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextmanager
def _formulas() -> Any:
    before = os.environ.get("UQASSAY_PURE")
    os.environ["UQASSAY_PURE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["UQASSAY_PURE"]
        else:
            os.environ["UQASSAY_PURE"] = before
