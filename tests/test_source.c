/* Decoding from any source: pictures (rows of values with height and width) and no source at all. The two systems
 * are toys of this file; search, sampling, forced scoring and recorded attention serve them as they serve
 * translators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/decode.h"
#include "regard/layers.h"
#include "regard/ops.h"

#include <math.h>
#include <string.h>

enum { V = 7, BOS = 1, EOS = 2, D = 8, CHANNELS = 3, HIGH = 2, WIDE = 3, PIXELS = HIGH * WIDE, PICTURES = 3 };

typedef struct {
    rg_param    *in, *words, *out;
    rg_attention attention;
} toy;

typedef struct {
    rg_tensor *pixels; /* (all pixels, D) */
} toy_state;

static rg_status toy_build(rg_model *m)
{
    toy *p = m->parts;
    p->in = rg_params_add(m->params, "in", RG_WEIGHT, CHANNELS, D, RG_INIT_NORMAL, 1);
    p->words = rg_params_add(m->params, "words", RG_TABLE, V, D, RG_INIT_NORMAL, 1);
    p->out = rg_params_add(m->params, "out", RG_TIED, V, D, RG_INIT_NORMAL, 1);
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = "scaled_dot";
    c.heads = 1;
    c.q_width = c.k_width = D;
    return rg_attention_init(&p->attention, &c, m->params);
}

/* h_i = tanh(e(y_i-1) + sum_j a_ij x_j): the last word looks at the pixels of its picture. */
static rg_tensor *toy_hidden(rg_tape *t, const toy *p, rg_tensor *pixels, const int32_t *previous, size_t n,
                             const rg_reach *reach)
{
    rg_tensor *q = rg_gather(t, rg_use(t, p->words), previous, n, NULL);
    rg_tape_push(t, "look");
    rg_tensor *seen =
        pixels ? rg_attend(t, &p->attention, q, rg_attention_prepare(t, &p->attention, pixels), pixels, reach) : q;
    rg_tape_pop(t);
    return rg_tanh(t, rg_add(t, q, seen));
}

static rg_tensor *toy_pixels(rg_tape *t, const toy *p, const rg_field *f)
{
    return rg_matmul(t, rg_constant(t, f->values, rg_field_rows(f), f->width, &f->layout), rg_use(t, p->in));
}

static rg_loss toy_loss(rg_tape *t, const rg_model *m, const void *share)
{
    const rg_batch *b = share;
    const toy      *p = m->parts;
    const rg_field *source = &b->field[RG_SOURCE], *target = &b->field[RG_TARGET];
    const size_t    n = rg_field_rows(target);
    rg_tensor      *pixels = source->values ? toy_pixels(t, p, source) : NULL;
    const rg_reach *reach = pixels ? rg_reach_groups(t, &target->layout, &source->layout) : NULL;
    rg_tensor      *h = toy_hidden(t, p, pixels, target->previous, n, reach);
    return (rg_loss){ rg_cross_entropy_over(t, h, rg_use(t, p->out), NULL, target->ids, 0, 1), (double)n };
}

static rg_status toy_start(rg_decoding *d)
{
    toy_state *s = d->state;
    s->pixels = d->source.values ? toy_pixels(d->memory, d->model->parts, &d->source) : NULL;
    if (s->pixels) assert_true(d->sources.height == HIGH && d->sources.width == WIDE);
    return rg_tape_status(d->memory);
}

static rg_tensor *toy_step(rg_decoding *d, rg_tape *t)
{
    const toy       *p = d->model->parts;
    const toy_state *s = d->state;
    int32_t         *begin = rg_tape_memory(t, d->n * sizeof *begin), *end = rg_tape_memory(t, d->n * sizeof *end);
    if (!begin || !end) return NULL;
    for (size_t i = 0; i < d->n; i++) {
        begin[i] = d->sources.start[d->source_of[i]];
        end[i] = d->sources.start[d->source_of[i] + 1];
    }
    const rg_reach *reach = s->pixels ? rg_reach_intervals(t, d->n, rg_tensor_rows(s->pixels), begin, end) : NULL;
    return rg_linear_nt(t, toy_hidden(t, p, s->pixels, d->tokens, d->n, reach), rg_use(t, p->out), NULL);
}

static rg_status toy_keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    (void)d, (void)parents, (void)n; /* a step needs its last token alone */
    return RG_OK;
}

static const rg_option no_options[] = { { 0 } };
static const rg_attention_use toy_uses[] = {
    { .where = "every word", .watch = "*weights", .rows = "output", .cols = "pixels" },
    { 0 },
};
static const rg_system toy_system = { .name = "toy",
                                      .uses = toy_uses,
                                      .options = no_options,
                                      .options_bytes = 1,
                                      .parts_bytes = sizeof(toy),
                                      .build = toy_build,
                                      .loss = toy_loss,
                                      .state_bytes = sizeof(toy_state),
                                      .start = toy_start,
                                      .step = toy_step,
                                      .keep = toy_keep };

