"""Train classifiers on a bundled data set, and write their report: the command `demo`."""

import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail, whole
from uqassay.cli.inputs import AssayRequest
from uqassay.cli.report import write_report
from uqassay.cli.screen import print_text, progress, shell_line
from uqassay.files import optional_package, whole_file
from uqassay.predictions import Dirichlet, Members, Point, Prediction, file_hash, save

__all__ = [
    "COMMON_MEMBERS",
    "N_MODELS",
    "prepare_demo",
]


# The demonstration: six classifiers of the same handwritten digits, trained in seconds.
#
# The data are the 1,797 digits that come with scikit-learn (8 × 8 pixels, ten classes). One split, fixed by the seed,
# has instances for training, for calibration and for the test. The classifiers state their uncertainty in different
# ways:
#
# | model | kind of prediction | how it is made |
# |---|---|---|
# | logistic regression | point | one softmax |
# | random forest | members, one per tree | each tree learns from one resample of the instances |
# | bagged MLPs | members, one per network | the same with small networks, each far better than a tree |
# | bagged MLPs average | point | the mean of these networks, without their disagreement |
# | leaf Dirichlet | Dirichlet | class counts of the leaf that an instance falls into, plus a prior |
# | calibrated MLP | point | one network, its temperature chosen on the calibration instances |

SCHEMA = "uqassay.demo/1"
N_TRAIN, N_CALIBRATION = 600, 300  # of 1,797; the other 897 are the test part
N_TREES, MIN_LEAF = 50, 5
N_NETWORKS, HIDDEN_UNITS = 10, 32
COMMON_MEMBERS = N_NETWORKS  # sets compare only if the same number of members spans them


@dataclass(frozen=True)
class DemoFiles:
    """The files of the demonstration."""

    predictions: dict[str, Path]  #: The prediction file of each model
    labels: Path  #: Labels of the test instances
    trained: bool  #: False if the files of an earlier run with the same settings were there, unchanged


@dataclass(frozen=True)
class Split:
    """Digits in three parts; `rows` are the rows of the test instances in the data set."""

    train: tuple[Floats, NDArray[np.int64]]
    calibration: tuple[Floats, NDArray[np.int64]]
    test: tuple[Floats, NDArray[np.int64]]
    rows: NDArray[np.int64]
    class_names: tuple[str, ...]


def prepare_demo(
    folder: str | os.PathLike[str], *, seed: int = 0, progress: Callable[[str], None] | None = None
) -> DemoFiles:
    """Train the demonstration's classifiers and write their predictions, or find those of an earlier run.

    Parameters
    ----------
    folder : path
        Where ``predictions/*.npz``, ``labels.npy`` and ``demo.json`` (settings, and the SHA-256 of each file) are written.
    seed : int
        Fixes the split and the training.
    progress : callable, optional
        Called with the name of each model before it is trained.
    """
    folder = Path(folder)
    whole(seed, "seed", "choose such a number", least=0, most=2**31 - 1)
    if folder.exists() and not folder.is_dir():
        fail("folder", "must be a folder", f"{folder} is a file", "give the name of a folder", code="unwritable")
    settings = _settings(seed)
    labels = folder / "labels.npy"
    predictions = {name: folder / "predictions" / f"{name.lower().replace(' ', '-')}.npz" for name in _names()}
    manifest = folder / "demo.json"
    files = [*predictions.values(), labels]
    if _kept(manifest, settings, files):
        return DemoFiles(predictions, labels, trained=False)
    manifest.unlink(missing_ok=True)
    (folder / "predictions").mkdir(parents=True, exist_ok=True)
    split = _split(seed)
    carried: dict[str, Any] = {"class_names": split.class_names, "ids": split.rows}
    for name, train in TRAINING.items():
        if progress is not None:
            progress(f"training {name}")
        said = train(split, seed).with_metadata(**carried)
        save(said, predictions[name], labels=split.test[1])
        if name == AVERAGED:
            save(Point(said.mean_probs(), **carried), predictions[f"{name} average"], labels=split.test[1])
    with whole_file(labels) as stream:
        np.save(stream, split.test[1])
    facts = {"schema": SCHEMA, "settings": settings, "sha256": _hashes(files)}
    with whole_file(manifest) as stream:
        stream.write(json.dumps(facts, indent=1).encode())
    return DemoFiles(predictions, labels, trained=True)


# -- the classifiers --------------------------------------------------------------------------------------------------


def _split(seed: int) -> Split:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    x, y = digits.data / 16.0, digits.target.astype(np.int64)
    train, others = train_test_split(np.arange(len(y)), train_size=N_TRAIN, stratify=y, random_state=seed)
    calibration, test = train_test_split(others, train_size=N_CALIBRATION, stratify=y[others], random_state=seed)
    test = np.sort(test)
    names = tuple(str(name) for name in digits.target_names)
    return Split((x[train], y[train]), (x[calibration], y[calibration]), (x[test], y[test]), test, names)


def _logistic_regression(split: Split, seed: int) -> Prediction:
    from sklearn.linear_model import LogisticRegression

    return Point(LogisticRegression(max_iter=2000).fit(*split.train).predict_proba(split.test[0]))


