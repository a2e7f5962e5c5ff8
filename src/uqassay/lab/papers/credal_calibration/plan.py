"""Table 1 of the paper: what each preset trains, and named options for what the paper leaves open.

| preset | data sets | networks | epochs | trainings |
|---|---|---|---|---|
| smoke | digits, MNIST-10k, frozen features | hidden layer of 16; "cnn-small" for images | 2 | 1 |
| cpu | the same, or those asked for | hidden layers of 64 and 64; "cnn-small" for images | 50; 3 for images | 5 |
| gpu-hour | CIFAR-10, Caltech-101 and -256; bacteria, proteins | MobileNetV2; hidden layer of 1,000 | 3, 2, 2; 20 | 1 |
| paper | the six of Table 2 | MobileNetV2 and VGG16; hidden layer of 1,000 | 20, 2 for Caltech | 5 |

Verdicts on a trained network change with the seed of its training and even with the processor, so a training is repeated, and
the table has the share of trainings that are rejected.

"gpu-hour" and "paper" train as printed (section 4.2, appendix A.2): stochastic gradient descent with a momentum of 0.99 and a
learning rate of 1e-5, networks pretrained on ImageNet and trained end to end. The paper states no batch size. 16 is the
greatest number by which all sizes of calibration and test parts in Table 2 can be divided, and half of the instances of
CIFAR-10 and of Caltech that are not trained on, without the rest of a batch of 16, are the printed sizes.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, final

from uqassay.checks import fail, number, one_of, true_or_false
from uqassay.lab.methods.registry import label_of
from uqassay.lab.papers.options import check_whole, known_names
from uqassay.lab.papers.reproduction import NO_EVIDENCE
from uqassay.text import count, counted, listed

__all__ = [
    "BATCH",
    "IMAGENET_NETWORKS",
    "OWN_TRAINING",
    "PAPER_SETS",
    "PLANS",
    "PREDICTORS",
    "SCRATCH_NETWORKS",
    "PaperSet",
    "Table1Options",
    "Table1Plan",
    "part_size",
    "plan_of",
]

BATCH = 16  # see above
IMAGENET_NETWORKS = {"MobileNetV2": "MOB", "VGG16": "VGG"}  # as the paper's table has them
SCRATCH_NETWORKS = ("cnn-small", "cnn", "resnet50")
HEADS = ("added", "replaced")
IMAGENET_SIZE = 224
LEAST_SIZE = 32  # five times halved
PRINTED_TRAINING = {"optimiser": "sgd", "momentum": 0.99, "learning_rate": 1e-5, "batch_size": BATCH}


def part_size(n: int) -> int:
    """Instances of the calibration part and of the test part, from the n that are not trained on, as in Table 2.

    Examples
    --------
    >>> part_size(10_000), part_size(4_339)
    (4992, 2160)
    """
    return n // 2 - n // 2 % BATCH or n // 2


PREDICTORS: Mapping[str, str] = MappingProxyType(
    {"S": "snn", "DN(0.1)": "dn-0.1", "DN(0.6)": "dn-0.6", "DE": "deep-ensemble"}
)


@final
@dataclass(frozen=True)
class PaperSet:
    """One of the paper's data sets: its names in Tables 1 and 2, and the epochs of its training."""

    in_table1: str
    in_table2: str
    epochs: int
    images: bool = True
    in_folders: bool = False


PAPER_SETS: Mapping[str, PaperSet] = MappingProxyType(
    {
        "cifar-10": PaperSet("CIFAR-10", "CIFAR-10", 20),
        "caltech-101": PaperSet("CALTECH-101", "Caltech-101", 2, in_folders=True),
        "caltech-256": PaperSet("CALTECH-256", "Caltech-256", 2, in_folders=True),
        "plantclef": PaperSet("PLANTCLEF2015", "PlantCLEF2015", 20, in_folders=True),
        "bacteria": PaperSet("BACTERIA", "Bacteria", 20, images=False),
        "proteins": PaperSet("PROTEINS", "Proteins", 20, images=False),
    }
)


