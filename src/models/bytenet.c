/* ByteNet (Kalchbrenner et al. 2016): characters, two stacks of dilated convolutions, no attention; time grows with
 * length alone.
 *
 *     block     x + W_2 r(conv_k(r(W_1 r(x))))           r(x) = relu(layer norm(x)), each with its own norm; widths 2d -> d -> d -> 2d
 *     stacks    dilations 1, 2, 4, 8, 16, and again: `sets` times; centred in the encoder, causal in the decoder
 *     unfolding the encoder's S columns are resampled to T = a S + b: target step i reads column floor((i + 1/2) S / T), none from T on
 *     decoder   x_i = W [column(i); E y_{i-1}] + b, the stack, p(y_i) = softmax(W r(x_i))
 *
 * What target step i can see of the source is what the encoder's stack covers around that column: 1 + (k - 1) times
 * the sum of all dilations. */
#include "models/answer_parts.h"
#include "regard/conv.h"
#include "regard/layers.h"
#include "regard/trail.h"

#include <math.h>
#include <string.h>

enum { MOST_BLOCKS = 60,
       MOST_DILATION = 1 << 16 };

typedef struct {
    int64_t d, sets, taps, dilation;
    double  dropout, smoothing, scale, more;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "width", offsetof(settings, d), "128", "channels inside a block (d); rows are twice as wide", 0,
      "[1,1000000]" },
    { RG_OPTION_INT, "sets", offsetof(settings, sets), "2", "times the dilations come, in encoder and decoder", 0,
      "[1,12]" },
    { RG_OPTION_INT, "kernel", offsetof(settings, taps), "3", "taps of a convolution (k)", 0, "[1,99]" },
    { RG_OPTION_INT, "dilation", offsetof(settings, dilation), "16", "the largest of the dilations 1, 2, 4, ...", 0,
      "[1,65536]" },
    { RG_OPTION_REAL, "unfold-scale", offsetof(settings, scale), "1.2",
      "target length expected for a source of S: this times S (a) ...", 0, "(0,1000)" },
    { RG_OPTION_REAL, "unfold-more", offsetof(settings, more), "0", "... and so many more (b)", 0, "[0,1000000]" },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.1", "share of each block's output dropped", 0,
      "[0,1)" },
    { RG_OPTION_REAL, "label-smoothing", offsetof(settings, smoothing), "0", "probability spread over all characters",
      0, "[0,1)" },
    RG_OPTION_END
};

typedef struct {
    rg_norm   norm[3];
    rg_dense  in, out; /* 2d -> d, d -> 2d */
    rg_param *w, *b;   /* (k d, d)         */
    size_t    dilation;
} block;

typedef struct {
    block   block[MOST_BLOCKS];
    size_t  blocks, reach; /* reach: rows that the widest window covers */
    rg_norm end;
} stack;

typedef struct {
    rg_param *source, *target, *output, *output_bias;
    stack     encoder, decoder;
    rg_dense  join;
} parts;

/* ---------------------------------------------------------------------------------------------------------- build */

static void build_block(block *b, rg_params *p, const settings *s, size_t dilation)
{
    const size_t             d = (size_t)s->d, k = (size_t)s->taps;
    static const char *const names[] = { "norm.in", "norm.conv", "norm.out" };
    for (size_t i = 0; i < 3; i++) rg_norm_init(&b->norm[i], p, names[i], i ? d : 2 * d);
    rg_dense_init(&b->in, p, "in", 2 * d, d, RG_IDENTITY);
    b->w = rg_params_add(p, "conv.w", RG_WEIGHT, k * d, d, RG_INIT_GLOROT, 1);
    b->b = rg_params_add(p, "conv.b", RG_VECTOR, 1, d, RG_INIT_ZERO, 0);
    rg_dense_init(&b->out, p, "out", d, 2 * d, RG_IDENTITY);
    b->dilation = dilation;
}

