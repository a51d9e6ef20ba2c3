/* translate_document.c - see translate_document.h. */
#include "cli/translate_document.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/output.h"

#define SAVE_SECONDS 1.0 /* between two writes of OUTPUT.partial */

rg_status rg_document_job_format(const rg_document_format **out, const char *name, const char *path)
{
    rg_text names = { 0 };
    *out = NULL;
    if (strcmp(name, "lines") == 0) return RG_OK;
    if (strcmp(name, "auto") == 0) {
        const rg_document_format *found = strcmp(path, "-") == 0 ? NULL : rg_document_format_of(path);
        *out = found && strcmp(found->name, "text") != 0 ? found : NULL; /* .txt: lines, one for one */
        return RG_OK;
    }
    if ((*out = rg_document_format_find(name))) return RG_OK;
    for (const rg_document_format *const *f = rg_document_formats(); *f; f++)
        RG_TRY(rg_text_print(&names, ", %s", (*f)->name));
    rg_fail(RG_EINVAL, "--input-format %s: there are auto, lines%s", name, rg_text_c(&names));
    rg_text_free(&names);
    return RG_EINVAL;
}

/* Is there something in a model from which links can be made? */
static bool is_aligned(const rg_translator *t)
{
    const rg_attention_use *uses = t->model->system->uses;
    return uses && uses[0].where;
}

static rg_status open_document(rg_document **out, const rg_document_job *job, const char *name,
                               const rg_document_format *format, const char *bytes, size_t count)
{
    rg_document_config c = RG_DOCUMENT_CONFIG_DEFAULT;
    c.format = format;
    c.name = name;
    c.sentences = job->sentences;
    c.aligned = is_aligned(job->translator);
    return rg_document_read(out, bytes, count, &c);
}

/* ----------------------------------------------------------------------------------------------------- sentences */

/* A sentence that waits: number `i` of a document, whose text it becomes in rendered[i]. */
typedef struct {
    const rg_document *document;
    size_t             i;
    char             **rendered;
} waiting;

/* From the memory, whose words are linked with nothing: tags go by their place. */
static rg_status render_hit(waiting *w, const char *text)
{
    rg_text   out = { 0 };
    rg_status status = rg_document_render(&out, w->document, w->i, text, NULL);
    if (status == RG_OK && !(w->rendered[w->i] = rg_strdup(rg_text_c(&out)))) status = RG_ENOMEM;
    rg_text_free(&out);
    return status;
}

static rg_status render(waiting *w, const rg_translator *t, const rg_translated *r)
{
    const bool plain = rg_document_plain(w->document, w->i);
    rg_links   links = { 0 };
    rg_text    out = { 0 };
    rg_status  status = RG_OK;
    if (r->count && !plain) status = rg_links_make(&links, t, rg_document_text(w->document, w->i), r, 0);
    if (status == RG_OK && r->count)
        status = rg_document_render(&out, w->document, w->i, r->best[0].text, plain ? NULL : &links);
    if (status == RG_OK && !(w->rendered[w->i] = rg_strdup(rg_text_c(&out)))) status = RG_ENOMEM;
    rg_links_free(&links);
    rg_text_free(&out);
    return status;
}

/* `first` numbers them: sampling depends on it. */
static rg_status translate(const rg_document_job *job, waiting *list, size_t n, uint64_t first)
{
    const rg_translated *results;
    rg_session_config    config = *job->config;
    const char         **lines = rg_alloc_array(n + 1, sizeof *lines), **known = rg_alloc_array(n + 1, sizeof *known);
    const rg_glossary  **glossary = rg_alloc_array(n + 1, sizeof *glossary);
    rg_status            status = lines && known && glossary ? RG_OK : RG_ENOMEM;
    config.glossary = job->glossary ? glossary : NULL;
    for (size_t k = 0; status == RG_OK && k < n; k++) {
        lines[k] = rg_document_text(list[k].document, list[k].i);
        if (glossary) glossary[k] = job->glossary;
        known[k] = job->memory ? rg_translation_memory_find(job->memory, lines[k]) : NULL;
        if (known[k]) lines[k] = ""; /* costs nothing */
        else if (!rg_document_plain(list[k].document, list[k].i)) config.search.attention = true;
    }
    if (status == RG_OK && n) status = rg_session_run(&results, job->session, &config, lines, n, first, NULL);
    for (size_t k = 0; status == RG_OK && k < n; k++) {
        status = known[k] ? render_hit(&list[k], known[k]) : render(&list[k], job->translator, &results[k]);
        if (known[k]) ++*job->hits;
        if (results[k].cut && !job->quiet)
            fprintf(stderr, "sentence %llu: the last %zu of its tokens were not read: \"%.40s...\"\n",
                    (unsigned long long)(first + k + 1), results[k].cut, lines[k]);
    }
    rg_free(lines);
    rg_free(known);
    rg_free(glossary);
    return status;
}

static const char *rendered_of(void *context, size_t i) { return ((char **)context)[i]; }

static void free_all(char **list, size_t n)
{
    for (size_t i = 0; list && i < n; i++) rg_free(list[i]);
    rg_free(list);
}

/* ----------------------------------------------------------------------------------------------------- documents */

