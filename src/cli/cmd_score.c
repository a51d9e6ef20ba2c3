/* cmd_score.c - how likely a model finds given translations: log p(target | source) of every pair of lines, by forced decoding. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "regard/translate.h"

typedef struct {
    rg_list models;
    int64_t mini_batch, threads;
    bool    json, word_scores, normalize, quiet;
} settings;

static const rg_option options[] = {
    { RG_OPTION_LIST, "models", offsetof(settings, models), "", "model file; several are an ensemble", 'm', NULL },
    { RG_OPTION_BOOL, "word-scores", offsetof(settings, word_scores), "false", "append log p of each piece, </s> last", 0, NULL },
    { RG_OPTION_BOOL, "normalize", offsetof(settings, normalize), "false", "divide by the number of pieces, </s> among them", 'n', NULL },
    { RG_OPTION_BOOL, "json", offsetof(settings, json), "false", "one JSON object a line", 0, NULL },
    { RG_OPTION_INT, "mini-batch", offsetof(settings, mini_batch), "64", "pairs scored together", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: as many as there are cores", 0, NULL },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "no summary on standard error", 0, NULL },
    RG_OPTION_END
};

typedef struct {
    const settings *s;
    rg_translator **translators;
    size_t          count; /* of translators */
    rg_team        *team;
    rg_search      *search;
    rg_lines       *source, *target;

    /* the batch: source pieces one after another, and a list of target pieces for each pair */
    rg_ids   ids, *forced;
    int32_t *start;
    size_t   pairs;

    uint64_t lines;
    double   nats, labels;
} scoring;

static rg_status open_all(scoring *w, const rg_call *call)
{
    const settings *s = w->s;
    if (!s->models.count) return rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors");
    const bool   together = !call->words.count && s->models.count > 2; /* -m MODEL SOURCE TARGET: the list took them all */
    const size_t n = s->models.count - (together ? 2 : 0);
    char *const *files = together ? s->models.items + n : call->words.items;
    if (!together && call->words.count != 2) return rg_fail(RG_EINVAL, "give two files, source and target, not %zu", call->words.count);
    if (s->mini_batch < 1 || s->mini_batch > 100000 || s->threads < 0 || s->threads > 1024) return rg_fail(RG_EINVAL, "batches and threads must be positive");
    const rg_model *models[64];
    if (n > 64) return rg_fail(RG_ELIMIT, "%zu models; an ensemble has at most 64", n);
    if (!(w->translators = rg_alloc_zero(n * sizeof *w->translators))) return RG_ENOMEM;
    for (; w->count < n; w->count++) {
        RG_TRY(rg_translator_load(&w->translators[w->count], s->models.items[w->count]));
        models[w->count] = w->translators[w->count]->model;
        const rg_translator *a = w->translators[0], *b = w->translators[w->count];
        if (rg_vocab_checksum(a->source) != rg_vocab_checksum(b->source) || rg_vocab_checksum(a->target) != rg_vocab_checksum(b->target)) {
            w->count++; /* it is loaded: to be freed */
            return rg_fail(RG_EMATCH, "%s has other vocabularies than %s: an ensemble shares them", s->models.items[w->count - 1], s->models.items[0]);
        }
    }
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    RG_TRY(rg_team_new(&w->team, s->threads ? (int)s->threads : cores > 0 ? (int)cores : 1));
    RG_TRY(rg_search_new(&w->search, models, n, w->team));
    w->forced = rg_alloc_zero((size_t)s->mini_batch * sizeof *w->forced);
    w->start = rg_alloc_zero(((size_t)s->mini_batch + 1) * sizeof *w->start);
    if (!w->forced || !w->start) return RG_ENOMEM;
    RG_TRY(rg_lines_open(&w->source, files[0], NULL));
    return rg_lines_open(&w->target, files[1], NULL);
}

