"""What a model said: one frozen, validated class per kind of prediction, and the files that hold them."""

from uqassay.predictions.adapters import from_laplace, from_object
from uqassay.predictions.base import Prediction, not_negative
from uqassay.predictions.coercion import as_prediction
from uqassay.predictions.dirichlet import Dirichlet
from uqassay.predictions.drawn import Drawn
from uqassay.predictions.gaussian_logits import GaussianLogits
from uqassay.predictions.intervals import Intervals
from uqassay.predictions.masses import Masses
from uqassay.predictions.members import Members
from uqassay.predictions.point import Point
from uqassay.predictions.summation import OrderFreeSum, sum_over_classes
from uqassay.predictions.vertices import Vertices

__all__ = [
    "Dirichlet",
    "Drawn",
    "GaussianLogits",
    "Intervals",
    "Masses",
    "Members",
    "OrderFreeSum",
    "Point",
    "Prediction",
    "Vertices",
    "as_prediction",
    "from_laplace",
    "from_object",
    "not_negative",
    "sum_over_classes",
]


def __dir__() -> list[str]:
    return sorted(__all__)
