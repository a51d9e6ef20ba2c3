/* fields.c - how each kind of field is packed into words of four bytes, and unpacked into the rows of a batch.
 *
 *     ids, class, set, tags   one word per row: the id             numbers   one word per number (float)
 *     several texts           -1 between them
 *     counts                  ids of all features, then values      pixels    height, width, bytes line by line, filled up to a word;
 *                                                                             kept elsewhere: height, width, entry, two words of key */
#include "data/examples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "regard/copies.h"

enum { SHOWN = 40 }; /* bytes of a bad cell in a message */

static int shown(size_t bytes)
{
    return (int)(bytes < SHOWN ? bytes : SHOWN);
}

/* ------------------------------------------------------------------------------------------------- parts of cells */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void trim(const char **text, size_t *bytes)
{
    while (*bytes && is_blank((*text)[0])) (*text)++, (*bytes)--;
    while (*bytes && is_blank((*text)[*bytes - 1])) (*bytes)--;
}

rg_cell_parts rg_cell__parts(const rg_cell *cell, const char *separators)
{
    const bool lines = memchr(cell->bytes, '\n', cell->count) != NULL;
    return (rg_cell_parts){ cell->bytes, cell->bytes + cell->count, lines ? "\n" : separators };
}

bool rg_cell__next(const char **out, size_t *out_bytes, rg_cell_parts *p)
{
    while (p->at < p->end) {
        const char *begin = p->at;
        while (p->at < p->end && !(*p->at && strchr(p->separators, *p->at))) p->at++;
        *out = begin;
        *out_bytes = (size_t)(p->at - begin);
        if (p->at < p->end) p->at++;
        trim(out, out_bytes);
        if (*out_bytes) return true;
    }
    return false;
}

/* A finite decimal number that is all of the text. Digits alone are read here: most features of counts are. */
static bool to_real(float *out, const char *text, size_t bytes)
{
    char   copy[64], *end;
    size_t digits = 0;
    double value = 0;
    while (digits < bytes && text[digits] >= '0' && text[digits] <= '9') value = 10 * value + (text[digits++] - '0');
    if (!bytes || bytes >= sizeof copy || strspn(text, "0123456789+-.eE") < bytes) return false;
    if (digits < bytes || bytes > 15) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        value = rg_real_parse(copy, &end);
        if (end != copy + bytes) return false;
    }
    *out = (float)value;
    return isfinite(*out);
}

static bool to_index(uint32_t *out, const char *text, size_t bytes)
{
    uint64_t value = 0;
    if (!bytes || bytes > 9) return false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    *out = (uint32_t)value;
    return true;
}

static rg_status add_word(rg_text *out, int32_t word)
{
    return rg_text_add(out, &word, sizeof word);
}

