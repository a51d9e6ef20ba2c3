/* translation_influence.c - `regard gradients -m` of translators: log p of a line's translation against the words of
 * the line, counted from its end. */
#include <string.h>

#include "regard/translate.h"
#include "regard/view.h"
#include "tasks/batches.h"
#include "tasks/translation.h"

typedef struct {
    const rg_translator *translator;
    rg_influence        *out;
    rg_ids               source, target, previous;
} reading;

/* Ids of a side, closed by </s> where its vocabulary closes lines. */
static rg_status encode(rg_ids *out, const rg_vocab *vocab, const char *text, size_t bytes)
{
    out->count = 0;
    RG_TRY(rg_vocab_encode(out, NULL, vocab, text, bytes));
    return rg_vocab_eos(vocab) < 0 ? RG_OK : rg_ids_add(out, rg_vocab_eos(vocab));
}

static rg_status add_pair(void *context, const char *line, size_t bytes, uint64_t number)
{
    reading        *x = context;
    const char     *tab = memchr(line, '\t', bytes);
    const rg_vocab *to = x->translator->target;
    if (!tab)
        return rg_fail(RG_EFORMAT, "line %llu has no tab: a translator's text is lines of source TAB target",
                       (unsigned long long)number);
    RG_TRY(encode(&x->source, x->translator->source, line, (size_t)(tab - line)));
    RG_TRY(encode(&x->target, to, tab + 1, bytes - (size_t)(tab + 1 - line)));
    x->previous.count = 0;
    RG_TRY(rg_ids_add(&x->previous, rg_vocab_bos(to)));
    for (size_t i = 0; i + 1 < x->target.count; i++) RG_TRY(rg_ids_add(&x->previous, x->target.data[i]));
    const int32_t  from[] = { 0, (int32_t)x->source.count }, into[] = { 0, (int32_t)x->target.count };
    const rg_batch batch = { .examples = 1,
                             .fields = 2,
                             .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = from },
                                                        .ids = x->source.data },
                                        [RG_TARGET] = { .layout = { .groups = 1, .start = into },
                                                        .ids = x->target.data,
                                                        .previous = x->previous.data } },
                             .lines = &number };
    return rg_influence_add(x->out, &batch);
}

rg_status rg_translation_influence(rg_influence *out, const rg_model *m, const rg_question *q)
{
    reading         x = { .translator = m->assets, .out = out };
    const rg_status status = rg_question_texts(q, add_pair, &x);
    rg_ids_free(&x.source);
    rg_ids_free(&x.target);
    rg_ids_free(&x.previous);
    return status;
}
