/* features_open.c - the network of --features: in a model file of ours (cnn), or in a file with torchvision's names
 * (layers/pretrained.h). */
#include <string.h>

#include "layers/pretrained.h"
#include "regard/safetensors.h"
#include "regard/task.h"
#include "tasks/features.h"

/* -------------------------------------------------------------------------------------------------- files of others */

typedef struct {
    rg_safetensors *file;
    bool           *used;
} source;

static const rg_safetensors_entry *entry_of(const source *s, const char *name)
{
    for (size_t i = 0; i < rg_safetensors_count(s->file); i++)
        if (strcmp(rg_safetensors_at(s->file, i)->name, name) == 0)
            return s->used[i] = true, rg_safetensors_at(s->file, i);
    return NULL;
}

static bool shape(void *context, const char *name, size_t dims[4], size_t *ndim)
{
    const rg_safetensors_entry *e = entry_of(context, name);
    if (!e) return false;
    *ndim = e->ndim;
    for (size_t i = 0; i < e->ndim && i < 4; i++) dims[i] = e->dims[i];
    return true;
}

static rg_status read(void *context, const char *name, float *out, size_t count)
{
    const source *s = context;
    return rg_safetensors_read_floats(s->file, rg_safetensors_find(s->file, name), out, count);
}

/* Tensors that are not asked for say that it is another network; the classifier and counters of batch norms aside. */
static rg_status no_strangers(const source *s, const char *network)
{
    for (size_t i = 0; i < rg_safetensors_count(s->file); i++) {
        const char *name = rg_safetensors_at(s->file, i)->name, *dot = strrchr(name, '.');
        if (s->used[i] || strncmp(name, "classifier.", 11) == 0 || (dot && strcmp(dot, ".num_batches_tracked") == 0))
            continue;
        return rg_fail(RG_EMATCH, "has a tensor \"%s\" that %s has no place for", name, network);
    }
    return RG_OK;
}

static rg_status from_foreign(rg_features **out, const rg_pretrained *network, const rg_tensors_of *tensors,
                              const rg_pixels_config *size)
{
    char layers[RG_PRETRAINED_TEXT];
    RG_TRY(rg_pretrained_layers(layers, network, tensors, false));
    RG_TRY(rg_features__new(out, layers, network->pixels, size, network->side));
    RG_TRY(rg_pretrained_fill(&(*out)->net, network, tensors, NULL));
    return no_strangers(tensors->context, network->name);
}

/* ---------------------------------------------------------------------------------------------------- files of ours */

/* A setting of the model that is a text. */
static const char *setting(const rg_model *m, const char *name)
{
    for (const rg_option *row = m->system->options; row->name; row++)
        if (strcmp(row->name, name) == 0 && row->kind == RG_OPTION_STRING)
            return *(char *const *)((const char *)m->options + row->offset);
    return "";
}

static rg_status copy_params(const rg_features *f, const rg_model *m)
{
    for (size_t i = 0; i < rg_params_count(f->params); i++) {
        const rg_param *to = rg_params_at(f->params, i), *from = rg_params_find(m->params, rg_param_name(to));
        if (!from || rg_param_rows(from) != rg_param_rows(to) || rg_param_cols(from) != rg_param_cols(to))
            return rg_fail(RG_EMATCH, "has no %s of %zu x %zu", rg_param_name(to), rg_param_rows(to),
                           rg_param_cols(to));
        memcpy(rg_param_data(to), rg_param_data(from), rg_param_rows(to) * rg_param_cols(to) * sizeof(rg_real));
    }
    return RG_OK;
}

static rg_status from_model(rg_features **out, const rg_model *m, const rg_pixels_config *size)
{
    if (strcmp(m->system->name, "cnn") != 0 || strcmp(setting(m, "front"), "none") != 0 ||
        rg_model_size(m, "channels") != 3)
        return rg_fail(RG_EMATCH,
                       "holds a '%s'; --features takes a cnn without --front on pictures of 3 channels, as `regard "
                       "import` makes it",
                       m->system->name);
    const char *given = setting(m, "layers");
    char       *layers = rg_strdup(strcmp(given, "auto") == 0 ? "c3x32 p2 c3x64 p2 c3x64" : given);
    if (!layers) return RG_ENOMEM;
    char *last = strrchr(layers, ' '), *units = strstr(layers, " f");
    if (strcmp(setting(m, "head"), "maps") == 0 && last) *last = '\0'; /* the classes themselves */
    else if (units) *units = '\0';
    rg_status status = rg_features__new(out, layers, setting(m, "pixels"), size, rg_model_size(m, "height"));
    if (status == RG_OK) status = copy_params(*out, m);
    rg_free(layers);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static rg_status is_pickle(bool *out, const char *path)
{
    unsigned char begin[2] = { 0 };
    rg_file      *file = NULL;
    size_t        got = 0;
    RG_TRY(rg_file_open(&file, path, "rr"));
    const rg_status status = rg_file_read_some(&got, file, begin, sizeof begin);
    (void)rg_file_close(file); /* only read */
    *out = got == 2 && ((begin[0] == 'P' && begin[1] == 'K') || (begin[0] == 0x80 && begin[1] <= 5));
    return status;
}

rg_status rg_features__open(rg_features **out, const char *path, const rg_pixels_config *size)
{
    source        s = { 0 };
    rg_pretrained network;
    rg_model     *m = NULL;
    bool          pickle = false;
    RG_TRY(is_pickle(&pickle, path));
    if (pickle)
        return rg_fail(
            RG_EFORMAT,
            "%s is a PyTorch file: write it as safetensors, or `regard import %s -m OUT.safetensors` and give OUT",
            path, path);
    RG_TRY(rg_safetensors_open(&s.file, path));
    const rg_tensors_of tensors = { &s, shape, read };
    rg_status           status = (s.used = rg_alloc_zero(rg_safetensors_count(s.file) + 1)) ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && rg_pretrained_recognise(&network, &tensors))
        status = from_foreign(out, &network, &tensors, size);
    else if (status == RG_OK) {
        status = rg_model_load(&m, path, NULL);
        if (status == RG_OK) status = from_model(out, m, size);
        rg_model_free(m);
    }
    rg_safetensors_close(s.file);
    rg_free(s.used);
    return status == RG_OK || strstr(rg_message(), path) ? status : rg_fail_in(status, "%s: ", path);
}

rg_status rg_features_start(rg_features **out, const rg_features_options *o, const rg_pixels_config *pixels,
                            int threads)
{
    rg_features *f = NULL;
    rg_status    status = rg_features__open(&f, o->file, pixels);
    if (status == RG_OK) status = rg_features__ready(f, threads);
    if (status == RG_OK && o->cache[0]) status = rg_features__load(f, o->cache);
    if (status == RG_OK) *out = f;
    else rg_features_free(f);
    return status;
}
