"""The printed tables of the paper as numbers, recomputed from their ingredients, and their contradictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, final

import numpy as np

from uqassay.checks import fail
from uqassay.lab.papers.paper_tables import (
    PM,
    Column,
    PaperTable,
    Part,
    PrintedCell,
    Tables,
    mean_and_spread,
    tables_by_name,
)
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.lab.papers.rounding import Rounded
from uqassay.text import counted, listed, number

__all__ = [
    "DATASETS",
    "DECOMPOSITIONS",
    "IDEALS",
    "LAYOUTS",
    "METHODS",
    "PARTS",
    "SHORT",
    "SOURCE",
    "TABLES",
    "PrintedValues",
    "distance",
    "mean",
    "place_of",
    "printed_values",
    "reproduce_disentanglement_tables",
    "short_name",
    "terms",
]


# The printed tables of the paper on disentanglement as rounded numbers, by table, data set, method and decomposition.

SOURCE = (
    "de Jong, Sburlea, Sabatelli and Valdenegro-Toro, Measuring uncertainty disentanglement error in classification"
)

DATASETS = {"CIFAR10": "cifar-10", "Fashion MNIST": "fashion-mnist", "Wine": "wine", "BCI": "bci"}  # printed name: ours
METHODS = ("MC-Dropout", "MC-DropConnect", "Flipout", "Deep Ensembles")
DECOMPOSITIONS = {"GL": "gaussian-logits", "IT": "information-theoretic"}
SHORT = {name: short for short, name in DECOMPOSITIONS.items()}
PARTS = ("aleatoric", "epistemic")
# (table, estimate): the correlation with accuracy that a perfect disentangler has; the order of the terms of the error
IDEALS = {
    ("table3", "aleatoric"): 0.0,
    ("table3", "epistemic"): 1.0,
    ("table4", "aleatoric"): 1.0,
    ("table4", "epistemic"): 0.0,
}
ESTIMATES = tuple(
    Column(f"{short}/{name}", f"{short} {title}")
    for short in ("GL", "IT")
    for name, title in (("aleatoric", "AU"), ("epistemic", "EU"))
)


def _estimates(title: str, table: str, source: str, value: str, *, dataset: str = "{dataset}") -> PaperTable:
    """A table of both estimates of both decompositions; correlations of pooled curves are those that the paper prints."""
    place, estimate = f"{table}/{dataset}/{{method}}/{{decomposition}}", "{uncertainty:aleatoric|epistemic}"
    names = [f"{place}/{between}{estimate}{end}" for end in ("/pooled", "") for between in ("", "{convention}/")]
    return PaperTable(
        title,
        source,
        ({"dataset": "Dataset"} if dataset == "{dataset}" else {}) | {"convention": "Convention", "method": "Method"},
        ESTIMATES,
        (Part(tuple(names)),),
        column="{decomposition}/{uncertainty}",
        values=(value,),
        renamed={**DATASETS, "Average": "average"},
        open=True,
    )


LAYOUTS: Mapping[str, PaperTable] = {
    "table1": _estimates(
        "Table 1: ROC-AUC for the class left out, CIFAR-10",
        "table1",
        "disentanglement_table1_cifar10_rocauc",
        "roc_auc",
        dataset="cifar-10",
    ),
    "table2": PaperTable(
        "Table 2: disentanglement error",
        "disentanglement_table2_error",
        {"decomposition": "", "convention": "Convention", "method": "Model"},
        tuple(Column(name, title) for title, name in {**DATASETS, "Average": "average"}.items()),
        mean_and_spread(
            "/ci95",
            "table2/{dataset}/{method}/{decomposition}",
            "table2/{dataset}/{method}/{decomposition}/{convention:(?!interval$)[^/]+}",
        ),
        PM,
        column="{dataset}",
        values=("error", "ci95"),
        renamed={**DATASETS, "Average": "average"},
        open=True,
    ),
    "table3": _estimates(
        "Table 3: correlation of accuracy and confidence over the size of the training set",
        "table3",
        "disentanglement_table3_dataset_size_pcc",
        "pcc",
    ),
    "table4": _estimates(
        "Table 4: correlation of accuracy and confidence over label noise",
        "table4",
        "disentanglement_table4_label_noise_pcc",
        "pcc",
    ),
    "table5": _estimates(
        "Table 5: ROC-AUC for the class left out", "table5", "disentanglement_table5_ood_rocauc", "roc_auc"
    ),
}

TABLES = {name: table.source for name, table in LAYOUTS.items()}
VALUES = {"table1": "roc_auc", "table3": "pcc", "table4": "pcc", "table5": "roc_auc"}


def short_name(decomposition: str) -> str:
    """The paper's abbreviation of a decomposition, or its name.

    Examples
    --------
    >>> short_name("gaussian-logits"), short_name("variance")
    ('GL', 'variance')
    """
    return SHORT.get(decomposition, decomposition)


@final
@dataclass(frozen=True)
class PrintedValues:
    """Printed numbers by place: table, data set, method and decomposition, then the column."""

    numbers: Mapping[tuple[str, ...], Rounded]

    def at(self, *place: str) -> Rounded:
        """The printed number of a cell."""
        if place not in self.numbers:
            fail(
                "tables", "must hold every printed cell", f"{'/'.join(place)} is missing", "add its row", code="missing"
            )
        return self.numbers[place]

    def row(self, name: str, *, absolute: bool) -> tuple[Rounded, dict[str, Rounded]]:
        """The average that belongs to a cell, and the cells that it averages by data set."""
        table, _, *column = place_of(name)
        above = {dataset: self.at(table, dataset, *column) for dataset in DATASETS.values()}
        if absolute:
            above = {dataset: distance(value, 0.0) for dataset, value in above.items()}
        return self.at(table, "average", *column), above

    def across(self, table: str, method: str, decomposition: str, column: str) -> list[Rounded]:
        """The same cell of all data sets."""
        return [self.at(table, name, method, decomposition, column) for name in DATASETS.values()]


def printed_values(tables: Tables | None = None) -> PrintedValues:
    """Read the tables.

    Parameters
    ----------
    tables : mapping of str to sequence of dict, optional
        Rows by table (a key of `TABLES`), as from `printed_table`, instead of those in the package.
    """
    rows = tables_by_name(TABLES, tables)
    found: dict[tuple[str, ...], Rounded] = {}
    for table, printed in rows.items():
        for row in printed:
            dataset = row.get("dataset", "CIFAR10")  # Table 1 has one data set
            place = (table, DATASETS.get(dataset, dataset.lower()), row["method"], row["decomposition"])
            if table == "table2":
                found |= {(*place, column): Rounded.read(row[column]) for column in ("error", "ci95")}
            else:
                found[(*place, row["uncertainty"])] = Rounded.read(row[VALUES[table]])
    return PrintedValues(found)


def place_of(name: str) -> tuple[str, ...]:
    """The key of a cell in `PrintedValues`."""
    return tuple(name.split("/")) if name.count("/") == 4 else (*name.split("/"), "error")


def terms(values: PrintedValues, dataset: str, method: str, short: str) -> list[Rounded]:
    """The four deviations from the ideal correlations."""
    return [distance(values.at(table, dataset, method, short, part), ideal) for (table, part), ideal in IDEALS.items()]


def distance(value: Rounded, ideal: float) -> Rounded:
    """|x − ideal|."""
    ends = abs(value.low - ideal), abs(value.high - ideal)
    low = 0.0 if value.low <= ideal <= value.high else min(ends)
    return Rounded(abs(value.value - ideal), low, max(ends))


def mean(values: Sequence[Rounded]) -> Rounded:
    """The mean of rounded numbers."""
    return Rounded(*(float(np.mean([getattr(v, end) for v in values])) for end in ("value", "low", "high")))


# Contradictions in the paper on disentanglement: of its tables with each other, and of its text with the tables.

CLAIMED = {  # numbers of the text
    "datasets": 5,  # section 7, "over five datasets"
    "ale": 0.981,  # section 4, PCC_ale of Gaussian logits
    "epi": 0.725,  # section 4, PCC_epi of Gaussian logits, "at least"
    "epi_it": 0.6,  # section 4, PCC_epi of information theory, "about"
}


def contradictions(values: PrintedValues, cells: Sequence[PrintedCell]) -> tuple[str, ...]:
    """One sentence for each contradiction, with its check computed.

    Parameters
    ----------
    cells : sequence of PrintedCell
        The compared cells of Tables 1 and 2.
    """
    return (
        _number_of_datasets(),
        _symbol_of_section_4(values),
        _correlations_of_section_4(values),
        _outside(cells),
        _sum_or_mean(values),
        _repeated(cells),
        _averaged_interval(values),
        *_orders(values),
        _class_detection(values),
    )


def _number_of_datasets() -> str:
    return f"section 7 counts {CLAIMED['datasets']} datasets; the tables have {len(DATASETS)}, {listed(list(DATASETS))}"


def _symbol_of_section_4(values: PrintedValues) -> str:
    low, high = _ends(_averages(values, "table4", "aleatoric"))
    return (
        "section 4 asks for PCC_ale ≈ 1 and for PCC_ale ≈ 0 in one sentence; the second is PCC_epi, as in the caption of "
        f"table4, where the averages of |PCC_ale| are {low} to {high}"
    )


def _correlations_of_section_4(values: PrintedValues) -> str:
    """The least epistemic correlation of Gaussian logits is one cell; the aleatoric one is one method's average."""
    least = sorted(
        (values.at("table4", name, method, "GL", "epistemic").value, method, printed)
        for printed, name in DATASETS.items()
        for method in METHODS
    )
    (low, method, dataset), (second, *_) = least[:2]
    below, above = _ends(_averages(values, "table4", "epistemic", "GL"))
    aleatoric = {m: values.at("table4", "average", m, "GL", "aleatoric").value for m in METHODS}
    whose = [m for m, value in aleatoric.items() if np.isclose(value, CLAIMED["ale"])]
    it_low, it_high = _ends(_averages(values, "table4", "epistemic", "IT"))
    return (
        f"section 4, Gaussian logits: PCC_epi ≥ {CLAIMED['epi']} is the cell of {method} on {dataset} ({number(low)}), the "
        f"next is {number(second)} and the averages are {below} to {above}; PCC_ale = {CLAIMED['ale']} is the average of "
        f"{listed(whose) or 'no method'}; information theory: PCC_epi ≈ {CLAIMED['epi_it']} stands for averages of {it_low} to "
        f"{it_high}"
    )


