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
    from ..pack_files import test_pack  # loads the language pipeline

    results = test_pack(directory)
    failed = [result for result in results if result.detail]
    if as_json:
        print_json(
            {
                "passed": len(results) - len(failed),
                "failed": len(failed),
                "results": [
                    {"example": result.example, "detail": result.detail or None}
                    for result in results
                ],
            }
        )
    else:
        for result in failed:
            console().print(f"FAILED  {result.example}\n        {result.detail}", style="red")
        console().print(f"{len(results) - len(failed)} passed, {len(failed)} failed", style="bold")
    raise typer.Exit(Exit.ERROR if failed else Exit.DONE)
