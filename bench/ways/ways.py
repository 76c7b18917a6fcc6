"""Times calls from Python for `bench ways`.

For each line "CALL BYTES CALLS" on the input, it prints the nanoseconds of these calls.
"""

import itertools
import sys
import time

import tagmac

key = tagmac.Key(bytes([1]) * 16)
for line in sys.stdin:
    call, size, calls = line.split()
    message = bytes(int(size))
    tag = key.tag(message)
    turns = itertools.repeat(None, int(calls))
    if call == "tag":
        start = time.perf_counter_ns()
        for _ in turns:
            key.tag(message)
    elif call == "verify":
        start = time.perf_counter_ns()
        for _ in turns:
            key.verify(message, tag)
    else:
        sys.exit(f"ways: expected tag or verify, found {call}")
    print(time.perf_counter_ns() - start, flush=True)
