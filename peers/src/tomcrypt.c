/* libtomcrypt's PMAC with the key ready, as in a C application: the state is made once and copied
   for each message. Only the header knows its size. */

#include <stdlib.h>
#include <tomcrypt.h>

/* Returns the index of AES, or -1. */
int peers_tomcrypt_aes(void)
{
    return register_cipher(&aes_desc);
}

/* Returns a state with its key, or NULL. */
pmac_state *peers_tomcrypt_new(int cipher, const unsigned char *key, unsigned long key_length)
{
    pmac_state *state = malloc(sizeof *state);
    if (state != NULL && pmac_init(state, cipher, key, key_length) != CRYPT_OK) {
        free(state);
        return NULL;
    }
    return state;
}

void peers_tomcrypt_free(pmac_state *state)
{
    free(state);
}

/* Writes the tag of a message; returns libtomcrypt's error. */
int peers_tomcrypt_tag(const pmac_state *ready, const unsigned char *message, unsigned long length,
                       unsigned char *tag, unsigned long *tag_length)
{
    pmac_state state = *ready;
    int error = pmac_process(&state, message, length);
    return error == CRYPT_OK ? pmac_done(&state, tag, tag_length) : error;
}
