"""Keys, MAC objects and one-shot calls, with the interface of hashlib, hmac and PyCryptodome."""

import copy
import hmac
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagmac

KEY = bytes(range(16))
MSG = b"pay 100 to Bob"


BOTH = [(tagmac, "HMAC-SHA256"), (hmac, "sha256")]


def test_hmac_is_pythons():
    key = bytes(range(32))
    ours, theirs = (module.new(key, MSG, alg) for module, alg in BOTH)
    assert ours.digest() == theirs.digest() == hmac.digest(key, MSG, "sha256")
    assert tagmac.digest(key, MSG, "HMAC-SHA256") == ours.digest()
    assert ours.digest_size == theirs.digest_size
    assert hmac.compare_digest(ours.hexdigest(), theirs.hexdigest())
    later = [module.new(key, None, alg) for module, alg in BOTH]
    for mac in later:
        mac.update(MSG)
    assert later[0].digest() == later[1].digest() == ours.digest()


def test_every_way_to_a_tag_is_the_same(each):
    key, nonce = each
    tag = key.tag(MSG, nonce)
    mac = key.new(nonce=nonce)
    assert mac.update(MSG[:5]) is mac
    mac.update(memoryview(MSG)[5:])
    assert mac.digest() == mac.digest() == tag
    assert mac.hexdigest() == tag.hex()
    assert mac.digest_size == key.digest_size == len(tag)
    assert mac.name == key.name
    assert mac.block_size is None or mac.block_size > 0
    assert key.new(MSG, nonce).digest() == tag
    assert tagmac.new(key, MSG, nonce=nonce).digest() == tag
    assert tagmac.new(key, MSG, key.name.lower(), nonce=nonce).digest() == tag
    assert tagmac.digest(key, MSG, nonce=nonce) == tag
    assert tagmac.digest(key, MSG, key.name.lower(), nonce=nonce) == tag
    mac.verify(tag)
    mac.hexverify(tag.hex())
    mac.hexverify(tag.hex().upper())
    key.verify(MSG, tag, nonce)
    tagmac.verify(key, MSG, tag, nonce=nonce)


def test_every_wrong_tag_is_refused(each):
    key, nonce = each
    tag = key.tag(MSG, nonce)
    wrong = [
        bytes([tag[0] ^ 1]) + tag[1:],
        tag[:-1] + bytes([tag[-1] ^ 128]),
        tag[:-1],
        tag + b"\0",
        b"",
    ]
    for wrong in wrong:
        mac = key.new(MSG, nonce)
        calls = [
            lambda: key.verify(MSG, wrong, nonce),
            lambda: tagmac.verify(key, MSG, wrong, nonce=nonce),
            lambda: mac.verify(wrong),
            lambda: mac.hexverify(wrong.hex()),
        ]
        for call in calls:
            with pytest.raises(tagmac.InvalidTag):
                call()
    with pytest.raises(tagmac.InvalidTag, match="not hex"):
        key.new(MSG, nonce).hexverify("no hex")
    with pytest.raises(tagmac.InvalidTag):
        key.verify(MSG + b"!", tag, nonce)


def test_defaults():
    assert tagmac.new(KEY).name == tagmac.Key(KEY).name == "PMAC-AES128"
    assert tagmac.digest(KEY, MSG) == tagmac.Key(KEY).tag(MSG) == tagmac.new(KEY, MSG).digest()
    assert issubclass(tagmac.InvalidTag, ValueError)
    assert tagmac.__version__ in repr(tagmac.__version__)


def test_digest_of_a_deterministic_mac_goes_on():
    mac = tagmac.new(KEY, b"pay ")
    assert mac.digest() == tagmac.digest(KEY, b"pay ")
    other = mac.copy()
    mac.update(b"100")
    other.update(b"200")
    assert mac.digest() == tagmac.digest(KEY, b"pay 100")
    assert other.digest() == tagmac.digest(KEY, b"pay 200")


