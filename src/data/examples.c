/* examples.c - keeps examples as records of packed fields, in memory or, past the budget, in a temporary file.
 *
 *   head { line, words of each field } words of field 0, of field 1, ... | head ...        offsets[i]: where example i begins
 *
 * The file has no name any more once it is open for reading: nothing is left behind, whatever happens to the
 * program. */
#include "data/examples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/read_at.h"
#include "data/text/words.h"

/* ----------------------------------------------------------------------------------------------------- new, free */

static rg_status check_alpha(const rg_field_spec *s)
{
    if (s->alpha == 0) return RG_OK;
    if (!(s->alpha > 0 && s->alpha <= 1))
        return rg_fail(RG_EINVAL, "%s pieces cut anew with alpha %g: it is above 0, at most 1", s->name, s->alpha);
    if (s->words || s->many)
        return rg_fail(RG_EINVAL, "%s pieces cannot be cut anew each epoch: other fields stand beside them", s->name);
    if (s->vocab && rg_vocab_can_sample(s->vocab)) return RG_OK;
    return rg_fail(RG_EINVAL,
                   "%s pieces cannot be cut anew each epoch: that needs a vocabulary of kind unigram or bpe%s%s",
                   s->name, s->vocab ? ", not " : "", s->vocab ? rg_vocab_kind_name(rg_vocab_kind_of(s->vocab)) : "");
}

/* The field that a field of tags stands beside, or `fields`. */
static size_t words_before(const rg_field_spec *specs, size_t f)
{
    for (size_t i = f; i-- > 0;)
        if (specs[i].kind == RG_FIELD_IDS && specs[i].words) return i;
    return f;
}

static rg_status check_spec(const rg_field_spec *specs, size_t f)
{
    const rg_field_spec *s = &specs[f];
    if (!s->name || (unsigned)s->kind >= RG_FIELD_KINDS)
        return rg_fail(RG_EINVAL, "field %zu has no name or no kind", f);
    const bool named = s->kind == RG_FIELD_CLASS || s->kind == RG_FIELD_SET || s->kind == RG_FIELD_TAGS;
    const bool wide = s->kind == RG_FIELD_NUMBERS || s->kind == RG_FIELD_COUNTS || s->kind == RG_FIELD_PIXELS;
    if (named && !s->names)
        return rg_fail(RG_EINVAL, "field %s has no class names: rg_examples_learn finds them", s->name);
    if (wide && (!s->width || s->width > INT32_MAX))
        return rg_fail(RG_EINVAL, "field %s is %zu wide: rg_examples_learn finds the width", s->name, s->width);
    if (s->kind == RG_FIELD_TAGS && words_before(specs, f) == f)
        return rg_fail(RG_EINVAL, "the tags of field %s need a text before them whose words are cut by themselves",
                       s->name);
    return check_alpha(s);
}

rg_status rg_examples__new(rg_examples **out, const rg_examples_config *config, const rg_field_spec *specs,
                           size_t fields, uint64_t sum)
{
    if (!fields || fields > RG_BATCH_FIELDS)
        return rg_fail(RG_EINVAL, "%zu fields; 1 to %d are possible", fields, RG_BATCH_FIELDS);
    for (size_t f = 0; f < fields; f++) RG_TRY(check_spec(specs, f));
    rg_examples *c = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    c->config = *config;
    c->config.temp = NULL; /* only needed, and copied, when the file is made */
    const char *directory = config->temp ? config->temp : getenv("TMPDIR");
    c->temp_path = rg_format("%s/regard-corpus-XXXXXX", directory && *directory ? directory : "/tmp");
    if (!c->temp_path) {
        rg_free(c);
        return RG_ENOMEM;
    }
    c->fields = fields;
    c->head_bytes = offsetof(rg_record_head, count) + 4 * fields;
    memcpy(c->spec, specs, fields * sizeof *specs);
    for (size_t f = 0; f < fields; f++) {
        c->spec[f].eos = specs[f].eos || specs[f].predicted;
        c->windowed = c->windowed || specs[f].alpha > 0; /* and once examples go to a file */
    }
    c->sum = sum;
    *out = c;
    return RG_OK;
}