def _outside(cells: Sequence[PrintedCell]) -> str:
    compared = [c for c in cells if c.name.startswith("table2/") and _is_error_of_a_dataset(c.name)]
    outside = [cell for cell in compared if cell.agrees is False]
    above = sum(cell.paper > cell.ours for cell in outside)
    return (
        f"table2 lies outside its printed ± of the value recombined from table3 and table4 in {len(outside)} of "
        f"{counted(len(compared), 'cell')}, above it in {above}; correlations of curves averaged over the runs, as the "
        "authors' code makes them, do not recombine into a mean over runs"
    )


def _sum_or_mean(values: PrintedValues) -> str:
    nearer, sums = 0, []
    for short in DECOMPOSITIONS:
        for method in METHODS:
            for dataset in DATASETS.values():
                total = sum(term.value for term in terms(values, dataset, method, short))
                printed = values.at("table2", dataset, method, short, "error").value
                nearer += abs(printed - total / 4) < abs(printed - total)
                sums.append(total)
    return (
        f"section 6 prints a sum of four deviations; table2 is nearer their mean in {nearer} of "
        f"{counted(len(sums), 'cell')} (sums would be {number(min(sums))} to {number(max(sums))})"
    )


def _repeated(cells: Sequence[PrintedCell]) -> str:
    same = [cell.agrees for cell in cells if cell.name.startswith("table1/")]
    return f"table1 repeats the CIFAR-10 part of table5 in {sum(map(bool, same))} of {counted(len(same), 'cell')}"


