"""AES, and AES with fewer rounds.

    Cipher(X) = AddRoundKey_Nr . ShiftRows . SubBytes
                . (AddRoundKey_r . MixColumns . ShiftRows . SubBytes, r = Nr-1 .. 1)
                . AddRoundKey_0 (X)

    InvCipher = the same steps undone, in the opposite order.

    AES_a(K, X) = Cipher(X) with a in place of Nr and the first a + 1 round keys.

Source: FIPS-197, Sections 4 and 5. AES_a: EliMAC, Section 5, which names
AES_4, AES_7 and AES_10 and does not say whether the last of the a rounds has a
MixColumns. Here it has no MixColumns, as in Cipher(), so that AES_10 is AES-128.

Blocks are numbers below 2^128; the first byte of the string is the highest.
"""

from functools import lru_cache

N = 128  # n, the block size in bits
ROUNDS = {16: 10, 24: 12, 32: 14}  # Nr for each key length in bytes


# --- GF(2^8), FIPS-197 Section 4 -------------------------------------------


def xtimes(a):
    """Returns a * x modulo x^8 + x^4 + x^3 + x + 1."""
    a <<= 1
    return a ^ 0x11B if a & 0x100 else a


def multiply(a, b):
    """Returns a * b, computed one bit of b at a time."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = xtimes(a)
        b >>= 1
    return product


def inverse(a):
    """Returns a^-1 = a^254, and 0 for 0."""
    power = 1
    for _ in range(254):
        power = multiply(power, a)
    return power


# --- The steps of a round, FIPS-197 Section 5.1 ----------------------------


def s_box_entry(a):
    """Returns SubBytes of one byte: inversion, then an affine map over GF(2)."""
    b = inverse(a)
    rotations = 0
    for i in range(5):
        rotations ^= (b << i) | (b >> (8 - i))
    return (rotations & 0xFF) ^ 0x63


S_BOX = bytes(s_box_entry(a) for a in range(256))
S_BOX_INVERSE = bytes(S_BOX.index(v) for v in range(256))


# A state is 16 bytes; byte r + 4c is in row r and column c.


def sub_bytes(state):
    return bytes(S_BOX[b] for b in state)


def shift_rows(state):
    """Row r moves r columns to the left."""
    return bytes(state[r + 4 * ((c + r) % 4)] for c in range(4) for r in range(4))


def mix_columns(state, row=(2, 3, 1, 1)):
    """Multiplies each column by a matrix with this first row. Each further row is the previous one
    rotated by one place to the right."""
    out = []
    for c in range(4):
        column = state[4 * c : 4 * c + 4]
        for r in range(4):
            entry = 0
            for i in range(4):
                entry ^= multiply(column[(r + i) % 4], row[i])
            out.append(entry)
    return bytes(out)


# --- The steps undone, FIPS-197 Section 5.3 --------------------------------


def inv_sub_bytes(state):
    return bytes(S_BOX_INVERSE[b] for b in state)


def inv_shift_rows(state):
    """Row r moves r columns to the right."""
    return bytes(state[r + 4 * ((c - r) % 4)] for c in range(4) for r in range(4))


def inv_mix_columns(state):
    return mix_columns(state, row=(0xE, 0xB, 0xD, 9))


# --- Key expansion, FIPS-197 Section 5.2 -----------------------------------


def expand_key(key):
    """Returns the Nr + 1 round keys, as numbers."""
    if len(key) not in ROUNDS:
        raise ValueError(f"AES key: {len(key)} bytes, want 16, 24 or 32")
    nk = len(key) // 4
    words = [key[4 * i : 4 * i + 4] for i in range(nk)]
    rcon = 1
    for i in range(nk, 4 * (ROUNDS[len(key)] + 1)):
        word = words[i - 1]
        if i % nk == 0:
            word = sub_bytes(word[1:] + word[:1])
            word = bytes([word[0] ^ rcon]) + word[1:]
            rcon = xtimes(rcon)
        elif nk > 6 and i % nk == 4:
            word = sub_bytes(word)
        words.append(bytes(a ^ b for a, b in zip(words[i - nk], word)))
    stream = b"".join(words)
    return [int.from_bytes(stream[i : i + 16], "big") for i in range(0, len(stream), 16)]


# --- The cipher, twice ------------------------------------------------------


def encrypt_by_steps(round_keys, block):
    """Cipher() as the standard prints it. `Cipher` below is faster."""
    state = block ^ round_keys[0]
    for round_key in round_keys[1:-1]:
        state = sub_bytes(state.to_bytes(16, "big"))
        state = int.from_bytes(mix_columns(shift_rows(state)), "big") ^ round_key
    state = sub_bytes(state.to_bytes(16, "big"))
    return int.from_bytes(shift_rows(state), "big") ^ round_keys[-1]


def decrypt_by_steps(round_keys, block):
    """InvCipher() as the standard prints it."""
    state = (block ^ round_keys[-1]).to_bytes(16, "big")
    state = inv_sub_bytes(inv_shift_rows(state))
    for round_key in reversed(round_keys[1:-1]):
        state = int.from_bytes(state, "big") ^ round_key
        state = inv_mix_columns(state.to_bytes(16, "big"))
        state = inv_sub_bytes(inv_shift_rows(state))
    return int.from_bytes(state, "big") ^ round_keys[0]


def byte_tables(linear):
    """Returns a table for each of the 16 byte positions: byte value -> its share of a round.

    ShiftRows and MixColumns are linear, so a round is the xor of the contributions
    of the bytes of the state. Table i holds linear(0 .. S[v] .. 0) for each value v
    of byte i.
    """
    tables = []
    for i in range(16):
        # The share of S[v] is the xor of the shares of its bits.
        bit = [
            int.from_bytes(linear(bytes(i) + bytes([1 << k]) + bytes(15 - i)), "big")
            for k in range(8)
        ]
        table = []
        for v in range(256):
            share = 0
            for k in range(8):
                if S_BOX[v] >> k & 1:
                    share ^= bit[k]
            table.append(share)
        tables.append(table)
    return tables


MIDDLE = byte_tables(lambda state: mix_columns(shift_rows(state)))
LAST = byte_tables(shift_rows)


class Cipher:
    """AES under one key, or AES_a if `rounds` is given."""

    n = N

    def __init__(self, key, rounds=None):
        round_keys = expand_key(key)
        full = len(round_keys) - 1
        if rounds is None:
            rounds = full
        if not 1 <= rounds <= full:
            raise ValueError(f"AES rounds: {rounds}, want 1 to {full}")
        self.round_keys = round_keys[: rounds + 1]

    def encrypt(self, block):
        m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, mA, mB, mC, mD, mE, mF = MIDDLE
        first, *middle, last = self.round_keys
        state = block ^ first
        for round_key in middle:
            b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA, bB, bC, bD, bE, bF = (
                state.to_bytes(16, "big")
            )
            state = (
                round_key
                ^ m0[b0] ^ m1[b1] ^ m2[b2] ^ m3[b3]
                ^ m4[b4] ^ m5[b5] ^ m6[b6] ^ m7[b7]
                ^ m8[b8] ^ m9[b9] ^ mA[bA] ^ mB[bB]
                ^ mC[bC] ^ mD[bD] ^ mE[bE] ^ mF[bF]
            )  # fmt: skip
        out = last
        for table, byte in zip(LAST, state.to_bytes(16, "big")):
            out ^= table[byte]
        return out

    def decrypt(self, block):
        return decrypt_by_steps(self.round_keys, block)


@lru_cache(maxsize=64)
def cipher(key, rounds=None):
    """Returns `Cipher(key, rounds)`, cached because key expansion costs more than a block."""
    return Cipher(key, rounds)
