/* Every call of tagmac.h and tagmac_hazmat.h with right and wrong arguments. smoke_sessions.c has
   the sessions, and smoke_many.c new keys, copies and many messages. The source is valid C99 and
   C++11. */

#include "smoke.h"

uint8_t message[MOST], bytes[64], nonce[16], tag[64], other[64];

/* Each status has its own string, and messages fit into buffers of any size. */
static void errors(void) {
    const int all[] = {TAGMAC_OK,    TAGMAC_MISMATCH, TAGMAC_MISUSE,
                       TAGMAC_LIMIT, TAGMAC_INPUT,    TAGMAC_INTERNAL,
                       TAGMAC_STOPPED};
    const size_t count = sizeof all / sizeof *all;
    for (size_t i = 0; i < count; i++) {
        CHECK(strcmp(tagmac_status_string(all[i]), tagmac_status_string(7)) != 0);
        for (size_t j = 0; j < i; j++) {
            CHECK(strcmp(tagmac_status_string(all[i]), tagmac_status_string(all[j])) != 0);
        }
    }
    char whole[TAGMAC_ERROR_SIZE], part[TAGMAC_ERROR_SIZE];
    /* A message must not end in the middle of a character; these have two bytes each. */
    MISUSE(tagmac_set_level("\xc3\xa4\xc3\xa4"), "\xc3\xa4\xc3\xa4");
    CHECK(tagmac_error_string(whole, sizeof whole) == whole);
    for (size_t size = 1; size <= strlen(whole); size++) {
        memset(part, 7, sizeof part);
        CHECK(tagmac_error_string(part, size) == part);
        size_t length = strlen(part);
        CHECK(length == size - 1 || ((uint8_t)whole[size - 1] == 0xa4 && length == size - 2));
        CHECK(memcmp(part, whole, length) == 0 && part[size] == 7);
    }
    CHECK(*tagmac_error_string(NULL, 9) == 0 && *tagmac_error_string(part, 0) == 0);
}

/* New keys use the level chosen last, and their tags are the same on all levels. */
static void levels(void) {
    const char *best = tagmac_level();
    tagmac_key key = EMPTY, portable = EMPTY;
    CHECK(best != NULL);
    CHECK(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 0) == 0);
    CHECK(tagmac_set_level("Portable") == 0 && strcmp(tagmac_level(), "portable") == 0);
    CHECK(tagmac_key_init(&portable, "PMAC-AES128", bytes, 16, 0) == 0);
    /* A refused call changes nothing. */
    MISUSE(tagmac_set_level("no such"), "level 'no such': expected one of portable");
    MISUSE(tagmac_set_level("\xff"), "the level's name is not valid UTF-8");
    CHECK(strcmp(tagmac_level(), "portable") == 0);
    CHECK(tagmac_set_level(best) == 0 && strcmp(tagmac_level(), best) == 0);
    CHECK(tagmac_set_level(NULL) == 0 && strcmp(tagmac_level(), best) == 0);
    CHECK(tagmac_key_tag(&key, tag, 16, NULL, 0, message, 1000) == 0);
    CHECK(tagmac_key_verify(&portable, tag, 16, NULL, 0, message, 1000) == 0);
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&portable) == 0);
}

