"""Pretrained networks as backbones, with a stand-in for torchvision."""

from urllib.error import URLError

import numpy as np
import pytest
from tests.refusals import refuses

torch = pytest.importorskip("torch")

from uqassay.lab.methods import build_method  # noqa: E402
from uqassay.lab.papers.credal_calibration.imagenet_networks import MEAN, SD, ImagenetNetwork  # noqa: E402


def images(n=6, channels=3, size=8, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).random((n, channels, size, size), dtype=np.float32))


def fitted(end_to_end=True, head="added", method="snn", **options):
    x = images(40).numpy()
    y = np.arange(40) % 3
    backbone = lambda: ImagenetNetwork("MobileNetV2", head=head, end_to_end=end_to_end)  # noqa: E731
    network = build_method(
        method, backbone=backbone, epochs=2, batch_size=16, standardise=False, parallel="sequential", progress=False,
        optimiser="sgd", momentum=0.99, learning_rate=1e-3, device="cpu", **options,
    )  # fmt: skip
    return network.fit(x, y)


def parameters(network):
    return {name: value[0] for name, value in network.network_.extractor.state_dict().items()}


def test_features_are_the_outputs_for_images_standardised_as_on_imagenet(vision):
    network = ImagenetNetwork("VGG16", head="added", end_to_end=True).eval()
    x = images()
    standard = np.stack([(x[:, c].numpy() - MEAN[c]) / SD[c] for c in range(3)], axis=1)
    with torch.no_grad():
        expected = network.body(torch.from_numpy(standard))
        np.testing.assert_allclose(network(x), expected, atol=1e-5)
    assert expected.shape == (6, 1000)
    assert vision == [("vgg16", "IMAGENET1K_V1")]


@pytest.mark.usefixtures("vision")
def test_grey_images_fill_all_channels():
    network = ImagenetNetwork("MobileNetV2", head="added", end_to_end=True).eval()
    grey = images(channels=1)
    with torch.no_grad():
        expected = network(grey.repeat(1, 3, 1, 1))
        torch.testing.assert_close(network(grey), expected)
        torch.testing.assert_close(network(grey[:, 0]), expected)


@pytest.mark.usefixtures("vision")
@pytest.mark.parametrize(("name", "width"), [("MobileNetV2", 4), ("VGG16", 8)])
def test_a_replaced_head_leaves_what_enters_it(name, width):
    network = ImagenetNetwork(name, head="replaced", end_to_end=True).eval()
    whole = ImagenetNetwork(name, head="added", end_to_end=True).eval()
    with torch.no_grad():
        features = network(images())
        assert features.shape == (6, width)
        torch.testing.assert_close(whole.body.classifier[-1](features), whole(images()))


@pytest.mark.usefixtures("vision")
def test_end_to_end_trains_every_weight_and_frozen_none():
    before = ImagenetNetwork("MobileNetV2", head="added", end_to_end=True).state_dict()
    for end_to_end in (True, False):
        after = parameters(fitted(end_to_end))
        same = [torch.equal(after[name.replace(".", "/")], value) for name, value in before.items()]
        trained = [name for name, equal in zip(before, same, strict=True) if not equal]
        weights = [name for name in before if name.endswith((".weight", ".bias"))]
        if end_to_end:
            assert set(weights) <= set(trained)
            assert "body.features.1.running_mean" in trained
        else:
            assert trained == []  # the statistics of batch norm included


@pytest.mark.usefixtures("vision")
def test_members_of_an_ensemble_begin_alike_and_end_apart():
    members = fitted(method="deep-ensemble", n_members=2).predict_uncertainty(images(5).numpy()).probs
    assert members.shape == (5, 2, 3)
    assert not np.allclose(members[:, 0], members[:, 1])


def test_weights_that_cannot_be_downloaded_are_one_sentence(vision, monkeypatch):
    def offline(name, *, weights):
        raise URLError("Name or service not known")

    import torchvision

    monkeypatch.setattr(torchvision.models, "get_model", offline)
    with refuses("architectures", "unreadable", got="weights of VGG16 cannot be downloaded; Name or service"):
        ImagenetNetwork("VGG16", head="added", end_to_end=True)
