/* params.c - named parameters in one block, their initial values, their packs and their gradients. */
#include "autograd/params.h"

#include <math.h>
#include <string.h>

#include "regard/options.h"

enum { ALIGN_NUMBERS = 64 / sizeof(rg_real) };

/* Numbers of an entry in the block, up to where the next may start. It fits: rg_params_add saw to that. */
size_t rg_param__room(const rg_param *e)
{
    return (e->rows * e->cols + ALIGN_NUMBERS - 1) / ALIGN_NUMBERS * ALIGN_NUMBERS;
}

/* -------------------------------------------------------------------------------------------------- declaring */

rg_status rg_params_new(rg_params **out)
{
    *out = NULL;
    rg_params *p = rg_alloc_zero(sizeof *p);
    if (!p) return RG_ENOMEM;
    rg_status status = rg_arena_new(&p->arena, 1 << 14);
    if (status != RG_OK) {
        rg_free(p);
        return status;
    }
    *out = p;
    return RG_OK;
}

void rg_params_free(rg_params *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->count; i++) rg_small_fini(&p->entry[i]->small);
    rg_free(p->transposed);
    rg_free(p->forward);
    rg_free(p->block);
    rg_free(p->slim);
    rg_free(p->entry);
    rg_arena_free(p->arena);
    rg_free(p);
}

static rg_param *declare_fail(rg_params *p, rg_status status, const char *format, const char *name)
{
    if (p->status != RG_OK) return NULL;
    p->status = status;
    snprintf(p->message, sizeof p->message, format, name);
    return NULL;
}

void rg_params_push(rg_params *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool fits = rg_scope_push(&p->scope, format, args);
    va_end(args);
    if (!fits) declare_fail(p, RG_ELIMIT, "the scope '%.100s...' is too long or too deep", p->scope.text);
}

void rg_params_pop(rg_params *p) { rg_scope_pop(&p->scope); }

static bool make_room(rg_params *p)
{
    if (p->count < p->room) return true;
    size_t     room = p->room ? 2 * p->room : 64;
    rg_param **entry = rg_realloc(p->entry, room * sizeof *entry);
    if (!entry) return false;
    p->entry = entry;
    p->room = room;
    return true;
}

rg_param *rg_params_add(rg_params *p, const char *name, rg_param_kind kind, size_t rows, size_t cols, rg_init init,
                        double scale)
{
    if (p->status != RG_OK) return NULL;
    if (p->block) return declare_fail(p, RG_EINVAL, "parameter '%s' declared after the block was built", name);
    const size_t room = strlen(p->scope.text) + strlen(name) + 2;
    char     *full = rg_arena_get(p->arena, room);
    rg_param *e = rg_arena_get_zero(p->arena, sizeof *e);
    if (!full || !e || !make_room(p)) return declare_fail(p, RG_ENOMEM, "no memory to declare parameter '%s'", name);
    rg_scope_join(&p->scope, name, full, room);
    if (rg_params_find(p, full)) return declare_fail(p, RG_EINVAL, "parameter '%s' is declared twice", full);
    size_t count, end;
    if (!rg_size_mul(&count, rows, cols) || !rg_size_align(&count, count, ALIGN_NUMBERS) ||
        !rg_size_add(&end, p->numbers, count))
        return declare_fail(p, RG_ELIMIT, "parameter '%s' is too large", full);
    *e = (rg_param){ .name = full, .kind = kind, .rows = rows, .cols = cols, .index = p->count, .offset = p->numbers,
                     .init = init, .scale = scale, .rate = 1 };
    p->numbers = end;
    p->entry[p->count++] = e;
    return e;
}

/* ---------------------------------------------------------------------------------------------- initial values */

/* Gram-Schmidt on the rows of an n x n block. */
static void orthogonal(rg_real *w, size_t n, size_t ld, double scale, rg_random *random)
{
    for (size_t i = 0; i < n; i++) {
        rg_real *row = w + i * ld;
        for (size_t j = 0; j < n; j++) row[j] = (rg_real)rg_random_normal(random);
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < i; k++) {
                double dot = 0;
                for (size_t j = 0; j < n; j++) dot += (double)row[j] * (double)w[k * ld + j];
                for (size_t j = 0; j < n; j++) row[j] -= (rg_real)dot * w[k * ld + j];
            }
        double norm = 0;
        for (size_t j = 0; j < n; j++) norm += (double)row[j] * (double)row[j];
        for (size_t j = 0; j < n; j++) row[j] = (rg_real)((double)row[j] / sqrt(norm));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) w[i * ld + j] *= (rg_real)scale;
}

