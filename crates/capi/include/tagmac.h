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
//     char line[TAGMAC_ERROR_SIZE];
//     if (tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 0)
//         || tagmac_key_tag(&key, tag, 16, NULL, 0, message, message_size))
//         fprintf(stderr, "%s\n", tagmac_error_string(line, sizeof line));
//     tagmac_key_free(&key);
//
// Calls that return int return 0 if all went well, and one of the negative numbers below if not; then
// tagmac_error_string() says why, and nothing was written. Compare with 0 to know whether a tag is right:
// TAGMAC_MISMATCH is the answer to a forgery, and all others mean that nothing was checked. No misuse
// that can be noticed crashes: it gives TAGMAC_MISUSE. Memory that is too short for its size, and
// objects that are freed while another thread uses them, cannot be noticed.
//
// Objects live in your memory. They begin as zeros, hold no pointer to anything of yours, and must
// be freed with their free call. Results may overlap inputs. With a size of 0 any pointer will do,
// NULL too. If memory runs out, the process ends.
//
// NONCES. UMAC and Poly1305-AES take a nonce with each message. If one serves two messages under
// one key, others can be forged from the tags; a tagmac_session counts them, across restarts too. All
// nonces of a key have one length, because UMAC takes some of two lengths for the same one.
// All others take none and cannot go wrong in this way: take PMAC-AES128 unless you know why not.
//
// Link with -ltagmac, or by pkg-config with tagmac. More is in docs/guide/c.md.

// The version of this header.
#define TAGMAC_VERSION "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define TAGMAC_MUST_USE __attribute__((warn_unused_result))
#else
#define TAGMAC_MUST_USE
#endif

// All went well.
#define TAGMAC_OK 0

// The tag is not that of the message: the message, the nonce, the tag or the key is not the
// sender's. Only the verify calls give it. Do not use the message.
#define TAGMAC_MISMATCH -1

// The program calls wrongly: a null pointer, a wrong size, an unknown algorithm, a nonce that was
// used, calls out of order, an object that was moved, copied, never cleared, or is in use by another
// thread.
#define TAGMAC_MISUSE -2

// A limit is reached: of a message, of a key's budget, of its nonces, or of what a session's last save
// covers.
#define TAGMAC_LIMIT -3

// A key file or a saved session is missing, damaged or of another key.
#define TAGMAC_INPUT -4

// A fault of the library. Please report it.
#define TAGMAC_INTERNAL -5

// Bytes for a line of tagmac_error_string().
#define TAGMAC_ERROR_SIZE 256

// Bytes of a saved session.
#define TAGMAC_SESSION_SAVED 104

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
// `tagmac_stream stream = {0};`. One thread at a time; a second one gets TAGMAC_MISUSE. Do not move
// or copy it: the calls refuse a copy, because of two messages under one nonce only one may be
// tagged.
typedef struct {
    size_t opaque[4];
} tagmac_stream;

// What the sender of packets holds: a key, the next nonce under it, and what the key may still do.
// Begin with zeros: `tagmac_session session = {0};`. Several threads may read one session at once, by the
// calls that take it as const. A call that changes it has to be the only one, or it gets TAGMAC_MISUSE. Do
// not move or copy it: the calls refuse a copy, which would use the same nonces.
//
// One session per key, or two use the same nonces. One that ends with the process is never saved,
// and needs a key of its own. For one that outlives the process: STORE BEFORE YOU USE.
// tagmac_session_reserve() takes the nonces of the next messages, tagmac_session_save() gives a state
// from which no restored session reuses them, and that has to be stored, in place of the one before
// it, before the next tag is used. A session that was saved or restored tags no message that its
// last save does not cover.
typedef struct {
    size_t opaque[4];
} tagmac_session;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0". The macro TAGMAC_VERSION is that of the header.
const char *tagmac_version(void);

