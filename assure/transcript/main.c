/* Prints the transcript of argv[1] rounds with the planted fault argv[2]. On bare ARM, ROUNDS and PLANTED
   replace the arguments. */
#include <stdint.h>

uint64_t transcript(uint32_t rounds, uint32_t planted);

#ifdef BARE
/* A system call, for Linux programs without a C library. */
static long call(long number, long a, const void *b, long c) {
    register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r2 __asm__("r2") = c;
    register const void *r1 __asm__("r1") = b;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
    return r0;
}

void _start(void) {
    uint64_t digest = transcript(ROUNDS, PLANTED);
    char out[17];
    for (int i = 0; i < 16; i++)
        out[i] = "0123456789abcdef"[digest >> (60 - 4 * i) & 15];
    out[16] = '\n';
    call(4, 1, out, 17);
    call(1, 0, 0, 0);
}
#else
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    if (count != 3) return 2;
    uint64_t digest = transcript((uint32_t)atoi(arguments[1]), (uint32_t)atoi(arguments[2]));
    printf("%016llx\n", (unsigned long long)digest);
    return 0;
}
#endif
