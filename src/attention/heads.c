/* heads.c - multi-head attention (Vaswani et al. 2017, section 3.2.2):
 *
 *     MultiHead(X, Y) = concat_h( attend(X Wq_h, Y Wk_h, Y Wv_h) ) Wo
 *
 * Heads are column blocks, so the projections of all heads are one product: of x for q, k and v in self-attention,
 * of x for q and of y for k and v otherwise. No transposes, no copies: q, k and v are views of the result. */
#include "regard/attention.h"

#include <math.h>

rg_status rg_heads_init(rg_heads *out, rg_params *p, size_t width, size_t heads, bool self, const char *score)
{
    *out = (rg_heads){ .width = width, .heads = heads, .self = self };
    if (heads == 0 || width % heads) return rg_fail(RG_ESHAPE, "a width of %zu does not make %zu heads", width, heads);
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = score ? score : "scaled_dot";
    c.heads = heads;
    c.q_width = c.k_width = width;
    c.hidden = width / heads;
    RG_TRY(rg_attention_init(&out->att, &c, p));
    /* each projection has Glorot's range for its own (width, width), though several stand side by side */
    const double triple = sqrt(4.0 / 2.0), twice = sqrt(3.0 / 2.0);
    if (self) {
        out->wqkv = rg_params_add(p, "wqkv", RG_WEIGHT, width, 3 * width, RG_INIT_GLOROT, triple);
        out->bqkv = rg_params_add(p, "bqkv", RG_VECTOR, 1, 3 * width, RG_INIT_ZERO, 0);
    } else {
        out->wq = rg_params_add(p, "wq", RG_WEIGHT, width, width, RG_INIT_GLOROT, 1);
        out->bq = rg_params_add(p, "bq", RG_VECTOR, 1, width, RG_INIT_ZERO, 0);
        out->wkv = rg_params_add(p, "wkv", RG_WEIGHT, width, 2 * width, RG_INIT_GLOROT, twice);
        out->bkv = rg_params_add(p, "bkv", RG_VECTOR, 1, 2 * width, RG_INIT_ZERO, 0);
    }
    out->wo = rg_params_add(p, "wo", RG_WEIGHT, width, width, RG_INIT_GLOROT, 1);
    out->bo = rg_params_add(p, "bo", RG_VECTOR, 1, width, RG_INIT_ZERO, 0);
    return RG_OK;
}

static rg_tensor *project(rg_tape *t, rg_tensor *x, const rg_param *w, const rg_param *b)
{
    return rg_linear(t, x, rg_use(t, w), rg_use(t, b), RG_IDENTITY);
}

void rg_heads_project(rg_tape *t, const rg_heads *h, rg_tensor *x, rg_tensor **q, rg_tensor **k, rg_tensor **v)
{
    rg_tensor *part[3];
    rg_split(t, project(t, x, h->wqkv, h->bqkv), 3, part);
    *q = part[0];
    *k = rg_attention_prepare(t, &h->att, part[1]);
    *v = part[2];
}

void rg_heads_memory(rg_tape *t, const rg_heads *h, rg_tensor *y, rg_tensor **k, rg_tensor **v)
{
    rg_tensor *part[2];
    rg_split(t, project(t, y, h->wkv, h->bkv), 2, part);
    *k = rg_attention_prepare(t, &h->att, part[0]);
    *v = part[1];
}

rg_tensor *rg_heads_query(rg_tape *t, const rg_heads *h, rg_tensor *x) { return project(t, x, h->wq, h->bq); }

rg_tensor *rg_heads_read(rg_tape *t, const rg_heads *h, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach)
{
    return project(t, rg_attend(t, &h->att, q, k, v, reach), h->wo, h->bo);
}

rg_tensor *rg_heads_self(rg_tape *t, const rg_heads *h, rg_tensor *x, const rg_reach *reach)
{
    rg_tensor *q, *k, *v;
    rg_heads_project(t, h, x, &q, &k, &v);
    return rg_heads_read(t, h, q, k, v, reach);
}

rg_tensor *rg_heads_cross(rg_tape *t, const rg_heads *h, rg_tensor *x, rg_tensor *y, const rg_reach *reach)
{
    rg_tensor *k, *v;
    rg_heads_memory(t, h, y, &k, &v);
    return rg_heads_read(t, h, rg_heads_query(t, h, x), k, v, reach);
}