static rg_status fill(rg_param *e, uint64_t seed)
{
    rg_random    random = rg_random_new(seed, e->index + 1);
    const size_t n = e->rows * e->cols;
    const double glorot = e->scale * sqrt(6.0 / (double)(e->rows + e->cols));
    switch (e->init) {
    case RG_INIT_ZERO: break; /* the block was allocated as zeros */
    case RG_INIT_ONE:
        for (size_t i = 0; i < n; i++) e->data[i] = 1;
        break;
    case RG_INIT_UNIFORM:
    case RG_INIT_GLOROT: {
        double half = e->init == RG_INIT_GLOROT ? glorot : e->scale;
        for (size_t i = 0; i < n; i++) e->data[i] = (rg_real)(half * (2 * rg_random_uniform(&random) - 1));
        break;
    }
    case RG_INIT_NORMAL:
        for (size_t i = 0; i < n; i++) e->data[i] = (rg_real)(e->scale * rg_random_normal(&random));
        break;
    case RG_INIT_ORTHOGONAL:
        if (e->rows == 0 || e->cols % e->rows != 0)
            return rg_fail(RG_ESHAPE, "%s: orthogonal blocks need columns (%zu) that are a multiple of rows (%zu)",
                           e->name, e->cols, e->rows);
        for (size_t b = 0; b < e->cols / e->rows; b++)
            orthogonal(e->data + b * e->rows, e->rows, e->cols, e->scale, &random);
        break;
    case RG_INIT_FORGET:
        for (size_t i = 0; i < n; i++)
            if (i % e->cols / (e->cols / 4 ? e->cols / 4 : 1) == 1) e->data[i] = (rg_real)e->scale;
        break;
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ packs */

static bool packed(const rg_param *e) { return (e->kind == RG_WEIGHT || e->kind == RG_TIED) && !rg_param__is_small(e); }

/* A weight (in, out) is the right side of x w, a tied table (V, D) that of x w^T; the gradient of x needs the other
 * way. */
static void shape_pack(rg_pack *pack, const rg_param *e, bool transposed)
{
    bool as_is = (e->kind == RG_WEIGHT) != transposed;
    pack->K = as_is ? e->rows : e->cols;
    pack->N = as_is ? e->cols : e->rows;
}

static size_t panels_of(const rg_pack *pack) { return pack->data ? (pack->N + RG_PANEL - 1) / RG_PANEL : 0; }

/* Panels first .. end of a pack. */
static void fill_panels(const rg_pack *pack, const rg_param *e, bool transposed, size_t first, size_t end)
{
    const rg_kernels *k = rg_kernel();
    const size_t      n = first * RG_PANEL, count = (end * RG_PANEL < pack->N ? end * RG_PANEL : pack->N) - n;
    rg_real          *to = (rg_real *)pack->data + n * pack->K;
    if ((e->kind == RG_WEIGHT) != transposed) k->pack(to, e->data + n, e->cols, pack->K, count);
    else k->pack_transposed(to, e->data + n * e->cols, e->cols, pack->K, count);
}

/* Panels begin .. end of all packs, counted through the entries and both ways of each. */
static void repack_panels(void *context, int member, size_t begin, size_t end)
{
    const rg_params *p = context;
    size_t           at = 0;
    (void)member;
    for (size_t i = 0; i < p->count && at < end; i++)
        for (int transposed = 0; transposed < 2; transposed++) {
            const rg_param *e = p->entry[i];
            const rg_pack  *pack = transposed ? &e->transposed : &e->forward;
            const size_t count = panels_of(pack), first = begin > at ? begin - at : 0, last = end > at ? end - at : 0;
            if (first < count && last > first) fill_panels(pack, e, transposed, first, last < count ? last : count);
            at += count;
        }
}

/* One allocation for all packs of one direction. */
static rg_status make_packs(rg_params *p, bool transposed, bool fill)
{
    size_t total = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (!packed(p->entry[i])) continue;
        rg_pack *pack = transposed ? &p->entry[i]->transposed : &p->entry[i]->forward;
        shape_pack(pack, p->entry[i], transposed);
        if (!rg_size_add(&total, total, rg_pack_size(pack->K, pack->N)))
            return rg_fail(RG_ELIMIT, "packed weights do not fit in memory");
    }
    rg_real *block = rg_alloc_array(total, sizeof *block);
    if (!block) return RG_ENOMEM;
    *(transposed ? &p->transposed : &p->forward) = block;
    for (size_t i = 0; i < p->count; i++) {
        if (!packed(p->entry[i])) continue;
        rg_pack *pack = transposed ? &p->entry[i]->transposed : &p->entry[i]->forward;
        pack->data = block;
        if (fill) fill_panels(pack, p->entry[i], transposed, 0, panels_of(pack));
        block += rg_pack_size(pack->K, pack->N);
    }
    return RG_OK;
}

static rg_status make_block(rg_params *p)
{
    if (p->status != RG_OK) return rg_fail(p->status, "%s", p->message);
    if (p->block) return rg_fail(RG_EINVAL, "the parameters are built already");
    size_t bytes;
    if (!rg_size_mul(&bytes, p->numbers, sizeof *p->block))
        return rg_fail(RG_ELIMIT, "%zu parameters do not fit in memory", p->numbers);
    if (!(p->block = rg_alloc_zero(bytes))) return RG_ENOMEM;
    for (size_t i = 0; i < p->count; i++) p->entry[i]->data = p->block + p->entry[i]->offset;
    return RG_OK;
}

rg_status rg_params_build(rg_params *p, uint64_t seed)
{
    RG_TRY(make_block(p));
    for (size_t i = 0; i < p->count; i++) RG_TRY(fill(p->entry[i], seed));
    return make_packs(p, false, true);
}

rg_status rg_params_build_empty(rg_params *p)
{
    RG_TRY(p->weights == RG_WEIGHT_BF16 || p->weights == RG_WEIGHT_INT8 ? rg_params__make_small(p) : make_block(p));
    return make_packs(p, false, false); /* whoever fills the numbers packs them */
}

rg_status rg_params_repack(rg_params *p, rg_team *team)
{
    size_t panels = 0;
    if (p->slim && p->weights < RG_WEIGHT_BF16)
        return rg_fail(RG_EINVAL, "the parameters are for reading only: there is nothing to pack them from");
    for (size_t i = 0; i < p->count; i++)
        panels += panels_of(&p->entry[i]->forward) + panels_of(&p->entry[i]->transposed);
    rg_team_for(team, panels, 8, repack_panels, p);
    return RG_OK;
}

size_t rg_params_bytes(const rg_params *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        const rg_param *e = p->entry[i];
        if (e->data) bytes += rg_param__room(e) * sizeof *e->data;
        if (e->forward.data) bytes += rg_pack_size(e->forward.K, e->forward.N) * sizeof(rg_real);
        if (e->transposed.data) bytes += rg_pack_size(e->transposed.K, e->transposed.N) * sizeof(rg_real);
        if (rg_param__is_small(e)) bytes += rg_small_bytes(&e->small);
    }
    return bytes;
}

