/* test_made_pictures.c - generators of examples, walked: drawn by number, the same everywhere, splits apart, files
 * that the readers take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "regard/made.h"
#include "regard/reader.h"
#include "support/faults.h"

enum { DRAWN = 40 };

typedef struct opened {
    const rg_generator *g;
    void               *values;
    rg_maker           *maker;
} opened;

static opened open_with(const rg_generator *g, const char *name, const char *value)
{
    opened          o = { g, rg_alloc_zero(g->options_bytes), NULL };
    rg_option_group group = { "options", g->options, o.values };
    assert_int_equal(rg_options_init(g->options, o.values), RG_OK);
    if (name) assert_int_equal(rg_options_set(&group, 1, name, 1, &value), RG_OK);
    assert_int_equal(rg_maker_new(&o.maker, g, o.values), RG_OK);
    return o;
}

static void close_it(opened *o)
{
    rg_maker_free(o->maker);
    rg_options_fini(o->g->options, o->values);
    rg_free(o->values);
}

/* Pixels, cells and boxes of an example. */
static uint64_t hash_of(const rg_made *m)
{
    rg_hash64 h;
    rg_hash64_begin(&h);
    if (m->picture.pixels)
        rg_hash64_add(&h, m->picture.pixels, m->picture.height * m->picture.width * m->picture.channels);
    if (m->sound.length) rg_hash64_add(&h, m->sound.data, m->sound.length);
    for (size_t i = 0; i < RG_MADE_COLUMNS; i++) rg_hash64_add(&h, rg_text_c(&m->cell[i]), m->cell[i].length + 1);
    for (size_t i = 0; i < m->boxes; i++) {
        const rg_made_box *b = &m->box[i];
        const uint64_t     at[4] = { b->x, b->y, b->width, b->height };
        rg_hash64_add(&h, b->name, strlen(b->name));
        rg_hash64_add(&h, at, sizeof at);
    }
    return rg_hash64_end(&h);
}

/* Of the first 20 training and 5 test examples with default options. A change here is a change of everybody's data. */
static const struct {
    const char *name;
    uint64_t    hash;
} stored[] = {
    { "t60", 0x0770358f31603282 },
    { "ct60", 0x2d35c75f94ccdc1d },
    { "ct100", 0xd7d142dbecfec44b },
    { "stclut", 0x67dd046038b5c2b7 },
    { "rts42", 0x1ce29ff88a2a00c0 },
    { "addition", 0x4ac54a1327209116 },
    { "grid16", 0x68d045264f99bf14 },
    { "mnist-m", 0xc8c64e53d6f37f7c },
    { "captcha", 0xe18d182c586e9157 },
    { "scenes", 0x1ae1dd4290026965 },
    { "vqa", 0x55cf23d896fff12b },
    { "sets", 0x6952c96ece8aaacc },
    { "plates", 0x1a8daea9efdf7d08 },
    { "longrange", 0x3c8597bb95415db9 },
    { "adding", 0xa4ee08032fe3dfc1 },
    { "bond", 0xb1a5c8983677b3f4 },
    { "coreference", 0x2c1fe10ccb4dde02 },
    { "referents", 0x61b4cc3d1e479b1d },
    { "ring8", 0x034cd048d68034bb },
    { "series", 0x383f937570fac14b },
    { "speech", 0xbc048a31788b8d2c },
};

static uint64_t sum_of(const rg_generator *g)
{
    opened   o = open_with(g, NULL, NULL);
    rg_made  made = { 0 };
    uint64_t sum = 0;
    for (uint64_t n = 0; n < 25; n++) {
        assert_int_equal(rg_maker_draw(&made, o.maker, n < 20 ? RG_MADE_TRAIN : RG_MADE_TEST, n), RG_OK);
        sum = sum * 0x9E3779B97F4A7C15u + hash_of(&made);
    }
    rg_made_free(&made);
    close_it(&o);
    return sum;
}

