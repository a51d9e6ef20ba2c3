/* case_classifier.c - a training step of a text classifier: states of both directions, attention pooling, two
 * classes; forward, backward and Adam for a batch of texts as long as film reviews are (5 to 37 words, 21 on
 * average). Ours has no padding; the peer packs its sequences. Both sides start from the same weights; the loss of
 * the first step must agree. */
#include "system.h"

#include <string.h>

#include "regard/model.h"
#include "regard/train.h"

enum { VOCABULARY = 18000, WIDTH = 100, UNITS = 128, HIDDEN = 64, MOST = 64, TEXTS = 256 };
static const size_t rows[] = { 50, 256 }; /* texts of a batch; 50 is Kim's */

typedef struct state {
    rg_model     *model;
    rg_workers   *workers;
    rg_optimizer *optimizer;
    int32_t       start[TEXTS + 1], ids[TEXTS * 40], label_start[TEXTS + 1], label[TEXTS];
    rg_batch      batch, share[MOST];
    int32_t       storage[MOST][8 * TEXTS];
    const void   *shares[MOST];
    size_t        count;
    uint64_t      step;
    double        loss;
} state;

static size_t length_of(size_t text) { return 5 + (7 * text * text + 3 * text) % 33; }

static void describe(bench_row *out, size_t row)
{
    size_t words = 0;
    for (size_t i = 0; i < rows[row]; i++) words += length_of(i);
    snprintf(out->name, sizeof out->name, "bilstm %d, %zu texts", UNITS, rows[row]);
    snprintf(out->params, sizeof out->params,
             "\"texts\": %zu, \"vocabulary\": %d, \"width\": %d, \"units\": %d, \"hidden\": %d", rows[row], VOCABULARY,
             WIDTH, UNITS, HIDDEN);
    out->items = (double)words;
    out->flops = 3.0 * 2 * (double)words * (2.0 * (WIDTH + UNITS) * 4 * UNITS + 2.0 * UNITS * HIDDEN);
}

static void teardown(void *context)
{
    state *s = context;
    rg_optimizer_free(s->optimizer);
    rg_workers_free(s->workers);
    rg_model_free(s->model);
}

/* The peer's numbers, parameter by parameter. */
static rg_status fill_weights(rg_params *p)
{
    static const char *const names[] = { "embedding",         "encoder.0.ahead.w", "encoder.0.ahead.b",
                                         "encoder.0.ahead.u", "encoder.0.back.w",  "encoder.0.back.b",
                                         "encoder.0.back.u",  "pool.vector.w",     "pool.vector.v",
                                         "output.w",          "output.b" };
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        const rg_param *param = rg_params_find(p, names[i]);
        if (!param) return rg_fail(RG_EINVAL, "there is no parameter '%s'", names[i]);
        const size_t n = rg_param_rows(param) * rg_param_cols(param);
        bench_fill(rg_param_data(param), n, i + 1);
        for (size_t j = 0; j < n; j++) rg_param_data(param)[j] *= (rg_real)0.2;
    }
    return rg_params_repack(p, NULL);
}

static void draw(state *s, size_t texts)
{
    for (size_t i = 0; i < texts; i++) {
        s->start[i + 1] = s->start[i] + (int32_t)length_of(i);
        for (int32_t k = s->start[i]; k < s->start[i + 1]; k++)
            s->ids[k] = (int32_t)((7919u * (size_t)k + 13u) % VOCABULARY);
        s->label_start[i + 1] = (int32_t)(i + 1);
        s->label[i] = (int32_t)(i % 2);
    }
    s->batch = (rg_batch){ .examples = texts,
                           .fields = 2,
                           .field = { [RG_INPUT] = { .kind = RG_FIELD_IDS,
                                                     .layout = { .groups = texts, .start = s->start },
                                                     .ids = s->ids },
                                      [RG_LABEL] = { .kind = RG_FIELD_CLASS,
                                                     .layout = { .groups = texts, .start = s->label_start },
                                                     .ids = s->label } } };
    for (size_t w = 0; w < s->count; w++) {
        rg_batch_share(&s->share[w], s->storage[w], &s->batch, w, s->count);
        s->shares[w] = &s->share[w];
    }
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    static const char     yaml[] = "encoder: bilstm\npool: attention\ndim-emb: 100\nwidth: 128\nattention-dim: "
                                   "64\ndropout: 0\ndropout-emb: 0\ndropout-words: 0\n";
    state                *s = context;
    const rg_system      *system = rg_system_find("classifier");
    const rg_sizes        sizes = { { { "vocabulary", VOCABULARY }, { "classes", 2 } } };
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { .rows = system->options, .values = options };
    if (!options) return RG_ENOMEM;
    rg_status status = rg_options_init(system->options, options);
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "bench", false);
    if (status == RG_OK) status = rg_model_new(&s->model, system, options, &sizes, 1);
    rg_options_fini(system->options, options);
    rg_free(options);
    RG_TRY(status);
    RG_TRY(fill_weights(s->model->params));
    s->count = (size_t)rg_team_size(team) < MOST ? (size_t)rg_team_size(team) : MOST;
    const rg_workers_config workers = { .workers = (int)s->count, .threads = 1, .seed = 1 };
    rg_optimizer_config     adam = RG_OPTIMIZER_CONFIG_DEFAULT;
    RG_TRY(rg_workers_new(&s->workers, s->model->params, &workers));
    RG_TRY(rg_optimizer_new(&s->optimizer, s->model->params, &adam));
    draw(s, rows[row]);
    return RG_OK;
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

const bench_case bench_case_classifier = {
    .name = "classifier",
    .summary = "a training step of a text classifier, bilstm and attention pooling; items are words",
    .rows = sizeof rows / sizeof *rows,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
