"""Prediction files that are made once, and again for other models or instances; ILSVRC 2012, ReaL, OASST2 as published."""

import json
import sys

import numpy as np
import pytest
from scipy.io import savemat
from tests.lab.papers.ranking import stand_ins
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli import main
from uqassay.lab.datasets.votes import read_oasst2
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.ranking.classifiers import OWN
from uqassay.lab.papers.ranking.human_labels import (
    reproduce_ranking_imagenet_real,
    reproduce_ranking_oasst2,
    steps_of_ranking_imagenet_real,
    steps_of_ranking_oasst2,
)
from uqassay.lab.papers.ranking.made_predictions import (
    FileJob,
    NetworkOptions,
    digest_of,
    image_number,
    labels_of,
    make_image_predictions,
    make_missing,
    make_text_predictions,
    place_of,
    validation_images,
)

IDS = np.array(["a", "b"])


def job(name, made, **facts):
    def make():
        made.append(name)
        return {"logits": np.array([[0.0, 1.0], [2.0, 0.0]]), "ids": IDS}

    return FileJob(name, {"code": "x", **facts}, make)


def test_files_are_made_once_and_again_when_something_changes(tmp_path):
    made, said = [], []
    assert make_missing(tmp_path, [job("one", made), job("two", made)], said.append) == []
    assert made == ["one", "two"]
    assert said == ["making one.npz", "making two.npz"]
    prediction = uq.load(tmp_path / "one.npz")
    np.testing.assert_allclose(prediction.mean_probs()[0], [1 / (1 + np.e), np.e / (1 + np.e)])
    assert prediction.ids.tolist() == ["a", "b"]
    assert make_missing(tmp_path, [job("one", made), job("three", made)], said.append) == []
    assert made == ["one", "two", "three"]
    (note,) = make_missing(tmp_path, [job("one", made, code="y"), job("two", made)], said.append)
    assert made == ["one", "two", "three", "one"]
    assert note.endswith("one.npz")


def test_a_file_of_the_user_is_used_as_it_is(tmp_path):
    uq.save(uq.Point([[0.5, 0.5], [0.1, 0.9]], ids=IDS), tmp_path / "one.npz")
    before, made = (tmp_path / "one.npz").read_bytes(), []
    (note,) = make_missing(tmp_path, [job("one", made)], lambda step: None)
    assert note == "not made here and used as they are: one.npz"
    assert not made
    assert (tmp_path / "one.npz").read_bytes() == before


def test_an_interrupted_file_leaves_nothing(tmp_path):
    def stop():
        raise KeyboardInterrupt

    made = []
    with pytest.raises(KeyboardInterrupt):
        make_missing(tmp_path, [job("one", made), FileJob("two", {}, stop)], lambda step: None)
    assert [path.name for path in tmp_path.iterdir()] == ["one.npz"]
    (tmp_path / "three.npz").write_bytes(b"damaged")
    with refuses("file", "unreadable", source="three.npz"):
        make_missing(tmp_path, [job("three", made)], lambda step: None)


def test_digests_and_folders(tmp_path):
    assert digest_of(["a", "bc"]) != digest_of(["ab", "c"])
    assert place_of(tmp_path / "new").is_dir()
    assert place_of(tmp_path) == tmp_path
    with refuses("data", "unwritable", got="No such file"):
        place_of(tmp_path / "a" / "b")


# -- From images as published to the table, with stand-ins in place of the networks' packages.


N = 40
OPTIONS = NetworkOptions("torchvision", ["resnet18", "resnet50"], device="cpu", batch_size=16)


