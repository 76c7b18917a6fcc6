/* New keys, copied and saved streams, and many messages in one call. For smoke.c. */

#include "smoke.h"

enum { COUNT = 600 };

/* A new key is random, and comes back from its file. */
void new_keys(const char *folder) {
    char path[4096];
    tagmac_key key = EMPTY, again = EMPTY;
    uint8_t id[8], found[8];
    snprintf(path, sizeof path, "%s/new.key", folder);
    CHECK(tagmac_keygen(&key, "PMAC-AES-128", 0) == 0);
    MISUSE(tagmac_keygen(&key, "PMAC-AES128", 0), "free it first");
    MISUSE(tagmac_keygen(&again, "no such", 0), "'no such'");
    MISUSE(tagmac_keygen(&again, "PMAC-AES128", 129), "found 129");
    MISUSE(tagmac_keygen(NULL, "PMAC-AES128", 0), "null");
    CHECK(tagmac_keygen(&again, "PMAC-AES128", 0) == 0);
    CHECK(tagmac_key_id(&key, id, 8) == 0 && tagmac_key_id(&again, found, 8) == 0);
    CHECK(memcmp(id, found, 8) != 0);
    CHECK(tagmac_key_free(&again) == 0);

    CHECK(tagmac_key_save(&key, path) == 0);
    INPUT(tagmac_key_save(&key, path), "new.key: the file exists");
    INPUT(tagmac_key_save(&key, "/no/such/folder/key"), "/no/such/folder/key");
    MISUSE(tagmac_key_save(&key, NULL), "null");
    MISUSE(tagmac_key_save(&again, path), "empty");
    CHECK(tagmac_key_load(&again, path, 0) == 0);
    CHECK(tagmac_key_id(&again, found, 8) == 0 && memcmp(id, found, 8) == 0);
    CHECK(tagmac_key_tag(&key, tag, 16, NULL, 0, message, 100) == 0);
    CHECK(tagmac_key_verify(&again, tag, 16, NULL, 0, message, 100) == 0);
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&again) == 0);
    CHECK(remove(path) == 0);
}

/* Copies share their beginning; of those with a nonce only one has a tag. */
void copies(const char *name) {
    tagmac_sizes sizes;
    tagmac_key key = EMPTY;
    tagmac_stream stream = EMPTY, copy = EMPTY;
    CHECK(tagmac_algorithm_sizes(&sizes, name) == 0);
    CHECK(tagmac_key_init(&key, name, bytes, sizes.key_new, 0) == 0);
    size_t size = tagmac_key_tag_size(&key);
    const uint8_t *with = sizes.nonce_max > 0 ? nonce : NULL;
    MISUSE(tagmac_stream_copy(&copy, &stream), "empty");
    CHECK(tagmac_stream_init(&stream, &key, with, sizes.nonce_max) == 0);
    CHECK(tagmac_stream_update(&stream, message, 99) == 0);
    MISUSE(tagmac_stream_copy(&stream, &stream), "in use");
    MISUSE(tagmac_stream_copy(NULL, &stream), "null");
    MISUSE(tagmac_stream_copy(&copy, NULL), "null");
    CHECK(tagmac_stream_copy(&copy, &stream) == 0);
    MISUSE(tagmac_stream_copy(&copy, &stream), "free it first");
    CHECK(tagmac_stream_update(&stream, message + 99, 1) == 0);
    CHECK(tagmac_stream_update(&copy, message + 99, 2) == 0);
    CHECK(tagmac_stream_final(&copy, tag, size) == 0);
    CHECK(tagmac_key_verify(&key, tag, size, with, sizes.nonce_max, message, 101) == 0);
    MISUSE(tagmac_stream_copy(&stream, &copy), "free it first");
    if (sizes.nonce_max > 0) {
        MISUSE(tagmac_stream_final(&stream, other, size), "may have been used");
        MISUSE(tagmac_stream_next(&stream, with, sizes.nonce_max), "may have been used");
    } else {
        tagmac_stream third = EMPTY;
        CHECK(tagmac_stream_copy(&third, &stream) == 0);
        CHECK(tagmac_stream_final(&third, other, size) == 0);
        CHECK(tagmac_stream_free(&third) == 0);
        CHECK(tagmac_key_verify(&key, other, size, NULL, 0, message, 100) == 0);
    }
    CHECK(tagmac_key_tag(&key, tag, size, with, sizes.nonce_max, message, 100) == 0);
    CHECK(tagmac_stream_verify(&stream, tag, size) == 0);
    MISUSE(tagmac_stream_copy(&copy, &stream), "free it first");
    CHECK(tagmac_stream_free(&copy) == 0);
    MISUSE(tagmac_stream_copy(&copy, &stream), "has ended");

    /* A copy that begins again under the nonce still shares it. */
    if (sizes.nonce_max > 0) {
        nonce[0]++;
        CHECK(tagmac_stream_next(&stream, with, sizes.nonce_max) == 0);
        CHECK(tagmac_stream_copy(&copy, &stream) == 0);
        CHECK(tagmac_stream_next(&copy, with, sizes.nonce_max) == 0);
        CHECK(tagmac_stream_final(&copy, tag, size) == 0);
        MISUSE(tagmac_stream_final(&stream, tag, size), "may have been used");
    }
    CHECK(tagmac_stream_free(&stream) == 0 && tagmac_stream_free(&copy) == 0);
    CHECK(tagmac_key_free(&key) == 0);
}