// What a status means, in a few words, such as "wrong tag" for TAGMAC_MISMATCH. A constant.
const char *tagmac_status_string(int status);

// Writes why the last call on this thread that failed did so: one line, what was expected and what
// was found; "" if none has failed. It never holds a key, a message or a right tag.
//
// It ends in NUL, and is cut short where it is longer than the room: TAGMAC_ERROR_SIZE bytes are enough
// unless it quotes a name or a path of yours. Gives `line` back, or "" if that is NULL or has no room.
const char *tagmac_error_string(char *line,
                                size_t line_size);

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
// TAGMAC_MISUSE if the algorithm is unknown or has no such key or tag, and if `key` holds a key
// already.
int tagmac_key_init(tagmac_key *key,
                    const char *algorithm,
                    const uint8_t *key_bytes,
                    size_t key_size,
                    size_t tag_bits);

// Makes a key of a key file that 'tagmac keygen' wrote. TAGMAC_INPUT if there is none to read, or if
// it is damaged. A named pipe is refused, which could wait for its writer for ever; the process's own
// pipes, such as /dev/stdin and /dev/fd/63, are read to their end. Unlike the command, this does not
// check who could have written the file: whoever chooses the key makes tags that pass.
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

// Checks the tag of a message, in constant time: 0 if it is right, TAGMAC_MISMATCH if it is wrong. Use
// the message only after 0. `tag_size` has to be tagmac_key_tag_size(), so a tag that was cut short
// never passes. A message that is longer than the algorithm allows has no right tag.
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

// Checks the tag of a message in one call, in constant time: 0 if it is right, TAGMAC_MISMATCH if it
// is wrong. `tag_size` has to be that of the longest tag of the algorithm.
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

// Checks the tag in constant time, and ends the message: 0 if it is right, TAGMAC_MISMATCH if it is
// wrong. Use the message only after 0. A message that is longer than the algorithm allows has no right
// tag.
TAGMAC_MUST_USE
int tagmac_stream_verify(tagmac_stream *stream,
                         const uint8_t *tag,
                         size_t tag_size);

// Sets the nonce of the next message and begins it, under the same key. A message that is under
// way is dropped. The nonce is NULL and 0 for algorithms that take none. TAGMAC_MISUSE if the
// message before was tagged under the same nonce or one of another length, and then nothing changes;
// older nonces are yours to remember.
int tagmac_stream_next(tagmac_stream *stream,
                       const uint8_t *nonce,
                       size_t nonce_size);

// Wipes a stream, frees what it holds, and leaves zeros. Without effect on an empty stream.
int tagmac_stream_free(tagmac_stream *stream);

// Bytes of a tagmac_stream, for languages that cannot ask the compiler.
size_t tagmac_stream_size(void);

// The alignment of a tagmac_stream in bytes.
size_t tagmac_stream_align(void);

// Begins a session of a key that is new, or whose next nonce is kept elsewhere. Its nonces count up
// from `next_nonce`, big-endian, or from zeros if that is NULL, and have `nonce_size` bytes; NULL and 0
// for algorithms that take none. The session keeps what it needs of the key.
//
// The key's messages have at most `max_message` bytes (0: 1 MiB, or the algorithm's limit if that is
// shorter), and are as many as the theorem about the algorithm allows until a forgery has that
// probability, such as 1e-9. Wrong tags have the same limit by themselves, so that both used up give at most
// twice that. With a probability of 0 they are counted only; CMAC and HMAC take no
// other.
int tagmac_session_init(tagmac_session *session,
                        const tagmac_key *key,
                        const uint8_t *next_nonce,
                        size_t nonce_size,
                        uint64_t max_message,
                        double probability);

