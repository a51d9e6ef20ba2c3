/* shared_update.c - an update that several processes make together (processes.h). With one process all of this does
 * nothing. */
#include <string.h>

#include "autograd/params.h"
#include "base/hash.h"
#include "train/trainer.h"

enum { WORDS = 256 };

/* ---------------------------------------------------------------------------------------------------- shares */

size_t rg_trainer__own_shares(const rg_trainer *t, const rg_shares *shares, size_t *out_first)
{
    const size_t W = (size_t)rg_workers_count(t->workers), first = (size_t)rg_processes_rank(t->processes) * W;
    *out_first = first < shares->count ? first : shares->count;
    return shares->count - *out_first < W ? shares->count - *out_first : W;
}

/* What a rank says after its shares. */
typedef struct said {
    int32_t status;
    double  sum[RG_PROCESS_WORKERS], count[RG_PROCESS_WORKERS];
    char    message[WORDS];
} said;

rg_status rg_trainer__share_losses(rg_trainer *t, rg_losses *losses, rg_status status)
{
    const size_t ranks = (size_t)rg_processes_count(t->processes), W = (size_t)rg_workers_count(t->workers);
    if (!t->processes) return status;
    said own = { .status = (int32_t)status }, *all = rg_alloc_zero(ranks * sizeof *all);
    if (!all) return RG_ENOMEM;
    if (status != RG_OK) snprintf(own.message, sizeof own.message, "%s", rg_message());
    for (size_t i = 0; i < W; i++) rg_workers__loss(t->workers, i, &own.sum[i], &own.count[i]);
    rg_status gathered = rg_processes_gather(all, t->processes, &own, sizeof own);
    if (gathered == RG_OK) {
        losses->sum = losses->count = 0;
        for (size_t r = 0; r < ranks; r++)
            for (size_t i = 0; i < W; i++) losses->sum += all[r].sum[i], losses->count += all[r].count[i];
        for (size_t r = 0; r < ranks && gathered == RG_OK; r++)
            if (all[r].status != RG_OK && (int)r == rg_processes_rank(t->processes)) gathered = status;
            else if (all[r].status != RG_OK)
                gathered = rg_fail((rg_status)all[r].status, "rank %zu: %.*s", r, WORDS - 1, all[r].message);
    }
    rg_free(all);
    return gathered;
}

/* ------------------------------------------------------------------------------------------------- gradients */

typedef struct sums {
    const rg_params *params;
    rg_grads *const *grads;
    size_t           workers;
    const bool      *before; /* of each entry: some rank before this one has a gradient */
} sums;

/* Onto the first worker's block, in the order of workers; entries lie one behind another. */
static void add_gradients(void *context, size_t from, size_t count, const void *came)
{
    const sums    *s = context;
    const rg_real *before = came;
    rg_real       *to = s->grads[0]->block;
    for (size_t e = 0; e < s->params->count; e++) {
        const rg_param *p = s->params->entry[e];
        const size_t    begin = p->offset > from ? p->offset : from, end = p->offset + p->rows * p->cols;
        const size_t    stop = end < from + count ? end : from + count;
        if (begin >= stop || p->kind == RG_KEPT) continue;
        bool some = before && s->before[e];
        if (some && s->grads[0]->written[e])
            for (size_t i = begin; i < stop; i++) to[i] = before[i - from] + to[i];
        else if (some) memcpy(to + begin, before + (begin - from), (stop - begin) * sizeof *to);
        some = some || s->grads[0]->written[e];
        for (size_t k = 1; k < s->workers; k++) {
            const rg_real *g = s->grads[k]->block;
            if (!s->grads[k]->written[e]) continue;
            if (some)
                for (size_t i = begin; i < stop; i++) to[i] += g[i];
            else memcpy(to + begin, g + begin, (stop - begin) * sizeof *to);
            some = true;
        }
    }
}

/* Kept values (running means) move by the mean of all workers' moves, summed in double as in one process. */
typedef struct kept_sums {
    const sums *s;
    double     *sum; /* of all kept numbers, one entry behind another */
} kept_sums;

