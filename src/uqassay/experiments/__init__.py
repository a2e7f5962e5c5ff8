"""The papers' protocols, run again: printed values with ours.

Importing this room loads no protocol; `reproduce` imports the one that it runs.
"""

from uqassay.experiments.register import PROTOCOLS, reproduce
from uqassay.experiments.reproduction import PrintedCell, Reproduction, printed_table

__all__ = ["PROTOCOLS", "PrintedCell", "Reproduction", "printed_table", "reproduce"]


def __dir__() -> list[str]:
    return sorted(__all__)
