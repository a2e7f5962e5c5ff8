"""Tables of docs/methods.md and docs/gaussian-processes.md."""

import numpy as np

from benchmarks.measured.registry import measured, printed
from benchmarks.stored_tables import Table

BRIDGE = {  # rows of the script, and posterior and prediction as the guide names them
    "network": ("(the network)", "softmax"),
    "trained, draws": ("trained", "draws"),
    "trained, plain": ("trained", 'bridge "plain"'),
    "trained, capped": ("trained", 'bridge "capped"'),
    "laplace, draws": ("laplace", "draws"),
    "laplace, capped": ("laplace", 'bridge "capped"'),
    "variational, draws": ("variational", "draws"),
    "variational, capped": ("variational", 'bridge "capped"'),
}
LATENT = (
    ("softmax", 3, 128),
    ("softmax", 10, 128),
    ("softmax", 10, 512),
    ("one-versus-rest", 3, 128),
    ("one-versus-rest", 10, 128),
)


def _short(value: float, digits: int) -> str:
    """Without the zero before the point, and 0 for what rounds to it."""
    return f"{value:.{digits}f}".removeprefix("0") if round(value, digits) else "0"


@measured(
    "laplace-bridge",
    function="benchmarks.bench_laplace_bridge:one_seed",
    rests_on=("uqassay.lab.methods.laplace", "uqassay.lab.methods.ensembles"),
)
def laplace_bridge(size: int = 5) -> Table:
    """The Gaussian last layer and its Dirichlet on digits, means over the seeds."""
    from benchmarks.bench_laplace_bridge import one_seed

    runs = [one_seed("digits", seed) for seed in range(size)]
    rows = []
    for name, labels in BRIDGE.items():
        accuracy, ece, loss, unsure = np.mean([run[name] for run in runs], axis=0)[:4]
        cells = [f"{value:.3f}".removeprefix("0") for value in (accuracy, ece, loss)]
        rows.append([*labels, *cells, "0" if unsure == 0 else f"{unsure:.3f}"])
    return Table(("posterior", "prediction", "accuracy", "ECE", "log loss", "non-specificity"), rows)


@measured(
    "gaussian-process-classes",
    function="benchmarks.bench_gaussian_processes:classes",
)
def gaussian_process_classes(size: int = 60) -> Table:
    """Errors of latent predictions of several classes; the script has 60 rows."""
    from benchmarks.bench_gaussian_processes import classes

    found = {}
    for line in printed(classes)[2:]:
        kind, k, _, n, _, *values = line.replace("(", " ").replace(")", " ").split()
        found[kind, int(k), int(n)] = [float(value) for value in values]
    rows = []
    for kind, k, n in LATENT:
        values, digits = found[kind, k, n], 3 if kind == "softmax" else 4
        ours = [_short(values[0], 4), _short(values[1], 4), _short(values[2], digits), _short(values[3], digits)]
        drawn = [_short(value, 3) for value in values[4:]]
        pairs = [", ".join(dict.fromkeys(pair)) for pair in (ours[:2], ours[2:], drawn[:2], drawn[2:])]
        rows.append([f"{kind}, {k} classes", str(n), *pairs])
    columns = ("", "points", "probability", "mutual information, nats", "draws: probability")
    return Table((*columns, "draws: mutual information"), rows)
