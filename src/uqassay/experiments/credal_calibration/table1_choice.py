"""Table 1 of paper 001 on what is given: saved ensembles, files to train on, or the data sets of a preset."""

import os
from collections.abc import Callable, Sequence

from uqassay.errors import InputError
from uqassay.experiments.credal_calibration.ensembles import holds_training_data
from uqassay.experiments.credal_calibration.table1 import reproduce_table1, table1_steps
from uqassay.experiments.credal_calibration.table1_plans import Table1Options, plan_of
from uqassay.experiments.reproduction import Reproduction

__all__ = ["any_table1", "any_table1_steps"]

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
    progress: Callable[[str], None] | None,
) -> Reproduction:
    """Judge saved ensembles if `options.data` holds such; else train predictors and judge them.

    Parameters
    ----------
    preset : str
    conventions : sequence of {"exact", "paper-code"}
    options : Table1Options
    n_draws : int
        D for saved ensembles.
    seed, workers, resume, progress
        As `reproduce_trained_table1`.

    Raises
    ------
    InputError
        An option of a training with saved ensembles, and as `reproduce_table1` and `reproduce_trained_table1`.
    """
    data = options.data
    if data is None or holds_training_data(data):
        from uqassay.experiments.credal_calibration.table1_training import reproduce_trained_table1

        return reproduce_trained_table1(
            preset, conventions, options=options, seed=seed, workers=workers, resume=resume, progress=progress
        )
    of_training = options.given() | ({} if resume is None else {"resume": resume})
    for name in [name for name in of_training if name not in OF_TESTS]:
        raise InputError(
            name,
            "does not apply to table1 with data that are saved ensembles, since nothing is trained",
            f"{os.fspath(data)} has no instances",
            "leave it out, or give a folder with train.npz and test.npz (X, y)",
            code="conflict",
        )
    return reproduce_table1(
        data, conventions, n_draws=n_draws, seed=seed, resample=bool(options.resample), progress=progress
    )


def any_table1_steps(preset: str, n_conventions: int, options: Table1Options) -> int:
    """Approximate number of calls of ``progress``."""
    if options.data is None or holds_training_data(options.data):
        from uqassay.experiments.credal_calibration.table1_training import trained_steps

        return trained_steps(plan_of(preset, options))
    return n_conventions * table1_steps(options.data)
