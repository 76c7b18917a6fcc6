/* Times calls from C for `bench ways`: of the library for C, and of EVP_MAC with the provider. For
   each line "CALL BYTES CALLS" on the input, it prints the nanoseconds of these calls. */

#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tagmac.h>
#include <time.h>

static void check(int right, const char *what) {
    if (!right) {
        fprintf(stderr, "ways: %s failed\n", what);
        exit(1);
    }
}

static double now(void) {
    struct timespec at;
    /* Not the wall clock: other programs may interrupt the calls. */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return 1e9 * (double)at.tv_sec + (double)at.tv_nsec;
}

int main(int count, char **arguments) {
    check(count == 2, "reading the folder of the provider");
    uint8_t key[16], message[4096] = {0}, tag[16], expected[16];
    memset(key, 1, sizeof key);
    tagmac_key keyed = {0};
    check(tagmac_key_init(&keyed, "PMAC-AES128", key, sizeof key, 0) == TAGMAC_OK, "a key");
    OSSL_PROVIDER_set_default_search_path(NULL, arguments[1]);
    check(OSSL_PROVIDER_load(NULL, "tagmac") != NULL, "loading the provider");
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "PMAC-AES128", "provider=tagmac");
    check(mac != NULL, "PMAC of the provider");
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    check(EVP_MAC_init(context, key, sizeof key, NULL), "a key of the provider");

    char call[16];
    size_t bytes, calls;
    while (scanf("%15s %zu %zu", call, &bytes, &calls) == 3) {
        check(bytes <= sizeof message, "a message of this length");
        check(tagmac_key_tag(&keyed, expected, 16, NULL, 0, message, bytes) == TAGMAC_OK, "a tag");
        int right = 1;
        double start = now();
        if (strcmp(call, "tag") == 0) {
            for (size_t i = 0; i < calls; i++) {
                right &= tagmac_key_tag(&keyed, tag, 16, NULL, 0, message, bytes) == TAGMAC_OK;
            }
        } else if (strcmp(call, "verify") == 0) {
            memcpy(tag, expected, 16);
            for (size_t i = 0; i < calls; i++) {
                right &= tagmac_key_verify(&keyed, tag, 16, NULL, 0, message, bytes) == TAGMAC_OK;
            }
        } else {
            check(strcmp(call, "evp") == 0, "reading a call");
            size_t size;
            for (size_t i = 0; i < calls; i++) {
                right &= EVP_MAC_init(context, NULL, 0, NULL)
                    && EVP_MAC_update(context, message, bytes)
                    && EVP_MAC_final(context, tag, &size, sizeof tag);
            }
        }
        double spent = now() - start;
        check(right && memcmp(tag, expected, 16) == 0, call);
        printf("%.0f\n", spent);
        fflush(stdout);
    }
    return 0;
}
