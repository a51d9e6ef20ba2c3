/* sample.c - examples without labels -> samples like them. The examples are rows of numbers (every column of a table,
 * or the column "numbers") or pictures of one size; labels that files have are not read. Validation data, where there
 * are any, judge samples by the log-likelihood of a Parzen window: its width is chosen on one half of them, the number
 * is of the other half.
 *
 *   in the model file      sample.input  "numbers", "pixels" or "sound"
 *                          sound         how recordings become pictures, and samples of them recordings */
#include <math.h>
#include <string.h>

#include "regard/made.h"
#include "regard/metrics.h"
#include "tasks/batches.h"
#include "tasks/sample.h"

enum { JUDGE_SAMPLES = 1000,
       JUDGE_MOST = 1000 };

typedef struct {
    rg_set_options sets;
    char          *fit, *in;
    int64_t        size, frames;
    rg_sound_options sound;
} sample_options;

static const rg_option options[] = { RG_SET_ROWS(sample_options, sets, "file of numbers, or pictures,", "64"),
                                     { RG_OPTION_INT, "size", offsetof(sample_options, size), "0",
                                       "pixels of a side that picture files are scaled to; 0: as they are", 0,
                                       "[0,4096]", NULL },
                                     { RG_OPTION_STRING, "fit", offsetof(sample_options, fit), "crop",
                                       "how a picture of another shape is fitted", 0, "crop|stretch|pad", NULL },
                                     { RG_OPTION_STRING, "in", offsetof(sample_options, in), "",
                                       "sound: files are recordings, which become pictures of log-mel numbers", 0,
                                       "|sound", NULL },
                                     { RG_OPTION_INT, "sound-frames", offsetof(sample_options, frames), "48",
                                       "frames of a recording; longer ones are cut", 0, "[1,4096]", NULL },
                                     RG_SOUND_ROWS(sample_options, sound),
                                     RG_OPTION_END };

static const rg_asset assets[] = { { RG_ASSET_TEXT, "sample.input", offsetof(rg_sampler, input), NULL, 0, false },
                                   { RG_ASSET_TEXT, "sound", offsetof(rg_sampler, sound.heard.settings), NULL, 0, true },
                                   { 0 } };

