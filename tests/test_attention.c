/* test_attention.c - what every attention must keep to, by walking the tables: every score over every reach, one head
 * and two.
 *
 * A setup is a score with fresh parameters, a reach and a number of heads. Its weights come from rg_weigh, its
 * output from rg_attend, which takes a fused path where the score has one. */
#include "regard/attention.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/gradient.h"

enum { N = 14, DK = 4, DV = 3, HEADS = 2, PAIRS = N * N, WIDE = HEADS * 8 };

static const int32_t   ragged[] = { 0, 3, 3, 4, 9, 14 }; /* groups of 3, 0, 1, 5 and 5 rows */
static const rg_layout layout = { .groups = 5, .start = ragged };

/* ------------------------------------------------------------------------------------------------------- reaches */

typedef struct {
    const char          *name;
    const rg_reach_kind *kind; /* NULL: one of the two below */
    bool                 lists;
} reach_case;

/* Kinds of the table, a list with a query that reaches nothing, and intervals that no kind would make. */
static size_t all_reaches(reach_case *out)
{
    size_t n = 0;
    for (const rg_reach_kind *const *k = rg_reach_kinds(); *k; k++) out[n++] = (reach_case){ (*k)->name, *k, false };
    out[n++] = (reach_case){ "lists", NULL, true };
    out[n++] = (reach_case){ "intervals", NULL, false };
    assert_true(n <= 16);
    return n;
}

static const rg_reach *make_reach(rg_tape *t, const reach_case *c, const rg_layout *rows)
{
    static const size_t  first[N + 1] = { 0, 3, 4, 4, 6, 11, 12, 14, 15, 15, 18, 20, 22, 23, 24 };
    static const int32_t list[] = { 4, 0, 2, 1, 13, 3, 9, 1, 5, 12, 0, 7, 2, 6, 8, 11, 10, 9, 3, 4, 13, 0, 12, 5 };
    static const int32_t begin[N] = { 0, 0, 5, 1, 4, 4, 0, 9, 13, 2, 2, 12, 0, 6 },
                         end[N] = { 4, 6, 5, 3, 9, 9, 4, 10, 14, 14, 2, 14, 14, 7 };
    if (c->kind) return c->kind->make(t, rows, rows, 3);
    return c->lists ? rg_reach_lists(t, N, N, first, list) : rg_reach_intervals(t, N, N, begin, end);
}

static size_t key_of(const rg_reach *r, size_t i, size_t p)
{
    return r->key ? (size_t)r->key[p] : (size_t)r->begin[i] + (p - r->first[i]);
}

static bool reaches(const rg_reach *r, size_t i, size_t j)
{
    for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
        if (key_of(r, i, p) == j) return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------- setups */

typedef struct {
    const rg_score *score;
    reach_case      reach;
    size_t          heads;
    rg_params      *params;
    rg_attention    att;
    char            name[80];
} setup;

/* What one run gives; rows and pairs as many as its reach has. */
typedef struct {
    size_t  Nq, Nk, P, first[N + 1], key[PAIRS];
    rg_real a[PAIRS * HEADS], out[N * WIDE], mixed[N * WIDE], dq[N * WIDE], dk[N * WIDE], dv[N * WIDE];
    bool    has_dq;
} result;

typedef struct {
    rg_real q[N * WIDE], k[N * WIDE], v[N * WIDE];
} numbers;

static numbers sample(uint64_t seed)
{
    numbers x;
    rg_test_fill(x.q, N * WIDE, seed, -1, 1);
    rg_test_fill(x.k, N * WIDE, seed + 100, -1, 1);
    rg_test_fill(x.v, N * WIDE, seed + 200, -1, 1);
    return x;
}

static void open_setup(setup *s, const rg_score *score, const reach_case *reach, size_t heads)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = score->name;
    c.heads = heads;
    c.q_width = c.k_width = heads * DK;
    c.hidden = 5;
    c.positions = N;
    *s = (setup){ .score = score, .reach = *reach, .heads = heads };
    snprintf(s->name, sizeof s->name, "%s over %s, %zu heads", score->name, reach->name, heads);
    assert_int_equal(rg_params_new(&s->params), RG_OK);
    assert_int_equal(rg_attention_init(&s->att, &c, s->params), RG_OK);
    assert_int_equal(rg_params_build(s->params, 7), RG_OK);
}

