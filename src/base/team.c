/* team.c - the calling thread and its helpers split one piece of work.
 *
 * Each helper has a mailbox on cache lines of its own:
 *
 *     caller:  writes the share, then `ticket`  ------>  helper: sees a new ticket, takes it, works, sets done = ticket
 *     caller:  runs share 0, then those that no helper has taken yet, and waits for the others
 *
 * So a helper that sleeps, or whose core another program has, costs nothing: its share may be done when it looks.
 * Only helpers that get a share are touched, so a small op costs a 64-thread team no more than a 2-thread one. Both
 * sides spin for about a hundred microseconds - ops follow each other that closely - and then sleep. The sleeper
 * announces itself before its last look and the other side looks for sleepers after its store (both sequentially
 * consistent), so no wake-up is lost and nobody takes a lock while everyone is awake. */
#define _GNU_SOURCE 1
#include "regard/base.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("yield")
#else
#define RELAX() ((void)0)
#endif

enum { SPINS = 4000, MEMBERS_MAX = 1024 }; /* a pause takes 10 to 50 ns; being woken costs as much as the longest spin */

typedef struct member { /* cache lines of its own: helpers must not disturb each other */
    _Alignas(64) atomic_uint ticket; /* written by the caller */
    atomic_uint taken;               /* the last ticket somebody works on: the helper, or the caller instead */
    atomic_bool asleep;
    bool stop;
    rg_team_work *work;
    void *context;
    size_t begin, end;

    _Alignas(64) atomic_uint done; /* written by who took the share */
    void *scratch;
    size_t scratch_bytes;
    int number;
    rg_team *team;
    pthread_t thread;
    pthread_mutex_t lock; /* only to sleep and to wake */
    pthread_cond_t wake;
} member;

struct rg_team {
    int size, started; /* members; helpers whose thread runs */
    int spins;
    member *members;
    atomic_bool caller_asleep;
    pthread_mutex_t lock;
    pthread_cond_t finished;
};

/* Whose work this thread is inside of: work that calls rg_team_for on its own team runs the inner one alone. */
static _Thread_local struct {
    rg_team *team;
    int member;
} inside;

/* ---------------------------------------------------------------------------------------------------- helpers */

static unsigned await_ticket(member *m, unsigned seen)
{
    for (int i = 0; i < m->team->spins; i++) {
        unsigned ticket = atomic_load_explicit(&m->ticket, memory_order_acquire);
        if (ticket != seen) return ticket;
        RELAX();
    }
    pthread_mutex_lock(&m->lock);
    atomic_store(&m->asleep, true);
    unsigned ticket;
    while ((ticket = atomic_load(&m->ticket)) == seen) pthread_cond_wait(&m->wake, &m->lock);
    atomic_store(&m->asleep, false);
    pthread_mutex_unlock(&m->lock);
    return ticket;
}

static void send(member *m)
{
    atomic_store(&m->ticket, atomic_load_explicit(&m->ticket, memory_order_relaxed) + 1);
    if (!atomic_load(&m->asleep)) return;
    pthread_mutex_lock(&m->lock);
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
}

/* The share of this ticket is the taker's: of one side only. */
static bool take(member *m, unsigned ticket)
{
    unsigned before = ticket - 1;
    return atomic_compare_exchange_strong(&m->taken, &before, ticket);
}

static void report(member *m, unsigned ticket)
{
    rg_team *team = m->team; /* after the store below the caller may go on, but never frees a team before joining us */
    atomic_store(&m->done, ticket);
    if (!atomic_load(&team->caller_asleep)) return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_signal(&team->finished);
    pthread_mutex_unlock(&team->lock);
}

static void *helper_main(void *argument)
{
    member *m = argument;
    inside.team = m->team;
    inside.member = m->number;
    for (unsigned seen = 0;;) {
        seen = await_ticket(m, seen);
        if (!take(m, seen)) continue;
        if (m->stop) return NULL;
        m->work(m->context, m->number, m->begin, m->end);
        report(m, seen);
    }
}

/* ----------------------------------------------------------------------------------------------------- caller */

static bool is_done(member *m)
{
    return atomic_load(&m->done) == atomic_load_explicit(&m->ticket, memory_order_relaxed);
}

static void await_member(rg_team *team, member *m)
{
    for (int i = 0; i < team->spins; i++) {
        if (is_done(m)) return;
        RELAX();
    }
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->caller_asleep, true);
    while (!is_done(m)) pthread_cond_wait(&team->finished, &team->lock);
    atomic_store(&team->caller_asleep, false);
    pthread_mutex_unlock(&team->lock);
}

/* Run a share on this thread in the member's name: nested calls and scratch are that member's. */
static void run_as(rg_team *team, member *m, rg_team_work *work, void *context, size_t begin, size_t end)
{
    rg_team  *outer = inside.team;
    const int outer_member = inside.member;
    inside.team = team;
    inside.member = m->number;
    work(context, m->number, begin, end);
    inside.team = outer;
    inside.member = outer_member;
}

