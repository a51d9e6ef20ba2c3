/* Text with hidden tokens: which are chosen and what goes in for them, pairs of segments from documents, a place
 * that is found again; and that only chosen tokens count in a masked model's loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tasks/language.h"
#include "tasks/language_mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) ok(call, #call)
static void ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

static const char *const letters[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

/* Lines of letters; every third line is empty where there are documents. */
static rg_running *text_of(rg_vocab **vocab, bool documents)
{
    rg_running_config c = RG_RUNNING_CONFIG_DEFAULT;
    rg_random         random = rg_random_new(5, 0);
    rg_text           text = { 0 };
    const char       *path = "text.txt";
    rg_running       *r;
    for (size_t i = 0; i < 120; i++) {
        for (size_t k = 0; k < 3 + i % 9; k++) OK(rg_text_print(&text, "%s", letters[rg_random_below(&random, 7)]));
        OK(rg_text_print(&text, documents && i % 3 == 2 ? "\n\n" : "\n"));
    }
    OK(rg_file_replace(path, text.data, text.length));
    rg_text_free(&text);
    OK(rg_vocab_from_pieces(vocab, RG_VOCAB_CHARACTERS, letters, 8));
    OK(rg_running_open(&r, &c, *vocab, &path, 1));
    return r;
}

static rg_masked *open_it(rg_running *r, const rg_vocab *vocab, bool documents, bool random)
{
    const rg_masked_config c = { .text = { r, 0, rg_running_tokens(r) },
                                 .vocab = vocab,
                                 .batch = 4,
                                 .context = 24,
                                 .mask = -1,
                                 .share = 0.25,
                                 .random = random,
                                 .documents = documents,
                                 .seed = 3 };
    rg_masked             *m;
    OK(rg_masked_new(&m, &c));
    return m;
}

static void pieces_are_chosen_and_hidden_in_their_shares(void **state)
{
    (void)state;
    double chosen = 0, hidden = 0, kept = 0, other = 0;
    for (int documents = 0; documents < 2; documents++) {
        rg_vocab   *v;
        rg_running *r = text_of(&v, documents);
        rg_masked  *m = open_it(r, v, documents, true);
        for (int epoch = 0; epoch < 20; epoch++) {
            rg_batch b;
            for (bool more = true;;) {
                OK(rg_masked_next(&more, &b, m));
                if (!more) break;
                const rg_field *in = &b.field[RG_SOURCE], *target = &b.field[RG_TARGET];
                for (size_t g = 0; g < b.examples; g++) {
                    size_t tokens = 0, mine = 0;
                    assert_true(in->layout.start[g + 1] - in->layout.start[g] <= 24);
                    assert_int_equal(in->ids[in->layout.start[g]], rg_vocab_bos(v));
                    assert_int_equal(in->ids[in->layout.start[g + 1] - 1], rg_vocab_eos(v));
                    for (int32_t i = in->layout.start[g]; i < in->layout.start[g + 1]; i++) {
                        const int32_t was = target->ids[i], is = in->ids[i];
                        tokens += was >= 0 || !rg_vocab_is_special(v, is);
                        mine += was >= 0;
                        if (was < 0) assert_true(is >= 0); /* what is not chosen is not hidden */
                        if (was >= 0) assert_false(rg_vocab_is_special(v, was));
                        if (was >= 0) hidden += is == -1, kept += is == was, other += is >= 0 && is != was;
                    }
                    assert_int_equal(mine, tokens ? fmax(1, floor(0.25 * (double)tokens + 0.5)) : 0);
                    chosen += (double)mine;
                    assert_int_equal(rg_field_rows(&b.field[RG_FOLLOWS]), documents ? b.examples : 0);
                }
            }
        }
        rg_masked_free(m);
        rg_running_free(r);
        rg_vocab_free(v);
    }
    assert_true(chosen > 5000);
    if (fabs(hidden / chosen - 0.8) > 0.02) fail_msg("%g hidden", hidden / chosen);
    if (fabs(kept / chosen - (0.1 + 0.1 / 8)) > 0.02) fail_msg("%g kept", kept / chosen); /* one of eight draws is the same */
    if (fabs(other / chosen - 0.1 * 7 / 8) > 0.02) fail_msg("%g replaced", other / chosen);
}

