"""Runs functions of some files. Everything that must never fail there is a goal for a theorem to
prove."""

import z3

from .arithmetic import Arithmetic
from .evaluation import Evaluation, Frame, Return
from .methods import Methods
from .names import BUILTINS, Names
from .numbers import WIDTH, N, Sums
from .tokens import Unsupported
from .values import LIST, Closure, Mut, copied, plain


class Machine(Names, Evaluation, Methods, Arithmetic):
    """Adds a goal, with a description, for each operation that Rust checks in a debug build (`+`,
    `-`, `*`, `<<`, indices, `assert!`): that it never fails."""

    def __init__(self, sources, chunk=None):
        self.sources, self.sums = sources, Sums()
        self.goals, self.assumed = [], []
        # The length of chunks if neither pattern nor type gives it.
        self.chunk = chunk
        # Functions by name, or by owner and name, that are replaced by Python functions.
        self.contracts = {}
        # Functions of the standard library and of `isa` that do no arithmetic.
        self.builtins = dict(BUILTINS)
        # Instructions by name: functions of the constants in `::<>` and of the operands.
        self.intrinsics = {}
        # A name at which to stop once it is bound.
        self.stop_at = None
        self.where, self.constants = ["?"], {}

    def goal(self, line, formula):
        formula = z3.BoolVal(formula) if isinstance(formula, bool) else formula
        self.goals.append((f"{self.where[-1]}: {line}", formula))

    def run(self, owner, name, *args, receiver=None, types=None, self_type=None):
        """Runs the function of that name, for theorems."""
        function = self.find(owner, name)
        if not function:
            raise Unsupported(f"no function {owner or ''}::{name}")
        return self.call(function, args, receiver, (), types, self_type)

    def call(self, function, args, receiver=None, generics=(), types=None, owner=None):
        """Runs `function`: `types` are its generic arguments, and `owner` is its `Self`."""
        contract = self.contracts.get((function.owner, function.name)) or self.contracts.get(function.name)
        if contract:
            return contract(*([receiver] if function.has_self else []), *args)
        types = dict(types or {})
        if owner is not None:
            types["Self"] = owner
        elif function.owner and function.trait is None and function.owner != "array":
            types["Self"] = function.owner
        types.update(zip(function.generics, generics))
        for (_, type_), arg in zip(function.params, args, strict=True):
            self.bind_lengths(type_, arg, function.generics, types)
        frame = Frame(function.source, types)
        if function.has_self:
            frame.scopes[0]["self"] = receiver
        self.where.append(f"{function.source.name}: {f'{function.owner}::' if function.owner else ''}{function.name}")
        try:
            for (pattern, type_), arg in zip(function.params, args):
                self.must_bind(pattern, self.shaped(arg, type_), frame)
            value = self.eval(function.body, frame)
        except Return as returned:
            value = returned.value
        finally:
            self.where.pop()
        return self.shaped(plain(value) if isinstance(value, Mut) else value, function.returns)

    def apply(self, callee, args):
        if not isinstance(callee, Closure):
            return callee(*args)
        frame = Frame(callee.frame.source, callee.frame.types, [*callee.scopes, {}])
        for pattern, arg in zip(callee.params, args, strict=True):
            self.must_bind(pattern, arg, frame)
        return self.eval(callee.body, frame)

    def shaped(self, value, type_):
        """Returns the value with the declared type: only literals change."""
        kind = type_ and type_[0]
        if kind == "ref":
            return self.shaped(value, type_[1])
        if kind == "path" and isinstance(value, N) and value.t is None and type_[1][-1] in WIDTH:
            return N(type_[1][-1], self.in_type(value.v, type_[1][-1]))
        if kind == "array" and isinstance(value, LIST):
            for i, item in enumerate(value):
                new = self.shaped(item, type_[1])
                if new is not item:
                    value[i] = new
        if kind == "tuple" and isinstance(value, tuple):
            return tuple(self.shaped(v, t) for v, t in zip(value, type_[1]))
        return value

    def bind_lengths(self, type_, value, generics, types):
        """Infers the lengths that a call leaves to its arguments."""
        value = plain(value)
        if type_[0] == "ref":
            self.bind_lengths(type_[1], value, generics, types)
        if type_[0] == "array" and isinstance(value, LIST):
            kind, *names = type_[2] or (None,)
            if kind == "path" and names[0][0] in generics and len(names[0]) == 1:
                types[names[0][0]] = N("usize", len(value))
            if len(value):
                self.bind_lengths(type_[1], value[0], generics, types)

    def constant(self, owner, name, frame, only=None):
        for source in [only] if only else self.sources:
            if (owner, name) in source.constants:
                known = (source.name, owner, name, str(frame.types.get("Self")))
                if known not in self.constants:
                    type_, tokens = source.constants[owner, name]
                    inner = Frame(source, dict(frame.types))
                    if owner and owner != "array":
                        inner.types.setdefault("Self", owner)
                    self.constants[known] = self.shaped(self.expression(tokens, inner), type_)
                return copied(self.constants[known])
        return None
