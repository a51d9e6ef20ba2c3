/* ordered_sum.c - a sum that goes along the ranks, each adding to what the one before it sends, and comes back:
 *
 *     there   rank 0   g0  ->  rank 1   g0 + g1  ->  rank 2   (g0 + g1) + g2      always in this order: always the same bits
 *     back    rank 0   <-----  rank 1   <----------  rank 2   the sum
 *
 * Parts follow each other, so all links work at the same time and in both directions. What is on its way there lies in
 * slots, a few of them; the sum goes where it belongs. A rank does what it can at once and else naps: the thread that
 * runs this beside a backward pass must not take the processor from it. */
#include <string.h>
#include <time.h>

#include "train/processes.h"

enum {
    SLOTS = 16,
    SPINS = 2000 /* looks before the first nap, where nothing else is computed meanwhile */
};

typedef struct flow {
    rg_processes *p;
    const rg_ordered_sum *sum;
    int           rank, last;
    size_t        asked, added, left; /* parts that the rank before was asked for; added and sent on; whose slot is free */
    size_t        over, returned;     /* parts whose sum is here; which the rank before has                            */
    bool          moved;
} flow;

static char *slot(const flow *f, size_t part) { return f->p->slots + part % SLOTS * RG_PART_BYTES; }

static void *place(const flow *f, size_t part, size_t *bytes) { return f->sum->place(f->sum->context, part, bytes); }

static bool ready(const flow *f)
{
    return f->added == f->sum->parts || !f->sum->ready || f->sum->ready(f->sum->context, f->added);
}

/* Did the transport do it? Counts a step forward. */
static rg_status look(flow *f, bool *out_done, int rank, rg_status (*over)(bool *, void *, int, double))
{
    RG_TRY(rg_processes__broken(f->p, rank, over(out_done, f->p->transport.context, rank, 0)));
    f->moved = f->moved || *out_done;
    return RG_OK;
}

static rg_status send(flow *f, int to, const void *bytes, size_t count)
{
    return rg_processes__broken(f->p, to, f->p->transport.send(f->p->transport.context, to, bytes, count));
}

static rg_status expect(flow *f, int from, void *bytes, size_t count)
{
    return rg_processes__broken(f->p, from, f->p->transport.expect(f->p->transport.context, from, bytes, count));
}

/* ----------------------------------------------------------------------------------------------------- steps */

static rg_status ask(flow *f)
{
    size_t bytes;
    for (; f->rank && f->asked < f->sum->parts && f->asked < f->left + SLOTS; f->asked++) {
        place(f, f->asked, &bytes);
        RG_TRY(expect(f, f->rank - 1, slot(f, f->asked), bytes));
    }
    return RG_OK;
}

static rg_status add(flow *f)
{
    bool   came = f->rank == 0 && f->added < f->left + SLOTS;
    size_t bytes;
    if (f->added == f->sum->parts || !ready(f)) return RG_OK;
    if (f->rank && f->added < f->asked) RG_TRY(look(f, &came, f->rank - 1, f->p->transport.came));
    if (!came) return RG_OK;
    char *sum = slot(f, f->added), *to = place(f, f->added, &bytes);
    f->sum->add(f->sum->context, f->added++, sum, f->rank == 0);
    f->moved = true;
    if (f->rank < f->last) {
        RG_TRY(send(f, f->rank + 1, sum, bytes));
        return expect(f, f->rank + 1, to, bytes);
    }
    memcpy(to, sum, bytes);
    f->left++;
    f->over++;
    return f->rank ? send(f, f->rank - 1, to, bytes) : RG_OK;
}

static rg_status hand_back(flow *f)
{
    bool   came = false;
    size_t bytes;
    if (f->rank == f->last || f->over == f->added) return RG_OK;
    RG_TRY(look(f, &came, f->rank + 1, f->p->transport.came));
    if (!came) return RG_OK;
    const void *sum = place(f, f->over++, &bytes);
    return f->rank ? send(f, f->rank - 1, sum, bytes) : RG_OK;
}

static rg_status free_slots(flow *f)
{
    bool sent = true;
    while (sent && f->rank < f->last && f->left < f->added) {
        RG_TRY(look(f, &sent, f->rank + 1, f->p->transport.sent));
        f->left += sent;
    }
    for (sent = true; sent && f->rank && f->returned < f->over;) {
        RG_TRY(look(f, &sent, f->rank - 1, f->p->transport.sent));
        f->returned += sent;
    }
    return RG_OK;
}

static bool is_over(const flow *f)
{
    return f->over == f->sum->parts && f->left == f->sum->parts && (!f->rank || f->returned == f->sum->parts);
}

/* ------------------------------------------------------------------------------------------------------- all */

/* Whom this rank waits for: one before it, which does not send what it was asked for, or one behind it. */
static rg_status lose(flow *f, const rg_wait *wait)
{
    const bool before = f->rank && f->added < f->asked;
    return before ? rg_processes__lose(f->p, wait, 0, f->rank - 1)
                  : rg_processes__lose(f->p, wait, f->rank + 1, f->last);
}

/* Longer while this rank's own part is being computed: every look takes the processor from that. */
static void nap(size_t idle, bool computing)
{
    const long longest = computing ? 1000000 : 200000, first = 20000, next = idle < 6 ? first << idle : longest;
    nanosleep(&(struct timespec){ 0, next < longest ? next : longest }, NULL);
}

/* Only the others' time counts: while this rank's own part is being computed nobody is late. */
static rg_status run(flow *f)
{
    const size_t spins = f->sum->ready ? 0 : SPINS;
    const double seconds = rg_processes__patience(f->p);
    rg_wait      wait = rg_processes__wait(f->p, seconds);
    for (size_t idle = 0; !is_over(f); idle = f->moved ? 0 : idle + 1) {
        f->moved = false;
        RG_TRY(ask(f));
        RG_TRY(add(f));
        RG_TRY(hand_back(f));
        RG_TRY(free_slots(f));
        if (f->moved || !ready(f)) wait = rg_processes__wait(f->p, seconds);
        else if (rg_processes__out_of_patience(f->p, &wait)) return lose(f, &wait);
        if (!f->moved && idle >= spins) nap(idle - spins, !ready(f));
    }
    return RG_OK;
}

rg_status rg_processes_sum(rg_processes *p, const rg_ordered_sum *sum)
{
    flow f = { .p = p, .sum = sum, .rank = rg_processes_rank(p), .last = rg_processes_count(p) - 1 };
    if (!p->slots && !(p->slots = rg_alloc_zero((size_t)SLOTS * RG_PART_BYTES))) return RG_ENOMEM;
    return run(&f);
}
