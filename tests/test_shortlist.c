/* Shortlists: what a source picks; text and bytes and back; the product over some outputs is those columns of the
 * whole one, bit for bit; and a search over a list finds what a search over all would, if the rest could not be
 * answered, whatever the batch mates are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "autograd/picked.h"
#include "regard/translate.h"
#include "support/faults.h"

static rg_vocab *vocab_of(size_t words)
{
    char        text[64][24];
    const char *piece[64];
    rg_vocab   *vocab;
    for (size_t i = 0; i < words; i++) {
        snprintf(text[i], sizeof text[i], "w%zu", i);
        piece[i] = text[i];
    }
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, piece, words), RG_OK);
    return vocab;
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(rg_file_replace(path, text, strlen(text)), RG_OK);
}

static const rg_shortlist_config all = { .first = 1000, .best = 1000, .lines = 100, .iterations = 5 };

static rg_shortlist *list_of(const rg_vocab *vocab, const char *text, size_t first, size_t best)
{
    rg_shortlist_config c = all;
    rg_shortlist       *list;
    c.first = first;
    c.best = best;
    write_text("list", text);
    if (rg_shortlist_load(&list, vocab, vocab, "list", &c) != RG_OK) fail_msg("%s", rg_message());
    return list;
}

static void expect_pick(const rg_shortlist *list, const int32_t *source, size_t n, int32_t also, const int32_t *want,
                        size_t count)
{
    rg_ids ids = { 0 };
    assert_int_equal(rg_shortlist_pick(&ids, list, source, n, &also, also >= 0), RG_OK);
    assert_int_equal(ids.count, count);
    assert_memory_equal(ids.data, want, count * sizeof *want);
    rg_ids_free(&ids);
}

/* ---------------------------------------------------------------------------------------------------------- files */

static const char some[] = "w3 NULL 0.5\nw4 NULL 0.1\nw7 NULL 0.3\nw0 w1 0.2\nw5 w1 0.7\nw6 w1 0.1\nw6 w2 1\nxx w2 0.5\nw1 xx 1\nw6 w2 0.5\n\n";

static void a_source_picks_translations_frequent_tokens_itself_and_the_end(void **state)
{
    rg_vocab     *vocab = vocab_of(9); /* w0 is token 3: <unk> <s> </s> come first */
    rg_shortlist *list = list_of(vocab, some, 2, 2);
    const int32_t one[] = { 4, 2 }, two[] = { 5, 5, -7, 900 };
    expect_pick(list, one, 2, -1, (const int32_t[]){ 0, 2, 3, 4, 6, 8, 10 }, 7); /* w0 w1 w3 w5 w7 */
    expect_pick(list, two, 4, -1, (const int32_t[]){ 0, 2, 5, 6, 9, 10 }, 6);    /* w2 w3 w6 w7    */
    expect_pick(list, two, 4, 11, (const int32_t[]){ 0, 2, 5, 6, 9, 10, 11 }, 7);
    expect_pick(list, NULL, 0, -1, (const int32_t[]){ 0, 2, 6, 10 }, 4);
    assert_int_equal(rg_shortlist_size_of(list).pairs, 3);
    rg_shortlist_free(list);
    list = list_of(vocab, "w0 w1 1\n", 5, 2); /* no NULL: the first of the vocabulary */
    expect_pick(list, NULL, 0, -1, (const int32_t[]){ 0, 1, 2, 3, 4 }, 5);
    rg_shortlist_free(list);
    rg_vocab_free(vocab);
    (void)state;
}