/* A tied table is kept: its rows are looked up. What is kept in few bytes is slim already. */
rg_status rg_params_slim(rg_params *p)
{
    size_t numbers = 0, at = 0;
    if (!p->block)
        return p->slim ? RG_OK : rg_fail(RG_EINVAL, "the parameters must be built before they are made slim");
    for (size_t i = 0; i < p->count; i++)
        if (p->entry[i]->kind != RG_WEIGHT) numbers += rg_param__room(p->entry[i]);
    if (!(p->slim = rg_alloc_array(numbers, sizeof *p->slim))) return RG_ENOMEM;
    for (size_t i = 0; i < p->count; i++) {
        rg_param *e = p->entry[i];
        rg_real  *to = e->kind == RG_WEIGHT ? NULL : p->slim + at;
        if (to) memcpy(to, e->data, e->rows * e->cols * sizeof *to);
        if (to) at += rg_param__room(e);
        e->data = to;
        e->transposed = (rg_pack){ 0 };
    }
    rg_free(p->transposed);
    rg_free(p->block);
    p->block = p->transposed = NULL;
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------- reading */

size_t rg_params_count(const rg_params *p) { return p->count; }
rg_param *rg_params_at(const rg_params *p, size_t index) { return index < p->count ? p->entry[index] : NULL; }

size_t rg_params_numbers(const rg_params *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->entry[i]->kind != RG_KEPT) n += p->entry[i]->rows * p->entry[i]->cols;
    return n;
}