@pytest.fixture
def images(tmp_path, needs):
    """Forty validation images under their published names; five are grey, as some of ImageNet are."""
    needs("PIL")
    from PIL import Image

    rng = np.random.default_rng(0)
    (tmp_path / "val").mkdir()
    for i in range(N):
        pixels = rng.integers(0, 256, (9, 8) if i % 8 == 0 else (8, 9, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "val" / f"ILSVRC2012_val_{i + 1:08d}.JPEG")
    return tmp_path / "val"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "models"
    place.mkdir()
    np.save(place / "labels.npy", np.random.default_rng(1).integers(1000, size=50_000))
    return place


def test_files_hold_the_outputs_by_name_and_are_made_once(monkeypatch, images, folder):
    made, said = stand_ins.torchvision(monkeypatch), []
    notes = make_image_predictions(folder, images, OPTIONS, say=said.append)
    assert notes == [
        "predictions made here: 3 models of the networks asked for of torchvision 0.0, all weights, on 40 images"
    ]
    assert len(made) == len(said) == 3
    prediction = uq.load(folder / "resnet50-IMAGENET1K_V2.npz")
    assert prediction.probs.shape == (N, 1000)
    assert prediction.ids.tolist() == [f"ILSVRC2012_val_{i + 1:08d}.JPEG" for i in range(N)]
    make_image_predictions(folder, images, OPTIONS)
    assert len(made) == 3
    (images / "ILSVRC2012_val_00000040.JPEG").unlink()
    notes = make_image_predictions(folder, images, OPTIONS)
    assert len(made) == 6
    assert notes[1].startswith("made again")
    assert uq.load(folder / "resnet18-IMAGENET1K_V1.npz").n_instances == N - 1


def test_from_images_to_the_table(monkeypatch, images, folder, own_cache):
    sets = {"resnet18": ["A", "B"], "resnet50": ["A", "B", "C"]}
    stand_ins.torchvision(monkeypatch, sets)
    make_image_predictions(folder, images, OPTIONS)
    rng = np.random.default_rng(2)
    chosen = np.stack([uq.load(path).labels() for path in sorted(folder.glob("*.npz"))], axis=1)  # (n, 5)
    scores = rng.uniform(0.1, 1.0, chosen.shape)
    info = [(f"ILSVRC2012_val_{i + 1:08d}.JPEG", str(k)) for i in range(N) for k in chosen[i].tolist()]
    (own_cache / "real").mkdir(parents=True)
    np.savez(own_cache / "real" / "scores.npz", tensor=scores.ravel(), info=np.array(info))
    labels = np.load(folder / "labels.npy")
    labels[:N] = chosen[np.arange(N), scores.argmax(axis=1)]
    np.save(folder / "labels.npy", labels)
    options = {"data": folder, "images": images, "networks": list(sets), "device": "cpu", "batch_size": 16}
    found = reproduce_ranking_imagenet_real(**options)
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    text = found.summary()
    assert "5 models replace the paper's 114 networks of torchvision" in text
    assert "predictions made here: 5 models" in text
    assert steps_of_ranking_imagenet_real(**options) == 6 * 5 + 2
    assert steps_of_ranking_imagenet_real(data=folder, images=images) == 6 * 5 + 77


def test_labels_are_needed_and_come_from_the_kit(monkeypatch, images, tmp_path):

    stand_ins.torchvision(monkeypatch)
    with refuses("devkit", "missing", got="no labels.npy"):
        make_image_predictions(tmp_path / "models", images, OPTIONS)
    save_devkit(tmp_path, [f"n{i:08d}" for i in range(1000, 0, -1)], np.arange(50_000) % 1000 + 1)
    make_image_predictions(tmp_path / "models", images, OPTIONS, devkit=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "models" / "labels.npy")[:3], [999, 998, 997])


def test_networks_of_other_classes_are_refused(monkeypatch, images, folder):
    stand_ins.timm(monkeypatch, n_classes=10)
    with refuses("networks", "shape", got="resnet50 has 10"):
        make_image_predictions(folder, images, NetworkOptions("timm", "resnet50", device="cpu"))
    assert not list(folder.glob("*.npz"))


def test_a_broken_image_is_named(monkeypatch, images, folder):
    stand_ins.torchvision(monkeypatch)
    (images / "ILSVRC2012_val_00000003.JPEG").write_bytes(b"no image")
    with refuses("file", "unreadable", source="ILSVRC2012_val_00000003.JPEG"):
        make_image_predictions(folder, images, OPTIONS)


def test_a_missing_library(images, folder):
    from uqassay.errors import MissingDependencyError

    if "torchvision" in sys.modules:
        pytest.skip("torchvision is installed")
    with refuses("torchvision", "package", got=r"pip install .torchvision>=", error=MissingDependencyError):
        reproduce_ranking_imagenet_real(data=folder, images=images)


# -- files of ILSVRC 2012 ----------------------------------------------------------------------------------------------