static void meta(void) {
    size_t count = 0;
    CHECK(strcmp(tagmac_version(), TAGMAC_VERSION) == 0);
    char line[TAGMAC_ERROR_SIZE];
    CHECK(*tagmac_error_string(line, sizeof line) == 0);
    while (tagmac_algorithm(count) != NULL) {
        count++;
    }
    CHECK(count >= 50);
    CHECK(strstr(last_error(), "index") != NULL);
    errors();
    tagmac_sizes sizes;
    CHECK(tagmac_algorithm_sizes(&sizes, "pmac-aes128") == 0);
    CHECK(sizes.key_min == 16 && sizes.key_max == 16 && sizes.nonce_max == 0);
    CHECK(sizes.tag_bits_min == 1 && sizes.tag_bits_max == 128 && sizes.block == 16);
    CHECK(sizes.message_max == UINT64_MAX && sizes.reserved[3] == 0);
    MISUSE(tagmac_algorithm_sizes(&sizes, "no such"), "'no such'");
    MISUSE(tagmac_algorithm_sizes(&sizes, NULL), "null");
    MISUSE(tagmac_algorithm_sizes(NULL, "PMAC-AES128"), "null");
    levels();
    memset(other, 7, sizeof other);
    CHECK(tagmac_memzero(other + 1, 3) == 0);
    CHECK(other[0] == 7 && other[1] == 0 && other[3] == 0 && other[4] == 7);
    CHECK(tagmac_memzero(NULL, 0) == 0);
    MISUSE(tagmac_memzero(NULL, 1), "null");
    CHECK(tagmac_key_size() == sizeof(tagmac_key));
    CHECK(tagmac_stream_size() == sizeof(tagmac_stream));
    CHECK(tagmac_session_size() == sizeof(tagmac_session));
    CHECK(tagmac_part_size() == sizeof(tagmac_part));
    CHECK(tagmac_key_align() == tagmac_stream_align());
    CHECK(tagmac_key_align() == tagmac_session_align());
    CHECK(tagmac_key_align() == tagmac_part_align());
}

