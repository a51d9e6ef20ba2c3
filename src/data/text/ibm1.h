/* ibm1.h - a word aligner: IBM model 1 both ways. */
#ifndef RG_DATA_IBM1_H
#define RG_DATA_IBM1_H

#include "regard/base.h"

/* Sentence pairs as numbers: pair i is source[source_start[i]] .. source[source_start[i + 1] - 1], and the same of
 * target. */
typedef struct rg_bitext {
    size_t         pairs;
    const int32_t *source, *target;
    const size_t  *source_start, *target_start; /* pairs + 1 each */
} rg_bitext;

/* Trained both ways by EM; links are what both ways agree on. out has an entry for each target word: the source word
 * of its pair it is linked with, counting from 0, or -1. */
rg_status rg_ibm1_align(int32_t *out, const rg_bitext *text, int iterations);

/* t(target | source) of every pair of words that met, likeliest first for each source word (equals by number); words
 * without a translation have none. The empty word is left out. */
typedef struct rg_ibm1_entry {
    int32_t source, target;
    double  t;
} rg_ibm1_entry;
rg_status rg_ibm1_table(rg_ibm1_entry **out, size_t *out_count, const rg_bitext *text, int iterations);

#endif
