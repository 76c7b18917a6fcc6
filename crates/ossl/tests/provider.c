/* Tests the provider through EVP_MAC and EVP_PKEY, with right and wrong calls. provider_keys.c has
   the keys as EVP_PKEY.

   Usage: provider FOLDER, the folder of tagmac.so. */

#include "provider.h"

#include <pthread.h>
#include <stdatomic.h>

#include <openssl/provider.h>

enum { THREADS = 8, ROUNDS = 300, MEETINGS = 10000 };

uint8_t message[MOST], bytes[64], nonce[16], tag[64];
static uint8_t other[64];

void last_of_ours(const char **data) {
    const char *found;
    int flags;
    unsigned long code;
    while ((code = ERR_get_error_all(NULL, NULL, NULL, &found, &flags)) != 0) {
        const char *reason = ERR_reason_error_string(code);
        if (reason != NULL && strcmp(reason, "request refused") == 0) {
            static char kept[512];
            snprintf(kept, sizeof kept, "%s", found);
            *data = kept;
        }
    }
}

EVP_MAC_CTX *context_of(const char *name) {
    EVP_MAC *mac = EVP_MAC_fetch(NULL, name, "provider=tagmac");
    CHECK(mac != NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    EVP_MAC_free(mac);
    CHECK(context != NULL);
    return context;
}

static int set_octets(EVP_MAC_CTX *context, const char *name, void *data, size_t size) {
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(name, data, size), OSSL_PARAM_END};
    return EVP_MAC_CTX_set_params(context, params);
}

static int set_size(EVP_MAC_CTX *context, size_t size) {
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t("size", &size), OSSL_PARAM_END};
    return EVP_MAC_CTX_set_params(context, params);
}

static int set_cipher(EVP_MAC_CTX *context, const char *cipher) {
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("cipher", (char *)cipher, 0),
                           OSSL_PARAM_END};
    return EVP_MAC_CTX_set_params(context, params);
}

int init(EVP_MAC_CTX *context, const uint8_t *key, size_t key_size, size_t nonce_size) {
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string("iv", nonce, nonce_size),
                           OSSL_PARAM_END};
    return EVP_MAC_init(context, key, key_size, params);
}

size_t finish(EVP_MAC_CTX *context, uint8_t *out) {
    size_t size = 0;
    return EVP_MAC_final(context, out, &size, 64) ? size : 0;
}

