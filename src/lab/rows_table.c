/* rows_table.c - all runs side by side: means over seeds, what is not finished, the claims, and the files that hold
 * them. */
#include "lab/rows.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- the table
 */

static int width_of(const rg_column *c)
{
    const int title = (int)strlen(c->title);
    return title > 6 ? title : 6;
}

static bool any_published(const rg_row *rows)
{
    for (; rows->name; rows++)
        if (rows->published > 0) return true;
    return false;
}

static void print_number(FILE *out, double value, int width, int digits)
{
    if (isfinite(value)) fprintf(out, " %*.*f", width, digits, value);
    else fprintf(out, " %*s", width, "-");
}

static void print_line(const rg_grid_job *job, const rg_outcome *l, bool published)
{
    FILE            *out = job->lab->out;
    const rg_column *first = job->grid->columns;
    for (const rg_column *c = first; c->result; c++) {
        const rg_summary s = rg_outcome_summary(l, c->result);
        const double     factor = c->factor > 0 ? c->factor : 1;
        if (c == first) fprintf(out, "%-18s", l->row->name);
        print_number(out, factor * s.mean, width_of(c), c->digits);
        if (c != first) continue;
        print_number(out, factor * s.deviation, 6, c->digits);
        if (published) print_number(out, l->row->published > 0 ? l->row->published : (double)NAN, 9, c->digits);
    }
    fprintf(out, " %5zu\n", l->runs);
}

static void print_table(const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    FILE      *out = job->lab->out;
    const bool published = any_published(job->grid->rows);
    fprintf(out, "%s\n\n", job->grid->heading);
    for (const rg_column *c = job->grid->columns; c->result; c++) {
        if (c == job->grid->columns) fprintf(out, "%-18s", "row");
        fprintf(out, " %*s", width_of(c), c->title);
        if (c == job->grid->columns) fprintf(out, " %6s%s", "+-", published ? " published" : "");
    }
    fprintf(out, " seeds\n");
    for (size_t i = 0; i < count; i++)
        if (lines[i].runs) print_line(job, &lines[i], published);
}

/* Runs that were begun and have no result: a run that does not converge is reported, not dropped. */
static rg_status print_unfinished(json_t *list, const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int64_t seed = 1; seed <= RG_GRID_SEEDS; seed++) {
            char  *state = NULL;
            size_t known = 0;
            while (known < lines[i].runs && lines[i].seed[known] != seed) known++;
            if (known < lines[i].runs) continue;
            RG_TRY(rg_row_state(&state, job, lines[i].row, seed));
            if (state[0]) {
                if (!json_array_size(list)) fprintf(job->lab->out, "\nwithout a result\n");
                fprintf(job->lab->out, "  %s, seed %lld: %s\n", lines[i].row->name, (long long)seed, state);
                json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "row", lines[i].row->name, "seed",
                                                      (json_int_t)seed, "state", state));
            }
            rg_free(state);
        }
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- claims */

static rg_status print_claims(json_t *list, bool *holds, const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    static const char *const words[] = { "holds", "does not hold", "undecided", "not measured" };
    size_t                   sums[4] = { 0 };
    fprintf(job->lab->out, "\nclaims (undecided: within two standard errors)\n");
    for (const rg_claim *c = job->grid->claims; c && c->a; c++) {
        rg_verdict v;
        RG_TRY(rg_claim_judge(&v, job, c, lines, count));
        for (size_t i = 0; i < 4; i++) sums[i] += strcmp(words[i], v.word) == 0;
        fprintf(job->lab->out, "  %-14s %s\n", v.word, v.text);
        json_array_append_new(list, json_pack("{s:s, s:s}", "claim", v.text, "verdict", v.word));
    }
    fprintf(job->lab->out, "%zu hold, %zu do not, %zu are undecided, %zu are not measured\n", sums[0], sums[1], sums[2],
            sums[3]);
    *holds = sums[1] == 0;
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- files */

/* Names of all results, in the order in which they first appear. */
static rg_status all_names(rg_results *names, const rg_outcome *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t run = 0; run < lines[i].runs; run++)
            for (size_t k = 0; k < lines[i].result[run].count; k++)
                RG_TRY(rg_results_set(names, lines[i].result[run].item[k].name, 0));
    return RG_OK;
}

