"""A hostile store that speaks the protocols of S3, Google Cloud Storage and Azure.

It is honest until a test sets a hook:

    with Hostile(STORES["gs"]) as store:
        store.objects["p/a"] = b"bytes"
        store.on["GET"] = lambda request, answer: replace(answer, body=b"other")
        ...  # store.environment() tells a client where to find it

A hook receives each request of its kind (LIST, HEAD, GET, PUT) with the honest answer, and returns the
answer to send. The store listens only on 127.0.0.1. After MAX_REQUESTS requests it closes connections
without an answer, so that a test can detect a client that never stops.
"""

import contextlib
import functools
import hashlib
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

MAX_REQUESTS = 4000
DATE = "Mon, 01 Jun 2026 00:00:00 GMT"
MODIFIED = "2026-06-01T00:00:00.000Z"
BUCKET = "bucket"


@dataclass
class Listed:
    """An object in a listing."""

    key: str
    size: object
    etag: str | None = '"e"'


@dataclass
class Kind:
    """A kind of store: its variables and its formats."""

    name: str
    scheme: str
    #: The variable with the endpoint, and the variable that allows plain HTTP.
    endpoint: str
    allow_http: str
    keys: dict[str, str]
    token: str
    #: The status and the code for an object that must be restored first.
    archived: tuple[int, str] = (403, "InvalidObjectState")

    def page(self, listed: Iterable[Listed], token: str | None = None) -> bytes:
        """Formats a page of a listing."""
        rows = "".join(
            f"<Contents><Key>{escape(each.key)}</Key><LastModified>{MODIFIED}</LastModified>"
            + (f"<ETag>{escape(each.etag)}</ETag>" if each.etag else "")
            + (f"<Size>{each.size}</Size>" if each.size is not None else "")
            + "</Contents>"
            for each in listed
        )
        more = "false" if token is None else "true"
        next_ = f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
        return (
            '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{BUCKET}</Name><IsTruncated>{more}</IsTruncated>{next_}{rows}</ListBucketResult>"
        ).encode()

    def error(self, code: str) -> tuple[dict[str, str], bytes]:
        """Returns the headers and the body of an error."""
        return {}, f"<Error><Code>{code}</Code><Message>m</Message></Error>".encode()


class AzureKind(Kind):
    """Azure."""

    def page(self, listed: Iterable[Listed], token: str | None = None) -> bytes:
        rows = "".join(
            f"<Blob><Name>{escape(each.key)}</Name><Properties><Last-Modified>{DATE}</Last-Modified>"
            "<Content-Type>x/y</Content-Type>"
            + (f"<Etag>{escape(each.etag)}</Etag>" if each.etag else "")
            + (f"<Content-Length>{each.size}</Content-Length>" if each.size is not None else "")
            + "</Properties></Blob>"
            for each in listed
        )
        end = "" if token == "" else f"<NextMarker>{token or ''}</NextMarker>"
        return (
            f'<?xml version="1.0"?><EnumerationResults ContainerName="{BUCKET}"><Blobs>{rows}</Blobs>{end}'
            "</EnumerationResults>"
        ).encode()

    def error(self, code: str) -> tuple[dict[str, str], bytes]:
        # A header cannot contain control characters.
        return {"x-ms-error-code": code} if code.isprintable() else {}, super().error(code)[1]


