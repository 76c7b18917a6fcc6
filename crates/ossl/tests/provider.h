/* Declarations for provider.c and provider_keys.c. */
#ifndef PROVIDER_H
#define PROVIDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #it);                 \
            ERR_print_errors_fp(stderr);                                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Checks that the call fails, and that the last error is the provider's and contains `words`. */
#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        const char *data_ = NULL;                                                                  \
        ERR_clear_error();                                                                         \
        CHECK(!(call));                                                                            \
        last_of_ours(&data_);                                                                      \
        if (data_ == NULL || strstr(data_, words) == NULL)                                         \
            fprintf(stderr, "found '%s'\n", data_ == NULL ? "" : data_);                           \
        CHECK(data_ != NULL && strstr(data_, words) != NULL);                                      \
    } while (0)

enum { MOST = 5000 };

extern uint8_t message[MOST], bytes[64], nonce[16], tag[64];

void last_of_ours(const char **data);
EVP_MAC_CTX *context_of(const char *name);
/* Begins a message under a nonce, and with a key unless it is NULL. */
int init(EVP_MAC_CTX *context, const uint8_t *key, size_t key_size, size_t nonce_size);
size_t finish(EVP_MAC_CTX *context, uint8_t *out);

EVP_PKEY *raw(const char *name, const uint8_t *key, size_t size);
/* Makes a context that signs or verifies under a key, with parameters. */
EVP_MD_CTX *of_message(EVP_PKEY *key, int signs, const OSSL_PARAM *params);
size_t sign(EVP_MD_CTX *context, uint8_t *out);
int verifies(EVP_PKEY *key, size_t length, const uint8_t *given, size_t size);
/* Tests of EVP_PKEY: keys from three calls, exported and compared, and tags made and checked with
   them. */
void keys(void);

#endif
