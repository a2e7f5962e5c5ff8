"""How toy data and real data are split: the plans of the discs and of the balls, as plain values."""

from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np

from uqassay.datasets import DiscLayout, disc_layout
from uqassay.wording import listed, number, percent

__all__ = ["RANDOM", "Regions", "Share", "ToyPlan"]

RANDOM: Literal["random"] = "random"
Share = float | Literal["random"]
MOST_RANDOM = 0.5  # the greatest share of figure 2 as it is here


@final
@dataclass(frozen=True, kw_only=True)
class ToyPlan:
    """How the toy data are split; see `uqassay.datasets.disc_layouts`.

    Attributes
    ----------
    layout, calibration : str
        Names of the discs of the evaluation and of the calibration.
    thinned : bool
        Whether test instances of low aleatoric uncertainty are removed in some of the discs.
    train_share : float, "random" or None
        p of every disc of the evaluation and of the calibration; "random" draws one for each disc and run, uniformly from 0 to
        .5. None takes those of the layouts.
    """

    layout: str = "figure-2"
    calibration: str = "twelve-discs"
    thinned: bool = False
    train_share: Share | None = None

    def discs(self, seed: int = 0) -> tuple[DiscLayout, DiscLayout]:
        """The discs of the evaluation and those of the calibration; the seed draws shares that are random."""
        rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
        evaluation, calibration = (self._shared(disc_layout(name), rng) for name in (self.layout, self.calibration))
        return evaluation, calibration

    def shares_sentence(self) -> str:
        """p in words."""
        if self.train_share is None:
            return "p from 1 to 50 %"
        if self.train_share == RANDOM:
            return f"p random between 0 and {percent(MOST_RANDOM, 0)}"
        return f"p = {percent(float(self.train_share), 1)}"

    def _shared(self, layout: DiscLayout, rng: np.random.Generator) -> DiscLayout:
        if self.train_share is None:
            return layout
        n = len(layout.centres)
        drawn = self.train_share == RANDOM
        return replace(layout, train_share=rng.uniform(0.0, MOST_RANDOM, n) if drawn else np.full(n, self.train_share))


@final
@dataclass(frozen=True, kw_only=True)
class Regions:
    """How balls are carved out of real data. The paper prints neither the radius nor any other of these numbers.

    Attributes
    ----------
    neighbour_share : float
        Share of all instances in a typical ball.
    dense_share : float
        The radius is such that this share of the instances have so many neighbours.
    n_balls : int
        At most.
    train_shares : tuple of float
        p: the balls take turns with them, so that test instances have a wide range of estimates.
    test_share : float
        q, the same for all balls.
    """

    neighbour_share: float = 0.005
    dense_share: float = 0.25
    n_balls: int = 40
    train_shares: tuple[float, ...] = (0.0, 0.02, 0.05, 0.15)
    test_share: float = 0.3

    def neighbours(self, n: int) -> int:
        """Number of neighbours of a typical centre among n instances."""
        return max(2, round(self.neighbour_share * n))

    def least(self, n: int) -> int:
        """Number of instances that a ball must catch and that no earlier ball has: half of those in a typical one."""
        return max(2, self.neighbours(n) // 2)

    def sentence(self) -> str:
        """In words."""
        p = listed([number(100 * share, 0) for share in self.train_shares])
        share = percent(self.neighbour_share)
        return (
            f"R: {percent(self.dense_share, 0)} of the instances have {share} of all within R; a ball must catch half as many "
            f"that no earlier ball caught; at most {self.n_balls} balls; p = {p} % in turn, q = {percent(self.test_share, 0)}; "
            f"the same inside D_train for the calibration"
        )
