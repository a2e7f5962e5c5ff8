"""Predictions from arrays and from the objects of other libraries.

The stand-ins have the attributes of probly 0.9.1 (read from its wheel); `test_probly` uses the package itself.
"""

import importlib
import json
import warnings
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pandas
import pandas as pd
import pytest
import scipy.sparse
from tests.refusals import refuses
from torch import distributions as td

import uqassay as uq
from uqassay.errors import InputError
from uqassay.predictions.adapters import from_classifier, from_laplace, is_classifier, member_probs


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


# -- one object for each instance, and outputs of a Trainer --------------------------------------------------------------

P, Y, NAMES = rows(40, 3), np.arange(40) % 3, np.array(["cat", "dog", "owl"])
ACCURACY = float((P.argmax(axis=1) == Y).mean())


def accuracy(prediction: Any, y: Any = Y) -> float:
    found = uq.assay({"m": prediction}, y, calibration=()).findings()
    return float(found.query("model == 'm' and metric == 'accuracy'")["estimate"].item())


def zip_maps(names=NAMES) -> list[dict[Any, Any]]:
    return [dict(zip(names.tolist(), row.tolist(), strict=True)) for row in P]


def scores() -> list[list[dict[str, Any]]]:
    """As `pipeline(texts, top_k=None)` returns them: every row in the order of its own scores."""
    each = [[{"label": k, "score": p} for k, p in row.items()] for row in zip_maps()]
    return [sorted(row, key=lambda one: -one["score"]) for row in each]


@pytest.mark.parametrize(
    "records",
    [
        zip_maps(),
        zip_maps()[::-1][::-1],
        tuple(zip_maps()),
        scores(),
        [{"output": row, "id": i} for i, row in enumerate(scores())],
        [{"probs": row} for row in zip_maps()],
        [{"logits": {k: np.log(p) for k, p in row.items()}} for row in zip_maps()],
    ],
)
def test_one_object_for_each_instance_is_one_prediction(records):
    found = uq.from_object(records)
    assert isinstance(found, uq.Point)
    assert (found.class_order, sorted(found.class_names)) == ("keys", NAMES.tolist())
    order = [found.class_names.index(name) for name in NAMES]
    np.testing.assert_allclose(found.probs[:, order], P, rtol=1e-12)
    assert accuracy(records, NAMES[Y]) == ACCURACY
    with refuses("y_true", "class-order", got="class_names="):
        accuracy(records)
    stated = uq.from_object(records, class_names=NAMES)
    np.testing.assert_allclose(stated.probs, P, rtol=1e-12)
    assert accuracy(stated) == ACCURACY
    for other in (["ant", "bee", "fly"], ["cat", "dog"]):
        with refuses("obj.class_names", "ids"):
            uq.from_object(records, class_names=other)


def test_objects_and_files_are_read_alike(tmp_path):
    for records in (zip_maps(), scores()):
        path = tmp_path / "p.json"
        path.write_text(json.dumps(records))
        there, here = uq.load(path), uq.from_object(records)
        np.testing.assert_array_equal(here.probs, there.probs)
        assert (here.class_names, here.class_order) == (there.class_names, there.class_order)


def test_whole_numbers_as_keys_are_the_labels():
    for names in (np.arange(3), np.array([0, 1, 2], dtype=np.int8)):
        records = [{names[k]: np.float32(p) for k, p in enumerate(row)} for row in P]
        assert accuracy(uq.from_object(records, normalise=True)) == ACCURACY
    for number, row in ((0, {"cat": 0.5, "dog": 0.5}), (7, {"cat": 0.5, "dog": "x", "owl": 0.5}), (3, [0.5, 0.5])):
        broken = [*zip_maps()[:number], row, *zip_maps()[number + 1 :]]
        if number:
            with refuses("probs", "type", got=f"row {number}"):
                uq.from_object(broken)
        else:  # a class that a row lacks has the probability 0 there
            assert uq.from_object(broken).notes[0].code == "padded-options"


def test_a_list_of_logits_by_class_names_what_to_write():
    logits = [{k: float(np.log(p)) + 3 for k, p in row.items()} for row in zip_maps()]
    with refuses("obj", "not-probabilities", got=r"row 0 has 'cat'.*\[\{'logits': row\} for row in rows\]"):
        uq.from_object(logits)
    assert accuracy([{"logits": row} for row in logits], NAMES[Y]) == ACCURACY
    with refuses("scores", "shape", got="row 0.*top_k=None"):  # the best class alone, the default of older pipelines
        uq.from_object([{"label": "cat", "score": 0.9}, {"label": "owl", "score": 0.6}])


class PredictionOutput(NamedTuple):
    """As in transformers/trainer_utils.py."""

    predictions: Any
    label_ids: Any
    metrics: Any = None


class EvalPrediction:
    """As in transformers/trainer_utils.py: it can be unpacked."""

    def __init__(self, predictions: Any, label_ids: Any) -> None:
        self.predictions, self.label_ids = predictions, label_ids

    def __iter__(self) -> Any:
        return iter((self.predictions, self.label_ids))

    def __getitem__(self, i: int) -> Any:
        return (self.predictions, self.label_ids)[i]


@pytest.mark.parametrize("make", [PredictionOutput, EvalPrediction])
def test_outputs_of_a_trainer_need_their_kind_and_are_no_training_runs(make):
    output = make(np.log(P), Y)
    for call in (uq.from_object, accuracy):
        with refuses("obj" if call is uq.from_object else "models['m']", "missing", got='kind="logits"'):
            call(output)
    found = uq.from_object(output, kind="logits")
    np.testing.assert_allclose(found.probs, P, rtol=1e-12)
    assert accuracy(found) == ACCURACY
    np.testing.assert_array_equal(uq.from_object(make(P, Y), kind="point").probs, P)
    several = make((np.log(P), np.zeros((40, 8))), Y)
    with refuses("obj", "ambiguous", got=r"shapes \(40, 3\), \(40, 8\); .*predictions\[0\]"):
        uq.from_object(several, kind="logits")
    np.testing.assert_allclose(uq.from_object(several.predictions[0], kind="logits").probs, P, rtol=1e-12)