static void close_setup(setup *s) { rg_params_free(s->params); }

static void each_setup(void (*check)(const setup *s))
{
    reach_case   reach[16];
    const size_t n = all_reaches(reach);
    for (const rg_score *const *score = rg_score_all(); *score; score++)
        for (size_t r = 0; r < n; r++)
            for (size_t heads = 1; heads <= HEADS; heads++) {
                setup s;
                open_setup(&s, *score, &reach[r], heads);
                check(&s);
                close_setup(&s);
            }
}

static void copy_rows(rg_real *to, const rg_real *from, size_t rows, size_t cols, size_t ld)
{
    for (size_t i = 0; from && i < rows; i++) memcpy(to + i * cols, from + i * ld, cols * sizeof *to);
}

/* `lists` gives the reach instead of the setup's (NULL: the setup's over `rows`). */
static void run_over(result *r, const setup *s, const numbers *x, const rg_layout *rows, const rg_reach *lists,
                     rg_team *team)
{
    const size_t   n = lists ? lists->Nq : (size_t)rows->start[rows->groups], m = lists ? lists->Nk : n, H = s->heads;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    config.team = team;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *q = rg_input(t, x->q, n, H * DK, rows), *k = rg_input(t, x->k, m, H * DK, rows),
              *v = rg_input(t, x->v, m, H * DV, rows);
    const rg_reach *reach = lists ? lists : make_reach(t, &s->reach, rows);
    assert_non_null(reach);
    rg_tensor *prepared = rg_attention_prepare(t, &s->att, k);
    rg_tensor *a = rg_weigh(t, &s->att, q, prepared, reach), *mixed = rg_mix(t, a, v, reach);
    rg_tensor *out = rg_attend(t, &s->att, q, prepared, v, reach);
    if (rg_tape_status(t) != RG_OK) fail_msg("%s: %s", s->name, rg_message());
    memset(r, 0, sizeof *r);
    r->Nq = n, r->Nk = m, r->P = reach->P;
    memcpy(r->first, reach->first, (n + 1) * sizeof *r->first);
    for (size_t i = 0; i < n; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++) r->key[p] = key_of(reach, i, p);
    copy_rows(r->a, rg_tensor_data(a), r->P, H, rg_tensor_ld(a));
    copy_rows(r->out, rg_tensor_data(out), n, H * DV, rg_tensor_ld(out));
    copy_rows(r->mixed, rg_tensor_data(mixed), n, H * DV, rg_tensor_ld(mixed));
    rg_real weight[N * WIDE];
    rg_test_fill(weight, N * WIDE, 9, -1, 1);
    rg_status status = rg_tape_backward_from(t, out, weight);
    if (status != RG_OK) fail_msg("%s, backward: %s", s->name, rg_message());
    copy_rows(r->dq, rg_tape_gradient(t, q), n, H * DK, rg_tensor_ld(q));
    copy_rows(r->dk, rg_tape_gradient(t, k), m, H * DK, rg_tensor_ld(k));
    copy_rows(r->dv, rg_tape_gradient(t, v), m, H * DV, rg_tensor_ld(v));
    rg_tape_free(t);
}

static void run(result *r, const setup *s, const numbers *x) { run_over(r, s, x, &layout, NULL, NULL); }

/* The pairs of a result as lists. */
static rg_reach *as_lists(const result *r)
{
    int32_t   list[PAIRS];
    rg_reach *reach = NULL;
    for (size_t p = 0; p < r->P; p++) list[p] = (int32_t)r->key[p];
    assert_int_equal(rg_reach_new_lists(&reach, r->Nq, r->Nk, r->first, list), RG_OK);
    return reach;
}

static void near(const setup *s, const char *what, size_t at, rg_real a, rg_real b, double tolerance)
{
    if (!(fabs((double)a - (double)b) <= tolerance))
        fail_msg("%s: %s %zu is %.9g, expected %.9g", s->name, what, at, (double)a, (double)b);
}

