/* test_text_corpus.c - pairs of lines to batches: nothing lost, sorted, shuffled, resumable, the same from memory
 * and disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regard/reader.h"
#include "regard/text.h"

enum { WORDS = 26 };

/* Letters are words. */
static rg_vocab *letters(void)
{
    static char       names[WORDS][2];
    const char       *pieces[WORDS];
    rg_vocab         *vocab = NULL;
    for (int i = 0; i < WORDS; i++) {
        names[i][0] = (char)('a' + i);
        pieces[i] = names[i];
    }
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, WORDS), RG_OK);
    return vocab;
}

/* Pair n: a source and a target that can be told from n. */
static void make_pair(char source[80], char target[80], unsigned n)
{
    unsigned s = 1 + n * 7 % 19, t = 1 + n * 11 % 23;
    for (unsigned i = 0; i < s; i++) memcpy(source + 2 * i, (char[]){ (char)('a' + (n + i) % WORDS), ' ', 0 }, 3);
    for (unsigned i = 0; i < t; i++)
        memcpy(target + 2 * i, (char[]){ (char)('a' + (n / WORDS + 3 * i) % WORDS), ' ', 0 }, 3);
}

static rg_corpus *make_corpus(const rg_corpus_config *config, const rg_vocab *vocab, unsigned pairs)
{
    rg_corpus *corpus = NULL;
    assert_int_equal(rg_corpus_new(&corpus, config, vocab, vocab), RG_OK);
    for (unsigned n = 0; n < pairs; n++) {
        char source[80], target[80];
        make_pair(source, target, n);
        assert_int_equal(rg_corpus_add(corpus, source, target, n + 1), RG_OK);
    }
    assert_int_equal(rg_corpus_seal(corpus), RG_OK);
    return corpus;
}

/* The batch says what its lines say. */
static void check_batch(const rg_batch *b, const rg_vocab *vocab, bool source_eos)
{
    for (size_t g = 0; g < b->examples; g++) {
        char   source[80], target[80];
        rg_ids s = { 0 }, t = { 0 };
        make_pair(source, target, (unsigned)b->lines[g] - 1);
        assert_int_equal(rg_vocab_encode(&s, NULL, vocab, source, strlen(source)), RG_OK);
        assert_int_equal(rg_vocab_encode(&t, NULL, vocab, target, strlen(target)), RG_OK);
        if (source_eos) assert_int_equal(rg_ids_add(&s, rg_vocab_eos(vocab)), RG_OK);
        assert_int_equal(b->field[RG_SOURCE].layout.start[g + 1] - b->field[RG_SOURCE].layout.start[g], s.count);
        assert_int_equal(b->field[RG_TARGET].layout.start[g + 1] - b->field[RG_TARGET].layout.start[g], t.count + 1);
        assert_memory_equal(b->field[RG_SOURCE].ids + b->field[RG_SOURCE].layout.start[g], s.data, 4 * s.count);
        assert_memory_equal(b->field[RG_TARGET].ids + b->field[RG_TARGET].layout.start[g], t.data, 4 * t.count);
        assert_memory_equal(b->field[RG_TARGET].previous + b->field[RG_TARGET].layout.start[g] + 1, t.data,
                            4 * t.count);
        assert_int_equal(b->field[RG_TARGET].ids[b->field[RG_TARGET].layout.start[g + 1] - 1], rg_vocab_eos(vocab));
        assert_int_equal(b->field[RG_TARGET].previous[b->field[RG_TARGET].layout.start[g]], rg_vocab_bos(vocab));
        rg_ids_free(&s);
        rg_ids_free(&t);
    }
}

static const rg_corpus_config base = RG_CORPUS_CONFIG_DEFAULT;

