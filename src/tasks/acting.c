/* acting.c - a world -> rewards: episodes are played, not read. The share of episodes with a reward is what counts, beside
 * that of an agent that acts at random. */
#include "tasks/acting.h"
#include "tasks/batches.h"

#include <string.h>

#define AT(field) offsetof(rg_world_options, field)

const rg_option rg_world_rows[] = {
    { RG_OPTION_STRING, "world", AT(world), "catch", "where the agent acts", 0, "catch" },
    { RG_OPTION_INT, "mini-batch", AT(mini_batch), "64", "episodes per update", 0, "[1,65536]" },
    { RG_OPTION_INT, "episodes", AT(episodes), "256000", "episodes to learn from", 0, "[1,1e12]" },
    { RG_OPTION_INT, "valid-count", AT(valid_count), "500", "episodes of a validation", 0, "[1,1000000]" },
    { RG_OPTION_INT, "test-count", AT(test_count), "2000", "episodes the final weights are judged on", 0,
      "[1,1000000]" },
    RG_OPTION_END
};

enum { MOST_WORKERS = 64, AT_ONCE = 100 };

/* Numbers of episodes that training never reaches. */
static const uint64_t valid_first = UINT64_MAX / 4, test_first = UINT64_MAX / 8 * 3, asked_first = UINT64_MAX / 2;

typedef struct {
    const rg_world *world;
    size_t          workers;
    uint64_t        number; /* of the next batch */
    rg_episodes     batch[MOST_WORKERS];
    const void     *share[MOST_WORKERS];
} data;

static uint64_t updates_of(const rg_world_options *o)
{
    return (uint64_t)((o->episodes + o->mini_batch - 1) / o->mini_batch);
}

static rg_status find_world(const rg_world **out, const char *name)
{
    *out = rg_world_find(name);
    return *out ? RG_OK : rg_fail(RG_EINVAL, "there is no world '%s'", name);
}

/* ----------------------------------------------------------------------------------------------------------- assets */

static const char settings_key[] = "world.settings";

static rg_status read_options(rg_world_options *o, const rg_state *state)
{
    RG_TRY(rg_options_init(rg_world_rows, o));
    return rg_get_settings(o, state, settings_key, rg_world_rows);
}

static rg_status adopt(void *assets, rg_sizes *sizes, const rg_state *state)
{
    rg_world_assets *a = assets;
    const rg_world  *world;
    size_t           actions = 0;
    RG_TRY(read_options(&a->options, state));
    RG_TRY(find_world(&world, a->options.world));
    if (!rg_sizes_get(&actions, sizes, "actions") || actions != world->actions)
        return rg_fail(RG_EMATCH, "the model has %zu actions, its world %s has %zu", actions, world->name,
                       world->actions);
    return RG_OK;
}

static rg_status describe(rg_state *state, const void *assets)
{
    return rg_put_settings(state, settings_key, rg_world_rows, &((const rg_world_assets *)assets)->options);
}

static void drop(void *assets) { rg_options_fini(rg_world_rows, &((rg_world_assets *)assets)->options); }

/* --------------------------------------------------------------------------------------------------------- learning */

static rg_status open(rg_run *run)
{
    const rg_world_options *o = run->options;
    data                   *d = run->data;
    double                  random;
    RG_TRY(find_world(&d->world, o->world));
    RG_TRY(rg_options_copy(rg_world_rows, &((rg_world_assets *)run->assets)->options, o));
    d->workers = (size_t)run->threads < (size_t)o->mini_batch ? (size_t)run->threads : (size_t)o->mini_batch;
    if (d->workers > MOST_WORKERS) d->workers = MOST_WORKERS;
    const rg_episodes e = { d->world, (size_t)o->test_count, (uint64_t)run->learning->seed, test_first };
    RG_TRY(rg_world_random(&random, &e));
    rg_tell(run->report, "%s: %s; %zu steps; an agent that acts at random: %.1f %% of %zu episodes", d->world->name,
            d->world->summary, d->world->steps, 100 * random, e.count);
    return rg_sizes_put(&run->sizes, "actions", d->world->actions);
}

