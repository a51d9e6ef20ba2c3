/* pictured.c - tables that name pictures: rows about the same picture are put together, whatever their order in the
 * file. */
#include "tasks/pictured.h"

#include <string.h>
#include <sys/stat.h>

void rg_pictured_table_free(rg_pictured_table *x)
{
    for (size_t c = 0; c < RG_PICTURED_COLUMNS; c++) {
        for (size_t i = 0; x->cell[c] && i < x->room; i++) rg_text_free(&x->cell[c][i]);
        rg_free(x->cell[c]);
    }
    rg_words_fini(&x->names);
    rg_free(x->files);
    *x = (rg_pictured_table){ 0 };
}

static rg_status make_room(rg_pictured_table *x, size_t pictures)
{
    const size_t room = pictures < 16 ? 16 : 2 * pictures;
    if (pictures <= x->room) return RG_OK;
    for (size_t c = 0; c < x->columns; c++) {
        rg_text *cells = rg_realloc(x->cell[c], room * sizeof *cells);
        if (!cells) return RG_ENOMEM;
        memset(cells + x->room, 0, (room - x->room) * sizeof *cells);
        x->cell[c] = cells;
    }
    x->room = room;
    return RG_OK;
}

/* One line: what has line ends inside is one all the same. */
static rg_status add_line(rg_text *to, const char *bytes, size_t count)
{
    if (to->length) RG_TRY(rg_text_add(to, "\n", 1));
    const size_t from = to->length;
    RG_TRY(rg_text_add(to, bytes, count));
    for (size_t i = from; i < to->length; i++)
        if (to->data[i] == '\n' || to->data[i] == '\r') to->data[i] = ' ';
    return RG_OK;
}

static bool is_blank(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strchr(" \t\r\n", bytes[i])) return false;
    return true;
}

/* Rows without a picture, or with an empty cell, say nothing. */
static rg_status add_row(rg_pictured_table *x, const rg_cell *picture, const rg_cell *cells)
{
    uint32_t id;
    if (picture->missing || is_blank(picture->bytes, picture->count)) return RG_OK;
    for (size_t c = 0; c < x->columns; c++)
        if (cells[c].missing || is_blank(cells[c].bytes, cells[c].count)) return RG_OK;
    RG_TRY(rg_words_add(&id, &x->names, picture->bytes, picture->count));
    RG_TRY(make_room(x, x->names.count));
    for (size_t c = 0; c < x->columns; c++) RG_TRY(add_line(&x->cell[c][id], cells[c].bytes, cells[c].count));
    x->rows++;
    return RG_OK;
}

/* The columns by other usual names, where a first line has those. Names that are given in --columns stay. */
static rg_status find_header(const char **names, const char *path, const rg_reader_config *reading)
{
    static const char *const others[][2] = { { "picture", "image" }, { "caption", "text" } };
    const char              *own[RG_PICTURED_COLUMNS + 1];
    rg_reader_config         look = *reading;
    rg_reader               *r;
    look.wanted = own;
    for (size_t tried = 0; tried < 4 && !*reading->columns; tried++) {
        for (size_t i = 0; i < reading->wanted_count; i++) {
            own[i] = names[i];
            for (size_t k = 0; k < 2; k++)
                if (tried >> k & 1 && strcmp(own[i], others[k][0]) == 0) own[i] = others[k][1];
        }
        RG_TRY(rg_reader_open(&r, path, &look));
        rg_row          row;
        bool            more;
        const rg_status status = rg_reader_next(&more, &row, r);
        const bool      found = rg_reader_has_header(r);
        rg_reader_close(r);
        RG_TRY(status);
        if (found) return memcpy((void *)names, (const void *)own, reading->wanted_count * sizeof *names), RG_OK;
    }
    return RG_OK;
}