def test_a_nonce_is_for_one_message(each):
    key, nonce = each
    if nonce is None:
        return
    for end in (lambda mac: mac.digest(), lambda mac: mac.hexdigest(), refuse_a_tag):
        mac = key.new(b"one", nonce)
        with pytest.raises(tagmac.NonceReuse):
            mac.copy()
        end(mac)
        with pytest.raises(tagmac.NonceReuse):
            mac.update(b"two")
        with pytest.raises(tagmac.NonceReuse):
            mac.update(bytes(10_000))
        with pytest.raises(tagmac.NonceReuse):
            mac.copy()
        assert mac.digest() == key.tag(b"one", nonce)


def refuse_a_tag(mac):
    with pytest.raises(tagmac.InvalidTag):
        mac.verify(bytes(mac.digest_size))


def test_a_nonce_is_required(each):
    key, nonce = each
    calls = [
        lambda nonce: key.new(nonce=nonce),
        lambda nonce: key.tag(b"", nonce),
        lambda nonce: key.verify(b"", b"", nonce),
        lambda nonce: tagmac.new(key, nonce=nonce),
        lambda nonce: tagmac.digest(key, b"", nonce=nonce),
        lambda nonce: tagmac.verify(key, b"", b"", nonce=nonce),
        lambda nonce: tagmac.file_digest(__file__, key, nonce=nonce),
        lambda nonce: tagmac.tag_many(key, [b""], nonces=None if nonce is None else [nonce]),
    ]
    for call in calls:
        if nonce is None:
            with pytest.raises(ValueError, match="does not use a nonce, found 3 bytes"):
                call(b"123")
        else:
            with pytest.raises(tagmac.NonceRequired, match=f"^{key.name} needs a nonce of"):
                call(None)
            for wrong in (b"", bytes(17)):
                with pytest.raises(ValueError, match="expected a nonce of"):
                    call(wrong)


def test_key_sizes(each, tmp_path):
    key, nonce = each
    key.save(tmp_path / "my.key")
    hexed = (tmp_path / "my.key").read_text().split("key: ")[1].split()[0]
    made = bytes.fromhex(hexed)
    assert key.key_size == len(made)
    again = tagmac.Key(made, key.name)
    assert again == key and again.key_size == key.key_size
    assert key.new(nonce=nonce).key_size == key.key_size
    assert tagmac.new(made, None, key.name, nonce=nonce).key_size == key.key_size
    if key.name.startswith("UMAC-"):
        assert getattr(tagmac, key.name.lower().replace("-", "")).key_size == key.key_size


def test_keys_are_equal_by_their_bytes(each, tmp_path):
    key, _ = each
    key.save(tmp_path / "my.key")
    again = tagmac.Key.from_file(tmp_path / "my.key")
    assert again is not key and again == key and not again != key
    assert hash(again) == hash(key) and {key: 1}[again] == 1
    other = tagmac.Key.generate(key.name)
    assert key != other and not key == other
    assert len({key, again, other}) == 2


def test_keys_that_are_not_equal():
    key = tagmac.Key(KEY)
    for at in range(16):
        other = bytearray(KEY)
        other[at] ^= 1 << at % 8
        assert key != tagmac.Key(other)
    assert key != tagmac.Key(KEY, "CMAC-AES128")
    assert key != tagmac.Key(KEY, tag_bits=64)
    assert tagmac.Key(KEY, tag_bits=64) == tagmac.Key(KEY, tag_bits=64)
    assert tagmac.Key(KEY, tag_bits=128) == key
    for other in (KEY, key.id, None, 7, key.new()):
        assert key != other and not key == other
    with pytest.raises(TypeError):
        assert key < tagmac.Key(KEY)


@pytest.mark.parametrize("bits", [32, 64, 96, 128])
def test_umac_in_the_shape_of_pep_452(bits):
    module = getattr(tagmac, f"umac{bits}")
    nonce = (7).to_bytes(8, "big")
    expected = tagmac.digest(KEY, MSG, f"UMAC-{bits}", nonce=nonce)
    assert module.new(KEY, MSG, nonce).digest() == expected
    assert module.new(KEY, nonce=nonce).update(MSG).digest() == expected
    assert module.new(key=memoryview(KEY), msg=bytearray(MSG), nonce=nonce).digest() == expected
    assert module.digest_size == len(expected) == bits // 8
    assert module.key_size == len(KEY)
    with pytest.raises(tagmac.NonceRequired):
        module.new(KEY, MSG)