/* PMAC by its name, its aliases and its cipher; keys that are kept and replaced; duplicates. */
static void pmac(void) {
    static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    /* A test vector of Krovetz and Rogaway, for three bytes. */
    static const uint8_t expected[16] = {0x25, 0x6b, 0xa5, 0x19, 0x3c, 0x1b, 0x99, 0x1b,
                                         0x4d, 0xf0, 0xc5, 0x1f, 0x38, 0x8a, 0x9e, 0x27};
    static const char *const names[] = {"PMAC-AES128", "PMAC-AES-128", "pmac-aes128", "PMAC"};
    for (size_t i = 0; i < 4; i++) {
        EVP_MAC_CTX *context = context_of(names[i]);
        if (i == 3) {
            CHECK(EVP_MAC_CTX_get_mac_size(context) == 0);
            FAILS(EVP_MAC_init(context, key, 16, NULL), "one of AES128");
            FAILS(set_cipher(context, "DES-CBC"), "'DES-CBC'");
            CHECK(set_cipher(context, "AES-256-CBC"));
            FAILS(EVP_MAC_init(context, key, 16, NULL), "found 16");
            CHECK(set_cipher(context, "AES-128-CBC"));
        }
        CHECK(EVP_MAC_CTX_get_mac_size(context) == 16 && EVP_MAC_CTX_get_block_size(context) == 16);
        FAILS(EVP_MAC_update(context, key, 3), "call init first");
        FAILS(finish(context, tag), "call init first");
        FAILS(EVP_MAC_init(context, NULL, 0, NULL), "no key is set");
        FAILS(EVP_MAC_init(context, key, 15, NULL), "found 15");
        CHECK(EVP_MAC_init(context, key, 16, NULL));
        CHECK(EVP_MAC_update(context, key, 3));
        CHECK(finish(context, tag) == 16 && memcmp(tag, expected, 16) == 0);
        FAILS(finish(context, tag), "call init first");
        FAILS(EVP_MAC_update(context, key, 3), "call init first");

        /* INIT without a key keeps the key. A duplicate is independent. */
        CHECK(EVP_MAC_init(context, NULL, 0, NULL));
        CHECK(EVP_MAC_update(context, key, 1));
        EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(context);
        CHECK(copy != NULL);
        CHECK(EVP_MAC_update(context, key + 1, 2) && EVP_MAC_update(copy, message, 99));
        CHECK(EVP_MAC_update(copy, NULL, 0));
        CHECK(finish(copy, other) == 16 && memcmp(other, expected, 16) != 0);
        CHECK(finish(context, tag) == 16 && memcmp(tag, expected, 16) == 0);
        CHECK(EVP_MAC_init(copy, NULL, 0, NULL) && EVP_MAC_update(copy, key, 3));
        CHECK(finish(copy, tag) == 16 && memcmp(tag, expected, 16) == 0);
        EVP_MAC_CTX_free(copy);

        /* INIT during a message begins a new one. Parameters cannot change during a message. */
        CHECK(EVP_MAC_init(context, NULL, 0, NULL) && EVP_MAC_update(context, message, 4000));
        FAILS(set_size(context, 8), "cannot change during a message");
        FAILS(set_octets(context, "key", bytes, 16), "cannot change during a message");
        CHECK(EVP_MAC_init(context, bytes, 16, NULL) && EVP_MAC_init(context, key, 16, NULL));
        CHECK(EVP_MAC_update(context, key, 3));
        CHECK(finish(context, tag) == 16 && memcmp(tag, expected, 16) == 0);

        /* Tag lengths. */
        FAILS(set_size(context, 17), "found 136");
        FAILS(set_size(context, 0), "found 0");
        FAILS(set_size(context, 33), "at most 32");
        FAILS(set_size(context, SIZE_MAX), "at most 32");
        CHECK(EVP_MAC_CTX_get_mac_size(context) == 16);
        CHECK(set_size(context, 5) && EVP_MAC_CTX_get_mac_size(context) == 5);
        CHECK(EVP_MAC_init(context, NULL, 0, NULL) && EVP_MAC_update(context, key, 3));
        size_t size = 0;
        CHECK(EVP_MAC_final(context, NULL, &size, 0) && size == 5);
        memset(tag, 0xa5, sizeof tag);
        CHECK(!EVP_MAC_final(context, tag, &size, 4) && tag[0] == 0xa5);
        CHECK(finish(context, tag) == 5 && memcmp(tag, expected, 5) == 0 && tag[5] == 0xa5);

        /* Keys that are set twice, and parameters of the wrong type. */
        CHECK(set_octets(context, "key", bytes, 16) && set_octets(context, "key", (void *)key, 16));
        CHECK(EVP_MAC_init(context, NULL, 0, NULL) && EVP_MAC_update(context, key, 3));
        CHECK(finish(context, tag) == 5 && memcmp(tag, expected, 5) == 0);
        CHECK(set_octets(context, "key", bytes, 17));
        FAILS(EVP_MAC_init(context, NULL, 0, NULL), "found 17");
        FAILS(EVP_MAC_init(context, NULL, 0, NULL), "found 17");
        FAILS(set_octets(context, "size", bytes, 8), "must be a number");
        FAILS(set_octets(context, "cipher", bytes, 8), "must be text");
        FAILS(set_octets(context, "iv", bytes, 8), "does not use a nonce");
        int minus = -1, xof = 1;
        OSSL_PARAM negative[] = {OSSL_PARAM_construct_int("size", &minus), OSSL_PARAM_END};
        FAILS(EVP_MAC_CTX_set_params(context, negative), "0 to 2^64");
        OSSL_PARAM long_tags[] = {OSSL_PARAM_construct_int("xof", &xof), OSSL_PARAM_END};
        FAILS(EVP_MAC_CTX_set_params(context, long_tags), "fixed length");
        uint32_t narrow = 7;
        OSSL_PARAM in_32_bits[] = {OSSL_PARAM_construct_uint32("size", &narrow), OSSL_PARAM_END};
        CHECK(EVP_MAC_CTX_set_params(context, in_32_bits));
        narrow = 0;
        CHECK(EVP_MAC_CTX_get_params(context, in_32_bits) && narrow == 7);
        CHECK(set_octets(context, "of another provider", bytes, 8));
        EVP_MAC_CTX_free(context);
    }
    EVP_MAC_CTX *context = context_of("PMAC-AES128");
    FAILS(set_cipher(context, "AES-256-CBC"), "not supported");
    CHECK(set_cipher(context, "AES-128-ECB") && EVP_MAC_init(context, key, 16, NULL));
    EVP_MAC_CTX_free(context);
}