static rg_status adopt(void *its, rg_sizes *sizes, const rg_state *state)
{
    rg_sampler *s = its;
    RG_TRY(rg_assets_adopt(assets, its, sizes, state));
    return s->sound.heard.settings ? rg_heard_adopt(&s->sound.heard) : RG_OK;
}
static rg_status describe(rg_state *state, const void *its) { return rg_assets_describe(assets, state, its); }
static void      drop(void *its)
{
    rg_heard_drop(&((rg_sampler *)its)->sound.heard);
    rg_assets_drop(assets, its);
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static rg_status put_picture_sizes(rg_run *run, size_t channels)
{
    rg_supervised *d = run->data;
    rg_batch       one;
    size_t         height = 0, width = 0;
    for (uint64_t i = 0; i < rg_examples_count(d->train); i++) {
        RG_TRY(rg_examples_one(&one, d->train, i));
        const int32_t *size = one.field[RG_INPUT].size;
        if (!height) height = (size_t)size[0], width = (size_t)size[1];
        if (height != (size_t)size[0] || width != (size_t)size[1])
            return rg_fail(RG_EFORMAT, "picture %llu has %d x %d pixels, those before it %zu x %zu: give --size N",
                           (unsigned long long)one.lines[0], size[0], size[1], height, width);
    }
    RG_TRY(rg_sizes_put(&run->sizes, "channels", channels));
    RG_TRY(rg_sizes_put(&run->sizes, "height", height));
    RG_TRY(rg_sizes_put(&run->sizes, "width", width));
    return rg_sizes_put(&run->sizes, "features", height * width * channels);
}

static rg_status open_sound(rg_run *run, rg_reader_config *reading)
{
    const sample_options *o = run->options;
    rg_sampler           *its = run->assets;
    rg_field_spec         spec;
    char                 *files = NULL;
    RG_TRY(rg_sound_pictures_start(&its->sound, &spec, reading, &o->sound, (size_t)o->frames));
    RG_TRY(rg_heard_files(&files, o->sets.train.items[0], &o->sets));
    reading->files = files;
    const rg_status status = rg_supervised_open(run, &o->sets, reading, &spec, 1);
    rg_free(files);
    RG_TRY(status);
    if (!(its->input = rg_strdup("sound"))) return RG_ENOMEM;
    return put_picture_sizes(run, 1);
}

static rg_status open(rg_run *run)
{
    const sample_options *o = run->options;
    rg_sampler           *its = run->assets;
    rg_field_spec         spec;
    RG_TRY(rg_supervised_check(&o->sets, "numbers or pictures", true));
    if (o->sets.unlabelled.count || o->sets.target.count)
        return rg_fail(RG_EINVAL, "no example has a label here: give all of them as --train-sets");
    rg_reader_config reading = rg_supervised_reading(&o->sets, NULL, 0);
    if (o->in[0]) return open_sound(run, &reading);
    RG_TRY(rg_vectors_spec(&spec, &reading, o->sets.train.items[0]));
    const bool pixels = spec.kind == RG_FIELD_PIXELS;
    its->pixels = (rg_pixels_config)RG_PIXELS_CONFIG_DEFAULT;
    its->pixels.height = its->pixels.width = (size_t)o->size;
    RG_TRY(rg_fit_find(&its->pixels.fit, o->fit));
    if (pixels) spec.context = &its->pixels;
    RG_TRY(rg_examples_learn(NULL, &spec.width, &spec, o->sets.train.items[0], &reading));
    RG_TRY(rg_supervised_open(run, &o->sets, &reading, &spec, 1));
    if (!(its->input = rg_strdup(pixels ? "pixels" : "numbers"))) return RG_ENOMEM;
    return pixels ? put_picture_sizes(run, spec.width) : rg_sizes_put(&run->sizes, "features", spec.width);
}

/* Means and deviations of the columns, which the model keeps. */
static rg_status standardize(rg_run *run, size_t width)
{
    rg_supervised   *d = run->data;
    const rg_params *p = run->model->params;
    rg_real         *in_shift = rg_param_data(rg_params_find(p, "input.shift")),
            *in_scale = rg_param_data(rg_params_find(p, "input.scale"));
    rg_real *shift = rg_param_data(rg_params_find(p, "output.shift")),
            *scale = rg_param_data(rg_params_find(p, "output.scale"));
    const double n = (double)rg_examples_count(d->train);
    double      *sum = rg_alloc_zero(2 * width * sizeof *sum);
    rg_status    status = sum ? RG_OK : RG_ENOMEM;
    for (uint64_t i = 0; status == RG_OK && i < rg_examples_count(d->train); i++) {
        rg_batch one;
        status = rg_examples_one(&one, d->train, i);
        for (size_t j = 0; status == RG_OK && j < width; j++) {
            const double x = (double)one.field[RG_INPUT].values[j];
            sum[j] += x;
            sum[width + j] += x * x;
        }
    }
    for (size_t j = 0; status == RG_OK && j < width; j++) {
        const double mean = sum[j] / n, deviation = sqrt(fmax(0, sum[width + j] / n - mean * mean)),
                     unit = deviation > 1e-12 ? deviation : 1;
        in_shift[j] = (rg_real)-mean;
        in_scale[j] = (rg_real)(1 / unit);
        shift[j] = (rg_real)mean;
        scale[j] = (rg_real)unit;
    }
    rg_free(sum);
    return status;
}

static rg_status ready(rg_run *run)
{
    const rg_sampler *its = run->model->assets;
    const size_t      width = rg_model_size(run->model, "features");
    rg_tell(run->report, "%s, %zu numbers each, %zu parameters", its->input, width,
            rg_params_numbers(run->model->params));
    return rg_params_find(run->model->params, "input.shift") ? standardize(run, width) : RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

/* Validation examples as rows. */
static rg_status read_valid(rg_real *to, rg_run *run, size_t n, size_t width)
{
    rg_supervised *d = run->data;
    for (size_t i = 0; i < n; i++) {
        rg_batch one;
        RG_TRY(rg_examples_one(&one, d->valid, i));
        memcpy(to + i * width, one.field[RG_INPUT].values, width * sizeof *to);
    }
    return RG_OK;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    rg_supervised *d = run->data;
    const size_t   width = rg_model_size(run->model, "features"), all = (size_t)rg_examples_count(d->valid),
                 n = all < JUDGE_MOST ? all : JUDGE_MOST;
    rg_real *x = rg_alloc_array(n * width + 1, sizeof *x),
            *s = rg_alloc_array((size_t)JUDGE_SAMPLES * width, sizeof *s);
    rg_parzen p = { 0 };
    rg_status status = x && s ? read_valid(x, run, n, width) : RG_ENOMEM;
    if (status == RG_OK) status = rg_sample_draw(s, run->model, (uint64_t)run->learning->seed + 1, 0, JUDGE_SAMPLES);
    if (status == RG_OK)
        status = rg_parzen_measure(&p, s, JUDGE_SAMPLES, x + n / 2 * width, n - n / 2, x, n / 2 ? n / 2 : 1, width);
    if (status == RG_OK) status = rg_metrics_add(out, "parzen", p.mean, true);
    if (status == RG_OK) status = rg_sheet_keep(run, s, JUDGE_SAMPLES, x, n);
    rg_free(x);
    rg_free(s);
    return status;
}

static rg_status hint(rg_text *out, const void *given, const char *program, const char *model)
{
    const sample_options *o = given;
    rg_reader_config      reading = rg_supervised_reading(&o->sets, NULL, 0);
    rg_field_spec         spec = { 0 };
    if (o->in[0]) return rg_text_print(out, "%s generate -m %s -n 16 --wav DIR", program, model);
    const bool            pixels = o->sets.train.count &&
                        rg_vectors_spec(&spec, &reading, o->sets.train.items[0]) == RG_OK &&
                        spec.kind == RG_FIELD_PIXELS;
    return rg_text_print(out, "%s generate -m %s -n 64%s", program, model, pixels ? " --png sheet.png" : "");
}

/* ------------------------------------------------------------------------------------------------------------ small */

static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    rg_status  status = rg_generator_write(&rg_generator_ring8, folder,
                                          demo ? "count: 20000\nvalid: 1000\ntest: 0\nseed: 5\n"
                                                : "count: 200\nvalid: 20\ntest: 0\nseed: 5\n");
    if (status != RG_OK) return status;
    return rg_text_print(
        yaml,
        "train-sets: [%s/train.tsv]\nvalid-sets: [%s/valid.tsv]\nmini-batch: %d\nnoise: %d\ngenerator-layers: '%s'\n"
        "discriminator-layers: '%s'\nafter-epochs: %d\ncritic-steps: %d\n",
        folder, folder, demo ? 500 : 50, demo ? 8 : 3, demo ? "f128 f128" : "f6", demo ? "f128 f128" : "f8 d0.2",
        demo ? 60 : 2, demo ? 1 : 2);
}

static const rg_demo demos[] = {
    { .name = "gan",
      .summary = "a generator learns eight places on a ring; samples are printed at the end",
      .type = "gan",
      .settings = "noise-kind: normal\nlearn-rate: 0.001\nlr-schedule: linear\nafter-epochs: 0\nafter-batches: "
                  "5000\nvalid-epochs: 0\nvalid-freq: 2500\n",
      .metric = "parzen",
      .expected = 0.5 },
    { 0 },
};

const rg_task rg_task_sample = {
    .name = "sample",
    .in = "numbers, pictures or sound without labels",
    .out = "samples like them",
    .unit = "rows",
    .summary = "data without labels: tables of numbers, pictures, recordings; `regard generate` draws samples",
    .options = options,
    .options_bytes = sizeof(sample_options),
    .learning = "learn-rate: 0.0002\nbeta1: 0.5\nbeta2: 0.999\nafter-epochs: 60\nvalid-freq: 0\nvalid-epochs: "
                "5\nearly-stopping: 0\nkeep-best: false\n"
                "restore-best: false\nsave-freq: 0\ndisp-freq: 100\n",
    RG_ASSETS(rg_sampler),
    RG_SUPERVISED(rg_supervised),
    .open = open,
    .ready = ready,
    .judge = judge,
    .hint = hint,
    .drawing = rg_drawing_rows,
    .drawing_bytes = sizeof(rg_drawing),
    .generate = rg_sample_generate,
    .small = small,
    .demos = demos,
};
