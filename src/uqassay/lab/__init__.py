"""The second wing: data sets, classifiers, the benchmark, and the papers' experiments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uqassay.lab import bench, datasets, methods, papers

__all__ = ["bench", "datasets", "methods", "papers"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'uqassay.lab' has no attribute {name!r}")
    return import_module(f"uqassay.lab.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
