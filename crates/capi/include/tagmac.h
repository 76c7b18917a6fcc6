#ifndef TAGMAC_H
#define TAGMAC_H

#include <stddef.h>
#include <stdint.h>

// tagmac: message authentication with parallel MACs.
//
// A MAC is a short tag that depends on every bit of a message and on a secret key. Anyone who has
// the key can check later that the message has not changed. Without the key nobody can make a valid
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
// RETURN VALUES. Calls that return int return 0 on success and one of the negative numbers below on
// failure. After a failure nothing was written, and tagmac_error_string() gives the reason. Accept
// a message only if the verify call returned 0. TAGMAC_MISMATCH means that the tag is wrong; any
// other failure means that nothing was checked.
//
// MISUSE. Every misuse that the library can detect returns TAGMAC_MISUSE instead of crashing. It
// cannot detect a buffer shorter than its size, or an object that is freed while another thread
// uses it.
//
// MEMORY. Objects are in your memory. They must begin as zeros, keep no pointers to your memory,
// and must be freed with their free call. Outputs may overlap inputs. If a size is 0, its pointer
// is not used and may be NULL. If the library runs out of memory, it ends the process.
//
// NONCES. UMAC, UMAC99 and Poly1305-AES need a nonce with each message. Never use one nonce for two
// messages under the same key: with UMAC or Poly1305-AES, anyone who sees both tags can forge
// others. A tagmac_session counts nonces for you, even across restarts. Give all nonces of a key
// the same length, because UMAC pads nonces, and two of different lengths can become equal. All
// other algorithms work without nonces and avoid this risk: use PMAC-AES128 unless you have a
// reason not to.
//
// Link with -ltagmac, or use pkg-config with the name tagmac. docs/guide/c.md has a guide.

// The version of this header.
#define TAGMAC_VERSION "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define TAGMAC_MUST_USE __attribute__((warn_unused_result))
#else
#define TAGMAC_MUST_USE
#endif

// Success.
#define TAGMAC_OK 0

// The tag does not match: the message, the nonce, the tag or the key differs from the sender's. Do
// not use the message. Only calls that verify return this.
#define TAGMAC_MISMATCH -1

// The program made a wrong call: a null pointer, a wrong size, an unknown algorithm, a reused
// nonce, or calls out of order. Also returned for an object that was moved or copied, did not
// begin as zeros, or is in use by another thread.
#define TAGMAC_MISUSE -2

// A limit was reached: the length of a message, the budget or the nonces of a key, or the messages
// that a session's last save covers.
#define TAGMAC_LIMIT -3

// A file, or saved or sealed data, is missing, damaged, or belongs to another key.
#define TAGMAC_INPUT -4

// A bug in the library. Please report it.
#define TAGMAC_INTERNAL -5

// Your callback asked the call to stop. It has no result.
#define TAGMAC_STOPPED -6

// A buffer size that is enough for most lines of tagmac_error_string().
#define TAGMAC_ERROR_SIZE 256

// The size of a saved session in bytes.
#define TAGMAC_SESSION_SAVED 104

// The lengths of an algorithm's keys, nonces and tags. Keys and nonces are in bytes. Tags are in
// bits, because PMAC, LightMAC and EliMAC support tags of any number of bits.
typedef struct {
    // The shortest key in bytes.
    size_t key_min;
    // The longest key in bytes.
    size_t key_max;
    // The recommended length of a new key in bytes.
    size_t key_new;
    // The shortest nonce in bytes. 0: the algorithm does not use a nonce.
    size_t nonce_min;
    // The longest nonce in bytes.
    size_t nonce_max;
    // The shortest tag in bits.
    size_t tag_bits_min;
    // The longest tag in bits, which is also the default.
    size_t tag_bits_max;
    // The step between tag lengths in bits.
    size_t tag_bits_step;
    // The size of a block in bytes, for tagmac_hazmat.h. 0: the algorithm does not support parts.
    size_t block;
    // The longest message in bytes. UINT64_MAX: no practical limit.
    uint64_t message_max;
    // Reserved for later versions; zero now.
    uint64_t reserved[4];
} tagmac_sizes;

// A key and its algorithm. Begin with zeros: `tagmac_key key = {0};`. Several threads may use one
// key at the same time, except while it is freed: nothing detects that. Do not move or copy a key:
// the calls refuse a copy.
typedef struct {
    size_t opaque[4];
} tagmac_key;

