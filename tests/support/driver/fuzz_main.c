/* fuzz_main.c - drives a libFuzzer target without libFuzzer: each file of the corpus, then seeded mutations of them.
 *
 *     fuzz_NAME [--seed S] [--runs N] [--seconds T] [--corpus DIR] [FILE...]      FILEs are run once each, to repeat a failure
 *     fuzz_NAME --corpus DIR --write-seeds NEW                                    all seeds as files of NEW, for libFuzzer
 *
 * The input is handed over in a block of exactly its size, so that the address sanitizer sees one byte too many. The
 * input under test is kept in fuzz_NAME.input while it runs; a crash, or a run of more than a minute, leaves it there.
 * Runs end after
 * --runs (2000) or --seconds, whichever comes first. A target may define fuzz_seed() to make seeds in code. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Optional: write seed number `index` to `bytes` and return its size, 0 when there are no more. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index) __attribute__((weak));

enum { LARGEST = 1 << 16, SEEDS = 256, LONGEST_RUN = 60 /* seconds */ };

typedef struct input {
    uint8_t *bytes;
    size_t   count;
} input;

static input  seeds[SEEDS];
static size_t seed_count;
static char   keep[256];
static int    keep_fd = -1;

static uint64_t draw(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t bound)
{
    return (size_t)(draw(state) % bound);
}

static void add_seed(const uint8_t *bytes, size_t count)
{
    if (seed_count == SEEDS) return;
    uint8_t *copy = malloc(count + 1);
    if (!copy) exit(1);
    memcpy(copy, bytes, count);
    seeds[seed_count++] = (input){copy, count};
}

static int read_file(const char *path)
{
    static uint8_t buffer[LARGEST];
    FILE          *file = fopen(path, "rb");
    if (!file) return -1;
    size_t count = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    add_seed(buffer, count);
    return 0;
}

static void read_corpus(const char *folder)
{
    struct dirent **names = NULL;
    int             count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.') read_file(path);
        free(names[i]);
    }
    free(names);
}

static void run(const uint8_t *bytes, size_t count)
{
    uint8_t *exact = malloc(count ? count : 1);
    if (!exact) exit(1);
    memcpy(exact, bytes, count);
    if (pwrite(keep_fd, bytes, count, 0) != (ssize_t)count || ftruncate(keep_fd, (off_t)count) != 0) exit(1);
    alarm(LONGEST_RUN);
    LLVMFuzzerTestOneInput(exact, count);
    alarm(0);
    free(exact);
}

/* One small change: a bit, a byte, an interesting byte, a number, a cut, a piece removed, repeated or taken from
 * another seed. */
static size_t mutate(uint8_t *bytes, size_t count, uint64_t *state)
{
    static const uint8_t special[] = { 0,   1,    0x7f, 0x80, 0xff, '"',  '{', '}', '[',
                                       ']', '\n', '\r', '-',  '9',  '\\', ',', ':' };
    size_t               at = count ? below(state, count) : 0;
    size_t               run_length = count ? 1 + below(state, count - at < 32 ? count - at : 32) : 0;

    switch (below(state, 9)) {
    case 0: if (count) bytes[at] ^= (uint8_t)(1u << below(state, 8)); break;
    case 1: if (count) bytes[at] = (uint8_t)draw(state); break;
    case 2: if (count) bytes[at] = special[below(state, sizeof special)]; break;
    case 3: return at;
    case 4:
        memmove(bytes + at, bytes + at + run_length, count - at - run_length);
        return count - run_length;
    case 5:
        if (count + run_length > LARGEST) break;
        memmove(bytes + at + run_length, bytes + at, count - at);
        return count + run_length;
    case 6: /* a little-endian number: lengths live there */
        for (size_t i = 0, n = draw(state) & 1 ? 8 : 4, v = (size_t)(draw(state) >> below(state, 64));
             i < n && at + i < count; i++)
            bytes[at + i] = (uint8_t)(v >> 8 * i);
        break;
    case 7: {
        const input *other = &seeds[below(state, seed_count)];
        if (!other->count || !count) break;
        size_t from = below(state, other->count);
        for (size_t i = 0; i < run_length && from + i < other->count; i++) bytes[at + i] = other->bytes[from + i];
        break;
    }
    default:
        if (count == LARGEST) break;
        memmove(bytes + at + 1, bytes + at, count - at);
        bytes[at] = special[below(state, sizeof special)];
        return count + 1;
    }
    return count;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int write_seeds(const char *folder)
{
    mkdir(folder, 0777);
    for (size_t i = 0; i < seed_count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/seed-%zu", folder, i);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(seeds[i].bytes, 1, seeds[i].count, file) != seeds[i].count || fclose(file)) return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static uint8_t buffer[LARGEST];
    const char    *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0], *seed_folder = NULL;
    uint64_t       seed = 1, runs = 0, done = 0;
    double         seconds = 0, began = now();
    size_t         files = 0;

    snprintf(keep, sizeof keep, "%.200s.input", name);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc) seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--runs") && i + 1 < argc) runs = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) seconds = strtod(argv[++i], NULL);
        else if (!strcmp(argv[i], "--write-seeds") && i + 1 < argc) seed_folder = argv[++i];
        else if (!strcmp(argv[i], "--corpus") && i + 1 < argc) read_corpus(argv[++i]);
        else if (files++, read_file(argv[i]) < 0) return fprintf(stderr, "%s: cannot read %s\n", name, argv[i]), 2;
    }
    if (!runs) runs = seconds > 0 ? UINT64_MAX : 2000;
    if (files) runs = 0;
    if ((keep_fd = open(keep, O_RDWR | O_CREAT | O_TRUNC, 0666)) < 0) return perror(keep), 2;
    for (unsigned i = 0; !files && fuzz_seed; i++) {
        size_t count = fuzz_seed(buffer, sizeof buffer, i);
        if (!count) break;
        add_seed(buffer, count);
    }
    if (seed_folder) return remove(keep), write_seeds(seed_folder);
    for (size_t i = 0; i < seed_count; i++) run(seeds[i].bytes, seeds[i].count);
    if (!seed_count) add_seed((const uint8_t *)"", 0);

    uint64_t state = seed;
    for (; done < runs && (!(seconds > 0) || now() - began < seconds); done++) {
        const input *from = &seeds[below(&state, seed_count)];
        size_t       count = from->count;
        memcpy(buffer, from->bytes, count);
        for (size_t changes = 1 + below(&state, 4); changes; changes--) count = mutate(buffer, count, &state);
        run(buffer, count);
    }
    printf("%s --seed %llu: %zu seeds, %llu runs\n", name, (unsigned long long)seed, seed_count,
           (unsigned long long)done);
    close(keep_fd);
    remove(keep);
    for (size_t i = 0; i < seed_count; i++) free(seeds[i].bytes);
    return 0;
}
