/* multi30k_judge.c - a trained run on test2016: beam 5, BLEU with and without case, chrF, perplexity, BLEU by source length, operations.
 *
 * `regard train` leaves the last (or averaged) weights and those that were best in validation; validation decides between them. */
#include "cli/reproduce/multi30k.h"
#include "regard/metrics.h"
#include "regard/translate.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

const uint32_t multi30k_edges[MULTI30K_CLASSES - 1] = { 7, 9, 11, 13, 16, 20 };

rg_status multi30k_file(char **out, const multi30k_job *job, const char *set, const char *language)
{
    static const char *const folders[] = { "", "/multi30k" }, *const endings[] = { ".gz", "" };
    for (size_t i = 0; i < 4; i++) {
        bool there = false;
        char *path = *out = rg_format("%s%s/%s.%s%s", job->data, folders[i / 2], set, language, endings[i % 2]);
        if (!path) return RG_ENOMEM;
        if (rg_file_exists(&there, path) == RG_OK && there) return RG_OK;
        rg_free(path);
    }
    *out = NULL;
    return rg_fail(RG_EIO, "%s has no %s.%s.gz (nor without .gz, nor in a folder multi30k): --data names the folder of Multi30k", job->data,
                   set, language);
}

/* -------------------------------------------------------------------------------------------------------- the test set */

typedef struct {
    rg_line_list source, reference;
} pairs;

static void free_pairs(pairs *p)
{
    rg_line_list_free(&p->source);
    rg_line_list_free(&p->reference);
}

static rg_status read_side(rg_line_list *out, const multi30k_job *job, const char *set, const char *language)
{
    char *path;
    RG_TRY(multi30k_file(&path, job, set, language));
    rg_status status = rg_line_list_read(out, path, -1);
    rg_free(path);
    return status;
}

static rg_status read_pairs(pairs *p, const multi30k_job *job, const multi30k_row *row, const char *set)
{
    *p = (pairs){ 0 };
    RG_TRY(read_side(&p->source, job, set, row->source));
    RG_TRY(read_side(&p->reference, job, set, row->target));
    if (p->source.count == p->reference.count && p->source.count) return RG_OK;
    return rg_fail(RG_EMATCH, "%s has %zu lines in %s and %zu in %s", set, p->source.count, row->source, p->reference.count, row->target);
}

static uint32_t words_in(const char *line)
{
    uint32_t count = 0;
    for (; *line; line++) count += *line != ' ' && (line[1] == ' ' || line[1] == '\0');
    return count;
}

/* ------------------------------------------------------------------------------------------------------- translating */

/* All sources with beam 5; *out borrowed from the session. */
static rg_status translate(const rg_translated **out, rg_session *session, const pairs *p, double normalize, double length_factor)
{
    rg_session_config c = RG_SESSION_CONFIG_DEFAULT;
    c.search.beam = 5;
    c.search.normalize = normalize;
    c.search.length_factor = length_factor;
    return rg_session_run(out, session, &c, (const char *const *)p->source.line, p->source.count, 1, NULL);
}

static rg_status open_session(rg_translator **translator, rg_session **session, const multi30k_job *job, const char *path)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    RG_TRY(rg_translator_load(translator, path));
    return rg_session_new(session, translator, 1, job->threads ? (int)job->threads : cores > 0 ? (int)cores : 1);
}

static rg_status score(rg_scorer **out, const char *name, bool lowercase, const pairs *p, const rg_translated *results)
{
    rg_scorer_config c = RG_SCORER_CONFIG_DEFAULT;
    c.lowercase = lowercase;
    RG_TRY(rg_scorer_new(out, name, &c));
    for (size_t i = 0; i < p->source.count; i++) {
        const char *reference = p->reference.line[i];
        RG_TRY(rg_scorer_add(*out, results[i].count ? results[i].best[0].text : "", &reference, 1));
    }
    return RG_OK;
}

