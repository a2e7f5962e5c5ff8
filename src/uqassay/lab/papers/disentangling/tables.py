"""Tables 1 to 5 of the disentanglement paper for methods trained here, as rows and as text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy import stats

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.evidence import DisentanglementStudy
from uqassay.lab.papers.disentangling.printed import DATASETS, IDEALS, LAYOUTS, PARTS, TABLES, short_name
from uqassay.lab.papers.paper_tables import PrintedCell
from uqassay.lab.papers.reproduction import compared_with_runs, further_runs
from uqassay.metrics import Disentanglement
from uqassay.statistics import mean_estimate
from uqassay.text import ABSENT, interval, listed, number, text_table

__all__ = [
    "TableRow",
    "convention_lines",
    "mean_of_datasets",
    "table_cells",
    "table_lines",
]

# Tables 1 to 5 of the paper for methods trained here, with their averages, beside the printed numbers.
#
# A printed number agrees if it lies where the same quantity of as many further runs as the paper has falls with 95 %.

NAN = float("nan")
LEVEL = 0.95
IN_PAPER = tuple(DATASETS.values())
ABSOLUTE = frozenset(key for key, ideal in IDEALS.items() if ideal == 0)  # averaged over data sets by absolute values
MEASURED = {"table3": "dataset-size", "table4": "label-noise"}
PAPER_RUNS = {"bci": 9}  # subjects; five runs on the other data sets
N_DRAWS = 2000  # of runs, for the range of a pooled correlation


@final
@dataclass(frozen=True, eq=False)
class OurCell:
    """Our value of a cell."""

    #: Mean over the runs and its interval
    value: float
    low: float
    high: float
    per_run: Floats  #: (R,)
    pooled: float = NAN  #: Of the curves averaged over the runs; nan if the table has no curves
    #: The range of `pooled` of as many runs as the paper has, drawn from ours with replacement (95 %)
    pooled_range: tuple[float, float] = (NAN, NAN)


@final
@dataclass(frozen=True, eq=False)
class TableRow:
    """One row of the tables: a method with a decomposition on a data set."""

    dataset: str  #: For the reader
    method: str  #: As the paper writes it
    decomposition: str
    study: DisentanglementStudy
    convention: str = "exact"
    printed_as: str = ""  #: The data set in the paper's tables; "" if it is none of them
    compared: bool = False  #: Whether the printed numbers may be compared with ours

    @property
    def short(self) -> str:
        """The decomposition as the paper abbreviates it."""
        return short_name(self.decomposition)

    @property
    def label(self) -> str:
        """Decomposition and method, as in Table 2."""
        return f"{self.short} – {self.method}"

    @property
    def row_label(self) -> str:
        """Decomposition and method, and the convention unless it is "exact"."""
        return self.label if self.convention == "exact" else f"{self.label}, {self.convention}"

    @cached_property
    def error(self) -> Disentanglement | None:
        """The disentanglement error; None without one of its two experiments."""
        if not {"dataset-size", "label-noise"} <= set(self.study.measured):
            return None
        return self.study.error(self.decomposition, level=LEVEL)

    @cached_property
    def values(self) -> dict[tuple[str, str], OurCell]:
        """Our values by table and column."""
        found: dict[tuple[str, str], OurCell] = {}
        error = self.error
        if error is not None:
            e = error.error
            found["table2", "error"] = OurCell(float(e), e.low, e.high, error.per_run)
            for key, term, pooled in zip(IDEALS, error.terms, error.pooled.correlations, strict=True):
                r = term.correlation
                found[key] = OurCell(float(r), r.low, r.high, term.per_run, pooled, self._pooled_range(*key))
        if "left-out-class" in self.study.measured:
            detection = self.study.detection(self.decomposition, level=LEVEL)
            for part in PARTS:
                mean = getattr(detection, f"{part}_mean")
                found["table5", part] = OurCell(float(mean), mean.low, mean.high, _of_runs(getattr(detection, part)))
        return found

    @property
    def n_paper_runs(self) -> int:
        """Number of runs of the printed numbers."""
        return PAPER_RUNS.get(self.printed_as, 5)

    def _pooled_range(self, table: str, part: str) -> tuple[float, float]:
        """Range of the correlation of curves averaged over as many runs as the paper has, drawn with replacement."""
        if not self.compared:
            return NAN, NAN
        curves = self.study.experiment(MEASURED[table]).curves(self.decomposition)
        accuracy, estimate = (np.asarray(v, dtype=np.float64) for v in (curves.accuracy, getattr(curves, part)))
        runs = np.random.default_rng(0).integers(len(accuracy), size=(N_DRAWS, self.n_paper_runs))
        a, u = (values[runs].mean(axis=1) for values in (accuracy, estimate))  # (draws, C)
        a, u = (values - values.mean(axis=1, keepdims=True) for values in (a, u))
        norm = np.sqrt((a * a).sum(axis=1) * (u * u).sum(axis=1))
        r = -(a * u).sum(axis=1) / np.where(norm > 0, norm, np.inf)  # a constant curve counts as 0
        low, high = np.quantile(r, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)

    @property
    def paper_code_ci95(self) -> float:
        """The ± of Table 2 by the authors' code: two standard deviations over the runs, divided by five."""
        return NAN if self.error is None else 2 * float(self.error.per_run.std()) / 5


