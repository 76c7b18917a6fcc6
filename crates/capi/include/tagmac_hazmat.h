#ifndef TAGMAC_HAZMAT_H
#define TAGMAC_HAZMAT_H

#include "tagmac.h"

// Low-level operations that can break security if misused: parts of messages.
//
// A part is the keyed hash of a range of a message. Parts of neighbouring ranges join, in any
// grouping, and the first part with the rest of the message gives the tag.
//
// Parts are as secret as the key: anyone who sees the sums of some ranges can forge tags. A part
// authenticates nothing: only the whole message has a tag, so check it before you use any of the
// bytes. Joining refuses ranges that do not fit and parts of another key, but it cannot know that
// two parts are of the same message. And nothing here knows which nonces were used.

// The keyed hash of a range of a message. As secret as the key. Begin with zeros:
// `tagmac_part part = {0};`. Several threads may read one part at once, by the calls that take it as
// const. A call that changes it has to be the only one, or it gets TAGMAC_MISUSE. Do not move or copy it:
// the calls refuse a copy.
typedef struct {
    size_t opaque[4];
} tagmac_part;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Bytes of a block: parts start and end at multiples of it. 0 if the algorithm has no parts.
size_t tagmac_part_block(const tagmac_key *key);

// 1 if the last block is treated differently, so that at least one byte of a message that is not
// empty must be left for tagmac_part_finish(), else 0. TAGMAC_MISUSE if the algorithm has no parts.
int tagmac_part_last_block_distinct(const tagmac_key *key);

// The part of whole blocks that starts at byte `start` of the message. TAGMAC_MISUSE if the
// start or the size is no multiple of the block.
int tagmac_part_init(tagmac_part *part,
                     const tagmac_key *key,
                     uint64_t start,
                     const uint8_t *blocks,
                     size_t blocks_size);

// Joins two neighbouring parts: `left` becomes the part of both ranges, and `right` stays as it
// is. TAGMAC_MISUSE if they are no neighbours, or if one is of another key or algorithm; then both
// stay.
int tagmac_part_join(tagmac_part *left,
                     const tagmac_part *right,
                     const tagmac_key *key);

// Writes the tag of the message that `part` begins and `rest`, of any size, ends; frees the part.
// TAGMAC_MISUSE if the part does not start at byte 0, is of another key, or if nothing is left where
// tagmac_part_last_block_distinct() is 1; then the part stays.
int tagmac_part_finish(tagmac_part *part,
                       const tagmac_key *key,
                       uint8_t *tag,
                       size_t tag_size,
                       const uint8_t *nonce,
                       size_t nonce_size,
                       const uint8_t *rest,
                       size_t rest_size);

// The range of a part: the first byte, and the byte after the last one.
int tagmac_part_range(const tagmac_part *part,
                      uint64_t *start,
                      uint64_t *end);

// Wipes a part, frees what it holds, and leaves zeros. Without effect on an empty part.
int tagmac_part_free(tagmac_part *part);

// Bytes of a tagmac_part, for languages that cannot ask the compiler.
size_t tagmac_part_size(void);

// The alignment of a tagmac_part in bytes.
size_t tagmac_part_align(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAGMAC_HAZMAT_H */
