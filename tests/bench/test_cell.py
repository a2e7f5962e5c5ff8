"""A cell's key stands for everything its result depends on."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay
from uqassay.bench.cell import Cell, canonical_json, code_version, function_of

FACTS = {
    "dataset": "toy", "method": "forest", "seed": 1, "params": {"a": [1, 2.5], "b": None},
    "condition": {"share": 0.5}, "data_hash": "ab", "rests_on": ("json",), "threads": 1,
}  # fmt: skip


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of four modules; `work` imports `helper`, which imports `deep`; nothing imports `apart`."""
    folder = tmp_path / "packed"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "work.py").write_text("from packed import helper\nfrom packed.helper import HELP\n\ndef run(cell): ...\n")
    (folder / "helper.py").write_text("HELP = 1\ndef later():\n    from . import deep\n    return deep\n")
    (folder / "deep.py").write_text("DEPTH = 1\n")
    (folder / "apart.py").write_text("raise RuntimeError('never imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "packed"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dataset", "other"), ("method", "other"), ("seed", 2), ("params", {"a": [1, 2.5]}),
        ("params", {"a": [2.5, 1], "b": None}), ("condition", {}), ("data_hash", "cd"), ("rests_on", ()), ("threads", 2),
    ],
)  # fmt: skip
def test_every_field_changes_the_key(field, value):
    assert Cell("json:dumps", **FACTS).key != Cell("json:dumps", **FACTS | {field: value}).key
    assert Cell("json:dumps", **FACTS).key != Cell("json:loads", **FACTS).key


def test_key_is_the_digest_of_the_canonical_facts():
    cell = Cell("json:dumps", **FACTS)
    facts = {
        **FACTS,
        "function": "json:dumps",
        "schema": "uqassay.cell/1",
        "code": code_version("json:dumps", ("json",)),
    }
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    assert cell.key == hashlib.sha256(text.encode()).hexdigest()


def test_place_of_the_data_is_carried_along_and_no_part_of_the_key():
    cell = Cell("json:dumps", **FACTS, source="npz:/here/data.npz")
    assert cell.key == Cell("json:dumps", **FACTS).key == Cell("json:dumps", **FACTS, source="npz:/there/data.npz").key
    assert Cell.from_json(cell.to_json()).source == "npz:/here/data.npz"


def test_order_of_keys_and_kind_of_sequence_do_not_matter():
    turned = FACTS | {"params": {"b": None, "a": (1, 2.5)}}
    assert Cell("json:dumps", **FACTS).key == Cell("json:dumps", **turned).key


def test_json_gives_the_cell_back():
    cell = Cell("json:dumps", **FACTS)
    again = Cell.from_json(cell.to_json())
    assert again == cell
    assert (again.key, hash(again)) == (cell.key, hash(cell))


def test_later_changes_of_a_dictionary_do_not_reach_the_cell():
    params = {"a": [1]}
    cell = Cell("json:dumps", dataset="d", method="m", seed=0, params=params)
    key = cell.key
    params["a"].append(2)
    assert cell.key == key


def test_source_of_whatever_is_imported_from_the_package_counts(package):
    def version():
        code_version.cache_clear()
        return code_version("packed.work:run")

    first = version()
    assert version() == first
    for name, changes in (("work", True), ("helper", True), ("deep", True), ("apart", False)):
        path = package / f"{name}.py"
        text = path.read_text()
        path.write_text(text + "# changed\n")
        assert (version() != first) is changes, name
        path.write_text(text)
    assert version() == first
    assert "packed.work" not in sys.modules


@pytest.mark.parametrize(
    ("source", "file", "counts"),
    [
        ("import uqassay as uq\nuq.losses.log_loss", "losses/proper_scores.py", True),
        ("import uqassay\nuqassay.load('a')", "predictions/files.py", True),
        ("import uqassay.errors\nuqassay.losses.log_loss", "losses/proper_scores.py", True),
        ("from uqassay import assay", "evidence/judgement.py", True),
        ("import uqassay as uq\nuq.losses.log_loss", "evidence/judgement.py", False),
        ("import json as uq\nuq.losses", "losses/proper_scores.py", False),
    ],
)
def test_what_is_taken_from_uqassay_itself_counts(package, monkeypatch, source, file, counts):
    (package / "work.py").write_text(source)
    code_version.cache_clear()
    first, read = code_version("packed.work:run"), Path.read_bytes
    changed = Path(uqassay.__file__).parent / file
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path == changed))
    code_version.cache_clear()
    assert (code_version("packed.work:run") != first) is counts
    monkeypatch.undo()
    code_version.cache_clear()