def mean_of_datasets(per_run: Sequence[Floats], *, level: float = LEVEL) -> tuple[float, float, float]:
    """Mean of the means of several data sets, with a t interval over the runs (Welch–Satterthwaite).

    Parameters
    ----------
    per_run : sequence of array (R_k,)
        The runs of each data set; the data sets have independent runs.

    Returns
    -------
    tuple of float
        Mean, low and high; without an interval if a data set has one run.

    Notes
    -----
    Coverage of 95 % intervals over four data sets of 5, 5, 5 and 9 runs with unequal variances: 0.954
    (tests/lab/papers/disentangling/test_tables.py).

    Examples
    --------
    >>> [round(end, 3) for end in mean_of_datasets([np.array([0.2, 0.4]), np.array([0.5, 0.5, 0.8])])]
    [0.45, 0.208, 0.692]
    """
    n = len(per_run)
    mean = float(np.mean([values.mean() for values in per_run]))
    if min(len(values) for values in per_run) < 2:
        return mean, NAN, NAN
    parts = np.array([values.var(ddof=1) / len(values) for values in per_run]) / n**2
    if not parts.sum() > 0:
        return mean, mean, mean
    freedom = parts.sum() ** 2 / sum(part**2 / (len(v) - 1) for part, v in zip(parts, per_run, strict=True))
    half = float(stats.t.ppf(0.5 + level / 2, freedom) * math.sqrt(parts.sum()))
    return mean, mean - half, mean + half


# ---- rows ------------------------------------------------------------------------------------------------------------


def table_cells(judged: Sequence[TableRow]) -> list[PrintedCell]:
    """One row for each cell of the five tables, and the averages over data sets.

    Returns
    -------
    list of PrintedCell
        ``table2/<data set>/<method>/<decomposition>``, with ``…/ci95`` for the ± by the authors' formula; ``table3/…`` and
        ``table4/…`` with the estimate at the end: the mean of the correlations of the runs, with ``…/pooled`` for the curves
        averaged over the runs, which is what the paper prints and what is compared; ``table5/…``, and ``table1/…`` for
        CIFAR-10. A cell that is compared has the range of agreement, and a second cell ``…/interval`` our t interval over the
        runs. The average rows have ``average`` in place of the data set. A convention other than "exact" follows the
        decomposition.
    """
    return [cell for table in TABLES for cell in _cells(table, judged)]


def _cells(table: str, judged: Sequence[TableRow]) -> Iterator[PrintedCell]:
    source = "table5" if table == "table1" else table
    for one in judged:
        if table == "table1" and one.printed_as != "cifar-10":
            continue
        for (of_table, column), cell in one.values.items():
            if of_table == source:
                yield from _row(table, one, column, cell)
    if table != "table1":
        for group in _groups(judged):
            yield from _average(table, group)