def _averaged_interval(values: PrintedValues) -> str:
    rows = [values.across("table2", method, short, "ci95") for short in DECOMPOSITIONS for method in METHODS]
    printed = [values.at("table2", "average", m, s, "ci95").value for s in DECOMPOSITIONS for m in METHODS]
    independent = [float(np.sqrt(np.sum([v.value**2 for v in row]))) / len(row) for row in rows]
    factors = [p / i for p, i in zip(printed, independent, strict=True) if i > 0] or [float("nan")]
    low, high = (number(end(factors), 1) for end in (min, max))
    return (
        "the ± of table2's average column is the mean of four ±; the ± of a mean of four independent errors is smaller, by a "
        f"factor of {low} to {high}"
    )


def _orders(values: PrintedValues) -> list[str]:
    """The best method, and how often information theory is better: printed, and recombined from Tables 3 and 4."""
    keys = [(short, method) for short in DECOMPOSITIONS for method in METHODS]
    found = {
        "table2": {(s, m): [v.value for v in values.across("table2", m, s, "error")] for s, m in keys},
        "table3 and table4": {(s, m): [mean(terms(values, d, m, s)).value for d in DATASETS.values()] for s, m in keys},
    }
    averages = {
        "table2": {(s, m): values.at("table2", "average", m, s, "error").value for s, m in keys},
        "table3 and table4": {key: float(np.mean(errors)) for key, errors in found["table3 and table4"].items()},
    }
    best, wins = [], []
    for source, errors in found.items():
        average = averages[source]
        first, second = sorted(keys, key=average.__getitem__)[:2]
        shown = [f"{s} – {m} ({number(average[s, m])})" for s, m in (first, second)]
        best.append(f"{shown[0]} before {shown[1]} by {source}")
        pairs = [it < gl for m in METHODS for it, gl in zip(errors["IT", m], errors["GL", m], strict=True)]
        wins.append(f"{sum(pairs)} of {len(pairs)} by {source}")
    return [
        f"the least average error: {listed(best)}",
        f"information theory has the smaller error than Gaussian logits in {listed(wins)}",
    ]


