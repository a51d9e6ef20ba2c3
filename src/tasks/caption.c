/* caption.c - picture -> text: captions, or the strings that are drawn in pictures. A table names a picture and a text
 * per line; all texts of a picture are learned together, and all are references when it is judged.
 *
 *   bleu        BLEU-4 with the brevity penalty, against all texts of a picture        bleu-1   the same of single words
 *   bleu-no-brevity   BLEU-4 without it
 *   exact       share of pictures whose answer is one of their texts                   perplexity   of the texts */
#include "tasks/caption.h"

#include <string.h>

#include "regard/metrics.h"

static const rg_option options[] = {
    RG_PICTURED_ROWS(rg_caption_options,
                     "file of pictures and texts: TSV, CSV, COCO JSON, or a folder of pictures named by their texts",
                     "32"),
    RG_TEXT_ROWS(rg_caption_options, text),
    { RG_OPTION_INT, "beam-size", offsetof(rg_caption_options, beam), "1", "of the search that validates", 0, "[1,100]",
      NULL },
    RG_OPTION_END
};

/* ---------------------------------------------------------------------------------------------------------- opening */

static rg_status open(rg_run *run)
{
    static const char *const  wanted[] = { "caption" };
    const rg_caption_options *o = run->options;
    rg_pictured_data         *d = run->data;
    rg_pictured_assets       *a = run->assets;
    rg_field_spec             specs[2];
    RG_TRY(rg_pictured_open_tables(run, &o->pictured, "pictures and texts", "picture", wanted, 1));
    RG_TRY(rg_pictured_vocab(&a->vocab, run, &o->text, &d->table[0], 0, 0));
    specs[1] = rg_text_spec("caption", a->vocab, &o->text);
    specs[1].predicted = specs[1].many = true;
    RG_TRY(rg_pictured_open_stores(run, &o->pictured, specs));
    return rg_caption_longest(&run->sizes, d->base.train, 1, rg_vocab_eos(a->vocab));
}

/* Half as long again as the longest text that is learned from: where an answer is cut. */
rg_status rg_caption_longest(rg_sizes *sizes, rg_examples *store, size_t field, int32_t eos)
{
    size_t longest = 0;
    for (uint64_t i = 0; i < rg_examples_count(store); i++) {
        rg_batch one;
        RG_TRY(rg_examples_one(&one, store, i));
        for (size_t k = 0, length = 0; k < rg_field_rows(&one.field[field]); k++) {
            length = one.field[field].ids[k] == eos ? 0 : length + 1;
            if (length > longest) longest = length;
        }
    }
    return rg_sizes_put(sizes, "longest-text", longest + longest / 2 + 5);
}

