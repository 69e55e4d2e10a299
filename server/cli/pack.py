"""`proofweave pack`: domain packs, which are data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json
from .outcome import Exit, console, print_json

app = typer.Typer(help="Start and test domain packs.", no_args_is_help=True)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the pack.")],
    directory: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where to make it.")
    ] = Path("packs"),
) -> None:
    """Write a small pack that works, to be changed.

    \b
    Example:
      proofweave pack new leases --dir packs
    """
    from ..pack_files import new_pack  # loads the language pipeline

    for path in new_pack(directory / name, name):
        console().print(f"wrote {path}")


@app.command("test")
def run_examples(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A pack.")],
    as_json: Json = False,
) -> None:
    """Run the examples of a pack: each names the values expected of it, or none.

    \b
    Example:
      proofweave pack test packs/supplier
    """
    from extract.pack_tests import run_pack_tests  # loads the language pipeline
    from extract.packs import load_pack

    report = run_pack_tests(load_pack(directory))
    passed = report.examples - len(report.failures)
    if as_json:
        print_json(
            {
                "passed": passed,
                "failed": len(report.failures),
                "failures": [str(failure) for failure in report.failures],
                "untested": list(report.untested),
            }
        )
    else:
        out = console()
        for failure in report.failures:
            out.print(f"FAILED    {failure}", style="red")
        for place in report.untested:
            out.print(f"UNTESTED  {place}", style="yellow")
        out.print(f"{passed} passed, {len(report.failures)} failed", style="bold")
    raise typer.Exit(Exit.DONE if report.passed else Exit.ERROR)
