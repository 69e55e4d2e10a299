"""Requests written as protobuf JSON: all that is wrong with one, told in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.message_factory import GetMessageClass

from .errors import RequestRejected
from .nearest import nearest


def read_message(body: bytes, kind: Descriptor) -> Any:  # a message of the class of `kind`
    """Read a request; an empty body is a message without fields.

    Raises RequestRejected naming every field that does not exist, with the nearest, or the first
    value that cannot be read.
    """
    message = GetMessageClass(kind)()
    try:
        form = json.loads(body.strip() or b"{}")
    except (ValueError, RecursionError) as error:
        raise RequestRejected(f"the body is no JSON in UTF-8: {_line(error)}") from error
    problems = list(_problems(form, kind, ""))
    if problems:
        raise RequestRejected("; ".join(problems))
    try:
        # again from the text, which tells keys that stand twice
        return json_format.Parse(body.strip() or b"{}", message)
    except (json_format.ParseError, RecursionError) as error:
        raise RequestRejected(f"the body is no {kind.name}: {_line(error)}") from error


def _problems(form: object, kind: Descriptor, path: str) -> Iterator[str]:
    """Yield what is named that does not exist, and what should be an object and is none."""
    if not isinstance(form, dict):
        yield f"{path or 'the body'} is {_what(form)}; expected an object, a {kind.name}"
        return
    fields = {name: field for field in kind.fields for name in (field.name, field.json_name)}
    for key, value in form.items():
        place = f"{path}.{key}" if path else key
        field = fields.get(key)
        if field is None:
            names = [each.name for each in kind.fields]
            near = nearest(key, names) or f"; expected one of {', '.join(names) or 'none'}"
            yield f"{place} is no field of {kind.name}{near}"
            continue
        below = field.message_type
        if value is None or below is None or below.full_name.startswith("google.protobuf."):
            continue
        if below.GetOptions().map_entry:
            continue
        if field.is_repeated:
            if not isinstance(value, list):
                yield f"{place} is {_what(value)}; expected a list"
                continue
            for index, item in enumerate(value):
                yield from _problems(item, below, f"{place}[{index}]")
        else:
            yield from _problems(value, below, place)


def _what(form: object) -> str:
    match form:
        case list():
            return "a list"
        case str():
            return "a text"
        case bool():
            return "true or false"
        case None:
            return "null"
        case int() | float():
            return "a number"
    return "an object"


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")
