/* test_attention_watch.c - weights are recorded by name and made for nobody else. */
#include "regard/attention.h"
#include "regard/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/gradient.h"

enum { N = 256, W = 16 };

static const int32_t   start[] = { 0, N };
static const rg_layout sentence = { .groups = 1, .start = start };

typedef struct {
    const char *name; /* what is wanted; NULL: everything */
    size_t      seen, asked;
    char        last[64];
} watch;

static bool wants(void *context, const char *name)
{
    watch *w = context;
    w->asked++;
    return !w->name || strcmp(w->name, name) == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    watch *w = context;
    assert_int_equal(rg_tensor_rows(x), ((const rg_reach *)reach)->P);
    snprintf(w->last, sizeof w->last, "%s", name);
    w->seen++;
}

/* Two layers of self-attention; the bytes that the tape took. */
static size_t two_layers(const rg_watcher *watcher, rg_real *last)
{
    rg_params     *params = NULL;
    rg_heads       layer[2];
    rg_tape       *t = NULL;
    rg_tape_config config = { .record = false };
    static rg_real x[N * W];
    rg_test_fill(x, N * W, 1, -1, 1);
    assert_int_equal(rg_params_new(&params), RG_OK);
    for (size_t i = 0; i < 2; i++) {
        rg_params_push(params, "%zu", i);
        assert_int_equal(rg_heads_init(&layer[i], params, W, 2, true, NULL), RG_OK);
        rg_params_pop(params);
    }
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_set_watcher(t, watcher);
    rg_tensor *y = rg_input(t, x, N, W, &sentence);
    for (size_t i = 0; i < 2; i++) {
        rg_tape_push(t, "encoder");
        rg_tape_push(t, "%zu", i);
        y = rg_heads_self(t, &layer[i], y, rg_reach_causal(t, &sentence));
        rg_tape_pop(t);
        rg_tape_pop(t);
    }
    assert_int_equal(rg_tape_status(t), RG_OK);
    if (last) *last = rg_tensor_at(y, N - 1, 0);
    const size_t bytes = rg_tape_get_cost(t).bytes;
    rg_tape_free(t);
    rg_params_free(params);
    return bytes;
}

static void weights_nobody_watches_are_never_made(void **state)
{
    (void)state;
    watch            none = { .name = "decoder.0.weights" }, one = { .name = "encoder.1.weights" }, all = { 0 };
    const rg_watcher no = { &none, wants, see }, first = { &one, wants, see }, every = { &all, wants, see };
    rg_real          plain, watched;
    const size_t     weights = (size_t)N * (N + 1) / 2 * 2 * sizeof(rg_real); /* of one layer's two heads */
    const size_t     without = two_layers(NULL, &plain), unasked = two_layers(&no, NULL),
                 with_one = two_layers(&first, NULL), with_all = two_layers(&every, &watched);
    assert_int_equal(without, unasked);
    assert_true(without < weights);
    assert_true(with_one >= without + weights && with_one < without + 3 * weights);
    assert_true(with_all >= without + 2 * weights);
    assert_int_equal(none.seen, 0);
    assert_true(none.asked > 0);
    assert_int_equal(one.seen, 1);
    assert_string_equal(one.last, "encoder.1.weights");
    assert_int_equal(all.seen, 2);
    assert_true(fabs((double)(plain - watched)) < 1e-5); /* watching does not change what is computed */
}

static void a_record_holds_a_map_for_each_layer_and_head_asked_for(void **state)
{
    (void)state;
    static const char            *words[N];
    static const rg_attention_use uses[] = {
        { .where = "encoder", .watch = "encoder.*", .rows = "source", .cols = "source" }, { 0 }
    };
    rg_record         *record = NULL;
    size_t             skipped = 9;
    for (size_t i = 0; i < N; i++) words[i] = "word";
    assert_int_equal(rg_record_new(&record, "two layers", "test"), RG_OK);
    assert_int_equal(rg_record_add_labels(NULL, record, "source", RG_LABEL_TOKEN, words, N), RG_OK);
    for (int only = 0; only < 2; only++) {
        const size_t  before = record->maps;
        rg_collector *c = NULL;
        assert_int_equal(rg_collector_new(&c, record, uses, -1), RG_OK);
        if (only) assert_int_equal(rg_collector_only(c, "encoder.1.*", 0), RG_OK);
        two_layers(rg_collector_watcher(c), NULL);
        assert_int_equal(rg_collector_finish(c, &skipped), RG_OK);
        assert_int_equal(skipped, 0);
        assert_int_equal(record->maps - before, only ? 1 : 4);
    }
    const rg_record_map *m = &record->map[record->maps - 1];
    assert_string_equal(m->name, "encoder");
    assert_int_equal(m->layer, 1);
    assert_int_equal(m->head, 0);
    for (size_t i = 0; i < N; i += 17) {
        double sum = 0;
        for (size_t j = 0; j < N; j++) sum += (double)rg_map_weight(m, i, j);
        assert_true(fabs(sum - 1) < 1e-5);
        assert_true(i + 1 == N || rg_map_weight(m, i, i + 1) == 0);
    }
    rg_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_nobody_watches_are_never_made),
        cmocka_unit_test(a_record_holds_a_map_for_each_layer_and_head_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
