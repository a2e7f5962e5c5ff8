"""Classifiers that state their uncertainty, in scikit-learn style: ``fit(X, y)`` and ``predict_uncertainty(X) -> prediction``.

PyTorch and scikit-learn are loaded when a method is first used, not when this room is imported.
"""

from typing import Any

from uqassay.lab.methods.registry import METHODS, MethodInfo, build_method, load_class

_WHERE = {
    "NetworkClassifier": "networks",
    "UncertaintyClassifier": "base",
    "fit_together": "together",
    **{info.class_name: info.module for info in METHODS.values()},
}

__all__ = ["METHODS", "MethodInfo", "build_method", *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'uqassay.lab.methods' has no attribute {name!r}")
    value = load_class(_WHERE[name], name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
