/* changes.c - what a run was trained with, kept in its checkpoint, so that a resumed one can say what is different
 * and what that means.
 *
 * Two kinds of settings decide the bits of an update: those that change what is learned (the learning rate, clipping,
 * ...), and those that only change the order in which sums are rounded (workers, the kernels of the processor).
 * Threads inside a worker change nothing. */
#include <stdio.h>
#include <string.h>

#include "tensor/kernels.h"
#include "train/optimizer.h"
#include "train/trainer.h"

typedef struct setting {
    const char *key, *words; /* in the checkpoint, and for people */
    double      value;
    bool        rounding; /* decides how sums are grouped, and nothing else */
} setting;

enum { SETTINGS = 18 };

static void settings_of(setting out[SETTINGS], const rg_trainer *t)
{
    const rg_optimizer_config *o = &t->opt->config; /* with the defaults filled in */
    const rg_schedule         *s = &t->config.schedule;
    const setting              all[SETTINGS] = {
        { "rate", "learning rate", s->rate, false },
        { "warmup", "warm-up", s->warmup, false },
        { "start", "steps before the learning rate falls", s->start, false },
        { "every", "steps over which the learning rate falls", s->every, false },
        { "decay", "factor of the learning rate", s->decay, false },
        { "least", "least learning rate", s->least, false },
        { "cooldown", "cooldown", s->cooldown, false },
        { "end", "end of the cooldown", s->cooldown > 0 ? s->end : 0, false },
        { "a", "momentum or first beta", o->a, false },
        { "b", "second beta or decay of averages", o->b, false },
        { "eps", "epsilon", o->eps, false },
        { "l2", "weight decay", o->decay, false },
        { "clip-norm", "largest norm of the gradient", o->clip_norm, false },
        { "clip-value", "largest component of the gradient", o->clip_value, false },
        { "smoothing", "exponential smoothing", o->smoothing, false },
        { "delay", "batches per update", (double)t->config.delay, false },
        { "seed", "seed", (double)t->config.workers.seed, false },
        { "workers", "workers (threads with a share of the batch each)", (double)t->config.workers.workers, true },
    };
    memcpy(out, all, sizeof all);
}

static const char kernels_key[] = "settings.kernels", schedule_key[] = "settings.schedule";

static void key_of(char out[64], const setting *s) { snprintf(out, 64, "settings.%s", s->key); }

rg_status rg_trainer__put_settings(const rg_trainer *t, rg_state *state)
{
    setting all[SETTINGS];
    char    key[64];
    settings_of(all, t);
    for (size_t i = 0; i < SETTINGS; i++) {
        key_of(key, &all[i]);
        RG_TRY(rg_state_put_number(state, key, all[i].value));
    }
    RG_TRY(rg_state_put_text(state, schedule_key, t->config.schedule.name));
    return rg_state_put_text(state, kernels_key, rg_kernel()->name);
}

/* ------------------------------------------------------------------------------------------------- comparing */

typedef struct differences {
    char *text; /* "learning rate 0.001 -> 0.0005, workers 2 -> 1"; NULL: none */
    bool  learning, rounding;
} differences;

static rg_status note(differences *d, bool rounding, const char *words, const char *old, const char *now)
{
    char *longer = rg_format("%s%s%s %s -> %s", d->text ? d->text : "", d->text ? ", " : "", words, old, now);
    if (!longer) return RG_ENOMEM;
    rg_free(d->text);
    d->text = longer;
    d->rounding = d->rounding || rounding;
    d->learning = d->learning || !rounding;
    return RG_OK;
}

static rg_status compare_number(differences *d, const setting *s, const rg_state *state)
{
    char   key[64], old[32], now[32];
    double before;
    key_of(key, s);
    if (!rg_state_has(state, key)) return RG_OK; /* of an older version */
    RG_TRY(rg_state_get_number(&before, state, key));
    if (before == s->value) return RG_OK;
    snprintf(old, sizeof old, "%g", before);
    snprintf(now, sizeof now, "%g", s->value);
    return note(d, s->rounding, s->words, old, now);
}

static rg_status compare_text(differences *d, bool rounding, const char *words, const char *key, const char *now,
                              const rg_state *state)
{
    const char *before;
    if (!rg_state_has(state, key)) return RG_OK;
    RG_TRY(rg_state_get_text(&before, state, key));
    return strcmp(before, now) == 0 ? RG_OK : note(d, rounding, words, before, now);
}

rg_status rg_trainer__changes(char **out, const rg_trainer *t, const rg_state *state)
{
    setting     all[SETTINGS];
    differences d = { NULL, false, false };
    *out = NULL;
    settings_of(all, t);
    rg_status status = compare_text(&d, false, "schedule", schedule_key, t->config.schedule.name, state);
    for (size_t i = 0; i < SETTINGS && status == RG_OK; i++) status = compare_number(&d, &all[i], state);
    if (status == RG_OK) status = compare_text(&d, true, "kernels", kernels_key, rg_kernel()->name, state);
    if (status == RG_OK && d.text) {
        *out = rg_format("%s: %s", d.text,
                         d.learning ? "from here on it learns with the new settings, so it is no longer bit for bit "
                                      "the run that was stopped"
                                    : "the same training, but sums are rounded in another order: it is no longer bit "
                                      "for bit the run that was stopped");
        if (!*out) status = RG_ENOMEM;
    }
    rg_free(d.text);
    return status;
}
