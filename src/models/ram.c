/* The recurrent attention model (Mnih, Heess, Graves, Kavukcuoglu 2014): a picture is read by a few glimpses, each
 * placed by what the ones before it saw. Its cost does not grow with the picture.
 *
 *     g_t  = relu(W relu(W_g retina(x, l_t)) + W' relu(W_l l_t) + b)        what is seen, and where
 *     h_t  = relu(U h_{t-1} + U' g_t + b)
 *     mu_t = tanh(W_mu h_t)        l_{t+1} ~ N(mu_t, sigma^2), clipped to the picture        b_t = w_b . h_t
 *     p    = softmax(W_a h_T)      R = 1 when the likeliest class is right, else 0
 *
 *     loss = -log p(y)  +  sum_t (R - b_t) |l - mu_t|^2 / (2 sigma^2)  +  sum_t (b_t - R)^2
 *
 * The middle term has the gradient of -(R - b_t) log N(l; mu_t, sigma^2) for the draw l before it is clipped
 * (Williams 1992); R - b_t and l are constants there. Places and baselines learn from h_t but teach it nothing.
 * Without learning, places are the means, so that an answer depends on its picture alone; --copies starts from
 * several places and takes the mean of the probabilities. */
#include <math.h>
#include <string.h>

#include "autograd/tape.h"
#include "models/ram_parts.h"

typedef struct {
    int64_t glimpses, patch, scales, hidden, width, copies, train_copies;
    double  deviation, unit, reward, random;
    char   *locations, *baseline;
} settings;

enum { MOST_GLIMPSES = 64 };

static const rg_option options[] = {
    { RG_OPTION_INT, "glimpses", offsetof(settings, glimpses), "6", "of a picture", 0, "[1,64]", NULL },
    { RG_OPTION_INT, "patch", offsetof(settings, patch), "8", "pixels of a side of a glimpse", 0, "[1,256]", NULL },
    { RG_OPTION_INT, "scales", offsetof(settings, scales), "1",
      "patches of a glimpse, each twice as wide as the one before", 0, "[1,8]", NULL },
    { RG_OPTION_INT, "hidden", offsetof(settings, hidden), "128", "units for what is seen, and for where", 0,
      "[1,100000]", NULL },
    { RG_OPTION_INT, "width", offsetof(settings, width), "256", "units of the state", 0, "[1,100000]", NULL },
    { RG_OPTION_REAL, "deviation", offsetof(settings, deviation), "0.15", "of the places that are tried while learning",
      0, "(0,10]", NULL },
    { RG_OPTION_REAL, "unit", offsetof(settings, unit), "0", "pixels from the middle that place 1 is; 0: the border", 0,
      "[0,100000]", NULL },
    { RG_OPTION_REAL, "reward-weight", offsetof(settings, reward), "1", "of the term that moves the places", 0,
      "[0,inf)", NULL },
    { RG_OPTION_STRING, "locations", offsetof(settings, locations), "learned",
      "where to look; the others are controls; oracle: at what a generator placed (--augment)", 0,
      "learned|random|centre|oracle", NULL },
    { RG_OPTION_REAL, "random-share", offsetof(settings, random), "0",
      "of the training that begins it with random places", 0, "[0,1]", NULL },
    { RG_OPTION_STRING, "baseline", offsetof(settings, baseline), "learned", "what rewards are compared with", 0,
      "learned|none", NULL },
    { RG_OPTION_INT, "copies", offsetof(settings, copies), "1", "walks over a picture when it is answered", 0,
      "[1,100]", NULL },
    { RG_OPTION_INT, "train-copies", offsetof(settings, train_copies), "1",
      "walks over a picture while learning, each with draws of its own", 0, "[1,100]", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_ram_core core;
    rg_dense    action;
    rg_param   *advantage;
} parts;

/* One walk over every picture. */
typedef struct {
    rg_tensor *logits, *mean[MOST_GLIMPSES], *base[MOST_GLIMPSES], *drawn[MOST_GLIMPSES];
    size_t     draws; /* glimpses - 1 */
} walk;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    const rg_retina retina = { (size_t)s->patch, (size_t)s->scales, s->unit };
    if (!rg_model_size(m, "height"))
        return rg_fail(RG_EINVAL, "ram reads pictures: idx, a folder, a tar archive, or --pictures");
    rg_ram_core_init(&q->core, m->params, &retina, rg_model_size(m, "channels"), (size_t)s->hidden, (size_t)s->width,
                     1);
    rg_dense_init(&q->action, m->params, "action", (size_t)s->width, rg_model_size(m, "classes"), RG_IDENTITY);
    q->advantage = rg_params_add(m->params, "advantage", RG_KEPT, 1, 2, RG_INIT_ZERO, 0); /* mean squares of R, and of R - b */
    RG_TRY(rg_sizes_put(&m->sizes, "glimpses", (size_t)s->glimpses));
    RG_TRY(rg_sizes_put(&m->sizes, "patch", (size_t)s->patch));
    return rg_sizes_put(&m->sizes, "scales", (size_t)s->scales);
}

