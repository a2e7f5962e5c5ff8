"""Values of a configuration: sets of conditions and decompositions by name. The others are in test_config.py."""

import pytest
from tests.refusals import refuses

from uqassay.lab.bench.config import checked_conditions, checked_decompositions, checked_seeds


def test_sets_and_tables_of_conditions():
    assert checked_conditions(" disentanglement ") == ("disentanglement",)
    assert checked_conditions(["disentanglement", {"train_share": 0.5}]) == ("disentanglement", {"train_share": 0.5})


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        ("disentanglment", "choice", "did you mean disentanglement"),
        ("", "choice", "got ''"),
        (["disentanglement", "disentanglement"], "duplicate", "twice"),
        ([], "type", r"got \[\]"),
        ([3], "type", r"got \[3\]"),
    ],
)
def test_conditions_of_another_form_are_refused(values, code, got):
    with refuses("condition", code, got=got):
        checked_conditions(values)


def test_decompositions_are_known_names():
    assert checked_decompositions(None) is None
    assert checked_decompositions("variance") == ("variance",)
    assert checked_decompositions(["gaussian-logits", "variance"]) == ("gaussian-logits", "variance")
    with refuses("decomposition", "choice", got="'varianz'.*variance"):
        checked_decompositions(["varianz"])
    with refuses("decomposition", "duplicate", got="variance"):
        checked_decompositions(["variance", "variance"])


def test_number_of_seeds():
    assert checked_seeds(3) == (0, 1, 2)
    with refuses("seeds", "type", got="got True"):
        checked_seeds(True)
