"""`tagmac.fsspec.VerifiedFileSystem` over stores that are honest, and over stores that are not."""

import errno
import io
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

import tagmac
from tagmac.fsspec import VerifiedFileSystem
from tagmac.fsspec.stored import LocalFile

LEAF = 4096
SIZES = {"a": 300_000, "b": 300_000, "d/c": 50_000, "d/e/f": 1, "empty": 0, "large": 3_000_000}


class Store(LocalFileSystem):
    """Counts requests. `answer` changes what it returns."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, int, int]] = []
        self.answer = lambda path, start, end, data: data

    def cat_file(self, path, start=None, end=None, **options):
        self.asked.append((path.rsplit("/", 1)[-1], start, end))
        data = super().cat_file(path, start=start, end=end, **options)
        return self.answer(path, start, end, data)


@pytest.fixture(scope="module")
def contents():
    return {name: random.Random(name).randbytes(size) for name, size in SIZES.items()}


@pytest.fixture
def tree(tmp_path, contents):
    root = tmp_path / "t"
    for name, data in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "link").symlink_to("a")
    return root


@pytest.fixture
def sealed(tree, tmp_path):
    """The options of a file system over the tree."""
    key = tagmac.Key.generate()
    key.save(tmp_path / "k")
    tagmac.seal(tree, key, tmp_path / "m", leaves=LEAF, mtime=True)
    ref = tagmac.KeyRef.file(tmp_path / "k")
    return {"manifest": str(tmp_path / "m"), "key": ref, "root": str(tree)}


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def fs(store, sealed):
    return VerifiedFileSystem(store, **sealed)


def test_names_and_sizes_come_from_the_manifest(fs, store, tree, contents):
    root = str(tree)
    # Of the store, nothing else is asked than bytes.
    (tree / "new").write_bytes(b"added")
    (tree / "a").unlink()
    (tree / "b").write_bytes(b"cut")
    (tree / "d" / "c").rename(tree / "d" / "g")
    names = [*contents, "link"]
    assert fs.find(root) == sorted(f"{root}/{name}" for name in names)
    assert fs.find(f"{root}/d") == [f"{root}/d/c", f"{root}/d/e/f"]
    assert fs.find(f"{root}/d/c") == [f"{root}/d/c"]
    top = sorted(f"{root}/{name}" for name in names if "/" not in name)
    assert fs.find(root, maxdepth=1) == top
    assert f"{root}/d/e" in fs.find(root, withdirs=True)
    assert fs.find(f"{root}/none") == []
    assert sorted(fs.ls(root, detail=False)) == sorted(
        f"{root}/{name}" for name in ("a", "b", "d", "empty", "large", "link")
    )
    assert fs.glob(f"{root}/d/**") == [f"{root}/d", f"{root}/d/c", f"{root}/d/e", f"{root}/d/e/f"]
    assert fs.glob(f"{root}/*a*") == [f"{root}/a", f"{root}/large"]
    walked = [(path.removeprefix(root), dirs, files) for path, dirs, files in fs.walk(f"{root}/d")]
    assert walked == [("/d", ["e"], ["c"]), ("/d/e", [], ["f"])]
    assert list(fs.walk(f"{root}/none")) == []
    assert fs.du(root) == sum(map(len, contents.values()))
    for name, data in contents.items():
        path = f"{root}/{name}"
        assert fs.exists(path)
        assert fs.isfile(path)
        assert not fs.isdir(path)
        assert fs.size(path) == len(data)
        assert fs.info(path)["type"] == "file"
        assert fs.ls(path) == [fs.info(path)]
    assert fs.isdir(root)
    assert fs.isdir(f"{root}/d/")
    assert fs.info(f"{root}/link") == {
        "name": f"{root}/link", "size": 0, "type": "link", "destination": "a",
        "mtime": fs.info(f"{root}/link")["mtime"],
    }  # fmt: skip
    for name in ("new", "d/g", "none", "d/../a", "a/b", "../m"):
        path = f"{root}/{name}"
        if name != "d/../a":  # the store's paths have no dots
            assert not fs.exists(path)
            for call in (fs.info, fs.ls, fs.open, fs.cat_file):
                with pytest.raises(FileNotFoundError):
                    call(path)
    for path in ("/", "/etc/passwd", f"{root}x", str(tree.parent)):
        assert not fs.exists(path)
    for path, error in ((root, IsADirectoryError), (f"{root}/d", IsADirectoryError)):
        with pytest.raises(error):
            fs.open(path)
    with pytest.raises(OSError, match="expected a file, found a link"):
        fs.open(f"{root}/link")
    assert store.asked == []
    assert fs.ukey(f"{root}/a") != fs.ukey(f"{root}/b")
    assert fs.checksum(f"{root}/a") != fs.checksum(f"{root}/b")
    when = (tree / "d/e/f").stat().st_mtime
    assert fs.modified(f"{root}/d/e/f").timestamp() == pytest.approx(when, abs=1e-5)


@pytest.mark.parametrize("kind", [Store, LocalFileSystem])
def test_every_range(kind, sealed, tree, contents):
    fs, some = VerifiedFileSystem(kind(), **sealed), random.Random(1)
    for name, data in contents.items():
        path, size = f"{tree}/{name}", len(data)
        assert fs.cat_file(path) == data
        assert fs.read_bytes(path) == data
        bounds = ((-5, None), (None, -5), (5, 3), (size, size + 9), (2**70, None), (-(2**70), 2))
        for start, end in bounds:
            assert fs.cat_file(path, start, end) == data[start:end]
        with fs.open(path) as file:
            plain = io.BytesIO(data)
            for _ in range(100):
                at, count = some.randrange(size + 2), some.choice([0, 1, 10, LEAF, 100_000])
                if some.random() < 0.3:
                    assert file.seek(at) == plain.seek(at)
                assert file.read(count) == plain.read(count)
                assert file.read_at(at, count) == data[at : at + count]
            file.seek(0)
            assert file.read() == data
            assert file.info() == fs.info(path)
        with fs.open(path, "r", encoding="latin-1", newline="") as file:
            assert file.read() == data.decode("latin-1")
        assert fs.head(path, 10) == data[:10]
        assert fs.tail(path, 10) == data[-10:]
        assert fs.read_block(path, 3, 20) == data[3:23]
    assert fs.cat([f"{tree}/a", f"{tree}/d/c"]) == {
        f"{tree}/a": contents["a"], f"{tree}/d/c": contents["d/c"],
    }  # fmt: skip


def test_requests_are_joined_and_leaves_are_asked_for_once(fs, store, tree, contents):
    leaf = fs.manifest.content("a").leaf_size
    fs.cat_file(f"{tree}/a", 10 * leaf + 5, 13 * leaf)
    assert store.asked == [("a", 10 * leaf, 13 * leaf)]
    fs.cat_file(f"{tree}/a", 9 * leaf, 14 * leaf)
    assert store.asked[1:] == [("a", 9 * leaf, 10 * leaf), ("a", 13 * leaf, 14 * leaf)]
    store.asked.clear()
    ranges = [("a", 0, 10), ("a", 5, leaf + 1), ("b", 0, 9), ("a", 5 * leaf, 6 * leaf)]
    ranges.append(("a", 20, 30))
    paths = [f"{tree}/{name}" for name, _, _ in ranges]
    found = fs.cat_ranges(paths, [start for _, start, _ in ranges], [end for _, _, end in ranges])
    assert found == [contents[name][start:end] for name, start, end in ranges]
    assert sorted(store.asked) == [("a", 0, 2 * leaf), ("a", 5 * leaf, 6 * leaf), ("b", 0, leaf)]
    store.asked.clear()
    # Small sequential reads ask for ever more, random ones for what they need.
    with fs.open(f"{tree}/large") as file:
        while file.read(1000):
            pass
    assert len(store.asked) < 15
    assert sum(end - start for _, start, end in store.asked) == len(contents["large"])
    store.asked.clear()
    with fs.open(f"{tree}/large") as file:
        for number in range(0, 700, 50):
            file.seek(number * leaf)
            assert file.read(10) == contents["large"][number * leaf :][:10]
    assert sum(end - start for _, start, end in store.asked) <= 14 * leaf


def test_the_cache_is_bounded(store, sealed, tree, contents):
    fs = VerifiedFileSystem(store, **sealed, cache_bytes=10 * LEAF)
    for name in ("a", "large", "a", "b"):
        for at in range(0, 100_000, 1000):
            assert fs.cat_file(f"{tree}/{name}", at, at + 9) == contents[name][at : at + 9]
            assert fs._store.cache.bytes <= 10 * LEAF
            pieces = fs._store.cache._pieces.values()
            assert fs._store.cache.bytes == sum(len(data) for data, _ in pieces)
            assert len(fs._store.cache._first) == sum(len(leaves) for _, leaves in pieces)
    fs = VerifiedFileSystem(store, **sealed, cache_bytes=0)
    assert fs.cat_file(f"{tree}/large", 5) == contents["large"][5:]
    assert len(fs._store.cache._pieces) == 1


def test_threads_share_a_file_system(store, sealed, tree, contents):
    fs = VerifiedFileSystem(store, **sealed, cache_bytes=20 * LEAF)
    file = fs.open(f"{tree}/large")
    store.answer = changed_at(1_000_000)

    def read(seed):
        some = random.Random(seed)
        for _ in range(200):
            at, count = some.randrange(3_000_000), some.choice([1, 5000, 30_000])
            expected = contents["large"][at : at + count]
            for get in (
                lambda at=at, count=count: file.read_at(at, count),
                lambda at=at, count=count: fs.cat_file(f"{tree}/large", at, at + count),
            ):
                try:
                    if get() != expected:
                        return f"{at} {count}"
                except tagmac.InvalidTag:
                    if not at - LEAF < 1_000_000 < at + count + LEAF:
                        return f"{at} {count}: refused"
        return None

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(read, range(8))] == [None] * 8
    assert fs._store.cache.bytes <= 20 * LEAF


def changed_at(at):
    """An answer with a changed byte, if it has the byte at this offset of the file."""

    def answer(_path, start, end, data):
        if start <= at < end:
            data = bytearray(data)
            data[at - start] ^= 1
            return bytes(data)
        return data

    return answer


def test_a_store_that_changes_a_byte(fs, store, tree, contents):
    leaf = fs.manifest.content("a").leaf_size
    store.answer = changed_at(5 * leaf + 1)
    path = f"{tree}/a"
    with pytest.raises(tagmac.InvalidTag, match="a: bytes"):
        fs.cat_file(path)
    # Other leaves of the same request are good.
    found = fs.cat_ranges([path] * 3, [0, 5 * leaf, 6 * leaf], [5 * leaf, 5 * leaf + 1, 7 * leaf])
    assert found[0] == contents["a"][: 5 * leaf]
    assert isinstance(found[1], tagmac.InvalidTag)
    assert found[2] == contents["a"][6 * leaf : 7 * leaf]
    with pytest.raises(tagmac.InvalidTag):
        fs.cat_ranges([path], [5 * leaf], [6 * leaf], on_error="raise")
    with fs.open(path) as file:
        assert file.read(5 * leaf) == contents["a"][: 5 * leaf]
        with pytest.raises(tagmac.InvalidTag):
            file.read(1)
    # No bad leaf is kept, and it is read again.
    store.answer = lambda path, start, end, data: data
    assert fs.cat_file(path) == contents["a"]


ANSWERS = {
    "off by one": lambda data, _: b"\0" + data[:-1],
    "one byte less": lambda data, _: data[:-1],
    "one byte more": lambda data, _: data + b"\0",
    "nothing": lambda data, _: b"",
    "all bytes": lambda _, path: open(path, "rb").read(),
    "zeros": lambda data, _: bytes(len(data)),
    "another file": lambda data, path: open(path.replace("/a", "/b"), "rb").read()[: len(data)],
    "other answers each time": lambda data, _: random.randbytes(len(data)),
}


@pytest.mark.parametrize("attack", ANSWERS)
@pytest.mark.parametrize("bounds", [(0, 1), (LEAF * 3 + 1, LEAF * 9), (299_000, 300_000)])
def test_a_store_that_answers_wrongly(fs, store, tree, attack, bounds):
    store.answer = lambda path, start, end, data: ANSWERS[attack](data, path)
    for _ in range(2):
        with pytest.raises(tagmac.InvalidTag):
            fs.cat_file(f"{tree}/a", *bounds)
        [found] = fs.cat_ranges([f"{tree}/a"], [bounds[0]], [bounds[1]])
        assert isinstance(found, tagmac.InvalidTag)
        with fs.open(f"{tree}/a") as file:
            file.seek(bounds[0])
            with pytest.raises(tagmac.InvalidTag):
                file.read(bounds[1] - bounds[0])
    assert not fs._store.cache._pieces


def test_a_store_that_swaps_files(fs, tree, contents, tmp_path):
    (tree / "a").rename(tmp_path / "x")
    (tree / "b").rename(tree / "a")
    (tmp_path / "x").rename(tree / "b")
    for name in ("a", "b"):
        with pytest.raises(tagmac.InvalidTag):
            fs.cat_file(f"{tree}/{name}", 5, 9)


@pytest.mark.parametrize("error", [FileNotFoundError, IsADirectoryError, NotADirectoryError])
def test_a_store_that_hides_a_file(fs, store, tree, error):
    """Programs take these errors for missing files. Zarr then uses zeros as the chunk."""

    def answer(*_arguments):
        raise error(errno.ENOENT, "hidden")

    store.answer = answer
    for read in (
        lambda: fs.cat_file(f"{tree}/a"),
        lambda: fs.open(f"{tree}/a").read(1),
        lambda: fs.cat_ranges([f"{tree}/a"], [0], [1], on_error="raise"),
        lambda: fs.get_mapper(str(tree))["a"],
    ):
        with pytest.raises(OSError, match="the store does not have this sealed file") as raised:
            read()
        assert not isinstance(raised.value, FileNotFoundError | IsADirectoryError)


def test_a_store_whose_answers_change_after_they_are_verified(fs, store, tree, contents):
    """A memory map, for example, follows its file."""
    answers = []

    def answer(_path, _start, _end, data):
        answers.append(bytearray(data))
        return memoryview(answers[-1])

    store.answer = answer
    found = [fs.cat_file(f"{tree}/a"), fs.cat_file(f"{tree}/b", 5, 70_000)]
    for data in answers:
        data[:] = bytes(len(data))
    assert found == [contents["a"], contents["b"][5:70_000]]
    assert fs.cat_file(f"{tree}/b", 5, 70_000) == contents["b"][5:70_000]


def test_files_of_this_machine_are_read_without_the_store(sealed, tree, contents, tmp_path):
    fs = VerifiedFileSystem(LocalFileSystem(), **sealed)
    a, b, c = (f"{tree}/{name}" for name in ("a", "b", "d/c"))
    file = fs.open(a)
    assert isinstance(fs._file(a), LocalFile)
    data = bytearray(contents["a"])
    data[5 * LEAF] ^= 1
    (tree / "a").write_bytes(data)
    for at, count in ((5 * LEAF, 1), (0, 10 * LEAF)):
        with pytest.raises(tagmac.InvalidTag):
            file.read_at(at, count)
    assert file.read_at(0, 5 * LEAF) == contents["a"][: 5 * LEAF]
    found = fs.cat_ranges([a, a, f"{tree}/none", b], [0, 5 * LEAF, 0, 1], [9, 6 * LEAF, 9, 5])
    assert [found[0], found[3]] == [contents["a"][:9], contents["b"][1:5]]
    assert [type(error) for error in found[1:3]] == [tagmac.InvalidTag, FileNotFoundError]
    # Other files are read through the store: of another size, below a link, ...
    (tree / "b").write_bytes(contents["b"][:100_000])
    assert fs.cat_file(b, 0, 50_000) == contents["b"][:50_000]
    with pytest.raises(tagmac.InvalidTag):
        fs.cat_file(b)
    (tree / "d").rename(tmp_path / "other")
    (tree / "d").symlink_to(tmp_path / "other")
    assert fs.cat_file(c) == contents["d/c"]
    # ... or one that is not there.
    (tree / "large").unlink()
    with pytest.raises(OSError, match="the store does not have this sealed file") as raised:
        fs.cat_file(f"{tree}/large")
    assert raised.value.errno == errno.EIO


def test_a_manifest_that_changes(sealed, tree, tmp_path):
    """An error is never mistaken for the end of a listing."""
    fs = VerifiedFileSystem(**sealed)
    path = tmp_path / "m"
    text = path.read_bytes()
    with path.open("r+b") as file:
        file.write(text.replace(b"large", b"small"))
    for call in (
        lambda: fs.ls(str(tree)),
        lambda: fs.find(str(tree)),
        lambda: list(fs.walk(str(tree))),
        lambda: fs.glob(f"{tree}/*"),
        lambda: fs.exists(f"{tree}/a"),
        lambda: fs.isfile(f"{tree}/a"),
        lambda: fs.isdir(f"{tree}/d"),
        lambda: fs.cat_file(f"{tree}/a"),
    ):
        with pytest.raises(OSError, match="the manifest changed") as raised:
            call()
        assert not isinstance(raised.value, FileNotFoundError)
    with pytest.raises(tagmac.InvalidTag):
        VerifiedFileSystem(**sealed)


def test_nothing_can_be_written(fs, tree, contents, tmp_path):
    path = f"{tree}/a"
    (tmp_path / "local").write_bytes(b"x")
    for write in (
        lambda: fs.open(path, "wb"),
        lambda: fs.open(path, "ab"),
        lambda: fs.open(f"{tree}/new", "xb"),
        lambda: fs.open(path, "w"),
        lambda: fs.pipe(path, b"x"),
        lambda: fs.pipe_file(path, b"x"),
        lambda: fs.write_text(path, "x"),
        lambda: fs.write_bytes(path, b"x"),
        lambda: fs.touch(path),
        lambda: fs.mkdir(f"{tree}/x"),
        lambda: fs.makedirs(f"{tree}/x/y"),
        lambda: fs.mkdirs(f"{tree}/x/y"),
        lambda: fs.rmdir(f"{tree}/d"),
        lambda: fs.rm(path),
        lambda: fs.rm(f"{tree}/d", recursive=True),
        lambda: fs.rm_file(path),
        lambda: fs.delete(path),
        lambda: fs.mv(path, f"{tree}/x"),
        lambda: fs.rename(path, f"{tree}/x"),
        lambda: fs.copy(path, f"{tree}/x"),
        lambda: fs.cp_file(path, f"{tree}/x"),
        lambda: fs.put(str(tmp_path / "local"), path),
        lambda: fs.put_file(str(tmp_path / "local"), path),
        lambda: fs.upload(str(tmp_path / "local"), path),
        lambda: fs.get_mapper(str(tree)).__setitem__("a", b"x"),
    ):
        with pytest.raises(OSError, match="Read-only") as raised:
            write()
        assert raised.value.errno == errno.EROFS
    assert fs.cat_file(path) == contents["a"]


def test_urls(sealed, tree, contents):
    options = {"tagmac": {name: sealed[name] for name in ("manifest", "key")}}
    # By default, the sealed directory is the folder of the file.
    with fsspec.open(f"tagmac::file://{tree}/a", **options) as file:
        assert file.read() == contents["a"]
    with pytest.raises(FileNotFoundError):
        fsspec.open(f"tagmac::file://{tree}/d/c", **options).open()
    for root in (str(tree), f"file://{tree}", f"{tree}/"):
        options["tagmac"]["root"] = root
        with fsspec.open(f"tagmac::file://{tree}/d/c", **options) as file:
            assert file.read() == contents["d/c"]
        found = fsspec.open_files(f"tagmac::file://{tree}/d/**", **options)
        assert [file.path for file in found] == [f"{tree}/d/c", f"{tree}/d/e/f"]
    options["tagmac"]["root"] = "memory://t"
    with pytest.raises(ValueError, match="not in the file system of the other URL"):
        fsspec.open(f"tagmac::file://{tree}/d/c", **options)
    fs = fsspec.filesystem("tagmac", **{**sealed, "root": f"file://{tree}"})
    assert fs.cat_file(f"tagmac://{tree}/a", 0, 5) == contents["a"][:5]
    for root in (None, ""):
        with pytest.raises(ValueError, match="root: expected"):
            VerifiedFileSystem(**{**sealed, "root": root})


def test_open_verified_of_a_url(sealed, tree, contents):
    store, key, manifest = MemoryFileSystem(), sealed["key"], sealed["manifest"]
    for name, data in contents.items():
        store.pipe_file(f"/photos/{name}", data)
    open_verified = tagmac.open_verified
    url = "memory://photos"
    with open_verified(f"{url}/d/c", key, manifest=manifest, root=url) as file:
        assert file.read() == contents["d/c"]
        assert file.read_at(7, 5) == contents["d/c"][7:12]
    with open_verified("memory://photos/a", key, manifest=manifest) as file:
        assert isinstance(file, tagmac.VerifiedReader)
        buffer = bytearray(10_000)
        assert file.readinto(memoryview(buffer)[:9999]) == 9999
        assert bytes(buffer[:9999]) == contents["a"][:9999]
    with pytest.raises(FileNotFoundError):
        open_verified("memory://photos/x", key, manifest=manifest)
    store.pipe_file("/photos/a", contents["b"])
    with pytest.raises(tagmac.InvalidTag):
        open_verified("memory://photos/a", key, manifest=manifest).read(1)
    store.rm("/photos", recursive=True)


def test_pickles_have_no_key(sealed, tree, contents):
    fs = VerifiedFileSystem(**sealed)
    again = pickle.loads(pickle.dumps(fs))
    assert again == fs
    assert again.cat_file(f"{tree}/a") == contents["a"]
    sealed["key"] = sealed["key"].resolve()
    with pytest.raises(TypeError, match=r"send a tagmac\.KeyRef"):
        pickle.dumps(VerifiedFileSystem(**sealed))


def test_references_with_equal_texts_are_different(sealed, tree):
    """Instances of fsspec are shared by their options' texts, which hide a command's words."""
    other = tagmac.KeyRef.command(["sh", "-c", "exit 1"])
    right = tagmac.KeyRef.command(["sh", "-c", f"cat {sealed['key'].where[0]}"])
    assert repr(other) == repr(right)
    fsspec.filesystem("tagmac", **{**sealed, "key": right})
    with pytest.raises(tagmac.KeyUnavailable):
        fsspec.filesystem("tagmac", **{**sealed, "key": other})
