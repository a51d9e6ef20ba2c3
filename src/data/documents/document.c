/* document.c - a document as parts: bytes that are copied, and sentences; and the formats there are. */
#include "data/documents/documents.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RG_DOCUMENTS(X) X(text) X(html) X(markdown) X(po) X(srt) X(vtt) X(json) X(yaml) X(xliff) X(docx) X(odt) X(pptx) X(epub)
#define DECLARE(name) extern const rg_document_format rg_document_format_##name;
#define ENTRY(name) &rg_document_format_##name,
RG_DOCUMENTS(DECLARE)
static const rg_document_format *const table[] = { RG_DOCUMENTS(ENTRY) NULL };

const rg_document_format *const *rg_document_formats(void) { return table; }

const rg_document_format *rg_document_format_find(const char *name)
{
    for (size_t i = 0; table[i]; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

const rg_document_format *rg_document_format_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    char        word[16];
    if (!dot || strlen(dot) > sizeof word - 3) return NULL;
    for (size_t i = 0; table[i]; i++)
        for (const char *at = table[i]->endings; (at = strchr(at, '.')); at++)
            if (strncasecmp(at, dot, strlen(dot)) == 0 && at[strlen(dot)] == ' ') return table[i];
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------- parts */

char *rg_document__copy(const char *text, size_t bytes)
{
    char *out = rg_alloc(bytes + 1);
    if (!out) return NULL;
    if (bytes) memcpy(out, text, bytes);
    out[bytes] = 0;
    return out;
}

rg_status rg_escape__none(rg_text *out, const char *text, size_t bytes) { return rg_text_add(out, text, bytes); }

void rg_marks__free(rg_mark *mark, size_t marks)
{
    for (size_t i = 0; i < marks; i++) {
        rg_free(mark[i].open);
        rg_free(mark[i].close);
    }
    rg_free(mark);
}

void rg_document_free(rg_document *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->parts; i++) {
        rg_marks__free(d->part[i].mark, d->part[i].marks);
        rg_free(d->part[i].text);
    }
    for (size_t i = 0; i < d->members; i++) rg_free(d->member[i].name);
    rg_free(d->member);
    rg_free(d->group);
    rg_blocks__free(d->block, d->blocks);
    rg_free(d->part);
    rg_free(d->sentence);
    rg_free(d->bytes);
    rg_free(d);
}

static rg_status new_part(rg_document *d, const char *text, size_t bytes)
{
    if (d->parts == d->part_room) {
        const size_t room = d->part_room ? 2 * d->part_room : 16;
        rg_document_part     *part = rg_realloc(d->part, room * sizeof *part);
        if (!part) return RG_ENOMEM;
        d->part = part;
        d->part_room = room;
    }
    char *copy = rg_document__copy(text, bytes);
    if (!copy) return RG_ENOMEM;
    d->part[d->parts++] = (rg_document_part){ .text = copy, .bytes = bytes, .group = d->grouped };
    return RG_OK;
}

rg_status rg_document__keep(rg_document *d, const char *bytes, size_t count)
{
    return count ? new_part(d, bytes, count) : RG_OK;
}

rg_status rg_document__sentence(rg_document *d, const char *text, size_t bytes, rg_mark *mark, size_t marks,
                                rg_escape *escape)
{
    rg_status status = RG_OK;
    if (d->sentences == d->sentence_room) {
        const size_t room = d->sentence_room ? 2 * d->sentence_room : 16;
        size_t      *list = rg_realloc(d->sentence, room * sizeof *list);
        if (list) d->sentence = list, d->sentence_room = room;
        else status = RG_ENOMEM;
    }
    if (status == RG_OK) status = new_part(d, text, bytes);
    if (status != RG_OK) {
        rg_marks__free(mark, marks);
        return status;
    }
    rg_document_part *p = &d->part[d->parts - 1];
    p->sentence = true;
    p->mark = mark;
    p->marks = marks;
    p->escape = escape;
    d->sentence[d->sentences++] = d->parts - 1;
    return RG_OK;
}

enum { GROUP_BEGIN = 1, GROUP_END = 2 }; /* bytes around the number of a group */

rg_status rg_document__begin_group(rg_document *d, int *out_before)
{
    if (d->groups == d->group_room) {
        const size_t room = d->group_room ? 2 * d->group_room : 8;
        rg_range    *group = rg_realloc(d->group, room * sizeof *group);
        if (!group) return RG_ENOMEM;
        d->group = group;
        d->group_room = room;
    }
    *out_before = d->grouped;
    d->grouped = (int)d->groups;
    d->group[d->groups++] = (rg_range){ d->parts, d->parts };
    return RG_OK;
}

rg_status rg_document__end_group(rg_text *out, rg_document *d, int before)
{
    const int ended = d->grouped;
    d->group[ended].end = d->parts;
    d->grouped = before;
    return rg_text_print(out, "%c%d%c", GROUP_BEGIN, ended, GROUP_END);
}

size_t      rg_document_count(const rg_document *d) { return d->sentences; }
const char *rg_document_text(const rg_document *d, size_t i) { return d->part[d->sentence[i]].text; }

bool rg_document_plain(const rg_document *d, size_t i) { return !d->part[d->sentence[i]].marks; }

rg_status rg_document__fail(const rg_document *d, const char *text, size_t at, const char *what)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += text[i] == '\n';
    return rg_fail(RG_EFORMAT, "%s: line %zu: %s", d->config.name, line, what);
}

