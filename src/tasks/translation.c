/* translation.c - text -> text: two files, line by line the same sentences, or one with tabs; vocabularies are
 * learned from them. */
#include "regard/made.h"
#include "tasks/translation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "data/text/unpacked.h"
#include "regard/reader.h"
#include "regard/safetensors.h"
#include "tasks/batches.h"
#include "tasks/guided.h"
#include "tasks/language_codes.h"
#include "tasks/validation.h"

typedef struct {
    rg_corpus     *corpus;
    rg_validation *validation;
    rg_batch       batch; /* at hand */
    rg_share_room  shares;
    rg_guided     *guided; /* NULL: nothing is guided */
    uint64_t       links;  /* checksum */
    rg_read_watch  watch;  /* of the corpus */
    char          *text[2]; /* the training files, unpacked; NULL: as they are */
} data;

/* ------------------------------------------------------------------------------------------------- vocabularies */

static rg_status vocab_size(size_t *out, const rg_translation_options *o, size_t side)
{
    const char *text =
        o->dim_vocabs.count ? o->dim_vocabs.items[side < o->dim_vocabs.count ? side : o->dim_vocabs.count - 1] : "8000";
    char       *end;
    long long   n = strtoll(text, &end, 10);
    if (*end || n < 0 || n > 10000000) return rg_fail(RG_EINVAL, "--dim-vocabs %s: a number of tokens", text);
    *out = (size_t)n;
    return RG_OK;
}

/* Text that is larger than this is never whole in memory. Word links and copies need all pairs at once. */
static uint64_t shards_above(const rg_translation_options *o)
{
    const int64_t most = o->workspace && o->workspace < o->corpus_memory ? o->workspace : o->corpus_memory;
    return *o->guided ? 0 : (uint64_t)most << 20;
}

/* Where encoded text and its vocabulary are kept: NULL beside it, "" nowhere. */
static const char *cache_of(const rg_translation_options *o)
{
    return !*o->cache ? NULL : strcmp(o->cache, "none") == 0 ? "" : o->cache;
}

static bool not_stopped(void *report, uint64_t lines)
{
    (void)lines;
    return !rg_told_to_stop(report);
}

/* The file that a side is read from. */
static const char *text_of(const rg_run *run, size_t side)
{
    const data *d = run->data;
    return d->text[side] ? d->text[side] : ((const rg_translation_options *)run->options)->train_sets.items[side];
}

/* Is there a place to keep something of two large files? */
static bool keeps(const rg_translation_options *o)
{
    const char *directory = cache_of(o);
    return !rg_translation_is_table(o) && shards_above(o) && (!directory || *directory);
}

/* Is the vocabulary learned from text that is large? */
static rg_status keeps_vocab(bool *out, const rg_run *run)
{
    const rg_corpus_config c = { .shards_above = shards_above(run->options) };
    *out = false;
    return keeps(run->options) ? rg_corpus_is_large(out, &c, text_of(run, 0), text_of(run, 1)) : RG_OK;
}

/* Packed files that may well be large are unpacked: text is some four times as large. */
static rg_status unpack_sets(rg_run *run)
{
    enum { TIMES = 4 };
    const rg_translation_options *o = run->options;
    data                         *d = run->data;
    const rg_read_watch           watch = { .go_on = not_stopped, .context = (void *)run->report };
    uint64_t                      total = 0;
    bool                          packed[2] = { false };
    for (size_t side = 0; side < 2 && keeps(o); side++) {
        uint64_t bytes = 0;
        RG_TRY(rg_is_packed(&packed[side], &bytes, o->train_sets.items[side]));
        total += packed[side] ? TIMES * bytes : bytes;
    }
    for (size_t side = 0; side < 2; side++) {
        if (!packed[side] || total <= shards_above(o)) continue;
        rg_tell_begin(run->report, "unpacking %s", o->train_sets.items[side]);
        const rg_status status = rg_unpacked_text(&d->text[side], o->train_sets.items[side], cache_of(o), &watch);
        rg_tell_over(run->report);
        if (status != RG_OK && status != RG_ESTOP)
            return rg_fail_in(status, "a large file is unpacked (--cache none: read as it is): ");
        RG_TRY(status);
    }
    return RG_OK;
}

