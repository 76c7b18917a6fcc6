/* PMAC-AES128 and LightMAC-PRESENT80 (with a 16-bit counter) for a microcontroller. */
#ifndef TAGMAC_EMBEDDED_H
#define TAGMAC_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the tag of the `length` bytes at `message`. Returns false if the message is longer than
   the MAC allows: 393,215 bytes for LightMAC-PRESENT80. `message` may be NULL if `length` is 0. */
bool tagmac_pmac_aes128_tag(const uint8_t key[16], const uint8_t *message, size_t length,
                            uint8_t tag[16]);
bool tagmac_lightmac_present80_tag(const uint8_t key[20], const uint8_t *message, size_t length,
                                   uint8_t tag[8]);

/* Returns true if the tag is that of the message. Runs in constant time. */
bool tagmac_pmac_aes128_verify(const uint8_t key[16], const uint8_t *message, size_t length,
                               const uint8_t tag[16]);
bool tagmac_lightmac_present80_verify(const uint8_t key[20], const uint8_t *message, size_t length,
                                      const uint8_t tag[8]);

#endif
