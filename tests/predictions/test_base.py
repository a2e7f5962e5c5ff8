"""What every prediction has: metadata, rows, what it remembers, one class against the rest."""

import copy
import datetime
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.kinds import KINDS, PREDICTING, STATEMENTS, lower_of_every_event, masses_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions import as_prediction, per_instance
from uqassay.predictions.base import REMEMBERED, numbered

# Methods shared by all kinds of prediction: bounds, slices, read-only results.


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


# What the constructors refuse, by parameter, code and what was found.


HALF = np.full((2, 2, 2), 0.5)
BAD = [
    (lambda: uq.Point([[0.5, 0.6]]), "probs", "sum", r"within 1e-06; row 0 sums to 1\.1; pass normalise=True"),
    (lambda: uq.Point([[0.5, 0.5], [1.2, -0.2]]), "probs", "not-probabilities", r"row 1 holds 1\.2 at \[1, 0\]"),
    (lambda: uq.Point([[2.0, -1.0]]), "probs", "not-probabilities", r"Point\.from_logits"),
    (lambda: uq.Point([[0.5, np.nan]]), "probs", "finite", "row 0 holds nan"),
    (lambda: uq.Point([[0.5, np.inf]]), "probs", "finite", "row 0 holds inf"),
    (lambda: uq.Point([0.5, 0.5]), "probs", "one-column", r"Members\.from_binary"),
    (lambda: uq.Point([[0.5], [0.5]]), "probs", "one-column", "got 1; .*from_binary"),
    (lambda: uq.Point(np.zeros((0, 3))), "probs", "shape", r"at least one instance; got shape \(0, 3\)"),
    (lambda: uq.Point([["a", "b"]]), "probs", "type", "got dtype <U1"),
    (lambda: uq.Point(np.array([[0.5, 0.5]], dtype=object)), "probs", "type", "got dtype object"),
    (lambda: uq.Point([[0.5, 0.5], [1.0]]), "probs", "ragged", "rectangular"),
    (lambda: uq.Point([[0.5, 0.5]], class_names=["a"]), "class_names", "mismatch", "2 classes; got 1"),
    (lambda: uq.Point([[0.5, 0.5]], ids=[1, 2]), "ids", "mismatch", r"1 instances; got shape \(2,\)"),
    (lambda: uq.Point([[0.5, 0.5]] * 2, ids=[1, 1]), "ids", "duplicate", "1 occurs 2 times"),
    (lambda: uq.Point([[0.0, 0.0]], normalise=True), "probs", "not-probabilities", "all of row 0 is 0"),
    (lambda: uq.Point([[1.0, -0.5]], normalise=True), "probs", "not-probabilities", r"row 0 holds -0\.5"),
    (lambda: uq.Point.from_logits([[0.0, np.nan]]), "logits", "finite", r"row 0 holds nan at \[0, 1\]"),
    (lambda: uq.Members(np.ones((2, 3))), "probs", "shape", r"got shape \(2, 3\)"),
    (lambda: uq.Members(np.full((2, 3, 2), 0.5), [1, 2]), "weights", "shape", r"got shape \(2,\)"),
    (lambda: uq.Members(HALF, [1, -1]), "weights", "range", "row 0 holds -1"),
    (lambda: uq.Members(HALF, [0, 0]), "weights", "range", "all of row 0 is 0"),
    (lambda: uq.Members(HALF, member_axis=2), "member_axis", "choice", "the last axis holds the classes"),
    (lambda: uq.Members(HALF, member_axis=3), "member_axis", "choice", "got 3"),
    (lambda: uq.Members(np.zeros((2, 0, 2))), "probs", "shape", "at least one member"),
    (lambda: uq.Members.from_binary([[0.1, 0.2]]), "member_axis", "member-axis", r"got shape \(1, 2\)"),
    (lambda: uq.Members.from_binary([1.5]), "probs", "not-probabilities", r"row 0 holds 1\.5"),
    (lambda: uq.Dirichlet([[0.0, 1.0]]), "alpha", "range", "row 0 holds 0"),
    (lambda: uq.Dirichlet(np.array([[0.0, 1.0]], np.float32)), "alpha", "range", "row 0 holds 0"),
    (lambda: uq.Dirichlet([[-1.0, 1.0]]), "alpha", "range", "row 0 holds -1"),
    (lambda: uq.Dirichlet([[1e308, 1e308]]), "alpha", "range", r"row 0 holds 1e\+308"),
    (lambda: uq.Dirichlet([[1.0, 1.0]], n_draws=0), "n_draws", "range", "got 0"),
    (lambda: uq.Dirichlet([[1.0, 1.0]], n_draws=True), "n_draws", "type", "got True"),
    (lambda: uq.Intervals([[0.6, 0.6]], [[0.7, 0.7]]), "lower", "bounds", r"row 0 sums to 1\.2"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.3, 0.3]]), "upper", "bounds", r"row 0 sums to 0\.6"),
    (lambda: uq.Intervals([[0.6, 0.3]], [[0.5, 0.7]]), "lower", "bounds", r"row 0 has lower 0\.6 > upper 0\.5"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.9, 0.9, 0.9]]), "upper", "shape", r"got \(1, 3\)"),
    (lambda: uq.Masses([[0.5, 0.4]], [[0], [1]], n_classes=2), "masses", "sum", r"row 0 sums to 0\.9"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], []], n_classes=2), "focal_sets", "empty", "set 1 is empty"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [0]], n_classes=2), "focal_sets", "duplicate", ""),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [2]], n_classes=2), "focal_sets", None, "2"),
    (lambda: uq.Masses([[0.5, 0.5]], None), "focal_sets", "type", "got None"),
    (lambda: uq.Masses([[0.5, 0.5]], [0, 1], n_classes=2), "focal_sets", "type", "set 0 is 0"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [1], [0, 1]], n_classes=2), "masses", "mismatch", "3 focal sets; got 2"),
    (
        lambda: uq.Masses.from_beliefs([[0.5, 1.5]], [[0], [0, 1]], n_classes=2),
        "beliefs",
        "not-probabilities",
        r"row 0 holds 1\.5",
    ),
    (lambda: uq.Vertices([[[0.5, 0.6]]]), "vertices", "sum", r"row 0 \(index 0 of that row\) sums to 1\.1"),
    (
        lambda: uq.GaussianLogits([[0.0, 1.0]], [[0.0, -1.0]], variance_is="epistemic"),
        "variance",
        "range",
        "row 0 holds -1",
    ),
    (lambda: uq.GaussianLogits([[0.0, 1.0]], [[0.0]], variance_is="epistemic"), "variance", "shape", r"got \(1, 1\)"),
    (lambda: uq.Point([[0.5, 0.5]])[3], "rows", "range", "got 3"),
    (lambda: uq.Point([[0.5, 0.5]])[np.array([True, False])], "rows", "mismatch", r"got shape \(2,\)"),
    (lambda: uq.Point([[0.5, 0.5]])[[]], "rows", "empty", ""),
    (lambda: uq.Point([[0.5, 0.5]])["a":"b"], "rows", "type", "slice"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.9, 0.9]]).hull_points(), "over", "undefined", "got Intervals"),
]


