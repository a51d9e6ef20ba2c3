/* mnist_parts.c - see mnist_parts.h. */
#include "lab/mnist_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "regard/made.h"
#include "regard/probe.h"
#include "tasks/probe.h"
#include "tasks/sample.h"

/* ------------------------------------------------------------------------------------------------------------ parts */

typedef struct {
    uint64_t key; /* random: the smallest of a class are chosen */
    size_t   at;
    int      label;
} candidate;

static int by_key(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    return a->label != b->label ? (a->label > b->label) - (a->label < b->label) : (a->key > b->key) - (a->key < b->key);
}

/* Which examples stay: one byte each. */
static rg_status choose(unsigned char *stays, const unsigned char *label, size_t n, const rg_digits_part *part)
{
    candidate *c = rg_alloc_array(n + 1, sizeof *c);
    size_t     of_class = 0;
    if (!c) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        rg_random r = rg_random_new(part->seed, i);
        const uint64_t high = rg_random_u32(&r);
        c[i] = (candidate){ high << 32 | rg_random_u32(&r), i, label[i] };
    }
    qsort(c, n, sizeof *c, by_key);
    for (size_t k = 0; k < n; k++) {
        of_class = k && c[k].label == c[k - 1].label ? of_class + 1 : 0;
        stays[c[k].at] = (!part->per_class || of_class < part->per_class) &&
                         (!part->classes || (size_t)c[k].label < part->classes) &&
                         (!part->every || (c[k].at % part->every == 0) != part->others);
    }
    rg_free(c);
    return RG_OK;
}

static rg_status put_number(rg_text *out, size_t n)
{
    const char bytes[4] = { (char)(n >> 24 & 255), (char)(n >> 16 & 255), (char)(n >> 8 & 255), (char)(n & 255) };
    return rg_text_add(out, bytes, 4);
}

/* Pixels and labels of all examples, one after another. */
typedef struct {
    rg_text pixels, labels;
    size_t  n, height, width, channels;
} pictures;

static rg_status read_pictures(pictures *to, const char *images, const char *labels, size_t most)
{
    static const char *const wanted[] = { "label", "picture" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    c.wanted = wanted;
    c.wanted_count = 2;
    c.labels = labels;
    RG_TRY(rg_reader_open(&r, images, &c));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more && !(most && to->n >= most);) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        const rg_cell *p = &row.cell[1];
        const char     label = (char)atoi(row.cell[0].bytes);
        to->height = p->height, to->width = p->width, to->channels = p->channels;
        status = rg_text_add(&to->pixels, p->bytes, p->height * p->width * p->channels);
        if (status == RG_OK) status = rg_text_add(&to->labels, &label, 1);
        to->n++;
    }
    rg_reader_close(r);
    return status;
}

static rg_status put_picture(rg_text *out, const pictures *p, size_t i, size_t channels)
{
    const size_t pixels = p->height * p->width;
    const char  *from = p->pixels.data + i * pixels * p->channels;
    if (channels == p->channels) return rg_text_add(out, from, pixels * channels);
    rg_status status = RG_OK;
    for (size_t k = 0; status == RG_OK && k < pixels * channels; k++)
        status = rg_text_add(out, from + k / channels * p->channels, 1);
    return status;
}

static rg_status encode(rg_text *images, rg_text *labels, const pictures *p, const unsigned char *stays, size_t kept,
                        size_t channels)
{
    const char kinds[2][4] = { { 0, 0, 8, 3 }, { 0, 0, 8, 4 } }, one[4] = { 0, 0, 8, 1 };
    RG_TRY(rg_text_add(images, kinds[channels > 1], 4));
    RG_TRY(put_number(images, kept));
    RG_TRY(put_number(images, p->height));
    RG_TRY(put_number(images, p->width));
    if (channels > 1) RG_TRY(put_number(images, channels));
    RG_TRY(rg_text_add(labels, one, 4));
    RG_TRY(put_number(labels, kept));
    for (size_t i = 0; i < p->n; i++) {
        if (!stays[i]) continue;
        RG_TRY(put_picture(images, p, i, channels));
        RG_TRY(rg_text_add(labels, p->labels.data + i, 1));
    }
    return RG_OK;
}

