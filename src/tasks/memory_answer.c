/* memory_answer.c - a model that learned puzzles answers new ones, one row per step of an answer; the record is of
 * one sequence, by its number or the worst. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/asked_explain.h"
#include "tasks/memory_task.h"

enum { MOST_BYTES = 1 << 30 }; /* that answering one sequence may take */

const rg_option rg_memory_asking_rows[] = {
    { RG_OPTION_INT, "length", offsetof(rg_memory_asking, length), "0",
      "length of the puzzles (recall: items); 0: the longest it learned from", 0, "[0,10000]" },
    { RG_OPTION_INT, "sequences", offsetof(rg_memory_asking, count), "1", "how many puzzles", 0, "[1,inf)" },
    { RG_OPTION_STRING, "attention-of", offsetof(rg_memory_asking, recorded), "0",
      "the sequence that is recorded: its number, or worst (most wrong bits)", 0, NULL },
    { RG_OPTION_INT, "seed", offsetof(rg_memory_asking, seed), "1", "of what is drawn", 0, "[0,inf)" },
    RG_OPTION_END
};

typedef struct {
    const rg_model         *model;
    const rg_memory_asking *asking;
    const rg_sink          *sink;
    rg_puzzle_config        puzzle;
    rg_puzzle_batch         batch;
    rg_tape                *tape;
    const rg_explain_options *explain;
    size_t                  longest; /* steps of the longest sequence there is known to be memory for */
} answering;

/* What the answers came to: of one sequence, or of all. */
typedef struct {
    size_t wrong, all, lost; /* bits wrong, bits, sequences with a wrong bit */
    double surprise;         /* -log p of the targets                        */
} tally;

/* ---------------------------------------------------------------------------------------------------------- answers */

static rg_status bits(rg_text *out, const rg_real *x, size_t n)
{
    rg_text_clear(out);
    for (size_t i = 0; i < n; i++) RG_TRY(rg_text_add_string(out, x[i] > (rg_real)0.5 ? "1" : "0"));
    return RG_OK;
}

static rg_status give_row(const rg_sink *sink, size_t sequence, size_t step, const rg_real *target, const rg_real *said,
                          size_t n, size_t bad)
{
    rg_text   want = { 0 }, got = { 0 };
    rg_status status = bits(&want, target, n);
    if (status == RG_OK) status = bits(&got, said, n);
    const rg_value cells[] = { { .number = (double)sequence },
                               { .number = (double)step },
                               { .text = rg_text_c(&want) },
                               { .text = rg_text_c(&got) },
                               { .number = (double)bad } };
    if (status == RG_OK) status = sink->row(sink->context, cells);
    rg_text_free(&want);
    rg_text_free(&got);
    return status;
}

static rg_status give_answers(tally *out, const answering *x, size_t sequence, const rg_real *chances)
{
    const rg_puzzle_batch *b = &x->batch;
    *out = (tally){ .all = b->answers * b->out };
    for (size_t i = 0; i < b->answers; i++) {
        const rg_real *target = b->target + i * b->out, *said = chances + i * b->out;
        size_t         bad = 0;
        for (size_t j = 0; j < b->out; j++) {
            bad += (said[j] > (rg_real)0.5) != (target[j] > (rg_real)0.5);
            out->surprise -= log(fmax(1e-30, target[j] > (rg_real)0.5 ? (double)said[j] : 1 - (double)said[j]));
        }
        RG_TRY(give_row(x->sink, sequence, b->steps - b->answers + i, target, said, b->out, bad));
        out->wrong += bad;
    }
    out->lost = out->wrong > 0;
    return RG_OK;
}

static bool worse(const tally *a, const tally *b)
{
    return a->wrong != b->wrong ? a->wrong > b->wrong : a->surprise > b->surprise;
}

static rg_status answer(rg_real **out_chances, answering *x, rg_memory_traces *w)
{
    const rg_puzzle_batch *b = &x->batch;
    rg_tape               *t = x->tape;
    rg_tape_reset(t, 0);
    rg_tape_set_watcher(t, w ? rg_memory_traces_watcher(w) : NULL);
    const rg_tensor *y = rg_sigmoid(t, x->model->system->predict(t, x->model, b));
    rg_tape_set_watcher(t, NULL);
    RG_TRY(rg_tape_status(t));
    if (w) RG_TRY(rg_memory_traces_status(w));
    rg_real *chances = *out_chances = rg_alloc_array(b->answers * b->out, sizeof *chances);
    if (!chances) return RG_ENOMEM;
    for (size_t i = 0; i < b->answers * b->out; i++) {
        chances[i] = rg_tensor_at(y, i / b->out, i % b->out);
        if (!isfinite(chances[i]))
            return rg_fail(RG_ENUMBER, "answer %zu is not finite; the model's weights give infinite numbers",
                           i / b->out);
    }
    return RG_OK;
}