# -- shapes: batches, images, one column ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(25, 15), (16, 16, 8)])
def test_batches_are_joined_only_when_asked(sizes):
    batches = np.split(P, np.cumsum(sizes)[:-1])
    with refuses("models['m']", "mismatch", got=r"16, 16 and 8|25 and 15.*np\.concatenate"):
        accuracy(batches)
    for axis in (None, 0, 1):
        with refuses("obj", "ragged", got=r"np\.concatenate\(list\)"):
            uq.from_object(batches, member_axis=axis)
    assert accuracy(np.concatenate(batches)) == ACCURACY


def test_batches_of_one_size_are_refused_with_all_readings():
    batches = np.split(P, 2)
    with refuses("y_true", "mismatch", got=r"as many as the 2 arrays of a list.*np\.concatenate"):
        accuracy(batches)
    with refuses("obj", "member-axis", got="members, training runs, instances or batches") as refusal:
        uq.from_object(batches)
    for remedy in ("member_axis=0", "member_axis=1", "np.concatenate(list)"):
        assert remedy in refusal.value.remedy
    assert uq.from_object(batches, member_axis=0).n_instances == 20
    assert uq.from_object(batches, member_axis=1).n_instances == 2
    assert accuracy(np.concatenate(batches)) == ACCURACY


@pytest.mark.parametrize("kind", [None, "logits"])
def test_images_are_one_row_for_each_pixel(kind, needs):
    needs("torch")
    import torch

    probs = np.moveaxis(rows(4, 5, 6, 3), -1, 1)  # (n, K, H, W)
    values = np.log(probs) if kind else probs
    labels = np.random.default_rng(0).integers(0, 3, (4, 5, 6))
    name = "logits" if kind else "probs"
    with refuses(name, "shape", got=rf"{name}\.transpose\(0, 2, 3, 1\)\.reshape\(-1, 3\), and labels\.reshape\(-1\)"):
        uq.from_object(values, kind=kind)
    with refuses("probs", "shape", got=r"probs\.permute\(0, 2, 3, 1\)\.reshape\(-1, 3\)"):
        uq.from_object(torch.tensor(values))
    flat = uq.from_object(values.transpose(0, 2, 3, 1).reshape(-1, 3), kind=kind)
    np.testing.assert_array_equal(
        uq.from_object(torch.tensor(values).permute(0, 2, 3, 1).reshape(-1, 3), kind=kind).probs, flat.probs
    )
    with refuses("y_true", "shape", got=r"y_true\.reshape\(-1\)"):
        accuracy(flat, labels)
    assert accuracy(flat, labels.reshape(-1)) == (probs.argmax(axis=1) == labels).mean()
    for made in (uq.Point, uq.Point.from_logits):
        with refuses("probs" if made is uq.Point else "logits", "shape", got=r"transpose\(0, 2, 3, 1\)"):
            made(values)


@pytest.mark.parametrize("axes", [1, 2])
def test_one_column_is_the_probability_or_logit_of_one_class(axes):
    p = rows(40, 2)[:, 1]
    y = np.arange(40) % 2
    right = ((p > 0.5) == (y == 1)).mean()
    shaped = (lambda v: v) if axes == 1 else (lambda v: v[:, None])
    code = "shape" if axes == 1 else "one-column"
    logits = np.log(p / (1 - p))
    with refuses("models['m']", code, got=r"from_object\(probs, positive=1\)"):
        accuracy(shaped(p), y)
    assert accuracy(uq.from_object(shaped(p), positive=1), y) == right
    with refuses("models['m']", code, got=r'from_object\(logits, kind="logits", positive=1\)'):
        accuracy(shaped(logits), y)
    found = uq.from_object(shaped(logits), kind="logits", positive=1)
    np.testing.assert_allclose(found.probs[:, 1], p, rtol=1e-12)
    assert accuracy(found, y) == right
    for call in (uq.Point.from_binary, uq.Point.from_logits, lambda v: uq.from_object(v, kind="logits")):
        with pytest.raises(uq.InputError, match=r'from_object\(logits, kind="logits", positive=1\)'):
            call(shaped(logits))
    with refuses("probs", code, got="not the predicted labels"):
        uq.from_object(shaped(y))


def test_the_positive_class_is_one_of_two_names():
    p = rows(40, 2)[:, 1]
    named = np.array(["ham", "spam"])
    y = named[np.arange(40) % 2]
    right = (named[(p > 0.5).astype(int)] == y).mean()
    for names in (["ham", "spam"], ["spam", "ham"]):
        found = uq.from_object(p, positive="spam", class_names=names)
        assert accuracy(found, y) == right
        np.testing.assert_array_equal(found.probs[:, names.index("spam")], p)
    np.testing.assert_array_equal(uq.from_object(p, positive=0).probs[:, 0], p)
    for positive, names in (("spam", None), ("eggs", ["ham", "spam"]), (2, None), ("b", ["a", "b", "c"])):
        with refuses("positive", "choice"):
            uq.from_object(p, positive=positive, class_names=names)
    for obj, kind in ((P, None), (uq.Point(P), None), ({"probs": p}, None), (p, "dirichlet")):
        with refuses("positive", "conflict"):
            uq.from_object(obj, kind=kind, positive=1)


def test_mappings_of_whole_predictions_are_no_records():
    for whole in ([{"probs": P}] * 2, [{"probs": P.tolist()}] * 2, [{"probs": pandas.DataFrame(P)}] * 2, [{}]):
        with refuses("obj", "type", got="must be one prediction"):
            uq.from_object(whole)


def test_an_index_of_one_column_is_kept(needs):
    needs("pandas")
    import pandas as pd

    series = pd.Series([0.25, 0.5], index=["x", "y"])
    found = uq.from_object(series, positive=0)
    assert (found.ids.tolist(), found.probs[:, 0].tolist()) == (["x", "y"], [0.25, 0.5])


