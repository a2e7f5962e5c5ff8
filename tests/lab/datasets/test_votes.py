"""Votes on CIFAR-10H, ReaL and OASST2, from files in their published forms."""

import gzip
import json

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets.votes import (
    OASST2_CATEGORIES,
    OASST2_FILES,
    OASST2_POSITIVE,
    read_cifar10h,
    read_oasst2,
    read_real_labels,
    read_real_scores,
)

# ---- names as the publishers have them, written down here and not taken from the loaders ------------------------------------

# github.com/google-research/reassessed-imagenet, scores.npz: the file has these arrays; README.md calls the first "scores"
REAL_ARRAYS = ["tensor", "info"]
# huggingface.co/datasets/OpenAssistant/oasst2, README.md, "dataset_info: features", and of labels "sequence"
OASST2_COLUMNS = [
    *("message_id", "parent_id", "user_id", "created_date", "text", "role", "lang", "review_count", "review_result"),
    *("deleted", "rank", "synthetic", "model_name", "detoxify", "message_tree_id", "tree_state", "emojis", "labels"),
]
OASST2_LABEL_FIELDS = ["name", "value", "count"]
# the same page, "JSON Example: Message"
OASST2_MESSAGE = """{
    "message_id": "218440fd-5317-4355-91dc-d001416df62b",
    "parent_id": "13592dfb-a6f9-4748-a92c-32b34e239bb4",
    "user_id": "8e95461f-5e94-4d8b-a2fb-d4717ce973e4",
    "text": "It was the winter of 2035, and artificial intelligence (..)",
    "role": "assistant",
    "lang": "en",
    "review_count": 3,
    "review_result": true,
    "deleted": false,
    "rank": 0,
    "synthetic": true,
    "model_name": "oasst-sft-0_3000,max_new_tokens=400 (..)",
    "labels": {
        "spam": { "value": 0.0, "count": 3 },
        "lang_mismatch": { "value": 0.0, "count": 3 },
        "pii": { "value": 0.0, "count": 3 },
        "not_appropriate": { "value": 0.0, "count": 3 },
        "hate_speech": { "value": 0.0, "count": 3 },
        "sexual_content": { "value": 0.0, "count": 3 },
        "quality": { "value": 0.416, "count": 3 },
        "toxicity": { "value": 0.16, "count": 3 },
        "humor": { "value": 0.0, "count": 3 },
        "creativity": { "value": 0.33, "count": 3 },
        "violence": { "value": 0.16, "count": 3 }
    }
}"""
# github.com/LAION-AI/Open-Assistant, TextLabel: the 15 categories that the published messages have
OASST2_LABELS = [
    *("spam", "fails_task", "lang_mismatch", "pii", "not_appropriate", "hate_speech", "sexual_content", "quality"),
    *("toxicity", "humor", "helpfulness", "creativity", "violence", "moral_judgement", "political_content"),
]


def test_the_arrays_of_reals_scores_are_those_of_the_published_file(own_cache):
    values = dict(zip(REAL_ARRAYS, (SCORES, INFO), strict=True))
    save_scores(own_cache, **values)
    assert read_real_scores().votes.shape == (2, 1000)
    for name in REAL_ARRAYS:
        others = {key: value for key, value in values.items() if key != name} | {f"my_{name}": values[name]}
        save_scores(own_cache, **others)
        with refuses("arrays", "missing", source="scores.npz"):
            read_real_scores()


def test_the_message_of_the_publishers_page(own_cache):
    message = json.loads(OASST2_MESSAGE)
    assert set(message["labels"]) <= set(OASST2_LABELS)
    save_messages(own_cache, [json.dumps(message)])
    votes = read_oasst2(file="mine.jsonl.gz")
    assert votes.ids.tolist() == ["218440fd-5317-4355-91dc-d001416df62b"]
    assert (votes.texts[0][:6], votes.languages) == ("It was", ("en",))
    # quality, humor and creativity are positive; of the others toxicity and violence are above 0
    np.testing.assert_allclose(votes.votes, [[3 * (0.16 + 0.16), 3 * (0.416 + 0.0 + 0.33)]])


