/* model.h - systems and models.
 *
 * A *system* is a paper: one file in src/models/ that says where its queries, keys and values come from. A *model*
 * is a system with settings, sizes and parameters. Training sees only `loss`; search, sampling, ensembles, forced
 * scoring and the server only start / step / keep. */
#ifndef REGARD_MODEL_H
#define REGARD_MODEL_H

#include "regard/attention.h"
#include "regard/options.h"
#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_model rg_model;
typedef struct rg_decoding rg_decoding;

/* Kinds of data (regard/task.h), one word each. */
typedef struct rg_task rg_task;
#define RG_TASKS(X) X(translation) X(graph) X(memory) X(classify) X(tag) X(language) X(caption) X(transcribe) X(set) X(vqa) X(recipe) X(sample) X(world)
#define RG_TASK_DECLARE(name) extern const rg_task rg_task_##name;
RG_TASKS(RG_TASK_DECLARE)
#undef RG_TASK_DECLARE

/* What a system's attention is, as data: for `regard explain`, the viewer and the documents.
 *
 * Its weights are seen at watch points whose names match `watch` ('*' any run of characters):
 * "decoder.*.cross.weights". The rows of such a map are the queries, its columns the keys; `rows` and `cols` name
 * the label lists of a record (regard/record.h) that say what they are: "source" and "output" of a translation,
 * "words" and "class", "nodes", "steps" and "slots". NULL where nothing can be watched. */
typedef struct rg_attention_use {
    const char *where, *queries, *keys, *values, *score, *reach;
    const char *watch, *rows, *cols;
} rg_attention_use;

/* The use whose watch points have this name; NULL: none. `uses` ends with where = NULL, and may be NULL. */
const rg_attention_use *rg_attention_use_find(const rg_attention_use *uses, const char *watch);
/* Does it look from one list of labels at another: from the words of an answer at its source? */
bool rg_attention_use_crosses(const rg_attention_use *use);

/* Named numbers that the data decide and a system is built from: "source-vocabulary", "classes", "features", "eos".
 * A name that is empty ends the list: rg_sizes sizes = { { { "features", 8 }, { "classes", 3 } } }; */
enum { RG_SIZES_MAX = 16 };
typedef struct rg_sizes {
    struct {
        char   name[24];
        size_t value;
    } size[RG_SIZES_MAX];
} rg_sizes;

rg_status rg_sizes_put(rg_sizes *sizes, const char *name, size_t value); /* a name that is there is replaced; RG_ELIMIT: too many, too long */
bool      rg_sizes_get(size_t *out, const rg_sizes *sizes, const char *name);

/* Settings that go together, under a name: YAML with the keys of the system's rows (and of training). */
/* How the authors trained it. */
typedef struct rg_preset_training {
    const char *paper, *on; /* "8 P100 GPUs" */
    double      updates, words, hours; /* words: of one update, on the side that is written */
} rg_preset_training;
typedef struct rg_preset {
    const char *name, *summary, *yaml;
    const rg_preset_training *trained; /* NULL: it is not the authors' */
} rg_preset;

/* One of several losses that take turns or follow each other, each with its own parameters and its own count of
 * steps: the two players of a GAN. */
typedef struct rg_system_phase {
    const char *name;
    rg_loss (*loss)(rg_tape *t, const rg_model *model, const void *batch);
    const char *learns;                     /* pattern of the parameters it moves: "generator.*"                  */
    int64_t (*every)(const rg_model *model); /* it comes in every such round, by the model's settings; NULL: each  */
    double rate;                            /* factor on the learning rate; 0: 1                                  */
    double (*share)(const rg_model *model); /* of the run, after which the next one comes; NULL: they take turns   */
} rg_system_phase;

