"""The tables of the unified evaluation recomputed from their own ingredients, and their contradictions."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

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
from uqassay.lab.papers.rounding import (
    SLACK,
    CommonLine,
    Rounded,
    common_line,
    implied_share,
    mixture_mean,
    mixture_sd,
    rank_bounds,
    sd_bounds,
)
from uqassay.text import listed

__all__ = [
    "LAYOUTS",
    "RANKINGS",
    "SOURCE",
    "TABLES",
    "TERMS",
    "PrintedData",
    "contradictions",
    "covariances",
    "printed",
    "printed_beside",
    "reproduce_unified_tables",
    "toy_arithmetic",
    "vertex_choices",
]


# The printed tables: which cell stands where.

SETS = ("LB-BNN", "DE", "EDL", "CreINN", "E-CNN", "RS-NN")
ALL = (*SETS, "SNN", "LB-BNN Avg", "DE Avg", "DDU")
TERMS = {"kl": "KL", "ns": "NS", "e": "E"}
SETTING = {"dataset": "Dataset", "convention": "Convention"}


def _means(name: str, title: str) -> Column:
    return Column(name, title, (f"{name}_mean", f"{name}_sd"))


def _by_part(term: str, part: str) -> Column:
    short = {"correct": "CC", "incorrect": "ICC"}[part]
    return Column(f"{term}_{part}", f"{TERMS[term]} {short}", (f"{term}_{part}_mean", f"{term}_{part}_sd"))


BY_PART = tuple(_by_part(term, part) for term in TERMS for part in ("correct", "incorrect"))


def _ranking(title: str, source: str, models: tuple[str, ...], *names: str, **rows: str) -> PaperTable:
    """A table of rankings: at each λ the models by their mean E."""
    return PaperTable(
        title,
        source,
        {**SETTING, **rows, "tradeoff": "λ"},
        tuple(Column(model, model) for model in models),
        (
            Part(tuple(f"{name}/rank" for name in names), "rank"),
            Part(tuple(f"{name}/e" for name in names), "e"),
        ),
        form="{} {}",
        column="{model}",
        values=("rank", "e_mean"),
        open=True,
        ranked=True,
    )


LAYOUTS: Mapping[str, PaperTable] = {
    "table1": PaperTable(
        "Table 1: KL, non-specificity (NS) and E at λ = 1",
        "unified_table1",
        {**SETTING, "model": "Model"},
        (
            Column("accuracy_percent", "Accuracy (%)", ("accuracy_percent",)),
            Column("ece", "ECE", ("ece",)),
            *(_means(name, title) for name, title in TERMS.items()),
        ),
        mean_and_spread("_sd", "table1/{dataset}/{model}/{column}", "table1/{dataset}/{convention}/{model}/{column}"),
        PM,
    ),
    "table2": _ranking(
        "Table 2: models by mean E, CIFAR-10",
        "unified_table2_cifar10_ranking",
        SETS,
        "table2/lambda={tradeoff}/{model}",
        "table2/{dataset}/{convention}/lambda={tradeoff}/{model}",
    ),
    "table3": PaperTable(
        "Table 3: E of four models at three λ",
        "unified_table3_toy_ranking",
        {"model": "Model"},
        (
            Column("kl", "KL", ("kl",)),
            Column("ns", "NS", ("ns",)),
            *(Column(tradeoff, f"E and rank, λ = {tradeoff}") for tradeoff in ("0.1", "0.5", "2")),
        ),
        (
            Part(("table3/lambda={tradeoff}/{model}/e",)),
            Part(("table3/lambda={tradeoff}/{model}/rank",), "rank"),
        ),
        "{}, {}",
        column="{tradeoff}",
        values=("e", "rank"),
    ),
    "table4": PaperTable(
        "Table 4: vertices of the credal set, correct (CC) and incorrect (ICC) predictions, CIFAR-10",
        "unified_table4_vertices_4class",
        {**SETTING, "model": "Model", "vertices": "Vertices"},
        BY_PART,
        mean_and_spread(
            "_sd",
            "table4/{model}/{vertices}/{part}/{term}",
            "table4/{dataset}/{convention}/{model}/{vertices}/{part}/{term}",
        ),
        PM,
        column="{term}_{part}",
    ),
    "table5": _ranking(
        "Table 5: models by mean E with KL and JS divergence, CIFAR-10",
        "unified_table5_cifar10_kl_vs_js",
        ALL,
        "table5/{distance}/lambda={tradeoff}/{model}",
        "table5/{dataset}/{convention}/{distance}/lambda={tradeoff}/{model}",
        distance="Metric",
    ),
    "table6": _ranking(
        "Table 6: models by mean E with non-specificity (NS) and credal uncertainty (CU), CIFAR-10",
        "unified_table6_cifar10_ns_vs_cu",
        ALL,
        "table6/{nonspecificity}/lambda={tradeoff}/{model}",
        "table6/{dataset}/{convention}/{nonspecificity}/lambda={tradeoff}/{model}",
        nonspecificity="Metric",
    ),
    "table7": PaperTable(
        "Table 7: correct (CC) and incorrect (ICC) predictions apart, λ = 1",
        "unified_table7_correct_incorrect",
        {**SETTING, "model": "Model"},
        BY_PART,
        mean_and_spread(
            "_sd",
            "table7/{dataset}/{model}/{part:correct|incorrect}/{term}",
            "table7/{dataset}/{convention}/{model}/{term:kl|ns|e}_{part:correct|incorrect}",
        ),
        PM,
        column="{term}_{part}",
    ),
    "table8": PaperTable(
        "Table 8: mean E against λ",
        "unified_table8_tradeoff",
        {**SETTING, "tradeoff": "λ"},
        tuple(Column(model, model) for model in SETS),
        mean_and_spread(
            "_sd",
            "table8/{dataset}/lambda={tradeoff}/{model}/e",
            "table8/{dataset}/{convention}/lambda={tradeoff}/{model}/e",
        ),
        PM,
        column="{model}",
        values=("e_mean", "e_sd"),
        open=True,
    ),
    "table9": _ranking(
        "Table 9: models by mean E, MNIST",
        "unified_table9_mnist_ranking",
        SETS,
        "table9/lambda={tradeoff}/{model}",
        "table2/{dataset:mnist}/{convention}/lambda={tradeoff}/{model}",
    ),
    "table10": _ranking(
        "Table 10: models by mean E, CIFAR-100",
        "unified_table10_cifar100_ranking",
        tuple(model for model in SETS if model != "E-CNN"),
        "table10/lambda={tradeoff}/{model}",
        "table2/{dataset:cifar-100}/{convention}/lambda={tradeoff}/{model}",
    ),
}


# Printed numbers beside ours.

SAME = {"cifar-10": "CIFAR-10", "cifar-10h": "CIFAR-10", "cifar-100": "CIFAR-100", "mnist": "MNIST"}  # the paper's own
RANKINGS = {"CIFAR-10": "table2", "MNIST": "table9", "CIFAR-100": "table10"}
OF_CIFAR_10 = ("table4", "table5", "table6")  # of this data set alone


class PrintedData(NamedTuple):
    """The printed data set that is most similar to ours; its values are in the rows, and the text shows others too."""

    name: str = "MNIST"
    relation: str = "another data set"  #: Of our data to it
    compared: bool = False  #: Whether ours are to agree with its values, in the paper's convention
    differences: str = ""  #: What is not as printed: the reason of cells that disagree


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


def printed(table: str, dataset: str, place: str) -> float:
    """A printed value, nan where there is none.

    Parameters
    ----------
    table : str
        "table2" is the ranking of every data set, Tables 2, 9 and 10.
    place : str
        The end of the name of our cell, such as "DE/kl" or "lambda=0.1/DE/rank".

    Examples
    --------
    >>> printed("table1", "CIFAR-10", "DE/kl"), printed("table2", "MNIST", "lambda=0.1/DE/rank")
    (0.031, 1.0)
    """
    layout = LAYOUTS[RANKINGS[dataset] if table == "table2" else table]
    if table == "table8":
        place = place.replace("lambda=1.0/", "lambda=1/")  # as it prints this λ alone
    found = LAYOUTS[table].place(f"{table}/{dataset}/exact/{place}")
    if found is None or (table in OF_CIFAR_10 and dataset != "CIFAR-10"):
        return math.nan
    row, column, part = found[0]
    of_data = "" if table == "table2" or table in OF_CIFAR_10 else dataset  # the package's table has no data set
    printed_row = {"dataset": of_data, "convention": ""}
    key = tuple(printed_row.get(name, label) for name, label in zip(layout.rows, row, strict=True))
    text = layout.printed.get((key, column, part), "")
    return float(text) if text else math.nan


# Contradictions between the tables of the unified evaluation that no single cell explains.
#
# Each function takes rows of the printed tables and returns one sentence for each contradiction.

Rows = Sequence[Mapping[str, str]]


def contradictions(quantity: str, prints: Mapping[tuple[str, str], Sequence[tuple[float, str, str]]]) -> list[str]:
    """Name every quantity that several tables print with different values.

    Parameters
    ----------
    quantity : str
        What is printed, for example ``"mean of E"``.
    prints : mapping of (dataset, model) to sequence of (tradeoff, table, text)
        Every place where it is printed.

    Returns
    -------
    list of str
        One sentence per dataset and model.

    Examples
    --------
    >>> contradictions("mean of E", {("MNIST", "EDL"): [(0.4, "table9", "0.904"), (0.4, "table8", "0.905")]})
    ['MNIST, EDL: the mean of E differs between tables: λ = 0.4: 0.904 (table9), 0.905 (table8)']
    """
    found = []
    for (dataset, model), places in prints.items():
        by_tradeoff: dict[float, dict[float, list[str]]] = defaultdict(lambda: defaultdict(list))
        texts = {}
        for tradeoff, table, text in places:
            by_tradeoff[tradeoff][float(text)].append(table)
            texts[float(text)] = text
        differing = [
            f"λ = {tradeoff:g}: " + ", ".join(f"{texts[value]} ({', '.join(at)})" for value, at in values.items())
            for tradeoff, values in sorted(by_tradeoff.items())
            if len(values) > 1
        ]
        if differing:
            found.append(f"{dataset}, {model}: the {quantity} differs between tables: {'; '.join(differing)}")
    return found


def covariances(whole: Rows, by_tradeoff: Rows) -> list[str]:
    """Name every model whose sd(E) at the several λ admit no single covariance of KL and NS.

    var(E) = var(KL) + 2λ·cov + λ²·var(NS): with Table 1's two variances each sd(E) of Table 8 leaves an interval for
    the covariance, and these must have a point in common.

    Parameters
    ----------
    whole, by_tradeoff : sequence of dict
        Rows of Tables 1 and 8.

    Returns
    -------
    list of str
        One sentence per dataset and model.

    Examples
    --------
    >>> whole = [{"dataset": "A", "model": "B", "kl_sd": "1.0", "ns_sd": "1.0"}]
    >>> rows = [{"dataset": "A", "model": "B", "tradeoff": t, "e_sd": sd} for t, sd in (("1", "1.4"), ("2", "2.2"))]
    >>> covariances(whole, rows)
    []
    >>> rows[1]["e_sd"] = "2.9"
    >>> covariances(whole, rows)
    ["A, B: no covariance of KL and NS gives all of table8's sd(E) with table1's sd(KL) = 1.0 and sd(NS) = 1.0: ..."]
    """
    ingredients = {(row["dataset"], row["model"]): row for row in whole}
    allowed = defaultdict(list)
    for row in by_tradeoff:
        key, tradeoff = (row["dataset"], row["model"]), float(row["tradeoff"])
        kl, ns = (_positive(ingredients[key][column]) for column in ("kl_sd", "ns_sd"))
        e = _positive(row["e_sd"])
        low = (e.low**2 - kl.high**2 - (tradeoff * ns.high) ** 2) / (2 * tradeoff)
        high = (e.high**2 - kl.low**2 - (tradeoff * ns.low) ** 2) / (2 * tradeoff)
        allowed[key].append((low, high, tradeoff))
    found = []
    for (dataset, model), intervals in allowed.items():
        low, _, at_low = max(intervals)
        high, at_high = min((high, tradeoff) for _, high, tradeoff in intervals)
        if low > high + SLACK:
            row = ingredients[dataset, model]
            found.append(
                f"{dataset}, {model}: no covariance of KL and NS gives all of table8's sd(E) with table1's "
                f"sd(KL) = {row['kl_sd']} and sd(NS) = {row['ns_sd']}: λ = {at_low:g} needs at least {low:.2g}, "
                f"λ = {at_high:g} at most {high:.2g}"
            )
    return found


def toy_arithmetic(rows: Rows) -> list[str]:
    """Name the sums of Table 3 that are not the nearest rounding of the very sum the paper shows.

    Examples
    --------
    >>> toy_arithmetic([{"model": "D", "kl": "0.398", "ns": "0.009", "tradeoff": "0.1", "e": "0.398"}])
    ['table3: the sums shown are not rounded to nearest: D at λ = 0.1 prints 0.398 for 0.3989']
    """
    wrong = []
    for row in rows:
        exact = Decimal(row["kl"]) + Decimal(row["tradeoff"]) * Decimal(row["ns"])
        printed = Decimal(row["e"])
        if abs(printed - exact) > Decimal(1).scaleb(int(printed.as_tuple().exponent)) / 2:
            wrong.append(f"{row['model']} at λ = {row['tradeoff']} prints {row['e']} for {exact.normalize()}")
    return [f"table3: the sums shown are not rounded to nearest: {'; '.join(wrong)}"] if wrong else []


def vertex_choices(rows: Rows) -> list[str]:
    """Name what Table 4 cannot have with both choices of vertices taken from the same masses.

    NS is a sum over masses and knows no vertices; and the nearest of all vertices is never farther than the nearest of
    some of them.

    Examples
    --------
    >>> row = {f"{term}_{part}_mean": "0.10" for term in ("kl", "ns") for part in ("correct", "incorrect")}
    >>> naive = {"model": "DE", "vertices": "naive"} | row
    >>> vertex_choices([naive, {"model": "DE", "vertices": "approximated"} | row])
    []
    >>> vertex_choices([naive, {"model": "DE", "vertices": "approximated"} | row | {"kl_correct_mean": "0.05"}])
    ['table4, DE, correct: KL is 0.10 to the nearest of all vertices and 0.05 to the nearest of some, ...']
    """
    found = []
    by_choice = {(row["model"], row["vertices"]): row for row in rows}
    for model in dict.fromkeys(row["model"] for row in rows):
        every, some = by_choice[model, "naive"], by_choice[model, "approximated"]
        for part in ("correct", "incorrect"):
            ns, kl = f"ns_{part}_mean", f"kl_{part}_mean"
            a, b = Rounded.read(every[ns]), Rounded.read(some[ns])
            if max(a.low, b.low) > min(a.high, b.high) + SLACK:
                found.append(
                    f"table4, {model}, {part}: NS is {every[ns]} with all vertices and {some[ns]} with some, "
                    "yet it is a sum over masses and knows no vertices"
                )
            if Rounded.read(every[kl]).low > Rounded.read(some[kl]).high + SLACK:
                found.append(
                    f"table4, {model}, {part}: KL is {every[kl]} to the nearest of all vertices and {some[kl]} to the "
                    "nearest of some, which cannot be nearer"
                )
    return found


def _positive(text: str) -> Rounded:
    """A printed standard deviation: rounding does not take it below zero."""
    number = Rounded.read(text)
    return Rounded(number.value, max(0.0, number.low), number.high)


# The tables of the unified evaluation, recomputed from their own ingredients.
#
# E = KL + λ·NS is linear in its two means, so Table 1 alone fixes the rankings of Tables 2, 5 (KL), 6 (NS), 8, 9 and
# 10. Contradictions beyond rounding are named: totals and ranks, standard deviations that break the triangle
# inequality, parts in Table 7 that do not recombine to Table 1's whole, and rows that lie on no line in λ.

SOURCE = "Manchingal, Mubashar, Wang and Cuzzolin, A unified evaluation framework for epistemic predictions"
HALF = 0.0005  # half a unit of the third decimal, in which the totals and their ingredients are printed

TABLES = {name: table.source for name, table in LAYOUTS.items()}
DATASETS = dict.fromkeys(("table2", "table5", "table6"), "CIFAR-10") | {"table9": "MNIST", "table10": "CIFAR-100"}


@dataclass(frozen=True, slots=True)
class Total:
    """A printed mean of E, and the printed means of its terms (None if the paper prints none)."""

    table: str
    group: str  # the cells ranked together, for example "table5/KL/lambda=0.2"
    dataset: str
    model: str
    terms: tuple[str, str]  # distance and measure, for example ("KL", "CU")
    tradeoff: float
    printed: str
    rank: str
    distance: Rounded | None
    measure: Rounded | None

    @property
    def name(self) -> str:
        """Where it is printed."""
        return f"{self.group}/{self.model}"

    @property
    def quantity(self) -> tuple[str, str, tuple[str, str], float]:
        """The quantity, which may be printed in several tables."""
        return self.dataset, self.model, self.terms, self.tradeoff


def reproduce_unified_tables(
    *,
    tables: Annotated[
        Tables | None,
        "Rows by table (a key of TABLES), as from printed_table, instead of those in the package.",
    ] = None,
) -> Reproduction:
    """Recompute the tables of the unified evaluation and name their misprints.

    Returns
    -------
    Reproduction
        Cells ``…/e`` and ``…/rank`` of Tables 1, 2, 3, 5, 6, 8, 9 and 10, bounds for the standard deviations ``…/e_sd``
        (Tables 1, 4, 7 and 8), sums of Tables 4 and 7, and under ``table7/…/all/`` the value of Table 1 and the one
        computed from the two parts in Table 7.

    Notes
    -----
    A total agrees when it is within 0.0005·(2 + λ) of KL + λ·NS: the rounding of its two ingredients and its own. A
    rank agrees when some values within the rounding of the ingredients give it. The paper prints no mean of JS or of
    CU, so those rows of Tables 5 and 6 are held against the line in λ on which most of the ten rows of a model lie.

    Examples
    --------
    >>> [cell.name for cell in reproduce_unified_tables().misprints if cell.name.startswith("table2")]
    ['table2/lambda=0.2/RS-NN/e', 'table2/lambda=0.3/RS-NN/e']
    """
    rows = tables_by_name(TABLES, tables)
    totals = _totals(rows)
    cells = _total_cells(totals) + _sd_cells(rows) + _part_cells(rows) + _mixture_cells(rows)
    order = list(TABLES)
    cells.sort(key=lambda cell: order.index(cell.name.split("/")[0]))  # stable: within a table as built
    return Reproduction("unified-tables", SOURCE, tuple(cells), _notes(rows, totals), layouts=LAYOUTS)


# ---- totals and ranks ------------------------------------------------------------------------------------------------


def _totals(rows: Tables) -> list[Total]:
    whole = {(r["dataset"], r["model"]): r for r in rows["table1"]}
    totals = []
    for table in ("table1", "table2", "table3", "table5", "table6", "table8", "table9", "table10"):
        for row in rows[table]:
            dataset = DATASETS.get(table) or row.get("dataset", "toy")
            tradeoff, terms = row.get("tradeoff"), (row.get("distance", "KL"), row.get("nonspecificity", "NS"))
            means = row if table == "table3" else whole[dataset, row["model"]]
            kl, ns = (means["kl"], means["ns"]) if table == "table3" else (means["kl_mean"], means["ns_mean"])
            column = {"table1": [dataset], "table5": terms[:1], "table6": terms[1:], "table8": [dataset]}.get(table, [])
            totals.append(
                Total(
                    table=table,
                    group="/".join([table, *column, *([f"lambda={tradeoff}"] if tradeoff else [])]),
                    dataset=dataset,
                    model=row["model"],
                    terms=terms,
                    tradeoff=float(tradeoff or 1.0),
                    printed=row["e"] if table == "table3" else row["e_mean"],
                    rank=row.get("rank", ""),
                    distance=Rounded.read(kl) if terms[0] == "KL" else None,
                    measure=Rounded.read(ns) if terms[1] == "NS" else None,
                )
            )
    return totals


def _total_cells(totals: Sequence[Total]) -> list[PrintedCell]:
    lines = _lines(totals)
    printed = defaultdict(list)
    groups = defaultdict(list)
    for total in totals:
        printed[total.quantity].append(total)
        groups[total.group].append(total)
    cells = []
    for group in groups.values():
        ours = [_recomputed(total, lines) for total in group]
        for total, value in zip(group, ours, strict=True):
            cell = PrintedCell.within(
                f"{total.name}/e", _number(total.printed), value.value, value.low - HALF, value.high + HALF
            )
            cells.append(replace(cell, note=_total_reason(total, cell, printed[total.quantity])))
        if group[0].rank:
            for total, rank in zip(group, rank_bounds(ours), strict=True):
                cell = PrintedCell.within(f"{total.name}/rank", _number(total.rank), rank.value, rank.low, rank.high)
                reason = f"no values within rounding put {total.model} at rank {total.rank}"
                cells.append(replace(cell, note="" if cell.agrees else reason))
    return cells


def _lines(totals: Sequence[Total]) -> dict[tuple[str, str, tuple[str, str]], CommonLine]:
    """The line that most rows share, for each model whose distance or measure is not printed."""
    found: dict[tuple[str, str, tuple[str, str]], list[Total]] = defaultdict(list)
    for total in totals:
        if total.distance is None or total.measure is None:
            found[total.table, total.model, total.terms].append(total)
    return {
        key: common_line(
            [total.tradeoff for total in group],
            [Rounded.read(total.printed) for total in group],
            intercept=group[0].distance,
            slope=group[0].measure,
        )
        for key, group in found.items()
    }


def _recomputed(total: Total, lines: Mapping[tuple[str, str, tuple[str, str]], CommonLine]) -> Rounded:
    """E before its own rounding, with its range given the rounding of its terms."""
    if total.distance is not None and total.measure is not None:
        value = total.distance.value + total.tradeoff * total.measure.value
        return Rounded(value, value, value).widened(HALF * (1 + total.tradeoff))
    line = lines[total.table, total.model, total.terms]
    if 2 * sum(line.fits) <= len(line.fits):  # no majority, no judgement
        return Rounded(np.nan, np.nan, np.nan)
    return line.at(total.tradeoff)


def _total_reason(total: Total, cell: PrintedCell, same: Sequence[Total]) -> str:
    if cell.agrees is None:
        return "no line in λ fits most rows of this model" if total.printed else "the paper prints no value"
    d, m, t = total.distance, total.measure, total.tradeoff
    if cell.agrees:
        if d is not None and m is not None and abs(cell.paper - cell.ours) > HALF + d.half + t * m.half + SLACK:
            return f"beyond the digits of {total.terms[0]} {d.value:g}, though within the rule's three decimals"
        return ""
    if d is not None and m is not None:
        reason = f"{total.terms[0]} {d.value:g} + {t:g} · {total.terms[1]} {m.value:g} = {cell.ours:.6g}"
    else:
        other = "JS" if d is None else "CU"
        reason = f"the other rows of {total.model} with {other} lie on one line in λ, which gives {cell.ours:.3f} here"
    witnesses = [s for s in same if s.table != total.table and s.printed and s.printed != total.printed]
    return _with_witnesses(reason, {s.table: s.printed for s in witnesses})


# ---- standard deviations and sums ------------------------------------------------------------------------------------


def _sd_cells(rows: Tables) -> list[PrintedCell]:
    """Tables 1 and 8: sd(E) lies between |sd(KL) − λ·sd(NS)| and sd(KL) + λ·sd(NS)."""
    whole = {(r["dataset"], r["model"]): r for r in rows["table1"]}
    printed = _sds_at_one(rows)
    cells = []
    for table in ("table1", "table8"):
        for row in rows[table]:
            key, tradeoff = (row["dataset"], row["model"]), row.get("tradeoff", "")
            kl, ns = Rounded.read(whole[key]["kl_sd"]), Rounded.read(whole[key]["ns_sd"])
            place = [table, row["dataset"], *([f"lambda={tradeoff}"] if tradeoff else []), row["model"]]
            at_one = printed[key] if float(tradeoff or 1) == 1 else {}
            witnesses = {other: sd for other, sd in at_one.items() if other != table}
            cells.append(
                _sd_cell(f"{'/'.join(place)}/e_sd", row["e_sd"], kl, ns.scaled(float(tradeoff or 1)), witnesses)
            )
    return cells


def _sd_cell(
    name: str, printed: str, kl: Rounded, ns: Rounded, witnesses: Mapping[str, str] | None = None
) -> PrintedCell:
    paper = Rounded.read(printed)
    bounds = sd_bounds(kl, ns)
    cell = PrintedCell.within(name, paper.value, bounds.value, bounds.low - paper.half, bounds.high + paper.half)
    if cell.agrees:
        return cell
    if cell.agrees is None:
        return replace(cell, note="the paper prints no value")
    reason = f"sd(KL) = {kl.value:g} and λ·sd(NS) = {ns.value:g} leave sd(E) between their difference and their sum"
    reason += f", {bounds.low:.3f} to {bounds.high:.3f} with rounding"
    return replace(cell, note=_with_witnesses(reason, witnesses or {}))


def _with_witnesses(reason: str, witnesses: Mapping[str, str]) -> str:
    """The reason, with other tables that print another value of the same quantity."""
    return (
        f"{reason} ({listed([f'{table} prints {value}' for table, value in witnesses.items()])})"
        if witnesses
        else reason
    )


def _part_cells(rows: Tables) -> list[PrintedCell]:
    """Tables 4 and 7: within the correct and the incorrect instances too, E = KL + NS (λ = 1)."""
    cells = []
    for table, columns in (("table4", ("model", "vertices")), ("table7", ("dataset", "model"))):
        for row in rows[table]:
            for part in ("correct", "incorrect"):
                place = "/".join([table, *(row[column] for column in columns), part])
                kl, ns, e = (Rounded.read(row[f"{term}_{part}_mean"]) for term in ("kl", "ns", "e"))
                ours, tolerance = kl.value + ns.value, kl.half + ns.half + e.half
                cell = PrintedCell.within(f"{place}/e", e.value, ours, ours - tolerance, ours + tolerance)
                reason = f"KL {kl.value:g} + NS {ns.value:g} = {ours:.6g}"
                cells.append(replace(cell, note="" if cell.agrees else reason))
                kl, ns = (Rounded.read(row[f"{term}_{part}_sd"]) for term in ("kl", "ns"))
                cells.append(_sd_cell(f"{place}/e_sd", row[f"e_{part}_sd"], kl, ns))
    return cells


# ---- Table 7's parts against Table 1's whole -------------------------------------------------------------------------


def _mixture_cells(rows: Tables) -> list[PrintedCell]:
    """Table 7: accuracy · correct + (1 − accuracy) · incorrect is Table 1's mean, and likewise for its variance."""
    whole = {(r["dataset"], r["model"]): r for r in rows["table1"]}
    cells = []
    for parts in rows["table7"]:
        row = whole[parts["dataset"], parts["model"]]
        accuracy = Rounded.read(row["accuracy_percent"]).scaled(0.01)
        means = {term: _pair(parts, term, "mean") for term in ("kl", "ns", "e")}
        shares = {t: implied_share(Rounded.read(row[f"{t}_mean"]), *pair) for t, pair in means.items()}
        for term, pair in means.items():
            printed, sd = Rounded.read(row[f"{term}_mean"]), Rounded.read(row[f"{term}_sd"])
            sds = _pair(parts, term, "sd")
            place = f"table7/{parts['dataset']}/{parts['model']}/all/{term}"
            for name, paper, make in (
                (place, printed, partial(mixture_mean, inside=pair[0], outside=pair[1])),
                (f"{place}_sd", sd, partial(mixture_sd, means=pair, sds=sds)),
            ):
                ours = make(accuracy).widened(paper.half)
                cell = PrintedCell.within(name, paper.value, ours.value, ours.low, ours.high)
                cells.append(cell if cell.agrees else replace(cell, note=_mixture_reason(cell, accuracy, shares, make)))
    return cells


