/* running.h - running text: the tokens of all lines of files as one sequence, for language models.
 *
 *   files, .gz --rg_lines--> lines --rg_vocab--> pieces </s> pieces </s> ...        every line is closed by </s>
 *
 * Ids stay in memory up to a budget; more goes to a temporary file, so the text may be larger than memory. */
#ifndef REGARD_RUNNING_H
#define REGARD_RUNNING_H

#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_running rg_running;

typedef struct rg_running_config {
    size_t               memory; /* bytes of ids kept in memory; more goes to a temporary file */
    const char          *temp;   /* its directory; NULL: $TMPDIR or /tmp                       */
    const rg_read_watch *watch;  /* while files are read; NULL: nobody                         */
} rg_running_config;
#define RG_RUNNING_CONFIG_DEFAULT   \
    {                               \
        (size_t)1 << 30, NULL, NULL \
    }

typedef struct rg_running_report {
    uint64_t lines, tokens, unknown; /* tokens: </s> counted */
    rg_fault bad_utf8, nul,
        too_long; /* line numbers count over all files; lines past the byte limit are taken as empty */
} rg_running_report;

/* Files one after another; "-" is standard input. The vocabulary is borrowed while it runs. Text without a single line
 * is RG_EFORMAT. */
rg_status rg_running_open(rg_running **out, const rg_running_config *config, const rg_vocab *vocab,
                          const char *const *paths, size_t count);
void      rg_running_free(rg_running *running);

uint64_t                 rg_running_tokens(const rg_running *running);
const rg_running_report *rg_running_counts(const rg_running *running);
rg_status rg_running_describe(rg_text *out, const rg_running *running); /* the counts in a sentence or two */
uint64_t  rg_running_checksum(const rg_running *running);               /* changes with the ids */

/* Ids from .. from + count - 1. RG_EINVAL past the end. One caller at a time. */
rg_status rg_running_read(int32_t *out, rg_running *running, uint64_t from, size_t count);

RG_API_END
#endif
