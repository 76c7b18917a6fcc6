/* Every call of tagmac_files.h with right and wrong arguments. The source is valid C99 and C++11.

   Usage: files FOLDER, with a FOLDER that is writable. It has a key file `tree.key`, a directory
   `tree` with files `long` (300,000 bytes of 'a'), `dir/short` ("short") and `empty`, and its
   manifest `tree.manifest` under this key, with leaf tags. */

#include "check.h"

#include <tagmac_files.h>

#ifdef __cplusplus
#define EMPTY {}
#else
#define EMPTY {0}
#endif

enum { SIZE = (3 << 20) + 5, LONG = 300000 };

static uint8_t content[SIZE], out[SIZE];
static const char *folder;

/* Returns the path of a file in the folder, in one of a few buffers. */
static const char *at(const char *name) {
    static char paths[4][4096];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

typedef struct {
    size_t calls, stop_at;
    uint64_t first, last, total;
    const tagmac_key *key;
} seen;

static int watch(void *context, uint64_t done, uint64_t total) {
    seen *it = (seen *)context;
    if (it->calls++ == 0) {
        it->first = done;
    }
    CHECK(done >= it->last && done <= total);
    CHECK(tagmac_key_tag_size(it->key) > 0);
    it->last = done;
    it->total = total;
    return it->stop_at == it->calls || (it->stop_at == SIZE && done == total);
}

static void tags(void) {
    static const char *const names[] = {"PMAC-AES128", "UMAC-64", "HMAC-SHA256"};
    uint8_t bytes[32], nonce[8] = {1}, tag[32], found[32];
    const char *path = at("big");
    memset(bytes, 3, sizeof bytes);
    write_file(path, content, SIZE);
    for (size_t i = 0; i < 3; i++) {
        tagmac_key key = EMPTY;
        tagmac_sizes sizes;
        CHECK(tagmac_algorithm_sizes(&sizes, names[i]) == 0);
        CHECK(tagmac_key_init(&key, names[i], bytes, sizes.key_new, 0) == 0);
        size_t size = tagmac_key_tag_size(&key), nonce_size = sizes.nonce_max > 0 ? 8 : 0;
        CHECK(tagmac_key_tag(&key, tag, size, nonce, nonce_size, content, SIZE) == 0);
        for (size_t threads = 0; threads < 4; threads++) {
            seen it = EMPTY;
            it.key = &key;
            memset(found, 0, sizeof found);
            CHECK(tagmac_file_tag(&key, found, size, nonce, nonce_size, path, threads, watch,
                                  &it) == 0);
            CHECK(memcmp(tag, found, size) == 0);
            CHECK(it.calls >= 2 && it.first == 0 && it.last == SIZE && it.total == SIZE);
            CHECK(tagmac_file_verify(&key, tag, size, nonce, nonce_size, path, threads, NULL,
                                     NULL) == 0);
        }
        /* It stops before the first byte, and after the last one. */
        memset(found, 7, sizeof found);
        for (size_t stop = 1; stop <= SIZE; stop += SIZE - 1) {
            seen it = EMPTY;
            it.key = &key;
            it.stop_at = stop;
            FAILS(TAGMAC_STOPPED, tagmac_file_tag(&key, found, size, nonce, nonce_size, path, 2,
                                                  watch, &it), "big: stopped on request");
            CHECK(found[0] == 7 && (stop > 1 || it.calls == 1));
            it.calls = 0;
            it.last = 0;
            FAILS(TAGMAC_STOPPED, tagmac_file_verify(&key, tag, size, nonce, nonce_size, path, 1,
                                                     watch, &it), "stopped");
        }
        tag[0] ^= 1;
        MISMATCH(tagmac_file_verify(&key, tag, size, nonce, nonce_size, path, 2, NULL, NULL),
                 "does not match");
        MISUSE(tagmac_file_verify(&key, tag, size - 1, nonce, nonce_size, path, 2, NULL, NULL),
               "expected a tag of");
        MISUSE(tagmac_file_tag(&key, found, size - 1, nonce, nonce_size, path, 0, NULL, NULL),
               "for the tag");
        MISUSE(tagmac_file_tag(&key, found, size, nonce, 77, path, 0, NULL, NULL), "77");
        MISUSE(tagmac_file_tag(&key, found, size, nonce, nonce_size, NULL, 0, NULL, NULL), "null");
        INPUT(tagmac_file_tag(&key, found, size, nonce, nonce_size, at("none"), 0, NULL, NULL),
              "none: No such file");
        INPUT(tagmac_file_tag(&key, found, size, nonce, nonce_size, folder, 0, NULL, NULL),
              "found a directory");
        CHECK(found[0] == 7);
        CHECK(tagmac_key_free(&key) == 0);
        MISUSE(tagmac_file_tag(&key, found, size, nonce, nonce_size, path, 0, NULL, NULL), "empty");
    }
    /* A limit of 3840 bytes. */
    tagmac_key key = EMPTY;
    CHECK(tagmac_key_init(&key, "LIGHTMAC-AES128-S8", bytes, 32, 0) == 0);
    LIMIT(tagmac_file_tag(&key, found, 16, NULL, 0, path, 0, NULL, NULL), "at most 3840 bytes");
    MISMATCH(tagmac_file_verify(&key, found, 16, NULL, 0, path, 0, NULL, NULL), "does not match");
    CHECK(tagmac_key_free(&key) == 0);
    CHECK(remove(path) == 0);
}

/* Hashes and seals a range. Returns the size of the partial. */
static size_t sealed(const tagmac_key *key, uint64_t start, size_t size, int is_last, uint8_t *to,
                     size_t room) {
    tagmac_range range = EMPTY;
    size_t found = 0, again = 0;
    static uint8_t twice[4096];
    CHECK(tagmac_range_init(&range, key, "photo", "v1", start, is_last) == 0);
    MISUSE(tagmac_range_init(&range, key, "photo", "v1", start, is_last), "free it first");
    CHECK(tagmac_range_update(&range, content + start, size / 3) == 0);
    CHECK(tagmac_range_update(&range, content + start + size / 3, size - size / 3) == 0);
    MISUSE(tagmac_range_seal(&range, NULL, 0, &found), "expected a buffer of at least");
    CHECK(found > 0 && found <= room);
    MISUSE(tagmac_range_seal(&range, to, room, NULL), "null");
    CHECK(tagmac_range_seal(&range, to, room, &again) == 0 && again == found);
    CHECK(tagmac_range_seal(&range, twice, sizeof twice, &again) == 0);
    CHECK(again == found && memcmp(to, twice, found) == 0);
    MISUSE(tagmac_range_update(&range, content, 1), "was sealed");
    CHECK(tagmac_range_free(&range) == 0 && tagmac_range_free(&range) == 0);
    return found;
}

static void partials(void) {
    static uint8_t blobs[3][4096];
    uint8_t bytes[32], tag[16], found[32];
    tagmac_key key = EMPTY, hmac = EMPTY, foreign = EMPTY;
    tagmac_range range = EMPTY;
    tagmac_covered covered;
    tagmac_bytes list[3];
    memset(bytes, 3, sizeof bytes);
    CHECK(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 0) == 0);
    CHECK(tagmac_key_init(&hmac, "HMAC-SHA256", bytes, 32, 0) == 0);
    bytes[0] = 4;
    CHECK(tagmac_key_init(&foreign, "PMAC-AES128", bytes, 16, 0) == 0);
    const size_t cuts[] = {0, 1600, 64000, 100001};
    for (size_t i = 0; i < 3; i++) {
        /* Any order. */
        size_t j = (i + 1) % 3;
        list[i].data = blobs[j];
        list[i].size = sealed(&key, cuts[j], cuts[j + 1] - cuts[j], j == 2, blobs[j], 4096);
        CHECK(tagmac_partial_check(&covered, &key, list[i].data, list[i].size) == 0);
        CHECK(covered.start == cuts[j] && covered.end == cuts[j + 1]);
        CHECK(covered.is_last == (j == 2) && covered.reserved[3] == 0);
    }
    CHECK(tagmac_combine(&key, found, 16, NULL, 0, "photo", "v1", list, 3) == 0);
    CHECK(tagmac_key_tag(&key, tag, 16, NULL, 0, content, cuts[3]) == 0);
    CHECK(memcmp(tag, found, 16) == 0);
    memset(found, 7, 16);
    INPUT(tagmac_combine(&key, found, 16, NULL, 0, "photo", "v2", list, 3), "photo@v2");
    INPUT(tagmac_combine(&key, found, 16, NULL, 0, "photo", "v1", list, 2), "partial");
    INPUT(tagmac_combine(&foreign, found, 16, NULL, 0, "photo", "v1", list, 3), "key");
    INPUT(tagmac_partial_check(&covered, &foreign, blobs[0], list[2].size), "key");
    MISMATCH(tagmac_partial_check(&covered, &key, content, 500), "not a partial");
    INPUT(tagmac_combine(&key, found, 16, NULL, 0, "photo", "v1", NULL, 0), "partials");
    MISUSE(tagmac_combine(&hmac, found, 32, NULL, 0, "photo", "v1", list, 3),
           "cannot hash ranges");
    MISUSE(tagmac_combine(&key, found, 15, NULL, 0, "photo", "v1", list, 3), "found 15");
    MISUSE(tagmac_combine(&key, found, 16, NULL, 0, NULL, "v1", list, 3), "null");
    MISUSE(tagmac_combine(&key, found, 16, NULL, 0, "photo", "v@1", list, 3), "'@'");
    MISUSE(tagmac_combine(&key, found, 16, NULL, 0, "photo", "v1", NULL, 3), "null");
    MISUSE(tagmac_combine(&key, found, 16, bytes, 8, "photo", "v1", list, 3), "nonce");
    MISUSE(tagmac_partial_check(NULL, &key, blobs[0], list[2].size), "null");
    blobs[0][list[2].size - 1] ^= 1;
    MISMATCH(tagmac_combine(&key, found, 16, NULL, 0, "photo", "v1", list, 3), "damaged");
    MISMATCH(tagmac_partial_check(&covered, &key, blobs[0], list[2].size), "damaged");
    CHECK(found[0] == 7 && found[15] == 7);

    MISUSE(tagmac_range_init(&range, &hmac, "photo", "v1", 0, 1), "cannot hash ranges");
    MISUSE(tagmac_range_init(&range, &key, "photo", "v1", 1, 1), "16");
    MISUSE(tagmac_range_init(&range, &key, "", "v1", 0, 1), "name is empty");
    MISUSE(tagmac_range_init(&range, &key, "photo", NULL, 0, 1), "null");
    MISUSE(tagmac_range_init(NULL, &key, "photo", "v1", 0, 1), "null");
    MISUSE(tagmac_range_update(&range, content, 1), "empty");
    CHECK(tagmac_range_init(&range, &key, "photo", "v1", 16, 0) == 0);
    size_t size = 9;
    MISUSE(tagmac_range_seal(&range, found, 16, &size), "empty");
    CHECK(size == 9 && tagmac_range_update(&range, content, 9) == 0);
    MISUSE(tagmac_range_seal(&range, found, 16, &size), "16");
    tagmac_range copy;
    memcpy(&copy, &range, sizeof copy);
    MISUSE(tagmac_range_update(&copy, content, 9), "moved or copied");
    /* It stays valid after its key is freed. */
    CHECK(tagmac_key_free(&key) == 0 && tagmac_range_update(&range, content, 7) == 0);
    MISUSE(tagmac_range_seal(&range, NULL, 0, &size), "at least");
    CHECK(tagmac_range_free(&range) == 0);
    CHECK(tagmac_key_free(&hmac) == 0 && tagmac_key_free(&foreign) == 0);
}