static rg_status build_stack(stack *out, rg_params *p, const char *name, const settings *s)
{
    for (int64_t set = 0; set < s->sets; set++)
        for (size_t dilation = 1; dilation <= (size_t)s->dilation; dilation *= 2) {
            if (out->blocks == MOST_BLOCKS)
                return rg_fail(RG_EINVAL, "--sets %lld of dilations up to %lld are more than %d blocks",
                               (long long)s->sets, (long long)s->dilation, MOST_BLOCKS);
            rg_params_push(p, "%s.%zu", name, out->blocks);
            build_block(&out->block[out->blocks++], p, s, dilation);
            rg_params_pop(p);
            const size_t reach = (size_t)(s->taps - 1) * dilation + 1;
            if (reach > out->reach) out->reach = reach;
        }
    rg_params_push(p, "%s", name);
    rg_norm_init(&out->end, p, "end", 2 * (size_t)s->d);
    rg_params_pop(p);
    return RG_OK;
}

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *p = m->parts;
    const size_t    D = 2 * (size_t)s->d, V = rg_model_size(m, "target-vocabulary");
    p->source = rg_params_add(m->params, "source.embedding", RG_TABLE, rg_model_size(m, "source-vocabulary"), D,
                              RG_INIT_NORMAL, 1);
    p->target = rg_params_add(m->params, "target.embedding", RG_TABLE, V, D, RG_INIT_NORMAL, 1);
    RG_TRY(build_stack(&p->encoder, m->params, "encoder", s));
    rg_dense_init(&p->join, m->params, "join", 2 * D, D, RG_IDENTITY);
    RG_TRY(build_stack(&p->decoder, m->params, "decoder", s));
    p->output = rg_params_add(m->params, "output", RG_TIED, V, D, RG_INIT_GLOROT, 1);
    p->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- blocks */

static rg_tensor *rectified(rg_tape *t, const rg_norm *n, rg_tensor *x) { return rg_relu(t, rg_norm_run(t, n, x)); }

/* What goes into a block's convolution, and what is done with what comes out of it. */
static rg_tensor *before(rg_tape *t, const block *b, rg_tensor *x)
{
    return rectified(t, &b->norm[1], rg_dense_run(t, &b->in, rectified(t, &b->norm[0], x)));
}

static rg_tensor *after(rg_tape *t, const block *b, const settings *s, rg_tensor *x, rg_tensor *conv)
{
    return rg_add(t, x, rg_dropout(t, rg_dense_run(t, &b->out, rectified(t, &b->norm[2], conv)), s->dropout));
}

static rg_tensor *run(rg_tape *t, const stack *k, const settings *s, rg_tensor *x, bool causal)
{
    for (size_t i = 0; i < k->blocks && x; i++) {
        const block         *b = &k->block[i];
        const rg_time_window window = { .taps = (size_t)s->taps, .dilation = b->dilation, .causal = causal };
        x = after(t, b, s, x, rg_conv1d(t, before(t, b, x), rg_use(t, b->w), rg_use(t, b->b), RG_IDENTITY, &window));
    }
    return rectified(t, &k->end, x);
}

static rg_tensor *encode(rg_tape *t, const parts *p, const settings *s, const int32_t *ids, const rg_layout *layout)
{
    rg_tensor *x = rg_gather(t, rg_use(t, p->source), ids, (size_t)layout->start[layout->groups], layout);
    return run(t, &p->encoder, s, rg_tape_offer(t, "inputs", x, NULL), false);
}

/* The source row that target step i of a sentence reads; -1: none. */
static int32_t column_of(const settings *s, const rg_layout *source, size_t group, size_t i)
{
    const double S = (double)(source->start[group + 1] - source->start[group]), T = s->scale * S + s->more,
                 at = ((double)i + 0.5) * S / T;
    return at < S ? source->start[group] + (int32_t)at : -1;
}

static rg_tensor *join(rg_tape *t, const parts *p, rg_tensor *columns, rg_tensor *words)
{
    rg_tensor *both[] = { columns, words };
    return columns && words ? rg_dense_run(t, &p->join, rg_concat_columns(t, 2, both)) : NULL;
}

