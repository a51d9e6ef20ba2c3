/* features.c - a frozen network: pictures in, rows of its last maps out; and its bytes in a model file.
 *
 *   in the model file   features   lines of text: "regard features 1", "pixels RULE", "size HEIGHT WIDTH FIT RESIZE", "layers TEXT", "numbers N";
 *                                  then N floats, the parameters one after another */
#include "tasks/features.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { CHANNELS = 3, MOST_SIDE = 4096, MOST_LAYERS = 8192 };
static const char magic[] = "regard features 1\n";

/* ----------------------------------------------------------------------------------------------------------- making */

rg_status rg_features__new(rg_features **out, const char *layers, const char *rule, const rg_pixels_config *size,
                           size_t side)
{
    rg_features *f = rg_alloc_zero(sizeof *f);
    if (!f) return RG_ENOMEM;
    f->size = *size;
    if (!f->size.height) f->size.height = side;
    if (!f->size.width) f->size.width = side;
    snprintf(f->pixels, sizeof f->pixels, "%s", rule);
    f->layers = rg_strdup(layers);
    rg_status status = f->layers ? rg_params_new(&f->params) : RG_ENOMEM;
    if (status == RG_OK) status = rg_net_parse(&f->net, layers, CHANNELS, f->size.height, f->size.width);
    if (status == RG_OK && f->net.maps < f->net.count)
        status = rg_fail(RG_EMATCH, "layers of units ('%s') give no rows of a grid", f->net.layer[f->net.maps].text);
    if (status == RG_OK) {
        rg_net_init(&f->net, f->params, "net", rg_net_channels(&f->net));
        status = rg_params_build_empty(f->params);
    }
    if (status != RG_OK) {
        rg_features_free(f);
        return status;
    }
    *out = f;
    return RG_OK;
}

static uint64_t sum_of(const rg_features *f)
{
    const uint64_t size[4] = { f->size.height, f->size.width, (uint64_t)f->size.fit, (uint64_t)f->size.resize };
    rg_hash64      h;
    rg_hash64_begin(&h);
    rg_hash64_add(&h, f->layers, strlen(f->layers) + 1);
    rg_hash64_add(&h, f->pixels, strlen(f->pixels) + 1);
    rg_hash64_add(&h, size, sizeof size);
    for (size_t i = 0; i < rg_params_count(f->params); i++) {
        const rg_param *p = rg_params_at(f->params, i);
        rg_hash64_add(&h, rg_param_data(p), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real));
    }
    return rg_hash64_end(&h);
}

rg_status rg_features__ready(rg_features *f, int threads)
{
    rg_tape_config config = { .record = false };
    f->sum = sum_of(f);
    RG_TRY(rg_params_repack(f->params, NULL));
    if (threads > 1) RG_TRY(rg_team_new(&f->team, threads));
    config.team = f->team;
    RG_TRY(rg_tape_new(&f->tape, &config));
    f->values = rg_alloc_array(f->size.height * f->size.width * CHANNELS, sizeof *f->values);
    f->result = rg_alloc_array(rg_features_down(f) * rg_features_across(f) * rg_features_width(f), sizeof *f->result);
    return f->values && f->result ? RG_OK : RG_ENOMEM;
}

void rg_features_free(rg_features *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->entries; i++) rg_free(f->entry[i].rows);
    rg_free(f->entry);
    rg_free(f->slot);
    rg_free(f->cache);
    rg_tape_free(f->tape);
    rg_team_free(f->team);
    rg_params_free(f->params);
    rg_free(f->values);
    rg_free(f->result);
    rg_free(f->layers);
    rg_free(f);
}

size_t rg_features_width(const rg_features *f) { return rg_net_channels(&f->net); }
size_t rg_features_down(const rg_features *f) { return rg_net_height(&f->net); }
size_t rg_features_across(const rg_features *f) { return rg_net_width(&f->net); }
const rg_pixels_config *rg_features_pixels(const rg_features *f) { return &f->size; }
uint64_t rg_features_computed(const rg_features *f) { return f->computed; }

rg_status rg_features_sizes(rg_sizes *out, const rg_features *f)
{
    RG_TRY(rg_sizes_put(out, "channels", rg_features_width(f)));
    RG_TRY(rg_sizes_put(out, "height", rg_features_down(f)));
    RG_TRY(rg_sizes_put(out, "width", rg_features_across(f)));
    return rg_sizes_put(out, "encoded", 1);
}

rg_field_spec rg_features_spec(rg_features *f, const char *name)
{
    return (rg_field_spec){
        .name = name, .kind = RG_FIELD_PIXELS, .width = rg_features_width(f), .kept = &rg_features__kept, .context = f
    };
}

/* ---------------------------------------------------------------------------------------------------------- running */

static rg_status run(rg_features *f, const rg_picture *p)
{
    const size_t pixels = p->height * p->width, width = rg_features_width(f),
                 cells = rg_features_down(f) * rg_features_across(f);
    const int32_t   start[2] = { 0, (int32_t)pixels };
    const rg_layout layout = { .groups = 1, .start = start, .height = p->height, .width = p->width };
    for (size_t i = 0; i < pixels * CHANNELS; i++) f->values[i] = (rg_real)p->pixels[i] / 255;
    rg_tape_reset(f->tape, 0);
    rg_tensor *y = rg_net_maps(
        f->tape, &f->net, rg_pixels_as(f->tape, f->pixels, rg_input(f->tape, f->values, pixels, CHANNELS, &layout)));
    RG_TRY(rg_tape_status(f->tape));
    for (size_t i = 0; i < cells; i++) {
        const rg_real *row = rg_tensor_row(y, i);
        for (size_t d = 0; d < width; d++) f->result[i * width + d] = (float)row[d];
    }
    f->computed++;
    return RG_OK;
}

