/* Declarations for smoke.c and smoke_*.c. */
#ifndef SMOKE_H
#define SMOKE_H

#include "check.h"

#include <tagmac_hazmat.h>

#ifdef __cplusplus
#define EMPTY {}
#else
#define EMPTY {0}
#endif

enum { MOST = 1 << 16 };

extern uint8_t message[MOST], bytes[64], nonce[16], tag[64], other[64];

/* A sender of packets, under each algorithm, across crashes. */
void sessions(const char *name);
void misuse_of_sessions(void);
/* New keys; copied and saved streams; many messages in one call. */
void new_keys(const char *folder);
void copies(const char *name);
void saved_streams(const char *name);
void many(const char *name);
/* Failures count for the number of words checked, and are saved. */
void grades(void);

#endif
