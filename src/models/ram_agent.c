/* An agent with a retina (Mnih, Heess, Graves, Kavukcuoglu 2014, section 4.3): the recurrent attention model in a world
 * that its actions change. At every step it sees one glimpse of the world as it is now, acts, and chooses where to look
 * next.
 *
 *     g_t  = relu(W relu(W_g retina(x_t, l_t)) + W' relu(W_l l_t) + b)
 *     h_t  = min(relu(U h_{t-1} + U' g_t + b), 5)
 *     a_t  ~ softmax(W_a h_t)      mu_t = tanh(W_mu h_t)      l_{t+1} ~ N(mu_t, sigma^2), clipped      b_t = w_b . h_t
 *     R_t  = sum_{k >= t} gamma^{k-t} r_k
 *
 *     loss = sum_t [ -(R_t - b_t) log p(a_t) + (R_t - b_t) |l_{t+1} - mu_t|^2 / (2 sigma^2)
 *                    + (b_t - R_t)^2 - beta H(p_t) ]
 *
 * Actions and places learn by REINFORCE (Williams 1992): R_t - b_t, the draws and what is seen are constants. The
 * state learns from the actions; places and baselines learn from it but teach it nothing. H is the entropy of the
 * actions. The state is bounded, unlike that of ram.c: over 23 steps it grew without limit in some trainings, and with tanh
 * it learned several times as slowly.
 * Without learning the likeliest action is taken and places are the means. */
#include <math.h>
#include <string.h>

#include "models/ram_parts.h"
#include "regard/world.h"

typedef struct {
    int64_t patch, scales, hidden, width;
    double  deviation, unit, reward, gamma, entropy;
    char   *locations, *baseline;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "patch", offsetof(settings, patch), "6", "pixels of a side of a glimpse", 0, "[1,256]", NULL },
    { RG_OPTION_INT, "scales", offsetof(settings, scales), "3",
      "patches of a glimpse, each twice as wide as the one before", 0, "[1,8]", NULL },
    { RG_OPTION_INT, "hidden", offsetof(settings, hidden), "64", "units for what is seen, and for where", 0,
      "[1,100000]", NULL },
    { RG_OPTION_INT, "width", offsetof(settings, width), "128", "units of the state", 0, "[1,100000]", NULL },
    { RG_OPTION_REAL, "gamma", offsetof(settings, gamma), "0.99",
      "discount: what a reward of the next step is worth now", 0, "[0,1]", NULL },
    { RG_OPTION_REAL, "deviation", offsetof(settings, deviation), "0.15", "of the places that are tried while learning",
      0, "(0,10]", NULL },
    { RG_OPTION_REAL, "unit", offsetof(settings, unit), "0", "pixels from the middle that place 1 is; 0: the border", 0,
      "[0,100000]", NULL },
    { RG_OPTION_REAL, "reward-weight", offsetof(settings, reward), "1", "of the term that moves the places", 0,
      "[0,inf)", NULL },
    { RG_OPTION_REAL, "entropy-weight", offsetof(settings, entropy), "0.01",
      "of the entropy of the actions, which keeps the agent trying", 0, "[0,inf)", NULL },
    { RG_OPTION_STRING, "locations", offsetof(settings, locations), "learned",
      "where to look; centre, the middle of the screen, is a control", 0, "learned|centre", NULL },
    { RG_OPTION_STRING, "baseline", offsetof(settings, baseline), "learned", "what rewards are compared with", 0,
      "learned|none", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_ram_core core;
    rg_dense    action;
} parts;

enum { MOST_STEPS = 64, MOST_STATE = 5 };

/* Episodes as they were played. */
typedef struct {
    size_t     steps;
    rg_tensor *logits[MOST_STEPS], *mean[MOST_STEPS], *drawn[MOST_STEPS], *base[MOST_STEPS];
    int32_t   *action[MOST_STEPS];
    rg_real   *reward[MOST_STEPS];
} play;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    const rg_retina retina = { (size_t)s->patch, (size_t)s->scales, s->unit };
    const double    first = 0.1; /* it begins in the middle, and with every action about as likely */
    rg_ram_core_init(&q->core, m->params, &retina, 1, (size_t)s->hidden, (size_t)s->width, first);
    rg_ram_dense_init(&q->action, m->params, "action", (size_t)s->width, rg_model_size(m, "actions"), RG_IDENTITY,
                      first);
    RG_TRY(rg_sizes_put(&m->sizes, "patch", (size_t)s->patch));
    return rg_sizes_put(&m->sizes, "scales", (size_t)s->scales);
}

