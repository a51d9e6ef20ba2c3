/* markup.h - the tags inside a line: what they enclose, and where they go in its translation.
 *
 *   html.c  reads them, entities.c reads and writes characters      links.c  which words of a translation stand for which of the source
 *   markup.c  puts them back: every tag once, elements nested as they were, around the words that stand for what they enclosed */
#ifndef RG_SERVE_MARKUP_H
#define RG_SERVE_MARKUP_H

#include "serve/serve.h"

typedef struct rg_range {
    size_t begin, end;
} rg_range;

/* Which parts of a translation stand for which parts of its source. */
typedef struct rg_links {
    size_t    targets, sources; /* subwords                                                                     */
    rg_range *target;           /* bytes of the translation                                                     */
    double   *source;           /* where the middle of each lies in the source line: 0 .. its bytes             */
    double   *sum;              /* (targets, sources + 1): attention of a subword to the sources before column j */
} rg_links;

/* From the attention of answer number `rank`; without any, from the diagonal. rg_links_free also after a failure. */
rg_status rg_links_make(rg_links *out, const rg_translator *translator, const char *line, const rg_translated *result,
                        size_t rank);
void      rg_links_free(rg_links *links);

/* The translation with the line's tags, and with its signs written for HTML. */
rg_status rg_markup_write(rg_text *out, const rg_part *line, const char *translation, const rg_links *links);

/* The character of HTML that stands at text[*at], which is set behind it; and text as HTML. */
rg_status rg_html__character(rg_text *out, const char *text, size_t end, size_t *at);
rg_status rg_html__escape(rg_text *out, const char *text, size_t bytes);

/* segments.c */
rg_status rg_segments__add(rg_segments *segments, const char *text, size_t bytes, bool line);

#endif