def test_members_on_the_first_axis_are_named_where_their_numbers_differ():
    five, seven = rows(5, 40, 3), rows(7, 40, 3)
    for models in ({"a": five, "b": seven}, {"p": P, "ens": five}, {"ens": five, "p": P}, {"m": [five, seven]}):
        with pytest.raises(uq.InputError, match=r"Members\(probs, member_axis=0\)") as refusal:
            uq.assay(models, Y, calibration=())
        assert refusal.value.code == "member-axis"
    right = uq.assay({"a": uq.Members(five, member_axis=0), "b": uq.Members(seven, member_axis=0)}, Y, calibration=())
    assert right.n_instances == 40


def test_independent_sigmoids_are_judged_one_label_at_a_time():
    p = np.random.default_rng(0).random((40, 3))
    truth = np.random.default_rng(1).integers(0, 2, (40, 3))
    for call in (accuracy, uq.from_object, uq.Point, lambda v: uq.Point(v, normalise=True)):
        with pytest.raises(uq.InputError, match=r"one label at a time, by Point\.from_binary\(values\[:, k\]\)"):
            call(p)
    for k in range(3):
        assert accuracy(uq.Point.from_binary(p[:, k]), truth[:, k]) == ((p[:, k] > 0.5) == truth[:, k]).mean()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".npz", ".parquet", ""])
def test_negative_rounding_is_treated_alike_with_and_without_normalise(suffix, tmp_path):
    probs = P.copy()
    probs[3] = [-2e-16, 0.5, 0.5 + 2e-16]
    if suffix:
        point = uq.Point(probs, class_names=NAMES)
        uq.save(point, tmp_path / f"p{suffix}")
    read = [
        uq.load(tmp_path / f"p{suffix}", normalise=normalise) if suffix else uq.from_object(probs, normalise=normalise)
        for normalise in (False, True)
    ]
    np.testing.assert_allclose(read[0].mean_probs(), read[1].mean_probs(), atol=1e-15)
    assert read[1].mean_probs().min() == 0
    per_cent = np.where(probs < 0, -2e-14, 100 * probs)
    np.testing.assert_allclose(uq.Point(per_cent, normalise=True).mean_probs(), read[0].mean_probs(), atol=1e-15)
    for normalise in (False, True):  # no rounding
        with refuses("probs", "not-probabilities"):
            uq.Point([[-1e-3, 0.5, 0.501]], normalise=normalise)


# Fitted classifiers of scikit-learn in place of predictions: order of classes, members of ensembles, refusals.

ensemble = pytest.importorskip("sklearn.ensemble")
linear_model = pytest.importorskip("sklearn.linear_model")
N, NAMES_ADAPTERS_OF_CLASSIFIERS = 90, np.array(["setosa", "lily", "fern"])  # not in the order of the alphabet


@pytest.fixture(scope="module")
def data():
    g = np.random.default_rng(0)
    y = np.arange(N) % 3
    return g.normal(size=(N, 2)) + 2 * np.array([[0, 1], [1, 0], [-1, -1]])[y], NAMES_ADAPTERS_OF_CLASSIFIERS[y]


@pytest.fixture(scope="module")
def forest(data):
    return ensemble.RandomForestClassifier(7, min_samples_leaf=4, random_state=0).fit(*data)


def accuracy_adapters_of_classifiers(found, model):
    return found[model].columns["correct"].mean()


def test_classifiers_stand_for_their_predictions(data, forest):
    X, y = data
    logistic = linear_model.LogisticRegression().fit(X, y)
    found = uq.assay({"forest": forest, "logistic": logistic}, y, X=X, calibration=())
    assert found.class_names == tuple(sorted(NAMES_ADAPTERS_OF_CLASSIFIERS)) == tuple(forest.classes_)
    given = {
        name: uq.Point(c.predict_proba(X), class_names=c.classes_)
        for name, c in (("forest", forest), ("logistic", logistic))
    }
    assert repr(found.ranked()) == repr(uq.assay(given, y, calibration=()).ranked())
    for name, fitted in (("forest", forest), ("logistic", logistic)):
        assert accuracy_adapters_of_classifiers(found, name) == pytest.approx(fitted.score(X, y))


def test_a_classifier_alone_is_named_by_its_type(data, forest):
    assert uq.assay(forest, data[1], X=data[0], calibration=()).model_names == ("RandomForestClassifier",)


def test_runs_and_predictions_stand_beside_classifiers(data, forest):
    X, y = data
    point = uq.Point(forest.predict_proba(X), class_names=forest.classes_)
    found = uq.assay({"runs": [forest, forest], "point": point}, y, X=X, calibration=())
    assert [m.n_runs for m in found.candidates] == [2, 1]
    assert accuracy_adapters_of_classifiers(found, "runs") == accuracy_adapters_of_classifiers(found, "point")


def test_classes_that_the_labels_lack(data, forest):
    X, y = data
    some = y != "lily"
    found = uq.assay(forest, y[some], X=X[some], calibration=())
    assert accuracy_adapters_of_classifiers(found, "RandomForestClassifier") == pytest.approx(
        forest.score(X[some], y[some])
    )


@pytest.mark.parametrize(
    "labels",
    [np.array([0, 1, 2]), np.array([3, 1, 2]), np.array([10.0, 20.0, 5.0]), np.array([True, False, True])],
)
def test_labels_that_are_numbers(data, labels):
    X, y = data
    coded = labels[np.searchsorted(np.sort(NAMES_ADAPTERS_OF_CLASSIFIERS), y)]
    fitted = linear_model.LogisticRegression().fit(X, coded)
    found = uq.assay(fitted, coded, X=X, calibration=())
    assert accuracy_adapters_of_classifiers(found, "LogisticRegression") == pytest.approx(fitted.score(X, coded))


