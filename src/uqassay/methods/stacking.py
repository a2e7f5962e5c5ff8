"""Many estimators trained together: members of an ensemble, runs, and conditions of an experiment are all just networks.

Dense networks are trained side by side as batched matrix products, which on a CPU is several times faster than one by one.
Convolutional networks gain nothing from that on a CPU; there each goes to a process of its own.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from uqassay._array import available_cores
from uqassay.errors import InputError
from uqassay.methods.devices import chosen_device, private_torch, torch_threads
from uqassay.methods.layers import Lifted, Network
from uqassay.methods.network_classifier import NetworkClassifier
from uqassay.methods.training import Job, Trained, train

__all__ = ["fit_together"]

OWN = ("random_state", "epochs", "progress")  # options in which estimators trained as one may differ


@final
@dataclass(frozen=True)
class _Started:
    """An estimator that is ready for training, with its standardised instances and class indices."""

    estimator: NetworkClassifier
    x: NDArray[np.float32]
    codes: NDArray[np.int64]


def fit_together(
    estimators: Sequence[NetworkClassifier], datasets: Sequence[tuple[ArrayLike, ArrayLike]]
) -> Sequence[NetworkClassifier]:
    """Fit each estimator on its own data, training the networks of all of them side by side.

    The result is that of fitting them one by one, to rounding; only dropout inside a given module draws other numbers where
    several copies of it are stacked. Estimators of one class whose options agree, except in `random_state` and `epochs`, and
    whose data have the same shape and number of classes, are trained as one stack.

    Parameters
    ----------
    estimators : sequence of NetworkClassifier
        Each once; they are fitted in place.
    datasets : sequence of (X, y)
        One for each estimator.

    Returns
    -------
    The estimators.

    Raises
    ------
    InputError
        As `NetworkClassifier.fit`; other numbers of estimators and data sets; an estimator given twice.

    Examples
    --------
    Two runs and two sizes of the training set, four networks in one stack:

    >>> import numpy as np
    >>> from uqassay.methods import StandardNetwork, fit_together
    >>> x, y = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8), np.array(["cold", "cold", "hot", "hot"] * 8)
    >>> nets = [StandardNetwork(backbone=(8,), epochs=60, learning_rate=0.02, random_state=run) for run in (0, 1, 0, 1)]
    >>> fitted = fit_together(nets, [(x[:8], y[:8])] * 2 + [(x, y)] * 2)
    >>> [net.predict([[-2.0], [2.0]]).tolist() for net in fitted] == [["cold", "hot"]] * 4
    True
    """
    if len(estimators) != len(datasets):
        raise InputError(
            "datasets",
            f"needs one (X, y) for each of the {len(estimators)} estimators",
            f"got {len(datasets)}",
            "repeat shared data",
            code="missing",
        )
    if len({id(estimator) for estimator in estimators}) < len(estimators):
        raise InputError(
            "estimators",
            "each must be an object of its own",
            "one occurs twice",
            "use sklearn.base.clone",
            code="duplicate",
        )
    for estimator in estimators:
        if not isinstance(estimator, NetworkClassifier):
            raise InputError(
                "estimators",
                "must be methods with networks",
                f"got {type(estimator).__name__}",
                "fit such a one by itself",
                code="type",
            )
    groups: dict[tuple[Any, ...], list[_Started]] = {}
    for estimator, (X, y) in zip(estimators, datasets, strict=True):
        started = _Started(estimator, *estimator._start(X, y))
        groups.setdefault(_kind(started), []).append(started)
    for group in groups.values():
        _train_group(group)
    return estimators


def _kind(started: _Started) -> tuple[Any, ...]:
    """What estimators must share to be trained as one stack."""
    estimator = started.estimator
    options = {name: value for name, value in estimator.get_params(deep=False).items() if name not in OWN}
    same = tuple((name, id(value) if callable(value) else repr(value)) for name, value in sorted(options.items()))
    size = len(started.codes) if estimator.backbone_.convolutional else None  # batch norm must see no batch filled up
    alone = None if estimator._stackable else id(estimator)
    return (type(estimator), estimator.input_shape_, estimator._n_classes, same, size, alone)


def _train_group(group: Sequence[_Started]) -> None:
    lead = group[0].estimator
    device = chosen_device(lead.device)
    jobs: list[Job] = []
    owners: list[_Started] = []
    x, codes, first_rows = _pool(group)
    for started, first_row in zip(group, first_rows, strict=True):
        own = started.estimator._jobs(started.codes, first_row)
        jobs += own
        owners += [started] * len(own)
    how = _how(lead, len(jobs), device)
    if how == "processes":
        networks, trained = _in_processes(owners, jobs, x, codes)
    else:
        stacks = [range(len(jobs))] if how == "stacked" else [range(j, j + 1) for j in range(len(jobs))]
        xs, ys = torch.from_numpy(x).to(device), torch.from_numpy(codes).to(device)
        networks, trained = [], []
        for stack in stacks:
            network = _side_by_side([owners[j].estimator._fresh_network(jobs[j]) for j in stack]).to(device)
            _vectorise(network, True if how == "stacked" and lead.parallel == "stacked" else None)
            trained += _trained(lead, network, [jobs[j] for j in stack], xs, ys)
            _vectorise(network, None)
            networks += [_only(network, m) for m in range(len(stack))]
    for started in group:
        mine = [j for j, owner in enumerate(owners) if owner is started]
        network = _side_by_side([networks[j] for j in mine])
        started.estimator._finish(network, [trained[j] for j in mine], started.x, started.codes)


def _how(lead: NetworkClassifier, n_jobs: int, device: torch.device) -> str:
    if lead.parallel != "auto":
        return lead.parallel
    if not lead.backbone_.convolutional or device.type == "cuda":
        return "stacked"
    return "processes" if n_jobs > 1 and available_cores() > 1 else "sequential"


def _pool(group: Sequence[_Started]) -> tuple[NDArray[np.float32], NDArray[np.int64], list[int]]:
    """The instances of all estimators one after another, and where each one's begin."""
    sizes = [len(started.codes) for started in group]
    first_rows = [sum(sizes[:i]) for i in range(len(sizes))]
    if len(group) == 1:
        return group[0].x, group[0].codes, first_rows
    return np.concatenate([s.x for s in group]), np.concatenate([s.codes for s in group]), first_rows


