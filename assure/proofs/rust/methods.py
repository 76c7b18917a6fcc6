"""Methods of the standard library."""

import z3

from .numbers import WIDTH, N
from .tokens import Unsupported
from .values import LIST, Chunks, Iter, Mut, Muts, Range, Slice, Some, copied, plain


class Methods:
    """A part of the machine that uses its numbers and runs closures."""

    def builtin(self, raw, name, generics, args):
        value = plain(raw)
        if isinstance(value, N):
            return self.of_number(value, name, args)
        if isinstance(value, LIST):
            return self.of_list(raw, value, name, generics, args)
        if isinstance(value, (Iter, Range)):
            return self.of_iterator(value, name, args)
        if isinstance(value, Some) or value is None:
            if name == "copied":
                return value
            if name == "unwrap_or" and value is None:
                return args[0]
            if name in ("unwrap", "unwrap_or", "expect") and value is not None:
                return value.value
        if name == "then":
            return Some(self.apply(args[0], [])) if self.truth(value) else None
        if name == "into" and z3.is_bool(value):
            return value
        raise Unsupported(f"{name} of {type(value).__name__}")

    def of_number(self, n, name, args):
        kind, _, operation = name.partition("_")
        if kind in ("wrapping", "overflowing") and operation in ("add", "sub"):
            other = self.number(args[0])
            if n.t != other.t and None not in (n.t, other.t):
                raise Unsupported(f"{name} of {n.t} and {other.t}")
            value, over = self.wrapping("+" if operation == "add" else "-", n, other, n.t or other.t)
            if kind == "overflowing" and over is None:
                raise Unsupported(name)
            return value if kind == "wrapping" else (value, over)
        if name == "wrapping_neg":
            return self.wrapping("-", N(n.t, 0), n, n.t)[0]
        if name in ("to_be_bytes", "to_le_bytes", "to_ne_bytes"):
            return self.to_bytes(n, name == "to_be_bytes")
        if name in ("checked_shl", "checked_shr"):
            amount = self.number(args[0])
            if self.known(amount) >= WIDTH[n.t]:
                return None
            return Some(self.shift("<<" if name == "checked_shl" else ">>", n, amount))
        v, width = self.known(n), WIDTH.get(n.t, 64)
        if name == "trailing_zeros":
            return N("u32", (v & -v).bit_length() - 1 if v else width)
        if name == "leading_zeros":
            return N("u32", width - v.bit_length())
        if name == "ilog2":
            return N("u32", v.bit_length() - 1)
        other = self.known(args[0])
        if name == "is_multiple_of":
            return v % other == 0
        if name == "div_ceil":
            return N(n.t, -(-v // other))
        if name == "min":
            return N(n.t, min(v, other))
        if name == "saturating_sub":
            return N(n.t, max(0, v - other))
        raise Unsupported(f"{name} of a number")

    def of_list(self, raw, value, name, generics, args):
        n = len(value)
        if name in ("iter", "into_iter"):
            return Iter(list(value))
        if name == "iter_mut":
            return Iter([Mut(value, i) for i in range(n)])
        if name == "as_ref":
            return value
        if name == "as_mut":
            return Muts(value)
        if name == "len":
            return N("usize", n)
        if name == "is_empty":
            return n == 0
        if name == "ct_eq":
            return self.equal(value, args[0])
        if name == "map":
            return [plain(self.apply(args[0], [item])) for item in value]
        if name == "copy_from_slice":
            for i, item in zip(range(n), list(plain(args[0])), strict=True):
                value[i] = copied(item)
            return ()
        if name == "split_at":
            at = self.known(args[0])
            return self.part(value, Range(0, at, None)), self.part(value, Range(at, None, None))
        if name == "as_chunks" and not generics:
            return Chunks(value)
        if name in ("as_chunks", "as_chunks_mut"):
            chunks, rest = Chunks(value).of(self.known(generics[0]) if generics else self.chunk)
            return (Muts(chunks), Muts(rest)) if name == "as_chunks_mut" else (chunks, rest)
        if name == "chunks_exact":
            return Iter(Chunks(value).of(self.known(args[0]))[0])
        if name in ("first_chunk", "last_chunk"):
            size = self.known(generics[0]) if generics else self.chunk
            if size is None or n < size:
                return None
            return Some(Slice(value, 0, size) if name == "first_chunk" else Slice(value, n - size, n))
        if name == "first":
            return Some(value[0]) if n else None
        if name in ("get", "get_mut"):
            i = self.known(args[0])
            if i >= n:
                return None
            return Some(Mut(value, i) if name == "get_mut" else value[i])
        raise Unsupported(f"{name} of a list")

    def of_iterator(self, value, name, args):
        items = self.iterate(value)
        if name == "zip":
            return Iter(zip(items, self.iterate(args[0])))
        if name == "enumerate":
            return Iter((N("usize", i), item) for i, item in enumerate(items))
        if name == "rev":
            return Iter(list(items)[::-1])
        if name == "fold":
            total, step = args
            for item in items:
                total = self.apply(step, [total, item])
            return total
        raise Unsupported(f"{name} of an iterator")
