/* checkpoint_save.c - parameters, optimiser and state as one safetensors file (train.h says what is where). */
#include <string.h>

#include "regard/safetensors.h"
#include "train/checkpoint.h"
#include "train/state.h"

rg_status rg_checkpoint__walk(const rg_params *params, const rg_optimizer *opt, rg_checkpoint_visit *visit,
                              void *context)
{
    for (size_t i = 0; i < params->count; i++)
        RG_TRY(visit(context, params->entry[i]->name, params->entry[i], params->entry[i]->data));
    for (size_t a = 0; opt && a < RG_OPTIMIZER_ARRAYS; a++) {
        if (!opt->array[a]) continue;
        for (size_t i = 0; i < params->count; i++) {
            const rg_param *e = params->entry[i];
            if (e->kind == RG_KEPT) continue;
            char *name = rg_format(RG_CHECKPOINT_OPTIMIZER "%s.%s", rg_optimizer__array_name(a), e->name);
            if (!name) return RG_ENOMEM;
            rg_status status = visit(context, name, e, opt->array[a] + e->offset);
            rg_free(name);
            RG_TRY(status);
        }
    }
    return RG_OK;
}

typedef struct saving {
    rg_safetensors_writer *writer;
    rg_arena              *floats; /* copies where rg_real is not float, and of what is kept in 8 or 16 bits */
} saving;

/* Files hold float32 whatever rg_real is. */
static const void *as_floats(saving *s, const rg_real *data, size_t n)
{
    if (sizeof(rg_real) == sizeof(float)) return data;
    float *copy = rg_arena_get(s->floats, n * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) copy[i] = (float)data[i];
    return copy;
}

static rg_status add_array(void *context, const char *name, const rg_param *e, rg_real *data)
{
    saving      *s = context;
    const size_t dims[2] = { e->rows, e->cols };
    const bool   flat = e->kind == RG_VECTOR && e->rows == 1;
    if (rg_param__is_small(e)) return rg_checkpoint__add_small(s->writer, s->floats, e);
    const void  *floats = as_floats(s, data, e->rows * e->cols);
    if (!floats) return RG_ENOMEM;
    return rg_safetensors_writer_add(s->writer, name, RG_DTYPE_F32, dims + flat, flat ? 1 : 2, floats);
}

static rg_status add_optimizer(saving *s, const rg_optimizer *opt)
{
    char steps[32];
    snprintf(steps, sizeof steps, "%llu", (unsigned long long)opt->steps);
    RG_TRY(rg_safetensors_writer_metadata(s->writer, RG_CHECKPOINT_OPTIMIZER "name", opt->config.name));
    return rg_safetensors_writer_metadata(s->writer, RG_CHECKPOINT_OPTIMIZER "steps", steps);
}

static rg_status add_state(saving *s, const rg_state *state)
{
    for (size_t i = 0; i < state->count; i++) {
        const rg_state_entry *e = &state->entry[i];
        if (e->text) {
            RG_TRY(rg_safetensors_writer_metadata(s->writer, e->key, e->value));
            continue;
        }
        char *name = rg_format(RG_CHECKPOINT_STATE "%s", e->key);
        if (!name) return RG_ENOMEM;
        rg_status status = rg_safetensors_writer_add(s->writer, name, RG_DTYPE_U8, &e->bytes, 1, e->value);
        rg_free(name);
        RG_TRY(status);
    }
    return RG_OK;
}

static rg_status fill(saving *s, const rg_params *params, const rg_optimizer *opt, const rg_state *state)
{
    const rg_weights weights = rg_params_get_weights(params);
    RG_TRY(rg_safetensors_writer_metadata(s->writer, "format", "regard"));
    if (weights != RG_WEIGHT_F32)
        RG_TRY(rg_safetensors_writer_metadata(s->writer, RG_CHECKPOINT_WEIGHTS, rg_weights_name(weights)));
    RG_TRY(rg_checkpoint__walk(params, opt, add_array, s));
    if (opt) RG_TRY(add_optimizer(s, opt));
    return state ? add_state(s, state) : RG_OK;
}

rg_status rg_checkpoint_save(const char *path, const rg_params *params, const rg_optimizer *opt, const rg_state *state)
{
    saving    s = {0};
    rg_status status;
    const bool small = params->slim && rg_params_get_weights(params) != RG_WEIGHT_F32;
    if (!params->block && !small)
        return rg_fail(RG_EINVAL, "%s: %s", path,
                       params->slim ? "the parameters were made slim for reading and cannot be saved"
                                    : "there are no parameters to save yet");
    if ((status = rg_safetensors_writer_new(&s.writer)) != RG_OK) goto done;
    if ((small || sizeof(rg_real) != sizeof(float)) && (status = rg_arena_new(&s.floats, 1 << 16)) != RG_OK) goto done;
    rg_safetensors_writer_finite_only(s.writer, true);
    if ((status = fill(&s, params, opt, state)) != RG_OK) goto done;
    status = rg_safetensors_writer_save(s.writer, path);
done:
    rg_safetensors_writer_free(s.writer);
    if (s.floats) rg_arena_free(s.floats);
    return status;
}

/* next is whole on disk before path is moved away, so a cut between any two lines leaves path or path.prev whole. */
rg_status rg_checkpoint_rotate(const char *path, const rg_params *params, const rg_optimizer *opt,
                               const rg_state *state)
{
    rg_status status = RG_ENOMEM;
    bool      there;
    char     *next = rg_format("%s.next", path), *previous = rg_format("%s.prev", path);
    if (!next || !previous) goto done;
    if ((status = rg_checkpoint_save(next, params, opt, state)) != RG_OK) goto done;
    if ((status = rg_file_exists(&there, path)) != RG_OK) goto done;
    if (there && (status = rg_file_rename(path, previous)) != RG_OK) goto done;
    status = rg_file_rename(next, path);
done:
    rg_free(next);
    rg_free(previous);
    return status;
}
