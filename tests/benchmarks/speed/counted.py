"""Workloads on a clock that counts calls: a call takes as long as the package under test says."""

import itertools

from benchmarks.speed.workload import Case, Clock, Repeats, Workload

import uqassay

__all__ = ["CLOCK", "WORKLOADS", "Watch"]


class Watch:
    """A clock that stands still until work is done."""

    def __init__(self):
        self.seconds = 0.0

    def work(self, seconds):
        self.seconds += seconds

    def clock(self):
        return Clock(lambda: self.seconds, lambda: self.seconds)


WATCH = Watch()
CLOCK = WATCH.clock()
JITTER = itertools.cycle((1.0, 1.01, 1.02))


def job(name):
    def make(quick):
        return Case(lambda: WATCH.work(getattr(uqassay, name) * next(JITTER)) or 0.0)

    return Workload(name, make, repeats=Repeats(0.0, 1, 1))


WORKLOADS = {name: job(name) for name in ("STEADY", "SLOWER", "NEW")}
