/* test_examples.c - stores of examples of every kind: what a batch holds, order, resuming, memory and disk, shares,
 * names, bad cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regard/examples.h"
#include "support/faults.h"

enum { FIELDS = 7, EXAMPLES = 200, CLASSES = 12 };

/* One field of each kind. */
typedef struct {
    rg_vocab     *vocab;
    rg_names     *names;
    rg_field_spec spec[FIELDS];
} world;

static rg_status open_world(world *w)
{
    static const char *const pieces[] = { "a", "b", "c", "d", "e" };
    static const char *const names[] = { "c3", "c1", "c2", "c0", "c4", "c5", "c9", "c8", "c7", "c6", "ca", "cb" };
    *w = (world){ 0 };
    RG_TRY(rg_vocab_from_pieces(&w->vocab, RG_VOCAB_WORDS, pieces, 5));
    RG_TRY(rg_names_new(&w->names, names, CLASSES));
    const rg_field_spec specs[FIELDS] = {
        { .name = "text", .kind = RG_FIELD_IDS, .vocab = w->vocab, .predicted = true, .max_rows = 20 },
        { .name = "label", .kind = RG_FIELD_CLASS, .names = w->names, .optional = true },
        { .name = "numbers", .kind = RG_FIELD_NUMBERS, .width = 3 },
        { .name = "counts", .kind = RG_FIELD_COUNTS, .width = 100 },
        { .name = "picture", .kind = RG_FIELD_PIXELS, .width = 1 },
        { .name = "set", .kind = RG_FIELD_SET, .names = w->names },
        { .name = "rest", .kind = RG_FIELD_IDS, .vocab = w->vocab, .optional = true },
    };
    memcpy(w->spec, specs, sizeof specs);
    return RG_OK;
}

static void close_world(world *w)
{
    rg_vocab_free(w->vocab);
    rg_names_free(w->names);
}

/* Example n: cells that can be told from n. */
typedef struct {
    char    text[100], label[8], numbers[40], counts[60], pixels[40], set[40];
    rg_cell cells[FIELDS];
} example;

static void make_example(example *e, unsigned n)
{
    const unsigned words = 1 + n * 7 % 13, height = 1 + n % 3, width = 2 + n % 2;
    for (unsigned i = 0; i < words; i++) sprintf(e->text + 2 * i, "%c ", "abcdez"[(n + i) % 6]);
    sprintf(e->label, "c%x", n % CLASSES);
    sprintf(e->numbers, "%u %u.5 -%u", n, n, n);
    sprintf(e->counts, "%u:1 %u:2.5 99:3", n % 30, 30 + n % 60);
    sprintf(e->set, "c%x|c1 | c%x", (n + 5) % CLASSES, n % CLASSES);
    for (unsigned i = 0; i < height * width; i++) e->pixels[i] = (char)(n + i);
    memset(e->cells, 0, sizeof e->cells);
    const char *const text[FIELDS] = { e->text, e->label, e->numbers, e->counts, NULL, e->set, "" };
    for (int f = 0; f < FIELDS; f++)
        if (text[f]) e->cells[f] = (rg_cell){ .bytes = text[f], .count = strlen(text[f]) };
    e->cells[1].missing = n % 5 == 0; /* unlabelled */
    e->cells[4] =
        (rg_cell){ .bytes = e->pixels, .count = height * width, .height = height, .width = width, .channels = 1 };
    e->cells[6].missing = true;
}

static rg_status fill(rg_examples **out, const rg_examples_config *config, const world *w, unsigned count)
{
    rg_status status = rg_examples_new(out, config, w->spec, FIELDS);
    for (unsigned n = 0; n < count && status == RG_OK; n++) {
        example e;
        make_example(&e, n);
        status = rg_examples_add(*out, e.cells, n + 1);
    }
    return status == RG_OK ? rg_examples_seal(*out) : status;
}

static rg_examples *make_store(const rg_examples_config *config, const world *w)
{
    rg_examples *store = NULL;
    rg_status    status = fill(&store, config, w, EXAMPLES);
    if (status != RG_OK) print_error("%s\n", rg_message());
    assert_int_equal(status, RG_OK);
    return store;
}