/* One-shot calls, streams and parts agree for an algorithm, and wrong tags are refused. */
static void laws(const char *name) {
    tagmac_sizes sizes;
    tagmac_key key = EMPTY;
    tagmac_stream stream = EMPTY;
    CHECK(tagmac_algorithm_sizes(&sizes, name) == 0);
    CHECK(tagmac_key_init(&key, name, bytes, sizes.key_new, 0) == 0);
    CHECK(strcmp(tagmac_key_algorithm(&key), name) == 0);
    size_t size = tagmac_key_tag_size(&key);
    CHECK(size == (sizes.tag_bits_max + 7) / 8);
    const uint8_t *with = sizes.nonce_max > 0 ? nonce : NULL;
    const size_t lengths[] = {0, 1, 15, 16, 17, 100, 1023, 1024, 2048, 5000, 9999, MOST};
    int begun = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t length = lengths[i];
        if (length > sizes.message_max) {
            LIMIT(tagmac_key_tag(&key, tag, size, with, sizes.nonce_max, message, length), "limit");
            continue;
        }
        nonce[sizes.nonce_max > 0 ? sizes.nonce_max - 1 : 0]++;
        CHECK(tagmac_key_tag(&key, tag, size, with, sizes.nonce_max, message, length) == 0);
        CHECK(tagmac_key_verify(&key, tag, size, with, sizes.nonce_max, message, length) == 0);
        CHECK(tagmac_tag(other, size, name, bytes, sizes.key_new, with, sizes.nonce_max, message,
                         length) == 0);
        CHECK(memcmp(tag, other, size) == 0);
        CHECK(tagmac_verify(tag, size, name, bytes, sizes.key_new, with, sizes.nonce_max, message,
                            length) == 0);

        memset(other, 0, size);
        if (begun) {
            CHECK(tagmac_stream_next(&stream, with, sizes.nonce_max) == 0);
        } else {
            CHECK(tagmac_stream_init(&stream, &key, with, sizes.nonce_max) == 0);
        }
        begun = 1;
        for (size_t at = 0; at < length; at += 77) {
            size_t piece = length - at < 77 ? length - at : 77;
            CHECK(tagmac_stream_update(&stream, message + at, piece) == 0);
        }
        CHECK(tagmac_stream_final(&stream, other, size) == 0);
        CHECK(memcmp(tag, other, size) == 0);
        MISUSE(tagmac_stream_final(&stream, other, size), "has ended");
        MISUSE(tagmac_stream_update(&stream, message, 1), "has ended");
        MISUSE(tagmac_stream_verify(&stream, tag, size), "has ended");
        if (sizes.nonce_max > 0) {
            MISUSE(tagmac_stream_next(&stream, nonce, sizes.nonce_max), "may have been used");
        }

        tag[size - 1] ^= 0x80;
        MISMATCH(tagmac_key_verify(&key, tag, size, with, sizes.nonce_max, message, length),
              "does not match");
        MISMATCH(tagmac_verify(tag, size, name, bytes, sizes.key_new, with, sizes.nonce_max,
                               message, length),
                 "does not match");
        MISUSE(tagmac_key_verify(&key, tag, size - 1, with, sizes.nonce_max, message, length),
              "expected a tag of");
        tag[size - 1] ^= 0x80;

        if (sizes.block > 0 && length > 2 * sizes.block) {
            tagmac_part left = EMPTY, right = EMPTY;
            uint64_t start, end;
            size_t block = sizes.block, middle = (length / 2) / block * block;
            size_t last = (length - 1) / block * block;
            CHECK(tagmac_part_block(&key) == block);
            int holds = tagmac_part_last_block_distinct(&key);
            CHECK(holds == 0 || holds == 1);
            CHECK(tagmac_part_init(&left, &key, 0, message, middle) == 0);
            CHECK(tagmac_part_init(&right, &key, middle, message + middle, last - middle) == 0);
            MISUSE(tagmac_part_init(&right, &key, 0, message, 0), "free it first");
            MISUSE(tagmac_part_join(&right, &left, &key), "starts at byte");
            MISUSE(tagmac_part_join(&left, &left, &key), "in use");
            CHECK(tagmac_part_join(&left, &right, &key) == 0);
            CHECK(tagmac_part_range(&left, &start, &end) == 0 && start == 0 && end == last);
            MISUSE(tagmac_part_finish(&right, &key, other, size, with, sizes.nonce_max, NULL, 0),
                  "expected byte 0");
            if (holds) {
                MISUSE(tagmac_part_finish(&left, &key, other, size, with, sizes.nonce_max, NULL, 0),
                      "at least one byte");
            }
            CHECK(tagmac_part_finish(&left, &key, other, size, with, sizes.nonce_max,
                                     message + last, length - last) == 0);
            CHECK(memcmp(tag, other, size) == 0);
            MISUSE(tagmac_part_finish(&left, &key, other, size, with, sizes.nonce_max, message, 1),
                  "empty");
            MISUSE(tagmac_part_init(&left, &key, 1, message, block), "multiple");
            MISUSE(tagmac_part_init(&left, &key, 0, message, block + 1), "multiple");
            CHECK(tagmac_part_free(&left) == 0 && tagmac_part_free(&right) == 0);
        }
        /* A stream may verify two messages under one nonce. */
        CHECK(tagmac_stream_free(&stream) == 0);
        CHECK(tagmac_stream_init(&stream, &key, with, sizes.nonce_max) == 0);
        CHECK(tagmac_stream_update(&stream, message, length) == 0);
        CHECK(tagmac_stream_verify(&stream, tag, size) == 0);
        CHECK(tagmac_stream_next(&stream, with, sizes.nonce_max) == 0);
        CHECK(tagmac_stream_update(&stream, message, length) == 0);
        tag[0] ^= 1;
        MISMATCH(tagmac_stream_verify(&stream, tag, size), "does not match");
    }
    CHECK(tagmac_stream_free(&stream) == 0 && tagmac_stream_free(&stream) == 0);
    if (sizes.block == 0) {
        tagmac_part part = EMPTY;
        CHECK(tagmac_part_block(&key) == 0);
        CHECK(tagmac_part_last_block_distinct(&key) == TAGMAC_MISUSE);
        MISUSE(tagmac_part_init(&part, &key, 0, message, 0), "support parts");
    }
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&key) == 0);
    MISUSE(tagmac_key_tag(&key, tag, size, with, sizes.nonce_max, message, 1), "empty");
}