/* What an example becomes and which batches follow hangs from all of these. */
static uint64_t settings_sum(const rg_examples_config *config, const rg_field_spec *specs, size_t fields)
{
    const uint64_t head[] = { config->batch, config->window, config->shuffle, config->seed, fields };
    uint64_t       sum = rg_hash_bytes(RG_HASH_START, head, sizeof head);
    for (size_t f = 0; f < fields; f++) {
        const rg_field_spec *s = &specs[f];
        const uint64_t       numbers[] = { (uint64_t)s->kind,
                                           s->width,
                                           s->max_rows,
                                           s->batch_rows,
                                           s->crop,
                                           s->eos || s->predicted,
                                           s->predicted,
                                           s->words,
                                           s->optional,
                                     s->vocab ? rg_vocab_checksum(s->vocab) : 0,
                                     s->names ? rg_names_checksum(s->names) : 0 };
        sum = rg_hash_bytes(sum, numbers, sizeof numbers);
        sum = rg_hash_bytes(sum, &s->alpha, sizeof s->alpha);
        if (s->many) sum = rg_hash_bytes(sum, "many", 4);
        if (s->bos) sum = rg_hash_bytes(sum, "bos", 3);
    }
    return sum;
}

rg_status rg_examples_new(rg_examples **out, const rg_examples_config *config, const rg_field_spec *specs,
                          size_t fields)
{
    bool limited = config->batch > 0;
    for (size_t f = 0; f < fields && f < RG_BATCH_FIELDS; f++) limited = limited || specs[f].batch_rows;
    if (!limited)
        return rg_fail(RG_EINVAL,
                       "batches without a limit: give the examples of a batch or the rows of one of its fields");
    if (!fields || fields > RG_BATCH_FIELDS)
        return rg_fail(RG_EINVAL, "%zu fields; 1 to %d are possible", fields, RG_BATCH_FIELDS);
    return rg_examples__new(out, config, specs, fields, settings_sum(config, specs, fields));
}

static void drop_temp(rg_examples *c)
{
    if (c->temp) (void)rg_file_close(c->temp); /* thrown away: an error tells nothing */
    if (c->temp && !c->sealed) unlink(c->temp_path);
    c->temp = NULL;
}

static void free_field(rg_examples *c, size_t f)
{
    rg_column *column = &c->column[f];
    rg_text_free(&column->changed);
    rg_text_free(&c->packed[f]);
    rg_ids_free(&column->ids);
    rg_ids_free(&column->previous);
    rg_ids_free(&column->start);
    rg_ids_free(&column->size);
    rg_ids_free(&column->box);
    rg_free(column->values);
}

void rg_examples_free(rg_examples *c)
{
    if (!c) return;
    drop_temp(c);
    for (size_t f = 0; f < c->fields; f++) free_field(c, f);
    for (size_t i = 0; i < c->report.files; i++) rg_free(c->report.faults[i].name);
    rg_free(c->report.faults);
    rg_text_free(&c->block);
    rg_text_free(&c->window);
    rg_text_free(&c->text);
    rg_ids_free(&c->ids);
    rg_ids_free(&c->word_rows);
    rg_free(c->offsets);
    rg_free(c->temp_path);
    rg_free(c->entries);
    rg_free(c->cuts);
    rg_free(c->order);
    rg_free(c->lines);
    rg_free(c);
}

/* ------------------------------------------------------------------------------------------------------- storing */

/* Move what is in memory to a file and go on there. */
static rg_status spill(rg_examples *c)
{
    int fd = mkstemp(c->temp_path);
    if (fd < 0) return rg_fail(RG_EIO, "%s: cannot make a temporary file: %s", c->temp_path, strerror(errno));
    close(fd);
    rg_status status = rg_file_open(&c->temp, c->temp_path, "wb");
    c->windowed = true;
    if (status != RG_OK) {
        unlink(c->temp_path);
        return status;
    }
    rg_log(RG_LOG_INFO, "the encoded examples are larger than %zu MiB: they go to %s", c->config.memory >> 20,
           c->temp_path);
    return RG_OK;
}

