/* Tests keys as EVP_PKEY and tags made and checked with them; part of the program provider.c. */

#include "provider.h"

#include <openssl/objects.h>

static uint8_t other_tag[64];

EVP_PKEY *raw(const char *name, const uint8_t *key, size_t size) {
    return EVP_PKEY_new_raw_private_key_ex(NULL, name, "provider=tagmac", key, size);
}

EVP_MD_CTX *of_message(EVP_PKEY *key, int signs, const OSSL_PARAM *params) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    CHECK(context != NULL);
    if (signs ? EVP_DigestSignInit_ex(context, NULL, NULL, NULL, NULL, key, params)
              : EVP_DigestVerifyInit_ex(context, NULL, NULL, NULL, NULL, key, params)) {
        return context;
    }
    EVP_MD_CTX_free(context);
    return NULL;
}

size_t sign(EVP_MD_CTX *context, uint8_t *out) {
    size_t size = 64;
    return EVP_DigestSignFinal(context, out, &size) ? size : 0;
}

/* Signs `message` with EVP_DigestSign in two pieces, and returns the length of the tag. */
static size_t signed_by(EVP_PKEY *key, size_t length, uint8_t *out) {
    EVP_MD_CTX *context = of_message(key, 1, NULL);
    size_t size = 0;
    CHECK(context != NULL && EVP_DigestSignUpdate(context, message, length / 3));
    CHECK(EVP_DigestSignUpdate(context, message + length / 3, length - length / 3));
    CHECK(EVP_DigestSignFinal(context, NULL, &size) && size > 0 && size <= 64);
    CHECK(EVP_DigestSignFinal(context, out, &size));
    EVP_MD_CTX_free(context);
    return size;
}

int verifies(EVP_PKEY *key, size_t length, const uint8_t *given, size_t size) {
    EVP_MD_CTX *context = of_message(key, 0, NULL);
    CHECK(context != NULL && EVP_DigestVerifyUpdate(context, message, length));
    int right = EVP_DigestVerifyFinal(context, given, size);
    EVP_MD_CTX_free(context);
    return right == 1;
}

/* Makes a key with EVP_PKEY_keygen, as `openssl dgst -mac` does. */
static EVP_PKEY *generated(const char *name, const char *key, const char *cipher) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, name, "provider=tagmac");
    EVP_PKEY *made = NULL;
    CHECK(context != NULL && EVP_PKEY_keygen_init(context) == 1);
    CHECK(key == NULL || EVP_PKEY_CTX_ctrl_str(context, "hexkey", key) == 1);
    if (cipher == NULL || EVP_PKEY_CTX_ctrl_str(context, "cipher", cipher) == 1) {
        (void)EVP_PKEY_keygen(context, &made);
    }
    EVP_PKEY_CTX_free(context);
    return made;
}

/* Returns whether an exported key has this cipher, as a C string. */
static int is_aes_128(const OSSL_PARAM *key, void *nothing) {
    const OSSL_PARAM *cipher = OSSL_PARAM_locate_const(key, "cipher");
    const char *found = NULL;
    (void)nothing;
    return cipher != NULL && OSSL_PARAM_get_utf8_string_ptr(cipher, &found)
           && strcmp(found, "AES128") == 0 && cipher->data_size == 6;
}

