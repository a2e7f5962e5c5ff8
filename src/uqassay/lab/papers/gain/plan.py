"""What the reproduction of the epistemic gain runs: data sets, methods, presets and the choices that the paper leaves open."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, final

import numpy as np

from uqassay import checks
from uqassay.checks import fail
from uqassay.lab.datasets import DiscLayout, disc_layout
from uqassay.lab.methods.registry import label_of, offered_options
from uqassay.lab.papers.gain.printed import N_PAPER_RUNS
from uqassay.lab.papers.options import known_names
from uqassay.text import count, counted, listed, number, percent

__all__ = [
    "DATASETS",
    "METHODS",
    "PRESETS",
    "SPREADS",
    "AskedGain",
    "GainData",
    "GainMethod",
    "GainSlice",
    "Regions",
    "ToyPlan",
    "choice_notes",
    "chosen",
    "method_options",
]

# How toy data and real data are split: the plans of the discs and of the balls, as plain values.

RANDOM: Literal["random"] = "random"
Share = float | Literal["random"]
MOST_RANDOM = 0.5  # the greatest share of figure 2 as it is here


@final
@dataclass(frozen=True, kw_only=True)
class ToyPlan:
    """How the toy data are split; see `uqassay.lab.datasets.discs`."""

    #: Names of the discs of the evaluation and of the calibration
    layout: str = "figure-2"
    calibration: str = "twelve-discs"
    thinned: bool = False  #: Whether test instances of low aleatoric uncertainty are removed in some of the discs
    #: p of every disc of the evaluation and of the calibration; "random" draws one for each disc and run, uniformly from 0
    #: to .5. None takes those of the layouts.
    train_share: Share | None = None

    def discs(self, seed: int = 0) -> tuple[DiscLayout, DiscLayout]:
        """The discs of the evaluation and those of the calibration; the seed draws shares that are random."""
        rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
        evaluation, calibration = (self._shared(disc_layout(name), rng) for name in (self.layout, self.calibration))
        return evaluation, calibration

    def shares_sentence(self) -> str:
        """p in words."""
        if self.train_share is None:
            return "p from 1 to 50 %"
        if self.train_share == RANDOM:
            return f"p random between 0 and {percent(MOST_RANDOM, 0)}"
        return f"p = {percent(float(self.train_share), 1)}"

    def _shared(self, layout: DiscLayout, rng: np.random.Generator) -> DiscLayout:
        if self.train_share is None:
            return layout
        n = len(layout.centres)
        drawn = self.train_share == RANDOM
        return replace(layout, train_share=rng.uniform(0.0, MOST_RANDOM, n) if drawn else np.full(n, self.train_share))


@final
@dataclass(frozen=True, kw_only=True)
class Regions:
    """How balls are carved out of real data. The paper prints neither the radius nor any other of these numbers."""

    neighbour_share: float = 0.005  #: Share of all instances in a typical ball
    dense_share: float = 0.25  #: The radius is such that this share of the instances have so many neighbours
    n_balls: int = 40  #: At most
    #: p: the balls take turns with them, so that test instances have a wide range of estimates
    train_shares: tuple[float, ...] = (0.0, 0.02, 0.05, 0.15)
    test_share: float = 0.3  #: q, the same for all balls

    def neighbours(self, n: int) -> int:
        """Number of neighbours of a typical centre among n instances."""
        return max(2, round(self.neighbour_share * n))

    def least(self, n: int) -> int:
        """Number of instances that a ball must catch and that no earlier ball has: half of those in a typical one."""
        return max(2, self.neighbours(n) // 2)

    def sentence(self) -> str:
        """In words."""
        p = listed([number(100 * share, 0) for share in self.train_shares])
        share = percent(self.neighbour_share)
        return (
            f"R: {percent(self.dense_share, 0)} of the instances have {share} of all within R; a ball must catch half as many "
            f"that no earlier ball caught; at most {self.n_balls} balls; p = {p} % in turn, q = {percent(self.test_share, 0)}; "
            f"the same inside D_train for the calibration"
        )


# Data sets and presets of the reproduction of the paper: what is split and trained, and how much of it.
#
# "paper" takes the printed size with the sparse Gaussian process, "cpu" the printed size with the local one: of the toy
# data in about ten minutes on two cores. "smoke" only checks that the code runs.

PRESETS = ("smoke", "cpu", "paper")
SPREADS = (0.35, 0.25)


@final
@dataclass(frozen=True, kw_only=True)
class GainSlice:
    """How much is run."""

    runs: int = N_PAPER_RUNS  #: Each with its own data (toy), its own split and its own trainings
    limit: int | None = None  #: Greatest number of instances
    methods: tuple[str, ...] = ("local-gp",)  #: Run unless others are asked for
    #: Options of a method that differ from those of `choices.METHODS`
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    as_printed: bool = False  #: Whether the numbers may be compared with the paper's, where the data set is the paper's


@final
@dataclass(frozen=True, kw_only=True)
class GainData:
    """A data set of the reproduction."""

    name: str  #: As in the command line
    sentence: str  #: What the data are
    plan: ToyPlan | Regions  #: How they are split
    slices: Mapping[str, GainSlice]  #: By preset
    source: str = ""  #: Of real data, the name for `uqassay.lab.datasets.merged_binary`
    balanced: bool = False  #: Whether a sample with equally many instances of each class is taken
    needs_data: bool = False  #: Whether the option `data` must say where the files are
    reference: str = ""  #: Of a mismatch study, the data set without the mismatch; "" otherwise

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
# more than two inducing points for each cluster; a learnt kernel would take hours (docs/methods.md)
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


# Methods of the reproduction of the paper, and the choices of the command line.

# ---- methods -----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class GainMethod:
    """A classifier of the protocol."""

    name: str  #: As in the command line
    label: str  #: For the reader
    of: str = ""  #: Its name in `uqassay.lab.methods.METHODS`, where that is another one
    #: Options on toy data and on principal components of images
    toy: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, Any] = field(default_factory=dict)
    in_paper: bool = False  #: Whether it is a form of the paper's classifier


LEARNT = {"lengthscale": "bound", "signal_variance": "bound"}

METHODS: Mapping[str, GainMethod] = MappingProxyType(
    {
        method.name: method
        for method in (
            GainMethod(name="local-gp", label="local GP", in_paper=True),
            GainMethod(
                name="local-gp-learnt",
                label="local GP, kernel learnt",
                of="local-gp",
                toy=LEARNT,
                images=LEARNT,
                in_paper=True,
            ),
            GainMethod(name="sparse-gp", label="sparse GP", in_paper=True),
            GainMethod(
                name="random-forest",
                label="random forest",
                toy={"n_members": 100, "min_samples_leaf": 5},
                images={"n_members": 100},
            ),
            GainMethod(
                name="deep-ensemble",
                label="deep ensemble",
                toy={"n_members": 5, "backbone": (128, 128), "epochs": 30, "batch_size": 512},
                images={"n_members": 5, "backbone": (128, 128), "epochs": 10, "batch_size": 256},
            ),
        )
    }
)


def _own_method(name: str) -> GainMethod:
    """A class of the user, with the sizes of the deep ensemble where it has such options."""
    like = METHODS["deep-ensemble"]
    return GainMethod(name=name, label=label_of(name), toy=like.toy, images=like.images)


def method_options(method: GainMethod, plan: GainData, slice_: GainSlice) -> dict[str, Any]:
    """Options of `uqassay.lab.methods.build_method` for a method on a data set."""
    options = {**(method.toy if plan.is_toy else method.images), **slice_.options.get(method.name, {})}
    return offered_options(method.of or method.name, options)


RULE = "must be a {} of this reproduction"


# ---- choices of the command line ---------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class AskedGain:
    """The checked options of a reproduction."""

    preset: str
    #: With the reference of every mismatch study before it; toy data once for each asked share
    plans: tuple[GainData, ...]
    methods: tuple[GainMethod, ...] | None  #: None takes those of the preset
    spreads: tuple[float, ...]  #: Of the toy data
    data: str  #: The file or folder of images; "" without

    def methods_of(self, slice_: GainSlice) -> tuple[GainMethod, ...]:
        """The methods of a data set."""
        return tuple(METHODS[name] for name in slice_.methods) if self.methods is None else self.methods


def chosen(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    spread: float | Sequence[float] | None = None,
    data: str | os.PathLike[str] | None = None,
    train_share: float | str | Sequence[float | str] | None = None,
) -> AskedGain:
    """Check the options of a reproduction."""
    names = known_names("toy" if dataset is None else dataset, "dataset", DATASETS, RULE.format("data set"))
    plans = [DATASETS[name] for name in names]
    given = None if method is None else known_names(method, "method", METHODS, RULE.format("method"), own=True)
    return AskedGain(
        preset=known_names([preset], "preset", PRESETS, RULE.format("preset"))[0],
        plans=tuple(_with_shares(_with_references(plans), _chosen_shares(train_share, plans))),
        methods=None if given is None else tuple(METHODS[n] if n in METHODS else _own_method(n) for n in given),
        spreads=_chosen_spreads(spread, plans),
        data=_chosen_data(data, plans),
    )


def _with_references(plans: Sequence[GainData]) -> list[GainData]:
    """The plans, each mismatch study after the data set that it is compared with."""
    found: dict[str, GainData] = {}
    for plan in plans:
        if plan.reference:
            found.setdefault(plan.reference, DATASETS[plan.reference])
        found.setdefault(plan.name, plan)
    return list(found.values())


def _chosen_spreads(spread: float | Sequence[float] | None, plans: Sequence[GainData]) -> tuple[float, ...]:
    if spread is None:
        return SPREADS
    if not any(plan.is_toy for plan in plans):
        fail("spread", "is of the toy data alone", f"got {spread}", "leave it out", code="conflict")
    values = [spread] if isinstance(spread, (int, float)) else list(spread)
    for value in values:
        checks.number(value, "spread", "0.35, say", low=0, ends="()")
    if len(set(values)) < len(values) or not values:
        fail("spread", "must hold different numbers", f"got {values}", "0.35, say", code="duplicate")
    return tuple(float(value) for value in values)


def _chosen_shares(given: float | str | Sequence[float | str] | None, plans: Sequence[GainData]) -> tuple[Share, ...]:
    if given is None:
        return ()
    if not any(plan.is_toy for plan in plans):
        fail("train_share", "is of the toy data alone", f"got {given}", "leave it out", code="conflict")
    values = [_share(value) for value in ([given] if isinstance(given, (int, float, str)) else given)]
    if len(set(values)) < len(values) or not values:
        fail("train_share", "must hold different shares", f"got {given}", "0.1, say", code="duplicate")
    return tuple(values)


def _share(value: float | str) -> Share:
    """A share of the instances of a disc that leaves some to add; the command line gives text."""
    if value == RANDOM:
        return RANDOM
    most = 1.0 - float(disc_layout("figure-2").test_share.max())
    try:
        share = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        share = float("nan")
    if not 0.0 <= share < most:
        rule = f"must be {RANDOM} or at least 0 and below {number(most, 1)}, since the rest of a disc is for the test"
        fail("train_share", rule, f"got {value!r}", "0.1, say", code="range")
    return share


def _with_shares(plans: Sequence[GainData], shares: Sequence[Share]) -> list[GainData]:
    """Toy data once for each share that was asked for, other data once."""
    if not shares:
        return list(plans)
    toys = [plan.with_train_share(share) for share in shares for plan in plans if plan.is_toy]
    return [*toys, *(plan for plan in plans if not plan.is_toy)]


def _chosen_data(data: str | os.PathLike[str] | None, plans: Sequence[GainData]) -> str:
    needing = [plan.name for plan in plans if plan.needs_data]
    if data is None:
        if needing:
            rule = f"must be the file with the images for {needing[0]}"
            fail("data", rule, "got none", "give an .npz file with X (n, 28, 28) and y (n,)", code="missing")
        return ""
    if not needing or len({plan.source for plan in plans if not plan.is_toy}) != 1:
        names = ", ".join(plan.name for plan in plans)
        fail("data", "is for emnist-bymerge alone", f"got it for {names}", "ask for one of them", code="conflict")
    path = Path(data)
    if not path.is_file():
        fail("data", "must be a file", f"got {path}", "give the .npz file with the images", code="missing")
    return str(path)


# Every choice that the paper does not print, in words.

GENERAL = (
    "entropies are in nats; the paper prints no base of its logarithm, so the EECE is also shown in bits, in which the entropy "
    "lies between 0 and 1",
    "EECE: each of 20 intervals of equally many test instances is weighted by its instances, as in the text; the printed "
    "formula has 1/M in front. Calibrated estimates are judged in the same intervals",
    "calibration: the estimates of the classifier trained on D_train2 fill the intervals of the test; the outer intervals are "
    "extended, empty ones left out; isotonic regression of the mean gains",
    "intervals are t intervals over the runs, 95 %; ± is the standard deviation over the runs",
)
TOY_IN_WORDS = (
    "toy data: the printed covariance I contradicts the figure, so the spread of the clusters is stated; the index is "
    "k + 46(j − 1) in place of j + 46k, which would leave 342 clusters without a class. The discs and their shares are chosen "
    "here, see uqassay.lab.datasets.discs: 30 discs of radius 2.7, {shares}, q = 30 %. Every run has its own data"
)
SPREADS_IN_WORDS = (
    "the paper's EECE of the entropy, .393, is met near a spread of .35 in nats; few points of high aleatoric uncertainty, as "
    "the text has it, need .25 or less"
)
IMAGES_IN_WORDS = (
    "training and test part are merged before the PCA; pixels in [0, 1]; {sentence}. Every run has its own balls and its own "
    "trainings"
)
METHODS_IN_WORDS = {
    "local-gp": "local GP: variational with Pólya-Gamma updates in closed form; RBF kernel, whose length scale is the median "
    "distance to the 50th neighbour, and signal variance 9; cells of 256 instances, 128 neighbours behind a prediction; "
    "integrals by quadrature",
    "local-gp-learnt": "local GP, kernel learnt: the same, but the variational bound chooses among five length scales around "
    "that distance and among the signal variances 1, 4, 16 and 64",
    "sparse-gp": "sparse GP: {n_inducing} inducing points, {kernel}, Pólya-Gamma augmentation, natural gradients; "
    "integrals by quadrature",
    "random-forest": "random forest: {n_members} trees, which are the members of the mutual information",
    "deep-ensemble": "deep ensemble: {n_members} networks, hidden layers {backbone}, {epochs} epochs",
}
DEFAULTS = {"n_inducing": 500, "n_members": 100}


def _options_in_words(options: Mapping[str, Any]) -> str:
    return listed([f"{name} = {value}" for name, value in options.items()]) if options else "its own options"


def choice_notes(asked: AskedGain) -> list[str]:
    """Every choice that the paper does not print, for what is run."""
    notes = list(GENERAL)
    shares = dict.fromkeys(plan.plan.shares_sentence() for plan in asked.plans if isinstance(plan.plan, ToyPlan))
    if shares:
        notes.append(TOY_IN_WORDS.format(shares=listed(list(shares), last="or")))
        if len(asked.spreads) > 1:
            notes.append(SPREADS_IN_WORDS)
    for plan in asked.plans:
        if isinstance(plan.plan, Regions):
            notes.append(f"{plan.name}: {IMAGES_IN_WORDS.format(sentence=plan.plan.sentence())}")
    slices = [(plan, plan.slices[asked.preset]) for plan in asked.plans]
    used = {
        (method.name, plan.is_toy): (method, plan, slice_)
        for plan, slice_ in slices
        for method in asked.methods_of(slice_)
    }
    for (name, is_toy), (method, plan, slice_) in used.items():
        if name not in METHODS_IN_WORDS:
            notes.append(f"{method.label} is {name}, with {_options_in_words(method_options(method, plan, slice_))}")
            continue
        options = {**DEFAULTS, **method_options(method, plan, slice_)}
        options["kernel"] = _kernel(options)
        place = "toy data" if is_toy else "images"
        notes.append(f"{METHODS_IN_WORDS[name].format(**options)} ({place})")
    return notes


def _kernel(options: Mapping[str, Any]) -> str:
    if options.get("learn_kernel", True):
        return "learnt kernel"
    return f"RBF kernel of length scale {options['lengthscale']} and signal variance {options['signal_variance']}"
