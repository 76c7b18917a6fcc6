/* A first program of a user: tags a message under a key file, verifies the tag, and checks that a
   wrong tag is refused. */
#include <stdio.h>
#include <string.h>
#include <tagmac.h>

int main(int argc, char **argv) {
    static const uint8_t message[] = {'p', 'a', 'y', ' ', '1', '0', '0'};
    uint8_t tag[16];
    char line[TAGMAC_ERROR_SIZE];
    tagmac_key key = {0};
    int status = argc == 2 ? tagmac_key_load(&key, argv[1], 0) : TAGMAC_MISUSE;
    if (status == 0)
        status = tagmac_key_tag(&key, tag, sizeof tag, NULL, 0, message, sizeof message);
    if (status == 0)
        status = tagmac_key_verify(&key, tag, sizeof tag, NULL, 0, message, sizeof message);
    if (status != 0) {
        fprintf(stderr, "%s\n", tagmac_error_string(line, sizeof line));
        return 1;
    }
    tag[15] ^= 1;
    status = tagmac_key_verify(&key, tag, sizeof tag, NULL, 0, message, sizeof message);
    if (status != TAGMAC_MISMATCH) {
        fprintf(stderr, "a wrong tag: expected %d, found %d\n", TAGMAC_MISMATCH, status);
        return 1;
    }
    if (strcmp(tagmac_version(), TAGMAC_VERSION) != 0) {
        fprintf(stderr, "expected version %s, found %s\n", TAGMAC_VERSION, tagmac_version());
        return 1;
    }
    tag[15] ^= 1;
    for (size_t i = 0; i < sizeof tag; i++)
        printf("%02x", tag[i]);
    printf("\n");
    return tagmac_key_free(&key);
}
