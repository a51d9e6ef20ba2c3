/* classify.c - text -> class: a file of labels and texts in any format of the readers; class names and a vocabulary are
 * learned from it.
 *
 *   in the model file      vocab.text      bytes
 *                          classes         bytes: the names, sorted
 *                          classes.counts  "12 7 30": training examples of each */
#include "tasks/classify.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/batches.h"

#define AT(field) offsetof(rg_classify_options, field)

static const rg_option options[] = {
    { RG_OPTION_LIST, "train-sets", AT(train_sets), "", "file of labels and texts to learn from; .gz allowed", 't',
      NULL },
    { RG_OPTION_LIST, "valid-sets", AT(valid_sets), "", "the same for validation", 0, NULL },
    { RG_OPTION_STRING, "format", AT(format), "",
      "of these files: tsv, csv, jsonl, label (label BLANK text); empty: recognised", 0, NULL },
    { RG_OPTION_STRING, "columns", AT(columns), "",
      "columns of label and text, by name or number: stars,review or 2,3; empty: named so, or 1,2", 0, NULL },
    { RG_OPTION_STRING, "vocab-kind", AT(vocab_kind), "words", "how text is cut into pieces", 0,
      "unigram|bpe|char|word|words|characters" },
    { RG_OPTION_INT, "dim-vocabs", AT(dim_vocabs), "30000",
      "most pieces of the vocabulary; 0: no limit (words, characters)", 0, "[0,10000000]" },
    { RG_OPTION_INT, "vocab-min-count", AT(vocab_min_count), "1", "words and characters: rarer ones become unknown", 0,
      "[0,inf)" },
    { RG_OPTION_STRING, "normalization", AT(form), "lower", "form of the text; lower: composed (nfc) and in lower case",
      0, "nfc|nfkc|none|lower" },
    { RG_OPTION_INT, "max-length", AT(max_length), "1000", "longest text in pieces", 0, "[1,1000000]" },
    { RG_OPTION_BOOL, "max-length-crop", AT(crop), "true", "crop longer texts instead of leaving them out", 0, NULL },
    { RG_OPTION_INT, "mini-batch", AT(mini_batch), "64",
      "most texts in a batch, beside --mini-batch-words; 0: no limit", 0, "[0,inf)" },
    { RG_OPTION_INT, "mini-batch-words", AT(mini_batch_words), "0",
      "most pieces in a batch, beside --mini-batch; 0: no limit", 0, "[0,inf)" },
    { RG_OPTION_INT, "maxi-batch", AT(maxi_batch), "10",
      "so many times mini-batch texts (0: 1000) are sorted by length together; 0: not sorted", 0, "[0,inf)" },
    RG_OPTION_END
};

typedef struct {
    rg_examples  *train, *valid;
    rg_tape      *judge; /* without recording */
    rg_batch      batch; /* at hand           */
    rg_share_room shares;
} data;

static const char *const wanted[] = { "label", "text" };

static rg_reader_config reading(const rg_classify_options *o)
{
    rg_reader_config c = RG_READER_CONFIG_DEFAULT;
    c.format = o->format;
    c.columns = o->columns;
    c.wanted = wanted;
    c.wanted_count = sizeof wanted / sizeof *wanted;
    return c;
}

/* ----------------------------------------------------------------------------------------------------------- assets */

static void drop(void *assets)
{
    rg_classifier *its = assets;
    rg_vocab_free(its->vocab);
    rg_names_free(its->names);
    rg_free(its->counts);
}

static rg_status describe(rg_state *state, const void *assets)
{
    const rg_classifier *its = assets;
    rg_text              names = { 0 }, counts = { 0 };
    rg_status            status = rg_put_vocab(state, "vocab.text", its->vocab);
    if (status == RG_OK) status = rg_names_to_bytes(&names, its->names);
    if (status == RG_OK) status = rg_state_put_bytes(state, "classes", names.data, names.length);
    for (size_t i = 0; status == RG_OK && i < rg_names_count(its->names); i++)
        status = rg_text_print(&counts, "%s%llu", i ? " " : "", (unsigned long long)its->counts[i]);
    if (status == RG_OK) status = rg_state_put_text(state, "classes.counts", rg_text_c(&counts));
    rg_text_free(&names);
    rg_text_free(&counts);
    return status;
}

