"""The command `demo`: train six classifiers on a bundled data set, and report on them."""

from pathlib import Path
from typing import Annotated

import typer

from uqassay.cli.inputs import AssayRequest
from uqassay.cli.report import write_report
from uqassay.cli.streams import print_text, progress
from uqassay.cli.text import shell_line

__all__ = ["demo_command"]


def demo_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder that takes everything.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Fixes the split of the data and the training.", min=0)] = 0,
) -> None:
    """Train six classifiers on scikit-learn's digits, and report on them."""
    from uqassay.demo import COMMON_MEMBERS, N_MODELS, prepare_demo

    with progress(N_MODELS) as say:
        files = prepare_demo(output, seed=seed, progress=say)
    models = [f"{name}={path}" for name, path in files.predictions.items()]
    page = output / "report.html"
    options = ["--labels", str(files.labels), "--common-members", str(COMMON_MEMBERS)]
    words = ["uqassay", "report", *models, *options, "-o", str(page)]
    request = AssayRequest(models, labels=files.labels, common_members=COMMON_MEMBERS)
    write_report(request, page, shell_line(words))
    groups = [words[:2], *([m] for m in models), options, words[-2:]]
    lines = " \\\n  ".join(map(shell_line, groups))
    print_text(f"The predictions are in {output / 'predictions'}; the page was made from them as by\n{lines}")
