/* task.h - kinds of data.
 *
 * A *task* is a kind of data: what goes in and what comes out ("text -> text", "graph -> classes of nodes"), how it is
 * read and cut into batches, how answers are judged, and how new inputs are answered. It is one file in src/tasks that
 * ends in a constant, and one word in RG_TASKS. The learning run, its options, the model file, resuming, threads and
 * every command work through this struct alone.
 *
 *     regard train    open -> model -> ready -> [ next -> loss -> update ] ... judge, tell -> finish -> close
 *     regard predict  adopt (what the model file says) -> answer */
#ifndef REGARD_TASK_H
#define REGARD_TASK_H

#include "regard/learning.h"
#include "regard/model.h"
#include "regard/objective.h"

RG_API_BEGIN

typedef struct rg_examples rg_examples; /* regard/examples.h */
typedef struct rg_names    rg_names;
typedef struct rg_set_options rg_set_options; /* which files, and how they are read: regard/supervised.h */
typedef struct rg_record    rg_record;    /* what was attended to: regard/record.h */
typedef struct rg_explain_options rg_explain_options; /* by which methods an answer is explained: regard/explain.h */
typedef struct rg_influence rg_influence; /* how far back answers depend on inputs: regard/view.h */

/* ---------------------------------------------------------------------------------------------------- learning */

/* A training as its task sees it. */
typedef struct rg_run {
    const rg_task         *task;
    const rg_system       *system;
    const void            *options;  /* the task's, filled from its rows                       */
    const rg_learning     *learning; /* of the run: seed, frequencies, limits                  */
    const rg_train_report *report;
    const char            *column;   /* of the files, that an objective needs as a further field of classes; NULL: none */
    int                    threads;  /* shares a batch is cut into: the workers of all processes       */
    int                    own_threads; /* of this process: validation, preparation                   */
    rg_processes          *processes; /* that train together; NULL: this one                         */
    void                  *assets;   /* task->assets_bytes: open fills it, then it is the model's */
    rg_sizes               sizes;    /* open fills them                                        */
    void                  *data;     /* task->data_bytes, zeroed: the task's own               */
    rg_model              *model;    /* from ready on                                          */
    rg_trainer            *trainer;  /* from the first batch on                                */
    rg_metrics             final;    /* what finish measured                                   */
    /* ready may set it: the loss of a share instead of the system's, on any worker's thread; not beside objectives */
    rg_loss (*loss)(const struct rg_run *run, rg_tape *tape, const void *share);
} rg_run;

/* How a training went. */
typedef struct rg_learned {
    rg_metrics final; /* what the task measured at the end */
    uint64_t   updates, epochs, validations;
    double     seconds, valid_seconds; /* of this call; of its validations */
} rg_learned;

/* What to train, and who listens. Filled structs are borrowed. */
typedef struct rg_training {
    const rg_system       *system;
    const void            *system_options; /* filled from system->options       */
    const void            *task_options;   /* filled from system->task->options */
    const rg_learning     *learning;
    const rg_train_report *report; /* may be NULL */
    const rg_objective_choice *objectives; /* how the loss is made, for systems that answer once; none: plain */
    size_t                 objective_count;
    rg_processes          *processes; /* that train together (regard/processes.h); NULL: this one. Ranks above 0 get no final metrics */
} rg_training;

/* Train; resumes by itself when the model's checkpoint is there. A model named "" is not written, and nothing is
 * resumed. On success *out_model (may be NULL) is the caller's, with the final weights. *out_learned may be NULL.
 * RG_ESTOP: asked to stop, everything is saved, and the same call resumes. */
rg_status rg_learn(rg_model **out_model, rg_learned *out_learned, const rg_training *training);

/* A training with its data open and its model made, that is not run: what is there to look at and to measure. The
 * hooks give batches and their loss; they validate, save and log nothing. */
typedef struct rg_prepared {
    rg_run           *run;
    rg_trainer_config config;
    rg_trainer_hooks  hooks;
} rg_prepared;

/* Open the data, make the model and call `with`. `sizes` (may be NULL) take the place of those of the same name that
 * the data have: a larger vocabulary. `empty`: a model of zeros, for a dry tape (drawn all the same where objectives make the loss). Nothing is
 * written or resumed. */
