/* Checks that the test programs of this folder share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tagmac.h>

/* Returns the message of the last failure. */
static inline const char *last_error(void) {
    static char line[4096];
    return tagmac_error_string(line, sizeof line);
}

/* Ends the program unless `it` is true. */
#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: %s does not hold; the last error: %s\n", __FILE__, __LINE__,   \
                    #it, last_error());                                                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Checks that the call fails with this status and that its message contains `words`. */
#define FAILS(status, call, words)                                                                 \
    do {                                                                                           \
        CHECK((call) == status);                                                                   \
        CHECK(strstr(last_error(), words) != NULL);                                                \
    } while (0)

#define MISMATCH(call, words) FAILS(TAGMAC_MISMATCH, call, words)
#define MISUSE(call, words) FAILS(TAGMAC_MISUSE, call, words)
#define LIMIT(call, words) FAILS(TAGMAC_LIMIT, call, words)
#define INPUT(call, words) FAILS(TAGMAC_INPUT, call, words)

/* Chooses the level named in the variable TAGMAC_LEVEL, or the best one, and prints it. */
static inline void choose_level(void) {
    const char *level = getenv("TAGMAC_LEVEL");
    CHECK(tagmac_set_level(level != NULL && *level != 0 ? level : NULL) == 0);
    printf("level %s\n", tagmac_level());
}

#endif
