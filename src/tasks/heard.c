/* heard.c - see heard.h. */
#include "tasks/heard.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "regard/picture.h"

static rg_status to_config(rg_frames_config *c, const rg_sound_options *o)
{
    *c = (rg_frames_config){ .rate = (size_t)o->rate,
                             .mels = (size_t)o->mels,
                             .window = o->window,
                             .step = o->step,
                             .low = o->low,
                             .high = o->high,
                             .emphasis = o->emphasis,
                             .range = o->range,
                             .stack = (size_t)o->stack };
    for (int n = 0; n < RG_FRAMES_NORMS; n++)
        if (strcmp(o->norm, rg_frames_norm_name((rg_frames_norm)n)) == 0) c->norm = (rg_frames_norm)n;
    return rg_frames_check(c);
}

rg_status rg_heard_start(rg_heard *h, rg_field_spec *spec, const char *name, const rg_sound_options *o, uint64_t seed)
{
    rg_frames_config c;
    rg_text          text = { 0 };
    RG_TRY(to_config(&c, o));
    rg_status status = rg_frames_config_print(&text, &c);
    if (status == RG_OK && !(h->settings = rg_strdup(rg_text_c(&text)))) status = RG_ENOMEM;
    rg_text_free(&text);
    RG_TRY(status);
    RG_TRY(rg_frames_new(&h->frames, &c));
    *spec = rg_heard_spec(h, name);
    if (!o->augment[0]) return RG_OK;
    h->change = (rg_frames_change){ .mels = c.mels, .seed = seed };
    status = rg_frames_change_parse(&h->change, o->augment);
    spec->change_rows = rg_frames_change_rows;
    spec->changing = &h->change;
    return status == RG_OK ? RG_OK : rg_fail_in(status, "--sound-augment: ");
}

rg_status rg_heard_adopt(rg_heard *h)
{
    rg_frames_config c;
    RG_TRY(rg_frames_config_parse(&c, h->settings));
    const rg_status status = rg_frames_new(&h->frames, &c);
    return status == RG_EINVAL ? rg_fail_in(RG_EFORMAT, "settings of sound: ") : status;
}

void rg_heard_drop(rg_heard *h)
{
    rg_frames_free(h->frames);
    h->frames = NULL;
}

rg_field_spec rg_heard_spec(const rg_heard *h, const char *name)
{
    return (rg_field_spec){ .name = name,
                            .kind = RG_FIELD_NUMBERS,
                            .many = true,
                            .width = rg_frames_width(rg_frames_config_of(h->frames)),
                            .rows = rg_frames_decode,
                            .context = h->frames };
}

rg_status rg_heard_files(char **out, const char *path, const rg_set_options *sets)
{
    struct stat  about;
    const char  *slash = strrchr(path, '/');
    static const char *const wanted[] = { "sound" };
    rg_reader_config c = rg_supervised_reading(sets, wanted, 1);
    rg_reader       *r;
    *out = NULL;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return RG_OK;
    c.columns = "";
    c.header = RG_HEADER_NO;
    c.files = NULL;
    RG_TRY(rg_reader_open(&r, path, &c));
    const bool archive = strcmp(rg_reader_format_of(r), "tar") == 0;
    rg_reader_close(r);
    if (archive) return RG_OK;
    *out = *sets->pictures ? rg_strdup(sets->pictures)
           : slash         ? rg_format("%.*s", (int)(slash - path + 1), path)
                           : rg_strdup("./");
    return *out ? RG_OK : RG_ENOMEM;
}

/* ----------------------------------------------------------------------------------------------------------- record */

enum { TALL = 160, WIDE = 960, MOST_WIDE = 8000 }; /* pixels, at least; frames of a picture */