/* A MAC with nonces: each message needs a new nonce, and each nonce makes one tag. */
static void umac(const char *name, size_t key_size, size_t nonce_size) {
    EVP_MAC_CTX *context = context_of(name), *copy;
    size_t size = EVP_MAC_CTX_get_mac_size(context);
    CHECK(size > 0);
    FAILS(init(context, bytes, key_size, 17), "found 17");
    CHECK(init(context, bytes, key_size, nonce_size));
    CHECK(EVP_MAC_update(context, message, 1000));
    CHECK(finish(context, tag) == size);

    /* Refuses a second tag under one nonce, without INIT and with an INIT without a new nonce. */
    FAILS(finish(context, other), "call init first");
    FAILS(EVP_MAC_init(context, NULL, 0, NULL), "no new nonce is set");
    FAILS(EVP_MAC_update(context, message, 1), "call init first");
    CHECK(EVP_MAC_init(context, bytes, key_size, NULL));
    FAILS(EVP_MAC_update(context, message, 1), "expected a nonce");
    FAILS(finish(context, other), "expected a nonce");

    /* The nonce may be set before INIT, with it, or after it. */
    CHECK(set_octets(context, "iv", nonce, nonce_size) && EVP_MAC_init(context, NULL, 0, NULL));
    CHECK(EVP_MAC_update(context, message, 1000));
    FAILS(set_octets(context, "iv", nonce, nonce_size),
          "cannot change during a message");
    CHECK(finish(context, other) == size && memcmp(tag, other, size) == 0);
    CHECK(EVP_MAC_init(context, bytes, key_size, NULL) && set_octets(context, "iv", nonce, nonce_size));
    CHECK(EVP_MAC_update(context, message, 1000));
    CHECK(finish(context, other) == size && memcmp(tag, other, size) == 0);

    /* Of several duplicates under one nonce, only the first makes a tag. */
    for (int parted = 0; parted < 3; parted++) {
        for (int first = 0; first < 2; first++) {
            CHECK(parted == 0 ? set_octets(context, "iv", nonce, nonce_size)
                              : init(context, NULL, 0, nonce_size));
            CHECK(parted < 2 || EVP_MAC_update(context, message, 500));
            CHECK((copy = EVP_MAC_CTX_dup(context)) != NULL);
            EVP_MAC_CTX *third = EVP_MAC_CTX_dup(copy);
            EVP_MAC_CTX *of[] = {context, copy};
            for (int i = 0; i < 2; i++) {
                CHECK(parted > 0 || EVP_MAC_init(of[i], NULL, 0, NULL));
                size_t begun = parted == 2 ? 500 : 0;
                CHECK(EVP_MAC_update(of[i], message + begun, 1000 - begun));
            }
            CHECK(finish(of[first], other) == size && memcmp(tag, other, size) == 0);
            FAILS(finish(of[!first], other), "a duplicate");
            FAILS(finish(of[!first], other), "call init first");
            CHECK(parted > 0 || EVP_MAC_init(third, NULL, 0, NULL));
            FAILS(finish(third, other), "a duplicate");
            /* With a new nonce, a duplicate can make a tag. */
            CHECK(init(of[!first], NULL, 0, nonce_size));
            CHECK(EVP_MAC_update(of[!first], message, 1000));
            CHECK(finish(of[!first], other) == size && memcmp(tag, other, size) == 0);
            EVP_MAC_CTX_free(copy);
            EVP_MAC_CTX_free(third);
        }
    }
    EVP_MAC_CTX_free(context);
}

