"""Resolves names: variables, constants, functions and types."""

from .numbers import WIDTH, N
from .tokens import Unsupported
from .values import Iter, Model, Some, Struct, plain

BUILTINS = {
    "opaque_word": lambda word: word,
    "reloaded": lambda value: value,
    "fetch_ahead": lambda *_: (),
    # `Choice::from(u8)`, for 0 or 1.
    ("Choice", "from"): lambda value: plain(value).v == 1,
    ("iter", "zip"): lambda a, b: Iter(zip(a, b)),
}


class Names:
    """A part of the machine that uses its sources."""

    def find(self, owner, name):
        for source in self.sources:
            if (owner, name) in source.functions:
                return source.functions[owner, name]
        return None

    def method(self, owner, name):
        """Finds a method of a type, or its trait's default."""
        traits = [trait for source in self.sources for trait in source.impls.get(owner, ())]
        found = [self.find(each, name) for each in (owner, *traits)]
        return next((function for function in found if function and function.tokens is not None), None)

    def resolve(self, name, frame):
        """Returns the type that a name stands for."""
        seen = set()
        while isinstance(name, str) and name in frame.types and name not in seen:
            seen.add(name)
            name = frame.types[name]
        return name

    def generic(self, type_, frame):
        """Returns an argument in `::<>`."""
        if type_[0] == "const":
            return self.eval(type_[1], frame)
        if type_[0] != "path":
            raise Unsupported(f"the generic {type_}")
        return self.resolve(type_[1][-1], frame)

    def path(self, names, generics, frame):
        given = [self.generic(type_, frame) for type_ in generics]
        *owners, last = names
        if not owners:
            return self.named(last, given, frame)
        if isinstance(owners[0], tuple):
            return self.of_array(owners[0], last, frame)
        owner = self.resolve(owners[-1], frame)
        if isinstance(owner, Model):
            return getattr(owner, last)
        known = self.constant(owner, last, frame)
        if known is not None:
            return known
        function = self.method(owner, last)
        if function:
            return self.callable(function, owner, given, frame)
        if owner in WIDTH:
            return self.of_integer(owner, last)
        if (owner, last) in self.builtins:
            return self.builtins[owner, last]
        # A module's name before a function or a constant.
        return self.item(last, given, frame, self.sources)

    def named(self, name, given, frame):
        for scope in reversed(frame.scopes):
            if name in scope:
                return scope[name]
        if isinstance(frame.types.get(name), (N, bool)):
            return frame.types[name]
        if name in self.intrinsics:
            return lambda *args: self.intrinsics[name]([number.v for number in given], *args)
        if name in self.builtins:
            return self.builtins[name]
        return self.item(name, given, frame, [frame.source, *self.sources])

    def item(self, name, given, frame, sources):
        for source in sources:
            if (None, name) in source.functions:
                return self.callable(source.functions[None, name], None, given, frame)
            known = self.constant(None, name, frame, source)
            if known is not None:
                return known
        if name == "Self" or any(name in source.structs for source in self.sources):
            owner = self.resolve(name, frame)
            return lambda *args: Struct(owner, {str(i): arg for i, arg in enumerate(args)})
        raise Unsupported(f"{frame.source.name}: the name {name}")

    def callable(self, function, owner, given, frame):
        def run(*args):
            receiver, args = (args[0], args[1:]) if function.has_self else (None, args)
            return self.call(function, args, receiver, given, frame.types, owner)

        return run

    def of_array(self, type_, name, frame):
        """Resolves `<[u8; 16]>::try_from`."""
        kind, *inner = type_[1] if type_[0] == "ref" else type_
        if kind != "array" or name != "try_from":
            raise Unsupported(f"{name} of a {kind}")
        length = self.known(self.eval(inner[1], frame))
        return lambda value: Some(value) if len(plain(value)) == length else None

    def of_integer(self, t, name):
        if name == "MAX":
            return N(t, self.most(t))
        if name == "BITS":
            return N("u32", WIDTH[t])
        if name in ("from_be_bytes", "from_le_bytes", "from_ne_bytes"):
            return lambda p: self.from_bytes(t, list(plain(p)), name == "from_be_bytes")
        if name == "conditional_select":
            return lambda a, b, choice: self.chosen(plain(choice), plain(b), plain(a))
        return lambda value, *args: self.builtin(value, name, [], args)