// Bytes of yours, in an array of them: a message, or sealed data. If the size is 0, `data` may be
// NULL.
typedef struct {
    // The first byte.
    const uint8_t *data;
    // The number of bytes.
    size_t size;
} tagmac_bytes;

// A message in pieces, and the messages after it under the same key. Begin with zeros:
// `tagmac_stream stream = {0};`. Use a stream in one thread at a time; a call from a second thread
// returns TAGMAC_MISUSE. Do not move or copy a stream: the calls refuse a copy, which could tag
// two messages under one nonce.
typedef struct {
    size_t opaque[4];
} tagmac_stream;

// A sender of packets: a key, its next nonce, and the remaining budget of the key. Begin with
// zeros: `tagmac_session session = {0};`. Calls that take a const session may run in several
// threads at the same time. A call that changes the session must be the only one; otherwise it
// returns TAGMAC_MISUSE. Do not move or copy a session: the calls refuse a copy, which would reuse
// its nonces.
//
// Use only one session per key: two would use the same nonces. If you never save a session, make a
// new key for it and do not use that key elsewhere. If the session must outlive the process: STORE
// BEFORE YOU USE. First reserve nonces for the next messages with tagmac_session_reserve(). Then
// call tagmac_session_save() and store its output in place of the previous one. Only then use the
// next tag: sessions that are restored from that output never reuse its nonce. After a save or a
// restore, a session tags only messages that its last save covers.
typedef struct {
    size_t opaque[4];
} tagmac_session;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, such as "0.1.0". TAGMAC_VERSION is the version of the
// header.
const char *tagmac_version(void);

// Describes a status in a few words, such as "wrong tag" for TAGMAC_MISMATCH. The string is a
// constant: do not free it.
const char *tagmac_status_string(int status);

// Writes one line to `line` that explains the last call that failed on this thread, or "" if no
// call has failed. The line never contains a key, a message or a correct tag.
//
// The line ends in NUL and is truncated to fit `line_size` bytes. TAGMAC_ERROR_SIZE bytes are
// enough unless the line quotes a name or a path of yours. Returns `line`, or "" if `line` is NULL
// or `line_size` is 0.
const char *tagmac_error_string(char *line,
                                size_t line_size);

// Returns the name of algorithm number `index`, such as "PMAC-AES128". Counting starts at 0. NULL
// after the last algorithm.
const char *tagmac_algorithm(size_t index);

// Writes the lengths of an algorithm's keys, nonces and tags to `sizes`.
int tagmac_algorithm_sizes(tagmac_sizes *sizes,
                           const char *algorithm);

// Returns the name of the instruction set for new keys, such as "avx2". This is the best one that
// the CPU supports, or the one that tagmac_set_level() chose. NULL if that one is not usable.
const char *tagmac_level(void);

// Chooses the instruction set for all keys made from now on, on all threads; NULL restores the
// default, the best one. For tests: the tags are the same with every instruction set. 'tagmac
// selftest' lists the names.
int tagmac_set_level(const char *name);

// Overwrites memory with zeros. Unlike memset(), the compiler cannot optimise it away.
int tagmac_memzero(void *memory,
                   size_t size);

// Makes a key from an algorithm and key bytes. Its tags have `tag_bits` bits; 0 selects the
// longest tags. The bytes are copied: wipe your copy.
//
// TAGMAC_MISUSE if the algorithm is unknown, if it does not support this length of key or tag, or
// if `key` is already initialised.
int tagmac_key_init(tagmac_key *key,
                    const char *algorithm,
                    const uint8_t *key_bytes,
                    size_t key_size,
                    size_t tag_bits);

// Wipes a key, frees its memory, and leaves zeros. No other call may use the key at the same time.
// Streams and sessions made from it stay valid. Does nothing to an empty key.
int tagmac_key_free(tagmac_key *key);

// Returns the name of the key's algorithm. NULL for an empty key.
const char *tagmac_key_algorithm(const tagmac_key *key);

// Writes the public ID of the key and its algorithm: 8 bytes, the same as in key files.
int tagmac_key_id(const tagmac_key *key,
                  uint8_t *id,
                  size_t id_size);

// Returns the length of the key's tags in bytes. 0 for an empty key.
size_t tagmac_key_tag_size(const tagmac_key *key);

// Writes the tag of a message. `tag_size` must equal tagmac_key_tag_size(). Never use a nonce for
// two messages under the same key. For algorithms without a nonce, pass NULL and 0.
int tagmac_key_tag(const tagmac_key *key,
                   uint8_t *tag,
                   size_t tag_size,
                   const uint8_t *nonce,
                   size_t nonce_size,
                   const uint8_t *message,
                   size_t message_size);

