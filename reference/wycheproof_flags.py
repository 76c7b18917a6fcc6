"""The flags of vectors/wycheproof: their purpose, and the effect of a failed test.

The values of `bugType` are those of Wycheproof's doc/formats.md.
"""


def note(bug_type, description, effect):
    return {"bugType": bug_type, "description": description, "effect": effect}


FORGERY = "An attacker may forge: a tag is accepted that the holder of the key did not make."
WRONG_TAG = "Tags are not those of the algorithm, and other implementations refuse them."

FLAGS = {
    "BlockOrder": note(
        "AUTH_BYPASS",
        "Blocks of the message are in another order than those that were tagged. The sum over blocks "
        "must know where each of them is.",
        FORGERY,
    ),
    "CounterCarry": note(
        "EDGE_CASE",
        "The counter of a block needs its second byte.",
        WRONG_TAG,
    ),
    "DependentKeys": note(
        "WEAK_PARAMS",
        "K1 and K2 are equal or one key is used for both. The proof wants independent keys; a library "
        "may refuse them.",
        "The bound of the paper does not hold.",
    ),
    "EdgeCaseH": note(
        "EDGE_CASE",
        "The hash h, or the sums on the way to it, are at the edges of p, 2^128, 2^129 or of the "
        "lanes that add it up.",
        "Some messages have a wrong tag; which of them depends on r, so that errors tell about the "
        "key.",
    ),
    "EdgeCaseL": note(
        "EDGE_CASE",
        "A key for which doubling or halving of L takes or leaves out its reduction.",
        WRONG_TAG,
    ),
    "EdgeCaseL3": note(
        "EDGE_CASE",
        "The sum of L3 is at the edges of 2^36 - 5 or 2^32.",
        "Some messages have a wrong tag; which of them depends on the key.",
    ),
    "EdgeCaseNh": note(
        "EDGE_CASE",
        "Sums or products of NH are 0, at their greatest, or wrap.",
        "Some messages have a wrong tag; which of them depends on the key.",
    ),
    "EdgeCaseNonce": note(
        "EDGE_CASE",
        "A nonce of zeros, of ones, or 1.",
        WRONG_TAG,
    ),
    "EdgeCaseR": note(
        "EDGE_CASE",
        "r is 1, has one bit, or is at its greatest.",
        WRONG_TAG,
    ),
    "EdgeCaseS": note(
        "EDGE_CASE",
        "The nonce was chosen so that s is 0 or at its greatest.",
        WRONG_TAG,
    ),
    "ExtendedTag": note(
        "AUTH_BYPASS",
        "The right tag with something before or after it. The length of a tag is a parameter, and a "
        "tag of another length is no tag.",
        "Tags are malleable.",
    ),
    "FullCarry": note(
        "EDGE_CASE",
        "The addition of s carries through words, up to past 2^128.",
        WRONG_TAG,
    ),
    "InvalidKeySize": note(
        "MISSING_STEP",
        "The key has a length that the algorithm does not have. The tag is that of the key cut, or "
        "filled with zeros, or used twice.",
        "Keys that were meant to be strong are weak or shared.",
    ),
    "InvalidNonceSize": note(
        "MISSING_STEP",
        "The nonce has a length that the algorithm does not have. The tag is that of the nonce cut or "
        "filled with zeros.",
        "Two nonces may share a pad, whose use twice tells about the hash's key.",
    ),
    "LengthLimit": note(
        "EDGE_CASE",
        "A message at the greatest length that LightMAC has for this counter, or just below.",
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
        "Words of the polynomial hash that take two steps (RFC 4418, Section 5.3.2) or are just below "
        "those. Random messages have one in 2^32 words.",
        "Some messages have a wrong tag; which of them depends on the key.",
    ),
    "MessageTooLong": note(
        "MISSING_STEP",
        "A message longer than 2^s (n - s) bits, with the tag that a counter gives which starts again.",
        "Blocks with one counter can be exchanged: a forgery from one tag.",
    ),
    "MissingMarkerStep": note(
        "MISSING_STEP",
        "The tag without the second step of a marker word.",
        WRONG_TAG,
    ),
    "MissingStep": note(
        "MISSING_STEP",
        "The tag with a step of the algorithm left out or misplaced.",
        FORGERY,
    ),
    "ModifiedMessage": note(
        "AUTH_BYPASS",
        "The message is not the one that was tagged.",
        FORGERY,
    ),
    "ModifiedTag": note(
        "AUTH_BYPASS",
        "The tag was changed. The verification must check all of it.",
        FORGERY,
    ),
    "NeighbouringNonce": note(
        "FUNCTIONALITY",
        "Nonces that differ in their low bits, which UMAC-32 and UMAC-64 take from one block of the "
        "cipher.",
        WRONG_TAG,
    ),
    "NoncePadding": note(
        "DEFINED",
        "Nonces that differ in zeros at their end alone. RFC 4418 fills nonces with zeros, so that "
        "they may have one pad: a key should have nonces of one length.",
        WRONG_TAG,
    ),
    "NonceSize": note(
        "FUNCTIONALITY",
        "A nonce of each length from 1 to 16 bytes. Some libraries take 8 bytes alone.",
        WRONG_TAG,
    ),
    "OtherAlgorithm": note(
        "WRONG_PRIMITIVE",
        "The tag of another MAC with the same key.",
        "Two algorithms are taken for one.",
    ),
    "PaddingConfusion": note(
        "AUTH_BYPASS",
        "A message that looks like another one with its padding, with the tag of that one.",
        FORGERY,
    ),
    "Pseudorandom": note(
        "FUNCTIONALITY",
        "Pseudorandom inputs, with lengths round blocks, vectors of blocks, and chunks.",
        WRONG_TAG,
    ),
    "RepeatedBlock": note(
        "AUTH_BYPASS",
        "Blocks were added that are equal. Where the sum does not know where a block is, they cancel.",
        FORGERY,
    ),
    "RepeatedByte": note(
        "EDGE_CASE",
        "All bits of the message or of the key are equal.",
        WRONG_TAG,
    ),
    "ShortTag": note(
        "FUNCTIONALITY",
        "A tag that the key's owner agreed to cut: the first bytes. The group's tagSize is its length.",
        WRONG_TAG,
    ),
    "SpecialCaseInput": note(
        "EDGE_CASE",
        "The message was chosen so that the cipher sees 0.",
        WRONG_TAG,
    ),
    "SpecialCaseTag": note(
        "EDGE_CASE",
        "Message or nonce were chosen so that the tag is a special case, such as 0. It is valid like "
        "any other.",
        "A library that takes such a tag for an error or for none refuses right messages.",
    ),
    "TagCollision": note(
        "DEFINED",
        "Two messages with one tag, which the key's owner alone can make. These MACs are no hash "
        "functions.",
        "None: an implementation that has the algorithm right accepts both.",
    ),
    "TagOfOtherSize": note(
        "WRONG_PRIMITIVE",
        "First bytes of the tag of a longer UMAC with the same key. Each length is an algorithm of "
        "its own.",
        FORGERY,
    ),
    "TruncatedTag": note(
        "AUTH_BYPASS",
        "The right tag without some of its bytes, down to none. A group's tagSize says what length is "
        "right; one that the sender chooses lets an attacker guess a short tag.",
        "A forgery after a few guesses, or at once with an empty tag.",
    ),
    "UnclampedR": note(
        "DEFINED",
        "r has bits that Bernstein's definition does not have. A library refuses it or clears them; "
        "where the result is invalid, the tag is that of r with these bits.",
        "Sums may overflow what a library has room for, and libraries differ.",
    ),
    "UnreducedH": note(
        "MISSING_STEP",
        "h is 0 to 4, and the tag that of h + p, which is not reduced.",
        WRONG_TAG,
    ),
    "WrongByteOrder": note(
        "MISSING_STEP",
        "The tag with words, keys or numbers in the opposite order of bytes.",
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
        "Two algorithms are taken for one.",
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
        "The tag with the halves of the key exchanged, or one half for both.",
        WRONG_TAG,
    ),
    "WrongLastMask": note(
        "MISSING_STEP",
        "The tag with a mistake in what marks a full last block: L x^-1.",
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
        "The tag with a mistake in the pad that the nonce gives.",
        "Pads are shared or missing, and the hash's key leaks.",
    ),
    "WrongPadding": note(
        "MISSING_STEP",
        "The tag with another padding.",
        "Two messages may share a tag.",
    ),
    "WrongRounds": note(
        "MISSING_STEP",
        "The tag with other rounds of AES in H or I. The paper leaves open what a last round is: here "
        "it has no MixColumns, and I has the key schedule of the zero key.",
        "Two readings of one paper are taken for one algorithm.",
    ),
    "ZeroR": note(
        "EDGE_CASE",
        "r is 0: each message has the tag s. It is a key like any other, and comes by chance once in "
        "2^106.",
        "A library may refuse the key.",
    ),
}

# Omissions of a file, for its header.
NOT_HERE = {
    "PMAC": ["Messages that do not end on a byte are left out, as the schema has none."],
    "LIGHTMAC": [
        "The key is K1 || K2. Messages that do not end on a byte are left out, as the schema has",
        "none. So are the length limits of counters of 16 bits and more, whose messages are too long.",
    ],
    "ELIMAC": [
        "The key is K1 || K2. No official vectors exist: AES with fewer rounds has no MixColumns in",
        "its last round here, and I has the key schedule of the zero key.",
    ],
    "UMAC": [
        "UMAC of RFC 4418. Messages of more than 2^24 bytes, which are hashed with words of 128 bits",
        "too, are left out for their length.",
    ],
    "POLY1305": ["The key is k || r, as in Bernstein's paper; r is little-endian."],
}
