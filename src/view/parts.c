/* parts.c - what a network consists of, read off the tape while one batch goes through it on shapes alone.
 *
 * Every op belongs to a part: that of the parameters it uses ("encoder.0.self.wq" is of "encoder.0.self"), else that of
 * the scope it is in, else that of what goes into it. Layers of a stack that are alike, encoder.0 to encoder.5, become
 * one: "encoder.0-5.self". What a part makes and another uses is an edge. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "regard/view.h"

typedef struct pair {
    size_t from, to;
} pair;

typedef struct trace {
    rg_network_part  *part;
    size_t    parts, parts_room;
    pair     *edge;
    size_t    edges, edges_room;
    uint32_t *of; /* part + 1 that made the tensor of a serial; 0: none */
    size_t    tensors;
    bool     *seen; /* of each parameter: counted already */
    const rg_params *params;
    size_t    last;       /* part of the op before */
    double    flops;
    rg_status status;
} trace;

/* ------------------------------------------------------------------------------------------------------- names */

/* "3", or "0-5" of layers that were joined */
static bool is_number(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]) && !(text[i] == '-' && i)) return false;
    return length > 0;
}

/* Up to one word behind the first number: "encoder.0.self.norm" -> "encoder.0.self". */
static void fold(char out[RG_PART_NAME], const char *path)
{
    size_t at = 0, numbers = 0, words = 0, end = 0;
    while (path[at]) {
        const size_t n = strcspn(path + at, ".");
        if (numbers && words == 1) break;
        if (numbers) words++;
        else numbers += is_number(path + at, n);
        end = at + n;
        at = path[end] ? end + 1 : end;
    }
    snprintf(out, RG_PART_NAME, "%.*s", (int)(end < RG_PART_NAME - 1 ? end : RG_PART_NAME - 1), path);
}

