/* recipe_judge.c - see recipe_judge.h. */
#include "lab/recipe_judge.h"

#include <math.h>
#include <stdlib.h>

#include "regard/reader.h"
#include "tasks/pictured.h"
#include "tasks/recipe.h"

enum { TITLE,
       DIRECTIONS,
       NATS };

typedef struct {
    double nats, tokens;
} sums;

static rg_status add(sums *s, const rg_vocab *vocab, const rg_row *row, const char *table)
{
    rg_text      text = { 0 };
    rg_ids       ids = { 0 };
    char        *end;
    const double nats = strtod(row->cell[NATS].bytes, &end);
    if (end == row->cell[NATS].bytes || !(nats >= 0 && isfinite(nats)))
        return rg_fail(RG_EFORMAT, "%s, line %llu: column nats has '%s', which is no entropy", table,
                       (unsigned long long)row->line, row->cell[NATS].bytes);
    rg_status status = rg_recipe_text(&text, row->cell[TITLE].bytes, row->cell[DIRECTIONS].bytes);
    if (status == RG_OK) status = rg_vocab_encode(&ids, NULL, vocab, rg_text_c(&text), text.length);
    s->nats += nats;
    s->tokens += (double)ids.count + 1;
    rg_ids_free(&ids);
    rg_text_free(&text);
    return status;
}

static rg_status add_all(sums *s, const rg_vocab *vocab, const char *table)
{
    static const char *const wanted[] = { "title", "directions", "nats" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r = NULL;
    c.wanted = wanted, c.wanted_count = 3, c.header = RG_HEADER_YES;
    rg_status status = rg_reader_open(&r, table, &c);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more) status = add(s, vocab, &row, table);
    }
    rg_reader_close(r);
    return status;
}

rg_status rg_recipe_grammar(double *out, const rg_model *model, const char *table)
{
    sums s = { 0 };
    RG_TRY(add_all(&s, ((const rg_pictured_assets *)model->assets)->vocab, table));
    if (s.tokens <= 0) return rg_fail(RG_EFORMAT, "%s: no recipes", table);
    *out = exp(s.nats / s.tokens);
    return RG_OK;
}
