/* checkpoint_load.c - a checkpoint read back: names and shapes are compared first, then the numbers come in. */
#include <stdlib.h>
#include <string.h>

#include "regard/safetensors.h"
#include "train/checkpoint.h"
#include "train/state.h"

typedef struct loading {
    rg_safetensors *file;
    size_t          found; /* arrays of the file that have a place */
    float          *floats; /* room for the largest, where rg_real is not float */
    size_t          largest; /* in numbers */
    bool            learns;  /* weights of 8 bits are refused */
} loading;

/* Weights are numbers: whoever computes with an infinite one answers nonsense. Checked while the bytes are in cache
 * for the checksum. */
static rg_status open_finite(rg_safetensors **out, const char *path)
{
    RG_TRY(rg_safetensors_open(out, path));
    rg_safetensors_finite_only(*out, true);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------- arrays */

static bool same_shape(const rg_safetensors_entry *a, const rg_param *e)
{
    bool flat = a->ndim == 1 && e->rows == 1 && a->dims[0] == e->cols;
    return flat || (a->ndim == 2 && a->dims[0] == e->rows && a->dims[1] == e->cols);
}

static rg_status compare(void *context, const char *name, const rg_param *e, rg_real *data)
{
    loading                    *l = context;
    const rg_safetensors_entry *a = rg_safetensors_find(l->file, name);
    const char                 *path = rg_safetensors_path(l->file);
    (void)data;
    if (!a) return rg_fail(RG_EMATCH, "%s: has no tensor '%s'; it is of another model", path, name);
    const bool integers = a->dtype == RG_DTYPE_I8 && name == e->name;
    if (integers) RG_TRY(rg_checkpoint__integers(l->file, a, e, l->learns));
    else if (!rg_dtype_is_weight(a->dtype))
        return rg_fail(RG_EMATCH, "%s: tensor '%s' is %s, not F32, F16 or BF16", path, name, rg_dtype_name(a->dtype));
    if (!same_shape(a, e))
        return rg_fail(RG_EMATCH, "%s: tensor '%s' is %zu x %zu, the model wants %zu x %zu", path, name,
                       a->ndim > 1 ? a->dims[0] : 1, a->ndim ? a->dims[a->ndim - 1] : 1, e->rows, e->cols);
    l->found++;
    if (e->rows * e->cols > l->largest) l->largest = e->rows * e->cols;
    return RG_OK;
}

static rg_status copy_in(void *context, const char *name, const rg_param *e, rg_real *data)
{
    loading                    *l = context;
    const rg_safetensors_entry *a = rg_safetensors_find(l->file, name);
    const size_t                n = e->rows * e->cols;
    if (a->dtype == RG_DTYPE_I8 || !data) return rg_checkpoint__copy_small(l->file, a, (rg_param *)e);
    if (!l->floats) return rg_safetensors_read_floats(l->file, a, (float *)data, n);
    RG_TRY(rg_safetensors_read_floats(l->file, a, l->floats, n));
    for (size_t i = 0; i < n; i++) data[i] = (rg_real)l->floats[i];
    return RG_OK;
}

static bool starts(const char *name, const char *with) { return strncmp(name, with, strlen(with)) == 0; }

/* Every array of the file must be a parameter, of the optimiser or of the state. What objectives learned
 * (objective.h) helped to train the model and is passed over where it only answers. */
static rg_status no_strangers(const loading *l, const rg_params *params, bool learns)
{
    for (size_t i = 0; i < rg_safetensors_count(l->file); i++) {
        const char *name = rg_safetensors_at(l->file, i)->name;
        if (starts(name, RG_CHECKPOINT_STATE) || starts(name, RG_CHECKPOINT_OPTIMIZER) || rg_params_find(params, name))
            continue;
        if (!learns && starts(name, "objective.")) continue;
        if (rg_checkpoint__is_scale(l->file, params, name)) continue;
        return rg_fail(RG_EMATCH, "%s: has a tensor '%s' that the model does not know", rg_safetensors_path(l->file),
                       name);
    }
    return RG_OK;
}

static rg_status optimizer_steps(uint64_t *out, const loading *l, const rg_optimizer *opt)
{
    const char *path = rg_safetensors_path(l->file);
    const char *name = rg_safetensors_metadata(l->file, RG_CHECKPOINT_OPTIMIZER "name");
    const char *steps = rg_safetensors_metadata(l->file, RG_CHECKPOINT_OPTIMIZER "steps");
    if (!name || !steps) return rg_fail(RG_EMATCH, "%s: holds no optimiser; training cannot be resumed from it", path);
    if (strcmp(name, opt->config.name) != 0)
        return rg_fail(RG_EMATCH, "%s: was trained with %s, not with %s", path, name, opt->config.name);
    char *end;
    *out = strtoull(steps, &end, 10);
    return end != steps && !*end ? RG_OK : rg_fail(RG_EFORMAT, "%s: the optimiser took '%.40s' steps", path, steps);
}

/* ----------------------------------------------------------------------------------------------------- state */

/* Metadata of the optimiser and of the format itself are not the caller's. */
static rg_status read_state(loading *l, rg_state *state)
{
    rg_state_clear(state);
    for (size_t i = 0; i < rg_safetensors_metadata_count(l->file); i++) {
        const char *key, *value;
        rg_safetensors_metadata_at(&key, &value, l->file, i);
        if (starts(key, RG_CHECKPOINT_OPTIMIZER) || strcmp(key, "format") == 0) continue;
        RG_TRY(rg_state_put_text(state, key, value));
    }
    for (size_t i = 0; i < rg_safetensors_count(l->file); i++) {
        const rg_safetensors_entry *a = rg_safetensors_at(l->file, i);
        const void                 *bytes;
        if (!starts(a->name, RG_CHECKPOINT_STATE) || a->dtype != RG_DTYPE_U8) continue;
        RG_TRY(rg_safetensors_data(&bytes, l->file, a));
        RG_TRY(rg_state_put_bytes(state, a->name + strlen(RG_CHECKPOINT_STATE), bytes, a->bytes));
    }
    return RG_OK;
}

rg_status rg_checkpoint_state(const char *path, rg_state *state)
{
    loading l = {0};
    RG_TRY(rg_safetensors_open(&l.file, path));
    rg_status status = read_state(&l, state);
    rg_safetensors_close(l.file);
    return status == RG_EINVAL ? rg_fail_in(RG_EFORMAT, "%s: ", path) : status;
}

/* --------------------------------------------------------------------------------------------------- loading */

static rg_status room_for_floats(loading *l)
{
    if (sizeof(rg_real) == sizeof(float)) return RG_OK;
    l->floats = rg_alloc_array(l->largest + 1, sizeof *l->floats);
    return l->floats ? RG_OK : RG_ENOMEM;
}

static rg_status load(loading *l, rg_params *params, rg_optimizer *opt, rg_state *state, rg_team *team)
{
    uint64_t steps = 0;
    l->learns = opt != NULL;
    RG_TRY(rg_checkpoint__walk(params, opt, compare, l));
    RG_TRY(no_strangers(l, params, opt != NULL));
    if (opt) RG_TRY(optimizer_steps(&steps, l, opt));
    RG_TRY(room_for_floats(l));
    if (state) RG_TRY(read_state(l, state));
    RG_TRY(rg_checkpoint__walk(params, opt, copy_in, l));
    if (opt) opt->steps = steps;
    return rg_params_repack(params, team);
}

rg_status rg_checkpoint_load(const char *path, rg_params *params, rg_optimizer *opt, rg_state *state, rg_team *team)
{
    loading l = {0};
    const bool built = params->block || (params->slim && rg_params_get_weights(params) != RG_WEIGHT_F32);
    if (!built) return rg_fail(RG_EINVAL, "%s: the parameters must be built before they are loaded", path);
    RG_TRY(open_finite(&l.file, path));
    rg_status status = load(&l, params, opt, state, team);
    rg_free(l.floats);
    rg_safetensors_close(l.file);
    return status;
}

/* --------------------------------------------------------------------------------------------------- finding */

/* Reads everything, so that every checksum is compared and every weight looked at. */
static rg_status verify(const char *path)
{
    rg_safetensors *file;
    size_t          largest = 1;
    RG_TRY(open_finite(&file, path));
    for (size_t i = 0; i < rg_safetensors_count(file); i++)
        if (rg_safetensors_at(file, i)->bytes > largest) largest = rg_safetensors_at(file, i)->bytes;
    void     *room = rg_alloc(largest);
    rg_status status = room ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; i < rg_safetensors_count(file) && status == RG_OK; i++) {
        const rg_safetensors_entry *a = rg_safetensors_at(file, i);
        status = rg_safetensors_read(file, a, room, a->bytes);
    }
    rg_free(room);
    rg_safetensors_close(file);
    return status;
}

