/* validation.c - BLEU, chrF, exact matches and a script's verdict on real translations, cross-entropy of the references,
 * and how evenly experts are used on the way. */
#include "tasks/validation.h"
#include "tasks/expert_load.h"
#include "tasks/validation_script.h"
#include "regard/metrics.h"
#include "regard/reader.h"

#include <stdatomic.h>
#include <string.h>

struct rg_validation {
    rg_translator                *translator;
    const rg_translation_options *options;
    rg_session                   *session;
    rg_corpus                    *corpus; /* in file order, for perplexity */
    rg_tape                      *tape;
    rg_line_list                  source, reference;
};

/* ------------------------------------------------------------------------------------------------------- reading */

static rg_status read_pairs(rg_validation *v)
{
    const rg_list *sets = &v->options->valid_sets;
    if (rg_translation_is_table(v->options)) {
        const rg_reader_config table = rg_translation_table(v->options);
        RG_TRY(rg_line_list_read_table(&v->source, sets->items[0], &table, RG_SOURCE));
        RG_TRY(rg_line_list_read_table(&v->reference, sets->items[0], &table, RG_TARGET));
    } else {
        RG_TRY(rg_line_list_read(&v->source, sets->items[0], -1));
        RG_TRY(rg_line_list_read(&v->reference, sets->items[1], -1));
    }
    if (v->source.count != v->reference.count)
        return rg_fail(RG_EMATCH, "%s has %zu lines, %s has %zu", sets->items[0], v->source.count, sets->items[1],
                       v->reference.count);
    return v->source.count ? RG_OK : rg_fail(RG_EINVAL, "%s has no lines", sets->items[0]);
}

static rg_status open_corpus(rg_validation *v)
{
    const rg_list   *sets = &v->options->valid_sets;
    rg_corpus_config c = RG_CORPUS_CONFIG_DEFAULT;
    c.max_length = v->translator->model->longest ? v->translator->model->longest - 1 : 0;
    c.mini_batch_words = 2000;
    c.mini_batch = 1000;
    c.shuffle = false;
    c.copy = v->translator->model->copies;
    const rg_translator   *t = v->translator;
    const rg_reader_config table = rg_translation_table(v->options);
    return rg_translation_is_table(v->options)
               ? rg_corpus_open_table(&v->corpus, &c, sets->items[0], &table, t->source, t->target)
               : rg_corpus_open(&v->corpus, &c, sets->items[0], sets->items[1], t->source, t->target);
}

/* Metrics of their own kind: what they need, and what is better. */
typedef enum { CROSS_ENTROPY, TRANSLATED } needs;
typedef struct {
    const char *name;
    needs       needs;
    bool        higher, script;
} own_metric;

static const own_metric own_metrics[] = {
    { "perplexity", CROSS_ENTROPY, false, false },  { "cross-entropy", CROSS_ENTROPY, false, false },
    { "ce-mean", CROSS_ENTROPY, false, false },     { "ce-mean-words", CROSS_ENTROPY, false, false },
    { "ce-sum", CROSS_ENTROPY, false, false },      { "exact", TRANSLATED, true, false },
    { "bleu-segmented", TRANSLATED, true, false },  { "bleu-detok", TRANSLATED, true, false },
    { "translation", TRANSLATED, true, true },      { "valid-script", CROSS_ENTROPY, true, true },
    { "load-cv", CROSS_ENTROPY, false, false },     { "load-most", CROSS_ENTROPY, false, false },
    { "load-least", CROSS_ENTROPY, true, false },
};

static const own_metric *find_own(const char *name)
{
    for (size_t i = 0; i < sizeof own_metrics / sizeof *own_metrics; i++)
        if (strcmp(own_metrics[i].name, name) == 0) return &own_metrics[i];
    return NULL;
}