@pytest.mark.parametrize(("make", "parameter", "code", "got"), BAD)
def test_bad_input_is_named_in_one_sentence(make, parameter, code, got):
    with refuses(parameter, code, got=got):
        make()


def test_normalise_is_advised_only_where_it_helps():
    rounded, counts = [[0.33, 0.33, 0.33]], [[6, 3, 1]]
    for probs in (rounded, counts):
        with refuses("probs") as refusal:
            uq.Point(probs)
        assert "normalise=True" in refusal.value.remedy
        assert refusal.value.facts["look"] == "counts"
        np.testing.assert_allclose(uq.Point(probs, normalise=True).probs.sum(axis=1), 1)
    logits, zeros, sets = [[3.0, -1.0]], [[0.0, 0.0]], [[1, 1, 0]]
    for probs, normalise in ((logits, False), (zeros, False), (sets, False), (logits, True), (zeros, True)):
        with refuses("probs") as refusal:
            uq.Point(probs, normalise=normalise)
        assert "normalise" not in refusal.value.remedy
        assert refusal.value.facts.get("look") != "counts"


@pytest.mark.parametrize(
    "make",
    [uq.Point, lambda p: uq.Members(p[:, None]), lambda p: uq.Vertices(p[:, None])],
)
@pytest.mark.parametrize("dtype", [bool, int, np.float32])
def test_prediction_sets_are_no_probabilities(make, dtype):
    sets = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1]], dtype=dtype)
    with refuses(r"vertices" if "Vertices" in repr(make(np.eye(3)[:, :3])) else "probs", "class-sets", got="ClassSets"):
        make(sets)
    certain = np.eye(3)  # one class in each row is a classifier that is always sure
    assert make(certain).labels().tolist() == [0, 1, 2]
    with refuses(r"vertices" if "Vertices" in repr(make(certain)) else "probs", "class-sets"):
        make(certain.astype(bool))


def test_normalising_beyond_the_largest_number():
    point = uq.Point([[1e308, 1e308], [1.0, 3.0]], normalise=True)
    assert point.probs.tolist() == [[0.5, 0.5], [0.25, 0.75]]


# Predictions that keep their class probabilities: the same numbers, computed once, read-only.


@pytest.mark.parametrize("kind", STATEMENTS)
@pytest.mark.parametrize("eager", [False, True])
def test_the_same_numbers_are_kept(kind, eager, random_generator):
    plain = random_prediction(kind, random_generator, 40, 4)
    kept = plain.remembering(*(REMEMBERED if eager else ()), chunk_bytes=2000)
    assert kept.remembers
    assert not plain.remembers
    for name in REMEMBERED:
        values = getattr(kept, name)()
        np.testing.assert_array_equal(values, getattr(plain, name)())
        assert getattr(kept, name)() is values
        assert not values.flags.writeable
        for rows in (slice(3, 9), np.array([7, 7, 0]), np.arange(40) % 3 == 0, 5):
            np.testing.assert_array_equal(getattr(kept[rows], name)(), getattr(plain[rows], name)())


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_that_was_changed_forgets(kind, random_generator):
    kept = random_prediction(kind, random_generator, 10, 3).remembering(*REMEMBERED)
    named = kept.with_metadata(class_names=["a", "b", "c"])
    binary = kept.one_versus_rest(1)
    assert not named.remembers
    assert not binary.remembers
    assert binary.mean_probs().shape == (10, 2)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_copy_that_forgets_says_the_same(kind, random_generator):
    kept = random_prediction(kind, random_generator, 10, 3).remembering(*REMEMBERED)
    forgot = kept.forgetting()
    assert (kept.remembers, forgot.remembers, forgot[2:5].remembers) == (True, False, False)
    np.testing.assert_array_equal(forgot[2:5].upper_probs(), kept.upper_probs()[2:5])


def test_masses_with_other_values_forget(random_generator):
    kept = random_prediction("Masses", random_generator, 5, 3).remembering(*REMEMBERED)
    other = replace(kept, masses=kept.masses[::-1])
    assert not other.remembers
    np.testing.assert_array_equal(other.mean_probs(), kept.mean_probs()[::-1])


@pytest.mark.parametrize("kind", ["Dirichlet", "GaussianLogits"])
def test_other_draws_are_other_bounds(kind, random_generator):
    kept = random_prediction(kind, random_generator, 10, 3).remembering(*REMEMBERED)
    assert kept.with_draws().remembers
    np.testing.assert_array_equal(kept.with_draws().lower_probs(), kept.lower_probs())
    more = replace(kept, n_draws=200)
    assert more.lower_probs().mean() < kept.lower_probs().mean()
    assert not np.array_equal(more.lower_probs(), kept.lower_probs())


