"""The MACs that the papers compare with, for the lab: with AES-128 unless stated, for messages of
whole bytes.

Blocks are numbers below 2^128; the first byte is the highest. `keys` is a list of byte strings.
Sums are written out term by term, each with its own power of x, as in the formulas.

If the paper that defines a MAC could not be read, the MAC's row in crates/lab explains the choice.
"""

import hashlib
from functools import reduce
from operator import xor

import gf
from aes import cipher, mix_columns, shift_rows, sub_bytes
from cmac import cmac
from lab_deoxys import encrypt as deoxys
from lightmac import lightmac
from umac99 import PRFS

N = 128
SIZE = 16


def times_power(a, i):
    """Returns a x^i in GF(2^128)."""
    for _ in range(i):
        a = gf.double(a, N)
    return a


def total(terms):
    return reduce(xor, terms, 0)


def number(block):
    return int.from_bytes(block, "big")


def tag(block):
    return block.to_bytes(SIZE, "big")


def pad(message, size=SIZE):
    """Appends 10* up to a multiple of `size` bytes, even to full blocks."""
    message += b"\x80"
    return message + bytes(-len(message) % size)


def pieces(message, size=SIZE):
    return [message[i : i + size] for i in range(0, len(message), size)]


def padded_blocks(message):
    return [number(block) for block in pieces(pad(message))]


def ciphers(keys):
    return [cipher(key).encrypt for key in keys]


def chain(E, blocks):
    """Returns Y_1 .. Y_m."""
    out = []
    for block in blocks:
        out.append(E(block ^ (out[-1] if out else 0)))
    return out


# --- Chains -------------------------------------------------------------------


def cbc_mac(keys, message, nonce):
    if not message or len(message) % SIZE:
        raise ValueError(f"message: {len(message)} bytes, want a nonzero multiple of 16")
    (E,) = ciphers(keys)
    return tag(chain(E, map(number, pieces(message)))[-1])


def emac(keys, message, nonce):
    E1, E2 = ciphers(keys)
    return tag(E2(chain(E1, padded_blocks(message))[-1]))


def sum_ecbc(keys, message, nonce):
    one, two = emac(keys[:2], message, None), emac(keys[2:], message, None)
    return bytes(a ^ b for a, b in zip(one, two, strict=True))


def three_kf9(keys, message, nonce):
    E1, E2, E3 = ciphers(keys)
    Y = chain(E1, padded_blocks(message))
    return tag(E2(Y[-1]) ^ E3(total(Y)))


def xcbc(keys, message, nonce):
    (E,) = ciphers(keys[:1])
    K2, K3 = map(number, keys[1:])
    if message and len(message) % SIZE == 0:
        blocks = [number(block) for block in pieces(message)]
        blocks[-1] ^= K2
    else:
        blocks = padded_blocks(message)
        blocks[-1] ^= K3
    return tag(chain(E, blocks)[-1])


def aes_xcbc_mac(keys, message, nonce):
    """RFC 3566, Section 4."""
    (E,) = ciphers(keys)
    derived = [tag(E(number(bytes([i]) * SIZE))) for i in (1, 2, 3)]
    return xcbc(derived, message, None)


def cbc_mac_ede(keys, message, nonce):
    """ISO/IEC 9797-1, algorithm 3, from memory: the last block is encrypted three times."""
    E1, _ = ciphers(keys)
    return tag(E1(cipher(keys[1]).decrypt(chain(E1, padded_blocks(message))[-1])))


def four_rounds(block):
    """Returns four rounds of AES without keys, each with MixColumns."""
    state = block.to_bytes(SIZE, "big")
    for _ in range(4):
        state = mix_columns(shift_rows(sub_bytes(state)))
    return number(bytes(state))


def pelican(keys, message, nonce):
    (E,) = ciphers(keys)
    *blocks, last = padded_blocks(message)
    Y = E(0)
    for block in blocks:
        Y = four_rounds(Y ^ block)
    return tag(E(Y ^ last))


def marvin(keys, message, nonce):
    """Uses c = 2a, masks R x^(8 i), zeros after the message, and the whole tag."""
    (E,) = ciphers(keys)
    R = E(0x2A) ^ 0x2A
    blocks = pieces(message + bytes(-len(message) % SIZE))
    terms = [
        four_rounds(number(block) ^ times_power(R, 8 * i)) for i, block in enumerate(blocks, 1)
    ]
    return tag(E(R ^ 1 << 127 ^ 8 * len(message) ^ total(terms)))


def one_round(block):
    """Returns a round of AES without a key, with MixColumns."""
    return number(mix_columns(shift_rows(sub_bytes(tag(block)))))


def pad_with_one(message, size):
    """Appends 01 and zeros up to a multiple of `size` bytes, even to full blocks."""
    message += b"\x01"
    return message + bytes(-len(message) % size)


def lemac_end(state, keys, nonce):
    """Returns the tag of LeMac and PetitMac. `keys` are E_K(i) from the first one not in the state."""
    round_keys, (of_nonce, of_sum) = keys[:-2], map(tag, keys[-2:])
    N = number(nonce)
    total = N ^ cipher(of_nonce).encrypt(N)
    for i, block in enumerate(state):
        for key in round_keys[i : i + 10]:
            block = one_round(block ^ key)
        total ^= block
    return tag(cipher(of_sum).encrypt(total))


