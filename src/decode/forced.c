/* forced.c - log p of given answers by the pass that training uses: all tokens at once, each seeing the right ones
 * before it (teacher forcing).
 *
 * A step of search and a row of this pass compute the same function, so the numbers are those that search would have
 * given; a sentence of n tokens takes one pass instead of n steps. Several models: log p = log mean_m p_m of each
 * token, which needs only the p_m of the right one. */
#include "regard/decode.h"

#include <math.h>
#include <string.h>

typedef struct {
    rg_tape  *tape;
    rg_batch  share;
    double   *log_p; /* of its first token      */
    bool      first; /* model of the ensemble   */
    bool      seen;
    rg_status status;
    char      message[512];
} lane;

struct rg_forced {
    const rg_model **models;
    size_t           count;
    rg_team         *team; /* borrowed */
    lane            *lanes;
    size_t           lane_count;
    int32_t         *storage; /* row numbers of the shares */
    double          *log_p;
    size_t           storage_room, room;
};

rg_status rg_forced_new(rg_forced **out, const rg_model *const *models, size_t count, rg_team *team)
{
    *out = NULL;
    for (size_t i = 1; i < count; i++)
        if (rg_model_size(models[i], "target-vocabulary") != rg_model_size(models[0], "target-vocabulary"))
            return rg_fail(
                RG_EMATCH, "model %zu answers with %zu words, model 1 with %zu: an ensemble shares its vocabulary",
                i + 1, rg_model_size(models[i], "target-vocabulary"), rg_model_size(models[0], "target-vocabulary"));
    rg_forced *f = rg_alloc_zero(sizeof *f);
    if (!f) return RG_ENOMEM;
    f->count = count;
    f->team = team;
    f->lane_count = (size_t)rg_team_size(team);
    f->models = rg_alloc_array(count, sizeof *f->models);
    f->lanes = rg_alloc_zero(f->lane_count * sizeof *f->lanes);
    rg_status            status = f->models && f->lanes ? RG_OK : RG_ENOMEM;
    const rg_tape_config config = { .record = false };
    if (f->models) memcpy(f->models, models, count * sizeof *f->models);
    for (size_t i = 0; status == RG_OK && i < f->lane_count; i++) status = rg_tape_new(&f->lanes[i].tape, &config);
    if (status != RG_OK) rg_forced_free(f);
    else *out = f;
    return status;
}

void rg_forced_free(rg_forced *f)
{
    if (!f) return;
    for (size_t i = 0; f->lanes && i < f->lane_count; i++) rg_tape_free(f->lanes[i].tape);
    rg_free(f->models);
    rg_free(f->lanes);
    rg_free(f->storage);
    rg_free(f->log_p);
    rg_free(f);
}

/* ---------------------------------------------------------------------------------------------------------- a share */

static bool wants(void *context, const char *name)
{
    const size_t n = strlen(name);
    (void)context;
    return n >= 6 && strcmp(name + n - 6, "losses") == 0;
}

/* log(e^a + e^b) */
static double log_sum(double a, double b)
{
    const double high = a > b ? a : b;
    return isinf(high) ? high : high + log(exp(a - high) + exp(b - high));
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    lane *l = context;
    (void)name;
    (void)reach;
    if (rg_tensor_rows(x) != (size_t)l->share.field[RG_TARGET].layout.start[l->share.examples]) return;
    for (size_t i = 0; i < rg_tensor_rows(x); i++) {
        const double log_p = -(double)rg_tensor_at(x, i, 0);
        l->log_p[i] = l->first ? log_p : log_sum(l->log_p[i], log_p);
    }
    l->seen = true;
}

static rg_status run_lane(const rg_forced *f, lane *l)
{
    const rg_watcher watcher = { l, wants, see };
    for (size_t m = 0; m < f->count; m++) {
        const rg_model *model = f->models[m];
        l->first = m == 0;
        l->seen = false;
        rg_tape_reset(l->tape, 0);
        rg_tape_set_watcher(l->tape, &watcher);
        model->system->loss(l->tape, model, &l->share);
        rg_tape_set_watcher(l->tape, NULL);
        RG_TRY(rg_tape_status(l->tape));
        if (!l->seen) return rg_fail(RG_EINVAL, "%s does not tell the losses of single words", model->system->name);
    }
    const double models = log((double)f->count);
    for (int32_t i = 0; f->count > 1 && i < l->share.field[RG_TARGET].layout.start[l->share.examples]; i++)
        l->log_p[i] -= models;
    return RG_OK;
}

static void work(void *context, int member, size_t begin, size_t end)
{
    const rg_forced *f = context;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        lane *l = &f->lanes[i];
        l->status = l->share.examples ? run_lane(f, l) : RG_OK;
        if (l->status != RG_OK) snprintf(l->message, sizeof l->message, "%s", rg_message());
    }
}

/* ------------------------------------------------------------------------------------------------------------ a run */

static rg_status make_room(rg_forced *f, const rg_batch *batch)
{
    const size_t tokens = (size_t)batch->field[RG_TARGET].layout.start[batch->examples],
                 numbers = rg_batch_share_room(batch) * f->lane_count;
    if (tokens > f->room) {
        double *log_p = rg_realloc(f->log_p, tokens * sizeof *log_p);
        if (!log_p) return RG_ENOMEM;
        f->log_p = log_p;
        f->room = tokens;
    }
    if (numbers > f->storage_room) {
        int32_t *storage = rg_realloc(f->storage, numbers * sizeof *storage);
        if (!storage) return RG_ENOMEM;
        f->storage = storage;
        f->storage_room = numbers;
    }
    return RG_OK;
}

static rg_status check_finite(const rg_forced *f, const rg_batch *batch)
{
    for (size_t i = 0; i < batch->examples; i++)
        for (int32_t k = batch->field[RG_TARGET].layout.start[i]; k < batch->field[RG_TARGET].layout.start[i + 1]; k++)
            if (!isfinite(f->log_p[k]))
                return rg_fail(RG_ENUMBER,
                               "line %llu: log p of token %d is not finite; the model's weights give infinite numbers",
                               (unsigned long long)(batch->lines ? batch->lines[i] : i + 1),
                               k - batch->field[RG_TARGET].layout.start[i] + 1);
    return RG_OK;
}

rg_status rg_forced_run(const double **out, rg_forced *f, const rg_batch *batch)
{
    RG_TRY(make_room(f, batch));
    for (size_t i = 0; i < f->lane_count; i++) {
        lane *l = &f->lanes[i];
        rg_batch_share(&l->share, f->storage + i * rg_batch_share_room(batch), batch, i, f->lane_count);
        l->log_p = f->log_p + (l->share.field[RG_TARGET].ids - batch->field[RG_TARGET].ids);
    }
    rg_team_for(f->team, f->lane_count, 1, work, f);
    for (size_t i = 0; i < f->lane_count; i++)
        if (f->lanes[i].status != RG_OK) return rg_fail(f->lanes[i].status, "%s", f->lanes[i].message);
    *out = f->log_p;
    return check_finite(f, batch);
}
