/* language.c - running text -> what comes next: plain text files, cut into streams or windows; judged by perplexity.
 * Or running numbers (--numbers): rows in the place of tokens, judged by the mean square error.
 *
 *   in the model file      vocab.text      bytes; not of numbers
 *   sizes                  context         pieces of a window; 0: the model carries its state through a text
 *                          lines           1: </s> ends a line, and the text goes on behind it; 0: it ends a text
 *                          numbers         of a row; 0 or not there: text */
#include "tasks/language.h"

#include <math.h>
#include <string.h>

#include "regard/metrics.h"
#include "tasks/batches.h"
#include "tasks/language_cut.h"
#include "tasks/language_mask.h"
#include "tasks/series.h"

#define AT(field) offsetof(rg_language_options, field)

const rg_option rg_language_rows[] = {
    { RG_OPTION_LIST, "train-sets", AT(train_sets), "", "text files to learn from, one after another; .gz allowed", 't',
      NULL },
    { RG_OPTION_LIST, "valid-sets", AT(valid_sets), "", "the same for validation", 0, NULL },
    { RG_OPTION_REAL, "valid-share", AT(valid_share), "0",
      "without --valid-sets: validate on such a share of the text, its end", 0, "[0,0.9]" },
    { RG_OPTION_LIST, "test-sets", AT(test_sets), "", "text read once, when everything is learned, to test on", 0,
      NULL },
    { RG_OPTION_STRING, "cloze", AT(cloze), "",
      "lines whose last token is to be predicted, when everything is learned: metric cloze, the share that is", 0,
      NULL },
    { RG_OPTION_INT, "valid-samples", AT(samples), "1", "texts drawn at each validation, for the log and the report", 0,
      "[0,16]" },
    { RG_OPTION_LIST, "vocabs", AT(vocabs), "",
      "vocabulary file (SentencePiece .model or .vocab, Marian .yml, words) or model file; empty: learned", 'v', NULL },
    { RG_OPTION_STRING, "vocab-kind", AT(vocab_kind), "words", "how text is cut into tokens", 0,
      "unigram|bpe|char|word|words|characters|tokens" },
    { RG_OPTION_INT, "dim-vocabs", AT(dim_vocabs), "10000",
      "most tokens of the vocabulary; 0: no limit (words, characters)", 0, "[0,10000000]" },
    { RG_OPTION_INT, "vocab-min-count", AT(vocab_min_count), "1", "words and characters: rarer ones become unknown", 0,
      "[0,inf)" },
    { RG_OPTION_STRING, "normalization", AT(form), "nfc",
      "form of the text; lower: composed (nfc) and in lower case; exact: runs of blanks stay", 0,
      "nfc|nfkc|none|lower|exact" },
    { RG_OPTION_STRING, "cut", AT(cut), "",
      "streams: texts that continue from batch to batch; windows; empty: as the system can", 0, "|streams|windows" },
    { RG_OPTION_INT, "mini-batch", AT(batch), "20", "streams, or windows in a batch", 0, "[1,1000000]" },
    { RG_OPTION_INT, "chunk", AT(chunk), "35", "streams: tokens of each per update; its state is carried to the next",
      0, "[1,1000000]" },
    { RG_OPTION_INT, "bptt", AT(bptt), "0", "streams: tokens that gradients go back over; 0: as --chunk", 0,
      "[0,1000000]" },
    { RG_OPTION_INT, "context", AT(context), "64", "windows: tokens of each", 0, "[1,1000000]" },
    { RG_OPTION_STRING, "windows", AT(windows), "random", "windows are drawn anywhere, or follow one another", 0,
      "random|consecutive" },
    { RG_OPTION_STRING, "loss-per", AT(loss_per), "token",
      "the loss is a mean over tokens, or summed over a stream (Zaremba) and a mean of streams", 0, "token|stream" },
    { RG_OPTION_BOOL, "numbers", AT(numbers), "false",
      "the files have numbers, a row per line: the next row is predicted, by squared error", 0, NULL },
    { RG_OPTION_REAL, "mask-share", AT(mask_share), "0.15",
      "masked models: share of the tokens that are to be predicted", 0, "(0,0.9]" },
    RG_OPTION_END
};

