/* --reverse as people see it: the words that are copied for unknown ones, the alignment, the record and the page. A
 * model that reads backwards shows of a line what the same weights that read forwards show of the mirrored line, with
 * the weight of every word at the place of the word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/translate.h"
#include "regard/view.h"

#include <math.h>
#include <string.h>

enum { WORDS = 6 };

/* A, C and E are unknown to the model. Every answer begins with as many unknown words as the line has words. */
static const char *const words[WORDS] = { "A", "b", "C", "d", "E", "f" };
static const char *const line = "A b C d E f", *const mirrored_line = "f E d C b A", *const unknown = "? ? ? ? ? ?";

static rg_translator *make(const char *system, const char *options, const char *more)
{
    static const char *const small = "dim-emb: 16\nenc-depth: 1\ndim-rnn: 16\n";
    static const char *const pieces[] = { "b", "d", "f", "g" };
    const rg_system         *s = rg_system_find(system);
    void                    *values = rg_alloc_zero(s->options_bytes);
    const rg_option_group    group = { .rows = s->options, .values = values };
    const char *const        all[] = { small, options, more };
    rg_vocab                *vocab;
    rg_model                *model;
    rg_translator           *t;
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 4), RG_OK);
    assert_int_equal(rg_options_init(s->options, values), RG_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rg_options_read_yaml(&group, 1, all[i], strlen(all[i]), "test", false), RG_OK);
    const rg_sizes sizes = rg_sizes_of_text(vocab, vocab);
    if (rg_model_new(&model, s, values, &sizes, 3) != RG_OK) fail_msg("%s: %s", system, rg_message());
    rg_options_fini(s->options, values);
    rg_free(values);
    assert_int_equal(rg_translator_new(&t, model, vocab, NULL), RG_OK);
    return t;
}

/* What became of a line: its text with words copied for unknown ones, and its record. */
typedef struct {
    char       text[256];
    size_t     top[WORDS]; /* the word that answer word k looked at most */
    rg_record *record;
} shown;

static void translate(shown *out, rg_translator *t, const char *text)
{
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    rg_session          *session;
    const rg_translated *r;
    c.search.beam = 2;
    c.search.attention = c.replace_unknown = true;
    c.search.length_extra = 2;
    c.search.length_factor = 1;
    assert_int_equal(rg_session_new(&session, &t, 1, 1), RG_OK);
    if (rg_session_run(&r, session, &c, &text, 1, 0, &unknown) != RG_OK) fail_msg("%s", rg_message());
    const rg_answer *a = r->best[0].answer;
    assert_int_equal(a->source_length, WORDS + 1);
    assert_true(a->length >= WORDS && strlen(r->best[0].text) < sizeof out->text);
    strcpy(out->text, r->best[0].text);
    for (size_t k = 0; k < WORDS; k++) {
        const rg_real *row = a->attention + k * a->source_length;
        out->top[k] = 0;
        for (size_t j = 1; j < WORDS; j++)
            if (row[j] > row[out->top[k]]) out->top[k] = j;
    }
    assert_int_equal(rg_record_of_heads(&out->record, t, r, NULL), RG_OK);
    rg_session_free(session);
}

/* The record as a page holds it. */
static rg_record *of_page(const rg_record *record)
{
    static const char     mark[] = "id=\"record\">";
    const rg_page_options options = { 0 };
    rg_record            *out;
    char                 *page;
    size_t                bytes;
    assert_int_equal(rg_page_write(&page, &bytes, record, &options), RG_OK);
    const char *json = strstr(page, mark);
    assert_non_null(json);
    json += strlen(mark);
    assert_int_equal(rg_record_from_json(&out, json, (size_t)(strstr(json, "</script>") - json)), RG_OK);
    rg_free(page);
    return out;
}

static const rg_record_map *map_of(const rg_record *r, const char *name)
{
    const size_t at = rg_record_find(r, name, -1, -1, -1);
    if (at == r->maps) fail_msg("no map %s", name);
    assert_int_equal(r->map[at].cols, WORDS + 1);
    return &r->map[at];
}

/* Where column j of one order stands in the other: </s> stays last. */
static size_t mirror(size_t j) { return j < WORDS ? WORDS - 1 - j : j; }