typedef struct rg_system {
    const char             *name, *summary, *paper;
    const rg_task          *task;         /* what it learns from and answers */
    const char             *chosen_by;    /* of several systems of one name: the option of its task that means this one; NULL: it is the first */
    const char             *batches;      /* what its batches are where they are no rg_batch (batch.h): "graphs"; NULL: they are */
    const char             *reads;        /* which input, where its task knows several: "text", "numbers|counts|pixels"; NULL: the first */
    const rg_attention_use *uses;         /* ends with where = NULL */
    const rg_option        *options;      /* rows of its settings, which fill a struct of options_bytes */
    size_t                  options_bytes;
    const char             *lends;        /* YAML: settings of a system that starts from its weights, beside those that both have; NULL: none */
    const char             *earlier;      /* YAML: settings that model files from before those settings were made with; NULL: the defaults */
    const rg_preset        *presets;      /* ends with name = NULL; NULL: none */
    size_t                  parts_bytes;  /* of the struct its build fills with layers and handles */

    /* Declare parameters in model->params and fill model->parts. */
    rg_status (*build)(rg_model *model);

    /* Sum and count of the loss of a batch (src/tasks says what a batch is; for sequences an rg_batch). */
    rg_loss (*loss)(rg_tape *t, const rg_model *model, const void *batch);

    /* Instead of `loss`: what takes turns, ends with name = NULL. NULL: `loss` alone. */
    const rg_system_phase *phases;

    /* Columns of block i of what its streams carry from batch to batch (carry.h); 0: there is no such block. NULL:
     * it carries nothing. */
    size_t (*carries)(const rg_model *model, size_t block);

    /* Systems that answer once, in steps that an objective (objective.h) can come between; then `loss` is NULL and
     * predict is rg_model_predict.
     *   enter     the rows that go in: pixels, embeddings of words
     *   features  of these rows, a row per example
     *   answer    logits of the features
     *   compare   sum and count of the loss of logits, over the examples that have a label */
    rg_tensor *(*enter)(rg_tape *t, const rg_model *model, const void *batch);
    rg_tensor *(*features)(rg_tape *t, const rg_model *model, const void *batch, rg_tensor *rows);
    rg_tensor *(*answer)(rg_tape *t, const rg_model *model, const void *batch, rg_tensor *features);
    rg_loss (*compare)(rg_tape *t, const void *batch, rg_tensor *logits);

    /* Answers of systems that predict: a row of logits for each node, or each step that is asked for. NULL for those
     * that decode. */
    rg_tensor *(*predict)(rg_tape *t, const rg_model *model, const void *batch);

    /* Decoding, NULL for systems that do not decode. `state` has state_bytes zeroed bytes and belongs to the decoding.
     *   start   read the sources d->sources; what it makes on d->memory lives until the end
     *   step    logits (n, V) of the next token after d->tokens, on tape t
     *   keep    the next step's rows: row i continues row parents[i]
     *   finish  free what start and step took by hand; may be NULL */
    size_t state_bytes;
    rg_status (*start)(rg_decoding *d);
    rg_tensor *(*step)(rg_decoding *d, rg_tape *t);
    rg_status (*keep)(rg_decoding *d, const int32_t *parents, size_t n);
    void (*finish)(rg_decoding *d);
} rg_system;

const rg_system *const *rg_system_all(void);              /* ends with NULL */
/* By its name, or one it had before; of several for other kinds of data the first. NULL: none. */
const rg_system        *rg_system_find(const char *name);
const rg_system        *rg_system_find_for(const char *name, const rg_task *task); /* the one for that kind of data */

/* Fill `options` (system->options_bytes, zeroed; rg_options_fini also after a failure) as a model file says: its
 * YAML, else what was so before a setting existed (`earlier`), else the default. */
rg_status rg_system_stored_options(void *options, const rg_system *system, const char *yaml);

struct rg_model {
    const rg_system *system;
    void            *options; /* filled from the system's rows */
    void            *parts;
    rg_sizes         sizes;
    rg_params       *params;
    void            *assets;  /* what its task needs beside them: vocabularies, class names; NULL: nothing was given */
    void (*drop)(void *assets); /* frees what they hold */
    /* Tasks that write text: append that of tokens; ids beyond the vocabulary (copies, batch.h) get a word of their
     * own. NULL: none. */
    rg_status (*spell)(rg_text *out, const void *assets, const int32_t *ids, size_t count);
    bool             copies;  /* its answers may have ids beyond the vocabulary, of words of the source (batch.h: copies) */
    size_t           longest; /* rows a sequence may have, its closing </s> among them; 0: any number */
};

/* A model with fresh parameters. `options` was filled by the system's rows and is copied (strings too). */
rg_status rg_model_new(rg_model **out, const rg_system *system, const void *options, const rg_sizes *sizes,
                       uint64_t seed);
/* The same with parameters that are zeros, for rg_checkpoint_load to fill: nothing is drawn. RG_EMATCH, before
 * anything is allocated, when the settings ask for more than `most` numbers: what a file can hold. `weights`: how
 * they are kept. */
