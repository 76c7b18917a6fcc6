"""The sender of packets: a key, its nonces and its budget, across crashes."""

import copy
import pickle
import random

import pytest
from conftest import nonce_for
from test_threads import hammer

import tagmac

KEY = tagmac.Key(bytes(range(16)), "UMAC-64")


def test_nonce_and_tag(each):
    key, nonce = each
    bound = None if key.name.startswith(("CMAC", "HMAC")) else 2**-32
    session = tagmac.Session(key, probability=bound)
    assert (session.name, session.id) == (key.name, key.id)
    for number in range(3):
        found, tag = session.tag(b"packet")
        assert found == (b"" if nonce is None else number.to_bytes(len(nonce), "big"))
        key.verify(b"packet", tag, found if nonce else None)
    session.tag(bytes(1500))
    assert session.used == 4
    session.reserve(2)
    again = tagmac.Session(key, probability=bound, saved=session.save())
    assert (again.used, again.reserved) == (6, 0)
    again.reserve(1)
    again.save()
    assert again.tag(b"packet")[0] == (b"" if nonce is None else (6).to_bytes(len(nonce), "big"))


def test_no_nonce_serves_twice_whenever_a_crash_comes():
    chance, seen = random.Random(7), set()
    session = tagmac.Session(KEY, next_nonce=bytes(2))
    disk = session.save()
    for _ in range(5000):
        match chance.randrange(8):
            case 0:
                session.reserve(chance.randrange(20))
                disk = session.save()
            case 1:
                session.reserve(chance.randrange(3))
            case 2:
                session = tagmac.Session(KEY, saved=disk)
            case _:
                try:
                    nonce, _ = session.tag(b"packet")
                except tagmac.ReserveUsedUp:
                    continue
                assert nonce not in seen
                seen.add(nonce)
    assert len(seen) > 500


def test_a_saved_session_tags_what_is_covered():
    session = tagmac.Session(KEY)
    session.tag(b"never saved")
    session.save()
    with pytest.raises(tagmac.ReserveUsedUp, match="reserve more, save"):
        session.tag(b"")
    session.reserve(1)
    with pytest.raises(tagmac.ReserveUsedUp):
        session.tag(b"")
    session.save()
    assert (session.used, session.reserved) == (1, 1)
    assert session.tag(b"")[0] == (1).to_bytes(8, "big")
    with pytest.raises(tagmac.ReserveUsedUp):
        session.tag(bytes(5000))


def test_budgets():
    present = tagmac.Key.generate("PMAC-PRESENT128")
    session = tagmac.Session(present, max_message_bytes=1 << 20)
    assert session.left == 104
    for _ in range(104):
        session.tag(b"")
    assert (session.used, session.left) == (104, 0)
    for call in (lambda: session.tag(b""), lambda: session.reserve(1)):
        with pytest.raises(tagmac.BudgetExhausted, match="expected at most 104 messages"):
            call()
    assert tagmac.Session(present, probability=None).left == 2**64 - 1
    saved = session.save()
    with pytest.raises(tagmac.BudgetExhausted):
        tagmac.Session(present, max_message_bytes=1 << 21, saved=saved)
    # A message that is too long is another error: a new key would not help.
    short = tagmac.Session(KEY, max_message_bytes=100)
    with pytest.raises(ValueError, match="expected at most 100 bytes of a message") as error:
        short.tag(bytes(101))
    assert error.type is ValueError and short.used == 0
    nonces = tagmac.Session(KEY, next_nonce=b"\xff")
    with pytest.raises(tagmac.BudgetExhausted, match="nonces are used"):
        nonces.reserve(1)
    assert nonces.tag(b"")[0] == b"\xff"
    with pytest.raises(tagmac.BudgetExhausted, match="nonces are used"):
        nonces.tag(b"")
    assert issubclass(tagmac.BudgetExhausted, ValueError)
    assert issubclass(tagmac.ReserveUsedUp, ValueError)


def test_bad_arguments():
    saved = tagmac.Session(KEY).save()
    values = [
        ({"saved": saved, "next_nonce": bytes(8)}, "cannot be combined"),
        ({"next_nonce": b""}, "nonce of 1 to 16 bytes"),
        ({"next_nonce": bytes(17)}, "nonce of 1 to 16 bytes"),
        ({"probability": 0.0}, "between 0 and 1"),
        ({"probability": 1}, "between 0 and 1"),
        ({"probability": float("nan")}, "between 0 and 1"),
        ({"saved": b""}, "expected 104 bytes"),
        ({"saved": saved[:-1]}, "expected 104 bytes"),
        ({"saved": bytes(104)}, "tagmacS2"),
        ({"saved": saved[:40] + b"x" + saved[41:]}, "damaged"),
    ]
    for arguments, words in values:
        with pytest.raises(ValueError, match=words):
            tagmac.Session(KEY, **arguments)
    with pytest.raises(ValueError, match=f"belongs to the key .*; expected {tagmac.Key(bytes(16)).id}"):
        tagmac.Session(tagmac.Key(bytes(16)), saved=saved)
    with pytest.raises(ValueError, match="no theorem"):
        tagmac.Session(tagmac.Key.generate("HMAC-SHA256"))
    session = tagmac.Session(KEY)
    for call in (
        lambda: tagmac.Session(),
        lambda: tagmac.Session(bytes(16)),
        lambda: tagmac.Session(KEY, None),
        lambda: tagmac.Session(KEY, saved="text"),
        lambda: tagmac.Session(KEY, max_message_bytes=1.5),
        lambda: tagmac.Session(KEY, probability="1"),
        lambda: session.tag("text"),
        lambda: session.tag(None),
        lambda: session.reserve(None),
        lambda: setattr(session, "used", 0),
        lambda: type("Sub", (tagmac.Session,), {}),
    ):
        with pytest.raises((TypeError, AttributeError)):
            call()
    for call in (lambda: session.reserve(-1), lambda: session.reserve(1 << 64)):
        with pytest.raises(OverflowError):
            call()
    assert session.used == 0


