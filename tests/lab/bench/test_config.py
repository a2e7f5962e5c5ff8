"""A benchmark's configuration: the same from TOML, YAML and options, stored exactly, refused clearly."""

import datetime
import os
import re
import sys
import tomllib

import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.bench.config import (
    BenchConfig,
    checked_conditions,
    checked_decompositions,
    read_config,
    read_params,
    read_values,
    to_toml,
    toml_value,
    toml_values,
    yaml_values,
)

FULL = {
    "dataset": ["digits", "openml:40"], "method": ["snn", "narrow=mc-dropout"], "seeds": [3, 0], "preset": "smoke",
    "params": {"narrow": {"rate": 0.1, "sizes": [8, 8], "deep": {"x": True}}, "snn": {"name": 'é "quoted" \\ \t \x7f 😀'}},
    "condition": [{}, {"train_share": 1e-05}], "threads": 2, "common_members": None, "workers": 3, "scheduler": None,
}  # fmt: skip
TOML = """
dataset = ["digits", "openml:40"]
method = ["snn", "narrow=mc-dropout"]
seeds = [3, 0]
preset = "smoke"
threads = 2
workers = 3

[params.narrow]
rate = 0.1
sizes = [8, 8]
deep.x = true
[params.snn]
name = 'plain'

[[condition]]
[[condition]]
train_share = 1e-05
"""
YAML = """
dataset: [digits, "openml:40"]
method: [snn, narrow=mc-dropout]
seeds: [3, 0]
preset: smoke
threads: 2
workers: 3
params:
  narrow: {rate: 0.1, sizes: [8, 8], deep: {x: true}}
  snn: {name: plain}
condition:
  - {}
  - {train_share: 0.00001}
"""


def config(**changes):
    return BenchConfig(**{**FULL, **changes})


def test_stored_text_gives_the_configuration_back(tmp_path):
    for each in (config(), config(workers=None, scheduler="tcp://a:1"), BenchConfig("digits", "snn")):
        path = tmp_path / "config.toml"
        path.write_text(to_toml(each), encoding="utf-8")
        assert BenchConfig(**read_config(path)) == each
        assert BenchConfig(**each.to_dict()) == each
        assert tomllib.loads(to_toml(each)) == each.to_dict()


def test_toml_and_yaml_are_equal(tmp_path, needs):
    needs("yaml")
    (tmp_path / "a.toml").write_text(TOML)
    (tmp_path / "a.yaml").write_text(YAML)
    found = [BenchConfig(**read_config(tmp_path / name)) for name in ("a.toml", "a.yaml")]
    assert found[0] == found[1]
    assert found[0] == config(params={**FULL["params"], "snn": {"name": "plain"}})


def test_single_names_and_a_number_of_seeds_are_enough():
    found = BenchConfig("digits", "snn", seeds=3, condition={"train_share": 0.5})
    assert (found.dataset, found.method, found.seeds) == (("digits",), ("snn",), (0, 1, 2))
    assert found.condition == ({"train_share": 0.5},)
    assert BenchConfig("digits", "snn").condition == ({},)


def test_changes_go_before_what_was_set_and_parameters_are_added():
    changed = config().changed(seeds=2, params={"narrow": {"rate": 0.6}}, preset=None)
    assert (changed.seeds, changed.preset) == ((0, 1), "smoke")
    assert changed.params["narrow"] == {"rate": 0.6, "sizes": [8, 8], "deep": {"x": True}}
    assert changed.params["snn"] == config().params["snn"]
    assert config().params["narrow"]["rate"] == 0.1


