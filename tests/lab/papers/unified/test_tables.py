"""Cells and text of made predictions, with the printed values."""

import math
from dataclasses import replace

import numpy as np
from tests.lab.papers.unified.made import assays, made

import uqassay as uq
from uqassay.lab.papers.unified.printed import PrintedData, printed, printed_beside
from uqassay.lab.papers.unified.tables import claim_lines, means_by_part, table_cells, table_lines


def test_printed_value_that_is_not_there_is_nan():
    assert math.isnan(printed("table1", "CIFAR-100", "E-CNN/kl"))
    assert printed("table1", "CIFAR-10", "DE/accuracy_percent") == 93.77
    assert printed("table2", "CIFAR-10", "lambda=1.0/RS-NN/rank") == 1
    assert printed("table8", "CIFAR-10", "lambda=1.0/EDL/e") == 2.268


def test_points_alone_have_no_ranking():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    p = 0.7 * np.eye(3)[np.where(rng.random(300) < 0.8, y, (y + 1) % 3)] + 0.1
    found = assays({"SNN": uq.Point(p)}, y)
    ranked = {"exact": replace(found["exact"], models=found["exact"].models[1:])}
    lines = claim_lines("made", found, ranked, {"exact": {}})
    assert lines[2:] == [
        "    KL is lower for correct than for incorrect predictions: holds; the intervals lie apart in 1 of 1 models"
    ]
    tables = table_lines("made", found, ranked, PrintedData())
    assert not any(line.startswith("Table 2") for line in tables)
    cells = table_cells("made", found, ranked, PrintedData())
    assert {cell.name.split("/")[0] for cell in cells} == {"table1", "table7", "table8"}


def test_tables_of_made_predictions():
    said, y = made(np.random.default_rng(2))
    found = assays(said, y)
    lines = table_lines("mnist", found, found, printed_beside("mnist"))
    assert lines[0].startswith("Table 1, mnist (λ = 1;")
    whole = means_by_part(found["exact"], "all")
    row = next(line for line in lines if line.startswith("  DE, exact"))
    assert f"{whole['DE', '0', 'ns'].mean:.3f}" in row
    ranking = [line for line in lines if line.startswith("    λ = ")]
    assert any("[vacuous]" in line for line in ranking)
    cells = table_cells("mnist", found, found, printed_beside("mnist", compared=True))
    assert all(cell.agrees is None for cell in cells)  # the exact convention is never compared


def test_printed_values_are_compared_on_the_papers_own_data_in_its_convention():
    said, y = made(np.random.default_rng(3))
    found = {"paper": assays(said, y, convention="paper")["exact"]}
    beside = printed_beside("mnist", compared=True, differences="images of another size")
    cells = {cell.name: cell for cell in table_cells("mnist", found, found, beside)}
    cell = cells["table1/mnist/paper/DE/kl"]
    assert (cell.paper, cell.agrees, cell.note) == (0.002, False, "images of another size")
    assert cells["table2/mnist/paper/lambda=0.1/DE/rank"].agrees is None
    for beside in (
        printed_beside("digits", compared=True),
        printed_beside("mnist"),
        printed_beside("mnist", given=True, compared=True),
    ):
        assert all(cell.agrees is None for cell in table_cells("made", found, found, beside))
    for given, relation in (
        (False, "the same data set, trained otherwise"),
        (True, "whose place other files take here"),
    ):
        rows = table_cells("c", found, found, printed_beside("cifar-10", given=given))
        assert {row.name: row.note for row in rows}["table1/c/paper/DE/kl"] == (
            f"context only: the paper's 0.031 is of CIFAR-10, {relation}; it prints 0.002 for MNIST"
        )
