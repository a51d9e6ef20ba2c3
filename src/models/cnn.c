/* A convolutional network whose last maps are pooled into one row per picture, and shown: where was the evidence?
 *
 *     f      = layers(x)                            (cells, D) the last maps, a row per cell
 *     F      = pool(f)                              gap: mean over the cells        max        flatten: all cells side by side
 *                                                   soft: sum_i a_i f_i, a = softmax over the cells of v . tanh(W f_i)
 *                                                   gumbel: one cell, drawn while learning by the Gumbel softmax, the largest otherwise
 *                                                   hard: one cell j ~ a while learning, the largest otherwise; the score function
 *                                                   (Williams 1992) teaches a by R = log p(y): loss - (R - b) log a_j - entropy H(a)
 *     logits = dense layers(F) W + b
 *
 * The features (model.h) are what the dense layers give, or F itself (--features-at pool): then dense layers belong to
 * the answer, and a domain head stands behind the convolutions (Ganin et al. 2016).
 *
 * With gap and no dense layer, the class activation map M_c = f w_c (Zhou et al. 2016) says what every cell adds:
 * its mean is the logit of class c minus its bias. A spatial transformer (--front stn; Jaderberg et al. 2015) may
 * stand before everything: it looks at the picture, chooses a map of places, and the network sees the picture
 * through it. */
#include <math.h>
#include <string.h>

#include "regard/between.h"
#include "regard/layers.h"
#include "regard/model.h"
#include "regard/net.h"
#include "regard/spatial.h"

typedef struct {
    char   *layers, *pool, *front, *grid, *front_layers, *pixels, *head, *features_at;
    double  dropout, front_rate, temperature, reward, entropy, soft_share;
    char   *baseline;
    int64_t fronts, front_size;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "layers", offsetof(settings, layers), "auto",
      "of the network: c5x32 convolution, p2 pooling, f100 dense (docs/models/cnn.md); auto: c3x32 p2 c3x64 p2 c3x64, "
      "behind --features none",
      0, NULL, NULL },
    { RG_OPTION_STRING, "pixels", offsetof(settings, pixels), "unit",
      "what the network is given of red, green and blue (docs/pictures.md)", 0, RG_PIXEL_RULES, NULL },
    { RG_OPTION_STRING, "head", offsetof(settings, head), "dense",
      "what follows the pooling; maps: nothing, the last maps are the classes", 0, "dense|maps", NULL },
    { RG_OPTION_STRING, "pool", offsetof(settings, pool), "gap", "how the last maps become one row", 0,
      "gap|max|flatten|soft|hard|gumbel", NULL },
    { RG_OPTION_STRING, "features-at", offsetof(settings, features_at), "dense",
      "what counts as the features: the pooled maps, or what the dense layers make of them", 0, "pool|dense", NULL },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0",
      "share of the row before the classes that is dropped", 0, "[0,1)", NULL },
    { RG_OPTION_REAL, "temperature", offsetof(settings, temperature), "1", "of --pool gumbel", 0, "(0,inf)", NULL },
    { RG_OPTION_STRING, "baseline", offsetof(settings, baseline), "learned",
      "of --pool hard: what the reward is compared with; learned: its moving mean", 0, "none|learned", NULL },
    { RG_OPTION_REAL, "reward", offsetof(settings, reward), "1", "of --pool hard: weight of the score function", 0,
      "[0,inf)", NULL },
    { RG_OPTION_REAL, "entropy", offsetof(settings, entropy), "0.01",
      "of --pool hard: weight of the entropy, which keeps it trying", 0, "[0,inf)", NULL },
    { RG_OPTION_REAL, "soft-share", offsetof(settings, soft_share), "0",
      "of --pool hard: share of updates with the mean instead of a draw", 0, "[0,1]", NULL },
    { RG_OPTION_STRING, "front", offsetof(settings, front), "none",
      "what stands before the network; stn: a spatial transformer", 0, "none|stn", NULL },
    { RG_OPTION_INT, "fronts", offsetof(settings, fronts), "1", "spatial transformers side by side", 0, "[1,8]", NULL },
    { RG_OPTION_STRING, "grid", offsetof(settings, grid), "affine", "what a spatial transformer may do", 0,
      "affine|attention|projective", NULL },
    { RG_OPTION_STRING, "front-layers", offsetof(settings, front_layers), "p2 c5x20 p2 c5x20 f20",
      "of the network that chooses the map", 0, NULL, NULL },
    { RG_OPTION_INT, "front-size", offsetof(settings, front_size), "0",
      "pixels of a side of what it hands on; 0: as the picture", 0, "[0,4096]", NULL },
    { RG_OPTION_REAL, "front-rate", offsetof(settings, front_rate), "0.1",
      "its learning rate as a share of the network's", 0, "[0,inf)", NULL },
    RG_OPTION_END
};

