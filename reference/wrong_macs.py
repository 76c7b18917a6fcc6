"""MACs with one mistake each: the results of plausible bugs.

A mistake is (comment, flag, function). The functions of PMAC and LightMAC have the arguments of
`pmac` and `lightmac`, and those of the others the arguments of the MACs' references.
`wycheproof.py` writes the tags as invalid, so that an implementation with such a bug accepts one of
them.

Sources and letters are those of `pmac.py`, `lightmac.py`, `elimac.py`, `umac.py` and `poly1305.py`.
"""

import struct
from functools import partial

import aes
import gf
import umac as right_umac
from cmac import cmac
from poly1305 import CLEAR, P, number as le


def be(string):
    return int.from_bytes(string, "big")


def pieces(message, size):
    return [message[i : i + size] for i in range(0, len(message), size)]


def pad_with(byte):
    """Returns a function that pads to `size` bytes with this byte and zeros."""
    return lambda last, size: last + byte + bytes(size - len(last) - 1)


pad10 = pad_with(b"\x80")


def pad_zero(last, size):
    return last.ljust(size, b"\0")


def reverse(number, n):
    """Returns the number with its bytes reversed."""
    return int.from_bytes(number.to_bytes(n // 8, "little"), "big")


# --- PMAC ---------------------------------------------------------------------


def times(L, g, n, double=gf.double):
    """Returns g L, for a polynomial g."""
    out = 0
    while g:
        if g & 1:
            out ^= L
        L, g = double(L, n), g >> 1
    return out


def gamma(L, i, n, double=gf.double):
    return times(L, i ^ i >> 1, n, double)


def nothing(L, n):
    return 0


def pmac(E, message, offset=gamma, full=gf.halve, part=nothing, pad=pad10, always=False,
         none=False, all_alike=False, end=lambda E, Sigma: E.encrypt(Sigma)):  # fmt: skip
    """PMAC with replaceable parts: the offset of block i, the values added to Sigma after a full
    and after an incomplete last block, and the padding."""
    n, size = E.n, E.n // 8
    L = E.encrypt(0)
    if none and not message:
        return end(E, 0).to_bytes(size, "big")
    if always:
        message = pad10(message, size * (len(message) // size + 1))
    *before, last = pieces(message, size) or [b""]
    Sigma = 0
    for i, block in enumerate(before, 1):
        Sigma ^= E.encrypt(be(block) ^ offset(L, i, n))
    mask = full(L, n) if len(last) == size and not always else part(L, n)
    last = be(last if len(last) == size else pad(last, size))
    if all_alike:
        last = E.encrypt(last ^ offset(L, len(before) + 1, n))
    return end(E, Sigma ^ last ^ mask).to_bytes(size, "big")


def no_reduction(a, n):
    return a << 1 & 2**n - 1


def other_constant(a, n):
    """Doubles with the constant of the other block size."""
    return (a << 1 & 2**n - 1) ^ (gf.c(192 - n) if a >> n - 1 else 0)


def reduced_at_the_wrong_bit(a, n):
    return (a << 1 & 2**n - 1) ^ (gf.c(n) if a & 1 else 0)


def reversed_double(a, n):
    return reverse(gf.double(reverse(a, n), n), n)


def power(L, i, n):
    return times(L, 1 << i, n)


def quarter(L, n):
    return gf.double(gf.double(L, n), n)


def pmac1(E, message):
    """PMAC1 of 2004."""
    three, five = lambda a, n: a ^ gf.double(a, n), lambda a, n: a ^ quarter(a, n)
    m = max(1, -(-8 * len(message) // E.n))
    last = lambda by: lambda L, n: by(power(L, m, n), n)
    return pmac(E, message, power, last(three), last(five))


OFFSET, MASK, PADDING, OTHER = "WrongOffset", "WrongLastMask", "WrongPadding", "OtherAlgorithm"
FINAL = "MissingStep"

PMAC = [
    ("all offsets are 0", OFFSET, partial(pmac, offset=lambda L, i, n: 0)),
    ("offset i L, without the Gray code", OFFSET, partial(pmac, offset=times)),
    ("offset x^i L, as in PMAC1", OFFSET, partial(pmac, offset=power)),
    ("offset x^(i-1) L", OFFSET, partial(pmac, offset=lambda L, i, n: power(L, i - 1, n))),
    ("first block has no offset: gamma_(i-1)", OFFSET,
     partial(pmac, offset=lambda L, i, n: gamma(L, i - 1, n))),
    ("offset one too far: gamma_(i+1)", OFFSET,
     partial(pmac, offset=lambda L, i, n: gamma(L, i + 1, n))),
    ("the offset is only L(ntz(i)), not the sum so far", OFFSET,
     partial(pmac, offset=lambda L, i, n: times(L, i & -i, n))),
    ("doubling without reduction", OFFSET, partial(pmac, offset=partial(gamma, double=no_reduction))),
    ("doubling with the constant of the other block size", OFFSET,
     partial(pmac, offset=partial(gamma, double=other_constant))),
    ("doubling reduces if the last bit is 1", OFFSET,
     partial(pmac, offset=partial(gamma, double=reduced_at_the_wrong_bit))),
    ("doubling of the block with its bytes reversed", OFFSET,
     partial(pmac, offset=partial(gamma, double=reversed_double))),
    ("no L x^-1 after a full block", MASK, partial(pmac, full=nothing)),
    ("L after a full block, not L x^-1", MASK, partial(pmac, full=lambda L, n: L)),
    ("L x after a full block, not L x^-1", MASK, partial(pmac, full=gf.double)),
    ("halving without reduction", MASK, partial(pmac, full=lambda L, n: L >> 1)),
    ("halving with the constant of doubling", MASK,
     partial(pmac, full=lambda L, n: L >> 1 ^ (gf.c(n) if L & 1 else 0))),
    ("halving always reduces", MASK, partial(pmac, full=lambda L, n: L >> 1 ^ gf.x_inverse(n))),
    ("L x^-1 after each last block", MASK, partial(pmac, part=gf.halve)),
    ("L x^-1 after incomplete blocks instead of full ones", MASK,
     partial(pmac, full=nothing, part=gf.halve)),
    ("L x and L x^2 at the end, as in CMAC", MASK, partial(pmac, full=gf.double, part=quarter)),
    ("padding of zeros", PADDING, partial(pmac, pad=pad_zero)),
    ("padding 01 00 ..", PADDING, partial(pmac, pad=pad_with(b"\1"))),
    ("a full last block is followed by a block of padding", PADDING, partial(pmac, always=True)),
    ("the empty message has no block: the tag is L", PADDING, partial(pmac, none=True)),
    ("the last block is enciphered as the others are", FINAL, partial(pmac, all_alike=True)),
    ("the sum is not enciphered", FINAL, partial(pmac, end=lambda E, Sigma: Sigma)),
    ("PMAC1 of 2004", OTHER, pmac1),
    ("CMAC", OTHER, cmac),
]


# --- LightMAC -------------------------------------------------------------------


def counter_big(i, s):
    return (i % 2**s).to_bytes(s // 8, "big")


def lightmac(E1, E2, message, s, counter=counter_big, first=1, front=True, pad=pad10, narrow=False,
             whole=False):  # fmt: skip
    """LightMAC without the length limit, with replaceable parts. With `narrow` the last block is
    padded to n - s bits, with leading zeros. With `whole` a full last block is not padded."""
    size, r = E1.n // 8, (E1.n - s) // 8
    full = len(message) // r
    if whole and message and len(message) % r == 0:
        full -= 1
    V = 0
    for i in range(full):
        block, number = message[r * i : r * (i + 1)], counter(i + first, s)
        V ^= E1.encrypt(be(number + block if front else block + number))
    last = message[r * full :]
    if len(last) < r or not whole:
        last = pad(last, r if narrow else size)
    last = last.rjust(size, b"\0") if narrow else last.ljust(size, b"\0")
    return E2.encrypt(V ^ be(last)).to_bytes(size, "big")


def lightmac_go(E1, E2, message, s):
    """The last block has up to n bits, and is not padded if it is full."""
    size, r = E1.n // 8, (E1.n - s) // 8
    full = max(0, -(-(len(message) - size) // r))
    last = message[r * full :]
    V = 0
    for i in range(full):
        V ^= E1.encrypt(be(counter_big(i + 1, s) + message[r * i : r * (i + 1)]))
    last = last if len(last) == size else pad10(last, size)
    return E2.encrypt(V ^ be(last)).to_bytes(size, "big")


COUNTER, KEYS = "WrongCounter", "WrongKeyOrder"


def width(other):
    """Returns the tag of LightMAC with another counter size, and None if that size is correct."""
    return lambda E1, E2, M, s: None if other == s or 2 * other > E1.n else lightmac(E1, E2, M, other)


def counter_gray(i, s):
    i %= 2**s
    return counter_big(i ^ i >> 1, s)


LIGHTMAC = [
    ("the counter starts at 0", COUNTER, partial(lightmac, first=0)),
    ("the counter is little-endian", COUNTER,
     partial(lightmac, counter=lambda i, s: counter_big(i, s)[::-1])),
    ("the counter is a Gray code", COUNTER, partial(lightmac, counter=counter_gray)),
    ("the counter is always 0", COUNTER, partial(lightmac, counter=lambda i, s: counter_big(0, s))),
    ("the counter has one byte that counts, the others are 0", COUNTER,
     partial(lightmac, counter=lambda i, s: counter_big(i % 256, s))),
    ("the counter is after the block", COUNTER, partial(lightmac, front=False)),
    *((f"the counter has {s} bits", "WrongCounterSize", width(s)) for s in (8, 16, 24, 32, 64)),
    ("the last block is padded to n - s bits, with leading zeros", PADDING,
     partial(lightmac, narrow=True)),
    ("padding of zeros", PADDING, partial(lightmac, pad=pad_zero)),
    ("padding 01 00 ..", PADDING, partial(lightmac, pad=pad_with(b"\1"))),
    ("a full last block is not padded", PADDING, partial(lightmac, whole=True)),
    ("a last block of up to n bits, not padded if full", PADDING, lightmac_go),
    ("K1 and K2 exchanged", KEYS, lambda E1, E2, M, s: lightmac(E2, E1, M, s)),
    ("K1 for all", KEYS, lambda E1, E2, M, s: lightmac(E1, E1, M, s)),
    ("K2 for all", KEYS, lambda E1, E2, M, s: lightmac(E2, E2, M, s)),
]  # fmt: skip


# --- EliMAC ---------------------------------------------------------------------


def rounds(round_keys, block, mix_last=False):
    state = block ^ round_keys[0]
    for i, round_key in enumerate(round_keys[1:], 1):
        state = aes.shift_rows(aes.sub_bytes(state.to_bytes(16, "big")))
        if mix_last or i < len(round_keys) - 1:
            state = aes.mix_columns(state)
        state = be(state) ^ round_key
    return state


def elimac(key, message, h=7, i_rounds=4, mix_last=False, zero_keys=False, first=1, counter=None,
           i_key=None, exchanged=False, pad=pad10, whole=False):  # fmt: skip
    K1, K2 = (key[16:], key[:16]) if exchanged else (key[:16], key[16:])
    H = aes.expand_key(K1)[: h + 1]
    I = aes.expand_key(K1 if i_key else bytes(16))[: i_rounds + 1]
    if zero_keys:
        I = [0] * len(I)
    encode = counter or (lambda i: i.to_bytes(4, "big") * 4)
    full = len(message) // 16
    if whole and message and len(message) % 16 == 0:
        full -= 1
    S = 0
    for i in range(full):
        subkey = rounds(H, be(encode(i + first)), mix_last)
        S ^= rounds(I, subkey ^ be(message[16 * i : 16 * i + 16]), mix_last)
    last = message[16 * full :]
    last = last if len(last) == 16 else pad(last, 16)
    return aes.cipher(K2).encrypt(S ^ be(last)).to_bytes(16, "big")


ROUNDS = "WrongRounds"

ELIMAC = [
    ("H has 6 rounds", ROUNDS, partial(elimac, h=6)),
    ("H has 10 rounds", ROUNDS, partial(elimac, h=10)),
    ("I has 3 rounds", ROUNDS, partial(elimac, i_rounds=3)),
    ("I has 5 rounds", ROUNDS, partial(elimac, i_rounds=5)),
    ("the last rounds of H and I have MixColumns", ROUNDS, partial(elimac, mix_last=True)),
    ("the round keys of I are 0", ROUNDS, partial(elimac, zero_keys=True)),
    ("I under the schedule of K1", ROUNDS, partial(elimac, i_key=True)),
    ("the counter starts at 0", COUNTER, partial(elimac, first=0)),
    ("the counter is little-endian", COUNTER,
     partial(elimac, counter=lambda i: i.to_bytes(4, "little") * 4)),
    ("the counter once, in the last four bytes", COUNTER,
     partial(elimac, counter=lambda i: i.to_bytes(16, "big"))),
    ("the counter is always 1", COUNTER, partial(elimac, counter=lambda i: b"\0\0\0\1" * 4)),
    ("padding of zeros", PADDING, partial(elimac, pad=pad_zero)),
    ("padding 01 00 ..", PADDING, partial(elimac, pad=pad_with(b"\1"))),
    ("a full last block is not padded", PADDING, partial(elimac, whole=True)),
    ("K1 and K2 exchanged", KEYS, partial(elimac, exchanged=True)),
    ("K1 for all", KEYS, lambda key, M: elimac(key[:16] * 2, M)),
    ("K2 for all", KEYS, lambda key, M: elimac(key[16:] * 2, M)),
]  # fmt: skip


# --- UMAC -----------------------------------------------------------------------


def nh(K, M, words="<", key_words=">", carry=False, signed=False, adjacent=False):
    count = len(M) // 4
    m = struct.unpack(f"{words}{count}I", M)
    k = struct.unpack(f"{key_words}{count}I", K[: len(M)])
    s = [a + b if carry else (a + b) % 2**32 for a, b in zip(m, k)]
    if signed:
        s = [a - 2**32 if a >> 31 else a for a in s]
    pairs = [(i + 2 * j, i + 2 * j + 1) if adjacent else (i + j, i + j + 4)
             for i in range(0, count, 8) for j in range(4)]  # fmt: skip
    return sum(s[a] * s[b] for a, b in pairs) % 2**64


def poly(k, words, p=2**64 - 59, marker=True, first=1, most=2**64 - 2**32):
    y = first
    for m in words:
        if marker and m >= most:
            y = (k * y + p - 1) % p
            m -= 2**64 - p
        y = (k * y + m) % p
    return y


def l3(K1, K2, B, p=2**36 - 5, lazy=False, add=True):
    y = sum(be(B[2 * i : 2 * i + 2]) * (be(K1[8 * i : 8 * i + 8]) % (2**36 - 5)) for i in range(8)) % p
    if lazy and y < 5:
        y += p
    y %= 2**32
    return (y ^ be(K2) if add else y).to_bytes(4, "big")


def pad_block(K, Nonce, taglen, shared=True, clear=True, front=False, derived=True):
    """PDF."""
    index = be(Nonce) % (16 // taglen) if taglen <= 8 and shared else 0
    if clear:
        Nonce = (be(Nonce) - index).to_bytes(len(Nonce), "big")
    block = Nonce.rjust(16, b"\0") if front else Nonce.ljust(16, b"\0")
    key = right_umac.kdf(K, 0, 16) if derived else K
    T = aes.cipher(key).encrypt(be(block)).to_bytes(16, "big")
    return T[index * taglen : (index + 1) * taglen]


def umac(K, M, Nonce, taglen, length="chunk", extra=False, hash2=None, clamp=True, shift=16,
         nh=nh, poly=poly, l3=l3, pdf=pad_block):  # fmt: skip
    """UMAC of at most 2^24 bytes with replaceable parts."""
    iters = taglen // 4
    L1 = right_umac.kdf(K, 1, 1024 + max(16, shift) * (iters - 1))
    L2 = right_umac.kdf(K, 2, 24 * iters)
    L31, L32 = right_umac.kdf(K, 3, 64 * iters), right_umac.kdf(K, 4, 4 * iters)
    chunks = pieces(M, 1024) or [b""]
    if extra and M and len(M) % 1024 == 0:
        chunks.append(b"")
    Y = b""
    for i in range(iters):
        words = []
        for chunk in chunks:
            padded = right_umac.pad(chunk, 32)
            bits = {"chunk": 8 * len(chunk), "bytes": len(chunk), "padded": 8 * len(padded),
                    "message": 8 * len(M), "none": 0}[length]  # fmt: skip
            words.append((nh(L1[shift * i : shift * i + 1024], padded) + bits) % 2**64)
        use = len(M) > 1024 if hash2 is None else hash2
        k = be(L2[24 * i : 24 * i + 8]) & (0x01FFFFFF01FFFFFF if clamp else -1)
        B = poly(k, words) if use else words[-1]
        Y += l3(L31[64 * i : 64 * i + 64], L32[4 * i : 4 * i + 4], B.to_bytes(16, "big"))
    pad = pdf(K, Nonce, taglen) if pdf else bytes(taglen)
    return bytes(a ^ b for a, b in zip(Y, pad, strict=True))


def of_size(other):
    """Returns the first bytes of the tag of a longer UMAC, and None for a shorter one."""
    return lambda K, M, N, taglen: right_umac.umac(K, M, N, other)[:taglen] if other > taglen else None


ENDIAN, HASH, PDF, WORD = "WrongByteOrder", "WrongHash", "WrongPad", "MissingMarkerStep"
OTHER_SIZE = "TagOfOtherSize"

UMAC = [
    ("big-endian message words", ENDIAN, partial(umac, nh=partial(nh, words=">"))),
    ("little-endian key words", ENDIAN, partial(umac, nh=partial(nh, key_words="<"))),
    ("big-endian message words and little-endian key words", ENDIAN,
     partial(umac, nh=partial(nh, words=">", key_words="<"))),
    ("sums of NH are not reduced modulo 2^32", HASH, partial(umac, nh=partial(nh, carry=True))),
    ("sums of NH are signed", HASH, partial(umac, nh=partial(nh, signed=True))),
    ("NH multiplies neighbours", HASH, partial(umac, nh=partial(nh, adjacent=True))),
    ("no length added to NH", HASH, partial(umac, length="none")),
    ("the length in bytes added to NH", HASH, partial(umac, length="bytes")),
    ("the padded length added to NH", HASH, partial(umac, length="padded")),
    ("the message's length added to NH of each chunk", HASH, partial(umac, length="message")),
    ("an empty chunk after a full last one", HASH, partial(umac, extra=True)),
    ("all iterations with the same NH key", HASH, partial(umac, shift=0)),
    ("each NH key starts 4 bytes after the previous one", HASH, partial(umac, shift=4)),
    ("L2 for messages of one chunk too", HASH, partial(umac, hash2=True)),
    ("no L2", HASH, partial(umac, hash2=False)),
    ("the polynomial's key is not masked", HASH, partial(umac, clamp=False)),
    ("the polynomial starts at 0", HASH, partial(umac, poly=partial(poly, first=0))),
    ("the polynomial modulo 2^64", HASH, partial(umac, poly=partial(poly, p=2**64, marker=False))),
    ("no marker step", WORD, partial(umac, poly=partial(poly, marker=False))),
    ("marker step only for words of at least p", WORD, partial(umac, poly=partial(poly, most=2**64 - 59))),
    ("marker step only for words above 2^64 - 2^32", WORD,
     partial(umac, poly=partial(poly, most=2**64 - 2**32 + 1))),
    ("L3 is not reduced below p", HASH, partial(umac, l3=partial(l3, lazy=True))),
    ("L3 modulo 2^36", HASH, partial(umac, l3=partial(l3, p=2**36))),
    ("L3 without its second key", HASH, partial(umac, l3=partial(l3, add=False))),
    ("no pad: the hash is the tag", PDF, partial(umac, pdf=None)),
    ("the first bytes of the block for each nonce", PDF,
     partial(umac, pdf=partial(pad_block, shared=False, clear=False))),
    ("the nonce's low bits are not cleared", PDF, partial(umac, pdf=partial(pad_block, clear=False))),
    ("zeros before the nonce, not after it", PDF, partial(umac, pdf=partial(pad_block, front=True))),
    ("the pad under the key itself", PDF, partial(umac, pdf=partial(pad_block, derived=False))),
    ("first bytes of UMAC-64", OTHER_SIZE, of_size(8)),
    ("first bytes of UMAC-96", OTHER_SIZE, of_size(12)),
    ("first bytes of UMAC-128", OTHER_SIZE, of_size(16)),
]  # fmt: skip


# --- Poly1305-AES -----------------------------------------------------------------


def poly1305_aes(key, nonce, message, clear=CLEAR, one=b"\1", partial_one=None, order=le,
                 last_times_r=True, lazy=False, s_order=le, add=None, exchanged=False,
                 nonce_order=1):  # fmt: skip
    """Poly1305-AES with replaceable parts. With `lazy`, h < 5 stays h + p."""
    k, r = (key[16:], key[:16]) if exchanged else (key[:16], key[16:])
    r = le(r) & clear
    h = 0
    for block in pieces(message, 16):
        if len(block) < 16 and partial_one:
            c = le(partial_one(block))
        else:
            c = order(block + one if order is le else one + block)
        h = (h + c) * r % P if last_times_r else (h * r + c) % P
    if lazy and h < 5:
        h += P
    s = s_order(aes.cipher(k).encrypt(be(nonce[::nonce_order])).to_bytes(16, "big"))
    tag = add(h, s) if add else h + s
    return (tag % 2**128).to_bytes(16, "little")


def words_added(bits):
    """Adds h + s word by word, without carries between the words."""

    def add(h, s):
        out = 0
        for at in range(0, 128, bits):
            out |= ((h >> at) + (s >> at)) % 2**bits << at
        return out

    return add


POLY1305_AES = [
    ("r is not clamped", "UnclampedR", partial(poly1305_aes, clear=-1)),
    ("only the high bits of r are cleared", "UnclampedR",
     partial(poly1305_aes, clear=CLEAR | 3 | 3 << 32 | 3 << 64 | 3 << 96)),
    ("h below 5 stays h + p", "UnreducedH", partial(poly1305_aes, lazy=True)),
    ("no bit above full blocks", PADDING, partial(poly1305_aes, one=b"")),
    ("an incomplete block is padded with zeros, and 2^128 added", PADDING,
     partial(poly1305_aes, partial_one=lambda block: block.ljust(16, b"\0") + b"\1")),
    ("an incomplete block is padded only with zeros", PADDING,
     partial(poly1305_aes, partial_one=lambda block: block)),
    ("an incomplete block is padded with 80", PADDING,
     partial(poly1305_aes, partial_one=lambda block: pad10(block, 16) + b"\1")),
    ("big-endian blocks", ENDIAN, partial(poly1305_aes, order=be)),
    ("s is big-endian", ENDIAN, partial(poly1305_aes, s_order=be)),
    ("the nonce's bytes reversed", ENDIAN, partial(poly1305_aes, nonce_order=-1)),
    ("h is not multiplied after the last block", HASH, partial(poly1305_aes, last_times_r=False)),
    ("s is not added", PDF, partial(poly1305_aes, add=lambda h, s: h)),
    ("s is xored", PDF, partial(poly1305_aes, add=lambda h, s: h ^ s)),
    ("s is added without carries between words of 64 bits", "LostCarry",
     partial(poly1305_aes, add=words_added(64))),
    ("s is added without carries between words of 32 bits", "LostCarry",
     partial(poly1305_aes, add=words_added(32))),
    ("the key is r || k", KEYS, partial(poly1305_aes, exchanged=True)),
]  # fmt: skip
