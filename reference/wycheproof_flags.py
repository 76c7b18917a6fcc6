"""The flags of vectors/wycheproof: their purpose, and the effect of a failed test.

The values of `bugType` are those of Wycheproof's doc/formats.md.
"""


def note(bug_type, description, effect):
    return {"bugType": bug_type, "description": description, "effect": effect}


FORGERY = "An attacker may forge: the verifier accepts a tag that the key's owner did not make."
WRONG_TAG = "Tags differ from the algorithm's, and other implementations refuse them."

FLAGS = {
    "BlockOrder": note(
        "AUTH_BYPASS",
        "Blocks of the message are in another order than those that were tagged. The sum over blocks "
        "must depend on their positions.",
        FORGERY,
    ),
    "CounterCarry": note(
        "EDGE_CASE",
        "The counter of a block needs its second byte.",
        WRONG_TAG,
    ),
    "DependentKeys": note(
        "WEAK_PARAMS",
        "K1 and K2 are equal, or one key is used for both. The proof requires independent keys; a "
        "library may refuse them.",
        "The bound of the paper does not hold.",
    ),
    "EdgeCaseH": note(
        "EDGE_CASE",
        "The hash h, or an intermediate sum, is at the edge of p, 2^128, 2^129 or of the lanes that "
        "add it up.",
        "Some messages have a wrong tag. It depends on r which ones, so errors leak information about "
        "the key.",
    ),
    "EdgeCaseL": note(
        "EDGE_CASE",
        "A key for which doubling or halving L needs its reduction or skips it.",
        WRONG_TAG,
    ),
    "EdgeCaseL3": note(
        "EDGE_CASE",
        "The sum of L3 is at the edges of 2^36 - 5 or 2^32.",
        "Some messages have a wrong tag. It depends on the key which ones.",
    ),
    "EdgeCaseNh": note(
        "EDGE_CASE",
        "Sums or products of NH are 0, maximal, or wrap.",
        "Some messages have a wrong tag. It depends on the key which ones.",
    ),
    "EdgeCaseNonce": note(
        "EDGE_CASE",
        "A nonce of zeros, of ones, or 1.",
        WRONG_TAG,
    ),
    "EdgeCaseR": note(
        "EDGE_CASE",
        "r is 1, has a single bit, or is maximal.",
        WRONG_TAG,
    ),
    "EdgeCaseS": note(
        "EDGE_CASE",
        "The nonce was chosen so that s is 0 or maximal.",
        WRONG_TAG,
    ),
    "ExtendedTag": note(
        "AUTH_BYPASS",
        "The correct tag with extra bytes before or after it. The length of a tag is a parameter, and "
        "a tag of another length must be refused.",
        "Tags are malleable.",
    ),
    "FullCarry": note(
        "EDGE_CASE",
        "The addition of s carries through words, up to beyond 2^128.",
        WRONG_TAG,
    ),
    "InvalidKeySize": note(
        "MISSING_STEP",
        "The key has a length that the algorithm does not support. The tag is that of the key "
        "truncated, filled with zeros, or used twice.",
        "Keys that should be strong are weak or shared.",
    ),
    "InvalidNonceSize": note(
        "MISSING_STEP",
        "The nonce has a length that the algorithm does not support. The tag is that of the nonce "
        "truncated or filled with zeros.",
        "Two nonces may share a pad. Using a pad twice leaks information about the hash's key.",
    ),
    "LengthLimit": note(
        "EDGE_CASE",
        "A message of the maximum length of LightMAC with this counter, or just below.",
        WRONG_TAG,
    ),
    "LongOffset": note(
        "EDGE_CASE",
        "Enough blocks for an offset L x^i with a large i.",
        WRONG_TAG,
    ),
    "LostCarry": note(
        "MISSING_STEP",
        "The tag without the carries between words of the last addition.",
        WRONG_TAG,
    ),
    "MarkerWord": note(
        "EDGE_CASE",
        "Words of the polynomial hash that need two steps (RFC 4418, Section 5.3.2), or are just below "
        "these. Random messages have one in 2^32 words.",
        "Some messages have a wrong tag. It depends on the key which ones.",
    ),
    "MessageTooLong": note(
        "MISSING_STEP",
        "A message longer than 2^s (n - s) bits, with the tag of a counter that starts again.",
        "Blocks with the same counter can be exchanged: a forgery from one tag.",
    ),
    "MissingMarkerStep": note(
        "MISSING_STEP",
        "The tag without the second step of a marker word.",
        WRONG_TAG,
    ),
    "MissingStep": note(
        "MISSING_STEP",
        "The tag with a step of the algorithm missing or misplaced.",
        FORGERY,
    ),
    "ModifiedMessage": note(
        "AUTH_BYPASS",
        "The message differs from the one that was tagged.",
        FORGERY,
    ),
    "ModifiedTag": note(
        "AUTH_BYPASS",
        "The tag was changed. The verification must check all of it.",
        FORGERY,
    ),
    "NeighbouringNonce": note(
        "FUNCTIONALITY",
        "Nonces that differ only in their low bits. UMAC-32 and UMAC-64 compute their pads from the "
        "same block of the cipher.",
        WRONG_TAG,
    ),
    "NoncePadding": note(
        "DEFINED",
        "Nonces that differ only in zeros at their end. RFC 4418 fills nonces with zeros, so they may "
        "share a pad: the nonces of a key should have equal lengths.",
        WRONG_TAG,
    ),
    "NonceSize": note(
        "FUNCTIONALITY",
        "A nonce of each length from 1 to 16 bytes. Some libraries accept only 8 bytes.",
        WRONG_TAG,
    ),
    "OtherAlgorithm": note(
        "WRONG_PRIMITIVE",
        "The tag of another MAC with the same key.",
        "Two algorithms are confused.",
    ),
    "PaddingConfusion": note(
        "AUTH_BYPASS",
        "A message that equals another one with its padding, with the tag of the other one.",
        FORGERY,
    ),
    "Pseudorandom": note(
        "FUNCTIONALITY",
        "Pseudorandom inputs, with lengths around blocks, vectors of blocks, and chunks.",
        WRONG_TAG,
    ),
    "RepeatedBlock": note(
        "AUTH_BYPASS",
        "Equal blocks were added. They cancel if the sum does not depend on their positions.",
        FORGERY,
    ),
    "RepeatedByte": note(
        "EDGE_CASE",
        "All bits of the message or of the key are equal.",
        WRONG_TAG,
    ),
    "ShortTag": note(
        "FUNCTIONALITY",
        "A tag that the key's owner agreed to truncate to its first bytes. The group's tagSize is its "
        "length.",
        WRONG_TAG,
    ),
    "SpecialCaseInput": note(
        "EDGE_CASE",
        "The message was chosen so that the cipher's input is 0.",
        WRONG_TAG,
    ),
    "SpecialCaseTag": note(
        "EDGE_CASE",
        "The message or the nonce was chosen so that the tag is a special case, such as 0. It is valid "
        "like any other.",
        "A library that treats such a tag as an error or as missing refuses correct messages.",
    ),
    "TagCollision": note(
        "DEFINED",
        "Two messages with the same tag, which only the key's owner can make. These MACs are not "
        "collision-resistant hash functions.",
        "No effect: a correct implementation accepts both.",
    ),
    "TagOfOtherSize": note(
        "WRONG_PRIMITIVE",
        "The first bytes of the tag of a longer UMAC with the same key. Each length is a separate "
        "algorithm.",
        FORGERY,
    ),
    "TruncatedTag": note(
        "AUTH_BYPASS",
        "The correct tag without some of its bytes, or empty. The group's tagSize is the correct "
        "length; if the sender can choose it, an attacker can guess a short tag.",
        "A forgery after a few guesses, or at once with an empty tag.",
    ),
    "UnclampedR": note(
        "DEFINED",
        "r has bits that Bernstein's definition excludes. A library refuses it or clears them; if the "
        "result is invalid, the tag is that of r with these bits.",
        "Sums may overflow a library's number format, and libraries differ.",
    ),
    "UnreducedH": note(
        "MISSING_STEP",
        "h is 0 to 4, and the tag is that of h + p, which is not reduced.",
        WRONG_TAG,
    ),
    "WrongByteOrder": note(
        "MISSING_STEP",
        "The tag with words, keys or numbers in the opposite byte order.",
        WRONG_TAG,
    ),
    "WrongCounter": note(
        "MISSING_STEP",
        "The tag with another counter before or in the blocks.",
        WRONG_TAG,
    ),
    "WrongCounterSize": note(
        "WRONG_PRIMITIVE",
        "The tag of LightMAC with another counter size under the same keys.",
        "Two algorithms are confused.",
    ),
    "WrongHash": note(
        "MISSING_STEP",
        "The tag with a mistake in one of the layers of the hash.",
        WRONG_TAG,
    ),
    "WrongKey": note(
        "AUTH_BYPASS",
        "The tag of the message under another key.",
        FORGERY,
    ),
    "WrongKeyOrder": note(
        "MISSING_STEP",
        "The tag with the halves of the key exchanged, or with one half used for both.",
        WRONG_TAG,
    ),
    "WrongLastMask": note(
        "MISSING_STEP",
        "The tag with a mistake in the mark of a full last block, L x^-1.",
        "Full and padded last blocks are confused, which is a forgery.",
    ),
    "WrongNonce": note(
        "AUTH_BYPASS",
        "The tag of the message under another nonce.",
        "A replayed or reordered message is accepted.",
    ),
    "WrongOffset": note(
        "MISSING_STEP",
        "The tag with a mistake in the offsets gamma_i L, in the Gray code or in doubling.",
        "Blocks may be exchanged, which is a forgery.",
    ),
    "WrongPad": note(
        "MISSING_STEP",
        "The tag with a mistake in the pad that is computed from the nonce.",
        "Pads are shared or missing, and the hash's key leaks.",
    ),
    "WrongPadding": note(
        "MISSING_STEP",
        "The tag with another padding.",
        "Two messages may share a tag.",
    ),
    "WrongRounds": note(
        "MISSING_STEP",
        "The tag with other rounds of AES in H or I. The paper does not define the last round. Here it "
        "has no MixColumns, and I has the key schedule of the zero key.",
        "Two readings of the paper are confused.",
    ),
    "ZeroR": note(
        "EDGE_CASE",
        "r is 0: each message has the tag s. It is a valid key, with a probability of 2^-106.",
        "A library may refuse the key.",
    ),
}

# Omissions of a file, for its header.
NOT_HERE = {
    "PMAC": ["Messages that end within a byte are left out: the schema does not support them."],
    "LIGHTMAC": [
        "The key is K1 || K2. Messages that end within a byte are left out: the schema does not",
        "support them. The length limits of counters of 16 bits and more need too long messages.",
    ],
    "ELIMAC": [
        "The key is K1 || K2. No official vectors exist: AES with fewer rounds has no MixColumns in",
        "its last round here, and I has the key schedule of the zero key.",
    ],
    "UMAC": [
        "UMAC of RFC 4418. Messages of more than 2^24 bytes, which are also hashed with words of 128",
        "bits, are left out because of their length.",
    ],
    "POLY1305": ["The key is k || r, as in Bernstein's paper; r is little-endian."],
}