def test_parts_of_a_pass_remember_and_the_whole_does_not(random_generator):
    plain = random_prediction("Members", random_generator, 30, 3)
    seen = []

    def work(rows, part):
        seen.append(part.mean_probs() is part.mean_probs())

    plain.for_each_chunk(work, 24, chunk_bytes=100)
    assert seen
    assert all(seen)
    assert not plain.remembers


def test_copies_and_pickles_keep_what_was_found(random_generator):
    kept = random_prediction("Point", random_generator, 5, 3).remembering("mean_probs")
    for again in (copy.copy(kept), copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        np.testing.assert_array_equal(again.mean_probs(), kept.mean_probs())


# Class names, ids, groups and notes.


PROBS = [[0.5, 0.5], [0.2, 0.8]]


@pytest.mark.parametrize("names", [["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Index(["a", "b"]), [b"a", "b"]])
def test_class_names_in_any_sequence(names):
    assert uq.Point(PROBS, class_names=names).class_names == ("a", "b")


def test_class_names_are_text():
    assert uq.Point(PROBS, class_names=np.array([3, 7])).class_names == ("3", "7")
    assert uq.Point(PROBS, class_names=[np.int64(3), 7]).class_names == ("3", "7")


@pytest.mark.parametrize(
    "names", [5, "ab", {"a": 0, "b": 1}, {"a", "b"}, [None, "a"], [["a"], ["b"]], [float("nan"), "a"]]
)
def test_other_objects_are_no_class_names(names):
    with refuses("class_names", "type"):
        uq.Point(PROBS, class_names=names)


def test_names_and_ids_differ_from_each_other():
    with refuses("class_names", "duplicate", got="'a' occurs twice"):
        uq.Point(PROBS, class_names=["a", "a"])
    with refuses("ids", "duplicate", got="7 occurs 2 times"):
        uq.Point(PROBS, ids=[7, 7])


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        [1, 2],
        np.array(["a", "b"], dtype=object),
        np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]).to_numpy(),
        pd.Series(["a", "b"]),
        pd.Series([1, 2], dtype="Int64"),
    ],
)
def test_ids_and_groups_are_numbers_text_dates_or_tuples(values):
    point = uq.Point(PROBS, ids=values, groups=values)
    assert len(set(point.ids.tolist())) == 2
    np.testing.assert_array_equal(point.groups, point.ids)


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        ([1.0, np.nan], "missing", "row 1 holds nan"),
        ([None, "a"], "missing", "row 0 holds None"),
        (pd.Series(["a", None]), "missing", "row 1"),
        (pd.Series([1, None], dtype="Int64"), "missing", "row 1"),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), "missing", "row 1"),
        ([{}, {}], "type", "row 0 holds a dict"),
        (np.ma.masked_array([1, 2], [True, False]), "masked", ""),
        ([1], "mismatch", r"got shape \(1,\)"),
        ([1 + 1j, 2], "type", "complex"),
    ],
)
def test_missing_and_odd_groups_are_refused(values, code, got):
    for name in ("ids", "groups"):
        with refuses(name, code, got=got):
            uq.Point(PROBS, **{name: values})
    with refuses("subgroups", code, got=got):
        per_instance(values, "subgroups", 2)


def test_notes_are_data():
    note = Note("repaired", "2 rows repaired", {"rows": 2})
    point = uq.Point(PROBS, notes=(note, "read from a file"))
    assert point.notes == (note, Note("stated", "read from a file"))
    assert point[:1].notes == point.notes
    with refuses("notes", "type", got="got int"):
        uq.Point(PROBS, notes=(5,))


# Tables and Series: columns name the classes, the index the instances.


def test_a_data_frame_names_classes_and_instances():
    frame = pd.DataFrame({"cat": [0.9, 0.2], "dog": [0.1, 0.8]}, index=["x", "y"])
    point = uq.Point(frame)
    assert point.class_names == ("cat", "dog")
    assert point.ids.tolist() == ["x", "y"]


@pytest.mark.parametrize("columns", [["proba_2", "proba_0", "proba_1"], ["2", "0", "1"], [2, 0, 1]])
def test_columns_that_are_indices_are_put_in_order(columns):
    point = uq.Point(pd.DataFrame([[0.5, 0.2, 0.3]], columns=columns))
    assert point.probs.tolist() == [[0.2, 0.3, 0.5]]
    assert point.class_names is None


def test_other_numbers_name_the_classes():
    point = uq.Point(pd.DataFrame([[0.5, 0.2, 0.3]], columns=[1, 2, 3]))
    assert point.class_names == ("1", "2", "3")
    assert uq.losses.is_correct([1], point).tolist() == [True]
    named = uq.Point(pd.DataFrame([[0.5, 0.5]], columns=["proba_cat", "proba_dog"]))
    assert named.class_names == ("cat", "dog")


def test_two_columns_of_one_name_are_refused():
    with refuses("probs", "duplicate", got="'a' occurs twice"):
        uq.Point(pd.DataFrame([[0.5, 0.5]], columns=["a", "a"]))


def test_both_tables_of_intervals_are_put_in_one_order():
    lower = pd.DataFrame([[0.1, 0.2], [0.3, 0.4]], columns=["a", "b"], index=["x", "y"])
    upper = pd.DataFrame([[0.6, 0.5], [0.9, 0.8]], columns=["b", "a"], index=["y", "x"])
    intervals = uq.Intervals(lower, upper)
    assert intervals.upper.tolist() == [[0.8, 0.9], [0.5, 0.6]]
    with refuses("upper", "ids", got="index entries must match those of lower; .*'y' first"):
        uq.Intervals(lower, upper.loc[["x"]])


