"""probly itself: its samples, distributions and credal sets, and what its methods return.

probly needs Python 3.12; without it the stand-ins of `test_adapters` are tested alone.
"""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq

probly = pytest.importorskip("probly", minversion="0.9", reason="probly (Python 3.12 and later) is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # of the packages that it imports


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).dirichlet(np.ones(shape[-1]), shape[:-1])


def test_arrays_of_probly_against_its_own_envelopes():
    from probly.representation.credal_set.array import (
        ArrayConvexCredalSet,
        ArrayDiscreteCredalSet,
        ArrayDistanceBasedCredalSet,
        ArrayProbabilityIntervalsCredalSet,
        ArraySingletonCredalSet,
    )
    from probly.representation.distribution.array_bernoulli import ArrayProbabilityBernoulliDistribution
    from probly.representation.distribution.array_categorical import (
        ArrayLogitCategoricalDistribution,
        ArrayProbabilityCategoricalDistribution,
    )
    from probly.representation.distribution.array_dirichlet import ArrayDirichletDistribution
    from probly.representation.distribution.array_gaussian import ArrayGaussianDistribution
    from probly.representation.sample import ListSample
    from probly.representation.sample.array import ArraySample

    probs = rows(4, 5, 3)
    sample = ArraySample(ArrayProbabilityCategoricalDistribution(np.moveaxis(probs, 1, 0)), sample_axis=0)
    members = uq.from_object(sample)
    assert isinstance(members, uq.Members)
    np.testing.assert_allclose(members.probs, probs, rtol=1e-12)
    np.testing.assert_allclose(members.mean_probs(), sample.sample_mean().probabilities, rtol=1e-12)
    plain = uq.from_object(ArraySample(np.moveaxis(probs, 1, 2), sample_axis=-1))
    np.testing.assert_array_equal(plain.probs, probs)

    draws = list(np.moveaxis(probs, 1, 0))
    for listed in (draws, [ArrayProbabilityCategoricalDistribution(draw) for draw in draws]):
        np.testing.assert_array_equal(uq.from_object(ListSample(listed)).probs, probs)

    kinds = {
        ArrayConvexCredalSet: uq.Vertices,
        ArrayDiscreteCredalSet: uq.Vertices,
        ArrayProbabilityIntervalsCredalSet: uq.Intervals,
        ArraySingletonCredalSet: uq.Point,
    }
    for made, kind in kinds.items():
        credal_set = made.from_array_sample(sample)
        prediction = uq.from_object(credal_set)
        assert isinstance(prediction, kind)
        np.testing.assert_allclose(prediction.lower_probs(), credal_set.lower(), atol=1e-12)
        np.testing.assert_allclose(prediction.upper_probs(), credal_set.upper(), atol=1e-12)
    with refuses("obj", "undefined", got="ArrayDistanceBasedCredalSet .* limited by its radius"):
        uq.from_object(ArrayDistanceBasedCredalSet.from_array_sample(sample))

    logits = ArrayLogitCategoricalDistribution(np.log(probs[:, 0]) + 3)
    np.testing.assert_allclose(uq.from_object(logits).probs, probs[:, 0], rtol=1e-12)
    bernoulli = ArrayProbabilityBernoulliDistribution(np.array([0.25, 1.0]))
    assert uq.from_object(bernoulli).probs.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    dirichlet = uq.from_object(ArrayDirichletDistribution(np.full((4, 3), 2.0)))
    assert isinstance(dirichlet, uq.Dirichlet)
    gaussian = uq.from_object(ArrayGaussianDistribution(np.zeros((4, 3)), np.ones((4, 3))), variance_is="epistemic")
    assert isinstance(gaussian, uq.GaussianLogits)


