"""Every declared function on arrays of other libraries, against its results on NumPy arrays."""

import inspect
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from tests.other_arrays import LIBRARIES, force_computation_elsewhere, library, numbers
from tests.refusals import refuses

import uqassay as uq
from uqassay import losses, measures
from uqassay._array_support import SUPPORT
from uqassay._namespaces import device_of, result_dtype
from uqassay.predictions import DeviceProbs

N = 24
RNG = np.random.default_rng(5)


def members(n_classes, n_members=5, n=N):
    """Members with the odd rows: all agree, all certain, one certain against the others, two that tie."""
    probs = RNG.dirichlet(np.full(n_classes, 0.4), (n, n_members))
    probs[0] = probs[0, :1]
    probs[1 % n] = np.eye(n_classes)[1]
    probs[2 % n, 0] = np.eye(n_classes)[0]
    probs[3 % n] = 1.0 / n_classes
    return probs


def calls(name):
    """Calls of one declared function with every option that is computed on the device: functions of (y, probabilities)."""
    room, _, function = name.partition(".")
    f, support = getattr(getattr(uq, room), function), SUPPORT[name]
    options = [{}]
    for option, values in support.only.items():
        varied = [value for value in values if value is not None]
        options += [{option: value} for value in varied]
    if function == "uncertainty_score":
        options = options[1:]
    if room == "losses":
        return [lambda y, p, o=o: f(y, p, **o) for o in options]
    return [lambda y, p, o=o: f(p, **o) for o in options]


def pairs(expected, found):
    """Arrays and numbers of two results, with their names."""
    if is_dataclass(expected):
        assert type(expected) is type(found)
        return [(f, getattr(expected, f.name), getattr(found, f.name)) for f in fields(expected)]
    return [(None, expected, found)]


def agree(expected, found, given, rtol, atol):
    for field, a, b in pairs(expected, found):
        if isinstance(a, np.ndarray) and not (field and field.metadata):
            assert type(b) is type(given), field
            assert device_of(b) == device_of(given)
            assert b.dtype == result_dtype(given)
            assert b.shape == a.shape
            np.testing.assert_allclose(numbers(b), a, rtol=rtol, atol=atol, err_msg=str(field))
        elif isinstance(a, (float, int)):
            assert b == pytest.approx(a, rel=rtol, abs=atol)


@pytest.mark.parametrize("n_classes", [2, 20])
@pytest.mark.parametrize("name", [name for name, one in SUPPORT.items() if one.native])
def test_array_api_strict_against_numpy(needs, name, n_classes):
    """The device of array-api-strict refuses every copy to NumPy, so these results were computed where the input lies."""
    needs("array_api_strict")
    make = library("strict").make
    several = members(n_classes, 11)
    for probs in (several, several[:, 0], several[:, :1], several[:1]):
        y = RNG.integers(0, n_classes, len(probs))
        for call in calls(name):
            try:
                expected = call(y, probs)
            except uq.InputError as problem:  # a point has no members that could differ
                with refuses(problem.parameter, problem.code):
                    call(make(y), make(probs))
                continue
            given = make(probs)
            agree(expected, call(make(y), given), given, 1e-12, 1e-13)
            if name.startswith("losses."):  # measures take no labels
                agree(expected, call(y.tolist(), given), given, 1e-12, 1e-13)  # labels on the host


