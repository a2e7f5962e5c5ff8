"""What is trained for the unified evaluation: eight predictors, presets, data sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.methods.registry import is_given, label_of
from uqassay.lab.papers.options import GivenFiles, check_whole, known_names
from uqassay.lab.papers.unified.printed import PrintedData, printed_beside
from uqassay.text import count, counted, listed

if TYPE_CHECKING:
    from uqassay.lab.datasets.dataset import Dataset

__all__ = [
    "PLANS",
    "PREDICTORS",
    "PRESETS",
    "PUBLISHED",
    "Predictor",
    "TrainedData",
    "TrainingSetting",
    "chosen_predictors",
    "data_set_names",
    "setting_of",
    "trained_data",
]

# Presets of the reproduction of the unified evaluation: which data sets are trained, how, and how much of them.
#
# | preset | data sets | network | epochs | runs |
# |---|---|---|---|---|
# | smoke | digits, 300 / 200 instances | MLP | 2 | 1 |
# | cpu | digits; mnist-10k where its files are there | MLP | 100; 30 | 3 |
# | cpu, where it is asked for | cifar-10, 40,000 / 10,000 images | cnn-small | 4 | 1 |
# | gpu-hour | cifar-10, 40,000 / 10,000 images | ResNet-50 | 30 | 1 |
# | paper | cifar-10, cifar-100, mnist | ResNet-50 | 200 | 1 |
#
# "paper" is as printed in Appendix E.2 but for the size of the images, 224 × 224 there: images keep their size, and
# those of MNIST are enlarged to 32 × 32. `TrainingSetting.sentence` has every number.

VALIDATION = {
    "unused": "{n} others are the validation part, for which the paper states no use, and nothing uses them",
    "best-epoch": "each network holds {n} of them out and keeps the weights of the epoch with the least loss there",
    "trained": "the {n} of the validation part are among them",
}
BACKBONES = ("mlp", "cnn", "cnn-small", "resnet50")
AUGMENTATIONS = ("none", "shift-flip")
FREE = ("runs", "validation", "batch_size", "image_size")  # left open by the paper, or told apart in `differences`


# ---- one data set ------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class TrainingSetting:
    """How the predictors are trained on a data set."""

    backbone: str = "mlp"  #: Of `uqassay.lab.methods.backbones`
    epochs: int = 100
    batch_size: int = 128
    learning_rate: float = 1e-3  #: Of Adam
    rate_drops: tuple[int, ...] = ()  #: Epochs after which the learning rate is multiplied by 0.1
    augmentation: str = "none"  #: {"shift-flip", "none"}
    image_size: int | None = None  #: Height and width of the images in the networks; None leaves them as they are
    creinn_size: int | None = None  #: The same for CreINN
    #: Greatest number of instances
    train_limit: int | None = None
    test_limit: int | None = None
    validation_share: float = 0.0  #: Share of the published training part that is set apart
    validation: str = "unused"  #: A key of `VALIDATION`
    members: int = 15  #: Of DE
    #: Whether each member of DE has a cell of its own, so that an interrupted run loses one at most; small networks are
    #: faster side by side
    members_apart: bool = False
    draws: int = 100  #: From the Dirichlet distributions of LB-BNN and EDL
    sets: int = 20  #: Sets of two or more classes in RS-NN
    runs: int = 3
    left_out: tuple[str, ...] = ()  #: Predictors that are not trained unless they are asked for by name
    as_printed: bool = False  #: Whether all that the paper states is so, the size of the images excepted

    def changed(self, given: Mapping[str, Any]) -> "TrainingSetting":
        """With the values that are not None; most other values are no longer as printed."""
        values: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in given.items() if v is not None
        }
        sizes = ("epochs", "train_limit", "test_limit", "members", "draws", "sets", "runs")
        check_whole(1, **{name: values.get(name) for name in sizes})
        for name, known in (
            ("backbone", BACKBONES),
            ("augmentation", AUGMENTATIONS),
            ("validation", tuple(VALIDATION)),
        ):
            if values.get(name, known[0]) not in known:
                rule = f"must be {listed(known, last='or')}"
                fail(name, rule, f"got {values[name]!r}", "leave it out for the preset's", code="choice")
        if values.get("validation", "unused") != "unused" and not self.validation_share:
            rule = "needs a data set with a validation part, such as cifar-10"
            fail("validation", rule, f"got {values['validation']!r}", "leave it out", code="conflict")
        other = [name for name, value in values.items() if value != getattr(self, name) and name not in FREE]
        return replace(self, **values, as_printed=self.as_printed and not other)

    def limits(self, n_train: int, n_test: int) -> dict[str, int]:
        """The condition of a cell, from the sizes of the published parts: limits that are below them."""
        apart = self.n_validation(n_train) if self.validation == "unused" else 0
        train = min(n_train - apart, self.train_limit or n_train)
        test = min(n_test, self.test_limit or n_test)
        pairs = (("train_limit", train, n_train), ("test_limit", test, n_test))
        return {name: limit for name, limit, n in pairs if limit < n}

    def n_validation(self, n_train: int) -> int:
        """Number of images of a published training part that are set apart."""
        return round(self.validation_share * n_train)

    def parts(self, method: str) -> list[dict[str, Any]]:
        """Options of `uqassay.lab.methods.build_method` for each cell of a method; those at their defaults are left out."""
        whole = self.options(method)
        if method != "deep-ensemble" or not self.members_apart:
            return [whole]
        return [whole | {"first_member": m, "n_members": 1} for m in range(self.members)]

    def options(self, method: str) -> dict[str, Any]:
        """Options of a method in one cell."""
        plain = TrainingSetting()
        names = ("batch_size", "learning_rate", "rate_drops", "augmentation", "image_size")
        found: dict[str, Any] = {"epochs": self.epochs, "progress": False, "backbone": self.backbone}
        found |= {name: value for name in names if (value := getattr(self, name)) != getattr(plain, name)}
        if self.validation == "best-epoch":
            found |= {"early_stopping": True, "patience": self.epochs, "validation_fraction": self.validation_share}
        if method == "creinn" and self.creinn_size is not None:
            found["image_size"] = self.creinn_size
        if method == "deep-ensemble":
            found["n_members"] = self.members
        if method == "rs-nn" and self.sets != plain.sets:
            found["n_sets"] = self.sets
        return found

    @property
    def differences(self) -> str:
        """What may tell the numbers of a setting as printed from the paper's."""
        size = "" if self.image_size == PRINTED_SIZE else f"images{_at(self.image_size)}, not{_at(PRINTED_SIZE)}; "
        return f"{size}batches of {count(self.batch_size)} and initial weights, which the paper does not state"

    def sentence(self, dataset: str, preset: str, n_train: int, n_test: int) -> str:
        """What is trained, in words, with what the paper leaves open."""
        sizes = {"train_limit": n_train, "test_limit": n_test} | self.limits(n_train, n_test)
        apart = self.n_validation(n_train)
        epochs = listed([str(epoch) for epoch in self.rate_drops])
        drops = f", multiplied by 0.1 after {'epoch' if len(self.rate_drops) == 1 else 'epochs'} {epochs}"
        parts = [
            f"{self.backbone}{_at(self.image_size)}" + (f", CreINN{_at(self.creinn_size)}" if self.creinn_size else ""),
            f"{count(sizes['train_limit'])} training and {count(sizes['test_limit'])} test instances",
            *([VALIDATION[self.validation].format(n=count(apart))] if apart else []),
            f"{counted(self.epochs, 'epoch')} in batches of {count(self.batch_size)}",
            f"Adam with a learning rate of {self.learning_rate:g}{drops if self.rate_drops else ''}",
            "no augmentation" if self.augmentation == "none" else f"augmentation {self.augmentation}",
            f"{counted(self.members, 'member')} of DE, {counted(self.draws, 'draw')}, {counted(self.sets, 'set')} in RS-NN",
            counted(self.runs, "run"),
            *([f"without {listed(self.left_out)}, as in the paper"] if self.left_out else []),
        ]
        how = "not as printed"
        if self.as_printed:
            how = (
                "as printed"
                if self.image_size == PRINTED_SIZE
                else f"as printed, but images are{_at(PRINTED_SIZE)} there"
            )
        return f"{dataset}, preset {preset} ({how}): {'; '.join(parts)}"