# Names of the publisher: ILSVRC2012_img_val.tar has ILSVRC2012_val_00000001.JPEG … 00050000.JPEG; ILSVRC2012_devkit_t12.tar.gz
# has data/meta.mat (a struct array "synsets") and data/ILSVRC2012_validation_ground_truth.txt, as the kit's readme.txt says
FIRST, LAST = "ILSVRC2012_val_00000001.JPEG", "ILSVRC2012_val_00050000.JPEG"
META, TRUTH, ARRAY = "meta.mat", "ILSVRC2012_validation_ground_truth.txt", "synsets"
FIELDS = ["ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children", "wordnet_height", "num_train_images"]


def save_devkit(folder, wnids, numbers):
    """meta.mat with the fields in the kit's order; after the leaves it has inner nodes, which have children."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    synsets = np.zeros((len(wnids) + 2, 1), dtype=[(field, object) for field in FIELDS])
    for i in range(len(synsets)):
        inner = i >= len(wnids)
        wnid = f"n9999999{i - len(wnids)}" if inner else wnids[i]
        children = np.array([[1.0, 2.0]]) if inner else np.zeros((1, 0))
        synsets[i, 0] = (float(i + 1), wnid, "a, b", "c", float(2 * inner), children, 1.0, 1300.0)
    savemat(folder / "data" / META, {ARRAY: synsets})
    (folder / "data" / TRUTH).write_text("".join(f"{n}\n" for n in numbers))


@pytest.fixture
def wnids():
    """As in the kit, class numbers do not follow the order of the WordNet ids."""
    return [f"n{i:08d}" for i in np.random.default_rng(0).permutation(np.arange(1_440_764, 1_441_764)).tolist()]


def test_numbers_of_images():
    assert [image_number(name) for name in (FIRST, LAST, FIRST.removesuffix(".JPEG"))] == [1, 50_000, 1]
    others = ("ILSVRC2012_val_00050001.JPEG", "ILSVRC2012_val_00000000.JPEG", "n01440764_10026.JPEG", "")
    assert [image_number(name) for name in others] == [None] * 4


def test_images_as_published_and_sorted_into_folders(tmp_path):
    for folder in ("flat", "sorted/n01440764", "sorted/n01443537"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (LAST, FIRST, "n01440764_10026.JPEG"):
        (tmp_path / "flat" / name).write_bytes(b"")
    assert [path.name for path in validation_images(tmp_path / "flat")] == [FIRST, LAST]
    (tmp_path / "sorted" / "n01443537" / FIRST).write_bytes(b"")
    (tmp_path / "sorted" / "n01440764" / LAST).write_bytes(b"")
    assert [path.name for path in validation_images(tmp_path / "sorted")] == [FIRST, LAST]
    (tmp_path / "sorted" / FIRST).write_bytes(b"")
    with refuses("images", "duplicate", got=FIRST):
        validation_images(tmp_path / "sorted")
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        with refuses("images", "missing", got="ILSVRC2012_img_val.tar"):
            validation_images(tmp_path / folder)


def test_labels_of_the_development_kit_are_in_the_order_of_wordnet_ids(tmp_path, wnids):
    numbers = np.random.default_rng(1).integers(1, 1001, 50_000)
    save_devkit(tmp_path, wnids, numbers)
    labels = labels_of([], tmp_path)
    order = np.argsort(np.argsort(wnids))  # rank of each class number's id
    np.testing.assert_array_equal(labels, order[numbers - 1])
    np.testing.assert_array_equal(labels_of([], tmp_path / "data"), labels)


def test_labels_by_folders(tmp_path, wnids):
    places = np.arange(50_000) % 1000
    images = [tmp_path / wnids[k] / f"ILSVRC2012_val_{i + 1:08d}.JPEG" for i, k in enumerate(places.tolist())]
    np.testing.assert_array_equal(labels_of(images, None), np.argsort(np.argsort(wnids))[places])
    assert labels_of(images[:-1], None) is None
    assert labels_of([tmp_path / path.name for path in images], None) is None


def test_a_kit_with_other_files_is_refused(tmp_path, wnids):
    with refuses("devkit", "missing", got="has no meta.mat"):
        labels_of([], tmp_path)
    save_devkit(tmp_path, wnids[:-1], [1] * 50_000)
    with refuses("synsets", "shape", got="got 999", source=META):
        labels_of([], tmp_path)
    save_devkit(tmp_path, wnids, [1] * 49_999)
    with refuses("labels", "shape", got="got 49,999 lines", source=TRUTH):
        labels_of([], tmp_path)
    save_devkit(tmp_path, wnids, [1] * 49_999 + [1001])
    with refuses("labels", "shape", source=TRUTH):
        labels_of([], tmp_path)
    (tmp_path / "data" / META).write_bytes(b"no mat file")
    with refuses("file", "unreadable", source=META):
        labels_of([], tmp_path)


# -- ReaL-ImageNet -----------------------------------------------------------------------------------------------------


RATED = np.arange(11, 50_000, 500)  # one hundred images


@pytest.fixture
def folder_imagenet_real(tmp_path, own_cache):
    """scores.npz as published, and five models of the rated images by their names."""
    rng = np.random.default_rng(0)
    names = np.array([f"ILSVRC2012_val_{i + 1:08d}.JPEG" for i in RATED])
    q = np.zeros((len(RATED), 1000))
    info, scores = [], []
    for row, name in enumerate(names):
        for label in rng.choice(1000, 4, replace=False):
            info.append((name, str(label)))
            scores.append(rng.uniform(0.01, 1.0))
            q[row, label] = scores[-1]
    (own_cache / "real").mkdir(parents=True)
    info.append(("ILSVRC2012_val_00000001.JPEG", "7"))  # an image for which no label was found valid
    np.savez_compressed(own_cache / "real" / "scores.npz", tensor=np.array([*scores, 0.0]), info=np.array(info))
    place = tmp_path / "models"
    place.mkdir()
    labels = rng.integers(1000, size=50_000)
    labels[RATED] = [rng.choice(1000, p=(row / row.max()) ** 4 / ((row / row.max()) ** 4).sum()) for row in q]
    np.save(place / "labels.npy", labels)
    for i, noise in enumerate((0.3, 0.7, 1.0, 1.5, 2.0)):
        logits = np.log(q + 1e-3) + noise * rng.normal(size=q.shape)
        order = rng.permutation(len(RATED))
        np.savez(place / f"net{i}.npz", logits=logits[order].astype(np.float32), ids=names[order])
    return place


def test_the_protocol_prints_the_papers_cells_beside_ours(folder_imagenet_real):
    found = reproduce("ranking-imagenet-real", data=folder_imagenet_real)
    assert [cell.paper for cell in found.rows] == [99.56, 39.42, 40.2, 88.07]
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    text = found.summary()
    assert "table1/R-ImageNet/UQ-C-index/misalignment" in text
    assert "5 models replace the paper's 114 networks of torchvision" in text
    assert "49,900 of 50,000 images have no score above 0 and are left out" in text
    assert steps_of_ranking_imagenet_real(data=folder_imagenet_real) == 30


def test_a_file_without_ids_holds_all_images(folder_imagenet_real):
    probs = np.full((3, 1000), 1e-3)
    uq.save(uq.Point(probs), folder_imagenet_real / "a.npz")
    with refuses("prediction", "mismatch", got="50000 instances .*; got 3 and 1000; name the instances by ids"):
        reproduce_ranking_imagenet_real(data=folder_imagenet_real)


def test_labels_of_another_order_are_refused(folder_imagenet_real):
    labels = np.load(folder_imagenet_real / "labels.npy")
    np.save(folder_imagenet_real / "labels.npy", labels[:100])
    with refuses("data", "shape", got=r"got \(100,\)"):
        reproduce_ranking_imagenet_real(data=folder_imagenet_real)
    np.save(folder_imagenet_real / "labels.npy", (labels + 1) % 1000)
    with refuses("data", "mismatch", got="in only . % of the rows"):
        reproduce_ranking_imagenet_real(data=folder_imagenet_real)
    (folder_imagenet_real / "labels.npy").unlink()
    with refuses("data", "missing", got="labels.npy"):
        reproduce_ranking_imagenet_real(data=folder_imagenet_real)


def test_scores_of_other_images_are_refused(folder_imagenet_real, own_cache):
    path = own_cache / "real" / "scores.npz"
    path.unlink()
    np.savez(path, tensor=np.array([0.5]), info=np.array([["n01440764_10026.JPEG", "0"]]))
    path.with_name("scores.npz.checked.json").unlink(missing_ok=True)
    with refuses("info", "range", got="got 'n01440764_10026.JPEG'", source="scores.npz"):
        reproduce_ranking_imagenet_real(data=folder_imagenet_real)


# -- oASST2, on a generated table of the published form -----------------------------------------------------------------


N_OASST2 = 120


@pytest.fixture
def folder_oasst2(tmp_path, own_cache, needs):
    """The validation part as a Parquet table, four models of all messages and one of the English ones."""
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    q = rng.beta(0.6, 0.6, N_OASST2)
    label = pa.struct(
        [("name", pa.list_(pa.string())), ("value", pa.list_(pa.float64())), ("count", pa.list_(pa.int32()))]
    )
    labels = [{"name": ["spam", "quality"], "value": [1 - p, p], "count": [3, 3]} for p in q.tolist()]
    ids = np.array([f"m{i}" for i in range(N_OASST2)])
    lang = ["en" if i % 2 else "es" for i in range(N_OASST2)]
    table = pa.table({"message_id": ids, "text": ["x"] * N_OASST2, "lang": lang, "labels": pa.array(labels, label)})
    (own_cache / "oasst2").mkdir(parents=True)
    pq.write_table(table, own_cache / "oasst2" / "validation.parquet")
    place = tmp_path / "models"
    place.mkdir()
    for i, noise in enumerate((0.5, 1.0, 1.5, 2.0)):
        uq.save(
            uq.Point.from_binary(1 / (1 + np.exp(-np.log(q / (1 - q)) - noise * rng.normal(size=N_OASST2)))),
            place / f"m{i}.npz",
        )
    english = np.arange(1, N_OASST2, 2)
    np.savez(
        place / "english.npz",
        logits=np.stack([-q, q], axis=1)[english] + rng.normal(size=(N_OASST2 // 2, 2)),
        ids=ids[english],
    )
    return place


def test_the_protocol_prints_the_papers_cells_beside_ours_of_oasst2(folder_oasst2):
    found = reproduce("ranking-oasst2", data=folder_oasst2)
    assert [cell.paper for cell in found.rows] == [82.5, 71.69, 74.01, 98.88]
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    text = found.summary()
    assert "5 models replace the paper's 69 zero-shot classifiers" in text
    assert "of the messages are unanimous" in text
    assert "both weights are equal in 0.0 % of the messages" in text
    assert "english" in text
    cells = {cell.name.removeprefix("table1/OASST2/"): cell for cell in found.rows}
    assert cells["UQ-C-index/misalignment"].ours == pytest.approx(100.0, abs=1e-4)  # (1 + τ) / 2, by construction
    assert abs(cells["UQ-AUC/misclassification"].ours) < 99.99
    assert any("by construction" in note for note in found.notes)
    assert steps_of_ranking_oasst2(data=folder_oasst2) == 30


def test_what_does_not_fit_is_refused(folder_oasst2):
    uq.save(uq.Point(np.full((N_OASST2, 3), 1 / 3)), folder_oasst2 / "a.npz")
    with refuses("prediction", "mismatch", got="120 instances and 2 classes of the votes; got 120 and 3"):
        reproduce_ranking_oasst2(data=folder_oasst2)
    with refuses("data", "missing", got="got none; .*validation.parquet"):
        reproduce_ranking_oasst2()


# -- messages of OASST2 ------------------------------------------------------------------------------------------------


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
    needs("pyarrow")
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
    assert steps_of_ranking_oasst2(data=tmp_path / "models", classifiers="tf-idf") == 6 * 4 + 4


def test_the_command(messages, tmp_path, capsys):
    folder = str(tmp_path / "models")
    assert main(["reproduce", "ranking-oasst2", "--data", folder, "--set", "classifiers=tf-idf", "--json"]) == 0
    assert [cell["paper"] for cell in json.loads(capsys.readouterr().out)] == [82.5, 71.69, 74.01, 98.88]


def test_messages_in_the_languages_of_a_classifier(monkeypatch, messages, tmp_path):
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