def test_missing_values_of_pandas_are_refused_and_nullable_numbers_taken():
    whole = pd.DataFrame({"a": pd.array([0.5, 0.25], dtype="Float64"), "b": [0.5, 0.75]})
    assert uq.Point(whole).probs.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    with refuses("probs", "missing", got="row 1"):
        uq.Point(whole.assign(a=pd.array([0.5, None], dtype="Float64")))
    with refuses("probs", "finite", got="row 1 holds nan"):
        uq.Point(pd.DataFrame({"a": [0.5, 0.25], "b": [0.5, np.nan]}))


# Row numbers of parts: draws of a part are those of the whole.


@pytest.mark.parametrize("kind", STATEMENTS)
def test_parts_have_the_draws_of_the_whole(kind, random_generator):
    whole = random_prediction(kind, random_generator, 6)
    part = whole[2:5]
    assert numbered(part, 40) is part  # a slice keeps its numbers
    fresh = object.__new__(type(part))
    for name, value in vars(part).items():
        object.__setattr__(fresh, name, None if name == "row_numbers" else value)
    assert numbered(fresh, 2).row_numbers.tolist() == [2, 3, 4]
    np.testing.assert_array_equal(numbered(fresh, 2).lower_probs(), whole.lower_probs()[2:5])


# one_versus_rest: the two-class prediction of a class, against the event {k} and its complement.


N, K = 6, 4
DRAWN = ("Dirichlet", "GaussianLogits")
CARRIED = {"ids": np.array(list("abcdef")), "groups": np.array([1, 1, 2, 2, 3, 3]), "notes": ("repaired",)}
NAMES = ("cat", "dog", "owl", "3")


def events(prediction, k):
    """(rest, class k) under every point of the hull, (n, V, 2)."""
    points = np.asarray(prediction.hull_points(), dtype=np.float64)
    return np.stack([np.delete(points, k, axis=2).sum(axis=2), points[..., k]], axis=2)


def carrying(prediction, **metadata):
    return prediction.with_metadata(**{k: v for k, v in metadata.items() if k != "notes"})


# -- against the events -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Point", "Members", "Vertices", "GaussianLogits"])
@pytest.mark.parametrize("k", range(K))
def test_points_of_the_set_become_pairs(kind, k, random_generator):
    prediction = random_prediction(kind, random_generator, N, K)
    binary = prediction.one_versus_rest(k)
    pairs = events(prediction, k)
    np.testing.assert_allclose(binary.hull_points(), pairs, atol=1e-15)
    np.testing.assert_allclose(binary.lower_probs(), pairs.min(axis=1), atol=1e-15)
    np.testing.assert_allclose(binary.upper_probs(), pairs.max(axis=1), atol=1e-15)
    mean = prediction.mean_probs()[:, k]
    np.testing.assert_allclose(binary.mean_probs(), np.stack([1 - mean, mean], axis=1), atol=1e-15)
    assert type(binary) is (uq.Members if kind == "GaussianLogits" else type(prediction))


@pytest.mark.parametrize("weights", [[3, 0, 1], "own"])
def test_weights_of_the_members_stay(weights, random_generator):
    members = random_prediction("Members", random_generator, N, K)
    given = random_generator.random((N, 3)) if weights == "own" else weights
    members = uq.Members(members.probs, given)
    binary = members.one_versus_rest(2)
    np.testing.assert_array_equal(binary.weights, members.weights)
    np.testing.assert_allclose(binary.mean_probs()[:, 1], members.mean_probs()[:, 2], atol=1e-15)


@pytest.mark.parametrize("kind", ["Intervals", "Masses"])
@pytest.mark.parametrize("k", range(K))
def test_bounds_are_those_of_the_event_and_its_complement(kind, k, random_generator):
    prediction = random_prediction(kind, random_generator, N, K)
    event = np.eye(K, dtype=bool)[[k]]
    if kind == "Masses":
        masses, sets = prediction.masses, prediction.focal_sets
        inside = np.stack([masses @ ~(sets & ~a).any(axis=1) for a in (~event[0], event[0])], axis=1)
    else:
        vertices = [np.asarray(uq.credal.box_vertices(*prediction[i].bounds())[0])[0] for i in range(N)]
        inside = np.array([[np.delete(v, k, axis=1).sum(axis=1).min(), v[:, k].min()] for v in vertices])
    binary = prediction.one_versus_rest(k)
    assert type(binary) is type(prediction)
    np.testing.assert_allclose(binary.lower_probs(), inside, atol=1e-12)
    np.testing.assert_allclose(binary.upper_probs(), 1 - inside[:, ::-1], atol=1e-12)
    np.testing.assert_allclose(binary.upper_probs()[:, 1], prediction.upper_probs()[:, k], atol=1e-12)


def test_masses_have_three_focal_sets(random_generator):
    prediction = random_prediction("Masses", random_generator, N, K)
    binary = prediction.one_versus_rest(1)
    assert binary.focal_sets.tolist() == [[True, False], [False, True], [True, True]]
    with_k = np.array([bool(a >> 1 & 1) for a in range(2**K)])
    sizes = np.array([a.bit_count() for a in range(2**K)])
    every = masses_of_every_event(prediction)
    expected = [every[:, ~with_k].sum(axis=1), every[:, with_k & (sizes == 1)].sum(axis=1)]
    np.testing.assert_allclose(binary.masses[:, :2], np.stack(expected, axis=1), atol=1e-12)
    np.testing.assert_allclose(binary.masses.sum(axis=1), 1, atol=1e-12)


def test_masses_where_a_focal_set_is_missing():
    masses = uq.Masses([[0.25, 0.75]], [[0], [0, 1, 2]], n_classes=3)
    assert masses.one_versus_rest(0).masses.tolist() == [[0.0, 0.25, 0.75]]
    assert masses.one_versus_rest(2).masses.tolist() == [[0.25, 0.0, 0.75]]


