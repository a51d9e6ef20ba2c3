/* write_made.c - a data set of generated examples as files that the readers take.
 *
 *   the only column is the label   OUT/train-images-idx3-ubyte, OUT/train-labels-idx1-ubyte      bytes, a fourth dimension for channels
 *   other pictures                 OUT/train.tar with 000001.png ..., OUT/train.tsv: picture and the columns, with a header line
 *   recordings                     OUT/train.tar with 000001.wav ..., OUT/train.tsv: sound and the columns
 *   no pictures                    OUT/train.tsv; OUT/train.txt, lines without a header, where there is one column
 *   boxes                          OUT/train-boxes.tsv: picture, name, x, y, width, height in pixels; idx counts pictures from 1
 *
 * and the same with valid- and test-. */
#include "data/made/examples_made.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 512 };

static const char *const split_names[RG_MADE_SPLITS] = { "train", "valid", "test" };

typedef struct output {
    const rg_generator *generator;
    bool                idx, pictures, sounds, lines; /* what is written, as above; lines: plain text */
    rg_file            *images, *table, *boxes; /* table: labels of idx, or the TSV */
    rg_text             png, line;
    uint64_t            count;
} output;

static rg_status begin(rg_file **out, const char *folder, const char *split, const char *end)
{
    char *path = rg_format("%s/%s%s", folder, split, end);
    if (!path) return RG_ENOMEM;
    rg_status status = rg_file_replace_begin(out, path);
    rg_free(path);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- idx */

static rg_status write_shape(rg_file *file, size_t dimensions, const uint64_t *size)
{
    unsigned char head[4 + 4 * 4] = { 0, 0, 8, (unsigned char)dimensions };
    for (size_t d = 0; d < dimensions; d++)
        for (size_t b = 0; b < 4; b++) head[4 + 4 * d + b] = (unsigned char)(size[d] >> (24 - 8 * b));
    return rg_file_write(file, head, 4 + 4 * dimensions);
}

static rg_status write_idx(output *o, const rg_made *made, uint64_t number)
{
    const rg_picture *p = &made->picture;
    if (!number) {
        const uint64_t size[] = { o->count, p->height, p->width, p->channels };
        RG_TRY(write_shape(o->images, p->channels > 1 ? 4 : 3, size));
        RG_TRY(write_shape(o->table, 1, size));
    }
    unsigned label = 0;
    for (const char *c = rg_text_c(&made->cell[0]); *c; c++) label = 10 * label + (unsigned)(*c - '0');
    const unsigned char byte = (unsigned char)label;
    RG_TRY(rg_file_write(o->table, &byte, 1));
    return rg_file_write(o->images, p->pixels, p->height * p->width * p->channels);
}

/* -------------------------------------------------------------------------------------------------------------- tar */

/* A header of ustar for a plain file; no owner and no time, so that the same pictures make the same archive. */
static rg_status write_member(rg_file *file, const char *name, const rg_text *bytes)
{
    static const char zeros[BLOCK];
    char              h[BLOCK] = { 0 };
    unsigned          sum = 0;
    (void)snprintf(h, 100, "%s", name);
    (void)snprintf(h + 100, 8, "%07o", 0644u); /* mode, owner, group */
    (void)snprintf(h + 108, 8, "%07o", 0u);
    (void)snprintf(h + 116, 8, "%07o", 0u);
    (void)snprintf(h + 124, 12, "%011llo", (unsigned long long)bytes->length);
    (void)snprintf(h + 136, 12, "%011o", 0u);
    memset(h + 148, ' ', 8);
    h[156] = '0';
    (void)snprintf(h + 257, 6, "ustar");
    h[263] = h[264] = '0';
    for (size_t i = 0; i < BLOCK; i++) sum += (unsigned char)h[i];
    (void)snprintf(h + 148, 8, "%06o", sum);
    RG_TRY(rg_file_write(file, h, BLOCK));
    RG_TRY(rg_file_write(file, bytes->data, bytes->length));
    return rg_file_write(file, zeros, (BLOCK - bytes->length % BLOCK) % BLOCK);
}

static void member_name(char name[32], const output *o, uint64_t number)
{
    const uint64_t each = o->generator->per_picture ? o->generator->per_picture : 1;
    const unsigned long long n = number / each + 1;
    (void)snprintf(name, 32, o->idx ? "%llu" : o->sounds ? "%06llu.wav" : "%06llu.png", n);
}

static rg_status write_picture(output *o, const rg_made *made, uint64_t number)
{
    char           name[32];
    const uint64_t each = o->generator->per_picture ? o->generator->per_picture : 1;
    if (number % each) return RG_OK;
    member_name(name, o, number);
    if (o->sounds) return write_member(o->images, name, &made->sound);
    rg_text_clear(&o->png);
    RG_TRY(rg_picture_encode(&o->png, &made->picture));
    return write_member(o->images, name, &o->png);
}

/* -------------------------------------------------------------------------------------------------------------- tsv */

/* How many columns there are, and a header line of them. */
static size_t columns_of(const rg_generator *g)
{
    size_t n = 1;
    for (const char *c = g->columns; *c; c++) n += *c == ' ';
    return n;
}

static rg_status write_header(output *o)
{
    rg_text_clear(&o->line);
    RG_TRY(rg_text_add_string(&o->line, o->sounds ? "sound\t" : o->pictures ? "picture\t" : ""));
    for (const char *c = o->generator->columns; *c; c++) RG_TRY(rg_text_add(&o->line, *c == ' ' ? "\t" : c, 1));
    RG_TRY(rg_text_add_string(&o->line, "\n"));
    return rg_file_write(o->table, o->line.data, o->line.length);
}

static rg_status write_row(output *o, const rg_made *made, uint64_t number)
{
    char name[32];
    member_name(name, o, number);
    rg_text_clear(&o->line);
    RG_TRY(rg_text_print(&o->line, "%s%s", o->pictures ? name : "", o->pictures ? "\t" : ""));
    for (size_t i = 0; i < columns_of(o->generator); i++)
        RG_TRY(rg_text_print(&o->line, "%s%s", i ? "\t" : "", rg_text_c(&made->cell[i])));
    RG_TRY(rg_text_add_string(&o->line, "\n"));
    return rg_file_write(o->table, o->line.data, o->line.length);
}

static rg_status write_boxes(output *o, const rg_made *made, uint64_t number)
{
    char           name[32];
    const uint64_t each = o->generator->per_picture ? o->generator->per_picture : 1;
    if (number % each) return RG_OK;
    member_name(name, o, number);
    rg_text_clear(&o->line);
    if (!number) RG_TRY(rg_text_add_string(&o->line, "picture\tname\tx\ty\twidth\theight\n"));
    for (size_t i = 0; i < made->boxes; i++) {
        const rg_made_box *b = &made->box[i];
        RG_TRY(rg_text_print(&o->line, "%s\t%s\t%zu\t%zu\t%zu\t%zu\n", name, b->name, b->x, b->y, b->width, b->height));
    }
    return o->line.length ? rg_file_write(o->boxes, o->line.data, o->line.length) : RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- splits */

static rg_status write_example(output *o, const rg_made *made, uint64_t number)
{
    if (o->idx) RG_TRY(write_idx(o, made, number));
    else RG_TRY(write_row(o, made, number));
    if (o->pictures && !o->idx) RG_TRY(write_picture(o, made, number));
    return o->pictures && !o->sounds ? write_boxes(o, made, number) : RG_OK;
}

static rg_status open_files(output *o, const char *out, const char *split)
{
    RG_TRY(begin(&o->table, out, split, o->idx ? "-labels-idx1-ubyte" : o->lines ? ".txt" : ".tsv"));
    if (!o->idx && !o->lines) RG_TRY(write_header(o));
    if (!o->pictures) return RG_OK;
    RG_TRY(begin(&o->images, out, split, o->idx ? "-images-idx3-ubyte" : ".tar"));
    return o->sounds ? RG_OK : begin(&o->boxes, out, split, "-boxes.tsv");
}

static rg_status finish(output *o, rg_status status)
{
    static const char zeros[2 * BLOCK];
    rg_file         **files[] = { &o->images, &o->boxes, &o->table };
    if (status == RG_OK && o->pictures && !o->idx) status = rg_file_write(o->images, zeros, sizeof zeros);
    for (size_t i = 0; i < 3; i++) {
        if (!*files[i]) continue;
        if (status == RG_OK) status = rg_file_replace_commit(*files[i]);
        else rg_file_replace_abandon(*files[i]);
        *files[i] = NULL;
    }
    return status;
}

static rg_status write_split(const rg_maker *m, const char *out, rg_made_split split, uint64_t count)
{
    const rg_generator *g = m->generator;
    rg_made             made = { 0 };
    output              o = { .generator = g, .count = count };
    rg_status           status = rg_maker_draw(&made, m, split, 0); /* tells what there is to write */
    o.sounds = made.sound.length > 0;
    o.pictures = made.picture.pixels != NULL || o.sounds; /* a file beside the table's row */
    o.idx = o.pictures && !strcmp(g->columns, "label");
    o.lines = !o.pictures && columns_of(g) == 1;
    if (status == RG_OK) status = open_files(&o, out, split_names[split]);
    for (uint64_t n = 0; status == RG_OK && n < count; n++) {
        status = rg_maker_draw(&made, m, split, n);
        if (status == RG_OK) status = write_example(&o, &made, n);
    }
    status = finish(&o, status);
    rg_made_free(&made);
    rg_text_free(&o.png);
    rg_text_free(&o.line);
    return status;
}

rg_status rg_made__write(const rg_generator *g, const char *out, const void *options)
{
    const rg_made_settings *s = options;
    const int64_t           counts[RG_MADE_SPLITS] = { s->count, s->valid, s->test };
    rg_maker               *m = NULL;
    if (mkdir(out, 0777) != 0 && errno != EEXIST) return rg_fail(RG_EIO, "%s: %s", out, strerror(errno));
    rg_status status = rg_maker_new(&m, g, options);
    for (int split = 0; status == RG_OK && split < RG_MADE_SPLITS; split++)
        if (counts[split] > 0) status = write_split(m, out, (rg_made_split)split, (uint64_t)counts[split]);
    rg_maker_free(m);
    return status;
}
