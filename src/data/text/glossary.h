/* glossary.h - what reading and finding terms share. */
#ifndef REGARD_DATA_GLOSSARY_H
#define REGARD_DATA_GLOSSARY_H

#include "regard/glossary.h"

typedef struct rg_glossary_entry {
    char    *term, *key; /* clean; key: in lower case */
    bool     exact;      /* has a capital: found as written alone */
    char   **form;
    size_t   count; /* 0: copied */
    uint64_t line;
} rg_glossary_entry;

struct rg_glossary {
    rg_glossary_entry *entry; /* by key */
    size_t             count, room;
    size_t             words; /* of the longest term */
};

rg_status rg_glossary_clean(rg_text *out, const char *text); /* in place of out's content */

#endif
