/* document.h - documents: what of a file is translated, and the file again with translations in place of it.
 *
 *   bytes --rg_document_read--> sentences of plain text --a translator--> translations --rg_document_join--> bytes
 *
 * A sentence has no markup: tags inside it are remembered and put back around the words that stand for what they
 * enclosed, which links (attention) tell. Everything outside of translated text is copied byte for byte.
 * docs/documents.md says what each format leaves alone. */
#ifndef REGARD_DOCUMENT_H
#define REGARD_DOCUMENT_H

#include "regard/sentences.h"
#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_document rg_document;

/* A format; docs/documents.md lists them. */
typedef struct rg_document_format {
    const char *name;    /* "html"                                 */
    const char *endings; /* " .html .htm ": of file names         */
    const char *type;    /* MIME type                              */
    const char *about;   /* what is translated, in a line          */
    rg_status (*read)(rg_document *document, const char *text, size_t bytes);
    /* NULL: the joined text is the file. Otherwise the file from the members' texts (archives). */
    rg_status (*pack)(rg_text *out, const rg_document *document, const rg_text *members);
} rg_document_format;

const rg_document_format *const *rg_document_formats(void);      /* ends with NULL */
const rg_document_format *rg_document_format_find(const char *name); /* NULL: none */
/* By the ending of a file's name; NULL: none has it. */
const rg_document_format *rg_document_format_of(const char *path);

typedef struct rg_document_config {
    const rg_document_format *format;
    const char               *name;      /* of the file, for messages                                           */
    rg_sentences             *sentences; /* cuts paragraphs; borrowed; NULL: they stay whole                    */
    bool                      aligned;   /* links will tell where words went; otherwise what is kept (code, URLs,
                                            placeholders) separates sentences                                   */
} rg_document_config;
#define RG_DOCUMENT_CONFIG_DEFAULT { .name = "document", .aligned = true }

enum { RG_DOCUMENT_BYTES = 64 << 20 }; /* of a document, and of what an archive unpacks to */

/* The document is text without NUL bytes (or an archive), UTF-8 for all that is translated. RG_EFORMAT, RG_ELIMIT:
 * with the name and place. The bytes need not stay. */
rg_status rg_document_read(rg_document **out, const void *bytes, size_t count, const rg_document_config *config);
void      rg_document_free(rg_document *document);

size_t      rg_document_count(const rg_document *document); /* sentences */
const char *rg_document_text(const rg_document *document, size_t i); /* number i, plain, one line; borrowed */

/* Has it no markup and nothing that is kept? Then no links are needed to render it. */
bool rg_document_plain(const rg_document *document, size_t i);

/* ------------------------------------------------------------------------------------------------------- answers */

typedef struct rg_range {
    size_t begin, end;
} rg_range;

/* Which parts of a translation stand for which parts of its source. rg_links_make (translate.h) takes them from
 * attention. */
typedef struct rg_links {
    size_t    targets, sources; /* subwords                                                                     */
    rg_range *target;           /* bytes of the translation                                                     */
    double   *source;           /* where the middle of each lies in the source line: 0 .. its bytes             */
    double   *sum;              /* (targets, sources + 1): attention of a subword to the sources before column j */
} rg_links;
void rg_links_free(rg_links *links);

/* Append sentence i with this translation as it will stand in the document: markup placed, signs escaped. links NULL:
 * words are taken to stand in the same order. */
rg_status rg_document_render(rg_text *out, const rg_document *document, size_t i, const char *translation,
                             const rg_links *links);
/* The whole document; rendered(context, i) is what rg_document_render made of sentence i, or NULL: as it was. */
rg_status rg_document_join(rg_text *out, const rg_document *document,
                           const char *(*rendered)(void *context, size_t i), void *context);

/* ---------------------------------------------------------------------------------------------------------- files */

/* All of a file, "-" standard input, as far as documents are read; appended. */
rg_status rg_document_read_file(rg_text *out, const char *path);

/* What is rendered so far of a document of `count` sentences, NULL where nothing is, in a file that is replaced whole;
 * and back: *out_done were read into `rendered`, which is NULL where nothing is known. The checksum is that of the
 * document and of everything its answers depend on. No file: 0; of another checksum: RG_EMATCH. */
uint64_t  rg_document_checksum(const rg_document *document, const char *settings);
rg_status rg_document_partial_save(const char *path, uint64_t checksum, char *const *rendered, size_t count);
rg_status rg_document_partial_load(size_t *out_done, const char *path, uint64_t checksum, char **rendered, size_t count);

RG_API_END
#endif