def test_labels_in_a_series_are_aligned_to_the_rows_of_a_table(data):
    X = pd.DataFrame(data[0], columns=["a", "b"], index=np.arange(500, 500 + N))
    y = pd.Series(data[1], index=X.index)
    fitted = linear_model.LogisticRegression().fit(X, y)
    shuffled = y.sample(frac=1, random_state=0)
    found = uq.assay(fitted, shuffled, X=X, calibration=())
    assert accuracy_adapters_of_classifiers(found, "LogisticRegression") == pytest.approx(fitted.score(X, y))
    assert found.ids.tolist() == X.index.tolist()
    twice = X.set_axis(np.zeros(N, int))
    assert from_classifier(fitted, twice).ids is None
    assert from_classifier(fitted, X, ids=np.arange(N)).ids.tolist() == list(range(N))


def ensembles():
    logistic = linear_model.LogisticRegression
    yield ensemble.RandomForestClassifier(5, random_state=0)
    yield ensemble.ExtraTreesClassifier(5, random_state=0)
    yield ensemble.BaggingClassifier(logistic(), 4, max_features=1, random_state=0)
    yield ensemble.BaggingClassifier(n_estimators=4, max_samples=10, random_state=0)
    yield ensemble.VotingClassifier([("a", logistic()), ("b", logistic(C=0.01))], voting="soft")


