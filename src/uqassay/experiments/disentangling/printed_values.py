"""The printed tables of the paper on disentanglement as rounded numbers, by table, data set, method and decomposition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from uqassay.errors import InputError
from uqassay.experiments.reproduction import Tables, tables_by_name
from uqassay.experiments.rounding import Rounded

__all__ = [
    "DATASETS",
    "DECOMPOSITIONS",
    "IDEALS",
    "METHODS",
    "PARTS",
    "SOURCE",
    "TABLES",
    "PrintedValues",
    "distance",
    "mean",
    "place_of",
    "printed_values",
    "terms",
]

SOURCE = (
    "de Jong, Sburlea, Sabatelli and Valdenegro-Toro, Measuring uncertainty disentanglement error in classification"
)

TABLES = {
    "table1": "disentanglement_table1_cifar10_rocauc",
    "table2": "disentanglement_table2_error",
    "table3": "disentanglement_table3_dataset_size_pcc",
    "table4": "disentanglement_table4_label_noise_pcc",
    "table5": "disentanglement_table5_ood_rocauc",
}
DATASETS = {"CIFAR10": "cifar-10", "Fashion MNIST": "fashion-mnist", "Wine": "wine", "BCI": "bci"}  # printed name: ours
METHODS = ("MC-Dropout", "MC-DropConnect", "Flipout", "Deep Ensembles")
DECOMPOSITIONS = {"GL": "gaussian-logits", "IT": "information-theoretic"}
PARTS = ("aleatoric", "epistemic")
# (table, estimate): the correlation with accuracy that a perfect disentangler has; the order of the terms of the error
IDEALS = {
    ("table3", "aleatoric"): 0.0,
    ("table3", "epistemic"): 1.0,
    ("table4", "aleatoric"): 1.0,
    ("table4", "epistemic"): 0.0,
}
VALUES = {"table1": "roc_auc", "table3": "pcc", "table4": "pcc", "table5": "roc_auc"}


@final
@dataclass(frozen=True)
class PrintedValues:
    """Printed numbers by place: table, data set, method and decomposition, then the column."""

    numbers: Mapping[tuple[str, ...], Rounded]

    def at(self, *place: str) -> Rounded:
        """The printed number of a cell.

        Raises
        ------
        InputError
            The tables have no such cell.
        """
        if place not in self.numbers:
            raise InputError(
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

    Raises
    ------
    InputError
        If a table in ``tables`` is not one of `TABLES`.
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
