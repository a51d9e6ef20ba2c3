/* family_classes.c - `regard evaluate --type classes gold.tsv < predicted.tsv`: labels that are right against labels
 * that were answered, line by line. Gold is any file with a label column; predictions are what `regard predict`
 * prints, or labels alone. */
#include "regard/examples.h"
#include "regard/metrics.h"

#include <string.h>

#include "data/text/words.h"

/* Labels of both files, numbered as they were met. */
typedef struct {
    rg_words words;
    rg_ids   gold, said;
} pairs;

static rg_status add_label(pairs *x, rg_ids *to, const char *label, size_t bytes)
{
    uint32_t id;
    RG_TRY(rg_words_add(&id, &x->words, label, bytes));
    return rg_ids_add(to, (int32_t)id);
}

static rg_status read_gold(pairs *x, const char *path)
{
    static const char *const wanted[] = { "label" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    c.wanted = wanted;
    c.wanted_count = 1;
    RG_TRY(rg_reader_open(&r, path, &c));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        if (!row.cell[0].count) status = rg_reader_blame(rg_fail(RG_EFORMAT, "no label"), r, &row);
        else status = add_label(x, &x->gold, row.cell[0].bytes, row.cell[0].count);
    }
    rg_reader_close(r);
    return status;
}

/* Up to the first tab. The header of `regard predict` is one line more than there are labels. */
static rg_status read_said(pairs *x, const char *path)
{
    rg_lines *lines;
    bool      header = false;
    RG_TRY(rg_lines_open(&lines, path, NULL));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_line line;
        status = rg_lines_next(&more, &line, lines);
        if (status != RG_OK || !more) break;
        const size_t bytes = strcspn(line.text, "\t");
        header = header || (line.number == 1 && bytes == 5 && memcmp(line.text, "label", 5) == 0);
        if (!bytes)
            status =
                rg_fail(RG_EFORMAT, "%s: line %llu: no label", rg_lines_name(lines), (unsigned long long)line.number);
        else status = add_label(x, &x->said, line.text, bytes);
    }
    if (status == RG_OK && header && x->said.count == x->gold.count + 1)
        memmove(x->said.data, x->said.data + 1, --x->said.count * sizeof *x->said.data);
    rg_lines_close(lines);
    return status;
}

/* The classes, sorted as a model's; a header's word is none of them unless it occurs. */
static rg_status make_names(rg_names **out, const pairs *x)
{
    const char **names = rg_alloc_array(2 * x->gold.count + 1, sizeof *names);
    rg_status    status = names ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < x->gold.count; i++) {
        names[2 * i] = rg_words_get(&x->words, (size_t)x->gold.data[i]);
        names[2 * i + 1] = rg_words_get(&x->words, (size_t)x->said.data[i]);
    }
    if (status == RG_OK) status = rg_names_new(out, names, 2 * x->gold.count);
    rg_free(names);
    return status;
}

static rg_status count(rg_confusion *c, const pairs *x, const rg_names *names)
{
    RG_TRY(rg_confusion_init(c, rg_names_count(names)));
    for (size_t i = 0; i < x->gold.count; i++) {
        const char *gold = rg_words_get(&x->words, (size_t)x->gold.data[i]),
                   *said = rg_words_get(&x->words, (size_t)x->said.data[i]);
        rg_confusion_add(c, rg_names_find(names, gold, strlen(gold)), rg_names_find(names, said, strlen(said)));
    }
    return RG_OK;
}

static rg_status compare(const rg_judging *j, pairs *x)
{
    rg_names    *names = NULL;
    rg_confusion c = { 0 };
    RG_TRY(read_gold(x, j->gold[0]));
    RG_TRY(read_said(x, j->predicted));
    if (!x->gold.count || x->gold.count != x->said.count)
        return rg_fail(RG_EMATCH, "%s has %zu labels, the predictions %zu: they must be of the same lines", j->gold[0],
                       x->gold.count, x->said.count);
    rg_status status = make_names(&names, x);
    if (status == RG_OK) status = count(&c, x, names);
    if (status == RG_OK && j->json) status = rg_confusion_json(j->out, &c, names);
    if (status == RG_OK && !j->json)
        status = rg_text_print(j->out, "accuracy %.*f\nmacro F1 %.*f\n\n", j->digits, rg_confusion_accuracy(&c),
                               j->digits, rg_confusion_macro_f1(&c));
    if (status == RG_OK && !j->json) status = rg_confusion_print(j->out, &c, names);
    if (status == RG_OK && j->confusion) {
        *j->confusion = c;
        *j->names = names;
        return RG_OK;
    }
    rg_confusion_fini(&c);
    rg_names_free(names);
    return status;
}

static rg_status judge(const rg_judging *j)
{
    pairs     x = { 0 };
    rg_status status =
        j->gold_count == 1 ? compare(j, &x) : rg_fail(RG_EINVAL, "one file of labels, not %zu", j->gold_count);
    rg_words_fini(&x.words);
    rg_ids_free(&x.gold);
    rg_ids_free(&x.said);
    return status;
}

const rg_metric_family rg_metric_family_classes = {
    .name = "classes",
    .summary = "accuracy, macro F1, precision, recall and F1 per class, confusion matrix",
    .details = "GOLD has a label per line: label TAB text, CSV with a column `label`, JSON lines. The predictions are "
               "what `regard predict` prints.",
    .judge = judge,
};
