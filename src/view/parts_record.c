/* parts_record.c - the parts of a network as a graph of boxes: what is used stands below what uses it; parts that write
 * or judge an answer stand in a column of their own. */
#include <string.h>

#include "regard/view.h"

/* The decoder's side. */
static bool beside(const char *name)
{
    static const char *const words[] = { "decoder", "target", "output", "write", "discriminator", "answer" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0) return true;
    return false;
}

/* Heights: one above the highest of what goes in; in a column no two are alike. */
static void place(float *places, const rg_network *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const float column = beside(p->part[i].name) ? 1 : 0;
        float       level = 0;
        for (size_t e = 0; e < p->edges; e++)
            if (p->to[e] == i && p->from[e] < i && places[2 * p->from[e] + 1] + 1 > level)
                level = places[2 * p->from[e] + 1] + 1;
        for (size_t j = 0; j < i; j++)
            if (places[2 * j] == column && places[2 * j + 1] >= level) level = places[2 * j + 1] + 1;
        places[2 * i] = column;
        places[2 * i + 1] = level;
    }
}

/* A part moves up to just below the lowest part of its column that uses it, where nothing is between them. */
static void raise(float *places, const rg_network *p)
{
    for (size_t i = p->count; i-- > 0;) {
        const float column = places[2 * i], level = places[2 * i + 1];
        float       user = 0, above = 1e9F;
        for (size_t e = 0; e < p->edges; e++)
            if (p->from[e] == i && p->to[e] > i && places[2 * p->to[e]] == column &&
                (user == 0 || places[2 * p->to[e] + 1] < user))
                user = places[2 * p->to[e] + 1];
        for (size_t j = 0; j < p->count; j++)
            if (j != i && places[2 * j] == column && places[2 * j + 1] > level && places[2 * j + 1] < above)
                above = places[2 * j + 1];
        if (user > level + 1 && above >= user) places[2 * i + 1] = user - 1;
    }
}

/* 1234567 -> "1,234,567" */
static char *grouped(size_t n)
{
    char   digits[32], text[48];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%zu", n), at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return rg_strdup(text);
}

static char *label(const rg_network_part *p)
{
    char *numbers = grouped(p->parameters);
    char *text = !numbers        ? NULL
                 : p->parameters ? rg_format("%s · %zu x %zu · %s parameters", p->name, p->rows, p->cols, numbers)
                                 : rg_format("%s · %zu x %zu", p->name, p->rows, p->cols);
    rg_free(numbers);
    return text;
}

static rg_status fill(rg_record *r, const rg_network *p)
{
    const rg_map_place flow = { "flow", -1, -1, -1, -1 };
    char             **text = rg_alloc_zero((p->count + 1) * sizeof *text);
    float             *places = rg_alloc_zero((2 * p->count + 1) * sizeof *places);
    rg_real           *one = rg_alloc_array(p->edges + 1, sizeof *one);
    size_t             labels = 0, total = 0;
    rg_text            line = { 0 };
    rg_status          status = text && places && one ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < p->edges; i++) one[i] = 1;
    for (size_t i = 0; status == RG_OK && i < p->count; i++)
        if (!(text[i] = label(&p->part[i]))) status = RG_ENOMEM;
    if (status == RG_OK) place(places, p), raise(places, p);
    for (size_t i = 0; status == RG_OK && i < p->count; i++)
        places[2 * i + 1] = -places[2 * i + 1]; /* the input below */
    if (status == RG_OK)
        status = rg_record_add_labels(&labels, r, "parts", RG_LABEL_NODE, (const char *const *)text, p->count);
    if (status == RG_OK) status = rg_record_set_places(r, labels, places);
    if (status == RG_OK) status = rg_record_add_edges(NULL, r, flow, labels, labels, p->from, p->to, one, p->edges);
    if (status == RG_OK) status = rg_network_sublayers(&line, &total, p);
    if (status == RG_OK && total) status = rg_record_add_text(r, "note", rg_text_c(&line), 0, false);
    for (size_t i = 0; text && i < p->count; i++) rg_free(text[i]);
    rg_free(text);
    rg_free(places);
    rg_free(one);
    rg_text_free(&line);
    return status;
}

rg_status rg_network_record(rg_record **out, const rg_network *p)
{
    char     *numbers = grouped(p->parameters);
    char     *title = numbers ? rg_format("%s: %s parameters", p->system, numbers) : NULL;
    rg_status status = title ? rg_record_new(out, title, "network") : RG_ENOMEM;
    rg_free(numbers);
    rg_free(title);
    if (status == RG_OK && (status = fill(*out, p)) != RG_OK) {
        rg_record_free(*out);
        *out = NULL;
    }
    return status;
}
