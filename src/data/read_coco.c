/* read_coco.c - captions as the COCO data set has them: one JSON object with two lists that are joined by number.
 *
 *     { "images": [ { "id": 9, "file_name": "a.jpg" }, ... ], "annotations": [ { "image_id": 9, "caption": "a dog" }, ... ] }
 *
 * A row is an annotation: its picture's name and its text, in the order of the file. */
#include "data/reader.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"

typedef struct {
    json_int_t  id;
    const char *name;
} image;

typedef struct {
    json_t *root;
    image  *images; /* by number */
    size_t  count, next;
} coco;

enum { MOST_LISTED = 20000000 }; /* brackets and commas: what the parser may allocate for */

static int by_id(const void *a, const void *b)
{
    const image *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static rg_status list_images(rg_reader *r, coco *c)
{
    const json_t *list = json_object_get(c->root, "images");
    const size_t  n = json_array_size(list);
    if (!json_is_array(list) || !json_is_array(json_object_get(c->root, "annotations")))
        return rg_fail(RG_EFORMAT, "%s: no lists \"images\" and \"annotations\": this is not a file of COCO captions",
                       r->name);
    if (!(c->images = rg_alloc_array(n + 1, sizeof *c->images))) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(list, i), *id = json_object_get(one, "id"),
                     *name = json_object_get(one, "file_name");
        if (!json_is_integer(id) || !json_is_string(name))
            return rg_fail(RG_EFORMAT, "%s: image %zu has no whole number \"id\" or no text \"file_name\"", r->name,
                           i + 1);
        c->images[c->count++] = (image){ json_integer_value(id), json_string_value(name) };
    }
    qsort(c->images, c->count, sizeof *c->images, by_id);
    for (size_t i = 1; i < c->count; i++)
        if (c->images[i].id == c->images[i - 1].id)
            return rg_fail(RG_EFORMAT, "%s: images %s and %s have the same id", r->name, c->images[i - 1].name,
                           c->images[i].name);
    return RG_OK;
}

static rg_status parse(rg_reader *r, coco *c)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_reader__open_stream(r);
    if (status == RG_OK)
        status = rg_stream_read_some(&bytes, &r->stream,
                                     r->config.max_bytes < SIZE_MAX / 2 ? r->config.max_bytes * 16 : SIZE_MAX / 2);
    const rg_json_scan scan = rg_json_scan_text(rg_text_c(&bytes), bytes.length);
    if (status == RG_OK && (scan.depth > RG_JSON_DEPTH_MAX || scan.objects + scan.arrays + scan.commas > MOST_LISTED))
        status =
            rg_fail(RG_ELIMIT, "%s: %zu brackets inside each other, %zu objects and lists: more than this reader takes",
                    r->name, scan.depth, scan.objects + scan.arrays);
    if (status == RG_OK) {
        json_error_t error;
        c->root = json_loadb(rg_text_c(&bytes), bytes.length, JSON_REJECT_DUPLICATES, &error);
        if (!c->root) status = rg_fail(RG_EFORMAT, "%s: line %d: %s", r->name, error.line, error.text);
        else if (!json_is_object(c->root))
            status = rg_fail(RG_EFORMAT, "%s: not a JSON object with \"images\" and \"annotations\"", r->name);
    }
    rg_text_free(&bytes);
    return status;
}

static rg_status coco_open(rg_reader *r)
{
    coco *c = rg_alloc_zero(sizeof *c);
    r->own = c;
    if (!c) return RG_ENOMEM;
    RG_TRY(parse(r, c));
    return list_images(r, c);
}

static void coco_close(rg_reader *r)
{
    coco *c = r->own;
    if (!c) return;
    json_decref(c->root);
    rg_free(c->images);
    rg_free(c);
}

static rg_status coco_next(bool *out_more, rg_reader *r)
{
    coco         *c = r->own;
    const json_t *list = json_object_get(c->root, "annotations");
    *out_more = c->next < json_array_size(list);
    if (!*out_more) return RG_OK;
    const json_t *one = json_array_get(list, c->next++), *id = json_object_get(one, "image_id"),
                 *text = json_object_get(one, "caption");
    rg_reader__begin_row(r, c->next);
    if (!json_is_integer(id) || !json_is_string(text))
        return rg_fail(RG_EFORMAT, "%s: annotation %zu has no whole number \"image_id\" or no text \"caption\"",
                       r->name, c->next);
    const image  key = { json_integer_value(id), NULL };
    const image *of = c->count ? bsearch(&key, c->images, c->count, sizeof key, by_id) : NULL;
    if (!of)
        return rg_fail(RG_EFORMAT, "%s: annotation %zu is about image %lld, which is not among the images", r->name,
                       c->next, (long long)key.id);
    RG_TRY(rg_reader__add_cell(r, of->name, strlen(of->name)));
    return rg_reader__add_cell(r, json_string_value(text), json_string_length(text));
}

const rg_reader_format rg_reader_coco = {
    .name = "coco",
    .summary = "captions of the COCO data set: images and annotations in one JSON object",
    .endings = "",
    .columns = "picture caption",
    .open = coco_open,
    .next = coco_next,
    .close = coco_close,
};