/* -------------------------------------------------------------------------------------------------------- learning */

static rg_tensor *unfold(rg_tape *t, const settings *s, rg_tensor *x, const rg_layout *source, const rg_layout *target)
{
    int32_t *row = rg_tape_memory(t, ((size_t)target->start[target->groups] + 1) * sizeof *row);
    for (size_t g = 0; row && g < target->groups; g++)
        for (int32_t i = target->start[g]; i < target->start[g + 1]; i++)
            row[i] = column_of(s, source, g, (size_t)(i - target->start[g]));
    return row ? rg_gather(t, x, row, (size_t)target->start[target->groups], target) : NULL;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *p = m->parts;
    const rg_batch *batch = data;
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_tensor      *columns = unfold(t, s, encode(t, p, s, from->ids, &from->layout), &from->layout, &to->layout);
    rg_tensor      *words = rg_gather(t, rg_use(t, p->target), to->previous, rg_field_rows(to), &to->layout);
    rg_tensor      *x = run(t, &p->decoder, s, join(t, p, columns, words), true);
    return rg_answer_loss(t, x, rg_use(t, p->output), rg_use(t, p->output_bias), to, s->smoothing);
}

/* -------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    rg_tensor *source;
    rg_trail  *past; /* what went into every block's convolution */
} memory;

static void finish(rg_decoding *d)
{
    memory *mem = d->state;
    rg_trail_free(mem->past);
    memset(mem, 0, sizeof *mem);
}

static rg_status start(rg_decoding *d)
{
    const settings *s = d->model->options;
    const parts    *p = d->model->parts;
    memory         *mem = d->state;
    if (!mem->past) RG_TRY(rg_trail_new(&mem->past, p->decoder.blocks, p->decoder.reach));
    rg_trail_clear(mem->past);
    mem->source = encode(d->memory, p, s, d->source.ids, &d->sources);
    return rg_tape_status(d->memory);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings *s = d->model->options;
    const parts    *p = d->model->parts;
    memory         *mem = d->state;
    int32_t        *row = rg_tape_memory(t, (d->n + 1) * sizeof *row);
    for (size_t i = 0; row && i < d->n; i++) row[i] = column_of(s, &d->sources, (size_t)d->source_of[i], d->steps);
    rg_tensor *columns = row ? rg_gather(t, mem->source, row, d->n, NULL) : NULL;
    rg_tensor *x = join(t, p, columns, rg_gather(t, rg_use(t, p->target), d->tokens, d->n, NULL));
    rg_trail_step(t, mem->past, d->n);
    for (size_t i = 0; i < p->decoder.blocks && x; i++) {
        const block *b = &p->decoder.block[i];
        rg_tensor   *window = rg_trail_window(t, mem->past, i, before(t, b, x), (size_t)s->taps, b->dilation);
        x = after(t, b, s, x, rg_linear(t, window, rg_use(t, b->w), rg_use(t, b->b), RG_IDENTITY));
    }
    return rg_answer_logits(d, t, rectified(t, &p->decoder.end, x), p->output, p->output_bias);
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    return rg_trail_keep(((memory *)d->state)->past, parents, n);
}

static const rg_preset presets[] = {
    { "paper", "the paper's model: 6 sets of 5 dilations, width 800",
      "width: 800\nsets: 6\nkernel: 3\ndilation: 16\n" },
    { NULL, NULL, NULL },
};

const rg_system rg_system_bytenet = {
    .name = "bytenet",
    .summary = "dilated convolutions over characters, the decoder stacked on the encoder; no attention, linear time",
    .paper = "Kalchbrenner et al. 2016, Neural Machine Translation in Linear Time",
    .task = &rg_task_translation,
    .options = options,
    .options_bytes = sizeof(settings),
    .presets = presets,
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(memory),
    .start = start,
    .step = step,
    .keep = keep,
    .finish = finish,
};
