/* test_text_shards.c - a corpus of shards: nothing lost, shuffled, resumable; the same with a cache, without one,
 * with a damaged one and for any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/text/line_index.h"
#include "regard/text.h"
#include "support/faults.h"

enum { WORDS = 26,
       PAIRS = 900,
       SHARDS = 57 }; /* of 16 pairs */

static rg_vocab *letters(int count)
{
    static char names[WORDS][2];
    const char *pieces[WORDS];
    rg_vocab   *vocab = NULL;
    for (int i = 0; i < count; i++) {
        names[i][0] = (char)('a' + i);
        pieces[i] = names[i];
    }
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, (size_t)count), RG_OK);
    return vocab;
}

/* Every 50th pair has an empty source, every 70th a target that is too long. */
static void write_pairs(unsigned pairs, unsigned change)
{
    FILE *a = fopen("s.txt", "wb"), *b = fopen("t.txt", "wb");
    assert_non_null(a);
    assert_non_null(b);
    for (unsigned n = 0; n < pairs; n++) {
        const unsigned s = n % 50 == 7 ? 0 : 1 + n * 7 % 13, t = n % 70 == 9 ? 40 : 1 + n * 11 % 17;
        for (unsigned i = 0; i < s; i++) fprintf(a, "%c ", 'a' + (int)((n + i + change) % WORDS));
        for (unsigned i = 0; i < t; i++) fprintf(b, "%c ", 'a' + (int)((n / WORDS + 3 * i) % WORDS));
        fputc('\n', a);
        if (n + 1 < pairs) fputc('\n', b); /* a last line without its end */
    }
    assert_int_equal(fclose(a), 0);
    assert_int_equal(fclose(b), 0);
}

static rg_corpus_config settings(void)
{
    rg_corpus_config c = RG_CORPUS_CONFIG_DEFAULT;
    c.max_length = 30;
    c.mini_batch = 8;
    c.maxi_batch = 4;
    c.shards_above = 1;
    c.shard_pairs = 16;
    c.pool_shards = 5;
    c.cache = "";
    return c;
}

static rg_corpus *open_corpus(const rg_corpus_config *c, const rg_vocab *vocab)
{
    rg_corpus      *corpus = NULL;
    const rg_status status = rg_corpus_open(&corpus, c, "s.txt", "t.txt", vocab, vocab);
    if (status != RG_OK) print_error("%s\n", rg_message());
    assert_int_equal(status, RG_OK);
    return corpus;
}

/* Everything the next `batches` batches hold, as a number. */
static uint64_t digest(rg_corpus *corpus, int batches)
{
    uint64_t sum = 7;
    for (int k = 0; k < batches; k++) {
        rg_batch  b;
        bool      first;
        rg_status status = rg_corpus_next(&b, &first, corpus);
        if (status != RG_OK) print_error("%s\n", rg_message());
        assert_int_equal(status, RG_OK);
        sum = sum * 31 + first;
        for (size_t g = 0; g < b.examples; g++) sum = sum * 31 + b.lines[g];
        for (size_t f = 0; f < 2; f++)
            for (int32_t i = 0; i < b.field[f].layout.start[b.examples]; i++)
                sum = sum * 31 + (uint64_t)b.field[f].ids[i];
    }
    return sum;
}

static uint64_t digest_of(const rg_corpus_config *c, const rg_vocab *vocab, int batches)
{
    rg_corpus     *corpus = open_corpus(c, vocab);
    const uint64_t sum = digest(corpus, batches);
    rg_corpus_free(corpus);
    return sum;
}

enum { EPOCHS = 330 }; /* batches of some more than two epochs */

