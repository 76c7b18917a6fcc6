#ifndef TAGMAC_H
#define TAGMAC_H

#include <stddef.h>
#include <stdint.h>

// tagmac: message authentication with parallel MACs.
//
// A MAC is a short tag that depends on every bit of a message and on a secret key. Anyone who has
// the key can check later that the message has not changed; without the key nobody can make a valid
// tag.
//
//     tagmac_key key = {0};
//     uint8_t tag[16];
//     if (tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 0)
//         || tagmac_key_tag(&key, tag, 16, NULL, 0, message, message_size))
//         fprintf(stderr, "%s\n", tagmac_error_string());
//     tagmac_key_free(&key);
//
// Calls that return int return 0 if all went well and -1 if not; then tagmac_error_string() says
// why, and nothing was written. A wrong tag is -1 too. No misuse that can be noticed crashes: null
// pointers, wrong sizes, calls out of order, objects that were never cleared, moved or copied, and
// objects in use by another thread give -1. Memory that is too short for its size, and objects
// that are freed while another thread uses them, cannot be noticed.
//
// Objects live in your memory. They begin as zeros, hold no pointer to anything of yours, and must
// be freed with their free call. Results may overlap inputs. With a size of 0 any pointer will do,
// NULL too. If memory runs out, the process ends.
//
// NONCES. UMAC and Poly1305-AES take a nonce with each message. If one serves two messages under
// one key, anyone who sees both tags can forge. All others take none and cannot go wrong in this
// way: take PMAC-AES128 unless you know why not.
//
// Link with -ltagmac, or by pkg-config with tagmac. More is in docs/c.md.

// The version of this header.
#define TAGMAC_VERSION "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define TAGMAC_MUST_USE __attribute__((warn_unused_result))
#else
#define TAGMAC_MUST_USE
#endif

// The lengths of an algorithm's keys, nonces and tags. Keys and nonces count in bytes, tags in
// bits, because PMAC, LightMAC and EliMAC have tags of any number of bits.
typedef struct {
    // The shortest key in bytes.
    size_t key_min;
    // The longest key in bytes.
    size_t key_max;
    // Bytes that a new key should have.
    size_t key_new;
    // The shortest nonce in bytes. 0: the algorithm takes no nonce.
    size_t nonce_min;
    // The longest nonce in bytes.
    size_t nonce_max;
    // The shortest tag in bits.
    size_t tag_bits_min;
    // The longest tag in bits. It is the default.
    size_t tag_bits_max;
    // Tag lengths go up in steps of this many bits.
    size_t tag_bits_step;
    // Bytes of a block, for tagmac_hazmat.h. 0: the algorithm has no parts.
    size_t block;
    // The most bytes of a message. UINT64_MAX: no limit in reach.
    uint64_t message_max;
    // Zeros, for later versions.
    uint64_t reserved[4];
} tagmac_sizes;

// A key with its algorithm. Begin with zeros: `tagmac_key key = {0};`. Several threads may use one
// key at once, but for its init and free. Do not move or copy it: the calls refuse a copy.
typedef struct {
    size_t opaque[4];
} tagmac_key;

// A message that comes in pieces, and the messages after it under the same key. Begin with zeros:
// `tagmac_stream stream = {0};`. One thread at a time; a second one gets -1. Do not move or copy
// it: the calls refuse a copy, because of two messages under one nonce only one may be tagged.
typedef struct {
    size_t opaque[4];
} tagmac_stream;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0". The macro TAGMAC_VERSION is that of the header.
const char *tagmac_version(void);

// Why the last call on this thread that failed did so: one line, what was expected and what was
// found. "" if none has failed. It stays until the next call that fails on this thread. It never
// holds a key, a message or a right tag.
const char *tagmac_error_string(void);

// The name of an algorithm, such as "PMAC-AES128", counted from 0. NULL past the last one.
const char *tagmac_algorithm(size_t index);

// The lengths of an algorithm's keys, nonces and tags.
int tagmac_algorithm_sizes(tagmac_sizes *sizes,
                           const char *algorithm);

// The instruction set that new keys are made for, such as "avx2". The best that the CPU has, or
// what tagmac_set_level() chose. NULL if there is none to use.
const char *tagmac_level(void);

// Chooses the instruction set for all keys made from now on, on all threads; NULL for the best.
// For tests: tags are the same with all. The names are those of 'tagmac selftest'.
int tagmac_set_level(const char *name);

// Overwrites memory with zeros. The compiler cannot leave it out, as it may with memset().
int tagmac_memzero(void *memory,
                   size_t size);

// Makes a key of an algorithm and its key bytes, with tags of `tag_bits` bits; 0 for the longest
// ones. The bytes are copied: wipe yours.
//
// -1 if the algorithm is unknown or has no such key or tag, and if `key` holds a key already.
int tagmac_key_init(tagmac_key *key,
                    const char *algorithm,
                    const uint8_t *key_bytes,
                    size_t key_size,
                    size_t tag_bits);