static rg_status plan(rg_run *run, rg_trainer_config *config)
{
    config->workers.workers = (int)((data *)run->data)->workers;
    if (!config->steps) config->steps = updates_of(run->options);
    if (config->schedule.every <= 0) config->schedule.every = (double)config->steps;
    return RG_OK;
}

static rg_status next(rg_run *run, rg_shares *out)
{
    const rg_world_options *o = run->options;
    data                   *d = run->data;
    const size_t            B = (size_t)o->mini_batch;
    *out = (rg_shares){ .share = d->share, .cost = (double)B };
    for (size_t w = 0; w < d->workers; w++) {
        const size_t from = B * w / d->workers, to = B * (w + 1) / d->workers;
        if (from == to) continue;
        d->batch[w] = (rg_episodes){ d->world, to - from, (uint64_t)run->learning->seed, d->number * B + from };
        d->share[out->count++] = &d->batch[w];
    }
    d->number++;
    return RG_OK;
}

static rg_status tell(const rg_run *run, rg_state *state)
{
    return rg_state_put_count(state, "world.number", ((const data *)run->data)->number);
}

static rg_status seek(rg_run *run, const rg_state *state)
{
    return rg_state_get_count(&((data *)run->data)->number, state, "world.number");
}

rg_status rg_world_judge(double *out, const rg_model *m, const rg_episodes *e, rg_team *team)
{
    const rg_tape_config config = { .record = false, .team = team };
    rg_tape             *t;
    double               sum = 0;
    RG_TRY(rg_tape_new(&t, &config));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < e->count; i += AT_ONCE) {
        const rg_episodes some = { e->world, e->count - i < AT_ONCE ? e->count - i : AT_ONCE, e->seed, e->first + i };
        rg_tape_reset(t, 0);
        const rg_tensor *y = m->system->predict(t, m, &some);
        status = rg_tape_status(t);
        for (size_t k = 0; status == RG_OK && k < some.count; k++) sum += (double)rg_tensor_at(y, k, 0);
    }
    rg_tape_free(t);
    *out = sum / (double)(e->count ? e->count : 1);
    return status;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    const rg_world_options *o = run->options;
    const data             *d = run->data;
    const rg_episodes       e = { d->world, (size_t)o->valid_count, (uint64_t)run->learning->seed, valid_first };
    double                  share;
    RG_TRY(rg_world_judge(&share, run->model, &e, rg_workers_team(rg_trainer_workers(run->trainer))));
    return rg_metrics_add(out, "caught", share, true);
}

/* The final weights on episodes of their own, and the control. */
static rg_status finish(rg_run *run)
{
    const rg_world_options *o = run->options;
    const data             *d = run->data;
    const rg_episodes       e = { d->world, (size_t)o->test_count, (uint64_t)run->learning->seed, test_first };
    double                  share, random;
    RG_TRY(rg_world_judge(&share, run->model, &e, rg_workers_team(rg_trainer_workers(run->trainer))));
    RG_TRY(rg_world_random(&random, &e));
    rg_tell(run->report, "%s: %.1f %% of %zu new episodes; at random %.1f %%", d->world->name, 100 * share, e.count,
            100 * random);
    return rg_metrics_add(&run->final, "caught", share, true);
}

static void close(rg_run *run) { (void)run; }

static rg_status hint(rg_text *out, const void *options, const char *program, const char *model)
{
    return (void)options, rg_text_print(out, "%s show -m %s", program, model);
}

/* --------------------------------------------------------------------------------------------------------- answering */

typedef struct {
    int64_t count, seed, recorded;
} asking;

static const rg_option asking_rows[] = {
    { RG_OPTION_INT, "episodes", offsetof(asking, count), "1", "how many episodes are played", 0, "[1,1000000]" },
    { RG_OPTION_INT, "attention-of", offsetof(asking, recorded), "0", "the episode that is recorded", 0,
      "[0,1000000]" },
    { RG_OPTION_INT, "seed", offsetof(asking, seed), "1", "of what is drawn", 0, "[0,inf)" },
    RG_OPTION_END
};