static rg_status read_counts(rg_classifier *its, const char *text)
{
    const size_t C = rg_names_count(its->names);
    size_t       n = 0;
    if (!(its->counts = rg_alloc_zero(C * sizeof *its->counts))) return RG_ENOMEM;
    for (char *end; n < C && *text >= '0' && *text <= '9'; n++, text = *end == ' ' ? end + 1 : end)
        its->counts[n] = strtoull(text, &end, 10);
    return n == C && !*text ? RG_OK
                            : rg_fail(RG_EFORMAT, "classes.counts does not have one number for each of %zu classes", C);
}

static rg_status put_sizes(rg_sizes *sizes, const rg_classifier *its)
{
    RG_TRY(rg_sizes_put(sizes, "vocabulary", rg_vocab_size(its->vocab)));
    return rg_sizes_put(sizes, "classes", rg_names_count(its->names));
}

/* Sizes follow from the vocabulary and the names, whatever else the file says of them. */
static rg_status adopt(void *assets, rg_sizes *sizes, const rg_state *state)
{
    rg_classifier *its = assets;
    const void    *bytes;
    const char    *counts;
    size_t         count;
    RG_TRY(rg_get_vocab(&its->vocab, state, "vocab.text"));
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, "classes"));
    RG_TRY(rg_names_from_bytes(&its->names, bytes, count));
    if (rg_names_count(its->names) < 2)
        return rg_fail(RG_EFORMAT, "a classifier has two classes at least, not %zu", rg_names_count(its->names));
    RG_TRY(rg_state_get_text(&counts, state, "classes.counts"));
    RG_TRY(read_counts(its, counts));
    return put_sizes(sizes, its);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct {
    rg_reader_feed feed;
    rg_read_watch  watch;
    uint64_t       rows;
} watched_feed;

static rg_status next_text(bool *out_more, const char **out_text, size_t *out_bytes, void *context)
{
    watched_feed *f = context;
    if (++f->rows % RG_READ_EVERY == 0 && !f->watch.go_on(f->watch.context, f->rows))
        return rg_fail(RG_ESTOP, "asked to stop while a vocabulary was learned, at row %llu",
                       (unsigned long long)f->rows);
    return rg_reader_feed_next(out_more, out_text, out_bytes, &f->feed);
}

static rg_status learn_vocab(rg_vocab **out, const rg_run *run, const rg_reader_config *config)
{
    const rg_classify_options *o = run->options;
    const char                *path = o->train_sets.items[0];
    rg_vocab_config            c = RG_VOCAB_CONFIG_DEFAULT;
    watched_feed               feed = { .feed.wanted = 1, .watch = rg_report_watch(run->report) };
    RG_TRY(rg_vocab_kind_find(&c.kind, o->vocab_kind));
    RG_TRY(rg_text_form_find(&c.form, o->form));
    c.size = (size_t)o->dim_vocabs;
    c.min_count = (size_t)o->vocab_min_count;
    c.seed = (uint64_t)run->learning->seed;
    RG_TRY(rg_reader_open(&feed.feed.reader, path, config));
    rg_tell_begin(run->report, "learning a vocabulary (%s) from %s", o->vocab_kind, path);
    rg_status status = rg_vocab_train(out, &c, next_text, &feed);
    rg_tell_over(run->report);
    rg_reader_close(feed.feed.reader);
    return status;
}

