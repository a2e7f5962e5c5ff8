"""The conditions of a benchmark: changes of the data and of the training that are the same for every method.

| key | effect |
|---|---|
| train_limit, test_limit | at most this number of instances |
| train_share | this share of the training instances of each class, at least one of each |
| label_noise | the labels of this share of the instances are permuted, in training and test separately |
| left_out_class | the training has no instance of this class (a name, or an index from 0); the test keeps all classes |
| epochs_by_share | true: 1/train_share times the epochs; methods without epochs are trained as they are |
| subsets_by_seed | true: each seed has its own training instances and its own permuted labels |

Without subsets_by_seed all seeds have the same training instances and the same permuted labels, and intervals over the seeds
cover the training alone. The test instances are the same for all seeds in both cases.

A set of conditions has a name: ``disentanglement`` stands for those of the paper, section 4 (7 shares of the training
instances, 11 shares of permuted labels, each class left out once), all with subsets_by_seed, and the shares with
epochs_by_share.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.lab.bench.cell import canonical_json
from uqassay.lab.bench.config import CONDITION_SETS, nearest
from uqassay.lab.datasets.dataset import LIMIT, NOISE, SUBSET, run_stream

if TYPE_CHECKING:
    from uqassay.lab.datasets.dataset import Dataset

__all__ = [
    "CONDITIONS",
    "NOISE_LEVELS",
    "SHARES",
    "changed_data",
    "check_classes",
    "check_condition",
    "conditions_of",
    "epochs_at",
    "has_report",
    "left_out_index",
]

CONDITIONS = {
    "train_limit": "a whole number from 1 up",
    "test_limit": "a whole number from 1 up",
    "train_share": "a number in (0, 1]",
    "label_noise": "a number in [0, 1]",
    "left_out_class": "the name or the index of a class",
    "epochs_by_share": "true or false",
    "subsets_by_seed": "true or false",
}
SWITCHES = ("epochs_by_share", "subsets_by_seed")
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # disentanglement paper, section 4.1
NOISE_LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # disentanglement paper, section 4.2
DATA_SEED = 0  # of the random numbers of conditions that are the same for all seeds
MOST_EPOCHS = 10_000_000


def conditions_of(asked: Sequence[Mapping[str, Any] | str], data: "Dataset", name: str = "") -> list[dict[str, Any]]:
    """The conditions of one data set: sets written out, classes by their names, switches that are off left out.

    Parameters
    ----------
    asked : sequence of dict or str
        Conditions, and names of sets of them.
    name : str
        Of the data set, for errors.

    Returns
    -------
    list of dict
        All different: a condition that occurs twice counts once.

    Examples
    --------
    >>> from uqassay.lab.datasets import load_dataset
    >>> asked = [{"left_out_class": 1, "epochs_by_share": False}, {"train_share": 0.5}]
    >>> conditions_of(asked, load_dataset("iris"))
    [{'left_out_class': 'versicolor'}, {'train_share': 0.5}]
    >>> len(conditions_of(["disentanglement"], load_dataset("iris")))  # 7 + 11 + 3
    21
    """
    found: dict[str, dict[str, Any]] = {}
    for one in asked:
        for condition in _written_out(one, data) if isinstance(one, str) else (one,):
            check_condition(condition)
            changed = {key: value for key, value in condition.items() if key not in SWITCHES or value}
            if "left_out_class" in changed:
                changed["left_out_class"] = data.class_names[left_out_index(condition, data, name)]
            found.setdefault(canonical_json(changed), changed)
    return list(found.values())


def has_report(condition: Mapping[str, Any], asked: Sequence[Mapping[str, Any] | str]) -> bool:
    """Whether a condition has a report of its own.

    A condition that is given singly has one. Of a set, the condition with all training instances has one; the page of the set
    shows the others.

    Examples
    --------
    >>> asked = ["disentanglement", {"label_noise": 0.2}]
    >>> whole = {"train_share": 1.0, "epochs_by_share": True, "subsets_by_seed": True}
    >>> [has_report(one, asked) for one in (whole, whole | {"train_share": 0.5}, {"label_noise": 0.2, "test_limit": 200})]
    [True, False, True]
    """
    sets = [one for one in asked if isinstance(one, str)]
    if not sets:
        return True
    whole = {"train_share": 1.0, "epochs_by_share": True, "subsets_by_seed": True}
    return any(_is_same(one, condition) for one in (whole, *(one for one in asked if not isinstance(one, str))))


def check_condition(condition: Mapping[str, Any]) -> None:
    """Refuse unknown keys, values out of range, and keys that contradict each other.

    Examples
    --------
    >>> check_condition({"train_share": 0.5, "label_noise": 0})
    """
    for key, value in condition.items():
        if key not in CONDITIONS:
            fail("condition", "must have known keys", f"got {key!r}", nearest(key, CONDITIONS), code="choice")
        if not _is_good(key, value):
            rule = f"must be {CONDITIONS[key]}"
            fail(f"condition.{key}", rule, f"got {value!r}", "change it or leave it out", code="range")
    if condition.get("epochs_by_share") and "train_share" not in condition:
        fail("condition.epochs_by_share", "needs train_share", "", "give train_share, or leave it out", code="conflict")
    if "left_out_class" in condition and condition.get("label_noise"):
        rule = "cannot be combined with label_noise"
        got = "permuted labels do not say which test instances are of that class"
        fail("condition.left_out_class", rule, got, "make two conditions of them", code="conflict")


def changed_data(data: "Dataset", condition: Mapping[str, Any], seed: int = DATA_SEED) -> "Dataset":
    """The data under a condition.

    Parameters
    ----------
    seed : int
        Of the cell; it counts with ``subsets_by_seed`` alone. Smaller shares of one seed are parts of the greater ones.
    """
    check_condition(condition)
    by_seed = bool(condition.get("subsets_by_seed"))
    train, test = _limited_rows(data, condition, seed)
    if train is not None or test is not None:
        data = data.subset(train, test)
    if "left_out_class" in condition:
        data = data.subset(train=data.y_train != left_out_index(condition, data))
    if "train_share" in condition:
        data = data.fraction(condition["train_share"], rng=run_stream(seed, SUBSET) if by_seed else DATA_SEED)
    if "label_noise" in condition:
        data = data.with_label_noise(condition["label_noise"], rng=run_stream(seed, NOISE) if by_seed else DATA_SEED)
    return data


def check_classes(data: "Dataset", condition: Mapping[str, Any], seed: int, name: str = "") -> None:
    """Refuse a condition that leaves a class without a training instance, other than the class that it leaves out.

    Shares keep one instance of each class and permuted labels keep their numbers, so limits alone can do that.
    """
    train, _ = _limited_rows(data, condition, seed)
    labels = data.y_train if train is None else data.y_train[train]
    missing = np.setdiff1d(np.arange(data.n_classes), labels)
    if "left_out_class" in condition:
        missing = np.setdiff1d(missing, [left_out_index(condition, data, name)])
    if missing.size:
        got = f"class {data.class_names[missing[0]]!r} of {name or data.name} has none"
        fail("condition", "must leave a training instance of each class", got, "keep more instances", code="missing")


def left_out_index(condition: Mapping[str, Any], data: "Dataset", name: str = "") -> int:
    """The class that a condition leaves out, 0 … K − 1.

    Examples
    --------
    >>> from uqassay.lab.datasets import load_dataset
    >>> left_out_index({"left_out_class": "virginica"}, load_dataset("iris"))
    2
    """
    value, names = condition["left_out_class"], data.class_names
    known = value in names if isinstance(value, str) else value < data.n_classes
    if not known:
        remedy = nearest(value, names) if isinstance(value, str) else f"choose 0 … {data.n_classes - 1}"
        rule = f"must be a class of {name or data.name}"
        fail("condition.left_out_class", rule, f"got {value!r}", remedy, code="choice")
    if data.n_classes < 3:
        rule = "must leave at least two classes to train on"
        fail("condition.left_out_class", rule, f"{name or data.name} has {data.n_classes}", "leave it out", code="size")
    return names.index(value) if isinstance(value, str) else int(value)


def epochs_at(epochs: int, condition: Mapping[str, Any]) -> int:
    """The number of epochs under a condition: rounded down after the division by the share (disentanglement, section 4.1).

    Examples
    --------
    >>> [epochs_at(100, {"train_share": share, "epochs_by_share": True}) for share in (0.01, 0.29, 0.75, 1)]
    [10000, 344, 133, 100]
    >>> epochs_at(100, {"train_share": 0.01})
    100
    """
    if not condition.get("epochs_by_share"):
        return epochs
    found = epochs / condition["train_share"]
    if found > MOST_EPOCHS:
        rule = f"must not ask for more than {MOST_EPOCHS} epochs"
        got = f"got {epochs} / {condition['train_share']}"
        fail("condition.epochs_by_share", rule, got, "train on a larger share", code="size")
    return int(found * (1 + 1e-12))  # a quotient such as 28.999999999999996 counts as 29


# -- helpers ----------------------------------------------------------------------------------------------------------


def _is_same(asked: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    """Whether a condition is the one asked for, with limits of the preset added; a class's index fits each name."""
    given = {key: value for key, value in asked.items() if key not in SWITCHES or value}
    found = {key: value for key, value in condition.items() if key in given or not key.endswith("_limit")}
    if isinstance(given.get("left_out_class"), int) and "left_out_class" in found:
        given["left_out_class"] = found["left_out_class"]
    return given == found


