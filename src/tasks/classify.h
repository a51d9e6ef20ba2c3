/* classify.h - one input -> one class or number: settings, the inputs that are known, and what a trained model is
 * asked. */
#ifndef RG_TASKS_CLASSIFY_H
#define RG_TASKS_CLASSIFY_H

#include "regard/features.h"
#include "regard/metrics.h"
#include "regard/picture.h"
#include "regard/supervised.h"
#include "tasks/augmented.h"
#include "tasks/heard.h"

typedef struct rg_classify_options {
    rg_set_options  sets;
    rg_text_options text;
    char           *in, *out, *fit;
    int64_t         size;
    rg_features_options features;
    char           *augment;
    rg_sound_options sound;
} rg_classify_options;

/* What a model of this task needs beside weights. */
typedef struct rg_classifier {
    rg_model *model;
    char     *input;  /* which of the inputs; NULL, in older files: text                           */
    rg_vocab *vocab;  /* of texts                                                                  */
    rg_names *names;  /* NULL: it answers with a number                                            */
    uint64_t *counts; /* training examples of each class: what an empty input is answered with     */
    rg_pixels_config pixels; /* how picture files become pixels of one size                        */
    rg_features     *features; /* the frozen network pictures go through; NULL: none               */
    rg_heard         heard;    /* how recordings become rows                                       */
    rg_augmented    *augmented; /* while learning, how training pictures are changed; NULL: not    */
} rg_classifier;

void rg_classifier_drop(void *its); /* frees what it holds */

/* classify_rewards.c: of systems that learn from rewards, the variance of their policy gradient with and without the
 * baseline, to the report and the final metrics. Nothing of others. */
rg_status rg_classify_tell_rewards(rg_run *run);

/* classify_input.c: a kind of input, which a system names in `reads`. */
typedef struct rg_classify_input {
    const char   *name, *column;
    rg_field_kind kind;
    bool          many;    /* a sequence of rows of numbers                                        */
    const char   *formats; /* which show that it is this one, where a system reads several         */
    const char   *files;   /* what the files are of, for messages                                  */
    bool          named;   /* a column of a table may be called after it                           */
    bool          sound;   /* its cells are recordings                                             */
} rg_classify_input;

const rg_classify_input *rg_classify_input_find(const char *name); /* NULL: none */
/* The one a model reads. */
const rg_classify_input *rg_classify_input_of(const rg_model *model);
/* Its cells are files: pictures, recordings. */
bool rg_classify_input_is_file(const rg_classify_input *input);
/* The one the run's system reads and its files have. */
rg_status rg_classify_input_choose(const rg_classify_input **out, const rg_run *run);
/* Learn the vocabulary or the width, and put the named sizes. The field as it is read from the files. */
rg_status rg_classify_input_learn(rg_field_spec *out, const rg_classify_input *input, rg_run *run,
                                  const rg_reader_config *reading);
/* After the stores are there: pictures must be of one size. */
rg_status rg_classify_input_check(const rg_classify_input *input, rg_run *run);
/* All columns but the first are the numbers, unless the file names them. */
rg_status rg_classify_columns(rg_reader_config *reading, const rg_classify_input *input, const char *path);
/* classify_examples.c: `examples` and `classes` of the task. */
rg_status       rg_classify_examples(rg_examples **out, const rg_model *model, const rg_set_options *sets);
const rg_names *rg_classify_names(const rg_model *model);
/* The field of what a model is asked. */
rg_field_spec rg_classify_input_spec(const rg_classify_input *input, const rg_model *model);
/* Where a model keeps input.shift and input.scale (output. for numbers that are answered), fill them from the
 * training data. */
rg_status rg_classify_standardize(rg_run *run);

/* classify_answer.c */
typedef struct rg_classify_asking {
    int64_t top;
    bool    probabilities, logits, words, box;
    double  box_share; /* of the largest evidence: what the box stands around */
    char   *of; /* the class whose evidence is asked for; "": the likeliest */
    char   *attack, *norm; /* size of a change that the record shows; "": none. Its norm */
    int64_t steps;
} rg_classify_asking;
extern const rg_option rg_classify_asking_rows[];
rg_status rg_classify_answer(const rg_model *model, const rg_question *question);
/* classify_evidence.c: where in the pictures of a batch the evidence was. All zero: nothing seen yet. */
typedef struct rg_seen_maps {
    rg_tape *tape;
    float   *map; /* of all examples of the batch, cell by cell */
    size_t   numbers, down, across;
} rg_seen_maps;
/* `of`: a class, or -1 for the likeliest of each. RG_EMATCH: the model has no such map. */
rg_status rg_seen_maps_see(rg_seen_maps *maps, const rg_model *model, const rg_batch *batch, int32_t of);
void      rg_seen_maps_fini(rg_seen_maps *maps);
/* Keeps the map that a pass shows, the last one of several. */
rg_watcher rg_seen_maps_watcher(rg_seen_maps *maps);
/* Of one of them, in pixels of the picture as it was before it was fitted; its box stands around what is above `share` of
 * the largest value. */
rg_status rg_seen_maps_evidence(rg_evidence *out, const rg_seen_maps *maps, const rg_model *model, const rg_asked *asked,
                                double share);
/* A batch as it is, but asked about class `of`: ids and start have room for all its examples and one more. */
rg_batch rg_batch_asked_about(const rg_batch *batch, int32_t of, int32_t *ids, int32_t *start);

/* classify_score.c */
rg_status rg_classify_score(const rg_model *model, const rg_question *question);

/* classify_influence.c */
rg_status rg_classify_influence(rg_influence *out, const rg_model *model, const rg_question *question);

extern const rg_demo rg_classify_demos[]; /* classify_demos.c */
/* classify_small.c */
rg_status rg_classify_small(rg_text *yaml, const char *folder, rg_small_size size);

#endif
