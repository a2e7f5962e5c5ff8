"""The engine of benchmarks: cells and their keys, where they run, what a folder knows of them, and reports on the results.

`uqassay.bench.runner` and `uqassay.bench.store` stand in front of it.
"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