/* picture TAB number TAB text: the number is in the way. */
static rg_status is_numbered(bool *out, const char *path, const rg_reader_config *reading)
{
    rg_reader_config look = *reading;
    rg_reader       *r;
    rg_row           row;
    bool             more;
    *out = false;
    if (reading->wanted_count != 2 || *reading->columns) return RG_OK;
    RG_TRY(rg_reader_open(&r, path, &look));
    rg_status  status = rg_reader_next(&more, &row, r);
    const bool plain =
        status == RG_OK && more && !rg_reader_has_header(r) && strcmp(rg_reader_format_of(r), "tsv") == 0;
    rg_reader_close(r);
    if (!plain) return status;
    look.columns = "1,2-";
    look.header = RG_HEADER_NO;
    RG_TRY(rg_reader_open(&r, path, &look));
    status = rg_reader_next(&more, &row, r);
    if (status == RG_OK && more) {
        const size_t digits = strspn(row.cell[1].bytes, "0123456789");
        *out = digits && row.cell[1].bytes[digits] == '\t';
    }
    rg_reader_close(r);
    return status;
}

/* A folder or an archive of pictures without a table: the names are the texts. */
static rg_status read_names(rg_pictured_table *x, const char *path, const rg_set_options *sets)
{
    static const char *const wanted[] = { "path", "name" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    c.wanted = wanted;
    c.wanted_count = 2;
    c.format = sets->format;
    RG_TRY(rg_reader_open(&r, path, &c));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        rg_cell     text = row.cell[1];
        const char *dot = strrchr(text.bytes, '.');
        if (dot && dot > text.bytes) text.count = (size_t)(dot - text.bytes);
        status = add_row(x, &row.cell[0], &text);
    }
    rg_reader_close(r);
    return status;
}

static bool is_place(const char *path) /* a folder or a tar archive */
{
    struct stat  about;
    const size_t n = strlen(path);
    return (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) || (n > 4 && strcmp(path + n - 4, ".tar") == 0);
}

/* Without --pictures: train.tar beside train.tsv, or the folder of the table. */
static char *pictures_of(const char *path)
{
    struct stat about;
    const char *slash = strrchr(path, '/'), *dot = strchr(slash ? slash : path, '.');
    char       *tar = dot ? rg_format("%.*s.tar", (int)(dot - path), path) : NULL;
    if (tar && stat(tar, &about) == 0) return tar;
    rg_free(tar);
    return slash ? rg_format("%.*s", (int)(slash - path + 1), path) : rg_strdup("./");
}

static rg_status read_rows(rg_pictured_table *x, const char *path, const rg_reader_config *reading)
{
    rg_reader *r;
    RG_TRY(rg_reader_open(&r, path, reading));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more) status = add_row(x, &row.cell[0], row.cell + 1);
    }
    rg_reader_close(r);
    return status;
}

rg_status rg_pictured_read(rg_pictured_table *out, const rg_set_options *sets, const char *path, const char *pictures,
                           const char *first, const char *const *wanted, size_t columns)
{
    const char *names[RG_PICTURED_COLUMNS + 1] = { first };
    bool        numbered;
    out->columns = columns;
    if (is_place(path)) {
        if (columns > 1)
            return rg_fail(RG_EINVAL,
                           "%s: a folder or archive of pictures says nothing of them: give a table with the columns "
                           "%s and %s",
                           path, first, wanted[0]);
        if (!(out->files = rg_strdup(path))) return RG_ENOMEM;
        RG_TRY(read_names(out, path, sets));
    } else {
        for (size_t c = 0; c < columns; c++) names[c + 1] = wanted[c];
        rg_reader_config reading = rg_supervised_reading(sets, names, columns + 1);
        reading.files = NULL; /* names, not bytes */
        RG_TRY(find_header(names, path, &reading));
        RG_TRY(is_numbered(&numbered, path, &reading));
        if (numbered) reading.columns = "1,3";
        out->files = !pictures ? NULL : *pictures ? rg_strdup(pictures) : pictures_of(path);
        if (pictures && !out->files) return RG_ENOMEM;
        RG_TRY(read_rows(out, path, &reading));
    }
    return out->names.count ? RG_OK
                            : rg_fail(RG_EFORMAT, "%s: no row names a %s and says something of it", path, first);
}

