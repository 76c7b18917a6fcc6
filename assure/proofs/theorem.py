"""Theorems: the claims that each makes about functions, and how they are passed to z3."""

from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import z3
from rust.evaluation import Frame, Stop
from rust.items import Source
from rust.machine import Machine
from rust.numbers import N, Poly
from rust.values import plain

ROOT = Path(__file__).resolve().parent.parent.parent
SRC = ROOT / "crates/tagmac/src"
THEOREMS = []


class Failed(Exception):
    pass


@dataclass
class Theorem:
    name: str
    says: str
    # Files, as `crates/...` for other crates and relative to crates/tagmac/src otherwise. The first
    # has the code that is proved.
    where: tuple
    level: str
    run: Callable


def theorem(name, says, where, *, level="quick", each=({},)):
    """Makes a theorem of a function, or one for each case, whose items fill in the texts and are
    arguments."""

    def add(run):
        for case in each:
            files = tuple(file.format(**case) for file in where)
            names = name.format(**case), says.format(**case)
            THEOREMS.append(Theorem(*names, files, level, lambda proof, case=case: run(proof, **case)))
        return run

    return add


class Case(Machine):
    """A machine with the claims that a theorem makes besides its goals."""

    def __init__(self, sources, chunk):
        super().__init__(sources, chunk)
        self.claims = []

    def claim(self, line, formula, lemma=False):
        """Adds a claim. A lemma helps to prove the claims after it."""
        formula = z3.BoolVal(formula) if isinstance(formula, bool) else formula
        self.claims.append((line, formula, lemma))

    def same(self, line, value, expected, modulus=None):
        """Claims that sums are equal, or congruent with a quotient that is passed to z3."""
        difference = self.sums.expanded(Poly.of(value) - Poly.of(expected))
        quotient = Poly({})
        if modulus is None:
            if difference.terms:
                raise Failed(f"{line}: differs by {shown(difference)}")
        else:
            wrong = Poly({m: c for m, c in difference.terms.items() if c % modulus})
            if any(len(m) != 1 or self.sums.ends[m[0]][0] for m in wrong.terms):
                raise Failed(f"{line}: differs mod p by {shown(wrong)}")
            for (name,) in wrong.terms:
                # Proved first to be zero: the part that an overflow would lose.
                self.claim(f"{line}: nothing is lost", z3.Int(name) == 0, lemma=True)
            quotient = difference - wrong
        linear = self.sums.linear
        self.claim(line, linear(value) == linear(Poly.of(expected) + quotient))

    def below(self, line, number, end):
        self.claim(line, self.sums.linear(plain(number).v) < end)

    def atom(self, t, name, most, least=0):
        """Returns an unknown number as a sum."""
        return N(t, self.sums.atom(name, least, most))

    def read(self, name, **types):
        """Returns a constant of the source."""
        return self.path(name.split("::"), [], Frame(self.sources[0], types)).v

    def until(self, name, *function, **options):
        """Runs a function up to `let name` and returns its variables."""
        self.stop_at = name
        try:
            self.run(*function, **options)
        except Stop as stop:
            return stop.names
        raise Failed(f"{function[1]} has no `{name}`")

    def rest(self, name, owner, function, types, variables):
        """Runs a function from `let name` on, with these variables."""
        function = self.find(owner, function)
        return self.eval(function.rest(name), Frame(function.source, types, [variables]))


class Proof:
    """The proof of one theorem: its machines, and what it shares with others."""

    def __init__(self, where, texts, timeout, invariants, notes):
        self.where, self.texts, self.timeout = where, texts, timeout
        self.invariants, self.notes = invariants, notes
        self.machines, self.goals, self.solved = [], 0, 0

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = (ROOT / file if file.startswith("crates/") else SRC / file).read_text()
        return self.texts[file]

    def machine(self, chunk=None):
        self.machines.append(Case([Source(file, self.text(file)) for file in self.where], chunk))
        return self.machines[-1]

    def solve(self):
        for machine in self.machines:
            self.solve_one(machine)
        if not self.goals:
            raise Failed("nothing was proved")

    def solve_one(self, machine):
        goals = [(*goal, False) for goal in machine.goals] + machine.claims
        facts = machine.sums.facts() + machine.assumed
        solver = z3.Solver()
        solver.set("timeout", self.timeout)
        solver.set("random_seed", 1)
        solver.add(facts)
        # Keyed by z3's number, which is reused once a formula is freed: so it is kept.
        seen = {}
        for line, formula, lemma in goals:
            self.goals += 1
            formula = z3.simplify(formula)
            if z3.is_true(formula) or formula.get_id() in seen:
                continue
            seen[formula.get_id()] = formula
            self.solved += 1
            if z3.is_false(formula):
                raise Failed(f"{line}: is false")
            solver.push()
            solver.add(z3.Not(formula))
            answer = solver.check()
            if answer == z3.sat:
                raise Failed(f"{line}: fails for {example(solver.model())}")
            if answer != z3.unsat:
                raise Failed(f"{line}: z3 cannot decide it: {solver.reason_unknown()}")
            solver.pop()
            if lemma:
                solver.add(formula)
        # Contradictory facts would prove anything.
        if facts and solver.check() != z3.sat:
            raise Failed("the assumptions may contradict each other")


def shown(poly):
    terms = sorted(poly.terms.items())[:4]
    return " + ".join(f"{c:#x} {'*'.join(m)}" for m, c in terms)


def example(model):
    values = sorted((str(d), str(model[d])) for d in model.decls() if d.arity() == 0)
    return ", ".join(f"{name} = {value}" for name, value in values[:8])
