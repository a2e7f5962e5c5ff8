"""A benchmark's configuration: the same from TOML, YAML and options, stored exactly, refused clearly."""

import os
import re
import sys
import tomllib

import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.bench.config import BenchConfig, read_config, read_params, read_values, to_toml

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
        ("a.toml", "seeds = ", "config", "unreadable", "Invalid value"),
        ("a.yml", "seeds: [", "config", "unreadable", ""),
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
    with refuses("pyyaml", "package", got=r"pip install .\.\[bench\].*, or .*TOML", error=MissingDependencyError):
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


def test_text_behind_a_value_is_not_passed_over():
    assert read_params(["x.a=1\nb = 2"]) == {"x": {"a": "1\nb = 2"}}


def test_values_of_another_form_are_refused():
    with refuses("condition", "type", got="got 'share'"):
        read_values(["share"], "condition")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_a_pipe_a_folder_or_a_device_is_not_waited_for(tmp_path, make):
    make(tmp_path / "run.toml")
    with refuses("config", "not-a-file", source=str(tmp_path / "run.toml")):
        read_config(tmp_path / "run.toml")
