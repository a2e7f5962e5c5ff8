"""The declaration of support, its table, and the page that shows it."""

from pathlib import Path

import pytest

import uqassay as uq
from uqassay._array_support import SUPPORT, Support

PAGE = Path(__file__).parents[1] / "docs" / "arrays.md"


def test_the_page_shows_the_declaration():
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition("<!-- print(uq.array_support()) -->\n")[2].partition("\n<!-- end -->")[0]
    assert shown == uq.array_support().markdown(), "paste uq.array_support().markdown() into docs/arrays.md"


def test_options_decide():
    one = Support("measures.f", only={"tolerance": (None,), "name": ("a", "b")})
    assert one.computes_natively({})
    assert one.computes_natively({"name": "b", "tolerance": None, "other": 3})
    for options in ({"name": "c"}, {"tolerance": 0.1}, {"name": ["a"]}, {"name": lambda p: p}):
        assert not one.computes_natively(options)
    assert one.where == 'on the device, with `tolerance` None, `name` "a" or "b"; otherwise on the host'
    labels = Support("losses.f", label_distributions=False)
    assert labels.computes_natively({})
    assert not labels.computes_natively({}, one_label_each=False)


def test_printed_it_is_a_table():
    lines = str(uq.array_support()).splitlines()
    assert len(lines) == len(SUPPORT)
    assert lines[1].split() == ["losses.is_correct", "on", "the", "device"]
    assert uq.array_support()["measures.upper_entropy"].where == "on the host"
    with pytest.raises(KeyError):
        uq.array_support()["measures.nonsense"]
