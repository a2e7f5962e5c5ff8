"""The papers' protocols, run again: what was printed, what we find, and where the two part.

Importing this room loads no protocol; `reproduce` imports the one it is asked for.
"""

from uqassay.experiments.reproduction import PROTOCOLS, PrintedCell, Reproduction, printed_table, reproduce

__all__ = ["PROTOCOLS", "PrintedCell", "Reproduction", "printed_table", "reproduce"]


def __dir__() -> list[str]:
    return sorted(__all__)
