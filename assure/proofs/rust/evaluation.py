"""Runs statements, expressions and patterns. Each known kind of `parser` has a method."""

from contextlib import contextmanager

import z3

from .numbers import N
from .parser import Parser
from .tokens import Unsupported
from .values import LIST, Chunks, Closure, Iter, Model, Mut, Muts, Range, Slice, Some, Struct, copied, plain


class Return(Exception):
    def __init__(self, value):
        self.value = value


class Stop(Exception):
    """Stops a run for a theorem once a name is bound."""

    def __init__(self, names):
        self.names = names


class Frame:
    """A call: its file, its generic arguments and its variables."""

    def __init__(self, source, types, scopes=None):
        self.source, self.types, self.scopes = source, types, scopes or [{}]

    @contextmanager
    def scope(self):
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()


def typed(value, held):
    """Gives a literal the type of the value that it replaces."""
    if isinstance(held, N) and isinstance(value, N) and value.t is None:
        return N(held.t, value.v)
    return value


class Evaluation:
    """A part of the machine that uses its names, numbers and methods."""


    def must_bind(self, pattern, value, frame):
        if not self.bind(pattern, value, frame):
            raise Unsupported("a pattern that does not match")

    def bind(self, pattern, value, frame):
        return getattr(self, f"bind_{pattern[0]}")(pattern, value, frame)

    def bind_all(self, parts, items, frame):
        if len(parts) != len(items):
            return False
        # Bind all parts: only literals and chunks can fail to match.
        return all([self.bind(part, item, frame) for part, item in zip(parts, items)])

    def bind_any(self, pattern, value, frame):
        return True

    def bind_name(self, pattern, value, frame):
        _, name, mutable = pattern
        if self.stop_at == name:
            raise Stop({k: v for scope in [*frame.scopes, {name: value}] for k, v in scope.items()})
        frame.scopes[-1][name] = copied(value) if mutable and isinstance(value, (list, Struct)) else value
        return True

    def bind_tuple(self, pattern, value, frame):
        value = plain(value)
        if isinstance(value, Chunks):
            # `([a, b], rest)` gives the length.
            first = pattern[1][0]
            if first[0] != "slice" or ("rest",) in first[1]:
                raise Unsupported("chunks of unknown length")
            value = value.of(max(1, len(value.base) // max(1, len(first[1]))))
        return self.bind_all(pattern[1], value, frame)

    def bind_slice(self, pattern, value, frame):
        parts, items = pattern[1], plain(value)
        items = [Mut(items, i) for i in range(len(items))] if isinstance(value, Muts) else list(items)
        if ("rest",) in parts:
            before = parts.index(("rest",))
            after = len(parts) - before - 1
            if len(items) < before + after:
                return False
            parts = parts[:before] + parts[before + 1 :]
            items = items[:before] + items[len(items) - after :]
        return self.bind_all(parts, items, frame)

    def bind_struct(self, pattern, value, frame):
        _, name, parts = pattern
        value = plain(value)
        if name in ("Some", "Ok"):
            return isinstance(value, Some) and self.bind(parts[0], value.value, frame)
        if not isinstance(value, Struct) or value.name != self.resolve(name, frame):
            return False
        return self.bind_all(parts, [value.fields[str(i)] for i in range(len(parts))], frame)

    def bind_literal(self, pattern, value, frame):
        equal = self.equal(value, self.eval(pattern[1], frame))
        return self.truth(equal)

    def bind_below(self, pattern, value, frame):
        return self.known(value) < self.known(self.eval(pattern[1], frame))


    def eval(self, node, frame):
        method = getattr(self, "eval_" + node[0], None)
        if method is None:
            raise Unsupported(f"{frame.source.name}: {node[0]}")
        return method(node, frame)

    def value(self, node, frame):
        return plain(self.eval(node, frame))

    def expression(self, tokens, frame):
        return self.eval(Parser(tokens, frame.source.name).expression(), frame)

    def truth(self, value):
        value = plain(value)
        if not isinstance(value, bool):
            raise Unsupported("a branch on an unknown")
        return value

    def condition(self, node, frame):
        if node[0] == "let":
            return self.bind(node[1], self.eval(node[2], frame), frame)
        return self.truth(self.eval(node, frame))

    def eval_block(self, node, frame):
        with frame.scope():
            for statement in node[1]:
                self.eval(statement, frame)
            return () if node[2] is None else self.eval(node[2], frame)

    def eval_expr(self, node, frame):
        self.eval(node[1], frame)

    def eval_let(self, node, frame):
        _, pattern, type_, value = node
        self.must_bind(pattern, self.shaped(self.eval(value, frame), type_), frame)

    def eval_if(self, node, frame):
        _, condition, then, otherwise = node
        with frame.scope():
            if self.condition(condition, frame):
                return self.eval(then, frame)
            return () if otherwise is None else self.eval(otherwise, frame)

    def eval_match(self, node, frame):
        value = self.eval(node[1], frame)
        for pattern, guard, body in node[2]:
            with frame.scope():
                if self.bind(pattern, value, frame) and (guard is None or self.truth(self.eval(guard, frame))):
                    return self.eval(body, frame)
        raise Unsupported("no arm of a match")

    def eval_for(self, node, frame):
        for item in self.iterate(self.eval(node[2], frame)):
            with frame.scope():
                self.must_bind(node[1], item, frame)
                self.eval(node[3], frame)
        return ()

    def eval_while(self, node, frame):
        while True:
            with frame.scope():
                if not self.condition(node[1], frame):
                    return ()
                self.eval(node[2], frame)

    def iterate(self, value):
        """Returns the items that a loop iterates over."""
        if isinstance(value, Muts):
            return (Mut(value.base, i) for i in range(len(value.base)))
        value = plain(value)
        if isinstance(value, Range):
            return value.numbers()
        if isinstance(value, (*LIST, Iter)):
            return iter(value)
        raise Unsupported(f"a loop over {value!r}")

    def eval_return(self, node, frame):
        raise Return(() if node[1] is None else self.eval(node[1], frame))

    def eval_assign(self, node, frame):
        _, op, target, source = node
        value = self.eval(source, frame)
        if op:
            value = self.binary(op, self.eval(target, frame), value)
        elif isinstance(value, (list, Struct)):
            value = copied(value)
        self.assign(target, value, frame)
        return ()

    def assign(self, target, value, frame):
        kind = target[0]
        if kind == "path":
            name = target[1][0]
            scope = next(scope for scope in reversed(frame.scopes) if name in scope)
            scope[name] = typed(value, scope[name])
        elif kind == "index":
            base, index = self.value(target[1], frame), self.eval(target[2], frame)
            i = self.place(base, index)
            base[i] = plain(typed(value, base[i]))
        elif kind == "field":
            self.value(target[1], frame).fields[target[2]] = plain(value)
        elif kind == "un" and target[1] == "*":
            self.assign_in_place(self.eval(target[2], frame), value)
        elif kind in ("tuple", "list"):
            for part, item in zip(target[1], list(plain(value)), strict=True):
                self.assign(part, item, frame)
        else:
            raise Unsupported(f"assignment to {kind}")

    def assign_in_place(self, place, value):
        if isinstance(place, Mut) and not isinstance(place.get(), Slice):
            place.set(plain(typed(value, place.get())))
            return
        place, value = plain(place), plain(value)
        if not isinstance(place, LIST) or len(place) != len(value):
            raise Unsupported("assignment to something that is not a list")
        for i, item in enumerate(list(value)):
            place[i] = item


    def eval_int(self, node, frame):
        return N(node[2], node[1])

    def eval_str(self, node, frame):
        return node[1]

    def eval_paren(self, node, frame):
        return self.eval(node[1], frame)

    def eval_path(self, node, frame):
        return self.path(node[1], node[2], frame)

    def eval_tuple(self, node, frame):
        return tuple(self.eval(part, frame) for part in node[1])

    def eval_list(self, node, frame):
        return [self.value(part, frame) for part in node[1]]

    def eval_repeat(self, node, frame):
        count, value = self.known(self.eval(node[2], frame)), self.value(node[1], frame)
        return [copied(value) for _ in range(count)]

    def eval_struct(self, node, frame):
        fields = {field: self.eval(value, frame) for field, value in node[2]}
        return Struct(self.resolve(node[1][-1], frame), fields)

    def eval_closure(self, node, frame):
        return Closure(node[1], node[2], frame)

    def eval_range(self, node, frame):
        _, low, high, inclusive = node
        low, high = (end and self.number(self.eval(end, frame)) for end in (low, high))
        t = (low and low.t) or (high and high.t)
        return Range(self.known(low) if low else 0, self.known(high) + inclusive if high else None, t)

    def eval_un(self, node, frame):
        _, op, operand = node
        value = self.eval(operand, frame)
        if op == "&":
            return value
        if op == "&mut" and isinstance(value, LIST):
            return Muts(value)
        if op == "*":
            return value.get() if isinstance(value, Mut) else plain(value)
        if op == "!":
            return self.inverted(value)
        raise Unsupported(f"{op} of {value!r}")

    def eval_bin(self, node, frame):
        _, op, left, right = node
        if op in ("&&", "||"):
            value = self.truth(self.eval(left, frame))
            return value if value == (op == "||") else self.value(right, frame)
        return self.binary(op, self.eval(left, frame), self.eval(right, frame))

    def eval_cast(self, node, frame):
        return self.cast(self.eval(node[1], frame), self.generic(node[2], frame))

    def place(self, base, index):
        index = self.known(index)
        if not 0 <= index < len(base):
            raise Unsupported(f"{self.where[-1]}: index {index} of {len(base)}")
        return index

    def eval_index(self, node, frame):
        base, index = self.value(node[1], frame), self.value(node[2], frame)
        if isinstance(index, Range):
            return self.part(base, index)
        if z3.is_bv(self.number(index).v):
            # For a table with an unknown index: choose among all entries.
            self.goal(f"index below {len(base)}", z3.ULT(index.v, len(base)))
            chosen = base[0]
            for i in range(1, len(base)):
                chosen = self.chosen(index.v == i, base[i], chosen)
            return chosen
        return base[self.place(base, index)]

    def part(self, base, range_):
        low, high = range_.low, len(base) if range_.high is None else range_.high
        if not 0 <= low <= high <= len(base):
            raise Unsupported(f"{self.where[-1]}: {low}..{high} of {len(base)}")
        return Slice(base, low, high)

    def eval_field(self, node, frame):
        base, name = self.value(node[1], frame), node[2]
        if isinstance(base, Chunks):
            base = base.of(self.chunk)
        if isinstance(base, tuple):
            return base[int(name)]
        if isinstance(base, Model):
            return getattr(base, name)
        if not isinstance(base, Struct) or name not in base.fields:
            raise Unsupported(f"the field {name} of {base!r}")
        return base.fields[name]

    def eval_macro(self, node, frame):
        if node[1] not in ("assert", "debug_assert"):
            raise Unsupported(f"{node[1]}!")
        self.goal("assert!", plain(self.expression(node[2], frame)))
        return ()

    def eval_call(self, node, frame):
        callee = self.eval(node[1], frame)
        return self.apply(callee, [self.eval(arg, frame) for arg in node[2]])

    def eval_mcall(self, node, frame):
        _, receiver, name, generics, args = node
        raw = self.eval(receiver, frame)
        args = [self.eval(arg, frame) for arg in args]
        value = plain(raw)
        given = [self.generic(type_, frame) for type_ in generics]
        if isinstance(value, Model):
            if value.method(name):
                return value.method(name)(*args)
            function = next(filter(None, (self.find(trait, name) for trait in value.traits)), None)
            if function is None:
                raise Unsupported(f"{type(value).__name__} has no {name}")
            return self.call(function, args, value, given, frame.types, value)
        if isinstance(value, Struct):
            key = owner = value.name
        elif isinstance(value, LIST):
            key, owner = "array", frame.types.get("Self")
        else:
            key = owner = value.t if isinstance(value, N) else None
        function = key and self.method(key, name)
        if function:
            return self.call(function, args, raw if isinstance(raw, Muts) else value, given, frame.types, owner)
        return self.builtin(raw, name, given, args)
