"""Every field of a request is an option of the commands that take one."""

import inspect
from dataclasses import fields

from uqassay.cli import options
from uqassay.cli.inputs import AssayRequest


def test_every_field_of_the_request_has_an_option(run):
    listed = run("report", "--help").out
    for name in options.REQUEST_OPTIONS:
        assert (f"--{name.replace('_', '-')}" in listed) or name == "models"


def test_defaults_of_the_options_are_those_of_the_request():
    given = {}

    @options.takes_request
    def command(request, extra: int = 3):
        given.update(request=request, extra=extra)

    signature = inspect.signature(command)
    assert list(signature.parameters) == [*options.REQUEST_OPTIONS, "extra"]
    defaults = {name: p.default for name, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}
    command(models=["a.npz"], **defaults)
    assert given["extra"] == 3
    expected = AssayRequest(["a.npz"])
    assert {f.name: getattr(given["request"], f.name) or None for f in fields(AssayRequest)} == {
        f.name: getattr(expected, f.name) or None for f in fields(AssayRequest)
    }
