"""Predictions from arrays and from the objects of other libraries.

The stand-ins have the attributes of probly 0.9.1 (read from its wheel); `test_probly` uses the package itself.
"""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas
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


def test_a_table_gives_class_names_and_ids():
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


def test_an_index_of_one_column_is_kept():
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
