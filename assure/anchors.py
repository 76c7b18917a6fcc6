"""Anchors: references from evidence to code that survive moves, layout changes and renames.

An anchor is a file, a function (named as in `rust_source`) and the text of a statement, `code`.
`place` is its position in the function, and `alike` its position in the list of statements with the
same text. An anchor still holds
- in a file that was renamed or moved: all files are searched for the function, and the module's
  name chooses among functions with the same name;
- after renames of variables, functions or types: the statement at the same place of the same number
  is taken if it differs only in names, and no old name is left in the function;
- with other statements around it, if its text occurs as often as before.
Otherwise the anchor is lost, and its subject counts as new. `anchored.py` checks all anchors of the
repository.
"""

import os
import re
import subprocess
import sys
import tomllib
from functools import cached_property
from pathlib import Path

import rust_source
from rust_source import Source, parts_of, pieces, renaming, spelled, words

ROOT = Path(__file__).resolve().parent.parent


def is_within(path, places):
    """Returns whether `path` is one of `places`, or is below one that ends with a slash."""
    return any(path == place or place.endswith("/") and path.startswith(place) for place in places)


def module(path):
    """Returns the module path of a file, without the folders of its crate."""
    parts = path.removesuffix(".rs").split("/")
    return [part for part in parts if part not in ("src", "mod", "lib")]


def common_end(one, other):
    """Returns the length of the common end of two module paths."""
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count


class Tree:
    """The Rust files of a copy of the repository."""

    def __init__(self, root=ROOT):
        self.root, self.sources = Path(root), {}

    @cached_property
    def paths(self):
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.rs"]
        ran = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE, check=True)
        names = [os.fsdecode(name) for name in ran.stdout.split(b"\0") if name]
        return sorted(name for name in names if (self.root / name).is_file() and not (self.root / name).is_symlink())

    def source(self, path):
        if path not in self.sources:
            self.sources[path] = Source((self.root / path).read_text())
        return self.sources[path]

    def has(self, path, name):
        return (self.root / path).is_file() and bool(self.source(path).named(name))

    def nearest(self, file, paths):
        """Returns the path with the modules most similar to those of `file`, which moved; `None` on
        a tie."""
        of = module(file)
        ranked = sorted(
            (common_end(of, module(path)), common_end(of[::-1], module(path)[::-1]), path) for path in paths
        )
        if not ranked or len(ranked) > 1 and ranked[-1][:2] == ranked[-2][:2]:
            return None
        return ranked[-1][2]

    def locate(self, file, name):
        """Returns the current file and name of a function, or `None`."""
        if self.has(file, name):
            return file, name
        if not name:
            here = self.nearest(file, self.paths)
            return (here, name) if here and common_end(module(file), module(here)) else None
        last = re.escape(name.split("::")[-1].removesuffix("!"))
        texts = [path for path in self.paths if re.search(rf"\b{last}\b", (self.root / path).read_text())]
        found = self.nearest(file, [path for path in texts if self.has(path, name)])
        if found:
            return found, name
        # Its type may have been renamed.
        here = file if (self.root / file).is_file() else self.nearest(file, self.paths)
        if here and common_end(module(file), module(here)):
            items = [item for item in self.source(here).items if item.name.split("::")[-1] == name.split("::")[-1]]
            if len(items) == 1:
                return here, items[0].name
        return None


def names_in(source, item):
    """Returns the names that occur in `item`."""
    return {text for is_name, text in spelled(source.tokens[item.start : item.end]) if is_name}


def number_of(text):
    """Parses `2/5` into two numbers."""
    one, of = text.split("/")
    return int(one), int(of)


def anchor(codes, index):
    """Returns the fields that identify one statement among `codes`."""
    row = {"code": codes[index], "place": f"{index + 1}/{len(codes)}"}
    same = [at for at, code in enumerate(codes) if words(code) == words(codes[index])]
    if len(same) > 1:
        row["alike"] = f"{same.index(index) + 1}/{len(same)}"
    return row


def align(row, codes, kept):
    """Finds the statement that `row` refers to. Returns it with the renamed names, or `None`."""
    wanted = words(row["code"])
    same = [at for at, code in enumerate(codes) if words(code) == wanted]
    which, of = number_of(row.get("alike", "1/1"))
    place, count = number_of(row["place"])
    if len(same) == of:
        return same[which - 1], {}
    if len(codes) == count:
        names = renaming(wanted, words(codes[place - 1]), kept)
        if names is not None:
            return place - 1, names
    return None


# Code replacement, for bugs.


def occurrences(source, start, end, wanted, kept=None):
    """Returns the token ranges equal to `wanted`; with `kept`, equal up to names that no longer
    occur."""
    length, found = len(wanted), []
    if not length:
        return found
    here = source.tokens[start:end]
    counts = [len(pieces(one)) for one in here]
    for at in range(len(here)):
        stop, count = at, 0
        while stop < len(here) and count < length:
            count += counts[stop]
            stop += 1
        if count == length:
            now = spelled(here[at:stop])
            names = {} if now == wanted else renaming(wanted, now, kept) if kept is not None else None
            if names is not None:
                found.append((start + at, start + stop, names))
    return found


