"""The stored tables of the unified evaluation on the JPEG copy, from made cells."""

import math

from benchmarks.unified_cifar_10 import findings, table

from uqassay.lab.papers.paper_tables import PrintedCell


def test_each_model_has_one_line_with_the_printed_values():
    cells = [
        PrintedCell("table1/copy/exact/DE/kl", 0.031, 0.5, 0.4, 0.6, None, ""),
        PrintedCell("table1/copy/paper/DE/kl", 0.031, 0.25, 0.2, 0.3, None, ""),
        PrintedCell("table1/copy/paper/DE/accuracy_percent", 93.77, 70.0, 69.0, 71.0, None, ""),
        PrintedCell("table1/copy/exact/DE/ece", 0.007, 0.9, 0.8, 1.0, None, ""),
        PrintedCell("table1/copy/exact/vacuous/kl", math.nan, 0.0, math.nan, math.nan, None, ""),
        PrintedCell("table7/copy/exact/DE/kl_correct", 0.1, 0.7, 0.6, 0.8, None, ""),
    ]
    made = table(cells)
    made.markdown()  # as many cells as columns
    assert made.columns[1:3] == ("accuracy, %", "KL")
    assert made.columns[5] == "paper's convention: KL"
    kl, theirs = "0.500 [0.400, 0.600]", "0.250 [0.200, 0.300]"
    assert made.rows == [
        ["DE", "–", kl, "–", "–", theirs, "–", "–", "93.77, 0.031, 0.385, 0.415"],
        ["vacuous", "–", "0.000", "–", "–", "–", "–", "–", "–"],
    ]
    again = table(cells, {"slower": [cells[0], cells[4]]})  # baselines do not stand twice
    assert again.rows == [*made.rows, ["DE, slower", "–", kl, *["–"] * 5, "93.77, 0.031, 0.385, 0.415"]]


def test_findings_are_a_list():
    assert findings(["Findings:", "  exact", "    DE has less: holds"]).markdown() == [
        "Findings:",
        "",
        "* exact",
        "  * DE has less: holds",
    ]