static size_t rows_of(const rg_field *f, size_t g)
{
    return (size_t)(f->layout.start[g + 1] - f->layout.start[g]);
}

/* Every example of the batch says what its line says. */
static void check_batch(const rg_batch *b, const world *w)
{
    assert_int_equal(b->fields, FIELDS);
    for (size_t g = 0; g < b->examples; g++) {
        const unsigned  n = (unsigned)b->lines[g] - 1;
        const rg_field *f = b->field;
        example         e;
        rg_ids          ids = { 0 };
        make_example(&e, n);
        assert_int_equal(rg_vocab_encode(&ids, NULL, w->vocab, e.text, strlen(e.text)), RG_OK);
        assert_int_equal(rows_of(&f[0], g), ids.count + 1);
        assert_memory_equal(f[0].ids + f[0].layout.start[g], ids.data, 4 * ids.count);
        assert_memory_equal(f[0].previous + f[0].layout.start[g] + 1, ids.data, 4 * ids.count);
        assert_int_equal(f[0].previous[f[0].layout.start[g]], rg_vocab_bos(w->vocab));
        assert_int_equal(f[0].ids[f[0].layout.start[g + 1] - 1], rg_vocab_eos(w->vocab));
        rg_ids_free(&ids);

        assert_int_equal(rows_of(&f[1], g), n % 5 != 0);
        if (n % 5) assert_int_equal(f[1].ids[f[1].layout.start[g]], n % CLASSES);

        const rg_real *numbers = f[2].values + 3 * (size_t)f[2].layout.start[g];
        assert_true(numbers[0] == (rg_real)n && numbers[1] == (rg_real)n + (rg_real)0.5 && numbers[2] == -(rg_real)n);

        const int32_t c = f[3].layout.start[g];
        assert_int_equal(rows_of(&f[3], g), 3);
        assert_int_equal(f[3].width, 1);
        assert_int_equal(f[3].ids[c], n % 30);
        assert_int_equal(f[3].ids[c + 1], 30 + n % 60);
        assert_true(f[3].values[c + 1] == (rg_real)2.5 && f[3].values[c + 2] == 3);

        assert_int_equal(f[4].size[2 * g], 1 + n % 3);
        assert_int_equal(f[4].size[2 * g + 1], 2 + n % 2);
        assert_int_equal(rows_of(&f[4], g), (1 + n % 3) * (2 + n % 2));
        for (size_t i = 0; i < rows_of(&f[4], g); i++)
            assert_true(f[4].values[(size_t)f[4].layout.start[g] + i] == (rg_real)(unsigned char)(n + i) / 255);

        for (size_t i = 1; i < rows_of(&f[5], g); i++)
            assert_true(f[5].ids[f[5].layout.start[g] + (int32_t)i] > f[5].ids[f[5].layout.start[g] + (int32_t)i - 1]);
        assert_in_range(rows_of(&f[5], g), 2, 3);
        assert_int_equal(rows_of(&f[6], g), 0);
    }
}

static void an_epoch_has_every_example_once_within_its_limits(void **state)
{
    (void)state;
    world w;
    assert_int_equal(open_world(&w), RG_OK);
    for (int variant = 0; variant < 8; variant++) {
        rg_examples_config config = RG_EXAMPLES_CONFIG_DEFAULT;
        config.batch = variant & 1 ? 0 : 16;
        config.window = variant & 2 ? 3 : 0;
        config.shuffle = variant & 4;
        w.spec[0].batch_rows = variant & 1 ? 60 : 0;
        rg_examples *store = make_store(&config, &w);
        for (int epoch = 0; epoch < 2; epoch++) {
            unsigned char seen[EXAMPLES] = { 0 };
            unsigned      total = 0;
            rg_batch     b;
            for (bool more;;) {
                assert_int_equal(rg_examples_next_in_epoch(&more, &b, store), RG_OK);
                if (!more) break;
                check_batch(&b, &w);
                if (variant & 1) assert_true(b.field[0].layout.start[b.examples] <= 60);
                else assert_true(b.examples <= 16);
                for (size_t g = 0; g < b.examples; g++, total++) {
                    assert_int_equal(seen[b.lines[g] - 1]++, 0);
                    if (!config.shuffle && !config.window) assert_int_equal(b.lines[g], total + 1);
                }
            }
            assert_int_equal(total, EXAMPLES);
        }
        rg_examples_free(store);
    }
    close_world(&w);
}

