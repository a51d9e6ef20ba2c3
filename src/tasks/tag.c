/* tag.c - a sentence -> a class for each of its words: parts of speech, names. Files have a word and its tag per line
 * and an empty line between sentences (CoNLL); every word is cut by itself, and its first token carries the tag.
 *
 *   in the model file      vocab.text   bytes           tags   bytes: the names, sorted */
#include <math.h>
#include <string.h>

#include "regard/made.h"
#include "tasks/batches.h"

static const char *const wanted[] = { "word", "tag" }; /* columns */

typedef struct {
    rg_set_options  sets;
    rg_text_options text;
} tag_options;

static const rg_option options[] = { RG_SET_ROWS(tag_options, sets, "file of a word and its tag per line", "32"),
                                     RG_TEXT_ROWS(tag_options, text), RG_OPTION_END };

typedef struct {
    rg_model *model;
    rg_vocab *vocab;
    rg_names *tags;
} tagger;

static const rg_asset assets[] = { { RG_ASSET_VOCAB, "vocab.text", offsetof(tagger, vocab), "vocabulary", 0, false },
                                   { RG_ASSET_NAMES, "tags", offsetof(tagger, tags), "tags", 1, false },
                                   { 0 } };
RG_ASSET_FUNCTIONS(assets)

static rg_status open(rg_run *run)
{
    const tag_options *o = run->options;
    tagger            *its = run->assets;
    rg_field_spec      specs[] = { [RG_LABEL] = { .name = "tag", .kind = RG_FIELD_TAGS } };
    rg_reader_config   reading = rg_supervised_reading(&o->sets, wanted, 2);
    RG_TRY(rg_supervised_check(&o->sets, "words and tags", false));
    if (!reading.format[0]) reading.format = "conll"; /* whose files look like tsv */
    RG_TRY(rg_examples_learn(&its->tags, NULL, &specs[RG_LABEL], o->sets.train.items[0], &reading));
    RG_TRY(rg_supervised_vocab(&its->vocab, run, &o->sets, &o->text, &reading, 0));
    specs[RG_INPUT] = rg_text_spec("word", its->vocab, &o->text);
    specs[RG_INPUT].words = true;
    specs[RG_INPUT].bos = specs[RG_INPUT].eos = false; /* a tag for each row */
    specs[RG_LABEL].names = its->tags;
    RG_TRY(rg_supervised_open(run, &o->sets, &reading, specs, 2));
    return rg_assets_sizes(assets, &run->sizes, its);
}

static rg_status ready(rg_run *run)
{
    const tagger *its = run->model->assets;
    RG_TRY(rg_supervised_fits(run, &((const tag_options *)run->options)->text));
    rg_tell(run->report, "%zu tags%s, vocabulary of %zu tokens, %zu parameters", rg_names_count(its->tags),
            rg_tags_are_bio(its->tags) ? " of spans" : "", rg_vocab_size(its->vocab),
            rg_params_numbers(run->model->params));
    return RG_OK;
}

static const rg_names *tags_of(const rg_model *m) { return ((const tagger *)m->assets)->tags; }

static rg_status judge(rg_run *run, rg_metrics *m) { return rg_supervised_judge_labels(m, run, tags_of(run->model)); }
static rg_status finish(rg_run *run) { return rg_supervised_tell_classes(run, tags_of(run->model)); }

/* -------------------------------------------------------------------------------------------------------- answering */

/* How many tokens a word has, one at least. */
static rg_status tokens_of(size_t *out, const tagger *its, const char *word, size_t bytes)
{
    rg_ids    ids = { 0 };
    rg_status status = rg_vocab_encode(&ids, NULL, its->vocab, word, bytes);
    *out = ids.count ? ids.count : 1;
    rg_ids_free(&ids);
    return status;
}