def test_beliefs_that_are_not_belief_functions_stay_signed():
    sets = [[0], [1], [0, 1], [0, 1, 2]]
    signed = uq.Masses.from_beliefs(np.array([[0.6, 0.5, 0.7, 1.0]], np.float32), sets, n_classes=3)
    assert signed.signed
    binary = signed.one_versus_rest(0)
    assert binary.signed
    np.testing.assert_allclose(binary.masses, [[0.5, 0.6, -0.4 + 0.3]], atol=1e-6)
    with refuses("beliefs", "not-belief-functions", got="1 of 1 rows are not .first row 0"):
        binary.lower_probs()
    assert binary.repaired().lower_probs().shape == (1, 2)


@pytest.mark.parametrize("unit", [False, True])
def test_dirichlet_aggregates(unit):
    alpha = np.array([[2.0, 0.7, 4.0, 1.0], [0.3, 0.3, 0.2, 0.1]])
    dirichlet = uq.Dirichlet(alpha, unit_concentration=unit, n_draws=3000, seed=4)
    binary = dirichlet.one_versus_rest(2)
    assert (type(binary), binary.n_draws, binary.seed, binary.unit_concentration) == (uq.Dirichlet, 3000, 4, unit)
    np.testing.assert_allclose(binary.alpha, [[3.7, 4.0], [0.7, 0.2]])
    np.testing.assert_allclose(binary.mean_probs()[:, 1], dirichlet.mean_probs()[:, 2])
    ours, theirs = binary.hull_points()[..., 1], dirichlet.hull_points()[..., 2]
    for i in range(2):
        assert stats.ks_2samp(ours[i], theirs[i]).pvalue > 0.01
    # whether draws are held or not
    np.testing.assert_array_equal(dirichlet.with_draws().one_versus_rest(2).hull_points(), binary.hull_points())


def test_two_classes_give_the_prediction_itself(random_generator):
    for kind in KINDS:
        prediction = random_prediction(kind, random_generator, N, 2)
        same, turned = prediction.one_versus_rest(1), prediction.one_versus_rest(0)
        for method in ("mean_probs", "lower_probs", "upper_probs"):
            if kind == "Intervals" and method == "mean_probs":
                continue
            expected = getattr(prediction, method)()
            np.testing.assert_allclose(getattr(same, method)(), expected, atol=1e-15, err_msg=kind)
            if kind != "Dirichlet" or method == "mean_probs":  # turned, it draws in another order
                np.testing.assert_allclose(getattr(turned, method)()[:, ::-1], expected, atol=1e-15, err_msg=kind)
        if kind in ("Point", "Members", "Vertices", "Dirichlet"):
            for name in same.array_names():
                np.testing.assert_array_equal(getattr(same, name), getattr(prediction, name))


def test_one_versus_rest_twice_is_once(random_generator):
    for kind in KINDS:
        once = random_prediction(kind, random_generator, N, K).one_versus_rest(3)
        np.testing.assert_allclose(once.one_versus_rest(1).lower_probs(), once.lower_probs(), atol=1e-15, err_msg=kind)


# -- metadata, and the choice of the class ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_metadata_and_class_names(kind, random_generator):
    prediction = carrying(random_prediction(kind, random_generator, N, K), class_names=NAMES, **CARRIED)
    part = prediction[[4, 4, 1]]  # a row twice: its id is not unique any more
    binary = part.one_versus_rest("owl")
    assert binary.class_names == ("not owl", "owl")
    assert binary.ids.tolist() == ["e", "e", "b"]
    assert binary.groups.tolist() == [3, 3, 1]
    assert binary.row_numbers.tolist() == [4, 4, 1]
    whole = prediction.one_versus_rest(2)
    np.testing.assert_array_equal(binary.lower_probs(), whole[[4, 4, 1]].lower_probs())
    assert uq.Point([[0.5, 0.25, 0.25]], notes=(Note("kept", "kept"),)).one_versus_rest(0).notes == (
        Note("kept", "kept"),
    )
    assert random_prediction(kind, random_generator, N, K).one_versus_rest(2).class_names == ("rest", "class 2")


@pytest.mark.parametrize("names", [None, ("0", "1", "2"), ("1", "2", "3"), ("3.0", "0", "-1"), ("cat", "dog", "owl")])
@pytest.mark.parametrize("k", range(3))
def test_labels_0_and_1_mean_the_rest_and_the_class(names, k):
    binary = uq.Point([[0.5, 0.25, 0.25]] * 2, class_names=names).one_versus_rest(k)
    assert len(set(binary.class_names)) == 2
    assert uq.predictions.class_indices([0, 1], binary.class_names).tolist() == [0, 1]
    assert uq.losses.is_correct([0, 1], binary).sum() == 1
    again = binary.one_versus_rest(1)
    assert uq.predictions.class_indices([0, 1], again.class_names).tolist() == [0, 1]


def test_a_class_by_index_or_by_name():
    point = uq.Point([[0.1, 0.2, 0.3, 0.4]], class_names=NAMES)
    found = [point.one_versus_rest(k).probs[0, 1] for k in ("dog", 1, np.int64(2), np.str_("cat"), "3", 3)]
    assert found == [0.2, 0.2, 0.3, 0.1, 0.4, 0.4]


@pytest.mark.parametrize(
    ("names", "k", "got"),
    [
        (None, 4, r"0 … 3; got 4; "),
        (None, -1, r"0 … 3; got -1; "),
        (None, "1", r"0 … 3; got '1'; "),
        (NAMES, "fox", r"0 … 3 or one of cat, dog, owl, 3; got 'fox'; "),
        (NAMES, 1.0, r"got 1\.0; "),
        (NAMES, True, r"got True; "),
        (NAMES, None, r"got None; "),
    ],
)
def test_an_unknown_class_is_refused_in_one_sentence(names, k, got):
    with refuses("k", "choice", got=got):
        uq.Point([[0.1, 0.2, 0.3, 0.4]], class_names=names).one_versus_rest(k)


