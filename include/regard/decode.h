/* decode.h - from a model to answers: greedy, beam search, sampling, forced prefixes and ensembles, over start / step /
 * keep alone.
 *
 * Each source is searched as if it were alone: batch mates, threads and order change no bit of its answers. */
#ifndef REGARD_DECODE_H
#define REGARD_DECODE_H

#include "regard/model.h"
#include "regard/shortlist.h"

RG_API_BEGIN

enum { RG_EXTRACT = 4 }; /* features of words that stand in the source */

/* What became of a candidate of a step. Dropped: among the best that were not kept; cut: ended by the length limit. */
typedef enum rg_beam_fate { RG_BEAM_KEPT, RG_BEAM_DROPPED, RG_BEAM_FINISHED, RG_BEAM_CUT } rg_beam_fate;
typedef struct rg_beam_event {
    uint64_t     number;      /* of the source                                                   */
    size_t       step;        /* from 0                                                          */
    size_t       id, parent;  /* of this candidate, from 1 per source; of what it extends, 0: <s> */
    int32_t      token;
    double       word, log_p; /* of the token, of all tokens so far                              */
    double       score;       /* what answers are ranked by, where it is finished or cut         */
    rg_beam_fate fate;
} rg_beam_event;

typedef struct rg_search_config {
    size_t   beam;          /* hypotheses kept; 1 is greedy                                                    */
    size_t   n_best;        /* answers wanted, at most beam                                                    */
    double   normalize;     /* score = log p / length^normalize; 0: log p                                       */
    bool     gnmt;          /* score = log p / ((5 + length) / 6)^normalize instead (Wu et al. 2016, equation 14)  */
    size_t   groups;        /* diverse beam search (Vijayakumar et al. 2016): the beam is cut into so many groups, of which each avoids the  */
    double   diversity;     /* tokens that earlier ones chose at the same step: so much is taken off for every time; groups 0, 1: one group  */
    double   word_penalty;  /* added to the score for each word                                                */
    double   coverage;      /* + coverage * sum_i log min(1, attention that source word i received) (GNMT)       */
    double   extract[RG_EXTRACT]; /* added to log p of a token that stands in the source (joint vocabularies), that with the token before *
                                   * it, with the two before, that with the one before it in the other order: ABS+; 0: not looked for     */
    double   length_factor; /* an answer is cut at factor * source length + length_extra tokens                 */
    size_t   length_extra;
    size_t   longest;       /* and at so many tokens, if not 0; a model that knows only so many positions lowers it */
    bool     endless;       /* eos is a token like others, such as the end of a line: only the length ends an answer */
    bool     no_unknown;    /* never answer the unknown word                                                   */
    int32_t  unknown;
    bool     sample;        /* draw instead of search (beam answers are n_best draws)                            */
    double   temperature;
    size_t   top;           /* draw among so many most likely tokens; 0: all                                    */
    double   top_p;         /* and of those among the fewest whose probabilities add up to this; 0, 1: all        */
    uint64_t seed;
    bool     unscored;      /* greedy only: log p is not asked for and stays 0, which saves a sum over the vocabulary */
    const rg_shortlist *shortlist; /* answer with the tokens it lists for a source; log p is over those. NULL: with all  */
    bool     attention;     /* record what each answer attended to                                             */
    const char *attention_name; /* watch point, "decoder.2.cross.weights"; NULL: the last one a step shows        */
    int      attention_head;    /* -1: mean of the heads                                                       */
    bool     attention_shift;   /* what a token attended to is what the step behind it looked at, which has read it */

    /* Deadlines, clients that left, a user who has seen enough: asked before a batch and once per step for each
     * source that is still searched, with its number, on the thread that searches. True: that source is given up and
     * has no answers; the others go on and do not change. NULL: never. It must be quick. */
    bool (*stop)(void *context, uint64_t number);
    void *stop_context;

    /* Every candidate that a step decides about, in the order of decisions, on the thread that searches; of candidates
     * that are not kept as many as the beam is wide, at least four; of samples, four likely ones that were not drawn.
     * NULL: nobody asks. */
    void (*trace)(void *context, const rg_beam_event *event);
    void *trace_context;
} rg_search_config;
#define RG_SEARCH_CONFIG_DEFAULT                                                                          \
    {                                                                                                     \
        .beam = 1, .n_best = 1, .normalize = 1, .length_factor = 2, .length_extra = 10, .temperature = 1, \
        .attention_head = -1                                                                              \
    }

typedef struct rg_answer {
    int32_t *tokens;    /* without bos; the closing eos is not among them                    */
    double  *word;      /* log p of each token, and of the eos: length + 1 (length when cut)  */
    size_t   length;
    double   log_p;     /* of the whole answer                                               */
    double   score;     /* what answers are ranked by                                        */
    bool     cut;       /* the length limit ended it                                         */
    rg_real *attention; /* (length + 1, source length): row per token, eos last; NULL: not asked */
    size_t   source_length;
} rg_answer;

/* Answers of one source, best first. */
typedef struct rg_answers {
    rg_answer *answer;
    size_t     count;
    bool       stopped; /* given up by rg_search_config.stop: no answers */
} rg_answers;

typedef struct rg_search rg_search;

/* One model, or several that share a vocabulary (probabilities are averaged). Models are borrowed and may be shared
 * by searches of other threads; a search has one caller at a time. */
rg_status rg_search_new(rg_search **out, const rg_model *const *models, size_t count, rg_team *team);
void      rg_search_free(rg_search *search);

/* Answers for every source of a field (rg_decoding_start): out[groups], borrowed until the next run. `numbers` (may
 * be NULL) gives each source the number its random draws depend on, its line; `prefix` (may be NULL) for each source
 * tokens the answer must begin with. RG_ENUMBER names the line for which no answer has a finite score. */
rg_status rg_search_run(const rg_answers **out, rg_search *search, const rg_search_config *config,
                        const rg_field *source, const uint64_t *numbers, const rg_ids *prefix);

/* ---------------------------------------------------------------------------------------------------- given answers */

typedef struct rg_forced rg_forced;

/* log p of answers that are given, by the pass training uses: one pass per batch instead of a step per token, and
 * the numbers search would have given them. Models are borrowed, several are an ensemble; the team's members take
 * shares of a batch. */
rg_status rg_forced_new(rg_forced **out, const rg_model *const *models, size_t count, rg_team *team);
void      rg_forced_free(rg_forced *forced);
/* *out: log p of every row of the batch's target, borrowed until the next run. A pair's numbers do not depend on the
 * other pairs. batch->lines must be there. */
rg_status rg_forced_run(const double **out, rg_forced *forced, const rg_batch *batch);

RG_API_END
#endif