/* A name that nobody knows should not wait for the first validation to be told so. */
static rg_status check_metrics(const rg_translation_options *o)
{
    const rg_list *metrics = &o->metrics;
    for (size_t i = 0; i < metrics->count; i++) {
        rg_scorer        *scorer = NULL;
        const own_metric *own = find_own(metrics->items[i]);
        if (own && own->script && !o->script[0])
            return rg_fail(RG_EINVAL, "--valid-metrics %s: which command prints it? --valid-script-path", own->name);
        if (own) continue;
        rg_status status = rg_scorer_new(&scorer, metrics->items[i], NULL);
        rg_scorer_free(scorer);
        if (status != RG_OK)
            return rg_fail_in(status, "--valid-metrics (which also knows perplexity, cross-entropy, ce-mean-words, "
                                      "ce-sum, exact, bleu-segmented, translation, valid-script, load-cv, load-most and load-least): ");
    }
    return metrics->count ? RG_OK : rg_fail(RG_EINVAL, "--valid-metrics names none");
}

rg_status rg_validation_new(rg_validation **out, rg_translator *translator, const rg_translation_options *options,
                            int threads)
{
    *out = NULL;
    rg_validation *v = rg_alloc_zero(sizeof *v);
    if (!v) return RG_ENOMEM;
    *v = (rg_validation){ .translator = translator, .options = options };
    const rg_tape_config config = { .record = false };
    rg_status            status = check_metrics(options);
    if (status == RG_OK) status = read_pairs(v);
    if (status == RG_OK) status = open_corpus(v);
    if (status == RG_OK) status = rg_session_new(&v->session, &v->translator, 1, threads);
    if (status == RG_OK) status = rg_tape_new(&v->tape, &config);
    if (status != RG_OK) {
        rg_validation_free(v);
        return status;
    }
    *out = v;
    return RG_OK;
}

void rg_validation_free(rg_validation *v)
{
    if (!v) return;
    rg_line_list_free(&v->source);
    rg_line_list_free(&v->reference);
    rg_tape_free(v->tape);
    rg_session_free(v->session);
    rg_corpus_free(v->corpus);
    rg_free(v);
}

/* ------------------------------------------------------------------------------------------------------- measuring */

/* One pass over the references, for all metrics that come from it. */
typedef struct {
    bool           done;
    double         nats, labels, pairs;
    rg_expert_load experts;
} entropy;

static rg_status measure_entropy(entropy *e, rg_validation *v, const rg_train_report *report)
{
    const rg_model *m = v->translator->model;
    rg_tape_set_watcher(v->tape, &e->experts.watcher);
    for (bool more = !e->done; more;) {
        rg_batch batch;
        RG_TRY(rg_check_stop(report));
        RG_TRY(rg_corpus_next_in_epoch(&more, &batch, v->corpus));
        if (!more) break;
        rg_tape_reset(v->tape, 0);
        const rg_loss loss = m->system->loss(v->tape, m, &batch); /* not learning: no dropout, no smoothing */
        RG_TRY(rg_tape_status(v->tape));
        e->nats += (double)rg_tensor_at(loss.sum, 0, 0);
        e->labels += loss.count;
        e->pairs += (double)batch.examples;
    }
    e->done = true;
    return RG_OK;
}

/* Nats of a token, of a pair (cross-entropy, as Marian's), of all; or exp of the first. */
static double entropy_as(const entropy *e, const char *name)
{
    if (strcmp(name, "perplexity") == 0) return rg_perplexity(e->nats, (uint64_t)e->labels);
    if (strcmp(name, "ce-mean-words") == 0) return e->labels > 0 ? e->nats / e->labels : 0;
    if (strcmp(name, "ce-sum") == 0) return e->nats;
    return e->pairs > 0 ? e->nats / e->pairs : 0;
}

/* load-cv, load-most, load-least */
static rg_status load_as(double *out, const entropy *e, const char *name)
{
    rg_expert_figures f;
    const rg_status   status = rg_expert_load_figures(&f, &e->experts);
    *out = name[5] == 'c' ? f.cv : name[5] == 'm' ? f.most : f.least;
    return status == RG_OK ? RG_OK : rg_fail_in(status, "--valid-metrics %s: ", name);
}

