"""The printed tables on disentanglement: every cell is recomputed, the 18 misprints are found and nothing else is."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.papers.disentangling.made import changed
from tests.refusals import refuses

from uqassay.lab.papers import Reproduction, printed_table, reproduce
from uqassay.lab.papers.disentangling.printed import (
    DATASETS,
    TABLES,
    distance,
    mean,
    place_of,
    printed_values,
    reproduce_disentanglement_tables,
    terms,
)
from uqassay.lab.papers.rounding import Rounded

WINE = {"dataset": "Wine", "method": "Flipout", "decomposition": "IT"}


@pytest.fixture(scope="module")
def result() -> Reproduction:
    return reproduce_disentanglement_tables()


def names_of(result: Reproduction) -> set[str]:
    return {cell.name for cell in result.misprints}


def recombined() -> dict[tuple[str, str, str], Decimal]:
    """The mean of the four deviations in exact arithmetic, by data set, method and decomposition."""
    sums: dict[tuple[str, str, str], Decimal] = {}
    for table, ideals in (("table3", (0, 1)), ("table4", (1, 0))):
        for row in printed_table(TABLES[table]):
            if row["dataset"] in DATASETS:
                ideal = ideals[row["uncertainty"] == "epistemic"]
                key = row["dataset"], row["method"], row["decomposition"]
                sums[key] = sums.get(key, Decimal(0)) + abs(Decimal(row["pcc"]) - ideal)
    return {key: total / 4 for key, total in sums.items()}


# ---- what is compared ------------------------------------------------------------------------------------------------


def test_one_cell_for_each_printed_number(result):
    names = [cell.name for cell in result.rows]
    assert len(set(names)) == len(names)
    counts = {table: sum(name.startswith(f"{table}/") for name in names) for table in TABLES}
    assert counts == {"table1": 16, "table2": 2 * 40, "table3": 80, "table4": 80, "table5": 80}
    assert all(cell.agrees is not None for cell in result.rows)
    printed = {
        (row["dataset"], row["method"], row["decomposition"]): float(row["error"])
        for row in printed_table(TABLES["table2"])
    }
    for (dataset, method, short), value in printed.items():
        slug = DATASETS.get(dataset, "average")
        (cell,) = [cell for cell in result.rows if cell.name == f"table2/{slug}/{method}/{short}"]
        assert cell.paper == value


def test_recombined_errors_against_brute_force(result):
    cells = {cell.name: cell for cell in result.rows}
    outside = set()
    for row in printed_table(TABLES["table2"]):
        key = row["dataset"], row["method"], row["decomposition"]
        if row["dataset"] not in DATASETS:
            continue
        ours, error = recombined()[key], Decimal(row["error"])
        name = f"table2/{DATASETS[key[0]]}/{key[1]}/{key[2]}"
        assert cells[name].ours == pytest.approx(float(ours), abs=1e-12)
        widened = 0.5 * (cells[name].high - cells[name].low) - float(row["ci95"])
        assert 0.0009 < widened <= 0.001 or name == "table2/cifar-10/MC-Dropout/GL"  # one term has two decimals
        if abs(error - ours) > Decimal(row["ci95"]):
            outside.add(name)
    assert len(outside) == 18
    assert names_of(result) == outside


def test_averages_against_brute_force(result):
    """Tables 3 and 4 average one column by absolute values, as their captions say; Table 5 averages plain values."""
    absolute = {"table3": "aleatoric", "table4": "epistemic", "table5": ""}
    cells = {cell.name: cell for cell in result.rows}
    for table, part in absolute.items():
        column = "roc_auc" if table == "table5" else "pcc"
        rows = printed_table(TABLES[table])
        for average in (row for row in rows if row["dataset"] == "Average"):
            same = ("method", "decomposition", "uncertainty")
            above = [Decimal(r[column]) for r in rows if r is not average and all(r[k] == average[k] for k in same)]
            above = [abs(value) if average["uncertainty"] == part else value for value in above]
            name = f"{table}/average/{'/'.join(average[key] for key in same)}"
            assert cells[name].ours == pytest.approx(float(sum(above) / 4), abs=1e-12)
            assert abs(sum(above) / 4 - Decimal(average[column])) <= Decimal("0.0005")


# ---- what is found ---------------------------------------------------------------------------------------------------


def test_consistent_tables_are_not_accused():
    rows = [dict(row) for row in printed_table(TABLES["table2"])]
    exact = recombined()
    for row in rows:
        if row["dataset"] in DATASETS:
            row["error"] = f"{exact[row['dataset'], row['method'], row['decomposition']]:.3f}"
            row["ci95"] = "0.000"
    for row in rows:
        if row["dataset"] not in DATASETS:
            same = [r for r in rows if r["dataset"] in DATASETS and r["method"] == row["method"]]
            errors = [Decimal(r["error"]) for r in same if r["decomposition"] == row["decomposition"]]
            row["error"], row["ci95"] = f"{sum(errors) / 4:.3f}", "0.000"
    assert names_of(reproduce_disentanglement_tables(tables={"table2": rows})) == set()


@pytest.mark.parametrize(
    ("table", "where", "text", "found"),
    [
        ("table1", {"method": "Flipout", "decomposition": "IT", "uncertainty": "epistemic"}, "0.580", "table5 prints 0.579"),
        ("table3", WINE | {"uncertainty": "aleatoric"}, "0.222", "need 0.1230"),
        ("table4", {**WINE, "dataset": "Fashion MNIST", "uncertainty": "epistemic"}, "-0.504", "need −0.60"),
        ("table5", {**WINE, "dataset": "Average", "uncertainty": "aleatoric"}, "0.700", "average to 0.6945"),
    ],
)  # fmt: skip
def test_a_planted_misprint_is_found(result, table, where, text, found):
    column = "pcc" if table in ("table3", "table4") else "roc_auc"
    new = reproduce_disentanglement_tables(tables=changed(table, column, text, **where))
    planted = {cell.name: cell for cell in new.misprints if cell.name.startswith(f"{table}/")}
    dataset = DATASETS.get(where.get("dataset", "CIFAR10"), "average")
    name = f"{table}/{dataset}/{where['method']}/{where['decomposition']}/{where['uncertainty']}"
    assert found in planted[name].note
    assert len(planted) == (1 if table == "table1" else 5)  # five cells share one equation


def test_a_planted_interval_is_found():
    new = reproduce_disentanglement_tables(tables=changed("table2", "ci95", "0.148", **WINE))
    assert "need 0.0490" in next(cell.note for cell in new.misprints if cell.name == "table2/wine/Flipout/IT/ci95")
    assert "table2/average/Flipout/IT/ci95" in names_of(new)


def test_unknown_and_missing_rows_are_refused():
    with refuses("tables", "choice", got="got 'table9'"):
        reproduce_disentanglement_tables(tables={"table9": []})
    rows = printed_table(TABLES["table3"])[1:]
    with refuses("tables", "missing", got="table3/cifar-10/MC-Dropout/GL/aleatoric is missing"):
        reproduce_disentanglement_tables(tables={"table3": rows})


def test_it_is_a_protocol(result):
    assert reproduce("disentanglement-tables") == result
    assert json.loads(json.dumps(result.to_json()))[0]["name"] == "table1/cifar-10/MC-Dropout/GL/aleatoric"
    assert "table2: 80 cells, 62 agree, 18 disagree" in result.summary()


# -- The printed tables as rounded numbers, and the arithmetic on them.


NUMBERS = st.decimals(-1, 1, places=3).map(str)


def test_cells_are_found_by_name():
    values = printed_values()
    assert values.at(*place_of("table2/wine/MC-Dropout/IT")).value == 0.645
    assert values.at(*place_of("table2/average/MC-Dropout/IT/ci95")).value == 0.037
    assert values.at(*place_of("table3/cifar-10/MC-Dropout/GL/epistemic")).half == pytest.approx(0.005)  # two decimals
    assert len(values.numbers) == 16 + 80 + 3 * 80
    assert [round(term.value, 3) for term in terms(values, "wine", "MC-Dropout", "IT")] == [0.875, 0.272, 0.057, 0.873]


@given(NUMBERS, st.sampled_from([0.0, 1.0]), st.floats(0, 1))
def test_a_distance_holds_every_number_that_rounds_so(text, ideal, share):
    value = Rounded.read(text)
    inside = value.low + share * (value.high - value.low)
    found = distance(value, ideal)
    assert found.low - 1e-12 <= abs(inside - ideal) <= found.high + 1e-12
    assert found.value == abs(value.value - ideal)


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 1)), min_size=1, max_size=6))
def test_a_mean_holds_every_mean(pairs):
    values = [Rounded.read(text) for text, _ in pairs]
    inside = sum(v.low + share * (v.high - v.low) for v, (_, share) in zip(values, pairs, strict=True)) / len(pairs)
    assert mean(values).low - 1e-12 <= inside <= mean(values).high + 1e-12


# -- Contradictions of the paper on disentanglement: each sentence follows the numbers.


def notes(**tables: list[dict[str, str]]) -> str:
    return "\n".join(reproduce_disentanglement_tables(tables=tables).notes)


@pytest.mark.parametrize(
    "sentence",
    [
        "section 7 counts 5 datasets; the tables have 4",
        "the second is PCC_epi, as in the caption of table4, where the averages of |PCC_ale| are 0.864 to 0.981",
        "PCC_epi ≥ 0.725 is the cell of Flipout on CIFAR10 (0.725), the next is 0.931 and the averages are 0.907 to 0.988",
        "PCC_ale = 0.981 is the average of MC-DropConnect",
        "in 18 of 32 cells, above it in 13",
        "nearer their mean in 32 of 32 cells (sums would be 1.027 to 3.814)",
        "table1 repeats the CIFAR-10 part of table5 in 16 of 16 cells",
        "smaller, by a factor of 1.5 to 2.0",
        "IT – Deep Ensembles (0.409) before IT – Flipout (0.437) by table2",
        "IT – Flipout (0.365) before IT – Deep Ensembles (0.390) by table3 and table4",
        "in 15 of 16 by table2",
        "in table5 it does in 12 of 16 cases",
    ],
)
def test_the_contradictions_of_the_paper(sentence):
    assert sentence in notes()


FLIPOUT = {"method": "Flipout", "decomposition": "GL"}
DROPOUT = {"method": "MC-Dropout", "decomposition": "GL", "dataset": "Wine"}


@pytest.mark.parametrize(
    ("table", "column", "text", "where", "sentence"),
    [
        ("table1", "roc_auc", "0.9", FLIPOUT | {"uncertainty": "aleatoric"}, "15 of 16 cells"),
        ("table2", "error", "0.913", DROPOUT, "17 of 32 cells"),
        ("table2", "error", "3.7", DROPOUT, "31 of 32 cells"),
        (
            "table4",
            "pcc",
            "0.6",
            FLIPOUT | {"dataset": "BCI", "uncertainty": "epistemic"},
            "the cell of Flipout on BCI (0.600), the next is 0.725",
        ),
        (
            "table5",
            "roc_auc",
            "0.9",
            {"method": "Flipout", "decomposition": "IT", "dataset": "BCI", "uncertainty": "epistemic"},
            "11 of 16 cases",
        ),
        (
            "table2",
            "error",
            "0.1",
            FLIPOUT | {"dataset": "average"},
            "GL – Flipout (0.100) before IT – Deep Ensembles (0.409) by table2",
        ),
    ],
)
def test_the_sentences_follow_the_numbers(table, column, text, where, sentence):
    assert sentence not in notes()
    assert sentence in notes(**changed(table, column, text, **where))
