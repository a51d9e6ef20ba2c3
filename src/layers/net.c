/* net.c - layers from a short text: reading it, its shapes, its parameters, running it. */
#include "regard/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBER = 1 << 20 };
#define NORM_MOMENTUM 0.1
#define NORM_EPSILON 1e-5

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct reading {
    size_t      number; /* of the layer, from 1 */
    const char *word, *at;
    size_t      bytes;
} reading;

static rg_status bad(const reading *r, rg_status status, const char *format, ...) RG_PRINTF(3, 4);
static rg_status bad(const reading *r, rg_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rg_failv(status, format, args);
    va_end(args);
    return rg_fail_in(status, "layer %zu '%.*s': ", r->number, (int)(r->bytes < 40 ? r->bytes : 40), r->word);
}

static bool at_end(const reading *r) { return r->at >= r->word + r->bytes; }

static rg_status read_number(size_t *out, reading *r, const char *what)
{
    size_t value = 0;
    if (at_end(r) || *r->at < '0' || *r->at > '9') return bad(r, RG_EINVAL, "%s must follow as a number", what);
    for (; !at_end(r) && *r->at >= '0' && *r->at <= '9'; r->at++) {
        value = 10 * value + (size_t)(*r->at - '0');
        if (value > MOST_NUMBER) return bad(r, RG_ELIMIT, "%s is above %d", what, MOST_NUMBER);
    }
    if (!value) return bad(r, RG_EINVAL, "%s must not be 0", what);
    *out = value;
    return RG_OK;
}

/* 0.5 of "d0.5": digits and one point. */
static rg_status read_share(double *out, reading *r)
{
    double value = 0, place = 1;
    bool   point = false;
    if (at_end(r)) return bad(r, RG_EINVAL, "the share to drop must follow: d0.5");
    for (; !at_end(r); r->at++) {
        if (*r->at == '.' && !point) point = true;
        else if (*r->at < '0' || *r->at > '9') return bad(r, RG_EINVAL, "the share to drop must follow: d0.5");
        else if (point) value += (place /= 10) * (*r->at - '0');
        else value = 10 * value + (*r->at - '0');
    }
    if (value >= 1) return bad(r, RG_EINVAL, "a share of %g: it must be below 1", value);
    *out = value;
    return RG_OK;
}

/* Which letters may stand behind which layer. */
static const char *letters_of(char layer)
{
    return layer == 'c'                   ? "sgvntrl"
           : layer == 'i'                 ? "snt"
           : layer == 'p' || layer == 'a' ? "su"
           : layer == 'f'                 ? "n"
                                          : "";
}

static rg_status read_letters(rg_net_layer *l, reading *r, bool *valid)
{
    while (!at_end(r)) {
        const char letter = *r->at++;
        if (!strchr(letters_of(r->word[0]), letter))
            return bad(r, RG_EINVAL,
                       "what is '%c'? Layers are c5x32 (sNUMBER gNUMBER v n t r l), p2, a2 (sNUMBER u), i6x24 (sNUMBER "
                       "n t), q16x64, f100 (n), d0.5",
                       letter);
        switch (letter) {
        case 's': RG_TRY(read_number(&l->window.stride, r, "the stride")); break;
        case 'g': RG_TRY(read_number(&l->groups, r, "the number of groups")); break;
        case 'v': *valid = true; break;
        case 'n': l->norm = true; break;
        case 't': l->window.same = true; break;
        case 'u': l->window.ceil = true; break;
        case 'r': l->end = RG_NET_RELU6; break;
        default: l->end = RG_NET_LINEAR; break;
        }
    }
    return RG_OK;
}

/* NUMBER x NUMBER. */
static rg_status read_pair(size_t *first, size_t *second, reading *r, const char *what, const char *then)
{
    RG_TRY(read_number(first, r, what));
    if (at_end(r) || *r->at++ != 'x') return bad(r, RG_EINVAL, "%s x %s, as in c5x32", what, then);
    return read_number(second, r, then);
}

