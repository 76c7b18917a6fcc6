/* Eight threads use the same objects. Calls with const objects must succeed. All other calls break
   the rules on purpose: each must return 0 or TAGMAC_MISUSE. Every tag returned must be right, and
   no nonce may be returned twice. A key that others use is not freed: that is undefined. */

#include "check.h"

#include <tagmac_hazmat.h>

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 4000 };

static tagmac_key key, unsteady, shared;
static tagmac_stream stream, begun;
/* The copies of `begun` that returned a tag. */
static atomic_int tagged;
static tagmac_session session, quiet;
static tagmac_part right_part;
/* The number of times that each nonce was returned. */
static atomic_uchar seen[THREADS * ROUNDS];
static const uint8_t bytes[16] = {7};
static uint8_t message[200], right[16];

static void *work(void *from) {
    unsigned state = (unsigned)(size_t)from * 2654435761u + 1;
    size_t *successes = (size_t *)calloc(1, sizeof *successes);
    CHECK(successes != NULL);
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t tag[16] = {0};
        state = state * 1664525u + 1013904223u;
        /* Any thread may use a key that does not change. */
        CHECK(tagmac_key_tag(&key, tag, 16, NULL, 0, message, sizeof message) == 0);
        CHECK(memcmp(tag, right, 16) == 0);
        /* The same holds for a session and a part that do not change. */
        uint64_t used, left, reserved, start, end;
        tagmac_part part = {0};
        CHECK(tagmac_session_counts(&quiet, &used, &left, &reserved) == 0 && reserved == 0);
        CHECK(tagmac_session_nonce_size(&quiet) == 4);
        CHECK(tagmac_part_range(&right_part, &start, &end) == 0 && start == 16 && end == 160);
        CHECK(tagmac_part_init(&part, &key, 0, message, 16) == 0);
        CHECK(tagmac_part_join(&part, &right_part, &key) == 0);
        CHECK(tagmac_part_finish(&part, &key, tag, 16, NULL, 0, message + 160, 40) == 0);
        CHECK(memcmp(tag, right, 16) == 0);
        uint8_t nonce[4];
        char line[TAGMAC_ERROR_SIZE];
        if (tagmac_session_tag(&session, tag, 8, nonce, 4, message, 64) == 0) {
            size_t number = (size_t)nonce[1] << 16 | (size_t)nonce[2] << 8 | nonce[3];
            CHECK(nonce[0] == 0 && number < THREADS * ROUNDS);
            CHECK(atomic_fetch_add(&seen[number], 1) == 0);
        }
        /* All copies share a nonce, so one of them has a tag. */
        tagmac_stream copy = {0};
        CHECK(tagmac_stream_copy(&copy, &begun) == 0);
        int final = tagmac_stream_final(&copy, tag, 8);
        CHECK(final == 0 || final == TAGMAC_MISUSE);
        atomic_fetch_add(&tagged, final == 0);
        CHECK(tagmac_stream_free(&copy) == 0);
        int status = 0;
        switch (state >> 29) {
        case 0: status = tagmac_stream_init(&stream, &key, NULL, 0); break;
        case 1: status = tagmac_stream_update(&stream, message, state >> 8 & 127); break;
        case 2: status = tagmac_stream_final(&stream, tag, 16); break;
        case 3: status = tagmac_stream_next(&stream, NULL, 0); break;
        case 4: status = tagmac_stream_free(&stream); break;
        case 5: status = tagmac_key_init(&unsteady, "PMAC-AES128", bytes, 16, 0); break;
        case 6: status = tagmac_key_free(&unsteady); break;
        default:
            /* Every thread makes a key that all use, and the first succeeds. */
            status = tagmac_key_init(&shared, "PMAC-AES128", bytes, 16, 0);
            CHECK(status == 0 || status == TAGMAC_MISUSE);
            status = tagmac_key_tag(&shared, tag, 16, NULL, 0, message, sizeof message);
            CHECK(status != 0 || memcmp(tag, right, 16) == 0);
        }
        CHECK(status == 0 || status == TAGMAC_MISUSE);
        CHECK(status == 0 || *tagmac_error_string(line, sizeof line) != 0);
        *successes += status == 0;
    }
    return successes;
}

int main(void) {
    pthread_t threads[THREADS];
    size_t all = 0;
    choose_level();
    CHECK(tagmac_key_init(&key, "PMAC-AES128", bytes, 16, 0) == 0);
    CHECK(tagmac_key_tag(&key, right, 16, NULL, 0, message, sizeof message) == 0);
    tagmac_key umac = {0};
    CHECK(tagmac_key_init(&umac, "UMAC-64", bytes, 16, 0) == 0);
    CHECK(tagmac_session_init(&session, &umac, NULL, 4, 0, 1e-9) == 0);
    CHECK(tagmac_session_init(&quiet, &umac, NULL, 4, 0, 1e-9) == 0);
    CHECK(tagmac_part_init(&right_part, &key, 16, message + 16, 144) == 0);
    CHECK(tagmac_stream_init(&begun, &umac, bytes, 4) == 0);
    CHECK(tagmac_key_free(&umac) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *successes;
        CHECK(pthread_join(threads[i], &successes) == 0);
        all += *(size_t *)successes;
        free(successes);
    }
    CHECK(all > 0 && all < (size_t)THREADS * ROUNDS);
    CHECK(seen[0] == 1 && tagged == 1);
    CHECK(tagmac_stream_free(&begun) == 0);
    CHECK(tagmac_stream_free(&stream) == 0 && tagmac_session_free(&session) == 0);
    CHECK(tagmac_session_free(&quiet) == 0 && tagmac_part_free(&right_part) == 0);
    CHECK(tagmac_key_free(&key) == 0 && tagmac_key_free(&unsteady) == 0);
    CHECK(tagmac_key_free(&shared) == 0);
    printf("%zu of %d calls went well\n", all, THREADS * ROUNDS);
    return 0;
}
