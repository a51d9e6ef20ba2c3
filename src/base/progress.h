/* progress.h - a progress line by share instead of by count, beside what base.h has. */
#ifndef RG_BASE_PROGRESS_H
#define RG_BASE_PROGRESS_H

#include "regard/base.h"

/* `part` 0 to 1 gives a bar and the time left, counted from the first part that was seen: a resumed run is not faster
 * for what was done before. Below 0: nobody knows how much it is; the time that has passed. `title` replaces the one
 * before. */
void rg_progress_part(rg_progress *progress, double part, const char *title, const char *note);

/* Clear the line, for something else to be printed; the next call draws it at once. NULL is fine. */
void rg_progress_clear(rg_progress *progress);

#endif