static rg_status write_tsv(rg_text *t, const rg_results *names, const rg_outcome *lines, size_t count)
{
    RG_TRY(rg_text_add_string(t, "row\tseed\tpublished"));
    for (size_t k = 0; k < names->count; k++) RG_TRY(rg_text_print(t, "\t%s", names->item[k].name));
    RG_TRY(rg_text_add_string(t, "\n"));
    for (size_t i = 0; i < count; i++)
        for (size_t run = 0; run < lines[i].runs; run++) {
            RG_TRY(rg_text_print(t, "%s\t%lld\t%g", lines[i].row->name, (long long)lines[i].seed[run],
                                 lines[i].row->published));
            for (size_t k = 0; k < names->count; k++) {
                const double x = rg_results_get(&lines[i].result[run], names->item[k].name);
                RG_TRY(isfinite(x) ? rg_text_print(t, "\t%.10g", x) : rg_text_add_string(t, "\t"));
            }
            RG_TRY(rg_text_add_string(t, "\n"));
        }
    return RG_OK;
}

static json_t *row_json(const rg_outcome *l, const rg_results *names)
{
    json_t *means = json_object(), *deviations = json_object();
    for (size_t k = 0; k < names->count; k++) {
        const rg_summary s = rg_outcome_summary(l, names->item[k].name);
        if (isfinite(s.mean)) json_object_set_new(means, names->item[k].name, json_real(s.mean));
        if (isfinite(s.deviation)) json_object_set_new(deviations, names->item[k].name, json_real(s.deviation));
    }
    return json_pack("{s:s, s:s, s:I, s:f, s:o, s:o}", "row", l->row->name, "options", l->row->options, "seeds",
                     (json_int_t)l->runs, "published", l->row->published, "means", means, "deviations", deviations);
}

static rg_status write_files(const rg_grid_job *job, const rg_outcome *lines, size_t count, json_t *claims,
                             json_t *unfinished)
{
    rg_text    t = { 0 };
    rg_results names = { 0 };
    rg_status  status = all_names(&names, lines, count);
    if (status == RG_OK) status = write_tsv(&t, &names, lines, count);
    if (status == RG_OK) status = rg_row_save(job->out, "comparison.tsv", rg_text_c(&t));
    if (status == RG_OK) {
        json_t *rows = json_array();
        for (size_t i = 0; i < count; i++)
            if (lines[i].runs) json_array_append_new(rows, row_json(&lines[i], &names));
        json_t *all = json_pack("{s:s, s:o, s:O, s:O}", "experiment", job->grid->name, "rows", rows, "claims", claims,
                                "unfinished", unfinished);
        char   *text = json_dumps(all, JSON_INDENT(1));
        status = text ? rg_row_save(job->out, "comparison.json", text) : RG_ENOMEM;
        free(text);
        json_decref(all);
    }
    rg_text_free(&t);
    rg_results_free(&names);
    return status;
}

static rg_status table(bool *holds, const rg_grid_job *job, const rg_outcome *lines, size_t count, json_t *claims,
                       json_t *unfinished)
{
    size_t finished = 0;
    for (size_t i = 0; i < count; i++) finished += lines[i].runs;
    if (finished) print_table(job, lines, count);
    else fprintf(job->lab->out, "no run is finished in %s\n", job->out);
    RG_TRY(print_unfinished(unfinished, job, lines, count));
    if (!finished) return RG_OK;
    if (job->grid->after) RG_TRY(job->grid->after(job, lines, count));
    if (job->settings->quick) fprintf(job->lab->out, "\nclaims are not judged after a quick run\n");
    else RG_TRY(print_claims(claims, holds, job, lines, count));
    RG_TRY(write_files(job, lines, count, claims, unfinished));
    fprintf(job->lab->out, "\n%s/comparison.tsv, comparison.json\n", job->out);
    return RG_OK;
}

rg_status rg_grid_table(bool *holds, const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    json_t   *claims = json_array(), *unfinished = json_array();
    rg_status status = claims && unfinished ? table(holds, job, lines, count, claims, unfinished) : RG_ENOMEM;
    json_decref(claims);
    json_decref(unfinished);
    return status;
}
