/* tag.c - a sentence -> a class for each of its words: parts of speech, names. Files have a word and its tag per line and an empty line between
 * sentences (CoNLL); every word is cut by itself, and its first piece carries the tag.
 *
 *   in the model file      vocab.text   bytes           tags   bytes: the names, sorted */
#include <math.h>
#include <string.h>

#include "regard/metrics.h"
#include "regard/supervised.h"
#include "tasks/batches.h"
#include "tasks/tag.h"

typedef struct {
    rg_set_options  sets;
    rg_text_options text;
} tag_options;

static const rg_option options[] = { RG_SET_ROWS(tag_options, sets, "file of a word and its tag per line", "32"), RG_TEXT_ROWS(tag_options, text),
                                     RG_OPTION_END };

static const rg_asset assets[] = { { RG_ASSET_VOCAB, "vocab.text", offsetof(rg_tagger, vocab), "vocabulary", 0, false },
                                   { RG_ASSET_NAMES, "tags", offsetof(rg_tagger, tags), "tags", 1, false },
                                   { 0 } };

static rg_status adopt(void *its, rg_sizes *sizes, const rg_state *state) { return rg_assets_adopt(assets, its, sizes, state); }
static rg_status describe(rg_state *state, const void *its) { return rg_assets_describe(assets, state, its); }
static void      drop(void *its) { rg_assets_drop(assets, its); }

static rg_status open(rg_run *run)
{
    static const char *const wanted[] = { "word", "tag" };
    const tag_options       *o = run->options;
    rg_tagger               *its = run->assets;
    rg_field_spec            specs[] = { [RG_LABEL] = { .name = "tag", .kind = RG_FIELD_TAGS } };
    rg_reader_config         reading = rg_supervised_reading(&o->sets, wanted, 2);
    RG_TRY(rg_supervised_check(&o->sets, "words and tags", false));
    if (!reading.format[0]) reading.format = "conll"; /* whose files look like tsv */
    RG_TRY(rg_examples_learn(&its->tags, NULL, &specs[RG_LABEL], o->sets.train.items[0], &reading));
    RG_TRY(rg_supervised_vocab(&its->vocab, run, &o->sets, &o->text, &reading, 0));
    specs[RG_INPUT] = rg_text_spec("word", its->vocab, &o->text);
    specs[RG_INPUT].words = true;
    specs[RG_LABEL].names = its->tags;
    RG_TRY(rg_supervised_open(run, &o->sets, &reading, specs, 2));
    return rg_assets_sizes(assets, &run->sizes, its);
}

static rg_status ready(rg_run *run)
{
    const rg_tagger *its = run->model->assets;
    RG_TRY(rg_supervised_fits(run, &((const tag_options *)run->options)->text));
    rg_tell(run->report, "%zu tags%s, vocabulary of %zu tokens, %zu parameters", rg_names_count(its->tags),
            rg_tags_are_bio(its->tags) ? " of spans" : "", rg_vocab_size(its->vocab), rg_params_numbers(run->model->params));
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ judging */

typedef struct {
    const rg_tagger *its;
    rg_confusion     confusion;
    rg_set_counts    spans;
    double           loss, words;
    rg_ids           gold, said; /* of a sentence, one per word */
} judgement;

int32_t rg_tag_best(const rg_tensor *y, size_t row)
{
    const rg_real *x = rg_tensor_row(y, row);
    size_t         best = 0;
    for (size_t c = 1; c < rg_tensor_cols(y); c++)
        if (x[c] > x[best]) best = c;
    return (int32_t)best;
}

static rg_status judge_batch(void *context, rg_tape *t, rg_tensor *y, const rg_batch *b)
{
    judgement       *j = context;
    const rg_field  *tags = &b->field[RG_LABEL];
    const rg_tensor *loss = rg_cross_entropy(t, y, tags->ids, 0);
    RG_TRY(rg_tape_status(t));
    j->loss += (double)rg_tensor_at(loss, 0, 0);
    for (size_t g = 0; g < b->examples; g++) {
        j->gold.count = j->said.count = 0;
        for (int32_t i = tags->layout.start[g]; i < tags->layout.start[g + 1]; i++) {
            if (tags->ids[i] < 0) continue;
            RG_TRY(rg_ids_add(&j->gold, tags->ids[i]));
            RG_TRY(rg_ids_add(&j->said, rg_tag_best(y, (size_t)i)));
            rg_confusion_add(&j->confusion, tags->ids[i], j->said.data[j->said.count - 1]);
        }
        j->words += (double)j->gold.count;
        rg_spans_compare(&j->spans, j->gold.data, j->said.data, j->gold.count, j->its->tags);
    }
    return RG_OK;
}

static rg_status measure(judgement *out, rg_run *run)
{
    *out = (judgement){ .its = run->model->assets };
    rg_status status = rg_confusion_init(&out->confusion, rg_names_count(out->its->tags));
    if (status == RG_OK) status = rg_supervised_judge(run, judge_batch, out);
    rg_ids_free(&out->gold);
    rg_ids_free(&out->said);
    return status;
}

/* Span F1 decides where tags name spans; otherwise the share of words that are right. */
static rg_status judge(rg_run *run, rg_metrics *out)
{
    judgement j;
    rg_status status = measure(&j, run);
    if (status == RG_OK && rg_tags_are_bio(j.its->tags)) status = rg_metrics_add(out, "span-f1", rg_set_f1(j.spans), true);
    if (status == RG_OK) status = rg_metrics_add(out, "accuracy", rg_confusion_accuracy(&j.confusion), true);
    if (status == RG_OK) status = rg_metrics_add(out, "loss", j.loss / j.words, false);
    rg_confusion_fini(&j.confusion);
    return status;
}

static rg_status finish(rg_run *run)
{
    rg_text   table = { 0 };
    judgement j;
    if (!rg_supervised_judges(run)) return RG_OK;
    rg_status status = measure(&j, run);
    if (status == RG_OK) status = rg_confusion_print(&table, &j.confusion, j.its->tags);
    if (status == RG_OK) rg_tell_lines(run->report, rg_text_c(&table));
    rg_confusion_fini(&j.confusion);
    rg_text_free(&table);
    return status;
}

static rg_status hint(rg_text *out, const void *given, const char *program, const char *model)
{
    return (void)given, rg_text_print(out, "%s predict -m %s < sentences.txt", program, model);
}

static const rg_demo demos[] = {
    { .name = "names",
      .summary = "people, places and firms in sentences; some names are of two kinds, and the words around them tell",
      .type = "tagger",
      .metric = "span-f1",
      .expected = 0.9,
      .ask = "washington said that jordan steel will open in jordan" },
    { 0 },
};

const rg_task rg_task_tag = {
    .name = "tag",
    .in = "text",
    .out = "a class per word",
    .unit = "words",
    .summary = "words and their tags: parts of speech, names of people and places",
    .options = options,
    .options_bytes = sizeof(tag_options),
    .learning = "learn-rate: 0.002\nafter-epochs: 20\nvalid-freq: 0\nvalid-epochs: 1\nearly-stopping: 5\n"
                "keep-best: false\nrestore-best: true\nsave-freq: 0\ndisp-freq: 0\n",
    .assets_bytes = sizeof(rg_tagger),
    .adopt = adopt,
    .describe = describe,
    .drop = drop,
    RG_SUPERVISED(rg_supervised),
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = hint,
    .answer = rg_tag_answer,
    .texts = rg_always_texts,
    .small = rg_tag_small,
    .demos = demos,
};