static rg_status add_float(rg_text *out, float value)
{
    return rg_text_add(out, &value, sizeof value);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static size_t word_per_row(const rg_field_spec *spec, const int32_t *words, size_t count)
{
    (void)spec, (void)words;
    return count;
}

static size_t number_rows(const rg_field_spec *spec, const int32_t *words, size_t count)
{
    (void)words;
    return spec->many ? count / spec->width : count > 0;
}

static size_t two_words_per_row(const rg_field_spec *spec, const int32_t *words, size_t count)
{
    (void)spec, (void)words;
    return count / 2;
}

static size_t pixel_rows(const rg_field_spec *spec, const int32_t *words, size_t count)
{
    (void)spec;
    return count ? (size_t)words[0] * (size_t)words[1] : 0;
}

/* --------------------------------------------------------------------------------------------------------- columns */

static rg_status copy_ids(rg_ids *out, const int32_t *ids, size_t count)
{
    RG_TRY(rg_ids_reserve(out, count + 1));
    if (count) memcpy(out->data + out->count, ids, 4 * count);
    out->count += count;
    return RG_OK;
}

/* Room for so many values more; *out is where they go. */
static rg_status add_values(rg_real **out, rg_column *column, size_t count)
{
    size_t need, bytes;
    if (!rg_size_add(&need, column->value_count, count))
        return rg_fail(RG_ELIMIT, "%zu values are too many for a batch", count);
    if (need > column->value_room || !column->values) {
        size_t room = need < 16 ? 16 : need + need / 2;
        if (!rg_size_mul(&bytes, room, sizeof *column->values))
            return rg_fail(RG_ELIMIT, "%zu values are too many for a batch", need);
        rg_real *values = rg_realloc(column->values, bytes);
        if (!values) return RG_ENOMEM;
        column->values = values;
        column->value_room = room;
    }
    *out = column->values + column->value_count;
    column->value_count = need;
    return RG_OK;
}

static rg_status unpack_ids(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    (void)spec;
    return copy_ids(&out->ids, words, count);
}

static rg_status unpack_one_text(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    RG_TRY(copy_ids(&out->ids, words, count));
    if (spec->eos && rg_vocab_eos(spec->vocab) >= 0) RG_TRY(rg_ids_add(&out->ids, rg_vocab_eos(spec->vocab)));
    if (!spec->predicted) return RG_OK;
    RG_TRY(rg_ids_add(&out->previous, rg_vocab_bos(spec->vocab)));
    return copy_ids(&out->previous, words, count);
}

static rg_status unpack_text(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    if (!spec->vocab || (!count && spec->optional)) return RG_OK;
    size_t first = 0;
    for (size_t i = 0; spec->many && i < count; i++) {
        if (words[i] != -1) continue;
        RG_TRY(unpack_one_text(out, spec, words + first, i - first));
        first = i + 1;
    }
    return unpack_one_text(out, spec, words + first, count - first);
}

static rg_status unpack_floats(rg_column *out, const int32_t *words, size_t count)
{
    rg_real *values = NULL;
    RG_TRY(add_values(&values, out, count));
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, words + i, sizeof value);
        values[i] = (rg_real)value;
    }
    return RG_OK;
}

static rg_status unpack_numbers(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    if (!spec->change_rows || spec->still || !count) return unpack_floats(out, words, count);
    rg_text_clear(&out->changed);
    RG_TRY(spec->change_rows(&out->changed, (const float *)(const void *)words, count / spec->width, spec->width,
                             out->epoch, out->line, spec->changing));
    if (!out->changed.length || out->changed.length % (spec->width * sizeof(float)))
        return rg_fail(RG_ESHAPE, "changed rows of %zu bytes for %zu numbers each", out->changed.length, spec->width);
    return unpack_floats(out, (const int32_t *)(const void *)out->changed.data, out->changed.length / sizeof(float));
}

static rg_status unpack_counts(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    (void)spec;
    RG_TRY(copy_ids(&out->ids, words, count / 2));
    return unpack_floats(out, words + count / 2, count / 2);
}

static rg_status unpack_changed(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    rg_base_picture base = { .pixels = (const unsigned char *)(words + 2), .channels = spec->width };
    rg_real        *values = NULL;
    size_t          height = 0, width = 0;
    int32_t         box[4] = { 0 };
    rg_text_clear(&out->changed);
    if (count) {
        base.height = (size_t)words[0], base.width = (size_t)words[1];
        RG_TRY(spec->change(&out->changed, &height, &width, box, &base, out->epoch, out->line, !spec->still,
                            spec->changing));
    }
    if (height > INT32_MAX / 2 || width > INT32_MAX / 2 || out->changed.length != height * width * spec->width)
        return rg_fail(RG_ESHAPE, "a changed picture of %zu bytes for %zu x %zu pixels of %zu channels",
                       out->changed.length, width, height, spec->width);
    RG_TRY(add_values(&values, out, out->changed.length));
    RG_TRY(rg_ids_add(&out->size, (int32_t)height));
    RG_TRY(rg_ids_add(&out->size, (int32_t)width));
    RG_TRY(copy_ids(&out->box, box, 4));
    for (size_t i = 0; i < out->changed.length; i++) values[i] = (rg_real)(unsigned char)out->changed.data[i] / 255;
    return RG_OK;
}

