"""Classifiers of messages into negative and positive: own ones by tf-idf, and those of Hugging Face transformers (optional)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from uqassay._optional import optional_package
from uqassay.datasets.label_distributions import OASST2_CATEGORIES, OASST2_POSITIVE
from uqassay.errors import InputError
from uqassay.experiments.named_options import check_whole
from uqassay.wording import listed

__all__ = [
    "OWN",
    "ZERO_SHOT",
    "TfIdfSettings",
    "chosen_classifiers",
    "tf_idf_probs",
    "transformer_probs",
    "transformers_version",
]

Floats = NDArray[np.float64]

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
    """Settings of an own classifier: tf-idf of n-grams, then logistic regression.

    Attributes
    ----------
    analyzer : {"word", "char_wb"}
        As of scikit-learn's `TfidfVectorizer`: words, or characters inside words.
    ngrams : tuple of two int
        Least and greatest length.
    inverse_penalty : float
        C of scikit-learn's `LogisticRegression`.
    """

    analyzer: str
    ngrams: tuple[int, int]
    inverse_penalty: float


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

    Raises
    ------
    InputError
        No name, or something else.

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
            raise InputError(
                "classifiers",
                "must be names, or a dict with a list of languages for each name",
                f"got {name!r}" + ("" if right else f" with {languages!r}"),
                f"such as {' or '.join(GROUPS)}",
                code="type",
            )
        if name in GROUPS:
            found |= {one: tuple(languages or known) for one, known in GROUPS[name].items()}
        else:
            found[name] = tuple(ZERO_SHOT.get(name, ()) if languages is None else languages)
    if not found:
        raise InputError("classifiers", "must be one or more names", "got none", "leave it out", code="empty")
    return found


def tf_idf_probs(settings: TfIdfSettings, texts: Sequence[str], votes: Floats, new_texts: Sequence[str]) -> Floats:
    """Probabilities of the classes of new texts, ``(m, 2)``, by logistic regression on tf-idf.

    Parameters
    ----------
    settings : TfIdfSettings
    texts : sequence of n str
        For training.
    votes : array (n, 2)
        Their label distributions. Each text counts for both classes with its shares, so that the fit minimises the log loss of
        the distribution.
    new_texts : sequence of m str

    Raises
    ------
    InputError
        Training texts of one class, or without any n-gram.
    MissingDependencyError
        Scikit-learn is missing.
    """
    texts_of = optional_package("sklearn.feature_extraction.text", "text", "a tf-idf classifier")
    linear_model = optional_package("sklearn.linear_model", "text", "a tf-idf classifier")
    if not (np.asarray(votes).sum(axis=0) > 0).all():
        raise InputError(
            "messages",
            "of the training part must have ratings of both classes",
            "got ratings of one class",
            "check the positive categories",
            code="range",
        )
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
    batch_size : int
    device : str
        "auto", "cpu", "cuda", …

    Raises
    ------
    InputError
        A model that cannot be loaded, or that has other classes.
    MissingDependencyError
        Transformers or PyTorch is missing.
    """
    check_whole(1, batch_size=batch_size)
    tokenizer, model = _loaded(name)
    torch = optional_package("torch", "text", "a classifier of transformers")
    from uqassay.methods.devices import chosen_device

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
    raise InputError(
        "classifiers",
        "must be models with a class entailment, or with the two classes negative and positive",
        f"{name} has {listed(list(classes))}",
        "choose a model for zero-shot classification or for sentiments",
        code="choice",
    )


def transformers_version() -> str:
    """Version of transformers, for the key of what it made."""
    package = optional_package("transformers", "text", "a classifier of transformers")
    return str(getattr(package, "__version__", ""))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _loaded(name: str) -> tuple[Any, Any]:
    transformers = optional_package(
        "transformers", "text", f"the classifier {name}", otherwise="take the classifiers tf-idf"
    )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        return tokenizer, transformers.AutoModelForSequenceClassification.from_pretrained(name)
    except (OSError, ValueError) as problem:  # no network, no such model, a model of another kind
        raise InputError(
            "classifiers",
            f"{name} cannot be loaded as a sequence classifier",
            " ".join(str(problem).split())[:200],
            "check its name; without a network give the path of its folder, or take tf-idf",
            code="unreadable",
        ) from problem


def _starting(classes: Mapping[str, int], beginning: str) -> int | None:
    """The class whose name begins so."""
    return next((i for label, i in classes.items() if label.startswith(beginning)), None)
