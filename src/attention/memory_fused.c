/* memory_fused.c - a step of all heads in one op. See memory_fused.h for what stands where in a row, ntm.c for the
 * formulas.
 *
 * Letters as there: N slots, W numbers in a slot, H heads of which R read; vectors of N numbers are named m (a
 * column of memory), w (weights). */
#include "attention/memory_fused.h"
#include "autograd/tape.h"

#include <math.h>
#include <string.h>

#define UNIT_EPS 1e-8 /* of the cosine, as rg_unit_blocks */

typedef struct {
    size_t weights, reads, all; /* where they begin in a row; memory at 0 */
} places;

/* What backward needs of a machine's step, one block. */
typedef struct {
    rg_real *told, *unit, *key_length; /* told after its activations; keys / (|key| + eps); |key| */
    rg_real *length, *inverse;         /* |slot|, 1 / (|slot| + eps)    (N)    */
    rg_real *cosine, *content, *moved, *logs; /*                        (H, N) */
} kept;

typedef struct {
    rg_node        node;
    rg_ntm_sizes   sizes;
    rg_ntm_columns columns;
    places         at;
    rg_tensor     *told, *before;
    rg_tensor     *first_weights, *first_reads; /* of the start */
    rg_real       *blocks; /* B blocks of kept */
    size_t         block;  /* numbers in one   */
    rg_real       *work;   /* scratch of each member of the team */
    const rg_real *d;      /* while backward runs */
    rg_real       *dtold, *dbefore;
} step_node;

rg_ntm_columns rg_ntm_columns_of(const rg_ntm_sizes *s)
{
    rg_ntm_columns c = { .H = s->readers + s->writers };
    c.beta = c.key + c.H * s->width;
    c.gamma = c.beta + c.H;
    c.gate = c.gamma + c.H;
    c.shift = c.gate + c.H;
    c.erase = c.shift + c.H * RG_NTM_SHIFTS;
    c.add = c.erase + s->writers * s->width;
    c.all = c.add + s->writers * s->width;
    return c;
}

static places places_of(const rg_ntm_sizes *s)
{
    places p = { .weights = s->width * s->rows };
    p.reads = p.weights + (s->readers + s->writers) * s->rows;
    p.all = (p.reads + s->readers * s->width + 15) / 16 * 16;
    return p;
}

static size_t whole_vectors(size_t n) { return (n + 15) / 16 * 16; }

static size_t kept_size(const step_node *n)
{
    const size_t N = n->sizes.rows, H = n->columns.H;
    return 2 * whole_vectors(N) + 4 * whole_vectors(H * N) + whole_vectors(n->columns.all) +
           whole_vectors(H * n->sizes.width) + whole_vectors(H);
}

static kept kept_of(const step_node *n, size_t b)
{
    const size_t N = n->sizes.rows, H = n->columns.H, heads = whole_vectors(H * N);
    kept         k = { .length = n->blocks + b * n->block };
    k.inverse = k.length + whole_vectors(N);
    k.cosine = k.inverse + whole_vectors(N);
    k.content = k.cosine + heads;
    k.moved = k.content + heads;
    k.logs = k.moved + heads;
    k.told = k.logs + heads;
    k.unit = k.told + whole_vectors(n->columns.all);
    k.key_length = k.unit + whole_vectors(H * n->sizes.width);
    return k;
}

/* ---------------------------------------------------------------------------------------------------------- forward */

static void activate(const step_node *n, const kept *k, const rg_real *told)
{
    const rg_kernels     *K = rg_kernel();
    const rg_ntm_columns *c = &n->columns;
    const size_t          W = n->sizes.width, written = c->add - c->erase;
    K->map(RG_TANH, c->beta, k->told, told);
    K->map(RG_SOFTPLUS, 2 * c->H, k->told + c->beta, told + c->beta);
    K->map(RG_SIGMOID, c->H, k->told + c->gate, told + c->gate);
    for (size_t h = 0; h < c->H; h++)
        K->softmax(RG_NTM_SHIFTS, k->told + c->shift + h * RG_NTM_SHIFTS, told + c->shift + h * RG_NTM_SHIFTS);
    K->map(RG_SIGMOID, written, k->told + c->erase, told + c->erase);
    K->map(RG_TANH, written, k->told + c->add, told + c->add);
    for (size_t h = 0; h < c->H; h++) {
        const rg_real *key = k->told + h * W;
        k->key_length[h] = (rg_real)sqrt((double)K->dot(W, key, key));
        K->scale(W, k->unit + h * W, 1 / (k->key_length[h] + (rg_real)UNIT_EPS), key);
    }
}

