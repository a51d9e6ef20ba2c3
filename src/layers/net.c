/* net.c - layers from a short text: reading it, its shapes, its parameters, running it. */
#include "regard/net.h"

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

static rg_status read_letters(rg_net_layer *l, reading *r, bool *valid)
{
    const bool conv = l->kind == RG_NET_CONV;
    while (!at_end(r)) {
        const char letter = *r->at++;
        if (letter == 's' && l->kind != RG_NET_DENSE) RG_TRY(read_number(&l->window.stride, r, "the stride"));
        else if (letter == 'g' && conv) RG_TRY(read_number(&l->groups, r, "the number of groups"));
        else if (letter == 'v' && conv) *valid = true;
        else if (letter == 'n' && (conv || l->kind == RG_NET_DENSE)) l->norm = true;
        else return bad(r, RG_EINVAL, "what is '%c'? Layers are c5x32 (sNUMBER v n gNUMBER), p2, a2 (sNUMBER), f100 (n), d0.5", letter);
    }
    return RG_OK;
}

static rg_status read_layer(rg_net_layer *l, reading *r)
{
    bool   valid = false;
    size_t side = 0;
    *l = (rg_net_layer){ .groups = 1, .window = { .stride = 1, .dilation = 1 } };
    if (r->bytes >= sizeof l->text) return bad(r, RG_EINVAL, "a layer of %zu letters", r->bytes);
    memcpy(l->text, r->word, r->bytes);
    switch (*r->at++) {
    case 'c':
        l->kind = RG_NET_CONV;
        RG_TRY(read_number(&side, r, "the size of the window"));
        if (at_end(r) || *r->at++ != 'x') return bad(r, RG_EINVAL, "size x maps, as in c5x32");
        RG_TRY(read_number(&l->out, r, "the number of maps"));
        break;
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
    default: return bad(r, RG_EINVAL, "no layer begins so: c5x32 convolution, p2 a2 pooling, f100 dense, d0.5 dropout");
    }
    RG_TRY(read_letters(l, r, &valid));
    l->window.height = l->window.width = side;
    if (l->kind == RG_NET_CONV && !valid) {
        l->window.padding = (side - 1) / 2;
        l->window.end = (side - 1) % 2; /* an even window: one more at the end, so that the size stays */
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ shapes */

static rg_status shape_maps(rg_net_layer *l, const reading *r, const rg_net *s)
{
    const size_t height = rg_net_height(s), width = rg_net_width(s), in = rg_net_channels(s);
    l->in = in;
    if (l->kind != RG_NET_CONV) l->out = in;
    l->height = rg_window_places(height, l->window.height, &l->window);
    l->width = rg_window_places(width, l->window.width, &l->window);
    if (!l->height || !l->width)
        return bad(r, RG_ESHAPE, l->kind == RG_NET_CONV ? "a map of %zu x %zu is smaller than the window" : "a map of %zu x %zu cannot be pooled", height, width);
    if (in % l->groups || l->out % l->groups) return bad(r, RG_ESHAPE, "%zu channels into %zu maps in %zu groups: both must be multiples of the groups", in, l->out, l->groups);
    return RG_OK;
}

static rg_status shape(rg_net *s, rg_net_layer *l, const reading *r)
{
    if (l->kind == RG_NET_DROPOUT) {
        if (s->count > s->maps) {
            l->in = l->out = s->layer[s->count - 1].out;
            return RG_OK;
        }
        l->in = l->out = rg_net_channels(s), l->height = rg_net_height(s), l->width = rg_net_width(s);
        s->maps++; /* only now: the last map was another one */
        return RG_OK;
    }
    if (l->kind == RG_NET_DENSE) {
        l->in = s->count > s->maps ? s->layer[s->count - 1].out : 0;
        return RG_OK;
    }
    if (s->count > s->maps) return bad(r, RG_EINVAL, "maps cannot follow dense units: put c, p and a before f");
    RG_TRY(shape_maps(l, r, s));
    s->maps++;
    return RG_OK;
}

rg_status rg_net_parse(rg_net *out, const char *text, size_t channels, size_t height, size_t width)
{
    reading   r = { 0 };
    rg_net *s = out;
    *s = (rg_net){ .channels = channels, .height = height, .width = width };
    while (*(text += strspn(text, " ,\t"))) {
        r = (reading){ r.number + 1, text, text, strcspn(text, " ,\t") };
        if (s->count == RG_NET_LAYERS) return rg_fail(RG_ELIMIT, "more than %d layers", RG_NET_LAYERS);
        rg_net_layer *l = &s->layer[s->count];
        RG_TRY(read_layer(l, &r));
        RG_TRY(shape(s, l, &r));
        s->count++;
        text += r.bytes;
    }
    return RG_OK;
}

static const rg_net_layer *last_map(const rg_net *s) { return s->maps ? &s->layer[s->maps - 1] : NULL; }
size_t rg_net_channels(const rg_net *s) { return last_map(s) ? last_map(s)->out : s->channels; }
size_t rg_net_height(const rg_net *s) { return last_map(s) ? last_map(s)->height : s->height; }
size_t rg_net_width(const rg_net *s) { return last_map(s) ? last_map(s)->width : s->width; }
size_t rg_net_units(const rg_net *s, size_t units) { return s->count > s->maps ? s->layer[s->count - 1].out : units; }

char *rg_net_describe(const rg_net *s)
{
    char *text = rg_format("pictures of %zu x %zu x %zu\n", s->height, s->width, s->channels);
    for (size_t i = 0; text && i < s->count; i++) {
        const rg_net_layer *l = &s->layer[i];
        char                 *more = l->height ? rg_format("%s  %-12s %zu x %zu x %zu\n", text, l->text, l->height, l->width, l->out)
                                               : rg_format("%s  %-12s %zu\n", text, l->text, l->out);
        rg_free(text);
        text = more;
    }
    return text;
}

/* -------------------------------------------------------------------------------------------------------- parameters */

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
        if (is_depthwise(l)) l->w = rg_params_add(p, "w", RG_VECTOR, taps, l->in, RG_INIT_NORMAL, 1.41421356 / (double)l->window.height);
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

/* ------------------------------------------------------------------------------------------------------------ running */

/* Each group of channels by itself, side by side. */
static rg_tensor *convolve_groups(rg_tape *t, const rg_net_layer *l, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f)
{
    const size_t in = l->in / l->groups, each = l->out / l->groups;
    rg_tensor  **part = rg_tape_memory(t, l->groups * sizeof(rg_tensor *));
    if (!part) return NULL;
    for (size_t g = 0; g < l->groups; g++)
        part[g] = rg_conv2d(t, rg_columns(t, x, g * in, in), rg_columns(t, w, g * each, each), b ? rg_columns(t, b, g * each, each) : NULL, f, &l->window);
    return rg_concat_columns(t, l->groups, part);
}

static rg_tensor *convolve(rg_tape *t, const rg_net_layer *l, rg_tensor *x)
{
    const rg_activation f = l->norm ? RG_IDENTITY : RG_RELU;
    rg_tensor          *w = rg_use(t, l->w), *b = l->b ? rg_use(t, l->b) : NULL;
    if (is_depthwise(l)) return rg_map(t, rg_depthwise2d(t, x, w, b, &l->window), f);
    if (l->groups > 1) return convolve_groups(t, l, x, w, b, f);
    return rg_conv2d(t, x, w, b, f, &l->window);
}

static rg_tensor *run_layer(rg_tape *t, const rg_net_layer *l, rg_tensor *x)
{
    switch (l->kind) {
    case RG_NET_POOL: return rg_max_pool2d(t, x, &l->window);
    case RG_NET_AVERAGE: return rg_average_pool2d(t, x, &l->window);
    case RG_NET_DROPOUT: return rg_dropout(t, x, l->dropout);
    case RG_NET_CONV: x = convolve(t, l, x); break;
    case RG_NET_DENSE: x = rg_linear(t, x, rg_use(t, l->w), l->b ? rg_use(t, l->b) : NULL, l->norm ? RG_IDENTITY : RG_RELU); break;
    }
    if (!l->norm) return x;
    return rg_relu(t, rg_batch_norm(t, x, rg_use(t, l->gain), rg_use(t, l->bias), l->mean, l->variance, NORM_MOMENTUM, NORM_EPSILON));
}

static rg_tensor *run(rg_tape *t, const rg_net *s, rg_tensor *x, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        rg_tape_push(t, "%s", s->layer[i].text);
        x = run_layer(t, &s->layer[i], x);
        rg_tape_pop(t);
    }
    return x;
}

rg_tensor *rg_net_maps(rg_tape *t, const rg_net *s, rg_tensor *x) { return run(t, s, x, 0, s->maps); }
rg_tensor *rg_net_dense(rg_tape *t, const rg_net *s, rg_tensor *x) { return run(t, s, x, s->maps, s->count); }
