/* pretrained.c - see pretrained.h. MobileNet v2 (Sandler et al. 2018, table 2) and SqueezeNet 1.1 (Iandola et al. 2016,
 * the release of version 1.1).
 *
 * Weights lie as (out, in, height, width) in these files; here a row is a tap and a channel, tap * in + channel, a
 * column a map. */
#include "layers/pretrained.h"

#include <stdio.h>
#include <string.h>

#include "autograd/params.h"

/* ----------------------------------------------------------------------------------------------------------- tables */

/* kind: c convolution, i inverted residual, q fire, p pooling; 0 ends a table. */
typedef struct row {
    char        kind, stride;
    const char *name;
} row;

static const row mobilenet_rows[] = {
    { 'c', 2, "features.0" },  { 'i', 1, "features.1" },  { 'i', 2, "features.2" },  { 'i', 1, "features.3" },
    { 'i', 2, "features.4" },  { 'i', 1, "features.5" },  { 'i', 1, "features.6" },  { 'i', 2, "features.7" },
    { 'i', 1, "features.8" },  { 'i', 1, "features.9" },  { 'i', 1, "features.10" }, { 'i', 1, "features.11" },
    { 'i', 1, "features.12" }, { 'i', 1, "features.13" }, { 'i', 2, "features.14" }, { 'i', 1, "features.15" },
    { 'i', 1, "features.16" }, { 'i', 1, "features.17" }, { 'c', 1, "features.18" }, { 0, 0, NULL },
};

static const row squeezenet_rows[] = {
    { 'c', 2, "features.0" }, { 'p', 2, NULL },          { 'q', 1, "features.3" },  { 'q', 1, "features.4" },
    { 'p', 2, NULL },         { 'q', 1, "features.6" },  { 'q', 1, "features.7" },  { 'p', 2, NULL },
    { 'q', 1, "features.9" }, { 'q', 1, "features.10" }, { 'q', 1, "features.11" }, { 'q', 1, "features.12" },
    { 0, 0, NULL },
};

/* Names of the tensors of a convolution below the name of its row; NULL: there is no norm. The first row of `i` is
 * left out at expansion 1, whose other parts have other names. */
typedef struct part {
    const char *weight, *norm;
} part;
static const part wide_parts[] = {
    { "conv.0.0", "conv.0.1" }, { "conv.1.0", "conv.1.1" }, { "conv.2", "conv.3" }, { NULL, NULL }
};
static const part thin_parts[] = { { "conv.0.0", "conv.0.1" }, { "conv.1", "conv.2" }, { NULL, NULL } };
static const part fire_parts[] = { { "squeeze", NULL }, { "expand1x1", NULL }, { "expand3x3", NULL }, { NULL, NULL } };
static const part first_parts[] = { { "0", "1" }, { NULL, NULL } };
static const part bare_parts[] = { { "", NULL }, { NULL, NULL } };

typedef struct network {
    const char *name, *summary, *mark; /* mark: a tensor that only it has */
    const row  *rows;
    const part *plain; /* of rows c */
    const char *end;   /* letters behind rows c */
} network;

static const network networks[] = {
    { "mobilenet_v2", "MobileNet v2 on ImageNet", "features.1.conv.0.0.weight", mobilenet_rows, first_parts, "r" },
    { "squeezenet1_1", "SqueezeNet 1.1 on ImageNet", "features.6.squeeze.weight", squeezenet_rows, bare_parts, "v" },
};
enum { NETWORKS = sizeof networks / sizeof *networks, NAME = 64 };

static const char classifier[] = "classifier.1";

/* ------------------------------------------------------------------------------------------------------------ names */

static bool there(const rg_tensors_of *s, const char *name)
{
    size_t dims[4], ndim;
    return s->shape(s->context, name, dims, &ndim);
}

static const part *parts_of(const network *n, const row *r, const rg_tensors_of *s)
{
    char name[NAME];
    if (r->kind == 'c') return n->plain;
    if (r->kind == 'q') return fire_parts;
    snprintf(name, sizeof name, "%s.conv.1.0.weight", r->name);
    return there(s, name) ? wide_parts : thin_parts;
}

/* "features.3.conv.0.0" and "weight"; a part without a name is the row itself. */
static void join(char out[NAME], const char *row_name, const char *part_name, const char *last)
{
    snprintf(out, NAME, "%s%s%s.%s", row_name, *part_name ? "." : "", part_name, last);
}

