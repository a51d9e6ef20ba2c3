/* positions.c - how a Transformer is told where a word stands (Vaswani et al. 2017, section 3.5):
 *
 *     PE(p, 2i) = sin(p / 10000^(2i/d))        PE(p, 2i+1) = cos(p / 10000^(2i/d))
 *     PE(p) . PE(p+k) = sum_i cos(k / 10000^(2i/d))        of the distance k alone
 *
 * as a matrix, places down and columns across, and the dot product against the distance. */
#include <math.h>

#include "regard/layers.h"
#include "regard/view.h"

enum { MOST_PLACES = 1024, MOST_WIDTH = 1024 };

static rg_status add_numbers(size_t *out, rg_record *r, const char *name, size_t count)
{
    char    **text = rg_alloc_zero(count * sizeof *text);
    rg_status status = text ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++)
        if (!(text[i] = rg_format("%zu", i))) status = RG_ENOMEM;
    if (status == RG_OK)
        status = rg_record_add_labels(out, r, name, RG_LABEL_TOKEN, (const char *const *)text, count);
    for (size_t i = 0; text && i < count; i++) rg_free(text[i]);
    rg_free(text);
    return status;
}

/* Codes lie between -1 and 1; a map between 0 and 1. */
static rg_status add_matrix(rg_record *r, const rg_tensor *code, size_t places, size_t width)
{
    const rg_map_place place = { "(1 + PE) / 2: place down, column across", -1, -1, -1, -1 };
    rg_real           *shown = rg_alloc_array(places * width, sizeof *shown);
    size_t             rows, cols;
    rg_status          status = shown ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < places * width; i++)
        shown[i] = (rg_real)(0.5 + 0.5 * (double)rg_tensor_at(code, i / width, i % width));
    if (status == RG_OK) status = add_numbers(&rows, r, "place", places);
    if (status == RG_OK) status = add_numbers(&cols, r, "column", width);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, cols, shown, width);
    rg_free(shown);
    return status;
}

/* From the first place and from the middle: the same curve, as far as both go. */
static rg_status add_products(rg_record *r, const rg_tensor *code, size_t places, size_t width)
{
    const size_t from[] = { 0, places / 2 };
    double      *x = rg_alloc_array(2 * places, sizeof *x), *y = x ? x + places : NULL;
    size_t       curves;
    rg_status    status = x ? RG_OK : RG_ENOMEM;
    if (status == RG_OK)
        status = rg_record_add_curves(&curves, r, "PE(p) . PE(p+k) against the distance k", "k", "dot product", false, false);
    for (size_t s = 0; status == RG_OK && s < sizeof from / sizeof *from; s++) {
        const size_t count = places - from[s];
        for (size_t k = 0; k < count; k++) {
            x[k] = (double)k, y[k] = 0;
            for (size_t j = 0; j < width; j++)
                y[k] += (double)rg_tensor_at(code, from[s], j) * (double)rg_tensor_at(code, from[s] + k, j);
        }
        char *name = rg_format("p = %zu", from[s]);
        status = name ? rg_record_add_series(r, curves, name, x, y, count) : RG_ENOMEM;
        rg_free(name);
    }
    rg_free(x);
    return status;
}

rg_status rg_positions_record(rg_record **out, size_t places, size_t width)
{
    const rg_tape_config config = { .record = false };
    const int32_t        start[] = { 0, (int32_t)places };
    const rg_layout      one = { .groups = 1, .start = start };
    rg_tape             *t = NULL;
    rg_record           *r = NULL;
    if (places < 2 || places > MOST_PLACES || width < 2 || width > MOST_WIDTH || width % 2)
        return rg_fail(RG_EINVAL, "%zu places (2 to %d), %zu columns (2 to %d, an even number)", places, MOST_PLACES, width,
                       MOST_WIDTH);
    RG_TRY(rg_tape_new(&t, &config));
    const rg_tensor *code = rg_add_positions(t, rg_zeros(t, places, width, &one));
    rg_status        status = rg_tape_status(t);
    if (status == RG_OK) status = rg_record_new(&r, "Where a word stands: sines and cosines of its place", "positions");
    if (status == RG_OK) status = add_matrix(r, code, places, width);
    if (status == RG_OK) status = add_products(r, code, places, width);
    rg_tape_free(t);
    if (status == RG_OK) *out = r;
    else rg_record_free(r);
    return status;
}
