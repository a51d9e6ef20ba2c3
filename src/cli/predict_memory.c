/* predict_memory.c - a model that learned puzzles answers new ones; the record of one of them (by number, or the worst)
 * holds what went in and out and where every head stood, step by step: maps input, output, target, adds, reads (steps x
 * numbers), read and write (steps x slots, one per head). */
#include "cli/predict_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regard/view.h"
#include "tasks/memory_task.h"

/* ------------------------------------------------------------------------------------------------------------- watching */

/* One watch point, its rows gathered step by step. */
typedef struct {
    const char *name;
    size_t      width, steps; /* numbers a step, steps seen */
    rg_real    *x;
} trace;

enum { HEADS, ADDS, READS, TRACES };
enum { MOST_BYTES = 1 << 30 }; /* that answering one sequence may take */

typedef struct {
    trace     trace[TRACES];
    size_t    most; /* steps there will be */
    size_t    heads;
    rg_status status;
} watching;

static trace *trace_of(watching *w, const char *name)
{
    for (size_t i = 0; i < TRACES; i++)
        if (strcmp(w->trace[i].name, name) == 0) return &w->trace[i];
    return NULL;
}

static bool wants(void *context, const char *name) { return trace_of(context, name) != NULL; }

/* Weights come as (slots, heads), the rest as one row; kept as they come. */
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    watching    *w = context;
    trace       *t = trace_of(w, name);
    const size_t rows = rg_tensor_rows(x), cols = rg_tensor_cols(x);
    (void)reach;
    if (w->status != RG_OK || t->steps >= w->most) return;
    if (!t->x) {
        t->width = rows * cols;
        t->x = rg_alloc_array(w->most * t->width, sizeof *t->x);
        if (t == &w->trace[HEADS]) w->heads = cols;
    }
    if (!t->x || rows * cols != t->width) {
        w->status = t->x ? rg_fail(RG_ESHAPE, "%s: %zu numbers in one step, %zu in another", name, rows * cols, t->width) : RG_ENOMEM;
        return;
    }
    for (size_t i = 0; i < t->width; i++) t->x[t->steps * t->width + i] = rg_tensor_at(x, i / cols, i % cols);
    t->steps++;
}

/* --------------------------------------------------------------------------------------------------------------- record */

/* Labels 0 .. n-1, or from 1. */
static rg_status number_labels(size_t *out, rg_record *r, const char *name, rg_label_kind kind, size_t n, size_t from)
{
    char (*text)[24] = rg_alloc_array(n + 1, sizeof *text);
    const char **list = rg_alloc_array(n + 1, sizeof *list);
    rg_status    status = text && list ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        snprintf(text[i], sizeof text[i], "%zu", i + from);
        list[i] = text[i];
    }
    if (status == RG_OK) status = rg_record_add_labels(out, r, name, kind, list, n);
    rg_free(list);
    rg_free(text);
    return status;
}

/* rows x cols numbers of steps as a map with columns of its own. */
static rg_status add_numbers(rg_record *r, const char *name, size_t steps, const rg_real *x, size_t cols)
{
    size_t             labels;
    const rg_map_place place = { name, -1, -1, -1, -1 };
    RG_TRY(number_labels(&labels, r, name, RG_LABEL_TOKEN, cols, 1));
    return rg_record_add_map(NULL, r, place, steps, labels, x, cols);
}

/* Weights of head h over the steps, readers counted apart from writers. */
static rg_status add_head(rg_record *r, const watching *w, size_t steps, size_t slots, size_t h, size_t readers)
{
    const trace *t = &w->trace[HEADS];
    const size_t N = t->width / w->heads;
    rg_real     *x = rg_alloc_array(t->steps * N, sizeof *x);
    if (!x) return RG_ENOMEM;
    for (size_t i = 0; i < t->steps * N; i++) x[i] = t->x[i / N * t->width + i % N * w->heads + h];
    const rg_map_place place = { h < readers ? "read" : "write", -1, (int)(h < readers ? h : h - readers), -1, -1 };
    rg_status          status = rg_record_add_map(NULL, r, place, steps, slots, x, N);
    rg_free(x);
    return status;
}