/* Each call refuses an invalid argument and names it. */
static void arguments(void) {
    const char *light = "LIGHTMAC-AES128-S8";
    const size_t limit = 3840;
    tagmac_key key = EMPTY, umac = EMPTY;
    tagmac_stream stream = EMPTY, copied = EMPTY;
    tagmac_part part = EMPTY, copy = EMPTY;
    uint64_t start, end;
    CHECK(tagmac_key_init(&key, light, bytes, 32, 0) == 0);
    CHECK(tagmac_key_init(&umac, "UMAC-64", bytes, 16, 0) == 0);
    MISUSE(tagmac_key_id(NULL, other, 8), "tagmac_key is a null pointer");
    MISUSE(tagmac_key_tag(&umac, tag, 8, NULL, 8, message, 9), "the nonce is a null");
    MISUSE(tagmac_key_verify(NULL, tag, 8, nonce, 8, message, 9), "tagmac_key is a null");
    MISUSE(tagmac_key_verify(&umac, tag, 8, NULL, 8, message, 9), "the nonce is a null");
    MISUSE(tagmac_key_verify(&umac, tag, 8, nonce, 8, NULL, 9), "the message is a null");
    MISUSE(tagmac_tag(tag, 16, "no such", bytes, 16, NULL, 0, message, 9), "'no such'");
    MISUSE(tagmac_verify(tag, 16, light, bytes, 31, NULL, 0, message, 9), "found 31");

    MISUSE(tagmac_stream_init(NULL, &key, NULL, 0), "tagmac_stream is a null");
    MISUSE(tagmac_stream_update(NULL, message, 1), "tagmac_stream is a null");
    CHECK(tagmac_stream_init(&stream, &key, NULL, 0) == 0);
    memcpy(&copied, &stream, sizeof copied);
    MISUSE(tagmac_stream_init(&copied, &key, NULL, 0), "moved or copied");
    MISUSE(tagmac_stream_verify(&stream, NULL, 16), "the tag is a null");
    MISUSE(tagmac_stream_next(&stream, NULL, 8), "the nonce is a null");
    CHECK(tagmac_stream_update(&stream, message, limit + 1) == 0);
    LIMIT(tagmac_stream_final(&stream, tag, 16), "limit of 30720 bits (3840 bytes)");
    CHECK(tagmac_stream_free(&stream) == 0);

    CHECK(tagmac_part_block(NULL) == 0);
    CHECK(tagmac_part_last_block_distinct(NULL) == TAGMAC_MISUSE);
    MISUSE(tagmac_part_init(NULL, &key, 0, message, 0), "tagmac_part is a null");
    MISUSE(tagmac_part_init(&part, &key, 0, NULL, 15), "the data is a null");
    LIMIT(tagmac_part_init(&part, &key, limit, message, 15), "limit of 30720 bits");
    CHECK(tagmac_part_init(&part, &key, 0, message, limit) == 0);
    memcpy(&copy, &part, sizeof copy);
    MISUSE(tagmac_part_init(&copy, &key, 0, message, 0), "moved or copied");
    MISUSE(tagmac_part_join(NULL, &part, &key), "tagmac_part is a null");
    MISUSE(tagmac_part_join(&part, NULL, &key), "tagmac_part is a null");
    MISUSE(tagmac_part_join(&copy, &part, &key), "moved or copied");
    MISUSE(tagmac_part_join(&part, &copy, &key), "moved or copied");
    MISUSE(tagmac_part_finish(&part, &key, tag, 16, NULL, 8, NULL, 0), "the nonce is a null");
    MISUSE(tagmac_part_finish(&part, &key, tag, 16, NULL, 0, NULL, 8), "the rest is a null");
    MISUSE(tagmac_part_finish(NULL, &key, tag, 16, NULL, 0, NULL, 0), "tagmac_part is a null");
    MISUSE(tagmac_part_finish(&copy, &key, tag, 16, NULL, 0, NULL, 0), "moved or copied");
    MISUSE(tagmac_part_range(NULL, &start, &end), "tagmac_part is a null");
    CHECK(tagmac_part_range(&part, &start, &end) == 0 && start == 0 && end == limit);
    LIMIT(tagmac_part_finish(&part, &key, tag, 16, NULL, 0, message, 1), "limit of 30720 bits");
    CHECK(tagmac_part_free(&part) == 0);
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&umac) == 0);
}

