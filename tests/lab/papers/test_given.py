"""What users give: files in place of a data set's own, and estimators at hand."""

from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers.estimators import check_estimator, coded_labels, labels_of_rows, run_seeds, unfitted_copy
from uqassay.lab.papers.options import given_files


def test_the_name_of_given_files(tmp_path):
    folder = tmp_path / "my_jpeg"
    folder.mkdir()
    plain, named = given_files(folder, ["cifar-10"]), given_files(str(folder), ["cifar-10"], name="A copy")
    assert plain.source == named.source == f"npz:{folder}"
    assert (plain.shown("cifar-10"), named.shown("cifar-10")) == ("cifar-10 from my_jpeg", "A copy")
    assert plain.label("cifar-10") == named.label("cifar-10") == "cifar-10 from my_jpeg"
    assert given_files(None, []) is None


def test_a_relative_folder_has_the_name_of_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert given_files(Path("."), ["cifar-10"]).label("cifar-10") == f"cifar-10 from {tmp_path.name}"


@pytest.mark.parametrize("part", ["train", "test"])
def test_one_part_alone_is_refused(part, tmp_path):
    np.savez(tmp_path / f"{part}.npz", X=np.zeros((4, 2)), y=[0, 1, 0, 1])
    with refuses("data", "missing", got=f"{part}.npz alone"):
        given_files(tmp_path, ["cifar-10"])


@pytest.mark.parametrize(
    ("data", "datasets", "name", "parameter", "code"),
    [
        ("nowhere", ["cifar-10"], None, "data", "missing"),
        (".", ["cifar-10", "mnist"], None, "data", "conflict"),
        (".", [], None, "data", "conflict"),
        (None, ["cifar-10"], "A copy", "data_name", "conflict"),
        (".", ["cifar-10"], " ", "data_name", "type"),
        (".", ["cifar-10"], "a/b", "data_name", "type"),
        (".", ["cifar-10"], 3, "data_name", "type"),
    ],
)
def test_bad_options_are_refused(data, datasets, name, parameter, code):
    with refuses(parameter, code):
        given_files(data, datasets, name=name)


# -- Labels of any kind as class indices.


def test_codes_of_several_parts_against_a_plain_search():
    parts = {"y": np.array(["b", "c", "b"]), "y_test": np.array(["a"])}
    names, codes = coded_labels(parts)
    assert [names[k] for k in codes] == ["b", "c", "b", "a"]
    assert names == ("a", "b", "c")
    names, codes = coded_labels({"y": np.array([10, 2, 10])})
    assert (names, codes.tolist()) == (("2", "10"), [1, 0, 1])


def test_refusals():
    with refuses("y", "shape", got=r"\(3, 1\) for 3 rows"):
        labels_of_rows([[0], [1], [0]], 3)
    with refuses("y", "shape", got=r"\(2,\) for 3 rows"):
        labels_of_rows([0, 1], 3)
    with refuses("y_test", "shape", got=r"\(\)"):
        coded_labels({"y": np.array([0, 1]), "y_test": np.array(3)})
    with refuses("y", "missing", got="row 1"):
        coded_labels({"y": np.array([0.0, np.nan])})
    with refuses("y", "missing", got="row 0"):
        coded_labels({"y": np.array([None, "a"], dtype=object)})
    with refuses("y", "type", got="int and str"):
        coded_labels({"y": np.array([1, "a"], dtype=object)})


# -- estimators at hand: copies with seeds, and refusals ----------------------------------------------------------------


class Own:
    """Written by hand, without get_params."""

    def __init__(self, epochs=3):
        self.epochs, self.random_state, self.table = epochs, None, [1, 2]

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


def test_options_are_set_where_the_estimator_has_them():
    template = Own()
    model = unfitted_copy(template, {"random_state": 7, "epochs": 5, "classes": (0, 1)})
    assert (model.random_state, model.epochs) == (7, 5)
    assert not hasattr(model, "classes")
    model.table.append(3)
    assert (template.random_state, template.epochs, template.table) == (None, 3, [1, 2])


def test_seeds_inside_a_pipeline_are_set_where_they_are_none():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(5))

    def said(seed):
        return unfitted_copy(pipe, {"random_state": seed}).fit(X, y).predict_proba(X)

    np.testing.assert_array_equal(said(1), said(1))
    assert (said(1) != said(2)).any()
    assert pipe.get_params()["randomforestclassifier__random_state"] is None
    fixed = make_pipeline(RandomForestClassifier(5, random_state=4))
    assert unfitted_copy(fixed, {"random_state": 1}).get_params()["randomforestclassifier__random_state"] == 4


def test_more_runs_contain_the_fewer():
    assert run_seeds(3, 5)[:2] == run_seeds(3, 2)
    assert len({*run_seeds(3, 5), *run_seeds(4, 5)}) == 10


def test_refusals_of_estimators():
    check_estimator(Own(), probabilities_suffice=True)
    with refuses("estimator", "type", got="must have predict_uncertainty; got Own"):
        check_estimator(Own())
    with refuses("estimator", "type", got="must have predict_uncertainty or predict_proba; got object"):
        model = type("object", (), {"fit": lambda self, X, y: self})()
        check_estimator(model, probabilities_suffice=True)
    with refuses("estimator", "type", got="must have fit;"):
        check_estimator(object(), probabilities_suffice=True)
    with refuses("estimator", "type", got="the class Own"):
        check_estimator(Own)
    for runs, code in ((0, "range"), (-1, "range"), (1.5, "type"), (True, "type"), (None, "type")):
        with refuses("runs", code):
            run_seeds(0, runs)


@pytest.mark.parametrize("seed", [None, 3])
def test_no_seed_changes_nothing_inside(seed):
    from sklearn.linear_model import LogisticRegression

    model = unfitted_copy(LogisticRegression(), {"random_state": seed})
    assert model.random_state == seed
