#ifndef TAGMAC_FILES_H
#define TAGMAC_FILES_H

#include "tagmac.h"

// Files: their tags on several threads, sealed partials of ranges, and verified reads of a sealed
// directory. Not on Windows.
//
// The rules of tagmac.h hold here too. Each object has the size and alignment of a tagmac_key. Paths
// are strings of bytes that end in NUL, in any encoding.
//
// PARTIALS. A tagmac_range hashes a range of an object to a partial, on any machine with the key.
// tagmac_combine() makes the object's tag from all partials.
//
// SEALED DIRECTORIES. The command 'tagmac seal' writes a manifest of a directory, with tags of the
// leaves of its files. So any range of a file can be verified without the rest of the file: as a
// tagmac_file from this machine, or as a tagmac_content with bytes from anywhere.

// A callback of yours that shows the progress of a call. `done` and `total` are in bytes; `total`
// is UINT64_MAX if it is unknown. `context` is the pointer that you passed with the callback.
// Return 0 to continue, or anything else to stop the call, which then returns TAGMAC_STOPPED.
//
// It runs on the thread of the call: at the start, at the end, and at most 20 times a second
// in between. It must return: no longjmp() and no C++ exception. It may use the key of the call, but
// not free it.
typedef int (*tagmac_progress)(void *context,
                               uint64_t done,
                               uint64_t total);

// A range of an object, which is being hashed to a partial. Begin with zeros:
// `tagmac_range range = {0};`. Use a range in one thread at a time; a call from a second thread
// returns TAGMAC_MISUSE. Do not move or copy a range: the calls refuse a copy.
typedef struct {
    size_t opaque[4];
} tagmac_range;

// The range that a partial covers.
typedef struct {
    // The first byte.
    uint64_t start;
    // The byte after the last one.
    uint64_t end;
    // 1 if the object ends with the range, else 0.
    int is_last;
    // Reserved for later versions; zero now.
    uint64_t reserved[4];
} tagmac_covered;

// An open manifest, whose seal was verified. Begin with zeros: `tagmac_manifest manifest = {0};`.
// Several threads may use one manifest at the same time, except while it is opened or freed. Do
// not move or copy it: the calls refuse a copy.
typedef struct {
    size_t opaque[4];
} tagmac_manifest;

// The sealed content of a file, which verifies bytes wherever they come from. Begin with zeros:
// `tagmac_content content = {0};`. Threads and copies: as for a tagmac_manifest.
typedef struct {
    size_t opaque[4];
} tagmac_content;

// An open file of a sealed directory. Its bytes are verified before a call returns them. Begin with
// zeros: `tagmac_file file = {0};`. Threads and copies: as for a tagmac_manifest.
typedef struct {
    size_t opaque[4];
} tagmac_file;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes the tag of a file, which is the tag of its bytes as one message.
//
// `threads` threads read and hash the file; 0 means one for each core, and 1 starts none. A small
// file uses fewer. Only algorithms with parts use several: see `block` of tagmac_algorithm_sizes().
// `progress` and its `context` may be NULL.
//
// TAGMAC_INPUT if the file cannot be read, or changes or is replaced while it is read. Named pipes
// are refused as by tagmac_key_load(). TAGMAC_LIMIT if it is longer than the algorithm's limit.
int tagmac_file_tag(const tagmac_key *key,
                    uint8_t *tag,
                    size_t tag_size,
                    const uint8_t *nonce,
                    size_t nonce_size,
                    const char *path,
                    size_t threads,
                    tagmac_progress progress,
                    void *context);

// Checks the tag of a file in constant time: 0 if it is right, TAGMAC_MISMATCH if it is wrong. The
// other arguments and statuses are those of tagmac_file_tag(); files over the algorithm's limit
// always return TAGMAC_MISMATCH.
//
// The file may change after the call. So use it only if nobody else can write to it, or read
// verified bytes with a tagmac_file.
TAGMAC_MUST_USE
int tagmac_file_verify(const tagmac_key *key,
                       const uint8_t *tag,
                       size_t tag_size,
                       const uint8_t *nonce,
                       size_t nonce_size,
                       const char *path,
                       size_t threads,
                       tagmac_progress progress,
                       void *context);

// Begins a range at byte `start` of an object, a multiple of `block` of tagmac_algorithm_sizes().
// `is_last` is 1 for the range at the end of the object, else 0. The range stays valid after the
// key is freed.
//
// `object` is the object's name. `version` identifies its content: a version ID, an ETag or an
// upload's ID, which no other content of that name may have. It must not contain '@'.
//
// TAGMAC_MISUSE if the algorithm does not support parts.
int tagmac_range_init(tagmac_range *range,
                      const tagmac_key *key,
                      const char *object,
                      const char *version,
                      uint64_t start,
                      int is_last);

// Adds data to the range. TAGMAC_LIMIT if the range would end beyond the algorithm's limit; then
// it does not change. TAGMAC_MISUSE after tagmac_range_seal().
int tagmac_range_update(tagmac_range *range,
                        const uint8_t *data,
                        size_t data_size);

