"""Networks of torchvision and timm, by stand-ins with the interfaces that these packages document."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from tests.lab.papers.ranking import stand_ins
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.papers.ranking.classifiers import (
    PAPER,
    PretrainedNetwork,
    chosen_networks,
    network_outputs,
    version_of,
)


@pytest.fixture
def images(needs):
    needs("torch", "PIL")
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (7, 8, 8, 3), dtype=np.uint8)
    return [Image.fromarray(one) for one in pixels]


def test_the_papers_list():
    """Section 17.2.1 has 77 names in 14 families."""
    assert len(PAPER) == len(set(PAPER)) == 77
    assert {"resnet18", "vgg19_bn", "efficientnet_b7", "regnet_y_128gf", "mnasnet0_5", "inception_v3"} <= set(PAPER)


def test_sets_of_weights(monkeypatch):
    stand_ins.torchvision(monkeypatch)
    names = ["resnet18", "resnet50"]
    every = chosen_networks("torchvision", names, "all")
    assert [one.file for one in every] == ["resnet18-IMAGENET1K_V1", "resnet50-IMAGENET1K_V1", "resnet50-IMAGENET1K_V2"]
    default = chosen_networks("torchvision", names, "default")
    assert [one.weights for one in default] == ["IMAGENET1K_V1", "IMAGENET1K_V2"]
    assert chosen_networks("torchvision", "resnet50", "IMAGENET1K_V1") == [every[1]]
    with refuses("weights", "choice", got="got 'IMAGENET1K_V2', and resnet18 has IMAGENET1K_V1"):
        chosen_networks("torchvision", names, "IMAGENET1K_V2")
    with refuses("networks", "choice", got="got 'resnet15'.*resnet50"):
        chosen_networks("torchvision", "resnet15", "all")
    with refuses("networks", "choice", got="got 'resnet34'"):
        chosen_networks("torchvision", None, "all")  # the paper's list, of which the stand-in has two
    with refuses("library", "choice", got="got 'keras'"):
        chosen_networks("keras", None, "all")
    assert version_of("torchvision") == "0.0"


def test_outputs_are_those_of_the_network_in_evaluation_mode(monkeypatch, images):
    import torch

    made = stand_ins.torchvision(monkeypatch)
    network = PretrainedNetwork("torchvision", "resnet50", "IMAGENET1K_V2")
    found = network_outputs(network, images.__getitem__, len(images), batch_size=3, with_features=True, device="cpu")
    assert made == [("resnet50", "IMAGENET1K_V2")]
    x = torch.stack([stand_ins.prepared(image) for image in images])
    same = stand_ins.network(seed=11).eval()
    with torch.inference_mode():
        np.testing.assert_allclose(found.logits, same(x).numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found.features, same[:3](x).numpy(), rtol=1e-5, atol=1e-6)
    assert found.logits.dtype == np.float32
    assert network_outputs(network, images.__getitem__, 2, device="cpu").features.shape == (2, 0)


def test_timm(monkeypatch, images):
    made = stand_ins.timm(monkeypatch)
    (network,) = chosen_networks("timm", "resnet50.a1_in1k", "all")
    assert network.file == "resnet50.a1_in1k"
    assert network_outputs(network, images.__getitem__, 7, device="cpu").logits.shape == (7, 1000)
    assert made == ["resnet50.a1_in1k"]
    with refuses("networks", "missing", got="named for timm"):
        chosen_networks("timm", None, "all")


def test_weights_that_cannot_be_downloaded(monkeypatch, images):
    from urllib.error import URLError

    stand_ins.torchvision(monkeypatch)

    def no_network(name, *, weights):
        raise URLError("Temporary failure in name resolution")

    monkeypatch.setattr(sys.modules["torchvision.models"], "get_model", no_network)
    with refuses("networks", "unreadable", got="resnet18-IMAGENET1K_V1.*Temporary failure in name resolution"):
        network_outputs(PretrainedNetwork("torchvision", "resnet18", "IMAGENET1K_V1"), images.__getitem__, 7)


@pytest.mark.parametrize(("library", "extra"), [("torchvision", "vision"), ("timm", "timm")])
def test_a_missing_library_is_named_with_its_extra(library, extra):
    if find_spec(library) is not None:
        pytest.skip(f"{library} is installed")
    with refuses(library, "package", got=rf"pip install '\.\[{extra}\]'", error=MissingDependencyError):
        chosen_networks(library, "resnet18", "all")


def test_a_network_without_a_linear_layer_has_no_features(monkeypatch, images):
    import torch

    stand_ins.timm(monkeypatch)
    monkeypatch.setattr(sys.modules["timm"], "create_model", lambda name, *, pretrained: torch.nn.Identity())
    with refuses("networks", "shape", got="resnet50 has none"):
        network_outputs(PretrainedNetwork("timm", "resnet50"), images.__getitem__, 7, with_features=True, device="cpu")