/* Do these rows stand in the text, one after another? */
static bool follows_in(const int32_t *text, size_t n, const int32_t *row, size_t rows)
{
    for (size_t at = 0; at + rows <= n; at++)
        if (memcmp(text + at, row, rows * sizeof *row) == 0) return true;
    return false;
}

static void pairs_follow_each_other_or_are_of_two_documents(void **state)
{
    (void)state;
    rg_vocab    *v;
    rg_running  *r = text_of(&v, true);
    rg_masked   *m = open_it(r, v, true, true);
    const size_t n = (size_t)rg_running_tokens(r);
    int32_t     *all = rg_alloc_array(n, sizeof *all);
    size_t       count[2] = { 0, 0 }, tokens = 0; /* without the ends of lines */
    uint64_t     documents;
    OK(rg_running_read(all, r, 0, n));
    for (size_t i = 0; i < n; i++)
        if (all[i] != rg_vocab_eos(v)) all[tokens++] = all[i];
    OK(rg_masked_documents(&documents, &(rg_text_range){ r, 0, n }, rg_vocab_eos(v)));
    assert_int_equal(documents, 40);
    for (int b = 0; b < 60; b++) {
        rg_batch batch;
        bool     more;
        OK(rg_masked_next(&more, &batch, m));
        for (size_t g = 0; more && g < batch.examples; g++) {
            const rg_layout *l = &batch.field[RG_SOURCE].layout;
            int32_t          row[24];
            size_t           rows = 0;
            for (int32_t i = l->start[g] + 1; i < l->start[g + 1]; i++) { /* without signs: contiguous text where the second follows */
                const int32_t was = batch.field[RG_TARGET].ids[i],
                              token = was >= 0 ? was : batch.field[RG_SOURCE].ids[i];
                if (token != rg_vocab_eos(v)) row[rows++] = token;
                if (i > l->start[g] + 1)
                    assert_true(batch.field[RG_SEGMENTS].ids[i] >= batch.field[RG_SEGMENTS].ids[i - 1]);
            }
            count[batch.field[RG_FOLLOWS].ids[g]]++;
            if (batch.field[RG_FOLLOWS].ids[g] == 0 && !follows_in(all, tokens, row, rows))
                fail_msg("the second segment does not follow");
        }
    }
    assert_true(count[0] > 40 && count[1] > 40);
    rg_free(all);
    rg_masked_free(m);
    rg_running_free(r);
    rg_vocab_free(v);
}

static void a_place_is_found_again(void **state)
{
    (void)state;
    rg_vocab   *v;
    rg_running *r = text_of(&v, true);
    rg_masked  *m = open_it(r, v, true, true), *again = open_it(r, v, true, true);
    rg_batch    a, b;
    bool        more;
    for (int i = 0; i < 30; i++) OK(rg_masked_next(&more, &a, m));
    assert_true(rg_masked_checksum(m) == rg_masked_checksum(again));
    OK(rg_masked_seek(again, rg_masked_tell(m)));
    OK(rg_masked_next(&more, &a, m));
    OK(rg_masked_next(&more, &b, again));
    assert_int_equal(rg_field_rows(&a.field[RG_SOURCE]), rg_field_rows(&b.field[RG_SOURCE]));
    assert_memory_equal(a.field[RG_SOURCE].ids, b.field[RG_SOURCE].ids,
                        rg_field_rows(&a.field[RG_SOURCE]) * sizeof(int32_t));
    assert_memory_equal(a.field[RG_TARGET].ids, b.field[RG_TARGET].ids,
                        rg_field_rows(&a.field[RG_SOURCE]) * sizeof(int32_t));
    assert_int_equal(rg_masked_seek(again, (rg_place){ .batch = 1000000 }), RG_EMATCH);
    rg_masked_free(m);
    rg_masked_free(again);
    rg_running_free(r);
    rg_vocab_free(v);
}