/* The caches that are there; their number. */
static size_t caches(char name[256])
{
    glob_t found;
    size_t count = 0;
    if (glob("*.encoded", 0, NULL, &found) == 0) {
        count = found.gl_pathc;
        snprintf(name, 256, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return count;
}

static void drop_caches(void)
{
    char name[256];
    while (caches(name)) assert_int_equal(unlink(name), 0);
}

static void an_epoch_of_shards_has_every_usable_pair_once(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    const rg_corpus_config c = settings();
    rg_corpus             *corpus = open_corpus(&c, vocab);
    for (int epoch = 0; epoch < 3; epoch++) {
        unsigned char seen[PAIRS] = { 0 };
        uint64_t      pairs = 0;
        double        part = 0;
        for (;;) {
            rg_batch b;
            bool     more;
            assert_int_equal(rg_corpus_next_in_epoch(&more, &b, corpus), RG_OK);
            if (!more) break;
            for (size_t g = 0; g < b.examples; g++) assert_int_equal(seen[b.lines[g] - 1]++, 0);
            pairs += b.examples;
            assert_true(rg_corpus_epoch_part(corpus) > part);
            part = rg_corpus_epoch_part(corpus);
        }
        assert_true(part == 1);
        for (unsigned n = 0; n < PAIRS; n++) assert_int_equal(seen[n], n % 50 != 7 && n % 70 != 9);
        const rg_corpus_report *r = rg_corpus_counts(corpus);
        assert_int_equal(pairs, r->pairs);
        assert_int_equal(r->lines, PAIRS);
        assert_int_equal(r->empty.count, 18);
        assert_int_equal(r->too_long.count, 13);
        assert_int_equal(r->empty.lines[0] % 50, 8);
    }
    rg_batch b;
    assert_int_equal(rg_corpus_pair(&b, corpus, 0), RG_EINVAL);
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
}

static void order_follows_from_seed_and_epoch_and_not_from_threads(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings(), other = c, threads = c;
    const uint64_t   one = digest_of(&c, vocab, EPOCHS);
    assert_true(one == digest_of(&c, vocab, EPOCHS));
    other.seed = 2;
    assert_true(one != digest_of(&other, vocab, EPOCHS));
    for (threads.threads = 2; threads.threads < 9; threads.threads += 3)
        assert_true(one == digest_of(&threads, vocab, EPOCHS));
    rg_corpus *corpus = open_corpus(&c, vocab);
    rg_batch   b;
    uint64_t   first[2] = { 0 };
    for (int epoch = 0; epoch < 2; epoch++)
        for (bool begins = false; !begins;) {
            assert_int_equal(rg_corpus_next(&b, &begins, corpus), RG_OK);
            first[epoch] = b.lines[0];
        }
    assert_true(first[0] != first[1]);
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
}

static void a_cache_changes_nothing_but_time(void **state)
{
    (void)state;
    char      name[256];
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings();
    const uint64_t   known = digest_of(&c, vocab, EPOCHS);
    c.cache = NULL; /* beside the target */
    rg_corpus *corpus = open_corpus(&c, vocab);
    (void)digest(corpus, 20);
    assert_int_equal(caches(name), 0); /* not before it is whole */
    rg_corpus_free(corpus);
    assert_int_equal(system("ls *.regard-tmp 2> /dev/null | grep -q ."), 256);
    assert_true(known == digest_of(&c, vocab, EPOCHS));
    assert_int_equal(caches(name), 1);
    assert_non_null(strstr(name, "t.txt."));
    corpus = open_corpus(&c, vocab);
    assert_int_equal(rg_corpus_pairs(corpus), PAIRS - 18 - 13); /* known before anything is encoded */
    assert_true(known == digest(corpus, EPOCHS));
    rg_corpus_free(corpus);
    c.mini_batch = 4; /* records do not depend on it */
    (void)digest_of(&c, vocab, 1);
    assert_int_equal(caches(name), 1);
    drop_caches();
    rg_vocab_free(vocab);
}

static void another_text_vocabulary_or_length_has_another_cache(void **state)
{
    (void)state;
    char      name[256];
    rg_vocab *vocab = letters(WORDS), *fewer = letters(WORDS - 1);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings();
    c.cache = ".";
    (void)digest_of(&c, vocab, EPOCHS);
    assert_int_equal(caches(name), 1);
    c.max_length = 20;
    (void)digest_of(&c, vocab, EPOCHS);
    assert_int_equal(caches(name), 2);
    (void)digest_of(&c, fewer, EPOCHS);
    assert_int_equal(caches(name), 3);
    write_pairs(PAIRS, 1);
    (void)digest_of(&c, vocab, EPOCHS);
    assert_int_equal(caches(name), 4);
    drop_caches();
    rg_vocab_free(vocab);
    rg_vocab_free(fewer);
}

static void change_byte(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    const int byte = fgetc(f);
    assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
    fputc(byte ^ 0x40, f);
    assert_int_equal(fclose(f), 0);
}

/* Records, table, note, trailer: magic, key, shards, table_at, bytes, sum. */
static void a_damaged_cache_is_made_anew(void **state)
{
    (void)state;
    char      name[256];
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings();
    const uint64_t   known = digest_of(&c, vocab, EPOCHS);
    c.cache = ".";
    const long places[] = { 0, 100, 5000, -1, -9, -17, -25, -33, -41, -48, -60, -700, -49 - 700 - 32 * 5 };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_true(known == digest_of(&c, vocab, EPOCHS));
        assert_int_equal(caches(name), 1);
        change_byte(name, places[i]);
        assert_true(known == digest_of(&c, vocab, EPOCHS)); /* another is whole after it */
        assert_true(known == digest_of(&c, vocab, EPOCHS));
        rg_corpus *corpus = open_corpus(&c, vocab);
        assert_int_equal(rg_corpus_pairs(corpus), PAIRS - 18 - 13); /* it is: counts are known */
        rg_corpus_free(corpus);
    }
    for (long bytes = 0; bytes < 4000; bytes += 1111) {
        assert_int_equal(truncate(name, bytes), 0);
        assert_true(known == digest_of(&c, vocab, EPOCHS));
    }
    drop_caches();
    rg_vocab_free(vocab);
}

/* Damage that is found in the middle of an epoch. */
static void a_cache_that_is_damaged_while_it_is_read_is_made_anew(void **state)
{
    (void)state;
    char      name[256];
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings();
    const uint64_t   known = digest_of(&c, vocab, EPOCHS);
    c.cache = ".";
    (void)digest_of(&c, vocab, EPOCHS);
    rg_corpus *corpus = open_corpus(&c, vocab);
    assert_int_equal(caches(name), 1);
    for (long at = 8; at < 20000; at += 200) change_byte(name, at);
    assert_true(known == digest(corpus, EPOCHS));
    assert_int_equal(caches(name), 1);
    rg_corpus_free(corpus);
    assert_true(known == digest_of(&c, vocab, EPOCHS));
    drop_caches();
    rg_vocab_free(vocab);
}

typedef struct {
    rg_corpus_config config;
    const rg_vocab  *vocab;
    uint64_t         known;
} scenario;

/* One pass over an epoch and more; RG_OK only with the right batches. */
static rg_status pass(void *context)
{
    scenario  *s = context;
    rg_corpus *corpus = NULL;
    uint64_t   sum = 7;
    rg_status  status = rg_corpus_open(&corpus, &s->config, "s.txt", "t.txt", s->vocab, s->vocab);
    for (int k = 0; status == RG_OK && k < 40; k++) {
        rg_batch b;
        if ((status = rg_corpus_next(&b, NULL, corpus)) != RG_OK) break;
        for (size_t g = 0; g < b.examples; g++) sum = sum * 31 + b.lines[g];
    }
    rg_corpus_free(corpus);
    if (status == RG_OK && s->known) assert_true(sum == s->known);
    if (status == RG_OK) s->known = sum;
    return status;
}

static void what_is_left_is_good(void *context, rg_status status)
{
    scenario *s = context;
    (void)status;
    assert_int_equal(pass(s), RG_OK); /* whatever cache was left: the right batches */
    drop_caches();
}

/* A full disk, an unreadable one: reading the text fails the run, the cache never does. */
static void every_failed_file_call_is_told_or_tolerated(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(200, 0);
    scenario s = { settings(), vocab, 0 };
    s.config.cache = ".";
    assert_int_equal(pass(&s), RG_OK);
    drop_caches();
    faults_no_sync();
    for (size_t nth = 1;; nth++) {
        const size_t step = getenv("CAMPAIGN") ? 1 : 5;
        faults_fail_file(nth, nth % 2 ? ENOSPC : EIO, nth % 4 < 2);
        const rg_status status = pass(&s);
        const bool      over = faults_file_calls() < nth;
        faults_off();
        assert_true(status == RG_OK || status == RG_EIO);
        what_is_left_is_good(&s, status);
        if (over) break;
        nth += step - 1;
    }
    rg_vocab_free(vocab);
}

static void every_failed_allocation_is_told_or_tolerated(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(60, 0);
    scenario s = { settings(), vocab, 0 };
    s.config.cache = ".";
    assert_int_equal(pass(&s), RG_OK);
    drop_caches();
    faults_every_alloc(pass, &s, what_is_left_is_good, true);
    rg_vocab_free(vocab);
}

static ssize_t no_room(void *context, int fd, const void *bytes, size_t count)
{
    (void)context, (void)fd, (void)bytes, (void)count;
    errno = ENOSPC;
    return -1;
}

static void a_full_disk_costs_the_cache_and_nothing_else(void **state)
{
    (void)state;
    char      name[256];
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings();
    const uint64_t   known = digest_of(&c, vocab, EPOCHS);
    c.cache = ".";
    rg_file_calls full = *rg_base__file_calls_real();
    full.write = no_room;
    rg_base__seam_file(&full);
    assert_true(known == digest_of(&c, vocab, EPOCHS));
    rg_base__seam_file(NULL);
    assert_int_equal(caches(name), 0);
    assert_int_equal(system("ls *.regard-tmp 2> /dev/null | grep -q ."), 256);
    c.cache = "no/such/directory";
    assert_true(known == digest_of(&c, vocab, EPOCHS));
    assert_int_equal(caches(name), 0);
    rg_vocab_free(vocab);
}

static void two_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    char      name[256];
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings();
    const uint64_t   known = digest_of(&c, vocab, EPOCHS), third = digest_of(&c, vocab, 20);
    c.cache = ".";
    rg_corpus *a = open_corpus(&c, vocab), *b = open_corpus(&c, vocab); /* b finds the file of a in the making */
    assert_true(third == digest(a, 20));
    assert_true(known == digest(b, EPOCHS));
    assert_int_equal(caches(name), 0);
    assert_int_equal(rg_corpus_seek(a, (rg_corpus_place){ 0 }), RG_OK);
    assert_true(known == digest(a, EPOCHS));
    assert_int_equal(caches(name), 1);
    rg_corpus *d = open_corpus(&c, vocab);
    assert_true(known == digest(d, EPOCHS));
    rg_corpus_free(a);
    rg_corpus_free(b);
    rg_corpus_free(d);
    drop_caches();
    rg_vocab_free(vocab);
}

