"""The faults of the proxy, as an ordinary client sees them."""

import http.client
import http.server
import threading

import pytest
from proxy import Proxy, Rule

BODY = bytes(range(256)) * 1024


class Plain(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: dict[str, str] = {}

    def do_GET(self):
        type(self).seen = dict(self.headers)
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


@pytest.fixture
def proxy():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Plain)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    with Proxy(*server.server_address) as proxy:
        yield proxy
    server.shutdown()
    server.server_close()


def get(proxy, path="/b/k", **headers):
    client = http.client.HTTPConnection(proxy.url.removeprefix("http://"), timeout=1200)
    client.request("GET", path, headers=headers)
    answer = client.getresponse()
    return answer.status, answer.read()


def test_without_rules_all_goes_through(proxy):
    assert get(proxy) == (200, BODY)
    assert proxy.count("GET", "/b/k") == 1


def test_a_status_meets_the_requests_that_it_is_for(proxy):
    proxy.rules.append(Rule("status", path="/b/k$", after=1, times=2))
    assert [get(proxy)[0] for _ in range(4)] == [200, 503, 503, 200]
    assert get(proxy, "/b/other")[0] == 200


@pytest.mark.parametrize("fault", ["reset", "short"])
def test_a_body_is_cut_off(proxy, fault):
    proxy.rules.append(Rule(fault, bytes=70_000))
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)) as cut:
        get(proxy)
    assert (cut.type is ConnectionResetError) == (fault == "reset")


def test_a_connection_is_refused(proxy):
    proxy.rules.append(Rule("refuse"))
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        get(proxy)


def test_a_body_is_another(proxy):
    proxy.rules += [Rule("trim", bytes=10), Rule("flip", bytes=3)]
    assert get(proxy) == (200, BODY[:10])
    found = get(proxy)[1]
    assert [at for at in range(len(BODY)) if found[at] != BODY[at]] == [3]


def test_a_call_is_made_before_the_request_goes_on(proxy):
    seen = []
    proxy.rules.append(Rule("call", call=lambda: seen.append(proxy.count())))
    assert get(proxy) == (200, BODY)
    assert seen == [1]


def test_headers_are_stripped(proxy):
    proxy.rules.append(Rule("strip", headers=("If-Match",)))
    get(proxy, **{"If-Match": "x", "Range": "bytes=0-"})
    assert "If-Match" not in Plain.seen and "Range" in Plain.seen
