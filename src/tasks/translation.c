/* translation.c - from two text files to a translator: vocabularies, corpus, model, the trainer's hooks. */
#include "tasks/translation.h"
#include "base/number.h"
#include "tasks/language.h"
#include "tasks/model_file.h"
#include "tasks/validation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const rg_translation_options *o;
    const rg_train_report        *report;
    rg_translator                *translator;
    rg_corpus                    *corpus;
    rg_validation                *validation;
    rg_trainer                   *trainer;
    int                           threads;
    char                         *checkpoint;

    /* the batch at hand */
    rg_batch     batch, *share;
    const void **share_of;
    int32_t     *storage;
    size_t       storage_room;
} training;

/* ------------------------------------------------------------------------------------------------- vocabularies */

static rg_status vocab_size(size_t *out, const rg_translation_options *o, size_t side)
{
    const char *text = o->dim_vocabs.count ? o->dim_vocabs.items[side < o->dim_vocabs.count ? side : o->dim_vocabs.count - 1] : "8000";
    char       *end;
    long long   n = strtoll(text, &end, 10);
    if (*end || n < 0 || n > 10000000) return rg_fail(RG_EINVAL, "--dim-vocabs %s: a number of pieces", text);
    *out = (size_t)n;
    return RG_OK;
}

/* From `count` sides of the corpus, beginning with `first`. */
static rg_status learn_vocab(rg_vocab **out, const training *t, size_t first, size_t count)
{
    const rg_translation_options *o = t->o;
    const rg_text_side sides[2] = { { o->train_sets.items[0], o->tsv ? 0 : -1 },
                                    { o->train_sets.items[o->tsv ? 0 : 1], o->tsv ? 1 : -1 } };
    rg_vocab_config    c = RG_VOCAB_CONFIG_DEFAULT;
    RG_TRY(rg_vocab_kind_find(&c.kind, o->vocab_kind));
    RG_TRY(rg_text_form_find(&c.form, o->form));
    RG_TRY(vocab_size(&c.size, o, first));
    c.min_count = (size_t)o->vocab_min_count;
    c.seed = (uint64_t)o->seed;
    const rg_read_watch watch = rg_report_watch(t->report);
    c.watch = &watch;
    if (count == 2 && !o->tsv) rg_tell_begin(t->report, "learning a joint vocabulary (%s) from %s and %s", o->vocab_kind, sides[0].path, sides[1].path);
    else rg_tell_begin(t->report, "learning a %svocabulary (%s) from %s", count == 2 ? "joint " : "", o->vocab_kind, sides[first].path);
    rg_status status = rg_vocab_train_files(out, &c, sides + first, count);
    rg_tell_over(t->report);
    return status;
}

static rg_status make_vocabs(rg_vocab **source, rg_vocab **target, const training *t)
{
    const rg_translation_options *o = t->o;
    *source = *target = NULL;
    if (o->vocabs.count > 2) return rg_fail(RG_EINVAL, "--vocabs takes one or two files, not %zu", o->vocabs.count);
    if (o->vocabs.count) {
        RG_TRY(rg_vocab_load(source, o->vocabs.items[0]));
        rg_status status = o->vocabs.count == 2 ? rg_vocab_load(target, o->vocabs.items[1]) : RG_OK;
        if (status == RG_OK && *target &&
            rg_vocab_checksum(*source) == rg_vocab_checksum(*target)) { /* the same file twice is a joint one */
            rg_vocab_free(*target);
            *target = NULL;
        }
        if (status != RG_OK) rg_vocab_free(*source), *source = NULL;
        return status;
    }
    if (o->joint) return learn_vocab(source, t, 0, 2);
    RG_TRY(learn_vocab(source, t, 0, 1));
    rg_status status = learn_vocab(target, t, 1, 1);
    if (status != RG_OK) rg_vocab_free(*source), *source = NULL;
    return status;
}

/* -------------------------------------------------------------------------------------------------------- model */

/* Given, or guessed from the names of the training files. */
static rg_status set_languages(const training *t)
{
    const rg_translation_options *o = t->o;
    char                          guess[2][RG_LANGUAGE_ROOM];
    if (o->tsv) rg_languages_of_path(guess[0], guess[1], o->train_sets.items[0]);
    for (size_t side = 0; side < 2 && !o->tsv; side++) rg_language_of_path(guess[side], o->train_sets.items[side]);
    const char *source = o->source_lang[0] ? o->source_lang : guess[0], *target = o->target_lang[0] ? o->target_lang : guess[1];
    RG_TRY(rg_translator_set_languages(t->translator, source, target));
    if (*source && *target) rg_tell(t->report, "languages: %s to %s", source, target);
    return RG_OK;
}

