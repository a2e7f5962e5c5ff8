"""Notes of the reproduction of paper 002: every choice that the paper does not print, and what happened in the runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from uqassay.experiments.gain.choices import AskedGain, method_options
from uqassay.experiments.gain.regions import Regions, ToyPlan
from uqassay.experiments.gain.tables import GainRow
from uqassay.wording import count, counted, listed, number

__all__ = ["choice_notes", "run_notes"]

GENERAL = (
    "entropies are in nats; the paper prints no base of its logarithm, so the EECE is also shown in bits, in which the entropy "
    "lies between 0 and 1",
    "EECE: each of 20 intervals of equally many test instances is weighted by its instances, as in the text; the printed "
    "formula has 1/M in front. Calibrated estimates are judged in the same intervals",
    "calibration: the estimates of the classifier trained on D_train2 fill the intervals of the test; the outer intervals are "
    "extended, empty ones left out; isotonic regression of the mean gains",
    "intervals are t intervals over the runs, 95 %; ± is the standard deviation over the runs",
)
TOY = (
    "toy data: the printed covariance I contradicts the figure, so the spread of the clusters is stated; the index is "
    "k + 46(j − 1) in place of j + 46k, which would leave 342 clusters without a class. The discs and their shares are chosen "
    "here, see uqassay.datasets.disc_layouts: 30 discs of radius 2.7, {shares}, q = 30 %. Every run has its own data"
)
SPREADS = (
    "the paper's EECE of the entropy, .393, is met near a spread of .35 in nats; few points of high aleatoric uncertainty, as "
    "the text has it, need .25 or less"
)
IMAGES = (
    "training and test part are merged before the PCA; pixels in [0, 1]; {sentence}. Every run has its own balls and its own "
    "trainings"
)
SPLIT_CODES = ("parts", "overlap")
WORDS = {"mutual-information": "mutual information", "entropy": "entropy"}
METHODS = {
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


def choice_notes(asked: AskedGain) -> list[str]:
    """Every choice that the paper does not print, for what is run."""
    notes = list(GENERAL)
    shares = dict.fromkeys(plan.plan.shares_sentence() for plan in asked.plans if isinstance(plan.plan, ToyPlan))
    if shares:
        notes.append(TOY.format(shares=listed(list(shares), last="or")))
        if len(asked.spreads) > 1:
            notes.append(SPREADS)
    for plan in asked.plans:
        if isinstance(plan.plan, Regions):
            notes.append(f"{plan.name}: {IMAGES.format(sentence=plan.plan.sentence())}")
    slices = [(plan, plan.slices[asked.preset]) for plan in asked.plans]
    used = {
        (method.name, plan.is_toy): (method, plan, slice_)
        for plan, slice_ in slices
        for method in asked.methods_of(slice_)
    }
    for (name, is_toy), (method, plan, slice_) in used.items():
        options = {**DEFAULTS, **method_options(method, plan, slice_)}
        options["kernel"] = _kernel(options)
        place = "toy data" if is_toy else "images"
        notes.append(f"{METHODS[name].format(**options)} ({place})")
    return notes


def _kernel(options: Mapping[str, Any]) -> str:
    if options.get("learn_kernel", True):
        return "learnt kernel"
    return f"RBF kernel of length scale {options['lengthscale']} and signal variance {options['signal_variance']}"


def run_notes(rows: Sequence[GainRow]) -> list[str]:
    """What the splits of the first run gave, and the intervals that the calibrations left empty."""
    notes = []
    for label in dict.fromkeys(row.label for row in rows):
        here = [row for row in rows if row.label == label]
        facts, first = here[0].study.facts, here[0].study.runs[0]
        if "radius" in facts:
            radius, n = number(facts["radius"], 2), counted(facts["neighbours"], "neighbour")
            notes.append(f"{label}: {facts['data']}; R = {radius} for {n} of {counted(facts['instances'], 'instance')}")
        notes += [f"{label}, first run: {note.text}" for note in first.notes if note.code in SPLIT_CODES]
        notes += [text for row in here for text in _map_notes(row)]
    return notes


def _map_notes(row: GainRow) -> list[str]:
    """Intervals of the test without a calibration instance, and calibration instances outside the intervals, over all runs."""
    found = []
    for name, result in row.results.items():
        maps = [run.gain_map for run in result.runs if run.gain_map is not None]
        empty, outside = (sum(getattr(one, part) for one in maps) for part in ("n_empty", "n_outside"))
        if empty or outside:
            bins = counted(sum(run.raw.n_bins for run in result.runs), "interval")
            found.append(
                f"{row.label}, {row.method.label}, {WORDS[name]}: {count(empty)} of {bins} without a calibration instance; "
                f"{counted(outside, 'calibration instance')} outside the intervals of the test, counted in the outer ones"
            )
    return found
