/* methods.c - the table of methods, and maps of a subject by those that are asked for. */
#include <string.h>

#include "explain/explaining.h"

#define RG_METHODS(X) X(attention) X(rollout) X(gradient) X(input_gradient) X(integrated) X(zeroing) X(occlusion)
#define DECLARE(name) extern const rg_method rg_method_##name;
#define ENTRY(name) &rg_method_##name,
RG_METHODS(DECLARE)
static const rg_method *const table[] = { RG_METHODS(ENTRY) NULL };

const rg_method *const *rg_method_all(void) { return table; }

const rg_method *rg_method_find(const char *name)
{
    for (size_t i = 0; table[i]; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

static bool is_all(const rg_explain_options *o) { return o->by && strcmp(o->by, "all") == 0; }

/* Is the method among those of "gradient,occlusion"? */
static bool asked_for(const rg_explain_options *o, const rg_method *m)
{
    const size_t n = strlen(m->name);
    if (is_all(o)) return true;
    for (const char *at = o->by ? o->by : ""; *at; at += *at == ',') {
        const size_t k = strcspn(at, ",");
        if (k == n && strncmp(at, m->name, n) == 0) return true;
        at += k;
    }
    return false;
}

rg_status rg_explain_check(const rg_explain_options *o)
{
    const bool contrast = o->against && *o->against;
    for (const char *at = o->by && !is_all(o) ? o->by : ""; *at; at += *at == ',') {
        const size_t     k = strcspn(at, ",");
        const rg_method *found = NULL;
        for (size_t i = 0; table[i]; i++)
            if (strlen(table[i]->name) == k && strncmp(table[i]->name, at, k) == 0) found = table[i];
        if (!found)
            return rg_fail(RG_EINVAL, "--by %.*s: the methods are attention, rollout, gradient, input-gradient, "
                                      "integrated, zeroing and occlusion; or all",
                           (int)k, at);
        if (contrast && !found->contrasts)
            return rg_fail(RG_EINVAL, "--against: %s has no contrast; gradient, input-gradient, integrated, zeroing "
                                      "and occlusion have",
                           found->name);
        at += k;
    }
    if (contrast && !(o->by && *o->by))
        return rg_fail(RG_EINVAL, "--against %s: by which method? --by occlusion, for instance", o->against);
    return RG_OK;
}

bool rg_explain_attends(const rg_explain_options *o)
{
    if (!o || !o->by || !*o->by) return true;
    for (size_t i = 0; table[i]; i++)
        if (table[i]->attends && asked_for(o, table[i])) return true;
    return false;
}

static rg_status add_map(rg_record *r, const rg_method *m, rg_explaining *x, rg_real *map)
{
    const rg_subject *s = x->subject;
    const bool        contrast = s->against >= 0 && s->against_text;
    RG_TRY(m->explain(map, x));
    char *name = contrast ? rg_format("%s against %s", m->name, s->against_text) : rg_strdup(m->name);
    if (!name) return RG_ENOMEM;
    size_t             index;
    const rg_map_place place = { name, -1, -1, -1, s->hypothesis };
    rg_status          status = rg_record_add_map(&index, r, place, s->row_labels, s->col_labels, map, s->inputs);
    rg_faithfulness    faith;
    if (status == RG_OK && x->options->faithful) {
        status = rg_explaining_faithfulness(&faith, x, map, true);
        if (status == RG_OK) rg_record_set_faithfulness(r, index, faith);
    }
    rg_free(name);
    return status;
}

/* Maps that were there, from outputs to inputs; of the many that layers and heads have the correlation alone. */
static rg_status measure(rg_record *r, rg_explaining *x, rg_real *map)
{
    const rg_subject *s = x->subject;
    const size_t      n = s->outputs * s->inputs, maps = r->maps;
    for (size_t i = 0; i < maps; i++) {
        const rg_record_map *m = &r->map[i];
        if (m->row_labels != s->row_labels || m->col_labels != s->col_labels || m->rows == 0 || m->faith.measured ||
            m->from || (m->hypothesis >= 0 && m->hypothesis != s->hypothesis))
            continue;
        rg_faithfulness faith;
        for (size_t k = 0; k < n; k++) map[k] = (rg_real)m->weights[k];
        RG_TRY(rg_explaining_faithfulness(&faith, x, map, m->layer < 0));
        rg_record_set_faithfulness(r, i, faith);
    }
    return RG_OK;
}

rg_status rg_explain(rg_record *r, const rg_subject *s, const rg_explain_options *o)
{
    size_t         n, bytes;
    rg_explaining *x = NULL;
    RG_TRY(rg_explain_check(o));
    if (!s->inputs || !s->outputs) return RG_OK;
    if (!rg_size_mul(&n, s->inputs, s->outputs) || !rg_size_mul(&bytes, n, sizeof(rg_real))) return RG_ENOMEM;
    rg_real  *map = rg_alloc(bytes);
    rg_status status = map ? rg_explaining_new(&x, s, o, r) : RG_ENOMEM;
    if (status == RG_OK && o->faithful) status = measure(r, x, map);
    for (size_t i = 0; status == RG_OK && table[i]; i++) {
        if (!asked_for(o, table[i]) || (s->against >= 0 && !table[i]->contrasts)) continue;
        status = add_map(r, table[i], x, map);
        if ((status == RG_EMATCH || status == RG_ELIMIT) && is_all(o))
            status = RG_OK; /* the system has nothing of that kind, or too much */
    }
    rg_explaining_free(x);
    rg_free(map);
    return status;
}
