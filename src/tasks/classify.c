/* classify.c - one input -> one class, or with --out number one number. The input is what the system reads: text,
 * numbers, a sequence of numbers, counts, pixels, sound. Class names and a vocabulary are learned from the training file.
 *
 *   in the model file      classify.input  "text"
 *                          vocab.text      bytes
 *                          classes         bytes: the names, sorted
 *                          classes.counts  "12 7 30": training examples of each
 *                          features        bytes: the frozen network of --features
 *                          sound           "rate 8000 mels 40 ...": how recordings become rows */
#include "tasks/classify.h"

#include <string.h>

static const rg_option options[] = {
    RG_SET_ROWS(rg_classify_options, sets, "file of labels and inputs", "64"),
    RG_TEXT_ROWS(rg_classify_options, text),
    { RG_OPTION_STRING, "in", offsetof(rg_classify_options, in), "",
      "what an input is, where the system reads several; empty: by the files", 0,
      "|text|numbers|sequence|counts|pixels|sound", NULL },
    { RG_OPTION_STRING, "out", offsetof(rg_classify_options, out), "class",
      "what a label is: a class, or a number (squared error)", 0, "class|number", NULL },
    { RG_OPTION_INT, "size", offsetof(rg_classify_options, size), "0",
      "pixels of a side that picture files are scaled to; 0: as they are", 0, "[0,4096]", NULL },
    { RG_OPTION_STRING, "fit", offsetof(rg_classify_options, fit), "crop", "how a picture of another shape is fitted",
      0, "crop|stretch|pad", NULL },
    { RG_OPTION_STRING, "augment", offsetof(rg_classify_options, augment), "",
      "change training pictures in every epoch: shift:2 rotate:10 flip ..., or a generator over digits: t60 "
      "(docs/pictures.md)",
      0, NULL, NULL },
    RG_FEATURES_ROWS(rg_classify_options, features),
    RG_SOUND_ROWS(rg_classify_options, sound),
    RG_OPTION_END
};

static const rg_asset assets[] = {
    { RG_ASSET_TEXT, "classify.input", offsetof(rg_classifier, input), NULL, 0, true },
    { RG_ASSET_VOCAB, "vocab.text", offsetof(rg_classifier, vocab), "vocabulary", 0, true },
    { RG_ASSET_NAMES, "classes", offsetof(rg_classifier, names), "classes", 2, true },
    { RG_ASSET_COUNTS, "classes.counts", offsetof(rg_classifier, counts), NULL, 0, true },
    { RG_ASSET_FEATURES, "features", offsetof(rg_classifier, features), NULL, 0, true },
    { RG_ASSET_TEXT, "sound", offsetof(rg_classifier, heard.settings), NULL, 0, true },
    { 0 },
};

static rg_status adopt(void *its, rg_sizes *sizes, const rg_state *state)
{
    rg_classifier *c = its;
    RG_TRY(rg_assets_adopt(assets, its, sizes, state));
    if (!rg_classify_input_find(c->input ? c->input : "text"))
        return rg_fail(RG_EFORMAT, "classify.input is '%s', which is no input", c->input);
    if (!c->input && !c->vocab) return rg_fail(RG_EMATCH, "vocab.text is missing");
    const rg_classify_input *in = rg_classify_input_find(c->input ? c->input : "text");
    if (in->sound != (c->heard.settings != NULL))
        return rg_fail(RG_EFORMAT, "classify.input is '%s', and settings of sound are %s", in->name,
                       in->sound ? "missing" : "there");
    if (in->sound) RG_TRY(rg_heard_adopt(&c->heard));
    return !c->names == !c->counts ? RG_OK : rg_fail(RG_EFORMAT, "classes and classes.counts go together");
}
static rg_status describe(rg_state *state, const void *its) { return rg_assets_describe(assets, state, its); }

void rg_classifier_drop(void *its)
{
    rg_augmented_free(((rg_classifier *)its)->augmented);
    ((rg_classifier *)its)->augmented = NULL;
    rg_heard_drop(&((rg_classifier *)its)->heard);
    rg_assets_drop(assets, its);
}

/* ---------------------------------------------------------------------------------------------------------- opening */

/* All columns but the first are the numbers, unless the file names them. */
rg_status rg_classify_columns(rg_reader_config *reading, const rg_classify_input *in, const char *path)
{
    rg_reader_config look = *reading;
    rg_reader       *r;
    rg_row           row;
    bool             more;
    if (in->kind != RG_FIELD_NUMBERS || in->many || reading->columns[0]) return RG_OK;
    look.header = RG_HEADER_AUTO; /* a header with these names? */
    RG_TRY(rg_reader_open(&r, path, &look));
    rg_status   status = rg_reader_next(&more, &row, r);
    const char *format = rg_reader_format_of(r);
    if (!rg_reader_has_header(r) && (strcmp(format, "tsv") == 0 || strcmp(format, "csv") == 0))
        reading->columns = "1,2-";
    rg_reader_close(r);
    return status;
}

static rg_status count_classes(rg_classifier *its, rg_examples *examples)
{
    rg_batch one;
    if (!its->names) return RG_OK;
    if (!(its->counts = rg_alloc_zero(rg_names_count(its->names) * sizeof *its->counts))) return RG_ENOMEM;
    for (uint64_t i = 0; i < rg_examples_count(examples); i++) {
        RG_TRY(rg_examples_one(&one, examples, i));
        its->counts[one.field[RG_LABEL].ids[0]]++;
    }
    return RG_OK;
}

