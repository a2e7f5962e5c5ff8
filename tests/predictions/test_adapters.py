"""Predictions from arrays and from the objects of other libraries.

The stand-ins have the attributes of probly 0.9.1 (read from its wheel); `test_probly` uses the package itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from tests.refusals import refuses

import uqassay as uq


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).dirichlet(np.ones(shape[-1]), shape[:-1])


# -- arrays and mappings ----------------------------------------------------------------------------------------------


def test_a_prediction_is_returned_unchanged_or_with_new_metadata():
    point = uq.Point(rows(2, 3))
    assert uq.from_object(point) is point
    assert uq.from_object(point, class_names=["a", "b", "c"]).class_names == ("a", "b", "c")


@pytest.mark.parametrize(
    "make", [np.asarray, lambda a: a.tolist(), lambda a: np.asfortranarray(a.astype(np.float32)), tuple]
)
def test_two_axes_are_a_point_and_three_are_members(make):
    assert isinstance(uq.from_object(make(rows(4, 3))), uq.Point)
    members = uq.from_object(make(rows(5, 4, 3)), member_axis=0, ids=[9, 8, 7, 6], groups=list("aabb"))
    assert isinstance(members, uq.Members)
    assert (members.n_instances, members.n_members) == (4, 5)
    assert members.ids.tolist() == [9, 8, 7, 6]
    assert members.groups.tolist() == list("aabb")


def test_kind_changes_the_meaning_of_an_array():
    assert isinstance(uq.from_object(np.zeros((2, 3)), kind="logits"), uq.Point)
    assert isinstance(uq.from_object(np.ones((2, 3)), kind="dirichlet"), uq.Dirichlet)
    assert isinstance(uq.from_object(rows(2, 4, 3), kind="vertices"), uq.Vertices)
    assert uq.from_object(np.ones((2, 4)), normalise=True).probs.tolist() == [[0.25] * 4] * 2
    with refuses("kind", "missing", got="'intervals' needs lower and upper, and this is one array"):
        uq.from_object(np.ones((2, 4)), kind="intervals")


def test_mappings_share_the_keys_of_files(tmp_path):
    arrays = {"lower": rows(2, 3) / 2, "upper": np.ones((2, 3)), "class_names": ["a", "b", "c"], "epoch": 3}
    np.savez(tmp_path / "p.npz", **arrays)
    expected = uq.load(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as opened:
        for mapping in (arrays, opened):
            found = uq.from_object(mapping, groups=[1, 2])
            np.testing.assert_array_equal(found.lower, expected.lower)
            assert found.class_names == expected.class_names
            assert found.groups.tolist() == [1, 2]
    with refuses("keys", "choice", got="found loss"):
        uq.from_object({"loss": 0.3})


def test_a_table_gives_class_names_and_ids(needs):
    needs("pandas")
    import pandas as pd

    point = uq.from_object(pd.DataFrame(rows(2, 2), columns=["dog", "cat"], index=[11, 12]))
    assert point.class_names == ("dog", "cat")
    assert point.ids.tolist() == [11, 12]
    with refuses("probs", "shape", got="got shape .2,"):
        uq.from_object(pd.Series([0.1, 0.9]))


def test_tensors_are_copied_to_the_host(needs):
    needs("torch")
    import torch

    members = uq.from_object(torch.tensor(rows(4, 5, 3), requires_grad=True))
    np.testing.assert_array_equal(members.probs, rows(4, 5, 3))
    halves = uq.from_object(torch.tensor([[0.5, 0.5]], dtype=torch.bfloat16))
    assert halves.probs.dtype == np.float32


@pytest.mark.parametrize("unknown", [object(), 3.5, "probs.npz", {1, 2}, None, len])
def test_unknown_objects_are_refused(unknown):
    with refuses("obj", "type", got=rf"alphas.*got {type(unknown).__name__}; pass its arrays"):
        uq.from_object(unknown)


# -- stand-ins with the attributes of probly 0.9.1 --------------------------------------------------------------------


@dataclass(frozen=True)
class Categorical:
    """Like ArrayLogitCategoricalDistribution: it stores logits and offers probabilities."""

    array: np.ndarray  # (..., K)

    @property
    def probabilities(self) -> np.ndarray:
        e = np.exp(self.array)
        return e / e.sum(axis=-1, keepdims=True)

    @property
    def ndim(self) -> int:
        return self.array.ndim - 1

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape[:-1]


@dataclass(frozen=True)
class Sample:
    array: Any
    sample_axis: int
    weights: np.ndarray | None = None


@dataclass(frozen=True)
class TensorSample:
    tensor: Any
    sample_dim: int
    weights: Any = None


class ListSample(list[Any]):
    """Draws in a list, which are no training runs."""

    def __init__(self, draws: Any, weights: list[float] | None = None) -> None:
        super().__init__(draws)
        self.weights = weights

    @property
    def sample_size(self) -> int:
        return len(self)


@dataclass(frozen=True)
class CredalSet:
    """Like ArrayConvexCredalSet, ArrayDiscreteCredalSet and ArraySingletonCredalSet; `shape` is of the instances."""

    array: Any
    shape: tuple[int, ...]


@dataclass(frozen=True)
class DirichletDistribution:
    alphas: np.ndarray

    def mean(self) -> np.ndarray:
        return self.alphas

    def var(self) -> np.ndarray:
        return self.alphas


@dataclass(frozen=True)
class IntervalSet:
    lower_bounds: np.ndarray
    upper_bounds: np.ndarray


@dataclass(frozen=True)
class Gaussian:
    mean: np.ndarray
    var: np.ndarray

    @property
    def ndim(self) -> int:
        return self.mean.ndim


@dataclass(frozen=True)
class DistanceSet:
    nominal: Categorical
    radius: np.ndarray


@dataclass(frozen=True)
class LevelSet:
    alphas: np.ndarray
    threshold: np.ndarray


@dataclass(frozen=True)
class Mixture:
    """Like TorchDirichletMixtureDistribution."""

    components: DirichletDistribution
    mixture_weights: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        return self.components.alphas.mean(axis=1)


@dataclass(frozen=True)
class ConformalSet:
    """Like ArrayOneHotConformalSet (truth values, n × K) and ArrayIntervalConformalSet (limits of a value, n × 2)."""

    array: np.ndarray

    @property
    def set_size(self) -> np.ndarray:
        return self.array.sum(axis=-1)


@dataclass(frozen=True)
class WithDensities:
    """Like TorchDDURepresentation."""

    softmax: Categorical
    densities: np.ndarray


class Embedding:
    """Like TorchEmbedding: it looks like a tensor, and PyTorch refuses to work with it."""

    def detach(self) -> None:
        raise TypeError("all __torch_function__ handlers returned NotImplemented")


class Fitted:
    """Like a model of laplace-torch: `mean` is the mean of the weights."""

    mean = np.zeros(10)

    def predictive_samples(self, x: Any, n_samples: int) -> np.ndarray:
        return np.full((n_samples, len(x), 2), 0.5)


class Network:
    def forward(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_samples_of_arrays_have_their_members_on_any_axis(axis):
    expected = rows(4, 5, 3)  # (n, M, K)
    sample = Sample(np.moveaxis(expected, 1, axis), axis)
    members = uq.from_object(sample, member_axis=0)  # the axis of the object wins
    assert isinstance(members, uq.Members)
    np.testing.assert_array_equal(members.probs, expected)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_samples_of_distributions_go_through_their_probabilities(axis):
    expected = rows(4, 5, 3)
    held = Categorical(np.log(np.moveaxis(expected, 1, axis % 2)))
    members = uq.from_object(Sample(held, axis, weights=np.array([1.0, 1, 1, 1, 4])), class_names=["a", "b", "c"])
    np.testing.assert_allclose(members.probs, expected, rtol=1e-12)
    np.testing.assert_allclose(members.weights, [0.125, 0.125, 0.125, 0.125, 0.5])
    assert members.class_names == ("a", "b", "c")


def test_a_list_that_is_a_sample_holds_members_in_an_assay_too():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), (4, 6))
    weights = [0.1, 0.2, 0.3, 0.4]
    for draws in (list(probs), [Categorical(np.log(draw)) for draw in probs]):
        members = uq.from_object(ListSample(draws, weights))
        np.testing.assert_allclose(members.probs, probs.swapaxes(0, 1), rtol=1e-12)
        np.testing.assert_allclose(members.weights, weights)
    (model,) = uq.assay({"m": ListSample(list(probs))}, np.arange(6) % 3, calibration=()).candidates
    assert (model.n_runs, model.n_points) == (1, 4)
    for draws in ([], [probs[0], probs[1][:5]]):
        with refuses("obj", "shape", got=f"ListSample of {len(draws)}"):
            uq.from_object(ListSample(draws))


def test_tensor_samples_and_samples_of_gaussians(needs):
    needs("torch")
    import torch

    probs = torch.tensor(rows(5, 4, 3))
    np.testing.assert_array_equal(uq.from_object(TensorSample(probs, 0)).probs, np.moveaxis(probs.numpy(), 0, 1))
    gaussians = Gaussian(torch.zeros(4, 3, 5), torch.ones(4, 3, 5))
    logits = uq.from_object(TensorSample(gaussians, 2), variance_is="aleatoric")
    assert isinstance(logits, uq.GaussianLogits)
    assert logits.mean.shape == (4, 5, 3)


def test_second_order_distributions_and_intervals():
    dirichlet = uq.from_object(DirichletDistribution(rows(4, 3) * 9))
    assert isinstance(dirichlet, uq.Dirichlet)
    np.testing.assert_array_equal(dirichlet.alpha, rows(4, 3) * 9)
    intervals = uq.from_object(IntervalSet(rows(4, 3) / 2, np.ones((4, 3))))
    assert isinstance(intervals, uq.Intervals)
    gaussian = uq.from_object(Gaussian(rows(4, 3), rows(4, 3)), variance_is="epistemic")
    assert isinstance(gaussian, uq.GaussianLogits)
    assert gaussian.mean.shape == (4, 1, 3)


@pytest.mark.parametrize("wrap", [np.asarray, lambda p: Categorical(np.log(p))])
def test_credal_sets_of_several_distributions_are_vertices_and_singletons_points(wrap):
    convex = uq.from_object(CredalSet(wrap(rows(4, 5, 3)), (4,)))
    assert isinstance(convex, uq.Vertices)
    np.testing.assert_allclose(convex.vertices, rows(4, 5, 3), rtol=1e-12)
    singleton = uq.from_object(CredalSet(wrap(rows(4, 3)), (4,)))
    assert isinstance(singleton, uq.Point)
    assert isinstance(uq.from_object(Categorical(np.log(rows(4, 3)))), uq.Point)


def test_one_set_without_an_axis_of_instances_is_not_taken_for_many_points():
    with refuses("vertices", "shape", got=r"got shape \(5, 3\)"):
        uq.from_object(CredalSet(Categorical(np.log(rows(5, 3))), ()))


@pytest.mark.parametrize(
    ("obj", "code", "got"),
    [
        (DistanceSet(Categorical(rows(4, 3)), np.ones(4)), "undefined", "DistanceSet .* limited by its radius"),
        (LevelSet(rows(4, 3), np.ones(4)), "undefined", r"LevelSet .* limited by its threshold; .*obj\.lower"),
        (Sample(rows(5, 3), 0), "shape", r"probs of shape \(5, 3\)"),
        (Sample(np.zeros((4, 5), int), 1), "shape", "rather than sampled labels"),
        (Mixture(DirichletDistribution(rows(4, 2, 3)), rows(4, 2)), "undefined", r"Mixture; .*obj\.sample"),
        (Sample(DirichletDistribution(rows(4, 5, 3)), 1, weights=np.ones(5)), "undefined", r"Sample; .*obj\.sample"),
        (ConformalSet(np.array([[0.2, 0.8], [0.1, 0.9]])), "class-sets", "got ConformalSet"),  # rows that sum to 1
        (WithDensities(Categorical(rows(4, 3)), rows(4, 3)), "type", r"WithDensities .*obj\.softmax.*uncertainties"),
        (Embedding(), "type", "got Embedding"),
        ([Categorical(np.log(rows(4, 3)))] * 5, "member-axis", r"got 5 of type Categorical; .*member_axis=0"),
        (Fitted(), "type", r"got Fitted; .*from_laplace\(model, x\)"),
        (Network(), "type", "got Network; .*predictions of the model"),
    ],
)
def test_objects_without_an_exact_kind_are_refused(obj, code, got):
    with refuses("obj", code, got=got):
        uq.from_object(obj)


# -- lists, sparse arrays ------------------------------------------------------------------------------------------------


class Classifier:
    def predict_proba(self, x):
        return x


@pytest.mark.parametrize("models", [[Classifier(), Classifier()], (Classifier(),), [rows(3, 2), Classifier()]])
def test_lists_of_models_are_refused_with_the_form_of_their_predictions(models):
    for axis in (None, 0):
        with refuses("obj", "type", got=f"got a list of {len(models)} with Classifier; .*member_axis=0"):
            uq.from_object(models, member_axis=axis)


def test_a_sparse_array_is_named_as_such():
    for sparse in (scipy.sparse.csr_array(rows(3, 2)), scipy.sparse.coo_matrix(rows(3, 2))):
        with refuses("obj", "sparse", got=r"of shape \(3, 2\)"):
            uq.from_object(sparse)
        with refuses("models['m']", "sparse"):
            uq.assay({"m": sparse}, [0, 1, 1])


def test_several_dirichlets_per_instance_are_refused_with_what_can_be_given():
    class Mixture:
        alphas = 1.0 + rows(4, 2, 3)

    with refuses("obj", "undefined", got=r"Mixture with alphas of shape \(4, 2, 3\)") as refusal:
        uq.from_object(Mixture())
    assert "Members(alphas / alphas.sum(axis=-1, keepdims=True))" in refusal.value.remedy
    means = uq.Members(Mixture.alphas / Mixture.alphas.sum(axis=-1, keepdims=True))
    assert means.n_members == 2


def test_members_on_the_last_axis_beside_pred_are_not_taken_for_classes():
    """lightning-uq-box 0.4 returns `pred` (n, K), `pred_uct` (n,) and `logits` (n, K, M) for ensembles and dropout."""
    logits = np.random.default_rng(0).normal(size=(4, 3, 5))
    outputs = {"pred": rows(4, 3), "pred_uct": np.ones(4), "logits": logits}
    with refuses("logits", "member-axis", got=r"got shape \(4, 3, 5\); .*swapaxes"):
        uq.from_object(outputs)
    assert uq.from_object(outputs, member_axis=1).n_members == 3
    assert isinstance(uq.from_object(outputs | {"logits": logits[..., 0]}), uq.Point)  # of a single network