@final
@dataclass(frozen=True, kw_only=True)
class Table1Options:
    """What Table 1 is made of, and options of a training; None leaves the preset's value."""

    data: str | os.PathLike[str] | None = None  #: Saved ensembles, or files in place of those of the only data set
    data_name: str | None = None  #: Name of these files in the table
    resample: bool | None = None  #: Whether the test draws instances with replacement under the random null
    dataset: str | Sequence[str] | None = None  #: Data sets of the paper, instead of the preset's
    #: Networks for images: "MobileNetV2" and "VGG16", pretrained on ImageNet, or "cnn-small", "cnn" and "resnet50", with
    #: fresh weights
    architectures: str | Sequence[str] | None = None
    runs: int | None = None  #: Trainings of each predictor
    epochs: int | None = None
    batch_size: int | None = None
    weight_decay: float | None = None
    #: Whether pretrained networks are trained as a whole, or only the layer that is added to them
    end_to_end: bool | None = None
    #: {"added", "replaced"}: Whether the layer of the classes follows the 1,000 outputs of a pretrained network, the D =
    #: 1,000 of Table 2, or stands in their place
    head: str | None = None
    image_size: int | None = None  #: Height and width of the images in the networks
    predictors: str | Sequence[str] | None = None  #: Some of `PREDICTORS`, and classes of the user as ``module:Class``
    read_size: int | None = None  #: Height and width at which files of images are read and held in memory

    def given(self) -> dict[str, Any]:
        """The options that are not None, by name."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) is not None}


@final
@dataclass(frozen=True, kw_only=True)
class Table1Plan:
    """A preset with its options."""

    preset: str
    #: D, and the members of DE and passes of DN
    n_draws: int
    n_members: int
    hidden: tuple[int, ...]  #: Hidden layers for features
    epochs: int
    runs: int = 1  #: Trainings of each predictor
    data_sets: tuple[str, ...] = ()  #: Of the paper; () means digits, MNIST-10k and frozen features
    epochs_of: Mapping[str, int] = field(default_factory=dict)  #: For data sets that have others
    training: Mapping[str, Any] = field(default_factory=dict)  #: Options of every network
    architectures: tuple[str, ...] = ("cnn-small",)  #: For images
    predictors: Mapping[str, str] = field(default_factory=lambda: dict(PREDICTORS))  #: Their methods by label
    #: As `Table1Options`; an `image_size` of None is `imagenet_size` for pretrained networks and leaves images as they are
    #: for others
    end_to_end: bool = True
    head: str = "added"
    image_size: int | None = None
    read_size: int = IMAGENET_SIZE

    @property
    def as_printed(self) -> bool:
        """Whether the data sets, networks and the rule of training are the paper's."""
        return self.preset in ("gpu-hour", "paper")

    @property
    def image_sets(self) -> tuple[str, ...]:
        """The data sets that are images."""
        return tuple(name for name in self.data_sets if PAPER_SETS[name].images)

    @property
    def pretrained(self) -> tuple[str, ...]:
        """The networks that are pretrained on ImageNet."""
        return tuple(name for name in self.architectures if name in IMAGENET_NETWORKS) if self.image_sets else ()

    @property
    def imagenet_size(self) -> int:
        """Height and width of the images in pretrained networks."""
        return IMAGENET_SIZE if self.image_size is None else self.image_size

    def epochs_for(self, name: str) -> int:
        """Epochs on a data set."""
        return self.epochs_of.get(name, self.epochs)

    def method_options(self, name: str) -> dict[str, Any]:
        """Options of every method on a data set but those that state the network."""
        return {**self.training, "epochs": self.epochs_for(name), "progress": False}

    def notes(self) -> list[str]:
        """How the predictors are trained, and the value of everything that the paper leaves open."""
        if self.as_printed:
            return [_printed_note(self), *_open_notes(self)]
        values = _values_of_pretrained(self)
        chosen = [f"chosen here: {'; '.join(values)}"] if values else []
        return [_own_note(self), *chosen, *([NO_EVIDENCE] if self.preset == "smoke" else [])]