/* A saved message goes on in another stream. */
void saved_streams(const char *name) {
    static uint8_t state[1 << 14], foreign_bytes[sizeof bytes];
    tagmac_sizes sizes;
    tagmac_key key = EMPTY, foreign = EMPTY;
    tagmac_stream stream = EMPTY, restored = EMPTY;
    size_t found = 7, least = 7;
    CHECK(tagmac_algorithm_sizes(&sizes, name) == 0);
    CHECK(tagmac_key_init(&key, name, bytes, sizes.key_new, 0) == 0);
    memcpy(foreign_bytes, bytes, sizeof foreign_bytes);
    foreign_bytes[0] ^= 0x40;
    CHECK(tagmac_key_init(&foreign, name, foreign_bytes, sizes.key_new, 0) == 0);
    size_t size = tagmac_key_tag_size(&key);
    const uint8_t *with = sizes.nonce_max > 0 ? nonce : NULL;
    CHECK(tagmac_stream_init(&stream, &key, with, sizes.nonce_max) == 0);
    CHECK(tagmac_stream_update(&stream, message, 5000) == 0 || sizes.message_max < 5000);
    int status = tagmac_stream_save(&stream, state, sizeof state, &found);
    if (status != 0) {
        CHECK(status == TAGMAC_MISUSE || sizes.message_max < 5000);
        CHECK(found == 7 && (strstr(last_error(), "cannot be saved") || sizes.message_max < 5000));
        CHECK(tagmac_stream_free(&stream) == 0);
        CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&foreign) == 0);
        return;
    }
    CHECK(tagmac_stream_restore(&restored, &key, state, found) == 0);
    MISUSE(tagmac_stream_restore(&restored, &key, state, found), "free it first");
    if (sizes.nonce_max > 0) {
        MISUSE(tagmac_stream_update(&stream, message, 1), "has ended");
        MISUSE(tagmac_stream_next(&stream, with, sizes.nonce_max), "may have been used");
    } else {
        MISUSE(tagmac_stream_save(&stream, NULL, 0, &least), "expected a buffer of at least");
        CHECK(least == found);
        MISUSE(tagmac_stream_save(&stream, state, 0, NULL), "size of the saved stream is a null");
        MISUSE(tagmac_stream_save(&stream, NULL, 9, &least), "the saved stream is a null");
    }
    CHECK(tagmac_stream_update(&restored, message + 5000, 77) == 0);
    if (sizes.message_max > 5077) {
        CHECK(tagmac_key_tag(&key, tag, size, with, sizes.nonce_max, message, 5077) == 0);
        CHECK(tagmac_stream_final(&restored, other, size) == 0 && memcmp(tag, other, size) == 0);
        if (sizes.nonce_max > 0) {
            MISUSE(tagmac_stream_next(&restored, with, sizes.nonce_max), "is unknown");
        } else {
            CHECK(tagmac_stream_next(&restored, NULL, 0) == 0);
        }
    }
    CHECK(tagmac_stream_free(&restored) == 0);
    INPUT(tagmac_stream_restore(&restored, &foreign, state, found), "saved stream: ");
    INPUT(tagmac_stream_restore(&restored, &key, state, found - 1), "saved stream: ");
    INPUT(tagmac_stream_restore(&restored, &key, NULL, 0), "saved stream: ");
    state[found / 2] ^= 1;
    INPUT(tagmac_stream_restore(&restored, &key, state, found), "saved stream: ");
    MISUSE(tagmac_stream_restore(&restored, &key, NULL, 9), "null");
    CHECK(tagmac_stream_free(&stream) == 0 && tagmac_stream_free(&restored) == 0);
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&foreign) == 0);
}

