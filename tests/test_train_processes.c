/* test_train_processes.c - sums along the ranks: in their order to the bit, parts that become ready late, few slots, a rank
 * that does not answer. Ranks are threads here, over mailboxes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "regard/processes.h"

enum { RANKS = 4, MESSAGES = 512 };

/* ------------------------------------------------------------------------------------------------- mailboxes */

typedef struct mailbox { /* messages from one rank to another, in order */
    struct {
        void  *bytes;
        size_t count;
    } message[MESSAGES];
    size_t written, read;
} mailbox;

typedef struct post {
    pthread_mutex_t lock;
    mailbox         box[RANKS][RANKS]; /* from, to */
} post;

typedef struct end { /* what one rank sees of it */
    post  *post;
    int    rank;
    size_t told[RANKS]; /* sends that `sent` has told of */
    struct {
        void  *bytes;
        size_t count;
    } expected[RANKS][MESSAGES];
    size_t asked[RANKS], got[RANKS];
} end;

static rg_status send(void *context, int to, const void *bytes, size_t count)
{
    end     *e = context;
    mailbox *b = &e->post->box[e->rank][to];
    void    *copy = malloc(count + 1);
    memcpy(copy, bytes, count);
    pthread_mutex_lock(&e->post->lock);
    b->message[b->written % MESSAGES].bytes = copy;
    b->message[b->written++ % MESSAGES].count = count;
    pthread_mutex_unlock(&e->post->lock);
    return RG_OK;
}

static rg_status expect(void *context, int from, void *bytes, size_t count)
{
    end *e = context;
    e->expected[from][e->asked[from] % MESSAGES].bytes = bytes;
    e->expected[from][e->asked[from]++ % MESSAGES].count = count;
    return RG_OK;
}

static bool look(end *e, int to)
{
    pthread_mutex_lock(&e->post->lock);
    const bool done = e->post->box[e->rank][to].read > e->told[to];
    pthread_mutex_unlock(&e->post->lock);
    e->told[to] += done;
    return done;
}

static bool take(end *e, int from)
{
    mailbox *b = &e->post->box[from][e->rank];
    pthread_mutex_lock(&e->post->lock);
    const bool done = b->read < b->written;
    if (done) {
        const size_t i = b->read++ % MESSAGES, at = e->got[from]++ % MESSAGES;
        if (b->message[i].count != e->expected[from][at].count) abort();
        memcpy(e->expected[from][at].bytes, b->message[i].bytes, b->message[i].count);
        free(b->message[i].bytes);
    }
    pthread_mutex_unlock(&e->post->lock);
    return done;
}

static rg_status within(bool *out_done, end *e, int rank, double seconds, bool (*try)(end *, int))
{
    const double until = rg_now() + seconds;
    while (!(*out_done = try(e, rank)) && rg_now() < until) nanosleep(&(struct timespec){ 0, 20000 }, NULL);
    return RG_OK;
}

static rg_status sent(bool *out_done, void *context, int to, double seconds)
{
    return within(out_done, context, to, seconds, look);
}

static rg_status came(bool *out_done, void *context, int from, double seconds)
{
    if (((end *)context)->asked[from] <= ((end *)context)->got[from]) abort(); /* nothing is expected */
    return within(out_done, context, from, seconds, take);
}

static void close_end(void *context, bool lost) { (void)context, (void)lost; }

/* ----------------------------------------------------------------------------------------------------- ranks */

typedef struct rank {
    pthread_t  thread;
    end       *end;
    int        ranks;
    size_t     parts;
    float     *x;      /* its own, then the sum */
    size_t     number; /* floats of a part      */
    atomic_int ready;  /* parts                 */
    bool       slowly, silent;
    double     patience; /* seconds */
    rg_status  status;
    char       message[200];
} rank;

static void *place(void *context, size_t part, size_t *out_bytes)
{
    rank *r = context;
    *out_bytes = r->number * sizeof *r->x;
    return r->x + part * r->number;
}

static bool ready(void *context, size_t part) { return (int)part < atomic_load(&((rank *)context)->ready); }

static void add(void *context, size_t part, void *sum, bool first)
{
    size_t       bytes;
    const float *own = place(context, part, &bytes);
    float       *to = sum;
    for (size_t i = 0; i < bytes / sizeof *to; i++) to[i] = first ? own[i] : to[i] + own[i];
}

static void *compute(void *context) /* a backward pass */
{
    rank *r = context;
    for (size_t i = 0; i < r->parts; i++) {
        nanosleep(&(struct timespec){ 0, 3000000L * (1 + r->end->rank) }, NULL);
        atomic_fetch_add(&r->ready, 1);
    }
    return NULL;
}

