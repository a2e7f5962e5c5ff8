"""Table 1 of paper 001 with predictors of our own: one network, two dropout networks and a deep ensemble on each data set.

The networks learn from the training instances alone. The others are halved: one half, the paper's calibration part, is tested
and gives the weights; the other, its test part, says what average and weighted averages are worth.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from uqassay._optional import optional_package
from uqassay.experiments.credal_calibration.ensembles import LabelledEnsemble
from uqassay.experiments.credal_calibration.table1 import judge_together, table1_of
from uqassay.experiments.credal_calibration.table1_data import Table1Set, training_sets
from uqassay.experiments.credal_calibration.table1_plans import (
    IMAGENET_NETWORKS,
    Table1Options,
    Table1Plan,
    part_size,
    plan_of,
)
from uqassay.experiments.given_files import given_files
from uqassay.experiments.reproduction import Reproduction
from uqassay.wording import count, listed

__all__ = ["PREDICTORS", "reproduce_trained_table1", "trained_steps"]

PREDICTORS = {"S": "snn", "DN(0.1)": "dn-0.1", "DN(0.6)": "dn-0.6", "DE": "deep-ensemble"}
SIZE = {"DN(0.1)": "n_samples", "DN(0.6)": "n_samples", "DE": "n_members"}  # the option that is the number of members
N_SMALL_SETS = 3
ON_IMAGENET_NETWORK = "uqassay.experiments.credal_calibration.imagenet_networks:run_on_imagenet_network"

Progress = Callable[[str], None]


def reproduce_trained_table1(
    preset: str,
    conventions: Sequence[str] = ("exact",),
    *,
    options: Table1Options | None = None,
    seed: int = 0,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Train the table's four predictors on every data set that is there, and judge them.

    Parameters
    ----------
    preset : {"smoke", "cpu", "gpu-hour", "paper"}
        See `uqassay.experiments.credal_calibration.table1_plans`.
    conventions : sequence of {"exact", "paper-code"}
    options : Table1Options, optional
        With data, these stand in place of the files of the only data set, such as a copy of CIFAR-10.
    seed : int
        Of the training, the halves and the draws. The split into training and other instances is the same for all.
    workers : int
        Processes that train; the results do not depend on it.
    resume : path, optional
        Folder for features and predictions, which are not made again; it may be moved.
    progress : callable, optional

    Returns
    -------
    Reproduction
        ``table1/<data set>/<predictor>/<convention>/<column>``, columns as for given ensembles.

    Raises
    ------
    InputError
        Options or data that do not fit, a folder that takes no files, or no predictor that could be trained.
    MissingDependencyError
        PyTorch or scikit-learn is missing; with several workers, Dask; for MobileNetV2 and VGG16, torchvision.
    """
    from uqassay.experiments.trainings import all_failed, folder_of, older_notes, train_cells, trained_cells

    say = progress or (lambda step: None)
    options = options or Table1Options()
    plan = plan_of(preset, options)
    given = given_files(options.data, plan.data_sets if options.dataset else (), name=options.data_name)
    if plan.pretrained:
        optional_package("torchvision.models", "vision", f"training {listed(list(plan.pretrained))}")
    with folder_of(resume) as folder:
        sets, notes = training_sets(plan, folder / "data", say, given)
        parts = _cells_by_predictor(sets, plan, seed)
        cells = [cell for of_row in parts.values() for cell in of_row]
        failed = train_cells(cells, folder, workers=workers, say=say)
        rows = {cell.name: f"{title}, {cell.method}" for (title, _), of_row in parts.items() for cell in of_row}
        notes += [f"{rows[name]} failed: {reason}" for name, reason in failed.items()]
        notes += older_notes(cells, folder)
        judged, sizes = [], {}
        for place, ((title, predictor), of_row) in enumerate(parts.items()):
            kept = [result for _, result in trained_cells(of_row, folder)]
            if len(kept) < len(of_row):
                continue
            ensemble = _ensemble(title, kept)
            n = len(ensemble.labels)
            part = part_size(n) if plan.data_sets else None
            sizes[title] = _sizes(title, kept[0].metadata["facts"]["n_train"], n, part)
            say(f"testing {title}, {predictor}")
            judged += [
                judge_together(
                    ensemble,
                    predictor,
                    one,
                    n_draws=plan.n_draws,
                    seed=seed,
                    place=place,
                    part=part,
                    resample=bool(options.resample),
                )
                for one in conventions
            ]
    if not judged:
        raise all_failed("table1", failed)
    printed = {one.title: one.printed for one in sets if one.printed is not None}
    return table1_of(judged, (*plan.notes(), *notes, *sizes.values()), printed, resample=bool(options.resample))