/* Many tags are those of one message each, and each wrong one is found. */
void many(const char *name) {
    static tagmac_bytes messages[COUNT];
    static uint8_t tags[COUNT * 64], nonces[COUNT * 16], verdicts[COUNT];
    tagmac_sizes sizes;
    tagmac_key key = EMPTY;
    CHECK(tagmac_algorithm_sizes(&sizes, name) == 0);
    CHECK(tagmac_key_init(&key, name, bytes, sizes.key_new, 0) == 0);
    size_t size = tagmac_key_tag_size(&key), each = sizes.nonce_max, all = COUNT * size;
    const uint8_t *with = each > 0 ? nonces : NULL;
    memset(nonces, 0, sizeof nonces);
    for (size_t i = 0; i < COUNT; i++) {
        messages[i].data = message + i;
        messages[i].size = i % 100;
        /* Not in order. */
        if (each > 0) {
            nonces[(i + 1) * each - 1] = (uint8_t)~i;
            nonces[i * each] = (uint8_t)(i >> 8);
        }
    }
    messages[7].data = NULL;
    messages[7].size = 0;
    CHECK(tagmac_tag_many(&key, tags, all, with, each, messages, COUNT) == 0);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(tagmac_key_verify(&key, tags + i * size, size, each > 0 ? nonces + i * each : NULL,
                                each, messages[i].data, messages[i].size) == 0);
    }
    memset(verdicts, 7, sizeof verdicts);
    CHECK(tagmac_verify_many(&key, tags, all, with, each, messages, COUNT, NULL) == 0);
    CHECK(tagmac_verify_many(&key, tags, all, with, each, messages, COUNT, verdicts) == 0);
    CHECK(memchr(verdicts, 0, COUNT) == NULL && memchr(verdicts, 7, COUNT) == NULL);
    tags[300 * size] ^= 1;
    MISMATCH(tagmac_verify_many(&key, tags, all, with, each, messages, COUNT, verdicts),
             "message 300: the tag does not match");
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(verdicts[i] == (i != 300));
    }
    tags[599 * size] ^= 1;
    MISMATCH(tagmac_verify_many(&key, tags, all, with, each, messages, COUNT, NULL),
             "message 300 and 1 more");

    /* Wrong calls write nothing. */
    memset(tags, 7, all);
    MISUSE(tagmac_tag_many(&key, tags, all - 1, with, each, messages, COUNT), "for the tags");
    MISUSE(tagmac_tag_many(&key, NULL, all, with, each, messages, COUNT), "null");
    MISUSE(tagmac_tag_many(&key, tags, all, with, each, NULL, COUNT), "messages: the pointer");
    MISUSE(tagmac_tag_many(&key, tags, all, with, each, messages, SIZE_MAX), "at most");
    MISUSE(tagmac_tag_many(&key, tags, all, with, 77, messages, COUNT), "found 77");
    memset(verdicts, 7, sizeof verdicts);
    MISUSE(tagmac_verify_many(&key, tags, all + 1, with, each, messages, COUNT, verdicts),
           "for 600 tags");
    messages[599].data = NULL;
    MISUSE(tagmac_tag_many(&key, tags, all, with, each, messages, COUNT), "message 599");
    MISUSE(tagmac_verify_many(&key, tags, all, with, each, messages, COUNT, verdicts),
           "message 599");
    messages[599].data = message;
    if (each > 0) {
        memcpy(nonces + 500 * each, nonces, each);
        MISUSE(tagmac_tag_many(&key, tags, all, with, each, messages, COUNT), "message 500: its");
        MISUSE(tagmac_tag_many(&key, tags, all, NULL, each, messages, COUNT), "nonces is a null");
    }
    if (sizes.message_max < MOST) {
        messages[300].data = message;
        messages[300].size = sizes.message_max + 1;
        LIMIT(tagmac_tag_many(&key, tags, all, with, each, messages, COUNT), "message 300: ");
        CHECK(tagmac_verify_many(&key, tags, all, with, each, messages, COUNT, verdicts) ==
              TAGMAC_MISMATCH);
        memset(verdicts, 7, sizeof verdicts);
    }
    for (size_t i = 0; i < all; i++) {
        CHECK(tags[i] == 7);
    }
    CHECK(verdicts[0] == 7 && verdicts[COUNT - 1] == 7);
    CHECK(tagmac_tag_many(&key, NULL, 0, NULL, each, NULL, 0) == 0);
    CHECK(tagmac_verify_many(&key, NULL, 0, NULL, each, NULL, 0, NULL) == 0);

    /* The tags may overlap the messages. */
    if (each == 0) {
        uint8_t text[64];
        tagmac_bytes two[2];
        memset(text, 5, sizeof text);
        two[0].data = text;
        two[1].data = text + 8;
        two[0].size = two[1].size = 8;
        CHECK(tagmac_tag_many(&key, other, 2 * size, NULL, 0, two, 2) == 0 || 2 * size > 64);
        if (2 * size <= 64) {
            CHECK(tagmac_tag_many(&key, text, 2 * size, NULL, 0, two, 2) == 0);
            CHECK(memcmp(text, other, 2 * size) == 0);
        }
    }
    CHECK(tagmac_key_free(&key) == 0);
}
