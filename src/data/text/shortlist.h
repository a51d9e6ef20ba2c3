/* shortlist.h - the inside of a shortlist, for its readers. */
#ifndef RG_DATA_SHORTLIST_H
#define RG_DATA_SHORTLIST_H

#include "regard/shortlist.h"

enum { RG_SHORTLIST_TOKENS = 1 << 24 }; /* of a vocabulary; more would be no vocabulary */

struct rg_shortlist {
    size_t    source, target; /* sizes of the vocabularies                                           */
    uint32_t *start;          /* source + 1: translations of token i are start[i] .. start[i + 1] - 1  */
    int32_t  *translation;    /* likeliest first                                                     */
    float    *probability;    /* of each                                                             */
    int32_t  *same;           /* of each source token the target token of the same text; -1: none     */
    int32_t  *frequent;       /* most frequent first                                                 */
    float    *share;          /* of each                                                             */
    size_t    frequents;
    int32_t   always[2];      /* </s> and <unk>; -1: there is none                                    */
};

typedef struct rg_shortlist_pair {
    int32_t source, target; /* source -1: any source (a frequent token) */
    float   probability;
} rg_shortlist_pair;

/* From pairs in any order, which are sorted; of each source token the `best` likeliest, of any source the `first`. A
 * pair that comes twice counts once, with its larger probability. Without pairs of any source the frequent tokens are
 * the first of the vocabulary. */
rg_status rg_shortlist__make(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target,
                             rg_shortlist_pair *pairs, size_t count, size_t first, size_t best);

/* shortlist_binary.c: a file in Marian's binary form, packed or not; *out_is false: it is another one. */
rg_status rg_shortlist__load_marian(bool *out_is, rg_shortlist **out, const rg_vocab *source, const rg_vocab *target,
                                    const char *path);

#endif
