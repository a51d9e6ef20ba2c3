/* Inverse cooking (Salvador, Drozdzal, Giro-i-Nieto, Romero 2019): a picture of a dish to its ingredients, and both to
 * a title and directions.
 *
 *     cells        e_I of the picture by convolutions
 *     ingredients  a set, written one by one by blocks that look at the cells (set_parts.h)
 *     text         title | step | step ..., by blocks whose second attention sees cells and embedded ingredients:
 *
 *       concat               softmax(Q [K_I; K_L]^T / sqrt d) [V_I; V_L]         ingredients-first   attend to ingredients, then to cells
 *       independent          both from the same rows, and the sum                image-first         the other way round
 *       image, ingredients   only one of them: controls
 *
 * Two phases follow each other: the set loss moves the encoder and the ingredients; then the encoder stays as it is,
 * and the loss of the text moves the writer. While it learns, the text is given the true ingredients; an answer uses
 * those that were found. */
#include "models/set_parts.h"

typedef struct {
    rg_picture_settings picture;
    rg_set_settings     set;
    char               *predictor, *fusion;
    int64_t             depth;
    double              smoothing, share;
} settings;

static const rg_option options[] = {
    RG_PICTURE_ROWS(settings),
    RG_SET_WRITER_ROWS(settings, set),
    { RG_OPTION_STRING, "predictor", offsetof(settings, predictor), "transformer", "how ingredients are found", 0,
      "transformer|set-transformer", NULL },
    { RG_OPTION_STRING, "fusion", offsetof(settings, fusion), "concat",
      "how the text sees picture and ingredients; image and ingredients: only one of them", 0,
      "concat|independent|image-first|ingredients-first|image|ingredients", NULL },
    { RG_OPTION_INT, "text-depth", offsetof(settings, depth), "2", "blocks of the writer", 0, "[1,32]", NULL },
    { RG_OPTION_REAL, "label-smoothing", offsetof(settings, smoothing), "0", "probability spread over all words", 0,
      "[0,1)", NULL },
    { RG_OPTION_REAL, "set-share", offsetof(settings, share), "0.5",
      "of the training for the ingredients; the text follows", 0, "[0.01,0.99]", NULL },
    RG_OPTION_END
};

typedef enum { CONCAT, INDEPENDENT, IMAGE_FIRST, INGREDIENTS_FIRST, IMAGE, INGREDIENTS } fusion;

typedef struct {
    rg_picture_parts picture;
    rg_set_writer    set;
    fusion           fusion;
    rg_stack         blocks;
    rg_heads         second[RG_STACK_DEPTH]; /* where there are two: of what comes second */
    rg_norm          second_norm[RG_STACK_DEPTH];
    rg_param        *words, *names, *output, *output_bias;
    rg_dense         cells;
} parts;

static fusion fusion_of(const char *name)
{
    static const char *const names[] = { "concat", "independent", "image-first", "ingredients-first",
                                         "image",  "ingredients" };
    for (int i = 0; i < 6; i++)
        if (strcmp(names[i], name) == 0) return (fusion)i;
    return CONCAT;
}

static bool two(const parts *q)
{
    return q->fusion == INDEPENDENT || q->fusion == IMAGE_FIRST || q->fusion == INGREDIENTS_FIRST;
}

static rg_status build_writer(rg_model *m, parts *q, const settings *s)
{
    const size_t          d = (size_t)s->set.d, V = rg_model_size(m, "target-vocabulary");
    const rg_block_config c = { .width = d,
                                .hidden = (size_t)s->set.hidden,
                                .heads = (size_t)s->set.heads,
                                .score = "scaled_dot",
                                .activation = RG_RELU,
                                .pre = true,
                                .dropout = s->set.dropout };
    q->words = rg_params_add(m->params, "words", RG_TABLE, V, d, RG_INIT_NORMAL, 0.3);
    q->names = rg_params_add(m->params, "ingredients", RG_TABLE, rg_model_size(m, "classes"), d, RG_INIT_NORMAL, 0.3);
    rg_dense_init(&q->cells, m->params, "cells", q->picture.width, d, RG_IDENTITY);
    RG_TRY(rg_stack_init(&q->blocks, m->params, "blocks", &c, (size_t)s->depth, true));
    for (size_t i = 0; two(q) && i < q->blocks.depth; i++) {
        rg_params_push(m->params, "second.%zu", i);
        RG_TRY(rg_heads_init(&q->second[i], m->params, d, c.heads, false, "scaled_dot"));
        rg_norm_init(&q->second_norm[i], m->params, "norm", d);
        rg_params_pop(m->params);
    }
    q->output = rg_params_add(m->params, "output", RG_TIED, V, d, RG_INIT_GLOROT, 1);
    q->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
    return RG_OK;
}