static void add_kept(void *context, size_t from, size_t count, const void *came)
{
    const kept_sums *k = context;
    const double    *before = came;
    size_t           at = 0;
    for (size_t i = 0; i < count; i++) k->sum[from + i] = before ? before[i] : 0;
    for (size_t e = 0; e < k->s->params->count; e++) {
        const rg_param *p = k->s->params->entry[e];
        const size_t    n = p->rows * p->cols;
        if (p->kind != RG_KEPT) continue;
        for (size_t w = 0; w < k->s->workers; w++)
            for (size_t j = 0; k->s->grads[w]->moves[e] && j < n; j++)
                if (at + j >= from && at + j < from + count)
                    k->sum[at + j] += (double)k->s->grads[w]->block[p->offset + j];
        at += n;
    }
}

/* *out: the sums, NULL where nothing is kept; they count once all ranks have everything. */
static rg_status sum_kept(double **out, rg_trainer *t, const sums *s)
{
    size_t numbers = 0;
    for (size_t e = 0; e < s->params->count; e++)
        if (s->params->entry[e]->kind == RG_KEPT) numbers += s->params->entry[e]->rows * s->params->entry[e]->cols;
    if (!numbers) return RG_OK;
    kept_sums k = { s, *out = rg_alloc_zero(numbers * sizeof(double)) };
    return *out ? rg_processes_sum(t->processes, *out, numbers, sizeof **out, add_kept, &k) : RG_ENOMEM;
}

static void move_kept(const sums *s, const double *sum, const unsigned *moves)
{
    size_t at = 0;
    for (size_t e = 0; sum && e < s->params->count; e++) {
        rg_param *p = s->params->entry[e];
        if (p->kind != RG_KEPT) continue;
        for (size_t j = 0; moves[e] && !p->frozen && j < p->rows * p->cols; j++)
            p->data[j] += (rg_real)(sum[at + j] / (double)moves[e]);
        for (size_t w = 0; w < s->workers; w++) s->grads[w]->moves[e] = 0;
        at += p->rows * p->cols;
    }
}

/* Which entries have a gradient on which rank, and how often kept values moved. */
static rg_status share_marks(rg_trainer *t, sums *s, bool *before, bool *any, unsigned *moves)
{
    const size_t n = s->params->count, ranks = (size_t)rg_processes_count(t->processes);
    unsigned    *own = rg_alloc_zero((n + 1) * sizeof *own), *all = rg_alloc_zero((n + 1) * ranks * sizeof *all);
    rg_status    status = own && all ? RG_OK : RG_ENOMEM;
    for (size_t e = 0; status == RG_OK && e < n; e++) { /* bit 0: a gradient; the rest: moves */
        for (size_t k = 0; k < s->workers; k++) own[e] += 2 * s->grads[k]->moves[e];
        for (size_t k = 0; k < s->workers; k++) own[e] |= s->grads[k]->written[e];
    }
    if (status == RG_OK) status = rg_processes_gather(all, t->processes, own, n * sizeof *own);
    for (size_t r = 0; status == RG_OK && r < ranks; r++)
        for (size_t e = 0; e < n; e++) {
            const unsigned marks = all[r * n + e];
            if ((int)r < rg_processes_rank(t->processes)) before[e] = before[e] || (marks & 1);
            any[e] = any[e] || (marks & 1);
            moves[e] += marks >> 1;
        }
    rg_free(own);
    rg_free(all);
    return status;
}

rg_status rg_trainer__share_gradients(rg_trainer *t, size_t *out_blocks)
{
    *out_blocks = (size_t)rg_workers_count(t->workers);
    if (!t->processes) return RG_OK;
    rg_grads *const *grads = rg_workers_grads(t->workers);
    sums             s = { .params = grads[0]->params, .grads = grads, .workers = *out_blocks };
    const size_t     n = s.params->count;
    bool            *before = rg_alloc_zero(2 * n + 2), *any = before + n;
    unsigned        *moves = rg_alloc_zero((n + 1) * sizeof *moves);
    rg_status        status = before && moves ? share_marks(t, &s, before, any, moves) : RG_ENOMEM;
    s.before = before;
    double *kept = NULL;
    if (status == RG_OK) status = sum_kept(&kept, t, &s); /* first: their moves lie in the same block */
    if (status == RG_OK)
        status = rg_processes_sum(t->processes, grads[0]->block, s.params->numbers, sizeof(rg_real), add_gradients, &s);
    if (status == RG_OK) memcpy(grads[0]->written, any, n);
    if (status == RG_OK) move_kept(&s, kept, moves);
    rg_free(kept);
    rg_free(before);
    rg_free(moves);
    *out_blocks = 1; /* the first has the sum of all */
    return status;
}

