"""Does this classifier know what it does not know, and which of these classifiers should I use?

Predictions of any kind go in (`Point`, `Members`, `Dirichlet`, `Intervals`, `ClassSets`, `Masses`, `Vertices`,
`GaussianLogits`, `Answers` with a stated confidence, or a file through `load`); `assay` gives evidence: numbers with intervals,
tests, rankings and one page.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Assay": "evidence",
    "AssayStream": "evidence",
    "assay": "evidence",
    "Answers": "predictions",
    "ClassSets": "predictions",
    "DaskPrediction": "predictions",
    "Dirichlet": "predictions",
    "GaussianLogits": "predictions",
    "Intervals": "predictions",
    "Masses": "predictions",
    "Members": "predictions",
    "Point": "predictions",
    "Prediction": "predictions",
    "Vertices": "predictions",
    "load": "predictions.files",
    "load_answers": "predictions.files",
    "load_labels": "predictions.files",
    "save": "predictions.files",
    "from_classifier": "predictions.adapters",
    "from_object": "predictions.adapters",
    "from_laplace": "predictions.adapters",
    "Estimate": "statistics",
    "kernels": "native",
    "UqassayError": "errors",
    "InputError": "errors",
}
_ROOMS = (
    "calibration",
    "credal",
    "errors",
    "evidence",
    "lab",
    "losses",
    "measures",
    "metrics",
    "predictions",
    "report",
    "statistics",
)

__all__ = [
    "Answers",
    "Assay",
    "AssayStream",
    "ClassSets",
    "DaskPrediction",
    "Dirichlet",
    "Estimate",
    "GaussianLogits",
    "InputError",
    "Intervals",
    "Masses",
    "Members",
    "Point",
    "Prediction",
    "UqassayError",
    "Vertices",
    "__version__",
    "assay",
    "calibration",
    "credal",
    "from_classifier",
    "from_laplace",
    "from_object",
    "kernels",
    "lab",
    "load",
    "load_answers",
    "load_labels",
    "losses",
    "measures",
    "metrics",
    "save",
    "statistics",
]

if TYPE_CHECKING:
    from uqassay.errors import InputError, UqassayError
    from uqassay.evidence import Assay, AssayStream, assay
    from uqassay.native import kernels
    from uqassay.predictions import (
        Answers,
        ClassSets,
        DaskPrediction,
        Dirichlet,
        GaussianLogits,
        Intervals,
        Masses,
        Members,
        Point,
        Prediction,
        Vertices,
    )
    from uqassay.predictions.adapters import from_classifier, from_laplace, from_object
    from uqassay.predictions.files import load, load_answers, load_labels, save
    from uqassay.statistics import Estimate


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(f"uqassay.{_WHERE[name]}"), name)
    elif name in _ROOMS:
        value = import_module(f"uqassay.{name}")
    else:
        raise AttributeError(f"module 'uqassay' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