/* A tag for each word between blanks; "?" for one that did not fit the model. */
static rg_status tag_words(rg_text *out, const rg_model *m, const rg_asked *asked)
{
    const tagger     *its = m->assets;
    static const char blanks[] = " \t\n\r";
    const rg_layout  *l = asked->batch ? &asked->batch->field[RG_INPUT].layout : NULL;
    size_t            row = l ? (size_t)l->start[asked->example] : 0, rows;
    const size_t      end = l ? (size_t)l->start[asked->example + 1] : 0;
    for (const char *at = asked->text; *(at += strspn(at, blanks)); row += rows, at += strcspn(at, blanks)) {
        if (row < end && !isfinite((double)rg_tensor_at(asked->answers, row, 0)))
            return rg_fail(RG_ENUMBER, "input %llu: a score is not finite; the model's weights give infinite numbers",
                           (unsigned long long)asked->number);
        RG_TRY(rg_text_print(out, "%s%s", out->length ? " " : "",
                             row < end ? rg_names_get(its->tags, rg_best_class(asked->answers, row)) : "?"));
        RG_TRY(tokens_of(&rows, its, at, strcspn(at, blanks)));
    }
    return RG_OK;
}

/* Words of new sentences, as many as fit the model. */
static rg_field_spec words_of(const rg_model *m)
{
    const tagger *its = m->assets;
    return (rg_field_spec){ "word", RG_FIELD_IDS, .vocab = its->vocab, .words = true, .max_rows = m->longest, .crop = true };
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    const rg_field_spec spec = words_of(m);
    return rg_supervised_answer_texts(m, q, &spec, "tags", tag_words);
}

static rg_status examples(rg_examples **out, const rg_model *m, const rg_set_options *sets)
{
    const rg_field_spec      specs[] = { words_of(m), { .name = "tag", .kind = RG_FIELD_TAGS, .names = tags_of(m) } };
    rg_reader_config         reading = rg_supervised_reading(sets, wanted, 2);
    const rg_examples_config in_order = { .batch = sets->batch ? (size_t)sets->batch : 32, .memory = (size_t)1 << 30 };
    if (!reading.format[0]) reading.format = "conll";
    return rg_examples_open(out, &in_order, specs, 2, sets->train.items[0], &reading);
}

/* ------------------------------------------------------------------------------------------------------------ small */

static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    RG_TRY(rg_generator_write_in(&rg_generator_names, folder, "train.conll", demo ? "count: 1500\nseed: 5" : "count: 60\nseed: 5"));
    RG_TRY(rg_generator_write_in(&rg_generator_names, folder, "valid.conll", demo ? "count: 300\nseed: 6" : "count: 12\nseed: 6"));
    return rg_text_print(yaml, "train-sets: [%s/train.conll]\nvalid-sets: [%s/valid.conll]\nlearn-rate: 0.005\n%s", folder,
                         folder, demo ? "mini-batch: 32\nafter-epochs: 6\n" : "mini-batch: 16\nafter-epochs: 2\n");
}

/* Who is "it"? The sentence of the slide itself may be among those that are learned. */
static rg_status small_referents(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    RG_TRY(rg_generator_write(&rg_generator_referents, folder,
                              demo ? "count: 6000\nvalid: 400\ntest: 0\n" : "count: 40\nvalid: 8\ntest: 0\n"));
    return rg_text_print(yaml, "train-sets: [%s/train.txt]\nvalid-sets: [%s/valid.txt]\nmini-batch: %d\nafter-epochs: %d\n",
                         folder, folder, demo ? 64 : 16, demo ? 8 : 2);
}

static const rg_demo demos[] = {
    { .name = "names",
      .summary = "people, places and firms in sentences; some names are of two kinds, and the words around them tell",
      .type = "tagger",
      .metric = "span-f1",
      .expected = 0.9,
      .ask = "washington said that jordan steel will open in jordan" },
    { .name = "referent",
      .summary = "who is it? \"it\" looks at the animal when it was too tired, at the street when it was too wide",
      .type = "tagger",
      .small = small_referents,
      .settings = "encoder: transformer\nlayers: 2\ntransformer-heads: 2\ndim-emb: 48\ndropout: 0\n"
                  "transformer-dropout: 0.1\nlearn-rate: 0.002\n",
      .metric = "macro-f1",
      .expected = 0.95,
      .ask = "the animal didn't cross the street because it was too wide" },
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
    .learning = RG_SUPERVISED_LEARNING,
    RG_ASSETS(tagger),
    RG_SUPERVISED(rg_supervised),
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = rg_supervised_hint,
    .answer = answer,
    .examples = examples,
    .classes = tags_of,
    .texts = rg_always_texts,
    .small = small,
    .demos = demos,
};