typedef struct {
    rg_running      *train, *valid;
    rg_text_range    validation; /* count 0: none */
    rg_cut          *cut;
    rg_masked       *masked, *masked_valid; /* of masked models, instead */
    rg_carry        *carry;
    rg_text_reading *reading;
    rg_batch         batch;
    rg_share_room    shares;
    rg_series          numbers, numbers_valid; /* of --numbers, instead of text */
    rg_series_room     rows;
    rg_series_reading *forecast;
} data;

/* ----------------------------------------------------------------------------------------------------------- assets */

void             rg_language_drop(void *assets) { rg_vocab_free(((rg_language_model *)assets)->vocab); }
static rg_status describe(rg_state *state, const void *assets)
{
    const rg_vocab *vocab = ((const rg_language_model *)assets)->vocab;
    return vocab ? rg_put_vocab(state, "vocab.text", vocab) : RG_OK;
}

/* A line ends and the next begins with one sign: </s> is also what stands before a text. */
rg_status rg_language_sizes(rg_sizes *sizes, const rg_vocab *vocab)
{
    RG_TRY(rg_sizes_put(sizes, "target-vocabulary", rg_vocab_size(vocab)));
    RG_TRY(rg_sizes_put(sizes, "bos", (size_t)rg_vocab_eos(vocab)));
    return rg_sizes_put(sizes, "eos", (size_t)rg_vocab_eos(vocab));
}

static rg_status adopt(void *assets, rg_sizes *sizes, const rg_state *state)
{
    rg_language_model *its = assets;
    size_t             context, numbers;
    if (rg_sizes_get(&numbers, sizes, "numbers") && numbers)
        return numbers <= 1000000 ? RG_OK : rg_fail(RG_EFORMAT, "rows of %zu numbers", numbers);
    RG_TRY(rg_get_vocab(&its->vocab, state, "vocab.text"));
    if (!rg_sizes_get(&context, sizes, "context") || context > 1000000)
        return rg_fail(RG_EFORMAT, "the model file does not say how long its context is");
    return rg_language_sizes(sizes, its->vocab);
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static bool by_windows(const rg_run *run)
{
    const rg_language_options *o = run->options;
    return o->cut[0] ? o->cut[0] == 'w' : !run->system->carries;
}

static size_t bptt(const rg_language_options *o) { return (size_t)(o->bptt ? o->bptt : o->chunk); }

static rg_status check(const rg_run *run)
{
    const rg_language_options *o = run->options;
    if (!o->train_sets.count) return rg_fail(RG_EINVAL, "which text? give --train-sets FILE...");
    if (o->numbers && (!run->system->reads || !strstr(run->system->reads, "numbers")))
        return rg_fail(RG_EINVAL, "--numbers: %s reads words; lm reads numbers too", run->system->name);
    if (o->numbers && (by_windows(run) || o->cloze[0] || o->vocabs.count))
        return rg_fail(RG_EINVAL,
                       "--numbers: there are streams of rows, and neither windows, nor vocabularies, nor a cloze");
    if (o->vocabs.count > 1) return rg_fail(RG_EINVAL, "--vocabs takes one file, not %zu", o->vocabs.count);
    if (o->bptt && o->bptt < o->chunk)
        return rg_fail(RG_EINVAL,
                       "--bptt %lld is less than --chunk %lld: gradients go back over a whole chunk at least",
                       (long long)o->bptt, (long long)o->chunk);
    if (o->test_sets.count && rg_language_masks(run->system))
        return rg_fail(RG_EINVAL,
                       "--test-sets is for models that say what comes next; a masked model has --valid-sets");
    if (o->valid_sets.count && o->valid_share > 0)
        return rg_fail(RG_EINVAL, "give --valid-sets or --valid-share, not both");
    return RG_OK;
}

static rg_status learn_vocab(rg_vocab **out, const rg_run *run)
{
    const rg_language_options *o = run->options;
    const rg_read_watch        watch = rg_report_watch(run->report);
    const size_t               n = o->train_sets.count;
    rg_vocab_config            c = RG_VOCAB_CONFIG_DEFAULT;
    if (o->vocabs.count) return rg_load_vocab(out, o->vocabs.items[0], "vocab.text");
    RG_TRY(rg_vocab_kind_find(&c.kind, o->vocab_kind));
    RG_TRY(rg_text_form_find(&c.form, o->form));
    c.size = (size_t)o->dim_vocabs;
    c.min_count = (size_t)o->vocab_min_count;
    c.seed = (uint64_t)run->learning->seed;
    c.watch = &watch;
    rg_text_side *sides = rg_alloc_array(n, sizeof *sides);
    if (!sides) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) sides[i] = (rg_text_side){ o->train_sets.items[i], -1 };
    rg_tell_begin(run->report, "learning a vocabulary (%s) from %s%s", o->vocab_kind, o->train_sets.items[0],
                  n > 1 ? " and others" : "");
    const rg_status status = rg_vocab_train_files(out, &c, sides, n);
    rg_tell_over(run->report);
    rg_free(sides);
    return status;
}

