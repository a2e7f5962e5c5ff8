"""The credal calibration test on many synthetic data sets, each written to a file when it is finished.

Every random draw is keyed by the seed, the number of the data set, the scenario and the measure. So the results do not depend
on the order of the data sets, the number of processes, or interruptions. Files are found by a digest of the settings and of the
code (`uqassay.bench.cell.code_version`), so results of other code are never returned.
"""

import hashlib
import json
import math
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay._files import whole_file
from uqassay._json import read_json
from uqassay.bench.older_results import older_sentence
from uqassay.bench.source_code import code_version
from uqassay.calibration.credal_hypothesis import credal_calibration_test
from uqassay.calibration.credal_verdict import CredalCalibrationTest
from uqassay.errors import FileFormatError, InputError
from uqassay.experiments.credal_calibration.scenarios import SCENARIOS, CredalSetting, draw_ensemble, draw_truth
from uqassay.metrics.calibration.hosmer_lemeshow import PrepareHosmerLemeshow
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure

__all__ = ["ALPHAS", "MEASURES", "Convention", "ErrorRates", "Null", "Plan", "error_rates", "judge_data_set"]

MEASURES = ("skce-ul", "hosmer-lemeshow", "ece-confidence", "ece-classwise")
ALPHAS = (0.01, *(round(0.05 * i, 2) for i in range(1, 20)), 0.99)
SCHEMA = "uqassay.credal-run/2"
FUNCTION = "uqassay.experiments.credal_calibration.runs:judge_data_set"
OF_CODE = ("schema", "code", "version")  # facts that are not settings; "version" was written in place of "code"
SETTINGS = "settings.json"
Convention = Literal["exact", "paper-code"]
Null = Literal["random", "minimised"]

Progress = Callable[[str], None]
Record = dict[str, Any]


@final
@dataclass(frozen=True)
class Plan:
    """Settings of a simulation.

    Attributes
    ----------
    setting : CredalSetting
    convention : {"exact", "paper-code"}
    null : {"random", "minimised"}
    resample : bool
        Draw instances with replacement under the null hypothesis, as printed in Algorithm 1; never in the authors' code or
        with the minimised null.
    n_draws : int
        D.
    seed : int
    """

    setting: CredalSetting
    convention: Convention = "exact"
    null: Null = "random"
    resample: bool = True
    n_draws: int = 100
    seed: int = 0

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that the results depend on, the code included, except the number of data sets."""
        code = code_version(FUNCTION)
        return {"schema": SCHEMA, "code": code, "alphas": ALPHAS, "measures": MEASURES, **asdict(self)}

    @property
    def digest(self) -> str:
        """Digest of `facts`, sixteen characters."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()[:16]


@final
@dataclass(frozen=True, eq=False)
class ErrorRates:
    """Results of R data sets.

    Attributes
    ----------
    plan : Plan
    pvalues : dict
        (scenario, measure) → array (R,).
    rejected : dict
        (scenario, measure) → bool array (R, levels), one column for each of `ALPHAS`.
    above_truth : dict
        Measure → number of data sets of S1 in which the least value found is above the value at the true combination.
    outside : float
        Share of the instances whose centre p_e lies outside their credal set.
    notes : tuple of str
        Whether the folder has data sets of these settings that other code made and that are not used.
    """

    plan: Plan
    pvalues: dict[tuple[str, str], NDArray[np.float64]]
    rejected: dict[tuple[str, str], NDArray[np.bool_]]
    above_truth: dict[str, int]
    outside: float
    notes: tuple[str, ...] = ()

    @property
    def n_runs(self) -> int:
        """Number of data sets R."""
        return len(next(iter(self.pvalues.values())))

    def errors(self, scenario: str, measure: str) -> NDArray[np.bool_]:
        """Whether each data set and level gave an error, (R, levels): of type I for S1, of type II for S2 and S3."""
        rejected = self.rejected[scenario, measure]
        return rejected if scenario == "S1" else ~rejected


