/* maker.c - examples of a generator, one by one: seed, split and number say everything.
 *
 * An example whose identity belongs to another split is drawn again: a tenth of all identities is for tests, a tenth
 * for validation. */
#include "data/made/examples_made.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "regard/reader.h"

enum { MOST_ATTEMPTS = 10000, PARTS = 10 };

void rg_made_free(rg_made *m)
{
    rg_picture_free(&m->picture);
    rg_text_free(&m->sound);
    for (size_t i = 0; i < RG_MADE_COLUMNS; i++) rg_text_free(&m->cell[i]);
    *m = (rg_made){ 0 };
}

/* What the next example is drawn into: texts keep their memory. */
static void clear(rg_made *m)
{
    rg_picture_free(&m->picture);
    rg_text_clear(&m->sound);
    for (size_t i = 0; i < RG_MADE_COLUMNS; i++) rg_text_clear(&m->cell[i]);
    m->boxes = 0;
    m->identity = 0;
}

/* ------------------------------------------------------------------------------------------------------ photographs */

static rg_status keep_photograph(rg_maker *m, const rg_cell *cell)
{
    rg_picture *grown = rg_realloc(m->pictures, (m->picture_count + 1) * sizeof *grown);
    if (!grown) return RG_ENOMEM;
    m->pictures = grown;
    RG_TRY(rg_picture_decode(&m->pictures[m->picture_count], cell->bytes, cell->count, 3));
    m->picture_count++;
    return RG_OK;
}

static rg_status read_photographs(rg_maker *m, const char *path)
{
    static const char *const wanted[] = { "picture" };
    rg_reader_config         config = RG_READER_CONFIG_DEFAULT;
    rg_reader               *reader = NULL;
    config.wanted = wanted;
    config.wanted_count = 1;
    rg_status status = rg_reader_open(&reader, path, &config);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, reader);
        if (status == RG_OK && more && (status = keep_photograph(m, &row.cell[0])) != RG_OK)
            rg_reader_blame(status, reader, &row);
    }
    rg_reader_close(reader);
    if (status == RG_OK && m->picture_count < PARTS)
        status = rg_fail(RG_EFORMAT, "%s: %zu photographs; %d are needed at least, so that no split shares one", path,
                         m->picture_count, PARTS);
    return status;
}

rg_status rg_maker_new(rg_maker **out, const rg_generator *generator, const void *options)
{
    if (!generator->draw)
        return rg_fail(RG_EINVAL, "generator %s writes whole files, not single examples", generator->name);
    rg_maker *m = rg_alloc_zero(sizeof *m);
    if (!m) return RG_ENOMEM;
    m->generator = generator;
    m->options = options;
    m->base = options; /* the first member of every generator's options */
    rg_status status = m->base->digits ? rg_digits__open(&m->digits, m->base->digits) : RG_OK;
    if (status == RG_OK && m->base->pictures && *m->base->pictures) status = read_photographs(m, m->base->pictures);
    if (status == RG_OK) *out = m;
    else rg_maker_free(m);
    return status;
}

void rg_maker_free(rg_maker *m)
{
    if (!m) return;
    rg_digits__close(m->digits);
    for (size_t i = 0; i < m->picture_count; i++) rg_picture_free(&m->pictures[i]);
    rg_free(m->pictures);
    rg_free(m);
}

static bool has_option(const rg_generator *g, const char *name)
{
    for (const rg_option *row = g->options; row->name; row++)
        if (strcmp(row->name, name) == 0) return true;
    return false;
}

rg_status rg_maker_over(rg_maker **out, const rg_generator *g, const void *options, const unsigned char *digits,
                        size_t count)
{
    if (!g->draw || !has_option(g, "digits") || strcmp(g->columns, "label") != 0 || strcmp(g->name, "addition") == 0)
        return rg_fail(
            RG_EINVAL,
            "%s does not change pictures that keep their label; t60, ct60, ct100, stclut, rts42 and grid16 do",
            g->name);
    rg_maker *m = rg_alloc_zero(sizeof *m);
    if (!m) return RG_ENOMEM;
    m->generator = g;
    m->options = options;
    m->base = options;
    rg_status status = rg_digits__over(&m->digits, digits, count);
    if (status == RG_OK && m->base->pictures && *m->base->pictures) status = read_photographs(m, m->base->pictures);
    if (status == RG_OK) *out = m;
    else rg_maker_free(m);
    return status;
}

