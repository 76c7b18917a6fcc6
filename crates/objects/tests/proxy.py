"""A proxy for an S3 server that imitates faulty networks and servers.

In a test:

    with Proxy("127.0.0.1", port) as proxy:
        proxy.rules.append(Rule("status", method="GET", path="/bucket/big", times=2))
        ...  # AWS_ENDPOINT_URL is proxy.url
        assert proxy.count(method="GET") == 3

As a program, for tests in other languages:

    python3 proxy.py HOST:PORT      prints its URL as the first line

    POST   /__proxy/rules           adds the rule in the JSON object of the body
    DELETE /__proxy/rules           removes all rules
    GET    /__proxy/log             returns the requests so far, as JSON

The `Host` header is passed on unchanged, so that signatures stay valid. The proxy listens only on
127.0.0.1.
"""

import contextlib
import http.client
import json
import re
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIECE = 64 << 10
CONTROL = "/__proxy/"
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade"}


@dataclass
class Rule:
    """A fault, and the requests that it applies to.

    | fault | what happens |
    |---|---|
    | `status` | answers with `status`, the headers in `answer`, and `body` or the S3 error `code`; does not ask the server |
    | `refuse` | resets the connection before any answer; does not ask the server |
    | `lose` | resets the connection after the server has answered |
    | `reset` | resets the connection after `bytes` bytes of the body |
    | `short` | closes the connection after `bytes` bytes of the body |
    | `trim` | truncates the body to `bytes` bytes and adjusts its headers |
    | `flip` | flips one bit of byte `bytes` of the body |
    | `call` | calls `call` or runs the command `run`, then passes the request on |
    | `strip` | the same, and removes the headers in `headers` from the request |
    | `hold` | holds the request until the event `release` |
    """

    fault: str
    method: str | None = None
    #: A regular expression to search for in the path with the query.
    path: str = ""
    #: A regular expression to search for in the `Range` header.
    range: str | None = None
    #: The number of matching requests that pass first.
    after: int = 0
    #: The number of requests that the fault applies to; `None` for all.
    times: int | None = 1
    status: int = 503
    code: str = "SlowDown"
    body: bytes | None = None
    answer: dict[str, str] = field(default_factory=dict)
    bytes: int = 0
    headers: tuple[str, ...] = ()
    run: list[str] | None = None
    call: Callable[[], object] | None = None
    release: threading.Event | None = None
    met: int = field(default=0, init=False)

    def takes(self, method: str, path: str, ranged: str) -> bool:
        """Returns whether the rule applies to a request, and counts the request if it matches."""
        is_its = self.method in (None, method) and re.search(self.path, path)
        if not is_its or (self.range is not None and not re.search(self.range, ranged)):
            return False
        self.met += 1
        past = self.met - self.after
        return past > 0 and (self.times is None or past <= self.times)


@dataclass
class Request:
    """A request and its result."""

    method: str
    path: str
    headers: dict[str, str]
    fault: str | None = None
    status: int | None = None
    #: True until its answer is about to be complete.
    under_way: bool = True