static rg_model *make(void)
{
    const rg_sizes sizes = { { { "target-vocabulary", V }, { "bos", BOS }, { "eos", EOS } } };
    rg_model      *m;
    if (rg_model_new(&m, &toy_system, "", &sizes, 5) != RG_OK) fail_msg("%s", rg_message());
    return m;
}

/* ---------------------------------------------------------------------------------------------------------- sources */

static rg_real       pixel[PICTURES * PIXELS * CHANNELS];
static const int32_t starts[] = { 0, PIXELS, 2 * PIXELS, 3 * PIXELS };

static rg_field pictures(size_t from, size_t count)
{
    rg_random random = rg_random_new(3, 0);
    for (size_t i = 0; i < sizeof pixel / sizeof *pixel; i++) pixel[i] = (rg_real)rg_random_uniform(&random) * 4 - 2;
    return (rg_field){ .kind = RG_FIELD_PIXELS,
                       .layout = { .groups = count, .start = starts, .height = HIGH, .width = WIDE },
                       .values = pixel + from * PIXELS * CHANNELS,
                       .width = CHANNELS };
}

static rg_field nothing(size_t from, size_t count)
{
    (void)from;
    return (rg_field){ .layout.groups = count };
}

static const struct {
    const char *name;
    rg_field (*make)(size_t from, size_t count);
} kinds[] = { { "pictures", pictures }, { "no source", nothing } };
#define EVERY_KIND(k) for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)

static const rg_answers *search(rg_search *s, const rg_search_config *c, const rg_field *source,
                                const uint64_t *numbers, const rg_ids *prefix)
{
    const rg_answers *out;
    if (rg_search_run(&out, s, c, source, numbers, prefix) != RG_OK) fail_msg("%s", rg_message());
    return out;
}

static rg_search *searcher(const rg_model *m)
{
    rg_search *s;
    assert_int_equal(rg_search_new(&s, &m, 1, NULL), RG_OK);
    return s;
}

static rg_search_config settings(bool sample)
{
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    c.beam = c.n_best = 3;
    c.sample = sample;
    c.length_factor = 0;
    c.length_extra = 6;
    c.top = sample ? 5 : 0;
    c.top_p = sample ? 0.9 : 0;
    return c;
}

/* Prompts of different lengths; the middle one is empty. */
static int32_t      prompt[] = { 3, 4, 5, 6 };
static const rg_ids prompts[] = { { .data = prompt, .count = 3 },
                                  { .data = prompt, .count = 0 },
                                  { .data = prompt + 3, .count = 1 } };

static void assert_same(const rg_answers *a, const rg_answers *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; k++) {
        const rg_answer *x = &a->answer[k], *y = &b->answer[k];
        assert_int_equal(x->length, y->length);
        assert_memory_equal(x->tokens, y->tokens, x->length * sizeof *x->tokens);
        assert_true(x->log_p == y->log_p && x->score == y->score);
    }
}

/* ------------------------------------------------------------------------------------------------------------ facts */

static void answers_do_not_depend_on_batch_mates(void **state)
{
    (void)state;
    rg_model      *m = make();
    rg_search     *all = searcher(m), *alone = searcher(m);
    const uint64_t numbers[] = { 7, 8, 9 };
    EVERY_KIND(k)
        for (int sample = 0; sample < 2; sample++) {
            const rg_search_config c = settings(sample);
            const rg_field         together = kinds[k].make(0, PICTURES);
            const rg_answers      *out = search(all, &c, &together, numbers, prompts);
            for (size_t g = 0; g < PICTURES; g++) {
                const rg_field one = kinds[k].make(g, 1);
                assert_same(&out[g], search(alone, &c, &one, &numbers[g], &prompts[g]));
                for (size_t a = 0; a < out[g].count; a++)
                    assert_memory_equal(out[g].answer[a].tokens, prompts[g].data, prompts[g].count * sizeof(int32_t));
            }
        }
    rg_search_free(all);
    rg_search_free(alone);
    rg_model_free(m);
}

