/* packed_keys.c - keys and values that every step of a decoder reads again are put into panels once.
 *
 *     group 0          group 1           ...       one after another
 *     head 0: K^T V    head 0: K^T V
 *     head 1: K^T V    head 1: K^T V               the same panels fused_dot.c would pack at each step: no bit changes */
#include "attention/packed_keys.h"
#include "attention/fused_plan.h"
#include "autograd/tape.h"

typedef struct {
    const rg_packed_keys *s;
    const rg_tensor  *k, *v;
    const rg_layout  *groups;
} job;

static size_t head_numbers(const rg_packed_keys *s, size_t n)
{
    return rg_fused__up(n) * s->dk + n * rg_fused__up(s->dv);
}

static void settle_groups(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const job        *j = context;
    const rg_packed_keys *s = j->s;
    for (size_t g = begin; g < end; g++) {
        const size_t k0 = (size_t)j->groups->start[g], n = (size_t)j->groups->start[g + 1] - k0;
        for (size_t h = 0; n && h < s->H; h++) {
            rg_real *keys = s->data + s->at[k0] + h * head_numbers(s, n);
            rg_kernel()->pack_transposed(keys, j->k->data + k0 * j->k->ld + h * s->dk, j->k->ld, s->dk, n);
            rg_kernel()->pack(keys + rg_fused__up(n) * s->dk, j->v->data + k0 * j->v->ld + h * s->dv, j->v->ld, n,
                              s->dv);
        }
    }
}

void rg_attention_pack(rg_tape *t, const rg_attention *att, rg_tensor *k, rg_tensor *v, const rg_layout *groups)
{
    const size_t H = att->config.heads;
    rg_tensor   *in[] = { k, v };
    if (!att->score->panels || att->config.shared_values || !rg_tape__begin(t, "pack", 2, in) || !rg_tape__live(t))
        return;
    if (k->cols % H || v->cols % H || k->rows != v->rows || (size_t)groups->start[groups->groups] != k->rows) return;
    rg_packed_keys *s = rg_tape__keep(t, sizeof *s);
    if (!s) return;
    *s = (rg_packed_keys){ .H = H, .dk = k->cols / H, .dv = v->cols / H, .values = v->data };
    s->at = rg_tape__keep(t, (k->rows + 1) * sizeof *s->at);
    s->count = rg_tape__keep(t, (k->rows + 1) * sizeof *s->count);
    if (!s->at || !s->count) return;
    for (size_t i = 0; i < k->rows; i++) s->at[i] = SIZE_MAX;
    size_t numbers = 0;
    for (size_t g = 0; g < groups->groups; g++) {
        const size_t k0 = (size_t)groups->start[g], n = (size_t)groups->start[g + 1] - k0;
        if (!n) continue;
        s->at[k0] = numbers;
        s->count[k0] = n;
        numbers += H * head_numbers(s, n);
    }
    if (!(s->data = rg_tape__reals(t, numbers))) return;
    job j = { s, k, v, groups };
    rg_tape__rows(t, groups->groups, k->rows / (groups->groups + 1) * (k->cols + v->cols), settle_groups, &j);
    k->packed = s;
}

bool rg_packed_keys__find(const rg_tensor *k, const rg_tensor *v, size_t H, size_t k0, size_t k1, size_t h,
                          rg_real **keys, rg_real **values)
{
    const rg_packed_keys *s = k->packed;
    if (!s || s->values != v->data || s->H != H || s->at[k0] == SIZE_MAX || s->count[k0] != k1 - k0) return false;
    *keys = s->data + s->at[k0] + h * head_numbers(s, k1 - k0);
    *values = *keys + rg_fused__up(k1 - k0) * s->dk;
    return true;
}
