"""The unified evaluation with predictors trained here: Tables 1, 2 and 4 to 10, Figures 1 to 20.

Eight predictors are trained and judged in both conventions, the exact one and that of the authors' code. Printed values are
compared by the preset "paper" on the paper's data alone; elsewhere they are context.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from uqassay.checks import one_of
from uqassay.lab.bench.store import older_notes
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.options import (
    Figures,
    FirstSeed,
    OtherFiles,
    OwnMethod,
    Progress,
    Workers,
    check_whole,
    given_files,
)
from uqassay.lab.papers.reproduction import NO_EVIDENCE, Reproduction
from uqassay.lab.papers.trainings import all_failed, failure_notes, folder_of, train_cells
from uqassay.lab.papers.unified.judging import (
    FOUR_CLASSES,
    JudgedDataSet,
    check_four_classes,
    incomplete_notes,
    judge,
    training_cells,
)
from uqassay.lab.papers.unified.plan import PLANS, PRESETS, chosen_predictors, data_set_names, trained_data
from uqassay.lab.papers.unified.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.unified.tables import (
    ablation_cells,
    ablation_lines,
    claim_lines,
    table_cells,
    table_lines,
    vertex_notes,
)
from uqassay.text import count, counted

__all__ = [
    "PRESETS",
    "reproduce_unified",
    "steps_of_unified",
]


NOTES = (
    "exact: all events, nothing clipped, Dirichlet distributions as they are stated. paper: as the authors' code, masses "
    "clipped and renormalised over the classes and the sets that RS-NN chose in its first run, concentrations of EDL divided "
    "by their sum",
    "LB-BNN has the bridge as printed, and as many draws span its set as that of EDL; LB-BNN Avg is the mean of the Dirichlet",
    "E-CNN is judged by its masses, where the authors judge 1,023 normalised utilities as if they were masses",
    "CreINN has interval weights in all layers of mlp, cnn and cnn-small, and in the head alone with resnet50",
    "not printed, so chosen here: initial weights are those of He et al. (2015) in resnet50 and of PyTorch elsewhere; training "
    "images are a random part of the published ones, the same for all; shift-flip shifts by whole pixels, uniformly up to a "
    "tenth of the size, repeats the pixels at the edge, and mirrors half of the images",
    "intervals are of the mean over test instances and training runs, 95 %; what the paper prints as ± is a standard deviation",
)


def reproduce_unified(
    *,
    preset: Annotated[
        str,
        '"smoke": digits, only checks that the code runs. "cpu": digits and MNIST-10k, or a small network on other '
        'images. "gpu-hour": ResNet-50, 30 epochs on CIFAR-10. "paper": ResNet-50, 200 epochs on CIFAR-10, CIFAR-100 and '
        "MNIST.",
    ] = "cpu",
    dataset: Annotated[str | Sequence[str] | None, "Data sets, instead of the preset's."] = None,
    data: OtherFiles = None,
    data_name: Annotated[str | None, "Name of these files in the output."] = None,
    predictors: Annotated[str | Sequence[str] | None, f"Names of predictors as in the paper. {OwnMethod}"] = None,
    backbone: Annotated[str | None, '"mlp", "cnn", "cnn-small" or "resnet50".'] = None,
    image_size: Annotated[
        int | None,
        "Height and width of the images in the networks; 224 in the paper. By default images keep their size. CreINN has "
        '32 × 32 in the preset "paper".',
    ] = None,
    epochs: Annotated[int | None, "Number of epochs."] = None,
    batch_size: Annotated[int | None, "Training instances in a batch."] = None,
    learning_rate: Annotated[float | None, "Learning rate before any drop."] = None,
    rate_drops: Annotated[Sequence[int] | None, "Epochs after which the learning rate is multiplied by 0.1."] = None,
    augmentation: Annotated[
        str | None,
        "Random shifts and horizontal flips of the training images, or none.",
        ("shift-flip", "none"),
    ] = None,
    validation: Annotated[
        str | None,
        "What becomes of the validation part of image data sets: nothing uses it (the default), it chooses the epoch "
        "whose weights are kept, or it is trained on.",
        ("unused", "best-epoch", "trained"),
    ] = None,
    train_limit: Annotated[int | None, "Greatest number of training instances."] = None,
    test_limit: Annotated[int | None, "Greatest number of test instances."] = None,
    members: Annotated[int | None, "Number of members of DE."] = None,
    draws: Annotated[int | None, "Number of draws from the Dirichlet distributions of LB-BNN and EDL."] = None,
    sets: Annotated[int | None, "Number of sets of two or more classes in RS-NN."] = None,
    vertex_classes: Annotated[Sequence[int], "The four classes of Table 4, counted from 0."] = FOUR_CLASSES,
    runs: Annotated[int | None, "Number of trainings of each predictor."] = None,
    seed: FirstSeed = 0,
    workers: Workers = 1,
    resume: Annotated[
        str | os.PathLike[str] | None,
        "Folder for the predictions; predictions that are there are not trained again.",
    ] = None,
    figures: Figures = None,
    progress: Progress = None,
) -> Reproduction:
    """Train the eight predictors, judge them in both conventions, and compare with the printed tables.

    Returns
    -------
    Reproduction
        ``table1/<data set>/<convention>/<model>/<quantity>``, ``table2/…/lambda=…/<model>/rank``, ``table7/…`` and
        ``table8/…``; ``table4/…/<model>/<vertices>/<part>/<term>``, ``table5/…/<KL or JS>/lambda=…/<model>/<rank or e>`` and
        ``table6/…/<NS or CU>/…``. Tables 9 and 10 are ``table2`` of MNIST and CIFAR-100. Printed values are compared only by
        the preset "paper" on the paper's own data, in its convention; those of Table 4 never.

    Raises
    ------
    InputError
        An option out of range, a missing data set, or no predictor that could be trained.
    MissingDependencyError
        PyTorch is missing; with several workers, Dask; for figures, matplotlib.

    Notes
    -----
    A script that starts several workers needs the guard ``if __name__ == "__main__":``.

    Examples
    --------
    >>> result = reproduce_unified(preset="smoke", predictors=["SNN"])
    >>> result.rows[2].name, result.rows[2].paper, result.rows[2].agrees
    ('table1/digits/exact/SNN/kl', 0.043, None)
    """
    _check(preset, seed, workers)
    check_figures(figures)
    say = progress or (lambda step: None)
    changes = {
        "backbone": backbone,
        "image_size": image_size,
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "rate_drops": rate_drops,
        "augmentation": augmentation,
        "validation": validation,
        "train_limit": train_limit,
        "test_limit": test_limit,
        "members": members,
        "draws": draws,
        "sets": sets,
        "runs": runs,
    }
    named = [predictors] if isinstance(predictors, str) else predictors
    given = given_files(data, data_set_names(preset, dataset), name=data_name)
    parts, missing = trained_data(preset, dataset, given=given, changes=changes)
    for part in parts:
        if part.n_classes >= len(FOUR_CLASSES):
            check_four_classes(vertex_classes, part.n_classes)
    by_data = [(part, training_cells(part, seed=seed, predictors=named)) for part in parts]
    cells = [cell for _, of_part in by_data for cell in of_part]
    notes = [*NOTES, *(part.sentence(preset) for part in parts)]
    notes += [f"{name} is left out: {problem}" for name, problem in missing.items()]
    judged = []
    with folder_of(resume) as folder:
        failed = train_cells(cells, folder, workers=workers, say=say)
        notes += [*failure_notes(failed), *older_notes(cells, folder)]
        for part, of_part in by_data:
            notes += incomplete_notes(of_part, failed)
            say(f"judging {part.name}")
            found = judge(folder, of_part, draws=part.setting.draws, vertex_classes=vertex_classes)
            if found is not None:
                judged.append((replace(found, dataset=part.name), part.beside))
                notes += vertex_notes(judged[-1][0])
    if not judged:
        raise all_failed("predictors", failed)
    rows = [cell for one, beside in judged for cell in table_cells(one.dataset, one.assays, one.ranked, beside)]
    rows += [cell for one, beside in judged for cell in ablation_cells(one, beside)]
    reading = [_headline(one, preset) for one, _ in judged]
    for one, beside in judged:
        reading += ["", *table_lines(one.dataset, one.assays, one.ranked, beside), "", *ablation_lines(one)]
    for one, _ in judged:
        reading += ["", *claim_lines(one.dataset, one.assays, one.ranked, one.members)]
    if figures is not None:
        from uqassay.lab.papers.unified.figures import write_unified_figures

        reading += ["", *write_unified_figures(figures, [one for one, _ in judged], say)]
    return Reproduction("unified", SOURCE, tuple(rows), tuple(notes), tuple(reading), layouts=LAYOUTS)


def steps_of_unified(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    predictors: str | Sequence[str] | None = None,
    members: int | None = None,
    runs: int | None = None,
    figures: object = None,
    **_: Any,
) -> int:
    """Number of calls of ``progress`` if all data sets are at hand."""
    if preset not in PLANS:
        return 1
    named = [predictors] if isinstance(predictors, str) else predictors
    steps, names = 1, data_set_names(preset, dataset)
    for name in names:
        plan = PLANS[preset]
        setting = plan.settings.get(name, plan.large)
        setting = setting.changed({"runs": runs, "members": members})
        parts = [setting.parts(p.method) for p in chosen_predictors(named, setting.left_out)]
        trained = setting.runs * sum(map(len, parts))
        steps += trained + 1
    if figures is not None:
        from uqassay.lab.papers.unified.figures import n_unified_figures

        steps += n_unified_figures(len(names))
    return steps


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _check(preset: str, seed: int, workers: int) -> None:
    one_of(preset, "preset", PRESETS, "cpu is the default")
    check_whole(1, workers=workers)
    check_whole(0, seed=seed)


def _headline(one: JudgedDataSet, preset: str) -> str:
    first = one.assays["exact"]
    runs = max(m.n_runs for m in first.candidates)
    warning = f"; {NO_EVIDENCE}" if preset == "smoke" else ""
    return (
        f"{one.dataset}: {count(one.n_train)} training and {count(first.n_instances)} test instances, {counted(runs, 'run')} "
        f"of each predictor{warning}."
    )