@pytest.mark.parametrize("made", list(ensembles()), ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("table", [False, True])
def test_the_average_of_the_members_is_what_the_ensemble_predicts(data, made, table):
    X = pd.DataFrame(data[0], columns=["a", "b"]) if table else data[0]
    fitted = made.fit(X, data[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        members = from_classifier(fitted, X, members=True)
    assert members.probs.shape == (N, len(fitted.estimators_), 3)
    np.testing.assert_allclose(members.probs.mean(axis=1), fitted.predict_proba(X), atol=1e-12)
    assert members.class_names == tuple(sorted(NAMES_ADAPTERS_OF_CLASSIFIERS))
    assert type(from_classifier(fitted, X)) is uq.Point


def test_a_member_gives_0_to_a_class_that_it_has_not_seen():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    nearest = pytest.importorskip("sklearn.neighbors").KNeighborsClassifier(1)
    bagged = ensemble.BaggingClassifier(nearest, 8, max_samples=2, random_state=0).fit(X, y)
    unseen = [(m, k) for m, one in enumerate(bagged.estimators_) for k in set(range(3)) - set(one.classes_.astype(int))]
    assert unseen
    probs = member_probs(bagged, X)
    assert all((probs[:, m, k] == 0).all() for m, k in unseen)


@pytest.mark.parametrize(
    "made", [ensemble.AdaBoostClassifier(n_estimators=3), ensemble.GradientBoostingClassifier(n_estimators=3)]
)
@pytest.mark.parametrize("coded", [False, True])
def test_ensembles_that_are_no_average_have_no_members(data, made, coded):
    X, y = data
    fitted = made.fit(X, np.searchsorted(np.sort(NAMES_ADAPTERS_OF_CLASSIFIERS), y) if coded else y)
    with refuses("classifier", "type", type(made).__name__):
        from_classifier(fitted, X, members=True)


def test_weighted_votes_are_no_average(data):
    logistic = linear_model.LogisticRegression
    vote = ensemble.VotingClassifier([("a", logistic()), ("b", logistic(C=0.01))], voting="soft", weights=[3, 1])
    with refuses("classifier", "type", "Voting"):
        from_classifier(vote.fit(*data), data[0], members=True)


def test_methods_of_the_package_state_their_own_kind(data):
    from uqassay.lab.methods import RandomForest

    fitted = RandomForest(n_members=5).fit(*data)
    found = uq.assay({"trees": fitted}, data[1], X=data[0], calibration=())
    assert found["trees"].kind == "Members"
    assert found["trees"].n_points == 5


def test_pipelines_are_classifiers(data):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipe = make_pipeline(StandardScaler(), linear_model.LogisticRegression())
    with refuses("models['p']", "missing", "Pipeline"):
        uq.assay({"p": pipe}, data[1], X=data[0])
    found = uq.assay(pipe.fit(*data), data[1], X=data[0], calibration=())
    assert accuracy_adapters_of_classifiers(found, "Pipeline") == pytest.approx(pipe.score(*data))


def test_what_is_missing_is_named(data, forest):
    X, y = data
    with refuses("X", "missing", "models\\['f'\\]"):
        uq.assay({"f": forest}, y)
    with refuses("X", "conflict"):
        uq.assay({"f": forest.predict_proba(X)}, y, X=X)
    for unfitted in (ensemble.RandomForestClassifier(), ensemble.RandomForestClassifier):
        with refuses("models['f']", "missing", "RandomForestClassifier"):
            uq.assay({"f": unfitted}, y, X=X)
    with refuses("models['f'][1]", "missing"):
        uq.assay({"f": [forest, ensemble.RandomForestClassifier()]}, y, X=X)


def test_classifiers_without_probabilities_are_refused(data):
    from sklearn.svm import LinearSVC

    with refuses("models['svm']", "type", "LinearSVC"):
        uq.assay({"svm": LinearSVC().fit(*data)}, data[1], X=data[0])


def test_inputs_that_do_not_fit_are_refused(data, forest):
    X, y = data
    with refuses("X", "shape", "2 columns.*\\(90, 3\\)"):
        uq.assay({"f": forest}, y, X=np.column_stack([X, y == "lily"]))
    with refuses("X", "type", "RandomForestClassifier"):
        uq.assay({"f": forest}, y, X=[["a", "b"]] * N)
    with pytest.raises(InputError, match="89"):
        uq.assay({"f": forest}, y, X=X[1:])


def test_several_outputs_are_refused(data):
    X, y = data
    fitted = ensemble.RandomForestClassifier(3, random_state=0).fit(X, np.column_stack([y, y]))
    with refuses("classifier"):
        from_classifier(fitted, X)


class Anything:
    """Answers to every name, as objects of dask do."""

    def __getattr__(self, name):
        return lambda *given: None


@pytest.mark.parametrize(
    "other", [np.eye(2), [[0.5, 0.5]], {"probs": 1}, uq.Point([[0.5, 0.5]]), None, "text", Anything()]
)
def test_predictions_are_no_classifiers(other):
    assert not is_classifier(other)


# Predictions from distributions of PyTorch and GPyTorch, against the parameters of the distributions.

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def normals(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


# -- PyTorch ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [td.Categorical, td.OneHotCategorical, td.OneHotCategoricalStraightThrough])
def test_categorical_distributions_are_points(family):
    probs = rows(6, 3)
    point = uq.from_object(family(torch.tensor(probs)), class_names=["a", "b", "c"], ids=range(6))
    assert isinstance(point, uq.Point)
    np.testing.assert_allclose(point.probs, probs, rtol=1e-15)
    assert point.class_names == ("a", "b", "c")
    assert point.ids.tolist() == [0, 1, 2, 3, 4, 5]
    logits = torch.tensor(np.log(probs) + 5, requires_grad=True)
    np.testing.assert_allclose(uq.from_object(family(logits=logits)).probs, probs, rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
def test_dtypes_are_kept_within_their_tolerance(dtype):
    probs = torch.tensor(rows(50, 4), dtype=dtype)
    found = uq.from_object(td.Categorical(probs=probs, validate_args=False)).probs
    np.testing.assert_allclose(found, probs.numpy(), rtol=4e-3)
    assert found.dtype == probs.numpy().dtype


def test_coarse_rounding_is_taken_and_normalise_repairs_it():
    coarse = td.Categorical(probs=torch.tensor(rows(50, 4), dtype=torch.bfloat16), validate_args=False)
    assert abs(uq.from_object(coarse).probs.sum(axis=1) - 1).max() > 1e-3
    assert abs(uq.from_object(coarse, normalise=True).probs.sum(axis=1) - 1).max() < 1e-15
    np.testing.assert_allclose(uq.from_object(coarse, normalise=True).probs, rows(50, 4), atol=0.01)


@pytest.mark.parametrize("family", [td.Categorical, td.OneHotCategorical])
@pytest.mark.parametrize("axis", [0, 1, -2, -3])
def test_a_batch_of_two_axes_is_members_with_member_axis(family, axis):
    probs = rows(4, 5, 3)  # (n, M, K)
    distribution = family(torch.tensor(np.moveaxis(probs, 1, axis)))
    members = uq.from_object(distribution, member_axis=axis)
    assert isinstance(members, uq.Members)
    np.testing.assert_allclose(members.probs, probs, rtol=1e-15)


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.Categorical(torch.tensor(rows(4, 4, 3))),  # equal sizes, so sizes cannot distinguish the axes
        lambda: td.OneHotCategorical(torch.tensor(rows(5, 4, 3))),
        lambda: td.Bernoulli(torch.tensor(rows(5, 4))),
        lambda: td.Normal(torch.zeros(5, 4, 3), 1.0),
        lambda: td.MultivariateNormal(torch.zeros(5, 4, 3), torch.eye(3)),
    ],
)
def test_a_batch_of_two_axes_is_not_guessed(make):
    with refuses("member_axis", "member-axis", got=r"two axes.*member_axis=0"):
        uq.from_object(make())
    with refuses("models['gp']", "member-axis"):
        uq.assay({"gp": make()}, [0, 1, 2, 0])


def test_bernoulli_is_the_probability_of_class_1():
    p = np.array([0.0, 0.25, 1.0])
    assert uq.from_object(td.Bernoulli(torch.tensor(p))).probs.tolist() == [[1, 0], [0.75, 0.25], [0, 1]]
    assert uq.from_object(td.Bernoulli(torch.tensor([0.25]))).probs.tolist() == [[0.75, 0.25]]  # N = 1
    samples = td.Bernoulli(logits=torch.tensor(normals(20, 4)))  # (M, n)
    members = uq.from_object(samples, member_axis=0)
    assert (members.n_instances, members.n_members, members.n_classes) == (4, 20, 2)
    np.testing.assert_allclose(members.probs[:, :, 1], 1 / (1 + np.exp(-normals(20, 4).T)), rtol=1e-12)


def test_dirichlet_keeps_its_concentration():
    alpha = np.random.default_rng(0).gamma(2.0, size=(4, 3))
    dirichlet = uq.from_object(td.Dirichlet(torch.tensor(alpha)))
    assert isinstance(dirichlet, uq.Dirichlet)
    np.testing.assert_array_equal(dirichlet.alpha, alpha)
    np.testing.assert_allclose(dirichlet.mean_probs(), td.Dirichlet(torch.tensor(alpha)).mean.numpy(), rtol=1e-12)
    with refuses("alpha", "shape", got=r"got shape \(5, 4, 3\)"):
        uq.from_object(td.Dirichlet(torch.ones(5, 4, 3)), member_axis=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda mean, deviation: td.Normal(mean, deviation),
        lambda mean, deviation: td.MultivariateNormal(mean, torch.diag_embed(deviation**2)),
        lambda mean, deviation: td.LowRankMultivariateNormal(mean, torch.zeros(*mean.shape, 1).to(mean), deviation**2),
    ],
)
def test_gaussians_without_covariance_between_classes_are_gaussian_logits(make):
    mean, deviation = normals(4, 3), np.exp(normals(3, 4).T)
    logits = uq.from_object(make(torch.tensor(mean), torch.tensor(deviation)), variance_is="epistemic")
    assert isinstance(logits, uq.GaussianLogits)
    np.testing.assert_array_equal(logits.mean, mean[:, None])
    np.testing.assert_allclose(logits.variance, deviation[:, None] ** 2, rtol=1e-12)
    several = make(torch.tensor(normals(5, 4, 3)), torch.ones(5, 4, 3, dtype=torch.float64))
    passes = uq.from_object(several, member_axis=0, variance_is="aleatoric")
    np.testing.assert_array_equal(passes.mean, normals(5, 4, 3).swapaxes(0, 1))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_covariance_between_classes_is_refused_and_the_remedy_works(dtype):
    covariance = torch.tensor([[1.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 2.0]], dtype=dtype)
    correlated = td.MultivariateNormal(torch.zeros(4, 3, dtype=dtype), covariance)
    with refuses("obj", "undefined", got=r"got a MultivariateNormal with covariances up to 0\.3"):
        uq.from_object(correlated)
    factor = torch.tensor([[1.0], [1.0], [0.0]], dtype=dtype)
    with refuses("obj", "undefined", got="got a LowRankMultivariateNormal with covariances up to 1;"):
        uq.from_object(td.LowRankMultivariateNormal(torch.zeros(4, 3, dtype=dtype), factor, torch.ones(3, dtype=dtype)))
    drawn = uq.Members.from_logits(correlated.sample((100,)), member_axis=0)
    assert (drawn.n_instances, drawn.n_members) == (4, 100)


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.Geometric(torch.full((4,), 0.5)),  # has probs, too
        lambda: td.Binomial(3, torch.full((4,), 0.5)),
        lambda: td.Multinomial(3, torch.full((4, 2), 0.5)),
        lambda: td.RelaxedOneHotCategorical(torch.tensor(1.0), torch.full((4, 2), 0.5)),
        lambda: td.LogNormal(torch.zeros(4, 3), torch.ones(4, 3)),
        lambda: td.Laplace(torch.zeros(4, 3), torch.ones(4, 3)),
        lambda: td.Gamma(torch.ones(4, 3), torch.ones(4, 3)),
        lambda: td.Independent(td.Bernoulli(torch.full((4, 3), 0.5)), 1),
    ],
)
def test_other_families_are_refused_by_name(make):
    distribution = make()
    with refuses("obj", "type", got=rf"one of Categorical, .*; got {type(distribution).__name__};"):
        uq.from_object(distribution, member_axis=0)


