/* shared_update.c - an update that several processes make together (processes.h): shares, losses, and that all have the
 * same; shared_gradients.c has the gradients. With one process all of this does nothing. */
#include <string.h>

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

/* -------------------------------------------------------------------------------------- what streams carry on */

typedef struct change {
    uint32_t       *to;
    const uint32_t *was;
    size_t          words;
} change;

enum { PART_WORDS = RG_PART_BYTES / sizeof(uint32_t) };

static void *place_changes(void *context, size_t part, size_t *out_bytes)
{
    const change *c = context;
    *out_bytes = rg_part_of(c->words, PART_WORDS, part) * sizeof *c->to;
    return c->to + part * PART_WORDS;
}

/* Words that this rank has changed; each is changed by one rank at most. */
static void add_changes(void *context, size_t part, void *sum, bool first)
{
    const change *c = context;
    uint32_t     *all = sum;
    const size_t  from = part * PART_WORDS, count = rg_part_of(c->words, PART_WORDS, part);
    for (size_t i = 0; i < count; i++) all[i] = (first ? 0 : all[i]) ^ c->to[from + i] ^ c->was[from + i];
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
    change c = { now, t->carried, bytes / sizeof(uint32_t) };
    if (!bytes) return RG_OK;
    RG_TRY(rg_processes_sum(t->processes, &(rg_ordered_sum){ .parts = rg_parts_of(c.words, PART_WORDS), .place = place_changes,
                                                     .add = add_changes, .context = &c }));
    for (size_t i = 0; i < c.words; i++) c.to[i] ^= c.was[i];
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