rg_status rg_model_new_empty(rg_model **out, const rg_system *system, const void *options, const rg_sizes *sizes,
                             size_t most, rg_weights weights);
/* rg_model_new; `more` declares parameters beside the system's, behind them (those of objectives). */
rg_status rg_model_new_with(rg_model **out, const rg_system *system, const void *options, const rg_sizes *sizes,
                            uint64_t seed, rg_status (*more)(rg_model *model, void *context), void *context);
void      rg_model_free(rg_model *model);
/* Give it a struct from rg_alloc whose first member is an rg_model *, which is set; `drop` (may be NULL) frees what
 * it holds, with the model. */
void      rg_model_own(rg_model *model, void *assets, void (*drop)(void *assets));

/* answer(features(enter(batch))): `predict` of systems that have these steps. */
rg_tensor *rg_model_predict(rg_tape *t, const rg_model *model, const void *batch);
/* The system's loss, or the comparison of what it predicts. */
rg_loss    rg_model_loss(rg_tape *t, const rg_model *model, const void *batch);
/* `compare` of examples with a label each: cross-entropy of a class, squared error of a number; without a label they
 * are passed over. */
rg_loss    rg_compare_classes(rg_tape *t, const void *batch, rg_tensor *logits);

size_t rg_model_size(const rg_model *model, const char *name); /* one of its sizes; 0: there is none of that name */
/* The preset of that name, or NULL with a message that lists what there is. */
const rg_preset *rg_preset_find(const rg_system *system, const char *name);

/* ---------------------------------------------------------------------------------------------------- decoding */

/* n hypotheses are n rows; each belongs to a source. The fields are for systems; search uses the calls below. */
struct rg_decoding {
    const rg_model *model;
    rg_tape        *memory;     /* what start made                                    */
    rg_field        source;     /* while start runs: the rows of all sources          */
    rg_layout       sources;    /* how they group; copied, so it stays                */
    size_t          n;          /* hypotheses now                                     */
    int32_t        *source_of;  /* the source of each                                 */
    const int32_t  *tokens;     /* the last token of each                             */
    size_t          steps;      /* tokens so far                                      */
    void           *state;

    /* the only tokens a step need give logits of, rising, column by column; NULL: all. A step that gives all is fine */
    const int32_t *words;
    size_t         word_count;

    /* of the engine */
    struct rg_picked *picked; /* the output layer of `words` */
    rg_tape *tape;
    size_t   room, columns;
    int32_t *spare;
    int32_t *known; /* tokens, ids beyond the vocabulary replaced by `unknown` */
};

rg_status rg_decoding_new(rg_decoding **out, const rg_model *model, rg_team *team); /* one caller at a time; model is shared */
void      rg_decoding_free(rg_decoding *d);

/* Read the sources; one hypothesis each. Whatever was there is dropped. A source is a field (batch.h), as in
 * training: ids closed by eos, or rows of `values` (pixels, numbers, features of sound) whose layout may carry
 * height and width. Without a source (language models) it is (rg_field){ .layout.groups = n }: n answers to begin,
 * no rows. */
rg_status rg_decoding_start(rg_decoding *d, const rg_field *source);
/* Before start: steps may give logits of these tokens alone, rising, borrowed until the next start; NULL: of all. */
rg_status rg_decoding_limit(rg_decoding *d, const int32_t *words, size_t count);
/* Logits of the next token, (n, V) or (n, words of the limit), rows *out_ld apart; borrowed until the next call. The first step is given bos.
 * Of a source with `copies` (batch.h) the rows have source->extra columns more, ids beyond the vocabulary; a token
 * of those goes into the model as its size "unknown". */
rg_status rg_decoding_step(const rg_real **out, size_t *out_ld, rg_decoding *d, const int32_t *tokens);
size_t    rg_decoding_columns(const rg_decoding *d); /* of the last step's logits */
/* Row i of the next step continues row parents[i] of the last: reordering, dropping and copying of hypotheses. */
rg_status rg_decoding_keep(rg_decoding *d, const int32_t *parents, size_t n);
/* Who watches the attention of the steps, and of start. */
void rg_decoding_set_watcher(rg_decoding *d, const rg_watcher *watcher);

RG_API_END
#endif