/* --------------------------------------------------------------------------------------------------------- playing */

static rg_tensor *look(rg_tape *t, const rg_episodes *e, const char *states, const rg_layout *pictures)
{
    const size_t pixels = e->world->height * e->world->width;
    rg_real     *x = rg_tape_memory(t, e->count * pixels * sizeof *x + 1);
    for (size_t i = 0; x && i < e->count && !rg_tape_dry(t); i++)
        e->world->draw(x + i * pixels, states + i * e->world->state_bytes);
    return x ? rg_constant(t, x, e->count * pixels, 1, pictures) : NULL;
}

/* One action per episode: drawn while learning, else the likeliest. */
static int32_t *choose(rg_tape *t, rg_tensor *logits, const rg_episodes *e)
{
    const size_t     n = e->count, A = e->world->actions;
    const rg_tensor *p = rg_softmax(t, rg_detach(t, logits)),
                    *z = rg_tape_learning(t) ? rg_normal_around(t, rg_zeros(t, n, 1, NULL), 1, e->first) : NULL;
    int32_t *action = rg_tape_memory(t, (n + 1) * sizeof *action);
    if (!p || !action || (rg_tape_learning(t) && !z)) return NULL;
    memset(action, 0, n * sizeof *action);
    for (size_t i = 0; i < n && !rg_tape_dry(t); i++) {
        double u = z ? 0.5 + 0.5 * erf((double)rg_tensor_at(z, i, 0) / 1.41421356237309505) : 0; /* uniform in 0 .. 1 */
        for (size_t a = 0; a < A; a++) {
            if (!z && rg_tensor_at(p, i, a) > rg_tensor_at(p, i, (size_t)action[i])) action[i] = (int32_t)a;
            if (z && u >= 0) action[i] = (int32_t)a;
            u -= (double)rg_tensor_at(p, i, a);
        }
    }
    return action;
}

static rg_tensor *next_place(rg_tape *t, const rg_model *m, play *w, rg_tensor *h, uint64_t first)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    rg_tensor      *from = rg_detach(t, h), *mean = rg_dense_run(t, &q->core.location, from);
    const size_t    k = w->steps;
    w->base[k] = rg_dense_run(t, &q->core.baseline, from);
    w->mean[k] = w->drawn[k] = NULL;
    if (strcmp(s->locations, "centre") == 0) return h ? rg_zeros(t, rg_tensor_rows(h), 2, NULL) : NULL;
    w->mean[k] = mean;
    w->drawn[k] = rg_tape_learning(t) ? rg_normal_around(t, mean, s->deviation, first) : rg_detach(t, mean);
    return rg_clamp(t, w->drawn[k], -1, 1);
}

static bool act(rg_tape *t, play *w, const rg_episodes *e, char *states)
{
    rg_real *r = rg_tape_memory(t, (e->count + 1) * sizeof *r);
    if (!r || !w->action[w->steps]) return false;
    for (size_t i = 0; i < e->count && !rg_tape_dry(t); i++)
        r[i] = (rg_real)e->world->step(states + i * e->world->state_bytes, (size_t)w->action[w->steps][i]);
    w->reward[w->steps] = r;
    return true;
}

/* All episodes, from their beginning to their end. */
static void run(rg_tape *t, const rg_model *m, const rg_episodes *e, play *w)
{
    const parts     *q = m->parts;
    const rg_layout *pictures = rg_tape_pictures(t, e->count, e->world->height, e->world->width);
    char            *states = rg_tape_memory(t, e->count * e->world->state_bytes + 1);
    rg_tensor       *l = rg_zeros(t, e->count, 2, NULL), *h = NULL;
    w->steps = 0;
    if (e->world->steps > MOST_STEPS)
        rg_tape_fail(t, RG_ELIMIT, "episodes of %zu steps; at most %d", e->world->steps, MOST_STEPS);
    for (size_t i = 0; states && i < e->count; i++) rg_episode_start(states + i * e->world->state_bytes, e, i);
    while (pictures && states && l && w->steps < e->world->steps) {
        rg_tape_push(t, "walk.%zu", w->steps);
        rg_tensor *x = look(t, e, states, pictures);
        rg_tape_watch(t, "frame", x, NULL);
        rg_tensor *in = rg_matmul(t, rg_ram_see(t, &q->core, x, l, pictures), rg_use(t, q->core.input));
        h = rg_clamp(t, rg_ram_recur(t, &q->core, in, h), 0, MOST_STATE);
        w->logits[w->steps] = rg_dense_run(t, &q->action, h);
        w->action[w->steps] = choose(t, w->logits[w->steps], e);
        rg_tape_watch(t, "action", w->logits[w->steps], NULL);
        l = next_place(t, m, w, h, e->first);
        rg_tape_pop(t);
        if (!act(t, w, e, states)) return;
        w->steps++;
    }
}