static void text_and_bytes_hold_the_same_list(void **state)
{
    rg_vocab     *vocab = vocab_of(9), *other = vocab_of(10);
    rg_shortlist *list = list_of(vocab, some, 3, 9), *again;
    rg_text       bytes = { 0 };
    const int32_t source[] = { 4, 5, 2 };
    rg_ids        want = { 0 };
    assert_int_equal(rg_shortlist_pick(&want, list, source, 3, NULL, 0), RG_OK);
    assert_int_equal(rg_shortlist_save(list, vocab, vocab, "saved"), RG_OK);
    assert_int_equal(rg_shortlist_load(&again, vocab, vocab, "saved", &all), RG_OK);
    expect_pick(again, source, 3, -1, want.data, want.count);
    rg_shortlist_free(again);
    assert_int_equal(rg_shortlist_to_bytes(&bytes, list), RG_OK);
    assert_int_equal(rg_shortlist_from_bytes(&again, bytes.data, bytes.length, vocab, vocab), RG_OK);
    expect_pick(again, source, 3, -1, want.data, want.count);
    rg_shortlist_free(again);
    assert_int_equal(rg_shortlist_from_bytes(&again, bytes.data, bytes.length, vocab, other), RG_EMATCH);
    for (size_t i = 0; i < bytes.length; i++) { /* every byte counts */
        bytes.data[i] ^= 0x10;
        assert_int_equal(rg_shortlist_from_bytes(&again, bytes.data, bytes.length, vocab, vocab), RG_EFORMAT);
        assert_null(again);
        bytes.data[i] ^= 0x10;
        assert_int_equal(rg_shortlist_from_bytes(&again, bytes.data, i, vocab, vocab), RG_EFORMAT);
    }
    rg_ids_free(&want);
    rg_text_free(&bytes);
    rg_shortlist_free(list);
    rg_vocab_free(vocab);
    rg_vocab_free(other);
    (void)state;
}

/* A line always ends in </s>, whose list has the frequent tokens. */
static void marians_binary_form_picks_the_same(void **state)
{
    rg_vocab     *vocab = vocab_of(9), *other = vocab_of(10);
    rg_shortlist *list = list_of(vocab, some, 2, 9), *again;
    rg_text       bytes = { 0 };
    for (int32_t token = 0; token < 12; token++) {
        const int32_t source[] = { token, 2 };
        rg_ids        want = { 0 };
        assert_int_equal(rg_shortlist_pick(&want, list, source, 2, NULL, 0), RG_OK);
        assert_int_equal(rg_shortlist_save(list, vocab, vocab, "saved.bin"), RG_OK);
        assert_int_equal(rg_shortlist_load(&again, vocab, vocab, "saved.bin", &(rg_shortlist_config){ .first = 1, .best = 1 }),
                         RG_OK);
        expect_pick(again, source, 2, -1, want.data, want.count);
        rg_shortlist_free(again);
        rg_ids_free(&want);
    }
    assert_int_equal(rg_shortlist_to_marian(&bytes, list, other), RG_EMATCH);
    rg_text_clear(&bytes);
    assert_int_equal(rg_shortlist_to_marian(&bytes, list, vocab), RG_OK);
    assert_int_equal(rg_shortlist_from_marian(&again, bytes.data, bytes.length, other, vocab), RG_EMATCH);
    for (size_t i = 0; i < bytes.length / 8 * 8; i++) { /* a last half word is not part of Marian's checksum */
        bytes.data[i] ^= 0x10;
        assert_int_equal(rg_shortlist_from_marian(&again, bytes.data, bytes.length, vocab, vocab), RG_EFORMAT);
        assert_null(again);
        bytes.data[i] ^= 0x10;
        assert_int_equal(rg_shortlist_from_marian(&again, bytes.data, i, vocab, vocab), RG_EFORMAT);
    }
    rg_text_free(&bytes);
    rg_shortlist_free(list);
    rg_vocab_free(vocab);
    rg_vocab_free(other);
    (void)state;
}

static void bad_lines_are_named(void **state)
{
    static const char *const bad[] = { "w0 w1\n", "w0 w1 x\n", "w0 w1 0.5 more\n", "w0 w1 -1\n", "w0 w1 nan\n" };
    rg_vocab                *vocab = vocab_of(9);
    rg_shortlist            *list;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("bad", "w0 w1 1\n");
        char *text = rg_format("w0 w1 1\n%s", bad[i]);
        write_text("bad", text);
        rg_free(text);
        assert_int_equal(rg_shortlist_load(&list, vocab, vocab, "bad", &all), RG_EFORMAT);
        assert_non_null(strstr(rg_message(), "bad, line 2"));
    }
    write_text("bad", "other words 1\n");
    assert_int_equal(rg_shortlist_load(&list, vocab, vocab, "bad", &all), RG_EMATCH);
    rg_vocab_free(vocab);
    (void)state;
}

