/* examples_read.c - fills a store of examples from a reader, and learns what its fields need to know from a first
 * pass. */
#include "data/examples.h"

#include <stdlib.h>
#include <string.h>

#include "data/reader.h"
#include "data/text/words.h"
#include "regard/picture.h"

/* ------------------------------------------------------------------------------------------------------- filling */

static size_t wanted_of(const rg_reader *r, const char *name)
{
    size_t i = 0;
    while (i < r->config.wanted_count && strcmp(r->config.wanted[i], name) != 0) i++;
    return i;
}

static rg_status add_row(rg_examples *c, const rg_reader *r, const rg_row *row, const size_t *column)
{
    rg_examples_faults *faults = &c->report.faults[c->report.files - 1];
    rg_cell             cells[RG_BATCH_FIELDS];
    if (row->faults & RG_LINE_BAD_UTF8) rg_fault_note(&faults->bad_utf8, row->line);
    if (row->faults & RG_LINE_NUL) rg_fault_note(&faults->nul, row->line);
    if (row->faults & (RG_LINE_TOO_LONG | RG_ROW_ABSENT)) {
        rg_fault_note(row->faults & RG_ROW_ABSENT ? &faults->absent : &faults->line_limit, row->line);
        c->report.lines++;
        return RG_OK;
    }
    for (size_t f = 0; f < c->fields; f++) cells[f] = row->cell[column[f]];
    rg_status status = rg_examples_add(c, cells, row->line);
    return status == RG_OK ? RG_OK : rg_reader_blame(status, r, row);
}

rg_status rg_examples_read_from(rg_examples *c, rg_reader *r)
{
    size_t column[RG_BATCH_FIELDS] = { 0 };
    for (size_t f = 0; f < c->fields; f++)
        if ((column[f] = wanted_of(r, c->spec[f].name)) == r->config.wanted_count)
            return rg_fail(RG_EINVAL, "%s: field %s is not among the wanted columns", r->name, c->spec[f].name);
    RG_TRY(rg_examples__begin_file(c, r->name));
    for (;;) {
        rg_row row;
        bool   more;
        RG_TRY(rg_reader_next(&more, &row, r));
        if (!more) return RG_OK;
        RG_TRY(add_row(c, r, &row, column));
    }
}

rg_status rg_examples_read(rg_examples *c, const char *path, const rg_reader_config *config)
{
    const char      *names[RG_BATCH_FIELDS];
    rg_reader_config reading = *config;
    rg_reader       *r = NULL;
    for (size_t f = 0; f < c->fields; f++) names[f] = c->spec[f].name;
    if (!reading.wanted) {
        reading.wanted = names;
        reading.wanted_count = c->fields;
    }
    rg_status status = rg_reader_open(&r, path, &reading);
    if (status == RG_OK) status = rg_examples_read_from(c, r);
    rg_reader_close(r);
    return status;
}

rg_status rg_examples_open(rg_examples **out, const rg_examples_config *config, const rg_field_spec *specs,
                           size_t fields, const char *path, const rg_reader_config *reading)
{
    rg_examples *c = NULL;
    rg_status    status = rg_examples_new(&c, config, specs, fields);
    if (status == RG_OK) status = rg_examples_read(c, path, reading);
    if (status == RG_OK && (status = rg_examples_seal(c)) != RG_OK) rg_fail_in(status, "%s: ", path);
    if (status == RG_OK) *out = c;
    else rg_examples_free(c);
    return status;
}

