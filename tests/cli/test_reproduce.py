"""`uqassay reproduce`: the cells are those of the library, and options that mean nothing are refused."""

import pytest

from uqassay.experiments import register


def test_reproduce(run):
    expected = register.reproduce("unified-tables")
    ran = run("reproduce", "unified-tables", "--preset", "smoke", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == expected.to_json()
    assert set(ran.json()[0]) == {"name", "paper", "ours", "low", "high", "agrees", "note"}
    assert run("reproduce", "unified-tables").out.rstrip("\n") == expected.summary()


@pytest.mark.parametrize(
    ("argv", "parameter"),
    [
        (["unified-tables", "--runs", "3"], "--runs"),
        (["unified-tables", "--table", "1"], "--table"),
        (["unified-tables", "--figure", "1"], "--figure"),
        (["credal-calibration", "--figure", "1", "--table", "1"], "--table"),
        (["unified-tables", "--sweep"], "--sweep"),
        (["methods"], "name"),
        ([], "name"),
    ],
)
def test_options_that_mean_nothing_are_refused(argv, parameter, run):
    ran = run("reproduce", *argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"{parameter}: ")
