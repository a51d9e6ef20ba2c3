/* score_files.c - weights of a score from files.
 *
 * Formulas multiply columns (W q), the library multiplies rows (q W^T), so matrices are turned on the way in and
 * out; vectors are not. */
#include "cli/score_files.h"
#include "cli/numbers.h"

#include <string.h>

/* Which entries a flag means, by the last part of their names. */
static const struct {
    char        flag;
    const char *names[4];
} meant[] = { { 'w', { "w", "m", "wq" } }, { 'u', { "u", "wk" } }, { 'v', { "v" } }, { 'b', { "b", "bq" } } };
enum { FLAGS = sizeof meant / sizeof *meant };

static const char *last_part(const rg_param *p)
{
    const char *dot = strrchr(rg_param_name(p), '.');
    return dot ? dot + 1 : rg_param_name(p);
}

static rg_param *find(const rg_params *params, size_t flag)
{
    for (size_t i = 0; i < rg_params_count(params); i++)
        for (size_t k = 0; meant[flag].names[k]; k++)
            if (strcmp(last_part(rg_params_at(params, i)), meant[flag].names[k]) == 0) return rg_params_at(params, i);
    return NULL;
}

static bool turned(const rg_param *p) { return rg_param_get_kind(p) != RG_VECTOR; }

rg_status rg_score_files_hidden(size_t *out, const rg_score_files *files, size_t otherwise)
{
    rg_numbers n = { 0 };
    *out = otherwise;
    if (!files->v[0]) return RG_OK;
    rg_status status = rg_numbers_read(&n, files->v);
    if (status == RG_OK) *out = n.cols;
    rg_numbers_free(&n);
    return status;
}

static rg_status fill(rg_param *p, const rg_numbers *n, char flag)
{
    const bool   turn = turned(p);
    const size_t rows = turn ? rg_param_cols(p) : rg_param_rows(p), cols = turn ? rg_param_rows(p) : rg_param_cols(p);
    if (n->rows != rows || n->cols != cols)
        return rg_fail(RG_EINVAL, "%s has %zu lines of %zu numbers; --%c is %zu lines of %zu here (%s)", n->path,
                       n->rows, n->cols, flag, rows, cols, rg_param_name(p));
    rg_real *to = rg_param_data(p);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[turn ? j * rows + i : i * cols + j] = n->data[i * cols + j];
    return RG_OK;
}

/* Biases begin at zero: they are not drawn. */
static size_t drawn_in(const rg_param *p)
{
    const size_t n = rg_param_rows(p) * rg_param_cols(p);
    for (size_t i = 0; i < n; i++)
        if (rg_param_data(p)[i] < 0 || rg_param_data(p)[i] > 0) return n;
    return 0;
}

static size_t drawn_numbers(const rg_params *params)
{
    size_t n = 0;
    for (size_t i = 0; i < rg_params_count(params); i++) n += drawn_in(rg_params_at(params, i));
    return n;
}

rg_status rg_score_files_read(size_t *drawn, rg_params *params, const rg_score_files *files, const char *score)
{
    const char *const path[FLAGS] = { files->w, files->u, files->v, files->b };
    *drawn = drawn_numbers(params);
    for (size_t i = 0; i < FLAGS; i++) {
        rg_numbers n = { 0 };
        rg_param  *p = find(params, i);
        if (!path[i][0]) continue;
        if (!p) return rg_fail(RG_EINVAL, "the %s score has nothing that --%c could set", score, meant[i].flag);
        rg_status status = rg_numbers_read(&n, path[i]);
        const size_t before = drawn_in(p);
        if (status == RG_OK) status = fill(p, &n, meant[i].flag);
        if (status == RG_OK) *drawn -= before;
        rg_numbers_free(&n);
        RG_TRY(status);
    }
    return rg_params_repack(params, NULL);
}

static void print_rows(FILE *out, const rg_param *p, int digits, const char *between, const char *open,
                       const char *close)
{
    const bool   turn = turned(p);
    const size_t rows = turn ? rg_param_cols(p) : rg_param_rows(p), cols = turn ? rg_param_rows(p) : rg_param_cols(p);
    for (size_t i = 0; i < rows; i++) {
        fputs(open, out);
        for (size_t j = 0; j < cols; j++)
            fprintf(out, "%s%.*g", j ? between : "", digits,
                    (double)rg_param_data(p)[turn ? j * rows + i : i * cols + j]);
        fputs(i + 1 < rows ? close : *open ? "]" : "\n", out);
    }
}

void rg_score_print(FILE *out, const rg_params *params, int digits, bool json)
{
    for (size_t i = 0; i < rg_params_count(params); i++) {
        const rg_param *p = rg_params_at(params, i);
        if (json) fprintf(out, "%s\"%s\": [", i ? ", " : "", last_part(p));
        else fprintf(out, "# %s\n", last_part(p));
        print_rows(out, p, digits, json ? ", " : "\t", json ? "[" : "", json ? "], " : "\n");
        if (json) fprintf(out, "]");
    }
}
