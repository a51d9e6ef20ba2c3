/* table.c - the texts of a table's columns: a vocabulary learned from them, and lists of them. */
#include "data/text/vocab_lines.h"
#include "regard/reader.h"

/* ----------------------------------------------------------------------------------------------------- vocabulary */

typedef struct {
    const char             *path;
    const rg_reader_config *table;
    size_t                  first, column, end;
    rg_reader              *reader; /* of `column`; NULL: not opened yet */
    const rg_read_watch    *watch;
    uint64_t                read;
} column_feed;

static rg_status next_text(bool *out_more, const char **text, size_t *bytes, void *context)
{
    column_feed *f = context;
    for (; f->column < f->end; f->column++) {
        rg_row row;
        if (!f->reader) RG_TRY(rg_reader_open(&f->reader, f->path, f->table));
        RG_TRY(rg_reader_next(out_more, &row, f->reader));
        if (*out_more) {
            if (++f->read % RG_READ_EVERY == 0 && f->watch && !f->watch->go_on(f->watch->context, f->read))
                return rg_fail(RG_ESTOP, "asked to stop while a vocabulary was learned, at row %llu",
                               (unsigned long long)f->read);
            *text = row.cell[f->column].bytes;
            *bytes = row.cell[f->column].count;
            return RG_OK;
        }
        rg_reader_close(f->reader);
        f->reader = NULL;
    }
    *out_more = false;
    return RG_OK;
}

static rg_status skip_text(bool *out_more, size_t *out_bytes, void *context)
{
    const char *text;
    return next_text(out_more, &text, out_bytes, context);
}

static void rewind_table(void *context)
{
    column_feed *f = context;
    rg_reader_close(f->reader);
    f->reader = NULL;
    f->column = f->first;
    f->read = 0;
}

rg_status rg_vocab_train_table(rg_vocab **out, const rg_vocab_config *config, const char *path,
                               const rg_reader_config *table, size_t first, size_t count)
{
    column_feed feed = { .path = path,   .table = table,       .first = first,
                         .column = first, .end = first + count, .watch = config->watch };
    if (first + count > table->wanted_count)
        return rg_fail(RG_EINVAL, "columns %zu to %zu of a table that gives %zu", first, first + count,
                       table->wanted_count);
    const rg_vocab_lines lines = { next_text, skip_text, rewind_table, &feed };
    const rg_status      status = rg_vocab__train_lines(out, config, &lines);
    rg_reader_close(feed.reader);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- lists */

static rg_status add(rg_line_list *list, const rg_cell *cell)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 1024;
        char       **next = rg_realloc(list->line, room * sizeof *next);
        if (!next) return RG_ENOMEM;
        list->line = next;
        list->room = room;
    }
    rg_text   clean = { 0 };
    rg_status status = rg_text_clean(&clean, cell->bytes, cell->count, RG_TEXT_NFC, NULL);
    if (status == RG_OK && !(list->line[list->count] = rg_strdup(rg_text_c(&clean)))) status = RG_ENOMEM;
    if (status == RG_OK) list->count++;
    rg_text_free(&clean);
    return status;
}

rg_status rg_line_list_read_table(rg_line_list *out, const char *path, const rg_reader_config *table, size_t wanted)
{
    rg_reader *reader;
    *out = (rg_line_list){ 0 };
    if (wanted >= table->wanted_count)
        return rg_fail(RG_EINVAL, "column %zu of a table that gives %zu", wanted, table->wanted_count);
    RG_TRY(rg_reader_open(&reader, path, table));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, reader);
        if (status == RG_OK && more) status = add(out, &row.cell[wanted]);
    }
    rg_reader_close(reader);
    if (status != RG_OK) rg_line_list_free(out);
    return status;
}
