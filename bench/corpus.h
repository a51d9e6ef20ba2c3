/* corpus.h - some batches of a real parallel text, in the folder that REGARD_MULTI30K names, for the case that
 * trains on them. */
#ifndef RG_BENCH_CORPUS_H
#define RG_BENCH_CORPUS_H

#include "bench.h"
#include "regard/text.h"

enum {
    BENCH_CORPUS_V = 10000,   /* words by hash: how long sentences are is what counts */
    BENCH_CORPUS_WORDS = 2000, /* most target words of a batch, </s> counted */
    BENCH_CORPUS_EVERY = 48   /* of all batches, sorted by length, every so manieth */
};

typedef struct bench_corpus {
    rg_batch *batch; /* `batches` of them, in one block with their numbers */
    size_t    batches, words; /* words: of all targets */
    int32_t  *numbers;
    uint64_t *lines;
} bench_corpus;

const char *bench_corpus_folder(void); /* NULL: none was named */
rg_status   bench_corpus_open(bench_corpus *out, const char *folder);
void        bench_corpus_close(bench_corpus *c);

#endif
