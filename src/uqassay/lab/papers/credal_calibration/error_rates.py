"""Error rates of the credal calibration test on synthetic data: the simulation behind the paper's four figures."""

import hashlib
import json
import math
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray
from scipy import special

import uqassay
from uqassay.calibration import CredalCalibrationTest, credal_calibration_test
from uqassay.checks import fail, whole
from uqassay.errors import FileFormatError, InputError
from uqassay.files import whole_file
from uqassay.lab.bench.store import older_sentence
from uqassay.lab.papers.credal_calibration.scenarios import (
    SCENARIOS,
    CredalSetting,
    draw_ensemble,
    draw_truth,
)
from uqassay.lab.papers.options import Progress
from uqassay.lab.papers.paper_tables import PrintedCell
from uqassay.metrics import CalibrationMeasure, calibration_measure
from uqassay.records import packed, unpacked
from uqassay.results import read_json
from uqassay.statistics import Estimate, proportion_estimate
from uqassay.text import count, listed, percent, text_table

__all__ = [
    "ALPHAS",
    "MEASURES",
    "NOTES",
    "SHOWN",
    "DataSetTests",
    "ErrorRates",
    "Plan",
    "above_level",
    "beside_references",
    "error_cells",
    "error_rates",
    "judge_data_set",
    "rates_of",
    "read_rates",
    "reference",
]

# The credal calibration test on many synthetic data sets, each written to a file when it is finished.
#
# Every random draw is keyed by the seed, the number of the data set, the scenario and the measure. So the results do
# not depend on the order of the data sets, the number of processes, or interruptions. Files are found by a digest of
# the settings and of the version of uqassay, so results of another version are never returned.

MEASURES = ("skce-ul", "hosmer-lemeshow", "ece-confidence", "ece-classwise")
ALPHAS = (0.01, *(round(0.05 * i, 2) for i in range(1, 20)), 0.99)
SCHEMA = "uqassay.credal-run/3"
OF_CODE = ("schema", "code", "version")  # facts that are not settings; older versions wrote "code"
SETTINGS = "settings.json"
Convention = Literal["exact", "paper-code"]
Null = Literal["random", "minimised"]


@final
@dataclass(frozen=True)
class Plan:
    """Settings of a simulation."""

    setting: CredalSetting
    convention: Convention = "exact"  #: {"exact", "paper-code"}
    null: Null = "random"  #: {"random", "minimised"}
    #: Draw instances with replacement under the null hypothesis, as printed in Algorithm 1; never in the authors' code or
    #: with the minimised null
    resample: bool = True
    n_draws: int = 100  #: D
    seed: int = 0

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that the results depend on, the version of uqassay included, except the number of data sets."""
        version = uqassay.__version__
        return {"schema": SCHEMA, "version": version, "alphas": ALPHAS, "measures": MEASURES, **asdict(self)}

    @property
    def digest(self) -> str:
        """Digest of `facts`, sixteen characters."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()[:16]


@final
@dataclass(frozen=True, eq=False)
class ErrorRates:
    """Results of R data sets."""

    plan: Plan
    pvalues: dict[tuple[str, str], NDArray[np.float64]]  #: (scenario, measure) → array (R,)
    #: (scenario, measure) → bool array (R, levels), one column for each of `ALPHAS`
    rejected: dict[tuple[str, str], NDArray[np.bool_]]
    #: Measure → number of data sets of S1 in which the least value found is above the value at the true combination
    above_truth: dict[str, int]
    outside: float  #: Share of the instances whose centre p_e lies outside their credal set
    #: Whether the folder has data sets of these settings that another version made and that are not used
    notes: tuple[str, ...] = ()

    @property
    def n_runs(self) -> int:
        """Number of data sets R."""
        return len(next(iter(self.pvalues.values())))

    def errors(self, scenario: str, measure: str) -> NDArray[np.bool_]:
        """Whether each data set and level gave an error, (R, levels): of type I for S1, of type II for S2 and S3."""
        rejected = self.rejected[scenario, measure]
        return rejected if scenario == "S1" else ~rejected