static rg_status dims_of(size_t dims[4], const rg_tensors_of *s, const char *name, size_t wanted)
{
    size_t ndim = 0;
    if (!s->shape(s->context, name, dims, &ndim)) return rg_fail(RG_EMATCH, "has no tensor \"%s\"", name);
    if (ndim != wanted) return rg_fail(RG_EMATCH, "tensor \"%s\" has %zu dimensions, not %zu", name, ndim, wanted);
    for (size_t i = 0; i < ndim; i++)
        if (!dims[i]) return rg_fail(RG_EMATCH, "tensor \"%s\" is empty", name);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ recognising */

bool rg_pretrained_recognise(rg_pretrained *out, const rg_tensors_of *s)
{
    for (const network *n = networks; n < networks + NETWORKS; n++) {
        size_t     dims[4] = { 0 }, ndim = 0;
        const bool mobile = n->rows == mobilenet_rows;
        if (!there(s, n->mark)) continue;
        *out = (rg_pretrained){ .name = n->name, .summary = n->summary, .table = n, .side = 224, .maps = !mobile };
        out->norms = mobile && there(s, "features.0.1.running_mean");
        if (s->shape(s->context, "classifier.1.weight", dims, &ndim) && ndim && ndim <= 4) out->classes = dims[0];
        const bool torchvision = mobile ? out->norms : out->classes > 0;
        out->pixels = torchvision ? "imagenet" : mobile ? "signed" : "caffe";
        out->padding = mobile && !torchvision ? "same" : "even";
        out->pooling = !mobile && torchvision ? "up" : "down";
        return true;
    }
    return false;
}

/* Letters behind a layer that follow from the settings. */
static void letters(char out[8], const rg_pretrained *p, const row *r, const char *end)
{
    snprintf(out, 8, "%s%s%s", p->norms ? "n" : "", r->kind != 'p' && strcmp(p->padding, "same") == 0 ? "t" : "", end);
}

static rg_status describe_row(char *out, size_t room, const rg_pretrained *p, const row *r, const rg_tensors_of *s)
{
    const network *n = p->table;
    const part    *parts = r->name ? parts_of(n, r, s) : NULL;
    char           name[NAME], more[8];
    size_t         first[4] = { 0 }, last[4] = { 0 };
    letters(more, p, r, r->kind == 'c' ? n->end : "");
    if (r->kind == 'p' || !parts)
        return snprintf(out, room, "p3s2%s", strcmp(p->pooling, "up") == 0 ? "u" : ""), RG_OK;
    join(name, r->name, parts[0].weight, "weight");
    RG_TRY(dims_of(first, s, name, 4));
    if (r->kind == 'c') return snprintf(out, room, "c%zux%zus%d%s", first[2], first[0], r->stride, more), RG_OK;
    join(name, r->name, parts[parts == thin_parts ? 1 : 2].weight, "weight");
    RG_TRY(dims_of(last, s, name, 4));
    if (r->kind == 'q') return snprintf(out, room, "q%zux%zu", first[0], last[0]), RG_OK;
    const size_t expansion = parts == thin_parts ? 1 : first[0] / first[1];
    if (expansion * (parts == thin_parts ? first[0] : first[1]) != first[0] || !expansion)
        return rg_fail(RG_EMATCH, "%s widens %zu maps to %zu, which is no multiple", r->name, first[1], first[0]);
    return snprintf(out, room, "i%zux%zus%d%s", expansion, last[0], r->stride, more), RG_OK;
}

rg_status rg_pretrained_layers(char out[RG_PRETRAINED_TEXT], const rg_pretrained *p, const rg_tensors_of *s, bool head)
{
    const network *n = p->table;
    size_t         at = 0;
    *out = '\0';
    for (const row *r = n->rows; r->kind; r++) {
        if (at + 80 > RG_PRETRAINED_TEXT) return rg_fail(RG_ELIMIT, "%s has too many layers", p->name);
        if (at) out[at++] = ' ';
        RG_TRY(describe_row(out + at, RG_PRETRAINED_TEXT - at, p, r, s));
        at += strlen(out + at);
    }
    if (head && p->maps && p->classes) snprintf(out + at, RG_PRETRAINED_TEXT - at, " c1x%zu", p->classes);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- filling */

static rg_status read_all(float **out, const rg_tensors_of *s, const char *name, size_t count)
{
    if (!(*out = rg_alloc_array(count + 1, sizeof **out))) return RG_ENOMEM;
    const rg_status status = s->read(s->context, name, *out, count);
    if (status == RG_OK) return RG_OK;
    rg_free(*out);
    *out = NULL;
    return status;
}

/* A vector of a layer. */
static rg_status fill_vector(const rg_param *to, const rg_tensors_of *s, const char *name, const int32_t *place)
{
    size_t dims[4] = { 0 };
    float *x = NULL;
    RG_TRY(dims_of(dims, s, name, 1));
    if (dims[0] != to->cols)
        return rg_fail(RG_EMATCH, "tensor \"%s\" has %zu numbers, not %zu", name, dims[0], to->cols);
    RG_TRY(read_all(&x, s, name, to->cols));
    for (size_t i = 0; i < to->cols; i++) to->data[place ? (size_t)place[i] : i] = (rg_real)x[i];
    rg_free(x);
    return RG_OK;
}

/* (out, in, height, width) to rows tap * in + channel; a depthwise layer is (out, 1, height, width) and has a row
 * per tap. */
static rg_status fill_weights(const rg_net_layer *l, const rg_tensors_of *s, const char *name, const int32_t *place)
{
    const size_t taps = l->window.height * l->window.width, in = l->w->rows / taps, depth = l->groups > 1;
    size_t       d[4] = { 0 };
    float       *x = NULL;
    RG_TRY(dims_of(d, s, name, 4));
    if (d[0] != l->out || d[1] != (depth ? 1 : in) || d[2] != l->window.height || d[3] != l->window.width)
        return rg_fail(RG_EMATCH, "tensor \"%s\" is %zu x %zu x %zu x %zu, not %zu x %zu x %zu x %zu", name, d[0], d[1],
                       d[2], d[3], l->out, depth ? 1 : in, l->window.height, l->window.width);
    RG_TRY(read_all(&x, s, name, l->out * d[1] * taps));
    for (size_t o = 0; o < l->out; o++)
        for (size_t c = 0; c < d[1]; c++)
            for (size_t k = 0; k < taps; k++)
                l->w->data[(k * d[1] + c) * l->w->cols + (place ? (size_t)place[o] : o)] =
                    (rg_real)x[(o * d[1] + c) * taps + k];
    rg_free(x);
    return RG_OK;
}

static rg_status fill_layer(const rg_net_layer *l, const rg_tensors_of *s, const char *row_name, const part *its)
{
    static const char *const kept[4] = { "weight", "bias", "running_mean", "running_var" };
    rg_param *const          to[4] = { l->gain, l->bias, l->mean, l->variance };
    char                     name[NAME];
    join(name, row_name, its->weight, "weight");
    RG_TRY(fill_weights(l, s, name, NULL));
    if (!l->norm) {
        join(name, row_name, its->weight, "bias");
        return fill_vector(l->b, s, name, NULL);
    }
    for (size_t k = 0; k < 4; k++) {
        join(name, row_name, its->norm, kept[k]);
        RG_TRY(fill_vector(to[k], s, name, NULL));
    }
    return RG_OK;
}

rg_status rg_pretrained_fill(const rg_net *net, const rg_pretrained *p, const rg_tensors_of *s, const int32_t *place)
{
    const network *n = p->table;
    size_t         at = 0;
    for (const row *r = n->rows; r->kind; r++) {
        if (r->kind == 'p') at++;
        for (const part *its = r->name ? parts_of(n, r, s) : NULL; its && its->weight; its++) {
            if (at >= net->count || !net->layer[at].w)
                return rg_fail(RG_EMATCH, "%s does not belong to layers of this shape", p->name);
            RG_TRY(fill_layer(&net->layer[at++], s, r->name, its));
        }
    }
    if (at == net->count) return RG_OK;
    RG_TRY(fill_weights(&net->layer[at], s, "classifier.1.weight", place));
    return fill_vector(net->layer[at].b, s, "classifier.1.bias", place);
}

rg_status rg_pretrained_classifier(const rg_param *w, const rg_param *b, const rg_tensors_of *s, const int32_t *place)
{
    char   name[NAME];
    size_t d[4] = { 0 };
    float *x = NULL;
    snprintf(name, sizeof name, "%s.weight", classifier);
    RG_TRY(dims_of(d, s, name, 2));
    if (d[0] != w->cols || d[1] != w->rows)
        return rg_fail(RG_EMATCH, "tensor \"%s\" is %zu x %zu, not %zu x %zu", name, d[0], d[1], w->cols, w->rows);
    RG_TRY(read_all(&x, s, name, d[0] * d[1]));
    for (size_t c = 0; c < d[0]; c++)
        for (size_t i = 0; i < d[1]; i++)
            w->data[i * w->cols + (place ? (size_t)place[c] : c)] = (rg_real)x[c * d[1] + i];
    rg_free(x);
    snprintf(name, sizeof name, "%s.bias", classifier);
    return fill_vector(b, s, name, place);
}
