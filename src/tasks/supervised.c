/* supervised.c - learning from a store of examples: files and batches, resuming, validation. */
#include "regard/supervised.h"

#include <string.h>

#include "tasks/batches.h"

/* --------------------------------------------------------------------------------------------------------- options */

rg_reader_config rg_supervised_reading(const rg_set_options *o, const char *const *wanted, size_t count)
{
    rg_reader_config c = RG_READER_CONFIG_DEFAULT;
    c.format = o->format;
    c.columns = o->columns;
    c.header = strcmp(o->header, "yes") == 0  ? RG_HEADER_YES
               : strcmp(o->header, "no") == 0 ? RG_HEADER_NO
                                              : RG_HEADER_AUTO;
    c.wanted = wanted;
    c.wanted_count = count;
    if (*o->pictures) c.files = o->pictures;
    return c;
}

rg_status rg_supervised_check(const rg_set_options *o, const char *what, bool pairs)
{
    const size_t most = pairs ? 2 : 1;
    if (!o->train.count || o->train.count > most)
        return rg_fail(RG_EINVAL, "--train-sets takes one file of %s%s, not %zu", what,
                       pairs ? " (or two: pictures, labels)" : "", o->train.count);
    if (o->test.count > most)
        return rg_fail(RG_EINVAL, "--test-sets takes one file like --train-sets, not %zu", o->test.count);
    if (o->valid.count > most)
        return rg_fail(RG_EINVAL, "--valid-sets takes one file like --train-sets, not %zu", o->valid.count);
    if (!o->batch && !o->batch_rows)
        return rg_fail(RG_EINVAL, "nothing limits a batch: give --mini-batch (examples) or --mini-batch-words (rows)");
    return RG_OK;
}

rg_field_spec rg_text_spec(const char *name, const rg_vocab *vocab, const rg_text_options *o)
{
    return (rg_field_spec){ .name = name,
                            .kind = RG_FIELD_IDS,
                            .vocab = vocab,
                            .max_rows = (size_t)o->max_length,
                            .crop = o->crop,
                            .bos = o->ends,
                            .eos = o->ends };
}

/* ---------------------------------------------------------------------------------------------------------- stores */

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

rg_status rg_supervised_vocab(rg_vocab **out, const rg_run *run, const rg_set_options *sets, const rg_text_options *o,
                              const rg_reader_config *reading, size_t wanted)
{
    const char     *path = sets->train.items[0];
    rg_vocab_config c = RG_VOCAB_CONFIG_DEFAULT;
    watched_feed    feed = { .feed.wanted = wanted, .watch = rg_report_watch(run->report) };
    if (o->vocabs.count > 1) return rg_fail(RG_EINVAL, "--vocabs takes one file, not %zu", o->vocabs.count);
    if (o->vocabs.count) return rg_load_vocab(out, o->vocabs.items[0], "vocab.text");
    RG_TRY(rg_vocab_kind_find(&c.kind, o->kind));
    RG_TRY(rg_text_form_find(&c.form, o->form));
    c.size = (size_t)o->size;
    c.min_count = (size_t)o->min_count;
    c.seed = (uint64_t)run->learning->seed;
    RG_TRY(rg_reader_open(&feed.feed.reader, path, reading));
    rg_tell_begin(run->report, "learning a vocabulary (%s) from %s", o->kind, path);
    rg_status status = rg_vocab_train(out, &c, next_text, &feed);
    rg_tell_over(run->report);
    rg_reader_close(feed.feed.reader);
    return status;
}