@final
@dataclass(frozen=True)
class Tested:
    """One test of a data set."""

    pvalue: float  #: nan where it is undefined
    rejected: tuple[bool, ...]  #: At each of `ALPHAS`
    above_truth: bool | None = (
        None  #: In S1, exact: whether the least value found is above that of the true combination
    )

    def _check_read(self) -> None:
        if not (math.isnan(self.pvalue) or 0 <= self.pvalue <= 1) or len(self.rejected) != len(ALPHAS):
            fail("test", "must have a p-value and a decision at each level", "", "", code="range")


@final
@dataclass(frozen=True)
class DataSetTests:
    """The tests of one data set."""

    run: int
    outside: int  #: How many of the centres p_e lie outside their credal sets
    tests: Mapping[str, Mapping[str, Tested]]  #: By scenario and measure

    def _check_read(self) -> None:
        for scenario, measure in product(SCENARIOS, MEASURES):
            if measure not in self.tests.get(scenario, {}):
                fail("tests", f"must have {measure} in {scenario}", "", "", code="missing")


def error_rates(
    plan: Plan,
    n_runs: int,
    *,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> ErrorRates:
    """Run the tests on data sets 0 … R − 1.

    Parameters
    ----------
    n_runs : int
        R.
    workers : int
        Number of processes.
    resume : path, optional
        Folder for finished data sets, from which an interrupted run continues. Those that another version made are not used,
        and a note says so.
    progress : callable, optional
        Called with a line of text for each finished data set.

    Returns
    -------
    ErrorRates
        Of all R data sets; an exception in one of them is raised.

    Examples
    --------
    >>> plan = Plan(CredalSetting(n_instances=10, n_members=2, n_classes=3), n_draws=9)
    >>> error_rates(plan, 2).errors("S1", "ece-confidence").shape
    (2, 21)
    """
    for name, value in (("runs", n_runs), ("workers", workers)):
        whole(value, name, "leave it out for the default", least=1)
    say = progress or (lambda step: None)
    kept = None if resume is None else _Kept(Path(resume), plan)
    records: dict[int, DataSetTests] = {} if kept is None else kept.read(n_runs)
    for done in range(1, len(records) + 1):
        say(f"data set {done} of {n_runs}: kept")
    missing = [run for run in range(n_runs) if run not in records]
    for record in _judged(plan, missing, workers):
        if kept is not None:
            kept.write(record)
        records[record.run] = record
        say(f"data set {len(records)} of {n_runs}")
    rates = _gathered(plan, [records[run] for run in range(n_runs)])
    return rates if kept is None else replace(rates, notes=kept.notes())


def judge_data_set(plan: Plan, run: int) -> DataSetTests:
    """Draw one data set, and test it in all three scenarios with all four measures."""
    ensemble = draw_ensemble(plan.setting, _generator(plan, run))
    outside = 0
    tests: dict[str, dict[str, Tested]] = {}
    for i, scenario in enumerate(SCENARIOS):
        sample = draw_truth(ensemble, scenario, _generator(plan, run, i), convention=plan.convention)
        if scenario == "S2" and sample.segment is not None:
            outside = int((~sample.segment.inside).sum())
        tests[scenario] = {}
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
            above = None
            if scenario == "S1" and plan.convention == "exact":
                truth = float(_measure_of(plan, measure).prepare(sample.truth).values(sample.labels))
                above = bool(found.statistic > truth + 1e-9 * max(1.0, abs(truth)))
            decisions = tuple(_decision(found, alpha) for alpha in ALPHAS)
            tests[scenario][measure] = Tested(float(found.pvalue), decisions, above)
    return DataSetTests(run, outside, tests)


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _measure_of(plan: Plan, name: str) -> CalibrationMeasure:
    """The measure of this name; the paper merges no bins of Hosmer and Lemeshow's statistic."""
    found = calibration_measure(name)
    if name == "hosmer-lemeshow" and plan.convention == "exact":
        return replace(found, prepare=replace(found.prepare, least_expected=0.0))  # type: ignore[type-var]
    return found


def _decision(found: CredalCalibrationTest, alpha: float) -> bool:
    """Whether it rejects; never at a level below the smallest p-value of so few draws, or with an undefined p-value."""
    return bool(alpha >= found.smallest_pvalue - 1e-12 and found.reject(alpha))


def _generator(plan: Plan, *place: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=place))