static rg_real root(rg_real x)
{
    return sizeof x == sizeof(float) ? (rg_real)sqrtf((float)x) : (rg_real)sqrt((double)x);
}

/* cosine of every key with every slot: sums over the columns of memory */
static void cosines(const step_node *n, const kept *k, const rg_real *memory)
{
    const rg_kernels *K = rg_kernel();
    const size_t      N = n->sizes.rows, W = n->sizes.width, H = n->columns.H;
    memset(k->length, 0, N * sizeof *k->length);
    memset(k->cosine, 0, H * N * sizeof *k->cosine);
    for (size_t c = 0; c < W; c++) {
        const rg_real *m = memory + c * N;
        K->mul(N, k->length, m, m, true);
        K->heads_axpy(H, N, k->cosine, N, k->unit + c, W, m, 0);
    }
    for (size_t x = 0; x < N; x++) {
        k->length[x] = root(k->length[x]);
        k->inverse[x] = 1 / (k->length[x] + (rg_real)UNIT_EPS);
    }
    for (size_t h = 0; h < H; h++) K->mul(N, k->cosine + h * N, k->cosine + h * N, k->inverse, false);
}

/* y(x) += s a(x - by), by = -1, 0, 1 around n slots */
static void roll_add(size_t n, rg_real *y, int by, rg_real s, const rg_real *a)
{
    const rg_kernels *K = rg_kernel();
    if (by == 0) {
        K->axpy(n, y, s, a);
    } else if (by > 0) {
        K->axpy(n - 1, y + 1, s, a);
        y[0] += s * a[n - 1];
    } else {
        K->axpy(n - 1, y, s, a + 1);
        y[n - 1] += s * a[0];
    }
}

/* sum over x of d(x) a(x - by) */
static rg_real roll_dot(size_t n, const rg_real *d, int by, const rg_real *a)
{
    const rg_kernels *K = rg_kernel();
    if (by == 0) return K->dot(n, d, a);
    return by > 0 ? K->dot(n - 1, d + 1, a) + d[0] * a[n - 1] : K->dot(n - 1, d, a + 1) + d[n - 1] * a[0];
}

static void gate(size_t n, rg_real *y, rg_real g, const rg_real *content, const rg_real *before)
{
    for (size_t x = 0; x < n; x++) y[x] = before[x] + g * (content[x] - before[x]);
}

/* Weights of head h; `gated` is scratch. */
static void address(const step_node *n, const kept *k, size_t h, rg_real *w, const rg_real *before, rg_real *gated)
{
    const rg_kernels     *K = rg_kernel();
    const rg_ntm_columns *c = &n->columns;
    const size_t          N = n->sizes.rows;
    rg_real              *content = k->content + h * N, *moved = k->moved + h * N, *logs = k->logs + h * N;
    K->scale(N, content, k->told[c->beta + h], k->cosine + h * N);
    K->softmax(N, content, content);
    gate(N, gated, k->told[c->gate + h], content, before);
    memset(moved, 0, N * sizeof *moved);
    for (int j = 0; j < RG_NTM_SHIFTS; j++)
        roll_add(N, moved, j - 1, k->told[c->shift + h * RG_NTM_SHIFTS + (size_t)j], gated);
    for (size_t x = 0; x < N; x++) moved[x] += (rg_real)RG_NTM_TINY;
    K->map(RG_LOG, N, logs, moved);
    K->scale(N, w, 1 + k->told[c->gamma + h], logs);
    K->softmax(N, w, w);
}