def _at(size: int | None) -> str:
    return " at the images' own size" if size is None else f" at {size} × {size}"


# ---- presets -----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class PresetPlan:
    """A preset."""

    #: Trained where none are asked for; all but the first are left out where their files are missing, if `optional`
    datasets: tuple[str, ...]
    settings: Mapping[str, TrainingSetting] = field(default_factory=dict)  #: By data set
    #: Of other data sets, with up to `MANY` training instances and with more
    small: TrainingSetting
    large: TrainingSetting
    optional: bool = False


MANY = 2000  # with more training instances, 30 epochs have enough steps
PRINTED_SIZE = 224
SMOKE = TrainingSetting(epochs=2, train_limit=300, test_limit=200, members=3, runs=1)
SMALL = TrainingSetting(train_limit=8_000, test_limit=2_000)
LARGE = replace(SMALL, epochs=30)
PRINTED = TrainingSetting(
    backbone="resnet50",
    members_apart=True,
    epochs=200,
    rate_drops=(80, 120, 160, 180),
    augmentation="shift-flip",
    creinn_size=32,
    validation_share=1 / 5,
    runs=1,
    as_printed=True,
)
OTHER_DATA = replace(PRINTED, as_printed=False)
SLICE = replace(OTHER_DATA, epochs=30, rate_drops=(12, 18, 24, 27))
CIFAR_10_ON_CPU = TrainingSetting(
    backbone="cnn-small", members_apart=True, epochs=4, batch_size=64, rate_drops=(3,), validation_share=1 / 5, runs=1
)

