/* transcribe.c - a recording, or another sequence of rows of numbers, -> text. A table names a recording and a text per
 * line; a folder of recordings without a table has texts in its names.
 *
 *   exact       share of recordings whose answer is their text           perplexity   of the texts
 *   error       tokens that have to be added, taken away or changed, for 100 tokens of the texts (Levenshtein 1966)
 *   monotone    share of answers whose attention never goes back: the row that token t looks at most is not before that
 *               of token t - 1 */
#include <string.h>

#include "regard/metrics.h"
#include "tasks/caption.h"
#include "tasks/classify.h"

typedef struct {
    rg_caption_options caption; /* first: what is asked and searched is that of pictures */
    rg_sound_options   sound;
    char              *in;
} transcribe_options;

static const rg_option options[] = {
    RG_SET_ROWS(transcribe_options, caption.pictured.sets,
                "file of recordings and texts: TSV, CSV, or a folder of WAV files named by their texts", "32"),
    { RG_OPTION_STRING, "valid-pictures", offsetof(transcribe_options, caption.pictured.valid_pictures), "",
      "--pictures, where the recordings are, of the validation data; empty: the same", 0, NULL, NULL },
    { RG_OPTION_STRING, "test-pictures", offsetof(transcribe_options, caption.pictured.test_pictures), "",
      "--pictures of the test data; empty: the same", 0, NULL, NULL },
    RG_TEXT_ROWS(transcribe_options, caption.text),
    { RG_OPTION_INT, "beam-size", offsetof(transcribe_options, caption.beam), "1", "of the search that validates", 0,
      "[1,100]", NULL },
    { RG_OPTION_STRING, "in", offsetof(transcribe_options, in), "sound",
      "what a row names: a WAV file, or the numbers themselves, rows between ;", 0, "sound|sequence", NULL },
    RG_SOUND_ROWS(transcribe_options, sound),
    RG_OPTION_END
};

/* ---------------------------------------------------------------------------------------------------------- opening */

/* Numbers before the first ; of the first example. */
static size_t width_of(const rg_pictured_table *x)
{
    size_t n = 0;
    for (const char *at = rg_words_get(&x->names, 0); *(at += strspn(at, " ,")) && *at != ';'; n++)
        at += strcspn(at, " ,;");
    return n;
}

static rg_status open(rg_run *run)
{
    static const char *const  wanted[] = { "text" };
    const transcribe_options *o = run->options;
    rg_pictured_data         *d = run->data;
    rg_pictured_assets       *a = run->assets;
    rg_field_spec             specs[2];
    const bool                sound = strcmp(o->in, "sound") == 0;
    RG_TRY(rg_pictured_open_tables(run, &o->caption.pictured, "recordings and texts", o->in, wanted, 1));
    if (sound) RG_TRY(rg_heard_start(&a->heard, &specs[0], o->in, &o->sound, (uint64_t)run->learning->seed));
    else specs[0] = (rg_field_spec){ .name = o->in, .kind = RG_FIELD_NUMBERS, .many = true, .width = width_of(&d->table[0]) };
    specs[0].batch_rows = (size_t)o->caption.pictured.sets.batch_rows;
    RG_TRY(rg_pictured_vocab(&a->vocab, run, &o->caption.text, &d->table[0], 0, 0));
    specs[1] = rg_text_spec("text", a->vocab, &o->caption.text);
    specs[1].predicted = specs[1].many = true;
    RG_TRY(rg_pictured_open_rows(run, &o->caption.pictured, specs));
    return rg_caption_longest(&run->sizes, d->base.train, RG_TARGET, rg_vocab_eos(a->vocab));
}

static rg_status ready(rg_run *run)
{
    const rg_pictured_assets *a = run->model->assets;
    const rg_pictured_data   *d = run->data;
    rg_tell(run->report, "%llu texts of %zu inputs, vocabulary of %zu tokens, %zu numbers in a row, %zu parameters",
            (unsigned long long)d->table[0].rows, d->table[0].names.count, rg_vocab_size(a->vocab),
            rg_model_size(run->model, "features"), rg_params_numbers(run->model->params));
    return rg_classify_standardize(run);
}

/* ---------------------------------------------------------------------------------------------------------- judging */

typedef struct {
    rg_run    *run;
    rg_search *search;
    rg_ids     room;
    double     nats, rows, exact, inputs, wrong, tokens, monotone;
} judging;

/* Changes that make one list of tokens another; row[n] has room for b_count + 1 numbers. */
static int32_t distance(const int32_t *a, size_t a_count, const int32_t *b, size_t b_count, int32_t *row)
{
    for (size_t j = 0; j <= b_count; j++) row[j] = (int32_t)j;
    for (size_t i = 1; i <= a_count; i++) {
        int32_t corner = row[0];
        row[0] = (int32_t)i;
        for (size_t j = 1; j <= b_count; j++) {
            const int32_t changed = corner + (a[i - 1] != b[j - 1]), shorter = row[j] + 1, longer = row[j - 1] + 1;
            corner = row[j];
            row[j] = changed < shorter ? changed : shorter;
            if (longer < row[j]) row[j] = longer;
        }
    }
    return row[b_count];
}

/* Of several texts of an input the one that is nearest. */
static rg_status compare(judging *j, const rg_field *to, size_t example, const rg_answer *a, int32_t eos)
{
    int32_t best = INT32_MAX;
    size_t  tokens = 0;
    for (int32_t from = to->layout.start[example], end; from < to->layout.start[example + 1]; from = end + 1) {
        for (end = from; end < to->layout.start[example + 1] - 1 && to->ids[end] != eos;) end++;
        const size_t count = (size_t)(end - from);
        j->room.count = 0;
        RG_TRY(rg_ids_reserve(&j->room, count + 1));
        const int32_t away = distance(a->tokens, a->length, to->ids + from, count, j->room.data);
        if (away < best) best = away, tokens = count;
    }
    if (best == INT32_MAX) return RG_OK;
    j->exact += best == 0 && !a->cut;
    j->wrong += best;
    j->tokens += (double)tokens;
    return RG_OK;
}