def test_one_instance_without_a_batch_is_refused():
    with refuses("probs", "one-column", got=r"got shape \(3,\)"):
        uq.from_object(td.Categorical(torch.tensor(rows(1, 3)[0])))
    with refuses("probs", "shape", got=r"got shape \(\)"):
        uq.from_object(td.Bernoulli(torch.tensor(0.5)))


def test_an_assay_takes_distributions_unchanged():
    probs = rows(60, 3)
    labels = np.arange(60) % 3
    alike = {"distribution": td.Categorical(torch.tensor(probs)), "array": probs}
    findings = uq.assay(alike, labels, calibration=()).findings().query("metric == 'unified'").set_index("model")
    estimates = findings.groupby(level="model")["estimate"].first()
    assert np.isfinite(estimates["array"])
    assert estimates["distribution"] == pytest.approx(estimates["array"], rel=1e-12)


# -- GPyTorch ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def gpytorch(needs) -> Any:
    needs("gpytorch")
    with warnings.catch_warnings():  # it compiles by torch.jit.script, which PyTorch calls deprecated
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module("gpytorch")


@pytest.fixture
def latents(gpytorch) -> Any:
    """Posterior of a Gaussian process per class at 7 points, batch (3,) and event (7,)."""
    x = torch.tensor(normals(40, 2))
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    likelihood = gpytorch.likelihoods.DirichletClassificationLikelihood(y, dtype=torch.float64)

    class Model(gpytorch.models.ExactGP):
        def __init__(self) -> None:
            super().__init__(x, likelihood.transformed_targets, likelihood)
            self.kernel = gpytorch.kernels.RBFKernel(batch_shape=torch.Size((3,)))

        def forward(self, x: Any) -> Any:
            zeros = torch.zeros(3, len(x), dtype=x.dtype)
            return gpytorch.distributions.MultivariateNormal(zeros, self.kernel(x))

    model = Model().double().eval()
    with torch.no_grad():
        posterior = model(torch.tensor(normals(7, 2)))
        assert posterior.mean.shape == posterior.variance.shape == (3, 7)
    return posterior


def test_gpytorch_latents_of_a_dirichlet_process_are_gaussian_logits(gpytorch, latents):
    multitask = gpytorch.distributions.MultitaskMultivariateNormal.from_batch_mvn(latents)
    logits = uq.from_object(multitask, variance_is="epistemic")
    assert isinstance(logits, uq.GaussianLogits)
    np.testing.assert_allclose(logits.mean[:, 0], latents.mean.numpy().T, rtol=1e-12)
    np.testing.assert_allclose(logits.variance[:, 0], latents.variance.numpy().T, rtol=1e-12)

    torch.manual_seed(0)
    drawn = latents.sample(torch.Size((20_000,))).exp()  # as GPyTorch's documentation turns them into probabilities
    expected = (drawn / drawn.sum(dim=-2, keepdim=True)).mean(0).T.numpy()  # standard error below 0.004
    many = uq.GaussianLogits(logits.mean, logits.variance, variance_is="epistemic", n_draws=20_000)
    np.testing.assert_allclose(many.mean_probs(), expected, atol=0.02)


def test_gpytorch_latents_with_the_classes_in_the_batch_are_not_guessed(latents):
    with refuses("obj", "member-axis", got=r"mean of shape \(3, 7\)"):
        uq.from_object(latents)


def test_gpytorch_tasks_with_covariance_are_refused(gpytorch):
    between = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
    covariance = torch.kron(torch.eye(4) + 0.25, between)  # instances (4) outer, tasks (2) inner
    multitask = gpytorch.distributions.MultitaskMultivariateNormal(torch.zeros(4, 2), covariance)
    with refuses("obj", "undefined", got=r"got a MultitaskMultivariateNormal with covariances up to 0\.625"):
        uq.from_object(multitask)
    alone = torch.kron(torch.eye(4) + 0.25, torch.eye(2))  # instances correlated, classes not
    logits = uq.from_object(
        gpytorch.distributions.MultitaskMultivariateNormal(torch.zeros(4, 2), alone), variance_is="epistemic"
    )
    np.testing.assert_allclose(logits.variance, np.full((4, 1, 2), 1.25), rtol=1e-6)