struct count {
    OSSL_PROVIDER *provider;
    size_t all;
};

/* For each MAC of the provider: its tables are right, and pieces have the same tag as the whole. */
static void one(EVP_MAC *mac, void *to) {
    struct count *count = (struct count *)to;
    if (EVP_MAC_get0_provider(mac) != count->provider) {
        return;
    }
    count->all++;
    CHECK(EVP_MAC_get0_description(mac) != NULL);
    const OSSL_PARAM *settable = EVP_MAC_settable_ctx_params(mac);
    for (const char *const *name = (const char *const[]){"key", "iv", "size", "cipher", NULL}; *name;
         name++) {
        CHECK(OSSL_PARAM_locate_const(settable, *name) != NULL);
    }
    CHECK(OSSL_PARAM_locate_const(EVP_MAC_gettable_ctx_params(mac), "size") != NULL);
    CHECK(OSSL_PARAM_locate_const(EVP_MAC_gettable_params(mac), "size") != NULL);
    size_t size = 99;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t("size", &size), OSSL_PARAM_END};
    CHECK(EVP_MAC_get_params(mac, params));
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac), *pieces;
    CHECK(context != NULL && EVP_MAC_CTX_get_mac_size(context) == size);
    if (size == 0) {
        CHECK(set_cipher(context, "AES-192-CBC") && EVP_MAC_CTX_get_mac_size(context) == 16);
        size = 16;
    }
    size_t keys = 0;
    int done = 0;
    for (size_t length = 1; length <= 64; length++) {
        ERR_set_mark();
        if (EVP_MAC_init(context, bytes, length, NULL)) {
            keys += !done;
            /* Tries no nonce first, then each length up to 16 bytes. */
            for (size_t with = 0; with <= 16 && !done; with++) {
                if (with == 0 || set_octets(context, "iv", nonce, with)) {
                    done = EVP_MAC_update(context, message, 900);
                }
            }
        }
        ERR_pop_to_mark();
        if (done) {
            break;
        }
    }
    CHECK(keys > 0 && done);
    CHECK((pieces = EVP_MAC_CTX_dup(context)) != NULL);
    CHECK(EVP_MAC_update(context, message + 900, 100));
    CHECK(finish(context, tag) == size);
    EVP_MAC_CTX_free(context);
    EVP_MAC_CTX_free(pieces);
}

static EVP_MAC *shared;
static EVP_PKEY *shared_key;
static EVP_MAC_CTX *of_all, *template;
static EVP_MD_CTX *signing_template;
static uint8_t right[16];
/* The number of threads in the next function, and how often one of them met another. */
static atomic_int inside, met;

/* All threads only read one context, so these calls must succeed. */
static void from_templates(void) {
    if (atomic_fetch_add(&inside, 1) > 0) {
        atomic_fetch_add(&met, 1);
    }
    uint8_t found[16];
    EVP_MAC_CTX *context = EVP_MAC_CTX_dup(template);
    CHECK(context != NULL && EVP_MAC_CTX_get_mac_size(template) == 16);
    CHECK(EVP_MAC_CTX_get_block_size(template) == 16);
    CHECK(EVP_MAC_update(context, message + 500, 500));
    CHECK(finish(context, found) == 16 && memcmp(found, right, 16) == 0);
    EVP_MAC_CTX_free(context);
    EVP_MD_CTX *signing = EVP_MD_CTX_new();
    CHECK(signing != NULL && EVP_MD_CTX_copy_ex(signing, signing_template));
    CHECK(EVP_DigestSignUpdate(signing, message + 500, 500));
    CHECK(sign(signing, found) == 16 && memcmp(found, right, 16) == 0);
    EVP_MD_CTX_free(signing);
    atomic_fetch_sub(&inside, 1);
}

