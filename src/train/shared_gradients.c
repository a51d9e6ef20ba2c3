/* shared_gradients.c - gradients summed over all processes, in the order of the workers' numbers, while the backward pass
 * still runs:
 *
 *     workers    forward ... backward  [last layer] ... [first layer] [embeddings]
 *     beside                                  part 0 there and back, part 1, ...
 *
 * Parts run from the last parameter to the first, about the order in which their gradients become final. Each goes when
 * all workers of this process are through with it. Of several batches per update only the last one has this beside it;
 * where an epoch ends early the sum follows by itself, with the same bits. */
#include <string.h>

#include "autograd/params.h"
#include "train/trainer.h"

enum { PART_NUMBERS = RG_PART_BYTES / sizeof(rg_real), PART_DOUBLES = RG_PART_BYTES / sizeof(double) };

typedef struct part { /* numbers begin .. end of the block, all of entries first .. last in them */
    size_t begin, end, first, last;
} part;

struct rg_trainer_sums {
    const rg_params *params;
    rg_grads *const *grads;
    size_t           workers;
    part            *part;
    size_t           parts, room;
    rg_team         *beside; /* this thread, which runs the workers, and one that sums; NULL: one after the other */
    bool             done;   /* the last run of the workers had the sum beside it */
};

typedef struct rg_trainer_sums sums;

/* ------------------------------------------------------------------------------------------------------ life */

rg_status rg_trainer__sums_new(rg_trainer *t)
{
    if (!t->processes) return RG_OK;
    sums *s = t->sums = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    s->params = t->params;
    s->grads = rg_workers_grads(t->workers);
    s->workers = (size_t)rg_workers_count(t->workers);
    s->room = t->params->count + t->params->numbers / PART_NUMBERS + 1;
    if (!(s->part = rg_alloc_array(s->room, sizeof *s->part))) return RG_ENOMEM;
    if (!t->config.overlap || !rg_processes_any_thread(t->processes)) return RG_OK;
    for (size_t k = 0; k < s->workers; k++) RG_TRY(rg_grads__announce(s->grads[k]));
    return rg_team_new(&s->beside, 2);
}

void rg_trainer__sums_free(rg_trainer *t)
{
    if (!t->sums) return;
    rg_team_free(t->sums->beside);
    rg_free(t->sums->part);
    rg_free(t->sums);
}

/* ----------------------------------------------------------------------------------------------------- parts */

static bool learns(const rg_param *p) { return p->kind != RG_KEPT && !p->frozen; }

/* From the end: neighbours go together while they fit, a large one is cut. Phases freeze one or the other, so this is
 * made for each sum. */
static void cut(sums *s)
{
    s->parts = 0;
    for (size_t e = s->params->count; e-- > 0;) {
        const rg_param *p = s->params->entry[e];
        const size_t    end = p->offset + p->rows * p->cols;
        part           *last = s->parts ? &s->part[s->parts - 1] : NULL;
        if (!learns(p) || end == p->offset) continue;
        if (last && last->first == e + 1 && last->end - p->offset <= PART_NUMBERS) {
            last->begin = p->offset;
            last->first = e;
            continue;
        }
        for (size_t to = end; to > p->offset; to = s->part[s->parts++].begin) {
            const size_t begin = to - p->offset > PART_NUMBERS ? to - PART_NUMBERS : p->offset;
            s->part[s->parts] = (part){ begin, to, e, e };
        }
    }
}

static void *place_gradients(void *context, size_t i, size_t *out_bytes)
{
    const sums *s = context;
    *out_bytes = (s->part[i].end - s->part[i].begin) * sizeof(rg_real);
    return s->grads[0]->block + s->part[i].begin;
}

static bool gradients_ready(void *context, size_t i)
{
    const sums *s = context;
    for (size_t e = s->part[i].first; e <= s->part[i].last; e++)
        for (size_t k = 0; k < s->workers; k++)
            if (!rg_final_is(s->grads[k]->final, e)) return false;
    return true;
}

/* Numbers begin .. end of an entry, in the order of workers. Where nobody has any yet the sum is -0: x + -0 is x, to the
 * bit, for every x. */
static void add_entry(const sums *s, size_t e, size_t begin, size_t end, rg_real *sum, bool none)
{
    const size_t n = end - begin;
    for (size_t k = 0; k < s->workers; k++) {
        const rg_real *g = s->grads[k]->block + begin;
        if (!s->grads[k]->written[e]) continue;
        if (none) memcpy(sum, g, n * sizeof *sum);
        for (size_t i = 0; !none && i < n; i++) sum[i] += g[i];
        none = false;
    }
    for (size_t i = 0; none && i < n; i++) sum[i] = (rg_real)-0.0;
}

static void add_gradients(void *context, size_t i, void *sum, bool first)
{
    const sums *s = context;
    const part *at = &s->part[i];
    for (size_t e = at->first; e <= at->last; e++) {
        const rg_param *p = s->params->entry[e];
        const size_t    stop = p->offset + p->rows * p->cols, end = stop < at->end ? stop : at->end;
        const size_t    begin = p->offset > at->begin ? p->offset : at->begin;
        if (begin < end) add_entry(s, e, begin, end, (rg_real *)sum + (begin - at->begin), first);
    }
}

static rg_status sum_gradients(rg_trainer *t, bool meanwhile)
{
    return rg_processes_sum(t->processes,
                            &(rg_ordered_sum){ .parts = t->sums->parts, .place = place_gradients, .add = add_gradients,
                                       .ready = meanwhile ? gradients_ready : NULL, .context = t->sums });
}