/* The next pairs into the batch; *more is false at the end of both files. */
static rg_status fill(bool *more, scoring *w)
{
    const rg_translator *t = w->translators[0];
    w->pairs = 0;
    w->ids.count = 0;
    for (*more = true; *more && w->pairs < (size_t)w->s->mini_batch;) {
        rg_line source, target;
        bool    another;
        RG_TRY(rg_lines_next(more, &source, w->source));
        RG_TRY(rg_lines_next(&another, &target, w->target));
        if (*more != another)
            return rg_fail(RG_EMATCH, "%s ends after %llu lines, %s goes on", rg_lines_name(*more ? w->target : w->source),
                           (unsigned long long)(rg_lines_count(*more ? w->target : w->source)), rg_lines_name(*more ? w->source : w->target));
        if (!*more) break;
        rg_ids *forced = &w->forced[w->pairs];
        forced->count = 0;
        RG_TRY(rg_vocab_encode(&w->ids, NULL, t->source, source.text, source.bytes));
        RG_TRY(rg_ids_add(&w->ids, rg_vocab_eos(t->source)));
        RG_TRY(rg_vocab_encode(forced, NULL, t->target, target.text, target.bytes));
        RG_TRY(rg_ids_add(forced, rg_vocab_eos(t->target)));
        if (w->ids.count > INT32_MAX) return rg_fail(RG_ELIMIT, "a batch of %zu pieces", w->ids.count);
        w->start[++w->pairs] = (int32_t)w->ids.count;
    }
    return RG_OK;
}

static void print_json(const scoring *w, const rg_answer *a, double score)
{
    const rg_vocab *vocab = w->translators[0]->target;
    json_t         *pieces = json_array(), *words = json_array();
    for (size_t i = 0; i <= a->length; i++) {
        json_array_append_new(pieces, json_string(i < a->length ? rg_vocab_piece(vocab, a->tokens[i]) : "</s>"));
        json_array_append_new(words, json_real(a->word[i]));
    }
    json_t *object = json_pack("{s:I, s:f, s:f, s:o, s:o}", "line", (json_int_t)w->lines, "score", score, "log_p", a->log_p, "pieces", pieces, "word_scores", words);
    json_dumpf(object, stdout, JSON_COMPACT);
    json_decref(object);
}

static rg_status score_batch(scoring *w)
{
    rg_search_config  c = RG_SEARCH_CONFIG_DEFAULT;
    const rg_layout   layout = { .groups = w->pairs, .start = w->start };
    const rg_answers *answers;
    c.normalize = 0;
    RG_TRY(rg_search_run(&answers, w->search, &c, w->ids.data, &layout, NULL, w->forced));
    for (size_t i = 0; i < w->pairs; i++) {
        const rg_answer *a = &answers[i].answer[0];
        const double     labels = (double)a->length + 1, score = w->s->normalize ? a->log_p / labels : a->log_p;
        w->lines++;
        w->nats -= a->log_p;
        w->labels += labels;
        if (w->s->json) print_json(w, a, score);
        else printf("%.6f", score);
        for (size_t k = 0; w->s->word_scores && !w->s->json && k <= a->length; k++) printf("%s%.5f", k ? " " : " ||| ", a->word[k]);
        putchar('\n');
    }
    return fflush(stdout) == 0 ? RG_OK : rg_fail(RG_EIO, "cannot write the scores");
}

static void close_all(scoring *w)
{
    rg_lines_close(w->source);
    rg_lines_close(w->target);
    for (int64_t i = 0; w->forced && i < w->s->mini_batch; i++) rg_ids_free(&w->forced[i]);
    rg_free(w->forced);
    rg_free(w->start);
    rg_ids_free(&w->ids);
    rg_search_free(w->search);
    rg_team_free(w->team);
    for (size_t i = 0; i < w->count; i++) rg_translator_free(w->translators[i]);
    rg_free(w->translators);
}

static rg_status run(rg_call *call)
{
    scoring   w = { .s = call->options };
    rg_status status = open_all(&w, call);
    for (bool more = true; status == RG_OK && more;) {
        status = fill(&more, &w);
        if (status == RG_OK && w.pairs) status = score_batch(&w);
    }
    if (status == RG_OK && !w.s->quiet && w.labels > 0)
        fprintf(stderr, "%llu pairs, %.0f pieces, log p %.4f, perplexity %.4f\n", (unsigned long long)w.lines, w.labels, -w.nats, exp(w.nats / w.labels));
    close_all(&w);
    return status;
}

const rg_command rg_command_score = {
    .name = "score",
    .summary = "log p of given translations, a number a line",
    .arguments = "SOURCE TARGET",
    .details = "Prints log p(target | source) in nats for every pair of lines of the two files, </s> included: what the model would have given that "
               "answer had search found it. Standard error gets the sum and the perplexity a piece.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