/* The part of a parameter: its name without the last word, unless that is all of it. */
static void part_of_param(char out[RG_PART_NAME], const char *name)
{
    char        whole[RG_PART_NAME];
    const char *dot = strrchr(name, '.');
    snprintf(whole, sizeof whole, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
    fold(out, whole);
}

/* "encoder.3.self" -> "encoder", 3, "self"; false: it is of no stack. */
static bool of_stack(const char *name, size_t *prefix, size_t *layer, const char **child)
{
    for (size_t at = 0; name[at];) {
        const size_t n = strcspn(name + at, ".");
        if (is_number(name + at, n)) {
            *prefix = at ? at - 1 : 0;
            *layer = (size_t)strtoull(name + at, NULL, 10);
            *child = name[at + n] ? name + at + n + 1 : "";
            return true;
        }
        at += n + (name[at + n] != 0);
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------- tracing */

static bool grow(void **block, size_t *room, size_t count, size_t bytes)
{
    if (count < *room) return true;
    const size_t more = *room ? 2 * *room : 64;
    size_t       size;
    void        *grown = rg_size_mul(&size, more, bytes) ? rg_realloc(*block, size) : NULL;
    if (!grown) return false;
    *block = grown;
    *room = more;
    return true;
}

static size_t find_part(trace *r, const char *name)
{
    for (size_t i = r->parts; i-- > 0;)
        if (strcmp(r->part[i].name, name) == 0) return i;
    void *block = r->part;
    if (!grow(&block, &r->parts_room, r->parts, sizeof *r->part)) return r->status = RG_ENOMEM, 0;
    r->part = block;
    r->part[r->parts] = (rg_network_part){ .layers = 1 };
    snprintf(r->part[r->parts].name, RG_PART_NAME, "%s", name);
    return r->parts++;
}

static void add_edge(trace *r, size_t from, size_t to)
{
    for (size_t i = 0; i < r->edges; i++)
        if (r->edge[i].from == from && r->edge[i].to == to) return;
    void *block = r->edge;
    if (!grow(&block, &r->edges_room, r->edges, sizeof *r->edge)) {
        r->status = RG_ENOMEM;
        return;
    }
    r->edge = block;
    r->edge[r->edges++] = (pair){ from, to };
}

static size_t maker(const trace *r, const rg_tensor *x)
{
    const uint64_t serial = rg_tensor_serial(x);
    return serial < r->tensors ? r->of[serial] : 0;
}

static void remember(trace *r, const rg_tensor *x, size_t part)
{
    const size_t serial = (size_t)rg_tensor_serial(x);
    if (serial >= r->tensors) {
        const size_t more = 2 * serial + 1024;
        uint32_t    *of = rg_realloc(r->of, more * sizeof *of);
        if (!of) {
            r->status = RG_ENOMEM;
            return;
        }
        memset(of + r->tensors, 0, (more - r->tensors) * sizeof *of);
        r->of = of;
        r->tensors = more;
    }
    r->of[serial] = (uint32_t)part + 1;
}

/* Of the last parameter, else of the scope, else of what goes in. A tied table that is multiplied by is the output. */
static size_t choose_part(trace *r, const rg_traced *op)
{
    char            name[RG_PART_NAME] = "";
    const rg_param *param = NULL;
    for (size_t i = 0; i < op->count; i++)
        if (op->inputs[i] && rg_tensor_param(op->inputs[i])) param = rg_tensor_param(op->inputs[i]);
    if (param && rg_param_get_kind(param) == RG_TIED && strcmp(op->op, "gather") != 0) return find_part(r, "output");
    if (param) part_of_param(name, rg_param_name(param));
    else if (*op->scope) fold(name, op->scope);
    if (*name) return find_part(r, name);
    if (r->parts && strcmp(op->op, "zeros") == 0) return r->last; /* room that the steps of a recurrence fill */
    for (size_t i = 0; i < op->count; i++)
        if (op->inputs[i] && maker(r, op->inputs[i])) return maker(r, op->inputs[i]) - 1;
    return find_part(r, "input");
}

static void count_param(trace *r, const rg_param *param)
{
    for (size_t i = 0; i < rg_params_count(r->params); i++) {
        if (rg_params_at(r->params, i) != param || r->seen[i]) continue;
        char name[RG_PART_NAME];
        r->seen[i] = true;
        if (rg_param_get_kind(param) == RG_KEPT) return;
        part_of_param(name, rg_param_name(param));
        const size_t part = find_part(r, name);
        if (r->status == RG_OK) r->part[part].parameters += rg_param_rows(param) * rg_param_cols(param);
        return;
    }
}

/* What a part makes: what others use of it, the last of that; where nobody does, its largest tensor. */
static void made(rg_network_part *p, const rg_tensor *x, bool passed)
{
    const size_t rows = rg_tensor_rows(x), cols = rg_tensor_cols(x);
    if (!passed && (p->passed || rows * cols < p->rows * p->cols)) return;
    p->passed = passed;
    p->rows = rows;
    p->cols = cols;
}

static void on_op(void *context, const rg_traced *op)
{
    trace *r = context;
    if (r->status != RG_OK) return;
    const size_t part = choose_part(r, op);
    if (r->parts) r->part[r->last].flops += op->flops - r->flops; /* what the op before has cost is known now */
    r->flops = op->flops;
    for (size_t i = 0; r->status == RG_OK && i < op->count; i++) {
        const rg_param *param = op->inputs[i] ? rg_tensor_param(op->inputs[i]) : NULL;
        const size_t    from = op->inputs[i] ? maker(r, op->inputs[i]) : 0;
        if (param) count_param(r, param);
        if (!from || from - 1 == part) continue;
        add_edge(r, from - 1, part);
        made(&r->part[from - 1], op->inputs[i], true);
    }
    if (r->status != RG_OK) return;
    r->part[part].times += r->last != part || !r->part[part].ops;
    r->part[part].ops++;
    made(&r->part[part], op->out, false);
    r->last = part;
    remember(r, op->out, part);
}

/* ------------------------------------------------------------------------------------------------------ layers */

/* Do layers a and b of a stack have the same children with as many parameters? */
static bool alike(const trace *r, const char *name, size_t prefix, size_t a, size_t b)
{
    size_t parts[2] = { 0, 0 }, same = 0;
    for (size_t i = 0; i < r->parts; i++) {
        size_t      p, layer, p2, layer2;
        const char *child, *child2;
        if (!of_stack(r->part[i].name, &p, &layer, &child) || p != prefix || strncmp(r->part[i].name, name, p) != 0)
            continue;
        parts[0] += layer == a;
        parts[1] += layer == b;
        for (size_t j = 0; layer == a && j < r->parts; j++)
            if (of_stack(r->part[j].name, &p2, &layer2, &child2) && p2 == prefix && layer2 == b &&
                strncmp(r->part[j].name, name, p2) == 0 && strcmp(child, child2) == 0)
                same += r->part[i].parameters == r->part[j].parameters && r->part[i].cols == r->part[j].cols;
    }
    return parts[0] == parts[1] && same == parts[0];
}

/* The first and the last layer of the run of equal ones that a part belongs to. */
static void run_of(const trace *r, const char *name, size_t prefix, size_t layer, size_t *first, size_t *last)
{
    size_t most = 0;
    for (size_t i = 0; i < r->parts; i++) {
        size_t      p, l;
        const char *child;
        if (of_stack(r->part[i].name, &p, &l, &child) && p == prefix && strncmp(r->part[i].name, name, p) == 0 &&
            l > most)
            most = l;
    }
    *first = *last = layer;
    while (*first > 0 && alike(r, name, prefix, *first - 1, layer)) --*first;
    while (*last < most && alike(r, name, prefix, *last + 1, layer)) ++*last;
}

static void joined_name(char out[RG_PART_NAME], size_t *layers, const trace *r, const char *name)
{
    size_t      prefix, layer, first, last;
    const char *child;
    *layers = 1;
    snprintf(out, RG_PART_NAME, "%s", name);
    if (!of_stack(name, &prefix, &layer, &child)) return;
    run_of(r, name, prefix, layer, &first, &last);
    *layers = last - first + 1;
    if (*layers > 1)
        snprintf(out, RG_PART_NAME, "%.*s%s%zu-%zu%s%s", (int)prefix, name, prefix ? "." : "", first, last,
                 *child ? "." : "", child);
}

/* Constants that no later part uses, such as positions that are added to an embedding. */
static bool idle(const trace *r, size_t part)
{
    for (size_t i = 0; i < r->edges; i++)
        if ((r->edge[i].from == part && r->edge[i].to > part) || r->edge[i].to == part) return false;
    return !r->part[part].parameters && r->parts > 1;
}

/* Of the same layers of a stack? */
static bool same_run(const rg_network_part *a, const rg_network_part *b)
{
    size_t      pa, pb, la, lb;
    const char *ca, *cb;
    return of_stack(a->name, &pa, &la, &ca) && of_stack(b->name, &pb, &lb, &cb) && pa == pb && la == lb &&
           strncmp(a->name, b->name, pa) == 0;
}

/* From the last part of a layer to the first of the next one, which is alike: that there are several says so. */
static bool repeats(const rg_network_part *from, const rg_network_part *to, bool back)
{
    return from == to || (back && from->layers > 1 && same_run(from, to));
}

static rg_status join_layers(rg_network *out, const trace *r)
{
    trace   joined = { 0 };
    size_t *to = rg_alloc_array(r->parts + 1, sizeof *to);
    if (!to) return RG_ENOMEM;
    for (size_t i = 0; i < r->parts && joined.status == RG_OK; i++) {
        char         name[RG_PART_NAME];
        size_t       layers;
        if (idle(r, i)) continue;
        const size_t before = joined.parts;
        joined_name(name, &layers, r, r->part[i].name);
        to[i] = find_part(&joined, name);
        if (joined.status != RG_OK) break;
        rg_network_part *p = &joined.part[to[i]];
        if (joined.parts > before) p->rows = r->part[i].rows, p->cols = r->part[i].cols, p->times = r->part[i].times;
        p->layers = layers;
        p->parameters += r->part[i].parameters;
        p->flops += r->part[i].flops;
        p->ops += r->part[i].ops;
        out->parameters += r->part[i].parameters;
        out->flops += r->part[i].flops;
    }
    for (size_t i = 0; i < r->edges && joined.status == RG_OK; i++)
        if (!idle(r, r->edge[i].from) && !idle(r, r->edge[i].to) &&
            !repeats(&joined.part[to[r->edge[i].from]], &joined.part[to[r->edge[i].to]],
                     to[r->edge[i].from] >= to[r->edge[i].to]))
            add_edge(&joined, to[r->edge[i].from], to[r->edge[i].to]);
    rg_free(to);
    out->part = joined.part;
    out->count = joined.parts;
    out->edges = joined.edges;
    out->from = rg_alloc_array(joined.edges + 1, sizeof *out->from);
    out->to = rg_alloc_array(joined.edges + 1, sizeof *out->to);
    for (size_t i = 0; out->from && out->to && i < joined.edges; i++)
        out->from[i] = (uint32_t)joined.edge[i].from, out->to[i] = (uint32_t)joined.edge[i].to;
    rg_free(joined.edge);
    return joined.status == RG_OK && (!out->from || !out->to) ? RG_ENOMEM : joined.status;
}

/* ------------------------------------------------------------------------------------------------------ making */

/* Every phase of a system that learns in phases is a pass. */
static rg_status run_passes(trace *r, const rg_prepared *prepared)
{
    const rg_tape_config config = { .record = true, .learn = true, .dry = true };
    const rg_tracer      tracer = { .context = r, .op = on_op };
    const size_t         phases = prepared->config.phase_count ? prepared->config.phase_count : 1;
    rg_shares            shares = { 0 };
    rg_tape             *tape;
    RG_TRY(prepared->hooks.next(prepared->hooks.context, &shares));
    if (!shares.count) return rg_fail(RG_EINVAL, "there is no batch to send through the network");
    RG_TRY(rg_tape_new(&tape, &config));
    rg_status status = RG_OK;
    for (size_t phase = 0; status == RG_OK && phase < phases; phase++) {
        rg_tape_reset(tape, 0);
        r->flops = 0;
        if (r->of) memset(r->of, 0, r->tensors * sizeof *r->of);
        rg_tape_set_progress(tape, (rg_progress){ .phase = phase, .step = 1 });
        rg_tape_set_tracer(tape, &tracer);
        (void)prepared->hooks.loss(prepared->hooks.context, tape, shares.share[0], 0);
        status = rg_tape_status(tape);
        if (status == RG_OK) status = r->status;
        if (r->parts) r->part[r->last].flops += rg_tape_get_cost(tape).flops - r->flops;
    }
    rg_tape_free(tape);
    return status;
}

static rg_status trace_parts(void *context, const rg_prepared *prepared)
{
    rg_network        *out = context;
    const rg_params *params = prepared->run->model->params;
    trace            r = { .params = params, .seen = rg_alloc_zero(rg_params_count(params) + 1) };
    rg_status        status = r.seen ? run_passes(&r, prepared) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < rg_params_count(params); i++) count_param(&r, rg_params_at(params, i));
    if (status == RG_OK) status = r.status;
    if (status == RG_OK) status = join_layers(out, &r);
    rg_free(r.part);
    rg_free(r.edge);
    rg_free(r.of);
    rg_free(r.seen);
    return status;
}

rg_status rg_network_new(rg_network **out, const rg_training *training, const rg_sizes *sizes)
{
    *out = rg_alloc_zero(sizeof **out);
    if (!*out) return RG_ENOMEM;
    snprintf((*out)->system, RG_PART_NAME, "%s", training->system->name);
    const rg_status status = rg_learn_prepare(training, sizes, true, trace_parts, *out);
    if (status == RG_OK) return RG_OK;
    rg_network_free(*out);
    *out = NULL;
    return status;
}

void rg_network_free(rg_network *p)
{
    if (!p) return;
    rg_free(p->part);
    rg_free(p->from);
    rg_free(p->to);
    rg_free(p);
}

rg_status rg_network_sublayers(rg_text *out, size_t *out_total, const rg_network *p)
{
    size_t total = 0, terms = 0, most = 1, ignored;
    for (size_t i = 0; i < p->count; i++) {
        const char *child;
        size_t      children = 0, before = 0;
        if (!of_stack(p->part[i].name, &ignored, &ignored, &child)) continue;
        for (size_t j = 0; j < p->count; j++)
            if (same_run(&p->part[i], &p->part[j])) {
                children += p->part[j].parameters > 0;
                before += j < i;
            }
        if (before || !children) continue;
        RG_TRY(rg_text_print(out, "%s%zu x %zu", terms++ ? " + " : "", p->part[i].layers, children));
        total += p->part[i].layers * children;
        if (children > most) most = children;
    }
    *out_total = total > terms ? total : 0;
    if (!*out_total) rg_text_clear(out);
    return *out_total ? rg_text_print(out, " = %zu %s", total, most > 1 ? "sub-layers" : "layers") : RG_OK;
}