/* Does the row that is looked at most never go back? The end of the text is not counted: it looks anywhere. */
static bool is_monotone(const rg_answer *a)
{
    size_t before = 0;
    for (size_t t = 0; a->attention && t < a->length; t++) {
        const rg_real *w = a->attention + t * a->source_length;
        size_t         most = 0;
        for (size_t i = 1; i < a->source_length; i++)
            if (w[i] > w[most]) most = i;
        if (most < before) return false;
        before = most;
    }
    return true;
}

static rg_status judge_batch(void *context, rg_tape *t, const rg_batch *b)
{
    judging                  *j = context;
    const rg_model           *m = j->run->model;
    const transcribe_options *o = j->run->options;
    rg_search_config          c = rg_caption_search(m, (size_t)o->caption.beam, 1);
    const rg_answers         *answers;
    const rg_loss             loss = m->system->loss(t, m, b);
    static const rg_answer    nothing = { 0 };
    RG_TRY(rg_tape_status(t));
    j->nats += (double)rg_tensor_at(loss.sum, 0, 0);
    j->rows += loss.count;
    c.attention = true;
    RG_TRY(rg_search_run(&answers, j->search, &c, &b->field[RG_SOURCE], b->lines, NULL));
    for (size_t i = 0; i < b->examples; i++) {
        const rg_answer *a = answers[i].count ? &answers[i].answer[0] : &nothing;
        RG_TRY(compare(j, &b->field[RG_TARGET], i, a, (int32_t)rg_model_size(m, "eos")));
        j->monotone += is_monotone(a);
        j->inputs++;
    }
    return RG_OK;
}

static rg_status measure(rg_run *run, rg_metrics *out, rg_examples *store, const char *prefix)
{
    judging         j = { .run = run };
    const rg_model *m = run->model;
    rg_status       status = rg_search_new(&j.search, &m, 1, rg_workers_team(rg_trainer_workers(run->trainer)));
    if (status == RG_OK) status = rg_pictured_pass(run, store, judge_batch, &j);
    const struct {
        const char *name;
        double      value;
        bool        more;
    } all[] = { { "exact", 100 * j.exact / j.inputs, true },
                { "error", 100 * j.wrong / j.tokens, false },
                { "monotone", 100 * j.monotone / j.inputs, true },
                { "perplexity", rg_perplexity(j.nats, (uint64_t)j.rows), false } };
    for (size_t i = 0; status == RG_OK && i < sizeof all / sizeof *all; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%s", prefix, all[i].name);
        status = rg_metrics_add(out, name, all[i].value, all[i].more);
    }
    rg_search_free(j.search);
    rg_ids_free(&j.room);
    return status;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    return measure(run, out, ((rg_pictured_data *)run->data)->base.valid, "");
}

static rg_status finish(rg_run *run)
{
    rg_pictured_data *d = run->data;
    if (!d->base.test) return RG_OK;
    const size_t before = run->final.count;
    RG_TRY(measure(run, &run->final, d->base.test, "test-"));
    RG_TRY(rg_metrics_add(&run->final, "parameters", (double)rg_params_numbers(run->model->params), false));
    for (size_t i = before; i < run->final.count; i++)
        rg_tell(run->report, "%s %.2f", run->final.metric[i].name, run->final.metric[i].value);
    return RG_OK;
}

static rg_status hint(rg_text *out, const void *given, const char *program, const char *model)
{
    const bool sound = strcmp(((const transcribe_options *)given)->in, "sound") == 0;
    return rg_text_print(out, "%s predict -m %s %s", program, model, sound ? "recording.wav" : "< inputs.txt");
}

/* ------------------------------------------------------------------------------------------------------------ small */

static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    RG_TRY(rg_pictured_make(yaml, folder, "speech",
                            demo ? "shortest: 2\nlongest: 4\nseconds: 0.3\n" : "shortest: 1\nlongest: 2\nseconds: 0.1\n",
                            demo ? 1500 : 16, demo ? 100 : 4));
    return rg_text_print(yaml,
                         "vocab-kind: characters\nmini-batch: %d\nlearn-rate: 0.003\nsound-mels: %d\nsound-stack: 3\n"
                         "after-epochs: %d\n",
                         demo ? 16 : 4, demo ? 40 : 8, demo ? 8 : 2);
}

static const rg_demo demos[] = {
    { .name = "speech",
      .summary = "spoken digits, made by a small synthesiser, written down one after another",
      .type = "listen",
      .settings = "dim-in: 48\nwidth: 48\ndim-emb: 16\ndim-rnn: 64\nlearn-rate: 0.004\nafter-epochs: 8\nvalid-epochs: 2\n",
      .metric = "exact",
      .expected = 80,
      .ask = "FOLDER/ask.wav" },
    { 0 },
};

const rg_task rg_task_transcribe = {
    .name = "transcribe",
    .in = "sound or rows of numbers",
    .out = "text",
    .unit = "rows",
    .summary = "recordings in words or characters: spoken digits, spelled words",
    .options = options,
    .options_bytes = sizeof(transcribe_options),
    RG_PICTURED_PARTS,
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = hint,
    .asking = rg_caption_asking_rows,
    .asking_bytes = sizeof(rg_caption_asking),
    .answer = rg_caption_answer,
    .small = small,
    .demos = demos,
};
