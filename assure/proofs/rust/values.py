"""Contents of variables other than numbers: lists and slices, references, structs, iterators."""

from itertools import count
from keyword import iskeyword

from .numbers import N


class Slice:
    """A part of a list, in place."""

    def __init__(self, base, start, stop):
        while isinstance(base, Slice):
            start, stop, base = base.start + start, base.start + stop, base.base
        self.base, self.start, self.stop = base, start, stop

    def __len__(self):
        return self.stop - self.start

    def place(self, i):
        if not 0 <= i < len(self):
            raise IndexError
        return self.start + i

    def __getitem__(self, i):
        return self.base[self.place(i)]

    def __setitem__(self, i, value):
        self.base[self.place(i)] = value

    def __iter__(self):
        return iter(self.base[self.start : self.stop])


LIST = (list, Slice)


class Mut:
    """A reference to an element of a list."""

    def __init__(self, base, key):
        self.base, self.key = base, key

    def get(self):
        return self.base[self.key]

    def set(self, value):
        self.base[self.key] = value


class Muts:
    """`&mut` of a list: its items can be written."""

    def __init__(self, base):
        self.base = base


class Struct:
    def __init__(self, name, fields):
        self.name, self.fields = name, fields


class Some:
    def __init__(self, value):
        self.value = value


class Range:
    """Numbers of a type from `low` up to but not including `high`; `None` means endless."""

    def __init__(self, low, high, t):
        self.low, self.high, self.t = low, high, t

    def numbers(self):
        places = count(self.low) if self.high is None else range(self.low, self.high)
        return (N(self.t, i) for i in places)


class Chunks:
    """`as_chunks` with a length from the pattern or the theorem."""

    def __init__(self, base):
        self.base = base

    def of(self, n):
        whole = len(self.base) // n
        chunks = [Slice(self.base, i * n, i * n + n) for i in range(whole)]
        return chunks, Slice(self.base, whole * n, len(self.base))


class Iter:
    def __init__(self, iterator):
        self.iterator = iter(iterator)

    def __iter__(self):
        return self.iterator


class Closure:
    def __init__(self, params, body, frame):
        self.params, self.body, self.frame, self.scopes = params, body, frame, list(frame.scopes)


class Model:
    """A type or value modelled in Python: its methods have Rust's names, with `and_` for `and`."""

    traits = ()

    def method(self, name):
        return getattr(self, name + "_" * iskeyword(name), None)


def copied(value):
    if isinstance(value, LIST):
        return [copied(item) for item in value]
    if isinstance(value, Struct):
        return Struct(value.name, {k: copied(v) for k, v in value.fields.items()})
    return value


def plain(value):
    """Removes references."""
    while isinstance(value, (Mut, Muts)):
        value = value.get() if isinstance(value, Mut) else value.base
    return value
