/* saving.c - checkpoints to resume from and models to run.
 *
 *     model.checkpoint           everything, to resume from
 *     model.safetensors          weights and what the task says about them
 *     model.best-bleu.safetensors
 *     model.iter4000.safetensors kept while it may become part of the average (averaging.c) */
#include <string.h>

#include "train/state.h"
#include "train/trainer.h"

/* "a/model.safetensors", "best-bleu" -> "a/model.best-bleu.safetensors" */
static char *name_with(const char *path, const char *word)
{
    static const char ending[] = ".safetensors";
    size_t            n = strlen(path), e = sizeof ending - 1;
    bool              ends = n > e && strcmp(path + n - e, ending) == 0;
    return rg_format("%.*s.%s%s", (int)(ends ? n - e : n), path, word, ends ? ending : "");
}

char *rg_trainer__iter_name(const rg_trainer *t, uint64_t step)
{
    char word[40];
    snprintf(word, sizeof word, "iter%llu", (unsigned long long)step);
    return name_with(t->config.model, word);
}

char *rg_trainer__best_name(const rg_trainer *t, const char *metric)
{
    char word[RG_METRIC_NAME + 8];
    snprintf(word, sizeof word, "best-%s", metric);
    return name_with(t->config.model, word);
}

/* ---------------------------------------------------------------------------------------------------- models */

static rg_status describe_model(rg_state *state, const rg_trainer *t, size_t averaged)
{
    if (t->hooks.describe) RG_TRY(t->hooks.describe(t->hooks.context, state));
    RG_TRY(rg_state_put_count(state, "trained-steps", rg_optimizer_steps(t->opt)));
    return averaged ? rg_state_put_count(state, "averaged-models", averaged) : RG_OK;
}

/* Where the optimiser smooths, the smoothed weights are written, unless the parameters are `ready`: kept, or a mean
 * of smoothed ones. */
static rg_status write_model(rg_trainer *t, const char *path, size_t averaged, bool ready)
{
    rg_team  *team = rg_workers_team(t->workers);
    rg_state *state;
    if (!rg_trainer__writes(t)) return RG_OK;
    RG_TRY(rg_state_new(&state));
    rg_status status = describe_model(state, t, averaged);
    if (status == RG_OK) {
        if (!ready) (void)rg_optimizer_swap(t->opt, team);
        status = rg_checkpoint_save(path, t->params, NULL, state);
        if (!ready) (void)rg_optimizer_swap(t->opt, team);
    }
    rg_state_free(state);
    if (status == RG_OK) rg_trainer__log(t, RG_TRAIN_SAVED, path, NULL);
    return status;
}

rg_status rg_trainer__write_model(rg_trainer *t, const char *path, size_t averaged)
{
    return write_model(t, path, averaged, averaged > 0);
}

/* MODEL: the best weights where they are kept and a validation was made, the last ones otherwise. */
static rg_status write_final(rg_trainer *t)
{
    RG_TRY(rg_trainer__keep_swap(t));
    rg_status status = write_model(t, t->config.model, 0, rg_trainer__has_kept(t));
    rg_status back = rg_trainer__keep_swap(t);
    return status != RG_OK ? status : back;
}

rg_status rg_trainer__save_model(rg_trainer *t, const char *best_of)
{
    if (!t->config.model) return RG_OK;
    if (!best_of) return write_final(t);
    char *path = rg_trainer__best_name(t, best_of);
    if (!path) return RG_ENOMEM;
    rg_status status = rg_trainer__write_model(t, path, 0);
    rg_free(path);
    return status;
}

/* ----------------------------------------------------------------------------------------------- checkpoints */

/* Keys are made of a place and a word: trainer.metric.0.best */
typedef struct key {
    char text[80];
} key;

static const char *key_of(key *k, const char *list, size_t i, const char *word)
{
    snprintf(k->text, sizeof k->text, "trainer.%s.%zu.%s", list, i, word);
    return k->text;
}

