/* packed.c - C = A B with B packed once; several copies of B make it cold. */
#include "packed.h"

void bench_packed_teardown(void *state)
{
    bench_packed *p = state;
    for (size_t i = 0; p->packs && i < p->copies; i++) rg_free((void *)p->packs[i].data);
    for (size_t i = 0; p->small && i < p->copies; i++) rg_small_fini(&p->small[i]);
    rg_free(p->packs);
    rg_free(p->small);
    rg_free(p->a);
    rg_free(p->c);
}

static rg_status fill(bench_packed *p)
{
    rg_real *b = rg_alloc_array(p->K * p->N, sizeof(rg_real));
    if (!b || !p->a || !p->c || !p->packs) return rg_free(b), RG_ENOMEM;
    bench_fill(p->a, p->M * p->K, 1);
    bench_fill(b, p->K * p->N, 2);
    for (size_t i = 0; i < p->copies; i++) {
        rg_real *panels = rg_alloc_array(rg_pack_size(p->K, p->N), sizeof(rg_real));
        if (!panels) return rg_free(b), RG_ENOMEM;
        rg_kernel()->pack(panels, b, p->N, p->K, p->N);
        p->packs[i] = (rg_pack){p->K, p->N, panels, NULL};
    }
    rg_free(b);
    return RG_OK;
}

rg_status bench_packed_setup(bench_packed *p, size_t M, size_t N, size_t K, size_t copies, rg_team *team)
{
    *p = (bench_packed){.M = M, .N = N, .K = K, .copies = copies, .team = team};
    p->a = rg_alloc_array(M * K, sizeof(rg_real));
    p->c = rg_alloc_array(M * N, sizeof(rg_real));
    p->packs = rg_alloc_zero(copies * sizeof *p->packs);
    return fill(p);
}

static rg_status fill_small(bench_packed *p, rg_small_kind kind)
{
    rg_real *b = rg_alloc_array(p->K * p->N, sizeof(rg_real));
    if (!b || !p->a || !p->c || !p->packs || !p->small) return rg_free(b), RG_ENOMEM;
    bench_fill(p->a, p->M * p->K, 1);
    bench_fill(b, p->K * p->N, 2);
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < p->copies; i++) {
        p->packs[i] = (rg_pack){p->K, p->N, NULL, &p->small[i]};
        if ((status = rg_small_init(&p->small[i], kind, p->K, p->N)) != RG_OK) break;
        if (i) memcpy(p->small[i].block, p->small[0].block, rg_small_bytes(&p->small[0]));
        else rg_small_set(&p->small[0], 0, p->N, b, p->N, 1);
    }
    rg_free(b);
    return status;
}

rg_status bench_small_setup(bench_packed *p, size_t M, size_t N, size_t K, size_t copies, rg_small_kind kind,
                            rg_team *team)
{
    *p = (bench_packed){.M = M, .N = N, .K = K, .copies = copies, .team = team};
    p->a = rg_alloc_array(M * K, sizeof(rg_real));
    p->c = rg_alloc_array(M * N, sizeof(rg_real));
    p->packs = rg_alloc_zero(copies * sizeof *p->packs);
    p->small = rg_alloc_zero(copies * sizeof *p->small);
    return fill_small(p, kind);
}

rg_status bench_packed_run(void *state)
{
    bench_packed  *p = state;
    const rg_pack *b = &p->packs[p->next];
    p->next = p->next + 1 == p->copies ? 0 : p->next + 1;
    return rg_product_packed(p->team, p->M, p->a, p->K, b, p->c, p->N, false, NULL, RG_IDENTITY);
}

double bench_packed_check(void *state)
{
    bench_packed *p = state;
    return bench_mean_abs(p->c, p->M * p->N);
}