static void lists_are_learned_from_parallel_text(void **state)
{
    rg_vocab           *vocab = vocab_of(20);
    rg_text             from = { 0 }, to = { 0 };
    rg_shortlist_config c = { .first = 1, .best = 1, .lines = 60, .iterations = 10 };
    rg_shortlist       *list;
    rg_random           random = rg_random_new(3, 1);
    for (int i = 0; i < 90; i++) /* word i becomes word i + 10 */
        for (int k = 0; k < 4; k++) {
            const int word = (int)(rg_random_uniform(&random) * 10);
            rg_text_print(&from, "w%d%s", word, k < 3 ? " " : "\n");
            rg_text_print(&to, "w%d%s", word + 10, k < 3 ? " " : "\n");
        }
    write_text("from", rg_text_c(&from));
    write_text("to", rg_text_c(&to));
    assert_int_equal(rg_shortlist_learn(&list, vocab, vocab, "from", "to", &c), RG_OK);
    for (int32_t w = 0; w < 10; w++) {
        const int32_t token = 3 + w;
        rg_ids        ids = { 0 };
        bool          found = false;
        assert_int_equal(rg_shortlist_pick(&ids, list, &token, 1, NULL, 0), RG_OK);
        for (size_t i = 0; i < ids.count; i++) found = found || ids.data[i] == token + 10;
        assert_true(found);
        assert_in_range(ids.count, 4, 5);
        rg_ids_free(&ids);
    }
    rg_shortlist_free(list);
    write_text("to", "w1\n");
    assert_int_equal(rg_shortlist_learn(&list, vocab, vocab, "from", "to", &c), RG_EMATCH);
    rg_text_free(&from);
    rg_text_free(&to);
    rg_vocab_free(vocab);
    (void)state;
}

/* ------------------------------------------------------------------------------------------------------- products */

static void the_product_over_some_outputs_is_those_columns_of_the_whole(void **state)
{
    enum { K = 37,
           N = 203,
           M = 5 };
    static const int32_t    ids[] = { 0, 1, 15, 16, 17, 99, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 201, 202 };
    const size_t            n = sizeof ids / sizeof *ids;
    static const rg_weights kept[] = { RG_WEIGHT_F32, RG_WEIGHT_INT8, RG_WEIGHT_BF16 };
    for (size_t way = 0; way < 4; way++) { /* the last is slim: only packs are left */
        rg_params *params;
        rg_tape   *tape;
        rg_picked  picked = { 0 };
        assert_int_equal(rg_params_new(&params), RG_OK);
        rg_param *w = rg_params_add(params, "w", RG_TIED, N, K, RG_INIT_NORMAL, 1),
                 *b = rg_params_add(params, "b", RG_VECTOR, 1, N, RG_INIT_NORMAL, 1);
        assert_int_equal(rg_params_build(params, 7), RG_OK);
        if (way < 3 && kept[way] != RG_WEIGHT_F32) assert_int_equal(rg_params_convert(params, kept[way]), RG_OK);
        if (way == 3) assert_int_equal(rg_params_slim(params), RG_OK);
        assert_int_equal(rg_tape_new(&tape, &(rg_tape_config){ .record = false }), RG_OK);
        rg_real   numbers[M * K];
        rg_random random = rg_random_new(1, 2);
        for (size_t i = 0; i < M * K; i++) numbers[i] = (rg_real)(rg_random_uniform(&random) - 0.5);
        rg_tensor *x = rg_constant(tape, numbers, M, K, NULL);
        assert_int_equal(rg_picked_set(&picked, w, b, ids, n), RG_OK);
        const rg_tensor *whole = rg_linear_nt(tape, x, rg_use(tape, w), rg_use(tape, b)), *part = rg_linear_picked(tape, x, &picked);
        assert_int_equal(rg_tape_status(tape), RG_OK);
        assert_int_equal(rg_tensor_cols(part), n);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < n; j++) assert_true(rg_tensor_at(whole, i, (size_t)ids[j]) == rg_tensor_at(part, i, j));
        assert_int_equal(rg_picked_set(&picked, w, b, (const int32_t[]){ N }, 1), RG_EINVAL);
        rg_picked_fini(&picked);
        rg_tape_free(tape);
        rg_params_free(params);
    }
    (void)state;
}

