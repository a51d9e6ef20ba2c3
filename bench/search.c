/* search.c - see search.h. */
#include "search.h"

rg_status bench_search_init(bench_search *s, size_t sources, size_t vocabulary, size_t beam, size_t words,
                            rg_team *team)
{
    const size_t threads = (size_t)rg_team_size(team),
                 searches = sources < threads ? sources : threads < BENCH_SEARCHES ? threads
                                                                                   : BENCH_SEARCHES;
    s->config = (rg_search_config)RG_SEARCH_CONFIG_DEFAULT;
    s->config.beam = beam;
    s->config.length_factor = 0;
    s->config.length_extra = words;
    s->config.unscored = true; /* the peers take the largest logit too */
    s->config.endless = vocabulary == 0;
    s->team = searches > 1 ? team : NULL;
    for (size_t i = 0; i < searches; i++) {
        s->searches = i + 1;
        s->sources[i] = sources * (i + 1) / searches - sources * i / searches;
        if (vocabulary) RG_TRY(bench_batch_new(&s->part[i], s->sources[i], vocabulary, (uint32_t)i + 1));
        RG_TRY(rg_search_new(&s->search[i], (const rg_model *const *)&s->model, 1, searches > 1 ? NULL : team));
    }
    return RG_OK;
}

static rg_status search_one(bench_search *s, size_t i)
{
    const rg_field    none = { .layout.groups = s->sources[i] };
    const rg_answers *answers;
    RG_TRY(rg_search_run(&answers, s->search[i], &s->config, s->part[i] ? &s->part[i]->field[RG_SOURCE] : &none, NULL,
                         NULL));
    s->words[i] = 0;
    for (size_t k = 0; k < s->sources[i]; k++) s->words[i] += answers[k].answer[0].length;
    return RG_OK;
}

static void search_some(void *context, int member, size_t begin, size_t end)
{
    bench_search *s = context;
    (void)member;
    for (size_t i = begin; i < end; i++) s->status[i] = search_one(s, i);
}

rg_status bench_search_run(void *context)
{
    bench_search *s = context;
    rg_team_for(s->team, s->searches, 1, search_some, s);
    for (size_t i = 0; i < s->searches; i++)
        if (s->status[i] != RG_OK) return rg_fail(s->status[i], "search %zu failed", i);
    return RG_OK;
}

double bench_search_check(void *context)
{
    const bench_search *s = context;
    size_t              sum = 0;
    for (size_t i = 0; i < s->searches; i++) sum += s->words[i];
    return (double)sum;
}

void bench_search_fini(void *context)
{
    bench_search *s = context;
    for (size_t i = 0; i < s->searches; i++) {
        rg_search_free(s->search[i]);
        bench_batch_free(s->part[i]);
    }
    rg_model_free(s->model);
}