static void a_corpus_of_shards_resumes_at_any_place(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    rg_corpus_config c = settings();
    c.cache = ".";
    rg_corpus *whole = open_corpus(&c, vocab);
    for (int at = 0; at < EPOCHS; at += 13) { /* the cache becomes whole on the way */
        assert_int_equal(rg_corpus_seek(whole, (rg_corpus_place){ 0 }), RG_OK);
        (void)digest(whole, at);
        rg_corpus            *resumed = open_corpus(&c, vocab);
        const rg_corpus_place place = rg_corpus_tell(whole);
        assert_true(rg_corpus_checksum(whole) == rg_corpus_checksum(resumed));
        assert_int_equal(rg_corpus_seek(resumed, place), RG_OK);
        assert_true(digest(whole, 30) == digest(resumed, 30));
        rg_corpus_free(resumed);
    }
    const rg_corpus_place bad[] = { { .window = (uint64_t)1000 << 32 }, { .window = 1000 }, { .batch = 100000 } };
    for (int i = 0; i < 3; i++) assert_int_equal(rg_corpus_seek(whole, bad[i]), RG_EMATCH);
    rg_corpus_free(whole);
    drop_caches();
    rg_vocab_free(vocab);
}

/* The end of an epoch is part of the place: each is reported once. */
static void ends_of_epochs_are_told_once_also_when_resumed(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(100, 0);
    const rg_corpus_config c = settings();
    rg_corpus             *whole = open_corpus(&c, vocab);
    int                    ends = 0;
    for (int k = 0; k < 60; k++) {
        rg_batch   b;
        bool       more;
        rg_corpus *resumed = open_corpus(&c, vocab);
        assert_int_equal(rg_corpus_seek(resumed, rg_corpus_tell(whole)), RG_OK);
        rg_corpus_free(whole);
        whole = resumed;
        assert_int_equal(rg_corpus_next_in_epoch(&more, &b, whole), RG_OK);
        ends += !more;
    }
    assert_int_equal(ends, 60 / 14); /* 13 batches and their end */
    rg_corpus_free(whole);
    rg_vocab_free(vocab);
}

