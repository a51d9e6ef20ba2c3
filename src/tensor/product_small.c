/* product_small.c - products with weights of one or two bytes: the rows become integers once, then members split the
 * columns, or the rows when there are many. */
#include "tensor/product_small.h"

#include "tensor/product.h"

enum { NEAR_BYTES = 16384, FEW_ROWS = 256, ROW_GRAIN = 24, WIDE = 3 /* panels that tall tiles take at a time */ };

typedef struct job {
    const rg_small      *b;
    const rg_int8_loops *loops;
    size_t               M, lda, ldc, row; /* row: bytes of a row as integers */
    const rg_real       *a, *bias;
    rg_real             *c;
    bool                 add;
    rg_activation        f;
    char                *left;
    float               *scale;
} job;

static void quantize_rows(void *context, int member, size_t begin, size_t end)
{
    const job *j = context;
    (void)member;
    for (size_t m = begin; m < end; m++)
        j->loops->quantize(j->b->K, j->left + m * j->row, j->scale + m, j->a + m * j->lda);
}

/* Rows m .. m + M and columns n .. n + N, n at the start of a panel. */
static void part(const job *j, size_t m, size_t M, size_t n, size_t N)
{
    const rg_small *b = j->b;
    const rg_real  *bias = j->bias ? j->bias + n : NULL;
    rg_real        *c = j->c + m * j->ldc + n;
    if (b->kind == RG_SMALL_INT8) {
        const rg_int8_right right = { b->right.panels + n / RG_PANEL * rg_int8_panel_bytes(j->loops, b->K),
                                      b->right.scale + n, b->right.start + n };
        j->loops->gemm(M, N, b->K, j->left + m * j->row, j->scale + m, &right, c, j->ldc, j->add, bias);
    } else {
        rg_kernel()->gemm_bf16(M, N, b->K, j->a + m * j->lda, j->lda, b->halves + n * b->K, c, j->ldc, j->add, bias);
    }
    for (size_t i = 0; j->f != RG_IDENTITY && i < M; i++) rg_kernel()->map(j->f, N, c + i * j->ldc, c + i * j->ldc);
}

static void some_rows(void *context, int member, size_t begin, size_t end)
{
    const job *j = context;
    (void)member;
    part(j, begin, end - begin, 0, j->b->N);
}

static void some_panels(void *context, int member, size_t begin, size_t end)
{
    const job   *j = context;
    const size_t first = begin * RG_PANEL, last = end * RG_PANEL < j->b->N ? end * RG_PANEL : j->b->N;
    (void)member;
    part(j, 0, j->M, first, last - first);
}

/* The rows of a job over the team. */
static void run(job *j, rg_team *team)
{
    const size_t panels = (j->b->N + RG_PANEL - 1) / RG_PANEL,
                 each = rg_product__panels_each(team, j->M, j->b->K, panels),
                 wide = j->M < WIDE ? each : (each + WIDE - 1) / WIDE * WIDE;
    rg_team *hands = each < panels ? team : NULL;
    if (j->left) rg_team_for(hands, j->M, ROW_GRAIN, quantize_rows, j);
    if (j->M < FEW_ROWS || j->M < j->b->N) rg_team_for(hands, panels, wide, some_panels, j);
    else rg_team_for(hands, j->M, ROW_GRAIN, some_rows, j);
}

/* Few rows become integers on the stack; many in a block of their own, or, when there is no memory for one, few at a
 * time. */
rg_status rg_product__small(rg_team *team, size_t M, const rg_real *a, size_t lda, const rg_small *b, rg_real *c,
                            size_t ldc, bool add, const rg_real *bias, rg_activation f)
{
    char         near[NEAR_BYTES] __attribute__((aligned(64)));
    const size_t row = rg_int8_left_bytes(rg_int8(), b->K), each = row + sizeof(float);
    size_t       bytes, most = M;
    void        *far = NULL;
    job          j = {
                 .b = b, .loops = rg_int8(), .M = M, .lda = lda, .ldc = ldc, .row = row, .bias = bias, .add = add, .f = f
    };
    if (b->kind == RG_SMALL_INT8) {
        if (!rg_size_mul(&bytes, M, each))
            return rg_fail(RG_ELIMIT, "product: %zu rows of %zu numbers are too many", M, b->K);
        if (bytes > sizeof near && !(far = rg_alloc(bytes))) most = sizeof near / each;
        if (most == 0) return RG_ENOMEM;
        j.left = far ? far : near;
        j.scale = (float *)(void *)(j.left + most * row);
    }
    for (size_t m = 0; m < M; m += most) {
        j.M = M - m < most ? M - m : most;
        j.a = a + m * lda;
        j.c = c + m * ldc;
        run(&j, team);
    }
    rg_free(far);
    return RG_OK;
}
