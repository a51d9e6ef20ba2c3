/* case_adversarial.c - training steps with objectives: adversarial training (FGSM) of an mlp 784-1200-1200-10, a
 * virtual adversarial update of the same with batch norm, 100 labelled and 250 unlabelled pictures, and a
 * domain-adversarial step of c5x32 p2 c5x48 p2 f100 f100 with the head behind the convolutions, 64 + 64 pictures of
 * 28 x 28 x 3. Forward, inner passes, backward, Adam. One worker a thread. The loss of the first weights must agree
 * (VAT: that of the labels, for its first direction is random). */
#include "system.h"

#include <string.h>

#include "regard/objective.h"
#include "regard/task.h"
#include "regard/train.h"

enum { MOST = 64, SIDE = 28, PIXELS = SIDE * SIDE, EXAMPLES = 256, CLASSES = 10 };

static const struct {
    const char *name, *kind, *yaml;
    size_t      labelled, beside, channels;
} row_of[] = {
    { "FGSM, mlp 2x1200, 128", "fgsm",
      "type: mlp\nlayers: f1200 f1200\nobjective: [adversarial]\nepsilon: 0.25\nalpha: 0.5\n", 128, 0, 1 },
    { "VAT, mlp 2x1200, 100+250", "vat",
      "type: cnn\nlayers: f1200n f1200n\npool: flatten\nobjective: [vat]\nepsilon: 2\nxi: 0.01\n", 100, 250, 1 },
    { "DANN, 64+64 of 28x28x3", "dann",
      "type: cnn\nlayers: c5x32 p2 c5x48 p2 f100 f100\npool: flatten\nfeatures-at: pool\nobjective: "
      "[domain]\nlambda: constant\n",
      64, 64, 3 },
};
enum { ROWS = sizeof row_of / sizeof *row_of };

/* Examples of one kind, and the shares of the workers. */
typedef struct {
    rg_real *x;
    int32_t  start[EXAMPLES + 1], size[2 * EXAMPLES], label_start[EXAMPLES + 1], label[EXAMPLES];
    rg_batch batch, share[MOST];
    int32_t  storage[MOST][8 * EXAMPLES];
} examples;

typedef struct {
    rg_recipe     *recipe;
    rg_objectives *objectives;
    rg_model      *model;
    rg_workers    *workers;
    rg_optimizer  *optimizer;
    examples       labelled, beside;
    const void    *shares[MOST];
    size_t         count;
    uint64_t       step;
    double         loss;
} state;

static void describe(bench_row *out, size_t row)
{
    snprintf(out->name, sizeof out->name, "%s", row_of[row].name);
    snprintf(out->params, sizeof out->params, "\"kind\": \"%s\", \"labelled\": %zu, \"beside\": %zu, \"channels\": %zu",
             row_of[row].kind, row_of[row].labelled, row_of[row].beside, row_of[row].channels);
}

static void teardown(void *context)
{
    state *s = context;
    rg_optimizer_free(s->optimizer);
    rg_workers_free(s->workers);
    rg_model_free(s->model);
    rg_objectives_free(s->objectives);
    rg_recipe_free(s->recipe);
    rg_free(s->labelled.x);
    rg_free(s->beside.x);
}

/* Pictures of 0 .. 1 by the seed. */
static rg_status draw(examples *e, size_t n, size_t channels, uint32_t seed, bool labels, size_t shares)
{
    const size_t numbers = n * PIXELS * channels;
    if (!(e->x = rg_alloc_array(numbers + 1, sizeof *e->x))) return RG_ENOMEM;
    bench_fill(e->x, numbers, seed);
    for (size_t k = 0; k < numbers; k++) e->x[k] += (rg_real)0.5;
    for (size_t i = 0; i < n; i++) {
        e->start[i + 1] = (int32_t)((i + 1) * PIXELS);
        e->size[2 * i] = e->size[2 * i + 1] = SIDE;
        e->label_start[i + 1] = (int32_t)(i + 1);
        e->label[i] = (int32_t)(i % CLASSES);
    }
    e->batch = (rg_batch){ .examples = n, .fields = labels ? 2 : 1 };
    e->batch.field[RG_INPUT] =
        (rg_field){ .kind = RG_FIELD_PIXELS,
                    .layout = { .groups = n, .start = e->start, .height = SIDE, .width = SIDE },
                    .values = e->x,
                    .width = channels,
                    .size = e->size };
    e->batch.field[RG_LABEL] =
        (rg_field){ .kind = RG_FIELD_CLASS, .layout = { .groups = n, .start = e->label_start }, .ids = e->label };
    for (size_t w = 0; w < shares; w++) rg_batch_share(&e->share[w], e->storage[w], &e->batch, w, shares);
    return RG_OK;
}

