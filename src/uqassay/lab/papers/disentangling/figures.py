"""Figures 1 to 13 of the disentanglement paper: curves of every method, and maps of uncertainty over the plane."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import one_of
from uqassay.evidence import EXPERIMENTS, Contender
from uqassay.lab.datasets.dataset import Dataset
from uqassay.lab.datasets.generated import triangle, two_moons
from uqassay.lab.papers.disentangling.printed import PARTS
from uqassay.lab.papers.disentangling.trainings import Conditions, training_sets
from uqassay.lab.papers.figure_files import check_folder, write_figure
from uqassay.lab.papers.options import Progress
from uqassay.measures import decompose
from uqassay.report.figures import draw_disentanglement_grid, plot_expected_behaviour
from uqassay.text import counted, percent

__all__ = [
    "MOONS",
    "PAPER_FIGURES",
    "TRIANGLE",
    "Maps",
    "Panel",
    "Setting",
    "curve_grid",
    "draw_maps",
    "mean_by_distance",
    "mean_by_side",
    "triangle_maps",
    "two_moons_maps",
    "write_disentanglement_figures",
    "write_map_figures",
]

# Figures 1, 2, 4 and 8 to 13 of the paper: expected behaviour, and the curves of every method and decomposition.

# data set and experiment: number of the figure in the paper
PAPER_FIGURES = {
    ("cifar-10", "dataset-size"): 2,
    ("cifar-10", "label-noise"): 4,
    ("fashion-mnist", "dataset-size"): 8,
    ("wine", "dataset-size"): 9,
    ("bci", "dataset-size"): 10,
    ("fashion-mnist", "label-noise"): 11,
    ("wine", "label-noise"): 12,
    ("bci", "label-noise"): 13,
}
PANEL = (2.7, 2.2)  # inches
MARGIN = (1.1, 0.9)


def write_disentanglement_figures(
    folder: str | os.PathLike[str], contenders: Sequence[Contender], *, level: float = 0.95
) -> list[Path]:
    """Write the expected behaviour, and the curves of each data set and experiment, as PNG files.

    Parameters
    ----------
    contenders : sequence of Contender
        Of a method and decomposition that occurs twice on a data set, the first is drawn.
    level : float
        Of the bands.

    Returns
    -------
    list of Path
        ``disentanglement_figure1.png``; ``disentanglement_figureN.png`` for the data sets of the paper, and
        ``disentanglement_DATASET_EXPERIMENT.png`` for others.
    """
    path = check_folder(folder)
    names = dict.fromkeys(one.study.dataset for one in contenders)
    groups = {name: [one for one in contenders if one.study.dataset == name] for name in names}
    written = [write_figure(path, "disentanglement_figure1", (10.5, 3.0), _expected)]
    for dataset, group in groups.items():
        for experiment in EXPERIMENTS[:2]:
            grid = curve_grid(group, experiment)
            if grid:
                written.append(_write_grid(path, dataset, experiment, grid, level))
    return written


def curve_grid(contenders: Sequence[Contender], experiment: str) -> list[list[Contender | None]]:
    """Contenders with this experiment as rows of decompositions and columns of methods; None where there is none."""
    found: dict[tuple[str, str], Contender] = {}
    for one in contenders:
        if experiment in one.study.measured:
            found.setdefault((one.decomposition, one.study.method), one)
    rows = list(dict.fromkeys(decomposition for decomposition, _ in found))
    columns = list(dict.fromkeys(method for _, method in found))
    return [[found.get((decomposition, method)) for method in columns] for decomposition in rows]


def _write_grid(folder: Path, dataset: str, experiment: str, grid: list[list[Contender | None]], level: float) -> Path:
    number = PAPER_FIGURES.get((dataset.lower(), experiment))
    safe = re.sub(r"[^\w-]+", "_", dataset)
    name = f"disentanglement_figure{number}" if number else f"disentanglement_{safe}_{experiment}"
    size = (MARGIN[0] + PANEL[0] * max(2, len(grid[0])), MARGIN[1] + PANEL[1] * len(grid))
    return write_figure(folder, name, size, lambda f: draw_disentanglement_grid(f, grid, experiment, level=level))


def _expected(figure: Any) -> None:
    panels = figure.subplots(1, len(EXPERIMENTS))
    for ax, experiment in zip(panels, EXPERIMENTS, strict=True):
        plot_expected_behaviour(experiment, ax=ax, legend=experiment == EXPERIMENTS[1])


# Maps of aleatoric and epistemic uncertainty over the plane: two moons (disentanglement, Figs. 3 and 7) and a triangle (Fig.
# 6).
#
# The paper prints neither the networks nor the sizes nor the noise of its two moons. Here they are 1,000 training
# instances with coordinates of standard deviation 0.15 about the half circles, and networks 2-32-32-2 as printed for
# the triangle, with dropout (0.3) on both hidden layers and 50 passes. Training is that of the paper's other
# experiments: Adam with a learning rate of 1e-3, batches of 128, 100 epochs. For the triangle the network is printed,
# the data are not: see `uqassay.lab.datasets.generated.triangle`; here they are 500 instances.

Array = NDArray[np.floating[Any]]

SHARES = (0.01, 0.1, 0.25, 0.5, 1.0)
NOISE_LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
HEADS = {"gaussian-logits": "gaussian-logits", "information-theoretic": "softmax"}  # by decomposition
NEAR, FAR = 0.25, 1.0  # distance from the nearest training instance of the whole set


@final
@dataclass(frozen=True, kw_only=True)
class Setting:
    """Data, networks and training of the maps.

    Parameters
    ----------
    noise : float
        Of the two moons.
    rate : float
        Of the dropout on all hidden layers.
    n_grid : int
        Points of the map along each axis.
    extent : tuple of four float
        Ends of the first axis, then of the second.
    """

    n_train: int = 1000
    noise: float = 0.15
    hidden: tuple[int, ...] = (32, 32)
    rate: float = 0.3
    n_passes: int = 50
    epochs: int = 100
    n_grid: int = 80
    extent: tuple[float, float, float, float] = (-2.5, 3.5, -2.0, 2.5)

    def grid(self) -> Array:
        """Points of the map, (n_grid², 2), row by row from the lower end of the second axis."""
        axes = (np.linspace(*self.extent[:2], self.n_grid), np.linspace(*self.extent[2:], self.n_grid))
        x, y = np.meshgrid(*axes)
        return np.stack([x.ravel(), y.ravel()], axis=1)

    def sentence(self) -> str:
        """The networks and their training, for a caption."""
        widths = "-".join(map(str, (2, *self.hidden, 2)))
        return (
            f"MC-Dropout {widths}, rate {self.rate:g} on all hidden layers, {counted(self.n_passes, 'pass', 'passes')}, "
            f"{counted(self.n_train, 'training instance')}"
        )


MOONS = Setting()
TRIANGLE = Setting(n_train=500, extent=(-1.0, 2.0, -1.75, 1.75))


@final
@dataclass(frozen=True, eq=False)
class Panel:
    """Both maps of one trained network."""

    decomposition: str
    value: float  #: Share of the training instances, or of the labels permuted
    #: (n_grid, n_grid): In nats; the first row is at the lower end of the second axis
    aleatoric: Array
    epistemic: Array
    #: (n, 2), int array (n,): Training instances of this network and their labels
    X: Array
    y: NDArray[np.int64]
    epochs: int
    accuracy: float  #: On test instances with their true labels


@final
@dataclass(frozen=True, eq=False)
class Maps:
    """Panels of one figure: decompositions × conditions."""

    experiment: str  #: {"dataset-size", "label-noise", "triangle"}
    epochs_by_share: bool  #: Whether the epochs are inversely proportional to the share
    values: tuple[float, ...]  #: One for each of C conditions
    panels: Mapping[str, tuple[Panel, ...]]  #: By decomposition, one for each condition
    data: Dataset  #: Before a condition changes it
    setting: Setting

    def caption(self) -> str:
        """Everything that the paper leaves open, for the reader of the figure."""
        text = self.setting.sentence()
        if self.experiment == "triangle":
            return f"{text}, {counted(self.setting.epochs, 'epoch')}"
        epochs = f"{self.setting.epochs} epochs" + (" / share" if self.epochs_by_share else "")
        return f"{text}, noise {self.setting.noise:g}, {epochs}"


def two_moons_maps(
    experiment: str = "dataset-size",
    *,
    values: Sequence[float] | None = None,
    epochs_by_share: bool = True,
    setting: Setting = MOONS,
    seed: int = 0,
    progress: bool = False,
) -> Maps:
    """Maps of both decompositions for several dataset sizes or levels of label noise, all networks trained side by side.

    Parameters
    ----------
    experiment : {"dataset-size", "label-noise"}
        Fig. 3a (and 7), or 3b.
    values : sequence of at least three float, optional
        Shares of the training instances, by default 1, 10, 25, 50 and 100 %; or of the labels, 0, 25, 50, 75 and 100 %.
    epochs_by_share : bool
        True for Fig. 3a, False for Fig. 7. No effect on label noise.
    """
    names = ("dataset-size", "label-noise")
    one_of(experiment, "experiment", names, "choose one")
    chosen = tuple(values) if values is not None else (SHARES, NOISE_LEVELS)[names.index(experiment)]
    conditions = Conditions(
        shares=chosen if experiment == names[0] else (),
        noise_levels=chosen if experiment == names[1] else (),
        left_out=(),
        epochs_by_share=epochs_by_share,
    )
    data = two_moons(setting.n_train, 1000, noise=setting.noise, rng=seed)
    sets = [
        (float(given.value), given.rows, given.y_train, given.epochs(setting.epochs))
        for given in training_sets(data, conditions, seed)
    ]
    panels = _trained(data, sets, HEADS, setting, seed, progress)
    by_share = epochs_by_share and experiment == names[0]
    return Maps(experiment, by_share, tuple(given[0] for given in sets), panels, data, setting)


def triangle_maps(*, setting: Setting = TRIANGLE, seed: int = 0, progress: bool = False) -> Maps:
    """The failure example of Fig. 6: information-theoretic parts, where the classes overlap more and more to the right."""
    data = triangle(setting.n_train, 1000, rng=seed)
    sets = [(1.0, np.arange(setting.n_train), data.y_train, setting.epochs)]
    panels = _trained(data, sets, {"information-theoretic": "softmax"}, setting, seed, progress)
    return Maps("triangle", False, (1.0,), panels, data, setting)


def _trained(
    data: Dataset,
    sets: Sequence[tuple[float, NDArray[np.intp], NDArray[np.int64], int]],
    heads: Mapping[str, str],
    setting: Setting,
    seed: int,
    progress: bool,
) -> dict[str, tuple[Panel, ...]]:
    """One network for each decomposition and condition (value, rows, labels, epochs)."""
    from uqassay.lab.methods import MCDropout, fit_together

    jobs = [(name, given) for name in heads for given in sets]
    models = [
        MCDropout(
            backbone=setting.hidden,
            where="all",
            rate=setting.rate,
            n_samples=setting.n_passes,
            head=heads[name],
            epochs=epochs,
            classes=(0, 1),
            standardise=False,  # one scale in all panels
            random_state=seed,
            progress=progress,
        )
        for name, (_, _, _, epochs) in jobs
    ]
    fit_together(models, [(data.X_train[rows], labels) for _, (_, rows, labels, _) in jobs])
    grid, side = setting.grid(), (setting.n_grid, setting.n_grid)
    found: dict[str, list[Panel]] = {name: [] for name in heads}
    for model, (name, (value, rows, labels, epochs)) in zip(models, jobs, strict=True):
        parts = decompose(model.predict_uncertainty(grid), name)
        accuracy = float((model.predict(data.X_test) == data.y_test).mean())
        aleatoric, epistemic = (np.asarray(part).reshape(side) for part in (parts.aleatoric, parts.epistemic))
        found[name].append(Panel(name, value, aleatoric, epistemic, data.X_train[rows], labels, epochs, accuracy))
    return {name: tuple(panels) for name, panels in found.items()}


# -- numbers that say what the pictures show -----------------------------------------------------------------------------------


def mean_by_distance(maps: Maps) -> list[dict[str, Any]]:
    """Mean uncertainty near to the data and far from them: one row for each panel and part.

    "near" are points within 0.25 of a training instance of the whole set, "far" those beyond 1 of all of them.
    """
    distance = _distance_to(maps.setting.grid(), maps.data.X_train)
    return _rows(maps, {"near": distance <= NEAR, "far": distance >= FAR})


def mean_by_side(maps: Maps) -> list[dict[str, Any]]:
    """Mean uncertainty outside the triangle data: to the left, without overlap of the classes, and to the right.

    "left" are points with a first coordinate below 0 and a second one within ±1, "right" those above 1. "inside" lies between.
    """
    x, y = maps.setting.grid().T
    level = np.abs(y) <= 1
    return _rows(maps, {"left": level & (x < 0), "inside": level & (x >= 0) & (x <= 1), "right": level & (x > 1)})


def _rows(maps: Maps, regions: Mapping[str, NDArray[np.bool_]]) -> list[dict[str, Any]]:
    return [
        {"decomposition": panel.decomposition, "part": part, "value": panel.value, "epochs": panel.epochs}
        | {name: float(getattr(panel, part).ravel()[where].mean()) for name, where in regions.items()}
        | {"accuracy": panel.accuracy}
        for panels in maps.panels.values()
        for part in PARTS
        for panel in panels
    ]


def _distance_to(points: Array, instances: Array) -> Array:
    """Distance of each point to the nearest instance, (P, 2) and (n, 2) -> (P,)."""
    squares = (points**2).sum(axis=1)[:, None] - 2 * points @ instances.T + (instances**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squares.min(axis=1), 0.0)))


# Figures 3, 6 and 7 of the paper: maps of uncertainty over the plane, lighter where it is greater.

TITLES = {"gaussian-logits": "Gaussian logits", "information-theoretic": "Information-theoretic"}
COLOURS = "viridis"  # lighter is more


def draw_maps(figure: Any, maps: Maps) -> None:
    """Draw all panels on a matplotlib figure: lighter is more uncertain, each row has one scale and its bar.

    Training instances are white dots (class 0) and black dots (class 1).
    """
    rows = [(name, part) for name in maps.panels for part in PARTS]
    triangular = maps.experiment == "triangle"
    shape = (1, len(PARTS)) if triangular else (len(rows), len(maps.values))
    axes = figure.subplots(*shape, squeeze=False, sharex=True, sharey=True)
    for k, (name, part) in enumerate(rows):
        panels = maps.panels[name]
        line = [axes[0, k]] if triangular else list(axes[k])
        top = max(float(getattr(panel, part).max()) for panel in panels)
        for ax, panel in zip(line, panels, strict=True):
            image = ax.imshow(
                getattr(panel, part),
                origin="lower",
                extent=maps.setting.extent,
                cmap=COLOURS,
                vmin=0.0,
                vmax=top,
                aspect="equal",
                interpolation="bilinear",
            )
            _draw_instances(ax, panel)
            if triangular:
                ax.set_title(part.capitalize(), fontsize="medium")
            elif k == 0:
                ax.set_title(_column(maps, panel), fontsize="medium")
        if not triangular:
            line[0].set_ylabel(f"{TITLES[name]}\n{part}", fontsize="small")
        figure.colorbar(image, ax=line, label="nats", pad=0.01, aspect=15 if not triangular else 20, shrink=0.9)
    figure.supxlabel(maps.caption(), fontsize="small")


def _draw_instances(ax: Any, panel: Panel) -> None:
    size = 14.0 if len(panel.y) < 100 else 5.0
    for k, (face, edge) in enumerate((("white", "black"), ("black", "white"))):
        ax.scatter(*panel.X[panel.y == k].T, s=size, c=face, edgecolors=edge, linewidths=0.35)
    ax.set_xticks([])
    ax.set_yticks([])


def _column(maps: Maps, panel: Panel) -> str:
    if maps.experiment == "label-noise":
        return f"{percent(panel.value, 0)} of the labels permuted"
    return f"{percent(panel.value, 0)} of the data"


def write_map_figures(
    folder: str | os.PathLike[str],
    *,
    moons: Setting = MOONS,
    triangle: Setting = TRIANGLE,
    seed: int = 0,
    progress: Progress = None,
) -> dict[Path, list[dict[str, Any]]]:
    """Compute and draw Figs. 3a, 3b, 6 and 7 as PNG files.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    progress : callable, optional
        Takes the name of each figure.

    Returns
    -------
    dict of Path to list of dict
        Files, each with the rows of `mean_by_distance` or `mean_by_side`.
    """
    place = check_folder(folder)
    smaller = partial(two_moons_maps, setting=moons, seed=seed)
    figures: dict[str, Callable[[], Maps]] = {
        "figure_3a_two_moons_dataset_size": smaller,
        "figure_3b_two_moons_label_noise": partial(two_moons_maps, "label-noise", setting=moons, seed=seed),
        "figure_7_two_moons_constant_epochs": partial(smaller, epochs_by_share=False),
        "figure_6_triangle": partial(triangle_maps, setting=triangle, seed=seed),
    }
    written = {}
    for name, make in figures.items():
        if progress is not None:
            progress(name.replace("_", " "))
        maps = make()
        triangular = maps.experiment == "triangle"
        size = (7.6, 4.2) if triangular else (1.5 + 2.6 * len(maps.values), 8.6)
        path = write_figure(place, name, size, partial(draw_maps, maps=maps))
        written[path] = mean_by_side(maps) if triangular else mean_by_distance(maps)
    return written