def test_tensors_of_probly_against_its_own_envelopes():
    torch = pytest.importorskip("torch")
    from probly.representation.credal_set.torch import (
        TorchConvexCredalSet,
        TorchDirichletLevelSetCredalSet,
        TorchProbabilityIntervalsCredalSet,
    )
    from probly.representation.distribution.torch_categorical import TorchProbabilityCategoricalDistribution
    from probly.representation.distribution.torch_dirichlet import TorchDirichletDistribution
    from probly.representation.distribution.torch_gaussian import TorchGaussianDistribution
    from probly.representation.sample.torch import TorchSample

    probs = torch.tensor(rows(4, 5, 3))
    held = TorchProbabilityCategoricalDistribution(torch.moveaxis(probs, 1, 0))
    sample = TorchSample(held, sample_dim=0, weights=torch.tensor([0.5, 0.125, 0.125, 0.125, 0.125]))
    members = uq.from_object(sample)
    np.testing.assert_allclose(members.probs, probs.numpy(), rtol=1e-12)
    np.testing.assert_allclose(members.weights, [0.5, 0.125, 0.125, 0.125, 0.125])
    for made, kind in ((TorchConvexCredalSet, uq.Vertices), (TorchProbabilityIntervalsCredalSet, uq.Intervals)):
        credal_set = made.from_torch_sample(sample)
        prediction = uq.from_object(credal_set)
        assert isinstance(prediction, kind)
        np.testing.assert_allclose(prediction.lower_probs(), credal_set.lower().numpy(), atol=1e-12)
        np.testing.assert_allclose(prediction.upper_probs(), credal_set.upper().numpy(), atol=1e-12)
    assert isinstance(uq.from_object(TorchDirichletDistribution(torch.ones(4, 3))), uq.Dirichlet)
    gaussians = TorchGaussianDistribution(torch.zeros(5, 4, 3), torch.ones(5, 4, 3))
    assert uq.from_object(TorchSample(gaussians, sample_dim=0), variance_is="aleatoric").mean.shape == (4, 5, 3)
    with refuses("obj", "undefined", got="limited by its threshold"):
        uq.from_object(TorchDirichletLevelSetCredalSet(torch.ones(4, 3), torch.tensor(0.5)))


# -- methods, as a person calls them ----------------------------------------------------------------------------------

METHODS = {  # the method, its options, those of the representer, the kind
    "ensemble": ((3,), {}, uq.Members),
    "subensemble": ((3,), {}, uq.Members),
    "dropout": ((), {"num_samples": 5}, uq.Members),
    "dropconnect": ((), {"num_samples": 5}, uq.Members),
    "bayesian": ((), {"num_samples": 5}, uq.Members),
    "batchensemble": ((3,), {}, uq.Members),
    "het_net": ((), {"num_samples": 5}, uq.Members),
    "sngp": ((), {}, uq.Members),
    "vbll": ((), {}, uq.Members),
    "credal_wrapper": ((3,), {}, uq.Intervals),
    "credal_relative_likelihood": ((3,), {}, uq.Intervals),
    "credal_ensembling": ((3,), {}, uq.Vertices),
    "credal_bnn": ((), {}, uq.Vertices),
    "evidential_classification": ((), {}, uq.Dirichlet),
}


def represented(name, options, of_representer):
    torch = pytest.importorskip("torch")
    import probly.method
    from probly.representer import representer

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    model = getattr(probly.method, name)(network, *options, predictor_type="logit_classifier")
    return representer(model, **of_representer)(torch.randn(7, 2))


@pytest.mark.parametrize("name", METHODS)
def test_what_methods_return_is_taken_unchanged(name):
    options, of_representer, kind = METHODS[name]
    prediction = uq.from_object(represented(name, options, of_representer))
    assert type(prediction) is kind
    assert (prediction.n_instances, prediction.n_classes) == (7, 3)


@pytest.mark.parametrize(("name", "got"), [("ddu", r"obj\.softmax"), ("duq", "got TorchDUQRepresentation")])
def test_probabilities_with_scores_and_kernel_values_are_refused(name, got):
    with refuses("obj", "type", got=got):
        uq.from_object(represented(name, (), {}))


def test_conformal_sets_of_classes_are_class_sets():
    pytest.importorskip("torch")
    from probly.representation.conformal_set.array import ArrayOneHotConformalSet

    sets = np.array([[True, True, False], [False, False, False]])
    found = uq.from_object(ArrayOneHotConformalSet(sets))
    assert isinstance(found, uq.ClassSets)
    np.testing.assert_array_equal(found.sets, sets)


def test_conformal_intervals_embeddings_and_lists_of_distributions_are_refused():
    torch = pytest.importorskip("torch")
    from probly.representation.conformal_set.array import ArrayIntervalConformalSet
    from probly.representation.distribution.array_categorical import ArrayProbabilityCategoricalDistribution
    from probly.representation.embedding.torch import TorchEmbedding

    with refuses("obj", "class-sets", got="ArrayIntervalConformalSet"):
        uq.from_object(ArrayIntervalConformalSet(np.array([[0.2, 0.8], [0.1, 0.9]])))
    with refuses("obj", "type", got="got TorchEmbedding"):
        uq.from_object(TorchEmbedding(torch.rand(4, 3)))
    with refuses("obj", "member-axis", got="got 5 of type ArrayProbabilityCategoricalDistribution"):
        uq.from_object([ArrayProbabilityCategoricalDistribution(rows(4, 3))] * 5)
