/* classes.c - the confusion matrix of a classifier, and what follows from it.
 *
 *     precision = right / answered     recall = right / there     F1 = 2 right / (answered + there)
 *     macro F1 = the mean of F1 over the classes, however frequent */
#include "regard/examples.h"
#include "regard/metrics.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 12, LONGEST_NAME = 24 }; /* classes of a matrix on a terminal; columns of a name */

rg_status rg_confusion_init(rg_confusion *out, size_t classes)
{
    size_t cells, bytes;
    *out = (rg_confusion){ .classes = classes };
    if (!rg_size_mul(&cells, classes, classes) || !rg_size_mul(&bytes, cells, sizeof *out->count))
        return rg_fail(RG_ELIMIT, "%zu classes are too many for a confusion matrix", classes);
    out->count = rg_alloc_zero(bytes ? bytes : 1);
    return out->count ? RG_OK : RG_ENOMEM;
}

void rg_confusion_fini(rg_confusion *c)
{
    rg_free(c->count);
    *c = (rg_confusion){ 0 };
}

void rg_confusion_add(rg_confusion *c, int32_t gold, int32_t predicted)
{
    if (gold < 0 || predicted < 0 || (size_t)gold >= c->classes || (size_t)predicted >= c->classes) return;
    c->count[(size_t)gold * c->classes + (size_t)predicted]++;
}

rg_class_scores rg_confusion_class(const rg_confusion *c, size_t k)
{
    const double    right = (double)c->count[k * c->classes + k];
    rg_class_scores s = { 0 };
    for (size_t i = 0; i < c->classes; i++) {
        s.gold += c->count[k * c->classes + i];
        s.predicted += c->count[i * c->classes + k];
    }
    if (s.predicted) s.precision = right / (double)s.predicted;
    if (s.gold) s.recall = right / (double)s.gold;
    if (s.gold + s.predicted) s.f1 = 2 * right / (double)(s.gold + s.predicted);
    return s;
}

double rg_confusion_accuracy(const rg_confusion *c)
{
    uint64_t right = 0, all = 0;
    for (size_t i = 0; i < c->classes * c->classes; i++) {
        all += c->count[i];
        if (i % (c->classes + 1) == 0) right += c->count[i];
    }
    return all ? (double)right / (double)all : NAN;
}

double rg_confusion_macro_f1(const rg_confusion *c)
{
    double sum = 0, classes = 0;
    for (size_t k = 0; k < c->classes; k++) {
        const rg_class_scores s = rg_confusion_class(c, k);
        if (s.gold + s.predicted) sum += s.f1, classes++;
    }
    return classes > 0 ? sum / classes : NAN;
}

/* --------------------------------------------------------------------------------------------------------- printing */

static int name_columns(const rg_names *names, size_t classes)
{
    size_t most = 5;
    for (size_t k = 0; k < classes; k++) {
        const size_t n = strlen(rg_names_get(names, (int32_t)k));
        if (n > most) most = n;
    }
    return (int)(most < LONGEST_NAME ? most : LONGEST_NAME);
}

static rg_status print_matrix(rg_text *out, const rg_confusion *c, const rg_names *names, int wide)
{
    RG_TRY(rg_text_print(out, "\n%-*s  answered with\n%-*s", wide, "", wide, "is"));
    for (size_t k = 0; k < c->classes; k++) RG_TRY(rg_text_print(out, " %8.8s", rg_names_get(names, (int32_t)k)));
    RG_TRY(rg_text_add_string(out, "\n"));
    for (size_t g = 0; g < c->classes; g++) {
        RG_TRY(rg_text_print(out, "%-*.*s", wide, wide, rg_names_get(names, (int32_t)g)));
        for (size_t k = 0; k < c->classes; k++)
            RG_TRY(rg_text_print(out, " %8llu", (unsigned long long)c->count[g * c->classes + k]));
        RG_TRY(rg_text_add_string(out, "\n"));
    }
    return RG_OK;
}

rg_status rg_confusion_print(rg_text *out, const rg_confusion *c, const rg_names *names)
{
    const int wide = name_columns(names, c->classes);
    RG_TRY(rg_text_print(out, "%-*s precision   recall       F1    count\n", wide, "class"));
    for (size_t k = 0; k < c->classes; k++) {
        const rg_class_scores s = rg_confusion_class(c, k);
        RG_TRY(rg_text_print(out, "%-*.*s    %6.4f   %6.4f   %6.4f %8llu\n", wide, wide,
                             rg_names_get(names, (int32_t)k), s.precision, s.recall, s.f1, (unsigned long long)s.gold));
    }
    return c->classes <= SHOWN && wide + 9 * (int)c->classes <= 100 ? print_matrix(out, c, names, wide) : RG_OK;
}

static rg_status json_name(rg_text *out, const char *name)
{
    RG_TRY(rg_text_add_string(out, "\""));
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') RG_TRY(rg_text_print(out, "\\%c", *name));
        else if ((unsigned char)*name < 0x20) RG_TRY(rg_text_print(out, "\\u%04x", (unsigned)*name));
        else RG_TRY(rg_text_add(out, name, 1));
    }
    return rg_text_add_string(out, "\"");
}

rg_status rg_confusion_json(rg_text *out, const rg_confusion *c, const rg_names *names)
{
    RG_TRY(rg_text_print(out, "{\"accuracy\":%.6f,\"macro_f1\":%.6f,\"classes\":[", rg_confusion_accuracy(c),
                         rg_confusion_macro_f1(c)));
    for (size_t k = 0; k < c->classes; k++) {
        const rg_class_scores s = rg_confusion_class(c, k);
        RG_TRY(rg_text_add_string(out, k ? ",{\"class\":" : "{\"class\":"));
        RG_TRY(json_name(out, rg_names_get(names, (int32_t)k)));
        RG_TRY(rg_text_print(out, ",\"precision\":%.6f,\"recall\":%.6f,\"f1\":%.6f,\"count\":%llu,\"answered\":[",
                             s.precision, s.recall, s.f1, (unsigned long long)s.gold));
        for (size_t i = 0; i < c->classes; i++)
            RG_TRY(rg_text_print(out, "%s%llu", i ? "," : "", (unsigned long long)c->count[k * c->classes + i]));
        RG_TRY(rg_text_add_string(out, "]}"));
    }
    return rg_text_add_string(out, "]}\n");
}