/* Training texts are cut as the settings say; of validation every text counts, however long. */
static rg_status open_set(rg_examples **out, const rg_run *run, const char *path, bool train)
{
    const rg_classify_options *o = run->options;
    const rg_classifier       *its = run->assets;
    const rg_reader_config     config = reading(o);
    const rg_field_spec        specs[] = {
        [RG_INPUT] = { .name = "text",
                       .kind = RG_FIELD_IDS,
                       .vocab = its->vocab,
                       .max_rows = (size_t)o->max_length,
                       .batch_rows = (size_t)o->mini_batch_words,
                       .crop = o->crop || !train },
        [RG_LABEL] = { .name = "label", .kind = RG_FIELD_CLASS, .names = its->names },
    };
    rg_examples_config         c = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_text                    text = { 0 };
    c.batch = (size_t)o->mini_batch;
    c.window = (size_t)o->maxi_batch;
    c.shuffle = train;
    c.seed = (uint64_t)run->learning->seed;
    rg_tell_begin(run->report, "encoding %s", path);
    rg_status status = rg_examples_open(out, &c, specs, 2, path, &config);
    rg_tell_over(run->report);
    RG_TRY(status);
    status = rg_examples_describe(&text, *out);
    if (status == RG_OK) rg_tell(run->report, "%s%s", train ? "" : "validation: ", rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

static rg_status count_classes(rg_classifier *its, rg_examples *examples)
{
    rg_batch one;
    if (!(its->counts = rg_alloc_zero(rg_names_count(its->names) * sizeof *its->counts))) return RG_ENOMEM;
    for (uint64_t i = 0; i < rg_examples_count(examples); i++) {
        RG_TRY(rg_examples_one(&one, examples, i));
        its->counts[one.field[RG_LABEL].ids[0]]++;
    }
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- learning */

static rg_status check(const rg_classify_options *o)
{
    if (o->train_sets.count != 1)
        return rg_fail(RG_EINVAL, "--train-sets takes one file of labels and texts, not %zu", o->train_sets.count);
    if (o->valid_sets.count > 1)
        return rg_fail(RG_EINVAL, "--valid-sets takes one file like --train-sets, not %zu", o->valid_sets.count);
    if (!o->mini_batch && !o->mini_batch_words)
        return rg_fail(RG_EINVAL, "nothing limits a batch: give --mini-batch (texts) or --mini-batch-words (pieces)");
    return RG_OK;
}

static rg_status open(rg_run *run)
{
    const rg_classify_options *o = run->options;
    const rg_reader_config     config = reading(o);
    const rg_field_spec        label = { .name = "label", .kind = RG_FIELD_CLASS };
    rg_classifier             *its = run->assets;
    data                      *d = run->data;
    RG_TRY(check(o));
    RG_TRY(rg_examples_learn(&its->names, NULL, &label, o->train_sets.items[0], &config));
    RG_TRY(learn_vocab(&its->vocab, run, &config));
    RG_TRY(open_set(&d->train, run, o->train_sets.items[0], true));
    RG_TRY(count_classes(its, d->train));
    if (o->valid_sets.count) RG_TRY(open_set(&d->valid, run, o->valid_sets.items[0], false));
    return put_sizes(&run->sizes, its);
}

static rg_status ready(rg_run *run)
{
    const rg_classifier *its = run->model->assets;
    const size_t longest = run->model->longest, most = (size_t)((const rg_classify_options *)run->options)->max_length;
    rg_text      names = { 0 };
    if (longest && most > longest)
        return rg_fail(RG_EINVAL, "texts of %zu pieces (--max-length) do not fit the %zu positions of the model", most,
                       longest);
    rg_status status = rg_names_print(&names, its->names, 10);
    if (status == RG_OK)
        rg_tell(run->report, "%zu classes (%s), vocabulary of %zu pieces, %zu parameters", rg_names_count(its->names),
                rg_text_c(&names), rg_vocab_size(its->vocab), rg_params_numbers(run->model->params));
    rg_text_free(&names);
    return status;
}

static rg_status next(rg_run *run, rg_shares *out)
{
    data *d = run->data;
    bool  more;
    *out = (rg_shares){ 0 };
    RG_TRY(rg_examples_next_in_epoch(&more, &d->batch, d->train));
    if (!more) return RG_OK;
    RG_TRY(rg_cut_shares(out, &d->shares, &d->batch, run->threads));
    out->cost = (double)rg_field_rows(&d->batch.field[RG_INPUT]);
    return RG_OK;
}

static rg_status tell(const rg_run *run, rg_state *state)
{
    const data *d = run->data;
    return rg_put_place(state, rg_examples_tell(d->train), rg_examples_checksum(d->train));
}

static rg_status seek(rg_run *run, const rg_state *state)
{
    data    *d = run->data;
    rg_place p;
    RG_TRY(rg_get_place(&p, state, rg_examples_checksum(d->train)));
    return rg_examples_seek(d->train, p);
}

static bool judges(const rg_run *run) { return ((const data *)run->data)->valid != NULL; }

static size_t best_of(const rg_real *x, size_t C)
{
    size_t best = 0;
    for (size_t c = 1; c < C; c++)
        if (x[c] > x[best]) best = c;
    return best;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    data                *d = run->data;
    const rg_tape_config config = { .record = false, .team = rg_workers_team(rg_trainer_workers(run->trainer)) };
    double               sum = 0, right = 0, count = 0;
    bool                 more;
    if (!d->judge) RG_TRY(rg_tape_new(&d->judge, &config));
    for (;;) {
        rg_batch b;
        RG_TRY(rg_check_stop(run->report));
        RG_TRY(rg_examples_next_in_epoch(&more, &b, d->valid));
        if (!more) break;
        rg_tape_reset(d->judge, 0);
        rg_tensor       *y = run->system->predict(d->judge, run->model, &b);
        const rg_tensor *loss = rg_cross_entropy(d->judge, y, b.field[RG_LABEL].ids, 0);
        RG_TRY(rg_tape_status(d->judge));
        sum += (double)rg_tensor_at(loss, 0, 0);
        for (size_t i = 0; i < b.examples; i++)
            right += (int32_t)best_of(rg_tensor_row(y, i), rg_tensor_cols(y)) == b.field[RG_LABEL].ids[i];
        count += (double)b.examples;
    }
    RG_TRY(rg_metrics_add(out, "accuracy", right / count, true));
    return rg_metrics_add(out, "loss", sum / count, false);
}

static double epoch_part(const rg_run *run) { return rg_examples_epoch_part(((const data *)run->data)->train); }

static void close(rg_run *run)
{
    data *d = run->data;
    rg_tape_free(d->judge);
    rg_examples_free(d->train);
    rg_examples_free(d->valid);
    rg_share_room_free(&d->shares);
}

static rg_status hint(rg_text *out, const void *options_of, const char *program, const char *model)
{
    (void)options_of;
    return rg_text_print(out, "%s predict -m %s < texts.txt", program, model);
}

/* ------------------------------------------------------------------------------------------------------------ small */

/* Sentences of a made-up language; one marker word somewhere in each tells its class. */
static rg_status write_small(const char *path, size_t lines, uint64_t seed)
{
    static const char *const words[] = { "ba", "de", "fi", "go", "ku", "la" };
    static const char *const marker[] = { "mau", "nue", "pio" }, *const names[] = { "low", "middle", "high" };
    rg_random                random = rg_random_new(seed, 0);
    rg_text                  text = { 0 };
    rg_status                status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < lines; i++) {
        const size_t class = (size_t)rg_random_below(&random, 3), n = 2 + i % 5,
                     at = (size_t)rg_random_below(&random, n);
        status = rg_text_print(&text, "%s", names[class]);
        for (size_t k = 0; status == RG_OK && k < n; k++)
            status = rg_text_print(&text, "%c%s", k ? ' ' : '\t',
                                   k == at ? marker[class] : words[rg_random_below(&random, 6)]);
        if (status == RG_OK) status = rg_text_print(&text, "\n");
    }
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    return status;
}

static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    char      *train = rg_format("%s/train.tsv", folder), *valid = rg_format("%s/valid.tsv", folder);
    rg_status  status = train && valid ? write_small(train, demo ? 2000 : 60, 5) : RG_ENOMEM;
    if (status == RG_OK) status = write_small(valid, demo ? 400 : 20, 6);
    if (status == RG_OK)
        status = rg_text_print(
            yaml, "train-sets: [%s]\nvalid-sets: [%s]\nmini-batch: %d\nlearn-rate: 0.01\nafter-epochs: %d\n", train,
            valid, demo ? 32 : 16, demo ? 5 : 2);
    rg_free(train);
    rg_free(valid);
    return status;
}

static const rg_demo demos[] = {
    { .name = "sentiment",
      .summary = "one word of a made-up language decides about the class of a sentence",
      .type = "words",
      .metric = "accuracy",
      .expected = 0.95,
      .ask = "ba de mau fi" },
    { 0 },
};

const rg_task rg_task_classify = {
    .name = "classify",
    .in = "text",
    .out = "class",
    .unit = "words",
    .summary = "texts and their labels: reviews, mails, questions",
    .options = options,
    .options_bytes = sizeof(rg_classify_options),
    .learning = "learn-rate: 0.002\nafter-epochs: 20\nvalid-freq: 0\nvalid-epochs: 1\nearly-stopping: 5\n"
                "keep-best: false\nrestore-best: true\nsave-freq: 0\ndisp-freq: 0\n",
    .assets_bytes = sizeof(rg_classifier),
    .adopt = adopt,
    .describe = describe,
    .drop = drop,
    .data_bytes = sizeof(data),
    .open = open,
    .ready = ready,
    .next = next,
    .tell = tell,
    .seek = seek,
    .judges = judges,
    .judge = judge,
    .blame = rg_blame_lines,
    .epoch_part = epoch_part,
    .close = close,
    .hint = hint,
    .asking = rg_classify_asking_rows,
    .asking_bytes = sizeof(rg_classify_asking),
    .answer = rg_classify_answer,
    .score = rg_classify_score,
    .texts = true,
    .small = small,
    .demos = demos,
};