typedef struct {
    const rg_document_job *job;
    rg_document           *document;
    char                 **rendered;
    size_t                 count, done;
    char                  *partial; /* NULL: standard output cannot be resumed */
    uint64_t               checksum;
    double                 saved;
    rg_progress           *progress;
} run;

static rg_status resume(run *r)
{
    if (!r->partial) return RG_OK;
    r->checksum = rg_document_checksum(r->document, r->job->settings);
    const rg_status status = rg_document_partial_load(&r->done, r->partial, r->checksum, r->rendered, r->count);
    if (status == RG_EMATCH) {
        if (!r->job->quiet) fprintf(stderr, "%s; beginning anew\n", rg_message());
        return RG_OK;
    }
    if (status == RG_OK && r->done && !r->job->quiet)
        fprintf(stderr, "%s: resumed, %zu of %zu sentences were done\n", r->partial, r->done, r->count);
    return status;
}

static rg_status save(run *r)
{
    if (!r->partial || rg_now() - r->saved < SAVE_SECONDS) return RG_OK;
    r->saved = rg_now();
    return rg_document_partial_save(r->partial, r->checksum, r->rendered, r->count);
}

static rg_status translate_all(run *r)
{
    waiting  *list = rg_alloc_array(r->job->chunk, sizeof *list);
    rg_status status = list ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < r->count;) {
        size_t n = 0;
        for (; i < r->count && n < r->job->chunk; i++)
            if (!r->rendered[i]) list[n++] = (waiting){ r->document, i, r->rendered };
        status = translate(r->job, list, n, n ? list[0].i : 0);
        r->done += n;
        rg_progress_set(r->progress, r->done, NULL);
        if (status == RG_OK && i < r->count) status = save(r);
    }
    rg_free(list);
    return status;
}

static rg_status write_document(const run *r)
{
    rg_text   out = { 0 };
    rg_status status = rg_document_join(&out, r->document, rendered_of, r->rendered);
    if (status == RG_OK && strcmp(r->job->output, "-") == 0) {
        if (fwrite(rg_text_c(&out), 1, out.length, stdout) != out.length || fflush(stdout) != 0)
            status = rg_fail(RG_EIO, "cannot write the document to standard output");
    } else if (status == RG_OK) status = rg_file_replace(r->job->output, rg_text_c(&out), out.length);
    rg_text_free(&out);
    return status;
}

rg_status rg_document_job_run(const rg_document_job *job)
{
    run       r = { .job = job, .saved = rg_now() };
    rg_text   bytes = { 0 };
    const bool file = strcmp(job->output, "-") != 0;
    rg_status status = rg_document_read_file(&bytes, job->input);
    if (status == RG_OK)
        status = open_document(&r.document, job, strcmp(job->input, "-") == 0 ? "standard input" : job->input,
                               job->format, rg_text_c(&bytes), bytes.length);
    rg_text_free(&bytes);
    if (status == RG_OK) r.count = rg_document_count(r.document);
    if (status == RG_OK && !(r.rendered = rg_alloc_zero((r.count + 1) * sizeof *r.rendered))) status = RG_ENOMEM;
    if (status == RG_OK && file && !(r.partial = rg_format("%s.partial", job->output))) status = RG_ENOMEM;
    if (status == RG_OK) status = resume(&r);
    if (status == RG_OK) status = rg_progress_new(&r.progress, stderr, "translating", r.count);
    if (status == RG_OK) status = translate_all(&r);
    rg_progress_end(r.progress);
    if (status == RG_OK) status = write_document(&r);
    if (status == RG_OK && r.partial) status = rg_file_remove(r.partial);
    free_all(r.rendered, r.count);
    rg_free(r.partial);
    rg_document_free(r.document);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- lines */

typedef struct {
    rg_document *document;
    char       **rendered;
} cut_line;

static rg_status translate_lines(const rg_document_job *job, cut_line *cut, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++) all += rg_document_count(cut[i].document);
    waiting *list = rg_alloc_array(all + 1, sizeof *list);
    if (!list) return RG_ENOMEM;
    all = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rg_document_count(cut[i].document); k++)
            list[all++] = (waiting){ cut[i].document, k, cut[i].rendered };
    const rg_status status = translate(job, list, all, 0);
    rg_free(list);
    return status;
}

rg_status rg_document_job_lines(char **out, const rg_document_job *job, char *const *lines, size_t n)
{
    cut_line *cut = rg_alloc_zero((n + 1) * sizeof *cut);
    rg_status status = cut ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        status = open_document(&cut[i].document, job, "line", rg_document_format_find("text"), lines[i],
                               strlen(lines[i]));
        if (status == RG_OK &&
            !(cut[i].rendered = rg_alloc_zero((rg_document_count(cut[i].document) + 1) * sizeof *cut[i].rendered)))
            status = RG_ENOMEM;
    }
    if (status == RG_OK) status = translate_lines(job, cut, n);
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        rg_text text = { 0 };
        status = rg_document_join(&text, cut[i].document, rendered_of, cut[i].rendered);
        if (status == RG_OK && !(out[i] = rg_strdup(rg_text_c(&text)))) status = RG_ENOMEM;
        rg_text_free(&text);
    }
    for (size_t i = 0; cut && i < n; i++) {
        free_all(cut[i].rendered, cut[i].document ? rg_document_count(cut[i].document) : 0);
        rg_document_free(cut[i].document);
    }
    rg_free(cut);
    return status;
}
