"""The stored table of the unified evaluation on the JPEG copy, from made cells."""

import math

from benchmarks.unified_cifar_10 import table

from uqassay.experiments.reproduction import PrintedCell


def test_each_model_has_two_lines_of_ours_and_the_printed_one():
    cells = [
        PrintedCell("table1/copy/exact/DE/kl", 0.031, 0.5, 0.4, 0.6, None, ""),
        PrintedCell("table1/copy/paper/DE/kl", 0.031, 0.25, 0.2, 0.3, None, ""),
        PrintedCell("table1/copy/exact/DE/ece", 0.007, 0.9, 0.8, 1.0, None, ""),
        PrintedCell("table1/copy/exact/vacuous/kl", math.nan, 0.0, math.nan, math.nan, None, ""),
        PrintedCell("table7/copy/exact/DE/kl_correct", 0.1, 0.7, 0.6, 0.8, None, ""),
    ]
    made = table(cells, ["Findings:", "  exact", "    DE has less: holds"])
    assert made.columns == ("", "accuracy, %", "KL", "NS", "E at λ = 1")
    assert made.rows[:3] == [
        ["DE, exact", "–", "0.500 [0.400, 0.600]", "–", "–"],
        ["DE, paper's convention", "–", "0.250 [0.200, 0.300]", "–", "–"],
        ["printed: CIFAR-10, DE", "93.77", "0.031", "0.385", "0.415"],
    ]
    assert [row[0] for row in made.rows[3:]] == ["vacuous, exact", "vacuous, paper's convention"]
    assert made.text == ["Findings:", "", "* exact", "  * DE has less: holds"]
