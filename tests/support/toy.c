/* toy.c - see toy.h. */
#include "support/toy.h"
#include "regard/ops.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

rg_status toy_build(toy *t, uint64_t seed)
{
    *t = (toy){0};
    RG_TRY(rg_params_new(&t->params));
    t->table = rg_params_add(t->params, "table", RG_TABLE, TOY_IDS, TOY_WIDTH, RG_INIT_NORMAL, 1);
    rg_params_push(t->params, "hidden");
    t->w1 = rg_params_add(t->params, "w", RG_WEIGHT, TOY_WIDTH, 40, RG_INIT_GLOROT, 1);
    t->b1 = rg_params_add(t->params, "b", RG_VECTOR, 1, 40, RG_INIT_ZERO, 0);
    rg_params_pop(t->params);
    t->w2 = rg_params_add(t->params, "w2", RG_WEIGHT, 40, 13, RG_INIT_GLOROT, 1);
    t->tied = rg_params_add(t->params, "tied", RG_TIED, TOY_CLASSES, 13, RG_INIT_NORMAL, 0.3);
    t->kept = rg_params_add(t->params, "kept", RG_KEPT, 1, 3, RG_INIT_ONE, 0);
    return rg_params_build(t->params, seed);
}

void toy_free(toy *t) { rg_params_free(t->params); }

void toy_draw(toy_share *s, uint64_t batch, size_t first, size_t rows)
{
    *s = (toy_share){ .batch = batch, .first = first, .rows = rows };
    for (size_t i = 0; i < rows; i++) {
        rg_random random = rg_random_new(batch, first + i);
        s->left[i] = (int32_t)rg_random_below(&random, TOY_IDS);
        s->right[i] = (int32_t)rg_random_below(&random, TOY_IDS);
        s->label[i] = (s->left[i] + s->right[i]) % TOY_CLASSES;
    }
}

rg_loss toy_loss(void *context, rg_tape *tape, const void *share, int worker)
{
    const toy       *t = context;
    const toy_share *s = share;
    int32_t          start[2] = { 0, (int32_t)s->rows };
    (void)worker;
    rg_layout *layout = rg_tape_layout(tape, 1, start);
    if (layout) layout->first = s->first;
    rg_tensor *table = rg_use(tape, t->table);
    rg_tensor *x = rg_add(tape, rg_gather(tape, table, s->left, s->rows, layout),
                          rg_gather(tape, table, s->right, s->rows, layout));
    rg_tensor *h = rg_linear(tape, rg_dropout(tape, x, 0.1), rg_use(tape, t->w1), rg_use(tape, t->b1), RG_RELU);
    rg_tensor *y = rg_linear(tape, h, rg_use(tape, t->w2), NULL, RG_IDENTITY);
    if (s->batch == t->poison && s->first == 0) y = rg_scale(tape, y, (double)NAN);
    rg_tensor *logits = rg_matmul_nt(tape, y, rg_use(tape, t->tied));
    return (rg_loss){ rg_cross_entropy(tape, logits, s->label, 0.1), (double)s->rows };
}

rg_status toy_step(rg_losses *out, toy *t, rg_workers *workers, rg_optimizer *opt, uint64_t batch)
{
    enum { MOST = 8 };
    toy_share   share[MOST];
    const void *shares[MOST];
    size_t      n = (size_t)rg_workers_count(workers);
    for (size_t i = 0; i < n; i++) {
        toy_draw(&share[i], batch, i * TOY_ROWS / n, (i + 1) * TOY_ROWS / n - i * TOY_ROWS / n);
        shares[i] = &share[i];
    }
    rg_job job = { .shares = shares, .count = n, .step = batch, .loss = toy_loss, .context = t };
    RG_TRY(rg_workers_run(out, workers, &job));
    rg_team *team = rg_workers_team(workers);
    return rg_optimizer_step(NULL, opt, rg_workers_grads(workers), n, out->count, 0.01, team);
}

/* ------------------------------------------------------------------------------------------------ as a task */

