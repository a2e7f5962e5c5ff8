"""The machine: what it is, and yardsticks that are measured beside each workload."""

import importlib.metadata
import os
import platform
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.workload import REAL, Clock, Repeats, timed

__all__ = ["PEERS", "describe", "least", "native_yardsticks", "versions", "yardsticks"]

PEERS = {  # distribution: module
    "probly": "probly",
    "torch-uncertainty": "torch_uncertainty",
    "torchmetrics": "torchmetrics",
    "scikit-learn": "sklearn",
    "SciPy": "scipy",
    "lifelines": "lifelines",
    "fastauc": "fastauc",
}
SORTED = 1_000_000
COPIED = 10_000_000  # doubles, 80 MB
SHORT = Repeats(0.05, 3, 10)


def native_yardsticks() -> Any:
    """The plain loops of the extension module, or None."""
    import uqassay as uq
    from uqassay.native import extension

    module = extension()
    return module.yardsticks if module and uq.kernels().names else None


def yardsticks(clock: Clock = REAL) -> dict[str, float]:
    """Processor seconds of sorts of a million random doubles, and bytes moved per second by a large copy.

    "sort" is `np.sort`; "radix" the plain radix sort in C++, absent without kernels; "bandwidth" counts reads and writes.
    """
    values = np.random.default_rng(1).random(SORTED)
    found = {"sort": timed(lambda: np.sort(values), clock, SHORT)[0]}
    native = native_yardsticks()
    if native is not None:
        found["radix"] = timed(lambda: native.radix_sort(values), clock, SHORT)[0]
    source, target = np.ones(COPIED), np.empty(COPIED)
    found["bandwidth"] = 2 * source.nbytes / timed(lambda: np.copyto(target, source), clock, SHORT)[0]
    return found


def least(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """The better of two measurements of each yardstick."""
    return {name: (max if name == "bandwidth" else min)(first[name], second[name]) for name in first}


def describe() -> str:
    """Processor, cores, load, versions, and whether compiled kernels are in use, in one sentence."""
    import uqassay as uq

    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.*)", cpuinfo.read_text()) if cpuinfo.exists() else None
    name = found[1] if found else platform.processor() or platform.machine()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    kernels = "compiled kernels" if uq.kernels().names else "no compiled kernels"
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{name}, {os.cpu_count()} cores{load}; {platform.system()}, {versions}, {kernels}."


def versions() -> dict[str, str]:
    """Versions of the peers; "" for one that is not installed."""
    found = {}
    for distribution, module in PEERS.items():
        if find_spec(module) is None:
            found[distribution] = ""
            continue
        try:
            found[distribution] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            found[distribution] = "without version"
    return found
