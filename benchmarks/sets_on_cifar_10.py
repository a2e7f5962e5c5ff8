"""Sets judged as sets on CIFAR-10: votes against credal sets, and coverage beside probly.

    python -m benchmarks.sets_on_cifar_10 votes FOLDER [--store]      the votes of CIFAR-10H and three networks (a minute)
    python -m benchmarks.sets_on_cifar_10 probly FOLDER [--store]     in an environment with probly (a minute)

FOLDER holds three_networks.npz, labels.npy and human_counts.npy: members of three networks on the test images, labels, votes.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import uqassay as uq
from benchmarks.docs_numbers import write_pages
from benchmarks.stored_tables import Source, Table, store
from uqassay.calibration import vote_compatibility_test
from uqassay.credal import in_hull
from uqassay.text import percent

RUN = "python -m benchmarks.sets_on_cifar_10"
TOLERANCES = (1e-3, 1e-2, 1e-1)  # of the sum of absolute differences
FIRST = 1000  # instances for linear programs one by one
VOTES = Source(
    f"{RUN} votes FOLDER --store",
    "uqassay.calibration.votes:vote_compatibility_test",
    cost="a minute of a core",
)
PROBLY = Source(
    f"{RUN} probly FOLDER --store", "uqassay.measures.nonspecificities:not_ruled_out", cost="a minute of a core"
)


def votes_table(members: np.ndarray, votes: np.ndarray) -> Table:
    """Share of images whose votes are compatible with each set, and the shares inside at several tolerances."""
    sets = {
        "hull of the three": members,
        "their mean alone": members.mean(axis=1, keepdims=True),
        **{f"network {m + 1} alone": members[:, m : m + 1] for m in range(members.shape[1])},
    }
    shares = votes / votes.sum(axis=1, keepdims=True)
    rows = []
    for name, points in sets.items():
        found = vote_compatibility_test(votes, uq.Members(points), votes_are="counts").share
        inside = [percent(float(in_hull(points.astype(float), shares, tolerance=t).mean())) for t in TOLERANCES]
        rows.append([name, percent(found), f"{percent(found.low)} to {percent(found.high)}", *inside])
    header = ("set", "compatible", "95 % interval", *(f"inside within {t:g}" for t in TOLERANCES))
    return Table(header, rows)


def probly_table(members: np.ndarray, y: np.ndarray, votes: np.ndarray) -> Table:
    """The numbers of both packages for the same predictions, and their greatest difference."""
    import probly
    from probly.metrics import average_interval_width, convex_hull_coverage, coverage, efficiency
    from probly.representation.conformal_set.array import ArrayOneHotConformalSet
    from probly.representation.credal_set.array import (
        ArrayConvexCredalSet,
        ArrayDiscreteCredalSet,
        ArrayProbabilityIntervalsCredalSet,
    )
    from probly.representation.distribution.array_categorical import (
        ArrayProbabilityCategoricalDistribution as Distributions,
    )

    points = members.astype(np.float64)
    points /= points.sum(axis=-1, keepdims=True)
    shares = votes / votes.sum(axis=1, keepdims=True)
    hull = ArrayConvexCredalSet(Distributions(points))
    single = ArrayDiscreteCredalSet(Distributions(points))
    lower, upper = points.min(axis=1), points.max(axis=1)
    box = ArrayProbabilityIntervalsCredalSet(lower_bounds=lower, upper_bounds=upper)
    sets = uq.measures.not_ruled_out(points, rule="interval-dominance")
    conformal = ArrayOneHotConformalSet(sets)
    part = slice(FIRST)
    few = ArrayConvexCredalSet(Distributions(points[part]))
    modes = (points.argmax(axis=2)[..., None] == np.arange(points.shape[2])).any(axis=1)
    dominance = {"rule": "interval-dominance"}
    pairs = {
        "coverage, hull": (coverage(hull, y), uq.metrics.set_coverage_score(y, points, **dominance)),
        "coverage, intervals": (
            coverage(box, y),
            uq.metrics.set_coverage_score(y, uq.Intervals(lower, upper), **dominance),
        ),
        "coverage, modes of the members": (coverage(single, y), uq.metrics.set_coverage_score(y, modes)),
        "efficiency (size), modes of the members": (efficiency(single), uq.metrics.mean_set_size(modes)),
        "coverage, class sets": (coverage(conformal, y), uq.metrics.set_coverage_score(y, sets)),
        "efficiency (size), class sets": (efficiency(conformal), uq.metrics.mean_set_size(sets)),
        "average interval width, hull": (average_interval_width(hull), uq.measures.credal_width(points).mean()),
        **{
            f"convex hull coverage within {t:g}, first {FIRST:,}": (
                convex_hull_coverage(few, Distributions(shares[part]), epsilon=t),
                in_hull(points[part], shares[part], tolerance=t).mean(),
            )
            for t in TOLERANCES
        },
    }
    rows = [
        [name, f"{theirs:.4f}", f"{ours:.4f}", f"{abs(theirs - ours):.0e}"] for name, (theirs, ours) in pairs.items()
    ]
    return Table(("number", f"probly {probly.__version__}", "uqassay", "difference"), rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and store where asked."""
    parser = argparse.ArgumentParser(prog=RUN, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", choices=("votes", "probly"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", action="store_true", help="store the table and write the guide")
    told = parser.parse_args(arguments)
    with np.load(told.folder / "three_networks.npz") as held:
        members = held["probs"]
    votes = np.load(told.folder / "human_counts.npy")
    if told.table == "votes":
        name, source, table = "votes-cifar-10", VOTES, votes_table(members, votes)
    else:
        y = np.load(told.folder / "labels.npy").astype(np.int64)
        name, source, table = "sets-against-probly", PROBLY, probly_table(members, y, votes)
    print("\n".join(table.markdown()))
    if told.store:
        store(name, table, source)
        write_pages()


if __name__ == "__main__":
    main()
