"""Workloads of credal sets: unified evaluation, generalised Hartley, entropies, decompositions."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np

import uqassay as uq
from benchmarks.speed import plain
from benchmarks.speed.machine import native_yardsticks
from benchmarks.speed.workload import LOOPS, Case, Peer, Workload, by_formulas

__all__ = ["SETS"]

N = 10_000
Probs = np.ndarray


def drawn(n: int, members: int, classes: int, concentration: float = 1.0) -> tuple[Probs, np.ndarray]:
    """Members (n, M, K) from a Dirichlet distribution, and labels."""
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.full(classes, concentration), (n, members)), rng.integers(classes, size=n)


def terms(loss: uq.losses.UnifiedLoss) -> np.ndarray:
    return np.stack([loss.distance, loss.nonspecificity], axis=1)


def paper_pipeline(quick: bool, members: int) -> Case:
    n = N // 10 if quick else N
    probs, labels = drawn(n, members, 10)
    prediction, few = uq.Members(probs), 20 if quick else 100
    call = partial(uq.losses.unified_loss, labels, prediction, convention="paper")
    native = native_yardsticks()
    loop = Peer(LOOPS[0], lambda: native.clipped_terms(probs, labels)) if native else None
    peers = [
        *by_formulas(lambda: terms(call())),
        Peer("plain NumPy", lambda: plain.paper_terms(probs[:few], labels[:few]), rows=few),
    ]
    return Case(call, terms, peers, loop, probs.nbytes)


def hartley_and_kl(quick: bool, members: int) -> Case:
    n = N // 10 if quick else N
    probs, labels = drawn(n, members, 10)
    prediction, few = uq.Members(probs), 20 if quick else 100
    call = partial(uq.losses.unified_loss, labels, prediction)

    def by_hand() -> np.ndarray:
        upper = probs[:few].max(axis=1)[np.arange(few), labels[:few]]
        return np.stack([-np.log(upper), plain.hartley(probs[:few])], axis=1)

    native = native_yardsticks()
    loop = Peer(LOOPS[0], lambda: native.exact_terms(probs, labels)) if native else None
    peers = [*by_formulas(lambda: terms(call())), Peer("plain NumPy", by_hand, rows=few)]
    return Case(call, terms, peers, loop, probs.nbytes)


def hartley(quick: bool, members: int) -> Case:
    n = N // 10 if quick else N
    probs, _ = drawn(n, members, 10)
    prediction = uq.Members(probs)
    call = partial(uq.measures.generalised_hartley, prediction)
    peers = [
        *by_formulas(lambda: call().values),
        plain.of_members("plain NumPy", plain.hartley, probs, 20 if quick else 100),
        *probly_set("generalized_hartley", "TorchConvexCredalSet", probs[:2], lambda p: p, 1e-6),
    ]
    return Case(call, lambda found: found.values, peers, None, probs.nbytes)


def many_classes(quick: bool, classes: int, n: int) -> Case:
    from uqassay.measures.nonspecificities import order_of_classes

    n = n // 10 if quick else n
    probs, _ = drawn(n, 10, classes, 0.1)
    prediction = uq.Members(probs)
    call = partial(uq.measures.generalised_hartley, prediction)
    found = call()
    if found.mean_standard_error > 0.02 * found.values.mean():
        raise ValueError("the default number of orders leaves a standard error of the mean above 2 %")
    seed = int(np.random.default_rng(0).integers(2**63))
    orders = np.array([order_of_classes(seed, i, classes) for i in range(found.n_orders)])
    weights = uq.measures.hartley_weights(classes)
    by_hand = partial(plain.hartley_of_orders, orders=orders, weights=weights)
    peers = [*by_formulas(lambda: call().values), plain.of_members("plain NumPy", by_hand, probs, 3 if quick else 20)]
    return Case(call, lambda found: found.values, peers, None, probs.nbytes)


def box_entropy(quick: bool, side: str, classes: int) -> Case:
    """The boxes are the envelopes of five members."""
    from uqassay.credal.entropy import box_lower_entropy, box_upper_entropy

    members, _ = drawn(N // 10 if quick else N, 5, classes)
    lower, upper = members.min(axis=1), members.max(axis=1)
    call: Callable[[], np.ndarray] = {
        "upper": lambda: box_upper_entropy(lower, upper),
        "lower": lambda: box_lower_entropy(lower, upper).values,
    }[side]
    sign, rows = (1.0, -1.0)[side == "upper"], {10: 40, 100: 4}[classes] // (4 if quick else 1)
    worse = {"tolerance": 1e-4, "worse": int(sign)}
    peers = [
        *by_formulas(call, 2e-12),
        plain.of_members("SciPy SLSQP", lambda p: plain.extreme_entropy(p, sign), members, rows, **worse),
        *probly_set(
            f"{side}_entropy", "TorchProbabilityIntervalsCredalSet", members[: min(rows, 10)], envelope, **worse
        ),
    ]
    return Case(call, np.asarray, peers, None, lower.nbytes + upper.nbytes)


def envelope(probs: Probs) -> tuple[Probs, Probs]:
    return probs.min(axis=1), probs.max(axis=1)


def probly_set(
    measure: str, kind: str, probs: Probs, bounds: Callable[[Probs], object], tolerance: float, worse: int = 0
) -> list[Peer]:
    """A measure of probly's credal sets, in nats; nothing where probly or PyTorch is not installed."""
    if find_spec("probly") is None or find_spec("torch") is None:
        return []
    import torch
    from probly.quantification.measure import credal_set as measures
    from probly.representation.credal_set import torch as sets

    torch.set_num_threads(1)
    made = bounds(probs)
    arrays = [torch.from_numpy(a) for a in (made if isinstance(made, tuple) else (made,))]
    prediction = getattr(sets, kind)(*arrays)
    function = getattr(measures, measure)
    return [Peer("probly", lambda: function(prediction).numpy(), len(probs), tolerance, worse)]


