/* optimizer.c - one pass over the parameters: sum the workers' gradients, scale, clip, update, write both packs.
 *
 * The parameters are cut once into pieces that stay in a core's cache while they are read, changed and packed:
 *
 *     packed weight    16 rows (a panel of the transposed pack) x up to 1024 columns
 *     anything else    a run of up to 16384 numbers
 *
 * Two passes over the pieces: sums of squares (for the norm, and to refuse a gradient that is not finite before
 * anything is changed), then the update. Threads take pieces as they get free; what a piece computes does not depend
 * on who takes it, and the squares are added in the order of pieces, so the team's size shows nowhere. */
#include "train/optimizer.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { PIECE_NUMBERS = 1 << 14, PIECE_COLS = 1024, MOST_TAKEN = 4, MOST_WORKERS = 256 };
#define STREAM_NUMBERS ((size_t)4 << 20) /* packs beyond 16 MiB leave the caches anyway: write them past those */

const char *rg_optimizer__array_name(size_t i)
{
    static const char *const name[RG_OPTIMIZER_ARRAYS] = { "m", "v", "d", "average" };
    return name[i];
}

/* ---------------------------------------------------------------------------------------------------- pieces */

static bool packed(const rg_param *e) { return e->kind == RG_WEIGHT || e->kind == RG_TIED; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Cut one entry into pieces; `to` NULL only counts. */
static size_t cut(const rg_param *e, rg_piece *to)
{
    const bool   flat = !packed(e);
    const size_t rows = flat ? 1 : e->rows, cols = flat ? e->rows * e->cols : e->cols;
    if (rows == 0 || cols == 0) return 0;
    const size_t wide = least(cols, flat ? PIECE_NUMBERS : PIECE_COLS);
    size_t       high = PIECE_NUMBERS / (wide * RG_PANEL) * RG_PANEL, n = 0;
    if (high < RG_PANEL) high = RG_PANEL;
    for (size_t r = 0; r < rows; r += high)
        for (size_t c = 0; c < cols; c += wide, n++)
            if (to)
                to[n] = (rg_piece){
                    .entry = e->index, .row = r, .rows = least(high, rows - r), .col = c, .cols = least(wide, cols - c)
                };
    return n;
}

static rg_status cut_all(rg_optimizer *opt)
{
    rg_params *params = opt->params;
    size_t     count = 0, weights = 0;
    for (size_t i = 0; i < params->count; i++)
        if (params->entry[i]->kind != RG_KEPT) count += cut(params->entry[i], NULL);
    if (!(opt->piece = rg_alloc_array(count, sizeof *opt->piece))) return RG_ENOMEM;
    for (size_t i = 0; i < params->count; i++) {
        const rg_param *e = params->entry[i];
        if (e->kind == RG_KEPT) continue;
        opt->pieces += cut(e, opt->piece + opt->pieces);
        if (packed(e)) weights += e->rows * e->cols;
    }
    opt->stream = weights > STREAM_NUMBERS;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ life */

static double given(double value, double otherwise) { return value < 0 ? otherwise : value; }

static rg_status check(const rg_optimizer_config *c)
{
    const struct { const char *name; double value, end;
    } rows[] = {
        { "a (momentum, first beta)", c->a, 1 },
        { "b (second beta, decay of averages)", c->b, 1 },
        { "smoothing", c->smoothing, 1 },
        { "epsilon", c->eps, INFINITY },
        { "decay", c->decay, INFINITY },
        { "start", c->start, INFINITY },
        { "the largest gradient norm", c->clip_norm, INFINITY },
        { "the largest gradient value", c->clip_value, INFINITY },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(rows[i].value >= 0 && rows[i].value < rows[i].end))
            return rg_fail(RG_EINVAL, "optimiser %s: %s is %g, it must be from 0 to less than %g", c->name,
                           rows[i].name, rows[i].value, rows[i].end);
    return RG_OK;
}

static rg_status make_arrays(rg_optimizer *opt, const rg_optimizer_row *row)
{
    const rg_params *params = opt->params;
    const bool       keeps[RG_OPTIMIZER_ARRAYS] = { row->m, row->v, row->d, opt->config.smoothing > 0 };
    for (size_t i = 0; i < RG_OPTIMIZER_ARRAYS; i++)
        if (keeps[i] && !(opt->array[i] = rg_alloc_zero(params->numbers * sizeof(rg_real)))) return RG_ENOMEM;
    if (opt->array[3] && params->numbers) memcpy(opt->array[3], params->block, params->numbers * sizeof(rg_real));
    if (opt->rule == RG_RULE_ADAGRAD)
        for (size_t i = 0; i < params->numbers; i++) opt->array[1][i] = (rg_real)opt->config.start;
    return RG_OK;
}

rg_status rg_optimizer_new(rg_optimizer **out, rg_params *params, const rg_optimizer_config *config)
{
    *out = NULL;
    const rg_optimizer_kind *kind;
    rg_optimizer_row         row;
    RG_TRY(rg_optimizer__find(&kind, &row, config->name));
    if (!params->block) return rg_fail(RG_EINVAL, "an optimiser needs parameters that are built");
    rg_optimizer *opt = rg_alloc_zero(sizeof *opt);
    if (!opt) return RG_ENOMEM;
    opt->params = params;
    opt->config = *config;
    opt->config.name = kind->name;
    opt->config.a = given(config->a, kind->a);
    opt->config.b = given(config->b, kind->b);
    opt->config.eps = given(config->eps, kind->eps);
    opt->rate = kind->rate;
    opt->rule = row.rule;
    opt->decoupled = row.decoupled;
    if (opt->rule == RG_RULE_MOMENTUM && opt->config.a == 0) {
        opt->rule = RG_RULE_DESCENT;
        row.m = false;
    }
    rg_status status = check(&opt->config);
    if (status == RG_OK) status = make_arrays(opt, &row);
    if (status == RG_OK) status = cut_all(opt);
    if (status != RG_OK) rg_optimizer_free(opt);
    else *out = opt;
    return status;
}

void rg_optimizer_free(rg_optimizer *opt)
{
    if (!opt) return;
    for (size_t i = 0; i < RG_OPTIMIZER_ARRAYS; i++) rg_free(opt->array[i]);
    rg_free(opt->piece);
    rg_free(opt);
}

uint64_t rg_optimizer_steps(const rg_optimizer *opt) { return opt->steps; }
double rg_optimizer_rate(const rg_optimizer *opt) { return opt->rate; }

/* -------------------------------------------------------------------------------------------------- the pass */

typedef struct pass {
    rg_optimizer      *opt;
    const rg_optimise *loops;
    rg_grads *const   *grads;
    size_t             workers;
    double             rate;
    rg_update          update; /* what all entries share */
    atomic_size_t      next;   /* piece nobody has taken */
    size_t             take;   /* pieces at a time */
    void (*work)(struct pass *pass, rg_piece *piece, const rg_real *const *grads, size_t count);
} pass;

/* The blocks of the workers that have a gradient of this entry, in their order. */
static size_t blocks_of(const pass *p, const rg_param *e, const rg_real **blocks)
{
    size_t n = 0;
    for (size_t k = 0; k < p->workers; k++)
        if (p->grads[k]->written[e->index]) blocks[n++] = p->grads[k]->block;
    return n;
}

static void take_pieces(void *context, int member, size_t begin, size_t end)
{
    pass          *p = context;
    const rg_real *blocks[MOST_WORKERS];
    (void)member, (void)begin, (void)end;
    for (;;) {
        size_t first = atomic_fetch_add_explicit(&p->next, p->take, memory_order_relaxed);
        if (first >= p->opt->pieces) return;
        for (size_t i = first; i < least(first + p->take, p->opt->pieces); i++) {
            rg_piece       *piece = &p->opt->piece[i];
            const rg_param *e = p->opt->params->entry[piece->entry];
            if (!e->frozen) p->work(p, piece, blocks, blocks_of(p, e, blocks));
        }
    }
}

static void run(pass *p, rg_team *team)
{
    atomic_store(&p->next, 0);
    p->take = least(MOST_TAKEN, p->opt->pieces / (8 * (size_t)rg_team_size(team)) + 1);
    rg_team_for(team, (size_t)rg_team_size(team), 1, take_pieces, p);
}

/* Call `each` number range of a piece: one when its rows are whole, else one a row. */
static size_t runs(const rg_piece *piece, const rg_param *e, size_t *length)
{
    bool whole = !packed(e) || piece->cols == e->cols;
    *length = whole ? piece->rows * piece->cols : piece->cols;
    return whole ? 1 : piece->rows;
}

static size_t start_of(const rg_piece *piece, const rg_param *e, size_t run_number)
{
    return e->offset + (piece->row + run_number) * (packed(e) ? e->cols : 0) + piece->col;
}

static void add_squares(pass *p, rg_piece *piece, const rg_real *const *grads, size_t count)
{
    const rg_param *e = p->opt->params->entry[piece->entry];
    size_t          length, n = runs(piece, e, &length);
    piece->squares = 0;
    for (size_t i = 0; i < n; i++) piece->squares += p->loops->squares(grads, count, start_of(piece, e, i), length);
}

/* A weight (in, out) lies as it is in its forward pack, a tied table (V, D) in its transposed one. */
static void pack_piece(const pass *p, const rg_piece *piece, const rg_param *e)
{
    const rg_pack *straight = e->kind == RG_WEIGHT ? &e->forward : &e->transposed;
    const rg_pack *turned = e->kind == RG_WEIGHT ? &e->transposed : &e->forward;
    const rg_real *w = e->data + piece->row * e->cols + piece->col;
    const bool     stream = p->opt->stream;
    if (straight->data)
        p->loops->pack((rg_real *)straight->data + piece->col * straight->K + piece->row * RG_PANEL, straight->K, w,
                       e->cols, piece->rows, piece->cols, stream);
    if (turned->data)
        p->loops->pack_transposed((rg_real *)turned->data + piece->row * turned->K + piece->col * RG_PANEL, turned->K,
                                  w, e->cols, piece->rows, piece->cols, stream);
}

static void update_piece(pass *p, rg_piece *piece, const rg_real *const *grads, size_t count)
{
    const rg_param *e = p->opt->params->entry[piece->entry];
    rg_update       u = p->update;
    const double    rate = p->rate * e->rate, decay = p->opt->config.decay + e->decay;
    u.rate = (rg_real)rate;
    u.rate1 = (rg_real)(e->rate * (double)u.rate1); /* rate1 came with the schedule's rate in it */
    u.decay = p->opt->decoupled ? 0 : (rg_real)decay;
    u.keep = p->opt->decoupled ? (rg_real)(1 - rate * decay) : 1;
    size_t length, n = runs(piece, e, &length);
    for (size_t i = 0; i < n; i++) p->loops->update(&u, grads, count, start_of(piece, e, i), length);
    if (packed(e)) pack_piece(p, piece, e);
}

static void prepare(pass *p, double scale, uint64_t number)
{
    rg_optimizer              *opt = p->opt;
    const rg_optimizer_config *c = &opt->config;
    const double               t = (double)number;
    const double               smooth = 1 - fmin(1 - c->smoothing, (t + 1) / (t + 10)); /* the first steps count more */
    p->update = (rg_update){
        .rule = opt->rule, .w = opt->params->block,
        .m = opt->array[0], .v = opt->array[1], .d = opt->array[2], .average = opt->array[3],
        .scale = (rg_real)scale, .limit = (rg_real)c->clip_value, .keep = 1,
        .a = (rg_real)c->a, .b = (rg_real)c->b, .eps = (rg_real)c->eps,
        .rate1 = (rg_real)(p->rate / (1 - pow(c->a, t))), .rate2 = (rg_real)(1 / sqrt(1 - pow(c->b, t))),
        .smooth = (rg_real)smooth,
    };
}

/* The norm of the summed gradient times `scale`. */
static rg_status find_norm(double *out, pass *p, double scale, rg_team *team)
{
    rg_optimizer *opt = p->opt;
    double        total = 0;
    p->work = add_squares;
    run(p, team);
    for (size_t i = 0; i < opt->pieces; i++) {
        const rg_param *e = opt->params->entry[opt->piece[i].entry];
        if (e->frozen) continue;
        if (!isfinite(opt->piece[i].squares)) return rg_fail(RG_ENUMBER, "the gradient of '%s' is not finite", e->name);
        total += opt->piece[i].squares;
    }
    *out = sqrt(total) * fabs(scale);
    return RG_OK;
}

rg_status rg_optimizer__step(rg_step_report *out, rg_optimizer *opt, rg_grads *const *grads, size_t workers,
                             double count, double rate, uint64_t number, rg_team *team)
{
    if (workers > MOST_WORKERS) return rg_fail(RG_ELIMIT, "%zu workers; at most %d", workers, MOST_WORKERS);
    for (size_t k = 0; k < workers; k++)
        if (grads[k]->params != opt->params)
            return rg_fail(RG_EMATCH, "the gradients of worker %zu belong to other parameters", k);
    if (!(count > 0) || !isfinite(count))
        return rg_fail(RG_EINVAL, "the gradient of %g labels cannot be averaged", count);
    if (!isfinite(rate)) return rg_fail(RG_ENUMBER, "the learning rate is %g", rate);
    pass           p = { .opt = opt, .loops = rg_optimise_chosen(), .grads = grads, .workers = workers, .rate = rate };
    rg_step_report report = {0};
    double         scale = 1 / count;
    RG_TRY(find_norm(&report.norm, &p, scale, team));
    report.clipped = opt->config.clip_norm > 0 && report.norm > opt->config.clip_norm;
    if (report.clipped) scale *= opt->config.clip_norm / report.norm;
    prepare(&p, scale, number);
    p.work = update_piece;
    run(&p, team);
    rg_params_update_kept(opt->params, grads, workers);
    opt->steps++;
    if (out) *out = report;
    return RG_OK;
}

rg_status rg_optimizer_step(rg_step_report *out, rg_optimizer *opt, rg_grads *const *grads, size_t workers,
                            double count, double rate, rg_team *team)
{
    return rg_optimizer__step(out, opt, grads, workers, count, rate, opt->steps + 1, team);
}

static void swap_piece(pass *p, rg_piece *piece, const rg_real *const *grads, size_t count)
{
    const rg_param *e = p->opt->params->entry[piece->entry];
    size_t          length, n = runs(piece, e, &length);
    (void)grads, (void)count;
    for (size_t i = 0; i < n; i++) {
        rg_real *w = p->opt->params->block + start_of(piece, e, i), *average = p->opt->array[3] + start_of(piece, e, i);
        for (size_t j = 0; j < length; j++) {
            rg_real other = average[j];
            average[j] = w[j];
            w[j] = other;
        }
    }
    if (packed(e)) pack_piece(p, piece, e);
}

rg_status rg_optimizer_swap(rg_optimizer *opt, rg_team *team)
{
    if (!opt->array[3]) return RG_OK;
    pass p = { .opt = opt, .loops = rg_optimise_chosen(), .work = swap_piece };
    run(&p, team);
    return RG_OK;
}
