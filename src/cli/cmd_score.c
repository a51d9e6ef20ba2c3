/* cmd_score.c - how likely a model finds given translations: log p(target | source) of every pair of lines, by the
 * pass training uses. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/answers.h"
#include "cli/command.h"
#include "cli/line_faults.h"
#include "cli/weights.h"
#include "regard/copies.h"
#include "regard/translate.h"

typedef struct {
    rg_list models;
    int64_t mini_batch, threads;
    bool    json, word_scores, normalize, quiet;
    rg_weights_choice keep;
} settings;

static const rg_option options[] = {
    { RG_OPTION_LIST, "models", offsetof(settings, models), "", "model file; several are an ensemble", 'm', NULL },
    { RG_OPTION_BOOL, "word-scores", offsetof(settings, word_scores), "false", "append log p of each token, </s> last",
      0, NULL },
    { RG_OPTION_BOOL, "normalize", offsetof(settings, normalize), "false",
      "divide by the number of tokens, </s> among them", 'n', NULL },
    { RG_OPTION_BOOL, "json", offsetof(settings, json), "false", "one JSON object a line", 0, NULL },
    { RG_OPTION_INT, "mini-batch", offsetof(settings, mini_batch), "64", "pairs scored together", 0, "[1,100000]" },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: as many as there are cores", 0,
      "[0,1024]" },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "no remarks and no summary on standard error", 0,
      NULL },
    RG_WEIGHTS_OPTIONS(settings, keep),
    RG_OPTION_END
};

typedef struct {
    const settings *s;
    rg_translator **translators;
    size_t          count; /* of translators */
    rg_team        *team;
    rg_forced      *forced;
    rg_lines       *source, *target;

    /* the batch: pieces of both sides one after another */
    rg_ids    source_ids, target_ids, previous;
    rg_open_words *extra; /* models that copy: words the vocabulary does not know */
    rg_copies copies;
    int32_t  *source_start, *target_start;
    uint64_t *numbers;
    size_t    pairs;

    uint64_t lines;
    double   nats, labels;
} scoring;

enum { BATCH_PIECES = 4000 }; /* of either side */

static rg_status open_all(scoring *w, const rg_call *call)
{
    const settings *s = w->s;
    if (!s->models.count) return rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors");
    const bool   together = !call->words.count && s->models.count > 2; /* -m MODEL SOURCE TARGET: the list took them all */
    const size_t n = s->models.count - (together ? 2 : 0);
    char *const *files = together ? s->models.items + n : call->words.items;
    if (!together && call->words.count != 2)
        return rg_fail(RG_EINVAL, "give two files, source and target, not %zu", call->words.count);
    const rg_model *models[64];
    if (n > 64) return rg_fail(RG_ELIMIT, "%zu models; an ensemble has at most 64", n);
    if (!(w->translators = rg_alloc_zero(n * sizeof *w->translators))) return RG_ENOMEM;
    for (; w->count < n; w->count++) {
        RG_TRY(
            rg_translator_load_as(&w->translators[w->count], s->models.items[w->count], rg_weights_chosen(&s->keep)));
        models[w->count] = w->translators[w->count]->model;
        const rg_translator *a = w->translators[0], *b = w->translators[w->count];
        if (rg_vocab_checksum(a->source) != rg_vocab_checksum(b->source) ||
            rg_vocab_checksum(a->target) != rg_vocab_checksum(b->target)) {
            w->count++; /* it is loaded: to be freed */
            return rg_fail(RG_EMATCH, "%s has other vocabularies than %s: an ensemble shares them",
                           s->models.items[w->count - 1], s->models.items[0]);
        }
    }
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    RG_TRY(rg_team_new(&w->team, s->threads ? (int)s->threads : cores > 0 ? (int)cores : 1));
    if (models[0]->copies) RG_TRY(rg_open_words_new(&w->extra));
    RG_TRY(rg_forced_new(&w->forced, models, n, w->team));
    w->source_start = rg_alloc_zero(((size_t)s->mini_batch + 1) * sizeof *w->source_start);
    w->target_start = rg_alloc_zero(((size_t)s->mini_batch + 1) * sizeof *w->target_start);
    w->numbers = rg_alloc_zero(((size_t)s->mini_batch + 1) * sizeof *w->numbers);
    if (!w->source_start || !w->target_start || !w->numbers) return RG_ENOMEM;
    RG_TRY(rg_lines_open(&w->source, files[0], NULL));
    return rg_lines_open(&w->target, files[1], NULL);
}

