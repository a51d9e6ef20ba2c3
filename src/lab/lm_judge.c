/* lm_judge.c - see lm_judge.h. */
#include "lab/lm_judge.h"

#include <math.h>
#include <string.h>

#include "regard/attention.h"
#include "regard/running.h"
#include "tasks/language.h"

rg_status rg_lab_tokens(int32_t **out, size_t *out_count, const rg_vocab *vocab, const char *path, size_t most)
{
    const rg_running_config c = RG_RUNNING_CONFIG_DEFAULT;
    rg_running             *text = NULL;
    *out = NULL;
    RG_TRY(rg_running_open(&text, &c, vocab, &path, 1));
    const uint64_t all = rg_running_tokens(text);
    const size_t   n = most && all > most ? most : (size_t)all;
    *out = rg_alloc_array(n + 1, sizeof **out);
    const rg_status status = *out ? rg_running_read(*out + 1, text, 0, n) : RG_ENOMEM;
    if (status == RG_OK) (*out)[0] = rg_vocab_eos(vocab), *out_count = n + 1;
    rg_running_free(text);
    return status;
}

/* ids[0 .. n - 1] as they are read, target[0 .. n - 1] as they are predicted (-1: not). start has room for 4. */
static rg_batch text_batch(int32_t *start, const int32_t *ids, const int32_t *target, size_t n, rg_carry *carry)
{
    start[0] = 0, start[1] = (int32_t)n, start[2] = start[3] = 0;
    return (rg_batch){ .examples = 1,
                       .fields = 2,
                       .carry = carry,
                       .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = start + 2 } },
                                  [RG_TARGET] = { .layout = { .groups = 1, .start = start },
                                                  .ids = target,
                                                  .previous = ids } } };
}

/* ------------------------------------------------------------------------------------------------------------ looks */

typedef struct {
    size_t near, looks;
    double sum;
} nearness;

static bool wants(void *context, const char *name)
{
    (void)context;
    return strncmp(name, "look.", 5) == 0 && strstr(name, "weights");
}

/* Pairs of a row are in the order of the words: the last ones are the nearest. */
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    nearness       *s = context;
    const rg_reach *r = reach;
    size_t          window = 0;
    (void)name;
    for (size_t i = 0; r && i < r->Nq; i++)
        if (r->first[i + 1] - r->first[i] > window) window = r->first[i + 1] - r->first[i];
    for (size_t i = 0; r && i < r->Nq; i++) {
        const size_t end = r->first[i + 1];
        if (end - r->first[i] < window || !window) continue;
        for (size_t p = end > r->first[i] + s->near ? end - s->near : r->first[i]; p < end; p++)
            s->sum += (double)rg_tensor_at(x, p, 0);
        s->looks++;
    }
}

rg_status rg_lm_near(double *out, size_t *out_looks, const rg_model *m, const int32_t *ids, size_t count, size_t near)
{
    const rg_tape_config config = { .record = false };
    nearness             sums = { .near = near };
    const rg_watcher     watcher = { &sums, wants, see };
    rg_tape             *t = NULL;
    int32_t              start[4], *none = rg_alloc_array(count + 1, sizeof *none);
    rg_status            status = none ? rg_tape_new(&t, &config) : RG_ENOMEM;
    for (size_t i = 0; none && i < count; i++) none[i] = i + 1 < count ? ids[i + 1] : -1;
    if (status == RG_OK) {
        const rg_batch b = text_batch(start, ids, none, count, NULL);
        rg_tape_set_watcher(t, &watcher);
        (void)m->system->loss(t, m, &b);
        rg_tape_set_watcher(t, NULL);
        status = rg_tape_status(t);
    }
    *out_looks = sums.looks;
    *out = sums.looks ? sums.sum / (double)sums.looks : 0;
    rg_tape_free(t);
    rg_free(none);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- truncation */

/* Two parts of the text: what is carried, then what is backpropagated over. */
static rg_status pass_parts(rg_tape *t, const rg_model *m, rg_carry *carry, const int32_t *ids, int32_t *target,
                            size_t n, size_t k, size_t predicted)
{
    for (size_t part = k == n, from = 0; part < 2; part++) {
        const size_t rows = part ? k : n - k;
        int32_t      start[4];
        for (size_t i = 0; i < rows; i++) target[i] = part && i + predicted >= rows ? ids[from + i + 1] : -1;
        const rg_batch b = text_batch(start, ids + from, target, rows, carry);
        rg_tape_reset(t, 0);
        const rg_loss loss = m->system->loss(t, m, &b);
        RG_TRY(part ? rg_tape_backward(t, loss.sum) : rg_tape_status(t));
        rg_carry_turn(carry);
        from += rows;
    }
    return RG_OK;
}

rg_status rg_lm_truncated(rg_grads *out, const rg_model *m, const int32_t *ids, size_t n, size_t k, size_t predicted)
{
    const rg_tape_config config = { .record = true, .grads = out };
    rg_carry            *carry = NULL;
    rg_tape             *t = NULL;
    if (!predicted || predicted > k || k > n)
        return rg_fail(RG_EINVAL, "losses of %zu words, gradients over %zu of %zu", predicted, k, n);
    int32_t  *target = rg_alloc_array(n + 1, sizeof *target);
    rg_status status = target ? rg_language_carry(&carry, m, 1) : RG_ENOMEM;
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK) status = pass_parts(t, m, carry, ids, target, n, k, predicted);
    rg_tape_free(t);
    rg_carry_free(carry);
    rg_free(target);
    return status;
}

double rg_grads_cosine(const rg_params *params, const rg_grads *a, const rg_grads *b)
{
    double dot = 0, aa = 0, bb = 0;
    for (size_t e = 0; e < rg_params_count(params); e++) {
        const rg_param *p = rg_params_at(params, e);
        const rg_real  *x = rg_grads_of(a, p), *y = rg_grads_of(b, p);
        if (rg_param_get_kind(p) == RG_KEPT) continue;
        for (size_t i = 0; i < rg_param_rows(p) * rg_param_cols(p); i++) {
            const double u = x ? (double)x[i] : 0, v = y ? (double)y[i] : 0;
            dot += u * v, aa += u * u, bb += v * v;
        }
    }
    return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : 0;
}

rg_status rg_lm_truncation(double *out, const rg_model *m, const int32_t *ids, size_t count, size_t whole, size_t k,
                           size_t predicted, size_t most)
{
    rg_grads *a = NULL, *b = NULL;
    size_t    places = 0;
    double    sum = 0;
    if (count < whole + 1)
        return rg_fail(RG_EINVAL, "a text of %zu tokens has no gradient over %zu words", count, whole);
    rg_status status = rg_grads_new(&a, m->params);
    if (status == RG_OK) status = rg_grads_new(&b, m->params);
    for (size_t from = 0; status == RG_OK && from + whole < count && places < most; from += whole, places++) {
        status = rg_lm_truncated(a, m, ids + from, whole, whole, predicted);
        if (status == RG_OK) status = rg_lm_truncated(b, m, ids + from, whole, k, predicted);
        if (status == RG_OK) sum += rg_grads_cosine(m->params, a, b);
    }
    if (status == RG_OK) *out = sum / (double)places;
    rg_grads_free(a);
    rg_grads_free(b);
    return status;
}
