/* language_influence.c - `regard gradients -m` of language models: windows spread over the text, each of which
 * predicts the token behind its last row. */
#include <string.h>

#include "regard/view.h"
#include "tasks/batches.h"
#include "tasks/language.h"

enum { WINDOWS = 256, AT_ONCE = 16, MOST_TOKENS = 1 << 20 };

typedef struct {
    const rg_vocab *vocab;
    rg_ids          ids; /* what stands before the text, then the text */
} reading;

static rg_status add_line(void *context, const char *line, size_t bytes, uint64_t number)
{
    reading *x = context;
    (void)number;
    if (x->ids.count > MOST_TOKENS) return RG_OK; /* more would change nothing */
    RG_TRY(rg_vocab_encode(&x->ids, NULL, x->vocab, line, bytes));
    return rg_ids_add(&x->ids, rg_vocab_eos(x->vocab));
}

/* Windows first .. first + count - 1 of `all`, of n rows each. */
static rg_status add_windows(rg_influence *out, const reading *x, size_t n, size_t first, size_t count, size_t all)
{
    int32_t *previous = rg_alloc_array(2 * count * n + count + 1, sizeof *previous),
            *none = rg_alloc_zero((count + 1) * sizeof *none);
    rg_status status = previous && none ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) {
        int32_t *ids = previous + count * n, *start = ids + count * n;
        for (size_t i = 0; i < count; i++) {
            const size_t spare = x->ids.count - n - 1, from = all > 1 ? (first + i) * spare / (all - 1) : 0;
            memcpy(previous + i * n, x->ids.data + from, n * sizeof *previous);
            for (size_t j = 0; j + 1 < n; j++) ids[i * n + j] = -1; /* input alone */
            ids[i * n + n - 1] = x->ids.data[from + n];
        }
        for (size_t i = 0; i <= count; i++) start[i] = (int32_t)(i * n);
        const rg_batch batch = { .examples = count,
                                 .fields = 2,
                                 .field = { [RG_SOURCE] = { .layout = { .groups = count, .start = none } },
                                            [RG_TARGET] = { .layout = { .groups = count, .start = start },
                                                            .ids = ids,
                                                            .previous = previous } } };
        status = rg_influence_add(out, &batch);
    }
    rg_free(previous);
    rg_free(none);
    return status;
}

rg_status rg_language_influence(rg_influence *out, const rg_model *m, const rg_question *q)
{
    const size_t context = rg_model_size(m, "context"), most = rg_influence_most(out) + 1,
                 n = context && context < most ? context : most;
    reading   x = { .vocab = ((const rg_language_model *)m->assets)->vocab };
    if (!x.vocab) return rg_fail(RG_EINVAL, "this %s reads numbers; gradients are drawn for texts", m->system->name);
    rg_status status = rg_ids_add(&x.ids, (int32_t)rg_model_size(m, "bos"));
    if (status == RG_OK) status = rg_question_texts(q, add_line, &x);
    if (status == RG_OK && x.ids.count < n + 1)
        status = rg_fail(RG_EINVAL, "the text has %zu tokens, %zu are needed: lower --distance", x.ids.count - 1, n);
    const size_t spare = status == RG_OK ? x.ids.count - n : 0, all = spare < WINDOWS ? spare : WINDOWS;
    for (size_t i = 0; status == RG_OK && i < all; i += AT_ONCE)
        status = add_windows(out, &x, n, i, all - i < AT_ONCE ? all - i : AT_ONCE, all);
    rg_ids_free(&x.ids);
    return status;
}
