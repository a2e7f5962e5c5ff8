"""Names in little room: short, distinct, letter by letter."""

import pytest
from matplotlib.figure import Figure
from tests.report.figures.every_figure import long_name

from uqassay.report.figures.frame import escaped, short_names


def at_most(n):
    return lambda name: len(name) <= n


def test_names_that_fit_stay():
    assert short_names(["deep ensemble", "MC dropout"], at_most(13)) == ["deep ensemble", "MC dropout"]
    assert short_names([], at_most(5)) == []


@pytest.mark.parametrize("n", [2, 6, 30])
@pytest.mark.parametrize("most", [12, 20, 40])
def test_short_names_are_distinct_and_keep_what_tells_them_apart(n, most):
    names = [long_name(j) for j in range(n)]
    short = short_names(names, at_most(most))
    assert len(set(short)) == n
    assert all(len(name) <= max(most, 20) for name in short)
    for whole, name in zip(names, short, strict=True):
        parts = [part for part in name.split("…") if part]
        assert parts, "nothing is left of a name"
        assert all(part in whole for part in parts)


def test_what_all_have_in_common_goes_first():
    names = [f"a network of depth fifty, seed {j}, trained twice" for j in range(3)]
    assert short_names(names, at_most(20)) == ["…0…", "…1…", "…2…"]
    assert short_names(["x" * 40, "x" * 41], at_most(10))[0] != short_names(["x" * 40, "x" * 41], at_most(10))[1]


def test_equal_names_stay_equal():
    name = "one of the models that stands in two groups of rows"
    assert len(set(short_names([name, name], at_most(15)))) == 1
    assert len(short_names([name, name], at_most(15))[0]) <= 15


def test_text_of_data_is_no_markup():
    assert escaped("$x$") == r"\$x\$"
    assert short_names(["two\nlines", "_hidden"], at_most(30)) == [r"two\nlines", " _hidden"]
    ax = Figure().subplots()
    ax.plot([0], [0], label=short_names(["_hidden"], at_most(30))[0])
    assert [t.get_text() for t in ax.legend().get_texts()] == [" _hidden"]
