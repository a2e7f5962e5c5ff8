"""Tables as text, CSV and LaTeX."""

import csv
import io
import re

import pytest
from tests.refusals import refuses

from uqassay.lab.papers import PrintedCell, Reproduction, reproduce
from uqassay.lab.papers.layouts import (
    FORMATS,
    LAYOUTS,
    CellPart,
    FilledTable,
    Layout,
    LayoutColumn,
    filled,
    known_format,
    layout_of,
    table_csv,
    table_latex,
    table_text,
)

NAN = float("nan")


def cell(name, paper, ours, low=NAN, high=NAN):
    return PrintedCell.within(name, paper, ours, low, high)


def table2(*cells: PrintedCell) -> FilledTable:
    return filled(layout_of("unified", 2), cells)


def test_text_marks_what_disagrees_and_shows_what_is_absent():
    found = filled(
        layout_of("unified", 3),
        [cell("table3/lambda=0.1/A/e", 0.259, 0.31, 0.3, 0.32), cell("table3/lambda=0.5/A/e", 0.326, 0.32, 0.3, 0.33)],
    )
    lines = table_text(found).splitlines()
    assert [" ".join(line.split()) for line in lines[2:5]] == [
        "A printed 0.243 0.166 0.259, 3 0.326, 2 0.575, 2",
        "ours – – 0.310* 0.320 –",
        "interval – – 0.300 to 0.320 0.300 to 0.330 –",
    ]
    assert [" ".join(line.split()) for line in lines[5:7]] == [
        "B printed 0.031 0.385 0.069, 1 0.223, 1 0.801, 3",
        "ours – – – – –",
    ]
    assert lines[-1] == "* the printed value lies outside the interval"
    assert not any(line != line.rstrip() for line in lines)


def test_an_interval_never_looks_like_a_point():
    found = filled(layout_of("unified", 3), [cell("table3/lambda=0.1/A/e", 0.259, 0.2593, 0.2591, 0.2594)])
    assert "0.2591 to 0.2594" in table_text(found)


def test_a_ranking_has_the_models_in_both_orders():
    ranks = {"DE": (1, 2), "CreINN": (2, 1), "EDL": (3, 3)}
    cells = [cell(f"table2/lambda=0.1/{model}/rank", *both, low=both[1], high=both[1]) for model, both in ranks.items()]
    cells += [cell("table2/lambda=0.1/CreINN/e", 0.117, 0.0604, 0.05, 0.07)]
    lines = [" ".join(line.split()) for line in table_text(table2(*cells)).splitlines()]
    assert lines[2] == "0.1 printed DE 0.069 CreINN 0.117 EDL 0.229 LB-BNN 0.259 E-CNN 0.354 RS-NN 0.399"
    assert lines[3] == "ours CreINN 0.060* DE* EDL – – –"
    assert lines[4] == "interval 0.050 to 0.070 – – – – –"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_columns_without_room_stand_in_further_blocks(width):
    result = reproduce("unified-tables")
    for table in (1, 5, 7):
        whole, folded = result.table(table), result.table(table, width=width)
        assert max(len(line) for line in folded.splitlines()[1:]) <= width
        parts = folded.removesuffix("* the printed value lies outside the interval").rstrip().split("\n\n")
        assert (len(parts) > 1) == (max(map(len, whole.splitlines())) > width)
        lines = [part.splitlines() for part in parts]
        assert {len(part) for part in lines[1:]} <= {len(lines[0]) - 1}  # the first has the title
        words = sorted(word for part in lines for line in part for word in re.findall(r"\d\.\d{3,}\*?", line))
        assert words == sorted(re.findall(r"\d\.\d{3,}\*?", whole))
    assert result.table(5, width=10_000) == result.table(5)


def test_verdicts_are_words_beside_p_values():
    columns = {"p_conf_random": 0.01, "p_classwise_random": 0.5}
    cells = [cell(f"table1/digits/DE/exact/{name}", NAN, p) for name, p in columns.items()]
    lines = table_text(filled(layout_of("credal-calibration", 1), cells)).splitlines()
    assert " ".join(lines[-1].split()) == "DE ours – – – True (p .01) – – False (p .50) – –"
    assert lines[3].split()[:6] == ["S", "printed", "0.7804", "0.0194", "0.0071", "True"]


def test_csv_has_a_line_for_each_row_and_exact_numbers():
    found = table2(
        cell("table2/lambda=0.1/DE/e", 0.069, 1 / 3, 0.25, 0.5), cell("table2/lambda=0.1/DE/rank", 1, 1, 1, 1)
    )
    rows = list(csv.DictReader(io.StringIO(table_csv(found))))
    assert [row["tradeoff"] for row in rows] == [f"{i / 10:.1f}" for i in range(1, 11)]
    first = rows[0]
    assert float(first["DE_e_ours"]) == 1 / 3
    assert [first[f"DE_e_{end}"] for end in ("paper", "low", "high", "agrees")] == ["0.069", "0.25", "0.5", "false"]
    assert [first[f"EDL_e_{end}"] for end in ("paper", "ours", "low", "high", "agrees")] == ["0.229", "", "", "", ""]
    assert first["DE_rank_agrees"] == "true"


@pytest.mark.parametrize(
    ("protocol", "table"),
    [(name, table) for name in ("unified-tables", "disentanglement", "ranking-oasst2") for table in LAYOUTS[name]]
    + [("credal-calibration", "table1"), ("epistemic-gain", "table2")],
)
def test_latex_is_well_formed(protocol, table):
    result = reproduce(protocol) if protocol.endswith("-tables") else Reproduction(protocol, "a paper", ())
    text = result.table(table, format="latex")
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\usepackage{booktabs}"):
        assert text.count(rule) == 1
    inside = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    columns = len(re.search(r"\\begin\{tabular\}\{(\w+)\}", text)[1])
    rows = [line for line in inside.splitlines() if not line.startswith("\\")]
    assert rows
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == columns - 1, row
    plain = re.sub(r"\\[&%$#_{}]", "", text.partition("\n")[2])
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert not re.search(r"[#%~_]", plain), "a special character that is not escaped"
    assert text.isascii()


def test_latex_escapes_names():
    layout = Layout(
        "A & B_1: 100 % of {x} ~ ^ \\ #",
        "unified_table3_toy_ranking",
        {"model": "Model"},
        (LayoutColumn("kl", "λ ± −", ("kl",)),),
        (CellPart(("t/{model}/{column}",)),),
    )
    text = table_latex(filled(layout, []))
    assert r"\caption{A \& B\_1: 100 \% of \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \#}" in text
    assert r"$\lambda$ $\pm$ $-$" in text


def test_formats_are_known_by_name():
    assert tuple(FORMATS) == ("text", "csv", "latex")
    assert known_format("csv") == "csv"
    with refuses("format", "choice", got="text, csv or latex; got 'html'"):
        known_format("html")