def _random_forest(split: Split, seed: int) -> Prediction:
    """One member per tree. A single tree is weak, so the set of all trees is wide; the report shows the cost of that."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(N_TREES, min_samples_leaf=MIN_LEAF, random_state=seed).fit(*split.train)
    return Members(np.stack([tree.predict_proba(split.test[0]) for tree in forest.estimators_], axis=1))  # (n, M, K)


def _leaf_dirichlet(split: Split, seed: int) -> Prediction:
    """α_k = 1/K + the mean over trees of the count of class k in the leaf.

    The mean, because the trees see the same training instances and a sum would count each instance once per tree. No
    bootstrap, so that the counts are numbers of instances. The prior of 1/K for each class weighs as much as one instance.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    forest = ExtraTreesClassifier(N_TREES, min_samples_leaf=MIN_LEAF, bootstrap=False, random_state=seed)
    leaves = forest.fit(*split.train).apply(split.test[0])  # (n, trees)
    n_classes = len(split.class_names)
    counts = np.zeros((len(leaves), n_classes))
    for leaf, estimator in zip(leaves.T, forest.estimators_, strict=True):
        value = estimator.tree_.value[leaf, 0]  # (n, K): shares or counts, by the version of scikit-learn
        counts += estimator.tree_.n_node_samples[leaf, None] * value / value.sum(axis=1, keepdims=True)
    return Dirichlet(1.0 / n_classes + counts / N_TREES)


def _bagged_mlps(split: Split, seed: int) -> Prediction:
    """Each network learns from its own resample of the training instances."""
    x, y = split.train
    rng = np.random.default_rng(seed)
    members = []
    for m in range(N_NETWORKS):
        drawn = rng.integers(0, len(y), len(y))
        members.append(_network(seed + m).fit(x[drawn], y[drawn]).predict_proba(split.test[0]))
    return Members(np.stack(members, axis=1))  # (n, M, K)


def _calibrated_mlp(split: Split, seed: int) -> Prediction:
    """One network with the temperature that has the least log loss on the calibration instances."""
    from scipy.optimize import minimize_scalar

    network = _network(seed).fit(*split.train)
    x, y = split.calibration
    logits = network.predict_log_proba(x)  # (n, K), up to a constant of the row

    def log_loss(log_temperature: float) -> float:
        at_label = Point.from_logits(logits / np.exp(log_temperature)).probs[np.arange(len(y)), y]
        return float(-np.log(np.maximum(at_label, np.finfo(np.float64).tiny)).mean())

    best = minimize_scalar(log_loss, bounds=(-3.0, 3.0), method="bounded")
    return Point.from_logits(network.predict_log_proba(split.test[0]) / np.exp(best.x))


def _network(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    # far fewer than max_iter steps are needed, so the training always ends by its tolerance
    return MLPClassifier((HIDDEN_UNITS,), tol=1e-3, max_iter=2000, random_state=seed)


AVERAGED = "bagged MLPs"
TRAINING: dict[str, Callable[[Split, int], Prediction]] = {
    "logistic regression": _logistic_regression,
    "random forest": _random_forest,
    "bagged MLPs": _bagged_mlps,
    "leaf Dirichlet": _leaf_dirichlet,
    "calibrated MLP": _calibrated_mlp,
}


N_MODELS = len(TRAINING) + 1  # with the average of the ensemble


def _names() -> list[str]:
    """The models in their order; the average follows its ensemble."""
    return [shown for name in TRAINING for shown in ([name, f"{name} average"] if name == AVERAGED else [name])]


# -- files that are kept -----------------------------------------------------------------------------------------------------


def _settings(seed: int) -> dict[str, Any]:
    """Everything that the predictions depend on."""
    from uqassay import __version__

    sklearn = optional_package("sklearn", "scikit-learn>=1.5", "the training of the demo")
    return {
        "seed": seed,
        "split": [N_TRAIN, N_CALIBRATION],
        "trees": [N_TREES, MIN_LEAF],
        "networks": [N_NETWORKS, HIDDEN_UNITS],
        "versions": {
            "uqassay": __version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
    }


def _kept(manifest: Path, settings: dict[str, Any], files: list[Path]) -> bool:
    """Whether all files of an earlier run with these settings are there, unchanged."""
    try:
        facts = json.loads(manifest.read_text(encoding="utf-8"))
        return bool(facts == {"schema": SCHEMA, "settings": settings, "sha256": _hashes(files)})
    except (OSError, ValueError):  # nothing there, not JSON, or a file is missing
        return False


def _hashes(files: list[Path]) -> dict[str, str]:
    return {path.name: file_hash(path) for path in files}


# The command `demo`: train six classifiers on a bundled data set, and report on them.


def demo_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder that takes everything.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Fixes the split of the data and the training.", min=0)] = 0,
) -> None:
    """Train six classifiers on scikit-learn's digits, and report on them."""

    with progress(N_MODELS) as say:
        files = prepare_demo(output, seed=seed, progress=say)
    models = [f"{name}={path}" for name, path in files.predictions.items()]
    page = output / "report.html"
    options = ["--labels", str(files.labels), "--common-members", str(COMMON_MEMBERS)]
    words = ["uqassay", "report", *models, *options, "-o", str(page)]
    request = AssayRequest(models, labels=files.labels, common_members=COMMON_MEMBERS)
    write_report(request, page, shell_line(words))
    groups = [words[:2], *([m] for m in models), options, words[-2:]]
    lines = " \\\n  ".join(map(shell_line, groups))
    print_text(f"The predictions are in {output / 'predictions'}; the page was made from them as by\n{lines}")
