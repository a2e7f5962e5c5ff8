"""What a model said: one frozen, validated class per kind of prediction, and the files that hold them."""

from uqassay.predictions.base import Prediction
from uqassay.predictions.dirichlet import Dirichlet
from uqassay.predictions.gaussian_logits import GaussianLogits
from uqassay.predictions.intervals import Intervals
from uqassay.predictions.masses import Masses
from uqassay.predictions.members import Members
from uqassay.predictions.point import Point
from uqassay.predictions.vertices import Vertices

__all__ = ["Dirichlet", "GaussianLogits", "Intervals", "Masses", "Members", "Point", "Prediction", "Vertices"]


def __dir__() -> list[str]:
    return sorted(__all__)
