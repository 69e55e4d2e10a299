"""Language models behind one protocol: any OpenAI-compatible endpoint, recorded and replayed.

A reply is stored under the digest of its request, byte for byte, so that a run can be repeated
without the model and gives the same statements.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import rfc8785

from .errors import ModelUnavailable, ReplyRejected


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked; `schema` is the JSON schema of the reply, as JSON text."""

    model: str
    instructions: str
    text: str
    schema: str
    temperature: str = "0"

    @property
    def digest(self) -> str:
        """SHA-256 of the request in canonical JSON, in hex."""
        return hashlib.sha256(self.to_json()).hexdigest()

    def to_json(self) -> bytes:
        """Give the request in canonical JSON."""
        return rfc8785.dumps(
            {
                "model": self.model,
                "instructions": self.instructions,
                "text": self.text,
                "schema": self.schema,
                "temperature": self.temperature,
            }
        )


class ModelClient(Protocol):
    """Gives the reply to a request, as the bytes of a JSON text."""

    def reply(self, request: ModelRequest) -> bytes:
        """Ask the model.

        Raises ModelUnavailable and ReplyRejected.
        """
        ...


class ReplayClient:
    """Gives recorded replies; a request that was never recorded is rejected."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def reply(self, request: ModelRequest) -> bytes:
        """Give the recorded reply.

        Raises ReplyRejected.
        """
        file = self._directory / f"{request.digest}.reply.json"
        if not file.is_file():
            raise ReplyRejected(
                f"no reply to the request {request.digest} is recorded in {self._directory}"
            )
        return file.read_bytes()


class RecordingClient:
    """Asks another client and records request and reply; what is recorded is not asked again."""

    def __init__(self, client: ModelClient, directory: Path) -> None:
        self._client = client
        self._directory = directory

    def reply(self, request: ModelRequest) -> bytes:
        """Give the recorded reply, or ask and record.

        Raises ModelUnavailable and ReplyRejected.
        """
        file = self._directory / f"{request.digest}.reply.json"
        if file.is_file():
            return file.read_bytes()
        reply = self._client.reply(request)
        self._directory.mkdir(parents=True, exist_ok=True)
        (self._directory / f"{request.digest}.request.json").write_bytes(request.to_json())
        file.write_bytes(reply)
        return reply


class OpenAIClient:
    """Asks an OpenAI-compatible endpoint, once, with temperature as requested and a fixed seed."""

    def __init__(self, *, base_url: str | None, api_key: str, timeout_seconds: float = 120) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout_seconds

    def reply(self, request: ModelRequest) -> bytes:
        """Ask the endpoint.

        Raises ModelUnavailable when the library is missing or the endpoint does not answer, and
        ReplyRejected when it answers without content.
        """
        try:
            import openai
        except ImportError as error:
            raise ModelUnavailable(
                "the extra 'llm' is not installed; expected the library openai"
            ) from error
        import json

        client = openai.OpenAI(
            base_url=self._base_url, api_key=self._api_key, timeout=self._timeout, max_retries=2
        )
        try:
            completion = client.chat.completions.create(
                model=request.model,
                messages=[
                    {"role": "system", "content": request.instructions},
                    {"role": "user", "content": request.text},
                ],
                temperature=float(request.temperature),
                seed=0,
                response_format={
                    "type": "json_schema",
                    "json_schema": {
                        "name": "statements",
                        "strict": True,
                        "schema": json.loads(request.schema),
                    },
                },
            )
        except openai.OpenAIError as error:
            raise ModelUnavailable(
                f"the model {request.model!r} at {self._base_url or 'the default endpoint'} "
                f"does not answer: {error}"
            ) from error
        content = completion.choices[0].message.content if completion.choices else None
        if not content:
            raise ReplyRejected(f"the model {request.model!r} gave an empty reply")
        return content.encode()