static void an_epoch_has_every_pair_once(void **state)
{
    (void)state;
    rg_vocab *vocab = letters();
    for (int variant = 0; variant < 8; variant++) {
        unsigned         pairs = 1000 + (unsigned)variant;
        rg_corpus_config config = base;
        config.mini_batch = 16;
        config.mini_batch_words = variant & 1 ? 200 : 0;
        config.maxi_batch = variant & 2 ? 10 : 0;
        config.shuffle = variant & 4;
        config.source_eos = variant & 1;
        rg_corpus *corpus = make_corpus(&config, vocab, pairs);
        for (uint64_t epoch = 0; epoch < 2; epoch++) {
            unsigned char *seen = calloc(pairs, 1);
            unsigned       total = 0;
            rg_batch       b;
            bool           more;
            for (;;) {
                assert_int_equal(rg_corpus_next_in_epoch(&more, &b, corpus), RG_OK);
                if (!more) break;
                check_batch(&b, vocab, config.source_eos);
                if (config.mini_batch_words) assert_true(b.field[RG_TARGET].layout.start[b.examples] <= 200);
                assert_true(b.examples <= 16);
                for (size_t g = 0; g < b.examples; g++) {
                    assert_int_equal(seen[b.lines[g] - 1]++, 0);
                    if (!config.shuffle && !config.maxi_batch) assert_int_equal(b.lines[g], total + 1);
                    if (config.maxi_batch && g)
                        assert_true(b.field[RG_TARGET].layout.start[g + 1] - b.field[RG_TARGET].layout.start[g] >=
                                    b.field[RG_TARGET].layout.start[g] - b.field[RG_TARGET].layout.start[g - 1]);
                    total++;
                }
            }
            assert_int_equal(total, pairs);
            free(seen);
        }
        rg_corpus_free(corpus);
    }
    rg_vocab_free(vocab);
}

/* The largest and the smallest batch of an epoch, in pairs and in target pieces. */
typedef struct {
    size_t  batches, pairs_most, pairs_least;
    int32_t words_most, words_least;
} extremes;

static extremes measure_epoch(rg_corpus *corpus)
{
    extremes e = { .pairs_least = SIZE_MAX, .words_least = INT32_MAX };
    rg_batch b;
    bool     more;
    for (;; e.batches++) {
        assert_int_equal(rg_corpus_next_in_epoch(&more, &b, corpus), RG_OK);
        if (!more) return e;
        const int32_t words = b.field[RG_TARGET].layout.start[b.examples];
        if (b.examples > e.pairs_most) e.pairs_most = b.examples;
        if (b.examples < e.pairs_least) e.pairs_least = b.examples;
        if (words > e.words_most) e.words_most = words;
        if (words < e.words_least) e.words_least = words;
    }
}

static void pairs_and_pieces_limit_a_batch_together(void **state)
{
    (void)state;
    const struct {
        size_t pairs, words, maxi;
    } rows[] = { { 9, 200, 10 }, { 36, 150, 10 }, { 36, 100000, 0 }, { 0, 150, 10 }, { 1, 40, 3 } };
    rg_vocab *vocab = letters();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rg_corpus_config config = base;
        config.mini_batch = rows[i].pairs;
        config.mini_batch_words = rows[i].words;
        config.maxi_batch = rows[i].maxi;
        rg_corpus     *corpus = make_corpus(&config, vocab, 1000);
        const extremes e = measure_epoch(corpus);
        if (rows[i].pairs) assert_true(e.pairs_most <= rows[i].pairs);
        assert_true(e.words_most <= (int32_t)rows[i].words);
        assert_true(e.pairs_most == rows[i].pairs || (size_t)e.words_most + 30 > rows[i].words); /* and one of them is reached */
        rg_corpus_free(corpus);
    }
    rg_vocab_free(vocab);
}

/* No batch of the corpus is a small remainder, counted in pairs or in target pieces. */
static void check_remainders(const rg_vocab *vocab, unsigned pairs)
{
    rg_corpus_config config = base;
    config.mini_batch = 16;
    config.maxi_batch = 10;
    rg_corpus     *corpus = make_corpus(&config, vocab, pairs);
    const extremes e = measure_epoch(corpus);
    assert_true(e.pairs_most <= 16);
    assert_true(e.pairs_least >= (pairs < 8 ? pairs : 8));
    rg_corpus_free(corpus);
    config.mini_batch = 0;
    config.mini_batch_words = 300;
    corpus = make_corpus(&config, vocab, pairs);
    const extremes w = measure_epoch(corpus);
    assert_true(w.words_most <= 300);
    if (w.batches > 1) assert_true(w.words_least >= 100);
    rg_corpus_free(corpus);
}

