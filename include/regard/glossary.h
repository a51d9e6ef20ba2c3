/* glossary.h - terms with the translations that are wanted for them: which of them a line has, and which of those a
 * translation lacks. How a search is made to use them is in src/tasks/terms.c.
 *
 *     dog <tab> Köter                  the wanted translation
 *     dogs <tab> Köter <tab> Kötern    several forms: the model chooses among them
 *     Tom <tab> keep                   copied as it stands in the line; an empty target means the same
 *
 * A term is found between word boundaries. One written in lower case is found in any case (dog, Dog, DOG), one with a
 * capital as it is written. Of terms that overlap in a line the longest is taken. */
#ifndef REGARD_GLOSSARY_H
#define REGARD_GLOSSARY_H

#include "regard/text.h"

RG_API_BEGIN

enum {
    RG_GLOSSARY_TERMS = 1 << 20, /* of one glossary               */
    RG_GLOSSARY_BYTES = 1000,    /* of a term, of a target        */
    RG_GLOSSARY_WORDS = 16,      /* between blanks, of a term     */
    RG_GLOSSARY_FORMS = 16       /* targets of a term             */
};

typedef struct rg_glossary rg_glossary; /* once ready it never changes: any number of threads may use one */

rg_status rg_glossary_new(rg_glossary **out);
void      rg_glossary_free(rg_glossary *glossary);
/* A term and the forms of its translation; none, or one that is "" or "keep", copies the term ("\keep" is the word).
 * Bad ones are RG_EFORMAT or RG_ELIMIT; the message has no place: the caller knows it. */
rg_status rg_glossary_add(rg_glossary *glossary, const char *term, const char *const *forms, size_t count,
                          uint64_t line);
/* After the last term. RG_EFORMAT when one stands there twice, with both lines. */
rg_status rg_glossary_ready(rg_glossary *glossary);
/* A file of lines: term, then targets, tabs between them; empty lines are passed over. Faults name file and line. */
rg_status rg_glossary_load(rg_glossary **out, const char *path);
size_t    rg_glossary_size(const rg_glossary *glossary);

/* A term in a line. */
typedef struct rg_term {
    size_t             begin, end; /* bytes of rg_terms.line                              */
    const char *const *forms;      /* of the glossary; NULL: `kept` is the only one       */
    size_t             count;
    char              *kept;       /* the text itself                                     */
} rg_term;
typedef struct rg_terms {
    rg_term *term; /* in the order of the line */
    size_t   count, room;
    rg_text  line; /* clean, blanks squeezed */
} rg_terms;

const char *rg_term_form(const rg_term *term, size_t form);
/* The terms of a line, in place of what `out` held (all zero: nothing). */
rg_status rg_glossary_find(rg_terms *out, const rg_glossary *glossary, const char *line);
void      rg_terms_free(rg_terms *terms); /* and empty it */
/* missing[i]: the text has no form of term i, between word boundaries, beside those of the other terms. At its very
 * beginning a form may have a capital. Returns how many are missing in *out. */
rg_status rg_terms_missing(size_t *out, bool *missing, const rg_terms *terms, const char *text);
/* Append a form with a capital at its beginning. */
rg_status rg_term_capital(rg_text *out, const char *form);

RG_API_END
#endif
