"""Predictions of classifiers: one frozen, validated class for each of the eight kinds, and their files."""

from uqassay._frames import FromFile
from uqassay.predictions.adapters import from_laplace, from_object
from uqassay.predictions.base import CORE_BYTES, Prediction
from uqassay.predictions.box import Box
from uqassay.predictions.class_sets import ClassSets
from uqassay.predictions.coercion import PredictionLike, as_prediction
from uqassay.predictions.dask_prediction import DaskPrediction, check_chunks, is_dask_array
from uqassay.predictions.device_probs import DeviceProbs, probs_on_device
from uqassay.predictions.dirichlet import Dirichlet
from uqassay.predictions.drawn import Drawn
from uqassay.predictions.gaussian_logits import GaussianLogits
from uqassay.predictions.intervals import Intervals
from uqassay.predictions.keeping_arrays import HOST_FIELD, as_prediction_here_and_there, held_elsewhere, keeps_arrays
from uqassay.predictions.labels import class_indices, labels_for, portable_labels
from uqassay.predictions.masses import Masses
from uqassay.predictions.members import Members, check_draws
from uqassay.predictions.metadata import per_instance
from uqassay.predictions.pandas_input import in_order_of_ids, take_index
from uqassay.predictions.point import Point
from uqassay.predictions.probabilities import not_negative
from uqassay.predictions.summation import OrderFreeSum, sum_over_classes
from uqassay.predictions.sums_over_members import member_rows, member_shares, member_sums
from uqassay.predictions.vertices import Vertices

__all__ = [
    "CORE_BYTES",
    "HOST_FIELD",
    "Box",
    "ClassSets",
    "DaskPrediction",
    "DeviceProbs",
    "Dirichlet",
    "Drawn",
    "FromFile",
    "GaussianLogits",
    "Intervals",
    "Masses",
    "Members",
    "OrderFreeSum",
    "Point",
    "Prediction",
    "PredictionLike",
    "Vertices",
    "as_prediction",
    "as_prediction_here_and_there",
    "check_chunks",
    "check_draws",
    "class_indices",
    "from_laplace",
    "from_object",
    "held_elsewhere",
    "in_order_of_ids",
    "is_dask_array",
    "keeps_arrays",
    "labels_for",
    "member_rows",
    "member_shares",
    "member_sums",
    "not_negative",
    "per_instance",
    "portable_labels",
    "probs_on_device",
    "sum_over_classes",
    "take_index",
]


def __dir__() -> list[str]:
    return sorted(__all__)