/* 7 windows and one pair, or batches and one pair: what is left over is no batch of its own. */
static void what_is_left_over_is_shared_out_instead_of_being_a_small_batch(void **state)
{
    (void)state;
    static const unsigned beside[] = { 0, 1, 2, 7, 8, 9, 15, 16, 17, 80, 159 };
    rg_vocab             *vocab = letters();
    for (unsigned pairs = 1; pairs <= 160; pairs++) check_remainders(vocab, pairs);
    for (unsigned window = 160; window <= 1280; window += 160)
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) check_remainders(vocab, window + beside[i]);
    rg_vocab_free(vocab);
}

static void a_window_of_absurdly_many_batches_is_the_whole_corpus(void **state)
{
    (void)state;
    rg_vocab        *vocab = letters();
    rg_corpus_config config = base;
    config.mini_batch = config.maxi_batch = (size_t)1 << 32; /* their product is 0 in 64 bits */
    rg_corpus *corpus = make_corpus(&config, vocab, 50);
    assert_int_equal(measure_epoch(corpus).batches, 1);
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
}

/* A digest of the next n batches. */
static uint64_t digest(rg_corpus *corpus, int n)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        rg_batch b;
        assert_int_equal(rg_corpus_next(&b, NULL, corpus), RG_OK);
        for (size_t g = 0; g < b.examples; g++) sum = sum * 1000003 + b.lines[g];
        for (int32_t j = 0; j < b.field[RG_TARGET].layout.start[b.examples]; j++)
            sum = sum * 1000003 + (uint64_t)b.field[RG_TARGET].ids[j];
        for (int32_t j = 0; j < b.field[RG_SOURCE].layout.start[b.examples]; j++)
            sum = sum * 1000003 + (uint64_t)b.field[RG_SOURCE].ids[j];
    }
    return sum;
}

static void order_follows_from_seed_and_epoch(void **state)
{
    (void)state;
    rg_vocab        *vocab = letters();
    rg_corpus_config config = base, other = base;
    config.maxi_batch = 3;
    other.maxi_batch = 3;
    other.seed = 2;
    rg_corpus *a = make_corpus(&config, vocab, 900), *b = make_corpus(&config, vocab, 900),
              *c = make_corpus(&other, vocab, 900);
    uint64_t   first = digest(a, 15);
    assert_true(first == digest(b, 15));
    assert_true(first != digest(c, 15));
    assert_true(rg_corpus_tell(a).epoch == 1);
    assert_true(first != digest(a, 15)); /* the second epoch is another order */
    assert_true(rg_corpus_checksum(a) == rg_corpus_checksum(b));
    assert_true(rg_corpus_checksum(a) != rg_corpus_checksum(c));
    rg_corpus_free(a);
    rg_corpus_free(b);
    rg_corpus_free(c);
    rg_vocab_free(vocab);
}

/* Checkpoints hold the place and the checksum of a corpus: what these were, they stay. */
static void order_and_checksum_are_those_of_all_versions(void **state)
{
    (void)state;
    static const uint64_t known[16][2] = {
        { 0x725c9b34fb99a17eu, 0x3f97e3dbb1d7c367u },
        { 0xdfe02fef923e3a1fu, 0xdf28e2344ed3351au },
        { 0xb4c8e3d2b9ee9e80u, 0xc5cd91599cb6b6dbu },
        { 0x8470f3a726922699u, 0xb6872726502b165fu },
        { 0x19550805a6f92027u, 0xb0643b2ca68e0313u },
        { 0xdf6603ea1037e116u, 0x4dc13c447c566c69u },
        { 0x167c8d3034e7fc71u, 0xdf8feaee612b4d23u },
        { 0xf2cae4d78b7bdea8u, 0xcccabba4ff3de1fau },
        { 0x05ee0815eb5889c2u, 0x7934bc57b8b4f13cu },
        { 0x3f579554aa2cc433u, 0x085ca98a0c3a96d8u },
        { 0xc6ff5fa4f4c49ca4u, 0x35e44f0207013b58u },
        { 0xdd851beef6843a8du, 0xb0afe83530318c73u },
        { 0x99ae33e157ec1c9bu, 0x6b1e8809ab0b6674u },
        { 0x4fb95fbb7487eb5au, 0xaa6e39ca65d2c86au },
        { 0xb0cff3aaf849ae05u, 0x21e4ac74ad1c4b02u },
        { 0xcdeabd0d4804310cu, 0xc4b3750b18e92eb1u },
    };
    rg_vocab *vocab = letters();
    for (int variant = 0; variant < 16; variant++) {
        rg_corpus_config config = base;
        config.mini_batch = 16;
        config.mini_batch_words = variant & 1 ? 200 : 0;
        config.maxi_batch = variant & 2 ? 10 : 0;
        config.shuffle = variant & 4;
        config.source_eos = variant & 1;
        config.source_words = variant & 8 ? 100 : 0;
        rg_corpus *corpus = make_corpus(&config, vocab, 1000);
        assert_true(rg_corpus_checksum(corpus) == known[variant][0]);
        assert_true(digest(corpus, 150) == known[variant][1]);
        rg_corpus_free(corpus);
    }
    rg_vocab_free(vocab);
}