static rg_status open_text(rg_running **out, const rg_run *run, const rg_vocab *vocab, const rg_list *files,
                           const char *what)
{
    const rg_read_watch watch = rg_report_watch(run->report);
    rg_running_config   c = RG_RUNNING_CONFIG_DEFAULT;
    rg_text             text = { 0 };
    c.watch = &watch;
    rg_tell_begin(run->report, "encoding %s%s", files->items[0], files->count > 1 ? " and others" : "");
    rg_status status = rg_running_open(out, &c, vocab, (const char *const *)files->items, files->count);
    rg_tell_over(run->report);
    RG_TRY(status);
    status = rg_running_describe(&text, *out);
    if (status == RG_OK) rg_tell(run->report, "%s%s", what, rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

/* The text that is learned from: without what is held back for validation. */
static rg_text_range learned_text(const rg_run *run)
{
    const data    *d = run->data;
    const uint64_t all = d->train ? rg_running_tokens(d->train) : d->numbers.rows;
    return (rg_text_range){
        d->train, 0, all - (uint64_t)ceil((double)all * ((const rg_language_options *)run->options)->valid_share)
    };
}

/* Pairs of segments are learned where empty lines part the text into documents. */
static rg_status put_masked_sizes(rg_run *run)
{
    const rg_vocab     *vocab = ((const rg_language_model *)run->assets)->vocab;
    const rg_text_range text = learned_text(run);
    uint64_t            documents;
    if (rg_language_mask(vocab) > 0) RG_TRY(rg_sizes_put(&run->sizes, "mask", (size_t)rg_language_mask(vocab)));
    RG_TRY(rg_masked_documents(&documents, &text, rg_vocab_eos(vocab)));
    return documents > 1 ? rg_sizes_put(&run->sizes, "follows", 1) : RG_OK;
}

static rg_status open_numbers(rg_run *run)
{
    const rg_language_options *o = run->options;
    data                      *d = run->data;
    RG_TRY(rg_series_read(&d->numbers, &o->train_sets, 0));
    if (d->numbers.rows > INT32_MAX) return rg_fail(RG_ELIMIT, "%zu rows of numbers are too many", d->numbers.rows);
    if (o->valid_sets.count) {
        RG_TRY(rg_series_read(&d->numbers_valid, &o->valid_sets, d->numbers.width));
        d->validation = (rg_text_range){ NULL, 0, d->numbers_valid.rows };
    }
    rg_tell(run->report, "%zu rows of %zu number%s", d->numbers.rows, d->numbers.width,
            d->numbers.width > 1 ? "s" : "");
    RG_TRY(rg_sizes_put(&run->sizes, "context", 0));
    return rg_sizes_put(&run->sizes, "numbers", d->numbers.width);
}

static rg_status open(rg_run *run)
{
    const rg_language_options *o = run->options;
    rg_language_model         *its = run->assets;
    data                      *d = run->data;
    RG_TRY(check(run));
    if (o->numbers) return open_numbers(run);
    RG_TRY(learn_vocab(&its->vocab, run));
    RG_TRY(open_text(&d->train, run, its->vocab, &o->train_sets, ""));
    if (o->valid_sets.count) {
        RG_TRY(open_text(&d->valid, run, its->vocab, &o->valid_sets, "validation: "));
        d->validation = (rg_text_range){ d->valid, 0, rg_running_tokens(d->valid) };
    }
    RG_TRY(rg_language_sizes(&run->sizes, its->vocab));
    const size_t context = by_windows(run) ? (size_t)o->context : run->system->carries ? 0 : bptt(o);
    RG_TRY(rg_sizes_put(&run->sizes, "lines", 1));
    if (rg_language_masks(run->system)) RG_TRY(put_masked_sizes(run));
    return rg_sizes_put(&run->sizes, "context", context);
}

static rg_status ready_masked(rg_run *run)
{
    const rg_language_options *o = run->options;
    const rg_vocab            *vocab = ((const rg_language_model *)run->model->assets)->vocab;
    data                      *d = run->data;
    uint64_t                   documents = 0;
    rg_masked_config           c = { .text = learned_text(run),
                                     .vocab = vocab,
                                     .batch = (size_t)o->batch,
                                     .context = (size_t)o->context,
                                     .mask = rg_language_mask(vocab),
                                     .share = o->mask_share,
                                     .random = o->windows[0] == 'r',
                                     .documents = rg_model_size(run->model, "follows") > 0,
                                     .seed = (uint64_t)run->learning->seed };
    const rg_text_range        held = { d->train, c.text.count, rg_running_tokens(d->train) - c.text.count };
    RG_TRY(rg_masked_new(&d->masked, &c));
    if (held.count) d->validation = held;
    rg_tell(run->report,
            "vocabulary of %zu tokens, %zu parameters; %zu windows of %zu tokens per batch, %.3g %% hidden%s",
            rg_vocab_size(vocab), rg_params_numbers(run->model->params), c.batch, c.context, 100 * c.share,
            c.documents ? ", pairs of segments" : "");
    if (!d->validation.count) return RG_OK;
    c.text = d->validation;
    c.random = false;
    c.seed = 0;
    RG_TRY(rg_masked_documents(&documents, &c.text, rg_vocab_eos(vocab)));
    c.documents = c.documents && documents > 1;
    return rg_masked_new(&d->masked_valid, &c);
}

static rg_status ready(rg_run *run)
{
    if (rg_language_masks(run->system)) return ready_masked(run);
    const rg_language_options *o = run->options;
    const rg_language_model   *its = run->model->assets;
    data                      *d = run->data;
    const uint64_t             learned = learned_text(run).count,
                   held = (d->train ? rg_running_tokens(d->train) : d->numbers.rows) - learned;
    rg_cut_config              c = { .text = { d->train, 0, learned },
                                     .first = its->vocab ? rg_vocab_eos(its->vocab) : -1,
                                     .batch = (size_t)o->batch,
                                     .random = o->windows[0] == 'r',
                                     .checksum = d->numbers.checksum,
                                     .seed = (uint64_t)run->learning->seed };
    if (held) d->validation = (rg_text_range){ d->train, learned, held };
    if (o->numbers) rg_series_standardize(run->model, &d->numbers, (size_t)learned);
    if (by_windows(run)) c.context = (size_t)o->context;
    else {
        c.chunk = (size_t)o->chunk;
        c.bptt = bptt(o);
        if (run->system->carries) RG_TRY(rg_language_carry(&d->carry, run->model, c.batch));
        c.carry = d->carry;
    }
    RG_TRY(rg_cut_new(&d->cut, &c));
    const char *unit = o->numbers ? "rows" : "tokens";
    char        vocabulary[64] = "";
    if (its->vocab) snprintf(vocabulary, sizeof vocabulary, "vocabulary of %zu tokens, ", rg_vocab_size(its->vocab));
    rg_tell(run->report, "%s%zu parameters; %zu %s of %zu %s per batch", vocabulary,
            rg_params_numbers(run->model->params), c.batch, c.chunk ? "streams" : "windows",
            c.chunk ? c.bptt : c.context, unit);
    if (rg_cut_left_out(d->cut))
        rg_tell(run->report, "the last %llu %s are left out: they are no part of every stream",
                (unsigned long long)rg_cut_left_out(d->cut), unit);
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- learning */

static rg_status next(rg_run *run, rg_shares *out)
{
    const rg_language_options *o = run->options;
    data                      *d = run->data;
    bool                       more;
    *out = (rg_shares){ 0 };
    RG_TRY(d->masked ? rg_masked_next(&more, &d->batch, d->masked) : rg_cut_next(&more, &d->batch, d->cut));
    if (!more) return RG_OK;
    if (o->numbers) RG_TRY(rg_series_fill(&d->batch, &d->rows, &d->numbers, run->model));
    RG_TRY(rg_cut_shares(out, &d->shares, &d->batch, run->threads));
    out->cost = (double)rg_field_rows(&d->batch.field[RG_TARGET]);
    if (o->loss_per[0] == 's') out->divide = (double)d->batch.examples;
    return RG_OK;
}

static rg_status tell(const rg_run *run, rg_state *state)
{
    const data *d = run->data;
    size_t      count;
    if (d->masked) return rg_put_place(state, rg_masked_tell(d->masked), rg_masked_checksum(d->masked));
    RG_TRY(rg_put_place(state, rg_cut_tell(d->cut), rg_cut_checksum(d->cut)));
    if (!d->carry) return RG_OK;
    const void *bytes = rg_carry_bytes(d->carry, &count);
    return rg_state_put_bytes(state, "corpus.carry", bytes, count);
}

static rg_status seek(rg_run *run, const rg_state *state)
{
    data       *d = run->data;
    rg_place    p;
    const void *bytes;
    size_t      count;
    RG_TRY(rg_get_place(&p, state, d->masked ? rg_masked_checksum(d->masked) : rg_cut_checksum(d->cut)));
    if (d->masked) return rg_masked_seek(d->masked, p);
    RG_TRY(rg_cut_seek(d->cut, p));
    if (!d->carry) return RG_OK;
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, "corpus.carry"));
    return rg_carry_set(d->carry, bytes, count);
}

static void *carried(rg_run *run, size_t *out_bytes)
{
    data *d = run->data;
    *out_bytes = 0;
    return d->carry ? (void *)rg_carry_bytes(d->carry, out_bytes) : NULL;
}

/* Mean nats per piece of a range of text, read from its beginning. */
static rg_status measure(double *out, rg_run *run, const rg_text_range *range)
{
    enum { AT_ONCE = 4096 };
    data     *d = run->data;
    double    sum = 0;
    int32_t  *ids = rg_alloc_array(AT_ONCE, sizeof *ids);
    double   *log_p = rg_alloc_array(AT_ONCE, sizeof *log_p);
    rg_status status = ids && log_p ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && !d->reading)
        status = rg_text_reading_new(&d->reading, run->model, rg_workers_team(rg_trainer_workers(run->trainer)));
    if (status == RG_OK) rg_text_reading_begin(d->reading);
    for (uint64_t at = 0; status == RG_OK && at < range->count;) {
        const uint64_t left = range->count - at;
        const size_t   n = left < AT_ONCE ? (size_t)left : AT_ONCE;
        status = rg_running_read(ids, range->text, range->from + at, n);
        if (status == RG_OK) status = rg_text_reading_feed(log_p, d->reading, ids, n);
        for (size_t i = 0; status == RG_OK && i < n; i++) sum -= log_p[i];
        at += n;
    }
    rg_free(ids);
    rg_free(log_p);
    *out = sum / (double)range->count;
    return status;
}

