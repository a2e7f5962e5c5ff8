"""Benchmarks: cells and their keys, the runner, the folder that stores results, and reports on them.

Start with `uqassay.lab.bench.runner.run_cells` and `uqassay.lab.bench.store.Store`.
"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