static rg_status open_set(rg_examples **out, const rg_run *run, const rg_set_options *sets, const rg_list *files,
                          const rg_reader_config *reading, const rg_field_spec *specs, size_t fields)
{
    const bool         train = files == &sets->train;
    rg_reader_config   r = *reading;
    rg_field_spec      s[RG_BATCH_FIELDS];
    rg_examples_config c = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_text            text = { 0 };
    memcpy(s, specs, fields * sizeof *specs);
    if (!s[0].batch_rows) s[0].batch_rows = (size_t)sets->batch_rows;
    for (size_t f = 0; f < fields; f++) s[f].still = !train;
    for (size_t f = 0; f < fields && !train; f++) s[f].crop = s[f].crop || s[f].kind == RG_FIELD_IDS;
    c.batch = (size_t)sets->batch;
    c.window = (size_t)sets->window;
    c.shuffle = train;
    c.seed = (uint64_t)run->learning->seed;
    r.labels = files->count > 1 ? files->items[1] : NULL;
    rg_tell_begin(run->report, "encoding %s", files->items[0]);
    rg_status status = rg_examples_open(out, &c, s, fields, files->items[0], &r);
    rg_tell_over(run->report);
    RG_TRY(status);
    status = rg_examples_describe(&text, *out);
    if (status == RG_OK)
        rg_tell(run->report, "%s%s", train ? "" : files == &sets->test ? "test: " : "validation: ", rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

/* An objective needs a further column of the training file. */
static rg_status open_with_column(rg_run *run, const rg_set_options *sets, const rg_reader_config *reading,
                                  const rg_field_spec *specs, size_t fields)
{
    rg_supervised   *d = run->data;
    rg_reader_config r;
    rg_field_spec    all[RG_BATCH_FIELDS];
    const char      *wanted[RG_BATCH_FIELDS];
    rg_text          columns = { 0 };
    if (fields + 1 > RG_BATCH_FIELDS || reading->wanted_count + 1 > RG_BATCH_FIELDS)
        return rg_fail(RG_ELIMIT, "more than %d fields", RG_BATCH_FIELDS);
    memcpy(all, specs, fields * sizeof *specs);
    rg_status status = rg_beside_column(&r, &columns, wanted, &all[fields], run, sets->train.items[0], reading);
    if (status == RG_OK) status = open_set(&d->train, run, sets, &sets->train, &r, all, fields + 1);
    rg_text_free(&columns);
    return status;
}

rg_status rg_supervised_open(rg_run *run, const rg_set_options *sets, const rg_reader_config *reading,
                             const rg_field_spec *specs, size_t fields)
{
    rg_supervised *d = run->data;
    if (run->column) RG_TRY(open_with_column(run, sets, reading, specs, fields));
    else RG_TRY(open_set(&d->train, run, sets, &sets->train, reading, specs, fields));
    RG_TRY(rg_beside_open(run, sets, reading, specs, fields));
    if (sets->valid.count) RG_TRY(open_set(&d->valid, run, sets, &sets->valid, reading, specs, fields));
    return sets->test.count ? open_set(&d->test, run, sets, &sets->test, reading, specs, fields) : RG_OK;
}

rg_status rg_supervised_fits(const rg_run *run, const rg_text_options *o)
{
    const size_t longest = run->model->longest, most = (size_t)o->max_length + o->ends;
    if (!longest || most <= longest) return RG_OK;
    return rg_fail(RG_EINVAL, "texts of %zu tokens (--max-length%s) do not fit the %zu positions of the model", most,
                   o->ends ? " and </s>" : "", longest);
}

/* -------------------------------------------------------------------------------------------------------- learning */

rg_status rg_supervised_next(rg_run *run, rg_shares *out)
{
    rg_supervised *d = run->data;
    bool           more;
    *out = (rg_shares){ 0 };
    RG_TRY(rg_examples_next_in_epoch(&more, &d->batch, d->train));
    if (!more) return RG_OK;
    RG_TRY(rg_cut_shares(out, &d->shares, &d->batch, run->threads));
    out->cost = (double)rg_field_rows(&d->batch.field[RG_INPUT]);
    return d->beside ? rg_beside_next(run, out) : RG_OK;
}

rg_status rg_supervised_tell(const rg_run *run, rg_state *state)
{
    const rg_supervised *d = run->data;
    RG_TRY(rg_put_place(state, rg_examples_tell(d->train), rg_examples_checksum(d->train)));
    return d->beside ? rg_beside_tell(run, state) : RG_OK;
}

rg_status rg_supervised_seek(rg_run *run, const rg_state *state)
{
    rg_supervised *d = run->data;
    rg_place       p;
    RG_TRY(rg_get_place(&p, state, rg_examples_checksum(d->train)));
    RG_TRY(rg_examples_seek(d->train, p));
    return d->beside ? rg_beside_seek(run, state) : RG_OK;
}

bool rg_supervised_judges(const rg_run *run) { return ((const rg_supervised *)run->data)->valid != NULL; }

void rg_supervised_blame(const rg_run *run, const void *share, char *out, size_t room)
{
    rg_blame_lines(run, share, out, room);
}

double rg_supervised_epoch_part(const rg_run *run)
{
    return rg_examples_epoch_part(((const rg_supervised *)run->data)->train);
}

void rg_supervised_close(rg_run *run)
{
    rg_supervised *d = run->data;
    rg_tape_free(d->judge);
    rg_examples_free(d->train);
    rg_examples_free(d->valid);
    rg_examples_free(d->test);
    rg_share_room_free(&d->shares);
    rg_beside_close(run);
}

rg_status rg_supervised_hint(rg_text *out, const void *options, const char *program, const char *model)
{
    return (void)options, rg_text_print(out, "%s predict -m %s < inputs.txt", program, model);
}

void rg_tell_lines(const rg_train_report *report, const char *text)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        rg_tell(report, "%.*s", (int)strcspn(text, "\n"), text);
}

rg_status rg_supervised_judge(rg_run *run, rg_judge_batch *each, void *context)
{
    rg_supervised       *d = run->data;
    const rg_tape_config config = { .record = false, .team = rg_workers_team(rg_trainer_workers(run->trainer)) };
    if (!d->judge) RG_TRY(rg_tape_new(&d->judge, &config));
    RG_TRY(rg_examples_seek(d->valid, (rg_place){ 0 })); /* a pass that was stopped may have left it in the middle */
    for (bool more;;) {
        rg_batch b;
        RG_TRY(rg_check_stop(run->report));
        RG_TRY(rg_examples_next_in_epoch(&more, &b, d->valid));
        if (!more) return RG_OK;
        rg_tape_reset(d->judge, 0);
        rg_tensor *y = run->system->predict(d->judge, run->model, &b);
        RG_TRY(rg_tape_status(d->judge));
        RG_TRY(each(context, d->judge, y, &b));
        RG_TRY(rg_tape_status(d->judge));
    }
}