@pytest.mark.parametrize(
    ("which", "elsewhere", "classes"),
    [
        *(("torch", False, (2, 5, 20)), ("torch", True, (2, 5, 20)), ("jax", False, (5,))),
        pytest.param("jax", True, (5,), marks=pytest.mark.slow),  # JAX compiles every operation for every shape
    ],
)
def test_torch_and_jax_against_numpy(needs, monkeypatch, which, elsewhere, classes):
    """On the host by the formulas of NumPy, and as if on an accelerator by their own namespace."""
    needs(LIBRARIES[which])
    used = library(which)
    if elsewhere:
        force_computation_elsewhere(monkeypatch)
    # float32: its rounding of 6e-8, in sums of K and M terms and in logarithms
    rtol, atol = (1e-12, 1e-13) if which == "torch" else (2e-4, 5e-6) if elsewhere else (1e-6, 1e-6)
    for n_classes in classes:
        probs, y = members(n_classes), RNG.integers(0, n_classes, N)
        for name, support in SUPPORT.items():
            for call in calls(name) if support.native or not elsewhere else ():
                given = used.make(probs)
                agree(call(y, used.cast(probs)), call(used.make(y), given), given, rtol, atol)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_few_bits_are_computed_in_float64_and_give_float32(needs, monkeypatch, dtype, elsewhere):
    needs("torch")
    import torch

    if elsewhere:
        force_computation_elsewhere(monkeypatch)
    given = torch.softmax(torch.tensor(RNG.normal(0, 2, (N, 4, 6))), dim=2).to(getattr(torch, dtype))
    y, held = RNG.integers(0, 6, N), uq.Members(given)
    for call in (measures.entropy_decomposition, measures.margin_uncertainty, measures.generalised_hartley):
        agree(call(held), call(given), given, 1e-7, 1e-8)
    expected, found = losses.unified_loss(y, held), losses.unified_loss(torch.tensor(y), given)  # the same floor, too
    assert found.total.dtype == torch.float32
    agree(expected, found, given, 1e-7, 1e-8)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_results_of_float32_are_rounded_float64(needs, monkeypatch, elsewhere):
    """The epistemic part of confident members: computed in float32 it would be rounding noise."""
    needs("torch")
    import torch

    if elsewhere:
        force_computation_elsewhere(monkeypatch)
    p = 1e-4 * (1.0 + 1e-3 * RNG.normal(size=(N, 5)))
    probs = np.stack([p, 1.0 - p], axis=2).astype(np.float32)
    expected = measures.entropy_decomposition(probs).epistemic
    assert expected.max() < 1e-9
    np.testing.assert_allclose(
        measures.entropy_decomposition(torch.tensor(probs)).epistemic.numpy(), expected, rtol=1e-6
    )


def test_a_device_without_float64_computes_in_float32(needs):
    needs("array_api_strict")
    import array_api_strict as xp

    probs = members(5).astype(np.float32)
    given = xp.asarray(probs, device=xp.Device("no_float64"))
    found = losses.unified_loss(RNG.integers(0, 5, N), given)
    assert found.total.dtype == xp.float32
    for name in ("information-theoretic", "variance"):
        parts, expected = measures.decompose(given, name), measures.decompose(probs, name)
        np.testing.assert_allclose(numbers(parts.total), expected.total, atol=2e-6)
        np.testing.assert_allclose(numbers(parts.epistemic), expected.epistemic, atol=2e-6)


def test_the_order_of_members_and_classes_changes_no_bit(needs):
    needs("array_api_strict")
    make, probs = library("strict").make, members(6, 7)
    shuffled = probs[:, RNG.permutation(7)][:, :, RNG.permutation(6)]
    for name in ("information-theoretic", "variance", "spherical", "zero-one", "label-wise"):
        one, other = (measures.decompose(make(p), name) for p in (probs, shuffled))
        np.testing.assert_array_equal(numbers(one.epistemic), numbers(other.epistemic), err_msg=name)
        np.testing.assert_array_equal(numbers(one.total), numbers(other.total), err_msg=name)


def test_members_that_agree_have_no_epistemic_part(needs):
    needs("array_api_strict")
    probs = np.repeat(RNG.dirichlet(np.ones(4), (N, 1)), 7, axis=1)
    given = library("strict").make(probs)
    for name in SUPPORT["measures.decompose"].only["decomposition"]:
        assert not numbers(measures.decompose(given, name).epistemic).any(), name
    assert not numbers(measures.generalised_hartley(given).values).any()


def test_chunks_do_not_change_the_results(needs, monkeypatch):
    needs("array_api_strict")
    make, probs, y = library("strict").make, members(5), RNG.integers(0, 5, N)
    whole = losses.unified_loss(y, make(probs)), measures.variation_ratio(make(probs))
    monkeypatch.setattr(f"{DeviceProbs.__module__}.CHUNK_BYTES", 7_000)
    parts = losses.unified_loss(y, make(probs)), measures.variation_ratio(make(probs))
    np.testing.assert_array_equal(numbers(whole[0].total), numbers(parts[0].total))
    np.testing.assert_array_equal(numbers(whole[1]), numbers(parts[1]))


def test_gradients_are_dropped_and_layouts_do_not_matter(needs, monkeypatch):
    needs("torch")
    import torch

    probs = members(4)
    expected = measures.decompose(probs).epistemic
    for elsewhere in (False, True):
        if elsewhere:
            force_computation_elsewhere(monkeypatch)
        given = torch.tensor(np.moveaxis(probs, 0, 2).copy(), requires_grad=True).permute(2, 0, 1)
        assert not given.is_contiguous()
        found = measures.decompose(given).epistemic
        assert not found.requires_grad
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-15)


