/* attacked.c - see attacked.h. */
#include "lab/attacked.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/mnist_parts.h"
#include "regard/import.h"
#include "regard/probe.h"

static rg_set_options set_of(char **files, size_t count, char *format)
{
    static char none[] = "", automatic[] = "auto";
    return (rg_set_options){ .train = { count, files }, .format = format ? format : none, .columns = none,
                             .header = automatic, .pictures = none, .batch = 100 };
}

static rg_status put(rg_results *out, const char *format, double size, double value)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%g", format, size);
    return rg_results_set(out, name, value);
}

/* ------------------------------------------------------------------------------------------------------ photographs */

static const double parts_of_256[] = { 1, 2, 4, 8 };
enum { SIZES = 4 };

/* Answers by the number of the picture. *out is the caller's. */
static rg_status answers(rg_ranked **out, size_t *out_count, const rg_model *m, char *path, int threads)
{
    const rg_set_options set = set_of(&path, 1, NULL);
    rg_ranked           *ranked = NULL, *sorted;
    RG_TRY(rg_rank(&ranked, out_count, m, &set, RG_RANK_MARGIN, threads));
    sorted = rg_alloc_zero((*out_count + 1) * sizeof *sorted);
    for (size_t i = 0; sorted && i < *out_count; i++)
        if (ranked[i].line >= 1 && ranked[i].line <= *out_count) sorted[ranked[i].line - 1] = ranked[i];
    rg_free(ranked);
    *out = sorted;
    return sorted ? RG_OK : RG_ENOMEM;
}

/* Of the pictures that lie in a folder, how many get another answer than `clean` did? */
static rg_status read_back(double *out, const rg_model *m, const rg_ranked *clean, size_t n, char *folder, int threads)
{
    rg_ranked *now = NULL;
    size_t     count = 0, changed = 0;
    rg_status  status = answers(&now, &count, m, folder, threads);
    if (status == RG_OK && count > n) status = rg_fail(RG_EFORMAT, "%s: %zu pictures of %zu", folder, count, n);
    for (size_t i = 0; status == RG_OK && i < count; i++) changed += now[i].answer != clean[i].answer;
    *out = count ? (double)changed / (double)count : 0;
    rg_free(now);
    return status;
}

static rg_status attack_photographs(rg_results *out, const rg_attacked *run, const rg_model *m, char *photos,
                                    const char *folder)
{
    const rg_set_options    set = set_of(&photos, 1, NULL);
    const int64_t           one = 1;
    double                  sizes[SIZES];
    rg_attack_row           r[SIZES];
    rg_ranked              *clean = NULL;
    size_t                  n = 0;
    for (size_t i = 0; i < SIZES; i++) sizes[i] = parts_of_256[i] / 256;
    const rg_attack_config c = { .ball = RG_BALL_LINF, .epsilon = sizes, .epsilons = SIZES, .steps = &one,
                                 .step_counts = 1, .predicted = true, .most = run->quick ? 2 : 0, .out = folder,
                                 .threads = run->threads, .seed = 1 };
    RG_TRY(rg_attack(r, m, &set, &c));
    rg_status status = answers(&clean, &n, m, photos, run->threads);
    for (size_t i = 0; status == RG_OK && i < SIZES; i++) {
        char  *written = rg_format("%s/%.6g-1/unlabelled", folder, sizes[i]);
        double changed = 0;
        status = written ? read_back(&changed, m, clean, n, written, run->threads) : RG_ENOMEM;
        if (status == RG_OK) status = put(out, "changed", parts_of_256[i], r[i].error);
        if (status == RG_OK) status = put(out, "noise", parts_of_256[i], r[i].noise);
        if (status == RG_OK) status = put(out, "read_back", parts_of_256[i], changed);
        rg_free(written);
    }
    if (status == RG_OK) status = rg_results_set(out, "examples", (double)r[0].examples);
    rg_free(clean);
    return status;
}

rg_status rg_attacked_photographs(rg_results *out, const rg_attacked *run)
{
    const char *data = run->data;
    char       *file = rg_format("%s/mobilenet_v2/mobilenet_v2_1.0_224.safetensors", data);
    char *classes = rg_format("%s/mobilenet_v2/labels.txt", data), *folder = rg_format("%s/attacked", run->folder);
    char *photos = rg_format("%s/bsds500_train/images.tar", data);
    const rg_import_options how = { .classes = classes };
    rg_model               *model = NULL;
    rg_status status = file && classes && folder && photos ? rg_import_with(&model, NULL, file, &how) : RG_ENOMEM;
    if (status == RG_OK) status = attack_photographs(out, run, model, photos, folder);
    rg_model_free(model);
    rg_free(file);
    rg_free(classes);
    rg_free(folder);
    rg_free(photos);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ texts */

rg_status rg_attacked_texts(rg_results *out, const rg_attacked *run)
{
    static char         format[] = "label";
    static const double sizes[] = { 0.1, 0.3, 1 };
    enum { N = 3 };
    char                   *path = rg_format("%s/sentiment/stsa.binary.test.gz", run->data);
    const rg_set_options    set = set_of(&path, 1, format);
    const int64_t           one = 1;
    const rg_attack_config  c = { .ball = RG_BALL_L2, .epsilon = sizes, .epsilons = N, .steps = &one, .step_counts = 1,
                                  .most = run->quick ? 50 : 0, .threads = run->threads, .seed = 1 };
    rg_attack_row           r[N];
    rg_model               *model = NULL;
    rg_status               status = path ? rg_lab_model(&model, run->folder) : RG_ENOMEM;
    if (status == RG_OK) status = rg_attack(r, model, &set, &c);
    if (status == RG_OK) status = rg_results_set(out, "clean_error", r[0].clean_error);
    for (size_t i = 0; status == RG_OK && i < N; i++) {
        status = put(out, "l2_error", sizes[i], r[i].error);
        if (status == RG_OK) status = put(out, "l2_noise", sizes[i], r[i].noise);
    }
    rg_model_free(model);
    rg_free(path);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ bound */

rg_status rg_attacked_bound(rg_results *out, const rg_model *m, double epsilon)
{
    const rg_param *w = rg_params_find(m->params, "layer.0.w");
    const size_t    C = rg_model_size(m, "classes");
    double          sum = 0;
    if (!w || rg_param_cols(w) != C || C < 2) return RG_OK;
    for (size_t a = 0; a < C; a++)
        for (size_t b = 0; b < a; b++)
            for (size_t i = 0; i < rg_param_rows(w); i++)
                sum += fabs((double)rg_param_data(w)[i * C + a] - (double)rg_param_data(w)[i * C + b]);
    return rg_results_set(out, "weight_bound", epsilon * sum / (double)(C * (C - 1) / 2));
}