static void a_corpus_resumes_at_any_place(void **state)
{
    (void)state;
    rg_vocab        *vocab = letters();
    rg_corpus_config config = base;
    config.mini_batch_words = 150;
    config.maxi_batch = 2;
    rg_corpus *whole = make_corpus(&config, vocab, 500);
    for (int at = 0; at < 120; at += 7) { /* over more than an epoch's end */
        rg_corpus      *resumed = make_corpus(&config, vocab, 500);
        rg_corpus_place zero = { 0 };
        assert_int_equal(rg_corpus_seek(whole, zero), RG_OK);
        digest(whole, at);
        rg_corpus_place place = rg_corpus_tell(whole);
        assert_int_equal(rg_corpus_seek(resumed, place), RG_OK);
        assert_true(digest(whole, 20) == digest(resumed, 20));
        rg_corpus_free(resumed);
    }
    rg_corpus_place bad[] = { { .window = 1000 }, { .batch = 100000 } };
    for (int i = 0; i < 2; i++) assert_int_equal(rg_corpus_seek(whole, bad[i]), RG_EMATCH);
    rg_corpus_free(whole);
    rg_vocab_free(vocab);
}

static void a_corpus_larger_than_memory_gives_the_same_batches(void **state)
{
    (void)state;
    rg_vocab        *vocab = letters();
    rg_corpus_config config = base, small = base;
    config.maxi_batch = small.maxi_batch = 5;
    small.memory = 5000;
    small.temp = ".";
    rg_corpus *a = make_corpus(&config, vocab, 2000), *b = make_corpus(&small, vocab, 2000);
    rg_batch   x, y;
    assert_true(digest(a, 80) == digest(b, 80));
    for (uint64_t i = 0; i < 2000; i += 199) {
        assert_int_equal(rg_corpus_pair(&x, a, i), RG_OK);
        assert_int_equal(rg_corpus_pair(&y, b, i), RG_OK);
        assert_int_equal(x.lines[0], i + 1);
        assert_int_equal(y.lines[0], i + 1);
        check_batch(&y, vocab, true);
    }
    assert_int_equal(rg_corpus_pair(&x, a, 2000), RG_EINVAL);
    assert_int_equal(system("ls regard-corpus-* 2>/dev/null | grep -q ."), 256); /* no file is left */
    rg_corpus_free(a);
    rg_corpus_free(b);
    rg_vocab_free(vocab);
}

static void shares_of_a_batch_are_the_batch(void **state)
{
    (void)state;
    rg_vocab  *vocab = letters();
    rg_corpus *corpus = make_corpus(&base, vocab, 64);
    rg_batch   whole, part;
    int32_t    storage[2 * 65];
    assert_int_equal(rg_corpus_next(&whole, NULL, corpus), RG_OK);
    for (size_t shares = 1; shares < 70; shares += 3) {
        size_t pairs = 0;
        for (size_t k = 0; k < shares; k++) {
            rg_batch_share(&part, storage, &whole, k, shares);
            assert_int_equal(part.field[RG_SOURCE].layout.start[0], 0);
            assert_int_equal(part.field[RG_SOURCE].layout.first, whole.field[RG_SOURCE].layout.start[pairs]);
            assert_int_equal(part.field[RG_TARGET].layout.first, whole.field[RG_TARGET].layout.start[pairs]);
            check_batch(&part, vocab, true);
            if (part.examples) assert_int_equal(part.lines[0], whole.lines[pairs]);
            pairs += part.examples;
        }
        assert_int_equal(pairs, whole.examples);
    }
    rg_batch_share(&part, storage, &whole, 0, 2); /* balanced */
    int32_t tokens =
        part.field[RG_SOURCE].layout.start[part.examples] + part.field[RG_TARGET].layout.start[part.examples];
    int32_t all =
        whole.field[RG_SOURCE].layout.start[whole.examples] + whole.field[RG_TARGET].layout.start[whole.examples];
    assert_in_range(tokens, all / 2 - 1, all / 2 + 60);
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
}

