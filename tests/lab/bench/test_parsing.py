"""Values from TOML and YAML text: exactly what the text says, or one refusal that names its source."""

import datetime

import pytest
from tests.refusals import refuses

from uqassay.lab.bench.config import toml_value, toml_values, yaml_values


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-3", 0.001), ("[1, 2]", [1, 2]), ("true", True), ("'3'", "3"), ("adam", "adam"), ("", ""), (" a b ", "a b"),
     ("1\nb = 2", "1\nb = 2"), ("2020-01-02", datetime.date(2020, 1, 2)), ("inf", float("inf"))],
)  # fmt: skip
def test_text_is_read_as_toml_and_else_stays_text(text, value):
    assert toml_value(text, "params.x.n") == value


@pytest.mark.parametrize(
    ("text", "got"),
    [
        (9000 * "[", "too many lists"),
        (100 * "[" + 100 * "]", "50"),
        (5000 * "1", "5000 digits"),
        ("0x" + 5000 * "f", "20000"),
    ],
)
def test_values_too_long_or_too_deep_are_refused_by_their_name(text, got):
    with refuses("params.x.n", "size", got=got, source=""):
        toml_value(text, "params.x.n")


@pytest.mark.parametrize(
    ("name", "text", "parameter", "code", "got"),
    [
        ("a.toml", "seeds = ", "config", "unreadable", "Invalid value"),
        ("a.yaml", "seeds: [", "config", "unreadable", ""),
        ("a.yaml", "seeds: !!python/object/apply:os.getcwd []", "config", "unreadable", ""),
        ("a.yaml", "params: {snn: {epochs: 2001-99-14}}", "config", "unreadable", "1..12"),
        ("a.yaml", "params: {snn: &a {epochs: *a}}", "config", "size", "50"),
        ("a.yaml", "seeds: " + 9000 * "[", "config", "unreadable", "too many lists"),
        ("a.yaml", "seeds: " + 100 * "[" + 100 * "]", "config", "size", "50"),
        ("a.yaml", "seeds: !!timestamp x", "config", "unreadable", ""),
        ("a.yaml", "seeds: " + 5000 * "1", "config", "unreadable", "5000 digits"),
        ("a.yaml", "seeds: 1\npreset: cpu\nseeds: 2", "seeds", "duplicate", "line 3"),
        ("a.yaml", "params: {snn: {epochs: 1, 'epochs': 2}}", "epochs", "duplicate", "line 1"),
        ("a.yaml", "condition: [{a: 1}, {b: 1, b: 2}]", "b", "duplicate", "line 1"),
        ("a.toml", "seeds = " + 9000 * "[", "config", "size", "too many lists"),
        ("a.toml", "seeds = " + 100 * "[" + 100 * "]", "config", "size", "50"),
        ("a.toml", "seeds = " + 5000 * "1", "config", "size", "5000 digits"),
        ("a.toml", "seeds = 0x" + 5000 * "f", "config", "size", "20000"),
        ("a.toml", "seeds = 1\nseeds = 2", "config", "unreadable", "overwrite"),
    ],
)
def test_files_that_cannot_be_read_are_one_sentence(needs, name, text, parameter, code, got):
    needs("yaml")
    with refuses(parameter, code, got=got, source=name):
        (toml_values if name.endswith("toml") else yaml_values)(text, name)


def test_both_formats_hold_the_same_values(needs):
    needs("yaml")
    expected = {"seeds": [0, 1], "params": {"snn": {"rate": 0.5, "on": True}}}
    assert toml_values("seeds = [0, 1]\n[params.snn]\nrate = 0.5\non = true", "a.toml") == expected
    assert yaml_values("seeds: [0, 1]\nparams: {snn: {rate: 0.5, 'on': true}}", "a.yaml") == expected
    assert (toml_values("", "a.toml"), yaml_values("", "a.yaml")) == ({}, None)
