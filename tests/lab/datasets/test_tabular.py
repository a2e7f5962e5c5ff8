"""Sets that come with scikit-learn, against scikit-learn; OpenML from answers kept in its form."""

import gzip
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets import tables as tabular


@pytest.mark.parametrize(("name", "by"), list(tabular.BUNDLED.items()))
def test_bundled_sets_against_scikit_learn(name, by, needs):
    needs("sklearn")
    import sklearn.datasets

    theirs = getattr(sklearn.datasets, by)()
    raw = load_dataset(name, prepare=False, rng=2)
    scale = 16 if name == "digits" else 1
    rows = np.concatenate([raw.X_train, raw.X_test]) * scale
    labels = np.concatenate([raw.y_train, raw.y_test])
    ours = np.column_stack([labels, rows])
    expected = np.column_stack([theirs.target, theirs.data])
    np.testing.assert_array_equal(ours[np.lexsort(ours.T)], expected[np.lexsort(expected.T)])
    assert raw.class_names == tuple(map(str, theirs.target_names))
    assert len(raw.y_test) == round(0.2 * len(labels))
    share = np.bincount(raw.y_test) / np.bincount(labels)
    np.testing.assert_allclose(share, 0.2, atol=1 / np.bincount(labels).min())


def test_tables_are_z_scored_by_their_training_part_but_digits_are_not(needs):
    needs("sklearn")
    wine, raw = load_dataset("wine"), load_dataset("wine", prepare=False)
    np.testing.assert_allclose(wine.X_test, raw.standardised().X_test)
    np.testing.assert_allclose(wine.X_train.mean(axis=0), 0, atol=1e-12)
    assert wine.notes == ("z-scores by the training instances",)
    digits = load_dataset("digits")
    assert (digits.X_train.min(), digits.X_train.max()) == (0.0, 1.0)
    assert digits.content_hash == load_dataset("digits", prepare=False).content_hash


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with refuses("scikit-learn", "package", got=r"iris .*pip install .\.\[datasets\]", error=MissingDependencyError):
        load_dataset("iris")


# ---- OpenML ----------------------------------------------------------------------------------------------------------

ARFF = """@relation made
@attribute age numeric
@attribute colour {red, green, blue}
@attribute class {yes, no}
@data
"""


def keep_answers(home, rows, target="class", number=77):
    """What scikit-learn keeps of OpenML's answers, so that a set is loaded without a network."""
    from sklearn.datasets import _openml

    arff = (ARFF + "\n".join(rows) + "\n").encode()
    about = {
        "id": str(number), "name": "made", "version": "1", "description": "made", "format": "ARFF", "file_id": "99",
        "status": "active", "url": "https://api.openml.org/data/v1/download/99/made.arff", "licence": "CC0",
        "default_target_attribute": target, "md5_checksum": hashlib.md5(arff).hexdigest(),
    }  # fmt: skip
    description = {"data_set_description": about}
    kinds = {"age": "numeric", "colour": "nominal", "class": "nominal"}
    columns = [
        {
            "index": str(i), "name": name, "data_type": kind, "is_target": str(name == target).lower(),
            "is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0",
        }
        for i, (name, kind) in enumerate(kinds.items())
    ]  # fmt: skip
    features = {"data_features": {"feature": columns}}
    qualities = {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(len(rows))}]}}
    answers = {
        _openml._DATA_QUALITIES.format(number): json.dumps(qualities).encode(),
        _openml._DATA_INFO.format(number): json.dumps(description).encode(),
        _openml._DATA_FEATURES.format(number): json.dumps(features).encode(),
        "https://api.openml.org/data/v1/download/99/made.arff": arff,
    }
    for address, data in answers.items():
        path = Path(_openml._get_local_path(_openml._openml_path_from_url(address), str(home / "openml")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data))


def test_openml_from_what_was_kept(own_cache, needs):
    needs("sklearn", "pandas")
    colours = ["red", "green", "blue"]
    rows = [f"{i},{colours[i % 3]},{'yes' if i % 2 else 'no'}" for i in range(40)]
    keep_answers(own_cache, [*rows, "?,red,yes", "3,?,no", "4,red,?"])
    data = load_dataset("openml:77", prepare=False, rng=1)
    assert data.class_names == ("no", "yes")
    assert data.notes == ("3 of 43 rows with missing values are left out",)
    assert data.licence == "CC0"
    assert (len(data.y_train), len(data.y_test)) == (32, 8)
    x, y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    x, y = x[np.argsort(x[:, 0])], y[np.argsort(x[:, 0])]
    np.testing.assert_array_equal(x[:, 0], np.arange(40))
    np.testing.assert_array_equal(x[:6, 1:], [[0, 0, 1], [0, 1, 0], [1, 0, 0]] * 2)  # blue, green, red
    np.testing.assert_array_equal(y, np.arange(40) % 2)
    assert load_dataset("openml:77").notes[-1] == "z-scores by the training instances"


def test_openml_without_a_class(own_cache, needs):
    needs("sklearn", "pandas")
    keep_answers(own_cache, ["1,red,yes", "2,green,no"], target="age")
    with refuses("openml", "type", got="the target of set 77 must be a category"):
        load_dataset("openml:77")


def test_openml_where_every_row_lacks_a_value(own_cache, needs):
    needs("sklearn", "pandas")
    keep_answers(own_cache, ["?,red,yes", "?,green,no"])
    with refuses("openml", "empty", got="none of 2 rows"):
        load_dataset("openml:77")


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_openml_without_a_network(own_cache, needs, monkeypatch):
    needs("sklearn", "pandas")
    from urllib.error import URLError

    from sklearn.datasets import _openml

    def no_network(*_, **__):
        raise URLError("no route to host")

    monkeypatch.setattr(_openml, "urlopen", no_network)
    monkeypatch.setattr(_openml.time, "sleep", lambda _: None)
    with refuses("openml", "unreadable", got=f"set 41 .*; no route to host; .* folder {own_cache}/openml"):
        load_dataset("openml:41")
    with refuses("name", "type", got="got 'iris'"):
        load_dataset("openml:iris")
