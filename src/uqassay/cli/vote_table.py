"""What a person reads in a terminal about people's votes: could they come from the set, or from the mean, of a model?"""

from rich.text import Text

from uqassay.cli.streams import open_console
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.evidence import Assay
from uqassay.evidence.vote_tests import ALPHA, vote_shares
from uqassay.statistics import Estimate
from uqassay.wording import counted, level_text, percent, percent_interval

__all__ = ["print_votes"]

ABSENT = "–"


def print_votes(assay: Assay) -> None:
    """One line for each model that was tested; nothing where the labels are no numbers of votes."""
    found = {model: vote_shares(assay, model) for model in assay.votes}
    if not found:
        return
    console = open_console()
    level = level_text(assay.settings.level)
    of_set, of_mean = f"from its set ({level} interval)", f"from its mean ({level} interval)"
    columns = {
        "model": [printable(name) for name in found],
        of_set: [_share(shares.get("set")) for shares in found.values()],
        of_mean: [_share(shares["mean"]) for shares in found.values()],
    }
    if not any("set" in shares for shares in found.values()):
        del columns[of_set]
    table = fitted_table(columns, spare=(), width=console.width)
    n = next(iter(found.values()))["mean"].n
    console.print()
    console.print(Text(f"Could the votes of {counted(n, 'instance')} come from what a model states", "bold"))
    console.print(table)
    said = {
        "from": f"share of the instances whose votes pass a test of level {percent(ALPHA, 0)}, divided by "
        f"{percent(1 - ALPHA, 0)}; with few votes it tends to be too high"
    }
    console.print(Text(explained(said, table), "dim"))


def _share(share: Estimate | None) -> str:
    return ABSENT if share is None else f"{percent(share)} ({percent_interval(share.low, share.high)})"