/* A digest of all numbers of the next n batches. */
static uint64_t digest(rg_examples *store, int n)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        rg_batch b;
        assert_int_equal(rg_examples_next(&b, NULL, store), RG_OK);
        for (size_t g = 0; g < b.examples; g++) sum = sum * 1000003 + b.lines[g];
        for (size_t f = 0; f < b.fields; f++) {
            const rg_field *field = &b.field[f];
            const size_t    rows = (size_t)field->layout.start[b.examples];
            for (size_t j = 0; field->ids && j < rows; j++) sum = sum * 1000003 + (uint64_t)field->ids[j];
            for (size_t j = 0; field->values && j < rows * field->width; j++)
                sum = sum * 1000003 + (uint64_t)((double)field->values[j] * 4096);
        }
    }
    return sum;
}

static void a_store_resumes_after_every_batch(void **state)
{
    (void)state;
    world              w;
    rg_examples_config config = RG_EXAMPLES_CONFIG_DEFAULT;
    assert_int_equal(open_world(&w), RG_OK);
    config.batch = 16;
    config.window = 3;
    rg_examples *whole = make_store(&config, &w), *resumed = make_store(&config, &w);
    for (int at = 0; at < 30; at++) { /* over the ends of two epochs */
        const rg_place zero = { 0 };
        assert_int_equal(rg_examples_seek(whole, zero), RG_OK);
        (void)digest(whole, at);
        assert_int_equal(rg_examples_seek(resumed, rg_examples_tell(whole)), RG_OK);
        assert_true(digest(whole, 5) == digest(resumed, 5));
    }
    const rg_place bad[] = { { .window = 1000 }, { .batch = 1000 } };
    for (int i = 0; i < 2; i++) assert_int_equal(rg_examples_seek(whole, bad[i]), RG_EMATCH);
    rg_examples_free(whole);
    rg_examples_free(resumed);
    close_world(&w);
}

static void a_store_larger_than_memory_gives_the_same_bits(void **state)
{
    (void)state;
    world              w;
    rg_examples_config config = RG_EXAMPLES_CONFIG_DEFAULT, small = RG_EXAMPLES_CONFIG_DEFAULT;
    assert_int_equal(open_world(&w), RG_OK);
    config.batch = small.batch = 16;
    config.window = small.window = 5;
    small.memory = 2000;
    small.temp = ".";
    rg_examples *a = make_store(&config, &w), *b = make_store(&small, &w);
    assert_true(rg_examples_checksum(a) == rg_examples_checksum(b));
    assert_true(digest(a, 40) == digest(b, 40));
    for (uint64_t i = 0; i < EXAMPLES; i += 19) {
        rg_batch x, y;
        assert_int_equal(rg_examples_one(&x, a, i), RG_OK);
        assert_int_equal(rg_examples_one(&y, b, i), RG_OK);
        check_batch(&x, &w);
        check_batch(&y, &w);
        assert_int_equal(y.lines[0], i + 1);
    }
    assert_int_equal(system("ls regard-corpus-* 2>/dev/null | grep -q ."), 256); /* no file is left */
    rg_examples_free(a);
    rg_examples_free(b);
    close_world(&w);
}

