/* read_idx.c - MNIST's format: pictures (or rows of bytes) in one file, their labels in another.
 *
 *   0 0 type dimensions | size of each dimension, 4 bytes, high byte first | numbers
 *
 * Only bytes (type 8) are read. Dimensions are items; height, width; channels. Labels are items alone; their cells
 * are decimal numbers. */
#include "data/reader.h"

#include <string.h>

enum { BYTES = 8, MOST_DIMENSIONS = 4 };

typedef struct array {
    rg_stream stream;
    uint64_t  items, next;
    size_t    height, width, channels; /* 1 where there is no such dimension */
    int       dimensions;
} array;

typedef struct arrays {
    array pictures, labels;
    bool  has_labels, has_pictures;
} arrays;

static rg_status read_shape(array *a)
{
    rg_text   head = { 0 };
    size_t    size[MOST_DIMENSIONS] = { 0, 1, 1, 1 };
    rg_status status = rg_stream_read(&head, &a->stream, 4);
    if (status == RG_OK &&
        (head.data[0] || head.data[1] || head.data[2] != BYTES || head.data[3] < 1 || head.data[3] > MOST_DIMENSIONS))
        status = rg_fail(
            RG_EFORMAT,
            "%s: no idx file of bytes: it begins with %02x %02x %02x %02x, not with 00 00 08 and 1 to 4 dimensions",
            a->stream.name, (unsigned char)head.data[0], (unsigned char)head.data[1], (unsigned char)head.data[2],
            (unsigned char)head.data[3]);
    if (status == RG_OK) a->dimensions = (unsigned char)head.data[3];
    if (status == RG_OK) status = rg_stream_read(&head, &a->stream, 4 * (size_t)a->dimensions);
    for (int i = 0; status == RG_OK && i < a->dimensions; i++) {
        const unsigned char *b = (const unsigned char *)head.data + 4 + 4 * i;
        size[i] = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
        if (!size[i] || size[i] > INT32_MAX)
            status = rg_fail(RG_EFORMAT, "%s: dimension %d is %zu", a->stream.name, i + 1, size[i]);
    }
    rg_text_free(&head);
    a->items = size[0];
    a->height = a->dimensions == 2 ? 1 : size[1]; /* two dimensions: rows of numbers */
    a->width = a->dimensions == 2 ? size[1] : size[2];
    a->channels = size[3];
    return status;
}

static rg_status read_item(rg_text *out, array *a, size_t bytes)
{
    const size_t before = out->length;
    RG_TRY(rg_stream_read_some(out, &a->stream, bytes));
    if (out->length - before < bytes)
        return rg_fail(RG_EFORMAT, "%s: the header says %llu items, the file ends in item %llu: copy it again",
                       a->stream.name, (unsigned long long)a->items, (unsigned long long)a->next + 1);
    a->next++;
    return RG_OK;
}

/* After the last item nothing follows. */
static rg_status check_end(array *a)
{
    if (a->stream.at == a->stream.end) RG_TRY(rg_stream_fill(&a->stream));
    if (a->stream.at == a->stream.end) return RG_OK;
    return rg_fail(RG_EFORMAT, "%s: the header says %llu items, the file has more bytes than those", a->stream.name,
                   (unsigned long long)a->items);
}

/* Where the labels are: as told, or beside the pictures under the name that MNIST gives them. NULL: nobody knows. */
static char *labels_path(const rg_reader *r)
{
    static const char from[] = "images-idx3", to[] = "labels-idx1";
    if (r->config.labels) return rg_strdup(r->config.labels);
    const char *folder = r->path ? strrchr(r->path, '/') : NULL;
    const char *at = r->path ? strstr(folder ? folder : r->path, from) : NULL;
    return at ? rg_format("%.*s%s%s", (int)(at - r->path), r->path, to, at + strlen(from)) : rg_strdup("");
}

