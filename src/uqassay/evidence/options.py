"""The options of an assay: what is computed, and how. They are checked once, before any prediction is read."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_numeric, check_rows
from uqassay.checks import fail
from uqassay.credal.events import as_focal_sets
from uqassay.evidence.align import Aligned, score_list
from uqassay.evidence.baselines import counted_labels
from uqassay.evidence.calibration import CalibrationPlan, check_measures
from uqassay.evidence.scale import SCALES, check_scales
from uqassay.evidence.scoring import CRITICAL_SCORES, ERROR, Settings, states_moments
from uqassay.losses.unified import check_options, check_tradeoffs
from uqassay.measures.registry import SCORES
from uqassay.metrics.measures import CalibrationMeasure
from uqassay.predictions.keys import values_of_classes
from uqassay.predictions.points import check_draws
from uqassay.statistics import check_margin
from uqassay.text import listed_names

__all__ = ["CALIBRATION", "TRADEOFFS", "AssayOptions"]

TRADEOFFS = tuple(round(0.1 * i, 1) for i in range(1, 11))
CALIBRATION = ("kuiper-confidence", "ece-classwise")
NAMED = 10  # classes in an error before the others are counted
OF_ANSWERS = ("kuiper-confidence", "ece-confidence")
COPIED = (
    "class_names",
    "tradeoffs",
    "focal_sets",
    "measures",
    "prior",
    "scales",
)  # a stream keeps them beyond the call
OF_CLASSES = (
    *("distance", "nonspecificity", "convention", "focal_sets", "prior", "repair", "common_members"),
    *("votes_are", "ignore_label", "tolerance", "critical"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class AssayOptions:
    """Options of `assay` and of `AssayStream` that do not belong to single instances; `assay` describes them."""

    class_names: Sequence[str] | None = None
    tradeoffs: Sequence[float] = TRADEOFFS
    distance: str = "kl"
    nonspecificity: str = "hartley"
    convention: str = "exact"
    focal_sets: Any = None
    floor: float | None = None
    measures: Sequence[str] | None = None
    calibration: Sequence[str] = CALIBRATION
    prior: ArrayLike | None = None
    scales: Sequence[float] = SCALES
    repair: bool = False
    common_members: int | None = None
    votes_are: str | None = None
    ignore_label: int | str | None = None
    tolerance: float | None = None
    level: float = 0.95
    margin: float | None = None
    critical: str | int | None = None
    n_draws: int = 2000
    rng: int | None = None
    progress: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        for name in COPIED:
            with suppress(
                Exception
            ):  # an iterator has no copy; what is no value for an option is refused where it is read
                object.__setattr__(self, name, deepcopy(getattr(self, name)))
        _ = self.lambdas, self.seed
        if not (isinstance(self.level, (int, float)) and 0 < self.level < 1):
            fail("level", "must lie between 0 and 1", f"got {self.level!r}", "0.95 is usual", code="range")
        check_options(self.distance, self.nonspecificity, self.convention, self.focal_sets, self.floor)
        if self.margin is not None:
            check_margin(self.margin, self.level)
        check_draws(self.n_draws, "n_draws")
        tolerance = self.tolerance
        if tolerance is not None and not (isinstance(tolerance, (int, float)) and tolerance > 0):
            fail(
                "tolerance",
                "must be a positive number",
                f"got {tolerance!r}",
                "leave it out for 32 orders",
                code="range",
            )
        _check_names(self.measures)
        if not isinstance(self.repair, bool):
            fail("repair", "must be True or False", f"got {self.repair!r}", "pass one of them", code="type")
        _ = self.calibration_measures, self.factors

    @cached_property
    def lambdas(self) -> tuple[float, ...]:
        """The λ of the findings, each once and in rising order."""
        return tuple(sorted(set(check_tradeoffs(self.tradeoffs))))

    @cached_property
    def seed(self) -> int:
        """Seed of all random choices."""
        if self.rng is None:
            return 0
        if isinstance(self.rng, (int, np.integer)) and self.rng >= 0:
            return int(self.rng)
        fail(
            "rng",
            "must be a whole number ≥ 0, because the report states it",
            f"got {self.rng!r}",
            "pass a seed",
            code="type",
        )

    @cached_property
    def calibration_measures(self) -> tuple[CalibrationMeasure, ...]:
        """The measures of `calibration`."""
        return check_measures(self.calibration, "calibration")

    def measures_of(self, aligned: Aligned) -> tuple[CalibrationMeasure, ...]:
        """The measures of these models: of answers, which have no classes, by default those of the confidence."""
        if aligned.of_answers and tuple(self.calibration) == CALIBRATION:
            return check_measures(OF_ANSWERS, "calibration")
        return self.calibration_measures

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """The scales of the scale check, with 1; () for none."""
        return check_scales(self.scales)

    @property
    def plan(self) -> CalibrationPlan:
        """How the calibration tests are made."""
        return CalibrationPlan(level=self.level, seed=self.seed)

    def settings(self, aligned: Aligned, given: Mapping[str, Mapping[str, Any]]) -> Settings:
        """How the models are scored, for models of so many classes with these further scores."""
        if aligned.of_answers:
            self._refuse_for_answers()
        critical, measures = self._critical(aligned.class_names), score_list(self.measures, aligned, given)
        if critical is not None and any(states_moments(runs[0]) for runs in aligned.models.values()):
            measures = (*measures, *CRITICAL_SCORES)
        return Settings(
            distance=ERROR.name if aligned.of_answers else self.distance,
            nonspecificity=self.nonspecificity,
            convention=self.convention,
            focal_sets=None if self.focal_sets is None else as_focal_sets(self.focal_sets, len(aligned.class_names)),
            floor=self.floor,
            measures=measures,
            tolerance=self.tolerance,
            level=self.level,
            n_draws=self.n_draws,
            seed=self.seed,
            margin=None if self.margin is None else float(self.margin),
            critical=critical,
        )

    def _critical(self, class_names: Sequence[str]) -> int | None:
        """Index of the class that matters, given by its name or its index."""
        given, n = self.critical, len(class_names)
        if given is None:
            return None
        if isinstance(given, str):
            if given in class_names:
                return class_names.index(given)
            if given.isdecimal() and not any(
                name.isdecimal() for name in class_names
            ):  # an index from the command line
                given = int(given)
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < n:
            return int(given)
        rule = f"must be one of {listed_names(class_names, most=NAMED)}, or an index below {n}"
        fail("critical", rule, f"got {given!r:.40}", "choose one of them", code="choice")

    def _refuse_for_answers(self) -> None:
        """Refuse options about classes and sets, which answers do not have."""
        for one in fields(AssayOptions):
            if one.name in OF_CLASSES and (value := getattr(self, one.name)) != one.default:
                remedy = "leave it out: answers are judged as right or wrong"
                fail(one.name, "has no meaning for Answers", f"got {value!r:.40}", remedy, code="conflict")

    def shares(
        self,
        y: NDArray[Any],
        n_classes: int,
        class_names: Sequence[str] | None = None,
        *,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Class frequencies of the class-prior baseline, given or those of the labels, ``(K,)``."""
        if self.prior is None:
            total = len(y) if sample_weight is None else sample_weight.sum()
            return np.asarray(counted_labels(y, n_classes, sample_weight) / total)
        shares = values_of_classes(self.prior, class_names, n_classes, "prior")
        shares = as_numeric(shares, "prior", ndim=1).astype(np.float64)
        if shares.shape != (n_classes,):
            fail(
                "prior",
                f"needs one share for each of the {n_classes} classes",
                f"got shape {shares.shape}",
                "count the labels",
                code="mismatch",
            )
        check_rows(shares[None], "prior", tolerance=1e-6, remedy="divide the counts by their sum")
        return shares


def _check_names(measures: Sequence[str] | None) -> None:
    """Refuse names of scores that do not exist, and anything that is no sequence of names."""
    if measures is None:
        return
    if isinstance(measures, str) or not isinstance(measures, Sequence):
        fail(
            "measures",
            "must be a sequence of names of scores",
            f"got {type(measures).__name__}",
            "write ('total-entropy',)",
            code="type",
        )
    unknown = [m for m in measures if not isinstance(m, str) or m not in SCORES]
    if unknown:
        fail("measures", f"must be among {', '.join(SCORES)}", f"got {unknown[0]!r}", "choose from them", code="choice")
