/* session.h - what the parts of translating lines share. */
#ifndef RG_TASKS_SESSION_H
#define RG_TASKS_SESSION_H

#include <stdatomic.h>

#include "regard/copies.h"
#include "tasks/terms.h"

/* Tokens of an answer that stand for a term which they do not spell. */
typedef struct rg_spelt {
    size_t      at, count;
    const char *text;
} rg_spelt;

typedef struct rg_session_item { /* one line on its way */
    rg_ids         source, prefix;
    rg_text        line; /* as the vocabulary sees it, and the part of each piece; only where they are looked up */
    rg_spans       spans;
    rg_ids         copies; /* models that copy: of each piece the id it has in an answer */
    rg_open_words *words;  /* and the words beyond the vocabulary                        */
    size_t         extra;
    size_t         cut;
    rg_terms       terms; /* of the glossary that the line has */
    rg_spelt      *spelt;
    size_t         spelts;
    rg_translated  result;
} rg_session_item;

typedef struct rg_session_part {
    size_t from, count; /* of the order */
} rg_session_part;

struct rg_session {
    rg_translator *const *translators;
    size_t                count;
    int                   threads;
    rg_team              *team;
    rg_search           **search; /* one a thread, alone   */
    rg_search            *wide;   /* one with all threads; NULL when there is one thread */
    rg_arena            **arena;  /* results of each thread; the last belongs to `wide` */
    rg_forced           **forced; /* beside the arenas: made when a term has to be placed */
    rg_session_item      *items;
    size_t                room, used;
    size_t               *order;
    rg_session_part      *parts;
    size_t                batches;
    bool                  together; /* `wide` searches them, one after the other */

    const rg_session_config *config; /* of the run */
    size_t                   most;   /* source pieces read: what is asked for, or what a model can */
    uint64_t                 first;
    atomic_size_t            next;
    rg_status               *status; /* of each thread, with its message */
    char (*message)[512];
};

/* Search n lines together; answers are borrowed until the next search. prefix has an entry for each. */
rg_status rg_session_search(const rg_answers **out, rg_session *s, rg_search *search, rg_arena *arena,
                            const size_t *lines, const rg_ids *prefix, size_t n, bool scored);
/* Copy answers to the arena as what became of a line. */
rg_status rg_session_keep(rg_translated *out, rg_session *s, rg_arena *arena, rg_session_item *it,
                          const rg_answers *answers);
/* Search again those of n lines whose translations lack a term of the glossary (session_terms.c). */
rg_status rg_session_terms(rg_session *s, rg_search *search, size_t lane, const size_t *lines, size_t n);

#endif