rg_status rg_learn_prepare(const rg_training *training, const rg_sizes *sizes, bool empty,
                           rg_status (*with)(void *context, const rg_prepared *prepared), void *context);

/* What a training costs on this machine, from a few of its updates:
 *
 *     seconds = updates (words word_seconds + step_seconds)
 */
typedef struct rg_estimate {
    size_t      parameters;
    double      words, flops;  /* of a batch, in the task's unit; forward and backward: three times the forward pass */
    double      bytes;         /* of the tape of a share, forward and backward                                       */
    uint64_t    delay;         /* batches per update                                                                 */
    double      epoch_batches; /* 0: not known                                                                       */
    uint64_t    updates;       /* of the run, by its limits; 0: validation ends it                                   */
    double      word_seconds, step_seconds; /* of a word's passes; of the optimiser's step                            */
    uint64_t    measured;      /* updates                                                                            */
    int         threads;
    double      share;         /* of the time that its threads were on a processor: far below 1 where others run       */
    double      budget;        /* seconds that were to be spent on measuring                                         */
    rg_schedule schedule;      /* strings are borrowed from the training's settings                                  */
} rg_estimate;
/* `sizes` as in rg_learn_prepare. Measures for about so many seconds, at least six updates. */
rg_status rg_estimate_training(rg_estimate *out, const rg_training *training, const rg_sizes *sizes, double seconds);
double    rg_estimate_seconds(const rg_estimate *estimate, double updates, double words); /* words: of one update */

/* Settings of a training from the names and values of `regard train`, in YAML: "type: gat\ngraph: cora\nseed: 3\n".
 * What they do not say is as the task, then the preset, then the rows say. */
typedef struct rg_recipe rg_recipe;
rg_status   rg_recipe_new(rg_recipe **out, const char *yaml);
rg_status   rg_recipe_read(rg_recipe *recipe, const char *yaml, bool lenient); /* further settings; lenient: unknown names are passed over */
rg_status   rg_recipe_start_from(rg_recipe *recipe, const char *path); /* rg_model_lent, and --init-from */
rg_status   rg_recipe_set(rg_recipe *recipe, const char *name, size_t count, const char *const *words); /* one, from any words */
rg_training rg_recipe_training(const rg_recipe *recipe, const rg_train_report *report); /* borrowed */
void        rg_recipe_free(rg_recipe *recipe);

/* ---------------------------------------------------------------------------------------------------- answering */

/* One value of an answer. */
typedef struct rg_value {
    const char *text;  /* NULL: a number                             */
    double      number;
    int         digits; /* after the point; 0: a whole number         */
} rg_value;

/* Where answers go: the command line prints them as TSV or JSON, the server sends them, a test compares them. */
typedef struct rg_sink {
    void *context;
    rg_status (*columns)(void *context, const char *const *names, size_t count); /* once, before the first row */
    rg_status (*row)(void *context, const rg_value *cells);                       /* as many as there are columns */
    void (*note)(void *context, const char *line);                               /* a remark for people          */
    rg_status (*record)(void *context, const rg_record *record); /* what was attended to; NULL: nobody asks for it */
    bool (*stop)(void *context);                                 /* nobody waits any longer: asked between passes, ends in RG_ESTOP; NULL: never */
} rg_sink;

/* What is asked of a model. */
typedef struct rg_question {
    const void    *options; /* filled from task->asking */
    const rg_list *words;   /* inputs given one by one: texts, paths; none: `input` is read */
    const char    *input;   /* file of inputs, one per line; "-": standard input */
    bool           word_scores; /* score: log p of each piece too */
    const rg_explain_options *explain; /* further maps of the record (explain.h); NULL: none */
    int            threads;
    const rg_sink *sink;
} rg_question;

/* -------------------------------------------------------------------------------------------------------- tasks */

typedef enum rg_small_size { RG_SMALL_TEST, RG_SMALL_DEMO } rg_small_size;