/* From `count` sides of the corpus, beginning with `first`. */
static rg_status learn_vocab(rg_vocab **out, const rg_run *run, size_t first, size_t count)
{
    const rg_translation_options *o = run->options;
    const bool             one = rg_translation_is_table(o);
    const rg_reader_config table = rg_translation_table(o);
    const rg_text_side     sides[2] = { { text_of(run, 0), -1 }, { text_of(run, one ? 0 : 1), -1 } };
    rg_vocab_config        c = RG_VOCAB_CONFIG_DEFAULT;
    RG_TRY(rg_vocab_kind_find(&c.kind, o->vocab_kind));
    RG_TRY(rg_text_form_find(&c.form, o->form));
    RG_TRY(vocab_size(&c.size, o, first));
    c.min_count = (size_t)o->vocab_min_count;
    c.max_lines = (size_t)o->spm_lines;
    c.max_bytes = (size_t)o->spm_mib << 20;
    c.threads = run->own_threads;
    c.options = o->spm_options;
    c.symbols = (const char *const *)o->user_symbols.items;
    c.symbol_count = o->user_symbols.count;
    c.seed = (uint64_t)run->learning->seed;
    const rg_read_watch watch = rg_report_watch(run->report);
    bool                kept;
    c.watch = &watch;
    RG_TRY(keeps_vocab(&kept, run));
    if (count == 2 && !one)
        rg_tell_begin(run->report, "learning a joint vocabulary (%s) from %s and %s", o->vocab_kind, sides[0].path,
                      sides[1].path);
    else
        rg_tell_begin(run->report, "learning a %svocabulary (%s) from %s", count == 2 ? "joint " : "", o->vocab_kind,
                      sides[first].path);
    rg_status status = one    ? rg_vocab_train_table(out, &c, sides[0].path, &table, first, count)
                       : kept ? rg_vocab_train_files_kept(out, &c, sides + first, count, cache_of(o))
                              : rg_vocab_train_files(out, &c, sides + first, count);
    rg_tell_over(run->report);
    return status;
}

/* Both vocabularies of a model file. */
static rg_status vocabs_of_model(rg_vocab **source, rg_vocab **target, const char *path)
{
    rg_state *state;
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_file_state(state, path);
    if (status == RG_OK) status = rg_get_vocab(source, state, "vocab.source");
    if (status == RG_OK && rg_state_has(state, "vocab.target")) status = rg_get_vocab(target, state, "vocab.target");
    if (status != RG_OK) rg_vocab_free(*source), *source = NULL;
    rg_state_free(state);
    return status == RG_OK || rg_message_names(path) ? status : rg_fail_in(status, "%s: ", path);
}

static rg_status make_vocabs(rg_vocab **source, rg_vocab **target, const rg_run *run)
{
    const rg_translation_options *o = run->options;
    *source = *target = NULL;
    if (o->vocabs.count > 2) return rg_fail(RG_EINVAL, "--vocabs takes one or two files, not %zu", o->vocabs.count);
    if (o->vocabs.count == 1 && rg_is_model_file(o->vocabs.items[0]))
        return vocabs_of_model(source, target, o->vocabs.items[0]);
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
    if (o->joint) return learn_vocab(source, run, 0, 2);
    RG_TRY(learn_vocab(source, run, 0, 1));
    rg_status status = learn_vocab(target, run, 1, 1);
    if (status != RG_OK) rg_vocab_free(*source), *source = NULL;
    return status;
}