def _judged(plan: Plan, runs: Sequence[int], workers: int) -> Iterator[DataSetTests]:
    """Records in the order in which they are finished."""
    if workers == 1 or len(runs) < 2:
        for run in runs:
            yield judge_data_set(plan, run)
        return
    with ProcessPoolExecutor(min(workers, len(runs)), mp_context=multiprocessing.get_context("spawn")) as pool:
        futures: list[Future[DataSetTests]] = [pool.submit(judge_data_set, plan, run) for run in runs]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:  # after an interruption, data sets that wait are not started
            pool.shutdown(wait=False, cancel_futures=True)


def _gathered(plan: Plan, records: Sequence[DataSetTests]) -> ErrorRates:
    tests = {(s, m): [record.tests[s][m] for record in records] for s, m in product(SCENARIOS, MEASURES)}
    counted = MEASURES if plan.convention == "exact" else ()
    return ErrorRates(
        plan,
        {key: np.array([one.pvalue for one in found]) for key, found in tests.items()},
        {key: np.array([one.rejected for one in found], dtype=bool) for key, found in tests.items()},
        {measure: sum(map(bool, (one.above_truth for one in tests["S1", measure]))) for measure in counted},
        sum(record.outside for record in records) / (len(records) * plan.setting.n_instances),
    )


