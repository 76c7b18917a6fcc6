"""Anchors: how evidence names code, so that it outlives moves, layout and new names of variables.

An anchor is a file, a function (`rust_source` says how it is named) and a statement's text, `code`; `place` says
which of how many it is in the function, and `alike`, where several have the same text, which of these. It still holds
- in a file of another name or place: the function is looked for in all files, and its module's name chooses among
  functions of one name;
- with other names of variables, functions or types: the statement at the same place of as many is the same one if it
  differs in names alone, and no old name is in the function any more;
- with other statements around it: its text is there as often as it was.
Where none of this tells which statement is meant, the anchor is lost, and what it stood for counts as new.
`anchored.py` lists all anchors of the repository.
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
    """Whether a file is one of the places, or in one that ends with a slash."""
    return any(path == place or place.endswith("/") and path.startswith(place) for place in places)


def module(path):
    """A file as a path of modules, without the folders of its crate."""
    parts = path.removesuffix(".rs").split("/")
    return [part for part in parts if part not in ("src", "mod", "lib")]


def common_end(one, other):
    """How many modules two paths have in common, from their ends."""
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
        """The one of some files whose modules are most like those of a file that moved; `None` if two are."""
        of = module(file)
        ranked = sorted(
            (common_end(of, module(path)), common_end(of[::-1], module(path)[::-1]), path) for path in paths
        )
        if not ranked or len(ranked) > 1 and ranked[-1][:2] == ranked[-2][:2]:
            return None
        return ranked[-1][2]

    def locate(self, file, name):
        """Where a function is now: its file and its name, or `None`."""
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
        # Its type may have another name.
        here = file if (self.root / file).is_file() else self.nearest(file, self.paths)
        if here and common_end(module(file), module(here)):
            items = [item for item in self.source(here).items if item.name.split("::")[-1] == name.split("::")[-1]]
            if len(items) == 1:
                return here, items[0].name
        return None


def names_in(source, item):
    """The names that an item has."""
    return {text for is_name, text in spelled(source.tokens[item.start : item.end]) if is_name}


def number_of(text):
    """`2/5` as two numbers."""
    one, of = text.split("/")
    return int(one), int(of)


def anchor(codes, index):
    """What tells one of some statements from the others."""
    row = {"code": codes[index], "place": f"{index + 1}/{len(codes)}"}
    same = [at for at, code in enumerate(codes) if words(code) == words(codes[index])]
    if len(same) > 1:
        row["alike"] = f"{same.index(index) + 1}/{len(same)}"
    return row


def align(row, codes, kept):
    """Which of these statements a row is about, and the names that became others; or `None`."""
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


# Text that takes the place of other text, for bugs.


def occurrences(source, start, end, wanted, kept=None):
    """Where tokens begin and end that are as wanted; with `kept`, up to names that nothing has any more."""
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
    """The file of a change, and its text with `after` in the place of `before`; or `None`, and what is wrong."""
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
    # A comma that layout has after the last token stays where it is.
    text = source.text[: first.start] + after + source.text[last.end :]
    if words(text) == words(source.text):
        return None, f"{at[0]}: {at[1]}: it changes nothing"
    return at[0], text


def apply(root, changes):
    """Makes changes in a copy. What its files were before, or `None` and what is wrong."""
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
    """Takes changes back. The files are new again, or cargo would not see it."""
    for path, contents in before.items():
        (Path(root) / path).write_bytes(contents)


def in_memory(tree, changes):
    """The files of some changes and their texts, or `None` and what is wrong."""
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
    """A bug from its file: `what`, `source`, `here`, `test` and a list of `change`."""
    told = tomllib.loads(path.read_text())
    for name in ["what", "source", "here", "test"]:
        if not isinstance(told.get(name), str):
            sys.exit(f"{path}: expected a text '{name}', found none")
    names = {"file", "function", "before", "after"}
    if not told.get("change") or any(set(change) != names for change in told["change"]):
        sys.exit(f"{path}: expected changes, each with {', '.join(sorted(names))}, found others")
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
    """Changes that keep anchors, and changes that must not."""
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
    print("anchors: 9 changes of a function, each judged as it must be")