static rg_status next(void *context, rg_shares *out)
{
    toy_task *task = context;
    size_t    n = (size_t)rg_workers_count(rg_trainer_workers(task->trainer));
    if (task->slow) usleep((useconds_t)task->slow);
    *out = (rg_shares){ .share = task->shares, .cost = TOY_ROWS };
    if (task->batch % (TOY_EPOCH + 1) == TOY_EPOCH) { /* every eighth call ends an epoch */
        task->batch++;
        return RG_OK;
    }
    task->batch++;
    for (size_t i = 0; i < n; i++) {
        toy_draw(&task->share[i], task->batch, i * TOY_ROWS / n, (i + 1) * TOY_ROWS / n - i * TOY_ROWS / n);
        task->shares[i] = &task->share[i];
    }
    out->count = n;
    return RG_OK;
}

static rg_status validate(void *context, rg_metrics *out)
{
    toy_task *task = context;
    rg_tape  *tape = rg_workers_tape(rg_trainer_workers(task->trainer), 0);
    toy_share share;
    toy_draw(&share, 1000000, 0, TOY_ROWS);
    bool record = rg_tape_record(tape, false), learn = rg_tape_learn(tape, false);
    rg_tape_reset(tape, 0);
    rg_loss   loss = toy_loss(task, tape, &share, 0);
    rg_status status = rg_tape_status(tape);
    double    value = (double)rg_tensor_at(loss.sum, 0, 0) / TOY_ROWS;
    rg_tape_reset(tape, 0);
    rg_tape_record(tape, record);
    rg_tape_learn(tape, learn);
    RG_TRY(status);
    RG_TRY(rg_metrics_add(out, "cross-entropy", value, false));
    return rg_metrics_add(out, "negative", -value, true);
}

static rg_status describe(void *context, rg_state *state)
{
    (void)context;
    return rg_state_put_text(state, "config", "type: toy\n");
}

static rg_status save(void *context, rg_state *state)
{
    return rg_state_put_count(state, "batch", ((toy_task *)context)->batch);
}
static rg_status load(void *context, const rg_state *state)
{
    return rg_state_get_count(&((toy_task *)context)->batch, state, "batch");
}
static bool stop(void *context)
{
    return ((toy_task *)context)->stop_at && ((toy_task *)context)->batch >= ((toy_task *)context)->stop_at;
}

static void blame(void *context, const void *share, char *out, size_t room)
{
    const toy_share *s = share;
    (void)context;
    snprintf(out, room, "rows %u to %u of batch %u", (unsigned)s->first + 1, (unsigned)(s->first + s->rows),
             (unsigned)s->batch);
}

static void note(void *context, const rg_train_log *log)
{
    toy_task *task = context;
    task->logs += log->event == RG_TRAIN_LOG;
    task->valids += log->event == RG_TRAIN_VALID;
    task->saves += log->event == RG_TRAIN_SAVED;
    if (log->event == RG_TRAIN_LOG) task->last_loss = log->loss;
    if (log->event == RG_TRAIN_VALID) task->last_valid = log->metrics->metric[0].value;
    if (log->event == RG_TRAIN_DONE) snprintf(task->reason, sizeof task->reason, "%s", log->reason);
}

rg_status toy_open(toy_task *task, const rg_trainer_config *config, void (*change)(rg_trainer_hooks *hooks))
{
    memset(task, 0, sizeof *task);
    rg_trainer_hooks hooks = { .context = task,
                               .next = next,
                               .loss = toy_loss,
                               .validate = validate,
                               .describe = describe,
                               .save = save,
                               .load = load,
                               .blame = blame,
                               .log = note,
                               .stop = stop };
    if (change) change(&hooks);
    RG_TRY(toy_build(&task->toy, 1));
    return rg_trainer_new(&task->trainer, task->toy.params, config, &hooks);
}

void toy_close(toy_task *task)
{
    rg_trainer_free(task->trainer);
    toy_free(&task->toy);
}
