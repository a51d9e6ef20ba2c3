/* graph_train.c - learning labels of nodes: whole graphs as batches, the published way to stop.
 *
 * Graph attention's rule (Velickovic et al. 2018, the authors' program): an epoch is good when validation loss <= its best OR score >= its
 * best; `patience` epochs without a good one end the run; weights are kept when BOTH hold, and those are tested. */
#include "tasks/graph_task.h"
#include "tasks/model_file.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const rg_graph_options *o;
    const rg_graph_data    *data;
    const rg_train_report  *report;
    rg_model               *model;
    rg_trainer             *trainer;
    rg_tape                *judge; /* without recording */
    int                     threads;
    char                   *checkpoint;
    size_t                  next; /* graph of this epoch */
    rg_graph_batch          batch;
    const void             *share;

    double   best_loss, best_score; /* each on its own */
    double   kept_loss, kept_score; /* of the weights in `kept` */
    rg_real *kept;
    size_t   kept_size;
    double   valid_seconds;
    uint64_t validations;
} training;

/* -------------------------------------------------------------------------------------------------------------- hooks */

/* An epoch is each graph once. */
static rg_status next_graph(void *context, rg_shares *out)
{
    training *t = context;
    *out = (rg_shares){ 0 };
    if (t->next == t->data->train) {
        t->next = 0;
        return RG_OK;
    }
    t->batch = (rg_graph_batch){ .graph = t->data->graph[t->next++], .split = RG_GRAPH_TRAIN };
    t->share = &t->batch;
    *out = (rg_shares){ .share = &t->share, .count = 1, .cost = (double)t->batch.graph->nodes };
    return RG_OK;
}

static rg_loss graph_loss(void *context, rg_tape *tape, const void *share, int worker)
{
    const training *t = context;
    (void)worker;
    return t->model->system->loss(tape, t->model, share);
}

/* Mean loss and score of a split over its graphs. */
static rg_status judge(double *out_loss, double *out_score, training *t, rg_graph_split split)
{
    const rg_graph_data *d = t->data;
    const size_t         own = split == RG_GRAPH_VALID ? d->valid : d->test;
    const size_t         first = !own ? 0 : split == RG_GRAPH_VALID ? d->train : d->train + d->valid, count = own ? own : d->train;
    rg_graph_counts      counts = { 0 };
    double               sum = 0, labels = 0;
    for (size_t i = first; i < first + count; i++) {
        const rg_graph_batch batch = { .graph = d->graph[i], .split = split };
        if (!batch.graph->set[split].count) continue;
        rg_tape_reset(t->judge, 0);
        const rg_tensor *y = t->model->system->predict(t->judge, t->model, &batch);
        const rg_loss    loss = rg_graph_loss(t->judge, &batch, (rg_tensor *)y);
        RG_TRY(rg_tape_status(t->judge));
        sum += (double)rg_tensor_at(loss.sum, 0, 0);
        labels += loss.count;
        rg_graph_count(&counts, batch.graph, split, rg_tensor_data(y), rg_tensor_ld(y));
    }
    *out_loss = labels > 0 ? sum / labels : NAN;
    *out_score = labels > 0 ? rg_graph_score(&counts) : NAN;
    return RG_OK;
}

static rg_status validate(void *context, rg_metrics *out)
{
    training    *t = context;
    double       loss, score;
    const double begun = rg_now();
    RG_TRY(judge(&loss, &score, t, RG_GRAPH_VALID));
    t->valid_seconds += rg_now() - begun;
    t->validations++;
    if (loss <= t->best_loss && score >= t->best_score) {
        rg_params_keep(t->kept, t->model->params);
        t->kept_loss = loss;
        t->kept_score = score;
    }
    if (loss < t->best_loss) t->best_loss = loss;
    if (score > t->best_score) t->best_score = score;
    RG_TRY(rg_metrics_add(out, "loss", loss, false));
    return rg_metrics_add(out, t->data->several ? "micro-f1" : "accuracy", score, true);
}

static rg_status describe(void *context, rg_state *state) { return rg_model_describe(state, ((const training *)context)->model); }