static void same_bits(const setup *s, const char *what, const rg_real *a, const rg_real *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a))
            fail_msg("%s: number %zu of %s was %.9g and is %.9g", s->name, i, what, (double)a[i], (double)b[i]);
}

static bool sees_keys(const rg_score *score) { return strcmp(score->name, "location") != 0; }

static void shuffle(size_t *order, size_t n, uint64_t seed)
{
    rg_random random = rg_random_new(seed, 1);
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)rg_random_below(&random, i), swap = order[i - 1];
        order[i - 1] = order[j], order[j] = swap;
    }
}

/* ---------------------------------------------------------------------------------------------------- properties */

static void check_sums(const setup *s)
{
    result r;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        numbers x = sample(seed);
        run(&r, s, &x);
        for (size_t i = 0; i < r.Nq; i++)
            for (size_t h = 0; h < s->heads; h++) {
                double sum = 0;
                for (size_t p = r.first[i]; p < r.first[i + 1]; p++) {
                    assert_true(r.a[p * s->heads + h] >= 0);
                    sum += (double)r.a[p * s->heads + h];
                }
                if (r.first[i + 1] > r.first[i]) near(s, "the sum of query", i, (rg_real)sum, 1, 1e-6);
            }
    }
}

static void weights_are_not_negative_and_sum_to_one(void **state) { (void)state, each_setup(check_sums); }

static void check_nothing(const setup *s)
{
    numbers x = sample(5);
    result  r;
    run(&r, s, &x);
    for (size_t i = 0; i < r.Nq; i++) {
        if (r.first[i + 1] > r.first[i]) continue;
        for (size_t c = 0; c < s->heads * DV; c++)
            near(s, "output of a query without keys, column", c, r.out[i * s->heads * DV + c], 0, 0);
        for (size_t c = 0; c < s->heads * DK; c++)
            near(s, "gradient of a query without keys, column", c, r.dq[i * s->heads * DK + c], 0, 0);
    }
    for (size_t j = 0; j < r.Nk; j++) {
        bool seen = false;
        for (size_t p = 0; p < r.P; p++) seen = seen || r.key[p] == j;
        for (size_t c = 0; !seen && c < s->heads * DK; c++)
            near(s, "gradient of a key nobody sees, column", c, r.dk[j * s->heads * DK + c], 0, 0);
        for (size_t c = 0; !seen && c < s->heads * DV; c++)
            near(s, "gradient of a value nobody sees, column", c, r.dv[j * s->heads * DV + c], 0, 0);
    }
}

static void a_query_that_reaches_nothing_gives_zeros_and_zero_gradients(void **state)
{
    (void)state, each_setup(check_nothing);
}

static void check_fused(const setup *s)
{
    numbers x = sample(6);
    result  r;
    run(&r, s, &x);
    for (size_t i = 0; i < r.Nq * s->heads * DV; i++) near(s, "number of the output", i, r.out[i], r.mixed[i], 1e-5);
}

static void attending_in_one_pass_equals_weighing_and_mixing(void **state) { (void)state, each_setup(check_fused); }

static void check_key_order(const setup *s)
{
    numbers x = sample(11), y = x;
    result  r, other;
    size_t  place[N], order[N];
    int32_t list[PAIRS];
    run(&r, s, &x);
    shuffle(place, N, 3); /* key j stands at place[j] */
    for (size_t j = 0; j < N; j++) {
        memcpy(y.k + place[j] * s->heads * DK, x.k + j * s->heads * DK, s->heads * DK * sizeof *y.k);
        memcpy(y.v + place[j] * s->heads * DV, x.v + j * s->heads * DV, s->heads * DV * sizeof *y.v);
    }
    for (size_t i = 0; i < r.Nq; i++) { /* each query meets its keys in another order, unless places are what it looks at */
        const size_t n = r.first[i + 1] - r.first[i];
        shuffle(order, n, i);
        for (size_t p = 0; p < n; p++)
            list[r.first[i] + p] = (int32_t)place[r.key[r.first[i] + (sees_keys(s->score) ? order[p] : p)]];
    }
    rg_reach *reach = NULL;
    assert_int_equal(rg_reach_new_lists(&reach, N, N, r.first, list), RG_OK);
    run_over(&other, s, &y, NULL, reach, NULL);
    for (size_t i = 0; i < N * s->heads * DV; i++) near(s, "number of the output", i, other.out[i], r.out[i], 1e-6);
    for (size_t i = 0; i < N * s->heads * DK; i++)
        near(s, "number of the queries' gradient", i, other.dq[i], r.dq[i], 1e-5);
    rg_reach_free(reach);
}