static void expect_mirrored(const char *model, const rg_record *back, const rg_record *ahead)
{
    static const char *const names[] = { "alignment", "decoder.attention" }; /* searching; reading the answer */
    for (size_t n = 0; n < 2; n++) {
        const rg_record_map *b = map_of(back, names[n]), *a = map_of(ahead, names[n]);
        assert_int_equal(b->rows, a->rows);
        for (size_t i = 0; i < b->rows; i++)
            for (size_t j = 0; j <= WORDS; j++) {
                const double x = (double)rg_map_weight(b, i, j), y = (double)rg_map_weight(a, i, mirror(j));
                if (fabs(x - y) > 1e-4)
                    fail_msg("%s%s: row %zu, word %zu: %g, its mirror %g", model, names[n], i, j, x, y);
            }
    }
}

/* Copied words are words of the line, at the places the alignment names. */
static void expect_copies(const char *model, const shown *s)
{
    char expected[64] = "";
    for (size_t k = 0; k < WORDS; k++) strcat(strcat(expected, k ? " " : ""), words[s->top[k]]);
    if (strncmp(s->text, expected, strlen(expected)) != 0)
        fail_msg("%s\"%s\" should begin with \"%s\"", model, s->text, expected);
}

static const struct {
    const char *system, *options;
} models[] = {
    { "luong", "reverse: true\n" },
    { "luong", "reverse: true\nenc-bidirectional: true\nscore: additive\n" },
    { "luong", "reverse: true\nattention-order: reading\n" },
    { "luong", "reverse: true\nattention-order: reading\nscore: location\n" },
    { "luong", "reverse: true\nattention-order: reading\nattention-kind: local-m\nwindow: 1\n" },
    { "luong", "reverse: true\nattention-order: reading\nattention-kind: local-p\nwindow: 2\n" },
    { "luong", "reverse: true\ninput-feeding: false\n" },
    { "rnnsearch", "reverse: true\n" },
    { "rnnsearch", "reverse: true\nattention-order: reading\n" },
};

static void copied_words_records_and_pages_are_those_of_the_mirrored_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const char    *options = models[i].options;
        rg_translator *b = make(models[i].system, options, "");
        rg_translator *a = make(models[i].system, options, "reverse: false\n");
        shown          back, ahead;
        translate(&back, b, line);
        translate(&ahead, a, mirrored_line);
        expect_copies(options, &back);
        if (strcmp(back.text, ahead.text) != 0) fail_msg("%s\"%s\", forwards \"%s\"", options, back.text, ahead.text);
        expect_mirrored(options, back.record, ahead.record);
        rg_record *page = of_page(back.record);
        expect_mirrored(options, page, ahead.record);
        rg_record_free(page);
        rg_record_free(back.record);
        rg_record_free(ahead.record);
        rg_translator_free(a);
        rg_translator_free(b);
    }
}

static const char *const both_ways[] = { "input-feeding: false\nreverse: false\n",
                                         "input-feeding: false\nreverse: true\n" };

static bool in_window(size_t k, size_t j) { return j + 1 >= k && j <= k + 1; } /* window 1 around place k */

/* Without input feeding the states of the decoder do not depend on what was looked at: local-m looks at the words of
 * its window with the weights that global attention gives them, divided by their sum. */
static void expect_window_of(const rg_record_map *whole, const rg_record_map *near)
{
    for (size_t k = 0; k < WORDS; k++) {
        float sum = 0;
        for (size_t j = 0; j <= WORDS; j++) sum += in_window(k, j) ? rg_map_weight(whole, k, j) : 0;
        for (size_t j = 0; j <= WORDS; j++) {
            const float expected = in_window(k, j) ? rg_map_weight(whole, k, j) / sum : 0;
            const float shown_weight = rg_map_weight(near, k, j);
            if (fabsf(shown_weight - expected) > 1e-4f)
                fail_msg("row %zu, word %zu has %g instead of %g", k, j, (double)shown_weight, (double)expected);
        }
    }
}

static void local_m_copies_and_shows_the_words_around_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rg_translator *global = make("luong", "", both_ways[i]);
        rg_translator *local = make("luong", "attention-kind: local-m\nwindow: 1\n", both_ways[i]);
        shown          whole, near;
        translate(&whole, global, line);
        translate(&near, local, line);
        expect_copies(both_ways[i], &near);
        for (size_t k = 0; k < WORDS; k++) assert_true(in_window(k, near.top[k]));
        expect_window_of(map_of(whole.record, "alignment"), map_of(near.record, "alignment"));
        expect_window_of(map_of(whole.record, "decoder.attention"), map_of(near.record, "decoder.attention"));
        rg_record_free(whole.record);
        rg_record_free(near.record);
        rg_translator_free(global);
        rg_translator_free(local);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copied_words_records_and_pages_are_those_of_the_mirrored_line),
        cmocka_unit_test(local_m_copies_and_shows_the_words_around_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
