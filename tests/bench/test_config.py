"""A benchmark's configuration: the same from TOML, YAML and options, stored exactly, refused clearly."""

import sys
import tomllib

import pytest
from tests.refusals import refuses

from uqassay.bench.config import BenchConfig, read_config, read_params, read_values, to_toml
from uqassay.errors import InputError, MissingDependencyError

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
    ("changes", "words"),
    [
        ({"dataset": []}, r"dataset: must be one name or several; got \[\]"),
        ({"dataset": ["a", "a"]}, "dataset: a is named twice; name each once"),
        ({"method": ["snn", "snn=mc-dropout"]}, "method: snn is named twice; write label=snn"),
        ({"method": ["a=snn", " a = mc-dropout"]}, "method: a is named twice"),
        ({"method": ["=snn"], "params": {}}, "method: must read NAME or LABEL=NAME; got =snn"),
        ({"method": [3]}, "method: must be one name or several"),
        ({"seeds": 0}, "seeds: must be 1 … 10000 in number; got 0"),
        ({"seeds": [1, 1]}, "seeds: must be a number, or different whole numbers"),
        ({"seeds": [-1]}, "seeds: must be a number, or different whole numbers"),
        ({"seeds": [2**32]}, "seeds: must be a number, or different whole numbers from 0 to 4294967295"),
        ({"seeds": True}, "seeds: must be a number, or different whole numbers"),
        ({"preset": "smok"}, "preset: must be smoke, cpu, paper; got 'smok'; did you mean smoke"),
        ({"params": {"mc-dropout": {}}}, "params: 'mc-dropout' is none of the methods snn, narrow"),
        ({"params": {"narow": {}}}, "did you mean narrow"),
        ({"params": {"snn": 3}}, "params: must hold a table for each method"),
        ({"params": {"snn": {"a": None}}}, "params: null has no meaning here"),
        ({"params": {"snn": {"a": float("nan")}}}, "params: must be made of text"),
        ({"condition": []}, r"condition: must be a table or several; got \[\]"),
        ({"condition": [{"a": 1}, {"a": 1}]}, "condition: one is given twice"),
        ({"threads": 0}, "threads: must be a whole number of at least 1; got 0"),
        ({"common_members": 0}, "common_members: must be a whole number of at least 1; got 0"),
        ({"workers": -1}, "workers: must be a whole number of at least 0; got -1"),
        ({"scheduler": "host"}, "scheduler: must be an address such as tcp://host:8786; got 'host'"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, words):
    with pytest.raises(InputError, match=words):
        config(**changes)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "seds = 3", "a.toml has the key 'seds', which is unknown; did you mean seeds"),
        ("a.toml", "nothing_like_it = 3", "is unknown; known are dataset, method, seeds"),
        ("a.toml", "seeds = ", r"is no TOML \(Invalid value"),
        ("a.yaml", "seeds: [", r"is no YAML \("),
        ("a.yaml", "- 1", "must hold keys and values; got list"),
        ("a.yaml", "seeds: !!python/object/apply:os.getcwd []", "is no YAML"),
        ("a.yaml", "params: {snn: {epochs: 2001-99-14}}", r"is no YAML \(month must be in 1..12\); mend it"),
        ("a.yaml", "params: {snn: &a {epochs: *a}}", "a.yaml holds more than 50 lists or tables in each other"),
        ("a.yaml", "seeds: " + 9000 * "[", r"is no YAML \(too many lists in lists\)"),
        ("a.yaml", "seeds: " + 100 * "[" + 100 * "]", "a.yaml holds more than 50 lists or tables in each other"),
        ("a.yaml", "seeds: !!timestamp x", "is no YAML"),
        ("a.yaml", "seeds: " + 5000 * "1", r"is no YAML \(Exceeds the limit [^;]*5000 digits\); mend it"),
        (
            "a.yaml",
            "seeds: 1\npreset: cpu\nseeds: 2",
            "a.yaml has the key 'seeds' twice, again in line 3; give it once",
        ),
        ("a.yaml", "params: {snn: {epochs: 1, 'epochs': 2}}", "a.yaml has the key 'epochs' twice"),
        ("a.yaml", "condition: [{a: 1}, {b: 1, b: 2}]", "a.yaml has the key 'b' twice"),
        ("a.toml", "seeds = " + 9000 * "[", r"a.toml cannot be read \(too many lists in lists\)"),
        ("a.toml", "seeds = " + 100 * "[" + 100 * "]", "a.toml holds more than 50 lists or tables in each other"),
        ("a.toml", "seeds = " + 5000 * "1", r"a.toml cannot be read \(Exceeds the limit [^;]*5000 digits\); mend it"),
        ("a.toml", "seeds = 0x" + 5000 * "f", "a.toml holds a whole number of 20000 bits"),
        ("a.toml", "seeds = 1\nseeds = 2", r"is no TOML \(Cannot overwrite a value"),
        ("missing.toml", None, r"missing.toml cannot be read \(No such file or directory\)"),
    ],
)
def test_files_that_cannot_be_read_are_one_sentence(tmp_path, needs, name, text, words):
    needs("yaml")
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read_config(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_one_sentence(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    with refuses("config", "unreadable", got="is no text in UTF-8"):
        read_config(tmp_path / "a.toml")


def test_yaml_without_its_package_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "a.yml").write_text("seeds: 1")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with refuses("yaml", "package", error=MissingDependencyError):
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
    with refuses("param", "undefined"):
        read_params([text])


def test_keys_that_yaml_merges_or_shares_are_given_once(tmp_path, needs):
    needs("yaml")
    (tmp_path / "a.yaml").write_text(
        "params:\n  a: &base {epochs: 1, rate: 0.5}\n  b: {<<: *base, epochs: 2}\n  c: *base\ncondition: []\n"
    )
    given = {"epochs": 1, "rate": 0.5}
    assert read_config(tmp_path / "a.yaml")["params"] == {"a": given, "b": given | {"epochs": 2}, "c": given}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x.n=" + 9000 * "[", "param: x.n cannot be read .too many lists in lists"),
        ("x.n=" + 100 * "[" + 100 * "]", "param: x.n holds more than 50 lists or tables in each other"),
        ("x.n=" + 5000 * "1", r"param: x.n cannot be read \(Exceeds the limit [^;]*5000 digits\); change it"),
    ],
)
def test_parameters_too_long_or_too_deep_are_one_sentence(text, words):
    with pytest.raises(InputError, match=words) as caught:
        read_params([text])
    assert "\n" not in str(caught.value)


def test_nothing_is_given_twice():
    with refuses("param", "duplicate"):
        read_params(["snn.epochs=2", "snn.rate=1", " snn.epochs =3"])
    with refuses("condition", "duplicate"):
        read_values(["train_share=0.5", "train_share=0.7"], "condition")
    assert read_params(["a.epochs=2", "b.epochs=3"]) == {"a": {"epochs": 2}, "b": {"epochs": 3}}


def test_text_behind_a_value_is_not_passed_over():
    assert read_params(["x.a=1\nb = 2"]) == {"x": {"a": "1\nb = 2"}}


def test_values_of_another_form_are_refused():
    with refuses("condition", "undefined", got="got 'share'"):
        read_values(["share"], "condition")
