/* phases.c - several losses that take turns or follow each other, each moving parameters of its own.
 *
 *     round      1      2      3      4
 *     critic     x      x      x      x       every 1
 *     maker             x             x       every 2
 *
 * An x is an update: batches of its own, gradients of the phase's loss, a step of the optimiser over the entries the
 * phase learns. Phases with a share of the run follow each other instead. What decides about the next update (round, turn, steps of each phase) is in `at`, so a run resumes
 * between any two of them. */
#include "autograd/params.h"
#include "regard/options.h"
#include "train/trainer.h"

static uint64_t every(const rg_trainer *t, size_t i)
{
    return t->config.phases[i].every ? t->config.phases[i].every : 1;
}

static bool due(const rg_trainer *t) { return t->at.round % every(t, t->at.phase) == 0; }

static bool follow(const rg_trainer *t) { return t->config.phase_count && t->config.phases[0].share > 0; }

bool rg_trainer__phases_ahead(const rg_trainer *t) { return follow(t) && t->at.phase + 1 < t->config.phase_count; }

/* The phase whose share of the run has come. */
static size_t by_share(const rg_trainer *t)
{
    double end = 0;
    size_t i = 0;
    for (; i + 1 < t->config.phase_count; i++)
        if (t->at.part < (end += t->config.phases[i].share)) break;
    return i;
}

void rg_trainer__phase_turn(rg_trainer *t)
{
    if (!t->config.phase_count) return;
    if (follow(t)) {
        t->at.phase = by_share(t);
        return;
    }
    do {
        t->at.phase++;
        if (t->at.phase == t->config.phase_count) t->at.phase = 0, t->at.round++;
    } while (!due(t));
}

static rg_status check(const rg_trainer *t, const rg_trainer_phase *phase)
{
    if (!phase->name || !phase->learns) return rg_fail(RG_EINVAL, "a phase must have a name and say what it learns");
    if (!(phase->rate >= 0))
        return rg_fail(RG_EINVAL, "phase %s: the factor on the learning rate is %g", phase->name, phase->rate);
    if (!(phase->share >= 0 && phase->share <= 1))
        return rg_fail(RG_EINVAL, "phase %s: its share of the run is %g", phase->name, phase->share);
    for (size_t i = 0; i < t->params->count; i++)
        if (rg_name_matches(phase->learns, t->params->entry[i]->name)) return RG_OK;
    return rg_fail(RG_EINVAL, "phase %s learns '%s': no parameter has such a name", phase->name, phase->learns);
}

rg_status rg_trainer__phases_new(rg_trainer *t)
{
    const rg_trainer_config *c = &t->config;
    if (c->phase_count > RG_PHASES_MAX)
        return rg_fail(RG_ELIMIT, "%zu phases; at most %d", c->phase_count, RG_PHASES_MAX);
    for (size_t i = 0; i < c->phase_count; i++) RG_TRY(check(t, &c->phases[i]));
    t->at.round = 1;
    if (!c->phase_count) return RG_OK;
    if (follow(t) && !c->steps && !c->epochs)
        return rg_fail(RG_EINVAL, "phases that follow each other need an end: give --after-batches or --after-epochs");
    if (!(t->frozen = rg_alloc_zero(t->params->count * sizeof *t->frozen))) return RG_ENOMEM;
    if (!follow(t) && !due(t)) rg_trainer__phase_turn(t);
    rg_trainer__phase_clear(t);
    return RG_OK;
}

void rg_trainer__phase_begin(rg_trainer *t)
{
    if (!t->config.phase_count) return;
    for (size_t i = 0; i < t->params->count; i++) {
        rg_param *e = t->params->entry[i];
        t->frozen[i] = e->frozen;
        e->frozen = e->frozen || !rg_name_matches(t->config.phases[t->at.phase].learns, e->name);
    }
}

void rg_trainer__phase_end(rg_trainer *t)
{
    for (size_t i = 0; t->config.phase_count && i < t->params->count; i++) t->params->entry[i]->frozen = t->frozen[i];
}

void rg_trainer__phase_clear(rg_trainer *t)
{
    for (size_t i = 0; i < t->config.phase_count; i++) t->phase[i] = (rg_phase_log){ .name = t->config.phases[i].name };
}

double rg_trainer__phase_factor(const rg_trainer *t)
{
    const double rate = t->config.phase_count ? t->config.phases[t->at.phase].rate : 0;
    return rate > 0 ? rate : 1;
}

const char *rg_trainer__phase_name(const rg_trainer *t)
{
    return t->config.phase_count ? t->config.phases[t->at.phase].name : NULL;
}
