/* beam.h - the book-keeping of a search: who lives, what was chosen, what was attended to. No model here. */
#ifndef RG_DECODE_BEAM_H
#define RG_DECODE_BEAM_H

#include "regard/decode.h"
#include "tensor/kernels.h"

/* What the hypotheses of a step looked at: filled by a watch point. */
typedef struct rg_step_attention {
    const rg_decoding *decoding;
    const char        *name;
    int                head;
    rg_real           *weights; /* a row of its whole source for each hypothesis, heads folded */
    size_t             room;
    size_t             rows;    /* hypotheses; 0: nothing was seen this step */
    size_t            *first;   /* rows + 1                                   */
    size_t             first_room;
    bool               out_of_memory;
} rg_step_attention;

void       rg_step_attention_init(rg_step_attention *seen, const rg_decoding *d, const rg_search_config *c);
void       rg_step_attention_fini(rg_step_attention *seen);
void       rg_step_attention_clear(rg_step_attention *seen);
rg_watcher rg_step_attention_watcher(rg_step_attention *seen);

/* What can be answered: tokens 0 .. count - 1, the one every answer starts from, the one that ends it. With a
 * shortlist, source i has the tokens list[start[i]] .. list[start[i + 1] - 1], rising, and its columns of scores are
 * these. */
typedef struct rg_beam_words {
    size_t         count;
    int32_t        bos, eos;
    const int32_t *source; /* tokens of the sources, -1 for what no answer has; NULL: nobody asks */
    const int32_t *list;  /* NULL: all tokens */
    const size_t  *start; /* sources + 1      */
} rg_beam_words;

/* extract.c: features of words that stand in the source x of n tokens; alpha has RG_EXTRACT weights. */
bool   rg_extract_wanted(const rg_search_config *c);
double rg_extract_bonus(const double *alpha, const int32_t *x, size_t n, int32_t before, int32_t last, int32_t next);
/* Add the bonus of every word of the source to its score; scores has `words` columns. */
void   rg_extract_add(rg_real *scores, const double *alpha, const int32_t *x, size_t n, size_t words, int32_t before,
                      int32_t last);

typedef struct rg_beams rg_beams;

rg_status rg_beams_new(rg_beams **out);
void      rg_beams_free(rg_beams *b);

/* One hypothesis a source. Everything a run allocates comes from `arena`. */
rg_status      rg_beams_start(rg_beams *b, rg_arena *arena, const rg_search_config *c, const rg_beam_words *words,
                              const rg_layout *sources, const uint64_t *numbers, const rg_ids *prefix);
size_t         rg_beams_live(const rg_beams *b);
const int32_t *rg_beams_tokens(const rg_beams *b); /* the last token of each live hypothesis */
/* Choose among the scores of all next tokens. seen may be NULL. */
rg_status      rg_beams_step(rg_beams *b, const rg_real *scores, size_t ld, const rg_step_attention *seen);
const int32_t *rg_beams_parents(const rg_beams *b, size_t *out_n); /* which old row each live hypothesis continues */
rg_status      rg_beams_answers(const rg_answers **out, rg_beams *b);

#endif