static rg_status put_metrics(const rg_metrics *metrics, const char *list, rg_state *s)
{
    key k;
    for (size_t i = 0; i < metrics->count; i++) {
        const rg_metric *m = &metrics->metric[i];
        RG_TRY(rg_state_put_text(s, key_of(&k, list, i, "name"), m->name));
        RG_TRY(rg_state_put_number(s, key_of(&k, list, i, "value"), m->value));
        RG_TRY(rg_state_put_number(s, key_of(&k, list, i, "best"), m->best));
        RG_TRY(rg_state_put_count(s, key_of(&k, list, i, "stalled"), m->stalled));
        RG_TRY(rg_state_put_count(s, key_of(&k, list, i, "higher"), m->higher));
    }
    return RG_OK;
}

static rg_status put_phases(const rg_trainer *t, rg_state *s)
{
    key k;
    if (!t->config.phase_count) return RG_OK;
    RG_TRY(rg_state_put_count(s, "trainer.round", t->at.round));
    RG_TRY(rg_state_put_count(s, "trainer.phase", t->at.phase));
    for (size_t i = 0; i < t->config.phase_count; i++) {
        RG_TRY(rg_state_put_text(s, key_of(&k, "phase", i, "name"), t->config.phases[i].name));
        RG_TRY(rg_state_put_count(s, key_of(&k, "phase", i, "steps"), t->at.phase_steps[i]));
    }
    return RG_OK;
}

static rg_status put_place(const rg_trainer_at *at, rg_state *s)
{
    key k;
    RG_TRY(rg_state_put_count(s, "trainer.epoch", at->epoch));
    RG_TRY(rg_state_put_count(s, "trainer.epoch-batches", at->epoch_batches));
    RG_TRY(rg_state_put_count(s, "trainer.batches", at->batches));
    RG_TRY(rg_state_put_number(s, "trainer.rate-factor", at->rate_factor));
    RG_TRY(rg_state_put_number(s, "trainer.labels", at->labels));
    RG_TRY(rg_state_put_number(s, "trainer.last-labels", at->last_labels));
    if (at->owed) RG_TRY(rg_state_put_count(s, "trainer.owed", at->owed));
    RG_TRY(rg_state_put_number(s, "trainer.part", at->part));
    RG_TRY(rg_state_put_count(s, "trainer.metrics", at->metrics.count));
    RG_TRY(rg_state_put_count(s, "trainer.kept", at->kept.count));
    RG_TRY(rg_state_put_count(s, "trainer.saves", at->saved_count));
    RG_TRY(put_metrics(&at->metrics, "metric", s));
    RG_TRY(put_metrics(&at->kept, "kept", s));
    for (size_t i = 0; i < at->saved_count; i++) {
        RG_TRY(rg_state_put_count(s, key_of(&k, "save", i, "step"), at->saved[i].step));
        RG_TRY(rg_state_put_number(s, key_of(&k, "save", i, "score"), at->saved[i].score));
    }
    return RG_OK;
}

static rg_status get_flag(bool *out, const rg_state *s, const char *name)
{
    uint64_t value;
    RG_TRY(rg_state_get_count(&value, s, name));
    *out = value != 0;
    return RG_OK;
}

static rg_status get_size(size_t *out, const rg_state *s, const char *name, size_t most)
{
    uint64_t value;
    RG_TRY(rg_state_get_count(&value, s, name));
    if (value > most)
        return rg_fail(RG_ELIMIT, "the saved value '%s' is %llu, at most %zu", name, (unsigned long long)value, most);
    *out = (size_t)value;
    return RG_OK;
}

static rg_status get_metric(rg_metric *m, const char *list, const rg_state *s, size_t i)
{
    key         k;
    const char *name;
    RG_TRY(rg_state_get_text(&name, s, key_of(&k, list, i, "name")));
    if (strlen(name) >= sizeof m->name)
        return rg_fail(RG_ELIMIT, "the name of a saved metric is %zu characters long", strlen(name));
    memcpy(m->name, name, strlen(name) + 1);
    RG_TRY(rg_state_get_number(&m->value, s, key_of(&k, list, i, "value")));
    RG_TRY(rg_state_get_number(&m->best, s, key_of(&k, list, i, "best")));
    RG_TRY(rg_state_get_count(&m->stalled, s, key_of(&k, list, i, "stalled")));
    return get_flag(&m->higher, s, key_of(&k, list, i, "higher"));
}

