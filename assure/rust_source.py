"""Rust source as tokens, items and statements, so that evidence can name code without its layout.

An item is a function, a constant or a macro, named as `cargo mutants` names functions:
`Cmac<C>::tag_many`, `<impl Kernel for OneShot<'_, C>>::run`. A statement is the code between
semicolons and braces; an arm or a field is the code between commas. The head of an `if` is one
statement, and its block has others. Comments, layout and commas before a closing bracket do not
count.
"""

import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

TOKEN = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<comment>//[^\n]*)
    | (?P<block>/\*)
    | (?P<string>[bc]?r(?P<hashes>\#*)".*?"(?P=hashes) | [bc]?"(?:\\.|[^"\\])*")
    | (?P<char>b?'(?:\\(?:u\{[^}]*\}|x[0-9a-fA-F]{2}|.)|[^\\'\n])')
    | (?P<lifetime>'[A-Za-z_]\w*)
    | (?P<word>(?:r\#)?[A-Za-z_]\w*)
    | (?P<number>\d\w*(?:\.\d\w*)?)
    | (?P<mark><<=|>>=|\.\.\.|\.\.=|::|->|=>|==|!=|<=|>=|&&|\|\||\+=|-=|\*=|/=|%=|\^=|&=|\|=|<<|>>|\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)
OPEN, CLOSE = "([{", ")]}"
KEYWORDS = set(
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut"
    " pub ref return self Self static struct super trait true type union unsafe use where while _"
    " bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize macro_rules".split()
)
# Tokens that may precede an item.
BEFORE_ITEMS = {"{", "}", ";", "]", None}
PLACEHOLDER = re.compile(r"(\{\{|\{)([a-z_]\w*)(?=[:}])")


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int

    @property
    def is_name(self):
        return self.kind == "word" and self.text not in KEYWORDS


@dataclass
class Item:
    """A function, constant or macro, or the file itself with an empty name, as a range of tokens.
    Everything inside belongs to it, except for inner functions."""

    name: str
    start: int
    end: int
    depth: int = 0
    statements: list = field(default_factory=list)


@dataclass(frozen=True)
class Statement:
    """A range of tokens."""

    start: int
    end: int


def tokens(text):
    """Returns the tokens of a text, without comments."""
    at, found = 0, []
    while at < len(text):
        match = TOKEN.match(text, at)
        at = match.end()
        kind = match.lastgroup if match.lastgroup != "hashes" else "string"
        if kind == "block":
            depth = 1
            while depth and (more := re.compile(r"/\*|\*/").search(text, at)):
                depth += 1 if more[0] == "/*" else -1
                at = more.end()
        elif kind not in ("space", "comment"):
            found.append(Token(kind, match[0], match.start(), at))
    return without_last_commas(without_braces(found))


def without_braces(found):
    """Removes braces around the only expression of an arm or a closure, which the formatter adds.
    """
    stack, statements, drop = [], {}, {}
    for number, one in enumerate(found):
        if one.kind != "mark":
            continue
        if one.text in OPEN:
            stack.append(number)
        elif one.text == ";" and stack:
            statements[stack[-1]] = True
        elif one.text in CLOSE and stack:
            start = stack.pop()
            before = found[start - 1].text if start else None
            if (
                found[start].text == "{"
                and before in ("=>", "|", "||")
                and start not in statements
                and number > start + 1
            ):
                drop[start], drop[number] = None, before
    out = []
    for number, one in enumerate(found):
        if number not in drop:
            out.append(one)
        elif drop[number] == "=>" and number + 1 < len(found) and found[number + 1].text != ",":
            # Only a comma separates the arm from the next one.
            out.append(Token("mark", ",", one.start, one.start))
    return out


def without_last_commas(found):
    """Removes commas before a closing bracket, which the formatter adds."""
    return [
        one for one, after in zip(found, [*found[1:], None], strict=False)
        if not (one.text == "," and after is not None and after.text in CLOSE)
    ]  # fmt: skip


def joined(words):
    """Returns the name of a type as it is written: `OneShot<'_, C>`."""
    text = " ".join(words)
    text = re.sub(r" ?(::|<|>|\(|\)|\[|\]) ?", r"\1", text)
    text = re.sub(r"([&*]) ", r"\1", text)
    text = re.sub(r" ([,;:])", r"\1", text)
    return re.sub(r"([>)\]])(for|as)\b", r"\1 \2", re.sub(r"\b(for|as|dyn|mut)([(\[<&*])", r"\1 \2", text))


class Source:
    """A file of Rust source."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokens(text)
        self.starts = [one.start for one in self.tokens]
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.items = self.find_items()

    def word(self, number):
        return self.tokens[number].text if 0 <= number < len(self.tokens) else None

    @cached_property
    def partner(self):
        """Maps each opening bracket to its closing one."""
        stack, found = [], {}
        for number, one in enumerate(self.tokens):
            if one.kind == "mark" and one.text in OPEN:
                stack.append(number)
            elif one.kind == "mark" and one.text in CLOSE and stack:
                found[stack.pop()] = number
        return found

    def body(self, number, stops=("{", ";")):
        """Returns the first of `stops` after a token that is outside brackets."""
        while number < len(self.tokens):
            one = self.tokens[number]
            if one.kind == "mark" and one.text in stops:
                return number
            number = self.partner.get(number, number) + 1
        return len(self.tokens) - 1

    def begin_of_item(self, number):
        """Returns the first token of an item: its visibility is part of it, its attributes are not.
        """
        while self.word(number - 1) not in BEFORE_ITEMS and self.word(number - 1) != ",":
            number -= 1
        return number

    def impl_name(self, number, end):
        """Returns the name of an `impl`, which prefixes its methods."""
        number += 1
        if self.word(number) == "<":
            depth = 0
            while True:
                depth += {"<": 1, ">": -1, ">>": -2}.get(self.word(number), 0)
                number += 1
                if depth <= 0:
                    break
        words = [one.text for one in self.tokens[number:end]]
        if "where" in words:
            words = words[: words.index("where")]
        if "for" in words and words[words.index("for") + 1 :][:1] != ["<"]:
            return f"<impl {joined(words)}>"
        return joined(words)

    def find_items(self):
        """Finds all items, outer ones first. Their names include the enclosing items."""
        items = [Item("", 0, len(self.tokens))]
        self.scan(0, len(self.tokens), (), 1, items)
        self.find_statements(items)
        return items

    def scan(self, number, end, around, depth, items):
        while number < end:
            word, before = self.word(number), self.word(number - 1)
            after, name = self.word(number + 1), self.tokens[number + 1].text if number + 1 < end else ""
            is_item = before in BEFORE_ITEMS or before in ("unsafe", "pub", ")", "const", "async", "default")
            named = number + 1 < end and self.tokens[number + 1].kind == "word"
            if word in ("mod", "trait", "impl") and is_item and (named or word == "impl"):
                body = self.body(number)
                if self.word(body) == "{":
                    name = self.impl_name(number, body) if word == "impl" else name
                    stop = self.partner.get(body, end)
                    self.scan(body + 1, stop, (*around, name), depth, items)
                    number = stop + 1
                    continue
            elif word == "fn" and named:
                body = self.body(number)
                stop = self.partner.get(body, body)
                path = (*around, name)
                items.append(Item("::".join(path), self.begin_of_item(number), stop + 1, depth))
                if stop != body:
                    self.scan(body + 1, stop, path, depth + 1, items)
                number = stop + 1
                continue
            elif (
                depth == 1
                and word in ("const", "static")
                and before in (*BEFORE_ITEMS, "pub", ")")
                and named
                and after not in ("fn", "unsafe")
            ):
                if self.word(number + 2) in (":", "mut") or after == "mut":
                    name = self.word(number + 2) if after == "mut" else name
                    stop = self.body(number, (";",))
                    items.append(Item("::".join((*around, name)), self.begin_of_item(number), stop + 1, depth))
                    number = stop + 1
                    continue
            elif word == "macro_rules" and after == "!":
                stop = self.partner.get(number + 3, number + 3)
                items.append(Item("::".join((*around, f"{self.word(number + 2)}!")), number, stop + 1, depth))
                number = stop + 1
                continue
            number += 1

    def find_statements(self, items):
        """Assigns each statement to its innermost item."""
        owner = [0] * len(self.tokens)
        for index, item in enumerate(items):
            owner[item.start : item.end] = [index] * (item.end - item.start)
        brackets, start = [], 0

        def stop(number):
            if start < number:
                items[owner[start]].statements.append(Statement(start, number))

        for number, one in enumerate(self.tokens):
            is_inner = not brackets or brackets[-1] == "{"
            if number and owner[number] != owner[number - 1]:
                stop(number)
                start = number
            if one.kind != "mark":
                continue
            if one.text in "{};" and (one.text != ";" or is_inner) or one.text == "," and is_inner:
                stop(number)
                start = number + 1
            if one.text in OPEN:
                brackets.append(one.text)
            elif one.text in CLOSE and brackets:
                brackets.pop()
        stop(len(self.tokens))

    def offset(self, line, column):
        """Converts a place to an offset in the text. Line and column count from 1, columns in
        characters."""
        return self.lines[line - 1] + column - 1

    def token_at(self, offset):
        """Returns the token at an offset, or else the next one."""
        number = max(bisect_right(self.starts, offset) - 1, 0)
        return number + (self.tokens[number].end <= offset) if self.tokens else 0

    def item_at(self, offset):
        """Returns the innermost item around an offset."""
        number = self.token_at(offset)
        return [item for item in self.items if item.start <= number < item.end][-1]

    def code(self, statement):
        """Returns a statement in one line."""
        here = self.tokens[statement.start : statement.end]
        return one_line(self.text, here)

    def named(self, name):
        """Returns the items with this name."""
        return [item for item in self.items if item.name == name]


def one_line(text, here):
    """Joins tokens into one line, keeping single spaces."""
    out = []
    for before, one in zip([None, *here], here, strict=False):
        between = text[before.end : one.start] if before else ""
        between = re.sub(r"//[^\n]*|/\*.*?\*/|,", "", between, flags=re.DOTALL)
        spaced = between and not (before.text in "([" or one.text in ")]" or (one.text in ".?" and "\n" in between))
        out.append((" " if spaced else "") + one.text)
    return "".join(out)


def words(text):
    """Returns the words of a text. Names in format strings become separate words."""
    return spelled(tokens(text))


def spelled(some):
    """Returns the words of tokens."""
    return [one for parts in parts_of(some) for one in parts]


def parts_of(some):
    """Returns the words of each token. Names of fields, methods and functions are not renamable."""
    found = []
    for before, token, after in zip([None, *some], some, [*some[1:], None], strict=False):
        ahead, behind = before.text if before else None, after.text if after else None
        is_member = ahead in (".", "fn") or behind == ":" and ahead in (None, "{", ",", "(")
        found.append(pieces(token, "." if is_member else ""))
    return found


def pieces(token, mark=""):
    """Splits a token for comparison, into pairs: whether it is a name, and its text."""
    if token.kind != "string" or "{" not in token.text:
        return [(token.is_name, mark * token.is_name + token.text)]
    found, at = [], 0
    for match in PLACEHOLDER.finditer(token.text):
        if match[1] == "{":
            found += [(False, token.text[at : match.start(2)]), (True, match[2])]
            at = match.end()
    return [*found, (False, token.text[at:])]


def renaming(old, new, kept):
    """Returns a map of renamed names if the tokens differ only in names; `kept` are names that
    still exist."""
    if len(old) != len(new):
        return None
    names, back = {}, {}
    for (is_name, before), (is_name_now, now) in zip(old, new, strict=True):
        if is_name != is_name_now or not is_name and before != now:
            return None
        if is_name and (names.setdefault(before, now) != now or back.setdefault(now, before) != before):
            return None
    return names if all(old == new or old not in kept for old, new in names.items()) else None


def binders(source, item):
    """Returns the names of a function's variables."""
    found, not_sure = set(), set()
    here = range(item.start, item.end)
    head = next((number for number in here if source.word(number) == "fn"), None)
    if head is None:
        return found

    def pattern(start, end):
        number = start
        while number < end:
            one, after, before = source.tokens[number], source.word(number + 1), source.word(number - 1)
            if one.text == ":" and source.word(number - 1) and not is_field(number - 1):
                # Skip a type, up to the next comma.
                number = source.body(number, (",", ")", "=", "|")) - 1
            elif (
                one.is_name
                and one.text[0].islower()
                and after not in ("(", "::", "{", "!")
                and before not in ("::", ".")
            ):
                if not (after == ":" and is_field(number)):
                    found.add(one.text)
            number += 1

    def is_field(number):
        """Returns whether a name is in the braces of a struct."""
        return innermost.get(number) == "{"

    innermost, stack = {}, []
    for number in here:
        text = source.word(number) if source.tokens[number].kind == "mark" else ""
        if text and text in CLOSE and stack:
            stack.pop()
        innermost[number] = stack[-1] if stack else ""
        if text and text in OPEN:
            stack.append(text)
    parameters = source.body(head, ("(",))
    for number in range(parameters, source.partner.get(parameters, parameters)):
        if source.word(number + 1) == ":" and source.tokens[number].is_name:
            found.add(source.word(number))
    for number in here:
        text, before = source.word(number), source.word(number - 1)
        if text == "let":
            pattern(number + 1, min(source.body(number + 1, ("=", ";")), item.end))
        elif text == "for" and source.word(number + 1) != "<":
            body = source.body(number + 1, ("{",))
            pattern(number + 1, next((n for n in range(number + 1, body) if source.word(n) == "in"), number))
        elif text == "|" and before in ("(", ",", "=", "=>", "{", ";", "}", "return", "move", "||", "&&"):
            stop = next((n for n in range(number + 1, item.end) if source.word(n) == "|"), number)
            pattern(number + 1, stop)
        elif text == "=>":
            start = max((one.start for one in item.statements if one.start <= number), default=number)
            stop = next((n for n in range(start, number) if source.word(n) == "if"), number)
            pattern(start, stop)
    # If a field's name is also the variable's, renaming changes more than the variable.
    for number in here:
        if (
            source.word(number) in found
            and source.word(number - 1) in ("{", ",", "ref", "mut")
            and source.word(number + 1) in (",", "}")
        ):
            if innermost.get(number) == "{":
                not_sure.add(source.word(number))
    return found - not_sure


def imports(source):
    """Returns the names that `use` imports, and the numbers of its tokens."""
    names, numbers = set(), set()
    for number in range(len(source.tokens)):
        if source.word(number) == "use" and source.word(number - 1) in (*BEFORE_ITEMS, "pub", ")"):
            stop = source.body(number, (";",))
            numbers |= set(range(source.begin_of_item(number), stop + 1))
            for at in range(number + 1, stop):
                if (source.tokens[at].kind == "word" or source.word(at) == "*") and source.word(at + 1) in (
                    ",",
                    "}",
                    ";",
                ):
                    names.add(source.word(at))
    return names, numbers


def digest(text):
    """Returns a digest that does not depend on layout, comments, names of variables or the file's
    path."""
    source = Source(text)
    names, left_out = imports(source)
    local = [None] * len(source.tokens)
    for item in source.items[1:]:
        numbering = {}
        of_item = binders(source, item)
        for number in range(item.start, item.end):
            word = source.word(number)
            if source.tokens[number].kind == "string" and "{" in word:
                parts = pieces(source.tokens[number])
                local[number] = "".join(
                    f"${numbering.setdefault(text, len(numbering))}" if is_name and text in of_item else text
                    for is_name, text in parts
                )
            elif word in of_item and source.word(number - 1) not in (".", "::", "fn"):
                local[number] = f"${numbering.setdefault(word, len(numbering))}"
    out, number = [], 0
    while number < len(source.tokens):
        word = source.word(number)
        if number in left_out:
            number += 1
        elif word == "pub" and source.word(number + 1) == "(":
            number = source.partner[number + 1] + 1
        elif word == "pub":
            number += 1
        elif word in ("crate", "super", "self") and source.word(number + 1) == "::":
            # The path to an item changes when either of the two moves.
            number += 2
            while source.word(number + 1) == "::" and source.word(number)[0].islower():
                number += 2
        else:
            out.append(local[number] or word)
            number += 1
    return hashlib.sha256("\n".join([*sorted(names), "", *out]).encode()).hexdigest()[:16]
