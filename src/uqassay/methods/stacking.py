"""Tasks of training that are carried out together: the networks of several estimators as stacks, in processes or in turn.

Dense networks are trained side by side as batched matrix products, which on a CPU is several times faster than one by one.
Convolutional networks gain nothing from that on a CPU; there each goes to its own process. A ResNet-50 fills a GPU by itself;
there each is trained in its turn.
"""

from collections.abc import Callable, Hashable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from multiprocessing import current_process
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uqassay._array import available_cores
from uqassay.methods.devices import chosen_device, private_torch, torch_threads
from uqassay.methods.layers import Lifted, Network
from uqassay.methods.training import Batch, Job, Training, TrainingRecord, train

__all__ = ["PARALLEL", "Task", "train_tasks"]

PARALLEL = ("auto", "stacked", "processes", "sequential")


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """The training of one estimator.

    Attributes
    ----------
    kind : hashable
        Tasks of one kind have networks of one shape, the same loss and the same options; they may share a stack.
    x : array (n, …)
        Standardised instances.
    y : int array (n,)
        Indices of the classes.
    jobs : list of Job
        One for each network; their rows count from 0 in x.
    new_network : callable
        Makes one network with fresh weights from PyTorch's global random numbers.
    loss : callable
        As `uqassay.methods.training.train` takes it.
    training : Training
    device : str
    parallel : {"auto", "stacked", "processes", "sequential"}
    convolutional : bool
    large : bool
        One network fills a GPU.
    threads : callable
        ``threads(n_networks)``: CPU threads for a stack, None for PyTorch's setting.
    """

    kind: Hashable
    x: NDArray[np.float32]
    y: NDArray[np.int64]
    jobs: Sequence[Job]
    new_network: Callable[[], Network]
    loss: Callable[[Network, Any, Batch], Tensor]
    training: Training
    device: str
    parallel: str
    convolutional: bool
    large: bool
    threads: Callable[[int], int | None]

    def fresh_network(self, job: Job) -> Network:
        """The untrained network of a job, on the CPU."""
        with private_torch(job.stream(0)):
            return self.new_network()


TrainedNetworks = tuple[Network, list[TrainingRecord]]


def train_tasks(tasks: Sequence[Task]) -> list[TrainedNetworks]:
    """Train the networks of all tasks, those of one kind side by side.

    Returns
    -------
    list of (Network, list of TrainingRecord)
        For each task, in order, its networks as one stack and the course of each.

    Raises
    ------
    InputError
        As `uqassay.methods.training.train`; a device that this machine lacks.
    """
    kinds: dict[Hashable, list[int]] = {}
    for i, task in enumerate(tasks):
        kinds.setdefault(task.kind, []).append(i)
    found: dict[int, TrainedNetworks] = {}
    for places in kinds.values():
        found |= dict(zip(places, _train_kind([tasks[i] for i in places]), strict=True))
    return [found[i] for i in range(len(tasks))]


def _train_kind(tasks: Sequence[Task]) -> list[TrainedNetworks]:
    """Train tasks of one kind; options that the kind does not fix, such as the progress bar, are those of the first."""
    lead = tasks[0]
    device = chosen_device(lead.device)
    owners = [task for task in tasks for _ in task.jobs]
    how = _how(lead, len(owners), device)
    if how == "processes":
        networks, records = _in_processes(tasks)
    else:
        x, y, jobs = _pooled(tasks)
        stacks = [range(len(jobs))] if how == "stacked" else [range(j, j + 1) for j in range(len(jobs))]
        xs, ys = torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)
        networks, records = [], []
        for stack in stacks:
            network = _side_by_side([owners[j].fresh_network(jobs[j]) for j in stack]).to(device)
            _vectorise(network, True if how == "stacked" and lead.parallel == "stacked" else None)
            records += _run(lead, network, [jobs[j] for j in stack], xs, ys)
            _vectorise(network, None)
            networks += [_only(network, m) for m in range(len(stack))]
    found = []
    for task in tasks:
        mine = [j for j, owner in enumerate(owners) if owner is task]
        found.append((_side_by_side([networks[j] for j in mine]), [records[j] for j in mine]))
    return found


def _how(lead: Task, n_jobs: int, device: torch.device) -> str:
    how = lead.parallel
    if how == "auto" and (not lead.convolutional or device.type == "cuda"):
        return "sequential" if lead.large else "stacked"
    if how == "auto":
        how = "processes" if n_jobs > 1 and available_cores() > 1 else "sequential"
    # a daemonic process, such as a worker of Dask, may start none
    return "sequential" if how == "processes" and current_process().daemon else how


def _pooled(tasks: Sequence[Task]) -> tuple[NDArray[np.float32], NDArray[np.int64], list[Job]]:
    """Instances of all tasks one after another, and all jobs with their rows among these."""
    jobs: list[Job] = []
    first_row = 0
    for task in tasks:
        jobs += [replace(job, rows=job.rows + first_row, held_out=job.held_out + first_row) for job in task.jobs]
        first_row += len(task.y)
    if len(tasks) == 1:
        return tasks[0].x, tasks[0].y, jobs
    return np.concatenate([task.x for task in tasks]), np.concatenate([task.y for task in tasks]), jobs


def _run(lead: Task, network: Network, jobs: Sequence[Job], x: Tensor, y: Tensor) -> list[TrainingRecord]:
    """Train a stack, on one thread if the products are small; the first job seeds PyTorch's global random numbers."""
    with private_torch(jobs[0].stream(2), x.device), torch_threads(lead.threads(len(jobs))):
        return train(network, jobs, x, y, lead.loss, lead.training)


# -- processes ----------------------------------------------------------------------------------------------------------


def _in_processes(tasks: Sequence[Task]) -> tuple[list[Network], list[TrainingRecord]]:
    """Train each network in its own process, on one thread; a task's arrays travel through memory."""
    from sklearn.utils.parallel import Parallel, delayed

    pairs = [(task, job) for task in tasks for job in task.jobs]
    run = Parallel(n_jobs=min(available_cores(), len(pairs)), backend="loky", max_nbytes=None)
    light = {
        id(task): replace(task, x=task.x[:0], y=task.y[:0], jobs=()) for task in tasks
    }  # the instances travel once
    results = run(delayed(_alone)(light[id(task)], job, task.x, task.y) for task, job in pairs)
    networks, records = [], []
    for (task, job), (tensors, record) in zip(pairs, results, strict=True):
        network = task.fresh_network(job)
        network.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})
        networks.append(network)
        records.append(record)
    return networks, records


def _alone(
    task: Task, job: Job, x: NDArray[np.float32], y: NDArray[np.int64]
) -> tuple[dict[str, NDArray[Any]], TrainingRecord]:
    network = task.fresh_network(job)
    with torch_threads(1):
        (record,) = _run(task, network, [job], torch.from_numpy(x), torch.from_numpy(y))
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}, record


# -- stacks of networks -------------------------------------------------------------------------------------------------


def _side_by_side(networks: Sequence[Network]) -> Network:
    """One stack of several networks; the first one is reused for it."""
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
    tensors: dict[str, nn.Parameter | Tensor] = {**dict(one.named_parameters()), **dict(one.named_buffers())}
    for tensor in tensors.values():
        tensor.data = tensor.data[m : m + 1].clone()
    return one


def _vectorise(network: Network, vectorised: bool | None) -> None:
    for module in network.modules():
        if isinstance(module, Lifted):
            module.vectorised = vectorised
