/* running.c - running text: ids of all lines one after another, in memory or, past the budget, in a temporary file
 * without a name. */
#include "regard/running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/text/words.h"

enum { FILE_BUFFER = 1 << 18 }; /* ids gathered before they are written */

struct rg_running {
    rg_running_report report;
    rg_ids            ids;  /* all of them, or those not written yet */
    rg_file          *file; /* NULL: all are in memory */
    uint64_t          sum;
};

void rg_running_free(rg_running *r)
{
    if (!r) return;
    if (r->file) (void)rg_file_close(r->file); /* thrown away: an error tells nothing */
    rg_ids_free(&r->ids);
    rg_free(r);
}

uint64_t                 rg_running_tokens(const rg_running *r) { return r->report.tokens; }
const rg_running_report *rg_running_counts(const rg_running *r) { return &r->report; }
uint64_t                 rg_running_checksum(const rg_running *r) { return r->sum; }

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct {
    rg_running              *running;
    const rg_running_config *config;
    const rg_vocab          *vocab;
    char                    *temp; /* path of the temporary file while it is written; NULL: none */
} filling;

static rg_status spill(filling *f)
{
    const char *directory = f->config->temp ? f->config->temp : getenv("TMPDIR");
    char       *path = rg_format("%s/regard-text-XXXXXX", directory && *directory ? directory : "/tmp");
    if (!path) return RG_ENOMEM;
    const int fd = mkstemp(path);
    if (fd < 0) {
        const rg_status status = rg_fail(RG_EIO, "%s: cannot make a temporary file: %s", path, strerror(errno));
        rg_free(path);
        return status;
    }
    close(fd);
    f->temp = path;
    rg_log(RG_LOG_INFO, "the encoded text is larger than %zu MiB: it goes to %s", f->config->memory >> 20, path);
    return rg_file_open(&f->running->file, path, "wb");
}

static rg_status flush(filling *f)
{
    rg_running *r = f->running;
    if (!f->temp) RG_TRY(spill(f));
    RG_TRY(rg_file_write(r->file, r->ids.data, r->ids.count * sizeof *r->ids.data));
    r->ids.count = 0;
    return RG_OK;
}

static rg_status add_line(filling *f, const rg_line *line)
{
    rg_running  *r = f->running;
    const size_t from = r->ids.count;
    r->report.lines++;
    if (line->faults & RG_LINE_BAD_UTF8) rg_fault_note(&r->report.bad_utf8, r->report.lines);
    if (line->faults & RG_LINE_NUL) rg_fault_note(&r->report.nul, r->report.lines);
    if (line->faults & RG_LINE_TOO_LONG) rg_fault_note(&r->report.too_long, r->report.lines);
    RG_TRY(rg_vocab_encode(&r->ids, NULL, f->vocab, line->text, line->bytes));
    for (size_t i = from; i < r->ids.count; i++) r->report.unknown += r->ids.data[i] == rg_vocab_unk(f->vocab);
    RG_TRY(rg_ids_add(&r->ids, rg_vocab_eos(f->vocab)));
    r->report.tokens += r->ids.count - from;
    r->sum = rg_hash_bytes(r->sum, r->ids.data + from, (r->ids.count - from) * sizeof *r->ids.data);
    return r->ids.count > (f->temp ? (size_t)FILE_BUFFER : f->config->memory / sizeof *r->ids.data) ? flush(f) : RG_OK;
}

static rg_status read_file(filling *f, const char *path)
{
    const rg_read_watch *watch = f->config->watch;
    rg_lines            *lines;
    RG_TRY(rg_lines_open(&lines, path, NULL));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_line line;
        status = rg_lines_next(&more, &line, lines);
        if (status == RG_OK && more) status = add_line(f, &line);
        if (status == RG_OK && more && watch && f->running->report.lines % RG_READ_EVERY == 0 &&
            !watch->go_on(watch->context, f->running->report.lines))
            status = rg_fail(RG_ESTOP, "%s: asked to stop at line %llu", path, (unsigned long long)line.number);
    }
    rg_lines_close(lines);
    return status;
}

/* What was written is read from now on; the file loses its name, so nothing is left behind whatever happens. */
static rg_status seal(filling *f)
{
    rg_running *r = f->running;
    RG_TRY(flush(f));
    rg_status status = rg_file_close(r->file);
    r->file = NULL;
    if (status == RG_OK) status = rg_file_open(&r->file, f->temp, "rb");
    rg_ids_free(&r->ids);
    r->ids = (rg_ids){ 0 };
    return status;
}

rg_status rg_running_open(rg_running **out, const rg_running_config *config, const rg_vocab *vocab,
                          const char *const *paths, size_t count)
{
    *out = NULL;
    filling f = { .running = rg_alloc_zero(sizeof(rg_running)), .config = config, .vocab = vocab };
    if (!f.running) return RG_ENOMEM;
    f.running->sum = RG_HASH_START;
    rg_status status = count ? RG_OK : rg_fail(RG_EINVAL, "no file of text");
    for (size_t i = 0; status == RG_OK && i < count; i++) status = read_file(&f, paths[i]);
    if (status == RG_OK && !f.running->report.tokens) status = rg_fail(RG_EFORMAT, "%s: there is no text", paths[0]);
    if (status == RG_OK && f.temp) status = seal(&f);
    if (f.temp) unlink(f.temp);
    rg_free(f.temp);
    if (status != RG_OK) rg_running_free(f.running);
    else *out = f.running;
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- giving */

rg_status rg_running_read(int32_t *out, rg_running *r, uint64_t from, size_t count)
{
    if (from > r->report.tokens || count > r->report.tokens - from)
        return rg_fail(RG_EINVAL, "tokens %llu .. %llu of a text of %llu", (unsigned long long)from,
                       (unsigned long long)(from + count), (unsigned long long)r->report.tokens);
    if (!count) return RG_OK;
    if (!r->file) {
        memcpy(out, r->ids.data + from, count * sizeof *out);
        return RG_OK;
    }
    RG_TRY(rg_file_seek(r->file, from * sizeof *out));
    return rg_file_read(r->file, out, count * sizeof *out);
}

rg_status rg_running_describe(rg_text *out, const rg_running *r)
{
    const rg_running_report *c = &r->report;
    const struct {
        const rg_fault *fault;
        const char     *what;
    } faults[] = { { &c->bad_utf8, "with bad UTF-8" },
                   { &c->nul, "with NUL bytes" },
                   { &c->too_long, "over the byte limit, taken as empty" } };
    RG_TRY(rg_text_print(out, "%llu lines, %llu tokens", (unsigned long long)c->lines, (unsigned long long)c->tokens));
    if (c->unknown) RG_TRY(rg_text_print(out, ", %.2f %% unknown", 100.0 * (double)c->unknown / (double)c->tokens));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!faults[i].fault->count) continue;
        RG_TRY(rg_text_print(out, "; "));
        RG_TRY(rg_fault_print(out, faults[i].fault, faults[i].what));
    }
    return RG_OK;
}