def error_rates(
    plan: Plan,
    n_runs: int,
    *,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> ErrorRates:
    """Run the tests on data sets 0 … R − 1.

    Parameters
    ----------
    plan : Plan
    n_runs : int
        R.
    workers : int
        Number of processes.
    resume : path, optional
        Folder for finished data sets, from which an interrupted run continues. Those that other code made are not used, and
        a note says so.
    progress : callable, optional
        Called with a line of text for each finished data set.

    Returns
    -------
    ErrorRates
        Of all R data sets; an exception in one of them is raised.

    Raises
    ------
    InputError
        No data sets, no workers, or a folder that cannot be made or written to.

    Examples
    --------
    >>> plan = Plan(CredalSetting(n_instances=10, n_members=2, n_classes=3), n_draws=9)
    >>> error_rates(plan, 2).errors("S1", "ece-confidence").shape
    (2, 21)
    """
    for name, value in (("runs", n_runs), ("workers", workers)):
        if isinstance(value, bool) or value != int(value) or value < 1:
            raise InputError(
                name,
                "must be a whole number of at least 1",
                f"got {value}",
                "leave it out for the default",
                code="range",
            )
    say = progress or (lambda step: None)
    kept = None if resume is None else _Kept(Path(resume), plan)
    records: dict[int, Record] = {} if kept is None else kept.read(n_runs)
    for done in range(1, len(records) + 1):
        say(f"data set {done} of {n_runs}: kept")
    missing = [run for run in range(n_runs) if run not in records]
    for record in _judged(plan, missing, workers):
        if kept is not None:
            kept.write(record)
        records[record["run"]] = record
        say(f"data set {len(records)} of {n_runs}")
    rates = _gathered(plan, [records[run] for run in range(n_runs)])
    return rates if kept is None else replace(rates, notes=kept.notes())


def judge_data_set(plan: Plan, run: int) -> Record:
    """Draw one data set, and test it in all three scenarios with all four measures.

    Returns
    -------
    dict
        ``run``; ``outside``, how many of the centres p_e lie outside their credal sets; and for each scenario and measure
        the p-value, the decisions at all levels, and in S1 whether the least value found is above that of the truth.
    """
    ensemble = draw_ensemble(plan.setting, _generator(plan, run))
    record: Record = {"run": run}
    for i, scenario in enumerate(SCENARIOS):
        sample = draw_truth(ensemble, scenario, _generator(plan, run, i), convention=plan.convention)
        if scenario == "S2" and sample.segment is not None:
            record["outside"] = int((~sample.segment.inside).sum())
        record[scenario] = {}
        for j, measure in enumerate(MEASURES):
            with np.errstate(over="ignore"):  # Hosmer-Lemeshow exceeds any float where an event of p = 1e-300 happens
                found = credal_calibration_test(
                    sample.labels,
                    ensemble.members,
                    measure=_measure_of(plan, measure),
                    null=plan.null,
                    n_draws=plan.n_draws,
                    resample=plan.resample,
                    convention=plan.convention,
                    rng=_generator(plan, run, i, j),
                )
            entry: Record = {
                "pvalue": None if math.isnan(found.pvalue) else found.pvalue,
                "rejected": [_decision(found, alpha) for alpha in ALPHAS],
            }
            if scenario == "S1" and plan.convention == "exact":
                truth = _measure_of(plan, measure).prepare(sample.truth).values(sample.labels)
                entry["above_truth"] = int(found.statistic > float(truth) + 1e-9 * max(1.0, abs(float(truth))))
            record[scenario][measure] = entry
    return record


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _measure_of(plan: Plan, name: str) -> CalibrationMeasure:
    """The measure of this name; the paper merges no bins of Hosmer and Lemeshow's statistic."""
    found = calibration_measure(name)
    if name == "hosmer-lemeshow" and plan.convention == "exact":
        return replace(found, prepare=PrepareHosmerLemeshow())
    return found


def _decision(found: CredalCalibrationTest, alpha: float) -> int:
    """1 for a rejection; 0 at a level below the smallest p-value of so few draws, and for an undefined p-value."""
    return int(alpha >= found.smallest_pvalue - 1e-12 and found.reject(alpha))


def _generator(plan: Plan, *place: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=place))


def _judged(plan: Plan, runs: Sequence[int], workers: int) -> Iterator[Record]:
    """Records in the order in which they are finished."""
    if workers == 1 or len(runs) < 2:
        for run in runs:
            yield judge_data_set(plan, run)
        return
    with ProcessPoolExecutor(min(workers, len(runs)), mp_context=multiprocessing.get_context("spawn")) as pool:
        futures: list[Future[Record]] = [pool.submit(judge_data_set, plan, run) for run in runs]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:  # after an interruption, data sets that wait are not started
            pool.shutdown(wait=False, cancel_futures=True)


