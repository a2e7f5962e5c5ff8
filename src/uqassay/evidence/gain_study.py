"""The gain from more data against the estimates of epistemic uncertainty, over the runs of one method on one data set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

from uqassay._array import shown
from uqassay._shown import Shown
from uqassay._shown_table import ShownTable
from uqassay.errors import InputError
from uqassay.evidence.gain_headlines import gain_sentences
from uqassay.evidence.gain_of_run import FOLDS, SHARES, GainOptions, gain_of_run
from uqassay.evidence.gain_result import GainResult, gain_result
from uqassay.evidence.gain_rows import gain_rows, gain_shown_table, gain_table
from uqassay.evidence.gain_sample import GainRun
from uqassay.evidence.gain_storage import read_gain_study, save_gain_study
from uqassay.notes import Note
from uqassay.wording import count, counted, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GainStudy", "check_folds"]

MOST_FOLDS = 100


@final
@dataclass(frozen=True, eq=False, repr=False)
class GainStudy(Shown):
    """The runs of one method on one data set.

    Attributes
    ----------
    method, dataset : str
    runs : tuple of R GainRun
    facts : dict
        Plain values for the reader: options, sizes, times.
    notes : tuple of Note

    Raises
    ------
    InputError
        Without runs, for a seed that occurs twice, or for runs without a common loss or score.
    """

    _shown_more: ClassVar[str] = "summary(), result(score, loss), table(name)"

    method: str
    dataset: str
    runs: tuple[GainRun, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    _found: dict[GainOptions, GainResult] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        runs = tuple(self.runs)
        if not runs:
            raise InputError("runs", "needs at least one run", "got none", "pass a GainRun for each", code="empty")
        for r, run in enumerate(runs):
            if not isinstance(run, GainRun):
                raise InputError(
                    f"runs[{r}]", "must be a GainRun", f"got {shown(run)}", "pass GainRun(seed, test)", code="type"
                )
        seeds = [run.seed for run in runs]
        if len(set(seeds)) < len(seeds):
            raise InputError(
                "runs", "must have different seeds", f"got {seeds}", "count every run once", code="duplicate"
            )
        if not isinstance(self.facts, Mapping):
            raise InputError("facts", "must be a mapping", f"got {shown(self.facts)}", 'pass {"runs": 6}', code="type")
        object.__setattr__(self, "runs", runs)
        for name, names in (("score", self.scores), ("loss", self.losses)):
            if not names:
                raise InputError(
                    "runs",
                    f"must have a {name} in common",
                    "got none",
                    "compute the same scores and losses in every run",
                    code="mismatch",
                )
        for key, value in {
            "method": str(self.method),
            "dataset": str(self.dataset),
            "notes": tuple(self.notes),
        }.items():
            object.__setattr__(self, key, value)

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.runs)

    @property
    def seeds(self) -> tuple[int, ...]:
        """One for each run."""
        return tuple(run.seed for run in self.runs)

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of the estimates of epistemic uncertainty that all runs have."""
        return self._common("epistemic")

    @property
    def losses(self) -> tuple[str, ...]:
        """Names of the losses that all runs have gains of."""
        return self._common("gain")

    def _common(self, part: str) -> tuple[str, ...]:
        first, *others = (getattr(run.test, part) for run in self.runs)
        return tuple(name for name in first if all(name in other for other in others))

    def result(
        self,
        score: str | None = None,
        loss: str = "zero-one",
        *,
        bins: int = 20,
        binning: Literal["equal-mass", "equal-width"] = "equal-mass",
        map_bins: Literal["paper", "own"] = "paper",
        level: float = 0.95,
        shares: Sequence[float] = SHARES,
        cross_fit: int = FOLDS,
    ) -> GainResult:
        """Correlation, calibration error, map and delay curve of one estimate under one loss, over the runs.

        Parameters
        ----------
        score : str, optional
            One of `scores`; the first by default.
        loss : str
            One of `losses`.
        bins : int
            Intervals of the estimates.
        binning : {"equal-mass", "equal-width"}
        map_bins : {"paper", "own"}
            Intervals of the map: those of the test instances, as in the paper, or those of the calibration instances.
        level : float
            Confidence level of the intervals.
        shares : sequence of float
            Of the cases that wait, on the delay curve: 0, 0.05, …, 1 by default.
        cross_fit : int
            Number of folds of the test instances. If no run has a calibration sample, the estimates of each fold are mapped by
            a map of the other folds; see `uqassay.calibration.cross_fitted_map`. 0 for no map.

        Returns
        -------
        GainResult
            Kept, so that asking again costs nothing.

        Raises
        ------
        InputError
            A score or loss that the study does not have, or an option that `uqassay.metrics.epistemic_calibration_error`
            refuses.
        """
        score = self.scores[0] if score is None else score
        for name, given, known in (("score", score, self.scores), ("loss", loss, self.losses)):
            if given not in known:
                raise InputError(
                    name, f"must be {listed(known, last='or')}", f"got {given!r}", "choose one of them", code="choice"
                )
        check_folds(cross_fit)
        folds = 0 if any(run.calibration is not None for run in self.runs) else int(cross_fit)
        options = GainOptions(score, loss, bins, binning, map_bins, level, tuple(shares), folds)
        if options not in self._found:
            runs = [gain_of_run(run, options) for run in self.runs]
            self._found[options] = gain_result(self.method, self.dataset, options, runs)
        return self._found[options]

    def results(self, loss: str = "zero-one", **options: Any) -> tuple[GainResult, ...]:
        """The result of every score under one loss; options as in `result`."""
        return tuple(self.result(score, loss, **options) for score in self.scores)

    def rows(self, name: str, **options: Any) -> list[dict[str, Any]]:
        """One finding as rows of plain values, for every loss and score.

        Parameters
        ----------
        name : {"scores", "runs", "bins", "delay"}
            "scores": mean, standard deviation and interval of correlation, errors and gain of each score. "runs": the same of
            every run, with the interval over its instances. "bins": means in the intervals of the estimates. "delay": the
            delay curve.
        **options
            Those of `result`.
        """
        return gain_rows([one for loss in self.losses for one in self.results(loss, **options)], name)

    def table(self, name: str, **options: Any) -> "pd.DataFrame":
        """The same rows as a table."""
        return gain_table([one for loss in self.losses for one in self.results(loss, **options)], name)

    def _shown_title(self) -> str:
        on = f" on {self.dataset}" if self.dataset else ""
        n = sorted({run.test.n_instances for run in self.runs})
        each = counted(n[0], "instance") if len(n) == 1 else f"{count(n[0])} to {count(n[-1])} instances"
        return f"Gain from more data of {self.method}{on}: {counted(self.n_runs, 'run')} of {each}"

    def _shown_sentences(self) -> Sequence[str]:
        return gain_sentences([self], self._main_loss)

    def _shown_table(self) -> ShownTable:
        return gain_shown_table(self.results(self._main_loss))

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]

    @property
    def _main_loss(self) -> str:
        return "zero-one" if "zero-one" in self.losses else self.losses[0]

    def save(self, folder: str | Path) -> Path:
        """Write the study into a folder, whole or not at all; nothing is pickled.

        Raises
        ------
        FileFormatError
            A path that holds something else than a study, or cannot be written.
        """
        return save_gain_study(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> "GainStudy":
        """Read the study that `save` wrote.

        Raises
        ------
        FileFormatError
            A folder without a study of the gain, or with a damaged one, or one of another version.
        """
        return read_gain_study(folder, cls)


def check_folds(cross_fit: Any) -> None:
    """Refuse a number of folds other than 0 or at least 2.

    Raises
    ------
    InputError
    """
    whole = isinstance(cross_fit, Integral) and not isinstance(cross_fit, bool)
    if not whole or int(cross_fit) not in (0, *range(2, MOST_FOLDS + 1)):
        raise InputError(
            "cross_fit",
            f"must be 0, or a number of folds from 2 to {MOST_FOLDS}",
            f"got {shown(cross_fit)}",
            "pass 5, or 0 for no map",
            code="range",
        )
