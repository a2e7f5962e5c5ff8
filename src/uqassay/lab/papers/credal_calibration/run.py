"""The protocol of the paper: error rates, Table 1 on what is given, Table 2."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from uqassay.checks import fail, one_of, whole
from uqassay.lab.papers.credal_calibration.error_rates import (
    NOTES,
    ErrorRates,
    Plan,
    error_cells,
    error_rates,
    read_rates,
)
from uqassay.lab.papers.credal_calibration.plan import PAPER_SETS, Table1Options, plan_of
from uqassay.lab.papers.credal_calibration.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.credal_calibration.scenarios import CredalSetting
from uqassay.lab.papers.credal_calibration.tables import (
    holds_training_data,
    reproduce_table1,
    reproduce_table2,
    table1_steps,
)
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.options import OwnMethod, Progress, Say, Workers, taken_by
from uqassay.lab.papers.reproduction import Reproduction

__all__ = [
    "FIGURES",
    "steps_of_credal_calibration",
]


# Table 1 of the paper on what is given: saved ensembles, files to train on, or the data sets of a preset.

OF_TESTS = ("data", "resample")  # options that trainings do not need


def any_table1(
    preset: str,
    conventions: Sequence[str],
    *,
    options: Table1Options,
    n_draws: int,
    seed: int,
    workers: int,
    resume: str | os.PathLike[str] | None,
    progress: Progress,
) -> Reproduction:
    """Judge saved ensembles if `options.data` holds such; else train predictors and judge them.

    Parameters
    ----------
    conventions : sequence of {"exact", "paper-code"}
    n_draws : int
        D for saved ensembles.
    seed, workers, resume, progress
        As `reproduce_trained_table1`.
    """
    data = options.data
    if data is None or holds_training_data(data):
        from uqassay.lab.papers.credal_calibration.training import reproduce_trained_table1

        return reproduce_trained_table1(
            preset, conventions, options=options, seed=seed, workers=workers, resume=resume, progress=progress
        )
    of_training = options.given() | ({} if resume is None else {"resume": resume})
    for name in [name for name in of_training if name not in OF_TESTS]:
        rule = "does not apply to table1 with data that are saved ensembles, since nothing is trained"
        remedy = "leave it out, or give a folder with train.npz and test.npz (X, y)"
        fail(name, rule, f"{os.fspath(data)} has no instances", remedy, code="conflict")
    return reproduce_table1(
        data, conventions, n_draws=n_draws, seed=seed, resample=bool(options.resample), progress=progress
    )


def any_table1_steps(preset: str, n_conventions: int, options: Table1Options) -> int:
    """Approximate number of calls of ``progress``."""
    if options.data is None or holds_training_data(options.data):
        from uqassay.lab.papers.credal_calibration.training import trained_steps

        return trained_steps(plan_of(preset, options))
    return n_conventions * table1_steps(options.data)


# Error rates of the credal calibration test: the paper's four figures; Table 1 on other ensembles; Table 2's sizes.
#
# Credal calibration, section 4.1, Figure 1, appendix B, Figures 2 to 4, section 4.2, Table 1, and appendix A.2, Table 2.

FIGURES = {
    "1": CredalSetting(),
    "2": CredalSetting(spread=0.1),
    "3": CredalSetting(n_members=100),
    "4": CredalSetting(n_classes=100),
}
TABLE, SIZES = "table1", "table2"
PRESETS = {"smoke": (4, 20), "cpu": (200, 100), "gpu-hour": (0, 100), "paper": (1000, 100)}  # R and D
CONVENTIONS = {"exact": ("exact",), "paper-code": ("paper-code",), "both": ("exact", "paper-code")}
NULLS = ("random", "minimised")


def reproduce_credal_calibration(
    *,
    preset: Annotated[
        str,
        "R data sets with D null draws: 4 and 20 (only a check that the code runs), 200 and 100, 1,000 and 100 in "
        '"paper". For Table 1 of given ensembles, D alone; of trained predictors, their data sets, networks and epochs, '
        'as printed in "paper". Table 1 alone has "gpu-hour".',
    ] = "cpu",
    figure: Annotated[
        str,
        "N = 100, M = K = 10, u = 0.01; u = 0.1; M = 100; K = 100; Table 1, of the ensembles in data or of four "
        "predictors that are trained; or Table 2, the sizes of the data sets that are at hand.",
        ("1", "2", "3", "4", "table1", "table2"),
    ] = "1",
    convention: Annotated[
        str,
        "The paper's text, its authors' code, or both in turn.",
        ("exact", "paper-code", "both"),
    ] = "exact",
    null: Annotated[
        str,
        "The paper's null distribution or ours; the authors' code has only the former. Table 1 has both.",
        ("random", "minimised"),
    ] = "random",
    resample: Annotated[
        bool | None,
        "Draw instances with replacement under the null hypothesis, as printed in Algorithm 1. By default figures with "
        "the random null do, and Table 1 does not; the minimised null and the authors' code never resample.",
    ] = None,
    runs: Annotated[
        int | None, "Number of data sets R, or of trainings of each predictor of Table 1, instead of the preset's."
    ] = None,
    workers: Workers = 1,
    seed: Annotated[int, "Seed of every random draw."] = 0,
    resume: Annotated[
        str | os.PathLike[str] | None,
        "Folder for finished data sets, or for the trainings of Table 1; the same command continues an interrupted run, "
        "also with more runs. Results that another version made are not used, and a note says so.",
    ] = None,
    data: Annotated[
        str | os.PathLike[str] | None,
        "For Table 1: a folder of ensembles, or one with train.npz and test.npz (X, y) to train on in place of the files "
        "of the only data set, such as a copy of CIFAR-10.",
    ] = None,
    data_name: Annotated[str | None, "Name of these files in the table."] = None,
    dataset: Annotated[
        str | Sequence[str] | None,
        'Data sets of the paper to train on: "cifar-10", "caltech-101", "caltech-256", "plantclef", "bacteria", '
        '"proteins".',
    ] = None,
    predictors: Annotated[
        str | Sequence[str] | None, f"For Table 1: names of predictors as in the paper. {OwnMethod}"
    ] = None,
    architectures: Annotated[
        str | Sequence[str] | None,
        'Networks for images: "MobileNetV2" and "VGG16", pretrained on ImageNet, which need torchvision; "cnn-small", '
        '"cnn" and "resnet50", with fresh weights.',
    ] = None,
    epochs: Annotated[int | None, "Epochs of all trainings, instead of the preset's."] = None,
    batch_size: Annotated[int | None, "Training instances in a batch, instead of the preset's."] = None,
    weight_decay: Annotated[float | None, "Weight decay of all trainings, instead of the preset's."] = None,
    end_to_end: Annotated[
        bool | None,
        "Whether pretrained networks are trained as a whole (the default, as printed), or the new layer alone.",
    ] = None,
    head: Annotated[
        str | None,
        "Whether the new layer follows the 1,000 outputs of a pretrained network (the default) or stands in place of "
        "their layer.",
        ("added", "replaced"),
    ] = None,
    image_size: Annotated[
        int | None,
        "Height and width of the images in the networks; 224 for pretrained ones.",
    ] = None,
    read_size: Annotated[
        int | None,
        "Height and width at which files of images are read and held in memory, 224 by default.",
    ] = None,
    figures: Annotated[
        str | os.PathLike[str] | None,
        "Folder for the figure as a PNG file, for Figure 1 also its left part, the scenarios in the simplex; needs "
        "matplotlib.",
    ] = None,
    progress: Progress = None,
) -> Reproduction:
    """Measure the error rates of the credal calibration test, or apply it to ensembles.

    Returns
    -------
    Reproduction
        ``figure1/exact/S1/ece-confidence/alpha=0.05`` and so on, our rates with 95 % intervals; the paper draws curves without
        numbers, so nothing is compared. Or ``table1/…``, ``table2/…``. The reading has tables and reference values.

    Examples
    --------
    >>> result = reproduce_credal_calibration(preset="smoke", runs=1)
    >>> result.rows[1].name, 0 <= result.rows[1].ours <= 1
    ('figure1/exact/S1/skce-ul/alpha=0.05', True)
    """
    _check(preset, figure, convention, null, seed)
    if resample and (null == "minimised" or convention == "paper-code"):
        other = "the minimised null" if null == "minimised" else "the authors' code"
        fail("resample", f"{other} never draws instances with replacement", "got True", "leave it out", code="conflict")
    if null == "minimised" and convention != "exact":
        rule = "must be random in the authors' code"
        fail("null", rule, f"got {null!r} with {convention!r}", "choose exact", code="conflict")
    options = Table1Options(
        data=data,
        data_name=data_name,
        resample=resample if figure == TABLE else None,
        runs=runs if figure == TABLE else None,
        dataset=dataset,
        predictors=predictors,
        architectures=architectures,
        epochs=epochs,
        batch_size=batch_size,
        weight_decay=weight_decay,
        end_to_end=end_to_end,
        head=head,
        image_size=image_size,
        read_size=read_size,
    )
    if figure in (TABLE, SIZES):
        _refuse_given({"figures": figures}, f"does not apply to {figure}, which draws no data sets")
    if figure == SIZES:
        of_tests = {
            "convention": None if convention == "exact" else convention,
            "null": None if null == "random" else null,
            "resample": resample or None,
        }
        _refuse_given(
            of_tests | {"resume": resume, "runs": runs} | options.given(),
            f"does not apply to {SIZES}, which tests nothing",
        )
        return reproduce_table2(seed=seed, progress=progress)
    if figure == TABLE:
        return any_table1(
            preset,
            CONVENTIONS[convention],
            options=options,
            n_draws=PRESETS[preset][1],
            seed=seed,
            workers=workers,
            resume=resume,
            progress=progress,
        )
    _check_figure_alone(figure, preset, options)
    check_figures(figures)
    n_runs, n_draws = PRESETS[preset]
    found: list[ErrorRates] = []
    for name in CONVENTIONS[convention]:
        resampled = null == "random" and name == "exact" and resample is not False
        plan = Plan(FIGURES[figure], name, null, resampled, n_draws, seed)  # type: ignore[arg-type]
        say = None if progress is None else _named(progress, f"figure {figure}, {name}")
        found.append(error_rates(plan, n_runs if runs is None else runs, workers=workers, resume=resume, progress=say))
    cells = [cell for rates in found for cell in error_cells(figure, rates)]
    reading = read_rates(figure, found)
    if figures is not None:
        from uqassay.lab.papers.credal_calibration.figures import write_error_figure, write_scenario_figure

        if figure == "1":
            reading.append(f"figure: {write_scenario_figure(figures, seed=seed)}")
        reading.append(f"figure: {write_error_figure(figures, figure, found)}")
    notes = (*NOTES, *(note for rates in found for note in rates.notes))
    return Reproduction("credal-calibration", SOURCE, tuple(cells), notes, tuple(reading), layouts=LAYOUTS)


def steps_of_credal_calibration(
    *, preset: str = "cpu", figure: str = "1", convention: str = "exact", runs: int | None = None, **further: Any
) -> int:
    """Number of calls of ``progress``."""
    conventions = len(CONVENTIONS.get(convention, ("exact",)))
    if figure == SIZES:
        return len(PAPER_SETS)
    if figure == TABLE:
        return any_table1_steps(preset, conventions, Table1Options(**taken_by(Table1Options, further)))
    return conventions * (PRESETS.get(preset, (1, 1))[0] if runs is None else max(1, runs))


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _check(preset: str, figure: str, convention: str, null: str, seed: int) -> None:
    for name, value, known in (
        ("preset", preset, tuple(PRESETS)),
        ("figure", figure, (*FIGURES, TABLE, SIZES)),
        ("convention", convention, tuple(CONVENTIONS)),
        ("null", null, NULLS),
    ):
        one_of(value, name, known, "choose one of them")
    whole(seed, "seed", "0 is the default", least=0)


def _refuse_given(options: Mapping[str, Any], rule: str) -> None:
    for name, value in options.items():
        if value is not None:
            fail(name, rule, f"got {value!r}", "leave it out", code="conflict")


def _check_figure_alone(figure: str, preset: str, options: Table1Options) -> None:
    """Refuse what figures do not have, whose data sets are synthetic."""
    for name, value in options.given().items():
        rule = f"does not apply to figure {figure}, which is synthetic"
        fail(name, rule, f"got {value!r}", "it belongs to Table 1; leave it out here", code="conflict")
    if preset == "gpu-hour":
        rule = f"gpu-hour is for {TABLE} alone"
        fail("preset", rule, f"got figure {figure}", "choose smoke, cpu or paper", code="conflict")


def _named(progress: Say, name: str) -> Say:
    return lambda step: progress(f"{name}: {step}")
