"""Predictions of classifiers: one frozen, validated class for each of the nine kinds, and their files."""

from uqassay.frames import FromFile
from uqassay.predictions.adapters import PredictionLike, as_prediction, from_laplace, from_object, member_probs
from uqassay.predictions.answers import Answers
from uqassay.predictions.arrays_on_disk import read_npz
from uqassay.predictions.base import CORE_BYTES, Prediction, per_instance
from uqassay.predictions.dask import DaskPrediction, check_chunks, is_dask_array
from uqassay.predictions.files import file_hash, inspect_file, load, load_answers, load_labels, read_arrays, save
from uqassay.predictions.labels import class_indices, in_order_of_ids, labels_for, portable_labels, take_index
from uqassay.predictions.points import (
    Box,
    Members,
    OrderFreeSum,
    Point,
    check_draws,
    member_rows,
    member_shares,
    member_sums,
    not_negative,
    sum_over_classes,
)
from uqassay.predictions.second_order import Dirichlet, Drawn, GaussianLogits
from uqassay.predictions.sets import ClassSets, Intervals, Masses, Vertices

__all__ = [
    "CORE_BYTES",
    "Answers",
    "Box",
    "ClassSets",
    "DaskPrediction",
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
    "check_chunks",
    "check_draws",
    "class_indices",
    "file_hash",
    "from_laplace",
    "from_object",
    "in_order_of_ids",
    "inspect_file",
    "is_dask_array",
    "labels_for",
    "load",
    "load_answers",
    "load_labels",
    "member_probs",
    "member_rows",
    "member_shares",
    "member_sums",
    "not_negative",
    "per_instance",
    "portable_labels",
    "read_arrays",
    "read_npz",
    "save",
    "sum_over_classes",
    "take_index",
]


def __dir__() -> list[str]:
    return sorted(__all__)