/* Perplexity; of characters nats and bits too. `of` stands before the names. */
static rg_status add_metrics(rg_metrics *out, const rg_run *run, const char *of, double nats)
{
    const rg_vocab_kind kind = rg_vocab_kind_of(((const rg_language_model *)run->model->assets)->vocab);
    const bool          letters = kind == RG_VOCAB_CHARACTERS || kind == RG_VOCAB_CHAR;
    const struct {
        const char *name;
        double      value;
    } rows[] = { { "perplexity", exp(nats) }, { "nats-per-character", nats }, { "bits-per-character", nats / log(2) } };
    for (size_t i = 0; i < (letters ? 3u : 1u); i++) {
        char name[RG_METRIC_NAME];
        snprintf(name, sizeof name, "%s%s", of, rows[i].name);
        RG_TRY(rg_metrics_add(out, name, rows[i].value, false));
    }
    return RG_OK;
}

/* mse, and as-now beside it: the error of saying that nothing changes. */
static rg_status measure_numbers(rg_metrics *out, rg_run *run, const char *of, const rg_series *numbers, size_t from,
                                 size_t count)
{
    data             *d = run->data;
    rg_series_errors e;
    char              name[2][RG_METRIC_NAME];
    if (!d->forecast)
        RG_TRY(rg_series_reading_new(&d->forecast, run->model, rg_workers_team(rg_trainer_workers(run->trainer))));
    RG_TRY(rg_series_judge(&e, d->forecast, numbers, from, count));
    snprintf(name[0], sizeof *name, "%smse", of);
    snprintf(name[1], sizeof *name, "%sas-now", of);
    RG_TRY(rg_metrics_add(out, name[0], e.mse, false));
    return rg_metrics_add(out, name[1], e.as_now, false);
}