/* One pass over a batch of fields gives what search summed. */
static void forced_scores_are_those_of_search(void **state)
{
    (void)state;
    rg_model  *m = make();
    rg_search *s = searcher(m);
    rg_forced *forced;
    assert_int_equal(rg_forced_new(&forced, (const rg_model *const *)&m, 1, NULL), RG_OK);
    EVERY_KIND(k) {
        rg_search_config  c = settings(false);
        const rg_field    source = kinds[k].make(0, PICTURES);
        const rg_answers *out = search(s, &c, &source, NULL, NULL);
        int32_t           start[PICTURES + 1] = { 0 }, none[PICTURES + 1] = { 0 }, ids[64], previous[64];
        uint64_t          lines[] = { 1, 2, 3 };
        for (size_t g = 0; g < PICTURES; g++) {
            const rg_answer *a = &out[g].answer[0];
            const size_t     n = a->length + !a->cut;
            for (size_t i = 0; i < n; i++) {
                ids[(size_t)start[g] + i] = i < a->length ? a->tokens[i] : EOS;
                previous[(size_t)start[g] + i] = i ? a->tokens[i - 1] : BOS;
            }
            start[g + 1] = start[g] + (int32_t)n;
        }
        rg_batch batch = { .examples = PICTURES,
                           .fields = 2,
                           .lines = lines,
                           .field = { [RG_SOURCE] = source,
                                      [RG_TARGET] = { .layout = { .groups = PICTURES, .start = start },
                                                      .ids = ids,
                                                      .previous = previous } } };
        if (!source.layout.start) batch.field[RG_SOURCE].layout.start = none;
        const double *word;
        if (rg_forced_run(&word, forced, &batch) != RG_OK) fail_msg("%s", rg_message());
        for (size_t g = 0; g < PICTURES; g++) {
            double sum = 0;
            for (int32_t i = start[g]; i < start[g + 1]; i++) sum += word[i];
            if (!(fabs(sum - out[g].answer[0].log_p) < 1e-4))
                fail_msg("%s: %g forced, %g searched", kinds[k].name, sum, out[g].answer[0].log_p);
        }
    }
    rg_forced_free(forced);
    rg_search_free(s);
    rg_model_free(m);
}

static void what_a_caption_attended_to_is_its_picture(void **state)
{
    (void)state;
    rg_model        *m = make();
    rg_search       *s = searcher(m);
    rg_search_config c = settings(false);
    c.attention = true;
    const rg_field    source = pictures(0, PICTURES);
    const rg_answers *out = search(s, &c, &source, NULL, NULL);
    for (size_t g = 0; g < PICTURES; g++) {
        const rg_answer *a = &out[g].answer[0];
        assert_int_equal(a->source_length, PIXELS);
        for (size_t i = 0; i < a->length; i++) {
            double sum = 0;
            for (size_t j = 0; j < PIXELS; j++) sum += (double)a->attention[i * PIXELS + j];
            assert_true(fabs(sum - 1) < 1e-5);
        }
    }
    rg_search_free(s);
    rg_model_free(m);
}

/* The first token, drawn many times: only the fewest likely tokens that hold top_p of the probability come, in about
 * their proportions. */
static void draws_stay_within_top_p(void **state)
{
    (void)state;
    enum { DRAWS = 1000 };
    rg_model        *m = make();
    rg_search       *s = searcher(m);
    rg_decoding     *d;
    const rg_field   source = nothing(0, 1);
    const int32_t    bos = BOS;
    const rg_real   *logits;
    size_t           ld, count[V] = { 0 };
    rg_search_config c = settings(true);
    c.beam = c.n_best = DRAWS;
    c.length_extra = 1;
    c.top = 0;
    c.top_p = 0.6;
    assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
    assert_int_equal(rg_decoding_start(d, &source), RG_OK);
    assert_int_equal(rg_decoding_step(&logits, &ld, d, &bos), RG_OK);
    double p[V], all = 0, mass = 0;
    bool   in[V] = { false };
    for (int j = 0; j < V; j++) all += p[j] = j == BOS ? 0 : exp((double)logits[j]);
    while (mass < c.top_p) {
        int best = -1;
        for (int j = 0; j < V; j++)
            if (!in[j] && (best < 0 || p[j] > p[best])) best = j;
        in[best] = true;
        mass += p[best] / all;
    }
    const rg_answers *out = search(s, &c, &source, NULL, NULL);
    for (size_t k = 0; k < DRAWS; k++) count[out[0].answer[k].length ? out[0].answer[k].tokens[0] : EOS]++;
    for (int j = 0; j < V; j++) {
        const double expected = in[j] ? p[j] / all / mass : 0;
        if (!(fabs((double)count[j] / DRAWS - expected) < (in[j] ? 0.06 : 1e-9)))
            fail_msg("token %d: drawn %zu of %d times, expected %g", j, count[j], DRAWS, expected);
    }
    rg_decoding_free(d);
    rg_search_free(s);
    rg_model_free(m);
}

static void a_source_without_rows_to_read_is_refused(void **state)
{
    (void)state;
    rg_model    *m = make();
    rg_decoding *d;
    rg_field     source = pictures(0, 1);
    source.values = NULL;
    assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
    assert_int_equal(rg_decoding_start(d, &source), RG_EINVAL);
    rg_decoding_free(d);
    rg_search        *s = searcher(m);
    rg_search_config  c = settings(true);
    const rg_answers *out;
    c.top_p = 1.5;
    assert_int_equal(rg_search_run(&out, s, &c, &source, NULL, NULL), RG_EINVAL);
    rg_search_free(s);
    rg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_do_not_depend_on_batch_mates),
        cmocka_unit_test(forced_scores_are_those_of_search),
        cmocka_unit_test(what_a_caption_attended_to_is_its_picture),
        cmocka_unit_test(draws_stay_within_top_p),
        cmocka_unit_test(a_source_without_rows_to_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
