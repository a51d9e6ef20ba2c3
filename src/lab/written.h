/* written.h - what a trained run writes for lines that it is given. */
#ifndef RG_LAB_WRITTEN_H
#define RG_LAB_WRITTEN_H

#include "lab/rows.h"
#include "regard/translate.h"

typedef struct rg_written {
    rg_translator *translator;
    rg_session    *session;
    const char   **line; /* borrowed from the session, of the last rg_written_run */
} rg_written;

/* The final weights of a run. rg_written_close also after a failure. */
rg_status rg_written_open(rg_written *out, const rg_row_run *run);
void      rg_written_close(rg_written *w);
/* w->line[count]: the best answer of each line. */
rg_status rg_written_run(rg_written *w, const char *const *lines, size_t count, size_t beam, double normalize);
/* A metric (regard/metrics.h) of w->line, without case. */
rg_status rg_written_score(double *out, const rg_written *w, const char *metric, const char *const *references,
                           size_t count);

#endif
