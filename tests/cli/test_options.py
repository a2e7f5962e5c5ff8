"""Every field of a request is an option of the commands that take one."""

from uqassay.cli import options


def test_every_field_of_the_request_has_an_option(run):
    listed = run("report", "--help").out
    for name in options.REQUEST_OPTIONS:
        assert (f"--{name.replace('_', '-')}" in listed) or name == "models"
