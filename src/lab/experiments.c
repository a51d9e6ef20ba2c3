/* experiments.c - the list of experiments. */
#include "regard/lab.h"
#include "lab/rows.h"

/* One word per line. */
#define RG_EXPERIMENTS(X) \
    X(table1) \
    X(gat) \
    X(ntm) \
    X(order) \
    X(multi30k) \
    X(grid) \
    X(headlines) \
    X(adversarial) \
    X(vat) \
    X(dann) \
    X(ablations) \
    X(gan) \
    X(rank) \
    X(lm) \
    X(sentiment) \
    X(longrange) \
    X(length) \
    X(scores) \
    X(digits) \
    X(stn) \
    X(ram) \
    X(captcha) \
    X(speech) \
    X(captions) \
    X(vqa) \
    X(sets) \
    X(recipes) \
    X(cost)

#define DECLARE(name) extern const rg_experiment rg_experiment_##name;
#define ENTRY(name)   &rg_experiment_##name,
RG_EXPERIMENTS(DECLARE)
static const rg_experiment *const table[] = { RG_EXPERIMENTS(ENTRY) NULL };

const rg_experiment *const *rg_experiment_all(void) { return table; }

rg_status rg_experiment_run(bool *holds, const rg_experiment *e, const rg_lab *lab, const void *options)
{
    *holds = true;
    return e->grid ? rg_grid_run(holds, lab, e->grid, options) : e->run(holds, lab, options);
}
