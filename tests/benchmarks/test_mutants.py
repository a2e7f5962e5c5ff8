"""Faults sown into a file: one expression each, never in words or types."""

import ast

import pytest

from benchmarks import mutants

CODE = '''
def middle(values: list[int], most: int = 3) -> float:
    """At most 3 values."""
    if len(values) > most and values:
        fail("values", f"must hold at most {most + 1}", "", "", code="range")
    return -min(values) if not most else sum(values) / 2
'''
SOWN = {
    "len(values) > most": "len(values) >= most",
    "len(values) > most and values": "len(values) > most or values",
    "min": "max",
    "-min(values)": "min(values)",
    "not most": "most",
    "sum(values) / 2": "sum(values) * 2",
    "2": "3",
    "-min(values) if not most else sum(values) / 2": "sum(values) / 2 if not most else -min(values)",
}


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "SOURCE", tmp_path)
    (tmp_path / "code.py").write_text(CODE)
    return tmp_path


def test_every_expression_outside_words_and_types_can_be_changed(source):
    assert {fault.before: fault.after for fault in mutants.faults_of(source / "code.py")} == SOWN


def test_a_sown_file_differs_in_the_one_expression(source, tmp_path):
    whole = ast.unparse(ast.parse(CODE))
    for fault in mutants.faults_of(source / "code.py"):
        place = tmp_path / "copy"
        place.mkdir(exist_ok=True)
        mutants.sow(fault, place)
        lines = zip(whole.splitlines(), (place / "code.py").read_text().splitlines(), strict=True)
        assert sum(a != b for a, b in lines) == 1
