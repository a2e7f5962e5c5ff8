"""Contradictions in the paper on disentanglement: of its tables with each other, and of its text with the tables."""

from collections.abc import Sequence

import numpy as np

from uqassay.experiments.disentangling.printed_values import (
    DATASETS,
    DECOMPOSITIONS,
    METHODS,
    PARTS,
    PrintedValues,
    mean,
    terms,
)
from uqassay.experiments.reproduction import PrintedCell
from uqassay.wording import counted, listed, number

__all__ = ["contradictions"]

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
    values : PrintedValues
    cells : sequence of PrintedCell
        The compared cells of Tables 1 and 2.

    Returns
    -------
    tuple of str
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