/* The answers' rows stand at the end of all steps; before them there is nothing. */
static rg_status add_answers(rg_record *r, const char *name, size_t steps, const rg_puzzle_batch *b, const rg_real *x)
{
    rg_real *all = rg_alloc_zero(b->steps * b->out * sizeof *all);
    if (!all) return RG_ENOMEM;
    memcpy(all + (b->steps - b->answers) * b->out, x, b->answers * b->out * sizeof *x);
    rg_status status = add_numbers(r, name, steps, all, b->out);
    rg_free(all);
    return status;
}

static rg_status fill_record(rg_record *r, const watching *w, const rg_puzzle_batch *b, const rg_real *chances)
{
    size_t       steps, slots;
    const trace *heads = &w->trace[HEADS], *adds = &w->trace[ADDS], *reads = &w->trace[READS];
    RG_TRY(number_labels(&steps, r, "steps", RG_LABEL_TOKEN, b->steps, 0));
    if (heads->steps == b->steps && adds->steps == b->steps && reads->steps == b->steps && reads->width) {
        /* reads and adds are as wide as memory, once a head */
        const size_t width = (reads->width + adds->width) / w->heads, readers = reads->width / width;
        RG_TRY(number_labels(&slots, r, "slots", RG_LABEL_SLOT, heads->width / w->heads, 0));
        for (size_t h = 0; h < w->heads; h++) RG_TRY(add_head(r, w, steps, slots, h, readers));
        RG_TRY(add_numbers(r, "adds", steps, adds->x, adds->width));
        RG_TRY(add_numbers(r, "reads", steps, reads->x, reads->width));
    }
    RG_TRY(add_numbers(r, "input", steps, b->input, b->in));
    RG_TRY(add_answers(r, "output", steps, b, chances));
    return add_answers(r, "target", steps, b, b->target);
}

