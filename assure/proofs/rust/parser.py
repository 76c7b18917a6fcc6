"""Parses Rust: types, patterns, statements and expressions become tuples whose first item is the
kind."""

from .tokens import CLOSING, Unsupported, integer

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
# Keywords that begin unsupported code.
UNKNOWN = {"async", "break", "continue", "let", "loop"}


class Parser:
    def __init__(self, tokens, file):
        self.tokens, self.at, self.file = list(tokens), 0, file

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
            raise self.unknown(f"expected {token!r}")

    def unknown(self, what):
        near = " ".join(text for _, text in self.tokens[max(0, self.at - 8) : self.at + 8])
        return Unsupported(f"{self.file}: {what} near: {near}")

    def group(self):
        """Takes the tokens in the brackets that open here."""
        begin, open_ = self.at + 1, []
        while True:
            kind, token = self.tokens[self.at][0], self.next()
            if kind == "op" and token in CLOSING:
                open_.append(CLOSING[token])
            elif open_ and kind == "op" and token == open_[-1]:
                open_.pop()
                if not open_:
                    return self.tokens[begin : self.at - 1]

    def before(self, *ends):
        """Takes the tokens before the first of `ends` that is outside brackets."""
        begin = self.at
        while self.peek() not in ends:
            self.group() if self.peek() in CLOSING else self.next()
        return self.tokens[begin : self.at]

    def attributes(self):
        """Takes any leading `#[..]`, as one text."""
        text = ""
        while self.accept("#"):
            self.accept("!")
            text += " ".join(token for _, token in self.group())
        return text

    def listed(self, closing, item):
        """Takes items separated by commas, up to the closing token."""
        items = []
        while not self.accept(closing):
            items.append(item())
            self.accept(",")
        return items


    def lifetime(self):
        return self.kind() == "life" and bool(self.next())

    def close_angle(self):
        """Takes one `>`, also of `>>`."""
        if self.peek() == ">>":
            self.tokens[self.at : self.at + 1] = [("op", ">"), ("op", ">")]
        self.expect(">")

    def bounds(self):
        """Takes traits joined by `+`."""
        while self.lifetime() or self.type_path():
            if not self.accept("+"):
                return

    def type(self):
        if self.accept("&"):
            self.lifetime()
            self.accept("mut")
            return ("ref", self.type())
        if self.accept("&&"):
            return ("ref", ("ref", self.type()))
        if self.accept("*"):
            self.next()
            return ("ref", self.type())
        if self.accept("("):
            return ("tuple", self.listed(")", self.type))
        if self.accept("["):
            element = self.type()
            length = self.expression() if self.accept(";") else None
            self.expect("]")
            return ("array", element, length)
        if self.peek() in ("impl", "dyn"):
            self.next()
            self.bounds()
            return ("path", ["impl"], [])
        return self.type_path()

    def type_path(self):
        names, generics = [], []
        if self.accept("<"):
            names.append(self.qualified())
        while True:
            names.append(self.next())
            if self.accept("<"):
                generics = self.generics()
            if self.peek() == "(" and names[-1] in ("Fn", "FnMut", "FnOnce"):
                self.group()
                if self.accept("->"):
                    self.type()
            if not self.accept("::"):
                return ("path", names, generics)

    def qualified(self):
        """Takes `T as Trait>::` and drops the trait."""
        inner = self.type()
        if self.accept("as"):
            self.type()
        self.close_angle()
        self.expect("::")
        return inner

    def parameters(self):
        """Takes the generic parameters of a function or an `impl`, after `<`."""
        names = []
        while self.peek() not in (">", ">>"):
            if not self.lifetime():
                self.accept("const")
                names.append(self.next())
            if self.accept(":"):
                self.bounds()
            self.accept(",")
        self.close_angle()
        return names

    def generics(self):
        """Takes generic arguments, from after `<` to `>`."""
        found = []
        while self.peek() not in (">", ">>"):
            if self.kind() == "num" or self.peek() in ("true", "false"):
                found.append(("const", self.primary(True)))
            elif not self.lifetime():
                type_ = self.type()
                found.append(self.type() if self.accept("=") else type_)
            self.accept(",")
        self.close_angle()
        return found


    def pattern(self):
        if self.accept("_"):
            return ("any",)
        if self.accept("("):
            return ("tuple", self.listed(")", self.pattern))
        if self.accept("["):
            return ("slice", self.listed("]", self.pattern))
        if self.accept(".."):
            return ("below", self.primary(True)) if self.kind() == "num" else ("rest",)
        if self.kind() in ("num", "str") or self.peek() in ("true", "false"):
            return ("literal", self.unary(True))
        mutable = False
        while self.peek() in ("mut", "ref"):
            mutable |= self.next() == "mut"
        name = self.next()
        if self.accept("("):
            return ("struct", name, self.listed(")", self.pattern))
        if self.peek() in ("::", "{", "@") or name == "None" or name.isupper() and len(name) > 1:
            raise self.unknown("an unknown pattern")
        return ("name", name, mutable)


    def block(self):
        self.expect("{")
        block = self.statements("}")
        self.expect("}")
        return block

    def statements(self, end):
        """Takes the statements up to a token, or all if it is `None`."""
        statements = []
        while self.peek() != end:
            if self.peek() in ("let", "const", "static") and self.peek(1) != "{":
                statements.append(self.let())
                continue
            expression = self.expression(statement=True)
            if not self.accept(";") and self.peek() == end:
                return ("block", statements, expression)
            statements.append(("expr", expression))
        return ("block", statements, None)

    def let(self):
        """Takes `let`, or a constant, which is parsed the same way."""
        pattern = self.pattern() if self.next() == "let" else ("name", self.next(), False)
        type_ = self.type() if self.accept(":") else None
        self.expect("=")
        value = self.expression()
        if self.accept("else"):
            # A pattern that does not match is an error of the model.
            self.block()
        self.expect(";")
        return ("let", pattern, type_, value)


    def expression(self, no_struct=False, statement=False):
        if statement and self.peek() in ("if", "match", "for", "while", "{", "unsafe"):
            return self.primary(no_struct)
        left = None if self.peek() in ("..", "..=") else self.binary(0, no_struct)
        if self.peek() in ("..", "..="):
            inclusive = self.next() == "..="
            is_open = self.peek() in (")", "]", "}", ",", ";", "=>", "{", None)
            return ("range", left, None if is_open else self.binary(0, no_struct), inclusive)
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
        if self.accept("&") or self.accept("&&"):
            return ("un", "&mut" if self.accept("mut") else "&", self.unary(no_struct))
        return self.postfix(self.primary(no_struct))

    def argument(self):
        self.attributes()
        return self.expression()

    def postfix(self, left):
        while True:
            if self.accept("("):
                left = ("call", left, self.listed(")", self.argument))
            elif self.accept("["):
                left = ("index", left, self.expression())
                self.expect("]")
            elif self.accept("."):
                name, generics = self.next(), []
                if self.accept("::"):
                    self.expect("<")
                    generics = self.generics()
                if self.accept("("):
                    left = ("mcall", left, name, generics, self.listed(")", self.argument))
                else:
                    left = ("field", left, name)
            else:
                return left

    def primary(self, no_struct):
        kind, token = self.kind(), self.peek()
        if kind == "num":
            return ("int", *integer(self.next()))
        if kind == "str":
            return ("str", self.next())
        if self.accept("true") or self.accept("false"):
            return ("bool", token == "true")
        if self.accept("("):
            parts = self.listed(")", self.expression)
            is_tuple = len(parts) != 1 or self.tokens[self.at - 2][1] == ","
            return ("tuple", parts) if is_tuple else ("paren", parts[0])
        if self.accept("["):
            first = self.expression()
            if self.accept(";"):
                count = self.expression()
                self.expect("]")
                return ("repeat", first, count)
            self.accept(",")
            return ("list", [first, *self.listed("]", self.expression)])
        if token == "{":
            return self.block()
        if token == "unsafe" or token == "const" and self.peek(1) == "{":
            self.next()
            return self.block()
        if self.accept("if"):
            condition, then, otherwise = self.condition(), self.block(), None
            if self.accept("else"):
                otherwise = self.primary(False) if self.peek() == "if" else self.block()
            return ("if", condition, then, otherwise)
        if self.accept("match"):
            value = self.expression(no_struct=True)
            self.expect("{")
            return ("match", value, self.listed("}", self.arm))
        if self.accept("for"):
            pattern = self.pattern()
            self.expect("in")
            return ("for", pattern, self.expression(no_struct=True), self.block())
        if self.accept("while"):
            return ("while", self.condition(), self.block())
        if self.accept("return"):
            return ("return", None if self.peek() in (";", "}", ",", None) else self.expression())
        if token in ("|", "||", "move"):
            self.accept("move")
            parameters = []
            if not self.accept("||"):
                self.expect("|")
                parameters = self.listed("|", self.parameter)
            return ("closure", parameters, self.expression())
        if self.accept("<"):
            return self.path([self.qualified(), self.next()], no_struct)
        if kind != "id" or token in UNKNOWN:
            raise self.unknown("an unknown expression")
        return self.path([self.next()], no_struct)

    def condition(self):
        """Takes an expression or one `let`."""
        if self.accept("let"):
            pattern = self.pattern()
            self.expect("=")
            # Without `&&`, which could be followed by another `let`.
            return ("let", pattern, self.binary(2, True))
        return self.expression(no_struct=True)

    def arm(self):
        pattern = self.pattern()
        guard = self.expression() if self.accept("if") else None
        self.expect("=>")
        return pattern, guard, self.expression(statement=True)

    def parameter(self):
        pattern = self.pattern()
        if self.accept(":"):
            self.type()
        return pattern

    def path(self, names, no_struct):
        if self.peek() == "!" and self.peek(1) in CLOSING:
            self.next()
            return ("macro", names[-1], self.group())
        generics = []
        while self.accept("::"):
            if self.accept("<"):
                generics = self.generics()
            else:
                names.append(self.next())
        if not no_struct and names[-1][:1].isupper() and self.accept("{"):
            return ("struct", names, self.listed("}", self.field))
        return ("path", names, generics)

    def field(self):
        name = self.next()
        return name, self.expression() if self.accept(":") else ("path", [name], [])