static void shares_cover_a_batch_exactly(void **state)
{
    (void)state;
    world              w;
    rg_examples_config config = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_batch          whole, part;
    assert_int_equal(open_world(&w), RG_OK);
    rg_examples *store = make_store(&config, &w);
    assert_int_equal(rg_examples_next(&whole, NULL, store), RG_OK);
    int32_t *storage = malloc(sizeof *storage * rg_batch_share_room(&whole));
    for (size_t shares = 1; shares < 70; shares += 3) {
        size_t examples = 0;
        for (size_t k = 0; k < shares; k++) {
            rg_batch_share(&part, storage, &whole, k, shares);
            for (size_t f = 0; f < FIELDS; f++) {
                assert_int_equal(part.field[f].layout.start[0], 0);
                assert_int_equal(part.field[f].layout.first, whole.field[f].layout.start[examples]);
            }
            check_batch(&part, &w);
            if (part.examples) assert_int_equal(part.lines[0], whole.lines[examples]);
            examples += part.examples;
        }
        assert_int_equal(examples, whole.examples);
    }
    free(storage);
    rg_examples_free(store);
    close_world(&w);
}

/* ------------------------------------------------------------------------------------------------------------ names */

static void names_do_not_depend_on_the_order_of_the_file(void **state)
{
    (void)state;
    static const char *const one[] = { "neg", "pos", "neutral", "pos" }, *const other[] = { "pos", "neutral", "neg" };
    static const char *const numbers[] = { "10", "9", "-1", "2" }, *const mixed[] = { "10", "9", "x" };
    rg_names                *a = NULL, *b = NULL, *c = NULL;
    rg_text                  bytes = { 0 };
    assert_int_equal(rg_names_new(&a, one, 4), RG_OK);
    assert_int_equal(rg_names_new(&b, other, 3), RG_OK);
    assert_true(rg_names_checksum(a) == rg_names_checksum(b));
    assert_int_equal(rg_names_count(a), 3);
    assert_string_equal(rg_names_get(a, 1), "neutral");
    assert_int_equal(rg_names_find(a, "pos", 3), 2);
    assert_int_equal(rg_names_find(a, "po", 2), -1);
    assert_string_equal(rg_names_get(a, 3), "");
    assert_int_equal(rg_names_to_bytes(&bytes, a), RG_OK);
    assert_int_equal(rg_names_from_bytes(&c, bytes.data, bytes.length), RG_OK);
    assert_true(rg_names_checksum(a) == rg_names_checksum(c));
    assert_string_equal(rg_names_get(c, 0), "neg");
    for (size_t i = 0; i < bytes.length; i++) { /* every changed byte, every cut */
        rg_names *bad = NULL;
        bytes.data[i] ^= 1;
        if (rg_names_from_bytes(&bad, bytes.data, bytes.length) == RG_OK)
            assert_true(rg_names_checksum(bad) == rg_names_checksum(a));
        rg_names_free(bad);
        bytes.data[i] ^= 1;
        assert_int_equal(rg_names_from_bytes(&bad, bytes.data, i), RG_EFORMAT);
    }
    rg_names_free(a), rg_names_free(b), rg_names_free(c);
    assert_int_equal(rg_names_new(&a, numbers, 4), RG_OK);
    assert_string_equal(rg_names_get(a, 0), "-1");
    assert_string_equal(rg_names_get(a, 3), "10");
    assert_int_equal(rg_names_new(&b, mixed, 3), RG_OK);
    assert_string_equal(rg_names_get(b, 0), "10");
    rg_names_free(a), rg_names_free(b);
    rg_text_free(&bytes);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, strlen(text), file);
    fclose(file);
}

/* Learn classes and words from `train`, read `path`. */
static rg_status classify(rg_examples **out, rg_names **names, rg_vocab **vocab, const char *train, const char *path)
{
    static const char *const wanted[] = { "label", "text" };
    rg_reader_config         reading = RG_READER_CONFIG_DEFAULT;
    rg_examples_config       config = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_vocab_config          words = RG_VOCAB_CONFIG_DEFAULT;
    rg_field_spec            specs[] = { { .name = "text", .kind = RG_FIELD_IDS, .max_rows = 4 },
                                         { .name = "label", .kind = RG_FIELD_CLASS } };
    rg_reader    *r = NULL;
    words.kind = RG_VOCAB_WORDS;
    words.size = 0;
    reading.wanted = wanted;
    reading.wanted_count = 2;
    rg_status status = rg_examples_learn(names, NULL, &specs[1], train, &reading);
    if (status == RG_OK) status = rg_reader_open(&r, train, &reading);
    rg_reader_feed feed = { r, 1 };
    if (status == RG_OK) status = rg_vocab_train(vocab, &words, rg_reader_feed_next, &feed);
    rg_reader_close(r);
    specs[0].vocab = *vocab;
    specs[1].names = *names;
    return status == RG_OK ? rg_examples_open(out, &config, specs, 2, path, &reading) : status;
}