static bool count_down(void *context, uint64_t lines)
{
    (void)lines;
    return --*(int *)context != 0;
}

static void a_load_that_is_stopped_can_be_repeated(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    int                 left = 1 << 30;
    const rg_read_watch watch = { count_down, &left };
    rg_corpus_config    c = settings();
    const uint64_t      known = digest_of(&c, vocab, 100);
    c.watch = &watch;
    c.threads = 2;
    rg_corpus *corpus = open_corpus(&c, vocab);
    rg_batch   b;
    left = 1;
    assert_int_equal(rg_corpus_next(&b, NULL, corpus), RG_ESTOP);
    left = 3; /* the watch is asked at least once for each shard */
    rg_status status = RG_OK;
    for (int k = 0; k < 60 && status == RG_OK; k++) status = rg_corpus_next(&b, NULL, corpus);
    assert_int_equal(status, RG_ESTOP);
    const rg_corpus_place place = rg_corpus_tell(corpus);
    left = 1 << 30;
    assert_int_equal(rg_corpus_seek(corpus, (rg_corpus_place){ 0 }), RG_OK);
    assert_true(known == digest(corpus, 100));
    assert_int_equal(rg_corpus_seek(corpus, place), RG_OK);
    assert_int_equal(rg_corpus_next(&b, NULL, corpus), RG_OK);
    left = 1;
    rg_corpus *none = NULL;
    assert_int_equal(rg_corpus_open(&none, &c, "s.txt", "t.txt", vocab, vocab), RG_ESTOP);
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
}