/* --------------------------------------------------------------------------------------------------------- search */

enum { WORDS = 24,
       BOS = 1,
       EOS = 2 };

static bool decodes_text(const rg_system *s) { return s->start && s->task == &rg_task_translation; }

static rg_model *make(const rg_system *system, uint64_t seed)
{
    static const char yaml[] =
        "dim-emb: 16\ntransformer-dim-ffn: 24\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 16\n";
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { .rows = system->options, .values = options };
    const rg_sizes        sizes = { { { "source-vocabulary", WORDS }, { "target-vocabulary", WORDS }, { "joint-vocabulary", true }, { "bos", BOS }, { "eos", EOS }, { "context", 64 } } };
    rg_model             *m;
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    if (rg_model_new(&m, system, options, &sizes, seed) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    rg_options_fini(system->options, options);
    rg_free(options);
    return m;
}

static const int32_t  start[] = { 0, 3, 5, 9 }, ids[] = { 5, 9, 2, 12, 2, 4, 5, 6, 2 };
static const rg_field batch = { .layout = { .groups = 3, .start = start }, .ids = ids };

static void expect_same(const rg_answers *a, const rg_answers *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; k++) {
        assert_int_equal(a->answer[k].length, b->answer[k].length);
        assert_memory_equal(a->answer[k].tokens, b->answer[k].tokens, a->answer[k].length * sizeof(int32_t));
        assert_true(a->answer[k].log_p == b->answer[k].log_p);
    }
}

static void answer_lists(rg_search *one, rg_search *two, rg_search_config c, const rg_shortlist *list, const rg_ids *prefix)
{
    const rg_answers *together, *alone;
    c.shortlist = list;
    if (rg_search_run(&together, one, &c, &batch, NULL, prefix) != RG_OK) fail_msg("%s", rg_message());
    for (size_t i = 0; i < 3; i++) {
        const int32_t  alone_start[] = { 0, start[i + 1] - start[i] };
        const rg_field field = { .layout = { .groups = 1, .start = alone_start }, .ids = ids + start[i] };
        const uint64_t number = i;
        rg_ids         may = { 0 };
        assert_int_equal(rg_search_run(&alone, two, &c, &field, &number, prefix ? prefix + i : NULL), RG_OK);
        expect_same(&together[i], &alone[0]);
        assert_int_equal(rg_shortlist_pick(&may, list, ids + start[i], (size_t)alone_start[1],
                                           prefix ? prefix[i].data : NULL, prefix ? prefix[i].count : 0),
                         RG_OK);
        for (size_t k = 0; k < together[i].count; k++)
            for (size_t j = 0; j < together[i].answer[k].length; j++) {
                bool listed = false;
                for (size_t v = 0; v < may.count; v++) listed = listed || may.data[v] == together[i].answer[k].tokens[j];
                assert_true(listed);
            }
        for (size_t k = 0; prefix && k < together[i].count; k++)
            for (size_t j = 0; j < prefix[i].count && j < together[i].answer[k].length; j++)
                assert_int_equal(together[i].answer[k].tokens[j], prefix[i].data[j]);
        rg_ids_free(&may);
    }
}

