"""Tables of printed numbers beside ours on the page of the reproductions."""

from benchmarks.measured.reproduction import disentanglement_printed, ranking_misprints, unified_misprints

from uqassay.lab.papers import reproduce


def test_every_misprint_stands_in_a_table():
    rows = unified_misprints().rows
    result = reproduce("unified-tables")
    lines = [cell for cell in result.misprints if cell.name.startswith("table5")]
    parts = [cell for cell in result.misprints if cell.name.startswith("table7")]
    assert len(rows) == len(result.misprints) - len(lines) - len(parts) + 2
    assert rows[1][:3] == ["Table 2, λ = 0.2, RS-NN, e", "0.309", "0.400 (0.399 to 0.401)"]
    assert rows[-2][1] == "0.250, 0.392, 0.681, 1.810, 2.280"  # paper 000, Table 5, JS at λ = 1
    assert rows[-1][1] == f"{len(parts)} cells"
    for cell in parts:
        assert cell.name.split("/")[2] in rows[-1][0]


def test_printed_correlations_stand_beside_those_that_fit():
    rows = ranking_misprints().rows
    assert [row[1] for row in rows] == ["94.30", "53.99", "−0.04", "23.47", "53.75"]
    assert rows[2][2] == "−3.93 (−3.94 to −3.91)"


def test_every_table_on_disentanglement_is_counted():
    rows = disentanglement_printed().rows
    assert [row[:3] for row in rows] == [
        ["1", "16", "0"], ["2", "80", "18"], ["3", "80", "0"], ["4", "80", "0"], ["5", "80", "0"]
    ]  # fmt: skip
