/* written.c - what a trained run writes for lines that it is given. */
#include "lab/written.h"

#include <unistd.h>

#include "regard/metrics.h"

rg_status rg_written_open(rg_written *w, const rg_row_run *run)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int  threads = run->job->settings->threads ? (int)run->job->settings->threads : cores > 0 ? (int)cores
                                                                                                    : 1;
    char      *path = rg_format("%s/model.safetensors", run->folder);
    *w = (rg_written){ .line = NULL };
    rg_status status = path ? rg_translator_load(&w->translator, path) : RG_ENOMEM;
    if (status == RG_OK) status = rg_session_new(&w->session, &w->translator, 1, threads);
    rg_free(path);
    return status;
}

void rg_written_close(rg_written *w)
{
    rg_session_free(w->session);
    rg_translator_free(w->translator);
    rg_free(w->line);
    *w = (rg_written){ .line = NULL };
}

rg_status rg_written_run(rg_written *w, const char *const *lines, size_t count, size_t beam, double normalize)
{
    const rg_translated *results;
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    const char         **line = rg_realloc(w->line, (count + 1) * sizeof *line);
    if (!line) return RG_ENOMEM;
    w->line = line;
    c.search.beam = beam;
    c.search.normalize = normalize;
    RG_TRY(rg_session_run(&results, w->session, &c, lines, count, 1, NULL));
    for (size_t i = 0; i < count; i++) line[i] = results[i].count ? results[i].best[0].text : "";
    return RG_OK;
}

rg_status rg_written_score(double *out, const rg_written *w, const char *metric, const char *const *references,
                           size_t count)
{
    rg_scorer       *s = NULL;
    rg_scorer_config c = RG_SCORER_CONFIG_DEFAULT;
    c.lowercase = true;
    rg_status status = rg_scorer_new(&s, metric, &c);
    for (size_t i = 0; status == RG_OK && i < count; i++) status = rg_scorer_add(s, w->line[i], &references[i], 1);
    *out = status == RG_OK ? rg_scorer_score(s) : 0;
    rg_scorer_free(s);
    return status;
}