def _row(table: str, one: TableRow, column: str, cell: OurCell) -> Iterator[PrintedCell]:
    name = _name(table, one, one.dataset, column)
    paper = printed_number(table, one, one.printed_as, column)
    has_curves = not math.isnan(cell.pooled)
    if one.compared and not has_curves:
        yield _compared(name, paper, cell.value, further_runs(cell.per_run, one.n_paper_runs), one)
        yield PrintedCell(f"{name}/interval", NAN, cell.value, cell.low, cell.high, None)
    else:
        yield PrintedCell(name, paper, cell.value, cell.low, cell.high, None)
    if table == "table2":
        ci95 = printed_number(table, one, one.printed_as, "ci95")
        yield PrintedCell(f"{name}/ci95", ci95, one.paper_code_ci95, NAN, NAN, None)
    if has_curves and one.compared:
        yield _compared(f"{name}/pooled", paper, cell.pooled, cell.pooled_range, one)
    elif has_curves:
        yield PrintedCell(f"{name}/pooled", paper, cell.pooled, NAN, NAN, None)


def _compared(name: str, paper: float, ours: float, span: tuple[float, float], one: TableRow) -> PrintedCell:
    runs = len(one.study.seeds)
    return compared_with_runs(name, paper, ours, span, runs=runs, paper_runs=one.n_paper_runs)


def _average(table: str, group: Sequence[TableRow]) -> Iterator[PrintedCell]:
    """The average row over the data sets that the paper has."""
    columns = [key for key in group[0].values if key[0] == table and all(key in one.values for one in group)]
    whole = {one.printed_as for one in group} == set(IN_PAPER) and all(one.compared for one in group)
    note = "" if whole else f"over {listed([one.dataset for one in group])} only"
    for key in columns:
        per_run = [one.values[key].per_run for one in group]
        value, low, high = mean_of_datasets([np.abs(runs) if key in ABSOLUTE else runs for runs in per_run])
        cell = OurCell(value, low, high, np.concatenate(per_run))
        name, paper = _name(table, group[0], "average", key[1]), printed_number(table, group[0], "average", key[1])
        if whole:
            yield PrintedCell.within(name, paper, cell.value, cell.low, cell.high)
        else:
            yield PrintedCell(name, paper, cell.value, cell.low, cell.high, None, note)


def _groups(judged: Sequence[TableRow]) -> list[list[TableRow]]:
    """Rows of several of the paper's data sets that differ in the data set alone."""
    found: dict[tuple[str, str, str], list[TableRow]] = {}
    for one in judged:
        if one.printed_as:
            found.setdefault((one.method, one.decomposition, one.convention), []).append(one)
    return [group for group in found.values() if len(group) > 1]


def _name(table: str, one: TableRow, dataset: str, column: str) -> str:
    convention = [] if one.convention == "exact" else [one.convention]
    end = [] if column == "error" else [column]
    return "/".join([table, dataset, one.method, one.short, *convention, *end])


def printed_number(table: str, one: TableRow, dataset: str, column: str) -> float:
    """The printed number; nan where the paper prints none."""
    end = [] if column == "error" else [column]
    return LAYOUTS[table].printed_number("/".join([table, dataset, one.method, one.short, *end]))


def _of_runs(auc: Floats) -> Floats:
    """Mean ROC-AUC over the classes with test instances, for each run."""
    defined = ~np.isnan(auc)
    return np.where(defined, auc, 0.0).sum(axis=1) / np.maximum(defined.sum(axis=1), 1)


# Tables 1 to 5 of the paper and the differences that conventions make, as text.

EXPERIMENT = {"table3": "size", "table4": "noise"}


def table_lines(judged: Sequence[TableRow]) -> list[str]:
    """The tables of one data set as text: errors, correlations, and the detection of classes left out.

    Parameters
    ----------
    judged : sequence of TableRow
        Of one data set.
    """
    if len({one.dataset for one in judged}) > 1:
        fail("judged", "must be of one data set", "got several", "make a table for each", code="mismatch")
    lines: list[str] = []
    with_error = [one for one in judged if one.error is not None]
    if with_error:
        lines += [*_error_lines(with_error), "", *_correlation_lines(with_error)]
    with_classes = [one for one in judged if ("table5", "epistemic") in one.values]
    if with_classes:
        lines += [*([""] if lines else []), *_detection_lines(with_classes)]
    return lines