// Goes on with the session that tagmac_session_save() saved, under the same key; the last two
// arguments are as with tagmac_session_init(). Call tagmac_session_reserve() and
// tagmac_session_save() before you tag: nothing is covered yet.
//
// TAGMAC_INPUT if the saved session is damaged or of another key, and TAGMAC_LIMIT if the key has done
// more than the budget allows.
int tagmac_session_restore(tagmac_session *session,
                           const tagmac_key *key,
                           const uint8_t *saved,
                           size_t saved_size,
                           uint64_t max_message,
                           double probability);

// Writes the tag of a message and the nonce that goes with it: all that the sender of packets calls.
// `tag_size` has to be tagmac_key_tag_size() of the key and `nonce_size` tagmac_session_nonce_size();
// the nonce is NULL and 0 for algorithms that take none.
//
// TAGMAC_LIMIT if the last save does not cover the message, and if the budget or the nonces have no
// more. No call that fails uses up a nonce.
int tagmac_session_tag(tagmac_session *session,
                       uint8_t *tag,
                       size_t tag_size,
                       uint8_t *nonce,
                       size_t nonce_size,
                       const uint8_t *message,
                       size_t message_size);

// Checks the tag of a message under the key, in constant time, and counts it if it is wrong: 0 if it is
// right, TAGMAC_MISMATCH if it is wrong, TAGMAC_LIMIT if the budget has no failure left, and then nothing
// was checked. The nonce is that of the message's sender, and none of the session's is used up.
//
// `words` is 0 for the whole tag. A session of UMAC-128 checks the first 1, 2, 3 or all 4 words of 4
// bytes, once tagmac_session_allow_grades() allows that; the tag is given whole. Save after a failure
// where somebody else can make the process start again.
TAGMAC_MUST_USE
int tagmac_session_verify(tagmac_session *session,
                          const uint8_t *tag,
                          size_t tag_size,
                          const uint8_t *nonce,
                          size_t nonce_size,
                          const uint8_t *message,
                          size_t message_size,
                          size_t words);

// Lets a session of UMAC-128 check the first words of tags. Fewer failures are allowed from now on, for
// each number of words: as many as keep the chance that a forger's attempt ever passes, at any number of
// words, to the probability, such as 1e-3. Below 1.5e-9 that is none, and first words stay refused. After a
// first word that passed there is no bound: check the whole tag at once, and end the key if it is wrong (so
// whoever can change the last bytes of a tag on its way can end the key).
// Failures are saved and this permission is not: call it again after tagmac_session_restore().
int tagmac_session_allow_grades(tagmac_session *session,
                                double probability);

// Takes the nonces and the budget of `messages` messages more. Save then, and store what that gives,
// before you tag. What is left of a reserve when the process ends is lost.
//
// TAGMAC_LIMIT if the budget or the nonces have not as many, and then nothing is reserved. The last
// nonce cannot be reserved.
int tagmac_session_reserve(tagmac_session *session,
                           uint64_t messages);

// Writes the session as it is once all that is reserved has been used: the nonce after that, and the
// usage. Store it in place of the one before it, and only then tag: from now on the session tags
// what is reserved, and no more before it is saved again. `saved_size` has to be
// TAGMAC_SESSION_SAVED.
int tagmac_session_save(tagmac_session *session,
                        uint8_t *saved,
                        size_t saved_size);

// Counts messages: those tagged under the key, with what was reserved before it was restored; those
// that may still be tagged; and those of the latter that are reserved.
int tagmac_session_counts(const tagmac_session *session,
                          uint64_t *used,
                          uint64_t *left,
                          uint64_t *reserved);

// Bytes of the session's nonces. 0 for an empty session, and for algorithms that take none.
size_t tagmac_session_nonce_size(const tagmac_session *session);

// Wipes a session, frees what it holds, and leaves zeros. Without effect on an empty session.
int tagmac_session_free(tagmac_session *session);

// Bytes of a tagmac_session, for languages that cannot ask the compiler.
size_t tagmac_session_size(void);

// The alignment of a tagmac_session in bytes.
size_t tagmac_session_align(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAGMAC_H */