def test_results_can_be_written_to(needs):
    needs("torch")
    import torch

    scores = measures.least_confidence(torch.tensor(members(3)))
    scores[0] = 0.0
    assert float(scores[0]) == 0.0


def test_jax_with_x64_computes_in_float64(needs):
    needs("jax")
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        probs = members(4)
        found = measures.decompose(jnp.asarray(probs)).epistemic
        assert found.dtype == jnp.float64
        np.testing.assert_allclose(np.asarray(found), measures.decompose(probs).epistemic, rtol=1e-12, atol=1e-15)


def test_an_array_inside_a_compiled_function_is_refused(needs):
    needs("jax")
    import jax
    import jax.numpy as jnp

    with refuses("prediction", "type", got="Tracer"):
        jax.jit(measures.least_confidence)(jnp.asarray(members(3)))


def test_options_without_a_formula_elsewhere_take_a_copy(needs, monkeypatch):
    needs("torch")
    import torch

    force_computation_elsewhere(monkeypatch)
    probs, y = members(4), RNG.integers(0, 4, N)
    given, votes = torch.tensor(probs), RNG.dirichlet(np.ones(4), N)
    for call in (
        lambda p: losses.unified_loss(y, p, distance="brier"),
        lambda p: losses.unified_loss(y, p, convention="paper"),
        lambda p: losses.unified_loss(votes, p),
        lambda p: measures.nonspecificity(p, "smets"),
        lambda p: measures.decompose(p, lambda _: (np.ones(N), np.ones(N), np.zeros(N))),
        lambda p: measures.upper_entropy(p, over="set"),
    ):
        agree(call(probs), call(given), given, 1e-12, 1e-13)


def test_label_distributions(needs):
    needs("array_api_strict")
    make, probs, counts = library("strict").make, members(4), RNG.integers(0, 5, (N, 4)) + np.eye(4, dtype=int)[0]
    for call in (
        losses.is_correct,
        losses.prediction_errors,
        losses.probability_gap,
        losses.log_loss,
        losses.brier_loss,
    ):
        given = make(probs)
        agree(call(counts, probs), call(make(counts), given), given, 1e-12, 1e-13)
        agree(call(counts, probs), call(counts, given), given, 1e-12, 1e-13)


def test_scores_by_object(needs):
    needs("array_api_strict")
    probs = members(4)
    given = library("strict").make(probs)
    found = measures.SCORES["margin"](given)
    np.testing.assert_allclose(numbers(found), measures.SCORES["margin"](probs), rtol=1e-12)
    assert device_of(found) == device_of(given)


def test_numpy_lists_and_predictions_give_numpy_arrays():
    probs = members(3)
    for given in (probs, probs.tolist(), uq.Members(probs), {"probs": probs[:, 0]}):
        assert type(measures.least_confidence(given)) is np.ndarray


def test_every_function_of_predictions_is_declared():
    undeclared = {
        # distances of annotators' votes, by resampled counts or a solver
        *("losses.second_order_gap", "losses.squared_truth_distance", "losses.counts_of_votes"),
        # of logits, which an array of probabilities does not hold; names instead of numbers
        *("measures.free_energy", "measures.gaussian_logits_decomposition"),
        *("measures.decomposition_names", "measures.score_names"),
        # of whole sets, by linear programs
        "measures.not_ruled_out",
    }
    for room in (losses, measures):
        for name in room.__all__:
            f, full = getattr(room, name), f"{room.__name__.rpartition('.')[2]}.{name}"
            if inspect.isfunction(f) and {"prediction", "probs"} & set(inspect.signature(f).parameters):
                assert (full in SUPPORT) != (full in undeclared), full
    assert all(callable(getattr(getattr(uq, n.partition(".")[0]), n.partition(".")[2])) for n in SUPPORT)


def test_declared_scores_and_options_exist():
    assert set(SUPPORT["measures.uncertainty_score"].only["name"]) <= set(measures.SCORES)
    for name, support in SUPPORT.items():
        room, _, function = name.partition(".")
        assert set(support.only) <= set(inspect.signature(getattr(getattr(uq, room), function)).parameters), name
