/* family_sets.c - `regard evaluate --type sets gold.tsv < predicted.tsv`: sets of labels that are right against sets
 * that were found, picture by picture. Gold has lines picture TAB label|label; predictions are what `regard predict`
 * prints, or lines of the same form. */
#include "regard/examples.h"
#include "regard/metrics.h"

#include <math.h>
#include <string.h>

#include "data/text/words.h"

typedef struct {
    rg_words labels;
    rg_ids   gold, gold_start, said, said_start;
    rg_text  names; /* of gold's pictures, a NUL behind each */
} sets;

static rg_status add_labels(sets *x, rg_ids *to, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        size_t n = 0, from = 0;
        while (at + n < bytes && text[at + n] != '|' && text[at + n] != '\n') n++;
        size_t end = n;
        while (from < end && text[at + from] == ' ') from++;
        while (end > from && (text[at + end - 1] == ' ' || text[at + end - 1] == '\r')) end--;
        uint32_t id;
        if (end > from) RG_TRY(rg_words_add(&id, &x->labels, text + at + from, end - from));
        if (end > from) RG_TRY(rg_ids_add(to, (int32_t)id));
        at += n + 1;
    }
    return RG_OK;
}

static rg_status read_gold(sets *x, const char *path)
{
    static const char *const wanted[] = { "picture", "tags" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    c.wanted = wanted;
    c.wanted_count = 2;
    c.file = "no column is a file";
    RG_TRY(rg_reader_open(&r, path, &c));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        status = rg_ids_add(&x->gold_start, (int32_t)x->gold.count);
        if (status == RG_OK) status = add_labels(x, &x->gold, row.cell[1].bytes, row.cell[1].count);
        if (status == RG_OK) status = rg_text_add(&x->names, row.cell[0].bytes, row.cell[0].count);
        if (status == RG_OK) status = rg_text_add(&x->names, "", 1);
    }
    if (status == RG_OK) status = rg_ids_add(&x->gold_start, (int32_t)x->gold.count);
    rg_reader_close(r);
    return status;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Line by line the pictures of gold, by the last part of their names. */
static rg_status read_said(sets *x, const char *path)
{
    rg_lines   *lines;
    const char *name = rg_text_c(&x->names);
    size_t      left = x->gold_start.count - 1;
    RG_TRY(rg_lines_open(&lines, path, NULL));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_line line;
        status = rg_lines_next(&more, &line, lines);
        if (status != RG_OK || !more || (line.number == 1 && strcmp(line.text, "input\ttags") == 0)) continue;
        const size_t tab = strcspn(line.text, "\t");
        char        *said = rg_format("%.*s", (int)tab, line.text);
        if (!said) status = RG_ENOMEM;
        else if (!left || strcmp(last_part(said), last_part(name)) != 0)
            status = rg_fail(RG_EMATCH,
                             "%s: line %llu is of '%.60s', the line of what is right of '%.60s': they must be of the "
                             "same pictures in the same order",
                             rg_lines_name(lines), (unsigned long long)line.number, said, left ? name : "nothing more");
        if (status == RG_OK) status = rg_ids_add(&x->said_start, (int32_t)x->said.count);
        if (status == RG_OK && line.text[tab])
            status = add_labels(x, &x->said, line.text + tab + 1, line.bytes - tab - 1);
        rg_free(said);
        left -= left > 0;
        name += strlen(name) + 1;
    }
    if (status == RG_OK) status = rg_ids_add(&x->said_start, (int32_t)x->said.count);
    if (status == RG_OK && left)
        status = rg_fail(RG_EMATCH, "the predictions end %zu pictures before what is right does", left);
    rg_lines_close(lines);
    return status;
}

typedef struct {
    rg_set_counts all, *each;
    double        f1, iou, exact, macro;
    size_t        pictures;
} found;

static bool among(const int32_t *ids, size_t n, int32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id) return true;
    return false;
}