/* Eight threads use separate contexts, templates, and, against the rules, one common context. */
static void *work(void *from) {
    (void)from;
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t found[16];
        EVP_MAC_CTX *context = EVP_MAC_CTX_new(shared);
        CHECK(context != NULL && EVP_MAC_init(context, bytes, 16, NULL));
        for (int at = 0; at < 1000; at += 125) {
            CHECK(EVP_MAC_update(context, message + at, 125));
        }
        CHECK(finish(context, found) == 16 && memcmp(found, right, 16) == 0);
        EVP_MAC_CTX_free(context);
        CHECK(verifies(shared_key, 1000, found, 16));
        switch (i % 4) {
        case 0: (void)EVP_MAC_init(of_all, bytes, 16, NULL); break;
        case 1: (void)finish(of_all, found); break;
        case 2: EVP_MAC_CTX_free(EVP_MAC_CTX_dup(of_all)); break;
        default: (void)EVP_MAC_update(of_all, message, 100);
        }
        ERR_clear_error();
    }
    /* Repeat until enough threads have met, however they are scheduled. */
    while (atomic_load(&met) < MEETINGS) {
        from_templates();
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[THREADS];
    CHECK((shared = EVP_MAC_fetch(NULL, "PMAC-AES128", NULL)) != NULL);
    CHECK((of_all = EVP_MAC_CTX_new(shared)) != NULL);
    CHECK((shared_key = raw("PMAC-AES128", bytes, 16)) != NULL);
    CHECK(EVP_Q_mac(NULL, "PMAC-AES128", NULL, NULL, NULL, bytes, 16, message, 1000, right, 16,
                    NULL) == right);
    CHECK((template = EVP_MAC_CTX_new(shared)) != NULL);
    CHECK(EVP_MAC_init(template, bytes, 16, NULL) && EVP_MAC_update(template, message, 500));
    CHECK((signing_template = of_message(shared_key, 1, NULL)) != NULL);
    CHECK(EVP_DigestSignUpdate(signing_template, message, 500));
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&all[i], NULL, work, NULL) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(all[i], NULL) == 0);
    }
    EVP_MAC_CTX_free(of_all);
    EVP_MAC_CTX_free(template);
    EVP_MD_CTX_free(signing_template);
    EVP_MAC_free(shared);
    EVP_PKEY_free(shared_key);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (size_t i = 0; i < MOST; i++) {
        message[i] = (uint8_t)(i * i >> 3);
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(3 * i + 1);
    }
    CHECK(OSSL_PROVIDER_set_default_search_path(NULL, argv[1]));
    OSSL_PROVIDER *standard = OSSL_PROVIDER_load(NULL, "default");
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(NULL, "tagmac");
    CHECK(standard != NULL && provider != NULL);
    const char *name = NULL, *version = NULL;
    int status = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr("name", (char **)&name, 0),
                           OSSL_PARAM_construct_utf8_ptr("version", (char **)&version, 0),
                           OSSL_PARAM_construct_int("status", &status), OSSL_PARAM_END};
    CHECK(OSSL_PROVIDER_get_params(provider, params) && status == 1);
    CHECK(strstr(name, "tagmac") != NULL && *version != 0);

    pmac();
    umac("UMAC-64", 16, 8);
    umac("UMAC128", 16, 16);
    umac("POLY1305-AES", 32, 16);
    umac("UMAC99-STD-30", 16, 8);
    keys();
    /* OpenSSL's own MACs keep their names. */
    CHECK(EVP_MAC_fetch(NULL, "CMAC", "provider=tagmac") == NULL);
    EVP_MAC *cmac = EVP_MAC_fetch(NULL, "CMAC", NULL);
    CHECK(cmac != NULL && EVP_MAC_get0_provider(cmac) == standard);
    EVP_MAC_free(cmac);
    ERR_clear_error();
    struct count count = {provider, 0};
    EVP_MAC_do_all_provided(NULL, one, &count);
    CHECK(count.all >= 60);
    threads();
    CHECK(OSSL_PROVIDER_unload(provider) && OSSL_PROVIDER_unload(standard));
    /* Load it a second time. */
    CHECK((provider = OSSL_PROVIDER_load(NULL, "tagmac")) != NULL);
    EVP_MAC_CTX_free(context_of("PMAC"));
    CHECK(OSSL_PROVIDER_unload(provider));
    printf("%s %s, %zu MACs\n", name, version, count.all);
    return 0;
}
