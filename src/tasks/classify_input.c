/* classify_input.c - what a classifier reads: texts, numbers, sequences of numbers, counts, pixels, sound. A system names
 * those it can read; of several the format of the files decides. */
#include <math.h>
#include <string.h>

#include "tasks/classify.h"

static const rg_classify_input inputs[] = {
    { "text", "text", RG_FIELD_IDS, false, "", "labels and texts", true, false },
    { "numbers", "numbers", RG_FIELD_NUMBERS, false, "", "labels and numbers", true, false },
    { "sequence", "sequence", RG_FIELD_NUMBERS, true, "", "labels and sequences of numbers", true, false },
    { "counts", "counts", RG_FIELD_COUNTS, false, "svmlight", "labels and features number:value", false, false },
    { "pixels", "picture", RG_FIELD_PIXELS, false, "idx folder tar", "labelled pictures", false, false },
    { "sound", "sound", RG_FIELD_NUMBERS, true, "folder tar", "labelled recordings", true, true },
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

const rg_classify_input *rg_classify_input_find(const char *name)
{
    for (size_t i = 0; i < INPUTS; i++)
        if (strcmp(inputs[i].name, name) == 0) return &inputs[i];
    return NULL;
}

const rg_classify_input *rg_classify_input_of(const rg_model *m)
{
    const rg_classifier *its = m->assets;
    return rg_classify_input_find(its->input ? its->input : "text");
}

bool rg_classify_input_is_file(const rg_classify_input *in) { return in->kind == RG_FIELD_PIXELS || in->sound; }

/* Is it one of the words of a list? */
static bool among(const char *list, const char *separators, const char *word)
{
    for (const char *at = list; *(at += strspn(at, separators));) {
        const size_t bytes = strcspn(at, separators);
        if (strlen(word) == bytes && strncmp(at, word, bytes) == 0) return true;
        at += bytes;
    }
    return false;
}

static rg_status format_of(const char **out, const rg_set_options *sets)
{
    static const char *const wanted[] = { "label" };
    rg_reader_config         c = rg_supervised_reading(sets, wanted, 1);
    rg_reader               *r;
    if (sets->format[0]) return *out = sets->format, RG_OK;
    if (!sets->train.count) return *out = "", RG_OK;
    c.columns = "";
    c.header = RG_HEADER_NO;
    RG_TRY(rg_reader_open(&r, sets->train.items[0], &c));
    *out = rg_reader_format_of(r); /* a name of the table */
    rg_reader_close(r);
    return RG_OK;
}

/* The first of the inputs that a column of the training file is called after; "": none is, or the user says which
 * columns. */
static rg_status named_column(const char **out, const rg_set_options *sets, const char *reads)
{
    size_t several = 0;
    for (size_t i = 0; i < INPUTS; i++) several += inputs[i].named && among(reads, "|", inputs[i].name);
    if (several < 2 || !sets->train.count || sets->columns[0]) return RG_OK;
    for (size_t i = 0; i < INPUTS; i++) {
        const char *const wanted[] = { "label", inputs[i].column };
        rg_reader_config  c = rg_supervised_reading(sets, wanted, 2);
        rg_reader        *r;
        rg_row            row;
        bool              more;
        if (!inputs[i].named || !among(reads, "|", inputs[i].name)) continue;
        rg_status status = rg_reader_open(&r, sets->train.items[0], &c);
        if (status == RG_OK) {
            status = rg_reader_next(&more, &row, r);
            if (status == RG_OK && rg_reader_has_header(r)) *out = inputs[i].column;
            rg_reader_close(r);
        }
        if (status == RG_ENOMEM) return status; /* what else is wrong is told when the file is read */
        if (**out) return RG_OK;
    }
    return RG_OK;
}

rg_status rg_classify_input_choose(const rg_classify_input **out, const rg_run *run)
{
    const rg_classify_options *o = run->options;
    const char                *reads = run->system->reads ? run->system->reads : "text", *format = "", *column = "";
    if (o->in[0] && !among(reads, "|", o->in))
        return rg_fail(RG_EINVAL, "--in %s: system %s reads %s", o->in, run->system->name, reads);
    *out = rg_classify_input_find(o->in[0] ? o->in : reads);
    if (*out) return RG_OK;
    RG_TRY(format_of(&format, &o->sets));
    RG_TRY(named_column(&column, &o->sets, reads));
    for (size_t i = 0; i < INPUTS; i++) {
        if (!among(reads, "|", inputs[i].name)) continue;
        if (!*out || (strcmp(inputs[i].column, column) == 0 && inputs[i].named)) *out = &inputs[i]; /* the first, or what a column is called */
        if (among(inputs[i].formats, " ", format)) return *out = &inputs[i], RG_OK;
    }
    return *out ? RG_OK
                : rg_fail(RG_EINVAL, "system %s reads '%s', which the task does not know", run->system->name, reads);
}

static rg_status put_sizes(rg_sizes *sizes, const rg_classify_input *in, size_t width)
{
    if (in->kind == RG_FIELD_IDS) return RG_OK; /* the vocabulary's size comes with the assets */
    if (in->kind == RG_FIELD_COUNTS) RG_TRY(rg_sizes_put(sizes, "sparse", 1));
    return in->kind == RG_FIELD_PIXELS ? rg_sizes_put(sizes, "channels", width)
                                       : rg_sizes_put(sizes, "features", width);
}

/* Pictures through a frozen network: their size is its grid's. */
static rg_status learn_features(rg_field_spec *out, const rg_classify_input *in, rg_run *run)
{
    const rg_classify_options *o = run->options;
    rg_classifier             *its = run->assets;
    RG_TRY(rg_features_start(&its->features, &o->features, &its->pixels, run->own_threads));
    *out = rg_features_spec(its->features, in->column);
    rg_tell(run->report, "features of %s: %zu x %zu cells of %zu numbers", o->features.file,
            rg_features_down(its->features), rg_features_across(its->features), rg_features_width(its->features));
    return rg_features_sizes(&run->sizes, its->features);
}

rg_status rg_classify_input_learn(rg_field_spec *out, const rg_classify_input *in, rg_run *run,
                                  const rg_reader_config *reading)
{
    const rg_classify_options *o = run->options;
    rg_classifier             *its = run->assets;
    *out = (rg_field_spec){ .name = in->column, .kind = in->kind, .many = in->many };
    if (in->kind == RG_FIELD_IDS) {
        RG_TRY(rg_supervised_vocab(&its->vocab, run, &o->sets, &o->text, reading, 1));
        *out = rg_text_spec(in->column, its->vocab, &o->text);
        return o->text.ends ? rg_sizes_put(&run->sizes, "ends", 1) : RG_OK;
    }
    if (in->kind == RG_FIELD_PIXELS) {
        its->pixels = (rg_pixels_config)RG_PIXELS_CONFIG_DEFAULT;
        its->pixels.height = its->pixels.width = (size_t)o->size;
        RG_TRY(rg_fit_find(&its->pixels.fit, o->fit));
        RG_TRY(rg_sizes_put(&run->sizes, "fit", (size_t)its->pixels.fit));
        if (o->features.file[0] && o->augment[0])
            return rg_fail(RG_EINVAL,
                           "--augment changes pixels, --features keeps what was computed from them: one of both");
        if (o->features.file[0]) return learn_features(out, in, run);
        if (o->augment[0]) {
            RG_TRY(rg_augmented_new(&its->augmented, o->augment, (uint64_t)run->learning->seed));
            rg_augmented_on(out, its->augmented);
        }
        out->decode = rg_pixels_decode;
        out->context = &its->pixels;
    }
    if (in->sound)
        RG_TRY(rg_heard_start(&its->heard, out, in->column, &o->sound, (uint64_t)run->learning->seed));
    else RG_TRY(rg_examples_learn(NULL, &out->width, out, o->sets.train.items[0], reading));
    return put_sizes(&run->sizes, in, out->width);
}

rg_status rg_classify_input_check(const rg_classify_input *in, rg_run *run)
{
    const rg_supervised *d = run->data;
    rg_examples *const   stores[] = { d->train, d->valid, d->beside };
    static const char *const names[] = { "training", "validation", "unlabelled or target" };
    const rg_classifier *its = run->assets;
    const bool           alike = its->augmented && rg_augmented_alike(its->augmented);
    size_t               height = 0, width = 0, channels = 0;
    for (size_t s = 0; s < 3 && in->kind == RG_FIELD_PIXELS; s++)
        for (uint64_t i = 0; stores[s] && i < (alike ? 1 : rg_examples_count(stores[s])); i++) {
            rg_batch one;
            RG_TRY(rg_examples_one(&one, stores[s], i));
            const int32_t *size = one.field[RG_INPUT].size;
            channels = one.field[RG_INPUT].width;
            if (!height) height = (size_t)size[0], width = (size_t)size[1];
            if (height != (size_t)size[0] || width != (size_t)size[1])
                return rg_fail(RG_EFORMAT,
                               "%s picture %llu has %d x %d pixels, those before it %zu x %zu: give --size N", names[s],
                               (unsigned long long)one.lines[0], size[0], size[1], height, width);
        }
    if (!height) return RG_OK;
    RG_TRY(rg_sizes_put(&run->sizes, "height", height));
    RG_TRY(rg_sizes_put(&run->sizes, "width", width));
    /* what is built by pixels side by side; convolutions are smaller than their pictures, and a model file is
     * checked by its sizes */
    return strcmp(run->system->reads, "pixels") == 0 ? RG_OK
                                                     : rg_sizes_put(&run->sizes, "features", height * width * channels);
}

rg_field_spec rg_classify_input_spec(const rg_classify_input *in, const rg_model *m)
{
    rg_classifier *its = m->assets;
    const bool     pixels = in->kind == RG_FIELD_PIXELS, ends = in->kind == RG_FIELD_IDS && rg_model_size(m, "ends");
    rg_field_spec  spec = { .name = in->column,
                            .kind = in->kind,
                            .many = in->many,
                            .vocab = its->vocab,
                            .width = rg_model_size(m, pixels ? "channels" : "features"),
                            .max_rows = in->kind == RG_FIELD_IDS && m->longest > ends ? m->longest - ends : 0,
                            .crop = in->kind == RG_FIELD_IDS,
                            .bos = ends,
                            .eos = ends };
    if (in->sound && its->heard.frames) return rg_heard_spec(&its->heard, in->column);
    if (!pixels) return spec;
    if (its->features) return rg_features_spec(its->features, in->column);
    its->pixels = (rg_pixels_config)RG_PIXELS_CONFIG_DEFAULT;
    its->pixels.height = rg_model_size(m, "height");
    its->pixels.width = rg_model_size(m, "width");
    its->pixels.fit = (rg_fit)(rg_model_size(m, "fit") % RG_FITS);
    spec.decode = rg_pixels_decode;
    spec.context = &its->pixels;
    return spec;
}

/* --------------------------------------------------------------------------------------------------- standardising */

/* Sums of every column and of its squares over all examples. */
static rg_status add_columns(double *sum, double *squares, double *rows, rg_examples *c, size_t field, size_t width)
{
    for (uint64_t i = 0; i < rg_examples_count(c); i++) {
        rg_batch one;
        RG_TRY(rg_examples_one(&one, c, i));
        const rg_field *f = &one.field[field];
        const size_t    n = rg_field_rows(f);
        for (size_t k = 0; k < n * width; k++) {
            const double x = (double)f->values[k];
            sum[k % width] += x;
            squares[k % width] += x * x;
        }
        *rows += (double)n;
    }
    return RG_OK;
}

/* Inputs go in as (x + shift) scale, answers come out as y scale + shift. */
static void keep(rg_real *shift, rg_real *scale, double mean, double deviation, bool input)
{
    if (!(deviation > 1e-12 * (1 + fabs(mean)))) deviation = 1; /* a constant column */
    *shift = (rg_real)(input ? -mean : mean);
    *scale = (rg_real)(input ? 1 / deviation : deviation);
}

static rg_status standardize(rg_run *run, size_t field, const char *shift_name, const char *scale_name)
{
    rg_supervised  *d = run->data;
    const rg_param *shift = rg_params_find(run->model->params, shift_name),
                   *scale = rg_params_find(run->model->params, scale_name);
    if (!shift || !scale || rg_examples_spec(d->train, field)->kind != RG_FIELD_NUMBERS) return RG_OK;
    const size_t width = rg_examples_spec(d->train, field)->width;
    double      *sum = rg_alloc_zero(2 * width * sizeof *sum), rows = 0;
    rg_status    status = sum ? add_columns(sum, sum + width, &rows, d->train, field, width) : RG_ENOMEM;
    for (size_t j = 0; status == RG_OK && j < width && j < rg_param_cols(shift); j++) {
        const double mean = sum[j] / rows, variance = sum[width + j] / rows - mean * mean;
        keep(rg_param_data(shift) + j, rg_param_data(scale) + j, mean, sqrt(fmax(0, variance)), field == RG_INPUT);
    }
    rg_free(sum);
    return status;
}

rg_status rg_classify_standardize(rg_run *run)
{
    RG_TRY(standardize(run, RG_INPUT, "input.shift", "input.scale"));
    return standardize(run, RG_LABEL, "output.shift", "output.scale");
}