def test_the_columns_of_the_parts_are_those_of_the_publishers_page(own_cache, needs, monkeypatch):
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    asked = []
    label = pa.struct(zip(OASST2_LABEL_FIELDS, map(pa.list_, (pa.string(), pa.float64(), pa.int32())), strict=True))
    message = json.loads(OASST2_MESSAGE)
    rated = message.pop("labels")
    columns = {name: [str(message.get(name, ""))] for name in OASST2_COLUMNS if name != "labels"}
    fields = [list(rated), [one["value"] for one in rated.values()], [one["count"] for one in rated.values()]]
    columns["labels"] = pa.array([dict(zip(OASST2_LABEL_FIELDS, fields, strict=True))], label)
    (own_cache / "oasst2").mkdir(parents=True)
    pq.write_table(pa.table(columns), own_cache / "oasst2" / "train.parquet")
    read = pq.read_table
    monkeypatch.setattr(pq, "read_table", lambda path, columns: asked.extend(columns) or read(path, columns=columns))
    votes = read_oasst2(part="train")
    assert set(asked) <= set(OASST2_COLUMNS)
    np.testing.assert_allclose(votes.votes, [[3 * (0.16 + 0.16), 3 * (0.416 + 0.0 + 0.33)]])


def test_the_categories_and_the_places_of_the_files():
    assert sorted(OASST2_CATEGORIES) == sorted(OASST2_LABELS)
    assert set(OASST2_POSITIVE) < set(OASST2_LABELS)
    revision = "https://huggingface.co/datasets/OpenAssistant/oasst2/resolve/179dd21fc55192153d94adb0e0ce8f69e222bf75/"
    assert {
        "all": ("2023-11-05_oasst2_ready.messages.jsonl.gz", revision + "2023-11-05_oasst2_ready.messages.jsonl.gz"),
        "train": ("train.parquet", revision + "data/train-00000-of-00001-88ba0162028a73fc.parquet"),
        "validation": ("validation.parquet", revision + "data/validation-00000-of-00001-1deeef95c3248fe0.parquet"),
    } == OASST2_FILES


# ---- CIFAR-10H ---------------------------------------------------------------------------------------------------------------


def save_votes(folder, votes):
    (folder / "cifar-10h").mkdir(parents=True, exist_ok=True)
    np.save(folder / "cifar-10h" / "cifar10h-counts.npy", votes)
    (folder / "cifar-10h" / "cifar10h-counts.npy.checked.json").unlink(missing_ok=True)


def test_cifar_10h_against_the_real_votes(cifar10, own_cache):
    save_votes(own_cache, cifar10["human_counts"])
    votes = read_cifar10h()
    np.testing.assert_array_equal(votes.votes, cifar10["human_counts"])
    np.testing.assert_allclose(votes.probs().sum(axis=1), 1.0, rtol=1e-12)
    agreement = (votes.votes.argmax(axis=1) == cifar10["labels"]).mean()
    assert agreement == pytest.approx(0.992, abs=0.0005)  # as stated with the data
    assert votes.class_names[3] == "cat"


@pytest.mark.parametrize(
    ("votes", "code", "got"),
    [
        (np.ones((9999, 10), int), "shape", r"got int64 \(9999, 10\)"),
        (np.full((10000, 10), 0.1), "range", "smallest row has 1; get the counts, not shares"),
        (np.full((10000, 10), 2), "range", "smallest row has 20"),
        (np.where(np.arange(10) == 0, -1, 9) * np.ones((10000, 1), int), "range", "whole numbers"),
        (np.array([["a"] * 10] * 10000), "shape", "got <U1"),
    ],
)
def test_cifar_10h_that_is_not_what_it_should_be(votes, code, got, own_cache):
    save_votes(own_cache, votes)
    with refuses("votes", code, got=got, source="cifar10h-counts.npy"):
        read_cifar10h()


def save_real(folder, lists):
    (folder / "real").mkdir(parents=True, exist_ok=True)
    (folder / "real" / "real.json").write_text(json.dumps(lists))
    (folder / "real" / "real.json.checked.json").unlink(missing_ok=True)


def test_real_labels(own_cache):
    save_real(own_cache, [[3], [], [999, 0], [7, 8, 9]])
    real = read_real_labels()
    np.testing.assert_array_equal(real.ids, [0, 2, 3])  # the image without a label is left out
    assert real.votes.shape == (3, 1000)
    assert [np.flatnonzero(row).tolist() for row in real.votes] == [[3], [0, 999], [7, 8, 9]]
    np.testing.assert_allclose(real.probs()[2, 7], 1 / 3)


