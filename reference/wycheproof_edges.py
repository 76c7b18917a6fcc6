"""Rows of vectors/wycheproof for a single MAC: inputs at the edges of its arithmetic, and tags with
one mistake from `wrong_macs.py`. `wycheproof.py` writes them.

Anyone who has the key can choose the inputs of a hash or a cipher, by computing the message
backwards.
"""

import json
from pathlib import Path

import aes
import wrong_macs as wrong
from poly1305 import CLEAR, P, coefficients
from umac import kdf, uhash
from wycheproof_rows import cases, mistakes

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
LONGEST = 8192  # maximum bytes of a message; longer rows of vectors/*.json are left out


# --- PMAC, LightMAC and EliMAC ------------------------------------------------------


def pmac(f):
    n = f.n
    # L, and its double and half, with each first and last bit.
    for first in (0, 1):
        for last in (0, 1):
            key = next(k for k in iter(f.key, None)
                       if (L := f.cipher(k).encrypt(0)) >> n - 1 == first and L & 1 == last)  # fmt: skip
            for length in (f.size, 3 * f.size, 4 * f.size + 1):
                f.valid(f"first bit of L {first}, last bit {last}, {length} bytes", "EdgeCaseL",
                        f.random.bytes(length), key)  # fmt: skip
    for blocks in (33, 65, 129, 257):
        f.valid(f"{blocks + 1} blocks: offset of ntz {(blocks - 1).bit_length()}", "LongOffset",
                f.random.bytes(f.size * (blocks + 1)))  # fmt: skip
    # A chosen tag: the last block is set to the sum that it needs.
    for wanted in special(f.size):
        for before in (0, 1, 4):
            key, start = f.key(), f.random.bytes(f.size * before)
            E, zero = f.cipher(key), bytes(f.size)
            sum_of_zero = E.decrypt(wrong.be(f.tag(key, None, start + zero)))
            last = (E.decrypt(wrong.be(wanted)) ^ sum_of_zero).to_bytes(f.size, "big")
            f.valid(f"tag {wanted.hex()}", "SpecialCaseTag", start + last, key)
    # Blocks that cancel their offset, so that the cipher sees 0.
    key = f.key()
    L = f.cipher(key).encrypt(0)
    zeros = b"".join(wrong.gamma(L, i, n).to_bytes(f.size, "big") for i in range(1, 6))
    f.valid("each block except the last is its offset: the cipher's input is 0", "SpecialCaseInput",
            zeros + bytes(3), key)  # fmt: skip
    f.valid("a last block of L x^-1: the sum is 0, and L the tag", "SpecialCaseInput",
            wrong.gf.halve(L, n).to_bytes(f.size, "big"), key)  # fmt: skip
    sizes = [0, 1, 15, 16, 17, 32, 37, 48, 80, 100, 144, 272]
    mistakes(f, wrong.PMAC, lambda make, key, nonce, M: make(f.cipher(key), M),
             cases(f, [size * f.size // 16 for size in sizes]))  # fmt: skip


def special(size):
    yield from (bytes(size), b"\xff" * size, b"\x80" + bytes(size - 1), bytes(size - 1) + b"\1",
                bytes(size // 2) + b"\xff" * (size // 2))  # fmt: skip


def lightmac(f):
    r, size = f.block, f.size
    over = [] if f.mac.max_bytes is None else [f.mac.max_bytes]
    if over and over[0] <= LONGEST:
        limit = over[0]
        for length in (limit - r, limit - 1, limit):
            f.valid(f"{length} bytes, the limit is {limit}", "LengthLimit", f.random.bytes(length))
        for length in (limit + 1, limit + r - 1, limit + r, limit + r + 1):
            key, message = f.key(), f.random.bytes(length)
            tag = wrong.lightmac(*f.under(key), message, f.s)
            f.add("invalid", f"{length} bytes, the limit is {limit}; the counter starts again",
                  "MessageTooLong", key, None, message, tag)  # fmt: skip
        # The forgery beyond the limit: blocks 1 and 2^s + 1 have the same counter.
        key = f.key()
        first, between, end = f.random.bytes(r), f.random.bytes(limit - r), f.random.bytes(r)
        tag = wrong.lightmac(*f.under(key), first + between + end, f.s)
        f.add("invalid", "blocks 1 and 2^s + 1 exchanged past the limit", "MessageTooLong", key, None,
              end + between + first, tag)  # fmt: skip
    for blocks in (255, 256, 257):
        if f.mac.max_bytes is None or blocks * r + 1 <= f.mac.max_bytes:
            f.valid(f"{blocks} blocks before the last: the counter's second byte", "CounterCarry",
                    f.random.bytes(blocks * r + 1))  # fmt: skip
    if f.s == 8:
        for wanted in list(special(size))[:2]:
            # The last block ends on 80 00 if the message is one byte shorter than a block.
            for i in range(1 << 20):
                key = f.random.bytes(f.mac.key_bytes) if not i else key
                E1, E2 = f.under(key)
                if not i:
                    wanted_sum = E2.decrypt(wrong.be(wanted))
                block = i.to_bytes(r, "big")
                last = (wanted_sum ^ E1.encrypt(1 << f.n - f.s | i)).to_bytes(size, "big")
                if last.endswith(b"\x80\0"):
                    f.valid(f"tag {wanted.hex()}", "SpecialCaseTag", block + last[:-2], key)
                    break
    sizes = sorted({0, 1, r - 1, r, r + 1, size - 1, size, size + 1, 2 * r, 3 * r + 2, 8 * r, 17 * r + 3, 64})
    long = [257 * r + 1] if f.mac.max_bytes is None or 257 * r < f.mac.max_bytes else []
    usual, past = cases(f, sizes), cases(f, long)
    for row in wrong.LIGHTMAC:
        # A one-byte counter shows only past block 255, and S8 has no other byte.
        mistakes(f, [row], lambda make, key, nonce, M: make(*f.under(key), M, f.s),
                 past if "one byte that counts" in row[0] else usual)  # fmt: skip
    collision(f)


def collision(f):
    """In the authors' Go code, M and M || 80 have the same tag if |M| + 1 = n mod n - s."""
    length = f.size - 1
    key, message = f.key(), f.random.bytes(length)
    tag = wrong.lightmac_go(*f.under(key), message, f.s)
    assert tag == wrong.lightmac_go(*f.under(key), message + b"\x80", f.s)
    for other in (message, message + b"\x80"):
        if tag != f.tag(key, None, other):
            f.invalid("one of two messages with one tag, if a full last block is not padded",
                      "WrongPadding", key, None, other, tag)  # fmt: skip


def elimac(f):
    for blocks in (255, 256, 257):
        f.valid(f"{blocks} blocks before the last: the counter's second byte", "CounterCarry",
                f.random.bytes(blocks * 16 + 1))  # fmt: skip
    for wanted in special(16):
        key = f.key()
        E = aes.cipher(key[16:])
        # M_l ends on 80 for one sum in 256; the first block changes the sum.
        for i in range(1 << 16):
            block = i.to_bytes(16, "big")
            empty = E.decrypt(wrong.be(f.tag(key, None, block)))
            last = (E.decrypt(wrong.be(wanted)) ^ empty ^ 1 << 127).to_bytes(16, "big")
            if last[-1] == 0x80:
                f.valid(f"tag {wanted.hex()}", "SpecialCaseTag", block + last[:-1], key)
                break
    # H(K1, 1) as the first block: I sees 0.
    key = f.key()
    subkey = aes.cipher(key[:16], 7).encrypt(1 << 96 | 1 << 64 | 1 << 32 | 1).to_bytes(16, "big")
    f.valid("the first block is H(K1, 1): the input of I is 0", "SpecialCaseInput", subkey + b"\0", key)
    sizes = [0, 1, 15, 16, 17, 32, 37, 48, 80, 144, 275]
    mistakes(f, wrong.ELIMAC, lambda make, key, nonce, M: make(key, M), cases(f, sizes))


# --- UMAC and Poly1305-AES ------------------------------------------------------------


def umac_rows(f):
    """Yields crafted rows of ../vectors/umac.json."""
    for row in json.loads((VECTORS / "umac.json").read_text()):
        text = row["comment"]
        if row["algorithm"] == f.name and row["status"] == "ours" and ("marker" in text or "chunks" in text):
            if (message := spelled(row["msg"])) is not None:
                f.valid(text, "MarkerWord", message, bytes.fromhex(row["key"]), bytes.fromhex(row["nonce"]))


def spelled(msg):
    """Returns the bytes of a message of ../vectors; None if they are too many."""
    if isinstance(msg, str):
        return bytes.fromhex(msg)
    if msg["total_bytes"] > LONGEST:
        return None
    return (bytes.fromhex(msg["repeat"]) * msg["count"])[: msg["total_bytes"]]


def chunk_of(keys, sums):
    """Returns little-endian message words so that NH has these sums m_j + k_j."""
    out = b""
    for i, wanted in enumerate(sums):
        k = int.from_bytes(keys[4 * i : 4 * i + 4], "big")
        out += ((wanted - k) % 2**32).to_bytes(4, "little")
    return out


def eight(value):
    """Returns eight sums of a group of NH whose products add up to this number."""
    hi, lo = value >> 32, value % 2**32
    return (2**32 - 1, 1, 1, 0, hi, lo, hi, 0)  # (2^32 - 1) hi + lo + hi


def words_for_l3(key):
    """Returns words of L1 with the sum of L3 at an edge, as (name of the sum, word)."""
    p = 2**36 - 5
    k = [int.from_bytes(key[8 * i : 8 * i + 8], "big") % p for i in range(4, 8)]
    low = {(a * k[2] + b * k[3]) % p: a << 16 | b for a in range(4) for b in range(2**16)}
    sums = {"0": 0, "1": 1, "4": 4, "5": 5, "p - 1": p - 1, "2^32 - 1": 2**32 - 1, "2^32": 2**32}
    for name, wanted in sums.items():
        # One choice in 2^18 works.
        for i in range(2**32):
            rest = (wanted - (i % 2**16) * k[0] - (i >> 16) * k[1]) % p
            if rest in low:
                yield name, (i % 2**16) << 48 | (i >> 16) << 32 | low[rest]
                break


def umac(f):
    taglen = f.tag_bits // 8
    iters = taglen // 4
    for iteration in sorted({0, iters - 1}):
        key = f.key()
        L1 = kdf(key, 1, 1024 + 16 * (iters - 1))[16 * iteration :]
        of = f"iteration {iteration + 1}"
        for name, value in (("0", 0), ("1", 1), ("2^32 - 1", 2**32 - 1), ("2^31", 2**31)):
            for words in (8, 256) if value in (2**31, 2**32 - 1) else (8,):
                f.valid(f"each sum of NH is {name}, {4 * words} bytes, {of}", "EdgeCaseNh",
                        chunk_of(L1, [value] * words), key)  # fmt: skip
        for name, result in (("0", 0), ("2^64 - 1", 2**64 - 1), ("p", 2**64 - 59), ("2^63", 2**63)):
            sums = eight((result - 256) % 2**64)
            f.valid(f"L1 gives {name} for one chunk, {of}", "EdgeCaseNh", chunk_of(L1, sums), key)
        crafted = []
        for name, word in words_for_l3(kdf(key, 3, 64 * iters)[64 * iteration :]):
            message = chunk_of(L1, eight((word - 256) % 2**64))
            f.valid(f"the sum of L3 is {name} modulo p, {of}", "EdgeCaseL3", message, key)
            crafted.append((key, f.nonce(), message))
        lazy = [row for row in wrong.UMAC if row[0].startswith("L3 ")]
        mistakes(f, lazy, lambda make, key, nonce, M: make(key, M, nonce, taglen), crafted)
    # Two messages with one hash, which a sender with the key can make.
    key, nonce = f.key(), f.nonce()
    L1 = kdf(key, 1, 1024 + 16 * (iters - 1))
    # If k_1 + m_1 is 0, m_5 does not count. Other iterations have other keys.
    message = bytearray(f.random.bytes(32))
    message[:4] = chunk_of(L1, [0])
    for end in (bytes(4), b"\xff" * 4) if iters == 1 else ():
        message[16:20] = end
        f.valid("one of two messages with one tag under this key", "TagCollision", bytes(message), key, nonce)
    umac_rows(f)
    markers = [(bytes.fromhex(row["key"]), bytes.fromhex(row["nonce"]), message)
               for row in json.loads((VECTORS / "umac.json").read_text())
               if row["algorithm"] == f.name and "marker word" in row["comment"]
               and (message := spelled(row["msg"])) is not None]  # fmt: skip
    sizes = [0, 1, 31, 32, 45, 1024, 1025, 2048, 2049]
    usual = cases(f, sizes)
    for comment, flag, make in wrong.UMAC:
        if not comment.startswith("L3 is not"):
            crafted = markers if flag == "MissingMarkerStep" else usual
            mistakes(f, [(comment, flag, make)],
                     lambda make, key, nonce, M: make(key, M, nonce, taglen), crafted, most=2)  # fmt: skip
    # A chosen tag: the pad is the xor of hash and tag, and its 16-byte nonce follows by decryption.
    shared = 16 // taglen if taglen <= 8 else 1
    for wanted in special(taglen):
        key, message = f.key(), f.random.bytes(45)
        pad_part = bytes(a ^ b for a, b in zip(uhash(key, message, taglen), wanted))
        K_pad = aes.cipher(kdf(key, 0, 16))
        while True:
            block = pad_part + f.random.bytes(16 - taglen)
            nonce = K_pad.decrypt(wrong.be(block))
            if nonce % shared == 0:
                break
            assert taglen < 16
        f.valid(f"tag {wanted.hex()}", "SpecialCaseTag", message, key, nonce.to_bytes(16, "big"))


def nonce_for(k, s):
    """Returns the nonce whose pad is the number s."""
    return aes.cipher(k).decrypt(wrong.be(s.to_bytes(16, "little"))).to_bytes(16, "big")


def poly_key(f, r):
    return f.random.bytes(16) + r.to_bytes(16, "little")


def poly1305(f):
    # Crafted rows of ../vectors/poly1305.json: their s comes from a nonce.
    for row in json.loads((VECTORS / "poly1305.json").read_text()):
        if row["status"] == "ours" and (message := spelled(row["msg"])) is not None:
            one_time = bytes.fromhex(row["key"])
            k = f.random.bytes(16)
            r, s = one_time[:16], int.from_bytes(one_time[16:], "little")
            if int.from_bytes(r, "little") & ~CLEAR:
                r = (int.from_bytes(r, "little") & CLEAR).to_bytes(16, "little")
            f.valid(row["comment"], "EdgeCaseH", message, k + r, nonce_for(k, s))
    # h = p - 2 .. p + 6, which is reduced to 0 .. 6 from p on, with s at the edges.
    unreduced, carries = [], []
    for above in range(-2, 7):
        h = (P + above) % P
        for name, s in (("0", 0), ("2^128 - 1", 2**128 - 1), ("2^128 - h mod 2^128", -h % 2**128)):
            # r = 1: three blocks add up to p + above.
            total = P + above - 3 * 2**128
            first = f.random.below(total - 2**127) if total > 2**127 else f.random.below(2**64)
            rest = total - first
            words = [first, min(rest, 2**128 - 1), rest - min(rest, 2**128 - 1)]
            message = b"".join(word.to_bytes(16, "little") for word in words)
            assert sum(coefficients(message)) == P + above
            key = poly_key(f, 1)
            nonce = nonce_for(key[:16], s)
            at = f"p {'+' if above >= 0 else '-'} {abs(above)}"
            f.valid(f"r = 1, the blocks add up to {at}, s = {name}", "EdgeCaseH", message, key, nonce)
            unreduced.append((key, nonce, message))
    mistakes(f, [row for row in wrong.POLY1305_AES if row[1] == "UnreducedH"],
             lambda make, key, nonce, M: make(key, nonce, M), unreduced[6:])  # fmt: skip
    # The last addition carries through every word, and wraps 2^128.
    for words in (1, 2, 3, 4):
        for low in (1, 2**32 - 1):
            key = poly_key(f, 1)
            message = low.to_bytes(16, "little")  # h = 2^128 + low
            s = 2 ** (32 * words) - low
            nonce = nonce_for(key[:16], s)
            f.valid(f"h + s carries out of word {words} of 32 bits", "FullCarry", message, key, nonce)
            carries.append((key, nonce, message))
    mistakes(f, [row for row in wrong.POLY1305_AES if row[1] == "LostCarry"],
             lambda make, key, nonce, M: make(key, nonce, M), carries)  # fmt: skip
    for name, s in (("0", 0), ("2^128 - 1", 2**128 - 1), ("2^64 - 1", 2**64 - 1)):
        for length in (0, 16, 45):
            key = poly_key(f, f.random.below(2**64) * f.random.below(2**64) & CLEAR)
            f.valid(f"s = {name}, {length} bytes", "EdgeCaseS", f.random.bytes(length), key,
                    nonce_for(key[:16], s))  # fmt: skip
    for wanted in special(16):
        key, message = f.key(), f.random.bytes(45)
        h = (wrong.le(f.tag(key, bytes(16), message)) - wrong.le(f.tag(key, bytes(16), b""))) % 2**128
        nonce = nonce_for(key[:16], (wrong.le(wanted) - h) % 2**128)
        f.valid(f"tag {wanted.hex()}", "SpecialCaseTag", message, key, nonce)
    for name, r in (("0", 0), ("1", 1), ("2^127 clamped", CLEAR), ("4 2^32", 4 << 32), ("4 2^96", 4 << 96)):
        for length in (1, 16, 45, 272):
            flag = "EdgeCaseR" if r else "ZeroR"
            f.valid(f"r = {name}, {length} bytes", flag, f.random.bytes(length), poly_key(f, r))
    # r with bits that clamping clears: refused, or the tag of the clamped r.
    unclamped = [b"\xff" * 16, bytes(range(0xF0, 0x100)), bytes(3) + b"\x10" + bytes(12),
                 bytes(4) + b"\1" + bytes(11), bytes(15) + b"\x80"]  # fmt: skip
    for r in unclamped:
        for length in (1, 45, 272):
            k, nonce, message = f.random.bytes(16), f.nonce(), f.random.bytes(length)
            r = bytes(a | b for a, b in zip(r, f.random.bytes(16))) if r.startswith(bytes(3)) else r
            f.add("acceptable", f"r is {r.hex()}, not clamped: the tag of the clamped r, {length} bytes",
                  "UnclampedR", k + r, nonce, message, f.tag(k + r, nonce, message))  # fmt: skip
    # Two messages with one hash: block 1 goes up by 1, and block 2 down by r.
    key, nonce = f.key(), f.nonce()
    r = wrong.le(key[16:])
    one, two = f.random.below(2**64), 2**127 + r // 2
    for a, b in ((one, two), (one + 1, two - r % 2**128)):
        if 0 <= b < 2**128:
            f.valid("one of two messages with one tag under this key", "TagCollision",
                    a.to_bytes(16, "little") + b.to_bytes(16, "little"), key, nonce)  # fmt: skip
    sizes = [1, 15, 16, 17, 32, 45, 64, 100]
    usual = cases(f, sizes)
    raw = [(f.random.bytes(32), nonce, message) for _, nonce, message in cases(f, sizes)]
    for comment, flag, make in wrong.POLY1305_AES:
        if flag not in ("UnreducedH", "LostCarry"):
            mistakes(f, [(comment, flag, make)], lambda make, key, nonce, M: make(key, nonce, M),
                     raw if flag == "UnclampedR" else usual)  # fmt: skip
