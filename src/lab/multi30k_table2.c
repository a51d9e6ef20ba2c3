/* multi30k_table2.c - Table 2 of Vaswani et al. 2017 with our rows: quality and the cost of training of nine systems, as
 * a page of its own, and the three verdicts "smaller, faster, better".
 *
 * Cost is told in two ways. Counted: operations of forward and backward over all that was learned from, from dry
 * passes. As the paper does it: seconds of all processors times the speed they sustain, which is measured when a run is
 * judged, by products of 512 x 512 matrices on one thread; it charges a system for every cycle in which it does not
 * multiply. */
#include "lab/drawn.h"
#include "lab/multi30k.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "regard/ops.h"

typedef struct {
    const char *row, *system;
    double      german, french; /* published BLEU on WMT 2014; 0: none */
} line_of_table;

static const line_of_table table[] = {
    { "ende-seq2seq", "seq2seq", 0, 0 },
    { "ende-rnnsearch", "rnnsearch", 0, 0 },
    { "ende-luong", "luong", 0, 0 },
    { "table2-bytenet", "bytenet", 23.75, 0 },
    { "table2-deep-att", "deep-att", 0, 39.2 },
    { "table2-gnmt", "gnmt", 24.6, 39.92 },
    { "table2-convs2s", "convs2s", 25.16, 40.46 },
    { "table2-experts", "experts", 26.03, 40.56 },
    { "ende-transformer", "transformer", 27.3, 38.1 },
    { "ende-ensemble", "ensemble", 0, 0 },
};
enum { ROWS = sizeof table / sizeof *table,
       SIDE = 512 };

/* Operations per second of products on one thread. */
rg_status multi30k_sustained(double *out)
{
    const rg_tape_config config = { .record = false };
    rg_real             *x = rg_alloc_zero((size_t)SIDE * SIDE * sizeof *x);
    rg_tape             *t = NULL;
    rg_status            status = x ? rg_tape_new(&t, &config) : RG_ENOMEM;
    double               spent = 0, best = INFINITY;
    while (status == RG_OK && spent < 0.2) {
        rg_tape_reset(t, 0);
        rg_tensor   *a = rg_borrow(t, x, SIDE, SIDE, SIDE);
        const double begin = rg_cpu_now();
        rg_matmul(t, a, a);
        const double seconds = rg_cpu_now() - begin;
        status = rg_tape_status(t);
        best = fmin(best, fmax(seconds, 1e-9));
        spent += fmax(seconds, 1e-4);
    }
    *out = 2.0 * SIDE * SIDE * SIDE / best;
    rg_tape_free(t);
    rg_free(x);
    return status;
}

static rg_status add_number(rg_text *out, const char *format, double x)
{
    return isfinite(x) ? rg_text_print(out, format, x) : rg_text_add_string(out, " |");
}

static rg_status add_row(rg_text *out, const line_of_table *r, const rg_outcome *l)
{
    const double seconds = rg_outcome_summary(l, "cpu_seconds").mean, speed = rg_outcome_summary(l, "sustained").mean;
    RG_TRY(rg_text_print(out, "| %s | %zu |", r->system, l->runs));
    RG_TRY(add_number(out, " %.2f |", rg_outcome_summary(l, "bleu").mean));
    RG_TRY(add_number(out, " %.2f M |", 1e-6 * rg_outcome_summary(l, "parameters").mean));
    RG_TRY(add_number(out, " %.1f M |", 1e-6 * rg_outcome_summary(l, "flops_word").mean));
    RG_TRY(add_number(out, " %.2e |", rg_outcome_summary(l, "flops_training").mean));
    RG_TRY(add_number(out, " %.2e |", seconds * speed));
    RG_TRY(add_number(out, " %.1f |", rg_outcome_summary(l, "seconds").mean / 60));
    RG_TRY(add_number(out, " %.2f |", r->german > 0 ? r->german : (double)NAN));
    RG_TRY(add_number(out, " %.2f |", r->french > 0 ? r->french : (double)NAN));
    return rg_text_add_string(out, "\n");
}

/* The best recurrent system that looks back; NULL: none is finished. */
static const rg_outcome *best_recurrent(const rg_outcome *lines, size_t count)
{
    static const char *const names[] = { "ende-rnnsearch", "ende-luong", "table2-gnmt", "table2-deep-att" };
    const rg_outcome        *best = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const rg_outcome *l = rg_outcome_find(lines, count, names[i]);
        if (l && (!best || rg_outcome_summary(l, "bleu").mean > rg_outcome_summary(best, "bleu").mean)) best = l;
    }
    return best;
}