def _mixture_reason(
    cell: PrintedCell, accuracy: Rounded, shares: Mapping[str, Rounded | None], make: Callable[[Rounded], Rounded]
) -> str:
    """The share of correct instances that Table 7 needs, if it is not the printed accuracy."""
    reason = (
        f"at the printed accuracy {accuracy.value:.4g} the parts make {cell.ours:.4g}, table1 prints {cell.paper:g}"
    )
    known = {term: share for term, share in shares.items() if share is not None}
    if not known:
        return reason
    low, high = max(s.low for s in known.values()), min(s.high for s in known.values())
    if low > high:
        needs = ", ".join(f"{term.upper()} needs {s.low:.4f} to {s.high:.4f}" for term, s in known.items())
        return f"{reason}; no one share of correct instances fits all means ({needs})"
    if low <= accuracy.high and accuracy.low <= high:
        return f"{reason}; all its means do fit that accuracy"
    share = Rounded(0.5 * (low + high), low, high)
    reason += f"; all its means fit a share of correct instances of {low:.4f} to {high:.4f}"
    return f"{reason}, where the parts make {make(share).value:.4g}"


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _notes(rows: Tables, totals: Sequence[Total]) -> tuple[str, ...]:
    """Contradictions between tables that no single cell explains."""
    same: dict[tuple[str, str], list[tuple[float, str, str]]] = defaultdict(list)
    for total in totals:
        if total.printed and total.terms == ("KL", "NS"):
            same[total.dataset, total.model].append((total.tradeoff, total.table, total.printed))
    sds = {key: [(1.0, t, sd) for t, sd in prints.items()] for key, prints in _sds_at_one(rows).items()}
    return (
        *contradictions("mean of E", same),
        *contradictions("sd of E", sds),
        *covariances(rows["table1"], rows["table8"]),
        *toy_arithmetic(rows["table3"]),
        *vertex_choices(rows["table4"]),
    )


def _sds_at_one(rows: Tables) -> dict[tuple[str, str], dict[str, str]]:
    """Printed sd(E) at λ = 1, by table."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for table in ("table1", "table8"):
        for row in rows[table]:
            if float(row.get("tradeoff", 1)) == 1 and row["e_sd"]:
                found[row["dataset"], row["model"]][table] = row["e_sd"]
    return found


def _pair(row: Mapping[str, str], term: str, moment: str) -> tuple[Rounded, Rounded]:
    return Rounded.read(row[f"{term}_correct_{moment}"]), Rounded.read(row[f"{term}_incorrect_{moment}"])


def _number(text: str) -> float:
    return float(text) if text else float("nan")