PLANS: Mapping[str, PresetPlan] = MappingProxyType(
    {
        "smoke": PresetPlan(datasets=("digits",), small=SMOKE, large=SMOKE),
        "cpu": PresetPlan(
            datasets=("digits", "mnist-10k"),
            settings={"cifar-10": CIFAR_10_ON_CPU},
            small=SMALL,
            large=LARGE,
            optional=True,
        ),
        "gpu-hour": PresetPlan(datasets=("cifar-10",), settings={}, small=SLICE, large=SLICE),
        "paper": PresetPlan(
            datasets=("cifar-10", "cifar-100", "mnist"),
            settings={
                "cifar-10": PRINTED,
                "cifar-100": replace(PRINTED, sets=200, left_out=("E-CNN",)),
                "mnist": replace(PRINTED, validation_share=1 / 6, image_size=32),  # resnet50 halves images five times
            },
            small=OTHER_DATA,
            large=OTHER_DATA,
        ),
    }
)
PRESETS = tuple(PLANS)


def setting_of(preset: str, dataset: str, n_train: int) -> TrainingSetting:
    """The setting of a data set in a preset, by the number of its training instances where the preset has none for it.

    Examples
    --------
    >>> setting_of("paper", "cifar-100", 50_000).limits(50_000, 10_000)
    {'train_limit': 40000}
    """
    plan = PLANS[preset]
    return plan.settings.get(dataset, plan.large if n_train > MANY else plan.small)


# The eight predictors of the unified evaluation and their training; `uqassay.lab.papers.unified.plan` says how
# much.

# training and test images of the paper's data sets
PUBLISHED = {"cifar-10": (50_000, 10_000), "cifar-100": (50_000, 10_000), "mnist": (60_000, 10_000)}


@final
@dataclass(frozen=True)
class Predictor:
    """One of the paper's predictors."""

    name: str  #: As printed in the paper; of a class of the user its name
    method: str  #: Key of `uqassay.lab.methods.METHODS`, or ``module:Class``
    credal: bool  #: Whether it states sets, so that Tables 2 and 8 rank it
    averaged: bool  #: Whether its mean is also a model of the tables, "… Avg"
    params: dict[str, Any]  #: Options that differ from the defaults of the method, in every preset


PREDICTORS = (
    Predictor("LB-BNN", "laplace-bridge", True, True, {"posterior": "trained", "bridge": "plain"}),
    Predictor("DE", "deep-ensemble", True, True, {}),
    Predictor("EDL", "evidential", True, False, {}),
    Predictor("CreINN", "creinn", True, False, {}),
    Predictor("E-CNN", "e-cnn", True, False, {}),
    Predictor("RS-NN", "rs-nn", True, False, {}),
    Predictor("SNN", "snn", False, False, {}),
    Predictor("DDU", "ddu", False, False, {}),
)


