/* Sessions of tagmac.h with right and wrong arguments; part of the program smoke.c. */

#include "smoke.h"

void sessions(const char *name) {
    tagmac_sizes sizes;
    tagmac_key key = EMPTY;
    tagmac_session session = EMPTY;
    uint8_t saved[TAGMAC_SESSION_SAVED], sent[16], before[16];
    uint64_t used, left, reserved;
    double probability = 1e-9;
    CHECK(tagmac_algorithm_sizes(&sizes, name) == 0);
    CHECK(tagmac_key_init(&key, name, bytes, sizes.key_new, 0) == 0);
    size_t size = tagmac_key_tag_size(&key), count = sizes.nonce_max;
    uint8_t *with = count > 0 ? sent : NULL;
    if (tagmac_session_init(&session, &key, NULL, count, 0, probability) != 0) {
        MISUSE(tagmac_session_init(&session, &key, NULL, count, 0, probability), "no theorem");
        probability = 0;
        CHECK(tagmac_session_init(&session, &key, NULL, count, 0, probability) == 0);
    }
    CHECK(tagmac_session_nonce_size(&session) == count);
    memset(before, 0xff, sizeof before);
    for (int crash = 0; crash < 3; crash++) {
        CHECK(tagmac_session_reserve(&session, 3) == 0);
        CHECK(tagmac_session_save(&session, saved, sizeof saved) == 0);
        for (int i = 0; i < 3 - crash; i++) {
            CHECK(tagmac_session_tag(&session, tag, size, with, count, message, 64) == 0);
            CHECK(tagmac_key_verify(&key, tag, size, with, count, message, 64) == 0);
            CHECK(count == 0 || memcmp(before, sent, count) != 0);
            memcpy(before, sent, sizeof before);
            CHECK(count == 0 || sent[count - 1] == 3 * crash + i);
        }
        CHECK(tagmac_session_counts(&session, &used, &left, &reserved) == 0);
        CHECK(used == (uint64_t)(2 * crash + 3) && reserved == (uint64_t)crash && left > reserved);
        CHECK(tagmac_session_free(&session) == 0);
        CHECK(tagmac_session_restore(&session, &key, saved, sizeof saved, 0, probability) == 0);
        LIMIT(tagmac_session_tag(&session, tag, size, with, count, message, 64), "reserve is used up");
    }
    CHECK(tagmac_session_free(&session) == 0 && tagmac_session_free(&session) == 0);
    CHECK(tagmac_key_free(&key) == 0);
}