def _is_good(key: str, value: Any) -> bool:
    if key in SWITCHES:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if key == "left_out_class":
        return (isinstance(value, int) and value >= 0) or (isinstance(value, str) and bool(value))
    if key.endswith("_limit"):
        return isinstance(value, int) and value >= 1
    return isinstance(value, (int, float)) and 0 <= value <= 1 and (key == "label_noise" or value > 0)


def _written_out(name: str, data: "Dataset") -> list[dict[str, Any]]:
    """The conditions of a set. Data of two classes have none with a class left out."""
    if name not in CONDITION_SETS:
        rule = "must be a known set of conditions"
        fail("condition", rule, f"got {name!r}", nearest(name, CONDITION_SETS), code="choice")
    sizes = [{"train_share": share, "epochs_by_share": True, "subsets_by_seed": True} for share in SHARES]
    noise = [{"label_noise": level, "subsets_by_seed": True} for level in NOISE_LEVELS]
    classes = range(data.n_classes) if data.n_classes > 2 else ()
    return [*sizes, *noise, *({"left_out_class": k, "subsets_by_seed": True} for k in classes)]


def _limited_rows(
    data: "Dataset", condition: Mapping[str, Any], seed: int
) -> tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """Rows that the limits keep, None for all. The test instances do not depend on the seed."""
    if "train_limit" not in condition and "test_limit" not in condition:
        return None, None
    rng = np.random.default_rng(DATA_SEED)
    train = rng.permutation(len(data.y_train))
    test = rng.permutation(len(data.y_test))
    if condition.get("subsets_by_seed"):
        train = np.random.default_rng(run_stream(seed, LIMIT)).permutation(len(data.y_train))
    return np.sort(train[: condition.get("train_limit")]), np.sort(test[: condition.get("test_limit")])