/* Names decide whom a phase moves: *.layers.* the encoder and the ingredients, picture.write.* the writer. */
static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    q->fusion = fusion_of(s->fusion);
    rg_params_push(m->params, "picture.layers");
    rg_status status = rg_picture_build(&q->picture, m, &s->picture);
    rg_params_pop(m->params);
    if (status != RG_OK) return status;
    rg_params_push(m->params, "set.layers");
    status = rg_set_writer_build(&q->set, m, &s->set, q->picture.width, false);
    rg_params_pop(m->params);
    if (status != RG_OK) return status;
    rg_params_push(m->params, "picture.write");
    status = build_writer(m, q, s);
    rg_params_pop(m->params);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- sources */

/* What the text attends to: one group of rows per picture. */
typedef struct {
    rg_tensor       *first, *second; /* the second is NULL where there is one only */
    const rg_layout *first_groups, *second_groups;
} sources;

/* The rows of both, picture by picture. */
static rg_tensor *side_by_side(rg_tape *t, rg_tensor *a, const rg_layout *la, rg_tensor *b, const rg_layout *lb,
                               const rg_layout **out)
{
    const size_t na = (size_t)la->start[la->groups], n = na + (size_t)lb->start[lb->groups];
    int32_t     *row = rg_tape_memory(t, (n + 1) * sizeof *row),
            *start = rg_tape_memory(t, (la->groups + 1) * sizeof *start), at = 0;
    rg_tensor   *both[] = { a, b };
    if (!row || !start) return NULL;
    for (size_t g = 0; g < la->groups; g++) {
        start[g] = at;
        for (int32_t i = la->start[g]; i < la->start[g + 1]; i++) row[at++] = i;
        for (int32_t i = lb->start[g]; i < lb->start[g + 1]; i++) row[at++] = (int32_t)na + i;
    }
    start[la->groups] = at;
    *out = rg_tape_layout(t, la->groups, start);
    return *out ? rg_gather(t, rg_concat_rows(t, 2, both), row, n, *out) : NULL;
}

static sources sources_of(rg_tape *t, const parts *q, rg_tensor *cells, const int32_t *ids, const rg_layout *members)
{
    const rg_layout *grid = cells ? rg_tensor_layout(cells) : NULL;
    rg_tensor       *see = rg_dense_run(t, &q->cells, cells);
    rg_tensor       *know =
        grid ? rg_gather(t, rg_use(t, q->names), ids, (size_t)members->start[members->groups], members) : NULL;
    sources          x = { see, know, grid, members };
    if (!grid) return (sources){ 0 };
    if (q->fusion == CONCAT)
        x = (sources){ side_by_side(t, see, grid, know, members, &x.first_groups), NULL, x.first_groups, NULL };
    else if (q->fusion == IMAGE) x = (sources){ see, NULL, grid, NULL };
    else if (q->fusion == INGREDIENTS) x = (sources){ know, NULL, members, NULL };
    else if (q->fusion == INGREDIENTS_FIRST) x = (sources){ know, see, members, grid };
    return x;
}

/* Keys and values of both sources in every block. */
typedef struct {
    rg_tensor *k[RG_STACK_DEPTH], *v[RG_STACK_DEPTH], *k2[RG_STACK_DEPTH], *v2[RG_STACK_DEPTH];
} memories;

static void remember(memories *out, rg_tape *t, const parts *q, const sources *x)
{
    for (size_t i = 0; i < q->blocks.depth; i++) {
        rg_heads_memory(t, &q->blocks.block[i].cross, x->first, &out->k[i], &out->v[i]);
        if (two(q)) rg_heads_memory(t, &q->second[i], x->second, &out->k2[i], &out->v2[i]);
    }
}