/* *out says whether it can be used; a file that is there but broken sets *out_broken. */
static rg_status usable(bool *out, bool *out_broken, const char *path)
{
    bool there;
    *out = false;
    RG_TRY(rg_file_exists(&there, path));
    if (!there) return RG_OK;
    rg_status status = verify(path);
    if (status == RG_ENOMEM) return status;
    *out = status == RG_OK;
    *out_broken = *out_broken || status != RG_OK;
    return RG_OK;
}

rg_status rg_checkpoint_find(char **out_path, const char *path)
{
    *out_path = NULL;
    bool good = false, broken = false;
    for (int i = 0; i < 2 && !good; i++) {
        char *name = rg_format(i ? "%s.prev" : "%s", path);
        if (!name) return RG_ENOMEM;
        rg_status status = usable(&good, &broken, name);
        if (good) *out_path = name;
        else rg_free(name);
        RG_TRY(status);
    }
    if (good || !broken) return RG_OK;
    char *why = rg_strdup(rg_message());
    rg_fail(RG_EFORMAT,
            "neither the checkpoint %s nor the one before it, %s.prev, is whole (%s): copy one back from a backup and "
            "run again, or train from the "
            "beginning with --overwrite",
            path, path, why ? why : "out of memory");
    rg_free(why);
    return RG_EFORMAT;
}