/* after = m (1 - w1 e1) (1 - w2 e2) .. + w1 a1 + w2 a2 ..     column by column; the last to erase is the first to add */
static void change(const step_node *n, const kept *k, rg_real *after, const rg_real *memory, const rg_real *w)
{
    const size_t   N = n->sizes.rows, W = n->sizes.width, last = n->sizes.writers - 1;
    const rg_real *erase = k->told + n->columns.erase, *add = k->told + n->columns.add;
    for (size_t c = 0; c < W; c++) {
        const rg_real *from = memory + c * N;
        rg_real       *y = after + c * N;
        for (size_t h = 0; h < last; h++, from = y) rg_kernel()->rewrite(N, y, from, erase[h * W + c], 0, w + h * N);
        rg_kernel()->rewrite(N, y, from, erase[last * W + c], add[last * W + c], w + last * N);
        for (size_t h = 0; h < last; h++) rg_kernel()->axpy(N, y, add[h * W + c], w + h * N);
    }
}

static void step_rows(void *context, int member, size_t begin, size_t end)
{
    const step_node *n = context;
    const size_t     N = n->sizes.rows, W = n->sizes.width, R = n->sizes.readers;
    (void)member;
    for (size_t b = begin; b < end; b++) {
        const kept     k = kept_of(n, b);
        const rg_real *memory = n->before->data + b * n->at.all, *before = memory + n->at.weights;
        rg_real *after = n->node.out->data + b * n->at.all, *w = after + n->at.weights, *reads = after + n->at.reads;
        activate(n, &k, n->told->data + b * n->told->ld);
        cosines(n, &k, memory);
        for (size_t h = 0; h < n->columns.H; h++) address(n, &k, h, w + h * N, before + h * N, after);
        for (size_t r = 0; r < R; r++) rg_kernel()->heads_dot(W, N, reads + r * W, 1, 1, memory, N, w + r * N, 0);
        change(n, &k, after, memory, w + R * N);
        memset(reads + R * W, 0, (n->at.all - n->at.reads - R * W) * sizeof *reads);
    }
}

/* --------------------------------------------------------------------------------------------------------- backward */

/* forward was  y = m prod_h (1 - w_h e_h) + sum_h w_h a_h, of column c. dm is written, dw gets its share, dtold is written; `left` is
 * scratch.
 *   add     da_h = w_h . d                    dw_h += a_h d
 *   erase   de_h = - w_h . (d m_h)            dw_h -= e_h d m_h        d = d (1 - w_h e_h)      m_h: what erase h found, the last first */
static void change_backward(const step_node *n, const kept *k, size_t c, rg_real *dm, const rg_real *d,
                            const rg_real *m, const rg_real *w, rg_real *dw, rg_real *dtold, rg_real *left)
{
    const rg_kernels *K = rg_kernel();
    const size_t      N = n->sizes.rows, W = n->sizes.width, last = n->sizes.writers - 1, erase = n->columns.erase + c,
                 add = n->columns.add + c;
    for (size_t h = 0; h < last; h++)
        dtold[add + h * W] = K->axpy_dot(N, dw + h * N, k->told[add + h * W], d, w + h * N);
    for (size_t h = last + 1; h-- > 0; d = dm) {
        const rg_real *found = m;
        rg_real        none, *da = h == last ? &dtold[add + h * W] : &none;
        for (size_t before = 0; before < h; before++, found = left)
            K->rewrite(N, left, found, k->told[erase + before * W], 0, w + before * N);
        K->rewrite_backward(N, dm, dw + h * N, &dtold[erase + h * W], da, d, found, k->told[erase + h * W],
                            h == last ? k->told[add + h * W] : 0, w + h * N);
    }
}

/* dw (N) of head h becomes the gradient of e = beta cosine; dbefore gets its share, dtold those of gamma, shifts,
 * gate and beta. */