enum { MOST_FRONTS = 8 };

typedef struct {
    rg_net       net, look[MOST_FRONTS];
    rg_dense     theta[MOST_FRONTS], output;
    rg_attention attention;
    rg_hard      hard;
    size_t       height, width; /* of what the network sees */
} parts;

static const settings *its(const rg_model *m) { return m->options; }
static bool            is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static size_t grid_numbers(const settings *s) { return is(s->grid, "attention") ? 3 : is(s->grid, "affine") ? 6 : 8; }

/* --------------------------------------------------------------------------------------------------------- building */

/* Weights 0 and a bias that is the identity: the first picture goes through unchanged. The bias is added to what the
 * layer gives. */
static rg_status build_front(rg_model *m, parts *q, size_t index)
{
    const settings *s = its(m);
    rg_net         *look = &q->look[index];
    rg_status status = rg_net_parse(look, s->front_layers, rg_model_size(m, "channels"), rg_model_size(m, "height"),
                                    rg_model_size(m, "width"));
    if (status != RG_OK) return rg_fail_in(status, "--front-layers: ");
    rg_params_push(m->params, "front.%zu", index);
    const size_t flat = rg_net_height(look) * rg_net_width(look) * rg_net_channels(look);
    rg_net_init(look, m->params, "look", flat);
    q->theta[index].w =
        rg_params_add(m->params, "theta.w", RG_WEIGHT, rg_net_units(look, flat), grid_numbers(s), RG_INIT_ZERO, 0);
    q->theta[index].b = rg_params_add(m->params, "theta.b", RG_VECTOR, 1, grid_numbers(s), RG_INIT_ZERO, 0);
    rg_params_pop(m->params);
    return RG_OK;
}

static rg_status build_pool(rg_model *m, parts *q)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    const settings *s = its(m);
    if (!is(s->pool, "soft") && !is(s->pool, "hard") && !is(s->pool, "gumbel")) return RG_OK;
    c.score = "vector";
    c.k_width = rg_net_channels(&q->net);
    rg_params_push(m->params, "pool");
    rg_status status = rg_attention_init(&q->attention, &c, m->params);
    q->hard = (rg_hard)RG_HARD_DEFAULT;
    q->hard.reward = s->reward, q->hard.entropy = s->entropy, q->hard.soft_share = s->soft_share;
    if (is(s->pool, "hard") && is(s->baseline, "learned")) rg_hard_init(&q->hard, m->params);
    rg_params_pop(m->params);
    return status;
}

