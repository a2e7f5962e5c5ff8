"""Findings of an assay as rows, rows as tables, and all of them as JSON: one name for each finding."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import lone_surrogates
from uqassay.checks import fail
from uqassay.evidence.answer import answer_of
from uqassay.evidence.baselines import is_held_out
from uqassay.evidence.calibration import adjusted_pvalues
from uqassay.evidence.claims import CLAIM_COLUMNS
from uqassay.evidence.critical import CRITICAL_COLUMNS, critical_rows
from uqassay.evidence.data import ROW_FIELDS, Judged
from uqassay.evidence.findings import FINDING_COLUMNS, MISTAKE_COLUMNS, finding_rows, mistake_rows, subset_rows
from uqassay.evidence.lens import all_claims
from uqassay.evidence.metric_table import METRIC_COLUMNS, metric_rows, table_of_metrics
from uqassay.evidence.order import rank_sets_of
from uqassay.evidence.ranking import (
    VARIANCE_COLUMNS,
    changes_of_ranking,
    ranked_at,
    ranking_rows,
    table_of_ranking,
    variance_rows,
    winners_of,
)
from uqassay.evidence.scale import COVERAGE_CURVE_COLUMNS, SCALE_COLUMNS, coverage_curve_rows, scale_check_of
from uqassay.evidence.sentences import headline, verdict
from uqassay.evidence.sets import COVERAGE_COLUMNS, SET_ROW_COLUMNS, VOTE_COLUMNS, coverage_rows, set_rows, vote_rows
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoffs
from uqassay.results import as_table, encodable, plain
from uqassay.text import named

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["TABLES", "ranking_json", "rows_of", "score_table", "table_of", "to_json"]


Rows = list[dict[str, Any]]


def _scores(assay: Judged) -> Rows:
    ids = np.arange(assay.n_instances) if assay.ids is None else _encodable_texts(assay.ids)
    every = dict.fromkeys(key for m in assay.models for key in m.columns if not is_held_out(key))
    return [
        {"model": m.name, "run": r + 1, "instance": ids[i].item(), "y_true": int(assay.classes[i])}
        | ({} if assay.weights is None else {"sample_weight": assay.weights[i].item()})
        | {key: m.columns[key][r, i].item() if key in m.columns else np.nan for key in every}
        | {"label": int(m.columns["label"][r, i])}
        for m in assay.models
        for r in range(m.n_runs)
        for i in range(assay.n_instances)
    ]


def _breakpoints(assay: Judged) -> Rows:
    return [{"low": low, "high": high, "models": names} for low, high, names in winners_of(assay)]


def _changes(assay: Judged) -> Rows:
    return [{"at": at, "below": below, "above": above} for at, below, above in changes_of_ranking(assay)]


def _claims(assay: Judged) -> Rows:
    return [claim.to_dict() for claim in all_claims(assay)]


def _calibration(assay: Judged) -> Rows:
    adjusted = adjusted_pvalues(assay.calibration).tolist()
    return [test.row() | {"pvalue_adjusted": p} for test, p in zip(assay.calibration, adjusted, strict=True)]


def _scale_check(assay: Judged, *, tradeoff: float = DEFAULT_TRADEOFF) -> Rows:
    return scale_check_of(assay, tradeoff).rows()


SUBSET_COLUMNS = ("subset_by", "subset", *FINDING_COLUMNS)
CALIBRATION_COLUMNS = (*ROW_FIELDS[: ROW_FIELDS.index("pvalue") + 1], "pvalue_adjusted")
CALIBRATION_COLUMNS += tuple(name for name in ROW_FIELDS if name not in CALIBRATION_COLUMNS)

# name: how its rows are made, and the columns of the table (empty: those of the rows)
TABLES: Mapping[str, tuple[Callable[..., Rows], Sequence[str]]] = MappingProxyType(
    {
        "findings": (finding_rows, FINDING_COLUMNS),
        "metrics": (metric_rows, METRIC_COLUMNS),
        "scores": (_scores, ()),
        "ranking": (ranking_rows, ()),
        "breakpoints": (_breakpoints, ("low", "high", "models")),
        "ranking-changes": (_changes, ("at", "below", "above")),
        "claims": (_claims, CLAIM_COLUMNS),
        "calibration": (_calibration, CALIBRATION_COLUMNS),
        "mistakes": (mistake_rows, MISTAKE_COLUMNS),
        "critical": (critical_rows, CRITICAL_COLUMNS),
        "subsets": (subset_rows, SUBSET_COLUMNS),
        "scale-check": (_scale_check, SCALE_COLUMNS),
        "variance": (variance_rows, VARIANCE_COLUMNS),
        "sets": (set_rows, SET_ROW_COLUMNS),
        "set-coverage": (coverage_rows, COVERAGE_COLUMNS),
        "coverage-curve": (coverage_curve_rows, COVERAGE_CURVE_COLUMNS),
        "votes": (vote_rows, VOTE_COLUMNS),
    }
)


def rows_of(assay: Judged, name: str, **options: Any) -> Rows:
    """The rows of one finding; see `Assay.rows`."""
    if name not in TABLES:
        fail("name", f"must be one of {', '.join(TABLES)}", f"got {name!r}", "choose one of them", code="choice")
    make = TABLES[name][0]
    known = [option for option in signature(make).parameters if option != "assay"]
    unknown = [option for option in options if option not in known]
    if unknown:
        fail(
            unknown[0],
            f"is not an option of {name!r}",
            f"its options are {', '.join(known) or 'none'}",
            "leave it out",
            code="conflict",
        )
    if name == "subsets" and "by" not in options:
        fail("by", "is needed", "got none", 'write by="correct", by="class" or the name of a subgroup', code="missing")
    return make(assay, **options)


def table_of(assay: Judged, name: str, **options: Any) -> "pd.DataFrame":
    """The rows of one finding as a table; see `Assay.table`."""
    if name == "scores" and not options:
        return score_table(assay)
    rows = rows_of(assay, name, **options)
    columns = TABLES[name][1]
    if name == "ranking":
        return table_of_ranking(rows)
    if name == "metrics":
        return table_of_metrics(rows)
    if name == "claims":
        rows = [row | {key: ", ".join(map(named, row[key])) for key in ("models", "others")} for row in rows]
    if name == "breakpoints":
        rows = [row | {"models": ", ".join(map(named, row["models"]))} for row in rows]
    return as_table(rows, columns)


def score_table(assay: Judged) -> "pd.DataFrame":
    """One row per model, run and instance, built from columns."""
    import pandas

    ids = np.arange(assay.n_instances) if assay.ids is None else _encodable_texts(assay.ids)
    weights = {} if assay.weights is None else {"sample_weight": assay.weights}
    frames = []
    for m in assay.models:
        for r in range(m.n_runs):
            columns = {key: value[r] for key, value in m.columns.items() if not is_held_out(key)}
            columns["label"] = columns["label"].astype(np.int64)
            frames.append(
                pandas.DataFrame(
                    {"model": encodable(m.name), "run": r + 1, "instance": ids, "y_true": assay.classes}
                    | weights
                    | columns
                )
            )
    return pandas.concat(frames, ignore_index=True)


def _encodable_texts(values: NDArray[Any]) -> NDArray[Any]:
    return np.array([encodable(text) for text in values.tolist()]) if lone_surrogates(values).any() else values


# An assay as plain JSON values.


def to_json(assay: Judged, tradeoffs: Sequence[float] | None = None) -> dict[str, Any]:
    """Findings, rankings at each λ, breakpoints, settings; everything but the scores of single instances."""
    lambdas = assay.tradeoffs if tradeoffs is None else check_tradeoffs(tradeoffs)
    return plain(
        {
            "schema": "uqassay.assay/5",  # of this JSON; that of folders is `Assay._schema`
            "headline": headline(answer_of(assay)),
            "verdict": verdict(assay),
            "claims": rows_of(assay, "claims"),
            "n_instances": assay.n_instances,
            "n_effective": assay.n_effective,
            "class_names": assay.class_names,
            "models": [
                {
                    "model": m.name,
                    "kind": m.kind,
                    "baseline": m.baseline,
                    "runs": m.n_runs,
                    "points": m.n_points,
                    "floored": m.floored,
                    "floor": m.floor,
                    "sha256": m.fingerprint,
                }
                for m in assay.models
            ],
            "metrics": metric_rows(assay),
            "findings": rows_of(assay, "findings"),
            "critical": rows_of(assay, "critical"),
            "set_coverage": rows_of(assay, "set-coverage"),
            "calibration": _calibration_json(assay),
            **ranking_json(assay, lambdas),
            "scale_check": [scale_check_of(assay, t).to_dict() for t in lambdas],
            "settings": asdict(assay.settings),
            "warnings": assay.warnings,
            "provenance": assay.provenance,
        }
    )


def ranking_json(assay: Judged, tradeoffs: Sequence[float]) -> dict[str, Any]:
    """Rankings and rank sets at each λ and the breakpoints, which `uqassay rank --json` prints behind the metrics."""
    rankings = [{"tradeoff": float(t), "ranking": [r.to_dict() for r in ranked_at(assay, t)]} for t in tradeoffs]
    breakpoints = [{"low": low, "high": high, "models": names} for low, high, names in winners_of(assay)]
    ranks = [{"tradeoff": float(t), **rank_sets_of(assay, t, "unified", None).to_dict()} for t in tradeoffs]
    return plain({"tradeoff": rankings, "rank_sets": ranks, "breakpoints": breakpoints})


def _calibration_json(assay: Judged) -> list[dict[str, Any]]:
    """The calibration tests with their weights, members and reliability diagrams; the null draws are kept by `save`."""
    return [
        row
        | {name: getattr(test, name) for name in ("null_kind", "weights", "member_values", "member_pvalues")}
        | {name: getattr(test, name) and vars(getattr(test, name)) for name in ("before", "after")}
        for row, test in zip(rows_of(assay, "calibration"), assay.calibration, strict=True)
    ]
