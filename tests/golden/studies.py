"""Studies of the gain from more data and of disentanglement, and out-of-distribution detection."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import uqassay as uq
from tests.evidence.disentanglement_data import FOLLOW
from tests.evidence.disentanglement_data import made_study as disentanglement_study
from tests.evidence.gain_data import made_study as gain_study
from tests.golden import data
from tests.golden.capture import page_text
from tests.golden.registry import Scenario, sections
from uqassay import evidence, report

Calls = dict[str, Callable[[], Any]]
GAIN_KINDS = ("calibrated", "large", "shuffled", "constant")
GAIN_TABLES = ("scores", "runs", "bins", "delay")
DISENTANGLEMENT_TABLES = ("curves", "errors", "terms", "detection")


def _written(write: Callable[..., Any], *args: Any) -> str:
    """The words of a page."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "page.html")
        write(*args, place)
        return "\n".join(page_text(place.read_text(encoding="utf-8")))


def one_gain(kind: str, **more: Any) -> Calls:
    """Everything that a study of the gain says."""
    whole = kind == "calibrated" and not more
    study = gain_study(kind, **{"n": 120, "n_runs": 2, **more})
    calls: Calls = {
        "result": lambda: study.result("mutual-information", bins=6) if whole else None,
        "summary": lambda: study.result("mutual-information").summary(),
        "coarse": lambda: study.result("entropy", bins=4, binning="equal-width", level=0.9).summary(),
        "sentences": lambda: "\n".join(evidence.gain_sentences([study])),
        "lines": lambda: "\n".join(evidence.gain_lines([study])),
    }
    return calls | {f"table {name}": partial(study.table, name, bins=6) for name in GAIN_TABLES[: None if whole else 1]}


def many_gains() -> Calls:
    """Several methods together, on a page."""
    some = [gain_study(kind, kind, n=60, n_runs=2, seed=j) for j, kind in enumerate(GAIN_KINDS[:2])]
    return {
        "sentences": lambda: "\n".join(evidence.gain_sentences(some)),
        "page": lambda: _written(report.write_gain_page, some[:1]),
    }


def pair_of_predictions() -> Calls:
    """The gain between two predictions."""
    y, before = data.labels(), data.prediction("Members")
    after = 0.5 * data.members()[:, 0] + 0.5 * np.eye(3)[y]
    sample = evidence.sample_of_pair(y, before, after, losses=["zero-one", "log"], groups=data.groups())
    study = evidence.GainStudy("net", "toy", (evidence.GainRun(0, sample),))
    return {
        "sample": lambda: sample,
        "sentences": lambda: "\n".join(evidence.gain_sentences([study], bins=5)),
        "log loss": lambda: study.result("entropy", "log", bins=5),
    }


def one_disentanglement(kind: str, **more: Any) -> Calls:
    """Everything that a study of disentanglement says."""
    study = disentanglement_study(kind, n=45, n_runs=4, **more)
    contenders = evidence.contenders_of(study)
    calls: Calls = {
        "error": lambda: study.error("information-theoretic"),
        "detection": lambda: study.detection("information-theoretic"),
        "sentences": lambda: "\n".join(evidence.disentanglement_sentences(contenders)),
        "lines": lambda: "\n".join(evidence.disentanglement_lines(contenders)),
        "JSON": study.to_json,
    }
    return calls | {f"table {name}": partial(study.table, name) for name in DISENTANGLEMENT_TABLES}


@cache
def rivals() -> list[Any]:
    """Two methods to be ranked."""
    kinds = ("perfect", "jitter")
    found = [disentanglement_study(kind, kind, n=45, n_runs=4, seed=j) for j, kind in enumerate(kinds)]
    return [one for study in found for one in evidence.contenders_of(study)]


def ranked() -> Calls:
    """Several methods together, on a page."""
    return {
        "ranking": lambda: [one.to_dict() for one in evidence.rank_disentanglement(rivals())],
        "sentences": lambda: "\n".join(evidence.disentanglement_sentences(rivals())),
        "lines": lambda: "\n".join(evidence.disentanglement_lines(rivals(), level=0.9)),
        "page": lambda: _written(report.write_disentanglement_page, rivals()[:1]),
    }


@cache
def inside() -> uq.Assay:
    """Two kinds of models on what they know."""
    models = data.all_kinds(names=("Members", "Point"))
    return uq.assay(models, data.labels(), calibration=(), n_draws=200)


def out_of_distribution(**options: Any) -> Calls:
    """Detection by every score, compared."""
    far = data.all_kinds(40, names=("Members", "Point"))
    flat = {
        name: uq.Members(0.5 * data.members(40, seed=8) + 1 / 6) if name == "Members" else p for name, p in far.items()
    }
    found = inside().ood(flat, **options)
    return {
        "found": lambda: found,
        "estimate": lambda: found.estimate("Members", "margin"),
        "compare": lambda: found.compare(("Members", "margin"), ("Point", "margin")),
        "table": found.table,
    }


def labelled_outside() -> Calls:
    """Detection against an assay, with the costs of errors."""
    models = data.all_kinds(40, names=("Members", "Point"))
    found = inside().ood(uq.assay(models, data.labels(40), calibration=(), n_draws=200), error_cost=0.7, share_out=0.2)
    return {"found": lambda: found}


def scenarios() -> Iterator[Scenario]:
    """Studies of each kind."""

    def add(name: str, calls: Callable[[], Calls], *needs: str) -> Scenario:
        return Scenario(name, lambda: sections(calls()), ("pandas", *needs))

    for kind in GAIN_KINDS:
        yield add(f"gain {kind}", partial(one_gain, kind))
    yield add("gain in groups", partial(one_gain, "calibrated", groups=4))
    yield add("gain of known truth", partial(one_gain, "calibrated", truth=True))
    yield add("gain without calibration sample", partial(one_gain, "large", calibration=False))
    yield add("gain of one run", partial(one_gain, "calibrated", n_runs=1))
    yield add("gain of nothing", partial(one_gain, "calibrated", useless=True))
    yield add("gains of methods", many_gains)
    yield add("gain of a pair", pair_of_predictions)
    for kind in FOLLOW:
        yield add(f"disentanglement {kind}", partial(one_disentanglement, kind))
    yield add(
        "disentanglement of two experiments", partial(one_disentanglement, "perfect", without=("left-out-class",))
    )
    yield add("disentanglement of methods", ranked)
    yield add("out of distribution", out_of_distribution)
    yield add("out of distribution in groups", partial(out_of_distribution, level=0.9, positive="in", ties="whole"))
    yield add("out of distribution, labelled", labelled_outside)