static rg_status write_part(const char *to_images, const char *to_labels, const char *images, const char *labels,
                            const rg_digits_part *part)
{
    pictures  p = { 0 };
    rg_text   a = { 0 }, b = { 0 };
    size_t    kept = 0;
    rg_status status = read_pictures(&p, images, labels, part->count);
    unsigned char *stays = status == RG_OK ? rg_alloc_zero(p.n + 1) : NULL;
    if (status == RG_OK && !stays) status = RG_ENOMEM;
    if (status == RG_OK && part->stays) memcpy(stays, part->stays, p.n < part->count ? p.n : part->count);
    else if (status == RG_OK) status = choose(stays, (const unsigned char *)p.labels.data, p.n, part);
    for (size_t i = 0; status == RG_OK && i < p.n; i++) kept += stays[i];
    if (status == RG_OK) status = encode(&a, &b, &p, stays, kept, part->channels ? part->channels : p.channels);
    if (status == RG_OK) status = rg_file_replace(to_images, a.data, a.length);
    if (status == RG_OK) status = rg_file_replace(to_labels, b.data, b.length); /* the last: all is there */
    rg_free(stays);
    rg_text_free(&a);
    rg_text_free(&b);
    rg_text_free(&p.pixels);
    rg_text_free(&p.labels);
    return status;
}

rg_status rg_lab_digits(const char *out, const char *images, const char *labels, const rg_digits_part *part)
{
    char     *a = rg_format("%s-images", out), *b = rg_format("%s-labels", out);
    bool      there = false;
    rg_status status = a && b ? rg_file_exists(&there, b) : RG_ENOMEM;
    if (status == RG_OK && !there) status = write_part(a, b, images, labels, part);
    rg_free(a);
    rg_free(b);
    return status;
}

rg_status rg_lab_mnist_m(const char *out, const char *data, size_t count)
{
    char *last = rg_format("%s/test-labels-idx1-ubyte", out), *photos = rg_format("%s/bsds500_train/images.tar", data);
    bool      there = false, have_photos = false;
    rg_status status = last && photos ? rg_file_exists(&there, last) : RG_ENOMEM;
    if (status == RG_OK) status = rg_file_exists(&have_photos, photos);
    if (status == RG_OK && !there) {
        char *yaml =
            rg_format("count: %zu\nvalid: %zu\ntest: %zu\nseed: 1\ndigits: %s/mnist\n%s%s\n", count, count / 10,
                      count < 10000 ? count : 10000, data, have_photos ? "pictures: " : "", have_photos ? photos : "");
        status = yaml ? rg_generator_write(&rg_generator_mnist_m, out, yaml) : RG_ENOMEM;
        rg_free(yaml);
    }
    rg_free(last);
    rg_free(photos);
    return status;
}

rg_status rg_lab_ring(const char *out)
{
    return rg_generator_write(&rg_generator_ring8, out, "count: 20000\nvalid: 1000\ntest: 1000\nseed: 1\n");
}

rg_status rg_lab_pictures(rg_real *to, const char *path, size_t first, size_t count, size_t width)
{
    static const char *const wanted[] = { "picture" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    bool                     more = true;
    c.wanted = wanted;
    c.wanted_count = 1;
    RG_TRY(rg_reader_open(&r, path, &c));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && more && i < first + count; i++) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        const rg_cell *p = &row.cell[0];
        if (p->height * p->width * p->channels != width)
            status = rg_fail(RG_EFORMAT, "%s: pictures of %zu numbers are needed", path, width);
        for (size_t k = 0; status == RG_OK && i >= first && k < width; k++)
            to[(i - first) * width + k] = (rg_real)((double)(unsigned char)p->bytes[k] / 255);
    }
    rg_reader_close(r);
    return status == RG_OK && !more ? rg_fail(RG_EFORMAT, "%s: fewer than %zu pictures", path, first + count) : status;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

rg_status rg_lab_model(rg_model **out, const char *folder)
{
    char     *path = rg_format("%s/model.safetensors", folder);
    rg_status status = path ? rg_model_load(out, path, NULL) : RG_ENOMEM;
    rg_free(path);
    return status;
}

rg_status rg_lab_attack(rg_lab_attacked *a, size_t n, const rg_model *m, const char *images, const char *labels,
                        size_t most, int threads)
{
    static char    none[] = "", automatic[] = "auto";
    char          *files[] = { (char *)images, (char *)labels };
    rg_set_options sets = {
        .train = { 2, files }, .format = none, .columns = none, .header = automatic, .pictures = none, .batch = 100
    };
    for (size_t i = 0; i < n; i++) {
        const rg_attack_config c = { .ball = RG_BALL_LINF,
                                     .epsilon = &a[i].epsilon,
                                     .epsilons = 1,
                                     .steps = &a[i].steps,
                                     .step_counts = 1,
                                     .most = most,
                                     .threads = threads,
                                     .seed = 1 };
        rg_attack_row          r;
        RG_TRY(rg_attack(&r, m, &sets, &c));
        a[i].clean_error = r.clean_error;
        a[i].error = r.error;
        a[i].confidence = r.confidence;
        a[i].noise = r.noise;
        a[i].margin_shift = r.margin - r.attacked_margin;
    }
    return RG_OK;
}

