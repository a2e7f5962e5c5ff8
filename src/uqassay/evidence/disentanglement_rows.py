"""Findings of a disentanglement study as rows of plain values, and rows as tables."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from uqassay.evidence.disentanglement_measured import EXPERIMENTS, KINDS, PARTS, chosen
from uqassay.evidence.tables import as_table

if TYPE_CHECKING:
    import pandas as pd

    from uqassay.evidence.disentanglement import DisentanglementStudy
    from uqassay.statistics import Estimate

__all__ = ["STUDY_TABLES", "ends", "study_rows", "study_table"]

Rows = list[dict[str, Any]]


def ends(estimate: "Estimate", prefix: str = "") -> dict[str, float]:
    """An estimate and the ends of its interval as fields of a row."""
    return {
        prefix or "estimate": float(estimate),
        f"{prefix}_low" if prefix else "low": estimate.low,
        f"{prefix}_high" if prefix else "high": estimate.high,
    }


def _of(study: "DisentanglementStudy", decomposition: str) -> dict[str, Any]:
    return {"method": study.method, "dataset": study.dataset, "decomposition": decomposition}


def _curves(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions:
        for experiment, measured in study.measured.items():
            accuracy = measured.correct.mean(axis=-1)
            parts = measured.decomposed(name)
            means = {part: getattr(parts, part).mean(axis=-1, dtype=float) for part in PARTS}
            rows += [
                {
                    **_of(study, name),
                    "experiment": experiment,
                    "run": r + 1,
                    "seed": study.seeds[r],
                    "condition": condition,
                    "accuracy": float(accuracy[r, c]),
                    **{part: float(values[r, c]) for part, values in means.items()},
                }
                for r in range(study.n_runs)
                for c, condition in enumerate(measured.conditions)
            ]
    return rows


def _has_error(study: "DisentanglementStudy") -> bool:
    return all(name in study.measured for name in EXPERIMENTS[:2])


def _errors(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions if _has_error(study) else ():
        found = study.error(name, level=level)
        rows.append(
            {
                **_of(study, name),
                **ends(found.error),
                "level": level,
                "runs": study.n_runs,
                "pooled": found.pooled.error,
                "floor": found.floor,
                "chance": found.chance,
                "notes": found.notes,
            }
        )
    return rows


def _terms(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions if _has_error(study) else ():
        found = study.error(name, level=level)
        for term, pooled in zip(found.terms, found.pooled.correlations, strict=True):
            rows.append(
                {
                    **_of(study, name),
                    "experiment": term.experiment,
                    "kind": term.estimate,
                    "ideal": term.ideal,
                    **ends(term.correlation, "correlation"),
                    **ends(term.deviation, "deviation"),
                    "level": level,
                    "pooled": float(pooled),
                    "constant_runs": int(term.constant.sum()),
                }
            )
    return rows


def _detection(study: "DisentanglementStudy", level: float) -> Rows:
    rows = []
    for name in study.decompositions if EXPERIMENTS[2] in study.measured else ():
        found = study.detection(name, level=level)
        for kind in KINDS:
            each = [(study.class_names[k], found.of_class(k, kind)) for k in found.classes]
            for left_out, auc in [*each, (None, getattr(found, f"{kind}_mean"))]:  # None: mean over the classes
                rows.append({**_of(study, name), "left_out": left_out, "kind": kind, **ends(auc), "level": level})
    return rows


KEYS = ("method", "dataset", "decomposition")
# name: how its rows are made, and the columns of the table
STUDY_TABLES: Mapping[str, tuple[Callable[["DisentanglementStudy", float], Rows], Sequence[str]]] = MappingProxyType(
    {
        "curves": (_curves, (*KEYS, "experiment", "run", "seed", "condition", "accuracy", *PARTS)),
        "errors": (
            _errors,
            (*KEYS, "estimate", "low", "high", "level", "runs", "pooled", "floor", "chance", "notes"),
        ),
        "terms": (
            _terms,
            (
                *(*KEYS, "experiment", "kind", "ideal"),
                "correlation",
                "correlation_low",
                "correlation_high",
                "deviation",
                "deviation_low",
                "deviation_high",
                "level",
                "pooled",
                "constant_runs",
            ),
        ),
        "detection": (_detection, (*KEYS, "left_out", "kind", "estimate", "low", "high", "level")),
    }
)


def study_rows(study: "DisentanglementStudy", name: str, *, level: float = 0.95) -> Rows:
    """The rows of one finding; see `DisentanglementStudy.rows`.

    Raises
    ------
    InputError
        There is no such finding.
    """
    make = STUDY_TABLES[chosen("name", name, tuple(STUDY_TABLES))][0]
    return make(study, level)


def study_table(study: "DisentanglementStudy", name: str, *, level: float = 0.95) -> "pd.DataFrame":
    """The rows of one finding as a table; see `DisentanglementStudy.table`."""
    return as_table(study_rows(study, name, level=level), STUDY_TABLES[name][1])