static void address_backward(const step_node *n, const kept *k, size_t h, rg_real *dw, const rg_real *w,
                             const rg_real *before, rg_real *dbefore, rg_real *dtold, rg_real *scratch)
{
    const rg_kernels     *K = rg_kernel();
    const rg_ntm_columns *c = &n->columns;
    const size_t          N = n->sizes.rows;
    const rg_real        *content = k->content + h * N, *moved = k->moved + h * N,
                  *shift = k->told + c->shift + h * RG_NTM_SHIFTS;
    const rg_real         g = k->told[c->gate + h], gamma = 1 + k->told[c->gamma + h];
    rg_real              *gated = scratch, *dgated = scratch + N;
    K->softmax_backward(N, dw, w, dw, false); /* w = softmax(gamma log moved) */
    dtold[c->gamma + h] = K->dot(N, dw, k->logs + h * N);
    for (size_t x = 0; x < N; x++) dw[x] = gamma * dw[x] / moved[x];
    gate(N, gated, g, content, before);
    memset(dgated, 0, N * sizeof *dgated);
    for (int j = 0; j < RG_NTM_SHIFTS; j++) {
        roll_add(N, dgated, 1 - j, shift[j], dw);
        dtold[c->shift + h * RG_NTM_SHIFTS + (size_t)j] = roll_dot(N, dw, j - 1, gated);
    }
    K->axpy(N, dbefore, 1 - g, dgated);
    dtold[c->gate + h] = K->dot(N, dgated, content) - K->dot(N, dgated, before);
    K->scale(N, dw, g, dgated);
    K->softmax_backward(N, dw, content, dw, false); /* content = softmax(beta cosine) */
    dtold[c->beta + h] = K->dot(N, dw, k->cosine + h * N);
}

/* forward was  cosine(h, x) = unit_h . m_x / s_x, s = |m_x| + eps. With p = beta de / s and q = sum_h beta de cosine / (|m_x| s):
 *   dm_x += sum_h p_h unit_h - q m_x        dunit_h = sum_x p_h m_x        dkey = dunit / (|key| + eps) - unit (unit . dunit) / |key| */
static void cosines_backward(const step_node *n, const kept *k, rg_real *de, const rg_real *memory, rg_real *dmemory,
                             rg_real *dtold, rg_real *q)
{
    const rg_kernels *K = rg_kernel();
    const size_t      N = n->sizes.rows, W = n->sizes.width, H = n->columns.H;
    memset(q, 0, N * sizeof *q);
    for (size_t h = 0; h < H; h++) {
        rg_real *p = de + h * N;
        K->scale(N, p, k->told[n->columns.beta + h], p);
        K->mul(N, p, p, k->inverse, false);
        K->mul(N, q, p, k->cosine + h * N, true);
    }
    for (size_t x = 0; x < N; x++) q[x] = k->length[x] > 0 ? -q[x] / k->length[x] : 0;
    for (size_t c = 0; c < W; c++) {
        K->mul(N, dmemory + c * N, q, memory + c * N, true);
        for (size_t h = 0; h < H; h++)
            dtold[h * W + c] = K->axpy_dot(N, dmemory + c * N, k->unit[h * W + c], de + h * N, memory + c * N);
    }
    for (size_t h = 0; h < H; h++) {
        const rg_real *unit = k->unit + h * W, r = k->key_length[h], along = K->dot(W, unit, dtold + h * W);
        K->scale(W, dtold + h * W, 1 / (r + (rg_real)UNIT_EPS), dtold + h * W);
        if (r > 0) K->axpy(W, dtold + h * W, -along / r, unit);
    }
}

/* dtold through its activations, added to what is there */
static void activate_backward(const step_node *n, const kept *k, rg_real *to, const rg_real *d)
{
    const rg_kernels     *K = rg_kernel();
    const rg_ntm_columns *c = &n->columns;
    const size_t          written = c->add - c->erase;
    K->map_backward(RG_TANH, c->beta, to, NULL, k->told, d, true);
    K->map_backward(RG_SOFTPLUS, 2 * c->H, to + c->beta, NULL, k->told + c->beta, d + c->beta, true);
    K->map_backward(RG_SIGMOID, c->H, to + c->gate, NULL, k->told + c->gate, d + c->gate, true);
    for (size_t h = 0; h < c->H; h++) {
        const size_t at = c->shift + h * RG_NTM_SHIFTS;
        K->softmax_backward(RG_NTM_SHIFTS, to + at, k->told + at, d + at, true);
    }
    K->map_backward(RG_SIGMOID, written, to + c->erase, NULL, k->told + c->erase, d + c->erase, true);
    K->map_backward(RG_TANH, written, to + c->add, NULL, k->told + c->add, d + c->add, true);
}

static size_t scratch_size(const step_node *n)
{
    return whole_vectors((n->columns.H + 2) * n->sizes.rows + n->columns.all);
}

