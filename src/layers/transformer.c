/* transformer.c - blocks of Transformers (Vaswani et al. 2017, section 3.1): see transformer.h for the two places of
 * the norm. */
#include "regard/transformer.h"

/* ------------------------------------------------------------------------------------------------------- build */

static rg_status build_self(rg_block *b, rg_params *p, const rg_block_config *c)
{
    const size_t d = c->width;
    rg_params_push(p, "self");
    if (c->recurrent) {
        b->recur = rg_params_add(p, "recur", RG_WEIGHT, d, d, RG_INIT_GLOROT, 1);
        b->forget = rg_params_add(p, "forget", RG_WEIGHT, d, d, RG_INIT_GLOROT, 1);
        b->forget_bias = rg_params_add(p, "forget.bias", RG_VECTOR, 1, d, RG_INIT_ZERO, 0);
    } else {
        RG_TRY(rg_heads_init(&b->self, p, d, c->heads, true, c->score));
        RG_TRY(rg_attention_activate(&b->self.att, c->inside ? c->inside : "own"));
    }
    rg_params_pop(p);
    return RG_OK;
}

static rg_status build_block(rg_block *b, rg_params *p, const rg_block_config *c, bool crosses)
{
    RG_TRY(build_self(b, p, c));
    rg_norm_init(&b->norm_self, p, "self.norm", c->width);
    if (crosses) {
        rg_params_push(p, "cross");
        RG_TRY(rg_heads_init(&b->cross, p, c->width, c->heads, false, c->score));
        RG_TRY(rg_attention_activate(&b->cross.att, c->inside ? c->inside : "own"));
        rg_params_pop(p);
        rg_norm_init(&b->norm_cross, p, "cross.norm", c->width);
    }
    const rg_experts_config mixture = { .width = c->width,
                                        .hidden = c->hidden,
                                        .experts = c->experts,
                                        .top = c->top,
                                        .balance = c->balance,
                                        .dropout = c->dropout_hidden,
                                        .activation = c->activation };
    rg_params_push(p, c->experts ? "experts" : "ff");
    if (c->experts) RG_TRY(rg_experts_init(&b->mixture, p, &mixture));
    else rg_feed_forward_init(&b->ff, p, c->width, c->hidden, c->activation);
    rg_params_pop(p);
    rg_norm_init(&b->norm_ff, p, "ff.norm", c->width);
    b->self.att.config.dropout = b->cross.att.config.dropout = c->dropout_attention;
    if (c->epsilon > 0) b->norm_self.epsilon = b->norm_cross.epsilon = b->norm_ff.epsilon = c->epsilon;
    return RG_OK;
}

rg_status rg_stack_init(rg_stack *out, rg_params *p, const char *name, const rg_block_config *c, size_t depth,
                        bool crosses)
{
    if (depth < 1 || depth > RG_STACK_DEPTH)
        return rg_fail(RG_EINVAL, "a stack of %zu blocks (%s); it must lie in 1 .. %d", depth, name, RG_STACK_DEPTH);
    *out = (rg_stack){ .config = *c, .depth = depth };
    for (size_t i = 0; i < depth; i++) {
        rg_params_push(p, "%s.%zu", name, i);
        RG_TRY(build_block(&out->block[i], p, c, crosses));
        rg_params_pop(p);
    }
    rg_params_push(p, "%s", name);
    if (c->pre) rg_norm_init(&out->end, p, "end", c->width);
    if (c->epsilon > 0) out->end.epsilon = c->epsilon;
    rg_params_pop(p);
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- run */

/* Before a sub-layer: x itself, or norm(x) when the norm comes first. */
static rg_tensor *before(rg_tape *t, const rg_stack *s, const rg_norm *norm, rg_tensor *x)
{
    return s->config.pre ? rg_norm_run(t, norm, x) : x;
}

/* After it: add what it made to x, and the norm when it comes last. */
static rg_tensor *after(rg_tape *t, const rg_stack *s, const rg_norm *norm, rg_tensor *x, rg_tensor *made)
{
    made = rg_dropout(t, made, s->config.dropout);
    return s->config.pre ? rg_add(t, x, made) : rg_norm_sum(t, norm, x, made);
}

rg_tensor *rg_block_feed_forward(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x)
{
    const rg_block *b = &s->block[i];
    rg_tape_push(t, s->config.experts ? "experts" : "ff");
    rg_tensor *in = before(t, s, &b->norm_ff, x);
    rg_tensor *y = s->config.experts ? rg_experts_run(t, &b->mixture, in)
                                     : rg_feed_forward_run(t, &b->ff, in, s->config.dropout_hidden);
    x = after(t, s, &b->norm_ff, x, y);
    rg_tape_pop(t);
    return x;
}

rg_tensor *rg_block_recur(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, rg_tensor *state, rg_tensor **out_state)
{
    const rg_block *b = &s->block[i];
    rg_tape_push(t, "self");
    rg_tensor *in = before(t, s, &b->norm_self, x);
    rg_tensor *f = rg_linear(t, in, rg_use(t, b->forget), rg_use(t, b->forget_bias), RG_SIGMOID);
    rg_tensor *c = rg_ssru(t, f, rg_matmul(t, in, rg_use(t, b->recur)), state);
    if (out_state) *out_state = c;
    x = after(t, s, &b->norm_self, x, rg_relu(t, c));
    rg_tape_pop(t);
    return x;
}

rg_tensor *rg_block_self(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, const rg_reach *reach)
{
    const rg_block *b = &s->block[i];
    if (s->config.recurrent) return rg_block_recur(t, s, i, x, NULL, NULL);
    rg_tape_push(t, "self");
    x = after(t, s, &b->norm_self, x, rg_heads_self(t, &b->self, before(t, s, &b->norm_self, x), reach));
    rg_tape_pop(t);
    return x;
}

rg_tensor *rg_block_cross(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, rg_tensor *k, rg_tensor *v,
                          const rg_reach *reach)
{
    const rg_block *b = &s->block[i];
    rg_tape_push(t, "cross");
    rg_tensor *q = rg_heads_query(t, &b->cross, before(t, s, &b->norm_cross, x));
    x = after(t, s, &b->norm_cross, x, rg_heads_read(t, &b->cross, q, k, v, reach));
    rg_tape_pop(t);
    return x;
}

rg_tensor *rg_block_step(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, rg_cache *past, const rg_reach *reach)
{
    const rg_block *b = &s->block[i];
    rg_tensor      *q, *k, *v;
    rg_tape_push(t, "self");
    rg_heads_project(t, &b->self, before(t, s, &b->norm_self, x), &q, &k, &v);
    rg_cache_put(t, past, i, &k, &v);
    x = after(t, s, &b->norm_self, x, rg_heads_read(t, &b->self, q, k, v, reach));
    rg_tape_pop(t);
    return x;
}

rg_tensor *rg_stack_end(rg_tape *t, const rg_stack *s, rg_tensor *x)
{
    return s->config.pre ? rg_norm_run(t, &s->end, x) : x;
}

rg_tensor *rg_stack_run(rg_tape *t, const rg_stack *s, const char *name, rg_tensor *x, const rg_reach *reach)
{
    for (size_t i = 0; i < s->depth; i++) {
        rg_tape_push(t, "%s.%zu", name, i);
        x = rg_block_self(t, s, i, x, reach);
        x = rg_block_feed_forward(t, s, i, x);
        rg_tape_pop(t);
    }
    return rg_stack_end(t, s, x);
}