/* Of the validation rows, which may be the end of those that are learned from. */
static rg_status validate_numbers(rg_metrics *out, rg_run *run, const char *of)
{
    const data       *d = run->data;
    const rg_series *from = d->numbers_valid.rows ? &d->numbers_valid : &d->numbers;
    return measure_numbers(out, run, of, from, (size_t)d->validation.from, (size_t)d->validation.count);
}

static bool judges(const rg_run *run)
{
    const rg_language_options *o = run->options;
    return o->valid_sets.count > 0 || o->valid_share > 0;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    data  *d = run->data;
    double nats;
    if (d->masked_valid) return rg_language_judge_masked(out, "", run, d->masked_valid);
    if (d->numbers.rows) return validate_numbers(out, run, "");
    RG_TRY(measure(&nats, run, &d->validation));
    RG_TRY(rg_language_samples(run, ((const rg_language_options *)run->options)->samples));
    return add_metrics(out, run, "", nats);
}

static rg_status judge_cloze(rg_run *run)
{
    rg_line_list lines = { 0 };
    double       share = 0;
    rg_status    status = rg_line_list_read(&lines, ((const rg_language_options *)run->options)->cloze, -1);
    if (status == RG_OK) status = rg_language_cloze(&share, run->model, (const char *const *)lines.line, lines.count);
    rg_line_list_free(&lines);
    if (status == RG_OK) rg_tell(run->report, "last tokens predicted: %.1f %%", 100 * share);
    return status == RG_OK ? rg_metrics_add(&run->final, "cloze", share, true) : status;
}

