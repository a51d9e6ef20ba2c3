/* entity_names.h - the table of named characters. */
#ifndef RG_DATA_ENTITY_NAMES_H
#define RG_DATA_ENTITY_NAMES_H

#include <stddef.h>

extern const char *const rg_entity_names[];
extern const size_t      rg_entity_rows;

#endif
