/* beside.c - two records in one: maps that both have, one beside the other, and their difference.
 *
 *     A: occlusion            B: occlusion            difference: occlusion
 *     rows and columns of A   rows and columns of B   those of both, equal labels put together, B - A
 *
 * Labels are put together by their longest common subsequence; what one side does not have counts 0 there. */
#include "regard/view.h"

#include <string.h>

enum { MOST_LABELS = 2048 }; /* of a list that is put together with another: a table of so many by so many */

/* ----------------------------------------------------------------------------------------------------------- labels */

typedef struct {
    size_t   a, b, index; /* lists of the two records, and what became of them; a merged list: both are set */
    int32_t *of_a, *of_b; /* where each label went */
} merged;

typedef struct {
    rg_record       *out;
    const rg_record *a, *b;
    size_t           first_b; /* list 0 of b in `out` */
    merged          *lists;
    size_t           count;
} joining;

/* Lengths of common subsequences of the ends behind i and j, (n + 1, m + 1). */
static uint16_t *common(const rg_labels *a, const rg_labels *b)
{
    const size_t m = b->count + 1;
    uint16_t    *t = rg_alloc_zero((a->count + 1) * m * sizeof *t);
    for (size_t i = t ? a->count : 0; i-- > 0;)
        for (size_t j = b->count; j-- > 0;) {
            const uint16_t skip = t[(i + 1) * m + j] > t[i * m + j + 1] ? t[(i + 1) * m + j] : t[i * m + j + 1];
            t[i * m + j] = strcmp(a->text[i], b->text[j]) == 0 ? (uint16_t)(t[(i + 1) * m + j + 1] + 1) : skip;
        }
    return t;
}

static rg_status put_together(merged *out, rg_record *r, const rg_labels *a, const rg_labels *b)
{
    const size_t m = b->count + 1;
    const char **text = rg_alloc_array(a->count + b->count + 1, sizeof *text);
    uint16_t    *t = a->count <= MOST_LABELS && b->count <= MOST_LABELS ? common(a, b) : NULL;
    size_t       n = 0, i = 0, j = 0;
    out->of_a = rg_alloc_array(a->count + 1, sizeof *out->of_a);
    out->of_b = rg_alloc_array(b->count + 1, sizeof *out->of_b);
    rg_status status = text && t && out->of_a && out->of_b ? RG_OK
                       : t                                 ? RG_ENOMEM
                                                           : rg_fail(RG_ELIMIT, "%zu and %zu labels cannot be put together, at most %d",
                                                                     a->count, b->count, (int)MOST_LABELS);
    while (status == RG_OK && (i < a->count || j < b->count)) {
        const bool same = i < a->count && j < b->count && strcmp(a->text[i], b->text[j]) == 0;
        const bool of_a = same || j == b->count || (i < a->count && t[(i + 1) * m + j] >= t[i * m + j + 1]);
        text[n] = of_a ? a->text[i] : b->text[j];
        if (of_a) out->of_a[i++] = (int32_t)n;
        if (same || !of_a) out->of_b[j++] = (int32_t)n;
        n++;
    }
    if (status == RG_OK) status = rg_record_add_labels(&out->index, r, a->name, a->kind, text, n);
    if (status == RG_OK && n == a->count && a->boxes) status = rg_record_set_boxes(r, out->index, a->boxes);
    rg_free(text);
    rg_free(t);
    return status;
}

static rg_status merge(const merged **out, joining *x, size_t a, size_t b)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->lists[i].a == a && x->lists[i].b == b) {
            *out = &x->lists[i];
            return RG_OK;
        }
    merged *l = &x->lists[x->count];
    *l = (merged){ .a = a, .b = b };
    const rg_status status = put_together(l, x->out, &x->a->labels[a], &x->b->labels[b]);
    x->count++; /* also after a failure: it is freed with the others */
    *out = l;
    return status;
}