def test_shorter_tags():
    full = tagmac.digest(KEY, MSG)
    assert tagmac.digest(KEY, MSG, tag_bits=64) == full[:8]
    twelve = tagmac.digest(KEY, MSG, tag_bits=12)
    assert twelve == bytes([full[0], full[1] & 0xF0])
    tagmac.verify(KEY, MSG, twelve, tag_bits=12)
    with pytest.raises(tagmac.InvalidTag):
        tagmac.verify(KEY, MSG, bytes([twelve[0], twelve[1] | 1]), tag_bits=12)
    with pytest.raises(tagmac.InvalidTag, match="expected a tag of 16 bytes, found 8"):
        tagmac.verify(KEY, MSG, full[:8])
    short = tagmac.Key(KEY, tag_bits=64)
    assert short.digest_size == 8
    assert short.tag(MSG) == short.new(MSG).digest() == full[:8]
    assert tagmac.digest(short, MSG, tag_bits=128) == full
    assert tagmac.digest(short, MSG, tag_bits=64) == full[:8]


def test_key_files(tmp_path):
    path = tmp_path / "new.key"
    key = tagmac.Key.generate("LIGHTMAC-AES128")
    key.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().startswith("tagmac-key-2\nalgorithm: LIGHTMAC-AES128-S32\n")
    again = tagmac.Key.from_file(str(path))
    assert (again.id, again.name, again.tag(MSG)) == (key.id, key.name, key.tag(MSG))
    assert tagmac.Key.from_file(path, tag_bits=64).tag(MSG) == key.tag(MSG)[:8]
    with pytest.raises(FileExistsError) as error:
        key.save(path)
    assert error.value.filename == str(path)
    with pytest.raises(FileNotFoundError):
        tagmac.Key.from_file(tmp_path / "none")
    path.write_text(path.read_text().replace("key: ", "key: 0"))
    with pytest.raises(ValueError, match=r"new\.key: line 5: "):
        tagmac.Key.from_file(path)


def test_the_documented_key_file(tmp_path):
    path = tmp_path / "documented.key"
    path.write_text(
        "tagmac-key-2\nalgorithm: PMAC-AES128\nid: 93ccce922cfd13ec\n"
        "created: 2026-11-21T10:00:00Z\nkey: 000102030405060708090a0b0c0d0e0f\n"
        "checksum: 518c9c170f3365c1\n"
    )
    key = tagmac.Key.from_file(path)
    assert key.id == "93ccce922cfd13ec" == tagmac.Key(KEY).id
    assert key.tag(MSG) == tagmac.digest(KEY, MSG)


def test_generated_keys_differ():
    assert tagmac.Key.generate().id != tagmac.Key.generate().id


def test_nothing_shows_the_key():
    key = tagmac.Key(b"0123456789abcdef")
    mac = key.new()
    for shown in (repr(key), str(key), repr(mac), str(mac)):
        assert "0123" not in shown and KEY.hex()[:8] not in shown
    assert not hasattr(key, "key") and not hasattr(key, "__dict__")
    for thing in (key, mac):
        with pytest.raises(TypeError):
            pickle.dumps(thing)
        with pytest.raises(TypeError):
            copy.deepcopy(thing)


@given(st.binary(max_size=5000), st.lists(st.integers(0, 5000)), st.sampled_from(range(5)))
def test_any_cut_gives_the_same_tag(msg, cuts, which):
    alg = ["PMAC-AES128", "LIGHTMAC-AES128-S16", "UMAC-128", "UMAC99-MMX-30", "POLY1305-AES"][which]
    size, nonce = {"L": (32, None), "P": (16, None), "U": (16, bytes(8))}[alg[0]]
    if alg == "POLY1305-AES":
        size, nonce = 32, bytes(16)
    key = tagmac.Key(bytes(range(size)), alg)
    mac = key.new(nonce=nonce)
    ends = sorted({min(cut, len(msg)) for cut in cuts} | {len(msg)})
    start = 0
    for end in ends:
        mac.update(msg[start:end])
        start = end
    assert mac.digest() == key.tag(msg, nonce)