static void directory(void) {
    uint8_t bytes[16] = {1};
    tagmac_key key = EMPTY, foreign = EMPTY;
    tagmac_manifest manifest = EMPTY, none = EMPTY;
    tagmac_content described = EMPTY;
    tagmac_file file = EMPTY;
    size_t read = 0;
    CHECK(tagmac_key_load(&key, at("tree.key"), 0) == 0);
    CHECK(tagmac_key_init(&foreign, "PMAC-AES128", bytes, 16, 0) == 0);
    INPUT(tagmac_manifest_open(&manifest, &foreign, at("tree.manifest")), "tree.manifest");
    INPUT(tagmac_manifest_open(&manifest, &key, at("none")), "none: No such file");
    MISMATCH(tagmac_manifest_open(&manifest, &key, at("tree.key")), "not a manifest");
    MISUSE(tagmac_manifest_open(&manifest, &key, NULL), "null");
    CHECK(tagmac_manifest_sequence(&manifest) == 0);
    CHECK(tagmac_manifest_open(&manifest, &key, at("tree.manifest")) == 0);
    MISUSE(tagmac_manifest_open(&manifest, &key, at("tree.manifest")), "free it first");
    CHECK(tagmac_manifest_sequence(&manifest) == 1);

    INPUT(tagmac_content_init(&described, &manifest, "none"), "none");
    MISUSE(tagmac_content_init(&described, &manifest, "dir"), "expected a file");
    MISUSE(tagmac_content_init(&described, &none, "long"), "empty");
    CHECK(tagmac_content_bytes(&described) == 0 && tagmac_content_leaf(&described) == 0);
    CHECK(tagmac_content_init(&described, &manifest, "long") == 0);
    CHECK(tagmac_content_bytes(&described) == LONG);
    size_t leaf = (size_t)tagmac_content_leaf(&described);
    CHECK(leaf > 0 && leaf < LONG);
    memset(out, 'a', LONG);
    CHECK(tagmac_content_verify(&described, 0, out, LONG) == 0);
    CHECK(tagmac_content_verify(&described, leaf, out, leaf) == 0);
    CHECK(tagmac_content_verify(&described, LONG / leaf * leaf, out, LONG % leaf) == 0);
    MISMATCH(tagmac_content_verify(&described, leaf, out, leaf - 1), "differ from those sealed");
    MISMATCH(tagmac_content_verify(&described, 0, out, LONG + 1), "differ");
    MISMATCH(tagmac_content_verify(&described, 0, NULL, 0), "differ");
    out[leaf] = 'b';
    MISMATCH(tagmac_content_verify(&described, 0, out, LONG), "differ");
    CHECK(tagmac_content_verify(&described, 0, out, leaf) == 0);
    MISUSE(tagmac_content_verify(&described, 1, out, leaf), "multiple");
    MISUSE(tagmac_content_verify(&described, UINT64_MAX / leaf * leaf, out, leaf), "below");
    MISUSE(tagmac_content_verify(&described, 0, NULL, leaf), "null");

    CHECK(tagmac_file_bytes(&file) == 0);
    INPUT(tagmac_file_open(&file, &manifest, at("tree"), "none"), "none");
    INPUT(tagmac_file_open(&file, &manifest, at("none"), "long"), "none");
    MISUSE(tagmac_file_open(&file, &manifest, at("tree"), "../tree/long"), "no file can have");
    MISUSE(tagmac_file_open(&file, &manifest, NULL, "long"), "null");
    MISUSE(tagmac_file_read(&file, out, 1, 0, &read), "empty");
    CHECK(tagmac_file_open(&file, &manifest, at("tree"), "dir/short") == 0);
    CHECK(tagmac_file_read(&file, out, 9, 1, &read) == 0 && read == 4);
    CHECK(memcmp(out, "hort", 4) == 0);
    CHECK(tagmac_file_read(&file, out, 9, 5, &read) == 0 && read == 0);
    CHECK(tagmac_file_read(&file, out, 9, UINT64_MAX, &read) == 0 && read == 0);
    CHECK(tagmac_file_free(&file) == 0 && tagmac_file_free(&file) == 0);
    CHECK(tagmac_file_open(&file, &manifest, at("tree"), "empty") == 0);
    CHECK(tagmac_file_read(&file, out, 9, 0, &read) == 0 && read == 0);
    CHECK(tagmac_file_free(&file) == 0);
    CHECK(tagmac_file_open(&file, &manifest, at("tree"), "long") == 0);
    /* Files and contents stay valid after their manifest and key are freed. */
    CHECK(tagmac_key_free(&key) == 0 && tagmac_manifest_free(&manifest) == 0);
    CHECK(tagmac_manifest_free(&manifest) == 0);
    CHECK(tagmac_file_bytes(&file) == LONG);
    for (size_t step = 1000; step < 2 * LONG; step *= 7) {
        size_t all = 0;
        memset(out, 0, SIZE);
        while (tagmac_file_read(&file, out + all, step, all, &read) == 0 && read > 0) {
            all += read;
        }
        CHECK(all == LONG && out[0] == 'a' && out[LONG - 1] == 'a' && out[LONG] == 0);
        CHECK(memcmp(out, out + 1, LONG - 1) == 0);
    }
    MISUSE(tagmac_file_read(&file, out, 9, 0, NULL), "null");
    MISUSE(tagmac_file_read(&file, NULL, 9, 0, &read), "null");

    /* A changed byte: its leaf is refused, whatever the size of the read; others are not. */
    FILE *changed = fopen(at("tree/long"), "r+b");
    CHECK(changed != NULL && fseek(changed, (long)leaf + 5, SEEK_SET) == 0);
    CHECK(fputc('b', changed) == 'b' && fclose(changed) == 0);
    read = 77;
    memset(out, 7, SIZE);
    MISMATCH(tagmac_file_read(&file, out, LONG, 0, &read), "differ from those sealed");
    CHECK(out[0] == 0 && memcmp(out, out + 1, LONG - 1) == 0 && out[LONG] == 7 && read == 77);
    MISMATCH(tagmac_file_read(&file, out, 1, leaf, &read), "differ from those sealed");
    CHECK(tagmac_file_read(&file, out, leaf, 0, &read) == 0 && read == leaf && out[0] == 'a');
    CHECK(tagmac_file_read(&file, out, 9, 2 * leaf, &read) == 0 && read == 9 && out[8] == 'a');
    tagmac_file copy;
    memcpy(&copy, &file, sizeof copy);
    MISUSE(tagmac_file_read(&copy, out, 9, 0, &read), "moved or copied");
    CHECK(tagmac_file_free(&file) == 0 && tagmac_content_free(&described) == 0);
    CHECK(tagmac_key_free(&foreign) == 0);
    changed = fopen(at("tree/long"), "r+b");
    CHECK(changed != NULL && fseek(changed, (long)leaf + 5, SEEK_SET) == 0);
    CHECK(fputc('a', changed) == 'a' && fclose(changed) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    folder = argv[1];
    for (size_t i = 0; i < SIZE; i++) {
        content[i] = (uint8_t)(i * i >> 3);
    }
    choose_level();
    tags();
    partials();
    directory();
    printf("files\n");
    return 0;
}