static void files_that_do_not_fit_or_change_are_refused(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(PAIRS, 0);
    const rg_corpus_config c = settings();
    rg_corpus             *corpus = open_corpus(&c, vocab), *none = NULL;
    rg_batch               b;
    (void)digest(corpus, 2);
    change_byte("s.txt", 3000);
    rg_status status = RG_OK;
    for (int k = 0; k < EPOCHS && status == RG_OK; k++) status = rg_corpus_next(&b, NULL, corpus);
    assert_int_equal(status, RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "s.txt"));
    rg_corpus_free(corpus);
    FILE *f = fopen("s.txt", "ab");
    assert_non_null(f);
    fputs("a b\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rg_corpus_open(&none, &c, "s.txt", "t.txt", vocab, vocab), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "901"));
    assert_non_null(strstr(rg_message(), "900"));
    assert_int_equal(system("yes '' | head -n 900 > s.txt"), 0);
    corpus = open_corpus(&c, vocab);
    assert_int_equal(rg_corpus_next(&b, NULL, corpus), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "no usable pair"));
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
}

static void packed_and_small_files_are_read_as_before(void **state)
{
    (void)state;
    rg_vocab *vocab = letters(WORDS);
    write_pairs(100, 0);
    rg_corpus_config c = settings(), plain = c;
    plain.shards_above = 0;
    c.shards_above = 1 << 20;
    assert_true(digest_of(&c, vocab, 40) == digest_of(&plain, vocab, 40));
    c.shards_above = 1;
    assert_true(digest_of(&c, vocab, 40) != digest_of(&plain, vocab, 40));
    assert_int_equal(system("gzip -kf s.txt t.txt"), 0);
    rg_corpus *packed = NULL, *whole = open_corpus(&plain, vocab);
    assert_int_equal(rg_corpus_open(&packed, &c, "s.txt.gz", "t.txt.gz", vocab, vocab), RG_OK);
    assert_true(rg_corpus_checksum(packed) == rg_corpus_checksum(whole));
    assert_true(digest(packed, 40) == digest(whole, 40));
    rg_corpus_free(packed);
    rg_corpus_free(whole);
    rg_vocab_free(vocab);
}