@pytest.mark.parametrize("mixing", [True, False])
def test_gpytorch_softmax_likelihood_gives_members_samples_first(gpytorch, latents, mixing):
    torch.manual_seed(0)
    likelihood = gpytorch.likelihoods.SoftmaxLikelihood(num_features=3, num_classes=3, mixing_weights=mixing).double()
    multitask = gpytorch.distributions.MultitaskMultivariateNormal.from_batch_mvn(latents)
    with gpytorch.settings.num_likelihood_samples(12):
        predicted = likelihood(multitask)
    members = uq.from_object(predicted, member_axis=0)
    assert (members.n_instances, members.n_members, members.n_classes) == (7, 12, 3)
    np.testing.assert_array_equal(members.probs, predicted.probs.detach().numpy().swapaxes(0, 1))
    with refuses("member_axis", "member-axis", got=r"got probs of shape \(12, 7, 3\) from a Categorical"):
        uq.from_object(predicted)


def test_gpytorch_bernoulli_likelihood_gives_points(gpytorch, latents):
    from scipy.stats import norm

    point = uq.from_object(gpytorch.likelihoods.BernoulliLikelihood()(latents[0]))
    mean, variance = latents[0].mean.numpy(), latents[0].variance.numpy()
    np.testing.assert_allclose(point.probs[:, 1], norm.cdf(mean / np.sqrt(1 + variance)), rtol=1e-6)


# Models of laplace-torch and outputs of torch-uncertainty, by stand-ins with their published interfaces.


