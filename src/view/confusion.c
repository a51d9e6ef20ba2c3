/* confusion.c - the confusion matrix of a classifier as a record: of the inputs of each class, the shares that were
 * answered with each. */
#include "regard/examples.h"
#include "regard/view.h"

static rg_status add_names(size_t *gold, size_t *said, rg_record *r, const rg_confusion *c, const rg_names *names)
{
    const char **said_name = rg_alloc_array(c->classes + 1, sizeof *said_name);
    char       **gold_name = rg_alloc_zero((c->classes + 1) * sizeof *gold_name);
    rg_status    status = said_name && gold_name ? RG_OK : RG_ENOMEM;
    for (size_t k = 0; status == RG_OK && k < c->classes; k++) {
        const rg_class_scores s = rg_confusion_class(c, k);
        said_name[k] = rg_names_get(names, (int32_t)k);
        gold_name[k] = rg_format("%s (%llu)", said_name[k], (unsigned long long)s.gold);
        if (!gold_name[k]) status = RG_ENOMEM;
    }
    if (status == RG_OK)
        status = rg_record_add_labels(gold, r, "class", RG_LABEL_TOKEN, (const char *const *)gold_name, c->classes);
    if (status == RG_OK) status = rg_record_add_labels(said, r, "answer", RG_LABEL_TOKEN, said_name, c->classes);
    for (size_t k = 0; gold_name && k < c->classes; k++) rg_free(gold_name[k]);
    rg_free(gold_name);
    rg_free(said_name);
    return status;
}

static rg_status add_shares(rg_record *r, size_t gold, size_t said, const rg_confusion *c)
{
    const rg_map_place place = { "share of each class answered with", -1, -1, -1, -1 };
    rg_real           *w = rg_alloc_zero((c->classes * c->classes + 1) * sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t k = 0; k < c->classes; k++) {
        const double there = (double)rg_confusion_class(c, k).gold;
        for (size_t i = 0; there > 0 && i < c->classes; i++)
            w[k * c->classes + i] = (rg_real)((double)c->count[k * c->classes + i] / there);
    }
    const rg_status status = rg_record_add_map(NULL, r, place, gold, said, w, c->classes);
    rg_free(w);
    return status;
}

rg_status rg_record_of_confusion(rg_record **out, const rg_confusion *c, const rg_names *names)
{
    rg_record *r = NULL;
    size_t     gold, said;
    char      *title = rg_format("Accuracy %.4f, macro F1 %.4f", rg_confusion_accuracy(c), rg_confusion_macro_f1(c));
    rg_status  status = title ? rg_record_new(&r, title, "confusion") : RG_ENOMEM;
    if (status == RG_OK) status = add_names(&gold, &said, r, c, names);
    if (status == RG_OK) status = add_shares(r, gold, said, c);
    rg_free(title);
    if (status != RG_OK) rg_record_free(r);
    else *out = r;
    return status;
}