static void texts_that_cannot_be_cut_are_refused(void **state)
{
    (void)state;
    rg_vocab        *v;
    rg_running      *r = text_of(&v, false);
    rg_masked       *m;
    rg_masked_config c = {
        .text = { r, 0, rg_running_tokens(r) }, .vocab = v, .batch = 4, .context = 3, .mask = -1, .share = 0.15
    };
    assert_int_equal(rg_masked_new(&m, &c), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "--context 3"));
    c.context = 24;
    c.documents = true;
    assert_int_equal(rg_masked_new(&m, &c), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "two documents"));
    rg_running_free(r);
    rg_vocab_free(v);
}

/* The loss is that of the logits at the chosen places and of nothing else. */
static void only_chosen_pieces_count(void **state)
{
    (void)state;
    static const int32_t  start[] = { 0, 4, 6 }, in[] = { 1, 4, -1, 2, 5, 2 }, none[] = { 0, 0, 0 }, segment[6] = { 0 };
    int32_t               said[] = { -1, -1, 3, -1, 4, -1 };
    const rg_layout       rows = { .groups = 2, .start = start };
    const rg_system      *bert = rg_system_find("bert");
    const rg_sizes        sizes = { { { "target-vocabulary", 7 }, { "context", 8 } } };
    void                 *options = rg_alloc_zero(bert->options_bytes);
    const rg_option_group group = { .rows = bert->options, .values = options };
    const char            yaml[] = "dim-emb: 8\nlayers: 1\ntransformer-heads: 2\ninit-deviation: 0.5\n";
    const rg_tape_config  config = { .record = false };
    rg_model             *m;
    rg_tape              *t;
    OK(rg_options_init(bert->options, options));
    OK(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false));
    OK(rg_model_new(&m, bert, options, &sizes, 1));
    OK(rg_tape_new(&t, &config));
    const rg_batch b = { .examples = 2,
                         .fields = 4,
                         .field = { { .kind = RG_FIELD_IDS, .layout = rows, .ids = in },
                                    { .kind = RG_FIELD_IDS, .layout = rows, .ids = said },
                                    { .kind = RG_FIELD_TAGS, .layout = rows, .ids = segment },
                                    { .kind = RG_FIELD_CLASS, .layout = { .groups = 2, .start = none } } } };
    const rg_loss  loss = bert->loss(t, m, &b);
    const double   sum = (double)rg_tensor_at(loss.sum, 0, 0);
    OK(rg_tape_status(t));
    assert_true(loss.count == 2);
    rg_tape_reset(t, 0);
    rg_tensor       *y = bert->predict(t, m, &b);
    const rg_tensor *each = rg_cross_entropy(t, y, (const int32_t[]){ 3, 4 }, 0);
    OK(rg_tape_status(t));
    assert_int_equal(rg_tensor_rows(y), 2);
    if (fabs((double)rg_tensor_at(each, 0, 0) - sum) > 1e-4)
        fail_msg("%g, not %g", sum, (double)rg_tensor_at(each, 0, 0));
    said[2] = -1; /* one less, and only what it cost is gone */
    rg_tape_reset(t, 0);
    const rg_loss less = bert->loss(t, m, &b);
    const double  rest = (double)rg_tensor_at(less.sum, 0, 0);
    assert_true(less.count == 1 && rest < sum);
    rg_tape_free(t);
    rg_model_free(m);
    rg_options_fini(bert->options, options);
    rg_free(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_chosen_and_hidden_in_their_shares),
        cmocka_unit_test(pairs_follow_each_other_or_are_of_two_documents),
        cmocka_unit_test(a_place_is_found_again),
        cmocka_unit_test(texts_that_cannot_be_cut_are_refused),
        cmocka_unit_test(only_chosen_pieces_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