static rg_loss loss(void *context, rg_tape *t, const void *share, int worker)
{
    (void)worker;
    return rg_objectives_loss(t, ((const state *)context)->objectives, share);
}

/* The number both sides must agree on, of the whole batch. */
static rg_status first_loss(state *s, size_t row)
{
    const rg_tape_config c = { .record = true, .learn = true, .seed = 1 };
    rg_tape             *t;
    RG_TRY(rg_tape_new(&t, &c));
    const bool    labels = strcmp(row_of[row].kind, "vat") == 0;
    const rg_loss l = labels ? rg_pass_run(t, s->model, &s->labelled.batch, true).loss
                             : rg_objectives_loss(t, s->objectives, &s->labelled.batch);
    const rg_status status = rg_tape_status(t);
    if (status == RG_OK) s->loss = (double)rg_tensor_at(l.sum, 0, 0) / l.count;
    rg_tape_free(t);
    return status;
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state         *s = context;
    const size_t   C = row_of[row].channels;
    const rg_sizes sizes = { { { "classes", CLASSES }, { "features", PIXELS * C }, { "channels", C },
                               { "height", SIDE }, { "width", SIDE } } };
    RG_TRY(rg_recipe_new(&s->recipe, row_of[row].yaml));
    const rg_training t = rg_recipe_training(s->recipe, NULL);
    RG_TRY(rg_objectives_new(&s->objectives, t.system, t.objectives, t.objective_count));
    RG_TRY(rg_model_new_with(&s->model, t.system, t.system_options, &sizes, 1, rg_objectives_build, s->objectives));
    RG_TRY(bench_fill_weights(s->model->params));
    s->count = (size_t)rg_team_size(team) < MOST ? (size_t)rg_team_size(team) : MOST;
    RG_TRY(draw(&s->labelled, row_of[row].labelled, C, 1, true, s->count));
    if (row_of[row].beside) {
        RG_TRY(draw(&s->beside, row_of[row].beside, C, 2, false, s->count));
        s->labelled.batch.beside = &s->beside.batch;
    }
    for (size_t w = 0; w < s->count; w++) {
        s->labelled.share[w].beside = row_of[row].beside ? &s->beside.share[w] : NULL;
        s->shares[w] = &s->labelled.share[w];
    }
    RG_TRY(first_loss(s, row));
    const rg_workers_config workers = { .workers = (int)s->count, .threads = 1, .seed = 1 };
    rg_optimizer_config     adam = RG_OPTIMIZER_CONFIG_DEFAULT;
    RG_TRY(rg_workers_new(&s->workers, s->model->params, &workers));
    return rg_optimizer_new(&s->optimizer, s->model->params, &adam);
}

static rg_status run(void *context)
{
    state         *s = context;
    rg_losses      losses;
    rg_step_report report;
    const rg_job   job = { .shares = s->shares, .count = s->count, .step = ++s->step, .loss = loss, .context = s };
    RG_TRY(rg_workers_run(&losses, s->workers, &job));
    return rg_optimizer_step(&report, s->optimizer, rg_workers_grads(s->workers), s->count, losses.count, 1e-4,
                             rg_workers_team(s->workers));
}

static double check(void *context) { return ((const state *)context)->loss; }

const bench_case bench_case_adversarial = {
    .name = "adversarial",
    .summary = "training steps with objectives: FGSM, virtual adversarial training, domain-adversarial training",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