static rg_status ready(rg_run *run)
{
    const rg_pictured_assets *a = run->model->assets;
    const rg_pictured_data   *d = run->data;
    rg_tell(run->report, "%llu texts of %zu pictures, vocabulary of %zu pieces, %zu x %zu cells, %zu parameters",
            (unsigned long long)d->table[0].rows, d->table[0].names.count, rg_vocab_size(a->vocab),
            rg_model_size(run->model, "cells-down"), rg_model_size(run->model, "cells-across"),
            rg_params_numbers(run->model->params));
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

rg_search_config rg_caption_search(const rg_model *m, size_t beam, size_t n_best)
{
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    c.beam = beam;
    c.n_best = n_best;
    c.length_factor = 0; /* pixels say nothing of words */
    c.length_extra = rg_model_size(m, "longest-text") ? rg_model_size(m, "longest-text") : 100;
    return c;
}

typedef struct {
    rg_run                  *run;
    const rg_pictured_table *table;
    rg_search               *search;
    rg_scorer               *bleu;
    rg_text                  said, truth;
    const char             **references;
    size_t                   most; /* references of a picture */
    double                   nats, words, exact, pictures;
} judging;

/* The texts of a picture as the vocabulary sees them, NUL behind each, into j->truth. As many references for every
 * picture: the last again. */
static rg_status find_references(judging *j, size_t picture)
{
    const rg_pictured_assets *a = j->run->model->assets;
    const char               *at = rg_text_c(&j->table->cell[0][picture]), *text;
    size_t                    bytes, n = 0;
    rg_text_clear(&j->truth);
    while (rg_pictured_line(&text, &bytes, &at)) {
        RG_TRY(rg_vocab_normalize(&j->truth, a->vocab, text, bytes));
        RG_TRY(rg_text_add(&j->truth, "", 1));
        n++;
    }
    const char *next = rg_text_c(&j->truth);
    for (size_t i = 0; i < j->most; i++) {
        j->references[i] = i < n ? next : j->references[n ? n - 1 : 0];
        if (i < n) next += strlen(next) + 1;
    }
    return RG_OK;
}

static rg_status judge_batch(void *context, rg_tape *t, const rg_batch *b)
{
    judging                  *j = context;
    const rg_model           *m = j->run->model;
    const rg_caption_options *o = j->run->options;
    const rg_search_config    c = rg_caption_search(m, (size_t)o->beam, 1);
    const rg_answers         *answers;
    const rg_loss             loss = m->system->loss(t, m, b);
    RG_TRY(rg_tape_status(t));
    j->nats += (double)rg_tensor_at(loss.sum, 0, 0);
    j->words += loss.count;
    RG_TRY(rg_search_run(&answers, j->search, &c, &b->field[RG_SOURCE], b->lines, NULL));
    for (size_t i = 0; i < b->examples; i++) {
        bool exact = false;
        rg_text_clear(&j->said);
        if (answers[i].count)
            RG_TRY(rg_pictured_text(&j->said, ((const rg_pictured_assets *)m->assets)->vocab, &answers[i].answer[0]));
        RG_TRY(find_references(j, (size_t)b->lines[i] - 1));
        for (size_t k = 0; k < j->most; k++) exact = exact || strcmp(rg_text_c(&j->said), j->references[k]) == 0;
        RG_TRY(rg_scorer_add(j->bleu, rg_text_c(&j->said), j->references, j->most));
        j->exact += exact;
        j->pictures++;
    }
    return RG_OK;
}

static size_t most_texts(const rg_pictured_table *x)
{
    size_t most = 1;
    for (size_t i = 0; i < x->names.count; i++) {
        size_t n = 1;
        for (const char *c = rg_text_c(&x->cell[0][i]); *c; c++) n += *c == '\n';
        if (n > most) most = n;
    }
    return most;
}

static rg_status report(rg_metrics *out, const judging *j, const char *prefix)
{
    const rg_pictured_assets *a = j->run->model->assets;
    const rg_vocab_kind       kind = rg_vocab_kind_of(a->vocab);
    const bool                letters = kind == RG_VOCAB_CHARACTERS || kind == RG_VOCAB_CHAR;
    rg_bleu_parts             bleu;
    char                      name[5][32];
    snprintf(name[0], sizeof name[0], "%sexact", prefix);
    snprintf(name[1], sizeof name[1], "%sbleu", prefix);
    snprintf(name[2], sizeof name[2], "%sbleu-1", prefix);
    snprintf(name[3], sizeof name[3], "%sperplexity", prefix);
    snprintf(name[4], sizeof name[4], "%sbleu-no-brevity", prefix);
    RG_TRY(rg_scorer_bleu(&bleu, j->bleu));
    if (!letters) RG_TRY(rg_metrics_add(out, name[1], bleu.score, true));
    RG_TRY(rg_metrics_add(out, name[0], 100 * j->exact / j->pictures, true));
    if (!letters) RG_TRY(rg_metrics_add(out, name[2], bleu.precisions[0] * bleu.brevity, true));
    if (!letters) RG_TRY(rg_metrics_add(out, name[4], bleu.brevity > 0 ? bleu.score / bleu.brevity : 0, true));
    return rg_metrics_add(out, name[3], rg_perplexity(j->nats, (uint64_t)j->words), false);
}

static rg_status measure(rg_run *run, rg_metrics *out, rg_examples *store, size_t part, const char *prefix)
{
    rg_scorer_config c = RG_SCORER_CONFIG_DEFAULT;
    judging          j = { .run = run, .table = &((rg_pictured_data *)run->data)->table[part] };
    const rg_model  *m = run->model;
    c.lowercase = rg_vocab_form_of(((const rg_pictured_assets *)m->assets)->vocab) == RG_TEXT_LOWER;
    j.most = most_texts(j.table);
    j.references = rg_alloc_zero(j.most * sizeof *j.references);
    rg_status status = j.references ? rg_scorer_new(&j.bleu, "bleu", &c) : RG_ENOMEM;
    if (status == RG_OK) status = rg_search_new(&j.search, &m, 1, rg_workers_team(rg_trainer_workers(run->trainer)));
    if (status == RG_OK) status = rg_pictured_pass(run, store, judge_batch, &j);
    if (status == RG_OK) status = report(out, &j, prefix);
    rg_search_free(j.search);
    rg_scorer_free(j.bleu);
    rg_text_free(&j.said);
    rg_text_free(&j.truth);
    rg_free(j.references);
    return status;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    return measure(run, out, ((rg_pictured_data *)run->data)->base.valid, 1, "");
}

static rg_status finish(rg_run *run)
{
    rg_pictured_data *d = run->data;
    if (!d->base.test) return RG_OK;
    const size_t before = run->final.count;
    RG_TRY(measure(run, &run->final, d->base.test, 2, "test-"));
    for (size_t i = before; i < run->final.count; i++)
        rg_tell(run->report, "%s %.2f", run->final.metric[i].name, run->final.metric[i].value);
    return RG_OK;
}

static rg_status captchas(rg_text *yaml, const char *folder, rg_small_size size)
{
    if (size == RG_SMALL_TEST) return rg_pictured_small(yaml, folder, size);
    return rg_pictured_make(yaml, folder, "captcha", "shortest: 3\nlongest: 3\nlines: 0\nspeckle: 0.01\n", 4000, 300);
}

static rg_status scenes(rg_text *yaml, const char *folder, rg_small_size size)
{
    if (size == RG_SMALL_TEST) return rg_pictured_small(yaml, folder, size);
    return rg_pictured_make(yaml, folder, "scenes", "fewest: 2\nmost: 2\n", 3000, 300);
}

static const rg_demo demos[] = {
    { .name = "captcha",
      .summary = "an LSTM with attention reads drawn digits, one after another",
      .type = "caption",
      .settings = "vocab-kind: characters\nlayers: c3x16s2 c3x32 p2 c3x32\ndim-emb: 32\ndim-rnn: 64\ndropout-rnn: "
                  "0\nmini-batch: 32\n"
                  "learn-rate: 0.004\nafter-epochs: 8\nvalid-epochs: 4\n",
      .metric = "exact",
      .expected = 60,
      .ask = "FOLDER/ask.png",
      .small = captchas },
    { .name = "caption",
      .summary = "coloured shapes in words, with the cells that each word looked at",
      .type = "caption",
      .settings = "layers: c3x16s2 c3x32 p2 c3x32\ndim-emb: 32\ndim-rnn: 64\ndropout-rnn: 0\nmini-batch: "
                  "32\nlearn-rate: 0.004\nafter-epochs: 6\n"
                  "valid-epochs: 2\n",
      .metric = "exact",
      .expected = 60,
      .ask = "FOLDER/ask.png",
      .small = scenes },
    { 0 },
};

const rg_task rg_task_caption = {
    .name = "caption",
    .in = "picture",
    .out = "text",
    .summary = "pictures in words; strings in pictures: captchas, serial numbers",
    .options = options,
    .options_bytes = sizeof(rg_caption_options),
    RG_PICTURED,
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = rg_pictured_hint,
    .asking = rg_caption_asking_rows,
    .asking_bytes = sizeof(rg_caption_asking),
    .answer = rg_caption_answer,
    .demos = demos,
};
