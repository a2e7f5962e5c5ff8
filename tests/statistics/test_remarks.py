"""Notes on groups, runs and single units: their codes, texts and facts."""

import pytest

from uqassay.statistics.estimate import interval_notes, single_unit, unit_notes
from uqassay.statistics.units import make_units

PLAIN, GROUPED, ONE = make_units(3, None, None), make_units(3, ["a", "b", "a"], None), make_units(2, ["a", "a"], None)


@pytest.mark.parametrize(
    ("units", "n_runs", "expected"),
    [
        (PLAIN, [], []),
        (GROUPED, [], [("groups", "2 groups", {"groups": 2})]),
        (ONE, [], [("groups", "1 group", {"groups": 1})]),
        (PLAIN, [3], [("runs", "3 runs", {"runs": (3,)})]),
        (PLAIN, [3, 5], [("runs", "3 and 5 runs", {"runs": (3, 5)})]),
    ],
)
def test_groups_and_runs_are_counted(units, n_runs, expected):
    assert [(note.code, note.text, note.facts) for note in unit_notes(units, n_runs)] == expected


@pytest.mark.parametrize("n_runs", [[1], [4, 1]])
def test_a_single_run_has_a_note(n_runs):
    (note,) = unit_notes(PLAIN, n_runs)
    assert note.code == "runs"
    assert note.text.endswith("variation between runs is left out where there is only 1")


def test_weights_of_zero_leave_a_single_unit():
    assert single_unit(make_units(2, None, [1, 0])).text == "1 instance: no interval"
    assert (single_unit(ONE).code, single_unit(ONE).text) == ("no-interval", "1 group: no interval")
    assert single_unit(ONE, "no test", "no-test").code == "no-test"


def test_one_unit_has_no_interval():
    assert [note.code for note in interval_notes(ONE)] == ["groups", "no-interval"]
    assert [note.code for note in interval_notes(GROUPED, [2])] == ["groups", "runs"]