static void back_rows(void *context, int member, size_t begin, size_t end)
{
    const step_node  *n = context;
    const rg_kernels *K = rg_kernel();
    const size_t      N = n->sizes.rows, W = n->sizes.width, R = n->sizes.readers, H = n->columns.H;
    rg_real *dw = n->work + (size_t)member * scratch_size(n), *scratch = dw + H * N, *dtold = scratch + 2 * N;
    for (size_t b = begin; b < end; b++) {
        const kept     k = kept_of(n, b);
        const rg_real *memory = n->before->data + b * n->at.all, *before = memory + n->at.weights,
                      *w = n->node.out->data + b * n->at.all + n->at.weights;
        const rg_real *d = n->d + b * n->at.all, *dreads = d + n->at.reads;
        rg_real       *dmemory = n->dbefore + b * n->at.all, *dbefore = dmemory + n->at.weights;
        memcpy(dw, d + n->at.weights, H * N * sizeof *dw);
        for (size_t c = 0; c < W; c++)
            change_backward(n, &k, c, dmemory + c * N, d + c * N, memory + c * N, w + R * N, dw + R * N, dtold,
                            scratch);
        for (size_t r = 0; r < R; r++) { /* reads = sum_x w m */
            K->heads_axpy(W, N, dmemory, N, dreads + r * W, 1, w + r * N, 0);
            K->heads_axpy(W, N, dw + r * N, 0, dreads + r * W, 1, memory, N);
        }
        memset(dbefore, 0, (n->at.all - n->at.weights) * sizeof *dbefore);
        for (size_t h = 0; h < H; h++)
            address_backward(n, &k, h, dw + h * N, w + h * N, before + h * N, dbefore + h * N, dtold, scratch);
        cosines_backward(n, &k, dw, memory, dmemory, dtold, scratch);
        if (n->dtold) activate_backward(n, &k, n->dtold + b * n->told->ld, dtold);
    }
}

static void step_backward(rg_tape *t, rg_node *node)
{
    step_node *n = (step_node *)node;
    const size_t B = n->before->rows, numbers = B * n->at.all;
    bool       add = false;
    n->d = rg_tape__arrived(t, node->out);
    n->dtold = rg_tape__grad_add(t, n->told);
    rg_real             *place = rg_tape__grad(t, n->before, &add);
    const rg_arena_point scratch = rg_tape__scratch(t);
    n->dbefore = place && !add ? place : rg_tape__reals(t, numbers);
    n->work = rg_tape__reals(t, (size_t)rg_team_size(rg_tape_team(t)) * scratch_size(n));
    if (rg_tape_status(t) != RG_OK) return;
    rg_tape__rows(t, B, 20 * n->at.all, back_rows, n);
    if (place && add) rg_kernel()->axpy(numbers, place, 1, n->dbefore);
    rg_tape__release(t, scratch);
}

rg_tensor *rg_ntm_step(rg_tape *t, const rg_ntm_sizes *sizes, rg_tensor *told, rg_tensor *before)
{
    rg_tensor *in[] = { told, before };
    if (!rg_tape__begin(t, "ntm_step", 2, in)) return NULL;
    step_node now = {
        .sizes = *sizes, .columns = rg_ntm_columns_of(sizes), .at = places_of(sizes), .told = told, .before = before
    };
    if (told->cols != now.columns.all || before->cols != now.at.all || told->rows != before->rows ||
        before->ld != before->cols)
        return rg_tape_fail(t, RG_ESHAPE, "told %zu x %zu, machines %zu x %zu; they need %zu and %zu columns",
                            told->rows, told->cols, before->rows, before->cols, now.columns.all, now.at.all);
    rg_tensor *after = rg_tape__tensor(t, before->rows, before->cols, NULL);
    if (!after) return NULL;
    now.node.out = after;
    now.block = kept_size(&now);
    const rg_arena_point dropped = rg_tape__scratch(t);
    if (rg_tape__live(t) && (now.blocks = rg_tape__reals(t, before->rows * now.block)))
        rg_tape__rows(t, before->rows, 8 * now.at.all, step_rows, &now);
    if (rg_tape_status(t) != RG_OK) return NULL;
    rg_tape__count(t, (double)before->rows * (double)(sizes->rows * sizes->width) *
                          (double)(2 + 4 * now.columns.H + 2 * sizes->writers));
    step_node *n = rg_tape__node(t, sizeof *n, after, step_backward, 2, in);
    if (n) now.node = n->node, *n = now, rg_tape__will_keep(t, before->rows * now.block * sizeof(rg_real));
    else if (rg_tape__live(t)) rg_tape__release(t, dropped);
    return after;
}

