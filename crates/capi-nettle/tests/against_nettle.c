/* Makes the same random calls to Nettle 3 and to libtagmac-nettle or libtagmac-nettle4, and compares
   the tags. Contexts are copied, moved to any alignment, and only as large as in Nettle's headers. The
   bytes after them must not change.

   Usage: against_nettle NETTLE TAGMAC_NETTLE SECONDS */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nettle/poly1305.h>
#include <nettle/umac.h>

#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: %s does not hold (seed %llu)\n", __FILE__, __LINE__, #it,      \
                    seed);                                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 1 << 18, ROOM = 4096, AROUND = 64, MACS = 5 };

typedef void set_key(void *, const uint8_t *);
typedef void set_nonce(void *, size_t, const uint8_t *);
typedef void set_nonce_of_16(void *, const uint8_t *);
typedef void update(void *, size_t, const uint8_t *);
typedef void digest(void *, size_t, uint8_t *);
typedef void digest_of_4(void *, uint8_t *);
typedef int number(void);

/* A MAC of a library: UMAC, which accepts nonces of several lengths, or Poly1305-AES. */
struct mac {
    set_key *set_key;
    set_nonce *set_nonce;
    set_nonce_of_16 *set_nonce_of_16;
    update *update;
    digest *digest;
    digest_of_4 *digest_of_4;
    size_t key, tag;
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

static void *named(void *library, const char *mac, const char *call) {
    char name[64];
    snprintf(name, sizeof name, "nettle_%s_%s", mac, call);
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

/* `version` is Nettle's; the digest of version 4 has one argument less. */
static struct mac all_of(void *library, int version, const char *name, size_t tag) {
    struct mac mac = {.key = 16, .tag = tag};
    *(void **)&mac.set_key = named(library, name, "set_key");
    *(void **)&mac.update = named(library, name, "update");
    if (strcmp(name, "poly1305_aes") == 0) {
        *(void **)&mac.set_nonce_of_16 = named(library, name, "set_nonce");
        mac.key = 32;
    } else {
        *(void **)&mac.set_nonce = named(library, name, "set_nonce");
    }
    *(version == 4 ? (void **)&mac.digest_of_4 : (void **)&mac.digest) =
        named(library, name, "digest");
    return mac;
}

static void nonce_of(const struct mac *mac, void *context, size_t length, const uint8_t *nonce) {
    if (mac->set_nonce != NULL) {
        mac->set_nonce(context, length, nonce);
    } else {
        mac->set_nonce_of_16(context, nonce);
    }
}

/* Nettle's header says that the nonce is zero after set_key, but its Poly1305-AES leaves it unset. */
static void key_of(const struct mac *nettle, void *context, const uint8_t *key) {
    static const uint8_t zeros[16];
    nettle->set_key(context, key);
    nonce_of(nettle, context, 16, zeros);
}

static void tag_of(const struct mac *mac, void *context, size_t length, uint8_t *tag) {
    if (mac->digest != NULL) {
        mac->digest(context, length, tag);
    } else {
        mac->digest_of_4(context, tag);
    }
}

/* Runs random calls on one context from its key to its last tag. */
static void live(const struct mac *nettle, const struct mac *ours, size_t room) {
    static union {
        struct umac128_ctx umac;
        struct poly1305_aes_ctx poly1305;
    } expected;
    /* The context is at `at`; the bytes around it must not change. */
    static uint8_t memory[AROUND + 2 * ROOM + AROUND];
    uint8_t key[32], nonce[16], one[16], two[17];
    size_t at = AROUND + below(64);
    memset(memory, 0xa5, sizeof memory);
    fill(key, sizeof key);
    key_of(nettle, &expected, key);
    ours->set_key(memory + at, key);
    for (size_t step = 0; step < 40; step++) {
        switch (below(8)) {
        case 0:
            if (below(8) == 0) {
                fill(key, sizeof key);
                key_of(nettle, &expected, key);
                ours->set_key(memory + at, key);
            }
            break;
        case 1: {
            /* Some nonces are near the maximum, so that they carry and wrap. */
            size_t length = ours->set_nonce != NULL ? 1 + below(16) : 16;
            fill(nonce, length);
            if (below(2)) {
                memset(nonce, 0xff, length);
                nonce[length - 1] = (uint8_t)(252 + below(4));
            }
            nonce_of(nettle, &expected, length, nonce);
            nonce_of(ours, memory + at, length, nonce);
            break;
        }
        case 2: {
            /* A context may be moved like any plain memory. */
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
            size_t length = ours->digest != NULL ? 1 + below(ours->tag) : ours->tag;
            two[length] = 0xa5;
            nettle->digest(&expected, length, one);
            tag_of(ours, memory + at, length, two);
            CHECK(memcmp(one, two, length) == 0 && two[length] == 0xa5);
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
    nettle->digest(&expected, ours->tag, one);
    tag_of(ours, memory + at, ours->tag, two);
    CHECK(memcmp(one, two, ours->tag) == 0);
    for (size_t i = 0; i < sizeof memory; i++) {
        CHECK((i >= at && i < at + room) || memory[i] == 0xa5);
    }
}

/* Checks that a child ended with SIGABRT and wrote its one line. */
static void aborted(pid_t child, int lines) {
    char line[256] = {0};
    size_t length = 0;
    int status;
    for (ssize_t more; (more = read(lines, line + length, sizeof line - 1 - length)) > 0;) {
        length += (size_t)more;
    }
    CHECK(close(lines) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(line, "belongs to another MAC: call set_key first\n") != NULL);
}

/* Every call refuses a context that another MAC's set_key wrote. */
static void foreign(const struct mac *from, const struct mac *to) {
    static uint8_t context[ROOM], key[33], tag[32];
    for (int call = 0; call < 3; call++) {
        int lines[2];
        fflush(NULL);
        CHECK(pipe(lines) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK(dup2(lines[1], STDERR_FILENO) == STDERR_FILENO);
            from->set_key(context, key);
            switch (call) {
            case 0: nonce_of(to, context, 16, key); break;
            case 1: to->update(context, 9, key); break;
            default: tag_of(to, context, to->tag, tag);
            }
            _exit(0);
        }
        CHECK(close(lines[1]) == 0);
        aborted(child, lines[0]);
    }
}

/* Calls that Nettle's assertions refuse, and contexts without a key, end the process with SIGABRT. */
static void refused(const struct mac *mac) {
    static uint8_t context[ROOM], key[33], tag[32];
    for (int misuse = 0; misuse < 6; misuse++) {
        if ((mac->set_nonce == NULL && (misuse == 2 || misuse == 3))
            || (mac->digest == NULL && misuse == 4)) {
            continue;
        }
        fflush(NULL);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            fclose(stderr);
            memset(context, misuse == 0 ? 0 : 0x5a, sizeof context);
            if (misuse >= 2) {
                mac->set_key(context, key);
            }
            switch (misuse) {
            case 2: mac->set_nonce(context, 0, key); break;
            case 3: mac->set_nonce(context, 17, key); break;
            case 4: mac->digest(context, mac->tag + 1, tag); break;
            case 5: mac->update(context, SIZE_MAX, key); break;
            default: tag_of(mac, context, mac->tag, tag);
            }
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

/* Sets a key, and tags packets up to `longest` bytes, in a separate thread. */
static uint8_t secret[32];
static size_t longest;

static void *packets(void *mac) {
    static uint8_t context[ROOM], tag[16];
    const struct mac *ours = mac;
    ours->set_key(context, secret);
    nonce_of(ours, context, 16, message);
    for (size_t length = 1; length <= longest; length += 833) {
        ours->update(context, length, message);
        tag_of(ours, context, ours->tag, tag);
    }
    memset(context, 0, sizeof context);
    return NULL;
}

/* Checks that the stack of an ended thread contains no part of the key. */
static void forgotten(struct mac *mac) {
    enum { STACK = 1 << 20 };
    uint8_t *stack = aligned_alloc(4096, STACK), *left = malloc(STACK);
    /* Read through /proc, because valgrind refuses direct reads of an old stack. */
    int memory = open("/proc/self/mem", O_RDONLY);
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(stack != NULL && left != NULL && memory >= 0);
    memset(stack, 0, STACK);
    fill(secret, sizeof secret);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, packets, mac) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && pthread_attr_destroy(&attributes) == 0);
    CHECK(pread(memory, left, STACK, (off_t)(uintptr_t)stack) == STACK && close(memory) == 0);
    for (size_t part = 0; part < mac->key; part += 8) {
        CHECK(memmem(left, STACK, secret + part, 8) == NULL);
    }
    free(stack);
    free(left);
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
    static const char *const names[MACS] = {"umac32", "umac64", "umac96", "umac128", "poly1305_aes"};
    static const size_t tags[MACS] = {4, 8, 12, 16, 16};
    static const size_t rooms[MACS] = {sizeof(struct umac32_ctx), sizeof(struct umac64_ctx),
                                       sizeof(struct umac96_ctx), sizeof(struct umac128_ctx),
                                       sizeof(struct poly1305_aes_ctx)};
    struct mac nettle[MACS], ours[MACS];
    number *version, *size, *asyncssh_size;
    *(void **)&version = named(theirs, "version", "major");
    CHECK(version() == 3);
    *(void **)&version = named(library, "version", "major");
    CHECK(version() == 3 || version() == 4);
    for (int i = 0; i < MACS; i++) {
        nettle[i] = all_of(theirs, 3, names[i], tags[i]);
        ours[i] = all_of(library, version(), names[i], tags[i]);
        CHECK(nettle[i].update != ours[i].update);
        refused(&ours[i]);
        for (longest = 0; longest <= 5000; longest += 5000) {
            forgotten(&ours[i]);
        }
        *(void **)&size = named(library, names[i], "ctx_size");
        CHECK(size() > 0 && (size_t)size() <= rooms[i]);
        if (ours[i].set_nonce != NULL) {
            *(void **)&asyncssh_size = named(library, names[i], "_ctx_size");
            CHECK(asyncssh_size() == size());
        }
    }
    for (int i = 0; i < MACS * MACS; i++) {
        if (i / MACS != i % MACS) {
            foreign(&ours[i / MACS], &ours[i % MACS]);
        }
    }
    fill(message, MOST);
    size_t lives = 0;
    for (time_t end = time(NULL) + atoi(argv[3]); time(NULL) <= end || lives < 50; lives++) {
        live(&nettle[lives % MACS], &ours[lives % MACS], rooms[lives % MACS]);
    }
    printf("Nettle %d: %zu lives of a context\n", version(), lives);
    return 0;
}