static rg_status exact(double *out, const rg_validation *v, const rg_translated *results)
{
    size_t    same = 0;
    rg_text   norm = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < v->source.count; i++) {
        rg_text_clear(&norm);
        status = rg_vocab_normalize(&norm, v->translator->target, v->reference.line[i], strlen(v->reference.line[i]));
        same += results[i].count && strcmp(results[i].best[0].text, rg_text_c(&norm)) == 0;
    }
    rg_text_free(&norm);
    *out = 100.0 * (double)same / (double)v->source.count;
    return status;
}

/* A model that writes in lower case is judged in lower case. */
static rg_status scored(double *out, const char *name, const rg_validation *v, const rg_translated *results)
{
    rg_scorer       *scorer;
    rg_scorer_config config = RG_SCORER_CONFIG_DEFAULT;
    config.lowercase = rg_vocab_form_of(v->translator->target) == RG_TEXT_LOWER;
    RG_TRY(rg_scorer_new(&scorer, name, &config));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < v->source.count; i++) {
        const char *reference = v->reference.line[i];
        status = rg_scorer_add(scorer, results[i].count ? results[i].best[0].text : "", &reference, 1);
    }
    *out = rg_scorer_score(scorer);
    rg_scorer_free(scorer);
    return status;
}

/* Tokens of the vocabulary apart by blanks: what BLEU of segmented text counts. */
static rg_status segment(rg_text *out, const rg_vocab *vocab, const char *line)
{
    rg_ids    ids = { 0 };
    rg_status status = rg_vocab_encode(&ids, NULL, vocab, line, strlen(line));
    rg_text_clear(out);
    for (size_t i = 0; status == RG_OK && i < ids.count; i++)
        status = rg_text_print(out, "%s%s", i ? " " : "", rg_vocab_piece(vocab, ids.data[i]));
    rg_ids_free(&ids);
    return status;
}

static rg_status segmented(double *out, const rg_validation *v, const rg_translated *results)
{
    rg_scorer       *scorer;
    rg_scorer_config config = RG_SCORER_CONFIG_DEFAULT;
    rg_text          answer = { 0 }, reference = { 0 };
    const rg_vocab  *vocab = v->translator->target;
    config.tokenizer = RG_TOKENIZE_NONE;
    RG_TRY(rg_scorer_new(&scorer, "bleu", &config));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < v->source.count; i++) {
        status = segment(&answer, vocab, results[i].count ? results[i].best[0].text : "");
        if (status == RG_OK) status = segment(&reference, vocab, v->reference.line[i]);
        const char *words = rg_text_c(&reference);
        if (status == RG_OK) status = rg_scorer_add(scorer, rg_text_c(&answer), &words, 1);
    }
    *out = rg_scorer_score(scorer);
    rg_text_free(&answer);
    rg_text_free(&reference);
    rg_scorer_free(scorer);
    return status;
}

/* Answers as a file, one a line: where --valid-translation-output says, else beside the model. */
static rg_status write_answers(rg_text *name, const rg_validation *v, const rg_translated *results,
                               const rg_validation_place *place)
{
    const char *form = v->options->translation_output;
    rg_file    *file = NULL;
    RG_TRY(*form ? rg_script_file_name(name, form, &place->counts)
                 : rg_text_print(name, "%s.valid.txt", *place->model ? place->model : "model"));
    RG_TRY(rg_file_open(&file, rg_text_c(name), "wb"));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < v->source.count; i++) {
        const char *text = results[i].count ? results[i].best[0].text : "";
        status = rg_file_write(file, text, strlen(text));
        if (status == RG_OK) status = rg_file_write(file, "\n", 1);
    }
    const rg_status closed = rg_file_close(file);
    return status != RG_OK ? status : closed;
}

static void show_samples(const rg_validation *v, const rg_translated *results, const rg_train_report *report,
                         uint64_t step)
{
    const size_t n = (size_t)v->options->samples;
    for (size_t k = 0; report && report->sample && k < n && k < v->source.count; k++) {
        const size_t i = k * (v->source.count / (n ? n : 1));
        report->sample(report->context, step, v->source.line[i], v->reference.line[i],
                       results[i].count ? results[i].best[0].text : "");
    }
}

