/* case_ntm.c - the Turing machine learns to copy: forward, backward, clipping and RMSProp for a batch of sequences of
 * one length.
 *
 * The machine of the paper: LSTM of 100 units, memory of 128 x 20, one head that reads and one that writes. Both
 * sides start from the same weights; the loss of the first step must agree. */
#include "system.h"

#include "regard/model.h"
#include "regard/puzzles.h"
#include "regard/train.h"

enum { BITS = 8, MOST = 64 };
static const struct {
    size_t batch, length;
} rows[] = { { 1, 10 }, { 1, 20 }, { 16, 20 } }; /* a batch of 1 is what the paper and `regard train` use */

typedef struct state {
    rg_model       *model;
    rg_workers     *workers;
    rg_optimizer   *optimizer;
    rg_puzzle_batch batch[MOST];
    const void     *shares[MOST];
    size_t          count, sequences;
    uint64_t        step;
    double          loss;
} state;

static void describe(bench_row *out, size_t row)
{
    const size_t B = rows[row].batch, L = rows[row].length;
    snprintf(out->name, sizeof out->name, "copy %zux%zu", B, L);
    snprintf(out->params, sizeof out->params, "\"batch\": %zu, \"length\": %zu", B, L);
    out->items = (double)B; /* sequences */
}

static void teardown(void *context)
{
    state *s = context;
    rg_optimizer_free(s->optimizer);
    rg_workers_free(s->workers);
    rg_model_free(s->model);
    for (size_t w = 0; w < MOST; w++) rg_puzzle_free(&s->batch[w]);
}

/* The peer's numbers, parameter by parameter. */
static rg_status fill_weights(rg_params *p)
{
    static const char *const names[] = { "controller.w", "controller.b", "controller.u",  "heads.w",    "heads.b",
                                         "output.w",     "output.b",     "first_weights", "first_reads" };
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        const rg_param *param = rg_params_find(p, names[i]);
        if (!param) return rg_fail(RG_EINVAL, "there is no parameter '%s'", names[i]);
        const size_t n = rg_param_rows(param) * rg_param_cols(param);
        bench_fill(rg_param_data(param), n, i + 1);
        for (size_t j = 0; j < n; j++) rg_param_data(param)[j] *= (rg_real)0.2;
    }
    return rg_params_repack(p, NULL);
}

/* The bits of sequence i are the same whatever share it is in. */
static rg_status draw(state *s, size_t row)
{
    const size_t           B = rows[row].batch, L = rows[row].length;
    const rg_puzzle_config config = {
        .kind = "copy", .bits = BITS, .min_length = L, .max_length = L, .max_repeats = 1
    };
    rg_real               *bits = rg_alloc_array(B * L * BITS, sizeof *bits);
    if (!bits) return RG_ENOMEM;
    bench_fill(bits, B * L * BITS, 20);
    rg_status status = RG_OK;
    for (size_t w = 0; w < s->count && status == RG_OK; w++) {
        const size_t     from = B * w / s->count, n = B * (w + 1) / s->count - from;
        rg_puzzle_batch *b = &s->batch[w];
        status = rg_puzzle_draw(b, &config, 1, 1, from, n);
        for (size_t i = 0; status == RG_OK && i < n * L * BITS; i++) {
            const size_t sequence = i / (L * BITS), place = i / BITS % L, bit = i % BITS;
            b->target[i] = b->input[(sequence * b->steps + place) * b->in + bit] =
                bits[from * L * BITS + i] > 0 ? 1 : 0;
        }
        s->shares[w] = b;
    }
    rg_free(bits);
    return status;
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state                *s = context;
    const size_t          threads = (size_t)rg_team_size(team);
    const rg_system      *system = rg_system_find("ntm");
    const rg_sizes  sizes = { { { "features", BITS + 2 }, { "classes", BITS } } };
    void                 *options = rg_alloc_zero(system->options_bytes);
    if (!options) return RG_ENOMEM;
    rg_status status = rg_options_init(system->options, options);
    if (status == RG_OK) status = rg_model_new(&s->model, system, options, &sizes, 1);
    rg_options_fini(system->options, options);
    rg_free(options);
    RG_TRY(status);
    RG_TRY(fill_weights(s->model->params));
    s->count = rows[row].batch < threads ? rows[row].batch : threads;
    if (s->count > MOST) s->count = MOST;
    const rg_workers_config workers = { .workers = (int)s->count, .threads = 1, .seed = 1 };
    rg_optimizer_config     graves = RG_OPTIMIZER_CONFIG_DEFAULT;
    graves.name = "graves";
    graves.a = 0.9;
    graves.clip_value = 10;
    RG_TRY(rg_workers_new(&s->workers, s->model->params, &workers));
    RG_TRY(rg_optimizer_new(&s->optimizer, s->model->params, &graves));
    return draw(s, row);
}

static rg_status run(void *context)
{
    state         *s = context;
    rg_losses      losses;
    rg_step_report report;
    const rg_job   job = {
          .shares = s->shares, .count = s->count, .step = ++s->step, .loss = bench_loss, .context = s->model
    };
    RG_TRY(rg_workers_run(&losses, s->workers, &job));
    if (s->step == 1) s->loss = losses.sum / losses.count;
    return rg_optimizer_step(&report, s->optimizer, rg_workers_grads(s->workers), s->count, losses.count, 1e-4,
                             rg_workers_team(s->workers));
}

static double check(void *context) { return ((const state *)context)->loss; }

const bench_case bench_case_ntm = {
    .name = "ntm",
    .summary = "a training step of the neural Turing machine on copy; items are sequences",
    .rows = sizeof rows / sizeof *rows,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
