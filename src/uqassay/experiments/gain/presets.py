"""Data sets and presets of the reproduction of paper 002: what is split and trained, and how much of it.

"paper" takes the printed size with the sparse Gaussian process, "cpu" the printed size with the local one: of the toy data in
about ten minutes on two cores. "smoke" only checks that the code runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

from uqassay.experiments.gain.printed_values import N_PAPER_RUNS
from uqassay.experiments.gain.regions import Regions, Share, ToyPlan
from uqassay.wording import count, counted

__all__ = ["DATASETS", "PRESETS", "SPREADS", "GainData", "GainSlice"]

PRESETS = ("smoke", "cpu", "paper")
SPREADS = (0.35, 0.25)


@final
@dataclass(frozen=True, kw_only=True)
class GainSlice:
    """How much is run.

    Attributes
    ----------
    runs : int
        Each with its own data (toy), its own split and its own trainings.
    limit : int or None
        Greatest number of instances.
    methods : tuple of str
        Run unless others are asked for.
    options : dict of str to dict
        Options of a method that differ from those of `choices.METHODS`.
    as_printed : bool
        Whether the numbers may be compared with the paper's, where the data set is the paper's.
    """

    runs: int = N_PAPER_RUNS
    limit: int | None = None
    methods: tuple[str, ...] = ("local-gp",)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    as_printed: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class GainData:
    """A data set of the reproduction.

    Attributes
    ----------
    name : str
        As in the command line.
    sentence : str
        What the data are.
    plan : ToyPlan or Regions
        How they are split.
    slices : dict of str to GainSlice
        By preset.
    source : str
        Of real data, the name for `uqassay.datasets.merged_binary`.
    balanced : bool
        Whether a sample with equally many instances of each class is taken.
    needs_data : bool
        Whether the option `data` must say where the files are.
    reference : str
        Of a mismatch study, the data set without the mismatch; "" otherwise.
    """

    name: str
    sentence: str
    plan: ToyPlan | Regions
    slices: Mapping[str, GainSlice]
    source: str = ""
    balanced: bool = False
    needs_data: bool = False
    reference: str = ""

    @property
    def is_toy(self) -> bool:
        """Whether the data are generated and their label probabilities known."""
        return isinstance(self.plan, ToyPlan)

    @property
    def train_share(self) -> Share | None:
        """p of every disc of the toy data, where it was asked for in place of the shares of the layout."""
        return self.plan.train_share if isinstance(self.plan, ToyPlan) else None

    def with_train_share(self, share: Share) -> "GainData":
        """Toy data with another p for every disc."""
        if not isinstance(self.plan, ToyPlan):
            return self
        plan = replace(self.plan, train_share=share)
        return replace(self, plan=plan, sentence=f"{self.sentence}, with {plan.shares_sentence()} for every disc")

    def words(self, preset: str, slice_: GainSlice) -> str:
        """What a preset runs, in words, for the slice as it is after the options of the command line."""
        sizes = [counted(slice_.runs, "run")]
        if slice_.limit is not None:
            sizes.append(f"at most {count(slice_.limit)} instances")
        how = "as printed as far as it is printed" if slice_.as_printed else "not compared with the paper"
        return f"{self.name}, preset {preset} ({how}): {self.sentence}; {', '.join(sizes)}"


def _toy(name: str, sentence: str, plan: ToyPlan, reference: str = "") -> GainData:
    return GainData(name=name, sentence=sentence, plan=plan, slices=TOY, reference=reference)


def _real(name: str, sentence: str, source: str = "", **options: Any) -> GainData:
    printed = options.pop("printed", False)
    slices = {preset: replace(slice_, as_printed=printed and slice_.as_printed) for preset, slice_ in REAL.items()}
    return GainData(
        name=name,
        sentence=sentence,
        plan=options.pop("plan", Regions()),
        slices=slices,
        source=source or name,
        **options,
    )


SPARSE = ("sparse-gp",)
LOCAL = ("local-gp", "local-gp-learnt")
QUICK = {
    "sparse-gp": {"n_inducing": 50, "epochs": 2},
    "random-forest": {"n_members": 10},
    "deep-ensemble": {"n_members": 2, "epochs": 2},
}
# more than two inducing points for each cluster; a learnt kernel would take hours (docs/gaussian-processes.md)
SPARSE_TOY = {
    "sparse-gp": {
        "n_inducing": 4000,
        "lengthscale": 0.6,
        "signal_variance": 9.0,
        "learn_kernel": False,
        "learn_inducing": False,
        "standardise": False,
        "epochs": 0,
        "final_passes": 15,
    }
}
TOY = {
    "smoke": GainSlice(runs=2, limit=12_000, options=QUICK),
    "cpu": GainSlice(methods=LOCAL, as_printed=True),
    "paper": GainSlice(methods=SPARSE, options=SPARSE_TOY, as_printed=True),
}
REAL = {
    "smoke": GainSlice(runs=2, limit=3_000, options=QUICK),
    "cpu": GainSlice(methods=LOCAL, as_printed=True),
    "paper": GainSlice(methods=SPARSE, as_printed=True),
}
FEW = Regions(neighbour_share=0.05, n_balls=12)
SMALL = Regions(neighbour_share=0.02, n_balls=16)
BYMERGE = "the 116,323 test images of EMNIST ByMerge, 47 classes"

DATASETS: Mapping[str, GainData] = MappingProxyType(
    {
        plan.name: plan
        for plan in (
            _toy("toy", "a grid of 38 × 46 clusters of random classes, discs as in figure 2", ToyPlan()),
            _toy(
                "toy-mismatch-1",
                "toy data, calibration on three large discs in place of twelve small ones",
                ToyPlan(calibration="three-discs"),
                "toy",
            ),
            _toy(
                "toy-mismatch-2",
                "toy data, test instances of low aleatoric uncertainty removed in some of the discs",
                ToyPlan(thinned=True),
                "toy",
            ),
            _real("digits", "scikit-learn's 1,797 digits, odd against even, 50 principal components", plan=FEW),
            _real(
                "mnist-10k", "the 10,000 test images of MNIST, odd against even, 50 principal components", plan=SMALL
            ),
            _real("emnist-bymerge", f"{BYMERGE}, odd against even classes, 50 principal components", needs_data=True),
            _real(
                "emnist-bymerge-balanced",
                f"a sample of {BYMERGE}, of equal size, odd against even classes, 50 principal components",
                source="emnist-bymerge",
                balanced=True,
                needs_data=True,
            ),
            _real(
                "emnist-balanced",
                "EMNIST Balanced, 131,600 images, odd against even classes, 50 principal components",
                printed=True,
            ),
            _real(
                "kuzushiji-49",
                "Kuzushiji-49, 270,912 images, odd against even classes, 50 principal components",
                printed=True,
            ),
        )
    }
)
