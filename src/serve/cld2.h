/* cld2.h - the Compact Language Detector 2, which is C++ and optional, in C. */
#ifndef RG_SERVE_CLD2_H
#define RG_SERVE_CLD2_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RG_CLD2_MOST = 3 };

/* The languages a text is in: codes (borrowed, static), and how much of its letters each has, in percent. The number
 * of them, at most RG_CLD2_MOST; 0: it cannot be told. `hint` is a list of codes that are likely, "en,de". */
size_t rg_cld2(const char *code[RG_CLD2_MOST], int percent[RG_CLD2_MOST], const char *text, size_t bytes, bool html,
               const char *hint);
bool rg_cld2_there(void); /* was it there when this was built? */

#ifdef __cplusplus
}
#endif
#endif
