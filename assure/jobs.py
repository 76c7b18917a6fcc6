"""The jobs of `scripts/assure`: how each runs, how much it must check, and what it shows."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    name: str
    what: str  # what is tested, in one line
    command: list  # a program of assure/, or a binary of the crate
    quick: int  # the minimum of checks in a quick run
    full: int
    claim: str  # what the job gives evidence for
    caveat: str  # what it cannot show
    levels: bool = False  # whether it checks on five levels, and less on CPUs with fewer
    builds: bool = False  # whether it builds everything that it needs
    compiles: bool = False  # whether it compiles everything again; `--quick` then runs it only by name
    full_only: tuple = ()  # planted bugs that are detected only in full runs

    def program(self, repo, target):
        first, *rest = self.command
        if first.endswith(".py"):
            return ["python3", str(Path(repo) / "assure" / first), *rest]
        if len(self.command) == 1:
            return [str(Path(target) / "release" / first)]
        return self.command


# Runs once before the jobs, unless all of them build what they need.
PREPARE = [
    ["scripts/need", "nettle-dev", "libssl-dev", "libsodium-dev", "libtomcrypt-dev", "pkgconf", "valgrind", "binutils", "qemu-user"],
    # Built apart from assure, as users build them: with assure the library would have threads.
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
        caveat="The levels of the recorded machine; lengths up to 4,096 bytes",
        levels=True,
    ),
    Job(
        "witnesses",
        "every MAC against implementations that share no code with it",
        ["witnesses"],
        quick=30_000,
        full=1_000_000,
        claim="Tags are those of the papers",
        caveat="For LightMAC, EliMAC, RC6 and PRESENT we know no independent library: the second "
        "implementations are ours, from the papers. UMAC of 1999 has only reference/",
    ),
    Job(
        "transcript",
        "tags on every level here and on other, emulated CPUs give one checksum",
        ["transcript.py"],
        quick=33_000,
        full=11_000_000,
        claim="Tags are the same on 32 and 64 bits, both byte orders, NEON, WebAssembly and a Cortex-M4",
        caveat="Under qemu and wasmtime, not on real machines of other kinds. AVX-512 and VAES run only on "
        "the recorded machine",
        levels=True,
    ),
    Job(
        "proofs",
        "z3 proofs over the source that the arithmetic matches its definitions and never overflows",
        ["python3", "assure/proofs"],
        quick=89,
        full=95,
        claim="For all inputs, doubling and halving, clamps, padding, masks, comparisons, offsets and "
        "counters match their definitions. Limbs and words never overflow in any number of steps. Reductions, "
        "POLY, L3-HASH and NH are those of RFC 4418, Poly1305 and the paper",
        caveat="Holds for the source as a model runs it, not for the compiled code. Vectors are modelled word by "
        "word, and only the doubling in the field is proved down to instructions (x86-64). "
        "The choice of functions at run time is not modelled",
    ),
    Job(
        "supply",
        "dependencies, bill of materials, interfaces, the papers' claims; in full runs, two builds in two folders",
        ["supply.py"],
        quick=3_200,
        full=3_201,
        claim="Shipped files are listed, come from crates.io under known licences, and keep their interfaces; "
        "each claim of the papers and of RFC 4418 has code and a test",
        caveat="Advisories are not read. The bill of materials lists what Cargo resolves, not what the linker "
        "keeps. Readers must judge whether a test shows its claim. Only full runs compare builds byte by byte, "
        "in two folders of one machine",
    ),
    Job(
        "faults",
        "every system call of the command fails once",
        ["faults"],
        quick=300,
        full=10_000,
        claim="The command exits with 0 only if its whole result exists and survives a power cut; "
        "otherwise it reports why and keeps the old file, and the next run succeeds",
        caveat="One fault per run, at the calls of 44 small examples on Linux for x86-64. A kernel that "
        "reports success for lost data is believed",
    ),
    Job(
        "crashes",
        "what a power cut may leave on the disk",
        ["crashes"],
        quick=400,
        full=10_000,
        claim="After a power cut at any moment, keys, manifests, ledgers, pins, partials, checkpoints and sidecars are "
        "complete, the old ones or the new ones. A pin has never seen more than was saved",
        caveat="The states come from a model: data that was not synced may be lost, torn or reordered. A disk "
        "that loses synced data is outside the model, and so is a second cut during recovery",
    ),
    Job(
        "ctime",
        "memcheck with secrets marked undefined, traces under many keys, and clocks",
        ["ctime"],
        quick=60_000,
        full=800_000,
        claim="Jumps, addresses and divisions never depend on a key, a sum or a tag. Memcheck shows this on "
        "portable, aesni and avx2, and equal traces on vaes and avx512. Clocks measure no difference",
        caveat="The code of one compiler, on the recorded CPU, which needs AVX-512. Not visible: frequencies and "
        "microcode that depend on data, speculation, copies on the stack and the C library; for traces, also keys "
        "that were not tried. RC6 multiplies and rotates by secrets. Clocks see nothing below their noise",
        levels=True,
    ),
    Job(
        "fuzz",
        "inputs guided by coverage, for all parsers and stateful types",
        ["fuzz.py"],
        quick=2_000_000,
        full=50_000_000,
        claim="No key file, list, manifest, partial, sidecar, checkpoint, saved stream or argument found causes a "
        "panic, an allocation of 192 MiB or a call of 20 seconds. Streams, edits, joined partials, C calls and "
        "kernels agree with a second way to the result",
        caveat="Covers only what these seeds reached in that time. Sealed texts are tried only under correct seals. "
        "Parsers are called from memory: files, threads, stores, Python and OpenSSL are not tested. Arguments are "
        "parsed but not run. C is called from Rust, with valid or null pointers",
        builds=True,
        compiles=True,
    ),
    Job(
        "memory",
        "guard pages, AddressSanitizer, debug assertions and, in full runs, MemorySanitizer around every MAC, level, length and call",
        ["memory.py"],
        quick=15_000_000,
        full=28_000_000,
        claim="Calls never access a byte outside their buffers, use freed memory, let uninitialised bytes "
        "decide anything, break a promise to the standard library's unsafe functions, or overflow a number",
        caveat="The code of two compilers on x86-64, at the lengths that were tried. These compilers and "
        "Debian lack Miri, so aliasing and provenance are not checked. Threads, Python, the Nettle names and the "
        "provider for OpenSSL are not called. Leaks are not looked for",
        levels=True,
        full_only=("bytes-never-written",),
        compiles=True,
    ),
    Job(
        "coverage",
        "lines and branches that tests run, of the code that verifies, dispatches and parses",
        ["coverage.py"],
        quick=3_000,
        full=4_500,
        claim="A test runs each line, and takes both sides of each branch, of the code that verifies, makes tags, "
        "parts, seals and bounds, chooses levels, and reads key files, lists, manifests, partials, sidecars and "
        "checkpoints. assure/uncovered.json lists the exceptions, each with a reason",
        caveat="On one CPU, without optimisation. Of generic code, one instance has to take a side of a branch. "
        "The arms of a match count as lines; code that only the compiler evaluates and examples of the documentation "
        "do not count. In a full run 98 % of the regions of the library, crates/files, the command and the C library "
        "must run, in tests or under the failing calls of the job `faults`. A line that runs may still be wrong",
        builds=True,
        compiles=True,
    ),
    Job(
        "mutation",
        "mutants of the MACs and of the code that accepts or refuses: a test must find each",
        ["mutation.py"],
        quick=3_000,
        full=3_000,
        claim="Tests find each mutant of the code that verifies, makes tags, parts, seals and bounds, chooses levels, "
        "and reads key files, lists and manifests. assure/survivors.json lists the exceptions, each with a reason",
        caveat="Mutants are those of `cargo mutants`: one place at a time, and outside macros. A full run tries "
        "only those of changed files, in minutes, and counts all. A mutant of a constant is found only if the "
        "compiler refuses it or a test checks the constant. Only tests that take seconds without optimisation run. "
        "In the MACs' own files (algo) tests must find 95 % of the mutants that can change a result. That the others "
        "cannot was judged by reading; readers can check the reasons",
        builds=True,
        compiles=True,
    ),
    Job(
        "bugs",
        "faults that other projects had, made again here: a named test must find each",
        ["bugs.py"],
        quick=6,
        full=71,
        claim="Tests find faults that similar projects had",
        caveat="One place for each fault, chosen by hand, built without optimisation. For two classes we "
        "found no report by another project. Three faults need x86-64, and one of them is found only on a CPU "
        "emulated by qemu",
        compiles=True,
    ),
    Job(
        "secrets",
        "memory after the last drop: heap, stack, processes with the C library, and the command when it ends",
        ["secrets"],
        quick=4_000,
        full=9_000,
        claim="Dropping a key, its streams, parts and sessions erases them from the heap and the stack. No 8 bytes of the "
        "key or of derived values (round keys, L, subkeys, NH and polynomial keys, sums) remain there",
        caveat="The code of one compiler on one CPU. Not seen: registers, stacks of other threads, and secrets that "
        "are masks of ones and zeros or keep fewer than 8 bytes together. Types of the library leave copies on the "
        "stack until `wipe_stack` is called. The job calls it, also before it moves values to the heap. Other "
        "orders of calls may leave copies elsewhere",
        levels=True,
    ),
    Job(
        "concurrency",
        "models in every order; up to 64 threads, forks and a C library opened and closed; in full runs, also under ThreadSanitizer",
        ["concurrency.py"],
        quick=45_000,
        full=1_000_000,
        claim="Threads that share a key, a budget, a session or the pool get correct tags and distinct nonces, and "
        "never exceed the budget. A forked child gets correct tags and never waits for its parent's threads",
        caveat="The models are written by hand from the sources, and their memory is sequentially consistent. "
        "ThreadSanitizer sees only races in the orders that ran, on one machine, in code of another compiler "
        "(Debian's, which has the standard library's source). The C library is linked so that it stays loaded",
        full_only=("race-on-a-count", "race-on-first-use"),
    ),
    Job(
        "forgeries",
        "altered messages, tags, nonces and files through every interface",
        ["forgeries.py"],
        quick=195_000,
        full=2_700_000,
        claim="Altered input is never accepted, and tag lengths never come from outside. Manifests, ledgers and pins "
        "that are older, of another chain or of a fork are refused",
        caveat="Alterations that the bounds allow are not looked for. Sidecars can be rolled back by design "
        "unless --expect names the tag. Sidecars, checkpoints, Python and OpenSSL have their own tests",
    ),
]