/* The search asks, from several threads: once told to stop, it stays told. */
typedef struct {
    const rg_train_report *report;
    atomic_bool            told;
} stopping;

static bool stop_search(void *context, uint64_t number)
{
    stopping *s = context;
    (void)number;
    if (!atomic_load(&s->told) && rg_told_to_stop(s->report)) atomic_store(&s->told, true);
    return atomic_load(&s->told);
}

static rg_status translate_all(const rg_translated **out, rg_validation *v, rg_session_config *c,
                               const rg_train_report *report)
{
    stopping s = { .report = report };
    c->search.stop = report && report->stop ? stop_search : NULL;
    c->search.stop_context = &s;
    const rg_status status =
        rg_session_run(out, v->session, c, (const char *const *)v->source.line, v->source.count, 0, NULL);
    c->search.stop = NULL;
    c->search.stop_context = NULL; /* it ends here */
    RG_TRY(status);
    return atomic_load(&s.told) ? rg_fail(RG_ESTOP, "asked to stop while validation lines were translated") : RG_OK;
}

/* What the metrics of one validation share. */
typedef struct {
    const rg_translated   *results;
    entropy                entropy;
    rg_text                file; /* where the answers are; empty: nowhere */
    const rg_train_report *report;
    rg_validation_place    place;
} shared;

static rg_status translate_once(shared *s, rg_validation *v)
{
    const rg_translation_options *o = v->options;
    rg_session_config             c = RG_SESSION_CONFIG_DEFAULT;
    if (s->results) return RG_OK;
    c.search.beam = (size_t)o->beam;
    c.search.normalize = o->normalize;
    c.search.length_factor = o->max_length_factor;
    RG_TRY(translate_all(&s->results, v, &c, s->report));
    show_samples(v, s->results, s->report, s->place.counts.updates);
    if (!o->translation_output[0] && !o->script[0]) return RG_OK;
    return write_answers(&s->file, v, s->results, &s->place);
}

/* A script that dies with us was stopped, not wrong. */
static rg_status scripted(double *out, const rg_validation *v, const shared *s, bool with_file)
{
    const rg_translation_options *o = v->options;
    const rg_status               status =
        rg_script_metric(out, o->script, &o->script_args, with_file ? rg_text_c(&s->file) : NULL);
    return status != RG_OK && rg_told_to_stop(s->report) ? rg_check_stop(s->report) : status;
}

static rg_status measure(double *out, rg_validation *v, shared *s, const char *name)
{
    const own_metric *own = find_own(name);
    if (own && own->script && own->needs != TRANSLATED) return scripted(out, v, s, false);
    if (own && own->needs == CROSS_ENTROPY) {
        RG_TRY(measure_entropy(&s->entropy, v, s->report));
        if (strncmp(name, "load-", 5) == 0) return load_as(out, &s->entropy, name);
        *out = entropy_as(&s->entropy, name);
        return RG_OK;
    }
    RG_TRY(translate_once(s, v));
    if (own && own->script) return scripted(out, v, s, true);
    if (strcmp(name, "exact") == 0) return exact(out, v, s->results);
    if (strcmp(name, "bleu-segmented") == 0) return segmented(out, v, s->results);
    return scored(out, strcmp(name, "bleu-detok") == 0 ? "bleu" : name, v, s->results);
}

rg_status rg_validation_run(rg_metrics *out, rg_validation *v, const rg_train_report *report,
                            const rg_validation_place *place)
{
    shared    s = { .report = report, .place = *place };
    rg_status status = RG_OK;
    rg_expert_load_init(&s.entropy.experts);
    for (size_t i = 0; status == RG_OK && i < v->options->metrics.count; i++) {
        const char       *name = v->options->metrics.items[i];
        const own_metric *own = find_own(name);
        double            value = 0;
        status = measure(&value, v, &s, name);
        if (status == RG_OK) status = rg_metrics_add(out, name, value, own ? own->higher : strcmp(name, "ter") != 0);
    }
    rg_tape_set_watcher(v->tape, NULL);
    rg_expert_load_fini(&s.entropy.experts);
    rg_text_free(&s.file);
    return status;
}