def decomposition(quick: bool, name: str) -> Case:
    probs, _ = drawn(N // 10 if quick else N, 10, 10, 0.5)
    prediction = uq.Members(probs)
    call = partial(uq.measures.decompose, prediction, name)
    peers = [Peer("plain NumPy", lambda: plain.parts(probs, name), tolerance=1e-10)]
    peers += mutual_information(probs) if name == "information-theoretic" else []
    return Case(call, lambda d: np.stack([d.total, d.aleatoric, d.epistemic], axis=1), peers, None, probs.nbytes)


def pairwise_divergence(quick: bool) -> Case:
    probs, _ = drawn(N // 10 if quick else N, 10, 10, 0.5)
    probs = np.maximum(probs, 1e-12)
    probs /= probs.sum(axis=-1, keepdims=True)
    call = partial(uq.measures.proper_score_decomposition, uq.Members(probs), "log", reference="pairwise")
    peers = [plain.of_members("plain NumPy", plain.pairwise, probs, 200)]
    return Case(call, lambda d: d.epistemic, peers, None, probs.nbytes)


def gaussian_logits(quick: bool) -> Case:
    """Integrals by draws, three times 100 of each instance."""
    rng, shape = np.random.default_rng(0), (N // 10 if quick else N, 10, 10)
    logits = uq.GaussianLogits(rng.normal(size=shape), rng.gamma(1.0, size=shape), variance_is="aleatoric")
    call = partial(uq.measures.decompose, logits, "gaussian-logits")
    return Case(call, lambda d: d.epistemic, (), None, 16 * int(np.prod(shape)))


def mutual_information(probs: Probs) -> list[Peer]:
    """Total, aleatoric and epistemic part by probly, the epistemic one alone by torch-uncertainty."""
    peers = []
    if find_spec("probly") is not None:
        from probly.quantification import SecondOrderEntropyDecomposition
        from probly.representation.distribution.array_categorical import ArrayProbabilityCategoricalDistribution
        from probly.representation.sample.array import ArraySample

        sample = ArraySample(ArrayProbabilityCategoricalDistribution(probs), sample_axis=1)

        def of_probly() -> np.ndarray:
            found = SecondOrderEntropyDecomposition(sample)
            return np.stack([found.total, found.aleatoric, found.epistemic], axis=1)

        peers.append(Peer("probly", of_probly, tolerance=1e-10))
    if find_spec("torch_uncertainty") is not None:
        import torch
        from torch_uncertainty.metrics import Entropy, MutualInformation

        torch.set_num_threads(1)
        tensor = torch.from_numpy(probs)

        def of_torch() -> np.ndarray:
            total, epistemic = Entropy(reduction=None)(tensor.mean(dim=1)), MutualInformation(reduction=None)(tensor)
            return np.stack([total, total - epistemic, epistemic], axis=1)

        peers.append(Peer("torch-uncertainty", of_torch, tolerance=1e-8))
    return peers


SETS = (
    Workload("unified evaluation, the paper's convention, M = 15", partial(paper_pipeline, members=15)),
    Workload("unified evaluation, the paper's convention, M = 100", partial(paper_pipeline, members=100)),
    Workload("unified evaluation, exact (GH and KL), M = 100", partial(hartley_and_kl, members=100)),
    Workload("generalised Hartley, exact, M = 15", partial(hartley, members=15)),
    Workload("generalised Hartley, exact, M = 100", partial(hartley, members=100)),
    Workload("generalised Hartley, estimated, K = 100, M = 10", partial(many_classes, classes=100, n=N)),
    Workload("generalised Hartley, estimated, K = 1,000, M = 10, n = 500", partial(many_classes, classes=1000, n=500)),
    Workload("upper entropy of intervals", partial(box_entropy, side="upper", classes=10)),
    Workload("upper entropy of intervals, K = 100", partial(box_entropy, side="upper", classes=100)),
    Workload("lower entropy of intervals", partial(box_entropy, side="lower", classes=10)),
    Workload("lower entropy of intervals, K = 100", partial(box_entropy, side="lower", classes=100)),
    *(Workload(f"decomposition, {name}", partial(decomposition, name=name)) for name in plain.DECOMPOSITIONS),
    Workload("decomposition, pairwise KL", pairwise_divergence),
    Workload("decomposition, Gaussian logits", gaussian_logits),
)