// Ends the range and writes its partial, encrypted and authenticated under the key. It may be
// stored and sent anywhere: without the key it shows only the names, the range and the algorithm.
// The command and other languages read it too.
//
// Writes the size of the partial to `partial_size`. If `room`, the size of the buffer, is smaller,
// returns TAGMAC_MISUSE and writes only the size: pass 0 to learn it. A second call writes the same
// bytes.
//
// TAGMAC_MISUSE if the range is empty but the object is not, or if it ends within a block and is
// not the last.
int tagmac_range_seal(tagmac_range *range,
                      uint8_t *partial,
                      size_t room,
                      size_t *partial_size);

// Wipes a range, frees its memory, and leaves zeros. Does nothing to an empty range.
int tagmac_range_free(tagmac_range *range);

// Checks that a partial is intact and was made under the key, and writes its range to `covered`.
//
// TAGMAC_MISMATCH if it was changed or is not a partial, TAGMAC_INPUT if it belongs to another key.
TAGMAC_MUST_USE
int tagmac_partial_check(tagmac_covered *covered,
                         const tagmac_key *key,
                         const uint8_t *partial,
                         size_t partial_size);

// Writes the tag of an object, made from the partials of all its ranges in any order. It is the tag
// of the object's bytes as one message. The partials must be of this object and version.
//
// TAGMAC_MISMATCH if a partial was changed. TAGMAC_INPUT if one is of another object, version or
// key, or if a range is missing or present twice. The partials authenticate nothing about each
// other: compare the tag, or store it as the object's.
TAGMAC_MUST_USE
int tagmac_combine(const tagmac_key *key,
                   uint8_t *tag,
                   size_t tag_size,
                   const uint8_t *nonce,
                   size_t nonce_size,
                   const char *object,
                   const char *version,
                   const tagmac_bytes *partials,
                   size_t count);

// Opens the manifest of a directory and verifies its seal, which covers all its lines.
//
// TAGMAC_MISMATCH if the manifest was changed or is not one. TAGMAC_INPUT if it is missing or was
// sealed under another key. An attacker may put back an older manifest: compare
// tagmac_manifest_sequence() with the last one that you saw.
TAGMAC_MUST_USE
int tagmac_manifest_open(tagmac_manifest *manifest,
                         const tagmac_key *key,
                         const char *path);

// Returns the manifest's number in its chain, which counts up from 1 when a directory is sealed
// again. 0 for an empty manifest, and for a version without chains.
uint64_t tagmac_manifest_sequence(const tagmac_manifest *manifest);

// Frees a manifest and leaves zeros. Its contents and files stay valid. Does nothing to an empty
// manifest.
int tagmac_manifest_free(tagmac_manifest *manifest);

// Looks up the file at `path`, relative to the sealed directory.
//
// TAGMAC_INPUT if the manifest has no such entry, or if its leaf tags cannot be read. TAGMAC_MISUSE
// if it is not a file, or if it is longer than 64 MiB and was sealed without leaf tags.
int tagmac_content_init(tagmac_content *content,
                        const tagmac_manifest *manifest,
                        const char *path);

// Returns the size of the content in bytes. 0 for an empty one.
uint64_t tagmac_content_bytes(const tagmac_content *content);

// Returns the length of a leaf in bytes: what can be verified alone. Only the last leaf may be
// shorter. A short file is one leaf.
uint64_t tagmac_content_leaf(const tagmac_content *content);

// Checks that `data` is what was sealed from byte `start` on: one whole leaf or several. 0 if it
// is, TAGMAC_MISMATCH if it is not. Use the data only after 0. No thread may change it during the
// call or afterwards.
//
// TAGMAC_MISUSE if no leaf begins at `start`. TAGMAC_INPUT if the leaf tags cannot be read.
TAGMAC_MUST_USE
int tagmac_content_verify(const tagmac_content *content,
                          uint64_t start,
                          const uint8_t *data,
                          size_t data_size);

// Frees a content and leaves zeros. Does nothing to an empty content.
int tagmac_content_free(tagmac_content *content);

// Opens the file at `path` in the directory `root`, to which the manifest belongs. Symbolic links
// inside the directory are not followed.
//
// TAGMAC_MISMATCH if it has another size than the sealed one. TAGMAC_INPUT if it cannot be opened,
// and otherwise as for tagmac_content_init().
TAGMAC_MUST_USE
int tagmac_file_open(tagmac_file *file,
                     const tagmac_manifest *manifest,
                     const char *root,
                     const char *path);

// Returns the size of the file in bytes. 0 for an empty tagmac_file.
uint64_t tagmac_file_bytes(const tagmac_file *file);

// Reads the verified bytes of the file from `offset` on, and writes their number to `read`: `size`,
// or fewer only at the end of the file. Whole leaves are read and verified, so read in large steps
// or in order.
//
// TAGMAC_MISMATCH if the bytes are not the sealed ones, TAGMAC_INPUT if they cannot be read. Then
// `out` holds only zeros. During the call it may hold bytes that are not verified yet: no other
// thread may use them.
TAGMAC_MUST_USE
int tagmac_file_read(const tagmac_file *file,
                     uint8_t *out,
                     size_t size,
                     uint64_t offset,
                     size_t *read);

// Closes a file and leaves zeros. Does nothing to an empty tagmac_file.
int tagmac_file_free(tagmac_file *file);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAGMAC_FILES_H */
