/* terms.h - where a wanted term belongs in an answer that lacks it. */
#ifndef RG_TASKS_TERMS_H
#define RG_TASKS_TERMS_H

#include "regard/glossary.h"
#include "regard/translate.h"

/* A term of a line as the model reads it: source pieces from .. to - 1. */
typedef struct rg_line_term {
    const rg_term *term;
    size_t         from, to;
} rg_line_term;

/* An answer that lacks terms. Its first `kept` tokens stay. */
typedef struct rg_lacking {
    const int32_t      *source; /* closed by </s>, where the vocabulary has one */
    size_t              source_length;
    const int32_t      *answer; /* without </s> */
    size_t              length, kept;
    const rg_real      *attention; /* (length + 1, source_length); NULL: the model has none */
    const rg_line_term *term;      /* the missing ones, in the order of the line */
    size_t              terms;
    uint64_t            number;
} rg_lacking;

/* answer[0 .. at) and then the tokens; what stood at .. next is what the term replaces (at == next: nothing). */
typedef struct rg_placement {
    size_t      term, at, next;
    int32_t    *tokens;
    size_t      count;
    const char *text;    /* the form that was chosen, with a capital where the answer has one          */
    bool        spelt;   /* the tokens do not spell it: the text has to be put in their place          */
    bool        unknown; /* the model does not know all of it: what it would say next means little     */
} rg_placement;

/* The leftmost placement of a missing term. What it holds is on `arena`. `forced` has the models of the search. */
rg_status rg_terms_place(rg_placement *out, rg_arena *arena, rg_forced *forced, const rg_translator *translator,
                         const rg_lacking *lacking);

/* The pieces of source (spans: bytes of `normal`, the line as the vocabulary sees it) of each term of a line, those
 * past `pieces` left out. *out is on the arena. */
rg_status rg_terms_pieces(rg_line_term **out, size_t *out_count, rg_arena *arena, const rg_terms *terms,
                          const rg_vocab *vocab, const rg_spans *spans, size_t pieces);

#endif
