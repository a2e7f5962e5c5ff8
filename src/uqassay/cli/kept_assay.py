"""An assay that `report --save` kept, read again in place of prediction files."""

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from uqassay.errors import InputError
from uqassay.evidence import Assay
from uqassay.statistics import check_margin
from uqassay.wording import listed

if TYPE_CHECKING:
    from uqassay.cli.inputs import AssayRequest

__all__ = ["HOLDS", "load_kept"]

HOLDS = "assay.json"
OF_SHOWING = ("models", "tradeoff", "margin")  # fields that mean something for an assay that is there already


def load_kept(request: "AssayRequest") -> Assay | None:
    """The assay in the folder that is given as the only model; None if the models are prediction files.

    Raises
    ------
    InputError
        Options by which an assay is made, or other models: both have no effect on an assay that was kept.
    """
    folders = [text for text in request.models if os.path.lexists(Path(text) / HOLDS)]
    if not folders:
        return None
    if len(request.models) > 1:
        raise InputError(
            "models",
            "a kept assay stands alone",
            f"got {folders[0]} and others",
            "leave the others out, or give the prediction files",
            code="conflict",
        )
    defaults = {field.name: field.default for field in fields(request) if field.name not in OF_SHOWING}
    values = {name: getattr(request, name) for name in defaults}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in values.items()
        if value not in (defaults[name], ("none",))  # rank asks for no calibration tests
    ]
    if given:
        raise InputError(
            listed(given),
            "has no effect on a kept assay" if len(given) == 1 else "have no effect on a kept assay",
            "",
            "leave it out, or give the prediction files",
            code="conflict",
        )
    kept = Assay.load(folders[0])
    if request.margin is None:
        return kept
    return replace(kept, settings=replace(kept.settings, margin=check_margin(request.margin, kept.settings.level)))