/* What the decoder is given before each piece: <s>, then the pieces but the last. */
static rg_status add_previous(scoring *w, size_t from)
{
    RG_TRY(rg_ids_add(&w->previous, (int32_t)rg_model_size(w->translators[0]->model, "bos")));
    for (size_t i = from; i + 1 < w->target_ids.count; i++) RG_TRY(rg_ids_add(&w->previous, w->target_ids.data[i]));
    return RG_OK;
}

static rg_status add_pair(scoring *w, const rg_line *source, const rg_line *target)
{
    const rg_translator *t = w->translators[0];
    const size_t         from = w->target_ids.count;
    if (w->extra) RG_TRY(rg_encode_open(&w->source_ids, t->source, w->extra, source->text, source->bytes));
    else RG_TRY(rg_vocab_encode(&w->source_ids, NULL, t->source, source->text, source->bytes));
    if (rg_vocab_eos(t->source) >= 0) RG_TRY(rg_ids_add(&w->source_ids, rg_vocab_eos(t->source)));
    if (w->extra) RG_TRY(rg_encode_open(&w->target_ids, t->target, w->extra, target->text, target->bytes));
    else RG_TRY(rg_vocab_encode(&w->target_ids, NULL, t->target, target->text, target->bytes));
    RG_TRY(rg_ids_add(&w->target_ids, rg_vocab_eos(t->target)));
    RG_TRY(add_previous(w, from));
    if (w->source_ids.count > INT32_MAX || w->target_ids.count > INT32_MAX)
        return rg_fail(RG_ELIMIT, "a batch of %zu and %zu tokens", w->source_ids.count, w->target_ids.count);
    w->numbers[w->pairs++] = source->number;
    w->source_start[w->pairs] = (int32_t)w->source_ids.count;
    w->target_start[w->pairs] = (int32_t)w->target_ids.count;
    return RG_OK;
}

/* The next pairs into the batch; *more is false at the end of both files. */
static rg_status fill(bool *more, scoring *w)
{
    w->pairs = w->source_ids.count = w->target_ids.count = w->previous.count = 0;
    for (*more = true;
         *more && w->pairs < (size_t)w->s->mini_batch && w->source_ids.count < BATCH_PIECES && w->target_ids.count < BATCH_PIECES;) {
        rg_line source, target;
        bool    another;
        RG_TRY(rg_lines_next(more, &source, w->source));
        RG_TRY(rg_lines_next(&another, &target, w->target));
        if (*more != another)
            return rg_fail(RG_EMATCH, "%s ends after %llu lines, %s has more",
                           rg_lines_name(*more ? w->target : w->source),
                           (unsigned long long)(rg_lines_count(*more ? w->target : w->source)),
                           rg_lines_name(*more ? w->source : w->target));
        if (*more && !w->s->quiet) {
            rg_line_faults_say(w->source, &source);
            rg_line_faults_say(w->target, &target);
        }
        if (*more) RG_TRY(add_pair(w, &source, &target));
    }
    return RG_OK;
}

static void print_json(const scoring *w, const int32_t *tokens, const double *word, size_t n, double log_p,
                       double score)
{
    const rg_vocab *vocab = w->translators[0]->target;
    json_t         *pieces = json_array(), *words = json_array();
    for (size_t i = 0; i < n; i++) {
        const size_t V = rg_vocab_size(vocab), token = (size_t)tokens[i];
        const char  *piece = token < V ? rg_vocab_piece(vocab, tokens[i]) : rg_open_words_get(w->extra, token - V);
        json_array_append_new(pieces, json_string(i + 1 < n ? piece : "</s>"));
        json_array_append_new(words, json_real(word[i]));
    }
    json_t *object = json_pack("{s:I, s:f, s:f, s:o, s:o}", "line", (json_int_t)w->lines, "score", score, "log_p",
                               log_p, "pieces", pieces, "word_scores", words);
    json_dumpf(object, stdout, JSON_COMPACT);
    json_decref(object);
}

static void print_pair(scoring *w, const int32_t *tokens, const double *word, size_t n)
{
    double log_p = 0;
    for (size_t k = 0; k < n; k++) log_p += word[k];
    const double score = w->s->normalize ? log_p / (double)n : log_p;
    w->lines++;
    w->nats -= log_p;
    w->labels += (double)n;
    if (w->s->json) print_json(w, tokens, word, n, log_p, score);
    else printf("%.6f", score);
    for (size_t k = 0; w->s->word_scores && !w->s->json && k < n; k++) printf("%s%.5f", k ? " " : " ||| ", word[k]);
    putchar('\n');
}