def trained_steps(plan: Table1Plan) -> int:
    """Number of calls of ``progress`` if all data sets are at hand.

    Examples
    --------
    >>> from uqassay.experiments.credal_calibration.table1_plans import PLANS
    >>> trained_steps(PLANS["cpu"]), trained_steps(PLANS["paper"])
    (27, 154)
    """
    n_images = len(plan.architectures) * len(plan.image_sets)
    n_features = len(plan.data_sets) - len(plan.image_sets) if plan.data_sets else N_SMALL_SETS
    own = 2 if plan.data_sets else 3
    rows = (n_images + n_features) * len(PREDICTORS)
    return own + 2 * rows + n_images * (plan.n_members - 1)


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _cells_by_predictor(sets: Sequence[Table1Set], plan: Table1Plan, seed: int) -> dict[tuple[str, str], list[Any]]:
    """Cells to train, by data set and predictor; each member of an ensemble of networks for images has its own."""
    from uqassay.bench.config import BenchConfig
    from uqassay.bench.methods import cells_of

    found: dict[tuple[str, str], list[Any]] = {}
    for one in sets:
        common = plan.method_options(one.name) | _network_options(one, plan)
        predictors, methods, params = {}, [], {}
        for predictor, method in PREDICTORS.items():
            size = {SIZE[predictor]: plan.n_members} if predictor in SIZE else {}
            split = predictor == "DE" and one.network
            own = [size] if not split else [{"first_member": m, "n_members": 1} for m in range(plan.n_members)]
            for m, options in enumerate(own, start=1):
                label = f"{predictor} {m}" if split else predictor
                predictors[label], params[label] = predictor, common | options
                methods.append(f"{label}={method}")
        label = one.label or one.title
        # "smoke" limits the instances; the other presets of a benchmark differ in nothing but such limits
        limits = "smoke" if plan.preset == "smoke" else "paper"
        config = BenchConfig(dataset=[label], method=methods, seeds=[seed], preset=limits, params=params)
        for cell in cells_of(config, {label: one.source}):
            found.setdefault((one.title, predictors[cell.method]), []).append(_on_network(cell, one, plan))
    return found


def _network_options(one: Table1Set, plan: Table1Plan) -> dict[str, Any]:
    """Options of the methods that state the network, but for pretrained ones."""
    if not one.network:
        return {"backbone": list(plan.hidden)}
    if one.network in IMAGENET_NETWORKS:
        return {"standardise": False, "parallel": "sequential"}
    own = {"backbone": one.network}
    return own if plan.image_size is None else own | {"image_size": plan.image_size}


def _on_network(cell: Any, one: Table1Set, plan: Table1Plan) -> Any:
    """The cell on its pretrained network, if it has one."""
    if one.network not in IMAGENET_NETWORKS:
        return cell
    params = dict(cell.params)
    params["params"] = cell.params["params"] | {"image_size": plan.imagenet_size}
    params["network"] = {"name": one.network, "head": plan.head, "end_to_end": plan.end_to_end}
    module = cell.function.partition(":")[0]
    return replace(cell, function=ON_IMAGENET_NETWORK, params=params, rests_on=(*cell.rests_on, module))


def _ensemble(title: str, parts: Sequence[Any]) -> LabelledEnsemble:
    """Stored predictions of the same instances as members (n, M, K) with their labels."""
    points = [np.maximum(part.prediction.hull_points().astype(np.float64), 0.0) for part in parts]
    members = np.concatenate(points, axis=1)
    names = tuple(f"member {m + 1}" for m in range(members.shape[1]))
    return LabelledEnsemble(title, members, np.asarray(parts[0].labels).astype(np.intp), names)


def _sizes(title: str, n_train: int, n: int, part: int | None) -> str:
    tested, held_out = (n // 2, n - n // 2) if part is None else (part, part)
    unused = f", {count(n - 2 * part)} unused" if part is not None and n > 2 * part else ""
    return (
        f"{title}: {count(n_train)} instances for training, {count(tested)} for tests and weights, {count(held_out)} for "
        f"accuracy and errors{unused}"
    )
