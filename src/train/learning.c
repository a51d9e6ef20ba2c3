/* learning.c - the settings of every training as rows, and the trainer's settings made from them. */
#include "regard/learning.h"

#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(rg_learning, field)

const rg_option rg_learning_rows[] = {
    { RG_OPTION_STRING, "model", AT(model), "model.safetensors",
      "file to write; MODEL.checkpoint beside it is resumed from", 'm', NULL },
    { RG_OPTION_BOOL, "overwrite", AT(overwrite), "false", "start again although a checkpoint is there", 0, NULL },
    { RG_OPTION_STRING, "init-from", AT(init_from), "",
      "model file whose weights of the same name and shape are taken to start from", 0, NULL },
    { RG_OPTION_LIST, "freeze", AT(freeze), "", "parameters that do not learn, by name: 'encoder.*'", 0, NULL },
    { RG_OPTION_STRING, "optimizer", AT(optimizer), "adam",
      "sgd, nesterov, adam, adamw, adadelta, adagrad, rmsprop, rmsprop-centred, graves", 'o', NULL },
    { RG_OPTION_REAL, "learn-rate", AT(rate), "0.001", "learning rate, the highest of the schedule", 'l', "(0,inf)" },
    { RG_OPTION_STRING, "lr-schedule", AT(schedule), "",
      "how the learning rate goes; empty: inverse-sqrt with --lr-decay-inv-sqrt, else constant", 0,
      "|constant|transformer|inverse-sqrt|exponential|step|cosine|linear|epochs|dann" },
    { RG_OPTION_REAL, "lr-warmup", AT(warmup), "0", "updates over which the learning rate rises", 0, "[0,inf)" },
    { RG_OPTION_REAL, "lr-decay-inv-sqrt", AT(decay_inv_sqrt), "0",
      "after so many updates it falls by sqrt(this / updates); 0: it stays", 0, "[0,inf)" },
    { RG_OPTION_REAL, "lr-decay-start", AT(start), "0",
      "updates before exponential, step, cosine or linear begin to fall; epochs: epochs", 0, "[0,inf)" },
    { RG_OPTION_REAL, "lr-decay-freq", AT(every), "0",
      "updates between two cuts; cosine, linear: until the end of the fall (0: to the end of the run)", 0, "[0,inf)" },
    { RG_OPTION_REAL, "lr-decay", AT(decay), "0.5", "exponential, step, epochs: factor of one cut", 0, "(0,1]" },
    { RG_OPTION_REAL, "lr-least", AT(least), "0", "the learning rate never falls below this", 0, "[0,inf)" },
    { RG_OPTION_REAL, "lr-cooldown", AT(cooldown), "0", "over the last so many of --after-batches it falls to 0", 0,
      "[0,inf)" },
    { RG_OPTION_REAL, "lr-decay-stalled", AT(stalled_decay), "0",
      "factor when a validation is not better than the best; 0: none", 0, "[0,1]" },
    { RG_OPTION_REAL, "beta1", AT(beta1), "-1", "momentum or first beta; -1: the optimiser's own (adam: 0.9)", 0,
      "[-1,1)", "momentum" },
    { RG_OPTION_REAL, "beta2", AT(beta2), "-1",
      "second beta or decay of averages; -1: the optimiser's own (adam: 0.98)", 0, "[-1,1)" },
    { RG_OPTION_REAL, "optimizer-epsilon", AT(epsilon), "-1", "the optimiser's epsilon; -1: its own (adam: 1e-9)", 0,
      "[-1,inf)", "epsilon" },
    { RG_OPTION_REAL, "weight-decay", AT(weight_decay), "0", "L2, decoupled with adamw", 0, "[0,inf)" },
    { RG_OPTION_REAL, "clip-norm", AT(clip_norm), "0", "largest norm of the gradient; 0: not clipped", 0, "[0,inf)" },
    { RG_OPTION_REAL, "clip-value", AT(clip_value), "0", "largest component of the gradient; 0: not clipped", 0,
      "[0,inf)" },
    { RG_OPTION_REAL, "exponential-smoothing", AT(smoothing), "0",
      "share of new weights in their running average; 0: none; alone: 1e-4", 0, "[0,1)", NULL, "1e-4" },
    { RG_OPTION_INT, "optimizer-delay", AT(delay), "1", "batches per update", 0, "[1,inf)" },
    { RG_OPTION_INT, "after-epochs", AT(epochs), "0", "stop after so many passes over the data; 0: no limit", 'e',
      "[0,inf)" },
    { RG_OPTION_INT, "after-batches", AT(updates), "0", "stop after so many updates; 0: no limit", 0, "[0,inf)" },
    { RG_OPTION_INT, "valid-freq", AT(valid_freq), "1000", "updates between validations; 0: not by updates", 0,
      "[0,inf)" },
    { RG_OPTION_INT, "after-labels", AT(labels), "0",
      "stop after so many target tokens (labels); 0: no limit. --after 10e, 5000u or 1Gt says the same", 0, "[0,inf)" },
    { RG_OPTION_INT, "valid-labels", AT(valid_labels), "0",
      "target tokens between validations; 0: not by tokens. --valid-freq 1Mt says the same", 0, "[0,inf)" },
    { RG_OPTION_INT, "valid-epochs", AT(valid_epochs), "0", "epochs between validations; 0: not by epochs", 0,
      "[0,inf)" },
    { RG_OPTION_INT, "early-stopping", AT(patience), "10",
      "validations without a better metric before it stops; 0: never", 0, "[0,inf)" },
    { RG_OPTION_STRING, "early-stopping-on", AT(stop_on), "first", "of several metrics the first decides, all, or any",
      0, "first|all|any" },
    { RG_OPTION_BOOL, "keep-best", AT(keep_best), "true", "also keep MODEL.best-METRIC", 0, NULL },
    { RG_OPTION_BOOL, "restore-best", AT(restore_best), "false", "the final model is that of the best validation", 0,
      NULL },
    { RG_OPTION_INT, "average", AT(average), "0",
      "the final model is the mean of the best so many saved by --save-freq, if it validates better", 0, "[0,inf)" },
    { RG_OPTION_INT, "save-freq", AT(save_freq), "1000", "updates between checkpoints", 0, "[0,inf)" },
    { RG_OPTION_INT, "save-labels", AT(save_labels), "0", "target tokens between checkpoints; 0: not by tokens", 0,
      "[0,inf)" },
    { RG_OPTION_REAL, "save-minutes", AT(save_minutes), "5",
      "most minutes between checkpoints; 0: save by updates only", 0, "[0,1e9]" },
    { RG_OPTION_INT, "disp-freq", AT(disp_freq), "100", "updates between log lines", 0, "[0,inf)" },
    { RG_OPTION_INT, "disp-labels", AT(disp_labels), "0", "target tokens between log lines; 0: not by tokens", 0,
      "[0,inf)" },
    { RG_OPTION_STRING, "log", AT(log), "", "append log lines, with the time, to this file too", 0, NULL },
    { RG_OPTION_STRING, "valid-log", AT(valid_log), "", "append lines of validations to this file too", 0, NULL },
    { RG_OPTION_STRING, "log-json", AT(log_json), "", "log as JSON lines; empty: MODEL.jsonl", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", AT(threads), "0", "threads; 0: one per core", 0, "[0,1024]" },
    { RG_OPTION_REAL, "rank-timeout", AT(rank_timeout), "300",
      "under mpirun: seconds that rank 0 waits for another rank before it saves and ends the run", 0, "[1,1e6]" },
    { RG_OPTION_BOOL, "rank-overlap", AT(rank_overlap), "true",
      "under mpirun: sum gradients while the backward pass still runs", 0, NULL },
    { RG_OPTION_INT, "seed", AT(seed), "1", "of weights, order and dropout", 0, "[0,inf)" },
    RG_OPTION_END
};

int rg_learning_threads(const rg_learning *l)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return l->threads ? (int)l->threads : cores > 0 ? (int)cores : 1;
}