/* ----------------------------------------------------------------------------------------------------------- places */

/* The same place for every picture, which only the number of the walk and of the glimpse decide: the centre first,
 * others spread out. */
static rg_tensor *fixed_places(rg_tape *t, size_t pictures, size_t number)
{
    rg_real  *at = rg_tape_memory(t, 2 * pictures * sizeof *at);
    rg_random random = rg_random_new(0x72616d, number);
    if (!at) return NULL;
    const double x = number ? 2 * rg_random_uniform(&random) - 1 : 0,
                 y = number ? 2 * rg_random_uniform(&random) - 1 : 0;
    for (size_t i = 0; i < pictures && !rg_tape_dry(t); i++) at[2 * i] = (rg_real)x, at[2 * i + 1] = (rg_real)y;
    return rg_constant(t, at, pictures, 2, NULL);
}

/* Uniform in the picture: a normal number through its distribution function. */
static rg_tensor *random_places(rg_tape *t, size_t pictures, uint64_t first)
{
    const rg_tensor *z = rg_normal_around(t, rg_zeros(t, pictures, 2, NULL), 1, first);
    rg_real         *at = rg_tape_memory(t, 2 * pictures * sizeof *at);
    if (!z || !at) return NULL;
    for (size_t i = 0; i < 2 * pictures && !rg_tape_dry(t); i++)
        at[i] = (rg_real)erf((double)rg_tensor_at(z, i / 2, i % 2) / 1.41421356237309505);
    return rg_constant(t, at, pictures, 2, NULL);
}

static rg_tensor *other_places(rg_tape *t, size_t pictures, uint64_t first, size_t number)
{
    return rg_tape_learning(t) ? random_places(t, pictures, first) : fixed_places(t, pictures, number);
}

/* The middle of what is shown, then the middles of the four quarters of its box, and again. */
static rg_tensor *oracle_places(rg_tape *t, const settings *s, const rg_field *f, size_t number)
{
    const size_t pictures = f->layout.groups, k = number % 5;
    const double x0 = ((double)f->layout.width - 1) / 2, y0 = ((double)f->layout.height - 1) / 2,
                 dx = k ? ((k - 1) % 2 ? 0.25 : -0.25) : 0, dy = k ? ((k - 1) / 2 ? 0.25 : -0.25) : 0;
    rg_real *at = rg_tape_memory(t, (2 * pictures + 1) * sizeof *at);
    if (!at) return NULL;
    for (size_t i = 0; i < pictures && !rg_tape_dry(t); i++) {
        const int32_t *b = f->box ? f->box + 4 * i : NULL;
        if (!b || b[2] <= 0 || b[3] <= 0) {
            (void)rg_tape_fail(t, RG_EINVAL,
                               "--locations oracle: nobody says where in picture %zu its object is; it needs "
                               "--augment with a generator that places it",
                               i + 1);
            return NULL;
        }
        const double x = b[0] + (b[2] - 1) / 2.0 + dx * b[2], y = b[1] + (b[3] - 1) / 2.0 + dy * b[3];
        at[2 * i] = (rg_real)((x - x0) / (s->unit > 0 ? s->unit : x0));
        at[2 * i + 1] = (rg_real)((y - y0) / (s->unit > 0 ? s->unit : y0));
    }
    return rg_constant(t, at, pictures, 2, NULL);
}

/* ---------------------------------------------------------------------------------------------------------- walking */

