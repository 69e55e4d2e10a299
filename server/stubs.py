"""Write the Python stubs of the protocol, or check that the committed ones are fresh.

Run as `python -m server.stubs [--check]` from the top of a checkout, with the development
dependencies (grpcio-tools, mypy-protobuf) installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def generate(protos: Path, target: Path) -> None:
    """Compile every `.proto` below `protos` into stubs below `target`."""
    sources = sorted(str(path) for path in protos.glob("proofweave/v1/*.proto"))
    plugins = str(Path(sys.executable).parent)
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", "-I", str(protos)),
            *(f"--{kind}_out={target}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")),
            *sources,
        ],
        check=True,
        env={**os.environ, "PATH": plugins + os.pathsep + os.environ.get("PATH", "")},
        stderr=subprocess.DEVNULL,
    )


def stale(protos: Path) -> tuple[str, ...]:
    """Give the stubs, relative to `protos` and sorted, that a fresh compilation would change."""
    with tempfile.TemporaryDirectory() as name:
        fresh = Path(name)
        generate(protos, fresh)
        found = {str(path.relative_to(fresh)): path for path in fresh.rglob("*_pb2*")}
        committed = {str(path.relative_to(protos)): path for path in protos.rglob("*_pb2*.py*")}
        committed = {key: path for key, path in committed.items() if "__pycache__" not in key}
        return tuple(
            key
            for key in sorted(found.keys() | committed.keys())
            if key not in found
            or key not in committed
            or found[key].read_bytes() != committed[key].read_bytes()
        )


def main() -> int:
    """Write or check the stubs below `protos` in the current directory."""
    protos = Path("protos")
    if "--check" not in sys.argv[1:]:
        generate(protos, protos)
        return 0
    outdated = stale(protos)
    for name in outdated:
        print(f"protos/{name} is out of date; run python -m server.stubs", file=sys.stderr)
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