def test_packages_beside_and_above_count_and_no_name_is_taken_for_a_module(package):
    """Of `packed.part.work`: `packed.other` by a name in its __init__, and packed/__init__ by a name in that."""
    for name, text in (
        ("part/__init__.py", ""),
        (
            "part/work.py",
            "from packed import CONSTANT\nfrom packed.other import Thing\nfrom uqassay.errors import InputError\n",
        ),
        ("other/__init__.py", "from packed.other.thing import Thing\n"),
        ("other/thing.py", "Thing = 1\n"),
        ("other/aside.py", ""),
    ):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text)

    def version():
        code_version.cache_clear()
        return code_version("packed.part.work:run")

    first = version()
    changed = {"__init__.py", "part/work.py", "other/__init__.py", "other/thing.py"}
    for path in package.rglob("*.py"):
        text = path.read_text()
        path.write_text(text + "# changed\n")
        name = path.relative_to(package).as_posix()
        assert (version() != first) is (name in changed), name
        path.write_text(text)
    assert "packed" not in sys.modules


VERSIONS = """
import json, sys
from uqassay.bench.cell import code_version
names = ("rs_nn", "laplace_bridge", "standard_network", "wrapped_forests")
versions = {n: code_version("uqassay.bench.methods:run_method", (f"uqassay.methods.{n}",)) for n in names}
print(json.dumps([versions, [m for m in ("torch", "sklearn", "uqassay.methods.rs_nn") if m in sys.modules]]))
"""


def test_source_that_a_method_rests_on_counts_wherever_it_stands(tmp_path):
    """One line more in a copy of the package; the keys of which methods change."""
    copy = tmp_path / "uqassay"
    shutil.copytree(Path(uqassay.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def versions():
        done = subprocess.run(
            [sys.executable, "-B", "-c", VERSIONS], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        found, loaded = json.loads(done.stdout)
        assert loaded == []
        return found

    before = versions()
    everything = set(before)
    for file, changed in (
        ("credal/focal_sets.py", everything),  # by predictions/masses.py
        ("_array.py", everything),
        ("predictions/dirichlet.py", everything),
        ("methods/training.py", {"rs_nn", "laplace_bridge", "standard_network"}),
        ("methods/last_layer_laplace.py", {"laplace_bridge"}),
        ("methods/focal_budget.py", {"rs_nn"}),
        ("methods/ddu.py", set()),
        ("report/page.py", set()),
        ("cli/application.py", set()),
        ("__init__.py", set()),
    ):
        text = (copy / file).read_text()
        (copy / file).write_text(text + "# changed\n")
        now = versions()
        assert {name for name in before if now[name] != before[name]} == changed, file
        (copy / file).write_text(text)


def test_values_that_hold_themselves_are_refused():
    endless = {}
    endless["a"] = endless
    with refuses("params", "size"):
        Cell("json:dumps", dataset="d", method="m", seed=0, params=endless)


def test_declared_modules_count(package):
    before = code_version("json:dumps", ("packed.apart",))
    (package / "apart.py").write_text("")
    code_version.cache_clear()
    assert code_version("json:dumps", ("packed.apart",)) != before


def test_version_of_the_package_counts(monkeypatch):
    before = code_version("json:dumps")
    code_version.cache_clear()
    monkeypatch.setattr("uqassay.__version__", "0.0.0+other")
    assert code_version("json:dumps") != before
    code_version.cache_clear()


@pytest.mark.parametrize(
    ("value", "code"),
    [(float("nan"), "finite"), ({1: 2}, "type"), ({"a": [{None: 1}]}, "type"), (np.float64(np.inf), "finite"),
     (object(), "type"), ({"a": {1, 2}}, "type")],
)  # fmt: skip
def test_values_that_are_not_plain_are_refused(value, code):
    with refuses("params", code):
        Cell("json:dumps", dataset="d", method="m", seed=0, params={"value": value})


@pytest.mark.parametrize("function", ["json", "json:", ":dumps", "json.dumps", "a b:c", "json:dumps:more", "json:1x"])
def test_function_must_be_importable_by_name(function):
    with refuses("function", "type", got=re.escape(repr(function))):
        Cell(function, dataset="d", method="m", seed=0)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, True, "1"])
def test_seed_out_of_range_is_refused(seed):
    with refuses("seed", "range", got=f"got {seed!r}"):
        Cell("json:dumps", dataset="d", method="m", seed=seed)


@pytest.mark.parametrize(
    ("name", "code", "got"),
    [("no_such:run", "missing", "no_such"), ("json:no_such", "missing", "no_such"), ("json:decoder", "type", "module")],
)
def test_function_that_is_not_there_is_told(name, code, got):
    with refuses("function", code, got=got):
        function_of(name)


def test_program_without_a_file_has_no_version(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)  # as of a script
    with refuses("function", "missing"):
        code_version("__main__:work")


def test_module_that_is_not_there_has_no_version():
    with refuses("function", "missing"):
        code_version("no_such.one:run")


def test_canonical_json_tells_equal_looking_keys_apart():
    assert canonical_json({"b": True, "a": [1, 1.0, "1", None, "é"]}) == '{"a":[1,1.0,"1",null,"\\u00e9"],"b":true}'
