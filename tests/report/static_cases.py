"""Pages with figures drawn beforehand, of names and facts that are markup."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.evidence import disentanglement_data, gain_data

from uqassay.evidence.disentanglement_runs import Contender
from uqassay.report.study_pages import render_disentanglement, render_gain, write_disentanglement_page, write_gain_page
from uqassay.report.study_sentences import disentanglement_text, gain_text

IT = "information-theoretic"
HOSTILE = "<img src=x onerror=alert(1)>"
TURNED = "dull\u202e & {{text.heading}}"
CLASSES = ("</script><script>alert(2)</script>", "a & b", "{{text.heading}}")
COMMAND = "uqassay a 'a <b>' && echo"
WINE = "<i>wine"


@dataclass(frozen=True)
class StaticCase:
    """A kind of page: how it is made, of what, and a small part of that."""

    name: str
    parameter: str
    render: Callable[..., str]
    write: Callable[..., Any]
    words: Callable[..., dict[str, str]]
    subjects: list[Any]
    small: list[Any]
    steps: int


def _gain() -> StaticCase:
    def of(kind, name, **more):
        return gain_data.made_study(kind, name, dataset=WINE, n=200, **more)

    study = replace(of("large", HOSTILE, n_runs=2, truth=True), facts={"</script>": "<b>"})
    subjects = [study, of("shuffled", TURNED, n_runs=1, calibration=False)]
    return StaticCase("gain", "studies", render_gain, write_gain_page, gain_text, subjects, subjects[1:], 2)


def _disentanglement() -> StaticCase:
    def of(label, kind, **more):
        return Contender(label, disentanglement_data.made_study(kind, label, dataset=WINE, n_runs=2, **more), IT)

    subjects = [
        of(HOSTILE, "perfect", names=CLASSES),
        of(TURNED, "swapped", names=CLASSES, seed=1),
        of("half", "together", seed=2, without=("dataset-size", "left-out-class")),
    ]
    return StaticCase(
        "disentanglement",
        "contenders",
        render_disentanglement,
        write_disentanglement_page,
        disentanglement_text,
        subjects,
        subjects[2:],
        1,
    )


STATIC_CASES = {one.name: one for one in (_gain(), _disentanglement())}
