/* ranks.h - which head aligns? Attention over the source compared with a word aligner, or with links made by people. */
#ifndef REGARD_RANKS_H
#define REGARD_RANKS_H

#include "regard/translate.h"

RG_API_BEGIN

typedef struct rg_head_ranks_config {
    int         iterations; /* of the aligner                                                       */
    size_t      most;       /* pairs that go through the model; the aligner learns from all           */
    const char *gold;       /* links "3-4 5?6" a line, source-target, words counted from 0; NULL: the aligner */
    bool        shift;      /* a token's links are looked for in the row behind it, which has read it        */
} rg_head_ranks_config;
#define RG_HEAD_RANKS_CONFIG_DEFAULT { .iterations = 5, .most = 1000 }

typedef struct rg_head_score {
    char  *name;  /* watch point: "decoder.1.cross.weights"                                     */
    int    head;  /* -1: mean of the heads                                                     */
    double score; /* share of the aligner's links it finds; with gold links 1 - AER (Och and Ney 2003) */
    double content; /* the same share of the links between content words; with gold links 0    */
} rg_head_score;

typedef struct rg_head_ranks {
    rg_head_score *score; /* best first: by content, then by score */
    size_t         count, pairs, links, content_links;
    const char    *source_language, *target_language; /* whose small words are no content ("en"); NULL: only punctuation is none */
} rg_head_ranks;

/* Forced passes of the pairs of `corpus`. RG_EINVAL when the model has no attention over its source. */
rg_status rg_head_ranks_new(rg_head_ranks **out, const rg_translator *translator, rg_corpus *corpus,
                            const rg_head_ranks_config *config);
void      rg_head_ranks_free(rg_head_ranks *heads);
/* Make this one the translator's alignment, shifted or not as it was measured. */
rg_status rg_head_ranks_choose(rg_translator *translator, const rg_head_score *score, bool shift);

RG_API_END
#endif
