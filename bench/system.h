/* system.h - translators with fresh parameters, and batches of sentences that all have the same length, for the
 * cases that measure whole models (`train`, `decode`). */
#ifndef RG_BENCH_SYSTEM_H
#define RG_BENCH_SYSTEM_H

#include "bench.h"
#include "regard/model.h"

enum { BENCH_WORDS = 30 }; /* of every sentence */

typedef struct bench_system {
    const char *name;     /* "small"                                   */
    const char *system;   /* "transformer"                             */
    const char *settings; /* YAML                                      */
    const char *peer;     /* the same as members of a JSON object      */
    size_t      vocabulary, batch;
    double      products; /* multiply-adds of a training step's forward pass for each target word; see system.c */
} bench_system;

enum { BENCH_SMALL, BENCH_BASE, BENCH_SMALL_DROPOUT, BENCH_RNNSEARCH, BENCH_TINY, BENCH_CONVS2S, BENCH_GNMT, BENCH_SYSTEMS };

const bench_system *bench_system_of(size_t which);

/* Any system with fresh parameters. */
rg_status bench_system_new(rg_model **out, const char *system, const char *settings, const rg_sizes *sizes);

/* Matrices by the peer's numbers, in the order they were declared; all else is as it begins. */
rg_status bench_fill_weights(rg_params *params);

/* No token closes an answer when `endless`: it has the length it is allowed. */
rg_status bench_model_new(rg_model **out, const bench_system *s, bool endless);

/* The loss of a share, by the model that is the context: for rg_job. */
rg_loss bench_loss(void *model, rg_tape *t, const void *share, int worker);

/* Pairs of BENCH_WORDS words each, the numbers a function of the seed. Everything is in one block that begins with
 * the batch. */
rg_status bench_batch_new(rg_batch **out, size_t pairs, size_t vocabulary, uint32_t seed);
void      bench_batch_free(rg_batch *batch);

/* Pictures of 0 .. 1 with a label each (`classes` of them), or of as many texts, one each, of 8 to 16 tokens. One block
 * that begins with the batch. */
rg_status bench_pictures_new(rg_batch **out, size_t pictures, size_t height, size_t width, size_t channels,
                             size_t classes, uint32_t seed);
rg_status bench_captions_new(rg_batch **out, size_t pictures, size_t height, size_t width, size_t channels,
                             size_t vocabulary, uint32_t seed);
size_t    bench_caption_length(size_t i); /* of the text of picture i, </s> counted */

/* Language models: windows or streams of `rows` tokens each, no source. */
rg_status bench_language_new(rg_model **out, const char *system, const char *settings, size_t vocabulary,
                             size_t context);
rg_status bench_text_new(rg_batch **out, size_t groups, size_t rows, size_t vocabulary, uint32_t seed);

#endif
