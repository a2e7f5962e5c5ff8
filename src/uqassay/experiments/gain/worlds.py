"""The data of one run, the split into D_train, D_aug and D_test, and the split of D_train for the calibration.

Everything comes from plain values and a seed, so that a worker can make it again. Toy data are drawn anew in every run; real
data stay the same, and every run has its own balls.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.datasets import (
    BallDivision,
    BallSplit,
    MergedBinary,
    cluster_grid,
    merged_binary,
    suggested_radius,
    thinned_test,
)
from uqassay.experiments.gain.presets import GainData
from uqassay.experiments.gain.regions import Regions, ToyPlan

__all__ = ["Thinned", "World", "content_of", "dense_balls", "make_world", "world_params"]

Array = NDArray[np.floating[Any]]


@final
@dataclass(frozen=True, eq=False)
class World:
    """Data and splits of one run.

    Attributes
    ----------
    X, y : array (n, d), int array (n,)
    split, calibration : splitters
        With ``divide(X, random_state=…)``.
    truth : callable or None
        X (n, d) → P(y|x), (n, 2), where it is known.
    facts : dict
        Sizes and choices, as plain values.
    """

    X: Array
    y: NDArray[np.int64]
    split: Any
    calibration: Any
    truth: Callable[[Array], Array] | None
    facts: Mapping[str, Any]


def world_params(plan: GainData, *, limit: int | None, spread: float | None = None, data: str = "") -> dict[str, Any]:
    """Plain values that `make_world` needs, for the key of a stored result."""
    if isinstance(plan.plan, ToyPlan):
        return {"kind": "toy", "size": limit, "spread": spread, **asdict(plan.plan)}
    regions = {**asdict(plan.plan), "train_shares": list(plan.plan.train_shares)}
    return {
        "kind": "images",
        "source": plan.source,
        "data": data,
        "balanced": plan.balanced,
        "limit": limit,
        "regions": regions,
    }


def make_world(params: Mapping[str, Any], seed: int) -> World:
    """The data and splits of a run.

    Parameters
    ----------
    params : dict
        Of `world_params`.
    seed : int

    Raises
    ------
    InputError
        Files that are missing or have another form, or data without dense regions.
    """
    return _toy_world(params, seed) if params["kind"] == "toy" else _image_world(params)


# ---- toy data ----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Thinned:
    """A split whose test instances of low aleatoric uncertainty are removed in some of the discs (section 5.3.2).

    Attributes
    ----------
    splitter : BallSplit
    label_probs : callable
        X (n, d) → P(y|x).
    """

    splitter: BallSplit
    label_probs: Callable[[Array], Array]

    def divide(self, X: Array, random_state: int | None = None, *, y: NDArray[np.int64] | None = None) -> BallDivision:
        """The division of the splitter with fewer test instances."""
        division = self.splitter.divide(X, random_state, y=y)
        aleatoric = 1.0 - self.label_probs(X).max(axis=1)
        return thinned_test(division, np.maximum(aleatoric, 0.0))  # rounding gives −2e-16


def _toy_world(params: Mapping[str, Any], seed: int) -> World:
    size = {} if params["size"] is None else {"n": params["size"]}
    toy = cluster_grid(spread=params["spread"], rng=np.random.SeedSequence([seed, 0]), **size)
    evaluation, calibration = ToyPlan(**{field.name: params[field.name] for field in fields(ToyPlan)}).discs(seed)
    split: Any = evaluation.splitter()
    if params["thinned"]:
        split = Thinned(split, toy.label_probs)
    facts = {"instances": len(toy.y), "spread": toy.spread, "bayes_error": float(toy.aleatoric.mean())}
    return World(toy.X, toy.y, split, calibration.splitter(), toy.label_probs, facts)


# ---- images ------------------------------------------------------------------------------------------------------------


def _image_world(params: Mapping[str, Any]) -> World:
    data = _loaded(params["source"], params["data"], params["balanced"])
    X, y = data.X, data.y
    if params["limit"] is not None and len(y) > params["limit"]:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[: params["limit"]])
        X, y = X[rows], y[rows]
    regions = Regions(**{**params["regions"], "train_shares": tuple(params["regions"]["train_shares"])})
    neighbours = regions.neighbours(len(y))
    radius = suggested_radius(X, neighbours, quantile=regions.dense_share)
    facts = {
        "instances": len(y),
        "share_of_class_1": float(y.mean()),
        "radius": radius,
        "neighbours": neighbours,
        "data": data.note,
        "content_hash": data.content_hash,
    }
    split = dense_balls(regions, radius, regions.least(len(y)))
    return World(X, y, split, split, None, facts)


def dense_balls(regions: Regions, radius: float, least: int) -> BallSplit:
    """The split of real data into balls of a radius about dense regions; the calibration takes the same one inside D_train."""
    turns = -(-regions.n_balls // len(regions.train_shares))
    return BallSplit(
        radius,
        centres="dense",
        n_balls=regions.n_balls,
        train_share=(regions.train_shares * turns)[: regions.n_balls],
        test_share=regions.test_share,
        min_neighbours=least,
    )


def content_of(params: Mapping[str, Any]) -> str:
    """Digest of the images of `world_params`; "" for toy data, which a seed makes."""
    if params["kind"] == "toy":
        return ""
    return _loaded(params["source"], params["data"], params["balanced"]).content_hash


@lru_cache(maxsize=1)
def _loaded(source: str, data: str, balanced: bool) -> MergedBinary:
    return merged_binary(source, data=data or None, balanced=balanced)