def lemac(delay):
    """LeMac. S3 takes m1 and m2 `delay` steps after LeMac-0, the first design, which had a mistake."""

    def mac(keys, message, nonce):
        (E,) = ciphers(keys)
        derived = [E(i << 120) for i in range(29)]
        padded = pad_with_one(message, 64) + bytes(64 * (3 + delay))
        steps = [[number(block) for block in pieces(step)] for step in pieces(padded, 64)]

        def m(j, i):
            return steps[i][j] if i >= 0 else 0

        S = derived[:9]
        for i, (m0, m1, m2, m3) in enumerate(steps):
            a = i - delay
            D = m(1, a - 1) ^ m(2, a - 2) ^ m(1, a - 2) ^ m(2, a - 3)
            A = [one_round(block) for block in S[:8]]
            extra = [m3, m3, D, m0, m0, m1, m1, m3]
            S = [S[0] ^ S[8] ^ m2, *map(xor, A, extra)]
        return lemac_end(S, derived[9:], nonce)

    return mac


def petitmac(keys, message, nonce):
    (E,) = ciphers(keys)
    derived = [E(i << 120) for i in range(18)]
    S, R = derived[0], [0] * 5
    for m in map(number, pieces(pad_with_one(message, SIZE))):
        x = R[3] ^ m
        S = one_round(one_round(S) ^ m ^ R[4]) ^ x
        R = [x, R[4] ^ x, R[4] ^ R[0], R[1], R[2]]
    return lemac_end([S, *R], derived[1:], nonce)


def chaskey(rounds):
    """Chaskey, with 32-bit words and the field's numbers lowest byte first."""

    def rotate(v, by):
        return (v << by | v >> 32 - by) % 2**32

    def permute(state):
        a, b, c, d = (state >> 32 * i & 2**32 - 1 for i in range(4))
        for _ in range(rounds):
            a, c = (a + b) % 2**32, (c + d) % 2**32
            b, d = rotate(b, 5) ^ a, rotate(d, 8) ^ c
            a, c = (rotate(a, 16) + d) % 2**32, (c + b) % 2**32
            d, b, c = rotate(d, 13) ^ a, rotate(b, 7) ^ c, rotate(c, 16)
        return a | b << 32 | c << 64 | d << 96

    def mac(keys, message, nonce):
        state = key = int.from_bytes(keys[0], "little")
        if message and len(message) % SIZE == 0:
            end = gf.double(key, N)
        else:
            end = gf.double(gf.double(key, N), N)
            message += b"\x01" + bytes(-(len(message) + 1) % SIZE)
        *blocks, last = [int.from_bytes(block, "little") for block in pieces(message)]
        for block in blocks:
            state = permute(state ^ block)
        return (permute(state ^ last ^ end) ^ end).to_bytes(SIZE, "little")

    return mac


def cbc3(keys, message, nonce):
    return PRFS["CBC3-AES128"](b"".join(keys), message)


def cmac_aes(keys, message, nonce):
    return cmac(cipher(keys[0]), message)


# --- Sums ---------------------------------------------------------------------