def test_real_labels_in_the_publishers_form(own_cache):
    """README.md of reassessed-imagenet: a list of 50 000 lists, by the images sorted by name; lists can be empty."""
    lists = [[i % 1000] if i % 10 else [] for i in range(50_000)]
    save_real(own_cache, lists)
    real = read_real_labels()
    assert len(real.ids) == 45_000
    assert real.ids[:2].tolist() == [1, 2]
    np.testing.assert_array_equal(real.votes.argmax(axis=1), real.ids % 1000)


@pytest.mark.parametrize("lists", [{"a": 1}, [3], [[1000]], [[-1]], [["3"]], [[True]], [[]], []])
def test_real_labels_that_are_not_what_they_should_be(lists, own_cache):
    save_real(own_cache, lists)
    with refuses("labels", "type", got="0 … 999", source="real.json"):
        read_real_labels()


PAIRS = [("02", "5"), ("01", "7"), ("02", "6"), ("03", "1")]
INFO = np.array([[f"ILSVRC2012_val_000000{image}.JPEG", label] for image, label in PAIRS])
SCORES = np.array([0.9, 0.4, 0.3, 0.0])


def save_scores(folder, **arrays):
    """`scores.npz` of google-research/reassessed-imagenet: `tensor` has the scores, `info` the (fname, label) pairs."""
    path = folder / "real" / "scores.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name("scores.npz.checked.json").unlink(missing_ok=True)
    np.savez_compressed(path, **arrays)


def records(kind):
    return np.array([(name, int(label)) for name, label in INFO.tolist()], dtype=[("fname", kind), ("label", "<i8")])


@pytest.mark.parametrize("info", [INFO, INFO.astype(bytes), records("U28"), records("S28")])
@pytest.mark.parametrize("key", ["tensor", "scores"])
def test_real_scores_are_normalised_by_image(key, info, own_cache):
    save_scores(own_cache, **{key: SCORES, "info": info})
    real = read_real_scores()
    assert real.ids.tolist() == ["ILSVRC2012_val_00000001.JPEG", "ILSVRC2012_val_00000002.JPEG"]
    np.testing.assert_allclose(real.probs()[1, [5, 6]], [0.75, 0.25])
    np.testing.assert_allclose(real.probs()[0, 7], 1.0)


@pytest.mark.parametrize(
    ("arrays", "parameter", "code", "got"),
    [
        ({"values": SCORES, "info": INFO}, "arrays", "missing", "got values and info"),
        ({"tensor": SCORES}, "arrays", "missing", "got tensor"),
        ({"tensor": -SCORES, "info": INFO}, "arrays", "shape", "scores outside"),
        ({"tensor": SCORES[:3], "info": INFO}, "arrays", "shape", r"got shapes \(3,\) and \(4, 2\)"),
        ({"tensor": SCORES, "info": INFO.T}, "info", "shape", r"\(2, 4\)"),
        ({"tensor": SCORES, "info": np.zeros((4, 2))}, "info", "shape", "float64"),
        ({"tensor": SCORES[:2], "info": np.array([["a", "5"], ["b", "1000"]])}, "labels", "range", "got 5 … 1000"),
        (
            {"tensor": SCORES, "info": INFO.astype(object)},
            "info",
            "pickle",
            r"info=np.array\(d\['info'\].tolist\(\), str",
        ),
    ],
)
def test_real_scores_that_are_not_what_they_should_be(arrays, parameter, code, got, own_cache):
    save_scores(own_cache, **arrays)
    with refuses(parameter, code, got=got, source="scores.npz"):
        read_real_scores()


def test_the_conversion_that_the_refusal_names_is_readable(own_cache):
    save_scores(own_cache, tensor=SCORES, info=INFO.astype(object))
    f = own_cache / "real" / "scores.npz"
    with np.load(f, allow_pickle=True) as d:
        tensor, info = d["tensor"], np.array(d["info"].tolist(), str)
    save_scores(own_cache, tensor=tensor, info=info)
    assert read_real_scores().votes.shape == (2, 1000)


@pytest.mark.slow
def test_real_scores_of_the_published_size(own_cache):
    n = 184_962
    images, labels = np.arange(n) // 4 % 50_000, np.arange(n) % 1000
    info = np.array(
        [[f"ILSVRC2012_val_{i + 1:08d}.JPEG", str(k)] for i, k in zip(images.tolist(), labels.tolist(), strict=True)]
    )
    save_scores(own_cache, tensor=np.full(n, 0.5), info=info)
    real = read_real_scores()
    assert real.votes.shape == (46_241, 1000)
    assert real.votes.sum() == pytest.approx(n / 2)


