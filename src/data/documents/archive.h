/* archive.h - documents that are zip archives: members that are read, all others copied. */
#ifndef RG_DATA_ARCHIVE_H
#define RG_DATA_ARCHIVE_H

#include "data/documents/documents.h"

/* Members whose name is like `pattern` ("word/header*.xml", one *) and how they are read. */
typedef struct rg_member_kind {
    const char *pattern;
    rg_status (*read)(rg_document *d, const char *text, size_t bytes);
} rg_member_kind;

/* `kinds` ends with a NULL pattern. At least one member must be there. */
rg_status rg_archive__read(rg_document *d, const char *bytes, size_t count, const rg_member_kind *kinds);
rg_status rg_archive__pack(rg_text *out, const rg_document *d, const rg_text *members);

#endif