static rg_status flush(rg_examples *c)
{
    if (!c->temp) RG_TRY(spill(c));
    RG_TRY(rg_file_write(c->temp, c->block.data, c->block.length));
    rg_text_clear(&c->block);
    return RG_OK;
}

static rg_status note_offset(rg_examples *c)
{
    if (c->report.examples + 2 > c->offset_room) {
        size_t    room = c->offset_room ? 2 * c->offset_room : 1024;
        uint64_t *offsets = room <= SIZE_MAX / sizeof *offsets ? rg_realloc(c->offsets, room * sizeof *offsets) : NULL;
        if (!offsets) return RG_ENOMEM;
        c->offsets = offsets;
        c->offset_room = room;
    }
    c->offsets[c->report.examples] = c->bytes;
    return RG_OK;
}

/* What was added to the block from `old` on is one example more. */
static rg_status store_rest(rg_examples *c, size_t old)
{
    enum { FILE_BUFFER = 1 << 20 };
    c->sum = rg_hash_bytes(c->sum, c->block.data + old, c->block.length - old);
    c->bytes += c->block.length - old;
    c->report.examples++;
    return c->block.length > (c->temp ? (size_t)FILE_BUFFER : c->config.memory) ? flush(c) : RG_OK;
}

static rg_status store(rg_examples *c, uint64_t line)
{
    rg_record_head head = { .line = line };
    size_t         old = c->block.length;
    for (size_t f = 0; f < c->fields; f++) head.count[f] = (uint32_t)(c->packed[f].length / 4);
    RG_TRY(note_offset(c));
    rg_status status = rg_text_add(&c->block, &head, c->head_bytes);
    for (size_t f = 0; f < c->fields && status == RG_OK; f++)
        status = rg_text_add(&c->block, c->packed[f].data, c->packed[f].length);
    if (status != RG_OK) {
        c->block.length = old;
        return status;
    }
    return store_rest(c, old);
}

/* Bytes of the record at `at`; 0: it is not one of these fields, all of which are texts. */
static size_t record_bytes(const rg_examples *c, const char *at, size_t left)
{
    rg_record_head head = { 0 };
    if (left < c->head_bytes) return 0;
    const int32_t *words = rg_examples__split(&head, c, at);
    size_t         bytes = c->head_bytes;
    for (size_t f = 0; f < c->fields; f++) {
        const uint32_t count = head.count[f], size = c->spec[f].vocab ? (uint32_t)rg_vocab_size(c->spec[f].vocab) : 0;
        if (count > (left - bytes) / 4 || (c->spec[f].max_rows && count > c->spec[f].max_rows)) return 0;
        for (uint32_t i = 0; i < count; i++)
            if ((uint32_t)words[i] >= size) return 0;
        words += count;
        bytes += 4 * (size_t)count;
    }
    return bytes;
}