# -- ordinary inputs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("kind", ["Point", "Members", "Vertices", "Intervals", "Masses"])
def test_short_and_read_only_numbers(kind, dtype, random_generator):
    p = random_generator.dirichlet(np.ones(9), (40, 3)).astype(dtype)
    p.flags.writeable = False
    prediction = {
        "Point": lambda: uq.Point(p[:, 0]),
        "Members": lambda: uq.Members(p),
        "Vertices": lambda: uq.Vertices(p),
        "Intervals": lambda: uq.Intervals(p.min(axis=1), p.max(axis=1)),
        "Masses": lambda: uq.Masses(p[:, 0], [[c] for c in range(8)] + [list(range(9))], n_classes=9),
    }[kind]()
    for k in range(9):
        binary = prediction.one_versus_rest(k)
        within = 1e-3 if kind == "Masses" and dtype == np.float16 else 1e-15
        np.testing.assert_allclose(binary.upper_probs()[:, 1], prediction.upper_probs()[:, k], atol=within)
        again = binary.with_metadata(groups=np.arange(40))  # passes the rules of its kind once more
        np.testing.assert_allclose(again.mean_probs().sum(axis=1), 1, atol=1e-6)


def test_the_smallest_probabilities_survive():
    point = uq.Point([[1.0 - 1e-12, 1e-12 - 1e-25, 1e-25], [1.0, 1e-30, 0.0]])
    np.testing.assert_allclose(point.one_versus_rest(0).probs[:, 0], [1e-12, 1e-30], rtol=1e-12)


def test_a_hair_beyond_the_bounds():
    point = uq.Point(np.array([[1.0005, -0.0005, 0.0]], dtype=np.float16))
    assert point.one_versus_rest(0).probs.tolist() == [[0.0, 1.0]]
    assert point.one_versus_rest(1).probs.tolist() == [[1.0, 0.0]]
    intervals = uq.Intervals(np.array([[1.0005, 0.0, 0.0]], np.float16), np.array([[1.0005, 0.0, 0.0005]], np.float16))
    assert intervals.one_versus_rest(0).upper_probs().tolist() == [[0.0, 1.0]]


def test_results_do_not_depend_on_row_order_and_memory_layout(random_generator):
    members = random_prediction("Members", random_generator, 31, 11)
    columns = uq.Members(np.asfortranarray(members.probs))
    order = random_generator.permutation(31)
    whole = members.one_versus_rest(5).probs
    np.testing.assert_array_equal(columns.one_versus_rest(5).probs, whole)
    np.testing.assert_array_equal(members[order].one_versus_rest(5).probs, whole[order])
    np.testing.assert_array_equal(columns[3].one_versus_rest(5).probs, whole[3:4])


def test_an_assay_of_one_class(random_generator):
    members = random_prediction("Members", random_generator, 20, 3)
    y = random_generator.integers(3, size=20)
    found = uq.assay({"m": members.one_versus_rest(1)}, (y == 1).astype(int), n_draws=10)
    assert np.isfinite(found.findings().query("model == 'm' and metric == 'kl'").estimate).all()


# Conversion of arguments: predictions, arrays and objects of other libraries.

COERCED = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])


def test_predictions_pass_and_arrays_become_points_and_members():
    point = uq.Point(COERCED, ids=["a", "b"])
    assert as_prediction(point) is point
    assert isinstance(as_prediction(COERCED), uq.Point)
    assert isinstance(as_prediction(COERCED.tolist()), uq.Point)
    assert as_prediction(np.stack([COERCED] * 4, axis=1)).n_members == 4
    assert isinstance(as_prediction({"alpha": COERCED}), uq.Dirichlet)
    table = as_prediction(pd.DataFrame(COERCED, columns=["x", "y", "z"]))
    assert table.class_names == ("x", "y", "z")


def test_refusals_name_the_parameter_of_the_caller():
    with refuses("models['DE']", "sum", got=r"row 1 sums to 1\.1"):
        as_prediction([[0.5, 0.5], [0.5, 0.6]], "models['DE']")
    with refuses("models['DE'].upper", "bounds"):
        as_prediction({"lower": [[0.1, 0.1]], "upper": [[0.2, 0.2]]}, "models['DE']")
    for odd in (None, "probs.npz", 3.5, object()):
        with refuses("prediction", "type", got=f"got {type(odd).__name__}"):
            as_prediction(odd)


def test_a_list_of_models_is_not_three_instances(needs):
    with refuses("prediction", "member-axis", got=r"got 3 arrays, the first of shape \(2, 3\)"):
        as_prediction([COERCED, COERCED, COERCED])
    with refuses("obj", "member-axis", got="member_axis=0"):
        uq.from_object([COERCED, COERCED, COERCED])
    with refuses("probs", "member-axis"):
        uq.Members([COERCED, COERCED, COERCED])
    for members in (
        uq.from_object([COERCED] * 3, member_axis=0),
        uq.Members([COERCED] * 3, member_axis=0),
    ):
        assert (members.n_instances, members.n_members) == (2, 3)
    assert uq.Members([COERCED] * 3, member_axis=1).n_instances == 3
    needs("torch")
    import torch

    tensors = [torch.tensor(COERCED, requires_grad=True) for _ in range(3)]
    with refuses("prediction", "member-axis"):
        as_prediction(tensors)
    assert uq.from_object(tensors, member_axis=0).n_members == 3
    assert as_prediction(list(torch.tensor(COERCED))).n_instances == 2  # a list of rows