rg_status rg_reader_feed_next(bool *out_more, const char **out_text, size_t *out_bytes, void *context)
{
    rg_reader_feed *feed = context;
    rg_row          row;
    RG_TRY(rg_reader_next(out_more, &row, feed->reader));
    if (!*out_more) return RG_OK;
    *out_text = row.cell[feed->wanted].bytes;
    *out_bytes = row.cell[feed->wanted].count;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ learning */

/* What a first pass has seen. */
typedef struct first_pass {
    rg_words names;
    size_t   width;
} first_pass;

static rg_status see_names(first_pass *p, const rg_field_spec *spec, const rg_cell *cell)
{
    rg_cell_parts at = rg_cell__parts(cell, spec->kind == RG_FIELD_SET ? "|" : " \t");
    const char   *name;
    size_t        bytes;
    uint32_t      id;
    if (spec->kind == RG_FIELD_CLASS) at.separators = ""; /* the whole cell is one name */
    while (rg_cell__next(&name, &bytes, &at)) RG_TRY(rg_words_add(&id, &p->names, name, bytes));
    return RG_OK;
}

/* One more than the largest number before a colon. Numbers rise, so that the last is the largest; what is wrong is
 * told when it is read. */
static size_t counts_width(const rg_cell *cell)
{
    const char *number;
    size_t      bytes, width = 0;
    for (rg_cell_parts at = { cell->bytes, cell->bytes + cell->count, " \t\n" }; rg_cell__next(&number, &bytes, &at);) {
        size_t value = 0;
        for (size_t i = 0; i < bytes && i < 9 && number[i] >= '0' && number[i] <= '9'; i++)
            value = 10 * value + (size_t)(number[i] - '0');
        if (value + 1 > width) width = value + 1;
    }
    return width;
}

/* Of a sequence: those of its first row. */
static size_t numbers_width(const rg_cell *cell, bool many)
{
    const char *number;
    size_t      bytes, width = 0;
    if (cell->height) return cell->count;
    for (rg_cell_parts at = { cell->bytes, cell->bytes + (many ? strcspn(cell->bytes, ";\n") : cell->count), " \t\n," };
         rg_cell__next(&number, &bytes, &at);)
        width++;
    return width;
}

static rg_status see(first_pass *p, const rg_field_spec *spec, const rg_cell *cell)
{
    size_t width = 0, height, row_width;
    if (cell->missing) return RG_OK;
    switch (spec->kind) {
    case RG_FIELD_CLASS:
    case RG_FIELD_SET:
    case RG_FIELD_TAGS: return see_names(p, spec, cell);
    case RG_FIELD_NUMBERS: width = p->width ? 0 : numbers_width(cell, spec->many); break;
    case RG_FIELD_COUNTS: width = counts_width(cell); break;
    case RG_FIELD_PIXELS:
        if (cell->count) RG_TRY(rg_pixels_measure(&height, &row_width, &width, cell));
        break;
    default: break;
    }
    if (width > p->width) p->width = width;
    return RG_OK;
}

/* Two classes at least. */
static rg_status make_names(rg_names **out, const first_pass *p, const rg_field_spec *spec, const char *path)
{
    const size_t count = p->names.count;
    const char **names = rg_alloc_array(count, sizeof *names);
    if (!names) return RG_ENOMEM;
    for (size_t i = 0; i < count; i++) names[i] = rg_words_get(&p->names, i);
    rg_status status = RG_OK;
    if (!count) status = rg_fail(RG_EFORMAT, "%s: no row has a %s", path, spec->name);
    else if (count == 1 && spec->kind == RG_FIELD_CLASS)
        status = rg_fail(RG_EFORMAT, "%s: every row has the %s '%s': there must be two classes at least", path,
                         spec->name, names[0]);
    if (status == RG_OK) status = rg_names_new(out, names, count);
    rg_free(names);
    return status;
}

/* Captchas tell a from A; elsewhere it is a slip. */
static rg_status warn_of_twins(const rg_names *names, const char *path)
{
    rg_words  lower = { 0 };
    rg_text   text = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < rg_names_count(names); i++) {
        const char *name = rg_names_get(names, (int32_t)i);
        uint32_t    id = 0;
        rg_text_clear(&text);
        status = rg_text_lower(&text, name, strlen(name));
        if (status == RG_OK) status = rg_words_add(&id, &lower, rg_text_c(&text), text.length);
        if (status == RG_OK && lower.words[id].count++)
            rg_log(RG_LOG_WARN, "%s: class '%s' differs from another only in capitals", path, name);
    }
    rg_text_free(&text);
    rg_words_fini(&lower);
    return status;
}

static rg_status look_through(first_pass *p, const rg_field_spec *spec, const char *path,
                              const rg_reader_config *config)
{
    rg_reader_config reading = *config;
    rg_reader       *r = NULL;
    if (!reading.wanted) {
        reading.wanted = &spec->name;
        reading.wanted_count = 1;
    }
    rg_status    status = rg_reader_open(&r, path, &reading);
    const size_t column = status == RG_OK ? wanted_of(r, spec->name) : 0;
    if (status == RG_OK && column == reading.wanted_count)
        status = rg_fail(RG_EINVAL, "%s: field %s is not among the wanted columns", path, spec->name);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more && (status = see(p, spec, &row.cell[column])) != RG_OK)
            rg_reader_blame(status, r, &row);
    }
    rg_reader_close(r);
    return status;
}

rg_status rg_examples_learn(rg_names **out_names, size_t *out_width, const rg_field_spec *spec, const char *path,
                            const rg_reader_config *config)
{
    const bool named = spec->kind == RG_FIELD_CLASS || spec->kind == RG_FIELD_SET || spec->kind == RG_FIELD_TAGS;
    first_pass p = { 0 };
    rg_names  *names = NULL;
    rg_status  status = look_through(&p, spec, path, config);
    if (status == RG_OK && named) status = make_names(&names, &p, spec, path);
    if (status == RG_OK && named) status = warn_of_twins(names, path);
    if (status == RG_OK && !named && spec->kind != RG_FIELD_IDS && !p.width)
        status = rg_fail(RG_EFORMAT, "%s: no row has a %s", path, spec->name);
    rg_words_fini(&p.names);
    if (status == RG_OK && out_names && names) {
        *out_names = names;
        names = NULL;
    }
    if (status == RG_OK && out_width) *out_width = p.width;
    rg_names_free(names);
    return status;
}
