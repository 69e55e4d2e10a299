"""The extractors of a service, as its settings choose them: patterns, and a language model."""

from __future__ import annotations

from extract.extractor import Extractor
from extract.model_client import ModelClient, OpenAIClient, RecordingClient, ReplayClient

from .errors import SettingsRejected
from .knowledge import Knowledge
from .settings import ExtractionSection


def extractors_for(knowledge: Knowledge, section: ExtractionSection) -> tuple[Extractor, ...]:
    """Give the extractors that propose statements for a knowledge base, in order.

    The language model is off unless the settings name one. Raises SettingsRejected where the
    settings of the model do not fit together.
    """
    from extract.ingest import PatternExtractor  # loads the language pipeline, a second
    from extract.llm import LanguageModelExtractor

    packs = knowledge.packs.packs
    found: list[Extractor] = [
        PatternExtractor(packs, kb_dimensions=knowledge.dimensions(), model=section.pipeline)
    ]
    if section.model:
        found.append(LanguageModelExtractor(_client(section), model=section.model, packs=packs))
    return tuple(found)


def _client(section: ExtractionSection) -> ModelClient:
    if section.replay_only:
        if section.replies is None:
            raise SettingsRejected("extraction.replay_only needs extraction.replies, a directory")
        return ReplayClient(section.replies)
    client = OpenAIClient(base_url=section.base_url or None, api_key=section.api_key)
    return client if section.replies is None else RecordingClient(client, section.replies)
