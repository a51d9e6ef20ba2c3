/* distill.c - see distill.h */
#include "regard/distill.h"

#include <string.h>

#include "regard/metrics.h"

enum { AT_ONCE = 512 }; /* lines */

/* Of a line's translations the one most like its reference; of equals the likeliest. */
static rg_status choose(const char **out, const rg_translated *line, const char *reference)
{
    double best = -1;
    *out = "";
    for (size_t k = 0; k < line->count; k++) {
        rg_scorer *scorer;
        RG_TRY(rg_scorer_new(&scorer, "chrf", NULL));
        const rg_status status = rg_scorer_add(scorer, line->best[k].text, &reference, 1);
        const double    score = status == RG_OK ? rg_scorer_score(scorer) : 0;
        rg_scorer_free(scorer);
        RG_TRY(status);
        if (score > best) *out = line->best[k].text, best = score;
    }
    return RG_OK;
}

static rg_status write_lines(rg_file *file, rg_session *session, const rg_session_config *c, char **source,
                             char **target, size_t n, uint64_t first)
{
    const rg_translated *answers;
    const char          *text;
    RG_TRY(rg_session_run(&answers, session, c, (const char *const *)source, n, first, NULL));
    for (size_t i = 0; i < n; i++) {
        RG_TRY(choose(&text, &answers[i], target[i]));
        RG_TRY(rg_file_write(file, text, strlen(text)));
        RG_TRY(rg_file_write(file, "\n", 1));
    }
    return RG_OK;
}

rg_status rg_distill(rg_translator *teacher, const rg_distill_config *config, const char *source, const char *target,
                     const char *out)
{
    rg_line_list      from = { 0 }, to = { 0 };
    rg_session       *session = NULL;
    rg_file          *file = NULL;
    rg_session_config c = RG_SESSION_CONFIG_DEFAULT;
    c.search.beam = c.search.n_best = config->n_best;
    c.batch = config->batch;
    rg_status status = rg_line_list_read(&from, source, -1);
    if (status == RG_OK) status = rg_line_list_read(&to, target, -1);
    if (status == RG_OK && from.count != to.count)
        status = rg_fail(RG_EMATCH, "%s has %zu lines, %s has %zu; each line translates the one beside it", source,
                         from.count, target, to.count);
    if (status == RG_OK) status = rg_session_new(&session, &teacher, 1, config->threads);
    if (status == RG_OK) status = rg_file_replace_begin(&file, out);
    for (size_t i = 0; status == RG_OK && i < from.count; i += AT_ONCE) {
        const size_t n = from.count - i < AT_ONCE ? from.count - i : AT_ONCE;
        status = write_lines(file, session, &c, from.line + i, to.line + i, n, i);
        if (status == RG_OK && config->go_on && !config->go_on(config->context, i + n))
            status = rg_fail(RG_ESTOP, "stopped after %zu of %zu lines", i + n, from.count);
    }
    if (status == RG_OK) status = rg_file_replace_commit(file);
    else if (file) rg_file_replace_abandon(file);
    rg_session_free(session);
    rg_line_list_free(&from);
    rg_line_list_free(&to);
    return status;
}