def _class_detection(values: PrintedValues) -> str:
    """Section 5: epistemic estimates of information theory detect the left-out class worse than aleatoric ones."""
    pairs = [
        epistemic.value < aleatoric.value
        for m in METHODS
        for aleatoric, epistemic in zip(*(values.across("table5", m, "IT", part) for part in PARTS), strict=True)
    ]
    return (
        "section 5: information theory's epistemic estimate detects the left-out class worse than its aleatoric one; in "
        f"table5 it does in {sum(pairs)} of {counted(len(pairs), 'case')}"
    )


def _averages(values: PrintedValues, table: str, part: str, *shorts: str) -> list[float]:
    return [values.at(table, "average", m, s, part).value for s in shorts or DECOMPOSITIONS for m in METHODS]


def _ends(values: Sequence[float]) -> tuple[str, str]:
    return number(min(values)), number(max(values))


def _is_error_of_a_dataset(name: str) -> bool:
    return "/average/" not in name and not name.endswith("/ci95")


# The tables of the paper on disentanglement, recomputed from their own ingredients.
#
# The disentanglement error of Table 2 is the mean of four deviations of correlations, which Tables 3 and 4 print.
# Average rows are means of the rows above them, Table 1 repeats a part of Table 5. Contradictions of the tables with
# each other and with the text are named.


def reproduce_disentanglement_tables(
    *,
    tables: Annotated[
        Tables | None,
        "Rows by table (a key of TABLES), as from printed_table, instead of those in the package.",
    ] = None,
) -> Reproduction:
    """Recompute the printed tables on disentanglement without training, and name their contradictions.

    Returns
    -------
    Reproduction
        ``table2/<data set>/<method>/<GL or IT>`` with ``…/ci95`` for the ±, ``table1/…`` and ``table3/…`` to ``table5/…``
        with the estimate at the end, and the average rows under ``average``.

    Notes
    -----
    A cell of Table 2 agrees if it lies within its own ± of the mean of the four deviations in Tables 3 and 4, rounding
    included. Averages and Table 1 agree within rounding. A cell of Tables 3 to 5, and a ±, is compared with the value that
    its average and the other data sets need; these five cells share one equation.

    Examples
    --------
    >>> found = reproduce_disentanglement_tables()
    >>> len(found.rows), len(found.misprints), found.misprints[0].name
    (336, 18, 'table2/fashion-mnist/MC-Dropout/GL')
    """
    values = printed_values(tables)
    cells = [
        *_table1_cells(values),
        *_table2_cells(values),
        *(cell for table in ("table3", "table4", "table5") for cell in _part_cells(table, values)),
    ]
    return Reproduction("disentanglement-tables", SOURCE, tuple(cells), contradictions(values, cells), layouts=LAYOUTS)


