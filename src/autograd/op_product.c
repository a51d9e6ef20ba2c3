/* op_product.c - products: a b, a b^T, and f(x w + b).
 *
 *   y = a b        da = dy b^T     db = a^T dy
 *   y = a b^T      da = dy b       db = dy^T a
 *
 * A right side that is a parameter was packed once (params.c); the forward product and the input's gradient read the
 * packs. */
#include "autograd/deferred.h"
#include "autograd/params.h"
#include "autograd/tape.h"

typedef struct {
    rg_node       node;
    rg_tensor    *a, *b, *bias;
    rg_activation f;
    bool          nt; /* b stands transposed */
} product_node;

/* f'(z) can be had from y = f(z) alone, so z need not be kept. */
static bool from_output(rg_activation f)
{
    return f == RG_IDENTITY || f == RG_RELU || f == RG_LEAKY_RELU || f == RG_ELU || f == RG_TANH || f == RG_SIGMOID;
}

static bool forward(rg_tape *t, rg_tensor *y, rg_tensor *a, rg_tensor *b, rg_tensor *bias, rg_activation f, bool nt)
{
    const rg_param *w = b->param;
    if (w && rg_pack_there(&w->forward) && nt == (w->kind == RG_TIED)) {
        rg_tape__check(t, rg_product_packed(rg_tape_team(t), a->rows, a->data, a->ld, &w->forward, y->data, y->ld,
                                            false, bias ? bias->data : NULL, f));
    } else if (rg_tape__there(t, a) && rg_tape__there(t, b)) {
        rg_tape__check(t, rg_product(rg_tape_team(t), nt ? RG_NT : RG_NN, a->rows, y->cols, a->cols, a->data, a->ld,
                                     b->data, b->ld, y->data, y->ld, false));
        for (size_t i = 0; bias && i < y->rows; i++) rg_kernel()->axpy(y->cols, y->data + i * y->ld, 1, bias->data);
        if (f != RG_IDENTITY) rg_kernel()->map(f, y->rows * y->cols, y->data, y->data);
    }
    return rg_tape_status(t) == RG_OK;
}

rg_pack rg_tape__pack(rg_tape *t, rg_tensor *w, bool transposed)
{
    if (w->param && w->param->kind == RG_WEIGHT) {
        const rg_pack *own = transposed ? &w->param->transposed : &w->param->forward;
        if (rg_pack_there(own)) return *own;
    }
    rg_pack pack = { transposed ? w->cols : w->rows, transposed ? w->rows : w->cols, NULL, NULL };
    if (!rg_tape__there(t, w)) return pack;
    rg_real *room = rg_tape__reals(t, rg_pack_size(pack.K, pack.N));
    if (room) (transposed ? rg_kernel()->pack_transposed : rg_kernel()->pack)(room, w->data, w->ld, pack.K, pack.N);
    pack.data = room;
    return pack;
}

/* Where a gradient goes; taken before scratch so that scratch can be given back. */
typedef struct {
    rg_real *at;
    bool     add;
} place;

static place place_of(rg_tape *t, rg_tensor *x)
{
    place p = { NULL, false };
    p.at = rg_tape__grad(t, x, &p.add);
    return p;
}

static void backward_left(rg_tape *t, const product_node *n, place da, const rg_real *dz)
{
    const rg_tensor *a = n->a;
    rg_tensor       *b = n->b;
    const rg_param  *w = b->param;
    const size_t     N = n->node.out->cols;
    if (w && w->transposed.data && n->nt == (w->kind == RG_TIED))
        rg_tape__check(t, rg_product_packed(rg_tape_team(t), a->rows, dz, N, &w->transposed, da.at, a->ld, da.add, NULL,
                                            RG_IDENTITY));
    else if (rg_tape__there(t, b))
        rg_tape__check(t, rg_product(rg_tape_team(t), n->nt ? RG_NN : RG_NT, a->rows, a->cols, N, dz, N, b->data, b->ld,
                                     da.at, a->ld, da.add));
}

static void backward_right(rg_tape *t, const product_node *n, place db, const rg_real *dz)
{
    const rg_tensor *a = n->a, *b = n->b;
    const size_t     N = n->node.out->cols;
    if (n->nt) /* db (N, K) = dz^T a */
        rg_tape__check(t, rg_product(rg_tape_team(t), RG_TN, b->rows, b->cols, a->rows, dz, N, a->data, a->ld, db.at,
                                     b->ld, db.add));
    else       /* db (K, N) = a^T dz */
        rg_tape__check(t, rg_product(rg_tape_team(t), RG_TN, b->rows, b->cols, a->rows, a->data, a->ld, dz, N, db.at,
                                     b->ld, db.add));
}