/* The Transformer against the best recurrent system: BLEU, parameters, seconds of the test set, fall with length. */
static rg_status add_verdicts(rg_text *out, const rg_outcome *lines, size_t count)
{
    static const struct {
        const char *word, *result, *format;
        double      sign;
    } what[] = {
        { "better", "bleu", "BLEU %.2f against %.2f", 1 },
        { "smaller", "parameters", "%.0f parameters against %.0f", -1 },
        { "faster", "translate_seconds", "%.1f s for the test set against %.1f", -1 },
        { "falls less with length", "fall", "%.1f BLEU from short to long sentences against %.1f", -1 },
    };
    const rg_outcome *t = rg_outcome_find(lines, count, "ende-transformer"), *r = best_recurrent(lines, count);
    if (!t || !r) return rg_text_add_string(out, "\nSmaller, faster, better: not measured; it needs ende-transformer "
                                                 "and a recurrent system that looks back.\n");
    RG_TRY(rg_text_print(out, "\nThe Transformer against %s, the best recurrent system:\n\n", r->row->name));
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        const double a = rg_outcome_summary(t, what[i].result).mean, b = rg_outcome_summary(r, what[i].result).mean;
        if (!isfinite(a) || !isfinite(b)) continue;
        RG_TRY(rg_text_print(out, "- %s: ", what[i].word));
        RG_TRY(rg_text_print(out, what[i].format, a, b));
        RG_TRY(rg_text_print(out, ": %s\n", what[i].sign * (a - b) > 0 ? "holds" : "does not hold"));
    }
    return RG_OK;
}

static const char head[] =
    "# Table 2 on Multi30k\n\n"
    "English to German, test2016, sacreBLEU 13a lower-cased, beam 5. Counted: operations of the whole training,\n"
    "forward and backward. Time x speed: seconds of all processors times what products sustained on one thread when\n"
    "the run was judged. WMT: BLEU that the papers state for their own data.\n\n"
    "| system | seeds | BLEU | parameters | FLOP per word | FLOP counted | time x speed | minutes | WMT en-de | WMT en-fr |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n";

/* Quality against the counted cost of training, a point per system. */
static rg_status add_points(rg_record *r, size_t curves, const rg_outcome *lines, size_t count)
{
    for (size_t i = 0; i < ROWS; i++) {
        const rg_outcome *l = rg_outcome_find(lines, count, table[i].row);
        const double      cost = l ? rg_outcome_summary(l, "flops_training").mean : (double)NAN,
                     bleu = l ? rg_outcome_summary(l, "bleu").mean : (double)NAN;
        if (cost > 0 && isfinite(cost) && isfinite(bleu))
            RG_TRY(rg_record_add_series(r, curves, table[i].system, &cost, &bleu, 1));
    }
    return RG_OK;
}

rg_status multi30k_draw_cost(const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    static const char title[] = "BLEU and the cost of training";
    rg_record        *r = NULL;
    size_t            curves;
    RG_TRY(rg_record_new(&r, title, "evaluation"));
    rg_status status = rg_record_add_curves(&curves, r, title, "operations of the training", "BLEU", true, false);
    if (status == RG_OK) status = add_points(r, curves, lines, count);
    if (status == RG_OK && r->curves[curves].count) status = rg_lab_draw(job->lab, job->out, "bleu-by-cost", r);
    rg_record_free(r);
    return status;
}

rg_status multi30k_table2(const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    rg_text   page = { 0 };
    size_t    there = 0;
    rg_status status = RG_OK;
    for (size_t i = 0; i < ROWS; i++) there += rg_outcome_find(lines, count, table[i].row) != NULL;
    if (!there) return RG_OK;
    status = rg_text_add_string(&page, head);
    for (size_t i = 0; status == RG_OK && i < ROWS; i++) {
        const rg_outcome *l = rg_outcome_find(lines, count, table[i].row);
        status = l ? add_row(&page, &table[i], l)
                   : rg_text_print(&page, "| %s | 0 | | | | | | | | |\n", table[i].system);
    }
    if (status == RG_OK) status = add_verdicts(&page, lines, count);
    if (status == RG_OK) status = rg_row_save(job->out, "table2.md", rg_text_c(&page));
    if (status == RG_OK) fprintf(job->lab->out, "\n%s\n%s/table2.md\n", rg_text_c(&page), job->out);
    rg_text_free(&page);
    return status;
}