@pytest.mark.parametrize(
    "function",
    [
        lambda p: uq.losses.unified_loss([0], p).total,
        lambda p: uq.losses.log_loss([0], p),
        lambda p: uq.losses.brier_loss([0], p),
        lambda p: uq.losses.is_correct([0], p),
        lambda p: uq.measures.nonspecificity(p),
        lambda p: uq.measures.upper_entropy(p),
        lambda p: uq.measures.lower_entropy(p),
        lambda p: uq.measures.entropy_decomposition(p).total,
        lambda p: uq.measures.variance_decomposition(p).total,
        lambda p: uq.measures.uncertainty_score(p, "margin"),
        lambda p: uq.measures.least_confidence(p),
        lambda p: uq.measures.margin_uncertainty(p),
        lambda p: uq.measures.credal_width(p),
        lambda p: uq.measures.credal_uncertainty(p),
    ],
)
def test_functions_of_predictions_accept_arrays(function):
    members = np.array([[[0.7, 0.3], [0.5, 0.5]]])
    for array, prediction in ((members, uq.Members(members)), (members[:, 0], uq.Point(members[:, 0]))):
        np.testing.assert_array_equal(np.asarray(function(array)), np.asarray(function(prediction)))


def test_gaussian_logits_need_a_meaning_of_their_variance_and_the_remedy_gives_one(needs):
    mapping = {"mean": COERCED, "variance": COERCED}
    with refuses("models['DE'].variance_is", "missing") as refusal:
        as_prediction(mapping, "models['DE']")
    assert "uq.from_object" in refusal.value.remedy
    assert uq.from_object(mapping, variance_is="epistemic").spanned_by == "draws"
    assert as_prediction(mapping | {"variance_is": "aleatoric"}).spanned_by == "passes"
    needs("torch")
    import torch

    normal = torch.distributions.Normal(torch.zeros(4, 3), 1.0)
    with refuses("prediction.variance_is", "missing"):
        as_prediction(normal)
    assert uq.from_object(normal, variance_is="aleatoric").variance_is == "aleatoric"


def test_a_meaning_may_be_repeated_but_not_changed():
    stated = uq.GaussianLogits([[0.0, 1.0]], [[1.0, 1.0]], variance_is="aleatoric")
    assert uq.from_object(stated, variance_is="aleatoric") is stated
    with refuses("variance_is", "conflict", got="'epistemic', and the key states 'aleatoric'"):
        uq.from_object(stated, variance_is="epistemic")
    with refuses("variance_is", "conflict", got="found probs"):
        uq.from_object(COERCED, variance_is="aleatoric")


# Every constructor with odd values in every place: it makes a prediction with finite numbers, or refuses in one sentence.