static rg_status score_batch(scoring *w)
{
    rg_batch       batch = { .examples = w->pairs,
                             .fields = 2,
                             .field = { [RG_SOURCE] = { .layout = { .groups = w->pairs, .start = w->source_start },
                                                        .ids = w->source_ids.data },
                                        [RG_TARGET] = { .layout = { .groups = w->pairs, .start = w->target_start },
                                                        .ids = w->target_ids.data,
                                                        .previous = w->previous.data } },
                             .lines = w->numbers };
    const double  *word;
    if (w->extra) RG_TRY(rg_copies_map(&batch, &w->copies, w->translators[0]->target));
    RG_TRY(rg_forced_run(&word, w->forced, &batch));
    for (size_t i = 0; i < w->pairs; i++)
        print_pair(w, w->target_ids.data + w->target_start[i], word + w->target_start[i],
                   (size_t)(w->target_start[i + 1] - w->target_start[i]));
    return fflush(stdout) == 0 ? RG_OK : rg_fail(RG_EIO, "cannot write the scores");
}

static void close_all(scoring *w)
{
    rg_lines_close(w->source);
    rg_lines_close(w->target);
    rg_forced_free(w->forced);
    rg_free(w->source_start);
    rg_free(w->target_start);
    rg_free(w->numbers);
    rg_ids_free(&w->source_ids);
    rg_ids_free(&w->target_ids);
    rg_ids_free(&w->previous);
    rg_open_words_free(w->extra);
    rg_copies_fini(&w->copies);
    rg_team_free(w->team);
    for (size_t i = 0; i < w->count; i++) rg_translator_free(w->translators[i]);
    rg_free(w->translators);
}

/* Models that do not translate: their task scores, lines of an answer, a tab and an input. */
static rg_status score_answers(const rg_task *task, const rg_call *call)
{
    const settings   *s = call->options;
    const bool        together = s->models.count == 2 && !call->words.count; /* -m MODEL FILE: the list took both */
    const rg_list     none = { 0 };
    rg_answer_printer printer = { .json = s->json };
    rg_model         *model;
    if (!task->score)
        return rg_fail(RG_EMATCH, "%s: a model for '%s' (%s -> %s) scores no answers", s->models.items[0], task->name,
                       task->in, task->out);
    if ((s->models.count > 1 && !together) || call->words.count > 1)
        return rg_fail(RG_EINVAL, "one model and one file of lines");
    RG_TRY(rg_model_load_as(&model, s->models.items[0], NULL, rg_weights_chosen(&s->keep)));
    const rg_question q = { .words = &none,
                            .input = together ? s->models.items[1] : call->words.count ? call->words.items[0] : "-",
                            .word_scores = s->word_scores,
                            .threads = s->threads ? (int)s->threads : 1,
                            .sink = rg_answer_printer_sink(&printer) };
    const rg_status status = task->score(model, &q);
    rg_answer_printer_fini(&printer);
    rg_model_free(model);
    return status;
}

static rg_status run(rg_call *call)
{
    const rg_list *models = &((const settings *)call->options)->models;
    bool           there = false;
    if (models->count) RG_TRY(rg_file_exists(&there, models->items[0]));
    const rg_task *task = there ? rg_task_of_file(models->items[0]) : NULL; /* what cannot be read, loading tells */
    if (task && !task->translates) return score_answers(task, call);
    scoring   w = { .s = call->options };
    rg_status status = open_all(&w, call);
    for (bool more = true; status == RG_OK && more;) {
        status = fill(&more, &w);
        if (status == RG_OK && w.pairs) status = score_batch(&w);
    }
    if (status == RG_OK && !w.s->quiet) status = rg_line_faults_sum(w.source);
    if (status == RG_OK && !w.s->quiet) status = rg_line_faults_sum(w.target);
    if (status == RG_OK && !w.s->quiet && w.labels > 0)
        fprintf(stderr, "%llu pairs, %.0f tokens, log p %.4f, perplexity %.4f\n", (unsigned long long)w.lines, w.labels,
                -w.nats, exp(w.nats / w.labels));
    close_all(&w);
    return status;
}

const rg_command rg_command_score = {
    .name = "score",
    .summary = "log p of given answers: of translations, of labels, of running text",
    .arguments = "SOURCE TARGET | FILE",
    .details =
        "Prints log p(target | source) in nats for every pair of lines of the two files, </s> included: what the model "
        "would have given that answer had search found it. Standard error gets the sum and the perplexity per subword. "
        "A classifier "
        "scores one FILE (or standard input) of lines label TAB text: the label and its log p. A language model scores "
        "lines of "
        "running text, one after another: log p and perplexity of each, and of all on standard error.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