typedef struct {
    rg_activation  f;
    size_t         cols;
    rg_real       *dz;
    const rg_real *y, *dy;
} slope_job;

static void slope_rows(void *context, int member, size_t begin, size_t end)
{
    const slope_job *j = context;
    const size_t     at = begin * j->cols;
    (void)member;
    rg_kernel()->map_backward(j->f, (end - begin) * j->cols, j->dz + at, j->y + at, j->y + at, j->dy + at, false);
}

static void product_backward(rg_tape *t, rg_node *node)
{
    product_node  *n = (product_node *)node;
    rg_tensor     *y = node->out;
    const rg_real *dz = rg_tape__arrived(t, y);
    rg_deferred      *waiting = n->nt ? NULL : rg_deferred_find(t, n->b, y->rows);
    const place       da = place_of(t, n->a), db = waiting ? (place){ NULL, false } : place_of(t, n->b),
                dbias = place_of(t, n->bias);
    rg_arena_point scratch = rg_tape__scratch(t);
    if (n->f != RG_IDENTITY) { /* y = f(z):  dz = f'(z) dy */
        rg_real *room = rg_tape__reals(t, y->rows * y->cols);
        if (!room) return;
        rg_tape__rows(t, y->rows, y->cols, slope_rows, &(slope_job){ n->f, y->cols, room, y->data, dz });
        dz = room;
    }
    if (da.at) backward_left(t, n, da, dz);
    if (db.at) backward_right(t, n, db, dz);
    if (waiting) rg_deferred_add(waiting, y->rows, n->a->data, n->a->ld, dz, y->cols);
    if (dbias.at) rg_tape__column_sums(t, y->rows, y->cols, dbias.at, dz, y->cols, dbias.add);
    rg_tape__release(t, scratch);
}

static rg_tensor *product(rg_tape *t, rg_tensor *a, rg_tensor *b, rg_tensor *bias, rg_activation f, bool nt)
{
    const size_t K = nt ? b->cols : b->rows, N = nt ? b->rows : b->cols;
    if (a->cols != K)
        return rg_tape_fail(t, RG_ESHAPE, "left is %zu x %zu, right %zu x %zu: %zu columns do not meet %zu %s", a->rows,
                            a->cols, b->rows, b->cols, a->cols, K, nt ? "columns" : "rows");
    if (bias && (bias->rows != 1 || bias->cols != N))
        return rg_tape_fail(t, RG_ESHAPE, "the bias is %zu x %zu, it should be 1 x %zu", bias->rows, bias->cols, N);
    rg_tensor *y = rg_tape__tensor(t, a->rows, N, a->layout);
    if (!y) return NULL;
    rg_tape__count(t, 2.0 * (double)a->rows * (double)N * (double)K);
    if (rg_tape__live(t) && !forward(t, y, a, b, bias, f, nt)) return NULL;
    rg_tensor    *inputs[] = { a, b, bias };
    product_node *n = rg_tape__node(t, sizeof *n, y, product_backward, 3, inputs);
    if (n && !nt) rg_deferred_use(t, b, a->rows);
    if (n) n->a = a, n->b = b, n->bias = bias, n->f = f, n->nt = nt;
    if (n && f != RG_IDENTITY) rg_tape__will_need(t, y->rows * N * sizeof(rg_real));
    return y;
}

rg_tensor *rg_matmul(rg_tape *t, rg_tensor *a, rg_tensor *b)
{
    rg_tensor *in[] = { a, b };
    return rg_tape__begin_packed(t, "matmul", 2, in) ? product(t, a, b, NULL, RG_IDENTITY, false) : NULL;
}

rg_tensor *rg_matmul_nt(rg_tape *t, rg_tensor *a, rg_tensor *b)
{
    rg_tensor *in[] = { a, b };
    return rg_tape__begin_packed(t, "matmul_nt", 2, in) ? product(t, a, b, NULL, RG_IDENTITY, true) : NULL;
}

rg_tensor *rg_linear(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f)
{
    rg_tensor *in[] = { x, w };
    if (!rg_tape__begin_packed(t, "linear", 2, in)) return NULL;
    if (from_output(f)) return product(t, x, w, b, f, false);
    return rg_map(t, product(t, x, w, b, RG_IDENTITY, false), f);
}

rg_tensor *rg_linear_nt(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b)
{
    rg_tensor *in[] = { x, w };
    return rg_tape__begin_packed(t, "linear_nt", 2, in) ? product(t, x, w, b, RG_IDENTITY, true) : NULL;
}