static void parts_of_an_index_are_the_file(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "\n", "a", "a\n", "a\nb", "a\n\n\nb\nc\n", "a\nb\nc\nd\ne\nf\ng\nh" };
    static const uint64_t    lines[] = { 0, 1, 1, 1, 2, 5, 8 };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (uint64_t every = 1; every < 5; every++) {
            rg_line_index index;
            rg_text       all = { 0 }, part = { 0 };
            assert_int_equal(rg_file_replace("index.txt", texts[i], strlen(texts[i])), RG_OK);
            assert_int_equal(rg_line_index_make(&index, "index.txt", every, NULL), RG_OK);
            assert_int_equal(index.lines, lines[i]);
            assert_int_equal(index.parts, (lines[i] + every - 1) / every);
            for (size_t p = 0; p < index.parts; p++) {
                assert_int_equal(rg_line_index_read(&part, &index, p), RG_OK);
                assert_int_equal(rg_text_add(&all, part.data, part.length), RG_OK);
            }
            assert_string_equal(rg_text_c(&all), texts[i]);
            rg_line_index_free(&index);
            rg_text_free(&all);
            rg_text_free(&part);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_of_shards_has_every_usable_pair_once),
        cmocka_unit_test(order_follows_from_seed_and_epoch_and_not_from_threads),
        cmocka_unit_test(a_cache_changes_nothing_but_time),
        cmocka_unit_test(another_text_vocabulary_or_length_has_another_cache),
        cmocka_unit_test(a_damaged_cache_is_made_anew),
        cmocka_unit_test(a_cache_that_is_damaged_while_it_is_read_is_made_anew),
        cmocka_unit_test(every_failed_file_call_is_told_or_tolerated),
        cmocka_unit_test(every_failed_allocation_is_told_or_tolerated),
        cmocka_unit_test(a_full_disk_costs_the_cache_and_nothing_else),
        cmocka_unit_test(two_at_once_do_not_disturb_each_other),
        cmocka_unit_test(a_corpus_of_shards_resumes_at_any_place),
        cmocka_unit_test(ends_of_epochs_are_told_once_also_when_resumed),
        cmocka_unit_test(a_load_that_is_stopped_can_be_repeated),
        cmocka_unit_test(files_that_do_not_fit_or_change_are_refused),
        cmocka_unit_test(packed_and_small_files_are_read_as_before),
        cmocka_unit_test(parts_of_an_index_are_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