/* ------------------------------------------------------------------------------------------------- averaging */

typedef struct averaging {
    loading l;
    double *sum; /* like the parameters' block */
} averaging;

static rg_status add_in(void *context, const char *name, const rg_param *e, rg_real *data)
{
    averaging *a = context;
    RG_TRY(copy_in(&a->l, name, e, data));
    for (size_t i = 0; i < e->rows * e->cols && e->kind != RG_KEPT; i++) a->sum[e->offset + i] += (double)data[i];
    return RG_OK;
}

static rg_status add_file(averaging *a, rg_params *params, const char *path)
{
    a->l = (loading){ .learns = true };
    RG_TRY(open_finite(&a->l.file, path));
    rg_status status = rg_checkpoint__walk(params, NULL, compare, &a->l);
    if (status == RG_OK) status = no_strangers(&a->l, params, false);
    if (status == RG_OK) status = room_for_floats(&a->l);
    if (status == RG_OK) status = rg_checkpoint__walk(params, NULL, add_in, a);
    rg_free(a->l.floats);
    rg_safetensors_close(a->l.file);
    return status;
}

rg_status rg_checkpoint_average(rg_params *params, const char *const *paths, size_t count, rg_team *team)
{
    if (count == 0) return rg_fail(RG_EINVAL, "there are no checkpoints to average");
    if (!params->block && params->slim)
        return rg_fail(RG_EMATCH,
                       "%s: its weights are %s, made for answering: average the float32 models and quantise the mean",
                       paths[0], rg_weights_name(rg_params_get_weights(params)));
    if (!params->block)
        return rg_fail(RG_EINVAL, "the parameters must be built before checkpoints are averaged into them");
    averaging a = {0};
    size_t    bytes;
    if (!rg_size_mul(&bytes, params->numbers, sizeof *a.sum))
        return rg_fail(RG_ELIMIT, "%zu numbers do not fit in memory", params->numbers);
    if (!(a.sum = rg_alloc_zero(bytes))) return RG_ENOMEM;
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && status == RG_OK; i++) status = add_file(&a, params, paths[i]);
    for (size_t i = 0; i < params->count && status == RG_OK; i++) {
        const rg_param *e = params->entry[i];
        for (size_t j = 0; j < e->rows * e->cols && e->kind != RG_KEPT; j++)
            e->data[j] = (rg_real)(a.sum[e->offset + j] / (double)count);
    }
    rg_free(a.sum);
    return status == RG_OK ? rg_params_repack(params, team) : status;
}