static void finish(rg_team *team, member *m)
{
    const unsigned ticket = atomic_load_explicit(&m->ticket, memory_order_relaxed);
    if (is_done(m)) return;
    if (!take(m, ticket)) {
        await_member(team, m);
        return;
    }
    run_as(team, m, m->work, m->context, m->begin, m->end);
    atomic_store_explicit(&m->done, ticket, memory_order_relaxed);
}

/* Where share i of `parts` begins, in elements. */
static size_t share_begin(size_t i, size_t parts, size_t blocks, size_t n, size_t grain)
{
    size_t each = blocks / parts, extra = blocks % parts;
    size_t block = i * each + (i < extra ? i : extra);
    return block >= blocks ? n : block * grain;
}

void rg_team_for(rg_team *team, size_t n, size_t grain, rg_team_work *work, void *context)
{
    if (n == 0) return;
    if (grain == 0) grain = 1;
    bool nested = team != NULL && inside.team == team;
    if (team == NULL || team->size == 1 || n <= grain || nested) {
        work(context, nested ? inside.member : 0, 0, n);
        return;
    }

    size_t blocks = n / grain + (n % grain != 0);
    size_t parts = blocks < (size_t)team->size ? blocks : (size_t)team->size;
    for (size_t i = 1; i < parts; i++) {
        member *m = &team->members[i];
        m->work = work;
        m->context = context;
        m->begin = share_begin(i, parts, blocks, n, grain);
        m->end = share_begin(i + 1, parts, blocks, n, grain);
        send(m);
    }
    run_as(team, &team->members[0], work, context, 0, share_begin(1, parts, blocks, n, grain));
    for (size_t i = 1; i < parts; i++) finish(team, &team->members[i]);
}

int rg_team_size(const rg_team *team)
{
    return team == NULL ? 1 : team->size;
}

void *rg_team_scratch(rg_team *team, int number, size_t bytes)
{
    member *m = &team->members[number];
    if (bytes <= m->scratch_bytes && m->scratch != NULL) return m->scratch;
    rg_free(m->scratch); /* the content need not be kept */
    m->scratch = rg_alloc(bytes);
    m->scratch_bytes = m->scratch == NULL ? 0 : bytes;
    return m->scratch;
}

/* --------------------------------------------------------------------------------------------- life of a team */

/* Signals are the program's business: helpers take none. */
static int start_helper(member *m)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&m->thread, NULL, helper_main, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Cores this process may run on, which may be fewer than the machine has; 1 when there are too many to count. */
static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void init_members(rg_team *team)
{
    memset(team->members, 0, (size_t)team->size * sizeof *team->members);
    for (int i = 0; i < team->size; i++) {
        member *m = &team->members[i];
        m->team = team;
        m->number = i;
        atomic_init(&m->ticket, 0);
        atomic_init(&m->taken, 0);
        atomic_init(&m->done, 0);
        atomic_init(&m->asleep, false);
        pthread_mutex_init(&m->lock, NULL);
        pthread_cond_init(&m->wake, NULL);
    }
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->finished, NULL);
}

rg_status rg_team_new(rg_team **out, int members)
{
    *out = NULL;
    if (members < 1 || members > MEMBERS_MAX)
        return rg_fail(RG_EINVAL, "a team has 1 to %d members, not %d", MEMBERS_MAX, members);
    rg_team *team = rg_alloc_zero(sizeof *team);
    if (team == NULL) return RG_ENOMEM;
    team->size = members;
    team->spins = cores() >= members ? SPINS : 0; /* with too few cores spinning keeps the others from working */
    if ((team->members = rg_alloc_array((size_t)members, sizeof *team->members)) == NULL) {
        rg_free(team);
        return RG_ENOMEM;
    }
    init_members(team);
    for (team->started = 0; team->started < members - 1; team->started++) {
        int error = start_helper(&team->members[team->started + 1]);
        if (error == 0) continue;
        rg_fail(RG_EIO, "cannot start thread %d of %d: %s", team->started + 1, members - 1, strerror(error));
        rg_team_free(team);
        return RG_EIO;
    }
    *out = team;
    return RG_OK;
}

void rg_team_free(rg_team *team)
{
    if (team == NULL) return;
    for (int i = 1; i <= team->started; i++) {
        team->members[i].stop = true;
        send(&team->members[i]);
        pthread_join(team->members[i].thread, NULL);
    }
    for (int i = 0; i < team->size; i++) {
        member *m = &team->members[i];
        rg_free(m->scratch);
        pthread_mutex_destroy(&m->lock);
        pthread_cond_destroy(&m->wake);
    }
    pthread_mutex_destroy(&team->lock);
    pthread_cond_destroy(&team->finished);
    rg_free(team->members);
    rg_free(team);
}