/* To the end of the run, unless it is said: of its updates, or of its epochs where those are not known. */
static bool falls(const char *schedule) { return strcmp(schedule, "cosine") == 0 || strcmp(schedule, "linear") == 0; }

rg_status rg_learning_check(const rg_learning *l, const rg_trainer_config *c)
{
    if (l->cooldown > 0 && !c->steps)
        return rg_fail(RG_EINVAL, "--lr-cooldown %g counts back from the end of --after-batches: give one",
                       l->cooldown);
    const bool by_progress = strcmp(c->schedule.name, "dann") == 0 || (falls(c->schedule.name) && !(c->schedule.every > 0));
    if (by_progress && !c->steps && !c->epochs && !c->labels)
        return rg_fail(RG_EINVAL,
                       "--lr-schedule %s goes by the progress of the run: give --after-epochs or --after-batches",
                       c->schedule.name);
    if (!c->epochs && !c->steps && !c->labels && !c->patience)
        return rg_fail(
            RG_EINVAL,
            "when should it stop? give validation data for --early-stopping, or --after-epochs, or --after-batches");
    return RG_OK;
}

static const char *schedule_of(const rg_learning *l)
{
    if (l->schedule[0]) return l->schedule;
    return l->decay_inv_sqrt > 0 ? "inverse-sqrt" : "constant";
}

