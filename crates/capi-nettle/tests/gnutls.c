/* Prints UMAC tags made by GnuTLS, which calls Nettle, or the library preloaded in its place. */

#include <stdio.h>
#include <stdlib.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #it);                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void print(const unsigned char *tag, size_t size) {
    for (size_t i = 0; i < size; i++) {
        printf("%02x", tag[i]);
    }
    printf("\n");
}

int main(void) {
    static const gnutls_mac_algorithm_t algorithms[] = {GNUTLS_MAC_UMAC_96, GNUTLS_MAC_UMAC_128};
    static unsigned char message[9000];
    unsigned char key[16], nonce[16], tag[16];
    CHECK(gnutls_global_init() == 0);
    for (size_t i = 0; i < sizeof message; i++) {
        message[i] = (unsigned char)(i * i >> 3);
    }
    for (size_t i = 0; i < sizeof key; i++) {
        key[i] = (unsigned char)(7 * i + 1);
        nonce[i] = (unsigned char)(200 + 5 * i);
    }
    for (size_t a = 0; a < 2; a++) {
        gnutls_hmac_hd_t hmac, copy;
        size_t size = gnutls_hmac_get_len(algorithms[a]);
        CHECK(size == (a == 0 ? 12 : 16));
        CHECK(gnutls_hmac_init(&hmac, algorithms[a], key, sizeof key) == 0);
        for (size_t length = 0; length < sizeof message; length += 1 + length / 3) {
            gnutls_hmac_set_nonce(hmac, nonce, 1 + length % 16);
            CHECK(gnutls_hmac(hmac, message, length / 2) == 0);
            /* A context copied in the middle of a message. */
            copy = gnutls_hmac_copy(hmac);
            CHECK(gnutls_hmac(hmac, message + length / 2, length - length / 2) == 0);
            gnutls_hmac_output(hmac, tag);
            print(tag, size);
            if (copy != NULL) {
                CHECK(gnutls_hmac(copy, message, length) == 0);
                gnutls_hmac_deinit(copy, tag);
                print(tag, size);
            }
        }
        /* The next message without a call that sets the nonce. */
        CHECK(gnutls_hmac(hmac, message, 100) == 0);
        gnutls_hmac_deinit(hmac, tag);
        print(tag, size);
    }
    gnutls_global_deinit();
    return 0;
}
