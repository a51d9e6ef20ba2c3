/* Domain-adversarial training: features from which an adversary cannot tell what it is asked for, most often whether an
 * example is of the source domain (labelled) or of the target domain (--target-sets, without labels).
 *
 *     L = L_y(y, f(x))  over labelled examples  +  L_d(d, head(R(features)))  over both halves
 *
 * R, the gradient reversal, is the identity forward and -lambda times the gradient backward: the head learns to tell
 * with weight 1, the features to hide it with weight lambda,
 *
 *     lambda_p = w (2 / (1 + exp(-gamma p)) - 1)          p in [0, 1]: how far the training is
 *
 * The adversary may be asked for something else (--adversary): a column of the file, which is then kept out of the
 * features; a random bit per example, which acts as noise; the parity of the label, which fights the task itself.
 * Where features are a row per word, so is the head. */
#include "regard/layers.h"
#include "regard/objective.h"
#include "regard/ops.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 8 };

typedef struct {
    char   *lambda, *weight, *adversary;
    rg_list layers;
    double  gamma, init;
} settings;

static const rg_option options[] = {
    { RG_OPTION_REAL, "gamma", offsetof(settings, gamma), "10", "slope of the schedule of lambda", 0, "(0,inf)", NULL },
    { RG_OPTION_STRING, "lambda", offsetof(settings, lambda), "schedule",
      "lambda grows with the run, or is at its highest value from the start", 0, "schedule|constant", NULL },
    { RG_OPTION_STRING, "domain-weight", offsetof(settings, weight), "auto", "highest value of lambda; auto: 1", 0,
      NULL, NULL },
    { RG_OPTION_LIST, "domain-layers", offsetof(settings, layers), "100", "units of the head's hidden layers; 0: none",
      0, NULL, NULL },
    { RG_OPTION_STRING, "adversary", offsetof(settings, adversary), "domain",
      "what the head predicts: domain, column:N of the file, random (a bit per example), parity (of the label)", 0,
      NULL, NULL },
    { RG_OPTION_REAL, "domain-init", offsetof(settings, init), "1",
      "the head's first weights are so many times as large", 0, "(0,inf)", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_dense              layer[MOST_LAYERS + 1];
    size_t                layers;
    atomic_uint_least64_t right, asked;           /* since the last log line; workers count at the same time */
    atomic_uint_least64_t task_right, task_asked; /* the same of the answers to labelled examples */
} parts;

static bool        is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static const char *column(const void *given)
{
    const char *name = ((const settings *)given)->adversary;
    return strncmp(name, "column:", 7) == 0 ? name + 7 : NULL;
}

static rg_status weight_of(double *out, const settings *s)
{
    char *end;
    *out = 1;
    if (is(s->weight, "auto")) return RG_OK;
    *out = strtod(s->weight, &end);
    if (end == s->weight || *end || !(*out >= 0) || !isfinite(*out))
        return rg_fail(RG_EINVAL, "--domain-weight %s: a number from 0 on, or auto", s->weight);
    return RG_OK;
}

static rg_status check(const void *given)
{
    const settings *s = given;
    double          w;
    if (s->layers.count > MOST_LAYERS)
        return rg_fail(RG_ELIMIT, "--domain-layers: %zu layers; at most %d", s->layers.count, MOST_LAYERS);
    for (size_t i = 0; i < s->layers.count; i++) {
        char      *end;
        const long n = strtol(s->layers.items[i], &end, 10);
        if (end == s->layers.items[i] || *end || n < 0 || n > 100000)
            return rg_fail(RG_EINVAL, "--domain-layers %s: units, 1 to 100000 (0: no layer)", s->layers.items[i]);
    }
    if (!is(s->adversary, "domain") && !is(s->adversary, "random") && !is(s->adversary, "parity") &&
        (!column(s) || !*column(s)))
        return rg_fail(RG_EINVAL, "--adversary %s: domain, column:N, random or parity", s->adversary);
    return weight_of(&w, s);
}

/* --------------------------------------------------------------------------------------------------------- the head */

static rg_status build(rg_objective_use *use, rg_params *params)
{
    const settings *s = use->options;
    parts          *q = use->parts;
    size_t in = rg_model_size(use->model, "units"), K = column(s) ? rg_model_size(use->model, "adversary-classes") : 2;
    if (!in)
        return rg_fail(RG_EINVAL,
                       "%s does not say how wide its features are: --objective domain cannot stand behind it",
                       use->model->system->name);
    if (K < 2)
        return rg_fail(RG_EINVAL, "--adversary %s: the column has one value, there is nothing to predict",
                       s->adversary);
    for (size_t i = 0; i <= s->layers.count; i++) {
        const size_t n = i < s->layers.count ? (size_t)strtoul(s->layers.items[i], NULL, 10) : K;
        if (!n) continue;
        rg_dense *d = &q->layer[q->layers];
        d->f = i < s->layers.count ? RG_RELU : RG_IDENTITY;
        rg_params_push(params, "%zu", q->layers++);
        d->w = rg_params_add(params, "w", RG_WEIGHT, in, n, RG_INIT_GLOROT, s->init);
        d->b = rg_params_add(params, "b", RG_VECTOR, 1, n, RG_INIT_ZERO, 0);
        rg_params_pop(params);
        in = n;
    }
    return RG_OK;
}

static double lambda_at(const settings *s, rg_progress progress)
{
    double w = 1;
    (void)weight_of(&w, s); /* checked before */
    return is(s->lambda, "constant") ? w : w * (2 / (1 + exp(-s->gamma * progress.part)) - 1);
}

static rg_tensor *head(rg_tape *t, const rg_objective_use *use, rg_tensor *features, double lambda)
{
    const parts *q = use->parts;
    rg_tensor   *h = rg_reverse_gradient(t, features, lambda);
    for (size_t i = 0; i < q->layers; i++) h = rg_dense_run(t, &q->layer[i], h);
    return h;
}

/* --------------------------------------------------------------------------------------------- what it is asked for */

static int32_t bit_of(uint64_t line, bool beside)
{
    rg_random r = rg_random_new(0x72616e646f6d, line * 2 + beside);
    return (int32_t)(rg_random_u32(&r) >> 31);
}

/* Of example i; -1: it is not asked. */
static int32_t wanted(const settings *s, const rg_batch *b, size_t i, bool beside)
{
    const rg_field *label = &b->field[RG_LABEL], *extra = &b->field[b->fields - 1];
    if (is(s->adversary, "domain")) return beside;
    if (is(s->adversary, "random")) return bit_of(b->lines ? b->lines[i] : i, beside);
    if (beside) return -1;
    if (column(s)) return extra->ids[extra->layout.start[i]];
    return label->layout.start[i] < label->layout.start[i + 1] && label->ids ? label->ids[label->layout.start[i]] % 2
                                                                             : -1;
}

/* For every row of the features: an example, or a word of one. */
static int32_t *targets(rg_tape *t, const settings *s, const rg_batch *b, const rg_tensor *y, bool beside)
{
    const size_t     N = rg_tensor_rows(y);
    const rg_layout *l = &b->field[RG_INPUT].layout;
    int32_t         *to = rg_tape_memory(t, (N + 1) * sizeof *to);
    for (size_t i = 0; to && i < b->examples; i++) {
        const bool   words = N != b->examples;
        const size_t begin = words ? (size_t)l->start[i] : i, end = words ? (size_t)l->start[i + 1] : i + 1;
        for (size_t k = begin; k < end && k < N; k++) {
            const rg_field *label = &b->field[RG_LABEL];
            const bool      tag = words && is(s->adversary, "parity");
            to[k] = tag ? (beside || label->ids[k] < 0 ? -1 : label->ids[k] % 2) : wanted(s, b, i, beside);
        }
    }
    return to;
}

static bool is_best(const rg_tensor *y, size_t row, int32_t c)
{
    const rg_real *x = rg_tensor_row(y, row);
    for (size_t k = 0; k < rg_tensor_cols(y); k++)
        if (x[k] > x[c] || (x[k] == x[c] && k < (size_t)c)) return false;
    return true;
}

/* How often the head is right, for the log. */
static void count(parts *q, const rg_tensor *y, const int32_t *to)
{
    uint64_t right = 0, asked = 0;
    for (size_t i = 0; i < rg_tensor_rows(y); i++) {
        if (to[i] < 0) continue;
        asked++;
        right += is_best(y, i, to[i]);
    }
    atomic_fetch_add(&q->right, right);
    atomic_fetch_add(&q->asked, asked);
}

/* And how often the answers are: classes, one per example or per word. */
static void count_answers(parts *q, const rg_batch *b, const rg_tensor *logits)
{
    const rg_field *label = &b->field[RG_LABEL];
    const size_t    N = rg_tensor_rows(logits);
    uint64_t        right = 0, asked = 0;
    if (b->fields <= RG_LABEL || !label->ids || (N != b->examples && N != rg_field_rows(label))) return;
    for (size_t i = 0; i < N; i++) {
        const bool    words = N != b->examples;
        const int32_t at = words ? (int32_t)i : label->layout.start[i];
        if (!words && label->layout.start[i + 1] - at != 1) continue;
        if (label->ids[at] < 0 || (size_t)label->ids[at] >= rg_tensor_cols(logits)) continue;
        asked++;
        right += is_best(logits, i, label->ids[at]);
    }
    atomic_fetch_add(&q->task_right, right);
    atomic_fetch_add(&q->task_asked, asked);
}

static rg_tensor *half(double *asked, rg_tape *t, const rg_objective_use *use, const rg_batch *b, rg_tensor *features,
                       double lambda, bool beside)
{
    rg_tensor *y = head(t, use, features, lambda);
    int32_t   *to = y ? targets(t, use->options, b, y, beside) : NULL;
    if (!to) return NULL;
    if (!rg_tape_dry(t)) count(use->parts, y, to);
    for (size_t i = 0; i < rg_tensor_rows(y); i++) *asked += to[i] >= 0;
    return rg_cross_entropy(t, y, to, 0);
}

/* ------------------------------------------------------------------------------------------------------------- loss */

/* With lambda 0 all along the target domain moves nothing: neither weights nor kept statistics. */
static rg_loss loss(rg_tape *t, const rg_objective_use *use, const rg_pass *p)
{
    const settings   *s = use->options;
    const rg_system  *system = p->model->system;
    const rg_batch   *beside = p->fields->beside;
    const rg_progress progress = rg_tape_progress(t);
    double            asked = 0, w = 0;
    if (is(s->adversary, "domain") && !beside)
        return (rg_loss){
            rg_tape_fail(t, RG_EINVAL, "--objective domain needs examples of the target domain: give --target-sets"), 0
        };
    if (is(s->lambda, "schedule") && progress.part < 0)
        return (rg_loss){
            rg_tape_fail(t, RG_EINVAL,
                         "--lambda schedule goes by the progress of the run: give --after-epochs or --after-batches"),
            0
        };
    const double lambda = lambda_at(s, progress);
    rg_tensor   *sum = half(&asked, t, use, p->fields, p->features, lambda, false);
    (void)weight_of(&w, s);
    if (sum && p->logits && !rg_tape_dry(t)) count_answers(use->parts, p->fields, p->logits);
    if (beside && beside->examples && (is(s->adversary, "domain") || is(s->adversary, "random"))) {
        const bool settles = rg_tape_update_statistics(t, w > 0);
        rg_tensor *f = system->features(t, p->model, beside, system->enter(t, p->model, beside));
        rg_tape_update_statistics(t, settles);
        sum = rg_add(t, sum, half(&asked, t, use, beside, f, lambda, true));
    }
    return (rg_loss){ rg_scale(t, sum, asked > 0 ? p->loss.count / asked : 0), p->loss.count };
}

static size_t tells(const rg_objective_use *use, rg_progress progress, rg_objective_note notes[RG_OBJECTIVE_NOTES])
{
    parts         *q = use->parts;
    const uint64_t right = atomic_exchange(&q->right, 0), asked = atomic_exchange(&q->asked, 0);
    const uint64_t task_right = atomic_exchange(&q->task_right, 0), task_asked = atomic_exchange(&q->task_asked, 0);
    size_t         n = 0;
    notes[n++] = (rg_objective_note){ "lambda", lambda_at(use->options, progress) };
    if (asked) notes[n++] = (rg_objective_note){ "domain-accuracy", (double)right / (double)asked };
    if (task_asked) notes[n++] = (rg_objective_note){ "task-accuracy", (double)task_right / (double)task_asked };
    return n;
}

const rg_objective rg_objective_domain = {
    .name = "domain",
    .summary = "features from which an adversary cannot tell the domain (or a column)",
    .formula = "L_y(y, f(x)) + L_d(d, head(R(features))),  dR/dx = -lambda,  lambda = 2/(1 + exp(-gamma p)) - 1",
    .paper = "Ganin, Ustinova, Ajakan, Germain, Larochelle, Laviolette, Marchand, Lempitsky 2016",
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .check = check,
    .column = column,
    .loss = loss,
    .tells = tells,
};
