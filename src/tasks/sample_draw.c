/* sample_draw.c - samples of a generator: as rows of numbers, PNG files, one sheet of pictures, or WAV files. Sample i is made
 * of noise that follows from the seed and i, so neither how many are drawn nor what stands before it changes it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tasks/sample.h"

enum { AT_ONCE = 256 };

const rg_option rg_drawing_rows[] = {
    { RG_OPTION_INT, "samples", offsetof(rg_drawing, count), "64", "how many", 'n', "[1,10000000]", NULL },
    { RG_OPTION_INT, "seed", offsetof(rg_drawing, seed), "1", "of the noise: sample i depends on it and on i alone", 0,
      "[0,inf)", NULL },
    { RG_OPTION_STRING, "png", offsetof(rg_drawing, png), "", "all pictures on one sheet", 0, NULL, NULL },
    { RG_OPTION_STRING, "output", offsetof(rg_drawing, output), "", "folder for a PNG file per picture", 'o', NULL,
      NULL },
    { RG_OPTION_STRING, "wav", offsetof(rg_drawing, wav), "", "folder for a WAV file per sample, of recordings", 0, NULL,
      NULL },
    { RG_OPTION_INT, "wav-rounds", offsetof(rg_drawing, rounds), "60", "rounds that find the phases of a WAV file", 0,
      "[0,10000]", NULL },
    { RG_OPTION_BOOL, "tsv", offsetof(rg_drawing, tsv), "false", "pictures too as rows of numbers", 0, NULL, NULL },
    { RG_OPTION_INT, "sheet-columns", offsetof(rg_drawing, columns), "0",
      "pictures in a row of the sheet; 0: as many as rows", 0, "[0,10000]", NULL },
    RG_OPTION_END
};

static void fill_noise(rg_real *z, size_t width, uint64_t seed, uint64_t number, bool normal)
{
    rg_random r = rg_random_new(seed, number);
    for (size_t j = 0; j < width; j++) z[j] = (rg_real)(normal ? rg_random_normal(&r) : 2 * rg_random_uniform(&r) - 1);
}

/* The setting --noise-kind of any system that makes samples. */
static bool is_normal(const rg_model *m)
{
    for (const rg_option *row = m->system->options; row->name; row++)
        if (strcmp(row->name, "noise-kind") == 0)
            return strcmp(*(char *const *)((const char *)m->options + row->offset), "normal") == 0;
    return false;
}

static rg_status draw_some(rg_real *out, const rg_model *m, rg_tape *t, rg_real *z, uint64_t seed, uint64_t first,
                           size_t n)
{
    const size_t width = rg_model_size(m, "noise"), F = rg_model_size(m, "features");
    const bool   normal = is_normal(m);
    int32_t      start[AT_ONCE + 1];
    for (size_t i = 0; i <= n; i++) start[i] = (int32_t)i;
    for (size_t i = 0; i < n; i++) fill_noise(z + i * width, width, seed, first + i, normal);
    const rg_field field = {
        .kind = RG_FIELD_NUMBERS, .layout = { .groups = n, .start = start }, .values = z, .width = width
    };
    const rg_batch b = { .examples = n, .fields = 1, .field = { [RG_INPUT] = field } };
    rg_tape_reset(t, 0);
    const rg_tensor *x = m->system->predict(t, m, &b);
    RG_TRY(rg_tape_status(t));
    for (size_t i = 0; i < n; i++) memcpy(out + i * F, rg_tensor_row(x, i), F * sizeof *out);
    return RG_OK;
}

rg_status rg_sample_draw(rg_real *out, const rg_model *m, uint64_t seed, uint64_t first, size_t count)
{
    const rg_tape_config c = { .record = false };
    const size_t         F = rg_model_size(m, "features");
    rg_tape             *t = NULL;
    rg_real             *z = rg_alloc_array((size_t)AT_ONCE * rg_model_size(m, "noise") + 1, sizeof *z);
    rg_status            status = z ? rg_tape_new(&t, &c) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i += AT_ONCE)
        status = draw_some(out + i * F, m, t, z, seed, first + i, count - i < AT_ONCE ? count - i : AT_ONCE);
    rg_tape_free(t);
    rg_free(z);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- pictures */

static rg_status save_each(const char *folder, const rg_real *x, const rg_model *m, uint64_t first, size_t count)
{
    const size_t F = rg_model_size(m, "features");
    rg_status    status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        char *path = rg_format("%s/%06llu.png", folder, (unsigned long long)(first + i + 1));
        status = path ? rg_sample_picture(path, x + i * F, m) : RG_ENOMEM;
        rg_free(path);
    }
    return status;
}