static rg_status compare(found *out, const sets *x)
{
    out->pictures = x->gold_start.count - 1;
    if (!(out->each = rg_alloc_zero((x->labels.count + 1) * sizeof *out->each))) return RG_ENOMEM;
    for (size_t i = 0; i < out->pictures; i++) {
        const int32_t *gold = x->gold.data + x->gold_start.data[i], *said = x->said.data + x->said_start.data[i];
        const size_t   n = (size_t)(x->gold_start.data[i + 1] - x->gold_start.data[i]),
                     m = (size_t)(x->said_start.data[i + 1] - x->said_start.data[i]);
        rg_set_counts  one;
        RG_TRY(rg_set_compare(&one, said, m, gold, n));
        out->all.hit += one.hit, out->all.extra += one.extra, out->all.missed += one.missed;
        out->f1 += rg_set_f1(one), out->iou += rg_set_iou(one);
        out->exact += !one.extra && !one.missed;
        for (size_t k = 0; k < n; k++)
            if (among(said, m, gold[k])) out->each[gold[k]].hit++;
            else out->each[gold[k]].missed++;
        for (size_t k = 0; k < m; k++)
            if (!among(gold, n, said[k])) out->each[said[k]].extra++;
    }
    for (size_t c = 0; c < x->labels.count; c++) out->macro += rg_set_f1(out->each[c]) / (double)x->labels.count;
    return RG_OK;
}

static rg_status print(const rg_judging *j, const sets *x, const found *f)
{
    const double n = (double)f->pictures;
    if (j->json)
        return rg_text_print(j->out,
                             "{\"pictures\":%zu,\"f1\":%.*f,\"iou\":%.*f,\"f1-picture\":%.*f,\"iou-picture\":%.*f,"
                             "\"macro-f1\":%.*f,\"exact\":%.*f}\n",
                             f->pictures, j->digits, rg_set_f1(f->all), j->digits, rg_set_iou(f->all), j->digits,
                             f->f1 / n, j->digits, f->iou / n, j->digits, f->macro, j->digits, f->exact / n);
    RG_TRY(
        rg_text_print(j->out,
                      "F1 %.*f   IoU %.*f   of all pictures together\nF1 %.*f   IoU %.*f   means of the pictures' own\n"
                      "F1 %.*f              mean of the labels' own\nexact %.*f of %zu sets\n\n",
                      j->digits, rg_set_f1(f->all), j->digits, rg_set_iou(f->all), j->digits, f->f1 / n, j->digits,
                      f->iou / n, j->digits, f->macro, j->digits, f->exact / n, f->pictures));
    RG_TRY(
        rg_text_print(j->out, "%-24s %9s %9s %9s %7s %7s\n", "label", "precision", "recall", "F1", "right", "found"));
    for (size_t c = 0; c < x->labels.count; c++) {
        const rg_set_counts k = f->each[c];
        const double        said = (double)(k.hit + k.extra), gold = (double)(k.hit + k.missed);
        RG_TRY(rg_text_print(j->out, "%-24.24s %9.*f %9.*f %9.*f %7.0f %7.0f\n", rg_words_get(&x->labels, c), j->digits,
                             (double)k.hit / fmax(1, said), j->digits, (double)k.hit / fmax(1, gold), j->digits,
                             rg_set_f1(k), gold, said));
    }
    return RG_OK;
}

static rg_status judge(const rg_judging *j)
{
    sets      x = { 0 };
    found     f = { 0 };
    rg_status status = j->gold_count == 1
                           ? read_gold(&x, j->gold[0])
                           : rg_fail(RG_EINVAL, "one file of pictures and labels, not %zu", j->gold_count);
    if (status == RG_OK && x.gold_start.count < 2) status = rg_fail(RG_EFORMAT, "%s: no picture", j->gold[0]);
    if (status == RG_OK) status = read_said(&x, j->predicted);
    if (status == RG_OK) status = compare(&f, &x);
    if (status == RG_OK) status = print(j, &x, &f);
    rg_words_fini(&x.labels);
    rg_ids_free(&x.gold);
    rg_ids_free(&x.gold_start);
    rg_ids_free(&x.said);
    rg_ids_free(&x.said_start);
    rg_text_free(&x.names);
    rg_free(f.each);
    return status;
}

const rg_metric_family rg_metric_family_sets = {
    .name = "sets",
    .summary = "F1 and IoU of sets of labels: per picture, of all together, per label",
    .details = "GOLD has lines picture TAB label|label|label (a header may name the columns picture and tags). The "
               "predictions are what `regard predict` prints, or lines of the same form,\n"
               "of the same pictures in the same order.",
    .judge = judge,
};
