"""Tables 1, 2, 7 and 8 of paper 000 for predictors trained here: both conventions, with the printed rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from uqassay.lab.papers.printed_cells import PrintedCell, printed_table
from uqassay.text import ABSENT, listed, number, percent, text_table

if TYPE_CHECKING:
    from uqassay.evidence import Assay

__all__ = [
    "LINE",
    "PARTS",
    "TRADEOFFS",
    "PrintedData",
    "RowPlace",
    "Value",
    "grouped_orders",
    "interval_text",
    "means_by_part",
    "printed",
    "printed_beside",
    "printed_rows",
    "table_cells",
    "table_lines",
    "three",
]

TRADEOFFS = tuple(round(0.1 * i, 1) for i in range(1, 11))
SAME = {"cifar-10": "CIFAR-10", "cifar-10h": "CIFAR-10", "cifar-100": "CIFAR-100", "mnist": "MNIST"}  # the paper's own
RANKINGS = {
    "CIFAR-10": ("Table 2", "unified_table2_cifar10_ranking"),
    "MNIST": ("Table 9", "unified_table9_mnist_ranking"),
    "CIFAR-100": ("Table 10", "unified_table10_cifar100_ranking"),
}
OF_CIFAR_10 = {
    "table4": "unified_table4_vertices_4class",
    "table5": "unified_table5_cifar10_kl_vs_js",
    "table6": "unified_table6_cifar10_ns_vs_cu",
}
PARTS = {"correct": "correct", "wrong": "incorrect"}
QUANTITIES = {"kl": "KL", "ns": "NS", "e": "E"}
METRICS = {
    "accuracy": "accuracy_percent",
    "ece": "ece",
    "kl": "kl",
    "js": "js",
    "js-distance": "js",
    "nonspecificity": "ns",
    "unified": "e",
}
OF_ACCURACY = {"accuracy", "ece"}
LEAST = 1e-9  # smaller values are rounding error
LINE = {"exact": "exact", "paper": "paper's convention"}


class Value(NamedTuple):
    """A mean with its interval; the ends are nan without an interval."""

    mean: float
    low: float
    high: float


class PrintedData(NamedTuple):
    """The printed data set that is most similar to ours; its values are in the rows, and the text shows others too."""

    name: str = "MNIST"
    relation: str = "another data set"  #: Of our data to it
    compared: bool = False  #: Whether ours are to agree with its values, in the paper's convention
    differences: str = ""  #: What is not as printed: the reason of cells that disagree


Means = dict[tuple[Any, ...], Value]


def printed_beside(dataset: str, *, given: bool = False, compared: bool = False, differences: str = "") -> PrintedData:
    """The printed data set for ours, MNIST for all that the paper does not have.

    Parameters
    ----------
    dataset : str
        As in `uqassay.lab.datasets.load_dataset`.
    given : bool
        Whether files of the user stand in for the data set's own.
    compared, differences
        As in `PrintedData`; only the paper's own data are compared.
    """
    if dataset not in SAME:
        return PrintedData()
    relation = "whose place other files take here" if given else "the same data set, trained otherwise"
    return PrintedData(SAME[dataset], relation, compared and not given, differences)


# ---- rows ------------------------------------------------------------------------------------------------------------


def table_cells(
    dataset: str, assays: "Mapping[str, Assay]", ranked: "Mapping[str, Assay]", beside: PrintedData
) -> list[PrintedCell]:
    """One row for each cell of the four tables and each convention.

    Parameters
    ----------
    assays, ranked : dict of str to Assay
        By convention: all models, and the models of Tables 2 and 8; with a subgroup "all" of all instances.
    """
    cells = []
    for convention, found in assays.items():
        place = RowPlace(dataset, convention, beside)
        whole, parts = means_by_part(found, "all"), means_by_part(found, "correct", terms=True)
        six = ranked[convention]
        for (model, _, metric), value in whole.items():
            if metric in METRICS.values():
                cells.append(place.cell("table1", f"{model}/{metric}", (model, metric), value))
        for tradeoff in TRADEOFFS if six.candidates else ():
            order = [r.model for r in six.ranked(tradeoff) if r.rank is not None]
            for rank, model in enumerate(order, start=1):
                where, value = f"lambda={tradeoff}/{model}/rank", Value(rank, math.nan, math.nan)
                cells.append(place.cell("table2", where, (model, f"{tradeoff}"), value))
        for (model, part, metric), value in parts.items():
            if part in PARTS and metric in QUANTITIES:
                quantity = f"{metric}_{PARTS[part]}"
                cells.append(place.cell("table7", f"{model}/{quantity}", (model, quantity), value))
        for tradeoff in TRADEOFFS:
            for m in six.models:
                value = whole[m.name, "0", f"e@{tradeoff}"]
                cells.append(place.cell("table8", f"lambda={tradeoff}/{m.name}/e", (m.name, f"{tradeoff}"), value))
    return sorted(cells, key=lambda cell: cell.name.split("/")[0])  # stable: within a table as built


class RowPlace(NamedTuple):
    """Data set and convention of rows, and the printed data set."""

    dataset: str
    convention: str
    beside: PrintedData

    def cell(self, table: str, place: str, key: tuple[str, str], value: Value) -> PrintedCell:
        """The row of a value, with the printed value."""
        context = self.beside.name
        paper, *others = (printed(table, name, *key) for name in (context, *_others(context)))
        name = f"{table}/{self.dataset}/{self.convention}/{place}"
        if self.beside.compared and self.convention == "paper" and not math.isnan(value.low):
            cell = PrintedCell.within(name, paper, *value)
            return replace(cell, note=self.beside.differences) if cell.agrees is False else cell
        note = "" if math.isnan(paper) else _context_note(self.beside, paper, others)
        return PrintedCell(name, paper, *value, None, note)


def means_by_part(found: "Assay", by: str, *, terms: bool = False) -> Means:
    """Means by (model, part, quantity): accuracy_percent, ece, kl or js, ns, e (λ = 1) and e@λ.

    Parameters
    ----------
    by : str
        As in `Assay.rows`.
    terms : bool
        Without accuracy_percent and ece, whose interval takes longer than all others together.
    """
    values: Means = {}
    metrics = METRICS.keys() - OF_ACCURACY if terms else METRICS
    for row in found.rows("subsets", by=by, ranking=False, metrics=metrics):
        key = row["model"], row["subset"]
        value = Value(row["estimate"], row["low"], row["high"])
        if row["metric"] == "unified":
            values[*key, f"e@{row['tradeoff']:g}".replace("@1", "@1.0")] = value
        elif row["metric"] == "accuracy":
            values[*key, "accuracy_percent"] = Value(*(100 * x for x in value))
        elif row["metric"] in METRICS:
            values[*key, METRICS[row["metric"]]] = value
        if row["metric"] == "unified" and row["tradeoff"] == 1.0:
            values[*key, "e"] = value
    return values


def printed(table: str, dataset: str, model: str, which: str) -> float:
    """A printed value, nan where there is none.

    Parameters
    ----------
    model : str
        In Table 4 with the vertices, "DE/naive".
    which : str
        A quantity (Tables 1, 4 and 7), λ for its rank (Table 2) or mean E (Table 8), or "JS/0.1/rank" and "JS/0.1/e"
        (Table 5; Table 6 with "NS" and "CU").
    """
    return _printed(table, dataset).get((model, which), math.nan)


@cache
def _printed(table: str, dataset: str) -> dict[tuple[str, str], float]:
    if table == "table2":
        rows = printed_table(RANKINGS[dataset][1])
        return {(row["model"], row["tradeoff"]): float(row["rank"]) for row in rows}
    if table == "table8":
        rows = [row for row in printed_table("unified_table8_tradeoff") if row["dataset"] == dataset]
        return {(row["model"], f"{float(row['tradeoff']):.1f}"): float(row["e_mean"]) for row in rows}
    if table in OF_CIFAR_10:
        return _of_cifar_10(table) if dataset == "CIFAR-10" else {}
    name = {"table1": "unified_table1", "table7": "unified_table7_correct_incorrect"}[table]
    return {
        (row["model"], column.removesuffix("_mean")): float(value)
        for row in printed_table(name)
        if row["dataset"] == dataset
        for column, value in row.items()
        if value and column not in ("dataset", "model") and not column.endswith("_sd")
    }


def _of_cifar_10(table: str) -> dict[tuple[str, str], float]:
    """Tables 4, 5 and 6, which are of CIFAR-10 alone."""
    rows = printed_table(OF_CIFAR_10[table])
    if table == "table4":
        return {
            (f"{row['model']}/{row['vertices']}", f"{q}_{part}"): float(row[f"{q}_{part}_mean"])
            for row in rows
            for q in QUANTITIES
            for part in PARTS.values()
        }
    column = "distance" if table == "table5" else "nonspecificity"
    return {
        (row["model"], f"{row[column]}/{row['tradeoff']}/{which}"): float(row[of])
        for row in rows
        for which, of in (("rank", "rank"), ("e", "e_mean"))
    }


def _others(context: str) -> tuple[str, ...]:
    return tuple(name for name in ("CIFAR-10", "MNIST") if name != context)


def _context_note(beside: PrintedData, paper: float, others: Sequence[float]) -> str:
    also = [f"{x:g} for {name}" for name, x in zip(_others(beside.name), others, strict=True) if not math.isnan(x)]
    more = f"; it prints {listed(also)}" if also else ""
    return f"context only: the paper's {paper:g} is of {beside.name}, {beside.relation}{more}"


# ---- text ------------------------------------------------------------------------------------------------------------


def table_lines(
    dataset: str, assays: "Mapping[str, Assay]", ranked: "Mapping[str, Assay]", beside: PrintedData
) -> list[str]:
    """The four tables of one data set as text.

    Parameters
    ----------
    dataset, assays, ranked, beside
        As in `table_cells`.
    """
    shown = (beside.name, *_others(beside.name))
    first = next(iter(assays.values()))
    whole = {convention: means_by_part(found, "all") for convention, found in assays.items()}
    parts = {convention: means_by_part(found, "correct", terms=True) for convention, found in assays.items()}
    columns = ("accuracy_percent", "ece", *QUANTITIES)
    lines = [f"Table 1, {dataset} (λ = 1; mean [95 % interval]; printed rows are of the data sets that they name):"]
    body: list[list[str]] = []
    for m in first.models:
        body += _block(m.name, {c: [whole[c].get((m.name, "0", q)) for q in columns] for c in whole})
        body += printed_rows(shown, lambda name, q, m=m: printed("table1", name, m.name, q), columns)
    lines += text_table(("model", "accuracy %", "ECE", *QUANTITIES.values()), body)
    if next(iter(ranked.values())).candidates:
        lines += ["", *_ranking_lines(dataset, ranked, shown)]
    lines += ["", f"Table 7, {dataset}: correct and incorrect predictions apart:"]
    keys = [f"{quantity}_{part}" for quantity in QUANTITIES for part in PARTS.values()]
    body = []
    for m in first.candidates:
        values = {
            c: [parts[c].get((m.name, part, quantity)) for quantity in QUANTITIES for part in PARTS] for c in parts
        }
        body += _block(m.name, values)
        body += printed_rows(shown, lambda name, q, m=m: printed("table7", name, m.name, q), keys)
    lines += text_table(("model", *(f"{name} {part}" for name in QUANTITIES.values() for part in PARTS.values())), body)
    lines += ["", f"Table 8, {dataset}: mean E against λ:"]
    body = []
    for m in next(iter(ranked.values())).models:
        for c in ranked:
            at = [whole[c][m.name, "0", f"e@{t}"].mean for t in TRADEOFFS]
            body.append([f"{m.name}, {LINE[c]}", *map(three, at)])
        body += printed_rows(
            shown, lambda name, t, m=m: printed("table8", name, m.name, t), [f"{t}" for t in TRADEOFFS]
        )
    return [*lines, *text_table(("λ", *(f"{t:.1f}" for t in TRADEOFFS)), body)]


def _block(model: str, values: Mapping[str, Sequence[Value | None]]) -> Iterator[list[str]]:
    """One line for each convention."""
    for convention, found in values.items():
        yield [f"{model}, {LINE[convention]}", *(interval_text(value) for value in found)]


def printed_rows(datasets: Sequence[str], value: Any, keys: Sequence[str]) -> list[list[str]]:
    """One line for each data set of which any of the values ``value(data set, key)`` is printed."""
    found = [(name, [value(name, key) for key in keys]) for name in datasets]
    return [[f"  printed, {name}", *map(three, values)] for name, values in found if not all(map(math.isnan, values))]


def _ranking_lines(dataset: str, ranked: "Mapping[str, Assay]", shown: Sequence[str]) -> list[str]:
    """The order of the models at each λ; neighbouring λ with the same order share a line."""
    lines = [f"Table 2, {dataset}: models that state sets by mean E, best first (baselines in brackets):"]
    for convention, found in ranked.items():
        lines.append(f"  {LINE[convention]}")
        orders = [
            (t, ", ".join(r.model if r.rank is not None else f"[{r.model}]" for r in found.ranked(t)))
            for t in TRADEOFFS
        ]
        lines += grouped_orders(orders)
        winners = [f"{_reach(low, high)} {' = '.join(names)}" for low, high, names in found.winners()]
        lines.append(f"    exactly, lowest mean E: {'; '.join(winners)}")
        shares = found.win_shares([0.1, 0.5, 1.0])
        for t, row in zip((0.1, 0.5, 1.0), shares.tolist(), strict=True):
            sure = sorted(zip(row, found.model_names, strict=True), reverse=True)
            wins = ", ".join(f"{name} {percent(p, 0)}" for p, name in sure if p >= 0.005)
            lines.append(f"    λ = {t}: of the bootstrap draws win {wins}")
    for name in shown:
        table, source = RANKINGS[name]
        lines.append(f"  printed, {name} ({table})")
        rows = printed_table(source)
        orders = [
            (float(t), ", ".join(row["model"] for row in sorted(group, key=lambda row: int(row["rank"]))))
            for t, group in groupby(rows, key=lambda row: row["tradeoff"])
        ]
        lines += grouped_orders(orders)
    return lines


def grouped_orders(orders: Sequence[tuple[float, str]]) -> Iterator[str]:
    """One line for each run of neighbouring λ with the same order."""
    for order, group in groupby(orders, key=lambda pair: pair[1]):
        tradeoffs = [t for t, _ in group]
        reach = f"λ = {tradeoffs[0]:.1f}" + (f" to {tradeoffs[-1]:.1f}" if len(tradeoffs) > 1 else "")
        yield f"    {reach.ljust(14)} {order}"


def _reach(low: float, high: float) -> str:
    if math.isinf(high):
        return "all λ" if low == 0 else f"λ > {low:.3g}"
    return f"λ < {high:.3g}" if low == 0 else f"λ from {low:.3g} to {high:.3g}"


def interval_text(value: Value | None) -> str:
    """A mean with its interval as text."""
    if value is None or math.isnan(value.mean):
        return ABSENT
    if math.isnan(value.low):
        return three(value.mean)
    return f"{three(value.mean)} [{three(value.low)}, {three(value.high)}]"


def three(x: float) -> str:
    """Three decimals as the paper prints, two from ten on as in its percentages, one digit of what is very small."""
    if math.isnan(x):
        return ABSENT
    if LEAST < abs(x) < 0.0005:
        return f"{x:.0e}".replace("e-0", "e-")
    return number(x, 2 if abs(x) >= 9.5 else 3)