/* Given, or guessed from the names of the training files. */
static rg_status set_languages(rg_run *run)
{
    const rg_translation_options *o = run->options;
    char                          guess[2][RG_LANGUAGE_ROOM];
    const bool one = rg_translation_is_table(o);
    if (one) rg_languages_of_path(guess[0], guess[1], o->train_sets.items[0]);
    for (size_t side = 0; side < 2 && !one; side++) rg_language_of_path(guess[side], o->train_sets.items[side]);
    const char *source = o->source_lang[0] ? o->source_lang : guess[0],
               *target = o->target_lang[0] ? o->target_lang : guess[1];
    RG_TRY(rg_translator_set_languages(run->assets, source, target));
    if (*source && *target) rg_tell(run->report, "languages: %s to %s", source, target);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- corpus */

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
        const rg_batch  batch = { .examples = pairs,
                                  .fields = 2,
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

/* MiB that batches may take: no more than half of the machine's memory, whatever a GPU's command line says. */
static size_t workspace_of(const rg_run *run)
{
    const size_t asked = (size_t)((const rg_translation_options *)run->options)->workspace;
    const long   pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    const size_t half = pages > 0 && bytes > 0 ? ((size_t)pages / 2 * (size_t)bytes) >> 20 : asked;
    return asked < half ? asked : half;
}

static size_t budget_of(const rg_run *run) { return (workspace_of(run) << 20) / (size_t)run->threads; }

/* The largest batch whose shares fit the workspace, whether its sentences are short or as long as allowed. Both
 * sides have at most so many pieces, and a share may be larger than the others by a sentence. */
static rg_status words_for_workspace(size_t *out, rg_run *run)
{
    const rg_translation_options *o = run->options;
    const size_t budget = budget_of(run), longest = (size_t)o->max_length + 1;
    const size_t lengths[] = { longest < 8 ? longest : 8, longest < 30 ? longest : 30, longest };
    size_t       words = 0, least = 0;
    RG_TRY(dry_bytes(&least, run->model, longest, longest));
    if (least > budget)
        return rg_fail(RG_ELIMIT,
                       "one sentence of %zu tokens needs %zu MiB for each of %d threads; --workspace is %lld MiB: "
                       "raise it or lower --max-length",
                       longest, (least >> 20) + 1, run->threads, (long long)workspace_of(run));
    if (workspace_of(run) < (size_t)o->workspace)
        rg_tell(run->report, "--workspace is %lld MiB; half of this machine's memory, %zu MiB, is taken",
                (long long)o->workspace, workspace_of(run));
    for (size_t next = 16, worst = 0; next <= 1u << 20; next *= 2) {
        for (size_t i = 0; i < 3; i++) {
            size_t bytes = 0;
            RG_TRY(dry_bytes(&bytes, run->model, run->threads > 1 ? next + longest : next, lengths[i]));
            if (bytes > worst) worst = bytes;
        }
        if (worst > budget) break;
        words = next;
    }
    *out = words ? words * (size_t)run->threads : 1; /* 1: every sentence is a batch */
    rg_tell(run->report, "batches of %zu target tokens fit a workspace of %lld MiB on %d threads", *out,
            (long long)workspace_of(run), run->threads);
    return RG_OK;
}

/* --sentencepiece-alphas A B, or one for both sides; none: 0. */
static rg_status alpha_of(double *out, const rg_translation_options *o, size_t side)
{
    *out = 0;
    if (!o->alphas.count) return RG_OK;
    if (o->alphas.count > 2)
        return rg_fail(RG_EINVAL, "--sentencepiece-alphas takes one or two numbers, not %zu", o->alphas.count);
    const char *text = o->alphas.items[side < o->alphas.count ? side : 0];
    char       *end;
    *out = rg_real_parse(text, &end);
    if (end == text || *end || !(*out >= 0 && *out <= 1))
        return rg_fail(RG_EINVAL, "--sentencepiece-alphas %s: a number from 0 (off) to 1", text);
    return RG_OK;
}

/* Shards are encoded between updates. A run can stop there where an update is one batch and no other process waits. */
static bool never_stopped(void *report, uint64_t lines)
{
    (void)report, (void)lines;
    return true;
}

static rg_status open_corpus(rg_run *run)
{
    const rg_translation_options *o = run->options;
    rg_corpus_config              c = RG_CORPUS_CONFIG_DEFAULT;
    c.max_length = (size_t)o->max_length;
    c.max_length_crop = o->crop;
    c.mini_batch = (size_t)o->mini_batch;
    c.mini_batch_words = (size_t)o->mini_batch_words;
    c.maxi_batch = (size_t)o->maxi_batch;
    c.seed = (uint64_t)run->learning->seed;
    c.copy = run->model->copies;
    RG_TRY(alpha_of(&c.source_alpha, o, 0));
    RG_TRY(alpha_of(&c.target_alpha, o, 1));
    if (o->workspace) {
        size_t words = 0;
        RG_TRY(words_for_workspace(&words, run));
        if (!c.mini_batch_words || words < c.mini_batch_words) c.mini_batch_words = words;
        c.source_words = words;
    }
    const rg_translator *r = run->model->assets;
    data                *d = run->data;
    const char *const   *sets = (const char *const *)o->train_sets.items;
    d->watch = rg_report_watch(run->report);
    c.watch = &d->watch;
    c.threads = run->own_threads;
    c.shards_above = shards_above(o);
    if (c.shards_above && c.shards_above < c.memory) c.memory = (size_t)c.shards_above; /* of what has no shards */
    c.cache = cache_of(o);
    const bool             one = rg_translation_is_table(o);
    const rg_reader_config table = rg_translation_table(o);
    rg_tell_begin(run->report, "encoding %s%s%s", sets[0], one ? "" : " and ", one ? "" : sets[1]);
    rg_status status = one ? rg_corpus_open_table(&d->corpus, &c, sets[0], &table, r->source, r->target)
                           : rg_corpus_open(&d->corpus, &c, text_of(run, 0), text_of(run, 1), r->source, r->target);
    rg_tell_over(run->report);
    RG_TRY(status);
    d->watch = (rg_read_watch){ .go_on = run->processes || run->learning->delay > 1 ? never_stopped : not_stopped,
                                .context = (void *)run->report };
    rg_text text = { 0 };
    if (rg_corpus_describe(&text, d->corpus) == RG_OK) rg_tell(run->report, "%s", rg_text_c(&text));
    rg_text_free(&text);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------- guided alignment */

enum { ALIGNER_ROUNDS = 5 };

static rg_status make_links(rg_word_links **out, const rg_run *run)
{
    const rg_translation_options *o = run->options;
    const rg_translator          *r = run->model->assets;
    data                         *d = run->data;
    if (strcmp(o->guided, "auto") != 0) return rg_word_links_load(out, o->guided, d->corpus, r->source, r->target);
    if (o->alphas.count)
        return rg_fail(RG_EINVAL, "--guided-alignment auto links tokens, which --sentencepiece-alphas cuts anew each "
                                  "epoch: give a file of word links");
    rg_tell_begin(run->report, "aligning the corpus");
    rg_status status = rg_word_links_learn(out, d->corpus, ALIGNER_ROUNDS);
    rg_tell_over(run->report);
    return status;
}

static rg_loss guided_loss(const rg_run *run, rg_tape *tape, const void *share)
{
    return rg_guided_loss_of(((const data *)run->data)->guided, tape, share);
}

static rg_status open_guided(rg_run *run)
{
    const rg_translation_options *o = run->options;
    const rg_guided_config        c = { o->guided_weight, (size_t)o->guided_layer, (int)o->guided_head,
                                             o->guided_shift };
    data                         *d = run->data;
    rg_word_links                     *links;
    if (!*o->guided) return RG_OK;
    if (run->model->copies) return rg_fail(RG_EINVAL, "--guided-alignment and --copy do not go together");
    RG_TRY(make_links(&links, run));
    const size_t count = rg_word_links_count(links);
    d->links = rg_word_links_checksum(links);
    RG_TRY(rg_guided_new(&d->guided, &c, links, run->model->assets, d->corpus));
    run->loss = guided_loss;
    if (c.head < 0)
        rg_tell(run->report, "%s, mean of its heads, learns %zu links", rg_guided_point(d->guided), count);
    else rg_tell(run->report, "%s, head %d, learns %zu links", rg_guided_point(d->guided), c.head, count);
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- learning */

static rg_status check(const rg_translation_options *o)
{
    const size_t files = rg_translation_is_table(o) ? 1 : 2;
    if (o->train_sets.count != files)
        return rg_fail(RG_EINVAL, "--train-sets takes %s, not %zu files",
                       files == 1 ? "one table of pairs" : "two files, source and target, or one table of both",
                       o->train_sets.count);
    if (o->tsv && *o->format && strcmp(o->format, "tsv") != 0)
        return rg_fail(RG_EINVAL, "--tsv and --format %s: give one of them", o->format);
    if (o->valid_sets.count && o->valid_sets.count != files)
        return rg_fail(RG_EINVAL, "--valid-sets takes %zu files like --train-sets, not %zu", files,
                       o->valid_sets.count);
    if (rg_language_check(o->source_lang) != RG_OK) return rg_fail_in(RG_EINVAL, "--source-lang: ");
    if (rg_language_check(o->target_lang) != RG_OK) return rg_fail_in(RG_EINVAL, "--target-lang: ");
    if (!o->mini_batch && !o->mini_batch_words && !o->workspace)
        return rg_fail(
            RG_EINVAL,
            "nothing limits a batch: give --mini-batch (pairs), --mini-batch-words (target tokens) or --workspace");
    return RG_OK;
}

static rg_status open(rg_run *run)
{
    rg_vocab *source, *target;
    RG_TRY(check(run->options));
    RG_TRY(unpack_sets(run));
    RG_TRY(make_vocabs(&source, &target, run));
    RG_TRY(rg_translator_init(run->assets, source, target));
    RG_TRY(set_languages(run));
    run->sizes = rg_sizes_of_text(source, target ? target : source);
    return RG_OK;
}

/* Copied words are told apart, though their text is not known here. */
static rg_status spell(rg_text *out, const void *assets, const int32_t *ids, size_t count)
{
    const rg_translator *t = assets;
    const int32_t        V = (int32_t)rg_vocab_size(t->target);
    int32_t             *known = rg_alloc_array(count + 1, sizeof *known);
    const char         **instead = rg_alloc_zero((count + 1) * sizeof *instead);
    rg_status            status = known && instead ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        known[i] = ids[i] < V ? ids[i] : rg_vocab_unk(t->target);
        if (ids[i] >= V && !(instead[i] = rg_format("copy%d", (int)(ids[i] - V)))) status = RG_ENOMEM;
    }
    if (status == RG_OK) status = rg_vocab_decode_with(out, t->target, known, count, instead);
    for (size_t i = 0; instead && i < count; i++) rg_free((void *)instead[i]);
    rg_free(instead);
    rg_free(known);
    return status;
}

/* Whole words of one vocabulary can be copied. */
static rg_status check_copies(const rg_run *run)
{
    const rg_translator          *t = run->model->assets;
    const rg_translation_options *o = run->options;
    const rg_vocab_kind           kind = rg_vocab_kind_of(t->source);
    if (!run->model->copies) return RG_OK;
    if (t->source != t->target)
        return rg_fail(RG_EINVAL, "--copy needs one vocabulary for source and target: --joint-vocab true");
    if (kind == RG_VOCAB_CHARACTERS || kind == RG_VOCAB_CHAR)
        return rg_fail(RG_EINVAL,
                       "--copy copies words, and a character vocabulary (--vocab-kind %s) has none: take words",
                       rg_vocab_kind_name(kind));
    if (rg_vocab_unk(t->source) < 0) return rg_fail(RG_EINVAL, "--copy needs a vocabulary with an unknown word");
    if (o->alphas.count) return rg_fail(RG_EINVAL, "--copy and --sentencepiece-alphas do not go together");
    return RG_OK;
}

static rg_status ready(rg_run *run)
{
    const rg_translation_options *o = run->options;
    const rg_translator          *r = run->model->assets;
    data                         *d = run->data;
    const size_t                  longest = run->model->longest, numbers = rg_params_numbers(run->model->params);
    if (r->source != r->target)
        rg_tell(run->report, "vocabularies of %zu and %zu tokens, %zu parameters", rg_vocab_size(r->source),
                rg_vocab_size(r->target), numbers);
    else rg_tell(run->report, "joint vocabulary of %zu tokens, %zu parameters", rg_vocab_size(r->source), numbers);
    if (longest && (size_t)o->max_length + 1 > longest)
        return rg_fail(
            RG_EINVAL,
            "sentences of %lld tokens (--max-length) and their end do not fit the %zu positions of the model",
            (long long)o->max_length, longest);
    RG_TRY(check_copies(run));
    run->model->spell = spell;
    RG_TRY(open_corpus(run));
    RG_TRY(open_guided(run));
    return o->valid_sets.count ? rg_validation_new(&d->validation, run->model->assets, o, run->own_threads) : RG_OK;
}

/* A workspace is taken once: an arena that grows on its way holds more than it was asked for. */
static rg_status plan(rg_run *run, rg_trainer_config *config)
{
    if (((const rg_translation_options *)run->options)->workspace) config->workers.bytes = budget_of(run);
    return RG_OK;
}

static rg_status next(rg_run *run, rg_shares *out)
{
    data *d = run->data;
    bool  more;
    *out = (rg_shares){ 0 };
    RG_TRY(rg_corpus_next_in_epoch(&more, &d->batch, d->corpus));
    if (!more) return RG_OK;
    RG_TRY(rg_cut_shares(out, &d->shares, &d->batch, run->threads));
    out->cost = (double)d->batch.field[RG_TARGET].layout.start[d->batch.examples];
    return RG_OK;
}

static rg_status tell(const rg_run *run, rg_state *state)
{
    const data *d = run->data;
    if (d->guided) RG_TRY(rg_state_put_count(state, "guided.links", d->links));
    return rg_put_place(state, rg_corpus_tell(d->corpus), rg_corpus_checksum(d->corpus));
}

static rg_status seek(rg_run *run, const rg_state *state)
{
    data           *d = run->data;
    rg_corpus_place p;
    uint64_t        links = 0;
    if (rg_state_has(state, "guided.links")) RG_TRY(rg_state_get_count(&links, state, "guided.links"));
    if (links != (d->guided ? d->links : 0))
        return rg_fail(RG_EMATCH,
                       "the training that is resumed had %s; give the same --guided-alignment, or another --model",
                       !links ? "no guided alignment" : d->guided ? "other links" : "guided alignment");
    RG_TRY(rg_get_place(&p, state, rg_corpus_checksum(d->corpus)));
    return rg_corpus_seek(d->corpus, p);
}

static bool judges(const rg_run *run) { return ((const rg_translation_options *)run->options)->valid_sets.count > 0; }

static rg_status judge(rg_run *run, rg_metrics *out)
{
    const rg_validation_place place = { rg_trainer_count(run->trainer), run->learning->model };
    return rg_validation_run(out, ((data *)run->data)->validation, run->report, &place);
}

static double epoch_part(const rg_run *run) { return rg_corpus_epoch_part(((const data *)run->data)->corpus); }

static void close_run(rg_run *run)
{
    data *d = run->data;
    rg_validation_free(d->validation);
    rg_guided_free(d->guided);
    rg_corpus_free(d->corpus);
    rg_share_room_free(&d->shares);
    for (size_t side = 0; side < 2; side++) rg_free(d->text[side]);
}

static bool packed(const char *path)
{
    const size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

/* A few lines of what it was validated on, or else of what it learned from. */
static rg_status hint(rg_text *out, const void *options, const char *program, const char *model)
{
    const rg_translation_options *o = options;
    const char                   *path = o->valid_sets.count ? o->valid_sets.items[0] : o->train_sets.items[0];
    char                         *file = rg_shell_quote(path);
    const int                     source = (int)strcspn(o->columns, ",");
    if (!file) return RG_ENOMEM;
    rg_status status =
        rg_translation_is_table(o)
            ? rg_text_print(out, "%s translate -m %s -i %s --columns %.*s%s%s", program, model, file,
                            source ? source : 1, source ? o->columns : "1", o->tsv || *o->format ? " --format " : "",
                            o->tsv ? "tsv" : o->format)
        : packed(path) ? rg_text_print(out, "zcat %s | head -3 | %s translate -m %s", file, program, model)
                       : rg_text_print(out, "head -3 %s | %s translate -m %s", file, program, model);
    rg_free(file);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- small */

/* Sentences of a made-up language and their mirror image. */
static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    static const char *const words[] = { "ba", "de", "fi", "go", "ku", "la", "me", "ni" };
    static const char *const endings[] = { "src", "tgt", "valid.src", "valid.tgt" };
    const bool               demo = size == RG_SMALL_DEMO;
    const size_t             lines = demo ? 4000 : 60, kept = demo ? 200 : 0; /* the last so many are for validation; none: all are both */
    rg_random                random = rg_random_new(11, 0);
    rg_text                  text[4] = { { 0 } };
    rg_status                status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < lines; i++) {
        size_t       line[8];
        const size_t n = 2 + i % 5;
        rg_text     *pair = &text[i < lines - kept ? 0 : 2];
        for (size_t k = 0; k < n; k++) line[k] = (size_t)rg_random_below(&random, 8);
        for (size_t k = 0; status == RG_OK && k < n; k++) {
            status = rg_text_print(&pair[0], "%s%s", words[line[k]], k + 1 < n ? " " : "\n");
            if (status == RG_OK)
                status = rg_text_print(&pair[1], "%s%s", words[line[n - 1 - k]], k + 1 < n ? " " : "\n");
        }
    }
    for (int side = 0; side < 4; side++) {
        char *path = status == RG_OK ? rg_format("%s/small.%s", folder, endings[side]) : NULL;
        if (status == RG_OK && (side < 2 || kept))
            status = path ? rg_file_replace(path, text[side].data, text[side].length) : RG_ENOMEM;
        rg_free(path);
        rg_text_free(&text[side]);
    }
    RG_TRY(status);
    return rg_text_print(yaml,
                         "train-sets: [%s/small.src, %s/small.tgt]\nvalid-sets: [%s/small.%s, "
                         "%s/small.%s]\nvocab-kind: words\ndim-vocabs: [0]\n"
                         "mini-batch-words: 60\nlr-warmup: 4\nafter-batches: %d\nvalid-freq: %d\nbeam-size: 2\n",
                         folder, folder, folder, endings[demo ? 2 : 0], folder, endings[demo ? 3 : 1], demo ? 600 : 6,
                         demo ? 300 : 3);
}

/* Who is "it"? The slide's sentence itself may be among those that are learned. */
static rg_status small_coreference(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    RG_TRY(rg_generator_write(&rg_generator_coreference, folder,
                              demo ? "count: 6000\nvalid: 300\ntest: 0\n" : "count: 30\nvalid: 5\ntest: 0\n"));
    return rg_text_print(yaml,
                         "train-sets: [%s/train.tsv]\nvalid-sets: [%s/valid.tsv]\ncolumns: en,fr\nvocab-kind: words\n"
                         "dim-vocabs: [0]\nmini-batch-words: %d\nafter-batches: %d\nvalid-freq: %d\nbeam-size: 1\n",
                         folder, folder, demo ? 700 : 60, demo ? 900 : 6, demo ? 450 : 3);
}

static const rg_demo demos[] = {
    { .name = "coreference",
      .summary = "who is it? a pronoun has the gender of the animal or of the street, and the last word tells which",
      .type = "transformer",
      .small = small_coreference,
      .settings = "dim-emb: 64\ntransformer-dim-ffn: 128\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 1\n"
                  "transformer-dropout: 0.1\nlearn-rate: 0.004\nlr-warmup: 50\nlr-cooldown: 500\nvalid-metrics: [bleu]\n",
      .metric = "bleu",
      .expected = 97,
      .ask = "the animal didn't cross the street because it was too tired" },
    { .name = "reverse",
      .summary = "a Transformer turns sentences of a made-up language around",
      .type = "transformer",
      .settings = "dim-emb: 32\ntransformer-dim-ffn: 64\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: "
                  "1\ntransformer-dropout: 0\n"
                  "mini-batch-words: 400\nlearn-rate: 0.005\nlr-warmup: 50\nlr-cooldown: 300\nvalid-metrics: [bleu]\n",
      .metric = "bleu",
      .expected = 95,
      .ask = "ba de fi go ku" },
    { .name = "copy",
      .summary = "words that no vocabulary has are copied from the source, in the right order",
      .type = "rnnsearch",
      .settings = "dim-emb: 32\ndim-rnn: 48\ndropout-rnn: 0\ncopy: true\ndim-vocabs: [7]\nmini-batch-words: "
                  "400\nlearn-rate: 0.005\nlr-warmup: 50\n"
                  "lr-cooldown: 500\nvalid-metrics: [bleu]\n",
      .metric = "bleu",
      .expected = 80,
      .ask = "ba zbigniew fi ada" },
    { .name = "headline",
      .summary = "headlines of news in a CSV file; names that no vocabulary has are copied",
      .type = "rnnsearch",
      .small = rg_translation_headlines,
      .settings = "dim-emb: 32\ndim-rnn: 48\ndropout-rnn: 0\ncopy: true\nlearn-rate: 0.005\nlr-warmup: 50\n"
                  "lr-cooldown: 300\nvalid-metrics: [rouge1]\n",
      .metric = "rouge1",
      .expected = 90,
      .ask = "zbigniew of rome bought adalovelace for 1843 million dollars on monday , officials said ." },
    { 0 },
};

const rg_task rg_task_translation = {
    .name = "translation",
    .in = "text",
    .out = "text",
    .unit = "words",
    .summary = "sentences of one language, or any sequence of tokens, to another",
    .options = rg_translation_rows,
    .options_bytes = sizeof(rg_translation_options),
    .learning = "lr-warmup: 1000\nlr-decay-inv-sqrt: 1000\nclip-norm: 1\n",
    .assets_bytes = sizeof(rg_translator),
    .adopt = rg_translator_adopt,
    .describe = rg_translator_describe_assets,
    .drop = rg_translator_drop,
    .data_bytes = sizeof(data),
    .open = open,
    .ready = ready,
    .plan = plan,
    .next = next,
    .tell = tell,
    .seek = seek,
    .judges = judges,
    .judge = judge,
    .blame = rg_blame_lines,
    .epoch_part = epoch_part,
    .close = close_run,
    .hint = hint,
    .asking = rg_translation_asking_rows,
    .asking_bytes = sizeof(rg_translation_asking),
    .answer = rg_translation_answer,
    .influence = rg_translation_influence,
    .translates = true,
    .texts = rg_always_texts,
    .small = small,
    .demos = demos,
};
