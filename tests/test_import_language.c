/* Imported language models against PyTorch: the tokens of unusual lines, and the logits of every step
 * (tests/data/import/make_language.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/import.h"
#include "support/faults.h"
#include "tasks/language.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPT2 TEST_DATA "/import/gpt2"
#define BERT TEST_DATA "/import/bert"

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

/* The next number of a file of numbers. */
static double number(FILE *file)
{
    double x;
    if (fscanf(file, "%lf", &x) != 1) fail_msg("a stored number is missing");
    return x;
}

static void compare_line(rg_model *m, const char *line, FILE *ids, FILE *logits)
{
    const rg_vocab *vocab = ((const rg_language_model *)m->assets)->vocab;
    const size_t    V = rg_vocab_size(vocab);
    const rg_field  source = { .layout.groups = 1 };
    const int32_t   same = 0;
    rg_ids          tokens = { 0 };
    rg_text         text = { 0 };
    rg_decoding    *d;
    ok(rg_ids_add(&tokens, rg_vocab_eos(vocab)));
    ok(rg_vocab_encode(&tokens, NULL, vocab, line, strlen(line)));
    ok(rg_vocab_decode(&text, vocab, tokens.data + 1, tokens.count - 1));
    assert_string_equal(rg_text_c(&text), line);
    ok(rg_decoding_new(&d, m, NULL));
    ok(rg_decoding_start(d, &source));
    for (size_t i = 0; i < tokens.count; i++) {
        const rg_real *row;
        size_t         ld;
        if (i) assert_int_equal(tokens.data[i], (int32_t)number(ids));
        if (i) ok(rg_decoding_keep(d, &same, 1));
        ok(rg_decoding_step(&row, &ld, d, &tokens.data[i]));
        for (size_t k = 0; k < V; k++) {
            const double theirs = number(logits);
            if (fabs((double)row[k] - theirs) > 1e-4)
                fail_msg("\"%s\", token %zu: logit %zu is %.6f, PyTorch says %.6f", line, i, k, (double)row[k], theirs);
        }
    }
    rg_decoding_free(d);
    rg_ids_free(&tokens);
    rg_text_free(&text);
}

static void an_imported_gpt2_gives_the_tokens_and_logits_of_pytorch(void **state)
{
    (void)state;
    rg_model *m;
    char      line[256];
    FILE     *texts = fopen(GPT2 "/texts", "r"), *ids = fopen(GPT2 "/ids", "r"), *logits = fopen(GPT2 "/logits", "r");
    assert_true(texts && ids && logits);
    ok(rg_import_from(&m, NULL, GPT2, "gpt2"));
    assert_string_equal(m->system->name, "gpt");
    while (fgets(line, sizeof line, texts)) {
        line[strcspn(line, "\n")] = 0;
        compare_line(m, line, ids, logits);
    }
    rg_model_free(m);
    fclose(texts);
    fclose(ids);
    fclose(logits);
}

/* The tokens of a line between [CLS] and [SEP], all of them asked for. */
static void compare_masked(rg_model *m, const int32_t *token, size_t n, FILE *logits)
{
    enum { MOST = 32 };
    static const int32_t zeros[MOST];
    const int32_t        start[] = { 0, (int32_t)n }, none[] = { 0, 0 };
    const rg_layout      layout = { .groups = 1, .start = start };
    const rg_batch       b = { .examples = 1,
                               .fields = 4,
                               .field = { [RG_SOURCE] = { .layout = layout, .ids = token },
                                          [RG_TARGET] = { .layout = layout, .ids = zeros },
                                          [RG_SEGMENTS] = { .layout = layout, .ids = zeros },
                                          [RG_FOLLOWS] = { .layout = { .groups = 1, .start = none } } } };
    const rg_tape_config config = { .record = false };
    rg_tape             *t;
    assert_true(n <= MOST);
    ok(rg_tape_new(&t, &config));
    const rg_tensor *y = m->system->predict(t, m, &b);
    ok(rg_tape_status(t));
    assert_int_equal(rg_tensor_rows(y), n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rg_tensor_cols(y); k++) {
            const double theirs = number(logits), ours = (double)rg_tensor_at(y, i, k);
            if (fabs(ours - theirs) > 1e-4)
                fail_msg("token %zu: logit %zu is %.6f, PyTorch says %.6f", i, k, ours, theirs);
        }
    rg_tape_free(t);
}

static void an_imported_bert_gives_the_tokens_and_logits_of_pytorch(void **state)
{
    (void)state;
    rg_model *m;
    char      line[256], numbers[256];
    FILE     *texts = fopen(BERT "/texts", "r"), *ids = fopen(BERT "/ids", "r"), *logits = fopen(BERT "/logits", "r");
    assert_true(texts && ids && logits);
    ok(rg_import_from(&m, NULL, BERT, "bert"));
    assert_string_equal(m->system->name, "bert");
    const rg_vocab *vocab = ((const rg_language_model *)m->assets)->vocab;
    while (fgets(line, sizeof line, texts) && fgets(numbers, sizeof numbers, ids)) {
        rg_ids  cut = { 0 };
        int32_t token[32];
        size_t  n = 0;
        for (char *at = numbers, *end; n < 32; at = end) {
            token[n] = (int32_t)strtol(at, &end, 10);
            if (end == at) break;
            n++;
        }
        line[strcspn(line, "\n")] = 0;
        ok(rg_vocab_encode(&cut, NULL, vocab, line, strlen(line)));
        if (!strstr(line, "[MASK]")) { /* written out it is text */
            assert_int_equal(cut.count + 2, n);
            assert_memory_equal(cut.data, token + 1, cut.count * sizeof *token);
        }
        compare_masked(m, token, n, logits);
        rg_ids_free(&cut);
    }
    rg_model_free(m);
    fclose(texts);
    fclose(ids);
    fclose(logits);
}

static rg_status import_it(void *context)
{
    rg_model       *m = NULL;
    const rg_status status = rg_import(&m, NULL, context);
    rg_model_free(m);
    return status;
}

static void an_import_survives_failing_allocations(void **state)
{
    (void)state;
    faults_every_alloc(import_it, (void *)GPT2, NULL, false);
    faults_every_alloc(import_it, (void *)BERT, NULL, false);
}

static void an_architecture_that_does_not_fit_is_refused_by_name(void **state)
{
    (void)state;
    rg_model *m;
    assert_int_equal(rg_import_from(&m, NULL, GPT2, "bart"), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "bart"));
    assert_int_equal(rg_import_from(&m, NULL, GPT2, "gpt9"), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "gpt9"));
}

int main(void)
{
    faults_no_sync();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_imported_gpt2_gives_the_tokens_and_logits_of_pytorch),
        cmocka_unit_test(an_imported_bert_gives_the_tokens_and_logits_of_pytorch),
        cmocka_unit_test(an_import_survives_failing_allocations),
        cmocka_unit_test(an_architecture_that_does_not_fit_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
