"""Seeded changes of good inputs: of bytes, and of JSON value by value."""

import json
import random
from typing import Any

WORDS = (
    *(b"\x00", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b"\r", b"\r\n", b'"', b"'", b",", b";", b"\t", b"|"),
    *(b"nan", b"inf", b"-inf", b"1e999", b"-0", b"9" * 40, b"0x1F", b"1_000", b"True", b"None", b"NULL", b"NA"),
    *(b"../", b"/tmp/", b"PK\x03\x04", b"PK\x05\x06", b"PAR1", b"\x93NUMPY", b"{", b"}", b"[", b"]", b"[" * 3000),
    *(b"</script>", b"<!--", b"{{data}}", "\u2028".encode(), "😀".encode(), b"=cmd|'/C calc'!A0", b"%s%n"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 255, 10**9, -(10**9), 2**63, 10**30, 0.5, -0.5, 1e308, -1e308, 1e-320),
    *("", "x", "nan", "inf", "-inf", "int64", "object", "category", "float32", "datetime64[ns]", "M8", "U0", "S1"),
    *("O", "V8", "c16", "Int8", "string", "boolean", "i4,f8", "../x", "</script>", "\x00", "\ud800", "9" * 5000, "é"),
    *([], {}, [1], [None], [[]], {"a": 1}, ["a", "b"], [0] * 50, [0.5, "x", None], {"dtype": "O", "values": [1]}),
)


def mutate(data: bytes, others: list[bytes], rng: random.Random, *, is_json: bool) -> bytes:
    """Return the input with one or a few changes."""
    if is_json and rng.random() < 0.8:
        try:
            return _mutate_json(json.loads(data), rng)
        except (ValueError, RecursionError):
            pass
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5, 10))):
        data = _mutate_bytes(data, others, rng)
    return data


def _mutate_bytes(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    end = min(len(data), start + rng.choice((1, 1, 2, 4, 16, 100)))
    way = rng.randrange(7)
    if way == 0 and data:
        place = rng.randrange(len(data))
        return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
    if way == 1:
        return data[:start] + rng.randbytes(end - start) + data[end:]
    if way == 2:
        return data[:start] + data[end:]
    if way == 3:
        return data[:start] + rng.choice(WORDS) + data[end if rng.random() < 0.5 else start :]
    if way == 4:
        return data[:end] + data[start:end] * rng.choice((1, 2, 10, 100)) + data[end:]
    if way == 5:
        other = rng.choice(others)
        return data[:start] + other[rng.randint(0, len(other)) :]
    return data[:start]


def _mutate_json(content: Any, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = _replace_one(content, rng)
    return json.dumps(content).encode()


def _replace_one(content: Any, rng: random.Random) -> Any:
    """Return the content with one value, anywhere in it, replaced, removed, repeated or moved."""
    places: list[tuple[Any, Any]] = []
    waiting = [content]
    while waiting:
        spot = waiting.pop()
        keys = list(spot) if isinstance(spot, dict) else range(len(spot)) if isinstance(spot, list) else []
        for key in keys:
            places.append((spot, key))
            waiting.append(spot[key])
    if not places:
        return _copy(rng.choice(VALUES))
    spot, key = rng.choice(places)
    way = rng.randrange(8)
    if way == 0:
        del spot[key]
    elif way == 1 and isinstance(spot, list):
        spot.insert(key, spot[key])
    elif way == 2:
        other, other_key = rng.choice(places)
        spot[key] = _copy(other[other_key]) if other_key in _keys(other) else None
    elif way == 3 and isinstance(spot[key], (int, float)) and not isinstance(spot[key], bool):
        spot[key] = rng.choice((spot[key] + 1, spot[key] - 1, -spot[key], spot[key] * 1e300, float(spot[key])))
    else:
        spot[key] = _copy(rng.choice(VALUES))
    return content


def _copy(value: Any) -> Any:
    # A list in two places would grow in both, and could come to contain itself.
    return json.loads(json.dumps(value))


def _keys(spot: Any) -> Any:
    return spot if isinstance(spot, dict) else range(len(spot))