static void misuse(void) {
    tagmac_key key = EMPTY, umac = EMPTY;
    tagmac_stream stream = EMPTY;
    CHECK(tagmac_key_algorithm(&key) == NULL && tagmac_key_tag_size(&key) == 0);
    MISUSE(tagmac_key_init(NULL, "PMAC-AES128", bytes, 16, 0), "null");
    MISUSE(tagmac_key_init(&key, NULL, bytes, 16, 0), "null");
    MISUSE(tagmac_key_init(&key, "PMAC-AES129", bytes, 16, 0), "'PMAC-AES129'");
    MISUSE(tagmac_key_init(&key, "\xff", bytes, 16, 0), "not valid UTF-8");
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", bytes, 15, 0), "found 15");
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", bytes, 0, 0), "found 0");
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", NULL, 16, 0), "null");
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", bytes, SIZE_MAX, 0), "at most");
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", bytes, (size_t)PTRDIFF_MAX + 1, 0), "at most");
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 129), "found 129");
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, SIZE_MAX), "tag length");
    CHECK(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 12) == 0);
    CHECK(tagmac_key_tag_size(&key) == 2);
    MISUSE(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 0), "free it first");
    CHECK(tagmac_key_tag(&key, tag, 2, NULL, 0, message, 9) == 0);
    CHECK((tag[1] & 0x0f) == 0);
    CHECK(tagmac_key_verify(&key, tag, 2, NULL, 0, message, 9) == 0);
    tag[1] |= 1;
    MISMATCH(tagmac_key_verify(&key, tag, 2, NULL, 0, message, 9), "does not match");
    MISUSE(tagmac_key_tag(&key, tag, 3, NULL, 0, message, 9), "of 2 bytes for the tag, found 3");
    MISUSE(tagmac_key_tag(&key, NULL, 2, NULL, 0, message, 9), "null");
    MISUSE(tagmac_key_tag(&key, tag, 2, NULL, 0, NULL, 9), "null");
    MISUSE(tagmac_key_tag(&key, tag, 2, NULL, 0, message, SIZE_MAX), "at most");
    MISUSE(tagmac_key_tag(&key, tag, 2, nonce, 8, message, 9), "does not use a nonce");
    MISUSE(tagmac_key_tag(NULL, tag, 2, NULL, 0, message, 9), "null");
    MISUSE(tagmac_key_verify(&key, NULL, 2, NULL, 0, message, 9), "null");
    MISUSE(tagmac_key_verify(&key, tag, SIZE_MAX, NULL, 0, message, 9), "at most");
    MISUSE(tagmac_tag(tag, 15, "PMAC-AES128", bytes, 16, NULL, 0, message, 9), "found 15");
    MISUSE(tagmac_verify(tag, 1, "PMAC-AES128", bytes, 16, NULL, 0, message, 9), "found 1");

    /* A nonce that is missing or too long. */
    CHECK(tagmac_key_init(&umac, "UMAC-64", bytes, 16, 0) == 0);
    MISUSE(tagmac_stream_init(&stream, &umac, NULL, 0), "nonce of 1 to 16");
    MISUSE(tagmac_stream_init(&stream, &umac, nonce, 17), "nonce of 1 to 16");
    MISUSE(tagmac_stream_init(&stream, &umac, NULL, 8), "null");
    MISUSE(tagmac_key_tag(&umac, tag, 8, NULL, 0, message, 9), "nonce of 1 to 16");
    MISUSE(tagmac_key_verify(&umac, tag, 8, NULL, 0, message, 9), "nonce of 1 to 16");

    /* A stream before its init, after its end, and with the wrong type of object. */
    MISUSE(tagmac_stream_update(&stream, message, 1), "call its init function");
    MISUSE(tagmac_stream_final(&stream, tag, 8), "call its init function");
    MISUSE(tagmac_stream_next(&stream, nonce, 8), "call its init function");
    CHECK(tagmac_stream_init(&stream, &umac, nonce, 8) == 0);
    MISUSE(tagmac_stream_init(&stream, &umac, nonce, 8), "free it first");
    MISUSE(tagmac_stream_update(&stream, NULL, 1), "null");
    MISUSE(tagmac_stream_update(&stream, message, SIZE_MAX), "at most");
    CHECK(tagmac_stream_update(&stream, NULL, 0) == 0);
    MISUSE(tagmac_stream_final(&stream, tag, 16), "found 16");
    MISUSE(tagmac_key_tag((const tagmac_key *)(const void *)&stream, tag, 8, nonce, 8, message, 9),
          "another type");
    MISUSE(tagmac_stream_update((tagmac_stream *)(void *)&umac, message, 1), "another type");

    /* Copied, moved and uninitialised objects. */
    tagmac_stream copy;
    memcpy(&copy, &stream, sizeof copy);
    MISUSE(tagmac_stream_update(&copy, message, 1), "moved or copied");
    MISUSE(tagmac_stream_final(&copy, tag, 8), "moved or copied");
    MISUSE(tagmac_stream_free(&copy), "moved or copied");
    tagmac_key copied;
    memcpy(&copied, &umac, sizeof copied);
    MISUSE(tagmac_key_tag(&copied, tag, 8, nonce, 8, message, 9), "moved or copied");
    for (int fill = 1; fill < 256; fill += 127) {
        memset(&copied, fill, sizeof copied);
        CHECK(tagmac_key_init(&copied, "PMAC-AES128", bytes, 16, 0) == TAGMAC_MISUSE);
        CHECK(tagmac_key_tag(&copied, tag, 16, NULL, 0, message, 9) == TAGMAC_MISUSE);
        CHECK(tagmac_key_free(&copied) == TAGMAC_MISUSE);
    }
    uint8_t *odd = (uint8_t *)calloc(1, sizeof(tagmac_key) + 1);
    CHECK(odd != NULL);
    MISUSE(tagmac_key_init((tagmac_key *)(void *)(odd + 1), "PMAC-AES128", bytes, 16, 0),
           "multiple");
    free(odd);

    /* Empty objects in read-only memory. */
    static const tagmac_key no_key = EMPTY;
    static const tagmac_session no_session = EMPTY;
    static const tagmac_part no_part = EMPTY;
    CHECK(tagmac_key_tag_size(&no_key) == 0 && tagmac_key_algorithm(&no_key) == NULL);
    CHECK(tagmac_session_nonce_size(&no_session) == 0 && tagmac_part_block(&no_key) == 0);
    uint64_t from, to;
    MISUSE(tagmac_part_range(&no_part, &from, &to), "call its init function");

    /* UMAC pads the longer nonce to the same bytes, so both have the same tag. Only a stream that
       verifies may use both. */
    static const uint8_t long_nonce[2] = {0x10, 0x01};
    static const uint8_t short_nonce[1] = {0x11};
    tagmac_stream lengths = EMPTY;
    CHECK(tagmac_stream_init(&lengths, &umac, short_nonce, 1) == 0);
    CHECK(tagmac_stream_final(&lengths, tag, 8) == 0);
    CHECK(tagmac_key_tag(&umac, other, 8, long_nonce, 2, NULL, 0) == 0);
    CHECK(memcmp(tag, other, 8) == 0);
    MISUSE(tagmac_stream_next(&lengths, long_nonce, 2),
           "nonce of 1 bytes like the previous one, found 2");
    CHECK(tagmac_stream_next(&lengths, long_nonce, 1) == 0);
    CHECK(tagmac_stream_verify(&lengths, tag, 8) == TAGMAC_MISMATCH);
    CHECK(tagmac_stream_next(&lengths, long_nonce, 2) == 0);
    CHECK(tagmac_stream_verify(&lengths, tag, 8) == 0);
    CHECK(tagmac_stream_free(&lengths) == 0);

    /* A stream stays valid after its key is freed. */
    CHECK(tagmac_key_free(&umac) == 0);
    CHECK(tagmac_stream_update(&stream, message, 100) == 0);
    CHECK(tagmac_stream_final(&stream, tag, 8) == 0);
    CHECK(tagmac_tag(other, 8, "UMAC-64", bytes, 16, nonce, 8, message, 100) == 0);
    CHECK(memcmp(tag, other, 8) == 0);
    CHECK(tagmac_stream_free(&stream) == 0);
    CHECK(tagmac_key_free(&key) == 0);

    /* Parts of another key. */
    tagmac_part left = EMPTY, right = EMPTY;
    CHECK(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 0) == 0);
    CHECK(tagmac_key_init(&umac, "PMAC-AES128", bytes + 1, 16, 0) == 0);
    CHECK(tagmac_part_init(&left, &key, 0, message, 32) == 0);
    CHECK(tagmac_part_init(&right, &umac, 32, message, 32) == 0);
    MISUSE(tagmac_part_join(&left, &right, &key), "another MAC or key");
    MISUSE(tagmac_part_finish(&left, &umac, tag, 16, NULL, 0, message, 1), "another MAC or key");
    uint64_t start = 7;
    MISUSE(tagmac_part_range(&left, NULL, NULL), "null");
    MISUSE(tagmac_part_range(&left, &start, NULL), "null");
    CHECK(start == 7);
    CHECK(tagmac_part_free(&left) == 0 && tagmac_part_free(&right) == 0);
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&umac) == 0);
    MISUSE(tagmac_key_free(NULL), "null");
    MISUSE(tagmac_stream_free(NULL), "null");
}