def _gathered(plan: Plan, records: Sequence[Record]) -> ErrorRates:
    pvalues: dict[tuple[str, str], NDArray[np.float64]] = {}
    rejected: dict[tuple[str, str], NDArray[np.bool_]] = {}
    above: dict[str, int] = {}
    for scenario in SCENARIOS:
        for measure in MEASURES:
            entries = [record[scenario][measure] for record in records]
            pvalues[scenario, measure] = np.array([entry["pvalue"] for entry in entries], dtype=np.float64)
            rejected[scenario, measure] = np.array([entry["rejected"] for entry in entries], dtype=bool)
            if scenario == "S1" and plan.convention == "exact":
                above[measure] = sum(entry["above_truth"] for entry in entries)
    outside = sum(record["outside"] for record in records) / (len(records) * plan.setting.n_instances)
    return ErrorRates(plan, pvalues, rejected, above, outside)


@final
class _Kept:
    """Finished data sets of a plan, one file each in a folder of the plan; files appear whole or not at all."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder / f"credal-{plan.digest}", plan
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(
                "resume",
                "must be a folder",
                f"{folder} is a file or lies below one",
                "choose another one",
                code="unwritable",
            ) from None
        except PermissionError:
            raise InputError(
                "resume",
                "must be a folder that takes files",
                f"{folder} does not",
                "check its permissions",
                code="unwritable",
            ) from None
        try:
            self._write(SETTINGS, plan.facts)
        except OSError as problem:  # such as a symbolic link to itself in its place
            got = f"{SETTINGS} in {folder}: {problem.strerror}"
            raise InputError(
                "resume", "must be a folder that takes files", got, "choose another one", code="unwritable"
            ) from None

    def read(self, n_runs: int) -> dict[int, Record]:
        """The finished data sets among 0 … n_runs − 1; a damaged file counts as missing.

        Raises
        ------
        FileFormatError
            A folder, a pipe or a device has the name of such a file, so it could not be written later.
        """
        found = {}
        for run in range(n_runs):
            try:
                record = read_json(self.folder / _name(run))
            except FileNotFoundError:
                continue
            except FileFormatError as problem:
                if problem.code == "not-a-file":
                    raise problem.replace(parameter="resume") from problem
                continue
            if _complete(record, run, self.plan):
                found[run] = record
        return found

    def notes(self) -> tuple[str, ...]:
        """A sentence on the data sets of the same settings that other code made."""
        here = _without_code(self.plan.facts)
        n = 0
        for path in self.folder.parent.glob(f"credal-*/{SETTINGS}"):
            if path.parent != self.folder and _settings_in(path) == here:
                n += len(list(path.parent.glob("run-*.json")))
        return (older_sentence(n, "data set", self.folder.parent),) if n else ()

    def write(self, record: Record) -> None:
        self._write(_name(record["run"]), record)

    def _write(self, name: str, value: dict[str, Any]) -> None:
        with whole_file(self.folder / name) as stream:
            stream.write(json.dumps(value, allow_nan=False).encode())


def _name(run: int) -> str:
    return f"run-{run:06d}.json"


def _without_code(facts: dict[str, Any]) -> dict[str, Any]:
    """Settings as they are read from a file."""
    settings: dict[str, Any] = json.loads(json.dumps(facts))
    return {name: value for name, value in settings.items() if name not in OF_CODE}


def _settings_in(path: Path) -> dict[str, Any] | None:
    try:
        found = read_json(path)
    except (OSError, FileFormatError):
        return None
    return _without_code(found) if isinstance(found, dict) else None


def _complete(record: Any, run: int, plan: Plan) -> bool:
    """Whether a value read from a file is a record that `judge_data_set` makes."""
    if not isinstance(record, dict) or record.get("run") != run or type(record.get("outside")) is not int:
        return False
    parts = [record.get(scenario) for scenario in SCENARIOS]
    if not all(isinstance(part, dict) and set(MEASURES) <= set(part) for part in parts):
        return False
    counted = ("S1",) if plan.convention == "exact" else ()
    return all(
        _whole_entry(record[scenario][measure], above_truth=scenario in counted)
        for scenario in SCENARIOS
        for measure in MEASURES
    )


def _whole_entry(entry: Any, *, above_truth: bool) -> bool:
    if not isinstance(entry, dict) or not isinstance(rejected := entry.get("rejected"), list):
        return False
    pvalue = entry.get("pvalue", math.inf)
    defined = pvalue is None or (type(pvalue) in (int, float) and 0 <= pvalue <= 1)
    decided = len(rejected) == len(ALPHAS) and all(type(one) is int and one in (0, 1) for one in rejected)
    return defined and decided and (not above_truth or (type(entry.get("above_truth")) is int))