/* ------------------------------------------------------------------------------------------ while backward runs */

typedef struct both {
    rg_trainer   *t;
    rg_losses    *losses;
    const rg_job *job;
    rg_status     ran, summed;
    double        ran_at;
    char          message[512]; /* of the sum: messages stay with their thread */
} both;

static void run_or_sum(void *context, int member, size_t begin, size_t end)
{
    both *b = context;
    (void)begin, (void)end;
    if (member == 0) {
        b->ran = rg_workers_run(b->losses, b->t->workers, b->job);
        b->ran_at = rg_now();
    } else {
        b->summed = sum_gradients(b->t, true);
        if (b->summed != RG_OK) snprintf(b->message, sizeof b->message, "%s", rg_message());
    }
}

rg_status rg_trainer__run(rg_losses *out, rg_trainer *t, const rg_job *job, bool last)
{
    sums *s = t->sums;
    if (s) s->done = false;
    if (!s || !s->beside || !last) return rg_workers_run(out, t->workers, job);
    both b = { .t = t, .losses = out, .job = job };
    cut(s);
    for (size_t k = 0; k < s->workers; k++) rg_final_mark_all(s->grads[k]->final, false);
    rg_team_for(s->beside, 2, 1, run_or_sum, &b);
    s->done = true;
    t->exchange += rg_now() - b.ran_at;
    return b.summed == RG_OK ? b.ran : rg_fail(b.summed, "%s", b.message);
}

/* ---------------------------------------------------------------------------------------------- kept values */

/* Kept values (running means) move by the mean of all workers' moves, summed in double as in one process. */
typedef struct kept_sums {
    const sums *s;
    double     *sum; /* of all kept numbers, one entry behind another */
    size_t      numbers;
} kept_sums;

static void *place_kept(void *context, size_t i, size_t *out_bytes)
{
    const kept_sums *k = context;
    *out_bytes = rg_part_of(k->numbers, PART_DOUBLES, i) * sizeof *k->sum;
    return k->sum + i * PART_DOUBLES;
}

static void add_kept(void *context, size_t i, void *sum, bool first)
{
    const kept_sums *k = context;
    const size_t     from = i * PART_DOUBLES, count = rg_part_of(k->numbers, PART_DOUBLES, i);
    double          *to = sum;
    size_t           at = 0;
    if (first) memset(to, 0, count * sizeof *to);
    for (size_t e = 0; e < k->s->params->count; e++) {
        const rg_param *p = k->s->params->entry[e];
        const size_t    n = p->rows * p->cols;
        if (p->kind != RG_KEPT) continue;
        for (size_t w = 0; w < k->s->workers; w++)
            for (size_t j = 0; k->s->grads[w]->moves[e] && j < n; j++)
                if (at + j >= from && at + j < from + count)
                    to[at + j - from] += (double)k->s->grads[w]->block[p->offset + j];
        at += n;
    }
}

/* *out: the sums, NULL where nothing is kept; they count once all ranks have everything. */
static rg_status sum_kept(double **out, rg_trainer *t)
{
    kept_sums k = { .s = t->sums };
    for (size_t e = 0; e < t->params->count; e++)
        if (t->params->entry[e]->kind == RG_KEPT) k.numbers += t->params->entry[e]->rows * t->params->entry[e]->cols;
    if (!k.numbers) return RG_OK;
    if (!(k.sum = *out = rg_alloc_zero(k.numbers * sizeof *k.sum))) return RG_ENOMEM;
    return rg_processes_sum(t->processes, &(rg_ordered_sum){ .parts = rg_parts_of(k.numbers, PART_DOUBLES),
                                                     .place = place_kept, .add = add_kept, .context = &k });
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

/* ----------------------------------------------------------------------------------------------------- all of it */

/* Which entries have a gradient on some rank, and how often kept values moved. */
static rg_status share_marks(rg_trainer *t, bool *any, unsigned *moves)
{
    const sums  *s = t->sums;
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
            any[e] = any[e] || (all[r * n + e] & 1);
            moves[e] += all[r * n + e] >> 1;
        }
    rg_free(own);
    rg_free(all);
    return status;
}

static rg_status sum_now(rg_trainer *t)
{
    const double begun = rg_now();
    cut(t->sums);
    RG_TRY(sum_gradients(t, false));
    t->exchange += rg_now() - begun;
    return RG_OK;
}

rg_status rg_trainer__share_gradients(rg_trainer *t, size_t *out_blocks)
{
    sums *s = t->sums;
    *out_blocks = (size_t)rg_workers_count(t->workers);
    if (!s) return RG_OK;
    const size_t n = s->params->count;
    bool        *any = rg_alloc_zero(n + 1);
    unsigned    *moves = rg_alloc_zero((n + 1) * sizeof *moves);
    double      *kept = NULL;
    rg_status    status = any && moves ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && !s->done) status = sum_now(t);
    if (status == RG_OK) status = share_marks(t, any, moves);
    if (status == RG_OK) status = sum_kept(&kept, t);
    if (status == RG_OK) memcpy(s->grads[0]->written, any, n);
    if (status == RG_OK) move_kept(s, kept, moves);
    rg_free(kept);
    rg_free(any);
    rg_free(moves);
    *out_blocks = 1; /* the first has the sum of all */
    return status;
}