/* The example of docs/formats/key-file.md. */
static void key_files(const char *folder) {
    static const char text[] = "tagmac-key-2\n"
                               "algorithm: PMAC-AES128\n"
                               "id: 93ccce922cfd13ec\n"
                               "created: 2026-11-21T10:00:00Z\n"
                               "key: 000102030405060708090a0b0c0d0e0f\n"
                               "checksum: 518c9c170f3365c1\n";
    static const uint8_t id[8] = {0x93, 0xcc, 0xce, 0x92, 0x2c, 0xfd, 0x13, 0xec};
    char path[4096];
    tagmac_key key = EMPTY;
    uint8_t plain[16];
    for (uint8_t i = 0; i < 16; i++) {
        plain[i] = i;
    }
    snprintf(path, sizeof path, "%s/my.key", folder);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(text, 1, sizeof text - 1, file) == sizeof text - 1 && fclose(file) == 0);
    CHECK(tagmac_key_load(&key, path, 0) == 0);
    CHECK(tagmac_key_id(&key, other, 8) == 0 && memcmp(other, id, 8) == 0);
    MISUSE(tagmac_key_id(&key, other, 9), "found 9");
    CHECK(tagmac_key_tag(&key, tag, 16, NULL, 0, message, 100) == 0);
    CHECK(tagmac_verify(tag, 16, "PMAC-AES128", plain, 16, NULL, 0, message, 100) == 0);
    CHECK(tagmac_key_free(&key) == 0);
    CHECK(tagmac_key_parse(&key, text, sizeof text - 1, 64) == 0);
    CHECK(tagmac_key_tag_size(&key) == 8);
    CHECK(tagmac_key_free(&key) == 0);
    INPUT(tagmac_key_parse(&key, text, sizeof text - 2, 0), "key file: line 6");
    INPUT(tagmac_key_parse(&key, "", 0, 0), "key file: line 1");
    MISUSE(tagmac_key_parse(&key, NULL, 5, 0), "null");
    INPUT(tagmac_key_load(&key, "/no/such/file", 0), "/no/such/file");
    MISUSE(tagmac_key_load(&key, NULL, 0), "null");
    INPUT(tagmac_key_load(&key, folder, 0), "key file");
    INPUT(tagmac_key_load(&key, "/dev/zero", 0), "at most 65536 bytes");
    CHECK(tagmac_key_tag_size(&key) == 0);
    remove(path);
}

/* Usage: smoke FOLDER, with a FOLDER that is writable. */
int main(int argc, char **argv) {
    CHECK(argc == 2);
    meta();
    choose_level();
    for (size_t i = 0; i < MOST; i++) {
        message[i] = (uint8_t)(i * i >> 3);
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(3 * i + 1);
    }
    const char *name;
    size_t count = 0;
    for (; (name = tagmac_algorithm(count)) != NULL; count++) {
        laws(name);
        sessions(name);
        copies(name);
        saved_streams(name);
        many(name);
    }
    arguments();
    misuse();
    misuse_of_sessions();
    grades();
    key_files(argv[1]);
    new_keys(argv[1]);
    printf("%zu algorithms\n", count);
    return 0;
}