static rg_status make_translator(training *t, const rg_system *system, const void *options)
{
    rg_vocab *source, *target;
    rg_model *model;
    RG_TRY(make_vocabs(&source, &target, t));
    const rg_sizes sizes = rg_sizes_of_text(source, target ? target : source);
    rg_status            status = rg_model_new(&model, system, options, &sizes, (uint64_t)t->o->seed);
    if (status != RG_OK) {
        rg_vocab_free(source);
        rg_vocab_free(target);
        return status;
    }
    RG_TRY(rg_translator_new(&t->translator, model, source, target));
    RG_TRY(set_languages(t));
    if (target)
        rg_tell(t->report, "vocabularies of %zu and %zu pieces, %zu parameters", rg_vocab_size(source), rg_vocab_size(target),
            rg_params_numbers(model->params));
    else rg_tell(t->report, "joint vocabulary of %zu pieces, %zu parameters", rg_vocab_size(source), rg_params_numbers(model->params));
    return RG_OK;
}

/* Bytes of arena that one worker wants for `words` target pieces in sentences of `length`: from a dry tape. */
static rg_status dry_bytes(size_t *out, const rg_model *m, size_t words, size_t length)
{
    const size_t         pairs = words / length ? words / length : 1, n = pairs * length;
    int32_t             *start = rg_alloc_array(pairs + 1, sizeof *start), *ids = rg_alloc_array(n, sizeof *ids);
    const rg_tape_config config = { .record = true, .learn = true, .dry = true };
    rg_tape             *tape = NULL;
    rg_status            status = start && ids ? rg_tape_new(&tape, &config) : RG_ENOMEM;
    if (status == RG_OK) {
        for (size_t i = 0; i <= pairs; i++) start[i] = (int32_t)(i * length);
        for (size_t i = 0; i < n; i++) ids[i] = (int32_t)rg_model_size(m, "eos");
        const rg_layout layout = { .groups = pairs, .start = start };
        const rg_batch  batch = { .examples = pairs, .fields = 2,
                                  .field = { [RG_SOURCE] = { .layout = layout, .ids = ids },
                                             [RG_TARGET] = { .layout = layout, .ids = ids, .previous = ids } } };
        rg_loss         loss = m->system->loss(tape, m, &batch);
        status = loss.sum ? rg_tape_backward(tape, loss.sum) : rg_tape_status(tape);
        *out = rg_tape_get_cost(tape).bytes;
    }
    rg_tape_free(tape);
    rg_free(start);
    rg_free(ids);
    return status;
}

static size_t budget_of(const training *t) { return ((size_t)t->o->workspace << 20) / (size_t)t->threads; }

/* The largest batch whose shares fit the workspace, whether its sentences are short or as long as allowed. Both sides have at most so many
 * pieces, and a share may be larger than the others by a sentence. */
static rg_status words_for_workspace(size_t *out, training *t)
{
    const size_t budget = budget_of(t), longest = (size_t)t->o->max_length + 1;
    const size_t lengths[] = { longest < 8 ? longest : 8, longest < 30 ? longest : 30, longest };
    size_t       words = 0, least = 0;
    RG_TRY(dry_bytes(&least, t->translator->model, longest, longest));
    if (least > budget)
        return rg_fail(
            RG_ELIMIT,
            "one sentence of %zu pieces needs %zu MiB for each of %d threads; --workspace is %lld MiB: raise it or lower --max-length",
            longest, (least >> 20) + 1, t->threads, (long long)t->o->workspace);
    for (size_t next = 16, worst = 0; next <= 1u << 20; next *= 2) {
        for (size_t i = 0; i < 3; i++) {
            size_t bytes = 0;
            RG_TRY(dry_bytes(&bytes, t->translator->model, t->threads > 1 ? next + longest : next, lengths[i]));
            if (bytes > worst) worst = bytes;
        }
        if (worst > budget) break;
        words = next;
    }
    *out = words ? words * (size_t)t->threads : 1; /* 1: every sentence is a batch */
    rg_tell(t->report, "batches of %zu target pieces fit a workspace of %lld MiB on %d threads", *out, (long long)t->o->workspace, t->threads);
    return RG_OK;
}