static void *run_rank(void *context)
{
    rank              *r = context;
    const rg_transport transport = { .context = r->end, .rank = r->end->rank, .count = r->ranks, .any_thread = true,
                                     .send = send, .expect = expect, .sent = sent, .came = came, .close = close_end };
    const rg_ordered_sum       sum = { .parts = r->parts, .place = place, .add = add, .context = r,
                               .ready = r->slowly ? ready : NULL };
    rg_processes      *p = NULL;
    pthread_t          worker;
    int                all[RANKS];
    if (r->silent) return NULL;
    r->status = rg_processes_new(&p, &transport, r->patience);
    if (r->slowly) pthread_create(&worker, NULL, compute, r);
    if (r->status == RG_OK) r->status = rg_processes_sum(p, &sum);
    if (r->slowly) pthread_join(worker, NULL);
    if (r->status == RG_OK) r->status = rg_processes_gather(all, p, &r->end->rank, sizeof *all);
    for (int i = 0; r->status == RG_OK && i < r->ranks; i++)
        if (all[i] != i) r->status = rg_fail(RG_EMATCH, "rank %d says it is %d", i, all[i]);
    if (r->status != RG_OK) snprintf(r->message, sizeof r->message, "%s", rg_message());
    rg_processes_close(p);
    return NULL;
}

static float own_number(size_t i, int k) { return 1.0f / (float)(3 + (i * 7 + (size_t)k * 1013) % 97); }

static void sum_all(rank *r, int ranks, size_t parts, size_t number, bool slowly, int silent)
{
    post *boxes = calloc(1, sizeof *boxes);
    pthread_mutex_init(&boxes->lock, NULL);
    memset(r, 0, RANKS * sizeof *r);
    for (int k = 0; k < ranks; k++) {
        r[k].end = calloc(1, sizeof *r[k].end);
        r[k].end->post = boxes;
        r[k].end->rank = k;
        r[k].ranks = ranks, r[k].parts = parts, r[k].number = number;
        r[k].slowly = slowly, r[k].silent = k == silent;
        r[k].patience = silent < 0 ? 0.3 : 0.05;
        r[k].x = malloc(parts * number * sizeof *r[k].x);
        for (size_t i = 0; i < parts * number; i++) r[k].x[i] = own_number(i, k);
    }
    for (int k = 0; k < ranks; k++) pthread_create(&r[k].thread, NULL, run_rank, &r[k]);
    for (int k = 0; k < ranks; k++) pthread_join(r[k].thread, NULL);
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < ranks; j++)
            for (mailbox *b = &boxes->box[i][j]; b->read < b->written; b->read++) free(b->message[b->read % MESSAGES].bytes);
    pthread_mutex_destroy(&boxes->lock);
    free(boxes);
}

static void free_all(rank *r, int ranks)
{
    for (int k = 0; k < ranks; k++) free(r[k].x), free(r[k].end);
}

static void expect_sums(rank *r, int ranks)
{
    for (int k = 0; k < ranks; k++) {
        if (r[k].status != RG_OK) fail_msg("rank %d of %d: %s", k, ranks, r[k].message);
        for (size_t i = 0; i < r[k].parts * r[k].number; i++) {
            float sum = own_number(i, 0);
            for (int j = 1; j < ranks; j++) sum += own_number(i, j);
            if (r[k].x[i] != sum) fail_msg("rank %d of %d: number %zu is %.9g, not %.9g", k, ranks, i, r[k].x[i], sum);
        }
    }
}

static void sums_are_in_the_order_of_ranks(void **state)
{
    static const size_t parts[] = { 0, 1, 2, 15, 100 };
    rank                r[RANKS];
    (void)state;
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            sum_all(r, ranks, parts[i], 37, false, -1);
            expect_sums(r, ranks);
            free_all(r, ranks);
        }
}

/* The fourth rank takes 0.48 seconds, longer than rank 0 waits for one that is silent, and yet nobody is lost, because parts
 * keep coming. */
static void parts_go_as_they_become_ready(void **state)
{
    rank r[RANKS];
    (void)state;
    for (int ranks = 2; ranks <= RANKS; ranks++) {
        sum_all(r, ranks, 40, 53, true, -1);
        expect_sums(r, ranks);
        free_all(r, ranks);
    }
}

static void a_silent_rank_is_named(void **state)
{
    rank r[RANKS];
    (void)state;
    sum_all(r, 2, 40, 5, false, 1);
    assert_int_equal(r[0].status, RG_EIO);
    assert_string_equal(r[0].message, "rank 1 has not answered for 0.05 seconds (--rank-timeout)");
    free_all(r, 2);
    sum_all(r, 3, 40, 5, false, 0);
    assert_int_equal(r[1].status, RG_EIO);
    assert_non_null(strstr(r[1].message, "rank 0 has not answered for 0.5 seconds")); /* it may be saving */
    free_all(r, 3);
    sum_all(r, 4, 40, 5, true, 3);
    assert_non_null(strstr(r[0].message, "one of ranks 1 to 3 has not answered"));
    free_all(r, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_in_the_order_of_ranks),
        cmocka_unit_test(parts_go_as_they_become_ready),
        cmocka_unit_test(a_silent_rank_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
