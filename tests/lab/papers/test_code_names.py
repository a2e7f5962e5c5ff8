"""Code as plain values, and the global names that it reads."""

from uqassay.lab.papers.identity import code_values, global_names

limit = cut = 3
times = 0


def reads(x):
    global times
    times += 1

    class Inner:
        size = limit

    return [one for one in x if one < cut], Inner, len(x)


def test_names_of_inner_functions_and_classes_and_none_that_is_written():
    names = global_names(reads.__code__)
    assert {"cut", "limit", "len"} <= set(names)
    assert "times" not in names
    assert list(names) == sorted(names)


def test_code_differs_by_names_constants_and_inner_functions():
    functions = [
        lambda p: p.alpha,
        lambda p: p.beta,
        lambda p: p + 1,
        lambda p: p + 2,
        lambda p: [one + 1 for one in p],
        lambda p: [one + 2 for one in p],
        lambda p: p in {"x", "y"},
        lambda p: p in {"x", "z"},
    ]
    values = [str(code_values(function.__code__)) for function in functions]
    assert len(set(values)) == len(values)
    assert " at 0x" not in "".join(values)  # addresses differ from process to process