static rg_status get_place(rg_trainer_at *out, const rg_state *s)
{
    rg_trainer_at at = {0};
    key           k;
    RG_TRY(rg_state_get_count(&at.epoch, s, "trainer.epoch"));
    RG_TRY(rg_state_get_count(&at.epoch_batches, s, "trainer.epoch-batches"));
    RG_TRY(rg_state_get_count(&at.batches, s, "trainer.batches"));
    RG_TRY(rg_state_get_number(&at.rate_factor, s, "trainer.rate-factor"));
    if (rg_state_has(s, "trainer.labels")) { /* not in older ones */
        RG_TRY(rg_state_get_number(&at.labels, s, "trainer.labels"));
        RG_TRY(rg_state_get_number(&at.last_labels, s, "trainer.last-labels"));
        if (!(at.labels >= 0 && at.labels < 9e15 && at.last_labels >= 0 && at.last_labels <= at.labels))
            return rg_fail(RG_EFORMAT, "a checkpoint behind %g labels, %g of them in its last update", at.labels, at.last_labels);
    }
    if (rg_state_has(s, "trainer.owed")) RG_TRY(rg_state_get_count(&at.owed, s, "trainer.owed"));
    RG_TRY(get_size(&at.metrics.count, s, "trainer.metrics", RG_METRICS_MAX));
    RG_TRY(get_size(&at.saved_count, s, "trainer.saves", RG_AVERAGE_MAX));
    const bool tells_kept = rg_state_has(s, "trainer.kept"); /* not in older ones */
    if (tells_kept) RG_TRY(get_size(&at.kept.count, s, "trainer.kept", RG_METRICS_MAX));
    for (size_t i = 0; i < at.metrics.count; i++) RG_TRY(get_metric(&at.metrics.metric[i], "metric", s, i));
    for (size_t i = 0; i < at.kept.count; i++) RG_TRY(get_metric(&at.kept.metric[i], "kept", s, i));
    if (!tells_kept) at.kept = at.metrics;
    for (size_t i = 0; i < at.saved_count; i++) {
        RG_TRY(rg_state_get_count(&at.saved[i].step, s, key_of(&k, "save", i, "step")));
        RG_TRY(rg_state_get_number(&at.saved[i].score, s, key_of(&k, "save", i, "score")));
    }
    *out = at;
    return RG_OK;
}

/* Checkpoints from before phases had names in them are taken as they are. */
static rg_status same_phases(const rg_trainer *t, const rg_state *s)
{
    key          k;
    const size_t n = t->config.phase_count;
    for (size_t i = 0; i < n; i++) {
        const char *was, *name = t->config.phases[i].name;
        if (!rg_state_has(s, key_of(&k, "phase", i, "name"))) continue;
        RG_TRY(rg_state_get_text(&was, s, k.text));
        if (strcmp(was, name) != 0)
            return rg_fail(RG_EMATCH, "phase %zu was '%.40s', it is '%s' now; --overwrite starts again", i + 1, was,
                           name);
    }
    return rg_state_has(s, key_of(&k, "phase", n, "steps"))
               ? rg_fail(RG_EMATCH, "it learned in more than the %zu phases of now; --overwrite starts again", n)
               : RG_OK;
}

static rg_status get_phases(rg_trainer *t, const rg_state *s)
{
    key k;
    t->at.round = 1;
    RG_TRY(same_phases(t, s));
    if (!t->config.phase_count) return RG_OK;
    RG_TRY(rg_state_get_count(&t->at.round, s, "trainer.round"));
    RG_TRY(get_size(&t->at.phase, s, "trainer.phase", t->config.phase_count - 1));
    for (size_t i = 0; i < t->config.phase_count; i++)
        RG_TRY(rg_state_get_count(&t->at.phase_steps[i], s, key_of(&k, "phase", i, "steps")));
    return RG_OK;
}