bool rg_pictured_line(const char **out, size_t *out_bytes, const char **at)
{
    if (!*at || !**at) return false;
    *out = *at;
    *out_bytes = strcspn(*at, "\n");
    *at += *out_bytes + ((*at)[*out_bytes] == '\n');
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ names */

static rg_status count_words(rg_words *out, const rg_pictured_table *x, size_t column, char separator)
{
    for (size_t i = 0; i < x->names.count; i++) {
        const char *at = rg_text_c(&x->cell[column][i]);
        while (*at) {
            size_t bytes = 0;
            while (at[bytes] && at[bytes] != '\n' && !(separator && at[bytes] == separator)) bytes++;
            size_t from = 0, end = bytes;
            while (from < end && at[from] == ' ') from++;
            while (end > from && at[end - 1] == ' ') end--;
            uint32_t id = 0;
            if (end > from) RG_TRY(rg_words_add(&id, out, at + from, end - from));
            if (end > from) out->words[id].count++;
            at += bytes + (at[bytes] != 0);
        }
    }
    return RG_OK;
}

rg_status rg_pictured_names(rg_names **out, uint64_t **out_counts, const rg_pictured_table *x, size_t column,
                            char separator, uint64_t min_count, const char *what)
{
    rg_words     words = { 0 };
    rg_status    status = count_words(&words, x, column, separator);
    const char **names = status == RG_OK ? rg_alloc_array(words.count + 1, sizeof *names) : NULL;
    size_t       kept = 0;
    if (status == RG_OK && !names) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < words.count; i++)
        if (words.words[i].count >= min_count) names[kept++] = rg_words_get(&words, i);
    if (status == RG_OK && kept < 2)
        status = rg_fail(RG_EINVAL, "%zu of %zu different %s occur at least %llu times; two are needed", kept,
                         words.count, what, (unsigned long long)min_count);
    if (status == RG_OK) status = rg_names_new(out, names, kept);
    if (status == RG_OK && out_counts && !(*out_counts = rg_alloc_zero(kept * sizeof **out_counts))) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && out_counts && i < kept; i++) {
        const int64_t id =
            rg_words_find(&words, rg_names_get(*out, (int32_t)i), strlen(rg_names_get(*out, (int32_t)i)));
        (*out_counts)[i] = id >= 0 ? words.words[id].count : 0;
    }
    rg_free(names);
    rg_words_fini(&words);
    return status;
}

typedef struct {
    const rg_pictured_table *table;
    size_t                   first, last, picture, column;
    const char              *at;
} feed;

static rg_status next_text(bool *out_more, const char **out_text, size_t *out_bytes, void *context)
{
    feed *f = context;
    while (!rg_pictured_line(out_text, out_bytes, &f->at)) {
        if (f->picture == f->table->names.count) return *out_more = false, RG_OK;
        f->at = rg_text_c(&f->table->cell[f->column][f->picture]);
        if (f->column++ == f->last) f->column = f->first, f->picture++;
    }
    return *out_more = true, RG_OK;
}

rg_status rg_pictured_vocab(rg_vocab **out, const rg_run *run, const rg_text_options *o, const rg_pictured_table *x,
                            size_t first, size_t last)
{
    rg_vocab_config c = RG_VOCAB_CONFIG_DEFAULT;
    feed            f = { .table = x, .first = first, .last = last, .column = first };
    RG_TRY(rg_vocab_kind_find(&c.kind, o->kind));
    RG_TRY(rg_text_form_find(&c.form, o->form));
    c.size = (size_t)o->size;
    c.min_count = (size_t)o->min_count;
    c.seed = (uint64_t)run->learning->seed;
    rg_tell_begin(run->report, "learning a vocabulary (%s)", o->kind);
    const rg_status status = rg_vocab_train(out, &c, next_text, &f);
    rg_tell_over(run->report);
    return status;
}

rg_status rg_pictured_hint(rg_text *out, const void *options, const char *program, const char *model)
{
    return (void)options, rg_text_print(out, "%s predict -m %s picture.jpg", program, model);
}
