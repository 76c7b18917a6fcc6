"""Compares the code in named files that never runs with the reasons in `assure/uncovered.json`."""

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from anchors import align, is_within, names_in
from products import REPO
from rust_source import one_line, renaming, words

REASONS = REPO / "assure" / "uncovered.json"
# The system's names for the CPU features of optional levels.
FLAGS = {
    "vaes": ["avx2", "aes", "vaes"],
    "avx512": ["avx512bw", "avx512ifma", "avx512vbmi", "avx512_vbmi2", "gfni", "vaes", "vpclmulqdq"],
}


def has_level(level):
    """Returns whether this CPU has a level; `None` is one that every CPU has."""
    return set(FLAGS.get(level, [])) <= set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text()))


@dataclass(frozen=True)
class Hole:
    """A statement that does not run, or a side of a branch in it that is never taken."""

    path: str
    line: int
    function: int  # the index of the item
    statement: int  # the statement's index in it
    part: str | None
    never: str | None

    @property
    def place(self):
        return self.path, self.function, self.statement


def holes_of(path, file, source):
    """Returns the number of lines and sides of a file, and its holes."""
    text, checked, holes = source.text.splitlines(), 0, defaultdict(list)
    where = {
        number: (index, which)
        for index, item in enumerate(source.items)
        for which, statement in enumerate(item.statements)
        for number in range(statement.start, statement.end)
    }
    line_of = [bisect_right(source.lines, start) for start in source.starts]
    by_line = defaultdict(list)
    for number, line in enumerate(line_of):
        by_line[line].append(number)
    zero = set()
    for number, count in sorted(file.lines.items()):
        if re.fullmatch(r"[\s\])};,]*", text[number - 1]):
            continue
        checked += 1
        if count == 0:
            zero.add(number)
    for line in sorted(zero):
        for number in by_line[line]:
            if number in where:
                holes[where[number]].append(number)
    found = []
    for (index, which), numbers in holes.items():
        statement = source.items[index].statements[which]
        # Lines without a counter, such as continued strings, count like their neighbours.
        if not any(file.lines.get(line_of[number], 0) > 0 for number in range(statement.start, statement.end)):
            found.append(Hole(path, line_of[numbers[0]], index, which, None, None))
            continue
        starts = [at for at, number in enumerate(numbers) if at == 0 or number > numbers[at - 1] + 1]
        for start, stop in zip(starts, [*starts[1:], None], strict=True):
            part = one_line(source.text, [source.tokens[number] for number in numbers[start:stop]])
            found.append(Hole(path, line_of[numbers[start]], index, which, part, None))
    for place, sides in sorted(file.branches.items()):
        checked += 2
        # If the line does not run, the line is the hole.
        if file.lines.get(place[0], 1) > 0:
            start = source.token_at(source.offset(*place[:2]))
            stop = source.token_at(source.offset(*place[2:4]) - 1) + 1
            part = one_line(source.text, source.tokens[start:stop])
            for side, count in zip(("true", "false"), sides, strict=True):
                if count == 0 and start in where:
                    found.append(Hole(path, place[0], *where[start], part, side))
    return checked, found


def find(tree, file, hole):
    """Returns the place of a reason's statement: the file, and the indices of function and
    statement."""
    at = tree.locate(file, hole["function"])
    if at is None:
        return None
    source = tree.source(at[0])
    for index, item in enumerate(source.items):
        if item.name == at[1]:
            codes = [source.code(statement) for statement in item.statements]
            found = align(hole, codes, names_in(source, item))
            if found:
                return at[0], index, found[0]
    return None


class Excuses:
    """The reasons, matched to the current code."""

    def __init__(self, reasons, tree):
        self.tree, self.rows, self.taken = tree, [], set()
        self.by_place = defaultdict(list)
        for reason in reasons:
            # With the level, its code must run like all other code; without it, the code may run or
            # not.
            here = not has_level(reason.get("level"))
            for hole in reason["holes"]:
                row = {"file": reason["file"], "reason": reason, "hole": hole, "used": here}
                row["place"] = find(tree, reason["file"], hole)
                self.rows.append(row)
                if row["place"] and (here or "level" not in reason):
                    self.by_place[row["place"]].append(row)

    def take(self, hole):
        """Returns the row for a hole, if no other hole uses it."""
        for row in self.by_place[hole.place]:
            never, part = row["reason"].get("never"), row["hole"].get("part")
            if id(row) in self.taken or never != hole.never:
                continue
            if part is None and (hole.part is None or never) or part is not None and alike(part, hole.part):
                self.taken.add(id(row))
                row["used"] = True
                return row
        return None

    def dead(self, row):
        """Returns the token range that only a never-taken side leads to."""
        path, index, which = row["place"]
        source, never = self.tree.source(path), row["reason"].get("never")
        statement = source.items[index].statements[which]
        first = source.word(statement.start)
        block = statement.end
        if "part" in row["hole"] or never is None:
            return None
        if never == "false" and first == "let":
            # Patterns contain braces, too.
            number = statement.start
            while source.word(number) not in ("else", ";", None):
                number = source.partner.get(number, number) + 1
            return (number + 1, source.partner[number + 1]) if source.word(number) == "else" else None
        if source.word(block) != "{":
            return None
        if first in ("if", "while") or (first, source.word(statement.start + 1)) == ("else", "if"):
            stop = source.partner[block]
            if never == "true":
                return block, stop
            if source.word(stop + 1) == "else" and source.word(stop + 2) == "{":
                return stop + 2, source.partner[stop + 2]
        return None


def alike(one, other):
    """Returns whether two texts differ only in names."""
    return other is not None and renaming(words(one), words(other), ()) is not None


def judge(files, named, reasons, tree):
    """Returns the number of checks, and the failures."""
    checked, failed = 0, []
    excuses = Excuses(reasons, tree)
    here = [row for rows in excuses.by_place.values() for row in rows]
    for row in excuses.rows:
        if not row["place"]:
            failed.append(f"{row['file']}: no such statement in {row['hole']['function']}: {row['hole']['code']}")
    dead = defaultdict(list)
    for row in here:
        if part := excuses.dead(row):
            dead[row["place"][0]].append(part)

    def is_dead(place):
        path, index, which = place
        number = tree.source(path).items[index].statements[which].start
        return any(start < number < end for start, end in dead[path])

    for path, file in sorted(files.items()):
        if not is_within(path, named):
            continue
        source = tree.source(path)
        count, holes = holes_of(path, file, source)
        checked += count
        not_run = {hole.place for hole in holes if hole.never is None}
        for hole in holes:
            if not excuses.take(hole) and not is_dead(hole.place):
                code = source.code(source.items[hole.function].statements[hole.statement])
                what = f"is never {hole.never}" if hole.never else "runs in no test"
                part = f" ({hole.part})" if hole.part and hole.part not in code else ""
                failed.append(f"{path}:{hole.line}: {what}: {code}{part}")
        for row in here:
            # Branches in a statement that does not run have no sides that run.
            row["used"] |= row["place"] in not_run and "never" in row["reason"]
    for row in here:
        if not row["used"] and is_within(row["place"][0], named) and not is_dead(row["place"]):
            kind = "branch" if row["reason"].get("never") else "line"
            failed.append(f"{row['place'][0]}: the {kind} runs, so its reason is stale: {row['hole']['code']}")
    return checked, failed