class Proxy:
    """The proxy. It runs from `__enter__` to `__exit__`."""

    def __init__(self, host: str, port: int, rules: list[Rule] | None = None):
        self.upstream = (host, port)
        self.rules = rules or []
        self.log: list[Request] = []
        #: The maximum number of concurrent requests so far.
        self.most = 0
        self.under_way = 0
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.proxy = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "Proxy":
        serve = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        serve.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def rule(self, method: str, path: str, ranged: str) -> Rule | None:
        """Returns the first rule that applies to a request."""
        with self.lock:
            return next((rule for rule in self.rules if rule.takes(method, path, ranged)), None)

    def count(self, method: str = "", path: str = "") -> int:
        """Counts the requests with this method, if given, and this path."""
        with self.lock:
            return sum(
                method in ("", request.method) and bool(re.search(path, request.path))
                for request in self.log
            )

    @contextlib.contextmanager
    def noted(self, request: Request):
        """Records a request and counts it as under way."""
        with self.lock:
            self.log.append(request)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        try:
            yield
        finally:
            self.answered(request)

    def answered(self, request: Request) -> None:
        """Records that the rest of an answer is about to be sent: the client may then send a new request."""
        with self.lock:
            self.under_way -= request.under_way
            request.under_way = False


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # Some clients open many connections at once.
    request_queue_size = 128
    proxy: Proxy

    def handle_error(self, request, client_address):
        """Ignores clients that disconnect, because tests do that on purpose."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith(CONTROL):
            return self.control(body)
        proxy = self.server.proxy
        rule = proxy.rule(self.command, self.path, self.headers.get("Range", ""))
        request = Request(self.command, self.path, dict(self.headers), rule and rule.fault)
        with proxy.noted(request):
            if rule and rule.fault == "hold" and rule.release:
                rule.release.wait(1200)
            elif rule and rule.fault in ("call", "strip"):
                if rule.call:
                    rule.call()
                if rule.run:
                    subprocess.run(rule.run, check=True, timeout=1200)
            elif rule and rule.fault == "refuse":
                return self.reset()
            elif rule and rule.fault == "status":
                request.status = rule.status
                proxy.answered(request)
                return self.error(rule)
            self.forward(request, rule, body)
        return None

    def forward(self, request: Request, rule: Rule | None, body: bytes) -> None:
        upstream = http.client.HTTPConnection(*self.server.proxy.upstream, timeout=1200)
        stripped = {name.lower() for name in rule.headers} if rule else set()
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in HOP_BY_HOP | stripped:
                upstream.putheader(name, value)
        upstream.endheaders(body or None)
        answer = upstream.getresponse()
        request.status = answer.status
        if rule and rule.fault == "lose":
            upstream.close()
            return self.reset()
        length = answer.getheader("Content-Length")
        fault = rule.fault if rule else None
        # Without a length, read the whole body to find its length.
        held = None
        if self.command == "HEAD":
            held = b""
        elif length is None or fault in ("trim", "flip"):
            held = answer.read()
            if fault == "trim":
                held = held[: rule.bytes]
            if fault == "flip" and rule.bytes < len(held):
                held = b"%b%c%b" % (
                    held[: rule.bytes],
                    held[rule.bytes] ^ 1,
                    held[rule.bytes + 1 :],
                )
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP | {"content-length"}:
                if fault == "trim" and name.lower() == "content-range":
                    first = int(re.search(r"bytes (\d+)-", value)[1])
                    value = f"bytes {first}-{first + len(held) - 1}/{value.rpartition('/')[2]}"
                self.send_header(name, value)
        if self.command == "HEAD" or held is None:
            self.send_header("Content-Length", length or "0")
        else:
            self.send_header("Content-Length", str(len(held)))
        unsent = 0 if self.command == "HEAD" else int(length or 0) if held is None else len(held)
        if not unsent:
            self.server.proxy.answered(request)
        self.end_headers()
        left = rule.bytes if fault in ("reset", "short") else None
        while self.command != "HEAD":
            piece, held = (held, b"") if held is not None else (answer.read(PIECE), None)
            if left is not None:
                piece, left = piece[:left], left - len(piece[:left])
            if not piece:
                break
            unsent -= len(piece)
            if not unsent:
                self.server.proxy.answered(request)
            self.wfile.write(piece)
        upstream.close()
        if fault == "reset":
            self.reset()
        elif fault == "short":
            self.wfile.flush()
            self.close_connection = True
        return None

    def reset(self) -> None:
        """Ends the connection with RST instead of FIN."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        # Two files share the socket, so `close` alone would not close it.
        self.rfile.close()
        with contextlib.suppress(OSError):
            fd = self.connection.detach()
            socket.close(fd)

    def error(self, rule: Rule) -> None:
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{rule.code}</Code><Message>as the test asks</Message></Error>"
        ).encode()
        text = text if rule.body is None else rule.body
        self.send_response_only(rule.status)
        self.send_header("Content-Type", "application/xml")
        for name, value in rule.answer.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def control(self, body: bytes) -> None:
        proxy, answer = self.server.proxy, b""
        if self.path == CONTROL + "log":
            with proxy.lock:
                answer = json.dumps([vars(request) for request in proxy.log]).encode()
        elif self.command == "POST":
            rule = json.loads(body)
            with proxy.lock:
                proxy.rules.append(Rule(**rule))
        elif self.command == "DELETE":
            with proxy.lock:
                proxy.rules.clear()
        self.send_response_only(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = pass_on


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    host, _, port = sys.argv[1].rpartition(":")
    with Proxy(host, int(port)) as proxy:
        print(proxy.url, flush=True)
        # Standard input ends when the parent process does.
        sys.stdin.read()


if __name__ == "__main__":
    main()