static rg_status open_from(rg_run *run, const rg_classify_input *in, rg_reader_config *reading)
{
    const rg_classify_options *o = run->options;
    const bool                 number = strcmp(o->out, "number") == 0;
    rg_classifier             *its = run->assets;
    rg_supervised             *d = run->data;
    rg_field_spec              specs[2] = {
                     [RG_LABEL] = { .name = "label", .kind = number ? RG_FIELD_NUMBERS : RG_FIELD_CLASS, .width = number }
    };
    RG_TRY(rg_classify_columns(reading, in, o->sets.train.items[0]));
    if (!number) RG_TRY(rg_examples_learn(&its->names, NULL, &specs[RG_LABEL], o->sets.train.items[0], reading));
    specs[RG_LABEL].names = its->names;
    RG_TRY(rg_classify_input_learn(&specs[RG_INPUT], in, run, reading));
    RG_TRY(rg_supervised_open(run, &o->sets, reading, specs, 2));
    RG_TRY(rg_features_save(its->features));
    RG_TRY(count_classes(its, d->train));
    RG_TRY(rg_augmented_fill(its->augmented, d->train, d->valid, RG_INPUT));
    RG_TRY(rg_classify_input_check(in, run));
    if (!(its->input = rg_strdup(in->name))) return RG_ENOMEM;
    if (number) RG_TRY(rg_sizes_put(&run->sizes, "classes", 1));
    if (number) RG_TRY(rg_sizes_put(&run->sizes, "regression", 1));
    return rg_assets_sizes(assets, &run->sizes, its);
}

static rg_status open(rg_run *run)
{
    const rg_classify_options *o = run->options;
    const char                *wanted[] = { "label", NULL };
    const rg_classify_input   *in;
    char                      *files = NULL;
    RG_TRY(rg_classify_input_choose(&in, run));
    RG_TRY(rg_supervised_check(&o->sets, in->files, in->kind == RG_FIELD_PIXELS));
    wanted[1] = in->column;
    rg_reader_config reading = rg_supervised_reading(&o->sets, wanted, 2);
    if (o->sets.train.count > 1) reading.labels = o->sets.train.items[1];
    if (in->sound) {
        RG_TRY(rg_heard_files(&files, o->sets.train.items[0], &o->sets));
        reading.file = in->column;
        reading.files = files;
    }
    const rg_status status = open_from(run, in, &reading);
    rg_free(files);
    return status;
}

static rg_status ready(rg_run *run)
{
    const rg_classifier *its = run->model->assets;
    rg_text              text = { 0 };
    if (its->vocab) RG_TRY(rg_supervised_fits(run, &((const rg_classify_options *)run->options)->text));
    RG_TRY(rg_classify_standardize(run));
    rg_status status = its->names ? rg_text_print(&text, "%zu classes (", rg_names_count(its->names))
                                  : rg_text_print(&text, "a number");
    if (status == RG_OK && its->names) status = rg_names_print(&text, its->names, 10);
    if (status == RG_OK && its->names) status = rg_text_print(&text, ")");
    if (status == RG_OK && its->vocab)
        status = rg_text_print(&text, ", vocabulary of %zu tokens", rg_vocab_size(its->vocab));
    else if (status == RG_OK)
        status = rg_text_print(&text, " from %s, %zu features", its->input,
                               rg_model_size(run->model, "features")
                                   ? rg_model_size(run->model, "features")
                                   : rg_model_size(run->model, "height") * rg_model_size(run->model, "width") *
                                         rg_model_size(run->model, "channels"));
    if (status == RG_OK)
        rg_tell(run->report, "%s, %zu parameters", rg_text_c(&text), rg_params_numbers(run->model->params));
    rg_text_free(&text);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

static rg_status judge(rg_run *run, rg_metrics *out)
{
    return rg_supervised_judge_labels(out, run, ((const rg_classifier *)run->model->assets)->names);
}

static rg_status finish(rg_run *run)
{
    RG_TRY(rg_supervised_tell_classes(run, ((const rg_classifier *)run->model->assets)->names));
    return rg_classify_tell_rewards(run);
}

/* Pictures and recordings are asked about by their paths, which no client of a server may name. */
static bool texts(const rg_model *model)
{
    const rg_classify_input *input = rg_classify_input_of(model);
    return input && !rg_classify_input_is_file(input);
}

const rg_task rg_task_classify = {
    .name = "classify",
    .in = "text, numbers, picture or sound",
    .out = "class or number",
    .unit = "rows",
    .summary = "labelled texts, tables of numbers, bags of words, pictures, recordings: reviews, measurements, digits",
    .options = options,
    .options_bytes = sizeof(rg_classify_options),
    .learning = RG_SUPERVISED_LEARNING,
    .assets_bytes = sizeof(rg_classifier),
    .adopt = adopt,
    .describe = describe,
    .drop = rg_classifier_drop,
    RG_SUPERVISED(rg_supervised),
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = rg_supervised_hint,
    .asking = rg_classify_asking_rows,
    .asking_bytes = sizeof(rg_classify_asking),
    .answer = rg_classify_answer,
    .influence = rg_classify_influence,
    .score = rg_classify_score,
    .examples = rg_classify_examples,
    .classes = rg_classify_names,
    .texts = texts,
    .small = rg_classify_small,
    .demos = rg_classify_demos,
};