static rg_status save_sounds(const rg_drawing *d, const rg_real *x, const rg_model *m, uint64_t first, size_t count)
{
    const rg_sampler *its = m->assets;
    const size_t      F = rg_model_size(m, "features");
    rg_status         status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        char *path = rg_format("%s/%06llu.wav", d->wav, (unsigned long long)(first + i + 1));
        status = path ? rg_sound_pictures_save(path, &its->sound.heard, x + i * F, rg_model_size(m, "width"), (size_t)d->rounds)
                      : RG_ENOMEM;
        rg_free(path);
    }
    return status;
}

/* Samples of recordings: their pictures have a row per band. */
static rg_status check_sound(const rg_model *m, const rg_drawing *d)
{
    const rg_frames *frames = ((const rg_sampler *)m->assets)->sound.heard.frames;
    if (!d->wav[0]) return RG_OK;
    if (!frames) return rg_fail(RG_EINVAL, "its samples are no recordings: --wav is for gans of sound");
    if (rg_frames_config_of(frames)->mels != rg_model_size(m, "height") || rg_model_size(m, "channels") != 1)
        return rg_fail(RG_EFORMAT, "%zu bands in pictures of %zu rows", rg_frames_config_of(frames)->mels,
                       rg_model_size(m, "height"));
    return mkdir(d->wav, 0777) == 0 || errno == EEXIST ? RG_OK : rg_fail(RG_EIO, "%s: %s", d->wav, strerror(errno));
}

/* ----------------------------------------------------------------------------------------------------------- asking */

static rg_status give_rows(const rg_sink *sink, const rg_real *x, size_t F, size_t count)
{
    rg_text   line = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        rg_text_clear(&line);
        for (size_t j = 0; status == RG_OK && j < F; j++)
            status = rg_text_print(&line, "%s%.6g", j ? " " : "", (double)x[i * F + j]);
        const rg_value cell = { .text = rg_text_c(&line) };
        if (status == RG_OK) status = sink->row(sink->context, &cell);
    }
    rg_text_free(&line);
    return status;
}

rg_status rg_sample_generate(const rg_model *m, const rg_question *q)
{
    static const char *const columns[] = { "numbers" };
    const rg_drawing        *d = q->options;
    const size_t             F = rg_model_size(m, "features");
    const bool               pictures = rg_model_size(m, "height") > 0, rows = d->tsv || !pictures;
    rg_sheet                 s = { 0 };
    if (!pictures && (d->png[0] || d->output[0]))
        return rg_fail(RG_EINVAL, "its samples are numbers: --png and --output are for pictures");
    RG_TRY(check_sound(m, d));
    if (pictures && !rows && !d->png[0] && !d->output[0] && !d->wav[0])
        return rg_fail(RG_EINVAL, "where to? give --png SHEET, --output FOLDER, --wav FOLDER (sound) or --tsv");
    if (d->output[0] && mkdir(d->output, 0777) != 0 && errno != EEXIST)
        return rg_fail(RG_EIO, "%s: %s", d->output, strerror(errno));
    rg_real  *x = rg_alloc_array((size_t)AT_ONCE * F + 1, sizeof *x);
    rg_status status = x ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && d->png[0]) status = rg_sheet_new(&s, m, (size_t)d->count, (size_t)d->columns);
    if (status == RG_OK && rows) status = q->sink->columns(q->sink->context, columns, 1);
    for (size_t i = 0; status == RG_OK && i < (size_t)d->count; i += AT_ONCE) {
        const size_t n = (size_t)d->count - i < AT_ONCE ? (size_t)d->count - i : AT_ONCE;
        status = rg_sample_draw(x, m, (uint64_t)d->seed, i, n);
        if (status == RG_OK && rows) status = give_rows(q->sink, x, F, n);
        if (status == RG_OK && d->png[0]) rg_sheet_add(&s, x, m, i, n);
        if (status == RG_OK && d->output[0]) status = save_each(d->output, x, m, i, n);
        if (status == RG_OK && d->wav[0]) status = save_sounds(d, x, m, i, n);
    }
    if (status == RG_OK && d->png[0]) status = rg_picture_save(d->png, &s.picture);
    rg_picture_free(&s.picture);
    rg_free(x);
    return status;
}
