"""Reads Rust source into trees: the part of the language that tagmac's arithmetic is written in.

`Source(text)` finds the items of a file; a function's body is parsed when it is asked for. What this
parser does not know is an error, never skipped, so that a proof cannot pass because code was
overlooked.
"""

import re

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<str>b?"(?:\\.|[^"\\])*")
      | (?P<char>b?'(?:\\.|[^'\\])')
      | (?P<life>'[A-Za-z_]\w*)
      | (?P<num>(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*?)(?:_?(?:u8|u16|u32|u64|u128|usize|i8|i16|i32|i64|i128|isize))?(?![0-9A-Za-z_]))
      | (?P<id>[A-Za-z_]\w*)
      | (?P<op><<=|>>=|\.\.=|\.\.\.|::|->|=>|==|!=|<=|>=|&&|\|\||\+=|-=|\*=|/=|%=|\^=|&=|\|=|<<|>>|\.\.|[-+*/%^&|!<>=.,;:#?@$(){}\[\]~])
    """,
    re.VERBOSE | re.DOTALL,
)
SUFFIX = re.compile(r"(?:u8|u16|u32|u64|u128|usize|i8|i16|i32|i64|i128|isize)$")
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Unsupported(Exception):
    """Code that the model does not know."""


def tokenize(text):
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Unsupported(f"cannot read {text[at : at + 40]!r}")
        at = match.end()
        if match.lastgroup != "space":
            tokens.append((match.lastgroup, match.group()))
    return tokens


def skip_group(tokens, at):
    """The place behind the group that opens at `at`."""
    depth = 0
    while True:
        token = tokens[at][1] if tokens[at][0] == "op" else None
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1


class Function:
    def __init__(self, name, generics, params, has_self, body, source, owner, trait, returns):
        self.name, self.generics, self.params = name, generics, params
        self.has_self, self.body_tokens, self.source = has_self, body, source
        self.owner, self.trait, self.returns = owner, trait, returns
        self._body = None

    @property
    def body(self):
        if self._body is None:
            if self.body_tokens is None:
                raise Unsupported(f"{self.name} has no body")
            self._body = Parser(self.body_tokens, self.source).block_all()
        return self._body


class Source:
    """The items of a file."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        # (owner type or None, name) -> Function; owner is a trait for its default methods.
        self.functions, self.constants, self.structs = {}, {}, {}
        # type -> traits that it has
        self.impls = {}
        self.items(tokenize(text), None, None)

    def items(self, tokens, owner, trait):
        parser, at, attributes = Parser(tokens, self), 0, ""
        while at < len(tokens):
            kind, token = tokens[at]
            if token == "#":
                end = skip_group(tokens, at + 1 + (tokens[at + 1][1] == "!"))
                attributes += " ".join(t for _, t in tokens[at:end])
                at = end
                continue
            skipped = "cfg ( test )" in attributes
            start = at
            # What may stand before an item.
            while tokens[at][1] in ("pub", "unsafe", "extern", "async") or (
                tokens[at][1] == "const" and tokens[at + 1][1] in ("fn", "unsafe")
            ):
                at += 1
                if tokens[at][1] == "(":
                    at = skip_group(tokens, at)
                if tokens[at][0] == "str":
                    at += 1
            token = tokens[at][1]
            if token == "fn":
                at = self.function(tokens, at, owner, trait, skipped)
            elif token in ("const", "static"):
                parser.at = at + 1
                if parser.peek() == "mut":
                    parser.next()
                name = parser.next()
                parser.expect(":")
                type_ = parser.type()
                if parser.accept("="):
                    begin = parser.at
                    end = begin
                    while tokens[end][1] != ";":
                        end = skip_group(tokens, end) if tokens[end][1] in CLOSING else end + 1
                    if not skipped:
                        self.constants[owner, name] = (type_, tokens[begin:end])
                    parser.at = end
                parser.expect(";")
                at = parser.at
            elif token in ("impl", "trait"):
                header = at + 1
                while tokens[at][1] != "{":
                    at += 1
                end = skip_group(tokens, at)
                if not skipped:
                    self.implementation(token, tokens[header:at], tokens[at + 1 : end - 1])
                at = end
            elif token == "mod":
                at += 2
                if tokens[at][1] == "{":
                    end = skip_group(tokens, at)
                    if not skipped:
                        self.items(tokens[at + 1 : end - 1], None, None)
                    at = end
                else:
                    at += 1
            elif token in ("struct", "enum", "union"):
                name = tokens[at + 1][1]
                self.structs[name] = True
                while tokens[at][1] not in ("{", ";"):
                    at = skip_group(tokens, at) if tokens[at][1] == "(" else at + 1
                at = skip_group(tokens, at) if tokens[at][1] == "{" else at + 1
            elif token in ("use", "type"):
                while tokens[at][1] != ";":
                    at = skip_group(tokens, at) if tokens[at][1] in CLOSING else at + 1
                at += 1
            elif token == "macro_rules" or (
                tokens[at][0] == "id" and at + 1 < len(tokens) and tokens[at + 1][1] == "!"
            ):
                while tokens[at][1] not in CLOSING:
                    at += 1
                brace = tokens[at][1] == "{"
                at = skip_group(tokens, at)
                if not brace and at < len(tokens) and tokens[at][1] == ";":
                    at += 1
            else:
                near = " ".join(t for _, t in tokens[start : start + 12])
                raise Unsupported(f"{self.name}: unknown item: {near}")
            attributes = ""

    def implementation(self, kind, header, body):
        at, depth, text = 0, 0, []
        if header and header[0][1] == "<":
            while True:
                token = header[at][1]
                depth += {"<": 1, ">": -1, ">>": -2}.get(token, 0)
                at += 1
                if depth == 0:
                    break
        for _, token in header[at:]:
            if token == "where":
                break
            text.append(token)
        trait = None
        if kind == "impl" and "for" in text:
            trait, text = base_name(text[: text.index("for")]), text[text.index("for") + 1 :]
        owner = base_name(text)
        if trait:
            self.impls.setdefault(owner, []).append(trait)
        self.items(body, owner, trait)

    def function(self, tokens, at, owner, trait, skipped):
        parser = Parser(tokens, self)
        # The same list: where `>>` closes twice, it becomes two tokens.
        parser.tokens = tokens
        parser.at = at + 1
        name, generics = parser.next(), []
        if parser.accept("<"):
            while not parser.accept(">"):
                if parser.kind() == "life":
                    parser.next()
                else:
                    if parser.accept("const"):
                        pass
                    generics.append(parser.next())
                if parser.accept(":"):
                    parser.bounds()
                if not parser.accept(","):
                    parser.close_angle()
                    break
        parser.expect("(")
        params, has_self = [], False
        while not parser.accept(")"):
            begin = parser.at
            while parser.peek() in ("&", "mut") or parser.kind() == "life":
                parser.next()
            if parser.peek() == "self":
                parser.next()
                has_self = True
            else:
                parser.at = begin
                pattern = parser.pattern()
                parser.expect(":")
                params.append((pattern, parser.type()))
            parser.accept(",")
        returns = parser.type() if parser.accept("->") else None
        while parser.peek() not in ("{", ";"):
            parser.next()
        body = None
        if parser.peek() == "{":
            end = skip_group(tokens, parser.at)
            body = tokens[parser.at + 1 : end - 1]
        else:
            end = parser.at + 1
        if not skipped:
            key = (owner, name)
            # One trait for several types of one name: the first would hide the others.
            if key in self.functions and trait:
                key = (f"{owner} as {trait}", name)
            self.functions[key] = Function(
                name, generics, params, has_self, body, self, owner, trait, returns
            )
        return end


def base_name(text):
    """`Radix` of `Radix < A >`, `array` of `[ u8 ; N ]`."""
    text = [token for token in text if token not in ("&", "mut") and not token.startswith("'")]
    if text[0] == "[":
        return "array"
    name = text[0]
    depth = 0
    for at, token in enumerate(text):
        if token == "<":
            depth += 1
        elif token in (">", ">>"):
            depth -= len(token)
        elif depth == 0 and token == "::":
            name = text[at + 1]
    return name


BINARY = [
    ["||"],
    ["&&"],
    ["==", "!=", "<", ">", "<=", ">="],
    ["|"],
    ["^"],
    ["&"],
    ["<<", ">>"],
    ["+", "-"],
    ["*", "/", "%"],
]
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>="}


class Parser:
    def __init__(self, tokens, source):
        self.tokens, self.at, self.source = list(tokens), 0, source

    def kind(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][1] if at < len(self.tokens) else None

    def next(self):
        token = self.tokens[self.at][1]
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token and self.kind() in ("op", "id"):
            self.at += 1
            return True
        return False

    def expect(self, token):
        if not self.accept(token):
            near = " ".join(t for _, t in self.tokens[max(0, self.at - 8) : self.at + 8])
            raise Unsupported(f"{self.source.name}: expected {token!r} near: {near}")

    def close_angle(self):
        """Takes one `>`, also of `>>`."""
        if self.peek() == ">>":
            self.tokens[self.at : self.at + 1] = [("op", ">"), ("op", ">")]
            self.at += 1
        else:
            self.expect(">")

    # Types.

    def bounds(self):
        depth = 0
        while True:
            token = self.peek()
            if depth == 0 and token in (",", ">", "=", ">>", "{", ";"):
                if token == "=":
                    raise Unsupported("a default of a generic")
                return
            if token in ("(", "["):
                self.at = skip_group(self.tokens, self.at)
                continue
            if token == ">>" and depth == 1:
                self.tokens[self.at : self.at + 1] = [("op", ">"), ("op", ">")]
                token = ">"
            depth += {"<": 1, ">": -1, ">>": -2}.get(token, 0)
            self.at += 1

    def type(self):
        if self.accept("&"):
            if self.kind() == "life":
                self.next()
            self.accept("mut")
            return ("ref", self.type())
        if self.accept("&&"):
            return ("ref", ("ref", self.type()))
        if self.accept("("):
            parts = []
            while not self.accept(")"):
                parts.append(self.type())
                self.accept(",")
            return ("tuple", parts)
        if self.accept("["):
            element = self.type()
            length = None
            if self.accept(";"):
                length = self.expression()
            self.expect("]")
            return ("array", element, length)
        if self.accept("!"):
            return ("path", ["!"], [])
        if self.accept("*"):
            if not self.accept("const"):
                self.expect("mut")
            return ("ref", self.type())
        if self.peek() in ("impl", "dyn"):
            self.next()
            while True:
                self.type_path()
                if self.accept("->"):
                    self.type()
                if not self.accept("+"):
                    return ("path", ["impl"], [])
        return self.type_path()

    def type_path(self):
        names, generics = [], []
        if self.kind() == "life":
            return ("path", [self.next()], [])
        if self.accept("<"):
            inner = self.type()
            if self.accept("as"):
                self.type()
            self.close_angle()
            names.append(inner)
            self.expect("::")
        while True:
            names.append(self.next())
            if self.peek() == "::" and self.peek(1) == "<":
                self.next()
            if self.accept("<"):
                generics = self.generics()
            if self.peek() == "(" and names[-1] in ("Fn", "FnMut", "FnOnce"):
                self.at = skip_group(self.tokens, self.at)
                if self.accept("->"):
                    self.type()
            if not self.accept("::"):
                return ("path", names, generics)

    def generics(self):
        """What stands between `<`, which was taken, and `>`."""
        found = []
        while True:
            if self.peek() in (">", ">>"):
                self.close_angle()
                return found
            if self.kind() == "life":
                self.next()
            elif self.peek() == "{":
                found.append(("const", self.primary(True)))
            elif self.kind() == "num" or self.peek() in ("true", "false"):
                found.append(("const", self.primary(True)))
            else:
                type_ = self.type()
                if self.accept("="):
                    type_ = self.type()
                found.append(type_)
            self.accept(",")

    # Patterns.

    def pattern(self):
        self.accept("|")
        first = self.pattern_one()
        if self.peek() == "|":
            options = [first]
            while self.accept("|"):
                options.append(self.pattern_one())
            return ("or", options)
        return first

    def pattern_one(self):
        token = self.peek()
        if token == "_":
            self.next()
            return ("any",)
        if token == "&":
            self.next()
            self.accept("mut")
            return self.pattern_one()
        if token in ("(", "["):
            self.next()
            parts = []
            while not self.accept(CLOSING[token]):
                parts.append(self.pattern())
                self.accept(",")
            if token == "(" and len(parts) == 1 and self.tokens[self.at - 2][1] != ",":
                return parts[0]
            return ("tuple" if token == "(" else "slice", parts)
        if token == "..":
            self.next()
            if self.kind() == "num":
                return ("below", self.primary(True))
            return ("rest", None)
        if self.kind() in ("num", "str", "char") or token in ("true", "false", "-"):
            value = self.unary(True)
            if self.accept(".."):
                return ("from", value)
            return ("literal", value)
        if token in ("mut", "ref"):
            mutable = False
            while self.peek() in ("mut", "ref"):
                mutable |= self.next() == "mut"
            return ("name", self.next(), mutable)
        names = [self.next()]
        while self.accept("::"):
            names.append(self.next())
        if self.peek() == "@":
            self.next()
            inner = self.pattern_one()
            if inner != ("rest", None):
                raise Unsupported("a pattern behind @")
            return ("rest", names[0])
        if self.peek() == "(":
            self.next()
            parts = []
            while not self.accept(")"):
                parts.append(self.pattern())
                self.accept(",")
            return ("struct", names[-1], [(str(i), part) for i, part in enumerate(parts)])
        if self.peek() == "{":
            self.next()
            parts = []
            while not self.accept("}"):
                if self.accept(".."):
                    continue
                name = self.next()
                parts.append((name, self.pattern() if self.accept(":") else ("name", name, False)))
                self.accept(",")
            return ("struct", names[-1], parts)
        if len(names) > 1 or names[0] == "None" or names[0].isupper() and len(names[0]) > 1:
            if self.accept(".."):
                return ("from", ("path", names, []))
            return ("literal", ("path", names, []))
        return ("name", names[0], False)

    # Statements.

    def block_all(self):
        """The statements up to the end of the tokens."""
        return self.statements(lambda: self.at >= len(self.tokens))

    def block(self):
        self.expect("{")
        block = self.statements(lambda: self.peek() == "}")
        self.expect("}")
        return block

    def statements(self, at_end):
        statements, tail = [], None
        while not at_end():
            if self.accept(";"):
                continue
            attributes = ""
            while self.peek() == "#":
                end = skip_group(self.tokens, self.at + 1)
                attributes += " ".join(t for _, t in self.tokens[self.at : end])
                self.at = end
            if "cfg (" in attributes:
                attribute = attributes.replace(" ", "")
                other_cpu = "target_arch" in attribute and "not(" not in attribute
                keep = not (other_cpu or 'not(feature="std")' in attribute)
            else:
                keep = True
            statement, ended = self.statement()
            if not keep:
                continue
            if ended:
                statements.append(statement)
            elif at_end():
                tail = statement[1]
            else:
                statements.append(statement)
        return ("block", statements, tail)

    def statement(self):
        token = self.peek()
        if token == "let":
            self.next()
            pattern = self.pattern()
            type_ = self.type() if self.accept(":") else None
            value, otherwise = None, None
            if self.accept("="):
                value = self.expression()
                if self.accept("else"):
                    otherwise = self.block()
            self.expect(";")
            return ("let", pattern, type_, value, otherwise), True
        if token in ("const", "static") and self.peek(1) != "{":
            self.next()
            name = self.next()
            self.expect(":")
            type_ = self.type()
            self.expect("=")
            value = self.expression()
            self.expect(";")
            return ("let", ("name", name, False), type_, value, None), True
        expression = self.expression(statement=True)
        if self.accept(";"):
            return ("expr", expression), True
        return ("expr", expression), False

    # Expressions.

    def expression(self, no_struct=False, statement=False):
        if statement and self.peek() in ("if", "match", "for", "while", "loop", "{", "unsafe"):
            block = self.primary(no_struct)
            if self.peek() not in (".", "?"):
                return block
            left = self.postfix(block, no_struct)
        elif self.peek() in ("..", "..="):
            inclusive = self.next() == "..="
            high = None
            if self.peek() not in (")", "]", "}", ",", ";", "=>", "{", None):
                high = self.binary(0, no_struct)
            return ("range", None, high, inclusive)
        else:
            left = self.binary(0, no_struct)
        if self.peek() in ("..", "..="):
            inclusive = self.next() == "..="
            high = None
            if self.peek() not in (")", "]", "}", ",", ";", "=>", "{", None):
                high = self.binary(0, no_struct)
            return ("range", left, high, inclusive)
        if self.peek() in ASSIGN:
            op = self.next()
            return ("assign", op[:-1], left, self.expression(no_struct))
        return left

    def binary(self, level, no_struct):
        if level == len(BINARY):
            return self.cast(no_struct)
        left = self.binary(level + 1, no_struct)
        while self.peek() in BINARY[level] and self.kind() == "op":
            op = self.next()
            left = ("bin", op, left, self.binary(level + 1, no_struct))
        return left

    def cast(self, no_struct):
        left = self.unary(no_struct)
        while self.accept("as"):
            left = ("cast", left, self.type())
        return left

    def unary(self, no_struct):
        token = self.peek()
        if token in ("-", "!", "*") and self.kind() == "op":
            self.next()
            return ("un", token, self.unary(no_struct))
        if token in ("&", "&&") and self.kind() == "op":
            self.next()
            op = "&mut" if self.accept("mut") else "&"
            return ("un", op, self.unary(no_struct))
        return self.postfix(self.primary(no_struct), no_struct)

    def arguments(self):
        self.expect("(")
        arguments = []
        while not self.accept(")"):
            while self.peek() == "#":
                self.at = skip_group(self.tokens, self.at + 1)
            arguments.append(self.expression())
            self.accept(",")
        return arguments

    def postfix(self, left, no_struct):
        while True:
            token = self.peek()
            if token == "(":
                left = ("call", left, self.arguments())
            elif token == "[":
                self.next()
                left = ("index", left, self.expression())
                self.expect("]")
            elif token == "?":
                self.next()
                left = ("try", left)
            elif token == ".":
                self.next()
                name, generics = self.next(), []
                if self.peek() == "::":
                    self.next()
                    self.expect("<")
                    generics = self.generics()
                if self.peek() == "(":
                    left = ("mcall", left, name, generics, self.arguments())
                else:
                    left = ("field", left, name)
            else:
                return left

    def primary(self, no_struct):
        kind, token = self.kind(), self.peek()
        while token == "#":
            self.at = skip_group(self.tokens, self.at + 1)
            kind, token = self.kind(), self.peek()
        if kind == "num":
            self.next()
            suffix = SUFFIX.search(token) if not token.startswith("0x") or "u" in token else None
            suffix = suffix.group() if suffix else None
            digits = token[: -len(suffix)] if suffix else token
            return ("int", int(digits.replace("_", ""), 0), suffix)
        if kind == "str":
            self.next()
            return ("str", token)
        if token in ("true", "false"):
            self.next()
            return ("bool", token == "true")
        if token == "(":
            self.next()
            parts, comma = [], False
            while not self.accept(")"):
                parts.append(self.expression())
                comma = self.accept(",")
            if len(parts) == 1 and not comma:
                return ("paren", parts[0])
            return ("tuple", parts)
        if token == "[":
            self.next()
            if self.accept("]"):
                return ("list", [])
            first = self.expression()
            if self.accept(";"):
                count = self.expression()
                self.expect("]")
                return ("repeat", first, count)
            parts = [first]
            while self.accept(","):
                if self.peek() == "]":
                    break
                parts.append(self.expression())
            self.expect("]")
            return ("list", parts)
        if token == "{":
            return self.block()
        if token == "unsafe" or token == "const" and self.peek(1) == "{":
            self.next()
            return self.block()
        if token == "if":
            self.next()
            condition = self.condition()
            then, otherwise = self.block(), None
            if self.accept("else"):
                otherwise = self.primary(False) if self.peek() == "if" else self.block()
            return ("if", condition, then, otherwise)
        if token == "match":
            self.next()
            value = self.expression(no_struct=True)
            self.expect("{")
            arms = []
            while not self.accept("}"):
                pattern = self.pattern()
                guard = self.expression() if self.accept("if") else None
                self.expect("=>")
                arms.append((pattern, guard, self.expression(statement=True)))
                self.accept(",")
            return ("match", value, arms)
        if token == "for":
            self.next()
            pattern = self.pattern()
            self.expect("in")
            over = self.expression(no_struct=True)
            return ("for", pattern, over, self.block())
        if token == "while":
            self.next()
            return ("while", self.condition(), self.block())
        if token == "loop":
            self.next()
            return ("while", ("bool", True), self.block())
        if token in ("return", "break"):
            self.next()
            value = None
            if self.peek() not in (";", "}", ",", None):
                value = self.expression()
            return (token, value)
        if token == "continue":
            self.next()
            return ("continue",)
        if token in ("|", "||", "move"):
            self.accept("move")
            params = []
            if not self.accept("||"):
                self.expect("|")
                while not self.accept("|"):
                    # Without alternatives, whose bar would end the list.
                    pattern = self.pattern_one()
                    if self.accept(":"):
                        self.type()
                    params.append(pattern)
                    self.accept(",")
            if self.accept("->"):
                self.type()
            return ("closure", params, self.expression())
        if token == "<":
            self.next()
            inner = self.type()
            if self.accept("as"):
                self.type()
            self.close_angle()
            self.expect("::")
            names = [inner, self.next()]
        elif kind == "id":
            names = [self.next()]
        else:
            near = " ".join(t for _, t in self.tokens[max(0, self.at - 8) : self.at + 8])
            raise Unsupported(f"{self.source.name}: unknown expression near: {near}")
        if self.peek() == "!" and self.peek(1) in CLOSING:
            self.next()
            end = skip_group(self.tokens, self.at)
            inner = self.tokens[self.at + 1 : end - 1]
            self.at = end
            return ("macro", names[-1], inner)
        generics = []
        while self.accept("::"):
            if self.accept("<"):
                generics = self.generics()
            else:
                names.append(self.next())
        last = names[-1]
        if self.peek() == "{" and not no_struct and (last[:1].isupper() or last == "Self"):
            self.next()
            fields, base = [], None
            while not self.accept("}"):
                if self.accept(".."):
                    base = self.expression()
                    continue
                name = self.next()
                fields.append(
                    (name, self.expression() if self.accept(":") else ("path", [name], []))
                )
                self.accept(",")
            return ("struct", names, fields, base)
        return ("path", names, generics)

    def condition(self):
        """An expression, or `let` patterns joined by `&&`."""
        parts = []
        while True:
            if self.accept("let"):
                pattern = self.pattern()
                self.expect("=")
                parts.append(("let", pattern, self.binary(2, True)))
            else:
                parts.append(self.expression(no_struct=True))
            if not self.accept("&&"):
                break
        return parts[0] if len(parts) == 1 else ("all", parts)
