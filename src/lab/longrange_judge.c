/* longrange_judge.c - how often a language model predicts the last word of a sentence, where the blank looks (attention
 * rollout), and which word's values it needs most (value zeroing). */
#include "lab/longrange.h"

#include <string.h>

#include "regard/explain.h"
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

/* --------------------------------------------------------------------------------------------------- the cue's share */

/* A sentence up to its last word, and where its cue stands. */
typedef struct {
    const char *text;
    rg_ids      ids;        /* <s> and the words before the blank */
    int32_t     answer;     /* the word that is blank             */
    size_t      first, end; /* of the cue in ids                  */
} gap;

static rg_status gap_of(gap *out, const rg_model *m, const char *text, const char *cue)
{
    const rg_vocab *vocab = ((const rg_language_model *)m->assets)->vocab;
    const char     *at = strstr(text, cue);
    if (!at) return rg_fail(RG_EFORMAT, "\"%s\" is not in its sentence", cue);
    out->text = text;
    RG_TRY(rg_ids_add(&out->ids, (int32_t)rg_model_size(m, "bos")));
    RG_TRY(rg_vocab_encode(&out->ids, NULL, vocab, text, (size_t)(at - text)));
    out->first = out->ids.count;
    out->ids.count = 1;
    RG_TRY(rg_vocab_encode(&out->ids, NULL, vocab, text, (size_t)(at - text) + strlen(cue)));
    out->end = out->ids.count;
    out->ids.count = 1;
    RG_TRY(rg_vocab_encode(&out->ids, NULL, vocab, text, strlen(text)));
    out->answer = out->ids.data[--out->ids.count];
    return RG_OK;
}

/* Does the largest of v[1 .. n-2], what stands before the row of the blank, lie on the cue? */
static bool points_at_cue(const gap *g, const double *v)
{
    size_t best = 1;
    for (size_t i = 2; i + 1 < g->ids.count; i++)
        if (v[i] > v[best]) best = i;
    return best >= g->first && best < g->end;
}

static rg_status by_rollout(bool *out, const rg_model *m, const gap *g)
{
    rg_record *r = NULL;
    double    *v = NULL;
    rg_status  status = rg_language_record(&r, m, &g->ids, g->text, g->answer, false, NULL);
    if (status == RG_OK) status = rollout(&v, r, g->ids.count);
    if (status == RG_OK) *out = points_at_cue(g, v);
    rg_free(v);
    rg_record_free(r);
    return status;
}

/* The word whose values log p of the missing word misses most. */
static rg_status by_zeroing(bool *out, const rg_model *m, const gap *g)
{
    rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    const size_t       n = g->ids.count;
    rg_record         *r = NULL;
    double            *v = rg_alloc_zero(n * sizeof *v);
    o.by = "zeroing";
    rg_status status = v ? rg_language_record(&r, m, &g->ids, g->text, g->answer, false, &o) : RG_ENOMEM;
    for (size_t k = 0; status == RG_OK && k < r->maps; k++)
        for (size_t j = 0; strcmp(r->map[k].name, "zeroing") == 0 && j < n; j++)
            v[j] = (double)rg_map_weight(&r->map[k], n - 1, j);
    if (status == RG_OK) *out = points_at_cue(g, v);
    rg_free(v);
    rg_record_free(r);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

enum { LOOKED_AT = 300 }; /* sentences whose blank is looked into */

static rg_status judge_model(longrange_figures *out, const rg_model *m, const rg_line_list *text,
                             const rg_line_list *cue)
{
    const size_t most = text->count - 1 < LOOKED_AT ? text->count - 1 : LOOKED_AT;
    size_t       rolled = 0, zeroed = 0;
    out->parameters = (double)rg_params_numbers(m->params);
    out->attends = !m->system->carries;
    RG_TRY(rg_language_cloze(&out->right, m, (const char *const *)text->line + 1,
                             text->count - 1)); /* behind the heading */
    for (size_t i = 1; out->attends && i <= most; i++) {
        gap       g = { 0 };
        bool      roll = false, zero = false;
        rg_status status = gap_of(&g, m, text->line[i], cue->line[i]);
        if (status == RG_OK) status = by_rollout(&roll, m, &g);
        if (status == RG_OK) status = by_zeroing(&zero, m, &g);
        rg_ids_free(&g.ids);
        RG_TRY(status);
        rolled += roll;
        zeroed += zero;
    }
    out->by_rollout = (double)rolled / (double)most;
    out->by_zeroing = (double)zeroed / (double)most;
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