/* -------------------------------------------------------------------------------------------------------- learning */

/* R_t = r_t + gamma R_{t+1} of every episode, in place of the rewards. */
static void discount(play *w, size_t episodes, double gamma)
{
    for (size_t k = w->steps; k-- > 1;)
        for (size_t i = 0; i < episodes; i++) w->reward[k - 1][i] += (rg_real)(gamma * (double)w->reward[k][i]);
}

/* -(R - b) log p(a) of every row; the advantage is a constant. */
static rg_tensor *action_loss(rg_tape *t, rg_tensor *logits, const int32_t *action, const rg_real *R,
                              const rg_tensor *base)
{
    const size_t n = rg_tensor_rows(logits);
    rg_real     *weight = rg_tape_memory(t, (n + 1) * sizeof *weight);
    for (size_t i = 0; weight && i < n && !rg_tape_dry(t); i++)
        weight[i] = (rg_real)((double)R[i] - (base ? (double)rg_tensor_at(base, i, 0) : 0));
    return weight ? rg_sum(t, rg_cross_entropy_rows(t, logits, action, 0, weight)) : NULL;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings    *s = m->options;
    const rg_episodes *e = data;
    const bool         learned = strcmp(s->baseline, "learned") == 0;
    play               w;
    rg_tensor         *sum = NULL;
    run(t, m, e, &w);
    if (rg_tape_status(t) != RG_OK) return (rg_loss){ 0 };
    if (!rg_tape_dry(t)) discount(&w, e->count, s->gamma);
    for (size_t k = 0; k < w.steps; k++) {
        const rg_real   *R = w.reward[k];
        const rg_tensor *base = learned ? w.base[k] : NULL;
        rg_tensor       *term = action_loss(t, w.logits[k], w.action[k], R, base);
        if (w.mean[k] && k + 1 < w.steps) /* the last place is never looked at */
            term = rg_add(t, term, rg_ram_place_loss(t, w.mean[k], w.drawn[k],
                                                     rg_ram_advantage(t, R, base, e->count, s->reward, s->deviation)));
        if (learned) term = rg_add(t, term, rg_squared_error(t, w.base[k], R));
        if (s->entropy > 0) {
            rg_tensor *p = rg_softmax(t, w.logits[k]), *log_p = rg_log_softmax(t, w.logits[k]);
            term = rg_add(t, term, rg_scale(t, rg_sum(t, rg_mul(t, p, log_p)), s->entropy));
        }
        sum = sum ? rg_add(t, sum, term) : term;
    }
    return (rg_loss){ sum, (double)e->count };
}

/* What every episode earned, (episodes, 1). */
static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_episodes *e = data;
    play               w;
    rg_real           *sum = rg_tape_memory(t, (e->count + 1) * sizeof *sum);
    run(t, m, e, &w);
    if (!sum || rg_tape_status(t) != RG_OK) return NULL;
    for (size_t i = 0; i < e->count && !rg_tape_dry(t); i++) {
        sum[i] = 0;
        for (size_t k = 0; k < w.steps; k++) sum[i] += w.reward[k][i];
    }
    return rg_constant(t, sum, e->count, 1, NULL);
}

static const rg_attention_use uses[] = {
    { .where = "every step",
      .queries = "the state so far",
      .keys = "places of the screen",
      .values = "patches around them, as the world is now",
      .score = "none: the place is predicted and drawn",
      .reach = "one place" },
    { 0 },
};

const rg_system rg_system_ram_agent = {
    .name = "ram",
    .summary = "an agent that sees a world in glimpses and acts in it; both are learned from rewards",
    .paper = "Mnih, Heess, Graves, Kavukcuoglu 2014, Recurrent models of visual attention, section 4.3",
    .task = &rg_task_world,
    .chosen_by = "world",
    .batches = "episodes",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
