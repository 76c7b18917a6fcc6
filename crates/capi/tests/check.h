/* What the programs of this folder share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tagmac.h>

/* Ends the program unless `it` holds. */
#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: %s does not hold; the last error: %s\n", __FILE__, __LINE__,   \
                    #it, tagmac_error_string());                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The call fails, and its error has these words. */
#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        CHECK((call) == -1);                                                                       \
        CHECK(strstr(tagmac_error_string(), words) != NULL);                                       \
    } while (0)

/* Chooses the level of TAGMAC_LEVEL, and says which one it is. */
static void choose_level(void) {
    const char *level = getenv("TAGMAC_LEVEL");
    CHECK(tagmac_set_level(level != NULL && *level != 0 ? level : NULL) == 0);
    printf("level %s\n", tagmac_level());
}

#endif
