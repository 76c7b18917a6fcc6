"""The jobs of `scripts/assure`: how each is run, what it must have checked, and what it shows."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    name: str
    what: str  # what is tried, in a line
    command: list  # a program of assure/, or a binary of the crate
    quick: int  # checks at least, in a quick run
    full: int
    claim: str  # what the job gives evidence of
    caveat: str  # and what it cannot show
    levels: bool = False  # whether the checks are those of five levels, and fewer on lesser CPUs
    builds: bool = False  # whether it builds all that it needs itself
    full_only: tuple = ()  # planted bugs whose detectors take part in full runs alone

    def program(self, repo, target):
        first, *rest = self.command
        if first.endswith(".py"):
            return ["python3", str(Path(repo) / "assure" / first), *rest]
        if len(self.command) == 1:
            return [str(Path(target) / "release" / first)]
        return self.command


# Run once before the jobs, unless all of them build what they need.
PREPARE = [
    ["scripts/need", "nettle-dev", "libssl-dev", "libsodium-dev", "libtomcrypt-dev", "pkgconf", "valgrind", "binutils", "qemu-user"],
    # As users build them: apart from assure, with which the library has threads.
    ["cargo", "build", "--quiet", "--release", "--locked"]
    + ["-p", "tagmac-cli", "-p", "tagmac-capi", "-p", "tagmac-nettle", "-p", "tagmac-nettle4"]
    + ["-p", "tagmac-ossl"],
    ["cargo", "build", "--quiet", "--release", "--locked", "-p", "assure"],
]

JOBS = [
    Job(
        "kernels",
        "every MAC, level, length, alignment, cut and batch gives one tag",
        ["kernels"],
        quick=2_500_000,
        full=100_000_000,
        claim="All levels of a CPU compute one function, however a message is cut or called",
        caveat="The levels of the machine in the record; lengths up to 4,096 bytes. That the function "
        "is the right one is the next row",
        levels=True,
    ),
    Job(
        "witnesses",
        "every MAC against implementations that share no code with it",
        ["witnesses"],
        quick=30_000,
        full=1_000_000,
        claim="Tags are those of the papers",
        caveat="LightMAC, EliMAC, RC6 and PRESENT have no independent library that we know: their "
        "witnesses were written here from the papers. UMAC of 1999 has reference/ alone",
    ),
    Job(
        "transcript",
        "tags on every level here and, emulated, on other CPUs fold into one number",
        ["transcript.py"],
        quick=33_000,
        full=11_000_000,
        claim="Tags are the same on 32 and 64 bits, both byte orders, NEON, WebAssembly and a Cortex-M4",
        caveat="Under qemu and wasmtime: no real machine of another kind was used. AVX-512 and VAES run on "
        "the machine in the record alone, since qemu has no right VAES",
    ),
    Job(
        "forgeries",
        "altered messages, tags, nonces and files through every door",
        ["forgeries.py"],
        quick=150_000,
        full=1_000_000,
        claim="Nothing that was altered is accepted, and no tag length is taken from outside",
        caveat="Alterations that the bounds allow are not looked for. Sidecars are rolled back by design "
        "unless --expect names the tag. Python and OpenSSL have their own tests for this",
    ),
    Job(
        "proofs",
        "z3 proofs, over the source itself, that the arithmetic is what it is defined to be and never overflows",
        ["python3", "assure/proofs"],
        quick=87,
        full=93,
        claim="For all inputs: doubling and halving, clamps, padding, masks, comparisons, offsets and "
        "counters are their definitions; limbs and words never overflow, step after step; reductions, "
        "POLY, L3-HASH and NH are RFC 4418's, Poly1305's and the paper's",
        caveat="Of the source as a model runs it, not of what the compiler makes of it. A word of a "
        "vector is modelled as a word, and only the field's doubling is proved down to instructions "
        "(x86-64). Which function runs when is not modelled",
    ),
    Job(
        "supply",
        "dependencies, bill of materials, interfaces, the ledger of claims; in full, two builds in two folders",
        ["supply.py"],
        quick=3_200,
        full=3_201,
        claim="What is shipped is listed, comes from crates.io under known licences, and keeps its interfaces; "
        "each claim of the papers and of RFC 4418 has code and a test",
        caveat="Advisories are not read. The bill says what Cargo resolves, not what the linker keeps. That a "
        "claim's test shows the claim is for readers to judge. That a build can be repeated byte by byte is "
        "compared in a full run alone, in two folders of one machine",
    ),
    Job(
        "faults",
        "every system call of the command fails once",
        ["faults"],
        quick=300,
        full=10_000,
        claim="The command exits with 0 only if its whole result is there and outlives a power cut; "
        "otherwise it says why, keeps the old file, and the next run succeeds",
        caveat="One fault in a run, at the calls of 40 small examples on Linux for x86-64. A kernel that "
        "reports success for what it lost is believed",
    ),
    Job(
        "crashes",
        "what a power cut may leave on the disk",
        ["crashes"],
        quick=400,
        full=10_000,
        claim="After a power cut at any moment, keys, manifests, partials, checkpoints and sidecars are the "
        "old ones or the new ones, and whole",
        caveat="States of a model: what was not synced may be lost, torn or in another order. A disk that "
        "loses what was synced is outside of it, and so is a second cut in the recovery",
    ),
    Job(
        "ctime",
        "memcheck with secrets undefined, traces under many keys, and clocks",
        ["ctime"],
        quick=60_000,
        full=800_000,
        claim="No jump, no address and no division depends on a key, a sum or a tag: by memcheck on "
        "portable, aesni and avx2, by equal traces on vaes and avx512, and no clock sees a difference",
        caveat="One compiler's code, on the CPU of the record, which needs AVX-512. Not seen: frequencies and "
        "microcode that data decides, speculation, copies on the stack, the C library, and in traces keys "
        "that were not tried. RC6 multiplies and rotates by secrets. Clocks see nothing below their noise",
        levels=True,
    ),
    Job(
        "fuzz",
        "inputs that coverage guides, into all that parses or has state",
        ["fuzz.py"],
        quick=2_000_000,
        full=50_000_000,
        claim="No input that was found panics, asks for 192 MiB or takes 20 seconds, in key files, lists, manifests, "
        "partials, sidecars, checkpoints, saved streams and arguments; streams, edits, joined partials, C calls and "
        "kernels agree with a second way to the result",
        caveat="What was reached in that time from these seeds. Texts under seals are tried under right seals. "
        "Parsers are called from memory: files, threads, stores, Python and OpenSSL are not tried. Arguments are parsed, "
        "and nothing is run. C is called from Rust, with pointers that are right or null",
        builds=True,
    ),
    Job(
        "memory",
        "guard pages, AddressSanitizer, debug assertions and, in full, MemorySanitizer around every MAC, level, length and call",
        ["memory.py"],
        quick=15_000_000,
        full=28_000_000,
        claim="No call reads or writes a byte outside of the buffers that it was given, uses memory that is "
        "free, lets bytes that nobody wrote decide anything, breaks what the standard library's unsafe "
        "functions ask for, or overflows a number",
        caveat="Two compilers' code on x86-64, at the lengths that were tried. Miri is neither in these "
        "compilers nor in Debian: aliasing and provenance are not checked. "
        "Threads, Python, the names of Nettle and the provider for OpenSSL are not called; leaks are not "
        "looked for",
        levels=True,
        full_only=("bytes-never-written",),
    ),
    Job(
        "coverage",
        "the lines that tests run, and the branches they take, of what verifies, dispatches and parses",
        ["coverage.py"],
        quick=3_000,
        full=4_500,
        claim="Each line of what verifies, makes tags, parts, seals and bounds, chooses levels, and reads key files, "
        "lists, manifests, partials, sidecars and checkpoints runs in a test, and each branch there is taken and "
        "not taken, but for those that assure/uncovered.json has with a reason",
        caveat="On one CPU, without optimisation. A side of a branch that is taken for one choice of types counts for "
        "all. The arms of a match have no branches but lines, and what the compiler alone evaluates is not counted. "
        "In a full run 98 % of the regions of the library, crates/files, the command and the C library must run, in "
        "tests or where calls fail as the job `faults` lets them. Examples of the documentation do not count. That a "
        "line runs does not show that a test would notice if it were wrong",
        builds=True,
    ),
    Job(
        "mutation",
        "mutants of what decides what is accepted, and of the MACs: a test must find each",
        ["mutation.py"],
        quick=3_000,
        full=3_000,
        claim="Tests find each mutant of what verifies, makes tags, parts, seals and bounds, chooses levels, and reads "
        "key files, lists and manifests, but for those that assure/survivors.json has with a reason",
        caveat="What `cargo mutants` changes, one place at a time, and nothing within macros. Mutants in constants, "
        "which the compiler evaluates, are found only where it refuses them or a test that holds the constant; the others "
        "count as not found. Tests are those that take seconds without optimisation. Of the MACs' own files (algo) "
        "95 % must be found of mutants that can change a result: that the others cannot is what people read in the "
        "code, with the reason, which is for readers to judge",
        builds=True,
    ),
    Job(
        "bugs",
        "faults that other projects had, made again here: a named test must find each",
        ["bugs.py"],
        quick=6,
        full=71,
        claim="Tests find the faults that other projects of this kind had",
        caveat="One place for each fault, chosen by hand, built without optimisation. Two classes have no "
        "thread that we found. Three faults are of x86-64 alone, and one of them is found by a CPU of qemu's",
    ),
    Job(
        "secrets",
        "memory after the last drop: heap, stack, processes with the C library, and the command at its end",
        ["secrets"],
        quick=4_000,
        full=9_000,
        claim="After a key, its streams, parts and sessions are dropped, no 8 bytes of the key or of what was made "
        "from it (round keys, L, subkeys, NH and polynomial keys, sums) are on the heap or on the stack",
        caveat="One compiler's code on one CPU. Not seen: registers, other threads' stacks, and secrets of which "
        "fewer than 8 bytes stay together or that are masks of ones and zeros. Types of the library leave copies "
        "on the stack until `wipe_stack` is called, which the job does, also before values go to the heap. A "
        "scenario is what the job makes of it: other orders of calls may leave copies elsewhere",
        levels=True,
    ),
    Job(
        "concurrency",
        "models in every order; up to 64 threads, forks and a C library opened and closed; in full, also under ThreadSanitizer",
        ["concurrency.py"],
        quick=45_000,
        full=1_000_000,
        claim="Threads that share a key, a budget, a session or the pool get right tags, nonces that differ and no "
        "more than the budget; a forked child gets right tags and waits for nobody",
        caveat="The models are written by hand from the sources, and their memory is sequentially consistent. "
        "ThreadSanitizer sees races in the orders that ran, on one machine, in code of another compiler (Debian's, "
        "which has the standard library's source). The C library is linked so that it stays loaded",
        full_only=("race-on-a-count", "race-on-first-use"),
    ),
]