/* Black over blue and orange to white. */
static void paint(unsigned char *to, double value)
{
    static const unsigned char colours[5][3] = {
        { 8, 10, 24 }, { 38, 40, 110 }, { 150, 50, 120 }, { 240, 130, 60 }, { 255, 250, 220 }
    };
    const double at = 4 * fmin(fmax(value, 0), 1);
    const int    low = at < 3 ? (int)at : 3;
    for (int c = 0; c < 3; c++)
        to[c] = (unsigned char)(colours[low][c] + (at - low) * (colours[low + 1][c] - colours[low][c]) + 0.5);
}

/* Frames across, bands upwards; the darkest tenth of the numbers is black. */
static rg_status spectrogram(rg_picture *out, const rg_real *x, size_t T, size_t M)
{
    double low = INFINITY, high = -INFINITY, mean = 0;
    if (!T || !M) return rg_fail(RG_ESHAPE, "a spectrogram of %zu x %zu", T, M);
    for (size_t i = 0; i < T * M; i++) {
        low = fmin(low, (double)x[i]);
        high = fmax(high, (double)x[i]);
        mean += (double)x[i] / (double)(T * M);
    }
    low = fmax(low, mean - (high - mean));
    const size_t tall = TALL / M ? TALL / M : 1, wide = WIDE / T ? WIDE / T : 1;
    RG_TRY(rg_picture_new(out, M * tall, T * wide, 3));
    for (size_t y = 0; y < out->height; y++)
        for (size_t p = 0; p < out->width; p++) {
            const double value = (double)x[p / wide * M + (M - 1 - y / tall)];
            paint(out->pixels + (y * out->width + p) * 3, high > low ? (value - low) / (high - low) : 0);
        }
    return RG_OK;
}

static rg_status add_boxes(rg_record *r, size_t labels, size_t rows)
{
    float *boxes = rg_alloc_array(4 * rows, sizeof *boxes);
    if (!boxes) return RG_ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        boxes[4 * i] = (float)i / (float)rows, boxes[4 * i + 1] = 0;
        boxes[4 * i + 2] = (float)(i + 1) / (float)rows, boxes[4 * i + 3] = 1;
    }
    const rg_status status = rg_record_set_boxes(r, labels, boxes);
    rg_free(boxes);
    return status;
}

static rg_status add_labels(size_t *out, rg_record *r, const char *name, const rg_frames_config *c, size_t rows)
{
    enum { ROOM = 24 };
    char       *text = rg_alloc_array(rows + 1, ROOM);
    const char **label = rg_alloc_array(rows + 1, sizeof *label);
    for (size_t i = 0; text && label && i < rows; i++) {
        if (c) snprintf(text + i * ROOM, ROOM, "%.2f", (double)(i * c->stack) * c->step / 1000);
        else snprintf(text + i * ROOM, ROOM, "%zu", i + 1);
        label[i] = text + i * ROOM;
    }
    const rg_status status =
        text && label ? rg_record_add_labels(out, r, name, RG_LABEL_REGION, label, rows) : RG_ENOMEM;
    rg_free(text);
    rg_free(label);
    return status;
}

rg_status rg_heard_add_rows(rg_record *r, const char *name, const rg_heard *h, const rg_asked *asked)
{
    const rg_field         *f = &asked->batch->field[RG_INPUT];
    const size_t            first = (size_t)f->layout.start[asked->example],
                 rows = (size_t)f->layout.start[asked->example + 1] - first;
    const rg_frames_config *c = h && h->frames ? rg_frames_config_of(h->frames) : NULL;
    const size_t            stack = c ? c->stack : 1;
    size_t                  labels = 0;
    rg_picture              p = { 0 };
    rg_text                 png = { 0 };
    rg_status status = add_labels(&labels, r, name, c, rows);
    if (status == RG_OK) status = add_boxes(r, labels, rows);
    if (status != RG_OK || rows * stack > MOST_WIDE) return status; /* too long for a picture: the weights alone */
    status = spectrogram(&p, f->values + first * f->width, rows * stack, f->width / stack);
    if (status == RG_OK) status = rg_picture_encode(&png, &p);
    if (status == RG_OK) status = rg_record_set_picture(r, labels, png.data, png.length);
    rg_picture_free(&p);
    rg_text_free(&png);
    return status;
}