// Checks the tag of a message in constant time: 0 if it is right, TAGMAC_MISMATCH if it is wrong.
// Use the message only after 0.
//
// `tag_size` must equal tagmac_key_tag_size(), so a truncated tag never passes. Messages over the
// algorithm's length limit always return TAGMAC_MISMATCH.
TAGMAC_MUST_USE
int tagmac_key_verify(const tagmac_key *key,
                      const uint8_t *tag,
                      size_t tag_size,
                      const uint8_t *nonce,
                      size_t nonce_size,
                      const uint8_t *message,
                      size_t message_size);

// Writes the tag of a message in one call, without a tagmac_key. The tag is the longest of the
// algorithm: 16 bytes for every algorithm based on AES. To tag several messages, make a
// tagmac_key, which prepares the key only once.
int tagmac_tag(uint8_t *tag,
               size_t tag_size,
               const char *algorithm,
               const uint8_t *key_bytes,
               size_t key_size,
               const uint8_t *nonce,
               size_t nonce_size,
               const uint8_t *message,
               size_t message_size);

// Checks the tag of a message in one call, in constant time: 0 if it is right, TAGMAC_MISMATCH if
// it is wrong. `tag_size` must be the longest tag of the algorithm in bytes.
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

// Returns the size of a tagmac_key in bytes, for languages that cannot use sizeof.
size_t tagmac_key_size(void);

// Returns the alignment of a tagmac_key in bytes.
size_t tagmac_key_align(void);

// Makes a key from a key file that 'tagmac keygen' wrote. TAGMAC_INPUT if the file is missing,
// unreadable or damaged.
//
// Named pipes are refused, because opening one could wait forever for its writer. Pipes of the
// process itself, such as /dev/stdin and /dev/fd/63, are read to the end. Unlike the command, this
// call does not check who could have written the file. Anyone who can replace the key can make
// tags that you accept.
int tagmac_key_load(tagmac_key *key,
                    const char *path,
                    size_t tag_bits);

// Makes a key from the text of a key file, like tagmac_key_load().
int tagmac_key_parse(tagmac_key *key,
                     const char *file_text,
                     size_t file_size,
                     size_t tag_bits);

// Makes a new random key for an algorithm, of the recommended length. The bytes are from the
// system's generator and never leave the library: store the key with tagmac_key_save().
//
// TAGMAC_MISUSE if the algorithm is unknown, if it does not support this length of tag, or if
// `key` is already initialised. TAGMAC_INTERNAL if the system has no random bytes.
int tagmac_keygen(tagmac_key *key,
                  const char *algorithm,
                  size_t tag_bits);

// Writes a key to a new key file, which tagmac_key_load() and the command read. Only the owner may
// read the file, and it appears complete or not at all.
//
// TAGMAC_INPUT if the file exists or cannot be written. The length of tags is not stored: pass it
// again to tagmac_key_load().
int tagmac_key_save(const tagmac_key *key,
                    const char *path);

// Writes the tags of `count` messages, which takes much less time than a call for each if they are
// short. The tags are one after another in `tags`, and `tags_size` is `count` times
// tagmac_key_tag_size().
//
// Message number i has the nonce at `nonces` + i * `nonce_size`. TAGMAC_MISUSE if two of them are
// equal. For algorithms without a nonce, pass NULL and 0.
int tagmac_tag_many(const tagmac_key *key,
                    uint8_t *tags,
                    size_t tags_size,
                    const uint8_t *nonces,
                    size_t nonce_size,
                    const tagmac_bytes *messages,
                    size_t count);

// Checks the tags of `count` messages, each in constant time: 0 if all are right, TAGMAC_MISMATCH
// if any is wrong. The arguments are those of tagmac_tag_many(); nonces may be equal.
//
// `verdicts` has `count` bytes, or is NULL. With 0 and with TAGMAC_MISMATCH, the call writes a 1
// for each message whose tag is right, and a 0 for each other one. Clear the verdicts before, as
// any other failure leaves them unchanged.
TAGMAC_MUST_USE
int tagmac_verify_many(const tagmac_key *key,
                       const uint8_t *tags,
                       size_t tags_size,
                       const uint8_t *nonces,
                       size_t nonce_size,
                       const tagmac_bytes *messages,
                       size_t count,
                       uint8_t *verdicts);

