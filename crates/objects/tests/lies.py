"""Wrong answers of a hostile store, and the objects that they concern.

A lie is a function of the store, the request and the honest answer. It returns the answer to send.
"""

import itertools
from dataclasses import replace

from conftest import RANGE
from hostile import STORES, Answer, Listed

PREFIX = "p/"
SMALL = b"the bytes of an object"
LARGE = bytes(range(251)) * ((2 * RANGE + 5000) // 251)


def page(listed, token=None, **more):
    """A lie: always answers with this page."""
    return lambda store, request, answer: replace(answer, body=store.kind.page(listed, token), **more)


def body(text: bytes, status: int = 200):
    return lambda store, request, answer: replace(answer, body=text, status=status)


def at_first(times: int, lie):
    """Tells a lie only for the first `times` requests."""
    return lambda store, request, answer: (
        lie(store, request, answer) if request.number < times else answer
    )


def endless(store, request, answer):
    """An endless listing."""
    first = request.number * 1000
    listed = [Listed(f"{PREFIX}{first + number:012}", 0) for number in range(1000)]
    return replace(answer, body=store.kind.page(listed, f"t{request.number}"))


def loop(store, request, answer):
    """A listing of two pages; each names the other as the next."""
    number = request.number % 2
    return replace(answer, body=store.kind.page([Listed(f"{PREFIX}{number}", 0)], f"t{number}"))


def empty_pages(store, request, answer):
    return replace(answer, body=store.kind.page([], f"t{request.number}"))


def stream(store, request, answer):
    """An endless body. The client closes the connection."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"10000\r\n" + b"<x/>" * (1 << 14) + b"\r\n"
    return replace(answer, raw=itertools.chain([head], itertools.repeat(piece, 1000)))


def other_form(store, request, answer):
    other = STORES["az" if store.kind.name != "az" else "s3"]
    return replace(answer, body=other.page([Listed(PREFIX + "a", 1)]))


def length(more: int):
    return lambda store, request, answer: replace(
        answer, length=len(answer.body) + more, cut=len(answer.body)
    )


def header(name: str, value: str | None):
    """Replaces a header, or removes it if `value` is None."""

    def lie(store, request, answer):
        headers = {key: is_ for key, is_ in answer.headers.items() if key != name}
        return replace(answer, headers=headers | ({} if value is None else {name: value}))

    return lie


def flood(store, request, answer):
    return replace(answer, before=b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 5000)


def headers(store, request, answer):
    return replace(answer, headers=answer.headers | {f"X-{n}": "y" * 100 for n in range(20_000)})


def raw(text: bytes):
    return lambda store, request, answer: replace(answer, raw=text)


def denied(code: str):
    def lie(store, request, answer):
        more, text = store.kind.error(code)
        return replace(answer, status=403, body=text, headers=more)

    return lie


def shifted(by: int):
    """Returns a range that begins at another byte than requested."""

    def lie(store, request, answer):
        if answer.status != 206:
            return answer
        start, size = request.range[0] + by, len(LARGE)
        content = LARGE[start : start + len(answer.body)]
        ranged = {"Content-Range": f"bytes {start}-{start + len(content) - 1}/{size}"}
        return replace(answer, headers=answer.headers | ranged, body=content)

    return lie


def whole(store, request, answer):
    """Returns the whole object for every request."""
    headers = {name: is_ for name, is_ in answer.headers.items() if name != "Content-Range"}
    return replace(answer, status=200, headers=headers, body=LARGE)


def from_second(lie):
    """Tells a lie only for the second range and those after it."""
    return lambda store, request, answer: (
        lie(store, request, answer) if request.range and request.range[0] >= RANGE - 4096 else answer
    )


def error(status: int, code: str = "X"):
    def lie(store, request, answer):
        more, text = store.kind.error(code)
        return Answer(status, more, text)

    return lie


def archived(store, request, answer):
    return error(*store.kind.archived)(store, request, answer)


def flipped(store, request, answer):
    return replace(answer, body=answer.body[:-1] + bytes([answer.body[-1] ^ 1]))


def drip(store, request, answer):
    """Sends the body in pieces of one byte."""
    head = "".join(f"{name}: {is_}\r\n" for name, is_ in answer.headers.items())
    head = f"HTTP/1.1 {answer.status} X\r\n{head}Content-Length: {len(answer.body)}\r\n\r\n".encode()
    return replace(answer, raw=itertools.chain([head], (bytes([byte]) for byte in answer.body)))


def chunked(store, request, answer):
    headers = answer.headers | {"Transfer-Encoding": "chunked"}
    pieces = b"".join(b"7\r\n" + answer.body[at : at + 7] + b"\r\n" for at in range(0, 21, 7))
    rest = answer.body[21:]
    return replace(answer, headers=headers, length=False, cut=1 << 30,
                   body=pieces + b"%x\r\n%b\r\n0\r\n\r\n" % (len(rest), rest))  # fmt: skip
