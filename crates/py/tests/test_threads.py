"""One object on many threads at once, while the interpreter is free."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import within_limit

import tagmac

THREADS = 8


def hammer(work):
    """Runs work(i) on 8 threads that start together."""
    start = threading.Barrier(THREADS)

    def run(i):
        start.wait()
        return work(i)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(run, range(THREADS)))
    finally:
        sys.setswitchinterval(switch)


def test_a_key_on_many_threads(each):
    key, nonce = each
    most = len(within_limit(key, nonce, bytes(20_000)))
    messages = [bytes([i]) * (i * 37 % most) for i in range(200)]
    expected = [key.tag(message, nonce) for message in messages]
    for tags in hammer(lambda _: [key.tag(message, nonce) for message in messages]):
        assert tags == expected


@pytest.mark.parametrize("size", [1, 64, 2048, 2049, 100_000])
def test_updates_of_one_object_do_not_mix(some, size):
    key, nonce = some
    piece, times = b"x" * size, 50
    mac = key.new(nonce=nonce)
    hammer(lambda _: [mac.update(piece) for _ in range(times)])
    assert mac.digest() == key.tag(piece * times * THREADS, nonce)


def test_every_call_on_one_object(some):
    """Each thread makes its calls, and the results match some order of all calls."""
    key, nonce = some
    mac = key.new(nonce=nonce)
    long, short = bytes(5000), bytes(10)

    def work(i):
        for _ in range(200):
            try:
                match i % 4:
                    case 0:
                        mac.update(long)
                    case 1:
                        mac.update(short)
                    case 2:
                        mac.digest()
                    case 3:
                        mac.copy().update(b"1").digest()
            except tagmac.NonceReuse:
                assert nonce is not None

    hammer(work)
    assert mac.digest() == mac.digest()


def test_a_nonce_gives_one_tag(some):
    """For any interleaving of digest and update."""
    key, nonce = some
    if nonce is None:
        return
    for _ in range(50):
        mac = key.new(nonce=nonce)

        def work(i):
            if i % 2:
                return mac.digest()
            try:
                mac.update(bytes(3000))
            except tagmac.NonceReuse:
                pass
            return mac.digest()

        assert len(set(hammer(work))) == 1


def test_the_interpreter_is_free_during_long_work():
    """The switch interval is infinite, so other threads run only if the call detaches. The system
    decides when they do, but a call that never detaches would keep them out every time.
    """
    key = tagmac.Key(bytes(16), "HMAC-SHA256")
    message = bytes(16 << 20)

    def others_came_in():
        order = []

        def work():
            order.append("begin")
            key.tag(message)
            order.append("end")

        thread = threading.Thread(target=work)
        thread.start()
        order.append("other")
        thread.join()
        return order == ["begin", "other", "end"]

    switch = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    try:
        assert any(others_came_in() for _ in range(1000))
    finally:
        sys.setswitchinterval(switch)


def test_files_and_batches_on_many_threads(tmp_path):
    key = tagmac.Key(bytes(16))
    path = tmp_path / "file"
    path.write_bytes(bytes(3_000_000))
    messages = [bytes(i) for i in range(300)]
    expected = key.tag(bytes(3_000_000)), b"".join(map(key.tag, messages))

    def work(_):
        return tagmac.file_digest(path, key, threads=3), tagmac.tag_many(key, messages)

    assert set(hammer(work)) == {expected}