def pmac1(keys, message, nonce):
    (E,) = ciphers(keys)
    L = E(0)
    m = max(1, -(-len(message) // SIZE))
    before, last = message[: SIZE * (m - 1)], message[SIZE * (m - 1) :]
    terms = [
        E(number(block) ^ times_power(L, i)) for i, block in enumerate(pieces(before), start=1)
    ]
    mask = times_power(L, m)
    if len(last) == SIZE:
        mask ^= gf.double(mask, N)
    else:
        mask ^= gf.double(gf.double(mask, N), N)
        last = pad(last)
    return tag(E(total(terms) ^ number(last) ^ mask))


def pmac2(keys, message, nonce):
    E1, E2 = ciphers(keys)
    L = E1(0)
    *blocks, last = padded_blocks(message)
    l = len(blocks)
    terms = [
        times_power(E1(block ^ times_power(L, i)), l - 1 - i) for i, block in enumerate(blocks)
    ]
    return tag(E2(total(terms) ^ last))


def pmac_parity(keys, message, nonce):
    E1, E2, E3, E4 = ciphers(keys)
    L1, L2, L3 = E1(0), E2(0), E3(0)
    *blocks, last = padded_blocks(message)
    terms = []
    for i in range(0, len(blocks), 2):
        D1, D2, D3 = (times_power(L, i // 2) for L in (L1, L2, L3))
        terms.append(E1(blocks[i] ^ D1))
        if i + 1 < len(blocks):
            terms.append(E2(blocks[i + 1] ^ D2))
            terms.append(E3(blocks[i] ^ blocks[i + 1] ^ D3))
    return tag(E4(total(terms) ^ last))


def pmac_plus(keys, message, nonce):
    E1, E2, E3 = ciphers(keys)
    D0, D1 = E1(0), E1(1)
    blocks = padded_blocks(message)
    l = len(blocks)
    Y = [
        E1(block ^ times_power(D0, i) ^ times_power(D1, 2 * i))
        for i, block in enumerate(blocks, start=1)
    ]
    weighted = [times_power(y, l - i + 1) for i, y in enumerate(Y, start=1)]
    return tag(E2(total(Y)) ^ E3(total(weighted)))


def numbered(E, message):
    """Sigma of XOR-MAC: pieces of 64 bits, each after its number."""
    halves = pieces(pad(message, 8), 8)
    return total(E(i << 64 | number(half)) for i, half in enumerate(halves, start=1))


def xor_mac(keys, message, nonce):
    (E,) = ciphers(keys)
    return tag(numbered(E, message) ^ E(number(nonce)))


def counter_sum(keys, message, nonce):
    E1, E2 = ciphers(keys)
    return tag(E2(numbered(E1, message)))


def xecb(keys, message, nonce):
    (E,) = ciphers(keys)
    R = E(number(nonce))
    blocks = enumerate(padded_blocks(message), start=1)
    return tag(total(E((block + i * R) % 2**N) for i, block in blocks) ^ R)


def pcs_hmac(keys, message, nonce):
    def f(i, piece):
        return number(hmac(hashlib.sha256, 64, keys[0], i.to_bytes(16, "big") + piece))

    terms = [f(i, piece) for i, piece in enumerate(pieces(pad(message, 32), 32), start=1)]
    return f(0, total(terms).to_bytes(32, "big")).to_bytes(32, "big")


def one_key_lightmac(keys, message, nonce):
    E = cipher(keys[0])
    return lightmac(E, E, message, 32)


def zmac(keys, message, nonce):
    """t = 120: strings of t bits are numbers below 2^120, and the first t bits of a block are the
    block shifted right by 8."""

    def E(i, tweak, block):
        tweak = bytes([i]) + tweak.to_bytes(15, "big")
        return number(deoxys(keys[0], tweak, block.to_bytes(SIZE, "big")))

    full = message and len(message) % 31 == 0
    blocks = pieces(message if full else pad(message, 31), 31)
    Ll, Lr = E(9, 0, 0), E(9, 1, 0)
    U = V = 0
    for i, block in enumerate(blocks):
        Xl, Xr = number(block[:16]), number(block[16:])
        C = E(8, times_power(Lr, i) >> 8 ^ Xr, times_power(Ll, i) ^ Xl)
        U ^= times_power(C, len(blocks) - i)
        V ^= C >> 8 ^ Xr
    j = 0 if full else 4
    Y = [E(j + k, V, U) for k in range(4)]
    return tag(Y[0] ^ Y[1]) + tag(Y[2] ^ Y[3])


# --- HMAC, RFC 2104 -------------------------------------------------------------


def hmac(H, block, key, message):
    if len(key) > block:
        key = H(key).digest()
    key += bytes(block - len(key))
    inner = H(bytes(b ^ 0x36 for b in key) + message).digest()
    return H(bytes(b ^ 0x5C for b in key) + inner).digest()


def hmac_of(H):
    return lambda keys, message, nonce: hmac(H, 64, keys[0], message)


# name -> (bytes of the keys; None: any length; bytes of the nonce; the MAC)
MACS = {
    "CBC-MAC": ([16], 0, cbc_mac),
    "EMAC": ([16] * 2, 0, emac),
    "CBC-MAC-EDE": ([16] * 2, 0, cbc_mac_ede),
    "CBC3": ([16] * 3, 0, cbc3),
    "CMAC": ([16], 0, cmac_aes),
    "AES-XCBC-MAC": ([16], 0, aes_xcbc_mac),
    "XCBC": ([16] * 3, 0, xcbc),
    "PMAC1": ([16], 0, pmac1),
    "PMAC2": ([16] * 2, 0, pmac2),
    "PMAC/P": ([16] * 4, 0, pmac_parity),
    "PMAC_Plus": ([16] * 3, 0, pmac_plus),
    "SUM-ECBC": ([16] * 4, 0, sum_ecbc),
    "3kf9": ([16] * 3, 0, three_kf9),
    "ZMAC": ([16], 0, zmac),
    "XOR-MAC": ([16], 8, xor_mac),
    "PCS-HMAC-SHA256": ([32], 0, pcs_hmac),
    "COUNTER-SUM": ([16] * 2, 0, counter_sum),
    "XECB-MAC": ([16], 16, xecb),
    "1K-LIGHTMAC-S32": ([16], 0, one_key_lightmac),
    "PELICAN": ([16], 0, pelican),
    "MARVIN": ([16], 0, marvin),
    "LEMAC": ([16], 16, lemac(1)),
    "PETITMAC": ([16], 16, petitmac),
    "CHASKEY": ([16], 0, chaskey(8)),
    "CHASKEY-12": ([16], 0, chaskey(12)),
    "HMAC-MD5": (None, 0, hmac_of(hashlib.md5)),
    "HMAC-SHA1": (None, 0, hmac_of(hashlib.sha1)),
    "HMAC-SHA256": (None, 0, hmac_of(hashlib.sha256)),
}