/* ------------------------------------------------------------------------------------------------------- reading */

static rg_status check_text(const rg_document_config *c, const char *text, size_t count)
{
    const char *nul = memchr(text, 0, count);
    if (count >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return rg_fail(RG_EFORMAT, "%s: it is UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)", c->name);
    if (nul)
        return rg_fail(RG_EFORMAT, "%s: byte %zu is 0: it is not a text, so it cannot be read as %s", c->name,
                       (size_t)(nul - text), c->format->name);
    return RG_OK;
}

/* The line end that the file uses. */
static const char *line_end_of(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\n', bytes);
    return end && end > text && end[-1] == '\r' ? "\r\n" : "\n";
}

rg_status rg_document_read(rg_document **out, const void *bytes, size_t count, const rg_document_config *config)
{
    rg_status    status = RG_OK;
    rg_document *d;
    *out = NULL;
    if (!config->format) return rg_fail(RG_EINVAL, "%s: which format is it?", config->name);
    if (count > RG_DOCUMENT_BYTES)
        return rg_fail(RG_ELIMIT, "%s: %zu bytes; at most %d are read", config->name, count, RG_DOCUMENT_BYTES);
    if (!(d = rg_alloc_zero(sizeof *d))) return RG_ENOMEM;
    d->config = *config;
    d->grouped = -1;
    char *text = rg_document__copy(bytes, count); /* with a NUL behind it */
    if (!text) status = RG_ENOMEM;
    if (status == RG_OK && !config->format->pack) status = check_text(config, text, count);
    if (status == RG_OK && config->format->pack) {
        d->bytes = text;
        d->count = count;
        d->line_end = "\n";
        status = config->format->read(d, text, count);
        text = NULL;
    } else if (status == RG_OK) {
        const size_t mark = count >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte order mark */
        d->line_end = line_end_of(text, count);
        d->ungrouped = memchr(text, GROUP_BEGIN, count) != NULL;
        status = rg_document__keep(d, text, mark);
        if (status == RG_OK) status = config->format->read(d, text + mark, count - mark);
    }
    rg_free(text);
    if (status == RG_OK) *out = d;
    else rg_document_free(d);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- writing */

void rg_links_free(rg_links *l)
{
    rg_free(l->target);
    rg_free(l->source);
    rg_free(l->sum);
    *l = (rg_links){ 0 };
}

enum { STEPS = 256 };

/* Links along the diagonal, in at most STEPS steps. */
static rg_status diagonal(rg_links *l, size_t source, size_t target)
{
    const size_t longest = source > target ? source : target, n = longest < STEPS ? longest : STEPS;
    *l = (rg_links){ .targets = n, .sources = n };
    l->target = rg_alloc_array(n + 1, sizeof *l->target);
    l->source = rg_alloc_array(n + 1, sizeof *l->source);
    l->sum = rg_alloc_array((n + 1) * (n + 1), sizeof *l->sum);
    if (!l->target || !l->source || !l->sum) return RG_ENOMEM;
    for (size_t k = 0; k < n; k++) {
        l->target[k] = (rg_range){ k * target / n, (k + 1) * target / n };
        l->source[k] = ((double)k + 0.5) * (double)source / (double)n;
        for (size_t j = 0; j <= n; j++) l->sum[k * (n + 1) + j] = j > k ? 1 : 0;
    }
    return RG_OK;
}

static rg_status render(rg_text *out, const rg_document_part *p, const char *translation, const rg_links *links)
{
    rg_links  own = { 0 };
    rg_status status = RG_OK;
    if (!translation) return rg_fail(RG_EINVAL, "a sentence without a translation");
    if (!p->marks) return p->escape(out, translation, strlen(translation));
    if (!links) status = diagonal(&own, p->bytes, strlen(translation));
    if (status == RG_OK) status = rg_markup_write(out, p, translation, links ? links : &own);
    rg_links_free(&own);
    return status;
}

rg_status rg_document_render(rg_text *out, const rg_document *d, size_t i, const char *translation,
                             const rg_links *links)
{
    return render(out, &d->part[d->sentence[i]], translation, links);
}

typedef struct {
    const rg_document *d;
    const char *(*rendered)(void *context, size_t i);
    void   *context;
    size_t *number; /* of each part, as a sentence */
} joining;

static rg_status join(rg_text *out, const joining *j, size_t first, size_t end, int group);

/* A text with its groups in place of their markers. Groups are nested as far as the reader nests them. */
static rg_status expand(rg_text *out, const joining *j, const char *text, size_t bytes)
{
    while (bytes) {
        const char  *mark = j->d->groups ? memchr(text, GROUP_BEGIN, bytes) : NULL;
        const size_t n = mark ? (size_t)(mark - text) : bytes;
        RG_TRY(rg_text_add(out, text, n));
        text += n;
        bytes -= n;
        if (!bytes) break;
        char               *behind;
        const unsigned long number = strtoul(text + 1, &behind, 10);
        if (*behind != GROUP_END || number >= j->d->groups) { /* a translation that holds the byte */
            text++;
            bytes--;
            continue;
        }
        RG_TRY(join(out, j, j->d->group[number].begin, j->d->group[number].end, (int)number));
        bytes -= (size_t)(behind + 1 - text);
        text = behind + 1;
    }
    return RG_OK;
}

static rg_status join_part(rg_text *out, const joining *j, size_t k)
{
    const rg_document_part *p = &j->d->part[k];
    const char             *text = p->sentence ? j->rendered(j->context, j->number[k]) : p->text;
    rg_text                 own = { 0 };
    rg_status               status = text ? RG_OK : rg_document_render(&own, j->d, j->number[k], p->text, NULL);
    if (!text) text = rg_text_c(&own);
    if (status == RG_OK) status = expand(out, j, text, p->sentence ? strlen(text) : p->bytes);
    rg_text_free(&own);
    return status;
}

static rg_status join_block(rg_text *out, const joining *j, const rg_block *b)
{
    rg_range *range = rg_alloc_array(b->end - b->first, sizeof *range);
    rg_text   text = { 0 };
    rg_status status = range ? RG_OK : RG_ENOMEM;
    for (size_t k = b->first; status == RG_OK && k < b->end; k++) {
        range[k - b->first].begin = text.length;
        status = join_part(&text, j, k);
        range[k - b->first].end = text.length;
    }
    if (status == RG_OK) status = rg_block__write(out, b, rg_text_c(&text), range);
    rg_text_free(&text);
    rg_free(range);
    return status;
}

static rg_status join(rg_text *out, const joining *j, size_t first, size_t end, int group)
{
    for (size_t k = first; k < end; k++) {
        const rg_block *b = group < 0 && j->d->blocks ? rg_document__block_at(j->d, k) : NULL;
        if (b) {
            RG_TRY(join_block(out, j, b));
            k = b->end - 1;
        } else if (j->d->part[k].group == group) RG_TRY(join_part(out, j, k));
    }
    return RG_OK;
}

rg_status rg_document_join(rg_text *out, const rg_document *d, const char *(*rendered)(void *context, size_t i),
                           void *context)
{
    const bool packed = d->config.format->pack != NULL;
    joining    j = { d, rendered, context, rg_alloc_array(d->parts + 1, sizeof *j.number) };
    rg_text   *members = rg_alloc_zero((d->members + 1) * sizeof *members);
    rg_status  status = j.number && members ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < d->sentences; i++) j.number[d->sentence[i]] = i;
    if (status == RG_OK && !packed) status = join(out, &j, 0, d->parts, -1);
    for (size_t m = 0; status == RG_OK && m < d->members; m++)
        status = join(&members[m], &j, d->member[m].first, d->member[m].end, -1);
    if (status == RG_OK && packed) status = d->config.format->pack(out, d, members);
    for (size_t m = 0; members && m < d->members; m++) rg_text_free(&members[m]);
    rg_free(members);
    rg_free(j.number);
    return status;
}
