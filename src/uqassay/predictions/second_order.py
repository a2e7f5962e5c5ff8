"""Distributions over distributions: `Dirichlet` and `GaussianLogits`."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import (
    Floats,
    RandomState,
    as_array,
    as_numeric,
    check_class_count,
    check_rows,
    draw_per_row,
    still_whole,
)
from uqassay.checks import fail, whole
from uqassay.errors import InputError
from uqassay.predictions.base import CORE_BYTES, Prediction
from uqassay.predictions.labels import take_table
from uqassay.predictions.points import (
    Members,
    OrderFreeSum,
    check_draws,
    check_logits,
    chosen_members,
    refuse_truth_values,
    softmax,
    take_probabilities,
)
from uqassay.predictions.quadrature import softmax_points, two_class_probs
from uqassay.text import shown

__all__ = [
    "MOST",
    "Drawn",
    "GaussianLogits",
    "check_variance_is",
]


# Base class of `Dirichlet` and `GaussianLogits`: a second-order distribution, whose draws or passes span the credal
# set.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Drawn(Prediction):
    """A second-order distribution per instance; the credal set is the hull of draws from it, or of passes.

    Parameters
    ----------
    n_draws : int
        Number of draws that span the credal set (of passes: of logits behind each). More draws make the set and its
        non-specificity larger.
    seed : int
        Seed of these draws. They depend on the row number, so a slice has the same draws as the whole.
    drawn : array (n, V, K), optional
        The points that span the set, if they are kept; see `with_draws`.
    """

    n_draws: int = 100
    seed: int = 0
    drawn: NDArray[np.float64] | None = field(default=None, repr=False)

    @abstractmethod
    def sample(self, n: int, rng: RandomState = None) -> Floats:
        """Draws, ``(n_instances, n, K)``; they depend on the row, not on its place in a slice."""

    @property
    def n_points(self) -> int:
        """Number V of points that span the set of each instance."""
        return self.n_draws

    @property
    def spanned_by(self) -> str:
        """Name of the points that span the set: "draws", or "passes" of a network."""
        return "draws"

    @property
    def has_shared_points(self) -> bool:
        """True if point v has the same meaning in every instance, as a member of an ensemble has; draws have not."""
        return False

    def hull_points(self) -> NDArray[Any]:
        """The points that span the set, ``(n, V, K)``."""
        return self._spanning() if self.drawn is None else self.drawn

    def _spanning(self) -> Floats:
        """The points that span the set, computed anew."""
        return self.sample(self.n_draws, self.seed)

    def with_draws(self) -> Self:
        """A copy that keeps the points that span its sets, so that they are computed only once."""
        same = replace(self, drawn=self.hull_points())
        object.__setattr__(same, "_held", self._held)  # still valid: the draws are the same
        return same

    def members(self) -> Members:
        """The points that span the set, as `Members` with the class names, ids, groups and notes."""
        members = Members(
            self.hull_points(),
            class_names=self.class_names,
            class_order=self.class_order,
            groups=self.groups,
            notes=self.notes,
        )
        for name in ("ids", "row_numbers"):  # unchecked, because a selection may hold a row twice
            object.__setattr__(members, name, getattr(self, name))
        return members

    def credal(self) -> Members:
        """The points that span the set, as `Members`."""
        return self.members()

    def lower_probs(self) -> Floats:
        """Least probability of each class among the points that span the set, ``(n, K)``."""
        return self.hull_points().min(axis=1)

    def upper_probs(self) -> Floats:
        """Greatest probability of each class among the points that span the set, ``(n, K)``."""
        return self.hull_points().max(axis=1)

    def _check_draws(self) -> None:
        check_draws(self.n_draws, "n_draws")
        whole(self.seed, "seed", "give a number", least=0)
        shape = (self.n_instances, self.n_points, self.n_classes)
        if self.drawn is not None and as_array(self.drawn, "drawn").shape != shape:
            got = f"got {np.shape(self.drawn)}"
            fail("drawn", f"must have the shape {shape}", got, "use with_draws() to make it", code="shape")

    def _draw(
        self, n: int, rng: RandomState, one: Callable[[np.random.Generator, int, tuple[int, int]], Floats]
    ) -> Floats:
        """``one(generator of the row, index, (n, K))`` for every row, ``(n_instances, n, K)``."""
        check_draws(n, "n")
        shape = (n, self.n_classes)
        numbers = np.arange(self.n_instances) if self.row_numbers is None else self.row_numbers
        return draw_per_row(lambda g, i: one(g, i, shape), np.empty((self.n_instances, *shape)), numbers, rng)


# Dirichlet: a Dirichlet distribution over class probabilities per instance, as from evidential classifiers.

# float64, because a comparison casts a Python number to the dtype of the array: in float32 these are 0 and inf
LEAST_ALPHA = np.float64(1e-300)  # the logarithm of a draw overflows below
MOST_ALPHA = np.float64(1e300)  # the sum over the classes could overflow above
MOST_LOGIT = 690.0  # exp of it, and of its negative, lie between these
LINKS: Mapping[str, Callable[[Floats], Floats]] = {
    "softplus+1": lambda z: np.logaddexp(0.0, z) + 1.0,
    "exp": np.exp,
    "relu+1": lambda z: np.maximum(z, 0.0) + 1.0,
}


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(Drawn):
    """Concentrations α of one Dirichlet per instance; the credal set is the hull of draws from it.

    Parameters
    ----------
    alpha : array (n, K)
        Concentrations, all > 0.
    unit_concentration : bool
        Divide α by its sum before drawing, as the authors of the unified evaluation do (unified evaluation). Their published
        numbers for EDL need it. The mean stays the same, and the draws spread over the simplex.
    n_draws, seed
        Number and seed of the draws that span the set; see `Drawn`.

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.Dirichlet([[8.0, 1.0, 1.0]])
    >>> d.mean_probs().tolist(), d.members().n_members
    ([[0.8, 0.1, 0.1]], 100)
    """

    alpha: NDArray[Any]
    unit_concentration: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        self._take_table("alpha")
        alpha = take_probabilities(self.alpha, "alpha", 2)
        refuse_truth_values(alpha, "alpha", "give concentrations, evidence + 1 for EDL")
        check_class_count(alpha.shape[1], "alpha")
        check_rows(
            alpha,
            "alpha",
            tolerance=0.0,
            unit_sum=False,
            low=LEAST_ALPHA,
            high=MOST_ALPHA,
            remedy="give concentrations, all positive: evidence + 1 for EDL, or counts with a prior",
        )
        self._set("alpha", alpha)
        self._check_draws()
        self._finish(class_axis_of="alpha")

    @classmethod
    def from_logits(cls, logits: ArrayLike, *, link: str = "softplus+1", **metadata: Any) -> "Dirichlet":
        """Concentrations from the outputs z ``(n, K)`` of an evidential network.

        Parameters
        ----------
        logits : array (n, K)
            Outputs of the network before its last function.
        link : {"softplus+1", "exp", "relu+1"}
            α = ln(1 + exp z) + 1, as most evidential networks; α = exp z, as prior networks, whose mean is the softmax;
            α = max(z, 0) + 1, as Sensoy, Kaplan and Kandemir (2018). It is the function that the network was trained with.
        **metadata
            `class_names`, `ids`, `groups` and the other options of `Dirichlet`.

        Examples
        --------
        >>> import uqassay as uq
        >>> uq.Dirichlet.from_logits([[2.0, -1.0]], link="relu+1").alpha.tolist()
        [[3.0, 1.0]]
        >>> uq.Dirichlet.from_logits([[2.0, -1.0]]).alpha.round(3).tolist()
        [[3.127, 1.313]]
        """
        if not isinstance(link, str) or link not in LINKS:
            remedy = "choose the function that the network was trained with"
            fail("link", f"must be one of {', '.join(LINKS)}", f"got {link!r:.60}", remedy, code="choice")
        array, class_names, ids = take_table(logits, "logits")
        given = as_numeric(array, "logits", ndim=2)
        refuse_truth_values(given, "logits", "give the outputs of the network")
        check_rows(given, "logits", tolerance=0.0, unit_sum=False, low=-MOST_LOGIT, high=MOST_LOGIT)
        found = cls(LINKS[link](np.asarray(given, dtype=np.float64)), **metadata)
        found._default(class_names=class_names, ids=ids)
        return found

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.alpha.shape[1])

    def mean_probs(self) -> Floats:
        """Mean of the Dirichlet, α / Σα, ``(n, K)``."""
        still_whole(self.alpha)
        alpha = np.ascontiguousarray(self.alpha, dtype=np.float64)  # one layout, so sums round alike in every chunk
        return alpha / alpha.sum(axis=1, keepdims=True)

    def sample(self, n: int, rng: RandomState = None) -> Floats:
        """Draws from the Dirichlet, ``(n_instances, n, K)``; they depend on the row, not on its place in a slice."""
        still_whole(self.alpha)
        alpha = np.ascontiguousarray(self.alpha, dtype=np.float64)
        if self.unit_concentration:
            alpha = alpha / alpha.sum(axis=1, keepdims=True)

        def one(g: np.random.Generator, i: int, shape: tuple[int, int]) -> Floats:
            # Gamma(α) = Gamma(α + 1) · U^(1/α); in logarithms, because draws underflow for small α
            return np.log(g.standard_gamma(alpha[i] + 1.0, shape)) - g.standard_exponential(shape) / alpha[i]

        logs = self._draw(n, rng, one)
        logs -= logs.max(axis=2, keepdims=True)  # normalised as a softmax
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=2, keepdims=True)
        return logs

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("alpha",) if self.drawn is None else ("alpha", "drawn")

    def _one_versus_rest(self, k: int) -> "Dirichlet":
        # aggregation property: summed probabilities are Dirichlet with the summed concentrations
        alpha = np.ascontiguousarray(self.alpha, dtype=np.float64)
        rest = np.compress(np.arange(self.n_classes) != k, alpha, axis=1).sum(axis=1)
        both = np.stack([rest, alpha[:, k]], axis=1)
        settings = {"n_draws": self.n_draws, "seed": self.seed, "unit_concentration": self.unit_concentration}
        return Dirichlet(both, **settings)  # type: ignore[arg-type]


# GaussianLogits: Gaussian distributions over logits, from heteroscedastic classifiers or Laplace approximations.

MOST = np.float64(1e300)  # limit of means and variances, so that draws are finite
VARIANCE_IS = ("aleatoric", "epistemic")


@dataclass(frozen=True, eq=False, repr=False)
class GaussianLogits(Drawn):
    """Independent Gaussian logits per class, from one model or from each of M forward passes.

    Parameters
    ----------
    mean, variance : array (n, K) or (n, M, K)
        Mean μ and variance σ² of the logits; variances ≥ 0. A mean of −inf makes the class impossible for this instance.
    variance_is : {"aleatoric", "epistemic"}
        Meaning of the variance; required. "aleatoric": noise of the label, as in the head of a heteroscedastic classifier.
        The distributions of the M passes, p_t = E softmax(z) over z ~ N(μ_t, σ_t²), span the set; one pass is one point.
        "epistemic": doubt about the function, as in a Laplace approximation or a Gaussian process. Softmax draws of z span
        the set.
    n_draws, seed
        Number and seed of the draws of logits, see `Drawn`. "aleatoric": behind each p_t of three or more classes, the same
        standard normal draws for all passes of an instance, so that equal passes have equal p_t. "epistemic": divided evenly
        among the passes.
    shared_draws : bool
        For "epistemic". True: the draws that span the set are points of a Sobol sequence that all instances share, moved so
        that their mean is the exact mean of softmax(z) (`uqassay.predictions.quadrature`; to 1e-9 for σ ≤ 32). So equal
        instances have equal sets, wherever they stand. False: each instance has its own pseudo-random draws.

    Notes
    -----
    Source of the head: disentanglement, section 3 and appendix A (Kendall and Gal, 2017).

    Draws and integrals. With two classes only the difference of the logits counts, which is Gaussian, so expectations are
    exact integrals (`uqassay.predictions.quadrature`; to 1e-12):

    =======================================================  ===========  =============
    quantity                                                 two classes  three or more
    =======================================================  ===========  =============
    mean probabilities; p_t of "aleatoric" passes            exact        draws
    decomposition "gaussian-logits"                          exact        draws
    other decompositions, variances and votes ("epistemic")  exact        draws
    spherical decomposition ("epistemic")                    draws        draws
    sets ("epistemic"): bounds, members, non-specificity,    draws        draws
    entropies of credal sets
    =======================================================  ===========  =============

    Decompositions of "aleatoric" variances are those of the passes p_t. With shared draws the mean probabilities are exact for
    any number of classes.

    Examples
    --------
    >>> import uqassay as uq
    >>> mean, variance = [[[0.0, 0.0], [0.0, 0.0]]], [[[4.0, 4.0], [4.0, 4.0]]]  # two equal passes
    >>> uq.GaussianLogits(mean, variance, variance_is="aleatoric").members()
    Members(probs=(1, 2, 2))
    >>> g = uq.GaussianLogits(mean, variance, variance_is="aleatoric")
    >>> uq.measures.entropy_decomposition(g).epistemic.tolist()
    [0.0]
    >>> g = uq.GaussianLogits(mean, variance, variance_is="epistemic")
    >>> bool(uq.measures.entropy_decomposition(g).epistemic > 0.1)
    True
    """

    mean: NDArray[Any]
    variance: NDArray[Any]
    variance_is: str = field(default="", kw_only=True)  # no meaning by default: it is refused in `check_variance_is`
    shared_draws: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_variance_is(self.variance_is)
        self._set("variance_is", str(self.variance_is))
        self._take_table("mean", "variance")
        mean = as_numeric(self.mean, "mean", ndim=(2, 3))
        variance = as_numeric(self.variance, "variance", ndim=(2, 3))
        if mean.shape != variance.shape:
            rule = f"must have the shape of mean, {mean.shape}"
            fail("variance", rule, f"got {variance.shape}", "give one variance for each logit", code="shape")
        if mean.ndim == 2:
            mean, variance = mean[:, None, :], variance[:, None, :]
        if mean.shape[1] == 0:
            fail("mean", "needs at least one forward pass", f"got shape {mean.shape}", "check the axes", code="shape")
        check_class_count(mean.shape[2], "mean")
        check_logits(mean, "mean", most=MOST)
        refuse_truth_values(variance, "variance", "give variances")
        check_rows(
            variance,
            "variance",
            tolerance=0.0,
            unit_sum=False,
            high=MOST,
            remedy="give variances, not their logarithms",
        )
        self._set("mean", mean)
        self._set("variance", variance)
        self._check_draws()
        self._check_shared_draws()
        if self.variance_is == "epistemic":
            self._passes(self.n_draws)
        self._finish(class_axis_of="mean")

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.mean.shape[2])

    @property
    def n_passes(self) -> int:
        """Number of forward passes M."""
        return int(self.mean.shape[1])

    @property
    def n_points(self) -> int:
        """Number V of points that span the set: the passes M ("aleatoric") or `n_draws` ("epistemic")."""
        return self.n_passes if self.variance_is == "aleatoric" else self.n_draws

    @property
    def spanned_by(self) -> str:
        """Name of the points that span the set: "passes" ("aleatoric") or "draws" ("epistemic")."""
        return "passes" if self.variance_is == "aleatoric" else "draws"

    @property
    def has_shared_points(self) -> bool:
        """True for "aleatoric": the points are passes, which are members of an ensemble or samples of the weights."""
        return self.variance_is == "aleatoric"

    def subset(self, n_passes: int, rng: Any = None) -> "GaussianLogits":
        """A random subset of the passes, the same for all instances, as `Members.subset`."""
        chosen, note = chosen_members(n_passes, self.n_passes, "passes", rng)
        drawn = self.drawn[:, chosen] if self.drawn is not None and self.has_shared_points else None
        mean, variance = self.mean[:, chosen], self.variance[:, chosen]
        return replace(self, mean=mean, variance=variance, drawn=drawn, notes=(*self.notes, note))

    def mean_probs(self) -> Floats:
        """Mean of softmax(z), in which all passes have the same weight, ``(n, K)``; for more than two classes, of the draws."""
        exact = self.n_classes == 2 and (self.variance_is == "epistemic" or self.drawn is None)
        points = self._probs_of_passes() if exact else self.hull_points()
        if self.variance_is == "epistemic" and not exact:
            return (points * self.shares()[:, None]).sum(axis=1)
        total = OrderFreeSum((self.n_instances, self.n_classes))
        for t in range(self.n_passes):
            total.add(points[:, t])
        return total.value() / self.n_passes

    def shares(self) -> Floats:
        """Weight in the mean of each point that spans the set, ``(V,)``; all passes have the same total weight."""
        if self.variance_is == "aleatoric":
            return np.full(self.n_passes, 1.0 / self.n_passes)
        passes = self._passes(self.n_draws)
        return 1.0 / (np.bincount(passes)[passes] * self.n_passes)

    def members(self) -> Members:
        """The points that span the set, as `Members`; weighted if the passes have different numbers of draws."""
        members = super().members()
        if self.variance_is == "epistemic" and self.n_draws % self.n_passes:
            members._set("weights", self.shares())
        return members

    def sample(self, n: int, rng: RandomState = None) -> Floats:
        """Distributions drawn, ``(n_instances, n, K)``: softmax of `sample_logits`, or ("aleatoric") p_t of passes drawn."""
        if self.variance_is == "aleatoric":
            return self.members().sample(n, rng)
        return softmax(self.sample_logits(n, rng), "logits")

    def sample_logits(self, n: int, rng: RandomState = None) -> Floats:
        """Drawn logits, ``(n_instances, n, K)``, divided evenly among the passes, in the order of the passes."""
        passes = self._passes(n)
        logits = self._normal_draws(n, rng)
        still_whole(self.mean)
        still_whole(self.variance)
        logits *= np.sqrt(np.asarray(self.variance, dtype=np.float64))[:, passes]
        logits += self.mean[:, passes]
        return logits

    def logits_of_passes(self) -> Iterator[Floats]:
        """Logits of one pass after the other, ``(n_instances, n_draws, K)`` each, from the same standard normal draws.

        Each array is new. Where there are many instances, call it for chunks of them.
        """
        normal = self._normal_draws(self.n_draws, self.seed)
        still_whole(self.mean)
        still_whole(self.variance)
        for t in range(self.n_passes):
            logits = normal * np.sqrt(np.asarray(self.variance[:, t], dtype=np.float64))[:, None]
            logits += self.mean[:, t, None]
            yield logits

    def two_class_logits(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logit of class 1 against class 0 in each pass, ``(n, M)`` each."""
        if self.n_classes != 2:
            remedy = "use one_versus_rest"
            fail("prediction", "must have two classes", f"got {self.n_classes}", remedy, code="undefined")
        still_whole(self.mean)
        still_whole(self.variance)
        mean, variance = np.asarray(self.mean, dtype=np.float64), np.asarray(self.variance, dtype=np.float64)
        return mean[..., 1] - mean[..., 0], np.sqrt(variance.sum(axis=2))

    def _probs_of_passes(self) -> Floats:
        """E softmax(z) of each pass for two classes, ``(n, M, 2)``."""
        probs = np.empty(self.mean.shape)

        def work(rows: slice, part: "GaussianLogits") -> None:
            mean, deviation = part.two_class_logits()
            probs[rows] = two_class_probs(mean.ravel(), deviation.ravel()).reshape(*mean.shape, 2)

        self.for_each_chunk(work, 32 * self.n_passes, chunk_bytes=CORE_BYTES)
        return probs

    def __repr__(self) -> str:
        return f"{super().__repr__().removesuffix(')')}, variance_is={self.variance_is!r})"

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("mean", "variance") if self.drawn is None else ("mean", "variance", "drawn")

    def _spanning(self) -> Floats:
        if self.shared_draws:
            return self._shared_points()
        if self.variance_is == "epistemic":
            return super()._spanning()
        if self.n_classes == 2:
            return self._probs_of_passes()
        probs = np.empty(self.mean.shape)

        def work(rows: slice, part: "GaussianLogits") -> None:
            for t, logits in enumerate(part.logits_of_passes()):
                probs[rows, t] = softmax(logits, "logits").mean(axis=1)
            certain = ~part.variance.any(axis=2)  # (rows, M); the mean of equal draws may be off by a rounding error
            if certain.any():
                probs[rows][certain] = softmax(part.mean[certain], "mean")

        self.for_each_chunk(work, 16 * self.n_draws * self.n_classes, chunk_bytes=CORE_BYTES)
        return probs

    def _shared_points(self) -> Floats:
        """The points of `softmax_points` of each pass, ``(n, n_draws, K)``."""
        passes = self._passes(self.n_draws)
        points = np.empty((self.n_instances, self.n_draws, self.n_classes))

        def work(rows: slice, part: "GaussianLogits") -> None:
            for t in range(self.n_passes):
                mean, variance = (np.array(each[:, t], dtype=np.float64) for each in (part.mean, part.variance))
                points[rows, passes == t] = softmax_points(mean, variance, int((passes == t).sum()), seed=self.seed)

        self.for_each_chunk(work, 8 * self.n_draws * self.n_classes, chunk_bytes=CORE_BYTES)
        return points

    def _check_shared_draws(self) -> None:
        if not isinstance(self.shared_draws, (bool, np.bool_)):
            got = f"got {shown(self.shared_draws)}"
            fail("shared_draws", "must be True or False", got, "leave it out", code="type")
        self._set("shared_draws", bool(self.shared_draws))
        if self.shared_draws and self.variance_is != "epistemic":
            rule = 'is for variance_is="epistemic", whose draws span the set'
            got = f"got variance_is={self.variance_is!r}, whose passes span it"
            fail("shared_draws", rule, got, "leave it out", code="conflict")

    def _normal_draws(self, n: int, rng: RandomState) -> Floats:
        return self._draw(n, rng, lambda g, i, shape: g.standard_normal(shape))

    def _passes(self, n: int) -> NDArray[np.int64]:
        """Index of the pass of each of n draws, ``(n,)``."""
        check_draws(n, "n")
        m = self.n_passes
        if n < m:
            remedy = f"ask for {m} or more"
            fail("n_draws", f"needs at least one draw from each of the {m} passes", f"got {n}", remedy, code="range")
        return np.arange(n) * m // n

    def _one_versus_rest(self, k: int) -> "Members | GaussianLogits":
        if (
            self.n_classes == 2 and self.variance_is == "epistemic"
        ):  # the same distribution, and the same points in its sets
            rest_first = [1 - k, k]
            mean, variance = self.mean[..., rest_first], self.variance[..., rest_first]
            return replace(
                self, mean=mean, variance=variance, drawn=self.hull_points()[..., rest_first], class_names=None
            )
        return self.members()._one_versus_rest(k)


def check_variance_is(value: Any) -> None:
    """Refuse a meaning of the variance other than the two of `VARIANCE_IS`."""
    if isinstance(value, str) and value in VARIANCE_IS:
        return
    problem = InputError(
        "variance_is",
        'must be "aleatoric" (noise of the label, as in a heteroscedastic head) or "epistemic" (doubt about the function, as '
        "in a Laplace approximation or a Gaussian process)",
        f"got {shown(value)}",
        'pass variance_is="aleatoric" or variance_is="epistemic"',
        code="choice",
    )
    absent = value is None or (isinstance(value, str) and not value)
    raise problem.replace(got="it is missing", code="missing") if absent else problem
