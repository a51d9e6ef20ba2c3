/* caption.h - picture -> text: settings, and what a trained model is asked. */
#ifndef RG_TASKS_CAPTION_H
#define RG_TASKS_CAPTION_H

#include "tasks/pictured.h"

typedef struct rg_caption_options {
    rg_pictured_options pictured;
    rg_text_options     text;
    int64_t             beam;
} rg_caption_options;

/* The search for texts of a picture, which are cut at the size longest-text of the model. */
rg_search_config rg_caption_search(const rg_model *model, size_t beam, size_t n_best);
/* Put that size. */
rg_status rg_caption_longest(rg_sizes *sizes, rg_examples *store, size_t field, int32_t eos);

typedef struct rg_caption_asking {
    int64_t beam, n_best;
} rg_caption_asking;
extern const rg_option rg_caption_asking_rows[];
rg_status rg_caption_answer(const rg_model *model, const rg_question *question);

/* The record of one picture and what was said of it: a map from every piece of text `answer` to the cells, by a pass
 * of the answer as if it were the reference. It is put into field `target` of `one`, which has the picture and what
 * else the system reads. */
rg_status rg_caption_record(rg_record **out, const rg_model *model, const rg_asked *asked, const rg_batch *one,
                            size_t target, const rg_answer *answer, const char *text);

#endif
