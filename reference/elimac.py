"""EliMAC[H, I, E] with tag length t, and EliMAC-AES.

    M_1 .. M_l = M || 10*,   l = floor(|M| / n) + 1
    S = xor over i < l of I(H(K1, i), M_i)
    T = E_K2(S xor M_l) [first t bits]

    EliMAC-AES: n = 128, E = AES_10,
    H(K, i) = AES_7(K, <i>),   <i> = the 32-bit number i, four times
    I(K, M) = AES_4(0, K xor M)

Source: Dobraunig, Mennink, Neves, "EliMAC: Speeding Up LightMAC by around
20%", ToSC 2023, Algorithm 1 and Sections 5 and 5.1.

The paper leaves points open. The choices here are:
- AES_a is `aes.Cipher` with a rounds: no MixColumns in the last round, and the
  first a + 1 round keys of AES-128.
- The 0 in AES_4(0, .) is a key, so its round keys are the schedule of the
  all-zero key, and not zero.
- The padding is 10* for each message. A full last block thus becomes M_(l-1).
- The tag is the first t bits.
- i is at most 2^32 - 1. The paper's mu is 2^32, but 2^32 has no 32-bit
  encoding, so a message that needs it is refused.
- Section 5 conjectures that 6 rounds of H are enough for mu = 2^4, and 4 rounds
  for mu = 2. It does not mention 5 rounds, so they count as 4. Fewer are refused.
"""

from functools import lru_cache, partial

import aes
from blocks import bit_length, check_tag_bits, cut, first_bits, pad10

MU = 2**32 - 1  # the greatest i


def blocks_before_last(bits, n, mu):
    """Returns l - 1, after a check that the largest i is at most mu."""
    full = bits // n
    if full > mu:
        limit = (mu + 1) * n
        raise ValueError(
            f"message length: {bits} bits, want fewer than (mu + 1) n = {limit}"
        )
    return full


def elimac_of(H, I, E, n, message, t=None, bits=None, mu=MU):
    """Returns the tag as bytes, for keyed functions H(i), I(S, M) and E(X). All numbers except i
    have n bits. t defaults to n."""
    t = n if t is None else t
    check_tag_bits("t", t, n)
    bits = bit_length(message, bits)
    full = blocks_before_last(bits, n, mu)

    M, (last, length) = cut(message, bits, n, full)
    S = 0
    for i in range(1, full + 1):
        S ^= I(H(i), M[i - 1])
    M_l = pad10(last, length, n)
    return first_bits(E(S ^ M_l), n, t)


# --- EliMAC-AES, Section 5.1 -------------------------------------------------


@lru_cache(maxsize=4096)
def H(K, i, rounds=7):
    return aes.cipher(K, rounds).encrypt(i << 96 | i << 64 | i << 32 | i)


def I(K, M, rounds=4):
    return aes.cipher(bytes(16), rounds).encrypt(K ^ M)


def mu_of(h_rounds):
    """Returns the greatest i that Section 5 allows for `h_rounds` rounds of H."""
    if h_rounds < 4:
        raise ValueError(f"H: {h_rounds} rounds, want 4 or more")
    return 2 if h_rounds < 6 else 2**4 if h_rounds == 6 else MU


def elimac(key, message, t=128, bits=None, h_rounds=7, i_rounds=4):
    """Returns the tag as bytes, under the key K1 || K2. The rounds of H and I default to those of
    EliMAC-AES."""
    if len(key) != 32:
        raise ValueError(f"EliMAC key K1 || K2: {len(key)} bytes, want 32")
    K1, K2 = key[:16], key[16:]
    H_K1 = partial(H, K1, rounds=h_rounds)
    I_0 = partial(I, rounds=i_rounds)
    E = aes.cipher(K2).encrypt
    return elimac_of(H_K1, I_0, E, 128, message, t, bits, mu_of(h_rounds))
