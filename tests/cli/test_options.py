"""Every field of a request is an option of the commands that take one."""

import inspect
from dataclasses import fields

from uqassay.cli import options
from uqassay.cli.inputs import AssayRequest, Reading


def test_every_field_of_the_request_has_an_option(run):
    listed = run("report", "--help").out
    for name in {**options.REQUEST_OPTIONS, **options.READING_OPTIONS}:
        assert (f"--{name.replace('_', '-')}" in listed) or name == "models"


def test_defaults_of_the_options_are_those_of_the_request():
    given = {}

    @options.takes_request
    def command(request, extra: int = 3):
        given.update(request=request, extra=extra)

    signature = inspect.signature(command)
    request, reading = list(options.REQUEST_OPTIONS), list(options.READING_OPTIONS)
    split = request.index("tradeoff")  # all inputs stand together
    assert list(signature.parameters) == [*request[:split], *reading, *request[split:], "extra"]
    assert reading == [field.name for field in fields(Reading)]
    defaults = {name: p.default for name, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}
    command(models=["a.npz"], **defaults)
    assert given["extra"] == 3
    expected = AssayRequest(["a.npz"])
    for found, wanted in ((given["request"], expected), (given["request"].reading, expected.reading)):
        own = [field.name for field in fields(wanted) if field.name != "reading"]
        assert {name: getattr(found, name) or None for name in own} == {
            name: getattr(wanted, name) or None for name in own
        }