static rg_status build(rg_model *m)
{
    const settings *s = its(m);
    parts          *q = m->parts;
    const bool      front = is(s->front, "stn");
    const size_t    fronts = front ? (size_t)s->fronts : 1, channels = rg_model_size(m, "channels");
    if (!channels || !rg_model_size(m, "height"))
        return rg_fail(RG_EINVAL, "cnn reads pictures: idx, a folder, a tar archive, or --pictures");
    q->height = front && s->front_size ? (size_t)s->front_size : rg_model_size(m, "height");
    q->width = front && s->front_size ? (size_t)s->front_size : rg_model_size(m, "width");
    for (size_t i = 0; front && i < fronts; i++) RG_TRY(build_front(m, q, i));
    const char *layers = !is(s->layers, "auto")        ? s->layers
                         : rg_model_size(m, "encoded") ? ""
                                                       : "c3x32 p2 c3x64 p2 c3x64";
    if (!is(s->pixels, "unit") && channels != 3)
        return rg_fail(RG_EINVAL, "--pixels %s is for pictures of 3 channels; these have %zu", s->pixels, channels);
    rg_status status = rg_net_parse(&q->net, layers, fronts * channels, q->height, q->width);
    if (status != RG_OK) return rg_fail_in(status, "--layers: ");
    const size_t cells = rg_net_height(&q->net) * rg_net_width(&q->net), wide = rg_net_channels(&q->net);
    const size_t units = is(s->pool, "flatten") ? cells * wide : wide;
    RG_TRY(build_pool(m, q));
    rg_net_init(&q->net, m->params, "net", units);
    const size_t classes = rg_model_size(m, "classes"), given = rg_net_units(&q->net, units);
    if (is(s->head, "maps") && classes && given != classes)
        return rg_fail(RG_EINVAL, "--head maps: the layers give %zu numbers, there are %zu classes", given, classes);
    if (is(s->head, "dense") && classes) rg_dense_init(&q->output, m->params, "output", given, classes, RG_IDENTITY);
    if (front) (void)rg_params_rate(m->params, "front.*", s->front_rate);
    RG_TRY(rg_sizes_put(&m->sizes, "units", is(s->features_at, "pool") ? units : given));
    if (front) RG_TRY(rg_sizes_put(&m->sizes, "front-height", q->height));
    if (front) RG_TRY(rg_sizes_put(&m->sizes, "front-width", q->width));
    RG_TRY(rg_sizes_put(&m->sizes, "cells-down", rg_net_height(&q->net)));
    return rg_sizes_put(&m->sizes, "cells-across", rg_net_width(&q->net));
}

/* ---------------------------------------------------------------------------------------------------------- running */

static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_field *x = &((const rg_batch *)data)->field[RG_INPUT];
    (void)m;
    return rg_constant(t, x->values, rg_field_rows(x), x->width, &x->layout); /* (pixels, channels), 0 .. 1 */
}

static rg_tensor *identity(rg_tape *t, const settings *s)
{
    static const rg_real attention[3] = { 1, 0, 0 }, other[8] = { 1, 0, 0, 0, 1, 0, 0, 0 };
    return rg_constant(t, is(s->grid, "attention") ? attention : other, 1, grid_numbers(s), NULL);
}

/* The picture through one spatial transformer. */
static rg_tensor *look_through(rg_tape *t, const rg_model *m, size_t index, rg_tensor *x)
{
    const settings  *s = its(m);
    const parts     *q = m->parts;
    const rg_net    *look = &q->look[index];
    const rg_layout *from = rg_tensor_layout(x);
    rg_tensor       *h = rg_join_rows(t, rg_net_maps(t, look, x), rg_net_height(look) * rg_net_width(look));
    rg_tensor       *theta = rg_add(t, rg_dense_run(t, &q->theta[index], rg_net_dense(t, look, h)), identity(t, s));
    rg_tensor       *places = is(s->grid, "affine")      ? rg_affine_grid(t, theta, from, q->height, q->width)
                              : is(s->grid, "attention") ? rg_attention_grid(t, theta, from, q->height, q->width)
                                                         : rg_projective_grid(t, theta, from, q->height, q->width);
    return rg_sample(t, x, places);
}

static rg_tensor *front(rg_tape *t, const rg_model *m, rg_tensor *x)
{
    const settings *s = its(m);
    rg_tensor      *seen[MOST_FRONTS];
    if (!is(s->front, "stn")) return x;
    for (size_t i = 0; i < (size_t)s->fronts; i++) seen[i] = look_through(t, m, i, x);
    rg_tensor *all = s->fronts == 1 ? seen[0] : rg_concat_columns(t, (size_t)s->fronts, seen);
    rg_tape_push(t, "front");
    rg_tape_watch(t, "seen", all, NULL);
    rg_tape_pop(t);
    return all;
}

/* One query per picture, which has no numbers of its own: the score needs none. */
static const rg_layout *one_per_picture(rg_tape *t, size_t pictures)
{
    int32_t *start = rg_tape_memory(t, (pictures + 1) * sizeof *start);
    if (!start) return NULL;
    for (size_t i = 0; i <= pictures; i++) start[i] = (int32_t)i;
    return rg_tape_layout(t, pictures, start);
}

/* Weights over the cells, and what is read by them. */
typedef struct {
    rg_tensor      *a, *picked, *row;
    const rg_reach *reach;
} pooled;