static void write_file(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, bytes, file);
    fclose(file);
}

static void what_is_wrong_in_files_is_counted_with_lines(void **state)
{
    (void)state;
    static const char source[] = "a b\n\nc\nd e f g\na \xFF\nb\0 c\nz\n", target[] = "x\ny\n\nz\nx\ny\na b c d e\n";
    rg_vocab         *vocab = letters();
    rg_corpus        *corpus = NULL;
    rg_corpus_config  config = base;
    rg_text           text = { 0 };
    config.max_length = 3;
    write_file("corpus-a.txt", source, sizeof source - 1);
    write_file("corpus-b.txt", target, sizeof target - 1);
    assert_int_equal(rg_corpus_open(&corpus, &config, "corpus-a.txt", "corpus-b.txt", vocab, vocab), RG_OK);
    const rg_corpus_report *r = rg_corpus_counts(corpus);
    assert_int_equal(r->lines, 7);
    assert_int_equal(r->pairs, 3);
    assert_int_equal(r->empty.count, 2);
    assert_int_equal(r->empty.lines[1], 3);
    assert_int_equal(r->too_long.count, 2);
    assert_int_equal(r->too_long.lines[0], 4);
    assert_int_equal(r->too_long.lines[1], 7);
    assert_int_equal(r->bad_utf8.lines[0], 5);
    assert_int_equal(r->nul.lines[0], 6);
    assert_int_equal(rg_corpus_describe(&text, corpus), RG_OK);
    assert_non_null(strstr(text.data, "3 of 7 pairs"));
    assert_non_null(strstr(text.data, "2 too long, skipped (lines 4, 7)"));
    rg_corpus_free(corpus);
    corpus = NULL;

    config.max_length_crop = true;
    assert_int_equal(rg_corpus_open(&corpus, &config, "corpus-a.txt", "corpus-b.txt", vocab, vocab), RG_OK);
    assert_int_equal(rg_corpus_pairs(corpus), 5);
    assert_int_equal(rg_corpus_counts(corpus)->cropped.count, 2);
    rg_batch b;
    assert_int_equal(rg_corpus_pair(&b, corpus, 1), RG_OK);
    assert_int_equal(b.field[RG_SOURCE].layout.start[1], 4); /* three and </s> */
    rg_corpus_free(corpus);
    corpus = NULL;

    write_file("corpus-b.txt", target, sizeof target - 11);
    assert_int_equal(rg_corpus_open(&corpus, &config, "corpus-a.txt", "corpus-b.txt", vocab, vocab), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "corpus-a.txt has 7 lines and corpus-b.txt has 6"));
    write_file("corpus-b.txt", "\n\n", 2);
    assert_int_equal(rg_corpus_open(&corpus, &config, "corpus-b.txt", "corpus-b.txt", vocab, vocab), RG_EINVAL);
    assert_null(corpus);
    unlink("corpus-a.txt");
    unlink("corpus-b.txt");
    rg_text_free(&text);
    rg_vocab_free(vocab);
}