// Makes a key of a key file that 'tagmac keygen' wrote.
int tagmac_key_load(tagmac_key *key,
                    const char *path,
                    size_t tag_bits);

// Makes a key of the text of a key file, as tagmac_key_load().
int tagmac_key_parse(tagmac_key *key,
                     const char *file_text,
                     size_t file_size,
                     size_t tag_bits);

// Wipes a key, frees what it holds, and leaves zeros. Streams that were begun with it live on.
// Without effect on an empty key.
int tagmac_key_free(tagmac_key *key);

// The name of the key's algorithm. NULL for an empty key.
const char *tagmac_key_algorithm(const tagmac_key *key);

// The public id of the key and its algorithm, 8 bytes, as key files have it.
int tagmac_key_id(const tagmac_key *key,
                  uint8_t *id,
                  size_t id_size);

// Bytes of the key's tags. 0 for an empty key.
size_t tagmac_key_tag_size(const tagmac_key *key);

// Writes the tag of a message. `tag_size` has to be tagmac_key_tag_size(). The nonce is NULL and 0
// for algorithms that take none; under one key no nonce may ever serve two messages.
int tagmac_key_tag(const tagmac_key *key,
                   uint8_t *tag,
                   size_t tag_size,
                   const uint8_t *nonce,
                   size_t nonce_size,
                   const uint8_t *message,
                   size_t message_size);

// Checks the tag of a message, in constant time: 0 if it is right. Use the message only then.
// `tag_size` has to be tagmac_key_tag_size(), so a tag that was cut short never passes.
TAGMAC_MUST_USE
int tagmac_key_verify(const tagmac_key *key,
                      const uint8_t *tag,
                      size_t tag_size,
                      const uint8_t *nonce,
                      size_t nonce_size,
                      const uint8_t *message,
                      size_t message_size);

// Writes the tag of a message in one call, without a tagmac_key. The tag is the longest of its
// algorithm: 16 bytes for all over AES. To tag more than one message make a tagmac_key, which
// prepares the key once.
int tagmac_tag(uint8_t *tag,
               size_t tag_size,
               const char *algorithm,
               const uint8_t *key_bytes,
               size_t key_size,
               const uint8_t *nonce,
               size_t nonce_size,
               const uint8_t *message,
               size_t message_size);

// Checks the tag of a message in one call, in constant time: 0 if it is right. `tag_size` has to
// be that of the longest tag of the algorithm.
TAGMAC_MUST_USE
int tagmac_verify(const uint8_t *tag,
                  size_t tag_size,
                  const char *algorithm,
                  const uint8_t *key_bytes,
                  size_t key_size,
                  const uint8_t *nonce,
                  size_t nonce_size,
                  const uint8_t *message,
                  size_t message_size);

// Bytes of a tagmac_key, for languages that cannot ask the compiler.
size_t tagmac_key_size(void);

// The alignment of a tagmac_key in bytes.
size_t tagmac_key_align(void);

// Begins a message. The nonce is NULL and 0 for algorithms that take none; under one key no nonce
// may ever serve two messages. The stream keeps what it needs of the key.
int tagmac_stream_init(tagmac_stream *stream,
                       const tagmac_key *key,
                       const uint8_t *nonce,
                       size_t nonce_size);

// Adds to the message.
int tagmac_stream_update(tagmac_stream *stream,
                         const uint8_t *data,
                         size_t data_size);

// Writes the tag and ends the message. `tag_size` has to be tagmac_key_tag_size() of the key;
// with another one nothing happens. Then there is nothing to update or to end before
// tagmac_stream_next().
int tagmac_stream_final(tagmac_stream *stream,
                        uint8_t *tag,
                        size_t tag_size);

// Checks the tag in constant time, and ends the message: 0 if it is right. Use the message only
// then.
TAGMAC_MUST_USE
int tagmac_stream_verify(tagmac_stream *stream,
                         const uint8_t *tag,
                         size_t tag_size);

// Sets the nonce of the next message and begins it, under the same key. A message that is under
// way is dropped. The nonce is NULL and 0 for algorithms that take none. -1 if the message before
// was tagged under the same nonce, and then nothing changes; older nonces are yours to remember.
int tagmac_stream_next(tagmac_stream *stream,
                       const uint8_t *nonce,
                       size_t nonce_size);

// Wipes a stream, frees what it holds, and leaves zeros. Without effect on an empty stream.
int tagmac_stream_free(tagmac_stream *stream);

// Bytes of a tagmac_stream, for languages that cannot ask the compiler.
size_t tagmac_stream_size(void);

// The alignment of a tagmac_stream in bytes.
size_t tagmac_stream_align(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAGMAC_H */