/* y + attend(norm(y)) over the second source. */
static rg_tensor *second_look(rg_tape *t, const parts *q, size_t i, rg_tensor *y, const memories *mem,
                              const rg_reach *reach)
{
    rg_tape_push(t, "second");
    rg_tensor *query = rg_heads_query(t, &q->second[i], rg_norm_run(t, &q->second_norm[i], y));
    rg_tensor *seen = rg_heads_read(t, &q->second[i], query, mem->k2[i], mem->v2[i], reach);
    rg_tape_pop(t);
    return rg_add(t, y, rg_dropout(t, seen, q->blocks.config.dropout));
}

/* A block behind its self-attention. */
static rg_tensor *look(rg_tape *t, const parts *q, size_t i, rg_tensor *y, const memories *mem, const rg_reach *first,
                       const rg_reach *second)
{
    rg_tensor *z = rg_block_cross(t, &q->blocks, i, y, mem->k[i], mem->v[i], first);
    if (q->fusion == INDEPENDENT) z = rg_sub(t, rg_add(t, z, second_look(t, q, i, y, mem, second)), y);
    else if (two(q)) z = second_look(t, q, i, z, mem, second);
    return rg_block_feed_forward(t, &q->blocks, i, z);
}

/* --------------------------------------------------------------------------------------------------------- learning */

static rg_loss set_loss_of(rg_tape *t, const rg_model *m, const rg_batch *b, rg_tensor *cells)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_field *set = &b->field[1];
    rg_tensor      *sum = s->predictor[0] == 's' ? rg_set_writer_pooled_loss(t, m, &q->set, set, cells)
                                                 : rg_set_writer_loss(t, m, &q->set, set, cells);
    return (rg_loss){ sum, (double)b->examples };
}

static rg_loss text_loss_of(rg_tape *t, const rg_model *m, const rg_batch *b, rg_tensor *cells)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_field *set = &b->field[1], *to = &b->field[2];
    memories        mem;
    const sources   x = sources_of(t, q, cells, set->ids, &set->layout);
    if (!x.first) return (rg_loss){ NULL, 0 };
    remember(&mem, t, q, &x);
    const rg_reach *past = rg_reach_causal(t, &to->layout), *first = rg_reach_groups(t, &to->layout, x.first_groups);
    const rg_reach *second = x.second ? rg_reach_groups(t, &to->layout, x.second_groups) : NULL;
    rg_tensor      *y = rg_gather(t, rg_use(t, q->words), to->previous, rg_field_rows(to), &to->layout);
    y = rg_dropout(t, rg_add_sinusoids(t, y, RG_SINUSOIDS, 0), s->set.dropout);
    for (size_t i = 0; i < q->blocks.depth; i++) {
        rg_tape_push(t, "write.%zu", i);
        y = look(t, q, i, rg_block_self(t, &q->blocks, i, y, past), &mem, first, second);
        rg_tape_pop(t);
    }
    return (rg_loss){ rg_cross_entropy_over(t, rg_stack_end(t, &q->blocks, y), rg_use(t, q->output),
                                            rg_use(t, q->output_bias), to->ids, rg_tape_learning(t) ? s->smoothing : 0,
                                            1),
                      (double)rg_field_rows(to) };
}

static rg_tensor *cells_of(rg_tape *t, const rg_model *m, const rg_batch *b)
{
    return rg_picture_cells(t, &((const parts *)m->parts)->picture, &b->field[0]);
}

static rg_loss set_loss(rg_tape *t, const rg_model *m, const void *b)
{
    return set_loss_of(t, m, b, cells_of(t, m, b));
}
static rg_loss text_loss(rg_tape *t, const rg_model *m, const void *b)
{
    return text_loss_of(t, m, b, cells_of(t, m, b));
}

/* Both at once, for who wants one number. */
static rg_loss loss(rg_tape *t, const rg_model *m, const void *b)
{
    rg_tensor    *cells = cells_of(t, m, b);
    const rg_loss set = set_loss_of(t, m, b, cells), text = text_loss_of(t, m, b, cells);
    return (rg_loss){ rg_add(t, set.sum, text.sum), set.count + text.count };
}

static double share(const rg_model *m) { return ((const settings *)m->options)->share; }

