"""Times calls from Python for `bench ways`.

For each line "CALL BYTES CALLS" on the input, it prints the nanoseconds of these calls.
"""

import itertools
import sys
import time

import tagmac

KEY = tagmac.Key(bytes([1]) * 16)


def tag(key: tagmac.Key, message: bytes, calls: int) -> int:
    """Returns the nanoseconds of `calls` tags."""
    start = time.thread_time_ns()
    for _ in itertools.repeat(None, calls):
        key.tag(message)
    return time.thread_time_ns() - start


def verify(key: tagmac.Key, message: bytes, calls: int) -> int:
    """Returns the nanoseconds of `calls` verifications."""
    right = key.tag(message)
    start = time.thread_time_ns()
    for _ in itertools.repeat(None, calls):
        key.verify(message, right)
    return time.thread_time_ns() - start


for line in sys.stdin:
    call, size, calls = line.split()
    print({"tag": tag, "verify": verify}[call](KEY, bytes(int(size)), int(calls)), flush=True)
