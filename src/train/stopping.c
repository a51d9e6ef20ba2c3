/* stopping.c - validation: bests, patience, and a learning rate that falls when nothing gets better. */
#include <math.h>
#include <string.h>

#include "train/trainer.h"

rg_status rg_metrics_add(rg_metrics *m, const char *name, double value, bool higher)
{
    if (m->count == RG_METRICS_MAX) return rg_fail(RG_ELIMIT, "more than %d metrics", RG_METRICS_MAX);
    if (!*name || strlen(name) >= RG_METRIC_NAME)
        return rg_fail(RG_EINVAL, "'%s' cannot be the name of a metric", name);
    rg_metric *metric = &m->metric[m->count++];
    *metric = (rg_metric){ .value = value, .higher = higher };
    memcpy(metric->name, name, strlen(name) + 1);
    return RG_OK;
}

static const rg_metric *find(const rg_metrics *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->metric[i].name, name) == 0) return &m->metric[i];
    return NULL;
}

/* A value that is not a number is never better. */
static bool better(const rg_metric *metric, double best, bool ties)
{
    return (metric->higher ? metric->value > best : metric->value < best) || (ties && metric->value == best);
}

bool rg_trainer__at_least(const rg_metric *a, const rg_metric *b) { return better(a, b->value, true); }

/* Carry bests and stalls over from the last validation. */
static void compare(rg_metrics *now, const rg_metrics *before, bool ties)
{
    for (size_t i = 0; i < now->count; i++) {
        rg_metric       *m = &now->metric[i];
        const rg_metric *old = find(before, m->name);
        bool             improved = old ? better(m, old->best, ties) : !isnan(m->value);
        m->best = improved ? m->value : old ? old->best : m->higher ? -INFINITY : INFINITY;
        m->stalled = improved ? 0 : (old ? old->stalled : 0) + 1;
    }
}

bool rg_trainer__out_of_patience(const rg_trainer *t)
{
    const rg_metrics *m = &t->at.metrics;
    const uint64_t    patience = t->config.patience;
    if (!patience || !m->count || rg_trainer__phases_ahead(t)) return false;
    size_t out = 0;
    for (size_t i = 0; i < m->count; i++) out += m->metric[i].stalled >= patience;
    switch (t->config.stop_on) {
    case RG_STOP_ON_ALL: return out == m->count;
    case RG_STOP_ON_ANY: return out > 0;
    default: return m->metric[0].stalled >= patience;
    }
}

rg_status rg_trainer__judge(rg_trainer *t, rg_metrics *out)
{
    *out = (rg_metrics){ .count = 0 };
    if (!t->hooks.validate) return RG_OK;
    const bool mine = rg_processes_rank(t->processes) == 0 && !rg_processes_lost(t->processes);
    return rg_trainer__share_metrics(t, out, mine || !t->processes ? t->hooks.validate(t->hooks.context, out) : RG_OK);
}

/* Smoothed parameters are the ones that are judged. */
rg_status rg_trainer__judge_smoothed(rg_trainer *t, rg_metrics *out)
{
    rg_team *team = rg_workers_team(t->workers);
    RG_TRY(rg_optimizer_swap(t->opt, team));
    rg_status status = rg_trainer__judge(t, out);
    rg_status back = rg_optimizer_swap(t->opt, team);
    return status != RG_OK ? status : back;
}

rg_status rg_trainer__validate(rg_trainer *t)
{
    rg_metrics now;
    if (!t->hooks.validate) return RG_OK;
    RG_TRY(rg_trainer__judge_smoothed(t, &now));
    compare(&now, &t->at.metrics, t->config.ties);
    t->at.metrics = now;
    const double decay = t->config.stalled_decay;
    if (decay > 0 && now.count && now.metric[0].stalled) t->at.rate_factor *= decay;
    RG_TRY(rg_trainer__keep_if_best(t));
    rg_trainer__log(t, RG_TRAIN_VALID, NULL, NULL);
    for (size_t i = 0; i < now.count && t->config.keep_best && t->config.model; i++)
        if (now.metric[i].stalled == 0) RG_TRY(rg_trainer__save_model(t, now.metric[i].name));
    return RG_OK;
}
