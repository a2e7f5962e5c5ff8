"""The seven kinds: what they hold, what they answer, what they refuse."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kinds import KINDS, lower_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError

seeds = st.integers(0, 2**32 - 1)


# -- what every kind answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
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
    assert prediction.labels().shape == (3,)


@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.parametrize("kind", ["Members", "Dirichlet", "GaussianLogits"])
def test_draws_are_distributions_keyed_by_row_and_seed(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 7, 4)
    draws = prediction.sample(9, rng=3)
    assert draws.shape == (7, 9, 4)
    np.testing.assert_allclose(draws.sum(axis=2), 1, atol=1e-9)
    np.testing.assert_array_equal(prediction[[5, 2]].sample(9, rng=3), draws[[5, 2]])
    np.testing.assert_array_equal(
        prediction.sample(9, rng=np.random.default_rng(1)), prediction.sample(9, rng=np.random.default_rng(1))
    )
    assert (prediction.sample(9, rng=4) != draws).any()


@pytest.mark.parametrize("kind", ["Point", "Intervals", "Masses", "Vertices"])
def test_sets_without_a_distribution_refuse_to_be_drawn_from(kind, random_generator):
    with refuses("sample", "undefined"):
        random_prediction(kind, random_generator).sample(3)


def test_results_cannot_be_written_through(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 4)
    point = uq.Point(probs)
    with pytest.raises(ValueError, match="read-only"):
        point.probs[0, 0] = 0.5
    with pytest.raises(AttributeError, match="cannot assign to field 'probs'"):
        point.probs = probs  # type: ignore[misc]
    probs[0] = probs[0]  # the caller's own array stays writable


# -- kind by kind -----------------------------------------------------------------------------------------------------


def test_dirichlet_draws_against_theory():
    alpha = np.array([[4.0, 2.0, 1.0], [0.05, 0.03, 0.02], [1e-4, 1e-4, 1e-4]])
    draws = uq.Dirichlet(alpha).sample(40_000, rng=1)
    assert np.isfinite(draws).all()
    mean = alpha / alpha.sum(axis=1, keepdims=True)
    variance = mean * (1 - mean) / (alpha.sum(axis=1, keepdims=True) + 1)
    np.testing.assert_array_less(np.abs(draws.mean(axis=1) - mean), 5 * np.sqrt(variance / 40_000) + 1e-12)
    np.testing.assert_allclose(draws.var(axis=1), variance, rtol=0.05)


def test_unit_concentration_keeps_the_mean_and_spreads_the_draws():
    raw = uq.Dirichlet([[50.0, 30.0, 20.0]])
    unit = uq.Dirichlet([[50.0, 30.0, 20.0]], unit_concentration=True)
    np.testing.assert_allclose(raw.mean_probs(), unit.mean_probs())
    assert uq.measures.generalised_hartley(unit).values > 2 * uq.measures.generalised_hartley(raw).values


def test_held_draws_are_the_same_draws():
    d = uq.Dirichlet(np.ones((4, 3)) * 2)
    np.testing.assert_array_equal(d.with_draws().lower_probs(), d.lower_probs())
    np.testing.assert_array_equal(d.with_draws()[2:].lower_probs(), d[2:].lower_probs())


def test_gaussian_logits_without_variance_are_softmaxes():
    logits = np.array([[1.0, 2.0, 3.0]])
    g = uq.GaussianLogits(logits, np.zeros_like(logits))
    np.testing.assert_allclose(g.mean_probs(), uq.Point.from_logits(logits).probs, atol=1e-12)
    np.testing.assert_allclose(g.lower_probs(), g.upper_probs(), atol=1e-12)


def test_gaussian_passes_are_dealt_out_evenly():
    mean = np.array([[[10.0, -10.0], [-10.0, 10.0]]])
    g = uq.GaussianLogits(mean, np.zeros_like(mean), n_draws=10)
    np.testing.assert_allclose(g.mean_probs(), [[0.5, 0.5]], atol=1e-6)


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


def test_beliefs_round_trip_and_repair(cifar10):
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"], class_names=cifar10["classes"])
    assert rs.signed
    assert rs.masses.sum(axis=1).min() == pytest.approx(-0.0699, abs=1e-4)
    assert rs.masses.sum(axis=1).max() == pytest.approx(2.4017, abs=1e-4)
    with refuses("beliefs", "undefined"):
        rs.upper_probs()
    repaired = rs.repaired()
    assert not repaired.signed
    assert repaired.class_names == tuple(cifar10["classes"])
    assert "rows of masses were repaired" in repaired.notes[-1]
    np.testing.assert_allclose(repaired.masses.sum(axis=1), 1)
    # what is a belief function already stays what it is
    same = uq.Masses([[0.5, 0.5]], [[0], [0, 1]], n_classes=2)
    assert same.repaired() is same


def test_pignistic_and_intersection_probability_against_their_formulas(random_generator):
    masses = random_prediction("Masses", random_generator, 4, 4)
    sizes = masses.focal_sets.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(masses.mean_probs(), masses.masses @ (masses.focal_sets / sizes))
    intervals = uq.Intervals([[0.1, 0.2, 0.3]], [[0.3, 0.4, 0.5]])
    np.testing.assert_allclose(
        intervals.mean_probs(), [[0.1 + 0.4 * 0.2 / 0.6, 0.2 + 0.4 * 0.2 / 0.6, 0.3 + 0.4 * 0.2 / 0.6]]
    )


def test_interval_labels_follow_the_upper_bounds():
    intervals = uq.Intervals([[0.35, 0.0, 0.1]], [[0.4, 0.5, 0.5]])
    assert intervals.mean_probs().argmax() == 0
    assert intervals.labels().tolist() == [1]


# -- what comes from elsewhere ----------------------------------------------------------------------------------------


def test_a_data_frame_names_classes_and_instances():
    frame = pd.DataFrame({"cat": [0.9, 0.2], "dog": [0.1, 0.8]}, index=["x", "y"])
    point = uq.Point(frame)
    assert point.class_names == ("cat", "dog")
    assert point.ids.tolist() == ["x", "y"]


def test_tensors_come_to_the_host(needs):
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


# -- what is refused --------------------------------------------------------------------------------------------------

BAD = [
    (
        lambda: uq.Point([[0.5, 0.6]]),
        "probs: each row must sum to 1 within 1e-06; row 0 sums to 1.1; pass normalise=True",
    ),
    (lambda: uq.Point([[0.5, 0.5], [1.2, -0.2]]), r"between 0 and 1; row 1 holds 1.2 at \[1, 0\]"),
    (lambda: uq.Point([[2.0, -1.0]]), "use Point.from_logits if these are logits"),
    (lambda: uq.Point([[0.5, np.nan]]), "must be finite; row 0 holds nan"),
    (lambda: uq.Point([[0.5, np.inf]]), "must be finite; row 0 holds inf"),
    (lambda: uq.Point([0.5, 0.5]), "probabilities of one class go through Members.from_binary"),
    (lambda: uq.Point([[0.5], [0.5]]), "needs at least two classes in the last axis; got 1; a single column"),
    (lambda: uq.Point(np.zeros((0, 3))), "must hold at least one instance"),
    (lambda: uq.Point([["a", "b"]]), "must hold real numbers"),
    (lambda: uq.Point(np.array([[0.5, 0.5]], dtype=object)), "must hold real numbers; got dtype object"),
    (lambda: uq.Point([[0.5, 0.5], [1.0]]), "rectangular"),
    (lambda: uq.Point([[0.5, 0.5]], class_names=["a"]), "class_names: needs one name for each of the 2 classes; got 1"),
    (lambda: uq.Point([[0.5, 0.5]], ids=[1, 2]), r"ids: needs one value for each of the 1 instances; got shape \(2,\)"),
    (lambda: uq.Point([[0.5, 0.5]] * 2, ids=[1, 1]), "ids: must be unique"),
    (lambda: uq.Point([[0.0, 0.0]], normalise=True), "normalise=True needs finite, non-negative rows"),
    (lambda: uq.Point.from_logits([[0.0, np.nan]]), "logits: values must be finite"),
    (lambda: uq.Members(np.ones((2, 3))), r"probs: must have 3 dimensions; got shape \(2, 3\)"),
    (lambda: uq.Members(np.full((2, 3, 2), 0.5), [1, 2]), "weights: must be one per member"),
    (lambda: uq.Members(np.full((2, 2, 2), 0.5), [1, -1]), "weights: must be finite, non-negative"),
    (lambda: uq.Members(np.full((2, 2, 2), 0.5), member_axis=2), "the last axis holds the classes"),
    (lambda: uq.Members(np.full((2, 2, 2), 0.5), member_axis=3), "member_axis: must be 0, 1 or 2; got 3"),
    (lambda: uq.Members(np.zeros((2, 0, 2))), "needs at least one member"),
    (lambda: uq.Members.from_binary([[0.1, 0.2]]), "member_axis: is needed"),
    (lambda: uq.Members.from_binary([1.5]), "probs: values must be between 0 and 1; row 0 holds 1.5"),
    (lambda: uq.Dirichlet([[0.0, 1.0]]), "concentrations must be positive .*; row 0 holds 0"),
    (lambda: uq.Dirichlet([[-1.0, 1.0]]), "values must be at least 0; row 0 holds -1"),
    (lambda: uq.Dirichlet([[1.0, 1.0]], n_draws=0), "n_draws: needs at least one draw, a whole number; got 0"),
    (lambda: uq.Intervals([[0.6, 0.6]], [[0.7, 0.7]]), "must sum to at most 1.*row 0 sums to 1.2"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.3, 0.3]]), "must sum to at least 1.*row 0 sums to 0.6"),
    (lambda: uq.Intervals([[0.6, 0.3]], [[0.5, 0.7]]), "row 0 has lower 0.6 > upper 0.5 for class 0"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.9, 0.9, 0.9]]), "upper: must have the shape of lower"),
    (lambda: uq.Masses([[0.5, 0.4]], [[0], [1]], n_classes=2), "masses: each row must sum to 1.*row 0 sums to 0.9"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], []], n_classes=2), "focal_sets: .*set 1 is empty"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [0]], n_classes=2), "focal_sets"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [2]], n_classes=2), "focal_sets"),
    (
        lambda: uq.Masses([[0.5, 0.5]], [[0], [1], [0, 1]], n_classes=2),
        "needs one column for each of the 3 focal sets; got 2",
    ),
    (
        lambda: uq.Masses.from_beliefs([[0.5, 1.5]], [[0], [0, 1]], n_classes=2),
        "beliefs: values must be between 0 and 1",
    ),
    (lambda: uq.Vertices(np.ones((1, 2, 2))), "vertices: each row must sum to 1"),
    (lambda: uq.GaussianLogits([[0.0, 1.0]], [[0.0, -1.0]]), "variance: values must be at least 0; row 0 holds -1"),
    (lambda: uq.GaussianLogits([[0.0, 1.0]], [[0.0]]), "variance: must have the shape of mean"),
    (lambda: uq.Point([[0.5, 0.5]])[3], "rows: must lie in 0 … 0"),
    (lambda: uq.Point([[0.5, 0.5]])[np.array([True, False])], "a boolean selection needs one value for each"),
    (lambda: uq.Point([[0.5, 0.5]])[[]], "must select at least one instance"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.9, 0.9]]).hull_points(), "has no hull; use over="),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input_is_named_in_one_sentence(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


# -- what an outsider tried -------------------------------------------------------------------------------------------


def test_passes_are_weighed_alike_whatever_the_number_of_draws():
    passes = np.tile([[[10.0, -10.0]] * 100 + [[-10.0, 10.0]] * 100], (1, 1, 1))
    with refuses("n_draws", "empty", got="got 100"):
        uq.GaussianLogits(passes, np.zeros_like(passes))
    np.testing.assert_allclose(uq.GaussianLogits(passes, 0 * passes, n_draws=200).mean_probs(), [[0.5, 0.5]], atol=1e-6)
    three = np.array([[[9.0, 0, 0], [0, 9.0, 0], [0, 0, 9.0]]])
    mean = uq.GaussianLogits(three, np.zeros_like(three), n_draws=4).mean_probs()
    np.testing.assert_allclose(mean, [[1 / 3] * 3], atol=1e-12)


def test_padding_a_vertex_list_changes_nothing():
    plain = uq.Vertices([[[0.6, 0.4], [0.3, 0.7]]])
    padded = uq.Vertices([[[0.6, 0.4], [0.3, 0.7], [0.6, 0.4], [0.6, 0.4]]])
    np.testing.assert_allclose(padded.mean_probs(), plain.mean_probs())
    assert padded.labels().tolist() == plain.labels().tolist() == [1]


@pytest.mark.parametrize("kind", [uq.Point, lambda p: uq.Members(p[:, None]), lambda p: uq.Vertices(p[:, None])])
def test_a_hair_below_zero_counts_as_zero(kind):
    prediction = kind(np.array([[1 + 5e-8, -5e-8, 0.0], [0.2, 0.3, 0.5]]))
    for name in ("total-entropy", "upper-entropy", "credal-uncertainty", "least-confidence"):
        assert np.isfinite(uq.measures.uncertainty_score(prediction, name)).all()
    for y in ([1, 1], [[0.5, 0.5, 0], [1, 0, 0]]):
        for distance in ("kl", "js", "tv", "hellinger", "brier"):
            assert np.isfinite(uq.losses.unified_loss(y, prediction, distance=distance).total).all()
    assert np.isfinite(uq.assay({"m": prediction}, [1, 1], n_draws=10).findings.query("metric == 'kl'").estimate).all()


def test_rows_of_bfloat16_are_held_to_its_own_precision(needs):
    needs("torch")
    import torch

    p = torch.tensor([[0.2, 0.8]]).to(torch.bfloat16)  # sums to 1.00098
    assert uq.Point(p).n_classes == 2


def test_predictions_iterate_but_are_no_arrays():
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


@pytest.mark.parametrize(
    "function",
    [
        lambda p: uq.losses.unified_loss([0], p),
        lambda p: uq.losses.log_loss([0], p),
        lambda p: uq.losses.brier_loss([0], p),
        lambda p: uq.losses.is_correct([0], p),
        lambda p: uq.measures.generalised_hartley(p),
        lambda p: uq.measures.nonspecificity(p),
        lambda p: uq.measures.upper_entropy(p),
        lambda p: uq.measures.lower_entropy(p),
        lambda p: uq.measures.entropy_decomposition(p),
        lambda p: uq.measures.variance_decomposition(p),
        lambda p: uq.measures.uncertainty_score(p, "margin"),
        lambda p: uq.measures.least_confidence(p),
        lambda p: uq.measures.margin_uncertainty(p),
        lambda p: uq.measures.credal_width(p),
        lambda p: uq.measures.credal_uncertainty(p),
    ],
)
def test_raw_arrays_are_refused_with_the_remedy(function):
    with refuses("prediction", "type", got="got ndarray"):
        function(np.array([[0.5, 0.5]]))