def replaced(tree, change):
    """Applies `change` to its file's text. Returns the file and the new text, or `None` and the
    reason."""
    at = tree.locate(change["file"], change["function"])
    if at is None:
        return None, f"no function {change['function']} of {change['file']}"
    source = tree.source(at[0])
    items = source.named(at[1])
    wanted = words(change["before"])
    found = [one for item in items for one in occurrences(source, item.start, item.end, wanted)]
    if not found:
        found = [
            one for item in items
            for one in occurrences(source, item.start, item.end, wanted, names_in(source, item))
        ]  # fmt: skip
    if len(found) != 1:
        return None, f"{at[0]}: {at[1]}: {len(found) or 'no'} places with {change['before']!r}"
    start, stop, names = found[0]
    after = change["after"]
    parts = rust_source.tokens(after)
    for token, [(is_name, name), *_] in reversed(list(zip(parts, parts_of(parts), strict=True))):
        if is_name and token.is_name and name in names:
            after = after[: token.start] + names[name].removeprefix(".") + after[token.end :]
    first, last = source.tokens[start], source.tokens[stop - 1]
    # Keep a comma that the formatter put after the last token.
    text = source.text[: first.start] + after + source.text[last.end :]
    if words(text) == words(source.text):
        return None, f"{at[0]}: {at[1]}: the change has no effect"
    return at[0], text


def apply(root, changes):
    """Applies changes to a copy. Returns the old contents of its files, or `None` and the reason.
    """
    before = {}
    for change in changes:
        path, text = replaced(Tree(root), change)
        if path is None:
            revert(root, before)
            return None, text
        before.setdefault(path, (Path(root) / path).read_bytes())
        (Path(root) / path).write_text(text)
    return before, None


def revert(root, before):
    """Reverts changes. The files get a new time, so that cargo rebuilds them."""
    for path, contents in before.items():
        (Path(root) / path).write_bytes(contents)


def in_memory(tree, changes):
    """Returns the changed files and their new texts, or `None` and the reason."""
    changed = Tree(tree.root)
    changed.paths, changed.sources = tree.paths, dict(tree.sources)
    found = {}
    for change in changes:
        path, text = replaced(changed, change)
        if path is None:
            return None, text
        found[path] = text
        changed.sources[path] = Source(text)
    return found, None


def read_bug(path):
    """Reads a bug from its file: `what`, `source`, `here`, `test` and a list of `change`."""
    told = tomllib.loads(path.read_text())
    for name in ["what", "source", "here", "test"]:
        if not isinstance(told.get(name), str):
            sys.exit(f"{path}: '{name}' is missing or not a text")
    names = {"file", "function", "before", "after"}
    if not told.get("change") or any(set(change) != names for change in told["change"]):
        sys.exit(f"{path}: needs changes, each with only {', '.join(sorted(names))} as fields")
    return told


CODE = """
impl<T: Copy> Hash for Pair<T> {
    /// The sum of two.
    pub(crate) fn sum(&self, left: usize) -> usize {
        let right = self.right(left); // a comment
        if left > right && right != 0 {
            return Err(altered(left, right));
        }
        let Some(more) = self.more else { return 0 };
        match more {
            0 => left,
            _ => left + right,
        }
    }
}
"""


def self_test():
    """Tests changes that must keep an anchor, and changes that must lose it."""
    renamed = CODE.replace("right", "other").replace("self.other", "self.right")
    spread = CODE.replace("altered(left, right)", "altered(\n  left,\n  right,\n )").replace(
        "-> usize {", "-> usize\n{"
    )
    longer = CODE.replace("let Some(more)", "self.count();\n let Some(more)")
    twice = CODE.replace("let Some(more)", "if left > right && right != 0 {}\n let Some(more)")
    other = CODE.replace("left > right", "left >= right")
    call = CODE.replace("self.right(left)", "self.left(left)")
    same = rust_source.digest(CODE)
    anchored = "if left > right && right != 0"
    for name, text, holds, is_same in [
        ("itself", CODE, True, True),
        ("new name of a variable", renamed, True, True),
        ("other layout", spread, True, True),
        ("a comment", CODE.replace("a comment", "another"), True, True),
        ("one more statement", longer, True, False),
        ("another function is called", call, True, False),
        ("the same statement twice", twice, False, False),
        ("another operator", other, False, False),
        ("another function", CODE.replace("fn sum", "fn product"), False, False),
    ]:
        before, source = Source(CODE), Source(text)
        [item] = before.named("<impl Hash for Pair<T>>::sum")
        codes = [before.code(statement) for statement in item.statements]
        row = anchor(codes, codes.index(anchored))
        found = None
        for now in source.named("<impl Hash for Pair<T>>::sum"):
            found = align(row, [source.code(statement) for statement in now.statements], names_in(source, now))
        if (found is not None) != holds:
            sys.exit(
                f"anchors: self-test '{name}': expected {'an anchor that holds' if holds else 'none'}, found {found}"
            )
        if (rust_source.digest(text) == same) != is_same:
            sys.exit(f"anchors: self-test '{name}': expected {'the same' if is_same else 'another'} digest")
    print("anchors: 9 changes of a function judged correctly")
