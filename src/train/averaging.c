/* averaging.c - the final model as the mean of several that were saved on the way.
 *
 *     mean = 1/N sum_i w_i       of the N last models, or of the N that validated best
 *
 * A mean is usually better than each of its parts, but not always: where there is validation data, both are judged,
 * and MODEL is the better one. */
#include <string.h>

#include "autograd/params.h"
#include "train/trainer.h"

/* ------------------------------------------------------------------------------------------- numbered models */

/* The one that goes when there are too many: the oldest, or the worst by the first metric. */
static size_t one_to_drop(const rg_trainer *t)
{
    size_t     drop = 0;
    const bool higher = t->at.metrics.count && t->at.metrics.metric[0].higher;
    for (size_t i = 1; i < t->at.saved_count && t->config.average_best; i++) {
        double a = t->at.saved[i].score, b = t->at.saved[drop].score;
        if (higher ? a < b : a > b) drop = i;
    }
    return drop;
}

rg_status rg_trainer__save_numbered(rg_trainer *t, uint64_t *out_drop)
{
    const uint64_t step = rg_optimizer_steps(t->opt);
    *out_drop = 0;
    if (t->config.average < 2 || !t->config.model) return RG_OK;
    for (size_t i = 0; i < t->at.saved_count; i++)
        if (t->at.saved[i].step == step) return RG_OK;
    char *path = rg_trainer__iter_name(t, step);
    if (!path) return RG_ENOMEM;
    rg_status status = rg_trainer__write_model(t, path, 0);
    rg_free(path);
    RG_TRY(status);
    t->at.saved[t->at.saved_count++] =
        (rg_saved_model){ step, t->at.metrics.count ? t->at.metrics.metric[0].value : 0 };
    if (t->at.saved_count <= t->config.average) return RG_OK;
    size_t drop = one_to_drop(t);
    *out_drop = t->at.saved[drop].step;
    memmove(&t->at.saved[drop], &t->at.saved[drop + 1], (--t->at.saved_count - drop) * sizeof *t->at.saved);
    return RG_OK;
}

rg_status rg_trainer__remove_numbered(rg_trainer *t, uint64_t step)
{
    char *path = rg_trainer__iter_name(t, step);
    if (!path) return RG_ENOMEM;
    rg_status status = rg_file_remove(path);
    rg_free(path);
    return status;
}

/* ------------------------------------------------------------------------------------------------- the mean */

static rg_status load_mean(rg_trainer *t)
{
    const size_t n = t->at.saved_count;
    char        *paths[RG_AVERAGE_MAX] = { 0 };
    rg_status    status = RG_OK;
    for (size_t i = 0; i < n && status == RG_OK; i++)
        if (!(paths[i] = rg_trainer__iter_name(t, t->at.saved[i].step))) status = RG_ENOMEM;
    if (status == RG_OK)
        status = rg_checkpoint_average(t->params, (const char *const *)paths, n, rg_workers_team(t->workers));
    for (size_t i = 0; i < n; i++) rg_free(paths[i]);
    return status;
}

/* Judge the mean, which is in the parameters; *out_better when it is as good as the last weights. Without validation
 * data it is taken. */
static rg_status compare(rg_trainer *t, rg_metrics *mean, const rg_metrics *last, bool *out_better)
{
    *out_better = true;
    if (!last->count) return RG_OK;
    RG_TRY(rg_trainer__judge(t, mean));
    *out_better = mean->count && rg_trainer__at_least(&mean->metric[0], &last->metric[0]);
    return RG_OK;
}

static rg_status choose(rg_trainer *t, const rg_real *weights)
{
    const rg_metrics last = t->model;
    rg_metrics       mean = { .count = 0 };
    bool             better;
    RG_TRY(load_mean(t));
    RG_TRY(compare(t, &mean, &last, &better));
    if (better) {
        RG_TRY(rg_trainer__write_model(t, t->config.model, t->at.saved_count));
        t->model = mean;
        t->meaned = true;
    } else {
        memcpy(t->params->block, weights, t->params->numbers * sizeof *weights);
        RG_TRY(rg_params_repack(t->params, rg_workers_team(t->workers)));
        RG_TRY(rg_trainer__write_model(t, t->config.model, 0));
    }
    rg_trainer__log_average(t, &mean, &last, better);
    return RG_OK;
}

rg_status rg_trainer__finish_model(rg_trainer *t)
{
    t->model = rg_trainer__has_kept(t) ? t->at.kept : t->at.metrics;
    RG_TRY(rg_trainer__keep_restore(t));
    if (!t->config.model || t->config.average < 2 || t->at.saved_count < 2) return RG_OK;
    if (!t->model.count) RG_TRY(rg_trainer__judge_smoothed(t, &t->model)); /* validation data, but no validation yet */
    rg_real *weights = rg_alloc_array(t->params->numbers, sizeof *weights);
    if (!weights) return RG_ENOMEM;
    memcpy(weights, t->params->block, t->params->numbers * sizeof *weights);
    const rg_status status = choose(t, weights);
    rg_free(weights);
    return status;
}

rg_status rg_trainer__take_final(rg_trainer *t)
{
    return rg_trainer__has_kept(t) || t->meaned ? RG_OK : rg_optimizer_swap(t->opt, rg_workers_team(t->workers));
}
