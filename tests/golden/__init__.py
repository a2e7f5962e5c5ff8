"""Golden outputs: what some 200 scenarios print, write and return, kept as text and compared word by word.

``python -m tests.golden`` checks them, ``--write`` takes them anew, ``--diff NAME`` shows what changed.
Scenarios use public names and the command line alone, so that code may move while texts and numbers stay.
"""
