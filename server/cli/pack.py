"""`proofweave pack`: domain packs, which are data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import RequestRejected
from .options import Json
from .outcome import Exit, console, print_json

app = typer.Typer(help="Start, test and add domain packs.", no_args_is_help=True)

PackDirectory = Annotated[Path, typer.Argument(metavar="DIR", help="A pack.")]


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the pack.")],
    directory: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where to make it.")
    ] = Path("packs"),
) -> None:
    """Write a small pack that works, to be changed: dimensions, patterns, questions, a rule, tests.

    \b
    Example:
      proofweave pack new leases --dir packs
    """
    from ..pack_files import new_pack  # loads the language pipeline

    for path in new_pack(directory / name, name):
        console().print(f"wrote {path}")


@app.command("try")
def try_documents(
    directory: PackDirectory,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Documents to read.")],
    as_json: Json = False,
) -> None:
    """Read documents by a pack alone: what is stated and refused, and the lines nobody reads.

    \b
    Example:
      proofweave pack try packs/leases lease.md
    """
    from extract.packs import load_pack

    from ..pack_trial import try_pack  # loads the language pipeline

    missing = [file for file in files if not file.is_file()]
    if missing:
        raise RequestRejected(f"there is no file {str(missing[0])!r}")
    _check_folder(directory)
    trials = try_pack(load_pack(directory), files)
    if as_json:
        print_json({"documents": [trial.to_json() for trial in trials]})
        return
    for trial in trials:
        console().print(trial.text())


@app.command()
def add(
    pack: Annotated[str, typer.Argument(metavar="NAME|DIR", help="A pack, shipped or your own.")],
    kb: Annotated[Path, typer.Option("--kb", metavar="DIR", help="Knowledge base.")],
    as_json: Json = False,
) -> None:
    """Take a pack into a knowledge base, or take in again what changed in it.

    A running server reads its packs at start: start it anew. Documents ingested before stay as they
    were read; ingest them again to read them anew.

    \b
    Example:
      proofweave pack add packs/leases --kb kb
    """
    from ..pack_intake import add_pack  # loads the language pipeline

    changes = add_pack(kb, pack)
    if as_json:
        print_json(
            {
                "defined": list(changes.defined),
                "taxonomies_read": list(changes.read),
                "taxonomies_withdrawn": list(changes.withdrawn),
            }
        )
        return
    for words, names in (
        ("defined", changes.defined),
        ("withdrew the earlier taxonomy", changes.withdrawn),
        ("read the taxonomy", changes.read),
    ):
        if names:
            console().print(f"{words} {', '.join(names)}")
    if not changes.defined and not changes.read:
        console().print("nothing changed")


@app.command("test")
def run_examples(
    directory: PackDirectory,
    as_json: Json = False,
) -> None:
    """Run the examples of a pack: each names the values expected of it, or none.

    \b
    Example:
      proofweave pack test packs/supplier
    """
    from extract.pack_tests import run_pack_tests  # loads the language pipeline
    from extract.packs import load_pack

    _check_folder(directory)
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


def _check_folder(directory: Path) -> None:
    """Raise RequestRejected where there is no such folder."""
    if not directory.is_dir():
        raise RequestRejected(f"there is no folder {str(directory)!r}; expected that of a pack")