@final
class _Kept:
    """Finished data sets of a plan, one file each in a folder of the plan; files appear whole or not at all."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder / f"credal-{plan.digest}", plan
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            got = f"{folder} is a file or lies below one"
            raise InputError("resume", "must be a folder", got, "choose another one", code="unwritable") from None
        except PermissionError:
            rule = "must be a folder that takes files"
            raise InputError("resume", rule, f"{folder} does not", "check its permissions", code="unwritable") from None
        try:
            self._write(SETTINGS, plan.facts)
        except OSError as problem:  # such as a symbolic link to itself in its place
            got = f"{SETTINGS} in {folder}: {problem.strerror}"
            raise InputError(
                "resume", "must be a folder that takes files", got, "choose another one", code="unwritable"
            ) from None

    def read(self, n_runs: int) -> dict[int, DataSetTests]:
        """The finished data sets among 0 … n_runs − 1; a damaged file counts as missing."""
        found = {}
        for run in range(n_runs):
            try:
                record = unpacked(DataSetTests, read_json(self.folder / _name(run)))
            except FileNotFoundError:
                continue
            except (FileFormatError, InputError) as problem:
                if problem.code == "not-a-file":
                    raise problem.replace(parameter="resume") from problem
                continue
            if record.run == run:
                found[run] = record
        return found

    def notes(self) -> tuple[str, ...]:
        """A sentence on the data sets of the same settings that another version made."""
        here = _without_code(self.plan.facts)
        n = 0
        for path in self.folder.parent.glob(f"credal-*/{SETTINGS}"):
            if path.parent != self.folder and _settings_in(path) == here:
                n += len(list(path.parent.glob("run-*.json")))
        return (older_sentence(n, "data set", self.folder.parent),) if n else ()

    def write(self, record: DataSetTests) -> None:
        self._write(_name(record.run), packed(record)[0])

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


# Error rates of the credal calibration test as cells and text, with reference values.

SHOWN = (0.05, 0.1, 0.2, 0.5)
SURE = 0.0005
KINDS = {"S1": "type I", "S2": "type II", "S3": "type II"}

# Error rates at SHOWN of another implementation of Algorithm 1 as it is printed (random null, instances resampled, a batched
# search for the minimum) in the setting of Figure 1; the paper prints curves only.
PRINTED_ALGORITHM = {
    ("S1", "ece-confidence"): (0.0, 0.008, 0.023, 0.118),
    ("S1", "ece-classwise"): (0.04, 0.09, 0.15, 0.43),
    ("S1", "hosmer-lemeshow"): (0.013, 0.027, 0.083, 0.328),
    ("S1", "skce-ul"): (0.033, 0.073, 0.17, 0.443),
    ("S2", "ece-confidence"): (0.30, 0.22, 0.12, 0.04),
    ("S2", "ece-classwise"): (0.98, 0.95, 0.87, 0.49),
    ("S2", "hosmer-lemeshow"): (0.995, 0.99, 0.96, 0.89),
    ("S2", "skce-ul"): (0.99, 0.96, 0.88, 0.51),
    ("S3", "ece-confidence"): (0.0, 0.0, 0.0, 0.0),
    ("S3", "ece-classwise"): (0.0, 0.0, 0.0, 0.0),
    ("S3", "hosmer-lemeshow"): (0.0, 0.0, 0.0, 0.0),
    ("S3", "skce-ul"): (0.81, 0.73, 0.65, 0.46),
}
# The same with |t| and a permutation, as the authors' code has them.
AUTHORS_CODE = {("S1", "skce-ul"): (0.128, 0.205, 0.412, 0.978)}

NOTES = (
    "the paper draws curves and prints no error rates; the references are those of another implementation of Algorithm 1 as "
    "printed, in the setting of Figure 1, and, for the authors' code, with |t| and a permutation",
    "the paper says that the type I error of SKCE_ul is not bounded by α. This does not follow from Algorithm 1: the least g "
    "over λ is at most g(λ0), so that the type I error averaged over λ0 ~ Dir(1, …, 1) cannot exceed α for any measure g where "
    "the instances stay as they are. It follows from the authors' code, which compares |t|: SKCE_ul has mean 0 at λ0, so that "
    "its minimum over λ is mostly negative, and |t| is then greatest where the fit is best",
    "at a fixed λ0 the random null gives no such bound: a vertex can be true and be rejected nearly always. The minimised "
    "null (labels from a combination that they make likely, and the minimum taken again) is the one for verdicts",
    "line 2 of Algorithm 1 draws instances with replacement; the authors' code permutes them, which changes nothing but the "
    "pairs of SKCE_ul. With replacement, copies of an instance change the deviations of sparse bins; classwise ECE then "
    "rejects even the true combination too often, and the more so the more classes there are (--no-resample leaves them be)",
    "for p_e outside the credal set the paper gives no boundary; the segment starts from the members' mean there, which lies "
    "inside. The authors' code takes the corner itself, and with it labels that are certain",
    "the authors' code minimises by COBYLA from equal weights, which stops in poor minima of the measures with bins, so that "
    "it rejects more; the search here compares hundreds of combinations. It also measures classwise ECE, Hosmer-Lemeshow and "
    "SKCE_ul by other bins and another kernel",
)


def reference(rates: ErrorRates, scenario: str, measure: str, alpha: float) -> float:
    """The reference value in this setting, or nan."""
    plan = rates.plan
    known = plan.setting == CredalSetting() and plan.null == "random" and alpha in SHOWN
    table = AUTHORS_CODE if plan.convention == "paper-code" else PRINTED_ALGORITHM if plan.resample else {}
    values = table.get((scenario, measure))
    return values[SHOWN.index(alpha)] if known and values else float("nan")


def rates_of(rates: ErrorRates, scenario: str, measure: str) -> list[Estimate]:
    """Error rate at each of `ALPHAS` with its 95 % interval (Wilson)."""
    columns = rates.errors(scenario, measure).T.astype(np.float64)
    return [proportion_estimate(column) for column in columns]


def error_cells(figure: str, rates: ErrorRates) -> list[PrintedCell]:
    """One cell for each scenario, measure and level: our rate with its interval; the paper prints none."""
    plan = rates.plan
    cells = []
    for scenario in SCENARIOS:
        for measure in MEASURES:
            for alpha, rate in zip(ALPHAS, rates_of(rates, scenario, measure), strict=True):
                name = f"figure{figure}/{plan.convention}/{scenario}/{measure}/alpha={alpha:g}"
                known = reference(rates, scenario, measure, alpha)
                note = "" if np.isnan(known) else f"reference {known:g}, {_place(known, rate)} our interval"
                cells.append(PrintedCell.within(name, float("nan"), float(rate), rate.low, rate.high, note=note))
    return cells


def read_rates(figure: str, runs: Sequence[ErrorRates]) -> list[str]:
    """Tables and comparisons as lines of text."""
    lines: list[str] = []
    for rates in runs:
        lines += [_headline(figure, rates), *_table(rates), *_about(rates), ""]
    return lines[:-1]


def beside_references(rates: ErrorRates, levels: Sequence[float] = SHOWN) -> tuple[int, int]:
    """How many references lie inside our intervals, and how many there are.

    Parameters
    ----------
    levels : sequence of float
        Of `ALPHAS`.
    """
    inside = [
        _place(known, rates_of(rates, scenario, measure)[ALPHAS.index(level)]) == "inside"
        for scenario in SCENARIOS
        for measure in MEASURES
        for level in levels
        if not np.isnan(known := reference(rates, scenario, measure, level))
    ]
    return sum(inside), len(inside)


def above_level(rates: ErrorRates) -> dict[str, float]:
    """Measures that reject more often than the level in S1 by more than chance, with the level where it is clearest.

    A binomial tail below .0005 counts, because there are 84 of them.
    """
    found = {}
    for measure in MEASURES:
        errors = rates.errors("S1", measure).sum(axis=0)
        tails = special.bdtrc(errors - 1.0, rates.n_runs, np.array(ALPHAS))  # P(as many errors or more)
        if tails.min() < SURE:
            found[measure] = ALPHAS[int(tails.argmin())]
    return found


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _headline(figure: str, rates: ErrorRates) -> str:
    plan, setting = rates.plan, rates.plan.setting
    convention = "authors' code" if plan.convention == "paper-code" else "exact"
    resampled = "resampled" if plan.resample else "as they are"
    if plan.convention == "paper-code":
        resampled = "permuted"
    few = "; so few data sets only check that the code runs, they are no evidence" if rates.n_runs < 50 else ""
    return (
        f"Figure {figure}, {convention}: R = {count(rates.n_runs)} data sets of N = {setting.n_instances}, "
        f"M = {setting.n_members}, K = {setting.n_classes}, u = {setting.spread:g}; D = {plan.n_draws}, "
        f"{plan.null} null, instances {resampled}{few}. "
        "Error rates with 95 % intervals (Wilson), then the reference where there is one:"
    )


def _table(rates: ErrorRates) -> list[str]:
    body = []
    for scenario in SCENARIOS:
        for measure in MEASURES:
            by_alpha = dict(zip(ALPHAS, rates_of(rates, scenario, measure), strict=True))
            row = [f"{scenario}, {KINDS[scenario]}, {measure}"]
            for alpha in SHOWN:
                known = reference(rates, scenario, measure, alpha)
                row += [_shown(by_alpha[alpha]), "" if np.isnan(known) else _share(known)]
            body.append(row)
    header = ["scenario, error, measure"]
    for alpha in SHOWN:
        header += [f"α = {alpha:g}", "ref."]
    filled = [i for i in range(len(header)) if i % 2 == 0 or i == 0 or any(row[i] for row in body)]
    filled = sorted({*filled, *range(1, len(header), 2)})
    return text_table([header[i] for i in filled], [[row[i] for i in filled] for row in body])


def _about(rates: ErrorRates) -> list[str]:
    lines = [_against_level(rates)]
    inside, known = beside_references(rates)
    if known:
        lines.append(
            f"{inside} of {known} references lie inside our 95 % intervals (the references vary by chance as well)."
        )
    if rates.plan.convention == "exact" and rates.plan.null == "random":
        above = ", ".join(f"{measure} {n}" for measure, n in rates.above_truth.items())
        lines.append(f"Data sets of S1 where the least g found was above g at the true λ0: {above}.")
    undefined = sum(int(np.isnan(p).sum()) for p in rates.pvalues.values())
    if undefined:
        lines.append(f"Tests without a p-value, which reject nothing: {count(undefined)}.")
    share = f"p_e lies outside its credal set, by more than 1e-9, in {percent(rates.outside)} of the instances"
    stands = (
        "there the truth is the corner itself" if rates.plan.convention == "paper-code" else "there the mean stands in"
    )
    return [*lines, f"{share}; {stands}."]


def _against_level(rates: ErrorRates) -> str:
    worst = [
        f"{measure} (most clearly at α = {level:g}: {_shown(rates_of(rates, 'S1', measure)[ALPHAS.index(level)])})"
        for measure, level in above_level(rates).items()
    ]
    if not worst:
        return f"In S1 no measure exceeds α by more than chance at any of the {len(ALPHAS)} levels."
    return f"In S1 these exceed α by more than chance: {listed(worst)}."


def _place(value: float, rate: Estimate) -> str:
    return "inside" if rate.low - 5e-4 <= value <= rate.high + 5e-4 else "outside"


def _shown(rate: Estimate) -> str:
    if np.isnan(rate.low):
        return _share(float(rate))
    return f"{_share(float(rate))} [{_share(rate.low)}, {_share(rate.high)}]"


def _share(value: float) -> str:
    """Three decimals without the leading zero."""
    text = f"{value:.3f}"
    return text.removeprefix("0") if value < 0.9995 else "1"
