/* segments.c - a text as lines to translate: the sentences of a document (regard/document.h). */
#include "serve/serve.h"

#include <string.h>

void rg_segments_free(rg_segments *s)
{
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->part[i].count; k++) rg_free(s->part[i].best[k]);
        rg_free(s->part[i].best);
        json_decref(s->part[i].score);
    }
    rg_free(s->part);
    rg_free(s->kept);
    rg_document_free(s->document);
    *s = (rg_segments){ 0 };
}

rg_status rg_segments_cut(rg_segments *s, const char *bytes, size_t count, const rg_document_config *config)
{
    *s = (rg_segments){ 0 };
    RG_TRY(rg_document_read(&s->document, bytes, count, config));
    const size_t n = rg_document_count(s->document);
    if (!(s->part = rg_alloc_zero((n + 1) * sizeof *s->part))) return RG_ENOMEM;
    s->count = s->lines = n;
    for (size_t i = 0; i < n; i++)
        s->part[i] = (rg_part){ .text = rg_document_text(s->document, i),
                                .line = true,
                                .segments = s,
                                .number = i,
                                .marked = !rg_document_plain(s->document, i) };
    return RG_OK;
}

rg_status rg_segments_keep(rg_segments *out, const char *text)
{
    *out = (rg_segments){ .kept = rg_strdup(text) };
    return out->kept ? RG_OK : RG_ENOMEM;
}

/* One translation, with the tags of the sentence where attention says. */
static rg_status render(rg_text *out, const rg_part *line, const rg_translator *t, const rg_translated *result,
                        size_t rank)
{
    rg_links  links = { 0 };
    rg_status status = line->marked ? rg_links_make(&links, t, line->text, result, rank) : RG_OK;
    if (status == RG_OK)
        status = rg_document_render(out, line->segments->document, line->number, result->best[rank].text,
                                    line->marked ? &links : NULL);
    rg_links_free(&links);
    return status;
}

rg_status rg_segments_translated(rg_part *line, const rg_translator *t, const rg_translated *result)
{
    rg_free(line->best);
    if (!(line->best = rg_alloc_zero((result->count + 1) * sizeof *line->best))) return RG_ENOMEM;
    for (size_t k = 0; k < result->count; k++) {
        rg_text   text = { 0 };
        rg_status status = render(&text, line, t, result, k);
        if (status == RG_OK && !(line->best[k] = rg_strdup(rg_text_c(&text)))) status = RG_ENOMEM;
        rg_text_free(&text);
        RG_TRY(status);
        line->count++;
    }
    return RG_OK;
}

bool rg_segments_recalled(rg_part *line, const rg_translation_memory *memory)
{
    const char *known = memory ? rg_translation_memory_find(memory, line->text) : NULL;
    rg_text     text = { 0 };
    if (!known || rg_document_render(&text, line->segments->document, line->number, known, NULL) != RG_OK ||
        !(line->best = rg_alloc_zero(2 * sizeof *line->best))) {
        rg_text_free(&text);
        return false; /* without memory it is translated, which says so */
    }
    line->best[0] = rg_strdup(rg_text_c(&text));
    line->count = line->best[0] ? 1 : 0;
    rg_text_free(&text);
    return line->count == 1;
}

typedef struct {
    const rg_segments *segments;
    size_t             rank;
} choice;

static const char *rendered(void *context, size_t i)
{
    const choice  *c = context;
    const rg_part *p = &c->segments->part[i];
    return p->count ? p->best[c->rank < p->count ? c->rank : p->count - 1] : "";
}

rg_status rg_segments_join(rg_text *out, const rg_segments *s, size_t rank)
{
    if (!s->document) return rg_text_add_string(out, s->kept ? s->kept : "");
    return rg_document_join(out, s->document, rendered, &(choice){ s, rank });
}