void misuse_of_sessions(void) {
    tagmac_key key = EMPTY, other = EMPTY;
    tagmac_session session = EMPTY, copy;
    uint8_t saved[TAGMAC_SESSION_SAVED], first[2] = {0xff, 0xfe};
    uint64_t counts[3];
    MISUSE(tagmac_session_init(&session, &key, NULL, 8, 0, 1e-9), "call its init function");
    CHECK(tagmac_key_init(&key, "UMAC-64", bytes, 16, 0) == 0);
    CHECK(tagmac_key_init(&other, "UMAC-64", bytes + 1, 16, 0) == 0);
    MISUSE(tagmac_session_init(NULL, &key, NULL, 8, 0, 1e-9), "null");
    MISUSE(tagmac_session_init(&session, NULL, NULL, 8, 0, 1e-9), "null");
    MISUSE(tagmac_session_init(&session, &key, NULL, 0, 0, 1e-9), "nonce of 1 to 16");
    MISUSE(tagmac_session_init(&session, &key, NULL, 17, 0, 1e-9), "nonce of 1 to 16");
    MISUSE(tagmac_session_init(&session, &key, nonce, SIZE_MAX, 0, 1e-9), "nonce of 1 to 16");
    MISUSE(tagmac_session_init(&session, &key, NULL, 8, 0, 1), "between 0 and 1");
    MISUSE(tagmac_session_init(&session, &key, NULL, 8, 0, -1e-9), "between 0 and 1");
    MISUSE(tagmac_session_tag(&session, tag, 8, nonce, 8, message, 9),
          "call its init function");
    MISUSE(tagmac_session_reserve(&session, 1), "call its init function");
    MISUSE(tagmac_session_save(&session, saved, sizeof saved), "call its init function");
    CHECK(tagmac_session_nonce_size(&session) == 0 && tagmac_session_nonce_size(NULL) == 0);

    /* Two nonces are left, and calls that fail do not use them up. */
    CHECK(tagmac_session_init(&session, &key, first, 2, 100, 1e-9) == 0);
    MISUSE(tagmac_session_init(&session, &key, first, 2, 100, 1e-9), "free it first");
    MISUSE(tagmac_session_tag(&session, tag, 7, nonce, 2, message, 9),
           "of 8 bytes for the tag, found 7");
    MISUSE(tagmac_session_tag(&session, tag, 8, nonce, 8, message, 9),
           "of 2 bytes for the nonce, found 8");
    MISUSE(tagmac_session_tag(&session, NULL, 8, nonce, 2, message, 9), "null");
    MISUSE(tagmac_session_tag(&session, tag, 8, NULL, 2, message, 9), "null");
    MISUSE(tagmac_session_tag(&session, tag, 8, nonce, 2, NULL, 9), "null");
    MISUSE(tagmac_session_tag(&session, tag, 8, nonce, 2, message, SIZE_MAX), "at most");
    LIMIT(tagmac_session_tag(&session, tag, 8, nonce, 2, message, 101), "at most 100 bytes");
    MISUSE(tagmac_session_tag(NULL, tag, 8, nonce, 2, message, 9), "null");
    LIMIT(tagmac_session_reserve(&session, 2), "nonces are used");
    MISUSE(tagmac_session_save(&session, saved, sizeof saved - 1),
           "of 104 bytes for the saved session, found 103");
    MISUSE(tagmac_session_save(&session, NULL, sizeof saved), "null");
    MISUSE(tagmac_session_counts(&session, counts, NULL, counts), "null");
    MISUSE(tagmac_session_counts(NULL, counts, counts + 1, counts + 2), "null");
    memcpy(&copy, &session, sizeof copy);
    MISUSE(tagmac_session_init(&copy, &key, first, 2, 100, 1e-9), "moved or copied");
    MISUSE(tagmac_session_tag(&copy, tag, 8, nonce, 2, message, 9), "moved or copied");
    MISUSE(tagmac_session_tag((tagmac_session *)(void *)&key, tag, 8, nonce, 2, message, 9),
           "another type");
    CHECK(tagmac_session_counts(&session, counts, counts + 1, counts + 2) == 0);
    CHECK(counts[0] == 0 && counts[1] == 2 && counts[2] == 0);
    CHECK(tagmac_session_reserve(&session, 1) == 0);
    CHECK(tagmac_session_save(&session, saved, sizeof saved) == 0);
    /* The tag overwrites the message. A session stays valid after its key is freed. */
    CHECK(tagmac_key_free(&key) == 0);
    memcpy(bytes + 40, message, 9);
    CHECK(tagmac_session_tag(&session, bytes + 40, 8, nonce, 2, bytes + 40, 9) == 0);
    CHECK(nonce[0] == 0xff && nonce[1] == 0xfe);
    LIMIT(tagmac_session_tag(&session, tag, 8, nonce, 2, message, 9), "reserve is used up");
    CHECK(tagmac_session_free(&session) == 0);
    CHECK(tagmac_key_init(&key, "UMAC-64", bytes, 16, 0) == 0);
    CHECK(tagmac_key_verify(&key, bytes + 40, 8, nonce, 2, message, 9) == 0);

    /* The last nonce of this length: there is no next one to save. */
    CHECK(tagmac_session_init(&session, &key, first, 1, 100, 1e-9) == 0);
    CHECK(tagmac_session_tag(&session, tag, 8, nonce, 1, message, 9) == 0 && nonce[0] == 0xff);
    LIMIT(tagmac_session_save(&session, saved, sizeof saved), "1-byte nonces are used");
    CHECK(tagmac_session_free(&session) == 0);
    CHECK(tagmac_session_init(&session, &key, first, 2, 100, 1e-9) == 0);
    CHECK(tagmac_session_reserve(&session, 1) == 0);
    CHECK(tagmac_session_save(&session, saved, sizeof saved) == 0);
    CHECK(tagmac_session_free(&session) == 0);

    INPUT(tagmac_session_restore(&session, &other, saved, sizeof saved, 100, 1e-9), "belongs to the key");
    INPUT(tagmac_session_restore(&session, &key, saved, 103, 100, 1e-9), "104 bytes");
    MISUSE(tagmac_session_restore(&session, &key, NULL, 104, 100, 1e-9), "null");
    saved[31] ^= 1;
    INPUT(tagmac_session_restore(&session, &key, saved, sizeof saved, 100, 1e-9), "damaged");
    saved[0] ^= 1;
    INPUT(tagmac_session_restore(&session, &key, saved, sizeof saved, 100, 1e-9), "tagmacS2");
    MISUSE(tagmac_session_free(NULL), "null");
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&other) == 0);
}