def save_messages(folder, lines):
    (folder / "oasst2").mkdir(parents=True, exist_ok=True)
    path = folder / "oasst2" / "mine.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    path.with_name("mine.jsonl.gz.checked.json").unlink(missing_ok=True)


MESSAGES = [  # as the publisher's data card shows them
    {
        "message_id": "m1",
        "text": "Wie alt ist die Erde?",
        "role": "prompter",
        "lang": "de",
        "labels": {"spam": {"value": 0.5, "count": 4}, "quality": {"value": 0.75, "count": 8}},
    },
    {"message_id": "m2", "text": "b", "lang": "en", "labels": {"toxicity": {"value": 0.0, "count": 3}}},
    {"message_id": "m3", "text": "c", "lang": "en", "labels": None},
    {
        "message_id": "m4",
        "text": "d",
        "lang": "en",
        "labels": {
            "humor": {"value": 1.0, "count": 1},
            "pii": {"value": 0.2, "count": 5},
            "spam": {"value": None, "count": 2},
        },
    },
]


def test_oasst2(own_cache):
    save_messages(own_cache, map(json.dumps, MESSAGES))
    votes = read_oasst2(file="mine.jsonl.gz")
    assert votes.ids.tolist() == ["m1", "m4"]
    assert votes.texts == ("Wie alt ist die Erde?", "d")
    assert votes.languages == ("de", "en")
    np.testing.assert_allclose(votes.votes, [[2.0, 6.0], [1.0, 1.0]])
    np.testing.assert_allclose(votes.probs()[0], [0.25, 0.75])
    np.testing.assert_allclose(read_oasst2(file="mine.jsonl.gz", positive=("spam",)).votes[0], [6.0, 2.0])


def test_the_validation_part_of_oasst2_is_a_table(own_cache, needs):
    """Its columns as on the publisher's data card: labels is a sequence of name, value and count."""
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    label = pa.struct(
        [("name", pa.list_(pa.string())), ("value", pa.list_(pa.float64())), ("count", pa.list_(pa.int32()))]
    )
    columns = {name: [m[name] for m in MESSAGES] for name in ("message_id", "text", "lang")}
    rated = [m["labels"] for m in MESSAGES]
    labels = [
        r and {"name": list(r), "value": [v["value"] for v in r.values()], "count": [v["count"] for v in r.values()]}
        for r in rated
    ]
    columns["message_id"].append("m5")
    columns["text"].append("e")
    columns["lang"].append("en")
    labels.append({"name": None, "value": None, "count": None})
    table = pa.table({**columns, "deleted": [False] * 5, "labels": pa.array(labels, label)})
    (own_cache / "oasst2").mkdir(parents=True)
    pq.write_table(table, own_cache / "oasst2" / "validation.parquet")
    save_messages(own_cache, map(json.dumps, MESSAGES))
    votes, same = read_oasst2(part="validation"), read_oasst2(file="mine.jsonl.gz")
    assert (votes.ids.tolist(), votes.texts, votes.languages) == (same.ids.tolist(), same.texts, same.languages)
    np.testing.assert_array_equal(votes.votes, same.votes)
    with refuses("part", "choice", got="got 'test'"):
        read_oasst2(part="test")


@pytest.mark.parametrize(
    ("lines", "parameter", "code", "got"),
    [
        (['{"message_id": "a"}', "no json"], "line 2", "type", "JSONDecodeError"),
        (['{"message_id": "a", "labels": {"spam": {"value": 2, "count": 1}}}'], "line 1", "type", "spam has value 2.0"),
        (['{"labels": {"spam": {"value": 1, "count": 1}}}'], "line 1", "type", "message_id"),
        (["[1]"], "line 1", "type", "AttributeError"),
        (['{"message_id": "a", "labels": {}}'], "messages", "empty", "none has"),
    ],
)
def test_oasst2_that_is_not_what_it_should_be(lines, parameter, code, got, own_cache):
    save_messages(own_cache, lines)
    with refuses(parameter, code, got=got, source="mine.jsonl.gz"):
        read_oasst2(file="mine.jsonl.gz")


def test_oasst2_truncated_and_missing(own_cache):
    save_messages(own_cache, ['{"message_id": "a"}'] * 500)
    path = own_cache / "oasst2" / "mine.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with refuses("file", "unreadable", source="mine.jsonl.gz"):
        read_oasst2(file="mine.jsonl.gz")
    with refuses("oasst2/other.jsonl.gz", "missing"):
        read_oasst2(file="other.jsonl.gz")
