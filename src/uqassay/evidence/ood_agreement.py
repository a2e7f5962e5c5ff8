"""Do two samples belong together: the same models, classes, members and settings on both sides?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.alignment import first_difference
from uqassay.evidence.scored_side import Side
from uqassay.evidence.scoring import Settings
from uqassay.measures.scores import SCORES
from uqassay.wording import listed

__all__ = ["check_names", "check_offered", "check_settings", "check_sides"]


def check_sides(inside: Side, outside: Side) -> None:
    """Refuse two samples of other models, classes, kinds, runs or members."""
    check_names(inside.models, set(outside.models))
    if inside.n_classes != outside.n_classes:
        raise InputError(
            "outside",
            "needs the same classes",
            f"K = {inside.n_classes} in distribution, K = {outside.n_classes} out of it",
            "use predictions of the same models",
            code="mismatch",
        )
    if inside.class_names and outside.class_names and inside.class_names != outside.class_names:
        raise InputError(
            "outside",
            "needs the same class names in the same order",
            first_difference(outside.class_names, "out of distribution", inside.class_names, "in distribution"),
            "pass class_names= to assay",
            code="mismatch",
        )
    for name, model in inside.models.items():
        other = outside.models[name]
        for what, own_value, other_value in (
            ("kind", model.kind, other.kind),
            ("number of runs", model.n_runs, other.n_runs),
            # assays of earlier versions do not tell draws from passes
            ("kind of points", model.spanned_by or other.spanned_by, other.spanned_by or model.spanned_by),
            ("number of members or draws", model.n_points, other.n_points),
        ):
            if own_value != other_value:
                raise InputError(
                    "outside",
                    f"{name!r} needs the same {what} as in distribution",
                    f"{own_value} in distribution, {other_value} out of it",
                    "use predictions of the same model",
                    code="mismatch",
                )


def check_offered(scores: Sequence[str], inside: Side, outside: Side) -> None:
    """Refuse a score that no model has on either side."""
    models = [model for side in (inside, outside) for model in side.models.values()]
    absent = [name for name in scores if not any(name in model.columns for model in models)]
    if absent:
        known = ", ".join(name for name in SCORES if any(name in model.offered for model in models))
        raise InputError(
            "scores",
            "must be scores that some model has",
            f"got {absent[0]!r}, and the scores there are {known}",
            "choose from them",
            code="choice",
        )


def check_names(models: Mapping[str, Any], names: set[str]) -> None:
    """Refuse names of models out of distribution that differ from those in distribution."""
    missing = [name for name in models if name not in names]
    if missing:
        raise InputError(
            "outside",
            "needs every model that is judged in distribution",
            f"it lacks {listed([repr(name) for name in missing])}",
            "give predictions of every model on both samples",
            code="mismatch",
        )
    extra = sorted(names - set(models))
    if extra:
        raise InputError(
            "outside",
            "must have no model that is missing in distribution",
            f"it has {listed([repr(name) for name in extra])}; those are {listed([repr(name) for name in models])}",
            "use the same names, or leave it out",
            code="mismatch",
        )


def check_settings(inside: Settings, outside: Settings) -> None:
    """Refuse two assays whose non-specificities mean different things."""
    for name in ("nonspecificity", "convention"):
        own, other = getattr(inside, name), getattr(outside, name)
        if own != other:
            raise InputError(
                "outside",
                "needs the settings used in distribution",
                f"{name} is {own!r} in distribution, {other!r} out of it",
                "judge both alike",
                code="mismatch",
            )
    families = [s.focal_sets for s in (inside, outside) if s.focal_sets is not None]
    if len(families) == 1 or (families and not np.array_equal(families[0], families[1])):
        raise InputError(
            "outside",
            "needs the settings used in distribution",
            "focal_sets differ",
            "judge both with the same family of events",
            code="mismatch",
        )
