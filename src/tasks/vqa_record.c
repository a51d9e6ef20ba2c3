/* vqa_record.c - see vqa_record.h. */
#include "tasks/vqa_record.h"

#include <string.h>

#include "regard/record.h"

enum { MOST_HOPS = 8 };

typedef struct {
    size_t   questions, first, cells, hops;
    rg_real *map; /* (questions, MOST_HOPS, cells) */
} looked;

static bool wants(void *context, const char *name)
{
    (void)context;
    return strncmp(name, "hop.", 4) == 0 && strstr(name, "weights");
}

/* (questions of the batch * cells, 1): the cells of a question follow each other. */
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    looked      *l = context;
    const size_t hop = (size_t)(name[4] - '0');
    (void)reach;
    if (hop >= MOST_HOPS || (l->first + l->questions) * l->cells > rg_tensor_rows(x)) return;
    for (size_t q = 0; q < l->questions; q++)
        for (size_t i = 0; i < l->cells; i++)
            l->map[(q * MOST_HOPS + hop) * l->cells + i] = rg_tensor_at(x, (l->first + q) * l->cells + i, 0);
    if (hop >= l->hops) l->hops = hop + 1;
}

static rg_status look_again(looked *out, const rg_model *m, const rg_asked *asked)
{
    const rg_watcher watcher = { out, wants, see };
    rg_tape_set_watcher(asked->tape, &watcher);
    rg_tape_reset(asked->tape, 0);
    m->system->predict(asked->tape, m, asked->batch);
    rg_tape_set_watcher(asked->tape, NULL);
    return rg_tape_status(asked->tape);
}

/* Rows of question and hop that follow each other; labels of their own. */
static rg_status add_map(rg_record *r, looked *l, const char *const *answer, size_t cells)
{
    const size_t n = l->questions * l->hops;
    char       **label = rg_alloc_zero((n + 1) * sizeof *label);
    rg_status    status = label ? RG_OK : RG_ENOMEM;
    size_t       rows = 0;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        const size_t q = i / l->hops, hop = i % l->hops;
        char         number[24] = "";
        const bool   last = hop + 1 == l->hops;
        if (l->questions > 1) snprintf(number, sizeof number, "%zu, ", q + 1);
        label[i] = rg_format("%shop %zu%s%s", number, hop + 1, last ? ": " : "", last ? answer[q] : "");
        if (!label[i]) status = RG_ENOMEM;
        memmove(l->map + i * l->cells, l->map + (q * MOST_HOPS + hop) * l->cells, l->cells * sizeof *l->map);
    }
    if (status == RG_OK)
        status = rg_record_add_labels(&rows, r, "question", RG_LABEL_TOKEN, (const char *const *)label, n);
    rg_map_place place = RG_MAP_PLACE_DEFAULT;
    place.name = "hops";
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, cells, l->map, l->cells);
    for (size_t i = 0; label && i < n; i++) rg_free(label[i]);
    rg_free(label);
    return status;
}

/* With --explain: rows are the questions. */
static rg_status explain(rg_record *r, const rg_model *m, const rg_asked *asked, size_t questions)
{
    const char **label = rg_alloc_array(questions + 1, sizeof *label);
    char        *copy = rg_strdup(asked->text);
    size_t       n = 0;
    rg_status    status = label && copy ? RG_OK : RG_ENOMEM;
    for (char *line = copy; status == RG_OK && line && n < questions; n++) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        label[n] = line;
        line = end ? end + 1 : NULL;
    }
    if (status == RG_OK) status = rg_record_add_labels(NULL, r, "question", RG_LABEL_TOKEN, label, n);
    if (status == RG_OK) status = rg_asked_collect(r, m, asked, "question");
    rg_free(label);
    rg_free(copy);
    return status;
}

static rg_status join(rg_text *out, const char *const *answer, size_t n)
{
    for (size_t i = 0; i < n; i++) RG_TRY(rg_text_print(out, "%s%s", i ? ", " : "", answer[i]));
    return RG_OK;
}

rg_status rg_vqa_record(const rg_sink *sink, const rg_model *m, const rg_asked *asked, const char *const *answer,
                        size_t questions, size_t first)
{
    looked     l = { .questions = questions,
                     .first = first,
                     .cells = rg_model_size(m, "cells-down") * rg_model_size(m, "cells-across") };
    rg_record *r = NULL;
    rg_text    said = { 0 };
    char      *title = rg_strdup(asked->text);
    rg_asked   titled = *asked;
    for (char *c = title; c && *c; c++)
        if (*c == '\n') *c = '/';
    titled.text = title;
    l.map = rg_alloc_zero((questions * MOST_HOPS * l.cells + 1) * sizeof *l.map);
    rg_status status = l.map && title ? join(&said, answer, questions) : RG_ENOMEM;
    if (status == RG_OK && !asked->explain) status = look_again(&l, m, asked);
    if (status == RG_OK) status = rg_asked_record(&r, &titled, "question", rg_text_c(&said));
    if (status == RG_OK) status = rg_pictured_add_cells(r, m, asked);
    if (status == RG_OK && asked->explain) status = explain(r, m, asked, questions);
    if (status == RG_OK && l.hops) status = add_map(r, &l, answer, 0); /* the cells are the first labels */
    if (status == RG_OK) status = sink->record(sink->context, r);
    rg_record_free(r);
    rg_text_free(&said);
    rg_free(title);
    rg_free(l.map);
    return status;
}