static rg_status finish_masked(rg_run *run)
{
    data *d = run->data;
    return d->masked_valid ? rg_language_judge_masked(&run->final, "valid-", run, d->masked_valid) : RG_OK;
}

static rg_status finish_numbers(rg_run *run)
{
    const rg_language_options *o = run->options;
    rg_series                 test;
    const size_t               before = run->final.count;
    if (judges(run)) RG_TRY(validate_numbers(&run->final, run, "valid-"));
    if (o->test_sets.count) {
        RG_TRY(rg_series_read(&test, &o->test_sets, ((const data *)run->data)->numbers.width));
        const rg_status status = measure_numbers(&run->final, run, "test-", &test, 0, test.rows);
        rg_series_free(&test);
        RG_TRY(status);
    }
    for (size_t i = before; i < run->final.count; i++)
        rg_tell(run->report, "%s %.6g", run->final.metric[i].name, run->final.metric[i].value);
    return RG_OK;
}

/* What is saved, on validation and test data. */
static rg_status finish(rg_run *run)
{
    const rg_language_options *o = run->options;
    rg_running                *text;
    double                     nats;
    RG_TRY(rg_metrics_add(&run->final, "parameters", (double)rg_params_numbers(run->model->params), false));
    if (rg_language_masks(run->system)) return finish_masked(run);
    if (o->numbers) return finish_numbers(run);
    if (judges(run)) {
        RG_TRY(measure(&nats, run, &((const data *)run->data)->validation));
        RG_TRY(add_metrics(&run->final, run, "valid-", nats));
    }
    if (o->cloze[0]) RG_TRY(judge_cloze(run));
    if (!o->test_sets.count) return RG_OK;
    RG_TRY(open_text(&text, run, ((const rg_language_model *)run->model->assets)->vocab, &o->test_sets, "test: "));
    const rg_text_range range = { text, 0, rg_running_tokens(text) };
    rg_status           status = measure(&nats, run, &range);
    rg_running_free(text);
    if (status == RG_OK) status = add_metrics(&run->final, run, "test-", nats);
    if (status == RG_OK) rg_tell(run->report, "test perplexity %.3f (%.4f nats per token)", exp(nats), nats);
    return status;
}