/* A training from nothing that is over within a minute on two cores: `regard demo NAME`. It ends in a verdict and,
 * where the system attends, in a drawing of what was attended to. A task has as many as there is to show; tests walk
 * them with RG_SMALL_TEST. */
typedef struct rg_demo {
    const char *name, *summary;
    const char *objective; /* how its loss is made; NULL: plain                                                              */
    double      attack;    /* afterwards `attacked` are changed by this, linf, and the verdict is the error; 0: no attack    */
    const char *attacked;  /* files, blanks between them; FOLDER stands for where the data are                               */
    const char *type;     /* the system that learns it                                                                       */
    const char *settings; /* YAML, read after what `small` wrote: sizes of the system, updates; may be NULL                  */
    const char *metric;   /* the verdict: what was measured at the end of training, else by the last validation ("lost" is also "lost-5") ... */
    bool        below;    /* ... is at most, otherwise at least ...                                                          */
    double      expected; /* ... this                                                                                         */
    const char *ask;      /* an input that is answered and shown, FOLDER in it is where the data are; NULL: none, where inputs are not words */
    const char *asking;   /* YAML for the rows of what can be asked, with FOLDER; may be NULL                                 */
    rg_status (*small)(rg_text *yaml, const char *folder, rg_small_size size); /* NULL: the task's                            */
    const char *drawing;  /* YAML for the rows of what can be drawn: texts are drawn and printed at the end; may be NULL      */
} rg_demo;

struct rg_task {
    const char *name;
    const char *in, *out; /* "text", "text": what goes in and comes out     */
    const char *unit;     /* what is counted per second: "words"            */
    const char *summary;

    const rg_option *options; /* where the data are and how they are cut */
    size_t           options_bytes;
    const char      *learning; /* YAML: what learning starts from for this kind of data; NULL: the defaults */
    double           loss_factor; /* losses are logged times this, such as 1 / ln 2 for bits; 0: 1 */

    /* What a model file holds beside weights, settings and sizes: vocabularies, class names. A struct of assets_bytes
     * whose first member is the model (rg_model *), set by who makes the model. The struct is zeroed before open or
     * adopt fills it.
     *   adopt     from what a file says; also the sizes that follow from it (those that were saved are there already)
     *   describe  the way into a file
     *   drop      free what the struct holds */
    size_t assets_bytes;
    rg_status (*adopt)(void *assets, rg_sizes *sizes, const rg_state *state);
    rg_status (*describe)(rg_state *state, const void *assets);
    void (*drop)(void *assets);

    /* Learning. Only open, next and close must be there.
     *   open      read the data: fill run->assets, run->sizes and run->data
     *   ready     run->model is there
     *   plan      the trainer's settings, filled from run->learning, may be changed
     *   next      the next batch as shares; none: the epoch is over
     *   tell/seek where the data stand, to resume
     *   judge     the model on validation data; NULL metrics in `out` when there are none
     *   blame     which lines, nodes or pictures a share is of, for messages
     *   finish    the model is as it will be saved: test it, say how good it is (run->final) */
    size_t data_bytes;
    rg_status (*open)(rg_run *run);
    rg_status (*ready)(rg_run *run);
    rg_status (*plan)(rg_run *run, rg_trainer_config *config);
    rg_status (*next)(rg_run *run, rg_shares *out);
    rg_status (*tell)(const rg_run *run, rg_state *state);
    rg_status (*seek)(rg_run *run, const rg_state *state);
    bool (*judges)(const rg_run *run); /* are there validation data? NULL: always, when judge is there */
    rg_status (*judge)(rg_run *run, rg_metrics *out);
    void (*blame)(const rg_run *run, const void *share, char *out, size_t room);
    void *(*carried)(rg_run *run, size_t *out_bytes); /* what shares of a batch write and the next batch reads, as rg_trainer_hooks has it; NULL: nothing */
    double (*epoch_part)(const rg_run *run); /* share of the epoch's data that was given, 0 to 1; NULL: not known */
    rg_status (*finish)(rg_run *run);
    void (*close)(rg_run *run);
    /* A command to type next, with the program and the model as a shell takes them. */
    rg_status (*hint)(rg_text *out, const void *options, const char *program, const char *model);

