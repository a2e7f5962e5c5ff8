"""The guide's Table 1 against the rows from which it is made."""

import pytest
from benchmarks.credal_table1 import COLUMNS, COPY_SOURCE, SOURCE, table

from uqassay.lab.papers.paper_tables import PrintedCell

NAN = float("nan")
VALUES = {
    "avg_accuracy": 0.9621, "avg_ece_conf": 0.0204, "avg_ece_classwise": 0.00842,
    "p_conf_random": 1.0, "p_conf_minimised": 0.05, "weighted_conf_accuracy": 0.958, "weighted_conf_ece_conf": 0.0178,
    "p_classwise_random": 0.994, "p_classwise_minimised": 0.06,
    "weighted_classwise_accuracy": 1.0, "weighted_classwise_ece_classwise": 0.0073,
}  # fmt: skip


def rows(convention="exact"):
    return [
        PrintedCell.within(f"table1/digits/DE/{convention}/{name}", NAN, value, NAN, NAN)
        for name, value in VALUES.items()
    ]


def test_a_row_has_both_nulls_and_the_verdict_of_the_minimised_one():
    made = table([*rows(), *rows("paper-code")])
    assert made.columns == COLUMNS
    assert made.rows == [
        ["digits, DE", ".962", ".020", ".0084", "1.00 / .05 reject", ".958, .018", ".99 / .06 keep", "1.000, .0073"]
    ]


def test_printed_rows_stand_below_as_context():
    made = table(rows(), context=("CIFAR-10",))
    assert [row[0] for row in made.rows[1:3]] == ["printed: CIFAR-10, MOB, S", "printed: CIFAR-10, MOB, DN(0.1)"]
    assert len(made.rows) == 1 + 8
    assert made.rows[4] == [
        "printed: CIFAR-10, MOB, DE", ".833", ".168", ".0327", "keep", ".764, .015", "reject", ".767, .0062"
    ]  # fmt: skip


def test_a_row_that_lacks_a_value_is_not_made():
    with pytest.raises(KeyError, match="p_conf_minimised"):
        table([row for row in rows() if "minimised" not in row.name])


def test_its_code_is_found():
    assert [len(one.code()) for one in (SOURCE, COPY_SOURCE)] == [64, 64]
