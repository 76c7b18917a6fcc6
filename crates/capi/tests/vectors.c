/* Checks the rows of vectors/ with the C library. Reads the output of scripts/flat-vectors from
   standard input: one row per line, as `algorithm key nonce message tag tag_bits what`. Bytes are
   in hex, and - stands for an empty string. A `message` may be HEX*TOTAL: the bytes of HEX,
   repeated up to TOTAL bytes. `what` is valid, tag (it must not match) or key (it must be refused). */

#include "check.h"

enum { LINE = 1 << 20 };

/* Decodes hex digits up to the end or a `*`. */
static uint8_t *from_hex(const char *digits, size_t *size) {
    size_t length = strcmp(digits, "-") == 0 ? 0 : strcspn(digits, "*");
    uint8_t *bytes = (uint8_t *)malloc(length / 2 + 1);
    CHECK(bytes != NULL && length % 2 == 0);
    for (size_t i = 0; i < length / 2; i++) {
        unsigned value;
        CHECK(sscanf(digits + 2 * i, "%2x", &value) == 1);
        bytes[i] = (uint8_t)value;
    }
    *size = length / 2;
    return bytes;
}

static uint8_t *message_of(const char *text, size_t *size) {
    uint8_t *bytes = from_hex(text, size);
    const char *total = strchr(text, '*');
    if (total != NULL) {
        size_t unit = *size;
        *size = strtoul(total + 1, NULL, 10);
        bytes = (uint8_t *)realloc(bytes, *size);
        CHECK(bytes != NULL);
        for (size_t i = unit; i < *size; i++) {
            bytes[i] = bytes[i - unit];
        }
    }
    return bytes;
}

int main(void) {
    char *line = (char *)malloc(LINE);
    size_t rows = 0;
    CHECK(line != NULL);
    choose_level();
    while (fgets(line, LINE, stdin) != NULL) {
        char *field[7];
        for (int i = 0; i < 7; i++) {
            field[i] = strtok(i == 0 ? line : NULL, " \n");
            CHECK(field[i] != NULL);
        }
        size_t key_size, nonce_size, message_size, tag_size;
        uint8_t *bytes = from_hex(field[1], &key_size), *nonce = from_hex(field[2], &nonce_size);
        uint8_t *message = message_of(field[3], &message_size), *tag = from_hex(field[4], &tag_size);
        size_t tag_bits = strtoul(field[5], NULL, 10);
        tagmac_key key = {0};
        tagmac_sizes sizes;
        rows++;
        CHECK(tagmac_algorithm_sizes(&sizes, field[0]) == 0);
        if (strcmp(field[6], "key") == 0) {
            CHECK(key_size < sizes.key_min || key_size > sizes.key_max);
            MISUSE(tagmac_key_init(&key, field[0], bytes, key_size, 0), "expected a key of");
        } else {
            int valid = strcmp(field[6], "valid") == 0;
            uint8_t made[32], streamed[32];
            tagmac_stream stream = {0};
            CHECK(tagmac_key_init(&key, field[0], bytes, key_size, tag_bits) == 0);
            CHECK(tagmac_key_tag(&key, made, tag_size, nonce, nonce_size, message, message_size) == 0);
            CHECK((memcmp(made, tag, tag_size) == 0) == valid);
            CHECK(tagmac_key_verify(&key, tag, tag_size, nonce, nonce_size, message, message_size)
                  == (valid ? TAGMAC_OK : TAGMAC_MISMATCH));
            CHECK(tagmac_stream_init(&stream, &key, nonce, nonce_size) == 0);
            size_t piece = 13 + message_size / 1000;
            for (size_t at = 0; at < message_size; at += piece) {
                size_t rest = message_size - at;
                CHECK(tagmac_stream_update(&stream, message + at, rest < piece ? rest : piece) == 0);
            }
            CHECK(tagmac_stream_final(&stream, streamed, tag_size) == 0);
            CHECK(memcmp(streamed, made, tag_size) == 0);
            CHECK(tagmac_stream_free(&stream) == 0);
        }
        CHECK(tagmac_key_free(&key) == 0);
        free(bytes);
        free(nonce);
        free(message);
        free(tag);
    }
    free(line);
    CHECK(rows >= 1850);
    printf("%zu rows\n", rows);
    return 0;
}