static rg_status score_number(double *out, const char *name, bool lowercase, const pairs *p, const rg_translated *results)
{
    rg_scorer *scorer = NULL;
    rg_status  status = score(&scorer, name, lowercase, p, results);
    *out = status == RG_OK ? rg_scorer_score(scorer) : 0;
    rg_scorer_free(scorer);
    return status;
}

/* BLEU and its classes of source length. */
static rg_status score_classes(multi30k_result *r, const pairs *p, const rg_translated *results)
{
    rg_scorer *scorer = NULL;
    size_t     counts[MULTI30K_CLASSES];
    uint32_t  *length = rg_alloc_array(p->source.count, sizeof *length);
    rg_status  status = length ? score(&scorer, "bleu", true, p, results) : RG_ENOMEM;
    for (size_t i = 0; length && i < p->source.count; i++) length[i] = words_in(p->source.line[i]);
    if (status == RG_OK) status = rg_scorer_by_length(r->class_bleu, counts, scorer, length, multi30k_edges, MULTI30K_CLASSES - 1);
    for (size_t b = 0; status == RG_OK && b < MULTI30K_CLASSES; b++) r->class_lines[b] = (double)counts[b];
    if (status == RG_OK) r->bleu = rg_scorer_score(scorer);
    rg_scorer_free(scorer);
    rg_free(length);
    return status;
}

static rg_status write_output(const char *folder, const char *language, const rg_translated *results, size_t count)
{
    char     *path = rg_format("%s/test2016.%s", folder, language);
    rg_file  *file = NULL;
    rg_status status = path ? rg_file_replace_begin(&file, path) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        const char *text = results[i].count ? results[i].best[0].text : "";
        status = rg_file_write(file, text, strlen(text));
        if (status == RG_OK) status = rg_file_write(file, "\n", 1);
    }
    if (status == RG_OK) status = rg_file_replace_commit(file);
    else rg_file_replace_abandon(file);
    rg_free(path);
    return status;
}

/* Of the two files the one with more BLEU in validation; *out is freed by the caller. */
static rg_status choose(char **out, double *best, const multi30k_job *job, const multi30k_row *row, const char *folder, double normalize,
                        double length_factor)
{
    static const char *const names[] = { "model.safetensors", "model.best-bleu.safetensors" };
    pairs                    p;
    rg_status                status = read_pairs(&p, job, row, "val");
    *out = NULL;
    *best = -1;
    for (size_t i = 0; status == RG_OK && i < 2; i++) {
        rg_translator       *translator = NULL;
        rg_session          *session = NULL;
        const rg_translated *results;
        double               bleu = 0;
        bool                 there = false;
        char                *path = rg_format("%s/%s", folder, names[i]);
        status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
        if (status == RG_OK && there) status = open_session(&translator, &session, job, path);
        if (status == RG_OK && there) status = translate(&results, session, &p, normalize, length_factor);
        if (status == RG_OK && there) status = score_number(&bleu, "bleu", true, &p, results);
        rg_session_free(session);
        rg_translator_free(translator);
        if (status == RG_OK && there && bleu > *best) {
            rg_free(*out);
            *out = path;
            *best = bleu;
        } else rg_free(path);
    }
    free_pairs(&p);
    if (status == RG_OK && !*out) status = rg_fail(RG_EIO, "%s has no model.safetensors", folder);
    return status;
}

/* ------------------------------------------------------------------------------------------------ passes over the test set */