static rg_status save_best(void *context, rg_state *state)
{
    const training *t = context;
    RG_TRY(rg_state_put_count(state, "graph.next", t->next));
    RG_TRY(rg_state_put_number(state, "best.loss", t->best_loss));
    RG_TRY(rg_state_put_number(state, "best.score", t->best_score));
    RG_TRY(rg_state_put_number(state, "kept.loss", t->kept_loss));
    RG_TRY(rg_state_put_number(state, "kept.score", t->kept_score));
    return rg_state_put_bytes(state, "kept.weights", t->kept, t->kept_size * sizeof *t->kept);
}

static rg_status load_best(void *context, const rg_state *state)
{
    training   *t = context;
    const void *bytes;
    size_t      count;
    uint64_t    next;
    RG_TRY(rg_state_get_count(&next, state, "graph.next"));
    RG_TRY(rg_state_get_number(&t->best_loss, state, "best.loss"));
    RG_TRY(rg_state_get_number(&t->best_score, state, "best.score"));
    RG_TRY(rg_state_get_number(&t->kept_loss, state, "kept.loss"));
    RG_TRY(rg_state_get_number(&t->kept_score, state, "kept.score"));
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, "kept.weights"));
    if (count != t->kept_size * sizeof *t->kept || next > t->data->train)
        return rg_fail(RG_EMATCH, "the checkpoint belongs to another model or other graphs; --overwrite begins anew");
    memcpy(t->kept, bytes, count);
    for (size_t i = 0; i < t->kept_size; i++)
        if (!isfinite(t->kept[i])) return rg_fail(RG_ENUMBER, "the best weights so far: value %zu of %zu is not finite", i, t->kept_size);
    t->next = (size_t)next;
    rg_tell_changed_settings(t->report, state, t->model);
    return RG_OK;
}

static void blame(void *context, const void *share, char *out, size_t room)
{
    (void)context;
    snprintf(out, room, "graph %s", ((const rg_graph_batch *)share)->graph->name);
}

enum { OUT_OF_REACH = 100000 }; /* so many epochs are no limit to show progress by: patience ends the run */

/* One validation a pass would be two lines a pass: people see every disp-freq-th. */
static void forward_log(void *context, const rg_train_log *log)
{
    const training *t = context;
    if (log->event == RG_TRAIN_SAVED) return;
    if (log->event == RG_TRAIN_VALID && t->o->disp_freq && log->step % (uint64_t)t->o->disp_freq != 0) return;
    rg_train_log told = *log;
    if (t->o->patience && t->o->epochs >= OUT_OF_REACH) told.part = -1;
    rg_tell_log(t->report, &told);
}

static double epoch_part(void *context)
{
    const training *t = context;
    return (double)t->next / (double)t->data->train;
}

static bool forward_stop(void *context)
{
    const training *t = context;
    return rg_told_to_stop(t->report);
}

/* ---------------------------------------------------------------------------------------------------------------- run */

static rg_trainer_config trainer_config(const training *t)
{
    const rg_graph_options *o = t->o;
    rg_trainer_config       c = RG_TRAINER_CONFIG_DEFAULT;
    c.workers.threads = t->threads;
    c.workers.seed = (uint64_t)o->seed;
    c.optimizer.name = o->optimizer;
    c.optimizer.a = o->beta1;
    c.optimizer.b = o->beta2;
    c.optimizer.eps = o->epsilon;
    c.optimizer.decay = o->weight_decay;
    c.schedule.rate = o->rate;
    c.epochs = (uint64_t)o->epochs;
    c.validate_epochs = 1;
    c.log_every = (uint64_t)o->disp_freq;
    c.patience = (uint64_t)o->patience;
    c.stop_on = RG_STOP_ON_ALL;
    c.ties = true;
    c.checkpoint = t->checkpoint;
    c.save_seconds = t->checkpoint ? 60 * t->o->save_minutes : 0;
    return c;
}

/* The kept weights become the model's, are tested, and written. */
static rg_status finish(rg_graph_result *out, training *t)
{
    double loss;
    RG_TRY(rg_params_restore(t->model->params, t->kept, NULL));
    out->valid_loss = t->kept_loss;
    out->valid_score = t->kept_score;
    RG_TRY(judge(&loss, &out->test_score, t, RG_GRAPH_TEST));
    if (!t->o->model[0]) return RG_OK;
    rg_state *state;
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_describe(state, t->model);
    if (status == RG_OK) status = rg_state_put_count(state, "graph.several", t->data->several);
    if (status == RG_OK) status = rg_state_put_count(state, "graph.directed", t->o->directed);
    if (status == RG_OK) status = rg_state_put_count(state, "graph.normalize", t->o->normalize);
    if (status == RG_OK) status = rg_model_save(t->model, state, t->o->model);
    rg_state_free(state);
    return status;
}