static rg_status give_rows(double *out_sum, const rg_model *m, const rg_question *q, const rg_episodes *e)
{
    double share;
    for (size_t i = 0; i < e->count; i++) {
        const rg_episodes one = { e->world, 1, e->seed, e->first + i };
        RG_TRY(q->sink->stop && q->sink->stop(q->sink->context) ? rg_fail(RG_ESTOP, "stopped") : RG_OK);
        RG_TRY(rg_world_judge(&share, m, &one, NULL));
        const rg_value cells[] = { { .number = (double)i }, { .number = share, .digits = 3 } };
        RG_TRY(q->sink->row(q->sink->context, cells));
        *out_sum += share;
    }
    return RG_OK;
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "episode", "reward" };
    const asking            *a = q->options;
    const rg_world_assets   *assets = m->assets;
    const rg_world          *world;
    rg_record               *r = NULL;
    double                   sum = 0;
    char                     note[120];
    RG_TRY(find_world(&world, assets->options.world));
    if (q->explain) return rg_fail(RG_EMATCH, "--by: an agent's maps are the glimpses it took");
    const rg_episodes e = { world, (size_t)a->count, (uint64_t)a->seed, asked_first };
    if (a->recorded >= a->count)
        return rg_fail(RG_EINVAL, "--attention-of %lld: there are %lld episodes, numbered from 0",
                       (long long)a->recorded, (long long)a->count);
    if (q->sink->columns) RG_TRY(q->sink->columns(q->sink->context, names, 2));
    if (q->sink->row) RG_TRY(give_rows(&sum, m, q, &e));
    snprintf(note, sizeof note, "%.1f %% of %zu episodes", 100 * sum / (double)e.count, e.count);
    if (q->sink->note) q->sink->note(q->sink->context, note);
    if (!q->sink->record) return RG_OK;
    const rg_episodes one = { world, 1, e.seed, e.first + (uint64_t)a->recorded };
    rg_status         status = rg_world_record(&r, m, &one);
    if (status == RG_OK) status = q->sink->record(q->sink->context, r);
    rg_record_free(r);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- small */

static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    (void)folder;
    return rg_text_print(
        yaml, size == RG_SMALL_DEMO
                  ? "world: catch\nepisodes: 256000\nvalid-freq: 500\n"
                  : "world: catch\nmini-batch: 4\nepisodes: 24\nvalid-freq: 3\nvalid-count: 4\ntest-count: 4\n");
}

static const rg_demo demos[] = {
    { .name = "catch",
      .summary = "an agent that sees six by six pixels of a screen learns to catch a ball, from rewards alone",
      .type = "ram",
      .metric = "caught",
      .expected = 0.85 },
    { 0 },
};

const rg_task rg_task_world = {
    .name = "world",
    .in = "world",
    .out = "actions",
    .unit = "episodes",
    .summary = "a world to act in, of which an agent sees a part; it learns from rewards",
    .options = rg_world_rows,
    .options_bytes = sizeof(rg_world_options),
    .learning = "learn-rate: 0.002\nlr-schedule: linear\nclip-norm: 5\nvalid-freq: 250\nearly-stopping: 0\nkeep-best: "
                "false\nsave-freq: 1000\ndisp-freq: 250\n",
    .assets_bytes = sizeof(rg_world_assets),
    .adopt = adopt,
    .describe = describe,
    .drop = drop,
    .data_bytes = sizeof(data),
    .open = open,
    .plan = plan,
    .next = next,
    .tell = tell,
    .seek = seek,
    .judge = judge,
    .finish = finish,
    .close = close,
    .hint = hint,
    .asking = asking_rows,
    .asking_bytes = sizeof(asking),
    .answer = answer,
    .small = small,
    .demos = demos,
};
