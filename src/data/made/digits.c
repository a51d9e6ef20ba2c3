/* digits.c - where digits come from: MNIST's files, or strokes that are drawn anew for every number. Splits never
 * share one. */
#include "data/made/examples_made.h"

#include <math.h>
#include <string.h>

#include "regard/reader.h"

enum { PIXELS = RG_DIGIT_SIDE * RG_DIGIT_SIDE, HELD_OUT = 10000, DRAWN = 1 << 20 };

static rg_status keep(rg_text *pixels, rg_text *labels, const rg_row *row)
{
    const rg_cell *picture = &row->cell[1], *label = &row->cell[0];
    if (picture->height != RG_DIGIT_SIDE || picture->width != RG_DIGIT_SIDE || picture->channels != 1)
        return rg_fail(RG_EFORMAT, "a picture of %zu x %zu pixels; digits have 28 x 28", picture->width,
                       picture->height);
    if (label->missing || label->count != 1 || label->bytes[0] < '0' || label->bytes[0] > '9')
        return rg_fail(RG_EFORMAT,
                       "a label that is no digit, or none: the file of labels must lie beside the pictures");
    RG_TRY(rg_text_add(pixels, picture->bytes, PIXELS));
    return rg_text_add(labels, label->bytes, 1);
}

static rg_status read_file(rg_text *pixels, rg_text *labels, const char *path)
{
    static const char *const wanted[] = { "label", "picture" };
    rg_reader_config         config = RG_READER_CONFIG_DEFAULT;
    rg_reader               *reader = NULL;
    config.format = "idx";
    config.wanted = wanted;
    config.wanted_count = 2;
    rg_status status = rg_reader_open(&reader, path, &config);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, reader);
        if (status == RG_OK && more && (status = keep(pixels, labels, &row)) != RG_OK)
            rg_reader_blame(status, reader, &row);
    }
    rg_reader_close(reader);
    return status;
}

/* name, or name.gz. */
static rg_status read_either(rg_text *pixels, rg_text *labels, const char *folder, const char *name)
{
    char     *path = rg_format("%s/%s", folder, name), *packed = path ? rg_format("%s.gz", path) : NULL;
    bool      plain = false;
    rg_status status = packed ? rg_file_exists(&plain, path) : RG_ENOMEM;
    if (status == RG_OK) status = read_file(pixels, labels, plain ? path : packed);
    rg_free(path);
    rg_free(packed);
    return status;
}

rg_status rg_digits__open(rg_digits **out, const char *folder)
{
    rg_digits *d = rg_alloc_zero(sizeof *d);
    if (!d) return RG_ENOMEM;
    rg_status status = RG_OK;
    for (int s = 0; s < RG_MADE_SPLITS; s++) d->count[s] = DRAWN;
    if (*folder) {
        status = read_either(&d->pixels[0], &d->labels[0], folder, "train-images-idx3-ubyte");
        if (status == RG_OK) status = read_either(&d->pixels[1], &d->labels[1], folder, "t10k-images-idx3-ubyte");
        const uint64_t all = d->labels[0].length, held = all > 6 * HELD_OUT - 1 ? HELD_OUT : all / 6;
        d->count[RG_MADE_TRAIN] = all - held;
        d->count[RG_MADE_VALID] = held;
        d->count[RG_MADE_TEST] = d->labels[1].length;
        if (status == RG_OK && (!held || !d->labels[1].length))
            status = rg_fail(RG_EFORMAT, "%s: %llu digits to train and %zu to test: too few", folder,
                             (unsigned long long)all, d->labels[1].length);
    }
    if (status == RG_OK) *out = d;
    else rg_digits__close(d);
    return status;
}

void rg_digits__close(rg_digits *d)
{
    if (!d) return;
    for (int i = 0; i < 2; i++) {
        rg_text_free(&d->pixels[i]);
        rg_text_free(&d->labels[i]);
    }
    rg_free(d);
}

rg_status rg_digits__over(rg_digits **out, const unsigned char *pixels, size_t count)
{
    rg_digits *d = rg_alloc_zero(sizeof *d);
    if (!d) return RG_ENOMEM;
    d->over = pixels;
    for (int s = 0; s < RG_MADE_SPLITS; s++) d->count[s] = count;
    *out = d;
    return RG_OK;
}

void rg_digits__with(rg_digits *out, const rg_digits *d, const unsigned char *digit, uint64_t at)
{
    *out = *d;
    out->digit = digit;
    out->at = at % d->count[0];
}

uint64_t rg_digits__count(const rg_digits *d, rg_made_split split) { return d->count[split]; }

/* A digit of strokes: points moved, slanted, narrowed, thin or thick. */
static int draw_digit(unsigned char *out, rg_made_split split, uint64_t index)
{
    rg_random  random = rg_random_new(0x6469676974u + (uint64_t)split, index);
    const int  digit = (int)rg_random_below(&random, 10);
    rg_picture p = { RG_DIGIT_SIDE, RG_DIGIT_SIDE, 1, out };
    memset(out, 0, PIXELS);
    const double wide = rg_made__uniform(&random, 9, 14), high = rg_made__uniform(&random, 17, 19.5),
                 slant = rg_made__uniform(&random, -2, 5);
    const double turn = rg_made__uniform(&random, -1.5, 1.5);
    const double x = 13.5 + rg_made__uniform(&random, -1, 1), y = 13.5 + rg_made__uniform(&random, -1, 1);
    const double m[6] = { wide, -slant, x - (wide - slant) / 2, turn, high, y - (turn + high) / 2 };
    rg_draw__symbol(&p, (char)('0' + digit), m, rg_made__uniform(&random, 1.4, 3.2), (rg_ink){ { 255, 255, 255 } },
                    0.045, &random);
    return digit;
}

int rg_digits__get(unsigned char *out, const rg_digits *d, rg_made_split split, uint64_t index)
{
    index %= d->count[split];
    if (d->over) {
        memcpy(out, d->digit && index == d->at ? d->digit : d->over + index * PIXELS, PIXELS);
        return 0;
    }
    if (!d->labels[0].length) return draw_digit(out, split, index);
    const int    file = split == RG_MADE_TEST;
    const size_t at = (size_t)(index + (split == RG_MADE_VALID ? d->count[RG_MADE_TRAIN] : 0));
    memcpy(out, d->pixels[file].data + at * PIXELS, PIXELS);
    return d->labels[file].data[at] - '0';
}