OWN_TRAINING = {"learning_rate": 1e-3, "batch_size": 128}  # the defaults of the methods
PRINTED_EPOCHS = {name: one.epochs for name, one in PAPER_SETS.items()}
SGD = "stochastic gradient descent"
PRINTED = Table1Plan(
    preset="paper",
    n_draws=100,
    n_members=10,
    hidden=(1000,),
    epochs=20,
    runs=5,
    data_sets=tuple(PAPER_SETS),
    epochs_of=PRINTED_EPOCHS,
    training={**PRINTED_TRAINING, "standardise": False},
    architectures=tuple(IMAGENET_NETWORKS),
)
IMAGES = tuple(name for name, one in PAPER_SETS.items() if one.images)
PLANS: Mapping[str, Table1Plan] = MappingProxyType(
    {
        "smoke": Table1Plan(preset="smoke", n_draws=19, n_members=3, hidden=(16,), epochs=2),
        "cpu": Table1Plan(
            preset="cpu",
            n_draws=99,
            n_members=10,
            hidden=(64, 64),
            epochs=50,
            runs=5,
            epochs_of=dict.fromkeys(IMAGES, 3),
        ),
        "gpu-hour": replace(
            PRINTED,
            preset="gpu-hour",
            runs=1,
            data_sets=("cifar-10", "caltech-101", "caltech-256", "bacteria", "proteins"),
            epochs_of=PRINTED_EPOCHS | {"cifar-10": 3, "plantclef": 1},
            architectures=("MobileNetV2",),
        ),
        "paper": PRINTED,
    }
)  # D = 19 is the least at which p can fall to 0.05


def plan_of(preset: str, options: Table1Options) -> Table1Plan:
    """A preset with its options.

    Parameters
    ----------
    preset : str
        A key of `PLANS`.

    Examples
    --------
    >>> plan_of("gpu-hour", Table1Options(dataset="cifar-10", batch_size=64)).method_options("cifar-10")["batch_size"]
    64
    """
    given = options.given()
    _check_values(given)
    own = PLANS[preset]
    changed: dict[str, Any] = {}
    if "dataset" in given:
        changed["data_sets"] = tuple(known_names(given["dataset"], "dataset", tuple(PAPER_SETS)))
    if "architectures" in given:
        known = (*IMAGENET_NETWORKS, *SCRATCH_NETWORKS)
        changed["architectures"] = tuple(known_names(given["architectures"], "architectures", known))
    if "epochs" in given:
        changed |= {"epochs": given["epochs"], "epochs_of": {}}
    own_training = {name: given[name] for name in ("batch_size", "weight_decay") if name in given}
    changed["training"] = {**own.training, **own_training}
    changed |= {
        name: given[name] for name in ("runs", "end_to_end", "head", "image_size", "read_size") if name in given
    }
    if "predictors" in given:
        names = known_names(given["predictors"], "predictors", PREDICTORS, own=True)
        changed["predictors"] = {n if n in PREDICTORS else label_of(n): PREDICTORS.get(n, n) for n in names}
    plan = replace(own, **changed)
    _check_effect(plan, given)
    return plan


# ---- checks ----------------------------------------------------------------------------------------------------------


def _check_values(given: Mapping[str, Any]) -> None:
    sizes = ("runs", "epochs", "batch_size", "image_size", "read_size")
    check_whole(1, **{name: given[name] for name in sizes if name in given})
    decay = given.get("weight_decay", 0.0)
    number(decay, "weight_decay", "leave it out", low=0, ends="[)")
    true_or_false(given.get("end_to_end", True), "end_to_end")
    one_of(given.get("head", HEADS[0]), "head", HEADS, "leave it out")


def _check_effect(plan: Table1Plan, given: Mapping[str, Any]) -> None:
    """Refuse options that nothing of the plan would use."""
    for name in ("architectures", "image_size"):
        if name in given and not plan.image_sets:
            fail(name, "is for images, and none are trained on", "", "leave it out", code="conflict")
    for name in ("end_to_end", "head"):
        if name in given and not plan.pretrained:
            rule = f"is for {listed(list(IMAGENET_NETWORKS))}, and neither is trained"
            fail(name, rule, "", "leave it out", code="conflict")
    read = not given.keys() & {"data"} and any(PAPER_SETS[one].in_folders for one in plan.data_sets)
    if "read_size" in given and not read:
        rule = "is for folders of images, and none are read"
        fail("read_size", rule, "", "leave it out", code="conflict")
    if plan.pretrained and plan.imagenet_size < LEAST_SIZE:
        rule = f"must be at least {LEAST_SIZE} for {listed(list(plan.pretrained))}"
        fail("image_size", rule, f"got {plan.image_size}", f"{IMAGENET_SIZE} is usual", code="range")


# ---- sentences -------------------------------------------------------------------------------------------------------


