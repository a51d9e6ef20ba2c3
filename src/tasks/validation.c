/* validation.c - BLEU, chrF and exact matches of real translations, perplexity of the references. */
#include "tasks/validation.h"
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

static bool is_ours(const char *name) { return strcmp(name, "perplexity") == 0 || strcmp(name, "exact") == 0; }

/* A name that nobody knows should not wait for the first validation to be told so. */
static rg_status check_metrics(const rg_list *metrics)
{
    for (size_t i = 0; i < metrics->count; i++) {
        rg_scorer *scorer = NULL;
        if (is_ours(metrics->items[i])) continue;
        rg_status status = rg_scorer_new(&scorer, metrics->items[i], NULL);
        rg_scorer_free(scorer);
        if (status != RG_OK) return rg_fail_in(status, "--valid-metrics (which also knows perplexity and exact): ");
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
    rg_status            status = check_metrics(&options->metrics);
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

static rg_status perplexity(double *out, rg_validation *v, const rg_train_report *report)
{
    const rg_model *m = v->translator->model;
    double          nats = 0, labels = 0;
    for (bool more = true; more;) {
        rg_batch batch;
        RG_TRY(rg_check_stop(report));
        RG_TRY(rg_corpus_next_in_epoch(&more, &batch, v->corpus));
        if (!more) break;
        rg_tape_reset(v->tape, 0);
        const rg_loss loss = m->system->loss(v->tape, m, &batch); /* not learning: no dropout, no smoothing */
        RG_TRY(rg_tape_status(v->tape));
        nats += (double)rg_tensor_at(loss.sum, 0, 0);
        labels += loss.count;
    }
    *out = rg_perplexity(nats, (uint64_t)labels);
    return RG_OK;
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

rg_status rg_validation_run(rg_metrics *out, rg_validation *v, const rg_train_report *report, uint64_t step)
{
    rg_session_config c = RG_SESSION_CONFIG_DEFAULT;
    c.search.beam = (size_t)v->options->beam;
    c.search.normalize = v->options->normalize;
    c.search.length_factor = v->options->max_length_factor;
    const rg_translated *results = NULL;
    for (size_t i = 0; i < v->options->metrics.count; i++) {
        const char *name = v->options->metrics.items[i];
        double      value = 0;
        if (strcmp(name, "perplexity") == 0) {
            RG_TRY(perplexity(&value, v, report));
            RG_TRY(rg_metrics_add(out, name, value, false));
            continue;
        }
        if (!results) {
            RG_TRY(translate_all(&results, v, &c, report));
            show_samples(v, results, report, step);
        }
        RG_TRY(strcmp(name, "exact") == 0 ? exact(&value, v, results) : scored(&value, name, v, results));
        RG_TRY(rg_metrics_add(out, name, value, strcmp(name, "ter") != 0));
    }
    return RG_OK;
}
