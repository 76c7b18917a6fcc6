/* intel-ipsec-mb's MACs in bursts, as a gateway calls them: each message has its own raw key, which
   is set up first. */

#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <string.h>

enum { CMAC_AES128, GMAC_AES128, POLY1305, HMAC_SHA256 };

/* A key that is set up. The library loads these from aligned addresses. */
union ready {
    struct {
        DECLARE_ALIGNED(uint8_t round_keys[16 * 11], 64);
        DECLARE_ALIGNED(uint8_t decryption[16 * 11], 64);
        DECLARE_ALIGNED(uint8_t full[16], 16);
        DECLARE_ALIGNED(uint8_t partial[16], 16);
    } cmac;
    struct gcm_key_data gmac;
    struct {
        DECLARE_ALIGNED(uint8_t inner[32], 16);
        DECLARE_ALIGNED(uint8_t outer[32], 16);
    } hmac;
};

/* A manager, and the keys of a burst. */
struct peers_ipsec_mb {
    union ready keys[IMB_MAX_BURST_SIZE];
    IMB_MGR *manager;
};

const char *peers_ipsec_mb_version(void)
{
    return imb_get_version_str();
}

void peers_ipsec_mb_free(struct peers_ipsec_mb *state)
{
    free_mb_mgr(state->manager);
    free(state);
}

/* Returns a manager for this CPU, or NULL. */
struct peers_ipsec_mb *peers_ipsec_mb_new(void)
{
    struct peers_ipsec_mb *state;
    if (posix_memalign((void **)&state, 64, sizeof *state) != 0)
        return NULL;
    state->manager = alloc_mb_mgr(0);
    if (state->manager == NULL) {
        free(state);
        return NULL;
    }
    init_mb_mgr_auto(state->manager, NULL);
    if (imb_get_errno(state->manager) != 0) {
        peers_ipsec_mb_free(state);
        return NULL;
    }
    return state;
}

static void hash_padded(IMB_MGR *manager, const uint8_t *key, uint8_t pad, uint8_t *state)
{
    uint8_t block[64];
    memset(block, pad, sizeof block);
    for (int i = 0; i < 32; i++)
        block[i] ^= key[i];
    IMB_SHA256_ONE_BLOCK(manager, block, state);
}

/* Sets up a key and names it in the job. */
static void set_up(IMB_MGR *manager, int mac, const uint8_t *key, const uint8_t *nonce,
                   union ready *ready, IMB_JOB *job)
{
    switch (mac) {
    case CMAC_AES128:
        IMB_AES_KEYEXP_128(manager, key, ready->cmac.round_keys, ready->cmac.decryption);
        IMB_AES_CMAC_SUBKEY_GEN_128(manager, ready->cmac.round_keys, ready->cmac.full,
                                    ready->cmac.partial);
        job->hash_alg = IMB_AUTH_AES_CMAC;
        job->u.CMAC._key_expanded = ready->cmac.round_keys;
        job->u.CMAC._skey1 = ready->cmac.full;
        job->u.CMAC._skey2 = ready->cmac.partial;
        break;
    case GMAC_AES128:
        IMB_AES128_GCM_PRE(manager, key, &ready->gmac);
        job->hash_alg = IMB_AUTH_AES_GMAC_128;
        job->u.GMAC._key = &ready->gmac;
        job->u.GMAC._iv = nonce;
        job->u.GMAC.iv_len_in_bytes = 12;
        break;
    case POLY1305:
        job->hash_alg = IMB_AUTH_POLY1305;
        job->u.POLY1305._key = key;
        break;
    case HMAC_SHA256:
        hash_padded(manager, key, 0x36, ready->hmac.inner);
        hash_padded(manager, key, 0x5c, ready->hmac.outer);
        job->hash_alg = IMB_AUTH_HMAC_SHA_256;
        job->u.HMAC._hashed_auth_key_xor_ipad = ready->hmac.inner;
        job->u.HMAC._hashed_auth_key_xor_opad = ready->hmac.outer;
        break;
    }
}

/* Writes the tags of up to IMB_MAX_BURST_SIZE messages, whose last block must be readable. Returns 0, the library's error, or -1 if
   it does not complete the burst. */
int peers_ipsec_mb_burst(struct peers_ipsec_mb *state, int mac, uint32_t count,
                         const uint8_t *const *keys, const uint8_t *nonce,
                         const uint8_t *const *messages, const uint64_t *lengths,
                         uint8_t *tags, uint64_t tag_length)
{
    IMB_MGR *manager = state->manager;
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    if (count > IMB_MAX_BURST_SIZE || IMB_GET_NEXT_BURST(manager, count, jobs) != count)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        IMB_JOB *job = jobs[i];
        job->cipher_mode = IMB_CIPHER_NULL;
        job->cipher_direction = IMB_DIR_ENCRYPT;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->src = messages[i];
        job->hash_start_src_offset_in_bytes = 0;
        job->msg_len_to_hash_in_bytes = lengths[i];
        job->auth_tag_output = tags + i * tag_length;
        job->auth_tag_output_len_in_bytes = tag_length;
        set_up(manager, mac, keys[i], nonce, &state->keys[i], job);
    }
    uint32_t completed = IMB_SUBMIT_BURST(manager, count, jobs);
    if (completed == 0 && imb_get_errno(manager) != 0)
        return imb_get_errno(manager);
    while (completed < count) {
        uint32_t more = IMB_FLUSH_BURST(manager, count - completed, jobs);
        if (more == 0)
            return -1;
        completed += more;
    }
    return 0;
}
