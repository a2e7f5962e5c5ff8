"""Outputs of networks that others have trained on ImageNet: those of torchvision, or of timm. Both packages are optional."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import available_cores
from uqassay._optional import optional_package
from uqassay.bench.config import nearest
from uqassay.errors import InputError
from uqassay.experiments.named_options import check_whole
from uqassay.wording import listed

__all__ = [
    "LIBRARIES",
    "PAPER",
    "Outputs",
    "PretrainedNetwork",
    "chosen_networks",
    "n_asked",
    "network_outputs",
    "version_of",
]

LIBRARIES = ("torchvision", "timm")
ALL, DEFAULT = "all", "default"
PURPOSE = "making predictions of its networks"
# Section 17.2.1, by the names of torchvision. The 77 have 111 sets of weights in torchvision 0.15 and later, and the printed
# intervals of CIFAR10-H imply 111 scorings.
PAPER = (
    *(f"resnet{n}" for n in (18, 34, 50, 101, 152)),
    *("resnext50_32x4d", "resnext101_32x8d", "resnext101_64x4d"),
    *("wide_resnet50_2", "wide_resnet101_2"),
    *(f"vgg{n}{bn}" for n in (11, 13, 16, 19) for bn in ("", "_bn")),
    *(f"efficientnet_b{n}" for n in range(8)),
    *(f"efficientnet_v2_{size}" for size in "sml"),
    *(f"regnet_x_{size}" for size in ("400mf", "800mf", "1_6gf", "3_2gf", "8gf", "16gf", "32gf")),
    *(f"regnet_y_{size}" for size in ("400mf", "800mf", "1_6gf", "3_2gf", "8gf", "16gf", "32gf", "128gf")),
    *("mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large"),
    *(f"shufflenet_v2_x{width}" for width in ("0_5", "1_0", "1_5", "2_0")),
    *(f"densenet{n}" for n in (121, 161, 169, 201)),
    *("vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14"),
    *("swin_t", "swin_s", "swin_b", "swin_v2_t", "swin_v2_s", "swin_v2_b"),
    *(f"convnext_{size}" for size in ("tiny", "small", "base", "large")),
    *(f"mnasnet{width}" for width in ("0_5", "0_75", "1_0", "1_3")),
    *("alexnet", "googlenet", "inception_v3"),
)


@final
@dataclass(frozen=True)
class PretrainedNetwork:
    """A network with the weights that it learnt on ImageNet.

    Attributes
    ----------
    library : {"torchvision", "timm"}
    name : str
        By which the library makes it.
    weights : str
        Name of the set of weights; empty for timm, whose names contain it.
    """

    library: str
    name: str
    weights: str = ""

    @property
    def file(self) -> str:
        """Name of its file, without the ending.

        Examples
        --------
        >>> PretrainedNetwork("torchvision", "resnet50", "IMAGENET1K_V2").file
        'resnet50-IMAGENET1K_V2'
        """
        return "-".join(part for part in (self.name.replace("/", "_"), self.weights) if part)


@final
@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs of a network for n images.

    Attributes
    ----------
    logits : float32 array (n, K)
    features : float32 array (n, d)
        What enters the last linear layer; empty, (n, 0), unless it was asked for.
    """

    logits: NDArray[np.float32]
    features: NDArray[np.float32]


def chosen_networks(library: str, names: str | Sequence[str] | None, weights: str) -> list[PretrainedNetwork]:
    """The networks that are asked for, each with the weights that are asked for.

    Parameters
    ----------
    library : {"torchvision", "timm"}
    names : str or sequence of str, optional
        None is the paper's list, of torchvision alone.
    weights : str
        Of torchvision: "all", "default" (its recommendation), or the name of a set such as "IMAGENET1K_V1". timm has
        its own in its names.

    Raises
    ------
    InputError
        An unknown library, network or set of weights.
    MissingDependencyError
        The library is missing.
    """
    if library not in LIBRARIES:
        raise InputError(
            "library",
            f"must be {listed(LIBRARIES, last='or')}",
            f"got {library!r}",
            "torchvision is the default",
            code="choice",
        )
    asked = [names] if isinstance(names, str) else list(PAPER if names is None else names)
    package = _package(library)
    known = set(package.list_models(module=package) if library == "torchvision" else package.list_models())
    if library == "timm" and names is None:
        raise InputError("networks", "must be named for timm", "got none", "name one or several", code="missing")
    found = []
    for name in dict.fromkeys(asked):
        if name.partition(".")[0] not in known:
            raise InputError(
                "networks",
                f"must be networks of {library}",
                f"got {name!r}",
                nearest(name, sorted(known)),
                code="choice",
            )
        sets = _sets_of_weights(package, name, weights) if library == "torchvision" else [""]
        found += [PretrainedNetwork(library, name, one) for one in sets]
    return found