static rg_schedule make_schedule(const rg_learning *l, double width)
{
    const bool  inverse = strcmp(schedule_of(l), "inverse-sqrt") == 0;
    rg_schedule s = RG_SCHEDULE_DEFAULT;
    s.name = schedule_of(l);
    s.rate = l->rate;
    s.warmup = l->warmup;
    s.start = inverse ? l->decay_inv_sqrt : l->start;
    if (l->every > 0) s.every = l->every;
    else if (falls(s.name)) s.every = l->updates ? (double)l->updates - l->start : 0;
    s.decay = l->decay;
    s.least = l->least;
    s.width = width;
    s.end = (double)l->updates;
    s.cooldown = l->cooldown;
    return s;
}

rg_trainer_config rg_learning_config(const rg_learning *l, bool validates, double width)
{
    static const char *const stops[] = {
        [RG_STOP_ON_FIRST] = "first", [RG_STOP_ON_ALL] = "all", [RG_STOP_ON_ANY] = "any"
    };
    rg_trainer_config        c = RG_TRAINER_CONFIG_DEFAULT;
    c.workers.workers = rg_learning_threads(l);
    c.workers.seed = (uint64_t)l->seed;
    c.optimizer.name = l->optimizer;
    c.optimizer.a = l->beta1;
    c.optimizer.b = l->beta2;
    c.optimizer.eps = l->epsilon;
    c.optimizer.decay = l->weight_decay;
    c.optimizer.clip_norm = l->clip_norm;
    c.optimizer.clip_value = l->clip_value;
    c.optimizer.smoothing = l->smoothing;
    c.schedule = make_schedule(l, width);
    c.steps = (uint64_t)l->updates;
    c.epochs = (uint64_t)l->epochs;
    c.delay = (uint64_t)l->delay;
    c.overlap = l->rank_overlap;
    c.validate_every = validates ? (uint64_t)l->valid_freq : 0;
    c.validate_epochs = validates ? (uint64_t)l->valid_epochs : 0;
    c.validate_labels = validates ? (uint64_t)l->valid_labels : 0;
    c.labels = (uint64_t)l->labels;
    c.save_every = (uint64_t)l->save_freq;
    c.save_labels = (uint64_t)l->save_labels;
    c.log_labels = (uint64_t)l->disp_labels;
    c.save_seconds = l->model[0] ? 60 * l->save_minutes : 0;
    c.log_every = (uint64_t)l->disp_freq;
    c.patience = validates ? (uint64_t)l->patience : 0;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (strcmp(l->stop_on, stops[i]) == 0) c.stop_on = (rg_stop_on)i;
    c.stalled_decay = l->stalled_decay;
    c.model = l->model[0] ? l->model : NULL;
    c.restore_best = l->restore_best && validates;
    c.keep_best = l->keep_best && validates;
    c.average = (size_t)l->average;
    c.average_best = validates;
    return c;
}
