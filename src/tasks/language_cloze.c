/* language_cloze.c - lines whose last token is to be predicted from what stands before it: how often it is the
 * likeliest of all. */
#include <string.h>

#include "regard/text.h"
#include "tasks/language.h"

/* The likeliest token behind ids[0 .. count-1]. */
static rg_status likeliest(int32_t *out, rg_decoding *d, const int32_t *ids, size_t count, size_t V)
{
    const rg_field source = { .layout.groups = 1 };
    const int32_t  same = 0;
    const rg_real *logits = NULL;
    size_t         ld;
    RG_TRY(rg_decoding_start(d, &source));
    for (size_t i = 0; i < count; i++) {
        if (i) RG_TRY(rg_decoding_keep(d, &same, 1));
        RG_TRY(rg_decoding_step(&logits, &ld, d, &ids[i]));
    }
    *out = 0;
    for (size_t c = 1; logits && c < V; c++)
        if (logits[c] > logits[*out]) *out = (int32_t)c;
    return RG_OK;
}

static rg_status judge_line(bool *out, rg_decoding *d, rg_ids *ids, const rg_model *m, const char *line)
{
    const rg_vocab *vocab = ((const rg_language_model *)m->assets)->vocab;
    int32_t         best = -1;
    ids->count = 0;
    RG_TRY(rg_ids_add(ids, (int32_t)rg_model_size(m, "bos")));
    RG_TRY(rg_vocab_encode(ids, NULL, vocab, line, strlen(line)));
    *out = false;
    if (ids->count < 2) return RG_OK; /* an empty line */
    RG_TRY(likeliest(&best, d, ids->data, ids->count - 1, rg_vocab_size(vocab)));
    *out = best == ids->data[ids->count - 1];
    return RG_OK;
}

rg_status rg_language_cloze(double *out, const rg_model *m, const char *const *lines, size_t count)
{
    rg_decoding *d = NULL;
    rg_ids       ids = { 0 };
    size_t       right = 0;
    if (!count) return rg_fail(RG_EINVAL, "there is no line whose last token could be predicted");
    rg_status status = rg_decoding_new(&d, m, NULL);
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        bool good = false;
        status = judge_line(&good, d, &ids, m, lines[i]);
        right += good;
    }
    rg_decoding_free(d);
    rg_ids_free(&ids);
    *out = (double)right / (double)count;
    return status;
}