def test_failures_are_counted():
    session = tagmac.Session(tagmac.Key(bytes(16), "UMAC-64"))
    nonce, tag = session.tag(b"packet")
    session.verify(b"packet", tag, nonce)
    for wrong in (bytes(8), tag[:-1], tag + b"0", b""):
        with pytest.raises(tagmac.InvalidTag):
            session.verify(b"packet", wrong, nonce)
    with pytest.raises(tagmac.NonceRequired):
        session.verify(b"packet", tag)
    with pytest.raises(ValueError, match="nonce of 1 to 16 bytes"):
        session.verify(b"packet", tag, b"")
    with pytest.raises(ValueError, match="UMAC-64: only whole tags can be checked"):
        session.verify(b"packet", tag, nonce, words=1)
    with pytest.raises(ValueError, match="128 bits"):
        session.allow_grades(2**-10)


def test_grades():
    key = tagmac.Key(bytes(16), "UMAC-128")
    session = tagmac.Session(key)
    nonce, tag = session.tag(b"packet")
    session.verify(b"packet", tag, nonce, words=4)
    with pytest.raises(tagmac.BudgetExhausted, match="at most 0 failed checks of one word"):
        session.verify(b"packet", tag, nonce, words=1)
    for probability in (0.0, 1.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            session.allow_grades(probability)
    # 2^-30 times 1.65 for each failure, since pads come from a permutation: 13 failures.
    session.allow_grades(2e-8)
    for words in (1, 2, 3, 4):
        for byte in range(16):
            other = bytearray(tag)
            other[byte] ^= 1
            if byte >= 4 * words:
                session.verify(b"packet", other, nonce, words=words)
        for _ in range(13):
            with pytest.raises(tagmac.InvalidTag):
                session.verify(b"pocket", tag, nonce, words=words)
        with pytest.raises(tagmac.BudgetExhausted, match="at most 13 failed"):
            session.verify(b"packet", tag, nonce, words=words)
    with pytest.raises(tagmac.BudgetExhausted, match="failed verifications"):
        session.verify(b"packet", tag, nonce)
    saved = session.save()
    # Failures at one word do not end a session that is restored without grades.
    again = tagmac.Session(key, saved=saved)
    again.verify(b"packet", tag, nonce)
    with pytest.raises(tagmac.BudgetExhausted, match="of one word"):
        again.verify(b"packet", tag, nonce, words=1)
    again.allow_grades(2**-10)
    again.verify(b"packet", tag, nonce, words=1)
    again = tagmac.Session(key, saved=saved, probability=None)
    again.verify(b"packet", tag, nonce, words=1)
    with pytest.raises(tagmac.BudgetExhausted, match="failed"):
        again.allow_grades(2**-110)
    for words in (0, 5):
        with pytest.raises(ValueError, match="words: expected 1 to 4"):
            again.verify(b"packet", tag, nonce, words=words)


def test_nothing_goes_out_unasked():
    session = tagmac.Session(tagmac.Key(b"0123456789abcdef"))
    assert repr(session) == f"<tagmac.Session PMAC-AES128 id={session.id}>"
    assert not hasattr(session, "key") and not hasattr(session, "__dict__")
    with pytest.raises(TypeError):
        pickle.dumps(session)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copied(session)


@pytest.mark.parametrize("size", [64, 5000])
def test_threads_share_a_session(size):
    session, packet = tagmac.Session(KEY), bytes(size)

    def work(_):
        return [session.tag(packet) for _ in range(300)]

    made = [one for many in hammer(work) for one in many]
    assert len({nonce for nonce, _ in made}) == len(made) == session.used
    for nonce, tag in made:
        KEY.verify(packet, tag, nonce)


def test_the_usual_nonces():
    for name in ("UMAC-32", "POLY1305-AES", "UMAC99-STD-60", "PMAC-AES128"):
        nonce, _ = tagmac.Session(tagmac.Key.generate(name)).tag(b"")
        assert nonce == (nonce_for(name) or b"")
