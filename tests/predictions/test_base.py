"""Methods shared by all kinds of prediction: bounds, slices, read-only results."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kinds import PREDICTING, STATEMENTS, lower_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("kind", STATEMENTS)
@settings(deadline=None, max_examples=8)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_bounds_against_all_events_and_the_mean_lies_between(kind, seed, n_classes):
    prediction = random_prediction(kind, np.random.default_rng(seed), 3, n_classes)
    lower = lower_of_every_event(prediction)
    singletons = 1 << np.arange(n_classes)
    np.testing.assert_allclose(prediction.lower_probs(), lower[:, singletons], atol=1e-12)
    np.testing.assert_allclose(prediction.upper_probs(), 1 - lower[:, (2**n_classes - 1) ^ singletons], atol=1e-12)
    mean = prediction.mean_probs()
    np.testing.assert_allclose(mean.sum(axis=1), 1, atol=1e-9)
    if kind != "Dirichlet":  # the exact mean may leave the hull of a few draws
        assert (mean >= prediction.lower_probs() - 1e-9).all()
        assert (mean <= prediction.upper_probs() + 1e-9).all()
    if kind in PREDICTING:
        assert prediction.labels().shape == (3,)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_slicing_carries_everything_and_draws_stay_with_their_rows(kind, random_generator):
    whole = random_prediction(kind, random_generator, 6, 3).with_metadata(
        class_names=["a", "b", "c"], ids=list("uvwxyz"), groups=[1, 1, 2, 2, 3, 3]
    )
    for rows, expected in (
        (slice(1, 4), [1, 2, 3]),
        ([4, 0], [4, 0]),
        (np.array([False, True, False, False, True, False]), [1, 4]),
        (-1, [5]),
    ):
        part = whole[rows]
        assert part.ids.tolist() == [list("uvwxyz")[i] for i in expected]
        assert part.groups.tolist() == [[1, 1, 2, 2, 3, 3][i] for i in expected]
        assert part.class_names == ("a", "b", "c")
        np.testing.assert_array_equal(part.lower_probs(), whole.lower_probs()[expected])
    np.testing.assert_array_equal(whole[2:][1:3].upper_probs(), whole.upper_probs()[3:5])


@pytest.mark.parametrize("kind", ["Point", "Intervals", "Masses", "Vertices"])
def test_sets_without_a_distribution_cannot_be_sampled(kind, random_generator):
    with refuses("sample", "no-distribution"):
        random_prediction(kind, random_generator).sample(3)


def test_results_are_read_only(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 4)
    point = uq.Point(probs)
    with pytest.raises(ValueError, match="read-only"):
        point.probs[0, 0] = 0.5
    with pytest.raises(AttributeError, match="cannot assign to field 'probs'"):
        point.probs = probs  # type: ignore[misc]
    probs[0] = probs[0]  # the array of the caller stays writable


def test_memory_maps_stay_memory_maps(tmp_path, random_generator):
    path = tmp_path / "members.npy"
    np.save(path, random_generator.dirichlet(np.ones(4), (50, 3)).astype(np.float32))
    mapped = np.load(path, mmap_mode="r")
    members = uq.Members(mapped)
    assert np.shares_memory(members.probs, mapped)
    assert np.shares_memory(members[10:20].probs, mapped)
    held = uq.Members(np.array(mapped))
    y = random_generator.integers(4, size=50)
    np.testing.assert_array_equal(uq.losses.unified_loss(y, members).total, uq.losses.unified_loss(y, held).total)


def test_predictions_iterate_but_do_not_convert_to_arrays():
    point = uq.Point([[0.5, 0.5], [0.1, 0.9]], ids=["a", "b"])
    assert [row.ids.tolist() for row in point] == [["a"], ["b"]]
    with pytest.raises(TypeError, match=r"Point is no array; use its fields \(probs\) or mean_probs\(\)"):
        np.asarray(point)
    drawn = uq.Dirichlet([[1.0, 2.0], [2.0, 1.0]], ids=["a", "b"])
    assert drawn[[0, 0, 1]].members().n_instances == 3
    with refuses("rows", "shape"):
        point[0, 1]
    with refuses("rows", "shape", got=r".* got shape \(1, 2\)"):
        point[np.array([[0, 1]])]


def test_without_class_names_only_the_names_are_missing(random_generator):
    prediction = random_prediction("Members", random_generator).with_metadata(
        class_names=list("abcd"), ids=np.arange(5)
    )
    bare = prediction.without_class_names()
    assert bare.class_names is None
    assert prediction.class_names == tuple("abcd")
    assert bare.probs is prediction.probs
    np.testing.assert_array_equal(bare.ids, prediction.ids)


@pytest.mark.parametrize("name", ["ids", "groups"])
def test_a_whole_assay_of_classes_named_by_numbers(random_generator, name):
    y = random_generator.integers(3, size=60)
    probs = random_generator.dirichlet(np.ones(3), 60) * 0.3 + 0.7 * np.eye(3)[y]
    plain = uq.assay({"m": uq.Point(probs)}, y, n_draws=10, calibration=())
    named = uq.assay(
        {"m": uq.Point(probs, class_names=[1, 2, 3], **{name: np.arange(60)})}, y + 1, n_draws=10, calibration=()
    )
    assert named.class_names == ("1", "2", "3")
    column = ["metric", "estimate"]
    pd.testing.assert_frame_equal(named.findings()[column], plain.findings()[column])
    with refuses("y_true", "class-names", got="the class names are 1, 2, 3"):
        uq.assay({"m": uq.Point(probs, class_names=[1, 2, 3])}, y)


def test_a_mask_with_an_index_selects_by_ids(random_generator):
    point = random_prediction("Point", random_generator, 6, 3).with_metadata(ids=list("abcdef"))
    mask = pd.Series([True, False, True, False, False, True], index=list("abcdef"))
    shuffled = mask.sample(frac=1.0, random_state=1)
    assert shuffled.tolist() != mask.tolist()
    assert point[shuffled].ids.tolist() == ["a", "c", "f"]
    assert point[mask.reset_index(drop=True)].ids.tolist() == ["a", "c", "f"]  # a default index stands by position
    with refuses("rows", "ids", got="'a' first"):
        point[mask.set_axis(list("uvwxyz"))]
    assert point[pd.Series([5, 0], index=["b", "a"])].ids.tolist() == ["f", "a"]  # positions are positions


def test_ids_groups_and_weights_follow_their_index(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (4, 2))
    frame = pd.DataFrame(probs[:, 0], index=[3, 1, 2, 0])
    groups = pd.Series(["p", "q", "r", "s"], index=[0, 1, 2, 3])
    assert uq.Point(frame, groups=groups).groups.tolist() == ["s", "q", "r", "p"]
    assert uq.Point(frame, ids=groups.rename("patient")).ids.tolist() == ["s", "q", "r", "p"]
    assert uq.Point(probs[:, 0], ids=[3, 1, 2, 0], groups=groups).groups.tolist() == ["s", "q", "r", "p"]
    named = uq.Point(probs[:, 0], ids=[3, 1, 2, 0])
    assert named.with_metadata(groups=groups).groups.tolist() == ["s", "q", "r", "p"]
    with refuses("groups", "ids"):
        uq.Point(frame, groups=groups.set_axis([4, 5, 6, 7]))