rg_status rg_maker_change(rg_made *out, const rg_maker *m, const unsigned char *digit, uint64_t epoch, uint64_t number)
{
    const uint64_t about[] = { (uint64_t)m->base->seed, epoch, 0x6368616E6765u };
    rg_random      random = rg_random_new(rg_hash64_of(about, sizeof about), number);
    rg_digits      with;
    rg_maker       now = *m;
    rg_digits__with(&with, m->digits, digit, number);
    now.digits = &with;
    clear(out);
    const rg_status status = m->generator->draw(out, &now, RG_MADE_TRAIN, number, &random);
    if (status != RG_OK) rg_made_free(out);
    return status;
}

static rg_made_split split_of(uint64_t identity)
{
    const uint64_t part = identity % PARTS;
    return part == 0 ? RG_MADE_TEST : part == 1 ? RG_MADE_VALID : RG_MADE_TRAIN;
}

rg_status rg_maker_draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number)
{
    const uint64_t each = m->generator->per_picture ? m->generator->per_picture : 1;
    for (uint64_t attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        const uint64_t about[] = { (uint64_t)m->base->seed, (uint64_t)split, attempt };
        rg_random      random = rg_random_new(rg_hash64_of(about, sizeof about), number / each);
        clear(out);
        rg_status status = m->generator->draw(out, m, split, number, &random);
        if (status == RG_OK && (!out->identity || split_of(out->identity) == split)) return RG_OK;
        if (status != RG_OK) return rg_made_free(out), status;
    }
    return rg_fail(RG_ELIMIT, "generator %s: nothing is left for this split: allow more kinds of examples",
                   m->generator->name);
}

/* ------------------------------------------------------------------------------------------------------------ tools */

size_t rg_made__between(rg_random *random, size_t lowest, size_t highest)
{
    return lowest + (size_t)rg_random_below(random, highest - lowest + 1);
}

double rg_made__uniform(rg_random *random, double lowest, double highest)
{
    return lowest + (highest - lowest) * rg_random_uniform(random);
}

rg_status rg_made__add_box(rg_made *m, const char *name, double x, double y, double width, double height)
{
    const double W = (double)m->picture.width, H = (double)m->picture.height;
    const double x0 = fmax(0, floor(x)), y0 = fmax(0, floor(y)), x1 = fmin(W, ceil(x + width)),
                 y1 = fmin(H, ceil(y + height));
    if (m->boxes == RG_MADE_BOXES) return rg_fail(RG_ELIMIT, "more than %d boxes in a picture", RG_MADE_BOXES);
    if (x1 <= x0 || y1 <= y0) return RG_OK;
    rg_made_box *box = &m->box[m->boxes++];
    *box = (rg_made_box){ "", (size_t)x0, (size_t)y0, (size_t)(x1 - x0), (size_t)(y1 - y0) };
    (void)snprintf(box->name, sizeof box->name, "%s", name);
    return RG_OK;
}

rg_status rg_made__add_bounds(rg_made *m, const char *name, const rg_picture *layer)
{
    size_t x0 = layer->width, y0 = layer->height, x1 = 0, y1 = 0;
    for (size_t y = 0; y < layer->height; y++)
        for (size_t x = 0; x < layer->width; x++) {
            if (layer->pixels[(y * layer->width + x) * layer->channels] <= 64) continue;
            if (x < x0) x0 = x;
            if (x >= x1) x1 = x + 1;
            if (y < y0) y0 = y;
            if (y >= y1) y1 = y + 1;
        }
    if (x1 == 0) return RG_OK;
    return rg_made__add_box(m, name, (double)x0, (double)y0, (double)(x1 - x0), (double)(y1 - y0));
}
