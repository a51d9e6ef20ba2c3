/* family_boxes.c - `regard evaluate --type boxes boxes.tsv < predicted.tsv`: does the evidence lie on the object?
 * Predictions are what `regard predict
 * --box` prints; what is right is a table picture, name, x, y, width, height, as `regard make` writes it, any number of lines per picture. */
#include "regard/metrics.h"
#include "regard/reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char  *picture, *name;
    rg_box box;
} row;

typedef struct {
    row   *list;
    size_t count, room;
} rows;

static void free_rows(rows *r)
{
    for (size_t i = 0; i < r->count; i++) {
        rg_free(r->list[i].picture);
        rg_free(r->list[i].name);
    }
    rg_free(r->list);
}

static bool to_number(double *out, const rg_cell *cell)
{
    char *end;
    *out = strtod(cell->bytes, &end);
    return cell->count && end == cell->bytes + cell->count && *out > -1e9 && *out < 1e9;
}

static rg_status add(rows *to, const rg_cell *cell)
{
    double n[4];
    for (size_t i = 0; i < 4; i++)
        if (!to_number(&n[i], &cell[2 + i]))
            return rg_fail(RG_EFORMAT, "'%.40s' is not a number of pixels", cell[2 + i].bytes);
    if (to->count == to->room) {
        const size_t room = to->room ? 2 * to->room : 256;
        row         *list = rg_realloc(to->list, room * sizeof *list);
        if (!list) return RG_ENOMEM;
        to->list = list;
        to->room = room;
    }
    row *r = &to->list[to->count++];
    *r = (row){ rg_strdup(cell[0].bytes), rg_strdup(cell[1].bytes), { n[0], n[1], n[2], n[3] } };
    return r->picture && r->name ? RG_OK : RG_ENOMEM;
}

static int by_picture(const void *a, const void *b)
{
    return strcmp(((const row *)a)->picture, ((const row *)b)->picture);
}

static rg_status read_gold(rows *out, const char *path)
{
    static const char *const wanted[] = { "picture", "name", "x", "y", "width", "height" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    rg_status                status = RG_OK;
    c.wanted = wanted, c.wanted_count = 6, c.format = "tsv", c.header = RG_HEADER_YES;
    RG_TRY(rg_reader_open(&r, path, &c));
    for (bool more = true; status == RG_OK && more;) {
        rg_row line;
        status = rg_reader_next(&more, &line, r);
        if (status == RG_OK && more && (status = add(out, line.cell)) != RG_OK) rg_reader_blame(status, r, &line);
    }
    rg_reader_close(r);
    if (status == RG_OK && !out->count) return rg_fail(RG_EFORMAT, "%s: no boxes", path);
    if (status == RG_OK) qsort(out->list, out->count, sizeof *out->list, by_picture);
    return status;
}

/* The lines of a picture, which is named by what follows the last / or : of the input. */
static const row *find(size_t *out_count, const rows *gold, const char *input)
{
    const char *slash = strrchr(input, '/'), *colon = strrchr(input, ':'), *name = input;
    size_t      low = 0, high = gold->count;
    if (slash) name = slash + 1;
    if (colon && colon >= name) name = colon + 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(gold->list[middle].picture, name) < 0) low = middle + 1;
        else high = middle;
    }
    for (*out_count = 0; low + *out_count < gold->count && strcmp(gold->list[low + *out_count].picture, name) == 0;)
        ++*out_count;
    return *out_count ? &gold->list[low] : NULL;
}

typedef struct {
    size_t pictures, pointed, half, named_half;
    double iou;
} sums;

/* Boxes of the predicted class where the picture has some, otherwise all of them. */
static rg_status judge_row(sums *s, const rows *gold, const rg_cell *cell)
{
    double     n[6], best = 0;
    size_t     count;
    bool       named = false, pointed = false;
    const row *its = find(&count, gold, cell[0].bytes);
    if (!its) return rg_fail(RG_EMATCH, "the picture '%.80s' has no box in the file of what is right", cell[0].bytes);
    for (size_t i = 0; i < 6; i++)
        if (!to_number(&n[i], &cell[2 + i]))
            return rg_fail(RG_EFORMAT, "'%.40s' is not a number of pixels: is this of predict --box?",
                           cell[2 + i].bytes);
    for (size_t i = 0; i < count; i++) named = named || strcmp(its[i].name, cell[1].bytes) == 0;
    for (size_t i = 0; i < count; i++) {
        if (named && strcmp(its[i].name, cell[1].bytes) != 0) continue;
        const double iou = rg_box_iou((rg_box){ n[0], n[1], n[2], n[3] }, its[i].box);
        if (iou > best) best = iou;
        pointed = pointed || rg_box_has(its[i].box, n[4], n[5]);
    }
    s->pictures++;
    s->pointed += pointed;
    s->iou += best;
    s->half += best >= 0.5;
    s->named_half += named && best >= 0.5;
    return RG_OK;
}

static rg_status compare(const rg_judging *j, rows *gold)
{
    static const char *const wanted[] = { "input",     "label",      "box-x",  "box-y",
                                          "box-width", "box-height", "peak-x", "peak-y" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    rg_status                status = RG_OK;
    sums                     s = { 0 };
    c.wanted = wanted, c.wanted_count = 8, c.format = "tsv", c.header = RG_HEADER_YES;
    RG_TRY(read_gold(gold, j->gold[0]));
    RG_TRY(rg_reader_open(&r, j->predicted, &c));
    for (bool more = true; status == RG_OK && more;) {
        rg_row line;
        status = rg_reader_next(&more, &line, r);
        if (status == RG_OK && more && (status = judge_row(&s, gold, line.cell)) != RG_OK)
            rg_reader_blame(status, r, &line);
    }
    rg_reader_close(r);
    if (status == RG_OK && !s.pictures) status = rg_fail(RG_EFORMAT, "no predictions");
    if (status != RG_OK) return status;
    const double all = (double)s.pictures;
    return rg_text_print(
        j->out,
        j->json ? "{\"pictures\": %zu, \"pointing\": %.*f, \"mean iou\": %.*f, \"iou >= 0.5\": %.*f, \"label and iou "
                  ">= 0.5\": %.*f}\n"
                : "pictures %zu\npointing %.*f\nmean IoU %.*f\nIoU >= 0.5 %.*f\nlabel right and IoU >= 0.5 %.*f\n",
        s.pictures, j->digits, (double)s.pointed / all, j->digits, s.iou / all, j->digits, (double)s.half / all,
        j->digits, (double)s.named_half / all);
}

static rg_status judge(const rg_judging *j)
{
    rows      gold = { 0 };
    rg_status status =
        j->gold_count == 1 ? compare(j, &gold) : rg_fail(RG_EINVAL, "one file of boxes, not %zu", j->gold_count);
    free_rows(&gold);
    return status;
}

const rg_metric_family rg_metric_family_boxes = {
    .name = "boxes",
    .summary = "pointing game, IoU of boxes: does the evidence lie on the object?",
    .details = "GOLD is a table with the columns picture, name, x, y, width, height (regard make writes one); the "
               "predictions are what `regard predict --box` prints. "
               "Pointing: the peak of the map lies in a box of the predicted class (of any, where the picture has none "
               "of that class).",
    .judge = judge,
};