/* Blocks of 4,096 lines for each thread, faults in all of them. */
static void threads_that_encode_change_nothing(void **state)
{
    (void)state;
    rg_vocab *vocab = letters();
    FILE     *a = fopen("many.a", "wb"), *b = fopen("many.b", "wb");
    assert_non_null(a);
    assert_non_null(b);
    for (unsigned n = 0; n < 21000; n++) {
        char source[80], target[80];
        make_pair(source, target, n);
        fprintf(a, "%s\n", n % 1900 == 5 ? "" : n % 3000 == 8 ? "a \xFF b" : source);
        fprintf(b, "%s\n", target);
    }
    assert_int_equal(fclose(a), 0);
    assert_int_equal(fclose(b), 0);
    rg_corpus_config config = base;
    config.max_length = 22; /* some targets have 23 words */
    rg_corpus *one = NULL;
    assert_int_equal(rg_corpus_open(&one, &config, "many.a", "many.b", vocab, vocab), RG_OK);
    const uint64_t first = digest(one, 300);
    for (config.threads = 2; config.threads < 8; config.threads += 3) {
        rg_corpus *many = NULL;
        config.memory = config.threads == 5 ? 100000 : base.memory; /* and to a file */
        config.temp = ".";
        assert_int_equal(rg_corpus_open(&many, &config, "many.a", "many.b", vocab, vocab), RG_OK);
        assert_true(rg_corpus_checksum(many) == rg_corpus_checksum(one));
        assert_memory_equal(rg_corpus_counts(many), rg_corpus_counts(one), sizeof(rg_corpus_report));
        assert_true(digest(many, 300) == first);
        rg_corpus_free(many);
    }
    assert_int_equal(rg_corpus_counts(one)->empty.count, 12);
    assert_int_equal(rg_corpus_counts(one)->empty.lines[3], 5 + 3 * 1900 + 1);
    assert_int_equal(rg_corpus_counts(one)->bad_utf8.count, 7);
    assert_true(rg_corpus_counts(one)->too_long.count > 0);
    rg_corpus_free(one);
    rg_vocab_free(vocab);
}

static void tsv_and_one_sided_corpora_are_read(void **state)
{
    (void)state;
    rg_vocab  *vocab = letters();
    rg_corpus *corpus = NULL;
    rg_batch   b;
    const char *const      wanted[] = { "source", "target" };
    rg_reader_config pairs = RG_READER_CONFIG_DEFAULT;
    pairs.wanted = wanted;
    pairs.wanted_count = 2;
    write_file("corpus.tsv", "a b\tc\td\nx\ty z\r\n", 15);
    assert_int_equal(rg_corpus_open_table(&corpus, &base, "corpus.tsv", &pairs, vocab, vocab), RG_OK);
    assert_int_equal(rg_corpus_pairs(corpus), 2);
    assert_int_equal(rg_corpus_pair(&b, corpus, 0), RG_OK);
    assert_int_equal(b.field[RG_SOURCE].layout.start[1], 3);
    assert_int_equal(b.field[RG_TARGET].layout.start[1], 2);
    rg_corpus_free(corpus);
    corpus = NULL;
    write_file("corpus.tsv", "a b\tc\nno tab\n", 13);
    assert_int_equal(rg_corpus_open_table(&corpus, &base, "corpus.tsv", &pairs, vocab, vocab), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "line 2"));

    write_file("corpus.tsv", "a b\nc\n", 6);
    assert_int_equal(rg_corpus_open(&corpus, &base, NULL, "corpus.tsv", NULL, vocab), RG_OK);
    assert_int_equal(rg_corpus_next(&b, NULL, corpus), RG_OK);
    assert_int_equal(b.examples, 2);
    assert_int_equal(b.field[RG_SOURCE].layout.start[2], 0);
    assert_int_equal(b.field[RG_TARGET].layout.start[2], 5);
    rg_corpus_free(corpus);
    unlink("corpus.tsv");
    rg_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_has_every_pair_once),
        cmocka_unit_test(pairs_and_pieces_limit_a_batch_together),
        cmocka_unit_test(what_is_left_over_is_shared_out_instead_of_being_a_small_batch),
        cmocka_unit_test(a_window_of_absurdly_many_batches_is_the_whole_corpus),
        cmocka_unit_test(order_follows_from_seed_and_epoch),
        cmocka_unit_test(order_and_checksum_are_those_of_all_versions),
        cmocka_unit_test(a_corpus_resumes_at_any_place),
        cmocka_unit_test(a_corpus_larger_than_memory_gives_the_same_batches),
        cmocka_unit_test(shares_of_a_batch_are_the_batch),
        cmocka_unit_test(what_is_wrong_in_files_is_counted_with_lines),
        cmocka_unit_test(threads_that_encode_change_nothing),
        cmocka_unit_test(tsv_and_one_sided_corpora_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