// Begins a message. Never use a nonce for two messages under the same key. For algorithms without
// a nonce, pass NULL and 0. The stream stays valid after the key is freed.
int tagmac_stream_init(tagmac_stream *stream,
                       const tagmac_key *key,
                       const uint8_t *nonce,
                       size_t nonce_size);

// Adds data to the message.
int tagmac_stream_update(tagmac_stream *stream,
                         const uint8_t *data,
                         size_t data_size);

// Writes the tag and ends the message. `tag_size` must equal tagmac_key_tag_size() of the key;
// with another size the stream does not change. After the end, call tagmac_stream_next() before
// the next tagmac_stream_update().
int tagmac_stream_final(tagmac_stream *stream,
                        uint8_t *tag,
                        size_t tag_size);

// Checks the tag in constant time and ends the message: 0 if the tag is right, TAGMAC_MISMATCH if
// it is wrong. Use the message only after 0. Messages over the algorithm's length limit always
// return TAGMAC_MISMATCH.
TAGMAC_MUST_USE
int tagmac_stream_verify(tagmac_stream *stream,
                         const uint8_t *tag,
                         size_t tag_size);

// Begins the next message under the same key, with the nonce given. Drops the current message if
// it has not ended. For algorithms without a nonce, pass NULL and 0.
//
// TAGMAC_MISUSE if the previous message was tagged under the same nonce, or under a nonce of
// another length. Then the stream does not change. Nonces before the previous one are not checked:
// never reuse them.
int tagmac_stream_next(tagmac_stream *stream,
                       const uint8_t *nonce,
                       size_t nonce_size);

// Copies a stream, so that two messages with the same beginning share its hash. `copy` is an empty
// stream; it stays valid after `stream` and the key are freed. `stream` does not change, and may be
// copied by several threads at the same time.
//
// If the algorithm needs a nonce, all copies have the same one. So only one of them writes a tag
// under it: the others return TAGMAC_MISUSE from tagmac_stream_final(), and may verify.
// TAGMAC_MISUSE if the message has ended.
int tagmac_stream_copy(tagmac_stream *copy,
                       const tagmac_stream *stream);

// Writes the state of the message so far, encrypted and authenticated under the key. Any process
// with the key can continue the message with tagmac_stream_restore(), and so can the other
// languages of this library. The state may be stored anywhere: without the key it shows only its
// length.
//
// Writes the size of the state to `saved_size`. If `room`, the size of the buffer, is smaller,
// returns TAGMAC_MISUSE and writes only the size: pass 0 to learn it.
//
// If the algorithm needs a nonce, the stream ends here, so that only one message uses the nonce:
// restore each state only once, which the library cannot check. TAGMAC_MISUSE for CMAC, HMAC and
// the UMAC of 1999, and if the message has ended.
int tagmac_stream_save(tagmac_stream *stream,
                       uint8_t *saved,
                       size_t room,
                       size_t *saved_size);

// Continues the message that tagmac_stream_save() wrote, under the same key and tag length.
//
// TAGMAC_INPUT if the state was changed, or belongs to another key or algorithm. The nonce of a
// restored message is not known, so tagmac_stream_next() returns TAGMAC_MISUSE after it if the
// algorithm needs one.
int tagmac_stream_restore(tagmac_stream *stream,
                          const tagmac_key *key,
                          const uint8_t *saved,
                          size_t saved_size);

// Wipes a stream, frees its memory, and leaves zeros. Does nothing to an empty stream.
int tagmac_stream_free(tagmac_stream *stream);

// Returns the size of a tagmac_stream in bytes, for languages that cannot use sizeof.
size_t tagmac_stream_size(void);

// Returns the alignment of a tagmac_stream in bytes.
size_t tagmac_stream_align(void);

// Begins a session for a new key, or for one with its next nonce stored elsewhere. Nonces have
// `nonce_size` bytes and count up, big-endian, from `next_nonce`, or from zero if that is NULL.
// For algorithms without a nonce, pass NULL and 0. The session stays valid after the key is freed.
//
// The last two arguments set the budget. Messages have at most `max_message` bytes; 0 means 1 MiB,
// or the algorithm's limit if that is shorter. The number of messages is limited so that a forgery
// succeeds with at most `probability`, such as 1e-9, by the theorem about the algorithm. Wrong
// tags have a separate limit of the same probability, so that the sum is at most twice
// `probability`. With a `probability` of 0 there is no limit, and messages are only counted; CMAC
// and HMAC accept only 0.
int tagmac_session_init(tagmac_session *session,
                        const tagmac_key *key,
                        const uint8_t *next_nonce,
                        size_t nonce_size,
                        uint64_t max_message,
                        double probability);

