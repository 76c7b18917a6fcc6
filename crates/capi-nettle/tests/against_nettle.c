/* libtagmac-nettle beside Nettle itself: the same random calls to both, which have to give the same
   tags. Contexts are copied, moved to any alignment, and as large as Nettle's headers say; the
   bytes after them have to stay.

   Usage: against_nettle NETTLE TAGMAC_NETTLE SECONDS */

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nettle/umac.h>

#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: %s does not hold (seed %llu)\n", __FILE__, __LINE__, #it,      \
                    seed);                                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 1 << 18, ROOM = 4096, AROUND = 64 };

typedef void set_key(void *, const uint8_t *);
typedef void set_nonce(void *, size_t, const uint8_t *);
typedef void update(void *, size_t, const uint8_t *);
typedef void digest(void *, size_t, uint8_t *);
typedef int size(void);

struct umac {
    set_key *set_key;
    set_nonce *set_nonce;
    update *update;
    digest *digest;
};

static unsigned long long seed, state;
static uint8_t message[MOST];

static size_t below(size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % limit;
}

static void fill(uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)below(256);
    }
}

static void *named(void *library, int bits, const char *call) {
    char name[64];
    snprintf(name, sizeof name, "nettle_umac%d_%s", bits, call);
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static struct umac all_of(void *library, int bits) {
    struct umac umac;
    *(void **)&umac.set_key = named(library, bits, "set_key");
    *(void **)&umac.set_nonce = named(library, bits, "set_nonce");
    *(void **)&umac.update = named(library, bits, "update");
    *(void **)&umac.digest = named(library, bits, "digest");
    return umac;
}

/* A life of one context. */
static void live(const struct umac *nettle, const struct umac *ours, size_t words, size_t room) {
    static struct umac128_ctx expected;
    /* The context stands at `at`, with bytes around it that have to stay. */
    static uint8_t memory[AROUND + 2 * ROOM + AROUND];
    uint8_t key[16], nonce[16], one[16], two[16];
    size_t at = AROUND + below(64);
    memset(memory, 0xa5, sizeof memory);
    fill(key, 16);
    nettle->set_key(&expected, key);
    ours->set_key(memory + at, key);
    for (size_t step = 0; step < 40; step++) {
        switch (below(8)) {
        case 0:
            if (below(8) == 0) {
                fill(key, 16);
                nettle->set_key(&expected, key);
                ours->set_key(memory + at, key);
            }
            break;
        case 1: {
            /* Near the end of the nonces, so that they carry and begin again. */
            size_t length = 1 + below(16);
            fill(nonce, length);
            if (below(2)) {
                memset(nonce, 0xff, length);
                nonce[length - 1] = (uint8_t)(252 + below(4));
            }
            nettle->set_nonce(&expected, length, nonce);
            ours->set_nonce(memory + at, length, nonce);
            break;
        }
        case 2: {
            /* Plain memory may move. */
            size_t to = AROUND + below(64);
            uint8_t copy[ROOM];
            memcpy(copy, memory + at, room);
            memset(memory + at, 0xa5, room);
            memcpy(memory + to, copy, room);
            at = to;
            break;
        }
        case 3:
        case 4: {
            size_t length = 1 + below(4 * words);
            nettle->digest(&expected, length, one);
            ours->digest(memory + at, length, two);
            CHECK(memcmp(one, two, length) == 0);
            break;
        }
        default: {
            static const size_t scales[] = {2, 64, 1100, 2100, 5000, MOST};
            size_t length = below(scales[below(6)]);
            const uint8_t *from = message + below(MOST - length + 1);
            nettle->update(&expected, length, from);
            ours->update(memory + at, length, from);
        }
        }
    }
    nettle->digest(&expected, 4 * words, one);
    ours->digest(memory + at, 4 * words, two);
    CHECK(memcmp(one, two, 4 * words) == 0);
    for (size_t i = 0; i < sizeof memory; i++) {
        CHECK((i >= at && i < at + room) || memory[i] == 0xa5);
    }
}

/* What Nettle's assertions refuse, and a context without a key, end the process with SIGABRT. */
static void refused(const struct umac *umac, size_t words) {
    static uint8_t context[ROOM], key[17], tag[32];
    for (int misuse = 0; misuse < 6; misuse++) {
        fflush(NULL);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            fclose(stderr);
            memset(context, misuse == 0 ? 0 : 0x5a, sizeof context);
            if (misuse >= 2) {
                umac->set_key(context, key);
            }
            switch (misuse) {
            case 2: umac->set_nonce(context, 0, key); break;
            case 3: umac->set_nonce(context, 17, key); break;
            case 4: umac->digest(context, 4 * words + 1, tag); break;
            case 5: umac->update(context, SIZE_MAX, key); break;
            default: umac->digest(context, 4 * words, tag);
            }
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

int main(int argc, char **argv) {
    seed = (unsigned long long)time(NULL);
    CHECK(argc == 4);
    if (getenv("TAGMAC_SEED") != NULL) {
        seed = strtoull(getenv("TAGMAC_SEED"), NULL, 10);
    }
    state = seed;
    void *theirs = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *library;
    if (theirs == NULL || (library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    struct umac nettle[4], ours[4];
    const size_t rooms[4] = {sizeof(struct umac32_ctx), sizeof(struct umac64_ctx),
                             sizeof(struct umac96_ctx), sizeof(struct umac128_ctx)};
    for (int i = 0; i < 4; i++) {
        nettle[i] = all_of(theirs, 32 * (i + 1));
        ours[i] = all_of(library, 32 * (i + 1));
        CHECK(nettle[i].digest != ours[i].digest);
        size *first, *second;
        *(void **)&first = named(library, 32 * (i + 1), "ctx_size");
        *(void **)&second = named(library, 32 * (i + 1), "_ctx_size");
        refused(&ours[i], (size_t)i + 1);
        CHECK(first() == second() && first() > 0 && (size_t)first() <= rooms[i]);
    }
    fill(message, MOST);
    size_t lives = 0;
    for (time_t end = time(NULL) + atoi(argv[3]); time(NULL) <= end || lives < 40; lives++) {
        live(&nettle[lives % 4], &ours[lives % 4], lives % 4 + 1, rooms[lives % 4]);
    }
    printf("%zu lives of a context\n", lives);
    return 0;
}