static void check_refusal(const char *train, const char *valid, const char *message)
{
    rg_examples *store = NULL;
    rg_names    *names = NULL;
    rg_vocab    *vocab = NULL;
    write_text("train.tsv", train);
    write_text("valid.tsv", valid ? valid : train);
    assert_int_not_equal(classify(&store, &names, &vocab, "train.tsv", "valid.tsv"), RG_OK);
    if (!strstr(rg_message(), message)) print_error("%s\n", rg_message());
    assert_non_null(strstr(rg_message(), message));
    assert_null(store);
    rg_names_free(names);
    rg_vocab_free(vocab);
}

static void bad_files_are_refused_with_file_and_line(void **state)
{
    (void)state;
    check_refusal("pos\tgood\npos\tfine\n", NULL,
                  "train.tsv: every row has the label 'pos': there must be two classes at least");
    check_refusal("pos\tgood\nneg\tbad\n", "pos\tgood\nneutral\tso so\n",
                  "valid.tsv: line 2: label: 'neutral' is not one of the 2 classes that were learned (neg, pos)");
    check_refusal("pos\tgood\nneg\tbad\n", "pos\t\n", "valid.tsv: no usable example: 0 of 1 examples");
    check_refusal("pos\tgood\nneg bad\n", NULL, "train.tsv: line 2: 1 column");
    check_refusal("", NULL, "train.tsv: the file is empty");
}

static void what_is_wrong_is_counted_with_lines(void **state)
{
    (void)state;
    rg_examples *store = NULL;
    rg_names    *names = NULL;
    rg_vocab    *vocab = NULL;
    rg_text      text = { 0 };
    write_text("train.tsv", "label\ttext\npos\tgood\n\nneg\ta b c d e\npos\t\nneg\tb\xFF\nneg\tc\n");
    assert_int_equal(classify(&store, &names, &vocab, "train.tsv", "train.tsv"), RG_OK);
    const rg_examples_report *r = rg_examples_counts(store);
    assert_int_equal(r->lines, 6);
    assert_int_equal(r->examples, 3);
    assert_int_equal(r->faults->empty.count, 2);
    assert_int_equal(r->faults->empty.lines[0], 3);
    assert_int_equal(r->faults->too_long.lines[0], 4);
    assert_int_equal(r->faults->bad_utf8.lines[0], 6);
    assert_int_equal(rg_examples_describe(&text, store), RG_OK);
    assert_non_null(strstr(text.data, "3 of 6 examples"));
    assert_non_null(strstr(text.data, "label: 2 classes"));
    assert_non_null(strstr(text.data, "2 empty, skipped (lines 3, 5)"));
    rg_text_free(&text);
    rg_examples_free(store);
    rg_names_free(names);
    rg_vocab_free(vocab);
}