/* Batch mates change no bit; nothing outside of a source's own list is answered; a forced beginning always is. */
static void every_system_answers_with_what_is_listed(void **state)
{
    rg_vocab     *vocab = vocab_of(WORDS - 3);
    rg_shortlist *list = list_of(vocab, "w1 NULL 1\nw2 w2 1\nw9 w2 0.5\nw11 w2 0.2\nw15 w9 1\nw17 w9 1\nw18 w1 1\nw20 w3 1\n", 1, 2);
    int32_t       forced[] = { 23, 7 };
    const rg_ids  prefix[3] = { { forced, 2, 2 }, { NULL, 0, 0 }, { forced + 1, 1, 1 } };
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if (!decodes_text(*s)) continue;
        rg_model        *m[2] = { make(*s, 3), make(*s, 5) };
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        for (size_t models = 1; models <= 2; models++) {
            rg_search *one, *two;
            assert_int_equal(rg_search_new(&one, (const rg_model *const *)m, models, NULL), RG_OK);
            assert_int_equal(rg_search_new(&two, (const rg_model *const *)m, models, NULL), RG_OK);
            for (c.beam = 1; c.beam <= 3; c.beam += 2) {
                c.n_best = c.beam;
                c.sample = false;
                answer_lists(one, two, c, list, NULL);
                answer_lists(one, two, c, list, prefix);
                c.sample = true;
                answer_lists(one, two, c, list, NULL);
            }
            rg_search_free(one);
            rg_search_free(two);
        }
        rg_model_free(m[0]);
        rg_model_free(m[1]);
    }
    rg_shortlist_free(list);
    rg_vocab_free(vocab);
    (void)state;
}

static void a_list_of_everything_changes_nothing(void **state)
{
    rg_vocab     *vocab = vocab_of(WORDS - 3);
    rg_shortlist *list = list_of(vocab, "w0 w1 1\n", WORDS, 1);
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if (!decodes_text(*s)) continue;
        rg_model         *m = make(*s, 3);
        rg_search        *one, *two;
        const rg_answers *a, *b;
        rg_search_config  c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = c.n_best = 4;
        assert_int_equal(rg_search_new(&one, (const rg_model *const *)&m, 1, NULL), RG_OK);
        assert_int_equal(rg_search_new(&two, (const rg_model *const *)&m, 1, NULL), RG_OK);
        assert_int_equal(rg_search_run(&a, one, &c, &batch, NULL, NULL), RG_OK);
        c.shortlist = list;
        assert_int_equal(rg_search_run(&b, two, &c, &batch, NULL, NULL), RG_OK);
        for (size_t i = 0; i < 3; i++) expect_same(&a[i], &b[i]);
        rg_search_free(one);
        rg_search_free(two);
        rg_model_free(m);
    }
    rg_shortlist_free(list);
    rg_vocab_free(vocab);
    (void)state;
}

/* -------------------------------------------------------------------------------------------------------- failure */

static rg_status use_a_list(void *context)
{
    rg_vocab     *vocab = context;
    rg_shortlist *list = NULL, *again = NULL;
    rg_text       bytes = { 0 };
    rg_ids        picked = { 0 };
    rg_status     status = rg_shortlist_load(&list, vocab, vocab, "list", &all);
    const int32_t source[] = { 4, 5 };
    if (status == RG_OK) status = rg_shortlist_pick(&picked, list, source, 2, NULL, 0);
    if (status == RG_OK) status = rg_shortlist_save(list, vocab, vocab, "saved");
    if (status == RG_OK) status = rg_shortlist_to_bytes(&bytes, list);
    if (status == RG_OK) status = rg_shortlist_from_bytes(&again, bytes.data, bytes.length, vocab, vocab);
    rg_shortlist_free(list);
    rg_shortlist_free(again);
    if (status == RG_OK) status = rg_shortlist_learn(&list, vocab, vocab, "pair", "pair", &all);
    if (status == RG_OK) rg_shortlist_free(list);
    rg_text_free(&bytes);
    rg_ids_free(&picked);
    return status;
}

static void no_memory_leaves_nothing_behind(void **state)
{
    rg_vocab *vocab = vocab_of(9);
    write_text("list", some);
    write_text("pair", "w1 w2\nw3 w4\n");
    faults_every_alloc(use_a_list, vocab, NULL, false);
    rg_vocab_free(vocab);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_picks_translations_frequent_tokens_itself_and_the_end),
        cmocka_unit_test(text_and_bytes_hold_the_same_list),
        cmocka_unit_test(marians_binary_form_picks_the_same),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(lists_are_learned_from_parallel_text),
        cmocka_unit_test(the_product_over_some_outputs_is_those_columns_of_the_whole),
        cmocka_unit_test(every_system_answers_with_what_is_listed),
        cmocka_unit_test(a_list_of_everything_changes_nothing),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