static void blame(const rg_run *run, const void *share, char *out, size_t room)
{
    const rg_batch *b = share;
    (void)run;
    snprintf(out, room, "tokens from number %llu on%s", (unsigned long long)(b->examples ? b->lines[0] : 0),
             b->examples > 1 ? " and other places of the text" : "");
}

static double epoch_part(const rg_run *run)
{
    const data *d = run->data;
    return d->masked ? rg_masked_epoch_part(d->masked) : rg_cut_epoch_part(d->cut);
}

static void close(rg_run *run)
{
    data *d = run->data;
    rg_text_reading_free(d->reading);
    rg_cut_free(d->cut);
    rg_masked_free(d->masked);
    rg_masked_free(d->masked_valid);
    rg_carry_free(d->carry);
    rg_running_free(d->train);
    rg_running_free(d->valid);
    rg_share_room_free(&d->shares);
    rg_series_reading_free(d->forecast);
    rg_series_room_free(&d->rows);
    rg_series_free(&d->numbers);
    rg_series_free(&d->numbers_valid);
}

static rg_status hint(rg_text *out, const void *options_of, const char *program, const char *model)
{
    if (((const rg_language_options *)options_of)->numbers)
        return rg_text_print(out, "%s generate -m %s --length 24 --prompt '1.5; 2.5; 3.5'", program, model);
    return rg_text_print(out, "%s predict -m %s --top 3 < texts.txt", program, model);
}

const rg_task rg_task_language = {
    .name = "language",
    .in = "text",
    .out = "text",
    .unit = "tokens",
    .summary = "running text: a model continues it, or says how likely it is",
    .options = rg_language_rows,
    .options_bytes = sizeof(rg_language_options),
    .learning = "clip-norm: 1\n",
    .assets_bytes = sizeof(rg_language_model),
    .adopt = adopt,
    .describe = describe,
    .drop = rg_language_drop,
    .data_bytes = sizeof(data),
    .open = open,
    .ready = ready,
    .next = next,
    .tell = tell,
    .seek = seek,
    .carried = carried,
    .judges = judges,
    .judge = judge,
    .blame = blame,
    .epoch_part = epoch_part,
    .finish = finish,
    .close = close,
    .hint = hint,
    .asking = rg_language_asking_rows,
    .asking_bytes = sizeof(rg_language_asking),
    .answer = rg_language_answer,
    .influence = rg_language_influence,
    .score = rg_language_score,
    .texts = rg_always_texts,
    .drawing = rg_language_drawing_rows,
    .drawing_bytes = sizeof(rg_language_drawing),
    .generate = rg_language_generate,
    .small = rg_language_small,
    .demos = rg_language_demos,
};