static void examples_are_what_they_always_were(void **state)
{
    size_t i = 0;
    bool   same = true;
    (void)state;
    for (const rg_generator *const *g = rg_generator_all(); *g; g++) {
        if (!(*g)->draw) continue;
        const uint64_t sum = sum_of(*g);
        const bool     known =
            i < sizeof stored / sizeof *stored && !strcmp(stored[i].name, (*g)->name) && stored[i].hash == sum;
        if (!known) print_error("    { \"%s\", 0x%016llx },\n", (*g)->name, (unsigned long long)sum);
        same = same && known;
        i++;
    }
    assert_true(same);
    assert_int_equal(i, sizeof stored / sizeof *stored);
}

static void an_example_depends_on_seed_split_and_number_alone(void **state)
{
    (void)state;
    for (const rg_generator *const *g = rg_generator_all(); *g; g++) {
        if (!(*g)->draw) continue;
        opened   a = open_with(*g, NULL, NULL), b = open_with(*g, "seed", "2");
        rg_made  made = { 0 };
        uint64_t first[6], other = 0;
        for (uint64_t n = 0; n < 6; n++) {
            assert_int_equal(rg_maker_draw(&made, a.maker, (rg_made_split)(n % 3), n), RG_OK);
            first[n] = hash_of(&made);
        }
        for (uint64_t n = 6; n-- > 0;) { /* backwards */
            assert_int_equal(rg_maker_draw(&made, a.maker, (rg_made_split)(n % 3), n), RG_OK);
            assert_true(hash_of(&made) == first[n]);
            assert_int_equal(rg_maker_draw(&made, b.maker, (rg_made_split)(n % 3), n), RG_OK);
            other += hash_of(&made) != first[n];
        }
        assert_true(other > 0);
        rg_made_free(&made);
        close_it(&a), close_it(&b);
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* No identity (a sentence, a string, a scene) is in two splits; without one, no picture is. */
static void splits_share_nothing(void **state)
{
    (void)state;
    for (const rg_generator *const *g = rg_generator_all(); *g; g++) {
        if (!(*g)->draw || !(*g)->per_picture) continue;
        opened   o = open_with(*g, NULL, NULL);
        rg_made  made = { 0 };
        uint64_t seen[RG_MADE_SPLITS][DRAWN];
        bool     tells = true;
        for (int s = 0; s < RG_MADE_SPLITS; s++)
            for (uint64_t n = 0; n < DRAWN; n++) {
                assert_int_equal(rg_maker_draw(&made, o.maker, (rg_made_split)s, n), RG_OK);
                seen[s][n] = made.identity ? made.identity : hash_of(&made);
                tells = tells && (made.identity || made.picture.pixels || made.cell[1].length); /* bond: so few lines that splits share them */
            }
        for (int s = 0; s < RG_MADE_SPLITS; s++) qsort(seen[s], DRAWN, sizeof **seen, by_value);
        for (int s = 0; tells && s < RG_MADE_SPLITS; s++)
            for (int n = 0; n < DRAWN; n++)
                assert_null(bsearch(&seen[s][n], seen[(s + 1) % RG_MADE_SPLITS], DRAWN, sizeof **seen, by_value));
        rg_made_free(&made);
        close_it(&o);
    }
}

/* Boxes lie in the picture and have ink in them. */
static void boxes_are_in_the_picture(void **state)
{
    (void)state;
    for (const rg_generator *const *g = rg_generator_all(); *g; g++) {
        if (!(*g)->draw) continue;
        opened  o = open_with(*g, NULL, NULL);
        rg_made made = { 0 };
        for (uint64_t n = 0; n < DRAWN; n++) {
            assert_int_equal(rg_maker_draw(&made, o.maker, RG_MADE_VALID, n), RG_OK);
            const rg_picture *p = &made.picture;
            assert_true((p->pixels != NULL) == (made.boxes > 0));
            for (size_t i = 0; i < made.boxes; i++) {
                const rg_made_box *b = &made.box[i];
                unsigned           low = 255, high = 0;
                assert_true(b->name[0] && b->width && b->height && b->x + b->width <= p->width &&
                            b->y + b->height <= p->height);
                for (size_t y = b->y; y < b->y + b->height; y++)
                    for (size_t x = b->x; x < b->x + b->width; x++)
                        for (size_t c = 0; c < p->channels; c++) {
                            const unsigned v = p->pixels[(y * p->width + x) * p->channels + c];
                            low = v < low ? v : low, high = v > high ? v : high;
                        }
                assert_true(high - low > 60);
            }
        }
        rg_made_free(&made);
        close_it(&o);
    }
}

/* What is written is read back: as many rows, the same pictures and cells. */
static void files_are_read_back(void **state)
{
    (void)state;
    faults_no_sync();
    for (const rg_generator *const *all = rg_generator_all(); *all; all++) {
        const rg_generator *g = *all;
        if (!g->draw) continue;
        opened             o = open_with(g, "count", "12");
        char               path[128], folder[64], tar[128], *space;
        rg_made            made = { 0 };
        rg_reader_config   config = RG_READER_CONFIG_DEFAULT;
        rg_reader         *reader = NULL;
        char               first[32];
        assert_int_equal(rg_maker_draw(&made, o.maker, RG_MADE_TRAIN, 0), RG_OK);
        const bool pictures = made.picture.pixels != NULL, idx = pictures && !strcmp(g->columns, "label");
        const bool lines = !pictures && !strchr(g->columns, ' '), tags = strstr(g->writes, "CoNLL") != NULL;
        (void)snprintf(first, sizeof first, "%s", tags ? "tag" : g->columns);
        if ((space = strchr(first, ' '))) *space = '\0';
        const char *const wanted[] = { first, "picture" };
        rg_option_group   group = { "options", g->options, o.values };
        const char       *none = "0";
        assert_int_equal(rg_options_set(&group, 1, "valid", 1, &none), RG_OK);
        assert_int_equal(rg_options_set(&group, 1, "test", 1, &none), RG_OK);
        (void)snprintf(folder, sizeof folder, "out-%s", g->name);
        assert_int_equal(g->write(folder, o.values), RG_OK);
        (void)snprintf(path, sizeof path, "%s/train%s", folder, idx ? "-images-idx3-ubyte" : lines ? ".txt" : ".tsv");
        (void)snprintf(tar, sizeof tar, "%s/train.tar", folder);
        config.wanted = wanted;
        config.wanted_count = pictures ? 2 : 1;
        if (pictures && !idx) config.files = tar;
        if (tags) config.format = "conll";
        assert_int_equal(rg_reader_open(&reader, path, &config), RG_OK);
        for (uint64_t n = 0;; n++) {
            rg_row row;
            bool   more;
            if (rg_reader_next(&more, &row, reader) != RG_OK) fail_msg("%s: %s", g->name, rg_message());
            if (!more) {
                assert_int_equal(n, 12);
                break;
            }
            assert_int_equal(rg_maker_draw(&made, o.maker, RG_MADE_TRAIN, n), RG_OK);
            if (tags) assert_non_null(strstr(rg_text_c(&made.cell[0]), "\nit\t")); /* a line per word, not a cell */
            else assert_string_equal(row.cell[0].bytes, rg_text_c(&made.cell[0]));
            if (!pictures) continue;
            rg_text pixels = { 0 };
            size_t  height = 0, width = 0;
            if (idx) assert_int_equal(rg_text_add(&pixels, row.cell[1].bytes, row.cell[1].count), RG_OK);
            else
                assert_int_equal(rg_pixels_decode(&pixels, &height, &width, made.picture.channels, &row.cell[1], NULL),
                                 RG_OK);
            assert_int_equal(pixels.length, made.picture.height * made.picture.width * made.picture.channels);
            assert_memory_equal(pixels.data, made.picture.pixels, pixels.length);
            rg_text_free(&pixels);
        }
        rg_reader_close(reader);
        rg_made_free(&made);
        close_it(&o);
    }
}

static void sets_have_their_planted_pairs(void **state)
{
    opened  o = open_with(rg_generator_find("sets"), NULL, NULL);
    rg_made made = { 0 };
    int     ones = 0, both = 0;
    (void)state;
    for (uint64_t n = 0; n < 600; n++) {
        assert_int_equal(rg_maker_draw(&made, o.maker, RG_MADE_TRAIN, n), RG_OK);
        const char *text = rg_text_c(&made.cell[0]);
        ones += strchr(text, '1') != NULL;
        both += strchr(text, '1') && strchr(text, '7');
    }
    assert_true(ones > 100 && both > ones / 2);
    rg_made_free(&made);
    close_it(&o);
}

/* Fewer objects, one kind of question: its answer is the shape that was drawn. */
static void questions_are_of_the_kind_that_is_asked_for(void **state)
{
    static const struct {
        const char *kind, *begins;
        bool        relational;
    } kinds[] = { { "shape", "what shape is the ", false }, { "plain", "", false }, { "relational", "", true } };
    rg_made made = { 0 };
    opened  o = open_with(rg_generator_find("vqa"), "objects", "3");
    (void)state;
    for (uint64_t n = 0; n < 20; n++) {
        assert_int_equal(rg_maker_draw(&made, o.maker, RG_MADE_TRAIN, n), RG_OK);
        assert_int_equal(made.boxes, 3);
        assert_null(strstr(rg_text_c(&made.cell[0]), "yellow"));
    }
    close_it(&o);
    for (size_t k = 0; k < 3; k++) {
        o = open_with(rg_generator_find("vqa"), "questions", kinds[k].kind);
        for (uint64_t n = 0; n < 20; n++) {
            assert_int_equal(rg_maker_draw(&made, o.maker, RG_MADE_TRAIN, n), RG_OK);
            assert_int_equal(strncmp(rg_text_c(&made.cell[0]), kinds[k].begins, strlen(kinds[k].begins)), 0);
            assert_string_equal(rg_text_c(&made.cell[2]), kinds[k].relational ? "relational" : "plain");
        }
        close_it(&o);
    }
    rg_made_free(&made);
}

static rg_status write_all(void *context)
{
    static const char *const names[] = { "addition", "mnist-m", "scenes" };
    (void)context;
    faults_no_sync();
    for (size_t i = 0; i < 3; i++) {
        const rg_generator *g = rg_generator_find(names[i]);
        void               *values = rg_alloc_zero(g->options_bytes);
        const char         *two = "2", *none = "0";
        if (!values) return RG_ENOMEM;
        rg_option_group group = { "options", g->options, values };
        rg_status       status = rg_options_init(g->options, values);
        if (status == RG_OK) status = rg_options_set(&group, 1, "count", 1, &two);
        if (status == RG_OK) status = rg_options_set(&group, 1, "valid", 1, &none);
        if (status == RG_OK) status = rg_options_set(&group, 1, "test", 1, &none);
        if (status == RG_OK) status = g->write("faults", values);
        rg_options_fini(g->options, values);
        rg_free(values);
        RG_TRY(status);
    }
    return RG_OK;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    faults_every_alloc(write_all, NULL, NULL, false);
}

/* ---------------------------------------------------------------------------------------------------------- augment */

static void augmentation_depends_on_seed_epoch_and_example(void **state)
{
    rg_augment a;
    rg_picture p, q[4];
    (void)state;
    assert_int_equal(
        rg_augment_parse(&a, "shift:3 rotate:20, scale:0.2 flip elastic:2 light contrast noise erase crop shear"),
        RG_OK);
    assert_false(rg_augment_is_off(&a));
    assert_int_equal(rg_picture_new(&p, 20, 24, 3), RG_OK);
    for (size_t i = 0; i < 20 * 24 * 3; i++) p.pixels[i] = (unsigned char)(i * 37 % 251);
    const uint64_t with[4][3] = { { 1, 2, 3 }, { 1, 2, 3 }, { 1, 3, 3 }, { 1, 2, 4 } };
    for (int i = 0; i < 4; i++)
        assert_int_equal(rg_picture_augment(&q[i], &p, &a, with[i][0], with[i][1], with[i][2]), RG_OK);
    assert_memory_equal(q[0].pixels, q[1].pixels, 20 * 24 * 3);
    assert_memory_not_equal(q[0].pixels, q[2].pixels, 20 * 24 * 3);
    assert_memory_not_equal(q[0].pixels, q[3].pixels, 20 * 24 * 3);
    for (int i = 0; i < 4; i++) rg_picture_free(&q[i]);
    assert_int_equal(rg_augment_parse(&a, ""), RG_OK);
    assert_true(rg_augment_is_off(&a));
    assert_int_equal(rg_picture_augment(&q[0], &p, &a, 1, 1, 1), RG_OK);
    assert_memory_equal(q[0].pixels, p.pixels, 20 * 24 * 3);
    rg_picture_free(&q[0]);
    rg_picture_free(&p);
}

/* Each movement alone, on a picture where one pixel tells: where it went, and that nothing else did. */
static void movements_are_what_they_say(void **state)
{
    static const struct {
        const char *text;
        int         farthest; /* pixels */
    } cases[] = { { "shift:3", 5 }, { "rotate:90", 15 }, { "scale:0.5", 6 }, { "flip:1", 8 }, { "elastic:2", 4 } };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        rg_augment a;
        rg_picture p, q;
        bool       moved = false;
        assert_int_equal(rg_augment_parse(&a, cases[k].text), RG_OK);
        assert_int_equal(rg_picture_new(&p, 31, 31, 1), RG_OK);
        for (size_t y = 9; y < 12; y++)
            for (size_t x = 10; x < 13; x++) p.pixels[y * 31 + x] = 255; /* a square around (11, 10) */
        for (uint64_t n = 0; n < 20; n++) {
            double sum = 0, mx = 0, my = 0;
            assert_int_equal(rg_picture_augment(&q, &p, &a, 1, 1, n), RG_OK);
            for (size_t i = 0; i < 31 * 31; i++)
                sum += q.pixels[i], mx += q.pixels[i] * (double)(i % 31), my += q.pixels[i] * (double)(i / 31);
            assert_true(sum > 0);
            const double dx = mx / sum - 11, dy = my / sum - 10;
            assert_true(sqrt(dx * dx + dy * dy) <= cases[k].farthest);
            moved = moved || dx * dx + dy * dy > 0.5;
            if (!strcmp(cases[k].text, "flip:1")) assert_true(fabs(dx - 8) < 0.01 && fabs(dy) < 0.01);
            rg_picture_free(&q);
        }
        assert_true(moved);
        rg_picture_free(&p);
    }
}

static void unknown_words_are_named(void **state)
{
    rg_augment a;
    (void)state;
    assert_int_equal(rg_augment_parse(&a, "shift:2 wobble"), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "wobble"));
    assert_non_null(strstr(rg_message(), "elastic"));
    assert_int_equal(rg_augment_parse(&a, "rotate:x"), RG_EINVAL);
    assert_int_equal(rg_augment_parse(&a, "flip:2"), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "0 .. 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_what_they_always_were),
        cmocka_unit_test(an_example_depends_on_seed_split_and_number_alone),
        cmocka_unit_test(splits_share_nothing),
        cmocka_unit_test(boxes_are_in_the_picture),
        cmocka_unit_test(files_are_read_back),
        cmocka_unit_test(sets_have_their_planted_pairs),
        cmocka_unit_test(questions_are_of_the_kind_that_is_asked_for),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(augmentation_depends_on_seed_epoch_and_example),
        cmocka_unit_test(movements_are_what_they_say),
        cmocka_unit_test(unknown_words_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
