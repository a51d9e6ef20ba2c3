/* language_mask.h - running text cut into windows with hidden tokens, for masked language models (Devlin et al. 2019).
 *
 *   one text            <s> w w w w w w </s>                          segments 0
 *   with documents      <s> a a a </s> b b b b </s>                   segments 0 and 1; b follows a in half of the windows,
 *                                                                     and is of another document in the others
 *
 * Documents are runs of lines between empty ones. Of the tokens that are no signs, `share` are chosen: of these 80 %
 * are hidden, 10 % are replaced by any other token, 10 % stay. Only chosen tokens are to be said. What is drawn
 * follows from seed, epoch and batch. */
#ifndef RG_TASKS_LANGUAGE_MASK_H
#define RG_TASKS_LANGUAGE_MASK_H

#include "regard/model.h"
#include "tasks/language_cut.h"

typedef struct rg_masked_config {
    rg_text_range   text;
    const rg_vocab *vocab;
    size_t          batch, context; /* windows of a batch; rows of a window, at most */
    int32_t         mask;           /* what goes in for a hidden token               */
    double          share;
    bool            random;    /* windows are drawn anywhere, or follow one another  */
    bool            documents; /* pairs of segments                                  */
    uint64_t        seed;
} rg_masked_config;

typedef struct rg_masked rg_masked;

/* How many documents a text has. */
rg_status rg_masked_documents(uint64_t *out, const rg_text_range *text, int32_t eos);

/* RG_EINVAL when the text has no token that could be hidden, or with `documents` less than two of them. */
rg_status rg_masked_new(rg_masked **out, const rg_masked_config *config);
void      rg_masked_free(rg_masked *masked);

/* The next batch: what goes in (RG_SOURCE), what is to be said or -1 (RG_TARGET), RG_SEGMENTS, RG_FOLLOWS. *out_more
 * is false at the end of an epoch; the call after that starts the next. Borrowed until the next call. */
rg_status rg_masked_next(bool *out_more, rg_batch *out, rg_masked *masked);
double    rg_masked_epoch_part(const rg_masked *masked);
rg_place  rg_masked_tell(const rg_masked *masked);
rg_status rg_masked_seek(rg_masked *masked, rg_place place);
uint64_t  rg_masked_checksum(const rg_masked *masked);

#endif