STORES = {
    "s3": Kind(
        "s3", "s3", "AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP",
        {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1"},
        "continuation-token",
    ),
    "gs": Kind(
        "gs", "gs", "GOOGLE_BASE_URL", "GOOGLE_ALLOW_HTTP", {"GOOGLE_BEARER_TOKEN": "t"},
        "continuation-token",
    ),
    "az": AzureKind(
        "az", "az", "AZURE_STORAGE_ENDPOINT", "AZURE_ALLOW_HTTP",
        {"AZURE_STORAGE_ACCOUNT_NAME": "account", "AZURE_STORAGE_ACCOUNT_KEY": "a2V5a2V5"},
        "marker", (409, "BlobArchived"),
    ),
}  # fmt: skip


@dataclass
class Request:
    """A request."""

    kind: str
    key: str
    query: dict[str, str]
    headers: dict[str, str]
    #: The number of earlier requests of this kind.
    number: int

    @property
    def range(self) -> tuple[int, int | None] | None:
        """The first and the last byte requested."""
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        return found and (int(found[1]), int(found[2]) if found[2] else None)


@dataclass
class Answer:
    """An answer to send."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    #: Replaces the length of the body.
    length: object = None
    #: Sent first, such as responses with status 1xx.
    before: bytes = b""
    #: Replaces the whole answer.
    raw: bytes | Iterator[bytes] | None = None
    #: Ends the connection after this many bytes of the body, with a reset if `reset`.
    cut: int | None = None
    reset: bool = False


Hook = Callable[[Request, Answer], Answer]


class Hostile:
    """The store. It runs from `__enter__` to `__exit__`."""

    def __init__(self, kind: Kind, tls: ssl.SSLContext | None = None):
        self.kind, self.tls = kind, tls
        self.objects: dict[str, bytes] = {}
        self.on: dict[str, Hook] = {}
        self.log: list[Request] = []
        self.lock = threading.Lock()
        self.page_size = 1000

    def __enter__(self) -> "Hostile":
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """Returns the variables that tell a client where to find the store."""
        allow = {} if self.tls else {self.kind.allow_http: "true"}
        return {self.kind.endpoint: self.url} | allow | self.kind.keys

    def count(self, kind: str = "") -> int:
        """Returns the number of requests of a kind, or of all."""
        with self.lock:
            return sum(kind in ("", request.kind) for request in self.log)

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(1200)
            with connection, connection.makefile("rb") as file:
                while self.one(connection, file):
                    pass

    def one(self, connection: socket.socket, file) -> bool:
        """Serves one request. Returns whether the connection can be used again."""
        line = file.readline(65537)
        if not line:
            return False
        method, target, _ = line.decode().split(" ", 2)
        headers = {}
        while (line := file.readline(65537)).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        body = file.read(int(headers.get("content-length", 0)))
        parts = urlsplit(target)
        key = unquote(parts.path.removeprefix(f"/{BUCKET}").removeprefix("/"))
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        is_list = method == "GET" and ("list-type" in query or query.get("comp") == "list")
        kind = "LIST" if is_list else method
        with self.lock:
            number = sum(each.kind == kind for each in self.log)
            request = Request(kind, key, query, headers, number)
            self.log.append(request)
            if len(self.log) > MAX_REQUESTS:
                return False
        answer = self.honest(request, body)
        if hook := self.on.get(kind):
            answer = hook(request, answer)
        return self.send(connection, answer, method == "HEAD")

    def honest(self, request: Request, body: bytes) -> Answer:
        if request.kind == "LIST":
            return self.listing(request)
        if request.kind == "PUT":
            return self.put(request, body)
        if request.kind == "DELETE":
            self.objects.pop(request.key, None)
            return Answer(204)
        content = self.objects.get(request.key)
        if content is None:
            headers, text = self.kind.error("NoSuchKey")
            return Answer(404, headers, text)
        if request.headers.get("if-match", etag(content)) != etag(content):
            return Answer(412)
        headers = {"ETag": etag(content), "Last-Modified": DATE, "Accept-Ranges": "bytes"}
        if self.kind.name == "gs":
            headers["x-goog-generation"] = generation(content)
        if request.range is None:
            return Answer(200, headers, content)
        start, last = request.range
        last = min(len(content) - 1 if last is None else last, len(content) - 1)
        if start > last:
            return Answer(416)
        headers["Content-Range"] = f"bytes {start}-{last}/{len(content)}"
        return Answer(206, headers, content[start : last + 1])

    def put(self, request: Request, body: bytes) -> Answer:
        """Writes an object if the present one meets the conditions of the request."""
        there, headers = self.objects.get(request.key), request.headers
        if self.kind.name == "gs":
            expected, found = headers.get("x-goog-if-generation-match"), generation(there)
        else:
            expected, found = headers.get("if-match"), there is not None and etag(there)
        if headers.get("if-none-match") == "*" and there is not None:
            more, text = self.kind.error("BlobAlreadyExists")
            return Answer(409 if self.kind.name == "az" else 412, more, text)
        if expected is not None and expected != found:
            return Answer(412)
        if self.kind.name == "az" and headers.get("x-ms-blob-type") != "BlockBlob":
            return Answer(400)
        self.objects[request.key] = body
        return Answer(201, {"ETag": etag(body)})

    def listing(self, request: Request) -> Answer:
        prefix, after = (request.query.get(name, "") for name in ("prefix", self.kind.token))
        keys = sorted((k for k in self.objects if k.startswith(prefix)), key=str.encode)
        keys = [key for key in keys if key > after] if after else keys
        page, rest = keys[: self.page_size], keys[self.page_size :]
        listed = [
            Listed(self.shown(key), len(self.objects[key]), etag(self.objects[key])) for key in page
        ]
        return Answer(200, {"Content-Type": "application/xml"},
                      self.kind.page(listed, page[-1] if rest else None))  # fmt: skip

    def shown(self, key: str) -> str:
        """Returns a key as it appears in a listing."""
        return key

    def send(self, connection: socket.socket, answer: Answer, is_head: bool) -> bool:
        if answer.raw is not None:
            for piece in [answer.raw] if isinstance(answer.raw, bytes) else answer.raw:
                connection.sendall(piece)
            return False
        length = len(answer.body) if answer.length is None else answer.length
        headers = dict(answer.headers)
        if length is not False:
            headers["Content-Length"] = str(length)
        head = [f"HTTP/1.1 {answer.status} Status"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        connection.sendall(answer.before + ("\r\n".join(head) + "\r\n\r\n").encode("latin-1"))
        if is_head:
            return True
        connection.sendall(answer.body[: answer.cut])
        if answer.cut is not None and answer.reset:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        return answer.cut is None and length is not False


class Tunnel:
    """A proxy that connects every client to one port of this machine."""

    def __init__(self, port: int):
        self.port = port
        #: The first lines of the requests, which name the hosts.
        self.log: list[str] = []

    def __enter__(self) -> "Tunnel":
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self) -> None:
        while len(self.log) < MAX_REQUESTS:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            head = b""
            while b"\r\n\r\n" not in head and (piece := client.recv(4096)):
                head += piece
            self.log.append(head.split(b"\r\n")[0].decode())
            with socket.create_connection(("127.0.0.1", self.port)) as server:
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                back = threading.Thread(target=self.copy, args=(server, client), daemon=True)
                back.start()
                self.copy(client, server)
                back.join(1200)

    @staticmethod
    def copy(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)


def etag(content: bytes) -> str:
    """Returns the ETag of an object."""
    return f'"{digest(content)}"'


@functools.cache
def digest(content: bytes) -> str:
    """Returns a digest of a content. It is cached, so each content is hashed once."""
    return hashlib.md5(content).hexdigest()


def generation(content: bytes | None) -> str:
    """Returns the generation of an object; 0 if it does not exist."""
    return "0" if content is None else str(int(digest(content)[:12], 16))