static void cells_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const struct { int field; const char *cell, *message; } rows[] = {
        { 1, "cz", "label: 'cz' is not one of the 12 classes that were learned (c0, c1, c2, c3, c4, c5, c6, c7, ...)" },
        { 2, "1 2", "numbers: 2 numbers; 3 wanted" },       { 2, "1 2 3x", "numbers: '3x' is not a number" },
        { 2, "1 2 nan", "numbers: 'nan' is not a number" }, { 2, "1 2 1e99", "numbers: '1e99' is not a number" },
        { 3, "3:1 2:1", "counts: feature 2 stands after feature 3" }, { 3, "a:1", "counts: 'a:1' is not a feature" },
        { 3, "1:", "counts: '1:' is not a feature" },       { 5, "c1|x", "set: 'x' is not one of" },
        { 4, "GIF89", "picture: a picture file, and nothing here decodes it" },
    };
    world              w;
    rg_examples_config config = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_examples       *store = NULL;
    assert_int_equal(open_world(&w), RG_OK);
    assert_int_equal(rg_examples_new(&store, &config, w.spec, FIELDS), RG_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        example e;
        make_example(&e, 1);
        e.cells[rows[i].field] = (rg_cell){ .bytes = rows[i].cell, .count = strlen(rows[i].cell) };
        assert_int_not_equal(rg_examples_add(store, e.cells, 1), RG_OK);
        if (!strstr(rg_message(), rows[i].message)) print_error("%s\n", rg_message());
        assert_non_null(strstr(rg_message(), rows[i].message));
    }
    example e;
    make_example(&e, 1);
    assert_int_equal(rg_examples_add(store, e.cells, 1), RG_OK); /* still usable */
    e.cells[3].bytes = "1:1 100:1 200:2"; /* features nobody knows are counted */
    e.cells[3].count = strlen(e.cells[3].bytes);
    assert_int_equal(rg_examples_add(store, e.cells, 2), RG_OK);
    assert_int_equal(rg_examples_counts(store)->unknown[3], 2);
    assert_int_equal(rg_examples_counts(store)->examples, 2);
    rg_examples_free(store);
    close_world(&w);
}

static void tags_stand_beside_the_pieces_of_their_words(void **state)
{
    (void)state;
    static const char *const pieces[] = { "l'", "homme", "voit", "la", "mer" };
    rg_reader_config         reading = RG_READER_CONFIG_DEFAULT;
    rg_examples_config       config = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_examples             *store = NULL;
    rg_field_spec specs[] = { { .name = "text", .kind = RG_FIELD_IDS, .words = true, .max_rows = 3, .crop = true },
                              { .name = "tags", .kind = RG_FIELD_TAGS } };
    rg_vocab                *vocab = NULL;
    rg_names                *names = NULL;
    static const char *const wanted[] = { "text", "tags" };
    reading.format = "conll";
    reading.wanted = wanted;
    reading.wanted_count = 2;
    config.shuffle = false;
    config.window = 0;
    write_text("tags.txt", "l'homme\tN\nvoit\tV\n\nla\tD\nmer\tN\nvoit\tV\nl'homme\tN\n");
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 5), RG_OK);
    assert_int_equal(rg_examples_learn(&names, NULL, &specs[1], "tags.txt", &reading), RG_OK);
    assert_int_equal(rg_names_count(names), 3);
    specs[0].vocab = vocab;
    specs[1].names = names;
    assert_int_equal(rg_examples_open(&store, &config, specs, 2, "tags.txt", &reading), RG_OK);
    rg_batch b;
    assert_int_equal(rg_examples_next(&b, NULL, store), RG_OK);
    assert_int_equal(b.examples, 2);
    const int32_t tags[] = { 1, -1, 2, 0, 1, 2 }, start[] = { 0, 3, 6 }; /* D N V; l' homme is two pieces; the second is cropped */
    assert_memory_equal(b.field[1].ids, tags, sizeof tags);
    assert_memory_equal(b.field[1].layout.start, start, sizeof start);
    assert_memory_equal(b.field[0].layout.start, start, sizeof start);
    assert_int_equal(b.lines[1], 4);
    rg_examples_free(store);
    store = NULL;
    specs[0].words = false;
    assert_int_equal(rg_examples_new(&store, &config, specs, 2), RG_EINVAL);
    rg_names_free(names);
    rg_vocab_free(vocab);
}

static rg_status mirror(rg_text *out, size_t *height, size_t *width, size_t channels, const rg_cell *cell,
                        void *context)
{
    (void)context;
    *height = 1;
    *width = cell->count / channels;
    return cell->count > 3 ? rg_fail(RG_EFORMAT, "not a picture") : rg_text_add(out, cell->bytes, cell->count);
}