const float *rg_features_of(rg_status *status, rg_features *f, const rg_picture *picture)
{
    rg_picture fitted = { 0 };
    *status = RG_OK;
    if (picture->channels != CHANNELS)
        *status = rg_fail(RG_EINVAL, "a picture of %zu channels; the network reads %d", picture->channels, CHANNELS);
    else if (picture->height == f->size.height && picture->width == f->size.width) *status = run(f, picture);
    else {
        *status = rg_picture_fit(&fitted, picture, f->size.height, f->size.width, f->size.fit, f->size.resize);
        if (*status == RG_OK) *status = run(f, &fitted);
        rg_picture_free(&fitted);
    }
    return *status == RG_OK ? f->result : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- bytes */

static size_t all_numbers(const rg_features *f)
{
    size_t n = 0;
    for (size_t i = 0; i < rg_params_count(f->params); i++)
        n += rg_param_rows(rg_params_at(f->params, i)) * rg_param_cols(rg_params_at(f->params, i));
    return n;
}

rg_status rg_features_to_bytes(rg_text *out, const rg_features *f)
{
    RG_TRY(rg_text_print(out, "%spixels %s\nsize %zu %zu %d %d\nlayers %s\nnumbers %zu\n", magic, f->pixels,
                         f->size.height, f->size.width, (int)f->size.fit, (int)f->size.resize, f->layers,
                         all_numbers(f)));
    for (size_t i = 0; i < rg_params_count(f->params); i++) {
        const rg_param *p = rg_params_at(f->params, i);
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++) {
            const float x = (float)rg_param_data(p)[k];
            RG_TRY(rg_text_add(out, &x, sizeof x));
        }
    }
    return RG_OK;
}

/* The rest of a line that begins with `key`; *at moves behind it. */
static bool line_of(char *out, size_t room, const char **at, const char *end, const char *key)
{
    const size_t k = strlen(key);
    const char  *stop = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    if (!stop || (size_t)(stop - *at) < k || memcmp(*at, key, k) != 0 || (size_t)(stop - *at) - k >= room) return false;
    memcpy(out, *at + k, (size_t)(stop - *at) - k);
    out[(size_t)(stop - *at) - k] = '\0';
    *at = stop + 1;
    return true;
}

static bool is_rule(const char *rule)
{
    char list[] = "|" RG_PIXEL_RULES "|", word[RG_FEATURES_RULE + 2];
    return snprintf(word, sizeof word, "|%s|", rule) < (int)sizeof word && !strchr(rule, '|') && strstr(list, word);
}

static rg_status from_text(rg_features **out, const char **at, const char *end)
{
    char         rule[RG_FEATURES_RULE], sizes[80], layers[MOST_LAYERS], numbers[32];
    unsigned     height = 0, width = 0, fit = RG_FITS, how = RG_RESIZES;
    const size_t head = sizeof magic - 1;
    if ((size_t)(end - *at) < head || memcmp(*at, magic, head) != 0)
        return rg_fail(RG_EFORMAT, "features: not bytes of a frozen network");
    *at += head;
    if (!line_of(rule, sizeof rule, at, end, "pixels ") || !line_of(sizes, sizeof sizes, at, end, "size ") ||
        !line_of(layers, sizeof layers, at, end, "layers ") || !line_of(numbers, sizeof numbers, at, end, "numbers "))
        return rg_fail(RG_EFORMAT, "features: the lines in front of the numbers are damaged");
    if (sscanf(sizes, "%5u %5u %2u %2u", &height, &width, &fit, &how) != 4 || !height || !width || height > MOST_SIDE ||
        width > MOST_SIDE || fit >= RG_FITS || how >= RG_RESIZES || !is_rule(rule))
        return rg_fail(RG_EFORMAT, "features: pictures of '%.80s' pixels by the rule '%.16s'", sizes, rule);
    const rg_pixels_config size = { height, width, (rg_fit)fit, (rg_resize)how };
    return rg_features__new(out, layers, rule, &size, 0);
}

rg_status rg_features_from_bytes(rg_features **out, const void *bytes, size_t count)
{
    const char  *at = bytes, *end = at + count;
    rg_features *f = NULL;
    rg_status    status = from_text(&f, &at, end);
    if (status == RG_OK && all_numbers(f) * sizeof(float) != (size_t)(end - at))
        status = rg_fail(RG_EFORMAT, "features: %zu bytes for %zu numbers", (size_t)(end - at), all_numbers(f));
    for (size_t i = 0; status == RG_OK && i < rg_params_count(f->params); i++) {
        const rg_param *p = rg_params_at(f->params, i);
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++, at += sizeof(float)) {
            float x;
            memcpy(&x, at, sizeof x);
            rg_param_data(p)[k] = (rg_real)x;
        }
    }
    if (status == RG_OK) status = rg_features__ready(f, 1);
    if (status == RG_OK) *out = f;
    else rg_features_free(f);
    return status;
}
