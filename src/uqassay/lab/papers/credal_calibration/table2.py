"""Table 2 of the paper: classes, features and instances of its data sets, beside those that the loaders give."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from uqassay.errors import InputError, MissingDependencyError, UqassayError
from uqassay.lab.papers.credal_calibration.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.credal_calibration.table1_plans import BATCH, PAPER_SETS, PLANS, part_size
from uqassay.lab.papers.printed_cells import PrintedCell, printed_table
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.text import count

if TYPE_CHECKING:
    from uqassay.lab.datasets.registry import DatasetSizes

__all__ = ["COLUMNS", "reproduce_table2"]

COLUMNS = ("classes", "features", "n_train", "n_calibration", "n_test")
IMAGENET_CLASSES = 1000
NAN = float("nan")
Progress = Callable[[str], None]

NOTES = (
    f"calibration and test parts are halves of the instances that are not trained on, without the rest of a batch of {BATCH}; "
    "the paper does not say so, but all its sizes are of this form",
    "D = 1,000 is no number of a data set: for images it is the number of outputs of the networks pretrained on ImageNet, for "
    "bacteria and proteins the width of the hidden layer",
)
REASONS = {
    (
        "caltech-101",
        "classes",
    ): "the archive has 101 classes, and the printed sizes need all its images; the data set caltech-97 "
    "merges four pairs of classes of one kind of object, which gives 97 (our guess)",
    (
        "bacteria",
        "classes",
    ): "the paper does not say at which rank classes are formed; RIKEN's sequences have no labels of their own",
    (
        "bacteria",
        "n_train",
    ): "the printed parts have 12,859 sequences together; which of RIKEN's database are left out is not said",
    ("proteins", "classes"): "the paper does not say which sequences are left out",
    (
        "proteins",
        "n_train",
    ): "the printed parts have 22,006 sequences together, of the 22,168 enzymes of Li et al.; which are left "
    "out is not said",
}


def reproduce_table2(*, seed: int = 0, progress: Progress | None = None) -> Reproduction:
    """Compare the printed sizes with those of the data sets that are at hand.

    Parameters
    ----------
    seed : int
        Of the splits.
    progress : callable, optional
        Called with a line of text for each data set.

    Returns
    -------
    Reproduction
        ``table2/CIFAR-10/classes`` and so on; ours is nan for data sets that are not at hand, with a note.
    """
    say = progress or (lambda step: None)
    cells: list[PrintedCell] = []
    notes: list[str] = []
    for row in printed_table("credal_calibration_table2_datasets"):
        name = next(key for key, one in PAPER_SETS.items() if one.in_table2 == row["dataset"])
        say(f"reading {name}")
        sizes = _sizes(name, seed)
        if isinstance(sizes, UqassayError):
            notes.append(f"{name} is not at hand: {sizes}")
            cells += [_cell(name, row, column, NAN) for column in COLUMNS]
            continue
        part = part_size(sizes.n_test)
        found = (sizes.n_classes, _width(name), sizes.n_train, part, part)
        cells += [_cell(name, row, column, float(value)) for column, value in zip(COLUMNS, found, strict=True)]
        given = "images" if PAPER_SETS[name].images else f"{count(sizes.shape[0]) if sizes.shape else 'no'} features"
        notes.append(f"{name}: the loader gives {count(sizes.n_train)} and {count(sizes.n_test)} instances, {given}")
    return Reproduction("credal-calibration", SOURCE, tuple(cells), (*NOTES, *notes), listed=True, layouts=LAYOUTS)


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _sizes(name: str, seed: int) -> "DatasetSizes | UqassayError":
    """The sizes of a data set, or why it is not at hand."""
    from uqassay.lab.datasets.registry import sizes_of

    try:
        return sizes_of(name, rng=seed)
    except (InputError, MissingDependencyError) as problem:
        return problem


def _width(name: str) -> int:
    """D: numbers that enter the last layer of the networks as printed."""
    return IMAGENET_CLASSES if PAPER_SETS[name].images else PLANS["paper"].hidden[-1]


def _cell(name: str, row: dict[str, str], column: str, ours: float) -> PrintedCell:
    printed = float(row[column])
    cell = PrintedCell.within(f"table2/{row['dataset']}/{column}", printed, ours, ours, ours)
    if cell.agrees is not False:
        return cell
    why = REASONS.get((name, column), f"the files here have {count(int(ours))}")
    return PrintedCell.within(cell.name, printed, ours, ours, ours, note=why)