def n_asked(names: str | Sequence[str] | None) -> int:
    """Number of networks that are asked for, by name; each may have several sets of weights."""
    return 1 if isinstance(names, str) else len(PAPER if names is None else names)


def network_outputs(
    network: PretrainedNetwork,
    load: Callable[[int], Any],
    n: int,
    *,
    batch_size: int = 64,
    device: str = "auto",
    with_features: bool = False,
) -> Outputs:
    """Outputs of a network for n images, each prepared as its weights require.

    Parameters
    ----------
    network : PretrainedNetwork
    load : callable
        Number of an image → the image, of PIL, in RGB.
    n : int
    batch_size : int
    device : str
        "auto", "cpu", "cuda", …
    with_features : bool
        Whether to keep what enters the last linear layer.

    Raises
    ------
    InputError
        Weights that cannot be downloaded; a network without a linear layer, if its features are asked for.
    MissingDependencyError
        The library or PyTorch is missing.
    """
    check_whole(1, batch_size=batch_size)
    torch = optional_package("torch", "torch", PURPOSE)
    from uqassay.methods.devices import chosen_device

    place = chosen_device(device)
    model, prepare = _opened(network)
    model.to(place).eval()
    logits, features = [], []
    with (
        _entering_last_layer(model, torch, network, wanted=with_features) as entered,
        torch.inference_mode(),
        ThreadPoolExecutor(available_cores()) as threads,
    ):
        for start in range(0, n, batch_size):
            rows = range(start, min(start + batch_size, n))
            images = list(threads.map(lambda i: prepare(load(i)), rows))
            logits.append(model(torch.stack(images).to(place)).float().cpu().numpy())
            features += [part.flatten(1).float().cpu().numpy() for part in entered]
            entered.clear()
    kept = np.concatenate(features) if features else np.empty((n, 0), dtype=np.float32)
    return Outputs(np.concatenate(logits), kept)


def version_of(library: str) -> str:
    """Version of a library, for the key of what it made."""
    return str(getattr(optional_package(library, _extra(library), PURPOSE), "__version__", ""))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _extra(library: str) -> str:
    return "vision" if library == "torchvision" else "timm"


def _package(library: str) -> Any:
    return optional_package("torchvision.models" if library == "torchvision" else library, _extra(library), PURPOSE)


def _sets_of_weights(package: Any, name: str, weights: str) -> list[str]:
    """Names of the sets of weights of a network of torchvision that are asked for."""
    known = package.get_model_weights(name)
    every = [one.name for one in known]
    if weights == ALL:
        return every
    if weights == DEFAULT:
        return [str(known.DEFAULT.name)]
    if weights not in every:
        raise InputError(
            "weights",
            f"must be {ALL}, {DEFAULT} or a set that every network has",
            f"got {weights!r}, and {name} has {listed(every)}",
            f"{ALL} is the default",
            code="choice",
        )
    return [weights]


def _opened(network: PretrainedNetwork) -> tuple[Any, Callable[[Any], Any]]:
    """The network, and the function that prepares an image for it."""
    package = _package(network.library)
    try:
        if network.library == "torchvision":
            chosen = package.get_model_weights(network.name)[network.weights]
            return package.get_model(network.name, weights=chosen), chosen.transforms()
        model = package.create_model(network.name, pretrained=True)
    except OSError as problem:  # no network
        raise InputError(
            "networks",
            f"the weights of {network.file} cannot be downloaded",
            " ".join(str(getattr(problem, "reason", problem)).split())[:200],
            "run it where they can be, or put them into the cache folder of PyTorch",
            code="unreadable",
        ) from problem
    data = optional_package("timm.data", "timm", PURPOSE)
    return model, data.create_transform(**data.resolve_model_data_config(model), is_training=False)


@contextmanager
def _entering_last_layer(model: Any, torch: Any, network: PretrainedNetwork, *, wanted: bool) -> Any:
    """A list that takes what enters the last linear layer in every pass."""
    entered: list[Any] = []
    if not wanted:
        yield entered
        return
    linear = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    if not linear:
        raise InputError(
            "networks",
            "must end in a linear layer, whose input is the features",
            f"{network.file} has none",
            "leave it out",
            code="shape",
        )
    handle = linear[-1].register_forward_pre_hook(lambda _, given: entered.append(given[0]))
    try:
        yield entered
    finally:
        handle.remove()