static void permuting_keys_with_their_values_changes_nothing(void **state) { (void)state, each_setup(check_key_order); }

static void check_query_order(const setup *s)
{
    numbers x = sample(12), y = x;
    result  r, other;
    size_t  order[N], first[N + 1] = { 0 };
    int32_t list[PAIRS];
    run(&r, s, &x);
    shuffle(order, N, 4);
    for (size_t i = 0; i < N; i++) {
        const size_t n = r.first[order[i] + 1] - r.first[order[i]];
        memcpy(y.q + i * s->heads * DK, x.q + order[i] * s->heads * DK, s->heads * DK * sizeof *y.q);
        for (size_t p = 0; p < n; p++) list[first[i] + p] = (int32_t)r.key[r.first[order[i]] + p];
        first[i + 1] = first[i] + n;
    }
    rg_reach *reach = NULL;
    assert_int_equal(rg_reach_new_lists(&reach, N, N, first, list), RG_OK);
    run_over(&other, s, &y, NULL, reach, NULL);
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < s->heads * DV; c++)
            near(s, "column", c, other.out[i * s->heads * DV + c], r.out[order[i] * s->heads * DV + c], 1e-6);
    rg_reach_free(reach);
}

static void permuting_queries_permutes_outputs(void **state) { (void)state, each_setup(check_query_order); }

static void check_same_keys(const setup *s)
{
    if (!sees_keys(s->score)) return;
    numbers x = sample(13);
    result  r;
    for (size_t j = 1; j < N; j++) memcpy(x.k + j * s->heads * DK, x.k, s->heads * DK * sizeof *x.k);
    run(&r, s, &x);
    for (size_t i = 0; i < N; i++)
        for (size_t p = r.first[i]; p < r.first[i + 1]; p++)
            for (size_t h = 0; h < s->heads; h++)
                near(s, "pair", p, r.a[p * s->heads + h], (rg_real)(1.0 / (double)(r.first[i + 1] - r.first[i])), 1e-6);
}

static void identical_keys_get_uniform_weights(void **state) { (void)state, each_setup(check_same_keys); }

static void check_hull(const setup *s)
{
    numbers      x = sample(14);
    result       r;
    const size_t cols = s->heads * DV;
    run(&r, s, &x);
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; r.first[i + 1] > r.first[i] && c < cols; c++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t p = r.first[i]; p < r.first[i + 1]; p++) {
                low = fmin(low, (double)x.v[r.key[p] * cols + c]);
                high = fmax(high, (double)x.v[r.key[p] * cols + c]);
            }
            const double y = (double)r.out[i * cols + c];
            if (!(y >= low - 1e-6 && y <= high + 1e-6))
                fail_msg("%s: query %zu reads %g from values in %g .. %g", s->name, i, y, low, high);
        }
}

static void outputs_lie_in_the_convex_hull_of_the_values(void **state) { (void)state, each_setup(check_hull); }