/* -------------------------------------------------------------------------------------- what streams carry on */

typedef struct change {
    uint32_t       *to;
    const uint32_t *was;
} change;

/* Words that this rank has changed; each is changed by one rank at most. */
static void add_changes(void *context, size_t from, size_t count, const void *came)
{
    const change   *c = context;
    const uint32_t *before = came;
    for (size_t i = 0; i < count; i++) c->to[from + i] = (c->to[from + i] ^ c->was[from + i]) ^ (before ? before[i] : 0);
}

rg_status rg_trainer__carry_before(rg_trainer *t)
{
    size_t bytes = 0;
    if (!t->processes || !t->hooks.carried) return RG_OK;
    const void *now = t->hooks.carried(t->hooks.context, &bytes);
    if (!bytes) return RG_OK;
    if (bytes > t->carried_room) {
        void *room = rg_realloc(t->carried, bytes);
        if (!room) return RG_ENOMEM;
        t->carried = room;
        t->carried_room = bytes;
    }
    memcpy(t->carried, now, bytes);
    return RG_OK;
}

rg_status rg_trainer__carry_after(rg_trainer *t)
{
    size_t bytes = 0;
    if (!t->processes || !t->hooks.carried) return RG_OK;
    void  *now = t->hooks.carried(t->hooks.context, &bytes);
    change c = { now, t->carried };
    if (!bytes) return RG_OK;
    RG_TRY(rg_processes_sum(t->processes, now, bytes / sizeof *c.to, sizeof *c.to, add_changes, &c));
    for (size_t i = 0; i < bytes / sizeof *c.to; i++) c.to[i] ^= c.was[i];
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------ the same everywhere */

bool rg_trainer__writes(const rg_trainer *t) { return rg_processes_rank(t->processes) == 0 || t->saves_for_rank_0; }

rg_status rg_trainer__share_stop(rg_trainer *t, bool *stop)
{
    int32_t own = *stop, *all;
    if (!t->processes) return RG_OK;
    const size_t ranks = (size_t)rg_processes_count(t->processes);
    if (!(all = rg_alloc_zero(ranks * sizeof *all))) return RG_ENOMEM;
    const rg_status status = rg_processes_gather(all, t->processes, &own, sizeof own);
    for (size_t r = 0; status == RG_OK && r < ranks; r++) *stop = *stop || all[r];
    rg_free(all);
    return status;
}

typedef struct place {
    uint64_t step, weights;
} place;

rg_status rg_trainer__same_everywhere(rg_trainer *t)
{
    if (!t->processes) return RG_OK;
    const size_t ranks = (size_t)rg_processes_count(t->processes);
    const place  own = { rg_optimizer_steps(t->opt), rg_trainer__hash(t->params) };
    place       *all = rg_alloc_zero(ranks * sizeof *all);
    if (!all) return RG_ENOMEM;
    rg_status status = rg_processes_gather(all, t->processes, &own, sizeof own);
    for (size_t r = 1; status == RG_OK && r < ranks; r++) {
        if (all[r].step != all[0].step)
            status = rg_fail(RG_EMATCH,
                             "rank 0 is at step %llu, rank %zu at %llu: all ranks must be able to read the checkpoint that rank 0 "
                             "writes",
                             (unsigned long long)all[0].step, r, (unsigned long long)all[r].step);
        else if (all[r].weights != all[0].weights)
            status = rg_fail(RG_EMATCH, "the weights of rank %zu are not those of rank 0 after step %llu: do all machines "
                                        "have the same data, settings and kind of processor? REGARD_CPU=avx2 makes them alike",
                             r, (unsigned long long)all[0].step);
    }
    rg_free(all);
    return status;
}

rg_status rg_trainer__share_metrics(rg_trainer *t, rg_metrics *metrics, rg_status status)
{
    struct {
        rg_metrics metrics;
        int32_t    status;
        char       message[WORDS];
    } told;
    if (!t->processes) return status;
    memset(&told, 0, sizeof told);
    told.metrics = *metrics;
    told.status = (int32_t)status;
    if (status != RG_OK) snprintf(told.message, sizeof told.message, "%s", rg_message());
    RG_TRY(rg_processes_tell(t->processes, &told, sizeof told));
    *metrics = told.metrics;
    return told.status == RG_OK ? RG_OK : rg_fail((rg_status)told.status, "%s", told.message);
}