def _trained(
    lead: NetworkClassifier, network: Network, jobs: Sequence[Job], x: torch.Tensor, y: torch.Tensor
) -> list[Trained]:
    """Train a stack, on one thread where the products are small, with PyTorch's own random numbers from the first seed."""
    threads = lead._threads(lead.batch_size, len(jobs))
    with private_torch(jobs[0].stream(2), x.device), torch_threads(threads):
        return train(network, jobs, x, y, lead._loss, lead._training())


# -- processes ----------------------------------------------------------------------------------------------------------


def _in_processes(
    owners: Sequence[_Started], jobs: Sequence[Job], x: NDArray[np.float32], y: NDArray[np.int64]
) -> tuple[list[Network], list[Trained]]:
    """Each network in a process of its own, on one thread; arrays go there and come back through memory."""
    from sklearn.utils.parallel import Parallel, delayed

    run = Parallel(n_jobs=min(available_cores(), len(jobs)), backend="loky", max_nbytes=None)
    results = run(delayed(_alone)(owner.estimator, job, x, y) for owner, job in zip(owners, jobs, strict=True))
    networks, trained = [], []
    for owner, job, (tensors, went) in zip(owners, jobs, results, strict=True):
        network = owner.estimator._fresh_network(job)
        network.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})
        networks.append(network)
        trained.append(went)
    return networks, trained


def _alone(
    estimator: NetworkClassifier, job: Job, x: NDArray[np.float32], y: NDArray[np.int64]
) -> tuple[dict[str, NDArray[Any]], Trained]:
    network = estimator._fresh_network(job)
    with torch_threads(1):
        (went,) = _trained(estimator, network, [job], torch.from_numpy(x), torch.from_numpy(y))
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}, went


# -- stacks of networks -------------------------------------------------------------------------------------------------


def _side_by_side(networks: Sequence[Network]) -> Network:
    """One stack of several; the first is used up."""
    whole = networks[0]
    if len(networks) > 1:
        states = [{**dict(n.named_parameters()), **dict(n.named_buffers())} for n in networks]
        for name, tensor in states[0].items():
            tensor.data = torch.cat([state[name].detach() for state in states])
    return whole


def _only(network: Network, m: int) -> Network:
    """Network m of a stack, as a stack of one."""
    if network.n_networks == 1:
        return network
    one = deepcopy(network)
    tensors: dict[str, nn.Parameter | torch.Tensor] = {**dict(one.named_parameters()), **dict(one.named_buffers())}
    for tensor in tensors.values():
        tensor.data = tensor.data[m : m + 1].clone()
    return one


def _vectorise(network: Network, vectorised: bool | None) -> None:
    for module in network.modules():
        if isinstance(module, Lifted):
            module.vectorised = vectorised