/* Every key and value that query i does not reach becomes NaN; nothing of query i may change. */
static void check_closed(const setup *s)
{
    numbers x = sample(15);
    result  r, other;
    run(&r, s, &x);
    rg_reach *reach = as_lists(&r);
    for (size_t i = 0; i < N; i++) {
        numbers y = x;
        for (size_t j = 0; j < N; j++) {
            if (reaches(reach, i, j)) continue;
            for (size_t c = 0; c < s->heads * DK; c++) y.k[j * s->heads * DK + c] = (rg_real)NAN;
            for (size_t c = 0; c < s->heads * DV; c++) y.v[j * s->heads * DV + c] = (rg_real)NAN;
        }
        run(&other, s, &y);
        same_bits(s, "the weights", other.a + r.first[i] * s->heads, r.a + r.first[i] * s->heads,
                  (r.first[i + 1] - r.first[i]) * s->heads);
        same_bits(s, "the output", other.out + i * s->heads * DV, r.out + i * s->heads * DV, s->heads * DV);
        same_bits(s, "the query's gradient", other.dq + i * s->heads * DK, r.dq + i * s->heads * DK, s->heads * DK);
    }
    rg_reach_free(reach);
}

static void closed_pairs_never_matter_even_when_they_are_nan(void **state) { (void)state, each_setup(check_closed); }

/* A group alone gives the same bits as among others. */
static void check_mates(const setup *s)
{
    if (!s->reach.kind) return;
    numbers      x = sample(16);
    const size_t dk = s->heads * DK, dv = s->heads * DV;
    result       r, alone;
    run(&r, s, &x);
    for (size_t g = 0; g < layout.groups; g++) {
        const size_t    from = (size_t)ragged[g], n = (size_t)ragged[g + 1] - from;
        const int32_t   start[] = { 0, (int32_t)n };
        const rg_layout one = { .groups = 1, .start = start };
        numbers         y = x;
        if (n == 0) continue;
        memcpy(y.q, x.q + from * dk, n * dk * sizeof *y.q);
        memcpy(y.k, x.k + from * dk, n * dk * sizeof *y.k);
        memcpy(y.v, x.v + from * dv, n * dv * sizeof *y.v);
        run_over(&alone, s, &y, &one, NULL, NULL);
        same_bits(s, "the weights", alone.a, r.a + r.first[from] * s->heads, alone.P * s->heads);
        same_bits(s, "the output", alone.out, r.out + from * dv, n * dv);
    }
}

static void batch_mates_do_not_change_a_bit(void **state) { (void)state, each_setup(check_mates); }

static void check_future(const setup *s)
{
    if (!s->reach.kind || (!strstr(s->reach.name, "causal") && strcmp(s->reach.name, "before") != 0)) return;
    numbers      x = sample(17), y;
    const size_t dk = s->heads * DK, dv = s->heads * DV;
    result       r, other;
    run(&r, s, &x);
    for (size_t i = 0; i + 1 < N; i++) {
        numbers later = sample(18 + i);
        y = x;
        memcpy(y.q + (i + 1) * dk, later.q, (N - i - 1) * dk * sizeof *y.q);
        memcpy(y.k + (i + 1) * dk, later.k, (N - i - 1) * dk * sizeof *y.k);
        memcpy(y.v + (i + 1) * dv, later.v, (N - i - 1) * dv * sizeof *y.v);
        run(&other, s, &y);
        same_bits(s, "the past", other.out, r.out, (i + 1) * dv);
    }
}

static void the_future_does_not_change_a_bit_of_a_causal_past(void **state) { (void)state, each_setup(check_future); }

static void check_team(const setup *s)
{
    numbers  x = sample(19);
    result   r, other;
    rg_team *team = NULL;
    assert_int_equal(rg_team_new(&team, 3), RG_OK);
    run(&r, s, &x);
    run_over(&other, s, &x, &layout, NULL, team);
    same_bits(s, "the weights", other.a, r.a, r.P * s->heads);
    same_bits(s, "the output", other.out, r.out, N * s->heads * DV);
    same_bits(s, "the keys' gradient", other.dk, r.dk, N * s->heads * DK);
    rg_team_free(team);
}

static void the_size_of_the_team_does_not_change_a_bit(void **state) { (void)state, each_setup(check_team); }

