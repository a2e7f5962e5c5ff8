"""The modules that a function rests on, and which changes of them count."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.source_digests import code_modules, code_version
from tests.refusals import refuses

import uqassay


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


def test_source_of_whatever_is_imported_from_the_package_counts(package):
    def version():
        code_modules.cache_clear()
        return code_version("packed.work:run")

    first = version()
    assert version() == first
    for name, changes in (("work", True), ("helper", True), ("deep", True), ("apart", False)):
        path = package / f"{name}.py"
        text = path.read_text()
        path.write_text(text + "\nCHANGED = 1\n")
        assert (version() != first) is changes, name
        path.write_text(text)
    assert version() == first
    assert "packed.work" not in sys.modules


@pytest.mark.parametrize(
    ("source", "file", "counts"),
    [
        ("import uqassay as uq\nuq.losses.second_order_gap", "losses/votes.py", True),
        ("import uqassay\nuqassay.load('a')", "predictions/files.py", True),
        ("import uqassay.errors\nuqassay.losses.second_order_gap", "losses/votes.py", True),
        ("from uqassay import assay", "evidence/judgement.py", True),
        ("import uqassay as uq\nuq.losses.second_order_gap", "evidence/judgement.py", False),
        ("import json as uq\nuq.losses", "losses/votes.py", False),
        ("from uqassay import losses\nlosses.second_order_gap", "losses/unified.py", False),
        ("from uqassay import losses\nlosses.second_order_gap", "losses/votes.py", True),
        ("from uqassay.losses import second_order_gap\nsecond_order_gap(1)", "losses/unified.py", False),
        ("from uqassay.losses import second_order_gap", "losses/votes.py", True),
        ("import uqassay as uq\nuq.losses.second_order_gap\nlist(uq.losses)", "losses/unified.py", True),
        ("import uqassay as uq\nuq.losses.no_such", "losses/unified.py", True),
        ("import uqassay.losses", "losses/unified.py", True),
        (
            "def f():\n from uqassay.losses import second_order_gap as a\n a\n"
            "def g():\n from uqassay.losses import unified_loss as a\n a",
            "losses/unified.py",
            True,
        ),
    ],
)
def test_what_is_taken_from_uqassay_itself_counts(package, monkeypatch, source, file, counts):
    (package / "work.py").write_text(source)
    code_modules.cache_clear()
    first, read = code_version("packed.work:run"), Path.read_bytes
    changed = Path(uqassay.__file__).parent / file
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"\nx = 1" * (path == changed))
    code_modules.cache_clear()
    assert (code_version("packed.work:run") != first) is counts
    monkeypatch.undo()
    code_modules.cache_clear()


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
        code_modules.cache_clear()
        return code_version("packed.part.work:run")

    first = version()
    changed = {"__init__.py", "part/work.py", "other/__init__.py", "other/thing.py"}
    for path in package.rglob("*.py"):
        text = path.read_text()
        path.write_text(text + "\nCHANGED = 1\n")
        name = path.relative_to(package).as_posix()
        assert (version() != first) is (name in changed), name
        path.write_text(text)
    assert "packed" not in sys.modules


CHANGES = """
import json, sys
from pathlib import Path
from benchmarks.source_digests import code_modules, code_version
names = ("random_sets", "laplace", "ensembles", "forests")

def versions():
    code_modules.cache_clear()
    return {n: code_version("uqassay.lab.bench.methods:run_method", (f"uqassay.lab.methods.{n}",)) for n in names}

before, changed = versions(), {}
for file in sys.argv[1:]:
    path = Path("uqassay", file)
    text = path.read_text()
    path.write_text(text + "\\nCHANGED = 1\\n")
    now = versions()
    changed[file] = [n for n in names if now[n] != before[n]]
    path.write_text(text)
print(json.dumps([changed, [m for m in ("torch", "sklearn", "uqassay.lab.methods.random_sets") if m in sys.modules]]))
"""


def test_source_that_a_method_rests_on_counts_wherever_it_stands(tmp_path):
    """One line more in a copy of the package; the keys of which methods change."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(uqassay.__file__).parent, tmp_path / "uqassay", ignore=ignored)
    everything = ["random_sets", "laplace", "ensembles", "forests"]
    expected = {
        "credal/events.py": everything,  # by predictions/sets.py
        "arrays.py": everything,
        "predictions/second_order.py": everything,
        "lab/methods/training.py": [
            "random_sets",
            "laplace",
            "ensembles",
            "forests",
        ],  # the forests by its progress bar
        "lab/methods/laplace.py": ["laplace"],
        "lab/methods/random_sets.py": ["random_sets"],
        "lab/methods/ddu.py": [],
        "report/page.py": [],
        "cli/commands.py": [],
        "__init__.py": [],
    }
    done = subprocess.run(
        [sys.executable, "-B", "-c", CHANGES, *expected],
        cwd=tmp_path,  # the copy of the package is there
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [expected, []]


def test_declared_modules_count(package):
    before = code_version("json:dumps", ("packed.apart",))
    (package / "apart.py").write_text("")
    code_modules.cache_clear()
    assert code_version("json:dumps", ("packed.apart",)) != before


def test_version_of_the_package_counts(monkeypatch):
    before = code_version("json:dumps")
    code_modules.cache_clear()
    monkeypatch.setattr("uqassay.__version__", "0.0.0+other")
    assert code_version("json:dumps") != before
    code_modules.cache_clear()


def test_program_without_a_file_has_no_version(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)  # as of a script
    with refuses("function", "missing"):
        code_version("__main__:work")


def test_module_that_is_not_there_has_no_version():
    with refuses("function", "missing"):
        code_version("no_such.one:run")


WORDS = b'''"""A docstring."""
import json  # kept


def run(cell):
    """Of a function,
    # in two lines.
    """
    text = """a text

    # kept
    """
    return text  # so that a change here counts
'''


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        ("A docstring.", "Another.", False),
        ("Of a function,", "Of a function, that\n\n", False),
        ("import json", "# why\n\nimport json", False),
        ("    text = ", "\n    # why\n    text = ", False),
        ('"""A docstring."""', '"""A docstring."""  # so', False),
        ('"""A docstring."""', '"""A docstring."""; x = 1', True),
        ("    # kept\n", "", True),
        ("a text\n\n", "a text\n", True),
        ("a text", "b text", True),
        ("return text", "return  text", True),
        ("def run(cell):\n", "def run(cell):\n    cell\n", True),
    ],
)
def test_words_do_not_count_and_all_else_does(package, before, after, counts):
    (package / "work.py").write_bytes(WORDS)
    code_modules.cache_clear()
    first = code_modules("packed.work:run")
    assert set(first) == {"packed.work"}
    changed = WORDS.decode().replace(before, after)
    assert changed != WORDS.decode()
    (package / "work.py").write_text(changed)
    code_modules.cache_clear()
    assert (code_modules("packed.work:run") != first) is counts


def test_a_docstring_on_the_line_of_its_function_stays(package):
    (package / "work.py").write_text('def run(cell): "words"\n')
    code_modules.cache_clear()
    first = code_modules("packed.work:run")
    (package / "work.py").write_text('def other(cell): "words"\n')
    code_modules.cache_clear()
    assert code_modules("packed.work:run") != first


def test_modules_are_named_with_what_they_import(package):
    code_modules.cache_clear()
    found = code_modules("packed.work:run", ("packed.apart",))
    assert set(found) == {"packed.work", "packed.helper", "packed.deep", "packed.apart"}
    assert len(set(found.values())) == 4
