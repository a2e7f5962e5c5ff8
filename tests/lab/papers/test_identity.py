"""Keys of estimators and functions: equal for equal ones, different where results may differ."""

import importlib
import itertools
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.bench.cell import canonical_json, code_version
from uqassay.lab.papers.identity import identity_of


class Own:
    def __init__(self, size=3, table=None):
        self.size, self.table, self.random_state = size, table, 0

    def fit(self, X, y):
        return self


def key(value):
    return canonical_json(identity_of(value))


def test_options_count_and_seeds_do_not():
    one = Own()
    one.random_state = 5
    assert key(one) == key(Own())
    assert len({key(Own()), key(Own(4)), key(Own(3.0)), key(Own(None)), key(Own("3"))}) == 5
    tables = [np.arange(3.0), np.arange(3.0) + 1, np.arange(3), np.arange(3.0)[:, None]]
    assert len({key(Own(table=table)) for table in tables}) == 4
    assert key(Own(table=np.arange(6.0)[::2])) == key(Own(table=np.array([0.0, 2.0, 4.0])))


def test_seeds_of_an_estimator_inside_another_count(needs):
    """They are not set for each training, as those of the outer one are."""
    needs("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    inner = [DecisionTreeClassifier(random_state=seed) for seed in (0, 1)]
    assert key(Own(inner[0])) == key(Own(DecisionTreeClassifier(random_state=0))) != key(Own(inner[1]))


def test_defaults_and_base_classes_count():
    def power(by):
        def mine(prediction, power=by, *, scale=by):
            return scale * prediction**power

        return mine

    def derived(base):
        class Derived(base):
            pass

        return Derived()

    class Other(Own):
        def fit(self, X, y):
            return None

    assert key(power(1)) == key(power(1)) != key(power(2))
    assert key(derived(Own)) == key(derived(Own)) != key(derived(Other))


def test_estimators_of_scikit_learn_and_of_this_package(needs):
    needs("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    from uqassay.lab.methods import Bagging, RandomForest

    assert key(RandomForest(random_state=3)) == key(RandomForest(n_jobs=2)) != key(RandomForest(n_members=3))
    small, large = (Bagging(estimator=DecisionTreeClassifier(max_depth=d)) for d in (1, 2))
    assert key(small) != key(large)
    assert identity_of(DecisionTreeClassifier())["version"]


def test_functions_by_their_source_and_what_they_enclose():
    def shifted(by):
        return lambda prediction: prediction + by

    def other(prediction):
        return prediction

    assert key(shifted(1)) == key(shifted(1)) != key(shifted(2))
    assert key(other) != key(shifted(1))
    assert key(partial(np.quantile, q=0.5)) != key(partial(np.quantile, q=0.6))
    assert key(np.log) != key(np.exp)
    assert key(float("inf")) == '"inf"'


@pytest.mark.parametrize("value", [object(), {1: 2}, {1, 2}, np.array([None])])
def test_other_objects_are_refused(value):
    with refuses("folder", "type", got="estimator.table is of type"):
        identity_of(Own(table=value))


def test_a_source_that_cannot_be_read():
    scope: dict = {"__name__": "typed"}
    exec("class Typed:\n    def fit(self, X, y):\n        return self", scope)
    with refuses("folder", "unreadable", got="typed:Typed"):
        identity_of(scope["Typed"]())


def made(power):
    class Made:
        def fit(self, X, y):
            return self

        def predict_uncertainty(self, X):
            return X**power

    return Made()


def test_values_that_methods_and_lambdas_close_over():
    assert key(made(1)) == key(made(1)) != key(made(5))
    first, second = (lambda p: p + 1.0), (lambda p: p + 2.0)
    assert key(first) != key(second)


def test_options_of_a_splitter_that_no_run_sets():
    class Splitter:
        def __init__(self, classes, random_state):
            self.classes, self.random_state = classes, random_state

        def divide(self, X, random_state=None):
            return None

    assert key(Splitter((0,), 0)) != key(Splitter((1,), 0))
    assert key(Splitter((0,), 0)) != key(Splitter((0,), 1))


# -- what the source alone does not tell ----------------------------------------------------------------------------------

SCRIPT = """
import helping
from sklearn.base import clone

SCALE, TABLE, NAMES, calls = 2.0, np.arange(3.0), {"a": 1}, 0
STORE = deque()

def halved(x):
    return x / DIVISOR

DIVISOR = 2

class Mine:
    @staticmethod
    def scaled(x):
        return SCALE * x

    @property
    def size(self):
        return len(NAMES)

    def fit(self, X, y):
        global calls
        calls += 1
        STORE.append(len(y))
        return [halved(one) for one in self.scaled(X @ TABLE)] + [helping.value(), clone]
"""

numbers = itertools.count()  # Python keeps a module that was imported once


@pytest.fixture
def script(tmp_path, monkeypatch, needs):
    """A function that runs a changed copy of the script and gives the key of its estimator."""
    needs("sklearn")
    monkeypatch.syspath_prepend(tmp_path)

    def run(old="", new="", change=None):
        own = f"helping_{next(numbers)}"
        source = SCRIPT.replace(old, new).replace("import helping", f"import {own} as helping")
        for name, text in ((own, "def value():\n    return 1\n"), (f"script_{own}", source)):
            (tmp_path / f"{name}.py").write_text("import numpy as np\nfrom collections import deque\n" + text)
        importlib.invalidate_caches()
        module = importlib.import_module(f"script_{own}")
        if change is not None:
            change(module)
        found = identity_of(module.Mine())
        assert found["globals"].pop("helping") == {"module": own, "source": code_version(f"{own}:_")}
        return canonical_json(found).replace(own, "helping")

    return run


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE, TABLE, NAMES, calls = 2.0", "SCALE, TABLE, NAMES, calls = 2.5"),
        ("np.arange(3.0)", "np.arange(3.0) + 1"),
        ('{"a": 1}', '{"a": 2}'),
        ("DIVISOR = 2", "DIVISOR = 3"),
        ("return x / DIVISOR", "return x // DIVISOR"),
    ],
)
def test_globals_that_the_code_reads_count(script, old, new):
    assert script() == script() != script(old, new)