rg_param *rg_params_find(const rg_params *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->entry[i]->name, name) == 0) return p->entry[i];
    return NULL;
}

const char *rg_param_name(const rg_param *e) { return e->name; }
rg_param_kind rg_param_get_kind(const rg_param *e) { return e->kind; }
size_t rg_param_rows(const rg_param *e) { return e->rows; }
size_t rg_param_cols(const rg_param *e) { return e->cols; }
rg_real *rg_param_data(const rg_param *e) { return e->data; }

size_t rg_params_freeze(rg_params *p, const char *pattern, bool frozen)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (rg_name_matches(pattern, p->entry[i]->name)) p->entry[i]->frozen = frozen, n++;
    return n;
}

size_t rg_params_rate(rg_params *p, const char *pattern, double factor)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (rg_name_matches(pattern, p->entry[i]->name)) p->entry[i]->rate = factor, n++;
    return n;
}

size_t rg_params_decay(rg_params *p, const char *pattern, double decay)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (rg_name_matches(pattern, p->entry[i]->name)) p->entry[i]->decay = decay, n++;
    return n;
}

/* -------------------------------------------------------------------------------------------------- gradients */

rg_status rg_grads_new(rg_grads **out, rg_params *params)
{
    *out = NULL;
    if (!params->block)
        return rg_fail(RG_EINVAL, "gradients asked for %s",
                       !params->slim ? "before the parameters were built"
                       : params->weights >= RG_WEIGHT_BF16
                           ? "of weights in 8 or 16 bits, which answer but do not learn: take the float32 model"
                           : "of parameters that are for reading only");
    if (!params->transposed) RG_TRY(make_packs(params, true, true));
    rg_grads *g = rg_alloc_zero(sizeof *g);
    if (!g) return RG_ENOMEM;
    g->params = params;
    g->block = rg_alloc_zero(params->numbers * sizeof *g->block);
    g->written = rg_alloc_zero(params->count * sizeof *g->written);
    g->moves = rg_alloc_zero(params->count * sizeof *g->moves);
    if (!g->block || !g->written || !g->moves) {
        rg_grads_free(g);
        return RG_ENOMEM;
    }
    *out = g;
    return RG_OK;
}

void rg_grads_free(rg_grads *g)
{
    if (!g) return;
    rg_final_free(g->final);
    rg_free(g->moves);
    rg_free(g->written);
    rg_free(g->block);
    rg_free(g);
}

rg_status rg_grads__announce(rg_grads *g) { return g->final ? RG_OK : rg_final_new(&g->final, g->params->count); }

void rg_grads_reset(rg_grads *g)
{
    if (!g->params->count) return;
    memset(g->written, 0, g->params->count * sizeof *g->written);
    memset(g->moves, 0, g->params->count * sizeof *g->moves);
}

const rg_real *rg_grads_of(const rg_grads *g, const rg_param *param)
{
    return g->written[param->index] ? g->block + param->offset : NULL;
}

rg_real *rg_grads_block(const rg_grads *g) { return g->block; }

/* ------------------------------------------------------------------------------------------------ kept values */

rg_real *rg_grads__moves(rg_grads *g, const rg_param *kept)
{
    rg_real *at = g->block + kept->offset;
    if (g->moves[kept->index]++ == 0) memset(at, 0, kept->rows * kept->cols * sizeof *at);
    return at;
}

static void update_kept(const rg_param *e, rg_grads *const *grads, size_t count)
{
    size_t moves = 0;
    for (size_t k = 0; k < count; k++) moves += grads[k]->moves[e->index];
    if (!moves || e->frozen) return;
    for (size_t j = 0; j < e->rows * e->cols; j++) {
        double sum = 0;
        for (size_t k = 0; k < count; k++)
            if (grads[k]->moves[e->index]) sum += (double)grads[k]->block[e->offset + j];
        e->data[j] += (rg_real)(sum / (double)moves);
    }
}

void rg_params_update_kept(rg_params *p, rg_grads *const *grads, size_t count)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->entry[i]->kind == RG_KEPT) update_kept(p->entry[i], grads, count);
    for (size_t k = 0; k < count; k++)
        if (p->count) memset(grads[k]->moves, 0, p->count * sizeof *grads[k]->moves);
}
