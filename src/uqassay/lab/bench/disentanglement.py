"""The disentanglement benchmark from the stored results of a bench folder.

A folder holds the benchmark if its conditions have at least three shares of the training instances and three shares of permuted
labels that agree in their other keys; classes that are left out come third. See `uqassay.lab.bench.conditions`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.evidence import Contender, DisentanglementStudy, Measured, contenders_of
from uqassay.lab.bench.cell import Cell, canonical_json
from uqassay.lab.bench.store import Store
from uqassay.measures import DECOMPOSITIONS, Decomposition, decompose
from uqassay.notes import Note
from uqassay.predictions import Prediction
from uqassay.text import counted, listed

__all__ = ["DEFAULTS", "PAGE", "BenchStudies", "bench_studies", "holds_experiments"]

PAGE = "disentanglement.html"
KEYS = {"train_share": "dataset-size", "label_noise": "label-noise", "left_out_class": "left-out-class"}
NEUTRAL = {"dataset-size": 1.0, "label-noise": 0.0}  # values under which the data are unchanged
LEAST = 3  # conditions of an experiment: the correlation of two points is always 1 or −1
DEFAULTS = ("information-theoretic", "gaussian-logits")
SHOWN = 3  # cells that are missing, in a note


@final
@dataclass(frozen=True, eq=False)
class BenchStudies:
    """The studies of all methods on one data set."""

    dataset: str
    studies: tuple[DisentanglementStudy, ...]  #: One for each method and setting, in the order of the methods
    notes: tuple[Note, ...] = ()  #: Methods and runs that are left out, and why

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """Each method with each of its decompositions."""
        return tuple(contender for study in self.studies for contender in contenders_of(study))


@final
@dataclass(frozen=True, eq=False)
class _Plan:
    """Conditions that make up the experiments: for each experiment its values with the conditions' JSON."""

    setting: Mapping[str, Any]
    experiments: dict[str, dict[Any, str]]
    is_only: bool = field(default=True)

    def label(self, method: str) -> str:
        """The method, with its setting if there are several."""
        words = [f"{key} {value}" for key, value in sorted(self.setting.items())]
        return method if self.is_only else f"{method} ({', '.join(words) or 'no further keys'})"


def holds_experiments(cells: Sequence[Cell]) -> bool:
    """Whether the conditions of a benchmark are those of at least one disentanglement benchmark."""
    return any(_plans([cell for cell in cells if cell.dataset == name]) for name in {cell.dataset for cell in cells})