@final
@dataclass(frozen=True)
class TrainedData:
    """A data set on which the predictors are trained."""

    dataset: str  #: As in the command line
    name: str  #: For the reader
    label: str  #: In the cells; like `name` another one where files of the user take the place of the data set
    source: str  #: Argument of `uqassay.lab.datasets.load_dataset`
    setting: TrainingSetting
    #: Of the published parts
    n_train: int
    n_test: int
    n_classes: int

    @property
    def beside(self) -> PrintedData:
        """The printed data set whose values stand beside ours."""
        return printed_beside(
            self.dataset,
            given=self.source != self.dataset,
            compared=self.setting.as_printed,
            differences=self.setting.differences,
        )

    def sentence(self, preset: str) -> str:
        """What is trained, in words."""
        return self.setting.sentence(self.name, preset, self.n_train, self.n_test)


def data_set_names(preset: str, dataset: str | Sequence[str] | None) -> tuple[str, ...]:
    """The data sets asked for, or the preset's."""
    asked = (dataset,) if isinstance(dataset, str) else tuple(dataset or ())
    return asked or (PLANS[preset].datasets if preset in PLANS else ())


def trained_data(
    preset: str,
    dataset: str | Sequence[str] | None = None,
    *,
    given: GivenFiles | None = None,
    changes: Mapping[str, Any] | None = None,
) -> tuple[list[TrainedData], dict[str, InputError]]:
    """The data sets at hand with their settings, and the error of each other data set of the preset.

    Parameters
    ----------
    preset : str
        A key of `PLANS`.
    given : GivenFiles, optional
        In place of the only data set.
    changes : dict, optional
        Values of `TrainingSetting` in place of the preset's.
    """
    from uqassay.lab.datasets import load_dataset

    found: list[TrainedData] = []
    missing: dict[str, InputError] = {}
    for name in data_set_names(preset, dataset):
        source = name if given is None else given.source
        try:
            data = load_dataset(source)
        except InputError as problem:
            if problem.parameter == "name":
                raise problem.replace(parameter="dataset") from problem
            if dataset or not PLANS[preset].optional or name == PLANS[preset].datasets[0]:
                raise
            missing[name] = problem
            continue
        n_train, n_test = len(data.y_train), len(data.y_test)
        setting = setting_of(preset, name, n_train).changed(changes or {})
        if given is not None or (n_train, n_test) != PUBLISHED.get(name):
            setting = replace(setting, as_printed=False)
        _check_fit(setting, data)
        shown, label = (name, name) if given is None else (given.shown(name), given.label(name))
        found.append(TrainedData(name, shown, label, source, setting, n_train, n_test, data.n_classes))
    return found, missing


def _check_fit(setting: TrainingSetting, data: "Dataset") -> None:
    """Refuse options that no network takes, or instances that do not fit the backbone."""
    from uqassay.lab.methods import build_method

    try:
        build_method("snn", **setting.options("snn")).check_options(data.X_train.shape[1:], data.n_classes)
    except InputError as problem:
        if problem.parameter != "X":
            raise
        raise problem.replace(parameter="backbone", source=data.name) from problem


def chosen_predictors(names: Sequence[str] | None, left_out: Sequence[str] = ()) -> tuple[Predictor, ...]:
    """The predictors asked for, in the order of Table 1; all but those left out unless some are asked for."""
    known = {p.name: p for p in PREDICTORS}
    if names is None:
        return tuple(p for p in PREDICTORS if p.name not in left_out)
    rule = f"must be among {', '.join(known)}"
    asked = known_names(names, "predictors", known, rule, own=True)
    own = tuple(Predictor(label_of(name), name, True, False, {}) for name in asked if is_given(name))
    return (*(p for p in PREDICTORS if p.name in asked), *own)


def predictor_of(method: str) -> str:
    """The name of the predictor that a method makes."""
    return label_of(method) if is_given(method) else next(p.name for p in PREDICTORS if p.method == method)