rg_status rg_lab_uncertain(unsigned char *stays, size_t count, size_t more, const rg_model *m, const char *images,
                           bool adversarial, int threads)
{
    static char          none[] = "", automatic[] = "auto";
    char                *file = (char *)images;
    const rg_set_options set = {
        .train = { 1, &file }, .format = none, .columns = none, .header = automatic, .pictures = none, .batch = 100
    };
    rg_ranked *ranked = NULL;
    size_t     n = 0;
    RG_TRY(rg_rank(&ranked, &n, m, &set, adversarial ? RG_RANK_ADVERSARIAL : RG_RANK_MARGIN, threads));
    for (size_t i = 0; i < n && more; i++) {
        const uint64_t at = ranked[i].line - 1;
        if (at >= count || stays[at]) continue;
        stays[at] = 1;
        more--;
    }
    rg_free(ranked);
    return RG_OK;
}

/* Batches through the model, without gradients. */
static rg_status count_errors(double *out, const rg_model *m, rg_examples *examples, rg_tape *t)
{
    size_t asked = 0, wrong = 0;
    for (bool more = true; more;) {
        rg_batch b;
        RG_TRY(rg_examples_next_in_epoch(&more, &b, examples));
        if (!more) break;
        rg_tape_reset(t, asked);
        const rg_tensor *y = m->system->predict(t, m, &b);
        RG_TRY(rg_tape_status(t));
        for (size_t i = 0; i < b.examples; i++) {
            const int32_t label = rg_probe__label(&b, b.examples, i);
            if (label < 0) continue;
            asked++;
            wrong += rg_probe__best(NULL, y, i) != label;
        }
    }
    *out = asked ? (double)wrong / (double)asked : 0;
    return RG_OK;
}

rg_status rg_lab_error(double *out, const rg_model *m, const char *images, const char *labels)
{
    static char          none[] = "", automatic[] = "auto";
    const rg_tape_config c = { .record = false };
    char                *files[] = { (char *)images, (char *)labels };
    const rg_set_options set = {
        .train = { 2, files }, .format = none, .columns = none, .header = automatic, .pictures = none, .batch = 100
    };
    rg_examples *examples = NULL;
    rg_tape     *t = NULL;
    rg_status    status = rg_probe_open(&examples, m, &set);
    if (status == RG_OK) status = rg_tape_new(&t, &c);
    if (status == RG_OK) status = count_errors(out, m, examples, t);
    rg_tape_free(t);
    rg_examples_free(examples);
    return status;
}

rg_status rg_lab_classes(size_t *counts, const rg_model *m, const rg_real *x, size_t n)
{
    enum { AT_ONCE = 100 };
    const size_t H = rg_model_size(m, "height"), W = rg_model_size(m, "width"), C = rg_model_size(m, "channels");
    const rg_tape_config c = { .record = false };
    int32_t              start[AT_ONCE + 1], size[2 * AT_ONCE];
    rg_tape             *t;
    for (size_t i = 0; i <= AT_ONCE; i++) start[i] = (int32_t)(i * H * W);
    for (size_t i = 0; i < AT_ONCE; i++) size[2 * i] = (int32_t)H, size[2 * i + 1] = (int32_t)W;
    memset(counts, 0, rg_model_size(m, "classes") * sizeof *counts);
    RG_TRY(rg_tape_new(&t, &c));
    rg_status status = RG_OK;
    for (size_t at = 0; status == RG_OK && at < n; at += AT_ONCE) {
        const size_t   k = n - at < AT_ONCE ? n - at : AT_ONCE;
        const rg_field f = { .kind = RG_FIELD_PIXELS,
                             .layout = { .groups = k, .start = start, .height = H, .width = W },
                             .values = x + at * H * W * C,
                             .width = C,
                             .size = size };
        const rg_batch b = { .examples = k, .fields = 1, .field = { f } };
        rg_tape_reset(t, 0);
        const rg_tensor *y = m->system->predict(t, m, &b);
        status = rg_tape_status(t);
        for (size_t i = 0; status == RG_OK && i < k; i++) counts[rg_probe__best(NULL, y, i)]++;
    }
    rg_tape_free(t);
    return status;
}

rg_status rg_lab_samples(rg_real *out, const rg_model *m, uint64_t seed, size_t count)
{
    return rg_sample_draw(out, m, seed, 0, count);
}