static rg_status open_labels(rg_reader *r, arrays *x, const char *path)
{
    bool there = r->config.labels != NULL;
    if (!*path) return RG_OK;
    if (!there) RG_TRY(rg_file_exists(&there, path));
    if (!there) return RG_OK;
    RG_TRY(rg_stream_open(&x->labels.stream, path));
    RG_TRY(read_shape(&x->labels));
    x->has_labels = true;
    if (x->labels.dimensions != 1)
        return rg_fail(RG_EFORMAT, "%s: labels have one dimension, these have %d", path, x->labels.dimensions);
    if (x->labels.items != x->pictures.items)
        return rg_fail(RG_EMATCH, "%s has %llu items and %s has %llu labels: they must be of the same set", r->name,
                       (unsigned long long)x->pictures.items, path, (unsigned long long)x->labels.items);
    return RG_OK;
}

static rg_status idx_open(rg_reader *r)
{
    arrays *x = rg_alloc_zero(sizeof *x);
    size_t  bytes;
    r->own = x;
    if (!x) return RG_ENOMEM;
    RG_TRY(r->path ? rg_stream_open(&x->pictures.stream, r->path)
                   : rg_stream_open_bytes(&x->pictures.stream, r->name, r->bytes, r->count));
    RG_TRY(read_shape(&x->pictures));
    array *a = &x->pictures;
    x->has_pictures = a->dimensions > 1;
    if (!rg_size_mul(&bytes, a->height, a->width) || !rg_size_mul(&bytes, bytes, a->channels) ||
        bytes > r->config.max_bytes)
        return rg_fail(RG_ELIMIT, "%s: items of %zu x %zu x %zu bytes; at most %zu bytes are possible", r->name,
                       a->height, a->width, a->channels, r->config.max_bytes);
    if (!x->has_pictures) return RG_OK; /* a file of labels alone */
    char *path = labels_path(r);
    if (!path) return RG_ENOMEM;
    rg_status status = open_labels(r, x, path);
    rg_free(path);
    return status;
}

static void idx_close(rg_reader *r)
{
    arrays *x = r->own;
    if (!x) return;
    rg_stream_close(&x->pictures.stream);
    rg_stream_close(&x->labels.stream);
    rg_free(x);
}

static rg_status add_label(rg_reader *r, array *labels)
{
    rg_text       byte = { 0 };
    rg_status     status = read_item(&byte, labels, 1);
    char          number[8];
    const unsigned value = status == RG_OK ? (unsigned char)byte.data[0] : 0;
    rg_text_free(&byte);
    RG_TRY(status);
    return rg_reader__add_cell(r, number, (size_t)snprintf(number, sizeof number, "%u", value));
}

static rg_status idx_next(bool *out_more, rg_reader *r)
{
    arrays *x = r->own;
    array  *a = &x->pictures;
    *out_more = a->next < a->items;
    if (!*out_more) {
        if (x->has_labels) RG_TRY(check_end(&x->labels));
        return check_end(a);
    }
    rg_reader__begin_row(r, a->next + 1);
    if (!x->has_pictures) {
        RG_TRY(add_label(r, a));
        return rg_reader__add_missing(r);
    }
    if (x->has_labels) RG_TRY(add_label(r, &x->labels));
    else RG_TRY(rg_reader__add_missing(r));
    RG_TRY(rg_reader__begin_cell(r));
    RG_TRY(read_item(&r->text, a, a->height * a->width * a->channels));
    r->pixels = 1;
    r->height = a->height;
    r->width = a->width;
    r->channels = a->channels;
    return rg_reader__end_cell(r);
}

const rg_reader_format rg_reader_idx = {
    .name = "idx",
    .summary = "MNIST's format: pictures in one file, labels in another",
    .endings = ".idx -idx1-ubyte -idx3-ubyte ",
    .columns = "label picture",
    .open = idx_open,
    .next = idx_next,
    .close = idx_close,
};
