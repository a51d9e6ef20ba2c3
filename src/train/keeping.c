/* keeping.c - the weights of the best validation, kept in memory and in the checkpoint, become the final model
 * (--restore-best).
 *
 * A validation is the best when the metric that decides about stopping is as good as ever: the first, or all of them
 * together (RG_STOP_ON_ALL, RG_STOP_ON_ANY). Graph attention's rule is the latter: loss and accuracy both at their
 * best. */
#include <math.h>
#include <string.h>

#include "autograd/params.h"
#include "train/trainer.h"

static size_t numbers_of(const rg_param *p) { return p->rows * p->cols; }

static size_t all_numbers(const rg_params *params)
{
    size_t n = 0;
    for (size_t i = 0; i < params->count; i++) n += numbers_of(params->entry[i]);
    return n;
}

static void copy_out(rg_real *to, const rg_params *params)
{
    for (size_t i = 0; i < params->count; to += numbers_of(params->entry[i++]))
        memcpy(to, params->entry[i]->data, numbers_of(params->entry[i]) * sizeof *to);
}

static rg_status copy_in(rg_params *params, const rg_real *from, rg_team *team)
{
    for (size_t i = 0; i < params->count; from += numbers_of(params->entry[i++]))
        memcpy(params->entry[i]->data, from, numbers_of(params->entry[i]) * sizeof *from);
    return rg_params_repack(params, team);
}

rg_status rg_trainer__keep_new(rg_trainer *t)
{
    if (!t->config.restore_best) return RG_OK;
    t->kept_numbers = all_numbers(t->params);
    if (!(t->kept = rg_alloc_array(t->kept_numbers, sizeof *t->kept))) return RG_ENOMEM;
    copy_out(t->kept, t->params);
    return RG_OK;
}

static bool is_best(const rg_trainer *t)
{
    const rg_metrics *m = &t->at.metrics;
    for (size_t i = 0; i < m->count && (i == 0 || t->config.stop_on != RG_STOP_ON_FIRST); i++)
        if (m->metric[i].stalled) return false;
    return m->count > 0;
}

/* What is judged, and kept, are the smoothed weights where the optimiser smooths. */
rg_status rg_trainer__keep_if_best(rg_trainer *t)
{
    rg_team *team = rg_workers_team(t->workers);
    if (!t->kept || !is_best(t)) return RG_OK;
    RG_TRY(rg_optimizer_swap(t->opt, team));
    copy_out(t->kept, t->params);
    t->at.kept = t->at.metrics;
    return rg_optimizer_swap(t->opt, team);
}

bool rg_trainer__has_kept(const rg_trainer *t) { return t->kept && t->at.kept.count; }

/* Exchange the parameters and the kept ones; twice is as before. */
rg_status rg_trainer__keep_swap(rg_trainer *t)
{
    if (!rg_trainer__has_kept(t)) return RG_OK;
    for (size_t i = 0, at = 0; i < t->params->count; at += numbers_of(t->params->entry[i++]))
        for (size_t j = 0; j < numbers_of(t->params->entry[i]); j++) {
            const rg_real x = t->params->entry[i]->data[j];
            t->params->entry[i]->data[j] = t->kept[at + j];
            t->kept[at + j] = x;
        }
    return RG_OK;
}

rg_status rg_trainer__keep_restore(rg_trainer *t)
{
    return rg_trainer__has_kept(t) ? copy_in(t->params, t->kept, rg_workers_team(t->workers)) : RG_OK;
}

static const char weights_key[] = "kept.weights";

rg_status rg_trainer__keep_put(const rg_trainer *t, rg_state *s)
{
    return t->kept ? rg_state_put_bytes(s, weights_key, t->kept, t->kept_numbers * sizeof *t->kept) : RG_OK;
}

rg_status rg_trainer__keep_get(rg_trainer *t, const rg_state *s)
{
    const void *bytes;
    size_t      count;
    if (!t->kept) return RG_OK;
    RG_TRY(rg_state_get_bytes(&bytes, &count, s, weights_key));
    if (count != t->kept_numbers * sizeof *t->kept)
        return rg_fail(RG_EMATCH, "the best weights so far are %zu bytes; the model has %zu: --overwrite starts again",
                       count, t->kept_numbers * sizeof *t->kept);
    memcpy(t->kept, bytes, count);
    for (size_t i = 0; i < t->kept_numbers; i++)
        if (!isfinite(t->kept[i]))
            return rg_fail(RG_ENUMBER, "the best weights so far: value %zu of %zu is not finite", i, t->kept_numbers);
    return RG_OK;
}
