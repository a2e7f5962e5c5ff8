"""Which calibration tests a figure shows, and how it names them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.errors import InputError
from uqassay.report.figures.style import matplotlib_module, named_model, plain
from uqassay.wording import count, counted

if TYPE_CHECKING:
    from uqassay.evidence.calibration_result import ModelCalibration
    from uqassay.evidence.result import Assay

__all__ = ["all_tests", "instances_tested", "named_run", "one_test", "run_of"]


def _made(assay: "Assay") -> list["ModelCalibration"]:
    matplotlib_module()  # without it, say so first
    made = [t for t in assay.calibration if t.tested != "nothing"]
    if not made:
        raise InputError(
            "assay",
            "needs calibration tests",
            "this one has none",
            "pass calibration=('kuiper-confidence', 'ece-classwise') to assay, and one label for each instance",
            code="missing",
        )
    return made


def _measure_of(made: list["ModelCalibration"], measure: str | None) -> str:
    known = list(dict.fromkeys(t.measure for t in made))
    if measure is not None and measure not in known:
        raise InputError(
            "measure", f"must be one of {', '.join(known)}", f"got {measure!r}", "choose one of them", code="choice"
        )
    return known[0] if measure is None else measure


def all_tests(assay: "Assay", measure: str | None, models: Sequence[str] | None) -> list["ModelCalibration"]:
    """The tests of one measure."""
    made = _made(assay)
    chosen = _measure_of(made, measure)
    names = list(assay.model_names) if models is None else [named_model(assay, name).name for name in models]
    if not names:
        raise InputError("models", "needs at least one model", "got none", "leave it out for all of them", code="empty")
    return [t for name in names for t in made if (t.model, t.measure) == (name, chosen)]


def one_test(
    assay: "Assay", model: str | None, measure: str | None, run: int, *, mixed: bool = False
) -> "ModelCalibration":
    """One test; `mixed` asks for one whose mixtures were tested."""
    made = _made(assay)
    chosen = _measure_of(made, measure)
    if model is not None:
        named_model(assay, model)
    tests = [t for t in made if t.measure == chosen and (model is None or t.model == model)]
    fitting = [t for t in tests if not mixed or t.n_members > 1]
    if not fitting:
        which = "every model" if model is None else repr(model)
        raise InputError(
            "model",
            f"{which} has no members that were mixed",
            "its mean was tested",
            "choose an ensemble",
            code="missing",
        )
    runs = [t for t in fitting if t.model == fitting[0].model]
    for t in runs:
        if t.run == run and mixed and np.isnan(t.weights).any():
            raise InputError(
                "measure",
                f"{t.measure} of {t.model!r} has no best mixture ({t.reason})",
                "",
                "choose another measure",
                code="missing",
            )
        if t.run == run:
            return t
    raise InputError(
        "run", f"must be among {', '.join(str(t.run) for t in runs)}", f"got {run}", "0 is the first", code="choice"
    )


# -- words --------------------------------------------------------------------------------------------------------------


def instances_tested(t: "ModelCalibration") -> str:
    """On how many instances a test was made."""
    if t.n_tested == t.n_instances:
        return counted(t.n_tested, "instance")
    return f"{count(t.n_tested)} of {counted(t.n_instances, 'instance')}"


def run_of(assay: "Assay", t: "ModelCalibration") -> str:
    """The run of a test, where its model has several, as it follows the name."""
    runs = {o.run for o in assay.calibration if o.model == t.model}
    return f", run {t.run + 1}" if len(runs) > 1 else ""


def named_run(assay: "Assay", t: "ModelCalibration") -> str:
    """The model of a test, with its run where there are several."""
    return plain(t.model) + run_of(assay, t)
