"""`proofweave policy`: publish, check and test policies."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from proofweave.v1 import common_pb2, policy_pb2

from ..errors import RequestRejected
from .connection import connect
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, counted, print_json
from .prove import FactsOption, read_text

app = typer.Typer(help="Publish, check and test policies.", no_args_is_help=True)

PolicyFile = Annotated[Path, typer.Argument(metavar="F.lp", help="A policy.")]


@app.command()
def publish(
    file: PolicyFile,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Publish a version; the id and the version stand in the header of the file.

    \b
    Example:
      proofweave policy publish supplier_onboarding.lp --kb kb
    """
    settings = settings_of(config)
    request = policy_pb2.CreatePolicyVersionRequest(text=read_text(file), file_name=file.name)
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.policy.CreatePolicyVersion(request)
    if as_json:
        print_json(
            {
                "policy": policy_json(response.policy),
                "warnings": [problem_json(found) for found in response.warnings],
                "revision": response.revision,
            }
        )
        return
    show_warnings(response.warnings, file)
    console().print(f"published {response.policy.name}  {response.policy.digest}", style="bold")


@app.command()
def check(
    file: PolicyFile,
    facts: FactsOption = None,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Report every error and warning of a policy with its line and column.

    With --facts, --kb or --server, predicates that nobody defines are reported too.

    \b
    Examples:
      proofweave policy check supplier_onboarding.lp
      proofweave policy check supplier_onboarding.lp --facts acme.lp
      proofweave policy check supplier_onboarding.lp --kb kb --json
    """
    settings = settings_of(config)
    where = target(server, kb, token, settings)
    text = read_text(file)
    if where.server is None and where.kb is None:
        from ..offline import check_file  # loads the reasoner

        given = None if facts is None else (facts.name, read_text(facts))
        policy, warnings = check_file(text, file.name, given)
    elif facts is not None:
        raise RequestRejected("--facts and a knowledge base are both given; expected one of them")
    else:
        request = policy_pb2.CreatePolicyVersionRequest(
            text=text, file_name=file.name, validate_only=True
        )
        with connect(where, settings) as services:
            response = services.policy.CreatePolicyVersion(request)
        policy, warnings = response.policy, list(response.warnings)
    if as_json:
        print_json(
            {
                "policy": policy_json(policy),
                "warnings": [problem_json(found) for found in warnings],
            }
        )
        return
    show_warnings(warnings, file)
    console().print(f"{file.name}: {counted(len(policy.rules), 'rule')}, no errors", style="bold")


@app.command("test")
def run_tests(
    file: PolicyFile,
    tests: Annotated[
        Path | None,
        typer.Argument(metavar="F.test.yaml", help="Tests; default: beside the policy."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run the tests of a policy.

    \b
    Examples:
      proofweave policy test supplier_onboarding.lp
      proofweave policy test supplier_onboarding.lp other.test.yaml --json
    """
    cases = tests or file.with_suffix(".test.yaml")
    if not cases.is_file():
        raise RequestRejected(f"there is no file of tests {str(cases)!r}")
    from ..offline import run_policy_tests  # loads the reasoner

    results = run_policy_tests(read_text(file), read_text(cases), file.name, cases.name)
    failed = [result for result in results if not result.passed]
    if as_json:
        print_json(
            {
                "passed": len(results) - len(failed),
                "failed": len(failed),
                "results": [
                    {"test": result.test, "passed": result.passed, "detail": result.detail}
                    for result in results
                ],
            }
        )
    else:
        out = console()
        for result in results:
            out.print(("ok      " if result.passed else "FAILED  ") + result.test)
            if result.detail and not result.passed:
                out.print(f"        {result.detail}", style="red")
        out.print(f"{len(results) - len(failed)} passed, {len(failed)} failed", style="bold")
    raise typer.Exit(Exit.ERROR if failed else Exit.DONE)


@app.command("list")
def list_policies(
    policy: Annotated[
        str, typer.Argument(metavar="[ID]", help="List the versions of this policy.")
    ] = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the published policies, or the versions of one.

    \b
    Example:
      proofweave policy list --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        if policy:
            versions = policy_pb2.ListPolicyVersionsRequest(name=policy)
            found = services.policy.ListPolicyVersions(versions).policies
        else:
            found = services.policy.ListPolicies(policy_pb2.ListPoliciesRequest()).policies
    if as_json:
        print_json({"policies": [policy_json(one) for one in found]})
        return
    for one in found:
        console().print(f"{one.name}  {one.digest[:12]}  {counted(len(one.rules), 'rule')}")
    if not found:
        console().print("no policy has been published yet")


def policy_json(policy: policy_pb2.Policy) -> dict[str, Any]:
    """Give a policy as JSON, without its text."""
    return {
        "name": policy.name,
        "id": policy.id,
        "version": policy.version,
        "digest": policy.digest,
        "effective": {
            "start": policy.effective.start or None,
            "end": policy.effective.end or None,
        },
        "rules": [rule.id for rule in policy.rules],
    }


def problem_json(problem: common_pb2.Problem) -> dict[str, Any]:
    """Give a finding as JSON."""
    return {
        "reason": problem.reason,
        "message": problem.message,
        "line": problem.line,
        "column": problem.column,
    }


def show_warnings(warnings: Iterable[common_pb2.Problem], file: Path) -> None:
    """Print warnings on standard error, one line each."""
    for found in warnings:
        typer.echo(f"{file.name}:{found.line}:{found.column}: warning: {found.message}", err=True)
