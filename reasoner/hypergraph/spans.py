"""Where the units of a hypergraph stand in its file."""

from __future__ import annotations

import json
import re

_BLANK = re.compile(r"[ \t\n\r]*")


def unit_spans(text: str) -> dict[str, tuple[int, int]]:
    """Give the span `[start, end)` of each unit's object, in code points, by id.

    `text` is a hypergraph that `read_hypergraph` accepts.

    >>> unit_spans('{"units": [ {"id": "u1"} ]}')
    {'u1': (12, 24)}
    """
    decoder = json.JSONDecoder()
    spans: dict[str, tuple[int, int]] = {}

    def skip(place: int) -> int:
        match = _BLANK.match(text, place)
        assert match is not None
        return match.end()

    place = skip(skip(0) + 1)
    while text[place] != "}":
        field, place = decoder.raw_decode(text, place)
        place = skip(skip(place) + 1)
        if field == "units":
            place = skip(place + 1)
            while text[place] != "]":
                unit, end = decoder.raw_decode(text, place)
                spans[unit["id"]] = (place, end)
                place = skip(end)
                if text[place] == ",":
                    place = skip(place + 1)
            place += 1
        else:
            _, place = decoder.raw_decode(text, place)
        place = skip(place)
        if text[place] == ",":
            place = skip(place + 1)
    return spans
