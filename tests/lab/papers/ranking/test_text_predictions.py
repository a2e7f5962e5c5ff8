"""From messages in OASST2's form to the table: own classifiers that learn here, and a stand-in of transformers."""

import json

import numpy as np
import pytest
from tests.lab.papers.ranking import stand_ins
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli import main
from uqassay.lab.datasets.votes import read_oasst2
from uqassay.lab.papers.ranking.classifiers import OWN
from uqassay.lab.papers.ranking.human_labels import reproduce_ranking_oasst2
from uqassay.lab.papers.ranking.human_labels import steps_of_ranking_oasst2 as steps_of_ranking_cifar10h
from uqassay.lab.papers.ranking.made_predictions import make_text_predictions

WORDS = {"good": ("clear", "thanks", "helpful", "nice"), "bad": ("spam", "stupid", "hate", "wrong")}
NEUTRAL = ("the", "and", "question", "answer", "of", "model")


def save_part(path, n, seed):
    """A part of OASST2 with its published columns; texts of a few words, and ratings that follow the words in part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    label = pa.struct(
        [("name", pa.list_(pa.string())), ("value", pa.list_(pa.float64())), ("count", pa.list_(pa.int32()))]
    )
    texts, labels = [], []
    for p in rng.beta(1.0, 1.0, n).tolist():
        kinds = rng.random(4) < p
        texts.append(" ".join([*rng.choice(NEUTRAL, 4), *(rng.choice(WORDS["good" if k else "bad"]) for k in kinds)]))
        value = float(np.clip(p + 0.2 * rng.normal(), 0.0, 1.0))
        labels.append({"name": ["toxicity", "quality"], "value": [1 - value, value], "count": [3, 3]})
    columns = {
        "message_id": [f"s{seed}-m{i}" for i in range(n)],
        "text": texts,
        "lang": ["en" if i % 3 else "es" for i in range(n)],
        "labels": pa.array(labels, label),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def messages(own_cache, needs):
    needs("pyarrow", "sklearn")
    save_part(own_cache / "oasst2" / "train.parquet", 400, 0)
    save_part(own_cache / "oasst2" / "validation.parquet", 200, 1)
    return read_oasst2(part="validation")


def test_own_classifiers_from_text_to_table(messages, tmp_path):
    said: list[str] = []
    found = reproduce_ranking_oasst2(data=tmp_path / "models", classifiers="tf-idf", progress=said.append)
    assert [line for line in said if line.startswith("making")] == [f"making {name}.npz" for name in OWN]
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    text = found.summary()
    assert "4 models replace the paper's 69 zero-shot classifiers" in text
    assert "they learnt from 400 messages of the training part" in text
    prediction = uq.load(tmp_path / "models" / "tf-idf-words.npz")
    assert prediction.ids.tolist() == messages.ids.tolist()
    accuracy = (prediction.labels() == messages.votes.argmax(axis=1)).mean()
    assert accuracy > 0.65  # a coin has .5, with a standard error of .035
    said.clear()
    assert reproduce_ranking_oasst2(data=tmp_path / "models", classifiers="tf-idf", progress=said.append) == found
    assert said[:4] == [f"{name}.npz is there" for name in OWN]
    assert steps_of_ranking_cifar10h(data=tmp_path / "models", classifiers="tf-idf") == 6 * 4 + 4


def test_the_command(messages, tmp_path, capsys):
    folder = str(tmp_path / "models")
    assert main(["reproduce", "ranking-oasst2", "--data", folder, "--set", "classifiers=tf-idf", "--json"]) == 0
    assert [cell["paper"] for cell in json.loads(capsys.readouterr().out)] == [82.5, 71.69, 74.01, 98.88]


def test_messages_in_the_languages_of_a_classifier(monkeypatch, messages, tmp_path, needs):
    needs("torch")
    stand_ins.transformers(monkeypatch, ["contradiction", "neutral", "entailment"])
    notes = make_text_predictions(tmp_path, messages, ["zero-shot", "tf-idf-words"], device="cpu")
    assert notes[0].startswith("classifiers of transformers 4.0: facebook/bart-large-mnli, valhalla/")
    assert notes[1].startswith("own classifiers, tf-idf and logistic regression: tf-idf-words;")
    prediction = uq.load(tmp_path / "facebook--bart-large-mnli.npz")
    assert prediction.ids.tolist() == [
        m for m, lang in zip(messages.ids, messages.languages, strict=True) if lang == "en"
    ]
    assert uq.load(tmp_path / "tf-idf-words.npz").n_instances == 200
    assert len(list(tmp_path.glob("*.npz"))) == 6
    with refuses("classifiers", "empty", got="got fi"):
        make_text_predictions(tmp_path, messages, {"facebook/bart-large-mnli": ["fi"]})


def test_other_training_messages_make_the_files_again(messages, own_cache, tmp_path):
    make_text_predictions(tmp_path, messages, "tf-idf-words")
    before = (tmp_path / "tf-idf-words.npz").read_bytes()
    path = own_cache / "oasst2" / "train.parquet"
    save_part(path, 300, 5)
    path.with_name("train.parquet.checked.json").unlink()
    notes = make_text_predictions(tmp_path, messages, "tf-idf-words")
    assert notes[-1].endswith("tf-idf-words.npz")
    assert (tmp_path / "tf-idf-words.npz").read_bytes() != before


def test_a_missing_training_part(messages, own_cache, tmp_path, monkeypatch):
    import uqassay.lab.datasets.votes as source

    (own_cache / "oasst2" / "train.parquet").unlink()
    monkeypatch.setitem(source.OASST2_FILES, "train", ("train.parquet", None))
    with refuses("oasst2/train.parquet", "missing"):
        make_text_predictions(tmp_path, messages, "tf-idf-words")