/* Checkpoints from before losses saw it do not say what part of the run was done. */
static rg_status get_part(rg_trainer *t, const rg_state *s)
{
    if (rg_state_has(s, "trainer.part")) return rg_state_get_number(&t->at.part, s, "trainer.part");
    t->at.part = rg_trainer__part(t);
    return RG_OK;
}

static rg_status save_checkpoint(rg_trainer *t)
{
    rg_state *s;
    if (!t->config.checkpoint || !rg_trainer__writes(t)) return RG_OK;
    RG_TRY(rg_state_new(&s));
    rg_status status = put_place(&t->at, s);
    if (status == RG_OK) status = put_phases(t, s);
    if (status == RG_OK) status = rg_trainer__put_settings(t, s);
    if (status == RG_OK) status = rg_trainer__keep_put(t, s);
    if (status == RG_OK && t->hooks.describe) status = t->hooks.describe(t->hooks.context, s);
    if (status == RG_OK && t->interrupted) status = rg_state__add(s, t->before);
    else if (status == RG_OK && t->hooks.save) status = t->hooks.save(t->hooks.context, s);
    if (status == RG_OK) status = rg_checkpoint_rotate(t->config.checkpoint, t->params, t->opt, s);
    rg_state_free(s);
    if (status == RG_OK) rg_trainer__log(t, RG_TRAIN_SAVED, t->config.checkpoint, NULL);
    return status;
}

rg_status rg_trainer__remember(rg_trainer *t)
{
    if (!t->processes || rg_processes_rank(t->processes) > 1) return RG_OK;
    t->at_before = t->at;
    rg_state_clear(t->before);
    RG_TRY(t->hooks.save ? t->hooks.save(t->hooks.context, t->before) : RG_OK);
    t->interrupted = true;
    return RG_OK;
}

rg_status rg_trainer_save(rg_trainer *t)
{
    RG_TRY(rg_trainer__save_model(t, NULL));
    RG_TRY(save_checkpoint(t));
    t->saved_at = rg_now();
    return RG_OK;
}

/* Only saves that come at a fixed step give a model to the average: a signal or the clock must not decide what it is
 * made of. A model that left the average is removed only when the checkpoint no longer names it. */
rg_status rg_trainer__save_due(rg_trainer *t)
{
    uint64_t drop;
    if (!rg_trainer__writes(t)) return RG_OK;
    RG_TRY(rg_trainer__save_numbered(t, &drop));
    RG_TRY(rg_trainer_save(t));
    return drop ? rg_trainer__remove_numbered(t, drop) : RG_OK;
}

/* ------------------------------------------------------------------------------------------------- resuming */

static rg_status read_checkpoint(rg_trainer *t, const char *path, char **out_changes)
{
    rg_state *s;
    RG_TRY(rg_state_new(&s));
    rg_status status = rg_checkpoint_load(path, t->params, t->opt, s, rg_workers_team(t->workers));
    if (status == RG_OK) status = get_place(&t->at, s);
    if (status == RG_OK) status = get_phases(t, s);
    if (status == RG_OK) status = rg_trainer__keep_get(t, s);
    if (status == RG_OK && t->hooks.load) status = t->hooks.load(t->hooks.context, s);
    if (status == RG_OK) status = get_part(t, s);
    if (status == RG_OK) status = rg_trainer__changes(out_changes, t, s);
    rg_state_free(s);
    return status;
}

rg_status rg_trainer_resume(uint64_t *out_step, rg_trainer *t)
{
    char *path = NULL, *changes = NULL;
    *out_step = 0;
    if (!t->config.checkpoint) return RG_OK;
    RG_TRY(rg_checkpoint_find(&path, t->config.checkpoint));
    if (!path) return RG_OK;
    rg_status status = read_checkpoint(t, path, &changes);
    if (status == RG_OK) {
        *out_step = rg_optimizer_steps(t->opt);
        rg_trainer__log(t, RG_TRAIN_RESUMED, path, changes);
    } else if (status != RG_ENOMEM) {
        status = rg_fail_in(status, "cannot resume from %s: ", path);
    }
    rg_free(changes);
    rg_free(path);
    return status;
}