/* A sequence keeps the memory of every step, several times when the heads are watched. Before it is allocated, a dry
 * pass over the first steps says how much that is; all steps take the same. */
static rg_status check_room(const answering *x)
{
    enum { SAMPLE = 512 };
    const rg_tape_config dry = { .record = false, .dry = true };
    rg_tape             *t = NULL;
    rg_puzzle_batch      some = x->batch;
    rg_memory_traces    *w = NULL;
    if (some.steps > SAMPLE) some.steps = SAMPLE;
    if (some.answers >= some.steps) some.answers = some.steps - 1;
    const int32_t start[] = { 0, (int32_t)some.steps };
    some.layout.start = start;
    rg_status status = rg_tape_new(&t, &dry);
    if (status == RG_OK && x->sink->record) status = rg_memory_traces_new(&w, x->batch.steps);
    if (status == RG_OK) {
        rg_tape_set_watcher(t, w ? rg_memory_traces_watcher(w) : NULL);
        x->model->system->predict(t, x->model, &some);
        status = rg_tape_status(t);
    }
    const double bytes = t ? (double)rg_tape_get_cost(t).bytes / (double)some.steps * (double)x->batch.steps : 0;
    if (status == RG_OK && bytes > MOST_BYTES)
        status = rg_fail(
            RG_ELIMIT,
            "a sequence of %zu steps takes %.0f MiB with this model, the limit is %d: ask for a shorter one (--length)",
            x->batch.steps, bytes / (1 << 20), MOST_BYTES >> 20);
    rg_memory_traces_free(w);
    rg_tape_free(t);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- run */

/* Neither training nor validation reaches these numbers. */
static rg_status draw(answering *x, size_t sequence)
{
    return rg_puzzle_draw(&x->batch, &x->puzzle, (uint64_t)x->asking->seed, UINT64_MAX / 2 + sequence, 0, 1);
}

static rg_status answer_one(tally *out, answering *x, size_t sequence)
{
    rg_real *chances = NULL;
    RG_TRY(draw(x, sequence));
    if (x->batch.steps > x->longest) RG_TRY(check_room(x));
    if (x->batch.steps > x->longest) x->longest = x->batch.steps;
    rg_status status = answer(&chances, x, NULL);
    if (status == RG_OK) status = give_answers(out, x, sequence, chances);
    rg_free(chances);
    return status;
}

/* Which steps an answer rests on: rows are the steps of the answer. */
static rg_status explain(rg_record *r, const answering *x, const rg_real *chances)
{
    const rg_puzzle_batch *b = &x->batch;
    const size_t           A = b->answers, n = A * b->out;
    rg_real               *said = rg_alloc_array(n + 1, sizeof *said);
    char(*text)[24] = rg_alloc_array(A + 1, sizeof *text);
    const char **name = rg_alloc_array(A + 1, sizeof *name);
    rg_subject   s = { .model = x->model,
                       .batch = b,
                       .rows = b->steps,
                       .inputs = b->steps,
                       .answers = A,
                       .outputs = A,
                       .bits = said,
                       .against = -1,
                       .col_labels = rg_labels__named(r, "steps"),
                       .hypothesis = -1 };
    rg_status    status = said && text && name ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && x->explain->against && *x->explain->against)
        status = rg_fail(RG_EMATCH, "--against: answers are vectors of bits, no words");
    for (size_t i = 0; status == RG_OK && i < n; i++) said[i] = chances[i] > (rg_real)0.5;
    for (size_t i = 0; status == RG_OK && i < A; i++) {
        snprintf(text[i], sizeof *text, "%zu", b->steps - A + i);
        name[i] = text[i];
    }
    if (status == RG_OK) status = rg_record_add_labels(&s.row_labels, r, "answers", RG_LABEL_TOKEN, name, A);
    if (status == RG_OK) status = rg_explain(r, &s, x->explain);
    rg_free(said);
    rg_free(text);
    rg_free(name);
    return status;
}

