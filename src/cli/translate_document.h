/* translate_document.h - `regard translate` of documents, and of lines sentence by sentence. */
#ifndef RG_CLI_TRANSLATE_DOCUMENT_H
#define RG_CLI_TRANSLATE_DOCUMENT_H

#include "regard/glossary.h"
#include "regard/translate.h"
#include "regard/translation_memory.h"

typedef struct rg_document_job {
    const char               *input, *output;
    const rg_document_format *format;   /* NULL: of lines */
    rg_session               *session;
    const rg_translator      *translator;
    const rg_session_config  *config;
    rg_sentences             *sentences; /* NULL: paragraphs stay whole */
    const rg_glossary        *glossary;  /* NULL: none */
    const rg_translation_memory *memory; /* what is copied instead of translated; NULL: nothing */
    size_t                   *hits;      /* counts what was */
    size_t                    chunk;     /* sentences translated together */
    const char               *settings;  /* all that answers depend on    */
    bool                      quiet;
} rg_document_job;

/* The format of a file: `name` of --input-format, or auto: by its ending. NULL in *out: lines. */
rg_status rg_document_job_format(const rg_document_format **out, const char *name, const char *path);

/* Translate the document `input` to `output`. Long ones can be resumed: what is done is kept in OUTPUT.partial. */
rg_status rg_document_job_run(const rg_document_job *job);

/* n lines, sentence by sentence: one new string per line, to be freed with rg_free. */
rg_status rg_document_job_lines(char **out, const rg_document_job *job, char *const *lines, size_t n);

#endif
