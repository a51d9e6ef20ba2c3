/* rows.c - the rows of a grid: which are chosen, trained one after another, and read back. */
#include "lab/rows.h"

#include <string.h>

const rg_option rg_grid_options[] = { RG_GRID_OPTION_ROWS(rg_grid_settings, ), RG_OPTION_END };

/* Is the row's name, or a beginning of it, among "a,b c"? */
static bool chosen(const rg_list *only, const char *name)
{
    for (size_t i = 0; i < only->count; i++)
        for (const char *at = only->items[i]; *at;) {
            const size_t n = strcspn(at, ",");
            if (n && strncmp(name, at, n) == 0) return true;
            at += n + (at[n] == ',');
        }
    return only->count == 0;
}

static rg_status some_row(const rg_grid *g, const rg_grid_settings *s)
{
    for (const rg_row *r = g->rows; r->name; r++)
        if (chosen(&s->only, r->name)) return RG_OK;
    return rg_fail(RG_EINVAL, "--only %s: no row begins so; --list prints them", s->only.items[0]);
}

/* As commands; with --data, their files too. */
static rg_status list_rows(const rg_lab *lab, const rg_grid *g, const rg_grid_settings *s)
{
    const rg_grid_job job = { .lab = lab, .grid = g, .settings = s, .out = s->out };
    for (const rg_row *r = g->rows; r->name; r++) {
        rg_words  w = { 0 };
        rg_status status = RG_OK;
        if (!chosen(&s->only, r->name)) continue;
        if (g->data && s->data[0] && !r->of) status = g->data(&w, &job, r);
        if (r->of && !r->of[0]) fprintf(lab->out, "# %s\n# nothing is trained", r->name);
        else if (r->of) fprintf(lab->out, "# %s\n# the runs of %s together", r->name, r->of);
        else fprintf(lab->out, "# %s\nregard train %s", r->name, r->options);
        for (size_t i = 0; i < w.count; i++) fprintf(lab->out, " %s", w.word[i]);
        fprintf(lab->out, "\n");
        rg_words_free(&w);
        RG_TRY(status);
    }
    return RG_OK;
}

static int64_t end_of(const rg_grid_settings *s, const rg_row *row)
{
    return s->seed + (s->seeds ? s->seeds : row->seeds ? row->seeds : 1);
}

static rg_status train(rg_outcome *line, const rg_grid_job *job)
{
    const int64_t end = end_of(job->settings, line->row);
    for (int64_t seed = job->settings->seed; seed < end && line->runs < RG_GRID_SEEDS; seed++) {
        bool failed = false;
        RG_TRY(rg_row_train(&line->result[line->runs], &failed, job, line->row, seed));
        if (failed || !line->result[line->runs].count) rg_results_free(&line->result[line->runs]);
        else line->seed[line->runs++] = seed;
    }
    return RG_OK;
}

/* Seeds first .. end - 1 that are finished and not in the line yet. */
static rg_status read_finished(rg_outcome *line, const rg_grid_job *job, int64_t first, int64_t end)
{
    for (int64_t seed = first; seed < end && line->runs < RG_GRID_SEEDS; seed++) {
        bool   found = false;
        size_t known = 0;
        while (known < line->runs && line->seed[known] != seed) known++;
        if (known == line->runs) RG_TRY(rg_row_read(&found, &line->result[known], job, line->row, seed));
        if (found) line->seed[line->runs++] = seed;
    }
    return RG_OK;
}

/* Train what is chosen, then read whatever else is finished: other processes may have worked on other rows and seeds
 * meanwhile. */
static rg_status fill(rg_outcome *lines, size_t *out_count, const rg_grid_job *job)
{
    const rg_grid_settings *s = job->settings;
    size_t                  count = 0;
    rg_status               status = RG_OK;
    for (const rg_row *r = job->grid->rows; r->name && count < RG_GRID_ROWS; r++) lines[count++].row = r;
    for (size_t i = 0; status == RG_OK && i < count; i++)
        if (!s->report && chosen(&s->only, lines[i].row->name)) status = train(&lines[i], job);
    if (status != RG_OK && status != RG_ESTOP) return status;
    for (size_t i = 0; i < count; i++) {
        const int64_t end = end_of(s, lines[i].row), usual = RG_GRID_SEEDS + 1;
        RG_TRY(read_finished(&lines[i], job, s->seed, end));
        RG_TRY(read_finished(&lines[i], job, 1, s->seed < usual ? s->seed : usual));
        RG_TRY(read_finished(&lines[i], job, end, usual));
    }
    *out_count = count;
    return status;
}

static rg_status run_all(bool *holds, const rg_grid_job *job, rg_outcome *lines)
{
    size_t          count = 0;
    const rg_status status = fill(lines, &count, job);
    const bool      stopped = status == RG_ESTOP;
    if (stopped)
        fprintf(job->lab->notes, "stopped as asked; everything is saved, and the same command resumes from here\n");
    else RG_TRY(status);
    RG_TRY(rg_grid_table(holds, job, lines, count));
    if (job->settings->quick || stopped) *holds = true;
    return RG_OK;
}

rg_status rg_grid_run(bool *holds, const rg_lab *lab, const rg_grid *grid, const rg_grid_settings *s)
{
    RG_TRY(some_row(grid, s));
    if (s->list) return list_rows(lab, grid, s);
    if (grid->needs && !s->data[0] && !s->report) return rg_fail(RG_EINVAL, "--data names %s", grid->needs);
    char     *out = s->out[0] ? rg_strdup(s->out) : rg_format("%s-runs", grid->name);
    rg_outcome  *lines = rg_alloc_zero(RG_GRID_ROWS * sizeof *lines);
    rg_status status = out && lines ? RG_OK : RG_ENOMEM;
    const rg_grid_job job = { .lab = lab, .grid = grid, .settings = s, .out = out };
    if (status == RG_OK) status = s->audit[0] ? rg_grid_audit(holds, &job, s->audit) : run_all(holds, &job, lines);
    for (size_t i = 0; lines && i < RG_GRID_ROWS; i++)
        for (size_t run = 0; run < RG_GRID_SEEDS; run++) rg_results_free(&lines[i].result[run]);
    rg_free(lines);
    rg_free(out);
    return status;
}