static rg_tensor *choose(rg_tape *t, const rg_model *m, rg_tensor *none, rg_tensor *k, pooled *p)
{
    const settings *s = its(m);
    const parts    *q = m->parts;
    if (!is(s->pool, "gumbel")) {
        p->a = rg_weigh(t, &q->attention, none, k, p->reach);
        if (is(s->pool, "soft") || rg_hard_coin(t, &q->hard)) return p->a;
        p->picked = rg_tape_learning(t) ? rg_hard_sample(t, p->a, p->reach) : rg_hard_argmax(t, p->a, p->reach);
        return p->picked;
    }
    rg_tensor *soft = rg_gumbel_over(t, rg_scores(t, &q->attention, none, k, p->reach), p->reach, s->temperature);
    return rg_straight_through(t, rg_hard_argmax(t, soft, p->reach), soft);
}

static pooled pool_by_attention(rg_tape *t, const rg_model *m, rg_tensor *maps)
{
    const parts     *q = m->parts;
    const rg_layout *cells = rg_tensor_layout(maps), *queries = cells ? one_per_picture(t, cells->groups) : NULL;
    pooled           p = { 0 };
    if (!queries) return p;
    p.reach = rg_reach_groups(t, queries, cells);
    rg_tensor *k = rg_attention_prepare(t, &q->attention, maps), *none = rg_zeros(t, queries->groups, 1, queries);
    rg_tape_push(t, "pool");
    rg_tensor *a = choose(t, m, none, k, &p);
    rg_tape_watch(t, "weights", a, p.reach);
    p.row = rg_mix(t, a, maps, p.reach);
    rg_tape_pop(t);
    return p;
}

static pooled pool(rg_tape *t, const rg_model *m, rg_tensor *maps)
{
    const settings *s = its(m);
    const parts    *q = m->parts;
    if (is(s->pool, "gap")) return (pooled){ .row = rg_mean_groups(t, maps) };
    if (is(s->pool, "max")) return (pooled){ .row = rg_max_groups(t, maps) };
    if (is(s->pool, "flatten"))
        return (pooled){ .row = rg_join_rows(t, maps, rg_net_height(&q->net) * rg_net_width(&q->net)) };
    return pool_by_attention(t, m, maps);
}

/* log p of the label of each picture, a constant; 0 where there is none. */
static const rg_real *log_p(rg_tape *t, const rg_batch *b, const rg_tensor *logits)
{
    const rg_field *label = &b->field[RG_LABEL];
    rg_real        *R = rg_tape_memory(t, (b->examples + 1) * sizeof *R);
    for (size_t i = 0; R && logits && i < b->examples && !rg_tape_dry(t); i++) {
        const rg_real *x = rg_tensor_row(logits, i);
        double         most = (double)x[0], sum = 0;
        for (size_t c = 1; c < rg_tensor_cols(logits); c++) most = fmax(most, (double)x[c]);
        for (size_t c = 0; c < rg_tensor_cols(logits); c++) sum += exp((double)x[c] - most);
        const bool there = label->layout.start[i] < label->layout.start[i + 1];
        R[i] = there ? (rg_real)((double)x[label->ids[label->layout.start[i]]] - most - log(sum)) : 0;
    }
    return R;
}

/* (pictures, units) of the pooled row. */
static rg_tensor *dense_layers(rg_tape *t, const rg_model *m, rg_tensor *row)
{
    const parts *q = m->parts;
    return rg_dropout(t, rg_net_dense(t, &q->net, row), its(m)->dropout);
}

/* (pictures, classes) of the features. */
static rg_tensor *classify(rg_tape *t, const rg_model *m, rg_tensor *x)
{
    const parts *q = m->parts;
    if (is(its(m)->features_at, "pool")) x = dense_layers(t, m, x);
    return q->output.w ? rg_dense_run(t, &q->output, x) : x;
}