static void check_lists(const setup *s)
{
    numbers x = sample(20);
    result  r, other;
    run(&r, s, &x);
    rg_reach *reach = as_lists(&r);
    run_over(&other, s, &x, NULL, reach, NULL);
    same_bits(s, "the weights", other.a, r.a, r.P * s->heads);
    for (size_t i = 0; i < N * s->heads * DV; i++) near(s, "number of the output", i, other.out[i], r.out[i], 1e-6);
    for (size_t i = 0; i < N * s->heads * DK; i++)
        near(s, "number of the keys' gradient", i, other.dk[i], r.dk[i], 1e-5);
    for (size_t i = 0; i < N * s->heads * DV; i++)
        near(s, "number of the values' gradient", i, other.dv[i], r.dv[i], 1e-5);
    rg_reach_free(reach);
}

static void lists_equal_intervals(void **state) { (void)state, each_setup(check_lists); }

static const rg_reach *wide_window(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t r)
{
    return (void)k, rg_reach_window(t, q, 2 * r + 3);
}

/* What a kind makes of layouts is what it says of positions, and what a decoder takes in its place never looks
 * ahead. */
static void every_reach_sees_what_it_makes(void **state)
{
    (void)state;
    const rg_tape_config config = { .record = true };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    for (const rg_reach_kind *const *k = rg_reach_kinds(); *k; k++) {
        const rg_reach_kind *past = rg_reach_kind_find((*k)->past);
        assert_non_null(past);
        for (size_t size = 1; size < 7; size++) {
            const rg_reach *r = (*k)->make(t, &layout, &layout, size);
            assert_non_null(r);
            for (size_t g = 0; g < layout.groups; g++)
                for (int32_t from = ragged[g], i = from; i < ragged[g + 1]; i++)
                    for (int32_t j = 0; j < N; j++) {
                        const bool inside = j >= from && j < ragged[g + 1];
                        const bool sees = inside && (*k)->sees((size_t)(i - from), (size_t)(j - from), size);
                        if (reaches(r, (size_t)i, (size_t)j) != sees)
                            fail_msg("%s:%zu, row %d, key %d", (*k)->name, size, i, j);
                        if (inside && j > i) assert_false(past->sees((size_t)(i - from), (size_t)(j - from), size));
                    }
        }
    }
    rg_tape_free(t);
}

static void a_reach_is_chosen_by_name_and_size(void **state)
{
    (void)state;
    rg_reach_choice c;
    assert_int_equal(rg_reach_choose(&c, "causal"), RG_OK);
    assert_string_equal(c.kind->name, "causal");
    assert_int_equal(rg_reach_choose(&c, "window:5"), RG_OK);
    assert_int_equal(c.size, 5);
    assert_string_equal(rg_reach_past(c).kind->name, "window_causal");
    static const char *const wrong[] = {
        "windows:3", "window", "window:", "window:0", "window:x", "window:-1", "window:99999999999", "causal:3", ""
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(rg_reach_choose(&c, wrong[i]), RG_EINVAL);
    assert_int_equal(rg_reach_choose(&c, "windows:3"), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "window:R"));
}

static void check_window(const setup *s)
{
    if (strcmp(s->reach.name, "groups") != 0) return;
    static const rg_reach_kind wide = { .name = "a window as wide as twice the group", .make = wide_window }; /* r = 9 = 2 * 5 - 1 */
    numbers                    x = sample(21);
    setup                      other = *s;
    result                     full, band;
    other.reach = (reach_case){ wide.name, &wide, false };
    run(&full, s, &x);
    run(&band, &other, &x);
    assert_int_equal(full.P, band.P);
    for (size_t i = 0; i < N * s->heads * DV; i++)
        near(&other, "number of the output", i, band.out[i], full.out[i], 1e-6);
}

static void a_window_of_2n_minus_1_equals_full_attention(void **state) { (void)state, each_setup(check_window); }