/* A layer as it is written; *out_first: the number before the x of a block. */
static rg_status read_layer(rg_net_layer *l, size_t *out_first, reading *r)
{
    bool   valid = false;
    size_t side = 3;
    *l = (rg_net_layer){ .groups = 1, .window = { .stride = 1, .dilation = 1 } };
    if (r->bytes >= sizeof l->text) return bad(r, RG_EINVAL, "a layer of %zu letters", r->bytes);
    memcpy(l->text, r->word, r->bytes);
    switch (*r->at++) {
    case 'c':
        l->kind = RG_NET_CONV;
        RG_TRY(read_pair(&side, &l->out, r, "the size of the window", "the number of maps"));
        break;
    case 'i': RG_TRY(read_pair(out_first, &l->out, r, "the expansion", "the number of maps")); break;
    case 'q': RG_TRY(read_pair(out_first, &l->out, r, "the maps of the squeeze", "those of each half")); break;
    case 'p':
    case 'a':
        l->kind = r->word[0] == 'p' ? RG_NET_POOL : RG_NET_AVERAGE;
        RG_TRY(read_number(&side, r, "the size of the window"));
        l->window.stride = side;
        break;
    case 'f':
        l->kind = RG_NET_DENSE;
        RG_TRY(read_number(&l->out, r, "the number of units"));
        side = 1;
        break;
    case 'd': l->kind = RG_NET_DROPOUT; return read_share(&l->dropout, r);
    default:
        return bad(
            r, RG_EINVAL,
            "no layer begins so: c5x32 convolution, p2 a2 pooling, i6x24 q16x64 blocks, f100 dense, d0.5 dropout");
    }
    RG_TRY(read_letters(l, r, &valid));
    l->window.height = l->window.width = side;
    if (l->kind == RG_NET_CONV && !valid && !l->window.same) {
        l->window.padding = (side - 1) / 2;
        l->window.end = (side - 1) % 2; /* an even window: one more at the end, so that the size stays */
    }
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- shapes */

/* The map a layer reads: number from 1, 0 the picture. */
static size_t height_at(const rg_net *s, size_t number) { return number ? s->layer[number - 1].height : s->height; }
static size_t width_at(const rg_net *s, size_t number) { return number ? s->layer[number - 1].width : s->width; }
static size_t channels_at(const rg_net *s, size_t number) { return number ? s->layer[number - 1].wide : s->channels; }

static rg_status shape_maps(rg_net_layer *l, const reading *r, const rg_net *s)
{
    const size_t height = height_at(s, l->from), width = width_at(s, l->from), in = channels_at(s, l->from);
    l->in = in;
    if (l->kind != RG_NET_CONV) l->out = in;
    if (l->groups == SIZE_MAX) l->groups = in; /* depthwise */
    l->height = rg_window_places(height, l->window.height, &l->window);
    l->width = rg_window_places(width, l->window.width, &l->window);
    l->wide = l->out + (l->beside ? channels_at(s, l->beside) : 0);
    if (!l->height || !l->width)
        return bad(r, RG_ESHAPE,
                   l->kind == RG_NET_CONV ? "a map of %zu x %zu is smaller than the window"
                                          : "a map of %zu x %zu cannot be pooled",
                   height, width);
    if (in % l->groups || l->out % l->groups)
        return bad(r, RG_ESHAPE, "%zu channels into %zu maps in %zu groups: both must be multiples of the groups", in,
                   l->out, l->groups);
    return RG_OK;
}

/* The next layer, its shape worked out. */
static rg_status add(rg_net *s, const reading *r, const rg_net_layer *l)
{
    if (s->count == RG_NET_LAYERS) return rg_fail(RG_ELIMIT, "more than %d layers", RG_NET_LAYERS);
    rg_net_layer *to = &s->layer[s->count];
    *to = *l;
    if (l->kind == RG_NET_DENSE) to->in = s->count > s->maps ? s->layer[s->count - 1].out : 0;
    else if (l->kind == RG_NET_DROPOUT && s->count > s->maps) to->in = to->out = s->layer[s->count - 1].out;
    else if (s->count > s->maps)
        return bad(r, RG_EINVAL, "maps cannot follow dense units: put c, p, a, i and q before f");
    else if (l->kind == RG_NET_DROPOUT) {
        to->from = s->maps;
        to->in = to->out = to->wide = channels_at(s, s->maps), to->height = height_at(s, s->maps),
        to->width = width_at(s, s->maps);
        s->maps++;
    } else {
        if (!l->from) to->from = s->maps;
        RG_TRY(shape_maps(to, r, s));
        s->maps++;
    }
    s->count++;
    return RG_OK;
}

/* A part of a block: a convolution of side x side, `out` maps. */
static rg_net_layer part_of(const rg_net_layer *block, size_t side, size_t out, rg_net_end end)
{
    rg_net_layer l = { .kind = RG_NET_CONV, .groups = 1, .out = out, .end = end, .norm = block->norm };
    l.window = (rg_window){ .height = side, .width = side, .stride = 1, .dilation = 1, .padding = side / 2 };
    snprintf(l.text, sizeof l.text, "c%zux%zu", side, out);
    return l;
}

/* Inverted residual (Sandler et al. 2018): wide inside, its input added where shapes agree. Expansion 1 has no first
 * convolution. */
static rg_status add_inverted(rg_net *s, const reading *r, const rg_net_layer *block, size_t expansion)
{
    const size_t before = s->maps, in = channels_at(s, before);
    size_t       hidden;
    if (!rg_size_mul(&hidden, in, expansion) || hidden > MOST_NUMBER)
        return bad(r, RG_ELIMIT, "%zu times %zu maps", expansion, in);
    rg_net_layer wider = part_of(block, 1, hidden, RG_NET_RELU6), depth = part_of(block, 3, hidden, RG_NET_RELU6);
    rg_net_layer end = part_of(block, 1, block->out, RG_NET_LINEAR);
    depth.groups = SIZE_MAX;
    depth.window.stride = block->window.stride;
    if ((depth.window.same = block->window.same)) depth.window.padding = 0;
    if (block->window.stride == 1 && in == block->out && before) end.plus = before;
    if (expansion > 1) RG_TRY(add(s, r, &wider));
    RG_TRY(add(s, r, &depth));
    return add(s, r, &end);
}

/* Fire (Iandola et al. 2016): few maps, then two kinds of windows over them. */
static rg_status add_fire(rg_net *s, const reading *r, const rg_net_layer *block, size_t squeeze)
{
    const rg_net_layer few = part_of(block, 1, squeeze, RG_NET_RELU);
    rg_net_layer small = part_of(block, 1, block->out, RG_NET_RELU), large = part_of(block, 3, block->out, RG_NET_RELU);
    RG_TRY(add(s, r, &few));
    small.from = large.from = s->maps;
    RG_TRY(add(s, r, &small));
    large.beside = s->maps;
    return add(s, r, &large);
}

rg_status rg_net_parse(rg_net *out, const char *text, size_t channels, size_t height, size_t width)
{
    reading   r = { 0 };
    rg_net *s = out;
    *s = (rg_net){ .channels = channels, .height = height, .width = width };
    while (*(text += strspn(text, " ,\t"))) {
        r = (reading){ r.number + 1, text, text, strcspn(text, " ,\t") };
        rg_net_layer l;
        size_t       first = 0;
        RG_TRY(read_layer(&l, &first, &r));
        RG_TRY(*r.word == 'i'   ? add_inverted(s, &r, &l, first)
               : *r.word == 'q' ? add_fire(s, &r, &l, first)
                                : add(s, &r, &l));
        text += r.bytes;
    }
    return RG_OK;
}

size_t rg_net_channels(const rg_net *s) { return channels_at(s, s->maps); }
size_t rg_net_height(const rg_net *s) { return height_at(s, s->maps); }
size_t rg_net_width(const rg_net *s) { return width_at(s, s->maps); }
size_t rg_net_units(const rg_net *s, size_t units) { return s->count > s->maps ? s->layer[s->count - 1].out : units; }

char *rg_net_describe(const rg_net *s)
{
    char *text = rg_format("pictures of %zu x %zu x %zu\n", s->height, s->width, s->channels);
    for (size_t i = 0; text && i < s->count; i++) {
        const rg_net_layer *l = &s->layer[i];
        char *more = l->height ? rg_format("%s  %-12s %zu x %zu x %zu\n", text, l->text, l->height, l->width, l->wide)
                               : rg_format("%s  %-12s %zu\n", text, l->text, l->out);
        rg_free(text);
        text = more;
    }
    return text;
}

/* ------------------------------------------------------------------------------------------------------- parameters */

static bool is_depthwise(const rg_net_layer *l) { return l->groups > 1 && l->groups == l->in && l->out == l->in; }

void rg_net_init(rg_net *s, rg_params *p, const char *name, size_t units)
{
    rg_params_push(p, "%s", name);
    for (size_t i = 0; i < s->count; i++) {
        rg_net_layer *l = &s->layer[i];
        if (i == s->maps && i < s->count) l->in = units;
        if (l->kind != RG_NET_CONV && l->kind != RG_NET_DENSE) {
            if (i >= s->maps && i + 1 < s->count) s->layer[i + 1].in = l->out = l->in;
            continue;
        }
        const size_t taps = l->kind == RG_NET_CONV ? l->window.height * l->window.width : 1;
        rg_params_push(p, "%zu", i);
        /* relu halves the variance of what goes through: Glorot's bound times sqrt 2 (He et al. 2015) */
        if (is_depthwise(l))
            l->w = rg_params_add(p, "w", RG_VECTOR, taps, l->in, RG_INIT_NORMAL, 1.41421356 / (double)l->window.height);
        else l->w = rg_params_add(p, "w", RG_WEIGHT, taps * l->in / l->groups, l->out, RG_INIT_GLOROT, 1.41421356);
        if (!l->norm) l->b = rg_params_add(p, "b", RG_VECTOR, 1, l->out, RG_INIT_ZERO, 0);
        if (l->norm) {
            l->gain = rg_params_add(p, "gain", RG_VECTOR, 1, l->out, RG_INIT_ONE, 0);
            l->bias = rg_params_add(p, "bias", RG_VECTOR, 1, l->out, RG_INIT_ZERO, 0);
            l->mean = rg_params_add(p, "mean", RG_KEPT, 1, l->out, RG_INIT_ZERO, 0);
            l->variance = rg_params_add(p, "variance", RG_KEPT, 1, l->out, RG_INIT_ONE, 0);
        }
        rg_params_pop(p);
    }
    rg_params_pop(p);
}

/* ---------------------------------------------------------------------------------------------------------- running */

/* Each group of channels by itself, side by side. */
static rg_tensor *convolve_groups(rg_tape *t, const rg_net_layer *l, rg_tensor *x, rg_tensor *w, rg_tensor *b,
                                  rg_activation f)
{
    const size_t in = l->in / l->groups, each = l->out / l->groups;
    rg_tensor  **part = rg_tape_memory(t, l->groups * sizeof(rg_tensor *));
    if (!part) return NULL;
    for (size_t g = 0; g < l->groups; g++)
        part[g] = rg_conv2d(t, rg_columns(t, x, g * in, in), rg_columns(t, w, g * each, each),
                            b ? rg_columns(t, b, g * each, each) : NULL, f, &l->window);
    return rg_concat_columns(t, l->groups, part);
}

static rg_tensor *convolve(rg_tape *t, const rg_net_layer *l, rg_tensor *x)
{
    const rg_activation f = l->norm || l->end != RG_NET_RELU ? RG_IDENTITY : RG_RELU;
    rg_tensor          *w = rg_use(t, l->w), *b = l->b ? rg_use(t, l->b) : NULL;
    if (is_depthwise(l)) return rg_map(t, rg_depthwise2d(t, x, w, b, &l->window), f);
    if (l->groups > 1) return convolve_groups(t, l, x, w, b, f);
    if (l->window.height == 1 && l->window.stride == 1) return rg_linear(t, x, w, b, f); /* a pixel sees itself alone */
    return rg_conv2d(t, x, w, b, f, &l->window);
}

static rg_tensor *run_layer(rg_tape *t, const rg_net_layer *l, rg_tensor *x)
{
    switch (l->kind) {
    case RG_NET_POOL: return rg_max_pool2d(t, x, &l->window);
    case RG_NET_AVERAGE: return rg_average_pool2d(t, x, &l->window);
    case RG_NET_DROPOUT: return rg_dropout(t, x, l->dropout);
    case RG_NET_CONV: x = convolve(t, l, x); break;
    case RG_NET_DENSE:
        x = rg_linear(t, x, rg_use(t, l->w), l->b ? rg_use(t, l->b) : NULL, l->norm ? RG_IDENTITY : RG_RELU);
        break;
    }
    if (l->norm)
        x = rg_batch_norm(t, x, rg_use(t, l->gain), rg_use(t, l->bias), l->mean, l->variance, NORM_MOMENTUM,
                          NORM_EPSILON);
    if (l->end == RG_NET_RELU6) return rg_clamp(t, x, 0, 6);
    return l->norm && l->end == RG_NET_RELU ? rg_relu(t, x) : x;
}

rg_tensor *rg_net_maps(rg_tape *t, const rg_net *s, rg_tensor *x)
{
    rg_tensor *map[RG_NET_LAYERS + 1] = { x };
    for (size_t i = 0; i < s->maps; i++) {
        const rg_net_layer *l = &s->layer[i];
        rg_tape_push(t, "%s", l->text);
        rg_tensor *y = run_layer(t, l, map[l->from]);
        if (l->beside) y = rg_concat_columns(t, 2, (rg_tensor *[]){ map[l->beside], y });
        map[i + 1] = l->plus ? rg_add(t, y, map[l->plus]) : y;
        rg_tape_pop(t);
    }
    return map[s->maps];
}

rg_tensor *rg_net_dense(rg_tape *t, const rg_net *s, rg_tensor *x)
{
    for (size_t i = s->maps; i < s->count; i++) {
        rg_tape_push(t, "%s", s->layer[i].text);
        x = run_layer(t, &s->layer[i], x);
        rg_tape_pop(t);
    }
    return x;
}

/* ----------------------------------------------------------------------------------------------------------- pixels */

/* y = x w + b, w (3, 3) line by line. */
typedef struct {
    const char *name;
    rg_real     w[9], b[3];
} rule;

static const rule rules[] = {
    { "signed", { 255.0F / 128, 0, 0, 0, 255.0F / 128, 0, 0, 0, 255.0F / 128 }, { -1, -1, -1 } },
    { "imagenet",
      { 1 / 0.229F, 0, 0, 0, 1 / 0.224F, 0, 0, 0, 1 / 0.225F },
      { -0.485F / 0.229F, -0.456F / 0.224F, -0.406F / 0.225F } },
    { "caffe", { 0, 0, 255, 0, 255, 0, 255, 0, 0 }, { -103.939F, -116.779F, -123.68F } },
};

rg_tensor *rg_pixels_as(rg_tape *t, const char *name, rg_tensor *x)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, name) == 0)
            return rg_linear(t, x, rg_constant(t, rules[i].w, 3, 3, NULL), rg_constant(t, rules[i].b, 1, 3, NULL),
                             RG_IDENTITY);
    return x;
}