/* The teacher-forced pass of every pair: nats and labels on a real tape, operations on a dry one. */
static rg_status pass(double *nats, double *labels, double *flops, const rg_model *m, rg_corpus *corpus, bool dry)
{
    const rg_tape_config config = { .record = false, .dry = dry };
    rg_tape             *tape = NULL;
    rg_status            status = rg_tape_new(&tape, &config);
    *nats = *labels = *flops = 0;
    for (bool more = true; status == RG_OK && more;) {
        rg_batch batch;
        if ((status = rg_corpus_next_in_epoch(&more, &batch, corpus)) != RG_OK || !more) break;
        rg_tape_reset(tape, 0);
        const double before = rg_tape_get_cost(tape).flops;
        const rg_loss loss = m->system->loss(tape, m, &batch);
        if ((status = rg_tape_status(tape)) != RG_OK) break;
        *flops += rg_tape_get_cost(tape).flops - before;
        *labels += loss.count;
        if (!dry) *nats += (double)rg_tensor_at(loss.sum, 0, 0);
    }
    rg_tape_free(tape);
    return status;
}

static rg_status measure_passes(multi30k_result *r, const multi30k_job *job, const multi30k_row *row, const rg_translator *t,
                                const pairs *p)
{
    rg_corpus_config c = RG_CORPUS_CONFIG_DEFAULT;
    rg_corpus       *corpus = NULL;
    char            *source = NULL, *target = NULL;
    double           words = 0, nats = 0, labels = 0, flops = 0, ignored;
    c.max_length = 0;
    c.mini_batch = 1000;
    c.mini_batch_words = 2000;
    c.shuffle = false;
    rg_status status = multi30k_file(&source, job, "test_2016_flickr", row->source);
    if (status == RG_OK) status = multi30k_file(&target, job, "test_2016_flickr", row->target);
    if (status == RG_OK) status = rg_corpus_open(&corpus, &c, source, target, t->source, t->target);
    if (status == RG_OK) status = pass(&nats, &labels, &ignored, t->model, corpus, false);
    if (status == RG_OK) status = pass(&ignored, &labels, &flops, t->model, corpus, true);
    for (size_t i = 0; i < p->reference.count; i++) words += words_in(p->reference.line[i]);
    r->perplexity = rg_perplexity(nats, (uint64_t)labels);
    r->word_perplexity = exp(nats / fmax(1, words));
    r->flops_word = flops / fmax(1, words);
    r->flops_training = 3 * flops / fmax(1, labels); /* of one piece; backward is two products for each of forward's */
    rg_corpus_free(corpus);
    rg_free(source);
    rg_free(target);
    return status;
}

static rg_status measure(multi30k_result *r, const multi30k_job *job, const multi30k_row *row, const char *folder,
                         rg_translator *translator, rg_session *session, double normalize, double length_factor)
{
    pairs                p;
    const rg_translated *results = NULL;
    rg_status            status = read_pairs(&p, job, row, "test_2016_flickr");
    const double         begun = rg_now();
    if (status == RG_OK) status = translate(&results, session, &p, normalize, length_factor);
    r->translate_seconds = rg_now() - begun;
    if (status == RG_OK) status = write_output(folder, row->target, results, p.source.count);
    if (status == RG_OK) status = score_classes(r, &p, results);
    if (status == RG_OK) status = score_number(&r->bleu_cased, "bleu", false, &p, results);
    if (status == RG_OK) status = score_number(&r->chrf, "chrf", false, &p, results);
    if (status == RG_OK) status = measure_passes(r, job, row, translator, &p);
    r->parameters = (double)rg_params_numbers(translator->model->params);
    free_pairs(&p);
    return status;
}

rg_status multi30k_judge(multi30k_result *out, const multi30k_job *job, const multi30k_row *row, const char *folder, double normalize,
                         double length_factor)
{
    rg_translator *translator = NULL;
    rg_session    *session = NULL;
    char          *path = NULL;
    rg_status      status = choose(&path, &out->valid_bleu, job, row, folder, normalize, length_factor);
    if (status == RG_OK) status = open_session(&translator, &session, job, path);
    if (status == RG_OK) status = measure(out, job, row, folder, translator, session, normalize, length_factor);
    rg_session_free(session);
    rg_translator_free(translator);
    rg_free(path);
    return status;
}
