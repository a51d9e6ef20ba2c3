/* language.h - text -> text that goes on: settings, and what is asked of a trained language model. */
#ifndef RG_TASKS_LANGUAGE_H
#define RG_TASKS_LANGUAGE_H

#include "regard/carry.h"
#include "regard/task.h"

typedef struct rg_language_options {
    rg_list train_sets, valid_sets, test_sets, vocabs;
    char   *vocab_kind, *form, *cut, *windows, *loss_per, *cloze;
    int64_t dim_vocabs, vocab_min_count, batch, chunk, bptt, context, samples;
    double  valid_share, mask_share;
    bool    numbers;
} rg_language_options;
extern const rg_option rg_language_rows[];

/* What a model of this task needs beside weights. */
typedef struct rg_language_model {
    rg_model *model;
    rg_vocab *vocab; /* NULL: numbers */
} rg_language_model;

void      rg_language_drop(void *assets);
rg_status rg_language_sizes(rg_sizes *sizes, const rg_vocab *vocab); /* of a vocabulary: sizes of the model */

/* ---------------------------------------------------------------------------------------------- language_reading.c */

/* Room for what the model's streams carry; the caller's to free. */
rg_status rg_language_carry(rg_carry **out, const rg_model *model, size_t streams);

/* Reads a text from its beginning, piece by piece, and says how likely each was. Recurrent models trained on streams
 * carry their state through the whole text; models of windows read windows of `context` pieces one after another, so
 * that the last pieces of a window see more than the first. How the text is handed over changes no bit of the answers.
 */
typedef struct rg_text_reading rg_text_reading;
rg_status                      rg_text_reading_new(rg_text_reading **out, const rg_model *model, rg_team *team);
void                           rg_text_reading_free(rg_text_reading *reading);
void                           rg_text_reading_begin(rg_text_reading *reading); /* another text */
/* log p of the next n pieces. RG_ENUMBER when one is not finite. */
rg_status rg_text_reading_feed(double *log_p, rg_text_reading *reading, const int32_t *ids, size_t n);

/* ----------------------------------------------------------------------------------------------- language_masked.c */

/* Systems that read text with hidden pieces (`reads` is "masked") say what these were. */
bool rg_language_masks(const rg_system *system);
/* What goes in for a hidden piece: the vocabulary's [MASK], or -1. */
int32_t rg_language_mask(const rg_vocab *vocab);

typedef struct rg_masked rg_masked; /* language_mask.h */
/* One pass over windows, which is begun anew: accuracy and loss of the chosen pieces, the accuracy of always saying
 * the most frequent of them, and of pairs of segments how often the model knows whether the second follows. */
rg_status rg_language_judge_masked(rg_metrics *out, const char *of, rg_run *run, rg_masked *windows);

/* Answers with what stood at every [MASK] of a text; where there is none, at its end. */
rg_status rg_language_fill(const rg_model *model, const rg_question *question);

/* ----------------------------------------------------------------------------------------------- language_answer.c */

typedef struct rg_language_asking {
    int64_t top;
    bool    gates;
} rg_language_asking;
extern const rg_option rg_language_asking_rows[];
rg_status              rg_language_answer(const rg_model *model, const rg_question *question);

/* ---------------------------------------------------------------------------------------------- language_numbers.c */

/* Models of numbers: rows in, the next row or rows out. */
bool      rg_language_counts(const rg_model *model); /* is it one of them? */
rg_status rg_numbers_answer(const rg_model *model, const rg_question *question);
rg_status rg_numbers_score(const rg_model *model, const rg_question *question);
rg_status rg_numbers_generate(const rg_model *model, const rg_question *question);

/* ----------------------------------------------------------------------------------------------- language_record.c */

/* Of the last of `ids` (what stands before the text, then the text). `next`: the token that the
 * model expects behind them. `gates`: what gates did instead of attention. explain may be NULL. */
rg_status rg_language_record(rg_record **out, const rg_model *model, const rg_ids *ids, const char *line,
                             int32_t next, bool gates, const rg_explain_options *explain);

/* ------------------------------------------------------------------------------------------------ language_score.c */

rg_status rg_language_score(const rg_model *model, const rg_question *question);

/* --------------------------------------------------------------------------------------------- language_generate.c */

typedef struct rg_language_drawing {
    rg_list prompts;
    int64_t n, length, top, seed, batch;
    double  temperature, top_p;
    bool    one_line, unknown;
} rg_language_drawing;
extern const rg_option rg_language_drawing_rows[];
rg_status              rg_language_generate(const rg_model *model, const rg_question *question);

/* ------------------------------------------------------------------------------------------------ language_cloze.c */

/* The share of lines whose last token is the likeliest of all, given what stands before it. */
rg_status rg_language_cloze(double *out, const rg_model *model, const char *const *lines, size_t count);

/* ---------------------------------------------------------------------------------------------- language_samples.c */

rg_status rg_language_samples(const rg_run *run, int64_t count); /* to the run's report, where it listens */

/* -------------------------------------------------------------------------------------------- language_influence.c */

rg_status rg_language_influence(rg_influence *out, const rg_model *model, const rg_question *question);

/* ------------------------------------------------------------------------------------------------ language_small.c */

extern const rg_demo rg_language_demos[];
rg_status            rg_language_small(rg_text *yaml, const char *folder, rg_small_size size);

#endif
