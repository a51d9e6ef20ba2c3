/* key_value.c - attention of a network over its own last L rows, cut into keys, values and predictors (Daniluk,
 * Rocktaschel, Welbl, Riedel 2017, Frustratingly Short Attention Spans in Neural Language Modeling):
 *
 *     M_t = tanh(W_Y K_t + (W_h k_t) 1^T)     a_t = softmax(w^T M_t)     r_t = V_t a_t^T     h*_t = tanh(r_t Wr + x_t Wx)
 *
 * which is the additive score over the reach `before`. The first row of a text reaches nothing and reads zeros. */
#include "regard/between.h"

rg_status rg_key_value_init(rg_key_value *out, rg_params *params, size_t width, size_t parts, size_t window)
{
    if (parts < 1 || parts > 3 || width % parts || !width)
        return rg_fail(
            RG_EINVAL,
            "rows of %zu columns cut into %zu parts; there are 1 (attention), 2 (key-value) and 3 (key-value-predict)",
            width, parts);
    const size_t d = width / parts;
    *out = (rg_key_value){ .parts = parts, .window = window };
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = "additive";
    c.q_width = c.k_width = c.hidden = d;
    RG_TRY(rg_attention_init(&out->att, &c, params));
    out->wr = rg_params_add(params, "wr", RG_WEIGHT, d, d, RG_INIT_GLOROT, 1);
    out->wx = rg_params_add(params, "wx", RG_WEIGHT, d, d, RG_INIT_GLOROT, 1);
    return RG_OK;
}

void rg_key_value_split(rg_tape *t, const rg_key_value *kv, rg_tensor *h, rg_tensor **q, rg_tensor **k, rg_tensor **v,
                        rg_tensor **x)
{
    rg_tensor *part[3] = { h, h, h };
    if (kv->parts > 1) rg_split(t, h, kv->parts, part);
    *q = part[0];
    *k = rg_attention_prepare(t, &kv->att, part[0]);
    *v = kv->parts == 1 ? part[0] : part[1];
    *x = kv->parts == 1 ? part[0] : kv->parts == 2 ? part[1] : part[2];
}

rg_tensor *rg_key_value_read(rg_tape *t, const rg_key_value *kv, rg_tensor *q, rg_tensor *k, rg_tensor *v, rg_tensor *x,
                             const rg_reach *reach)
{
    rg_tensor *r = rg_attend(t, &kv->att, q, k, v, reach);
    return rg_tanh(t, rg_add(t, rg_matmul(t, r, rg_use(t, kv->wr)), rg_matmul(t, x, rg_use(t, kv->wx))));
}

rg_tensor *rg_key_value_run(rg_tape *t, const rg_key_value *kv, rg_tensor *h)
{
    rg_tensor *q, *k, *v, *x;
    if (!h) return NULL;
    const rg_layout *rows = rg_tensor_layout(h);
    rg_key_value_split(t, kv, h, &q, &k, &v, &x);
    return rg_with_layout(t, rg_key_value_read(t, kv, q, k, v, x, rg_reach_before(t, rows, kv->window)), rows);
}
