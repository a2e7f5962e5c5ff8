"""Points and members, and order-free sums over classes and members."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.measures.logits import free_energy
from uqassay.native import kernel
from uqassay.predictions import OrderFreeSum, member_rows, member_shares, member_sums, sum_over_classes
from uqassay.predictions.files import inspect_file
from uqassay.predictions.keys import prediction_from_arrays
from uqassay.predictions.points import not_negative

# Points: tensors, precision, logits.


def test_tensors_are_copied_to_the_host(needs):
    needs("torch")
    import torch

    p = torch.tensor([[0.25, 0.75]], requires_grad=True)
    assert uq.Point(p).probs.tolist() == [[0.25, 0.75]]
    assert uq.Point(p.to(torch.bfloat16)).probs.dtype == np.float32


def test_precision_of_the_dtype_decides_the_tolerance():
    for dtype, slack in ((np.float64, 5e-7), (np.float32, 5e-5), (np.float16, 5e-4)):
        uq.Point(np.array([[0.5, 0.5 + slack]], dtype=dtype))
    with refuses("probs", "sum", got=r"row 0 sums to 1\.00005"):
        uq.Point(np.array([[0.5, 0.50005]]))


def test_rows_of_bfloat16_have_the_tolerance_of_bfloat16(needs):
    needs("torch")
    import torch

    p = torch.tensor([[0.2, 0.8]]).to(torch.bfloat16)  # sums to 1.00098
    assert uq.Point(p).n_classes == 2


@pytest.mark.parametrize("n_classes", [2, 10, 1000])
def test_softmax_in_bfloat16_is_accepted_in_its_type_and_refused_after_a_cast(needs, n_classes):
    needs("torch")
    import torch

    logits = torch.tensor(np.random.default_rng(0).normal(0, 3, (300, n_classes)), dtype=torch.bfloat16)
    probs = torch.softmax(logits, dim=1)
    assert abs(probs.double().sum(dim=1) - 1).max() > 1e-3  # beyond the tolerance of float16
    for values in (probs, list(probs), uq.Point(probs).probs):
        point = uq.Point(values)
        assert point.n_classes == n_classes
        assert point.with_metadata(groups=np.arange(300)).n_instances == 300  # checked anew
        assert point[100:].with_metadata(groups=np.arange(200)).n_instances == 200
    for cast in (probs.float(), probs.float().numpy(), probs.double().numpy(), list(probs.float())):
        with refuses("probs", "sum") as refusal:
            uq.Point(cast)
        assert refusal.value.facts["look"] == "counts"
        assert uq.Point(cast, normalise=True).n_instances == 300
    assert uq.Members(probs[:, None]).subset(1).n_members == 1


@pytest.mark.parametrize("neighbour", [[0.5, 0.5], [1 / 3, 2 / 3]])
def test_the_neighbours_of_a_row_do_not_decide_whether_it_is_valid(neighbour):
    """The second row has few digits, as numbers of 16 bits have, and sums to 1.0039."""
    with refuses("probs", "sum", got=r"within 1e-06; row 1 sums to 1\.00391"):
        uq.Point([neighbour, [0.50390625, 0.5]])
    with refuses("probs", "sum", got=r"within 1e-06; row 0 sums to 0\.75"):
        uq.Point([[0.5, 0.25], neighbour])


def test_rows_of_single_precision_in_a_list():
    probs = np.random.default_rng(0).dirichlet(np.ones(7), 50).astype(np.float32)
    assert uq.Point(list(probs)).probs.dtype == np.float32


def test_logits_of_impossible_classes():
    logits = np.array([[0.0, np.log(3), -np.inf], [-np.inf, 2.0, -np.inf]])
    point = uq.Point.from_logits(logits)
    np.testing.assert_allclose(point.probs, [[0.25, 0.75, 0], [0, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(point.log_partition, [np.log(4), 2])
    entropy = uq.measures.entropy_decomposition(point).total
    np.testing.assert_allclose(entropy, [-0.25 * np.log(0.25) - 0.75 * np.log(0.75), 0], atol=1e-15)
    for odd, got in (([np.inf, 0.0], "row 1 holds inf"), ([np.nan, 0.0], "row 1 holds nan"), ([-np.inf] * 2, "row 1")):
        with refuses("logits", "finite", got=got):
            uq.Point.from_logits([[0.0, 0.0], odd])


def test_padded_rows_agree_with_unpadded_rows():
    rng = np.random.default_rng(1)
    counts = rng.integers(3, 6, 40)
    logits = np.full((40, 5), -np.inf)
    for row, k in enumerate(counts):
        logits[row, :k] = rng.normal(size=k)
    padded = uq.Point.from_logits(logits)
    for k in (3, 4, 5):
        alone = uq.Point.from_logits(logits[counts == k, :k])
        np.testing.assert_allclose(padded.probs[counts == k, :k], alone.probs, rtol=1e-15)
        for score in ("total-entropy", "least-confidence", "margin"):
            np.testing.assert_allclose(
                uq.measures.uncertainty_score(padded[counts == k], score),
                uq.measures.uncertainty_score(alone, score),
                atol=1e-14,
            )


# Members: weights, axes, binary probabilities, subsets.


def test_weighted_members(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (5, 2))
    shared = uq.Members(probs, weights=[3, 1])
    np.testing.assert_allclose(shared.mean_probs(), 0.75 * probs[:, 0] + 0.25 * probs[:, 1])
    own = uq.Members(probs, weights=np.array([[1, 0]] * 5))
    np.testing.assert_allclose(own.mean_probs(), probs[:, 0])
    np.testing.assert_allclose(own[2:3].mean_probs(), probs[2:3, 0])
    np.testing.assert_allclose(own.lower_probs(), probs.min(axis=1))
    assert (own.sample(20) == probs[:, None, 0]).all()


def test_binary_probabilities():
    p = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    np.testing.assert_allclose(uq.Members.from_binary(p, member_axis=1).probs[0, 2], [0.7, 0.3])
    np.testing.assert_allclose(uq.Members.from_binary(p, member_axis=0).probs[2, 1], [0.4, 0.6])
    assert uq.Members.from_binary(p[0]).probs.shape == (3, 1, 2)
    np.testing.assert_allclose(uq.Point.from_binary(p[0]).probs[:, 1], p[0])


def test_ecg_networks_one_diagnosis_at_a_time(shared):
    data = np.load(shared / "data" / "ecg" / "ten_seeds.npz")
    members = uq.Members.from_binary(data["probs"][:, :, 0], member_axis=0)
    assert members.probs.shape == (827, 10, 2)
    assert (members.labels() == data["gold"][:, 0]).mean() > 0.97
    loss = uq.losses.unified_loss(data["gold"][:, 0], members)
    assert np.isfinite(loss.total).all()


def test_weights_beyond_the_largest_number_keep_their_ratios():
    probs = np.array([[[0.2, 0.8], [0.6, 0.4]]])
    for weights in ([1e308, 1e308], [[1e308, 1e308]]):
        members = uq.Members(probs, weights)
        assert members.mean_probs().tolist() == [[0.4, 0.6000000000000001]]
    assert uq.Members(probs, [5e-324, 5e-324]).weights.tolist() == [0.5, 0.5]


def test_a_subset_has_a_note(random_generator):
    members = uq.Members(random_generator.dirichlet(np.ones(3), (4, 5)), weights=np.arange(1, 6))
    part = members.subset(2, rng=1)
    assert part.n_members == 2
    assert part.notes[0].code == "members-chosen"
    assert part.notes[0].facts == {"n_members": 2, "of": 5}
    for number in (0, 6, 1.5, "2"):
        with refuses("n_members", "common-members", got="1 … 5") as refusal:
            members.subset(number)
        assert refusal.value.facts == {"n_members": 5}


def test_impossible_classes_of_some_members():
    logits = np.array([[[0.0, 0.0, -np.inf], [0.0, -np.inf, 0.0]]])
    members = uq.Members.from_logits(logits)
    assert members.probs.tolist() == [[[0.5, 0.5, 0], [0.5, 0, 0.5]]]
    np.testing.assert_allclose(members.log_partition, np.log([[2, 2]]))
    with refuses("logits", "finite", got="row 0 holds −inf alone"):
        uq.Members.from_logits([[[0.0, 0.0], [-np.inf, -np.inf]]])


# Arithmetic on rows of probabilities.


@pytest.mark.parametrize("kind", [uq.Point, lambda p: uq.Members(p[:, None]), lambda p: uq.Vertices(p[:, None])])
def test_a_hair_below_zero_counts_as_zero(kind):
    prediction = kind(np.array([[1 + 5e-8, -5e-8, 0.0], [0.2, 0.3, 0.5]]))
    for name in ("total-entropy", "upper-entropy", "credal-uncertainty", "least-confidence"):
        assert np.isfinite(uq.measures.uncertainty_score(prediction, name)).all()
    for y in ([1, 1], [[0.5, 0.5, 0], [1, 0, 0]]):
        for distance in ("kl", "js", "tv", "hellinger", "brier"):
            assert np.isfinite(uq.losses.unified_loss(y, prediction, distance=distance).total).all()
    assert np.isfinite(
        uq.assay({"m": prediction}, [1, 1], n_draws=10).findings().query("metric == 'kl'").estimate
    ).all()


def test_one_class_against_the_rest_keeps_small_sums_exact():
    from uqassay.predictions.points import event_and_rest

    p = np.array([[1e-20, 3e-20, 1.0]])
    np.testing.assert_allclose(event_and_rest(p, 2), [[4e-20, 1.0]], rtol=1e-15)
    coarse = np.array([[0.2, 0.8005]], np.float16)  # misses 1 by more than double precision allows
    found = event_and_rest(coarse, 1)
    np.testing.assert_array_equal(found.sum(axis=1), 1)


def test_rows_whose_sum_overflows_are_scaled():
    counts = np.array([[1e308, 1e308, -1.0]])  # -1 is rounding beside such numbers
    assert uq.Point(counts, normalise=True).probs.tolist() == [[0.5, 0.5, 0.0]]


# Sums that do not depend on the order.


needs_kernels = pytest.mark.skipif(
    kernel("sorted_sums") is None, reason="the compiled kernels are absent or switched off"
)


@settings(deadline=None, max_examples=30)
@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_no_order_changes_a_bit(values):
    found = set()
    for order in permutations(values):
        total = OrderFreeSum(1)
        for value in order:
            total.add(np.array([value]))
        found.add(float(total.value()[0]))
    assert len(found) == 1
    assert len({float(sum_over_classes(np.array(order))) for order in permutations(values)}) == 1


def test_sums_against_exact_fractions(random_generator):
    from fractions import Fraction

    values = random_generator.random((200, 7))
    total = OrderFreeSum(200)
    for column in values.T:
        total.add(column)
    exact = [float(sum(map(Fraction, row))) for row in values]
    np.testing.assert_array_equal(total.value(), exact)
    np.testing.assert_allclose(sum_over_classes(values), exact, rtol=1e-15)


def odd_values(rng, shape):
    """Values of many sizes and both signs, with ties, infinities and nan."""
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-9, 9, shape)
    values[..., :1] = values[..., -1:]
    values[0] = np.nan
    values[1, ..., 0] = np.inf
    return values


@needs_kernels
@pytest.mark.parametrize("n_classes", [1, 2, 3, 7, 8, 9, 10, 16, 31, 33, 100, 127, 128, 129])
def test_sums_over_classes_have_the_bits_of_the_formula(n_classes, monkeypatch, random_generator):
    values = odd_values(random_generator, (37, n_classes))
    layouts = values, np.asfortranarray(values), values[::-2], values.reshape(1, 37, n_classes), values[3]
    found = [sum_over_classes(one) for one in layouts]
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for one, by_kernel in zip(layouts, found, strict=True):
        by_formula = sum_over_classes(one)
        assert by_kernel.shape == by_formula.shape
        np.testing.assert_array_equal(by_kernel, by_formula)


@needs_kernels
def test_order_free_sum_has_the_bits_of_the_formula(monkeypatch, random_generator):
    terms = odd_values(random_generator, (9, 37, 5))[2:]
    terms[3] = np.asfortranarray(terms[3])

    def summed():
        total = OrderFreeSum((37, 5))
        for term in terms:
            total.add(term)
        total.add(np.float64(0.1))
        return total.value()

    found = summed()
    monkeypatch.setenv("UQASSAY_PURE", "1")
    np.testing.assert_array_equal(found, summed())


@needs_kernels
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ">f8", "int64"])
def test_rows_of_one_member_have_the_bits_of_the_formula(dtype, monkeypatch, random_generator):
    members = (10 * random_generator.normal(size=(37, 4, 6))).astype(dtype)
    slices = [members[:, 1], members[::-1, 2], members[:, 1, ::2], members[:, :, 3], members[3], members[:0, 1]]
    found = [not_negative(one) for one in slices]
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for one, by_kernel in zip(slices, found, strict=True):
        assert by_kernel.dtype == np.float64
        assert by_kernel.flags.c_contiguous
        np.testing.assert_array_equal(by_kernel, not_negative(one))


@needs_kernels
def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="1 to 128 numbers"):
        kernel("sorted_sums")(np.ones((2, 129)))
    with pytest.raises(ValueError, match="neighbours in memory"):
        kernel("rows_not_negative")(np.ones((3, 4))[:, ::2])


# Sums over members against exact fractions; layouts, dtypes and the order of members change no bit.


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize("weights", [None, (4,), (6, 4)])
def test_sums_over_members_against_exact_fractions(weights, pure, monkeypatch, random_generator):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    probs = random_generator.integers(0, 2**20, (6, 4, 3)) / 2.0**20
    shares = None if weights is None else random_generator.integers(0, 8, weights) / 8.0
    [found] = member_sums(probs, shares, lambda p: (p,), "member_means")
    each = np.broadcast_to(0.25 if shares is None else shares, (6, 4))
    exact = [
        [float(sum(Fraction(w) * Fraction(p) for w, p in zip(each[i], probs[i, :, c], strict=True))) for c in range(3)]
        for i in range(6)
    ]
    np.testing.assert_array_equal(found, exact)


def test_terms_of_any_shape_without_a_kernel(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (8, 5))
    top, both = member_sums(probs, None, lambda p: (p.max(axis=1, keepdims=True), np.stack([p, p * p])))
    np.testing.assert_allclose(top[:, 0], probs.max(axis=2).mean(axis=1), rtol=1e-15)
    np.testing.assert_allclose(both, np.stack([probs.mean(axis=1), (probs**2).mean(axis=1)]), rtol=1e-15)


@pytest.mark.parametrize("pure", ["0", "1"])
def test_negative_probabilities_within_the_tolerance_count_as_0(pure, monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    [found] = member_sums(np.array([[[1.0, -1e-8], [0.5, 0.5]]]), None, lambda p: (p,), "member_means")
    assert found.tolist() == [[0.75, 0.25]]


def test_rows_and_shares_are_what_kernels_take(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (2, 5))
    assert member_rows(probs) is probs
    assert member_rows(probs.astype(np.float16)).dtype == np.float64
    assert member_rows(probs.astype(np.float32)).dtype == np.float32
    assert member_rows(probs[:, ::2]).flags.c_contiguous
    assert member_shares(probs, None).tolist() == [[0.2] * 5]
    assert member_shares(probs, np.arange(5.0)).shape == (1, 5)
    assert member_shares(probs, np.ones((2, 5))).shape == (2, 5)


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8"])
def test_layouts_and_dtypes_have_the_bits_of_contiguous_float64(dtype, pure, monkeypatch, random_generator):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    probs = random_generator.dirichlet(np.ones(3), (8, 5)).astype(dtype)
    by_member = np.ascontiguousarray(np.moveaxis(probs, 1, 0))
    by_member.flags.writeable = False
    within = np.zeros((8, 5, 6), dtype)
    within[..., ::2] = probs
    unaligned = np.frombuffer(b"\0" + probs.tobytes(), probs.dtype, offset=1).reshape(probs.shape)
    tolerant = np.ones((8, 5, 1)) * probs.astype(np.float64)
    [expected] = member_sums(tolerant, None, lambda p: (p,), "member_means")
    for one in (probs, np.moveaxis(by_member, 0, 1), within[..., ::2], unaligned):
        [found] = member_sums(one, None, lambda p: (p,), "member_means")
        np.testing.assert_array_equal(found, expected)


# log_partition: what a softmax forgets of its logits, kept from the door to the file and back.


Z = np.random.default_rng(5).normal(0, 4, (6, 3, 5))  # (n, M, K)
PACKAGES = {".safetensors": "safetensors", ".zarr": "zarr", ".pt": "torch", ".npz": "numpy"}


def both():
    return {"Point": uq.Point.from_logits(Z[:, 0]), "Members": uq.Members.from_logits(Z, [1, 2, 5])}


# -- from logits ------------------------------------------------------------------------------------------------------


def test_logits_come_back():
    for prediction, z in zip(both().values(), (Z[:, 0], Z), strict=True):
        np.testing.assert_allclose(prediction.log_partition, logsumexp(z, axis=-1), rtol=1e-14)
        np.testing.assert_allclose(np.log(prediction.probs) + prediction.log_partition[..., None], z, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_logits_of_short_numbers_are_summed_in_double(dtype):
    z = np.round(Z * 3).astype(dtype)
    members = uq.Members.from_logits(z)
    assert members.log_partition.dtype == np.float64
    np.testing.assert_allclose(members.log_partition, logsumexp(z.astype(float), axis=2), rtol=1e-14)


def test_the_largest_logits_do_not_overflow():
    point = uq.Point.from_logits([[1e308, -1e308], [-1.7e308, -1.7e308], [1e4, 1e4]])
    np.testing.assert_allclose(point.log_partition, [1e308, -1.7e308, 1e4 + np.log(2)], rtol=1e-15)


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_members_from_logits_on_any_axis(axis):
    members = uq.Members.from_logits(np.moveaxis(Z, 1, axis), [1, 2, 5], member_axis=axis, ids=np.arange(6))
    np.testing.assert_array_equal(members.log_partition, both()["Members"].log_partition)
    np.testing.assert_array_equal(members.probs, both()["Members"].probs)
    assert members.ids.tolist() == list(range(6))
    moved = uq.Members(np.moveaxis(members.probs, 1, 0), log_partition=members.log_partition.T, member_axis=0)
    np.testing.assert_array_equal(moved.log_partition, members.log_partition)


def test_log_probabilities_have_the_partition_zero(random_generator):
    z = random_generator.normal(0, 5, (300, 8))
    for dtype in (np.float16, np.float32, np.float64):
        assert (uq.Point.from_logits(log_softmax(z, axis=1).astype(dtype)).log_partition == 0).mean() > 0.5
    assert (uq.Point.from_logits(log_softmax(z, axis=1)).log_partition == 0).all()
    assert (uq.Point.from_logits(z).log_partition != 0).all()


def test_logits_that_are_not_finite_or_no_members_are_refused():
    with refuses("logits", "finite", got=r"row 1 holds nan at \[1, 0, 1\]"):
        uq.Members.from_logits([[[0.0, 1.0]], [[0.0, np.nan]]])
    with refuses("logits", "shape", got=r"got shape \(6, 5\)"):
        uq.Members.from_logits(Z[:, 0])


def test_a_table_of_logits_keeps_its_names_and_partition():
    import pandas as pd

    table = pd.DataFrame(Z[:, 0], columns=list("abcde"), index=list("uvwxyz"))
    point = uq.Point.from_logits(table)
    assert (point.class_names, point.ids.tolist()) == (tuple("abcde"), list("uvwxyz"))
    np.testing.assert_array_equal(point.log_partition, both()["Point"].log_partition)
    given = uq.Point(both()["Point"].probs, log_partition=pd.Series(point.log_partition))
    np.testing.assert_array_equal(given.log_partition, point.log_partition)


# -- the field --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Point", "Members"])
def test_rows_metadata_and_choices_keep_it(kind):
    prediction = both()[kind]
    whole = prediction.log_partition
    np.testing.assert_array_equal(prediction[[4, 0]].log_partition, whole[[4, 0]])
    np.testing.assert_array_equal(prediction[2:4][1].log_partition, whole[[3]])
    np.testing.assert_array_equal(prediction[np.arange(6) % 2 == 0].log_partition, whole[::2])
    renamed = prediction.with_metadata(class_names=list("abcde"), groups=[1] * 6)
    np.testing.assert_array_equal(renamed.log_partition, whole)
    np.testing.assert_array_equal(uq.from_object(prediction, ids=range(6)).log_partition, whole)
    binary = prediction.one_versus_rest(3)
    np.testing.assert_array_equal(binary.log_partition, whole)
    np.testing.assert_array_equal(free_energy(binary), free_energy(prediction))
    rest = np.delete(Z[:, 0] if kind == "Point" else Z, 3, axis=-1)
    np.testing.assert_allclose(np.log(binary.probs[..., 0]) + whole, logsumexp(rest, axis=-1), atol=1e-12)
    assert "log_partition=(6" in repr(prediction)
    assert not prediction.log_partition.flags.writeable


def test_a_choice_of_members_keeps_theirs():
    members = both()["Members"]
    part = members.subset(2, rng=3)
    chosen = [int(np.flatnonzero((members.probs[0] == p).all(axis=1))[0]) for p in part.probs[0]]
    np.testing.assert_array_equal(part.log_partition, members.log_partition[:, chosen])


def test_it_may_be_given_in_any_numbers_and_is_not_required():
    assert uq.Point([[0.5, 0.5]]).log_partition is None
    assert uq.Members([[[0.5, 0.5]]]).log_partition is None
    for values in ([3], np.array([3], np.int8), np.array([3.0], np.float16), (3.0,)):
        point = uq.Point([[0.5, 0.5]], log_partition=values)
        assert free_energy(point).tolist() == [-3.0]
    assert free_energy(uq.Point([[0.5, 0.5]], log_partition=np.array([200], np.uint8))).tolist() == [-200.0]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: uq.Point([[0.5, 0.5]], log_partition=[1.0, 2.0]),
            r"must be \(1,\), .* each instance; got shape \(2,\)",
        ),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=[[1.0]]), r"got shape \(1, 1\); use from_logits"),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=1.0), r"got shape \(\); use from_logits"),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=[np.inf]), "values must be finite; row 0 holds inf"),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=["a"]), "must hold real numbers"),
        (lambda: uq.Members([[[0.5, 0.5]] * 2], log_partition=[1.0]), r"must be \(1, 2\), .* instance and member"),
        (
            lambda: uq.Members([[[0.5, 0.5]] * 2] * 3, log_partition=[[0, 1], [1, np.nan], [2, 2]]),
            r"values must be finite; row 1 holds nan at \[1, 1\]",
        ),
        (
            lambda: uq.Members(np.full((2, 3, 2), 0.5), log_partition=np.zeros((3, 2)), member_axis=0),
            r"must be \(2, 3\), one number",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, match):
    with refuses("log_partition", got=match):
        make()


# -- files and mappings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", PACKAGES)
@pytest.mark.parametrize("kind", ["Point", "Members"])
def test_files_keep_it(tmp_path, needs, kind, extension):
    needs(PACKAGES[extension])
    prediction = both()[kind][[5, 0, 2]].with_metadata(groups=list("aab"))
    path = tmp_path / f"p{extension}"
    uq.save(prediction, path, labels=[0, 1, 2])
    back = uq.load(path)
    for name in ("probs", "log_partition", "row_numbers", "groups"):
        np.testing.assert_array_equal(getattr(back, name), getattr(prediction, name), err_msg=name)
        assert getattr(back, name).dtype == getattr(prediction, name).dtype
    found = inspect_file(path)
    assert (found["kind"], found["n_instances"], found["ignored"]) == (kind.lower(), 3, [])


def test_its_type_survives_a_file(tmp_path):
    point = uq.Point(np.array([[0.5, 0.5]], np.float32), log_partition=np.array([2.0], np.float16))
    uq.save(point, tmp_path / "p.npz")
    assert uq.load(tmp_path / "p.npz").log_partition.dtype == np.float16


def test_logits_in_a_file_or_a_mapping_leave_it(tmp_path):
    np.savez(tmp_path / "point.npz", logits=Z[:, 0])
    np.savez(tmp_path / "members.npz", logits=np.moveaxis(Z, 1, 0), weights=[1, 2, 5])
    loaded = uq.load(tmp_path / "point.npz"), uq.load(tmp_path / "members.npz", member_axis=0)
    mapped = uq.from_object({"logits": Z[:, 0]}), uq.from_object({"logits": Z, "weights": [1, 2, 5]})
    bare = uq.from_object(Z[:, 0], kind="logits"), uq.from_object(Z, kind="logits")
    for found in (loaded, mapped, bare):
        for prediction, expected in zip(found, both().values(), strict=True):
            np.testing.assert_array_equal(prediction.log_partition, expected.log_partition)


def test_a_mapping_may_state_it_beside_the_probabilities():
    members = both()["Members"]
    arrays = {"probs": np.moveaxis(members.probs, 1, 0), "log_partition": members.log_partition.T}
    found = prediction_from_arrays(arrays, member_axis=0)
    np.testing.assert_array_equal(found.log_partition, members.log_partition)
    with refuses("log_partition", "shape", got=r"must be \(6,\)"):
        prediction_from_arrays({"probs": both()["Point"].probs, "log_partition": np.zeros(5)})


def test_a_file_that_holds_another_shape_is_refused_by_name(tmp_path):
    np.savez(tmp_path / "bad.npz", probs=np.full((2, 2), 0.5), log_partition=np.zeros(3))
    with refuses("log_partition", "shape", got=r"\(2,\)", source="bad.npz", error=FileFormatError):
        uq.load(tmp_path / "bad.npz")


def test_outputs_of_fd_shifts_keep_it(tmp_path):
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([Z[:, 0], np.zeros(6), np.zeros(6)]))
    np.savez(tmp_path / "raw_logits_dist.npz", np.moveaxis(Z, 1, 2))  # (N, C, M)
    for name, expected in (("raw_logits", both()["Point"]), ("raw_logits_dist", both()["Members"])):
        np.testing.assert_array_equal(uq.load(tmp_path / f"{name}.npz").log_partition, expected.log_partition)


def test_a_memory_map_is_walked_in_chunks_with_the_same_result(tmp_path, random_generator):
    z = random_generator.normal(0, 3, (900, 2, 1200))
    members = uq.Members.from_logits(z)
    path = tmp_path / "m.npz"
    uq.save(members, path)
    back = uq.load(path)
    assert isinstance(back.probs.base, np.memmap) or isinstance(back.probs, np.memmap)
    energies = np.empty(900)

    def work(rows, part):
        energies[rows] = free_energy(part, temperature=2.0)

    back.for_each_chunk(work, 8 * 2 * 1200, chunk_bytes=2**18)
    np.testing.assert_array_equal(energies, free_energy(members, temperature=2.0))
    np.testing.assert_allclose(energies, -2 * logsumexp(z / 2, axis=2).mean(axis=1), rtol=1e-12)
