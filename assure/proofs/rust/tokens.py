"""Splits Rust source into tokens: pairs of a kind and a text."""

import re

SUFFIX = r"(?:[ui](?:8|16|32|64|128|size))"
TOKEN = re.compile(
    rf"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<str>b?"(?:\\.|[^"\\])*")
      | (?P<char>b?'(?:\\.|[^'\\])')
      | (?P<life>'[A-Za-z_]\w*)
      | (?P<num>(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*?)(?:_?{SUFFIX})?(?![0-9A-Za-z_]))
      | (?P<id>[A-Za-z_]\w*)
      | (?P<op><<=|>>=|\.\.=|\.\.\.|::|->|=>|==|!=|<=|>=|&&|\|\||\+=|-=|\*=|/=|%=|\^=|&=|\|=|<<|>>|\.\.
              |[-+*/%^&|!<>=.,;:\#?@$(){{}}\[\]~])
    """,
    re.VERBOSE | re.DOTALL,
)
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Unsupported(Exception):
    """Code that the model does not support."""


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


def integer(token):
    """Returns a number's value and its type, if any: `0xff_u8` is 255 of u8."""
    digits, suffix = re.fullmatch(rf"(.*?)_?({SUFFIX})?", token).groups()
    return int(digits.replace("_", ""), 0), suffix