static rg_status unpack_pixels(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    rg_real     *values = NULL;
    const size_t numbers = pixel_rows(spec, words, count) * spec->width;
    if (spec->change && !spec->kept) return unpack_changed(out, spec, words, count);
    RG_TRY(add_values(&values, out, numbers));
    RG_TRY(rg_ids_add(&out->size, count ? words[0] : 0));
    RG_TRY(rg_ids_add(&out->size, count ? words[1] : 0));
    if (spec->kept) {
        const float *rows = count ? spec->kept->rows(spec->context, (uint32_t)words[2]) : NULL;
        for (size_t i = 0; i < numbers; i++) values[i] = (rg_real)rows[i];
        return RG_OK;
    }
    const unsigned char *bytes = (const unsigned char *)(words + 2);
    for (size_t i = 0; i < numbers; i++) values[i] = (rg_real)bytes[i] / 255;
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- packing */

static rg_status pack_words(rg_examples *c, const rg_vocab *vocab, const rg_cell *cell)
{
    rg_cell_parts       p = rg_cell__parts(cell, " \t");
    const char *word;
    size_t      bytes;
    c->word_rows.count = 0;
    while (rg_cell__next(&word, &bytes, &p)) {
        const size_t before = c->ids.count;
        RG_TRY(rg_vocab_encode(&c->ids, NULL, vocab, word, bytes));
        if (c->ids.count == before) RG_TRY(rg_ids_add(&c->ids, rg_vocab_unk(vocab))); /* a word that normalises to nothing is still one */
        RG_TRY(rg_ids_add(&c->word_rows, (int32_t)(c->ids.count - before)));
    }
    return RG_OK;
}

/* One text per line, -1 between them; each is as long as is allowed. */
static rg_status pack_texts(rg_examples *c, size_t field, const rg_cell *cell)
{
    const rg_field_spec *spec = &c->spec[field];
    rg_text             *out = &c->packed[field];
    const char          *text;
    size_t               bytes;
    for (rg_cell_parts p = { cell->bytes, cell->bytes + cell->count, "\n" }; rg_cell__next(&text, &bytes, &p);) {
        c->ids.count = 0;
        RG_TRY(rg_vocab_encode(&c->ids, NULL, spec->vocab, text, bytes));
        if (!c->ids.count) RG_TRY(rg_ids_add(&c->ids, rg_vocab_unk(spec->vocab))); /* other fields count its texts */
        if (spec->max_rows && c->ids.count > spec->max_rows) c->ids.count = spec->max_rows;
        if (out->length) RG_TRY(add_word(out, -1));
        RG_TRY(rg_text_add(out, c->ids.data, 4 * c->ids.count));
    }
    return RG_OK;
}

static rg_status pack_text(rg_examples *c, size_t field, const rg_cell *cell)
{
    const rg_field_spec *spec = &c->spec[field];
    if (!spec->vocab) return RG_OK;
    if (spec->many) return pack_texts(c, field, cell);
    c->ids.count = 0;
    if (spec->words) RG_TRY(pack_words(c, spec->vocab, cell));
    else if (spec->extra) RG_TRY(rg_encode_open(&c->ids, spec->vocab, spec->extra, cell->bytes, cell->count));
    else {
        if (spec->bos && rg_vocab_begin(spec->vocab) < 0) RG_TRY(rg_ids_add(&c->ids, rg_vocab_bos(spec->vocab)));
        const size_t before = c->ids.count;
        RG_TRY(rg_vocab_encode(&c->ids, NULL, spec->vocab, cell->bytes, cell->count));
        if (c->ids.count == before) c->ids.count = 0; /* <s> alone is no text */
    }
    return rg_text_add(&c->packed[field], c->ids.data, 4 * c->ids.count);
}

/* A class by its name; a name nobody knows is told together with those that are known. */
static rg_status find_name(int32_t *out, const rg_field_spec *spec, const char *name, size_t bytes)
{
    *out = rg_names_find(spec->names, name, bytes);
    if (*out >= 0) return RG_OK;
    rg_text known = { 0 };
    (void)rg_names_print(&known, spec->names, 8);
    rg_fail(RG_EMATCH,
            "'%.*s' is not one of the %zu classes that were learned (%s); correct it, or train with data that have it",
            shown(bytes), name, rg_names_count(spec->names), rg_text_c(&known));
    rg_text_free(&known);
    return RG_EMATCH;
}

static rg_status pack_class(rg_examples *c, size_t field, const rg_cell *cell)
{
    const char *name = cell->bytes;
    size_t      bytes = cell->count;
    int32_t     id;
    if (c->spec[field].many) { /* one per line; what nobody learned is -1 */
        for (rg_cell_parts p = { cell->bytes, cell->bytes + cell->count, "\n" }; rg_cell__next(&name, &bytes, &p);)
            RG_TRY(add_word(&c->packed[field], rg_names_find(c->spec[field].names, name, bytes)));
        return RG_OK;
    }
    trim(&name, &bytes);
    if (!bytes) return RG_OK;
    RG_TRY(find_name(&id, &c->spec[field], name, bytes));
    return add_word(&c->packed[field], id);
}

static int rising(const void *a, const void *b)
{
    int32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static rg_status pack_set(rg_examples *c, size_t field, const rg_cell *cell)
{
    rg_cell_parts       p = rg_cell__parts(cell, "|");
    const char *name;
    size_t      bytes, kept = 0;
    c->ids.count = 0;
    while (rg_cell__next(&name, &bytes, &p)) {
        int32_t id = 0;
        RG_TRY(find_name(&id, &c->spec[field], name, bytes));
        RG_TRY(rg_ids_add(&c->ids, id));
    }
    if (c->ids.count > 1) qsort(c->ids.data, c->ids.count, sizeof *c->ids.data, rising);
    for (size_t i = 0; i < c->ids.count; i++)
        if (!i || c->ids.data[i] != c->ids.data[i - 1]) c->ids.data[kept++] = c->ids.data[i];
    return rg_text_add(&c->packed[field], c->ids.data, 4 * kept);
}

static rg_status pack_tags(rg_examples *c, size_t field, const rg_cell *cell)
{
    rg_cell_parts       p = rg_cell__parts(cell, " \t");
    const char *name;
    size_t      bytes, tags = 0;
    for (; rg_cell__next(&name, &bytes, &p); tags++) {
        int32_t id = 0;
        RG_TRY(find_name(&id, &c->spec[field], name, bytes));
        if (tags >= c->word_rows.count) continue;
        RG_TRY(add_word(&c->packed[field], id));
        for (int32_t row = 1; row < c->word_rows.data[tags]; row++) RG_TRY(add_word(&c->packed[field], -1));
    }
    if (tags == c->word_rows.count) return RG_OK;
    return rg_fail(RG_EFORMAT, "%zu tags for %zu words: each word has one tag", tags, c->word_rows.count);
}

/* The numbers of one row. */
static rg_status pack_number_row(rg_text *out, const rg_field_spec *spec, const char *text, size_t text_bytes)
{
    rg_cell_parts p = { text, text + text_bytes, " \t\n," };
    const char   *number;
    size_t        bytes, count = 0;
    for (; rg_cell__next(&number, &bytes, &p); count++) {
        float value = 0;
        if (!to_real(&value, number, bytes)) return rg_fail(RG_EFORMAT, "'%.*s' is not a number", shown(bytes), number);
        if (count < spec->width) RG_TRY(add_float(out, value));
    }
    if (count && count != spec->width)
        return rg_fail(RG_EFORMAT, "%zu number%s; %zu wanted", count, count > 1 ? "s" : "", spec->width);
    return RG_OK;
}

static rg_status pack_numbers(rg_examples *c, size_t field, const rg_cell *cell)
{
    const rg_field_spec *spec = &c->spec[field];
    rg_text             *out = &c->packed[field];
    const char          *row;
    size_t               bytes;
    if (spec->rows) return cell->count ? spec->rows(out, spec->width, cell, spec->context) : RG_OK;
    if (cell->height) {
        for (size_t i = 0; i < cell->count && cell->count == spec->width; i++)
            RG_TRY(add_float(out, (float)(unsigned char)cell->bytes[i] / 255));
        return cell->count == spec->width
                   ? RG_OK
                   : rg_fail(RG_EFORMAT, "a picture of %zu numbers; %zu are wanted", cell->count, spec->width);
    }
    if (!spec->many) return pack_number_row(out, spec, cell->bytes, cell->count);
    for (rg_cell_parts p = { cell->bytes, cell->bytes + cell->count, ";\n" }; rg_cell__next(&row, &bytes, &p);)
        RG_TRY(pack_number_row(out, spec, row, bytes));
    return RG_OK;
}

/* "17:0.5", or "17" for 17:1. Values wait in c->text until all ids stand. */
static rg_status pack_counts(rg_examples *c, size_t field, const rg_cell *cell)
{
    rg_cell_parts       p = { cell->bytes, cell->bytes + cell->count, " \t\n" };
    const char *part;
    size_t      bytes;
    int64_t     last = -1;
    rg_text_clear(&c->text);
    while (rg_cell__next(&part, &bytes, &p)) {
        const char  *colon = memchr(part, ':', bytes);
        const size_t digits = colon ? (size_t)(colon - part) : bytes;
        uint32_t     id = 0;
        float        value = 1;
        if (!to_index(&id, part, digits) || (colon && !to_real(&value, colon + 1, bytes - digits - 1)))
            return rg_fail(RG_EFORMAT, "'%.*s' is not a feature: number:value", shown(bytes), part);
        if (id <= last)
            return rg_fail(RG_EFORMAT, "feature %u stands after feature %lld; they must rise", id, (long long)last);
        last = id;
        if (id >= c->spec[field].width) c->dropped[field]++;
        if (id >= c->spec[field].width || value == 0) continue;
        RG_TRY(add_word(&c->packed[field], (int32_t)id));
        RG_TRY(add_float(&c->text, value));
    }
    return rg_text_add(&c->packed[field], c->text.data, c->text.length);
}

static rg_status pack_entry(rg_text *out, const rg_field_spec *spec, const rg_cell *cell)
{
    uint32_t entry = 0;
    uint64_t key = 0;
    size_t   height = 0, width = 0;
    RG_TRY(spec->kept->keep(&entry, &height, &width, &key, cell, spec->context));
    RG_TRY(add_word(out, (int32_t)height));
    RG_TRY(add_word(out, (int32_t)width));
    RG_TRY(add_word(out, (int32_t)entry));
    return rg_text_add(out, &key, sizeof key);
}

static rg_status pack_pixels(rg_examples *c, size_t field, const rg_cell *cell)
{
    const rg_field_spec *spec = &c->spec[field];
    size_t               height = cell->height, width = cell->width, rows, numbers;
    const rg_text       *decoded = NULL;
    if (!height && !cell->count) return RG_OK;
    if (spec->kept) return pack_entry(&c->packed[field], spec, cell);
    if (!height && !spec->decode)
        return rg_fail(RG_EINVAL, "a picture file, and nothing here decodes it: give raw pixels (idx)");
    if (spec->decode) { /* raw pixels too: they may have to be brought to another size */
        rg_text_clear(&c->text);
        RG_TRY(spec->decode(&c->text, &height, &width, spec->width, cell, spec->context));
        decoded = &c->text;
    } else if (cell->channels != spec->width) {
        return rg_fail(RG_EFORMAT, "a picture of %zu channels; %zu wanted", cell->channels, spec->width);
    }
    const size_t bytes = decoded ? decoded->length : cell->count;
    if (!rg_size_mul(&rows, height, width) || !rg_size_mul(&numbers, rows, spec->width) || numbers > INT32_MAX / 2 ||
        numbers != bytes)
        return rg_fail(RG_EFORMAT, "a picture of %zu x %zu pixels in %zu bytes", height, width, bytes);
    RG_TRY(add_word(&c->packed[field], (int32_t)height));
    RG_TRY(add_word(&c->packed[field], (int32_t)width));
    RG_TRY(rg_text_add(&c->packed[field], decoded ? decoded->data : cell->bytes, bytes));
    return rg_text_add(&c->packed[field], "\0\0\0", (4 - bytes % 4) % 4);
}

/* ----------------------------------------------------------------------------------------------------------- table */

const rg_kind rg_kinds[RG_FIELD_KINDS] = {
    [RG_FIELD_IDS] = { "ids", true, false, pack_text, word_per_row, unpack_text },
    [RG_FIELD_CLASS] = { "class", true, false, pack_class, word_per_row, unpack_ids },
    [RG_FIELD_NUMBERS] = { "numbers", false, true, pack_numbers, number_rows, unpack_numbers },
    [RG_FIELD_COUNTS] = { "counts", true, true, pack_counts, two_words_per_row, unpack_counts },
    [RG_FIELD_PIXELS] = { "pixels", false, true, pack_pixels, pixel_rows, unpack_pixels },
    [RG_FIELD_SET] = { "set", true, false, pack_set, word_per_row, unpack_ids },
    [RG_FIELD_TAGS] = { "tags", true, false, pack_tags, word_per_row, unpack_ids },
};

const char *rg_field_kind_name(rg_field_kind kind)
{
    return (unsigned)kind < RG_FIELD_KINDS ? rg_kinds[kind].name : "";
}