/* Once more, with the heads watched; answer_one() has checked that there is room. */
static rg_status record(answering *x, size_t sequence)
{
    const bool        recall = strcmp(x->puzzle.kind, "recall") == 0;
    char              title[160];
    rg_real          *chances = NULL;
    rg_memory_traces *w = NULL;
    rg_record        *r = NULL;
    snprintf(title, sizeof title, "%s, %s of %s%zu%s, sequence %zu", x->model->system->name, x->puzzle.kind,
             recall ? "" : "length ", x->puzzle.max_length, recall ? " items" : "", sequence);
    RG_TRY(draw(x, sequence));
    rg_status status = rg_memory_traces_new(&w, x->batch.steps);
    if (status == RG_OK) status = answer(&chances, x, w);
    if (status == RG_OK) status = rg_memory_record(&r, title, w, &x->batch, chances);
    if (status == RG_OK && x->explain) status = explain(r, x, chances);
    if (status == RG_OK) status = x->sink->record(x->sink->context, r);
    rg_record_free(r);
    rg_memory_traces_free(w);
    rg_free(chances);
    return status;
}

/* Which sequence to record: a number, or SIZE_MAX for the worst. */
static rg_status choose(size_t *out, const rg_memory_asking *a)
{
    char *end;
    *out = SIZE_MAX;
    if (strcmp(a->recorded, "worst") == 0) return RG_OK;
    const long long n = strtoll(a->recorded, &end, 10);
    if (end == a->recorded || *end || n < 0 || n >= a->count)
        return rg_fail(RG_EINVAL,
                       "--attention-of %s: it takes worst, or the number of a sequence, 0 .. %lld (--sequences %lld)",
                       a->recorded, (long long)a->count - 1, (long long)a->count);
    *out = (size_t)n;
    return RG_OK;
}

static void note(const rg_sink *sink, const tally *sum, const tally *worst, size_t worst_is, int64_t count)
{
    char line[200];
    snprintf(line, sizeof line, "%zu of %zu bits wrong (%.2f %%), %zu of %lld sequences lost (%.2f %%)", sum->wrong,
             sum->all, sum->all ? 100 * (double)sum->wrong / (double)sum->all : 0, sum->lost, (long long)count,
             100 * (double)sum->lost / (double)count);
    if (sink->note) sink->note(sink->context, line);
    snprintf(line, sizeof line, "the worst is sequence %zu: %zu of %zu bits wrong", worst_is, worst->wrong, worst->all);
    if (sink->note && sum->lost) sink->note(sink->context, line);
}

static rg_status answer_all(answering *x)
{
    static const char *const names[] = { "sequence", "step", "target", "answer", "wrong" };
    const rg_memory_asking  *a = x->asking;
    tally                    sum = { 0 }, worst = { 0 };
    size_t                   recorded, worst_is = 0;
    RG_TRY(choose(&recorded, a));
    RG_TRY(x->sink->columns(x->sink->context, names, sizeof names / sizeof *names));
    for (size_t i = 0; i < (size_t)a->count; i++) {
        tally one;
        RG_TRY(answer_one(&one, x, i));
        sum.wrong += one.wrong;
        sum.all += one.all;
        sum.lost += one.lost;
        if (i == 0 || worse(&one, &worst)) {
            worst = one;
            worst_is = i;
        }
    }
    note(x->sink, &sum, &worst, worst_is, a->count);
    return x->sink->record ? record(x, recorded == SIZE_MAX ? worst_is : recorded) : RG_OK;
}

/* The puzzle it learned, at the length that is asked for. */
rg_status rg_memory_answer(const rg_model *m, const rg_question *q)
{
    const rg_memory_assets *assets = m->assets;
    answering x = { .model = m, .asking = q->options, .sink = q->sink, .puzzle = rg_memory_puzzle(&assets->options) };
    const rg_tape_config    config = { .record = false };
    x.explain = q->explain;
    if (x.asking->length) x.puzzle.max_length = (size_t)x.asking->length;
    x.puzzle.min_length = x.puzzle.max_length;
    RG_TRY(rg_puzzle_check(&x.puzzle));
    RG_TRY(rg_tape_new(&x.tape, &config));
    rg_status status = answer_all(&x);
    rg_puzzle_free(&x.batch);
    rg_tape_free(x.tape);
    return status;
}