@pytest.mark.parametrize(
    ("changes", "parameter", "code", "got"),
    [
        ({"dataset": []}, "dataset", "type", r"got \[\]"),
        ({"dataset": ["a", "a"]}, "dataset", "duplicate", "a is named twice"),
        ({"method": ["snn", "snn=mc-dropout"]}, "method", "duplicate", "label=snn"),
        ({"method": ["a=snn", " a = mc-dropout"]}, "method", "duplicate", "a is named twice"),
        ({"method": ["=snn"], "params": {}}, "method", "type", "got =snn"),
        ({"method": [3]}, "method", "type", "3"),
        ({"seeds": 0}, "seeds", "range", "10,000; got 0"),
        ({"seeds": [1, 1]}, "seeds", "type", r"got \[1, 1\]"),
        ({"seeds": [-1]}, "seeds", "type", r"got \[-1\]"),
        ({"seeds": [2**32]}, "seeds", "type", "4294967295; got .4294967296"),
        ({"seeds": True}, "seeds", "type", "got True"),
        ({"preset": "smok"}, "preset", "choice", "got 'smok'.*smoke"),
        ({"params": {"mc-dropout": {}}}, "params.mc-dropout", "choice", "snn or narrow"),
        ({"params": {"narow": {}}}, "params.narow", "choice", "narrow"),
        ({"params": {"snn": 3}}, "params", "type", "3"),
        ({"params": {"snn": {"a": None}}}, "params", "type", "null"),
        ({"params": {"snn": {"a": float("nan")}}}, "params", "finite", "float"),
        ({"condition": []}, "condition", "type", r"got \[\]"),
        ({"condition": [{"a": 1}, {"a": 1}]}, "condition", "duplicate", ""),
        ({"threads": 0}, "threads", "range", "got 0"),
        ({"common_members": 0}, "common_members", "range", "got 0"),
        ({"workers": -1}, "workers", "range", "got -1"),
        ({"scheduler": "host"}, "scheduler", "type", "got 'host'"),
    ],
)
def test_configuration_that_makes_no_sense_is_refused(changes, parameter, code, got):
    with refuses(parameter, code, got=got):
        config(**changes)


@pytest.mark.parametrize(
    ("name", "text", "parameter", "code", "got"),
    [
        ("a.toml", "seds = 3", "seds", "choice", "seeds"),
        ("a.toml", "nothing_like_it = 3", "nothing_like_it", "choice", "dataset, method, seeds"),
        ("a.yaml", "- 1", "config", "type", "got list"),
        ("missing.toml", None, "config", "unreadable", "No such file"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, needs, name, text, parameter, code, got):
    needs("yaml")
    if text is not None:
        (tmp_path / name).write_text(text)
    with refuses(parameter, code, got=got, source=str(tmp_path / name)):
        read_config(tmp_path / name)


def test_bytes_that_are_no_text_are_one_sentence(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    with refuses("config", "unreadable", got="UTF-8", source=str(tmp_path / "a.toml")):
        read_config(tmp_path / "a.toml")


def test_yaml_without_its_package_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "a.yml").write_text("seeds: 1")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with refuses("pyyaml", "package", got=r"pip install .uqassay\[lab\].*, or .*TOML", error=MissingDependencyError):
        read_config(tmp_path / "a.yml")


def test_parameters_are_read_as_toml_and_else_as_text():
    texts = ["a.b.rate=1e-3", "x.on=true", "x.sizes=[1, 2]", "x.name=adam", "x.name2='3'", "x.equal=a=b", "x.empty="]
    assert read_params(texts) == {
        "a.b": {"rate": 0.001},
        "x": {"on": True, "sizes": [1, 2], "name": "adam", "name2": "3", "equal": "a=b", "empty": ""},
    }
    assert read_values(["share=0.1", "what=x y"], "condition") == {"share": 0.1, "what": "x y"}


@pytest.mark.parametrize("text", ["rate=1", "x.rate", ".rate=1", "x.=1", "", "="])
def test_parameters_of_another_form_are_refused(text):
    with refuses("param", "type", got=re.escape(repr(text))):
        read_params([text])


def test_keys_that_yaml_merges_or_shares_are_given_once(tmp_path, needs):
    needs("yaml")
    (tmp_path / "a.yaml").write_text(
        "params:\n  a: &base {epochs: 1, rate: 0.5}\n  b: {<<: *base, epochs: 2}\n  c: *base\ncondition: []\n"
    )
    given = {"epochs": 1, "rate": 0.5}
    assert read_config(tmp_path / "a.yaml")["params"] == {"a": given, "b": given | {"epochs": 2}, "c": given}


def test_nothing_is_given_twice():
    with refuses("params.snn.epochs", "duplicate"):
        read_params(["snn.epochs=2", "snn.rate=1", " snn.epochs =3"])
    with refuses("condition.train_share", "duplicate"):
        read_values(["train_share=0.5", "train_share=0.7"], "condition")
    assert read_params(["a.epochs=2", "b.epochs=3"]) == {"a": {"epochs": 2}, "b": {"epochs": 3}}


def test_values_of_another_form_are_refused():
    with refuses("condition", "type", got="got 'share'"):
        read_values(["share"], "condition")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_a_pipe_a_folder_or_a_device_is_not_waited_for(tmp_path, make):
    make(tmp_path / "run.toml")
    with refuses("config", "not-a-file", source=str(tmp_path / "run.toml")):
        read_config(tmp_path / "run.toml")


# -- Values of a configuration: sets of conditions and decompositions by name. The others are in test_config.py.


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


# -- Values from TOML and YAML text: exactly what the text says, or one refusal that names its source.


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