void keys(void) {
    EVP_PKEY *key = raw("PMAC-AES128", bytes, 16), *copy, *other;
    EVP_MAC_CTX *mac = context_of("PMAC-AES128");
    uint8_t out[64];
    size_t size = sizeof out;
    CHECK(key != NULL && EVP_PKEY_is_a(key, "PMAC-AES-128") && !EVP_PKEY_is_a(key, "PMAC-AES192"));
    CHECK(EVP_PKEY_get_bits(key) == 128 && EVP_PKEY_get_size(key) == 16);
    CHECK(EVP_PKEY_get_raw_private_key(key, out, &size) && size == 16 && !memcmp(out, bytes, 16));
    size = 15;
    CHECK(!EVP_PKEY_get_raw_private_key(key, out, &size));
    size = sizeof out;
    CHECK(!EVP_PKEY_get_raw_public_key(key, out, &size));

    /* The tag is that of EVP_MAC, at any length. */
    for (size_t length = 0; length <= 3000; length += 1 + length / 2) {
        CHECK(EVP_MAC_init(mac, bytes, 16, NULL) && EVP_MAC_update(mac, message, length));
        CHECK(finish(mac, tag) == 16);
        CHECK(signed_by(key, length, other_tag) == 16 && memcmp(tag, other_tag, 16) == 0);
        CHECK(verifies(key, length, tag, 16));
        for (size_t i = 0; i < 16; i++) {
            tag[i] ^= 0x10;
            FAILS(verifies(key, length, tag, 16), "tag does not match");
            tag[i] ^= 0x10;
        }
        FAILS(verifies(key, length, tag, 15), "expected a tag of 16 bytes, found 15");
        FAILS(verifies(key, length, tag, 0), "found 0");
    }
    EVP_MAC_CTX_free(mac);

    /* Compare equal and different keys. */
    CHECK((copy = EVP_PKEY_dup(key)) != NULL && EVP_PKEY_eq(key, copy) == 1);
    EVP_PKEY_free(copy);
    CHECK((copy = generated("PMAC-AES128", "0104070a0d101316191c1f2225282b2e", NULL)) != NULL);
    CHECK(EVP_PKEY_eq(key, copy) == 1);
    EVP_PKEY_free(copy);
    CHECK((other = raw("PMAC-AES128", bytes + 1, 16)) != NULL && EVP_PKEY_eq(key, other) != 1);
    CHECK(signed_by(other, 100, out) == 16 && !verifies(key, 100, out, 16));
    EVP_PKEY_free(other);

    /* Refused calls, with the reason in the message. */
    FAILS(raw("PMAC-AES128", bytes, 15), "PMAC-AES128: expected a key of 16 bytes, found 15");
    FAILS(raw("PMAC-AES128", bytes, 0), "found 0");
    FAILS(raw("PMAC", bytes, 16), "the parameter cipher is not set");
    FAILS(generated("PMAC-AES128", NULL, NULL), "no key is set");
    FAILS(generated("PMAC-AES128", "00", NULL), "found 1");
    FAILS(generated("PMAC", "00", "DES-CBC"), "'DES-CBC'");
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    FAILS(EVP_DigestSignInit_ex(context, NULL, "SHA256", NULL, NULL, key, NULL), "digest must be empty");
    EVP_MD_CTX_free(context);

    /* In a family the cipher chooses the MAC, and the key keeps the cipher. */
    CHECK((other = generated("PMAC", "0104070a0d101316191c1f2225282b2e", "AES-128-CBC")) != NULL);
    CHECK(signed_by(other, 100, out) == 16 && verifies(key, 100, out, 16));
    CHECK((copy = EVP_PKEY_dup(other)) != NULL && EVP_PKEY_eq(other, copy) == 1);
    CHECK(verifies(copy, 100, out, 16));
    CHECK(EVP_PKEY_export(other, EVP_PKEY_KEYPAIR, is_aes_128, NULL) == 1);
    EVP_PKEY_free(copy);
    EVP_PKEY_free(other);

    /* A shorter tag, and the same key for the next message. */
    size_t five = 5;
    OSSL_PARAM short_tags[] = {OSSL_PARAM_construct_size_t("size", &five), OSSL_PARAM_END};
    CHECK(signed_by(key, 100, tag) == 16);
    CHECK((context = of_message(key, 1, short_tags)) != NULL);
    CHECK(EVP_DigestSignUpdate(context, message, 100));
    CHECK(sign(context, out) == 5 && memcmp(out, tag, 5) == 0);
    EVP_MD_CTX_free(context);
    CHECK((context = of_message(key, 0, short_tags)) != NULL);
    CHECK(EVP_DigestVerifyUpdate(context, message, 100));
    FAILS(EVP_DigestVerifyFinal(context, tag, 16) == 1, "expected a tag of 5 bytes, found 16");
    CHECK(EVP_DigestVerifyFinal(context, tag, 5) == 1);
    EVP_MD_CTX_free(context);
    size = sizeof out;
    CHECK((context = of_message(key, 1, NULL)) != NULL);
    CHECK(EVP_DigestSign(context, out, &size, message, 100) == 1 && memcmp(out, tag, 16) == 0);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);

    /* The older call needs a numeric type; a program may register one for the name. */
    int number = OBJ_create("1.3.6.1.4.1.55555.1", "UMAC-64", "UMAC-64 of tagmac");
    CHECK(number != NID_undef);
    CHECK((key = EVP_PKEY_new_mac_key(number, NULL, bytes, 16)) != NULL);

    /* Each message needs a new nonce, and each nonce makes one tag. Verifying uses up nothing. */
    OSSL_PARAM iv[] = {OSSL_PARAM_construct_octet_string("iv", nonce, 8), OSSL_PARAM_END};
    CHECK((context = of_message(key, 1, NULL)) != NULL);
    FAILS(EVP_DigestSignUpdate(context, message, 100), "expected a nonce");
    EVP_MD_CTX_free(context);
    CHECK((context = of_message(key, 1, iv)) != NULL);
    CHECK(EVP_DigestSignUpdate(context, message, 100) && sign(context, tag) == 8);
    FAILS(sign(context, out), "a duplicate");
    EVP_MD_CTX_free(context);
    mac = context_of("UMAC-64");
    CHECK(init(mac, bytes, 16, 8) && EVP_MAC_update(mac, message, 100));
    CHECK(finish(mac, out) == 8 && memcmp(out, tag, 8) == 0);
    EVP_MAC_CTX_free(mac);
    CHECK((context = of_message(key, 0, iv)) != NULL);
    CHECK(EVP_DigestVerifyUpdate(context, message, 100));
    tag[0] ^= 1;
    FAILS(EVP_DigestVerifyFinal(context, tag, 8) == 1, "tag does not match");
    tag[0] ^= 1;
    CHECK(EVP_DigestVerifyFinal(context, tag, 8) == 1);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);

    /* HMAC accepts keys of any length. */
    static const uint8_t hmac[4] = {0x5b, 0xdc, 0xc1, 0x46};
    CHECK((key = raw("HMAC-SHA256", (const uint8_t *)"Jefe", 4)) != NULL);
    CHECK((context = of_message(key, 1, NULL)) != NULL);
    CHECK(EVP_DigestSignUpdate(context, "what do ya want for nothing?", 28));
    CHECK(sign(context, out) == 32 && memcmp(out, hmac, 4) == 0);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    /* OpenSSL's own keys keep their names. */
    CHECK((key = EVP_PKEY_new_mac_key(EVP_PKEY_HMAC, NULL, bytes, 16)) != NULL);
    CHECK(!EVP_PKEY_is_a(key, "HMAC-SHA256") && EVP_PKEY_is_a(key, "HMAC"));
    EVP_PKEY_free(key);
    ERR_clear_error();
}