def _error_lines(judged: Sequence[TableRow]) -> list[str]:
    first = judged[0].error
    assert first is not None
    lines = [
        f"Disentanglement error (Table 2), 0 is ideal; jitter alone gives {number(first.floor, 2)}, estimates unrelated to "
        f"the accuracy {number(first.chance, 2)}, the total uncertainty given as both {number(first.together, 2)}:"
    ]
    body = []
    for one in judged:
        error = one.error
        assert error is not None
        printed, ci95 = (printed_number("table2", one, one.printed_as, column) for column in ("error", "ci95"))
        shown = ABSENT if math.isnan(printed) else f"{number(printed)} ± {number(ci95)}"
        e = error.error
        body.append(
            (
                one.row_label,
                number(float(e)),
                interval(e.low, e.high, decimals=3),
                number(one.paper_code_ci95),
                number(error.pooled.error),
                shown,
            )
        )
    return [*lines, *text_table(("", "error", "95 %", "± as authors", "pooled", "printed"), body)]


def _correlation_lines(judged: Sequence[TableRow]) -> list[str]:
    lines = [
        "Correlation of confidence and accuracy over the sizes of the training part (Table 3) and over the levels of label "
        "noise (Table 4), and its ideal:"
    ]
    header = ["", *(f"{EXPERIMENT[table]} {part[:3]}. → {ideal:g}" for (table, part), ideal in IDEALS.items())]
    body = []
    for one in judged:
        shown = [[one.row_label], ["  95 %"], ["  pooled"], ["  printed (pooled)"]]
        for key in IDEALS:
            cell, paper = one.values[key], printed_number(key[0], one, one.printed_as, key[1])
            texts = number(cell.value), interval(cell.low, cell.high), number(cell.pooled), number(paper)
            for row, text in zip(shown, texts, strict=True):
                row.append(text)
        body += shown if one.printed_as else shown[:3]
    return [*lines, *text_table(header, body)]


def _detection_lines(judged: Sequence[TableRow]) -> list[str]:
    names = judged[0].study.class_names
    classes = judged[0].study.measured["left-out-class"].conditions
    some = "all classes" if len(classes) == len(names) else listed([names[int(k)] for k in classes])
    lines = [f"ROC-AUC for the class left out (Table 5), mean over {some}:"]
    header = [""]
    for part in PARTS:
        header += [part, "95 %", "printed"]
    body = []
    for one in judged:
        row = [one.row_label]
        for part in PARTS:
            cell, paper = one.values["table5", part], printed_number("table5", one, one.printed_as, part)
            row += [number(cell.value), interval(cell.low, cell.high), number(paper)]
        body.append(row)
    return [*lines, *text_table(header, body)]


def convention_lines(judged: Sequence[TableRow], sentences: Mapping[str, str]) -> list[str]:
    """What each convention changes in the disentanglement error, as differences of the same runs.

    Parameters
    ----------
    judged : sequence of TableRow
        Of one data set, with several conventions.
    sentences : dict of str to str
        What a convention is, by its name.
    """
    base = {one.label: one for one in judged if one.convention == "exact" and one.error is not None}
    body = []
    for one in judged:
        exact = base.get(one.label)
        if one.convention == "exact" or exact is None or exact.error is None or one.error is None:
            continue
        found = mean_estimate(one.error.per_run - exact.error.per_run, level=LEVEL)
        errors = (number(float(e.error.error)) for e in (exact, one) if e.error is not None)
        body.append((one.label, one.convention, *errors, number(float(found)), interval(found.low, found.high)))
    if not body:
        return []
    lines = [f"{name}: {sentence}" for name, sentence in sentences.items()]
    return [*lines, *text_table(("", "convention", "as printed", "with it", "difference", "95 %"), body)]
