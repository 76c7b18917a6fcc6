"""Finds the items of a file. A function's body is parsed on demand."""

from dataclasses import dataclass
from functools import cached_property

from .parser import Parser
from .tokens import Unsupported, tokenize


@dataclass
class Function:
    source: "Source"
    owner: str | None
    trait: str | None
    name: str
    generics: list
    params: list
    has_self: bool
    returns: tuple | None
    # `None` for a declaration.
    tokens: list | None

    @cached_property
    def body(self):
        if self.tokens is None:
            raise Unsupported(f"{self.name} has no body")
        return Parser(self.tokens, self.source.name).statements(None)

    @property
    def loop(self):
        """Returns the first `for`."""
        return next(s[1] for s in self.body[1] if s[0] == "expr" and s[1][0] == "for")

    def rest(self, name):
        """Returns the body from `let name` on."""
        _, statements, value = self.body
        begin = next(i for i, s in enumerate(statements) if s[1] == ("name", name, False))
        return ("block", statements[begin:], value)

    def let(self, name):
        """Returns the expression that `let name` binds."""
        return self.rest(name)[1][0][3]


class Source:
    """The items of a file, without tests."""

    def __init__(self, name, text):
        self.name = name
        # By owner (a type or `None`) and name; a trait owns its default methods.
        self.functions, self.constants, self.structs = {}, {}, set()
        # The traits of each type.
        self.impls = {}
        self.items(tokenize(text))

    def items(self, tokens, owner=None, trait=None):
        parser = Parser(tokens, self.name)
        while parser.peek() is not None:
            if "cfg ( test )" in parser.attributes():
                skip(parser)
            else:
                self.item(parser, owner, trait)

    def item(self, parser, owner, trait):
        word = parser.next()
        while word in ("pub", "unsafe", "extern") or word == "const" and parser.peek() in ("fn", "unsafe"):
            if parser.peek() == "(":
                parser.group()
            word = parser.next()
        if word == "fn":
            self.function(parser, owner, trait)
        elif word in ("const", "static"):
            name = parser.next()
            parser.expect(":")
            type_ = parser.type()
            if parser.accept("="):
                self.constants[owner, name] = (type_, parser.before(";"))
            parser.expect(";")
        elif word in ("impl", "trait"):
            self.implementation(word, parser.before("{"), parser.group())
        elif word == "mod" and parser.peek(1) == "{":
            parser.next()
            self.items(parser.group())
        elif word in ("struct", "enum", "union"):
            self.structs.add(parser.peek())
            skip(parser)
        elif word in ("mod", "type", "use") or parser.peek() == "!":
            skip(parser)
        else:
            raise parser.unknown(f"unknown item {word}")

    def implementation(self, word, header, body):
        parser = Parser(header, self.name)
        if parser.accept("<"):
            parser.parameters()
        trait, owner = None, base_name(parser.type())
        if word == "impl" and parser.accept("for"):
            trait, owner = owner, base_name(parser.type())
            self.impls.setdefault(owner, []).append(trait)
        self.items(body, owner, trait)

    def function(self, parser, owner, trait):
        name = parser.next()
        generics = parser.parameters() if parser.accept("<") else []
        parser.expect("(")
        params, has_self = [], False
        while not parser.accept(")"):
            begin = parser.at
            while parser.peek() in ("&", "mut") or parser.kind() == "life":
                parser.next()
            if parser.accept("self"):
                has_self = True
            else:
                parser.at = begin
                pattern = parser.pattern()
                parser.expect(":")
                params.append((pattern, parser.type()))
            parser.accept(",")
        returns = parser.type() if parser.accept("->") else None
        parser.before("{", ";")
        tokens = parser.group() if parser.peek() == "{" else None
        parser.accept(";")
        # One trait may have impls for several types of one name, which must not replace each other.
        key = f"{owner} as {trait}" if trait and (owner, name) in self.functions else owner
        self.functions[key, name] = Function(self, owner, trait, name, generics, params, has_self, returns, tokens)


def skip(parser):
    """Skips an item: it ends with braces or a semicolon."""
    parser.before("{", ";")
    if parser.peek() == "{":
        parser.group()
    parser.accept(";")


def base_name(type_):
    """Returns `Radix` for `Radix<A>`, and `array` for `[u8; N]`."""
    kind, inner = type_[:2]
    return {"array": lambda: "array", "ref": lambda: base_name(inner), "path": lambda: inner[-1]}[kind]()