def bench_studies(
    cells: Sequence[Cell],
    folder: Path,
    *,
    decompositions: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[BenchStudies]:
    """The studies of the methods by their stored results.

    Parameters
    ----------
    cells : sequence of Cell
        The benchmark.
    folder : Path
        Of the results.
    decompositions : sequence of str, optional
        Names of `uqassay.measures.DECOMPOSITIONS`; `DEFAULTS` if not given. A method has those that its predictions offer.
    progress : callable, optional
        Called with the name of each cell that is read.

    Returns
    -------
    list of BenchStudies
        One for each data set with the conditions of the benchmark. A run counts if all its cells are done; without a class
        left out, if those of the first two experiments are.
    """
    store = Store(folder, create=False)
    done = {found.key for found in store.states([cell.key for cell in cells]) if found.state == "done"}
    found = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        here = [cell for cell in cells if cell.dataset == dataset]
        studies: list[DisentanglementStudy] = []
        notes: list[Note] = []
        plans = _plans(here)
        for plan in plans:
            for method in dict.fromkeys(cell.method for cell in here):
                of_method = [cell for cell in here if cell.method == method]
                study, said = _study(store, plan, of_method, done, decompositions, progress)
                studies += [] if study is None else [study]
                notes += said
        if plans:
            found.append(BenchStudies(dataset, tuple(studies), tuple(notes)))
    return found


# -- conditions -------------------------------------------------------------------------------------------------------


def _plans(cells: Sequence[Cell]) -> list[_Plan]:
    """The benchmarks among the conditions of one data set; one for each setting of the other keys."""
    settings: dict[str, dict[str, Any]] = {}
    by_setting: dict[str, dict[str, dict[Any, str]]] = {}
    for condition in {canonical_json(cell.condition): cell.condition for cell in cells}.values():
        keys = [key for key in KEYS if key in condition]
        rest = {key: value for key, value in condition.items() if key not in (*KEYS, "epochs_by_share")}
        text = canonical_json(rest)
        settings[text] = rest
        held = by_setting.setdefault(text, {})
        if len(keys) == 1:
            name = KEYS[keys[0]] + (" by share" if condition.get("epochs_by_share") else "")
            held.setdefault(name, {})[condition[keys[0]]] = canonical_json(condition)
        elif not keys:
            held["unchanged"] = {None: canonical_json(condition)}
    plans = []
    for text, held in by_setting.items():
        for name in ("dataset-size", "dataset-size by share"):
            experiments = {
                "dataset-size": _with_unchanged(held, name),
                "label-noise": _with_unchanged(held, "label-noise"),
                "left-out-class": held.get("left-out-class", {}),
            }
            if name in held and all(len(experiments[one]) >= LEAST for one in NEUTRAL):
                by_share = {"epochs_by_share": True} if name.endswith("by share") else {}
                plans.append(_Plan(settings[text] | by_share, {k: v for k, v in experiments.items() if v}))
    return [_Plan(plan.setting, plan.experiments, len(plans) == 1) for plan in plans]


def _with_unchanged(held: Mapping[str, dict[Any, str]], name: str) -> dict[Any, str]:
    """An experiment's conditions by ascending value; that without a change stands for the share 1 or the level 0."""
    found = dict(held.get(name, {}))
    for text in held.get("unchanged", {}).values():
        found.setdefault(NEUTRAL[name.removesuffix(" by share")], text)
    return dict(sorted(found.items()))


# -- results ----------------------------------------------------------------------------------------------------------


def _study(
    store: Store,
    plan: _Plan,
    cells: Sequence[Cell],
    done: set[str],
    decompositions: Sequence[str] | None,
    progress: Callable[[str], None] | None,
) -> tuple[DisentanglementStudy | None, list[Note]]:
    """The study of one method from its complete runs, or the reasons why there is none."""
    label = plan.label(cells[0].method)
    by_place = {(cell.seed, canonical_json(cell.condition)): cell for cell in cells}
    seeds = list(dict.fromkeys(cell.seed for cell in cells))
    experiments, runs, notes = _complete(plan, by_place, seeds, done, label)
    if not runs:
        return None, [Note("left-out", f"{label} is left out, because it has no complete run"), *notes]
    first = store.result(by_place[runs[0], next(iter(plan.experiments["dataset-size"].values()))].key)
    names, unknown = _offered(first.prediction, decompositions)
    if unknown:
        text = f"predictions of {label} do not have the decomposition {listed(list(unknown), last='or')}"
        notes.append(Note("left-out", text, {"method": label, "decompositions": unknown}))
    if not names:
        return None, notes
    class_names = first.class_names or tuple(map(str, range(first.prediction.n_classes)))
    measured = {
        experiment: _measured(
            store,
            [[by_place[seed, text] for text in conditions.values()] for seed in runs],
            tuple(_number(value, class_names) for value in conditions),
            names,
            progress,
        )
        for experiment, conditions in experiments.items()
    }
    if not plan.setting.get("subsets_by_seed") and len(runs) > 1:
        text = (
            "intervals are about the training alone, because all runs have the same training instances and permuted labels: "
            "set subsets_by_seed to vary them"
        )
        notes.append(Note("assumption", text))
    facts = {"params": dict(cells[0].params), "setting": dict(plan.setting)}
    study = DisentanglementStudy(label, cells[0].dataset, tuple(runs), class_names, measured, facts, tuple(notes))
    return study, notes


def _complete(
    plan: _Plan, by_place: Mapping[tuple[int, str], Cell], seeds: Sequence[int], done: set[str], label: str
) -> tuple[dict[str, dict[Any, str]], list[int], list[Note]]:
    """The experiments to use, the seeds whose cells are all done, and notes on the others."""
    experiments = plan.experiments

    def missing(seed: int) -> Iterator[Cell]:
        for conditions in experiments.values():
            yield from (by_place[seed, text] for text in conditions.values() if by_place[seed, text].key not in done)

    notes = []
    if "left-out-class" in experiments and all(any(missing(seed)) for seed in seeds):
        first_two = {name: experiments[name] for name in NEUTRAL}
        experiments, all_three = first_two, experiments
        if all(any(missing(seed)) for seed in seeds):
            experiments = all_three
        else:
            text = f"the classes left out are not shown for {label}, because no run has all of them"
            notes.append(Note("left-out", text, {"method": label}))
    absent = {seed: cells for seed in seeds if (cells := list(missing(seed)))}
    if absent:
        cells = [cell for seed in absent for cell in absent[seed]]
        more = f" and {len(cells) - SHOWN} more" if len(cells) > SHOWN else ""
        text = (
            f"{counted(len(absent), 'run')} of {label} left out (seeds {listed([str(seed) for seed in absent])}), because "
            f"{counted(len(cells), 'cell')} not done: {listed([cell.name for cell in cells[:SHOWN]])}{more}"
        )
        notes.append(Note("left-out", text, {"method": label, "seeds": list(absent)}))
    return experiments, [seed for seed in seeds if seed not in absent], notes


def _offered(prediction: Prediction, asked: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the decompositions that a kind of prediction has, and the names asked for that it does not have."""
    has = tuple(name for name in asked or DEFAULTS if DECOMPOSITIONS[name].offered_by(prediction))
    lacks = tuple(name for name in asked or DEFAULTS[:1] if name not in has)
    return has, lacks


def _measured(
    store: Store,
    cells: Sequence[Sequence[Cell]],
    conditions: tuple[float, ...],
    names: Sequence[str],
    progress: Callable[[str], None] | None,
) -> Measured:
    """One experiment from its cells, runs by conditions."""
    say = progress or (lambda step: None)
    labels: list[list[NDArray[Any]]] = []
    probs: list[list[NDArray[Any]]] = []
    parts: dict[str, list[list[Decomposition]]] = {name: [] for name in names}
    for run in cells:
        labels.append([])
        probs.append([])
        for of_name in parts.values():
            of_name.append([])
        for cell in run:
            say(f"decomposing {cell.name}")
            result = store.result(cell.key)
            _check_result(cell, result.labels, labels[0])
            labels[-1].append(result.labels)
            probs[-1].append(result.prediction.mean_probs())
            for name in names:
                parts[name][-1].append(decompose(result.prediction, name))
    stacked = {
        name: Decomposition(
            *(
                np.array([[getattr(one, part) for one in run] for run in runs])
                for part in ("total", "aleatoric", "epistemic")
            )
        )
        for name, runs in parts.items()
    }
    return Measured(conditions, np.array(labels), np.array(probs), stacked)


def _check_result(cell: Cell, labels: NDArray[Any], before: Sequence[NDArray[Any]]) -> None:
    if labels.ndim != 1 or (before and len(labels) != len(before[0])):
        rule = "must be one class for each of the same test instances in all cells"
        got = f"those of {cell.name} have shape {labels.shape}"
        fail("labels", rule, got, "use the same test instances in all cells", code="mismatch")


def _number(value: Any, class_names: Sequence[str]) -> float:
    """A share, or the index of a class."""
    return float(class_names.index(value) if isinstance(value, str) else value)