/* Given weights multiply: a w / sum of a w, whatever the score and whichever path. */
static void check_bias(const setup *s)
{
    const numbers x = sample(5);
    result        plain, biased;
    rg_real       w[PAIRS], bias[PAIRS];
    run(&plain, s, &x);
    rg_test_fill(w, PAIRS, 6, 0.2, 3);
    for (size_t p = 0; p < plain.P; p++) bias[p] = (rg_real)log((double)w[p]);
    rg_reach *lists = as_lists(&plain);
    run_over(&plain, s, &x, &layout, lists, NULL);
    lists->bias = bias;
    run_over(&biased, s, &x, &layout, lists, NULL);
    for (size_t i = 0; i < plain.Nq; i++)
        for (size_t h = 0; h < s->heads; h++) {
            double sum = 0;
            for (size_t p = plain.first[i]; p < plain.first[i + 1]; p++)
                sum += (double)(plain.a[p * s->heads + h] * w[p]);
            for (size_t p = plain.first[i]; p < plain.first[i + 1]; p++)
                near(s, "biased weight", p, biased.a[p * s->heads + h],
                     (rg_real)((double)(plain.a[p * s->heads + h] * w[p]) / sum), 1e-6);
        }
    for (size_t i = 0; i < plain.Nq * s->heads * DV; i++)
        near(s, "number of the biased output", i, biased.out[i], biased.mixed[i], 1e-6);
    rg_reach_free(lists);
}

static void a_bias_multiplies_the_weights(void **state) { (void)state, each_setup(check_bias); }

/* What `one_width` says of a score is so: with keys wider than queries it fails with both widths in the message, or
 * works. */
static void scores_say_whether_queries_and_keys_have_one_width(void **state)
{
    (void)state;
    const numbers x = sample(8);
    for (const rg_score *const *score = rg_score_all(); *score; score++) {
        rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
        rg_tape_config      config = RG_TAPE_CONFIG_DEFAULT;
        rg_params          *params;
        rg_attention        att;
        rg_tape            *t;
        c.score = (*score)->name;
        c.q_width = DK, c.k_width = DK + 3, c.hidden = 5, c.positions = N;
        assert_int_equal(rg_params_new(&params), RG_OK);
        assert_int_equal(rg_attention_init(&att, &c, params), RG_OK);
        assert_int_equal(rg_params_build(params, 7), RG_OK);
        assert_int_equal(rg_tape_new(&t, &config), RG_OK);
        rg_tensor *q = rg_input(t, x.q, N, DK, &layout), *k = rg_input(t, x.k, N, DK + 3, &layout);
        rg_weigh(t, &att, q, rg_attention_prepare(t, &att, k), rg_reach_groups(t, &layout, &layout));
        const rg_status status = rg_tape_status(t);
        if (status != ((*score)->one_width ? RG_ESHAPE : RG_OK))
            fail_msg("%s: %s", (*score)->name, status == RG_OK ? "works" : rg_message());
        if (status != RG_OK && (!strstr(rg_message(), "4") || !strstr(rg_message(), "7")))
            fail_msg("%s: %s", (*score)->name, rg_message());
        rg_tape_free(t);
        rg_params_free(params);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_not_negative_and_sum_to_one),
        cmocka_unit_test(a_query_that_reaches_nothing_gives_zeros_and_zero_gradients),
        cmocka_unit_test(attending_in_one_pass_equals_weighing_and_mixing),
        cmocka_unit_test(permuting_keys_with_their_values_changes_nothing),
        cmocka_unit_test(permuting_queries_permutes_outputs),
        cmocka_unit_test(identical_keys_get_uniform_weights),
        cmocka_unit_test(outputs_lie_in_the_convex_hull_of_the_values),
        cmocka_unit_test(closed_pairs_never_matter_even_when_they_are_nan),
        cmocka_unit_test(batch_mates_do_not_change_a_bit),
        cmocka_unit_test(the_future_does_not_change_a_bit_of_a_causal_past),
        cmocka_unit_test(the_size_of_the_team_does_not_change_a_bit),
        cmocka_unit_test(lists_equal_intervals),
        cmocka_unit_test(every_reach_sees_what_it_makes),
        cmocka_unit_test(a_reach_is_chosen_by_name_and_size),
        cmocka_unit_test(a_window_of_2n_minus_1_equals_full_attention),
        cmocka_unit_test(a_bias_multiplies_the_weights),
        cmocka_unit_test(scores_say_whether_queries_and_keys_have_one_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