/* The place of the next glimpse: drawn around the mean while learning. */
static rg_tensor *next_place(rg_tape *t, const rg_model *m, const rg_field *f, walk *w, rg_tensor *h, uint64_t first,
                             size_t number)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const size_t    pictures = rg_tensor_rows(h);
    rg_tensor      *from = rg_detach(t, h), *mean = rg_dense_run(t, &q->core.location, from);
    if (strcmp(s->locations, "centre") == 0) return fixed_places(t, pictures, 0);
    if (strcmp(s->locations, "oracle") == 0) return oracle_places(t, s, f, number % MOST_GLIMPSES);
    if (strcmp(s->locations, "random") == 0) return other_places(t, pictures, first, number);
    const double part = rg_tape_progress(t).part;
    if (rg_tape_learning(t) && s->random > 0 && part >= 0 && part < s->random)
        return random_places(t, pictures, first);
    rg_tensor *drawn = rg_tape_learning(t) ? rg_normal_around(t, mean, s->deviation, first) : rg_detach(t, mean);
    w->mean[w->draws] = mean;
    w->base[w->draws] = rg_dense_run(t, &q->core.baseline, from);
    w->drawn[w->draws++] = drawn;
    return rg_clamp(t, drawn, -1, 1);
}

static void run(rg_tape *t, const rg_model *m, const void *data, walk *w, size_t copy)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_field *f = &((const rg_batch *)data)->field[RG_INPUT];
    const uint64_t  first = f->layout.height ? f->layout.first / (f->layout.height * f->layout.width) : 0;
    rg_tensor      *x = rg_tape_offer(t, "inputs", rg_constant(t, f->values, rg_field_rows(f), f->width, &f->layout), NULL),
              *h = NULL;
    rg_tensor *l = strcmp(s->locations, "centre") == 0   ? fixed_places(t, f->layout.groups, 0)
                   : strcmp(s->locations, "oracle") == 0 ? oracle_places(t, s, f, 0)
                                                         : other_places(t, f->layout.groups, first, copy);
    w->draws = 0;
    for (int64_t i = 0; i < s->glimpses && l; i++) {
        rg_tape_push(t, "walk.%lld", (long long)i);
        rg_tensor *in = rg_matmul(t, rg_ram_see(t, &q->core, x, l, &f->layout), rg_use(t, q->core.input));
        rg_tape_pop(t);
        h = rg_ram_recur(t, &q->core, in, h);
        if (i + 1 < s->glimpses) l = next_place(t, m, f, w, h, first, copy * MOST_GLIMPSES + (size_t)i + 1);
    }
    w->logits = rg_dense_run(t, &q->action, h);
}

/* --------------------------------------------------------------------------------------------------------- learning */

/* 1 where the likeliest class is the label; pictures without a label get 0. */
static rg_real *rewards(rg_tape *t, const rg_tensor *logits, const rg_field *label)
{
    const size_t pictures = rg_tensor_rows(logits), C = rg_tensor_cols(logits);
    rg_real     *R = rg_tape_memory(t, (pictures + 1) * sizeof *R);
    for (size_t i = 0; R && i < pictures && !rg_tape_dry(t); i++) {
        size_t best = 0;
        for (size_t c = 1; c < C; c++)
            if (rg_tensor_at(logits, i, c) > rg_tensor_at(logits, i, best)) best = c;
        const int32_t at = label->layout.start[i];
        R[i] = at < label->layout.start[i + 1] && label->ids[at] == (int32_t)best;
    }
    return R;
}

/* Moving means of R^2 and (R - b)^2: what the score function is multiplied with, without and with the baseline. */
static void note_advantage(rg_tape *t, const rg_model *m, const rg_real *R, const walk *w)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    double          square[2] = { 0, 0 }, n = 0;
    const size_t    pictures = rg_tensor_rows(w->logits);
    for (size_t k = 0; k < w->draws && !rg_tape_dry(t); k++)
        for (size_t i = 0; w->base[k] && i < pictures; i++, n++) {
            const double b = strcmp(s->baseline, "none") == 0 ? 0 : (double)rg_tensor_at(w->base[k], i, 0),
                         r = (double)R[i];
            square[0] += r * r, square[1] += (r - b) * (r - b);
        }
    rg_real *move = n > 0 ? rg_tape__moves(t, q->advantage) : NULL;
    for (size_t k = 0; move && k < 2; k++)
        move[k] += (rg_real)(0.01 * (square[k] / n - (double)rg_param_data(q->advantage)[k]));
}

