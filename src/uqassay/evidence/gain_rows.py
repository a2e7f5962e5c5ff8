"""Results of a study of the gain as rows of plain values, and as tables."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from uqassay._shown_table import Bar, ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.errors import InputError
from uqassay.evidence.over_runs import Curve, OverRuns
from uqassay.evidence.tables import as_table
from uqassay.wording import ABSENT, level_text, listed

if TYPE_CHECKING:
    import pandas as pd

    from uqassay.evidence.gain_of_run import RunGain
    from uqassay.evidence.gain_result import GainResult
    from uqassay.statistics import Estimate

__all__ = ["GAIN_TABLES", "QUANTITIES", "gain_rows", "gain_shown_table", "gain_table"]

Rows = list[dict[str, Any]]

# attributes of `GainResult` that are numbers over the runs
QUANTITIES = (
    "correlation",
    "error",
    "debiased",
    "calibrated_error",
    "calibrated_debiased",
    "reduction",
    "mean_gain",
    "mean_epistemic",
    "excess",
    "excess_calibrated",
)
BINS = ("epistemic", "gain", "calibrated", "true")
DELAY = ("gained", "random", "above")
KEYS = ("method", "dataset", "score", "loss")


def _of(result: "GainResult") -> dict[str, Any]:
    return {name: getattr(result, name) for name in KEYS}


def _number(found: OverRuns | None, name: str) -> dict[str, Any]:
    """Mean, standard deviation and interval as fields of a row; empty where there is no such number."""
    if found is None:
        return dict.fromkeys((name, f"{name}_sd", f"{name}_low", f"{name}_high"))
    estimate = found.estimate
    return {name: float(found), f"{name}_sd": found.sd, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _scores(result: "GainResult") -> Rows:
    row = {**_of(result), "runs": result.n_runs, "level": result.level, "interval": result.correlation.estimate.method}
    row["folds"] = result.n_folds
    for name in QUANTITIES:
        row |= _number(getattr(result, name), name)
    return [row | {"notes": result.notes}]


def _runs(result: "GainResult") -> Rows:
    return [_run(result, run, r) for r, run in enumerate(result.runs)]


def _run(result: "GainResult", run: "RunGain", r: int) -> dict[str, Any]:
    row = {**_of(result), "run": r + 1, "seed": run.seed, "instances": run.n_instances, "level": result.level}
    for name in QUANTITIES:
        found: OverRuns | None = getattr(result, name)
        row |= _ends(None if found is None else found.per_run[r], name)
    for name, calibration in (("raw", run.raw), ("calibrated", run.calibrated)):
        low, high = (None, None) if calibration is None else calibration.null_band
        row |= {f"{name}_null_low": low, f"{name}_null_high": high}
        row[f"{name}_pvalue"] = None if calibration is None else calibration.pvalue
    return row | {"notes": run.notes}


def _ends(estimate: "Estimate | None", name: str) -> dict[str, Any]:
    if estimate is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: float(estimate), f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _bins(result: "GainResult") -> Rows:
    bins = result.bins
    return [
        {**_of(result), "interval": m + 1, "instances": float(bins.count[:, m].mean()), "level": result.level}
        | _points(bins, BINS, m)
        for m in range(bins.n_bins)
    ]


def _delay(result: "GainResult") -> Rows:
    delay = result.delay
    return [
        {**_of(result), "share": share, "level": result.level} | _points(delay, DELAY, s)
        for s, share in enumerate(delay.shares.tolist())
    ]


def _points(owner: Any, names: Sequence[str], at: int) -> dict[str, Any]:
    """One point of several curves, with its band."""
    row: dict[str, Any] = {}
    for name in names:
        curve: Curve | None = getattr(owner, name)
        for key, part in ((name, "mean"), *((f"{name}_{part}", part) for part in ("sd", "low", "high"))):
            row[key] = None if curve is None else float(getattr(curve, part)[at])
    return row


def _numbers(names: Sequence[str], parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for name in names for key in (name, *(f"{name}_{part}" for part in parts)))


BAND = ("sd", "low", "high")
# name: how its rows are made, and the columns of the table
GAIN_TABLES: Mapping[str, tuple[Callable[["GainResult"], Rows], Sequence[str]]] = MappingProxyType(
    {
        "scores": (_scores, (*KEYS, "runs", "level", "interval", "folds", *_numbers(QUANTITIES, BAND), "notes")),
        "runs": (
            _runs,
            (
                *(*KEYS, "run", "seed", "instances", "level", *_numbers(QUANTITIES, BAND[1:])),
                *(f"{name}_{part}" for name in ("raw", "calibrated") for part in ("null_low", "null_high", "pvalue")),
                "notes",
            ),
        ),
        "bins": (_bins, (*KEYS, "interval", "instances", "level", *_numbers(BINS, BAND))),
        "delay": (_delay, (*KEYS, "share", "level", *_numbers(DELAY, BAND))),
    }
)


def gain_rows(results: Sequence["GainResult"], name: str) -> Rows:
    """The rows of one finding for several results; see `GainStudy.rows`.

    Raises
    ------
    InputError
        There is no such finding.
    """
    if name not in GAIN_TABLES:
        raise InputError(
            "name", f"must be {listed(list(GAIN_TABLES), last='or')}", f"got {name!r}", "choose one", code="choice"
        )
    return [row for result in results for row in GAIN_TABLES[name][0](result)]


def gain_table(results: Sequence["GainResult"], name: str) -> "pd.DataFrame":
    """The rows of one finding as a table; see `GainStudy.table`."""
    return as_table(gain_rows(results, name), GAIN_TABLES[name][1])


def gain_shown_table(results: Sequence["GainResult"]) -> ShownTable:
    """Correlation, calibration errors and gain of several scores, to be read."""
    rows = []
    for one in results:
        found = (one.correlation, one.error, one.calibrated_error, one.mean_gain)
        cells = [ShownCell(ABSENT) if it is None else _cell(it.estimate, 4 if i else 3) for i, it in enumerate(found)]
        rho = one.correlation.estimate
        rows.append(ShownRow((ShownCell(one.score), *cells), bar=Bar(float(rho), rho.low, rho.high)))
    said = (
        f"ρ: correlation of the estimate with the gain. EECE: epistemic calibration error, and after the map. "
        f"{level_text(results[0].level)} intervals. Loss: {results[0].loss}."
    )
    return ShownTable(("score", "ρ", "EECE", "EECE, mapped", "mean gain"), tuple(rows), said)


def _cell(estimate: "Estimate", decimals: int) -> ShownCell:
    return estimate_cell(float(estimate), estimate.low, estimate.high, decimals)
