"""Data sets and presets of the reproduction of paper 004: what is trained, and how much of it.

"paper" trains as printed. "smoke" only checks that the code runs. "cpu" takes about ten minutes on two cores and "gpu-hour"
about an hour on one GPU; on images both train on a slice. Every number of a slice is in `DataPlan.sentence`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

from uqassay.wording import count, counted, listed, percent

__all__ = ["DATASETS", "IN_PAPER", "PRESETS", "DataPlan", "Slice"]

PRESETS = ("smoke", "cpu", "gpu-hour", "paper")
BCI_SUBJECTS = 9
IN_PAPER = ("mc-dropout", "mc-dropconnect", "flipout", "deep-ensemble")


# ---- data sets and slices ----------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class Slice:
    """How much is trained.

    Attributes
    ----------
    runs, epochs, n_members, n_samples, batch_size : int
    train_limit, test_limit : int or None
        Greatest number of instances.
    conditions : dict
        Arguments of `Conditions` that differ from the printed ones.
    methods : tuple of str
        Trained unless others are asked for; () means those of the data set.
    as_printed : bool
        Whether the numbers may be compared with the paper's.
    """

    runs: int = 5
    epochs: int = 100
    n_members: int = 10
    n_samples: int = 50
    batch_size: int = 128
    train_limit: int | None = None
    test_limit: int | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    as_printed: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class DataPlan:
    """A data set of the reproduction.

    Attributes
    ----------
    name : str
        As in the command line.
    sources : tuple of str
        Names for `uqassay.datasets.load_dataset`: one, or one for each subject, whose runs are then those of the subjects.
    printed : bool
        Whether the paper's tables have it.
    backbone : str or tuple of int
    network : str
        The network in words.
    methods : tuple of str
        Trained by default.
    slices : dict of str to Slice
        By preset.
    """

    name: str
    sources: tuple[str, ...]
    printed: bool
    backbone: str | tuple[int, ...]
    network: str
    methods: tuple[str, ...]
    slices: Mapping[str, Slice]

    @property
    def by_subject(self) -> bool:
        """Whether runs are subjects."""
        return len(self.sources) > 1

    def sentence(self, preset: str, slice_: Slice) -> str:
        """What a preset trains, in words, for the slice as it is after the options of the command line."""
        runs = counted(slice_.runs, "subject" if self.by_subject else "run")
        limits = [
            f"at most {count(limit)} {part} instances"
            for part, limit in (("training", slice_.train_limit), ("test", slice_.test_limit))
            if limit is not None
        ]
        sizes = [
            f"{runs}, {counted(slice_.epochs, 'epoch')} (Flipout {count(5 * slice_.epochs)})",
            f"batches of {slice_.batch_size}",
            f"ensembles of {slice_.n_members}",
            f"{slice_.n_samples} passes",
            *limits,
            *_condition_words(slice_.conditions),
        ]
        how = "as printed" if slice_.as_printed else "a slice, not compared with the paper"
        return f"{self.name}, preset {preset} ({how}): {self.network}; {', '.join(sizes)}"


def _condition_words(conditions: Mapping[str, Any]) -> list[str]:
    words = []
    for key, what in (("shares", "of the training instances"), ("noise_levels", "of the labels permuted")):
        if key in conditions:
            words.append(f"{listed([percent(value, 0) for value in conditions[key]])} {what}")
    if "left_out" in conditions:
        words.append(f"{counted(len(conditions['left_out']), 'class', 'classes')} left out")
    return words


FEW = {"shares": (0.1, 0.5, 1.0), "noise_levels": (0.0, 0.5, 1.0), "left_out": (0,)}
SMOKE = Slice(runs=2, epochs=2, n_members=2, n_samples=5, train_limit=300, test_limit=200, conditions=FEW)
SMOKE_IMAGES = replace(SMOKE, epochs=1, train_limit=120, test_limit=60, methods=("mc-dropout", "deep-ensemble"))
PRINTED = Slice(as_printed=True)
CPU_IMAGES = Slice(
    runs=3,
    epochs=5,
    n_members=3,
    n_samples=50,
    batch_size=16,
    train_limit=1000,
    test_limit=1000,
    conditions={"shares": (0.1, 0.25, 0.5, 1.0), "noise_levels": (0.0, 0.25, 0.5, 1.0), "left_out": (0, 5)},
    methods=("mc-dropout", "deep-ensemble"),
)
GPU_IMAGES = Slice(runs=3, epochs=35, n_members=5, train_limit=10_000, methods=("mc-dropout", "deep-ensemble"))
IMAGES = {"smoke": SMOKE_IMAGES, "cpu": CPU_IMAGES, "gpu-hour": GPU_IMAGES, "paper": PRINTED}
SMALL_CNN = "three 3 × 3 convolutions of 64 with 2 × 2 pooling and a Bayesian layer of 64"
OURS = ("mc-dropout", "deep-ensemble", "random-forest")
MLP = "an MLP with hidden layers of 64 and 64, the last one Bayesian"

DATASETS: Mapping[str, DataPlan] = MappingProxyType(
    {
        plan.name: plan
        for plan in (
            DataPlan(
                name="wine",
                sources=("wine",),
                printed=True,
                backbone=(32, 32, 16),
                network="13-32-32-16-3 on z-scores, the layer of 16 Bayesian",
                methods=IN_PAPER,
                slices={"smoke": SMOKE, "cpu": PRINTED, "gpu-hour": replace(PRINTED, runs=20), "paper": PRINTED},
            ),
            DataPlan(
                name="digits",
                sources=("digits",),
                printed=False,
                backbone="mlp",
                network=MLP,
                methods=OURS,
                slices={
                    "smoke": SMOKE,
                    "cpu": Slice(epochs=50, n_members=5),
                    "gpu-hour": Slice(),
                    "paper": Slice(),
                },
            ),
            DataPlan(
                name="mnist-10k",
                sources=("mnist-10k",),
                printed=False,
                backbone="mlp",
                network=MLP,
                methods=OURS,
                slices={
                    "smoke": SMOKE,
                    "cpu": Slice(runs=3, epochs=10, n_members=5, train_limit=4000, test_limit=1000),
                    "gpu-hour": Slice(),
                    "paper": Slice(),
                },
            ),
            *(
                DataPlan(
                    name=name,
                    sources=(name,),
                    printed=True,
                    backbone="cnn",
                    network=SMALL_CNN,
                    methods=IN_PAPER,
                    slices=IMAGES,
                )
                for name in ("fashion-mnist", "cifar-10")
            ),
            DataPlan(
                name="bci",
                sources=tuple(f"bci-iv-2a:{subject}" for subject in range(1, BCI_SUBJECTS + 1)),
                printed=True,
                backbone="eeg",
                network="the shallow network for EEG with a Bayesian layer of 32",
                methods=IN_PAPER,
                slices={
                    "smoke": replace(SMOKE_IMAGES, train_limit=24, test_limit=24),
                    "cpu": replace(
                        CPU_IMAGES,
                        runs=2,
                        epochs=20,
                        n_members=2,
                        train_limit=None,
                        test_limit=None,
                        conditions={**CPU_IMAGES.conditions, "left_out": (0, 1)},
                    ),
                    "gpu-hour": Slice(runs=BCI_SUBJECTS, n_members=5, methods=("mc-dropout", "deep-ensemble")),
                    "paper": replace(PRINTED, runs=BCI_SUBJECTS),
                },
            ),
        )
    }
)