class Likelihood(str, Enum):  # noqa: UP042 (as there)
    """Like `laplace/utils/enums.py` of aleximmer/Laplace: text and enumeration at once."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"
    REWARD_MODELING = "reward_modeling"


class Laplace:
    """Like `ParametricLaplace` in `laplace/baselaplace.py` of aleximmer/Laplace, whose samples are (M, n, K)."""

    def __init__(self, likelihood: Any = Likelihood.CLASSIFICATION) -> None:
        self.likelihood = likelihood
        self.asked: dict[str, Any] = {}

    def predictive_samples(
        self,
        x: np.ndarray,
        pred_type: str = "glm",
        n_samples: int = 100,
        diagonal_output: bool = False,
        generator: Any = None,
    ) -> np.ndarray:
        self.asked = {"pred_type": pred_type, "diagonal_output": diagonal_output, "generator": generator}
        return np.random.default_rng(0).dirichlet(np.ones(3), (n_samples, len(x)))


@pytest.mark.parametrize("likelihood", [Likelihood.CLASSIFICATION, "classification"])
def test_a_laplace_model_is_asked_for_members(likelihood):
    model = Laplace(likelihood)
    members = from_laplace(
        model, np.zeros((5, 2)), n_samples=20, class_names=["a", "b", "c"], ids=range(5), groups=list("aabbb")
    )
    assert isinstance(members, uq.Members)
    np.testing.assert_array_equal(
        members.probs, model.predictive_samples(np.zeros((5, 2)), n_samples=20).swapaxes(0, 1)
    )
    assert members.class_names == ("a", "b", "c")
    assert members.ids.tolist() == [0, 1, 2, 3, 4]
    assert model.asked == {"pred_type": "glm", "diagonal_output": False, "generator": None}


def test_what_is_asked_of_a_laplace_model_reaches_it():
    model, generator = Laplace(), object()
    assert from_laplace(model, np.zeros((5, 2))).n_members == 100
    from_laplace(model, np.zeros((1, 2)), n_samples=1, pred_type="nn", generator=generator)
    assert model.asked == {"pred_type": "nn", "diagonal_output": False, "generator": generator}


def test_what_is_no_classifier_is_refused():
    with refuses("model", "type", got="got one with likelihood 'regression'"):
        from_laplace(Laplace(Likelihood.REGRESSION), np.zeros((5, 2)))
    with refuses("model", "type", got="got one with likelihood 'reward_modeling'"):
        from_laplace(Laplace("reward_modeling"), np.zeros((5, 2)))
    with refuses("model", "type", got="got ndarray"):
        from_laplace(np.zeros((5, 3)), np.zeros((5, 2)))


def test_samples_that_are_no_distributions_are_refused():
    model = Laplace()
    model.predictive_samples = lambda x, n_samples: np.zeros((n_samples, len(x), 3))  # type: ignore[method-assign]
    with refuses("probs", "sum", got="each row must sum to 1"):
        from_laplace(model, np.zeros((5, 2)))


def test_a_laplace_model_in_pytorch_against_gaussian_logits(needs):
    """A linear last layer whose logits are independent: samples of the model and GaussianLogits must agree."""
    needs("torch")
    import torch

    mean = torch.tensor([[1.0, 0.0, -1.0], [0.0, 0.0, 2.0]], dtype=torch.float64)
    variance = torch.tensor([[0.5, 1.0, 2.0], [2.0, 0.1, 0.1]], dtype=torch.float64)

    class Linear(Laplace):
        def predictive_samples(self, x, pred_type="glm", n_samples=100, diagonal_output=False, generator=None):
            noise = torch.randn((n_samples, *mean.shape), generator=generator, dtype=mean.dtype)
            return torch.softmax(mean + variance.sqrt() * noise, dim=-1)

    draw = lambda: from_laplace(Linear(), mean, n_samples=20_000, generator=torch.Generator().manual_seed(0))  # noqa: E731
    members, gaussians = draw(), uq.GaussianLogits(mean, variance, variance_is="epistemic", n_draws=20_000)
    np.testing.assert_array_equal(members.probs, draw().probs)
    np.testing.assert_allclose(members.mean_probs(), gaussians.mean_probs(), atol=0.01)  # five standard errors


def test_a_whole_assay_from_a_laplace_model():
    predictions = {"laplace": from_laplace(Laplace(), np.zeros((60, 2)), n_samples=5)}
    findings = uq.assay(predictions, np.arange(60) % 3, calibration=()).findings()
    assert np.isfinite(findings.query("metric == 'unified'")["estimate"]).all()


@pytest.mark.filterwarnings("default")  # of the packages that it imports
def test_laplace_torch_itself(needs):
    """Against laplace-torch's own average of its samples and against its Gaussian of the logits."""
    needs("torch")
    needs("laplace")
    import laplace
    import torch

    torch.manual_seed(0)
    x = torch.randn(40, 2)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    model = laplace.Laplace(network, "classification", subset_of_weights="last_layer", hessian_structure="full")
    model.fit(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=40))

    members = from_laplace(model, x[:6], n_samples=4000, generator=torch.Generator().manual_seed(0))
    assert (members.n_instances, members.n_members, members.n_classes) == (6, 4000, 3)
    again = from_laplace(model, x[:6], n_samples=4000, generator=torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(members.probs, again.probs)
    own = model(x[:6], link_approx="mc", n_samples=4000).detach().numpy()
    np.testing.assert_allclose(
        members.mean_probs(), own, atol=0.035
    )  # five standard errors of a value in [0, 1] at most
    for link in ("probit", "bridge"):
        assert isinstance(uq.from_object(model(x[:6], link_approx=link)), uq.Point)
    networks = from_laplace(model, x[:6], n_samples=5, pred_type="nn")
    assert networks.probs.shape == (6, 5, 3)
    with refuses("model", "type", got="got one with likelihood 'regression'"):
        from_laplace(laplace.Laplace(network, "regression"), x)


# -- torch-uncertainty ------------------------------------------------------------------------------------------------


def test_estimators_stacked_along_the_batch_become_members(needs):
    needs("torch")
    import torch

    class DeepEnsembles(torch.nn.Module):
        """Like `_DeepEnsembles` in `torch_uncertainty/methods/deep_ensembles.py` of
        ENSTA-U2IS-AI/torch-uncertainty: logits (M · n, K), all instances of the first network first; `mc_dropout.py` and
        `stochastic.py` beside it stack in the same order.
        """

        def __init__(self, networks: list[Any]) -> None:
            super().__init__()
            self.networks = torch.nn.ModuleList(networks)
            self.num_estimators = len(networks)

        def forward(self, x: Any) -> Any:
            return torch.cat([network(x) for network in self.networks])

    torch.manual_seed(0)
    ensemble = DeepEnsembles([torch.nn.Linear(2, 3) for _ in range(4)])
    x = torch.randn(7, 2)
    logits = ensemble(x)
    assert logits.shape == (28, 3)
    members = uq.Members.from_logits(logits.reshape(4, 7, 3), member_axis=0)
    for m, network in enumerate(ensemble.networks):
        np.testing.assert_allclose(members.probs[:, m], torch.softmax(network(x), -1).detach().numpy(), rtol=1e-5)
    same = uq.from_object(logits.reshape(4, 7, 3), kind="logits", member_axis=0)
    np.testing.assert_array_equal(same.probs, members.probs)


def test_evidence_becomes_a_dirichlet_distribution(needs):
    """`tutorial_evidential_classification.py` of torch-uncertainty: alpha is 1 plus the positive part of the outputs."""
    needs("torch")
    import torch

    outputs = torch.tensor([[9.0, -1.0, 0.0], [-1.0, -2.0, -3.0]], requires_grad=True)
    dirichlet = uq.Dirichlet(torch.relu(outputs) + 1)
    np.testing.assert_allclose(dirichlet.mean_probs(), [[10 / 12, 1 / 12, 1 / 12], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-6)
    uniform = uq.from_object(torch.relu(outputs) + 1, kind="dirichlet")
    np.testing.assert_array_equal(uniform.alpha, dirichlet.alpha)


@pytest.mark.filterwarnings("default")  # of the packages that it imports
def test_torch_uncertainty_itself():
    """Every method that holds several estimators stacks all instances of the first one first."""
    pytest.importorskip("torch_uncertainty", minversion="0.13", reason="torch-uncertainty needs torchvision")
    import torch
    from torch_uncertainty.layers import PackedLinear
    from torch_uncertainty.methods import batch_ensemble, deep_ensembles, mc_dropout

    torch.manual_seed(0)
    layers = [torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(16, 3)]
    networks = [torch.nn.Linear(2, 3) for _ in range(4)]
    packed = {"alpha": 2, "num_estimators": 4}
    models = {
        "deep ensemble": deep_ensembles(networks),
        "dropout": mc_dropout(torch.nn.Sequential(*layers), 4),
        "dropout, batch after batch": mc_dropout(torch.nn.Sequential(*layers), 4, on_batch=False),
        "batch ensemble": batch_ensemble(torch.nn.Sequential(*layers), num_estimators=4, convert_layers=True),
        "packed": torch.nn.Sequential(
            PackedLinear(2, 16, first=True, **packed), torch.nn.ReLU(), PackedLinear(16, 3, last=True, **packed)
        ),
    }
    x = torch.randn(7, 2)
    other = x.clone()
    other[0] += 100.0
    for name, model in models.items():
        draws = []
        for inputs in (x, other):
            torch.manual_seed(1)
            draws.append(model.eval()(inputs))
        members, moved = (uq.Members.from_logits(logits.reshape(4, 7, 3), member_axis=0) for logits in draws)
        changed = np.abs(members.probs - moved.probs).max(axis=(1, 2)) > 1e-6
        assert changed.tolist() == [True] + [False] * 6, name
    ensemble = uq.Members.from_logits(models["deep ensemble"](x).reshape(4, 7, 3), member_axis=0)
    np.testing.assert_allclose(ensemble.probs[:, 2], torch.softmax(networks[2](x), -1).detach().numpy(), rtol=1e-5)