/* ------------------------------------------------------------------------------------------------------------ start */

/* All machines start alike: one gradient, summed over them. */
static void start_backward(rg_tape *t, rg_node *node)
{
    const step_node *n = (step_node *)node;
    const size_t     N = n->sizes.rows, H = n->columns.H, reads = n->sizes.readers * n->sizes.width;
    const rg_real   *d = rg_tape__arrived(t, node->out), *w = node->out->data + n->at.weights;
    rg_real         *dweights = rg_tape__grad_add(t, n->first_weights), *dreads = rg_tape__grad_add(t, n->first_reads);
    const rg_arena_point scratch = rg_tape__scratch(t);
    rg_real             *sum = rg_tape__reals(t, n->at.all);
    if (!sum) return;
    rg_rows__column_sums(node->out->rows, n->at.all, sum, d, n->at.all, false);
    for (size_t h = 0; dweights && h < H; h++) {
        rg_real *e = sum + n->at.weights + h * N;
        rg_kernel()->softmax_backward(N, e, w + h * N, e, false);
        for (size_t x = 0; x < N; x++) dweights[x * n->first_weights->ld + h] += e[x];
    }
    if (dreads) rg_kernel()->axpy(reads, dreads, 1, sum + n->at.reads);
    rg_tape__release(t, scratch);
}

static void start_row(const step_node *n, rg_real *row, double fill, double focus)
{
    const size_t N = n->sizes.rows, reads = n->sizes.readers * n->sizes.width;
    for (size_t i = 0; i < n->at.weights; i++) row[i] = (rg_real)fill;
    for (size_t h = 0; h < n->columns.H; h++) {
        rg_real *w = row + n->at.weights + h * N;
        for (size_t x = 0; x < N; x++)
            w[x] = n->first_weights->data[x * n->first_weights->ld + h] + (x == 0 ? (rg_real)focus : 0);
        rg_kernel()->softmax(N, w, w);
    }
    memset(row + n->at.reads, 0, (n->at.all - n->at.reads) * sizeof *row);
    memcpy(row + n->at.reads, n->first_reads->data, reads * sizeof *row);
}

rg_tensor *rg_ntm_start(rg_tape *t, const rg_ntm_sizes *sizes, size_t B, rg_tensor *first_weights,
                        rg_tensor *first_reads, double fill, double focus)
{
    rg_tensor *in[] = { first_weights, first_reads };
    if (!rg_tape__begin(t, "ntm_start", 2, in)) return NULL;
    step_node now = { .sizes = *sizes,
                      .columns = rg_ntm_columns_of(sizes),
                      .at = places_of(sizes),
                      .first_weights = first_weights,
                      .first_reads = first_reads };
    if (first_weights->rows != sizes->rows || first_weights->cols != now.columns.H || first_reads->rows != 1 ||
        first_reads->cols != sizes->readers * sizes->width)
        return rg_tape_fail(t, RG_ESHAPE,
                            "first weights %zu x %zu, first reads %zu x %zu; memory of %zu x %zu, %zu heads",
                            first_weights->rows, first_weights->cols, first_reads->rows, first_reads->cols, sizes->rows,
                            sizes->width, now.columns.H);
    rg_tensor *y = rg_tape__tensor(t, B, now.at.all, NULL);
    if (!y) return NULL;
    if (rg_tape__live(t) && B) start_row(&now, y->data, fill, focus);
    for (size_t b = 1; rg_tape__live(t) && b < B; b++) memcpy(y->data + b * y->ld, y->data, y->cols * sizeof *y->data);
    step_node *n = rg_tape__node(t, sizeof *n, y, start_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    return y;
}

rg_tensor *rg_ntm_reads(rg_tape *t, const rg_ntm_sizes *sizes, rg_tensor *machines)
{
    return rg_columns(t, machines, places_of(sizes).reads, sizes->readers * sizes->width);
}
