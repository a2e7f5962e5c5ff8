"""Prediction files of text classifiers for the messages of OASST2, as `ranking-oasst2` reads them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from uqassay._optional import optional_package
from uqassay.bench.source_code import code_version
from uqassay.datasets.label_distributions import LabelDistributions, read_oasst2
from uqassay.errors import InputError
from uqassay.experiments.ranking.made_files import FileJob, digest_of, make_missing, place_of
from uqassay.experiments.ranking.text_classifiers import (
    OWN,
    chosen_classifiers,
    tf_idf_probs,
    transformer_probs,
    transformers_version,
)
from uqassay.wording import count, listed

__all__ = ["make_text_predictions"]

FUNCTION = "uqassay.experiments.ranking.text_predictions:make_text_predictions"


def make_text_predictions(
    folder: Path,
    messages: LabelDistributions,
    classifiers: str | Sequence[str] | Mapping[str, Sequence[str]],
    *,
    batch_size: int = 32,
    device: str = "auto",
    say: Callable[[str], None] = lambda step: None,
) -> list[str]:
    """Write NAME.npz (``probs``, ``ids``) for each classifier, with the messages in its languages.

    Parameters
    ----------
    folder : Path
        Takes the files; those that are there from the same code, classifier and messages are kept.
    messages : LabelDistributions
        Of the validation part. Own classifiers learn from the training part, which `read_oasst2` then reads.
    classifiers : str, sequence of str, or dict
        As in `chosen_classifiers`.
    batch_size, device
        As in `transformer_probs`.
    say : callable
        Called with a line of text for every classifier.

    Returns
    -------
    list of str
        Notes.

    Raises
    ------
    InputError
        A classifier that cannot be loaded, or knows no language of the messages.
    MissingDependencyError
        Transformers, PyTorch, scikit-learn or pyarrow is missing.
    """
    chosen = chosen_classifiers(classifiers)
    place_of(folder)
    code = code_version(FUNCTION)

    @cache
    def training() -> LabelDistributions:
        return read_oasst2(part="train")

    @cache
    def training_facts() -> list[Any]:
        return [digest_of(training().texts), digest_of([str(row) for row in training().votes.tolist()])]

    def job(name: str, languages: tuple[str, ...]) -> FileJob:
        rows = [i for i, one in enumerate(messages.languages) if not languages or one in languages]
        if not rows:
            raise InputError(
                "classifiers",
                f"{name} must know a language of the messages",
                f"got {listed(languages)}",
                "name the languages as the data do, such as en",
                code="empty",
            )
        texts, ids = [messages.texts[i] for i in rows], messages.ids[rows]
        facts: dict[str, Any] = {"code": code, "name": name, "texts": digest_of(texts), "ids": digest_of(ids.tolist())}
        if name in OWN:
            settings = OWN[name]
            facts |= asdict(settings) | {"training": training_facts(), "version": _version_of_sklearn()}

            def make() -> dict[str, Any]:
                return {"probs": tf_idf_probs(settings, training().texts, training().votes, texts), "ids": ids}

        else:
            facts |= {"version": transformers_version()}

            def make() -> dict[str, Any]:
                return {"probs": transformer_probs(name, texts, batch_size=batch_size, device=device), "ids": ids}

        return FileJob(name.strip("/").replace("/", "--"), facts, make)

    notes = make_missing(folder, [job(name, languages) for name, languages in chosen.items()], say)
    own = [name for name in chosen if name in OWN]
    if own:
        learnt = f"{count(len(training().texts))} messages of the training part, each counted for both classes by its ratings"
        notes.insert(0, f"own classifiers, tf-idf and logistic regression: {listed(own)}; they learnt from {learnt}")
    others = [name for name in chosen if name not in OWN]
    if others:
        notes.insert(
            0, f"classifiers of transformers {transformers_version()}: {listed(others)}; texts are cut at 512 tokens"
        )
    return notes


def _version_of_sklearn() -> str:
    return str(optional_package("sklearn", "text", "a tf-idf classifier").__version__)