HALVES = np.full((2, 2), 0.5)
PASSES = np.full((2, 3, 2), 0.5)
MAPPED = {"probs": [[0.5, 0.5]]}
ODD = {
    "None": None,
    "text": "probs.npz",
    "bytes": b"abc",
    "mapping": {"a": 1},
    "set": {0, 1},
    "generator": (x for x in [[0.5, 0.5]]),
    "function": len,
    "object": object(),
    "number": 0.5,
    "huge whole number": 10**400,
    "nan": float("nan"),
    "truth": True,
    "complex": 1 + 2j,
    "empty list": [],
    "list of nothing": [[], []],
    "ragged": [[0.5, 0.5], [1.0]],
    "list of None": [None, None],
    "list of text": ["a", "b"],
    "list of mappings": [{}, {}],
    "list of sets": [{0}, {1}],
    "nested lists": [[[[0.5, 0.5]]]],
    "huge whole numbers": [[10**400, 1], [1, 1]],
    "row": np.array([0.5, 0.5]),
    "rows": HALVES,
    "three axes": PASSES,
    "four axes": np.full((2, 2, 2, 2), 0.5),
    "no axes": np.array(0.5),
    "no rows": np.zeros((0, 2)),
    "no classes": np.zeros((2, 0)),
    "one column": np.ones((2, 1)),
    "nan inside": np.array([[0.5, np.nan], [0.5, 0.5]]),
    "inf inside": np.array([[0.5, np.inf], [0.5, 0.5]]),
    "-inf inside": np.array([[0.5, -np.inf], [0.5, 0.5]]),
    "-inf alone": np.full((2, 2), -np.inf),
    "greatest": np.full((2, 2), 1e308),
    "greatest in single precision": np.full((2, 2), 3e38, np.float32),
    "least": np.full((2, 2), 5e-324),
    "negative": np.array([[1.5, -0.5], [0.5, 0.5]]),
    "zeros": np.zeros((2, 2)),
    "ones": np.ones((2, 2)),
    "whole numbers": np.array([[3, 4], [1, 0]]),
    "unsigned": np.array([[3, 4], [1, 0]], np.uint8),
    "truth values": np.array([[True, True], [False, True]]),
    "complex numbers": HALVES.astype(complex),
    "long doubles": HALVES.astype(np.longdouble),
    "half precision": HALVES.astype(np.float16),
    "other byte order": HALVES.astype(">f8"),
    "dates": np.array([["2020-01-01", "2020-01-02"]] * 2, dtype="datetime64[D]"),
    "spans": np.array([[1, 2], [3, 4]], dtype="timedelta64[s]"),
    "date objects": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
    "objects": HALVES.astype(object),
    "text array": np.array([["a", "b"], ["c", "d"]]),
    "records": np.zeros(2, dtype=[("a", float), ("b", int)]),
    "masked": np.ma.masked_array(HALVES, [[True, False], [False, False]]),
    "masked, none hidden": np.ma.masked_array(HALVES),
    "list of masked": [np.ma.masked_array([0.5, 0.5], [True, False]), np.array([0.5, 0.5])],
    "matrix": np.matrix(HALVES),
    "sparse": scipy.sparse.csr_array(HALVES),
    "sparse matrix": scipy.sparse.coo_matrix(HALVES),
    "table": pd.DataFrame(HALVES),
    "table of nullable numbers": pd.DataFrame(HALVES).astype("Float64"),
    "table with NA": pd.DataFrame({"a": pd.array([0.5, None], dtype="Float64"), "b": [0.5, 0.5]}),
    "table with NaN": pd.DataFrame({"a": [0.5, None], "b": [0.5, 0.5]}),
    "table of text": pd.DataFrame({"a": ["x", "y"], "b": [0.5, 0.5]}),
    "table with two columns of a name": pd.DataFrame(HALVES, columns=["a", "a"]),
    "series": pd.Series([0.5, 0.5]),
    "nullable series": pd.Series([1, None], dtype="Int64"),
    "nullable truth values": pd.Series([True, None], dtype="boolean"),
    "categories": pd.Series(["a", "b"], dtype="category"),
    "prediction": uq.Point(HALVES),
    "list of predictions": [uq.Point(HALVES), uq.Point(HALVES)],
}
MAKERS = {
    "Point": uq.Point,
    "Point normalise": lambda v: uq.Point(v, normalise=True),
    "Point class_names": lambda v: uq.Point(HALVES, class_names=v),
    "Point ids": lambda v: uq.Point(HALVES, ids=v),
    "Point groups": lambda v: uq.Point(HALVES, groups=v),
    "Point notes": lambda v: uq.Point(HALVES, notes=v),
    "Point log_partition": lambda v: uq.Point(HALVES, log_partition=v),
    "Point.from_logits": uq.Point.from_logits,
    "Point.from_binary": uq.Point.from_binary,
    "Members": uq.Members,
    "Members member_axis=0": lambda v: uq.Members(v, member_axis=0),
    "Members normalise": lambda v: uq.Members(v, normalise=True),
    "Members weights": lambda v: uq.Members(PASSES, v),
    "Members weights of two": lambda v: uq.Members(HALVES[:, None].repeat(2, axis=1), v),
    "Members member_axis": lambda v: uq.Members(PASSES, member_axis=v),
    "Members.from_logits": uq.Members.from_logits,
    "Members.from_binary": lambda v: uq.Members.from_binary(v, member_axis=1),
    "Members.from_binary member_axis": lambda v: uq.Members.from_binary(HALVES, member_axis=v),
    "Members.subset": lambda v: uq.Members(PASSES).subset(v),
    "Members.sample": lambda v: uq.Members(PASSES).sample(v) is not None and uq.Point(HALVES),
    "Dirichlet": uq.Dirichlet,
    "Dirichlet n_draws": lambda v: uq.Dirichlet(HALVES, n_draws=v),
    "Dirichlet seed": lambda v: uq.Dirichlet(HALVES, seed=v),
    "Dirichlet drawn": lambda v: uq.Dirichlet(HALVES, drawn=v),
    "Intervals lower": lambda v: uq.Intervals(v, np.ones((2, 2))),
    "Intervals upper": lambda v: uq.Intervals(0, v),
    "Intervals both": lambda v: uq.Intervals(v, v),
    "Masses": lambda v: uq.Masses(v, [[0], [1]], n_classes=2),
    "Masses focal_sets": lambda v: uq.Masses(HALVES, v, n_classes=2),
    "Masses n_classes": lambda v: uq.Masses(HALVES, [[0], [1]], n_classes=v),
    "Masses signed": lambda v: uq.Masses(v, [[0], [1]], n_classes=2, signed=True).repaired(),
    "Masses.from_beliefs": lambda v: uq.Masses.from_beliefs(v, [[0], [0, 1]], n_classes=2).repaired(),
    "Vertices": uq.Vertices,
    "Vertices normalise": lambda v: uq.Vertices(v, normalise=True),
    "GaussianLogits mean": lambda v: uq.GaussianLogits(v, np.ones((2, 2)), variance_is="epistemic"),
    "GaussianLogits variance": lambda v: uq.GaussianLogits(np.zeros((2, 2)), v, variance_is="epistemic"),
    "GaussianLogits both": lambda v: uq.GaussianLogits(v, v, variance_is="epistemic"),
    "from_object": uq.from_object,
    "from_object logits": lambda v: uq.from_object(v, kind="logits"),
    "as_prediction": as_prediction,
    "rows": lambda v: uq.Point(HALVES)[v],
    "one_versus_rest": lambda v: uq.Point(HALVES).one_versus_rest(v),
}


def flaw_of(refusal: InputError) -> str | None:
    """What is wrong with a refusal: it must have its fields and be one short sentence."""
    said = str(refusal)
    if refusal.parameter and refusal.rule and refusal.code and "\n" not in said and len(said) < 500:
        return None
    return f"no short sentence with its fields: {said!r}"


def flaw_with(make, value) -> str | None:
    """What is wrong with the prediction that is made of a value, or with its refusal."""
    try:
        prediction = make(value)
        mean = prediction.mean_probs()
        lower, upper = prediction.lower_probs(), prediction.upper_probs()
    except InputError as refusal:
        return flaw_of(refusal)
    except Exception as problem:
        return repr(problem)
    if not all(found.dtype == np.float64 and np.isfinite(found).all() for found in (mean, lower, upper)):
        return "no finite doubles"
    if not np.allclose(mean.sum(axis=1), 1, rtol=1e-7, atol=1e-3):
        return "sums that are not 1"
    return None if (lower <= upper + 1e-6).all() else "a lower probability above the upper one"


@pytest.mark.parametrize("maker", MAKERS)
def test_odd_values_are_refused_in_one_sentence_or_make_finite_numbers(maker):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flaws = {name: flaw_with(MAKERS[maker], value) for name, value in ODD.items()}
    assert {name: flaw for name, flaw in flaws.items() if flaw is not None} == {}
