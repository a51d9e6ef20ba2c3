/* xliff.c - XLIFF 1.2 and 2.x: every unit without a target gets one, from its source. Targets that are there stay, and
 * so do units with translate="no".
 *
 *     <source>Press <g id="1">OK</g></source>   ->   <source>...</source><target>...</target>
 *
 * Inline elements that hold text (g, pc, mrk) go around its words; those that hold codes (ph, bpt, ept, it, x, ...) are
 * copied whole. */
#include "data/documents/documents.h"

#include <string.h>

static const char around[] = " g pc mrk "; /* hold text */

typedef struct {
    rg_document *d;
    const char  *text;
    size_t       bytes, kept;
} reader;

/* The content of a source, as it will stand in the target. */
static rg_status read_content(rg_document *d, const char *text, size_t begin, size_t end)
{
    rg_cutter c = rg_cutter__new(d, text, end, begin, rg_html__escape);
    rg_status status = RG_OK;
    for (size_t at = begin; status == RG_OK && at < end;) {
        char name[RG_MARK_NAME];
        if (text[at] == '<' && rg_tag__is(text + at)) {
            const size_t tag = rg_tag__end(text, end, at);
            rg_tag__name(name, text + at);
            const bool closes = text[at + 1] == '/', lone = rg_tag__closes_itself(text, tag) || !*name;
            size_t     to = tag;
            if (!lone && rg_word_in(around, name)) {
                status = closes ? rg_cutter__close(&c, name, text + at, tag - at)
                                : rg_cutter__open(&c, name, text + at, tag - at);
                rg_cutter__solid(&c, tag);
            } else {
                if (!lone && !closes) to = rg_tag__element_end(NULL, text, end, tag, name);
                status = rg_cutter__point(&c, at, to);
            }
            at = to;
        } else if (strchr(" \t\r\n", text[at])) {
            if (text[at] == '\n') status = rg_cutter__blank(&c);
            else if (!rg_cutter__drops_blank(&c)) status = rg_text_add(&c.plain, " ", 1);
            at++;
        } else {
            status = rg_html__character(&c.plain, text, end, &at);
            rg_cutter__solid(&c, at);
        }
    }
    if (status == RG_OK) status = rg_cutter__end(&c, end);
    rg_cutter__fini(&c);
    return status;
}

/* Is there a target with something in it behind the source that ended at `at`? *out: where an empty one is. */
static bool has_target(rg_range *out, const reader *r, size_t at, size_t unit_end)
{
    char name[RG_MARK_NAME];
    *out = (rg_range){ at, at };
    for (const char *tag; at < unit_end && (tag = memchr(r->text + at, '<', unit_end - at));) {
        at = (size_t)(tag - r->text);
        const size_t end = rg_tag__is(tag) ? rg_tag__end(r->text, unit_end, at) : at + 1;
        rg_tag__name(name, tag);
        if (strcmp(name, "source") == 0) return false; /* of the next segment */
        if (strcmp(name, "target") == 0 && tag[1] != '/') {
            if (rg_tag__closes_itself(r->text, end)) {
                *out = (rg_range){ at, end };
                return false;
            }
            const size_t whole = rg_tag__element_end(NULL, r->text, unit_end, end, "target");
            for (size_t i = end; i < whole && r->text[i] != '<'; i++)
                if (!strchr(" \t\r\n", r->text[i])) return true;
            if (strncmp(r->text + end, "</target", 8) != 0 && memchr(r->text + end, '<', whole - end) != r->text + whole - 9)
                return true; /* with elements in it */
            *out = (rg_range){ at, whole };
            return false;
        }
        at = end;
    }
    return false;
}

static rg_status fill(reader *r, size_t inner, size_t close, size_t end, size_t unit_end)
{
    rg_range target;
    if (has_target(&target, r, end, unit_end)) return RG_OK;
    RG_TRY(rg_document__keep(r->d, r->text + r->kept, target.begin - r->kept));
    const size_t tag = target.end > target.begin ? rg_tag__end(r->text, unit_end, target.begin) : 0;
    const size_t open = tag ? tag - target.begin - (rg_tag__closes_itself(r->text, tag) ? 2 : 1) : 0;
    if (tag) RG_TRY(rg_document__keep(r->d, r->text + target.begin, open)); /* with its attributes */
    RG_TRY(rg_document__keep(r->d, tag ? ">" : "<target>", tag ? 1 : 8));
    RG_TRY(read_content(r->d, r->text, inner, close));
    RG_TRY(rg_document__keep(r->d, "</target>", 9));
    r->kept = target.end;
    return RG_OK;
}

static bool is_kept(const reader *r, size_t at, size_t end)
{
    const char *value = NULL;
    return rg_tag__value(&value, r->text + at, end - at, "translate") == 2 && strncmp(value, "no", 2) == 0;
}

static rg_status read(rg_document *d, const char *text, size_t bytes)
{
    reader r = { d, text, bytes, 0 };
    char   name[RG_MARK_NAME];
    size_t unit_end = bytes;
    bool   found = false;
    for (size_t at = 0; at < bytes;) {
        const char *tag = memchr(text + at, '<', bytes - at);
        if (!tag) break;
        at = (size_t)(tag - text);
        const size_t end = rg_tag__is(tag) ? rg_tag__end(text, bytes, at) : at + 1;
        rg_tag__name(name, tag);
        if (!found && strcmp(name, "xliff") == 0) found = true;
        const bool unit = rg_word_in(" file group trans-unit unit ", name);
        if (unit && tag[1] != '/' && is_kept(&r, at, end)) {
            at = rg_tag__element_end(NULL, text, bytes, end, name);
            continue;
        }
        if (tag[1] != '/' && rg_word_in(" trans-unit unit ", name)) unit_end = rg_tag__element_end(NULL, text, bytes, end, name);
        if (tag[1] != '/' && rg_word_in(" alt-trans matches ignorable ", name)) { /* others' proposals; what is no text */
            at = rg_tag__closes_itself(text, end) ? end : rg_tag__element_end(NULL, text, bytes, end, name);
            continue;
        }
        if (strcmp(name, "source") == 0 && tag[1] != '/' && !rg_tag__closes_itself(text, end)) {
            size_t       close;
            const size_t whole = rg_tag__element_end(&close, text, bytes, end, "source");
            if (close > end && close < bytes) RG_TRY(fill(&r, end, close, whole, unit_end));
            at = whole > r.kept ? whole : r.kept;
            continue;
        }
        at = end;
    }
    if (!found) return rg_fail(RG_EFORMAT, "%s: there is no <xliff> in it", d->config.name);
    return rg_document__keep(d, text + r.kept, bytes - r.kept);
}

const rg_document_format rg_document_format_xliff = {
    .name = "xliff",
    .endings = " .xlf .xliff ",
    .type = "application/xliff+xml",
    .about = "sources of units without a target",
    .read = read,
};
