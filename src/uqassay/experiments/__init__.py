"""The papers' protocols, run again: what was printed, what we find, and where the two part.

Importing this room loads no protocol; `reproduce` imports the one it is asked for.
"""

from uqassay.experiments.reproduction import PROTOCOLS, Cell, Reproduction, printed_table, reproduce

__all__ = ["PROTOCOLS", "Cell", "Reproduction", "printed_table", "reproduce"]
