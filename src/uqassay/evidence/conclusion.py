"""From the scores of all models to an assay: baselines, warnings, scores that rank backwards, pictured sets, provenance."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from uqassay.evidence.alignment import Aligned
from uqassay.evidence.backward import backward_notes, backward_scores
from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.evidence.cautions import calibration_cautions, cautions
from uqassay.evidence.classwise_error import classwise_errors
from uqassay.evidence.kept_rows import Kept
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.prior_of_the_others import held_out_columns
from uqassay.evidence.random_order import random_keys, sample_reaching
from uqassay.evidence.result import Assay
from uqassay.evidence.scored_models import ScoredModel
from uqassay.evidence.scoring import SetSample, Settings, sample_sets, score_baselines
from uqassay.evidence.vote_tests import VoteTests
from uqassay.predictions import Point, Prediction

__all__ = ["PICTURED_POINTS", "STAGES", "AssayParts", "conclude", "most_pictured"]

STAGES = ("baselines", "backward scores", "pictured sets")  # as they are told to `progress`
PICTURED_VALUES = 200_000  # of a model's credal sets kept for pictures, K to an instance
PICTURED_POINTS = 30  # instances of each interesting kind whose points are kept as well


@dataclass(frozen=True, eq=False)
class AssayParts:
    """What an assay is made of once every model is scored and tested.

    Attributes
    ----------
    aligned : Aligned
    subgroups : dict of str to array (n,)
    settings : Settings
    scored : sequence of ScoredModel
    tests : tuple of ModelCalibration
    votes : dict of str to VoteTests
    pictured : mapping of str to (Prediction, Kept)
        The first run of each model, and the rows that it holds.
    """

    aligned: Aligned
    subgroups: dict[str, NDArray[Any]]
    settings: Settings
    scored: Sequence[ScoredModel]
    tests: tuple[ModelCalibration, ...]
    votes: dict[str, VoteTests]
    pictured: Mapping[str, tuple[Prediction, Kept]]


def conclude(parts: AssayParts, options: AssayOptions) -> Assay:
    """The assay of models that are scored and tested; its `STAGES` are told to the progress of the options."""
    say = options.progress or (lambda stage: None)
    say(STAGES[0])
    aligned, settings = parts.aligned, parts.settings
    y, n_classes = aligned.labels, len(aligned.class_names)
    shares = options.shares(y, n_classes, aligned.class_names if aligned.named else None)
    held_out = held_out_columns(y, n_classes, aligned.groups, settings) if options.prior is None else None
    models = [each.scores for each in parts.scored]
    models += score_baselines(y, n_classes, shares, settings, held_out=held_out)
    errors = {each.scores.name: each.classwise_error for each in parts.scored}
    errors["class-prior"] = classwise_errors([Point(np.broadcast_to(shares, (len(y), n_classes)))], y)
    result = Assay(
        models=tuple(models),
        labels=y,
        class_names=aligned.class_names,
        ids=aligned.ids,
        groups=aligned.groups,
        subgroups=parts.subgroups,
        tradeoffs=options.lambdas,
        settings=settings,
        sets={},
        warnings=cautions(models, aligned, options.common_members) + calibration_cautions(parts.tests, aligned),
        provenance=_provenance(y),
        calibration=parts.tests,
        classwise_error=errors,
        scaled={each.scores.name: each.scaled for each in parts.scored if each.scaled is not None},
        votes=parts.votes,
    )
    say(STAGES[1])
    backward = backward_scores(result)
    result = replace(result, backward=backward, warnings=(*result.warnings, *backward_notes(backward)))
    say(STAGES[2])
    result.sets.update(_pictures(result, parts.pictured))
    return result


def most_pictured(n_classes: int) -> int:
    """Number of instances that are pictured, if the extreme ones are not more."""
    return PICTURED_VALUES // n_classes


def _provenance(y: NDArray[Any]) -> dict[str, Any]:
    from uqassay import __version__

    return {
        "uqassay": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "labels_sha256": sha256(np.ascontiguousarray(y).tobytes()).hexdigest(),
    }


def _pictures(result: Assay, pictured: Mapping[str, tuple[Prediction, Kept]]) -> dict[str, SetSample]:
    """Credal sets of the extreme instances, then of others at random, as far as room allows."""
    extremes = result.extreme_instances(PICTURED_POINTS)
    first = np.unique(np.concatenate(list(extremes.values())))
    room = max(len(first), most_pictured(result.n_classes))
    others = np.setdiff1d(np.arange(result.n_instances), first)
    keys = random_keys(result.n_instances, None, result.settings.seed)[others]
    others = others[sample_reaching(keys, room - len(first))] if room > len(first) else others[:0]
    rows = np.concatenate([first, others])
    return {name: sample_sets(run, rows, len(first), kept=kept) for name, (run, kept) in pictured.items()}
