"""The gain from more data against the estimates of epistemic uncertainty, over the runs of one method on one data set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from uqassay._array import shown
from uqassay.errors import InputError
from uqassay.evidence.gain_sample import GainRun
from uqassay.evidence.gain_storage import read_gain_study, save_gain_study
from uqassay.notes import Note

__all__ = ["GainStudy"]


@final
@dataclass(frozen=True, eq=False)
class GainStudy:
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

    method: str
    dataset: str
    runs: tuple[GainRun, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

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