def test_counters_and_stores_do_not_count(script):
    def used(module):
        module.calls += 5
        module.STORE.append(3)

    assert script() == script(change=used)
    assert script() == script("STORE = deque()", "STORE = deque([1])\nUNUSED = 7")


def test_modules_that_the_code_reads_count():
    def uses_numpy(x):
        return np.log(x)

    assert identity_of(uses_numpy)["globals"]["np"] == {"module": "numpy", "version": np.__version__}


def test_replaced_methods_count(monkeypatch, needs):
    needs("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    from uqassay.lab.methods import RandomForest

    def fit(self, X, y):
        return None

    for estimator in (Own(), RandomForest(), DecisionTreeClassifier()):
        plain = key(estimator)
        with monkeypatch.context() as patch:
            patch.setattr(type(estimator), "fit", fit)
            assert key(estimator) != plain
            first = key(estimator)
            patch.setattr(type(estimator), "fit", lambda self, X, y: None)
            assert key(estimator) not in (plain, first)
        assert key(estimator) == plain


def test_a_replaced_method_without_source(monkeypatch):
    plain = key(Own())
    scope: dict = {"__name__": "typed"}
    exec("def fit(self, X, y):\n    return 3", scope)
    monkeypatch.setattr(Own, "fit", scope["fit"])
    assert key(Own()) != plain


def test_functions_that_call_each_other():
    scope = {"even": None}

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert scope
    assert key(even) == key(even) != key(odd)


def test_keys_are_the_same_in_another_process(tmp_path):
    (tmp_path / "apart.py").write_text(
        "from uqassay.lab.bench.cell import canonical_json\nfrom uqassay.lab.bench.cell import code_version\n"
        "from uqassay.lab.papers.identity import identity_of\n"
        "LIMITS = (1, 'a')\n"
        "mine = lambda p: [one for one in p if one in {'x', 'y', 'z', 'w'}] + [(lambda q: q + 1)(2), LIMITS]\n"
        "print(canonical_json(identity_of(mine)))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "apart.py"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert '"globals":{"LIMITS":[1,"a"]}' in said.pop()