def _own_note(plan: Table1Plan) -> str:
    hidden = f"hidden layers of {listed([str(width) for width in plan.hidden])} units"
    at = "" if plan.image_size is None else f" at {plan.image_size} × {plan.image_size}"
    images = f"{listed(list(plan.architectures))}{at} for images"
    tables = not plan.data_sets or len(plan.data_sets) > len(plan.image_sets)
    networks = [*([images] if plan.image_sets else []), *([hidden] if tables else [])]
    training = OWN_TRAINING | dict(plan.training)
    decay = f", weight_decay {training['weight_decay']:g}" if training.get("weight_decay") else ""
    return (
        f"S, DN and DE have {listed(networks)} and learn {_epochs(plan)} by Adam with a learning rate of "
        f"{training['learning_rate']:g} in batches of {count(training['batch_size'])}{decay} (the paper: {SGD}); a DN draws "
        f"{plan.n_members} masks of its last hidden layer, DE is {plan.n_members} networks"
    )


def _epochs(plan: Table1Plan) -> str:
    """Epochs, by data set where they differ."""
    each = {name: plan.epochs_for(name) for name in plan.data_sets} or {"": plan.epochs}
    if len(set(each.values())) == 1:
        return counted(next(iter(each.values())), "epoch")
    return listed([f"{counted(n, 'epoch')} of {name}" for name, n in each.items()])


def _printed_note(plan: Table1Plan) -> str:
    training = plan.training
    networks, others = [], []
    if any(plan.epochs_for(name) != PAPER_SETS[name].epochs for name in plan.data_sets):
        others.append("the number of epochs")
    if plan.pretrained:
        whole = "trained end to end" if plan.end_to_end else "not trained themselves (in the paper end to end)"
        others += [] if plan.end_to_end else ["what is trained"]
        networks.append(f"{listed(list(plan.pretrained))} pretrained on ImageNet and {whole}")
    fresh = [name for name in plan.architectures if name not in plan.pretrained] if plan.image_sets else []
    networks += [f"{name} with fresh weights (not in the paper)" for name in fresh]
    others += ["the networks"] if fresh else []
    if len(plan.data_sets) > len(plan.image_sets):
        networks.append(f"one hidden layer of {count(plan.hidden[0])} units with ReLU for features")
    how = f"as printed but for {listed(others)}" if others else "as printed"
    return (
        f"preset {plan.preset}, {how}: {'; '.join(networks)}; {_epochs(plan)}; {SGD} with momentum {training['momentum']:g} "
        f"and learning rate {training['learning_rate']:g}; dropout before the last layer, {plan.n_members} passes; "
        f"{plan.n_members} networks; D = {plan.n_draws}, α = 0.05"
    )


def _open_notes(plan: Table1Plan) -> list[str]:
    training = plan.training
    why = " (all sizes of calibration and test parts in Table 2 are multiples of it)"
    values = [
        f"batch_size {training['batch_size']}{why if training['batch_size'] == BATCH else ''}",
        f"weight_decay {training.get('weight_decay', 0.0):g}",
        "calibration and test part are drawn at random from the instances that are not trained on",
        "no part decides when to stop, nothing is augmented, and the learning rate stays",
    ]
    if len(plan.data_sets) > len(plan.image_sets):
        values.append("features are not standardised")
    values += _values_of_pretrained(plan)
    if any(PAPER_SETS[name].in_folders for name in plan.data_sets):
        values.append(f"read_size {plan.read_size}: files of images are read at this size")
    return [f"the paper leaves open, and here: {'; '.join(values)}"]


def _values_of_pretrained(plan: Table1Plan) -> list[str]:
    """What is chosen for pretrained networks."""
    if not plan.pretrained:
        return []
    place = (
        "follows their 1,000 outputs" if plan.head == "added" else "stands in place of the layer of their 1,000 outputs"
    )
    own = "the dropout inside these networks acts in training alone"
    return [
        f"head {plan.head}: a new layer {place}",
        f"end_to_end {str(plan.end_to_end).lower()}",
        f"image_size {plan.imagenet_size}: images are resized (bilinear, proportions not kept) and standardised by the means "
        "and standard deviations of ImageNet",
        *([own] if plan.end_to_end else []),
        "the networks of DE start from the same pretrained weights and differ in the new layer and the order of batches",
    ]