static rg_status make(training *t, const rg_system *system, const void *options)
{
    const rg_graph_data *d = t->data;
    const rg_sizes sizes = { { { "features", d->features }, { "classes", d->classes } } };
    RG_TRY(rg_model_new(&t->model, system, options, &sizes, (uint64_t)t->o->seed));
    t->kept_size = rg_params_kept_size(t->model->params);
    if (!(t->kept = rg_alloc_array(t->kept_size, sizeof *t->kept))) return RG_ENOMEM;
    rg_params_keep(t->kept, t->model->params);
    if (t->o->model[0] && !(t->checkpoint = rg_format("%s.checkpoint", t->o->model))) return RG_ENOMEM;
    size_t nodes = 0, edges = 0;
    for (size_t i = 0; i < d->train; i++) nodes += d->graph[i]->nodes, edges += d->graph[i]->edges;
    rg_tell(t->report, "%zu nodes, %zu edges, %zu features, %zu classes; %zu parameters", nodes, edges, d->features, d->classes,
        rg_params_numbers(t->model->params));
    return RG_OK;
}

static rg_status train(rg_graph_result *out, training *t, const rg_system *system, const void *options)
{
    RG_TRY(make(t, system, options));
    const rg_trainer_config config = trainer_config(t);
    const rg_trainer_hooks  hooks = { .context = t,
                                      .next = next_graph,
                                      .loss = graph_loss,
                                      .validate = validate,
                                      .describe = describe,
                                      .save = save_best,
                                      .load = load_best,
                                      .blame = blame,
                                      .log = forward_log,
                                      .stop = forward_stop,
                                      .epoch_part = epoch_part };
    RG_TRY(rg_trainer_new(&t->trainer, t->model->params, &config, &hooks));
    const rg_tape_config judging = { .record = false, .team = rg_workers_team(rg_trainer_workers(t->trainer)) };
    RG_TRY(rg_tape_new(&t->judge, &judging));
    uint64_t step = 0;
    if (!t->o->overwrite && t->checkpoint) RG_TRY(rg_trainer_resume(&step, t->trainer));
    const double    begun = rg_now();
    const rg_status status = rg_trainer_run(t->trainer);
    if (status != RG_OK && status != RG_ESTOP) return status;
    char *message = status == RG_OK ? NULL : rg_strdup(rg_message());
    out->seconds = rg_now() - begun;
    out->epochs = rg_optimizer_steps(rg_trainer_optimizer(t->trainer)) / t->data->train;
    const double done = (double)(rg_optimizer_steps(rg_trainer_optimizer(t->trainer)) - step);
    out->valid_seconds = t->validations ? t->valid_seconds / (double)t->validations : 0;
    out->step_seconds = done > 0 ? (out->seconds - t->valid_seconds) / done : 0;
    rg_status finished = finish(out, t);
    if (message) rg_fail(status, "%s", message);
    rg_free(message);
    return finished != RG_OK ? finished : status;
}

rg_status rg_graph_train(rg_graph_result *out, rg_model **out_model, const rg_system *system, const void *system_options,
                         const rg_graph_options *options, const rg_graph_data *data, const rg_train_report *report)
{
    *out = (rg_graph_result){ 0 };
    if (out_model) *out_model = NULL;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    training   t = { .o = options,
                     .data = data,
                     .report = report,
                     .threads = options->threads ? (int)options->threads
                                : cores > 0      ? (int)cores
                                                 : 1,
                     .best_loss = INFINITY,
                     .best_score = -INFINITY,
                     .kept_loss = INFINITY,
                     .kept_score = -INFINITY };
    rg_status  status = train(out, &t, system, system_options);
    rg_tape_free(t.judge);
    rg_trainer_free(t.trainer);
    rg_free(t.kept);
    rg_free(t.checkpoint);
    if (out_model && (status == RG_OK || status == RG_ESTOP)) *out_model = t.model;
    else rg_model_free(t.model);
    return status;
}
