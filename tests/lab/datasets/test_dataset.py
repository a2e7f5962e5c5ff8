"""The data set itself: what it refuses, its parts, noise, shares, z-scores and its hash."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refuses

from uqassay.lab.datasets import Dataset, stratified_split
from uqassay.lab.datasets import dataset as preparation
from uqassay.lab.datasets.dataset import (
    LIMIT,
    NOISE,
    SUBSET,
    TRAINING,
    child_of,
    class_shares,
    count_of,
    even_or_odd,
    fit_components,
    permuted_rows,
    principal_components,
    run_stream,
    seed_source,
)

NAMES = ("a", "b", "c")


def make(n=60, n_test=30, seed=0, **fields):
    g = np.random.default_rng(seed)
    y, y_test = np.arange(n) % 3, np.arange(n_test) % 3
    given = {"X_train": g.normal(size=(n, 4)), "y_train": y, "X_test": g.normal(size=(n_test, 4)), "y_test": y_test}
    return Dataset("made", class_names=NAMES, **(given | fields))


def test_arrays_are_read_only_views_and_the_caller_keeps_theirs():
    x = np.zeros((60, 4))
    data = make(X_train=x)
    assert np.shares_memory(data.X_train, x)
    with pytest.raises(ValueError, match="read-only"):
        data.X_train[0] = 1.0
    x[0] = 1.0  # the caller's array is not frozen


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, bool])
def test_features_of_other_types(dtype):
    data = make(X_train=np.ones((60, 4), dtype=dtype), X_test=np.ones((30, 4), dtype=dtype)[::-1])
    assert data.X_train.dtype == (dtype if np.dtype(dtype).kind == "f" else np.float64)
    assert data.y_train.dtype == np.int64


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"y_train": np.full(60, 3)}, ("y_train", "range", "row 0 holds 3")),
        ({"y_train": np.zeros(59, int)}, ("y_train", "mismatch", "got 59")),
        ({"y_train": np.full(60, 0.5)}, ("y_train", "type")),
        ({"y_test": np.ones((30, 3))}, ("y_test", "shape", r"got shape \(30, 3\)")),
        ({"X_train": np.zeros(60)}, ("X_train", "shape")),
        ({"X_test": np.zeros((30, 5))}, ("X_test", "shape")),
        ({"X_train": np.where(np.arange(240).reshape(60, 4) == 41, np.nan, 0.0)}, ("X_train", "finite")),
        ({"X_train": np.array([["a"] * 4] * 60)}, ("X_train", "type")),
        ({"X_train": np.zeros((0, 4)), "y_train": []}, ("X_train", "empty")),
        ({"votes_test": np.ones((30, 2))}, ("votes_test", "mismatch")),
        ({"votes_test": np.zeros((30, 3))}, ("votes_test", "empty", "row 0")),
        ({"groups_train": np.arange(59)}, ("groups_train", "shape")),
        ({"groups_test": np.array([object()] * 30)}, ("groups_test", "shape")),
        ({"class_names": ("a",)}, ("class_names", "range", "got 1")),
    ],
)
def test_what_does_not_fit_is_refused(fields, refusal):
    names = fields.pop("class_names", NAMES)
    base = make()
    given = {k: getattr(base, k) for k in ("X_train", "y_train", "X_test", "y_test")}
    with refuses(*refusal):
        Dataset("made", class_names=names, **(given | fields))


def test_an_empty_test_part_and_one_instance_are_possible():
    data = Dataset("tiny", [[1.0]], [1], np.zeros((0, 1)), [], ("a", "b"))
    assert (len(data.y_train), len(data.y_test), data.n_classes) == (1, 0, 2)
    assert data.standardised().X_train.tolist() == [[0.0]]
    assert data.with_label_noise(1.0).y_train.tolist() == [1]
    assert data.flattened().X_test.shape == (0, 1)


# ---- hash ------------------------------------------------------------------------------------------------------------


def test_the_hash_depends_on_content_only():
    data = make()
    same = make(X_train=np.asfortranarray(data.X_train), source="elsewhere")
    assert data.content_hash == same.content_hash == make().content_hash
    big_endian = make(X_train=data.X_train.astype(">f8"))
    assert big_endian.content_hash == data.content_hash
    others = [
        make(seed=1),
        make(y_train=np.roll(data.y_train, 1)),
        make(votes_test=np.ones((30, 3))),
        make(groups_train=np.arange(60)),
        make(X_train=data.X_train.astype(np.float32), X_test=data.X_test.astype(np.float32)),
        data.subset(test=slice(0, 29)),
    ]
    assert len({data.content_hash, *(o.content_hash for o in others)}) == len(others) + 1


def test_text_groups_have_a_hash():
    assert make(groups_test=np.array(["r1", "run 2"] * 15)).content_hash != make().content_hash


# ---- parts -----------------------------------------------------------------------------------------------------------


def test_subset_by_mask_rows_and_slice_keeps_what_belongs_together():
    data = make(votes_test=np.eye(3)[np.arange(30) % 3] * 5, groups_train=np.arange(60), groups_test=np.arange(30))
    by_mask = data.subset(data.y_train == 1, data.y_test == 2)
    by_rows = data.subset(np.flatnonzero(data.y_train == 1), np.flatnonzero(data.y_test == 2))
    assert by_mask.content_hash == by_rows.content_hash
    np.testing.assert_array_equal(by_mask.groups_train, np.arange(1, 60, 3))
    np.testing.assert_array_equal(by_mask.votes_test.argmax(axis=1), by_mask.y_test)
    np.testing.assert_array_equal(data.subset(test=slice(0, 30, 7)).groups_test, np.arange(0, 30, 7))
    np.testing.assert_array_equal(data.subset(train=[-1, 0]).groups_train, [59, 0])
    with refuses("train", "range", got="got 60"):
        data.subset(train=[60])
    with refuses("train", "shape", got="needs row numbers or one truth value for each of 60 rows"):
        data.subset(train=np.ones(59, dtype=bool))


@pytest.mark.parametrize("k", [0, 1, 2])
def test_without_a_class_all_outputs_stay(k):
    data = make()
    inside, outside = data.without_class(k)
    assert inside.n_classes == 3
    assert k not in inside.y_train
    assert k not in inside.y_test
    assert len(inside.y_train) == 40
    assert len(inside.y_test) + len(outside) == 30
    np.testing.assert_array_equal(outside, data.X_test[data.y_test == k])


def test_without_a_class_needs_that_class_and_another():
    with refuses("k", "range", got="got 3"):
        make().without_class(3)
    with refuses("k", "empty", got="all are of class 1"):
        make(y_train=np.ones(60, int)).without_class(1)


# ---- shares ----------------------------------------------------------------------------------------------------------

PAPER_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)


def test_fractions_are_nested_and_keep_every_class():
    counts = np.array([200, 29, 3])
    y = np.repeat(np.arange(3), counts)
    data = make(X_train=np.arange(len(y), dtype=float)[:, None] * np.ones(4), y_train=y)
    smaller = set()
    for share in PAPER_SHARES:
        part = data.fraction(share, 7)
        rows = set(part.X_train[:, 0].astype(int).tolist())
        assert smaller <= rows
        expected = [max(1, int(c * share + 1e-9)) for c in counts.tolist()]
        np.testing.assert_array_equal(np.bincount(part.y_train, minlength=3), expected)
        np.testing.assert_array_equal(part.y_train, y[sorted(rows)])
        assert part.X_test is data.X_test
        smaller = rows
    assert smaller == set(range(len(y)))
    assert data.fraction(0.5, 7).content_hash == data.fraction(0.5, np.random.SeedSequence(7)).content_hash
    assert data.fraction(0.5, 7).content_hash != data.fraction(0.5, 8).content_hash


def test_fraction_rounds_in_decimal():
    data = make(n=300)
    assert len(data.fraction(0.29, 0).y_train) == 3 * 29
    for share in (0.0, -0.1, 1.1, np.nan):
        with refuses("share", "range", got=r"must lie in \(0, 1\]"):
            data.fraction(share)


# ---- label noise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_label_noise_permutes_a_share_in_both_parts(share):
    data = make(n=3000, n_test=1500, votes_test=np.eye(3)[np.arange(1500) % 3])
    noisy = data.with_label_noise(share, 3)
    for part in ("train", "test"):
        before, after = getattr(data, f"y_{part}"), getattr(noisy, f"y_{part}")
        np.testing.assert_array_equal(np.bincount(before), np.bincount(after))  # permuted, not redrawn
        changed = (before != after).mean()
        assert changed <= share
        # a permuted label differs with probability 2/3; 5 standard errors
        assert abs(changed - share * 2 / 3) <= 5 * np.sqrt(2 / 9 / len(before))
        assert getattr(noisy, f"X_{part}") is getattr(data, f"X_{part}")
    np.testing.assert_array_equal(noisy.votes_test.argmax(axis=1), noisy.y_test)


def test_label_noise_is_reproducible_and_its_parts_are_drawn_apart():
    data = make(n=900, n_test=900)
    noisy = data.with_label_noise(1.0, 5)
    assert noisy.content_hash == data.with_label_noise(1.0, 5).content_hash
    assert (noisy.y_train != noisy.y_test).any()
    for share in (-0.1, 1.01, np.nan):
        with refuses("share", "range", got="must lie between 0 and 1"):
            data.with_label_noise(share)


# ---- z-scores --------------------------------------------------------------------------------------------------------


def test_standardised_against_scikit_learn(needs):
    needs("sklearn")
    from sklearn.preprocessing import StandardScaler

    g = np.random.default_rng(4)
    x, x_test = 50 + 7 * g.normal(size=(60, 4)), 3 * g.normal(size=(30, 4))
    x[:, 2] = 0.1  # never varies
    scaled = make(X_train=x, X_test=x_test).standardised()
    theirs = StandardScaler().fit(x)
    np.testing.assert_allclose(scaled.X_train, theirs.transform(x), atol=1e-12)
    np.testing.assert_allclose(scaled.X_test, theirs.transform(x_test), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 5, 5), (3, 40)])
def test_standardised_channels_of_images_and_recordings(shape):
    g = np.random.default_rng(5)
    x = g.normal(loc=2.0, scale=[[3.0]], size=(60, *shape)).astype(np.float32)
    scaled = make(X_train=x, X_test=x[:30]).standardised().X_train
    assert scaled.dtype == np.float32
    axes = (0, *range(2, x.ndim))
    np.testing.assert_allclose(scaled.mean(axis=axes, dtype=float), 0.0, atol=1e-6)
    np.testing.assert_allclose(scaled.std(axis=axes, dtype=float), 1.0, rtol=1e-6)


def test_flattened():
    x = np.arange(60 * 12, dtype=np.float32).reshape(60, 3, 2, 2)
    flat = make(X_train=x, X_test=x[:30]).flattened()
    np.testing.assert_array_equal(flat.X_train[1], np.arange(12, 24))
    assert repr(flat) == "Dataset('made': 60 training and 30 test instances of 12, 3 classes)"


def test_class_names_must_differ():
    with refuses("class_names", "duplicate", got="'a' occurs more than once"):
        Dataset("d", [[0.0], [1.0]], [0, 1], [[0.0]], [0], ("a", "a"))


def test_half_precision_is_standardised_without_overflow():
    x = np.random.default_rng(0).uniform(-6e4, 6e4, (50, 2)).astype(np.float16)
    found = Dataset("d", x, [0, 1] * 25, x[:4], [0, 1] * 2, ("a", "b")).standardised()
    expected = (x.astype(float) - x.astype(float).mean(axis=0)) / x.astype(float).std(axis=0)
    np.testing.assert_allclose(found.X_train, expected, rtol=1e-5, atol=1e-5)
    assert found.X_train.dtype == np.float32


def test_values_whose_squares_overflow_do_not_become_zeros():
    x = [[0.0, 1.0], [1e200, 2.0]]
    with refuses("X_train", "size"):
        Dataset("d", x, [0, 1], x, [0, 1], ("a", "b")).standardised()


# -- Stratified splits, shares of classes, permuted rows: sizes, nothing lost, nothing twice, nested for one seed.


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=6), share=st.floats(0.05, 0.9), seed=st.integers(0, 2**31)
)
def test_every_class_gives_its_share(counts, share, seed):
    counts = np.array(counts)
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    n_test = round(share * len(y))
    if not 0 < n_test <= len(y) - len(counts):
        return
    train, test = stratified_split(y, n_test, seed)
    assert len(test) == n_test
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
    in_train = np.bincount(y[train], minlength=len(counts))
    assert (in_train >= 1).all()
    exact = counts * n_test / len(y)
    capped = np.minimum(np.floor(exact + 1e-9), counts - 1)
    in_test = counts - in_train
    assert (in_test >= capped).all()
    if (exact <= counts - 1).all():
        assert (np.abs(in_test - exact) < 1 + 1e-9).all()


def test_same_seed_same_split_and_random_order():
    y = np.repeat([0, 1, 2], 40)
    first, again, other = (stratified_split(y, 0.25, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[1], again[1])
    assert set(first[1].tolist()) != set(other[1].tolist())
    assert not (np.diff(first[0]) > 0).all()  # not sorted by class as y is


def test_labels_need_not_begin_at_zero():
    train, test = stratified_split(np.array([7, 7, -1, -1]), 2)
    assert len(train) == len(test) == 2


@pytest.mark.parametrize("size", [0, 4, 5, -1, 0.0, 1.0, 1.5, 0.01, -0.5])
def test_sizes_that_leave_a_part_empty(size):
    with refuses("test_size", "range", got=r"must be a share in \(0, 1\) or a number of instances in 1 … 3"):
        stratified_split([0, 0, 1, 1], size)


def test_every_class_must_stay_in_training():
    with refuses("test_size", "range", got="got 3 of 4"):
        stratified_split([0, 0, 1, 1], 3)


def test_shares_are_counted_in_decimal():
    for n in (7, 100, 142_693):
        for percent in range(101):
            assert count_of(percent / 100, n) == percent * n // 100


@pytest.mark.parametrize("size", ["a", None, float("nan"), float("inf")])
def test_sizes_that_are_none(size):
    with refuses("test_size", "range", got=r"must be a share in \(0, 1\) or a number of instances in 1 … 3"):
        stratified_split([0, 0, 1, 1], size)


# ---- streams of a run, shares of classes, permuted rows --------------------------------------------------------------


def test_streams_of_a_run_differ_and_repeat():
    first = {stream: run_stream(7, stream).generate_state(2).tolist() for stream in (SUBSET, NOISE, TRAINING, LIMIT)}
    assert first == {stream: run_stream(7, stream).generate_state(2).tolist() for stream in first}
    assert len({tuple(state) for state in first.values()}) == 4
    assert child_of(run_stream(7, NOISE), 1).generate_state(2).tolist() != first[NOISE]


def test_seed_source_of_every_kind_of_rng():
    assert seed_source(None).entropy == seed_source(0).entropy == 0
    source = run_stream(3, NOISE)
    assert seed_source(source) is source
    g = np.random.default_rng(4)
    assert seed_source(g).entropy != seed_source(g).entropy  # a generator advances
    for bad in (-1, 0.5, "a"):
        with refuses("rng", "range", got="got"):
            seed_source(bad)


@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=5).filter(any),
    seed=st.integers(0, 2**31),
    shares=st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)),
)
def test_shares_of_classes_are_nested_and_keep_every_class(counts, seed, shares):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    small, large = (class_shares(y, len(counts), share, seed) for share in sorted(shares))
    assert set(small) <= set(large)
    np.testing.assert_array_equal(large, np.unique(large))
    expected = [max(1, count_of(max(shares), n)) if n else 0 for n in counts]
    assert np.bincount(y[large], minlength=len(counts)).tolist() == expected


@given(n=st.integers(1, 60), seed=st.integers(0, 2**31), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_permuted_rows_are_a_permutation_of_few_rows(n, seed, shares):
    for share in shares:
        came_from = permuted_rows(n, share, run_stream(seed, NOISE))
        np.testing.assert_array_equal(np.sort(came_from), np.arange(n))
        assert (came_from != np.arange(n)).sum() <= count_of(share, n)


def test_permuted_rows_of_a_greater_share_contain_those_of_a_smaller_one():
    n, source = 4000, run_stream(1, NOISE)
    stays = {share: permuted_rows(n, share, source) == np.arange(n) for share in (0.1, 0.2, 0.6, 1.0)}
    for small, large in ((0.1, 0.2), (0.2, 0.6), (0.6, 1.0)):
        moved = ~stays[small]
        # a row that is permuted stays where it is with probability 1/m, m the number of permuted rows
        assert (stays[large] & moved).sum() <= 10
        assert moved.sum() >= count_of(small, n) - 10


# -- Principal components against scikit-learn; two classes out of many.


@pytest.fixture
def images():
    g = np.random.default_rng(0)
    x = g.normal(size=(80, 12)) @ g.normal(size=(12, 12)) + 3
    y = np.arange(80) % 5
    votes = g.multinomial(9, np.full(5, 0.2), 30) + 1
    return Dataset("d", x[:50].reshape(50, 1, 3, 4), y[:50], x[50:].reshape(30, 1, 3, 4), y[50:], "abcde", votes)


def test_principal_components_against_scikit_learn(images, needs):
    needs("sklearn")
    from sklearn.decomposition import PCA

    ours = principal_components(images, 5)
    theirs = PCA(5).fit(images.X_train.reshape(50, -1))
    for part in ("X_train", "X_test"):
        expected = theirs.transform(getattr(images, part).reshape(-1, 12))
        signs = np.sign((getattr(ours, part) * expected).sum(axis=0))
        np.testing.assert_allclose(getattr(ours, part), signs * expected, atol=1e-9)
    with refuses("n_components", "range", got="got 13"):
        principal_components(images, 13)


def test_components_of_several_parts_in_chunks(images, monkeypatch):
    """Parts, chunks and bytes change nothing but the rounding."""
    whole = (np.random.default_rng(1).random((90, 3, 4)) * 255).astype(np.uint8)
    expected = fit_components([whole.astype(np.float64)], 6)
    monkeypatch.setattr(preparation, "CHUNK_BYTES", 7 * 8 * 12)
    found = fit_components([whole[:35], whole[35:36], whole[36:]], 6)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.loadings, expected.loadings, atol=1e-9)
    np.testing.assert_allclose(found.loadings.T @ found.loadings, np.eye(6), atol=1e-12)
    assert (found.loadings.max(axis=0) >= -found.loadings.min(axis=0)).all()
    scores = found.scores(whole, unit=255.0, dtype=np.float32)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, (whole.reshape(90, 12) - expected.mean) @ expected.loadings / 255, atol=1e-6)


def test_even_or_odd(images):
    data = even_or_odd(images)
    np.testing.assert_array_equal(data.y_test, images.y_test % 2)
    assert data.class_names == ("even", "odd")
    np.testing.assert_array_equal(data.votes_test[:, 0], images.votes_test[:, [0, 2, 4]].sum(axis=1))
    np.testing.assert_array_equal(data.votes_test.sum(axis=1), images.votes_test.sum(axis=1))
