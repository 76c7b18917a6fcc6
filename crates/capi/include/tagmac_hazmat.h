#ifndef TAGMAC_HAZMAT_H
#define TAGMAC_HAZMAT_H

#include "tagmac.h"

// Parts: hashes of ranges of a message. These are low-level operations that can break security if
// misused.
//
// A part is the keyed hash of a range of a message. Parts of adjacent ranges can be joined in any
// grouping. The part at the beginning of the message and the rest of the message determine the tag.
//
// Keep parts as secret as the key: anyone who sees the sums of some ranges can forge tags. A part
// authenticates nothing. Only the whole message has a tag, so check it before you use any of the
// bytes. Joining refuses ranges that are not adjacent and parts of another key, but it cannot
// detect that two parts come from different messages. These calls do not track which nonces were
// used.

// The keyed hash of a range of a message. Keep it as secret as the key. Begin with zeros:
// `tagmac_part part = {0};`. Calls that take a const part may run in several threads at the same
// time. A call that changes the part must be the only one; otherwise it returns TAGMAC_MISUSE. Do
// not move or copy a part: the calls refuse a copy.
typedef struct {
    size_t opaque[4];
} tagmac_part;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the size of a block in bytes. Parts start and end at multiples of it. 0 if the algorithm
// does not support parts.
size_t tagmac_part_block(const tagmac_key *key);

// Returns 1 if the algorithm treats the last block differently, else 0. If it is 1, leave at least
// one byte of a message that is not empty for tagmac_part_finish(). TAGMAC_MISUSE if the algorithm
// does not support parts.
int tagmac_part_last_block_distinct(const tagmac_key *key);

// Hashes a range of whole blocks that starts at byte `start` of the message. TAGMAC_MISUSE if the
// start or the size is not a multiple of the block size.
int tagmac_part_init(tagmac_part *part,
                     const tagmac_key *key,
                     uint64_t start,
                     const uint8_t *blocks,
                     size_t blocks_size);

// Joins two adjacent parts: `left` becomes the part of both ranges, and `right` does not change.
// TAGMAC_MISUSE if the parts are not adjacent, or if one belongs to another key or algorithm. Then
// neither changes.
int tagmac_part_join(tagmac_part *left,
                     const tagmac_part *right,
                     const tagmac_key *key);

// Writes the tag of a message that begins with `part` and ends with `rest`, which may have any
// size. Frees the part.
//
// TAGMAC_MISUSE if the part does not start at byte 0 or belongs to another key. Also if
// tagmac_part_last_block_distinct() is 1, the part is not empty, and `rest` is. Then the part does
// not change.
int tagmac_part_finish(tagmac_part *part,
                       const tagmac_key *key,
                       uint8_t *tag,
                       size_t tag_size,
                       const uint8_t *nonce,
                       size_t nonce_size,
                       const uint8_t *rest,
                       size_t rest_size);

// Writes the range of a part: its first byte, and the byte after its last one.
int tagmac_part_range(const tagmac_part *part,
                      uint64_t *start,
                      uint64_t *end);

// Wipes a part, frees its memory, and leaves zeros. Does nothing to an empty part.
int tagmac_part_free(tagmac_part *part);

// Returns the size of a tagmac_part in bytes, for languages that cannot use sizeof.
size_t tagmac_part_size(void);

// Returns the alignment of a tagmac_part in bytes.
size_t tagmac_part_align(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAGMAC_HAZMAT_H */