static rg_status save_record(const rg_memory_asking *a, const char *title, const watching *w, const rg_puzzle_batch *b,
                             const rg_real *chances)
{
    rg_record *r = NULL;
    rg_status  status = rg_record_new(&r, title, "memory");
    if (status == RG_OK) status = fill_record(r, w, b, chances);
    if (status == RG_OK) status = rg_record_save(r, a->record);
    rg_record_free(r);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- answers */

static void print_bits(const rg_real *x, size_t n, double above)
{
    for (size_t i = 0; i < n; i++) putchar((double)x[i] > above ? '1' : '0');
}

/* What the answers came to: of one sequence, or of all. */
typedef struct {
    size_t wrong, all, lost; /* bits wrong, bits, sequences with a wrong bit */
    double surprise;         /* -log p of the targets                        */
} tally;

static tally print_answers(size_t sequence, const rg_puzzle_batch *b, const rg_real *chances)
{
    tally sum = { .all = b->answers * b->out };
    for (size_t i = 0; i < b->answers; i++) {
        const rg_real *target = b->target + i * b->out, *said = chances + i * b->out;
        size_t         bad = 0;
        for (size_t j = 0; j < b->out; j++) {
            bad += (said[j] > (rg_real)0.5) != (target[j] > (rg_real)0.5);
            sum.surprise -= log(fmax(1e-30, target[j] > (rg_real)0.5 ? (double)said[j] : 1 - (double)said[j]));
        }
        printf("%zu\t%zu\t", sequence, b->steps - b->answers + i);
        print_bits(target, b->out, 0.5);
        putchar('\t');
        print_bits(said, b->out, 0.5);
        printf("\t%zu\n", bad);
        sum.wrong += bad;
    }
    sum.lost = sum.wrong > 0;
    return sum;
}

static bool worse(const tally *a, const tally *b)
{
    return a->wrong != b->wrong ? a->wrong > b->wrong : a->surprise > b->surprise;
}

static rg_status answer(rg_real **out_chances, rg_tape *t, const rg_model *m, const rg_puzzle_batch *b, watching *w)
{
    const rg_watcher watcher = { w, wants, see };
    rg_tape_reset(t, 0);
    rg_tape_set_watcher(t, w ? &watcher : NULL);
    const rg_tensor *y = rg_sigmoid(t, m->system->predict(t, m, b));
    rg_tape_set_watcher(t, NULL);
    RG_TRY(rg_tape_status(t));
    if (w) RG_TRY(w->status);
    rg_real *chances = rg_alloc_array(b->answers * b->out, sizeof *chances);
    if (!chances) return RG_ENOMEM;
    *out_chances = chances;
    for (size_t i = 0; i < b->answers * b->out; i++) {
        chances[i] = rg_tensor_at(y, i / b->out, i % b->out);
        if (!isfinite(chances[i])) return rg_fail(RG_ENUMBER, "answer %zu is not finite; the model's weights give infinite numbers", i / b->out);
    }
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------------- run */

typedef struct {
    const rg_model         *model;
    const rg_memory_asking *asking;
    rg_puzzle_config        puzzle;
    rg_puzzle_batch         batch;
    rg_tape                *tape;
    size_t                  longest; /* steps of the longest sequence there is known to be memory for */
} answering;

/* Messages about the model begin with its file. */
static rg_status of_model(const answering *x, rg_status status)
{
    return status == RG_OK || status == RG_ENOMEM ? status : rg_fail_in(status, "%s: ", x->asking->model);
}

static watching nothing_seen(size_t steps)
{
    return (watching){ .trace = { { .name = "heads" }, { .name = "adds" }, { .name = "reads" } }, .most = steps };
}

/* A sequence keeps the memory of every step, several times when the heads are watched. Before it is allocated, a dry
 * pass over the first steps says how much that is; all steps take the same. */
static rg_status check_room(const answering *x, bool watched)
{
    enum { SAMPLE = 512 };
    const rg_tape_config dry = { .record = false, .dry = true };
    rg_tape             *t;
    rg_puzzle_batch      some = x->batch;
    watching             w = nothing_seen(some.steps);
    const rg_watcher     watcher = { &w, wants, see };
    if (some.steps > SAMPLE) some.steps = SAMPLE;
    if (some.answers >= some.steps) some.answers = some.steps - 1;
    const int32_t start[] = { 0, (int32_t)some.steps };
    some.layout.start = start;
    RG_TRY(rg_tape_new(&t, &dry));
    rg_tape_set_watcher(t, watched ? &watcher : NULL);
    x->model->system->predict(t, x->model, &some);
    rg_status    status = rg_tape_status(t);
    const double bytes = (double)rg_tape_get_cost(t).bytes / (double)some.steps * (double)x->batch.steps;
    if (status == RG_OK && bytes > MOST_BYTES)
        status = rg_fail(
            RG_ELIMIT,
            "a sequence of %zu steps takes %.0f MiB with this model, the limit is %d: ask for a shorter one (--length)",
            x->batch.steps, bytes / (1 << 20), MOST_BYTES >> 20);
    rg_tape_free(t);
    return status;
}

/* Neither training nor validation reaches these numbers. */
static rg_status draw(answering *x, size_t sequence)
{
    return rg_puzzle_draw(&x->batch, &x->puzzle, (uint64_t)x->asking->seed, UINT64_MAX / 2 + sequence, 0, 1);
}

static rg_status answer_one(tally *out, answering *x, size_t sequence)
{
    rg_real *chances = NULL;
    RG_TRY(draw(x, sequence));
    if (x->batch.steps > x->longest) RG_TRY(of_model(x, check_room(x, x->asking->record[0])));
    if (x->batch.steps > x->longest) x->longest = x->batch.steps;
    rg_status status = of_model(x, answer(&chances, x->tape, x->model, &x->batch, NULL));
    if (status == RG_OK) *out = print_answers(sequence, &x->batch, chances);
    rg_free(chances);
    return status;
}

/* Once more, with the heads watched; answer_one() has checked that there is room. */
static rg_status record(answering *x, size_t sequence)
{
    char     title[160];
    rg_real *chances = NULL;
    snprintf(title, sizeof title, "%s, %s of %s%zu%s, sequence %zu", x->model->system->name, x->puzzle.kind,
             strcmp(x->puzzle.kind, "recall") == 0 ? "" : "length ", x->puzzle.max_length,
             strcmp(x->puzzle.kind, "recall") == 0 ? " items" : "", sequence);
    RG_TRY(draw(x, sequence));
    watching  w = nothing_seen(x->batch.steps);
    rg_status status = of_model(x, answer(&chances, x->tape, x->model, &x->batch, &w));
    if (status == RG_OK) status = save_record(x->asking, title, &w, &x->batch, chances);
    for (size_t k = 0; k < TRACES; k++) rg_free(w.trace[k].x);
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

static rg_status answer_all(answering *x)
{
    const rg_memory_asking *a = x->asking;
    const double            count = (double)a->count;
    tally                   sum = { 0 }, worst = { 0 };
    size_t                  recorded, worst_is = 0;
    RG_TRY(choose(&recorded, a));
    printf("sequence\tstep\ttarget\tanswer\twrong\n");
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
    fprintf(stderr, "%zu of %zu bits wrong (%.2f %%), %zu of %lld sequences lost (%.2f %%)\n", sum.wrong, sum.all,
            sum.all ? 100 * (double)sum.wrong / (double)sum.all : 0, sum.lost, (long long)a->count,
            100 * (double)sum.lost / count);
    if (sum.lost)
        fprintf(stderr, "the worst is sequence %zu: %zu of %zu bits wrong\n", worst_is, worst.wrong, worst.all);
    return a->record[0] ? record(x, recorded == SIZE_MAX ? worst_is : recorded) : RG_OK;
}

/* The puzzle it learned, at the length that is asked for. */
static rg_status puzzle_of(rg_puzzle_config *out, rg_memory_options *o, const rg_state *state, const rg_memory_asking *a)
{
    RG_TRY(rg_memory_read(o, state));
    *out = rg_memory_puzzle(o);
    if (a->length) out->max_length = (size_t)a->length;
    out->min_length = out->max_length;
    return rg_puzzle_check(out);
}

static rg_status check_widths(const rg_model *m, const rg_puzzle_config *puzzle)
{
    const size_t in = rg_puzzle_in(puzzle), out = rg_puzzle_out(puzzle);
    const size_t features = rg_model_size(m, "features"), classes = rg_model_size(m, "classes");
    if (in == features && out == classes) return RG_OK;
    return rg_fail(RG_EMATCH, "the model takes %zu numbers and gives %zu, its puzzle has %zu and %zu",
                   features, classes, in, out);
}

rg_status rg_predict_memory(const rg_model *m, const rg_state *state, const rg_memory_asking *a)
{
    rg_memory_options    o = { 0 };
    answering            x = { .model = m, .asking = a };
    const rg_tape_config asking = { .record = false };
    RG_TRY(rg_options_init(rg_memory_rows, &o));
    rg_status status = puzzle_of(&x.puzzle, &o, state, a);
    if (status == RG_OK) status = check_widths(m, &x.puzzle);
    status = of_model(&x, status);
    if (status == RG_OK) status = rg_tape_new(&x.tape, &asking);
    if (status == RG_OK) status = answer_all(&x);
    rg_puzzle_free(&x.batch);
    rg_tape_free(x.tape);
    rg_options_fini(rg_memory_rows, &o);
    return status;
}