/* What draws of cells have to learn, beside the loss of the answer. */
static rg_tensor *add_score_function(rg_tape *t, const rg_model *m, const rg_batch *b, const pooled *p, rg_tensor *row)
{
    parts *q = m->parts;
    if (!p->picked || !rg_tape_learning(t) || b->fields <= RG_LABEL || b->field[RG_LABEL].kind != RG_FIELD_CLASS)
        return row;
    const rg_tensor *logits = classify(t, m, rg_detach(t, row));
    const rg_real   *R = log_p(t, b, logits);
    return R ? rg_attach_loss(t, row, rg_hard_loss(t, &q->hard, p->a, p->picked, R, p->reach)) : NULL;
}

/* What each cell adds to the logit of the class that wins, or is asked about (the label), over the cells of a
 * picture: positive parts, as shares. Only when somebody watches. */
static void show_map(rg_tape *t, const rg_model *m, const rg_batch *b, rg_tensor *maps)
{
    const parts     *q = m->parts;
    const rg_layout *cells = rg_tensor_layout(maps);
    if (!rg_tape_watched(t, "evidence.weights") || q->net.count > q->net.maps ||
        !(is(its(m)->pool, "gap") || is(its(m)->pool, "max")) || !cells)
        return;
    rg_tensor       *M = q->output.w ? rg_matmul(t, maps, rg_use(t, q->output.w)) : maps; /* (cells, classes) */
    rg_tensor *logits = q->output.b ? rg_add(t, rg_mean_groups(t, M), rg_use(t, q->output.b)) : rg_mean_groups(t, M);
    const rg_layout *queries = one_per_picture(t, cells->groups);
    rg_real         *shares = rg_tape_memory(t, rg_tensor_rows(maps) * sizeof *shares);
    if (!logits || !queries || !shares) return;
    for (size_t g = 0; g < cells->groups; g++) {
        size_t  best = 0;
        rg_real sum = 0;
        for (size_t c = 1; c < rg_tensor_cols(logits); c++)
            if (rg_tensor_at(logits, g, c) > rg_tensor_at(logits, g, best)) best = c;
        const rg_field *asked = &b->field[RG_LABEL];
        if (b->fields > RG_LABEL && asked->ids && asked->layout.start[g] < asked->layout.start[g + 1])
            best = (size_t)asked->ids[asked->layout.start[g]];
        for (int32_t i = cells->start[g]; i < cells->start[g + 1]; i++) {
            const rg_real v = rg_tensor_at(M, (size_t)i, best);
            sum += shares[i] = v > 0 ? v : 0;
        }
        for (int32_t i = cells->start[g]; i < cells->start[g + 1] && sum > 0; i++) shares[i] /= sum;
    }
    rg_tape_push(t, "evidence");
    rg_tape_watch(t, "weights", rg_constant(t, shares, rg_tensor_rows(maps), 1, NULL),
                  rg_reach_groups(t, queries, cells));
    rg_tape_pop(t);
}

static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    const parts *q = m->parts;
    rg_tensor   *maps = rg_net_maps(t, &q->net, front(t, m, rg_pixels_as(t, its(m)->pixels, x))); /* (cells, D) */
    show_map(t, m, data, maps);
    const pooled p = pool(t, m, maps);
    rg_tensor   *row = is(its(m)->features_at, "pool") ? p.row : dense_layers(t, m, p.row);
    return add_score_function(t, m, data, &p, row);
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    (void)data;
    if (!rg_model_size(m, "classes")) return rg_tape_fail(t, RG_EMATCH, "the model has features only, no classes");
    return classify(t, m, x);
}

static const rg_attention_use uses[] = {
    { "pooling (soft, hard, gumbel)", "none: one vector is learned", "cells of the last maps", "cells of the last maps",
      "vector", "groups", "pool.weights", "class", "cells" },
    { "class activation map (gap, max)", "weights of the class", "cells of the last maps", "cells of the last maps",
      "dot, without softmax", "groups", "evidence.weights", "class", "cells" },
    { 0 },
};

const rg_system rg_system_cnn = {
    .name = "cnn",
    .summary = "the class of a picture by convolutions; shows where the evidence was",
    .paper =
        "Zhou, Khosla, Lapedriza, Oliva, Torralba 2016 (class activation maps); Jaderberg et al. 2015 (--front stn)",
    .task = &rg_task_classify,
    .reads = "pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .enter = enter,
    .features = features,
    .answer = answer,
    .compare = rg_compare_classes,
    .predict = rg_model_predict,
};