# ---- cells -----------------------------------------------------------------------------------------------------------


def _table1_cells(values: PrintedValues) -> list[PrintedCell]:
    """Table 1 against the CIFAR-10 part of Table 5."""
    cells = []
    for method in METHODS:
        for short in DECOMPOSITIONS:
            for part in PARTS:
                first, again = (values.at(table, "cifar-10", method, short, part) for table in ("table1", "table5"))
                name = f"table1/cifar-10/{method}/{short}/{part}"
                cell = PrintedCell.within(name, first.value, again.value, again.low, again.high)
                cells.append(replace(cell, note="" if cell.agrees else f"table5 prints {again.value:.3f}"))
    return cells


def _table2_cells(values: PrintedValues) -> list[PrintedCell]:
    """Errors against Tables 3 and 4; each ± against its average column."""
    cells = []
    for short in DECOMPOSITIONS:
        for method in METHODS:
            for dataset in DATASETS.values():
                name = f"table2/{dataset}/{method}/{short}"
                error, ci95 = (values.at("table2", dataset, method, short, key) for key in ("error", "ci95"))
                cells.append(_recombined(name, error, ci95, terms(values, dataset, method, short)))
                cells.append(_implied(f"{name}/ci95", values, dataset, absolute=False))
            cells += [_averaged(f"table2/average/{method}/{short}{end}", values) for end in ("", "/ci95")]
    return cells


def _part_cells(table: str, values: PrintedValues) -> list[PrintedCell]:
    """The cells of Tables 3 to 5 against the average row, and the average row."""
    cells = []
    for dataset in (*DATASETS.values(), "average"):
        for method in METHODS:
            for short in DECOMPOSITIONS:
                for part in PARTS:
                    name = f"{table}/{dataset}/{method}/{short}/{part}"
                    absolute = IDEALS.get((table, part)) == 0
                    if dataset == "average":
                        cells.append(_averaged(name, values, absolute=absolute))
                    else:
                        cells.append(_implied(name, values, dataset, absolute=absolute))
    return cells


def _recombined(name: str, error: Rounded, ci95: Rounded, deviations: Sequence[Rounded]) -> PrintedCell:
    """The mean of the four terms; the printed error should lie within its ± of it."""
    ours = mean(deviations)
    cell = _within(name, error, ours.widened(ci95.value))
    if cell.agrees is not False:
        return cell
    gap = abs(error.value - ours.value)
    reason = (
        f"tables 3 and 4 give {number(ours.value)}, {number(gap)} away, "
        f"{number(gap / ci95.value, 1)} times the printed ± {number(ci95.value)}"
    )
    return replace(cell, note=reason)


def _averaged(name: str, values: PrintedValues, *, absolute: bool = False) -> PrintedCell:
    """An average against the cells above it."""
    paper, above = values.row(name, absolute=absolute)
    cell = _within(name, paper, mean(list(above.values())))
    return replace(cell, note="" if cell.agrees else f"the rows above average to {number(cell.ours, 4)}")


def _implied(name: str, values: PrintedValues, dataset: str, *, absolute: bool) -> PrintedCell:
    """A cell against the average and the other data sets: n · average minus the others.

    In a column that is averaged by absolute values, the sign is the printed one.
    """
    average, above = values.row(name, absolute=absolute)
    others = [value for key, value in above.items() if key != dataset]
    n = len(above)
    value, low, high = (
        n * getattr(average, end) - sum(getattr(other, opposite) for other in others)
        for end, opposite in (("value", "value"), ("low", "high"), ("high", "low"))
    )
    paper = values.at(*place_of(name))
    ours = Rounded(-value, -high, -low) if absolute and paper.value < 0 else Rounded(value, low, high)
    cell = _within(name, paper, ours)
    reason = f"the average and the other data sets need {number(cell.ours, 4)}"
    return replace(cell, note="" if cell.agrees else reason)


def _within(name: str, paper: Rounded, ours: Rounded) -> PrintedCell:
    allowed = ours.widened(paper.half)
    return PrintedCell.within(name, paper.value, ours.value, allowed.low, allowed.high)
