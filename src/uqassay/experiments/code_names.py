"""The code of a function as plain values, and the global names that it reads."""

import dis
from collections.abc import Iterator
from types import CodeType
from typing import Any

__all__ = ["code_values", "global_names"]

READ, WRITTEN = ("LOAD_GLOBAL", "LOAD_NAME"), ("STORE_GLOBAL", "DELETE_GLOBAL")


def code_values(code: CodeType) -> list[Any]:
    """Instructions, names and constants of a code object, those of functions inside it included; equal in every process.

    Examples
    --------
    >>> one, other = (lambda p: p.alpha), (lambda p: p.beta)
    >>> code_values(one.__code__) == code_values(other.__code__)
    False
    """
    constants = [
        code_values(one)
        if isinstance(one, CodeType)
        else sorted(repr(each) for each in one)  # the order of a set differs from process to process
        if isinstance(one, frozenset)
        else repr(one)
        for one in code.co_consts
    ]
    return [code.co_code.hex(), list(code.co_names), constants]


def global_names(code: CodeType) -> tuple[str, ...]:
    """Global names that the code reads and does not write, those of functions inside it included, in alphabetical order.

    A name that the code writes is a counter or a cache, which differs from run to run.

    Examples
    --------
    >>> global_names((lambda x: [limit * one for one in x if one < cut]).__code__)
    ('cut', 'limit')
    """
    read: set[str] = set()
    written: set[str] = set()
    for one in _all_codes(code):
        for instruction in dis.get_instructions(one):
            if instruction.opname in READ:
                read.add(instruction.argval)
            elif instruction.opname in WRITTEN:
                written.add(instruction.argval)
    return tuple(sorted(read - written))


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _all_codes(one)
