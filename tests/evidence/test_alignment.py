"""Rows and columns of all models in one order, or a refusal that names the model and the run."""

import numpy as np
import pandas as pd
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.align import align, align_models, align_values, spanned_by
from uqassay.predictions.rows import Known


def test_rows_follow_the_ids_of_the_first_model(random_generator):
    first = random_prediction("Point", random_generator, 6, 3).with_metadata(ids=list("abcdef"))
    order = random_generator.permutation(6)
    second = first[order]
    y = pd.Series(np.arange(6) % 3, index=list("abcdef"))
    found = align({"one": first, "two": [second, first]}, y.iloc[::-1])
    for run in (*found.models["one"], *found.models["two"]):
        np.testing.assert_array_equal(run.probs, first.probs)
    np.testing.assert_array_equal(found.labels, y.to_numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_columns_follow_the_names_of_the_first_model(kind, random_generator):
    a = random_prediction(kind, random_generator, 8, 3).with_metadata(class_names=["x", "y", "z"])
    (same,) = align_models({"a": a}, class_names=["z", "x", "y"]).models["a"]
    assert same.class_names == ("z", "x", "y")
    found = align_models({"a": a, "b": same})
    assert found.class_names == ("x", "y", "z")
    (back,) = found.models["b"]
    for name in a.array_names():
        np.testing.assert_array_equal(getattr(back, name), getattr(a, name))
    if kind == "Masses":
        np.testing.assert_array_equal(back.focal_sets, a.focal_sets)
    if kind not in ("Dirichlet", "GaussianLogits"):  # those draw anew
        np.testing.assert_allclose(same.upper_probs(), a.upper_probs()[:, [2, 0, 1]], atol=1e-12)


def test_weights_and_log_partitions_of_members_stay_where_they_are(random_generator):
    logits = random_generator.normal(size=(5, 3, 3))  # as many members as classes
    weights = random_generator.uniform(0.1, 1, size=(5, 3))
    members = uq.Members.from_logits(logits, weights, class_names=["x", "y", "z"])
    (found,) = align_models({"m": members}, class_names=["z", "y", "x"]).models["m"]
    np.testing.assert_array_equal(found.weights, members.weights)
    np.testing.assert_array_equal(found.log_partition, members.log_partition)
    np.testing.assert_array_equal(found.probs, members.probs[..., ::-1])


def test_unnamed_classes_are_counted_and_say_so(random_generator):
    found = align_models({"m": random_prediction("Point", random_generator, 4, 3)})
    assert (found.class_names, found.named, found.labels.shape) == (("0", "1", "2"), False, (4, 0))


def test_one_given_argument_is_named_in_errors(random_generator):
    three, four = (random_prediction("Point", random_generator, 5, k) for k in (3, 4))
    with refuses("outside", "type", got="got list"):
        align_models([three], argument="outside")
    with refuses("outside['b']", "mismatch", got="K = 4, and a has K = 3"):
        align_models({"a": three, "b": four}, argument="outside")
    with refuses("outside['a'][1]", "not-probabilities"):
        align_models({"a": [three.probs, three.probs * 2]}, argument="outside")


@pytest.mark.parametrize("name", ["one\ntwo", "one\u2028two", "", " ", "vacuous"])
def test_names_that_no_line_could_show_are_refused(name, random_generator):
    with refuses("predictions", "choice", got=repr(name).replace("\\", r"\\")):
        align_models({name: random_prediction("Point", random_generator, 6, 3)})


def test_ids_of_some_models_only_are_refused_unless_they_count_the_rows(random_generator):
    plain = random_prediction("Point", random_generator, 4, 3)
    counted = plain.with_metadata(ids=[0, 1, 2, 3])  # the default index of tables
    assert align({"a": plain, "b": counted}, [0, 1, 2, 0]).ids.tolist() == [0, 1, 2, 3]
    for models in ({"a": plain, "b": plain.with_metadata(ids=[3, 1, 2, 0])}, {"a": plain, "b": counted[::-1]}):
        with refuses("models['a'].ids", "missing"):
            align(models, [0, 1, 2, 0])


def test_values_without_ids_are_refused_where_models_list_the_instances_in_two_orders(random_generator):
    one = random_prediction("Point", random_generator, 4, 3).with_metadata(ids=["a", "b", "c", "d"])
    models = {"one": one, "two": one[::-1]}
    labels = pd.Series([0, 1, 2, 0], index=["a", "b", "c", "d"])
    assert align(models, labels[::-1]).labels.tolist() == [0, 1, 2, 0]
    with refuses("y_true", "ids"):
        align(models, [0, 1, 2, 0])
    with refuses("groups", "ids"):
        align(models, labels, groups=[1, 1, 2, 2])


def test_groups_given_come_before_those_carried(random_generator):
    carried = random_prediction("Point", random_generator, 4, 3).with_metadata(groups=["a", "a", "b", "b"])
    assert align({"m": carried}, [0, 1, 2, 0]).groups.tolist() == ["a", "a", "b", "b"]
    assert align({"m": carried}, [0, 1, 2, 0], groups=[1, 2, 3, 4]).groups.tolist() == [1, 2, 3, 4]
    mixed = align({"m": carried}, [0, 1, 2, 0], groups=np.array(["a", 1, "a", 2.5], dtype=object))
    assert mixed.groups.tolist() == [0, 1, 0, 2]  # values that have no order are numbered


def test_values_follow_an_index():
    series = pd.Series([1, 2, 3], index=["c", "a", "b"])
    assert align_values(series, 3, Known(np.array(["a", "b", "c"]), {}, "m"), "groups").tolist() == [2, 3, 1]
    assert align_values(series, 3, Known(None, {}, "m"), "groups").tolist() == [1, 2, 3]
    with refuses("groups", "ids", got="'d' first"):
        align_values(series, 3, Known(np.array(["a", "b", "d"]), {}, "m"), "groups")


def test_sets_are_spanned_by_a_common_number(random_generator):
    members = random_prediction("Members", random_generator, 4, 3, n_members=6)
    assert spanned_by(members, 2, 0).n_members == 2
    assert spanned_by(members, 9, 0) is members
    assert spanned_by(random_prediction("Dirichlet", random_generator, 4, 3), 7, 0).n_draws == 7
    point = random_prediction("Point", random_generator, 4, 3)
    assert spanned_by(point, 7, 0) is point


def test_passes_of_gaussian_logits_count_as_members_do(random_generator):
    mean, variance = random_generator.normal(size=(8, 5, 3)), random_generator.uniform(size=(8, 5, 3))
    passes = uq.GaussianLogits(mean, variance, variance_is="aleatoric")
    draws = uq.GaussianLogits(mean, variance, variance_is="epistemic")
    assert spanned_by(passes, 3, 0).n_points == spanned_by(draws, 7, 0).members().n_members - 4 == 3
    assert spanned_by(passes, 9, 0) is passes
    y = random_generator.integers(0, 3, 8)
    found = align({"passes": passes, "draws": draws}, y, common_members=5)
    assert [found.models[name][0].n_points for name in ("passes", "draws")] == [5, 5]
    with refuses("common_members", "range", got="got 6, and 'passes' has 5 passes"):
        align({"passes": passes, "draws": draws}, y, common_members=6)
    with refuses("models['m']", "type", got="GaussianLogits spanned by draws, GaussianLogits spanned by passes"):
        align({"m": [passes, draws]}, y)
