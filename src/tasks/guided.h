/* guided.h - guided alignment: a head of attention over the source learns word alignments beside the translation. */
#ifndef RG_TASKS_GUIDED_H
#define RG_TASKS_GUIDED_H

#include "regard/translate.h"
#include "tasks/word_links.h"

typedef struct rg_guided_config {
    double weight; /* of its loss                                                        */
    size_t layer;  /* of those that look at the source, from 1; 0: the last              */
    int    head;   /* from 0; -1: the mean of the heads                                  */
    bool   shift;  /* a token's links are learned by the row that has read it, one behind the row that predicts it */
} rg_guided_config;

typedef struct rg_guided rg_guided;

/* Which weights are guided is found by a pass of the corpus's first pair. Takes the links over, also on failure; the
 * translator, whose alignment becomes the guided head, is borrowed. RG_EINVAL: there is no such layer or head. */
rg_status   rg_guided_new(rg_guided **out, const rg_guided_config *config, rg_word_links *links,
                          rg_translator *translator, rg_corpus *corpus);
void        rg_guided_free(rg_guided *guided);
const char *rg_guided_point(const rg_guided *guided); /* watch point */
/* The system's loss, and weight times that of the guided head, over the same count. */
rg_loss     rg_guided_loss_of(const rg_guided *guided, rg_tape *t, const rg_batch *batch);

#endif
