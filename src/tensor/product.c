/* product.c - matrix products over a team: who computes which part of C, and the blocking of operands that are not
 * packed.
 *
 * Members split the *outputs*, by panels of columns or by rows, so no bit depends on how many there are. Blocks over K
 * continue from the stored C, which keeps every output one chain over k (kernels.h).
 *
 *             NC
 *          +------+            for each block of columns, for each block of K:
 *       KC |  B   |              pack B (KC, NC) into panels              stays in L3
 *          +------+              for each block of rows:
 *    KC    +------+                pack A (MC, KC) into tiles             stays in L2
 *   +---+  |      |                C block (+)= tiles times panels        one panel (KC, 16) after the other
 * MC| A |  |  C   |
 *   +---+  +------+ */
#include "tensor/product.h"

#include "tensor/product_small.h"

enum {
    KC = 512,
    NC = 2048, /* a multiple of RG_PANEL */
    NEAR_NC = 512, /* panels of 1 MiB, which stay in L2: for few rows, where packing them counts */
    FEW = 512,
    MC = 120,
    FAR = 1024,         /* numbers from row to row */
    SMALL = 500 * 1000, /* multiply-adds below which waking helpers costs more than they bring */
    WORTH = SMALL / 2,  /* those of one share */
    READING = 8,        /* multiply-adds that take as long as bringing a weight from the last cache */
    ROW_GRAIN = 24      /* rows of a share: a multiple of every table's tile */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static rg_team *team_for_work(rg_team *team, size_t M, size_t N, size_t K)
{
    return (double)M * (double)N * (double)K < SMALL ? NULL : team;
}

size_t rg_product__panels_each(const rg_team *team, size_t M, size_t K, size_t panels)
{
    const double work = (double)(M + READING) * (double)K * (double)(panels * RG_PANEL);
    const size_t worth = work < (double)SIZE_MAX ? (size_t)(work / WORTH) : SIZE_MAX,
                 members = smaller(smaller((size_t)rg_team_size(team), panels), worth);
    if (members < 2) return panels;
    return panels / members + (panels % members != 0);
}

/* ------------------------------------------------------------------------------------------- packed weights */

typedef struct packed_job {
    const rg_kernels *kernel;
    size_t            M, lda, ldc;
    const rg_real    *a, *bias;
    const rg_pack    *b;
    rg_real          *c;
    bool              add;
    rg_activation     f;
} packed_job;

static void packed_rows(void *context, int member, size_t begin, size_t end)
{
    const packed_job *j = context;
    (void)member;
    j->kernel->gemm_packed(end - begin, j->b->N, j->b->K, j->a + begin * j->lda, j->lda, j->b->data,
                           j->c + begin * j->ldc, j->ldc, j->add, j->bias, j->f);
}

static void packed_panels(void *context, int member, size_t begin, size_t end)
{
    const packed_job *j = context;
    size_t first = begin * RG_PANEL, last = smaller(end * RG_PANEL, j->b->N);
    (void)member;
    j->kernel->gemm_packed(j->M, last - first, j->b->K, j->a, j->lda, j->b->data + first * j->b->K, j->c + first,
                           j->ldc, j->add, j->bias ? j->bias + first : NULL, j->f);
}

rg_status rg_product_packed(rg_team *team, size_t M, const rg_real *a, size_t lda, const rg_pack *b, rg_real *c,
                            size_t ldc, bool add, const rg_real *bias, rg_activation f)
{
    if (lda < b->K || ldc < b->N)
        return rg_fail(RG_ESHAPE, "product: rows of %zu and %zu numbers are kept %zu and %zu apart", b->K, b->N, lda,
                       ldc);
    if (add && (bias || f != RG_IDENTITY))
        return rg_fail(RG_EINVAL, "product: a bias or activation cannot follow an addition");
    if (M == 0 || b->N == 0) return RG_OK;
    if (!b->data) return rg_product__small(team, M, a, lda, b->small, c, ldc, add, bias, f);
    packed_job   job = { rg_kernel(), M, lda, ldc, a, bias, b, c, add, f };
    const size_t panels = (b->N + RG_PANEL - 1) / RG_PANEL, each = rg_product__panels_each(team, M, b->K, panels);
    if (M < 256 || M < b->N) rg_team_for(team, panels, each, packed_panels, &job); /* each reads its own weights once */
    else rg_team_for(team_for_work(team, M, b->N, b->K), M, ROW_GRAIN, packed_rows, &job);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------ unpacked operands */

typedef struct job {
    const rg_kernels *kernel;
    rg_product_form   form;
    size_t            M, N, K, lda, ldb, ldc;
    const rg_real    *a, *b;
    rg_real          *c;
    bool              add;
    rg_team          *team;
    rg_real          *scratch; /* of the caller, when there is no team */
    size_t            panel_numbers, tile_numbers;
} job;

static rg_real *scratch_of(const job *j, int member)
{
    if (j->scratch) return j->scratch;
    return rg_team_scratch(j->team, member, (j->panel_numbers + j->tile_numbers) * sizeof(rg_real));
}

static void pack_right(const job *j, rg_real *panels, size_t k, size_t kb, size_t n, size_t nb)
{
    if (j->form == RG_NT) j->kernel->pack_transposed(panels, j->b + n * j->ldb + k, j->ldb, kb, nb);
    else j->kernel->pack(panels, j->b + k * j->ldb + n, j->ldb, kb, nb);
}

static void pack_left(const job *j, rg_real *tiles, size_t k, size_t kb, size_t m, size_t mb)
{
    if (j->form == RG_TN) j->kernel->pack_tiles(tiles, j->a + k * j->lda + m, 1, j->lda, mb, kb);
    else j->kernel->pack_tiles(tiles, j->a + m * j->lda + k, j->lda, 1, mb, kb);
}

typedef struct span {
    size_t first, count;
} span;

/* Rows that lie close together are read where they are. */
static bool packs_left(const job *j) { return j->form == RG_TN || j->lda >= FAR; }
static size_t columns_of_block(const job *j) { return packs_left(j) || j->M >= FEW ? NC : NEAR_NC; }

/* One block of C. Rows that lie close together are read where they are; far apart ones fall on each other in the
 * caches and are packed first, like those of a transposed A. */
static void block(const job *j, rg_real *tiles, const rg_real *panels, span m, span n, span k)
{
    rg_real *c = j->c + m.first * j->ldc + n.first;
    bool add = j->add || k.first > 0;
    if (!packs_left(j)) {
        const rg_real *a = j->a + m.first * j->lda + k.first;
        j->kernel->gemm_packed(m.count, n.count, k.count, a, j->lda, panels, c, j->ldc, add, NULL, RG_IDENTITY);
    } else {
        pack_left(j, tiles, k.first, k.count, m.first, m.count);
        j->kernel->gemm_tiles(m.count, n.count, k.count, tiles, panels, c, j->ldc, add);
    }
}

/* Rows m0 .. m1 and columns n0 .. n1 of C. */
static void part(const job *j, int member, size_t m0, size_t m1, size_t n0, size_t n1)
{
    rg_real *panels = scratch_of(j, member), *tiles = panels + j->panel_numbers;
    size_t blocks = (j->K + KC - 1) / KC, cut = blocks ? (j->K + blocks - 1) / blocks : 1; /* equal blocks over K */
    size_t heights = (m1 - m0 + MC - 1) / MC, high = smaller(MC, ((m1 - m0) / heights / ROW_GRAIN + 1) * ROW_GRAIN);
    for (size_t n = n0, wide = columns_of_block(j); n < n1; n += wide) {
        size_t nb = smaller(wide, n1 - n);
        for (size_t k = 0; k < j->K || k == 0; k += cut) {
            size_t kb = smaller(cut, j->K - k);
            pack_right(j, panels, k, kb, n, nb);
            for (size_t m = m0; m < m1; m += high) {
                size_t mb = smaller(high, m1 - m);
                block(j, tiles, panels, (span){m, mb}, (span){n, nb}, (span){k, kb});
            }
        }
    }
}

static void part_rows(void *context, int member, size_t begin, size_t end)
{
    const job *j = context;
    part(j, member, begin, end, 0, j->N);
}

static void part_panels(void *context, int member, size_t begin, size_t end)
{
    const job *j = context;
    part(j, member, 0, j->M, begin * RG_PANEL, smaller(end * RG_PANEL, j->N));
}

/* Scratch is asked for before the work starts, so that nothing can fail in the middle of it. */
static rg_status reserve(job *j)
{
    size_t kb = smaller(KC, j->K);
    j->panel_numbers = rg_pack_size(kb, smaller(columns_of_block(j), j->N));
    j->tile_numbers = smaller(MC, j->M) * kb;
    size_t bytes = (j->panel_numbers + j->tile_numbers) * sizeof(rg_real);
    if (!j->team) {
        j->scratch = rg_alloc(bytes);
        return j->scratch ? RG_OK : RG_ENOMEM;
    }
    for (int member = 0; member < rg_team_size(j->team); member++)
        if (!rg_team_scratch(j->team, member, bytes)) return RG_ENOMEM;
    return RG_OK;
}

rg_status rg_product(rg_team *team, rg_product_form form, size_t M, size_t N, size_t K, const rg_real *a, size_t lda,
                     const rg_real *b, size_t ldb, rg_real *c, size_t ldc, bool add)
{
    size_t a_width = form == RG_TN ? M : K, b_width = form == RG_NT ? K : N;
    if (lda < a_width || ldb < b_width || ldc < N)
        return rg_fail(RG_ESHAPE, "product: rows of %zu, %zu and %zu numbers are kept %zu, %zu and %zu apart", a_width,
                       b_width, N, lda, ldb, ldc);
    if (M == 0 || N == 0) return RG_OK;
    job j = { .kernel = rg_kernel(),
              .form = form,
              .M = M,
              .N = N,
              .K = K,
              .lda = lda,
              .ldb = ldb,
              .ldc = ldc,
              .a = a,
              .b = b,
              .c = c,
              .add = add,
              .team = team };
    RG_TRY(reserve(&j));
    rg_team *hands = team_for_work(team, M, N, K);
    if (N >= M) rg_team_for(hands, (N + RG_PANEL - 1) / RG_PANEL, 1, part_panels, &j);
    else rg_team_for(hands, M, ROW_GRAIN, part_rows, &j);
    rg_free(j.scratch);
    return RG_OK;
}
