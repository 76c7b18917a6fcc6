/* Writes tags of messages of 0 to 300 bytes. It is a program for Linux on an ARM or RISC-V CPU,
   without a C library: scripts/test-thumb runs it under qemu and compares the tags with the
   reference's. */
#include "tagmac_embedded.h"

enum { LENGTHS = 301 };

#if defined(__riscv)
enum { EXIT = 93, WRITE = 64 };

static long call(long number, long a, const void *b, long c) {
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a2 __asm__("a2") = c;
    register const void *a1 __asm__("a1") = b;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
    return a0;
}
#else
enum { EXIT = 1, WRITE = 4 };

static long call(long number, long a, const void *b, long c) {
    register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r2 __asm__("r2") = c;
    register const void *r1 __asm__("r1") = b;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
    return r0;
}
#endif

static void line(const uint8_t *tag, size_t length) {
    char out[33];
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = "0123456789abcdef"[tag[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[tag[i] & 15];
    }
    out[2 * length] = '\n';
    call(WRITE, 1, out, 2 * length + 1);
}

static void stop(const char *why, size_t length) {
    call(WRITE, 2, why, length);
    call(EXIT, 1, 0, 0);
}

void _start(void) {
    static uint8_t message[LENGTHS], key[20], tag[16];
    for (int i = 0; i < LENGTHS; i++)
        message[i] = (uint8_t)(i * 167 + i / 256);
    for (int i = 0; i < 20; i++)
        key[i] = (uint8_t)i;
    for (size_t n = 0; n < LENGTHS; n++) {
        const uint8_t *bytes = n == 0 ? 0 : message;
        if (!tagmac_pmac_aes128_tag(key, bytes, n, tag)) stop("no tag\n", 7);
        line(tag, 16);
        if (!tagmac_pmac_aes128_verify(key, bytes, n, tag)) stop("refused\n", 8);
        tag[n % 16] ^= 1;
        if (tagmac_pmac_aes128_verify(key, bytes, n, tag)) stop("accepted\n", 9);
        if (!tagmac_lightmac_present80_tag(key, bytes, n, tag)) stop("no tag\n", 7);
        line(tag, 8);
        if (!tagmac_lightmac_present80_verify(key, bytes, n, tag)) stop("refused\n", 8);
        tag[n % 8] ^= 1;
        if (tagmac_lightmac_present80_verify(key, bytes, n, tag)) stop("accepted\n", 9);
    }
    call(EXIT, 0, 0, 0);
}