    /* Answering. NULL: `regard predict` does not know it. */
    const rg_option *asking; /* rows of what can be asked */
    size_t           asking_bytes;
    rg_status (*answer)(const rg_model *model, const rg_question *question);
    /* log p of given answers: rows of question->input, an answer TAB an input, in that order, or plain lines where
     * the answer is the text itself; `regard score`. NULL: not known. */
    rg_status (*score)(const rg_model *model, const rg_question *question);
    /* Examples of other files as a model of this task reads them, what goes in first, then a label where the files
     * have one; its classes (NULL: it has none): for attack, shift and rank. NULL: not known. */
    rg_status (*examples)(rg_examples **out, const rg_model *model, const rg_set_options *sets);
    const rg_names *(*classes)(const rg_model *model);
    bool translates; /* its assets are an rg_translator: the server offers the API of translations */
    bool (*texts)(const rg_model *model); /* its inputs are texts, no names of files: a server may be sent them; NULL: no */

    /* `regard gradients -m`: batches of the question's input, whose answers stand at the end of each group, through
     * rg_influence_add. NULL: it reads no sequences. */
    rg_status (*influence)(rg_influence *out, const rg_model *model, const rg_question *question);

    /* Drawing: texts, pictures from the model instead of answers. NULL: `regard generate` does not know it. The same
     * question, sink and rows of options; one of the columns is called "text". */
    const rg_option *drawing;
    size_t           drawing_bytes;
    rg_status (*generate)(const rg_model *model, const rg_question *question);

    /* A tiny instance: write data into `folder`, and as YAML the options of `regard train` that learn from them.
     * Every test that walks the tasks learns it; `regard demo NAME` learns the larger one. */
    rg_status (*small)(rg_text *yaml, const char *folder, rg_small_size size);
    const rg_demo *demos; /* ends with name = NULL; NULL: none */
};

/* -------------------------------------------------------------------------------------------------- model files */

/* A model is one safetensors file: weights; in the metadata regard.task, regard.system, regard.settings (YAML of the
 * system's options), sizes.NAME for each size; and what its task describes. Weights in 8 bits are I8 tensors with their
 * scales beside them, NAME.scale (docs/quantize.md).
 *
 * Load any model. No more is allocated than the file can fill. RG_EMATCH, RG_EFORMAT, RG_ENUMBER name the file and
 * what is wrong; a file that is none is refused with the words "not a model". `task` (may be NULL): RG_EMATCH when
 * it was trained for another. */
rg_status rg_model_load(rg_model **out, const char *path, const rg_task *task);
/* The same with its weights kept as asked for, whatever the file holds (rg_weights; RG_WEIGHT_STORED is
 * rg_model_load). In 8 or 16 bits it answers and can be saved, but not trained or averaged. */
rg_status rg_model_load_as(rg_model **out, const char *path, const rg_task *task, rg_weights weights);
rg_status rg_model_save(const rg_model *model, const char *path);
/* Everything but the weights. */
rg_status rg_model_describe(rg_state *state, const rg_model *model);
/* What a file says of itself, without its weights. */
rg_status rg_model_file_state(rg_state *state, const char *path);

/* Does the message of the last failure name this file, or one in this folder? As a word, so that "m" is not found in
 * "model". */
bool rg_message_names(const char *path);

/* Take the weights of another file that have the same name and shape; their names are added to `taken`, those of the
 * model that keep what they had to `fresh`. RG_EMATCH when nothing fits, or when the file has other vocabularies. */
rg_status rg_model_take(size_t *out_count, rg_text *taken, rg_text *fresh, rg_model *model, const char *path);

/* YAML of the settings with which a `system` can take the weights of another one's file: the sizes that both know,
 * what the other system lends, the vocabulary. Nothing where the file is of the same system, or of one that lends
 * nothing. */
rg_status rg_model_lent(rg_text *yaml, const rg_system *system, const char *path);

const rg_task *const *rg_task_all(void);              /* ends with NULL */
const rg_task        *rg_task_find(const char *name); /* NULL: none     */
const rg_demo        *rg_demo_find(const rg_task **out_task, const char *name); /* among those of all tasks; NULL: none */

RG_API_END
#endif