static void picture_files_go_through_the_decoder_of_their_field(void **state)
{
    (void)state;
    rg_examples_config  config = RG_EXAMPLES_CONFIG_DEFAULT;
    const rg_field_spec spec = { .name = "picture", .kind = RG_FIELD_PIXELS, .width = 3, .decode = mirror };
    rg_examples        *store = NULL;
    rg_batch           b;
    const rg_cell       good = { .bytes = "\xFF\x00\x33", .count = 3 }, bad = { .bytes = "1234", .count = 4 };
    assert_int_equal(rg_examples_new(&store, &config, &spec, 1), RG_OK);
    assert_int_equal(rg_examples_add(store, &good, 1), RG_OK);
    assert_int_equal(rg_examples_add(store, &bad, 2), RG_EFORMAT);
    assert_string_equal(rg_message(), "picture: not a picture");
    assert_int_equal(rg_examples_seal(store), RG_OK);
    assert_int_equal(rg_examples_next(&b, NULL, store), RG_OK);
    assert_int_equal(b.field[0].layout.height, 1);
    assert_int_equal(b.field[0].layout.width, 1);
    assert_true(b.field[0].values[0] == 1 && b.field[0].values[1] == 0 && b.field[0].width == 3);
    rg_examples_free(store);
}

/* ----------------------------------------------------------------------------------------------------------- faults */

static rg_status use_store(void *context)
{
    rg_examples_config config = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_examples       *store = NULL;
    world              w;
    rg_text            text = { 0 };
    config.batch = 4;
    config.window = 2;
    config.temp = ".";
    config.memory = *(const size_t *)context;
    rg_status status = open_world(&w);
    if (status == RG_OK) status = fill(&store, &config, &w, 20);
    for (int i = 0; i < 6 && status == RG_OK; i++) {
        rg_batch b;
        status = rg_examples_next(&b, NULL, store);
    }
    if (status == RG_OK) status = rg_examples_describe(&text, store);
    if (status == RG_OK) status = rg_names_to_bytes(&text, w.names);
    rg_text_free(&text);
    rg_examples_free(store);
    close_world(&w);
    return status;
}

static rg_status use_file(void *context)
{
    rg_examples *store = NULL;
    rg_names    *names = NULL;
    rg_vocab    *vocab = NULL;
    rg_status    status = classify(&store, &names, &vocab, context, context);
    rg_examples_free(store);
    rg_names_free(names);
    rg_vocab_free(vocab);
    return status;
}

static void failed_allocations_and_file_calls_come_back_as_errors(void **state)
{
    (void)state;
    size_t memory = (size_t)1 << 30, disk = 500;
    faults_every_alloc(use_store, &memory, NULL, false);
    faults_every_alloc(use_store, &disk, NULL, false);
    faults_every_file_call(use_store, &disk, NULL);
    write_text("faults.csv", "label,text\npos,\"good,\nbetter\"\nneg,bad\n");
    write_text("faults.tsv", "pos\tgood\nneg\tbad\n");
    faults_every_alloc(use_file, "faults.csv", NULL, false);
    faults_every_alloc(use_file, "faults.tsv", NULL, false);
    faults_every_file_call(use_file, "faults.tsv", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_has_every_example_once_within_its_limits),
        cmocka_unit_test(a_store_resumes_after_every_batch),
        cmocka_unit_test(a_store_larger_than_memory_gives_the_same_bits),
        cmocka_unit_test(shares_cover_a_batch_exactly),
        cmocka_unit_test(names_do_not_depend_on_the_order_of_the_file),
        cmocka_unit_test(bad_files_are_refused_with_file_and_line),
        cmocka_unit_test(what_is_wrong_is_counted_with_lines),
        cmocka_unit_test(cells_that_make_no_sense_are_refused),
        cmocka_unit_test(tags_stand_beside_the_pieces_of_their_words),
        cmocka_unit_test(picture_files_go_through_the_decoder_of_their_field),
        cmocka_unit_test(failed_allocations_and_file_calls_come_back_as_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
