"""Commands that work on directories and files here: init, serve, verify, backup, restore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..errors import RequestRejected
from .options import Config, Json, settings_of
from .outcome import Exit, console, print_json


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory.")],
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="IRI", help="Beginning of the data's IRIs.")
    ] = "",
    pack: Annotated[
        list[str] | None,
        typer.Option("--pack", metavar="NAME|DIR", help="Only these packs; default: all shipped."),
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Make a knowledge base; the shipped packs are ready for use in it.

    \b
    Examples:
      proofweave init kb
      proofweave init kb --namespace https://example.org/kb/ --pack supplier
    """
    settings = settings_of(config)
    from ..knowledge import create_knowledge  # loads the store

    made = create_knowledge(
        directory, namespace=namespace or settings.knowledge.namespace, packs=tuple(pack or ())
    )
    if as_json:
        print_json({"directory": str(directory), "packs": list(made)})
    else:
        console().print(f"made {directory} with the packs {', '.join(made) or '(none)'}")


def serve(
    kb: Annotated[
        list[str] | None,
        typer.Option("--kb", metavar="[NAME=]DIR", help="Knowledge base, repeated."),
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="Default: 127.0.0.1.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="gRPC; 0: any free port.")
    ] = None,
    http_port: Annotated[
        int | None, typer.Option("--http-port", min=0, max=65535, help="HTTP; 0: any free port.")
    ] = None,
    config: Config = None,
) -> None:
    """Serve knowledge bases: gRPC, and SPARQL and JSON over HTTP, in one process.

    \b
    Examples:
      proofweave serve --kb kb
      proofweave serve --kb suppliers=kb1 --kb wiki=kb2 --host 0.0.0.0 --port 7400
    """
    settings = settings_of(config)
    changes = {"host": host, "port": port, "http_port": http_port}
    given = {key: value for key, value in changes.items() if value is not None}
    settings = settings.model_copy(update={"server": settings.server.model_copy(update=given)})
    bases = named_bases(settings.knowledge.bases, kb or ())
    if not bases:
        raise RequestRejected("no knowledge base to serve; give --kb DIR")
    from ..serving import run  # loads the engines

    run(bases, settings)


def named_bases(listed: Mapping[str, Path], entries: Sequence[str]) -> dict[str, Path]:
    """Give the knowledge bases of the settings and of `[NAME=]DIR` entries, by name.

    Raises RequestRejected, naming all, where two would have one name, or one would have two.
    """
    bases = dict(listed)
    names = {path.resolve(): name for name, path in listed.items()}
    problems: list[str] = []
    for entry in entries:
        given, separator, directory = entry.partition("=")
        path = Path(directory if separator else entry)
        name = given if separator else path.resolve().name
        if names.get(path.resolve(), name) != name:
            problems.append(f"{path} is both {names[path.resolve()]!r} and {name!r}")
        elif name in bases and bases[name].resolve() != path.resolve():
            problems.append(f"{bases[name]} and {path} are both {name!r}; write NAME={path}")
        else:
            bases[name] = path
            names[path.resolve()] = name
    if problems:
        raise RequestRejected(
            "each knowledge base is served under one name of its own: " + "; ".join(problems)
        )
    return bases


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERT", help="A certificate file.")],
    sources: Annotated[
        Path | None, typer.Option("--sources", metavar="DIR", help="Directory of the sources.")
    ] = None,
    kb: Annotated[
        Path | None, typer.Option("--kb", metavar="DIR", help="Take the sources from here.")
    ] = None,
    expect_policy: Annotated[
        str, typer.Option("--expect-policy", metavar="SHA256", help="Digest of the policy.")
    ] = "",
    expect_goal: Annotated[
        str, typer.Option("--expect-goal", metavar="ATOM", help="The goal it must prove.")
    ] = "",
    expect_day: Annotated[
        str, typer.Option("--expect-day", metavar="DATE", help="The day it must be for.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Check a certificate with the independent checker; exit code 5 where it is rejected.

    An abstention that holds is valid, too: the first line says which verdict it is.

    \b
    Examples:
      proofweave verify proof.json --sources documents/
      proofweave verify proof.json --kb kb --expect-goal 'eligible("Acme GmbH")' --json
    """
    from reasoner.checker.report import report_text  # the checker loads only here

    from ..offline import verify_file

    report = verify_file(
        certificate,
        sources=sources,
        kb=kb,
        expect_policy=expect_policy,
        expect_goal=expect_goal,
        expect_day=expect_day,
    )
    if as_json:
        print_json(
            {
                "accepted": report.valid,
                "rejection": report.rejection or None,
                "where": report.where or None,
                "message": report.message or None,
                "verdict": report.verdict or None,
                "code": report.code,
                "goal": report.goal or None,
                "checked": list(report.checked),
                "trusted": list(report.trusted),
                "not_given": list(report.not_given),
            }
        )
    else:
        first, _, rest = report_text(report).rstrip("\n").partition("\n")
        out = console()
        out.print(first, style="bold green" if report.valid else "bold red")
        if rest:
            out.print(rest)
    raise typer.Exit(Exit.DONE if report.valid else Exit.VERIFICATION_REJECTED)


def backup(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A knowledge base.")],
    file: Annotated[Path, typer.Argument(metavar="FILE.tar.gz", help="Must not exist yet.")],
    as_json: Json = False,
) -> None:
    """Write one file with everything that cannot be rebuilt; a running server may go on.

    \b
    Example:
      proofweave backup kb kb-2026-11-30.tar.gz
    """
    from ..backups import back_up

    summary = back_up(directory, file)
    if as_json:
        print_json(summary)
    else:
        console().print(f"wrote {file}: revision {summary['revision']}, {summary['bytes']} bytes")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar.gz", help="A backup.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Must not exist yet.")],
    as_json: Json = False,
) -> None:
    """Bring a backup back and check its log.

    \b
    Example:
      proofweave restore kb-2026-11-30.tar.gz kb2
    """
    from ..backups import bring_back

    summary = bring_back(file, directory)
    if as_json:
        print_json(summary)
    else:
        console().print(f"restored {directory}: revision {summary['revision']}")
