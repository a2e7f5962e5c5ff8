"""All workloads, by name."""

from benchmarks.speed.assays import ASSAYS
from benchmarks.speed.calibrations import CALIBRATIONS
from benchmarks.speed.ranks import RANKS
from benchmarks.speed.sets import SETS

__all__ = ["WORKLOADS"]

WORKLOADS = {workload.name: workload for workload in (*SETS, *RANKS, *CALIBRATIONS, *ASSAYS)}
