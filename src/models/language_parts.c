/* language_parts.c - see language_parts.h. */
#include "models/language_parts.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- tables */

rg_status rg_lm_tables_init(rg_lm_tables *out, rg_model *m, size_t d, size_t answer, bool tied, bool bias, rg_init init,
                            double scale)
{
    const size_t V = rg_model_size(m, "target-vocabulary");
    if (tied && d != answer)
        return rg_fail(RG_EINVAL, "tied embeddings are as wide as what is answered from: %zu, not %zu", answer, d);
    out->embedding = rg_params_add(m->params, "embedding", tied ? RG_TIED : RG_TABLE, V, d, init, scale);
    out->output = tied ? out->embedding : rg_params_add(m->params, "output", RG_TIED, V, answer, init, scale);
    if (bias) out->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
    return RG_OK;
}

const rg_field *rg_lm_text(const rg_batch *batch) { return &batch->field[RG_TARGET]; }

rg_tensor *rg_lm_words(rg_tape *t, const rg_lm_tables *tables, const rg_batch *batch)
{
    const rg_field *text = rg_lm_text(batch);
    rg_tensor *x = rg_gather(t, rg_use(t, tables->embedding), text->previous, rg_field_rows(text), &text->layout);
    return rg_tape_offer(t, "inputs", x, NULL);
}

rg_loss rg_lm_loss(rg_tape *t, const rg_lm_tables *tables, rg_tensor *y, const rg_batch *batch)
{
    const rg_field *text = rg_lm_text(batch);
    const size_t    rows = rg_field_rows(text);
    double          count = 0;
    for (size_t i = 0; i < rows; i++) count += text->ids[i] >= 0;
    rg_tensor *bias = tables->output_bias ? rg_use(t, tables->output_bias) : NULL;
    return (rg_loss){ rg_cross_entropy_over(t, y, rg_use(t, tables->output), bias, text->ids, 0, 1), count };
}

rg_tensor *rg_lm_logits(rg_tape *t, const rg_lm_tables *tables, rg_tensor *y)
{
    return rg_linear_nt(t, y, rg_use(t, tables->output), tables->output_bias ? rg_use(t, tables->output_bias) : NULL);
}

/* ------------------------------------------------------------------------------------------------------------- past */

rg_past rg_past_read(rg_tape *t, const rg_batch *batch, size_t first_block, size_t window)
{
    const rg_layout *layout = &rg_lm_text(batch)->layout;
    const bool       carried = batch->carry != NULL;
    rg_past          past = { .window = carried ? window : 0, .reach = window, .blocks = first_block };
    rg_tensor       *count = carried ? rg_carry_read(t, batch, first_block + 1, 1) : NULL;
    int32_t         *valid = rg_tape_memory(t, (layout->groups + 1) * sizeof *valid);
    if (!valid || (carried && !count)) return past;
    for (size_t g = 0; g < layout->groups; g++)
        valid[g] = carried && !rg_tape_dry(t) ? (int32_t)rg_tensor_at(count, g, 0) : 0;
    past.valid = valid;
    past.layout = layout;
    return past;
}

size_t rg_past_base(const rg_past *past, size_t g) { return g * past->window + (size_t)past->layout->start[g]; }
size_t rg_past_rows(const rg_past *past) { return rg_past_base(past, past->layout->groups); }

size_t rg_past_first(const rg_past *past, size_t g, size_t j)
{
    const size_t here = past->window + j,
                 begin = past->window - (size_t)past->valid[g]; /* of the text, within the stream's rows */
    const size_t first = here > past->reach ? here - past->reach : 0;
    return rg_past_base(past, g) + (first > begin ? first : begin);
}

const int32_t *rg_past_carried_places(rg_tape *t, const rg_past *past)
{
    int32_t *at = rg_tape_memory(t, (past->layout->groups * past->window + 1) * sizeof *at);
    for (size_t g = 0, i = 0; at && g < past->layout->groups; g++)
        for (size_t k = 0; k < past->window; k++) at[i++] = (int32_t)(rg_past_base(past, g) + k);
    return at;
}

rg_tensor *rg_past_carried(rg_tape *t, const rg_past *past, const rg_batch *batch, size_t cols)
{
    if (!past->window) return NULL;
    return rg_split_rows(t, rg_carry_read(t, batch, past->blocks, past->window * cols), past->window);
}

rg_tensor *rg_past_buffer(rg_tape *t, const rg_past *past, const rg_batch *batch, size_t cols)
{
    if (!past->layout) return NULL;
    rg_tensor *buffer = rg_rows_new(t, rg_past_rows(past), cols, NULL);
    if (!buffer || !past->window) return buffer;
    rg_tensor     *carried = rg_past_carried(t, past, batch, cols);
    const int32_t *at = carried ? rg_past_carried_places(t, past) : NULL;
    if (!at) return NULL;
    rg_rows_put(t, buffer, at, carried);
    return buffer;
}

const int32_t *rg_past_places(rg_tape *t, const rg_past *past)
{
    if (!past->layout) return NULL;
    const int32_t *start = past->layout->start;
    int32_t       *at = rg_tape_memory(t, ((size_t)start[past->layout->groups] + 1) * sizeof *at);
    for (size_t g = 0; at && g < past->layout->groups; g++)
        for (int32_t i = start[g]; i < start[g + 1]; i++) at[i] = i + (int32_t)((g + 1) * past->window);
    return at;
}

/* Row 0 .. window-1 of what stream g carries on are rows kept .. kept + window - 1 of its part of the buffer. */
void rg_past_write(rg_tape *t, const rg_past *past, const rg_batch *batch, rg_tensor *buffer)
{
    if (!past->window || !past->layout || !buffer) return;
    const size_t G = past->layout->groups, L = past->window;
    int32_t     *at = rg_tape_memory(t, (G * L + 1) * sizeof *at);
    rg_real     *count = rg_tape_memory(t, (G + 1) * sizeof *count);
    if (!at || !count) return;
    for (size_t g = 0; g < G; g++) {
        const size_t rows = (size_t)(past->layout->start[g + 1] - past->layout->start[g]);
        const size_t kept = batch->carry_after && batch->carry_after < rows ? batch->carry_after : rows;
        const size_t valid = (size_t)past->valid[g] + kept;
        for (size_t k = 0; k < L; k++) at[g * L + k] = (int32_t)(rg_past_base(past, g) + kept + k);
        count[g] = (rg_real)(valid < L ? valid : L);
    }
    rg_tensor *last = rg_gather(t, rg_detach(t, buffer), at, G * L, NULL);
    rg_carry_write(t, batch, past->blocks, rg_join_rows(t, last, L));
    rg_carry_write(t, batch, past->blocks + 1, rg_constant(t, count, G, 1, NULL));
}

const rg_reach *rg_past_step(rg_tape *t, size_t n, size_t window, size_t valid)
{
    int32_t *begin = rg_tape_memory(t, 2 * (n + 1) * sizeof *begin), *end = begin + n;
    if (!begin) return NULL;
    for (size_t i = 0; i < n; i++) {
        end[i] = (int32_t)((i + 1) * window);
        begin[i] = end[i] - (int32_t)(valid < window ? valid : window);
    }
    return rg_reach_intervals(t, n, n * window, begin, end);
}

rg_tensor *rg_past_push(rg_tape *t, rg_tensor *rows, rg_tensor *x)
{
    const size_t all = rg_tensor_cols(rows), cols = rg_tensor_cols(x);
    if (!rows || !x || all == cols) return x;
    rg_tensor *const parts[] = { rg_columns(t, rows, cols, all - cols), x };
    return rg_concat_columns(t, 2, parts);
}
