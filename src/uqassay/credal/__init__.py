"""Geometry of sets of probability distributions, arrays in and arrays out."""

from uqassay.credal.convex_hull import OutsideSegment, boundary_towards_corner, closest_corner, in_hull, outside_segment
from uqassay.credal.distances import DISTANCES, Distance
from uqassay.credal.events import (
    MAX_ENUMERATED_CLASSES,
    all_focal_sets,
    as_focal_sets,
    budget_from_confusion,
    budget_from_embeddings,
    event_sizes,
    family_moebius,
    hull_event_bounds,
    interval_event_bounds,
    mass_event_bounds,
    moebius_transform,
    paper_masses,
    zeta_transform,
)
from uqassay.credal.intervals import intersection_probability, reachable
from uqassay.credal.nearest import (
    NearestPoint,
    divergence,
    nearest_in_box,
    nearest_in_core,
    nearest_in_hull,
    one_hot_distance,
)
from uqassay.credal.undominated import (
    CLASS_RULES,
    admissible_in_hull,
    undominated_in_box,
    undominated_in_core,
    undominated_in_hull,
)
from uqassay.credal.vertices import (
    box_vertices,
    lower_probability_vertices,
    outermost_permutations,
    permutation_vertices,
    unique_vertices,
)

__all__ = [
    "CLASS_RULES",
    "DISTANCES",
    "MAX_ENUMERATED_CLASSES",
    "Distance",
    "NearestPoint",
    "OutsideSegment",
    "admissible_in_hull",
    "all_focal_sets",
    "as_focal_sets",
    "boundary_towards_corner",
    "box_vertices",
    "budget_from_confusion",
    "budget_from_embeddings",
    "closest_corner",
    "divergence",
    "event_sizes",
    "family_moebius",
    "hull_event_bounds",
    "in_hull",
    "intersection_probability",
    "interval_event_bounds",
    "lower_probability_vertices",
    "mass_event_bounds",
    "moebius_transform",
    "nearest_in_box",
    "nearest_in_core",
    "nearest_in_hull",
    "one_hot_distance",
    "outermost_permutations",
    "outside_segment",
    "paper_masses",
    "permutation_vertices",
    "reachable",
    "undominated_in_box",
    "undominated_in_core",
    "undominated_in_hull",
    "unique_vertices",
    "zeta_transform",
]


def __dir__() -> list[str]:
    return sorted(__all__)