void grades(void) {
    tagmac_key key = EMPTY;
    tagmac_session session = EMPTY;
    uint8_t whole[16], saved[TAGMAC_SESSION_SAVED];
    CHECK(tagmac_key_init(&key, "UMAC-128", bytes, 16, 0) == 0);
    CHECK(tagmac_session_init(&session, &key, NULL, 8, 100, 1e-9) == 0);
    CHECK(tagmac_session_tag(&session, whole, 16, nonce, 8, message, 9) == 0);
    for (size_t words = 0; words <= 4; words += 4)
        CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, words) == 0);
    LIMIT(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 1), "of one word");
    MISUSE(tagmac_session_allow_grades(&session, 1), "between 0 and 1");
    /* Each failure costs 2^-30, times 1.65 because pads come from a permutation: 13 failures. */
    CHECK(tagmac_session_allow_grades(&session, 2e-8) == 0);
    for (size_t words = 1; words <= 4; words++) {
        CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, words) == 0);
        whole[4 * words - 1] ^= 1;
        CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, words)
              == TAGMAC_MISMATCH);
        whole[4 * words - 1] ^= 1;
    }
    for (int failed = 1; failed < 13; failed++)
        CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 8, 2)
              == TAGMAC_MISMATCH);
    LIMIT(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 2), "of two words");
    CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 3) == 0);
    CHECK(tagmac_session_save(&session, saved, sizeof saved) == 0);
    CHECK(tagmac_session_free(&session) == 0);
    /* Failures at one word do not count in a session that is restored without grades. */
    CHECK(tagmac_session_restore(&session, &key, saved, sizeof saved, 100, 1e-9) == 0);
    CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 0) == 0);
    LIMIT(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 1), "of one word");
    CHECK(tagmac_session_allow_grades(&session, 1e-3) == 0);
    CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 1) == 0);
    CHECK(tagmac_session_free(&session) == 0);
    CHECK(tagmac_session_restore(&session, &key, saved, sizeof saved, 100, 0) == 0);
    LIMIT(tagmac_session_allow_grades(&session, 1e-36), "failed");
    CHECK(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 2) == 0);
    MISUSE(tagmac_session_verify(&session, whole, 15, nonce, 8, message, 9, 0), "of 16 bytes");
    MISUSE(tagmac_session_verify(&session, whole, 16, nonce, 0, message, 9, 0), "nonce of 1 to 16");
    MISUSE(tagmac_session_verify(&session, whole, 16, nonce, 8, message, 9, 5), "0 to 4 words");
    MISUSE(tagmac_session_verify(&session, NULL, 16, nonce, 8, message, 9, 0), "null");
    MISUSE(tagmac_session_verify(&session, whole, 16, NULL, 8, message, 9, 0), "null");
    MISUSE(tagmac_session_verify(&session, whole, 16, nonce, 8, NULL, 9, 0), "null");
    MISUSE(tagmac_session_verify(NULL, whole, 16, nonce, 8, message, 9, 0), "null");
    MISUSE(tagmac_session_allow_grades(NULL, 1e-9), "null");
    CHECK(tagmac_session_free(&session) == 0 && tagmac_key_free(&key) == 0);

    CHECK(tagmac_key_init(&key, "UMAC-64", bytes, 16, 0) == 0);
    CHECK(tagmac_session_init(&session, &key, NULL, 8, 100, 1e-9) == 0);
    MISUSE(tagmac_session_allow_grades(&session, 1e-9), "128 bits");
    CHECK(tagmac_session_tag(&session, whole, 8, nonce, 8, message, 9) == 0);
    MISUSE(tagmac_session_verify(&session, whole, 8, nonce, 8, message, 9, 1), "only whole tags");
    CHECK(tagmac_session_verify(&session, whole, 8, nonce, 8, message, 9, 0) == 0);
    CHECK(tagmac_session_free(&session) == 0 && tagmac_key_free(&key) == 0);
}
