/* write_marian.c - Marian's .bin (marian.h): floats, or the whole numbers of intgemm8 with the scales of activations.
 *
 *   q = w m to the nearest of -127 .. 127, even at a tie       m = 127 / max |w|, of the whole matrix
 *   activations are multiplied by 127 / max |x|, a number beside each matrix of a product: NAME_QuantMultA
 *
 * The product with the table of embeddings has no name of its own in Marian's graph: its scale is there under the
 * table's name, which is asked for without a shortlist, and as "none". */
#include "import/export.h"
#include "import/marian.h"

#include <math.h>
#include <string.h>

#include "autograd/params.h"
#include "data/little_endian.h"

/* What is written before data are: one after another, as the headers have them. */
typedef struct {
    rg_text headers, names, shapes, data;
    size_t  count;
} parts;

static rg_status add_float(rg_text *out, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return rg_little_add(out, bits, 4);
}

static rg_status fill_up(rg_text *out, size_t to)
{
    static const char zeros[RG_MARIAN_ALIGN];
    return rg_text_add(out, zeros, (to - out->length % to) % to);
}

/* The data of an array were added from `begin` on. */
static rg_status close_array(parts *p, const char *name, uint64_t type, const size_t *dims, size_t ndim, size_t begin)
{
    RG_TRY(fill_up(&p->data, RG_MARIAN_ALIGN));
    RG_TRY(rg_little_add(&p->headers, strlen(name) + 1, 8));
    RG_TRY(rg_little_add(&p->headers, type, 8));
    RG_TRY(rg_little_add(&p->headers, ndim, 8));
    RG_TRY(rg_little_add(&p->headers, p->data.length - begin, 8));
    RG_TRY(rg_text_add(&p->names, name, strlen(name) + 1));
    for (size_t i = 0; i < ndim; i++) RG_TRY(rg_little_add(&p->shapes, dims[i], 4));
    p->count++;
    return RG_OK;
}

static rg_status add_floats(parts *p, const char *name, const size_t dims[2], const float *x)
{
    const size_t begin = p->data.length;
    for (size_t i = 0; i < dims[0] * dims[1]; i++) RG_TRY(add_float(&p->data, x[i]));
    return close_array(p, name, RG_MARIAN_FLOAT32, dims, 2, begin);
}

static rg_status add_integers(parts *p, const rg_export_array *a)
{
    const size_t rows = a->dims[0], cols = a->dims[1], n = rows * cols, begin = p->data.length;
    const bool   straight = rg_marian_is_table(a->name);
    float        most = 0;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(a->data[i]));
    const float m = most > 0 ? 127 / most : 1;
    if (!isfinite(m))
        return rg_fail(RG_ENUMBER, "\"%s\": its largest number is %g, too small for 8 bits", a->name, (double)most);
    int8_t *q = rg_alloc(n + 1);
    if (!q) return RG_ENOMEM;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            q[straight ? r * cols + c : c * rows + r] =
                (int8_t)fmaxf(-127, fminf(127, rintf(a->data[r * cols + c] * m)));
    rg_status status = rg_text_add(&p->data, q, n);
    rg_free(q);
    if (status == RG_OK) status = add_float(&p->data, m);
    return status == RG_OK ? close_array(p, a->name, RG_MARIAN_INTGEMM8, a->dims, 2, begin) : status;
}

static rg_status add_scale(parts *p, const char *of, float most)
{
    static const size_t one[] = { 1, 1 };
    const float         scale = most > 0 ? 127 / most : 1;
    char               *name = rg_format("%s" RG_MARIAN_SCALE, of);
    const rg_status     status = name ? add_floats(p, name, one, &scale) : RG_ENOMEM;
    rg_free(name);
    return status;
}

static rg_status add_array(parts *p, const rg_export_array *a, const float *most)
{
    const rg_param_kind kind = a->param->kind;
    if (!most || kind == RG_VECTOR || kind == RG_KEPT) return add_floats(p, a->name, a->dims, a->data);
    RG_TRY(add_integers(p, a));
    if (kind == RG_TABLE) return RG_OK; /* only looked up */
    RG_TRY(add_scale(p, a->name, most[a->param->index]));
    return rg_marian_is_table(a->name) ? add_scale(p, "none", most[a->param->index]) : RG_OK;
}

static rg_status join(rg_text *out, const parts *p)
{
    const size_t before = out->length;
    RG_TRY(rg_little_add(out, RG_MARIAN_VERSION, 8));
    RG_TRY(rg_little_add(out, p->count, 8));
    RG_TRY(rg_text_add(out, p->headers.data, p->headers.length));
    RG_TRY(rg_text_add(out, p->names.data, p->names.length));
    RG_TRY(rg_text_add(out, p->shapes.data, p->shapes.length));
    const size_t at = out->length - before + 8, padding = (at / RG_MARIAN_ALIGN + 1) * RG_MARIAN_ALIGN - at;
    RG_TRY(rg_little_add(out, padding, 8));
    for (size_t i = 0; i < padding; i++) RG_TRY(rg_text_add(out, "", 1));
    return rg_text_add(out, p->data.data, p->data.length);
}

rg_status rg_write_marian(rg_text *out, const rg_export_arrays *arrays, const float *most, const char *settings)
{
    parts        p = { 0 };
    const size_t length = strlen(settings) + 1;
    rg_status    status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < arrays->count; i++) status = add_array(&p, &arrays->list[i], most);
    const size_t begin = p.data.length;
    if (status == RG_OK) status = rg_text_add(&p.data, settings, length);
    if (status == RG_OK) status = close_array(&p, RG_MARIAN_SETTINGS, RG_MARIAN_INT8, &length, 1, begin);
    if (status == RG_OK) status = join(out, &p);
    rg_text_free(&p.headers);
    rg_text_free(&p.names);
    rg_text_free(&p.shapes);
    rg_text_free(&p.data);
    return status;
}
