/* longrange_judge.c - how often a language model predicts the last word of a sentence, and where the blank looks
 * (attention rollout). */
#include "lab/longrange.h"

#include <string.h>

#include "regard/view.h"
#include "tasks/language.h"

/* ---------------------------------------------------------------------------------------------------------- rollout */

/* The rollout of the last row: v <- v (A + I) / 2 from the last layer to the first. NULL: no maps of layers over the
 * words. */
static rg_status rollout(double **out, const rg_record *r, size_t n)
{
    int layers = 0;
    for (size_t k = 0; k < r->maps; k++)
        if (r->map[k].layer >= layers) layers = r->map[k].layer + 1;
    double *v = *out = rg_alloc_zero(2 * n * sizeof *v), *next = v ? v + n : NULL;
    if (!v) return RG_ENOMEM;
    v[n - 1] = 1;
    for (int l = layers - 1; l >= 0; l--) {
        double heads = 0;
        for (size_t k = 0; k < r->maps; k++) heads += r->map[k].layer == l;
        for (size_t j = 0; j < n; j++) next[j] = v[j] / 2;
        for (size_t k = 0; k < r->maps; k++)
            for (size_t i = 0; r->map[k].layer == l && i < n; i++)
                for (size_t j = 0; j < n; j++) next[j] += v[i] * (double)rg_map_weight(&r->map[k], i, j) / (2 * heads);
        memcpy(v, next, n * sizeof *v);
    }
    return RG_OK;
}

/* Does the largest weight before the blank lie on a token of the cue? */
static rg_status looks_at_cue(bool *out, const rg_model *m, const char *text, const char *cue)
{
    const rg_vocab *vocab = ((const rg_language_model *)m->assets)->vocab;
    const char     *at = strstr(text, cue);
    rg_ids          ids = { 0 };
    rg_record      *r = NULL;
    double         *v = NULL;
    size_t          first = 0, end = 0, best = 1;
    if (!at) return rg_fail(RG_EFORMAT, "\"%s\" is not in its sentence", cue);
    rg_status status = rg_ids_add(&ids, (int32_t)rg_model_size(m, "bos"));
    if (status == RG_OK) status = rg_vocab_encode(&ids, NULL, vocab, text, (size_t)(at - text));
    first = ids.count;
    ids.count = 1;
    if (status == RG_OK) status = rg_vocab_encode(&ids, NULL, vocab, text, (size_t)(at - text) + strlen(cue));
    end = ids.count;
    ids.count = 1;
    if (status == RG_OK) status = rg_vocab_encode(&ids, NULL, vocab, text, strlen(text));
    ids.count--; /* the blank is what follows the last token that is read */
    if (status == RG_OK) status = rg_language_record(&r, m, &ids, text, rg_vocab_eos(vocab), false, NULL);
    if (status == RG_OK) status = rollout(&v, r, ids.count);
    for (size_t i = 2; status == RG_OK && i + 1 < ids.count; i++)
        if (v[i] > v[best]) best = i;
    *out = best >= first && best < end;
    rg_free(v);
    rg_record_free(r);
    rg_ids_free(&ids);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

enum { LOOKED_AT = 300 }; /* sentences whose attention is rolled out */

static rg_status judge_model(longrange_figures *out, const rg_model *m, const rg_line_list *text,
                             const rg_line_list *cue)
{
    size_t on = 0, seen = 0;
    out->parameters = (double)rg_params_numbers(m->params);
    out->rolled = !m->system->carries;
    RG_TRY(rg_language_cloze(&out->right, m, (const char *const *)text->line + 1,
                             text->count - 1)); /* behind the heading */
    for (size_t i = 1; out->rolled && i < text->count && seen < LOOKED_AT; i++, seen++) {
        bool good = false;
        RG_TRY(looks_at_cue(&good, m, text->line[i], cue->line[i]));
        on += good;
    }
    out->on_cue = seen ? (double)on / (double)seen : 0;
    return RG_OK;
}

rg_status longrange_judge(longrange_figures *out, const char *model, const char *test)
{
    rg_line_list text = { 0 }, cue = { 0 };
    rg_model    *m = NULL;
    rg_status    status = rg_line_list_read(&text, test, 0);
    if (status == RG_OK) status = rg_line_list_read(&cue, test, 1);
    if (status == RG_OK && (text.count < 2 || text.count != cue.count))
        status = rg_fail(RG_EFORMAT, "%s: no sentences and cues", test);
    if (status == RG_OK) status = rg_model_load(&m, model, &rg_task_language);
    if (status == RG_OK) status = judge_model(out, m, &text, &cue);
    rg_model_free(m);
    rg_line_list_free(&text);
    rg_line_list_free(&cue);
    return status;
}
