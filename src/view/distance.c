/* distance.c - attention over one's own past as a curve: the mean weight against the distance between the row that
 * looks and the one looked at.
 *
 *     w_k = mean over rows i >= k of a(i, i - k)        (Daniluk et al. 2017, figure 2: weights of the last outputs) */
#include "regard/view.h"

#include <string.h>

/* Maps of rows over the same rows; those that differ in the head alone are one curve. */
static bool is_own(const rg_record_map *m) { return m->row_labels == m->col_labels && m->rows > 1; }
static bool same_layer(const rg_record_map *a, const rg_record_map *b)
{
    return strcmp(a->name, b->name) == 0 && a->layer == b->layer;
}

static rg_status add_curve(rg_record *r, size_t curves, size_t first)
{
    const rg_record_map *m = &r->map[first];
    double              *sum = rg_alloc_zero(2 * m->rows * sizeof *sum), *x = sum + m->rows, heads = 0;
    size_t               last = 0;
    if (!sum) return RG_ENOMEM;
    for (size_t k = first; k < r->maps; k++) {
        const rg_record_map *h = &r->map[k];
        if (!is_own(h) || !same_layer(h, m) || h->rows != m->rows) continue;
        for (size_t i = 0; i < h->rows; i++)
            for (size_t j = 0; j <= i; j++) sum[i - j] += (double)rg_map_weight(h, i, j);
        heads++;
    }
    for (size_t k = 0; k < m->rows; k++) {
        x[k] = (double)k;
        sum[k] /= heads * (double)(m->rows - k);
        if (sum[k] > 0) last = k;
    }
    const size_t from = sum[0] > 0 ? 0 : 1; /* a look at the past alone has no distance 0 */
    char        *name = m->layer < 0 ? rg_strdup(m->name) : rg_format("%s, layer %d", m->name, m->layer);
    rg_status    status = name ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && last >= from)
        status = rg_record_add_series(r, curves, name, x + from, sum + from, last - from + 1);
    rg_free(name);
    rg_free(sum);
    return status;
}

rg_status rg_record_add_distances(rg_record *r)
{
    size_t curves = SIZE_MAX;
    for (size_t k = 0; k < r->maps; k++) {
        bool seen = !is_own(&r->map[k]) || r->map[k].from;
        for (size_t i = 0; i < k && !seen; i++) seen = is_own(&r->map[i]) && same_layer(&r->map[i], &r->map[k]);
        if (seen) continue;
        if (curves == SIZE_MAX)
            RG_TRY(rg_record_add_curves(&curves, r, "Weight against distance", "distance in tokens", "mean weight",
                                        false, false));
        RG_TRY(add_curve(r, curves, k));
    }
    return RG_OK;
}