// Continues a session that tagmac_session_save() wrote, under the same key. The last two arguments
// are those of tagmac_session_init(). Call tagmac_session_reserve() and tagmac_session_save()
// before you tag: a restored session covers no messages yet.
//
// TAGMAC_INPUT if the saved session is damaged or belongs to another key. TAGMAC_LIMIT if the key
// has already exceeded the budget.
int tagmac_session_restore(tagmac_session *session,
                           const tagmac_key *key,
                           const uint8_t *saved,
                           size_t saved_size,
                           uint64_t max_message,
                           double probability);

// Writes the tag of a message, and the nonce that it was made with. This is the only call that a
// sender needs for each packet. `tag_size` must equal tagmac_key_tag_size() of the key, and
// `nonce_size` must equal tagmac_session_nonce_size(). For algorithms without a nonce, pass NULL
// and 0.
//
// TAGMAC_LIMIT if the last save does not cover the message, or if the budget or the nonces are
// used up. A call that fails does not use up a nonce.
int tagmac_session_tag(tagmac_session *session,
                       uint8_t *tag,
                       size_t tag_size,
                       uint8_t *nonce,
                       size_t nonce_size,
                       const uint8_t *message,
                       size_t message_size);

// Checks the tag of a message in constant time, and counts it against the budget if it is wrong.
// Returns 0 if the tag is right and TAGMAC_MISMATCH if it is wrong. TAGMAC_LIMIT means that the
// budget allows no more wrong tags; then nothing was checked. `nonce` is the nonce that came with
// the message; the session's nonces are not used.
//
// Set `words` to 0 to check the whole tag. A session of UMAC-128 can check only the first 1, 2, 3
// or 4 words of 4 bytes, after tagmac_session_allow_grades(); pass the whole tag anyway. If others
// can make the process restart, save the session after each failure, or its count is lost.
TAGMAC_MUST_USE
int tagmac_session_verify(tagmac_session *session,
                          const uint8_t *tag,
                          size_t tag_size,
                          const uint8_t *nonce,
                          size_t nonce_size,
                          const uint8_t *message,
                          size_t message_size,
                          size_t words);

// Allows a session of UMAC-128 to check only the first words of tags. From now on fewer failures
// are allowed for each number of words. The limit keeps the probability that any attempt of a
// forger passes, at any number of words, to at most `probability`, such as 1e-3. Below 1.5e-9 no
// failures are allowed, and first words stay refused.
//
// The bound ends with the first attempt that passes. So when the first words of a tag pass, check
// the whole tag before you check another, and stop using the key if the whole tag is wrong. Note
// that anyone who can change the last bytes of a tag in transit can thereby end the key.
//
// tagmac_session_save() saves the failures but not this permission: call this again after
// tagmac_session_restore().
int tagmac_session_allow_grades(tagmac_session *session,
                                double probability);

// Reserves nonces and budget for `messages` more messages. Before you tag, call
// tagmac_session_save() and store its output. Reserved messages that are not used before the
// process ends are lost.
//
// TAGMAC_LIMIT if the budget or the nonces do not suffice; then nothing is reserved. The last
// nonce cannot be reserved.
int tagmac_session_reserve(tagmac_session *session,
                           uint64_t messages);

// Writes the state that the session will have after all reserved messages: the next nonce and the
// usage. Store the output in place of the previous one before you tag. From now on the session
// tags only the reserved messages, until it is saved again. `saved_size` must be
// TAGMAC_SESSION_SAVED.
int tagmac_session_save(tagmac_session *session,
                        uint8_t *saved,
                        size_t saved_size);

// Counts messages. `used`: tagged under the key, including all that were reserved before the
// session was restored. `left`: may still be tagged. `reserved`: those of `left` that are
// reserved.
int tagmac_session_counts(const tagmac_session *session,
                          uint64_t *used,
                          uint64_t *left,
                          uint64_t *reserved);

// Returns the length of the session's nonces in bytes. 0 for an empty session and for algorithms
// without a nonce.
size_t tagmac_session_nonce_size(const tagmac_session *session);

// Wipes a session, frees its memory, and leaves zeros. Does nothing to an empty session.
int tagmac_session_free(tagmac_session *session);

// Returns the size of a tagmac_session in bytes, for languages that cannot use sizeof.
size_t tagmac_session_size(void);

// Returns the alignment of a tagmac_session in bytes.
size_t tagmac_session_align(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAGMAC_H */
