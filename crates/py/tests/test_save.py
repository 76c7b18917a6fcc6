"""Messages that continue in another process, and the rule of one message per nonce."""

import subprocess
import sys

import pytest
from conftest import nonce_for, within_limit

import tagmac

KEY = tagmac.Key(bytes(range(16)))
STREAMS = ["PMAC-AES128", "LIGHTMAC-AES128-S32", "ELIMAC-AES128", "POLY1305-AES", "UMAC-64"]


@pytest.mark.parametrize("alg", STREAMS)
def test_a_message_goes_on(alg):
    key, nonce = tagmac.Key.generate(alg), nonce_for(alg)
    message = within_limit(key, nonce, bytes(range(256)) * 40)
    for cut in (0, 1, 15, 16, 17, 2048, 5000, len(message)):
        saved = key.new(message[:cut], nonce).save()
        restored = key.restore(bytearray(saved))
        assert (restored.name, restored.digest_size) == (key.name, key.digest_size)
        assert restored.update(message[cut:]).digest() == key.tag(message, nonce)
        # A second process.
        again = key.restore(key.restore(saved).update(message[cut:]).save())
        assert again.digest() == key.tag(message, nonce)


def test_another_process(saved):
    key, path = saved
    code = (
        "import sys, tagmac; key = tagmac.Key.from_file(sys.argv[1]); "
        "print(key.restore(sys.stdin.buffer.read()).update(b'after').hexdigest())"
    )
    state = key.new(b"before ").save()
    run = subprocess.run(
        [sys.executable, "-c", code, path], input=state, capture_output=True, check=True
    )
    assert run.stdout.decode().strip() == key.tag(b"before after").hex()


def test_a_deterministic_message_stays():
    mac = KEY.new(b"one")
    saved = mac.save()
    assert saved != mac.save()
    assert mac.update(b" two").digest() == KEY.tag(b"one two")
    assert KEY.restore(mac.save()).digest() == mac.digest()
    assert KEY.restore(saved).copy().update(b"!").digest() == KEY.tag(b"one!")
    assert tagmac.new(KEY, b"one").copy().save()


@pytest.mark.parametrize("alg", ["POLY1305-AES", "UMAC-64"])
def test_one_message_under_a_nonce(alg):
    key, nonce = tagmac.Key.generate(alg), nonce_for(alg)
    mac = key.new(b"one", nonce)
    saved = mac.save()
    for call in (
        mac.digest,
        mac.hexdigest,
        mac.save,
        mac.copy,
        lambda: mac.update(b""),
        lambda: mac.verify(b""),
        lambda: mac.hexverify("00"),
    ):
        with pytest.raises(tagmac.NonceReuse):
            call()
    restored = key.restore(saved)
    with pytest.raises(tagmac.NonceReuse):
        restored.copy()
    assert restored.digest() == key.tag(b"one", nonce)
    with pytest.raises(tagmac.NonceReuse, match="the tag of this object's message was computed"):
        restored.save()


def test_what_is_refused():
    saved = KEY.new(b"one").save()
    for at in range(len(saved)):
        altered = bytearray(saved)
        altered[at] ^= 1
        with pytest.raises(tagmac.InvalidTag):
            KEY.restore(altered)
    for bad in (
        b"",
        saved[:-1],
        saved + b"x",
        tagmac.Part(KEY, object="o", version="1", last=True).seal(),
    ):
        with pytest.raises(tagmac.InvalidTag):
            KEY.restore(bad)
    for other in (tagmac.Key(bytes(16)), tagmac.Key(bytes(range(16)), "UMAC-64")):
        with pytest.raises(tagmac.InvalidTag, match="sealed under another key"):
            other.restore(saved)
    with pytest.raises(ValueError, match="the sealed data is not a stream of this MAC"):
        tagmac.Key(bytes(range(16)), tag_bits=64).restore(saved)
    with pytest.raises(TypeError):
        KEY.restore("text")
    with pytest.raises(ValueError, match="create it with tagmac.Key.new"):
        tagmac.new(bytes(16), b"one").save()


@pytest.mark.parametrize("alg", ["CMAC-AES128", "HMAC-SHA256", "UMAC99-STD-60"])
def test_macs_that_keep_their_state(alg):
    key, nonce = tagmac.Key.generate(alg), nonce_for(alg)
    mac = key.new(b"one", nonce)
    with pytest.raises(ValueError, match="this MAC's state cannot be saved"):
        mac.save()
    # The refusal changes nothing.
    assert mac.digest() == key.tag(b"one", nonce)
    with pytest.raises(ValueError):
        key.restore(bytes(200))


def test_over_the_limit():
    key = tagmac.Key.generate("LIGHTMAC-AES128-S8")
    with pytest.raises(ValueError, match="limit"):
        key.new(bytes(5000)).save()