static rg_status copy_labels(rg_record *r, const rg_labels *l)
{
    size_t index;
    RG_TRY(rg_record_add_labels(&index, r, l->name, l->kind, (const char *const *)l->text, l->count));
    if (l->boxes) RG_TRY(rg_record_set_boxes(r, index, l->boxes));
    if (l->places) RG_TRY(rg_record_set_places(r, index, l->places));
    return l->picture ? rg_record_set_picture(r, index, l->picture, l->picture_bytes) : RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------- maps */

static rg_status add(rg_record *r, const char *prefix, const rg_record_map *m, size_t rows, size_t cols,
                     const rg_real *w)
{
    size_t             index = 0;
    char              *name = rg_format("%s: %s", prefix, m->name);
    const rg_map_place place = { name, m->layer, m->head, m->step, -1 };
    rg_status          status = name ? rg_record_add_map(&index, r, place, rows, cols, w, r->labels[cols].count) : RG_ENOMEM;
    if (status == RG_OK && w) rg_record_set_faithfulness(r, index, m->faith);
    rg_free(name);
    return status;
}

static rg_status add_dense(rg_record *r, const char *prefix, const rg_record_map *m, size_t rows, size_t cols)
{
    float *w;
    RG_TRY(rg_map_dense(&w, m, RG_RECORD_MAX_WEIGHTS));
    rg_real *x = rg_alloc_array(m->rows * m->cols + 1, sizeof *x);
    for (size_t i = 0; x && i < m->rows * m->cols; i++) x[i] = (rg_real)w[i];
    const rg_status status = x ? add(r, prefix, m, rows, cols, x) : RG_ENOMEM;
    rg_free(w);
    rg_free(x);
    return status;
}

static rg_status add_difference(joining *x, const rg_record_map *a, const rg_record_map *b)
{
    const merged *rows, *cols;
    RG_TRY(merge(&rows, x, a->row_labels, b->row_labels));
    RG_TRY(merge(&cols, x, a->col_labels, b->col_labels));
    const size_t n = x->out->labels[cols->index].count;
    rg_real     *w = rg_alloc_zero((x->out->labels[rows->index].count * n + 1) * sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t j = 0; j < b->cols; j++)
            w[(size_t)rows->of_b[i] * n + (size_t)cols->of_b[j]] += (rg_real)rg_map_weight(b, i, j);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            w[(size_t)rows->of_a[i] * n + (size_t)cols->of_a[j]] -= (rg_real)rg_map_weight(a, i, j);
    const rg_record_map plain = { .name = a->name, .layer = a->layer, .head = a->head, .step = a->step };
    const rg_status     status = add(x->out, "difference", &plain, rows->index, cols->index, w);
    rg_free(w);
    return status;
}

static bool alike(const rg_record_map *a, const rg_record_map *b)
{
    return strcmp(a->name, b->name) == 0 && a->layer == b->layer && a->head == b->head && a->step == b->step &&
           a->hypothesis <= 0 && b->hypothesis <= 0;
}

static rg_status join(joining *x)
{
    rg_record *r = x->out;
    for (size_t i = 0; i < x->a->label_lists; i++) RG_TRY(copy_labels(r, &x->a->labels[i]));
    x->first_b = r->label_lists;
    for (size_t i = 0; i < x->b->label_lists; i++) RG_TRY(copy_labels(r, &x->b->labels[i]));
    for (size_t i = 0; i < x->a->maps; i++)
        for (size_t j = 0; j < x->b->maps; j++) {
            const rg_record_map *a = &x->a->map[i], *b = &x->b->map[j];
            if (!alike(a, b)) continue;
            RG_TRY(add_dense(r, "A", a, a->row_labels, a->col_labels));
            RG_TRY(add_dense(r, "B", b, x->first_b + b->row_labels, x->first_b + b->col_labels));
            RG_TRY(add_difference(x, a, b));
            break;
        }
    return r->maps ? RG_OK : rg_fail(RG_EMATCH, "the two have no map in common");
}

static rg_status add_texts(rg_record *r, const rg_record *from, const char *side)
{
    for (size_t i = 0; i < from->texts; i++) {
        if (from->text[i].score != 0 && !from->text[i].chosen && strcmp(from->text[i].role, "hypothesis") == 0) continue;
        char *role = rg_format("%s: %s", side, from->text[i].role);
        if (!role) return RG_ENOMEM;
        const rg_status status = rg_record_add_text(r, role, from->text[i].text, 0, false);
        rg_free(role);
        RG_TRY(status);
    }
    return RG_OK;
}

rg_status rg_record_beside(rg_record **out, const rg_record *a, const rg_record *b)
{
    joining x = { .a = a, .b = b };
    char   *title = strcmp(a->title, b->title) == 0 ? rg_strdup(a->title) : rg_format("%s | %s", a->title, b->title);
    *out = NULL;
    x.lists = rg_alloc_array(a->label_lists * b->label_lists + 1, sizeof *x.lists);
    rg_status status = title && x.lists ? rg_record_new(&x.out, title, "comparison") : RG_ENOMEM;
    if (status == RG_OK) status = add_texts(x.out, a, "A");
    if (status == RG_OK) status = add_texts(x.out, b, "B");
    if (status == RG_OK) status = join(&x);
    for (size_t i = 0; i < x.count; i++) rg_free(x.lists[i].of_a), rg_free(x.lists[i].of_b);
    rg_free(x.lists);
    rg_free(title);
    if (status == RG_OK) *out = x.out;
    else rg_record_free(x.out);
    return status;
}