rg_status rg_examples__append(rg_examples *c, const char *records, size_t bytes)
{
    for (size_t at = 0, one; at < bytes; at += one) {
        const size_t old = c->block.length;
        if (!(one = record_bytes(c, records + at, bytes - at)))
            return rg_fail(RG_EFORMAT, "the encoded example at byte %zu of %zu is damaged", at, bytes);
        RG_TRY(note_offset(c));
        RG_TRY(rg_text_add(&c->block, records + at, one));
        RG_TRY(store_rest(c, old));
    }
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- adding */

rg_status rg_examples__begin_file(rg_examples *c, const char *name)
{
    char *copy = name ? rg_strdup(name) : NULL;
    if (name && !copy) return RG_ENOMEM;
    rg_examples_faults *faults = rg_realloc(c->report.faults, (c->report.files + 1) * sizeof *faults);
    if (!faults) {
        rg_free(copy);
        return RG_ENOMEM;
    }
    c->report.faults = faults;
    faults[c->report.files++] = (rg_examples_faults){ .name = copy };
    return RG_OK;
}

static const int32_t *words_of(const rg_text *packed)
{
    return (const int32_t *)(const void *)packed->data;
}

static size_t rows_of(const rg_examples *c, size_t f)
{
    return rg_kinds[c->spec[f].kind].rows(&c->spec[f], words_of(&c->packed[f]), c->packed[f].length / 4);
}

/* A field that must have rows has none. */
static bool lacks_rows(const rg_examples *c)
{
    for (size_t f = 0; f < c->fields; f++) {
        const rg_field_spec *s = &c->spec[f];
        if (!c->packed[f].length && !s->optional && (s->kind != RG_FIELD_IDS || s->vocab)) return true;
    }
    return false;
}

/* Crop texts that are too long; false when a field is too long and may not be cropped. */
static bool fits(bool *out_cropped, rg_examples *c)
{
    bool fit = true;
    *out_cropped = false;
    for (size_t f = 0; f < c->fields; f++) {
        const size_t most = c->spec[f].max_rows ? c->spec[f].max_rows : INT32_MAX / 4;
        if (rows_of(c, f) <= most || (c->spec[f].kind == RG_FIELD_IDS && c->spec[f].many)) continue; /* each text was cropped */
        if (c->spec[f].kind == RG_FIELD_IDS && c->spec[f].crop) {
            c->packed[f].length = 4 * most;
            *out_cropped = true;
        } else {
            fit = false;
        }
    }
    for (size_t f = 0; f < c->fields; f++) { /* tags end where their text does */
        if (c->spec[f].kind != RG_FIELD_TAGS) continue;
        const size_t text = c->packed[words_before(c->spec, f)].length;
        if (c->packed[f].length > text) c->packed[f].length = text;
    }
    return fit;
}

static void count_rows(rg_examples *c)
{
    for (size_t f = 0; f < c->fields; f++) {
        const rg_field_spec *s = &c->spec[f];
        const size_t         rows = rows_of(c, f);
        c->report.rows[f] += rows;
        c->report.unknown[f] += c->dropped[f];
        if (s->kind != RG_FIELD_IDS || !s->vocab) continue;
        const int32_t *ids = words_of(&c->packed[f]), unk = rg_vocab_unk(s->vocab);
        for (size_t i = 0; i < rows; i++)
            c->report.unknown[f] += ids[i] == unk || (ids[i] != -1 && (size_t)ids[i] >= rg_vocab_size(s->vocab)); /* -1 parts texts */
        if (s->eos && (rows || !s->optional)) c->report.rows[f]++;
    }
}

rg_status rg_examples_add(rg_examples *c, const rg_cell *cells, uint64_t line)
{
    if (c->sealed) return rg_fail(RG_EINVAL, "a sealed store takes no more examples");
    if (!c->report.files) RG_TRY(rg_examples__begin_file(c, NULL));
    c->word_rows.count = 0;
    for (size_t f = 0; f < c->fields; f++) {
        rg_text_clear(&c->packed[f]);
        c->dropped[f] = 0;
        if (cells[f].missing) continue;
        rg_status status = rg_kinds[c->spec[f].kind].pack(c, f, &cells[f]);
        if (status != RG_OK) return rg_fail_in(status, "%s: ", c->spec[f].name);
    }
    rg_examples_faults *faults = &c->report.faults[c->report.files - 1];
    bool                cropped;
    c->report.lines++;
    if (lacks_rows(c)) {
        rg_fault_note(&faults->empty, line);
        return RG_OK;
    }
    if (!fits(&cropped, c)) {
        rg_fault_note(&faults->too_long, line);
        return RG_OK;
    }
    if (cropped) rg_fault_note(&faults->cropped, line);
    RG_TRY(store(c, line));
    count_rows(c);
    return RG_OK;
}

void rg_examples_clear(rg_examples *c)
{
    rg_text_clear(&c->block);
    c->report.examples = c->bytes = 0;
    c->place = (rg_place){ 0 };
    c->sealed = c->loaded = false;
}

rg_status rg_examples_seal(rg_examples *c)
{
    if (c->sealed) return RG_OK;
    if (!c->report.examples) {
        rg_text why = { 0 };
        (void)rg_examples_describe(&why, c);
        rg_status status = rg_fail(RG_EINVAL, "no usable example: %s", rg_text_c(&why));
        rg_text_free(&why);
        return status;
    }
    RG_TRY(note_offset(c)); /* the end */
    if (c->temp) {
        RG_TRY(flush(c));
        rg_text_free(&c->block);
        rg_status status = rg_file_close(c->temp);
        c->temp = NULL;
        if (status == RG_OK) status = rg_file_open(&c->temp, c->temp_path, "rb");
        unlink(c->temp_path);
        if (status != RG_OK) return status;
    }
    c->sealed = true;
    return RG_OK;
}

const int32_t *rg_examples__split(rg_record_head *head, const rg_examples *c, const char *record)
{
    memcpy(head, record, c->head_bytes);
    return (const int32_t *)(const void *)(record + c->head_bytes);
}

rg_status rg_examples__record(rg_record_head *head, const int32_t **words, rg_examples *c, uint64_t i)
{
    size_t bytes = (size_t)(c->offsets[i + 1] - c->offsets[i]);
    char  *at = c->block.data + c->offsets[i];
    if (c->temp) {
        RG_TRY(rg_read_at(&c->block, c->temp, c->offsets[i], bytes));
        at = c->block.data;
    }
    *words = rg_examples__split(head, c, at);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- telling */

uint64_t rg_examples_count(const rg_examples *c)
{
    return c->report.examples;
}

size_t rg_examples_fields(const rg_examples *c)
{
    return c->fields;
}

const rg_field_spec *rg_examples_spec(const rg_examples *c, size_t field)
{
    return field < c->fields ? &c->spec[field] : NULL;
}

const rg_examples_report *rg_examples_counts(const rg_examples *c)
{
    return &c->report;
}

uint64_t rg_examples_checksum(const rg_examples *c)
{
    return c->sum;
}

static rg_status describe_faults(rg_text *out, const rg_examples_faults *r, bool named)
{
    const struct { const rg_fault *fault; const char *what; } faults[] = {
        { &r->empty, "empty, skipped" },         { &r->too_long, "too long, skipped" },
        { &r->cropped, "too long, cropped" },    { &r->line_limit, "over the byte limit of a line, skipped" },
        { &r->bad_utf8, "with bad UTF-8, replaced by U+FFFD" }, { &r->nul, "with NUL bytes, replaced by U+FFFD" },
        { &r->absent, "naming files that are absent, skipped" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!faults[i].fault->count) continue;
        RG_TRY(rg_text_add_string(out, "; "));
        if (named && r->name) RG_TRY(rg_text_print(out, "%s: ", r->name));
        RG_TRY(rg_fault_print(out, faults[i].fault, faults[i].what));
    }
    return RG_OK;
}

rg_status rg_examples_describe(rg_text *out, const rg_examples *c)
{
    const rg_examples_report *r = &c->report;
    RG_TRY(rg_text_print(out, "%llu of %llu examples", (unsigned long long)r->examples, (unsigned long long)r->lines));
    for (size_t f = 0; f < c->fields; f++) {
        const rg_field_spec *s = &c->spec[f];
        RG_TRY(rg_text_print(out, "; %s: ", s->name));
        if (s->names) RG_TRY(rg_text_print(out, "%zu classes, ", rg_names_count(s->names)));
        RG_TRY(rg_text_print(out, "%llu %s", (unsigned long long)r->rows[f], rg_kinds[s->kind].name));
        if (r->unknown[f]) RG_TRY(rg_text_print(out, " (%llu unknown)", (unsigned long long)r->unknown[f]));
    }
    for (size_t i = 0; i < r->files; i++) RG_TRY(describe_faults(out, &r->faults[i], r->files > 1));
    return RG_OK;
}