/* --sentencepiece-alphas A B, or one for both sides; none: 0. */
static rg_status alpha_of(double *out, const rg_translation_options *o, size_t side)
{
    *out = 0;
    if (!o->alphas.count) return RG_OK;
    if (o->alphas.count > 2) return rg_fail(RG_EINVAL, "--sentencepiece-alphas takes one or two numbers, not %zu", o->alphas.count);
    const char *text = o->alphas.items[side < o->alphas.count ? side : 0];
    char       *end;
    *out = rg_real_parse(text, &end);
    if (end == text || *end || !(*out >= 0 && *out <= 1))
        return rg_fail(RG_EINVAL, "--sentencepiece-alphas %s: a number from 0 (off) to 1", text);
    return RG_OK;
}

static rg_status open_corpus(training *t)
{
    const rg_translation_options *o = t->o;
    rg_corpus_config              c = RG_CORPUS_CONFIG_DEFAULT;
    c.max_length = (size_t)o->max_length;
    c.max_length_crop = o->crop;
    c.mini_batch = (size_t)o->mini_batch;
    c.mini_batch_words = (size_t)o->mini_batch_words;
    c.maxi_batch = (size_t)o->maxi_batch;
    c.seed = (uint64_t)o->seed;
    RG_TRY(alpha_of(&c.source_alpha, o, 0));
    RG_TRY(alpha_of(&c.target_alpha, o, 1));
    if (o->workspace) {
        size_t words = 0;
        RG_TRY(words_for_workspace(&words, t));
        if (!c.mini_batch_words || words < c.mini_batch_words) c.mini_batch_words = words;
        c.source_words = words;
    }
    const rg_translator *r = t->translator;
    const rg_read_watch  watch = rg_report_watch(t->report);
    const char *const   *sets = (const char *const *)o->train_sets.items;
    c.watch = &watch;
    rg_tell_begin(t->report, "encoding %s%s%s", sets[0], o->tsv ? "" : " and ", o->tsv ? "" : sets[1]);
    rg_status status = o->tsv ? rg_corpus_open_tsv(&t->corpus, &c, sets[0], r->source, r->target)
                              : rg_corpus_open(&t->corpus, &c, sets[0], sets[1], r->source, r->target);
    rg_tell_over(t->report);
    RG_TRY(status);
    rg_text text = { 0 };
    if (rg_corpus_describe(&text, t->corpus) == RG_OK) rg_tell(t->report, "%s", rg_text_c(&text));
    rg_text_free(&text);
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- hooks */

static rg_status next_batch(void *context, rg_shares *out)
{
    training *t = context;
    bool      more;
    *out = (rg_shares){ 0 };
    RG_TRY(rg_corpus_next_in_epoch(&more, &t->batch, t->corpus));
    if (!more) return RG_OK;
    const size_t room = rg_batch_share_room(&t->batch) * (size_t)t->threads;
    if (room > t->storage_room) {
        int32_t *storage = rg_realloc(t->storage, 2 * room * sizeof *storage);
        if (!storage) return RG_ENOMEM;
        t->storage = storage;
        t->storage_room = 2 * room;
    }
    for (int i = 0; i < t->threads; i++) {
        rg_batch_share(&t->share[out->count], t->storage + (size_t)i * rg_batch_share_room(&t->batch), &t->batch, (size_t)i, (size_t)t->threads);
        if (!t->share[out->count].examples) continue;
        t->share_of[out->count] = &t->share[out->count];
        out->count++;
    }
    out->share = t->share_of;
    out->cost = (double)t->batch.field[RG_TARGET].layout.start[t->batch.examples];
    return RG_OK;
}

static rg_loss share_loss(void *context, rg_tape *tape, const void *share, int worker)
{
    const training *t = context;
    (void)worker;
    return t->translator->model->system->loss(tape, t->translator->model, share);
}

static rg_status validate(void *context, rg_metrics *out)
{
    training *t = context;
    return rg_validation_run(out, t->validation, t->report, rg_optimizer_steps(rg_trainer_optimizer(t->trainer)));
}

static rg_status describe(void *context, rg_state *state) { return rg_translator_describe(state, ((const training *)context)->translator); }

static rg_status save_place(void *context, rg_state *state)
{
    const training       *t = context;
    const rg_corpus_place p = rg_corpus_tell(t->corpus);
    RG_TRY(rg_state_put_count(state, "corpus.epoch", p.epoch));
    RG_TRY(rg_state_put_count(state, "corpus.window", p.window));
    RG_TRY(rg_state_put_count(state, "corpus.batch", p.batch));
    RG_TRY(rg_state_put_count(state, "corpus.ended", p.ended));
    return rg_state_put_count(state, "corpus.checksum", rg_corpus_checksum(t->corpus));
}

/* Files of older versions do not say whether the loop has counted the epoch that ended: its own count (from 1) tells. */
static rg_status was_ended(bool *out, const rg_state *state, uint64_t corpus_epoch)
{
    uint64_t value;
    if (rg_state_has(state, "corpus.ended")) {
        RG_TRY(rg_state_get_count(&value, state, "corpus.ended"));
        *out = value != 0;
        return RG_OK;
    }
    RG_TRY(rg_state_get_count(&value, state, "trainer.epoch"));
    *out = value == corpus_epoch;
    return RG_OK;
}

static rg_status load_place(void *context, const rg_state *state)
{
    training       *t = context;
    rg_corpus_place p;
    uint64_t        checksum;
    RG_TRY(rg_state_get_count(&p.epoch, state, "corpus.epoch"));
    RG_TRY(rg_state_get_count(&p.window, state, "corpus.window"));
    RG_TRY(rg_state_get_count(&p.batch, state, "corpus.batch"));
    RG_TRY(was_ended(&p.ended, state, p.epoch));
    RG_TRY(rg_state_get_count(&checksum, state, "corpus.checksum"));
    if (checksum != rg_corpus_checksum(t->corpus))
        return rg_fail(RG_EMATCH, "the checkpoint was trained on another corpus, vocabulary or batch size; --overwrite begins anew");
    rg_tell_changed_settings(t->report, state, t->translator->model);
    return rg_corpus_seek(t->corpus, p);
}

static void blame(void *context, const void *share, char *out, size_t room)
{
    (void)context;
    const rg_batch *b = share;
    size_t          at = 0;
    at += (size_t)snprintf(out, room, "corpus lines");
    for (size_t i = 0; i < b->examples && i < 20 && at < room; i++)
        at += (size_t)snprintf(out + at, room - at, " %llu", (unsigned long long)b->lines[i]);
    if (b->examples > 20 && at < room) snprintf(out + at, room - at, " and %zu more", b->examples - 20);
}

static void forward_log(void *context, const rg_train_log *log)
{
    const training *t = context;
    rg_tell_log(t->report, log);
}

static double epoch_part(void *context) { return rg_corpus_epoch_part(((const training *)context)->corpus); }

static bool forward_stop(void *context)
{
    const training *t = context;
    return rg_told_to_stop(t->report);
}

/* ---------------------------------------------------------------------------------------------------------- run */

static rg_trainer_config trainer_config(const training *t)
{
    const rg_translation_options *o = t->o;
    rg_trainer_config             c = RG_TRAINER_CONFIG_DEFAULT;
    c.workers.workers = t->threads;
    c.workers.seed = (uint64_t)o->seed;
    if (o->workspace) c.workers.bytes = budget_of(t); /* taken once: an arena that grows on its way holds more than it was asked for */
    c.optimizer.name = o->optimizer;
    c.optimizer.a = o->beta1;
    c.optimizer.b = o->beta2;
    c.optimizer.eps = o->epsilon;
    c.optimizer.decay = o->weight_decay;
    c.optimizer.clip_norm = o->clip_norm;
    c.optimizer.smoothing = o->smoothing;
    c.schedule.name = o->decay_inv_sqrt > 0 ? "inverse-sqrt" : "constant";
    c.schedule.rate = o->rate;
    c.schedule.warmup = o->warmup;
    c.schedule.start = o->decay_inv_sqrt;
    c.schedule.end = (double)o->updates;
    c.schedule.cooldown = o->cooldown;
    c.steps = (uint64_t)o->updates;
    c.epochs = (uint64_t)o->epochs;
    c.delay = (uint64_t)o->delay;
    c.validate_every = t->validation ? (uint64_t)o->valid_freq : 0;
    c.save_every = (uint64_t)o->save_freq;
    c.save_seconds = 60 * o->save_minutes;
    c.log_every = (uint64_t)o->disp_freq;
    c.patience = t->validation ? (uint64_t)o->patience : 0;
    c.checkpoint = t->checkpoint;
    c.model = o->model;
    c.keep_best = o->keep_best && t->validation;
    c.average = (size_t)o->average;
    c.average_best = t->validation != NULL;
    return c;
}

static rg_status check(const rg_translation_options *o)
{
    const size_t files = o->tsv ? 1 : 2;
    if (o->train_sets.count != files)
        return rg_fail(RG_EINVAL, "--train-sets takes %s, not %zu files", o->tsv ? "one TSV file" : "two files, source and target",
                       o->train_sets.count);
    if (o->valid_sets.count && o->valid_sets.count != files)
        return rg_fail(RG_EINVAL, "--valid-sets takes %zu files like --train-sets, not %zu", files, o->valid_sets.count);
    if (rg_language_check(o->source_lang) != RG_OK) return rg_fail_in(RG_EINVAL, "--source-lang: ");
    if (rg_language_check(o->target_lang) != RG_OK) return rg_fail_in(RG_EINVAL, "--target-lang: ");
    if (!o->mini_batch && !o->mini_batch_words && !o->workspace)
        return rg_fail(RG_EINVAL, "nothing limits a batch: give --mini-batch (pairs), --mini-batch-words (target pieces) or --workspace");
    if (o->cooldown > 0 && !o->updates)
        return rg_fail(RG_EINVAL, "--lr-cooldown %g counts back from the end of --after-batches: give one", o->cooldown);
    if (!o->epochs && !o->updates && !(o->patience && o->valid_sets.count))
        return rg_fail(RG_EINVAL, "when should it stop? give --valid-sets for --early-stopping, or --after-epochs, or --after-batches");
    return RG_OK;
}

static rg_status train(training *t, const rg_system *system, const void *options)
{
    RG_TRY(make_translator(t, system, options));
    const size_t longest = t->translator->model->longest;
    if (longest && (size_t)t->o->max_length + 1 > longest)
        return rg_fail(RG_EINVAL, "sentences of %lld pieces (--max-length) and their end do not fit the %zu positions of the model",
                       (long long)t->o->max_length, longest);
    RG_TRY(open_corpus(t));
    if (t->o->valid_sets.count) RG_TRY(rg_validation_new(&t->validation, t->translator, t->o, t->threads));
    const rg_trainer_config config = trainer_config(t);
    const rg_trainer_hooks  hooks = { .context = t,
                                      .next = next_batch,
                                      .loss = share_loss,
                                      .validate = t->validation ? validate : NULL,
                                      .describe = describe,
                                      .save = save_place,
                                      .load = load_place,
                                      .blame = blame,
                                      .log = forward_log,
                                      .stop = forward_stop,
                                      .epoch_part = epoch_part };
    RG_TRY(rg_trainer_new(&t->trainer, t->translator->model->params, &config, &hooks));
    uint64_t step = 0;
    if (!t->o->overwrite) RG_TRY(rg_trainer_resume(&step, t->trainer));
    return rg_trainer_run(t->trainer);
}

rg_status rg_translation_train(rg_translator **out, const rg_system *system, const void *system_options,
                               const rg_translation_options *options, const rg_train_report *report)
{
    *out = NULL;
    RG_TRY(check(options));
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    training   t = { .o = options, .report = report, .threads = options->threads ? (int)options->threads : cores > 0 ? (int)cores : 1 };
    t.checkpoint = rg_format("%s.checkpoint", options->model);
    t.share = rg_alloc_zero((size_t)t.threads * sizeof *t.share);
    t.share_of = rg_alloc_zero((size_t)t.threads * sizeof *t.share_of);
    rg_status status = t.checkpoint && t.share && t.share_of ? train(&t, system, system_options) : RG_ENOMEM;
    rg_trainer_free(t.trainer);
    rg_validation_free(t.validation);
    rg_corpus_free(t.corpus);
    rg_free(t.storage);
    rg_free(t.share);
    rg_free(t.share_of);
    rg_free(t.checkpoint);
    if (status == RG_OK) *out = t.translator;
    else rg_translator_free(t.translator);
    return status;
}