static const rg_system_phase phases[] = { { .name = "ingredients", .loss = set_loss, .learns = "*.layers.*",
                                            .share = share },
                                          { .name = "directions", .loss = text_loss, .learns = "picture.write.*" },
                                          { 0 } };

/* (pictures, ingredients): above 1/2 are the members. */
static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *b)
{
    return rg_set_writer_answer(t, m, &((const parts *)m->parts)->set, cells_of(t, m, b));
}

/* --------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    memories  mem;
    sources   from;
    rg_cache *past;
} memory;

static void finish(rg_decoding *d)
{
    memory *c = d->state;
    rg_cache_free(c->past);
    memset(c, 0, sizeof *c);
}

/* The ingredients that are found in each picture. */
static const rg_layout *found(const int32_t **out, rg_tape *t, const parts *q, const rg_model *m, rg_tensor *cells)
{
    const rg_tensor *y = rg_set_writer_answer(t, m, &q->set, cells);
    const size_t     G = rg_tensor_rows(y), C = rg_tensor_cols(y);
    int32_t *ids = rg_tape_memory(t, (G * C + 1) * sizeof *ids), *start = rg_tape_memory(t, (G + 1) * sizeof *start),
            n = 0;
    if (!y || !ids || !start) return NULL;
    for (size_t g = 0; g < G; g++) {
        start[g] = n;
        for (size_t c = 0; c < C; c++)
            if (rg_tensor_at(y, g, c) > (rg_real)0.5) ids[n++] = (int32_t)c;
    }
    start[G] = n;
    *out = ids;
    return rg_tape_layout(t, G, start);
}

static rg_status start(rg_decoding *d)
{
    const parts *q = d->model->parts;
    memory      *c = d->state;
    rg_tape     *t = d->memory;
    if (!c->past) RG_TRY(rg_cache_new(&c->past, q->blocks.depth));
    rg_cache_clear(c->past);
    rg_tensor       *cells = rg_picture_cells(t, &q->picture, &d->source);
    const int32_t   *ids = NULL;
    const rg_layout *members = cells ? found(&ids, t, q, d->model, cells) : NULL;
    if (!members) return rg_tape_status(t);
    c->from = sources_of(t, q, cells, ids, members);
    if (c->from.first) remember(&c->mem, t, q, &c->from);
    return rg_tape_status(t);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const parts          *q = d->model->parts;
    memory               *c = d->state;
    const rg_reach_choice causal = { &rg_reach_kind_causal, 0 };
    const rg_reach       *past = rg_cache_step(t, c->past, d->n, causal),
                   *first = rg_reach_chosen(t, d->source_of, d->n, c->from.first_groups);
    const rg_reach *second = c->from.second ? rg_reach_chosen(t, d->source_of, d->n, c->from.second_groups) : NULL;
    rg_tensor *y = rg_add_sinusoid(t, rg_gather(t, rg_use(t, q->words), d->tokens, d->n, NULL), RG_SINUSOIDS, d->steps);
    for (size_t i = 0; i < q->blocks.depth; i++) {
        rg_tape_push(t, "write.%zu", i);
        y = look(t, q, i, rg_block_step(t, &q->blocks, i, y, c->past, past), &c->mem, first, second);
        rg_tape_pop(t);
    }
    return rg_linear_nt(t, rg_stack_end(t, &q->blocks, y), rg_use(t, q->output), rg_use(t, q->output_bias));
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    return rg_cache_keep(((memory *)d->state)->past, parents, n);
}

static const rg_attention_use uses[] = {
    { "before every ingredient", "ingredients so far", "cells of the picture", "cells of the picture", "scaled_dot",
      "groups", .watch = "*look*weights", .rows = "labels", .cols = "cells" },
    { "every word of the text", "words so far", "cells and ingredients", "cells and ingredients", "scaled_dot",
      "groups", NULL, NULL, NULL },
    { 0 },
};

const rg_system rg_system_recipe = {
    .name = "recipe",
    .summary = "a picture of a dish to ingredients, a title and directions",
    .paper = "Salvador, Drozdzal, Giro-i-Nieto, Romero 2019, Inverse Cooking: Recipe Generation from Food Images",
    .task = &rg_task_recipe,
    .reads = "pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .phases = phases,
    .predict = predict,
    .state_bytes = sizeof(memory),
    .start = start,
    .step = step,
    .keep = keep,
    .finish = finish,
};