/* What each draw says of the gradient of its place, -(R - b) (l - mu) / sigma^2: two columns with the baseline, two
 * without it. Only for who watches. */
static void show_gradients(rg_tape *t, const settings *s, const rg_real *R, const walk *w)
{
    const bool   learned = strcmp(s->baseline, "learned") == 0;
    const size_t pictures = rg_tensor_rows(w->logits);
    for (size_t k = 0; k < w->draws && rg_tape_watched(t, "policy"); k++) {
        rg_real *g = rg_tape_memory(t, (4 * pictures + 1) * sizeof *g);
        if (!g || !w->base[k] || !w->drawn[k] || rg_tape_dry(t)) return;
        for (size_t i = 0; i < pictures; i++)
            for (size_t c = 0; c < 2; c++) {
                const double step = (double)rg_tensor_at(w->mean[k], i, c) - (double)rg_tensor_at(w->drawn[k], i, c),
                             by = s->reward * step / (s->deviation * s->deviation), r = (double)R[i],
                             b = learned ? (double)rg_tensor_at(w->base[k], i, 0) : 0;
                g[4 * i + c] = (rg_real)((r - b) * by), g[4 * i + 2 + c] = (rg_real)(r * by);
            }
        rg_tape_watch(t, "policy", rg_constant(t, g, pictures, 4, NULL), NULL);
    }
}

static rg_loss loss_of_walk(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const rg_field *label = &((const rg_batch *)data)->field[RG_LABEL];
    walk            w;
    run(t, m, data, &w, 0);
    rg_loss        out = rg_compare_classes(t, data, w.logits);
    const rg_real *R = w.logits ? rewards(t, w.logits, label) : NULL;
    for (size_t i = 0; R && i < w.draws; i++) {
        const bool learned = strcmp(s->baseline, "learned") == 0;
        rg_tensor *a =
            rg_ram_advantage(t, R, learned ? w.base[i] : NULL, rg_tensor_rows(w.logits), s->reward, s->deviation);
        out.sum = rg_add(t, out.sum, rg_ram_place_loss(t, w.mean[i], w.drawn[i], a));
        if (learned) out.sum = rg_add(t, out.sum, rg_squared_error(t, w.base[i], R));
    }
    if (R) note_advantage(t, m, R, &w);
    if (R) show_gradients(t, s, R, &w);
    return out;
}

/* The mean over the walks. */
static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const int64_t copies = ((const settings *)m->options)->train_copies;
    rg_loss       out = loss_of_walk(t, m, data);
    for (int64_t i = 1; i < copies; i++) out.sum = rg_add(t, out.sum, loss_of_walk(t, m, data).sum);
    if (copies > 1) out.sum = rg_scale(t, out.sum, 1 / (double)copies);
    return out;
}

/* log of the mean over the copies of the probabilities. */
static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const int64_t copies = ((const settings *)m->options)->copies;
    rg_tensor    *sum = NULL;
    walk          w;
    for (int64_t i = 0; i < copies; i++) {
        run(t, m, data, &w, (size_t)i);
        if (copies == 1) return w.logits;
        rg_tensor *p = rg_softmax(t, w.logits);
        sum = sum ? rg_add(t, sum, p) : p;
    }
    return rg_map(t, rg_scale(t, rg_shift(t, sum, 1e-30), 1 / (double)copies), RG_LOG);
}

static const rg_attention_use uses[] = {
    { .where = "every glimpse",
      .queries = "the state so far",
      .keys = "places of the picture",
      .values = "patches around them",
      .score = "none: the place is predicted and drawn",
      .reach = "one place" },
    { 0 },
};

const rg_system rg_system_ram = {
    .name = "ram",
    .summary = "the class of a picture from a few glimpses, each placed by those before it",
    .paper = "Mnih, Heess, Graves, Kavukcuoglu 2014, Recurrent models of visual attention",
    .task = &rg_task_classify,
    .reads = "pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
